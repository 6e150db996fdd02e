// What is only given beside codes costs a schedule nothing: with an amax it is as without, but for short segments of a
// cast (widths-that-were-timed.mlir), and that of few rows the last block combines what all have left.
//
// RUN: eider emit quantize --amax yes --dim hidden=5120 --arch sm_90a | grep 'schedule\|__global__' | FileCheck %s
// CHECK: schedule map<{{.*}}combine = 1
// CHECK-NOT: combine
//
// RUN: eider emit quantize --dim hidden=5120 --arch sm_90a | grep schedule | sed 1d | uniq > %t.without
// RUN: eider emit quantize --amax yes --dim hidden=5120 --arch sm_90a | grep schedule | grep -v 'threads = 1,' | grep -v combine | uniq | diff - %t.without
// RUN: eider emit silu_mul_quant --dim hidden=4104 --arch sm_90a | grep schedule | sed 1d | uniq > %t.without
// RUN: eider emit silu_mul_quant --amax yes --dim hidden=4104 --arch sm_90a | grep schedule | grep -v 'threads = 1,' | grep -v combine | uniq | diff - %t.without
// RUN: eider emit norm_rope_quant --dim hidden=7168 --dim max_position=4096 --arch sm_90a | grep schedule | sed 1d | uniq > %t.without
// RUN: eider emit norm_rope_quant --amax yes --dim hidden=7168 --dim max_position=4096 --arch sm_90a | grep schedule | grep -v 'threads = 1,' | grep -v combine | uniq | diff - %t.without
// RUN: eider emit rms_norm_quant --dim hidden=8192 --arch sm_90a | grep schedule | sed 1d | uniq > %t.without
// RUN: eider emit rms_norm_quant --amax yes --dim hidden=8192 --arch sm_90a | grep schedule | grep -v 'threads = 1,' | grep -v combine | uniq | diff - %t.without
// RUN: eider emit cast_transpose --dim hidden=8192 --arch sm_90a | grep schedule | sed 1d | uniq > %t.without
// RUN: eider emit cast_transpose --amax yes --dim hidden=8192 --arch sm_90a | grep schedule | grep -v 'threads = 1,' | grep -v combine | uniq | diff - %t.without
