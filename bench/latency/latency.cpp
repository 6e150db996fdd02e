//===- bench/latency/latency.cpp - From the DSL to a launch ---------------===//
//
// Part of Eider, under the Apache License v2.0.
//
// Each start is a process of its own, since a process compiles and loads a kernel once: the program
// runs itself with --child and reads the split from a line of its output. Cold: an empty cache.
// Warm: the cache that a cold start left.
//
//===----------------------------------------------------------------------===//
#include "bench/Results.h"
#include "bench/latency/Measure.h"

#include <CLI/CLI.hpp>

#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <memory>
#include <unistd.h>

using namespace eider;
using namespace eider::bench;

namespace {

struct Options {
  std::string device = "cuda:0", json, cache;
  bool child = false;
  int starts = 15;
  Subject subject{"quantize", 8192};
};

nlohmann::json toJson(const Split &split) {
  return {{"program", split.program},     {"compile", split.compile}, {"open", split.open},
          {"nvrtc", split.nvrtc},         {"load", split.load},       {"total", split.total},
          {"from_cache", split.fromCache}};
}

/// One start in a process of its own.
nlohmann::json start(const Options &options, const Subject &subject, const std::string &cache) {
  const std::string command = std::filesystem::read_symlink("/proc/self/exe").string() +
                              " --child --device " + options.device + " --op " + subject.op +
                              " --hidden " + std::to_string(subject.hidden) + " --cache " + cache;
  std::unique_ptr<FILE, int (*)(FILE *)> pipe(::popen(command.c_str(), "r"), ::pclose);
  std::string output;
  char buffer[4096];
  while (pipe && std::fgets(buffer, sizeof(buffer), pipe.get()))
    output += buffer;
  nlohmann::json split = nlohmann::json::parse(output, nullptr, false);
  if (split.is_discarded())
    throw Error(ErrorKind::Machine, "a start failed: " + command);
  return split;
}

double median(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  return values[values.size() / 2];
}

struct Report {
  Results &results;
  const Subject &subject;

  void add(const std::string &metric, const std::string &unit, double value,
           const nlohmann::json &more = nlohmann::json::object()) const {
    std::printf("%-20s %-22s %9.3f %s\n", subject.op.c_str(), metric.c_str(), value, unit.c_str());
    std::fflush(stdout);
    nlohmann::json cell = {{"op", subject.op},
                           {"params", {{"dtype", "bf16"}, {"format", "e4m3"}, {"block", "1x128"}}},
                           {"shape", {{"hidden", subject.hidden}}},
                           {"metric", metric},
                           {"unit", unit},
                           {"value", value}};
    cell.update(more);
    results.add(std::move(cell));
  }
};

/// Medians of every part over the starts.
void addStarts(const Report &report, const std::string &kind,
               const std::vector<nlohmann::json> &splits) {
  for (const char *part : {"program", "compile", "open", "nvrtc", "load", "total"}) {
    std::vector<double> values;
    for (const nlohmann::json &split : splits)
      values.push_back(split.at(part));
    report.add(kind + "_" + part, "ms", median(values), {{"starts", values.size()}});
  }
  // What is ours: all but NVRTC, its opening and the driver.
  std::vector<double> own;
  for (const nlohmann::json &split : splits)
    own.push_back(split.at("total").get<double>() - split.at("nvrtc").get<double>() -
                  split.at("open").get<double>() - split.at("load").get<double>());
  report.add(kind + "_own", "ms", median(own),
             {{"starts", own.size()}, {"target", kind == "cold" ? 8.0 : 3.0}});
}

void measureStarts(const Options &options, const Report &report) {
  std::vector<nlohmann::json> cold, warm;
  for (int i = 0; i < options.starts; ++i) {
    const std::string cache = options.cache + "/" + report.subject.op + std::to_string(i);
    cold.push_back(start(options, report.subject, cache));
    warm.push_back(start(options, report.subject, cache));
    if (cold.back().at("from_cache") || !warm.back().at("from_cache"))
      throw Error(ErrorKind::Internal, "a cold start found a cache, or a warm one none");
  }
  addStarts(report, "cold", cold);
  addStarts(report, "warm", warm);
}

void measureLaunches(const Options &options, const Report &report) {
  const LaunchCost cost = measureLaunch(report.subject, options.device, options.cache + "/launch");
  report.add(
      "launch_prepared", "us", cost.prepared,
      {{"baseline", "cuLaunchKernel"}, {"baseline_value", cost.raw}, {"target_difference", 0.5}});
  report.add("launch_raw", "us", cost.raw);
  report.add("launch_by_name", "us", cost.byName);
}

void run(Options options) {
  const bool gpu = options.device != "none";
  Results results("latency",
                  gpu ? Device::open(options.device).info() : Device::open("host").info(),
                  options.json);
  std::string directory =
      (std::filesystem::temp_directory_path() / "eider-latency-XXXXXX").string();
  if (!::mkdtemp(directory.data()))
    throw Error(ErrorKind::Machine, "no temporary directory", directory);
  options.cache = directory;
  for (const Subject &subject : {Subject{"quantize", 8192}, Subject{"add_rms_norm_quant", 7168}}) {
    const Report report{results, subject};
    measureStarts(options, report);
    if (gpu)
      measureLaunches(options, report);
  }
  std::filesystem::remove_all(directory);
  results.write();
}

} // namespace

int main(int argc, char **argv) {
  CLI::App app{"From the DSL to a launch: cold, warm from disk, prepared"};
  Options options;
  app.add_option("--device", options.device, "cuda:N, or none: only as far as the cubin");
  app.add_option("--json", options.json, "write the results there");
  app.add_option("--starts", options.starts, "processes a kind of start")
      ->check(CLI::PositiveNumber);
  app.add_flag("--child", options.child)->group("");
  app.add_option("--op", options.subject.op)->group("");
  app.add_option("--hidden", options.subject.hidden)->group("");
  app.add_option("--cache", options.cache)->group("");
  CLI11_PARSE(app, argc, argv);
  try {
    if (!options.child)
      run(options);
    else
      std::printf(
          "%s\n",
          toJson(measureSplit(options.subject, options.device, options.cache)).dump().c_str());
  } catch (const Error &error) {
    std::fprintf(stderr, "bench-latency: %s\n", error.what());
    return error.kind() == ErrorKind::Machine ? 3 : 1;
  }
  return 0;
}
