//===- CudaPrinter.cpp - A thread program as CUDA C++ ---------------------===//
//
// Part of Eider, under the Apache License v2.0.
//
// One op is one call or operator. What is used once and has no name of its own stands inside the
// expression that uses it; loads, collectives and named values are statements. The vocabulary is
// docs/design/text.md; no hardware is known here.
//
//===----------------------------------------------------------------------===//
#include "compiler/emit/CudaPrinter.h"
#include "compiler/emit/Includes.h"
#include "compiler/emit/KernelPrinter.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "llvm/ADT/StringExtras.h"

#include <set>

using namespace mlir;
using namespace eider::simt;
using eider::ir::CodecPath;

namespace eider::text {
namespace {
constexpr size_t widestLine = 100, widestInline = 72;
} // namespace

/// What a value reads as. A spread value is repeated by the operators themselves; `fragmentNeeded`:
/// where nothing else says how wide, the repetition is written out.
Expression KernelPrinter::operand(Value value, bool fragmentNeeded) {
  auto spread = value.getDefiningOp<SpreadOp>();
  if (!spread)
    return expressions.lookup(value);
  Expression inner = operand(spread.getInput());
  if (!fragmentNeeded)
    return inner;
  int64_t count = cast<VectorType>(value.getType()).getNumElements();
  return {"eider::spread<" + std::to_string(count) + ">(" + inner.text + ")"};
}

std::string KernelPrinter::tileText(Value at) {
  if (auto first = at.getDefiningOp<FirstTileOp>())
    return words.alias + "::first(" + operand(first.getRows()).text + ")";
  if (at.getDefiningOp<NextTileOp>())
    return words.cursor + ".next()";
  if (auto seen = at.getDefiningOp<SeenOp>()) {
    std::string tile = tileText(seen.getAt());
    if (seen.getFirst())
      tile += ".from(" + operand(seen.getFirst()).text + ")";
    if (seen.getLast())
      tile += ".up_to(" + operand(seen.getLast()).text + ")";
    return tile;
  }
  if (isa_and_nonnull<AtRowOp, TransposedTileOp, LeaveSumsOp>(at.getDefiningOp()))
    return operand(at).text;
  return words.cursor;
}

std::string KernelPrinter::callOnTile(Value at, const Twine &method,
                                      ArrayRef<std::string> parameters,
                                      ArrayRef<std::string> arguments) {
  return tileText(at) + "." + callOf(method, parameters, arguments);
}

Expression KernelPrinter::loadText(LoadOp op) {
  if (op.getAccess() == Access::uniform)
    return {"eider::load_uniform(" + operand(op.getBase()).text + ")"};
  SmallVector<std::string> arguments = {operand(op.getBase()).text};
  if (op.getPitch())
    arguments.push_back(operand(op.getPitch()).text);
  if (op.getAccess() == Access::columns && op.getAt().getDefiningOp<FirstTileOp>())
    return {words.alias + "::" +
            callOf(methodOf("load", op.getAccess()),
                   accessParameters(op.getAccess(), op.getAlignment(), 0, 1, false), arguments)};
  if (op.getAccess() == Access::repeated) {
    SmallVector<std::string> parameters = {std::to_string(op.getGroup())};
    if (op.getEach() != 1 || op.getAlignment() != 16)
      parameters.push_back(std::to_string(op.getEach()));
    if (op.getAlignment() != 16)
      parameters.push_back(std::to_string(op.getAlignment()));
    return {callOnTile(op.getAt(), "load_repeated", parameters, arguments)};
  }
  return {callOnTile(op.getAt(), methodOf("load", op.getAccess()),
                     accessParameters(op.getAccess(), op.getAlignment(), op.getGroup(),
                                      op.getGroupRows(), op.getStreaming()),
                     arguments)};
}

std::string KernelPrinter::storeText(StoreOp op) {
  if (op.getAccess() == Access::uniform)
    return "eider::store_uniform(" + operand(op.getBase()).text + ", " +
           operand(op.getValue()).text + ")";
  SmallVector<std::string> arguments = {
      operand(op.getBase()).text,
      operand(op.getValue(), isa<VectorType>(op.getValue().getType())).text};
  if (op.getPitch())
    arguments.push_back(operand(op.getPitch()).text);
  if (op.getBulk()) {
    arguments.insert(arguments.begin(), operand(op.getBulk()).text);
    return callOnTile(op.getAt(), "store_in_bulk", {}, arguments);
  }
  if (op.getForProducts())
    return callOnTile(op.getAt(), "store_for_products", {std::to_string(op.getForProducts())},
                      arguments);
  return callOnTile(
      op.getAt(), methodOf("store", op.getAccess()),
      accessParameters(op.getAccess(), op.getAlignment(), op.getGroup(), 1, op.getStreaming()),
      arguments);
}

Expression KernelPrinter::reduceText(ReduceOp op) {
  std::string method = stringifyReduction(op.getKind()).str();
  SmallVector<std::string> parameters;
  if (op.getGroup()) {
    method += "_of_groups";
    parameters.push_back(std::to_string(op.getGroup()));
  }
  SmallVector<std::string> arguments = {operand(op.getInput(), true).text};
  if (op.getTimes()) {
    method += op.getScales() ? "_of_scaled_products" : "_of_products";
    if (op.getScales())
      arguments.push_back(operand(op.getScales(), true).text);
    arguments.push_back(operand(op.getTimes(), true).text);
  }
  if (op.getCodec())
    parameters.push_back("TensorCores<" + codecAlias(getElementTypeOrSelf(op.getInput())) + ">");
  return {callOnTile(op.getAt(), method, parameters, arguments)};
}

Expression KernelPrinter::rowsAheadText(RowsAheadOp op) {
  SmallVector<std::string> parameters = {words.alias, "/*ahead=*/" + std::to_string(op.getAhead())};
  if (op.getGroup())
    parameters.push_back(std::to_string(op.getGroup()));
  if (op.getGroupRows() != 1)
    parameters.push_back(std::to_string(op.getGroupRows()));
  SmallVector<std::string> arguments = {operand(op.getRows()).text, operand(op.getBase()).text};
  if (op.getScales())
    arguments.push_back(operand(op.getScales()).text);
  const auto tile = cast<CursorType>(op.getTile()).getTile();
  if (op.getPitch())
    arguments.push_back(operand(op.getPitch()).text);
  else if (op.getScalesPitch())
    arguments.push_back(std::to_string(tile.getWidth()));
  if (op.getScalesPitch())
    arguments.push_back(operand(op.getScalesPitch()).text);
  return {callOf("eider::rows_ahead", parameters, arguments)};
}

Expression KernelPrinter::encodeText(EncodeOp op) {
  std::string call = codecAlias(getElementTypeOrSelf(op.getType())) + "::encode";
  call += op.getIgnoreNan() ? "_number" : "";
  call += op.getOverflowToFormat() ? "_overflow" : "";
  call += op.getBounded() ? "_bounded" : "";
  call += op.getDivisor() ? "_quotient" : "";
  call += op.getRandom() ? "_stochastic" : "";
  call += "(" + operand(op.getInput(), true).text;
  // A number divides each of the groups whose largest magnitudes are known.
  const bool hasGroups = op.getLargest() && isa<VectorType>(op.getLargest().getType()) &&
                         !op.getLargest().getDefiningOp<SpreadOp>();
  for (Value other : op->getOperands().drop_front())
    call += ", " + operand(other, hasGroups && other == op.getDivisor()).text;
  return {call + ")"};
}

Expression KernelPrinter::productText(ContractOp op) {
  SmallVector<std::string> parameters = {
      codecAlias(cast<PointerType>(op.getWeights().getType()).getElementType())};
  if (op.getWeightsAlignment() != 16 || op.getVectorsAlignment() != 16)
    parameters.append(
        {std::to_string(op.getWeightsAlignment()), std::to_string(op.getVectorsAlignment())});
  SmallVector<std::string> arguments = {words.cursor};
  for (Value value : op->getOperands())
    if (!isa<CursorType>(value.getType()))
      arguments.push_back(operand(value).text);
  return {products.at(productType(op, words.alias)) + "::" + callOf("of", parameters, arguments)};
}

Expression KernelPrinter::layoutText(ScaleLayoutOp op) {
  Value atLaunch = op.getColumnsAtLaunch();
  std::string text = eider::ir::infoOf(op.getLayout().getValue()).text.str() + "</*columns=*/" +
                     (atLaunch ? "at_launch" : std::to_string(op.getColumns()));
  if (op.getBlockRows() != 1)
    text += ", /*block=*/" + std::to_string(op.getBlockRows());
  if (op.getEveryRow())
    text = "OfEveryRow<" + text + ">";
  const std::string rows = operand(op.getRows()).text;
  text += ">(" + (atLaunch ? "ScaleExtents(" + rows + ", " + operand(atLaunch).text + ")" : rows);
  if (op.getPitch())
    text += ", " + operand(op.getPitch()).text;
  return {text + ")"};
}

FailureOr<Expression> KernelPrinter::arithmeticText(Operation &op) {
  // Where every fragment operand is a repeated value, one of them must say how wide.
  bool wide = llvm::any_of(op.getResultTypes(), [](Type type) { return isa<VectorType>(type); });
  bool allSpread = wide && llvm::all_of(op.getOperands(), [](Value value) {
                     return !isa<VectorType>(value.getType()) || value.getDefiningOp<SpreadOp>();
                   });
  std::string call = functionOf(&op).str();
  SmallVector<Expression> operands;
  for (Value value : op.getOperands().drop_front(call == "rcp")) // of 1 / x
    operands.push_back(operand(value, allSpread && operands.empty()));
  if (auto symbol = operatorOf(&op)) {
    auto [text, binding] = *symbol;
    auto tighter = static_cast<Binding>(binding + 1);
    return Expression{operands[0].at(binding == Comparison ? tighter : binding) + " " + text.str() +
                          " " + operands[1].at(tighter),
                      binding};
  }
  if (isa<arith::NegFOp>(op))
    return Expression{"-" + operands[0].at(Primary), Unary};
  if (isa<arith::ExtFOp, arith::TruncFOp, arith::ExtSIOp>(op))
    call = "to<" + elementName(op.getResult(0).getType()).str() + ">";
  if (call.empty())
    return op.emitError("has no text");
  auto text = llvm::map_range(operands, [](const Expression &e) { return e.text; });
  return Expression{"eider::" + call + "(" + llvm::join(text, ", ") + ")"};
}

FailureOr<Expression> KernelPrinter::expressionOf(Operation &op) {
  if (auto constant = dyn_cast<arith::ConstantOp>(op)) {
    if (auto real = dyn_cast<FloatAttr>(constant.getValue()))
      return real.getValue().isNaN()
                 ? op.emitError("a constant that is no number has no text")
                 : FailureOr(Expression{floatLiteral(real.getValue()),
                                        real.getValue().isNegative() ? Unary : Primary});
    if (auto integer = dyn_cast<IntegerAttr>(constant.getValue()))
      return Expression{std::to_string(integer.getInt())};
    return op.emitError("a constant of this type has no text");
  }
  if (auto load = dyn_cast<LoadOp>(op))
    return loadText(load);
  if (auto reduce = dyn_cast<ReduceOp>(op))
    return reduceText(reduce);
  if (auto rows = dyn_cast<RowsAheadOp>(op))
    return rowsAheadText(rows);
  if (auto sum = dyn_cast<SumAheadOp>(op))
    return Expression{operand(sum.getRows()).text + "." +
                      callOf("sum_of_products",
                             {"TensorCores<" + codecAlias(sum.codesType()) + ">"},
                             {words.cursor, operand(sum.getTimes(), true).text})};
  if (auto reduce = dyn_cast<ReduceColumnsOp>(op)) {
    SmallVector<std::string> arguments = {operand(reduce.getInput(), true).text};
    if (reduce.getTimes())
      arguments.push_back(operand(reduce.getTimes(), true).text);
    return Expression{words.alias + "::" +
                      callOf(stringifyReduction(reduce.getKind()) + "_of_columns" +
                                 (reduce.getTimes() ? "_of_products" : ""),
                             {}, arguments)};
  }
  if (auto inside = dyn_cast<InsideColumnsOp>(op))
    return Expression{words.alias + "::inside_columns(" + operand(inside.getInput(), true).text +
                      ")"};
  if (auto at = dyn_cast<AtRowOp>(op))
    return Expression{callOnTile(at.getAt(), "at", {},
                                 {operand(at.getIndex()).text, operand(at.getRows()).text})};
  if (auto position = dyn_cast<PositionOp>(op))
    return Expression{
        callOnTile(position.getAt(),
                   position.getAccess() == Access::rows ? "row_index" : "column_indices", {}, {})};
  if (auto rotate = dyn_cast<RotateOp>(op))
    return Expression{callOnTile(rotate.getAt(), "rotate_halves",
                                 {std::to_string(rotate.getOver())},
                                 {operand(rotate.getInput(), true).text})};
  if (auto begin = dyn_cast<BeginTransposeOp>(op))
    return Expression{callOnTile(begin.getAt(), "begin_transpose",
                                 {"/*passes=*/" + std::to_string(begin.getPasses())},
                                 {operand(begin.getInput(), true).text})};
  if (auto end = dyn_cast<EndTransposeOp>(op))
    return Expression{operand(end.getTurning()).text + ".end()"};
  if (auto transposed = dyn_cast<TransposedTileOp>(op))
    return Expression{callOnTile(transposed.getAt(), "transposed", {}, {})};
  if (auto partial = dyn_cast<PartialOp>(op))
    return Expression{words.alias + "::partial_" + stringifyReduction(partial.getKind()).str() +
                      "(" + (partial.getState() ? operand(partial.getState()).text : "") + ")"};
  if (auto combine = dyn_cast<CombinePartsOp>(op))
    return Expression{words.alias + "::" +
                      callOf(stringifyReduction(combine.getKind()) + "_of_parts",
                             {std::to_string(combine.getParts())},
                             {operand(combine.getBase()).text})};
  if (auto random = dyn_cast<RandomOp>(op))
    return Expression{
        callOnTile(random.getAt(), "random", {},
                   {operand(random.getSeed()).text, operand(random.getOffset()).text})};
  if (auto barrier = dyn_cast<GridBarrierOp>(op))
    return Expression{"GridBarrier(" + operand(barrier.getBase()).text + ")"};
  if (auto reduce = dyn_cast<ReduceGridOp>(op))
    return Expression{
        callOnTile(reduce.getAt(), stringifyReduction(reduce.getKind()) + "_of_grid", {},
                   {operand(reduce.getInput(), true).text, operand(reduce.getGrid()).text})};
  if (auto encode = dyn_cast<EncodeOp>(op))
    return encodeText(encode);
  if (auto decode = dyn_cast<DecodeOp>(op))
    return Expression{codecAlias(getElementTypeOrSelf(decode.getInput().getType())) + "::decode(" +
                      operand(decode.getInput()).text + ")"};
  if (auto product = dyn_cast<ContractOp>(op))
    return productText(product);
  if (auto leave = dyn_cast<LeaveSumsOp>(op))
    return Expression{callOf("eider::leave_sums", {},
                             {words.cursor, operand(leave.getSums(), true).text,
                              operand(leave.getLeft()).text, operand(leave.getArrivals()).text})};
  if (auto sums = dyn_cast<AllSumsOp>(op))
    return Expression{
        callOf("eider::all_sums", {}, {tileText(sums.getAt()), operand(sums.getLeft()).text})};
  if (auto combine = dyn_cast<CombineAttentionOp>(op))
    return Expression{products.at(partsTypeOf(combine)) + "::" +
                      callOf("combined", {},
                             {words.cursor, operand(combine.getParts()).text,
                              operand(combine.getSequences()).text})};
  if (auto layout = dyn_cast<ScaleLayoutOp>(op))
    return layoutText(layout);
  if (auto offset = dyn_cast<OffsetOp>(op))
    return Expression{operand(offset.getBase()).text + " + " + std::to_string(offset.getElements()),
                      Sum};
  return arithmeticText(op);
}

std::string KernelPrinter::derivedName(Operation &op) {
  // A variable that is loaded ahead is named for the tile that it is loaded for.
  auto isFirst = [](LoadOp load) {
    return bool(SeenOp::wholeOf(load.getAt()).getDefiningOp<FirstTileOp>());
  };
  bool isAhead = isa<LoadOp>(op) && cast<LoadOp>(op).getAccess() != Access::columns &&
                 isFirst(cast<LoadOp>(op));
  if (auto given = op.getAttrOfType<StringAttr>("eider.name"))
    return given.str() + (isAhead ? "_next" : "");
  if (auto rows = dyn_cast<RowsAheadOp>(op))
    return operand(rows.getBase()).text + "_ahead";
  if (auto load = dyn_cast<LoadOp>(op)) {
    auto offset = load.getBase().getDefiningOp<OffsetOp>();
    std::string base = operand(offset ? offset.getBase() : load.getBase()).text;
    switch (load.getAccess()) {
    case Access::elements:
    case Access::columns:
      if (offset)
        base += "_second";
      else if (load.getPitch() && !isa<BlockArgument>(load.getPitch()))
        base += "_first";
      else if (!isAhead)
        base += load.getAccess() == Access::columns ? words.columns : words.elements;
      return base + (isAhead ? "_next" : "");
    case Access::repeated:
      return base + "_repeated";
    case Access::groups:
      return base + "_groups" + (isAhead ? "_next" : "");
    default:
      return base + "_value";
    }
  }
  return resultName(&op);
}

/// A statement of its own, rather than part of the expression that uses it.
bool KernelPrinter::standsAlone(Operation &op, const Expression &expression) {
  if (isa<arith::ConstantOp, OffsetOp>(op))
    return false;
  if (isa<LoadOp, ReduceOp, RowsAheadOp, SumAheadOp, ReduceColumnsOp, PartialOp, CombinePartsOp,
          GridBarrierOp, ReduceGridOp, AtRowOp, RotateOp, BeginTransposeOp, EndTransposeOp,
          TransposedTileOp, ContractOp, LeaveSumsOp, AllSumsOp, CombineAttentionOp>(op) ||
      op.hasAttr("eider.name"))
    return true;
  return !op.hasOneUse() || expression.text.size() > widestInline;
}

void KernelPrinter::printStatement(StringRef statement) {
  std::string margin = indent;
  while (margin.size() + statement.size() > widestLine) {
    auto at = breakOf(statement, widestLine - margin.size());
    if (!at)
      break;
    os << margin << statement.take_front(*at).rtrim() << "\n";
    statement = statement.drop_front(*at);
    margin = indent + "    ";
  }
  os << margin << statement << "\n";
}

LogicalResult KernelPrinter::printOp(Operation &op) {
  if (auto loop = dyn_cast<ForTilesOp>(op))
    return printLoop(loop);
  if (auto store = dyn_cast<StoreOp>(op)) {
    printStatement(storeText(store) + ";");
    return success();
  }
  if (auto add = dyn_cast<AddOp>(op)) {
    printStatement(operand(add.getPartial()).text + ".add(" + words.cursor + ", " +
                   operand(add.getInput(), true).text + ");");
    return success();
  }
  if (auto add = dyn_cast<AddReducedOp>(op)) {
    printStatement(operand(add.getPartial()).text + ".add_reduced(" + words.cursor + ", " +
                   operand(add.getInput(), true).text + ");");
    return success();
  }
  if (auto store = dyn_cast<StorePartOp>(op)) {
    printStatement(operand(store.getPartial()).text + ".store(" + operand(store.getBase()).text +
                   ");");
    return success();
  }
  if (auto combine = dyn_cast<CombineIntoOp>(op)) {
    printStatement(operand(combine.getPartial()).text + ".combine_into(" +
                   operand(combine.getBase()).text + ");");
    return success();
  }
  if (isa<AttendOp, AttendRowsOp>(op)) {
    auto attend = dyn_cast<AttendOp>(op);
    auto text = attend ? attendText(attend) : attendRowsText(cast<AttendRowsOp>(op));
    if (succeeded(text))
      printStatement(*text);
    return text;
  }
  if (auto clear = dyn_cast<ClearPaddingOp>(op)) {
    SmallVector<std::string> parameters;
    if (clear.getAlignment() != 16)
      parameters.push_back(std::to_string(clear.getAlignment()));
    printStatement(words.alias + "::" +
                   callOf("clear_padding", parameters,
                          {operand(clear.getBase()).text, operand(clear.getLayout()).text}) +
                   ";");
    return success();
  }
  if (isa<AllowNextOp>(op)) {
    printStatement("arch::allow_next_launch();");
    return success();
  }
  if (auto stores = dyn_cast<BulkStoresOp>(op)) {
    const std::string name = names.fresh("stores");
    printStatement("BulkStores " + name + ";");
    expressions[stores] = {name};
    return success();
  }
  if (isa<SpreadOp, FirstTileOp, NextTileOp, SeenOp, CarryOp>(op))
    return success(); // Read by operand(), tileText() and printCarried().
  auto expression = expressionOf(op);
  if (failed(expression))
    return failure();
  Value result = op.getResult(0);
  if (std::string variable = carried.lookup(result); !variable.empty()) {
    os << indent << "if (" << words.cursor << ".has_next())\n"
       << indent << "  " << variable << " = " << expression->text << ";\n";
    return success();
  }
  if (!standsAlone(op, *expression)) {
    expressions[result] = *expression;
    return success();
  }
  std::string name = names.fresh(derivedName(op));
  bool varies = isa<PartialOp, RowsAheadOp>(op) ||
                llvm::any_of(op.getUsers(), [](Operation *user) { return isa<ForTilesOp>(user); });
  const std::string type = result.getType().isF32()         ? "float"
                           : result.getType().isInteger(64) ? "int64"
                           : isa<AtRowOp, LeaveSumsOp>(op)  ? words.alias
                                                            : "auto";
  printStatement((varies ? "" : "const ") + type + " " + name + " = " + expression->text + ";");
  expressions[result] = {name};
  return success();
}

/// What the loop carries is in a variable that was printed before it; each tile begins with a copy.
void KernelPrinter::printCarried(ForTilesOp loop) {
  if (loop.getInitial().empty())
    return;
  auto carry = cast<CarryOp>(loop.getBlock().back());
  for (auto [initial, argument, next] : llvm::zip_equal(
           loop.getInitial(), loop.getBlock().getArguments().drop_front(), carry.getValues())) {
    const std::string variable = expressions.lookup(initial).text;
    std::string name = names.fresh(derivedName(*next.getDefiningOp()));
    os << indent << "const auto " << name << " = " << variable << ";\n";
    expressions[argument] = {name};
    carried[next] = variable;
  }
}

LogicalResult KernelPrinter::printLoop(ForTilesOp loop) {
  const std::string rows = operand(loop.getRows()).text;
  const std::string declared = "const " + words.alias + " " + words.cursor;
  if (loop.getOnly()) {
    os << indent << declared << " = " << words.alias << "::only(" << rows << ");\n";
    for (Operation &op : loop.getBlock())
      if (failed(printOp(op)))
        return failure();
    return success();
  }
  os << indent << "for (" << declared << " : " << words.alias
     << (loop.getByColumns() ? "::over_columns(" : "::over(")
     << (loop.getEnds() ? operand(loop.getEnds()).text + ", " : "") << rows << ")) {\n";
  indent = "    ";
  printCarried(loop);
  for (Operation &op : loop.getBlock())
    if (failed(printOp(op)))
      return failure();
  indent = "  ";
  os << indent << "}\n";
  return success();
}

void KernelPrinter::printTile(TileAttr tile) {
  words = namesOf(tile);
  const SmallVector<std::string> parameters = tileParameters(tile);
  const std::string alias = "using " + words.alias + " = " + words.templateName + "<";
  std::string line = indent + alias;
  for (auto [index, parameter] : llvm::enumerate(parameters)) {
    const bool isLast = index + 1 == parameters.size();
    const std::string piece = parameter + (isLast ? ">;" : ",");
    if (line.size() + 1 + piece.size() > widestLine) {
      os << line << "\n";
      line = std::string(indent.size() + alias.size(), ' ') + piece;
    } else {
      line += (index == 0 ? "" : " ") + piece;
    }
  }
  os << line << "\n";
}

void KernelPrinter::printCodecs() {
  std::set<std::pair<std::string, std::string>> codecs;
  auto note = [&](Type element, CodecPath path) {
    codecs.insert({codecAlias(element), "Codec<" + elementName(element).str() + ", " +
                                            stringifyCodecPath(path).str() + ">"});
  };
  kernel.walk([&](Operation *op) {
    if (auto encode = dyn_cast<EncodeOp>(op))
      note(getElementTypeOrSelf(encode.getType()), encode.getCodec());
    if (auto decode = dyn_cast<DecodeOp>(op))
      note(getElementTypeOrSelf(decode.getInput().getType()), decode.getCodec());
    if (auto product = dyn_cast<ContractOp>(op))
      note(cast<PointerType>(product.getWeights().getType()).getElementType(), product.getCodec());
    if (auto reduce = dyn_cast<ReduceOp>(op); reduce && reduce.getCodec())
      note(getElementTypeOrSelf(reduce.getInput().getType()), *reduce.getCodec());
    if (auto sum = dyn_cast<SumAheadOp>(op))
      note(sum.codesType(), sum.getCodec());
    if (auto attend = dyn_cast<AttendOp>(op); attend && attend.getCodec())
      note(cast<PointerType>(attend.getKeys().getType()).getElementType(), *attend.getCodec());
    if (auto attend = dyn_cast<AttendRowsOp>(op))
      note(cast<PointerType>(attend.getKeys().getType()).getElementType(), attend.getCodec());
  });
  for (const auto &[alias, codec] : codecs)
    os << indent << "using " << alias << " = " << codec << ";\n";
}

/// A type for each way in which the kernel multiplies matrices.
void KernelPrinter::printProducts() {
  kernel.walk([&](ContractOp op) {
    const std::string type = productType(op, words.alias);
    if (products.count(type))
      return;
    const std::string alias = names.fresh("Multiply");
    products[type] = alias;
    printStatement("using " + alias + " = " + type + ";");
  });
}

void KernelPrinter::printSignature() {
  SmallVector<std::string> parameters;
  for (auto [name, argument] :
       llvm::zip_equal(kernel.getParameters(), kernel.getBlock().getArguments())) {
    std::string variable = names.fresh(cast<StringAttr>(name).getValue());
    expressions[argument] = {variable};
    if (auto pointer = dyn_cast<PointerType>(argument.getType()))
      parameters.push_back((isWritten(argument) ? "" : "const ") +
                           elementName(pointer.getElementType()).str() + " *" + variable);
    else
      parameters.push_back((argument.getType().isF32() ? "float " : "int64 ") + variable);
  }
  std::string qualifiers = "extern \"C\" __global__ ";
  if (kernel.getCluster() != 1)
    qualifiers += "__cluster_dims__(" + std::to_string(kernel.getCluster()) + ", 1, 1) ";
  qualifiers += "__launch_bounds__(" + std::to_string(kernel.getThreads());
  if (kernel.getResident())
    qualifiers += ", " + std::to_string(kernel.getResident());
  qualifiers += ")";
  const std::string name = "void " + kernelName(kernel.getSymName()) + "(";
  const bool fits = qualifiers.size() + 1 + name.size() <= widestLine;
  os << qualifiers << (fits ? " " : "\n") << name << "\n";
  std::string line = "   ";
  for (auto [index, parameter] : llvm::enumerate(parameters)) {
    std::string piece = " " + parameter + (index + 1 == parameters.size() ? ") {" : ",");
    if (line.size() + piece.size() > widestLine) {
      os << line << "\n";
      line = "   ";
    }
    line += piece;
  }
  os << line << "\n";
}

/// A comment of one sentence, wrapped between its words.
void KernelPrinter::printComment(StringRef text) {
  std::string line = "//";
  for (StringRef word : llvm::split(text, ' ')) {
    if (line.size() + 1 + word.size() > widestLine && line.size() > 4) {
      os << line << "\n";
      line = "//  ";
    }
    line += " " + word.str();
  }
  os << line << "\n";
}

LogicalResult KernelPrinter::print() {
  for (Attribute line : kernel.getHeader())
    printComment(commentText(cast<StringAttr>(line).getValue()));
  printSignature();
  for (ForTilesOp loop : kernel.getBlock().getOps<ForTilesOp>())
    printTile(loop.getTile());
  printCodecs();
  printProducts();
  printAttention();
  for (Operation &op : kernel.getBlock())
    if (failed(printOp(op)))
      return failure();
  os << "}\n";
  return success();
}

FailureOr<std::string> printCuda(ModuleOp module) {
  std::string text;
  llvm::raw_string_ostream os(text);
  printIncludes(module, os);
  for (KernelOp kernel : module.getOps<KernelOp>()) {
    os << "\n";
    if (failed(KernelPrinter(kernel, os).print()))
      return failure();
  }
  return text;
}

} // namespace eider::text
