// The generic syntax lets an argument stand without its name: an error, not a crash.
//
// RUN: not eider-opt %s 2>&1 | FileCheck %s

// CHECK: error: 'eider.input' op requires attribute 'name'
"eider.program"() <{sym_name = "p", dim_names = ["n"], dim_values = array<i64: 4>}> ({
  %0 = "eider.input"() : () -> tensor<4xf32, #eider.dims<n>>
}) : () -> ()
