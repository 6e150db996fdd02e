//===- eider/arch/nvidia_words.h - Where blocks of a grid meet --*- C++ -*-===//
//
// Part of Eider, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//
#ifndef EIDER_ARCH_NVIDIA_WORDS_H
#define EIDER_ARCH_NVIDIA_WORDS_H

namespace eider::arch {

// Words in memory by which the blocks of a grid meet. Of one that several change at a time:

/// What it is.
EIDER_DEVICE uint64 load_word(const uint64 *word) {
  uint64 r;
  asm volatile("ld.relaxed.gpu.u64 %0, [%1];" : "=l"(r) : "l"(word) : "memory");
  return r;
}

EIDER_DEVICE uint32 load_word(const uint32 *word) {
  uint32 r;
  asm volatile("ld.relaxed.gpu.u32 %0, [%1];" : "=r"(r) : "l"(word) : "memory");
  return r;
}

/// Makes it `wanted` if it is `expected`; gives what it was.
EIDER_DEVICE uint32 replace_word(uint32 *word, uint32 expected, uint32 wanted) {
  uint32 found;
  asm volatile("atom.relaxed.gpu.cas.b32 %0, [%1], %2, %3;"
               : "=r"(found)
               : "l"(word), "r"(expected), "r"(wanted)
               : "memory");
  return found;
}
EIDER_DEVICE uint64 replace_word(uint64 *word, uint64 expected, uint64 wanted) {
  uint64 found;
  asm volatile("atom.relaxed.gpu.cas.b64 %0, [%1], %2, %3;"
               : "=l"(found)
               : "l"(word), "l"(expected), "l"(wanted)
               : "memory");
  return found;
}

/// Adds to it, after all that the thread has written.
EIDER_DEVICE void add_to_word(uint64 *word, uint64 value) {
  asm volatile("red.release.gpu.add.u64 [%0], %1;" ::"l"(word), "l"(value) : "memory");
}

/// Adds 1, after all that the block's threads wrote before its last barrier; gives what it was.
/// What others wrote before they added is there to read, for the whole block after its next
/// barrier.
EIDER_DEVICE uint64 count_in_word(uint64 *word) {
  uint64 before;
  asm volatile("atom.acq_rel.gpu.add.u64 %0, [%1], 1;" : "=l"(before) : "l"(word) : "memory");
  return before;
}

/// Waits until some of its `bits` are not those of `old`. What was written before it was changed is
/// there to read, for the whole block after its next barrier. All blocks of the grid run at once.
EIDER_DEVICE void wait_for_word(const uint64 *word, uint64 bits, uint64 old, Site) {
  uint64 now;
  do
    asm volatile("ld.acquire.gpu.u64 %0, [%1];" : "=l"(now) : "l"(word) : "memory");
  while ((now & bits) == old);
}

} // namespace eider::arch

#endif // EIDER_ARCH_NVIDIA_WORDS_H
