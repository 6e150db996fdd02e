//===- tests/unit/tools/InputsTest.cpp ------------------------------------===//
//
// Part of Eider, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//
#include "tools/eider/Inputs.h"

#include <filesystem>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

namespace {

using namespace eider;
using namespace eider::cli;
using testing::AllOf;
using testing::HasSubstr;
using Role = Signature::Role;

/// silu_mul_quant with a vector a column and one a row added.
Signature signature() {
  return {{{"tokens", std::nullopt}, {"hidden", std::nullopt}},
          {{"x", Role::Input, DType::bf16, {"tokens", "2 * hidden"}},
           {"weight", Role::InOut, DType::f32, {"hidden"}},
           {"rows", Role::Input, DType::f32, {"tokens"}},
           {"y", Role::Output, DType::e4m3, {"tokens", "hidden"}},
           {"y_scale", Role::Output, DType::f32, {"tokens", "ceildiv(hidden, 128)"}}},
          {}};
}

HostTensor tensor(const std::string &name, DType type, const std::vector<int64_t> &shape) {
  size_t bytes = sizeOf(type);
  for (int64_t extent : shape)
    bytes *= static_cast<size_t>(extent);
  return {name, type, shape, std::vector<std::byte>(bytes)};
}

std::vector<HostTensor> inputs(int64_t tokens, int64_t hidden) {
  return {tensor("x", DType::bf16, {tokens, 2 * hidden}), tensor("weight", DType::f32, {hidden}),
          tensor("rows", DType::f32, {tokens})};
}

template <typename Function> std::string complaint(Function function) {
  try {
    function();
  } catch (const Error &error) {
    EXPECT_EQ(error.kind(), ErrorKind::Request);
    return error.what();
  }
  ADD_FAILURE() << "nothing was thrown";
  return "";
}

TEST(Dims, ComeFromTheInputsShapes) {
  EXPECT_EQ(inferDims(signature(), inputs(3, 40), {}, "f"), (Dims{{"tokens", 3}, {"hidden", 40}}));
  EXPECT_EQ(inferDims(signature(), inputs(0, 1), {{"hidden", 1}}, "f"),
            (Dims{{"tokens", 0}, {"hidden", 1}}));
}

TEST(Dims, ContradictionsNameBothSources) {
  auto disagreeing = inputs(3, 40);
  disagreeing[1].shape = {41};
  EXPECT_THAT(complaint([&] { inferDims(signature(), disagreeing, {}, "f"); }),
              HasSubstr("f: hidden is 41 in tensor 'weight' but 40 in tensor 'x'"));
  EXPECT_THAT(complaint([&] {
                inferDims(signature(), inputs(3, 40), {{"tokens", 4}}, "f");
              }),
              HasSubstr("tokens is 3 in tensor 'x' but 4 in --dim"));
  Signature fixed = signature();
  fixed.dims[1].value = 64;
  EXPECT_THAT(complaint([&] { inferDims(fixed, inputs(3, 40), {}, "f"); }),
              HasSubstr("hidden is 40 in tensor 'x' but 64 in the program"));
}

TEST(Dims, AnOddExtentIsNoDoubleOfADim) {
  auto odd = inputs(3, 40);
  odd[0].shape = {3, 81};
  EXPECT_THAT(complaint([&] { inferDims(signature(), odd, {}, "f"); }),
              HasSubstr("tensor 'x': its extent 81 is no multiple of 2"));
}

TEST(Dims, OneInNoInputMustBeGiven) {
  Signature more = signature();
  more.dims.push_back({"pages", std::nullopt});
  EXPECT_THAT(complaint([&] { inferDims(more, inputs(3, 40), {}, "f"); }),
              AllOf(HasSubstr("the dim 'pages'"), HasSubstr("give --dim pages=")));
}

class ReadInputs : public testing::Test {
protected:
  ReadInputs() {
    char name[] = "/tmp/eider-inputs-XXXXXX";
    directory = ::mkdtemp(name);
  }
  ~ReadInputs() override { std::filesystem::remove_all(directory); }

  safetensors::File fileOf(const std::vector<HostTensor> &tensors) {
    std::vector<safetensors::Tensor> views;
    for (const HostTensor &t : tensors)
      views.push_back({t.name, t.dtype, t.shape, t.data});
    safetensors::write(directory / "in", views);
    return safetensors::File(directory / "in");
  }

  std::filesystem::path directory;
};

TEST_F(ReadInputs, TakesThemInTheSignaturesOrderAndLeavesOthersAlone) {
  auto stored = inputs(2, 3);
  std::ranges::reverse(stored);
  stored.push_back(tensor("other", DType::i64, {4}));
  auto read = readInputs(signature(), fileOf(stored));
  ASSERT_EQ(read.size(), 3u);
  EXPECT_EQ(read[0].name, "x");
  EXPECT_EQ(read[0].shape, (std::vector<int64_t>{2, 6}));
  EXPECT_EQ(read[2].data.size(), 8u);
}

TEST_F(ReadInputs, MissingTensor) {
  EXPECT_THAT(complaint([&] { readInputs(signature(), fileOf({inputs(2, 3)[0]})); }),
              AllOf(HasSubstr("no tensor 'weight'"), HasSubstr("it has x")));
}

TEST_F(ReadInputs, WrongDType) {
  auto wrong = inputs(2, 3);
  wrong[0] = tensor("x", DType::f16, {2, 6});
  EXPECT_THAT(complaint([&] { readInputs(signature(), fileOf(wrong)); }),
              HasSubstr("tensor 'x': its dtype is F16 where BF16 is wanted"));
}

TEST_F(ReadInputs, WrongRank) {
  auto wrong = inputs(2, 3);
  wrong[1] = tensor("weight", DType::f32, {1, 3});
  EXPECT_THAT(complaint([&] { readInputs(signature(), fileOf(wrong)); }),
              HasSubstr("tensor 'weight': its shape is [1, 3] where rank 1 is wanted: [hidden]"));
}

} // namespace
