// Rows of widths that an H200's times chose the schedule of (HeldRows.cpp), whatever the rules say of their
// neighbours; some threads of the last warps may have nothing. Encodings that ask more registers keep the rules. Maps
// are cut into segments that divide a row, however short, and blocks take several rows of them.
//
// RUN: eider emit rms_norm_quant --dim hidden=3584 --arch sm_90a | grep schedule | FileCheck %s --check-prefix=ONCE
// RUN: eider emit rms_norm_quant --dim hidden=5376 --arch sm_90a | grep schedule | FileCheck %s --check-prefix=BYWARPS
// RUN: eider emit rms_norm_quant --dim hidden=5376 --arch sm_89 | grep schedule | FileCheck %s --check-prefix=OLDER
// RUN: eider emit rms_norm_quant --block '1x*' --dim hidden=14336 --arch sm_90a | grep schedule | FileCheck %s --check-prefix=OFROWS
// RUN: eider emit rms_norm_quant --dim hidden=24576 --arch sm_90a | grep schedule | FileCheck %s --check-prefix=WIDE
// RUN: eider emit rms_norm_quant --codec software --dim hidden=7168 --arch sm_90a | grep schedule | FileCheck %s --check-prefix=SOFTWARE
// RUN: eider emit rms_norm_quant --set rounding=stochastic --dim hidden=5120 --arch sm_90a | grep schedule | FileCheck %s --check-prefix=DRAWN
// RUN: eider emit layer_norm_quant --dim hidden=8192 --arch sm_90a | grep schedule | FileCheck %s --check-prefix=TWICE
// RUN: eider emit layer_norm_quant --dim hidden=15360 --arch sm_90a | grep schedule | FileCheck %s --check-prefix=LONG
// RUN: eider emit softmax_quant --dim hidden=2560 --arch sm_90a | grep schedule | FileCheck %s --check-prefix=PLAIN
// RUN: eider emit softmax_quant --dim hidden=13824 --arch sm_90a | grep schedule | FileCheck %s --check-prefix=UNCUT
// RUN: eider emit softmax_quant --dim hidden=18432 --arch sm_90a | grep schedule | FileCheck %s --check-prefix=ALONE
// RUN: eider emit softmax_quant --block '1x*' --dim hidden=2560 --arch sm_90a | grep schedule | FileCheck %s --check-prefix=NOTTIMED
// RUN: eider emit rms_norm --dim hidden=13824 --arch sm_90a | grep schedule | FileCheck %s --check-prefix=VALUES
// RUN: eider emit layer_norm --dim hidden=2880 --arch sm_90a | grep schedule | FileCheck %s --check-prefix=PASTEND
// RUN: eider emit add_rms_norm_quant --dim hidden=2560 --arch sm_90a | grep schedule | FileCheck %s --check-prefix=ADDED
// RUN: eider emit gelu_quant --dim hidden=2560 --arch sm_90a | grep schedule | FileCheck %s --check-prefix=FOURGROUPS
// RUN: eider emit requantize --dim hidden=5376 --arch sm_90a | grep schedule | FileCheck %s --check-prefix=TWOGROUPS
// RUN: eider emit quantize --dim hidden=2560 --arch sm_90a | grep schedule | FileCheck %s --check-prefix=CAST
// RUN: eider emit quantize --amax yes --dim hidden=2560 --arch sm_90a | grep schedule | FileCheck %s --check-prefix=COMBINED
// RUN: eider emit quantize --format e2m1 --block 1x16 --scale e4m3 --dim hidden=3072 --arch sm_90a | grep schedule | FileCheck %s --check-prefix=WARPS
// RUN: eider emit layer_norm_quant --block 1x32 --scale e8m0 --mode mx --dim hidden=5120 --arch sm_90a | grep schedule | FileCheck %s --check-prefix=BYPOWERS
// RUN: eider emit layer_norm_quant --mode deepgemm --dim hidden=2560 --arch sm_90a | grep schedule | FileCheck %s --check-prefix=MORE
// RUN: eider emit rms_norm_quant --scale-source static --dim hidden=14336 --arch sm_90a | grep schedule | FileCheck %s --check-prefix=GIVEN
// RUN: eider emit softmax_quant --block 1x32 --dim hidden=18432 --arch sm_90a | grep schedule | FileCheck %s --check-prefix=UNFOLDED
// RUN: eider emit gelu_quant --block '*x*' --dim hidden=3584 --arch sm_90a | grep schedule | FileCheck %s --check-prefix=WHOLE
// RUN: eider emit quantize --format e2m1 --block 1x16 --scale e4m3 --dim hidden=1024 --arch sm_90a | grep schedule | FileCheck %s --check-prefix=SHORT
// RUN: eider emit quantize --set rounding=stochastic --dim hidden=5376 --arch sm_90a | grep schedule | FileCheck %s --check-prefix=BITS
// RUN: eider emit quantize --format e2m1 --block 1x32 --scale e8m0 --dim hidden=11008 --arch sm_90a | grep schedule | FileCheck %s --check-prefix=MXFP4
// RUN: eider emit dequantize --dim hidden=11008 --arch sm_90a | grep schedule | FileCheck %s --check-prefix=VALUESOFCODES
//
// ONCE: {{^}}// schedule row<threads = 96, vector = 8, tiles = 4, resident = 8, prefetch = 1>
// BYWARPS: {{^}}// schedule row<threads = 224, vector = 8, lanes = 32, tiles = 4, resident = 5, prefetch = 1>
// OLDER: {{^}}// schedule row<threads = 128, vector = 16, tiles = 3>
// OFROWS: {{^}}// schedule row<threads = 256, vector = 8, tiles = 4, resident = 2, prefetch = 1>
// WIDE: {{^}}// schedule row<threads = 256, vector = 16, lanes = 4, tiles = 3, resident = 2>
// SOFTWARE: {{^}}// schedule row<threads = 224, vector = 16, lanes = 4, tiles = 4, resident = 4, prefetch = 1>
// DRAWN: {{^}}// schedule row<threads = 160, vector = 16, lanes = 4, tiles = 4, resident = 4, prefetch = 1>
// TWICE: {{^}}// schedule row<threads = 128, vector = 16, tiles = 4, resident = 4, prefetch = 1>
// LONG: {{^}}// schedule row<threads = 480, vector = 16, tiles = 3, resident = 2>
// PLAIN: {{^}}// schedule row<threads = 64, vector = 8, tiles = 4, resident = 12, prefetch = 1>
// UNCUT: {{^}}// schedule row<threads = 288, vector = 16, tiles = 3, resident = 3>
// ALONE: {{^}}// schedule row<threads = 192, vector = 16, lanes = 4, tiles = 4, resident = 2, prefetch = 1>
// NOTTIMED: {{^}}// schedule row<threads = 96, vector = 16>
// VALUES: {{^}}// schedule row<threads = 288, vector = 8, lanes = 32, resident = 3, bulk = 1>
// PASTEND: {{^}}// schedule row<threads = 192, vector = 8, tiles = 2, resident = 8>
// ADDED: {{^}}// schedule row<threads = 160, vector = 16, tiles = 3, resident = 6>
// FOURGROUPS: {{^}}// schedule map<threads = 16, vector = 16, rows = 8, loads = 2, lanes = 4, tiles = 4>
// TWOGROUPS: {{^}}// schedule map<threads = 8, vector = 16, rows = 16, loads = 2, lanes = 4, tiles = 2>
// CAST: {{^}}// schedule map<threads = 160, vector = 16, loads = 1, resident = 8>
// COMBINED: {{^}}// schedule map<threads = 16, vector = 16, rows = 8, loads = 2, lanes = 4>
// WARPS: {{^}}// schedule map<threads = 96, vector = 16, loads = 2, tiles = 2>
// BYPOWERS: {{^}}// schedule row<threads = 160, vector = 16, tiles = 4, resident = 4, prefetch = 1>
// BITS: {{^}}// schedule map<threads = 8, vector = 32, rows = 4, loads = 1, tiles = 4, resident = 28>
// MXFP4: {{^}}// schedule map<threads = 8, vector = 16, rows = 8, loads = 2, tiles = 2>
// VALUESOFCODES: {{^}}// schedule map<threads = 128, vector = 8, loads = 2>
// MORE: {{^}}// schedule row<threads = 160, vector = 8, tiles = 4, resident = 7, prefetch = 1>
// GIVEN: {{^}}// schedule row<threads = 448, vector = 16, tiles = 3, resident = 2>
// UNFOLDED: {{^}}// schedule row<threads = {{[0-9]+}}, vector = 16, {{.*}}cluster = 4>
// WHOLE: {{^}}// schedule map<threads = 224, vector = 16, loads = 1, blocks = 792, resident = 6>
// SHORT: {{^}}// schedule map<threads = 32, vector = 16, rows = 4, loads = 2, tiles = 2>
