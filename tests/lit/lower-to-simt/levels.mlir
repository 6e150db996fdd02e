// What a thread holds of each level, in both kinds of tile.
//
// RUN: eider-opt %s -eider-lower-to-simt -canonicalize -cse | FileCheck %s

#mn = #eider.dims<m, n>
!f = tensor<?x256xf32, #mn>

// Halves: the second one starts a width further, both at twice the pitch.
// CHECK-LABEL: simt.kernel @halves
// CHECK: %[[PITCH:.*]] = arith.constant 512 : i64
// CHECK: simt.load elements %[[X:[a-z0-9]+]] at %{{.*}} pitch %[[PITCH]] : i64 {eider.name = "gate"} : {{.*}} -> vector<8xbf16>
// CHECK: %[[SECOND:.*]] = simt.offset %[[X]], 256
// CHECK: simt.load elements %[[SECOND]] at %{{.*}} pitch %[[PITCH]] : i64 : {{.*}} -> vector<8xbf16>
eider.program @halves(m, n = 256) attributes {schedule = #eider.schedule<map<threads = 32, vector = 8>>} {
  %x = eider.input "x" : tensor<?x512xbf16, #eider.dims<m, 2 * n>>
  %a = eider.half first %x {eider.name = "gate"} : tensor<?x512xbf16, #eider.dims<m, 2 * n>> -> tensor<?x256xbf16, #mn>
  %b = eider.half second %x : tensor<?x512xbf16, #eider.dims<m, 2 * n>> -> tensor<?x256xbf16, #mn>
  eider.output "a", %a : tensor<?x256xbf16, #mn>
  eider.output "b", %b : tensor<?x256xbf16, #mn>
}

// Groups: fewer neighbours than the vector, as many, more.
// CHECK-LABEL: simt.kernel @groups
// CHECK: simt.reduce amax {{.*}} {group = 2 : i64} : vector<16xf32>, {{.*}} -> vector<8xf32>
// CHECK: simt.reduce amax {{.*}} {group = 8 : i64} : vector<16xf32>, {{.*}} -> vector<2xf32>
// CHECK: simt.reduce amax {{.*}} {group = 128 : i64} : vector<16xf32>, {{.*}} -> vector<2xf32>
// CHECK: simt.store groups {{.*}} {group = 2 : i64} : vector<8xf32>
// CHECK: simt.store groups {{.*}} {group = 8 : i64} : vector<2xf32>
// CHECK: simt.store groups {{.*}} {group = 128 : i64} : vector<2xf32>
eider.program @groups(m, n = 256) attributes {schedule = #eider.schedule<map<threads = 16, vector = 8>>} {
  %x = eider.input "x" : !f
  %a = eider.reduce amax %x over [1, 2] : !f -> tensor<?x128xf32, #eider.dims<m, n / 2>>
  %b = eider.reduce amax %x over [1, 8] : !f -> tensor<?x32xf32, #eider.dims<m, n / 8>>
  %c = eider.reduce amax %x over [1, 128] : !f -> tensor<?x2xf32, #eider.dims<m, n / 128>>
  eider.output "a", %a : tensor<?x128xf32, #eider.dims<m, n / 2>>
  eider.output "b", %b : tensor<?x32xf32, #eider.dims<m, n / 8>>
  eider.output "c", %c : tensor<?x2xf32, #eider.dims<m, n / 128>>
}

// In a row tile, given values of two-dimensional blocks are groups, one matrix row for several rows.
// CHECK-LABEL: simt.kernel @given_blocks
// CHECK: simt.for_tiles
// CHECK: simt.load elements
// CHECK: simt.load groups {{.*}} {group = 128 : i64, group_rows = 64 : i64} : {{.*}} -> vector<1xf32>
// CHECK: simt.load uniform {{.*}} -> f32
// CHECK: simt.load rows {{.*}} -> f32
eider.program @given_blocks(m, n = 256) attributes {schedule = #eider.schedule<map<threads = 32, vector = 8>>} {
  %x = eider.input "x" : !f
  %s = eider.input "s" : tensor<?x2xf32, #eider.dims<m / 64, n / 128>>
  %t = eider.input "t" : tensor<1x1xf32, #eider.dims<1, 1>>
  %r = eider.input "r" : tensor<?xf32, #eider.dims<m>>
  %a = eider.broadcast %s : tensor<?x2xf32, #eider.dims<m / 64, n / 128>> to !f
  %b = eider.broadcast %t : tensor<1x1xf32, #eider.dims<1, 1>> to !f
  %c = arith.mulf %x, %a : !f
  %d = arith.mulf %c, %b : !f
  eider.output "y", %d : !f
  eider.output "z", %r : tensor<?xf32, #eider.dims<m>>
}

// A tile: its own block is one value; values a row are one a chunk; groups are groups; the codes are elements.
// CHECK-LABEL: simt.kernel @tile
// CHECK-SAME: threads = 128 grid = "min((ceildiv(m, 64)) * 2, 2147483647)"
// CHECK: !simt.cursor<<block, threads = 128, vector = 16, rows = 64, columns = 128, loads = 4, width = 256>>
// CHECK: simt.load elements {{.*}} -> vector<64xf32>
// CHECK: simt.load rows {{.*}} -> vector<4xf32>
// CHECK: simt.spread %{{.*}} : vector<4xf32> to vector<64xf32>
// CHECK: simt.reduce amax_number {{.*}} : vector<64xf32>, {{.*}} -> f32
// CHECK: simt.encode {{.*}} codec software {{.*}}: vector<64xf32> -> vector<64xf8E4M3FN>
// CHECK: simt.sigmoid {{.*}} : vector<64xf32>
// CHECK-DAG: simt.store block {{.*}} : f32
// CHECK-DAG: simt.store elements {{.*}} : vector<64xf8E4M3FN>
eider.program @tile(m, n = 256) attributes {schedule = #eider.schedule<tile<threads = 128, vector = 16, rows = 64, columns = 128>>} {
  %x = eider.input "x" : !f
  %r = eider.input "r" : tensor<?x1xf32, #eider.dims<m, 1>>
  %b = eider.broadcast %r : tensor<?x1xf32, #eider.dims<m, 1>> to !f
  %n = arith.mulf %x, %b : !f
  %amax = eider.reduce amax_number %n over [64, 128] : !f -> tensor<?x2xf32, #eider.dims<m / 64, n / 128>>
  %c = eider.encode %n {codec = #eider<codec software>} : !f -> tensor<?x256xf8E4M3FN, #mn>
  %s = eider.sigmoid %n : !f
  eider.output "s", %amax : tensor<?x2xf32, #eider.dims<m / 64, n / 128>>
  eider.output "c", %c : tensor<?x256xf8E4M3FN, #mn>
  eider.output "y", %s : !f
}

// Decode and comparisons keep their own element types.
// CHECK-LABEL: simt.kernel @types
// CHECK: simt.decode {{.*}} codec hardware : vector<8xf8E5M2> -> vector<8xf32>
// CHECK: arith.cmpf olt, {{.*}} : vector<8xf32>
// CHECK: arith.select {{.*}} : vector<8xi1>, vector<8xf32>
// CHECK: arith.truncf {{.*}} : vector<8xf32> to vector<8xf16>
eider.program @types(m, n = 256) attributes {schedule = #eider.schedule<map<threads = 32, vector = 8>>} {
  %x = eider.input "x" : tensor<?x256xf8E5M2, #mn>
  %z = eider.input "z" : !f
  %v = eider.decode %x {codec = #eider<codec hardware>} : tensor<?x256xf8E5M2, #mn> -> !f
  %c = arith.cmpf olt, %v, %z : !f
  %s = arith.select %c, %v, %z : tensor<?x256xi1, #mn>, !f
  %t = arith.truncf %s : !f to tensor<?x256xf16, #mn>
  eider.output "y", %t : tensor<?x256xf16, #mn>
}
