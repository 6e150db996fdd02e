//===- Parse.cpp - Programs from text -------------------------------------===//
//
// Part of Eider, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//
#include "compiler/dsl/ProgramImpl.h"
#include "eider/compile.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/IR/Diagnostics.h"
#include "mlir/IR/TypeUtilities.h"
#include "mlir/Parser/Parser.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/SourceMgr.h"

using namespace mlir;
using namespace eider;

/// The parser recurses on brackets: more levels than any program has would exhaust the stack.
static constexpr int deepest = 200;

/// `file:line:column` of a location in the text; the file alone if it is none.
static std::string placeOf(Location location, const std::string &file) {
  auto place = location->findInstanceOf<FileLineColLoc>();
  if (!place)
    return file;
  return file + ":" + std::to_string(place.getLine()) + ":" + std::to_string(place.getColumn());
}

/// The line on which brackets nest too deep; 0 if none do. Strings and comments do not count.
static int lineTooDeep(StringRef text) {
  int depth = 0, line = 1;
  bool inString = false, inComment = false;
  for (size_t i = 0; i < text.size(); ++i) {
    char c = text[i];
    if (c == '\n') {
      ++line;
      inString = inComment = false;
    } else if (inComment) {
      continue;
    } else if (c == '"') {
      inString = !inString;
    } else if (inString) {
      i += c == '\\';
    } else if (c == '/' && text.substr(i).starts_with("//")) {
      inComment = true;
    } else if (StringRef("([{<").contains(c)) {
      if (++depth > deepest)
        return line;
    } else if (StringRef(")]}>").contains(c) && !(i && c == '>' && text[i - 1] == '-')) {
      depth = std::max(0, depth - 1);
    }
  }
  return 0;
}

/// Parses and verifies; throws the first diagnostic.
static OwningOpRef<ModuleOp> parseText(const std::string &text, const std::string &file,
                                       MLIRContext &context, ErrorKind kind) {
  std::string what, where = file;
  OwningOpRef<ModuleOp> module;
  {
    ScopedDiagnosticHandler handler(&context, [&](Diagnostic &diagnostic) {
      if (what.empty() && diagnostic.getSeverity() == DiagnosticSeverity::Error) {
        what = diagnostic.str();
        where = placeOf(diagnostic.getLocation(), file);
      }
      return success();
    });
    llvm::SourceMgr sources;
    sources.AddNewSourceBuffer(llvm::MemoryBuffer::getMemBufferCopy(text, file), llvm::SMLoc());
    module = parseSourceFile<ModuleOp>(sources, &context);
  }
  if (!module)
    throw Error(kind, what.empty() ? "no program in the eider dialect" : what, where,
                "mend the program");
  return module;
}

OwningOpRef<ModuleOp> eider::parseModule(const Program &program, MLIRContext &context) {
  loadDialects(context);
  return parseText(program.text(), program.name() + ".mlir", context, ErrorKind::Internal);
}

/// What is wrong with a user's program, or an op in it, and what to do; empty: nothing.
static std::pair<std::string, std::string> problemOf(Operation &op) {
  const std::string name = "'" + op.getName().getStringRef().str() + "'";
  if (!isa_and_nonnull<ir::EiderDialect, arith::ArithDialect, math::MathDialect>(op.getDialect()) ||
      (op.getNumRegions() != 0 && !isa<ir::ProgramOp, ir::AttentionOp, ir::PrefillOp>(op)))
    return {name + " has no place in a program", "use ops of eider, arith and math"};
  for (NamedAttribute attribute : op.getDiscardableAttrs())
    if (attribute.getName() != "eider.name")
      return {"the attribute '" + attribute.getName().str() +
                  "' is the compiler's own, or nobody's",
              "leave it out"};
  auto input = dyn_cast<ir::InputOp>(op);
  auto output = dyn_cast<ir::OutputOp>(op);
  if ((input && input.getWorkspace()) || (output && output.getWorkspace()))
    return {"the workspace is the compiler's own", "leave workspace out"};
  if (output && getElementTypeOrSelf(output.getValue().getType()).isInteger())
    return {"an output of indices, or of truth: no kernel writes these", "give values"};
  auto isOfCodes = [](Type type) {
    const Type element = getElementTypeOrSelf(type);
    return ir::isCodeType(element) || isa<Float8E8M0FNUType>(element);
  };
  const bool isEiders = isa<ir::EiderDialect>(op.getDialect());
  const bool widens = isa<arith::ExtFOp>(op) && getElementTypeOrSelf(op.getResult(0)).isF32();
  if (!isEiders && !widens && llvm::any_of(op.getOperandTypes(), isOfCodes))
    return {name + " takes codes, which are no values", "decode them first"};
  for (Type type : op.getResultTypes()) {
    if (isa<ir::ScaledType>(type) && !isa<ir::InputOp, ir::QuantizeOp>(op))
      return {name + " gives a scaled tensor, which inputs are and eider.quantize makes",
              "quantise what it has of values"};
    if (!isEiders && isOfCodes(type))
      return {name + " gives codes, which inputs are and eider.encode makes",
              "encode what it has of values"};
  }
  return {};
}

static void checkOps(ir::ProgramOp program, const std::string &file) {
  auto check = [&](Operation &op) {
    if (const auto [what, remedy] = problemOf(op); !what.empty())
      throw Error(ErrorKind::Request, what, placeOf(op.getLoc(), file), remedy);
  };
  check(*program);
  for (Operation &op : program.getBlock())
    check(op);
}

Program eider::parseProgram(const std::string &text, const std::string &file) {
  if (int line = lineTooDeep(text))
    throw Error(ErrorKind::Request,
                "brackets nest deeper than " + std::to_string(deepest) + " levels",
                file + ":" + std::to_string(line) + ":1", "mend the program");
  MLIRContext context(MLIRContext::Threading::DISABLED);
  loadDialects(context);
  auto module = parseText(text, file, context, ErrorKind::Request);
  ir::ProgramOp program;
  for (Operation &op : *module->getBody()) {
    auto candidate = dyn_cast<ir::ProgramOp>(op);
    if (!candidate || program)
      throw Error(ErrorKind::Request,
                  program ? "a second op beside @" + program.getSymName().str()
                          : "the op '" + op.getName().getStringRef().str() +
                                "' stands outside a program",
                  placeOf(op.getLoc(), file), "give one eider.program and nothing else");
    program = candidate;
  }
  if (!program)
    throw Error(ErrorKind::Request, "there is no eider.program", file, "give one eider.program");
  checkOps(program, file);
  return makeProgram(program, "");
}
