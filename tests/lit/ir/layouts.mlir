// Plain scales in a layout, read and written; and what has none.
// RUN: eider-opt %s --split-input-file --verify-diagnostics | FileCheck %s

// CHECK: eider.input "s" layout<swizzled_128x4> : tensor<?x?xf8E8M0FNU, #eider.dims<m, n / 32>>
// CHECK: eider.output "t" layout<packed_ue8m0>, %{{.*}} : tensor<?x?xf8E8M0FNU, #eider.dims<m, n / 32>>
eider.program @p(m, n) {
  %s = eider.input "s" layout<swizzled_128x4> : tensor<?x?xf8E8M0FNU, #eider.dims<m, n / 32>>
  eider.output "t" layout<packed_ue8m0>, %s : tensor<?x?xf8E8M0FNU, #eider.dims<m, n / 32>>
}

// -----

eider.program @p(m, n) {
  // expected-error @+1 {{a layout is one of scales, not of 'tensor<?x?xf8E5M2, #eider.dims<m, n>>'}}
  %s = eider.input "s" layout<mn_major_aligned> : tensor<?x?xf8E5M2, #eider.dims<m, n>>
}

// -----

eider.program @p(m, n) {
  // expected-error @+1 {{scale layout te_gemm_ready is one of 1x128, 128x128 and 128x1 blocks; take one of these, or row_major}}
  %s = eider.input "s" layout<te_gemm_ready> : tensor<?x?xf32, #eider.dims<m, n / 64>>
}

// -----

eider.program @p(m, n) {
  // expected-error @+1 {{no scale layout 'transposed'; they are row_major, mn_major_aligned}}
  %s = eider.input "s" layout<transposed> : tensor<?x?xf32, #eider.dims<m, n / 64>>
}
