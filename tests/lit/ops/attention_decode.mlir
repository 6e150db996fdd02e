// The texts of attention over a paged cache: one kernel whose blocks leave parts, and one that combines them with what
// stands after it. Rows of heads are rows of a matrix.
//
// RUN: eider emit attention_decode --dim h=64 --dim kv_heads=8 --dim d=128 --dim page=16 --dim scales=8 --arch sm_90 \
// RUN:   | FileCheck %s
// RUN: eider emit attention_decode --dim h=64 --dim kv_heads=8 --dim d=128 --dim page=16 --dim scales=8 --arch sm_90 \
// RUN:   | FileCheck %s --check-prefix=STRIDED
// RUN: eider emit attention_decode --dim h=64 --dim kv_heads=8 --dim d=128 --dim page=16 --dim scales=1 --set window=4096 --arch sm_90 \
// RUN:   | FileCheck %s --check-prefix=WINDOW
// RUN: eider emit attention_decode --dim h=64 --dim kv_heads=8 --dim d=128 --dim page=16 --dim scales=8 --set scale_axes=2 --arch sm_90 \
// RUN:   | FileCheck %s --check-prefix=TOKENS
// RUN: eider emit attention_decode --format bf16 --dim h=64 --dim kv_heads=8 --dim d=128 --dim page=16 --arch sm_90 \
// RUN:   | FileCheck %s --check-prefix=FLOATS
// RUN: eider emit attention_decode --set value_columns=512 --dim h=128 --dim kv_heads=1 --dim d=576 --dim page=64 --dim scales=1 --arch sm_90 \
// RUN:   | FileCheck %s --check-prefix=LATENTS
// RUN: eider emit attention_decode --set value_columns=512 --dim h=128 --dim kv_heads=1 --dim d=576 --dim page=64 --dim scales=1 --arch sm_90 \
// RUN:   --stage eider | FileCheck %s --check-prefix=LATENT-IR
// RUN: eider emit attention_decode_quant --block 1x64 --dim h=64 --dim kv_heads=8 --dim d=128 --dim page=16 --dim scales=1 --arch sm_90 \
// RUN:   | FileCheck %s --check-prefix=QUANT
// RUN: not eider emit attention_decode_quant --block 1x128 --dim h=64 --dim kv_heads=8 --dim d=192 --dim page=16 --dim scales=1 --arch sm_90 2>&1 \
// RUN:   | FileCheck %s --check-prefix=ACROSS
// RUN: eider explain attention_decode --dim h=64 --dim kv_heads=8 --dim d=128 --dim page=16 --dim scales=1 --arch sm_90 \
// RUN:   | FileCheck %s --check-prefix=EXPLAIN

// CHECK:      #include "eider/attention/decode.cuh"
// CHECK:      #include "eider/attention/parts.cuh"
// CHECK:      contiguous, aligned · at most 32 rows
// CHECK:      void attention_decode_parts_rows_32(
// CHECK:      void attention_decode_rows_32(
// CHECK:      // writes attended f32 [parts, 1040]
// CHECK:      void attention_decode_parts(
// CHECK:        using E4m3 = Codec<e4m3, hardware>;
// CHECK-NEXT:   using Parts = AttentionParts</*heads=*/64, /*kv_heads=*/8, /*head_dim=*/128, /*places=*/[[PLACES:[0-9]+]]>;
// CHECK-NEXT:   using Attend = AttentionDecode<Parts, /*page=*/16, /*warps=*/4, /*ahead=*/{{[0-9]}}>;
// CHECK-NEXT:   Attend::leave_part<E4m3, /*scales=*/8>(attended, q, k_cache, k_scale, v_cache, v_scale,
// CHECK-NEXT:       block_table, lengths, b, max_pages);
// CHECK:      void attention_decode(
// CHECK-NEXT:     const float *attended, bf16 *o, int64 b) {
// CHECK:        using Parts = AttentionParts</*heads=*/64, /*kv_heads=*/8, /*head_dim=*/128, /*places=*/[[PLACES]]>;
// CHECK:          const auto attention = Parts::combined(row, attended, b);
// CHECK-NEXT:     row.store(o, eider::to<bf16>(attention));

// STRIDED:      void attention_decode_parts_strided(
// STRIDED:        Attend::leave_part<E4m3, /*scales=*/8, 1>(attended, q, k_cache, k_scale, v_cache,
// STRIDED:            b, block_table_stride, q_stride, q_stride_1, k_cache_stride,

// WINDOW:       using Attend = AttentionDecode<Parts, /*page=*/16, {{.*}}/*window=*/4096>;

// TOKENS:       using Attend = AttentionDecode<Parts, /*page=*/16, {{.*}}/*window=*/0,
// TOKENS-NEXT:      /*scale_axes=*/2>;
// TOKENS:       Attend::leave_part<E4m3, /*scales=*/8>(attended, q, k_cache, k_scale, v_cache, v_scale,
// TOKENS-NEXT:      block_table, lengths, b, max_pages);
// TOKENS:       void attention_decode_parts_strided(
// TOKENS:           k_scale_stride, v_scale_stride, k_scale_stride_1, v_scale_stride_1);

// FLOATS-NOT:   Codec
// FLOATS:       using Attend = AttentionDecode<Parts, /*page=*/16, {{.*}}/*window=*/0,
// FLOATS-NEXT:      /*scale_axes=*/0, /*bytes=*/2>;
// FLOATS-NEXT:  Attend::leave_part<bf16, /*scales=*/0>(attended, q, k_cache, nullptr, v_cache, nullptr,

// LATENTS:      writes attended f32 [parts, 8224]
// LATENTS:      void attention_decode_parts(
// LATENTS-NEXT:     const bf16 *q, const e4m3 *kv_cache, const float *kv_scale, const int32 *block_table,
// LATENTS:        using Parts = AttentionParts</*heads=*/128, /*kv_heads=*/1, /*head_dim=*/512, /*places=*/{{[0-9]+}},
// LATENTS-NEXT:       /*tiles=*/8>;
// LATENTS-NEXT:   using Attend = AttentionDecode<Parts, /*page=*/64, /*warps=*/4, /*ahead=*/{{[0-9]}}, /*window=*/0,
// LATENTS-NEXT:       /*scale_axes=*/0, /*bytes=*/1, /*latent=*/576, /*shares=*/4>;
// LATENTS-NEXT:   Attend::leave_part<E4m3, /*scales=*/1>(attended, q, kv_cache, kv_scale, kv_cache, kv_scale,
// LATENTS:          row.store(o, eider::to<bf16>(attention));

// LATENT-IR:    %[[CACHE:.*]] = eider.input "kv_cache" : tensor<?x64x1x576xf8E4M3FN,
// LATENT-IR:    %[[SCALE:.*]] = eider.input "kv_scale"
// LATENT-IR:    eider.attention %{{.*}}, %[[CACHE]] by %[[SCALE]], %[[CACHE]] by %[[SCALE]] pages
// LATENT-IR-SAME: -> tensor<?x128x512xf32, #eider.dims<b, h, 512>>

// QUANT:        void attention_decode_quant(
// QUANT-NEXT:       const float *attended, e4m3 *y, float *y_scale, int64 b) {
// QUANT:            const auto attention = Parts::combined(row, attended, b);
// QUANT-NEXT:       const auto amax = row.amax_of_groups<64>(attention);
// QUANT:            row.store(y, E4m3::encode_bounded_quotient(attention, scale));
// QUANT-NEXT:       row.store_groups<64>(y_scale, scale);

// ACROSS:       reduces blocks of 1x128 in rows of 64x192

// EXPLAIN:      family    attention: attention over a cache
// EXPLAIN:      kernels   2: attention leaves parts, which the next combines
