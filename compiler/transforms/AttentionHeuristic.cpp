//===- AttentionHeuristic.cpp - Schedules of attention --------------------===//
//
// Part of Eider, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//
#include "compiler/transforms/Heuristic.h"
#include "compiler/transforms/Passes.h"

#include <algorithm>

using namespace mlir;
using namespace eider::ir;
using namespace eider::transforms;

//===-- Decode ------------------------------------------------------------===//

/// Of latents, whose rows are long: four warps have tokens together, as far as their values have
/// columns for them, so that queries and sums stay in registers, of two such blocks a
/// multiprocessor of a large GPU. Steps are on their way as far as its shared memory has room for
/// both.
static ScheduleAttr latentSchedule(MLIRContext *context, const Domain &domain) {
  const Attention &it = *domain.attends;
  ScheduleKnobs knobs{.threads = 128,
                      .vector = 1,
                      .split = 4,
                      .blocks = 256,
                      .resident = 2,
                      .prefetch = 6,
                      .combine = it.isAlone};
  while (it.valueDim % knobs.threads != 0 || !it.mayShare(knobs.split)) {
    knobs.threads /= 2;
    knobs.split /= 2;
  }
  auto shared = [&] { return it.sharedOf(knobs.split, knobs.split, knobs.prefetch); };
  while (knobs.prefetch > 2 && shared() > std::min<int64_t>(domain.sharedOfBlock, 96 * 1024))
    --knobs.prefetch;
  for (; knobs.split > 1 && shared() > domain.sharedOfBlock; knobs.split /= 2)
    knobs.threads /= 2;
  return ScheduleAttr::get(context, Family::attention, knobs);
}

/// Four blocks of four warps a multiprocessor of a large GPU, as far as the target's shared memory
/// has room: of many sequences as many as run at once, of few half as many, so that parts are
/// combined soon. Where these have no room, few sequences have blocks of eight warps, which leave
/// fewer parts; so they do where codes are converted by arithmetic, of which each of such blocks
/// does more at a time, and of one to four sequences, whose many parts a second kernel combines
/// where it may begin early. A power of two, so that as many heads have as many parts each.
static ScheduleAttr decodeSchedule(MLIRContext *context, const Domain &domain,
                                   int64_t mostSequences) {
  const bool isFew = mostSequences > 0 && mostSequences <= mostRowsOf(VariantKind::rows_32);
  const Attention &it = *domain.attends;
  if (it.isLatent)
    return latentSchedule(context, domain);
  auto mostShared = [&](const ScheduleKnobs &knobs) {
    return std::min<int64_t>(domain.sharedOfBlock, 192 * 1024 / knobs.resident);
  };
  auto sharedOf = [&](const ScheduleKnobs &knobs) {
    return it.sharedOf(knobs.threads / 32, 1, knobs.prefetch);
  };
  // A thread has a quarter of a head's sums, and as much of a query.
  auto hasRegisters = [&](const ScheduleKnobs &knobs) {
    return knobs.resident == 1 || knobs.resident * knobs.threads * it.headDim <= 4 * 128 * 128;
  };
  auto fits = [&](const ScheduleKnobs &knobs) {
    return sharedOf(knobs) <= mostShared(knobs) && hasRegisters(knobs);
  };
  ScheduleKnobs knobs{.threads = 128,
                      .vector = 1,
                      .blocks = isFew ? 256 : 512,
                      .resident = 4,
                      .prefetch = isFew ? 3 : 2,
                      .combine = it.isAlone};
  const bool isOne = isFew && mostSequences <= mostRowsOf(VariantKind::rows_4) && !it.bySoftware &&
                     domain.largestCluster > 1; // of a target that lets it
  if (isFew && (it.bySoftware || isOne || !fits(knobs))) {
    knobs.threads = 256;
    knobs.resident = isOne ? 1 : 2;
    knobs.combine = isOne ? 0 : knobs.combine;
    if (!fits(knobs))
      knobs.resident = 1;
    knobs.blocks = it.bySoftware ? 128 * knobs.resident : 128;
  }
  while (knobs.threads > 32 && sharedOf(knobs) > mostShared(knobs)) {
    knobs.threads /= 2;
    knobs.blocks *= isFew ? 2 : 1;
  }
  while (knobs.prefetch > 2 && sharedOf(knobs) > mostShared(knobs))
    --knobs.prefetch;
  while (!hasRegisters(knobs))
    knobs.resident /= 2;
  return ScheduleAttr::get(context, Family::attention, knobs);
}

//===-- Prefill -----------------------------------------------------------===//

/// The first of these that the target can have. The next tokens come ahead; the most rows a block,
/// which decodes tokens for all of them, of 32 a warp where their sums leave room for scores, else
/// 16; of values longer than 256 two warps share rows, and the fewest tokens, of which each has all
/// scores, where no more have room. Queries meet keys as codes where the target has products of
/// such.
ScheduleAttr eider::transforms::warpsOfPrefill(MLIRContext *context, const Domain &domain) {
  const int64_t valueDim = domain.prefills->valueDim, usualSplit = valueDim > 256 ? 2 : 1;
  const int64_t longest = std::max(domain.prefills->headDim, valueDim);
  auto scheduled = [&](int64_t rows, int64_t columns, int64_t split, int64_t resident,
                       int64_t prefetch) {
    const int64_t ofWarp = valueDim > 128 || rows < 32 ? 16 : 32;
    return ScheduleAttr::get(context, Family::attention,
                             {.threads = rows / ofWarp * split * 32,
                              .vector = 1,
                              .rows = rows,
                              .columns = columns,
                              .split = split,
                              .resident = resident,
                              .prefetch = prefetch,
                              .codes = domain.prefills->prefersCodes});
  };
  for (int64_t prefetch : {1, 0})
    for (int64_t split : {usualSplit, int64_t(1)})
      for (int64_t rows = valueDim > 128 ? 64 : 128; rows >= 16; rows /= 2)
        for (int64_t columns = 64; columns >= 16 * split; columns /= 2)
          for (int64_t resident : {longest > 192 ? 1 : 2, 1}) {
            const ScheduleAttr chosen = scheduled(rows, columns, split, resident, prefetch);
            const bool fits =
                resident * domain.prefills->sharedOf(chosen.getKnobs()) <= domain.sharedOfBlock;
            if (std::string message; fits && tileOf(chosen, domain, message))
              return chosen;
          }
  ScheduleAttr least = scheduled(16, 16, usualSplit, 1, 1);
  if (std::string message; tileOf(least, domain, message))
    return least;
  return scheduled(16, 16, usualSplit, 1, 0); // which tileOf() may refuse, and says why
}

ScheduleAttr eider::transforms::warpgroupsOfPrefill(MLIRContext *context, int64_t threads,
                                                    int64_t split) {
  return ScheduleAttr::get(context, Family::attention,
                           {.threads = threads,
                            .vector = 1,
                            .rows = threads / 2 / split,
                            .columns = 64,
                            .split = split,
                            .resident = 1,
                            .prefetch = 1,
                            .warpgroups = 1});
}

static ScheduleAttr prefillSchedule(MLIRContext *context, const Domain &domain) {
  if (!domain.prefills->byWarpgroups)
    return warpsOfPrefill(context, domain);
  // Of three their sums leave room for the weights of heads up to 128.
  const int64_t longest = std::max(domain.prefills->headDim, domain.prefills->valueDim);
  return warpgroupsOfPrefill(context, longest <= 128 ? 384 : 256, longest > 256 ? 2 : 1);
}

ScheduleAttr eider::transforms::attentionSchedule(MLIRContext *context, const Domain &domain,
                                                  int64_t mostSequences) {
  return domain.prefills ? prefillSchedule(context, domain)
                         : decodeSchedule(context, domain, mostSequences);
}
