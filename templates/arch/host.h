//===- eider/arch/host.h - The hardware: a simulated GPU --------*- C++ -*-===//
//
// Part of Eider, under the Apache License v2.0.
//
// The names of nvidia.h on a CPU, in C++20. Threads meet through the simulator (host_abi.h); what
// each computes by itself is in host_numbers.h.
//
//===----------------------------------------------------------------------===//
#ifndef EIDER_ARCH_HOST_H
#define EIDER_ARCH_HOST_H

#include "eider/arch/host_abi.h"
#include "eider/arch/host_numbers.h"
#include "eider/types.cuh"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <source_location>
#include <type_traits>
#include <utility>

#define EIDER_DEVICE inline
#define EIDER_UNROLL
#define __global__
#define __launch_bounds__(...)
#define __cluster_dims__(...)

namespace eider::arch {

inline constexpr bool has_fp8_conversions = true, has_fp4_conversions = true;
inline constexpr bool has_bf16_products = true;

//===-- Where a thread is, and how threads meet ---------------------------===//

/// The scheduler that runs this host thread's fibers. A fiber never leaves its host thread.
inline thread_local const EiderHostAbi *scheduler = nullptr;

/// The line of the emitted text that called a collective.
using Site = std::source_location;

inline EiderHostSite place(const Site &site) {
  return {site.file_name(), static_cast<int>(site.line())};
}

inline int thread_index() { return static_cast<int>(scheduler->position()->thread); }
inline int nonnegative_thread_index() { return thread_index(); }
inline int64 block_index() { return scheduler->position()->block; }
inline int64 grid_size() { return scheduler->position()->grid_size; }

inline void barrier(Site site) { scheduler->barrier(place(site)); }

inline float shuffle_xor(float value, int distance, uint32 members, Site site) {
  float all[32];
  scheduler->exchange(members, &value, all, sizeof value, place(site));
  return all[(thread_index() % 32) ^ distance];
}

inline uint32 shuffle(uint32 value, int lane, Site site) {
  uint32 all[32];
  scheduler->exchange(0xffffffffu, &value, all, sizeof value, place(site));
  return all[lane];
}

inline bool any_lane(bool condition, Site site) {
  bool all[32];
  scheduler->exchange(0xffffffffu, &condition, all, sizeof condition, place(site));
  return std::find(all, all + 32, true) != all + 32;
}

inline uint32 transpose_pairs(uint32 pair, Site site) {
  uint32 all[32];
  scheduler->exchange(0xffffffffu, &pair, all, sizeof pair, place(site));
  const int row = thread_index() % 32 / 4, column = thread_index() % 4 * 2;
  auto element = [&](int i, int j) { return all[4 * i + j / 2] >> j % 2 * 16 & 0xffffu; };
  return element(column, row) | element(column + 1, row) << 16;
}

inline void warp_barrier(Site site) {
  char none[32] = {}; // of no bytes each
  scheduler->exchange(0xffffffffu, none, none, 0, place(site));
}

inline constexpr bool has_warp_maximum = true;

inline uint32 warp_maximum(uint32 value, Site site) {
  uint32 all[32];
  scheduler->exchange(0xffffffffu, &value, all, sizeof value, place(site));
  for (const uint32 other : all)
    value = other > value ? other : value;
  return value;
}

template <class Owner, class T, int count> T *shared() {
  static const char key = 0; // its address tells this array from all others
  return static_cast<T *>(scheduler->shared(&key, sizeof(T) * count, alignof(T)));
}

/// Bytes need no counting here: that all have come, the cluster's barrier says. Arrivals order no
/// reads before them on a GPU; here those after a thread's first order nothing.
class Exchange {
public:
  static void prepare() {
    state() = {};
    barrier(Site::current());
  }

  explicit Exchange(Site site) : turn_(state().turn++) {
    if (state().unprepared != 0)
      scheduler->trap("an exchange in a kernel that has not prepared any", place(site));
    if (turn_ != 0)
      return;
    scheduler->cluster_arrive(place(site));
  }
  void open(int, Site site) {
    if (turn_ != 0)
      return;
    scheduler->cluster_wait(place(site));
  }

  int half() const { return static_cast<int>(turn_ % 2); }

  void send(float *slot, int rank, float value, Site site) {
    *static_cast<float *>(scheduler->shared_of(static_cast<unsigned>(rank), slot, place(site))) =
        value;
  }

  void wait(Site site) {
    scheduler->cluster_arrive(place(site));
    scheduler->cluster_wait(place(site));
  }

private:
  uint32 turn_;

  struct State {
    uint32 unprepared, turn;
  };
  static State &state() { // of the thread, as any memory at first
    return shared<Exchange, State, 1024>()[thread_index()];
  }
};

inline uint64 load_word(const uint64 *word) { return __atomic_load_n(word, __ATOMIC_RELAXED); }

inline uint32 load_word(const uint32 *word) { return __atomic_load_n(word, __ATOMIC_RELAXED); }

inline uint32 replace_word(uint32 *word, uint32 expected, uint32 wanted) {
  __atomic_compare_exchange_n(word, &expected, wanted, false, __ATOMIC_RELAXED, __ATOMIC_RELAXED);
  return expected; // what it was, either way
}

inline uint64 replace_word(uint64 *word, uint64 expected, uint64 wanted) {
  __atomic_compare_exchange_n(word, &expected, wanted, false, __ATOMIC_RELAXED, __ATOMIC_RELAXED);
  return expected;
}

inline void add_to_word(uint64 *word, uint64 value) {
  __atomic_fetch_add(word, value, __ATOMIC_RELEASE);
}

inline uint64 count_in_word(uint64 *word) { return __atomic_fetch_add(word, 1, __ATOMIC_ACQ_REL); }

inline void wait_for_word(const uint64 *word, uint64 bits, uint64 old, Site site) {
  while ((__atomic_load_n(word, __ATOMIC_ACQUIRE) & bits) == old)
    scheduler->wait_for_word(word, bits, old, place(site));
}

inline bool unlikely(bool condition) { return condition; }

template <class Owner, class T, int count> T *launched_shared() {
  if (sizeof(T) * count > scheduler->position()->shared_of_launch)
    scheduler->trap("the launch gives less shared memory than the text needs",
                    place(Site::current()));
  return shared<Owner, T, count>();
}

inline void allow_next_launch() {}
inline void await_launch_before() {}

//===-- Memory ------------------------------------------------------------===//

/// A GPU faults on an access that is not aligned to its size, so the simulator does too.
template <int bytes> void check_alignment(const void *at) {
  if (reinterpret_cast<std::uintptr_t>(at) % bytes != 0 && scheduler)
    scheduler->trap("a vector access is not aligned to its size", place(Site::current()));
}

template <int bytes, Caching = cached> void load_words(const void *from, uint32 *words) {
  check_alignment<bytes>(from);
  words[0] = 0;
  std::memcpy(words, from, bytes);
}

/// A byte that another thread may be writing.
__attribute__((noinline, no_sanitize("thread"))) inline unsigned char
read_unordered(const unsigned char *at) {
  return *at;
}

/// What is not to be used is read, as a GPU does, and then made something else.
template <int bytes>
void load_words_if(bool condition, const void *from, uint32 *words, int first, int last) {
  unsigned char read[bytes] = {};
  if (condition) {
    check_alignment<bytes>(from);
    const auto *at = static_cast<const unsigned char *>(from);
    for (int i = 0; i < bytes; ++i)
      read[i] =
          i >= first && i < last ? at[i] : static_cast<unsigned char>(~read_unordered(at + i));
  }
  std::memcpy(words, read, bytes);
}

template <int bytes, Caching = cached> void store_words(void *to, const uint32 *words) {
  check_alignment<bytes>(to);
  std::memcpy(to, words, bytes);
}

//===-- Products of matrices, by a warp -----------------------------------===//

/// Element `column` of row `row` of matrix m, of those that the lanes say where they are.
inline uint32 element_of_matrix(const void *const *rows, int m, int row, int column) {
  unsigned short element;
  std::memcpy(&element, static_cast<const unsigned char *>(rows[8 * m + row]) + 2 * column, 2);
  return element;
}

inline void load_matrices(const void *row, uint32 *matrices, Site site) {
  const void *rows[32];
  check_alignment<16>(row);
  scheduler->exchange(0xffffffffu, &row, rows, sizeof row, place(site));
  const int g = thread_index() % 32 / 4, t = thread_index() % 4;
  for (int m = 0; m < 4; ++m)
    matrices[m] = element_of_matrix(rows, m, g, 2 * t) | element_of_matrix(rows, m, g, 2 * t + 1)
                                                             << 16;
}
inline void load_matrices_transposed(const void *row, uint32 *matrices, Site site) {
  const void *rows[32];
  check_alignment<16>(row);
  scheduler->exchange(0xffffffffu, &row, rows, sizeof row, place(site));
  const int g = thread_index() % 32 / 4, t = thread_index() % 4;
  for (int m = 0; m < 4; ++m)
    matrices[m] = element_of_matrix(rows, m, 2 * t, g) | element_of_matrix(rows, m, 2 * t + 1, g)
                                                             << 16;
}

/// c + a · b of pairs whose halves `value` widens: the sum of all products, rounded once.
template <class Value>
void multiply_add(float *c, const uint32 *a, const uint32 *b, Value value, Site site) {
  struct Words {
    uint32 a[4], b[2];
  } mine, all[32];
  std::copy(a, a + 4, mine.a);
  std::copy(b, b + 2, mine.b);
  scheduler->exchange(0xffffffffu, &mine, all, sizeof mine, place(site));
  const int lane = thread_index() % 32, row = lane / 4 * 4, column = lane % 4 * 8;
  for (int i = 0; i < 4; ++i) {
    double sum = c[i];
    for (int word = 0; word < 8; ++word) {
      const int half = word / 4, t = word % 4;
      const uint32 left = all[row + t].a[2 * half + i / 2],
                   right = all[column + i % 2 * 4 + t].b[half];
      sum += double(value(left & 0xffffu)) * double(value(right & 0xffffu)) +
             double(value(left >> 16)) * double(value(right >> 16));
    }
    c[i] = rounded(sum);
  }
}

inline void multiply_add_bf16(float *c, const uint32 *a, const uint32 *b, Site site) {
  multiply_add(
      c, a, b, [](uint32 half) { return as_float(half << 16); }, site);
}

inline void multiply_add_f16(float *c, const uint32 *a, const uint32 *b, Site site) {
  multiply_add(
      c, a, b, [](uint32 half) { return float_from_low_f16(half); }, site);
}

//===-- FP8, four a word --------------------------------------------------===//

inline uint32 fp8_from(float x, const SmallFloat &format) {
  const uint32 sign = x == x ? as_bits(x) >> 24 & 0x80u : 0;
  return sign | round_magnitude(x, format, /*saturate=*/true);
}
inline uint32 e4m3x4_from(float a, float b, float c, float d) {
  return fp8_from(a, e4m3_format) | fp8_from(b, e4m3_format) << 8 | fp8_from(c, e4m3_format) << 16 |
         fp8_from(d, e4m3_format) << 24;
}
inline uint32 e5m2x4_from(float a, float b, float c, float d) {
  return fp8_from(a, e5m2_format) | fp8_from(b, e5m2_format) << 8 | fp8_from(c, e5m2_format) << 16 |
         fp8_from(d, e5m2_format) << 24;
}

inline uint32 f16x2_of_codes(uint32 codes, const SmallFloat &format, bool has_infinity) {
  return f16x2_from(value_of(codes & 0xffu, format, has_infinity),
                    value_of(codes >> 8 & 0xffu, format, has_infinity));
}
inline void f16x4_from_e4m3(uint32 codes, uint32 &first, uint32 &second) {
  first = f16x2_of_codes(codes, e4m3_format, false);
  second = f16x2_of_codes(codes >> 16, e4m3_format, false);
}
inline void f16x4_from_e5m2(uint32 codes, uint32 &first, uint32 &second) {
  first = f16x2_of_codes(codes, e5m2_format, true);
  second = f16x2_of_codes(codes >> 16, e5m2_format, true);
}

//===-- FP4, four in 16 bits ------------------------------------------------===//

inline uint32 e2m1_from(float x) {
  const uint32 sign = x == x ? as_bits(x) >> 28 & 8u : 0;
  return sign | round_magnitude(x, e2m1_format, /*saturate=*/true);
}
inline uint32 e2m1x4_from(float a, float b, float c, float d) {
  return e2m1_from(a) | e2m1_from(b) << 4 | e2m1_from(c) << 8 | e2m1_from(d) << 12;
}
inline void f16x4_from_e2m1(uint32 codes, uint32 &first, uint32 &second) {
  const auto pair = [&](int at) {
    return f16x2_from(value_of(codes >> at & 0xfu, e2m1_format, false),
                      value_of(codes >> (at + 4) & 0xfu, e2m1_format, false));
  };
  first = pair(0);
  second = pair(8);
}

//===-- Products of matrices, by a warpgroup ------------------------------===//

inline constexpr bool has_warpgroups = true;

template <int panel> class Swizzled {
  const unsigned char *base_;
  int apart_, offset_ = 0;

public:
  Swizzled(const void *base, int apart)
      : base_(static_cast<const unsigned char *>(base)), apart_(apart) {}
  Swizzled moved(int bytes) const {
    Swizzled other = *this;
    other.offset_ += bytes;
    return other;
  }
  /// Byte `byte` of a row.
  const unsigned char *at(int row, int byte) const {
    const int linear = offset_ + byte / panel * apart_ + row * panel + byte % panel;
    return base_ + (linear ^ (linear >> 7 & (panel / 16 - 1)) << 4);
  }
};

template <int count> void open_products(float (&)[count][4]) {}
inline void close_products() {}
template <int pending, int count> void await_products(float (&)[count][4]) {}
template <int pending> void await_products() {}
inline void compute_first(float, void *) {}

/// A lane's sums of products of `depth` elements: of_row is an element of its first row, or of the
/// one 8 below. Each product, and the sum before, is cut off below the `bits` bits from the largest
/// one's first on, as products of FP8 are; of others the sum is exact.
template <int depth, int bits = 53, class A, class B>
void add_products(float (*c)[4], int columns, bool adds, A of_row, B of_column) {
  for (int i = 0; i < 4 * columns / 8; ++i) {
    double terms[depth + 1], largest = 0, sum = 0;
    for (int k = 0; k < depth; ++k)
      terms[k] = of_row(i % 4 / 2, k) * of_column(i / 4 * 8 + thread_index() % 4 * 2 + i % 2, k);
    terms[depth] = adds ? double(c[i / 4][i % 4]) : 0.0;
    for (double term : terms)
      largest = std::max(largest, std::abs(term));
    const bool cuts = bits < 53 && largest > 0 && largest < INFINITY;
    const double unit = cuts ? std::ldexp(1.0, std::ilogb(largest) - bits) : 1.0;
    for (double term : terms)
      sum += cuts && std::abs(term) < INFINITY ? std::trunc(term / unit) * unit : term;
    c[i / 4][i % 4] = rounded(sum);
  }
}
inline constexpr int bits_of_code_products = 13;

/// The words of two rows that four lanes hold, of which each has every fourth.
struct WordsOfRows {
  struct Words {
    uint32 of[4];
  } all[32];
  WordsOfRows(const uint32 *a, Site site) {
    Words mine;
    std::copy(a, a + 4, mine.of);
    scheduler->exchange(0xffffffffu, &mine, all, sizeof mine, place(site));
  }
  uint32 at(int half, int word) const {
    return all[thread_index() % 32 / 4 * 4 + word % 4].of[word / 4 * 2 + half];
  }
};

template <class Code> double value_of_code(uint32 code) {
  constexpr bool is_e5m2 = std::is_same_v<Code, e5m2>;
  return value_of(code & 0xffu, is_e5m2 ? e5m2_format : e4m3_format, is_e5m2);
}
template <class A, class B>
void multiply_add_codes(float *c, const uint32 *a, const uint32 *b, Site site) {
  struct Words {
    uint32 of[2];
  } mine = {{b[0], b[1]}}, all[32];
  const WordsOfRows rows(a, site);
  scheduler->exchange(0xffffffffu, &mine, all, sizeof mine, place(site));
  add_products<32, bits_of_code_products>(
      reinterpret_cast<float(*)[4]>(c), 8, /*adds=*/true,
      [&](int half, int k) { return value_of_code<A>(rows.at(half, k / 4) >> k % 4 * 8); },
      [&](int column, int k) {
        return value_of_code<B>(all[column * 4 + k / 4 % 4].of[k / 16] >> k % 4 * 8);
      });
}

template <class Code, int panel>
void begin_product(float (&c)[8][4], const uint32 *a, const Swizzled<panel> &b, bool adds,
                   Site site) {
  const WordsOfRows rows(a, site);
  add_products<32, bits_of_code_products>(
      c, 64, adds,
      [&](int half, int k) { return value_of_code<Code>(rows.at(half, k / 4) >> k % 4 * 8); },
      [&](int column, int k) { return value_of_code<Code>(*b.at(column, k)); });
}
template <class A, class B = A, int count, int panel>
void begin_product(float (&c)[count][4], const Swizzled<panel> &a, const Swizzled<panel> &b,
                   bool adds, Site) {
  const int row = thread_index() / 32 % 4 * 16 + thread_index() % 32 / 4;
  add_products<32, bits_of_code_products>(
      c, 8 * count, adds,
      [&](int half, int k) { return value_of_code<A>(*a.at(row + half * 8, k)); },
      [&](int column, int k) { return value_of_code<B>(*b.at(column, k)); });
}

template <int columns, int panel>
void begin_product_f16(float (*c)[4], const uint32 *a, const Swizzled<panel> &b, Site site) {
  auto value = [](uint32 half) { return double(value_of(half & 0xffffu, f16_format, true)); };
  const WordsOfRows rows(a, site);
  add_products<16>(
      c, columns, /*adds=*/true,
      [&](int half, int k) { return value(rows.at(half, k / 2) >> k % 2 * 16); },
      [&](int column, int k) {
        unsigned short half;
        std::memcpy(&half, b.at(k, 2 * column), 2);
        return value(half);
      });
}

template <class Half, int count, int panel>
void begin_product_of_halves(float (&c)[count][4], const uint32 *a, const Swizzled<panel> &b,
                             bool adds, Site site) {
  constexpr bool is_f16 = std::is_same_v<Half, f16>;
  auto value = [](uint32 half) {
    return double(value_of(half & 0xffffu, is_f16 ? f16_format : bf16_format, true));
  };
  const WordsOfRows rows(a, site);
  add_products<16>(
      c, 8 * count, adds,
      [&](int half, int k) { return value(rows.at(half, k / 2) >> k % 2 * 16); },
      [&](int row, int k) {
        unsigned short half;
        std::memcpy(&half, b.at(row, 2 * k), 2);
        return value(half);
      });
}

inline void cluster_barrier(Site site) {
  scheduler->cluster_arrive(place(site));
  scheduler->cluster_wait(place(site));
}

inline void cluster_meeting(Site site) { cluster_barrier(site); }

template <int count>
void load_of_block(const float *slot, int rank, float (&values)[count], Site site) {
  check_alignment<4 * count>(slot);
  std::copy_n(static_cast<const float *>(scheduler->shared_of(
                  static_cast<unsigned>(rank), const_cast<float *>(slot), place(site))),
              count, values);
}

/// Bytes need no counting here, either.
template <class Owner> class Delivery {
public:
  static void begin(Site site) { scheduler->cluster_arrive(place(site)); }
  static void open(int, Site site) { scheduler->cluster_wait(place(site)); }
  template <int count>
  static void send(float *slot, int rank, const float (&values)[count], Site site) {
    check_alignment<4 * count>(slot);
    std::copy_n(
        values, count,
        static_cast<float *>(scheduler->shared_of(static_cast<unsigned>(rank), slot, place(site))));
  }
  static void wait(Site site) {
    scheduler->cluster_arrive(place(site));
    scheduler->cluster_wait(place(site));
  }
  static void end() {}
};

/// Nobody waits before all have come.
template <class Owner> class Meeting {
public:
  Meeting(int, Site) {}
  void arrive(Site) {}
  void wait(Site site) { barrier(site); }
  void end() {}
};

//===-- The way in --------------------------------------------------------===//

/// Calls `kernel` with the values at `parameters`, one address a parameter, as cuLaunchKernel does.
template <class... Parameters, std::size_t... index>
void enter(void (*kernel)(Parameters...), void **parameters, std::index_sequence<index...>) {
  kernel(*static_cast<std::remove_cv_t<Parameters> *>(parameters[index])...);
}

/// All fibers of a host thread set the same value, in which ThreadSanitizer would see a race.
__attribute__((noinline, no_sanitize("thread"))) inline void
set_scheduler(const EiderHostAbi *abi) {
  scheduler = abi;
}

template <class... Parameters>
void enter(const EiderHostAbi *abi, void (*kernel)(Parameters...), void **parameters) {
  set_scheduler(abi);
  enter(kernel, parameters, std::index_sequence_for<Parameters...>());
}

} // namespace eider::arch

#include "eider/arch/host_copies.h"

/// Defines the EiderHostKernel `eider_host_<kernel>` of a kernel of the text.
#define EIDER_HOST_ENTRY(kernel)                                                                   \
  extern "C" __attribute__((visibility("default"))) void eider_host_##kernel(                      \
      const EiderHostAbi *abi, void **parameters) {                                                \
    eider::arch::enter(abi, kernel, parameters);                                                   \
  }

#endif // EIDER_ARCH_HOST_H
