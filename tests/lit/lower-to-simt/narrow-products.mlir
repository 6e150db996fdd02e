// The largest of 16-bit values times one float is reduced as they were loaded; not where the products are for somebody else, where each
// has a factor of its own, where the smallest is asked, of floats, of neighbours in a row.
//
// RUN: eider-opt %s -split-input-file -eider-assign-schedule='schedule="row<threads = 32, vector = 8>"' -eider-lower-to-simt | FileCheck %s

!s = tensor<?x1xf32, #eider.dims<m, 1>>
!x = tensor<?x256xbf16, #eider.dims<m, n>>
!f = tensor<?x256xf32, #eider.dims<m, n>>

// CHECK-LABEL: simt.kernel @scaled
// CHECK: %[[X:.*]] = simt.load elements
// CHECK: simt.reduce max %[[X]] times %{{.*}} : f32 at
eider.program @scaled(m, n = 256) {
  %x = eider.input "x" : !x
  %scale = eider.scalar "scale" = 1.0
  %wide = arith.extf %x : !x to !f
  %many = eider.broadcast %scale : f32 to !f
  %product = arith.mulf %many, %wide : !f
  %max = eider.reduce max %product over [1, *] : !f -> !s
  eider.output "y", %max : !s
}

// -----

!s = tensor<?x1xf32, #eider.dims<m, 1>>
!x = tensor<?x256xbf16, #eider.dims<m, n>>
!f = tensor<?x256xf32, #eider.dims<m, n>>

// CHECK-LABEL: simt.kernel @for_others
// CHECK: %[[PRODUCT:.*]] = arith.mulf
// CHECK: simt.reduce max %[[PRODUCT]] at
eider.program @for_others(m, n = 256) {
  %x = eider.input "x" : !x
  %scale = eider.scalar "scale" = 1.0
  %wide = arith.extf %x : !x to !f
  %many = eider.broadcast %scale : f32 to !f
  %product = arith.mulf %wide, %many : !f
  %max = eider.reduce max %product over [1, *] : !f -> !s
  %rows = eider.broadcast %max : !s to !f
  %y = arith.subf %product, %rows : !f
  eider.output "y", %y : !f
}

// -----

!s = tensor<?x1xf32, #eider.dims<m, 1>>
!x = tensor<?x256xbf16, #eider.dims<m, n>>
!f = tensor<?x256xf32, #eider.dims<m, n>>

// CHECK-LABEL: simt.kernel @own_factors
// CHECK: %[[PRODUCT:.*]] = arith.mulf
// CHECK: simt.reduce max %[[PRODUCT]] at
eider.program @own_factors(m, n = 256) {
  %x = eider.input "x" : !x
  %wide = arith.extf %x : !x to !f
  %product = arith.mulf %wide, %wide : !f
  %max = eider.reduce max %product over [1, *] : !f -> !s
  eider.output "y", %max : !s
}

// -----

!s = tensor<?x1xf32, #eider.dims<m, 1>>
!x = tensor<?x256xbf16, #eider.dims<m, n>>
!f = tensor<?x256xf32, #eider.dims<m, n>>

// CHECK-LABEL: simt.kernel @smallest
// CHECK: %[[PRODUCT:.*]] = arith.mulf
// CHECK: simt.reduce min %[[PRODUCT]] at
eider.program @smallest(m, n = 256) {
  %x = eider.input "x" : !x
  %scale = eider.scalar "scale" = 1.0
  %wide = arith.extf %x : !x to !f
  %many = eider.broadcast %scale : f32 to !f
  %product = arith.mulf %wide, %many : !f
  %min = eider.reduce min %product over [1, *] : !f -> !s
  eider.output "y", %min : !s
}

// -----

!s = tensor<?x1xf32, #eider.dims<m, 1>>
!f = tensor<?x256xf32, #eider.dims<m, n>>

// CHECK-LABEL: simt.kernel @floats
// CHECK: %[[PRODUCT:.*]] = arith.mulf
// CHECK: simt.reduce max %[[PRODUCT]] at
eider.program @floats(m, n = 256) {
  %x = eider.input "x" : !f
  %scale = eider.scalar "scale" = 1.0
  %many = eider.broadcast %scale : f32 to !f
  %product = arith.mulf %x, %many : !f
  %max = eider.reduce max %product over [1, *] : !f -> !s
  eider.output "y", %max : !s
}

// -----

!s = tensor<?x1xf32, #eider.dims<m, 1>>
!g = tensor<?x2xf32, #eider.dims<m, n / 128>>
!x = tensor<?x256xbf16, #eider.dims<m, n>>
!f = tensor<?x256xf32, #eider.dims<m, n>>

// CHECK-LABEL: simt.kernel @neighbours
// CHECK: %[[PRODUCT:.*]] = arith.mulf
// CHECK: simt.reduce max %[[PRODUCT]] at %{{.*}} {group = 128
eider.program @neighbours(m, n = 256) {
  %x = eider.input "x" : !x
  %scale = eider.scalar "scale" = 1.0
  %wide = arith.extf %x : !x to !f
  %many = eider.broadcast %scale : f32 to !f
  %product = arith.mulf %wide, %many : !f
  %sum = eider.reduce sum %wide over [1, *] : !f -> !s
  eider.output "sum", %sum : !s
  %max = eider.reduce max %product over [1, 128] : !f -> !g
  eider.output "y", %max : !g
}
