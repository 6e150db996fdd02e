// The text of gemv: codes enter as they are, the scale of a group comes once, and that of a row at the end. Two rows a
// thread, which the vector is loaded for once; the next two are loaded before these are added up.
//
// RUN: eider emit gemv --dim k=16384 --arch sm_90 | FileCheck %s
// RUN: eider emit gemv --block '1x*' --dim k=4096 --arch sm_90 | FileCheck %s --check-prefix=ROW
// RUN: eider emit gemv --block '*x*' --codec software --dtype f32 --dim k=16384 --arch sm_90 | FileCheck %s --check-prefix=WHOLE
//
// Codes that are decoded by arithmetic meet 16-bit floats on tensor cores, where these have such.
//
// RUN: eider emit gemv --codec software --dim k=16000 --arch sm_90 | FileCheck %s --check-prefix=CORES
// RUN: eider emit gemv --block '1x*' --dim k=4000 --arch sm_80 | FileCheck %s --check-prefix=CORES-OF-ROW
// RUN: eider emit gemv --dtype f16 --dim k=4096 --arch sm_75 | FileCheck %s --check-prefix=CORES
// RUN: eider emit gemv --dim k=4096 --arch sm_75 | FileCheck %s --check-prefix=NONE
// RUN: eider emit gemv --format e5m2 --codec software --dim k=4096 --arch sm_90 | FileCheck %s --check-prefix=NONE

// Where warps hold rows evenly these come through shared memory, two by two, to blocks that stay; also from memory in
// which rows lie apart. Some rows do not, nor what the hardware converts, but for whole rows with a scale.
//
// RUN: eider emit gemv --codec software --dim k=16384 --arch sm_90 | FileCheck %s --check-prefix=COME
// RUN: eider emit gemv --codec software --scale-layout mn_major_aligned --dim k=4096 --arch sm_80 | FileCheck %s --check-prefix=LAYOUT
// RUN: eider emit gemv --codec software --dim k=4096 --dim n=1024 --arch sm_90 | FileCheck %s --check-prefix=FEW
// RUN: eider emit gemv --block '1x*' --dim k=8192 --dim n=10240 --arch sm_90 | FileCheck %s --check-prefix=COME-OF-ROW
// RUN: eider emit gemv --block '1x*' --dim k=8192 --dim n=6143 --arch sm_90 | FileCheck %s --check-prefix=FEW

// RUN: not eider emit gemv --dim k=4096 --arch sm_90 --schedule 'row<threads = 128, vector = 16, rows = 4, resident = 4, prefetch = 2>' 2>&1 | FileCheck %s --check-prefix=BAD0
// RUN: not eider emit gemv --dim k=4096 --arch sm_90 --schedule 'row<threads = 128, vector = 16, rows = 3, resident = 4, prefetch = 2, mma = 1>' 2>&1 | FileCheck %s --check-prefix=BAD0
// RUN: not eider emit gemv --scale e8m0 --dim k=4096 --arch sm_90 --schedule 'row<threads = 128, vector = 16, rows = 4, resident = 4, prefetch = 2, mma = 1>' 2>&1 | FileCheck %s --check-prefix=BAD0
// RUN: not eider emit gemv --dtype f16 --dim k=4096 --arch sm_75 --schedule 'row<threads = 128, vector = 16, rows = 4, resident = 4, prefetch = 2, mma = 1>' 2>&1 | FileCheck %s --check-prefix=BAD0
// RUN: not eider emit gemv --dim k=4088 --arch sm_90 --schedule 'row<threads = 128, vector = 16, rows = 4, resident = 4, prefetch = 2, mma = 1>' 2>&1 | FileCheck %s --check-prefix=BAD1
// RUN: not eider emit gemv --dim k=16384 --arch sm_90 --schedule 'row<threads = 256, vector = 16, rows = 4, resident = 1, prefetch = 8, mma = 1>' 2>&1 | FileCheck %s --check-prefix=BAD2
// RUN: not eider emit gemv --dim k=4096 --arch sm_90 --schedule 'row<threads = 128, vector = 16, rows = 4, prefetch = 2, mma = 1>' 2>&1 | FileCheck %s --check-prefix=BAD3
// RUN: not eider emit gemv --dim k=4096 --arch sm_90 --schedule 'row<threads = 128, vector = 16, rows = 4, tiles = 2, resident = 2, prefetch = 2, mma = 1>' 2>&1 | FileCheck %s --check-prefix=BAD3

// BAD0: several pairs of rows come, through shared memory, where mma multiplies them, of one product whose codes have scales of f32, from sm_80 on: rows is even
// BAD1: rows come in chunks of 16 bytes: vector is 16, and divides the row
// BAD2: at most 8 pairs of rows are in shared memory, and fit the 227 KiB of a block
// BAD3: the blocks to which rows come stay: resident says how many of them a multiprocessor holds; leave tiles and blocks out

// COME:       #include "eider/tile/ahead.cuh"
// COME:       at most 3071 rows
// COME-LABEL: void gemv_some_rows(
// COME-NOT:   ahead
// COME-LABEL: void gemv(
// COME:         const auto x_row = Rows::load_columns(x);
// COME:         for (const Rows tile : Rows::over(n)) {
// COME-NEXT:    const auto dot = w_ahead.sum_of_products<TensorCores<E4m3>>(tile, x_row);
// COME-NEXT:    tile.store_rows(y, eider::to<bf16>(dot));
// COME-LABEL: void gemv_aligned(
// COME:         auto w_ahead = eider::rows_ahead<Rows, /*ahead=*/2, 128>(n, w, w_scale, w_stride, w_scale_stride);
// COME-LABEL: void gemv_strided(
// COME-NOT:   ahead

// Where less shared memory is, fewer pairs are there, or fewer blocks; where it is two pairs of one block alone, none.
//
// RUN: eider explain gemv --codec software --dim k=16384 --arch sm_80 | FileCheck %s --check-prefix=SMALLER
// RUN: eider explain gemv --codec software --dim k=8192 --arch sm_86 | FileCheck %s --check-prefix=FEWER
// RUN: eider emit gemv --codec software --dim k=16384 --arch sm_86 | FileCheck %s --check-prefix=FEW

// SMALLER: schedule  row<threads = 256, vector = 16, rows = 4, resident = 2, prefetch = 2, hoist = 1, mma = 1> (heuristic)
// FEWER: schedule  row<threads = 256, vector = 16, rows = 4, resident = 3, prefetch = 2, hoist = 1, mma = 1> (heuristic)

// LAYOUT: auto w_ahead = eider::rows_ahead<Rows, /*ahead=*/2, 128>(n, w, w_scale, 4096, w_scale_layout);

// FEW-NOT: ahead

// COME-OF-ROW-LABEL: void gemv(
// COME-OF-ROW:         auto w_ahead = eider::rows_ahead<Rows, /*ahead=*/2>(10240, w);
// COME-OF-ROW:         const auto unscaled = w_ahead.sum_of_products<TensorCores<E4m3>>(tile, x_row);
// COME-OF-ROW-NEXT:    const auto dot = unscaled * w_scale_value;

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
