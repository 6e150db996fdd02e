//===- tests/unit/autotuner/Support.h ---------------------------*- C++ -*-===//
//
// Part of Eider, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//
#ifndef EIDER_TESTS_UNIT_AUTOTUNER_SUPPORT_H
#define EIDER_TESTS_UNIT_AUTOTUNER_SUPPORT_H

#include "autotuner/store/Records.h"
#include "eider/compile.h"

#include <cstdlib>
#include <string>

namespace eider {

inline Program libraryProgram(const std::string &op, const std::string &block = "1x128") {
  OpParameters parameters;
  parameters.dtype = "bf16";
  parameters.format = "e4m3";
  if (!block.empty())
    parameters.block = block;
  return libraryOp(op, parameters);
}

/// A record of `program` that could have been measured.
inline tuning::Record sampleRecord(const Program &program, const std::string &dims,
                                   const std::string &schedule, bool best = true) {
  tuning::Record record;
  record.program = tuning::digestOf(program, "auto");
  record.dims = dims;
  record.target = "sm_90";
  record.device = "9.0 sm 132 l2 62914560 bus 6144 clock 3201000";
  record.schedule = schedule;
  record.best = best;
  record.microseconds = best ? 98.5 : 101.25;
  record.spread = 0.01;
  record.memcpyTime = 99.25;
  record.bytes = 402653184;
  record.date = "2026-01-31T12:00:00Z";
  record.name = program.name();
  record.deviceName = "NVIDIA H200";
  record.version = "0.1.0";
  record.driver = 13000;
  return record;
}

/// The device of sampleRecord().
inline DeviceInfo sampleDevice() {
  DeviceInfo info;
  info.id = "cuda:0";
  info.name = "NVIDIA H200";
  info.target = "sm_90";
  info.major = 9;
  info.multiprocessors = 132;
  info.l2 = 62914560;
  info.memoryBus = 6144;
  info.memoryClock = 3201000;
  return info;
}

/// An environment variable for as long as this lives.
class Variable {
public:
  Variable(const char *name, const std::string &value) : name(name) {
    if (const char *old = std::getenv(name)) {
      had = true;
      before = old;
    }
    ::setenv(name, value.c_str(), 1);
  }
  ~Variable() {
    if (had)
      ::setenv(name, before.c_str(), 1);
    else
      ::unsetenv(name);
  }
  Variable(const Variable &) = delete;
  Variable &operator=(const Variable &) = delete;

private:
  const char *name;
  bool had = false;
  std::string before;
};

} // namespace eider

#endif // EIDER_TESTS_UNIT_AUTOTUNER_SUPPORT_H
