//===- runtime/HostBackend.cpp - The simulator as a device ----------------===//
//
// Part of Eider, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//
#include "runtime/Backend.h"
#include "runtime/SingleFlight.h"
#include "runtime/cache/Sha256.h"
#include "runtime/host/HostModule.h"
#include "runtime/host/Simulator.h"

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <thread>

namespace eider {
namespace {

using Clock = std::chrono::steady_clock;

double millisecondsSince(Clock::time_point start) {
  return std::chrono::duration<double, std::milli>(Clock::now() - start).count();
}

/// Runs launches at once, on the calling thread's time; streams mean nothing here.
class HostBackend final : public Backend {
public:
  explicit HostBackend(const DeviceOptions &options)
      : Backend(options), simulation{options.seed, options.threads} {
    info_ = hostInfo();
  }

  void requireTarget(const std::string &target) const override {
    if (target != "host")
      throw Error(ErrorKind::Request, "made for '" + target + "'", "host", "compile for 'host'");
  }

  std::shared_ptr<const LoadedText> load(const contract::Variant &variant,
                                         const std::string &) const override;

  void launch(void *function, const LaunchGeometry &geometry, void **parameters,
              Stream) const override {
    host::launch(reinterpret_cast<EiderHostKernel>(function),
                 {geometry.grid, geometry.block,
                  geometry.cooperative ? static_cast<unsigned>(geometry.grid) : geometry.cluster,
                  geometry.shared},
                 parameters, simulation);
  }

  int64_t blocksAtOnce(const contract::Launch &launch) const override {
    return host::maxFibers / launch.block;
  }

  bool isCapturing(Stream) const override { return false; }

  void *allocate(size_t bytes) const override {
    constexpr size_t alignment = 256;
    const size_t rounded = (std::max<size_t>(bytes, 1) + alignment - 1) / alignment * alignment;
    void *pointer = rounded < bytes ? nullptr : std::aligned_alloc(alignment, rounded);
    if (!pointer)
      throw Error(ErrorKind::Machine, "no memory for " + std::to_string(bytes) + " bytes", "host");
    return pointer;
  }
  void free(void *pointer) const override { std::free(pointer); }
  void upload(void *to, const void *from, size_t bytes) const override {
    std::memcpy(to, from, bytes);
  }
  void download(void *to, const void *from, size_t bytes) const override {
    std::memcpy(to, from, bytes);
  }
  void fill(void *to, int byte, size_t bytes) const override { std::memset(to, byte, bytes); }
  void copy(void *to, const void *from, size_t bytes, Stream) const override {
    std::memmove(to, from, bytes);
  }
  void synchronize() const override {}

  double microseconds(Stream, const std::function<void()> &enqueue) const override {
    const auto start = Clock::now();
    enqueue();
    return 1000 * millisecondsSince(start);
  }

private:
  host::SimulatorOptions simulation;
};

std::shared_ptr<const LoadedText> HostBackend::load(const contract::Variant &variant,
                                                    const std::string &) const {
  // One a process; never destroyed, so that threads may still launch while it exits.
  static auto *loaded = new SingleFlight<LoadedText>;
  std::vector<std::string> entries;
  Sha256 key;
  key.field(variant.source);
  for (const contract::Launch &launch : variant.launches) {
    entries.push_back(launch.entry);
    key.field(launch.entry);
  }
  return loaded->get(key.hex(), [&] {
    const auto start = Clock::now();
    std::shared_ptr<const host::HostModule> module =
        host::HostModule::compile(variant.source, entries);
    auto text = std::make_shared<LoadedText>();
    for (const std::string &entry : entries)
      text->functions.push_back(reinterpret_cast<void *>(module->kernel(entry)));
    text->owner = module;
    text->compileMilliseconds = millisecondsSince(start);
    return text;
  });
}

std::string processorName() {
  std::ifstream file("/proc/cpuinfo");
  for (std::string line; std::getline(file, line);)
    if (line.starts_with("model name"))
      return line.substr(std::min(line.size(), line.find(": ") + 2));
  return "processor";
}

} // namespace

DeviceInfo hostInfo() {
  DeviceInfo info;
  info.id = info.target = "host";
  info.clusters = true;
  info.name = processorName();
  info.multiprocessors = static_cast<int>(std::max(1u, std::thread::hardware_concurrency()));
  return info;
}

std::shared_ptr<const Backend> openHost(const DeviceOptions &options) {
  return std::make_shared<HostBackend>(options);
}

} // namespace eider
