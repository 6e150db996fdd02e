// Of chunks that no one sees, for a select takes something else by the column, nothing is loaded; what is seen of a value that is
// used twice, or through arithmetic of each element, is what any use sees.
//
// RUN: eider-opt %s -eider-lower-to-simt -split-input-file | FileCheck %s

// A window: what is before it, and what is behind it.
// CHECK-LABEL: simt.kernel @window
// CHECK: %[[ROW:.*]] = simt.position rows at %[[AT:.*]] :
// CHECK: %[[FIRST:.*]] = arith.subi %[[ROW]], %{{.*}} : i64
// CHECK: %[[SEEN:.*]] = simt.seen %[[AT]] from %[[FIRST]] to %[[ROW]] :
// CHECK: simt.load elements %{{.*}} at %[[SEEN]] :
eider.program @window(m, n = 256) attributes {schedule = #eider.schedule<row<threads = 32, vector = 8>>} {
  %x = eider.input "x" : tensor<?x256xbf16, #eider.dims<m, n>>
  %wide = arith.extf %x : tensor<?x256xbf16, #eider.dims<m, n>> to tensor<?x256xf32, #eider.dims<m, n>>
  %row = eider.position 0 : tensor<?x1xi64, #eider.dims<m, 1>>
  %column = eider.position 1 : tensor<1x256xi64, #eider.dims<1, n>>
  %c = arith.constant 63 : i64
  %width = eider.broadcast %c : i64 to tensor<?x1xi64, #eider.dims<m, 1>>
  %least = arith.subi %row, %width : tensor<?x1xi64, #eider.dims<m, 1>>
  %columns = eider.broadcast %column : tensor<1x256xi64, #eider.dims<1, n>> to tensor<?x256xi64, #eider.dims<m, n>>
  %first = eider.broadcast %least : tensor<?x1xi64, #eider.dims<m, 1>> to tensor<?x256xi64, #eider.dims<m, n>>
  %last = eider.broadcast %row : tensor<?x1xi64, #eider.dims<m, 1>> to tensor<?x256xi64, #eider.dims<m, n>>
  %zero = arith.constant 0.0 : f32
  %zeros = eider.broadcast %zero : f32 to tensor<?x256xf32, #eider.dims<m, n>>
  %twice = arith.addf %wide, %wide : tensor<?x256xf32, #eider.dims<m, n>>
  %isBefore = arith.cmpi slt, %columns, %first : tensor<?x256xi64, #eider.dims<m, n>>
  %from = arith.select %isBefore, %zeros, %twice : tensor<?x256xi1, #eider.dims<m, n>>, tensor<?x256xf32, #eider.dims<m, n>>
  %isBehind = arith.cmpi slt, %last, %columns : tensor<?x256xi64, #eider.dims<m, n>>
  %both = arith.select %isBehind, %zeros, %from : tensor<?x256xi1, #eider.dims<m, n>>, tensor<?x256xf32, #eider.dims<m, n>>
  %max = eider.reduce max %both over [1, *] : tensor<?x256xf32, #eider.dims<m, n>> -> tensor<?x1xf32, #eider.dims<m, 1>>
  %high = eider.broadcast %max : tensor<?x1xf32, #eider.dims<m, 1>> to tensor<?x256xf32, #eider.dims<m, n>>
  %y = arith.subf %both, %high : tensor<?x256xf32, #eider.dims<m, n>>
  eider.output "y", %y : tensor<?x256xf32, #eider.dims<m, n>>
}

// -----

// Where the comparison holds, and its ends are not among what is seen; of a constant, too.
// CHECK-LABEL: simt.kernel @between
// CHECK-DAG: %[[ONE:.*]] = arith.constant 1 : i64
// CHECK-DAG: %[[TEN:.*]] = arith.constant 10 : i64
// CHECK: %[[LAST:.*]] = arith.subi %{{.*}}, %[[ONE]] : i64
// CHECK: simt.seen %{{.*}} from %{{.*}} to %[[LAST]] :
eider.program @between(m, n = 256) attributes {schedule = #eider.schedule<map<threads = 32, vector = 8>>} {
  %x = eider.input "x" : tensor<?x256xf32, #eider.dims<m, n>>
  %row = eider.position 0 : tensor<?x1xi64, #eider.dims<m, 1>>
  %column = eider.position 1 : tensor<1x256xi64, #eider.dims<1, n>>
  %ten = arith.constant 10 : i64
  %columns = eider.broadcast %column : tensor<1x256xi64, #eider.dims<1, n>> to tensor<?x256xi64, #eider.dims<m, n>>
  %first = eider.broadcast %ten : i64 to tensor<?x256xi64, #eider.dims<m, n>>
  %end = eider.broadcast %row : tensor<?x1xi64, #eider.dims<m, 1>> to tensor<?x256xi64, #eider.dims<m, n>>
  %zero = arith.constant 0.0 : f32
  %zeros = eider.broadcast %zero : f32 to tensor<?x256xf32, #eider.dims<m, n>>
  %isFrom = arith.cmpi sge, %columns, %first : tensor<?x256xi64, #eider.dims<m, n>>
  %from = arith.select %isFrom, %x, %zeros : tensor<?x256xi1, #eider.dims<m, n>>, tensor<?x256xf32, #eider.dims<m, n>>
  %isBefore = arith.cmpi sgt, %end, %columns : tensor<?x256xi64, #eider.dims<m, n>>
  %y = arith.select %isBefore, %from, %zeros : tensor<?x256xi1, #eider.dims<m, n>>, tensor<?x256xf32, #eider.dims<m, n>>
  eider.output "y", %y : tensor<?x256xf32, #eider.dims<m, n>>
}

// -----

// A sum sees all of the row, whatever a select does; nor is one column that is left out a part that no one sees.
// CHECK-LABEL: simt.kernel @summed
// CHECK-NOT: simt.seen
// CHECK-LABEL: simt.kernel @but_one
// CHECK-NOT: simt.seen
eider.program @summed(m, n = 256) attributes {schedule = #eider.schedule<row<threads = 32, vector = 8>>} {
  %x = eider.input "x" : tensor<?x256xf32, #eider.dims<m, n>>
  %row = eider.position 0 : tensor<?x1xi64, #eider.dims<m, 1>>
  %column = eider.position 1 : tensor<1x256xi64, #eider.dims<1, n>>
  %columns = eider.broadcast %column : tensor<1x256xi64, #eider.dims<1, n>> to tensor<?x256xi64, #eider.dims<m, n>>
  %last = eider.broadcast %row : tensor<?x1xi64, #eider.dims<m, 1>> to tensor<?x256xi64, #eider.dims<m, n>>
  %sum = eider.reduce sum %x over [1, *] : tensor<?x256xf32, #eider.dims<m, n>> -> tensor<?x1xf32, #eider.dims<m, 1>>
  %all = eider.broadcast %sum : tensor<?x1xf32, #eider.dims<m, 1>> to tensor<?x256xf32, #eider.dims<m, n>>
  %isBehind = arith.cmpi sgt, %columns, %last : tensor<?x256xi64, #eider.dims<m, n>>
  %y = arith.select %isBehind, %all, %x : tensor<?x256xi1, #eider.dims<m, n>>, tensor<?x256xf32, #eider.dims<m, n>>
  eider.output "y", %y : tensor<?x256xf32, #eider.dims<m, n>>
}
eider.program @but_one(m, n = 256) attributes {schedule = #eider.schedule<row<threads = 32, vector = 8>>} {
  %x = eider.input "x" : tensor<?x256xf32, #eider.dims<m, n>>
  %row = eider.position 0 : tensor<?x1xi64, #eider.dims<m, 1>>
  %column = eider.position 1 : tensor<1x256xi64, #eider.dims<1, n>>
  %columns = eider.broadcast %column : tensor<1x256xi64, #eider.dims<1, n>> to tensor<?x256xi64, #eider.dims<m, n>>
  %own = eider.broadcast %row : tensor<?x1xi64, #eider.dims<m, 1>> to tensor<?x256xi64, #eider.dims<m, n>>
  %zero = arith.constant 0.0 : f32
  %zeros = eider.broadcast %zero : f32 to tensor<?x256xf32, #eider.dims<m, n>>
  %isOwn = arith.cmpi eq, %columns, %own : tensor<?x256xi64, #eider.dims<m, n>>
  %other = arith.select %isOwn, %zeros, %x : tensor<?x256xi1, #eider.dims<m, n>>, tensor<?x256xf32, #eider.dims<m, n>>
  %max = eider.reduce max %other over [1, *] : tensor<?x256xf32, #eider.dims<m, n>> -> tensor<?x1xf32, #eider.dims<m, 1>>
  %high = eider.broadcast %max : tensor<?x1xf32, #eider.dims<m, 1>> to tensor<?x256xf32, #eider.dims<m, n>>
  %y = arith.subf %other, %high : tensor<?x256xf32, #eider.dims<m, n>>
  eider.output "y", %y : tensor<?x256xf32, #eider.dims<m, n>>
}

// -----

// The next row, loaded ahead, by what it sees.
// CHECK-LABEL: simt.kernel @ahead
// CHECK: %[[AT0:.*]] = simt.first_tile
// CHECK: %[[LAST0:.*]] = simt.position rows at %[[AT0]] :
// CHECK: simt.seen %[[AT0]] to %[[LAST0]] :
// CHECK: simt.for_tiles
// CHECK: %[[NEXT:.*]] = simt.next_tile
// CHECK: %[[LAST:.*]] = simt.position rows at %[[NEXT]] :
// CHECK: %[[SEEN:.*]] = simt.seen %[[NEXT]] to %[[LAST]] :
// CHECK: simt.load elements %{{.*}} at %[[SEEN]] :
eider.program @ahead(m, n = 256) attributes {schedule = #eider.schedule<row<threads = 32, vector = 8, tiles = 2, prefetch = 1>>} {
  %x = eider.input "x" : tensor<?x256xf32, #eider.dims<m, n>>
  %row = eider.position 0 : tensor<?x1xi64, #eider.dims<m, 1>>
  %column = eider.position 1 : tensor<1x256xi64, #eider.dims<1, n>>
  %columns = eider.broadcast %column : tensor<1x256xi64, #eider.dims<1, n>> to tensor<?x256xi64, #eider.dims<m, n>>
  %last = eider.broadcast %row : tensor<?x1xi64, #eider.dims<m, 1>> to tensor<?x256xi64, #eider.dims<m, n>>
  %zero = arith.constant 0.0 : f32
  %zeros = eider.broadcast %zero : f32 to tensor<?x256xf32, #eider.dims<m, n>>
  %isBehind = arith.cmpi sgt, %columns, %last : tensor<?x256xi64, #eider.dims<m, n>>
  %seen = arith.select %isBehind, %zeros, %x : tensor<?x256xi1, #eider.dims<m, n>>, tensor<?x256xf32, #eider.dims<m, n>>
  %max = eider.reduce max %seen over [1, *] : tensor<?x256xf32, #eider.dims<m, n>> -> tensor<?x1xf32, #eider.dims<m, 1>>
  %high = eider.broadcast %max : tensor<?x1xf32, #eider.dims<m, 1>> to tensor<?x256xf32, #eider.dims<m, n>>
  %y = arith.subf %seen, %high : tensor<?x256xf32, #eider.dims<m, n>>
  eider.output "y", %y : tensor<?x256xf32, #eider.dims<m, n>>
}

// -----

// The length of each row is loaded before the row; but of the next row it would be loaded where there may be none.
// CHECK-LABEL: simt.kernel @by_lengths
// CHECK: %[[LENGTH:.*]] = simt.load rows
// CHECK: %[[LAST:.*]] = arith.subi %[[LENGTH]], %{{.*}} : i64
// CHECK: %[[SEEN:.*]] = simt.seen %{{.*}} to %[[LAST]] :
// CHECK-NEXT: simt.load elements %{{.*}} at %[[SEEN]] :
// CHECK-LABEL: simt.kernel @by_lengths_ahead
// CHECK-NOT: simt.seen
// CHECK: simt.next_tile
// CHECK-NOT: simt.seen
eider.program @by_lengths(m, n = 256) attributes {schedule = #eider.schedule<row<threads = 32, vector = 8>>} {
  %x = eider.input "x" : tensor<?x256xf32, #eider.dims<m, n>>
  %lengths = eider.input "lengths" : tensor<?x1xi64, #eider.dims<m, 1>>
  %column = eider.position 1 : tensor<1x256xi64, #eider.dims<1, n>>
  %columns = eider.broadcast %column : tensor<1x256xi64, #eider.dims<1, n>> to tensor<?x256xi64, #eider.dims<m, n>>
  %end = eider.broadcast %lengths : tensor<?x1xi64, #eider.dims<m, 1>> to tensor<?x256xi64, #eider.dims<m, n>>
  %zero = arith.constant 0.0 : f32
  %zeros = eider.broadcast %zero : f32 to tensor<?x256xf32, #eider.dims<m, n>>
  %isBehind = arith.cmpi sge, %columns, %end : tensor<?x256xi64, #eider.dims<m, n>>
  %seen = arith.select %isBehind, %zeros, %x : tensor<?x256xi1, #eider.dims<m, n>>, tensor<?x256xf32, #eider.dims<m, n>>
  %max = eider.reduce max %seen over [1, *] : tensor<?x256xf32, #eider.dims<m, n>> -> tensor<?x1xf32, #eider.dims<m, 1>>
  %high = eider.broadcast %max : tensor<?x1xf32, #eider.dims<m, 1>> to tensor<?x256xf32, #eider.dims<m, n>>
  %y = arith.subf %seen, %high : tensor<?x256xf32, #eider.dims<m, n>>
  eider.output "y", %y : tensor<?x256xf32, #eider.dims<m, n>>
}
eider.program @by_lengths_ahead(m, n = 256) attributes {schedule = #eider.schedule<row<threads = 32, vector = 8, tiles = 2, prefetch = 1>>} {
  %x = eider.input "x" : tensor<?x256xf32, #eider.dims<m, n>>
  %lengths = eider.input "lengths" : tensor<?x1xi64, #eider.dims<m, 1>>
  %column = eider.position 1 : tensor<1x256xi64, #eider.dims<1, n>>
  %columns = eider.broadcast %column : tensor<1x256xi64, #eider.dims<1, n>> to tensor<?x256xi64, #eider.dims<m, n>>
  %end = eider.broadcast %lengths : tensor<?x1xi64, #eider.dims<m, 1>> to tensor<?x256xi64, #eider.dims<m, n>>
  %zero = arith.constant 0.0 : f32
  %zeros = eider.broadcast %zero : f32 to tensor<?x256xf32, #eider.dims<m, n>>
  %isBehind = arith.cmpi sge, %columns, %end : tensor<?x256xi64, #eider.dims<m, n>>
  %seen = arith.select %isBehind, %zeros, %x : tensor<?x256xi1, #eider.dims<m, n>>, tensor<?x256xf32, #eider.dims<m, n>>
  %max = eider.reduce max %seen over [1, *] : tensor<?x256xf32, #eider.dims<m, n>> -> tensor<?x1xf32, #eider.dims<m, 1>>
  %high = eider.broadcast %max : tensor<?x1xf32, #eider.dims<m, 1>> to tensor<?x256xf32, #eider.dims<m, n>>
  %y = arith.subf %seen, %high : tensor<?x256xf32, #eider.dims<m, n>>
  eider.output "y", %y : tensor<?x256xf32, #eider.dims<m, n>>
}
