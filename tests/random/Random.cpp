//===- Random.cpp - Random programs against the reference -----------------===//
//
// Part of Eider, under the Apache License v2.0.
//
// Programs that nobody wrote: each seed is a sketch, recorded with the public DSL, compiled, run on
// a device and held against the reference. What fails is shrunk before it is shown. A program may
// be refused, with a reason; too many refusals fail the run.
//
//===----------------------------------------------------------------------===//
#include "tests/matrix/Shard.h"
#include "tests/random/Generate.h"
#include "tests/random/Run.h"
#include "tests/random/Shrink.h"

#include <CLI/CLI.hpp>

#include <chrono>
#include <cstdio>
#include <map>
#include <numeric>

using namespace eider;
using namespace eider::sketch;
using Kind = Outcome::Kind;

namespace {
/// ctest's convention for a test that cannot run here.
constexpr int Skipped = 77;

struct Options {
  uint64_t seed = 1, programs = 150;
  std::string device = "host", shard = "1/1";
  double mostRefused = 0.15;
  unsigned shrinkTries = 400;
  bool verbose = false;
};

/// Why programs were refused: how many, and the first.
struct Reason {
  size_t count = 0;
  uint64_t seed = 0;
};

struct Totals {
  size_t programs = 0, failed = 0, refused = 0;
  int64_t elements = 0, different = 0;
  std::map<std::string, Reason> reasons;
};

/// A refusal without what differs from program to program.
std::string withoutNumbers(const std::string &message) {
  std::string reason;
  for (char c : message)
    if (c < '0' || c > '9')
      reason += c;
    else if (reason.empty() || reason.back() != '#')
      reason += '#';
  return reason;
}

/// What stays of a failure while its program shrinks.
std::string symptomOf(const std::string &message) {
  const std::string wrong = " wrong, first ";
  return message.find(wrong) != message.npos ? wrong : withoutNumbers(message).substr(0, 60);
}

/// The sketch as small as it still fails in that way, and how to see it again.
void showFailure(const Options &options, const Runner &runner, const Sketch &sketch,
                 const Outcome &outcome) {
  std::printf("FAILED seed %llu: %s\n", static_cast<unsigned long long>(sketch.seed),
              outcome.message.c_str());
  std::string message = outcome.message;
  auto fails = [&](const Sketch &candidate) {
    const Outcome again = runner.run(std::span(&candidate, 1)).front();
    if (again.kind != Kind::Failed || symptomOf(again.message) != symptomOf(outcome.message))
      return false;
    message = again.message;
    return true;
  };
  const Sketch small = shrunk(sketch, fails, options.shrinkTries);
  std::printf("shrunk, %s\n%s", message.c_str(), describe(small).c_str());
  try {
    std::printf("%s", record(small).text().c_str());
  } catch (const Error &error) {
    std::printf("  (not recorded: %s)\n", error.what());
  }
  std::printf("again: random-test --seed %llu --programs 1 --device %s\n",
              static_cast<unsigned long long>(sketch.seed), options.device.c_str());
  std::fflush(stdout);
}

void count(const Options &options, const Runner &runner, const Sketch &sketch,
           const Outcome &outcome, Totals &totals) {
  constexpr size_t mostShown = 5;
  ++totals.programs;
  totals.elements += outcome.elements;
  totals.different += outcome.different;
  if (outcome.kind == Kind::Refused) {
    ++totals.refused;
    Reason &reason = totals.reasons[withoutNumbers(outcome.message)];
    reason.seed = reason.count++ ? reason.seed : sketch.seed;
  }
  if (outcome.kind != Kind::Failed)
    return;
  if (++totals.failed <= mostShown)
    showFailure(options, runner, sketch, outcome);
  else
    std::printf("FAILED seed %llu: %s\n", static_cast<unsigned long long>(sketch.seed),
                outcome.message.c_str());
}

int report(const Options &options, const Totals &totals) {
  for (const auto &[text, reason] : totals.reasons)
    std::printf("refused %zu, first seed %llu: %s\n", reason.count,
                static_cast<unsigned long long>(reason.seed), text.c_str());
  const size_t judged = totals.programs - totals.refused;
  std::printf("%zu checks, %zu failed; %zu of %zu programs refused; %lld elements, %lld of them "
              "other bits within their bounds or wrong\n",
              judged, totals.failed, totals.refused, totals.programs,
              static_cast<long long>(totals.elements), static_cast<long long>(totals.different));
  const double mostRefused = options.mostRefused * static_cast<double>(totals.programs);
  if (static_cast<double>(totals.refused) > mostRefused) {
    std::printf("not ok more than %g of the programs were refused\n", options.mostRefused);
    return 1;
  }
  return totals.failed > 0;
}

void show(const std::vector<Sketch> &sketches) {
  for (const Sketch &sketch : sketches)
    std::printf("seed %llu\n%s", static_cast<unsigned long long>(sketch.seed),
                describe(sketch).c_str());
  std::fflush(stdout);
}

int run(const Options &options) {
  constexpr size_t programsPerChunk = 200;
  std::vector<uint64_t> seeds(options.programs);
  std::iota(seeds.begin(), seeds.end(), options.seed);
  seeds = matrix::partOf(seeds, options.shard);
  const Runner runner{.device = options.device, .seed = options.seed};
  Totals totals;
  for (size_t i = 0; i < seeds.size(); i += programsPerChunk) {
    std::vector<Sketch> chunk;
    for (size_t j = i; j < std::min(seeds.size(), i + programsPerChunk); ++j)
      chunk.push_back(generate(seeds[j]));
    if (options.verbose)
      show(chunk); // before one of them may end the process
    const std::vector<Outcome> outcomes = runner.run(chunk);
    for (size_t j = 0; j < chunk.size(); ++j)
      count(options, runner, chunk[j], outcomes[j], totals);
  }
  return report(options, totals);
}
} // namespace

int main(int argc, char **argv) {
  CLI::App app("Runs random programs against the reference");
  Options options;
  app.add_option("--seed", options.seed, "Of the first program; the next has the next");
  app.add_option("--programs", options.programs, "How many");
  app.add_option("--device", options.device, "host or cuda");
  app.add_option("--shard", options.shard, "I/N: the I-th of N parts");
  app.add_option("--most-refused", options.mostRefused, "The share that may be refused");
  app.add_option("--shrink", options.shrinkTries, "How many simpler programs to try");
  app.add_flag("--verbose", options.verbose, "Every program, before it runs");
  CLI11_PARSE(app, argc, argv);
  try {
    return run(options);
  } catch (const Error &error) {
    std::fprintf(stderr, "%s\n", error.what());
    return error.kind() == ErrorKind::Machine && options.device != "host" ? Skipped : 3;
  }
}
