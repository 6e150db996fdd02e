//===- host/FiberStack.cpp - Stacks for simulated threads -----------------===//
//
// Part of Eider, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//
#include "runtime/host/FiberStack.h"

#include "eider/error.h"
#include "runtime/host/Sanitizer.h"

#include <sys/mman.h>

namespace eider::host {

namespace {

constexpr size_t pageBytes = 4096;
constexpr size_t mappingBytes = pageBytes + FiberStackPool::stackBytes;
/// Stacks that all began at the same offset of a page would compete for the same few cache sets.
constexpr size_t staggerBytes = 256;
constexpr size_t staggerSteps = pageBytes / staggerBytes;

[[noreturn]] void failToMap() {
  throw Error(ErrorKind::Machine, "no memory for the stacks of the simulated threads", "host",
              "use fewer host threads or raise vm.max_map_count");
}

} // namespace

FiberStackPool::~FiberStackPool() {
  for (void *mapping : mappings_)
    munmap(mapping, mappingBytes);
}

FiberStack FiberStackPool::allocate() {
  void *mapping = mmap(nullptr, mappingBytes, PROT_READ | PROT_WRITE,
                       MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (mapping == MAP_FAILED)
    failToMap();
  const size_t stagger = mappings_.size() % staggerSteps * staggerBytes;
  mappings_.push_back(mapping);
  if (mprotect(mapping, pageBytes, PROT_NONE) != 0)
    failToMap();
  char *bottom = static_cast<char *>(mapping) + pageBytes;
  return {bottom, bottom + stackBytes - stagger};
}

FiberStack FiberStackPool::take() {
  if (free_.empty())
    return allocate();
  FiberStack stack = free_.back();
  free_.pop_back();
  // ThreadSanitizer remembers who wrote where: to the next thread on this stack that would be a
  // race. It forgets what is mapped anew.
  sanitizer::Unobserved unobserved;
  if (sanitizer::checksRaces &&
      mmap(stack.bottom, stackBytes, PROT_READ | PROT_WRITE,
           MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED, -1, 0) == MAP_FAILED)
    failToMap();
  return stack;
}

void FiberStackPool::giveBack(FiberStack stack) { free_.push_back(stack); }

} // namespace eider::host
