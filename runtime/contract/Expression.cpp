//===- contract/Expression.cpp - Integer expressions over dims ------------===//
//
// Part of Eider, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//
#include "runtime/contract/Expression.h"

#include "eider/error.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <limits>

namespace eider::contract {

/// Recursive descent; emits postfix steps and keeps track of the stack that they need.
class ExpressionParser {
public:
  using Op = Expression::Op;

  ExpressionParser(std::string_view text, std::span<const std::string> dims, Expression &out)
      : text(text), dims(dims), out(out) {}

  void run() {
    out.source = std::string(text);
    out.steps.clear();
    sum();
    skipSpace();
    if (position != text.size())
      fail("unexpected character");
  }

private:
  static constexpr unsigned maxNesting = 64;

  [[noreturn]] void fail(const std::string &what) const {
    throw Error(ErrorKind::Internal,
                what + " at position " + std::to_string(position) + " of expression '" +
                    std::string(text) + "'",
                "kernel contract");
  }

  void skipSpace() {
    while (position < text.size() && text[position] == ' ')
      ++position;
  }

  bool accept(char c) {
    skipSpace();
    if (position == text.size() || text[position] != c)
      return false;
    ++position;
    return true;
  }

  void expect(char c) {
    if (!accept(c))
      fail(std::string("expected '") + c + "'");
  }

  void push(Op op, int64_t value) {
    out.steps.push_back({op, value});
    if (++depth > Expression::maxDepth)
      fail("too many pending operands");
  }

  void combine(Op op) {
    out.steps.push_back({op, 0});
    --depth;
  }

  void sum() {
    if (++nesting > maxNesting)
      fail("too deeply nested");
    product();
    for (;;) {
      if (accept('+')) {
        product();
        combine(Op::Add);
      } else if (accept('-')) {
        product();
        combine(Op::Subtract);
      } else {
        --nesting;
        return;
      }
    }
  }

  void product() {
    operand();
    for (;;) {
      if (accept('*')) {
        operand();
        combine(Op::Multiply);
      } else if (accept('/')) {
        operand();
        combine(Op::Divide);
      } else {
        return;
      }
    }
  }

  void operand() {
    skipSpace();
    if (accept('(')) {
      sum();
      expect(')');
    } else if (position < text.size() && std::isdigit(static_cast<unsigned char>(text[position]))) {
      push(Op::Constant, literal());
    } else {
      name();
    }
  }

  int64_t literal() {
    int64_t value = 0;
    for (; position < text.size() && std::isdigit(static_cast<unsigned char>(text[position]));
         ++position)
      if (__builtin_mul_overflow(value, 10, &value) ||
          __builtin_add_overflow(value, text[position] - '0', &value))
        fail("integer over 64 bits");
    return value;
  }

  void name() {
    size_t start = position;
    while (position < text.size() &&
           (std::isalnum(static_cast<unsigned char>(text[position])) || text[position] == '_'))
      ++position;
    std::string_view word = text.substr(start, position - start);
    if (word.empty())
      fail("expected a number, a dim or a function");
    if (auto dim = std::find(dims.begin(), dims.end(), word); dim != dims.end())
      return push(Op::Dim, dim - dims.begin());
    if (word == "ceildiv")
      return function(Op::CeilDiv);
    if (word == "min")
      return function(Op::Min);
    if (word == "max")
      return function(Op::Max);
    position = start;
    fail("unknown name '" + std::string(word) + "'");
  }

  void function(Op op) {
    expect('(');
    sum();
    expect(',');
    sum();
    expect(')');
    combine(op);
  }

  std::string_view text;
  std::span<const std::string> dims;
  Expression &out;
  size_t position = 0;
  unsigned depth = 0, nesting = 0;
};

Expression Expression::parse(std::string_view text, std::span<const std::string> dims) {
  Expression expression;
  ExpressionParser(text, dims, expression).run();
  return expression;
}

bool Expression::apply(Op op, int64_t a, int64_t b, int64_t &result) {
  switch (op) {
  case Op::Add:
    return !__builtin_add_overflow(a, b, &result);
  case Op::Subtract:
    return !__builtin_sub_overflow(a, b, &result);
  case Op::Multiply:
    return !__builtin_mul_overflow(a, b, &result);
  case Op::Divide:
  case Op::CeilDiv: {
    if (b == 0 || (a == INT64_MIN && b == -1))
      return false;
    // C++ rounds towards zero; a remainder says that the quotient is not exact, its sign on which
    // side the true one lies.
    result = a / b;
    const bool inexact = a % b != 0, negative = (a < 0) != (b < 0);
    if (inexact && op == Op::Divide && negative)
      --result;
    if (inexact && op == Op::CeilDiv && !negative)
      ++result;
    return true;
  }
  case Op::Min:
    result = std::min(a, b);
    return true;
  case Op::Max:
    result = std::max(a, b);
    return true;
  case Op::Constant:
  case Op::Dim:
    break;
  }
  return false;
}

int64_t Expression::evaluate(std::span<const int64_t> dims) const {
  std::array<int64_t, maxDepth> stack;
  unsigned depth = 0;
  for (const Step &step : steps) {
    if (step.op == Op::Constant) {
      stack[depth++] = step.value;
    } else if (step.op == Op::Dim) {
      stack[depth++] = dims[step.value];
    } else {
      --depth;
      if (!apply(step.op, stack[depth - 1], stack[depth], stack[depth - 1]))
        fail(dims);
    }
  }
  return stack[0];
}

void Expression::fail(std::span<const int64_t> dims) const {
  std::string values;
  for (int64_t dim : dims)
    values += (values.empty() ? "" : ", ") + std::to_string(dim);
  throw Error(ErrorKind::Request,
              "'" + source + "' overflows 64 bits or divides by zero for the dims (" + values + ")",
              "", "use smaller dims");
}

std::string upTo(int64_t most, const std::string &dim, const std::string &expression) {
  if (expression == "0" || most == std::numeric_limits<int64_t>::max())
    return expression;
  return "min(1, max(0, " + std::to_string(most + 1) + " - " + dim + ")) * (" + expression + ")";
}

std::string maximumOf(std::vector<std::string> expressions) {
  std::vector<std::string> level;
  for (std::string &expression : expressions)
    if (std::find(level.begin(), level.end(), expression) == level.end())
      level.push_back(std::move(expression));
  while (level.size() > 1) {
    std::vector<std::string> pairs;
    for (size_t i = 0; i < level.size(); i += 2)
      pairs.push_back(i + 1 < level.size() ? "max(" + level[i] + ", " + level[i + 1] + ")"
                                           : level[i]);
    level = std::move(pairs);
  }
  return level.empty() ? "0" : level.front();
}

} // namespace eider::contract
