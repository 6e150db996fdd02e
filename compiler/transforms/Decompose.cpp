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
#include "mlir/IR/TypeUtilities.h"

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
  Value select(arith::CmpFPredicate predicate, Value left, Value right, Value yes, Value no) {
    Value holds = arith::CmpFOp::create(builder, loc, predicate, left, right);
    return arith::SelectOp::create(builder, loc, holds, yes, no);
  }
  /// A tensor, or the quotient by another, in a narrower type, be it one of codes, and in f32.
  Value narrow(Value tensor, Type element, Value divisor = {}) {
    assert((!divisor || isCodeType(element)) && "a quotient is encoded");
    if (element.isF32())
      return tensor;
    auto type = cast<RankedTensorType>(tensor.getType()).clone(element);
    if (isCodeType(element))
      return EncodeOp::create(builder, loc, type, tensor, divisor,
                              /*largest=*/Value(), /*random=*/Value(),
                              /*overflow_to_format=*/false, /*ignore_nan=*/false,
                              /*bounded=*/false, CodecPathAttr());
    return arith::TruncFOp::create(builder, loc, type, tensor);
  }
  Value widen(Value tensor) {
    auto type = cast<RankedTensorType>(tensor.getType());
    if (type.getElementType().isF32())
      return tensor;
    auto wide = type.clone(builder.getF32Type());
    if (isCodeType(type.getElementType()))
      return DecodeOp::create(builder, loc, wide, tensor, CodecPathAttr());
    return arith::ExtFOp::create(builder, loc, wide, tensor);
  }
};

/// The types of what a quantisation stores.
struct Stored {
  Type code, scale;
  Value global; ///< The second level of the scales; null without one.
};

/// A scale with both of its levels, or with its one.
Value combined(Arithmetic32 a, Value scale, Value global) {
  if (!global)
    return scale;
  return named(a.binary<arith::MulFOp>(scale, a.spread(global, scale.getType())), "combined_scale");
}

/// What a block's scale is amax over: the format's maximum, by the second level.
Value mostOf(Arithmetic32 a, Value amax, Stored stored, float max) {
  if (!stored.global)
    return a.like(max, amax);
  Value most = a.binary<arith::MulFOp>(a.like(max, stored.global), stored.global);
  return a.spread(named(most, "most"), amax.getType());
}

/// Scale and multiplier of a quantisation from each block's amax.
struct BlockScale {
  Value scale;      ///< The stored scale, in f32.
  Value divisor;    ///< That of the values: the scale, with both of its levels.
  Value multiplier; ///< Of the values; null where they are divided.
};

/// 1/s and max/amax saturate at the numerics' bound: an infinite one would make NaN of zeros. The
/// inverse of a power of two, which is 2^-127 at least, does not reach what most have.
Value boundMultiplier(Arithmetic32 a, Value multiplier, NumericsAttr numerics,
                      bool isOfPower = false) {
  const double bound = numerics.getMultiplierBound();
  if (std::isinf(bound) || (isOfPower && bound >= 0x1p127))
    return multiplier;
  return a.binary<arith::MinimumFOp>(multiplier, a.like(numerics.getMultiplierBound(), multiplier));
}

/// The scale from amax by the numerics' formula, before it is rounded to what is stored.
Value formulaOf(Arithmetic32 a, Value amax, NumericsAttr numerics, Stored stored) {
  const float max = largestOf(stored.code);
  const PowerOfTwo power = numerics.getPowerOfTwo();
  if (power != PowerOfTwo::none && power != PowerOfTwo::rceil)
    return a.binary<arith::MulFOp>(amax, a.like(std::exp2(-std::floor(std::log2(max))), amax));
  if (numerics.getScale() == ScaleFormula::amax_over_max)
    return a.binary<arith::DivFOp>(amax, mostOf(a, amax, stored, max));
  if (!stored.global)
    return a.binary<arith::MulFOp>(amax, a.like(1.0f / max, amax));
  Value one = a.like(1, amax);
  Value inverse = a.binary<arith::DivFOp>(one, mostOf(a, amax, stored, max));
  return a.binary<arith::MulFOp>(amax, inverse);
}

/// `ratio` rounded to a power of two, as the numerics say, or to a narrow scale type.
Value roundedScale(Arithmetic32 a, Value ratio, NumericsAttr numerics, Stored stored) {
  auto power = [&](Neighbour which, Value value) {
    return PowerOfTwoOp::create(a.builder, a.loc, value.getType(), which, value).getResult();
  };
  switch (numerics.getPowerOfTwo()) {
  case PowerOfTwo::none:
    if (auto quotient = ratio.getDefiningOp<arith::DivFOp>(); quotient && stored.global)
      return a.widen(a.narrow(quotient.getLhs(), stored.scale, quotient.getRhs()));
    return a.widen(a.narrow(ratio, stored.scale));
  case PowerOfTwo::floor:
    return power(Neighbour::below, ratio);
  case PowerOfTwo::ceil:
  case PowerOfTwo::rceil:
    return power(Neighbour::above, ratio);
  case PowerOfTwo::even:
    break;
  }
  // Half of the format's last digit carries into the next power from where rounding would.
  const float half =
      std::exp2(-static_cast<float>(cast<FloatType>(stored.code).getFPMantissaWidth()));
  Value digit = a.binary<arith::MulFOp>(power(Neighbour::below, ratio), a.like(half, ratio));
  return power(Neighbour::below, named(a.binary<arith::AddFOp>(ratio, digit), "raised"));
}

/// Scale and multiplier where the multiplier comes first and the scale is its inverse.
BlockScale scaleFromMultiplier(Arithmetic32 a, Value amax, NumericsAttr numerics, float max) {
  Value one = a.like(1, amax), zero = a.like(0, amax);
  Value multiplier = boundMultiplier(a, a.binary<arith::DivFOp>(a.like(max, amax), amax), numerics);
  if (numerics.getZeroBlock() != ZeroBlock::formula)
    multiplier = a.select(arith::CmpFPredicate::OEQ, amax, zero, one, multiplier);
  if (numerics.getZeroBlock() == ZeroBlock::one_if_not_finite) // then it is 0 or NaN
    multiplier = a.select(arith::CmpFPredicate::OGT, multiplier, zero, multiplier, one);
  if (numerics.getPowerOfTwo() == PowerOfTwo::rceil)
    multiplier =
        PowerOfTwoOp::create(a.builder, a.loc, amax.getType(), Neighbour::below, multiplier);
  named(multiplier, "multiplier");
  Value scale = named(a.binary<arith::DivFOp>(one, multiplier), "scale");
  return {scale, scale, multiplier};
}

/// Whether x / s is x · (1/s), both exact but where the code is 0 or the largest: of powers of two.
bool hasExactInverse(NumericsAttr numerics, Type scale, bool given) {
  return isa<Float8E8M0FNUType>(scale) || (!given && numerics.getPowerOfTwo() != PowerOfTwo::none);
}

/// Whether few quotients are beyond the format's maximum by more than a scale's rounding: not of
/// powers of two below what bounds them, nor of codes and f16, of which the least are far apart.
bool isMostlyBounding(NumericsAttr numerics, Type scale) {
  const PowerOfTwo power = numerics.getPowerOfTwo();
  return std::isinf(numerics.getAmaxBound()) && power != PowerOfTwo::floor &&
         power != PowerOfTwo::even && !isTwoLevelType(scale) && !scale.isF16();
}

BlockScale scaleFromAmax(Arithmetic32 a, Value amax, NumericsAttr numerics, Stored stored) {
  const float max = largestOf(stored.code);
  if (numerics.getAmaxFloor() > 0)
    amax = a.binary<arith::MaximumFOp>(amax, a.like(numerics.getAmaxFloor(), amax));
  if (!std::isinf(numerics.getAmaxBound()))
    amax = a.binary<arith::MinimumFOp>(amax, a.like(numerics.getAmaxBound(), amax));
  if (numerics.getScale() == ScaleFormula::inverse_of_max_over_amax)
    return scaleFromMultiplier(a, amax, numerics, max);
  Value ratio = formulaOf(a, amax, numerics, stored);
  if (numerics.getScaleFloor() > 0)
    ratio = a.binary<arith::MaximumFOp>(ratio, a.like(numerics.getScaleFloor(), ratio));
  Value one = a.like(1, amax), scale = roundedScale(a, ratio, numerics, stored), isZero;
  if (numerics.getZeroBlock() == ZeroBlock::one) {
    // A power of two is never 0; a narrow scale may be where the ratio is not.
    Value tested = numerics.getPowerOfTwo() == PowerOfTwo::none ? scale : ratio;
    isZero = arith::CmpFOp::create(a.builder, a.loc, arith::CmpFPredicate::OEQ,
                                   named(tested, "ratio"), a.like(0, amax));
    scale = arith::SelectOp::create(a.builder, a.loc, isZero, one, scale);
  }
  named(scale, "scale");
  Value divisor = combined(a, scale, stored.global);
  const bool isExact = hasExactInverse(numerics, stored.scale, /*given=*/false);
  if (numerics.getArithmetic() == Arithmetic::divide && !isExact)
    return {scale, divisor, nullptr};
  bool overAmax = numerics.getArithmetic() == Arithmetic::max_over_amax;
  Value multiplier = overAmax ? a.binary<arith::DivFOp>(a.like(max, amax), amax)
                              : a.binary<arith::DivFOp>(one, divisor);
  if (numerics.getArithmetic() != Arithmetic::divide)
    multiplier = boundMultiplier(a, multiplier, numerics, isExact && !overAmax);
  if (overAmax && isZero)
    multiplier = arith::SelectOp::create(a.builder, a.loc, isZero, one, multiplier);
  return {scale, divisor, named(multiplier, "multiplier")};
}

/// Codes and scales that stand for a scaled value.
struct Parts {
  Value codes, scales;
  bool given = false; ///< The scales came from the caller.
  Value global;       ///< Their second level, if they have two.
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
    const bool isGiven = static_cast<bool>(op.getScale());
    BlockScale block;
    Value amax;
    if (!isGiven) {
      auto kind = numerics.getNan() == NaN::ignore ? Reduction::amax_number : Reduction::amax;
      auto amaxType = cast<RankedTensorType>(type.getScalesType().clone(builder.getF32Type()));
      amax = ReduceOp::create(builder, op.getLoc(), amaxType, kind, op.getInput(), type.getBlock());
      block = scaleFromAmax(a, named(amax, "amax"), numerics,
                            {type.getElementType(), type.getScaleType(), op.getGlobal()});
    } else {
      block.scale = a.widen(op.getScale());
      block.divisor = combined(a, block.scale, op.getGlobal());
      const bool isExact = hasExactInverse(numerics, type.getScaleType(), isGiven);
      const bool divides = numerics.getArithmetic() == eider::ir::Arithmetic::divide;
      if (isExact || !divides) {
        Value inverse = a.binary<arith::DivFOp>(a.like(1, block.scale), block.divisor);
        block.multiplier =
            named(divides ? inverse : boundMultiplier(a, inverse, numerics, isExact), "multiplier");
      }
    }
    Value input = op.getInput(), divisor;
    bool plain =
        numerics.getOverflow() == Overflow::saturate && numerics.getNan() == NaN::propagate;
    if (block.multiplier)
      input = a.binary<arith::MulFOp>(input, a.spread(block.multiplier, input.getType()));
    else if (plain)
      divisor = a.spread(block.divisor, input.getType());
    else
      input = a.binary<arith::DivFOp>(input, a.spread(block.divisor, input.getType()));
    // The scale of a block's own amax bounds its quotients, unless something cut the amax or
    // rounded the scale.
    bool bounded =
        divisor && !isGiven && std::isinf(numerics.getAmaxBound()) && type.getScaleType().isF32();
    // Else the amax tells in which blocks something is NaN, or beyond the format's maximum.
    Value largest;
    if (amax && plain && !bounded) {
      largest = block.multiplier ? a.binary<arith::MulFOp>(amax, block.multiplier) : amax;
      largest = a.spread(largest, input.getType());
      bounded = !op.getRandom() && isMostlyBounding(numerics, type.getScaleType());
    }
    Value codes =
        EncodeOp::create(builder, op.getLoc(), type.getCodesType(), input, divisor, largest,
                         op.getRandom(), numerics.getOverflow() == Overflow::format,
                         numerics.getNan() == NaN::ignore, bounded, CodecPathAttr());
    Value stored = isGiven ? Value(op.getScale()) : a.narrow(block.scale, type.getScaleType());
    parts[op.getResult()] = {codes, stored, isGiven, op.getGlobal()};
    dead.push_back(op);
  }

  /// What becomes of a type's layout: an attribute of the scales' argument or result.
  static LayoutAttr layoutOf(ScaledType type) {
    return type.getLayout() == eider::ScaleLayout::row_major
               ? LayoutAttr()
               : LayoutAttr::get(type.getContext(), type.getLayout());
  }

  void input(InputOp op, ScaledType type) {
    OpBuilder builder(op);
    Value codes = InputOp::create(builder, op.getLoc(), type.getCodesType(), op.getName(), false,
                                  LayoutAttr());
    Value scales = InputOp::create(builder, op.getLoc(), type.getScalesType(),
                                   (op.getName() + "_scale").str(), false, layoutOf(type));
    Value global;
    if (isTwoLevelType(type.getScaleType()))
      global = InputOp::create(builder, op.getLoc(), type.getGlobalType(),
                               (op.getName() + "_global_scale").str(), false, LayoutAttr());
    parts[op.getResult()] = {codes, scales, /*given=*/false, global};
    dead.push_back(op);
  }

  void output(OutputOp op) {
    OpBuilder builder(op);
    Parts value = parts.at(op.getValue());
    OutputOp::create(builder, op.getLoc(), op.getName(), value.codes, false, LayoutAttr());
    if (!value.given)
      OutputOp::create(builder, op.getLoc(), (op.getName() + "_scale").str(), value.scales, false,
                       layoutOf(cast<ScaledType>(op.getValue().getType())));
    dead.push_back(op);
  }

  /// The codes go where their rows go, and so do the scales.
  void scatter(ScatterOp op) {
    OpBuilder builder(op);
    Parts value = parts.at(op.getValue());
    ScatterOp::create(builder, op.getLoc(), op.getName(), value.codes, op.getIndex(), op.getInto());
    if (storesScales(op))
      ScatterOp::create(builder, op.getLoc(), (op.getName() + "_scale").str(), value.scales,
                        op.getIndex(), scalesInto(op));
    dead.push_back(op);
  }

  /// Rows of a dequantised table: codes and scales of these rows alone are read. A scale that all
  /// rows share is chosen, too: it may be NaN or infinite, and a row that is not there has none.
  void gather(GatherOp op) {
    auto table = op.getTable().getDefiningOp<DequantizeOp>();
    OpBuilder builder(op);
    Arithmetic32 a{builder, op.getLoc()};
    const Parts from = parts.at(table.getInput());
    auto rowsOf = [&](Value value, int64_t rows) -> Value {
      const bool isShared = ShapedType::isDynamic(rows);
      auto type = cast<RankedTensorType>(value.getType());
      DimExpr row = dimsOf(op.getType()).getExprs().front(), last = dimsOf(type).getExprs().back();
      auto dims = DimsAttr::get(op.getContext(), {row, last});
      auto chosen = RankedTensorType::get(
          {cast<RankedTensorType>(op.getType()).getShape().front(), type.getShape().back()},
          type.getElementType(), dims);
      const DimExpr all = dimsOf(table.getType()).getExprs().front();
      return GatherOp::create(builder, op.getLoc(), chosen, value, op.getIndex(),
                              isShared ? 1 : rows,
                              isShared ? DimsAttr::get(op.getContext(), {all}) : DimsAttr());
    };
    const int64_t rows = cast<ScaledType>(table.getInput().getType()).getBlock().front();
    Value scales = rowsOf(from.scales, rows);
    Value global = from.global ? rowsOf(from.global, ShapedType::kDynamic) : Value();
    Value decoded = DecodeOp::create(builder, op.getLoc(), cast<RankedTensorType>(op.getType()),
                                     rowsOf(from.codes, 1), CodecPathAttr());
    Value scale = combined(a, a.widen(scales), global);
    Value product = a.binary<arith::MulFOp>(decoded, a.spread(scale, op.getType()));
    if (Attribute name = op->getAttr("eider.name"))
      product.getDefiningOp()->setAttr("eider.name", name);
    op.replaceAllUsesWith(product);
    dead.push_back(op);
  }

  void dequantize(DequantizeOp op) {
    dead.push_back(op);
    auto isGathered = [](Operation *user) { return isa<GatherOp>(user); };
    if (llvm::all_of(op->getUsers(), isGathered))
      return; // Only what is chosen is dequantised: gather().
    OpBuilder builder(op);
    Arithmetic32 a{builder, op.getLoc()};
    Parts value = parts.at(op.getInput());
    Value decoded =
        DecodeOp::create(builder, op.getLoc(), op.getType(), value.codes, CodecPathAttr());
    Value scale = combined(a, a.widen(value.scales), value.global);
    Value product = a.binary<arith::MulFOp>(decoded, a.spread(scale, op.getType()));
    if (Attribute name = op->getAttr("eider.name"))
      product.getDefiningOp()->setAttr("eider.name", name);
    op.getResult().replaceUsesWithIf(product,
                                     [&](OpOperand &use) { return !isGathered(use.getOwner()); });
  }

  /// Matrices are read where they are multiplied.
  void multiply(ContractOp op, const Parts &weights) {
    OpBuilder builder(op);
    Parts rows;
    if (isa<ScaledType>(op.getVector().getType()))
      rows = parts.at(op.getVector());
    else
      rows.codes = op.getVector();
    Value product =
        ContractOp::create(builder, op.getLoc(), op.getType(), weights.codes, weights.scales,
                           rows.codes, rows.scales, op.getEnds(), CodecPathAttr());
    replaceProduct(op, product, {weights.global, rows.global});
  }

  /// Times the second levels of its scales, which are of all products.
  void replaceProduct(ContractOp op, Value product, ArrayRef<Value> globals) {
    OpBuilder builder(op);
    Arithmetic32 a{builder, op.getLoc()};
    for (Value global : globals)
      if (global)
        product = a.binary<arith::MulFOp>(product, a.spread(global, op.getType()));
    if (Attribute name = op->getAttr("eider.name"))
      product.getDefiningOp()->setAttr("eider.name", name);
    op.replaceAllUsesWith(product);
    dead.push_back(op);
  }

  /// Codes enter as they are; the scales, one a block, beside them.
  void contract(ContractOp op, ScaledType type) {
    OpBuilder builder(op);
    Arithmetic32 a{builder, op.getLoc()};
    const Parts weights = parts.at(op.getWeights());
    if (op.isOfMatrices())
      return multiply(op, weights);
    auto values = cast<RankedTensorType>(type.getCodesType().clone(builder.getF32Type()));
    Value decoded = DecodeOp::create(builder, op.getLoc(), values, weights.codes, CodecPathAttr());
    Value product = ContractOp::create(
        builder, op.getLoc(), op.getType(), decoded, a.widen(weights.scales), op.getVector(),
        /*vector_scales=*/Value(), /*ends=*/Value(), CodecPathAttr());
    replaceProduct(op, product, weights.global);
  }

  /// Scales of a code type as values: no conversion of floats, but a codec's.
  void decode(arith::ExtFOp op) {
    OpBuilder builder(op);
    auto decoded =
        DecodeOp::create(builder, op.getLoc(), op.getType(), op.getIn(), CodecPathAttr());
    if (Attribute name = op->getAttr("eider.name"))
      decoded->setAttr("eider.name", name);
    op.getResult().replaceAllUsesWith(decoded);
    dead.push_back(op);
  }

  /// A mean is a sum over the number of elements, which must be the same for every block.
  LogicalResult mean(ReduceOp op) {
    auto type = cast<RankedTensorType>(op.getInput().getType());
    int64_t count = 1;
    for (auto [extent, block, dim] :
         llvm::zip_equal(type.getShape(), op.getBlock(), dimsOf(type).getExprs())) {
      if (block == 1)
        continue;
      if (ShapedType::isDynamic(extent))
        return op.emitError() << "the mean needs a static extent: give the dim '" << dim.str()
                              << "' a value";
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
    if (auto widen = dyn_cast<arith::ExtFOp>(op);
        widen && isCodeType(getElementTypeOrSelf(widen.getIn().getType())))
      decode(widen);
    if (auto gatherOp = dyn_cast<GatherOp>(op);
        gatherOp && gatherOp.getTable().getDefiningOp<DequantizeOp>())
      gather(gatherOp);
    if (auto contractOp = dyn_cast<ContractOp>(op))
      if (auto scaled = dyn_cast<ScaledType>(contractOp.getWeights().getType()))
        contract(contractOp, scaled);
    if (auto scatterOp = dyn_cast<ScatterOp>(op);
        scatterOp && isa<ScaledType>(scatterOp.getValue().getType()))
      scatter(scatterOp);
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
