//===- LibraryTest.cpp - The op library and its parameters ----------------===//
//
// Part of Eider, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//
#include "eider/compile.h"

#include <algorithm>
#include <gmock/gmock.h>
#include <set>

using namespace eider;
using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::Not;

namespace {
/// `name:role:dtype[shape]` of each tensor.
std::vector<std::string> tensorsOf(const Program &program) {
  std::vector<std::string> result;
  for (const auto &tensor : program.signature().tensors) {
    const char *roles[] = {"in", "inout", "out"};
    std::string text =
        tensor.name + ":" + roles[static_cast<int>(tensor.role)] + ":" + nameOf(tensor.dtype) + "[";
    for (size_t i = 0; i < tensor.shape.size(); ++i)
      text += (i ? ", " : "") + tensor.shape[i];
    result.push_back(text + "]");
  }
  return result;
}

std::string textOf(const std::string &op, const OpParameters &parameters) {
  return libraryOp(op, parameters).text();
}

std::string errorOf(const std::string &op, const OpParameters &parameters) {
  try {
    libraryOp(op, parameters);
  } catch (const Error &error) {
    EXPECT_EQ(error.kind(), ErrorKind::Request);
    return error.what();
  }
  ADD_FAILURE() << "no error";
  return "";
}

TEST(Library, signatures) {
  EXPECT_THAT(tensorsOf(libraryOp("quantize", {})),
              ElementsAre("x:in:bf16[tokens, hidden]", "y:out:f8E4M3FN[tokens, hidden]",
                          "y_scale:out:f32[tokens, ceildiv(hidden, 128)]"));
  EXPECT_THAT(tensorsOf(libraryOp("dequantize", {.dtype = "f16", .block = "128x128"})),
              ElementsAre("x:in:f8E4M3FN[tokens, hidden]",
                          "x_scale:in:f32[ceildiv(tokens, 128), ceildiv(hidden, 128)]",
                          "y:out:f16[tokens, hidden]"));
  EXPECT_THAT(tensorsOf(libraryOp("rms_norm_quant", {.dtype = "f32", .block = "1x*"})),
              ElementsAre("x:in:f32[tokens, hidden]", "weight:in:f32[hidden]",
                          "y:out:f8E4M3FN[tokens, hidden]", "y_scale:out:f32[tokens, 1]"));
  EXPECT_THAT(tensorsOf(libraryOp("add_rms_norm_quant", {.format = "e5m2"})),
              ElementsAre("x:in:bf16[tokens, hidden]", "residual:inout:bf16[tokens, hidden]",
                          "weight:in:bf16[hidden]", "y:out:f8E5M2[tokens, hidden]",
                          "y_scale:out:f32[tokens, ceildiv(hidden, 128)]"));
  EXPECT_THAT(tensorsOf(libraryOp("silu_mul_quant", {.block = "*x*", .scaleSource = "static"})),
              ElementsAre("x:in:bf16[tokens, 2 * hidden]", "scale:in:f32[1, 1]",
                          "y:out:f8E4M3FN[tokens, hidden]"));
}

TEST(Library, signaturesOfPlainForms) {
  EXPECT_THAT(tensorsOf(libraryOp("add_layer_norm", {.dtype = "f16"})),
              ElementsAre("x:in:f16[tokens, hidden]", "residual:inout:f16[tokens, hidden]",
                          "weight:in:f16[hidden]", "bias:in:f16[hidden]",
                          "y:out:f16[tokens, hidden]"));
  EXPECT_THAT(tensorsOf(libraryOp("softmax", {})),
              ElementsAre("x:in:bf16[tokens, hidden]", "y:out:bf16[tokens, hidden]"));
  EXPECT_THAT(tensorsOf(libraryOp("gelu_bias_quant", {.block = "1x*"})),
              ElementsAre("x:in:bf16[tokens, hidden]", "bias:in:bf16[hidden]",
                          "y:out:f8E4M3FN[tokens, hidden]", "y_scale:out:f32[tokens, 1]"));
  EXPECT_THAT(tensorsOf(libraryOp("relu2_mul", {.dtype = "f32"})),
              ElementsAre("x:in:f32[tokens, 2 * hidden]", "y:out:f32[tokens, hidden]"));
  EXPECT_THAT(tensorsOf(libraryOp("triad", {})),
              ElementsAre("x:in:bf16[tokens, hidden]", "z:in:bf16[tokens, hidden]",
                          "y:out:bf16[tokens, hidden]"));
}

TEST(Library, signaturesOfContractions) {
  EXPECT_THAT(tensorsOf(libraryOp("gemv", {.block = "128x128"})),
              ElementsAre("w:in:f8E4M3FN[n, k]", "w_scale:in:f32[ceildiv(n, 128), ceildiv(k, 128)]",
                          "x:in:bf16[k]", "y:out:bf16[n]"));
  EXPECT_THAT(tensorsOf(libraryOp("matmul_skinny", {.format = "e5m2"})),
              ElementsAre("w:in:f8E5M2[n, k]", "w_scale:in:f32[n, ceildiv(k, 128)]",
                          "x:in:bf16[m, k]", "y:out:bf16[m, n]"));
  EXPECT_THAT(tensorsOf(libraryOp("scaled_matmul", {.block = "128x128", .fromFormat = "e5m2"})),
              ElementsAre("w:in:f8E4M3FN[n, k]", "w_scale:in:f32[ceildiv(n, 128), ceildiv(k, 128)]",
                          "x:in:f8E5M2[m, k]", "x_scale:in:f32[m, ceildiv(k, 128)]",
                          "y:out:bf16[m, n]"));
  const Program grouped = libraryOp("grouped_matmul", {.block = "128x128", .index = "i32"});
  EXPECT_THAT(tensorsOf(grouped),
              ElementsAre("w:in:f8E4M3FN[groups, n, k]",
                          "w_scale:in:f32[groups, ceildiv(n, 128), ceildiv(k, 128)]",
                          "x:in:bf16[m, k]", "ends:in:i32[groups]", "y:out:bf16[m, n]"));
  EXPECT_EQ(grouped.signature().tensors[3].risesTo, "m");
  for (const Signature::NamedDim &dim : grouped.signature().dims)
    EXPECT_EQ(dim.isFixed, dim.name != "m") << dim.name;
  EXPECT_THAT(tensorsOf(libraryOp("grouped_scaled_matmul", {.fromBlock = "1x*"})),
              ElementsAre("w:in:f8E4M3FN[groups, n, k]",
                          "w_scale:in:f32[groups, n, ceildiv(k, 128)]", "x:in:f8E4M3FN[m, k]",
                          "x_scale:in:f32[m, 1]", "ends:in:i64[groups]", "y:out:bf16[m, n]"));
  const Program batched = libraryOp("batched_matmul", {.dtype = "f16", .block = "128x128"});
  EXPECT_THAT(tensorsOf(batched),
              ElementsAre("w:in:f8E4M3FN[batches, n, k]",
                          "w_scale:in:f32[batches, ceildiv(n, 128), ceildiv(k, 128)]",
                          "x:in:f16[m, k]", "y:out:f16[m, n]"));
  for (const Signature::NamedDim &dim : batched.signature().dims)
    EXPECT_EQ(dim.isFixed, dim.name != "m") << dim.name;
}

TEST(Library, signaturesOfAttention) {
  const Program program = libraryOp("attention_decode", {.dtype = "f16", .format = "e5m2"});
  EXPECT_THAT(tensorsOf(program),
              ElementsAre("q:in:f16[b, h, d]", "k_cache:in:f8E5M2[pages, page, kv_heads, d]",
                          "v_cache:in:f8E5M2[pages, page, kv_heads, d]", "k_scale:in:f32[scales]",
                          "v_scale:in:f32[scales]", "block_table:in:i32[b, max_pages]",
                          "lengths:in:i32[b]", "o:out:f16[b, h, d]"));
  EXPECT_EQ(program.signature().tensors[5].choosesFrom, "pages");
  EXPECT_EQ(program.signature().tensors[6].mostOfEach, "max_pages * page");
  const Program biased = libraryOp("attention_decode", {.settings = {{"alibi", "1"}}});
  EXPECT_THAT(tensorsOf(biased), ::testing::Contains("slopes:in:f32[h]"));
  for (const Signature::NamedDim &dim : program.signature().dims)
    EXPECT_EQ(dim.isFixed, dim.name != "b" && dim.name != "pages" && dim.name != "max_pages")
        << dim.name;
}

TEST(Library, signaturesOfScalesOfTheCache) {
  const char *ofPages = "k_scale:in:f32[pages, scales]",
             *ofTokens = "k_scale:in:f32[pages, page, scales]";
  EXPECT_THAT(tensorsOf(libraryOp("attention_decode", {.settings = {{"scale_axes", "1"}}})),
              Contains(ofPages));
  const Program program = libraryOp("attention_decode", {.settings = {{"scale_axes", "2"}}});
  EXPECT_THAT(tensorsOf(program), Contains(ofTokens));
  const Program blocks = libraryOp("attention_decode", {.settings = {{"scale_axes", "3"}}});
  EXPECT_THAT(tensorsOf(blocks), Contains("v_scale:in:f32[pages, page, scales, blocks]"));
  for (const Signature::NamedDim &dim : program.signature().dims)
    EXPECT_EQ(dim.isFixed, dim.name != "b" && dim.name != "pages" && dim.name != "max_pages")
        << dim.name;
}

TEST(Library, signaturesOfContiguousCaches) {
  const Program program =
      libraryOp("attention_decode", {.settings = {{"scale_axes", "2"}, {"contiguous", "1"}}});
  EXPECT_THAT(tensorsOf(program),
              ElementsAre("q:in:bf16[b, h, d]", "k_cache:in:f8E4M3FN[b, max_tokens, kv_heads, d]",
                          "v_cache:in:f8E4M3FN[b, max_tokens, kv_heads, d]",
                          "k_scale:in:f32[b, max_tokens, scales]",
                          "v_scale:in:f32[b, max_tokens, scales]", "lengths:in:i32[b]",
                          "o:out:bf16[b, h, d]"));
  EXPECT_EQ(program.signature().tensors[5].mostOfEach, "max_tokens");
  for (const Signature::NamedDim &dim : program.signature().dims)
    EXPECT_EQ(dim.isFixed, dim.name != "b" && dim.name != "max_tokens") << dim.name;
}

TEST(Library, signaturesOfCachesOfFloats) {
  const Program program = libraryOp("attention_decode", {.dtype = "f32", .format = "bf16"});
  EXPECT_THAT(tensorsOf(program),
              ElementsAre("q:in:f32[b, h, d]", "k_cache:in:bf16[pages, page, kv_heads, d]",
                          "v_cache:in:bf16[pages, page, kv_heads, d]",
                          "block_table:in:i32[b, max_pages]", "lengths:in:i32[b]",
                          "o:out:f32[b, h, d]"));
  for (const Signature::NamedDim &dim : program.signature().dims)
    EXPECT_EQ(dim.isFixed, dim.name != "b" && dim.name != "pages" && dim.name != "max_pages")
        << dim.name;
}

TEST(Library, signaturesOfLatents) {
  const Program program =
      libraryOp("attention_decode", {.settings = {{"scale_axes", "2"}, {"value_columns", "512"}}});
  EXPECT_THAT(tensorsOf(program),
              ElementsAre("q:in:bf16[b, h, d]", "kv_cache:in:f8E4M3FN[pages, page, kv_heads, d]",
                          "kv_scale:in:f32[pages, page, scales]",
                          "block_table:in:i32[b, max_pages]", "lengths:in:i32[b]",
                          "o:out:bf16[b, h, 512]"));
  EXPECT_THAT(tensorsOf(libraryOp("attention_decode",
                                  {.format = "bf16", .settings = {{"value_columns", "64"}}})),
              ElementsAre("q:in:bf16[b, h, d]", "kv_cache:in:bf16[pages, page, kv_heads, d]",
                          "block_table:in:i32[b, max_pages]", "lengths:in:i32[b]",
                          "o:out:bf16[b, h, 64]"));
}

TEST(Library, signaturesOfQuantisedAttention) {
  EXPECT_THAT(tensorsOf(libraryOp("attention_decode_quant",
                                  {.format = "e5m2", .block = "1x64", .fromFormat = "bf16"})),
              ElementsAre("q:in:bf16[b, h, d]", "k_cache:in:bf16[pages, page, kv_heads, d]",
                          "v_cache:in:bf16[pages, page, kv_heads, d]",
                          "block_table:in:i32[b, max_pages]", "lengths:in:i32[b]",
                          "y:out:f8E5M2[b, h, d]", "y_scale:out:f32[b, h, ceildiv(d, 64)]"));
  EXPECT_THAT(tensorsOf(libraryOp("attention_prefill_quant", {.block = "1x*"})),
              ::testing::Contains("y_scale:out:f32[s, 1, 1]"));
  EXPECT_THAT(errorOf("attention_decode_quant", {.format = "bf16"}),
              HasSubstr("--format cannot be 'bf16'"));
  EXPECT_THAT(errorOf("attention_prefill_quant", {.fromFormat = "bf16"}),
              HasSubstr("--from-format cannot be 'bf16'"));
}

TEST(Library, signaturesOfValuesOfPrefill) {
  EXPECT_THAT(tensorsOf(libraryOp("attention_prefill", {.settings = {{"value_columns", "512"}}})),
              ElementsAre("q:in:f8E4M3FN[s, h, d]", "kv:in:f8E4M3FN[s, kv_heads, d]",
                          "q_scale:in:f32[scales]", "kv_scale:in:f32[scales]",
                          "o:out:bf16[s, h, 512]"));
  EXPECT_THAT(tensorsOf(libraryOp("attention_prefill", {.settings = {{"value_dim", "128"}}})),
              ElementsAre("q:in:f8E4M3FN[s, h, d]", "k:in:f8E4M3FN[s, kv_heads, d]",
                          "v:in:f8E4M3FN[s, kv_heads, 128]", "q_scale:in:f32[scales]",
                          "k_scale:in:f32[scales]", "v_scale:in:f32[scales]",
                          "o:out:bf16[s, h, 128]"));
  EXPECT_THAT(
      errorOf("attention_prefill", {.settings = {{"value_columns", "64"}, {"value_dim", "64"}}}),
      HasSubstr("leave --set value_columns or --set value_dim out"));
}

TEST(Library, signaturesOfPrefill) {
  const Program program = libraryOp("attention_prefill", {.format = "e5m2"});
  EXPECT_THAT(tensorsOf(program), ElementsAre("q:in:f8E5M2[s, h, d]", "k:in:f8E5M2[s, kv_heads, d]",
                                              "v:in:f8E5M2[s, kv_heads, d]",
                                              "q_scale:in:f32[scales]", "k_scale:in:f32[scales]",
                                              "v_scale:in:f32[scales]", "o:out:bf16[s, h, d]"));
  const Program biased =
      libraryOp("attention_prefill", {.settings = {{"softcap", "30"}, {"alibi", "1"}}});
  EXPECT_THAT(tensorsOf(biased), ::testing::Contains("slopes:in:f32[h]"));
  EXPECT_THAT(tensorsOf(libraryOp("attention_prefill", {.settings = {{"float_queries", "1"}}})),
              ElementsAre("q:in:bf16[s, h, d]", "k:in:f8E4M3FN[s, kv_heads, d]",
                          "v:in:f8E4M3FN[s, kv_heads, d]", "k_scale:in:f32[scales]",
                          "v_scale:in:f32[scales]", "o:out:bf16[s, h, d]"));
  const Program packed = libraryOp("attention_prefill", {.settings = {{"varlen", "1"}}});
  EXPECT_THAT(tensorsOf(packed), ::testing::Contains("cu_seqlens:in:i32[starts]"));
  EXPECT_EQ(packed.signature().tensors[6].startsUpTo, "s");
  for (const Program &one : {program, biased, packed})
    for (const Signature::NamedDim &dim : one.signature().dims)
      EXPECT_EQ(dim.isFixed, dim.name != "s" && dim.name != "starts") << dim.name;
  EXPECT_THAT(tensorsOf(libraryOp("attention_prefill", {.settings = {{"scaled", "0"}}})),
              ElementsAre("q:in:f8E4M3FN[s, h, d]", "k:in:f8E4M3FN[s, kv_heads, d]",
                          "v:in:f8E4M3FN[s, kv_heads, d]", "o:out:bf16[s, h, d]"));
}

TEST(Library, signaturesOfRowsThatIndicesChoose) {
  EXPECT_THAT(tensorsOf(libraryOp("rope", {.settings = {{"head", "64"}}})),
              ElementsAre("x:in:bf16[tokens, hidden]", "cos:in:bf16[max_position, 32]",
                          "sin:in:bf16[max_position, 32]", "positions:in:i64[tokens]",
                          "y:out:bf16[tokens, hidden]"));
  EXPECT_THAT(tensorsOf(libraryOp("embedding", {.block = "128x128", .index = "i32"})),
              ElementsAre("table:in:f8E4M3FN[vocabulary, hidden]",
                          "table_scale:in:f32[ceildiv(vocabulary, 128), ceildiv(hidden, 128)]",
                          "ids:in:i32[tokens]", "y:out:bf16[tokens, hidden]"));
  EXPECT_THAT(tensorsOf(libraryOp("moe_unpermute", {.settings = {{"top_k", "4"}}})),
              ElementsAre("x:in:f8E4M3FN[permuted, hidden]",
                          "x_scale:in:f32[permuted, ceildiv(hidden, 128)]",
                          "index:in:i64[tokens, 4]", "weight:in:f32[tokens, 4]",
                          "y:out:bf16[tokens, hidden]"));
  EXPECT_THAT(tensorsOf(libraryOp("kv_append", {.block = "*x128", .scaleSource = "static"})),
              ElementsAre("k:in:bf16[tokens, hidden]", "v:in:bf16[tokens, hidden]",
                          "weight:in:bf16[128]", "cos:in:bf16[max_position, 64]",
                          "sin:in:bf16[max_position, 64]", "positions:in:i64[tokens]",
                          "slot_mapping:in:i64[tokens]", "k_scale:in:f32[1, ceildiv(hidden, 128)]",
                          "k_cache:inout:f8E4M3FN[slots, hidden]",
                          "v_scale:in:f32[1, ceildiv(hidden, 128)]",
                          "v_cache:inout:f8E4M3FN[slots, hidden]"));
  EXPECT_EQ(errorOf("rope", {.settings = {{"heads", "4"}}}),
            "rope: there is no setting heads; leave it out");
  EXPECT_EQ(errorOf("rope", {.settings = {{"head", "1024"}}}),
            "rope: --set head cannot be '1024'; give an integer, 2 to 512");
  EXPECT_EQ(errorOf("embedding", {.index = "u8"}),
            "embedding: --index cannot be 'u8'; give i64, i32");
  EXPECT_THAT(errorOf("quantize", {.index = "i32"}), HasSubstr("there is no parameter index"));
}

TEST(Library, requantizeHasAFormatAndABlockOnEitherSide) {
  EXPECT_THAT(
      tensorsOf(libraryOp(
          "requantize",
          {.format = "e4m3", .block = "1x*", .fromFormat = "e5m2", .fromBlock = "128x128"})),
      ElementsAre("x:in:f8E5M2[tokens, hidden]",
                  "x_scale:in:f32[ceildiv(tokens, 128), ceildiv(hidden, 128)]",
                  "y:out:f8E4M3FN[tokens, hidden]", "y_scale:out:f32[tokens, 1]"));
  EXPECT_EQ(
      errorOf("requantize", {.fromFormat = "e3m4"}),
      "requantize: --from-format cannot be 'e3m4'; give e4m3, e5m2, e4m3fnuz, e5m2fnuz, e2m1");
  EXPECT_THAT(errorOf("requantize", {.fromBlock = "128"}),
              HasSubstr("requantize: --from-block cannot be '128'; give ROWS"));
  EXPECT_THAT(errorOf("requantize", {.dtype = "bf16"}), HasSubstr("there is no parameter dtype"));
  EXPECT_THAT(errorOf("quantize", {.fromBlock = "1x128"}),
              HasSubstr("there is no parameter fromBlock; it takes dtype, format"));
}

TEST(Library, twoCodesAByteAndScalesOfTwoLevels) {
  EXPECT_THAT(
      tensorsOf(libraryOp("quantize", {.format = "e2m1", .block = "1x16", .scale = "e4m3"})),
      ElementsAre("x:in:bf16[tokens, hidden]", "y_global_scale:in:f32[1]",
                  "y:out:f4E2M1FN[tokens, ceildiv(hidden, 2)]",
                  "y_scale:out:f8E4M3FN[tokens, ceildiv(hidden, 16)]"));
  EXPECT_THAT(
      tensorsOf(libraryOp("dequantize", {.format = "e2m1", .block = "1x16", .scale = "e4m3"})),
      ElementsAre("x:in:f4E2M1FN[tokens, ceildiv(hidden, 2)]",
                  "x_scale:in:f8E4M3FN[tokens, ceildiv(hidden, 16)]", "x_global_scale:in:f32[1]",
                  "y:out:bf16[tokens, hidden]"));
  EXPECT_THAT(errorOf("quantize", {.format = "e2m1", .scale = "e4m3", .mode = "mx"}),
              HasSubstr("scales of two levels are no powers of two; take power_of_two none"));
  EXPECT_THAT(errorOf("quantize", {.scale = "f16", .mode = "mx"}),
              HasSubstr("scales of f16 do not hold every power of two"));
}

TEST(Library, aCopyIsAnOutputOfItsOwnType) {
  EXPECT_THAT(tensorsOf(libraryOp("add_rms_norm_quant", {.block = "1x*", .copy = "f16"})),
              ElementsAre("x:in:bf16[tokens, hidden]", "residual:inout:bf16[tokens, hidden]",
                          "weight:in:bf16[hidden]", "y:out:f8E4M3FN[tokens, hidden]",
                          "y_scale:out:f32[tokens, 1]", "copy:out:f16[tokens, hidden]"));
  EXPECT_EQ(textOf("rms_norm_quant", {.copy = "none"}), textOf("rms_norm_quant", {}));
  EXPECT_EQ(errorOf("rms_norm_quant", {.copy = "e5m2"}),
            "rms_norm_quant: --copy cannot be 'e5m2'; give none, bf16, f16, f32");
  EXPECT_THAT(errorOf("rms_norm", {.copy = "bf16"}), HasSubstr("there is no parameter copy"));
}

/// An op that ends in _quant takes what the op without it takes.
TEST(Library, quantisedFormsTakeWhatPlainOnesDo) {
  auto scalarsOf = [](const Program &program) {
    std::vector<std::string> names;
    for (const auto &scalar : program.signature().scalars)
      names.push_back(scalar.name);
    return names;
  };
  size_t pairs = 0;
  for (const OpInfo &op : libraryOps()) {
    if (!op.name.ends_with("_quant"))
      continue;
    Program quantised = libraryOp(op.name, {}),
            plain = libraryOp(op.name.substr(0, op.name.size() - 6), {});
    std::vector<std::string> tensors = tensorsOf(quantised), expected = tensorsOf(plain);
    tensors.resize(tensors.size() - 2); // y and y_scale
    expected.pop_back();                // y
    EXPECT_EQ(tensors, expected) << op.name;
    EXPECT_EQ(scalarsOf(quantised), scalarsOf(plain)) << op.name;
    ++pairs;
  }
  EXPECT_EQ(pairs, 22u);
}

TEST(Library, epsilonIsAScalar) {
  for (const char *op : {"rms_norm_quant", "add_rms_norm_quant", "layer_norm", "add_layer_norm"}) {
    Program program = libraryOp(op, {});
    const auto &scalars = program.signature().scalars;
    ASSERT_EQ(scalars.size(), 1u);
    EXPECT_EQ(scalars[0].name, "eps");
    EXPECT_EQ(scalars[0].value, 1e-6f);
  }
}

/// The values that an op's parameter goes through; one empty value where it has no such parameter.
std::vector<std::string> valuesFor(const OpInfo &op, const char *parameter,
                                   std::vector<std::string> values) {
  bool takes =
      std::find(op.parameters.begin(), op.parameters.end(), parameter) != op.parameters.end();
  return takes ? values : std::vector<std::string>{""};
}

/// Every op, type, format, block and scale source: verified, read back as the same text, the same
/// each time, unlike all others.
TEST(Library, everyCombinationRoundTrips) {
  std::set<std::string> texts;
  size_t programs = 0;
  for (const OpInfo &op : libraryOps())
    for (const std::string &dtype : valuesFor(op, "dtype", {"f32", "bf16", "f16"}))
      for (const std::string &format : valuesFor(op, "format", {"e4m3", "e5m2"}))
        for (const std::string &block : valuesFor(
                 op, "block", {"1x16", "1x32", "1x64", "1x128", "1x256", "1x*", "128x128", "*x*"}))
          for (const std::string &source : valuesFor(op, "scaleSource", {"dynamic", "static"})) {
            if (op.name == "kv_append" &&
                (block == "128x128" || (!block.starts_with("1x") && source != "static")))
              continue; // A row takes its scales with it, or all rows have them.
            if (op.name == "attention_prefill_quant" && dtype != "bf16")
              continue; // Codes in, codes out.
            OpParameters parameters{
                .dtype = dtype, .format = format, .block = block, .scaleSource = source};
            Program program = libraryOp(op.name, parameters);
            EXPECT_EQ(program.name(), op.name);
            EXPECT_EQ(libraryOp(op.name, parameters).text(), program.text());
            Program again = parseProgram(program.text(), "again.mlir");
            EXPECT_EQ(again.text(), program.text());
            EXPECT_EQ(tensorsOf(again), tensorsOf(program));
            texts.insert(program.text());
            ++programs;
          }
  // 23 that quantise a dtype, 10 that read codes, 2 from codes to codes, 24 plain ones, kv_append,
  // 2 of attention
  EXPECT_EQ(programs, 23u * 3 * 2 * 8 * 2 + 10 * 3 * 2 * 8 + 2 * 8 * 2 + 2 * 8 * 2 + 24 * 3 +
                          3 * 2 * (6 + 7) + 2 * 3 * 2);
  EXPECT_EQ(texts.size(), programs);
}

TEST(Library, textsKeepTheNames) {
  std::string text = textOf("add_rms_norm_quant", {});
  for (const char *part : {"%h = arith.addf", "%mean_square = eider.reduce", "%n = arith.mulf"})
    EXPECT_THAT(text, HasSubstr(part));
  text = textOf("silu_mul_quant", {});
  for (const char *part : {"%gate = eider.half", "%up = eider.half", "%activated = arith.mulf"})
    EXPECT_THAT(text, HasSubstr(part));
}

TEST(Library, modes) {
  auto numerics = [](const char *mode, const char *format) {
    std::string text = textOf("quantize", {.format = format, .mode = mode});
    size_t begin = text.find("numerics<");
    return text.substr(begin, text.find('>', begin) - begin + 1);
  };
  EXPECT_EQ(numerics("default", "e4m3"), "numerics<>");
  EXPECT_EQ(numerics("deepgemm", "e4m3"),
            "numerics<arithmetic = reciprocal, amax_floor = 1.0e-04, multiplier_bound = inf, "
            "zero_block = formula>");
  EXPECT_EQ(numerics("tilekernels", "e4m3"),
            "numerics<arithmetic = max_over_amax, amax_floor = 1.0e-04, multiplier_bound = "
            "inf, zero_block = formula>");
  EXPECT_EQ(numerics("vllm_group", "e4m3"), "numerics<amax_floor = 1.0e-10, zero_block = formula>");
  EXPECT_EQ(numerics("vllm_token", "e4m3"),
            "numerics<scale_floor = 4.359654e-06, zero_block = formula>");
  EXPECT_EQ(numerics("sglang_group", "e5m2"),
            "numerics<scale = amax_times_inverse_max, arithmetic = max_over_amax, amax_floor = "
            "1.0e-10, multiplier_bound = inf, zero_block = formula>");
  EXPECT_EQ(numerics("trtllm_token", "e4m3"),
            "numerics<arithmetic = max_over_amax, amax_floor = 1.0e-06, scale_floor = "
            "4.359654e-06, multiplier_bound = 2.29376e+05, zero_block = formula>");
  EXPECT_EQ(numerics("trtllm_token", "e5m2"),
            "numerics<arithmetic = max_over_amax, amax_floor = 1.0e-06, scale_floor = "
            "3.40598e-08, multiplier_bound = 2.9360128e+07, zero_block = formula>");
}

TEST(Library, singleParametersGoOverTheMode) {
  std::string text = textOf(
      "quantize", {.mode = "vllm_token", .numerics = {{"amax_bound", "1200"}, {"nan", "ignore"}}});
  EXPECT_THAT(text, HasSubstr("numerics<amax_bound = 1.2e+03, scale_floor = 4.359654e-06, "
                              "zero_block = formula, nan = ignore>"));
}

/// The names of a program's tensors, in order.
static std::vector<std::string> tensorNames(const Program &program) {
  std::vector<std::string> names;
  for (const Signature::Tensor &tensor : program.signature().tensors)
    names.push_back(tensor.name);
  return names;
}

TEST(Library, transposes) {
  using testing::ElementsAre;
  Program both = libraryOp("cast_transpose", {.block = "1x64"});
  EXPECT_THAT(tensorNames(both), ElementsAre("x", "y", "y_scale", "yt", "yt_scale"));
  EXPECT_THAT(both.signature().tensors[3].shape, ElementsAre("hidden", "tokens"));
  EXPECT_THAT(both.signature().tensors[4].shape, ElementsAre("hidden", "ceildiv(tokens, 64)"));
  EXPECT_THAT(tensorNames(libraryOp("silu_mul", {.transposed = "yes"})),
              ElementsAre("x", "y", "yt"));
  // Given scales of squares are y's, transposed; others are an input of their own.
  EXPECT_THAT(tensorNames(libraryOp("cast_transpose", {.block = "1x64", .scaleSource = "static"})),
              ElementsAre("x", "scale", "y", "scale_t", "yt"));
  EXPECT_THAT(tensorNames(libraryOp("cast_transpose", {.block = "64x64", .scaleSource = "static"})),
              ElementsAre("x", "scale", "y", "yt"));
  EXPECT_EQ(errorOf("quantize", {.transposed = "maybe"}),
            "quantize: --transposed cannot be 'maybe'; give no, yes");
}

TEST(Library, stochasticRoundingHasASeedAndAnOffset) {
  for (const char *op : {"quantize", "requantize", "add_rms_norm_quant", "silu_mul_quant"}) {
    Program program = libraryOp(op, {.numerics = {{"rounding", "stochastic"}}});
    std::vector<std::string> integers;
    for (const auto &scalar : program.signature().scalars)
      if (scalar.dtype == DType::i64)
        integers.push_back(scalar.name + "=" + std::to_string(scalar.value));
    EXPECT_THAT(integers, ElementsAre("seed=0.000000", "offset=0.000000")) << op;
  }
}

TEST(Library, refusals) {
  EXPECT_THAT(
      errorOf("quantise", {}),
      AllOf(HasSubstr("no op 'quantise'; give one of quantize, cast_transpose, dequantize, "),
            HasSubstr(", triad, or a file of the eider dialect (FILE.mlir)")));
  EXPECT_EQ(errorOf("quantize", {.dtype = "f64"}),
            "quantize: --dtype cannot be 'f64'; give bf16, f16, f32");
  EXPECT_EQ(errorOf("quantize", {.format = "e3m4"}),
            "quantize: --format cannot be 'e3m4'; give e4m3, e5m2, e4m3fnuz, e5m2fnuz, e2m1");
  EXPECT_EQ(errorOf("quantize", {.scale = "f64"}),
            "quantize: --scale cannot be 'f64'; give f32, bf16, f16, e4m3, e8m0");
  EXPECT_EQ(errorOf("quantize", {.scaleLayout = "column_major"}),
            "quantize: --scale-layout cannot be 'column_major'; give row_major, mn_major_aligned, "
            "packed_ue8m0, swizzled_128x4, te_gemm_ready");
  EXPECT_EQ(errorOf("quantize", {.scaleSource = "delayed"}),
            "quantize: --scale-source cannot be 'delayed'; give dynamic, static");
  EXPECT_THAT(errorOf("quantize", {.mode = "te_delayed"}),
              HasSubstr("quantize: no mode 'te_delayed'; they are default, deepgemm"));
  EXPECT_THAT(
      errorOf("quantize", {.numerics = {{"nan", "maybe"}}}),
      HasSubstr("quantize: numerics parameter 'nan' cannot be 'maybe'; possible: propagate"));
  EXPECT_THAT(errorOf("dequantize", {.mode = "deepgemm"}),
              HasSubstr("dequantize: there is no parameter mode; it takes dtype, format, block"));
}

TEST(Library, layoutsRefuseScalesThatTheyCannotHold) {
  EXPECT_THAT(errorOf("quantize", {.scaleLayout = "packed_ue8m0"}),
              HasSubstr("scale layout packed_ue8m0 packs e8m0 scales, not f32; take e8m0 scales"));
  EXPECT_THAT(errorOf("dequantize", {.scale = "bf16", .scaleLayout = "mn_major_aligned"}),
              HasSubstr("scale layout mn_major_aligned holds f32 scales, not bf16; take f32"));
  EXPECT_THAT(errorOf("quantize", {.scaleLayout = "swizzled_128x4"}),
              HasSubstr("scale layout swizzled_128x4 holds scales of one byte, not f32; take"));
  EXPECT_THAT(errorOf("quantize", {.block = "1x64", .scaleLayout = "te_gemm_ready"}),
              HasSubstr("te_gemm_ready is one of 1x128, 128x128 and 128x1 blocks; take one of"));
  EXPECT_THAT(
      errorOf("quantize", {.block = "1x128", .scale = "e8m0", .scaleLayout = "te_gemm_ready"}),
      HasSubstr("te_gemm_ready holds f32 scales, not e8m0; take f32 scales"));
}

TEST(Library, layoutsSayWhatMemoryHolds) {
  auto memory = [](const OpParameters &parameters, const std::string &name = "y_scale") {
    const Program program = libraryOp("quantize", parameters);
    for (const Signature::Tensor &tensor : program.signature().tensors)
      if (tensor.name == name)
        return std::string(nameOf(tensor.dtype)) + " [" + tensor.shape[0] + ", " + tensor.shape[1] +
               "]";
    return std::string("none");
  };
  EXPECT_EQ(memory({.block = "1x128", .scaleLayout = "mn_major_aligned"}),
            "f32 [ceildiv(hidden, 128), ceildiv(tokens, 4) * 4]");
  EXPECT_EQ(memory({.block = "1x128", .scale = "e8m0", .scaleLayout = "packed_ue8m0"}),
            "i32 [ceildiv(hidden, 512), ceildiv(tokens, 4) * 4]");
  EXPECT_EQ(memory({.block = "1x32", .scale = "e8m0", .scaleLayout = "swizzled_128x4"}),
            "f8E8M0FNU [ceildiv(tokens, 128), ceildiv(hidden, 128) * 512]");
  EXPECT_EQ(memory({.block = "1x128", .scaleLayout = "te_gemm_ready"}),
            "f32 [ceildiv(hidden, 128), ceildiv(tokens, 4) * 4]");
  EXPECT_EQ(memory({.block = "128x128", .scaleLayout = "te_gemm_ready"}),
            "f32 [ceildiv(tokens, 128), ceildiv(hidden, 512) * 4]");
  // Of the transpose: the same, its rows being columns.
  EXPECT_EQ(memory({.block = "1x128", .scaleLayout = "mn_major_aligned", .transposed = "yes"},
                   "yt_scale"),
            "f32 [ceildiv(tokens, 128), ceildiv(hidden, 4) * 4]");
  EXPECT_EQ(
      memory(
          {.block = "1x32", .scale = "e8m0", .scaleLayout = "swizzled_128x4", .transposed = "yes"},
          "yt_scale"),
      "f8E8M0FNU [ceildiv(hidden, 128), ceildiv(tokens, 128) * 512]");
  EXPECT_EQ(memory({.block = "1x128",
                    .scaleLayout = "mn_major_aligned",
                    .scaleSource = "static",
                    .transposed = "yes"},
                   "scale_t"),
            "f32 [ceildiv(tokens, 128), ceildiv(hidden, 4) * 4]");
}

TEST(Library, blocks) {
  for (const char *block :
       {"0x128", "1x0", "128", "1x", "x128", "1x128x1", "-1x128", "1x1e2", "1 x128", "1X128",
        "99999999999x1", "99999999999999999999x1", "ax*", "**x1", " "})
    EXPECT_THAT(errorOf("quantize", {.block = block}),
                HasSubstr(std::string("quantize: --block cannot be '") + block + "'; give ROWS"))
        << block;
  EXPECT_THAT(textOf("quantize", {.block = "3x77"}), HasSubstr("block = [3, 77]"));
  EXPECT_THAT(textOf("quantize", {.block = "*x1"}), HasSubstr("block = [*, 1]"));
}

TEST(Library, staticScalesWithModes) {
  OpParameters parameters{.scaleSource = "static", .mode = "deepgemm"};
  EXPECT_THAT(textOf("quantize", parameters), HasSubstr("by %scale"));
  parameters.mode = "tilekernels";
  EXPECT_THAT(errorOf("quantize", parameters), HasSubstr("max_over_amax needs an amax"));
}

TEST(Library, namesAreOneEach) {
  std::set<std::string> names;
  for (const OpInfo &op : libraryOps()) {
    EXPECT_TRUE(names.insert(op.name).second);
    EXPECT_FALSE(op.summary.empty());
    EXPECT_FALSE(op.parameters.empty());
  }
  EXPECT_EQ(names.size(), 62u);
}
} // namespace
