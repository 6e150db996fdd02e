//===- Partition.cpp - One program a kernel -------------------------------===//
//
// Part of Eider, under the Apache License v2.0.
//
// Two-dimensional blocks and reductions along whole rows do not fit one tile: the values a row are
// computed by a kernel of their own, which reads what it needs and writes them to the workspace.
// What is reduced over the whole matrix is so, too: each block of that kernel leaves a part, and
// the next kernel's blocks combine all of them; what is only given blocks combine in memory, to
// which a kernel before has given the identity. Rows that no registers hold are reduced in pieces
// by a kernel, and the pieces' values by another. Rows that a product of matrices reads and that
// are no input have kernels of their own, too, and so do vectors that wait for another product, or
// for values of groups. In-outs are only read there: the one store stays in the last kernel, after
// every read of the old value.
//
//===----------------------------------------------------------------------===//
#include "compiler/transforms/Domain.h"
#include "compiler/transforms/Passes.h"
#include "compiler/transforms/Programs.h"

#include "mlir/Analysis/SliceAnalysis.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/IR/TypeUtilities.h"

using namespace mlir;
using namespace eider::ir;
using namespace eider::transforms;

namespace {
struct Partition : PassWrapper<Partition, OperationPass<ModuleOp>> {
  MLIR_DEFINE_EXPLICIT_INTERNAL_INLINE_TYPE_ID(Partition)
  StringRef getArgument() const final { return "eider-partition"; }
  StringRef getDescription() const final { return "Cut programs at grid-wide dependences"; }

  /// Values a row that anything wider, or a result, reads.
  SmallVector<Value> frontier(ProgramOp program, const Domain &domain) {
    SmallVector<Value> values;
    program.walk([&](Operation *op) {
      for (Value result : op->getResults()) {
        auto isRows = [&](Type type) {
          auto level = domain.levelOf(type);
          return level && level->kind == LevelKind::rows;
        };
        bool read = llvm::any_of(result.getUsers(), [&](Operation *user) {
          return isa<OutputOp, StoreOp>(user) || !isRows(user->getResult(0).getType());
        });
        // Indices are computed again: the workspace holds values.
        const bool isIndex = isIndexType(getElementTypeOrSelf(result.getType()));
        if (isRows(result.getType()) && read && !isIndex && !isa<InputOp, InOutOp>(op))
          values.push_back(result);
      }
    });
    return values;
  }

  /// Whether it is a reduction over the whole matrix.
  static bool isWhole(Operation *op, const Domain &domain) {
    auto reduce = dyn_cast<ReduceOp>(op);
    return reduce && !domain.isOfColumns(reduce) &&
           domain.levelOf(reduce.getType())->kind == LevelKind::uniform;
  }

  /// Such that wait for no other.
  SmallVector<Value> wholeValues(ProgramOp program, const Domain &domain) {
    auto isBefore = [&](Operation *op) { return isWhole(op, domain); };
    SmallVector<Value> values;
    for (auto reduce : program.getOps<ReduceOp>())
      if (isWhole(reduce, domain) && llvm::none_of(sliceOf({reduce.getInput()}), isBefore))
        values.push_back(reduce);
    return values;
  }

  /// What is reduced over the whole matrix twice is reduced once, whatever it is called.
  static void mergeWhole(ProgramOp program, const Domain &domain) {
    SmallVector<ReduceOp> kept;
    for (auto reduce : llvm::make_early_inc_range(program.getOps<ReduceOp>())) {
      if (!isWhole(reduce, domain))
        continue;
      auto *same = llvm::find_if(kept, [&](ReduceOp other) {
        return other.getInput() == reduce.getInput() && other.getKind() == reduce.getKind() &&
               other.getType() == reduce.getType();
      });
      if (same == kept.end()) {
        kept.push_back(reduce);
        continue;
      }
      reduce.replaceAllUsesWith(same->getResult());
      reduce.erase();
    }
  }

  static SetVector<Operation *> sliceOf(ArrayRef<Value> values) {
    SetVector<Operation *> slice;
    BackwardSliceOptions options;
    options.inclusive = true;
    for (Value value : values)
      (void)getBackwardSlice(value, &slice, options);
    return slice;
  }

  /// The program that computes `values`, before `program`: its body, and where each is there.
  ProgramOp programOf(ArrayRef<Value> values, ProgramOp program, StringRef suffix, IRMapping &map) {
    OpBuilder builder(program);
    ProgramOp first = emptyProgram(builder, program, suffix);
    const SetVector<Operation *> slice = sliceOf(values);
    builder.setInsertionPointToEnd(&first.getBlock());
    for (Operation &op : program.getBlock())
      if (slice.contains(&op))
        builder.clone(op, map);
    return first;
  }

  /// What `first` gives as `computed` goes through the workspace and stands for `value`.
  InputOp pass(Value value, Value computed, ProgramOp first, StringRef name) {
    OpBuilder builder = OpBuilder::atBlockEnd(&first.getBlock());
    OutputOp::create(builder, value.getLoc(), name, computed, true, LayoutAttr());
    OpBuilder inner(value.getDefiningOp());
    auto loaded = InputOp::create(inner, value.getLoc(), value.getType(), name, true, LayoutAttr());
    value.replaceAllUsesWith(loaded);
    return loaded;
  }

  /// A kernel of its own for the values a row; an error where it would need one before it.
  LogicalResult cutRows(ProgramOp program, const Domain &domain, ArrayRef<Value> values) {
    for (Operation *op : sliceOf(values))
      if (isa<ReduceOp>(op) && domain.levelOf(op->getResult(0).getType())->isBlock())
        return op->emitError()
               << "reduces blocks of " << domain.block.blockRows << "x" << domain.block.blockColumns
               << ", on which a reduction along whole rows depends: no kernel holds both; store "
                  "what the blocks give, and reduce its rows in a program of its own";
    IRMapping map;
    ProgramOp first = programOf(values, program, "_rows", map);
    for (auto [index, value] : llvm::enumerate(values)) {
      auto given = value.getDefiningOp()->getAttrOfType<StringAttr>("eider.name");
      std::string name =
          names.take(given ? given.str() : "row_value_" + std::to_string(index), index);
      pass(value, map.lookup(value), first, name);
    }
    return success();
  }

  /// Reductions along rows of two dims, or of one, that wait for no other, of rows or of all.
  SmallVector<ReduceOp> rowReductions(ProgramOp program, const Domain &domain) {
    auto isOf = [&](Operation *op, LevelKind kind) {
      auto reduce = dyn_cast<ReduceOp>(op);
      return reduce && !domain.isOfColumns(reduce) &&
             domain.levelOf(reduce.getType())->kind == kind;
    };
    auto isWaitedFor = [&](Operation *op) {
      return isOf(op, LevelKind::rows) || isOf(op, LevelKind::uniform);
    };
    SmallVector<ReduceOp> reductions;
    for (auto reduce : program.getOps<ReduceOp>())
      if (isOf(reduce, LevelKind::rows) && reduce.getBlock().size() <= 2 &&
          llvm::none_of(sliceOf({reduce.getInput()}), isWaitedFor))
        reductions.push_back(reduce);
    return reductions;
  }

  /// Two kernels for reductions along rows that no registers hold: one of pieces of a row, whose
  /// values are the matrix of the other.
  LogicalResult cutLongRows(ProgramOp program, SmallVector<ReduceOp> reductions, int64_t width) {
    constexpr int64_t piece = 512;
    SmallVector<Value> reduced;
    for (ReduceOp reduce : reductions)
      reduced.push_back(reduce.getInput());
    IRMapping map;
    ProgramOp pieces = programOf(reduced, program, "_pieces", map);
    clearBounds(pieces, program);
    OpBuilder builder(program);
    ProgramOp rows = emptyProgram(builder, program, "_rows");
    for (auto [index, reduce] : llvm::enumerate(reductions)) {
      const Location loc = reduce.getLoc();
      const Reduction kind = reduce.getKind();
      auto given = reduce->getAttrOfType<StringAttr>("eider.name");
      const std::string name =
          names.take((given ? given.getValue() : stringifyReduction(kind)).str(), index);
      const std::string nameOfPieces = names.take(name + "_pieces", index);
      SmallVector<int64_t> block(reduce.getBlock());
      block.back() = piece;
      builder.setInsertionPointToEnd(&pieces.getBlock());
      auto ofPieces =
          ReduceOp::create(builder, loc, reducedType(reduce.getInput().getType(), block), kind,
                           map.lookup(reduce.getInput()), builder.getDenseI64ArrayAttr(block));
      OutputOp::create(builder, loc, nameOfPieces, ofPieces.getResult(), true, LayoutAttr());
      // There the last dim is a number, for a matrix has whole dims.
      SmallVector<DimExpr> dims(dimsOf(ofPieces.getType()).getExprs());
      SmallVector<int64_t> shape(cast<RankedTensorType>(ofPieces.getType()).getShape());
      dims.back() = {nullptr, dims.back().extent(width), 1};
      shape.back() = dims.back().factor;
      const auto matrix = RankedTensorType::get(shape, ofPieces.getType().getElementType(),
                                                DimsAttr::get(&getContext(), dims));
      builder.setInsertionPointToEnd(&rows.getBlock());
      auto loaded = InputOp::create(builder, loc, matrix, nameOfPieces, true, LayoutAttr());
      auto ofRows = cast<ReduceOp>(builder.clone(*reduce));
      ofRows.getInputMutable().assign(loaded);
      pass(reduce, ofRows, rows, name);
      reduce.erase();
    }
    eraseUnused(program);
    return cut(rows); // whose rows may be long, too
  }

  /// Where another kernel has reduced `encode`s' values: sums of another schedule may differ in the
  /// last bits, and what one kernel has as the largest bounds the other's values nearly, not
  /// exactly.
  static void clearBounds(ProgramOp first, ProgramOp program) {
    const bool hasSums = !first.getOps<ContractOp>().empty() ||
                         llvm::any_of(first.getOps<ReduceOp>(), [](ReduceOp reduce) {
                           return reduce.getKind() == Reduction::sum;
                         });
    if (hasSums)
      for (auto encode : program.getOps<EncodeOp>()) {
        encode.setBounded(false);
        encode.getLargestMutable().clear();
      }
  }

  /// A kernel of its own for reductions over the whole matrix, which leaves a part a block.
  void cutWhole(ProgramOp program, ArrayRef<Value> values) {
    const StringRef suffix = stringifyReduction(values.front().getDefiningOp<ReduceOp>().getKind());
    IRMapping map;
    ProgramOp first = programOf(values, program, ("_" + suffix).str(), map);
    clearBounds(first, program);
    for (auto [index, value] : llvm::enumerate(values)) {
      auto reduce = value.getDefiningOp<ReduceOp>();
      auto given = reduce->getAttrOfType<StringAttr>("eider.name");
      StringRef kind = stringifyReduction(reduce.getKind());
      InputOp parts = pass(value, map.lookup(value), first,
                           names.take((given ? given.getValue() : kind).str() + "_parts", index));
      auto kindOfParts = ReductionAttr::get(&getContext(), reduce.getKind());
      parts->setAttr(partsKind, kindOfParts);
      first.getBlock().back().setAttr(partsKind, kindOfParts);
      parts->setAttr("eider.name", given ? given : StringAttr::get(&getContext(), kind));
    }
  }

  /// A program without a matrix beside `program`: before it, or after.
  ProgramOp programOfWhole(ProgramOp program, StringRef suffix, bool isAfter) {
    OpBuilder builder(program);
    if (isAfter)
      builder.setInsertionPointAfter(program);
    ProgramOp other = emptyProgram(builder, program, suffix);
    other->setAttr(ofWholeName, builder.getUnitAttr());
    return other;
  }

  /// What such a value is where no element has been seen.
  static APFloat identityOf(Reduction kind) {
    const auto &semantics = APFloat::IEEEsingle();
    return kind == Reduction::max   ? APFloat::getInf(semantics, /*Negative=*/true)
           : kind == Reduction::min ? APFloat::getInf(semantics)
                                    : APFloat::getZero(semantics);
  }

  /// A kernel of its own for outputs that are computed of `reductions` and nothing of the matrix,
  /// after `program`, which leaves what they need in the workspace.
  void cutComputed(ProgramOp program, ArrayRef<Operation *> reductions) {
    SetVector<Operation *> computed, needed;
    for (Operation *reduce : reductions)
      getForwardSlice(reduce, &computed);
    auto isLeft = [](Operation *op) { return isa<ReduceOp>(op) || op->hasAttr(partsKind); };
    BackwardSliceOptions options;
    options.filter = [&](Operation *op) { return !isLeft(op); };
    for (auto output : program.getOps<OutputOp>())
      if (computed.contains(output)) {
        (void)getBackwardSlice(output.getOperation(), &needed, options);
        needed.insert(output);
      }
    SetVector<Value> left;
    for (Operation *op : needed)
      left.insert_range(llvm::make_filter_range(op->getOperands(), [&](Value operand) {
        return operand.getDefiningOp() && isLeft(operand.getDefiningOp());
      }));
    ProgramOp after = programOfWhole(program, "_given", /*isAfter=*/true);
    OpBuilder leave = OpBuilder::atBlockEnd(&program.getBlock()),
              take = OpBuilder::atBlockBegin(&after.getBlock());
    IRMapping map;
    for (auto [index, value] : llvm::enumerate(left)) {
      auto given = value.getDefiningOp()->getAttrOfType<StringAttr>("eider.name");
      auto reduce = value.getDefiningOp<ReduceOp>();
      const StringRef what = given    ? given.getValue()
                             : reduce ? stringifyReduction(reduce.getKind())
                                      : StringRef("value");
      const std::string name = names.take(what.str() + "_of_all", index);
      OutputOp::create(leave, value.getLoc(), name, value, true, LayoutAttr());
      map.map(value,
              InputOp::create(take, value.getLoc(), value.getType(), name, true, LayoutAttr()));
    }
    for (Operation &op : llvm::make_early_inc_range(program.getBlock()))
      if (needed.contains(&op)) {
        take.clone(op, map);
        if (isa<OutputOp>(op))
          op.erase();
      }
    eraseUnused(program, /*hasScalars=*/true);
  }

  /// What nothing in the matrix waits for, each block combines into memory: into an output, or, for
  /// what is computed of it, into the workspace.
  void cutGiven(ProgramOp program, const Domain &domain) {
    SmallVector<Operation *> computed;
    for (auto reduce : program.getOps<ReduceOp>())
      if (isWhole(reduce, domain) &&
          !(reduce->hasOneUse() && isa<OutputOp>(*reduce->getUsers().begin())))
        computed.push_back(reduce);
    if (!computed.empty())
      cutComputed(program, computed);
    ProgramOp before;
    for (auto output : program.getOps<OutputOp>()) {
      auto reduce = output.getValue().getDefiningOp<ReduceOp>();
      if (!reduce || !isWhole(reduce, domain))
        continue;
      output->setAttr(combinedName, UnitAttr::get(&getContext()));
      if (!before)
        before = programOfWhole(program, "_begin", /*isAfter=*/false);
      OpBuilder builder = OpBuilder::atBlockEnd(&before.getBlock());
      auto identity = arith::ConstantOp::create(
          builder, reduce.getLoc(),
          builder.getFloatAttr(builder.getF32Type(), identityOf(reduce.getKind())));
      Value value = BroadcastOp::create(builder, reduce.getLoc(), reduce.getType(), identity);
      OutputOp::create(builder, output.getLoc(), output.getName(), value, output.getWorkspace(),
                       LayoutAttr());
    }
  }

  /// What another kernel computes now. Inputs that nothing reads are no arguments of this one, nor
  /// scalars that attention alone read, or nothing (`hasScalars`).
  static void eraseUnused(ProgramOp program, bool hasScalars = false) {
    llvm::SmallPtrSet<Operation *, 4> captured;
    for (Operation &op : llvm::make_early_inc_range(llvm::reverse(program.getBlock()))) {
      const bool isFree = isa<InputOp>(op) || captured.contains(&op) ||
                          (hasScalars && isa<ScalarOp, IntegerOp>(op));
      if (!isOpTriviallyDead(&op) && !(isFree && op.use_empty()))
        continue;
      if (isa<AttentionOp, PrefillOp>(op))
        for (Value operand : op.getOperands())
          captured.insert(operand.getDefiningOp());
      op.erase();
    }
  }

  /// A kernel of its own for attention, whose blocks leave parts of it.
  void cutAttention(ProgramOp program, AttentionOp op) {
    const Attention it = shapeOf(op);
    IRMapping map;
    ProgramOp first = programOf({op.getResult()}, program, "_parts", map);
    InputOp parts =
        pass(op.getResult(), map.lookup(op.getResult()), first, names.take("attended", 2));
    for (auto output : first.getOps<OutputOp>())
      if (it.isAlone)
        output->setAttr(attentionAlone, UnitAttr::get(&getContext()));
    parts->setAttr(attentionKind,
                   DenseI64ArrayAttr::get(&getContext(), {it.heads, it.kvHeads, it.valueDim}));
    parts->setAttr("eider.name", StringAttr::get(&getContext(), "attention"));
  }

  /// Whether a vector that weights meet waits for what the threads that hold it cannot give: a
  /// product, or values of groups of its elements. One value of all of them, as a norm takes, they
  /// can, where they are so few that each block computes it faster than a kernel before begins.
  static bool waits(Value vector) {
    constexpr int64_t longest = 4096;
    const auto type = cast<RankedTensorType>(vector.getType());
    const bool isLong = type.hasStaticShape() && type.getNumElements() > longest;
    return llvm::any_of(sliceOf({vector}), [isLong](Operation *op) {
      auto reduce = dyn_cast<ReduceOp>(op);
      return isa<ContractOp>(op) || (reduce && isLong) ||
             (reduce && llvm::any_of(dimsOf(reduce.getType()).getExprs(),
                                     [](const DimExpr &dim) { return !dim.isOne(); }));
    });
  }

  /// A kernel of its own, and those that it needs, for what a product has as rows: values or codes
  /// and their scales; or for the vector that weights meet.
  LogicalResult cutOperands(ProgramOp program, ContractOp op) {
    Value vector = op.getVector();
    if (auto widened = vector.getDefiningOp<arith::ExtFOp>()) { // as it was rounded
      vector = widened.getIn();
      if (op.isOfMatrices())
        op.getVectorMutable().assign(vector);
      if (widened.use_empty())
        widened.erase();
    }
    SmallVector<Value> values;
    for (Value value : {vector, Value(op.getVectorScales())})
      if (value && value.getDefiningOp() && !isa<InputOp>(value.getDefiningOp()))
        values.push_back(value);
    if (values.empty())
      return success();
    IRMapping map;
    ProgramOp first = programOf(values, program, "_x", map);
    for (auto [index, value] : llvm::enumerate(values))
      pass(value, map.lookup(value), first,
           names.take(value == vector ? "multiplied" : "multiplied_scale", index));
    eraseUnused(program, /*hasScalars=*/true);
    return cut(first);
  }

  /// Queries that are computed, likewise.
  template <class Attends> LogicalResult cutQueries(ProgramOp program) {
    for (Attends op : llvm::to_vector(program.getOps<Attends>())) {
      Value queries = op.getQueries();
      if (isa<InputOp>(queries.getDefiningOp()))
        continue;
      IRMapping map;
      ProgramOp first = programOf({queries}, program, "_q", map);
      pass(queries, map.lookup(queries), first, names.take("queries", 2));
      eraseUnused(program, /*hasScalars=*/true);
      if (failed(cut(first)))
        return failure();
    }
    return success();
  }

  LogicalResult cut(ProgramOp program) {
    if (failed(cutQueries<AttentionOp>(program)) || failed(cutQueries<PrefillOp>(program)))
      return failure();
    for (ContractOp op : llvm::to_vector(program.getOps<ContractOp>()))
      if ((op.isOfMatrices() || waits(op.getVector())) && failed(cutOperands(program, op)))
        return failure();
    // Of a sequence over itself: what else a program does with it has kernels of its own.
    const auto prefills = llvm::to_vector(program.getOps<PrefillOp>());
    if (!prefills.empty() && !Domain::of(program))
      return failure();
    if (!prefills.empty() && !isPrefillAlone(program)) {
      for (PrefillOp op : prefills) {
        IRMapping map;
        ProgramOp first = programOf({op.getResult()}, program, "_attention", map);
        pass(op.getResult(), map.lookup(op.getResult()), first, names.take("attended", 2));
      }
      eraseUnused(program);
    }
    const auto attentions = llvm::to_vector(program.getOps<AttentionOp>());
    if (!attentions.empty() && !Domain::of(program))
      return failure();
    for (AttentionOp op : attentions)
      cutAttention(program, op);
    if (!attentions.empty())
      eraseUnused(program);
    for (;;) {
      auto domain = Domain::of(program);
      if (!domain)
        return failure();
      mergeWhole(program, *domain);
      if (domain->width > domain->longestHeld() && !domain->contracts)
        if (const auto reductions = rowReductions(program, *domain); !reductions.empty()) {
          if (failed(cutLongRows(program, reductions, domain->width)))
            return failure();
          continue;
        }
      if (!domain->reducesWhole)
        break;
      cutWhole(program, wholeValues(program, *domain));
      eraseUnused(program);
    }
    cutGiven(program, *Domain::of(program));
    return success();
  }

  void runOnOperation() final {
    names = ArgumentNames(getOperation());
    for (ProgramOp program : llvm::to_vector(getOperation().getOps<ProgramOp>()))
      if (failed(cut(program)))
        return signalPassFailure();
    for (ProgramOp program : llvm::to_vector(getOperation().getOps<ProgramOp>())) {
      auto domain = Domain::of(program);
      if (!domain)
        return signalPassFailure();
      if ((domain->block.isBlock() || domain->transposes) && domain->reducesRows &&
          failed(cutRows(program, *domain, frontier(program, *domain))))
        return signalPassFailure();
    }
  }

private:
  ArgumentNames names;
};
} // namespace

std::unique_ptr<Pass> eider::transforms::createPartition() { return std::make_unique<Partition>(); }
