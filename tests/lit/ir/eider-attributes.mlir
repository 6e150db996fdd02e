// Every attribute and type of the eider dialect: what is printed reads back as the same.
//
// RUN: eider-opt %s > %t.once
// RUN: eider-opt %t.once > %t.twice
// RUN: diff %t.once %t.twice
// RUN: eider-opt %s --mlir-print-op-generic | eider-opt > %t.generic
// RUN: diff %t.once %t.generic
// RUN: FileCheck %s < %t.once

// CHECK-LABEL: eider.program @dims
// CHECK-SAME: test.constant = #eider.dims<7, 0, 5 / 3>
// CHECK-SAME: test.names = #eider.dims<tokens, 2 * hidden, hidden / 128, 2 * hidden / 6>
// CHECK-SAME: test.none = #eider.dims<>
// CHECK-SAME: test.plain = #eider.dims<x, y>
eider.program @dims() attributes {
  test.constant = #eider.dims<7, 0, 5 / 3>,
  test.names = #eider.dims<tokens, 2 * hidden, hidden / 128, 2 * hidden / 6>,
  test.none = #eider.dims<>,
  test.plain = #eider.dims<x / 1, 1 * y>} {
}

// Numerics print where they differ from the default, in one order.
// CHECK-LABEL: eider.program @numerics
// CHECK-SAME: test.all = #eider.numerics<scale = amax_times_inverse_max, arithmetic = max_over_amax, amax_floor = 1.0e-06, amax_bound = 1.2e+03, scale_floor = 4.359654e-06, multiplier_bound = 2.29376e+05, zero_block = formula, overflow = format, nan = ignore>
// CHECK-SAME: test.bounds = #eider.numerics<multiplier_bound = inf>
// CHECK-SAME: test.default = #eider.numerics<>
// CHECK-SAME: test.defaults_spelled = #eider.numerics<>
// CHECK-SAME: test.reciprocal = #eider.numerics<arithmetic = reciprocal>
// CHECK-SAME: test.text = #eider.numerics<amax_floor = 1.0e-04>
eider.program @numerics() attributes {
  test.all = #eider.numerics<nan = ignore, overflow = format, zero_block = formula, multiplier_bound = 229376.0, scale_floor = 4.359654e-06, amax_bound = 1200.0, amax_floor = 1.0e-6, arithmetic = max_over_amax, scale = amax_times_inverse_max>,
  test.bounds = #eider.numerics<amax_bound = inf, multiplier_bound = inf>,
  test.default = #eider.numerics<>,
  test.defaults_spelled = #eider.numerics<scale = amax_over_max, arithmetic = divide, amax_floor = 0.0, amax_bound = inf, scale_floor = 0.0, multiplier_bound = 3.40282347E+38, zero_block = one, overflow = saturate, nan = propagate>,
  test.reciprocal = #eider.numerics<arithmetic = reciprocal>,
  test.text = #eider.numerics<amax_floor = "1e-4">} {
}

// CHECK-LABEL: eider.program @schedules
// CHECK-SAME: test.cluster = #eider.schedule<row<threads = 256, vector = 8, cluster = 4>>
// CHECK-SAME: test.cooperative = #eider.schedule<map<threads = 256, vector = 8, loads = 1, resident = 4, cooperative = 1>>
// CHECK-SAME: test.map = #eider.schedule<map<threads = 256, vector = 16, loads = 2>>
// CHECK-SAME: test.ones = #eider.schedule<row<threads = 1, vector = 1>>
// CHECK-SAME: test.resident = #eider.schedule<row<threads = 256, vector = 8, tiles = 2, resident = 5>>
// CHECK-SAME: test.row = #eider.schedule<row<threads = 32, vector = 16, rows = 8>>
// CHECK-SAME: test.tile = #eider.schedule<tile<threads = 256, vector = 16, rows = 128, columns = 64>>
eider.program @schedules() attributes {
  test.cluster = #eider.schedule<row<cluster = 4, threads = 256, vector = 8>>,
  test.cooperative = #eider.schedule<map<cooperative = 1, resident = 4, loads = 1, threads = 256, vector = 8>>,
  test.map = #eider.schedule<map<loads = 2, threads = 256, vector = 16>>,
  test.ones = #eider.schedule<row<threads = 1, vector = 1, rows = 1, cluster = 1>>,
  test.row = #eider.schedule<row<threads = 32, vector = 16, rows = 8>>,
  test.resident = #eider.schedule<row<threads = 256, vector = 8, resident = 5, tiles = 2>>,
  test.tile = #eider.schedule<tile<threads = 256, vector = 16, columns = 64, rows = 128>>} {
}

// CHECK-LABEL: eider.program @enums
// CHECK-SAME: test.codecs = [#eider<codec hardware>, #eider<codec software>]
// CHECK-SAME: test.halves = [#eider<half first>, #eider<half second>]
// CHECK-SAME: test.reductions = [#eider<reduction sum>, #eider<reduction mean>, #eider<reduction max>, #eider<reduction min>, #eider<reduction amax>, #eider<reduction amax_number>]
eider.program @enums() attributes {
  test.codecs = [#eider<codec hardware>, #eider<codec software>],
  test.halves = [#eider<half first>, #eider<half second>],
  test.reductions = [#eider<reduction sum>, #eider<reduction mean>, #eider<reduction max>, #eider<reduction min>, #eider<reduction amax>, #eider<reduction amax_number>]} {
}

// CHECK-LABEL: eider.program @scaled
// CHECK-SAME: test.group = !eider.scaled<?x7168xf8E4M3FN, dims = <tokens, hidden>, block = [1, 128], scale = f32, layout = row_major>
// CHECK-SAME: test.row = !eider.scaled<4x?xf8E5M2, dims = <4, hidden>, block = [1, *], scale = f32, layout = row_major>
// CHECK-SAME: test.tensor = !eider.scaled<?xf8E4M3FN, dims = <n>, block = [*], scale = f32, layout = row_major>
eider.program @scaled() attributes {
  test.group = !eider.scaled<?x7168xf8E4M3FN, dims = <tokens, hidden>, block = [1, 128], scale = f32, layout = row_major>,
  test.row = !eider.scaled<4x?xf8E5M2, dims = <4, hidden>, block = [1, *], scale = f32, layout = row_major>,
  test.tensor = !eider.scaled<?xf8E4M3FN, dims = <n>, block = [*], scale = f32, layout = row_major>} {
}
