//===- Seen.cpp - What of a row is not loaded -----------------------------===//
//
// Part of Eider, under the Apache License v2.0.
//
// `select(column_index > row_index, 0, f(x))` sees no element of x above the diagonal. A chunk all
// of whose elements are hidden so is not loaded: what its registers have goes through f, which
// mixes no elements, and into nothing.
//
//===----------------------------------------------------------------------===//
#include "compiler/transforms/Loop.h"

#include "mlir/Analysis/SliceAnalysis.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"

using namespace mlir;
namespace simt = eider::simt;

namespace {
/// The columns that a use sees: from one to another of a row, both among them; none: to its end.
struct Seen {
  /// A column beside a value that a row has, by -1, 0 or 1.
  struct End {
    Value value;
    int64_t beside = 0;
    bool operator==(const End &) const = default;
  };
  End first, last;
};
} // namespace

static bool isColumns(Value value, Value cursor) {
  auto position = value.getDefiningOp<simt::PositionOp>();
  return position && position.getAccess() == simt::Access::columns && position.getAt() == cursor;
}

/// The columns where a comparison holds, or where it does not; all where it compares something
/// else.
static Seen whereIs(Value condition, bool holds, Value cursor) {
  using Predicate = arith::CmpIPredicate;
  auto compare = condition.getDefiningOp<arith::CmpIOp>();
  if (!compare)
    return {};
  Predicate predicate = compare.getPredicate();
  Value column = compare.getLhs(), other = compare.getRhs();
  if (!isColumns(column, cursor)) {
    std::swap(column, other);
    predicate = predicate == Predicate::slt   ? Predicate::sgt
                : predicate == Predicate::sle ? Predicate::sge
                : predicate == Predicate::sgt ? Predicate::slt
                : predicate == Predicate::sge ? Predicate::sle
                                              : predicate;
  }
  auto spread = other.getDefiningOp<simt::SpreadOp>();
  if (!isColumns(column, cursor) || !spread || !spread.getInput().getType().isInteger(64))
    return {};
  const Value value = spread.getInput();
  switch (holds ? predicate : arith::invertPredicate(predicate)) {
  case Predicate::slt:
    return {{}, {value, -1}};
  case Predicate::sle:
    return {{}, {value, 0}};
  case Predicate::sgt:
    return {{value, 1}, {}};
  case Predicate::sge:
    return {{value, 0}, {}};
  default:
    return {};
  }
}

/// Whether each element of the result comes of the operands' at its place.
static bool isOfEachElement(Operation *op) {
  return isa<simt::DecodeOp>(op) ||
         isa_and_nonnull<arith::ArithDialect, math::MathDialect>(op->getDialect());
}

/// What of a row's elements any use sees, of which all that come of them are in `known`.
static Seen seenOf(Value elements, Value cursor, const DenseMap<Value, Seen> &known) {
  std::optional<Seen> all;
  for (OpOperand &use : elements.getUses()) {
    Operation *user = use.getOwner();
    Seen seen;
    if (user->getNumResults() == 1 && isOfEachElement(user)) {
      seen = known.lookup(user->getResult(0));
      auto select = dyn_cast<arith::SelectOp>(user);
      if (select && use.getOperandNumber() > 0) {
        const Seen here = whereIs(select.getCondition(), use.getOperandNumber() == 1, cursor);
        if (here.first.value)
          seen.first = here.first;
        if (here.last.value)
          seen.last = here.last;
      }
    }
    if (!all)
      all = seen;
    if (!(all->first == seen.first))
      all->first = {};
    if (!(all->last == seen.last))
      all->last = {};
  }
  return all.value_or(Seen());
}

/// Brings what the loop computes of a value before a load that it does not depend on; whether that
/// was possible. What is loaded for it under a tile is not there under the next one before that is
/// known to be (`isAhead`).
static bool computeBefore(Value value, simt::LoadOp before, bool isAhead) {
  SetVector<Operation *> slice;
  BackwardSliceOptions options;
  options.inclusive = options.omitBlockArguments = true;
  options.filter = [&](Operation *op) { return op->getBlock() == before->getBlock(); };
  (void)getBackwardSlice(value, &slice, options);
  auto isFree = [&](Operation *op) { // What rows have is loaded before anything is stored.
    auto load = dyn_cast<simt::LoadOp>(op);
    auto stores = before->getBlock()->getOps<simt::StoreOp>();
    return isPure(op) || (load && load != before && !isAhead &&
                          (stores.empty() || op->isBeforeInBlock(*stores.begin())));
  };
  if (!llvm::all_of(slice, isFree))
    return false;
  for (Operation *op : slice)
    if (before->isBeforeInBlock(op))
      op->moveBefore(before);
  return true;
}

void eider::transforms::skipUnseen(simt::ForTilesOp loop, bool isAhead) {
  Value cursor = loop.getBlock().getArgument(0);
  if (loop.getTile().getKind() != simt::TileKind::row)
    return;
  DenseMap<Value, Seen> known; // each value once, whose uses come after it
  for (Operation &op : llvm::reverse(loop.getBlock()))
    for (Value result : op.getResults())
      known[result] = seenOf(result, cursor, known);
  // The list, for what is loaded for a bound is moved.
  for (simt::LoadOp load : llvm::to_vector(loop.getBlock().getOps<simt::LoadOp>())) {
    if (load.getAccess() != simt::Access::elements)
      continue;
    const Seen seen = known.lookup(load.getResult());
    OpBuilder builder(load);
    auto columnOf = [&](const Seen::End &end) -> Value {
      if (!end.value || !computeBefore(end.value, load, isAhead))
        return {};
      if (end.beside == 0)
        return end.value;
      Value one = arith::ConstantOp::create(builder, load.getLoc(), builder.getI64IntegerAttr(1));
      if (end.beside < 0)
        return arith::SubIOp::create(builder, load.getLoc(), end.value, one);
      return arith::AddIOp::create(builder, load.getLoc(), end.value, one);
    };
    Value first = columnOf(seen.first), last = columnOf(seen.last);
    if (first || last)
      load.getAtMutable().assign(simt::SeenOp::create(builder, load.getLoc(), cursor.getType(),
                                                      load.getAt(), first, last));
  }
}
