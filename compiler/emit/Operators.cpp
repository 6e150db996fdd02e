//===- Operators.cpp - What an op is in C++ -------------------------------===//
//
// Part of Eider, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//
#include "compiler/emit/Operators.h"

#include "compiler/ir/Simt.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/IR/Matchers.h"
#include "llvm/ADT/TypeSwitch.h"
#include "llvm/Support/MathExtras.h"

#include <cmath>

using namespace mlir;
using namespace eider;
using namespace eider::simt;
using namespace eider::text;

/// The number that is an operand everywhere; none where it is no constant.
static std::optional<double> constantOf(Value operand) {
  if (auto spread = operand.getDefiningOp<SpreadOp>())
    operand = spread.getInput();
  FloatAttr number;
  if (!matchPattern(operand, m_Constant(&number)) || !number.getType().isF32())
    return std::nullopt;
  return number.getValueAsDouble();
}

/// Divisions that have a function: of 1, and by a whole number below 2^20, as a row's width or a
/// format's largest, but for powers of two, of which a product is the same.
static StringRef divisionOf(arith::DivFOp division) {
  constexpr double most = 1 << 20;
  if (constantOf(division.getLhs()) == 1.0)
    return "rcp";
  const double count = constantOf(division.getRhs()).value_or(0);
  const bool isCount = count >= 1 && count < most && count == std::floor(count) &&
                       !llvm::isPowerOf2_64(static_cast<uint64_t>(count));
  return isCount ? "divide_by_count" : "";
}

StringRef text::functionOf(Operation *op) {
  return TypeSwitch<Operation *, StringRef>(op)
      .Case<arith::MaximumFOp>([](auto) { return "max"; })
      .Case<arith::MinimumFOp>([](auto) { return "min"; })
      .Case<arith::MaxNumFOp>([](auto) { return "max_number"; })
      .Case<arith::MinNumFOp>([](auto) { return "min_number"; })
      .Case<arith::SelectOp>([](auto) { return "select"; })
      .Case<math::AbsFOp>([](auto) { return "abs"; })
      .Case<math::SqrtOp>([](auto) { return "sqrt"; })
      .Case<math::RsqrtOp>([](auto) { return "rsqrt"; })
      .Case<math::ExpOp>([](auto) { return "exp"; })
      .Case<math::Exp2Op>([](auto) { return "exp2"; })
      .Case<math::LogOp>([](auto) { return "log"; })
      .Case<math::TanhOp>([](auto) { return "tanh"; })
      .Case<math::ErfOp>([](auto) { return "erf"; })
      .Case<math::FmaOp>([](auto) { return "fma"; })
      .Case<WidenAgainOp>([](auto) { return "widen_again"; })
      .Case<SigmoidOp>([](auto) { return "sigmoid"; })
      .Case<GeluOp>([](auto) { return "gelu"; })
      .Case<PowerOfTwoOp>([](PowerOfTwoOp power) {
        const bool isAbove = power.getWhich() == eider::ir::Neighbour::above;
        return isAbove ? "power_of_two_above" : "power_of_two_below";
      })
      .Case<arith::CeilDivUIOp>([](auto) { return "ceildiv"; })
      .Case([](arith::DivFOp division) { return divisionOf(division); })
      .Default([](auto) { return ""; });
}

std::optional<std::pair<StringRef, Binding>> text::operatorOf(Operation *op) {
  using Result = std::optional<std::pair<StringRef, Binding>>;
  if (auto compare = dyn_cast<arith::CmpFOp>(op)) {
    switch (compare.getPredicate()) {
    case arith::CmpFPredicate::OEQ:
      return {{"==", Comparison}};
    case arith::CmpFPredicate::UNE:
      return {{"!=", Comparison}};
    case arith::CmpFPredicate::OLT:
      return {{"<", Comparison}};
    case arith::CmpFPredicate::OLE:
      return {{"<=", Comparison}};
    case arith::CmpFPredicate::OGT:
      return {{">", Comparison}};
    case arith::CmpFPredicate::OGE:
      return {{">=", Comparison}};
    default:
      return std::nullopt;
    }
  }
  if (auto compare = dyn_cast<arith::CmpIOp>(op)) {
    static constexpr StringRef texts[] = {"==", "!=", "<", "<=", ">", ">="}; // eq to sge
    const auto predicate = static_cast<size_t>(compare.getPredicate());
    return predicate < std::size(texts) ? Result({texts[predicate], Comparison}) : std::nullopt;
  }
  return TypeSwitch<Operation *, Result>(op)
      .Case<arith::AddFOp, arith::AddIOp>([](auto) {
        return Result({"+", Sum});
      })
      .Case<arith::SubFOp, arith::SubIOp>([](auto) {
        return Result({"-", Sum});
      })
      .Case<arith::MulFOp, arith::MulIOp>([](auto) {
        return Result({"*", Product});
      })
      .Case([](arith::DivFOp division) {
        return divisionOf(division).empty() ? Result({"/", Product}) : std::nullopt;
      })
      .Case([](arith::DivSIOp) {
        return Result({"/", Product});
      })
      .Default([](auto) { return std::nullopt; });
}

std::string text::resultName(Operation *op) {
  return TypeSwitch<Operation *, std::string>(op)
      .Case([](ReduceOp reduce) { return stringifyReduction(reduce.getKind()).str(); })
      .Case([](ReduceColumnsOp reduce) { return stringifyReduction(reduce.getKind()).str(); })
      .Case([](GridBarrierOp) { return "grid"; })
      .Case<PartialOp, CombinePartsOp, ReduceGridOp>(
          [](auto part) { return stringifyReduction(part.getKind()).str(); })
      .Case([](ContractOp op) {
        return cast<CursorType>(op.getAt().getType()).getTile().getParts() > 1 ? "part" : "product";
      })
      .Case([](LeaveSumsOp) { return "last"; })
      .Case([](AllSumsOp) { return "product"; })
      .Case([](CombineAttentionOp) { return "attention"; })
      .Case([](TransposedTileOp) { return "transposed"; })
      .Case([](BeginTransposeOp) { return "turning"; })
      .Case([](EndTransposeOp) { return "turned"; })
      .Case([](EncodeOp) { return "codes"; })
      .Case([](AtRowOp) { return "chosen"; })
      .Case([](RotateOp) { return "rotated"; })
      .Case<arith::AddIOp, arith::SubIOp, arith::DivSIOp>([](auto) { return "index"; })
      .Case([](RandomOp) { return "random"; })
      .Case([](PowerOfTwoOp) { return "power"; })
      .Case([](DecodeOp) { return "values"; })
      .Case<arith::CmpFOp, arith::CmpIOp>([](auto) { return "condition"; })
      .Case([](arith::AddFOp) { return "total"; })
      .Case([](arith::SubFOp) { return "difference"; })
      .Case([](arith::MulFOp) { return "product"; })
      .Case([](arith::DivFOp) { return "quotient"; })
      .Case([](arith::ExtFOp) { return "wide"; })
      .Case([](WidenAgainOp) { return "wide"; })
      .Case([](arith::TruncFOp) { return "rounded"; })
      .Default([](Operation *other) {
        StringRef function = functionOf(other);
        return function.empty() ? std::string("value") : (function + "_value").str();
      });
}
