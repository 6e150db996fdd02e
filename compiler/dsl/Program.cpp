//===- Program.cpp - Text and signature of a program ----------------------===//
//
// Part of Eider, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//
#include "compiler/dsl/Names.h"
#include "compiler/dsl/ProgramImpl.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Parser/Parser.h"
#include "llvm/ADT/StringSet.h"

#include <cmath>

using namespace mlir;
using namespace eider;
using namespace eider::ir;

const std::string &Program::name() const { return impl_->name; }
const std::string &Program::text() const { return impl_->text; }
const Signature &Program::signature() const { return impl_->signature; }

void eider::loadDialects(MLIRContext &context) {
  context.loadDialect<EiderDialect, arith::ArithDialect, math::MathDialect>();
}

Type eider::typeOf(DType type, MLIRContext *context) {
  const ElementType *row = findElementType(type);
  return row ? row->get(context) : Type();
}

std::optional<DType> eider::dtypeOf(Type type) {
  const ElementType *row = findElementType(type);
  return row ? std::optional(row->dtype) : std::nullopt;
}

//===-- Signature ---------------------------------------------------------===//

namespace {
/// Collects a program's signature, and checks its names and that its arguments and results belong
/// together.
class SignatureReader {
public:
  SignatureReader(ProgramOp program, const std::string &where) : program(program), where(where) {}

  Signature read() {
    take(program, program.getSymName(), /*unique=*/false);
    for (auto [name, value] : llvm::zip_equal(program.getDimNames(), program.getDimValues())) {
      StringRef dim = cast<StringAttr>(name).getValue();
      take(program, dim);
      signature.dims.push_back(
          {dim.str(), ShapedType::isDynamic(value) ? std::nullopt : std::optional<int64_t>(value)});
    }
    for (Operation &op : program.getBlock())
      visit(op);
    for (Operation &op : program.getBlock())
      noteChoices(op);
    checkResults();
    checkDims();
    return std::move(signature);
  }

private:
  ProgramOp program;
  std::string where;
  Signature signature;
  llvm::StringSet<> names;

  [[noreturn]] void fail(Operation *op, const std::string &what, const char *remedy) const {
    std::string place = where;
    if (auto loc = dyn_cast<FileLineColLoc>(op->getLoc()); loc && place.empty())
      place = loc.getFilename().str() + ":" + std::to_string(loc.getLine()) + ":" +
              std::to_string(loc.getColumn());
    throw Error(ErrorKind::Request, what, place, remedy);
  }

  void take(Operation *op, StringRef name, bool unique = true) {
    std::string problem = eider::detail::problemOfName(name);
    if (!problem.empty())
      fail(op, problem, eider::detail::remedyOfName);
    if (unique && !names.insert(name).second)
      fail(op, "the name '" + name.str() + "' is taken",
           "use each name once; a scaled tensor takes NAME and NAME_scale");
  }

  void addTensor(Operation *op, const std::string &name, Signature::Role role,
                 RankedTensorType type, ScaleLayout layout = ScaleLayout::row_major) {
    take(op, name);
    const DType scale = *dtypeOf(type.getElementType());
    const std::optional<DType> words = infoOf(layout).words;
    signature.tensors.push_back({name, role, words.value_or(scale),
                                 shapeInMemory(layout, type.getElementType(), dimsInMemory(type)),
                                 words ? std::optional(scale) : std::nullopt});
  }

  /// A tensor of which an index chooses rows, and its scales.
  void addScatter(ScatterOp op) {
    addTensor(op, op.getName().str(), Signature::Role::InOut, cast<RankedTensorType>(op.getInto()));
    if (storesScales(op))
      addTensor(op, op.getName().str() + "_scale", Signature::Role::InOut, scalesInto(op));
  }

  /// What is known of indices and of what they choose, for whoever makes data or counts bytes.
  void noteChoice(mlir::Value index, const DimExpr &from, ArrayRef<std::string> chosen) {
    const std::string rows = dimsOf(index.getType()).getExprs().front().contractExpression();
    if (auto widen = index.getDefiningOp<arith::ExtSIOp>())
      index = widen.getIn();
    if (auto column = index.getDefiningOp<ColumnOp>())
      index = column.getInput();
    auto input = index.getDefiningOp<InputOp>();
    for (Signature::Tensor &tensor : signature.tensors) {
      if (input && tensor.name == input.getName())
        tensor.choosesFrom = from.contractExpression();
      if (llvm::is_contained(chosen, tensor.name))
        tensor.rowsChosen += (tensor.rowsChosen.empty() ? "" : " + ") + rows;
    }
  }

  /// Pages are chosen by the block table, and lengths are bounded by what it has.
  void noteAttention(AttentionOp op) {
    auto extents = [](mlir::Value value) { return dimsOf(value.getType()).getExprs(); };
    auto nameOf = [](mlir::Value value) {
      auto input = value.getDefiningOp<InputOp>();
      return input ? input.getName() : StringRef();
    };
    const ArrayRef<DimExpr> keys = extents(op.getKeys());
    for (Signature::Tensor &tensor : signature.tensors) {
      if (op.getPages() && tensor.name == nameOf(op.getPages()))
        tensor.choosesFrom = keys[0].contractExpression();
      if (tensor.name == nameOf(op.getLengths()))
        tensor.mostOfEach = (op.getPages() ? op.mostOfEach().contractExpression() + " * " : "") +
                            keys[1].contractExpression();
    }
    const size_t ofPlaces = op.getPages() ? 1 : 2; // a cache without pages is as long as it is
    fixExtents({op.getQueries(), op.getResult()});
    fixExtents(op.getKeys(), ofPlaces);
    if (op.getKeyScale())
      fixExtents(op.getKeyScale(), ofPlaces);
  }

  void notePrefill(PrefillOp op) {
    for (mlir::Value operand : op.getOperands())
      if (operand != op.getStarts())
        fixExtents(operand);
    if (!op.getStarts())
      return;
    for (Signature::Tensor &tensor : signature.tensors)
      if (tensor.name == op.getStarts().getDefiningOp<InputOp>().getName())
        tensor.startsUpTo = dimsOf(op.getQueries().getType()).getExprs()[0].contractExpression();
  }

  /// Of what attention reads all extents but the first are those of a kernel; of scales the one.
  void fixExtents(mlir::ValueRange values, size_t open = 1) {
    for (mlir::Value value : values) {
      if (!dimsOf(value.getType()))
        continue; // a scalar
      const ArrayRef<DimExpr> extents = dimsOf(value.getType()).getExprs();
      for (const DimExpr &dim : extents.drop_front(std::min(open, extents.size() - 1)))
        for (Signature::NamedDim &named : signature.dims)
          named.isFixed |= dim.name && dim.name.getValue() == named.name;
    }
  }

  /// Groups of rows end among these, if they say where, and the kernel is made for their number and
  /// their weights.
  void noteGroups(ContractOp op) {
    if (op.getEnds())
      for (Signature::Tensor &tensor : signature.tensors)
        if (auto input = op.getEnds().getDefiningOp<InputOp>();
            input && tensor.name == input.getName())
          tensor.risesTo = dimsOf(op.vectorType()).getExprs().front().contractExpression();
    signature.countsRows |= !op.getEnds(); // how many each group has
    for (const DimExpr &dim : dimsOf(op.weightsType()).getExprs())
      for (Signature::NamedDim &named : signature.dims)
        named.isFixed |= dim.name && dim.name.getValue() == named.name;
  }

  void noteChoices(Operation &op) {
    if (auto gather = dyn_cast<GatherOp>(op)) {
      mlir::Value table = gather.getTable();
      if (auto scaled = table.getDefiningOp<DequantizeOp>())
        table = scaled.getInput();
      if (auto input = table.getDefiningOp<InputOp>()) {
        std::vector<std::string> chosen = {input.getName().str()};
        if (auto scaled = dyn_cast<ScaledType>(table.getType());
            scaled && scaled.getBlock().front() == 1)
          chosen.push_back(chosen.front() + "_scale");
        noteChoice(gather.getIndex(), dimsOf(table.getType()).getExprs().front(), chosen);
      }
    }
    if (auto scatter = dyn_cast<ScatterOp>(op))
      noteChoice(scatter.getIndex(), dimsOf(scatter.getInto()).getExprs().front(),
                 {scatter.getName().str(), scatter.getName().str() + "_scale"});
    if (auto attention = dyn_cast<AttentionOp>(op))
      noteAttention(attention);
    if (auto contract = dyn_cast<ContractOp>(op); contract && contract.isOfGroups())
      noteGroups(contract);
    if (auto prefill = dyn_cast<PrefillOp>(op))
      notePrefill(prefill);
    auto position = dyn_cast<PositionOp>(op);
    signature.countsRows |= isa<ExtentOp, RandomOp>(op) || (position && position.getAxis() == 0);
  }

  /// A tensor, or codes and scales.
  void addTensors(Operation *op, StringRef name, Signature::Role role, Type type,
                  LayoutAttr layout = {}, bool withScales = true) {
    auto scaled = dyn_cast<ScaledType>(type);
    if (!scaled)
      return addTensor(op, name.str(), role, cast<RankedTensorType>(type), layoutOf(layout));
    addTensor(op, name.str(), role, scaled.getCodesType());
    if (withScales)
      addTensor(op, name.str() + "_scale", role, scaled.getScalesType(), scaled.getLayout());
    if (role == Signature::Role::Input && isTwoLevelType(scaled.getScaleType()))
      addTensor(op, name.str() + "_global_scale", role, scaled.getGlobalType());
  }

  void addScalar(ScalarOp op) {
    take(op, op.getName());
    float value = op.getValue().convertToFloat();
    if (!std::isfinite(value))
      fail(op, "the default of scalar '" + op.getName().str() + "' is not finite", "give a number");
    signature.scalars.push_back({op.getName().str(), value});
  }

  void addInteger(IntegerOp op) {
    take(op, op.getName());
    constexpr int64_t largest = int64_t(1) << 53; // that a contract's number holds
    const auto value = static_cast<int64_t>(op.getValue());
    if (value > largest || value < -largest)
      fail(op, "the default of integer '" + op.getName().str() + "' is beyond 2^53",
           "give it at launch");
    signature.scalars.push_back({op.getName().str(), static_cast<double>(value), DType::i64});
  }

  /// There is a result, and every in-out is stored.
  void checkResults() {
    llvm::StringSet<> stored;
    for (StoreOp store : program.getBlock().getOps<StoreOp>())
      stored.insert(store.getName());
    for (InOutOp inout : program.getBlock().getOps<InOutOp>())
      if (!stored.contains(inout.getName()))
        fail(inout, "the in-out '" + inout.getName().str() + "' is never stored",
             "store it, or make it an input");
    if (stored.empty() && program.getBlock().getOps<OutputOp>().empty() &&
        program.getBlock().getOps<ScatterOp>().empty())
      fail(program, "there is no output and no store", "add one");
  }

  /// Every dim stands in an argument, from whose shape it can be read.
  void checkDims() {
    llvm::StringSet<> used;
    for (Operation &op : program.getBlock())
      if (Type type = givenType(op))
        for (const DimExpr &dim : dimsOf(type).getExprs())
          if (dim.name)
            used.insert(dim.name.getValue());
    for (const auto &dim : signature.dims)
      if (!used.contains(dim.name))
        fail(program, "the dim '" + dim.name + "' is in no input's shape",
             "use it in an input or an in-out");
  }

  void visit(Operation &op) {
    using Role = Signature::Role;
    if (auto input = dyn_cast<InputOp>(op))
      addTensors(input, input.getName(), Role::Input, input.getType(), input.getLayoutAttr());
    if (auto inout = dyn_cast<InOutOp>(op))
      addTensors(inout, inout.getName(), Role::InOut, inout.getType());
    if (auto scalar = dyn_cast<ScalarOp>(op))
      addScalar(scalar);
    if (auto scatter = dyn_cast<ScatterOp>(op))
      addScatter(scatter);
    if (auto integer = dyn_cast<IntegerOp>(op))
      addInteger(integer);
    if (auto output = dyn_cast<OutputOp>(op)) {
      auto quantize = output.getValue().getDefiningOp<QuantizeOp>();
      addTensors(output, output.getName(), Role::Output, output.getValue().getType(),
                 output.getLayoutAttr(), /*withScales=*/!quantize || !quantize.getScale());
    }
  }
};
} // namespace

//===-- Text --------------------------------------------------------------===//

/// Those of a score function have names, too.
static void nameArguments(Region &score, ValueRange captured) {
  if (score.empty())
    return;
  for (auto [i, argument] : llvm::enumerate(score.getArguments())) {
    const StringRef name = i < scoreArguments ? StringRef(scoreArgumentNames[i])
                                              : captured[i - scoreArguments]
                                                    .getDefiningOp()
                                                    ->getAttrOfType<StringAttr>("name")
                                                    .getValue();
    argument.setLoc(NameLoc::get(StringAttr::get(score.getContext(), name)));
  }
}

/// The canonical text: locations become the names of values, which the text's SSA names then
/// follow.
static std::string canonicalText(ProgramOp program) {
  MLIRContext *context = program.getContext();
  Location unknown = UnknownLoc::get(context);
  program.getBody().walk([&](Operation *op) {
    const bool isArgument = isa<InputOp, InOutOp, ScalarOp, IntegerOp>(op);
    auto name = op->getAttrOfType<StringAttr>(isArgument ? "name" : "eider.name");
    op->setLoc(name ? Location(NameLoc::get(name)) : unknown);
  });
  program.getBody().walk([&](Operation *op) {
    if (auto attention = dyn_cast<AttentionOp>(op))
      nameArguments(attention.getScore(), attention.getCaptured());
    if (auto prefill = dyn_cast<PrefillOp>(op))
      nameArguments(prefill.getScore(), prefill.getCaptured());
  });
  std::string text;
  llvm::raw_string_ostream stream(text);
  program->print(stream, OpPrintingFlags().useLocalScope().printNameLocAsPrefix());
  return text + "\n";
}

Program eider::makeProgram(ProgramOp program, const std::string &where) {
  Signature signature = SignatureReader(program, where).read();
  return Program(std::make_shared<eider::detail::ProgramImpl>(eider::detail::ProgramImpl{
      program.getSymName().str(), canonicalText(program), std::move(signature)}));
}
