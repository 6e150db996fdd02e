//===- Elementwise.cpp - Arithmetic on values -----------------------------===//
//
// Part of Eider, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//
#include "compiler/dsl/Recording.h"
#include "mlir/Dialect/Math/IR/Math.h"

using namespace eider;
using namespace eider::detail;
namespace arith = mlir::arith;
namespace math = mlir::math;

/// Records `Op` on one operand, at the operand's own shape.
template <class Op> static Value unary(const char *name, const Operand &value) {
  Site site = Recording::enter(name, {&value});
  Recording &recording = *site.recording;
  mlir::Value operand = recording.f32(value, site);
  return recording.wrap(Op::create(recording.builder, recording.unknown, operand));
}

/// Repeats values to the smallest shape over which all of them repeat.
static void bringTogether(const Site &site, llvm::MutableArrayRef<mlir::Value> values) {
  Extents extents = Recording::extentsOf(values[0].getType());
  for (mlir::Value value : values.drop_front())
    extents = Recording::common(extents, Recording::extentsOf(value.getType()), site);
  for (mlir::Value &value : values)
    value = site.recording->broadcast(value, extents);
}

/// Records `Op` on two values, at the smallest shape over which both repeat.
template <class Op> static Value onBoth(const Site &site, mlir::Value a, mlir::Value b) {
  Recording &recording = *site.recording;
  mlir::Value values[] = {a, b};
  bringTogether(site, values);
  return recording.wrap(Op::create(recording.builder, recording.unknown, values[0], values[1]));
}

/// Records `Op` on two operands in f32.
template <class Op>
static Value binary(const char *name, const Operand &left, const Operand &right) {
  Site site = Recording::enter(name, {&left, &right});
  Recording &recording = *site.recording;
  mlir::Value a = recording.f32(left, site);
  return onBoth<Op>(site, a, recording.f32(right, site));
}

/// Records `Float` on two values, or `Integer` on two indices.
template <class Float, class Integer>
static Value ofEither(const char *name, const Operand &left, const Operand &right) {
  if (!Recording::isIndex(left) && !Recording::isIndex(right))
    return binary<Float>(name, left, right);
  Site site = Recording::enter(name, {&left, &right});
  Recording &recording = *site.recording;
  mlir::Value a = recording.index(left, site);
  return onBoth<Integer>(site, a, recording.index(right, site));
}

/// Records `Op`, one of the compiler's own functions, on an operand in f32.
template <class Op> static Value function(const char *name, const Operand &value) {
  Site site = Recording::enter(name, {&value});
  Recording &recording = *site.recording;
  mlir::Value operand = recording.f32(value, site);
  return recording.wrap(
      Op::create(recording.builder, recording.unknown, operand.getType(), operand));
}

/// A number that stands where `operand` was written, for its errors.
static Operand number(double value, const Operand &operand) {
  return Operand(value, Recording::whereOf(operand));
}

//===-- Operators ---------------------------------------------------------===//

Value eider::operator+(const Operand &left, const Operand &right) {
  return ofEither<arith::AddFOp, arith::AddIOp>("+", left, right);
}
Value eider::operator-(const Operand &left, const Operand &right) {
  return ofEither<arith::SubFOp, arith::SubIOp>("-", left, right);
}
Value eider::operator*(const Operand &left, const Operand &right) {
  return binary<arith::MulFOp>("*", left, right);
}
Value eider::operator/(const Operand &left, const Operand &right) {
  return binary<arith::DivFOp>("/", left, right);
}
Value eider::operator-(const Operand &value) { return unary<arith::NegFOp>("-", value); }

//===-- Functions ---------------------------------------------------------===//

Value eider::min(const Operand &left, const Operand &right) {
  return binary<arith::MinimumFOp>("min", left, right);
}
Value eider::max(const Operand &left, const Operand &right) {
  return binary<arith::MaximumFOp>("max", left, right);
}
Value eider::abs(const Operand &value) { return unary<math::AbsFOp>("abs", value); }
Value eider::sqrt(const Operand &value) { return unary<math::SqrtOp>("sqrt", value); }
Value eider::rsqrt(const Operand &value) { return unary<math::RsqrtOp>("rsqrt", value); }
Value eider::exp(const Operand &value) { return unary<math::ExpOp>("exp", value); }
Value eider::exp2(const Operand &value) { return unary<math::Exp2Op>("exp2", value); }
Value eider::log(const Operand &value) { return unary<math::LogOp>("log", value); }
Value eider::tanh(const Operand &value) { return unary<math::TanhOp>("tanh", value); }
Value eider::erf(const Operand &value) { return unary<math::ErfOp>("erf", value); }
Value eider::sigmoid(const Operand &value) { return function<ir::SigmoidOp>("sigmoid", value); }
Value eider::gelu(const Operand &value) { return function<ir::GeluOp>("gelu", value); }

Value eider::fma(const Operand &left, const Operand &right, const Operand &addend) {
  Site site = Recording::enter("fma", {&left, &right, &addend});
  Recording &recording = *site.recording;
  mlir::Value values[] = {recording.f32(left, site), recording.f32(right, site),
                          recording.f32(addend, site)};
  bringTogether(site, values);
  return recording.wrap(
      math::FmaOp::create(recording.builder, recording.unknown, values[0], values[1], values[2]));
}

Value eider::rcp(const Operand &value) {
  return binary<arith::DivFOp>("rcp", number(1, value), value);
}
Value eider::relu(const Operand &value) {
  return binary<arith::MaximumFOp>("relu", value, number(0, value));
}

Value eider::clamp(const Operand &value, const Operand &low, const Operand &high) {
  Operand raised(binary<arith::MaximumFOp>("clamp", value, low), Recording::whereOf(value));
  return binary<arith::MinimumFOp>("clamp", raised, high);
}

Value eider::silu(const Operand &value) {
  Operand gate(function<ir::SigmoidOp>("silu", value), Recording::whereOf(value));
  return binary<arith::MulFOp>("silu", value, gate);
}

Value eider::gelu_tanh(const Operand &value) {
  constexpr const char *name = "gelu_tanh";
  constexpr double rootTwoOverPi = 0.79788456080286535588, cubic = 0.044715;
  auto at = [&](const Value &part) { return Operand(part, Recording::whereOf(value)); };
  auto times = [&](const Operand &left, const Operand &right) {
    return at(binary<arith::MulFOp>(name, left, right));
  };
  Operand cube = times(times(value, value), value);
  Operand sum = at(binary<arith::AddFOp>(name, value, times(cube, number(cubic, value))));
  Value inner = unary<math::TanhOp>(name, times(sum, number(rootTwoOverPi, value)));
  Value gate = binary<arith::AddFOp>(name, number(1, value), at(inner));
  return binary<arith::MulFOp>(name, times(value, number(0.5, value)), at(gate));
}

//===-- Comparisons -------------------------------------------------------===//

Mask eider::operator<(const Operand &left, const Operand &right) {
  return {Mask::Kind::Less, left, right};
}
Mask eider::operator<=(const Operand &left, const Operand &right) {
  return {Mask::Kind::LessEqual, left, right};
}
Mask eider::operator>(const Operand &left, const Operand &right) {
  return {Mask::Kind::Greater, left, right};
}
Mask eider::operator>=(const Operand &left, const Operand &right) {
  return {Mask::Kind::GreaterEqual, left, right};
}
Mask eider::operator==(const Operand &left, const Operand &right) {
  return {Mask::Kind::Equal, left, right};
}
Mask eider::operator!=(const Operand &left, const Operand &right) {
  return {Mask::Kind::NotEqual, left, right};
}

Value eider::select(const Mask &condition, const Operand &ifTrue, const Operand &ifFalse) {
  const Operand *operands[] = {&Recording::left(condition), &Recording::right(condition), &ifTrue,
                               &ifFalse};
  Site site = Recording::enter("select", {operands[0], operands[1], operands[2], operands[3]});
  Recording &recording = *site.recording;
  mlir::Value values[4];
  const bool isIndex = Recording::isIndex(*operands[0]) || Recording::isIndex(*operands[1]);
  for (int i = 0; i < 4; ++i)
    values[i] =
        isIndex && i < 2 ? recording.index(*operands[i], site) : recording.f32(*operands[i], site);
  bringTogether(site, values);
  mlir::Value holds =
      isIndex ? arith::CmpIOp::create(recording.builder, recording.unknown,
                                      Recording::indexPredicate(condition), values[0], values[1])
                    .getResult()
              : arith::CmpFOp::create(recording.builder, recording.unknown,
                                      Recording::predicate(condition), values[0], values[1])
                    .getResult();
  return recording.wrap(
      arith::SelectOp::create(recording.builder, recording.unknown, holds, values[2], values[3]));
}

//===-- Types -------------------------------------------------------------===//

Value eider::cast(const Operand &value, DType type) {
  Site site = Recording::enter("cast", {&value});
  Recording &recording = *site.recording;
  mlir::Type element = recording.elementType(type, site, "the type of a cast");
  mlir::Value operand = recording.plain(value, site);
  if (mlir::getElementTypeOrSelf(operand.getType()) == element)
    return recording.wrap(operand);
  return recording.wrap(recording.narrowed(recording.f32(value, site), element));
}

Value eider::round_to(const Operand &value, DType type) {
  Site site = Recording::enter("round_to", {&value});
  Recording &recording = *site.recording;
  mlir::Type element = recording.elementType(type, site, "the rounding");
  if (element.isF32())
    site.fail("arithmetic is f32 already", "round to bf16 or f16");
  mlir::Value narrow = recording.narrowed(recording.f32(value, site), element);
  return recording.wrap(recording.widened(narrow));
}
