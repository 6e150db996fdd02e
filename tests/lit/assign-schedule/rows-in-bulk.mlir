// Rows that are stored as values: in bulk where that was faster, a warp's chunks one after the other. What a mask hides whole warps leave out.
// Each is the schedule of contiguous rows, which others follow in a text.
// RUN: eider explain softmax --dim hidden=4096 --arch sm_90a | FileCheck %s --check-prefix=SOFTMAX4096
// RUN: eider explain softmax --dim hidden=5120 --arch sm_90a | FileCheck %s --check-prefix=SOFTMAX5120
// RUN: eider explain softmax --dim hidden=6144 --arch sm_90a | FileCheck %s --check-prefix=SOFTMAX6144
// RUN: eider explain softmax --dim hidden=7168 --arch sm_90a | FileCheck %s --check-prefix=SOFTMAX7168
// RUN: eider explain softmax --set causal=1 --dim hidden=5120 --arch sm_90a | FileCheck %s --check-prefix=SOFTMAXCAUSAL5120
// RUN: eider explain softmax --set causal=1 --dim hidden=6144 --arch sm_90a | FileCheck %s --check-prefix=SOFTMAXCAUSAL6144
// RUN: eider explain softmax --set causal=1 --dim hidden=7168 --arch sm_90a | FileCheck %s --check-prefix=SOFTMAXCAUSAL7168
// RUN: eider explain softmax --set causal=1 --dim hidden=16384 --arch sm_90a | FileCheck %s --check-prefix=SOFTMAXCAUSAL16384
// RUN: eider explain softmax_quant --set causal=1 --dim hidden=4096 --arch sm_90a | FileCheck %s --check-prefix=SOFTMAXQUANTCAUSAL4096
// RUN: eider explain softmax_quant --set causal=1 --dim hidden=7168 --arch sm_90a | FileCheck %s --check-prefix=SOFTMAXQUANTCAUSAL7168
// RUN: eider explain softmax_quant --set causal=1 --dim hidden=8192 --arch sm_90a | FileCheck %s --check-prefix=SOFTMAXQUANTCAUSAL8192
// RUN: eider explain rms_norm --dim hidden=3072 --arch sm_90a | FileCheck %s --check-prefix=RMSNORM3072
// RUN: eider explain rms_norm --dim hidden=5120 --arch sm_90a | FileCheck %s --check-prefix=RMSNORM5120
// RUN: eider explain rms_norm --dim hidden=6144 --arch sm_90a | FileCheck %s --check-prefix=RMSNORM6144
// RUN: eider explain rms_norm --dim hidden=7168 --arch sm_90a | FileCheck %s --check-prefix=RMSNORM7168
// RUN: eider explain rms_norm --dim hidden=10240 --arch sm_90a | FileCheck %s --check-prefix=RMSNORM10240
// RUN: eider explain layer_norm --dim hidden=5120 --arch sm_90a | FileCheck %s --check-prefix=LAYERNORM5120
// RUN: eider explain layer_norm --dim hidden=6144 --arch sm_90a | FileCheck %s --check-prefix=LAYERNORM6144
// RUN: eider explain rms_norm_quant --copy bf16 --dim hidden=5120 --arch sm_90a | FileCheck %s --check-prefix=RMSNORMQUANTCOPY5120
// RUN: eider explain rms_norm_quant --copy bf16 --dim hidden=6144 --arch sm_90a | FileCheck %s --check-prefix=RMSNORMQUANTCOPY6144
// RUN: eider explain rms_norm_quant --copy bf16 --dim hidden=7168 --arch sm_90a | FileCheck %s --check-prefix=RMSNORMQUANTCOPY7168
// RUN: eider explain rms_norm_quant --copy bf16 --scale e8m0 --dim hidden=7168 --arch sm_90a | FileCheck %s --check-prefix=RMSNORMQUANTCOPYSCALEE8M07168
// RUN: eider explain layer_norm_quant --copy bf16 --dim hidden=5120 --arch sm_90a | FileCheck %s --check-prefix=LAYERNORMQUANTCOPY5120
// RUN: eider explain layer_norm_quant --copy bf16 --dim hidden=7168 --arch sm_90a | FileCheck %s --check-prefix=LAYERNORMQUANTCOPY7168
// RUN: eider explain add_rms_norm --dim hidden=4096 --arch sm_90a | FileCheck %s --check-prefix=ADDRMSNORM4096
// RUN: eider explain add_rms_norm --dim hidden=5120 --arch sm_90a | FileCheck %s --check-prefix=ADDRMSNORM5120
// RUN: eider explain add_rms_norm --dim hidden=7168 --arch sm_90a | FileCheck %s --check-prefix=ADDRMSNORM7168
// RUN: eider explain add_layer_norm --dim hidden=7168 --arch sm_90a | FileCheck %s --check-prefix=ADDLAYERNORM7168
// RUN: eider explain softmax --dtype f32 --dim hidden=8192 --arch sm_90a | FileCheck %s --check-prefix=SOFTMAXDTYPEF328192
// RUN: eider explain add_rms_norm --dtype f32 --dim hidden=8192 --arch sm_90a | FileCheck %s --check-prefix=ADDRMSNORMDTYPEF328192
// RUN: eider explain softmax --set causal=1 --dim hidden=16384 --arch sm_80 | FileCheck %s --check-prefix=SOFTMAXCAUSAL16384SM80
// RUN: eider explain softmax_quant --set causal=1 --dim hidden=8192 --arch sm_89 | FileCheck %s --check-prefix=SOFTMAXQUANTCAUSAL8192SM89
// RUN: eider explain rms_norm --dim hidden=7168 --arch sm_80 | FileCheck %s --check-prefix=RMSNORM7168SM80

// SOFTMAX4096: schedule row<threads = 128, vector = 8, lanes = 32, resident = 8, bulk = 1> (heuristic)
// SOFTMAX5120: schedule row<threads = 160, vector = 8, lanes = 32, resident = 6, bulk = 1> (heuristic)
// SOFTMAX6144: schedule row<threads = 192, vector = 8, lanes = 32, resident = 5, bulk = 1> (heuristic)
// SOFTMAX7168: schedule row<threads = 224, vector = 8, lanes = 32, resident = 4, bulk = 1> (heuristic)
// SOFTMAXCAUSAL5120: schedule row<threads = 160, vector = 8, lanes = 32, tiles = 2, resident = 6, bulk = 1> (heuristic)
// SOFTMAXCAUSAL6144: schedule row<threads = 192, vector = 8> (heuristic)
// SOFTMAXCAUSAL7168: schedule row<threads = 224, vector = 8, lanes = 32, tiles = 2, resident = 4, bulk = 1> (heuristic)
// SOFTMAXCAUSAL16384: schedule row<threads = 512, vector = 8, lanes = 32, tiles = 2, resident = 2> (heuristic)
// SOFTMAXQUANTCAUSAL4096: schedule row<threads = 64, vector = 16, lanes = 32, tiles = 2, resident = 8, prefetch = 1> (heuristic)
// SOFTMAXQUANTCAUSAL7168: schedule row<threads = 224, vector = 16, lanes = 32, tiles = 2, resident = 4, prefetch = 1> (heuristic)
// SOFTMAXQUANTCAUSAL8192: schedule row<threads = 128, vector = 16, lanes = 32, tiles = 2, resident = 4, prefetch = 1> (heuristic)
// RMSNORM3072: schedule row<threads = 192, vector = 8, tiles = 3, resident = 6> (heuristic)
// RMSNORM5120: schedule row<threads = 160, vector = 8, lanes = 32, resident = 6, bulk = 1> (heuristic)
// RMSNORM6144: schedule row<threads = 192, vector = 8, lanes = 32, resident = 5, bulk = 1> (heuristic)
// RMSNORM7168: schedule row<threads = 224, vector = 8, lanes = 32, resident = 4, bulk = 1> (heuristic)
// RMSNORM10240: schedule row<threads = 320, vector = 8, lanes = 32, tiles = 2, resident = 3, bulk = 1> (heuristic)
// LAYERNORM5120: schedule row<threads = 160, vector = 8, lanes = 32, tiles = 2, resident = 6, bulk = 1> (heuristic)
// LAYERNORM6144: schedule row<threads = 192, vector = 8, lanes = 32, tiles = 2, resident = 5, bulk = 1> (heuristic)
// RMSNORMQUANTCOPY5120: schedule row<threads = 160, vector = 8, lanes = 32, resident = 6, bulk = 1> (heuristic)
// RMSNORMQUANTCOPY6144: schedule row<threads = 192, vector = 8, lanes = 32, resident = 5, bulk = 1> (heuristic)
// RMSNORMQUANTCOPY7168: schedule row<threads = 224, vector = 8, lanes = 32, resident = 4, bulk = 1> (heuristic)
// RMSNORMQUANTCOPYSCALEE8M07168: schedule row<threads = 224, vector = 8, lanes = 32, resident = 3, bulk = 1> (heuristic)
// LAYERNORMQUANTCOPY5120: schedule row<threads = 160, vector = 8, lanes = 32, tiles = 2, resident = 6, bulk = 1> (heuristic)
// LAYERNORMQUANTCOPY7168: schedule row<threads = 224, vector = 8, lanes = 32, tiles = 2, resident = 4, bulk = 1> (heuristic)
// ADDRMSNORM4096: schedule row<threads = 256, vector = 8, lanes = 32, bulk = 1> (heuristic)
// ADDRMSNORM5120: schedule row<threads = 320, vector = 8, lanes = 32, bulk = 1> (heuristic)
// ADDRMSNORM7168: schedule row<threads = 448, vector = 8, lanes = 32, bulk = 1> (heuristic)
// ADDLAYERNORM7168: schedule row<threads = 224, vector = 8, lanes = 32, resident = 4, bulk = 1> (heuristic)
// SOFTMAXDTYPEF328192: schedule row<threads = 256, vector = 8, resident = 4, bulk = 1> (heuristic)
// ADDRMSNORMDTYPEF328192: schedule row<threads = 512, vector = 8, bulk = 1> (heuristic)
// SOFTMAXCAUSAL16384SM80: schedule row<threads = 256, vector = 8, tiles = 2> (heuristic)
// SOFTMAXQUANTCAUSAL8192SM89: schedule row<threads = 256, vector = 16, lanes = 4, tiles = 2, resident = 4, prefetch = 1> (heuristic)
// RMSNORM7168SM80: schedule row<threads = 224, vector = 8> (heuristic)
