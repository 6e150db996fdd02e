//===- bench/Results.h - The one schema of bench/results/ -------*- C++ -*-===//
//
// Part of Eider, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//
#ifndef EIDER_BENCH_RESULTS_H
#define EIDER_BENCH_RESULTS_H

#include "eider/runtime.h"

#include <nlohmann/json.hpp>

#include <cstdlib>
#include <ctime>
#include <fstream>

namespace eider::bench {

/// The results of one run, as bench/README.md describes them.
class Results {
public:
  Results(const std::string &bench, const DeviceInfo &device) {
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
  }

  /// One cell: op, params, shape, metric, unit, value, and whatever it is compared with.
  void add(nlohmann::json cell) { document["cells"].push_back(std::move(cell)); }

  /// Throws Error when the file cannot be written.
  void write(const std::string &path) const {
    std::ofstream file(path);
    file << document.dump(1) << "\n";
    if (!file.flush())
      throw Error(ErrorKind::Machine, "cannot be written", path, "check the directory");
  }

private:
  nlohmann::json document;
};

} // namespace eider::bench

#endif // EIDER_BENCH_RESULTS_H
