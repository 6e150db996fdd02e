//===- Boundary.cpp - What a program reads and writes ---------------------===//
//
// Part of Eider, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//
#include "compiler/transforms/Boundary.h"

#include "compiler/transforms/Domain.h"

#include "mlir/IR/TypeUtilities.h"

using namespace mlir;
using namespace eider;
using namespace eider::ir;
using namespace eider::transforms;

Type transforms::boundaryType(Operation &op) {
  return isa<OutputOp>(op) ? op.getOperand(0).getType() : givenType(op);
}

StringRef transforms::boundaryName(Operation &op) {
  return op.getAttrOfType<StringAttr>("name").getValue();
}

/// Whether a program stores this in-out.
static bool isUpdated(Operation &op) {
  if (isa<ScatterOp>(op))
    return true;
  auto inout = dyn_cast<InOutOp>(op);
  return inout && llvm::any_of(inout->getBlock()->getOps<StoreOp>(),
                               [&](StoreOp store) { return store.getName() == inout.getName(); });
}

/// How many parts of the whole matrix an argument has; 0: it is none.
static int64_t partsOf(Operation &op) {
  if (auto output = dyn_cast<OutputOp>(op); output && leavesParts(output))
    return cast<ProgramOp>(op.getParentOp()).getScheduleAttr().getKnobs().blocks;
  auto count = op.getAttrOfType<IntegerAttr>(partsCount);
  return count ? count.getInt() : 0;
}

/// Floats of each part of attention in a workspace; 0: it is none.
static int64_t sizeOfAttentionPart(Operation &op) {
  if (auto kind = op.getAttrOfType<DenseI64ArrayAttr>(attentionKind))
    return attentionIn(kind).sizeOfPart();
  auto output = dyn_cast<OutputOp>(op);
  AttentionOp attention = output ? attentionOf(output) : AttentionOp();
  return attention ? transforms::shapeOf(attention).sizeOfPart() : 0;
}

static std::string describe(Operation &op, Type type) {
  std::string text = boundaryName(op).str() + " ";
  llvm::raw_string_ostream stream(text);
  stream << getElementTypeOrSelf(type) << " [";
  if (const int64_t size = sizeOfAttentionPart(op)) {
    stream << "parts, " << size << "]";
    return text;
  }
  if (const int64_t parts = partsOf(op)) {
    stream << parts << "]";
    return text;
  }
  llvm::interleaveComma(
      llvm::zip_equal(dimsOf(type).getExprs(), cast<RankedTensorType>(type).getShape()), stream,
      [&](auto pair) { stream << std::get<0>(pair).str(); });
  stream << "]";
  if (auto layout = op.getAttrOfType<LayoutAttr>("layout"))
    stream << " " << infoOf(layout.getValue()).name;
  return text + (isUpdated(op) ? " (updated)" : "");
}

BoundaryText transforms::describeBoundary(ProgramOp program) {
  BoundaryText result;
  for (Operation &op : program.getBlock())
    if (Type type = boundaryType(op)) {
      std::string &list = isa<OutputOp, ScatterOp>(op) ? result.writes : result.reads;
      list += (list.empty() ? "" : ", ") + describe(op, type);
    }
  return result;
}
