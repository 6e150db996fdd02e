// A kernel may be called what NVRTC has already declared (`norm`, `exp`, `dim3`), an argument what is a macro (`assert`,
// EIDER_DEVICE): they too need another name, or the text does not compile.
//
// RUN: eider-opt %s -eider-print-cuda -o /dev/null | FileCheck %s

// CHECK: using namespace eider;
// CHECK-NOT: {{ (norm|EIDER_DEVICE|dim3|assert)[(),]}}
simt.kernel @norm ["EIDER_DEVICE"] threads = 32 grid = "1" arguments = [] alignments = {} header = [] {
^bb0(%a: f32):
}
simt.kernel @dim3 [] threads = 32 grid = "1" arguments = [] alignments = {} header = [] {
}
simt.kernel @assert [] threads = 32 grid = "1" arguments = [] alignments = {} header = [] {
}
