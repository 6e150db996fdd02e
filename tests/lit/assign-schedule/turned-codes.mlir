// Both halves of a head in a thread, of any width that segments divide: norms of heads with rows in turn, keys beside values with
// none. Neighbours that are turned ask nobody; random bits were not timed but of whole 8192 columns.
// RUN: eider emit norm_rope_quant --dim hidden=7168 --dim max_position=4096 --arch sm_90a | grep schedule | FileCheck %s --check-prefix=NORM
// RUN: eider emit norm_rope_quant --dim hidden=1024 --dim max_position=4096 --arch sm_90a | grep schedule | FileCheck %s --check-prefix=FEWHEADS
// RUN: eider emit norm_rope_quant --dim hidden=8192 --dim max_position=4096 --arch sm_90a | grep schedule | FileCheck %s --check-prefix=POWER
// RUN: eider emit norm_rope_quant --set interleaved=1 --dim hidden=7168 --dim max_position=4096 --arch sm_90a | grep schedule | FileCheck %s --check-prefix=NEIGHBOURS --implicit-check-not=lanes
// RUN: eider emit norm_rope_quant --set rounding=stochastic --dim hidden=7168 --dim max_position=4096 --arch sm_90a | grep schedule | FileCheck %s --check-prefix=DRAWN --implicit-check-not=lanes
// RUN: eider emit norm_rope_quant --set rounding=stochastic --dim hidden=8192 --dim max_position=4096 --arch sm_90a | grep schedule | FileCheck %s --check-prefix=DRAWNPOWER
// RUN: eider emit norm_rope_quant --codec software --dim hidden=7168 --dim max_position=4096 --arch sm_90a | grep schedule | FileCheck %s --check-prefix=SOFT
// RUN: eider emit rope_quant --dim hidden=5120 --dim max_position=4096 --arch sm_90a | grep schedule | FileCheck %s --check-prefix=TURNED
// RUN: eider emit rope_quant --dim hidden=1024 --dim max_position=4096 --arch sm_90a | grep schedule | FileCheck %s --check-prefix=SHORT
// RUN: eider emit kv_append --dim hidden=1024 --dim slots=512 --dim max_position=4096 --arch sm_90a | grep schedule | FileCheck %s --check-prefix=APPEND
// RUN: eider emit kv_append --block '1x*' --dim hidden=8192 --dim slots=512 --dim max_position=4096 --arch sm_90a | grep schedule | FileCheck %s --check-prefix=ROWS
//
// NORM-COUNT-2: {{^}}// schedule map<threads = 224, vector = 16, loads = 2, lanes = 4, tiles = 4, resident = 4>
// FEWHEADS: {{^}}// schedule map<threads = 32, vector = 16, rows = 4, loads = 2, lanes = 4, tiles = 4, resident = 8>
// POWER: {{^}}// schedule map<threads = 128, vector = 16, loads = 2, lanes = 4, tiles = 4, resident = 8>
// NEIGHBOURS: {{^}}// schedule map<threads = 224, vector = 16, loads = 1, streaming = 1>
// DRAWN: {{^}}// schedule map<
// DRAWNPOWER-COUNT-2: {{^}}// schedule map<threads = 128, vector = 16, loads = 2, lanes = 4, tiles = 4, resident = 8>
// SOFT-COUNT-2: {{^}}// schedule map<threads = 224, vector = 16, loads = 2, lanes = 4, tiles = 4, resident = 4>
// TURNED-COUNT-2: {{^}}// schedule map<threads = 160, vector = 16, loads = 2, lanes = 4, tiles = 2>
// SHORT: {{^}}// schedule map<threads = 32, vector = 16, rows = 4, loads = 2, tiles = 2>
// APPEND-COUNT-2: {{^}}// schedule map<threads = 32, vector = 16, rows = 2, loads = 2, lanes = 4, resident = 12>
// ROWS: {{^}}// schedule row<threads = 512, vector = 16, tiles = 4, resident = 2, prefetch = 1>
