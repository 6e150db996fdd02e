// Rows as wide as those of models, whose threads are no power of two. Two chunks of 16 a thread: codes of rows that are reduced once have no more blocks than registers allow, of rows that are reduced
// twice the next one is loaded ahead; what is stored as values goes in bulk (rows-in-bulk.mlir). Two matrices that are reduced twice have their blocks bounded, and softmax has not.
//
// RUN: eider emit rms_norm_quant --dim hidden=3072 --arch sm_90a | grep schedule | FileCheck %s --check-prefix=PHI
// RUN: eider emit rms_norm_quant --dim hidden=5120 --arch sm_90a | grep schedule | FileCheck %s --check-prefix=ONCE
// RUN: eider emit layer_norm_quant --dim hidden=5120 --arch sm_90a | grep schedule | FileCheck %s --check-prefix=TWICE
// RUN: eider emit layer_norm_quant --dim hidden=7168 --arch sm_90a | grep schedule | FileCheck %s --check-prefix=WIDER
// RUN: eider emit layer_norm --dim hidden=7168 --arch sm_90a | grep schedule | FileCheck %s --check-prefix=ASREAD
// RUN: eider emit add_layer_norm_quant --dim hidden=7168 --arch sm_90a | grep schedule | FileCheck %s --check-prefix=ADDED
// RUN: eider emit add_layer_norm_quant --dim hidden=3584 --arch sm_90a | grep schedule | FileCheck %s --check-prefix=NARROW
// RUN: eider emit softmax_quant --dim hidden=6144 --arch sm_90a | grep schedule | FileCheck %s --check-prefix=PLAIN
// RUN: eider emit rms_norm_quant --dim hidden=4104 --arch sm_90a | grep schedule | FileCheck %s --check-prefix=CUT
// RUN: eider emit layer_norm_quant --dim hidden=4104 --arch sm_90a | grep schedule | FileCheck %s --check-prefix=CUTTWICE
// RUN: eider emit gelu_quant --dim hidden=5120 --arch sm_90a | grep schedule | FileCheck %s --check-prefix=WORKS
// RUN: eider emit gelu_quant --dtype f32 --dim hidden=5120 --arch sm_90a | grep schedule | FileCheck %s --check-prefix=WIDE
// RUN: eider emit gelu_quant --dim hidden=8192 --arch sm_90a | grep schedule | FileCheck %s --check-prefix=EVEN
// RUN: eider emit requantize --dim hidden=7168 --arch sm_90a | grep schedule | FileCheck %s --check-prefix=AGAIN
// RUN: eider emit quantize --format e2m1 --block 1x16 --scale e4m3 --dim hidden=8192 --arch sm_90a | grep schedule | FileCheck %s --check-prefix=PACKED
// RUN: eider emit add_rms_norm_quant --dim hidden=5120 --arch sm_90a | grep schedule | FileCheck %s --check-prefix=ONECHUNK
// RUN: eider emit add_rms_norm_quant --dim hidden=7168 --arch sm_90a | grep schedule | FileCheck %s --check-prefix=TWOCHUNKS
// RUN: eider emit cast_transpose --block 128x128 --dim hidden=8192 --arch sm_90a | grep schedule | FileCheck %s --check-prefix=CODES
// RUN: eider emit silu_mul_quant --transposed yes --block 128x128 --dim hidden=8192 --arch sm_90a | grep schedule | FileCheck %s --check-prefix=OFTWO
// RUN: eider emit quantize --dtype f32 --format e2m1 --block 1x16 --scale e4m3 --dim hidden=7168 --arch sm_90a | grep schedule | FileCheck %s --check-prefix=MANY
// RUN: eider emit silu_quant --dim hidden=7168 --arch sm_90a | grep schedule | FileCheck %s --check-prefix=LITTLE
// RUN: eider emit quantize --format e2m1 --block 1x16 --scale e4m3 --dim hidden=7168 --arch sm_90a | grep schedule | FileCheck %s --check-prefix=NVFP4
// RUN: eider emit quantize --format e2m1 --block 1x32 --scale e8m0 --dim hidden=7168 --arch sm_90a | grep schedule | FileCheck %s --check-prefix=MXFP4
// RUN: eider emit silu_quant --format e2m1 --block 1x16 --scale e4m3 --dim hidden=8192 --arch sm_90a | grep schedule | FileCheck %s --check-prefix=PACKEDWORK
// RUN: eider emit silu_quant --format e2m1 --block 1x16 --scale e4m3 --dim hidden=7168 --arch sm_90a | grep schedule | FileCheck %s --check-prefix=PACKEDLONG
// RUN: eider emit quantize --format e2m1 --block 1x16 --scale e4m3 --set rounding=stochastic --dim hidden=8192 --arch sm_90a | grep schedule | FileCheck %s --check-prefix=PACKEDDRAWN
// RUN: eider emit quantize --format e2m1 --block 1x16 --scale e4m3 --set rounding=stochastic --dim hidden=7168 --arch sm_90a | grep schedule | FileCheck %s --check-prefix=PACKEDDRAWNLONG
// RUN: eider emit gelu_quant --format e2m1 --block 1x32 --scale e8m0 --dim hidden=7168 --arch sm_90a | grep schedule | FileCheck %s --check-prefix=MXFP4WORK
// RUN: eider emit silu_mul_quant --format e2m1 --block 1x16 --scale e4m3 --dim hidden=7168 --arch sm_90a | grep schedule | FileCheck %s --check-prefix=GATED
// RUN: eider emit silu_mul_quant --format e2m1 --block 1x16 --scale e4m3 --dim hidden=8192 --arch sm_90a | grep schedule | FileCheck %s --check-prefix=GATES
// RUN: eider emit rms_norm_quant --dtype f32 --dim hidden=5120 --arch sm_90a | grep schedule | FileCheck %s --check-prefix=F32
// RUN: eider emit softmax_quant --dtype f32 --dim hidden=8192 --arch sm_90a | grep schedule | FileCheck %s --check-prefix=MAXIMUM
// RUN: eider emit rms_norm_quant --copy bf16 --dim hidden=8192 --arch sm_90a | grep schedule | FileCheck %s --check-prefix=LONG
// RUN: eider emit add_rms_norm_quant --copy bf16 --dim hidden=7168 --arch sm_90a | grep schedule | FileCheck %s --check-prefix=THREE
// RUN: eider emit rms_norm_quant --block "1x*" --dim hidden=5120 --arch sm_90a | grep schedule | FileCheck %s --check-prefix=OFROWS
// RUN: eider emit layer_norm_quant --dim hidden=6144 --arch sm_90a | grep schedule | FileCheck %s --check-prefix=AHEAD
// RUN: eider emit quantize --dim hidden=8192 --arch sm_90a | grep schedule | FileCheck %s --check-prefix=CAST
// RUN: eider emit quantize --dim hidden=8192 --scale-layout mn_major_aligned --arch sm_90a | grep schedule | FileCheck %s --check-prefix=STACKED
// RUN: eider emit rms_norm_quant --codec software --dim hidden=8192 --arch sm_90a | grep schedule | FileCheck %s --check-prefix=SOFTWARE
// RUN: eider emit rms_norm_quant --dim hidden=8192 --arch sm_90a | grep schedule | FileCheck %s --check-prefix=ANYWHERE
// RUN: eider emit layer_norm_quant --block "1x*" --dim hidden=8193 --arch sm_90a | grep schedule | FileCheck %s --check-prefix=TWOSUMS
// RUN: eider emit quantize --set rounding=stochastic --dim hidden=8192 --arch sm_90a | grep schedule | FileCheck %s --check-prefix=DRAWN
// RUN: eider emit rms_norm_quant --set rounding=stochastic --dim hidden=8192 --arch sm_90a | grep schedule | FileCheck %s --check-prefix=NORMED
// RUN: eider emit rms_norm_quant --block 1x16 --set rounding=stochastic --dim hidden=16 --arch sm_90a | grep schedule | FileCheck %s --check-prefix=DRAWNONE
// RUN: eider emit softmax_quant --set rounding=stochastic --dim hidden=5120 --arch sm_90a | grep schedule | FileCheck %s --check-prefix=DRAWNAHEAD
// RUN: eider emit rms_norm_quant --format e2m1 --block 1x16 --scale e4m3 --set rounding=stochastic --dim hidden=8192 --arch sm_90a | grep schedule | FileCheck %s --check-prefix=DRAWNPACKED
// RUN: eider emit softmax_quant --set rounding=stochastic --dim hidden=8192 --arch sm_90a | grep schedule | FileCheck %s --check-prefix=DRAWNTWICE
// RUN: eider emit silu_quant --transposed yes --block 128x128 --copy bf16 --dim hidden=8192 --arch sm_90a | grep schedule | FileCheck %s --check-prefix=COPIED
// RUN: eider emit rms_norm --dim hidden=8193 --arch sm_90a | grep schedule | FileCheck %s --check-prefix=SHIFTED
// RUN: eider emit quantize --dim hidden=8200 --arch sm_90a | grep schedule | FileCheck %s --check-prefix=CODED
// RUN: eider emit add --dim hidden=8193 --arch sm_90a | grep schedule | FileCheck %s --check-prefix=SUMMED
// RUN: eider emit rms_norm_quant --dim hidden=51200 --arch sm_89 | grep schedule | FileCheck %s --check-prefix=MOST
// RUN: eider emit rms_norm --dim hidden=8192 --arch sm_90a | grep schedule | FileCheck %s --check-prefix=BULK
// RUN: eider emit rms_norm --dim hidden=8192 --arch sm_80 | grep schedule | FileCheck %s --check-prefix=BULKOLD
// RUN: eider emit rms_norm --dtype f32 --dim hidden=8192 --arch sm_90a | grep schedule | FileCheck %s --check-prefix=BULKF32
// RUN: eider emit layer_norm --dim hidden=8192 --arch sm_90a | grep schedule | FileCheck %s --check-prefix=BULKTWICE
// RUN: eider emit layer_norm --dim hidden=4096 --arch sm_90a | grep schedule | FileCheck %s --check-prefix=SHORTER
// RUN: eider emit add_rms_norm --dim hidden=8192 --arch sm_90a | grep schedule | FileCheck %s --check-prefix=BULKADDED
// RUN: eider emit add_rms_norm_quant --block "1x*" --dim hidden=8192 --arch sm_90a | grep schedule | FileCheck %s --check-prefix=BULKCODES
// RUN: eider emit add_rms_norm_quant --codec software --dim hidden=8192 --arch sm_90a | grep schedule | FileCheck %s --check-prefix=BYARITHMETIC
// RUN: eider emit layer_norm_quant --copy bf16 --dim hidden=8192 --arch sm_90a | grep schedule | FileCheck %s --check-prefix=BULKCOPY
// RUN: eider emit softmax --set causal=1 --dim hidden=8192 --arch sm_90a | grep schedule | FileCheck %s --check-prefix=CAUSAL
// RUN: eider emit rms_norm --dim hidden=16384 --arch sm_90a | grep schedule | FileCheck %s --check-prefix=BULKLONG
// RUN: eider emit layer_norm --dim hidden=16384 --arch sm_90a | grep schedule | FileCheck %s --check-prefix=HELD
// RUN: eider emit layer_norm --dim hidden=10240 --arch sm_90a | grep schedule | FileCheck %s --check-prefix=NEXT
// RUN: eider emit layer_norm --dim hidden=12288 --arch sm_90a | grep schedule | FileCheck %s --check-prefix=SIX
// RUN: eider emit layer_norm --dim hidden=14336 --arch sm_90a | grep schedule | FileCheck %s --check-prefix=SEVEN
// RUN: eider emit add_layer_norm --dim hidden=12288 --arch sm_90a | grep schedule | FileCheck %s --check-prefix=ADDEDLONG
// RUN: eider emit add_rms_norm_quant --dim hidden=14336 --arch sm_90a | grep schedule | FileCheck %s --check-prefix=CODESLONG
// RUN: eider emit rms_norm_quant --copy bf16 --dim hidden=14336 --arch sm_90a | grep schedule | FileCheck %s --check-prefix=COPYLONG
// Groups are of half their lanes, two chunks of each thread's: half as many scales a thread.
// PHI: row<threads = 96, vector = 16, lanes = 4, tiles = 3, resident = 10>
// ONCE: row<threads = 160, vector = 16, lanes = 4, tiles = 3, resident = 6>
// TWICE: row<threads = 128, vector = 8, tiles = 4, resident = 6, prefetch = 1>
// WIDER: row<threads = 224, vector = 16, lanes = 4, tiles = 4, resident = 4, prefetch = 1>
// AHEAD: row<threads = 128, vector = 16, tiles = 4, resident = 5, prefetch = 1>
// SOFTWARE: row<threads = 128, vector = 16, lanes = 4, tiles = 4, resident = 4, prefetch = 1>
// CAST: map<threads = 128, vector = 16, loads = 2, lanes = 4>
// Scales of neighbouring rows that lie together are stored by a block of many rows.
// STACKED: map<threads = 16, vector = 16, rows = 32, loads = 2, lanes = 4>
// OFROWS: row<threads = 160, vector = 16, tiles = 3, resident = 7>
// ASREAD: row<threads = 224, vector = 8, lanes = 32, tiles = 2, resident = 4, bulk = 1>
// ADDED: row<threads = 224, vector = 16, resident = 2>
// NARROW: row<threads = 224, vector = 16, resident = 4>
// PLAIN: row<threads = 192, vector = 16, lanes = 4, tiles = 4, resident = 5, prefetch = 1>
// CUT: row<threads = 288, vector = 8, lanes = 8, tiles = 4, resident = 4, prefetch = 1>
// CUTTWICE: row<threads = 192, vector = 8, tiles = 2, resident = 6>
// What takes much arithmetic has long chunks of narrow elements, in segments that divide a row. Of f32, and with a copy beside the codes, blocks have more registers.
// WORKS: map<threads = 160, vector = 16, loads = 2, lanes = 4, tiles = 4>
// WIDE: map<threads = 32, vector = 16, rows = 4, loads = 2, tiles = 2>
// EVEN: map<threads = 128, vector = 16, loads = 2, lanes = 4, tiles = 4>
// AGAIN: map<threads = 224, vector = 16, loads = 2, lanes = 4, tiles = 2>
// LITTLE: map<threads = 32, vector = 16, rows = 4, loads = 2>
// NVFP4: map<threads = 16, vector = 16, rows = 4, loads = 4, tiles = 2>
// PACKED: map<threads = 64, vector = 16, loads = 4>
// PACKEDWORK: map<threads = 128, vector = 16, loads = 2, tiles = 2>
// PACKEDLONG: map<threads = 32, vector = 32, loads = 1, tiles = 4>
// PACKEDDRAWN: map<threads = 128, vector = 16, loads = 2, tiles = 2>
// PACKEDDRAWNLONG: map<threads = 32, vector = 32, loads = 1, tiles = 4, resident = 28>
// MANY: map<threads = 8, vector = 16, rows = 16, loads = 4>
// MXFP4: map<threads = 32, vector = 16, rows = 4, loads = 2, tiles = 2>
// MXFP4WORK: map<threads = 32, vector = 16, rows = 4, loads = 2, tiles = 2>
// GATED: map<threads = 32, vector = 16, rows = 4, loads = 2>
// GATES: map<threads = 128, vector = 16, loads = 1, tiles = 2>
// F32: row<threads = 160, vector = 8, tiles = 3, resident = 3>
// MAXIMUM: row<threads = 256, vector = 16, resident = 4>
// LONG: row<threads = 256, vector = 8, lanes = 32, resident = 4, bulk = 1>
// Rows are stored in bulk where there is such a store; wide ones have as many blocks as have the registers.
// BULK: row<threads = 256, vector = 8, lanes = 32, resident = 4, bulk = 1>
// BULKOLD: row<threads = 256, vector = 8, tiles = 2, resident = 3, prefetch = 1>
// BULKF32: row<threads = 256, vector = 8, lanes = 32, resident = 3, bulk = 1>
// BULKTWICE: row<threads = 256, vector = 8, lanes = 32, tiles = 2, resident = 4, bulk = 1>
// SHORTER: row<threads = 128, vector = 8, resident = 8>
// BULKADDED: row<threads = 512, vector = 8, lanes = 32, bulk = 1>
// BULKCODES: row<threads = 512, vector = 16, bulk = 1>
// BYARITHMETIC: row<threads = 256, vector = 16>
// BULKCOPY: row<threads = 256, vector = 8, lanes = 32, tiles = 2, resident = 4, bulk = 1>
// CAUSAL: row<threads = 256, vector = 8, lanes = 32, tiles = 2, resident = 4, bulk = 1>
// BULKLONG: row<threads = 512, vector = 8, lanes = 32, tiles = 2, resident = 2, bulk = 1>
// HELD: row<threads = 512, vector = 8, tiles = 2, resident = 2>
// NEXT: row<threads = 256, vector = 8, lanes = 32, tiles = 2, resident = 3, bulk = 1>
// SIX: row<threads = 256, vector = 8, lanes = 32, tiles = 2, resident = 3, bulk = 1>
// SEVEN: row<threads = 256, vector = 8, tiles = 4, resident = 2, prefetch = 1>
// ADDEDLONG: row<threads = 384, vector = 8, tiles = 3, prefetch = 1>
// CODESLONG: row<threads = 448, vector = 16, resident = 2>
// COPYLONG: row<threads = 448, vector = 8, tiles = 2, resident = 2>
// Two matrices, of which one is stored beside codes: one chunk a thread where few threads are left without one.
// ONECHUNK: row<threads = 320, vector = 16>
// TWOCHUNKS: row<threads = 224, vector = 16, lanes = 32, resident = 4, bulk = 1>
// CODES: tile<threads = 256, vector = 16, rows = 128, columns = 128, resident = 3>
// OFTWO: tile<threads = 512, vector = 16, rows = 128, columns = 128, resident = 2>
// THREE: row<threads = 448, vector = 8>
// Rows that lie apart have the schedule of contiguous ones, or of rows that begin anywhere.
// ANYWHERE: row<threads = 128, vector = 16, tiles = 4, resident = 4, prefetch = 1>
// ANYWHERE: row<threads = 128, vector = 16, tiles = 4, resident = 4, prefetch = 1>
// ANYWHERE: row<threads = 256, vector = 32, tiles = 3, resident = 3>
// TWOSUMS: row<threads = 288, vector = 16, tiles = 3, resident = 3>
// SHIFTED: row<threads = 288, vector = 16, tiles = 3, resident = 4>
// Codes whose rows begin at 8 bytes are moved by as many, those that begin anywhere by long chunks, and sums by short ones; what no cluster holds is never more than a thread may have.
// CODED-COUNT-2: map<threads = 288, vector = 8, loads = 2, lanes = 8>
// CODED: map<threads = 96, vector = 32, loads = 1>
// SUMMED: map<threads = 96, vector = 16, loads = 1>
// MOST: row<threads = {{[0-9]+}}, vector = 16
// Random bits are much arithmetic; rows of few threads have registers to load the next.
// DRAWNAHEAD: row<threads = 160, vector = 16, lanes = 4, tiles = 4, resident = 4, prefetch = 1>
// DRAWNPACKED: row<threads = 128, vector = 16, tiles = 4, resident = 3, prefetch = 1>
// DRAWN: map<threads = 64, vector = 32, loads = 1, tiles = 4, resident = 14>
// DRAWNTWICE: row<threads = 128, vector = 16, lanes = 4, tiles = 4, resident = 3, prefetch = 1>
// COPIED: tile<threads = 512, vector = 4, rows = 128, columns = 128, resident = 2>
// NORMED: row<threads = 128, vector = 16, lanes = 4, tiles = 4, resident = 3, prefetch = 1>
// A row of one chunk is too short for it.
// DRAWNONE: row<threads = 1, vector = 16, rows = 256>
