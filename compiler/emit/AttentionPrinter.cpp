//===- AttentionPrinter.cpp - Attention in the text -----------------------===//
//
// Part of Eider, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//
#include "compiler/emit/KernelPrinter.h"

using namespace mlir;
using namespace eider::simt;

namespace eider::text {

/// A call of what attends, over keys whose codes have so many scales. `isApart`: of what is aligned
/// as what is contiguous is, but lies apart.
template <class Op>
std::string KernelPrinter::attendCall(StringRef method, Op op, int64_t scales,
                                      ArrayRef<std::string> arguments, bool isApart) {
  const Type element = cast<PointerType>(op.getKeys().getType()).getElementType();
  SmallVector<std::string> parameters = {
      eider::ir::isCodeType(element) ? codecAlias(element) : elementName(element).str(),
      "/*scales=*/" + std::to_string(scales)};
  if (op.getAlignment() != 16 || isApart)
    parameters.push_back(std::to_string(op.getAlignment()));
  if (isApart)
    parameters.push_back("/*is_apart=*/true");
  return "Attend::" + callOf(method, parameters, arguments) + ";";
}

/// Prints a score function: of a query head, which has what it captures of that, one of a score and
/// its positions. Gives its name; empty where scores stay as they are.
FailureOr<std::string> KernelPrinter::printScore(Region &score, ValueRange captured) {
  if (score.empty())
    return std::string();
  const std::string name = names.fresh("score_of"), index = names.fresh("index");
  os << indent << "const auto " << name << " = [=](int64 " << index << ") {\n";
  std::string parameters;
  for (auto [i, argument] : llvm::enumerate(score.getArguments())) {
    const Value from =
        i < eider::ir::scoreArguments ? Value() : captured[i - eider::ir::scoreArguments];
    if (from && !isa<PointerType>(from.getType())) {
      expressions[argument] = operand(from);
      continue;
    }
    const std::string variable =
        names.fresh(from ? operand(from).text + "_of_head" : eider::ir::scoreArgumentNames[i]);
    expressions[argument] = {variable};
    if (from)
      os << indent << "  const float " << variable << " = " << operand(from).text << "[" << index
         << "];\n";
    else
      parameters += (parameters.empty() ? "float " : ", float ") + variable;
  }
  const std::string outer = std::exchange(indent, indent + "    ");
  os << outer << "  return [=](" << parameters << ") {\n";
  for (Operation &op : score.front().without_terminator())
    if (failed(printOp(op)))
      return failure();
  printStatement("return " + operand(score.front().getTerminator()->getOperand(0)).text + ";");
  indent = outer;
  os << indent << "  };\n" << indent << "};\n";
  return name;
}

/// What attention is given as queries.
std::string KernelPrinter::queriesText(Value queries, const std::string &score) {
  const std::string text = operand(queries).text;
  return score.empty() ? text : "eider::scored(" + text + ", " + score + ")";
}

FailureOr<std::string> KernelPrinter::attendText(AttendOp op) {
  FailureOr<std::string> score = printScore(op.getScore(), op.getCaptured());
  if (failed(score))
    return failure();
  SmallVector<std::string> arguments;
  const unsigned sequences = op.getSequencesMutable().getOperandNumber();
  for (OpOperand &given : op->getOpOperands().drop_back(op.getCaptured().size())) {
    const Value value = given.get();
    if (value == op.getOutput() || value == op.getArrivals())
      continue;
    if (value == op.getLengths() && !op.getPages())
      arguments.push_back("eider::no_pages()");
    const std::string text = operand(value).text;
    if (value == op.getQueries())
      arguments.push_back(queriesText(value, *score));
    else if (value == op.getParts() && op.getOutput())
      arguments.push_back("eider::combining(" + operand(op.getOutput()).text + ", " + text + ", " +
                          operand(op.getArrivals()).text + ")");
    else
      arguments.push_back(text);
    if (!op.getKeyScale() && (value == op.getKeys() || value == op.getValues()))
      arguments.push_back("nullptr"); // of its scales
    if (given.getOperandNumber() == sequences && !op.getPages())
      arguments.push_back("0"); // from row to row of a table
  }
  const bool isApart = op.getPages() && !op.getPitches().empty() && op.getAlignment() == 16;
  return attendCall("leave_part", op, op.getScales(), arguments, isApart);
}

FailureOr<std::string> KernelPrinter::attendRowsText(AttendRowsOp op) {
  FailureOr<std::string> score = printScore(op.getScore(), op.getCaptured());
  if (failed(score))
    return failure();
  SmallVector<std::string> arguments = {operand(op.getOutput()).text};
  const Value read[] = {op.getQueries(), op.getKeys(), op.getValues()};
  for (auto [i, value] : llvm::enumerate(read)) {
    arguments.push_back(i == 0 ? queriesText(value, *score) : operand(value).text);
    const size_t missing = std::size(read) - op.getScales().size(); // all, or the queries'
    arguments.push_back(i < missing ? "nullptr" : operand(op.getScales()[i - missing]).text);
  }
  std::string tokens = operand(op.getTokens()).text;
  if (op.getStarts())
    tokens = callOf("eider::packed", {},
                    {operand(op.getStarts()).text, operand(op.getCountOfStarts()).text, tokens});
  arguments.push_back(tokens);
  for (Value pitch : op.getPitches())
    arguments.push_back(operand(pitch).text);
  return attendCall("write_rows", op, op.getScalesOfEach(), arguments);
}

/// The types of attention: of its parts, and of who leaves them.
void KernelPrinter::printAttention() {
  auto printParts = [&](const std::string &type) {
    std::string &alias = products[type];
    if (alias.empty())
      printStatement("using " + (alias = names.fresh("Parts")) + " = " + type + ";");
    return alias;
  };
  kernel.walk([&](CombineAttentionOp op) { printParts(partsTypeOf(op)); });
  kernel.walk([&](AttendOp op) {
    printStatement("using Attend = " + decodeType(op, printParts(partsTypeOf(op))) + ";");
  });
  kernel.walk([&](AttendRowsOp op) { printStatement("using Attend = " + prefillType(op) + ";"); });
}

} // namespace eider::text
