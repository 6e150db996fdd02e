//===- runtime/Assembler.cpp - Text to machine code, cached ---------------===//
//
// Part of Eider, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//
#include "runtime/Assembler.h"
#include "runtime/cache/Sha256.h"

#include "templates/EmbeddedTemplates.h"

#include <nlohmann/json.hpp>

#include <chrono>
#include <climits>
#include <cstring>
#include <sstream>

namespace eider {
namespace {

using Json = nlohmann::ordered_json;

constexpr const char *sourceFile = "kernel.cu";

/// How long another process may take to compile the same text before we compile it too.
constexpr std::chrono::seconds rivalsTime(10);

const char *imageFile(ImageKind kind) {
  return kind == ImageKind::Cubin ? "kernel.cubin" : "kernel.ptx";
}

std::string architectureOf(const AssemblyRequest &request) {
  return request.kind == ImageKind::Cubin ? request.target.name() : request.target.virtualName();
}

/// The first three lines of a log that report errors, on one line.
std::string firstErrors(const std::string &log) {
  std::string errors;
  std::istringstream lines(log);
  int count = 0;
  for (std::string line; count < 3 && std::getline(lines, line);)
    if (line.find("error") != std::string::npos) {
      errors += (count++ ? " | " : "") + line;
    }
  return errors.empty() ? "NVRTC gives no reason" : errors;
}

Json toJson(const EntryResources &entry) {
  return {{"name", entry.name},
          {"registers", entry.registers},
          {"spill_stores", entry.spillStores},
          {"spill_loads", entry.spillLoads},
          {"stack", entry.stack},
          {"shared", entry.shared}};
}

EntryResources entryFrom(const Json &json) {
  return {json.at("name"),        json.at("registers"), json.at("spill_stores"),
          json.at("spill_loads"), json.at("stack"),     json.at("shared")};
}

CacheEntry toEntry(const AssemblyRequest &request, const Assembly &assembly) {
  Json entries = Json::array();
  for (const EntryResources &entry : assembly.entries)
    entries.push_back(toJson(entry));
  CacheEntry entry;
  entry.files[sourceFile] = request.source;
  entry.files[imageFile(request.kind)] =
      std::string(reinterpret_cast<const char *>(assembly.image.data()), assembly.image.size());
  entry.info = Json{{"target", architectureOf(request)},
                    {"entries", entries},
                    {"launches", Json::parse(request.launches)},
                    {"log", assembly.log}}
                   .dump();
  return entry;
}

/// Nothing if the entry lacks something: that is a miss.
std::optional<Assembly> fromEntry(const AssemblyRequest &request, const CacheEntry &entry) try {
  auto image = entry.files.find(imageFile(request.kind));
  if (image == entry.files.end())
    return std::nullopt;
  const Json info = Json::parse(entry.info);
  Assembly assembly;
  assembly.image.resize(image->second.size());
  std::memcpy(assembly.image.data(), image->second.data(), image->second.size());
  assembly.log = info.at("log");
  for (const Json &resources : info.at("entries"))
    assembly.entries.push_back(entryFrom(resources));
  assembly.fromCache = true;
  return assembly;
} catch (const nlohmann::json::exception &) {
  return std::nullopt;
}

const std::vector<cuda::NamedHeader> &templateHeaders() {
  static const auto *headers = [] {
    auto *all = new std::vector<cuda::NamedHeader>;
    for (const EmbeddedTemplate &file : embeddedTemplates())
      all->push_back({file.name, file.text});
    return all;
  }();
  return *headers;
}

Assembly compile(const AssemblyRequest &request, const cuda::Nvrtc &nvrtc) {
  using Clock = std::chrono::steady_clock;
  const auto since = [](Clock::time_point start) {
    return std::chrono::duration<double, std::milli>(Clock::now() - start).count();
  };
  Assembly assembly;
  auto start = Clock::now();
  nvrtc.open();
  assembly.openMilliseconds = since(start);
  start = Clock::now();
  cuda::NvrtcOutput output = nvrtc.compile(request.source, sourceFile, architectureOf(request),
                                           cuda::nvrtcOptions(), templateHeaders());
  if (!output.compiled)
    throw Error(ErrorKind::Internal, "the text does not compile: " + firstErrors(output.log),
                "NVRTC for " + architectureOf(request), "please report it with the text");
  assembly.milliseconds = since(start);
  assembly.image = std::move(output.image);
  assembly.log = std::move(output.log);
  assembly.entries = parsePtxasLog(assembly.log);
  return assembly;
}

} // namespace

std::string textKey(const AssemblyRequest &request, const cuda::Nvrtc &nvrtc) {
  Sha256 hash;
  hash.field("eider kernel");
  hash.field(std::to_string(cacheSchema));
  hash.field(request.source);
  hash.field(templatesDigest());
  for (const std::string &option : cuda::nvrtcOptions())
    hash.field(option);
  hash.field(nvrtc.identity());
  hash.field(architectureOf(request));
  return hash.hex();
}

Assembly assembleCached(const AssemblyRequest &request, const cuda::Nvrtc &nvrtc,
                        const Cache &cache) {
  const std::string key = textKey(request, nvrtc);
  auto find = [&]() -> std::optional<Assembly> {
    std::optional<CacheEntry> entry = cache.find(Cache::Kind::Kernel, key);
    return entry ? fromEntry(request, *entry) : std::nullopt;
  };
  std::optional<Assembly> assembly = find();
  if (!assembly) {
    auto lock = cache.lock(Cache::Kind::Kernel, key, rivalsTime);
    if (lock) // a rival may have made it while we waited
      assembly = find();
    if (!assembly) {
      assembly = compile(request, nvrtc);
      cache.storeLater(Cache::Kind::Kernel, key, toEntry(request, *assembly), std::move(lock));
    }
  }
  assembly->directory = cache.pathOf(Cache::Kind::Kernel, key);
  return std::move(*assembly);
}

Assembly assemble(const std::string &source, const std::string &target, ImageKind kind,
                  const CacheOptions &cache) {
  const std::optional<cuda::Target> known = cuda::parseTarget(target);
  if (!known)
    throw Error(ErrorKind::Request, "'" + target + "' is no target", "assemble",
                "use one of " + cuda::knownTargets());
  return assembleCached({source, *known, kind}, *cuda::Nvrtc::find(INT_MAX), Cache(cache));
}

} // namespace eider
