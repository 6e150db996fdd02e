// The texts of attention over a cache, in pages or not: one kernel, whose last blocks combine what others leave; or one whose blocks
// leave parts, and one that combines them with what stands after it, or of few sequences. Rows of heads are rows of a matrix.
//
// RUN: eider emit attention_decode --dim h=64 --dim kv_heads=8 --dim d=128 --dim page=16 --dim scales=8 --arch sm_90 \
// RUN:   | FileCheck %s
// RUN: eider emit attention_decode --dim h=64 --dim kv_heads=8 --dim d=128 --dim page=16 --dim scales=8 --arch sm_90 \
// RUN:   | FileCheck %s --check-prefix=STRIDED
// RUN: eider emit attention_decode --dim h=64 --dim kv_heads=8 --dim d=128 --dim page=16 --dim scales=1 --set window=4096 --arch sm_90 \
// RUN:   | FileCheck %s --check-prefix=WINDOW
// RUN: eider emit attention_decode --dim h=64 --dim kv_heads=8 --dim d=128 --dim page=16 --dim scales=8 --set scale_axes=2 --arch sm_90 \
// RUN:   | FileCheck %s --check-prefix=TOKENS
// RUN: eider emit attention_decode --dim h=64 --dim kv_heads=8 --dim d=128 --dim page=16 --dim scales=8 --dim blocks=4 --set scale_axes=3 --arch sm_90 \
// RUN:   | FileCheck %s --check-prefix=BLOCKS
// RUN: eider emit attention_decode --dim h=64 --dim kv_heads=8 --dim d=128 --dim scales=8 --set scale_axes=2 --set contiguous=1 --arch sm_90 \
// RUN:   | FileCheck %s --check-prefix=CONTIGUOUS
// RUN: not eider emit attention_decode --dim h=64 --dim kv_heads=8 --dim d=128 --dim page=16 --dim scales=8 --dim blocks=8 --set scale_axes=3 --arch sm_90 2>&1 \
// RUN:   | FileCheck %s --check-prefix=SHORT-BLOCKS
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
// RUN: eider emit attention_decode --dim h=64 --dim kv_heads=8 --dim d=128 --dim page=16 --dim scales=8 --arch sm_90 \
// RUN:   --schedule "attention<threads = 128, vector = 1, blocks = 64, prefetch = 2>" | FileCheck %s --check-prefix=TWO
// RUN: eider explain attention_decode --dim h=64 --dim kv_heads=8 --dim d=128 --dim page=16 --dim scales=1 --arch sm_90 \
// RUN:   --schedule "map<threads = 64, vector = 2>" | FileCheck %s --check-prefix=GIVEN
// RUN: not eider emit attention_decode_quant --block 1x64 --dim h=64 --dim kv_heads=8 --dim d=128 --dim page=16 --dim scales=1 --arch sm_90 \
// RUN:   --schedule "attention<threads = 128, vector = 1, blocks = 64, prefetch = 2, combine = 1>" 2>&1 | FileCheck %s --check-prefix=ALONE
// RUN: eider explain attention_decode --dim h=64 --dim kv_heads=8 --dim d=128 --dim page=16 --dim scales=1 --arch sm_90 \
// RUN:   | FileCheck %s --check-prefix=EXPLAIN
// RUN: eider explain attention_decode_quant --block 1x64 --dim h=64 --dim kv_heads=8 --dim d=128 --dim page=16 --dim scales=1 --arch sm_90 \
// RUN:   | FileCheck %s --check-prefix=EXPLAIN-TWO

// CHECK:      #include "eider/attention/decode.cuh"
// CHECK:      contiguous, aligned · at most 4 rows
// CHECK:      void attention_decode_parts_rows_4(
// CHECK:      void attention_decode_rows_4(
// CHECK:      contiguous, aligned · at most 32 rows
// CHECK:      void attention_decode_rows_32(
// CHECK:      // writes o bf16 [b, h, d]
// CHECK:      void attention_decode(
// CHECK:          bf16 *o,
// CHECK-NEXT:     float *attention_parts, int64 *arrivals, int64 b, int64 max_pages) {
// CHECK:        using E4m3 = Codec<e4m3, hardware>;
// CHECK-NEXT:   using Parts = AttentionParts</*heads=*/64, /*kv_heads=*/8, /*head_dim=*/128, /*places=*/512>;
// CHECK-NEXT:   using Attend = AttentionDecode<Parts, /*page=*/16, /*warps=*/4, /*ahead=*/2>;
// CHECK-NEXT:   Attend::leave_part<E4m3, /*scales=*/8>(eider::combining(o, attention_parts, arrivals), q,
// CHECK-NEXT:       k_cache, k_scale, v_cache, v_scale, block_table, lengths, b, max_pages);
// CHECK-NEXT: }

// CONTIGUOUS:       // attention_decode: reads q bf16 [b, h, d], k_cache f8E4M3FN [b, max_tokens, kv_heads, d],
// CONTIGUOUS:       using Attend = AttentionDecode<Parts, /*page=*/0, /*warps=*/4, /*ahead=*/2, /*window=*/0,
// CONTIGUOUS-NEXT:      /*scale_axes=*/2>;
// CONTIGUOUS-NEXT:  const int64 sequence_pitch = max_tokens * 1024;
// CONTIGUOUS-NEXT:  const int64 scales_pitch = max_tokens * 8;
// CONTIGUOUS-NEXT:  Attend::leave_part<E4m3, /*scales=*/8>(eider::combining(o, attention_parts, arrivals), q,
// CONTIGUOUS-NEXT:      k_cache, k_scale, v_cache, v_scale, eider::no_pages(), lengths, b, 0, 8192, 128,
// CONTIGUOUS-NEXT:      sequence_pitch, 1024, 128, sequence_pitch, 1024, 128, scales_pitch, scales_pitch, 8, 8);

// TWO:        // writes attended f32 [parts, 1040]
// TWO:        void attention_decode_parts(
// TWO:          Attend::leave_part<E4m3, /*scales=*/8>(attended, q, k_cache, k_scale, v_cache, v_scale,
// TWO-NEXT:         block_table, lengths, b, max_pages);
// TWO:        void attention_decode(
// TWO-NEXT:       const float *attended, bf16 *o, int64 b) {
// TWO:          using Parts = AttentionParts</*heads=*/64, /*kv_heads=*/8, /*head_dim=*/128, /*places=*/64>;
// TWO:            const auto attention = Parts::combined(row, attended, b);
// TWO-NEXT:       row.store(o, eider::to<bf16>(attention));

// ALONE:      schedule attention<{{.*}}combine = 1>: the program does more with attention than to round it, which has a kernel of its own: leave combine out

// STRIDED:      void attention_decode_aligned(
// STRIDED:        Attend::leave_part<E4m3, /*scales=*/8, 16,
// STRIDED-NEXT:       /*is_apart=*/true>(
// STRIDED:      void attention_decode_strided(
// STRIDED:        Attend::leave_part<E4m3, /*scales=*/8, 1>(eider::combining(o, attention_parts, arrivals), q,
// STRIDED-NEXT:       k_cache, k_scale, v_cache, v_scale, block_table, lengths, b, block_table_stride, q_stride,
// STRIDED-NEXT:       q_stride_1, k_cache_stride,

// WINDOW:       using Attend = AttentionDecode<Parts, /*page=*/16, {{.*}}/*window=*/4096>;

// TOKENS:       using Attend = AttentionDecode<Parts, /*page=*/16, {{.*}}/*window=*/0,
// TOKENS-NEXT:      /*scale_axes=*/2>;
// TOKENS:       Attend::leave_part<E4m3, /*scales=*/8>(eider::combining(o, attention_parts, arrivals), q,
// TOKENS-NEXT:      k_cache, k_scale, v_cache, v_scale, block_table, lengths, b, max_pages);
// TOKENS:       void attention_decode_strided(
// TOKENS:           v_cache_stride_1, v_cache_stride_2, k_scale_stride, v_scale_stride, k_scale_stride_1,
// TOKENS-NEXT:      v_scale_stride_1);

// BLOCKS:       using Attend = AttentionDecode<Parts, /*page=*/16, {{.*}}/*window=*/0,
// BLOCKS-NEXT:      /*scale_axes=*/3, /*bytes=*/1, /*latent=*/0, /*shares=*/1, /*blocks=*/4>;
// BLOCKS:       Attend::leave_part<E4m3, /*scales=*/8>(eider::combining(o, attention_parts, arrivals), q,
// BLOCKS-NEXT:      k_cache, k_scale, v_cache, v_scale, block_table, lengths, b, max_pages);
// BLOCKS:       void attention_decode_strided(
// BLOCKS:           v_cache_stride_1, v_cache_stride_2, k_scale_stride, v_scale_stride, k_scale_stride_1,
// BLOCKS-NEXT:      v_scale_stride_1, k_scale_stride_2, v_scale_stride_2);

// SHORT-BLOCKS: has 8 scales in heads of 128 elements: give one to each block of a multiple of 32

// FLOATS-NOT:   Codec
// FLOATS:       void attention_decode(
// FLOATS:       using Attend = AttentionDecode<Parts, /*page=*/16, {{.*}}/*window=*/0,
// FLOATS-NEXT:      /*scale_axes=*/0, /*bytes=*/2>;
// FLOATS-NEXT:  Attend::leave_part<bf16, /*scales=*/0>(eider::combining(o, attention_parts, arrivals), q,
// FLOATS-NEXT:      k_cache, nullptr, v_cache, nullptr, block_table, lengths, b, max_pages);

// LATENTS:      void attention_decode(
// LATENTS-NEXT:     const bf16 *q, const e4m3 *kv_cache, const float *kv_scale, const int32 *block_table,
// LATENTS:        using Parts = AttentionParts</*heads=*/128, /*kv_heads=*/1, /*head_dim=*/512, /*places=*/{{[0-9]+}},
// LATENTS-NEXT:       /*tiles=*/8>;
// LATENTS-NEXT:   using Attend = AttentionDecode<Parts, /*page=*/64, /*warps=*/4, /*ahead=*/{{[0-9]}}, /*window=*/0,
// LATENTS-NEXT:       /*scale_axes=*/0, /*bytes=*/1, /*latent=*/576, /*shares=*/4>;
// LATENTS-NEXT:   Attend::leave_part<E4m3, /*scales=*/1>(eider::combining(o, attention_parts, arrivals), q,
// LATENTS-NEXT:       kv_cache, kv_scale, kv_cache, kv_scale, block_table, lengths, b, max_pages);

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

// EXPLAIN:      schedule  attention<{{.*}}combine = 1> (heuristic)
// EXPLAIN:      family    attention: attention over a cache
// EXPLAIN-NOT:  kernels   2

// GIVEN:        schedule  attention<threads = 128, vector = 1, blocks = 512, resident = 4, prefetch = 2> (heuristic)
// GIVEN:        schedule  map<threads = 64, vector = 2{{.*}}> (given)

// EXPLAIN-TWO:  family    attention: attention over a cache
// EXPLAIN-TWO:  kernels   2: attention leaves parts, which the next combines
