//===- host/Collectives.cpp - Where the threads of a block meet -----------===//
//
// Part of Eider, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//
#include "runtime/host/Scheduler.h"
#include "runtime/host/SiteText.h"

#include <algorithm>
#include <bit>
#include <cstdio>
#include <cstring>

namespace eider::host {

namespace {

std::string hexadecimal(unsigned mask) {
  char text[16];
  std::snprintf(text, sizeof text, "0x%08x", mask);
  return text;
}

} // namespace

//===-- The barrier of a block --------------------------------------------===//

void Scheduler::barrier(EiderHostSite site) {
  Scheduler &self = ofThisThread();
  Fiber &fiber = *self.running_;
  Block &block = *fiber.block;
  if (block.atBarrier == 0)
    block.firstAtBarrier = &fiber;
  else if (!sameSite(block.firstAtBarrier->site, site))
    self.fail(fiber, site,
              "waits at this barrier while thread " +
                  std::to_string(block.firstAtBarrier->position.thread) +
                  " waits at another: " + siteText(block.firstAtBarrier->site));
  fiber.site = site;
  fiber.state = State::AtBarrier;
  sanitizer::Edge &edge = block.edges[block.barriersPassed % 2];
  edge.release();
  if (++block.atBarrier == fiber.position.block_size)
    self.releaseBarrier(block);
  self.suspend(fiber);
  edge.acquire();
}

void Scheduler::releaseBarrier(Block &block) {
  block.atBarrier = 0;
  ++block.barriersPassed;
  for (unsigned thread = 0; thread < launch_->blockSize; ++thread)
    makeReady(block.fibers[thread]);
}

//===-- The collectives of a warp -----------------------------------------===//

/// Values pass from lane to lane but memory is not ordered, as by a shuffle; with no values, it is
/// __syncwarp, which orders it.
void Scheduler::exchange(unsigned mask, const void *mine, void *all, unsigned bytes,
                         EiderHostSite site) {
  Scheduler &self = ofThisThread();
  Fiber &fiber = *self.running_;
  const unsigned lane = fiber.position.thread % warpLanes;
  Collective &collective = self.join(fiber, mask, bytes, site);
  {
    sanitizer::Unobserved unobserved;
    std::memcpy(collective.values + lane * bytes, mine, bytes);
  }
  collective.arrived |= 1u << lane;
  if (bytes == 0)
    collective.edge.release();
  fiber.site = site;
  fiber.state = State::AtCollective;
  if (collective.arrived == mask)
    self.complete(collective);
  self.suspend(fiber);
  if (bytes == 0)
    collective.edge.acquire();
  {
    sanitizer::Unobserved unobserved;
    std::memcpy(all, collective.values, warpLanes * bytes);
  }
  if (++collective.left == static_cast<unsigned>(std::popcount(mask))) {
    sanitizer::Unobserved unobserved;
    self.idleCollectives_.push_back(&collective);
  }
}

/// The open collective that `fiber` belongs to, or a new one.
Scheduler::Collective &Scheduler::join(Fiber &fiber, unsigned mask, unsigned bytes,
                                       EiderHostSite site) {
  const unsigned lane = fiber.position.thread % warpLanes;
  if ((mask >> lane & 1) == 0)
    fail(fiber, site,
         "lane " + std::to_string(lane) + " is not in its own mask " + hexadecimal(mask));
  if (bytes > Collective::laneBytes)
    fail(fiber, site,
         "a warp collective of " + std::to_string(bytes) + " bytes a lane; at most " +
             std::to_string(Collective::laneBytes) + " are possible");
  for (Collective *other : fiber.block->warps[fiber.position.thread / warpLanes]) {
    if ((other->mask & mask) == 0)
      continue;
    if (other->mask != mask || other->bytes != bytes || !sameSite(other->site, site))
      failToAgree(fiber, mask, bytes, site, *other);
    return *other;
  }
  return open(fiber, mask, bytes, site);
}

void Scheduler::failToAgree(const Fiber &fiber, unsigned mask, unsigned bytes, EiderHostSite site,
                            const Collective &other) {
  const auto describe = [](unsigned mask, unsigned bytes) {
    return "with mask " + hexadecimal(mask) + " and " + std::to_string(bytes) + " bytes a lane";
  };
  fail(fiber, site,
       "warp collective " + describe(mask, bytes) + " while thread " +
           std::to_string(other.first->position.thread) + " of its warp waits at " +
           siteText(other.site) + " " + describe(other.mask, other.bytes));
}

Scheduler::Collective &Scheduler::open(Fiber &fiber, unsigned mask, unsigned bytes,
                                       EiderHostSite site) {
  sanitizer::Unobserved unobserved;
  if (idleCollectives_.empty())
    idleCollectives_.push_back(&collectives_.emplace_back());
  Collective &collective = *idleCollectives_.back();
  idleCollectives_.pop_back();
  collective.mask = mask;
  collective.arrived = collective.left = 0;
  collective.bytes = bytes;
  collective.site = site;
  collective.first = &fiber;
  collective.edge.renew();
  std::memset(collective.values, 0xff, warpLanes * bytes);
  fiber.block->warps[fiber.position.thread / warpLanes].push_back(&collective);
  return collective;
}

/// All lanes have arrived; the last has yet to suspend, and is ready all the same.
void Scheduler::complete(Collective &collective) {
  const Fiber &first = *collective.first;
  const unsigned warp = first.position.thread / warpLanes;
  for (unsigned lane = 0; lane < warpLanes; ++lane)
    if (collective.mask >> lane & 1)
      makeReady(first.block->fibers[warp * warpLanes + lane]);
  std::erase(first.block->warps[warp], &collective);
}

//===-- Why no thread can go on -------------------------------------------===//

void Scheduler::explainStandstill() {
  if (!awaiting_.empty())
    return explainAwaited(*awaiting_.front());
  for (const Block &block : blocks_) {
    for (const std::vector<Collective *> &warp : block.warps)
      if (!warp.empty())
        return explainCollective(block, *warp.front());
    if (block.atBarrier != 0)
      return explainBarrier(block);
  }
  if (cluster_.arrived != 0)
    explainCluster();
}

void Scheduler::explainCollective(const Block &block, const Collective &collective) {
  const unsigned base = collective.first->position.thread / warpLanes * warpLanes;
  const unsigned lane = std::countr_zero(collective.mask & ~collective.arrived);
  const unsigned thread = base + lane;
  std::string reason = "thread " + std::to_string(thread);
  if (thread >= launch_->blockSize)
    reason += " does not exist in a block of " + std::to_string(launch_->blockSize);
  else if (block.fibers[thread].state == State::Done)
    reason += " has returned";
  else
    reason += " waits at the barrier of " + siteText(block.fibers[thread].site);
  record(*collective.first, collective.site,
         "warp collective with mask " + hexadecimal(collective.mask) + " never fills: lane " +
             std::to_string(lane) + ", " + reason);
}

void Scheduler::explainBarrier(const Block &block) {
  unsigned gone = 0;
  while (block.fibers[gone].state == State::AtBarrier)
    ++gone;
  const Fiber &other = block.fibers[gone];
  record(*block.firstAtBarrier, block.firstAtBarrier->site,
         "waits at a barrier that thread " + std::to_string(gone) +
             (other.state == State::Done ? " left by returning ("
                                         : " does not come to: it waits at the cluster's of " +
                                               siteText(other.site) + " (") +
             std::to_string(block.atBarrier) + " of " + std::to_string(launch_->blockSize) +
             " threads wait)");
}

} // namespace eider::host
