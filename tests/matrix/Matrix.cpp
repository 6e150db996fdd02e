//===- Matrix.cpp - Kernels against the reference, cell by cell -----------===//
//
// Part of Eider, under the Apache License v2.0.
//
// Every cell: a library op with its parameters, compiled to text, executed on a device on values of
// a kind in a layout, and each output compared with the reference. On the device `host` the emitted
// text runs in the simulator; on a GPU through NVRTC.
//
//===----------------------------------------------------------------------===//
#include "tests/matrix/BatchBackend.h"
#include "tests/matrix/Pairwise.h"
#include "tests/matrix/Report.h"
#include "tests/matrix/Shard.h"

#include <CLI/CLI.hpp>

#include <chrono>
#include <cstdio>

using namespace eider;
using namespace eider::matrix;

namespace {
/// ctest's convention for a test that cannot run here.
constexpr int Skipped = 77;

struct Options {
  bool pairwise = false, all = false, numerics = false, inTurn = false;
  std::string device = "host", json, shard = "1/1", cell, codec;
  uint64_t seed = 1;
  unsigned arrays = 1;
};

/// A cell and the seed of its values.
struct Job {
  Cell cell;
  uint64_t seed;
};

double secondsSince(std::chrono::steady_clock::time_point start) {
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

/// This shard's part of the cells.
std::vector<Job> jobsOf(const Options &options) {
  std::vector<Job> jobs;
  auto addAll = [&](const std::vector<Cell> &cells, uint64_t seed) {
    for (Cell cell : cells) {
      if (!options.codec.empty())
        cell[Axis::Codec] = options.codec == "software";
      if (!isValid(cell))
        continue;
      jobs.push_back({cell, seed + 1000 * jobs.size()});
    }
  };
  if (!options.cell.empty())
    addAll({cellNamed(options.cell)}, options.seed);
  if (options.all)
    addAll(wholeProduct(), options.seed);
  if (options.numerics)
    addAll(numericsProduct(), options.seed);
  for (unsigned i = 0; options.pairwise && i < options.arrays; ++i)
    addAll(pairwiseCells(options.seed + i), options.seed + i);
  return partOf(jobs, options.shard);
}

/// Launches a cell that was built, and judges its outputs.
void judge(const Harness &harness, size_t number, const Case &given, Outcome &outcome) {
  outcome.variant = harness.variantOf(number);
  outcome.comparisons = compare(given.program, given.inputs, harness.run(number));
  for (const Comparison &comparison : outcome.comparisons)
    if (comparison.wrong && outcome.failure.empty())
      outcome.failure = std::to_string(comparison.wrong) + " of " +
                        std::to_string(comparison.elements) + " wrong, first " +
                        comparison.firstWrong;
}

/// Runs some cells; a cell's Error is its failure, one of the machine is the caller's.
void runChunk(const Options &options, std::span<const Job> jobs, std::vector<Outcome> &outcomes,
              Totals &totals) {
  auto start = std::chrono::steady_clock::now();
  Harness harness(options.device, options.seed);
  std::vector<Outcome> chunk(jobs.size());
  std::vector<std::optional<Case>> cases(jobs.size());
  std::vector<size_t> numbers(jobs.size());
  auto guarded = [&](size_t i, auto action) {
    try {
      action();
    } catch (const Error &error) {
      if (error.kind() == ErrorKind::Machine)
        throw;
      chunk[i].failure = error.what();
    }
  };
  for (size_t i = 0; i < jobs.size(); ++i) {
    chunk[i].cell = jobs[i].cell;
    chunk[i].seed = jobs[i].seed;
    guarded(i, [&] {
      cases[i] = makeCase(jobs[i].cell, jobs[i].seed);
      numbers[i] = harness.add(*cases[i]);
    });
  }
  harness.build();
  totals.texts += harness.texts();
  totals.compileSeconds += secondsSince(start);
  start = std::chrono::steady_clock::now();
  auto runOne = [&](size_t i) {
    if (chunk[i].passed())
      guarded(i, [&] { judge(harness, numbers[i], *cases[i], chunk[i]); });
  };
  if (options.inTurn)
    for (size_t i = 0; i < jobs.size(); ++i)
      runOne(i);
  else
    inParallel(jobs.size(), runOne);
  totals.runSeconds += secondsSince(start);
  std::move(chunk.begin(), chunk.end(), std::back_inserter(outcomes));
}

int run(const Options &options) {
  constexpr size_t cellsPerChunk = 240;
  std::vector<Job> jobs = jobsOf(options);
  std::vector<Outcome> outcomes;
  Totals totals;
  for (size_t i = 0; i < jobs.size(); i += cellsPerChunk) {
    std::span<const Job> rest = std::span(jobs).subspan(i);
    runChunk(options, rest.first(std::min(rest.size(), cellsPerChunk)), outcomes, totals);
    if (options.all || options.numerics)
      std::fprintf(stderr, "%zu of %zu cells\n", outcomes.size(), jobs.size());
  }
  print(outcomes, totals);
  if (!options.json.empty())
    writeJson(options.json, Harness(options.device).target(), outcomes, totals);
  for (const Outcome &outcome : outcomes)
    if (!outcome.passed())
      return 1;
  return 0;
}
} // namespace

int main(int argc, char **argv) {
  CLI::App app("Runs library ops, cell by cell, against the reference");
  Options options;
  app.add_flag("--pairwise", options.pairwise, "Few cells that hold every pair of values");
  app.add_flag("--all", options.all, "The product of types, blocks and shapes");
  app.add_flag("--numerics", options.numerics, "That of formats, blocks, layouts and numerics");
  app.add_flag("--in-turn", options.inTurn, "One cell after the other");
  app.add_option("--arrays", options.arrays, "How many different pairwise arrays");
  app.add_option("--device", options.device, "host or cuda");
  app.add_option("--shard", options.shard, "I/N: the I-th of N parts");
  app.add_option("--cell", options.cell,
                 "One cell, by the name that a run printed, with its --seed");
  app.add_option("--codec", options.codec,
                 "The codec of every cell: targets before sm_89 have only software")
      ->check(CLI::IsMember(infoOf(Axis::Codec).values));
  app.add_option("--seed", options.seed, "Of cells, values and the order of threads");
  app.add_option("--json", options.json, "A file for the outcome of every cell");
  CLI11_PARSE(app, argc, argv);
  try {
    return run(options);
  } catch (const Error &error) {
    std::fprintf(stderr, "%s\n", error.what());
    return error.kind() == ErrorKind::Machine && options.device != "host" ? Skipped : 3;
  }
}
