// Widths of models that no power of two of warps holds, where bounds on registers once spilled: codes of four bits in short segments, or with no bound; random bits by chunks of 32 elements; one chunk a thread
// becomes two of half the threads; uneven rows of codes are ahead after two sums, and where they are wide; rows of two blocks in place of four.
// Short rows that begin anywhere have chunks of which few lanes are past the end, and much arithmetic on rows that begin at 8 elements short segments.
//
// RUN: eider emit quantize --format e2m1 --block 1x16 --scale e4m3 --dim hidden=2560 --arch sm_90a | grep schedule | FileCheck %s --check-prefix=SHORT
// RUN: eider emit quantize --format e2m1 --block 1x16 --scale e4m3 --dim hidden=5376 --arch sm_90a | grep schedule | FileCheck %s --check-prefix=NEARLY
// RUN: eider emit quantize --format e2m1 --block 1x16 --scale e4m3 --dim hidden=2880 --arch sm_90a | grep schedule | FileCheck %s --check-prefix=UNBOUND
// RUN: eider emit quantize --set rounding=stochastic --dim hidden=2880 --arch sm_90a | grep schedule | FileCheck %s --check-prefix=DRAWN
// RUN: eider emit rms_norm_quant --dim hidden=2944 --arch sm_90a | grep schedule | FileCheck %s --check-prefix=HALVED
// RUN: eider emit layer_norm_quant --dim hidden=5632 --arch sm_90a | grep schedule | FileCheck %s --check-prefix=TWICE
// RUN: eider emit rms_norm_quant --dim hidden=5504 --arch sm_90a | grep schedule | FileCheck %s --check-prefix=ONCE
// RUN: eider emit add_rms_norm_quant --dim hidden=13824 --arch sm_90a | grep schedule | FileCheck %s --check-prefix=ADDED
// RUN: eider emit rms_norm_quant --format e2m1 --block 1x16 --scale e4m3 --dim hidden=3584 --arch sm_90a | grep schedule | FileCheck %s --check-prefix=MUCH
// RUN: eider emit rms_norm_quant --set rounding=stochastic --dim hidden=5376 --arch sm_90a | grep schedule | FileCheck %s --check-prefix=ROWDRAWN
// RUN: eider emit add_rms_norm_quant --block 1x512 --dim hidden=13824 --arch sm_90a | grep schedule | FileCheck %s --check-prefix=GROUP
// RUN: eider emit softmax_quant --set causal=1 --dim hidden=11008 --arch sm_90a | grep schedule | FileCheck %s --check-prefix=MASKED
// RUN: eider emit softmax_quant --dim hidden=11008 --arch sm_90a | grep schedule | FileCheck %s --check-prefix=PLAIN
// RUN: eider emit requantize --dim hidden=8193 --arch sm_90a | grep schedule | FileCheck %s --check-prefix=CODES
// RUN: eider emit layer_norm_quant --dim hidden=13312 --arch sm_90a | grep schedule | FileCheck %s --check-prefix=AHEAD
// RUN: eider emit rms_norm_quant --dim hidden=13568 --arch sm_90a | grep schedule | FileCheck %s --check-prefix=WIDE
// RUN: eider emit layer_norm --dim hidden=11136 --arch sm_90a | grep schedule | FileCheck %s --check-prefix=ASREAD
// RUN: eider emit rms_norm_quant --copy bf16 --dim hidden=18432 --arch sm_90a | grep schedule | FileCheck %s --check-prefix=TWO
// RUN: eider emit layer_norm --dim hidden=20480 --arch sm_90a | grep schedule | FileCheck %s --check-prefix=BOTH
// RUN: eider emit layer_norm --dim hidden=32768 --arch sm_90a | grep schedule | FileCheck %s --check-prefix=ALONE
// RUN: eider emit rms_norm_quant --dim hidden=18432 --arch sm_90a | grep schedule | FileCheck %s --check-prefix=WIDECODES
// RUN: eider emit rms_norm_quant --set rounding=stochastic --dim hidden=18432 --arch sm_90a | grep schedule | FileCheck %s --check-prefix=WIDEDRAWN
// RUN: eider emit layer_norm_quant --set rounding=stochastic --dim hidden=18432 --arch sm_90a | grep schedule | FileCheck %s --check-prefix=NOTALONE
// RUN: eider emit rms_norm_quant --block 1x32 --set rounding=stochastic --dim hidden=18432 --arch sm_90a | grep schedule | FileCheck %s --check-prefix=NOTALONE
// RUN: eider emit layer_norm_quant --dim hidden=28672 --arch sm_90a | grep schedule | FileCheck %s --check-prefix=WIDER
// RUN: eider emit layer_norm_quant --dim hidden=32768 --arch sm_90a | grep schedule | FileCheck %s --check-prefix=WIDEST
// RUN: eider emit rms_norm_quant --codec software --dim hidden=2560 --arch sm_90a | grep schedule | FileCheck %s --check-prefix=BYARITHMETIC
// RUN: eider emit rms_norm_quant --codec software --dim hidden=12288 --arch sm_90a | grep schedule | FileCheck %s --check-prefix=LONGARITHMETIC
// RUN: eider emit layer_norm_quant --codec software --dim hidden=5120 --arch sm_90a | grep schedule | FileCheck %s --check-prefix=FOLDED
// RUN: eider emit layer_norm_quant --dim hidden=6144 --arch sm_80 | grep schedule | FileCheck %s --check-prefix=OLDER
// RUN: eider emit rms_norm_quant --format e2m1 --block 1x16 --scale e4m3 --dim hidden=6144 --arch sm_90a | grep schedule | FileCheck %s --check-prefix=THREECHUNKS
// RUN: eider emit rms_norm_quant --block "1x*" --dim hidden=28672 --arch sm_90a | grep schedule | FileCheck %s --check-prefix=OFROWS
// RUN: eider emit gelu_bias_quant --block "1x*" --dim hidden=28672 --arch sm_90a | grep schedule | FileCheck %s --check-prefix=NOTSUMMED
// RUN: eider emit rms_norm_quant --set rounding=stochastic --dim hidden=2560 --arch sm_90a | grep schedule | FileCheck %s --check-prefix=SHORTDRAWN
// RUN: eider emit rms_norm_quant --format e2m1 --block 1x16 --scale e4m3 --dim hidden=2560 --arch sm_90a | grep schedule | FileCheck %s --check-prefix=SHORTPACKED
// RUN: eider emit rms_norm_quant --format e2m1 --block 1x16 --scale e4m3 --dim hidden=2880 --arch sm_90a | grep schedule | FileCheck %s --check-prefix=SHORTMUCH
// RUN: eider emit rms_norm_quant --dim hidden=2049 --arch sm_90a | grep schedule | FileCheck %s --check-prefix=SHORTSHIFTED
// RUN: eider emit rms_norm_quant --dim hidden=3073 --arch sm_90a | grep schedule | FileCheck %s --check-prefix=LONGSHIFTED
// RUN: eider emit layer_norm --dim hidden=4097 --arch sm_90a | grep schedule | FileCheck %s --check-prefix=MORESHIFTED
// RUN: eider emit gelu_quant --block 1x32 --dim hidden=4104 --arch sm_90a | grep schedule | FileCheck %s --check-prefix=MUCHSHIFTED
// RUN: eider emit silu_quant --block 1x32 --dim hidden=4104 --arch sm_90a | grep schedule | FileCheck %s --check-prefix=LITTLESHIFTED
// RUN: eider emit gelu_quant --dim hidden=4104 --arch sm_90a | grep schedule | FileCheck %s --check-prefix=MUCHALIGNED
// RUN: eider emit silu_quant --dim hidden=4104 --arch sm_90a | grep schedule | FileCheck %s --check-prefix=LITTLEALIGNED
// RUN: eider emit silu_quant --codec software --dim hidden=4104 --arch sm_90a | grep schedule | FileCheck %s --check-prefix=SOFTALIGNED
// RUN: eider emit quantize --dim hidden=3080 --arch sm_90a | grep schedule | FileCheck %s --check-prefix=CASTALIGNED
// RUN: eider emit requantize --dim hidden=4104 --arch sm_90a | grep schedule | FileCheck %s --check-prefix=CODESALIGNED
// RUN: eider emit quantize --block '1x*' --dim hidden=4104 --arch sm_90a | grep schedule | FileCheck %s --check-prefix=ROWALIGNED
// RUN: eider emit requantize --from-format e2m1 --from-block 1x16 --from-scale e8m0 --dim hidden=4104 --arch sm_90a | grep schedule | FileCheck %s --check-prefix=PACKEDALIGNED
// RUN: eider emit softmax_quant --codec software --dim hidden=4104 --arch sm_90a | grep schedule | FileCheck %s --check-prefix=ROWSOFTALIGNED
// RUN: eider emit softmax_quant --block 1x512 --dim hidden=8200 --arch sm_90a | grep schedule | FileCheck %s --check-prefix=GROUPALIGNED
// RUN: eider emit softmax_quant --dim hidden=8200 --arch sm_90a | grep schedule | FileCheck %s --check-prefix=LONGALIGNED
// RUN: eider emit requantize --dim hidden=2049 --arch sm_90a | grep schedule | FileCheck %s --check-prefix=SHORTCODES
//
// SHORT: {{^}}// schedule map<threads = 8, vector = 16, rows = 8, loads = 4, tiles = 2>
// NEARLY: {{^}}// schedule map<threads = 8, vector = 16, rows = 16, loads = 4>
// UNBOUND: {{^}}// schedule map<threads = 96, vector = 16, loads = 2, tiles = 2>
// DRAWN: {{^}}// schedule map<threads = 32, vector = 32, rows = 4, loads = 1, tiles = 4>
// HALVED: {{^}}// schedule row<threads = 96, vector = 16, tiles = 3, resident = 9>
// TWICE: {{^}}// schedule row<threads = 352, vector = 8, tiles = 4, resident = 3, prefetch = 1>
// ONCE: {{^}}// schedule row<threads = 128, vector = 16, tiles = 3>
// ADDED: {{^}}// schedule row<threads = 256, vector = 8>
// MUCH: {{^}}// schedule row<threads = 224, vector = 16, tiles = 4, resident = 5, prefetch = 1>
// ROWDRAWN: {{^}}// schedule row<threads = 128, vector = 16, tiles = 4, resident = 4, prefetch = 1>
// GROUP: {{^}}// schedule row<threads = {{[0-9]+}}, vector = 16
// MASKED: {{^}}// schedule row<threads = {{.*}}cluster = 2>
// PLAIN: {{^}}// schedule row<threads = 352, vector = 16>
// CODES: {{^}}// schedule map<threads = 16, vector = 16, rows = 8, loads = 2, tiles = 2>
// AHEAD: {{^}}// schedule row<threads = 416, vector = 16, lanes = 4, tiles = 4, resident = 2, prefetch = 1>
// WIDE: {{^}}// schedule row<threads = 448, vector = 16, tiles = 2, resident = 2, prefetch = 1>
// ASREAD: {{^}}// schedule row<threads = 352, vector = 8, tiles = 2, resident = 3>
// TWO: {{^}}// schedule row<threads = 288, vector = 16, tiles = 4, resident = 3, cluster = 2>
// BOTH: {{^}}// schedule row<threads = 640, vector = 8, tiles = 4, resident = 1, prefetch = 1>
// BOTH: {{^}}// schedule row<threads = 320, vector = 8, tiles = 4, resident = 2, prefetch = 1, cluster = 2>
// ALONE: {{^}}// schedule row<threads = 1024, vector = 8, resident = 1>
// WIDECODES: {{^}}// schedule row<threads = 288, vector = 16, tiles = 4, resident = 3, cluster = 2>
// WIDECODES: {{^}}// schedule row<threads = 288, vector = 16, lanes = 4, tiles = 2, resident = 2>
// WIDEDRAWN: {{^}}// schedule row<threads = 160, vector = 16, tiles = 4, resident = 5, cluster = 4>
// WIDEDRAWN: {{^}}// schedule row<threads = 576, vector = 16, lanes = 4, tiles = 4, resident = 1, prefetch = 1>
// NOTALONE: schedule row<threads = 160, vector = 16, tiles = 4, resident = 5, cluster = 4>
// NOTALONE-NEXT: schedule row<threads = 160, vector = 16, tiles = 4, resident = 5, cluster = 4>
// WIDER: {{^}}// schedule row<threads = 896, vector = 16, lanes = 4, tiles = 4, resident = 1, prefetch = 1>
// WIDEST: {{^}}// schedule row<threads = 512, vector = 16, lanes = 4, tiles = 4, resident = 1, prefetch = 1>
// BYARITHMETIC: {{^}}// schedule row<threads = 160, vector = 16, tiles = 3, resident = 8, prefetch = 1>
// LONGARITHMETIC: {{^}}// schedule row<threads = 384, vector = 16, tiles = 4, resident = 2, prefetch = 1>
// FOLDED: {{^}}// schedule row<threads = 160, vector = 16, lanes = 4, tiles = 2, resident = 6>
// FOLDED: {{^}}// schedule row<threads = 160, vector = 16, lanes = 4, tiles = 4, resident = 5, prefetch = 1>
// OLDER: {{^}}// schedule row<threads = 192, vector = 16, lanes = 4, tiles = 4, resident = 4, prefetch = 1>
// THREECHUNKS: {{^}}// schedule row<threads = 128, vector = 16, tiles = 4, resident = 4, prefetch = 1>
// OFROWS: {{^}}// schedule row<threads = 896, vector = 16, tiles = 4, resident = 1, prefetch = 1>
// NOTSUMMED: {{^}}// schedule row<threads = 448, vector = 16, tiles = 4, resident = 2, cluster = 2>
// NOTSUMMED-NOT: threads = 896
// SHORTDRAWN: {{^}}// schedule row<threads = 64, vector = 16, tiles = 4, resident = 8, prefetch = 1>
// SHORTPACKED: {{^}}// schedule row<threads = 160, vector = 16, tiles = 4, resident = 8>
// SHORTMUCH: {{^}}// schedule row<threads = 64, vector = 16, tiles = 4, resident = 8, prefetch = 1>
// SHORTSHIFTED: {{^}}// schedule row<threads = 96, vector = 8, tiles = 3, resident = 12>
// LONGSHIFTED: {{^}}// schedule row<threads = 128, vector = 32, tiles = 3, resident = 9>
// MORESHIFTED: {{^}}// schedule row<threads = 96, vector = 16, tiles = 3, resident = 5>
// MUCHSHIFTED: {{^}}// schedule map<threads = 16, vector = 16, rows = 8, loads = 1, tiles = 2>
// LITTLESHIFTED-COUNT-3: {{^}}// schedule map<threads = 160, vector = 32, loads = 1>
// MUCHALIGNED: {{^}}// schedule map<threads = 16, vector = 8, rows = 8, loads = 2, lanes = 8, tiles = 2>
// LITTLEALIGNED: {{^}}// schedule map<threads = 96, vector = 8, loads = 2, lanes = 8>
// SOFTALIGNED-COUNT-3: {{^}}// schedule map<threads = 160, vector = 32, loads = 1, tiles = 2>
// CASTALIGNED: {{^}}// schedule map<threads = 224, vector = 8, loads = 2, lanes = 8>
// CODESALIGNED: {{^}}// schedule map<threads = 96, vector = 8, loads = 2, lanes = 8, tiles = 2>
// ROWALIGNED: {{^}}// schedule row<threads = 192, vector = 8, tiles = 3, resident = 6>
// PACKEDALIGNED-COUNT-3: {{^}}// schedule map<threads = 160, vector = 32, loads = 1>
// ROWSOFTALIGNED-COUNT-3: {{^}}// schedule row<threads = 160, vector = 32, tiles = 3, resident = 5>
// GROUPALIGNED-COUNT-3: {{^}}// schedule row<threads = 288, vector = 32, tiles = 3, resident = 4>
// LONGALIGNED: {{^}}// schedule row<threads = 224, vector = 8, tiles = 3, resident = 4>
// SHORTCODES: {{^}}// schedule map<threads = 16, vector = 16, rows = 8, loads = 1, tiles = 2>
