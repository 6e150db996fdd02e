// What an H200's tuner found for rows of 8192 columns and others, and the heuristic had otherwise:
// values of codes whose groups are long stored in bulk; wide rows of a softmax; squares after
// arithmetic; halves with a bias; what arithmetic encodes.
// RUN: eider emit dequantize --block 1x512 --dim hidden=8192 --arch sm_90a | FileCheck %s --check-prefix=LONG
// RUN: eider emit dequantize --block 1x512 --dim hidden=8192 --arch sm_80 | FileCheck %s --check-prefix=LONGOLDER
// RUN: eider emit dequantize --dim hidden=8192 --arch sm_90a | FileCheck %s --check-prefix=BYTES
// RUN: eider emit dequantize --format e2m1 --block 1x32 --scale e8m0 --dim hidden=8192 --arch sm_90a | FileCheck %s --check-prefix=NIBBLES
// RUN: eider emit embedding --dim hidden=8192 --arch sm_90a | FileCheck %s --check-prefix=CHOSEN
// RUN: eider emit gelu --dim hidden=8192 --arch sm_90a | FileCheck %s --check-prefix=GELU
// RUN: eider emit softmax --dim hidden=16384 --arch sm_90a | FileCheck %s --check-prefix=SOFTMAX
// RUN: eider emit silu_quant --block 128x128 --dim hidden=8192 --arch sm_90a | FileCheck %s --check-prefix=SQUARE
// RUN: eider emit quantize --block 128x128 --dim hidden=8192 --arch sm_90a | FileCheck %s --check-prefix=CAST
// RUN: eider emit gelu_mul_bias_quant --dim hidden=8192 --arch sm_90a | FileCheck %s --check-prefix=HALVES
// RUN: eider emit gelu_quant --codec software --dim hidden=8192 --arch sm_90a | FileCheck %s --check-prefix=MUCH
// RUN: eider emit silu_quant --codec software --dim hidden=8192 --arch sm_90a | FileCheck %s --check-prefix=LITTLE
// RUN: eider emit quantize --block "*x*" --scale-source static --codec software --dim hidden=8192 --arch sm_90a | FileCheck %s --check-prefix=GIVEN
// RUN: eider emit requantize --codec software --dim hidden=8192 --arch sm_90a | FileCheck %s --check-prefix=CODES
// RUN: eider emit rope_quant --codec software --dim hidden=8192 --arch sm_90a | FileCheck %s --check-prefix=ROPE
// RUN: eider emit norm_rope_quant --codec software --dim hidden=8192 --arch sm_90a | FileCheck %s --check-prefix=NORMED

// Variants for fewer rows come first; the one of any number is the third.
// LONG-COUNT-2: // schedule map
// LONG: {{^}}// schedule map<threads = 128, vector = 16, loads = 1, bulk = 1>
// LONGOLDER-COUNT-2: // schedule map
// LONGOLDER: {{^}}// schedule map<threads = 128, vector = 16, loads = 1>
// BYTES-COUNT-2: // schedule map
// BYTES: {{^}}// schedule map<threads = 128, vector = 8, loads = 1, streaming = 1>
// NIBBLES-COUNT-2: // schedule map
// NIBBLES: {{^}}// schedule map<threads = 512, vector = 8, loads = 2, streaming = 1>
// CHOSEN: {{^}}// schedule map<threads = 128, vector = 8, loads = 2>
// GELU: {{^}}// schedule map<threads = 128, vector = 8, loads = 1>
// SOFTMAX: {{^}}// schedule row<threads = 256, vector = 8, lanes = 32, tiles = 2, bulk = 1>
// SQUARE: {{^}}// schedule tile<threads = 512, vector = 8, rows = 128, columns = 128, resident = 2>
// CAST: {{^}}// schedule tile<threads = 256, vector = 16, rows = 128, columns = 128>
// HALVES: {{^}}// schedule map<threads = 32, vector = 16, loads = 2, tiles = 2>
// MUCH: {{^}}// schedule map<threads = 128, vector = 16, loads = 2, tiles = 2>
// LITTLE: {{^}}// schedule map<threads = 128, vector = 16, loads = 2, lanes = 4, tiles = 4>
// GIVEN: {{^}}// schedule map<threads = 128, vector = 16, loads = 2>
// CODES: {{^}}// schedule map<threads = 128, vector = 16, loads = 2, lanes = 4, tiles = 2>
// ROPE: {{^}}// schedule map<threads = 128, vector = 16, loads = 2, lanes = 4, tiles = 4>
// NORMED: {{^}}// schedule map<threads = 128, vector = 16, loads = 2, lanes = 4, tiles = 4, resident = 8>
