// How a value meets its scale.
//
// RUN: eider-opt %s -eider-decompose -canonicalize | FileCheck %s

!f = tensor<?x256xf32, #eider.dims<tokens, hidden>>
!s = tensor<?x2xf32, #eider.dims<tokens, hidden / 128>>
!q = !eider.scaled<?x256xf8E4M3FN, dims = <tokens, hidden>, block = [1, 128], scale = f32, layout = row_major>

// x · (1 / s), 1 / s kept finite.
// CHECK-LABEL: eider.program @reciprocal
// CHECK: %[[X:.*]] = arith.negf %{{.*}}
// CHECK: %[[SCALE:.*]] = arith.select {{.*}} {eider.name = "scale"}
// CHECK: %[[INVERSE:.*]] = arith.divf %{{.*}}, %[[SCALE]]
// CHECK: %[[MULTIPLIER:.*]] = arith.minimumf %[[INVERSE]], %{{.*}} {eider.name = "multiplier"}
// CHECK-NEXT: %[[WIDE:.*]] = eider.broadcast %[[MULTIPLIER]]
// CHECK-NEXT: %[[PRODUCT:.*]] = arith.mulf %[[X]], %[[WIDE]]
// CHECK-NEXT: %[[MOST:.*]] = arith.mulf %{{.*}}, %[[MULTIPLIER]]
// CHECK-NEXT: %[[SPREAD:.*]] = eider.broadcast %[[MOST]]
// CHECK-NEXT: eider.encode %[[PRODUCT]] within %[[SPREAD]] : {{.*}} {bounded} : {{.*}} -> tensor<?x256xf8E4M3FN
eider.program @reciprocal(tokens, hidden = 256) {
  %in = eider.input "x" : !f
  %x = arith.negf %in : !f
  %q = eider.quantize %x numerics<arithmetic = reciprocal> : !f -> !q
  eider.output "y", %q : !q
}

// x · (1 / s), unbounded: no minimum.
// CHECK-LABEL: eider.program @reciprocal_unbounded
// CHECK: %[[MULTIPLIER:.*]] = arith.divf %{{.*}}, %{{.*}} {eider.name = "multiplier"}
// CHECK-NEXT: eider.broadcast %[[MULTIPLIER]]
// CHECK-NOT: arith.minimumf
// CHECK: eider.output
eider.program @reciprocal_unbounded(tokens, hidden = 256) {
  %x = eider.input "x" : !f
  %q = eider.quantize %x numerics<arithmetic = reciprocal, multiplier_bound = inf> : !f -> !q
  eider.output "y", %q : !q
}

// x · (max / amax); a zero block is multiplied by 1.
// CHECK-LABEL: eider.program @max_over_amax
// CHECK-DAG: %[[MAX:.*]] = arith.constant 4.480000e+02
// CHECK: %[[AMAX:.*]] = eider.reduce amax
// CHECK: %[[IS_ZERO:.*]] = arith.cmpf oeq, %{{.*}}, %{{.*}}
// CHECK: arith.select %[[IS_ZERO]], {{.*}} {eider.name = "scale"}
// CHECK: %[[QUOTIENT:.*]] = arith.divf %{{.*}}, %[[AMAX]]
// CHECK: %[[LEAST:.*]] = arith.minimumf %[[QUOTIENT]], %{{.*}}
// CHECK: %[[MULTIPLIER:.*]] = arith.select %[[IS_ZERO]], %{{.*}}, %[[LEAST]] {eider.name = "multiplier"}
// CHECK: arith.mulf
eider.program @max_over_amax(tokens, hidden = 256) {
  %x = eider.input "x" : !f
  %q = eider.quantize %x numerics<arithmetic = max_over_amax> : !f -> !q
  eider.output "y", %q : !q
}

// The floored amax is what the maximum is divided by.
// CHECK-LABEL: eider.program @max_over_floored_amax
// CHECK: %[[AMAX:.*]] = arith.maximumf
// CHECK: arith.divf %{{.*}}, %[[AMAX]] {eider.name = "multiplier"}
// CHECK-NOT: arith.select
// CHECK: eider.output
eider.program @max_over_floored_amax(tokens, hidden = 256) {
  %x = eider.input "x" : !f
  %q = eider.quantize %x numerics<arithmetic = max_over_amax, amax_floor = "1e-4", multiplier_bound = inf, zero_block = formula> : !f -> !q
  eider.output "y", %q : !q
}

// A given bound.
// CHECK-LABEL: eider.program @bounded
// CHECK: arith.constant 2.293760e+05
// CHECK: arith.minimumf %{{.*}}, %{{.*}} {eider.name = "multiplier"}
eider.program @bounded(tokens, hidden = 256) {
  %x = eider.input "x" : !f
  %q = eider.quantize %x numerics<arithmetic = max_over_amax, amax_floor = "1e-6", multiplier_bound = 229376.0, zero_block = formula> : !f -> !q
  eider.output "y", %q : !q
}

// A given scale: nothing is reduced, and the scale is no output.
// CHECK-LABEL: eider.program @given_scale
// CHECK: %[[S:.*]] = eider.input "scale"
// CHECK-NEXT: %[[WIDE:.*]] = eider.broadcast %[[S]]
// CHECK-NEXT: %[[CODES:.*]] = eider.encode %{{.*}} by %[[WIDE]]
// CHECK-NEXT: eider.output "y", %[[CODES]]
// CHECK-NEXT: }
eider.program @given_scale(tokens, hidden = 256) {
  %x = eider.input "x" : !f
  %s = eider.input "scale" : !s
  %q = eider.quantize %x by %s : !s numerics<> : !f -> !q
  eider.output "y", %q : !q
}

// CHECK-LABEL: eider.program @given_scale_reciprocal
// CHECK: %[[S:.*]] = eider.input "scale"
// CHECK: %[[INVERSE:.*]] = arith.divf %{{.*}}, %[[S]]
// CHECK: %[[MULTIPLIER:.*]] = arith.minimumf %[[INVERSE]], %{{.*}} {eider.name = "multiplier"}
// CHECK: eider.broadcast %[[MULTIPLIER]]
// CHECK: arith.mulf
// CHECK-NEXT: eider.encode %{{[0-9]+}} :
eider.program @given_scale_reciprocal(tokens, hidden = 256) {
  %x = eider.input "x" : !f
  %s = eider.input "scale" : !s
  %q = eider.quantize %x by %s : !s numerics<arithmetic = reciprocal> : !f -> !q
  eider.output "y", %q : !q
}
