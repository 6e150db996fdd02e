// Many rows whose transposes begin anywhere have tiles twice as tall: of 16-bit elements that are turned as they are, in
// whole sectors, and unless a schedule is given.
//
// RUN: eider emit cast_transpose --dim hidden=8192 --arch sm_90a | FileCheck %s
// RUN: eider emit cast_transpose --amax yes --dim hidden=4096 --arch sm_90a | grep 'at least\|//   9766 rows' | FileCheck %s --check-prefix=NARROWER
// RUN: eider emit cast_transpose --block 128x128 --dim hidden=8192 --arch sm_90a | FileCheck %s --check-prefix=NONE --implicit-check-not=uneven_large
// RUN: eider emit cast_transpose --dtype f32 --dim hidden=8192 --arch sm_90a | FileCheck %s --check-prefix=NONE --implicit-check-not=uneven_large
// RUN: eider emit cast_transpose --dim hidden=4104 --arch sm_90a | FileCheck %s --check-prefix=NONE --implicit-check-not=uneven_large
// RUN: eider emit silu_mul_quant --transposed yes --dim hidden=8192 --arch sm_90a | FileCheck %s --check-prefix=NONE --implicit-check-not=uneven_large
// RUN: eider emit cast_transpose --dim hidden=8192 --schedule 'tile<threads = 512, vector = 16, rows = 128, columns = 128>' --arch sm_90a | FileCheck %s --check-prefix=NONE --implicit-check-not=uneven_large
// RUN: eider explain cast_transpose --dim hidden=8192 --arch sm_90a | FileCheck %s --check-prefix=EXPLAINED
//
// CHECK: void cast_transpose(
// CHECK: any number of rows · at least
// CHECK-NEXT: 4883 rows
// CHECK-NEXT: schedule tile<threads = 1024, vector = 16, rows = 256, columns = 128>
// CHECK: void cast_transpose_uneven_large(
// CHECK: Tile::over_columns(tokens)
// CHECK: void cast_transpose_uneven(
// NARROWER: 9766 rows
// NONE: void {{cast_transpose|silu_mul_quant}}_uneven(
// EXPLAINED: uneven_large (the same, of any number of rows from 4883 on: tile<threads = 1024, vector = 16, rows = 256, columns = 128>)
