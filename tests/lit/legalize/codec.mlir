// Who converts FP8, by target and by request.
//
// RUN: eider-opt %s -eider-legalize=target=sm_75 | FileCheck %s -DPATH=software -DTARGET=sm_75
// RUN: eider-opt %s -eider-legalize=target=sm_80 | FileCheck %s -DPATH=software -DTARGET=sm_80
// RUN: eider-opt %s -eider-legalize=target=sm_88 | FileCheck %s -DPATH=software -DTARGET=sm_88
// RUN: eider-opt %s -eider-legalize=target=sm_89 | FileCheck %s -DPATH=hardware -DTARGET=sm_89
// RUN: eider-opt %s -eider-legalize=target=sm_90a | FileCheck %s -DPATH=hardware -DTARGET=sm_90a
// RUN: eider-opt %s -eider-legalize=target=sm_100a | FileCheck %s -DPATH=hardware -DTARGET=sm_100a
// RUN: eider-opt %s -eider-legalize=target=sm_121a | FileCheck %s -DPATH=hardware -DTARGET=sm_121a
// RUN: eider-opt %s -eider-legalize=target=host | FileCheck %s -DPATH=hardware -DTARGET=host
// RUN: eider-opt %s -eider-legalize | FileCheck %s -DPATH=hardware -DTARGET=sm_90
// RUN: eider-opt %s '-eider-legalize=target=sm_90 codec=software' | FileCheck %s -DPATH=software -DTARGET=sm_90
// RUN: eider-opt %s '-eider-legalize=target=sm_90 codec=hardware' | FileCheck %s -DPATH=hardware -DTARGET=sm_90
// RUN: eider-opt %s '-eider-legalize=target=sm_75 codec=software' | FileCheck %s -DPATH=software -DTARGET=sm_75
// RUN: eider-opt %s '-eider-legalize=target=host codec=software' | FileCheck %s -DPATH=software -DTARGET=host

// CHECK: module attributes {eider.target = "[[TARGET]]"}
eider.program @p(n) {
  %x = eider.input "x" : tensor<?xf8E4M3FN, #eider.dims<n>>
  // CHECK: eider.decode %{{.*}} {codec = #eider<codec [[PATH]]>}
  %v = eider.decode %x : tensor<?xf8E4M3FN, #eider.dims<n>> -> tensor<?xf32, #eider.dims<n>>
  // CHECK: eider.encode %{{.*}} {codec = #eider<codec [[PATH]]>}
  %c = eider.encode %v : tensor<?xf32, #eider.dims<n>> -> tensor<?xf8E5M2, #eider.dims<n>>
  // What the program says itself stays.
  // CHECK: eider.decode %{{.*}} {codec = #eider<codec software>}
  %w = eider.decode %c {codec = #eider<codec software>} : tensor<?xf8E5M2, #eider.dims<n>> -> tensor<?xf32, #eider.dims<n>>
  eider.output "y", %w : tensor<?xf32, #eider.dims<n>>
}
