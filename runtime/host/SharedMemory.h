//===- host/SharedMemory.h - The shared memory of one block ---------------===//
//
// Part of Eider, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//
#ifndef EIDER_HOST_SHAREDMEMORY_H
#define EIDER_HOST_SHAREDMEMORY_H

#include <cstddef>
#include <memory>
#include <vector>

namespace eider::host {

/// One region a key, each an allocation of its own, so that AddressSanitizer sees a store past its
/// end. What a block left behind is not seen by the next: regions are filled with 0xff when first
/// asked for.
class SharedMemory {
public:
  /// Before the first thread of a block runs.
  void beginBlock();

  /// The region of `key`; null if the block has asked for it with fewer bytes or a smaller
  /// alignment before. `alignment` is a power of two.
  void *region(const void *key, size_t bytes, size_t alignment);

  /// What `other` has where this block has `address`; null if the address is in no region of this
  /// block, or the other block's region is of another size.
  void *sameIn(SharedMemory &other, const void *address) const;

private:
  struct Free {
    void operator()(void *memory) const;
  };
  struct Region {
    const void *key;
    size_t bytes, alignment;
    bool inUse;
    std::unique_ptr<void, Free> memory;
  };

  Region &find(const void *key, size_t bytes, size_t alignment);

  std::vector<Region> regions_;
};

} // namespace eider::host

#endif // EIDER_HOST_SHAREDMEMORY_H
