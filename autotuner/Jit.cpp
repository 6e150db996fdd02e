//===- autotuner/Jit.cpp - Program to kernel ------------------------------===//
//
// Part of Eider, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//
#include "eider/jit.h"

#include "autotuner/BuildId.h"
#include "runtime/SingleFlight.h"
#include "runtime/cache/Cache.h"
#include "runtime/cache/Sha256.h"

#include <chrono>

namespace eider {
namespace {

constexpr const char *contractFile = "contract.json";

/// The request key: what compile() depends on, and which compiler it is.
std::string requestKey(const Program &program, const CompileOptions &options,
                       const std::string &buildId) {
  Sha256 hash;
  hash.field("eider request");
  hash.field(std::to_string(cacheSchema));
  hash.field(buildId);
  hash.field(program.text());
  hash.field(options.target);
  hash.field(options.codec);
  hash.field(options.schedule);
  for (const auto &[name, value] : options.dims) {
    hash.field(name);
    hash.field(std::to_string(value));
  }
  return hash.hex();
}

struct Made {
  Executable executable;
  bool fromCache = false;
};

Made findOrCompile(const Program &program, const CompileOptions &options, const Cache &cache,
                   const std::string &key) {
  if (std::optional<CacheEntry> entry = cache.find(Cache::Kind::Request, key))
    if (auto contract = entry->files.find(contractFile); contract != entry->files.end())
      return {{program.name(), contract->second}, true};
  Made made{compile(program, options), false};
  CacheEntry entry;
  entry.files[contractFile] = made.executable.contract;
  cache.storeLater(Cache::Kind::Request, key, std::move(entry));
  return made;
}

} // namespace

Executable compileCached(const Program &program, const CompileOptions &options,
                         const CacheOptions &cacheOptions, CompileReport *report) {
  using Clock = std::chrono::steady_clock;
  const auto start = Clock::now();
  // Never destroyed: threads may compile while the process exits.
  static auto *made = new SingleFlight<Made>;
  static const std::string buildId = buildIdAt(reinterpret_cast<const void *>(&compile));
  // Without a build id nothing would tell another compiler's texts from ours.
  CacheOptions usable = cacheOptions;
  usable.enabled &= !buildId.empty();
  const Cache cache(usable);
  const std::string key = requestKey(program, options, buildId);
  bool mine = false;
  auto result = made->get(cache.pathOf(Cache::Kind::Request, key) + " " + key, [&] {
    mine = true;
    return std::make_shared<const Made>(findOrCompile(program, options, cache, key));
  });
  if (report)
    *report = {!mine || result->fromCache,
               std::chrono::duration<double, std::milli>(Clock::now() - start).count()};
  return result->executable;
}

Kernel jit(const Program &program, const Device &device, const Dims &dims,
           const JitOptions &options) {
  CompileOptions compileOptions;
  compileOptions.target = device.target();
  compileOptions.codec = options.codec;
  compileOptions.schedule = options.schedule;
  compileOptions.dims = dims;
  return device.load(compileCached(program, compileOptions, device.cacheOptions(), options.report));
}

} // namespace eider
