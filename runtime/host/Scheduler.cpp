//===- host/Scheduler.cpp - Fibers of a block and the order they run in ---===//
//
// Part of Eider, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//
#include "runtime/host/Scheduler.h"

#include "runtime/host/Random.h"

#include <exception>
#include <memory>
#include <utility>

namespace eider::host {

namespace {

/// The scheduler of this host thread, for the calls of kernels, which name none.
thread_local Scheduler *current = nullptr;

/// boost::context frees a fiber's stack through this; the pool does it instead.
struct KeepStack {
  boost::context::stack_context allocate() { return {}; }
  void deallocate(boost::context::stack_context &) {}
};

} // namespace

const EiderHostAbi Scheduler::abi = {position,    barrier,  exchange,    shared, clusterArrive,
                                     clusterWait, sharedOf, waitForWord, trap};

Scheduler &Scheduler::ofThisThread() { return *current; }

std::optional<Failure> Scheduler::run(Launch &launch, int64_t first, unsigned count) {
  launch_ = &launch;
  current = this;
  sanitizer::adoptCurrent(observed_);
  prepare(first, count);
  // A block's order must not depend on which host thread runs it.
  runToEnd(launch.seed + static_cast<uint64_t>(first) * 0x2545f4914f6cdd1du);
  current = nullptr;
  return std::exchange(failure_, std::nullopt);
}

void Scheduler::prepare(int64_t first, unsigned count) {
  const unsigned size = launch_->blockSize;
  fibers_.resize(static_cast<size_t>(count) * size);
  blocks_.resize(count);
  // Enough for good: a thread that made one grow would be seen by ThreadSanitizer.
  ready_.reserve(fibers_.size());
  round_.reserve(fibers_.size());
  awaiting_.reserve(fibers_.size());
  ready_.clear();
  awaiting_.clear();
  cancelled_ = false;
  cluster_.arrived = cluster_.passed = 0;
  for (sanitizer::Edge &edge : cluster_.edges)
    edge.renew();
  for (unsigned b = 0; b < count; ++b) {
    Block &block = blocks_[b];
    block.begin(&fibers_[static_cast<size_t>(b) * size], size);
    for (unsigned thread = 0; thread < size; ++thread) {
      Fiber &fiber = block.fibers[thread];
      fiber.position = {thread, size, first + b, launch_->gridSize, launch_->sharedBytes};
      fiber.state = State::Fresh;
      fiber.clusterArrivals = fiber.clusterWaits = 0;
      fiber.block = &block;
      ready_.push_back(&fiber);
    }
  }
}

void Scheduler::Block::begin(Fiber *firstFiber, unsigned size) {
  fibers = firstFiber;
  atBarrier = barriersPassed = 0;
  for (sanitizer::Edge &edge : edges)
    edge.renew();
  warps.resize((size + warpLanes - 1) / warpLanes);
  shared.beginBlock();
}

void Scheduler::runToEnd(uint64_t seed) {
  try {
    runRounds(seed);
  } catch (...) { // no memory for one more stack
    cancelAll();
    throw;
  }
  if (!failure_)
    explainStandstill();
  if (failure_)
    cancelAll();
}

void Scheduler::runRounds(uint64_t seed) {
  Random random(seed);
  while (!ready_.empty()) {
    random.shuffle(ready_);
    round_.swap(ready_);
    ready_.clear();
    for (Fiber *fiber : round_) {
      resume(*fiber);
      if (failure_)
        return;
    }
    if (ready_.empty())
      releaseAwaited();
  }
}

void Scheduler::makeReady(Fiber &fiber) {
  fiber.state = State::Ready;
  ready_.push_back(&fiber);
}

void Scheduler::start(Fiber &fiber) {
  using namespace boost::context;
  fiber.stack = stacks_.take();
  fiber.observed.stackBottom = fiber.stack.bottom;
  fiber.observed.stackBytes = static_cast<size_t>(fiber.stack.top - fiber.stack.bottom);
  sanitizer::create(fiber.observed);
  stack_context extent;
  extent.sp = fiber.stack.top;
  extent.size = fiber.observed.stackBytes;
  fiber.context =
      boost::context::fiber(std::allocator_arg, preallocated(extent.sp, extent.size, extent),
                            KeepStack(), [this, &fiber](boost::context::fiber &&scheduler) {
                              fiber.scheduler = std::move(scheduler);
                              sanitizer::arrive(fiber.observed, observed_);
                              body(fiber);
                              fiber.state = State::Done;
                              sanitizer::leave(fiber.observed, observed_, /*ends=*/true);
                              return std::move(fiber.scheduler);
                            });
}

/// A thread of the kernel, from its first statement to its last.
void Scheduler::body(Fiber &fiber) {
  try {
    launch_->kernel(&abi, launch_->parameters);
    launch_->endOfKernel.release();
  } catch (const Cancelled &) {
    return; // another thread's fault, which is recorded, ends this one
  } catch (const std::exception &error) {
    record(fiber, {nullptr, 0}, error.what());
  }
}

void Scheduler::resume(Fiber &fiber) {
  if (fiber.state == State::Fresh)
    start(fiber);
  running_ = &fiber;
  sanitizer::leave(observed_, fiber.observed, /*ends=*/false);
  fiber.context = std::move(fiber.context).resume();
  sanitizer::arrive(observed_, fiber.observed);
  running_ = nullptr;
  if (fiber.state == State::Done)
    finish(fiber);
}

void Scheduler::finish(Fiber &fiber) {
  sanitizer::destroy(fiber.observed);
  stacks_.giveBack(fiber.stack);
}

/// Called by the fiber itself; returns when it is resumed.
void Scheduler::suspend(Fiber &fiber) {
  sanitizer::leave(fiber.observed, observed_, /*ends=*/false);
  fiber.scheduler = std::move(fiber.scheduler).resume();
  sanitizer::arrive(fiber.observed, observed_);
  if (cancelled_)
    throw Cancelled();
}

/// Unwinds every fiber that has begun and has not ended, and leaves nothing of the blocks behind.
void Scheduler::cancelAll() {
  cancelled_ = true;
  for (Fiber &fiber : fibers_)
    if (fiber.state != State::Fresh && fiber.state != State::Done)
      resume(fiber);
  for (Block &block : blocks_)
    for (std::vector<Collective *> &warp : block.warps)
      warp.clear();
  idleCollectives_.clear();
  for (Collective &collective : collectives_)
    idleCollectives_.push_back(&collective);
}

void Scheduler::record(const Fiber &fiber, EiderHostSite site, std::string what) {
  if (!failure_)
    failure_ = Failure{fiber.position.block, fiber.position.thread, site, std::move(what)};
}

void Scheduler::fail(const Fiber &fiber, EiderHostSite site, std::string what) {
  record(fiber, site, std::move(what));
  throw Cancelled();
}

const EiderHostPosition *Scheduler::position() { return &current->running_->position; }

void *Scheduler::shared(const void *key, unsigned long bytes, unsigned long alignment) {
  Fiber &fiber = *current->running_;
  void *region = fiber.block->shared.region(key, bytes, alignment);
  if (!region)
    current->fail(fiber, {nullptr, 0},
                  "a region of shared memory was asked for with two sizes or alignments");
  return region;
}

void Scheduler::trap(const char *message, EiderHostSite site) {
  current->fail(*current->running_, site, message);
}

} // namespace eider::host
