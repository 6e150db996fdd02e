// The scale of each numerics, spelled out in the order in which it is computed.
//
// RUN: eider-opt %s -eider-decompose -canonicalize | FileCheck %s

!f = tensor<?x256xf32, #eider.dims<tokens, hidden>>
!e4m3 = !eider.scaled<?x256xf8E4M3FN, dims = <tokens, hidden>, block = [1, 128], scale = f32, layout = row_major>
!e5m2 = !eider.scaled<?x256xf8E5M2, dims = <tokens, hidden>, block = [1, 128], scale = f32, layout = row_major>

// The default: amax / 448, and 1 where that is 0; the codes are those of the quotient.
// CHECK-LABEL: eider.program @default
// CHECK-DAG: %[[ONE:.*]] = arith.constant 1.0
// CHECK-DAG: %[[ZERO:.*]] = arith.constant 0.0
// CHECK-DAG: %[[MAX:.*]] = arith.constant 4.480000e+02
// CHECK: %[[X:.*]] = arith.negf %{{.*}}
// CHECK-NEXT: %[[AMAX:.*]] = eider.reduce amax %[[X]] over [1, 128] {eider.name = "amax"} : {{.*}} -> tensor<?x2xf32, #eider.dims<tokens, hidden / 128>>
// CHECK-NEXT: %[[MAXS:.*]] = eider.broadcast %[[MAX]] : f32 to tensor<?x2xf32
// CHECK-NEXT: %[[RATIO:.*]] = arith.divf %[[AMAX]], %[[MAXS]] {eider.name = "ratio"}
// CHECK-NEXT: %[[ONES:.*]] = eider.broadcast %[[ONE]]
// CHECK-NEXT: %[[ZEROS:.*]] = eider.broadcast %[[ZERO]]
// CHECK-NEXT: %[[IS_ZERO:.*]] = arith.cmpf oeq, %[[RATIO]], %[[ZEROS]]
// CHECK-NEXT: %[[SCALE:.*]] = arith.select %[[IS_ZERO]], %[[ONES]], %[[RATIO]] {eider.name = "scale"}
// CHECK-NEXT: %[[DIVISOR:.*]] = eider.broadcast %[[SCALE]] : {{.*}} to tensor<?x256xf32, #eider.dims<tokens, hidden>>
// CHECK-NEXT: %[[CODES:.*]] = eider.encode %[[X]] by %[[DIVISOR]] : {{.*}} -> tensor<?x256xf8E4M3FN, #eider.dims<tokens, hidden>>
// CHECK-NEXT: eider.output "y", %[[CODES]] : tensor<?x256xf8E4M3FN
// CHECK-NEXT: eider.output "y_scale", %[[SCALE]] : tensor<?x2xf32, #eider.dims<tokens, hidden / 128>>
// CHECK-NEXT: }
eider.program @default(tokens, hidden = 256) {
  %in = eider.input "x" : !f
  %x = arith.negf %in : !f
  %q = eider.quantize %x numerics<> : !f -> !e4m3
  eider.output "y", %q : !e4m3
}

// CHECK-LABEL: eider.program @e5m2
// CHECK: arith.constant 5.734400e+04
// CHECK: eider.encode {{.*}} -> tensor<?x256xf8E5M2
eider.program @e5m2(tokens, hidden = 256) {
  %x = eider.input "x" : !f
  %q = eider.quantize %x numerics<> : !f -> !e5m2
  eider.output "y", %q : !e5m2
}

// amax_floor, then amax_bound, before the division; scale_floor after it.
// CHECK-LABEL: eider.program @floors
// CHECK-DAG: %[[FLOOR:.*]] = arith.constant 9.99999974E-5
// CHECK-DAG: %[[BOUND:.*]] = arith.constant 1.200000e+03
// CHECK-DAG: %[[LEAST:.*]] = arith.constant 4.35965421E-6
// CHECK: %[[AMAX:.*]] = eider.reduce amax
// CHECK-NEXT: %[[FLOORS:.*]] = eider.broadcast %[[FLOOR]]
// CHECK-NEXT: %[[RAISED:.*]] = arith.maximumf %[[AMAX]], %[[FLOORS]]
// CHECK-NEXT: %[[BOUNDS:.*]] = eider.broadcast %[[BOUND]]
// CHECK-NEXT: %[[BOUNDED:.*]] = arith.minimumf %[[RAISED]], %[[BOUNDS]]
// CHECK: %[[RATIO:.*]] = arith.divf %[[BOUNDED]], %{{.*}}
// CHECK-NEXT: %[[LEASTS:.*]] = eider.broadcast %[[LEAST]]
// CHECK-NEXT: %[[SCALE:.*]] = arith.maximumf %[[RATIO]], %[[LEASTS]] {eider.name = "scale"}
// CHECK-NOT: arith.cmpf
// CHECK: eider.output "y_scale", %[[SCALE]]
eider.program @floors(tokens, hidden = 256) {
  %x = eider.input "x" : !f
  %q = eider.quantize %x numerics<amax_floor = "1e-4", amax_bound = 1200.0, scale_floor = 4.35965421E-6, zero_block = formula> : !f -> !e4m3
  eider.output "y", %q : !e4m3
}

// zero_block = formula: whatever the formula gives.
// CHECK-LABEL: eider.program @formula
// CHECK: %[[SCALE:.*]] = arith.divf %{{.*}}, %{{.*}} {eider.name = "scale"}
// CHECK-NOT: arith.select
// CHECK: eider.output "y_scale", %[[SCALE]]
eider.program @formula(tokens, hidden = 256) {
  %x = eider.input "x" : !f
  %q = eider.quantize %x numerics<zero_block = formula> : !f -> !e4m3
  eider.output "y", %q : !e4m3
}

// amax · (1 / max): 1 / 448 is one f32 constant.
// CHECK-LABEL: eider.program @inverse_max
// CHECK: %[[INVERSE:.*]] = arith.constant 0.00223214296
// CHECK: %[[INVERSES:.*]] = eider.broadcast %[[INVERSE]]
// CHECK: arith.mulf %{{.*}}, %[[INVERSES]] {eider.name = "ratio"}
eider.program @inverse_max(tokens, hidden = 256) {
  %x = eider.input "x" : !f
  %q = eider.quantize %x numerics<scale = amax_times_inverse_max> : !f -> !e4m3
  eider.output "y", %q : !e4m3
}

// A NaN that is ignored: by the amax and by the codes.
// CHECK-LABEL: eider.program @nan_ignored
// CHECK: eider.reduce amax_number
// CHECK: eider.encode {{.*}} {{{.*}}ignore_nan}
eider.program @nan_ignored(tokens, hidden = 256) {
  %x = eider.input "x" : !f
  %q = eider.quantize %x numerics<nan = ignore> : !f -> !e4m3
  eider.output "y", %q : !e4m3
}

// CHECK-LABEL: eider.program @overflow
// CHECK: eider.encode {{.*}} {{{.*}}overflow_to_format}
eider.program @overflow(tokens, hidden = 256) {
  %x = eider.input "x" : !f
  %q = eider.quantize %x numerics<overflow = format> : !f -> !e4m3
  eider.output "y", %q : !e4m3
}
