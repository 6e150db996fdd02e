//===- host/Scheduler.h - Fibers, barriers and collectives of a block -----===//
//
// Part of Eider, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//
#ifndef EIDER_HOST_SCHEDULER_H
#define EIDER_HOST_SCHEDULER_H

#include "runtime/host/FiberStack.h"
#include "runtime/host/Sanitizer.h"
#include "runtime/host/SharedMemory.h"
#include "templates/arch/host_abi.h"

#include <boost/context/fiber.hpp>

#include <atomic>
#include <cstdint>
#include <deque>
#include <optional>
#include <string>
#include <vector>

namespace eider::host {

/// What ended a launch before its time, and in which thread.
struct Failure {
  int64_t block = 0;
  unsigned thread = 0;
  EiderHostSite site = {nullptr, 0};
  std::string what;
};

/// What all blocks of a launch have in common.
struct Launch {
  EiderHostKernel kernel = nullptr;
  void **parameters = nullptr;
  int64_t gridSize = 0;
  unsigned blockSize = 0;
  uint64_t sharedBytes = 0;
  uint64_t seed = 0;
  std::atomic<bool> stop = false; ///< Set by the first failure: no block begins after it.
  sanitizer::Edge endOfKernel;    ///< From every thread to the launcher.
};

/// Runs the threads of one block, or of a few co-resident ones, on the calling host thread. Used
/// again for block after block; a host thread has at most one that runs.
class Scheduler {
public:
  /// Runs the blocks [first, first + count) to their end.
  std::optional<Failure> run(Launch &launch, int64_t first, unsigned count);

private:
  static constexpr unsigned warpLanes = 32;
  enum class State { Fresh, Ready, AtBarrier, AtCollective, AtCluster, AtWord, Done };
  struct Block;
  struct Collective;
  /// Thrown through the frames of a fiber whose launch has failed.
  struct Cancelled {};

  /// A word of memory that other blocks change, and how it must differ for a thread to go on.
  struct AwaitedWord {
    const unsigned long long *word = nullptr;
    unsigned long long bits = 0, old = 0;
    bool hasChanged() const;
  };

  struct Fiber {
    EiderHostPosition position;
    State state = State::Fresh;
    Block *block = nullptr;
    EiderHostSite site = {nullptr, 0}; ///< Where it waits.
    unsigned clusterArrivals = 0, clusterWaits = 0;
    AwaitedWord awaited;
    FiberStack stack;
    boost::context::fiber context;   ///< While suspended.
    boost::context::fiber scheduler; ///< While running: who resumed it.
    sanitizer::Context observed;
  };

  /// A warp collective that some lanes of its mask wait for, or have not yet left.
  struct Collective {
    static constexpr unsigned laneBytes = 64;
    unsigned mask, arrived, left, bytes;
    EiderHostSite site;
    Fiber *first;         ///< Who arrived first.
    sanitizer::Edge edge; ///< Among the lanes.
    char values[warpLanes * laneBytes];
  };

  struct Block {
    void begin(Fiber *firstFiber, unsigned size);

    Fiber *fibers = nullptr;
    unsigned atBarrier = 0;
    unsigned barriersPassed = 0;
    Fiber *firstAtBarrier = nullptr;
    /// Of even and odd barriers: what a thread does after this barrier and before the next is not
    /// for threads that have yet to leave this one.
    sanitizer::Edge edges[2];
    /// For each warp its open collectives; their masks are disjoint.
    std::vector<std::vector<Collective *>> warps;
    SharedMemory shared;
  };

  /// The barrier of the blocks that run interleaved.
  struct Cluster {
    unsigned arrived = 0;
    unsigned passed = 0; ///< Barriers at which all have arrived.
    Fiber *first = nullptr;
    EiderHostSite site = {nullptr, 0}; ///< Where it arrived.
    sanitizer::Edge edges[2];          ///< As a block's.
  };

  // What kernels call, by way of EiderHostAbi.
  static const EiderHostPosition *position();
  static void barrier(EiderHostSite site);
  static void exchange(unsigned mask, const void *mine, void *all, unsigned bytes,
                       EiderHostSite site);
  static void *shared(const void *key, unsigned long bytes, unsigned long alignment);
  static void clusterArrive(EiderHostSite site);
  static void clusterWait(EiderHostSite site);
  static void *sharedOf(unsigned rank, const void *address, EiderHostSite site);
  static void waitForWord(const unsigned long long *word, unsigned long long bits,
                          unsigned long long old, EiderHostSite site);
  static void trap(const char *message, EiderHostSite site);
  static const EiderHostAbi abi;
  static Scheduler &ofThisThread();

  void prepare(int64_t first, unsigned count);
  void runToEnd(uint64_t seed);
  void runRounds(uint64_t seed);
  void start(Fiber &fiber);
  void resume(Fiber &fiber);
  void finish(Fiber &fiber);
  void suspend(Fiber &fiber);
  void cancelAll();
  void body(Fiber &fiber);
  void makeReady(Fiber &fiber);

  void releaseBarrier(Block &block);
  void releaseCluster();
  void releaseAwaited();
  Collective &join(Fiber &fiber, unsigned mask, unsigned bytes, EiderHostSite site);
  Collective &open(Fiber &fiber, unsigned mask, unsigned bytes, EiderHostSite site);
  [[noreturn]] void failToAgree(const Fiber &fiber, unsigned mask, unsigned bytes,
                                EiderHostSite site, const Collective &other);
  void complete(Collective &collective);

  [[noreturn]] void fail(const Fiber &fiber, EiderHostSite site, std::string what);
  void record(const Fiber &fiber, EiderHostSite site, std::string what);
  // Which thread waits for which, once none can go on.
  void explainStandstill();
  void explainCollective(const Block &block, const Collective &collective);
  void explainBarrier(const Block &block);
  void explainCluster();
  void explainAwaited(const Fiber &fiber);

  Launch *launch_ = nullptr;
  std::vector<Fiber> fibers_;
  std::vector<Block> blocks_;
  Cluster cluster_;
  std::vector<Fiber *> ready_, round_;
  std::vector<Fiber *> awaiting_; ///< AtWord
  std::deque<Collective> collectives_;
  std::vector<Collective *> idleCollectives_;
  FiberStackPool stacks_;
  sanitizer::Context observed_;
  Fiber *running_ = nullptr;
  bool cancelled_ = false;
  std::optional<Failure> failure_;
};

} // namespace eider::host

#endif // EIDER_HOST_SCHEDULER_H
