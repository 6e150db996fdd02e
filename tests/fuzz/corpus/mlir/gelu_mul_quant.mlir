module {
  eider.program @gelu_mul_quant(tokens, hidden = 512) {
    %0 = eider.input "x" : tensor<?x1024xbf16, #eider.dims<tokens, 2 * hidden>>
    %1 = eider.half first %0 {eider.name = "gate"} : tensor<?x1024xbf16, #eider.dims<tokens, 2 * hidden>> -> tensor<?x512xbf16, #eider.dims<tokens, hidden>>
    %2 = eider.half second %0 {eider.name = "up"} : tensor<?x1024xbf16, #eider.dims<tokens, 2 * hidden>> -> tensor<?x512xbf16, #eider.dims<tokens, hidden>>
    %3 = arith.extf %1 : tensor<?x512xbf16, #eider.dims<tokens, hidden>> to tensor<?x512xf32, #eider.dims<tokens, hidden>>
    %cst = arith.constant 0.707106769 : f32
    %4 = eider.broadcast %cst : f32 to tensor<?x512xf32, #eider.dims<tokens, hidden>>
    %5 = arith.mulf %3, %4 : tensor<?x512xf32, #eider.dims<tokens, hidden>>
    %6 = math.erf %5 : tensor<?x512xf32, #eider.dims<tokens, hidden>>
    %cst_0 = arith.constant 5.000000e-01 : f32
    %7 = eider.broadcast %cst_0 : f32 to tensor<?x512xf32, #eider.dims<tokens, hidden>>
    %8 = arith.mulf %3, %7 : tensor<?x512xf32, #eider.dims<tokens, hidden>>
    %cst_1 = arith.constant 1.000000e+00 : f32
    %9 = eider.broadcast %cst_1 : f32 to tensor<?x512xf32, #eider.dims<tokens, hidden>>
    %10 = arith.addf %9, %6 : tensor<?x512xf32, #eider.dims<tokens, hidden>>
    %11 = arith.mulf %8, %10 : tensor<?x512xf32, #eider.dims<tokens, hidden>>
    %12 = arith.extf %2 : tensor<?x512xbf16, #eider.dims<tokens, hidden>> to tensor<?x512xf32, #eider.dims<tokens, hidden>>
    %13 = arith.mulf %11, %12 {eider.name = "activated"} : tensor<?x512xf32, #eider.dims<tokens, hidden>>
    %14 = eider.quantize %13 numerics<> : tensor<?x512xf32, #eider.dims<tokens, hidden>> -> !eider.scaled<?x512xf8E4M3FN, dims = <tokens, hidden>, block = [1, 128], scale = f32, layout = row_major>
    eider.output "y", %14 : !eider.scaled<?x512xf8E4M3FN, dims = <tokens, hidden>, block = [1, 128], scale = f32, layout = row_major>
  }
}

