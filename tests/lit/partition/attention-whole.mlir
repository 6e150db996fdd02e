// Attention whose largest value is wanted, too: three kernels, of which none begins before the one before it has ended, for
// what it reads first is not what attention left; one is cooperative in the variant for small matrices.
//
// RUN: eider-opt %s -eider-partition | FileCheck %s
// RUN: eider build %s --arch sm_90 --emit cu,header -o %t && FileCheck %s --check-prefix=TEXT < %t/prog.sm_90.cu

// CHECK: eider.program @prog_parts(
// CHECK: eider.program @prog_amax(
// CHECK: eider.program @prog(
// TEXT: void prog_cooperative(
// TEXT: Parts::combined(

module {
  eider.program @prog(b, h = 8, d = 64, pages, page = 16, kv_heads = 2, max_pages, scales = 1) {
    %0 = eider.input "q" : tensor<?x8x64xbf16, #eider.dims<b, h, d>>
    %1 = eider.input "k_cache" : tensor<?x16x2x64xf8E4M3FN, #eider.dims<pages, page, kv_heads, d>>
    %2 = eider.input "v_cache" : tensor<?x16x2x64xf8E4M3FN, #eider.dims<pages, page, kv_heads, d>>
    %3 = eider.input "k_scale" : tensor<1xf32, #eider.dims<scales>>
    %4 = eider.input "v_scale" : tensor<1xf32, #eider.dims<scales>>
    %5 = eider.input "block_table" : tensor<?x?xi32, #eider.dims<b, max_pages>>
    %6 = eider.input "lengths" : tensor<?xi32, #eider.dims<b>>
%7 = eider.attention %0, %1 by %3, %2 by %4 pages %5 lengths %6 : (tensor<?x8x64xbf16, #eider.dims<b, h, d>>, tensor<?x16x2x64xf8E4M3FN, #eider.dims<pages, page, kv_heads, d>>, tensor<1xf32, #eider.dims<scales>>, tensor<?x16x2x64xf8E4M3FN, #eider.dims<pages, page, kv_heads, d>>, tensor<1xf32, #eider.dims<scales>>, tensor<?x?xi32, #eider.dims<b, max_pages>>, tensor<?xi32, #eider.dims<b>>) -> tensor<?x8x64xf32, #eider.dims<b, h, d>>
%8 = eider.reduce amax %7 over [*, *, *] : tensor<?x8x64xf32, #eider.dims<b, h, d>> -> tensor<1x1x1xf32, #eider.dims<1, 1, 1>>
%88 = eider.broadcast %8 : tensor<1x1x1xf32, #eider.dims<1, 1, 1>> to tensor<?x8x64xf32, #eider.dims<b, h, d>>
%9 = arith.divf %7, %88 : tensor<?x8x64xf32, #eider.dims<b, h, d>>
eider.output "o", %9 : tensor<?x8x64xf32, #eider.dims<b, h, d>>
}}
