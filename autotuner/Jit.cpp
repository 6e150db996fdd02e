//===- autotuner/Jit.cpp - Program to kernel ------------------------------===//
//
// Part of Eider, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//
#include "eider/jit.h"

#include "autotuner/BuildCommand.h"
#include "autotuner/BuildId.h"
#include "autotuner/Lookup.h"
#include "runtime/Assembler.h"
#include "runtime/SingleFlight.h"
#include "runtime/cache/Cache.h"
#include "runtime/cache/Settings.h"
#include "runtime/cache/Sha256.h"
#include "runtime/cache/WhyMiss.h"

#include <chrono>

namespace eider {
namespace {

constexpr const char *contractFile = "contract.json", *programFile = "program.mlir";

/// How long another process may take to compile the same request before we compile it too.
constexpr std::chrono::seconds rivalsTime(10);

/// What the request key is made of: all that compile() depends on, and which compiler it is.
KeyFields requestFields(const Program &program, const CompileOptions &options,
                        const std::string &buildId) {
  KeyFields fields = {{"compiler", buildId},
                      {"program", sha256(program.text())},
                      {"target", options.target},
                      {"codec", options.codec},
                      {"schedule", options.schedule}};
  for (const auto &[name, value] : options.dims)
    fields["dim " + name] = std::to_string(value);
  return fields;
}

struct Made {
  Executable executable;
  bool fromCache = false;
};

/// A compile that the cache may save.
struct Work {
  const Program &program;
  const CompileOptions &options;
  KeyFields fields;
  std::string key;
  std::string build;      ///< buildCommand()
  bool mayCompile = true; ///< Else a miss is a MissError.
};

std::optional<Made> findIn(const Cache &cache, const Work &work) {
  if (std::optional<CacheEntry> entry = cache.find(EntryKind::Request, work.key))
    if (auto contract = entry->files.find(contractFile); contract != entry->files.end())
      return Made{{work.program.name(), contract->second}, true};
  return std::nullopt;
}

Made findOrCompile(const Cache &cache, const Work &work) {
  if (std::optional<Made> made = findIn(cache, work))
    return std::move(*made);
  if (cache.explainsMisses())
    explainMiss(cache, EntryKind::Request, work.fields,
                {{"program", {programFile, work.program.text()}}});
  if (!work.mayCompile)
    throw MissError(work.program.name() + " for " + work.options.target, work.build);
  auto lock = cache.lock(EntryKind::Request, work.key, rivalsTime);
  if (lock) // a rival may have made it while we waited
    if (std::optional<Made> made = findIn(cache, work))
      return std::move(*made);
  Made made{compile(work.program, work.options), false};
  CacheEntry entry;
  entry.fields = work.fields;
  entry.files[contractFile] = made.executable.contract;
  entry.files[programFile] = work.program.text();
  cache.storeLater(EntryKind::Request, work.key, std::move(entry), std::move(lock));
  return made;
}

Executable compileOnce(const Program &program, const CompileOptions &options,
                       const CacheOptions &cacheOptions, const std::string &build, bool mayCompile,
                       CompileReport *report) {
  using Clock = std::chrono::steady_clock;
  const auto start = Clock::now();
  // Never destroyed: threads may compile while the process exits.
  static auto *made = new SingleFlight<Made>;
  static const std::string buildId = buildIdAt(reinterpret_cast<const void *>(&compile));
  // Without a build id nothing would tell another compiler's texts from ours.
  CacheOptions usable = cacheOptions;
  usable.enabled &= !buildId.empty();
  const Cache cache(usable);
  Work work{program, options, requestFields(program, options, buildId), "", build, mayCompile};
  work.key = keyOf(EntryKind::Request, work.fields);
  bool mine = false;
  auto result = made->get(cache.pathOf(EntryKind::Request, work.key) + " " + work.key, [&] {
    mine = true;
    return std::make_shared<const Made>(findOrCompile(cache, work));
  });
  if (report)
    *report = {!mine || result->fromCache,
               std::chrono::duration<double, std::milli>(Clock::now() - start).count()};
  Executable executable = result->executable;
  executable.build = build;
  return executable;
}

} // namespace

Executable compileCached(const Program &program, const CompileOptions &options,
                         const CacheOptions &cacheOptions, CompileReport *report) {
  return compileOnce(program, options, cacheOptions, buildCommand(program, options, ""), true,
                     report);
}

Kernel jit(const Program &program, const Device &device, const Dims &dims,
           const JitOptions &options) {
  CompileOptions compileOptions;
  compileOptions.target = device.target();
  compileOptions.codec = options.codec;
  compileOptions.schedule = options.schedule;
  compileOptions.dims = dims;
  // The simulator compiles whatever it runs: nothing of it is kept.
  const bool mayCompile = device.isHost() || settings::mayCompile();
  const auto compileOne = [&](const CompileOptions &one, CompileReport *report) {
    return compileOnce(program, one, device.cacheOptions(),
                       buildCommand(program, one, options.source), mayCompile, report);
  };
  Executable executable = compileOne(compileOptions, options.report);
  const auto tuned = tuning::tunedExecutables(
      program, compileOptions, tuning::identityOf(device.info()), device.cacheOptions(),
      [&](const CompileOptions &one) { return compileOne(one, nullptr); });
  if (!tuned.empty())
    executable = tuning::merge(executable, tuned);
  return device.load(executable);
}

} // namespace eider
