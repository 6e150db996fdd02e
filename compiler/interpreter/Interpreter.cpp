//===- Interpreter.cpp - The eider dialect, op by op ----------------------===//
//
// Part of Eider, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//
#include "compiler/interpreter/Interpreter.h"

#include "compiler/dsl/ProgramImpl.h"
#include "compiler/interpreter/Attention.h"
#include "compiler/interpreter/Blocks.h"
#include "compiler/interpreter/Boundary.h"
#include "compiler/interpreter/Elementwise.h"
#include "compiler/interpreter/Quantize.h"
#include "compiler/interpreter/Random.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/IR/TypeUtilities.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace eider;
using namespace eider::interpreter;
using namespace mlir;

namespace {
class Machine {
public:
  Machine(ir::ProgramOp program, const std::vector<HostTensor> &inputs,
          const std::map<std::string, double> &scalars)
      : program(program), boundary(program, inputs), scalars(scalars) {
    checkScalars();
  }

  std::vector<ProgramResult> run() {
    for (Operation &op : program.getBlock()) {
      execute(&op);
      release(&op);
    }
    return std::move(results);
  }

private:
  void checkScalars();
  void execute(Operation *op);
  bool executeArgument(Operation *op);
  bool executeResult(Operation *op);
  bool executeScaled(Operation *op);
  bool executeShape(Operation *op);
  bool executeIndex(Operation *op);
  void executeScatter(ir::ScatterOp op);
  bool executeArithmetic(Operation *op);
  void executeBroadcast(ir::BroadcastOp op);
  void executeTranspose(ir::TransposeOp op);
  void release(Operation *op);

  Tensor constant(arith::ConstantOp op);
  Tensor scalar(ir::ScalarOp op);
  Tensor integer(ir::IntegerOp op);
  Tensor randomBits(ir::RandomOp op);
  Tensor contraction(ir::ContractOp op);
  ChangeScores scoreOf(Region &score, ValueRange captured);
  Tensor attention(ir::AttentionOp op);
  Tensor prefill(ir::PrefillOp op);
  std::vector<uint16_t> randomOf(mlir::Value value) const;
  ScaledTensor scaledInput(StringRef name, ir::ScaledType type);
  CodeTensor codesInput(const std::string &name, Type type);
  Tensor floatsOf(mlir::Value value);

  template <class T = Tensor> const T &get(mlir::Value value) const {
    const auto *found = std::get_if<T>(&values.find(value)->second);
    if (!found)
      throw Error(ErrorKind::Internal, "an operand is not of the kind that its op takes",
                  boundary.where());
    return *found;
  }
  void set(mlir::Value value, RuntimeValue result) { values[value] = std::move(result); }

  ir::ProgramOp program;
  Boundary boundary;
  const std::map<std::string, double> &scalars;
  llvm::DenseMap<mlir::Value, RuntimeValue> values;
  llvm::DenseMap<mlir::Value, int> executedUses;
  std::vector<ProgramResult> results;
};
} // namespace

void Machine::checkScalars() {
  for (auto &[name, value] : scalars) {
    bool known = llvm::any_of(program.getBlock(), [&, &name = name](Operation &op) {
      return isa<ir::ScalarOp, ir::IntegerOp>(op) &&
             op.getAttrOfType<StringAttr>("name").getValue() == name;
    });
    if (!known)
      throw Error(ErrorKind::Request, "there is no scalar '" + name + "'", boundary.where(),
                  "set only scalars of the program");
  }
}

/// A value is dropped after its last use: tensors are large.
void Machine::release(Operation *op) {
  for (mlir::Value operand : op->getOperands())
    if (++executedUses[operand] == static_cast<int>(llvm::range_size(operand.getUses())))
      values.erase(operand);
}

void Machine::execute(Operation *op) {
  if (executeArgument(op) || executeResult(op) || executeScaled(op) || executeShape(op) ||
      executeIndex(op) || executeArithmetic(op))
    return;
  throw Error(ErrorKind::Request,
              "the reference has no op '" + op->getName().getStringRef().str() + "'",
              boundary.where(),
              "write the program in the eider dialect with arith and math, before any pass");
}

//===-- Arguments and results ---------------------------------------------===//

Tensor Machine::scalar(ir::ScalarOp op) {
  Tensor result(DType::f32, {});
  auto given = scalars.find(op.getName().str());
  double value = given == scalars.end() ? op.getValue().convertToFloat() : given->second;
  result.values[0] = roundTo(DType::f32, value);
  return result;
}

Tensor Machine::integer(ir::IntegerOp op) {
  Tensor result(DType::i64, {});
  auto given = scalars.find(op.getName().str());
  result.values[0] =
      given == scalars.end() ? static_cast<double>(int64_t(op.getValue())) : given->second;
  if (result.values[0] != std::trunc(result.values[0]) || std::abs(result.values[0]) > 0x1p53)
    throw Error(ErrorKind::Request, "the integer '" + op.getName().str() + "' is no integer",
                boundary.where(), "give one of magnitude up to 2^53");
  return result;
}

Tensor Machine::randomBits(ir::RandomOp op) {
  Tensor bits(DType::i32, boundary.extentsOf(op.getType()));
  const auto seed = static_cast<int64_t>(get(op.getSeed()).values[0]),
             offset = static_cast<int64_t>(get(op.getOffset()).values[0]);
  const unsigned width = op.getType().getElementTypeBitWidth();
  for (int64_t i = 0; i < bits.size(); ++i)
    bits.values[i] = interpreter::randomBits(seed, offset, i, width);
  return bits;
}

/// The random bits of stochastic rounding; none for another.
std::vector<uint16_t> Machine::randomOf(mlir::Value value) const {
  std::vector<uint16_t> bits;
  if (value)
    for (double number : get(value).values)
      bits.push_back(static_cast<uint16_t>(number));
  return bits;
}

CodeTensor Machine::codesInput(const std::string &name, Type type) {
  CodeTensor codes;
  codes.format = elementDType(cast<RankedTensorType>(type).getElementType());
  codes.codes = boundary.codes(name);
  codes.operand = Tensor(DType::f32, boundary.extentsOf(type));
  for (size_t i = 0; i < codes.codes.size(); ++i)
    codes.operand.values[i] = decodeFp8(codes.format, codes.codes[i]);
  return codes;
}

ScaledTensor Machine::scaledInput(StringRef name, ir::ScaledType type) {
  ScaledTensor scaled;
  scaled.codes = codesInput(name.str(), type.getCodesType());
  scaled.scales = boundary.floats((name + "_scale").str());
  scaled.block = blockExtents(type.getBlock(), scaled.codes.operand.shape);
  if (ir::isTwoLevelType(type.getScaleType()))
    scaled.global = boundary.floats((name + "_global_scale").str());
  return scaled;
}

/// Scales, which are codes where the type of scales is one of codes, too.
Tensor Machine::floatsOf(mlir::Value value) {
  const auto *codes = std::get_if<CodeTensor>(&values.find(value)->second);
  if (!codes)
    return get(value);
  Tensor result(codes->format, codes->operand.shape);
  result.values = decode(*codes).values;
  return result;
}

bool Machine::executeArgument(Operation *op) {
  if (auto scalarOp = dyn_cast<ir::ScalarOp>(op)) {
    set(scalarOp, scalar(scalarOp));
    return true;
  }
  if (auto integerOp = dyn_cast<ir::IntegerOp>(op)) {
    set(integerOp, integer(integerOp));
    return true;
  }
  if (auto input = dyn_cast<ir::InputOp>(op)) {
    Type type = input.getType();
    std::string name = input.getName().str();
    if (auto scaled = dyn_cast<ir::ScaledType>(type))
      set(input, scaledInput(name, scaled));
    else if (ir::isCodeType(cast<RankedTensorType>(type).getElementType()) &&
             ir::layoutOf(input.getLayoutAttr()) == ScaleLayout::row_major)
      set(input, codesInput(name, type));
    else
      set(input, boundary.floats(name));
    return true;
  }
  if (auto inout = dyn_cast<ir::InOutOp>(op)) {
    set(inout, boundary.floats(inout.getName().str()));
    results.push_back({inout.getName().str(), get(inout), false, {}, std::nullopt});
    return true;
  }
  return false;
}

bool Machine::executeResult(Operation *op) {
  if (auto store = dyn_cast<ir::StoreOp>(op)) {
    for (ProgramResult &result : results)
      if (result.name == store.getName())
        result.value = get(store.getValue());
    return true;
  }
  if (auto scatter = dyn_cast<ir::ScatterOp>(op)) {
    executeScatter(scatter);
    return true;
  }
  if (auto output = dyn_cast<ir::OutputOp>(op)) {
    auto quantize = output.getValue().getDefiningOp<ir::QuantizeOp>();
    auto scaled = dyn_cast<ir::ScaledType>(output.getValue().getType());
    const ScalePlacement placement =
        scaled ? placementOf(scaled.getScalesType(), scaled.getLayout())
               : placementOf(cast<RankedTensorType>(output.getValue().getType()),
                             ir::layoutOf(output.getLayoutAttr()));
    results.push_back({output.getName().str(), values.find(output.getValue())->second,
                       quantize && quantize.getScale(), placement, std::nullopt});
    return true;
  }
  return false;
}

//===-- Codes and scales --------------------------------------------------===//

/// Whether a sum takes the value, or rows that are chosen of it, and nothing else.
static bool isOnlySummed(Operation *op) {
  while (op->hasOneUse() && isa<ir::GatherOp>(*op->user_begin()))
    op = *op->user_begin();
  auto reduce = op->hasOneUse() ? dyn_cast<ir::ReduceOp>(*op->user_begin()) : ir::ReduceOp();
  return reduce &&
         (reduce.getKind() == ir::Reduction::sum || reduce.getKind() == ir::Reduction::mean);
}

/// Products that are summed may be added unrounded: one of finite factors that is beyond the
/// largest float is no infinity then, and what the sum is depends on the others.
static void allowUnrounded(Tensor &products, const Tensor &left, const Tensor &right) {
  for (int64_t i = 0; i < products.size(); ++i) {
    if (!std::isinf(products.range(i).largestMagnitude()) ||
        !std::isfinite(left.range(i).largestMagnitude()) ||
        !std::isfinite(right.range(i).largestMagnitude()))
      continue;
    if (products.isExact())
      for (double value : products.values)
        products.ranges.push_back(Range::point(value));
    products.ranges[i] = Range::anything();
  }
}

bool Machine::executeScaled(Operation *op) {
  return llvm::TypeSwitch<Operation *, bool>(op)
      .Case<ir::QuantizeOp>([&](ir::QuantizeOp quantizeOp) {
        auto type = cast<ir::ScaledType>(quantizeOp.getResult().getType());
        std::optional<Tensor> given;
        if (quantizeOp.getScale())
          given = floatsOf(quantizeOp.getScale());
        const Tensor *global = quantizeOp.getGlobal() ? &get(quantizeOp.getGlobal()) : nullptr;
        set(quantizeOp, interpreter::quantize(get(quantizeOp.getInput()), given ? &*given : nullptr,
                                              global, randomOf(quantizeOp.getRandom()),
                                              Numerics(quantizeOp.getNumerics()),
                                              elementDType(type.getElementType()),
                                              elementDType(type.getScaleType()), type.getBlock()));
        return true;
      })
      .Case<ir::DequantizeOp>([&](ir::DequantizeOp dequantizeOp) {
        const auto &scaled = get<ScaledTensor>(dequantizeOp.getInput());
        Tensor values = interpreter::dequantize(scaled);
        if (isOnlySummed(dequantizeOp))
          allowUnrounded(values, decode(scaled.codes), interpreter::scalesOfElements(scaled));
        set(dequantizeOp, std::move(values));
        return true;
      })
      .Case<ir::CodesOp>([&](ir::CodesOp codesOp) {
        set(codesOp, get<ScaledTensor>(codesOp.getInput()).codes);
        return true;
      })
      .Case<ir::ScalesOp>([&](ir::ScalesOp scalesOp) {
        set(scalesOp, get<ScaledTensor>(scalesOp.getInput()).scales);
        return true;
      })
      .Case<ir::EncodeOp>([&](ir::EncodeOp encodeOp) {
        EncodeRules rules = {encodeOp.getOverflowToFormat(), encodeOp.getIgnoreNan()};
        Tensor operand = convert(get(encodeOp.getInput()), DType::f32);
        if (encodeOp.getDivisor())
          operand = quotient(operand, get(encodeOp.getDivisor()), rules);
        auto element = cast<RankedTensorType>(encodeOp.getType()).getElementType();
        set(encodeOp, encode(elementDType(element), rules, std::move(operand),
                             randomOf(encodeOp.getRandom())));
        return true;
      })
      .Case<ir::DecodeOp>([&](ir::DecodeOp decodeOp) {
        set(decodeOp, decode(get<CodeTensor>(decodeOp.getInput())));
        return true;
      })
      .Default([](Operation *) { return false; });
}

//===-- Shapes ------------------------------------------------------------===//

void Machine::executeBroadcast(ir::BroadcastOp op) {
  Extents shape = boundary.extentsOf(op.getType()), extents = shape;
  auto to = ir::dimsOf(op.getType()).getExprs();
  ir::DimsAttr dims = ir::dimsOf(op.getInput().getType());
  auto from = dims ? dims.getExprs() : ArrayRef<ir::DimExpr>();
  for (size_t axis = 0; axis < to.size(); ++axis) {
    extents[axis] = std::max<int64_t>(extents[axis], 1);
    if (axis + from.size() < to.size())
      continue;
    const ir::DimExpr &dim = from[axis + from.size() - to.size()];
    if (dim == to[axis])
      extents[axis] = 1;
    else if (!dim.isOne())
      extents[axis] = dim.divisor / to[axis].divisor;
  }
  set(op, broadcast(get(op.getInput()), shape, extents));
}

Tensor Machine::contraction(ir::ContractOp op) {
  if (op.getScales())
    throw Error(ErrorKind::Request, "weights `by` scales are what a pass makes of scaled ones",
                boundary.where(), "contract the scaled tensor itself");
  auto factorOf = [&](mlir::Value value) -> Factor {
    if (const auto *scaled = std::get_if<ScaledTensor>(&values.find(value)->second))
      return {decode(scaled->codes), scalesOfElements(*scaled)};
    return {get(value), std::nullopt};
  };
  const Factor weights = factorOf(op.getWeights()), vector = factorOf(op.getVector());
  const Met met = op.mayMeetAsCodes()                        ? Met::asCodes
                  : op.mayMeetAsF16()                        ? Met::asF16
                  : op.isOfMatrices() || op.mayMeetAsPairs() ? Met::asPairs
                                                             : Met::asFloats;
  if (!op.isOfGroups())
    return contract(weights, vector, met);
  return contractGroups(weights, vector, op.getEnds() ? &get(op.getEnds()) : nullptr, met);
}

/// What a score function does, on as many scores as it is given, for which numbers are repeated.
ChangeScores Machine::scoreOf(Region &score, ValueRange captured) {
  if (score.empty())
    return nullptr;
  return [&score, captured, this](const Tensor &scores, const Tensor &keys, int64_t query,
                                  int64_t head) {
    mlir::Block &block = score.front();
    auto repeat = [&](double number) {
      Tensor tensor(DType::f32, scores.shape);
      std::fill(tensor.values.begin(), tensor.values.end(), roundTo(DType::f32, number));
      return tensor;
    };
    set(block.getArgument(0), scores);
    set(block.getArgument(1), repeat(static_cast<double>(query)));
    set(block.getArgument(2), keys);
    set(block.getArgument(3), repeat(static_cast<double>(head)));
    for (auto [value, argument] :
         llvm::zip_equal(captured, block.getArguments().drop_front(ir::scoreArguments))) {
      const Tensor &given = get(value);
      set(argument, repeat(given.values[given.shape.empty() ? 0 : head]));
    }
    for (Operation &op : block.without_terminator()) {
      execute(&op);
      if (isa<arith::ConstantOp>(op))
        set(op.getResult(0), repeat(get(op.getResult(0)).values[0]));
    }
    return get(block.getTerminator()->getOperand(0));
  };
}

Tensor Machine::attention(ir::AttentionOp op) {
  auto decoded = [&](mlir::Value value) {
    return op.isOfCodes() ? decode(get<CodeTensor>(value)) : get(value);
  };
  auto given = [&](mlir::Value value) {
    return value ? std::optional<Tensor>(get(value)) : std::nullopt;
  };
  const Tensor queries = get(op.getQueries()); // which a score function's values would move
  const int64_t valueColumns = boundary.extentsOf(op.getType()).back();
  return attend(queries,
                {decoded(op.getKeys()), decoded(op.getValues()), given(op.getKeyScale()),
                 given(op.getValueScale()), given(op.getPages()), get(op.getLengths()),
                 static_cast<int64_t>(op.getWindow()), valueColumns},
                scoreOf(op.getScore(), op.getCaptured()), boundary.where());
}

Tensor Machine::prefill(ir::PrefillOp op) {
  auto decoded = [&](mlir::Value value) {
    const bool isOfCodes = ir::isCodeType(getElementTypeOrSelf(value.getType()));
    return isOfCodes ? decode(get<CodeTensor>(value)) : get(value);
  };
  KeysAndValues sequence = {decoded(op.getKeys()), decoded(op.getValues()), {}, {}, op.getCausal()};
  if (op.getScales().size() == 2) { // whose queries are no codes
    sequence.scales.emplace_back(DType::f32, std::vector<int64_t>{1});
    sequence.scales.back().values[0] = 1;
  }
  for (mlir::Value scale : op.getScales())
    sequence.scales.push_back(get(scale));
  if (op.getStarts())
    sequence.starts = get(op.getStarts());
  sequence.mayMeetAsCodes = op.mayMeetAsCodes();
  sequence.valueColumns = boundary.extentsOf(op.getType()).back();
  return attend(decoded(op.getQueries()), sequence, scoreOf(op.getScore(), op.getCaptured()),
                boundary.where());
}

void Machine::executeTranspose(ir::TransposeOp op) {
  // Scales of a code type are codes where they lie row by row, and values in other layouts.
  if (const auto *codes = std::get_if<CodeTensor>(&values.find(op.getInput())->second))
    set(op, transpose(*codes));
  else
    set(op, transpose(get(op.getInput())));
}

bool Machine::executeShape(Operation *op) {
  if (auto broadcastOp = dyn_cast<ir::BroadcastOp>(op))
    executeBroadcast(broadcastOp);
  else if (auto reduceOp = dyn_cast<ir::ReduceOp>(op))
    set(reduceOp, reduce(reduceOp.getKind(), get(reduceOp.getInput()), reduceOp.getBlock()));
  else if (auto contractOp = dyn_cast<ir::ContractOp>(op))
    set(contractOp, contraction(contractOp));
  else if (auto attentionOp = dyn_cast<ir::AttentionOp>(op))
    set(attentionOp, attention(attentionOp));
  else if (auto prefillOp = dyn_cast<ir::PrefillOp>(op))
    set(prefillOp, prefill(prefillOp));
  else if (auto halfOp = dyn_cast<ir::HalfOp>(op))
    set(halfOp, half(get(halfOp.getInput()), halfOp.getWhich()));
  else if (auto transposeOp = dyn_cast<ir::TransposeOp>(op))
    executeTranspose(transposeOp);
  else if (auto randomOp = dyn_cast<ir::RandomOp>(op))
    set(randomOp, randomBits(randomOp));
  else
    return false;
  return true;
}

//===-- Positions, and rows chosen by an index ----------------------------===//

bool Machine::executeIndex(Operation *op) {
  if (auto positionOp = dyn_cast<ir::PositionOp>(op)) {
    set(positionOp, position(boundary.extentsOf(positionOp.getType())));
  } else if (auto extent = dyn_cast<ir::ExtentOp>(op)) {
    Tensor result(DType::i64, {});
    result.values[0] = static_cast<double>(boundary.extentOf(extent.getDim().getExprs().front()));
    set(extent, std::move(result));
  } else if (auto gather = dyn_cast<ir::GatherOp>(op); gather && !gather.getOf()) {
    set(gather, gatherRows(get(gather.getTable()), get(gather.getIndex()),
                           static_cast<int64_t>(gather.getRows())));
  } else if (auto columnOp = dyn_cast<ir::ColumnOp>(op)) {
    set(columnOp, column(get(columnOp.getInput()), static_cast<int64_t>(columnOp.getColumn())));
  } else if (auto repeatOp = dyn_cast<ir::RepeatOp>(op)) {
    set(repeatOp, repeat(get(repeatOp.getInput()), boundary.extentsOf(repeatOp.getType()).back(),
                         static_cast<int64_t>(repeatOp.getEach())));
  } else if (auto rotateOp = dyn_cast<ir::RotateOp>(op)) {
    set(rotateOp, rotate(get(rotateOp.getInput()), static_cast<int64_t>(rotateOp.getOver())));
  } else {
    return false;
  }
  return true;
}

void Machine::executeScatter(ir::ScatterOp op) {
  const std::string name = op.getName().str();
  Placement placement;
  placement.old.push_back(boundary.tensor(name));
  if (ir::storesScales(op))
    placement.old.push_back(boundary.tensor(name + "_scale"));
  placement.rows = rowsChosen(get(op.getIndex()), placement.old.front().shape.front());
  results.push_back({name, values.find(op.getValue())->second,
                     isa<ir::ScaledType>(op.getValue().getType()) && !ir::storesScales(op),
                     ScalePlacement(), std::move(placement)});
}

//===-- Arithmetic --------------------------------------------------------===//

Tensor Machine::constant(arith::ConstantOp op) {
  if (auto integer = dyn_cast<IntegerAttr>(op.getValue()); integer && op.getType().isInteger(64)) {
    Tensor result(DType::i64, {});
    result.values[0] = static_cast<double>(integer.getInt());
    return result;
  }
  auto dense = dyn_cast<DenseFPElementsAttr>(op.getValue());
  auto number = dyn_cast<FloatAttr>(op.getValue());
  Type element = getElementTypeOrSelf(op.getType());
  if ((!dense && !number) || !isa<Float32Type, Float16Type, BFloat16Type>(element))
    throw Error(ErrorKind::Request, "a constant is of f32, bf16 or f16", boundary.where());
  Tensor result(elementDType(element), dense ? boundary.extentsOf(op.getType()) : Extents());
  auto put = [&](double &slot, const APFloat &value) { slot = value.convertToDouble(); };
  if (number)
    put(result.values[0], number.getValue());
  else
    for (auto [slot, value] : llvm::zip_equal(result.values, dense.getValues<APFloat>()))
      put(slot, value);
  return result;
}

/// The correctly rounded operation of an op with two operands; null for another.
static Binary binaryOperation(Operation *op) {
  return llvm::TypeSwitch<Operation *, Binary>(op)
      .Case<arith::AddFOp, arith::AddIOp>([](auto) { return operations::add; })
      .Case<arith::SubFOp, arith::SubIOp>([](auto) { return operations::subtract; })
      .Case<arith::MulFOp>([](auto) { return operations::multiply; })
      .Case<arith::DivFOp>([](auto) { return operations::divide; })
      .Case<arith::MaximumFOp>([](auto) { return operations::maximum; })
      .Case<arith::MinimumFOp>([](auto) { return operations::minimum; })
      .Case<arith::MaxNumFOp>([](auto) { return operations::maximumNumber; })
      .Case<arith::MinNumFOp>([](auto) { return operations::minimumNumber; })
      .Default([](Operation *) { return nullptr; });
}

/// The comparison of indices, as one of numbers.
static arith::CmpFPredicate predicateOf(arith::CmpIOp compare) {
  switch (compare.getPredicate()) {
  case arith::CmpIPredicate::eq:
    return arith::CmpFPredicate::OEQ;
  case arith::CmpIPredicate::ne:
    return arith::CmpFPredicate::ONE;
  case arith::CmpIPredicate::slt:
  case arith::CmpIPredicate::ult:
    return arith::CmpFPredicate::OLT;
  case arith::CmpIPredicate::sle:
  case arith::CmpIPredicate::ule:
    return arith::CmpFPredicate::OLE;
  case arith::CmpIPredicate::sgt:
  case arith::CmpIPredicate::ugt:
    return arith::CmpFPredicate::OGT;
  case arith::CmpIPredicate::sge:
  case arith::CmpIPredicate::uge:
    return arith::CmpFPredicate::OGE;
  }
  llvm_unreachable("ten comparisons");
}

bool Machine::executeArithmetic(Operation *op) {
  auto operand = [&](unsigned i) -> const Tensor & { return get(op->getOperand(i)); };
  auto done = [&](Tensor result) {
    set(op->getResult(0), std::move(result));
    return true;
  };
  if (auto function = approximateFunction(op))
    return done(apply(*function, operand(0)));
  if (Binary operation = binaryOperation(op)) {
    bool squares = isa<arith::MulFOp>(op) && op->getOperand(0) == op->getOperand(1);
    if (squares)
      return done(square(operand(0)));
    Tensor result = apply(operation, operand(0), operand(1));
    if (isa<arith::MulFOp>(op) && isOnlySummed(op))
      allowUnrounded(result, operand(0), operand(1));
    return done(std::move(result));
  }
  return llvm::TypeSwitch<Operation *, bool>(op)
      .Case<arith::ConstantOp>(
          [&](arith::ConstantOp constantOp) { return done(constant(constantOp)); })
      .Case<arith::NegFOp>([&](auto) { return done(apply(operations::negate, operand(0))); })
      .Case<math::SqrtOp>([&](auto) { return done(apply(operations::squareRoot, operand(0))); })
      .Case<ir::PowerOfTwoOp>([&](ir::PowerOfTwoOp power) {
        bool isAbove = power.getWhich() == ir::Neighbour::above;
        return done(apply(isAbove ? powerOfTwoAbove : powerOfTwoBelow, operand(0)));
      })
      .Case<math::AbsFOp>([&](auto) { return done(absolute(operand(0))); })
      .Case<math::FmaOp>([&](auto) {
        return done(apply(operations::fusedMultiplyAdd, operand(0), operand(1), operand(2)));
      })
      .Case<arith::CmpFOp>([&](arith::CmpFOp compare) {
        return done(compareValues(compare.getPredicate(), operand(0), operand(1)));
      })
      .Case<arith::CmpIOp>([&](arith::CmpIOp compare) {
        return done(compareValues(predicateOf(compare), operand(0), operand(1)));
      })
      .Case<arith::SelectOp>([&](auto) {
        const Extents &shape = operand(1).shape;
        Tensor condition =
            operand(0).shape == shape ? operand(0) : broadcast(operand(0), shape, shape);
        return done(select(condition, operand(1), operand(2)));
      })
      .Case<arith::ExtFOp, arith::TruncFOp, arith::ExtSIOp>([&](auto) {
        Tensor result = convert(floatsOf(op->getOperand(0)),
                                elementDType(getElementTypeOrSelf(op->getResult(0).getType())));
        if (isa<arith::ExtFOp>(op) && getElementTypeOrSelf(op->getOperand(0).getType()).isF16())
          for (double &value : result.values) // the instruction loses a NaN's sign
            value = std::isnan(value) ? arithmeticNaN() : value;
        return done(std::move(result));
      })
      .Default([](Operation *) { return false; });
}

//===-- Entry points ------------------------------------------------------===//

std::vector<ProgramResult> interpreter::run(ir::ProgramOp program,
                                            const std::vector<HostTensor> &inputs,
                                            const std::map<std::string, double> &scalars) {
  return Machine(program, inputs, scalars).run();
}

std::vector<ProgramResult> interpreter::run(const Program &program,
                                            const std::vector<HostTensor> &inputs,
                                            const std::map<std::string, double> &scalars) {
  MLIRContext context(MLIRContext::Threading::DISABLED);
  OwningOpRef<ModuleOp> module = parseModule(program, context);
  return run(*module->getOps<ir::ProgramOp>().begin(), inputs, scalars);
}

void eider::checkCaches(const Program &program, const std::vector<HostTensor> &inputs) {
  const auto &tensors = program.signature().tensors;
  if (std::ranges::all_of(tensors, &std::string::empty, &Signature::Tensor::mostOfEach))
    return; // no lengths
  MLIRContext context(MLIRContext::Threading::DISABLED);
  OwningOpRef<ModuleOp> module = parseModule(program, context);
  ir::ProgramOp op = *module->getOps<ir::ProgramOp>().begin();
  const Boundary boundary(op, inputs);
  auto given = [&](mlir::Value value) {
    return boundary.floats(value.getDefiningOp<ir::InputOp>().getName().str());
  };
  for (auto attention : op.getOps<ir::AttentionOp>()) {
    Cache cache;
    cache.keys.shape = boundary.extentsOf(attention.getKeys().getType());
    if (attention.getPages())
      cache.pages = given(attention.getPages());
    cache.lengths = given(attention.getLengths());
    cache.window = static_cast<int64_t>(attention.getWindow());
    checkPlaces(cache, boundary.where());
  }
}

std::vector<HostTensor> interpreter::toHost(const ProgramResult &result) {
  if (auto *values = std::get_if<Tensor>(&result.value))
    return {toHost(result.name, *values, result.placement)};
  if (auto *codes = std::get_if<CodeTensor>(&result.value))
    return {toHost(result.name, *codes)};
  auto &scaled = std::get<ScaledTensor>(result.value);
  std::vector<HostTensor> tensors = {toHost(result.name, scaled.codes)};
  if (!result.givenScales)
    tensors.push_back(toHost(result.name + "_scale", scaled.scales, result.placement));
  return tensors;
}

std::vector<HostTensor> eider::interpret(const Program &program,
                                         const std::vector<HostTensor> &inputs,
                                         const std::map<std::string, double> &scalars) {
  std::vector<HostTensor> tensors;
  for (const ProgramResult &result : interpreter::run(program, inputs, scalars)) {
    std::vector<HostTensor> values = interpreter::toHost(result);
    if (result.scattered)
      values = result.scattered->place(values);
    for (HostTensor &tensor : values)
      tensors.push_back(std::move(tensor));
  }
  return tensors;
}
