//===- Quantize.cpp - Values to codes and scales, and back ----------------===//
//
// Part of Eider, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//
#include "compiler/dsl/Modes.h"
#include "compiler/dsl/ProgramImpl.h"
#include "compiler/dsl/Recording.h"

using namespace eider;
using namespace eider::detail;
using namespace eider::ir;

/// The numerics of the options; what concerns amax alone is refused where the scales are given.
static NumericsAttr numericsOf(ScaledType type, DType format, const QuantizeOptions &options,
                               const Site &site) {
  auto numerics = eider::detail::numericsOf(&site.recording->context, options.mode, format,
                                            options.scale, options.numerics);
  auto fail = [&](llvm::StringRef message) {
    auto [what, remedy] = message.split("; ");
    site.fail(what.str(), remedy.str());
  };
  if (!numerics)
    fail(llvm::toString(numerics.takeError()));
  const bool isGiven = !Recording::isEmpty(options.scales);
  if (isGiven && numerics->getArithmetic() == Arithmetic::max_over_amax)
    site.fail("arithmetic max_over_amax needs an amax, but the scales are given",
              "use arithmetic divide or reciprocal");
  if (numerics->getRounding() == Rounding::stochastic &&
      numerics->getOverflow() == Overflow::format)
    site.fail("stochastic rounding saturates", "use overflow saturate, or rounding nearest_even");
  std::string problem = isGiven ? "" : problemOfNumerics(*numerics, type.getScaleType());
  if (!problem.empty())
    fail(problem);
  return *numerics;
}

/// The given scales in their stored type, null without; their shape must be one value a block.
static mlir::Value givenScales(const QuantizeOptions &options, mlir::Type expected,
                               const Operand &value, const Site &site) {
  if (Recording::isEmpty(options.scales))
    return nullptr;
  Operand scales(options.scales, Recording::whereOf(value));
  Recording::enter("quantize", {&value, &scales});
  mlir::Value given = options.scale == DType::f32 ? site.recording->f32(scales, site)
                                                  : site.recording->plain(scales, site);
  if (options.scales.dtype() != options.scale && options.scale != DType::f32)
    site.fail(std::string("the given scales are ") + nameOf(options.scales.dtype()) + ", not " +
                  nameOf(options.scale),
              "give them in the type that the option `scale` says");
  if (given.getType() != expected)
    site.fail("the given scales are " + textOf(Recording::extentsOf(given.getType())) + ", not " +
                  textOf(Recording::extentsOf(expected)),
              "give one scale a block: blocks_of(shape, block)");
  return given;
}

/// The second level of the scales, null where they have one.
static mlir::Value globalScale(const QuantizeOptions &options, ScaledType type,
                               const Operand &value, const Site &site) {
  const bool isTwoLevel = isTwoLevelType(type.getScaleType());
  if (Recording::isEmpty(options.global)) {
    if (isTwoLevel)
      site.fail(std::string("scales of ") + nameOf(options.scale) + " have a second level",
                "give `global`, one f32: an input of shape {1}");
    return nullptr;
  }
  if (!isTwoLevel)
    site.fail(std::string("scales of ") + nameOf(options.scale) + " have no second level",
              "leave `global` out, or take scales of e4m3");
  Operand global(options.global, Recording::whereOf(value));
  Recording::enter("quantize", {&value, &global});
  mlir::Value given = site.recording->f32(global, site);
  auto tensor = mlir::dyn_cast<mlir::RankedTensorType>(given.getType());
  if (!tensor || !isOneValue(tensor))
    site.fail("the second level of the scales is " +
                  (tensor ? textOf(Recording::extentsOf(tensor)) : std::string("a scalar")),
              "give one f32: an input of shape {1}");
  return given;
}

/// The random bits of stochastic rounding, null for another.
static mlir::Value randomBits(const QuantizeOptions &options, mlir::RankedTensorType codes,
                              NumericsAttr numerics, const Operand &value, const Site &site) {
  const bool isGiven = !Recording::isEmpty(options.seed) && !Recording::isEmpty(options.offset);
  if (numerics.getRounding() != Rounding::stochastic) {
    if (!Recording::isEmpty(options.seed) || !Recording::isEmpty(options.offset))
      site.fail("nothing is drawn by rounding nearest_even",
                "leave `seed` and `offset` out, or take rounding stochastic");
    return nullptr;
  }
  if (!isGiven)
    site.fail("stochastic rounding draws random bits",
              "give `seed` and `offset`, values of Builder::integer");
  Recording &recording = *site.recording;
  auto integer = [&](const Value &given) {
    Operand operand(given, Recording::whereOf(value));
    Recording::enter("quantize", {&value, &operand});
    mlir::Value number = recording.recorded(operand, site);
    if (!number.getType().isInteger(64))
      site.fail("`seed` and `offset` are integers", "give values of Builder::integer");
    return number;
  };
  return RandomOp::create(recording.builder, recording.unknown,
                          codes.clone(ir::drawTypeOf(codes.getElementType())),
                          integer(options.seed), integer(options.offset));
}

Scaled eider::quantize(const Operand &value, DType format, const QuantizeOptions &options) {
  Site site = Recording::enter("quantize", {&value});
  Recording &recording = *site.recording;
  mlir::Value operand = recording.f32(value, site);
  if (!mlir::isa<mlir::RankedTensorType>(operand.getType()))
    site.fail("a scalar has no blocks", "give a tensor");
  ScaledType type =
      recording.scaledType(format, options.scale, options.layout,
                           Recording::extentsOf(operand.getType()), options.block, site);
  NumericsAttr numerics = numericsOf(type, format, options, site);
  mlir::Value scales = givenScales(options, type.getScalesType(), value, site);
  mlir::Value global = globalScale(options, type, value, site);
  mlir::Value random = randomBits(options, type.getCodesType(), numerics, value, site);
  mlir::Value result = QuantizeOp::create(recording.builder, recording.unknown, type, operand,
                                          scales, global, random, numerics);
  return recording.wrap(result, options.block);
}

Value eider::dequantize(const Scaled &value, std::source_location where) {
  Site site = Recording::enter("dequantize", value, where);
  Recording &recording = *site.recording;
  mlir::Value operand = recording.scaled(value);
  auto codes = mlir::cast<ScaledType>(operand.getType()).getCodesType();
  return recording.wrap(DequantizeOp::create(recording.builder, recording.unknown,
                                             codes.clone(recording.builder.getF32Type()), operand));
}
