//===- EiderOps.cpp - Verifiers, folds and syntax of the eider ops --------===//
//
// Part of Eider, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//
#include "compiler/ir/Eider.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/IR/DialectImplementation.h"
#include "mlir/IR/TypeUtilities.h"
#include "llvm/ADT/StringSet.h"

using namespace mlir;
using namespace eider::ir;

#include "compiler/ir/EiderDialect.cpp.inc"

void EiderDialect::initialize() {
  registerAttributes();
  registerTypes();
  addOperations<
#define GET_OP_LIST
#include "compiler/ir/EiderOps.cpp.inc"
      >();
}

//===-- Program -----------------------------------------------------------===//

void ProgramOp::build(OpBuilder &builder, OperationState &state, StringRef name,
                      ArrayRef<StringRef> dims) {
  SmallVector<int64_t> values(dims.size(), ShapedType::kDynamic);
  state.addAttribute(getSymNameAttrName(state.name), builder.getStringAttr(name));
  state.addAttribute(getDimNamesAttrName(state.name), builder.getStrArrayAttr(dims));
  state.addAttribute(getDimValuesAttrName(state.name), builder.getDenseI64ArrayAttr(values));
  state.addRegion()->emplaceBlock();
}

int64_t ProgramOp::getDimValue(StringRef name) {
  for (auto [dim, value] : llvm::zip_equal(getDimNames(), getDimValues()))
    if (cast<StringAttr>(dim).getValue() == name)
      return value;
  return ShapedType::kDynamic;
}

bool ProgramOp::hasDim(StringRef name) {
  return llvm::any_of(getDimNames(),
                      [&](Attribute dim) { return cast<StringAttr>(dim).getValue() == name; });
}

ParseResult ProgramOp::parse(OpAsmParser &parser, OperationState &state) {
  StringAttr name;
  SmallVector<Attribute> dims;
  SmallVector<int64_t> values;
  auto parseDim = [&]() -> ParseResult {
    StringRef dim;
    if (parser.parseKeyword(&dim))
      return failure();
    dims.push_back(parser.getBuilder().getStringAttr(dim));
    values.push_back(ShapedType::kDynamic);
    return succeeded(parser.parseOptionalEqual()) ? parser.parseInteger(values.back()) : success();
  };
  Region *body = state.addRegion();
  if (parser.parseSymbolName(name, getSymNameAttrName(state.name), state.attributes) ||
      parser.parseCommaSeparatedList(AsmParser::Delimiter::Paren, parseDim) ||
      parser.parseOptionalAttrDictWithKeyword(state.attributes) || parser.parseRegion(*body))
    return failure();
  if (body->empty())
    body->emplaceBlock();
  state.addAttribute(getDimNamesAttrName(state.name), parser.getBuilder().getArrayAttr(dims));
  state.addAttribute(getDimValuesAttrName(state.name),
                     parser.getBuilder().getDenseI64ArrayAttr(values));
  return success();
}

void ProgramOp::print(OpAsmPrinter &printer) {
  printer << ' ';
  printer.printSymbolName(getSymName());
  printer << '(';
  llvm::interleaveComma(llvm::zip_equal(getDimNames(), getDimValues()), printer, [&](auto pair) {
    auto [dim, value] = pair;
    printer << cast<StringAttr>(dim).getValue();
    if (!ShapedType::isDynamic(value))
      printer << " = " << value;
  });
  printer << ')';
  printer.printOptionalAttrDictWithKeyword(
      (*this)->getAttrs(), {getSymNameAttrName(), getDimNamesAttrName(), getDimValuesAttrName()});
  printer << ' ';
  printer.printRegion(getBody(), /*printEntryBlockArgs=*/false);
}

/// The name of an argument or result op; empty for others.
static StringRef boundaryName(Operation &op) {
  if (isa<InputOp, InOutOp, ScalarOp, IntegerOp, OutputOp, ScatterOp>(op))
    if (auto name = op.getAttrOfType<StringAttr>("name"))
      return name.getValue();
  return {}; // The op's own verifier refuses one without a name.
}

/// Every tensor of the program names only dims of the program, with the extents these have.
static LogicalResult verifyDims(ProgramOp program, Operation &op, Type type) {
  auto shape = isa<ScaledType>(type)         ? cast<ScaledType>(type).getShape()
               : isa<RankedTensorType>(type) ? cast<RankedTensorType>(type).getShape()
                                             : ArrayRef<int64_t>();
  DimsAttr dims = dimsOf(type);
  if (!dims)
    return isa<RankedTensorType>(type)
               ? op.emitOpError() << "tensor type " << type << " has no #eider.dims"
               : LogicalResult(success());
  if (dims.getExprs().size() != shape.size())
    return op.emitOpError() << "type " << type << " needs one dim an axis";
  for (auto [dim, extent] : llvm::zip_equal(dims.getExprs(), shape)) {
    if (dim.name && !program.hasDim(dim.name))
      return op.emitOpError() << "dim '" << dim.name.getValue() << "' is not a dim of @"
                              << program.getSymName();
    int64_t value = dim.name ? program.getDimValue(dim.name) : 0;
    if (dim.extent(value) == DimExpr::tooLarge)
      return op.emitOpError() << "dim '" << dim.str() << "' is beyond 64 bits";
    if (dim.extent(value) != extent)
      return op.emitOpError() << "type " << type << " disagrees with dim '" << dim.str() << "'";
  }
  return success();
}

LogicalResult ProgramOp::verify() {
  if (getDimNames().size() != getDimValues().size())
    return emitOpError("needs one value a dim");
  llvm::StringSet<> dims, names;
  for (auto [dim, value] : llvm::zip_equal(getDimNames(), getDimValues())) {
    if (!dims.insert(cast<StringAttr>(dim).getValue()).second)
      return emitOpError() << "dim " << dim << " stands twice";
    if (!ShapedType::isDynamic(value) && value < 0)
      return emitOpError() << "dim " << dim << " is negative: " << value;
  }
  for (Operation &op : getBlock()) {
    StringRef name = boundaryName(op);
    if (!name.empty() && !names.insert(name).second)
      return op.emitOpError() << "the name '" << name << "' is taken";
    for (Type type : llvm::concat<const Type>(op.getOperandTypes(), op.getResultTypes()))
      if (failed(verifyDims(*this, op, type)))
        return failure();
    if (auto scatter = dyn_cast<ScatterOp>(op);
        scatter && failed(verifyDims(*this, op, scatter.getInto())))
      return failure();
  }
  return success();
}

LogicalResult StoreOp::verify() {
  int stores = 0;
  InOutOp target;
  for (Operation &op : *(*this)->getBlock()) {
    if (auto inout = dyn_cast<InOutOp>(op); inout && inout.getName() == getName())
      target = inout;
    if (auto store = dyn_cast<StoreOp>(op); store && store.getName() == getName())
      ++stores;
  }
  if (!target)
    return emitOpError() << "there is no in-out '" << getName() << "'";
  if (stores > 1)
    return emitOpError() << "the in-out '" << getName() << "' is stored twice";
  if (target.getType() != getValue().getType())
    return emitOpError() << "the in-out '" << getName() << "' is " << target.getType() << ", not "
                         << getValue().getType();
  return success();
}

/// A layout is one of plain scales: a scaled tensor's stands in its type.
static LogicalResult verifyLayout(Operation *op, LayoutAttr layout, Type type) {
  if (!layout)
    return success();
  auto tensor = dyn_cast<RankedTensorType>(type);
  if (!tensor || !isScaleType(tensor.getElementType()) || !dimsOf(tensor))
    return op->emitOpError() << "a layout is one of scales, not of " << type;
  std::string problem =
      problemOfLayout(layout.getValue(), tensor.getElementType(), dimsOf(tensor).getExprs());
  return problem.empty() ? success() : LogicalResult(op->emitOpError(problem));
}

LogicalResult InputOp::verify() { return verifyLayout(*this, getLayoutAttr(), getType()); }
LogicalResult OutputOp::verify() {
  return verifyLayout(*this, getLayoutAttr(), getValue().getType());
}

//===-- Scaled tensors ----------------------------------------------------===//

static LogicalResult verifySame(Operation *op, const char *what, Type actual, Type expected) {
  if (actual == expected)
    return success();
  return op->emitOpError() << what << " must be " << expected << ", not " << actual;
}

/// The same tensor with another element type.
static RankedTensorType withElement(Type type, Type element) {
  return cast<RankedTensorType>(type).clone(element);
}

/// Random bits are one number an element.
static LogicalResult verifyRandom(Operation *op, Value random, Type codes) {
  return verifySame(op, "the random bits", random.getType(),
                    withElement(codes, drawTypeOf(getElementTypeOrSelf(codes))));
}

Type eider::ir::drawTypeOf(Type format) {
  return IntegerType::get(format.getContext(), 2 * format.getIntOrFloatBitWidth());
}

LogicalResult QuantizeOp::verify() {
  auto result = cast<ScaledType>(getResult().getType());
  Type codes = withElement(getInput().getType(), result.getElementType());
  if (failed(verifySame(*this, "the result's codes", result.getCodesType(), codes)))
    return failure();
  if (isTwoLevelType(result.getScaleType()) != bool(getGlobal()))
    return emitOpError() << "scales of " << result.getScaleType()
                         << (getGlobal() ? " have one level" : " have a second level")
                         << ": give `under` with those of two levels alone";
  if (getGlobal() && !isOneValue(cast<RankedTensorType>(getGlobal().getType())))
    return emitOpError() << "the second level of the scales is one value, not "
                         << getGlobal().getType();
  const bool isStochastic = getNumerics().getRounding() == Rounding::stochastic;
  if (isStochastic != bool(getRandom()))
    return emitOpError("takes random bits where its rounding is stochastic, and there alone");
  if (isStochastic && failed(verifyRandom(*this, getRandom(), codes)))
    return failure();
  if (isStochastic && getNumerics().getOverflow() == Overflow::format)
    return emitOpError("rounds stochastically, which saturates; take overflow saturate");
  if (getScale())
    return verifySame(*this, "the given scale", getScale().getType(), result.getScalesType());
  std::string problem = problemOfNumerics(getNumerics(), result.getScaleType());
  return problem.empty() ? success() : LogicalResult(emitOpError(problem));
}

std::string eider::ir::problemOfNumerics(NumericsAttr numerics, Type scaleType) {
  bool isPower = numerics.getPowerOfTwo() != PowerOfTwo::none;
  bool isInverse = numerics.getScale() == ScaleFormula::inverse_of_max_over_amax;
  if (isa<Float8E8M0FNUType>(scaleType) && !isPower)
    return "scales of e8m0 are powers of two, but power_of_two is none; take floor, ceil, rceil or "
           "even";
  if (isTwoLevelType(scaleType) && isPower)
    return "scales of two levels are no powers of two; take power_of_two none, or scales of e8m0";
  if (scaleType.isF16() && isPower)
    return "scales of f16 do not hold every power of two; take power_of_two none, or scales of "
           "f32, "
           "bf16 or e8m0";
  bool isRounded = isPower || !scaleType.isF32();
  if (!isInverse && isRounded && numerics.getArithmetic() == Arithmetic::max_over_amax)
    return "arithmetic max_over_amax multiplies by the inverse of a scale that was not rounded; "
           "take "
           "divide or reciprocal where scales are powers of two or narrower than f32";
  if (isInverse && numerics.getArithmetic() != Arithmetic::max_over_amax)
    return "scale inverse_of_max_over_amax goes with arithmetic max_over_amax alone; take that";
  if (isInverse && (isPower ? numerics.getPowerOfTwo() != PowerOfTwo::rceil : isRounded))
    return "scale inverse_of_max_over_amax is stored in f32, or rounded by power_of_two rceil; "
           "take "
           "one of both";
  if (!isInverse && numerics.getZeroBlock() == ZeroBlock::one_if_not_finite)
    return "zero_block one_if_not_finite goes with scale inverse_of_max_over_amax alone; take one "
           "or "
           "formula";
  return "";
}

LogicalResult DequantizeOp::verify() {
  auto input = cast<ScaledType>(getInput().getType());
  return verifySame(*this, "the result", getResult().getType(),
                    withElement(input.getCodesType(), Float32Type::get(getContext())));
}

LogicalResult EncodeOp::verify() {
  auto element = cast<RankedTensorType>(getResult().getType()).getElementType();
  const auto wide = withElement(getInput().getType(), Float32Type::get(getContext()));
  if (getDivisor() && failed(verifySame(*this, "the divisor", getDivisor().getType(), wide)))
    return failure();
  if (getLargest() &&
      failed(verifySame(*this, "the largest magnitude", getLargest().getType(), wide)))
    return failure();
  if (getLargest() && (getOverflowToFormat() || getIgnoreNan()))
    return emitOpError("within a largest magnitude saturates and keeps NaN");
  if (getBounded() && !getDivisor() && !getLargest())
    return emitOpError("is bounded by nothing: give a divisor or a largest magnitude");
  if (getBounded() && getLargest() && getRandom())
    return emitOpError("of random bits is not bounded by a largest magnitude, which they may pass");
  if (getDivisor() && (getOverflowToFormat() || getIgnoreNan()))
    return emitOpError("of a quotient saturates and keeps NaN; divide first for anything else");
  if (getRandom() && getOverflowToFormat())
    return emitOpError("rounds stochastically, which saturates");
  if (getRandom() && getCodec() == CodecPath::hardware)
    return emitOpError("rounds stochastically, which no instruction does from these bits");
  if (getRandom() && !getDivisor() && !getElementTypeOrSelf(getInput().getType()).isF32())
    return emitOpError("rounds f32, or a quotient, stochastically; widen first");
  if (getRandom() &&
      failed(verifyRandom(*this, getRandom(), withElement(getInput().getType(), element))))
    return failure();
  return verifySame(*this, "the result", getResult().getType(),
                    withElement(getInput().getType(), element));
}

LogicalResult DecodeOp::verify() {
  return verifySame(*this, "the result", getResult().getType(),
                    withElement(getInput().getType(), Float32Type::get(getContext())));
}

/// The operand of an exact widening bf16/f16 → f32, else null.
static Value narrowOperand(Value value) {
  auto widen = value.getDefiningOp<arith::ExtFOp>();
  const Type narrow = widen ? getElementTypeOrSelf(widen.getIn().getType()) : Type();
  return widen && (narrow.isBF16() || narrow.isF16()) ? widen.getIn() : Value();
}

LogicalResult EncodeOp::canonicalize(EncodeOp op, PatternRewriter &rewriter) {
  Value narrow = op.getDivisor() ? narrowOperand(op.getInput()) : Value();
  if (!narrow)
    return failure();
  rewriter.modifyOpInPlace(op, [&] { op.getInputMutable().assign(narrow); });
  return success();
}

//===-- Values ------------------------------------------------------------===//

static ParseResult parseBlockExtents(OpAsmParser &parser, DenseI64ArrayAttr &block) {
  SmallVector<int64_t> extents;
  auto parseOne = [&]() -> ParseResult {
    extents.push_back(ShapedType::kDynamic);
    if (succeeded(parser.parseOptionalStar()))
      return success();
    return parser.parseInteger(extents.back());
  };
  if (parser.parseCommaSeparatedList(AsmParser::Delimiter::Square, parseOne))
    return failure();
  block = parser.getBuilder().getDenseI64ArrayAttr(extents);
  return success();
}

static void printBlockExtents(OpAsmPrinter &printer, Operation *, DenseI64ArrayAttr block) {
  printer << '[';
  llvm::interleaveComma(block.asArrayRef(), printer, [&](int64_t extent) {
    if (ShapedType::isDynamic(extent))
      printer << '*';
    else
      printer << extent;
  });
  printer << ']';
}

/// Whether a type names one dim an axis.
static bool namesItsDims(Type type) {
  DimsAttr dims = dimsOf(type);
  return dims &&
         dims.getExprs().size() == static_cast<size_t>(cast<RankedTensorType>(type).getRank());
}

LogicalResult ReduceOp::verify() {
  auto input = cast<RankedTensorType>(getInput().getType());
  bool amax = getKind() == Reduction::amax || getKind() == Reduction::amax_number;
  if (!amax && !input.getElementType().isF32())
    return emitOpError() << stringifyReduction(getKind()) << " reduces f32, not "
                         << input.getElementType();
  if (getBlock().size() != static_cast<size_t>(input.getRank()))
    return emitOpError() << "a block has its tensor's rank " << input.getRank() << ", not "
                         << getBlock().size();
  for (int64_t extent : getBlock())
    if (!ShapedType::isDynamic(extent) && (extent < 1 || extent > INT32_MAX))
      return emitOpError("a block's extents are 1 to 2147483647, or *");
  if (!namesItsDims(input))
    return emitOpError() << "tensor type " << input << " has no #eider.dims, one an axis";
  return verifySame(*this, "the result", getResult().getType(), reducedType(input, getBlock()));
}

LogicalResult ContractOp::verify() {
  const bool isScaled = isa<ScaledType>(getWeights().getType()),
             isVectorScaled = isa<ScaledType>(getVector().getType());
  if ((isScaled && getScales()) || (isVectorScaled && getVectorScales()))
    return emitOpError("weights that are scaled have their scales; others are given `by`");
  const RankedTensorType weights = weightsType(), vector = vectorType();
  const int64_t axes =
      getEnds() || (isOfMatrices() && isOfGroups()) ? 1 : 0; // before those of a matrix
  if (!namesItsDims(weights) || weights.getRank() != axes + 2)
    return emitOpError(getEnds() ? "weights are a matrix a group with #eider.dims, one an axis"
                                 : "weights are a matrix, or one a batch of a matrix' rows, with "
                                   "#eider.dims, one an axis");
  const bool hasCodes = isCodeType(weights.getElementType()),
             isOfCodes = isCodeType(vector.getElementType());
  if (isOfMatrices() && !(isScaled || (hasCodes && getScales())))
    return emitOpError("multiplies matrices where the weights are scaled; dequantise nothing");
  if (!isOfMatrices() && !isScaled && hasCodes)
    return emitOpError("multiplies a vector by values: decode the codes");
  if (isOfMatrices() && !namesItsDims(vector))
    return emitOpError("multiplies a matrix with #eider.dims, one an axis");
  const bool isBy = bool(getVectorScales());
  if (isOfCodes ? !isOfMatrices() || isVectorScaled != isScaled || isVectorScaled == isBy : isBy)
    return emitOpError("multiplies codes that are a matrix, by their scales as the weights are");
  if (getEnds() &&
      (!isOfMatrices() || !namesItsDims(getEnds().getType()) ||
       dimsOf(getEnds().getType()).getExprs() != dimsOf(weights).getExprs().take_front()))
    return emitOpError("has groups of a matrix's rows, and an end for each of the weights'");
  // The vector's type, or the result's: with an axis of the weights, in each row of the matrix.
  auto part = [&](int64_t axis, Type element) {
    SmallVector<int64_t> shape = {weights.getShape()[axes + axis]};
    SmallVector<DimExpr> dims = {dimsOf(weights).getExprs()[axes + axis]};
    if (isOfMatrices()) {
      shape.insert(shape.begin(), vector.getShape().front());
      dims.insert(dims.begin(), dimsOf(vector).getExprs().front());
    }
    return RankedTensorType::get(shape, element, DimsAttr::get(getContext(), dims));
  };
  const Type f32 = Float32Type::get(getContext());
  if (failed(verifySame(*this, "the vector", vector,
                        part(1, isOfMatrices() ? vector.getElementType() : f32))))
    return failure();
  return verifySame(*this, "the result", getResult().getType(), part(0, f32));
}

bool eider::ir::isElementwise(Operation &op) {
  auto isNumber = [](Type type) {
    return type.isF32() || type.isF16() || type.isBF16() || type.isInteger(1);
  };
  return isa<arith::ArithDialect, math::MathDialect>(op.getDialect()) || isa<SigmoidOp, GeluOp>(op)
             ? llvm::all_of(op.getOperandTypes(), isNumber) &&
                   llvm::all_of(op.getResultTypes(), isNumber)
             : false;
}

bool eider::ir::changesScores(Region &score) {
  return !score.empty() &&
         score.front().getTerminator()->getOperand(0) != score.front().getArgument(0);
}

LogicalResult eider::ir::verifyScore(Operation *op, Region &score, ValueRange captured) {
  if (score.empty())
    return captured.empty() ? success() : op->emitOpError("captures what no score function takes");
  Block &block = score.front();
  const size_t count = scoreArguments + captured.size();
  if (block.getNumArguments() != count ||
      !llvm::all_of(block.getArgumentTypes(), [](Type type) { return type.isF32(); }))
    return op->emitOpError() << "has a score function of " << count
                             << " f32: the score, the positions of query and key, the head, and "
                                "what it captures";
  if (block.empty() || !isa<YieldOp>(block.back()))
    return op->emitOpError("has a score function that ends with eider.yield");
  return success();
}

/// The same where it captures arguments of a program, and its ops are those of tensors.
static LogicalResult verifyScoreOfProgram(Operation *op, Region &score, ValueRange captured,
                                          const DimExpr &heads) {
  if (failed(eider::ir::verifyScore(op, score, captured)))
    return failure();
  for (Value value : captured) {
    auto type = dyn_cast<RankedTensorType>(value.getType());
    if (!type && !value.getDefiningOp<ScalarOp>())
      return op->emitOpError("has a score function that captures a number which is no scalar of "
                             "the program: compute it in the function");
    if (type && (type.getRank() != 1 || dimsOf(type).getExprs()[0] != heads))
      return op->emitOpError() << "has a score function that captures " << type
                               << ": give one value a query head";
  }
  if (score.empty())
    return success();
  for (Operation &inner : score.front().without_terminator())
    if (!isElementwise(inner))
      return inner.emitOpError("in a score function, which computes numbers of numbers");
  return success();
}

/// Of what has a kernel of its own, which reads what the launch gives, and queries, which a kernel
/// before may compute.
static LogicalResult verifyReadsInputs(Operation *op) {
  for (OpOperand &given : op->getOpOperands()) {
    const Value operand = given.get();
    if (operand.getType().isF32())
      continue; // what a score function captures
    if (given.getOperandNumber() != 0 && !operand.getDefiningOp<InputOp>())
      return op->emitOpError("reads inputs, but for queries: what else is computed is a program's "
                             "of its own");
    if (!namesItsDims(operand.getType()))
      return op->emitOpError("is of tensors with #eider.dims, one an axis");
  }
  return success();
}

bool AttentionOp::isOfCodes() { return isCodeType(getElementTypeOrSelf(getKeys().getType())); }

bool AttentionOp::isOfLatents() { return getKeys() == getValues(); }

DimExpr AttentionOp::mostOfEach() {
  return dimsOf((getPages() ? getPages() : getKeys()).getType()).getExprs()[1];
}

LogicalResult AttentionOp::verify() {
  if (failed(verifyReadsInputs(*this)))
    return failure();
  auto typeOf = [](Value value) { return cast<RankedTensorType>(value.getType()); };
  auto extents = [&](Value value) { return dimsOf(typeOf(value)).getExprs(); };
  const RankedTensorType queries = typeOf(getQueries()), keys = typeOf(getKeys());
  if (queries.getRank() != 3 || keys.getRank() != 4 || typeOf(getLengths()).getRank() != 1 ||
      (getPages() && typeOf(getPages()).getRank() != 2))
    return emitOpError("is of queries [b, h, d], keys and values [pages, page, kv_heads, d], pages "
                       "[b, n] and lengths [b]");
  if (getKeys().getType() != getValues().getType())
    return emitOpError() << "has keys of " << keys << " and values of " << getValues().getType();
  if (extents(getLengths())[0] != extents(getQueries())[0] ||
      (getPages() && extents(getPages())[0] != extents(getQueries())[0]))
    return emitOpError("has as many rows of pages, and lengths, as sequences");
  if (!getPages() && extents(getKeys())[0] != extents(getQueries())[0])
    return emitOpError("has a page of each sequence where no table says which are whose");
  if (extents(getQueries())[2] != extents(getKeys())[3])
    return emitOpError("has queries and keys of one length");
  if (static_cast<int64_t>(getWindow()) < 0)
    return emitOpError("has a window of some tokens, or 0 for all");
  if (!getKeyScale() != !getValueScale() || (getKeyScale() && !isOfCodes()))
    return emitOpError("has scales of keys and of values, where these are codes, or none");
  for (Value scale : {getKeyScale(), getValueScale()}) {
    if (!scale)
      continue;
    const int64_t rank = typeOf(scale).getRank();
    const size_t axes = std::clamp<int64_t>(rank - 1, 0, 2); // before that of heads
    if (rank < 1 || rank > 4 ||
        extents(scale).take_front(axes) != extents(getKeys()).take_front(axes))
      return emitOpError("has scales [s], [pages, s], [pages, page, s] or [pages, page, s, "
                         "blocks], one in all or one a KV head");
  }
  if (failed(verifyScoreOfProgram(*this, getScore(), getCaptured(), extents(getQueries())[1])))
    return failure();
  const RankedTensorType result = getType();
  if (isOfLatents() && result.getRank() == 3 && namesItsDims(result) &&
      extents(getResult()).drop_back() == extents(getQueries()).drop_back())
    return success();
  return verifySame(*this, "the result", result,
                    RankedTensorType::get(queries.getShape(), Float32Type::get(getContext()),
                                          queries.getEncoding()));
}

unsigned PrefillOp::mostScales() {
  return isCodeType(getElementTypeOrSelf(getQueries().getType())) ? 3 : 2;
}

bool PrefillOp::mayMeetAsCodes() {
  return isa<Float8E4M3FNType, Float8E5M2Type>(getElementTypeOrSelf(getQueries().getType()));
}

bool PrefillOp::isOfLatents() { return getKeys() == getValues(); }

LogicalResult PrefillOp::verify() {
  if (failed(verifyReadsInputs(*this)))
    return failure();
  auto typeOf = [](Value value) { return cast<RankedTensorType>(value.getType()); };
  const RankedTensorType queries = typeOf(getQueries()), keys = typeOf(getKeys()),
                         values = typeOf(getValues());
  if (queries.getRank() != 3 || keys.getRank() != 3 || values.getRank() != 3)
    return emitOpError("is of queries [s, h, d], keys [s, kv_heads, d] and values "
                       "[s, kv_heads, e]");
  const auto ofQueries = dimsOf(queries).getExprs(), ofKeys = dimsOf(keys).getExprs(),
             ofValues = dimsOf(values).getExprs();
  if (ofKeys.drop_back() != ofValues.drop_back() ||
      keys.getElementType() != values.getElementType() ||
      (isCodeType(queries.getElementType()) && keys.getElementType() != queries.getElementType()))
    return emitOpError() << "has queries of " << queries << ", keys of " << keys
                         << " and values of " << values;
  if (ofQueries[0] != ofKeys[0] || ofQueries[2] != ofKeys[2])
    return emitOpError("has as many queries as keys, of one length");
  if (!getScales().empty() && getScales().size() != mostScales())
    return emitOpError("has scales of queries, if they are codes, keys and values, or none");
  for (Value scale : getScales())
    if (typeOf(scale).getRank() != 1 || scale.getType() != getScales().front().getType())
      return emitOpError("has one scale in all, or one a KV head, of each");
  if (getStarts() && typeOf(getStarts()).getRank() != 1)
    return emitOpError("has starts [sequences + 1]");
  if (failed(verifyScoreOfProgram(*this, getScore(), getCaptured(), ofQueries[1])))
    return failure();
  const auto result = cast<RankedTensorType>(getResult().getType());
  if (isOfLatents() && result.getRank() == 3 && namesItsDims(result) &&
      dimsOf(result).getExprs().drop_back() == ofQueries.drop_back())
    return success();
  const DimExpr axes[] = {ofQueries[0], ofQueries[1], ofValues[2]};
  const int64_t shape[] = {queries.getShape()[0], queries.getShape()[1], values.getShape()[2]};
  return verifySame(*this, "the result", result,
                    RankedTensorType::get(shape, Float32Type::get(getContext()),
                                          DimsAttr::get(getContext(), axes)));
}

LogicalResult ReduceOp::canonicalize(ReduceOp op, PatternRewriter &rewriter) {
  bool amax = op.getKind() == Reduction::amax || op.getKind() == Reduction::amax_number;
  Value narrow = amax ? narrowOperand(op.getInput()) : Value();
  if (!narrow)
    return failure();
  rewriter.modifyOpInPlace(op, [&] { op.getInputMutable().assign(narrow); });
  return success();
}

LogicalResult BroadcastOp::verify() {
  auto result = cast<RankedTensorType>(getResult().getType());
  Type element = getElementTypeOrSelf(getInput().getType());
  if (element != result.getElementType())
    return emitOpError() << "keeps the element type " << element << ", not "
                         << result.getElementType();
  auto input = dyn_cast<RankedTensorType>(getInput().getType());
  if (!input)
    return success();
  if (!namesItsDims(input) || !namesItsDims(result))
    return emitOpError("needs tensors with #eider.dims, one an axis");
  auto from = dimsOf(input).getExprs(), to = dimsOf(result).getExprs();
  if (from.size() > to.size())
    return emitOpError() << "cannot drop dims of " << input;
  for (auto [small, large] : llvm::zip_equal(from, to.take_back(from.size())))
    if (!small.isOne() && small != large &&
        !(small.name == large.name && small.factor == large.factor &&
          small.divisor % large.divisor == 0))
      return emitOpError() << "dim '" << small.str() << "' does not broadcast to '" << large.str()
                           << "'";
  return success();
}

OpFoldResult BroadcastOp::fold(FoldAdaptor) {
  return getInput().getType() == getResult().getType() ? getInput() : OpFoldResult();
}

LogicalResult HalfOp::verify() {
  auto input = cast<RankedTensorType>(getInput().getType());
  auto result = cast<RankedTensorType>(getResult().getType());
  if (input.getRank() < 1 || input.getRank() != result.getRank() ||
      input.getElementType() != result.getElementType() || !namesItsDims(input) ||
      !namesItsDims(result))
    return emitOpError() << "halves the last axis of a tensor and keeps the rest";
  DimExpr whole = dimsOf(input).getExprs().back(), half = dimsOf(result).getExprs().back();
  if (whole.divisor != 1 || half.divisor != 1 || whole.name != half.name ||
      whole.factor != 2 * half.factor ||
      dimsOf(input).getExprs().drop_back() != dimsOf(result).getExprs().drop_back())
    return emitOpError() << "'" << half.str() << "' is not half of '" << whole.str() << "'";
  return success();
}

RankedTensorType eider::ir::transposedType(RankedTensorType type) {
  SmallVector<DimExpr> dims(llvm::reverse(dimsOf(type).getExprs()));
  SmallVector<int64_t> shape(llvm::reverse(type.getShape()));
  return RankedTensorType::get(shape, type.getElementType(),
                               DimsAttr::get(type.getContext(), dims));
}

void TransposeOp::build(OpBuilder &, OperationState &state, Value input) {
  state.addOperands(input);
  state.addTypes(transposedType(cast<RankedTensorType>(input.getType())));
}

LogicalResult TransposeOp::verify() {
  auto input = cast<RankedTensorType>(getInput().getType());
  if (input.getRank() != 2 || !namesItsDims(input))
    return emitOpError() << "exchanges the rows and columns of a matrix, not of " << input;
  return verifySame(*this, "the result", getResult().getType(), transposedType(input));
}

OpFoldResult TransposeOp::fold(FoldAdaptor) {
  if (auto first = getInput().getDefiningOp<TransposeOp>())
    return first.getInput();
  // One value has one order; a square matrix of one dim, whose type is its own transpose's, has
  // not.
  const bool isOne = llvm::all_of(dimsOf(getInput().getType()).getExprs(),
                                  [](const DimExpr &dim) { return dim.isOne(); });
  return isOne ? getInput() : OpFoldResult();
}

#define GET_OP_CLASSES
#include "compiler/ir/EiderOps.cpp.inc"
