// A tile loaded while the one before is worked on: the loop carries what it holds. The sum of a
// product adds the product unrounded.
//
// RUN: eider-opt %s -eider-lower-to-simt | FileCheck %s
// RUN: eider-opt %s -eider-lower-to-simt -canonicalize -eider-print-cuda -o /dev/null | FileCheck %s --check-prefix=TEXT
// RUN: eider-opt %s '-eider-lower-to-simt=variant=general' -canonicalize -eider-print-cuda -o /dev/null | FileCheck %s --check-prefix=STRIDED
// RUN: eider-opt %s -eider-lower-to-simt | eider-opt | FileCheck %s

// CHECK-LABEL: simt.kernel @p
// CHECK: %[[FIRST:.*]] = simt.first_tile %[[ROWS:.*]] :
// CHECK: %[[INITIAL:.*]] = simt.load elements %[[X:.*]] at %[[FIRST]]
// CHECK: simt.for_tiles %[[ROWS]] carrying %[[INITIAL]] : vector<4xf32>
// CHECK: ^bb0(%[[AT:.*]]: !simt.cursor{{.*}}, %[[HELD:.*]]: vector<4xf32>):
// CHECK: simt.reduce sum %[[HELD]] times %[[HELD]] : vector<4xf32> at %[[AT]]
// CHECK: %[[NEXT:.*]] = simt.next_tile %[[AT]]
// CHECK: %[[AHEAD:.*]] = simt.load elements %[[X]] at %[[NEXT]]
// CHECK: simt.store elements
// CHECK: simt.carry %[[AHEAD]] : vector<4xf32>

// TEXT:      auto x_next = Row::first(m).load(x);
// TEXT-NEXT: for (const Row row : Row::over(m)) {
// TEXT-NEXT:   const auto x_row = x_next;
// TEXT-NEXT:   const float sum = row.sum_of_products(x_row, x_row);
// TEXT-NEXT:   if (row.has_next())
// TEXT-NEXT:     x_next = row.next().load(x);
// TEXT-NEXT:   row.store(y, x_row * sum);

// STRIDED:   auto x_next = Row::first(m).load<4>(x, x_stride);
// STRIDED:     x_next = row.next().load<4>(x, x_stride);
eider.program @p(m, n = 128) attributes {schedule = #eider.schedule<row<threads = 32, vector = 4, tiles = 3, prefetch = 1>>} {
  %x = eider.input "x" : tensor<?x128xf32, #eider.dims<m, n>>
  %squares = arith.mulf %x, %x : tensor<?x128xf32, #eider.dims<m, n>>
  %s = eider.reduce sum %squares over [1, *] : tensor<?x128xf32, #eider.dims<m, n>> -> tensor<?x1xf32, #eider.dims<m, 1>>
  %b = eider.broadcast %s : tensor<?x1xf32, #eider.dims<m, 1>> to tensor<?x128xf32, #eider.dims<m, n>>
  %y = arith.mulf %x, %b : tensor<?x128xf32, #eider.dims<m, n>>
  eider.output "y", %y : tensor<?x128xf32, #eider.dims<m, n>>
}
