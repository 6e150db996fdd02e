//===- examples/fp8_linear/main.cpp - FP8 beside BF16, with the cast ------===//
//
// Part of Eider, under the Apache License v2.0.
//
// A linear layer whose weights are FP8: what it takes to quantise x before cuBLASLt multiplies it,
// alone and in the norm before it, and all of it beside the same layer in BF16.
//
//===----------------------------------------------------------------------===//
#include "bench/Results.h"
#include "bench/measure/Data.h"
#include "bench/measure/Graph.h"
#include "bench/measure/Meter.h"
#include "examples/fp8_linear/Linear.h"

#include "eider/compile.h"

#include <CLI/CLI.hpp>

#include <cstdio>
#include <map>
#include <utility>

using namespace eider;
using namespace fp8_linear;

namespace {

struct Sizes {
  int64_t m, n, k;
};

/// One way to have FP8: what of x has a scale together, and how sums grow.
struct Way {
  std::string block;
  Sums sums;
  const char *nameOfSums() const { return sums == Sums::fast ? "fast" : "f32"; }
};

Sizes sizesOf(const std::string &text) {
  Sizes shape = {};
  int end = 0;
  if (std::sscanf(text.c_str(), "%ldx%ldx%ld%n", &shape.m, &shape.n, &shape.k, &end) != 3 ||
      static_cast<size_t>(end) != text.size() || shape.m < 1 || shape.n < 1 || shape.k < 1)
    throw Error(ErrorKind::Request, "is no shape", text,
                "write rows x outputs x inputs: 8192x8192x8192");
  return shape;
}

/// A layer's tensors, and the same layer in BF16.
class Layer {
public:
  Layer(const Device &device, const CublasLt &cublas, const Sizes &shape)
      : device(device), shape(shape), x(make(shape.m * shape.k, 1)), w(make(shape.n * shape.k, 2)),
        norm(make(shape.k, 3)), normed(make(shape.m * shape.k, 4)), y(make(shape.m * shape.n, 5)),
        ofX(std::make_shared<Product>(productOf(cublas, x.get()))),
        ofNormed(std::make_shared<Product>(productOf(cublas, normed.get()))) {}

  Launch product() const {
    return [own = ofX](Stream stream) { own->launch(stream); };
  }
  Launch normAlone() const {
    return bench::launchOf(device, libraryOp("rms_norm", {.dtype = "bf16"}),
                           {{"tokens", shape.m}, {"hidden", shape.k}},
                           {{"x", x.get()}, {"weight", norm.get()}, {"y", normed.get()}});
  }
  Launch normAndProduct() const {
    return after(normAlone(), [own = ofNormed](Stream stream) { own->launch(stream); });
  }

private:
  std::shared_ptr<void> make(int64_t elements, uint64_t seed) const {
    auto memory = bench::allocate(device, static_cast<size_t>(2 * elements));
    bench::fillWithData(device, memory.get(), DType::bf16, elements, seed);
    return memory;
  }
  Product productOf(const CublasLt &cublas, const void *input) const {
    return cublas.product({input}, {w.get()}, y.get(), shape.m, shape.n, shape.k);
  }

  Device device;
  Sizes shape;

public:
  const std::shared_ptr<void> x, w, norm, normed, y;

private:
  std::shared_ptr<Product> ofX, ofNormed;
};

/// Times launches, prints a line of each and keeps its cell.
class Bench {
public:
  Bench(const Device &device, int rounds, const std::string &json)
      : meter(device, rounds), results("linear", device.info(), json) {}

  std::vector<double> time(const std::vector<Launch> &launches) const {
    return meter.timeInTurn(launches);
  }

  void add(const Sizes &shape, nlohmann::json params, const std::string &part, double value,
           const std::string &baseline, double baselineValue, const nlohmann::json &asked) {
    params["dtype"] = "bf16";
    params["part"] = part;
    std::printf("%-18s %-6s %-5s %-18s %9.1f us", name(shape).c_str(),
                params.value("block", "").c_str(), params.value("sums", "").c_str(), part.c_str(),
                value);
    if (!baseline.empty())
      std::printf("   %-14s %9.1f us  %6.3f", baseline.c_str(), baselineValue,
                  value / baselineValue);
    std::printf("\n");
    std::fflush(stdout);
    nlohmann::json cell = {{"op", "fp8_linear"},
                           {"params", std::move(params)},
                           {"shape", {{"m", shape.m}, {"n", shape.n}, {"k", shape.k}}},
                           {"metric", "time"},
                           {"unit", "us"},
                           {"value", value}};
    if (!baseline.empty())
      cell.update({{"baseline", baseline},
                   {"baseline_value", baselineValue},
                   {"ratio", value / baselineValue}});
    cell.update(asked);
    results.add(std::move(cell));
  }
  void write() const { results.write(); }

private:
  static std::string name(const Sizes &shape) {
    return std::to_string(shape.m) + "x" + std::to_string(shape.n) + "x" + std::to_string(shape.k);
  }
  bench::Meter meter;
  bench::Results results;
};

constexpr double asked = 1 / 1.7; ///< of BF16's time
const nlohmann::json nothing = nlohmann::json::object();

/// Each part alone, and all of it, in every way; few rows also as they are, by one kernel.
void measure(const Device &device, const CublasLt &cublas, const Sizes &shape, Bench &bench) {
  const Layer layer(device, cublas, shape);
  const bool areFew = shape.m <= Linear::fewRows; // of which Eider adds in one way
  std::vector<Way> ways = {{"1x*", Sums::f32}, {"1x128", Sums::f32}};
  if (!areFew)
    ways.insert(ways.begin(), {"1x*", Sums::fast});
  std::vector<std::unique_ptr<Linear>> linears;
  std::vector<Launch> launches = {layer.product(), layer.normAlone(), layer.normAndProduct()};
  for (const Way &way : ways) {
    linears.push_back(std::make_unique<Linear>(device, cublas, shape.n, shape.k, way.block));
    Linear &linear = *linears.back();
    linear.setWeight(layer.w.get());
    const Launch cast = linear.cast(layer.x.get(), shape.m);
    const Launch fused = linear.normAndCast(layer.x.get(), layer.norm.get(), shape.m);
    const Launch product = linear.product(layer.y.get(), shape.m, way.sums);
    launches.insert(launches.end(),
                    {cast, fused, product, after(cast, product), after(fused, product)});
    if (areFew)
      launches.push_back(linear.forward(layer.x.get(), layer.y.get(), shape.m));
  }
  const std::vector<double> times = bench.time(launches);
  const double bf16 = times[0], norm = times[1], normAndBf16 = times[2];
  bench.add(shape, {}, "bf16 product", bf16, "", 0, nothing);
  bench.add(shape, {}, "norm", norm, "", 0, nothing);
  bench.add(shape, {}, "norm, bf16 product", normAndBf16, "", 0, nothing);
  auto next = times.begin() + 3;
  for (const Way &way : ways) {
    const nlohmann::json params = {
        {"format", "e4m3"}, {"block", way.block}, {"sums", way.nameOfSums()}};
    const auto own = std::exchange(next, next + (areFew ? 6 : 5));
    const double product = own[2];
    bench.add(shape, params, "product", product, "bf16 product", bf16, nothing);
    bench.add(shape, params, "cast", own[0], "product", product, {{"target", 0.1}});
    bench.add(shape, params, "norm and cast", own[1], "norm", norm,
              {{"target_difference", 0.03 * product}});
    bench.add(shape, params, "linear", own[3], "bf16 product", bf16, {{"target", asked}});
    bench.add(shape, params, "norm, linear", own[4], "norm, bf16 product", normAndBf16,
              {{"target", asked}});
    if (areFew)
      bench.add(shape, params, "linear of bf16", own[5], "bf16 product", bf16, {{"target", asked}});
  }
}

/// Launches a part of what measure() times so often, and times nothing: for a profiler.
void launchPart(const Device &device, const CublasLt &cublas, const Sizes &shape, const Way &way,
                const std::string &part) {
  const Layer layer(device, cublas, shape);
  Linear linear(device, cublas, shape.n, shape.k, way.block);
  linear.setWeight(layer.w.get());
  const Launch cast = linear.cast(layer.x.get(), shape.m);
  const Launch fused = linear.normAndCast(layer.x.get(), layer.norm.get(), shape.m);
  const Launch product = linear.product(layer.y.get(), shape.m, way.sums);
  std::map<std::string, Launch> parts = {{"cast", cast},
                                         {"norm and cast", fused},
                                         {"product", product},
                                         {"linear", after(cast, product)},
                                         {"norm, linear", after(fused, product)}};
  if (shape.m <= Linear::fewRows)
    parts["linear of bf16"] = linear.forward(layer.x.get(), layer.y.get(), shape.m);
  cast({}); // what a product alone multiplies
  const auto found = parts.find(part);
  if (found == parts.end())
    throw Error(ErrorKind::Request, "is no part of such a layer", part,
                "give cast, norm and cast, product, linear, norm, linear, or up to 64 rows linear "
                "of bf16");
  for (int i = 0; i < 4; ++i)
    found->second({});
  device.synchronize();
}

/// `x`: what was multiplied as it is; null: what was cast.
bool isRight(const Linear &linear, const Layer &layer, const Sizes &shape, const void *x,
             const std::string &what) {
  const double error = linear.errorOf(x, layer.y.get(), shape.m);
  std::printf("%s %ldx%ldx%ld %s: largest error over its bound %.3f\n",
              error <= 1 ? "ok" : "not ok", shape.m, shape.n, shape.k, what.c_str(), error);
  return error <= 1;
}

/// What is multiplied is what was cast, scaled as it was; exit status 1 if it is not.
int check(const Device &device, const CublasLt &cublas) {
  bool areRight = true;
  for (const Sizes &shape : {Sizes{256, 384, 1024}, Sizes{100, 512, 512}, Sizes{1000, 768, 1536},
                             Sizes{8, 384, 1024}, Sizes{Linear::fewRows, 512, 512}})
    for (const Way &way : {Way{"1x*", Sums::fast}, {"1x*", Sums::f32}, {"1x128", Sums::f32}}) {
      const bool areFew = shape.m <= Linear::fewRows;
      if (areFew && way.sums == Sums::fast)
        continue;
      const Layer layer(device, cublas, shape);
      Linear linear(device, cublas, shape.n, shape.k, way.block);
      linear.setWeight(layer.w.get());
      const std::string what = way.block + " " + way.nameOfSums();
      linear.forward(layer.x.get(), layer.y.get(), shape.m, way.sums)({});
      device.synchronize();
      areRight &=
          isRight(linear, layer, shape, shape.m <= Linear::fewRows ? layer.x.get() : nullptr, what);
      bench::fillWithData(device, layer.y.get(), DType::bf16, shape.m * shape.n, 6);
      linear.normAndCast(layer.x.get(), layer.norm.get(), shape.m)({});
      linear.product(layer.y.get(), shape.m, way.sums)({});
      device.synchronize();
      areRight &= isRight(linear, layer, shape, nullptr, what + " after a norm");
    }
  return areRight ? 0 : 1;
}

} // namespace

int main(int argc, char **argv) {
  CLI::App app("A linear layer in FP8: the cast by Eider, many rows by cuBLASLt, few by Eider");
  std::string id = "cuda:0", json;
  std::vector<std::string> shapes = {"4096x7168x7168", "8192x8192x8192", "8x16384x16384",
                                     "16x16384x16384", "64x16384x16384"};
  int rounds = 20;
  bool checks = false;
  std::string part, block = "1x*", sums = "f32";
  app.add_option("--device", id, "a GPU");
  app.add_option("--shape", shapes, "rows x outputs x inputs; several may be given");
  app.add_option("--rounds", rounds, "medians are over so many")->check(CLI::PositiveNumber);
  CLI::Option *ofJson =
      app.add_option("--json", json, "writes the results there (bench/README.md)");
  CLI::Option *ofPart =
      app.add_option("--part", part, "launches that of each shape four times, and times nothing");
  app.add_option("--block", block, "of x, for --part: 1x* or 1x128");
  app.add_option("--sums", sums, "for --part: f32 or fast")->check(CLI::IsMember({"f32", "fast"}));
  ofPart->excludes(ofJson)->excludes(
      app.add_flag("--check", checks, "compares samples with double instead"));
  CLI11_PARSE(app, argc, argv);
  try {
    std::vector<Sizes> sizes;
    for (const std::string &text : shapes)
      sizes.push_back(sizesOf(text));
    if (const std::string why = Device::whyNoGpu(); !why.empty()) {
      std::fprintf(stderr, "fp8-linear: skipped: %s\n", why.c_str());
      return 77;
    }
    const Device device = Device::open(id);
    if (device.isHost())
      throw Error(ErrorKind::Request, "has no cuBLASLt", id, "give a GPU");
    const bench::GraphStream current(device); // and its context, which cuBLASLt takes
    const CublasLt cublas(device);
    std::printf("%s, cuBLASLt %zu\n", device.info().name.c_str(), cublas.version());
    if (checks)
      return check(device, cublas);
    if (!part.empty()) {
      for (const Sizes &shape : sizes)
        launchPart(device, cublas, shape, {block, sums == "fast" ? Sums::fast : Sums::f32}, part);
      return 0;
    }
    Bench bench(device, rounds, json);
    for (const Sizes &shape : sizes)
      measure(device, cublas, shape, bench);
    bench.write();
  } catch (const Error &error) {
    std::fprintf(stderr, "fp8-linear: %s\n", error.what());
    return 2;
  }
  return 0;
}
