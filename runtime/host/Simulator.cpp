//===- host/Simulator.cpp - Blocks over host threads ----------------------===//
//
// Part of Eider, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//
#include "runtime/host/Simulator.h"

#include "eider/error.h"
#include "runtime/host/Scheduler.h"
#include "runtime/host/SiteText.h"

#include <algorithm>
#include <memory>
#include <mutex>
#include <string>
#include <system_error>
#include <thread>
#include <utility>
#include <vector>

namespace eider::host {

namespace {

constexpr unsigned maxBlockThreads = 1024;

/// Schedulers with their stacks, kept from launch to launch.
class SchedulerPool {
public:
  std::unique_ptr<Scheduler> take() {
    std::lock_guard lock(mutex_);
    if (idle_.empty())
      return std::make_unique<Scheduler>();
    std::unique_ptr<Scheduler> scheduler = std::move(idle_.back());
    idle_.pop_back();
    return scheduler;
  }
  void giveBack(std::unique_ptr<Scheduler> scheduler) {
    std::lock_guard lock(mutex_);
    idle_.push_back(std::move(scheduler));
  }

private:
  std::mutex mutex_;
  std::vector<std::unique_ptr<Scheduler>> idle_;
};

/// Never destroyed: another thread may launch while the process ends.
SchedulerPool &schedulerPool() {
  static SchedulerPool &pool = *new SchedulerPool;
  return pool;
}

/// The blocks of one launch, shared out among host threads.
class LaunchRun {
public:
  LaunchRun(Launch &launch, unsigned residentBlocks)
      : launch_(launch), residentBlocks_(residentBlocks) {}

  void onThreads(unsigned count);
  /// The failure of the lowest block among those that failed.
  const std::optional<Failure> &failure() const { return failure_; }

private:
  void work(Scheduler &scheduler) noexcept;
  void workUntilDone(Scheduler &scheduler);

  Launch &launch_;
  const unsigned residentBlocks_;
  std::atomic<int64_t> next_ = 0;
  std::mutex mutex_;
  std::optional<Failure> failure_;
  std::exception_ptr exception_;
};

void LaunchRun::workUntilDone(Scheduler &scheduler) {
  while (!launch_.stop.load(std::memory_order_relaxed)) {
    const int64_t first = next_.fetch_add(residentBlocks_, std::memory_order_relaxed);
    if (first >= launch_.gridSize)
      return;
    std::optional<Failure> failure = scheduler.run(launch_, first, residentBlocks_);
    if (!failure)
      continue;
    launch_.stop = true;
    std::lock_guard lock(mutex_);
    if (!failure_ || failure->block < failure_->block)
      failure_ = std::move(failure);
  }
}

void LaunchRun::work(Scheduler &scheduler) noexcept {
  try {
    workUntilDone(scheduler);
  } catch (...) {
    launch_.stop = true;
    std::lock_guard lock(mutex_);
    exception_ = std::current_exception();
  }
}

void LaunchRun::onThreads(unsigned count) {
  std::vector<std::unique_ptr<Scheduler>> schedulers;
  for (unsigned i = 0; i < count; ++i)
    schedulers.push_back(schedulerPool().take());
  std::vector<std::thread> threads;
  threads.reserve(count);
  try {
    for (unsigned i = 1; i < count; ++i)
      threads.emplace_back([this, &scheduler = *schedulers[i]] { work(scheduler); });
  } catch (const std::system_error &) { // NOLINT(bugprone-empty-catch): nothing is lost
    // The system grants no more threads: those that run do all the work.
  }
  work(*schedulers[0]);
  for (std::thread &thread : threads)
    thread.join();
  launch_.endOfKernel.acquire();
  for (std::unique_ptr<Scheduler> &scheduler : schedulers)
    schedulerPool().giveBack(std::move(scheduler));
  if (exception_)
    std::rethrow_exception(exception_);
}

void checkShape(const LaunchShape &shape) {
  const auto refuse = [](const std::string &what, const std::string &remedy) {
    throw Error(ErrorKind::Request, what, "host", remedy);
  };
  if (shape.grid < 0)
    refuse("a grid of " + std::to_string(shape.grid) + " blocks", "ask for 0 or more");
  if (shape.block < 1 || shape.block > maxBlockThreads)
    refuse("a block of " + std::to_string(shape.block) + " threads", "ask for 1 to 1024");
  if (shape.residentBlocks < 1 || shape.residentBlocks > maxFibers / shape.block)
    refuse(std::to_string(shape.residentBlocks) + " resident blocks of " +
               std::to_string(shape.block) + " threads",
           "ask for 1 or more, and at most 16384 threads in all");
  if (shape.grid % shape.residentBlocks != 0)
    refuse("a grid of " + std::to_string(shape.grid) + " blocks in clusters of " +
               std::to_string(shape.residentBlocks),
           "ask for whole clusters");
}

unsigned hostThreads(const LaunchShape &shape, unsigned wanted) {
  const int64_t machine = std::max(1u, std::thread::hardware_concurrency());
  const int64_t groups = (shape.grid - 1) / shape.residentBlocks + 1;
  const int64_t fibers = static_cast<int64_t>(shape.block) * shape.residentBlocks;
  return static_cast<unsigned>(
      std::min({wanted != 0 ? int64_t{wanted} : machine, groups, maxFibers / fibers}));
}

[[noreturn]] void report(const Failure &failure, uint64_t seed) {
  throw Error(ErrorKind::Internal,
              "block " + std::to_string(failure.block) + ", thread " +
                  std::to_string(failure.thread) + ": " + failure.what,
              siteText(failure.site),
              "the kernel's text or a template is wrong; seed " + std::to_string(seed) +
                  " repeats it");
}

} // namespace

void launch(EiderHostKernel kernel, const LaunchShape &shape, void **parameters,
            const SimulatorOptions &options) {
  checkShape(shape);
  if (shape.grid == 0)
    return;
  Launch launch;
  launch.kernel = kernel;
  launch.parameters = parameters;
  launch.gridSize = shape.grid;
  launch.blockSize = shape.block;
  launch.sharedBytes = shape.sharedBytes;
  launch.seed = options.seed;
  LaunchRun run(launch, shape.residentBlocks);
  run.onThreads(hostThreads(shape, options.threads));
  if (run.failure())
    report(*run.failure(), options.seed);
}

} // namespace eider::host
