// Three variants of one program: alignment and pitch are where they differ.
//
// RUN: eider-opt %s -eider-lower-to-simt=variant=contiguous -canonicalize -cse | FileCheck %s --check-prefix=CONTIGUOUS
// RUN: eider-opt %s -eider-lower-to-simt=variant=aligned -canonicalize -cse | FileCheck %s --check-prefix=ALIGNED
// RUN: eider-opt %s -eider-lower-to-simt=variant=general -canonicalize -cse | FileCheck %s --check-prefix=GENERAL
// RUN: eider-opt %s -eider-lower-to-simt -canonicalize -cse | FileCheck %s --check-prefix=CONTIGUOUS

#mn = #eider.dims<tokens, hidden>
!b = tensor<?x512xbf16, #mn>
!f = tensor<?x512xf32, #mn>
!r = tensor<?x1xf32, #eider.dims<tokens, 1>>
!g = tensor<?x4xf32, #eider.dims<tokens, hidden / 128>>
!w = tensor<512xbf16, #eider.dims<hidden>>

// CONTIGUOUS: simt.kernel @p ["x", "h", "w", "s", "eps", "y", "tokens"] threads = 256 grid = "min(ceildiv(tokens, 8), 2147483647)"
// CONTIGUOUS-SAME: arguments = ["tensor:x", "tensor:h", "tensor:w", "tensor:s", "scalar:eps", "tensor:y", "dim:tokens"]
// CONTIGUOUS-SAME: alignments = {h = 16 : i64, w = 16 : i64, x = 16 : i64, y = 16 : i64}
// CONTIGUOUS-SAME: "p: reads x bf16 [tokens, hidden], h bf16 [tokens, hidden] (updated), w bf16 [hidden], s f32 [tokens, hidden / 128]"
// CONTIGUOUS-SAME: "writes y f32 [tokens, hidden]"
// CONTIGUOUS-SAME: "schedule row<threads = 32, vector = 16, rows = 8>"
// CONTIGUOUS: ^bb0(%[[X:.*]]: !simt.pointer<bf16>, %[[H:.*]]: !simt.pointer<bf16>, %[[W:.*]]: !simt.pointer<bf16>, %[[S:.*]]: !simt.pointer<f32>, %[[EPS:.*]]: f32, %[[Y:.*]]: !simt.pointer<f32>, %[[TOKENS:.*]]: i64):
// CONTIGUOUS: simt.for_tiles %[[TOKENS]] {
// CONTIGUOUS: ^bb0(%[[AT:.*]]: !simt.cursor<<row, threads = 32, vector = 16, rows = 8, columns = 512, loads = 1, width = 512>>)
// CONTIGUOUS-NEXT: %[[XF:.*]] = simt.load elements %[[X]] at %[[AT]] : {{.*}} -> vector<16xbf16>
// CONTIGUOUS-NEXT: %[[HF:.*]] = simt.load elements %[[H]] at %[[AT]] : {{.*}} -> vector<16xbf16>
// CONTIGUOUS: %[[SF:.*]] = simt.load groups %[[S]] at %[[AT]] {group = 128 : i64} : {{.*}} -> vector<1xf32>
// CONTIGUOUS-NEXT: simt.store elements %[[XF]] to %[[H]] at %[[AT]] : vector<16xbf16>
// CONTIGUOUS-NEXT: %[[WIDE:.*]] = arith.extf %[[XF]] : vector<16xbf16> to vector<16xf32>
// CONTIGUOUS-NEXT: %[[SUM:.*]] = simt.reduce sum %[[WIDE]] at %[[AT]] {eider.name = "energy"} : vector<16xf32>, {{.*}} -> f32
// CONTIGUOUS-NEXT: %[[MORE:.*]] = arith.addf %[[SUM]], %[[EPS]] : f32
// CONTIGUOUS-NEXT: %[[ROWS:.*]] = simt.spread %[[MORE]] : f32 to vector<16xf32>
// CONTIGUOUS-NEXT: %[[GROUPS:.*]] = simt.spread %[[SF]] : vector<1xf32> to vector<16xf32>
// CONTIGUOUS: simt.store elements %{{.*}} to %[[Y]] at %[[AT]] : vector<16xf32>

// GENERAL: simt.kernel @p_strided ["x", "h", "w", "s", "eps", "y", "x_stride", "h_stride", "s_stride", "y_stride", "tokens"] threads = 256
// GENERAL-SAME: arguments = ["tensor:x", "tensor:h", "tensor:w", "tensor:s", "scalar:eps", "tensor:y", "stride:x:0", "stride:h:0", "stride:s:0", "stride:y:0", "dim:tokens"]
// GENERAL-SAME: alignments = {h = 2 : i64, w = 2 : i64, x = 2 : i64, y = 4 : i64}
// GENERAL: ^bb0(%[[X:[a-z0-9]+]]: {{.*}}, %[[XS:[a-z0-9]+]]: i64, %[[HS:[a-z0-9]+]]: i64, %[[SS:[a-z0-9]+]]: i64, %[[YS:[a-z0-9]+]]: i64, %[[TOKENS:[a-z0-9]+]]: i64):
// GENERAL: simt.load elements %[[X]] at %{{.*}} pitch %[[XS]] : i64 {alignment = 2 : i64}
// GENERAL: simt.load elements %{{.*}} at %{{.*}} pitch %[[HS]] : i64 {alignment = 2 : i64}
// GENERAL: simt.load groups %{{.*}} at %{{.*}} pitch %[[SS]] : i64 {{{.*}}group = 128 : i64}
// GENERAL: simt.store elements %{{.*}} to %{{.*}} at %{{.*}} pitch %[[HS]] : i64 {alignment = 2 : i64}
// GENERAL: simt.store elements %{{.*}} to %{{.*}} at %{{.*}} pitch %[[YS]] : i64 {alignment = 4 : i64}

// ALIGNED: simt.kernel @p_aligned ["x", "h", "w", "s", "eps", "y", "x_stride", "h_stride", "s_stride", "y_stride", "tokens"] threads = 256
// ALIGNED-SAME: alignments = {h = 16 : i64, w = 16 : i64, x = 16 : i64, y = 16 : i64}
// ALIGNED: ^bb0(%[[X:[a-z0-9]+]]: {{.*}}, %[[XS:[a-z0-9]+]]: i64, %[[HS:[a-z0-9]+]]: i64, %[[SS:[a-z0-9]+]]: i64, %[[YS:[a-z0-9]+]]: i64, %[[TOKENS:[a-z0-9]+]]: i64):
// ALIGNED: simt.load elements %[[X]] at %{{[a-z0-9]+}} pitch %[[XS]] : i64 :
// ALIGNED: simt.load groups %{{.*}} at %{{.*}} pitch %[[SS]] : i64 {{{.*}}group = 128 : i64}
// ALIGNED: simt.store elements %{{.*}} to %{{.*}} at %{{[a-z0-9]+}} pitch %[[YS]] : i64 :
eider.program @p(tokens, hidden = 512) attributes {schedule = #eider.schedule<row<threads = 32, vector = 16, rows = 8>>} {
  %x = eider.input "x" : !b
  %h = eider.inout "h" : !b
  %w = eider.input "w" : !w
  %s = eider.input "s" : !g
  %eps = eider.scalar "eps" = 1.0
  eider.store "h", %x : !b
  %wide = arith.extf %x : !b to !f
  %sum = eider.reduce sum %wide over [1, *] {eider.name = "energy"} : !f -> !r
  %eps_rows = eider.broadcast %eps : f32 to !r
  %more = arith.addf %sum, %eps_rows : !r
  %rows = eider.broadcast %more : !r to !f
  %groups = eider.broadcast %s : !g to !f
  %hf = arith.extf %h : !b to !f
  %wf = arith.extf %w : !w to tensor<512xf32, #eider.dims<hidden>>
  %columns = eider.broadcast %wf : tensor<512xf32, #eider.dims<hidden>> to !f
  %a = arith.mulf %rows, %groups : !f
  %b = arith.mulf %a, %columns : !f
  %c = arith.mulf %b, %hf : !f
  eider.output "y", %c : !f
}
