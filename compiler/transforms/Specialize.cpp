//===- Specialize.cpp - Dims become static --------------------------------===//
//
// Part of Eider, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//
#include "compiler/transforms/Passes.h"

using namespace mlir;
using namespace eider::ir;

namespace {
/// `type` with the extents that the dims of `program` have now.
Type specialized(Type type, ProgramOp program) {
  if (auto scaled = dyn_cast<ScaledType>(type)) {
    auto codes = tensorType(scaled.getDims(), scaled.getElementType(), program);
    return ScaledType::get(type.getContext(), codes.getShape(), scaled.getElementType(),
                           scaled.getDims(), scaled.getBlock(), scaled.getScaleType(),
                           scaled.getLayout());
  }
  if (DimsAttr dims = dimsOf(type))
    return tensorType(dims, cast<RankedTensorType>(type).getElementType(), program);
  return type;
}

struct Specialize : PassWrapper<Specialize, OperationPass<ModuleOp>> {
  MLIR_DEFINE_EXPLICIT_INTERNAL_INLINE_TYPE_ID(Specialize)
  Specialize() = default;
  Specialize(const Specialize &other) : PassWrapper(other) { dims = other.dims; }

  ListOption<std::string> dims{*this, "dims", llvm::cl::desc("name=extent, …")};

  StringRef getArgument() const final { return "eider-specialize"; }
  StringRef getDescription() const final { return "Make dims static"; }

  LogicalResult setDim(ProgramOp program, StringRef text) {
    auto [name, number] = text.split('=');
    int64_t extent = 0;
    if (number.getAsInteger(10, extent) || extent < 0)
      return program.emitError() << "dim '" << text << "' is not name=extent";
    SmallVector<int64_t> values(program.getDimValues());
    for (auto [index, dim] : llvm::enumerate(program.getDimNames())) {
      if (cast<StringAttr>(dim).getValue() != name)
        continue;
      if (!ShapedType::isDynamic(values[index]) && values[index] != extent)
        return program.emitError()
               << "dim '" << name << "' is " << values[index] << " in the program, not " << extent;
      values[index] = extent;
      program.setDimValues(values);
      return success();
    }
    return program.emitError() << "no dim '" << name << "'; they are " << program.getDimNames();
  }

  void runOnOperation() final {
    for (ProgramOp program : getOperation().getOps<ProgramOp>()) {
      for (const std::string &dim : dims)
        if (failed(setDim(program, dim)))
          return signalPassFailure();
      program.walk([&](Operation *op) {
        for (Value result : op->getResults())
          result.setType(specialized(result.getType(), program));
        if (auto scatter = dyn_cast<ScatterOp>(op))
          scatter.setInto(specialized(scatter.getInto(), program));
      });
    }
  }
};
} // namespace

std::unique_ptr<Pass>
eider::transforms::createSpecialize(const std::map<std::string, int64_t> &dims) {
  auto pass = std::make_unique<Specialize>();
  SmallVector<std::string> texts;
  for (const auto &[name, extent] : dims)
    texts.push_back(name + "=" + std::to_string(extent));
  pass->dims = texts;
  return pass;
}
