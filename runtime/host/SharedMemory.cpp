//===- host/SharedMemory.cpp - The shared memory of one block -------------===//
//
// Part of Eider, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//
#include "runtime/host/SharedMemory.h"

#include "runtime/host/Sanitizer.h"

#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <new>

namespace eider::host {

namespace {

void *allocate(size_t bytes, size_t alignment) {
  void *memory = nullptr;
  if (posix_memalign(&memory, alignment < sizeof(void *) ? sizeof(void *) : alignment, bytes) != 0)
    throw std::bad_alloc();
  return memory;
}

} // namespace

void SharedMemory::Free::operator()(void *memory) const {
  sanitizer::Unobserved unobserved;
  std::free(memory);
}

void SharedMemory::beginBlock() {
  // ThreadSanitizer would see a race between the blocks; it forgets what is freed.
  if (sanitizer::checksRaces)
    regions_.clear();
  for (Region &region : regions_)
    region.inUse = false;
}

SharedMemory::Region &SharedMemory::find(const void *key, size_t bytes, size_t alignment) {
  for (Region &region : regions_)
    if (region.key == key)
      return region;
  regions_.push_back({key, 0, 0, false, nullptr});
  regions_.back().bytes = bytes;
  regions_.back().alignment = alignment;
  regions_.back().memory.reset(allocate(bytes, alignment));
  return regions_.back();
}

void *SharedMemory::region(const void *key, size_t bytes, size_t alignment) {
  sanitizer::Unobserved unobserved;
  Region &region = find(key, bytes, alignment);
  if (region.bytes != bytes || region.alignment != alignment) {
    if (region.inUse)
      return nullptr;
    // The key's address belonged to another kernel, which is gone.
    region.memory.reset(allocate(bytes, alignment));
    region.bytes = bytes;
    region.alignment = alignment;
  }
  if (!region.inUse)
    std::memset(region.memory.get(), 0xff, bytes);
  region.inUse = true;
  return region.memory.get();
}

void *SharedMemory::sameIn(SharedMemory &other, const void *address) const {
  const auto at = reinterpret_cast<uintptr_t>(address);
  for (const Region &region : regions_) {
    const auto begin = reinterpret_cast<uintptr_t>(region.memory.get());
    if (!region.inUse || at < begin || at - begin >= region.bytes)
      continue;
    void *same = other.region(region.key, region.bytes, region.alignment);
    return same ? static_cast<char *>(same) + (at - begin) : nullptr;
  }
  return nullptr;
}

} // namespace eider::host
