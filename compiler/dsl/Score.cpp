//===- Score.cpp - Score functions of attention ---------------------------===//
//
// Part of Eider, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//
#include "compiler/dsl/Score.h"

using namespace eider;
using namespace eider::detail;

struct detail::ScoreRecording {
  Recording &recording;
  mlir::Block &block;
  ir::DimExpr heads;
  llvm::SmallVector<mlir::Value> captured = {};

  /// What stands for an argument of the program in the function.
  mlir::Value capture(mlir::Value value) {
    const auto *found = llvm::find(captured, value);
    const auto at = static_cast<unsigned>(found - captured.begin());
    if (found == captured.end()) {
      captured.push_back(value);
      block.addArgument(recording.builder.getF32Type(), recording.unknown);
    }
    return block.getArgument(ir::scoreArguments + at);
  }
};

Value Score::of_head(const Value &values, std::source_location where) const {
  const Operand operand(values, where);
  Site site = Recording::enter("of_head", {&operand});
  if (&recording_->recording != site.recording)
    site.fail("the values are of another Builder", "record an op with one Builder");
  if (site.recording->builder.getInsertionBlock() != &recording_->block)
    site.fail("the score function has returned", "use what it is given inside of it");
  mlir::Value input = site.recording->recorded(operand, site);
  const Extents extents = Recording::extentsOf(input.getType());
  if (!input.getDefiningOp<ir::InputOp>() || !mlir::getElementTypeOrSelf(input.getType()).isF32() ||
      extents != Extents{recording_->heads})
    site.fail("the values are " + textOf(extents) + ", or no input of f32",
              "give an input of f32, one value a query head: " + textOf({recording_->heads}));
  return site.recording->wrap(recording_->capture(input));
}

/// Makes arguments of what the function takes of the program; fails where that has no one value.
static void captureOperands(ScoreRecording &function, const Site &site) {
  for (mlir::Operation &op : function.block)
    for (mlir::OpOperand &operand : op.getOpOperands()) {
      mlir::Value value = operand.get();
      if (value.getParentBlock() == &function.block)
        continue;
      if (mlir::isa<mlir::RankedTensorType>(value.getType()))
        site.fail("the score function computes with a tensor " +
                      textOf(Recording::extentsOf(value.getType())),
                  "take what a head has of it by Score::of_head, or a number by Builder::scalar");
      if (!value.getDefiningOp<ir::ScalarOp>())
        site.fail("the score function takes a number that is computed outside of it",
                  "compute it inside, of scalars and numbers");
      operand.set(function.capture(value));
    }
}

ScoreRegion detail::recordScore(const ScoreFunction &score, mlir::Value queries, const Site &site) {
  if (!score)
    return {};
  Recording &recording = *site.recording;
  mlir::Region &region = recording.addFunction();
  mlir::Block &block = region.emplaceBlock();
  for (unsigned i = 0; i < ir::scoreArguments; ++i)
    block.addArgument(recording.builder.getF32Type(), recording.unknown);
  auto function = std::make_shared<ScoreRecording>(
      ScoreRecording{recording, block, Recording::extentsOf(queries.getType())[1]});
  const Recording::Inside inside(recording, block);
  auto argument = [&](unsigned i) { return recording.wrap(block.getArgument(i)); };
  const Operand result(score(Score(function, argument(0), argument(1), argument(2), argument(3))),
                       site.where);
  if (Recording::enter("attention", {&result}).recording != &recording)
    site.fail("the score function gives a value of another Builder",
              "record an op with one Builder");
  mlir::Value given = recording.f32(result, site);
  auto refuse = [&](mlir::Operation &op) {
    site.fail("the score function records " + op.getName().getStringRef().str(),
              "declare arguments before it, and compute its result elementwise of numbers");
  };
  for (mlir::Operation &op : block)
    if (op.hasTrait<mlir::OpTrait::ZeroResults>() || mlir::isa<ir::InputOp, ir::InOutOp>(op))
      refuse(op);
  if (given.getType().isF32())
    ir::YieldOp::create(recording.builder, recording.unknown, given);
  captureOperands(*function, site);
  if (!given.getType().isF32())
    site.fail("the score function gives " + textOf(Recording::extentsOf(given.getType())),
              "give one number for the query and the key");
  for (mlir::Operation &op : block.without_terminator())
    if (!ir::isElementwise(op))
      refuse(op);
  return {&region, function->captured};
}
