// A row that begins anywhere, and has no registers for its elements as floats, is widened again after a reduction that is before loads of
// weights; not where registers are enough, where nothing is loaded after the reduction, and where rows are aligned.
//
// RUN: eider-opt %s -eider-lower-to-simt -canonicalize -cse -eider-widen-again | FileCheck %s
// RUN: eider-opt %s -eider-lower-to-simt -canonicalize -cse -eider-widen-again -eider-print-cuda -o /dev/null | FileCheck %s --check-prefix=TEXT

!s = tensor<?x1xf32, #eider.dims<m, 1>>
!x = tensor<?x8193xbf16, #eider.dims<m, n>>
!f = tensor<?x8193xf32, #eider.dims<m, n>>
!w = tensor<8193xbf16, #eider.dims<n>>
!v = tensor<8193xf32, #eider.dims<n>>

// CHECK-LABEL: simt.kernel @weights
// CHECK: %[[X:.*]] = simt.load elements
// CHECK: %[[WIDE:.*]] = arith.extf %[[X]]
// CHECK: simt.reduce sum %[[WIDE]]
// CHECK: %[[AGAIN:.*]] = simt.widen_again %[[X]]
// CHECK-NEXT: arith.mulf %[[AGAIN]]
// TEXT-LABEL: void weights(
// TEXT: const float sum = row.sum(eider::to<float>(x_row));
// TEXT: const auto w_row = row.load_columns(w);
// TEXT: eider::widen_again(x_row) * sum * eider::to<float>(w_row)
eider.program @weights(m, n = 8193) attributes {schedule = #eider.schedule<row<threads = 288, vector = 16, tiles = 3, resident = 4>>} {
  %x = eider.input "x" : !x
  %w = eider.input "w" : !w
  %wide = arith.extf %x : !x to !f
  %sum = eider.reduce sum %wide over [1, *] : !f -> !s
  %rows = eider.broadcast %sum : !s to !f
  %product = arith.mulf %wide, %rows : !f
  %weights = arith.extf %w : !w to !v
  %columns = eider.broadcast %weights : !v to !f
  %y = arith.mulf %product, %columns : !f
  eider.output "y", %y : !f
}

// CHECK-LABEL: simt.kernel @registers
// CHECK-NOT: simt.widen_again
eider.program @registers(m, n = 8193) attributes {schedule = #eider.schedule<row<threads = 288, vector = 16, tiles = 3, resident = 2>>} {
  %x = eider.input "x" : !x
  %w = eider.input "w" : !w
  %wide = arith.extf %x : !x to !f
  %sum = eider.reduce sum %wide over [1, *] : !f -> !s
  %rows = eider.broadcast %sum : !s to !f
  %product = arith.mulf %wide, %rows : !f
  %weights = arith.extf %w : !w to !v
  %columns = eider.broadcast %weights : !v to !f
  %y = arith.mulf %product, %columns : !f
  eider.output "y", %y : !f
}

// CHECK-LABEL: simt.kernel @none_loaded
// CHECK-NOT: simt.widen_again
eider.program @none_loaded(m, n = 8193) attributes {schedule = #eider.schedule<row<threads = 288, vector = 16, tiles = 3, resident = 4>>} {
  %x = eider.input "x" : !x
  %wide = arith.extf %x : !x to !f
  %sum = eider.reduce sum %wide over [1, *] : !f -> !s
  %rows = eider.broadcast %sum : !s to !f
  %product = arith.mulf %wide, %rows : !f
  eider.output "y", %product : !f
}

// CHECK-LABEL: simt.kernel @aligned
// CHECK-NOT: simt.widen_again
eider.program @aligned(m, n = 8192) attributes {schedule = #eider.schedule<row<threads = 256, vector = 16, tiles = 3, resident = 4>>} {
  %x = eider.input "x" : tensor<?x8192xbf16, #eider.dims<m, n>>
  %w = eider.input "w" : tensor<8192xbf16, #eider.dims<n>>
  %wide = arith.extf %x : tensor<?x8192xbf16, #eider.dims<m, n>> to tensor<?x8192xf32, #eider.dims<m, n>>
  %sum = eider.reduce sum %wide over [1, *] : tensor<?x8192xf32, #eider.dims<m, n>> -> !s
  %rows = eider.broadcast %sum : !s to tensor<?x8192xf32, #eider.dims<m, n>>
  %product = arith.mulf %wide, %rows : tensor<?x8192xf32, #eider.dims<m, n>>
  %weights = arith.extf %w : tensor<8192xbf16, #eider.dims<n>> to tensor<8192xf32, #eider.dims<n>>
  %columns = eider.broadcast %weights : tensor<8192xf32, #eider.dims<n>> to tensor<?x8192xf32, #eider.dims<m, n>>
  %y = arith.mulf %product, %columns : tensor<?x8192xf32, #eider.dims<m, n>>
  eider.output "y", %y : tensor<?x8192xf32, #eider.dims<m, n>>
}
