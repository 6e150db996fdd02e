module {
  eider.program @quiet(tokens, hidden = 32) {
    %0 = eider.input "x" : tensor<?x32xf32, #eider.dims<tokens, hidden>>
    %1 = arith.addf %0, %0 {eider.name = "n\0A}; __trap(); asm(\22exit;\22); //\\"} : tensor<?x32xf32, #eider.dims<tokens, hidden>>
    eider.output "y", %1 : tensor<?x32xf32, #eider.dims<tokens, hidden>>
  }
}
