//===- contract/Expression.h - Integer expressions over dims ----*- C++ -*-===//
//
// Part of Eider, under the Apache License v2.0.
//
// The expressions of docs/design/kernel-contract.md: parsed once, evaluated without allocation.
//
//===----------------------------------------------------------------------===//
#ifndef EIDER_RUNTIME_CONTRACT_EXPRESSION_H
#define EIDER_RUNTIME_CONTRACT_EXPRESSION_H

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace eider::contract {

/// A 64-bit integer expression: `+ - * /` (floor), parentheses, `ceildiv(a, b)`, `min(a, b)`,
/// `max(a, b)` over named dims.
class Expression {
public:
  enum class Op : uint8_t { Constant, Dim, Add, Subtract, Multiply, Divide, CeilDiv, Min, Max };
  struct Step {
    Op op;
    int64_t value; ///< of a constant; the index of a dim
  };

  /// The constant 0.
  Expression() = default;

  /// `dims` are the names that may occur, in the order in which evaluate() takes their values.
  /// Throws Error (Internal: a contract is made by Eider) that quotes the text and says where it
  /// breaks.
  static Expression parse(std::string_view text, std::span<const std::string> dims);

  /// Throws Error (Request) on overflow and on a division by zero. `dims` has as many values as
  /// parse() had names.
  int64_t evaluate(std::span<const int64_t> dims) const;

  const std::string &text() const { return source; }

  /// The steps in postfix order: what prints an expression in another language needs.
  std::span<const Step> postfix() const { return steps; }

  /// One step's arithmetic; false on overflow and on a division by zero.
  static bool apply(Op op, int64_t a, int64_t b, int64_t &result);

private:
  friend class ExpressionParser;
  /// The deepest stack that a parsed expression may need.
  static constexpr unsigned maxDepth = 32;

  [[noreturn]] void fail(std::span<const int64_t> dims) const;

  std::string source = "0";
  std::vector<Step> steps = {{Op::Constant, 0}}; ///< in postfix order
};

/// The expression where a dim is at most so much, and 0 where it is more.
std::string upTo(int64_t most, const std::string &dim, const std::string &expression);

/// An expression that is the largest of all, each counted once; of many it nests little. Of none 0.
std::string maximumOf(std::vector<std::string> expressions);

} // namespace eider::contract

#endif // EIDER_RUNTIME_CONTRACT_EXPRESSION_H
