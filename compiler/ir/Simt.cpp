//===- Simt.cpp - The simt dialect ----------------------------------------===//
//
// Part of Eider, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//
#include "compiler/ir/Simt.h"

#include "mlir/IR/DialectImplementation.h"
#include "mlir/IR/TypeUtilities.h"
#include "llvm/ADT/TypeSwitch.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace eider::simt;
using eider::ir::Reduction;

#include "compiler/ir/SimtDialect.cpp.inc"
#define GET_ATTRDEF_CLASSES
#include "compiler/ir/SimtAttrs.cpp.inc"
#define GET_TYPEDEF_CLASSES
#include "compiler/ir/SimtTypes.cpp.inc"

void SimtDialect::initialize() {
  addAttributes<
#define GET_ATTRDEF_LIST
#include "compiler/ir/SimtAttrs.cpp.inc"
      >();
  addTypes<
#define GET_TYPEDEF_LIST
#include "compiler/ir/SimtTypes.cpp.inc"
      >();
  addOperations<
#define GET_OP_LIST
#include "compiler/ir/SimtOps.cpp.inc"
      >();
}

/// The rules that templates/tile/ states for its parameters.
LogicalResult TileAttr::verify(function_ref<InFlightDiagnostic()> emitError, TileKind kind,
                               int64_t threads, int64_t vector, int64_t rows, int64_t columns,
                               int64_t loads, int64_t width, int64_t cluster, int64_t run,
                               int64_t multiple, int64_t rowGroups, int64_t lanes, int64_t parts) {
  if (threads < 1 || vector < 1 || rows < 1 || columns < 1 || loads < 1 || width < 1 || run < 1 ||
      multiple < 1 || rowGroups < 0)
    return emitError() << "a tile's numbers are at least 1";
  int64_t block = kind == TileKind::row ? threads * rows : threads;
  if (block > 1024)
    return emitError() << "a block has at most 1024 threads, not " << block;
  if (!llvm::isPowerOf2_64(vector) || vector > 64)
    return emitError() << "vector is a power of two up to 64, not " << vector;
  bool warps = threads % 32 == 0;
  if (!warps && !(threads < 32 && llvm::isPowerOf2_64(threads)))
    return emitError() << "threads is a power of two below 32 or a multiple of 32, not " << threads;
  if (block > 32 && block % 32 != 0)
    return emitError() << "a block is whole warps, or part of one, not " << block << " threads";
  if (lanes && (kind != TileKind::row || lanes < 0 || lanes > 32 || threads % lanes != 0))
    return emitError() << "lanes, up to 32 of them, divide the threads of a row, not " << lanes;
  if (cluster < 1 || cluster > 8 || !llvm::isPowerOf2_64(cluster))
    return emitError() << "a cluster is 1, 2, 4 or 8 blocks, not " << cluster;
  if (parts < 1 || parts > 16 || (parts > 1 && (kind != TileKind::block || rowGroups)))
    return emitError() << "up to 16 parts have a two-dimensional block, of no group's rows";
  if (cluster > 1 && kind != TileKind::block && (kind != TileKind::row || rows != 1 || !warps))
    return emitError() << "a cluster holds one row, in whole warps of each of its blocks";
  if (cluster > 1 && !warps)
    return emitError() << "the blocks of a cluster are whole warps";
  if (kind == TileKind::row && threads * vector * loads * cluster < columns)
    return emitError() << threads * cluster << " threads × " << vector << " × " << loads
                       << " loads do not cover " << columns << " columns";
  if (kind == TileKind::rows &&
      (loads % rows != 0 || threads * vector * (loads / rows) < columns || columns < width))
    return emitError() << threads << " threads × " << vector << " × " << loads
                       << " loads do not cover " << rows << " rows of " << width << " columns";
  if ((kind == TileKind::row || kind == TileKind::rows) && (run > 1 || multiple > 1))
    return emitError() << "runs of rows and a multiple of rows are of two-dimensional blocks";
  if (rowGroups && (kind != TileKind::block || run > 1 || multiple > 1))
    return emitError() << "rows in groups are of two-dimensional blocks, of rows one by one";
  if (loads % run != 0)
    return emitError() << loads << " loads are no whole number of runs of " << run << " rows";
  if (kind == TileKind::row || kind == TileKind::rows)
    return success();
  const bool hasSpareThreads = loads == 1 && threads * vector > rows * columns;
  if (threads * vector * loads != rows * columns && !hasSpareThreads)
    return emitError() << threads << " threads × " << vector << " × " << loads << " loads are not "
                       << rows << " × " << columns;
  if (columns % vector != 0)
    return emitError() << "vector " << vector << " does not divide " << columns << " columns";
  return success();
}

/// What a thread holds of an access: `count` values of `element`, or a scalar.
static LogicalResult verifyHeld(Operation *op, Type held, Type pointer, Type cursor, Access access,
                                int64_t group) {
  Type element = cast<PointerType>(pointer).getElementType();
  if (getElementTypeOrSelf(held) != element)
    return op->emitOpError() << "holds " << held << " of memory of " << element;
  TileAttr tile = cast<CursorType>(cursor).getTile();
  int64_t count = 0;
  switch (access) {
  case Access::elements:
  case Access::repeated:
    count = tile.elements();
    break;
  case Access::columns:
    count = tile.columnsHeld();
    break;
  case Access::groups:
    if (group < 1)
      return op->emitOpError("access groups needs group");
    count = tile.groups(group);
    break;
  case Access::rows:
    count = tile.rowsHeld();
    break;
  case Access::block:
  case Access::uniform:
    break;
  }
  auto vector = dyn_cast<VectorType>(held);
  if ((vector ? vector.getNumElements() : 0) != count)
    return op->emitOpError() << "a thread holds " << count << " values of access '"
                             << stringifyAccess(access) << "' under " << tile << ", not " << held;
  return success();
}

LogicalResult KernelOp::verify() {
  size_t count = getBlock().getNumArguments();
  if (getParameters().size() != count || getArguments().size() != count)
    return emitOpError() << "has " << count << " arguments, not " << getParameters().size()
                         << " parameters and " << getArguments().size() << " of the contract";
  for (auto [argument, value] : llvm::zip_equal(getArguments(), getBlock().getArguments())) {
    auto [kind, name] = cast<StringAttr>(argument).getValue().split(':');
    bool pointer = kind == "tensor" || kind == "workspace";
    bool integer = kind == "stride" || kind == "dim";
    if ((!pointer && !integer && kind != "scalar") || name.empty())
      return emitOpError() << "argument " << argument
                           << " is not tensor:, workspace:, scalar:, stride: or dim: and a name";
    const Type type = value.getType();
    const bool fits =
        pointer ? isa<PointerType>(type) : type.isInteger(64) || (kind == "scalar" && type.isF32());
    if (!fits)
      return emitOpError() << "argument " << argument << " cannot be " << type;
  }
  if (getCooperative() && getResident() == 0)
    return emitOpError(
        "says not how many of its blocks, which run at once, a multiprocessor holds");
  if (getStays() && (getCooperative() || getResident() == 0 || getCluster() > 1))
    return emitOpError("whose blocks stay is not cooperative, has no clusters, and says how many a "
                       "multiprocessor holds");
  if (getCooperative() && getCluster() > 1)
    return emitOpError("all of whose blocks meet has no clusters of them");
  return success();
}

LogicalResult ForTilesOp::verify() {
  SmallVector<Type> arguments(getBlock().getArgumentTypes());
  if (arguments.empty() || !isa<CursorType>(arguments.front()) ||
      TypeRange(arguments).drop_front() != getInitial().getTypes())
    return emitOpError("has as arguments the tile at its position and the carried values");
  auto carry = getBlock().empty() ? CarryOp() : dyn_cast<CarryOp>(getBlock().back());
  if ((carry ? TypeRange(carry.getValues().getTypes()) : TypeRange()) != getInitial().getTypes())
    return emitOpError("carries on, by its last op, other values than it began with");
  if (getOnly() && carry)
    return emitOpError("carries nothing on where each block has one tile");
  if (getByColumns() && (getOnly() || getTile().segments() == 1))
    return emitOpError("goes by columns where each block has several tiles to choose of, each part "
                       "of a row");
  const bool isGrouped = getTile().getRowGroups() != 0;
  if ((getEnds() && !isGrouped) ||
      (isGrouped && (getOnly() || getByColumns() || !getInitial().empty())))
    return emitOpError("goes by groups of rows where its tile does, with their ends or none, and "
                       "no other way then");
  return success();
}

LogicalResult LoadOp::verify() {
  return verifyHeld(*this, getResult().getType(), getBase().getType(), getAt().getType(),
                    getAccess(), getGroup());
}

LogicalResult ScaleLayoutOp::verify() {
  if (getColumnsAtLaunch() && getColumns() != 0)
    return emitOpError("has columns that are known, and others at the launch; give one of them");
  return success();
}

LogicalResult ReduceOp::verify() {
  TileAttr tile = cast<CursorType>(getAt().getType()).getTile();
  if (getTimes() && getTimes().getType().isF32()) {
    const Type held = getElementTypeOrSelf(getInput());
    if (getKind() != Reduction::max || getGroup() || getScales() || getCodec() ||
        tile.getKind() != TileKind::row || !(held.isBF16() || held.isF16()))
      return emitOpError("one float multiplies what a maximum along the row is of, bf16 or f16");
    return success();
  }
  if (getTimes() && (getKind() != Reduction::sum ||
                     cast<VectorType>(getTimes().getType()).getNumElements() != tile.columnsHeld()))
    return emitOpError("products are summed, of a row's elements and a column vector");
  if (getGroup() && getTimes() && (getScales() || getCodec()))
    return emitOpError("a group's products have no scales, nor do tensor cores multiply them");
  if (getCodec()) {
    const Type codes = getElementTypeOrSelf(getInput());
    const Type met = getTimes() ? getElementTypeOrSelf(getTimes()) : Type();
    if (!eider::ir::isCodeType(codes) || !met || !(met.isBF16() || met.isF16()))
      return emitOpError("tensor cores multiply codes and bf16 or f16");
    if (tile.getThreads() % 32 != 0 || tile.getVector() % (4 * eider::ir::packingOf(codes)) != 0)
      return emitOpError("tensor cores multiply four neighbours, whole words, of whole warps");
  }
  if (!getCodec() && getTimes() &&
      getElementTypeOrSelf(getTimes()) != getElementTypeOrSelf(getInput()))
    return emitOpError("products are of two fragments of one type");
  const bool isStacked = tile.getKind() == TileKind::rows;
  if (isStacked && (!getTimes() || getGroup()))
    return emitOpError("of several rows a thread only products are summed, over whole rows");
  if (isStacked && getScales() &&
      cast<VectorType>(getScales().getType()).getNumElements() % tile.getRows() != 0)
    return emitOpError("each of a thread's rows has as many scales");
  if (getScales() &&
      (!getTimes() || cast<VectorType>(getInput().getType()).getNumElements() %
                              cast<VectorType>(getScales().getType()).getNumElements() !=
                          0))
    return emitOpError("groups of products are scaled, as many elements each");
  return success();
}

LogicalResult RowsAheadOp::verify() {
  const TileAttr held = cast<CursorType>(getTile()).getTile();
  const Type codes = cast<PointerType>(getBase().getType()).getElementType();
  if (held.getKind() != TileKind::rows || held.getRows() % 2 != 0)
    return emitOpError("come two by two, to tiles of several rows");
  if (!eider::ir::isCodeType(codes) || held.getVector() * codes.getIntOrFloatBitWidth() != 16 * 8 ||
      held.getWidth() % held.getVector() != 0)
    return emitOpError("are codes, in chunks of 16 bytes");
  if (getAhead() < 1 || bool(getScales()) != (getGroup() != 0) ||
      (getScalesPitch() && !getScales()))
    return emitOpError("have a pair or more on its way, and scales of groups or none");
  return success();
}

LogicalResult SumAheadOp::verify() {
  auto rows = getRows().getDefiningOp<RowsAheadOp>();
  const TileAttr tile = cast<CursorType>(getAt().getType()).getTile();
  const auto times = cast<VectorType>(getTimes().getType());
  if (!rows || cast<CursorType>(rows.getTile()).getTile() != tile)
    return emitOpError("is of rows that come to such tiles");
  if (times.getNumElements() != tile.columnsHeld() ||
      !(times.getElementType().isBF16() || times.getElementType().isF16()))
    return emitOpError("multiplies a column vector of bf16 or f16");
  return success();
}

/// What is of a column vector, of which the tile's threads hold all.
static LogicalResult verifyOfColumns(Operation *op, VectorType held, Type at) {
  TileAttr tile = cast<CursorType>(at).getTile();
  if (!tile.spansRows() || held.getNumElements() != tile.columnsHeld())
    return op->emitOpError("is of a column vector, under tiles that span the row");
  return success();
}

LogicalResult InsideColumnsOp::verify() {
  return verifyOfColumns(*this, cast<VectorType>(getInput().getType()), getAt().getType());
}

LogicalResult ReduceColumnsOp::verify() {
  const auto held = cast<VectorType>(getInput().getType());
  if (failed(verifyOfColumns(*this, held, getAt().getType())))
    return failure();
  const bool isOfMagnitudes = getKind() == Reduction::amax || getKind() == Reduction::amax_number;
  if (!held.getElementType().isF32() && !isOfMagnitudes)
    return emitOpError("is of f32, or the largest magnitude of bf16 or f16");
  if (getTimes() && (getKind() != Reduction::sum || getTimes().getType() != held))
    return emitOpError("products are summed, of two column vectors");
  return success();
}

LogicalResult ContractOp::verify() {
  TileAttr tile = cast<CursorType>(getAt().getType()).getTile();
  auto vector = cast<VectorType>(getType());
  if (tile.getKind() != TileKind::block || vector.getNumElements() != tile.elements() ||
      !vector.getElementType().isF32())
    return emitOpError() << "is the f32 elements of a block, not " << getType();
  if (!getVectorsPitch() != !getWeightsPitch() || !getVectorsPitch() != !getScalesPitch() ||
      !getVectorsScalesPitch() != !(getVectorsPitch() && getVectorsScales()))
    return emitOpError("has the pitches of all its matrices, or of none");
  if (!getVectorsScales() != !getVectorsBlock() || (getVectorsShare() && !getVectorsBlock()))
    return emitOpError("has scales of the vectors with the block that each is of, or neither");
  if (getMeetsCodes() && (!getVectorsScales() || getCodec() != eider::ir::CodecPath::hardware))
    return emitOpError("multiplies codes as they are where both are such, and by instruction");
  if (!getWeightsApart() != !getScalesApart() ||
      !getWeightsApart() != !(getVectorsPitch() && tile.getRowGroups()))
    return emitOpError("has weights and scales apart where rows are in groups and have pitches");
  if (getWarpgroups() ? tile.getThreads() != tile.getColumns() * 2 || getVectorsPitch()
                      : tile.getCluster() != 1)
    return emitOpError("has 64 rows of weights a warpgroup, in rows that are whole; or no cluster");
  if (getLength() < 1 || getBlockRows() < 1 || getBlockColumns() < 1 || getSplit() < 1 ||
      getLoads() < 1 || getAhead() < 1)
    return emitOpError("multiplies rows of at least one element, in parts of at least one");
  return success();
}

LogicalResult LeaveSumsOp::verify() {
  TileAttr tile = cast<CursorType>(getAt().getType()).getTile();
  auto isOf = [](Value pointer, Type element) {
    return cast<PointerType>(pointer.getType()).getElementType() == element;
  };
  OpBuilder builder(getContext());
  if (tile.getParts() < 2 || tile.elements() % 4 != 0 ||
      getSums().getType() != VectorType::get({tile.elements()}, builder.getF32Type()) ||
      !isOf(getLeft(), builder.getF32Type()) || !isOf(getArrivals(), builder.getI64Type()))
    return emitOpError("leaves f32 sums, whole fours of a thread, of a tile that several parts "
                       "have, and counts in words of i64");
  return success();
}

LogicalResult AttendOp::verify() {
  if (getHeads() < 1 || getKvHeads() < 1 || getTiles() < 1 ||
      getHeads() % (getKvHeads() * getTiles()) != 0)
    return emitOpError("has a multiple of the cache's heads, in tiles");
  if (getKeys() == getValues() ? getValueDim() < 1 || getValueDim() > getHeadDim()
                               : getValueDim() != getHeadDim())
    return emitOpError("has values as long as keys, or some of their columns");
  if (getSplit() != 1 && getSplit() != getWarps())
    return emitOpError("has warps that have tokens by themselves, or all together");
  if (!getKeyScale() != (getScales() == 0) || !getValueScale() != (getScales() == 0) ||
      (getScales() > 1 && getScales() != getKvHeads()))
    return emitOpError("has one scale, or one a head of the cache, or none");
  if (!getOutput() != !getArrivals() ||
      (getArrivals() && !cast<PointerType>(getArrivals().getType()).getElementType().isInteger(64)))
    return emitOpError(
        "combines parts where blocks know which of them comes last, by words of i64");
  if (!getPages() != (getPage() == 0) || !getPages() != !getPagesPitch())
    return emitOpError("has a table where its tokens are in pages");
  if (static_cast<int64_t>(getPage()) < 0 || getPlaces() < 1 || getWarps() < 1 || getAhead() < 2)
    return emitOpError("has pages of tokens, places, warps, and two steps on their way at least");
  if (getScaleAxes() > (getScales() ? 3 : 0))
    return emitOpError("has scales of all pages, of each, of each token, or of blocks of its row");
  if (getBlocks() < 1 || (getBlocks() != 1 && getScaleAxes() != 3))
    return emitOpError("has scales of blocks, or one a token");
  if (getBlocks() != 1 &&
      (getHeadDim() % (32 * getBlocks()) != 0 || getValueDim() % (getHeadDim() / getBlocks()) != 0))
    return emitOpError("has blocks of whole 32 elements, with one of which values end");
  if (const size_t count = getPitches().size();
      count != 8 + 2 * getScaleAxes() && (count != 0 || !getPages()))
    return emitOpError(
        "has the pitches of queries, keys, values and scales, or none of pages without gaps");
  return eider::ir::verifyScore(*this, getScore(), getCaptured());
}

LogicalResult AttendRowsOp::verify() {
  if (getHeads() < 1 || getKvHeads() < 1 || getHeads() % getKvHeads() != 0)
    return emitOpError("has a multiple of the heads of keys");
  const bool areCodes =
      eider::ir::isCodeType(cast<PointerType>(getQueries().getType()).getElementType());
  if (getScales().size() != (getScalesOfEach() == 0 ? 0
                             : areCodes             ? 3
                                                    : 2) ||
      (getScalesOfEach() > 1 && getScalesOfEach() != getKvHeads()))
    return emitOpError("has a scale of queries, keys and values, or one a head of keys, or none");
  if (getRows() < 1 || getKeysAtOnce() < 1 || getWarps() < 1 || getSplit() < 1 ||
      getWarps() % getSplit() != 0)
    return emitOpError("has rows, keys, and warps that come in splits");
  if (getMeetsCodes() &&
      (!areCodes || getWarpgroups() || getCodec() != eider::ir::CodecPath::hardware))
    return emitOpError("has queries that are codes, and the hardware codec, where they meet keys "
                       "as codes by warps");
  if (getHeadDim() < 1 || getValueDim() < 1 ||
      (getKeys() == getValues() && getValueDim() > getHeadDim()))
    return emitOpError("has columns of keys and of values, which are the keys' or others");
  if (getWarpgroups() && getKeys() == getValues() && getValueDim() != getHeadDim())
    return emitOpError("has values of their own, or all columns of keys, by warpgroups");
  if (!getStarts() != !getCountOfStarts())
    return emitOpError("has starts and how many they are, or neither");
  if (const size_t count = getPitches().size(); count != 0 && count != 6)
    return emitOpError("has the pitches of queries, keys and values, or none");
  return eider::ir::verifyScore(*this, getScore(), getCaptured());
}

LogicalResult CombineAttentionOp::verify() {
  TileAttr tile = cast<CursorType>(getAt().getType()).getTile();
  auto vector = cast<VectorType>(getType());
  if (vector.getNumElements() != tile.elements() || !vector.getElementType().isF32())
    return emitOpError() << "is the f32 elements of a tile, not " << getType();
  if (getValueDim() % tile.getVector() != 0)
    return emitOpError("has threads whose neighbours are of one head");
  return success();
}

/// Blocks that have no tile, or several, would not meet.
LogicalResult ReduceGridOp::verify() {
  auto loop = (*this)->getParentOfType<ForTilesOp>();
  if (!loop || !loop.getOnly())
    return emitOpError("under each block's only tile: elsewhere blocks meet different times");
  auto kernel = (*this)->getParentOfType<KernelOp>();
  if (!kernel || !kernel.getCooperative())
    return emitOpError("in a kernel that is not cooperative, whose blocks may wait for blocks that "
                       "have not begun");
  if (getKind() == Reduction::sum || getKind() == Reduction::mean)
    return emitOpError("combines maxima and minima, which have no order");
  return success();
}

LogicalResult AtRowOp::verify() {
  if (llvm::cast<CursorType>(getAt().getType()).getTile().getKind() != TileKind::row)
    return emitOpError("of a tile that lies in one row alone");
  return success();
}

LogicalResult SeenOp::verify() {
  if (llvm::cast<CursorType>(getAt().getType()).getTile().getKind() != TileKind::row)
    return emitOpError("of a tile that lies in one row alone");
  if (!getFirst() && !getLast())
    return emitOpError("from a column, to one, or both");
  return success();
}

LogicalResult PositionOp::verify() {
  TileAttr tile = llvm::cast<CursorType>(getAt().getType()).getTile();
  const bool isRow = getAccess() == Access::rows;
  if (!isRow && getAccess() != Access::columns)
    return emitOpError("is that of rows or of columns");
  if (tile.getKind() == TileKind::rows)
    return emitOpError("of a tile whose threads have one row each, or a block");
  const int64_t count = !isRow                            ? tile.elements()
                        : tile.getKind() == TileKind::row ? 0
                                                          : tile.getLoads();
  auto vector = dyn_cast<VectorType>(getType());
  if ((vector ? vector.getNumElements() : 0) != count)
    return emitOpError() << "a thread holds " << count << " positions under " << tile << ", not "
                         << getType();
  return success();
}

LogicalResult StoreOp::verify() {
  TileAttr tile = cast<CursorType>(getAt().getType()).getTile();
  if (getBulk() && (getAccess() != Access::elements || getAlignment() % 16 != 0 ||
                    tile.getKind() != TileKind::row || tile.getThreads() % 32 != 0 ||
                    tile.getWidth() % (32 * tile.getVector()) != 0))
    return emitOpError("in bulk is of elements of rows on 16 bytes, which whole warps hold");
  constexpr int64_t stage = 128; // RowsOfProducts
  if (getForProducts() &&
      (getAccess() != Access::elements || getBulk() || tile.getWidth() % stage != 0 ||
       getElementTypeOrSelf(getValue().getType()).getIntOrFloatBitWidth() != 16))
    return emitOpError("for products is of 16-bit elements of rows of a multiple of ")
           << stage << ", not in bulk";
  return verifyHeld(*this, getValue().getType(), getBase().getType(), getAt().getType(),
                    getAccess(), getGroup());
}

#define GET_OP_CLASSES
#include "compiler/ir/SimtOps.cpp.inc"
