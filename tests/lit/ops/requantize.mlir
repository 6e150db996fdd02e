// The text of requantize: scales a block of the source, an amax a block of the result.
//
// RUN: eider emit requantize --from-format e5m2 --from-block 128x128 --block 1x32 --dim hidden=1024 --arch sm_90 | FileCheck %s

// CHECK-LABEL: void requantize(
// CHECK-NEXT:    const e5m2 *x, const float *x_scale, e4m3 *y, float *y_scale, int64 tokens) {
// CHECK:         const auto x_scale_groups = row.load_groups<128, 128>(x_scale);
// CHECK-NEXT:    const auto value = E5m2::decode(x_row) * x_scale_groups;
// CHECK-NEXT:    const auto amax = row.amax_of_groups<32>(value);
// CHECK:         row.store(y, E4m3::encode_bounded_quotient(value, scale));
