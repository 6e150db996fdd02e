// At most 16 rows: where squares share a scale a thread turns one of four by four by itself; where columns have scales, it has no square.
//
// RUN: eider emit cast_transpose --block 128x128 --dim hidden=8192 --arch sm_90 | FileCheck %s
// RUN: eider emit cast_transpose --block 1x128 --dim hidden=8192 --arch sm_90 | FileCheck %s --check-prefix=GROUPS
// RUN: eider emit cast_transpose --block 1x128 --dim hidden=8192 --arch sm_90 --schedule "tile<threads = 128, vector = 4, rows = 16, columns = 128>" | FileCheck %s --check-prefix=GIVEN

// CHECK: void cast_transpose_rows_16(
// CHECK: BlockTile</*threads=*/128, /*vector=*/4, /*rows=*/16, /*columns=*/128,
// CHECK-NEXT: /*width=*/8192, /*run=*/4>;
// CHECK: {{^}}  const Tile tile = Tile::only(tokens);
// GROUPS: BlockTile</*threads=*/512, /*vector=*/4, /*rows=*/16, /*columns=*/128,
// GROUPS-NEXT: /*width=*/8192>;
// GIVEN: BlockTile</*threads=*/128, /*vector=*/4, /*rows=*/16, /*columns=*/128,
// GIVEN-NEXT: /*width=*/8192, /*run=*/2>;

// Any number of rows by tiles as low: nor there.
// RUN: eider emit cast_transpose --block 1x16 --dim hidden=8192 --arch sm_90 --schedule "tile<threads = 128, vector = 4, rows = 16, columns = 128>" | FileCheck %s --check-prefix=ANY
// ANY-NOT: /*run=*/4
// ANY: /*run=*/2
