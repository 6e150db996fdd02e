//===- host/Sanitizer.h - What the sanitizers must know of fibers ---------===//
//
// Part of Eider, under the Apache License v2.0.
//
// Empty functions unless EIDER_SIMULATOR_ASAN or EIDER_SIMULATOR_TSAN is defined. The simulator
// itself is never instrumented: its own bookkeeping must make no edge between the threads of a
// kernel, or a missing barrier would go unseen.
//
//===----------------------------------------------------------------------===//
#ifndef EIDER_HOST_SANITIZER_H
#define EIDER_HOST_SANITIZER_H

#include <cstddef>
#include <memory>

#if defined(EIDER_SIMULATOR_ASAN)
#include <sanitizer/common_interface_defs.h>
#elif defined(EIDER_SIMULATOR_TSAN)
#include <sanitizer/tsan_interface.h>
extern "C" {
void AnnotateIgnoreReadsBegin(const char *file, int line);
void AnnotateIgnoreReadsEnd(const char *file, int line);
void AnnotateIgnoreWritesBegin(const char *file, int line);
void AnnotateIgnoreWritesEnd(const char *file, int line);
}
#endif

namespace eider::host::sanitizer {

/// A stack of execution: a fiber's, or the one of the scheduler that resumes fibers.
struct Context {
  const void *stackBottom = nullptr;
  size_t stackBytes = 0;
  void *fakeStack = nullptr;   ///< AddressSanitizer's, while the context is suspended.
  void *threadState = nullptr; ///< ThreadSanitizer's fiber.
};

#if defined(EIDER_SIMULATOR_TSAN)
inline constexpr bool checksRaces = true;
#else
inline constexpr bool checksRaces = false;
#endif

#if defined(EIDER_SIMULATOR_ASAN)

inline void adoptCurrent(Context &) {}
inline void create(Context &) {}
inline void destroy(Context &) {}
/// The last thing `from` does before the switch. A context that ends is never switched to again.
inline void leave(Context &from, Context &to, bool ends) {
  __sanitizer_start_switch_fiber(ends ? nullptr : &from.fakeStack, to.stackBottom, to.stackBytes);
}
/// The first thing `self` does after a switch from `from`; learns where the stack of `from` lies.
inline void arrive(Context &self, Context &from) {
  __sanitizer_finish_switch_fiber(self.fakeStack, &from.stackBottom, &from.stackBytes);
}
struct Edge {
  void renew() {}
  void release() {}
  void acquire() {}
};
struct Unobserved {
  Unobserved() {}
};

#elif defined(EIDER_SIMULATOR_TSAN)

inline void adoptCurrent(Context &context) { context.threadState = __tsan_get_current_fiber(); }
inline void create(Context &context) { context.threadState = __tsan_create_fiber(0); }
inline void destroy(Context &context) { __tsan_destroy_fiber(context.threadState); }
inline void leave(Context &, Context &to, bool) {
  __tsan_switch_to_fiber(to.threadState, __tsan_switch_to_fiber_no_sync);
}
inline void arrive(Context &, Context &) {}
/// What contexts did before their release happens before what others do after their acquire.
class Edge {
public:
  /// Forgets all releases. ThreadSanitizer ties them to an address until that is freed.
  void renew() { address_ = std::make_unique<char>(); }
  void release() { __tsan_release(address_.get()); }
  void acquire() { __tsan_acquire(address_.get()); }

private:
  std::unique_ptr<char> address_ = std::make_unique<char>();
};
/// Memory that its scope touches, allocates or frees is touched by the hardware, by no thread.
struct Unobserved {
  Unobserved() {
    AnnotateIgnoreReadsBegin(__FILE__, __LINE__);
    AnnotateIgnoreWritesBegin(__FILE__, __LINE__);
  }
  ~Unobserved() {
    AnnotateIgnoreWritesEnd(__FILE__, __LINE__);
    AnnotateIgnoreReadsEnd(__FILE__, __LINE__);
  }
  Unobserved(const Unobserved &) = delete;
  Unobserved &operator=(const Unobserved &) = delete;
};

#else

inline void adoptCurrent(Context &) {}
inline void create(Context &) {}
inline void destroy(Context &) {}
inline void leave(Context &, Context &, bool) {}
inline void arrive(Context &, Context &) {}
struct Edge {
  void renew() {}
  void release() {}
  void acquire() {}
};
struct Unobserved {
  Unobserved() {}
};

#endif

} // namespace eider::host::sanitizer

#endif // EIDER_HOST_SANITIZER_H
