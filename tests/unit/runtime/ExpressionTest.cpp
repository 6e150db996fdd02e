//===- tests/unit/runtime/ExpressionTest.cpp ------------------------------===//
//
// Part of Eider, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//
#include "runtime/contract/Expression.h"

#include "eider/error.h"

#include <gtest/gtest.h>
#include <limits>
#include <rapidcheck/gtest.h>

#include <optional>

using eider::Error;
using eider::contract::Expression;

namespace {

const std::vector<std::string> names = {"tokens", "hidden"};

int64_t evaluate(const std::string &text, int64_t tokens, int64_t hidden) {
  const int64_t dims[] = {tokens, hidden};
  return Expression::parse(text, names).evaluate(dims);
}

std::string parseError(const std::string &text) {
  try {
    Expression::parse(text, names);
  } catch (const Error &error) {
    return error.what();
  }
  return "";
}

TEST(Expression, TheLargestOfManyIsParsed) {
  using eider::contract::maximumOf;
  EXPECT_EQ(maximumOf({}), "0");
  EXPECT_EQ(maximumOf({"tokens", "tokens"}), "tokens");
  std::vector<std::string> many;
  for (int i = 1; i <= 1000; ++i)
    many.push_back("tokens * " + std::to_string(i * 37 % 1001));
  EXPECT_EQ(evaluate(maximumOf(many), 2, 0), 2000);
}

TEST(Expression, UpToSomeExtentIsZeroBeyond) {
  using eider::contract::upTo;
  const std::string bounded = upTo(64, "tokens", "4 * tokens + 2");
  EXPECT_EQ(evaluate(bounded, 0, 0), 2);
  EXPECT_EQ(evaluate(bounded, 64, 0), 258);
  EXPECT_EQ(evaluate(bounded, 65, 0), 0);
  EXPECT_EQ(evaluate(bounded, 1 << 20, 0), 0);
  EXPECT_EQ(upTo(64, "tokens", "0"), "0");
  EXPECT_EQ(upTo(std::numeric_limits<int64_t>::max(), "tokens", "tokens"), "tokens");
}

TEST(Expression, Arithmetic) {
  EXPECT_EQ(evaluate("tokens * ceildiv(hidden, 128)", 3, 129), 6);
  EXPECT_EQ(evaluate("1 + 2 * 3 - 4 / 2", 0, 0), 5);
  EXPECT_EQ(evaluate("10 - 3 - 2", 0, 0), 5);
  EXPECT_EQ(evaluate("(10 - (3 - 2)) * 2", 0, 0), 18);
  EXPECT_EQ(evaluate("min(tokens, 2147483647)", 5000000000, 0), 2147483647);
  EXPECT_EQ(evaluate("max(tokens, hidden)", 3, 7), 7);
}

TEST(Expression, DivisionRoundsDownAndCeildivUp) {
  EXPECT_EQ(evaluate("(0 - 7) / 2", 0, 0), -4);
  EXPECT_EQ(evaluate("7 / (0 - 2)", 0, 0), -4);
  EXPECT_EQ(evaluate("(0 - 8) / 2", 0, 0), -4);
  EXPECT_EQ(evaluate("ceildiv(0 - 7, 2)", 0, 0), -3);
  EXPECT_EQ(evaluate("ceildiv(7, 2)", 0, 0), 4);
  EXPECT_EQ(evaluate("ceildiv(0, 128)", 0, 0), 0);
}

TEST(Expression, OverflowIsAnError) {
  EXPECT_THROW(evaluate("tokens * hidden", INT64_MAX, 2), Error);
  EXPECT_THROW(evaluate("tokens + 1", INT64_MAX, 0), Error);
  EXPECT_THROW(evaluate("tokens - 1", INT64_MIN, 0), Error);
  EXPECT_THROW(evaluate("tokens / hidden", INT64_MIN, -1), Error);
  EXPECT_THROW(evaluate("tokens / hidden", 1, 0), Error);
  EXPECT_THROW(evaluate("ceildiv(tokens, hidden)", 1, 0), Error);
}

TEST(Expression, ErrorsQuoteTheText) {
  EXPECT_EQ(
      parseError("tokens + columns"),
      "kernel contract: unknown name 'columns' at position 9 of expression 'tokens + columns'");
  EXPECT_NE(parseError("tokens +").find("expected a number"), std::string::npos);
  EXPECT_NE(parseError("9223372036854775808").find("over 64 bits"), std::string::npos);
  EXPECT_NE(parseError("min(1)").find("expected ','"), std::string::npos);
  EXPECT_NE(parseError("(1").find("expected ')'"), std::string::npos);
  EXPECT_NE(parseError("1 1").find("unexpected character"), std::string::npos);
  EXPECT_NE(parseError("").find("expected a number"), std::string::npos);
  EXPECT_NE(parseError(std::string(10000, '(')).find("deeply"), std::string::npos);
}

//===-- Random expressions against 128-bit arithmetic ----------------------===//

/// An expression's text, and its value in exact arithmetic; nothing where evaluate() must throw.
struct Sample {
  std::string text;
  std::optional<int64_t> value;
};

std::optional<int64_t> narrow(__int128 value) {
  if (value < INT64_MIN || value > INT64_MAX)
    return std::nullopt;
  return static_cast<int64_t>(value);
}

__int128 floorDivide(__int128 a, __int128 b) {
  __int128 quotient = a / b;
  while (quotient * b != a && ((a < 0) != (b < 0)) &&
         quotient * b * (b > 0 ? 1 : -1) > a * (b > 0 ? 1 : -1))
    --quotient;
  return quotient;
}

std::optional<int64_t> apply(char op, __int128 a, __int128 b) {
  switch (op) {
  case '+':
    return narrow(a + b);
  case '-':
    return narrow(a - b);
  case '*':
    return narrow(a * b);
  case '/':
    return b == 0 ? std::nullopt : narrow(floorDivide(a, b));
  case 'c': // the ceiling is minus the floor of the negative
    return b == 0 || (a == INT64_MIN && b == -1) ? std::nullopt : narrow(-floorDivide(-a, b));
  case 'm':
    return narrow(a < b ? a : b);
  default:
    return narrow(a < b ? b : a);
  }
}

Sample random(int depth, int64_t tokens, int64_t hidden) {
  const int kind = depth == 0 ? *rc::gen::inRange(0, 3) : *rc::gen::inRange(0, 10);
  if (kind == 0)
    return {"tokens", tokens};
  if (kind == 1)
    return {"hidden", hidden};
  if (kind == 2) {
    const int64_t value = *rc::gen::inRange<int64_t>(0, INT64_MAX);
    return {std::to_string(value), value};
  }
  const char op = "+-*/cmM"[kind - 3];
  const Sample a = random(depth - 1, tokens, hidden), b = random(depth - 1, tokens, hidden);
  Sample result;
  if (op == 'c' || op == 'm' || op == 'M')
    result.text = std::string(op == 'c'   ? "ceildiv"
                              : op == 'm' ? "min"
                                          : "max") +
                  "(" + a.text + "," + b.text + ")";
  else
    result.text = "(" + a.text + " " + op + " " + b.text + ")";
  if (a.value && b.value)
    result.value = apply(op, *a.value, *b.value);
  return result;
}

RC_GTEST_PROP(Expression, AgreesWithExactArithmetic, ()) {
  const int64_t tokens = *rc::gen::arbitrary<int64_t>(), hidden = *rc::gen::arbitrary<int64_t>();
  const Sample sample = random(*rc::gen::inRange(0, 6), tokens, hidden);
  if (sample.value)
    RC_ASSERT(evaluate(sample.text, tokens, hidden) == *sample.value);
  else
    RC_ASSERT_THROWS_AS(evaluate(sample.text, tokens, hidden), Error);
}

} // namespace
