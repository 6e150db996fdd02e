//===- measure/CellRun.cpp - All candidates of one cell -------------------===//
//
// Part of Eider, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//
#include "autotuner/measure/CellRun.h"

#include <algorithm>
#include <cmath>
#include <cstdio>

namespace eider::tuning {

namespace {
constexpr size_t firstRounds = 5;
constexpr double hopeless = 2; ///< Times the best: no further rounds.
constexpr size_t mostFinalists = 4;
constexpr double finalistWithin = 1.25; ///< Times the best.

/// What a GPU's quiet rounds stay below. Wall time on the host is never quiet, and refuses nothing.
double mostSpread(const Device &device) { return device.isHost() ? INFINITY : 0.10; }
double mostDrift(const Device &device) { return device.isHost() ? INFINITY : 0.04; }
size_t lastRounds(const Device &device) { return device.isHost() ? 3 : 25; }

std::string percent(double share) {
  char text[32];
  std::snprintf(text, sizeof(text), "%.1f %%", 100 * share);
  return text;
}
} // namespace

CellRun::CellRun(const Device &device, Rounds &rounds, const CellRequest &request,
                 const Report &report)
    : device(device), rounds(rounds), request(request), report(report),
      program(parseProgram(request.program, "the program to tune")),
      end(Clock::now() + std::chrono::duration_cast<Clock::duration>(
                             std::chrono::duration<double>(request.seconds))) {}

void CellRun::fail(int id, const std::string &why) const {
  report({{"event", "failed"}, {"id", id}, {"why", why}});
}

void CellRun::run() {
  {
    CandidateCompiler compiler(program, device, request);
    while (std::optional<CompiledCandidate> candidate = compiler.next(end))
      take(std::move(*candidate));
  }
  requireReference();
  finish();
}

void CellRun::take(CompiledCandidate candidate) {
  const bool incumbent = candidate.id == request.candidates.front().id;
  if (!candidate.failure.empty()) {
    if (incumbent)
      throw Error(ErrorKind::Request, candidate.failure);
    return fail(candidate.id, candidate.failure);
  }
  if (!candidate.launched.empty()) {
    auto [twin, first] = launches.try_emplace(candidate.launched, candidate.id);
    if (!first)
      candidate.drop =
          "the same machine code and grid as candidate " + std::to_string(twin->second);
  }
  if (!candidate.drop.empty() && !incumbent)
    return report({{"event", "dropped"}, {"id", candidate.id}, {"why", candidate.drop}});
  if (!incumbent && Clock::now() > end)
    return report({{"event", "dropped"}, {"id", candidate.id}, {"why", "the time is over"}});
  if (!incumbent)
    requireReference(); // before the watchdog takes the candidate's time
  const Kernel kernel = device.load(candidate.executable);
  if (incumbent) {
    tensors = std::make_unique<Tensors>(device, kernel, program.signature(), request.dims);
    differences = std::make_unique<Differences>(device);
    rounds.begin(*tensors);
  }
  report({{"event", "start"}, {"id", candidate.id}});
  try {
    incumbent ? takeIncumbent(candidate, kernel) : takeOther(candidate, kernel);
    device.synchronize();
  } catch (const Error &error) {
    throw DeviceFault{candidate.id, error.what()};
  }
}

Call CellRun::prepared(const Kernel &kernel) {
  return kernel.prepare(request.dims, tensors->checkedSet());
}

void CellRun::runChecked(const Call &call) {
  tensors->prepareCheck();
  call.launch({}, tensors->checkedSet(), {}, tensors->workspace(call.workspace_bytes()));
  device.synchronize();
}

/// What a kernel gave in rows that stand for all; where none do (a transpose), all that it gives of
/// a small launch.
Sample CellRun::sampleOf(const Kernel &kernel) {
  constexpr int64_t smallExtent = 130; // a block of 128 and a partial one
  constexpr int64_t multiple = 16;     // the most of which a variant asks a dim to be one
  const RowPlan plan = planRows(program.signature(), request.fixed);
  if (!plan.dim.empty())
    return takeSample(device, *tensors, plan, request.dims);
  Dims dims = request.dims;
  for (auto &[name, extent] : dims)
    if (std::ranges::find(request.fixed, name) == request.fixed.end())
      extent =
          std::min(extent, smallExtent + (extent + multiple - smallExtent % multiple) % multiple);
  Tensors small(device, kernel, program.signature(), dims);
  const Call call = kernel.prepare(dims, small.checkedSet());
  small.prepareCheck();
  call.launch({}, small.checkedSet(), {}, small.workspace(call.workspace_bytes()));
  device.synchronize();
  return takeSample(device, small, plan, dims);
}

void CellRun::takeIncumbent(const CompiledCandidate &candidate, const Kernel &kernel) {
  const Call call = prepared(kernel);
  runChecked(call);
  tensors->keepGolden();
  // The processor compares while the device measures.
  auto sample = std::make_shared<Sample>(sampleOf(kernel));
  reference = std::async(std::launch::async, [program = program, sample] {
    return compare(program, sample->inputs, sample->outputs);
  });
  time(candidate.id, call);
}

/// Waits for the reference's word on the incumbent.
void CellRun::requireReference() {
  if (!reference.valid())
    return;
  for (const Comparison &comparison : reference.get()) {
    judged[comparison.name] = comparison;
    if (comparison.wrong)
      throw Error(ErrorKind::Internal, "the heuristic's kernel is wrong: " + comparison.firstWrong,
                  program.name());
  }
}

void CellRun::takeOther(const CompiledCandidate &candidate, const Kernel &kernel) {
  const Call call = prepared(kernel);
  runChecked(call);
  if (isRight(candidate.id, kernel))
    time(candidate.id, call);
}

/// Everywhere as near to the incumbent as the least bound says; or, as where a sum in another order
/// leaves little of a difference, as the most says, and in what is sampled within the reference's.
bool CellRun::isRight(int id, const Kernel &kernel) {
  bool isNear = true;
  for (const Tensors::Tensor &tensor : tensors->all()) {
    const auto isFurther = [&](Bound bound) {
      return differences->any(tensor, allowedOf(tensor.dtype, judged.at(tensor.name), bound));
    };
    if (!tensor.checked || !isFurther(Bound::Least))
      continue;
    isNear = false;
    if (isFurther(Bound::Most)) {
      fail(id, "'" + tensor.name + "' is not what the heuristic's kernel gives");
      return false;
    }
  }
  if (isNear)
    return true;
  const Sample sample = sampleOf(kernel);
  auto compared = std::async(std::launch::async,
                             [&] { return compare(program, sample.inputs, sample.outputs); });
  // The reference's time is not the candidate's: the watchdog is told that it goes on.
  while (compared.wait_for(std::chrono::seconds(1)) != std::future_status::ready)
    report({{"event", "start"}, {"id", id}});
  for (const Comparison &comparison : compared.get())
    if (comparison.wrong) {
      fail(id, "is wrong: " + comparison.firstWrong);
      return false;
    }
  return true;
}

void CellRun::time(int id, const Call &call) {
  double best = INFINITY;
  for (const Measured &other : measured)
    best = std::min(best, other.first.median());
  Measured mine{
      id, call, rounds.runnerOf(call, tensors->workspace(call.workspace_bytes())), {}, {}};
  const size_t count = device.isHost() ? 1 : firstRounds;
  do
    mine.first.add(rounds.measure(mine.runner));
  while (mine.first.count() < count && mine.first.median() < hopeless * best);
  report({{"event", "measured"}, {"id", id}, {"us", mine.first.median()}});
  measured.push_back(std::move(mine));
}

/// The last rounds, the finalists and a memcpy in turn. False if they were disturbed.
bool CellRun::rankAgain(std::vector<Measured *> &finalists, Times &copies) {
  const Runner memcpy = rounds.memcpyRunner();
  for (size_t round = 0; round < lastRounds(device); ++round) {
    for (Measured *finalist : finalists) {
      report({{"event", "start"}, {"id", finalist->id}});
      try {
        finalist->last.add(rounds.measure(finalist->runner));
      } catch (const Error &error) {
        throw DeviceFault{finalist->id, error.what()};
      }
    }
    copies.add(rounds.measure(memcpy));
  }
  const Times &incumbent = finalists.front()->last;
  return std::max(incumbent.spread(), copies.spread()) < mostSpread(device) &&
         std::max(incumbent.drift(), copies.drift()) < mostDrift(device);
}

void CellRun::finish() {
  std::vector<Measured *> finalists;
  for (Measured &candidate : measured)
    finalists.push_back(&candidate);
  const auto faster = [](const Measured *a, const Measured *b) {
    return a->first.median() < b->first.median();
  };
  std::sort(finalists.begin() + 1, finalists.end(), faster);
  const double best =
      (*std::min_element(finalists.begin(), finalists.end(), faster))->first.median();
  std::erase_if(finalists, [&](const Measured *candidate) {
    return candidate != &measured.front() && candidate->first.median() > finalistWithin * best;
  });
  finalists.resize(std::min(finalists.size(), mostFinalists));
  Times copies;
  if (!rankAgain(finalists, copies)) {
    std::this_thread::sleep_for(std::chrono::milliseconds(300)); // for the disturbance to pass
    for (Measured *finalist : finalists)
      finalist->last = {};
    copies = {};
    if (!rankAgain(finalists, copies)) {
      const Times &incumbent = finalists.front()->last;
      return report(
          {{"event", "refused"},
           {"why", "the device is not quiet: rounds spread by " +
                       percent(std::max(incumbent.spread(), copies.spread())) + " and drift by " +
                       percent(std::max(incumbent.drift(), copies.drift()))}});
    }
  }
  nlohmann::json runs = nlohmann::json::array();
  for (const Measured *finalist : finalists)
    runs.push_back({{"id", finalist->id},
                    {"us", finalist->last.median()},
                    {"spread", finalist->last.spread()}});
  report({{"event", "result"},
          {"bytes", tensors->traffic()},
          {"memcpy", copies.median()},
          {"runs", runs}});
}

} // namespace eider::tuning
