// Targets and codecs that there are not.
//
// RUN: not eider-opt %s -eider-legalize=target=sm_70 2>&1 | FileCheck %s --check-prefix=TARGET
// RUN: not eider-opt %s '-eider-legalize=codec=fast' 2>&1 | FileCheck %s --check-prefix=CODEC
// RUN: not eider-opt %s '-eider-legalize=target=sm_80 codec=hardware' 2>&1 | FileCheck %s --check-prefix=HARDWARE

// TARGET: error: no target 'sm_70'
// CODEC: error: no codec 'fast'; they are auto, hardware, software
// HARDWARE: error: sm_80 has no FP8 conversions (sm_89 is the first); take codec auto or software
eider.program @p(n) {
}
