//===- Large.cpp - Tensors of more than 2^31 elements ---------------------===//
//
// Part of Eider, under the Apache License v2.0.
//
// Every output passes 2^31 elements, and some tensor of each cell 2^32 bytes. Data that repeat
// themselves show an index that is cut anywhere; the reference says what is right at the begin, at
// the end, and where 31 and 32 bits end. Exit status 77, with the reason, without a GPU or enough
// memory.
//
//===----------------------------------------------------------------------===//
#include "tests/gpu/large/LargeCells.h"

#include "eider/jit.h"
#include "tests/matrix/BatchBackend.h"

#include <CLI/CLI.hpp>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <optional>

using namespace eider;
using namespace eider::large;

namespace {
constexpr int Skipped = 77; // ctest's convention

struct Options {
  std::string device = "cuda", only, spoil;
  LargeSize size{int64_t(1) << 31, INT64_MAX};
};

Kernel kernelOf(const LargeCell &cell, const Device &device) {
  JitOptions options;
  options.schedule = cell.schedule;
  return jit(cell.program, device, {{"hidden", cell.dimsOf(cell.units).at("hidden")}}, options);
}

void launch(const LargeCell &cell, const Device &device, const std::vector<TensorArg> &arguments) {
  const Call call = kernelOf(cell, device).prepare(cell.dimsOf(cell.units), arguments);
  const size_t bytes = call.workspace_bytes();
  void *workspace = bytes ? device.allocate(bytes) : nullptr;
  call.launch({}, arguments, {}, workspace);
  device.synchronize();
  if (workspace)
    device.free(workspace);
}

/// What is wrong; empty if nothing is.
std::string judge(const LargeCell &cell, const Device &device, const Options &options) try {
  const LargeTensors tensors(cell, device);
  launch(cell, device, tensors.arguments());
  if (!options.spoil.empty())
    tensors.spoil(options.spoil);
  return tensors.judge(options.size.elements);
} catch (const Error &error) {
  return error.what();
}

/// Compiling takes longer than the rest, and can be done side by side. What goes wrong here does so
/// again, in the cell's turn.
void compileAll(const std::vector<LargeCell> &cells, const Device &device) {
  matrix::inParallel(cells.size(), [&](size_t i) {
    try {
      kernelOf(cells[i], device).prepare(cells[i].dimsOf(cells[i].units));
    } catch (const Error &) {
    }
  });
}

bool fits(const LargeCell &cell, const Device &device) {
  if (cell.schedule.find("cluster") != std::string::npos && !device.info().clusters) {
    std::printf("skipped %s: %s has no clusters\n", cell.name.c_str(), device.info().id.c_str());
    return false;
  }
  const double needed = 1.05 * static_cast<double>(LargeTensors::bytesFor(cell));
  if (device.isHost() || needed < static_cast<double>(device.info().memory))
    return true;
  std::printf("skipped %s: it takes %.1f GB of memory, %s has %.1f\n", cell.name.c_str(),
              needed / 1e9, device.info().id.c_str(),
              static_cast<double>(device.info().memory) / 1e9);
  return false;
}

int runCells(const Device &device, const Options &options) {
  std::vector<LargeCell> cells = largeCells(options.size);
  std::erase_if(cells, [&](const LargeCell &cell) {
    return cell.name.find(options.only) == std::string::npos || !fits(cell, device);
  });
  if (cells.empty())
    return Skipped;
  compileAll(cells, device);
  size_t failed = 0;
  for (const LargeCell &cell : cells) {
    const auto start = std::chrono::steady_clock::now();
    const std::string wrong = judge(cell, device, options);
    const std::chrono::duration<double> time = std::chrono::steady_clock::now() - start;
    failed += !wrong.empty();
    std::printf("%s %s: %s%.1f s\n", wrong.empty() ? "agrees" : "FAILED", cell.name.c_str(),
                wrong.empty() ? "" : (wrong + ", ").c_str(), time.count());
  }
  std::printf("%zu cells, %zu cells failed\n", cells.size(), failed);
  return failed != 0;
}
} // namespace

int main(int argc, char **argv) {
  CLI::App app("Runs ops on tensors of more than 2^31 elements");
  Options options;
  app.add_option("--device", options.device, "host or cuda");
  app.add_option("--elements", options.size.elements, "What each y has more of (2^31)");
  app.add_option("--width", options.size.width, "The most columns where the rows are many");
  app.add_option("--only", options.only, "Only cells whose name has this in it");
  app.add_option("--spoil", options.spoil, "Damage an output before it is judged")
      ->check(CLI::IsMember({"unit", "gap", "outside"}));
  CLI11_PARSE(app, argc, argv);
  try {
    return runCells(Device::open(options.device), options);
  } catch (const Error &error) {
    std::fprintf(stderr, "%s\n", error.what());
    return error.kind() == ErrorKind::Machine ? Skipped : 3;
  }
}
