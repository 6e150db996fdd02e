//===- tools/eider/Bench.cpp - eider bench --------------------------------===//
//
// Part of Eider, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//
#include "autotuner/store/Records.h"
#include "bench/Results.h"
#include "bench/measure/Workload.h"
#include "eider/jit.h"
#include "tools/eider/BenchCells.h"
#include "tools/eider/BenchTargets.h"
#include "tools/eider/CopyKernel.h"
#include "tools/eider/Inputs.h"
#include "tools/eider/ProgramSource.h"
#include "tools/eider/ResultParams.h"
#include "tools/eider/Text.h"

#include <cstdio>
#include <optional>

namespace eider::cli {

namespace {

using nlohmann::json;

JitOptions jitOptions(const BenchCell &cell) {
  JitOptions options;
  options.codec = cell.program.codec;
  options.schedule = cell.program.schedule;
  return options;
}

/// A request's cells on one device.
class Bench {
public:
  /// `alone`: there is one cell, whose error is the request's.
  Bench(const BenchRequest &request, const Device &device, bool alone)
      : request(request), device(device), alone(alone), meter(device, request.rounds),
        copies(device, meter), results("ops", device.info(), request.json) {
    if (request.again)
      results.continueFile();
  }

  /// Throws Error when the program is not possible, or the machine fails.
  void measure(const BenchCell &cell);
  /// What small cells are held against.
  void measureEmptyKernel();
  void keep() { results.keep(); }
  void write() const { results.write(); }
  bool failed() const { return failures > 0; }

private:
  /// Bytes of a launch.
  struct Moved {
    size_t read, written;
    size_t all() const { return read + written; }
  };
  Moved movedBy(const BenchCell &cell, const bench::Workload &workload) const;
  CompileOptions compileOptions(const std::string &schedule, const BenchCell &cell,
                                const Dims &fixed) const;
  std::vector<std::string> schedulesFor(const BenchCell &cell, const Program &program,
                                        const Dims &fixed) const;
  Call callUnder(const std::string &schedule, const BenchCell &cell, const Program &program,
                 const Dims &fixed) const;
  void measureCall(const Call &call, const std::string &schedule, const BenchCell &cell,
                   const std::string &op, bench::Workload &workload);
  void measureTuned(const BenchCell &cell, const Program &program, const Dims &fixed,
                    bench::Workload &workload);
  json paramsUnder(const std::string &schedule, const BenchCell &cell) const;
  void addTime(const BenchCell &cell, const std::string &op, const std::string &schedule,
               bench::L2 l2, const bench::Timing &timing, Moved moved);
  void complain(const BenchCell &cell, const std::string &schedule, const Error &error);
  bool wants(bench::L2 l2, size_t traffic) const;

  const BenchRequest &request;
  Device device;
  bool alone;
  bench::Meter meter;
  CopyKernels copies;
  bench::Results results;
  int failures = 0;
};

void Bench::measureEmptyKernel() {
  if (!device.isHost())
    results.add({{"op", "all"},
                 {"params", json::object()},
                 {"shape", json::object()},
                 {"metric", "empty_kernel"},
                 {"unit", "us"},
                 {"value", meter.emptyKernel()}});
}

/// What the cache cannot hold is never warm: measured so only when it is asked for.
bool Bench::wants(bench::L2 l2, size_t traffic) const {
  if (request.l2 == "both")
    return l2 == bench::L2::Cold || traffic <= static_cast<size_t>(device.info().l2);
  return request.l2 == (l2 == bench::L2::Cold ? "cold" : "warm");
}

/// What is read twice counts twice where no cache keeps it.
Bench::Moved Bench::movedBy(const BenchCell &cell, const bench::Workload &workload) const {
  const size_t read = workload.read(), written = workload.traffic() - read;
  const bool isKept = workload.traffic() <= static_cast<size_t>(device.info().l2);
  return {readsTwice(cell.program) && !isKept ? 2 * read : read, written};
}

void Bench::complain(const BenchCell &cell, const std::string &schedule, const Error &error) {
  ++failures;
  const std::string under = schedule.empty() ? "" : " under " + schedule;
  std::fprintf(stderr, "eider: %s%s: %s\n", nameOf(cell).c_str(), under.c_str(), error.what());
}

void Bench::measure(const BenchCell &cell) {
  const ProgramSource source = makeProgram(cell.program);
  if (!source.scalars.empty())
    throw Error(ErrorKind::Request, "a scalar's value does not change the time",
                "--set " + source.scalars.begin()->first, "leave it out");
  for (const auto &[name, extent] : cell.program.dims)
    if (extent == 0)
      throw Error(ErrorKind::Request, "no rows or columns launch nothing", "--dim " + name + "=0",
                  "give one or more");
  const Program &program = source.program;
  const Signature &signature = program.signature();
  // Says so when a dim is none of the program's.
  Dims fixed = optionsFor(cell.program, program, device.target()).dims;
  fixed = tuning::fixedDims(signature, fixed);
  try {
    const std::string &given = cell.program.schedule;
    bench::Workload workload(device, meter, jit(program, device, fixed, jitOptions(cell)),
                             signature, cell.program.dims, cell.padding);
    if (!request.sweep) {
      measureCall(callUnder(given, cell, program, fixed), given, cell, program.name(), workload);
      if (given.empty())
        measureTuned(cell, program, fixed, workload);
      return;
    }
    for (const std::string &schedule : schedulesFor(cell, program, fixed))
      try {
        measureCall(callUnder(schedule, cell, program, fixed), schedule, cell, program.name(),
                    workload);
      } catch (const Error &error) {
        if (error.kind() != ErrorKind::Request)
          throw;
        std::fprintf(stderr, "eider: %s: %s\n", schedule.c_str(), error.what()); // not possible
      }
  } catch (const Error &error) {
    if (alone || error.kind() == ErrorKind::Machine)
      throw;
    complain(cell, cell.program.schedule, error);
  }
}

CompileOptions Bench::compileOptions(const std::string &schedule, const BenchCell &cell,
                                     const Dims &fixed) const {
  CompileOptions options;
  options.target = device.target();
  options.codec = cell.program.codec;
  options.schedule = schedule;
  options.dims = fixed;
  return options;
}

/// The heuristic's, which is an empty text, then all others that are worth measuring.
std::vector<std::string> Bench::schedulesFor(const BenchCell &cell, const Program &program,
                                             const Dims &fixed) const {
  std::vector<std::string> list = {""};
  const SpaceOptions space{device.info().multiprocessors, cell.program.dims};
  for (const ScheduleCandidate &candidate :
       candidates(program, compileOptions("", cell, fixed), space))
    if (!candidate.heuristic && candidate.pruned.empty())
      list.push_back(candidate.schedule);
  return list;
}

/// Under a given schedule, or the heuristic's; whatever the tuning records say.
Call Bench::callUnder(const std::string &schedule, const BenchCell &cell, const Program &program,
                      const Dims &fixed) const {
  const CompileOptions options = compileOptions(schedule, cell, fixed);
  return device.load(compileCached(program, options, device.cacheOptions()))
      .prepare(cell.program.dims);
}

/// What a program gets that asks for no schedule, where there is a record.
void Bench::measureTuned(const BenchCell &cell, const Program &program, const Dims &fixed,
                         bench::Workload &workload) {
  const Call call = jit(program, device, fixed, jitOptions(cell)).prepare(cell.program.dims);
  if (call.variant().starts_with("tuned"))
    measureCall(call, "tuned", cell, program.name(), workload);
}

void Bench::measureCall(const Call &call, const std::string &schedule, const BenchCell &cell,
                        const std::string &op, bench::Workload &workload) {
  const bench::Enqueue launch = workload.launchOf(call);
  const Moved moved = movedBy(cell, workload);
  for (bench::L2 l2 : {bench::L2::Cold, bench::L2::Warm})
    if (wants(l2, workload.traffic()))
      addTime(cell, op, schedule, l2, meter.time(launch, moved.all(), l2), moved);
  if (!request.sweep)
    results.add({{"op", op},
                 {"params", paramsUnder(schedule, cell)},
                 {"shape", cell.program.dims},
                 {"metric", "launch"},
                 {"unit", "us"},
                 {"value", meter.launchCost(launch)}});
}

json Bench::paramsUnder(const std::string &schedule, const BenchCell &cell) const {
  json params = paramsOf(cell.program, schedule);
  if (cell.padding)
    params["padding"] = std::to_string(cell.padding);
  return params;
}

void Bench::addTime(const BenchCell &cell, const std::string &op, const std::string &schedule,
                    bench::L2 l2, const bench::Timing &timing, Moved moved) {
  const double ratio = timing.kernel / timing.memcpy;
  const bool cold = l2 == bench::L2::Cold, hasTarget = cold && cell.target > 0;
  char line[160];
  std::snprintf(line, sizeof(line), " %-4s %9.2f us  memcpy %9.2f us  %6.3f%s",
                cold ? "cold" : "warm", timing.kernel, timing.memcpy, ratio,
                !hasTarget             ? ""
                : ratio <= cell.target ? "  ok"
                                       : "  OVER");
  print(padded(nameOf(cell), 56) + line + (schedule.empty() ? "" : "  " + schedule) + "\n");
  json params = paramsUnder(schedule, cell);
  params["l2"] = cold ? "cold" : "warm";
  json made = {{"op", op},
               {"params", params},
               {"shape", cell.program.dims},
               {"metric", "time"},
               {"unit", "us"},
               {"value", timing.kernel},
               {"baseline", "memcpy"},
               {"baseline_value", timing.memcpy},
               {"ratio", ratio},
               {"ratio_low", timing.low},
               {"ratio_high", timing.high},
               {"spread", timing.spread},
               {"bytes", moved.all()}};
  if (hasTarget)
    made["target"] = cell.target;
  if (cold && request.besideCopy) {
    const Proportion proportion = proportionOf(moved.read, moved.written);
    // Over a memcpy of its own rounds: what the machine did meanwhile cancels.
    const double copy = copies.timesMemcpy(proportion, moved.all());
    made["copy"] = proportion.text();
    made["copy_value"] = copy * timing.memcpy;
    made["copy_ratio"] = ratio / copy;
  }
  results.add(made);
}

} // namespace

int carryOut(const BenchRequest &request) {
  std::vector<BenchCell> cells = cellsFor(request);
  const Device device = Device::open(request.device);
  // Of the cells that nobody named, those that this GPU, or EIDER_TARGET's, has instructions for.
  if (request.sources.empty() && !device.info().hardwareFp8)
    std::erase_if(cells, [](const BenchCell &cell) { return cell.program.codec == "hardware"; });
  Bench bench(request, device, cells.size() == 1);
  if (request.sources.empty())
    bench.measureEmptyKernel();
  for (const BenchCell &cell : cells) {
    bench.measure(cell);
    bench.keep();
  }
  bench.write();
  return bench.failed() ? 1 : 0;
}

} // namespace eider::cli
