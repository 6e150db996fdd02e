//===- autotuner/Tune.cpp - Measure schedules, keep the best --------------===//
//
// Part of Eider, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//
#include "eider/tune.h"

#include "autotuner/Lookup.h"
#include "autotuner/measure/Cell.h"
#include "autotuner/store/Store.h"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cmath>
#include <ctime>
#include <thread>

namespace eider {

using namespace tuning;

namespace {

using Clock = std::chrono::steady_clock;

double secondsSince(Clock::time_point start) {
  return std::chrono::duration<double>(Clock::now() - start).count();
}

std::string now() {
  const std::time_t time = std::time(nullptr);
  std::tm parts;
  char text[32];
  std::strftime(text, sizeof(text), "%Y-%m-%dT%H:%M:%SZ", ::gmtime_r(&time, &parts));
  return text;
}

/// Every dim of the program has a value; no other is given.
void checkDims(const Program &program, const Dims &dims) {
  size_t known = 0;
  for (const Signature::NamedDim &dim : program.signature().dims) {
    auto given = dims.find(dim.name);
    if (given == dims.end())
      throw Error(ErrorKind::Request, "the dim '" + dim.name + "' has no value", program.name(),
                  "tuning needs all dims of the launch");
    if (given->second < 1 || (dim.value && *dim.value != given->second))
      throw Error(ErrorKind::Request,
                  "the dim '" + dim.name + "' cannot be " + std::to_string(given->second),
                  program.name());
    ++known;
  }
  if (known != dims.size())
    throw Error(ErrorKind::Request, "a dim is given that the program does not have",
                program.name());
}

/// How much faster than the incumbent a candidate must be: its lead is no noise. From process to
/// process a kernel of 2 us moved by up to 30 ns on an H200, however even a process's own rounds.
double leadNeeded(const RankedRun &incumbent, const RankedRun &candidate) {
  constexpr double least = 0.005, roundsRoot = 5, betweenProcesses = 0.03; // us
  return std::max({least, betweenProcesses / std::max(candidate.microseconds, betweenProcesses),
                   std::max(incumbent.spread, candidate.spread) / roundsRoot});
}

/// The fastest run; the incumbent's unless another leads by more than noise.
const RankedRun &winnerOf(const std::vector<RankedRun> &runs) {
  const RankedRun &incumbent = runs.front();
  const RankedRun *best = &incumbent;
  for (const RankedRun &run : runs)
    if (run.microseconds < best->microseconds)
      best = &run;
  const double lead = 1 - best->microseconds / incumbent.microseconds;
  return lead > leadNeeded(incumbent, *best) ? *best : incumbent;
}

/// The second candidate beside the first, the incumbent.
void compare(const TuneResult &result, TuneVerification &verification) {
  const TunedSchedule &incumbent = result.candidates[0], &tuned = result.candidates[1];
  verification.microseconds = tuned.microseconds;
  verification.heuristicTime = incumbent.microseconds;
  verification.memcpyTime = result.memcpyTime;
  verification.spread = tuned.spread;
  verification.bytes = result.bytes;
  verification.refused = !result.refused.empty() ? result.refused : tuned.rejected;
  if (verification.refused.empty() && tuned.microseconds <= 0)
    verification.refused = "there was no time to measure it";
  const double noise = leadNeeded({0, 0, incumbent.spread}, {1, tuned.microseconds, tuned.spread});
  verification.slower = tuned.microseconds > incumbent.microseconds * (1 + noise);
}

Patience patienceFor(const DeviceInfo &device) {
  // The simulator takes seconds for what a GPU does in milliseconds.
  if (device.target == "host")
    return {std::chrono::milliseconds(60000), std::chrono::milliseconds(120000)};
  return {};
}

} // namespace

struct Tuner::Impl {
  Impl(const DeviceInfo &device, const CacheOptions &cache)
      : device(device), cache(cache), store(cache), workers(device.id, patienceFor(device)) {
    this->device.target = workers.target();
  }

  /// What a record of this cell has in common.
  Record recordFor(const Program &program, const Dims &dims, const std::string &codec) const;
  CellRequest request(const Program &program, const Dims &dims, const TuneOptions &options,
                      TuneResult &result) const;
  void evaluate(const CellOutcome &outcome, TuneResult &result) const;
  bool record(const Record &cell, const TuneResult &result) const;
  bool takeRecord(const Record &cell, TuneResult &result) const;

  DeviceInfo device;
  CacheOptions cache;
  Store store;
  WorkerHost workers;
};

Record Tuner::Impl::recordFor(const Program &program, const Dims &dims,
                              const std::string &codec) const {
  Record record;
  record.program = digestOf(program, codec);
  record.dims = toText(bucketOf(dims, fixedDims(program.signature())));
  record.target = device.target;
  record.device = identityOf(device);
  record.date = now();
  record.name = program.name();
  record.deviceName = device.name;
  record.version = EIDER_VERSION;
  record.driver = device.driver;
  return record;
}

/// The heuristic's schedule, and those that were asked for or the most promising others.
CellRequest Tuner::Impl::request(const Program &program, const Dims &dims,
                                 const TuneOptions &options, TuneResult &result) const {
  CellRequest request{program.text(), options.codec, dims, fixedDims(program.signature()), {},
                      options.seconds};
  CompileOptions compileOptions;
  compileOptions.target = device.target;
  compileOptions.codec = options.codec;
  for (const std::string &name : request.fixed)
    compileOptions.dims[name] = dims.at(name);
  const auto add = [&](const std::string &schedule, bool asked) {
    request.candidates.push_back(
        {static_cast<int>(request.candidates.size()), schedule, {}, asked});
    result.candidates.push_back({schedule});
  };
  const auto most =
      options.schedules.empty() ? static_cast<size_t>(std::max(1, options.candidates)) : size_t{1};
  for (const ScheduleCandidate &candidate :
       candidates(program, compileOptions, {device.multiprocessors, dims})) {
    if (!candidate.pruned.empty() || request.candidates.size() >= most)
      break;
    add(candidate.schedule, false);
  }
  if (request.candidates.empty())
    throw Error(ErrorKind::Request, "has no schedule", program.name());
  for (const std::string &schedule : options.schedules)
    if (std::ranges::find(result.candidates, schedule, &TunedSchedule::schedule) ==
        result.candidates.end())
      add(schedule, true);
  result.heuristic = request.candidates.front().schedule;
  return request;
}

void Tuner::Impl::evaluate(const CellOutcome &outcome, TuneResult &result) const {
  for (const auto &[id, time] : outcome.measured)
    result.candidates.at(static_cast<size_t>(id)).microseconds = time;
  for (const auto &[id, why] : outcome.rejected)
    result.candidates.at(static_cast<size_t>(id)).rejected = why;
  result.refused = outcome.refused;
  if (outcome.runs.empty())
    return;
  for (const RankedRun &run : outcome.runs) {
    TunedSchedule &candidate = result.candidates.at(static_cast<size_t>(run.id));
    candidate.microseconds = run.microseconds;
    candidate.spread = run.spread;
    candidate.finalist = true;
  }
  const RankedRun &winner = winnerOf(outcome.runs);
  result.schedule = result.candidates.at(static_cast<size_t>(winner.id)).schedule;
  result.microseconds = winner.microseconds;
  result.spread = winner.spread;
  result.heuristicTime = outcome.runs.front().microseconds;
  result.memcpyTime = outcome.memcpyTime;
  result.bytes = outcome.bytes;
}

bool Tuner::Impl::record(const Record &cell, const TuneResult &result) const {
  std::vector<Record> records;
  for (const TunedSchedule &candidate : result.candidates) {
    if (candidate.microseconds <= 0 || !candidate.rejected.empty())
      continue;
    Record record = cell;
    record.schedule = candidate.schedule;
    record.best = candidate.schedule == result.schedule;
    record.microseconds = candidate.microseconds;
    record.spread = candidate.spread;
    record.memcpyTime = result.memcpyTime;
    record.bytes = result.bytes;
    records.push_back(std::move(record));
  }
  return store.replace(records);
}

/// The record of the very bucket, if there is one.
bool Tuner::Impl::takeRecord(const Record &cell, TuneResult &result) const {
  for (const Record &known : store.best(cell.program, cell.target, cell.device)) {
    if (known.dims != cell.dims)
      continue;
    result.schedule = known.schedule;
    result.microseconds = known.microseconds;
    result.memcpyTime = known.memcpyTime;
    result.spread = known.spread;
    result.bytes = known.bytes;
    result.fromRecord = result.recorded = true;
    return true;
  }
  return false;
}

Tuner::Tuner(const DeviceInfo &device, const CacheOptions &cache)
    : impl(std::make_unique<Impl>(device, cache)) {}

Tuner::~Tuner() = default;

bool Tuner::isRecorded(const Program &program, const Dims &dims, const TuneOptions &options) const {
  checkDims(program, dims);
  TuneResult ignored;
  return impl->takeRecord(impl->recordFor(program, dims, options.codec), ignored);
}

TuneResult Tuner::tune(const Program &program, const Dims &dims, const TuneOptions &options) {
  const Clock::time_point start = Clock::now();
  checkDims(program, dims);
  TuneResult result;
  const Record cell = impl->recordFor(program, dims, options.codec);
  TuneOptions asked = options;
  if (TuneResult known; impl->takeRecord(cell, known)) {
    if (!options.again && options.schedules.empty())
      return known;
    // What is asked for takes a record's place where it is faster.
    if (!options.schedules.empty())
      asked.schedules.push_back(known.schedule);
  }
  const CellRequest request = impl->request(program, dims, asked, result);
  impl->evaluate(impl->workers.run(request), result);
  if (options.record && result.refused.empty())
    result.recorded = impl->record(cell, result);
  result.seconds = secondsSince(start);
  return result;
}

TuneVerification Tuner::verify(const Program &program, const Dims &dims,
                               const TuneOptions &options) {
  checkDims(program, dims);
  TuneResult known, result;
  if (!impl->takeRecord(impl->recordFor(program, dims, options.codec), known))
    throw Error(ErrorKind::Request, "has no record to verify", program.name(), "tune it before");
  TuneOptions heuristicAlone = options;
  heuristicAlone.candidates = 1;
  heuristicAlone.schedules.clear();
  CellRequest request = impl->request(program, dims, heuristicAlone, result);
  TuneVerification verification;
  verification.schedule = known.schedule;
  verification.heuristic = result.heuristic;
  if (known.schedule == result.heuristic)
    return verification;
  request.candidates.push_back({1, known.schedule});
  result.candidates.push_back({known.schedule});
  constexpr int attempts = 2; // once may be chance
  for (int attempt = 0; attempt < attempts; ++attempt) {
    TuneResult measured = result;
    impl->evaluate(impl->workers.run(request), measured);
    compare(measured, verification);
    if (!verification.slower || !verification.refused.empty())
      break;
  }
  return verification;
}

TuneResult tune(const Program &program, const Device &device, const Dims &dims,
                const TuneOptions &options) {
  return Tuner(device.info(), device.cacheOptions()).tune(program, dims, options);
}

std::vector<TunedRecord> tunedRecords(const Program &program, const CompileOptions &options,
                                      const CacheOptions &cache) {
  std::vector<TunedRecord> found;
  for (const Record &record : recordsOf(digestOf(program, options.codec), options.target, cache)) {
    const std::optional<DimsBucket> bucket = parseBucket(record.dims);
    const bool asked = bucket && std::ranges::all_of(options.dims, [&](const auto &dim) {
                         auto range = bucket->find(dim.first);
                         return range != bucket->end() && range->second.from <= dim.second &&
                                dim.second <= range->second.to;
                       });
    if (asked)
      found.push_back(
          {record.dims, record.deviceName, record.schedule, record.best, record.microseconds});
  }
  return found;
}

//===-- In the background -------------------------------------------------===//

struct BackgroundTuning::Impl {
  std::vector<TuneResult> results;
  std::exception_ptr problem;
  std::atomic<bool> stopping = false;
  std::thread thread;

  void work(const DeviceInfo &device, const CacheOptions &cache, const std::vector<Job> &jobs,
            double seconds, TuneOptions options) {
    try {
      const Clock::time_point start = Clock::now();
      Tuner tuner(device, cache);
      for (const Job &job : jobs) {
        const double left = seconds - secondsSince(start);
        if (stopping || left <= 0)
          return;
        options.seconds = std::min(options.seconds, left);
        results.push_back(tuner.tune(job.program, job.dims, options));
      }
    } catch (...) {
      problem = std::current_exception();
    }
  }
};

BackgroundTuning::BackgroundTuning(const Device &device, std::vector<Job> jobs, double seconds,
                                   const TuneOptions &options)
    : impl(std::make_unique<Impl>()) {
  impl->thread = std::thread([impl = impl.get(), info = device.info(),
                              cache = device.cacheOptions(), jobs = std::move(jobs), seconds,
                              options] { impl->work(info, cache, jobs, seconds, options); });
}

BackgroundTuning::~BackgroundTuning() {
  impl->stopping = true;
  if (impl->thread.joinable())
    impl->thread.join();
}

const std::vector<TuneResult> &BackgroundTuning::wait() {
  if (impl->thread.joinable())
    impl->thread.join();
  if (impl->problem)
    std::rethrow_exception(impl->problem);
  return impl->results;
}

} // namespace eider
