//===- runtime/Assembler.cpp - Text to machine code, cached ---------------===//
//
// Part of Eider, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//
#include "runtime/Assembler.h"
#include "runtime/cache/Json.h"
#include "runtime/cache/Sha256.h"
#include "runtime/cache/WhyMiss.h"

#include "templates/EmbeddedTemplates.h"

#include <chrono>
#include <climits>
#include <cstring>
#include <sstream>

namespace eider {
namespace {

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

KeyFields keyFields(const AssemblyRequest &request, const std::string &nvrtc) {
  KeyFields fields = {{"source", sha256(request.source)},
                      {"templates", templatesDigest()},
                      {"nvrtc", nvrtc},
                      {"target", architectureOf(request)}};
  for (const std::string &option : cuda::nvrtcOptions())
    fields["options"] += (fields["options"].empty() ? "" : " ") + option;
  return fields;
}

CacheEntry toEntry(const AssemblyRequest &request, const Assembly &assembly) {
  Json entries = Json::array();
  for (const EntryResources &entry : assembly.entries)
    entries.push_back(toJson(entry));
  CacheEntry entry;
  entry.files[sourceFile] = request.source;
  entry.files[imageFile(request.kind)] =
      std::string(reinterpret_cast<const char *>(assembly.image.data()), assembly.image.size());
  entry.info = textOf(Json{{"target", architectureOf(request)},
                           {"entries", entries},
                           {"launches", Json::parse(request.launches)},
                           {"log", assembly.log}});
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
  assembly.directory = entry.path;
  return assembly;
} catch (const JsonError &) {
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

std::string textKey(const AssemblyRequest &request, const std::string &nvrtcIdentity) {
  return keyOf(EntryKind::Kernel, keyFields(request, nvrtcIdentity));
}

Assembly assembleCached(const AssemblyRequest &request, const cuda::Nvrtc &nvrtc,
                        const Cache &cache) {
  const KeyFields fields = keyFields(request, nvrtc.identity());
  const std::string key = keyOf(EntryKind::Kernel, fields);
  auto find = [&]() -> std::optional<Assembly> {
    std::optional<CacheEntry> entry = cache.find(EntryKind::Kernel, key);
    return entry ? fromEntry(request, *entry) : std::nullopt;
  };
  if (std::optional<Assembly> assembly = find())
    return std::move(*assembly);
  if (cache.explainsMisses())
    explainMiss(cache, EntryKind::Kernel, fields, {{"source", {sourceFile, request.source}}});
  if (!request.mayCompile) {
    if (std::optional<Assembly> assembly = findOfAnyNvrtc(request, cache))
      return std::move(*assembly);
    const bool isFirst = cuda::Nvrtc::find(INT_MAX)->path() == nvrtc.path();
    throw MissError("the kernel for " + architectureOf(request),
                    "fill the cache by eider build … --emit cache", isFirst ? "" : nvrtc.path());
  }
  auto lock = cache.lock(EntryKind::Kernel, key, rivalsTime);
  if (lock) // a rival may have made it while we waited
    if (std::optional<Assembly> assembly = find())
      return std::move(*assembly);
  Assembly assembly = compile(request, nvrtc);
  CacheEntry entry = toEntry(request, assembly);
  entry.fields = fields;
  cache.storeLater(EntryKind::Kernel, key, std::move(entry), std::move(lock));
  assembly.directory = cache.pathOf(EntryKind::Kernel, key);
  return assembly;
}

std::optional<Assembly> findOfAnyNvrtc(const AssemblyRequest &request, const Cache &cache) {
  for (const std::string &key : keysLike(cache, EntryKind::Kernel, keyFields(request, ""), "nvrtc"))
    if (std::optional<CacheEntry> entry = cache.find(EntryKind::Kernel, key))
      if (std::optional<Assembly> assembly = fromEntry(request, *entry))
        return assembly;
  return std::nullopt;
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
