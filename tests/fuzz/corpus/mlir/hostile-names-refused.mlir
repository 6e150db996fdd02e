module {
  eider.program @"q\22(); asm(\22trap;\22)"(tokens, hidden = 32) {
    %0 = eider.input "x\22;\0A#include \22/etc/passwd\22" : tensor<?x32xf32, #eider.dims<tokens, hidden>>
    %1 = arith.addf %0, %0 {eider.name = "n\0A}; __trap(); {"} : tensor<?x32xf32, #eider.dims<tokens, hidden>>
    eider.output "*/ y", %1 : tensor<?x32xf32, #eider.dims<tokens, hidden>>
  }
}
