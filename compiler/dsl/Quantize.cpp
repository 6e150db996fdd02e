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
static NumericsAttr numericsOf(DType format, const QuantizeOptions &options, const Site &site) {
  auto numerics =
      eider::detail::numericsOf(&site.recording->context, options.mode, format, options.numerics);
  if (!numerics) {
    std::string message = llvm::toString(numerics.takeError());
    auto [what, remedy] = llvm::StringRef(message).split("; ");
    site.fail(what.str(), remedy.str());
  }
  if (!Recording::isEmpty(options.scales) && numerics->getArithmetic() == Arithmetic::max_over_amax)
    site.fail("arithmetic max_over_amax needs an amax, but the scales are given",
              "use arithmetic divide or reciprocal");
  return *numerics;
}

/// The given scales in f32, null without; their shape must be one value a block.
static mlir::Value givenScales(const QuantizeOptions &options, mlir::Type expected,
                               const Operand &value, const Site &site) {
  if (Recording::isEmpty(options.scales))
    return nullptr;
  Operand scales(options.scales, Recording::whereOf(value));
  Recording::enter("quantize", {&value, &scales});
  mlir::Value given = site.recording->f32(scales, site);
  if (given.getType() != expected)
    site.fail("the given scales are " + textOf(Recording::extentsOf(given.getType())) + ", not " +
                  textOf(Recording::extentsOf(expected)),
              "give one scale a block: blocks_of(shape, block)");
  return given;
}

Scaled eider::quantize(const Operand &value, DType format, const QuantizeOptions &options) {
  Site site = Recording::enter("quantize", {&value});
  Recording &recording = *site.recording;
  if (format != DType::e4m3 && format != DType::e5m2)
    site.fail(std::string("the format cannot be ") + nameOf(format), "use e4m3 or e5m2");
  if (options.scale != DType::f32)
    site.fail(std::string("the scales cannot be ") + nameOf(options.scale), "use f32");
  mlir::Value operand = recording.f32(value, site);
  auto tensor = mlir::dyn_cast<mlir::RankedTensorType>(operand.getType());
  if (!tensor)
    site.fail("a scalar has no blocks", "give a tensor");
  auto block = Recording::blockOf(options.block, Recording::extentsOf(tensor), site);
  auto type =
      ScaledType::get(&recording.context, tensor.getShape(), typeOf(format, &recording.context),
                      dimsOf(tensor), block, recording.builder.getF32Type(), Layout::row_major);
  NumericsAttr numerics = numericsOf(format, options, site);
  mlir::Value scales = givenScales(options, type.getScalesType(), value, site);
  mlir::Value result =
      QuantizeOp::create(recording.builder, recording.unknown, type, operand, scales, numerics);
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
