//===- Legalize.cpp - Who converts FP8 on the target ----------------------===//
//
// Part of Eider, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//
#include "compiler/transforms/Passes.h"
#include "compiler/transforms/Targets.h"

#include "mlir/IR/TypeUtilities.h"

using namespace mlir;
using namespace eider::ir;
using namespace eider::transforms;

/// Whether a target converts a format by instruction.
static bool converts(const Target &target, const ElementType &format) {
  switch (format.instructions) {
  case Instructions::fp8:
    return target.fp8Instructions;
  case Instructions::fp4:
    return target.fp4Instructions;
  case Instructions::none:
    break;
  }
  return false;
}

/// Why not: no GPU does, or which is the first.
static std::string whyNot(const Target &target, const ElementType &format) {
  for (const Target &first : targetTable())
    if (converts(first, format) && first.name != "host")
      return (target.name + " has no " + format.name + " conversions (" + first.name +
              " is the first)")
          .str();
  return ("no GPU converts " + format.name + " by instruction").str();
}

/// The codes that an op converts; none where it does not.
static SmallVector<const ElementType *, 2> codesOf(Operation *op) {
  SmallVector<const ElementType *, 2> formats;
  auto add = [&](Type type) {
    if (isCodeType(getElementTypeOrSelf(type)))
      formats.push_back(findElementType(getElementTypeOrSelf(type)));
  };
  if (auto contract = dyn_cast<ContractOp>(op); contract && contract.isOfMatrices()) {
    add(contract.weightsType());
    add(contract.vectorType());
  }
  if (auto attention = dyn_cast<AttentionOp>(op))
    add(attention.getKeys().getType());
  if (auto prefill = dyn_cast<PrefillOp>(op))
    add(prefill.getKeys().getType());
  if (auto decode = dyn_cast<DecodeOp>(op))
    add(decode.getInput().getType());
  if (isa<EncodeOp>(op))
    add(op->getResult(0).getType());
  return formats;
}

namespace {
struct Legalize : PassWrapper<Legalize, OperationPass<ModuleOp>> {
  MLIR_DEFINE_EXPLICIT_INTERNAL_INLINE_TYPE_ID(Legalize)
  Legalize() = default;
  Legalize(const Legalize &other) : PassWrapper(other) {
    target = other.target;
    codec = other.codec;
  }

  Option<std::string> target{*this, "target", llvm::cl::init("sm_90"),
                             llvm::cl::desc("sm_75 … sm_121a, host")};
  Option<std::string> codec{*this, "codec", llvm::cl::init("auto"),
                            llvm::cl::desc("auto, hardware, software")};

  StringRef getArgument() const final { return "eider-legalize"; }
  StringRef getDescription() const final { return "Choose what the target can do"; }

  /// The formats to which something is rounded stochastically. Software decodes them, too: a text
  /// has one codec a format.
  llvm::SmallPtrSet<const ElementType *, 4> stochasticFormats() {
    llvm::SmallPtrSet<const ElementType *, 4> formats;
    getOperation().walk([&](EncodeOp op) {
      if (op.getRandom())
        formats.insert(findElementType(getElementTypeOrSelf(op.getType())));
    });
    return formats;
  }

  void runOnOperation() final {
    const Target *known = findTarget(target);
    auto refuse = [&](const Twine &message) {
      getOperation().emitError(message);
      signalPassFailure();
    };
    if (!known)
      return refuse("no target '" + Twine(target.getValue()) + "'");
    if (codec != "auto" && codec != "hardware" && codec != "software")
      return refuse("no codec '" + Twine(codec.getValue()) +
                    "'; they are auto, hardware, software");
    if (codec == "hardware" && !known->fp8Instructions) // what it converts, if anything
      return refuse(Twine(target.getValue()) +
                    " has no FP8 conversions (sm_89 is the first); take codec auto or software");
    getOperation()->setAttr("eider.target", StringAttr::get(&getContext(), target));
    const auto random = stochasticFormats();
    getOperation().walk([&](Operation *op) {
      const auto formats = codesOf(op);
      if (formats.empty() || op->hasAttr("codec"))
        return;
      if (auto prefill = dyn_cast<PrefillOp>(op);
          prefill && !known->bf16Products &&
          getElementTypeOrSelf(prefill.getQueries().getType()).isBF16())
        return refuse(Twine(target.getValue()) +
                      " multiplies no bf16 (sm_80 is the first), which queries are: give codes or "
                      "f16");
      bool hardware = codec != "software";
      for (const ElementType *format : formats) {
        const bool isRandom = random.contains(format);
        if (codec == "hardware" && isRandom)
          return refuse("no GPU rounds stochastically by instruction from these bits; take codec "
                        "auto or software");
        if (codec == "hardware" && !converts(*known, *format))
          return refuse(whyNot(*known, *format) + "; take codec auto or software");
        hardware &= !isRandom && converts(*known, *format);
      }
      op->setAttr("codec", CodecPathAttr::get(&getContext(), hardware ? CodecPath::hardware
                                                                      : CodecPath::software));
    });
  }
};
} // namespace

std::unique_ptr<Pass> eider::transforms::createLegalize(const std::string &target,
                                                        const std::string &codec) {
  auto pass = std::make_unique<Legalize>();
  pass->target = target;
  pass->codec = codec;
  return pass;
}
