//===- eider/arch/nvidia_copies.h - Copies beside threads -------*- C++ -*-===//
//
// Part of Eider, under the Apache License v2.0.
//
// Copies that go on while the thread that began them does other things.
//
//===----------------------------------------------------------------------===//
#ifndef EIDER_ARCH_NVIDIA_COPIES_H
#define EIDER_ARCH_NVIDIA_COPIES_H

namespace eider::arch {

//===-- From global to shared memory ---------------------------------------===//

// Those that a thread has begun since it last closed a group of them are the next group.

/// Begins to copy `bytes` (4, 8 or 16) aligned bytes; zeros where `condition` does not hold.
template <int bytes> EIDER_DEVICE void begin_copy(void *to, const void *from, bool condition) {
  if constexpr (target >= 800) {
    const auto at = static_cast<uint32>(__cvta_generic_to_shared(to));
    const uint32 read = condition ? bytes : 0;
    if constexpr (bytes == 16)
      asm volatile("cp.async.cg.shared.global [%0], [%1], 16, %2;" ::"r"(at), "l"(from), "r"(read)
                   : "memory");
    else
      asm volatile("cp.async.ca.shared.global [%0], [%1], %3, %2;" ::"r"(at), "l"(from), "r"(read),
                   "n"(bytes)
                   : "memory");
  } else {
    uint32 words[bytes / 4];
    load_words_if<bytes>(condition, from, words, 0, bytes);
    store_words<bytes>(to, words);
  }
}

EIDER_DEVICE void close_copies() {
  if constexpr (target >= 800)
    asm volatile("cp.async.commit_group;" ::: "memory");
}

/// Waits until no more than the last `pending` groups are not there for this thread to read.
template <int pending> EIDER_DEVICE void await_copies() {
  if constexpr (target >= 800)
    asm volatile("cp.async.wait_group %0;" ::"n"(pending) : "memory");
}

//===-- From shared to global memory, in bulk (sm_90 and up) ---------------===//

/// What the thread has written to shared memory is there for copies in bulk, and products of
/// warpgroups, that begin after the next barrier.
EIDER_DEVICE void fence_async_proxy() {
  if constexpr (target >= 900)
    asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
}

/// Those of one thread. What they read stays as it is until it has been awaited, by the thread or
/// by the end of this object.
class CopiesInBulk {
public:
  CopiesInBulk() = default;
  CopiesInBulk(const CopiesInBulk &) = delete;
  CopiesInBulk &operator=(const CopiesInBulk &) = delete;
  EIDER_DEVICE ~CopiesInBulk() { await_reads(); }

  /// Begins to copy `bytes`, a multiple of 16, aligned to as many, to global memory.
  template <int bytes> EIDER_DEVICE void begin(void *to, const void *from) {
    static_assert(bytes % 16 == 0);
    asm volatile("cp.async.bulk.global.shared::cta.bulk_group [%0], [%1], %2;" ::"l"(
                     __cvta_generic_to_global(to)),
                 "r"(static_cast<uint32>(__cvta_generic_to_shared(from))), "n"(bytes)
                 : "memory");
  }

  /// Says that those begun so far are awaited together.
  EIDER_DEVICE void close() { asm volatile("cp.async.bulk.commit_group;" ::: "memory"); }

  /// Waits until all that were closed have read.
  EIDER_DEVICE void await_reads() { asm volatile("cp.async.bulk.wait_group.read 0;" ::: "memory"); }
};

//===-- From global to shared memory, in bulk (sm_90 and up) ---------------===//

/// What the first thread has copied to shared memory for all, to so many `places` in turn; one
/// object a thread, of one `Owner`.
template <class Owner, int places> class ComingInBulk {
  uint32 parity_ = 0; // of the wait for the next place
  static EIDER_DEVICE uint32 count_of(int place) {
    return static_cast<uint32>(
        __cvta_generic_to_shared(shared<ComingInBulk, uint64, places>() + place));
  }

public:
  /// By all threads, before a barrier of the block; what the first one begins may be before it.
  EIDER_DEVICE explicit ComingInBulk(Site) {
    if (threadIdx.x != 0)
      return;
    EIDER_UNROLL
    for (int place = 0; place < places; ++place)
      asm volatile("mbarrier.init.shared::cta.b64 [%0], 1;" ::"r"(count_of(place)) : "memory");
    asm volatile("fence.mbarrier_init.release.cluster;\n\tfence.proxy.async.shared::cta;" ::
                     : "memory");
  }
  /// After a barrier that follows the last wait: another may begin.
  EIDER_DEVICE void end() {
    if (threadIdx.x != 0)
      return;
    EIDER_UNROLL
    for (int place = 0; place < places; ++place)
      asm volatile("mbarrier.inval.shared::cta.b64 [%0];" ::"r"(count_of(place)) : "memory");
  }
  /// By the first thread: `bytes` will come to a place, which all have waited for as often as this
  /// has been said, and read.
  EIDER_DEVICE void open(int place, int bytes) {
    asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;" ::"r"(count_of(place)),
                 "r"(bytes)
                 : "memory");
  }
  /// By the first thread: some of these, a multiple of 16, aligned to as many.
  EIDER_DEVICE void begin(int place, void *to, const void *from, int bytes) {
    asm volatile("cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1], "
                 "%2, [%3];" ::"r"(static_cast<uint32>(__cvta_generic_to_shared(to))),
                 "l"(__cvta_generic_to_global(from)), "r"(bytes), "r"(count_of(place))
                 : "memory");
  }
  /// Waits until all of them have come; places are awaited in turn.
  EIDER_DEVICE void wait(int place) {
    await_phase(count_of(place), parity_);
    if (place == places - 1)
      parity_ ^= 1;
  }
};

} // namespace eider::arch

#endif // EIDER_ARCH_NVIDIA_COPIES_H
