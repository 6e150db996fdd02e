//===- measure/Compiler.cpp - Candidates compiled beside measuring --------===//
//
// Part of Eider, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//
#include "autotuner/measure/Compiler.h"

#include "eider/jit.h"
#include "runtime/cache/Sha256.h"
#include "runtime/contract/Contract.h"
#include "runtime/contract/Expression.h"

#include <algorithm>
#include <cstdlib>

namespace eider::tuning {

namespace {

/// Threads that compile: those of the machine, shared by its workers.
size_t threadCount(size_t candidates) {
  size_t threads = std::max(1u, std::thread::hardware_concurrency());
  if (const char *workers = std::getenv("EIDER_WORKERS"))
    threads /= std::max<size_t>(1, std::strtoul(workers, nullptr, 10));
  return std::clamp<size_t>(threads, 1, candidates);
}

std::string spillsOf(const Assembly &assembly) {
  for (const EntryResources &entry : assembly.entries)
    if (entry.spillStores + entry.spillLoads > 0)
      return "spills " + std::to_string(entry.spillStores) + " bytes of registers a thread";
  return "";
}

/// The grids of the first variant's launches: schedules may differ in nothing else.
std::string gridsOf(const Executable &executable, const Dims &dims) {
  const contract::Contract contract = contract::read(executable.contract);
  std::vector<std::string> names;
  std::vector<int64_t> values;
  for (const auto &[name, value] : dims) {
    names.push_back(name);
    values.push_back(value);
  }
  std::string grids;
  for (const contract::Launch &launch : contract.variants.front().launches)
    grids += " " + std::to_string(contract::Expression::parse(launch.grid, names).evaluate(values));
  return grids;
}

} // namespace

CandidateCompiler::CandidateCompiler(const Program &program, const Device &device,
                                     const CellRequest &request)
    : program(program), device(device), request(request) {
  for (size_t i = threadCount(request.candidates.size()); i > 0; --i)
    threads.emplace_back([this] { work(); });
}

CandidateCompiler::~CandidateCompiler() {
  {
    std::lock_guard lock(mutex);
    stopping = true;
  }
  for (std::thread &thread : threads)
    thread.join();
}

CompiledCandidate CandidateCompiler::compileOne(const CandidateRequest &candidate) const {
  CompiledCandidate result;
  result.id = candidate.id;
  result.schedule = candidate.schedule;
  try {
    CompileOptions options;
    options.target = device.target();
    options.codec = request.codec;
    options.schedule = candidate.schedule;
    for (const std::string &name : request.fixed)
      options.dims[name] = request.dims.at(name);
    result.executable = candidate.contract.empty()
                            ? compileCached(program, options, device.cacheOptions())
                            : Executable{program.name(), candidate.contract};
    if (device.isHost()) {
      device.load(result.executable).prepare(request.dims);
      return result;
    }
    const Assembly assembly = assemble(sourcesOf(result.executable).front().source, options.target,
                                       ImageKind::Cubin, device.cacheOptions());
    result.launched =
        sha256({reinterpret_cast<const char *>(assembly.image.data()), assembly.image.size()}) +
        gridsOf(result.executable, request.dims);
    if (!candidate.asked)
      result.drop = spillsOf(assembly);
  } catch (const Error &error) {
    result.failure = error.what();
  }
  return result;
}

void CandidateCompiler::work() {
  while (true) {
    size_t mine;
    {
      std::lock_guard lock(mutex);
      if (stopping || begun == request.candidates.size())
        return;
      mine = begun++;
    }
    CompiledCandidate result = compileOne(request.candidates[mine]);
    std::lock_guard lock(mutex);
    if (mine == 0)
      done.push_front(std::move(result));
    else
      done.push_back(std::move(result));
    changed.notify_all();
  }
}

std::optional<CompiledCandidate>
CandidateCompiler::next(std::chrono::steady_clock::time_point until) {
  std::unique_lock lock(mutex);
  if (given == request.candidates.size())
    return std::nullopt;
  const int first = request.candidates.front().id;
  const auto ready = [&] { return !done.empty() && (incumbentGiven || done.front().id == first); };
  if (!incumbentGiven)
    changed.wait(lock, ready); // without the incumbent there is nothing to compare with
  else if (!changed.wait_until(lock, until, ready))
    return std::nullopt;
  incumbentGiven = true;
  ++given;
  CompiledCandidate result = std::move(done.front());
  done.pop_front();
  return result;
}

} // namespace eider::tuning
