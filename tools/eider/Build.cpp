//===- tools/eider/Build.cpp - eider build --------------------------------===//
//
// Part of Eider, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//
#include "autotuner/Offline.h"
#include "eider/aot.h"
#include "eider/jit.h"
#include "tools/eider/ProgramSource.h"
#include "tools/eider/Text.h"
#include "tools/safetensors/WholeFile.h"

#include <algorithm>
#include <filesystem>

namespace eider::cli {

namespace {

void makeDirectory(const std::string &directory) {
  std::error_code error;
  std::filesystem::create_directories(directory, error);
  if (error)
    throw Error(ErrorKind::Request, "cannot make the directory: " + error.message(), directory);
}

/// Writes what one `eider build` asks for, and prints each path.
class Production {
public:
  explicit Production(const BuildRequest &request)
      : request(request), source(makeProgram(request.program)),
        name(request.name.empty() ? source.program.name() : request.name) {}

  void run() {
    if (!request.directory.empty())
      makeDirectory(request.directory);
    for (const std::string &arch : request.archs)
      buildFor(arch);
    if (wants("fatbin"))
      write(name + ".fatbin", fatBinary(images));
    if (wants("header")) {
      const CSources sources = cSources(name, images, source.scalars);
      write(name + ".h", sources.header);
      write(name + ".c", sources.source);
    }
  }

private:
  bool wants(const std::string &kind) const {
    return std::ranges::find(request.kinds, kind) != request.kinds.end();
  }

  /// The newest of the targets whose PTX runs on later GPUs; empty if there is none.
  std::string newestPortable() const {
    std::string newest;
    for (const std::string &target : targets())
      if (!target.ends_with('a') && std::ranges::find(request.archs, target) != request.archs.end())
        newest = target;
    return newest;
  }

  void buildFor(const std::string &arch) {
    if (arch == "host")
      throw Error(ErrorKind::Request, "'host' takes text that is compiled where it runs",
                  "--arch host", "give a GPU's target, or see it with eider emit");
    const CompileOptions options = optionsFor(request.program, source.program, arch);
    const CacheOptions cache{.enabled = request.cache, .directory = {}, .whyMiss = request.whyMiss};
    if (wants("cache"))
      fillCache(options, cache);
    if (request.directory.empty())
      return;
    const OfflineBuild built = buildOffline(source.program, options, cache);
    if (!wants("cache")) // else it is said
      report(built.tuned, arch);
    const std::string &text = built.text;
    const std::string file = name + "." + arch + ".";
    for (const std::string &kind : request.kinds) {
      if (kind == "cu")
        write(file + kind, selfContainedText(text, arch));
      else if (kind == "ptx")
        write(file + kind, textOf(assemble(text, arch, ImageKind::Ptx, cache).image));
      else if (kind == "cubin")
        write(file + kind, assemble(text, arch, ImageKind::Cubin, cache).image);
    }
    if (!wants("fatbin") && !wants("header"))
      return;
    images.push_back({built.executable, assemble(text, arch, ImageKind::Cubin, cache).image});
    if (wants("header") && arch == newestPortable())
      images.back().ptx = assemble(text, arch, ImageKind::Ptx, cache).image;
  }

  /// PTX without the 0 at its end, which a driver wants and ptxas refuses.
  static std::span<const std::byte> textOf(std::span<const std::byte> image) {
    const bool ends = !image.empty() && image.back() == std::byte{0};
    return image.first(image.size() - (ends ? 1 : 0));
  }

  /// What jit() looks for: the texts, and the machine code of each; also as PTX, which a GPU that
  /// is newer than all targets takes.
  void fillCache(const CompileOptions &options, const CacheOptions &cache) const {
    const auto compileOne = [&](const CompileOptions &one) {
      return compileCached(source.program, one, cache);
    };
    const auto tuned = tuning::tunedExecutables(source.program, options, "", cache, compileOne);
    std::vector<tuning::TunedRange> ranges;
    for (const tuning::TunedExecutable &one : tuned)
      ranges.push_back(one.first);
    report(ranges, options.target);
    for (const VariantSource &variant : sourcesOf(tuning::merge(compileOne(options), tuned)))
      for (ImageKind kind : {ImageKind::Cubin, ImageKind::Ptx})
        print(assemble(variant.source, options.target, kind, cache).directory + "\n");
  }

  void write(const std::string &file, const std::string &text) const {
    write(file, std::as_bytes(std::span(text)));
  }

  void write(const std::string &file, std::span<const std::byte> content) const {
    const std::filesystem::path path = std::filesystem::path(request.directory) / file;
    writeWholeFile(path, {&content, 1});
    print(path.string() + "\n");
  }

  const BuildRequest &request;
  const ProgramSource source;
  const std::string name;
  std::vector<TargetImage> images; ///< One an arch, where a file holds several.
};

} // namespace

int carryOut(const BuildRequest &request) {
  Production(request).run();
  return 0;
}

} // namespace eider::cli
