// What is rounded stochastically is written by software, and formats that it shares with what is read are read so: a text has one codec a format.
//
// RUN: eider-opt %s -eider-legalize=target=sm_90 | FileCheck %s

// CHECK: eider.decode {{.*}} {codec = #eider<codec software>} : tensor<?xf8E4M3FN
// CHECK: eider.decode {{.*}} {codec = #eider<codec hardware>} : tensor<?xf8E5M2
// CHECK: eider.encode {{.*}} {codec = #eider<codec software>}

#n = #eider.dims<n>
eider.program @p(n) {
  %seed = eider.integer "seed" = 0
  %x = eider.input "x" : tensor<?xf8E4M3FN, #n>
  %z = eider.input "z" : tensor<?xf8E5M2, #n>
  %a = eider.decode %x : tensor<?xf8E4M3FN, #n> -> tensor<?xf32, #n>
  %b = eider.decode %z : tensor<?xf8E5M2, #n> -> tensor<?xf32, #n>
  %sum = arith.addf %a, %b : tensor<?xf32, #n>
  %bits = eider.random %seed, %seed : tensor<?xi16, #n>
  %y = eider.encode %sum random %bits : tensor<?xi16, #n> : tensor<?xf32, #n> -> tensor<?xf8E4M3FN, #n>
  eider.output "y", %y : tensor<?xf8E4M3FN, #n>
}
