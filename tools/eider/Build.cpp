//===- tools/eider/Build.cpp - eider build --------------------------------===//
//
// Part of Eider, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//
#include "tools/eider/ProgramSource.h"
#include "tools/eider/Text.h"
#include "tools/safetensors/WholeFile.h"

#include <filesystem>

namespace eider::cli {

namespace {

void makeDirectory(const std::string &directory) {
  std::error_code error;
  std::filesystem::create_directories(directory, error);
  if (error)
    throw Error(ErrorKind::Request, "cannot make the directory: " + error.message(), directory);
}

/// One kind of file for one target.
std::vector<std::byte> make(const std::string &kind, const std::string &text,
                            const std::string &arch, const CacheOptions &cache) {
  if (kind == "cu") {
    auto bytes = std::as_bytes(std::span(text));
    return {bytes.begin(), bytes.end()};
  }
  return assemble(text, arch, kind == "ptx" ? ImageKind::Ptx : ImageKind::Cubin, cache).image;
}

} // namespace

int carryOut(const BuildRequest &request) {
  ProgramSource source = makeProgram(request.program);
  makeDirectory(request.directory);
  const CacheOptions cache{.enabled = request.cache, .directory = {}};
  for (const std::string &arch : request.archs) {
    CompileOptions options = optionsFor(request.program, source.program, arch);
    const std::string text = emit(source.program, options, Stage::Cuda);
    for (const std::string &kind : request.kinds) {
      std::filesystem::path path = std::filesystem::path(request.directory) /
                                   (source.program.name() + "." + arch + "." + kind);
      const std::vector<std::byte> content = make(kind, text, arch, cache);
      const std::span<const std::byte> part = content;
      writeWholeFile(path, {&part, 1});
      print(path.string() + "\n");
    }
  }
  return 0;
}

} // namespace eider::cli
