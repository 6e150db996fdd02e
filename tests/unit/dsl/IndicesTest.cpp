//===- IndicesTest.cpp - Positions, and rows chosen by an index -----------===//
//
// Part of Eider, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//
#include "eider/compile.h"

#include <functional>
#include <gmock/gmock.h>

using namespace eider;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::Not;

namespace {
struct IndicesTest : testing::Test {
  Builder b{"op"};
  Dim tokens = b.dim("tokens"), hidden = b.dim("hidden"), rows = b.dim("rows");
  Value x = b.input("x", bf16, {tokens, hidden});
  Value table = b.input("table", f32, {rows, hidden});
  Value narrow = b.input("narrow", bf16, {rows, 8});
  Value chosen = b.input("chosen", DType::i32, {tokens});
  Value pairs = b.input("pairs", DType::i64, {tokens, 2});

  /// The program's text, which is read back as the same text.
  std::string built() {
    Program program = b.build();
    EXPECT_EQ(parseProgram(program.text(), "again.mlir").text(), program.text());
    return program.text();
  }

  /// The error names the op and a line of this file, and says what to do.
  void expect(const std::function<void()> &action, const std::string &what) {
    try {
      action();
      ADD_FAILURE() << "no error: " << what;
    } catch (const Error &error) {
      EXPECT_EQ(error.kind(), ErrorKind::Request);
      EXPECT_THAT(error.what(), HasSubstr(what));
      EXPECT_THAT(error.where(), HasSubstr("op (IndicesTest.cpp:"));
      EXPECT_FALSE(error.remedy().empty()) << what;
    }
  }
};

TEST_F(IndicesTest, positionsAndExtentsAreExactIntegers) {
  Mask behind = position(x, -1) > position(x, 0) + (b.extent(hidden) - b.extent(tokens));
  b.output("y", select(behind, 0, x));
  EXPECT_TRUE(b.build().signature().countsRows);
  std::string text = built();
  EXPECT_THAT(text, HasSubstr("eider.position 1 : tensor<1x?xi64, #eider.dims<1, hidden>>"));
  EXPECT_THAT(text, HasSubstr("eider.position 0 : tensor<?x1xi64, #eider.dims<tokens, 1>>"));
  EXPECT_THAT(text, HasSubstr("eider.extent<hidden>"));
  EXPECT_THAT(text, HasSubstr("arith.cmpi sgt"));
}

TEST_F(IndicesTest, indicesOf32BitsAreWidened) {
  b.output("y", gather(table, chosen + 1));
  std::string text = built();
  EXPECT_THAT(text, HasSubstr("arith.extsi"));
  EXPECT_THAT(text, HasSubstr("arith.constant 1 : i64"));
}

TEST_F(IndicesTest, theSignatureSaysWhatChoosesAndWhatIsChosen) {
  b.output("y", gather(table, column(pairs, 0)) + gather(table, column(pairs, 1)));
  b.scatter("cache", quantize(x, e4m3, {.block = {1, 32}}), chosen, rows);
  std::vector<std::string> notes;
  Program program = b.build();
  for (const Signature::Tensor &tensor : program.signature().tensors)
    if (!tensor.choosesFrom.empty() || !tensor.rowsChosen.empty())
      notes.push_back(tensor.name + ":" + tensor.choosesFrom + ":" + tensor.rowsChosen +
                      (tensor.role == Signature::Role::InOut ? ":inout" : ""));
  EXPECT_THAT(notes, ElementsAre("table::tokens + tokens", "chosen:rows:", "pairs:rows:",
                                 "cache::tokens:inout", "cache_scale::tokens:inout"));
  EXPECT_FALSE(program.signature().countsRows);
}

TEST_F(IndicesTest, scalesGoWithTheirRowsUnlessTheyWereGiven) {
  Value scale = b.input("scale", f32, {1, ceildiv(hidden, 32)});
  b.scatter("given", quantize(x, e4m3, {.block = {whole, 32}, .scales = scale}), chosen, rows);
  EXPECT_THAT(built(), HasSubstr(R"(eider.scatter "given")"));
  for (const Signature::Tensor &tensor : b.build().signature().tensors)
    EXPECT_NE(tensor.name, "given_scale");
}

TEST_F(IndicesTest, whatIsDoneWithIndicesIsSaid) {
  expect([&] { x *position(x, 0); }, "*: an operand is an index");
  expect([&] { exp(position(x, 0)); }, "exp: an operand is an index");
  expect([&] { position(x, 0) + x; }, "+: an operand is not an index");
  expect([&] { position(x, 0) + 0.5; }, "+: the number 0.500000 is no index");
  expect([&] { select(position(x, 0) == x, 1, 0); }, "an operand is not an index");
  expect([&] { position(x, 2); }, "position: there is no axis 2 in [tokens, hidden]");
  expect([&] { position(b.scalar("s", 1), 0); }, "there is no axis 0 in []");
  expect([&] { b.extent(ceildiv(hidden, 8)); }, "'hidden / 8' is a number of blocks");
  expect([&] { b.output("y", position(x, 0)); }, "the value is an index");
  expect([&] { cast(chosen, bf16); }, "an operand is an index");
  expect([&] { first_half(chosen); }, "a scalar or an index has no halves");
  expect([&] { transpose(pairs); }, "transpose: the operand is an index");
}

TEST_F(IndicesTest, whatRowsAreChosenOfAndBy) {
  expect([&] { gather(table * 2, chosen); }, "gather: the operand is computed");
  expect([&] { gather(table, x); }, "gather: an operand is not an index");
  expect([&] { gather(table, pairs); }, "an index of shape [tokens, 2]");
  expect([&] { gather(chosen, chosen); }, "the operand is [tokens]");
  expect([&] { column(pairs, 2); }, "there is no column 2 in [tokens, 2]");
  expect([&] { column(x, 0); }, "the number of columns of [tokens, hidden] is a dim");
  expect([&] { repeat(x, hidden); }, "the number of columns of [tokens, hidden] is a dim");
  expect([&] { repeat(narrow * 2, hidden); }, "repeat: the operand is computed");
  expect([&] { repeat(narrow, hidden, 0); }, "each value cannot stand for 0");
  expect([&] { rotate_halves(x, 3); }, "3 neighbours have no halves");
  expect([&] { rotate_halves(b.scalar("s", 1), 2); }, "a scalar has no halves");
}

TEST_F(IndicesTest, scalesThatGoWithRowsLieRowByRow) {
  const ScaleLayout layout = ScaleLayout::swizzled_128x4;
  Scaled far = b.scaled_input("far", e4m3, {rows, hidden}, {1, 32}, DType::e8m0, layout);
  expect([&] { gather(dequantize(far), chosen); }, "the table's scales do not lie row by row");
  expect(
      [&] {
        b.scatter("near",
                  quantize(x, e4m3, {.block = {1, 32}, .scale = DType::e8m0, .layout = layout}),
                  chosen, rows);
      },
      "the scales go with their rows, in row_major alone");
}

TEST_F(IndicesTest, whereRowsGo) {
  Value other = b.input("other", DType::i64, {rows});
  expect([&] { b.scatter("y", x, other, rows); },
         "scatter 'y': the index has not one value for each row of [tokens, hidden]");
  expect([&] { b.scatter("x", x, chosen, rows); }, "the name 'x' is taken");
  expect(
      [&] {
        b.scatter("z", quantize(x, e4m3, {.block = {8, 8}}), chosen, rows);
      },
      "blocks of several rows have one scale, which no row can take with it");
  Scaled given = b.scaled_input("given", e4m3, {tokens, hidden}, {1, 128});
  expect([&] { b.scatter("w", given, chosen, rows); }, "the value is not quantised here");
}
} // namespace
