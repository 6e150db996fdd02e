// Rows that are neither few nor many have 1024 threads a multiprocessor, of 32 elements each: of a cluster's blocks each waits for the
// others, and few threads with several rows in turn leave multiprocessors idle.
//
// RUN: eider explain rms_norm_quant --dim hidden=8192 --dim tokens=96 --arch sm_90 | FileCheck %s --check-prefix=FEW
// RUN: eider explain rms_norm_quant --dim hidden=8192 --dim tokens=97 --arch sm_90 | FileCheck %s --check-prefix=SOME
// RUN: eider explain rms_norm_quant --dim hidden=8192 --dim tokens=2048 --arch sm_90 | FileCheck %s --check-prefix=SOME
// RUN: eider explain rms_norm_quant --dim hidden=8192 --dim tokens=2049 --arch sm_90 | FileCheck %s --check-prefix=MANY
// RUN: eider explain rms_norm_quant --dim hidden=8192 --arch sm_90 | FileCheck %s --check-prefix=ALL
// FEW: schedule  row<threads = 128, vector = 8, resident = 1, cluster = 4> (heuristic)
// SOME: schedule  row<threads = 256, vector = 16, lanes = 4, tiles = 2, resident = 4> (heuristic)
// MANY: schedule  row<threads = 128, vector = 16, tiles = 4, resident = 4, prefetch = 1> (heuristic)
// ALL: variants  few_rows (at most 96 rows: {{.*}}), then some_rows (at most 2048 rows: row<threads = 256, vector = 16, lanes = 4, tiles = 2, resident = 4>), then contiguous
//
// Values have chunks of 8; short rows two warps, wide ones half a multiprocessor.
// RUN: eider explain softmax --dim hidden=4096 --dim tokens=512 --arch sm_90 | FileCheck %s --check-prefix=VALUES
// RUN: eider explain rms_norm_quant --dim hidden=1024 --dim tokens=2048 --arch sm_90 | FileCheck %s --check-prefix=SHORT
// RUN: eider explain layer_norm_quant --dim hidden=16384 --dim tokens=128 --arch sm_90 | FileCheck %s --check-prefix=WIDE
// VALUES: schedule  row<threads = 128, vector = 8, resident = 8> (heuristic)
// SHORT: schedule  row<threads = 64, vector = 16, resident = 16> (heuristic)
// WIDE: schedule  row<threads = 512, vector = 16, lanes = 4, tiles = 2, resident = 2> (heuristic)
//
// Segments of codes: one chunk a thread, of 8 where arithmetic or a second matrix makes them.
// RUN: eider explain quantize --dim hidden=8192 --dim tokens=256 --arch sm_90 | FileCheck %s --check-prefix=CAST
// RUN: eider explain silu_mul_quant --dim hidden=7168 --dim tokens=256 --arch sm_90 | FileCheck %s --check-prefix=GATED
// CAST: schedule  map<threads = 128, vector = 16, loads = 1> (heuristic)
// GATED: schedule  map<threads = 128, vector = 8, loads = 1> (heuristic)
// RUN: eider explain silu_mul_quant --dim hidden=8192 --dim tokens=256 --codec software --arch sm_90 | FileCheck %s --check-prefix=SOFTWARE
// RUN: eider explain quantize --format e2m1 --block 1x16 --scale e4m3 --dim hidden=8192 --dim tokens=256 --arch sm_90 | FileCheck %s --check-prefix=PACKED
// RUN: eider explain rms_norm_quant --codec software --dim hidden=8192 --dim tokens=256 --arch sm_90 | FileCheck %s --check-prefix=ROWS
// SOFTWARE: schedule  map<threads = 128, vector = 8, loads = 1> (heuristic)
// PACKED: schedule  map<threads = 256, vector = 16, loads = 1> (heuristic)
// ROWS: schedule  row<threads = 256, vector = 16, lanes = 4, tiles = 2, resident = 4> (heuristic)
//
// What is reduced twice has as many rows again; stored as it was read, short rows have half as many elements a thread, and those of 7168
// columns, whose registers are more, one row a block.
// RUN: eider explain layer_norm_quant --dim hidden=7168 --dim tokens=4096 --arch sm_90 | FileCheck %s --check-prefix=TWICE
// RUN: eider explain layer_norm --dim hidden=2048 --dim tokens=4096 --arch sm_90 | FileCheck %s --check-prefix=LIGHT
// RUN: eider explain softmax --set causal=1 --dim hidden=7168 --dim tokens=2048 --arch sm_90 | FileCheck %s --check-prefix=MASKED
// TWICE: schedule  row<threads = 224, vector = 16, lanes = 4, tiles = 2, resident = 4> (heuristic)
// LIGHT: schedule  row<threads = 128, vector = 8, resident = 8> (heuristic)
// MASKED: schedule  row<threads = 224, vector = 8, resident = 4> (heuristic)
//
// Codes that become values: four chunks a thread.
// RUN: eider explain dequantize --dim hidden=7168 --dim tokens=1000 --arch sm_90 | FileCheck %s --check-prefix=EXPANDED
// EXPANDED: schedule  map<threads = 224, vector = 8, loads = 4> (heuristic)
//
// What is turned has two chunks a thread: short ones, or of codes both halves of a head; of many rows of 7168 four, by 224 threads.
// RUN: eider explain rope --dim hidden=8192 --dim tokens=256 --dim max_position=4096 --arch sm_90 | FileCheck %s --check-prefix=TURNED
// RUN: eider explain rope_quant --dim hidden=4096 --dim tokens=512 --dim max_position=4096 --arch sm_90 | FileCheck %s --check-prefix=TURNEDCODES
// RUN: eider explain rope --dim hidden=7168 --dim max_position=4096 --arch sm_90 | FileCheck %s --check-prefix=MANYTURNED
// TURNED: schedule  map<threads = 256, vector = 4, loads = 2> (heuristic)
// TURNEDCODES: schedule  map<threads = 64, vector = 16, loads = 2, lanes = 4> (heuristic)
// MANYTURNED: schedule  map<threads = 224, vector = 4, loads = 4> (heuristic)
