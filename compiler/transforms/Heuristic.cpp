//===- Heuristic.cpp - A good schedule at once ----------------------------===//
//
// Part of Eider, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//
#include "compiler/transforms/Heuristic.h"

#include "compiler/transforms/Passes.h"

#include "llvm/Support/MathExtras.h"

#include <algorithm>

using namespace mlir;
using namespace eider::ir;
using namespace eider::transforms;

/// A row longer than this does not fit the registers of one block.
static int64_t longestOfBlock(const Domain &domain) {
  return domain.longestHeld() / domain.largestCluster;
}

static int64_t ceilDiv(int64_t a, int64_t b) { return (a + b - 1) / b; }

FamilyChoice eider::transforms::familyOf(const Domain &domain) {
  if (domain.attends)
    return {Family::attention, "attention over a cache: warps take 16 tokens at a time"};
  if (domain.prefills)
    return {Family::attention, "attention of a sequence over itself: a block has rows of one head"};
  if (domain.products)
    return {Family::contract, "a product of matrices: warps multiply 16 rows of weights at a time"};
  if (domain.block.isBlock())
    return {Family::tile, "a reduction over two-dimensional blocks"};
  if (domain.transposes)
    return {Family::tile, "a transpose: a block of the matrix goes through shared memory"};
  if (domain.reducesRows)
    return {Family::row, "a reduction along whole rows: the row stays in registers"};
  return {Family::map,
          domain.group ? "reductions over neighbours in a row only" : "elementwise: no reduction"};
}

int64_t eider::transforms::legalThreads(int64_t wanted) {
  return wanted <= 32 ? static_cast<int64_t>(llvm::PowerOf2Ceil(std::max<int64_t>(wanted, 1)))
                      : ceilDiv(wanted, 32) * 32;
}

/// Chunks of `vector` that cover a row, spread over at most `most` threads so that little of the
/// last load lies past the row's end: threads and loads of each.
static std::pair<int64_t, int64_t> spreadRow(int64_t chunks, int64_t most) {
  const int64_t fewest = ceilDiv(chunks, most);
  std::pair<int64_t, int64_t> best = {legalThreads(ceilDiv(chunks, fewest)), fewest};
  for (int64_t loads = fewest + 1; loads <= fewest + 2; ++loads)
    if (int64_t threads = legalThreads(ceilDiv(chunks, loads));
        threads * loads < best.first * best.second)
      best = {threads, loads};
  return best;
}

/// Threads of a segment of a row of `chunks`: few, and with little of the last segment empty.
static int64_t segmentThreads(int64_t chunks, int64_t lanes) {
  if (chunks <= 64)
    return legalThreads(std::max(chunks, lanes));
  int64_t best = 128;
  for (int64_t threads : {224, 192, 160, 96, 64})
    if (ceilDiv(chunks, threads) * threads < ceilDiv(chunks, best) * best)
      best = threads;
  return best;
}

/// Where only the row is held: no column vectors, and no second matrix is written.
static bool isPlain(const Domain &domain) {
  return !domain.readsColumns && domain.matricesWritten == 1;
}

/// The blocks that hold a row together: one, or for wide rows so many that few registers of a
/// thread hold a block's part, while several blocks share a multiprocessor. 0 and a message where
/// the target has too few.
static int64_t clusterOf(const Domain &domain, bool isFew, std::string &message) {
  // Few rows leave multiprocessors idle: their blocks take a quarter as much.
  const int64_t part = isFew ? 2048 : 8192;
  const bool isNarrow = isPlain(domain) && domain.narrowestStore <= 8;
  const int64_t widest = isFew       ? 4096
                         : !isNarrow ? part * 2
                                     : part * (domain.rowReductions > 1 ? 5 : 6) / 4;
  if (domain.width <= widest || domain.largestCluster == 1) {
    if (domain.width <= longestOfBlock(domain))
      return 1;
  } else if (domain.width <= domain.longestHeld()) {
    return std::min<int64_t>(domain.largestCluster,
                             llvm::PowerOf2Ceil(ceilDiv(domain.width, part)));
  }
  message = "rows of " + std::to_string(domain.width) +
            " elements: a reduction along a row holds the row in registers, at most " +
            std::to_string(domain.longestHeld());
  if (domain.largestCluster == 1)
    message += " on " + domain.target +
               ", which has no clusters of blocks; from sm_90 on rows have up to " +
               std::to_string(Domain().longestHeld());
  return 0;
}

/// Where a row that is loaded ahead hides what is done with the one before, and registers have
/// room for it: one narrow matrix, in rows that a few warps hold evenly, two or four chunks a
/// thread. Null elsewhere.
static ScheduleAttr aheadSchedule(MLIRContext *context, const Domain &domain, int64_t vector,
                                  int64_t chunks) {
  const bool hasWork = domain.readsColumns || domain.encodesBySoftware;
  if (!hasWork || domain.bitsRead != 16 || vector != 16 || chunks * vector != domain.width ||
      !llvm::isPowerOf2_64(chunks) || chunks < 64 || chunks > 1024)
    return {};
  const int64_t threads = std::max<int64_t>(32, chunks / 4);
  const int64_t resident = (chunks / threads == 4 ? 512 : 768) / threads;
  return ScheduleAttr::get(
      context, Family::row,
      {.threads = threads, .vector = vector, .tiles = 4, .resident = resident, .prefetch = 1});
}

/// Whether rows begin anywhere, and a whole warp can have neighbouring chunks of one: its threads
/// then store together (templates/memory/shifted.cuh).
static bool isShifted(const Domain &domain) {
  constexpr int64_t lanes = 32, widest = 16, fewAligned = 4;
  return domain.alignedElements < fewAligned && domain.width >= lanes * widest;
}

/// Whether rows begin at less than 16 bytes, and chunks are short: of aligned ones, or of rows that
/// no warp fills.
static bool isAlone(const Domain &domain) { return !domain.rowAligned() && !isShifted(domain); }

/// Neighbouring elements that a thread moves together: 16 bytes a store, but 16 codes at most, and
/// what a group's 32 lanes need.
static int64_t vectorFor(const Domain &domain) {
  int64_t wanted = std::min<int64_t>(16, 128 / domain.narrowestStore);
  // Of short chunks, neighbouring ones should be near each other.
  if (isAlone(domain) && familyOf(domain).family == Family::map)
    wanted = domain.width % 8 == 0 && domain.narrowestStore <= 8 ? 16 : 8;
  else if (isAlone(domain))
    wanted = std::max<int64_t>(4, domain.alignedElements);
  return std::max<int64_t>(domain.group / 32, wanted);
}

/// A norm of heads that are turned by angles.
static bool turnsNorm(const Domain &domain) { return domain.rotates && domain.sumsGroups; }

/// The same of one matrix: the angles are what many rows read again.
static bool isTurnedNorm(const Domain &domain) {
  return turnsNorm(domain) && domain.matricesRead == 1;
}

/// Codes of one matrix that take much arithmetic: two chunks a thread, so that what is done once a
/// thread is little; still more, and four tiles in turn. Null elsewhere.
static ScheduleAttr workingSchedule(MLIRContext *context, const Domain &domain, int64_t vector,
                                    int64_t chunks) {
  constexpr int64_t much = 7;
  const bool decodes = domain.bitsRead <= 8;
  if (domain.matricesRead != 1 || domain.encodesBySoftware || domain.narrowestStore > 8 ||
      domain.matricesWritten != 1 || vector != 16 || chunks % 512 != 0 ||
      (domain.arithmetic < 4 && !decodes))
    return {};
  const bool isMuch = domain.arithmetic >= much || decodes;
  return ScheduleAttr::get(context, Family::map,
                           {.threads = 128,
                            .vector = vector,
                            .loads = 2,
                            .tiles = isMuch ? 4 : 1,
                            .streaming = isTurnedNorm(domain)});
}

/// Pairs that are turned, of as many bits read as stored: many short chunks a thread, whose
/// partners are far lanes; their schedule of one width, that the tuner found. Null elsewhere.
static ScheduleAttr turnedSchedule(MLIRContext *context, const Domain &domain) {
  constexpr int64_t threads = 256, vector = 4, loads = 4;
  if (!domain.rotates || domain.sumsGroups || domain.group <= vector ||
      domain.group > 32 * vector || domain.matricesRead != 1 || domain.bitsRead != 16 ||
      domain.narrowestStore != 16 || domain.width % (threads * vector * loads) != 0)
    return {};
  return ScheduleAttr::get(context, Family::map,
                           {.threads = threads, .vector = vector, .loads = loads});
}

/// Whether 16-bit values are stored as such after little arithmetic, as a copy does them, in rows
/// of whole segments and an even number of those: of 7 the L2 gave more to longer ones.
static bool isLikeCopy(const Domain &domain, int64_t chunks) {
  constexpr int64_t little = 7;
  return domain.bitsRead == 16 && domain.narrowestStore == 16 && domain.matricesRead == 1 &&
         domain.matricesWritten == 1 && domain.arithmetic < little && !domain.rotates &&
         !domain.group && !domain.choosesRows && domain.rowAligned() && chunks % 256 == 0;
}

/// Short text, and many loads in flight by many small blocks. Arithmetic encoders want larger ones,
/// two tiles in turn; a thread that loads column vectors has two chunks, but of what is like a
/// copy.
static ScheduleAttr mapSchedule(MLIRContext *context, const Domain &domain) {
  const int64_t vector = vectorFor(domain);
  const int64_t chunks = ceilDiv(std::max<int64_t>(domain.width, 1), vector);
  if (ScheduleAttr working = workingSchedule(context, domain, vector, chunks))
    return working;
  if (ScheduleAttr turned = turnedSchedule(context, domain))
    return turned;
  const int64_t lanes = std::max<int64_t>(1, domain.group / vector);
  const bool wideColumns = domain.readsColumns && vector >= 16;
  const bool packs = domain.packs && domain.encodesBySoftware;
  // A segment of all the rows that are chosen from fits the cache.
  const bool fitsCache = domain.choosesRows && chunks % 64 == 0;
  const bool isShort = vector >= 16 && !wideColumns && !packs && !fitsCache && !isShifted(domain);
  // Two codes a byte by arithmetic: smaller blocks than of others, of as much a thread or more.
  const bool packsHalf = packs && domain.bitsRead == 16 && chunks % 512 == 0;
  const int64_t loads = isShort || isLikeCopy(domain, chunks) ? 1
                        : packsHalf && domain.group <= 16     ? 4
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
  if (packsHalf)
    threads = 128;
  // Segments of other than a power of two are fewer where one needs fewer registers.
  const bool bounded = threads > 64 && threads % 128 != 0 && domain.rowAligned();
  // What is read again, a table of angles or rows that several choose, stays in the L2 so; two
  // codes a byte are read so little that what is stored fills it.
  const bool streams = isTurnedNorm(domain) || (fitsCache && vector < 16) ||
                       (domain.bitsRead == 4 && domain.narrowestStore >= 16 && !fitsCache);
  // Heads that are normalised and turned wait for more than others: smaller blocks.
  const int64_t ofBlock = turnsNorm(domain) ? 64 : 128;
  return ScheduleAttr::get(context, Family::map,
                           {.threads = threads,
                            .vector = vector,
                            .rows = std::max<int64_t>(1, ofBlock / threads),
                            .loads = loads,
                            .tiles = domain.encodesBySoftware ? 2 : 1,
                            .resident = bounded ? 1344 / threads : 0,
                            .streaming = streams});
}

/// Rows that are so wide that few of them are held at once, and are reduced twice (a mean and a
/// variance, a maximum and a sum): small blocks, two rows in turn, whose reductions wait for few
/// warps; two matrices, those without column vectors, and 16-bit values that are stored as such,
/// reduced once as well, are loaded ahead instead. Null elsewhere.
static ScheduleAttr fewHeldSchedule(MLIRContext *context, const Domain &domain, int64_t vector,
                                    int64_t chunks) {
  const int64_t width = chunks * vector;
  constexpr int64_t each = 64, lanes = 32; // elements a thread, threads a warp
  const bool isAsRead = domain.narrowestStore > 8 && domain.readsColumns && domain.bitsRead == 16 &&
                        domain.matricesRead == 1;
  if (domain.rowReductions < (isAsRead && domain.matricesWritten == 1 ? 1 : 2) ||
      width != domain.width || width <= 4096 || width > 8192 || width % (each * lanes) != 0 ||
      (domain.narrowestStore > 8 && (!domain.readsColumns || domain.matricesRead > 1)))
    return {};
  if (!domain.readsColumns && !llvm::isPowerOf2_64(width))
    return {}; // bounded registers spill
  ScheduleKnobs knobs{.threads = width / each, .vector = vector, .tiles = 2};
  if (domain.matricesRead > 1)
    knobs.threads = width / 16, knobs.resident = 1024 / knobs.threads, knobs.prefetch = 1;
  else if (isAsRead)
    knobs.threads = width / 32, knobs.resident = 768 / knobs.threads, knobs.prefetch = 1;
  else
    knobs.resident = 512 / knobs.threads;
  if (!domain.readsColumns)
    knobs.tiles = 4, knobs.prefetch = 1;
  return ScheduleAttr::get(context, Family::row, knobs);
}

/// Rows of weights that meet a vector. Two rows a thread, for which it is loaded and widened once;
/// the next ones loaded ahead where rows are long and whole chunks, else many blocks at a time.
/// What is decoded by arithmetic has registers for few of both; tensor cores multiply it where they
/// can, whose pairs take less of it. A vector that is reduced first is computed once a block, of
/// many rows, whose first are loaded meanwhile.
static ScheduleAttr contractSchedule(MLIRContext *context, const Domain &domain) {
  constexpr int64_t isLong = 512; // chunks
  constexpr int64_t held = 1024, heldOfLong = 896, heldOfSoftware = 512,
                    heldOfFolded = 768; // threads
  // Codes of 16 bytes that meet their scales beforehand: two chunks of each of two rows are what a
  // thread holds; the vector that is laid out for them stays.
  constexpr int64_t ofFolded = 32;
  const bool folds = domain.foldsPairs && domain.mayMeetPairs(ofFolded);
  const int64_t vector = folds ? ofFolded : vectorFor(domain);
  const int64_t chunks = ceilDiv(std::max<int64_t>(domain.width, 1), vector);
  const int64_t lanes = legalThreads(std::max<int64_t>(1, domain.group / vector));
  const int64_t loads = chunks > isLong && !folds ? 4 : 2;
  ScheduleKnobs knobs{.threads = std::clamp<int64_t>(legalThreads(ceilDiv(chunks, loads)),
                                                     std::max<int64_t>(lanes, 32), 1024),
                      .vector = vector,
                      .mma = domain.prefersPairs(vector)};
  const bool isFew = ceilDiv(chunks, knobs.threads) <= (folds ? 2 : 4); // chunks a thread
  if (domain.stacksRows && isFew)
    knobs.rows = 2;
  if ((domain.decodesBySoftware || folds) && isFew) {
    knobs.tiles = 4;
    knobs.hoist = folds;
    // The nearest: a block alone leaves a multiprocessor half empty.
    const int64_t wanted = folds ? heldOfFolded : heldOfSoftware;
    knobs.resident = std::clamp<int64_t>((wanted + knobs.threads / 2) / knobs.threads, 1, 16);
  }
  if (domain.reducesColumns)
    knobs.hoist = 1;
  if (domain.decodesBySoftware || folds || !isFew)
    return ScheduleAttr::get(context, Family::row, knobs);
  if (domain.reducesColumns) {
    knobs.tiles = domain.stacksRows ? 8 : 4;
    knobs.prefetch = 1;
  } else if (chunks > isLong && llvm::isPowerOf2_64(chunks)) {
    knobs.tiles = 4;
    knobs.prefetch = 1;
  } else if (chunks > isLong) {
    knobs.rows = 1;
    // Without scales of groups, and of so few blocks, there are registers to load ahead.
    if (domain.group == 0 || 2 * knobs.threads >= heldOfLong) {
      knobs.tiles = 8;
      knobs.prefetch = 1;
    } else {
      knobs.resident = std::clamp<int64_t>(heldOfLong / knobs.threads, 1, 16);
    }
  } else {
    knobs.resident = std::clamp<int64_t>(held / knobs.threads, 1, 16);
  }
  return ScheduleAttr::get(context, Family::row, knobs);
}

/// Rows that whole warps hold evenly, but no power of two of them: of one matrix of 16-bit values,
/// with column vectors. As many blocks a multiprocessor as its registers hold, or little more, of
/// 85 a thread where codes are made, 48 where values are stored as they were read. Null elsewhere.
static ScheduleAttr betweenSchedule(MLIRContext *context, const Domain &domain, int64_t vector,
                                    int64_t chunks) {
  constexpr int64_t lanes = 32, loads = 2;
  const bool makesCodes = domain.narrowestStore <= 8, isTwice = domain.rowReductions > 1;
  if (isPlain(domain) || domain.matricesRead > 1 || domain.bitsRead != 16 ||
      domain.encodesBySoftware || chunks * vector != domain.width ||
      chunks % (loads * lanes) != 0 || llvm::isPowerOf2_64(chunks))
    return {};
  ScheduleKnobs knobs{.threads = chunks / loads, .vector = vector};
  if (makesCodes && knobs.threads < 128) // Two chunks a thread: fewer warps meet.
    knobs.tiles = 3, knobs.resident = 768 / knobs.threads;
  else if (makesCodes && isTwice && knobs.threads <= 192) // Registers for the next row.
    knobs.tiles = 4, knobs.resident = 768 / knobs.threads, knobs.prefetch = 1;
  else if (!makesCodes && isTwice && knobs.threads > 256 && knobs.threads < 512)
    knobs.tiles = 2, knobs.resident = 1344 / knobs.threads;
  else
    return {};
  return ScheduleAttr::get(context, Family::row, knobs);
}

static ScheduleAttr rowSchedule(MLIRContext *context, const Domain &domain) {
  const int64_t vector = vectorFor(domain);
  const int64_t chunks = ceilDiv(std::max<int64_t>(domain.width, 1), vector);
  if (ScheduleAttr ahead = aheadSchedule(context, domain, vector, chunks))
    return ahead;
  if (ScheduleAttr between = betweenSchedule(context, domain, vector, chunks))
    return between;
  if (ScheduleAttr held = fewHeldSchedule(context, domain, vector, chunks))
    return held;
  const bool isWide = domain.width > 8192;
  const int64_t half = isAlone(domain) ? 16384 : 8192;
  int64_t most = domain.width > 32768 ? 1024 : domain.width > half ? 512 : 256;
  // Where only the row is held, a thread has room for 32 of its elements or 64, and small blocks
  // for several rows in turn.
  const bool plain = isPlain(domain);
  if (plain)
    most = std::clamp<int64_t>(chunks * vector / (isWide ? 64 : 32), 64, most);
  constexpr int64_t shiftedThreads = 544; // two such blocks hold rows of a little over 8192
  if (!plain && domain.matricesRead > 1 && isShifted(domain) && chunks <= shiftedThreads)
    most = shiftedThreads;
  // Two matrices and a wide store, reduced once: one chunk a thread.
  if (!plain && domain.matricesRead > 1 && domain.narrowestStore > 8 && domain.rowReductions == 1 &&
      domain.width > 4096)
    most = std::max<int64_t>(most, 512);
  auto [threads, loads] = spreadRow(chunks, most);
  threads = std::max(threads, legalThreads(std::max<int64_t>(1, domain.group / vector)));
  if (isShifted(domain))
    threads = std::max<int64_t>(threads, 32);
  ScheduleKnobs knobs{
      .threads = threads, .vector = vector, .rows = threads <= 32 ? 256 / threads : 1};
  if (plain && domain.matricesRead > 1 && threads > 32 && threads <= 128)
    knobs.tiles = 4;
  if (plain && isWide && domain.narrowestStore > 8)
    knobs.tiles = 2;
  // Two reductions of f32 want no more than 64 registers, or few rows are held at a time.
  if (plain && domain.rowReductions > 1 && threads >= 128 && threads <= 512 &&
      loads * vector <= 32 && llvm::isPowerOf2_64(threads))
    knobs.resident = 1024 / threads;
  if (!plain && domain.matricesRead > 1 && isShifted(domain) && loads <= 2)
    knobs.resident = std::max<int64_t>(1, (loads == 1 ? 2 * shiftedThreads : 640) / threads);
  else if (!plain && domain.matricesRead > 1 && threads == 512 && domain.narrowestStore <= 8)
    knobs.resident = 1024 / threads;
  else if (!plain && domain.matricesRead > 1 && domain.rowReductions > 1 && threads >= 64 &&
           domain.narrowestStore <= 8 && loads * vector <= 32)
    knobs.resident = std::max<int64_t>(1, 512 * 32 / (threads * loads * vector));
  // One matrix to read leaves room for the registers of 1280 threads a multiprocessor (1152 of much
  // a thread, 896 of those that shift what they load, 1024 where codes are made by arithmetic), and
  // some rows a block hide a block's start.
  const bool isShort = isAlone(domain) && domain.narrowestStore <= 8 && loads * vector <= 32;
  const bool light = domain.matricesRead == 1 && threads >= 64 && (loads <= 2 || isShort);
  if (light && (!plain || domain.encodesBySoftware)) {
    const int64_t held = loads * vector <= 16 ? 1280 : 1152;
    knobs.tiles = domain.encodesBySoftware ? 4 : 3;
    knobs.resident = (isShifted(domain) ? 896 : domain.encodesBySoftware ? 1024 : held) / threads;
  }
  return ScheduleAttr::get(context, Family::row, knobs);
}

/// Few rows: what counts is how soon one is done, and each multiprocessor has a block or two. Many
/// threads, each with one short chunk; two to four where a block of a cluster loads columns as
/// well, whose latency they share. Where none are loaded, data used once was the faster hint, but
/// for what makes codes of bytes in chunks: they are shorter still where all are held at once.
static ScheduleAttr fewRowsSchedule(MLIRContext *context, const Domain &domain, int64_t cluster) {
  constexpr int64_t widestOfShorter = 8192;
  const bool isMap = familyOf(domain).family == Family::map;
  const bool isShorter =
      isMap && domain.narrowestStore == 8 && domain.width <= widestOfShorter && !domain.givesWhole;
  const int64_t vector =
      std::max(domain.group / 32, std::min<int64_t>(isShorter ? 4 : 8, vectorFor(domain)));
  const int64_t lanes = legalThreads(std::max<int64_t>(1, domain.group / vector));
  const int64_t chunks = ceilDiv(ceilDiv(std::max<int64_t>(domain.width, 1), vector), cluster);
  const int64_t most = cluster > 1 && domain.readsColumns
                           ? std::clamp<int64_t>(chunks / 4, 128, 1024)
                           : (isMap ? 256 : 1024);
  const int64_t fewest = domain.contracts ? 32 : 1; // rows side by side meet the vector apart
  const int64_t threads = std::max({lanes, fewest, spreadRow(chunks, most).first});
  return ScheduleAttr::get(context, isMap ? Family::map : Family::row,
                           {.threads = threads,
                            .vector = vector,
                            .rows = threads <= 32 && !domain.contracts ? 64 / threads : 1,
                            .loads = isMap ? 1 : 0,
                            .tiles = domain.givesWhole ? 8 : 1, // each block counts itself
                            .cluster = cluster,
                            .streaming = cluster == 1 && !domain.readsColumns && !isShorter,
                            .mma = threads % 32 == 0 && domain.prefersPairs(vector)});
}

/// Rows of 16-bit values that are reduced twice, become codes and need nothing beside them: the
/// next is loaded ahead, by threads over which a block's part spreads evenly. Null elsewhere.
static ScheduleAttr wideCodesSchedule(MLIRContext *context, const Domain &domain, int64_t cluster,
                                      int64_t vector, int64_t chunks) {
  constexpr int64_t held = 512 * 64; // elements of a multiprocessor
  if (!isPlain(domain) || domain.rowReductions < 2 || domain.narrowestStore > 8 ||
      domain.bitsRead != 16 || domain.encodesBySoftware || domain.alignedElements < 8)
    return {};
  for (int64_t loads = 4; loads >= 2; --loads) {
    const int64_t threads = legalThreads(ceilDiv(chunks, loads));
    if (threads < 128 || threads > 256 || threads * loads - chunks > chunks / 32)
      continue;
    return ScheduleAttr::get(context, Family::row,
                             {.threads = threads,
                              .vector = vector,
                              .tiles = 4,
                              .resident = held / (threads * loads * vector),
                              .prefetch = 1,
                              .cluster = cluster});
  }
  return {};
}

/// Rows that several blocks hold together. Several blocks of a multiprocessor take turns while one
/// waits for its cluster: 64 elements a thread where only the row is held or one is loaded ahead,
/// else 32.
static ScheduleAttr wideRowSchedule(MLIRContext *context, const Domain &domain, int64_t cluster) {
  const int64_t vector = vectorFor(domain);
  const int64_t chunks = ceilDiv(ceilDiv(domain.width, vector), cluster), part = chunks * vector;
  if (ScheduleAttr ahead = wideCodesSchedule(context, domain, cluster, vector, chunks))
    return ahead;
  const bool isEven = part * cluster == domain.width && llvm::isPowerOf2_64(chunks);
  const bool ahead = !isPlain(domain) && domain.bitsRead == 16 && isEven;
  const int64_t each = isPlain(domain) || ahead ? 64 : 32;
  // Of 512 threads two blocks have their registers, of more each is alone.
  constexpr int64_t half = 512;
  const bool isAlone = part > half * each;
  auto [threads, loads] =
      spreadRow(chunks, isAlone             ? 2 * half
                        : part / each > 256 ? half
                                            : std::max<int64_t>(part / each, 32));
  const int64_t most = isPlain(domain) ? each : each * 5 / 4; // little more than it was chosen for
  if (!isAlone && loads * vector > most) {
    threads = legalThreads(ceilDiv(chunks, std::max<int64_t>(1, each / vector)));
    loads = ceilDiv(chunks, threads);
  }
  ScheduleKnobs knobs{.threads = threads, .vector = vector, .cluster = cluster};
  if (!isAlone) {
    const int64_t narrow = isShifted(domain) ? 768 : 1024;
    // The nearest: six blocks of 128 threads spill, two of 256 leave a multiprocessor half empty.
    const int64_t plain = (domain.narrowestStore > 8 ? 672 : 608) * 64,
                  own = threads * loads * vector;
    const int64_t held = isPlain(domain) ? (plain + own / 2) / own : narrow * 32 / own;
    knobs.tiles = !isPlain(domain) ? 4 : domain.narrowestStore > 8 ? 1 : 2;
    knobs.resident = std::clamp<int64_t>(held, 1, 2048 / threads);
    knobs.prefetch = ahead;
  }
  return ScheduleAttr::get(context, Family::row, knobs);
}

/// What attention left in parts: a thread has few elements, each of which is in all of them.
static ScheduleAttr combiningSchedule(MLIRContext *context, const Domain &domain) {
  const int64_t vector = std::max<int64_t>(2, domain.group / 32);
  const int64_t chunks = ceilDiv(std::max<int64_t>(domain.width, 1), vector);
  return ScheduleAttr::get(
      context, Family::map,
      {.threads = legalThreads(std::min(chunks, std::max<int64_t>(64, domain.group / vector))),
       .vector = vector,
       .loads = 1});
}

/// The schedule of one family for a program, as if it had no values of the whole matrix.
static ScheduleAttr familySchedule(MLIRContext *context, const Domain &domain, int64_t mostRows,
                                   std::string &message) {
  const bool isFew = mostRows > 0 && mostRows <= fewRows;
  const Family family = familyOf(domain).family;
  if (family == Family::attention)
    return attentionSchedule(context, domain, mostRows);
  if (family == Family::contract)
    return productSchedule(context, domain, mostRows, message);
  if (domain.headsOfAttention && family == Family::map)
    return combiningSchedule(context, domain);
  if (family == Family::tile)
    return tileSchedule(context, domain, message);
  if (domain.contracts && !isFew && domain.width <= longestOfBlock(domain))
    return contractSchedule(context, domain);
  const int64_t cluster = family == Family::row ? clusterOf(domain, isFew, message) : 1;
  if (cluster == 0)
    return {};
  if (isFew)
    return fewRowsSchedule(context, domain, cluster);
  if (cluster > 1)
    return wideRowSchedule(context, domain, cluster);
  return family == Family::map ? mapSchedule(context, domain) : rowSchedule(context, domain);
}

/// Threads of a block, whose rows are side by side or share them.
static int64_t threadsOfBlock(Family family, const ScheduleKnobs &k, const Domain &domain) {
  const bool isBeside = family == Family::map || (family == Family::row && !domain.stacksRows);
  return k.threads * (isBeside ? k.rows : 1);
}

/// Of no more blocks than a multiprocessor of the target has threads for.
static ScheduleAttr withRoom(ScheduleAttr schedule, const Domain &domain) {
  ScheduleKnobs k = schedule.getKnobs();
  k.resident = std::min(k.resident,
                        domain.residentThreads / threadsOfBlock(schedule.getFamily(), k, domain));
  return ScheduleAttr::get(schedule.getContext(), schedule.getFamily(), k);
}

/// Blocks that count themselves, of which a large matrix has fewer, and each more to do, than where
/// none counts. Those of two-dimensional tiles stay.
static ScheduleAttr countingSchedule(ScheduleAttr schedule, const Domain &domain) {
  constexpr int64_t block = 256, held = 768; // threads of one, and of those of a multiprocessor
  ScheduleKnobs k = schedule.getKnobs();
  if (schedule.getFamily() == Family::map) {
    if (k.threads * k.rows <= block / 2)
      (k.threads * k.vector < domain.width ? k.threads : k.rows) *= 2;
    k.loads = k.threads * k.vector < domain.width ? 2 : 1;
    k.tiles = 4;
  } else if (k.prefetch) {
    k.tiles = 8;
  } else {
    k.tiles = std::max<int64_t>(k.tiles, 2);
    k.resident = std::max<int64_t>(k.resident, held / (k.threads * k.rows));
  }
  return ScheduleAttr::get(schedule.getContext(), schedule.getFamily(), k);
}

/// As many blocks as a large GPU holds at once, each with many tiles in turn: so few leave a part,
/// or read all of them, that it costs little.
static ScheduleAttr stayingSchedule(ScheduleAttr schedule, const Domain &domain, bool isFew) {
  constexpr int64_t multiprocessors = 132, mostResident = mostParts / multiprocessors;
  ScheduleKnobs k = schedule.getKnobs();
  const bool isMap = schedule.getFamily() == Family::map;
  if (isMap && k.threads * k.rows <= 128)
    k.rows *= 256 / (k.threads * k.rows);
  const int64_t block = threadsOfBlock(schedule.getFamily(), k, domain);
  const int64_t most = isShifted(domain) ? 1152 : 1536;
  const int64_t held = isMap && !domain.encodesBySoftware ? most : 1024;
  // A schedule that loads ahead knows how many blocks have the registers for it.
  const int64_t resident =
      k.prefetch && k.resident ? k.resident : std::clamp<int64_t>(held / block, 1, mostResident);
  k.tiles = 1;
  k.blocks = multiprocessors * resident / k.cluster * k.cluster;
  if (!isFew && k.cluster == 1)
    k.resident = resident;
  return ScheduleAttr::get(schedule.getContext(), schedule.getFamily(), k);
}

ScheduleAttr eider::transforms::heuristicSchedule(MLIRContext *context, const Domain &domain,
                                                  int64_t mostRows, std::string &message) {
  const bool isFew = mostRows > 0 && mostRows <= fewRows;
  ScheduleAttr schedule = familySchedule(context, domain, mostRows, message);
  if (!schedule)
    return {};
  const Family family = schedule.getFamily();
  const bool counts = domain.givesWhole && !isFew;
  const bool mayTakeTurns = family == Family::map || family == Family::row;
  const bool stays =
      domain.reducesWhole || (domain.readsParts && !isFew) || (counts && !mayTakeTurns);
  if (stays)
    schedule = stayingSchedule(schedule, domain, isFew);
  else if (counts)
    schedule = countingSchedule(schedule, domain);
  return withRoom(schedule, domain);
}

/// Registers of a thread that holds so many elements until all blocks have met: as they are in
/// memory, or as the f32 that a row's reduction went into.
static int64_t registersToHold(const Domain &domain, int64_t elements) {
  const int64_t bits = std::max<int64_t>(domain.bitsRead, domain.reducesRows ? 32 : 0);
  constexpr int64_t others = 24, ofArithmetic = 16;
  const int64_t worked = domain.reducesRows ? domain.matricesRead : domain.encodesBySoftware;
  return others + worked * ofArithmetic + ceilDiv(elements * bits, 32);
}

ScheduleAttr eider::transforms::cooperativeSchedule(MLIRContext *context, const Domain &domain,
                                                    int64_t held, int64_t block) {
  constexpr int64_t registers = 65536, coalesced = 8;
  const Family family = familyOf(domain).family;
  if (!domain.readsParts || family == Family::tile || family == Family::contract ||
      domain.width == 0)
    return {};
  const int64_t vector = std::min(vectorFor(domain), std::max(held, domain.group / 32));
  const int64_t chunks = ceilDiv(domain.width, vector), most = std::max<int64_t>(1, held / vector);
  // Neighbouring threads have neighbouring chunks, also of rows that few threads would hold.
  const int64_t lanes = std::max<int64_t>(std::min(chunks, coalesced), domain.group / vector);
  int64_t threads = legalThreads(std::max(ceilDiv(chunks, most), lanes));
  if (family == Family::map)
    threads = std::min(threads, block);
  if (threads > 1024)
    return {};
  ScheduleKnobs k{.threads = threads, .vector = vector, .cooperative = 1};
  k.loads = family == Family::map ? std::min(most, ceilDiv(chunks, threads)) : 0;
  k.rows = family == Family::row && threads > 32 ? 1 : std::max<int64_t>(1, block / threads);
  const int64_t loads = k.loads ? k.loads : ceilDiv(chunks, threads);
  const int64_t fit =
      std::min(domain.residentThreads, registers / registersToHold(domain, loads * vector));
  k.resident = fit / (threads * k.rows);
  if (k.resident == 0)
    return {};
  auto schedule = ScheduleAttr::get(context, family, k);
  std::string message;
  return tileOf(schedule, domain, message) ? schedule : ScheduleAttr();
}
