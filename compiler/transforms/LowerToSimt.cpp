//===- LowerToSimt.cpp - From what to how ---------------------------------===//
//
// Part of Eider, under the Apache License v2.0.
//
// A program under a schedule becomes one thread's program over tiles. Every tensor value has a
// level (Domain.h), and so each thread holds a fixed number of its elements: a fragment.
// Elementwise ops then carry over as they are.
//
//===----------------------------------------------------------------------===//
#include "compiler/transforms/Boundary.h"
#include "compiler/transforms/Heuristic.h"
#include "compiler/transforms/Loop.h"
#include "compiler/transforms/ProgramLowering.h"

#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/IR/TypeUtilities.h"
#include "llvm/ADT/StringExtras.h"

using namespace mlir;
using namespace eider::ir;
using namespace eider::transforms;
namespace simt = eider::simt;

/// What tells a variant's kernel from the others of its program.
static std::string suffixOf(VariantKind variant) {
  switch (variant) {
  case VariantKind::contiguous:
    return "";
  case VariantKind::general:
    return "_strided";
  default:
    return std::string("_") + nameOf(variant);
  }
}

static constexpr VariantKind allVariants[] = {
    VariantKind::cooperative,  VariantKind::cooperative_large,
    VariantKind::rows_4,       VariantKind::rows_8,
    VariantKind::rows_16,      VariantKind::rows_32,
    VariantKind::rows_64,      VariantKind::few_rows,
    VariantKind::some_rows,    VariantKind::contiguous,
    VariantKind::uneven_large, VariantKind::uneven,
    VariantKind::aligned,      VariantKind::general};

/// Whether rows of a transposed tensor may begin anywhere.
static bool mayBeginAnywhere(VariantKind variant) {
  return isUneven(variant) || variant == VariantKind::general || variant == VariantKind::rows_16;
}

/// Of how many rows a variant's matrix has a multiple: so many that neither does a chunk of the
/// transpose reach beyond its end nor its rows begin in the middle of an access.
static int64_t multipleOf(const Domain &domain, simt::TileAttr tile, VariantKind variant) {
  const bool isOdd = !domain.rows.name && domain.rows.extent(0) % tile.getVector() != 0;
  return domain.transposes && !mayBeginAnywhere(variant) && !isOdd ? tile.getVector() : 1;
}

ProgramLowering::ProgramLowering(ProgramOp program, Domain domain, simt::TileAttr tile,
                                 VariantKind variant, int64_t mostRows)
    : program(program), domain(domain), tile(tile.withMultiple(multipleOf(domain, tile, variant))),
      variant(variant), mostRows(mostRows), builder(program.getContext()) {}

/// What a thread holds of a tensor, by its level: a fragment or a scalar.
Type ProgramLowering::heldType(Type type) const {
  auto tensor = dyn_cast<RankedTensorType>(type);
  if (!tensor)
    return type;
  Level level = *domain.levelOf(type);
  int64_t count = 0;
  if (level.kind == LevelKind::elements)
    count = tile.elements();
  else if (level.kind == LevelKind::columns)
    count = tile.columnsHeld();
  else if (level.kind == LevelKind::columnGroups ||
           (level.kind == LevelKind::groups && !domain.isValueOfTile(level)))
    count = tile.groups(level.blockColumns);
  else if (level.kind == LevelKind::rows)
    count = tile.rowsHeld();
  return count ? Type(VectorType::get({count}, tensor.getElementType())) : tensor.getElementType();
}

/// How many axes of a tensor the strides of may be any, and the last: of three that are rows and
/// columns that is the last alone, for such tensors are contiguous.
static int64_t axesWithStride(Operation &op, Type type) {
  const int64_t rank = cast<RankedTensorType>(type).getRank();
  const bool isReadByAxes = isa<InputOp>(op) && llvm::any_of(op.getUsers(), [](Operation *user) {
                              return readsByAxes(*user);
                            });
  return rank == 3 && !isReadByAxes ? 1 : rank;
}

void ProgramLowering::addArguments() {
  Block &block = kernel.getBlock();
  SmallVector<Attribute> names, arguments;
  auto add = [&](const Twine &name, Type type, const Twine &argument) {
    names.push_back(builder.getStringAttr(name));
    arguments.push_back(builder.getStringAttr(argument));
    return block.addArgument(type, program.getLoc());
  };
  for (Operation &op : program.getBlock()) {
    if (isa<ScalarOp, IntegerOp>(op)) {
      StringRef name = op.getAttrOfType<StringAttr>("name").getValue();
      map.map(op.getResult(0), add(name, op.getResult(0).getType(), "scalar:" + name));
    }
    Type type = boundaryType(op);
    if (!type)
      continue;
    StringRef name = boundaryName(op);
    auto pointer = simt::PointerType::get(builder.getContext(), getElementTypeOrSelf(type));
    bool workspace = op.hasAttr("workspace");
    pointers[name] = add(name, pointer, (workspace ? "workspace:" : "tensor:") + name);
  }
  const bool combines = program.getScheduleAttr().getKnobs().combine;
  if (isCooperative() || (combines && !domain.attends))
    addGridStates(add);
  else if (combines || tile.getParts() > 1)
    addParts(add);
  if (isStrided())
    for (Operation &op : program.getBlock())
      if (Type type = boundaryType(op); type && !op.hasAttr("workspace"))
        for (int64_t axis = 0; axis + 1 < axesWithStride(op, type); ++axis) {
          const std::string number = std::to_string(axis);
          pitches[boundaryName(op)].push_back(
              add(boundaryName(op) + "_stride" + (axis ? "_" + number : ""), builder.getI64Type(),
                  "stride:" + boundaryName(op) + ":" + number));
          strides[boundaryName(op)] = pitches[boundaryName(op)].front();
        }
  const llvm::StringSet<> counted = dimsCounted(program, domain);
  for (auto [dim, value] : llvm::zip_equal(program.getDimNames(), program.getDimValues()))
    if (StringRef name = cast<StringAttr>(dim).getValue();
        ShapedType::isDynamic(value) && counted.contains(name))
      dims[name] = add(name, builder.getI64Type(), "dim:" + name);
  kernel.setParametersAttr(builder.getArrayAttr(names));
  kernel.setArgumentsAttr(builder.getArrayAttr(arguments));
}

/// The tile that stands for the position of what no tile changes.
Value ProgramLowering::firstTile() {
  return simt::FirstTileOp::create(builder, program.getLoc(), cursor.getType(), loop.getRows());
}

/// The comment at the text's head: boundary, target, schedule.
SmallVector<Attribute> ProgramLowering::header() {
  const auto [reads, writes] = describeBoundary(program);
  std::string dimText;
  for (auto [dim, value] : llvm::zip_equal(program.getDimNames(), program.getDimValues()))
    dimText +=
        (dimText.empty() ? "" : ", ") + cast<StringAttr>(dim).str() +
        (ShapedType::isDynamic(value) ? std::string(" (dynamic)") : " = " + std::to_string(value));
  std::string target;
  if (auto attr = program->getParentOp()->getAttrOfType<StringAttr>("eider.target"))
    target = attr.str() + " · ";
  OpBuilder &b = builder;
  SmallVector<Attribute> lines;
  for (const auto &[what, list] : {std::pair("reads ", reads), std::pair("writes ", writes)})
    if (!list.empty()) // in-outs alone are read and updated
      lines.push_back(
          b.getStringAttr((lines.empty() ? program.getSymName() + ": " : Twine()) + what + list));
  lines.push_back(b.getStringAttr(
      target + dimText + " · " + (isStrided() ? "any row stride, " : "contiguous, ") +
      (variant == VariantKind::general ? "any alignment" : "aligned") +
      (isUneven(variant) ? ", any number of rows" : "") +
      (variant == VariantKind::uneven_large && !program->hasAttr(ofWholeName)
           ? " · at least " + std::to_string(largeRowsOf(domain)) + " rows"
           : "") +
      (isCooperative() ? " · all blocks at once" : "") +
      (mostRows ? " · at most " + std::to_string(mostRows) + " rows" : "")));
  lines.push_back(b.getStringAttr("schedule " + program.getScheduleAttr().str()));
  return lines;
}

LogicalResult ProgramLowering::broadcast(BroadcastOp op) {
  const Level from = *domain.levelOf(op.getInput().getType()), to = *domain.levelOf(op.getType());
  if (from.transposed != to.transposed && from.kind != LevelKind::uniform)
    return op.emitError() << "spreads values of a matrix over its transpose; transpose the result "
                          << "of what they meet instead";
  Value held = map.lookup(op.getInput());
  Type wanted = heldType(op.getType());
  if (held.getType() != wanted)
    held = simt::SpreadOp::create(builder, op.getLoc(), wanted, held);
  map.map(op.getResult(), held);
  return success();
}

std::pair<Value, Value> ProgramLowering::summed(ReduceOp op) {
  Value held = map.lookup(op.getInput());
  auto product = held.getDefiningOp<arith::MulFOp>();
  if (product && op.getKind() == Reduction::sum && op.getInput().hasOneUse())
    return {product.getLhs(), product.getRhs()};
  return {held, Value()};
}

/// Of a maximum along the row, whose elements are 16-bit values times one float and are for nobody
/// else: these, and the float. Null elsewhere.
static std::pair<Value, Value> narrowProducts(ReduceOp op, Value held) {
  auto product = held.getDefiningOp<arith::MulFOp>();
  if (!product || op.getKind() != Reduction::max || !op.getInput().hasOneUse())
    return {};
  for (auto [wide, many] : {std::pair(product.getLhs(), product.getRhs()),
                            std::pair(product.getRhs(), product.getLhs())}) {
    auto widened = wide.getDefiningOp<arith::ExtFOp>();
    auto spread = many.getDefiningOp<simt::SpreadOp>();
    if (widened && spread && spread.getInput().getType().isF32() &&
        getElementTypeOrSelf(widened.getIn()).getIntOrFloatBitWidth() == 16)
      return {widened.getIn(), spread.getInput()};
  }
  return {};
}

LogicalResult ProgramLowering::reduce(ReduceOp op) {
  if (domain.isOfColumns(op)) {
    reduceColumns(op);
    return success();
  }
  Level level = *domain.levelOf(op.getType());
  if (level.kind == LevelKind::uniform && isCooperative()) {
    reduceGrid(op);
    return success();
  }
  if (level.kind == LevelKind::uniform)
    return reduceWhole(op);
  int64_t group = level.kind == LevelKind::groups && !level.isBlock() ? level.blockColumns : 0;
  if (level.kind == LevelKind::rows && tile.getKind() == simt::TileKind::block)
    return op.emitError("a reduction along whole rows in a kernel of two-dimensional blocks: "
                        "eider-partition cuts it out");
  auto [input, times] = summed(op);
  if (level.kind == LevelKind::rows && tile.getKind() == simt::TileKind::row)
    if (auto [narrow, factor] = narrowProducts(op, input); narrow)
      input = narrow, times = factor;
  auto reduced = simt::ReduceOp::create(builder, op.getLoc(), heldType(op.getType()), op.getKind(),
                                        input, times, /*scales=*/Value(), at(level), group,
                                        /*codec=*/CodecPathAttr());
  if (Attribute given = op->getAttr("eider.name"))
    reduced->setAttr("eider.name", given);
  map.map(op.getResult(), reduced.getResult());
  return success();
}

void ProgramLowering::encode(EncodeOp op) {
  auto held = [&](Value operand) { return operand ? map.lookup(operand) : Value(); };
  const Type type = heldType(op.getType());
  // A largest magnitude, by which values are mostly bounded, answers for those of a fragment.
  const Value largest = isa<VectorType>(type) ? held(op.getLargest()) : Value();
  const bool isBounded = op.getBounded() && (largest || !op.getLargest());
  auto codes = simt::EncodeOp::create(
      builder, op.getLoc(), type, map.lookup(op.getInput()), held(op.getDivisor()), largest,
      held(op.getRandom()), op.getOverflowToFormat(), op.getIgnoreNan(), isBounded, *op.getCodec());
  map.map(op.getResult(), codes.getResult());
}

LogicalResult ProgramLowering::random(RandomOp op) {
  const Level level = *domain.levelOf(op.getType());
  if (level.kind != LevelKind::elements || level.transposed)
    return op.emitError("only elements of the program's matrix are rounded stochastically, not "
                        "those of its transpose, nor what rows or blocks have one of: leave the "
                        "transpose out, or take rounding nearest_even");
  auto bits = simt::RandomOp::create(builder, op.getLoc(), heldType(op.getType()),
                                     map.lookup(op.getSeed()), map.lookup(op.getOffset()), cursor);
  map.map(op.getResult(), bits.getResult());
  return success();
}

/// `arith` and `math` ops carry over, on what a thread holds.
LogicalResult ProgramLowering::elementwise(Operation &op) {
  Operation *copy = builder.clone(op, map);
  for (auto [result, old] : llvm::zip_equal(copy->getResults(), op.getResults()))
    result.setType(heldType(old.getType()));
  return success();
}

/// What a thread holds no fragment of.
static bool isOfTransposedRows(const Level &level) {
  return level.transposed && level.kind != LevelKind::elements && level.kind != LevelKind::groups;
}

/// A function of the compiler's own, on what a thread holds.
template <class Function, class Op> LogicalResult ProgramLowering::function(Op op) {
  Value x = map.lookup(op.getInput());
  auto result = Function::create(builder, op.getLoc(), x.getType(), x);
  if (Attribute given = op->getAttr("eider.name"))
    result->setAttr("eider.name", given);
  map.map(op.getResult(), result.getResult());
  return success();
}

LogicalResult ProgramLowering::lower(Operation &op) {
  if (LogicalResult result = success(); lowerIndex(op, result))
    return result;
  if (auto contractOp = dyn_cast<ContractOp>(op); contractOp && contractOp.isOfMatrices())
    return multiply(contractOp);
  for (Type type : llvm::concat<const Type>(op.getOperandTypes(), op.getResultTypes()))
    if (auto level = domain.levelOf(type); !level && !isReadByRows(op))
      return op.emitError() << "type " << type << " does not fit the program's matrix";
    else if (level && isOfTransposedRows(*level))
      return op.emitError() << "type " << type << " is one value a row or column of the transposed "
                            << "matrix; only its elements and values of its blocks are lowered";
  if (isa<ScalarOp, IntegerOp>(op))
    return success();
  if (isa<InputOp, InOutOp>(op))
    return load(op);
  if (isa<OutputOp, StoreOp>(op))
    return store(op);
  if (auto half = dyn_cast<HalfOp>(op))
    return loadHalf(half);
  if (auto broadcastOp = dyn_cast<BroadcastOp>(op))
    return broadcast(broadcastOp);
  if (auto reduceOp = dyn_cast<ReduceOp>(op))
    return reduce(reduceOp);
  if (auto contractOp = dyn_cast<ContractOp>(op))
    return contract(contractOp);
  if (auto transposeOp = dyn_cast<TransposeOp>(op))
    return transpose(transposeOp);
  if (auto sigmoid = dyn_cast<SigmoidOp>(op))
    return function<simt::SigmoidOp>(sigmoid);
  if (auto gelu = dyn_cast<GeluOp>(op))
    return function<simt::GeluOp>(gelu);
  if (auto power = dyn_cast<PowerOfTwoOp>(op)) {
    Value x = map.lookup(power.getInput());
    auto rounded =
        simt::PowerOfTwoOp::create(builder, op.getLoc(), x.getType(), power.getWhich(), x);
    if (Attribute given = op.getAttr("eider.name"))
      rounded->setAttr("eider.name", given);
    map.map(power.getResult(), rounded.getResult());
    return success();
  }
  if (auto encodeOp = dyn_cast<EncodeOp>(op)) {
    encode(encodeOp);
    return success();
  }
  if (auto randomOp = dyn_cast<RandomOp>(op))
    return random(randomOp);
  if (auto decode = dyn_cast<DecodeOp>(op)) {
    map.map(decode.getResult(),
            simt::DecodeOp::create(builder, op.getLoc(), heldType(decode.getType()),
                                   map.lookup(decode.getInput()), *decode.getCodec())
                .getResult());
    return success();
  }
  if (isa<arith::ArithDialect, math::MathDialect>(op.getDialect()))
    return elementwise(op);
  return op.emitError("has no thread-level form");
}

/// The kernel with its arguments, without a body.
void ProgramLowering::createKernel() {
  builder.setInsertionPoint(program);
  auto empty = builder.getArrayAttr({});
  std::string name = program.getSymName().str() + suffixOf(variant);
  kernel = simt::KernelOp::create(builder, program.getLoc(), name, empty, tile.blockThreads(),
                                  program.getScheduleAttr().getKnobs().resident, tile.getCluster(),
                                  isCooperative(), comesAhead(), gridExpression(), empty,
                                  builder.getDictionaryAttr({}), DictionaryAttr(),
                                  builder.getArrayAttr(header()), /*shared=*/0);
  kernel.getBody().emplaceBlock();
  addArguments();
  builder.setInsertionPointToEnd(&kernel.getBlock());
}

void ProgramLowering::setAlignments() {
  SmallVector<NamedAttribute> kept;
  for (auto &entry : alignments)
    kept.push_back(
        builder.getNamedAttr(entry.getKey(), builder.getI64IntegerAttr(entry.getValue())));
  kernel.setAlignmentsAttr(builder.getDictionaryAttr(kept));
}

LogicalResult ProgramLowering::run() {
  createKernel();
  if (program->hasAttr(allowsNextName))
    simt::AllowNextOp::create(builder, program.getLoc());
  if (domain.attends)
    return attend();
  if (domain.prefills)
    return attendRows();
  // Rows that are chosen more than once: part of each stays in the cache until it is chosen again.
  const bool isOnly = hasBlockPerTile();
  const bool byColumns = !isOnly && tile.segments() > 1 && domain.choosesRows;
  loop = simt::ForTilesOp::create(builder, program.getLoc(), extentOf(domain.rows),
                                  pointers.lookup(domain.endsOfGroups), isOnly, byColumns,
                                  ValueRange());
  loop.getBody().emplaceBlock();
  cursor = loop.getBlock().addArgument(simt::CursorType::get(builder.getContext(), tile),
                                       program.getLoc());
  builder.setInsertionPointToEnd(&loop.getBlock());
  if (domain.transposes)
    transposedCursor = simt::TransposedTileOp::create(
        builder, program.getLoc(), simt::CursorType::get(builder.getContext(), tile.transposed()),
        cursor);
  for (Operation &op : program.getBlock())
    if (failed(lower(op)))
      return failure();
  if (mayGoDown())
    loop.setByColumns(true);
  const ScheduleKnobs &knobs = program.getScheduleAttr().getKnobs();
  if (knobs.streaming)
    streamElements(loop);
  if (knobs.bulk)
    storeInBulk(loop);
  if (domain.reducesColumns && knobs.cluster == 1) // whose blocks meet under a tile alone
    hoistColumnReductions(loop);
  hoistUniform(loop);
  if (knobs.hoist) {
    hoistColumnLoads(loop);
    if (domain.reducesColumns)
      hoistColumns(loop);
  }
  if (!knobs.hoist && knobs.resident && (!isOnly || isCooperative()))
    sinkColumnLoads(loop.getBlock());
  const bool isAhead = knobs.prefetch && !domain.products; // whose stages are
  skipUnseen(loop, isAhead);
  if (comesAhead())
    comeAhead(loop, knobs.prefetch - 1); // beside those that are multiplied
  else if (isAhead)
    loadAhead(loop);
  storeBeforeTranspose(loop);
  setAlignments();
  if (tile.getMultiple() > 1 && domain.rows.name)
    kernel.setMultiplesAttr(builder.getDictionaryAttr(builder.getNamedAttr(
        domain.rows.name,
        builder.getI64IntegerAttr(tile.getMultiple() /
                                  std::gcd(tile.getMultiple(), domain.rows.factor)))));
  program.erase();
  return success();
}

/// What must have been done before, and what no fragment can do.
static LogicalResult checkLowerable(Operation &op) {
  for (Type type : llvm::concat<const Type>(op.getOperandTypes(), op.getResultTypes()))
    if (isa<ScaledType>(type))
      return op.emitError("a scaled tensor: run eider-decompose first");
  auto contract = dyn_cast<ContractOp>(op);
  if ((isa<EncodeOp, DecodeOp, PrefillOp>(op) || (contract && contract.isOfMatrices())) &&
      !op.hasAttr("codec"))
    return op.emitError("nobody converts FP8 yet: run eider-legalize first");
  bool converts = isa<arith::ExtFOp, arith::TruncFOp>(op);
  if (isa<arith::ArithDialect, math::MathDialect>(op.getDialect()) && !converts)
    for (Type type : llvm::concat<const Type>(op.getOperandTypes(), op.getResultTypes()))
      if (auto real = dyn_cast<FloatType>(getElementTypeOrSelf(type)); real && !real.isF32())
        return op.emitError() << "arithmetic is f32, not " << real << ": widen first";
  return success();
}

/// Where rows of a transposed tensor begin anywhere, lanes that have neighbouring chunks of one
/// write them together (templates/memory/shifted.cuh), so chunks are so short that several have;
/// words are written one by one, and chunks as short as a thread may have.
static void shortenChunks(ProgramOp program, const Domain &domain) {
  constexpr int64_t together = 8;
  ScheduleAttr schedule = program.getScheduleAttr();
  if (!schedule)
    return;
  ScheduleKnobs knobs = schedule.getKnobs();
  const bool isWord = domain.narrowestStore >= 32;
  int64_t least = isWord ? 4 : knobs.rows / together;
  // Where the width would cut such a chunk, half of it; then two blocks are beside each other.
  const bool isCut = !isWord && least > 8 && domain.width % least != 0;
  if (isCut)
    least /= 2;
  const int64_t most = std::max({int64_t(4), domain.group / 32, least});
  if (knobs.vector <= most)
    return;
  knobs.vector = most;
  knobs.threads = std::min<int64_t>(isCut ? 512 : 1024, knobs.rows * knobs.columns / knobs.vector);
  knobs.tiles = 1;
  knobs.resident = isCut ? 2 : 0;
  knobs.prefetch = 0;
  auto shorter = ScheduleAttr::get(program.getContext(), schedule.getFamily(), knobs);
  if (std::string message; tileOf(shorter, domain, message))
    program.setScheduleAttr(shorter);
}

namespace {
struct LowerToSimt : PassWrapper<LowerToSimt, OperationPass<ModuleOp>> {
  MLIR_DEFINE_EXPLICIT_INTERNAL_INLINE_TYPE_ID(LowerToSimt)
  LowerToSimt() = default;
  LowerToSimt(const LowerToSimt &other) : PassWrapper(other) { variant = other.variant; }

  Option<std::string> variant{*this, "variant", llvm::cl::init("contiguous"),
                              llvm::cl::desc("contiguous, aligned, general, …")};

  StringRef getArgument() const final { return "eider-lower-to-simt"; }
  StringRef getDescription() const final { return "Tensor programs become thread programs"; }
  void getDependentDialects(DialectRegistry &registry) const final {
    registry.insert<simt::SimtDialect, arith::ArithDialect>();
  }

  void runOnOperation() final {
    const auto *found =
        llvm::find_if(allVariants, [&](VariantKind kind) { return variant == nameOf(kind); });
    if (found == std::end(allVariants)) {
      auto error = getOperation().emitError() << "no variant '" << variant << "'; they are ";
      llvm::interleaveComma(allVariants, error, [&](VariantKind kind) { error << nameOf(kind); });
      return signalPassFailure();
    }
    const VariantKind kind = *found;
    const auto programs = llvm::to_vector(getOperation().getOps<ProgramOp>());
    for (ProgramOp program : programs) {
      auto check = [](Operation *op) { return WalkResult(checkLowerable(*op)); };
      if (program.getBody().walk(check).wasInterrupted())
        return signalPassFailure();
    }
    const int64_t mostRows = mostRowsOf(kind, getOperation());
    for (ProgramOp program : programs) {
      auto domain = Domain::of(program, mostRows);
      if (!domain)
        return signalPassFailure();
      std::string message = "no schedule; run eider-assign-schedule first";
      if (mayBeginAnywhere(kind) && domain->transposes)
        shortenChunks(program, *domain);
      if (isStrided(kind))
        leaveWarpgroups(program, *domain);
      if (kind == VariantKind::general)
        leaveAhead(program);
      ScheduleAttr schedule = program.getScheduleAttr();
      simt::TileAttr tile = schedule ? tileOf(schedule, *domain, message) : simt::TileAttr();
      if (!tile) {
        program.emitError(message);
        return signalPassFailure();
      }
      if (failed(ProgramLowering(program, *domain, tile, kind, mostRows).run()))
        return signalPassFailure();
    }
  }
};
} // namespace

std::unique_ptr<Pass> eider::transforms::createLowerToSimt(VariantKind variant) {
  auto pass = std::make_unique<LowerToSimt>();
  pass->variant = nameOf(variant);
  return pass;
}
