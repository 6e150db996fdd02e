// A mean is a sum over the number of elements.
//
// RUN: eider-opt %s -eider-decompose -canonicalize | FileCheck %s

// CHECK-LABEL: eider.program @row
// CHECK: %[[COUNT:.*]] = arith.constant 1.000000e+02
// CHECK: %[[SUM:.*]] = eider.reduce sum %{{.*}} over [1, *]
// CHECK: %[[COUNTS:.*]] = eider.broadcast %[[COUNT]] : f32 to tensor<?x1xf32
// CHECK: %[[MEAN:.*]] = arith.divf %[[SUM]], %[[COUNTS]] {eider.name = "mean"}
// CHECK: eider.output "y", %[[MEAN]]
eider.program @row(m, n = 100) {
  %in = eider.input "x" : tensor<?x100xf32, #eider.dims<m, n>>
  %x = arith.negf %in : tensor<?x100xf32, #eider.dims<m, n>>
  %y = eider.reduce mean %x over [1, *] : tensor<?x100xf32, #eider.dims<m, n>> -> tensor<?x1xf32, #eider.dims<m, 1>>
  eider.output "y", %y : tensor<?x1xf32, #eider.dims<m, 1>>
}

// A name of its own stays.
// CHECK-LABEL: eider.program @named
// CHECK: arith.divf %{{.*}}, %{{.*}} {eider.name = "mean_square"}
eider.program @named(m, n = 100) {
  %x = eider.input "x" : tensor<?x100xf32, #eider.dims<m, n>>
  %y = eider.reduce mean %x over [1, *] {eider.name = "mean_square"} : tensor<?x100xf32, #eider.dims<m, n>> -> tensor<?x1xf32, #eider.dims<m, 1>>
  eider.output "y", %y : tensor<?x1xf32, #eider.dims<m, 1>>
}

// CHECK-LABEL: eider.program @blocks
// CHECK: arith.constant 2.048000e+03
// CHECK: eider.reduce sum %{{.*}} over [32, 64]
eider.program @blocks(m = 96, n = 128) {
  %x = eider.input "x" : tensor<96x128xf32, #eider.dims<m, n>>
  %y = eider.reduce mean %x over [32, 64] : tensor<96x128xf32, #eider.dims<m, n>> -> tensor<3x2xf32, #eider.dims<m / 32, n / 64>>
  eider.output "y", %y : tensor<3x2xf32, #eider.dims<m / 32, n / 64>>
}
