//===- tools/eider/Tune.cpp - eider tune ----------------------------------===//
//
// Part of Eider, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//
#include "eider/tune.h"
#include "autotuner/store/Store.h"

#include "bench/Results.h"
#include "bench/measure/Meter.h"
#include "tools/eider/Progress.h"
#include "tools/eider/ResultParams.h"
#include "tools/eider/Text.h"
#include "tools/eider/TuneCells.h"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <mutex>
#include <set>
#include <thread>

namespace eider::cli {

namespace {

using Clock = std::chrono::steady_clock;

double secondsSince(Clock::time_point start) {
  return std::chrono::duration<double>(Clock::now() - start).count();
}

template <class... Arguments> std::string format(const char *text, Arguments... arguments) {
  char buffer[500];
  std::snprintf(buffer, sizeof(buffer), text, arguments...);
  return buffer;
}

/// `host`, `cuda:1,cuda:3`, `all` GPUs.
std::vector<DeviceInfo> devicesNamed(const std::string &names) {
  std::vector<DeviceInfo> known = Device::enumerate(), chosen;
  for (const DeviceInfo &device : known)
    if (names == "all" && device.id != "host")
      chosen.push_back(device);
  if (names == "all" && chosen.empty())
    throw Error(ErrorKind::Machine, Device::whyNoGpu(), "--device all");
  if (names == "all")
    return chosen;
  std::string list = names + ",";
  for (size_t begin = 0, end; (end = list.find(',', begin)) != std::string::npos; begin = end + 1) {
    std::string id = list.substr(begin, end - begin);
    id = id == "cuda" ? "cuda:0" : id;
    auto found = std::ranges::find(known, id, &DeviceInfo::id);
    if (found == known.end())
      found = known.insert(known.end(), Device::open(id).info()); // says what is wrong with it
    chosen.push_back(*found);
  }
  return chosen;
}

/// Cells on devices in parallel: each device takes the next one that is left.
class Sweep {
public:
  Sweep(const TuneRequest &request, std::vector<TuneCell> cells, std::vector<DeviceInfo> devices)
      : request(request), cells(std::move(cells)), devices(std::move(devices)),
        progress(this->cells.size()), results("tune", this->devices.front(), request.json) {}

  int run();

private:
  void work(const DeviceInfo &device);
  void doOne(Tuner &tuner, const DeviceInfo &device, const TuneCell &cell);
  TuneOptions optionsOf(const TuneCell &cell) const;
  void tuneOne(Tuner &tuner, const DeviceInfo &device, const TuneCell &cell);
  void verifyOne(Tuner &tuner, const TuneCell &cell);
  void show(const DeviceInfo &device, const TuneCell &cell, const TuneResult &result);
  void add(const TuneCell &cell, const TuneResult &result);
  void addCandidates(const TuneCell &cell, const TuneResult &result);
  void summarize() const;
  void summarizeVerification() const;
  bool showsCandidates() const { return request.verbose || !request.schedules.empty(); }
  bool timeIsOver() const { return request.budget > 0 && secondsSince(start) >= request.budget; }

  const TuneRequest &request;
  const std::vector<TuneCell> cells;
  const std::vector<DeviceInfo> devices;
  const Clock::time_point start = Clock::now();
  std::atomic<size_t> next = 0;
  std::mutex mutex; ///< For all below.
  Progress progress;
  bench::Results results;
  std::exception_ptr problem; ///< Of a device.
  size_t tuned = 0, known = 0, refused = 0, failed = 0, unrecorded = 0;
  std::set<std::string> measured;               ///< schedules, by any cell
  size_t verified = 0, slower = 0, unknown = 0; ///< of a verification; `known`: the heuristic's
  std::vector<double> ratios;                   ///< tuned / heuristic
  double slowest = 0;                           ///< seconds
};

void Sweep::show(const DeviceInfo &device, const TuneCell &cell, const TuneResult &result) {
  std::string line = padded(cell.name, 64) + " ";
  if (result.fromRecord)
    line += format("%9.2f us  known", result.microseconds);
  else if (!result.refused.empty())
    line += "refused: " + result.refused;
  else
    line += format("%9.2f us  heuristic %9.2f  %.3f  memcpy %9.2f  %s  %.1f s", result.microseconds,
                   result.heuristicTime, result.microseconds / result.heuristicTime,
                   result.memcpyTime, device.id.c_str(), result.seconds);
  progress.clear();
  print(line + "  " + result.schedule + "\n");
  for (const TunedSchedule &candidate :
       showsCandidates() ? result.candidates : std::vector<TunedSchedule>())
    print("  " + padded(candidate.schedule, 66) +
          (candidate.rejected.empty() ? format("%9.2f us%s", candidate.microseconds,
                                               candidate.finalist ? "  finalist" : "")
                                      : candidate.rejected) +
          "\n");
}

/// A time as bench/README.md describes it; `beside`: the baseline's, if it was measured.
nlohmann::json timeOf(const TuneCell &cell, const char *metric, const std::string &schedule,
                      double value, const char *baseline, double beside) {
  nlohmann::json one = {{"op", cell.program.name()},
                        {"params", paramsOf(cell.request, schedule)},
                        {"shape", cell.request.dims},
                        {"metric", metric},
                        {"unit", "us"},
                        {"value", value}};
  if (beside > 0)
    one.update({{"baseline", baseline}, {"baseline_value", beside}, {"ratio", value / beside}});
  return one;
}

void Sweep::add(const TuneCell &cell, const TuneResult &result) {
  const nlohmann::json facts = {{"spread", result.spread}, {"bytes", result.bytes}};
  const auto figure = [&](const char *metric, const std::string &schedule, double value,
                          const char *baseline, double beside) {
    nlohmann::json one = timeOf(cell, metric, schedule, value, baseline, beside);
    one.update(facts);
    return one;
  };
  nlohmann::json tuned =
      figure("tuned_time", result.schedule, result.microseconds, "memcpy", result.memcpyTime);
  if (!result.fromRecord) // whose memcpy may be of before it copied whole pieces
    tuned["copied"] = bench::bytesToCopy(static_cast<size_t>(result.bytes));
  results.add(std::move(tuned));
  if (result.fromRecord)
    return;
  results.add(figure("heuristic_time", result.heuristic, result.heuristicTime, "tuned",
                     result.microseconds));
  nlohmann::json tuning = timeOf(cell, "tuning", "", result.seconds, "", 0);
  tuning["params"].erase("schedule");
  tuning.update({{"unit", "s"}, {"target", 5}});
  results.add(std::move(tuning));
  if (showsCandidates())
    addCandidates(cell, result);
  results.keep();
}

/// Every schedule that was measured. What fell out after the first rounds has no memcpy beside it.
void Sweep::addCandidates(const TuneCell &cell, const TuneResult &result) {
  for (const TunedSchedule &candidate : result.candidates) {
    if (candidate.microseconds <= 0 || !candidate.rejected.empty())
      continue;
    nlohmann::json one = timeOf(cell, "time", candidate.schedule, candidate.microseconds, "memcpy",
                                candidate.finalist ? result.memcpyTime : 0);
    one["bytes"] = result.bytes;
    if (candidate.finalist)
      one["spread"] = candidate.spread;
    results.add(std::move(one));
  }
}

TuneOptions Sweep::optionsOf(const TuneCell &cell) const {
  TuneOptions options;
  options.codec = cell.request.codec;
  options.again = request.again;
  options.candidates = request.candidates;
  options.schedules = request.schedules;
  constexpr double unhurried = 1e6; // all of those that are asked for are wanted
  if (!request.schedules.empty())
    options.seconds = unhurried;
  if (request.budget > 0)
    options.seconds = std::min(options.seconds, request.budget - secondsSince(start));
  return options;
}

void Sweep::verifyOne(Tuner &tuner, const TuneCell &cell) {
  const TuneOptions options = optionsOf(cell);
  std::string line = padded(cell.name, 64) + " ";
  if (!tuner.isRecorded(cell.program, cell.request.dims, options)) {
    std::lock_guard lock(mutex);
    ++unknown;
    progress.clear();
    print(line + "has no record\n");
    return;
  }
  const TuneVerification found = tuner.verify(cell.program, cell.request.dims, options);
  std::lock_guard lock(mutex);
  if (found.schedule == found.heuristic) {
    ++known;
    line += "is the heuristic's";
  } else if (!found.refused.empty()) {
    ++refused;
    line += "refused: " + found.refused;
  } else {
    ++verified;
    slower += found.slower;
    ratios.push_back(found.microseconds / found.heuristicTime);
    line += format("%9.2f us  heuristic %9.2f  %.3f  %s", found.microseconds, found.heuristicTime,
                   ratios.back(), found.slower ? "SLOWER" : "ok");
    nlohmann::json one = timeOf(cell, "verified_time", found.schedule, found.microseconds,
                                "heuristic", found.heuristicTime);
    one.update({{"spread", found.spread}, {"bytes", found.bytes}, {"slower", found.slower}});
    results.add(std::move(one));
  }
  progress.clear();
  print(line + "  " + found.schedule + "\n");
}

void Sweep::tuneOne(Tuner &tuner, const DeviceInfo &device, const TuneCell &cell) {
  const TuneResult result = tuner.tune(cell.program, cell.request.dims, optionsOf(cell));
  std::lock_guard lock(mutex);
  show(device, cell, result);
  slowest = std::max(slowest, result.seconds);
  if (!result.refused.empty()) {
    ++refused;
    return;
  }
  ++(result.fromRecord ? known : tuned);
  unrecorded += !result.recorded;
  for (const TunedSchedule &candidate : result.candidates)
    if (candidate.microseconds > 0 || candidate.rejected.starts_with("the same machine code"))
      measured.insert(candidate.schedule);
  if (!result.fromRecord)
    ratios.push_back(result.microseconds / result.heuristicTime);
  add(cell, result);
}

/// One cell whose error is its own, unless the machine lacks something.
void Sweep::doOne(Tuner &tuner, const DeviceInfo &device, const TuneCell &cell) {
  try {
    if (request.verify)
      verifyOne(tuner, cell);
    else
      tuneOne(tuner, device, cell);
  } catch (const Error &error) {
    if (error.kind() == ErrorKind::Machine)
      throw;
    std::lock_guard lock(mutex);
    ++failed;
    progress.clear();
    std::fprintf(stderr, "eider: %s: %s\n", cell.name.c_str(), error.what());
  }
}

void Sweep::work(const DeviceInfo &device) {
  try {
    Tuner tuner(device);
    for (size_t i; !timeIsOver() && (i = next++) < cells.size();) {
      doOne(tuner, device, cells[i]);
      std::lock_guard lock(mutex);
      progress.advance(cells[i].name);
    }
  } catch (...) {
    std::lock_guard lock(mutex);
    problem = std::current_exception();
  }
}

void Sweep::summarize() const {
  const size_t done = tuned + known + refused + failed;
  std::string line =
      format("%zu of %zu cells on %zu device%s in %.1f s: %zu tuned, %zu known, %zu refused, "
             "%zu failed; the slowest took %.1f s\n",
             done, cells.size(), devices.size(), devices.size() == 1 ? "" : "s",
             secondsSince(start), tuned, known, refused, failed, slowest);
  if (!ratios.empty()) {
    const auto within = std::ranges::count_if(ratios, [](double ratio) { return ratio >= 0.95; });
    const auto better = std::ranges::count_if(ratios, [](double ratio) { return ratio < 1; });
    line += format("faster than the heuristic in %td; the heuristic is within 5 %% of the best in "
                   "%td of %zu; at best %.1f %% were gained\n",
                   better, within, ratios.size(), 100 * (1 - *std::ranges::min_element(ratios)));
  }
  print(line);
}

void Sweep::summarizeVerification() const {
  std::string line = format("%zu of %zu cells in %.1f s: %zu verified, %zu slower than the "
                            "heuristic's, %zu the heuristic's own, %zu without a record, %zu "
                            "refused, %zu failed\n",
                            verified + known + unknown + refused + failed, cells.size(),
                            secondsSince(start), verified, slower, known, unknown, refused, failed);
  if (!ratios.empty())
    line += format("the slowest takes %.3f of the heuristic's time\n",
                   *std::ranges::max_element(ratios));
  print(line);
}

int Sweep::run() {
  std::vector<std::thread> threads;
  for (const DeviceInfo &device : devices)
    threads.emplace_back([this, &device] { work(device); });
  for (std::thread &thread : threads)
    thread.join();
  progress.clear();
  if (problem && tuned + known + refused + failed + verified + unknown == 0)
    std::rethrow_exception(problem);
  if (request.verify)
    summarizeVerification();
  else
    summarize();
  results.write();
  if (problem)
    std::rethrow_exception(problem);
  if (unrecorded)
    throw Error(ErrorKind::Machine, std::to_string(unrecorded) + " results could not be recorded",
                "tune", "set EIDER_CACHE_DIR to a directory that only you can write");
  bool isMissing = false;
  for (const std::string &schedule : tuned ? request.schedules : std::vector<std::string>())
    if (!measured.contains(schedule)) {
      std::fprintf(stderr, "eider: --try: no cell was measured by '%s': the lines above say why\n",
                   schedule.c_str());
      isMissing = true;
    }
  return refused + failed + slower + unknown || isMissing ? 1 : 0;
}

} // namespace

int carryOut(const TuneRequest &request) {
  if (!request.params.schedule.empty())
    throw Error(ErrorKind::Request, "a schedule is what tuning finds", "--schedule",
                "leave it out");
  std::vector<TuneCell> cells = cellsFor(request);
  std::vector<DeviceInfo> devices = devicesNamed(request.device);
  // The workers of a sweep share the processors for compiling.
  ::setenv("EIDER_WORKERS", std::to_string(devices.size()).c_str(), 0);
  if (cells.empty()) {
    print("no cell falls to this shard\n");
    return 0;
  }
  Sweep sweep(request, std::move(cells), std::move(devices));
  if (!request.verify)
    tuning::Store().merge({}); // where nothing can be recorded nothing is measured
  return sweep.run();
}

} // namespace eider::cli
