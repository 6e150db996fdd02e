//===- eider/tune.h - Measure schedules, keep the best ----------*- C++ -*-===//
//
// Part of Eider, under the Apache License v2.0.
//
// What is measured is recorded in `tuning.db` of the cache directory, and jit() takes it from
// there. Candidates run in a worker process (the program eider-worker): a kernel that hangs or
// faults harms nobody else.
//
//===----------------------------------------------------------------------===//
#ifndef EIDER_TUNE_H
#define EIDER_TUNE_H

#include "eider/compile.h"
#include "eider/runtime.h"

#include <memory>
#include <string>
#include <vector>

namespace eider {

struct TuneOptions {
  std::string codec = "auto"; ///< `auto`, `hardware` or `software`
  double seconds = 5;         ///< For one program and shape; no candidate is begun after.
  int candidates = 16;        ///< Measured at most, the heuristic's among them.
  std::vector<std::string> schedules = {}; ///< Measured beside the heuristic's and the record's, in
                                           ///< place of others; `again` is implied.
  bool again = false;                      ///< Measure what has a record, too.
  bool record = true;                      ///< Keep the result.
};

/// One candidate of a cell.
struct TunedSchedule {
  std::string schedule;
  double microseconds = 0;   ///< 0: not measured to the end.
  double spread = 0;         ///< (third quartile − first) / median of the rounds
  bool finalist = false;     ///< Measured in the last rounds, beside the incumbent.
  std::string rejected = {}; ///< Why it could not win; empty: measured.
};

/// What tuning one program at one shape gave.
struct TuneResult {
  std::string schedule;     ///< The best: the heuristic's unless another is faster.
  double microseconds = 0;  ///< Its time.
  std::string heuristic;    ///< The heuristic's schedule.
  double heuristicTime = 0; ///< microseconds, in the same rounds
  double memcpyTime = 0;    ///< microseconds, a memcpy of as many bytes in the same rounds
  double spread = 0;        ///< Of the best's rounds.
  int64_t bytes = 0;        ///< read and written by a launch
  std::vector<TunedSchedule> candidates;
  bool fromRecord = false; ///< Nothing was measured: there was a record.
  bool recorded = false;
  std::string refused; ///< Why nothing was recorded: noise, a device in use; empty: it was.
  double seconds = 0;  ///< That it took.
};

/// A record held against the heuristic's schedule, measured anew.
struct TuneVerification {
  std::string schedule;     ///< The record's.
  std::string heuristic;    ///< The heuristic's; if it is the record's, nothing was measured.
  double microseconds = 0;  ///< Of the record's schedule.
  double heuristicTime = 0; ///< microseconds, in the same rounds
  double memcpyTime = 0;    ///< microseconds, a memcpy of as many bytes in the same rounds
  double spread = 0;        ///< Of the record's rounds.
  int64_t bytes = 0;        ///< read and written by a launch
  bool slower = false;      ///< Than the heuristic's, by more than noise, twice in a row.
  std::string refused;      ///< Why nothing can be said: noise, a device in use, a wrong result.
};

/// Tunes on one device, one program and shape after the other. Not thread-safe.
class EIDER_API Tuner {
public:
  /// Starts the worker. Throws Error: Machine without the worker or the device.
  Tuner(const DeviceInfo &device, const CacheOptions &cache = {});
  ~Tuner();
  Tuner(const Tuner &) = delete;
  Tuner &operator=(const Tuner &) = delete;

  /// `dims`: all dims of the launch. Throws Error.
  TuneResult tune(const Program &program, const Dims &dims, const TuneOptions &options = {});

  /// Whether there is a record, so that tune() would measure nothing. Throws Error.
  bool isRecorded(const Program &program, const Dims &dims, const TuneOptions &options = {}) const;

  /// Measures the record of tune() and the heuristic's schedule in the same rounds; records
  /// nothing. Throws Error: Request without a record.
  TuneVerification verify(const Program &program, const Dims &dims,
                          const TuneOptions &options = {});

private:
  struct Impl;
  std::unique_ptr<Impl> impl;
};

/// Tunes one program for the launches that have `dims`. Throws Error.
EIDER_API TuneResult tune(const Program &program, const Device &device, const Dims &dims,
                          const TuneOptions &options = {});

/// What is recorded of one schedule.
struct TunedRecord {
  std::string dims;       ///< `hidden=7168 tokens=8193..16384`
  std::string deviceName; ///< `NVIDIA H200`
  std::string schedule;
  bool best = false; ///< jit() takes it for such dims on such a device.
  double microseconds = 0;
};

/// The records of a program for a target, on all devices, of the dims in `options`: those that
/// `EIDER_TUNING` lets count. Throws Error.
EIDER_API std::vector<TunedRecord>
tunedRecords(const Program &program, const CompileOptions &options, const CacheOptions &cache = {});

/// Tunes in a thread of its own; a later jit() finds the record.
class EIDER_API BackgroundTuning {
public:
  struct Job {
    Program program;
    Dims dims;
  };
  /// `seconds`: for all jobs together; what is not begun by then is left.
  BackgroundTuning(const Device &device, std::vector<Job> jobs, double seconds,
                   const TuneOptions &options = {});
  /// Stops after the job that it is at.
  ~BackgroundTuning();
  BackgroundTuning(const BackgroundTuning &) = delete;
  BackgroundTuning &operator=(const BackgroundTuning &) = delete;

  /// Waits until all is done; the results of the jobs that were begun, in order. Throws the first
  /// Error.
  const std::vector<TuneResult> &wait();

private:
  struct Impl;
  std::unique_ptr<Impl> impl;
};

} // namespace eider

#endif // EIDER_TUNE_H
