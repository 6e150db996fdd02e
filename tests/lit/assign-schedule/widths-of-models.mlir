// Rows as wide as those of models, whose threads are no power of two. Two chunks of 16 a thread: codes of rows that are reduced once have no more blocks than registers allow, of rows that are reduced
// twice the next one is loaded ahead; norms that are stored as they were read have two chunks of 8. Two matrices that are reduced twice have their blocks bounded, and softmax has not.
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
// PHI: row<threads = 96, vector = 16, tiles = 3, resident = 8>
// ONCE: row<threads = 160, vector = 16, tiles = 3, resident = 7>
// TWICE: row<threads = 160, vector = 16, tiles = 4, resident = 4, prefetch = 1>
// WIDER: row<threads = 224, vector = 16, tiles = 3, resident = 5>
// ASREAD: row<threads = 448, vector = 8, tiles = 2, resident = 3>
// ADDED: row<threads = 224, vector = 16, resident = 2>
// NARROW: row<threads = 224, vector = 16, resident = 4>
// PLAIN: row<threads = 192, vector = 16>
// CUT: row<threads = 192, vector = 8, tiles = 3, resident = 6>
