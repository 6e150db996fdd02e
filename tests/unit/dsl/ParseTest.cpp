//===- ParseTest.cpp - Programs from text ---------------------------------===//
//
// Part of Eider, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//
#include "eider/compile.h"

#include <gmock/gmock.h>
#include <thread>

using namespace eider;
using testing::ElementsAre;
using testing::HasSubstr;

namespace {
const std::string dims = "#eider.dims<tokens, hidden>";
const std::string tensor = "tensor<?x?xf32, " + dims + ">";
const std::string input = "  %x = eider.input \"x\" : " + tensor + "\n";
const std::string output = "  eider.output \"y\", %x : " + tensor + "\n";

std::string program(const std::string &body) {
  return "eider.program @op(tokens, hidden) {\n" + body + "}\n";
}

struct Failure {
  std::string what, where;
};

Failure failureOf(const std::string &text) {
  try {
    parseProgram(text, "dir/op.mlir");
  } catch (const Error &error) {
    EXPECT_EQ(error.kind(), ErrorKind::Request);
    EXPECT_FALSE(error.remedy().empty()) << error.what();
    return {error.what(), error.where()};
  }
  ADD_FAILURE() << "no error";
  return {};
}

TEST(Parse, aProgram) {
  Program parsed = parseProgram("// A comment.\n" + program(input + output), "op.mlir");
  EXPECT_EQ(parsed.name(), "op");
  EXPECT_EQ(parsed.text(), program(input + output));
  ASSERT_EQ(parsed.signature().tensors.size(), 2u);
  EXPECT_THAT(parsed.signature().tensors[1].shape, ElementsAre("tokens", "hidden"));
}

TEST(Parse, namesInTheTextDoNotMatter) {
  std::string renamed = program("  %other = eider.input \"x\" : " + tensor +
                                "\n  eider.output \"y\", %other : " + tensor + "\n");
  EXPECT_EQ(parseProgram(renamed, "a").text(), parseProgram(program(input + output), "b").text());
}

TEST(Parse, aModuleAroundIt) {
  EXPECT_EQ(parseProgram("module {\n" + program(input + output) + "}\n", "op.mlir").text(),
            program(input + output));
}

TEST(Parse, syntaxErrorsHaveLineAndColumn) {
  Failure failure = failureOf(program(input + "  eider.output \"y\" %x\n"));
  EXPECT_EQ(failure.where, "dir/op.mlir:3:19");
  EXPECT_THAT(failure.what, HasSubstr("expected ','"));
}

TEST(Parse, verifierErrorsHaveLineAndColumn) {
  Failure failure =
      failureOf(program("  %x = eider.input \"x\" : tensor<?xf32, #eider.dims<rows>>\n"));
  EXPECT_EQ(failure.where, "dir/op.mlir:2:8");
  EXPECT_THAT(failure.what, HasSubstr("dim 'rows' is not a dim of @op"));
}

TEST(Parse, wrongModules) {
  EXPECT_THAT(failureOf("").what, HasSubstr("there is no eider.program"));
  Failure two = failureOf(program(input) + "eider.program @second() {\n}\n");
  EXPECT_THAT(two.what, HasSubstr("a second op beside @op"));
  EXPECT_EQ(two.where, "dir/op.mlir:4:1");
  EXPECT_THAT(failureOf("#map = affine_map<(d0) -> (d0)>\n").what,
              HasSubstr("there is no eider.program"));
  EXPECT_THAT(failureOf("eider.input \"x\" : " + tensor).what, HasSubstr("eider.input"));
  EXPECT_THAT(failureOf("func.func @f() { return }").what, HasSubstr("func"));
  EXPECT_THAT(failureOf("\x7f"
                        "ELF\0")
                  .what,
              HasSubstr("dir/op.mlir:1:1"));
}

TEST(Parse, foreignOps) {
  Failure failure = failureOf(program("  builtin.module {\n  }\n" + input + output));
  EXPECT_THAT(failure.what, HasSubstr("'builtin.module' has no place in a program"));
  EXPECT_EQ(failure.where, "dir/op.mlir:2:3");
}

TEST(Parse, wrongNames) {
  EXPECT_THAT(failureOf(program("  %x = eider.input \"x;\" : " + tensor + "\n")).what,
              HasSubstr("dir/op.mlir:2:8: the name 'x;' is not an identifier"));
  EXPECT_THAT(failureOf("eider.program @\"a b\"() {\n}\n").what,
              HasSubstr("the name 'a b' is not an identifier"));
  EXPECT_THAT(failureOf("eider.program @op(float) {\n}\n").what,
              HasSubstr("'float' is a word of CUDA C++"));
  EXPECT_THAT(failureOf(program("  %a = eider.input \"tokens\" : " + tensor + "\n")).what,
              HasSubstr("the name 'tokens' is taken"));
  std::string scaled =
      "!eider.scaled<?x?xf8E4M3FN, dims = <tokens, hidden>, block = [1, 128], scale = "
      "f32, layout = row_major>";
  EXPECT_THAT(failureOf(program("  %a = eider.input \"x_scale\" : " + tensor +
                                "\n  %b = eider.input \"x\" : " + scaled + "\n"))
                  .what,
              HasSubstr("the name 'x_scale' is taken"));
}

TEST(Parse, argumentsAndResultsBelongTogether) {
  EXPECT_THAT(failureOf(program(input)).what,
              HasSubstr("dir/op.mlir:1:1: there is no output and no store"));
  EXPECT_THAT(
      failureOf(program(input + "  %r = eider.inout \"r\" : " + tensor + "\n" + output)).what,
      HasSubstr("dir/op.mlir:3:8: the in-out 'r' is never stored"));
  EXPECT_THAT(failureOf("eider.program @op(tokens, hidden, k) {\n" + input + output + "}\n").what,
              HasSubstr("dir/op.mlir:1:1: the dim 'k' is in no input's shape"));
}

TEST(Parse, deepNestingIsRefused) {
  std::string deep = "eider.program @op() attributes {a = " + std::string(100000, '[') + "\n";
  Failure failure = failureOf(deep);
  EXPECT_THAT(failure.what, HasSubstr("brackets nest deeper than 200 levels"));
  EXPECT_EQ(failure.where, "dir/op.mlir:1:1");
}

TEST(Parse, everyTruncationIsAnError) {
  std::string text = libraryOp("add_rms_norm_quant", {}).text();
  for (size_t length = 0; length + 2 < text.size(); length += 7)
    failureOf(text.substr(0, length));
}

TEST(Parse, manyThreads) {
  std::string text = libraryOp("add_rms_norm_quant", {}).text();
  std::vector<std::string> texts(8);
  std::vector<std::thread> threads;
  for (std::string &slot : texts)
    threads.emplace_back([&] { slot = parseProgram(text, "op.mlir").text(); });
  for (std::thread &thread : threads)
    thread.join();
  for (const std::string &slot : texts)
    EXPECT_EQ(slot, text);
}
} // namespace
