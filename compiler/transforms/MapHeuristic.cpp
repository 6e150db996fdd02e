//===- MapHeuristic.cpp - Elements and neighbours, at once ---------------===//
//
// Part of Eider, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//
#include "compiler/transforms/Heuristic.h"

#include "llvm/Support/MathExtras.h"

#include <algorithm>

using namespace mlir;
using namespace eider::ir;
using namespace eider::transforms;

int64_t eider::transforms::segmentThreads(int64_t chunks, int64_t lanes) {
  if (chunks <= 64)
    return legalThreads(std::max(chunks, lanes));
  int64_t best = 128;
  for (int64_t threads : {224, 192, 160, 96, 64})
    if (ceilDiv(chunks, threads) * threads < ceilDiv(chunks, best) * best)
      best = threads;
  return best;
}

/// Columns of rows of which nothing else was timed than segments of whole warps.
static constexpr int64_t longestShort = 1024;

/// The most threads up to a warp whose segments, of `loads` chunks a thread, divide a row into
/// whole groups; 0: none do. Of less than a warp only those of longer rows were timed, and none
/// whose blocks stay for a reduction of the whole matrix.
static int64_t dividingThreads(const Domain &domain, int64_t vector, int64_t loads) {
  constexpr int64_t warp = 32;
  const bool maybeShort = domain.width > longestShort && !domain.combinesParts();
  for (int64_t threads : {warp, warp / 2, warp / 4})
    if (domain.width % (threads * vector * loads) == 0 && domain.group <= threads * vector &&
        (threads == warp || maybeShort))
      return threads;
  return 0;
}

/// Two chunks a thread, in segments that divide a row, of less than a warp where they are
/// `maybeShort`, and in blocks of `ofBlock` threads at least. Null if none does. `held`: threads of
/// all resident blocks; 0: no bound.
static ScheduleAttr pairedSchedule(MLIRContext *context, const Domain &domain, int64_t vector,
                                   int64_t tiles, int64_t lanes = 0, int64_t ofBlock = 128,
                                   int64_t held = 0, bool maybeShort = false) {
  constexpr int64_t loads = 2, schedulers = 4; // of a multiprocessor
  int64_t threads = 0;
  for (int64_t each : {128, 160, 192, 224, 96, 64, 32})
    if (!threads && domain.width % (each * loads * vector) == 0)
      threads = each;
  if (!threads && maybeShort)
    threads = dividingThreads(domain, vector, loads);
  if (!threads)
    return {};
  const int64_t rows = std::max<int64_t>(1, ofBlock / threads), warps = threads * rows / 32;
  int64_t resident = held / (threads * rows);
  if (warps % schedulers != 0 && resident > schedulers)
    resident -= resident % schedulers; // which have as many warps each so
  return ScheduleAttr::get(context, Family::map,
                           {.threads = threads,
                            .vector = vector,
                            .rows = rows,
                            .loads = loads,
                            .lanes = lanes,
                            .tiles = tiles,
                            .resident = resident});
}

/// The same, both of one scale by folded lanes. Null also if lanes cannot be folded.
static ScheduleAttr foldedSchedule(MLIRContext *context, const Domain &domain, int64_t vector,
                                   int64_t tiles, bool maybeShort = false) {
  const int64_t lanes = foldedLanes(domain, vector);
  return lanes ? pairedSchedule(context, domain, vector, tiles, lanes, /*ofBlock=*/128, /*held=*/0,
                                maybeShort)
               : ScheduleAttr();
}

/// Codes of four bits that are made by arithmetic, with scales of its own for each chunk: segments
/// of four chunks a thread. Casts in those that divide a row, two tiles in turn; else many short
/// ones a block that fill a row but for little. Null elsewhere.
static ScheduleAttr shortSegments(MLIRContext *context, const Domain &domain, int64_t vector) {
  constexpr int64_t few = 8, rows = 16, block = 64, loads = 4, little = 4;
  const int64_t chunks = ceilDiv(domain.width, vector);
  const int64_t held = ceilDiv(chunks, few * loads) * few * loads;
  if (!domain.packs || !domain.encodesBySoftware || domain.matricesRead != 1 ||
      domain.group > vector || (held - chunks) * 20 > held || !domain.rowAligned() ||
      domain.choosesRows)
    return {};
  const bool isCast = domain.bitsRead == 16 && domain.arithmetic < little && !domain.draws;
  if (const int64_t threads = isCast ? dividingThreads(domain, vector, loads) : 0)
    return ScheduleAttr::get(context, Family::map,
                             {.threads = threads,
                              .vector = vector,
                              .rows = block / threads,
                              .loads = loads,
                              .tiles = 2});
  return ScheduleAttr::get(context, Family::map,
                           {.threads = few, .vector = vector, .rows = rows, .loads = loads});
}

/// Codes of narrow elements that take so much arithmetic that it bounds them: what is done once a
/// scale and once a tile is little where a thread holds 32 elements of one scale, in two chunks by
/// half a group's lanes, or in one. Null elsewhere.
static ScheduleAttr longSchedule(MLIRContext *context, const Domain &domain, bool isMuch) {
  constexpr int64_t vector = 32, warp = 32, longest = 8 * vector * warp;
  const bool decodes = domain.bitsRead <= 8, bySoftware = domain.encodesBySoftware;
  const bool packsShort = domain.packs && bySoftware && domain.group <= vector / 2;
  const int64_t held = ceilDiv(domain.width, vector * warp) * vector * warp;
  const bool isWhole = domain.width == held, isNearly = (held - domain.width) * 5 <= held;
  const bool fits =
      isWhole || (domain.draws && !packsShort && isNearly && domain.width % vector == 0);
  if (domain.matricesRead != 1 || domain.bitsRead > 16 || !domain.rowAligned() || domain.rotates ||
      domain.choosesRows || domain.combinesParts())
    return {};
  if (!domain.draws && (bySoftware ? !packsShort || decodes : !isMuch))
    return {};
  if (!domain.draws)
    if (ScheduleAttr folded =
            foldedSchedule(context, domain, vector / 2, decodes ? 2 : 4, /*maybeShort=*/true))
      return folded;
  constexpr int64_t drawing = 896, little = 4;
  const bool isCast = !decodes && domain.arithmetic < little;
  // A cast that draws, in short segments that divide a row: as many a block as are a warp.
  const bool isShort = domain.draws && isCast && !packsShort && !isWhole;
  if (const int64_t threads = isShort ? dividingThreads(domain, vector, /*loads=*/1) : 0)
    return ScheduleAttr::get(context, Family::map,
                             {.threads = threads,
                              .vector = vector,
                              .rows = warp / threads,
                              .loads = 1,
                              .tiles = 4,
                              .resident = drawing / warp});
  if (!fits)
    return {};
  // Two codes a byte by arithmetic, each chunk of a scale: two chunks, in blocks of half a row of
  // 8192 columns or, of casts to nearest, of any segments. Where each has a scale of its own, those
  // of three or four warps, else four chunks of short segments; or of half such a half.
  constexpr int64_t halfRow = 4096;
  const bool hasHalves = domain.width % halfRow == 0;
  const bool hasOwn = packsShort && isCast && !domain.draws && domain.group == vector / 2;
  if (hasOwn && domain.width % (2 * halfRow) == 0)
    return ScheduleAttr::get(context, Family::map,
                             {.threads = 64, .vector = vector / 2, .loads = 4});
  if (packsShort && (domain.draws ? isCast && hasHalves : isCast || hasHalves)) {
    ScheduleAttr paired = pairedSchedule(context, domain, vector / 2, /*tiles=*/2);
    const int64_t threads = paired ? paired.getKnobs().threads : 0;
    if (hasOwn && domain.width > longestShort && threads != 3 * warp && threads != 4 * warp)
      if (ScheduleAttr segments = shortSegments(context, domain, vector / 2))
        return segments;
    if (paired)
      return paired;
  }
  // A cast that draws has the registers of 896 threads a multiprocessor; what does more spills.
  const bool isEven = domain.width % longest == 0;
  const int64_t threads = !isEven ? warp : domain.draws ? 2 * warp : 4 * warp;
  return ScheduleAttr::get(context, Family::map,
                           {.threads = threads,
                            .vector = vector,
                            .rows = (decodes && !isEven) || !isWhole ? 4 : 1,
                            .loads = 1,
                            .tiles = decodes ? 2 : 4,
                            .resident = domain.draws && isCast && isWhole ? drawing / threads : 0});
}

/// Codes that take much arithmetic: two chunks a thread, so that what is done once a thread is
/// little, and where it is still more, tiles in turn. Blocks of segments whose length divides a
/// row: of others few threads would have registers enough. Null elsewhere.
static ScheduleAttr workingSchedule(MLIRContext *context, const Domain &domain, int64_t vector,
                                    int64_t chunks) {
  constexpr int64_t much = 7, loads = 2;
  const bool decodes = domain.bitsRead <= 8, bySoftware = domain.encodesBySoftware;
  const bool isEven = chunks % 512 == 0, packs = domain.packs && bySoftware;
  if (domain.narrowestStore > 8 || domain.matricesWritten != 1 || vector != 16)
    return {};
  if (domain.matricesRead > 1 ? !packs : domain.arithmetic < 4 && !decodes && !bySoftware)
    return {};
  const bool isMuch = domain.arithmetic >= much || decodes || domain.draws;
  if (ScheduleAttr ofLong = longSchedule(context, domain, isMuch))
    return ofLong;
  // Encoded by arithmetic after much of it: lanes that are folded have too many registers, but not
  // after decoding.
  if (bySoftware && isMuch && !packs && !domain.draws && !domain.rotates && domain.rowAligned() &&
      !domain.choosesRows && chunks % 512 == 0) {
    const int64_t lanes = decodes ? foldedLanes(domain, vector) : 0;
    const bool isLong = decodes && !lanes;
    return ScheduleAttr::get(context, Family::map,
                             {.threads = 128,
                              .vector = vector,
                              .loads = isLong ? 4 : 2,
                              .lanes = lanes,
                              .tiles = isLong ? 1 : 2});
  }
  // Encoded by arithmetic of rows that are chosen: short segments, whose index many await at once.
  if (bySoftware && isEven && domain.choosesRows && !isMuch && !packs && !domain.draws &&
      !domain.rotates && !domain.combinesParts())
    return ScheduleAttr::get(
        context, Family::map,
        {.threads = 64, .vector = vector, .loads = loads, .lanes = foldedLanes(domain, vector)});
  if (isEven && (domain.draws ? !packs : !bySoftware)) {
    const int64_t lanes = foldedLanes(domain, vector);
    return ScheduleAttr::get(context, Family::map,
                             {.threads = 128,
                              .vector = vector,
                              .loads = 2,
                              .lanes = lanes,
                              .tiles = lanes && (decodes || domain.rotates) ? 2
                                       : isMuch                             ? 4
                                                                            : 1,
                              .streaming = !lanes && isTurnedNorm(domain)});
  }
  if (packs && domain.matricesRead > 1 && isEven)
    return ScheduleAttr::get(context, Family::map,
                             {.threads = 128, .vector = vector, .loads = 1, .tiles = 2});
  // By arithmetic alone, blocks of whole segments of 256 chunks are as good.
  if (chunks % (bySoftware && !packs ? 256 : 512) == 0 || turnsNorm(domain))
    return {};
  if (ScheduleAttr segments = shortSegments(context, domain, vector))
    return segments;
  if (!domain.rowAligned() || domain.choosesRows)
    return {};
  const bool takesTurns = domain.matricesRead == 1 && (isMuch || bySoftware);
  if (const int64_t threads = dividingThreads(domain, vector, loads))
    return ScheduleAttr::get(context, Family::map,
                             {.threads = threads,
                              .vector = vector,
                              .rows = threads == 32 ? 4 : 64 / threads,
                              .loads = loads,
                              .tiles = takesTurns ? 2 : 1});
  return {};
}

/// Heads whose halves are turned and become codes: two chunks of a group a thread, by half its
/// lanes, so that of a head as long as a group no lane asks another for its partner. Norms of heads
/// wait for each other and have rows in turn, what arithmetic encodes, too, keys beside values
/// none. Bounds leave each thread the registers that it needs. Null elsewhere.
static ScheduleAttr turnedCodes(MLIRContext *context, const Domain &domain, int64_t vector) {
  constexpr int64_t wide = 4096, block = 128;                    // columns, threads of a block
  constexpr int64_t ofNorms = 1024, ofOthers = 896, ofTwo = 768; // threads of a multiprocessor
  const int64_t lanes = foldedLanes(domain, vector);
  const bool isTwo = domain.matricesRead == 2 && domain.matricesWritten == 2;
  if (domain.rotated <= vector || !lanes || vector != 16 || domain.narrowestStore > 8 ||
      domain.packs || domain.bitsRead != 16 * domain.matricesRead ||
      (domain.matricesRead != 1 && !isTwo) || domain.matricesWritten != domain.matricesRead)
    return {};
  const bool bySoftware = domain.encodesBySoftware && !domain.draws;
  if (bySoftware && (isTwo || domain.combinesParts()))
    return {};
  // Random bits, and what blocks combine, have it where they had it: no other was timed so.
  if ((domain.draws || domain.combinesParts()) && (isTwo || domain.width % (2 * wide) != 0))
    return {};
  if (isTwo)
    return pairedSchedule(context, domain, vector, /*tiles=*/1, lanes, block / 2, ofTwo);
  if (turnsNorm(domain))
    return pairedSchedule(context, domain, vector, /*tiles=*/4, lanes, block,
                          domain.width % wide == 0 || llvm::isPowerOf2_64(domain.width) ? ofNorms
                                                                                        : ofOthers);
  if (bySoftware)
    return foldedSchedule(context, domain, vector, /*tiles=*/4);
  return domain.width < wide ? ScheduleAttr()
                             : foldedSchedule(context, domain, vector, /*tiles=*/2);
}

/// Pairs that are turned, of as many bits read as stored: many short chunks a thread, whose
/// partners are far lanes; their schedule of one width, that the tuner found, or nearly. Null
/// elsewhere.
static ScheduleAttr turnedSchedule(MLIRContext *context, const Domain &domain) {
  constexpr int64_t vector = 4, loads = 4;
  if (!domain.rotates || domain.sumsGroups || domain.group <= vector ||
      domain.group > 32 * vector || domain.matricesRead != 1 || domain.bitsRead != 16 ||
      domain.narrowestStore != 16)
    return {};
  for (const int64_t threads : {256, 224})
    if (domain.width % (threads * vector * loads) == 0)
      return ScheduleAttr::get(context, Family::map,
                               {.threads = threads, .vector = vector, .loads = loads});
  return {};
}

/// Whether 16-bit values are stored as such after little arithmetic, or any without columns, as a
/// copy does them, in rows of whole segments and an even number of those: of 7 the L2 gave more to
/// longer ones.
static bool isLikeCopy(const Domain &domain, int64_t chunks) {
  constexpr int64_t little = 7;
  return domain.bitsRead == 16 && domain.narrowestStore == 16 && domain.matricesRead == 1 &&
         domain.matricesWritten == 1 && (domain.arithmetic < little || !domain.readsColumns) &&
         !domain.draws && !domain.rotates && !domain.group && !domain.choosesRows &&
         domain.rowAligned() && chunks % 256 == 0;
}

/// Whether codes of so many bits become 16-bit values and nothing else, in chunks of 8 and rows of
/// `even` of them, or several times as many.
static bool onlyDecodes(const Domain &domain, int64_t bits, int64_t chunks, int64_t even) {
  constexpr int64_t little = 7;
  return domain.bitsRead == bits && domain.narrowestStore == 16 && domain.matricesRead == 1 &&
         domain.matricesWritten == 1 && domain.arithmetic < little && !domain.draws &&
         !domain.sumsGroups && !domain.combinesParts() && !domain.rotates && !domain.choosesRows &&
         !domain.choosesCodes && !domain.readsColumns && domain.rowAligned() &&
         domain.width == 8 * chunks && chunks % even == 0;
}

/// A cast that memory bounds: two chunks of one scale a thread, or where scales of neighbouring
/// rows lie together, many short rows a block, which store them together. Null elsewhere.
static ScheduleAttr castSchedule(MLIRContext *context, const Domain &domain, int64_t vector,
                                 int64_t chunks) {
  constexpr int64_t loads = 2, rows = 32;
  if (vector != 16 || domain.matricesRead != 1 || domain.bitsRead != 16 ||
      domain.matricesWritten != 1 || domain.narrowestStore != 8 || domain.readsColumns ||
      domain.rotates || domain.choosesRows || domain.combinesParts() || !domain.rowAligned())
    return {};
  // Threads of a short row, whose scales fill words.
  const int64_t few = std::clamp<int64_t>(2 * domain.group / vector, 8, 16);
  if (domain.stacksScales && domain.group && few * vector % domain.group == 0 &&
      chunks % (few * loads) == 0)
    return ScheduleAttr::get(context, Family::map,
                             {.threads = few,
                              .vector = vector,
                              .rows = rows,
                              .loads = loads,
                              .lanes = foldedLanes(domain, vector)});
  // By arithmetic and after some, tiles in turn; with a scale that is given, nothing of a group's.
  constexpr int64_t little = 4, threads = 128;
  if (domain.encodesBySoftware && !domain.packs && !domain.draws && !domain.group &&
      domain.arithmetic < little && chunks % (threads * loads) == 0)
    return ScheduleAttr::get(context, Family::map,
                             {.threads = threads, .vector = vector, .loads = loads});
  const bool takesTurns = domain.encodesBySoftware && domain.arithmetic >= little;
  return foldedSchedule(context, domain, vector, takesTurns ? 4 : 1,
                        /*maybeShort=*/domain.givesWhole);
}

/// The first of some numbers of threads whose segments, of `loads` chunks a thread, have the least
/// past the row's end.
static int64_t fewestPast(int64_t chunks, int64_t loads, std::initializer_list<int64_t> threads) {
  const auto held = [&](int64_t each) { return ceilDiv(chunks, each * loads) * each * loads; };
  return *std::min_element(threads.begin(), threads.end(),
                           [&](int64_t a, int64_t b) { return held(a) < held(b); });
}

/// Rows that begin at 8 elements, and become codes of a byte that the GPU makes: chunks of 8, which
/// are aligned and stored beside each other, two of a group by half its lanes. Casts in long
/// segments, what takes much arithmetic in those of half a warp, all else by a few warps; codes
/// that become others, and much arithmetic, tiles in turn. Null elsewhere.
static ScheduleAttr alignedSchedule(MLIRContext *context, const Domain &domain, int64_t bits) {
  constexpr int64_t vector = 8, loads = 2, fewest = 8, warp = 32, little = 4, much = 7;
  if (domain.alignedElements < vector || (bits != 8 && bits != 16) || domain.narrowestStore != 8 ||
      domain.matricesWritten != 1 || domain.draws || domain.encodesBySoftware ||
      domain.combinesParts() || domain.group < fewest * vector || domain.group > warp * vector)
    return {};
  const bool decodes = bits == 8;
  const bool isMuch = !decodes && domain.matricesRead == 1 && domain.arithmetic >= much;
  const bool isCast = !decodes && domain.arithmetic < little;
  const int64_t chunks = ceilDiv(domain.width, vector);
  const int64_t threads = isMuch   ? warp / 2
                          : isCast ? fewestPast(chunks, loads, {288, 224, 192, 160, 128, 96, 64})
                                   : fewestPast(chunks, loads, {96, 64, 128, 160, 192, 224});
  return ScheduleAttr::get(context, Family::map,
                           {.threads = threads,
                            .vector = vector,
                            .rows = isMuch ? 8 : 1,
                            .loads = loads,
                            .lanes = domain.group / vector / loads,
                            .tiles = decodes || isMuch ? 2 : 1});
}

/// Rows that begin anywhere, but for those above: long chunks, for each has a piece around it and
/// each warp two ends, in segments of a few warps, of which little lies past the row's end. In
/// segments of half a warp codes that become others, whose windows are short anyway, and what takes
/// much arithmetic where rows begin at 8 elements: two chunks a thread, one of the latter and of
/// short rows. Null elsewhere.
static ScheduleAttr shiftedSchedule(MLIRContext *context, const Domain &domain) {
  constexpr int64_t little = 7, copied = 16;
  if (!isMisaligned(domain) || domain.rotates || domain.choosesRows)
    return {};
  const int64_t bits = domain.bitsRead / std::max<int64_t>(1, domain.matricesRead);
  if (ScheduleAttr aligned = alignedSchedule(context, domain, bits))
    return aligned;
  const bool isLong =
      domain.narrowestStore <= 8 ? domain.matricesWritten == 1 : domain.arithmetic >= little;
  constexpr int64_t half = 16, few = 4096; // threads, columns
  const bool isMuch = bits == 16 && domain.matricesRead == 1 && domain.arithmetic >= little &&
                      domain.alignedElements >= 8;
  if ((bits == 8 || isMuch) && domain.narrowestStore == 8 && isLong && !domain.encodesBySoftware &&
      domain.group <= half * copied)
    return ScheduleAttr::get(context, Family::map,
                             {.threads = half,
                              .vector = copied,
                              .rows = 8,
                              .loads = isMuch || domain.width < few ? 1 : 2,
                              .tiles = 2});
  const int64_t vector =
      std::max<int64_t>(domain.group / 32, bits <= 16 && isLong ? 2 * copied : copied);
  const int64_t loads = bits < 16 && !isLong ? 2 : 1;
  return ScheduleAttr::get(
      context, Family::map,
      {.threads = fewestPast(ceilDiv(domain.width, vector), loads, {96, 64, 128, 160, 192}),
       .vector = vector,
       .loads = loads,
       .tiles = domain.encodesBySoftware ? 2 : 1});
}

ScheduleAttr eider::transforms::mapSchedule(MLIRContext *context, const Domain &domain) {
  const int64_t vector = vectorFor(domain);
  if (domain.width == 0) // which launches nothing, and is a multiple of everything
    return ScheduleAttr::get(context, Family::map, {.threads = 32, .vector = vector});
  const int64_t chunks = ceilDiv(domain.width, vector);
  if (ScheduleAttr shifted = shiftedSchedule(context, domain))
    return shifted;
  if (ScheduleAttr turned = turnedCodes(context, domain, vector))
    return turned;
  if (ScheduleAttr working = workingSchedule(context, domain, vector, chunks))
    return working;
  if (ScheduleAttr turned = turnedSchedule(context, domain))
    return turned;
  if (ScheduleAttr cast = castSchedule(context, domain, vector, chunks))
    return cast;
  const int64_t lanes = std::max<int64_t>(1, domain.group / vector);
  const bool wideColumns = domain.readsColumns && vector >= 16;
  const bool packs = domain.packs && domain.encodesBySoftware;
  // A segment of all the rows that are chosen from fits the cache.
  const bool fitsCache = domain.choosesRows && chunks % 64 == 0;
  const bool isShort = vector >= 16 && !wideColumns && !packs && !fitsCache && !isShifted(domain);
  // Two codes a byte by arithmetic: smaller blocks than of others, of as much a thread or more.
  const bool packsHalf = packs && domain.bitsRead == 16 && chunks % 512 == 0;
  const bool decodesBytes = onlyDecodes(domain, /*bits=*/8, chunks, /*even=*/256);
  const int64_t loads = isShort || isLikeCopy(domain, chunks) || decodesBytes ? 1
                        : packsHalf && domain.group <= 16                     ? 4
                                                                              : 2;
  int64_t threads = segmentThreads(ceilDiv(chunks, loads), lanes);
  if (fitsCache)
    threads = vector >= 16 ? std::max<int64_t>(16, legalThreads(lanes)) : 64;
  // Each segment that is shifted begins and ends with a window that its neighbour loads too.
  constexpr int64_t most = 288;
  if (isShifted(domain))
    threads = std::max<int64_t>(spreadRow(ceilDiv(chunks, loads), most).first, 32);
  if ((domain.encodesBySoftware && chunks % 256 == 0) || (wideColumns && chunks % 512 == 0))
    threads = 256;
  // Much arithmetic of two matrices and their columns: short segments of rows in turn.
  constexpr int64_t much = 7;
  const bool worksWide = wideColumns && chunks % 512 == 0 && domain.matricesRead == 2 &&
                         domain.arithmetic >= much && !domain.encodesBySoftware &&
                         domain.narrowestStore <= 8;
  if (worksWide)
    threads = std::max<int64_t>(32, legalThreads(lanes));
  if (onlyDecodes(domain, /*bits=*/4, chunks, /*even=*/1024))
    threads = 512;
  if (packsHalf)
    threads = 128;
  // Of two warps a row each, values of decoded codes are slow.
  if (domain.bitsRead <= 8 && domain.narrowestStore == 16 && threads == 64 &&
      ceilDiv(chunks, loads) > threads)
    threads = 128;
  // Segments of other than a power of two are fewer where one needs fewer registers: not of codes
  // that need more, nor of heads that are normalised, turned and become codes.
  const bool bounded = threads > 64 && threads % 128 != 0 && domain.rowAligned() && !packs &&
                       !domain.draws && !meetsColumns(domain) &&
                       !(turnsNorm(domain) && domain.narrowestStore <= 8);
  // What is read again, a table of angles or rows that several choose, stays in the L2 so; codes
  // are read so little that what is stored fills it.
  const bool streams = isTurnedNorm(domain) || (fitsCache && vector < 16) || decodesBytes ||
                       (domain.bitsRead == 4 && domain.narrowestStore >= 16 && !fitsCache);
  const bool turnsTwice = isTurnedNorm(domain) && threads == 128 && domain.narrowestStore > 8;
  const bool takesTurns = domain.encodesBySoftware || worksWide;
  // Heads that are normalised and turned wait for more than others: smaller blocks.
  const int64_t ofBlock = turnsNorm(domain) ? 64 : 128;
  ScheduleKnobs knobs = {.threads = threads,
                         .vector = vector,
                         .rows = worksWide ? 1 : std::max<int64_t>(1, ofBlock / threads),
                         .loads = loads,
                         .tiles = takesTurns || turnsTwice ? 2 : 1,
                         .resident = bounded ? 1344 / threads : 0,
                         .streaming = streams && !turnsTwice};
  // Of groups so long that a lane has two of the chunks that lie beside each other when stored, a
  // warp's are stored together.
  if (domain.bitsRead <= 8 && domain.narrowestStore == 16 && vector > 8) {
    ScheduleKnobs together = knobs;
    together.bulk = 1;
    together.streaming = 0;
    std::string message;
    if (auto schedule = ScheduleAttr::get(context, Family::map, together);
        tileOf(schedule, domain, message))
      return schedule;
  }
  return ScheduleAttr::get(context, Family::map, knobs);
}
