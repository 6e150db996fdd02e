module {
  eider.program @quantize(tokens, hidden = 256) {
    %0 = eider.input "x" : tensor<?x256xbf16, #eider.dims<tokens, hidden>>
    %1 = arith.extf %0 : tensor<?x256xbf16, #eider.dims<tokens, hidden>> to tensor<?x256xf32, #eider.dims<tokens, hidden>>
    %2 = eider.quantize %1 numerics<> : tensor<?x256xf32, #eider.dims<tokens, hidden>> -> !eider.scaled<?x256xf8E4M3FN, dims = <tokens, hidden>, block = [1, 128], scale = f32, layout = row_major>
    eider.output "y", %2 : !eider.scaled<?x256xf8E4M3FN, dims = <tokens, hidden>, block = [1, 128], scale = f32, layout = row_major>
  }
}

