//===- eider/arch/nvidia.h - The hardware: NVIDIA, sm_75 and up -*- C++ -*-===//
//
// Part of Eider, under the Apache License v2.0.
//
// The one place for PTX, intrinsics and __CUDA_ARCH__, but for products of warpgroups. What a
// target lacks has another body here under the same name. Nothing here flushes subnormals, and
// nothing is fused unless it says fma.
//
//===----------------------------------------------------------------------===//
#ifndef EIDER_ARCH_NVIDIA_H
#define EIDER_ARCH_NVIDIA_H

#include "eider/types.cuh"

#define EIDER_DEVICE __device__ __forceinline__
#define EIDER_UNROLL _Pragma("unroll")

namespace eider::arch {

#ifdef __CUDA_ARCH__
inline constexpr int target = __CUDA_ARCH__;
#else
inline constexpr int target = 10000; // nvcc's host pass parses kernels and runs none of them
#endif

/// Whether the target converts to and from FP8 by instruction.
inline constexpr bool has_fp8_conversions = target >= 890;

/// Whether the target converts to and from FP4 by instruction: of sm_100 and later the `a` ones.
#if defined(__CUDA_ARCH_SPECIFIC__) && __CUDA_ARCH_SPECIFIC__ >= 1000
inline constexpr bool has_fp4_conversions = true;
#else
inline constexpr bool has_fp4_conversions = false;
#endif

/// Whether tensor cores multiply bf16, of which pairs are multiplied by instruction, too.
inline constexpr bool has_bf16_products = target >= 800;

//===-- Where a thread is, and how threads meet ---------------------------===//

/// The line of the emitted text that called a collective: the simulator's errors name it, a GPU
/// needs it not.
struct Site {
  static constexpr EIDER_DEVICE Site current() { return {}; }
};

EIDER_DEVICE int thread_index() { return static_cast<int>(threadIdx.x); }
/// The same, of which the compiler knows that it is not negative: a division of it by a power of
/// two is a shift. Where there are many: elsewhere loads come in another order then, which some
/// kernels pay for (docs/design/decisions.md).
EIDER_DEVICE int nonnegative_thread_index() {
  const int index = thread_index();
  __builtin_assume(index >= 0 && index < 1024);
  return index;
}
EIDER_DEVICE int64 block_index() { return blockIdx.x; }
EIDER_DEVICE int64 grid_size() { return gridDim.x; }

/// Waits for all threads of the block; what they wrote to shared memory before is visible after.
EIDER_DEVICE void barrier(Site) { __syncthreads(); }

/// The value of the lane whose number differs by `distance` in one bit. All lanes of `members` call
/// it together.
EIDER_DEVICE float shuffle_xor(float value, int distance, uint32 members, Site) {
  return __shfl_xor_sync(members, value, distance);
}

/// The value of the lane of that number. All 32 lanes of the warp call it together.
EIDER_DEVICE uint32 shuffle(uint32 value, int lane, Site) {
  return __shfl_sync(0xffffffffu, value, lane);
}

/// Whether `condition` holds in some lane. All 32 lanes of the warp call it together.
EIDER_DEVICE bool any_lane(bool condition, Site) { return __any_sync(0xffffffffu, condition) != 0; }

/// Of an 8 × 8 matrix of 16-bit elements, of which lane 4 · i + j has columns 2j and 2j + 1 of row
/// i, the same of its transpose. All 32 lanes of the warp call it together.
EIDER_DEVICE uint32 transpose_pairs(uint32 pair, Site) {
  uint32 r;
  asm volatile("movmatrix.sync.aligned.m8n8.trans.b16 %0, %1;" : "=r"(r) : "r"(pair));
  return r;
}

/// Waits for all 32 lanes of the warp; what they read and wrote before is done.
EIDER_DEVICE void warp_barrier(Site) { __syncwarp(); }

/// Whether a full warp has an instruction for the maximum of unsigned integers.
inline constexpr bool has_warp_maximum = target >= 800;

/// The largest value of the warp's 32 lanes, in each of them.
EIDER_DEVICE uint32 warp_maximum(uint32 value, Site) {
  uint32 r;
  asm volatile("redux.sync.max.u32 %0, %1, 0xffffffff;" : "=r"(r) : "r"(value));
  return r;
}

/// An array in the block's shared memory; one array for each `Owner`, whoever calls.
template <class Owner, class T, int count> EIDER_DEVICE T *shared() {
  alignas(16) alignas(T) __shared__ T array[count]; // for wide loads of neighbours
  return array;
}

/// Sends 1, 2 or 4 values, aligned as a whole, to where block number `rank` of the cluster (sm_90
/// and up) has what this one has at `slot`, and to its `counter` that the bytes have come.
template <int count>
EIDER_DEVICE void send_counted(float *slot, uint32 counter, int rank,
                               const float (&values)[count]) {
  static_assert(count == 1 || count == 2 || count == 4, "one store");
  const auto here = static_cast<uint32>(__cvta_generic_to_shared(slot));
#define EIDER_SEND(form, values_, ...)                                                             \
  asm volatile("{ .reg .b32 there, counter; mapa.shared::cluster.u32 there, %0, %2; "              \
               "mapa.shared::cluster.u32 counter, %1, %2; "                                        \
               "st.async.shared::cluster.mbarrier::complete_tx::bytes" form " [there], " values_   \
               ", [counter]; }" ::"r"(here),                                                       \
               "r"(counter), "r"(rank), __VA_ARGS__                                                \
               : "memory")
  if constexpr (count == 4)
    EIDER_SEND(".v4.f32", "{%3, %4, %5, %6}", "f"(values[0]), "f"(values[1]), "f"(values[2]),
               "f"(values[3]));
  else if constexpr (count == 2)
    EIDER_SEND(".v2.f32", "{%3, %4}", "f"(values[0]), "f"(values[1]));
  else
    EIDER_SEND(".f32", "%3", "f"(values[0]));
#undef EIDER_SEND
}
/// Waits until all bytes of the counter's phase have come, and are there to read.
EIDER_DEVICE void await_counted(uint32 counter, uint32 parity) {
  uint32 is_done;
  do
    asm volatile("{ .reg .pred done; "
                 "mbarrier.try_wait.parity.acquire.cluster.shared::cta.b64 done, [%1], %2; "
                 "selp.u32 %0, 1, 0, done; }"
                 : "=r"(is_done)
                 : "r"(counter), "r"(parity)
                 : "memory");
  while (!is_done);
}

/// The same of a count that only the block has, of arrivals or of bytes.
EIDER_DEVICE void await_phase(uint32 counter, uint32 parity) {
  uint32 is_done;
  do
    asm volatile("{ .reg .pred done; mbarrier.try_wait.parity.shared::cta.b64 done, [%1], %2; "
                 "selp.u32 %0, 1, 0, done; }"
                 : "=r"(is_done)
                 : "r"(counter), "r"(parity)
                 : "memory");
  while (!is_done);
}

/// Values that the blocks of a cluster (sm_90 and up) send into each other's shared memory; each
/// block counts the bytes that come. All threads of the cluster take part in an exchange and call
/// its functions once, in their order; `send` as often as there is something to send. Clusters are
/// one-dimensional: block b is number b % size of its own.
///
/// Exchanges take turns with two halves of the slots: a thread's arrival can overtake its loads of
/// what the exchange before brought, where stores of other blocks hold them up. They are before
/// what its warp sends in this exchange, and the next, into the same half, awaits that.
class Exchange {
public:
  /// Once a kernel, before the first: sets the count.
  static EIDER_DEVICE void prepare() {
    if (threadIdx.x == 0)
      asm volatile(
          "mbarrier.init.shared::cta.b64 [%0], 1;\n\tfence.mbarrier_init.release.cluster;" ::"r"(
              counter())
          : "memory");
    __syncthreads();
  }

  /// Says that the thread has come; returns at once. Relaxed, so that no store is waited for.
  explicit EIDER_DEVICE Exchange(Site) {
    // The phase that this exchange waits for cannot end before the block has said what it expects,
    // in `open`. So the test sees whether the phase before it was an even one.
    asm volatile("{ .reg .pred even; mbarrier.test_wait.parity.shared::cta.b64 even, [%1], %2; "
                 "selp.u32 %0, 1, 0, even; }"
                 : "=r"(parity_)
                 : "r"(counter()), "r"(0)
                 : "memory");
    asm volatile("barrier.cluster.arrive.relaxed.aligned;" ::: "memory");
  }

  /// Waits until all threads of the cluster have come; `bytes` will come to this block.
  EIDER_DEVICE void open(int bytes, Site) {
    asm volatile("barrier.cluster.wait.acquire.aligned;" ::: "memory");
    if (threadIdx.x == 0)
      asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;" ::"r"(counter()),
                   "r"(bytes)
                   : "memory");
  }

  /// Which half of the slots is this exchange's: 0 or 1.
  EIDER_DEVICE int half() const { return static_cast<int>(parity_); }

  /// Sends `value` to where block number `rank` of the cluster has what this one has at `slot`.
  EIDER_DEVICE void send(float *slot, int rank, float value, Site) {
    send_counted<1>(slot, counter(), rank, {value});
  }

  /// Waits until all that this block expects has come, and is there to read.
  EIDER_DEVICE void wait(Site) { await_counted(counter(), parity_); }

private:
  uint32 parity_; // of the phase that ends when all bytes have come

  static EIDER_DEVICE uint32 counter() {
    return static_cast<uint32>(__cvta_generic_to_shared(shared<Exchange, uint64, 1>()));
  }
};

/// Marks a condition that hardly ever holds, so that its branch is laid out of the way.
EIDER_DEVICE bool unlikely(bool condition) { return __builtin_expect(condition, false); }

/// The same of which the launch gives the memory: more than 48 KiB, one array a kernel.
template <class Owner, class T, int count> EIDER_DEVICE T *launched_shared() {
  extern __shared__ __align__(1024) uint4 eider_launched_shared[];
  return reinterpret_cast<T *>(eider_launched_shared);
}

/// Lets the launch after this one begin, if it is one that waits for this one's end.
EIDER_DEVICE void allow_next_launch() {
  if constexpr (target >= 900)
    asm volatile("griddepcontrol.launch_dependents;" ::: "memory");
}
/// Waits until the launch before this one has ended, and what it wrote is there.
EIDER_DEVICE void await_launch_before() {
  if constexpr (target >= 900)
    asm volatile("griddepcontrol.wait;" ::: "memory");
}

//===-- Memory ------------------------------------------------------------===//

template <Caching caching, class T> EIDER_DEVICE T load_value(const void *from) {
  const auto *at = static_cast<const T *>(from);
  if constexpr (caching == streaming) {
    return __ldcs(at);
  } else {
    return *at;
  }
}

template <Caching caching, class T> EIDER_DEVICE void store_value(void *to, const T &value) {
  auto *at = static_cast<T *>(to);
  if constexpr (caching == streaming)
    __stcs(at, value);
  else
    *at = value;
}

/// Reads `bytes` (1, 2, 4, 8 or 16) aligned bytes in one access, least significant first; 1 and 2
/// are extended by zeros.
template <int bytes, Caching caching = cached>
EIDER_DEVICE void load_words(const void *from, uint32 *words) {
  if constexpr (bytes == 16) {
    const uint4 v = load_value<caching, uint4>(from);
    words[0] = v.x, words[1] = v.y, words[2] = v.z, words[3] = v.w;
  } else if constexpr (bytes == 8) {
    const uint2 v = load_value<caching, uint2>(from);
    words[0] = v.x, words[1] = v.y;
  } else if constexpr (bytes == 4) {
    words[0] = load_value<caching, uint32>(from);
  } else if constexpr (bytes == 2) {
    words[0] = load_value<caching, unsigned short>(from);
  } else {
    words[0] = load_value<caching, unsigned char>(from);
  }
}

/// Where `condition` holds, reads `bytes` (4, 8 or 16) aligned bytes of global memory, of which the
/// thread wants first … last - 1; others may be changed meanwhile and are not to be used. By
/// predicate and not by branch, so that nothing waits before more is loaded. Else the words stay
/// zero.
template <int bytes>
EIDER_DEVICE void load_words_if(bool condition, const void *from, uint32 *words, int, int) {
  const auto at = static_cast<uint64>(__cvta_generic_to_global(from));
  const uint32 is_read = condition;
  EIDER_UNROLL
  for (int i = 0; i < bytes / 4; ++i)
    words[i] = 0;
  if constexpr (bytes == 16)
    asm volatile("{ .reg .pred p; setp.ne.u32 p, %5, 0; @p ld.global.v4.u32 {%0, %1, %2, %3}, "
                 "[%4]; }"
                 : "+r"(words[0]), "+r"(words[1]), "+r"(words[2]), "+r"(words[3])
                 : "l"(at), "r"(is_read)
                 : "memory");
  else if constexpr (bytes == 8)
    asm volatile("{ .reg .pred p; setp.ne.u32 p, %3, 0; @p ld.global.v2.u32 {%0, %1}, [%2]; }"
                 : "+r"(words[0]), "+r"(words[1])
                 : "l"(at), "r"(is_read)
                 : "memory");
  else
    asm volatile("{ .reg .pred p; setp.ne.u32 p, %2, 0; @p ld.global.u32 %0, [%1]; }"
                 : "+r"(words[0])
                 : "l"(at), "r"(is_read)
                 : "memory");
}

/// Writes `bytes` (1, 2, 4, 8 or 16) aligned bytes in one access.
template <int bytes, Caching caching = cached>
EIDER_DEVICE void store_words(void *to, const uint32 *words) {
  if constexpr (bytes == 16)
    store_value<caching>(to, uint4{words[0], words[1], words[2], words[3]});
  else if constexpr (bytes == 8)
    store_value<caching>(to, uint2{words[0], words[1]});
  else if constexpr (bytes == 4)
    store_value<caching>(to, words[0]);
  else if constexpr (bytes == 2)
    store_value<caching>(to, static_cast<unsigned short>(words[0]));
  else
    store_value<caching>(to, static_cast<unsigned char>(words[0]));
}

//===-- Bits --------------------------------------------------------------===//

EIDER_DEVICE uint32 as_bits(float value) { return __float_as_uint(value); }
EIDER_DEVICE float as_float(uint32 bits) { return __uint_as_float(bits); }

/// Four bytes picked from the eight of (low, high): each nibble of `selector` (0 to 7) names one.
EIDER_DEVICE uint32 byte_permute(uint32 low, uint32 high, uint32 selector) {
  return __byte_perm(low, high, selector);
}

/// The same, where 8 more than a byte's number names its sign, in all bits.
EIDER_DEVICE uint32 signed_permute(uint32 low, uint32 high, uint32 selector) {
  uint32 r;
  asm("prmt.b32 %0, %1, %2, %3;" : "=r"(r) : "r"(low), "r"(high), "r"(selector));
  return r;
}

/// The lower word of (low, high) >> bits % 32.
EIDER_DEVICE uint32 funnel_right(uint32 low, uint32 high, uint32 bits) {
  return __funnelshift_r(low, high, bits);
}

/// Bits of `a` where the mask is 1, of `b` where it is 0.
EIDER_DEVICE uint32 select_bits(uint32 mask, uint32 a, uint32 b) {
  uint32 r;
  asm("lop3.b32 %0, %1, %2, %3, 0xca;" : "=r"(r) : "r"(mask), "r"(a), "r"(b));
  return r;
}

/// The same number, computed anew from here on rather than kept.
EIDER_DEVICE int opaque(int value) {
  asm volatile("" : "+r"(value));
  return value;
}

/// Zero, of which a compiler does not know: blocks have one layer. (The test `text.registers` says
/// if one comes to know.)
EIDER_DEVICE uint32 unseen_zero() { return blockDim.z - 1; }

/// a · b, all bits of it. (Of 64-bit operands the compiler adds zeros to the high half.)
EIDER_DEVICE uint64 multiply_wide(uint32 a, uint32 b) {
  uint64 r;
  asm("mul.wide.u32 %0, %1, %2;" : "=l"(r) : "r"(a), "r"(b));
  return r;
}

//===-- Float arithmetic --------------------------------------------------===//

/// Arithmetic makes one NaN, 0x7fffffff; this is where a processor that does otherwise mends it.
EIDER_DEVICE float one_nan(float value) { return value; }

/// a · b + c, rounded once.
EIDER_DEVICE float fma(float a, float b, float c) { return __fmaf_rn(a, b, c); }
/// The same, rounded up.
EIDER_DEVICE float fma_up(float a, float b, float c) { return __fmaf_ru(a, b, c); }
/// a · b, rounded toward zero, where a float is subnormal too.
EIDER_DEVICE float multiply_toward_zero(float a, float b) { return __fmul_rz(a, b); }
EIDER_DEVICE float sqrt(float x) { return __fsqrt_rn(x); }

/// 1 / x within 1 ulp for 2^-126 <= |x| <= 2^126; Inf for 0, 0 for Inf. The .ftz flushes nothing
/// there: without it the instruction is wrapped in a test for subnormals.
EIDER_DEVICE float approximate_rcp(float x) {
  float r;
  asm("rcp.approx.ftz.f32 %0, %1;" : "=f"(r) : "f"(x));
  return r;
}
/// 1 / x, correctly rounded for 2^-126 <= |x| <= 2^126: what __frcp_rn does after its tests for
/// hard operands.
EIDER_DEVICE float rcp_of_normal(float x) {
  const float r = approximate_rcp(x);
  return fma(fma(-x, r, 1.0f), r, r);
}

/// The same, rounded toward zero; by 1 ulp less where that is within 2^-46 of 1 / x.
EIDER_DEVICE float rcp_of_normal_toward_zero(float x) {
  const float r = approximate_rcp(x);
  return __fmaf_rz(fma(-x, r, 1.0f), r, r);
}

/// The magnitude: the sign bit cleared.
EIDER_DEVICE float magnitude(float x) { return fabsf(x); }

// Of +0 and -0, the larger is +0.

/// The larger; NaN if one is NaN.
EIDER_DEVICE float maximum(float a, float b) {
  if constexpr (target >= 800) {
    float r;
    asm("max.NaN.f32 %0, %1, %2;" : "=f"(r) : "f"(a), "f"(b));
    return r;
  } else {
    return a != a ? a : b != b ? b : fmaxf(a, b);
  }
}
/// The smaller; NaN if one is NaN.
EIDER_DEVICE float minimum(float a, float b) {
  if constexpr (target >= 800) {
    float r;
    asm("min.NaN.f32 %0, %1, %2;" : "=f"(r) : "f"(a), "f"(b));
    return r;
  } else {
    return a != a ? a : b != b ? b : fminf(a, b);
  }
}
/// The larger; the other if one is NaN.
EIDER_DEVICE float maximum_number(float a, float b) { return fmaxf(a, b); }
/// The smaller; the other if one is NaN.
EIDER_DEVICE float minimum_number(float a, float b) { return fminf(a, b); }

/// max(|a|, |b|); NaN if one is NaN.
EIDER_DEVICE float maximum_magnitude(float a, float b) {
  if constexpr (target >= 800)
    return maximum(magnitude(a), magnitude(b));
  else // As integers magnitudes order the same way, and a NaN is above infinity.
    return as_float(max(as_bits(a) & 0x7fffffffu, as_bits(b) & 0x7fffffffu));
}

// The approximate ones: bounds in ulp are those of the CUDA C++ Programming Guide, which
// tests/conformance/codecs verifies over all floats.
EIDER_DEVICE float rsqrt(float x) { return ::rsqrtf(x); }
EIDER_DEVICE float exp(float x) { return ::expf(x); }
EIDER_DEVICE float exp2(float x) { // without .ftz the instruction is wrapped in a test
  float r;
  asm("ex2.approx.ftz.f32 %0, %1;" : "=f"(r) : "f"(x));
  return r;
}
EIDER_DEVICE float log(float x) { return ::logf(x); }
EIDER_DEVICE float tanh(float x) { return ::tanhf(x); }
EIDER_DEVICE float erf(float x) { return ::erff(x); }

//===-- 16-bit floats, two a word -----------------------------------------===//

/// bf16 of both, nearest even, NaN to 0x7fff.
EIDER_DEVICE uint32 bf16x2_from(float low, float high) {
  if constexpr (target >= 800) {
    uint32 r;
    asm("cvt.rn.bf16x2.f32 %0, %2, %1;" : "=r"(r) : "f"(low), "f"(high));
    return r;
  } else {
    const auto round = [](float x) {
      const uint32 b = as_bits(x);
      return x != x ? 0x7fffu : (b + 0x7fffu + (b >> 16 & 1u)) >> 16;
    };
    return round(low) | round(high) << 16;
  }
}

/// f16 of both, nearest even, NaN to 0x7fff.
EIDER_DEVICE uint32 f16x2_from(float low, float high) {
  uint32 r;
  if constexpr (target >= 800)
    asm("cvt.rn.f16x2.f32 %0, %2, %1;" : "=r"(r) : "f"(low), "f"(high));
  else
    asm("{ .reg .b16 l, h; cvt.rn.f16.f32 l, %1; cvt.rn.f16.f32 h, %2; mov.b32 %0, {l, h}; }"
        : "=r"(r)
        : "f"(low), "f"(high));
  return r;
}

/// f16 of both, toward zero, subnormals kept.
EIDER_DEVICE uint32 f16x2_toward_zero(float low, float high) {
  uint32 r;
  if constexpr (target >= 800)
    asm("cvt.rz.f16x2.f32 %0, %2, %1;" : "=r"(r) : "f"(low), "f"(high));
  else
    asm("{ .reg .b16 l, h; cvt.rz.f16.f32 l, %1; cvt.rz.f16.f32 h, %2; mov.b32 %0, {l, h}; }"
        : "=r"(r)
        : "f"(low), "f"(high));
  return r;
}

/// The lower and the upper f16 of a word, exact.
EIDER_DEVICE float float_from_low_f16(uint32 pair) {
  float r;
  asm("{ .reg .b16 l, h; mov.b32 {l, h}, %1; cvt.f32.f16 %0, l; }" : "=f"(r) : "r"(pair));
  return r;
}
EIDER_DEVICE float float_from_high_f16(uint32 pair) {
  float r;
  asm("{ .reg .b16 l, h; mov.b32 {l, h}, %1; cvt.f32.f16 %0, h; }" : "=f"(r) : "r"(pair));
  return r;
}

/// Both f16 times both f16, nearest even, subnormals kept.
EIDER_DEVICE uint32 multiply_f16x2(uint32 a, uint32 b) {
  uint32 r;
  asm("mul.rn.f16x2 %0, %1, %2;" : "=r"(r) : "r"(a), "r"(b));
  return r;
}

/// Whether maxima, and sums of bf16, can be taken two a word.
inline constexpr bool has_packed_maximum = target >= 800;

/// Two halves as what follows takes them, once: without signs where instructions do not look away
/// from them.
EIDER_DEVICE uint32 packed_magnitudes(uint32 pair) {
  return target >= 860 ? pair : pair & 0x7fff7fffu;
}
/// The larger magnitude of both halves, NaN wins; either sign.
EIDER_DEVICE uint32 maximum_magnitude_bf16x2(uint32 a, uint32 b) {
  uint32 r;
  if constexpr (target >= 860)
    asm("max.NaN.xorsign.abs.bf16x2 %0, %1, %2;" : "=r"(r) : "r"(a), "r"(b));
  else
    asm("max.NaN.bf16x2 %0, %1, %2;" : "=r"(r) : "r"(a), "r"(b));
  return r;
}
EIDER_DEVICE uint32 maximum_magnitude_f16x2(uint32 a, uint32 b) {
  uint32 r;
  if constexpr (target >= 860)
    asm("max.NaN.xorsign.abs.f16x2 %0, %1, %2;" : "=r"(r) : "r"(a), "r"(b));
  else
    asm("max.NaN.f16x2 %0, %1, %2;" : "=r"(r) : "r"(a), "r"(b));
  return r;
}
/// The smaller and the larger of both halves, NaN wins.
EIDER_DEVICE uint32 minimum_bf16x2(uint32 a, uint32 b) {
  uint32 r;
  asm("min.NaN.bf16x2 %0, %1, %2;" : "=r"(r) : "r"(a), "r"(b));
  return r;
}
EIDER_DEVICE uint32 maximum_bf16x2(uint32 a, uint32 b) {
  uint32 r;
  asm("max.NaN.bf16x2 %0, %1, %2;" : "=r"(r) : "r"(a), "r"(b));
  return r;
}
EIDER_DEVICE uint32 minimum_f16x2(uint32 a, uint32 b) {
  uint32 r;
  asm("min.NaN.f16x2 %0, %1, %2;" : "=r"(r) : "r"(a), "r"(b));
  return r;
}
EIDER_DEVICE uint32 maximum_f16x2(uint32 a, uint32 b) {
  uint32 r;
  asm("max.NaN.f16x2 %0, %1, %2;" : "=r"(r) : "r"(a), "r"(b));
  return r;
}

/// Both f16, their magnitudes those of `most`, twice a positive f16, where they are larger. NaN has
/// no sign, here and in the result, as conversions give it.
EIDER_DEVICE uint32 clamp_f16x2(uint32 pair, uint32 most) {
  const uint32 magnitudes = pair & 0x7fff7fffu, signs = pair & 0x80008000u;
  uint32 r;
  if constexpr (target >= 860) {
    asm("min.NaN.xorsign.abs.f16x2 %0, %1, %2;" : "=r"(r) : "r"(pair), "r"(most));
  } else if constexpr (target >= 800) {
    asm("min.NaN.f16x2 %0, %1, %2;" : "=r"(r) : "r"(magnitudes), "r"(most));
    r |= signs;
  } else {
    const auto clamp = [](uint32 x, uint32 limit, uint32 infinity) {
      return x < limit || x > infinity ? x : limit;
    };
    r = signs | clamp(magnitudes & 0xffffu, most & 0xffffu, 0x7c00u) |
        clamp(magnitudes & 0xffff0000u, most & 0xffff0000u, 0x7c000000u);
  }
  return r;
}

/// To both halves of `sum`, which are 0 or NaN, 0 times both of `pair`: NaN for Inf and NaN.
EIDER_DEVICE uint32 add_zero_times_bf16x2(uint32 pair, uint32 sum) {
  uint32 r;
  asm("fma.rn.bf16x2 %0, %1, %2, %3;" : "=r"(r) : "r"(pair), "r"(0u), "r"(sum));
  return r;
}
EIDER_DEVICE uint32 add_zero_times_f16x2(uint32 pair, uint32 sum) {
  uint32 r;
  asm("fma.rn.f16x2 %0, %1, %2, %3;" : "=r"(r) : "r"(pair), "r"(0u), "r"(sum));
  return r;
}

/// Both bf16 times both bf16, nearest even, subnormals kept.
EIDER_DEVICE uint32 multiply_bf16x2(uint32 a, uint32 b) {
  if constexpr (target >= 800) {
    constexpr uint32 minus_zeros = 0x80008000u; // so that a product of -0 stays
    uint32 r;
    asm("fma.rn.bf16x2 %0, %1, %2, %3;" : "=r"(r) : "r"(a), "r"(b), "r"(minus_zeros));
    return r;
  } else {
    return bf16x2_from(as_float(a << 16) * as_float(b << 16),
                       as_float(a & 0xffff0000u) * as_float(b & 0xffff0000u));
  }
}

//===-- Products of matrices, by a warp -----------------------------------===//

// Lane 4 · g + t holds, of a 16 × 16 matrix a, two neighbours a word: row g's columns 2t and 2t + 8
// in a[0] and a[2], row g + 8's in a[1] and a[3]; of a 16 × 8 matrix b column g's rows 2t and
// 2t + 8 in b[0] and b[1]; of the 16 × 8 matrix c columns 2t and 2t + 1 of row g in c[0] and c[1],
// of row g + 8 in c[2] and c[3]. All 32 lanes of a warp call these together. Products are exact;
// how their sum is rounded to float is the processor's.

/// Four 8 × 8 matrices of 16-bit elements in shared memory, of which lane 8 · m + i says where row
/// i of matrix m begins, 16 aligned bytes: lane 4 · g + t has columns 2t and 2t + 1 of row g of
/// each.
EIDER_DEVICE void load_matrices(const void *row, uint32 *matrices, Site) {
  const auto at = static_cast<uint32>(__cvta_generic_to_shared(row));
  asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0, %1, %2, %3}, [%4];"
               : "=r"(matrices[0]), "=r"(matrices[1]), "=r"(matrices[2]), "=r"(matrices[3])
               : "r"(at)
               : "memory");
}
/// The same of their transposes.
EIDER_DEVICE void load_matrices_transposed(const void *row, uint32 *matrices, Site) {
  const auto at = static_cast<uint32>(__cvta_generic_to_shared(row));
  asm volatile("ldmatrix.sync.aligned.m8n8.x4.trans.shared.b16 {%0, %1, %2, %3}, [%4];"
               : "=r"(matrices[0]), "=r"(matrices[1]), "=r"(matrices[2]), "=r"(matrices[3])
               : "r"(at)
               : "memory");
}

/// c + a · b, of pairs of the 16-bit floats that `low` and `high` widen, by shuffles.
template <class Low, class High>
EIDER_DEVICE void multiply_add_by_shuffles(float *c, const uint32 *a, const uint32 *b, Low low,
                                           High high, Site at) {
  const int lane = thread_index() % 32, rows = lane / 4 * 4, columns = lane % 4 * 8;
  EIDER_UNROLL
  for (int word = 0; word < 8; ++word) { // of a row of a, of a column of b
    const int half = word / 4, t = word % 4;
    const uint32 pairs[2] = {shuffle(a[2 * half], rows + t, at),
                             shuffle(a[2 * half + 1], rows + t, at)};
    const uint32 others[2] = {shuffle(b[half], columns + t, at),
                              shuffle(b[half], columns + 4 + t, at)};
    EIDER_UNROLL
    for (int i = 0; i < 4; ++i)
      c[i] = fma(low(pairs[i / 2]), low(others[i % 2]),
                 fma(high(pairs[i / 2]), high(others[i % 2]), c[i]));
  }
}

#define EIDER_MULTIPLY_ADD(of)                                                                     \
  asm volatile("mma.sync.aligned." of " {%0,%1,%2,%3}, {%4,%5,%6,%7}, {%8,%9}, {%0,%1,%2,%3};"     \
               : "+f"(c[0]), "+f"(c[1]), "+f"(c[2]), "+f"(c[3])                                    \
               : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]))

/// c + a · b, of bf16.
EIDER_DEVICE void multiply_add_bf16(float *c, const uint32 *a, const uint32 *b, Site at) {
  if constexpr (target >= 800)
    EIDER_MULTIPLY_ADD("m16n8k16.row.col.f32.bf16.bf16.f32");
  else
    multiply_add_by_shuffles(
        c, a, b, [](uint32 pair) { return as_float(pair << 16); },
        [](uint32 pair) { return as_float(pair & 0xffff0000u); }, at);
}

/// c + a · b, of f16.
EIDER_DEVICE void multiply_add_f16(float *c, const uint32 *a, const uint32 *b, Site) {
  if constexpr (target >= 800) {
    EIDER_MULTIPLY_ADD("m16n8k16.row.col.f32.f16.f16.f32");
  } else {
    EIDER_UNROLL
    for (int half = 0; half < 2; ++half) // columns of a, rows of b
      asm volatile("mma.sync.aligned.m16n8k8.row.col.f32.f16.f16.f32 {%0, %1, %2, %3}, {%4, %5}, "
                   "{%6}, {%0, %1, %2, %3};"
                   : "+f"(c[0]), "+f"(c[1]), "+f"(c[2]), "+f"(c[3])
                   : "r"(a[2 * half]), "r"(a[2 * half + 1]), "r"(b[half]));
  }
}

/// c + a · b of codes A and B, four a word: a is 16 × 32, b 32 × 8. A lane has four neighbours
/// where of 16-bit floats it has two, and columns (of b rows) 4t + 16 … for 2t + 8 …
template <class A, class B>
EIDER_DEVICE void multiply_add_codes(float *c, const uint32 *a, const uint32 *b, Site) {
  if constexpr (same<A, e5m2> && same<B, e5m2>)
    EIDER_MULTIPLY_ADD("m16n8k32.row.col.f32.e5m2.e5m2.f32");
  else if constexpr (same<A, e5m2>)
    EIDER_MULTIPLY_ADD("m16n8k32.row.col.f32.e5m2.e4m3.f32");
  else if constexpr (same<B, e5m2>)
    EIDER_MULTIPLY_ADD("m16n8k32.row.col.f32.e4m3.e5m2.f32");
  else
    EIDER_MULTIPLY_ADD("m16n8k32.row.col.f32.e4m3.e4m3.f32");
}
#undef EIDER_MULTIPLY_ADD

} // namespace eider::arch

#include "eider/arch/nvidia_codes.h"
#include "eider/arch/nvidia_copies.h"
#include "eider/arch/nvidia_warpgroups.h"
#include "eider/arch/nvidia_words.h"

#endif // EIDER_ARCH_NVIDIA_H
