//===- eider/arch/host_copies.h - Copies beside threads ---------*- C++ -*-===//
//
// Part of Eider, under the Apache License v2.0.
//
// The names of nvidia_copies.h on a CPU.
//
//===----------------------------------------------------------------------===//
#ifndef EIDER_ARCH_HOST_COPIES_H
#define EIDER_ARCH_HOST_COPIES_H

namespace eider::arch {

template <int bytes> void begin_copy(void *to, const void *from, bool condition) {
  check_alignment<bytes>(to);
  if (condition)
    check_alignment<bytes>(from), std::memcpy(to, from, bytes);
  else
    std::memset(to, 0, bytes);
}
inline void close_copies() {}
template <int pending> void await_copies() {}

inline void fence_async_proxy() {}

/// They read when they are awaited, as late as a GPU may.
class CopiesInBulk {
public:
  CopiesInBulk() = default;
  CopiesInBulk(const CopiesInBulk &) = delete;
  CopiesInBulk &operator=(const CopiesInBulk &) = delete;
  ~CopiesInBulk() { await_reads(); }

  template <int bytes> void begin(void *to, const void *from) {
    static_assert(bytes % 16 == 0);
    check_alignment<16>(to);
    check_alignment<16>(from);
    if (count_ == most)
      scheduler->trap("a thread has more copies in bulk on their way than the simulator keeps",
                      place(Site::current()));
    pending_[count_++] = {to, from, bytes};
  }

  void close() { closed_ = count_; }

  void await_reads() {
    for (int i = 0; i < closed_; ++i)
      std::memcpy(pending_[i].to, pending_[i].from, static_cast<std::size_t>(pending_[i].bytes));
    std::move(pending_ + closed_, pending_ + count_, pending_);
    count_ -= std::exchange(closed_, 0);
  }

private:
  struct Copy {
    void *to;
    const void *from;
    int bytes;
  };
  static constexpr int most = 128; // chunks of a thread
  Copy pending_[most];
  int count_ = 0, closed_ = 0;
};

/// They come at once, as early as on a GPU. What a GPU would wait for in vain, or not wait for, is
/// an error here; that a place is read after all have awaited it, and filled anew, is not seen.
template <class Owner, int places> class ComingInBulk {
  struct Place {
    int announced, begun; // bytes
    unsigned opened, awaited;
  };
  Place *of_ = shared<ComingInBulk, Place, places>();
  unsigned rounds_ = 0; // of waits

  static void require(bool condition, const char *otherwise) {
    if (!condition)
      scheduler->trap(otherwise, place(Site::current()));
  }

public:
  explicit ComingInBulk(Site) {
    if (thread_index() == 0)
      std::fill(of_, of_ + places, Place{});
  }
  void end() {}
  void open(int number, int bytes) {
    Place &its = of_[number];
    require(__atomic_load_n(&its.awaited, __ATOMIC_RELAXED) ==
                its.opened * scheduler->position()->block_size,
            "bytes come to a place where not all have awaited those before");
    its.announced = bytes;
    its.begun = 0;
    ++its.opened;
  }
  void begin(int number, void *to, const void *from, int bytes) {
    check_alignment<16>(to);
    check_alignment<16>(from);
    of_[number].begun += bytes;
    std::memcpy(to, from, static_cast<std::size_t>(bytes));
  }
  void wait(int number) {
    Place &its = of_[number];
    require(its.opened == rounds_ + 1 && its.begun == its.announced,
            "awaits bytes that nobody has begun to copy, or others than were announced");
    __atomic_fetch_add(&its.awaited, 1u, __ATOMIC_RELAXED);
    rounds_ += number == places - 1;
  }
};

} // namespace eider::arch

#endif // EIDER_ARCH_HOST_COPIES_H
