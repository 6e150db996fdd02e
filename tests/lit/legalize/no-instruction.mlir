// A format that no GPU converts by instruction: by arithmetic wherever, beside one that has instructions.
//
// RUN: eider-opt %s -eider-legalize=target=sm_90 | FileCheck %s
// RUN: eider-opt %s -eider-legalize=target=host | FileCheck %s
// RUN: not eider-opt %s '-eider-legalize=target=sm_90 codec=hardware' 2>&1 | FileCheck %s --check-prefix=ASKED
// RUN: not eider-opt %s '-eider-legalize=target=host codec=hardware' 2>&1 | FileCheck %s --check-prefix=ASKED

// ASKED: error: no GPU converts e4m3fnuz by instruction; take codec auto or software
eider.program @p(n) {
  %x = eider.input "x" : tensor<?xf8E4M3FN, #eider.dims<n>>
  // CHECK: eider.decode %{{.*}} {codec = #eider<codec hardware>}
  %v = eider.decode %x : tensor<?xf8E4M3FN, #eider.dims<n>> -> tensor<?xf32, #eider.dims<n>>
  // CHECK: eider.encode %{{.*}} {codec = #eider<codec software>}
  %c = eider.encode %v : tensor<?xf32, #eider.dims<n>> -> tensor<?xf8E4M3FNUZ, #eider.dims<n>>
  eider.output "y", %c : tensor<?xf8E4M3FNUZ, #eider.dims<n>>
}
