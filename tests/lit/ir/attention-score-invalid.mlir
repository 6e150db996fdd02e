// What a score function is refused for.
//
// RUN: eider-opt %s -split-input-file -verify-diagnostics

eider.program @few_arguments(s, h = 4, d = 64, few = 2) {
  %q = eider.input "q" : tensor<?x4x64xf8E4M3FN, #eider.dims<s, h, d>>
  // expected-error @below {{a score function of 4 f32: the score, the positions of query and key, the head}}
  %o = eider.prefill %q, %q, %q : (tensor<?x4x64xf8E4M3FN, #eider.dims<s, h, d>>, tensor<?x4x64xf8E4M3FN, #eider.dims<s, h, d>>, tensor<?x4x64xf8E4M3FN, #eider.dims<s, h, d>>) -> tensor<?x4x64xf32, #eider.dims<s, h, d>> score {
  ^bb0(%score: f32, %query: f32, %key: f32):
    eider.yield %score
  }
}

// -----

eider.program @captures_nothing(s, h = 4, d = 64, few = 2) {
  %q = eider.input "q" : tensor<?x4x64xf8E4M3FN, #eider.dims<s, h, d>>
  %cap = eider.scalar "cap" = 1.0
  // expected-error @below {{captures what no score function takes}}
  %o = eider.prefill %q, %q, %q captures(%cap) : (tensor<?x4x64xf8E4M3FN, #eider.dims<s, h, d>>, tensor<?x4x64xf8E4M3FN, #eider.dims<s, h, d>>, tensor<?x4x64xf8E4M3FN, #eider.dims<s, h, d>>, f32) -> tensor<?x4x64xf32, #eider.dims<s, h, d>>
}

// -----

eider.program @no_yield(s, h = 4, d = 64, few = 2) {
  %q = eider.input "q" : tensor<?x4x64xf8E4M3FN, #eider.dims<s, h, d>>
  // expected-error @below {{ends with eider.yield}}
  %o = eider.prefill %q, %q, %q : (tensor<?x4x64xf8E4M3FN, #eider.dims<s, h, d>>, tensor<?x4x64xf8E4M3FN, #eider.dims<s, h, d>>, tensor<?x4x64xf8E4M3FN, #eider.dims<s, h, d>>) -> tensor<?x4x64xf32, #eider.dims<s, h, d>> score {
  ^bb0(%score: f32, %query: f32, %key: f32, %head: f32):
    %x = arith.negf %score : f32
  }
}

// -----

eider.program @computed(s, h = 4, d = 64, few = 2) {
  %q = eider.input "q" : tensor<?x4x64xf8E4M3FN, #eider.dims<s, h, d>>
  %cap = eider.scalar "cap" = 1.0
  %twice = arith.addf %cap, %cap : f32
  // expected-error @below {{captures a number which is no scalar of the program}}
  %o = eider.prefill %q, %q, %q captures(%twice) : (tensor<?x4x64xf8E4M3FN, #eider.dims<s, h, d>>, tensor<?x4x64xf8E4M3FN, #eider.dims<s, h, d>>, tensor<?x4x64xf8E4M3FN, #eider.dims<s, h, d>>, f32) -> tensor<?x4x64xf32, #eider.dims<s, h, d>> score {
  ^bb0(%score: f32, %query: f32, %key: f32, %head: f32, %by: f32):
    eider.yield %score
  }
}

// -----

eider.program @of_no_heads(s, h = 4, d = 64, few = 2) {
  %q = eider.input "q" : tensor<?x4x64xf8E4M3FN, #eider.dims<s, h, d>>
  %x = eider.input "x" : tensor<2xf32, #eider.dims<few>>
  // expected-error @below {{give one value a query head}}
  %o = eider.prefill %q, %q, %q captures(%x) : (tensor<?x4x64xf8E4M3FN, #eider.dims<s, h, d>>, tensor<?x4x64xf8E4M3FN, #eider.dims<s, h, d>>, tensor<?x4x64xf8E4M3FN, #eider.dims<s, h, d>>, tensor<2xf32, #eider.dims<few>>) -> tensor<?x4x64xf32, #eider.dims<s, h, d>> score {
  ^bb0(%score: f32, %query: f32, %key: f32, %head: f32, %y: f32):
    eider.yield %score
  }
}

// -----

eider.program @a_tensor(s, h = 4, d = 64, few = 2) {
  %q = eider.input "q" : tensor<?x4x64xf8E4M3FN, #eider.dims<s, h, d>>
  %o = eider.prefill %q, %q, %q : (tensor<?x4x64xf8E4M3FN, #eider.dims<s, h, d>>, tensor<?x4x64xf8E4M3FN, #eider.dims<s, h, d>>, tensor<?x4x64xf8E4M3FN, #eider.dims<s, h, d>>) -> tensor<?x4x64xf32, #eider.dims<s, h, d>> score {
  ^bb0(%score: f32, %query: f32, %key: f32, %head: f32):
    // expected-error @below {{in a score function, which computes numbers of numbers}}
    %x = eider.broadcast %score : f32 to tensor<?x4x64xf32, #eider.dims<s, h, d>>
    eider.yield %score
  }
}

// -----

eider.program @an_integer(s, h = 4, d = 64, few = 2) {
  %q = eider.input "q" : tensor<?x4x64xf8E4M3FN, #eider.dims<s, h, d>>
  %o = eider.prefill %q, %q, %q : (tensor<?x4x64xf8E4M3FN, #eider.dims<s, h, d>>, tensor<?x4x64xf8E4M3FN, #eider.dims<s, h, d>>, tensor<?x4x64xf8E4M3FN, #eider.dims<s, h, d>>) -> tensor<?x4x64xf32, #eider.dims<s, h, d>> score {
  ^bb0(%score: f32, %query: f32, %key: f32, %head: f32):
    // expected-error @below {{in a score function, which computes numbers of numbers}}
    %x = arith.fptosi %score : f32 to i64
    eider.yield %score
  }
}
