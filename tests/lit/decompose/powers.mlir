// Scales that are powers of two or narrower than f32: what is stored is what quantises.
//
// RUN: eider-opt %s -eider-decompose -canonicalize | FileCheck %s

!f = tensor<?x64xf32, #eider.dims<tokens, hidden>>
!e8m0 = !eider.scaled<?x64xf8E4M3FN, dims = <tokens, hidden>, block = [1, 32], scale = f8E8M0FNU, layout = row_major>
!bf16 = !eider.scaled<?x64xf8E4M3FN, dims = <tokens, hidden>, block = [1, 32], scale = bf16, layout = row_major>
!f16 = !eider.scaled<?x64xf8E4M3FN, dims = <tokens, hidden>, block = [1, 32], scale = f16, layout = row_major>
!f32 = !eider.scaled<?x64xf8E4M3FNUZ, dims = <tokens, hidden>, block = [1, 32], scale = f32, layout = row_major>

// rceil: amax / max rounded up; the values are multiplied with the exact inverse.
// CHECK-LABEL: eider.program @rceil
// CHECK: %[[RATIO:.*]] = arith.divf %{{.*}}, %{{.*}} {eider.name = "ratio"}
// CHECK: %[[POWER:.*]] = eider.power_of_two above %[[RATIO]]
// CHECK: arith.cmpf oeq, %[[RATIO]]
// CHECK: %[[SCALE:.*]] = arith.select %{{.*}}, %{{.*}}, %[[POWER]] {eider.name = "scale"}
// CHECK: %[[MULTIPLIER:.*]] = arith.divf %{{.*}}, %[[SCALE]] {eider.name = "multiplier"}
// CHECK: %[[SPREAD:.*]] = eider.broadcast %[[MULTIPLIER]]
// CHECK: %[[PRODUCT:.*]] = arith.mulf %{{.*}}, %[[SPREAD]]
// CHECK: arith.mulf %{{.*}}, %[[MULTIPLIER]]
// CHECK: eider.encode %[[PRODUCT]] within %{{.*}} {bounded} :
// CHECK: arith.truncf %[[SCALE]] : tensor<?x2xf32, {{.*}}> to tensor<?x2xf8E8M0FNU
eider.program @rceil(tokens, hidden = 64) {
  %x = eider.input "x" : !f
  %q = eider.quantize %x numerics<power_of_two = rceil> : !f -> !e8m0
  eider.output "y", %q : !e8m0
}

// floor: of amax, over the largest power of two that the format has.
// CHECK-LABEL: eider.program @floor
// CHECK: arith.constant 3.906250e-03
// CHECK: %[[RATIO:.*]] = arith.mulf %{{.*}} {eider.name = "ratio"}
// CHECK: eider.power_of_two below %[[RATIO]]
// CHECK: eider.encode %{{.*}} within
// CHECK-NOT: bounded
// CHECK: eider.output
eider.program @floor(tokens, hidden = 64) {
  %x = eider.input "x" : !f
  %q = eider.quantize %x numerics<power_of_two = floor> : !f -> !e8m0
  eider.output "y", %q : !e8m0
}

// even, of another format: half of its last digit is added before.
// CHECK-LABEL: eider.program @even
// CHECK-DAG: arith.constant 7.812500e-03
// CHECK-DAG: arith.constant 6.250000e-02
// CHECK: %[[BELOW:.*]] = eider.power_of_two below %[[RATIO:.*]] :
// CHECK: %[[DIGIT:.*]] = arith.mulf %[[BELOW]]
// CHECK: %[[SUM:.*]] = arith.addf %[[RATIO]], %[[DIGIT]]
// CHECK: eider.power_of_two below %[[SUM]]
// CHECK: eider.encode %{{.*}} within
// CHECK-NOT: bounded
// CHECK: eider.output
eider.program @even(tokens, hidden = 64) {
  %x = eider.input "x" : !f
  %q = eider.quantize %x numerics<power_of_two = even> : !f -> !f32
  eider.output "y", %q : !f32
}

// A narrow scale divides as it is stored, and is tested for 0 as it is stored; the amax tells where it bounds no quotients.
// CHECK-LABEL: eider.program @narrow
// CHECK: %[[ROUNDED:.*]] = arith.truncf %{{.*}} : tensor<?x2xf32, {{.*}}> to tensor<?x2xbf16
// CHECK: %[[WIDE:.*]] = arith.extf %[[ROUNDED]] {eider.name = "ratio"}
// CHECK: arith.cmpf oeq, %[[WIDE]]
// CHECK: %[[SCALE:.*]] = arith.select {{.*}} {eider.name = "scale"}
// CHECK: %[[SPREAD:.*]] = eider.broadcast %[[SCALE]]
// CHECK: eider.encode %{{.*}} by %[[SPREAD]] : tensor<{{.*}}> within %{{.*}} {bounded} :
eider.program @narrow(tokens, hidden = 64) {
  %x = eider.input "x" : !f
  %q = eider.quantize %x numerics<> : !f -> !bf16
  eider.output "y", %q : !bf16
}

// f16, whose least values are far apart, bounds too few.
// CHECK-LABEL: eider.program @half
// CHECK: eider.encode %{{.*}} by %{{.*}} within
// CHECK-NOT: bounded
// CHECK: eider.output
eider.program @half(tokens, hidden = 64) {
  %x = eider.input "x" : !f
  %q = eider.quantize %x numerics<> : !f -> !f16
  eider.output "y", %q : !f16
}

// A multiplier's bound that an inverse may reach is kept, but where values are divided.
// CHECK-LABEL: eider.program @bound
// CHECK: arith.minimumf {{.*}} {eider.name = "multiplier"}
// CHECK-LABEL: eider.program @divided
// CHECK-NOT: arith.minimumf
// CHECK: eider.output
eider.program @bound(tokens, hidden = 64) {
  %x = eider.input "x" : !f
  %q = eider.quantize %x numerics<power_of_two = rceil, arithmetic = reciprocal, multiplier_bound = 1.0> : !f -> !e8m0
  eider.output "y", %q : !e8m0
}
eider.program @divided(tokens, hidden = 64) {
  %x = eider.input "x" : !f
  %q = eider.quantize %x numerics<power_of_two = rceil, multiplier_bound = 1.0> : !f -> !e8m0
  eider.output "y", %q : !e8m0
}

// Given scales, and those of an input, are widened exactly.
// CHECK-LABEL: eider.program @given
// CHECK: %[[GIVEN:.*]] = eider.input "scale" : tensor<?x2xf8E8M0FNU
// CHECK: %[[WIDE:.*]] = arith.extf %[[GIVEN]]
// CHECK: arith.divf %{{.*}}, %[[WIDE]] {eider.name = "multiplier"}
eider.program @given(tokens, hidden = 64) {
  %x = eider.input "x" : !f
  %s = eider.input "scale" : tensor<?x2xf8E8M0FNU, #eider.dims<tokens, hidden / 32>>
  %q = eider.quantize %x by %s : tensor<?x2xf8E8M0FNU, #eider.dims<tokens, hidden / 32>> numerics<> : !f -> !e8m0
  eider.output "y", %q : !e8m0
}

// CHECK-LABEL: eider.program @dequantize
// CHECK: %[[SCALES:.*]] = eider.input "x_scale" : tensor<?x2xf8E8M0FNU
// CHECK: arith.extf %[[SCALES]] : {{.*}} to tensor<?x2xf32
eider.program @dequantize(tokens, hidden = 64) {
  %x = eider.input "x" : !e8m0
  %y = eider.dequantize %x : !e8m0 -> !f
  eider.output "y", %y : !f
}

// The multiplier first, 1 where amax is 0, Inf or NaN; the scale is its inverse.
// CHECK-LABEL: eider.program @inverse
// CHECK: %[[AMAX:.*]] = eider.reduce amax
// CHECK: %[[QUOTIENT:.*]] = arith.divf %{{.*}}, %[[AMAX]]
// CHECK: %[[BOUNDED:.*]] = arith.minimumf %[[QUOTIENT]]
// CHECK: %[[IS_ZERO:.*]] = arith.cmpf oeq, %[[AMAX]]
// CHECK: %[[SOME:.*]] = arith.select %[[IS_ZERO]], %{{.*}}, %[[BOUNDED]]
// CHECK: %[[IS_FINITE:.*]] = arith.cmpf ogt, %[[SOME]]
// CHECK: %[[MULTIPLIER:.*]] = arith.select %[[IS_FINITE]], %[[SOME]], %{{.*}} {eider.name = "multiplier"}
// CHECK: arith.divf %{{.*}}, %[[MULTIPLIER]] {eider.name = "scale"}
eider.program @inverse(tokens, hidden = 64) {
  %x = eider.input "x" : !f
  %q = eider.quantize %x numerics<scale = inverse_of_max_over_amax, arithmetic = max_over_amax, zero_block = one_if_not_finite> : !f -> !f32
  eider.output "y", %q : !f32
}
