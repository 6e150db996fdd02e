//===- Operators.cpp - What an op is in C++ -------------------------------===//
//
// Part of Eider, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//
#include "compiler/emit/Operators.h"

#include "compiler/ir/Simt.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace eider;
using namespace eider::simt;
using namespace eider::text;

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
      .Case<SigmoidOp>([](auto) { return "sigmoid"; })
      .Case<GeluOp>([](auto) { return "gelu"; })
      .Case<PowerOfTwoOp>([](PowerOfTwoOp power) {
        const bool isAbove = power.getWhich() == eider::ir::Neighbour::above;
        return isAbove ? "power_of_two_above" : "power_of_two_below";
      })
      .Case<arith::CeilDivUIOp>([](auto) { return "ceildiv"; })
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
      .Case<arith::DivFOp, arith::DivSIOp>([](auto) {
        return Result({"/", Product});
      })
      .Default([](auto) { return std::nullopt; });
}

std::string text::resultName(Operation *op) {
  return TypeSwitch<Operation *, std::string>(op)
      .Case([](ReduceOp reduce) { return stringifyReduction(reduce.getKind()).str(); })
      .Case([](ReduceColumnsOp reduce) { return stringifyReduction(reduce.getKind()).str(); })
      .Case([](GridBarrierOp) { return "grid"; })
      .Case([](ArrivalsOp) { return "last"; })
      .Case<PartialOp, CombinePartsOp, ReduceGridOp>(
          [](auto part) { return stringifyReduction(part.getKind()).str(); })
      .Case([](ContractOp) { return "product"; })
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
      .Case([](arith::TruncFOp) { return "rounded"; })
      .Default([](Operation *other) {
        StringRef function = functionOf(other);
        return function.empty() ? std::string("value") : (function + "_value").str();
      });
}
