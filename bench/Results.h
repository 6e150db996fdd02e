//===- bench/Results.h - The one schema of bench/results/ -------*- C++ -*-===//
//
// Part of Eider, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//
#ifndef EIDER_BENCH_RESULTS_H
#define EIDER_BENCH_RESULTS_H

#include "eider/runtime.h"
#include "tools/safetensors/WholeFile.h"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <ctime>
#include <filesystem>
#include <fstream>

namespace eider::bench {

/// The results of one run, as bench/README.md describes them.
class Results {
public:
  /// For the file `path`; empty: for none. Throws Error (Request) where nothing can be written
  /// there, or what is there is no file of results of this bench: before anything is measured.
  Results(const std::string &bench, const DeviceInfo &device, std::string path)
      : path(std::move(path)) {
    std::time_t now = std::time(nullptr);
    char date[32];
    std::strftime(date, sizeof date, "%Y-%m-%dT%H:%M:%SZ", std::gmtime(&now));
    const char *commit = std::getenv("EIDER_COMMIT");
    document = {{"schema", 1},
                {"bench", bench},
                {"date", date},
                {"commit", commit ? commit : "unknown"},
                {"machine",
                 {{"device", device.name},
                  {"target", device.target},
                  {"multiprocessors", device.multiprocessors},
                  {"memory_bytes", device.memory},
                  {"l2_bytes", device.l2},
                  {"memory_clock_khz", device.memoryClock},
                  {"memory_bus_bits", device.memoryBus},
                  {"driver", device.driver}}},
                {"cells", nlohmann::json::array()}};
    if (this->path.empty() || isStream(this->path))
      return;
    checkWritable(this->path);
    (void)earlierResults();
  }

  /// Takes the cells that another process wrote to the file: what is added to one of them joins it.
  /// Throws Error where there is no such file, or it is of another bench, machine or commit.
  void continueFile() {
    nlohmann::json earlier = earlierResults();
    if (earlier.is_null())
      throw Error(ErrorKind::Request, "is no file of results of this bench", path,
                  "measure without --again first");
    for (const char *key : {"machine", "commit"})
      if (earlier.value(key, nlohmann::json()) != document[key])
        throw Error(ErrorKind::Request, std::string("is of another ") + key, path,
                    "measure without --again");
    document["cells"] = std::move(earlier["cells"]);
    continued = document["cells"].size();
  }

  /// One cell: op, params, shape, metric, unit, value, and whatever it is compared with.
  void add(nlohmann::json cell) {
    for (size_t i = 0; i < continued; ++i)
      if (nlohmann::json &earlier = document["cells"][i]; isSame(earlier, cell))
        return join(earlier, cell);
    document["cells"].push_back(std::move(cell));
  }

  /// Throws Error when the file cannot be written.
  void write() const {
    if (path.empty())
      return;
    writeText(path, document.dump(1) + "\n");
    std::error_code none;
    if (!isStream(path))
      std::filesystem::remove(path + partial, none);
  }

  /// Writes what there is so far beside the file, with `.partial` after its name, at most once a
  /// second: who is ended loses little, and not what the file held. Throws Error as write() does.
  void keep() {
    using Clock = std::chrono::steady_clock;
    if (path.empty() || isStream(path) || Clock::now() - kept < std::chrono::seconds(1))
      return;
    writeText(path + partial, document.dump(1) + "\n");
    kept = Clock::now();
  }

private:
  /// What the file holds; null: it is not there, or empty. Throws Error (Request) for what is no
  /// file of results of this bench.
  nlohmann::json earlierResults() const {
    std::error_code none;
    if (const auto bytes = std::filesystem::file_size(path, none); none || bytes == 0)
      return nullptr;
    std::ifstream file(path);
    nlohmann::json earlier = nlohmann::json::parse(file, nullptr, /*allow_exceptions=*/false);
    const auto has = [&](const char *key) {
      return earlier.contains(key) && earlier[key] == document[key];
    };
    if (!earlier.is_object() || !has("schema") || !has("bench") || !earlier.contains("cells") ||
        !earlier["cells"].is_array())
      throw Error(ErrorKind::Request,
                  "is no file of results of this bench, and what is in it would be lost", path,
                  "choose another name");
    return earlier;
  }

  static bool isSame(const nlohmann::json &a, const nlohmann::json &b) {
    for (const char *key : {"op", "params", "shape", "metric"})
      if (a.at(key) != b.at(key))
        return false;
    return true;
  }

  /// Times become means over the processes, the interval what holds both.
  static void join(nlohmann::json &earlier, const nlohmann::json &cell) {
    const double starts = earlier.value("starts", 1.0);
    const auto mean = [&](const char *key) {
      if (earlier.contains(key) && cell.contains(key))
        earlier[key] =
            (earlier[key].get<double>() * starts + cell[key].get<double>()) / (starts + 1);
    };
    for (const char *key : {"value", "baseline_value", "copy_value"})
      mean(key);
    const auto over = [&](const char *ratio, const char *key) {
      if (earlier.contains(key))
        earlier[ratio] = earlier["value"].get<double>() / earlier[key].get<double>();
    };
    over("ratio", "baseline_value");
    over("copy_ratio", "copy_value");
    const auto chosen = [&](const char *key, auto choose) {
      if (earlier.contains(key) && cell.contains(key))
        earlier[key] = choose(earlier[key].get<double>(), cell[key].get<double>());
    };
    chosen("spread", [](double a, double b) { return std::max(a, b); });
    chosen("ratio_low", [](double a, double b) { return std::min(a, b); });
    chosen("ratio_high", [](double a, double b) { return std::max(a, b); });
    earlier["starts"] = starts + 1;
  }

  static constexpr const char *partial = ".partial";
  const std::string path;
  nlohmann::json document;
  size_t continued = 0;                       ///< Cells of the file that is continued.
  std::chrono::steady_clock::time_point kept; ///< When the file was last written.
};

} // namespace eider::bench

#endif // EIDER_BENCH_RESULTS_H
