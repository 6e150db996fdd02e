//===- host/FiberStack.h - Stacks for simulated threads -------------------===//
//
// Part of Eider, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//
#ifndef EIDER_HOST_FIBERSTACK_H
#define EIDER_HOST_FIBERSTACK_H

#include <cstddef>
#include <vector>

namespace eider::host {

/// The memory of one fiber's stack; grows downwards, from `top` to `bottom`.
struct FiberStack {
  char *bottom = nullptr;
  char *top = nullptr;
};

/// Stacks that are used again. The memory of a stack is committed by the system only where a fiber
/// has been; below each stack lies a page whose access is a fault. Not thread-safe.
class FiberStackPool {
public:
  /// Deep enough for kernels compiled with -O1 and a sanitizer.
  static constexpr size_t stackBytes = 256 * 1024;

  FiberStackPool() = default;
  FiberStackPool(const FiberStackPool &) = delete;
  FiberStackPool &operator=(const FiberStackPool &) = delete;
  ~FiberStackPool();

  /// The stack given back last, because it is in the cache of the processor, or a new one. Throws
  /// Error of kind Machine when there is no memory.
  FiberStack take();
  void giveBack(FiberStack stack);

private:
  FiberStack allocate();

  std::vector<FiberStack> free_;
  std::vector<void *> mappings_;
};

} // namespace eider::host

#endif // EIDER_HOST_FIBERSTACK_H
