// Outside a program nothing has checked that a type has one dim an axis: the op's own verifier must.
//
// RUN: eider-opt %s -split-input-file -verify-diagnostics

%c = arith.constant dense<1.0> : tensor<4xf32, #eider.dims<>>
// expected-error @below {{'eider.half' op}}
%s = eider.half first %c : tensor<4xf32, #eider.dims<>> -> tensor<4xf32, #eider.dims<>>

// -----

%c = arith.constant dense<1.0> : tensor<4x4xf32, #eider.dims<4>>
// expected-error @below {{'eider.reduce' op}}
%s = eider.reduce sum %c over [*, *] : tensor<4x4xf32, #eider.dims<4>> -> tensor<1x1xf32, #eider.dims<1, 1>>
