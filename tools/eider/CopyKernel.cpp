//===- tools/eider/CopyKernel.cpp - The best copy of a proportion ---------===//
//
// Part of Eider, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//
#include "tools/eider/CopyKernel.h"

#include "eider/jit.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>

namespace eider::cli {

namespace {

constexpr int mostStreams = 4;
constexpr size_t mostlyRead = 64; // times what is written: as good as nothing
constexpr int64_t width = 8192;   // of a row: any that streams well
constexpr int schedulesTried = 4; // the most promising, the heuristic's first

/// Each output the sum of all inputs; without one, each row's sum.
Program copyProgram(Proportion proportion) {
  Builder b("copy");
  const Dim tokens = b.dim("tokens"), hidden = b.dim("hidden");
  Value sum = b.input("x", f32, {tokens, hidden});
  for (int i = 1; i < proportion.read; ++i)
    sum = sum + b.input("x_" + std::to_string(i), f32, {tokens, hidden});
  if (proportion.written == 0)
    b.output("sum", eider::sum(sum, /*axis=*/-1), f32);
  for (int i = 0; i < proportion.written; ++i)
    b.output("y_" + std::to_string(i), sum, f32);
  return b.build();
}

/// Schedules worth measuring.
std::vector<std::string> schedulesOf(const Program &program, const Device &device,
                                     const Dims &dims) {
  CompileOptions options;
  options.target = device.target();
  options.dims = {{"hidden", width}};
  std::vector<std::string> schedules;
  for (const ScheduleCandidate &candidate :
       candidates(program, options, {device.info().multiprocessors, dims}))
    if (candidate.pruned.empty() && schedules.size() < schedulesTried)
      schedules.push_back(candidate.schedule);
  return schedules;
}

} // namespace

Proportion proportionOf(size_t read, size_t written) {
  if (read / mostlyRead > written)
    return {1, 0};
  const double wanted = std::log(static_cast<double>(std::max<size_t>(read, 1)) /
                                 static_cast<double>(std::max<size_t>(written, 1)));
  Proportion best{1, 1};
  double least = std::abs(wanted);
  for (int streams = 2; streams <= 2 * mostStreams; ++streams)
    for (int r = std::max(1, streams - mostStreams); r <= std::min(streams - 1, mostStreams); ++r) {
      const double off = std::abs(wanted - std::log(static_cast<double>(r) / (streams - r)));
      if (least > std::log(1.05) && off < least) {
        best = {r, streams - r};
        least = off;
      }
    }
  return best;
}

/// To four bits: the cells of a shape, which differ in their scales, share a measurement.
static size_t rounded(size_t bytes) {
  const size_t unit = std::max<size_t>(std::bit_floor(bytes) / 8, 1);
  return (bytes + unit / 2) / unit * unit;
}

double CopyKernels::timesMemcpy(Proportion proportion, size_t bytes) {
  bytes = rounded(bytes);
  const auto key = std::pair(proportion, bytes);
  if (!known.contains(key))
    known[key] = measure(proportion, bytes);
  return known[key];
}

double CopyKernels::measure(Proportion proportion, size_t bytes) const {
  const Program program = copyProgram(proportion);
  const auto row =
      static_cast<size_t>(proportion.read + proportion.written) * sizeof(float) * width;
  const Dims dims = {{"tokens", static_cast<int64_t>(std::max<size_t>(bytes / row, 1))},
                     {"hidden", width}};
  const Dims fixed = {{"hidden", width}};
  bench::Workload workload(device, meter, jit(program, device, fixed), program.signature(), dims);
  double best = std::numeric_limits<double>::infinity();
  for (const std::string &schedule : schedulesOf(program, device, dims)) {
    JitOptions options;
    options.schedule = schedule;
    const Call call = jit(program, device, fixed, options).prepare(dims);
    const bench::Timing timing =
        meter.time(workload.launchOf(call), workload.traffic(), bench::L2::Cold);
    best = std::min(best, timing.kernel / timing.memcpy);
  }
  return best;
}

} // namespace eider::cli
