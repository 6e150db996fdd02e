//===- IndicesTest.cpp - Positions, and rows chosen by an index -----------===//
//
// Part of Eider, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//
#include "tests/unit/interpreter/Support.h"

#include "eider/dsl.h"

#include <functional>
#include <gmock/gmock.h>

using namespace eider;
using namespace eider::testing;
using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

namespace {
HostTensor integers(const std::string &name, DType dtype, std::vector<int64_t> shape,
                    const std::vector<int64_t> &values) {
  HostTensor tensor{name, dtype, std::move(shape), {}};
  tensor.data.resize(values.size() * sizeOf(dtype));
  for (size_t i = 0; i < values.size(); ++i) // of little-endian integers, the low bytes
    std::memcpy(tensor.data.data() + i * sizeOf(dtype), &values[i], sizeOf(dtype));
  return tensor;
}

/// y = body(x) of x [tokens, hidden] f32.
std::vector<double> evaluate(const std::function<Value(Builder &, Dim, Dim, Value)> &body,
                             std::vector<int64_t> shape, const std::vector<double> &x) {
  Builder b("p");
  Dim tokens = b.dim("tokens"), hidden = b.dim("hidden");
  Value input = b.input("x", f32, {tokens, hidden});
  b.output("y", body(b, tokens, hidden, input));
  return valuesOf(named(interpret(b.build(), {floats("x", f32, std::move(shape), x)}), "y"));
}
} // namespace

TEST(Indices, CountRowsAndColumns) {
  auto upper = [](Builder &b, Dim tokens, Dim hidden, const Value &x) {
    return select(position(x, 1) > position(x, 0) + (b.extent(hidden) - b.extent(tokens)), -1, x);
  };
  EXPECT_THAT(evaluate(upper, {2, 3}, {1, 2, 3, 4, 5, 6}), ElementsAre(1, 2, -1, 4, 5, 6));
  EXPECT_THAT(evaluate(upper, {3, 2}, {1, 2, 3, 4, 5, 6}), ElementsAre(-1, -1, 3, -1, 5, 6));
  auto third = [](Builder &, Dim, Dim, const Value &x) {
    return select(position(x, -1) == 2, 9, x);
  };
  EXPECT_THAT(evaluate(third, {1, 4}, {1, 2, 3, 4}), ElementsAre(1, 2, 9, 4));
}

TEST(Indices, TurnHalves) {
  auto turned = [](int64_t over) {
    return [over](Builder &, Dim, Dim, const Value &x) { return rotate_halves(x, over); };
  };
  EXPECT_THAT(evaluate(turned(4), {1, 8}, {1, 2, 3, 4, 5, 6, 7, 8}),
              ElementsAre(-3, -4, 1, 2, -7, -8, 5, 6));
  EXPECT_THAT(evaluate(turned(2), {2, 2}, {1, 2, 3, 4}), ElementsAre(-2, 1, -4, 3));
}

TEST(Indices, ChooseRowsAndNoneOutside) {
  for (DType type : {DType::i32, DType::i64}) {
    Builder b("p");
    Dim tokens = b.dim("tokens"), hidden = b.dim("hidden"), rows = b.dim("rows");
    Value table = b.input("table", f32, {rows, hidden});
    Value chosen = b.input("chosen", type, {tokens});
    b.output("y", gather(table, chosen));
    const HostTensor held = floats("table", f32, {2, 2}, {1, 2, 3, 4});
    // Far outside, too: past what 32 bits hold, where the type does.
    const int64_t least = type == DType::i32 ? INT32_MIN : INT64_MIN;
    EXPECT_THAT(valuesOf(named(interpret(b.build(), {held, integers("chosen", type, {5},
                                                                    {1, -1, 2, 0, least})}),
                               "y")),
                ElementsAre(3, 4, 0, 0, 0, 0, 1, 2, 0, 0));
  }
}

TEST(Indices, ChooseAmongSeveralAndRepeatAlongARow) {
  Builder b("p");
  Dim tokens = b.dim("tokens"), hidden = b.dim("hidden"), rows = b.dim("rows");
  Value x = b.input("x", f32, {tokens, hidden});
  Value table = b.input("table", f32, {rows, 2});
  Value chosen = b.input("chosen", DType::i64, {tokens, 2});
  b.output("y", x + repeat(gather(table, column(chosen, 1)), hidden, 2));
  const auto outputs = interpret(b.build(), {floats("x", f32, {2, 8}, std::vector<double>(16, 0)),
                                             floats("table", f32, {2, 2}, {1, 2, 3, 4}),
                                             integers("chosen", DType::i64, {2, 2}, {0, 1, 1, 0})});
  EXPECT_THAT(valuesOf(named(outputs, "y")),
              ElementsAre(3, 3, 4, 4, 3, 3, 4, 4, 1, 1, 2, 2, 1, 1, 2, 2));
}

namespace {
/// cache[chosen] = quantize(x), two columns a block.
Program append() {
  Builder b("p");
  Dim tokens = b.dim("tokens"), hidden = b.dim("hidden"), rows = b.dim("rows");
  Value x = b.input("x", f32, {tokens, hidden});
  Value chosen = b.input("chosen", DType::i64, {tokens});
  b.scatter("cache", quantize(x, e4m3, {.block = {1, 2}}), chosen, rows);
  return b.build();
}

std::vector<HostTensor> appended() {
  return {floats("x", f32, {3, 2}, {448, 224, 896, 0, 1, 1}),
          integers("chosen", DType::i64, {3}, {2, 0, -1}),
          codes("cache", e4m3, {4, 2}, {1, 2, 3, 4, 5, 6, 7, 8}),
          floats("cache_scale", f32, {4, 1}, {10, 20, 30, 40})};
}
} // namespace

TEST(Indices, PlaceRowsAndKeepTheOthers) {
  const std::vector<HostTensor> outputs = interpret(append(), appended());
  EXPECT_THAT(codesOf(named(outputs, "cache")), ElementsAre(0x7e, 0, 3, 4, 0x7e, 0x76, 7, 8));
  EXPECT_THAT(valuesOf(named(outputs, "cache_scale")), ElementsAre(2, 20, 1, 40));
}

TEST(Indices, ComparisonSeesRowsThatShouldHaveStayed) {
  const std::vector<HostTensor> right = interpret(append(), appended());
  auto wrong = [&](size_t tensor, size_t byte) {
    std::vector<HostTensor> outputs = right;
    outputs[tensor].data[byte] ^= std::byte{1};
    std::string first;
    for (const Comparison &comparison : compare(append(), appended(), outputs))
      first += comparison.wrong ? comparison.firstWrong : "";
    return first;
  };
  for (const Comparison &comparison : compare(append(), appended(), right))
    EXPECT_EQ(comparison.wrong, 0) << comparison.firstWrong;
  EXPECT_THAT(wrong(0, 3), AllOf(HasSubstr("cache[1]"), HasSubstr("no index chooses it")));
  EXPECT_THAT(wrong(1, 15), HasSubstr("cache_scale[3]"));
  EXPECT_THAT(wrong(0, 0), HasSubstr("cache[1, 0]")) << "the row of x that is placed there";
}
