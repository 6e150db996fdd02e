//===- ProductDomain.cpp - Products, as their kernels have them -----------===//
//
// Part of Eider, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//
#include "compiler/transforms/Domain.h"

#include <numeric>

using namespace mlir;
using namespace eider::ir;
using namespace eider::transforms;

/// Notes the scales of one of a product's matrices, of which so many along a row share one.
static LogicalResult noteScales(Domain &domain, ContractOp op, std::optional<int64_t> block,
                                Value scales) {
  if (block && (*block < 16 || !llvm::isPowerOf2_64(*block)))
    return op.emitError() << "multiplies codes in blocks of " << *block
                          << " along their rows: a power of two from 16 on, or the whole row (1x*)";
  if (scales.getDefiningOp()->hasAttr("layout"))
    return op.emitError("multiplies codes whose scales have a layout of their own; take row_major");
  if (block && *block < op.weightsType().getShape().back()) {
    domain.blockOfWeights = std::max(domain.blockOfWeights, *block);
    constexpr int64_t stage = 128;
    domain.byWarpgroups &= *block == stage || (op.foldsScales() && *block < stage);
  }
  return success();
}

/// Notes the groups of rows of a product: those of all others, if any.
static LogicalResult noteRowGroups(Domain &domain, ContractOp op) {
  const auto weights = cast<RankedTensorType>(op.getWeights().getType());
  const int64_t groups = op.isOfGroups() ? weights.getShape().front() : 0;
  if (ShapedType::isDynamic(groups))
    return op.emitError() << "dim '" << dimsOf(weights).getExprs().front().str()
                          << "' counts the groups of rows and must be static: give it a value";
  if (op.isOfGroups() && groups < 1)
    return op.emitError("multiplies rows in no groups: give at least one");
  if (groups > 1 && op.getScales() &&
      dimsOf(op.getScales().getType()).getExprs().front() != dimsOf(weights).getExprs().front())
    return op.emitError("multiplies by scales that several groups' weights share: give each group "
                        "its own, of blocks of 1 x ...");
  const std::string ends =
      op.getEnds() ? op.getEnds().getDefiningOp<InputOp>().getName().str() : std::string();
  if (domain.products && (ends != domain.endsOfGroups || groups != domain.rowGroups))
    return op.emitError("multiplies rows in other groups than another product of the program: do "
                        "that in a program of its own");
  domain.rowGroups = groups;
  domain.endsOfGroups = ends;
  return success();
}

/// Notes a product of two matrices in memory, which is elements of the program's.
static LogicalResult noteProduct(Domain &domain, ContractOp op) {
  for (Value operand : op.getOperands()) // rows that are computed have a program of their own
    if (!isa_and_nonnull<InputOp>(operand.getDefiningOp()))
      return op.emitError("multiplies by computed weights, scales or ends: give these as inputs");
  std::optional<Level> level = domain.levelOf(op.getType());
  if (!level || level->kind != LevelKind::elements || level->transposed)
    return op.emitError() << "gives " << op.getType() << ", which is not the program's matrix ["
                          << domain.rows.str() << ", " << domain.columns.str() << "]";
  auto weights = cast<RankedTensorType>(op.getWeights().getType());
  const int64_t length = weights.getShape().back();
  if (ShapedType::isDynamic(length))
    return op.emitError() << "dim '" << dimsOf(weights).getExprs().back().str()
                          << "' runs along the rows and must be static: give it a value";
  if (length < 1 || length > widestRow)
    return op.emitError() << "multiplies rows of " << length << " elements; 1 to " << widestRow;
  if (packingOf(weights.getElementType()) > 1 && length % 2 != 0)
    return op.emitError() << "multiplies codes of which two are a byte: rows of an even number, "
                          << "not of " << length;
  if (failed(noteRowGroups(domain, op)))
    return failure();
  ++domain.products;
  const RankedTensorType vector = op.vectorType();
  const int64_t bitsOfVector = vector.getElementTypeBitWidth();
  if (bitsOfVector < 8)
    return op.emitError("multiplies x of codes of which two are a byte: give it as e4m3 or e5m2");
  if (op.getVectorScales())
    if (auto dims = dimsOf(op.getVectorScales().getType()).getExprs();
        !dims[0].isOne() && dims[0] != dimsOf(vector).getExprs()[0])
      return op.emitError("multiplies x in blocks of several rows: one of each row, or of all");
  if (failed(noteScales(domain, op, op.weightsBlock(), op.getScales())) ||
      (op.getVectorScales() &&
       failed(noteScales(domain, op, op.vectorBlock(), op.getVectorScales()))))
    return failure();
  domain.bitsOfVectors = std::max(domain.bitsOfVectors, bitsOfVector);
  domain.packsWeights &= packingOf(weights.getElementType()) > 1;
  domain.foldsScales |= op.foldsScales();
  domain.lengthOfRows = std::max(domain.lengthOfRows, length);
  domain.meetsCodes = op.meetAsCodes() && (domain.products == 1 || domain.meetsCodes);
  // A kernel before holds the rows, of which it needs the largest element.
  const bool becomesF16 = op.mayMeetAsF16() && length <= domain.longestHeld() &&
                          !dimsOf(vector).getExprs()[0].isOne(); // else all is one row
  const bool takesF16 = becomesF16 || op.getVector().getDefiningOp()->hasAttr(asF16Name);
  domain.takesF16 = takesF16 && (domain.products == 1 || domain.takesF16);
  domain.convertsToF16 =
      op.getCodec() == CodecPath::hardware || isa<Float8E5M2Type>(weights.getElementType());
  const bool isWhole = op.foldsScales() ? length % 128 == 0
                                        : weights.getElementTypeBitWidth() == 8 && length % 16 == 0;
  domain.byWarpgroups &=
      domain.products == 1 && (bitsOfVector == 16 || domain.meetsCodes) && isWhole;
  return success();
}

/// Whether scales of groups, where there are such, are read as they are used.
static bool isAsInMemory(const Domain &domain, Value scales) {
  if (!scales || scales.getDefiningOp<InputOp>())
    return true;
  const std::optional<Level> level = domain.levelOf(scales.getType());
  return level && (level->kind == LevelKind::rows || level->kind == LevelKind::uniform);
}

/// Notes a product of the program's matrix and one of its column vectors.
LogicalResult eider::transforms::noteContraction(Domain &domain, ContractOp op) {
  if (op.isOfMatrices())
    return noteProduct(domain, op);
  std::optional<Level> weights = domain.levelOf(op.getWeights().getType());
  if (!weights || weights->kind != LevelKind::elements || weights->transposed)
    return op.emitError("contracts what is not the program's whole matrix; contract its elements");
  if (domain.rows == domain.columns || domain.rows.isOne())
    return op.emitError() << "contracts a matrix of " << domain.rows.str() << " x "
                          << domain.columns.str()
                          << ", whose rows have no dim of their own: declare one for each axis";
  domain.meetsPairs = op.mayMeetAsPairs() && (domain.meetsPairs || !domain.contracts);
  domain.comesAhead = op.mayMeetAsPairs() && !op.foldsScales() && !domain.contracts &&
                      isAsInMemory(domain, op.getScales());
  domain.foldsPairs = op.foldsScales() && (domain.foldsPairs || !domain.contracts);
  domain.blockOfPairs = std::gcd(domain.blockOfPairs, op.weightsBlock().value_or(0));
  domain.contracts = true;
  domain.reducesRows = true;
  ++domain.rowReductions;
  return success();
}
