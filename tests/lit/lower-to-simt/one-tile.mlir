// Of few rows a grid has as many blocks as tiles, and a text no loop; not where a block has several, or where rows are any.
//
// RUN: eider-opt %s -eider-lower-to-simt=variant=few_rows | FileCheck %s
// RUN: eider-opt %s -eider-lower-to-simt=variant=few_rows -eider-print-cuda -o /dev/null | FileCheck %s --check-prefix=TEXT
// RUN: eider-opt %s -eider-lower-to-simt -eider-print-cuda -o /dev/null | FileCheck %s --check-prefix=ANY

#mn = #eider.dims<m, n>
#m1 = #eider.dims<m, 1>
!x = tensor<?x512xf32, #mn>
!s = tensor<?x1xf32, #m1>

// CHECK-LABEL: simt.kernel @one_few_rows
// CHECK-SAME: grid = "min(m, 2147483647)"
// CHECK: simt.for_tiles only %
// TEXT-LABEL: void one_few_rows(
// TEXT: {{^}}  const Row row = Row::only(m);
// TEXT-NEXT: {{^}}  const auto x_row = row.load(x);
// TEXT: {{^}}  row.store_rows(y, sum);
// TEXT-NEXT: {{^}}}
// ANY-LABEL: void one(
// ANY: for (const Row row : Row::over(m)) {
eider.program @one(m, n = 512) attributes {schedule = #eider.schedule<row<threads = 32, vector = 4>>} {
  %x = eider.input "x" : !x
  %s = eider.reduce sum %x over [1, *] : !x -> !s
  eider.output "y", %s : !s
}

// CHECK-LABEL: simt.kernel @cluster_few_rows
// CHECK-SAME: cluster = 4 grid = "min(m, 536870911) * 4"
// CHECK: simt.for_tiles only %
// TEXT-LABEL: void cluster_few_rows(
// TEXT: const Row row = Row::only(m);
eider.program @cluster(m, n = 512) attributes {schedule = #eider.schedule<row<threads = 32, vector = 4, cluster = 4>>, target = "sm_90"} {
  %x = eider.input "x" : !x
  %s = eider.reduce sum %x over [1, *] : !x -> !s
  eider.output "y", %s : !s
}

// CHECK-LABEL: simt.kernel @several_few_rows
// CHECK: simt.for_tiles %
// TEXT-LABEL: void several_few_rows(
// TEXT: for (const Row row : Row::over(m)) {
eider.program @several(m, n = 512) attributes {schedule = #eider.schedule<row<threads = 32, vector = 4, tiles = 2>>} {
  %x = eider.input "x" : !x
  %s = eider.reduce sum %x over [1, *] : !x -> !s
  eider.output "y", %s : !s
}
