// The text of gemv: codes enter as they are, the scale of a group comes once, and that of a row at the end. Two rows a
// thread, which the vector is loaded for once; the next two are loaded before these are added up.
//
// RUN: eider emit gemv --dim k=16384 --arch sm_90 | FileCheck %s
// RUN: eider emit gemv --block '1x*' --dim k=4096 --arch sm_90 | FileCheck %s --check-prefix=ROW
// RUN: eider emit gemv --block '*x*' --codec software --dtype f32 --dim k=16384 --arch sm_90 | FileCheck %s --check-prefix=WHOLE
//
// Codes that are decoded by arithmetic meet 16-bit floats on tensor cores, where these have such.
//
// RUN: eider emit gemv --codec software --dim k=16384 --arch sm_90 | FileCheck %s --check-prefix=CORES
// RUN: eider emit gemv --block '1x*' --dim k=4096 --arch sm_80 | FileCheck %s --check-prefix=CORES-OF-ROW
// RUN: eider emit gemv --dtype f16 --dim k=4096 --arch sm_75 | FileCheck %s --check-prefix=CORES
// RUN: eider emit gemv --dim k=4096 --arch sm_75 | FileCheck %s --check-prefix=NONE
// RUN: eider emit gemv --format e5m2 --codec software --dim k=4096 --arch sm_90 | FileCheck %s --check-prefix=NONE

// CHECK-LABEL: void gemv(
// CHECK-NEXT:    const e4m3 *w, const float *w_scale, const bf16 *x, bf16 *y, int64 n) {
// CHECK-NEXT:    using Rows = RowsTile</*threads=*/256, /*vector=*/16, /*columns=*/16384, /*rows=*/2>;
// CHECK:         auto w_next = Rows::first(n).load(w);
// CHECK-NEXT:    auto w_scale_groups_next = Rows::first(n).load_groups<128>(w_scale);
// CHECK-NEXT:    for (const Rows tile : Rows::over(n)) {
// CHECK-NEXT:    const auto w_rows = w_next;
// CHECK-NEXT:    const auto w_scale_groups = w_scale_groups_next;
// CHECK-NEXT:    if (tile.has_next())
// CHECK-NEXT:      w_next = tile.next().load(w);
// CHECK-NEXT:    if (tile.has_next())
// CHECK-NEXT:      w_scale_groups_next = tile.next().load_groups<128>(w_scale);
// CHECK-NEXT:    const auto x_row = tile.load_columns(x);
// CHECK-NEXT:    const auto dot = tile.sum_of_scaled_products(E4m3::decode(w_rows), w_scale_groups,
// CHECK-NEXT:        eider::to<float>(x_row));
// CHECK-NEXT:    tile.store_rows(y, eider::to<bf16>(dot));

// ROW-LABEL: void gemv(
// ROW:         const auto w_scale_value = tile.load_rows(w_scale);
// ROW:         const auto unscaled = tile.sum_of_products(E4m3::decode(w_rows), eider::to<float>(x_row));
// ROW-NEXT:    const auto dot = unscaled * w_scale_value;

// WHOLE-LABEL: void gemv(
// WHOLE-NOT:   next
// WHOLE:       const auto unscaled = tile.sum_of_products(E4m3::decode(w_rows), x_row);
// WHOLE-NEXT:  const auto dot = unscaled * w_scale_value;

// CORES:       #include "eider/contraction/lanes.cuh"
// CORES-LABEL: void gemv_few_rows(
// CORES:         const float dot = row.sum_of_scaled_products<TensorCores<E4m3>>(w_row, w_scale_groups, x_row);
// CORES-LABEL: void gemv(
// CORES:         using E4m3 = Codec<e4m3, software>;
// CORES-NOT:   decode
// CORES:         const auto dot = tile.sum_of_scaled_products<TensorCores<E4m3>>(w_rows, w_scale_groups, x_row);

// CORES-OF-ROW-LABEL: void gemv(
// CORES-OF-ROW:         const auto unscaled = tile.sum_of_products<TensorCores<E4m3>>(w_rows, x_row);
// CORES-OF-ROW-NEXT:    const auto dot = unscaled * w_scale_value;

// NONE-NOT: TensorCores
