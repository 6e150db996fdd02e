//===- Cases.cpp - Caches and sequences of every kind ---------------------===//
//
// Part of Eider, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//
#include "tests/attention/Cases.h"

#include "tests/points/Points.h"
#include "tests/text/Purity.h"

#include <algorithm>
#include <cmath>
#include <gmock/gmock.h>
#include <numeric>
#include <random>

using namespace eider;
using namespace eider::attention_cases;

static Dims dimsOf(const Cache &shape) {
  const int64_t longest = *std::max_element(shape.lengths.begin(), shape.lengths.end());
  const auto sequences = static_cast<int64_t>(shape.lengths.size());
  Dims dims = {{"b", sequences},
               {"h", shape.heads},
               {"d", shape.d},
               {"kv_heads", shape.kvHeads},
               {"scales", shape.scales}};
  if (shape.page == 0) {
    dims["max_tokens"] = longest + 3;
  } else {
    dims["page"] = shape.page;
    dims["max_pages"] = (longest + shape.page - 1) / shape.page + 1;
    dims["pages"] = sequences * dims["max_pages"] + 3;
  }
  if (shape.scaleAxes == 3)
    dims["blocks"] = shape.blocks;
  return dims;
}

/// Slopes of ALiBi, where there are any.
static void writeSlopes(matrix::Case &made) {
  for (HostTensor &input : made.inputs)
    if (input.name == "slopes") {
      std::vector<float> slopes;
      for (int64_t head = 0; head < input.shape[0]; ++head)
        slopes.push_back(
            std::exp2(-8.0f * static_cast<float>(head + 1) / static_cast<float>(input.shape[0])));
      write(input, slopes);
    }
}

HostTensor &attention_cases::inputNamed(matrix::Case &made, const std::string &name) {
  return *std::find_if(made.inputs.begin(), made.inputs.end(),
                       [&](const HostTensor &input) { return input.name == name; });
}

std::string attention_cases::textFor(const matrix::Case &made, const std::string &target) {
  CompileOptions options = made.options;
  options.target = target;
  return emit(made.program, options, Stage::Cuda);
}

std::string attention_cases::errorOf(const matrix::Case &made, const std::string &target) {
  try {
    textFor(made, target);
  } catch (const Error &error) {
    return error.what();
  }
  return "";
}

void attention_cases::expectPure(const matrix::Case &made) {
  const std::string text = textFor(made, "sm_90");
  EXPECT_THAT(text::impurities(text), ::testing::IsEmpty()) << text;
  EXPECT_THAT(text::wideLines(text), ::testing::IsEmpty()) << text;
}

OpParameters attention_cases::causally(const char *causal, OpParameters parameters) {
  parameters.settings["causal"] = causal;
  return parameters;
}

/// Elements of bf16 or f16 of magnitudes below 2, so that many tokens have weight.
static void writeFloats(HostTensor &tensor) {
  std::mt19937 random(5);
  const int mantissa = tensor.dtype == DType::bf16 ? 7 : 10,
            one = tensor.dtype == DType::bf16 ? 127 : 15;
  std::vector<uint16_t> elements(tensor.data.size() / sizeof(uint16_t));
  for (uint16_t &element : elements) {
    const unsigned exponent = one - random() % 8, sign = random() % 2;
    element =
        static_cast<uint16_t>(sign << 15 | exponent << mantissa | random() % (1u << mantissa));
  }
  write(tensor, elements);
}

/// The bytes of NaN, and of -Inf where the format has it.
static std::vector<uint8_t> nanOf(const std::string &format) {
  return {format.find("fnuz") == std::string::npos ? uint8_t(0xff) : uint8_t(0x80)};
}
static std::vector<uint8_t> infinityOf(const std::string &format) {
  if (format == "e5m2")
    return {0xfc};
  if (format == "bf16")
    return {0x80, 0xff};
  return format == "f16" ? std::vector<uint8_t>{0x00, 0xfc} : std::vector<uint8_t>{};
}

/// Scales of each page, token or block, NaN where it is not met: of keys such that many tokens have
/// weight, of values of magnitudes 2^-7 to 2^7 and of either sign.
static void writeScales(matrix::Case &made, const std::vector<bool> &isMet, const Cache &shape) {
  std::mt19937 random(7);
  const int64_t page = made.dims.at(shape.page ? "page" : "max_tokens");
  const auto together = static_cast<size_t>(shape.scaleAxes == 1 ? page : 1);
  for (HostTensor &input : made.inputs) {
    if (!input.name.ends_with("_scale"))
      continue;
    std::vector<float> scales;
    for (size_t first = 0; first < isMet.size(); first += together) {
      const auto begin = isMet.begin() + static_cast<std::ptrdiff_t>(first);
      const auto end = begin + static_cast<std::ptrdiff_t>(together);
      for (int64_t i = 0; i < shape.scales * shape.blocks; ++i) {
        const float magnitude = 1.0f + static_cast<float>(random() % 1024) / 1024;
        const int power = static_cast<int>(random() % 15) - 7;
        scales.push_back(std::find(begin, end, true) == end ? std::nanf("")
                         : input.name != "v_scale"          ? 0.002f * magnitude
                         : random() % 2 == 0                ? std::ldexp(magnitude, power)
                                                            : -std::ldexp(magnitude, power));
      }
    }
    write(input, scales);
  }
}

matrix::Case attention_cases::decode(const Cache &shape, const OpParameters &given,
                                     const std::string &codec, const std::string &schedule,
                                     const std::string &values, uint64_t seed) {
  const Dims dims = dimsOf(shape);
  OpParameters parameters = given;
  if (shape.scaleAxes != 0)
    parameters.settings["scale_axes"] = std::to_string(shape.scaleAxes);
  if (shape.valueColumns != 0)
    parameters.settings["value_columns"] = std::to_string(shape.valueColumns);
  if (shape.page == 0)
    parameters.settings["contiguous"] = "1";
  const char *op = shape.quantised ? "attention_decode_quant" : "attention_decode";
  const std::string &format = shape.quantised ? parameters.fromFormat : parameters.format;
  matrix::Case made{libraryOp(op, parameters), {}, {}, dims, {}};
  made.forAnyRows = false;
  made.options.codec = codec;
  made.options.schedule = schedule;
  const bool isOfCodes = format != "bf16" && format != "f16";
  if (!isOfCodes)
    made.dims.erase("scales");
  for (const char *open : {"h", "d", "page", "kv_heads", "scales", "blocks"})
    if (made.dims.count(open))
      made.options.dims[open] = dims.at(open);
  made.inputs = at_points::inputsOf(made.program, made.dims, values, seed);
  auto isCache = [](const HostTensor &input) { return input.name.ends_with("_cache"); };
  for (HostTensor &input : made.inputs)
    if (isCache(input) && !isOfCodes && values == "normal")
      writeFloats(input);
  const std::vector<int32_t> tokens(shape.lengths.begin(), shape.lengths.end());
  const bool isPaged = shape.page != 0;
  const int64_t size = isPaged ? shape.page : dims.at("max_tokens"); // of a page
  const int64_t pages = isPaged ? dims.at("pages") : dims.at("b");
  const int64_t most = isPaged ? dims.at("max_pages") : 1;
  std::vector<int32_t> table(tokens.size() * static_cast<size_t>(most), INT32_MAX);
  std::vector<bool> isKept(static_cast<size_t>(pages * size));
  std::vector<int32_t> order(static_cast<size_t>(pages));
  std::iota(order.begin(), order.end(), 0);
  if (isPaged)
    std::shuffle(order.begin(), order.end(), std::mt19937(static_cast<unsigned>(seed)));
  const auto window = parameters.settings.find("window");
  const int64_t last = window == parameters.settings.end() ? 0 : std::stoll(window->second);
  const int64_t met = last ? last : INT64_MAX;
  for (size_t sequence = 0, next = 0; sequence < tokens.size(); ++sequence) {
    if (!isPaged)
      next = sequence;
    for (int64_t token = std::max<int64_t>(0, tokens[sequence] - met); token < tokens[sequence];
         ++token) {
      int32_t &page = table[sequence * most + token / size];
      if (page == INT32_MAX)
        page = order[next++];
      isKept[static_cast<size_t>(page * size + token % size)] = true;
    }
  }
  const auto row = static_cast<size_t>(shape.kvHeads * shape.d * (isOfCodes ? 1 : 2));
  const std::vector<uint8_t> nan = nanOf(format), infinity = infinityOf(format);
  for (HostTensor &input : made.inputs)
    for (size_t token = 0; isCache(input) && token < isKept.size(); ++token)
      for (size_t i = 0; !isKept[token] && i < row; ++i) {
        const std::vector<uint8_t> &nothing = token % 2 == 0 || infinity.empty() ? nan : infinity;
        input.data[token * row + i] = static_cast<std::byte>(nothing[i % nothing.size()]);
      }
  if (shape.scaleAxes != 0)
    writeScales(made, isKept, shape);
  if (isPaged)
    write(inputNamed(made, "block_table"), table);
  write(inputNamed(made, "lengths"), tokens);
  writeSlopes(made);
  return made;
}

matrix::Case attention_cases::prefill(const Prompt &shape, const OpParameters &given,
                                      const std::string &codec, const std::string &schedule,
                                      const std::string &values, uint64_t seed) {
  std::vector<int32_t> starts = {0};
  for (const int64_t length : shape.lengths)
    starts.push_back(starts.back() + static_cast<int32_t>(length));
  const bool isPacked = !shape.lengths.empty();
  Dims dims = {{"s", isPacked ? starts.back() : shape.tokens},
               {"h", shape.heads},
               {"d", shape.d},
               {"kv_heads", shape.kvHeads},
               {"scales", shape.scales}};
  OpParameters parameters = given;
  if (isPacked) {
    dims["starts"] = static_cast<int64_t>(starts.size());
    parameters.settings.emplace("varlen", "1");
  }
  if (shape.valueColumns != 0)
    parameters.settings["value_columns"] = std::to_string(shape.valueColumns);
  if (shape.valueDim != 0)
    parameters.settings["value_dim"] = std::to_string(shape.valueDim);
  const char *op = shape.quantised ? "attention_prefill_quant" : "attention_prefill";
  matrix::Case made{libraryOp(op, parameters), {}, {}, dims, {}};
  made.forAnyRows = false;
  made.options.codec = codec;
  made.options.schedule = schedule;
  for (const char *open : {"h", "d", "kv_heads"})
    made.options.dims[open] = dims.at(open);
  const auto scaled = parameters.settings.find("scaled");
  if (scaled == parameters.settings.end() || scaled->second != "0")
    made.options.dims["scales"] = shape.scales;
  else
    made.dims.erase("scales");
  made.inputs = at_points::inputsOf(made.program, made.dims, values, seed);
  // Scores of some units, so that many tokens have weight.
  std::vector<float> ofHeads(static_cast<size_t>(shape.scales));
  for (size_t head = 0; head < ofHeads.size(); ++head)
    ofHeads[head] = 0.01f + 0.003f * static_cast<float>(head);
  for (HostTensor &input : made.inputs) {
    if (input.name == "q_scale" || input.name == "k_scale" || input.name == "kv_scale")
      write(input, ofHeads);
    else if (!made.dims.count("scales") && sizeOf(input.dtype) == 1)
      for (std::byte &code : input.data)
        code &= std::byte(0xbf); // of magnitudes below 2
  }
  if (isPacked)
    write(inputNamed(made, "cu_seqlens"), starts);
  writeSlopes(made);
  return made;
}
