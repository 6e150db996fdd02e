module {
  eider.program @silu_mul_quant(tokens, hidden = 256) {
    %0 = eider.input "x" : tensor<?x512xbf16, #eider.dims<tokens, 2 * hidden>>
    %1 = eider.half first %0 {eider.name = "gate"} : tensor<?x512xbf16, #eider.dims<tokens, 2 * hidden>> -> tensor<?x256xbf16, #eider.dims<tokens, hidden>>
    %2 = eider.half second %0 {eider.name = "up"} : tensor<?x512xbf16, #eider.dims<tokens, 2 * hidden>> -> tensor<?x256xbf16, #eider.dims<tokens, hidden>>
    %3 = arith.extf %1 : tensor<?x256xbf16, #eider.dims<tokens, hidden>> to tensor<?x256xf32, #eider.dims<tokens, hidden>>
    %4 = eider.sigmoid %3 : tensor<?x256xf32, #eider.dims<tokens, hidden>>
    %5 = arith.mulf %3, %4 : tensor<?x256xf32, #eider.dims<tokens, hidden>>
    %6 = arith.extf %2 : tensor<?x256xbf16, #eider.dims<tokens, hidden>> to tensor<?x256xf32, #eider.dims<tokens, hidden>>
    %7 = arith.mulf %5, %6 {eider.name = "activated"} : tensor<?x256xf32, #eider.dims<tokens, hidden>>
    %8 = eider.quantize %7 numerics<> : tensor<?x256xf32, #eider.dims<tokens, hidden>> -> !eider.scaled<?x256xf8E4M3FN, dims = <tokens, hidden>, block = [1, 128], scale = f32, layout = row_major>
    eider.output "y", %8 : !eider.scaled<?x256xf8E4M3FN, dims = <tokens, hidden>, block = [1, 128], scale = f32, layout = row_major>
  }
}

