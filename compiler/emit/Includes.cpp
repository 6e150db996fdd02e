//===- Includes.cpp - What a text includes --------------------------------===//
//
// Part of Eider, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//
#include "compiler/emit/Includes.h"

#include "compiler/ir/Simt.h"
#include "mlir/IR/TypeUtilities.h"

#include <set>

using namespace mlir;
using namespace eider::simt;

static const char *headerOf(TileAttr tile) {
  if (tile.getKind() == TileKind::row)
    return "eider/tile/row.cuh";
  if (tile.getRowGroups())
    return "eider/tile/grouped.cuh";
  return tile.getKind() == TileKind::rows ? "eider/tile/rows.cuh" : "eider/tile/block.cuh";
}

/// The include of a format of codes or narrow scales; none for others.
static void includeFormat(Type element, std::set<std::string> &includes) {
  if (auto real = dyn_cast<FloatType>(element); real && real.getWidth() <= 8)
    includes.insert("eider/formats/" + eider::ir::findElementType(real)->text().str() + ".cuh");
}

void eider::text::printIncludes(ModuleOp module, llvm::raw_ostream &os) {
  std::set<std::string> includes;
  module.walk([&](Operation *op) {
    if (auto loop = dyn_cast<ForTilesOp>(op))
      includes.insert(headerOf(loop.getTile()));
    if (auto loop = dyn_cast<ForTilesOp>(op); loop && loop.getTile().getRowGroups())
      includes.insert("eider/contraction/grouped.cuh");
    if (auto product = dyn_cast<ContractOp>(op))
      includes.insert(!product.getWarpgroups()     ? "eider/contraction/product.cuh"
                      : product.getVectorsScales() ? "eider/contraction/codes.cuh"
                                                   : "eider/contraction/warpgroups.cuh");
    if (isa<LeaveSumsOp>(op))
      includes.insert("eider/contraction/parts.cuh");
    if (auto reduce = dyn_cast<ReduceOp>(op); reduce && reduce.getCodec())
      includes.insert("eider/contraction/lanes.cuh");
    if (isa<RowsAheadOp>(op)) {
      includes.insert("eider/contraction/lanes.cuh");
      includes.insert("eider/tile/ahead.cuh");
    }
    if (isa<AttendOp>(op))
      includes.insert("eider/attention/decode.cuh");
    if (auto attend = dyn_cast<AttendRowsOp>(op))
      includes.insert(attend.getWarpgroups() ? "eider/attention/warpgroups.cuh"
                                             : "eider/attention/prefill.cuh");
    if (isa<eider::ir::YieldOp>(op)) // a score function
      includes.insert("eider/math.cuh");
    if (isa<CombineAttentionOp>(op))
      includes.insert("eider/attention/parts.cuh");
    if (auto layout = dyn_cast<ScaleLayoutOp>(op))
      includes.insert("eider/layouts/" +
                      eider::ir::infoOf(layout.getLayout().getValue()).name.str() + ".cuh");
    if (auto kernel = dyn_cast<KernelOp>(op))
      for (BlockArgument argument : kernel.getBlock().getArguments())
        if (auto pointer = dyn_cast<PointerType>(argument.getType()))
          includeFormat(pointer.getElementType(), includes);
    for (Type type : op->getResultTypes()) // codes that no argument holds
      includeFormat(getElementTypeOrSelf(type), includes);
  });
  for (const std::string &include : includes)
    os << "#include \"" << include << "\"\n";
  os << "\nusing namespace eider;\n";
}
