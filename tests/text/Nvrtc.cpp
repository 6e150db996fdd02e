//===- Nvrtc.cpp - NVRTC compiles every emitted text ----------------------===//
//
// Part of Eider, under the Apache License v2.0.
//
// For one target of each feature class; the pairwise cells are dealt out to them in turn. Texts
// that differ in their headers alone count once; many share a program, since NVRTC reads the device
// library anew for each.
//
//===----------------------------------------------------------------------===//
#include "tests/matrix/Pairwise.h"
#include "tests/matrix/Shard.h"
#include "tests/text/Product.h"

#include <CLI/CLI.hpp>

#include <atomic>
#include <chrono>
#include <cstdio>
#include <ctime>
#include <mutex>
#include <regex>
#include <set>
#include <thread>

using namespace eider;
using namespace eider::text;

namespace {
/// ctest's convention for a test that cannot run here.
constexpr int Skipped = 77;
constexpr size_t textsPerProgram = 16;

struct Options {
  bool pairwise = false, all = false;
  uint64_t seed = 1;
  std::string shard = "1/1";
  unsigned threads = std::max(1u, std::thread::hardware_concurrency());
  std::vector<std::string> targets = {"sm_75", "sm_80", "sm_89", "sm_90a", "sm_100a", "sm_120a"};
};

/// A text and the first cell that it is of.
struct Named {
  std::string cell, text;
};

/// Some texts for a target, to be compiled together.
struct Job {
  std::string target;
  std::vector<Named> texts;
};

struct Totals {
  std::atomic<size_t> kernels = 0;
  std::mutex mutex;
  std::vector<std::string> failures;

  void fail(const std::string &line) {
    std::lock_guard lock(mutex);
    failures.push_back(line);
  }
};

/// The text with every kernel's name followed by `_number`.
std::string renamed(const std::string &text, size_t number) {
  static const std::regex definition("(\\bvoid [A-Za-z0-9_]+)\\(");
  return std::regex_replace(text, definition, "$1_" + std::to_string(number) + "(");
}

std::string program(const std::vector<Named> &texts) {
  std::string source;
  for (size_t i = 0; i < texts.size(); ++i)
    source += renamed(texts[i].text, i) + "\n";
  return source;
}

/// Compiles; gives the number of kernels. Throws Error.
size_t compile(const std::vector<Named> &texts, const std::string &target) {
  CacheOptions noCache;
  noCache.enabled = false;
  return assemble(program(texts), target, ImageKind::Cubin, noCache).entries.size();
}

/// Compiles a job; where that fails, each of its texts alone, to name those that do not compile.
void carryOut(const Job &job, Totals &totals) {
  std::string together;
  try {
    totals.kernels += compile(job.texts, job.target);
    return;
  } catch (const Error &error) {
    if (error.kind() == ErrorKind::Machine)
      throw;
    together = error.what();
  }
  bool found = false;
  for (const Named &text : job.texts)
    try {
      totals.kernels += compile({text}, job.target);
    } catch (const Error &error) {
      found = true;
      totals.fail(job.target + ": " + text.cell + "\n  " + error.what());
    }
  if (!found)
    totals.fail(job.target + ": texts that compile alone do not compile together, from " +
                job.texts[0].cell + "\n  " + together);
}

/// The distinct texts of `cells` for each target, in programs. A text that cannot be emitted fails.
std::vector<Job> jobsOf(const Options &options, const std::vector<matrix::Cell> &cells,
                        Totals &totals) {
  std::vector<Job> jobs;
  for (size_t t = 0; t < options.targets.size(); ++t) {
    const std::string &target = options.targets[t];
    std::set<std::string> seen;
    Job job{target, {}};
    for (size_t c = 0; c < cells.size(); ++c) {
      if (options.pairwise && c % options.targets.size() != t)
        continue;
      const matrix::Cell &cell = cells[c];
      try {
        std::string text = withoutHeaders(textOf(cell, target));
        if (!seen.insert(text).second)
          continue;
        job.texts.push_back({cell.name(), text});
        if (job.texts.size() == textsPerProgram) {
          jobs.push_back(std::move(job));
          job = {target, {}};
        }
      } catch (const Error &error) {
        totals.fail(target + ": " + cell.name() + "\n  " + error.what());
      }
    }
    if (!job.texts.empty())
      jobs.push_back(std::move(job));
  }
  return jobs;
}

/// Carries out all jobs on some threads; an Error of the machine ends it.
void carryOutAll(const std::vector<Job> &jobs, unsigned threads, Totals &totals) {
  std::atomic<size_t> next = 0;
  std::exception_ptr machine;
  auto work = [&] {
    try {
      for (size_t i = next++; i < jobs.size(); i = next++)
        carryOut(jobs[i], totals);
    } catch (const Error &) {
      std::lock_guard lock(totals.mutex);
      machine = std::current_exception();
      next = jobs.size();
    }
  };
  std::vector<std::jthread> workers;
  for (unsigned i = 0; i < threads; ++i)
    workers.emplace_back(work);
  workers.clear();
  if (machine)
    std::rethrow_exception(machine);
}

/// Without those that differ in no text: all cells of the ops that stand for the others, of each
/// other one cell.
std::vector<matrix::Cell> quickCells(uint64_t seed) {
  std::set<int> ops;
  std::vector<matrix::Cell> cells = withoutRepeats(matrix::pairwiseCells(seed));
  std::erase_if(cells, [&](const matrix::Cell &cell) {
    const bool isFirst = ops.insert(cell[matrix::Axis::Op]).second;
    return !isFirst && !matrix::isRepresentative(cell);
  });
  return cells;
}

int run(const Options &options) {
  auto start = std::chrono::steady_clock::now();
  std::clock_t processor = std::clock();
  auto cells =
      matrix::partOf(options.all ? productOfTexts() : quickCells(options.seed), options.shard);
  Totals totals;
  std::vector<Job> jobs = jobsOf(options, cells, totals);
  size_t texts = 0;
  for (const Job &job : jobs)
    texts += job.texts.size();
  carryOutAll(jobs, options.threads, totals);
  std::chrono::duration<double> wall = std::chrono::steady_clock::now() - start;
  std::printf(
      "%zu cells, %zu texts, %zu kernels for %zu targets; %.0f s, %.0f s of processor time\n",
      cells.size(), texts, totals.kernels.load(), options.targets.size(), wall.count(),
      static_cast<double>(std::clock() - processor) / CLOCKS_PER_SEC);
  for (const std::string &failure : totals.failures)
    std::printf("FAILED %s\n", failure.c_str());
  return totals.failures.empty() && totals.kernels > 0 ? 0 : 1;
}
} // namespace

int main(int argc, char **argv) {
  CLI::App app("Compiles emitted texts by NVRTC");
  Options options;
  auto *which = app.add_option_group("which");
  which->add_flag("--pairwise", options.pairwise, "Few cells that hold every pair of values");
  which->add_flag("--all", options.all, "The whole product");
  which->require_option(1);
  app.add_option("--seed", options.seed, "Of the pairwise cells");
  app.add_option("--shard", options.shard, "I/N: the I-th of N parts");
  app.add_option("--threads", options.threads, "That compile side by side");
  app.add_option("--targets", options.targets, "One for each feature class")->delimiter(',');
  CLI11_PARSE(app, argc, argv);
  try {
    return run(options);
  } catch (const Error &error) {
    std::fprintf(stderr, "%s\n", error.what());
    return error.kind() == ErrorKind::Machine ? Skipped : 3;
  }
}
