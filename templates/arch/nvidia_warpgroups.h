//===- eider/arch/nvidia_warpgroups.h - Products of warpgroups --*- C++ -*-===//
//
// Part of Eider, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//
#ifndef EIDER_ARCH_NVIDIA_WARPGROUPS_H
#define EIDER_ARCH_NVIDIA_WARPGROUPS_H

namespace eider::arch {

// Four warps have 64 rows of a and c, 16 each, as lanes have those of a warp's products; b is in
// shared memory. A product goes on while the threads do other things: from its begin until it is
// awaited its c and b are no one's to touch. All 128 threads call these together.

#if (defined(__CUDA_ARCH_SPECIFIC__) && __CUDA_ARCH_SPECIFIC__ == 900) ||                          \
    defined(__CUDA_ARCH_FEAT_SM90_ALL)
#define EIDER_HAS_WARPGROUPS 1
#endif

/// Whether the target has them; nvcc's host pass runs none.
#if defined(EIDER_HAS_WARPGROUPS) || !defined(__CUDA_ARCH__)
inline constexpr bool has_warpgroups = true;
#else
inline constexpr bool has_warpgroups = false;
#endif

/// Rows of `panel` bytes (128, 64, 32) in shared memory whose 16-byte chunks are swizzled by row,
/// and panels of more columns `apart` bytes from each other. The first lies on 1024 bytes.
template <int panel> class Swizzled {
  static constexpr uint64 mode = panel == 128 ? 1 : panel == 64 ? 2 : 3;

public:
  uint64 descriptor;
  EIDER_DEVICE Swizzled(const void *base, int apart)
      : descriptor(static_cast<uint64>(opaque(
                       static_cast<int>(__cvta_generic_to_shared(base)) >> 4 | apart >> 4 << 16)) |
                   static_cast<uint64>(8 * panel >> 4) << 32 | mode << 62) {}
  /// What begins so many bytes further on, as if nothing were swizzled.
  EIDER_DEVICE Swizzled moved(int bytes) const {
    Swizzled other = *this;
    other.descriptor += static_cast<uint64>(bytes >> 4);
    return other;
  }
};

/// Keeps what reads c, or gives it another value, after this; waits for nothing.
template <int count> EIDER_DEVICE void hold(float (&c)[count][4]) {
  EIDER_UNROLL
  for (int i = 0; i < 4 * count; ++i)
    asm volatile("" : "+f"(c[i / 4][i % 4])::"memory");
}
/// Before the first product of c.
template <int count> EIDER_DEVICE void open_products(float (&c)[count][4]) {
#ifdef EIDER_HAS_WARPGROUPS
  hold(c);
  asm volatile("wgmma.fence.sync.aligned;" ::: "memory");
#endif
}
/// What has begun since the last such call is one group.
EIDER_DEVICE void close_products() {
#ifdef EIDER_HAS_WARPGROUPS
  asm volatile("wgmma.commit_group.sync.aligned;" ::: "memory");
#endif
}
/// Waits until no more than the last `pending` groups go on; c is none of theirs.
template <int pending, int count> EIDER_DEVICE void await_products(float (&c)[count][4]) {
#ifdef EIDER_HAS_WARPGROUPS
  asm volatile("wgmma.wait_group.sync.aligned %0;" ::"n"(pending) : "memory");
  hold(c);
#endif
}
/// The same where no c is read after it.
template <int pending> EIDER_DEVICE void await_products() {
#ifdef EIDER_HAS_WARPGROUPS
  asm volatile("wgmma.wait_group.sync.aligned %0;" ::"n"(pending) : "memory");
#endif
}

#define EIDER_4_OF_C(i) "+f"(c[i][0]), "+f"(c[i][1]), "+f"(c[i][2]), "+f"(c[i][3])
#define EIDER_16_OF_C(i)                                                                           \
  EIDER_4_OF_C(i), EIDER_4_OF_C(i + 1), EIDER_4_OF_C(i + 2), EIDER_4_OF_C(i + 3)
#define EIDER_32_OF_C(i) EIDER_16_OF_C(i), EIDER_16_OF_C(i + 4)
#define EIDER_16_NAMES "%0, %1, %2, %3, %4, %5, %6, %7, %8, %9, %10, %11, %12, %13, %14, %15"
#define EIDER_32_NAMES                                                                             \
  EIDER_16_NAMES ", %16, %17, %18, %19, %20, %21, %22, %23, %24, %25, %26, %27, %28, %29, %30, "   \
                 "%31"
#define EIDER_64_NAMES                                                                             \
  EIDER_32_NAMES                                                                                   \
  ", %32, %33, %34, %35, %36, %37, %38, %39, %40, %41, %42, %43, %44, %45, %46, "                  \
  "%47, %48, %49, %50, %51, %52, %53, %54, %55, %56, %57, %58, %59, %60, %61, %62, "               \
  "%63"

/// Of codes of a type, by an a in registers.
#define EIDER_PRODUCT_OF(type)                                                                     \
  asm volatile("{ .reg .pred adds; setp.ne.u32 adds, %37, 0; "                                     \
               "wgmma.mma_async.sync.aligned.m64n64k32.f32." type "." type " {" EIDER_32_NAMES     \
               "}, {%32, %33, %34, %35}, %36, adds, 1, 1; }"                                       \
               : EIDER_32_OF_C(0)                                                                  \
               : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "l"(b.descriptor),                    \
                 "r"(static_cast<uint32>(adds)))

/// Begins c (+) a · bᵀ of 64 × 32 and 64 × 32 codes, a as `load_matrices` loads 16 bytes of a row;
/// c is not read unless it `adds`.
template <class Code, int panel>
EIDER_DEVICE void begin_product(float (&c)[8][4], const uint32 *a, const Swizzled<panel> &b,
                                bool adds, Site) {
#ifdef EIDER_HAS_WARPGROUPS
  if constexpr (same<Code, e5m2>)
    EIDER_PRODUCT_OF("e5m2");
  else
    EIDER_PRODUCT_OF("e4m3");
#endif
}

/// The same of 64 and `8 · count` rows where a is in shared memory, too; the codes of both are of
/// types of their own.
#define EIDER_PRODUCT_OF_CODES(types, n, c, a_, b_, adds_, ...)                                    \
  asm volatile("{ .reg .pred adds; setp.ne.u32 adds, " adds_                                       \
               ", 0; wgmma.mma_async.sync.aligned.m64n" #n "k32.f32." types " {" c "}, " a_        \
               ", " b_ ", adds, 1, 1; }"                                                           \
               : __VA_ARGS__                                                                       \
               : "l"(a.descriptor), "l"(b.descriptor), "r"(static_cast<uint32>(adds)))
#define EIDER_PRODUCT_OF_COUNT(types)                                                              \
  if constexpr (count == 8)                                                                        \
    EIDER_PRODUCT_OF_CODES(types, 64, EIDER_32_NAMES, "%32", "%33", "%34", EIDER_32_OF_C(0));      \
  else if constexpr (count == 4)                                                                   \
    EIDER_PRODUCT_OF_CODES(types, 32, EIDER_16_NAMES, "%16", "%17", "%18", EIDER_16_OF_C(0));      \
  else if constexpr (count == 2)                                                                   \
    EIDER_PRODUCT_OF_CODES(types, 16, "%0, %1, %2, %3, %4, %5, %6, %7", "%8", "%9", "%10",         \
                           EIDER_4_OF_C(0), EIDER_4_OF_C(1));                                      \
  else                                                                                             \
    EIDER_PRODUCT_OF_CODES(types, 8, "%0, %1, %2, %3", "%4", "%5", "%6", EIDER_4_OF_C(0))
template <class A, class B = A, int count, int panel>
EIDER_DEVICE void begin_product(float (&c)[count][4], const Swizzled<panel> &a,
                                const Swizzled<panel> &b, bool adds, Site) {
  static_assert(count == 1 || count == 2 || count == 4 || count == 8, "8, 16, 32 or 64 rows of b");
#ifdef EIDER_HAS_WARPGROUPS
  if constexpr (same<A, e5m2> && same<B, e5m2>) {
    EIDER_PRODUCT_OF_COUNT("e5m2.e5m2");
  } else if constexpr (same<A, e5m2>) {
    EIDER_PRODUCT_OF_COUNT("e5m2.e4m3");
  } else if constexpr (same<B, e5m2>) {
    EIDER_PRODUCT_OF_COUNT("e4m3.e5m2");
  } else {
    EIDER_PRODUCT_OF_COUNT("e4m3.e4m3");
  }
#endif
}

/// Begins c + a · b of 64 × 16 and 16 × `columns` f16.
template <int columns, int panel>
EIDER_DEVICE void begin_product_f16(float (*c)[4], const uint32 *a, const Swizzled<panel> &b,
                                    Site) {
#ifdef EIDER_HAS_WARPGROUPS
  if constexpr (columns == 128)
    asm volatile("wgmma.mma_async.sync.aligned.m64n128k16.f32.f16.f16 {" EIDER_64_NAMES
                 "}, {%64, %65, %66, %67}, %68, 1, 1, 1, 1;"
                 : EIDER_32_OF_C(0), EIDER_32_OF_C(8)
                 : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "l"(b.descriptor));
  else if constexpr (columns == 64)
    asm volatile("wgmma.mma_async.sync.aligned.m64n64k16.f32.f16.f16 {" EIDER_32_NAMES
                 "}, {%32, %33, %34, %35}, %36, 1, 1, 1, 1;"
                 : EIDER_32_OF_C(0)
                 : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "l"(b.descriptor));
  else
    asm volatile("wgmma.mma_async.sync.aligned.m64n32k16.f32.f16.f16 {" EIDER_16_NAMES
                 "}, {%16, %17, %18, %19}, %20, 1, 1, 1, 1;"
                 : EIDER_16_OF_C(0)
                 : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "l"(b.descriptor));
#endif
}

/// Begins c (+) a · bᵀ of 64 × 16 and `rows` × 16 bf16 or f16, a as `load_matrices` loads 32 bytes
/// of a row; c is not read unless it `adds`.
#define EIDER_PRODUCT_OF_HALVES(type, n, c, a, b, adds, ...)                                       \
  asm volatile("{ .reg .pred adds; setp.ne.u32 adds, " adds                                        \
               ", 0; wgmma.mma_async.sync.aligned.m64n" #n "k16.f32." type "." type " {" c         \
               "}, {" a "}, " b ", adds, 1, 1, 0; }"                                               \
               : __VA_ARGS__                                                                       \
               : "r"(a_[0]), "r"(a_[1]), "r"(a_[2]), "r"(a_[3]), "l"(b_.descriptor),               \
                 "r"(static_cast<uint32>(adds_)))
#define EIDER_PRODUCT_OF_ROWS(type)                                                                \
  if constexpr (count == 8)                                                                        \
    EIDER_PRODUCT_OF_HALVES(type, 64, EIDER_32_NAMES, "%32, %33, %34, %35", "%36", "%37",          \
                            EIDER_32_OF_C(0));                                                     \
  else if constexpr (count == 4)                                                                   \
    EIDER_PRODUCT_OF_HALVES(type, 32, EIDER_16_NAMES, "%16, %17, %18, %19", "%20", "%21",          \
                            EIDER_16_OF_C(0));                                                     \
  else if constexpr (count == 2)                                                                   \
    EIDER_PRODUCT_OF_HALVES(type, 16, "%0, %1, %2, %3, %4, %5, %6, %7", "%8, %9, %10, %11", "%12", \
                            "%13", EIDER_4_OF_C(0), EIDER_4_OF_C(1));                              \
  else                                                                                             \
    EIDER_PRODUCT_OF_HALVES(type, 8, "%0, %1, %2, %3", "%4, %5, %6, %7", "%8", "%9",               \
                            EIDER_4_OF_C(0))
template <class Half, int count, int panel>
EIDER_DEVICE void begin_product_of_halves(float (&c)[count][4], const uint32 *a_,
                                          const Swizzled<panel> &b_, bool adds_, Site) {
  static_assert(count == 1 || count == 2 || count == 4 || count == 8, "8, 16, 32 or 64 rows of b");
#ifdef EIDER_HAS_WARPGROUPS
  if constexpr (same<Half, bf16>) {
    EIDER_PRODUCT_OF_ROWS("bf16");
  } else {
    EIDER_PRODUCT_OF_ROWS("f16");
  }
#endif
}

#undef EIDER_PRODUCT_OF_CODES
#undef EIDER_PRODUCT_OF_COUNT
#undef EIDER_PRODUCT_OF_HALVES
#undef EIDER_PRODUCT_OF_ROWS
#undef EIDER_PRODUCT_OF
#undef EIDER_4_OF_C
#undef EIDER_16_OF_C
#undef EIDER_32_OF_C
#undef EIDER_16_NAMES
#undef EIDER_32_NAMES
#undef EIDER_64_NAMES

/// Where the warps of a block meet again and again, and each says that it has come before it waits
/// for the others.
template <class Owner> class Meeting {
  uint32 parity_ = 0;
  static EIDER_DEVICE uint32 count() {
    return static_cast<uint32>(__cvta_generic_to_shared(shared<Meeting, uint64, 1>()));
  }

public:
  /// By all threads, before a barrier of the block.
  EIDER_DEVICE Meeting(int warps, Site) {
    if (threadIdx.x == 0)
      asm volatile("mbarrier.init.shared::cta.b64 [%0], %1;" ::"r"(count()), "r"(warps) : "memory");
  }
  /// After a barrier that follows the last wait: another may begin.
  EIDER_DEVICE void end() {
    if (threadIdx.x == 0)
      asm volatile("mbarrier.inval.shared::cta.b64 [%0];" ::"r"(count()) : "memory");
  }
  /// Says that the warp has come.
  EIDER_DEVICE void arrive(Site) {
    __syncwarp();
    if (threadIdx.x % 32 == 0)
      asm volatile(
          "{ .reg .b64 state; mbarrier.arrive.shared::cta.b64 state, [%0]; }" ::"r"(count())
          : "memory");
  }
  /// Waits until all have come as often as this one has; what they wrote before is there.
  EIDER_DEVICE void wait(Site) {
    await_phase(count(), parity_);
    parity_ ^= 1;
  }
};

//===-- Sums of a cluster ---------------------------------------------------===//

/// Waits for all threads of the cluster; what they wrote to shared memory before is visible after.
EIDER_DEVICE void cluster_barrier(Site) {
  asm volatile("barrier.cluster.arrive.release.aligned;\n\tbarrier.cluster.wait.acquire.aligned;" ::
                   : "memory");
}

/// Has a sum computed here, where it could be put off until after what comes next: a store to
/// shared memory that depends on it, of a NaN that no sum is (theirs are all alike), so that there
/// is none.
EIDER_DEVICE void compute_first(float sum, void *shared) {
  asm volatile("{ .reg .pred p; setp.eq.u32 p, %0, 0xffc0dead; @p st.shared.u32 [%1], %0; }" ::"r"(
                   __float_as_uint(sum)),
               "r"(static_cast<uint32>(__cvta_generic_to_shared(shared)))
               : "memory");
}

/// Waits for all threads of the cluster, which hand nothing over: no memory is ordered. What a
/// thread has loaded of others before must have come (compute_first).
EIDER_DEVICE void cluster_meeting(Site) {
  asm volatile("barrier.cluster.arrive.relaxed.aligned;\n\tbarrier.cluster.wait.aligned;" ::
                   : "memory");
}

/// What block number `rank` of the cluster has where this one has `slot`, and so many after it, in
/// shared memory: 1, 2 or 4, aligned as a whole.
template <int count>
EIDER_DEVICE void load_of_block(const float *slot, int rank, float (&values)[count], Site) {
  static_assert(count == 1 || count == 2 || count == 4, "one load");
  uint32 there;
  asm volatile("mapa.shared::cluster.u32 %0, %1, %2;"
               : "=r"(there)
               : "r"(static_cast<uint32>(__cvta_generic_to_shared(slot))), "r"(rank));
  if constexpr (count == 4)
    asm volatile("ld.shared::cluster.v4.f32 {%0, %1, %2, %3}, [%4];"
                 : "=f"(values[0]), "=f"(values[1]), "=f"(values[2]), "=f"(values[3])
                 : "r"(there)
                 : "memory");
  else if constexpr (count == 2)
    asm volatile("ld.shared::cluster.v2.f32 {%0, %1}, [%2];"
                 : "=f"(values[0]), "=f"(values[1])
                 : "r"(there)
                 : "memory");
  else
    asm volatile("ld.shared::cluster.f32 %0, [%1];" : "=f"(values[0]) : "r"(there) : "memory");
}

/// Floats that the blocks of a cluster send into each other's shared memory; one for each `Owner`.
/// All threads of the cluster call its functions in their order, `send` as often as there is
/// something to send.
template <class Owner> class Delivery {
  static EIDER_DEVICE uint32 counter() {
    return static_cast<uint32>(__cvta_generic_to_shared(shared<Delivery, uint64, 1>()));
  }

public:
  /// Says that bytes may come to this block; returns at once. Relaxed, so that no store is waited
  /// for: what the threads have read where bytes come, they read before a barrier of the block, so
  /// that there is no second half as of an Exchange.
  static EIDER_DEVICE void begin(Site) {
    if (threadIdx.x == 0)
      asm volatile("mbarrier.init.shared::cta.b64 [%0], 1;\n\t"
                   "fence.mbarrier_init.release.cluster;" ::"r"(counter())
                   : "memory");
    __syncwarp();
    asm volatile("barrier.cluster.arrive.relaxed.aligned;" ::: "memory");
  }

  /// Waits until all blocks of the cluster have said so; `bytes` will come to this one. After a
  /// barrier of the block that followed the beginning.
  static EIDER_DEVICE void open(int bytes, Site) {
    __syncwarp();
    asm volatile("barrier.cluster.wait.acquire.aligned;" ::: "memory");
    if (threadIdx.x == 0)
      asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;" ::"r"(counter()),
                   "r"(bytes)
                   : "memory");
  }

  /// Sends 1, 2 or 4 values, aligned as a whole, to where block number `rank` of the cluster has
  /// what this one has at `slot`.
  template <int count>
  static EIDER_DEVICE void send(float *slot, int rank, const float (&values)[count], Site) {
    send_counted(slot, counter(), rank, values);
  }

  /// Waits until all bytes have come, and are there to read.
  static EIDER_DEVICE void wait(Site) { await_counted(counter(), /*parity=*/0); }

  /// After a barrier of the block that follows: another may begin.
  static EIDER_DEVICE void end() {
    if (threadIdx.x == 0)
      asm volatile("mbarrier.inval.shared::cta.b64 [%0];" ::"r"(counter()) : "memory");
  }
};

} // namespace eider::arch

#endif // EIDER_ARCH_NVIDIA_WARPGROUPS_H
