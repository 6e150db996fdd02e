module {
  eider.program @add_rms_norm_quant(tokens, hidden = 256) {
    %0 = eider.input "x" : tensor<?x256xbf16, #eider.dims<tokens, hidden>>
    %1 = eider.inout "residual" : tensor<?x256xbf16, #eider.dims<tokens, hidden>>
    %2 = eider.input "weight" : tensor<256xbf16, #eider.dims<hidden>>
    %3 = eider.scalar "eps" = 9.99999997E-7
    %4 = arith.extf %0 : tensor<?x256xbf16, #eider.dims<tokens, hidden>> to tensor<?x256xf32, #eider.dims<tokens, hidden>>
    %5 = arith.extf %1 : tensor<?x256xbf16, #eider.dims<tokens, hidden>> to tensor<?x256xf32, #eider.dims<tokens, hidden>>
    %6 = arith.addf %4, %5 {eider.name = "h"} : tensor<?x256xf32, #eider.dims<tokens, hidden>>
    %7 = arith.truncf %6 : tensor<?x256xf32, #eider.dims<tokens, hidden>> to tensor<?x256xbf16, #eider.dims<tokens, hidden>>
    eider.store "residual", %7 : tensor<?x256xbf16, #eider.dims<tokens, hidden>>
    %8 = arith.mulf %6, %6 : tensor<?x256xf32, #eider.dims<tokens, hidden>>
    %9 = eider.reduce mean %8 over [1, *] {eider.name = "mean_square"} : tensor<?x256xf32, #eider.dims<tokens, hidden>> -> tensor<?x1xf32, #eider.dims<tokens, 1>>
    %10 = eider.broadcast %3 : f32 to tensor<?x1xf32, #eider.dims<tokens, 1>>
    %11 = arith.addf %9, %10 : tensor<?x1xf32, #eider.dims<tokens, 1>>
    %12 = math.rsqrt %11 : tensor<?x1xf32, #eider.dims<tokens, 1>>
    %13 = eider.broadcast %12 : tensor<?x1xf32, #eider.dims<tokens, 1>> to tensor<?x256xf32, #eider.dims<tokens, hidden>>
    %14 = arith.mulf %6, %13 : tensor<?x256xf32, #eider.dims<tokens, hidden>>
    %15 = arith.extf %2 : tensor<256xbf16, #eider.dims<hidden>> to tensor<256xf32, #eider.dims<hidden>>
    %16 = eider.broadcast %15 : tensor<256xf32, #eider.dims<hidden>> to tensor<?x256xf32, #eider.dims<tokens, hidden>>
    %17 = arith.mulf %14, %16 {eider.name = "n"} : tensor<?x256xf32, #eider.dims<tokens, hidden>>
    %18 = eider.quantize %17 numerics<> : tensor<?x256xf32, #eider.dims<tokens, hidden>> -> !eider.scaled<?x256xf8E4M3FN, dims = <tokens, hidden>, block = [1, 128], scale = f32, layout = row_major>
    eider.output "y", %18 : !eider.scaled<?x256xf8E4M3FN, dims = <tokens, hidden>, block = [1, 128], scale = f32, layout = row_major>
  }
}

