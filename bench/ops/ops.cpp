//===- ops.cpp - Streaming ops against a memcpy of the same bytes ---------===//
//
// Part of Eider, under the Apache License v2.0.
//
// For each cell: the op's kernel and a device-to-device memcpy that moves as many bytes, timed in
// turn in one run; each input read once and each output written once are counted. Medians of many
// rounds; every round is several launches over tensors larger than the L2, so that nothing is
// served from it. `--sweep` tries a list of schedules a cell.
//
//===----------------------------------------------------------------------===//
#include "bench/Results.h"
#include "eider/jit.h"

#include <CLI/CLI.hpp>

#include <algorithm>
#include <cstdio>
#include <cstring>
#include <random>

using namespace eider;

namespace {

struct Cell {
  std::string op, dtype, format, block, codec;
  int64_t tokens, hidden;
  double target; ///< Of a memcpy of the same bytes; 0: none (the software codec is held against the
                 ///< hardware's).
};

/// The cells with a stated target, and their neighbours.
std::vector<Cell> allCells() {
  std::vector<Cell> cells;
  const int64_t m = 16384, n = 8192;
  for (std::string codec : {"hardware", "software"}) {
    const bool hardware = codec == "hardware";
    for (const char *format : {"e4m3", "e5m2"}) {
      for (const char *block : {"1x128", "1x*"})
        cells.push_back({"quantize", "bf16", format, block, codec, m, n, hardware ? 1.01 : 0});
      for (const char *op : {"rms_norm_quant", "add_rms_norm_quant", "silu_mul_quant"})
        cells.push_back({op, "bf16", format, "1x128", codec, m, n, hardware ? 1.05 : 0});
    }
  }
  for (const char *block : {"128x128", "1x32"})
    cells.push_back({"quantize", "bf16", "e4m3", block, "auto", m, n, 0});
  cells.push_back({"quantize", "f32", "e4m3", "1x128", "auto", m, n, 0});
  cells.push_back({"quantize", "f16", "e4m3", "1x128", "auto", m, n, 0});
  cells.push_back({"dequantize", "bf16", "e4m3", "1x128", "auto", m, n, 0});
  cells.push_back({"add_rms_norm_quant", "bf16", "e4m3", "1x*", "auto", m, n, 0});
  cells.push_back({"rms_norm_quant", "bf16", "e4m3", "128x128", "auto", m, n, 0});
  cells.push_back({"quantize", "bf16", "e4m3", "1x128", "auto", m, 7168, 0});
  cells.push_back({"add_rms_norm_quant", "bf16", "e4m3", "1x128", "auto", m, 7168, 0});
  cells.push_back({"quantize", "bf16", "e4m3", "1x128", "auto", m, 8193, 0});
  return cells;
}

/// What a person might try, for --sweep.
std::vector<std::string> schedulesFor(const Cell &cell) {
  if (cell.block == "128x128")
    return {"", "tile<threads = 128, vector = 16, rows = 128, columns = 128>",
            "tile<threads = 512, vector = 16, rows = 128, columns = 128>",
            "tile<threads = 1024, vector = 16, rows = 128, columns = 128>",
            "tile<threads = 512, vector = 8, rows = 128, columns = 128>"};
  bool row = cell.block == "1x*" || cell.op.find("norm") != std::string::npos;
  std::vector<std::string> list = {""};
  for (int vector : {4, 8, 16})
    for (int threads : {64, 128, 256, 512, 1024}) {
      if (threads * vector * (row ? 1 : 1) > cell.hidden)
        continue;
      std::string base =
          "<threads = " + std::to_string(threads) + ", vector = " + std::to_string(vector);
      if (row) {
        if (cell.hidden / threads <= 64)
          for (const char *tiles : {"", ", tiles = 2", ", tiles = 3", ", tiles = 4"})
            for (int resident : {0, 1, 1024 / threads, 1280 / threads, 1536 / threads})
              if (vector == 16 && (resident < 2 || resident * threads <= 1536))
                list.push_back("row" + base + tiles +
                               (resident ? ", resident = " + std::to_string(resident) : "") + ">");
      } else {
        for (int loads : {1, 2, 4})
          if (threads * vector * loads <= cell.hidden)
            list.push_back("map" + base + ", loads = " + std::to_string(loads) + ">");
      }
    }
  return list;
}

/// Bytes of a normal distribution in a dtype; scales and weights near 1.
std::vector<std::byte> randomBytes(DType type, int64_t elements, uint64_t seed) {
  std::mt19937_64 generator(seed);
  std::normal_distribution<float> normal;
  std::vector<std::byte> period(sizeOf(type) * std::min<int64_t>(elements, 1 << 20));
  for (size_t i = 0; i < period.size() / sizeOf(type); ++i) {
    float value = normal(generator);
    uint32_t bits;
    std::memcpy(&bits, &value, 4);
    uint32_t out = bits;
    if (type == DType::bf16)
      out = bits >> 16;
    else if (type == DType::f16) // normals of f16: exponent rebiased, mantissa cut
      out = (bits >> 16 & 0x8000u) | std::clamp<int>((bits >> 23 & 0xff) - 112, 1, 30) << 10 |
            (bits >> 13 & 0x3ffu);
    else if (sizeOf(type) == 1)
      out = static_cast<uint32_t>(generator()) & 0xf7; // no NaN
    std::memcpy(&period[i * sizeOf(type)], &out, sizeOf(type));
  }
  std::vector<std::byte> bytes(sizeOf(type) * elements);
  for (size_t at = 0; at < bytes.size(); at += period.size())
    std::memcpy(&bytes[at], period.data(), std::min(period.size(), bytes.size() - at));
  return bytes;
}

double median(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  return values[values.size() / 2];
}

/// Device memory of a cell's tensors, filled.
class Tensors {
public:
  Tensors(const Device &device, const Kernel &kernel, const Signature &signature, const Dims &dims)
      : device(device) {
    uint64_t seed = 1;
    for (const auto &tensor : signature.tensors) {
      int64_t elements = 1;
      for (int64_t extent : kernel.shapeOf(tensor.name, dims))
        elements *= extent;
      auto bytes = randomBytes(tensor.dtype, elements, ++seed);
      void *pointer = device.allocate(bytes.size());
      device.upload(pointer, bytes.data(), bytes.size());
      pointers.push_back(pointer);
      args.push_back({pointer});
      traffic += bytes.size() * (tensor.role == Signature::Role::InOut ? 2 : 1);
    }
  }
  void reserveWorkspace(size_t bytes) {
    if (bytes && !workspace)
      pointers.push_back(workspace = device.allocate(bytes));
  }
  ~Tensors() {
    for (void *pointer : pointers)
      device.free(pointer);
  }
  Tensors(const Tensors &) = delete;

  std::vector<TensorArg> args;
  size_t traffic = 0;
  void *workspace = nullptr;

private:
  Device device;
  std::vector<void *> pointers;
};

struct Timing {
  double kernel = 0, memcpy = 0; ///< microseconds, medians
  double spread = 0;             ///< (third quartile − first) / median of the kernel's rounds
};

Timing time(const Device &device, const Call &call, const Tensors &tensors, int rounds, void *from,
            void *to) {
  constexpr int launches = 5;
  std::vector<double> kernel, copy;
  for (int round = 0; round < rounds + 2; ++round) {
    double a = device.microseconds({}, [&] {
      for (int i = 0; i < launches; ++i)
        call.launch({}, tensors.args, {}, tensors.workspace);
    });
    double b = device.microseconds({}, [&] {
      for (int i = 0; i < launches; ++i)
        device.copy(to, from, tensors.traffic / 2);
    });
    if (round < 2)
      continue;
    kernel.push_back(a / launches);
    copy.push_back(b / launches);
  }
  std::vector<double> sorted = kernel;
  std::sort(sorted.begin(), sorted.end());
  return {median(kernel), median(copy),
          (sorted[sorted.size() * 3 / 4] - sorted[sorted.size() / 4]) / median(kernel)};
}

/// `op/dtype/format/block/codec`: what --only matches.
std::string nameOf(const Cell &cell) {
  return cell.op + "/" + cell.dtype + "/" + cell.format + "/" + cell.block + "/" + cell.codec;
}

Program programOf(const Cell &cell) {
  OpParameters parameters;
  parameters.dtype = cell.dtype;
  parameters.format = cell.format;
  parameters.block = cell.block;
  return libraryOp(cell.op, parameters);
}

void run(const Device &device, const Cell &cell, const Program &program,
         const std::string &schedule, int rounds, Tensors &tensors, void *from, void *to,
         bench::Results &results) {
  JitOptions options;
  options.codec = cell.codec;
  options.schedule = schedule;
  Kernel kernel = jit(program, device, {{"hidden", cell.hidden}}, options);
  Call call = kernel.prepare({{"tokens", cell.tokens}, {"hidden", cell.hidden}});
  tensors.reserveWorkspace(call.workspace_bytes());
  Timing timing = time(device, call, tensors, rounds, from, to);
  double ratio = timing.kernel / timing.memcpy;
  const char *verdict = cell.target == 0 ? "" : ratio <= cell.target ? "  ok" : "  OVER";
  std::printf("%-20s %-5s %-5s %-8s %-9s %6ld x %-6ld %9.1f us  memcpy %8.1f us  %.3f%s  %s\n",
              cell.op.c_str(), cell.dtype.c_str(), cell.format.c_str(), cell.block.c_str(),
              cell.codec.c_str(), cell.tokens, cell.hidden, timing.kernel, timing.memcpy, ratio,
              verdict, schedule.c_str());
  std::fflush(stdout);
  results.add({{"op", cell.op},
               {"params",
                {{"dtype", cell.dtype},
                 {"format", cell.format},
                 {"block", cell.block},
                 {"codec", cell.codec},
                 {"schedule", schedule}}},
               {"shape", {{"tokens", cell.tokens}, {"hidden", cell.hidden}}},
               {"metric", "time"},
               {"unit", "us"},
               {"value", timing.kernel},
               {"baseline", "memcpy"},
               {"baseline_value", timing.memcpy},
               {"ratio", ratio},
               {"target", cell.target},
               {"spread", timing.spread},
               {"bytes", tensors.traffic}});
}
} // namespace

int main(int argc, char **argv) {
  CLI::App app{"Streaming ops against a memcpy of the same bytes"};
  std::string id = "cuda:0", json, only;
  int rounds = 30;
  bool sweep = false;
  app.add_option("--device", id, "cuda:N");
  app.add_option("--json", json, "write the results there");
  app.add_option("--only", only, "only cells whose op/dtype/format/block/codec has this in it");
  app.add_option("--rounds", rounds, "rounds a cell");
  app.add_flag("--sweep", sweep, "try many schedules a cell");
  CLI11_PARSE(app, argc, argv);
  try {
    Device device = Device::open(id);
    bench::Results results("ops", device.info());
    const size_t most = size_t(1) << 30;
    void *from = device.allocate(most), *to = device.allocate(most);
    auto bytes = randomBytes(DType::u8, most, 7);
    device.upload(from, bytes.data(), most);
    for (const Cell &cell : allCells()) {
      if (nameOf(cell).find(only) == std::string::npos)
        continue;
      Program program = programOf(cell);
      Dims dims = {{"tokens", cell.tokens}, {"hidden", cell.hidden}};
      Tensors tensors(device, jit(program, device, {{"hidden", cell.hidden}}), program.signature(),
                      dims);
      for (const std::string &schedule : sweep ? schedulesFor(cell) : std::vector<std::string>{""})
        try {
          run(device, cell, program, schedule, rounds, tensors, from, to, results);
        } catch (const Error &error) {
          std::printf("%s %s: %s\n", cell.op.c_str(), schedule.c_str(), error.what());
        }
    }
    device.free(from);
    device.free(to);
    if (!json.empty())
      results.write(json);
  } catch (const Error &error) {
    std::fprintf(stderr, "bench-ops: %s\n", error.what());
    return error.kind() == ErrorKind::Machine ? 3 : 1;
  }
  return 0;
}
