module {
  eider.program @softmax(tokens, hidden = 512) {
    %0 = eider.input "x" : tensor<?x512xbf16, #eider.dims<tokens, hidden>>
    %1 = eider.scalar "softmax_scale" = 1.000000e+00
    %2 = arith.extf %0 : tensor<?x512xbf16, #eider.dims<tokens, hidden>> to tensor<?x512xf32, #eider.dims<tokens, hidden>>
    %3 = eider.broadcast %1 : f32 to tensor<?x512xf32, #eider.dims<tokens, hidden>>
    %4 = arith.mulf %2, %3 {eider.name = "logits"} : tensor<?x512xf32, #eider.dims<tokens, hidden>>
    %5 = eider.reduce max %4 over [1, *] : tensor<?x512xf32, #eider.dims<tokens, hidden>> -> tensor<?x1xf32, #eider.dims<tokens, 1>>
    %6 = eider.broadcast %5 : tensor<?x1xf32, #eider.dims<tokens, 1>> to tensor<?x512xf32, #eider.dims<tokens, hidden>>
    %7 = arith.subf %4, %6 : tensor<?x512xf32, #eider.dims<tokens, hidden>>
    %8 = math.exp %7 {eider.name = "power"} : tensor<?x512xf32, #eider.dims<tokens, hidden>>
    %9 = eider.reduce sum %8 over [1, *] : tensor<?x512xf32, #eider.dims<tokens, hidden>> -> tensor<?x1xf32, #eider.dims<tokens, 1>>
    %cst = arith.constant 1.000000e+00 : f32
    %10 = eider.broadcast %cst : f32 to tensor<?x1xf32, #eider.dims<tokens, 1>>
    %11 = arith.divf %10, %9 {eider.name = "share"} : tensor<?x1xf32, #eider.dims<tokens, 1>>
    %12 = eider.broadcast %11 : tensor<?x1xf32, #eider.dims<tokens, 1>> to tensor<?x512xf32, #eider.dims<tokens, hidden>>
    %13 = arith.mulf %8, %12 {eider.name = "probability"} : tensor<?x512xf32, #eider.dims<tokens, hidden>>
    %14 = arith.truncf %13 : tensor<?x512xf32, #eider.dims<tokens, hidden>> to tensor<?x512xbf16, #eider.dims<tokens, hidden>>
    eider.output "y", %14 : tensor<?x512xbf16, #eider.dims<tokens, hidden>>
  }
}

