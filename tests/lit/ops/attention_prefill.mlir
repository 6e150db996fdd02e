// The texts of attention of a sequence over itself: one kernel where nothing stands after it but rounding, else two.
//
// RUN: eider emit attention_prefill --dim h=32 --dim kv_heads=8 --dim d=128 --dim scales=8 --set causal=1 --arch sm_90 | FileCheck %s
// RUN: eider emit attention_prefill --dim h=32 --dim kv_heads=8 --dim d=128 --set scaled=0 --arch sm_80 | FileCheck %s --check-prefix=PLAIN
// RUN: eider emit attention_prefill --dim h=1 --dim kv_heads=1 --dim d=512 --dim scales=1 --arch sm_90 | FileCheck %s --check-prefix=LONG
// RUN: eider explain attention_prefill --dim h=32 --dim kv_heads=8 --dim d=128 --dim scales=8 --arch sm_90 | FileCheck %s --check-prefix=EXPLAIN
// RUN: eider emit attention_prefill --dim h=4 --dim kv_heads=2 --dim d=64 --dim scales=1 --set varlen=1 --set causal=1 --arch sm_80 | FileCheck %s --check-prefix=PACKED
// RUN: eider emit attention_prefill --dim h=4 --dim kv_heads=2 --dim d=64 --dim scales=1 --set varlen=1 --arch sm_90a --stage simt | FileCheck %s --check-prefix=SIMT
// RUN: eider emit attention_prefill --dim h=4 --dim kv_heads=2 --dim d=64 --dim scales=1 --set float_queries=1 --dtype f16 --arch sm_90a | FileCheck %s --check-prefix=FLOATS
// RUN: eider emit attention_prefill --dim h=4 --dim kv_heads=2 --dim d=128 --dim scales=1 --arch sm_89 | FileCheck %s --check-prefix=CODES
// RUN: eider emit attention_prefill --dim h=16 --dim kv_heads=1 --dim d=576 --dim scales=1 --set value_columns=512 --arch sm_90a | FileCheck %s --check-prefix=LATENTS
// RUN: eider emit attention_prefill --dim h=16 --dim kv_heads=16 --dim d=192 --dim scales=1 --set value_dim=128 --set float_queries=1 --arch sm_80 | FileCheck %s --check-prefix=APART
// RUN: eider-opt %s -eider-partition | FileCheck %s --check-prefix=CUT

// CHECK:      #include "eider/attention/prefill.cuh"
// CHECK:      void attention_prefill(
// CHECK:        using Attend = AttentionPrefill</*heads=*/32, /*kv_heads=*/8, /*head_dim=*/128, /*rows=*/128,
// CHECK-NEXT:       /*keys=*/64, /*warps=*/4, /*split=*/1, /*causal=*/true>;
// CHECK-NEXT:   Attend::write_rows<E4m3, /*scales=*/8>(o, q, q_scale, k, k_scale, v, v_scale, s);
// CHECK:      void attention_prefill_strided(
// CHECK:        Attend::write_rows<E4m3, /*scales=*/8, 1>(o, q, q_scale, k, k_scale, v, v_scale, s, q_stride,

// PLAIN:        using E4m3 = Codec<e4m3, software>;
// PLAIN:        Attend::write_rows<E4m3, /*scales=*/0>(o, q, nullptr, k, nullptr, v, nullptr, s);

// LONG:         prefetch = 1>
// LONG:         /*head_dim=*/512, /*rows=*/64,
// LONG-NEXT:        /*keys=*/32, /*warps=*/8, /*split=*/2, /*causal=*/false>;

// EXPLAIN:      family    attention: attention of a sequence over itself

// PACKED:        void attention_prefill(
// PACKED:            const int32 *cu_seqlens, bf16 *o, int64 s, int64 starts) {
// PACKED:          Attend::write_rows<E4m3, /*scales=*/1>(o, q, q_scale, k, k_scale, v, v_scale,
// PACKED-NEXT:         eider::packed(cu_seqlens, starts, s));

// SIMT: simt.kernel @attention_prefill{{.*}} grid = "min(1, max(0, min(s, starts - 1))) * ((s) / 192 + starts - 1) * 4"
// SIMT: simt.attend_rows {{.*}} of %{{.*}} starts %{{.*}} : !simt.pointer<i32>, %{{.*}} to

// FLOATS:     void attention_prefill(
// FLOATS-NEXT:     const f16 *q, const e4m3 *k, const e4m3 *v, const float *k_scale, const float *v_scale, f16 *o,
// FLOATS:       using Attend = AttentionPrefill<
// FLOATS:       Attend::write_rows<E4m3, /*scales=*/1>(o, q, nullptr, k, k_scale, v, v_scale, s);

// CODES:         codes = 1>
// CODES:         using Attend = AttentionPrefill</*heads=*/4, /*kv_heads=*/2, /*head_dim=*/128, /*rows=*/128,
// CODES-NEXT:        /*keys=*/{{[0-9]+}}, /*warps=*/4, /*split=*/1, /*causal=*/false, /*ahead=*/true,
// CODES-NEXT:        /*meets_codes=*/true>;

// LATENTS:       const e4m3 *q, const e4m3 *kv, const float *q_scale, const float *kv_scale, bf16 *o, int64 s) {
// LATENTS:       using Attend = AttentionPrefill</*heads=*/16, /*kv_heads=*/1, /*head_dim=*/576, /*rows=*/64,
// LATENTS:           /*meets_codes=*/false, /*value_dim=*/512, /*latent=*/true>;
// LATENTS-NEXT:  Attend::write_rows<E4m3, /*scales=*/1>(o, q, q_scale, kv, kv_scale, kv, kv_scale, s);

// APART:         const bf16 *q, const e4m3 *k, const e4m3 *v,
// APART:         /*value_dim=*/128>;

// CUT:      eider.program @prog_attention(
// CUT:        eider.prefill causal
// CUT-NEXT:   eider.output "attended" workspace
// CUT:      eider.program @prog(
// CUT-NOT:    eider.prefill

module {
  eider.program @prog(s, h = 4, d = 64, kv_heads = 2, scales = 1) {
    %q = eider.input "q" : tensor<?x4x64xf8E4M3FN, #eider.dims<s, h, d>>
    %k = eider.input "k" : tensor<?x2x64xf8E4M3FN, #eider.dims<s, kv_heads, d>>
    %v = eider.input "v" : tensor<?x2x64xf8E4M3FN, #eider.dims<s, kv_heads, d>>
    %1 = eider.input "scale" : tensor<1xf32, #eider.dims<scales>>
    %o = eider.prefill causal %q, %k, %v by %1, %1, %1 : (tensor<?x4x64xf8E4M3FN, #eider.dims<s, h, d>>, tensor<?x2x64xf8E4M3FN, #eider.dims<s, kv_heads, d>>, tensor<?x2x64xf8E4M3FN, #eider.dims<s, kv_heads, d>>, tensor<1xf32, #eider.dims<scales>>, tensor<1xf32, #eider.dims<scales>>, tensor<1xf32, #eider.dims<scales>>) -> tensor<?x4x64xf32, #eider.dims<s, h, d>>
    %n = arith.negf %o : tensor<?x4x64xf32, #eider.dims<s, h, d>>
    eider.output "o", %n : tensor<?x4x64xf32, #eider.dims<s, h, d>>
  }
}
