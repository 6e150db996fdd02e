// Blocks whose chunks of 16 the width would cut have chunks of 8, and of few rows a quarter of the threads; what is not a block's is cut where rows begin anywhere. Wide rows of
// softmax are a cluster's, five blocks of 128 threads a multiprocessor; quantised ones beyond 10240 columns, with the next row loaded ahead where the threads of a block share its part
// evenly. Rows that are reduced once, for their scale, are one block's to 12288.
//
// RUN: eider emit cast_transpose --block 128x128 --dim hidden=4104 --arch sm_90a | grep schedule | FileCheck %s --check-prefix=BLOCK
// RUN: eider emit cast_transpose --dim hidden=4104 --arch sm_90a | grep schedule | FileCheck %s --check-prefix=ROWS
// RUN: eider explain cast_transpose --block 128x128 --dim hidden=8192 --arch sm_90a | FileCheck %s --check-prefix=SAID
// RUN: eider emit softmax --dim hidden=32768 --arch sm_90a | grep schedule | FileCheck %s --check-prefix=WIDE
// RUN: eider emit softmax --dim hidden=128256 --arch sm_90a | grep schedule | FileCheck %s --check-prefix=WIDEST
// RUN: eider emit softmax_quant --dim hidden=9216 --arch sm_90a | grep schedule | FileCheck %s --check-prefix=ALONE
// RUN: eider emit softmax_quant --dim hidden=16384 --arch sm_90a | grep -A1 schedule | FileCheck %s --check-prefix=TWO
// RUN: eider emit softmax_quant --dim hidden=20480 --arch sm_90a | grep -A1 schedule | FileCheck %s --check-prefix=SHARED
// RUN: eider emit softmax_quant --dim hidden=50304 --arch sm_90a | grep schedule | FileCheck %s --check-prefix=UNEVEN
// RUN: eider emit quantize --block '1x*' --dim hidden=12288 --arch sm_90a | grep schedule | FileCheck %s --check-prefix=ONCE
// BLOCK: tile<threads = 128, vector = 4, rows = 16, columns = 128>
// BLOCK-NEXT: tile<threads = 512, vector = 8, rows = 128, columns = 128, resident = 2>
// ROWS: tile<threads = 512, vector = 4, rows = 16, columns = 128>
// ROWS-NEXT: tile<threads = 512, vector = 16, rows = 128, columns = 128, resident = 2>
// ROWS-NEXT: tile<threads = 512, vector = 8, rows = 128, columns = 128, resident = 2>
// SAID: rows_16 (at most 16 rows: tile<threads = 128, vector = 4, rows = 16, columns = 128>)
// WIDE: row<threads = 128, vector = 8, resident = 5, cluster = 4>
// WIDEST: row<threads = 256, vector = 8, resident = 3, cluster = 8>
// ALONE: {{^}}// schedule row<threads = 96, vector = 16>
// TWO: row<threads = 128, vector = 16, lanes = 4, tiles = 4, resident = 4, prefetch = 1,
// TWO-NEXT: // cluster = 2>
// SHARED: row<threads = 160, vector = 16, lanes = 4, tiles = 4, resident = 6, prefetch = 1,
// SHARED-NEXT: // cluster = 4>
// UNEVEN: row<threads = 128, vector = 16, tiles = 2, resident = 5, cluster = 8>
// ONCE: row<threads = 192, vector = 16>
