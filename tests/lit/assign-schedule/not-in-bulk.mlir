// Programs that are like norms which are stored in bulk, but cannot be: they have other schedules, and no error.
//
// RUN: eider emit %s --arch sm_90a | FileCheck %s
// RUN: eider emit rms_norm_quant --block "*x*" --dim hidden=1024 --arch sm_90a | FileCheck %s --check-prefix=STAYS
// RUN: not eider emit rms_norm_quant --block "*x*" --copy f32 --dim hidden=8192 --arch sm_90a --schedule "row<threads = 256, vector = 8, resident = 4, cooperative = 1, bulk = 1>" 2>&1 | FileCheck %s --check-prefix=MEET

// CHECK: extern "C"
// CHECK-NOT: bulk
// STAYS: blocks = {{[0-9]+}}, resident = 8, prefetch = 1>
// MEET: each block of a cooperative kernel holds one tile, and all meet: leave tiles, blocks, prefetch, cluster, bulk and combine out
eider.program @p(tokens, hidden = 8192) {
  %x = eider.input "x" : tensor<?x8192xbf16, #eider.dims<tokens, hidden>>
  %z = eider.input "z" : tensor<?x8192xbf16, #eider.dims<tokens, hidden>>
  %w = eider.input "w" : tensor<8192xbf16, #eider.dims<hidden>>
  %xw = arith.extf %x : tensor<?x8192xbf16, #eider.dims<tokens, hidden>> to tensor<?x8192xf32, #eider.dims<tokens, hidden>>
  %zw = arith.extf %z : tensor<?x8192xbf16, #eider.dims<tokens, hidden>> to tensor<?x8192xf32, #eider.dims<tokens, hidden>>
  %sz = arith.addf %xw, %zw : tensor<?x8192xf32, #eider.dims<tokens, hidden>>
  %sq = arith.mulf %sz, %sz : tensor<?x8192xf32, #eider.dims<tokens, hidden>>
  %r = eider.reduce mean %sq over [1, *] : tensor<?x8192xf32, #eider.dims<tokens, hidden>> -> tensor<?x1xf32, #eider.dims<tokens, 1>>
  %b = eider.broadcast %r : tensor<?x1xf32, #eider.dims<tokens, 1>> to tensor<?x8192xf32, #eider.dims<tokens, hidden>>
  %n0 = arith.mulf %sz, %b : tensor<?x8192xf32, #eider.dims<tokens, hidden>>
  %ww = arith.extf %w : tensor<8192xbf16, #eider.dims<hidden>> to tensor<8192xf32, #eider.dims<hidden>>
  %wb = eider.broadcast %ww : tensor<8192xf32, #eider.dims<hidden>> to tensor<?x8192xf32, #eider.dims<tokens, hidden>>
  %n1 = arith.mulf %n0, %wb : tensor<?x8192xf32, #eider.dims<tokens, hidden>>
  %o0 = eider.encode %n1 : tensor<?x8192xf32, #eider.dims<tokens, hidden>> -> tensor<?x8192xf8E4M3FN, #eider.dims<tokens, hidden>>
  eider.output "y0", %o0 : tensor<?x8192xf8E4M3FN, #eider.dims<tokens, hidden>>
}
