//===- host/Cluster.cpp - Where the blocks of a cluster meet --------------===//
//
// Part of Eider, under the Apache License v2.0.
//
// The blocks that a scheduler runs interleaved are a cluster. A hardware thread may write to
// another block's shared memory only while that block is there: once it has come to a barrier of
// the cluster, and until it comes to the next. The first is checked here; that a result comes from
// a write which no barrier orders before the read, ThreadSanitizer sees.
//
//===----------------------------------------------------------------------===//
#include "runtime/host/Scheduler.h"
#include "runtime/host/SiteText.h"

#include <algorithm>

namespace eider::host {

namespace {

std::string threadText(const EiderHostPosition &at) {
  return "thread " + std::to_string(at.thread) + " of block " + std::to_string(at.block);
}

} // namespace

void Scheduler::clusterArrive(EiderHostSite site) {
  Scheduler &self = ofThisThread();
  Fiber &fiber = *self.running_;
  Cluster &cluster = self.cluster_;
  if (fiber.clusterArrivals != fiber.clusterWaits)
    self.fail(fiber, site, "arrives at the cluster's barrier again, and has not waited");
  if (cluster.arrived == 0) {
    cluster.first = &fiber;
    cluster.site = site;
  } else if (!sameSite(cluster.site, site)) {
    self.fail(fiber, site,
              "arrives at the cluster's barrier here, " + threadText(cluster.first->position) +
                  " elsewhere: " + siteText(cluster.site));
  }
  cluster.edges[cluster.passed % 2].release();
  ++fiber.clusterArrivals;
  if (++cluster.arrived == self.fibers_.size())
    self.releaseCluster();
}

void Scheduler::clusterWait(EiderHostSite site) {
  Scheduler &self = ofThisThread();
  Fiber &fiber = *self.running_;
  if (fiber.clusterArrivals == fiber.clusterWaits)
    self.fail(fiber, site, "waits at the cluster's barrier, and has not arrived");
  sanitizer::Edge &edge = self.cluster_.edges[fiber.clusterWaits++ % 2];
  if (self.cluster_.passed < fiber.clusterWaits) {
    fiber.site = site;
    fiber.state = State::AtCluster;
    self.suspend(fiber);
  }
  edge.acquire();
}

void Scheduler::releaseCluster() {
  cluster_.arrived = 0;
  ++cluster_.passed;
  for (Fiber &fiber : fibers_)
    if (fiber.state == State::AtCluster)
      makeReady(fiber);
}

void *Scheduler::sharedOf(unsigned rank, const void *address, EiderHostSite site) {
  Scheduler &self = ofThisThread();
  Fiber &fiber = *self.running_;
  const std::string what = "reaches for the shared memory of block " + std::to_string(rank);
  if (rank >= self.blocks_.size())
    self.fail(fiber, site,
              what + " of its cluster, which has " + std::to_string(self.blocks_.size()));
  if (self.cluster_.passed == 0)
    self.fail(fiber, site,
              what + " of its cluster before a barrier of the cluster: that block may not have "
                     "begun");
  Block &other = self.blocks_[rank];
  if (std::all_of(other.fibers, other.fibers + self.launch_->blockSize,
                  [](const Fiber &one) { return one.state == State::Done; }))
    self.fail(fiber, site, what + " of its cluster, which has ended");
  void *same = fiber.block->shared.sameIn(other.shared, address);
  if (!same)
    self.fail(fiber, site, what + " of its cluster at an address that is in no array of its own");
  return same;
}

/// Some thread has not arrived and has returned: all others stand at barriers or have arrived.
void Scheduler::explainCluster() {
  const auto missing = std::find_if(fibers_.begin(), fibers_.end(), [&](const Fiber &fiber) {
    return fiber.clusterArrivals == cluster_.passed;
  });
  record(*cluster_.first, cluster_.site,
         "waits at a barrier of the cluster that " + threadText(missing->position) +
             " left by returning (" + std::to_string(cluster_.arrived) + " of " +
             std::to_string(fibers_.size()) + " threads have arrived)");
}

} // namespace eider::host
