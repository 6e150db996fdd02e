//===- Domain.cpp - Where a program's values live -------------------------===//
//
// Part of Eider, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//
#include "compiler/transforms/Domain.h"

#include "compiler/transforms/Boundary.h"
#include "compiler/transforms/Passes.h"
#include "compiler/transforms/Targets.h"

#include "mlir/Dialect/Math/IR/Math.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/TypeSwitch.h"
#include "llvm/Support/MathExtras.h"

#include <numeric>

using namespace mlir;
using namespace eider::ir;
using namespace eider::transforms;

/// `part` covers `whole` in blocks of how many; nothing if it does not.
static std::optional<int64_t> blockOf(const DimExpr &whole, const DimExpr &part) {
  if (part.name != whole.name || part.factor != whole.factor || part.divisor % whole.divisor != 0)
    return std::nullopt;
  return part.divisor / whole.divisor;
}

bool eider::transforms::leavesParts(OutputOp output) { return output->hasAttr(partsKind); }

/// The dims of a tensor as those of a matrix: of three the last two, where they are static, are its
/// columns; or one value each for some of `whole`, such blocks as the last dim is made of.
static SmallVector<DimExpr> matrixOf(RankedTensorType type, const DimExpr &whole = {}) {
  SmallVector<DimExpr> exprs(dimsOf(type).getExprs());
  int64_t columns = 0;
  if (exprs.size() != 3 || ShapedType::isDynamic(type.getShape()[1]) ||
      ShapedType::isDynamic(type.getShape()[2]) ||
      __builtin_mul_overflow(type.getShape()[1], type.getShape()[2], &columns))
    return exprs;
  DimExpr column{nullptr, columns, 1};
  const bool isOfHeads = !whole.name && exprs[1].divisor == 1 && columns > 1;
  if (const int64_t block = isOfHeads && whole.factor % columns == 0 ? whole.factor / columns : 1;
      block > 1 && (exprs[2].divisor == block || exprs[2].isOne()))
    column = whole.blocks(block);
  return {exprs[0], column};
}

/// Whether a tensor has three dims, and values of blocks of the last two.
static bool isOfBlocks(Type type) {
  return cast<RankedTensorType>(type).getRank() == 3 &&
         llvm::any_of(dimsOf(type).getExprs().drop_front(),
                      [](const DimExpr &dim) { return dim.divisor > 1; });
}
static constexpr const char *blocksOfThreeDims =
    ": of three dims blocks are one row of the last, which is made of them, or both whole";

static constexpr const char *severalRows = "blocks of several whole rows (Rx*): no schedule has "
                                           "one value for them; take whole rows (1x*), "
                                           "the whole tensor (*x*) or a number of columns";

std::optional<Level> Domain::levelOf(Type type) const {
  std::optional<Level> level = wholeLevelOf(type);
  if (level && level->kind == LevelKind::groups && mostRows) {
    int64_t &down = level->transposed ? level->blockColumns : level->blockRows;
    down = std::min(down, mostRows); // no row lies beyond
  }
  return level;
}

std::optional<Level> Domain::wholeLevelOf(Type type) const {
  if (!dimsOf(type))
    return Level{LevelKind::uniform};
  const SmallVector<DimExpr> exprs = matrixOf(cast<RankedTensorType>(type), columns);
  std::optional<Level> level = uprightLevelOf(exprs);
  if (level || !transposes || exprs.size() != 2)
    return level;
  Domain other = *this;
  std::swap(other.rows, other.columns);
  level = other.uprightLevelOf(exprs);
  if (level)
    level->transposed = true;
  return level;
}

std::optional<Level> Domain::uprightLevelOf(ArrayRef<DimExpr> exprs) const {
  DimExpr one{nullptr, 1, 1};
  if (exprs.size() == 1 && exprs[0] == columns && !rows.isOne())
    return Level{LevelKind::columns};
  if (exprs.size() == 1 && exprs[0] == rows && !rows.isOne())
    return Level{LevelKind::rows};
  if (exprs.size() > 2 || exprs.empty())
    return std::nullopt;
  DimExpr row = exprs.size() == 2 ? exprs[0] : one, column = exprs.back();
  if (row == rows && column == columns)
    return Level{LevelKind::elements};
  const bool isTwice = column.name == columns.name && column.divisor == columns.divisor &&
                       column.factor == 2 * columns.factor;
  if (isTwice && (row == rows || (row.isOne() && !rows.isOne())))
    return Level{row == rows ? LevelKind::twice : LevelKind::twiceColumns};
  if (row.isOne() && column == columns)
    return Level{LevelKind::columns};
  if (row.isOne() && column.isOne())
    return Level{sumsVector ? LevelKind::rows : LevelKind::uniform};
  if (row == rows && column.isOne())
    return Level{LevelKind::rows};
  if (auto group = blockOf(columns, column); group && row.isOne() && !rows.isOne())
    return Level{LevelKind::columnGroups, 1, *group};
  auto blockRows = blockOf(rows, row), blockColumns = blockOf(columns, column);
  if (blockRows && blockColumns)
    return Level{LevelKind::groups, *blockRows, *blockColumns};
  return std::nullopt;
}

/// Whether a type has one value for so many whole rows, more than one and not all.
static bool isOfSeveralRows(const Domain &domain, Type type) {
  const DimsAttr dims = dimsOf(type);
  if (!dims || dims.getExprs().size() < 2)
    return false;
  const ArrayRef<DimExpr> exprs = dims.getExprs();
  return exprs[0].name && exprs[0].name == domain.rows.name &&
         exprs[0].divisor > domain.rows.divisor &&
         llvm::all_of(exprs.drop_front(), [](const DimExpr &dim) { return dim.isOne(); });
}

bool Domain::isOfColumns(ReduceOp op) const {
  const std::optional<Level> from = levelOf(op.getInput().getType()), to = levelOf(op.getType());
  return from && to && from->kind == LevelKind::columns && to->kind == LevelKind::uniform;
}

bool eider::transforms::isOnlyGiven(ReduceOp op, const Domain &domain) {
  auto isUniform = [&](Value value) {
    const std::optional<Level> level = domain.levelOf(value.getType());
    return level && level->kind == LevelKind::uniform;
  };
  SetVector<Operation *> reached;
  reached.insert(op);
  for (size_t i = 0; i < reached.size(); ++i) {
    Operation *next = reached[i];
    if (auto output = dyn_cast<OutputOp>(next);
        output && output.getWorkspace() && !output->hasAttr(combinedName))
      return false;
    if (!llvm::all_of(next->getResults(), isUniform))
      return false;
    reached.insert_range(next->getUsers());
  }
  return true;
}

ProgramOp eider::transforms::mainProgram(ModuleOp kernels) {
  ProgramOp main, last;
  for (ProgramOp program : kernels.getOps<ProgramOp>()) {
    last = program;
    if (!program->hasAttr(ofWholeName))
      main = program;
  }
  return main ? main : last;
}

bool eider::transforms::isReadByRows(Operation &op) {
  auto chooses = [&](Operation *user) {
    auto gather = dyn_cast<GatherOp>(user);
    auto contract = dyn_cast<ContractOp>(user);
    return isa<RepeatOp, AttentionOp, PrefillOp>(user) || (contract && contract.isOfMatrices()) ||
           (isa<InputOp>(op) && (isa<ColumnOp>(user) || gather) &&
            user->getOperand(0) == op.getResult(0));
  };
  return isa<InputOp, GatherOp>(op) && !op.use_empty() && llvm::all_of(op.getUsers(), chooses);
}

bool eider::transforms::readsByAxes(Operation &user) {
  auto contract = dyn_cast<ContractOp>(user);
  return isa<AttentionOp, PrefillOp>(user) || (contract && contract.isOfGroups());
}

llvm::StringSet<> eider::transforms::dimsCounted(ProgramOp program, const Domain &domain) {
  llvm::StringSet<> names;
  auto add = [&](const DimExpr &dim) {
    if (dim.name)
      names.insert(dim.name.getValue());
  };
  add(domain.rows);
  for (Operation &op : program.getBlock()) {
    if (auto extent = dyn_cast<ExtentOp>(op))
      add(extent.getDim().getExprs().front());
    if (auto gather = dyn_cast<GatherOp>(op))
      add(gather.rowsOfTable());
    if (auto scatter = dyn_cast<ScatterOp>(op))
      add(dimsOf(scatter.getInto()).getExprs().front());
    if (auto attention = dyn_cast<AttentionOp>(op))
      add(attention.mostOfEach());
    if (auto prefill = dyn_cast<PrefillOp>(op); prefill && prefill.getStarts())
      add(dimsOf(prefill.getStarts().getType()).getExprs().front());
  }
  return names;
}

/// The dims of the matrix: those of the values that are elementwise, not halved, not reduced.
static RankedTensorType matrixType(ProgramOp program) {
  RankedTensorType best;
  program.walk([&](Operation *op) {
    for (Value result : op->getResults()) {
      auto type = dyn_cast<RankedTensorType>(result.getType());
      bool halved =
          llvm::any_of(result.getUsers(), [](Operation *user) { return isa<HalfOp>(user); });
      if (!type || halved || isa<ReduceOp>(op) || isReadByRows(*op))
        continue;
      auto size = [](RankedTensorType type) {
        int64_t whole = 0;
        for (const DimExpr &dim : dimsOf(type).getExprs())
          whole += dim.divisor == 1 && !dim.isOne();
        return std::pair<size_t, int64_t>(type.getRank(), whole);
      };
      if (!best || size(type) > size(best))
        best = type;
    }
  });
  return best;
}

/// Whether some sum is over all that there is.
static bool sumsAll(ProgramOp program) {
  return llvm::any_of(program.getOps<ReduceOp>(), [](ReduceOp op) {
    return op.getKind() == Reduction::sum &&
           llvm::all_of(dimsOf(op.getType()).getExprs(),
                        [](const DimExpr &dim) { return dim.isOne(); });
  });
}

/// The instructions of a function of one element, about, where they are more than one or two.
static int64_t arithmeticOf(Operation &op) {
  return TypeSwitch<Operation *, int64_t>(&op)
      .Case<GeluOp>([](auto) { return 13; })
      .Case<math::ErfOp, math::TanhOp>([](auto) { return 30; })
      .Case<math::ExpOp, RotateOp>([](auto) { return 7; })
      .Case<SigmoidOp>([](auto) { return 4; })
      .Case<DecodeOp>([](auto) { return 2; })
      .Default([](auto) { return 0; });
}

/// Notes a group of neighbours in a row, which the lanes of a warp share.
static LogicalResult noteGroup(Domain &domain, Operation &op, int64_t group) {
  if (!llvm::isPowerOf2_64(group) || group > 512)
    return op.emitError()
           << "blocks of 1x" << group
           << ": a block along a row is a power of two up to 512, or the whole row (1x*)";
  domain.group = std::max(domain.group, group);
  return success();
}

static std::string blockText(ArrayRef<int64_t> block) {
  return llvm::join(llvm::map_range(block,
                                    [](int64_t extent) {
                                      return ShapedType::isDynamic(extent) ? std::string("*")
                                                                           : std::to_string(extent);
                                    }),
                    "x");
}

/// Notes what a reduction asks of the schedule; an error where no family has it.
static LogicalResult noteReduction(Domain &domain, ReduceOp op) {
  if (domain.isOfColumns(op)) {
    domain.reducesColumns = true; // checkColumns() knows where that can be
    return success();
  }
  std::optional<Level> from = domain.levelOf(op.getInput().getType());
  std::optional<Level> to = domain.levelOf(op.getType());
  const auto whole = cast<RankedTensorType>(op.getInput().getType());
  if (from && !to && isOfBlocks(op.getType()))
    return op.emitError() << "reduces blocks of " << blockText(op.getBlock().drop_front())
                          << " in rows of " << whole.getShape()[1] << "x" << whole.getShape()[2]
                          << blocksOfThreeDims;
  if (!to && isOfSeveralRows(domain, op.getType()))
    return op.emitError() << severalRows;
  if (!from || !to || from->kind != LevelKind::elements)
    return op.emitError(
        "reduces what is not the program's whole matrix; reduce its elements instead");
  if (to->kind == LevelKind::rows && to->transposed)
    return op.emitError("reduces along whole rows of the transposed matrix, which are this one's "
                        "columns: no schedule family has reductions down the rows yet; take blocks "
                        "such as 1x128, or a static scale");
  if (to->kind == LevelKind::rows) {
    domain.reducesRows = true;
    ++domain.rowReductions;
    domain.rowSums += op.getKind() == Reduction::sum;
    return success();
  }
  if (to->kind == LevelKind::elements)
    return op.emitError("reduces blocks of one element each: take blocks of at least two");
  if (to->kind == LevelKind::uniform) {
    if (op.getKind() == Reduction::sum)
      return op.emitError("sums over the whole matrix: no schedule family keeps their order yet; "
                          "amax, max and min have none");
    (isOnlyGiven(op, domain) ? domain.givesWhole : domain.reducesWhole) = true;
    return success();
  }
  if (to->kind != LevelKind::groups)
    return op.emitError("reduces down the rows: no schedule family has reductions along that axis "
                        "yet; a static scale needs none");
  domain.reducesGroups = true;
  domain.sumsGroups |= op.getKind() == Reduction::sum;
  if (to->blockRows == 1) {
    domain.reducedGroup = std::max(domain.reducedGroup, to->blockColumns);
    return noteGroup(domain, *op.getOperation(), to->blockColumns);
  }
  if (domain.block.isBlock() && !(domain.block == *to))
    return op.emitError() << "values of blocks of " << domain.block.blockRows << "x"
                          << domain.block.blockColumns << " and of " << to->blockRows << "x"
                          << to->blockColumns << (to->transposed ? " of the transpose" : "")
                          << ": a kernel has one block of several rows; with a transpose take a "
                          << "square, or blocks of one row";
  domain.block = *to;
  return success();
}

/// What a thread that has several rows cannot hold once for all of them, or tell apart: rows that
/// are chosen, other reductions, and values of columns that meet elements or are a scale each.
static bool differsByRow(const Domain &domain, Operation &op) {
  auto kindOf = [&](Value value) {
    const std::optional<Level> level = domain.levelOf(value.getType());
    return level ? level->kind : LevelKind::twice;
  };
  if (auto broadcast = dyn_cast<BroadcastOp>(op)) {
    const LevelKind from = kindOf(broadcast.getInput());
    return from == LevelKind::columnGroups ||
           (from == LevelKind::columns && kindOf(broadcast) != LevelKind::columns);
  }
  if (auto contract = dyn_cast<ContractOp>(op))
    return contract.getScales() && kindOf(contract.getScales()) == LevelKind::columns;
  if (auto reduce = dyn_cast<ReduceOp>(op))
    return !domain.isOfColumns(reduce);
  return isa<PositionOp, GatherOp, ScatterOp, ColumnOp, RepeatOp, RotateOp>(op);
}

/// Widths and alignments of the matrices in memory.
static LogicalResult noteArgument(Domain &domain, Operation &op) {
  Type type;
  if (isa<InputOp, InOutOp>(op))
    type = op.getResult(0).getType();
  else if (isa<OutputOp, StoreOp, ScatterOp>(op))
    type = op.getOperand(0).getType();
  if (isa<GatherOp>(op))
    type = op.getResult(0).getType(); // What is read of the table.
  if (!type || isReadByRows(op))
    return success();
  std::optional<Level> level = domain.levelOf(type);
  if (!level)
    return isOfSeveralRows(domain, type)
               ? op.emitError() << severalRows
               : op.emitError() << "type " << type << " does not fit the program's matrix ["
                                << domain.rows.str() << ", " << domain.columns.str() << "]"
                                << (isOfBlocks(type) ? blocksOfThreeDims : "");
  if (op.hasAttr("layout") &&
      (level->kind == LevelKind::elements || level->kind == LevelKind::columns))
    return op.emitError() << "'" << boundaryName(op) << "' has a scale an element, or a column, in "
                          << "a layout of scales of blocks: take row_major, or larger blocks";
  if (level->transposed && level->kind != LevelKind::elements && level->kind != LevelKind::groups)
    return op.emitError() << "'" << boundaryName(op) << "' is one value a row or column of the "
                          << "transposed matrix, neither its elements nor values of its blocks: "
                             "transpose elements, and take values of rows or columns as they are";
  if (isa<StoreOp>(op) && (level->kind != LevelKind::elements || level->transposed))
    return op.emitError(
        "stores an in-out that several threads have read: an in-out is the program's whole matrix");
  if (isa<OutputOp>(op) && !op.hasAttr("workspace") && domain.width == 0 &&
      (level->kind == LevelKind::rows || level->kind == LevelKind::uniform))
    return op.emitError() << "gives values of rows without elements: '" << domain.columns.str()
                          << "' is 0, and such rows launch nothing; give it at least 1";
  const bool isGroups = level->kind == LevelKind::groups && !level->isBlock();
  if ((isGroups || level->kind == LevelKind::columnGroups) &&
      failed(noteGroup(domain, op, level->blockColumns)))
    return failure();
  if (level->isBlock() &&
      (!llvm::isPowerOf2_64(level->blockColumns) || level->blockColumns > 512) && isa<InputOp>(op))
    return op.emitError() << "reads blocks of " << level->blockRows << "x" << level->blockColumns
                          << ": the columns of a block that is read are a power of two up to 512";
  if (level->isBlock() && isa<InputOp>(op))
    domain.group = std::max(domain.group, level->blockColumns);
  domain.readsParts |= op.hasAttr(partsKind);
  domain.writesWhole |= isa<OutputOp>(op) && !op.hasAttr(partsKind) && !op.hasAttr(combinedName) &&
                        level->kind == LevelKind::uniform;
  domain.readsColumns |= isa<InputOp>(op) && (level->kind == LevelKind::columns ||
                                              level->kind == LevelKind::twiceColumns);
  if (level->kind != LevelKind::elements && level->kind != LevelKind::twice)
    return success();
  auto tensor = cast<RankedTensorType>(type);
  const int64_t bits = tensor.getElementTypeBitWidth();
  if (packingOf(tensor.getElementType()) > 1) {
    domain.packs = true;
    if (level->transposed)
      return op.emitError() << "packs two codes a byte along '" << domain.rows.str()
                            << "', of which a launch may have odd many: take codes of one byte for "
                            << "the transpose";
    if (domain.width % 2 != 0)
      return op.emitError() << "packs two codes a byte: '" << domain.columns.str()
                            << "' must be even, not " << domain.width;
  }
  if (isa<InputOp, InOutOp, GatherOp>(op)) {
    const int64_t matrices = level->kind == LevelKind::twice ? 2 : 1;
    domain.matricesRead += matrices;
    domain.bitsRead += matrices * bits;
  }
  if (isa<OutputOp, StoreOp, ScatterOp>(op)) {
    ++domain.matricesWritten;
    domain.forProducts |= op.hasAttr(forProductsName);
    domain.typesWritten.insert(tensor.getElementType());
    domain.narrowestStore = domain.narrowestStore ? std::min(domain.narrowestStore, bits) : bits;
  }
  if (const int64_t aligned = std::gcd<int64_t>(128, domain.width * bits);
      aligned < 128 && !level->transposed) // a variant asks for aligned rows of the transpose
    domain.alignedElements = std::min(domain.alignedElements, std::max<int64_t>(1, aligned / bits));
  return success();
}

/// What the tiles of a product of matrices cannot do.
static LogicalResult checkProducts(ProgramOp program, const Domain &domain) {
  const std::string other = domain.reducesRows       ? "reduces along whole rows of"
                            : domain.block.isBlock() ? "reduces two-dimensional blocks of"
                            : domain.transposes      ? "transposes"
                                                     : "";
  if (domain.products == 0 || other.empty())
    return success();
  return program.emitError() << other
                             << " a product of matrices, of which a kernel has no more than "
                             << "a part of some rows at a time: do that in a program of its own";
}

/// Column vectors are reduced where threads that hold a row hold all of them.
static LogicalResult checkColumns(ProgramOp program, const Domain &domain) {
  if (domain.contracts)
    return success();
  for (ReduceOp op : program.getOps<ReduceOp>())
    if (domain.isOfColumns(op))
      return op.emitError(
          "reduces a column vector of the program's matrix, which no product meets; "
          "reduce the matrix's elements instead");
  return success();
}

/// What a tile that lies in one row can do, and a two-dimensional block cannot.
static LogicalResult checkRowsAlone(ProgramOp program, const Domain &domain) {
  for (Operation &op : program.getBlock()) {
    if (!isa<GatherOp, ScatterOp, ColumnOp, RepeatOp, RotateOp>(op))
      continue;
    if (domain.products)
      return op.emitError("in a kernel that multiplies matrices, whose threads hold blocks of "
                          "several rows: rows are chosen, repeated and turned one by one; do that "
                          "in a program of its own");
    if (domain.transposes)
      return op.emitError("in a kernel that transposes, whose threads hold blocks of several rows: "
                          "rows are chosen, repeated and turned one by one; transpose in a program "
                          "of its own");
    if (domain.block.isBlock())
      return op.emitError()
             << "in a kernel of blocks of " << domain.block.blockRows << "x"
             << domain.block.blockColumns
             << ": rows are chosen, repeated and turned where scales lie along a row; take "
                "blocks of one row";
  }
  return success();
}

static std::string dimText(ArrayRef<DimExpr> exprs) {
  return llvm::join(llvm::map_range(exprs, [](const DimExpr &dim) { return dim.str(); }), ", ");
}

std::optional<Domain> Domain::of(ProgramOp program, int64_t mostRows) {
  Domain domain;
  const RankedTensorType matrix = matrixType(program);
  if (!matrix) {
    program.emitError("has no tensor");
    return std::nullopt;
  }
  const SmallVector<DimExpr> exprs = matrixOf(matrix);
  if (exprs.empty()) {
    program.emitError("works on a tensor of rank 0: give it columns");
    return std::nullopt;
  }
  if (exprs.size() > 2) {
    program.emitError() << "a tensor [" << dimText(exprs) << "], of rank " << exprs.size()
                        << ": of three dims the last two must be static, and are the columns of a "
                           "matrix; give them values";
    return std::nullopt;
  }
  domain.rows = exprs.size() == 2 ? exprs[0] : DimExpr{nullptr, 1, 1};
  domain.columns = exprs.back();
  if (domain.rows.divisor != 1 || domain.columns.divisor != 1) {
    program.emitError() << "works on a matrix of " << domain.rows.str() << " x "
                        << domain.columns.str()
                        << ": its rows and columns must be whole dims, not quotients";
    return std::nullopt;
  }
  domain.sumsVector = domain.rows.isOne() && sumsAll(program);
  domain.width =
      domain.columns.extent(domain.columns.name ? program.getDimValue(domain.columns.name) : 0);
  if (ShapedType::isDynamic(domain.width)) {
    program.emitError() << "dim '" << domain.columns.name.getValue()
                        << "' runs along the rows and must be static: give it a value";
    return std::nullopt;
  }
  if (domain.width > widestRow) {
    program.emitError() << "rows of " << domain.width
                        << " elements: a kernel counts columns in 32 bits, at most " << widestRow;
    return std::nullopt;
  }
  domain.transposes = !program.getOps<TransposeOp>().empty();
  if (domain.transposes && mostRows && mostRows <= mostRowsOf(VariantKind::rows_16))
    domain.mostRows = mostRows;
  if (domain.transposes && domain.rows == domain.columns) {
    program.emitError() << "transposes a matrix whose rows and columns are the same dim '"
                        << domain.rows.str() << "': declare a dim for each";
    return std::nullopt;
  }
  for (Operation &op : program.getBlock()) {
    if (failed(noteArgument(domain, op)))
      return std::nullopt;
    if (auto attention = dyn_cast<AttentionOp>(op);
        attention && failed(noteAttention(domain, attention)))
      return std::nullopt;
    if (auto prefill = dyn_cast<PrefillOp>(op); prefill && failed(notePrefill(domain, prefill)))
      return std::nullopt;
    if (auto kind = op.getAttrOfType<DenseI64ArrayAttr>(attentionKind))
      domain.headsOfAttention = std::gcd(domain.headsOfAttention, attentionIn(kind).headDim);
    if (auto half = dyn_cast<HalfOp>(op);
        half && cast<RankedTensorType>(half.getInput().getType()).getRank() > 2) {
      op.emitError("takes halves of rows of three dims, which are columns together: give rows of "
                   "two dims");
      return std::nullopt;
    }
    domain.draws |= isa<RandomOp>(op);
    domain.stacksScales |= isa<OutputOp>(op) && op.hasAttr("layout");
    domain.scalesByPowers |= isa<PowerOfTwoOp>(op);
    domain.usesPositions |= isa<PositionOp>(op);
    if (auto encode = dyn_cast<EncodeOp>(op)) {
      domain.encodesBySoftware |= encode.getCodec() == CodecPath::software;
      domain.encodesWithin |= static_cast<bool>(encode.getLargest());
      domain.clampsCodes |= !encode.getBounded();
    }
    if (auto decode = dyn_cast<DecodeOp>(op); decode && decode.getCodec())
      domain.decodesBySoftware |=
          *decode.getCodec() == CodecPath::software &&
          !isa<Float8E5M2Type>(
              cast<RankedTensorType>(decode.getInput().getType()).getElementType());
    if (auto codec = op.getAttrOfType<CodecPathAttr>("codec"))
      domain.convertsByHardware |= codec.getValue() == CodecPath::hardware;
    if (auto reduce = dyn_cast<ReduceOp>(op); reduce && failed(noteReduction(domain, reduce)))
      return std::nullopt;
    if (auto contract = dyn_cast<ContractOp>(op);
        contract && failed(noteContraction(domain, contract)))
      return std::nullopt;
    if (auto level =
            op.getNumResults() == 1 ? domain.levelOf(op.getResult(0).getType()) : std::nullopt;
        level && level->kind == LevelKind::elements)
      domain.arithmetic += arithmeticOf(op);
    if (auto gather = dyn_cast<GatherOp>(op)) {
      const auto level = domain.levelOf(gather.getType());
      const bool isOfElements = level && level->kind == LevelKind::elements;
      const bool isOfCodes = isCodeType(cast<RankedTensorType>(gather.getType()).getElementType());
      domain.choosesRows |= isOfElements && !isOfCodes;
      domain.choosesCodes |= isOfElements && isOfCodes;
    }
    if (auto rotate = dyn_cast<RotateOp>(op)) {
      const auto over = static_cast<int64_t>(rotate.getOver());
      domain.rotates = true;
      domain.rotated = std::max(domain.rotated, over);
      if (failed(noteGroup(domain, op, over)))
        return std::nullopt;
    }
  }
  for (TransposeOp op : program.getOps<TransposeOp>())
    if (auto level = domain.levelOf(op.getInput().getType());
        level && level->kind == LevelKind::elements)
      domain.bytesTurned = std::max<int64_t>(
          domain.bytesTurned, cast<RankedTensorType>(op.getType()).getElementTypeBitWidth() / 8);
  if (failed(checkColumns(program, domain)) || failed(checkRowsAlone(program, domain)) ||
      failed(checkProducts(program, domain)))
    return std::nullopt;
  domain.stacksRows =
      domain.contracts && domain.matricesWritten == 0 && !domain.readsParts &&
      llvm::none_of(program.getBlock(), [&](Operation &op) { return differsByRow(domain, op); });
  if (domain.narrowestStore == 0)
    domain.narrowestStore = 8;
  if (auto target = program->getParentOp()->getAttrOfType<StringAttr>("eider.target")) {
    domain.target = target.str();
    const Target *known = findTarget(domain.target);
    domain.largestCluster = known && !known->clusters ? 1 : domain.largestCluster;
    domain.residentThreads = known ? known->threads : domain.residentThreads;
    domain.sharedOfBlock = known ? known->sharedKib * 1024 : domain.sharedOfBlock;
    domain.byWarpgroups &= known && known->warpgroups;
    domain.foldsScales &= known && known->bf16Products;
    domain.comesAhead &= known && known->bf16Products; // and copies beside threads
    for (ContractOp op : program.getOps<ContractOp>())
      if (Type met = op.mayMeetAsPairs(); met && met.isBF16())
        domain.meetsPairs &= known && known->bf16Products;
    if (domain.prefills) {
      domain.prefills->byWarpgroups &= known && known->warpgroups;
      domain.prefills->byCodes &= known && known->fp8Instructions;
      domain.prefills->prefersCodes = domain.prefills->byCodes && known->fp8Products;
    }
  }
  domain.byWarpgroups &= domain.products > 0 && !domain.target.empty() && !domain.reducesBlocks();
  return domain;
}
