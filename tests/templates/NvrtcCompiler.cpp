//===- NvrtcCompiler.cpp - Texts over the templates, by NVRTC -------------===//
//
// Part of Eider, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//
#include "NvrtcCompiler.h"

#include <chrono>
#include <cstdlib>
#include <dlfcn.h>
#include <type_traits>

namespace eider::testing {

/// Results are nvrtcResult, 0 for success; a program is a pointer.
struct NvrtcCompiler::Functions {
  int (*version)(int *, int *);
  int (*create)(void **, const char *, const char *, int, const char *const *, const char *const *);
  int (*destroy)(void **);
  int (*compile)(void *, int, const char *const *);
  int (*logSize)(void *, size_t *);
  int (*log)(void *, char *);
  int (*cubinSize)(void *, size_t *);
  int (*cubin)(void *, char *);
  int (*archCount)(int *);
  int (*archs)(int *);

  bool load(void *library) {
    const auto find = [&](auto &function, const char *name) {
      function =
          reinterpret_cast<std::remove_reference_t<decltype(function)>>(dlsym(library, name));
      return function != nullptr;
    };
    return find(version, "nvrtcVersion") && find(create, "nvrtcCreateProgram") &&
           find(destroy, "nvrtcDestroyProgram") && find(compile, "nvrtcCompileProgram") &&
           find(logSize, "nvrtcGetProgramLogSize") && find(log, "nvrtcGetProgramLog") &&
           find(cubinSize, "nvrtcGetCUBINSize") && find(cubin, "nvrtcGetCUBIN") &&
           find(archCount, "nvrtcGetNumSupportedArchs") && find(archs, "nvrtcGetSupportedArchs");
  }
};

std::shared_ptr<const NvrtcCompiler> NvrtcCompiler::open(std::string &error) {
  std::vector<std::string> places;
  if (const char *home = std::getenv("CUDA_HOME"))
    places.push_back(std::string(home) + "/lib64/");
  places.insert(places.end(), {"/usr/local/cuda/lib64/", ""});
  void *library = nullptr;
  for (const std::string &place : places)
    for (const char *name : {"libnvrtc.so.13", "libnvrtc.so.12"})
      if (!library)
        library = dlopen((place + name).c_str(), RTLD_NOW);
  auto functions = std::make_shared<Functions>();
  if (!library || !functions->load(library)) {
    error = "there is no NVRTC (libnvrtc.so.13): install the CUDA toolkit or set CUDA_HOME";
    return nullptr;
  }
  // NVRTC opens its builtins by name alone, wherever the dynamic linker looks or has opened one.
  int major = 0, minor = 0;
  functions->version(&major, &minor);
  for (const std::string &place : places)
    dlopen((place + "libnvrtc-builtins.so." + std::to_string(major) + "." + std::to_string(minor))
               .c_str(),
           RTLD_NOW);
  auto compiler = std::make_shared<NvrtcCompiler>();
  compiler->functions = functions;
  return compiler;
}

std::vector<std::string> NvrtcCompiler::targets() const {
  int count = 0;
  if (functions->archCount(&count))
    return {};
  std::vector<int> archs(static_cast<size_t>(count));
  if (functions->archs(archs.data()))
    return {};
  std::vector<std::string> names;
  for (int arch : archs) {
    if (arch < 75)
      continue;
    names.push_back("sm_" + std::to_string(arch));
    if (arch >= 90)
      names.push_back(names.back() + "a");
  }
  return names;
}

NvrtcCompiler::Result NvrtcCompiler::compile(const std::string &source, const std::string &target,
                                             std::span<const EmbeddedTemplate> headers) const {
  std::vector<const char *> names, texts;
  const auto add = [&](std::span<const EmbeddedTemplate> more) {
    for (const EmbeddedTemplate &text : more) {
      names.push_back(text.name);
      texts.push_back(text.text);
    }
  };
  add(embeddedTemplates());
  add(headers);
  const std::string architecture = "--gpu-architecture=" + target;
  const char *options[] = {"--std=c++20", "--fmad=false",       "-no-source-include",
                           "--no-cache",  "--ptxas-options=-v", architecture.c_str()};

  void *program = nullptr;
  if (functions->create(&program, source.c_str(), "kernel.cu", static_cast<int>(names.size()),
                        texts.data(), names.data()))
    return {{}, "nvrtcCreateProgram failed", 0};
  const auto begin = std::chrono::steady_clock::now();
  const int failure = functions->compile(program, std::size(options), options);
  const std::chrono::duration<double, std::milli> time = std::chrono::steady_clock::now() - begin;

  Result result{{}, {}, time.count()};
  size_t size = 0;
  if (!functions->logSize(program, &size)) {
    result.log.resize(size);
    functions->log(program, result.log.data());
  }
  if (!failure && !functions->cubinSize(program, &size)) {
    result.cubin.resize(size);
    functions->cubin(program, result.cubin.data());
  }
  functions->destroy(&program);
  return result;
}

} // namespace eider::testing
