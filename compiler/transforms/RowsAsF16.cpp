//===- RowsAsF16.cpp - Rows of bf16 that codes meet as f16 ----------------===//
//
// Part of Eider, under the Apache License v2.0.
//
// Codes of eight bits become pairs of f16 by one instruction, pairs of bf16 by five. Where the
// schedule of a product of matrices says so (`f16`), a program before it writes each row of bf16
// as f16 in a unit of its own, a power of two by which its largest is 2^15 to 2^16, where the
// product's threads read it; sums meet the unit at their end. Where a program has computed the rows
// it is that one, if it goes by rows. Of elements below 2^-32 of their row's largest some bits are
// lost (`ContractOp::mayMeetAsF16`, for which the reference allows).
//
//===----------------------------------------------------------------------===//
#include "compiler/transforms/Boundary.h"
#include "compiler/transforms/Domain.h"
#include "compiler/transforms/Heuristic.h"
#include "compiler/transforms/Passes.h"
#include "compiler/transforms/Programs.h"

#include "mlir/Dialect/Arith/IR/Arith.h"

using namespace mlir;
using namespace eider::ir;
using namespace eider::transforms;

namespace {
struct RowsAsF16 : PassWrapper<RowsAsF16, OperationPass<ModuleOp>> {
  MLIR_DEFINE_EXPLICIT_INTERNAL_INLINE_TYPE_ID(RowsAsF16)
  StringRef getArgument() const final { return "eider-rows-as-f16"; }
  StringRef getDescription() const final {
    return "A program before a product makes f16 of its rows of bf16";
  }

  /// What a program leaves in the workspace, as another reads it.
  struct Left {
    Value rows, units;
  };

  /// The units of rows [m, k], and the rows in them, as f16. No unit nor its inverse is beyond
  /// f32's normal numbers; NaN and Inf, which are no unit's business, stay what they are.
  static Left inUnits(OpBuilder &builder, Value given) {
    const Location loc = given.getLoc();
    auto type = cast<RankedTensorType>(given.getType());
    RankedTensorType wide = type.clone(builder.getF32Type());
    auto like = [&](float value, Type of) -> Value {
      auto one = arith::ConstantOp::create(builder, loc, builder.getF32FloatAttr(value));
      return BroadcastOp::create(builder, loc, of, one);
    };
    const int64_t row[] = {1, ShapedType::kDynamic};
    const RankedTensorType ofRows = reducedType(wide, row);
    Value amax = ReduceOp::create(builder, loc, ofRows, Reduction::amax_number, given,
                                  builder.getDenseI64ArrayAttr(row));
    amax.getDefiningOp()->setAttr("eider.name", builder.getStringAttr("amax"));
    Value bounded = arith::MaximumFOp::create(builder, loc, amax, like(0x1p-111F, ofRows));
    Value power = PowerOfTwoOp::create(builder, loc, ofRows, Neighbour::below, bounded);
    Value unit = arith::MulFOp::create(builder, loc, power, like(0x1p-15F, ofRows));
    unit.getDefiningOp()->setAttr("eider.name", builder.getStringAttr("unit"));
    Value inverse = arith::DivFOp::create(builder, loc, like(1, ofRows), unit);
    Value widened = arith::ExtFOp::create(builder, loc, wide, given);
    Value scaled = arith::MulFOp::create(builder, loc, widened,
                                         BroadcastOp::create(builder, loc, wide, inverse));
    return {arith::TruncFOp::create(builder, loc, type.clone(builder.getF16Type()), scaled), unit};
  }

  /// Through the workspace, from the end of one program to where the builder is in the other.
  std::pair<OutputOp, InputOp> pass(Value value, ProgramOp first, OpBuilder &take,
                                    StringRef wanted) {
    const std::string name = names.take(wanted.str(), 2);
    OpBuilder leave = OpBuilder::atBlockEnd(&first.getBlock());
    auto output = OutputOp::create(leave, value.getLoc(), name, value, true, LayoutAttr());
    auto input = InputOp::create(take, value.getLoc(), value.getType(), name, true, LayoutAttr());
    return {output, input};
  }

  /// Whether some tensor that both have is written by one of them, but for what `left` leaves.
  static bool shareWhatIsWritten(ProgramOp leaver, OutputOp left, ProgramOp program) {
    llvm::StringMap<bool> reads; // of program's tensors, that it only does
    for (Operation &op : program.getBlock())
      if (boundaryType(op))
        reads[boundaryName(op)] = isa<InputOp>(op);
    return llvm::any_of(leaver.getBlock(), [&](Operation &op) {
      if (&op == left || !boundaryType(op) || !reads.contains(boundaryName(op)))
        return false;
      return !isa<InputOp>(op) || !reads.lookup(boundaryName(op));
    });
  }

  /// The output by which a program leaves the rows, for the product alone; null where there is
  /// none, where that one does more than go by rows, or where `program`, which begins before it
  /// ends, may not.
  OutputOp leftFor(ProgramOp program, InputOp input) {
    OutputOp left = outputThatLeaves(getOperation(), input.getName());
    if (!left || !input->hasOneUse())
      return {};
    for (auto other : getOperation().getOps<ProgramOp>())
      for (auto read : other.getOps<InputOp>())
        if (read != input && read.getName() == input.getName())
          return {};
    auto leaver = left->getParentOfType<ProgramOp>();
    const bool hasOthers = llvm::any_of(leaver.getBlock(), [](Operation &op) {
      return isa<ContractOp, AttentionOp, TransposeOp>(op) || op.hasAttr(partsKind) ||
             op.hasAttr(attentionKind) || op.hasAttr(combinedName);
    });
    if (hasOthers || leaver->hasAttr(ofWholeName) || shareWhatIsWritten(leaver, left, program))
      return {};
    return left;
  }

  /// The program that has computed the rows, which leaves them as f16 itself, and what it computes
  /// for that; nothing where none does, or none may: its rows are too long to be held, say.
  std::optional<std::pair<ProgramOp, Left>> leaverMade(ProgramOp program, InputOp input) {
    OutputOp left = leftFor(program, input);
    if (!left)
      return {};
    auto leaver = left->getParentOfType<ProgramOp>();
    OpBuilder builder(leaver);
    auto made = cast<ProgramOp>(builder.clone(*leaver));
    OutputOp output = *llvm::find_if(
        made.getOps<OutputOp>(), [&](OutputOp other) { return other.getName() == left.getName(); });
    builder.setInsertionPoint(output);
    const Left computed = inUnits(builder, output.getValue());
    output.erase();
    made.removeScheduleAttr();
    const std::optional<Domain> domain = Domain::of(made);
    const bool isHeld = domain && forProductsSchedule(&getContext(), *domain);
    (isHeld ? leaver : made).erase();
    return isHeld ? std::optional(std::pair(made, computed)) : std::nullopt;
  }

  /// A new program, which leaves the rows that the input has.
  static std::pair<ProgramOp, Left> leaverOf(ProgramOp program, InputOp input) {
    OpBuilder builder(program);
    ProgramOp first = emptyProgram(builder, program, "_f16");
    builder.setInsertionPointToEnd(&first.getBlock());
    return {first, inUnits(builder, cast<InputOp>(builder.clone(*input)).getResult())};
  }

  void convert(ProgramOp program, ContractOp product) {
    auto input = product.getVector().getDefiningOp<InputOp>();
    const auto computedBefore = leaverMade(program, input);
    auto [first, computed] = computedBefore ? *computedBefore : leaverOf(program, input);
    OpBuilder builder(program);
    first->setAttr(allowsNextName, builder.getUnitAttr());
    builder.setInsertionPoint(input);
    auto [left, rows] = pass(computed.rows, first, builder, (input.getName() + "_f16").str());
    left->setAttr(forProductsName,
                  builder.getI64IntegerAttr(program.getScheduleAttr().getKnobs().rows));
    rows->setAttr(asF16Name, builder.getUnitAttr());
    product.getVectorMutable().assign(rows);
    builder.setInsertionPointAfter(product); // which has waited for the program before
    InputOp units = pass(computed.units, first, builder, (input.getName() + "_unit").str()).second;
    Value unit = BroadcastOp::create(builder, product.getLoc(), product.getType(), units);
    auto sum = arith::MulFOp::create(builder, product.getLoc(), product, unit);
    product.getResult().replaceAllUsesExcept(sum, sum);
    if (input.use_empty())
      input.erase();
  }

  void runOnOperation() final {
    names = ArgumentNames(getOperation());
    for (ProgramOp program : llvm::to_vector(getOperation().getOps<ProgramOp>())) {
      ScheduleAttr schedule = program.getScheduleAttr();
      if (!schedule || !schedule.getKnobs().f16)
        continue;
      for (auto product : llvm::to_vector(program.getOps<ContractOp>())) // one, by warpgroups
        convert(program, product);
    }
  }

private:
  ArgumentNames names;
};
} // namespace

std::unique_ptr<Pass> eider::transforms::createRowsAsF16() { return std::make_unique<RowsAsF16>(); }
