//===- bench/llm/Layer.cpp - One decode layer of a transformer ------------===//
//
// Part of Eider, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//
#include "bench/llm/Layer.h"

#include <algorithm>

namespace eider::llm {

int64_t DecodeLayer::Tensor::elements() const {
  int64_t count = 1;
  for (int64_t extent : shape)
    count *= extent;
  return count;
}
size_t DecodeLayer::Tensor::bytes() const {
  return static_cast<size_t>(elements()) * sizeOf(dtype);
}

const std::vector<std::string> &DecodeLayer::weights() {
  static const std::vector<std::string> names = {"qkv", "o", "gate_up", "down"};
  return names;
}

namespace {

OpParameters codesOf(const std::string &block) {
  return {.dtype = "bf16", .format = "e4m3", .block = block};
}
std::string blockOf(int64_t columns) { return "1x" + std::to_string(columns); }

/// silu · mul of x [m, 2 k], of which the gate comes first, and its product with w [n, k].
Program gatedProduct() {
  Builder b("silu_mul_matmul");
  Dim m = b.dim("m"), n = b.dim("n"), k = b.dim("k");
  Value x = b.input("x", bf16, {m, 2 * k});
  Scaled w = b.scaled_input("w", e4m3, {n, k}, {1, whole}, f32);
  Value gated = silu(first_half(x)) * second_half(x);
  b.output("y", matmul(cast(gated, bf16), w), bf16);
  return b.build();
}

} // namespace

DecodeLayer::DecodeLayer(const Device &device, const Model &model, const Batch &batch,
                         Activations activations)
    : device(device), model(model), batch(batch), activations(activations) {
  const int64_t b = batch.sequences;
  for (const char *name : {"x", "residual"})
    make(name, DType::bf16, {b, model.hidden});
  for (const char *name : {"norm1", "norm2"})
    make(name, DType::bf16, {model.hidden});
  for (const char *name : {"q_norm", "k_norm"})
    make(name, DType::bf16, {model.headDim});
  for (const char *name : {"cos", "sin"})
    make(name, DType::bf16, {batch.context, model.headDim / 2});
  for (const char *name : {"positions", "slots"})
    make(name, DType::i64, {b});
  make("lengths", DType::i32, {b});
  make("table", DType::i32, {b, batch.pagesOfEach()});
  for (const char *name : {"k_cache", "v_cache"})
    make(name, DType::e4m3, {batch.pages(), Batch::page, model.kvHeads, model.headDim});
  for (const char *name : {"k_scale", "v_scale"})
    make(name, DType::f32, {1});
  make("projected", DType::bf16, {b, model.ofQkv()});
  make("queries", DType::bf16, {b, model.ofQueries()});
  make("wide", DType::bf16, {b, 2 * model.ffn});
  const auto operand = [&](const std::string &name, int64_t columns, int64_t block = 128) {
    make(name, activations == Activations::e4m3 ? DType::e4m3 : DType::bf16, {b, columns});
    if (activations == Activations::e4m3)
      make(name + "_scale", DType::f32, {b, columns / block});
  };
  operand("normed", model.hidden);
  operand("attended", model.ofQueries(), std::min<int64_t>(128, model.headDim));
  operand("gated", model.ffn);
  const auto weight = [&](const std::string &name, int64_t outputs, int64_t inputs) {
    make(name, DType::e4m3, {outputs, inputs});
    make(name + "_scale", DType::f32, {outputs, 1});
  };
  weight("qkv", model.ofQkv(), model.hidden);
  weight("o", model.hidden, model.ofQueries());
  weight("gate_up", 2 * model.ffn, model.hidden);
  weight("down", model.hidden, model.ffn);
}

void DecodeLayer::make(const std::string &name, DType dtype, std::vector<int64_t> shape) {
  Tensor made = {nullptr, dtype, std::move(shape)};
  made.memory = bench::allocate(device, made.bytes());
  tensors.emplace(name, std::move(made));
}

NamedTensor DecodeLayer::whole(std::string_view as, const std::string &name) {
  return {as, at(name).memory.get()};
}

NamedTensor DecodeLayer::part(std::string_view as, const std::string &name, int64_t column) {
  const Tensor &all = at(name);
  return {as, static_cast<const std::byte *>(all.memory.get()) + 2 * column, {all.shape.back(), 1}};
}

void DecodeLayer::step(const std::string &op, const OpParameters &parameters, const Dims &dims,
                       std::vector<NamedTensor> given) {
  steps.push_back(bench::launchOf(device, libraryOp(op, parameters), dims, given));
}

void DecodeLayer::setWeight(const std::string &name, const void *values) {
  const Tensor &weight = at(name);
  bench::launchOf(device, libraryOp("quantize", codesOf("1x*")),
                  {{"tokens", weight.shape[0]}, {"hidden", weight.shape[1]}},
                  {{"x", values}, whole("y", name), whole("y_scale", name + "_scale")})({});
  device.synchronize();
}

void DecodeLayer::feed(const std::string &op, int64_t hidden, std::vector<NamedTensor> given,
                       const std::string &y) {
  const Dims dims = {{"tokens", batch.sequences}, {"hidden", hidden}};
  given.push_back(whole("y", y));
  if (activations == Activations::bf16)
    return step(op, {.dtype = "bf16"}, dims, given);
  given.push_back(whole("y_scale", y + "_scale"));
  step(op + "_quant", codesOf(blockOf(128)), dims, given);
}

void DecodeLayer::multiply(const std::string &weight, const std::string &x, const std::string &y) {
  const std::vector<int64_t> &shape = at(weight).shape;
  std::vector<NamedTensor> given = {whole("w", weight), whole("w_scale", weight + "_scale"),
                                    whole("x", x), whole("y", y)};
  Dims dims = {{"n", shape[0]}, {"k", shape[1]}};
  OpParameters parameters = codesOf("1x*");
  if (activations == Activations::e4m3) {
    parameters.fromFormat = "e4m3";
    parameters.fromBlock = blockOf(at(x).shape[1] / at(x + "_scale").shape[1]);
    given.push_back(whole("x_scale", x + "_scale"));
  } else if (batch.sequences == 1) { // a vector, which needs no tensor cores
    return step("gemv", parameters, dims, given);
  }
  dims["m"] = batch.sequences;
  step(activations == Activations::e4m3 ? "scaled_matmul" : "matmul_skinny", parameters, dims,
       given);
}

void DecodeLayer::prepare() {
  steps.clear();
  const int64_t b = batch.sequences;
  const std::map<std::string, std::string> head = {{"head", std::to_string(model.headDim)}};
  const auto addNorm = [&](const std::string &weight) {
    feed("add_rms_norm", model.hidden,
         {whole("x", "x"), whole("residual", "residual"), whole("weight", weight)}, "normed");
  };
  addNorm("norm1");
  multiply("qkv", "normed", "projected");
  step("norm_rope", {.dtype = "bf16", .settings = head},
       {{"tokens", b}, {"hidden", model.ofQueries()}, {"max_position", batch.context}},
       {part("x", "projected", 0), whole("weight", "q_norm"), whole("cos", "cos"),
        whole("sin", "sin"), whole("positions", "positions"), whole("y", "queries")});
  step("kv_append",
       {.dtype = "bf16",
        .format = "e4m3",
        .block = "*x*",
        .scaleSource = "static",
        .settings = head},
       {{"tokens", b},
        {"hidden", model.ofKeys()},
        {"slots", batch.pages() * Batch::page},
        {"max_position", batch.context}},
       {part("k", "projected", model.ofQueries()),
        part("v", "projected", model.ofQueries() + model.ofKeys()), whole("weight", "k_norm"),
        whole("cos", "cos"), whole("sin", "sin"), whole("positions", "positions"),
        whole("slot_mapping", "slots"), whole("k_cache", "k_cache"), whole("v_cache", "v_cache"),
        whole("k_cache_scale", "k_scale"), whole("v_cache_scale", "v_scale"),
        whole("k_scale", "k_scale"), whole("v_scale", "v_scale")});
  std::vector<NamedTensor> given = {whole("q", "queries"),       whole("k_cache", "k_cache"),
                                    whole("v_cache", "v_cache"), whole("k_scale", "k_scale"),
                                    whole("v_scale", "v_scale"), whole("block_table", "table"),
                                    whole("lengths", "lengths")};
  const Dims ofAttention = {{"b", b},
                            {"h", model.heads},
                            {"d", model.headDim},
                            {"kv_heads", model.kvHeads},
                            {"page", Batch::page},
                            {"pages", batch.pages()},
                            {"max_pages", batch.pagesOfEach()},
                            {"scales", 1}};
  if (activations == Activations::bf16) {
    given.push_back(whole("o", "attended"));
    step("attention_decode", {.dtype = "bf16", .format = "e4m3"}, ofAttention, given);
  } else {
    given.push_back(whole("y", "attended"));
    given.push_back(whole("y_scale", "attended_scale"));
    OpParameters parameters = codesOf(blockOf(std::min<int64_t>(128, model.headDim)));
    parameters.fromFormat = "e4m3";
    step("attention_decode_quant", parameters, ofAttention, given);
  }
  multiply("o", "attended", "x");
  addNorm("norm2");
  multiply("gate_up", "normed", "wide");
  if (activations == Activations::bf16 && b > 1) {
    const Dims dims = {{"m", b}, {"n", model.hidden}, {"k", model.ffn}};
    steps.push_back(bench::launchOf(
        device, gatedProduct(), dims,
        {whole("x", "wide"), whole("w", "down"), whole("w_scale", "down_scale"), whole("y", "x")}));
  } else {
    feed("silu_mul", model.ffn, {whole("x", "wide")}, "gated");
    multiply("down", "gated", "x");
  }
}

void DecodeLayer::launch(Stream stream) const {
  for (const bench::Launch &step : steps)
    step(stream);
}

double DecodeLayer::bytesOfWeights() const {
  double bytes = 0;
  for (const std::string &name : weights())
    bytes += static_cast<double>(tensors.at(name).bytes());
  return bytes;
}
double DecodeLayer::bytesOfCaches() const {
  return 2 * static_cast<double>(tensors.at("k_cache").bytes());
}

} // namespace eider::llm
