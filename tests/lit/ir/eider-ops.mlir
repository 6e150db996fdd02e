// Every op of the eider dialect, in its own syntax and in the generic one.
//
// RUN: eider-opt %s | eider-opt | FileCheck %s
// RUN: eider-opt %s --mlir-print-op-generic | eider-opt | FileCheck %s

#mn = #eider.dims<tokens, hidden>
#wide = #eider.dims<tokens, 2 * hidden>
#rows = #eider.dims<tokens, 1>
#groups = #eider.dims<tokens, hidden / 128>
!bf16s = tensor<?x256xbf16, #mn>
!f32s = tensor<?x256xf32, #mn>
!codes = tensor<?x256xf8E4M3FN, #mn>
!scales = tensor<?x2xf32, #groups>
!scaled = !eider.scaled<?x256xf8E4M3FN, dims = <tokens, hidden>, block = [1, 128], scale = f32, layout = row_major>


// CHECK: eider.program @every_op(tokens, hidden = 256) {
eider.program @every_op(tokens, hidden = 256) {
  // CHECK: %[[X:.*]] = eider.input "x" : tensor<?x512xbf16, #eider.dims<tokens, 2 * hidden>>
  %x = eider.input "x" : tensor<?x512xbf16, #wide>
  // CHECK: %[[RESIDUAL:.*]] = eider.inout "residual" : tensor<?x256xf32, #eider.dims<tokens, hidden>>
  %residual = eider.inout "residual" : !f32s
  // CHECK: %[[LEFT:.*]] = eider.input "left" workspace : tensor<?x1xf32, #eider.dims<tokens, 1>>
  %left = eider.input "left" workspace : tensor<?x1xf32, #rows>
  // CHECK: %[[GIVEN:.*]] = eider.input "given" : tensor<?x2xf32, #eider.dims<tokens, hidden / 128>>
  %given = eider.input "given" : !scales
  // CHECK: %[[S:.*]] = eider.input "s" : !eider.scaled<?x256xf8E4M3FN, dims = <tokens, hidden>, block = [1, 128], scale = f32, layout = row_major>
  %s = eider.input "s" : !scaled
  // CHECK: %[[EPS:.*]] = eider.scalar "eps" = 9.99999997E-7
  %eps = eider.scalar "eps" = 1.0e-06

  // CHECK: %[[GATE:.*]] = eider.half first %[[X]] : tensor<?x512xbf16, #eider.dims<tokens, 2 * hidden>> -> tensor<?x256xbf16, #eider.dims<tokens, hidden>>
  %gate = eider.half first %x : tensor<?x512xbf16, #wide> -> !bf16s
  // CHECK: %[[UP:.*]] = eider.half second %[[X]]
  %up = eider.half second %x : tensor<?x512xbf16, #wide> -> !bf16s
  // CHECK: eider.dequantize %[[S]] : !eider.scaled<{{.*}}> -> tensor<?x256xf32, #eider.dims<tokens, hidden>>
  %values = eider.dequantize %s : !scaled -> !f32s
  // CHECK: %[[CODES:.*]] = eider.codes %[[S]] : !eider.scaled<{{.*}}> -> tensor<?x256xf8E4M3FN, #eider.dims<tokens, hidden>>
  %codes = eider.codes %s : !scaled -> !codes
  // CHECK: %[[SCALES:.*]] = eider.scales %[[S]] : !eider.scaled<{{.*}}> -> tensor<?x2xf32, #eider.dims<tokens, hidden / 128>>
  %scales = eider.scales %s : !scaled -> !scales
  // CHECK: eider.broadcast %[[SCALES]] : tensor<?x2xf32, #eider.dims<tokens, hidden / 128>> to tensor<?x256xf32, #eider.dims<tokens, hidden>>
  %spread = eider.broadcast %scales : !scales to !f32s
  // CHECK: eider.broadcast %[[EPS]] : f32 to tensor<?x1xf32, #eider.dims<tokens, 1>>
  %eps_rows = eider.broadcast %eps : f32 to tensor<?x1xf32, #rows>
  // CHECK: eider.decode %[[CODES]] : tensor<?x256xf8E4M3FN, #eider.dims<tokens, hidden>> -> tensor<?x256xf32, #eider.dims<tokens, hidden>>
  %decoded = eider.decode %codes : !codes -> !f32s
  // CHECK: eider.decode %[[CODES]] {codec = #eider<codec software>}
  %decoded_software = eider.decode %codes {codec = #eider<codec software>} : !codes -> !f32s
  // CHECK: eider.encode %[[UP]] by %{{.*}} : tensor<?x256xf32, #eider.dims<tokens, hidden>> : tensor<?x256xbf16, #eider.dims<tokens, hidden>> -> tensor<?x256xf8E4M3FN, #eider.dims<tokens, hidden>>
  %encoded = eider.encode %up by %spread : !f32s : !bf16s -> !codes
  // CHECK: eider.encode %[[UP]] {codec = #eider<codec hardware>, ignore_nan, overflow_to_format} : tensor<?x256xbf16, #eider.dims<tokens, hidden>> -> tensor<?x256xf8E5M2, #eider.dims<tokens, hidden>>
  %encoded_e5m2 = eider.encode %up {codec = #eider<codec hardware>, ignore_nan, overflow_to_format} : !bf16s -> tensor<?x256xf8E5M2, #mn>
  // CHECK: eider.sigmoid %[[RESIDUAL]] : tensor<?x256xf32, #eider.dims<tokens, hidden>>
  %sigmoid = eider.sigmoid %residual : !f32s
  // CHECK: eider.power_of_two above %[[RESIDUAL]] : tensor<?x256xf32, #eider.dims<tokens, hidden>>
  %power = eider.power_of_two above %residual : !f32s
  // CHECK: eider.sigmoid %[[EPS]] : f32
  %sigmoid_scalar = eider.sigmoid %eps : f32

  // CHECK: eider.reduce sum %[[RESIDUAL]] over [1, *] : tensor<?x256xf32, #eider.dims<tokens, hidden>> -> tensor<?x1xf32, #eider.dims<tokens, 1>>
  %sum = eider.reduce sum %residual over [1, *] : !f32s -> tensor<?x1xf32, #rows>
  // CHECK: eider.reduce mean %[[RESIDUAL]] over [*, *] : tensor<?x256xf32, #eider.dims<tokens, hidden>> -> tensor<1x1xf32, #eider.dims<1, 1>>
  %mean = eider.reduce mean %residual over [*, *] : !f32s -> tensor<1x1xf32, #eider.dims<1, 1>>
  // CHECK: eider.reduce max %[[RESIDUAL]] over [1, 128] : tensor<?x256xf32, #eider.dims<tokens, hidden>> -> tensor<?x2xf32, #eider.dims<tokens, hidden / 128>>
  %max = eider.reduce max %residual over [1, 128] : !f32s -> !scales
  // CHECK: eider.reduce min %[[RESIDUAL]] over [128, 128] : tensor<?x256xf32, #eider.dims<tokens, hidden>> -> tensor<?x2xf32, #eider.dims<tokens / 128, hidden / 128>>
  %min = eider.reduce min %residual over [128, 128] : !f32s -> tensor<?x2xf32, #eider.dims<tokens / 128, hidden / 128>>
  // CHECK: eider.reduce amax %[[UP]] over [1, *] : tensor<?x256xbf16, #eider.dims<tokens, hidden>> -> tensor<?x1xf32, #eider.dims<tokens, 1>>
  %amax = eider.reduce amax %up over [1, *] : !bf16s -> tensor<?x1xf32, #rows>
  // CHECK: eider.reduce amax_number %[[UP]] over [1, *]
  %amax_number = eider.reduce amax_number %up over [1, *] : !bf16s -> tensor<?x1xf32, #rows>

  // CHECK: %[[Q:.*]] = eider.quantize %[[RESIDUAL]] numerics<> : tensor<?x256xf32, #eider.dims<tokens, hidden>> -> !eider.scaled<
  %q = eider.quantize %residual numerics<> : !f32s -> !scaled
  // CHECK: eider.quantize %[[RESIDUAL]] by %[[GIVEN]] : tensor<?x2xf32, #eider.dims<tokens, hidden / 128>> numerics<arithmetic = reciprocal, nan = ignore> : tensor<?x256xf32, #eider.dims<tokens, hidden>> -> !eider.scaled<
  %q_given = eider.quantize %residual by %given : !scales numerics<arithmetic = reciprocal, nan = ignore> : !f32s -> !scaled
  // CHECK: eider.store "residual", %{{.*}} : tensor<?x256xf32, #eider.dims<tokens, hidden>>
  eider.store "residual", %values : !f32s
  // CHECK: eider.output "y", %[[Q]] : !eider.scaled<
  eider.output "y", %q : !scaled
  // CHECK: eider.output "partial" workspace, %{{.*}} : tensor<?x1xf32, #eider.dims<tokens, 1>>
  eider.output "partial" workspace, %sum : tensor<?x1xf32, #rows>
}

// CHECK: eider.program @contraction(n, k) {
eider.program @contraction(n, k) {
  %w = eider.input "w" : !eider.scaled<?x?xf8E4M3FN, dims = <n, k>, block = [1, 128], scale = f32, layout = row_major>
  %v = eider.input "v" : tensor<?x?xf32, #eider.dims<n, k>>
  %s = eider.input "s" : tensor<?x?xf32, #eider.dims<n, k / 128>>
  %x = eider.input "x" : tensor<?xf32, #eider.dims<k>>
  // CHECK: eider.contract %[[W:.*]], %[[X:.*]] : !eider.scaled<{{.*}}>, tensor<?xf32, #eider.dims<k>> -> tensor<?xf32, #eider.dims<n>>
  %y = eider.contract %w, %x : !eider.scaled<?x?xf8E4M3FN, dims = <n, k>, block = [1, 128], scale = f32, layout = row_major>, tensor<?xf32, #eider.dims<k>> -> tensor<?xf32, #eider.dims<n>>
  // CHECK: eider.contract %[[V:.*]] by %[[S:.*]] : tensor<?x?xf32, #eider.dims<n, k / 128>>, %[[X]] : tensor<?x?xf32, #eider.dims<n, k>>, tensor<?xf32, #eider.dims<k>> -> tensor<?xf32, #eider.dims<n>>
  %z = eider.contract %v by %s : tensor<?x?xf32, #eider.dims<n, k / 128>>, %x : tensor<?x?xf32, #eider.dims<n, k>>, tensor<?xf32, #eider.dims<k>> -> tensor<?xf32, #eider.dims<n>>
}

// CHECK: eider.program @groups(g, m, n, k) {
eider.program @groups(g, m, n, k) {
  %w = eider.input "w" : !eider.scaled<?x?x?xf8E4M3FN, dims = <g, n, k>, block = [1, 1, 128], scale = f32, layout = row_major>
  %x = eider.input "x" : tensor<?x?xbf16, #eider.dims<m, k>>
  %ends = eider.input "ends" : tensor<?xi64, #eider.dims<g>>
  // CHECK: eider.contract %{{.*}}, %{{.*}} groups %{{.*}} : tensor<?xi64, #eider.dims<g>> : !eider.scaled<{{.*}}>, tensor<?x?xbf16, #eider.dims<m, k>> -> tensor<?x?xf32, #eider.dims<m, n>>
  %y = eider.contract %w, %x groups %ends : tensor<?xi64, #eider.dims<g>> : !eider.scaled<?x?x?xf8E4M3FN, dims = <g, n, k>, block = [1, 1, 128], scale = f32, layout = row_major>, tensor<?x?xbf16, #eider.dims<m, k>> -> tensor<?x?xf32, #eider.dims<m, n>>
  // CHECK: eider.contract %{{.*}}, %{{.*}} : !eider.scaled<?x?x?xf8E4M3FN, {{.*}}>, tensor<?x?xbf16, #eider.dims<m, k>> -> tensor<?x?xf32, #eider.dims<m, n>>
  %z = eider.contract %w, %x : !eider.scaled<?x?x?xf8E4M3FN, dims = <g, n, k>, block = [1, 1, 128], scale = f32, layout = row_major>, tensor<?x?xbf16, #eider.dims<m, k>> -> tensor<?x?xf32, #eider.dims<m, n>>
}

// A schedule, a name that is no keyword, and an empty program.
// CHECK: eider.program @scheduled(a_dim, n = 0) attributes {schedule = #eider.schedule<row<threads = 64, vector = 8>>} {
// CHECK-NEXT: }
eider.program @scheduled(a_dim, n = 0) attributes {schedule = #eider.schedule<row<threads = 64, vector = 8>>} {
}

// CHECK: eider.program @"any name"() {
eider.program @"any name"() {}
