//===- bench/llm/main.cpp - A decode layer's time, and its memory ---------===//
//
// Part of Eider, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//
#include "bench/Results.h"
#include "bench/llm/Check.h"
#include "bench/llm/Layer.h"
#include "bench/measure/Data.h"
#include "bench/measure/Graph.h"

#include <CLI/CLI.hpp>

#include <algorithm>
#include <cstdio>

using namespace eider;
using namespace eider::llm;

namespace {

const Model models[] = {{"llama-8b", 4096, 32, 8, 128, 14336, 32},
                        {"llama-70b", 8192, 64, 8, 128, 28672, 80}};

nlohmann::json cellOf(const Model &model, const Batch &batch, const std::string &metric,
                      const std::string &unit, double value,
                      const nlohmann::json &more = nlohmann::json::object()) {
  nlohmann::json params = {{"model", model.name}, {"dtype", "bf16"}, {"format", "e4m3"}};
  params.update(more.value("params", nlohmann::json::object()));
  nlohmann::json cell = {{"op", "decode_layer"},
                         {"params", params},
                         {"shape", {{"sequences", batch.sequences}, {"context", batch.context}}},
                         {"metric", metric},
                         {"unit", unit},
                         {"value", value}};
  if (more.contains("bytes"))
    cell["bytes"] = more["bytes"];
  return cell;
}

/// Every sequence is as long as it may be.
void fill(const Device &device, DecodeLayer &layer, const Batch &batch) {
  uint64_t seed = 1;
  for (const char *name : {"x", "residual", "norm1", "norm2", "q_norm", "k_norm", "cos", "sin",
                           "k_cache", "v_cache", "qkv", "o", "gate_up", "down"}) {
    DecodeLayer::Tensor &tensor = layer.at(name);
    bench::fillWithData(device, tensor.memory.get(), tensor.dtype, tensor.elements(), ++seed);
  }
  for (const char *name :
       {"k_scale", "v_scale", "qkv_scale", "o_scale", "gate_up_scale", "down_scale"}) {
    DecodeLayer::Tensor &tensor = layer.at(name);
    bench::fillWithData(device, tensor.memory.get(), tensor.dtype, tensor.elements(), ++seed,
                        bench::Content::scales);
  }
  std::vector<int32_t> table, lengths;
  std::vector<int64_t> positions, slots;
  for (int64_t page = 0; page < batch.pages(); ++page)
    table.push_back(static_cast<int32_t>(page * 7919 % batch.pages()));
  for (int64_t i = 0; i < batch.sequences; ++i) {
    lengths.push_back(static_cast<int32_t>(batch.context));
    positions.push_back(batch.context - 1);
    slots.push_back(table[static_cast<size_t>((i + 1) * batch.pagesOfEach() - 1)] * Batch::page +
                    (batch.context - 1) % Batch::page);
  }
  const auto upload = [&](const char *name, const void *values) {
    device.upload(layer.at(name).memory.get(), values, layer.at(name).bytes());
  };
  upload("table", table.data());
  upload("lengths", lengths.data());
  upload("positions", positions.data());
  upload("slots", slots.data());
}

/// Steps of one layer, one after the other, as one CUDA graph: its weights sweep the L2 by
/// themselves.
void measure(const Device &device, const Model &model, const Batch &batch, Activations activations,
             int rounds, bench::Results &results) {
  DecodeLayer layer(device, model, batch, activations);
  fill(device, layer, batch);
  layer.prepare();
  bench::GraphStream graphs(device);
  constexpr int steps = 4;
  const auto replay = graphs.record([&](Stream stream) {
    for (int i = 0; i < steps; ++i)
      layer.launch(stream);
  });
  std::vector<double> times;
  for (int round = -2; round < rounds; ++round) {
    replay(); // keeps the GPU busy while the next is on its way
    if (const double time = device.microseconds(graphs.stream(), replay) / steps; round >= 0)
      times.push_back(time);
  }
  std::nth_element(times.begin(), times.begin() + rounds / 2, times.end());
  const double time = times[static_cast<size_t>(rounds / 2)];
  const double bytes = layer.bytesOfWeights() + layer.bytesOfCaches();
  const double tokens =
      1e6 * static_cast<double>(batch.sequences) / (time * static_cast<double>(model.layers));
  const char *const name = activations == Activations::e4m3 ? "e4m3" : "bf16";
  std::printf("%-10s %s %3ld sequences of %6ld  %9.1f us a layer  %5.2f TB/s  %8.0f tokens/s\n",
              model.name.c_str(), name, batch.sequences, batch.context, time, bytes / time * 1e-6,
              tokens);
  std::fflush(stdout);
  const nlohmann::json params = {{"activations", name}};
  results.add(cellOf(model, batch, "time", "us", time, {{"bytes", bytes}, {"params", params}}));
  results.add(cellOf(model, batch, "tokens_per_second", "tokens", tokens, {{"params", params}}));
}

/// How many sequences' caches there is memory for beside all layers' weights: as many as are had.
void measureRoom(const Device &device, const Model &model, int64_t context,
                 bench::Results &results) {
  const double weights =
      static_cast<double>(model.layers) *
      static_cast<double>(model.ofQkv() * model.hidden + model.hidden * model.ofQueries() +
                          3 * model.hidden * model.ffn);
  const double cache = static_cast<double>(2 * model.layers * context * model.ofKeys());
  for (const auto &[ofWeights, ofCache] : {std::pair(2, 2), {1, 2}, {1, 1}}) {
    std::vector<std::shared_ptr<void>> had;
    int64_t sequences = -1; // the first is the weights
    try {
      had.push_back(bench::allocate(device, static_cast<size_t>(ofWeights * weights)));
      for (sequences = 0;; ++sequences)
        had.push_back(bench::allocate(device, static_cast<size_t>(ofCache * cache)));
    } catch (const Error &) {
      // There is no more.
    }
    const auto name = [](int bytes) { return bytes == 1 ? "e4m3" : "bf16"; };
    std::printf("%-10s weights %s, cache %s: %ld sequences of %ld fit\n", model.name.c_str(),
                name(ofWeights), name(ofCache), std::max<int64_t>(sequences, 0), context);
    nlohmann::json cell =
        cellOf(model, {0, context}, "sequences_that_fit", "sequences",
               static_cast<double>(std::max<int64_t>(sequences, 0)),
               {{"params", {{"format", name(ofWeights)}, {"cache", name(ofCache)}}}});
    cell["shape"] = {{"context", context}};
    results.add(std::move(cell));
  }
}

} // namespace

int main(int argc, char **argv) {
  CLI::App app("One decode layer of a transformer, all of its kernels by Eider");
  std::string id = "cuda:0", json, weights;
  int rounds = 20;
  bool room = true;
  app.add_option("--device", id, "host, or a GPU");
  app.add_option(
      "--check", weights,
      "compares a layer of MiniLM's dims on the weights of this file with loops in double");
  app.add_option("--rounds", rounds, "medians are over so many")->check(CLI::PositiveNumber);
  app.add_flag("!--no-room", room, "does not fill the memory to see how many sequences fit");
  app.add_option("--json", json, "writes the results there (bench/README.md)");
  CLI11_PARSE(app, argc, argv);
  try {
    if (id != "host")
      if (const std::string why = Device::whyNoGpu(); !why.empty()) {
        std::fprintf(stderr, "bench-llm: skipped: %s\n", why.c_str());
        return 77;
      }
    const Device device = Device::open(id);
    if (!weights.empty())
      return checkLayer(device, weights) ? 0 : 1;
    if (device.isHost())
      throw Error(ErrorKind::Request, "simulates, which takes no time that means anything", id,
                  "give --check FILE, or a GPU");
    bench::Results results("llm", device.info(), json);
    for (const Model &model : models) {
      for (const auto &[sequences, context] :
           {std::pair<int64_t, int64_t>{1, 4096}, {8, 4096}, {16, 4096}, {64, 4096}, {64, 16384}})
        for (Activations activations : {Activations::bf16, Activations::e4m3})
          if (sequences > 1 || activations == Activations::bf16) // one is gemv's
            measure(device, model, {sequences, context}, activations, rounds, results);
      if (room)
        measureRoom(device, model, 8192, results);
    }
    results.write();
  } catch (const Error &error) {
    std::fprintf(stderr, "bench-llm: %s\n", error.what());
    return 2;
  }
  return 0;
}
