//===- aot/CExpression.cpp - A contract's expressions as C ----------------===//
//
// Part of Eider, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//
#include "runtime/aot/CExpression.h"

#include "eider/error.h"

#include <optional>

namespace eider::aot {
namespace {

using contract::Expression;
using Op = Expression::Op;

/// A C function for each operation: what its overflow is, the C functions say.
struct Function {
  Op op;
  bool overflows;
  const char *name;
  const char *text;
};

constexpr Function functions[] = {
    {Op::Add, true, "add",
     R"(static int64_t add(int64_t a, int64_t b, int *overflow) {
  int64_t result;
  *overflow |= __builtin_add_overflow(a, b, &result);
  return result;
}
)"},
    {Op::Subtract, true, "subtract",
     R"(static int64_t subtract(int64_t a, int64_t b, int *overflow) {
  int64_t result;
  *overflow |= __builtin_sub_overflow(a, b, &result);
  return result;
}
)"},
    {Op::Multiply, true, "multiply",
     R"(static int64_t multiply(int64_t a, int64_t b, int *overflow) {
  int64_t result;
  *overflow |= __builtin_mul_overflow(a, b, &result);
  return result;
}
)"},
    {Op::Divide, true, "floordiv",
     R"(static int64_t floordiv(int64_t a, int64_t b, int *overflow) {
  if (b == 0 || (a == INT64_MIN && b == -1))
    return *overflow = 1;
  return a / b - (a % b != 0 && (a < 0) != (b < 0));
}
)"},
    {Op::CeilDiv, true, "ceildiv",
     R"(static int64_t ceildiv(int64_t a, int64_t b, int *overflow) {
  if (b == 0 || (a == INT64_MIN && b == -1))
    return *overflow = 1;
  return a / b + (a % b != 0 && (a < 0) == (b < 0));
}
)"},
    {Op::Min, false, "smaller",
     R"(static int64_t smaller(int64_t a, int64_t b) { return a < b ? a : b; }
)"},
    {Op::Max, false, "larger",
     R"(static int64_t larger(int64_t a, int64_t b) { return a > b ? a : b; }
)"},
};

const Function &functionOf(Op op) {
  for (const Function &function : functions)
    if (function.op == op)
      return function;
  throw Error(ErrorKind::Internal, "an operation without a C function", "kernel contract");
}

struct Operand {
  std::string text;
  std::optional<int64_t> value; ///< Set: a constant.
};

} // namespace

std::set<std::string> functionNames() {
  std::set<std::string> names;
  for (const Function &function : functions)
    names.insert(function.name);
  return names;
}

std::string cInteger(int64_t value) {
  if (value == INT64_MIN)
    return "INT64_MIN";
  const std::string digits = std::to_string(value);
  return value > INT32_MAX || value < -INT32_MAX ? "INT64_C(" + digits + ")" : digits;
}

std::string CExpressions::print(const std::string &text, const std::string &prefix,
                                const std::string &overflow) {
  std::vector<Operand> stack;
  const Expression expression = Expression::parse(text, contract.dimNames());
  for (const Expression::Step &step : expression.postfix()) {
    if (step.op == Op::Constant) {
      stack.push_back({cInteger(step.value), step.value});
      continue;
    }
    if (step.op == Op::Dim) {
      const std::optional<int64_t> value = contract.dims[step.value].value;
      stack.push_back({value ? cInteger(*value) : prefix + dimNames[step.value], value});
      continue;
    }
    const Operand b = stack.back();
    stack.pop_back();
    Operand &a = stack.back();
    if (int64_t value;
        a.value && b.value && Expression::apply(step.op, *a.value, *b.value, value)) {
      a = {cInteger(value), value};
      continue;
    }
    const Function &function = functionOf(step.op);
    used.insert(step.op);
    a = {std::string(function.name) + "(" + a.text + ", " + b.text +
             (function.overflows ? ", " + overflow : "") + ")",
         std::nullopt};
  }
  return stack.back().text;
}

std::string CExpressions::larger(const std::string &a, const std::string &b) {
  used.insert(Op::Max);
  return std::string(functionOf(Op::Max).name) + "(" + a + ", " + b + ")";
}

std::string CExpressions::smaller(const std::string &a, const std::string &b) {
  used.insert(Op::Min);
  return std::string(functionOf(Op::Min).name) + "(" + a + ", " + b + ")";
}

std::string CExpressions::functions() const {
  std::string text;
  for (const Function &function : aot::functions)
    if (used.contains(function.op))
      text += function.text + std::string("\n");
  return text;
}

} // namespace eider::aot
