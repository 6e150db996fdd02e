// What the attributes and the scaled type refuse.
//
// RUN: eider-opt %s -split-input-file -verify-diagnostics

// expected-error @+1 {{a dim's divisor is at least 1}}
eider.program @p() attributes {test.a = #eider.dims<n / 0>} {}

// -----

// expected-error @+1 {{a dim's factors are not negative}}
eider.program @p() attributes {test.a = #eider.dims<n / -2>} {}

// -----

// expected-error @+1 {{expected valid keyword}}
eider.program @p() attributes {test.a = #eider.dims<2 * 3>} {}

// -----

// expected-error @+1 {{no numerics parameter 'floor'; they are scale, power_of_two, arithmetic, amax_floor, amax_bound, scale_floor, multiplier_bound, zero_block, overflow, nan}}
eider.program @p() attributes {test.a = #eider.numerics<floor = 1.0>} {}

// -----

// expected-error @+1 {{numerics parameter 'nan' cannot be 'drop'}}
eider.program @p() attributes {test.a = #eider.numerics<nan = drop>} {}

// -----

// expected-error @+1 {{numerics parameter 'arithmetic' cannot be '1.5e+00'}}
eider.program @p() attributes {test.a = #eider.numerics<arithmetic = 1.5>} {}

// -----

// expected-error @+1 {{numerics parameter 'amax_floor' cannot be '-1.0e+00'}}
eider.program @p() attributes {test.a = #eider.numerics<amax_floor = -1.0>} {}

// -----

// expected-error @+1 {{numerics parameter 'amax_floor' cannot be 'nan'}}
eider.program @p() attributes {test.a = #eider.numerics<amax_floor = "nan">} {}

// -----

// expected-error @+1 {{numerics parameter 'scale_floor' cannot be 'tiny'}}
eider.program @p() attributes {test.a = #eider.numerics<scale_floor = tiny>} {}

// -----

// expected-error @+1 {{no schedule family 'column'; they are map, row, tile, contract}}
eider.program @p() attributes {test.a = #eider.schedule<column<threads = 32, vector = 1>>} {}

// -----

// expected-error @+1 {{no schedule knob 'warps'; they are threads, vector, rows, loads, lanes, columns, split, tiles, blocks, resident, prefetch, cluster, cooperative, combine, hoist, streaming, bulk, warpgroups, mma, codes, f16, software}}
eider.program @p() attributes {test.a = #eider.schedule<row<threads = 32, vector = 1, warps = 4>>} {}

// -----

// expected-error @+1 {{schedule knob 'threads' is out of range: 0}}
eider.program @p() attributes {test.a = #eider.schedule<row<threads = 0, vector = 1>>} {}

// -----

// expected-error @+1 {{schedule knob 'columns' is out of range: 1048577}}
eider.program @p() attributes {test.a = #eider.schedule<tile<threads = 32, vector = 1, columns = 1048577>>} {}

// -----

// expected-error @+1 {{a schedule needs threads and vector}}
eider.program @p() attributes {test.a = #eider.schedule<row<threads = 32>>} {}

// -----

// expected-error @+1 {{a schedule needs threads and vector}}
eider.program @p() attributes {test.a = #eider.schedule<row<>>} {}

// -----

// expected-error @+1 {{no scale layout 'swizzled'; they are row_major, mn_major_aligned, packed_ue8m0, swizzled_128x4, te_gemm_ready}}
eider.program @p() attributes {test.a = !eider.scaled<4xf8E5M2, dims = <4>, block = [1], scale = f32, layout = swizzled>} {}

// -----

// expected-error @+1 {{a scaled tensor holds codes (e4m3, e5m2, e4m3fnuz, e5m2fnuz, e2m1), not 'f32'}}
eider.program @p() attributes {test.a = !eider.scaled<4xf32, dims = <4>, block = [1], scale = f32, layout = row_major>} {}

// -----

// expected-error @+1 {{a scaled tensor holds codes (e4m3, e5m2, e4m3fnuz, e5m2fnuz, e2m1), not 'f8E4M3B11FNUZ'}}
eider.program @p() attributes {test.a = !eider.scaled<4xf8E4M3B11FNUZ, dims = <4>, block = [1], scale = f32, layout = row_major>} {}

// -----

// expected-error @+1 {{scales are f32, bf16, f16, e4m3, e8m0, not 'f8E5M2'}}
eider.program @p() attributes {test.a = !eider.scaled<4xf8E5M2, dims = <4>, block = [1], scale = f8E5M2, layout = row_major>} {}

// -----

// expected-error @+1 {{a tensor of rank 2 needs as many dims, not 1}}
eider.program @p() attributes {test.a = !eider.scaled<4x4xf8E5M2, dims = <4>, block = [1, 1], scale = f32, layout = row_major>} {}

// -----

// expected-error @+1 {{a block has its tensor's rank 2, not 1}}
eider.program @p() attributes {test.a = !eider.scaled<4x4xf8E5M2, dims = <4, 4>, block = [1], scale = f32, layout = row_major>} {}

// -----

// expected-error @+1 {{a block's extents are 1 to 2147483647, or *}}
eider.program @p() attributes {test.a = !eider.scaled<4x4xf8E5M2, dims = <4, 4>, block = [1, 0], scale = f32, layout = row_major>} {}

// -----

// expected-error @+1 {{scale layout packed_ue8m0 packs e8m0 scales, not f32; take e8m0 scales, or mn_major_aligned for f32}}
eider.program @p() attributes {test.a = !eider.scaled<4x4xf8E5M2, dims = <4, 4>, block = [1, 2], scale = f32, layout = packed_ue8m0>} {}

// -----

// expected-error @+1 {{scale layout mn_major_aligned is one of a matrix, not of a tensor of rank 1; take row_major}}
eider.program @p() attributes {test.a = !eider.scaled<4xf8E5M2, dims = <4>, block = [2], scale = f32, layout = mn_major_aligned>} {}
