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

/// They come at once, as early as on a GPU: into what somebody reads, if the place is not free.
template <class Owner, int places> class ComingInBulk {
public:
  explicit ComingInBulk(Site) {}
  void end() {}
  void open(int, int) {}
  void begin(int, void *to, const void *from, int bytes) {
    check_alignment<16>(to);
    check_alignment<16>(from);
    std::memcpy(to, from, static_cast<std::size_t>(bytes));
  }
  void wait(int) {}
};

} // namespace eider::arch

#endif // EIDER_ARCH_HOST_COPIES_H
