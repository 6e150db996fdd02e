//===- Decompose.cpp - Quantisation as arithmetic -------------------------===//
//
// Part of Eider, under the Apache License v2.0.
//
// What a quantisation's numerics say is spelled out here, in the order in which a peer's kernel
// computes it: the text that is printed at the end shows every step and constant.
//
//===----------------------------------------------------------------------===//
#include "compiler/transforms/Passes.h"

#include "mlir/Dialect/Arith/IR/Arith.h"

#include <cmath>

using namespace mlir;
using namespace eider::ir;

namespace {
/// Names a value for the printed text.
Value named(Value value, StringRef name) {
  value.getDefiningOp()->setAttr("eider.name", StringAttr::get(value.getContext(), name));
  return value;
}

/// Elementwise f32 arithmetic beside an op.
struct Arithmetic32 {
  OpBuilder &builder;
  Location loc;

  Value scalar(float value) {
    return arith::ConstantOp::create(builder, loc, builder.getF32FloatAttr(value));
  }
  Value like(float value, Value tensor) { return spread(scalar(value), tensor.getType()); }
  Value spread(Value value, Type type) { return BroadcastOp::create(builder, loc, type, value); }
  template <class Op> Value binary(Value left, Value right) {
    return Op::create(builder, loc, left, right);
  }
};

/// Scale and multiplier of a quantisation from each block's amax.
struct BlockScale {
  Value scale;      ///< The stored scale.
  Value multiplier; ///< Of the values; null where they are divided by the scale.
};

float largest(Type code) {
  auto &semantics = cast<FloatType>(code).getFloatSemantics();
  APFloat value = APFloat::getLargest(semantics);
  bool exact;
  value.convert(APFloat::IEEEsingle(), APFloat::rmNearestTiesToEven, &exact);
  return value.convertToFloat();
}

/// 1/s and max/amax saturate at the numerics' bound: an infinite one would make NaN of zeros.
Value boundMultiplier(Arithmetic32 a, Value multiplier, NumericsAttr numerics) {
  if (std::isinf(numerics.getMultiplierBound()))
    return multiplier;
  return a.binary<arith::MinimumFOp>(multiplier, a.like(numerics.getMultiplierBound(), multiplier));
}

BlockScale scaleFromAmax(Arithmetic32 a, Value amax, NumericsAttr numerics, float max) {
  if (numerics.getAmaxFloor() > 0)
    amax = a.binary<arith::MaximumFOp>(amax, a.like(numerics.getAmaxFloor(), amax));
  if (!std::isinf(numerics.getAmaxBound()))
    amax = a.binary<arith::MinimumFOp>(amax, a.like(numerics.getAmaxBound(), amax));
  Value ratio = numerics.getScale() == ScaleFormula::amax_over_max
                    ? a.binary<arith::DivFOp>(amax, a.like(max, amax))
                    : a.binary<arith::MulFOp>(amax, a.like(1.0f / max, amax));
  if (numerics.getScaleFloor() > 0)
    ratio = a.binary<arith::MaximumFOp>(ratio, a.like(numerics.getScaleFloor(), ratio));
  Value one = a.like(1, amax), scale = ratio, isZero;
  if (numerics.getZeroBlock() == ZeroBlock::one) {
    isZero = arith::CmpFOp::create(a.builder, a.loc, arith::CmpFPredicate::OEQ,
                                   named(ratio, "ratio"), a.like(0, amax));
    scale = arith::SelectOp::create(a.builder, a.loc, isZero, one, ratio);
  }
  named(scale, "scale");
  if (numerics.getArithmetic() == Arithmetic::divide)
    return {scale, nullptr};
  bool overAmax = numerics.getArithmetic() == Arithmetic::max_over_amax;
  Value multiplier = overAmax ? a.binary<arith::DivFOp>(a.like(max, amax), amax)
                              : a.binary<arith::DivFOp>(one, scale);
  multiplier = boundMultiplier(a, multiplier, numerics);
  if (overAmax && isZero)
    multiplier = arith::SelectOp::create(a.builder, a.loc, isZero, one, multiplier);
  return {scale, named(multiplier, "multiplier")};
}

/// Codes and scales that stand for a scaled value.
struct Parts {
  Value codes, scales;
  bool given = false; ///< The scales came from the caller.
};

struct Decompose : PassWrapper<Decompose, OperationPass<ModuleOp>> {
  MLIR_DEFINE_EXPLICIT_INTERNAL_INLINE_TYPE_ID(Decompose)
  StringRef getArgument() const final { return "eider-decompose"; }
  void getDependentDialects(DialectRegistry &registry) const final {
    registry.insert<arith::ArithDialect>();
  }
  StringRef getDescription() const final {
    return "Spell out quantise, dequantise, scaled arguments and means";
  }

  DenseMap<Value, Parts> parts;
  SmallVector<Operation *> dead;

  void quantize(QuantizeOp op) {
    OpBuilder builder(op);
    Arithmetic32 a{builder, op.getLoc()};
    auto type = cast<ScaledType>(op.getResult().getType());
    NumericsAttr numerics = op.getNumerics();
    BlockScale block{op.getScale(), nullptr};
    if (!op.getScale()) {
      auto kind = numerics.getNan() == NaN::ignore ? Reduction::amax_number : Reduction::amax;
      Value amax = ReduceOp::create(builder, op.getLoc(), type.getScalesType(), kind, op.getInput(),
                                    type.getBlock());
      block = scaleFromAmax(a, named(amax, "amax"), numerics, largest(type.getElementType()));
    } else if (numerics.getArithmetic() != eider::ir::Arithmetic::divide) {
      Value one = a.like(1, op.getScale());
      Value inverse = a.binary<arith::DivFOp>(one, op.getScale());
      block.multiplier = named(boundMultiplier(a, inverse, numerics), "multiplier");
    }
    Value input = op.getInput(), divisor;
    bool plain =
        numerics.getOverflow() == Overflow::saturate && numerics.getNan() == NaN::propagate;
    if (block.multiplier)
      input = a.binary<arith::MulFOp>(input, a.spread(block.multiplier, input.getType()));
    else if (plain)
      divisor = a.spread(block.scale, input.getType());
    else
      input = a.binary<arith::DivFOp>(input, a.spread(block.scale, input.getType()));
    // The scale of a block's own amax bounds its quotients, unless something cut the amax.
    bool bounded = divisor && !op.getScale() && std::isinf(numerics.getAmaxBound());
    Value codes = EncodeOp::create(builder, op.getLoc(), type.getCodesType(), input, divisor,
                                   numerics.getOverflow() == Overflow::format,
                                   numerics.getNan() == NaN::ignore, bounded, CodecPathAttr());
    parts[op.getResult()] = {codes, block.scale, static_cast<bool>(op.getScale())};
    dead.push_back(op);
  }

  void input(InputOp op, ScaledType type) {
    OpBuilder builder(op);
    Value codes = InputOp::create(builder, op.getLoc(), type.getCodesType(), op.getName(), false);
    Value scales = InputOp::create(builder, op.getLoc(), type.getScalesType(),
                                   (op.getName() + "_scale").str(), false);
    parts[op.getResult()] = {codes, scales};
    dead.push_back(op);
  }

  void output(OutputOp op) {
    OpBuilder builder(op);
    Parts value = parts.at(op.getValue());
    OutputOp::create(builder, op.getLoc(), op.getName(), value.codes, false);
    if (!value.given)
      OutputOp::create(builder, op.getLoc(), (op.getName() + "_scale").str(), value.scales, false);
    dead.push_back(op);
  }

  void dequantize(DequantizeOp op) {
    OpBuilder builder(op);
    Arithmetic32 a{builder, op.getLoc()};
    Parts value = parts.at(op.getInput());
    Value decoded =
        DecodeOp::create(builder, op.getLoc(), op.getType(), value.codes, CodecPathAttr());
    Value product = a.binary<arith::MulFOp>(decoded, a.spread(value.scales, op.getType()));
    if (Attribute name = op->getAttr("eider.name"))
      product.getDefiningOp()->setAttr("eider.name", name);
    op.replaceAllUsesWith(product);
    dead.push_back(op);
  }

  /// A mean is a sum over the number of elements, which must be the same for every block.
  LogicalResult mean(ReduceOp op) {
    auto type = cast<RankedTensorType>(op.getInput().getType());
    int64_t count = 1;
    for (auto [extent, block] : llvm::zip_equal(type.getShape(), op.getBlock())) {
      if (block == 1)
        continue;
      if (ShapedType::isDynamic(extent))
        return op.emitError("the mean needs a static extent: give the dim a value");
      if (!ShapedType::isDynamic(block) && extent % block != 0)
        return op.emitError() << "the mean over blocks of " << block
                              << " needs an extent that they divide, not " << extent;
      count *= ShapedType::isDynamic(block) ? extent : block;
    }
    if (count > (1 << 24))
      return op.emitError() << "the mean of " << count << " elements is beyond f32's integers";
    OpBuilder builder(op);
    Arithmetic32 a{builder, op.getLoc()};
    Value sum = ReduceOp::create(builder, op.getLoc(), op.getType(), Reduction::sum, op.getInput(),
                                 op.getBlock());
    Value mean = a.binary<arith::DivFOp>(sum, a.like(static_cast<float>(count), sum));
    if (Attribute name = op->getAttr("eider.name"))
      mean.getDefiningOp()->setAttr("eider.name", name);
    else
      named(mean, "mean");
    op.replaceAllUsesWith(mean);
    dead.push_back(op);
    return success();
  }

  LogicalResult decompose(Operation *op) {
    if (auto reduce = dyn_cast<ReduceOp>(op); reduce && reduce.getKind() == Reduction::mean)
      return mean(reduce);
    if (auto argument = dyn_cast<InputOp>(op))
      if (auto scaled = dyn_cast<ScaledType>(argument.getType()))
        input(argument, scaled);
    if (auto quantizeOp = dyn_cast<QuantizeOp>(op))
      quantize(quantizeOp);
    if (auto dequantizeOp = dyn_cast<DequantizeOp>(op))
      dequantize(dequantizeOp);
    if (auto result = dyn_cast<OutputOp>(op);
        result && isa<ScaledType>(result.getValue().getType()))
      output(result);
    if (auto codes = dyn_cast<CodesOp>(op)) {
      codes.replaceAllUsesWith(parts.at(codes.getInput()).codes);
      dead.push_back(op);
    }
    if (auto scales = dyn_cast<ScalesOp>(op)) {
      scales.replaceAllUsesWith(parts.at(scales.getInput()).scales);
      dead.push_back(op);
    }
    return success();
  }

  void runOnOperation() final {
    parts.clear();
    dead.clear();
    for (ProgramOp program : getOperation().getOps<ProgramOp>())
      for (Operation &op : llvm::make_early_inc_range(program.getBlock()))
        if (failed(decompose(&op)))
          return signalPassFailure();
    for (Operation *op : llvm::reverse(dead))
      op->erase();
  }
};
} // namespace

std::unique_ptr<Pass> eider::transforms::createDecompose() { return std::make_unique<Decompose>(); }
