//===- Tile.cpp - Whether a schedule is legal, and its tile ---------------===//
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
using eider::simt::TileAttr;
using eider::simt::TileKind;

/// What is wrong with the knobs of a loop over tiles; empty: nothing.
static std::string loopProblem(const ScheduleKnobs &k, const Domain &domain, Family family) {
  const bool oneRow = family == Family::row && (k.rows == 1 || domain.stacksRows);
  if (family == Family::contract)
    return k.hoist || k.streaming > 1 || k.software > 1 || (k.blocks && k.tiles > 1)
               ? "hoist is of column vectors alone; streaming and software are 1 or left out; a "
                 "persistent grid (blocks) takes all tiles in turn"
               : "";
  if (k.prefetch > 1 && !(family == Family::row && domain.stacksRows))
    return "at most one tile is loaded ahead";
  if (k.prefetch && !oneRow && family != Family::tile)
    return "a tile is loaded ahead where it is one whole row that is reduced, or a block";
  if (k.prefetch && family == Family::tile && !domain.reducesGroups)
    return "a tile is loaded ahead after the reduction of the one before; the program reduces none";
  if (k.blocks && k.tiles > 1)
    return "a persistent grid (blocks) takes all tiles in turn: leave tiles out";
  if (k.hoist > 1 || k.streaming > 1 || k.software > 1)
    return "hoist, streaming and software are 1 or left out";
  if (k.hoist && family != Family::row)
    return "column vectors stay in registers over tiles where each is a whole row that is reduced";
  return "";
}

/// What is wrong with stores in bulk (templates/memory/bulk.cuh) of a block that holds so many
/// elements; empty: nothing.
static std::string bulkProblem(const ScheduleKnobs &k, const Domain &domain, Family family,
                               int64_t elements) {
  constexpr int64_t lanes = 32;
  // Slots of three operations: of each warp one, in a cluster two for each of its blocks.
  const int64_t ofReductions = k.cluster > 1 ? 8192 : 4096, most = mostStaticShared - ofReductions;
  if (k.bulk == 0)
    return "";
  if (k.bulk > 1 || (family != Family::map && family != Family::row) || domain.stacksRows)
    return "bulk is 1 or left out, and of rows or parts of rows";
  if (domain.largestCluster == 1)
    return domain.target + " has no stores in bulk; sm_90 and later have";
  if (k.threads % lanes != 0 || domain.width % (lanes * k.vector) != 0)
    return "warps store in bulk what they hold of whole rows: threads is a multiple of 32, and 32 "
           "× vector divides the row";
  int64_t bits = 0; // Matrices of one type have the same place.
  for (Type type : domain.typesWritten)
    bits += isStoredInBulk(type) ? type.getIntOrFloatBitWidth() : 0;
  if (bits == 0)
    return "no more than 8 bits an element are stored, which is not done in bulk: leave bulk out";
  if (elements * bits / 8 > most)
    return "what a block stores in bulk must fit " + std::to_string(most / 1024) +
           " KiB of shared memory: lower threads, rows or loads";
  return "";
}

/// What is wrong with a cluster of blocks; empty: nothing.
static std::string clusterProblem(const ScheduleKnobs &k, const Domain &domain, Family family) {
  if (k.cluster == 1 || family == Family::contract) // of which productProblem() knows
    return "";
  if (!domain.reducesRows || domain.block.isBlock())
    return "a cluster of blocks holds a row that is reduced; the program reduces none";
  if (domain.largestCluster == 1)
    return domain.target + " has no clusters of blocks; sm_90 and later have";
  if (k.blocks % k.cluster != 0)
    return "a persistent grid (blocks) is whole clusters";
  return "";
}

/// What is wrong with where a group lies among the threads; empty: nothing.
static std::string groupProblem(const Domain &domain, TileKind kind, int64_t threads,
                                int64_t vector, int64_t loads, int64_t together) {
  const int64_t group = domain.group, lanes = std::min<int64_t>(threads, 32);
  if (!group)
    return "";
  const std::string which = "a group of " + std::to_string(group);
  if (together) {
    const int64_t span = together * vector; // of all their loads, whole groups
    return (group > span ? group % span || loads % (group / span) : span % group)
               ? which + " must divide lanes × vector, or be a multiple of it that loads are whole "
                         "numbers of"
               : "";
  }
  // Of single elements a warp holds neighbours: a group is several chunks of all its lanes.
  if (vector == 1 && kind == TileKind::row && group > lanes)
    return domain.rotates ? which + " whose halves are rotated must fit a warp"
           : group % lanes != 0 || loads % (group / lanes) != 0
               ? which + " must be a number of warps, and a thread's loads a number of such groups"
               : "";
  if (group > vector * 32 || (threads * vector) % group != 0)
    return which + " must divide threads × vector and fit a warp";
  return "";
}

/// What is wrong with lanes that have neighbouring chunks; empty: nothing.
static std::string lanesProblem(const ScheduleKnobs &k, const Domain &domain, TileKind kind,
                                int64_t loads) {
  if (k.lanes == 0)
    return "";
  if (kind != TileKind::row || k.lanes < 0 || k.lanes > 32 || k.threads % k.lanes != 0)
    return "lanes, at most 32, are of rows or parts of rows, and divide their threads";
  if (k.vector == 1 || k.mma || domain.products || loads == 1)
    return "lanes hold more than one chunk each, of several elements, of a program that has no "
           "products";
  if (k.bulk && k.lanes != 32)
    return "what is stored in bulk lies side by side in all lanes of a warp: lanes is 32, or left "
           "out";
  return "";
}

/// What is wrong with a kernel all of whose blocks meet; empty: nothing.
static std::string cooperativeProblem(const ScheduleKnobs &k, const Domain &domain, Family family) {
  if (k.cooperative == 0)
    return "";
  if (k.cooperative > 1)
    return "cooperative is 1 or left out";
  if (!domain.readsParts && !domain.reducesWhole)
    return "the blocks of a cooperative kernel meet for a reduction over the whole matrix; the "
           "program has none";
  if (family == Family::tile || family == Family::contract)
    return "a cooperative kernel holds rows or parts of rows, not two-dimensional blocks";
  if (k.tiles > 1 || k.blocks || k.prefetch || k.cluster > 1 || k.bulk || k.combine)
    return "each block of a cooperative kernel holds one tile, and all meet: leave tiles, blocks, "
           "prefetch, cluster, bulk and combine out";
  if (k.resident == 0)
    return "all blocks of a cooperative kernel run at once: resident says how many of them a "
           "multiprocessor holds";
  if (k.resident * threadsOfBlock(family, k, domain) > domain.residentThreads)
    return "a multiprocessor of " + domain.target + " holds at most " +
           std::to_string(domain.residentThreads) + " threads";
  if (k.resident > 64)
    return "a multiprocessor holds at most 64 blocks: lower resident";
  if (domain.width == 0)
    return "a cooperative kernel holds a matrix that has elements";
  return "";
}

/// What is wrong with the blocks of a kernel that leaves or reads parts of a reduction over the
/// whole matrix; empty: nothing.
static std::string partsProblem(const ScheduleKnobs &k, const Domain &domain, Family family) {
  if (domain.reducesWhole && !k.cooperative && (k.blocks == 0 || k.blocks > mostParts))
    return "each block leaves a part of a reduction over the whole matrix: blocks is 1 to " +
           std::to_string(mostParts);
  if (k.combine < 0 || k.combine > 1)
    return "combine is 1 or left out";
  if (k.combine && !domain.givesWhole)
    return "the block that comes last combines values of the whole matrix for which nothing in it "
           "waits (an amax beside codes); the kernel has none: leave combine out";
  const int64_t block = threadsOfBlock(family, k, domain);
  if (domain.reducesBlocks() && block % 32 != 0 && (block > 32 || (block & (block - 1)) != 0))
    return "a block combines parts of the whole matrix: its threads are whole warps, or a power of "
           "two";
  return "";
}

/// What is wrong with rows of codes that tensor cores multiply by a vector; empty: nothing.
static std::string pairsProblem(const ScheduleKnobs &k, const Domain &domain) {
  if (k.mma == 0)
    return "";
  if (k.mma != 1)
    return "mma is 1 or left out";
  if (!domain.meetsPairs)
    return "tensor cores multiply rows of codes, as they are in memory and in blocks of whole 16, "
           "by a vector of bf16 (from sm_80 on) or f16 that is: leave mma out";
  if (k.threads % 32 != 0 || !domain.mayMeetPairs(k.vector))
    return "tensor cores add up what four lanes of whole warps hold: threads is a multiple of 32, "
           "vector of " +
           std::string(domain.packs ? "8" : "4") + ", and a block of one scale of 4 × vector, " +
           "or, of such codes as meet their scales beforehand, of vector";
  return "";
}

/// What is wrong with rows of codes that come through shared memory; empty: nothing.
static std::string aheadProblem(const ScheduleKnobs &k, const Domain &domain, TileKind kind) {
  if (k.prefetch < 2 || kind == TileKind::block)
    return "";
  if (!domain.comesAhead || !k.mma || kind != TileKind::rows || k.rows % 2 != 0)
    return "several pairs of rows come, through shared memory, where mma multiplies them, of one "
           "product whose codes have scales of f32, from sm_80 on: rows is even";
  if (domain.packs || k.vector != 16 || domain.width % k.vector != 0)
    return "rows come in chunks of 16 bytes: vector is 16, and divides the row";
  if (k.prefetch > 8 || domain.sharedOfAhead(k) > domain.sharedOfBlock)
    return "at most 8 pairs of rows are in shared memory, and fit the " +
           std::to_string(domain.sharedOfBlock / 1024) + " KiB of a block";
  if (k.tiles > 1 || k.blocks || k.resident == 0)
    return "the blocks to which rows come stay: resident says how many of them a multiprocessor "
           "holds; leave tiles and blocks out";
  return "";
}

/// What is wrong with the block of a transpose (memory/transposition.cuh); empty: nothing.
static std::string transposeProblem(const ScheduleKnobs &k, const Domain &domain) {
  if (!domain.transposes)
    return "";
  // In shared memory, the columns that a thread has in its vector.
  constexpr int64_t widestElement = 4, bytes = 32 * 1024;
  if (k.vector < 4 || k.rows % k.vector != 0 || k.threads % (k.rows / k.vector) != 0)
    return "a transposed block is dealt to its threads like the block: vector is at least 4, and "
           "threads a multiple of the rows / vector";
  if (!llvm::isPowerOf2_64(k.rows) || !llvm::isPowerOf2_64(k.columns) ||
      k.rows * k.vector * widestElement > bytes)
    return "a transposed block has powers of two of rows and columns, and vector columns of it "
           "fit " +
           std::to_string(bytes / 1024) + " KiB of shared memory";
  if (domain.mostRows && k.rows > domain.mostRows)
    return "at most " + std::to_string(domain.mostRows) +
           " rows are transposed in tiles of no more";
  if (domain.group && (k.rows % domain.groupDown() != 0 || k.columns % domain.group != 0))
    return "groups of " + std::to_string(domain.group) +
           " must divide the rows and the columns of a transposed block";
  return "";
}

/// What is wrong with the warpgroups of a product of matrices; empty: nothing.
static std::string warpgroupsProblem(const ScheduleKnobs &k, const Domain &domain) {
  if (!domain.byWarpgroups || k.warpgroups > 1)
    return "warpgroups multiply one matrix of codes of 8 bits in rows of 128 or whole rows of a "
           "scale, of a multiple of 16, by bf16 or f16, or of e4m3 or e5m2 by such codes where the "
           "hardware converts them, or of e2m1 in shorter rows of a scale of e8m0 or e4m3, of a "
           "multiple of 128, by bf16, for sm_90a: leave warpgroups out";
  const ScheduleKnobs known{.threads = k.threads,
                            .vector = k.vector,
                            .rows = k.rows,
                            .loads = 2,
                            .columns = k.columns,
                            .split = k.split,
                            .resident = k.resident,
                            .prefetch = k.prefetch,
                            .cluster = k.cluster,
                            .streaming = k.streaming,
                            .warpgroups = 1,
                            .f16 = k.f16,
                            .software = k.software};
  if (!(k == known))
    return "by warpgroups it has threads, vector, rows, loads = 2, columns, resident, split, "
           "prefetch, cluster, streaming, f16 and software alone";
  if (k.f16 && (!domain.takesF16 || k.f16 > 1))
    return "rows of bf16, not one alone, of a multiple of 128 up to " +
           std::to_string(domain.longestHeld()) +
           ", that meet codes of e4m3 or e5m2, in no groups, become f16: leave f16 out";
  if ((k.threads != 128 && k.threads != 256 && k.threads != 512) || k.columns != k.threads / 2)
    return "a warpgroup has 128 threads and 64 columns: threads are 128, 256 or 512, and columns "
           "half as many";
  if (k.rows != 8 && k.rows != 16 && k.rows != 32 && k.rows != 64)
    return "warpgroups multiply 8, 16, 32 or 64 rows";
  if (k.cluster < 1 || k.rows % k.cluster != 0)
    return "each block of a cluster keeps as many of the rows";
  if (k.split < 1 || k.split > 16)
    return "split, of blocks that have a part of a product each, is 1 to 16";
  if (k.split > 1 && domain.rowGroups)
    return "the last of split blocks has a product, where rows are in no groups: leave split out";
  if (k.split > 1 && std::max(k.vector, k.rows / k.cluster * k.columns / k.threads) % 4 != 0)
    return "each thread of split blocks leaves sums by fours: raise vector to a multiple of 4";
  if (k.split * k.cluster * 128 > std::max<int64_t>(128 * k.cluster, domain.lengthOfRows))
    return "blocks that share a product have 128 of the length at least: lower split or cluster";
  const int64_t stages = ceilDiv(domain.lengthOfRows, 128), sharing = k.split * k.cluster;
  if (k.f16 && (sharing - 1) * ceilDiv(stages, sharing) >= stages)
    return "each block that shares a product by f16 has 128 of the length: lower split or cluster";
  if (k.prefetch < 2 || k.prefetch > 8)
    return "prefetch, of what is on its way, is 2 to 8 stages";
  if (domain.group && k.columns % domain.group != 0)
    return "groups of " + std::to_string(domain.group) + " must divide columns";
  if (domain.sharedOfProduct(k) > domain.sharedOfBlock)
    return "what is on its way must fit " + std::to_string(domain.sharedOfBlock / 1024) +
           " KiB of shared memory: lower prefetch, rows or threads";
  return "";
}

/// What is wrong with the warps of a product of matrices; empty: nothing.
static std::string productProblem(const ScheduleKnobs &k, const Domain &domain) {
  constexpr int64_t step = 64, all = mostStaticShared, ofReductions = 1024, most = 128;
  constexpr int64_t leastBlock = 16;
  if (k.warpgroups)
    return warpgroupsProblem(k, domain);
  if (k.cluster > 1)
    return "warpgroups alone share the length over a cluster: leave cluster out";
  if (k.threads % 32 != 0 || k.threads / 32 % k.split != 0)
    return "threads are whole warps, and their number a multiple of split";
  if (k.rows % 8 != 0 || k.rows > most)
    return "warps multiply 8 rows at a time: rows is a multiple of 8, at most " +
           std::to_string(most);
  if (const int64_t strip = 16 * (k.threads / 32 / k.split); k.columns % strip != 0)
    return "each warp has 16 rows of weights or more: columns is a multiple of " +
           std::to_string(strip);
  if (k.loads < 1 || k.loads > 8)
    return "loads, of 64 elements along the rows, are 1 to 8 at a time";
  if (domain.blockOfWeights && domain.blockOfWeights % (k.loads * step) != 0 &&
      k.loads * step % domain.blockOfWeights != 0)
    return "what is loaded at a time ends in the middle of a block of weights";
  if (domain.group && k.columns % domain.group != 0)
    return "groups of " + std::to_string(domain.group) + " must divide columns";
  if (k.prefetch < 2 || k.prefetch > 8)
    return "prefetch, of what is on its way to a warp, is 2 to 8 stages";
  const int64_t ofWarp = k.columns / (k.threads / 32 / k.split) * k.loads * step;
  const int64_t codes = ofWarp * (k.threads / 32) * k.prefetch / (domain.packsWeights ? 2 : 1);
  const int64_t others =
      k.rows > 8 ? k.rows * k.loads * step * k.split * k.prefetch * domain.bitsOfVectors / 8 : 0;
  const int64_t scales = // those of narrower blocks are more
      domain.foldsScales
          ? k.columns * k.split * k.prefetch * std::max<int64_t>(1, k.loads * step / leastBlock)
          : 0;
  const int64_t sums = k.split * k.rows * (k.columns + 4) * 4;
  // Blocks that combine parts of the whole matrix have memory for that, too.
  const int64_t bytes = all - (domain.reducesBlocks() ? ofReductions : 0);
  if (domain.products * std::max(codes + others + scales, sums) > bytes)
    return "what is on its way and the sums that warps share must fit " +
           std::to_string(bytes / 1024) +
           " KiB of shared memory: lower prefetch, loads, split, rows or columns";
  return "";
}

/// What is wrong with the warps of attention; empty: nothing.
static std::string attentionProblem(const ScheduleKnobs &k, const Domain &domain) {
  if (k.threads < 32 || k.threads % 32 != 0 || k.threads > 512)
    return "threads are 1 to 16 whole warps";
  if (k.blocks < 1 || k.blocks > 65536)
    return "blocks, which sequences are cut for, are 1 to 65536";
  if (k.prefetch < 2 || k.prefetch > 8)
    return "prefetch, of what is on its way to a warp, is 2 to 8 steps of 16 tokens";
  if (k.resident * k.threads > 2048)
    return "a multiprocessor holds at most 2048 threads";
  const ScheduleKnobs known{.threads = k.threads,
                            .vector = k.vector,
                            .split = k.split,
                            .blocks = k.blocks,
                            .resident = k.resident,
                            .prefetch = k.prefetch,
                            .combine = k.combine,
                            .software = k.software};
  if (!(k == known) || k.vector != 1)
    return "it has threads, vector = 1, split, blocks, resident, prefetch, combine and software "
           "alone";
  if (k.combine < 0 || k.combine > 1)
    return "combine is 1 or left out";
  if (k.combine && !domain.attends->isAlone)
    return "the program does more with attention than to round it, which has a kernel of its own: "
           "leave combine out";
  if (k.split != 1 && (k.split != k.threads / 32 || domain.attends->valueDim % k.threads != 0))
    return "split is 1, or all warps of a block, of which each has as many whole 32 columns of "
           "values";
  if (!domain.attends->mayShare(k.split))
    return "split leaves each warp whole blocks of values with one scale, or part of one";
  if (domain.attends->sharedOf(k.threads / 32, k.split, k.prefetch) > domain.sharedOfBlock)
    return "what is on its way, and the sums of a block, must fit " +
           std::to_string(domain.sharedOfBlock / 1024) +
           " KiB of shared memory: lower prefetch or threads";
  return "";
}

/// What is wrong with the warps of a sequence over itself; empty: nothing.
static std::string prefillProblem(const ScheduleKnobs &k, const Domain &domain) {
  const Prefill &it = *domain.prefills;
  if (k.threads < 32 || k.threads % 32 != 0 || k.threads > 512)
    return "threads are 1 to 16 whole warps";
  if (k.resident * k.threads > domain.residentThreads)
    return "a multiprocessor holds at most " + std::to_string(domain.residentThreads) + " threads";
  const ScheduleKnobs known{.threads = k.threads,
                            .vector = k.vector,
                            .rows = k.rows,
                            .columns = k.columns,
                            .split = k.split,
                            .resident = k.resident,
                            .prefetch = k.prefetch,
                            .warpgroups = k.warpgroups,
                            .codes = k.codes,
                            .software = k.software};
  if (!(k == known) || k.vector != 1)
    return "it has threads, vector = 1, rows, columns, split, resident, prefetch, warpgroups, "
           "codes and software alone";
  if (k.prefetch < (k.warpgroups ? 1 : 0) || k.prefetch > 1)
    return "prefetch is 1, or 0: the next tokens are loaded ahead, or not (by warpgroups they are)";
  if (k.warpgroups && (!it.byWarpgroups || k.software))
    return "warpgroups multiply queries and keys of E4M3 or E5M2 by the hardware codec, heads of "
           "up to 256, or of whole 128 with as many columns of values, which are no part of keys, "
           "for sm_90a: leave warpgroups out";
  if (k.codes < 0 || k.codes > 1)
    return "codes is 1, or 0: queries meet keys as codes, or not";
  if (k.codes && (!it.byCodes || k.software))
    return "queries and keys of E4M3 or E5M2 meet as codes by the hardware codec, from sm_89 on: "
           "leave codes out";
  if (k.codes && k.warpgroups)
    return "warpgroups multiply codes anyway: leave codes out";
  if (k.warpgroups && (k.split < 1 || k.split > 2 || k.threads % (128 * k.split) != 0 ||
                       k.rows != k.threads / 2 / k.split || k.columns != 64))
    return "a warpgroup is 128 threads and has 64 rows, alone or with split = 2, and 64 columns";
  if (k.warpgroups && k.split == 1 && it.headDim > 256)
    return "a warpgroup has heads of up to 256: split = 2 has two of them share rows";
  if (k.warpgroups && k.split == 2 && (it.headDim % 128 != 0 || it.valueDim % 128 != 0))
    return "two warpgroups share keys and values of whole 128: split = 1";
  const int64_t warps = k.threads / 32, teams = k.split > 0 ? warps / k.split : 0;
  if (teams < 1 || warps % k.split != 0 || k.rows < 1 || k.rows % (16 * teams) != 0 ||
      k.rows > 32 * teams)
    return "rows are 16 or 32 times the warps over split, which share them";
  const int64_t parts = Prefill::partsOf(k);
  if (k.columns < 1 || k.columns % (16 * parts) != 0 || k.columns > 128 * parts ||
      it.valueDim % (16 * k.split) != 0)
    return "columns, the tokens at a time, and the elements of a head are multiples of 16 of each "
           "warp that shares a row, at most 128 tokens; of tokens that are fewer than that, each "
           "has all";
  if (const int64_t ofToken = it.decodedOf(k);
      !k.codes && k.rows * it.headDim > k.columns * ofToken)
    return "rows are at most " + std::to_string(k.columns * ofToken / it.headDim) +
           " of so many columns: codes of queries come where keys and values will be";
  const int64_t held = k.rows / teams * (it.valueDim / k.split + k.columns / parts) / 32;
  if (held > std::min<int64_t>(255, 65536 / k.threads / std::max<int64_t>(1, k.resident)) - 40)
    return "a thread would hold " + std::to_string(held) +
           " sums and scores: lower rows, columns, threads or resident, or raise split";
  if (it.sharedOf(k) > domain.sharedOfBlock)
    return "queries, keys and values take " + std::to_string((it.sharedOf(k) + 1023) / 1024) +
           " KiB of shared memory, of which the target has " +
           std::to_string(domain.sharedOfBlock / 1024) +
           ": lower rows or columns; where these are 16 each, a warp, queries of codes or f16 and "
           "shorter heads take less";
  return "";
}

TileAttr eider::transforms::tileOf(ScheduleAttr schedule, const Domain &domain,
                                   std::string &message) {
  Family needed = familyOf(domain).family;
  MLIRContext *context = schedule.getContext();
  auto refuse = [&](const std::string &why) {
    message = "schedule " + schedule.str() + ": " + why;
    return TileAttr();
  };
  if (schedule.getFamily() != needed)
    return refuse("the program needs family " + stringifyFamily(needed).str() + " (" +
                  familyOf(domain).reason + ")");
  const ScheduleKnobs &k = schedule.getKnobs();
  int64_t threads = k.threads, vector = k.vector, rows = k.rows;
  int64_t width = std::max<int64_t>(domain.width, 1);
  // Of single elements a warp has whole groups, also past the row's end.
  const int64_t whole = vector == 1 ? std::max<int64_t>(1, domain.group / 32) : 1;
  const int64_t loadsOfRow = ceilDiv(width, threads * vector * k.cluster * whole) * whole;
  int64_t loads = k.loads ? std::min(k.loads, loadsOfRow) : loadsOfRow;
  int64_t columns = std::min(width, threads * vector * loads * k.cluster);
  int64_t run = 1;
  TileKind kind = TileKind::row;
  if (needed == Family::attention) {
    if (std::string problem =
            domain.prefills ? prefillProblem(k, domain) : attentionProblem(k, domain);
        !problem.empty())
      return refuse(problem);
    columns = std::min(width, threads); // of no loop: what a block has are tokens
    return TileAttr::get(context, kind, threads, 1, 1, columns, 1, width, 1, 1, 1, 0, 0, 1);
  }
  if (needed == Family::contract)
    if (std::string problem = productProblem(k, domain); !problem.empty())
      return refuse(problem);
  if (needed != Family::contract && (k.split > 1 || k.warpgroups))
    return refuse(
        "warps share sums, and warpgroups multiply, in products of matrices and attention "
        "alone: leave split and warpgroups out");
  if (k.f16 && !k.warpgroups)
    return refuse("rows of bf16 become f16 for products by warpgroups alone: leave f16 out");
  if (k.codes)
    return refuse("queries and keys meet as codes in attention alone: leave codes out");
  if ((needed == Family::map || needed == Family::row) && k.columns)
    return refuse("columns are of two-dimensional blocks: leave columns out");
  if (needed == Family::tile || needed == Family::contract) {
    kind = TileKind::block;
    columns = k.columns;
    if (columns < 1)
      return refuse("a two-dimensional block needs columns");
    if (domain.block.isBlock() &&
        (rows != domain.block.blockRows || columns != domain.block.blockColumns))
      return refuse("rows and columns must be the block's, " +
                    std::to_string(domain.block.blockRows) + " and " +
                    std::to_string(domain.block.blockColumns));
    if (needed == Family::tile && domain.reducedGroup && columns % domain.reducedGroup != 0)
      return refuse("groups of " + std::to_string(domain.reducedGroup) +
                    " that are reduced must divide columns");
    if (needed == Family::contract && k.warpgroups)
      rows /= k.cluster; // that each block keeps
    loads = rows * columns / std::max<int64_t>(1, threads * vector);
    if (needed == Family::contract) // of few elements some threads have none
      loads = std::max<int64_t>(1, loads);
    if (columns % vector != 0)
      return refuse("vector must divide the columns of a block");
    if (threads % (columns / vector) != 0)
      return refuse("threads must be a multiple of the " + std::to_string(columns / vector) +
                    " vectors of a block's row");
    if (std::string problem = transposeProblem(k, domain); !problem.empty())
      return refuse(problem);
    while (domain.transposes && run < 4 && loads % (2 * run) == 0)
      run *= 2;
    // A thread that turns squares by itself (templates/tile/block.cuh) has no column's group.
    if (rows <= 16 && run == vector && loads == vector && !domain.turnsSquares())
      run /= 2;
  }
  if (std::string problem = clusterProblem(k, domain, needed); !problem.empty())
    return refuse(problem);
  if (domain.stacksRows && rows > 1) {
    if (k.cluster > 1)
      return refuse("a cluster holds one row: leave rows out");
    kind = TileKind::rows;
    columns = width;
    loads *= rows;
  }
  if (needed == Family::row && columns < width)
    return refuse("a reduction along the row needs the whole row in a tile");
  if (kind == TileKind::row && needed == Family::row && rows > 1 && threads > 32)
    return refuse("several rows a block need at most 32 threads a row");
  if (k.resident * threadsOfBlock(needed, k, domain) > 2048)
    return refuse("a multiprocessor holds at most 2048 threads");
  if (std::string problem = loopProblem(k, domain, needed); !problem.empty())
    return refuse(problem);
  if (std::string problem = bulkProblem(k, domain, needed, threads * rows * loads * vector);
      !problem.empty())
    return refuse(problem);
  if (std::string problem = cooperativeProblem(k, domain, needed); !problem.empty())
    return refuse(problem);
  if (std::string problem = partsProblem(k, domain, needed); !problem.empty())
    return refuse(problem);
  if (std::string problem = pairsProblem(k, domain); !problem.empty())
    return refuse(problem);
  if (std::string problem = aheadProblem(k, domain, kind); !problem.empty())
    return refuse(problem);
  if (domain.headsOfAttention % vector != 0)
    return refuse("a thread's vector is of one head of attention, whose length it divides");
  if (domain.packs && vector % 2 != 0)
    return refuse("two codes a byte are moved together: vector must be even");
  const bool comes = kind == TileKind::rows && k.prefetch > 1; // of which it has two at a time
  if ((comes ? loads / rows * 2 : loads) * vector > 128)
    return refuse("a thread would hold " + std::to_string(loads * vector) +
                  " elements; at most 128");
  if (std::string problem = lanesProblem(k, domain, kind, loads); !problem.empty())
    return refuse(problem);
  if (std::string problem = groupProblem(domain, kind, threads, vector, loads, k.lanes);
      !problem.empty())
    return refuse(problem);
  std::string reason;
  ScopedDiagnosticHandler handler(context, [&](Diagnostic &diagnostic) {
    reason = diagnostic.str();
    return success();
  });
  auto tile =
      TileAttr::getChecked([&] { return emitError(UnknownLoc::get(context)); }, context, kind,
                           threads, vector, rows, columns, loads, width, k.cluster, run, int64_t(1),
                           domain.rowGroups, k.lanes, k.warpgroups ? k.split : 1);
  return tile ? tile : refuse(reason);
}
