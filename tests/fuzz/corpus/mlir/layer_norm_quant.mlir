module {
  eider.program @layer_norm_quant(tokens, hidden = 512) {
    %0 = eider.input "x" : tensor<?x512xbf16, #eider.dims<tokens, hidden>>
    %1 = eider.input "weight" : tensor<512xbf16, #eider.dims<hidden>>
    %2 = eider.input "bias" : tensor<512xbf16, #eider.dims<hidden>>
    %3 = eider.scalar "eps" = 9.99999997E-7
    %4 = arith.extf %0 : tensor<?x512xbf16, #eider.dims<tokens, hidden>> to tensor<?x512xf32, #eider.dims<tokens, hidden>>
    %5 = eider.reduce mean %4 over [1, *] {eider.name = "mean"} : tensor<?x512xf32, #eider.dims<tokens, hidden>> -> tensor<?x1xf32, #eider.dims<tokens, 1>>
    %6 = eider.broadcast %5 : tensor<?x1xf32, #eider.dims<tokens, 1>> to tensor<?x512xf32, #eider.dims<tokens, hidden>>
    %7 = arith.subf %4, %6 {eider.name = "centred"} : tensor<?x512xf32, #eider.dims<tokens, hidden>>
    %8 = arith.mulf %7, %7 : tensor<?x512xf32, #eider.dims<tokens, hidden>>
    %9 = eider.reduce mean %8 over [1, *] {eider.name = "variance"} : tensor<?x512xf32, #eider.dims<tokens, hidden>> -> tensor<?x1xf32, #eider.dims<tokens, 1>>
    %10 = eider.broadcast %3 : f32 to tensor<?x1xf32, #eider.dims<tokens, 1>>
    %11 = arith.addf %9, %10 : tensor<?x1xf32, #eider.dims<tokens, 1>>
    %12 = math.rsqrt %11 : tensor<?x1xf32, #eider.dims<tokens, 1>>
    %13 = eider.broadcast %12 : tensor<?x1xf32, #eider.dims<tokens, 1>> to tensor<?x512xf32, #eider.dims<tokens, hidden>>
    %14 = arith.mulf %7, %13 : tensor<?x512xf32, #eider.dims<tokens, hidden>>
    %15 = arith.extf %1 : tensor<512xbf16, #eider.dims<hidden>> to tensor<512xf32, #eider.dims<hidden>>
    %16 = eider.broadcast %15 : tensor<512xf32, #eider.dims<hidden>> to tensor<?x512xf32, #eider.dims<tokens, hidden>>
    %17 = arith.mulf %14, %16 : tensor<?x512xf32, #eider.dims<tokens, hidden>>
    %18 = arith.extf %2 : tensor<512xbf16, #eider.dims<hidden>> to tensor<512xf32, #eider.dims<hidden>>
    %19 = eider.broadcast %18 : tensor<512xf32, #eider.dims<hidden>> to tensor<?x512xf32, #eider.dims<tokens, hidden>>
    %20 = arith.addf %17, %19 {eider.name = "n"} : tensor<?x512xf32, #eider.dims<tokens, hidden>>
    %21 = eider.quantize %20 numerics<> : tensor<?x512xf32, #eider.dims<tokens, hidden>> -> !eider.scaled<?x512xf8E4M3FN, dims = <tokens, hidden>, block = [1, 128], scale = f32, layout = row_major>
    eider.output "y", %21 : !eider.scaled<?x512xf8E4M3FN, dims = <tokens, hidden>, block = [1, 128], scale = f32, layout = row_major>
  }
}

