// The heuristic: the family that a program needs, at every kind of width. How many threads and loads is tuned on hardware and
// not pinned here; that the schedule fits is: the lowering would refuse it.
//
// RUN: eider-opt %s -eider-assign-schedule -mlir-print-ir-after=eider-assign-schedule -eider-lower-to-simt -o /dev/null 2>&1 | FileCheck %s

// Elementwise.

// CHECK: eider.program @map_0(m, n = 0) attributes {schedule = #eider.schedule<map<threads = {{[0-9]+}}, vector = {{[0-9]+}}
eider.program @map_0(m, n = 0) {
  %x = eider.input "x" : tensor<?x0xf32, #eider.dims<m, n>>
  eider.output "y", %x : tensor<?x0xf32, #eider.dims<m, n>>
}

// CHECK: eider.program @map_7(m, n = 7) attributes {schedule = #eider.schedule<map<threads = {{[0-9]+}}, vector = {{[0-9]+}}
eider.program @map_7(m, n = 7) {
  %x = eider.input "x" : tensor<?x7xf32, #eider.dims<m, n>>
  eider.output "y", %x : tensor<?x7xf32, #eider.dims<m, n>>
}

// CHECK: eider.program @map_100(m, n = 100) attributes {schedule = #eider.schedule<map<threads = {{[0-9]+}}, vector = {{[0-9]+}}
eider.program @map_100(m, n = 100) {
  %x = eider.input "x" : tensor<?x100xf32, #eider.dims<m, n>>
  eider.output "y", %x : tensor<?x100xf32, #eider.dims<m, n>>
}

// CHECK: eider.program @map_2048(m, n = 2048) attributes {schedule = #eider.schedule<map<threads = {{[0-9]+}}, vector = {{[0-9]+}}
eider.program @map_2048(m, n = 2048) {
  %x = eider.input "x" : tensor<?x2048xf32, #eider.dims<m, n>>
  eider.output "y", %x : tensor<?x2048xf32, #eider.dims<m, n>>
}

// CHECK: eider.program @map_7168(m, n = 7168) attributes {schedule = #eider.schedule<map<threads = {{[0-9]+}}, vector = {{[0-9]+}}
eider.program @map_7168(m, n = 7168) {
  %x = eider.input "x" : tensor<?x7168xf32, #eider.dims<m, n>>
  eider.output "y", %x : tensor<?x7168xf32, #eider.dims<m, n>>
}

// CHECK: eider.program @map_8192(m, n = 8192) attributes {schedule = #eider.schedule<map<threads = {{[0-9]+}}, vector = {{[0-9]+}}
eider.program @map_8192(m, n = 8192) {
  %x = eider.input "x" : tensor<?x8192xf32, #eider.dims<m, n>>
  eider.output "y", %x : tensor<?x8192xf32, #eider.dims<m, n>>
}

// CHECK: eider.program @map_8193(m, n = 8193) attributes {schedule = #eider.schedule<map<threads = {{[0-9]+}}, vector = {{[0-9]+}}
eider.program @map_8193(m, n = 8193) {
  %x = eider.input "x" : tensor<?x8193xf32, #eider.dims<m, n>>
  eider.output "y", %x : tensor<?x8193xf32, #eider.dims<m, n>>
}

// CHECK: eider.program @map_32769(m, n = 32769) attributes {schedule = #eider.schedule<map<threads = {{[0-9]+}}, vector = {{[0-9]+}}
eider.program @map_32769(m, n = 32769) {
  %x = eider.input "x" : tensor<?x32769xf32, #eider.dims<m, n>>
  eider.output "y", %x : tensor<?x32769xf32, #eider.dims<m, n>>
}

// A reduction along the row.

// CHECK: eider.program @row_1(m, n = 1) attributes {schedule = #eider.schedule<row<threads = {{[0-9]+}}, vector = {{[0-9]+}}
eider.program @row_1(m, n = 1) {
  %x = eider.input "x" : tensor<?x1xf32, #eider.dims<m, n>>
  %s = eider.reduce sum %x over [1, *] : tensor<?x1xf32, #eider.dims<m, n>> -> tensor<?x1xf32, #eider.dims<m, 1>>
  eider.output "y", %s : tensor<?x1xf32, #eider.dims<m, 1>>
}

// CHECK: eider.program @row_100(m, n = 100) attributes {schedule = #eider.schedule<row<threads = {{[0-9]+}}, vector = {{[0-9]+}}
eider.program @row_100(m, n = 100) {
  %x = eider.input "x" : tensor<?x100xf32, #eider.dims<m, n>>
  %s = eider.reduce sum %x over [1, *] : tensor<?x100xf32, #eider.dims<m, n>> -> tensor<?x1xf32, #eider.dims<m, 1>>
  eider.output "y", %s : tensor<?x1xf32, #eider.dims<m, 1>>
}

// CHECK: eider.program @row_512(m, n = 512) attributes {schedule = #eider.schedule<row<threads = {{[0-9]+}}, vector = {{[0-9]+}}
eider.program @row_512(m, n = 512) {
  %x = eider.input "x" : tensor<?x512xf32, #eider.dims<m, n>>
  %s = eider.reduce sum %x over [1, *] : tensor<?x512xf32, #eider.dims<m, n>> -> tensor<?x1xf32, #eider.dims<m, 1>>
  eider.output "y", %s : tensor<?x1xf32, #eider.dims<m, 1>>
}

// CHECK: eider.program @row_513(m, n = 513) attributes {schedule = #eider.schedule<row<threads = {{[0-9]+}}, vector = {{[0-9]+}}
eider.program @row_513(m, n = 513) {
  %x = eider.input "x" : tensor<?x513xf32, #eider.dims<m, n>>
  %s = eider.reduce sum %x over [1, *] : tensor<?x513xf32, #eider.dims<m, n>> -> tensor<?x1xf32, #eider.dims<m, 1>>
  eider.output "y", %s : tensor<?x1xf32, #eider.dims<m, 1>>
}

// CHECK: eider.program @row_7168(m, n = 7168) attributes {schedule = #eider.schedule<row<threads = {{[0-9]+}}, vector = {{[0-9]+}}
eider.program @row_7168(m, n = 7168) {
  %x = eider.input "x" : tensor<?x7168xf32, #eider.dims<m, n>>
  %s = eider.reduce sum %x over [1, *] : tensor<?x7168xf32, #eider.dims<m, n>> -> tensor<?x1xf32, #eider.dims<m, 1>>
  eider.output "y", %s : tensor<?x1xf32, #eider.dims<m, 1>>
}

// CHECK: eider.program @row_16384(m, n = 16384) attributes {schedule = #eider.schedule<row<threads = {{[0-9]+}}, vector = {{[0-9]+}}
eider.program @row_16384(m, n = 16384) {
  %x = eider.input "x" : tensor<?x16384xf32, #eider.dims<m, n>>
  %s = eider.reduce sum %x over [1, *] : tensor<?x16384xf32, #eider.dims<m, n>> -> tensor<?x1xf32, #eider.dims<m, 1>>
  eider.output "y", %s : tensor<?x1xf32, #eider.dims<m, 1>>
}

// CHECK: eider.program @row_65536(m, n = 65536) attributes {schedule = #eider.schedule<row<threads = {{[0-9]+}}, vector = {{[0-9]+}}
eider.program @row_65536(m, n = 65536) {
  %x = eider.input "x" : tensor<?x65536xf32, #eider.dims<m, n>>
  %s = eider.reduce sum %x over [1, *] : tensor<?x65536xf32, #eider.dims<m, n>> -> tensor<?x1xf32, #eider.dims<m, 1>>
  eider.output "y", %s : tensor<?x1xf32, #eider.dims<m, 1>>
}

// Groups in a row, shorter and longer than it.

// CHECK: eider.program @group_2(m, n = 4096) attributes {schedule = #eider.schedule<map<threads = {{[0-9]+}}, vector = {{[0-9]+}}
eider.program @group_2(m, n = 4096) {
  %x = eider.input "x" : tensor<?x4096xf32, #eider.dims<m, n>>
  %s = eider.reduce amax %x over [1, 2] : tensor<?x4096xf32, #eider.dims<m, n>> -> tensor<?x2048xf32, #eider.dims<m, n / 2>>
  eider.output "y", %s : tensor<?x2048xf32, #eider.dims<m, n / 2>>
}

// CHECK: eider.program @group_512(m, n = 4096) attributes {schedule = #eider.schedule<map<threads = {{[0-9]+}}, vector = {{[0-9]+}}
eider.program @group_512(m, n = 4096) {
  %x = eider.input "x" : tensor<?x4096xf32, #eider.dims<m, n>>
  %s = eider.reduce amax %x over [1, 512] : tensor<?x4096xf32, #eider.dims<m, n>> -> tensor<?x8xf32, #eider.dims<m, n / 512>>
  eider.output "y", %s : tensor<?x8xf32, #eider.dims<m, n / 512>>
}

// CHECK: eider.program @group_128_of_1(m, n = 1) attributes {schedule = #eider.schedule<map<threads = {{[0-9]+}}, vector = {{[0-9]+}}
eider.program @group_128_of_1(m, n = 1) {
  %x = eider.input "x" : tensor<?x1xf32, #eider.dims<m, n>>
  %s = eider.reduce amax %x over [1, 128] : tensor<?x1xf32, #eider.dims<m, n>> -> tensor<?x1xf32, #eider.dims<m, n / 128>>
  eider.output "y", %s : tensor<?x1xf32, #eider.dims<m, n / 128>>
}

// CHECK: eider.program @group_512_of_100(m, n = 100) attributes {schedule = #eider.schedule<map<threads = {{[0-9]+}}, vector = {{[0-9]+}}
eider.program @group_512_of_100(m, n = 100) {
  %x = eider.input "x" : tensor<?x100xf32, #eider.dims<m, n>>
  %s = eider.reduce amax %x over [1, 512] : tensor<?x100xf32, #eider.dims<m, n>> -> tensor<?x1xf32, #eider.dims<m, n / 512>>
  eider.output "y", %s : tensor<?x1xf32, #eider.dims<m, n / 512>>
}

// CHECK: eider.program @group_128_of_16384(m, n = 16384) attributes {schedule = #eider.schedule<map<threads = {{[0-9]+}}, vector = {{[0-9]+}}
eider.program @group_128_of_16384(m, n = 16384) {
  %x = eider.input "x" : tensor<?x16384xf32, #eider.dims<m, n>>
  %s = eider.reduce amax %x over [1, 128] : tensor<?x16384xf32, #eider.dims<m, n>> -> tensor<?x128xf32, #eider.dims<m, n / 128>>
  eider.output "y", %s : tensor<?x128xf32, #eider.dims<m, n / 128>>
}

// Two-dimensional blocks: the tile is the block.

// CHECK: eider.program @block_128x128(m, n = 512) attributes {schedule = #eider.schedule<tile<threads = {{[0-9]+}}, vector = {{[0-9]+}}, rows = 128, columns = 128>>}
eider.program @block_128x128(m, n = 512) {
  %x = eider.input "x" : tensor<?x512xf32, #eider.dims<m, n>>
  %s = eider.reduce amax %x over [128, 128] : tensor<?x512xf32, #eider.dims<m, n>> -> tensor<?x4xf32, #eider.dims<m / 128, n / 128>>
  eider.output "y", %s : tensor<?x4xf32, #eider.dims<m / 128, n / 128>>
}

// CHECK: eider.program @block_2x2(m, n = 512) attributes {schedule = #eider.schedule<tile<threads = {{[0-9]+}}, vector = {{[0-9]+}}, rows = 2, columns = 2>>}
eider.program @block_2x2(m, n = 512) {
  %x = eider.input "x" : tensor<?x512xf32, #eider.dims<m, n>>
  %s = eider.reduce amax %x over [2, 2] : tensor<?x512xf32, #eider.dims<m, n>> -> tensor<?x256xf32, #eider.dims<m / 2, n / 2>>
  eider.output "y", %s : tensor<?x256xf32, #eider.dims<m / 2, n / 2>>
}

// CHECK: eider.program @block_3x128(m, n = 512) attributes {schedule = #eider.schedule<tile<threads = {{[0-9]+}}, vector = {{[0-9]+}}, rows = 3, columns = 128>>}
eider.program @block_3x128(m, n = 512) {
  %x = eider.input "x" : tensor<?x512xf32, #eider.dims<m, n>>
  %s = eider.reduce amax %x over [3, 128] : tensor<?x512xf32, #eider.dims<m, n>> -> tensor<?x4xf32, #eider.dims<m / 3, n / 128>>
  eider.output "y", %s : tensor<?x4xf32, #eider.dims<m / 3, n / 128>>
}

// CHECK: eider.program @block_16x1(m, n = 512) attributes {schedule = #eider.schedule<tile<threads = {{[0-9]+}}, vector = {{[0-9]+}}, rows = 16, columns = 1>>}
eider.program @block_16x1(m, n = 512) {
  %x = eider.input "x" : tensor<?x512xf32, #eider.dims<m, n>>
  %s = eider.reduce amax %x over [16, 1] : tensor<?x512xf32, #eider.dims<m, n>> -> tensor<?x512xf32, #eider.dims<m / 16, n>>
  eider.output "y", %s : tensor<?x512xf32, #eider.dims<m / 16, n>>
}

// CHECK: eider.program @block_64x48(m, n = 512) attributes {schedule = #eider.schedule<tile<threads = {{[0-9]+}}, vector = {{[0-9]+}}, rows = 64, columns = 48>>}
eider.program @block_64x48(m, n = 512) {
  %x = eider.input "x" : tensor<?x512xf32, #eider.dims<m, n>>
  %s = eider.reduce amax %x over [64, 48] : tensor<?x512xf32, #eider.dims<m, n>> -> tensor<?x11xf32, #eider.dims<m / 64, n / 48>>
  eider.output "y", %s : tensor<?x11xf32, #eider.dims<m / 64, n / 48>>
}

// Wide rows: so many blocks as have 8192 elements each, at most 8.

// CHECK: eider.program @row_16385(m, n = 16385) attributes {schedule = #eider.schedule<row<threads = {{[0-9]+}}, vector = {{[0-9]+}}, {{.*}}cluster = 4>>}
eider.program @row_16385(m, n = 16385) {
  %x = eider.input "x" : tensor<?x16385xf32, #eider.dims<m, n>>
  %s = eider.reduce sum %x over [1, *] : tensor<?x16385xf32, #eider.dims<m, n>> -> tensor<?x1xf32, #eider.dims<m, 1>>
  eider.output "y", %s : tensor<?x1xf32, #eider.dims<m, 1>>
}

// CHECK: eider.program @row_32769(m, n = 32769) attributes {schedule = #eider.schedule<row<threads = {{[0-9]+}}, vector = {{[0-9]+}}, {{.*}}cluster = 8>>}
eider.program @row_32769(m, n = 32769) {
  %x = eider.input "x" : tensor<?x32769xf32, #eider.dims<m, n>>
  %s = eider.reduce sum %x over [1, *] : tensor<?x32769xf32, #eider.dims<m, n>> -> tensor<?x1xf32, #eider.dims<m, 1>>
  eider.output "y", %s : tensor<?x1xf32, #eider.dims<m, 1>>
}

// CHECK: eider.program @row_65537(m, n = 65537) attributes {schedule = #eider.schedule<row<threads = {{[0-9]+}}, vector = {{[0-9]+}}, {{.*}}cluster = 8>>}
eider.program @row_65537(m, n = 65537) {
  %x = eider.input "x" : tensor<?x65537xf32, #eider.dims<m, n>>
  %s = eider.reduce sum %x over [1, *] : tensor<?x65537xf32, #eider.dims<m, n>> -> tensor<?x1xf32, #eider.dims<m, 1>>
  eider.output "y", %s : tensor<?x1xf32, #eider.dims<m, 1>>
}

// CHECK: eider.program @row_524288(m, n = 524288) attributes {schedule = #eider.schedule<row<threads = {{[0-9]+}}, vector = {{[0-9]+}}, cluster = 8>>}
eider.program @row_524288(m, n = 524288) {
  %x = eider.input "x" : tensor<?x524288xf32, #eider.dims<m, n>>
  %s = eider.reduce sum %x over [1, *] : tensor<?x524288xf32, #eider.dims<m, n>> -> tensor<?x1xf32, #eider.dims<m, 1>>
  eider.output "y", %s : tensor<?x1xf32, #eider.dims<m, 1>>
}

// Rows that begin anywhere have long chunks, and whole warps.

// CHECK: eider.program @codes_8193(m, n = 8193) attributes {schedule = #eider.schedule<map<threads = 96, vector = 32, loads = 1>
eider.program @codes_8193(m, n = 8193) {
  %x = eider.input "x" : tensor<?x8193xbf16, #eider.dims<m, n>>
  %c = eider.encode %x {codec = #eider<codec hardware>} : tensor<?x8193xbf16, #eider.dims<m, n>> -> tensor<?x8193xf8E4M3FN, #eider.dims<m, n>>
  eider.output "y", %c : tensor<?x8193xf8E4M3FN, #eider.dims<m, n>>
}
