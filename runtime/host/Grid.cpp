//===- host/Grid.cpp - Where the blocks of a cooperative grid meet --------===//
//
// Part of Eider, under the Apache License v2.0.
//
// Blocks of a grid meet by a word in memory, which each changes; a thread waits for it. When no
// other thread can go on, the scheduler looks which of these words have changed. What a change
// orders, the kernel's own atomic accesses say, which ThreadSanitizer sees.
//
//===----------------------------------------------------------------------===//
#include "runtime/host/Scheduler.h"

#include <algorithm>

namespace eider::host {

bool Scheduler::AwaitedWord::hasChanged() const {
  return (__atomic_load_n(word, __ATOMIC_RELAXED) & bits) != old;
}

void Scheduler::waitForWord(const unsigned long long *word, unsigned long long bits,
                            unsigned long long old, EiderHostSite site) {
  Scheduler &self = ofThisThread();
  Fiber &fiber = *self.running_;
  fiber.awaited = {word, bits, old};
  fiber.site = site;
  fiber.state = State::AtWord;
  self.awaiting_.push_back(&fiber);
  self.suspend(fiber);
}

void Scheduler::releaseAwaited() {
  std::erase_if(awaiting_, [&](Fiber *fiber) {
    const bool isOver = fiber->awaited.hasChanged();
    if (isOver)
      makeReady(*fiber);
    return isOver;
  });
}

/// None of these words has changed, and nobody is left to change one.
void Scheduler::explainAwaited(const Fiber &fiber) {
  record(
      fiber, fiber.site,
      "waits for all blocks of the grid, which do not come: " + std::to_string(awaiting_.size()) +
          " of " + std::to_string(blocks_.size()) + " blocks that run at once wait, of " +
          std::to_string(launch_->gridSize) + " in the grid");
}

} // namespace eider::host
