//===- cuda/Nvrtc.cpp - NVIDIA's run-time compiler ------------------------===//
//
// Part of Eider, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//
#include "runtime/cuda/Nvrtc.h"
#include "runtime/cuda/NvrtcSearch.h"
#include "runtime/cuda/SharedLibrary.h"

#include "eider/error.h"

#include <algorithm>
#include <cstdlib>
#include <iterator>
#include <map>
#include <mutex>
#include <sstream>

namespace eider::cuda {
namespace {

using Program = struct ProgramTag *;
constexpr int ok = 0, invalidOption = 5, compilation = 6;
constexpr const char *where = "NVRTC", *optionsVariable = "EIDER_NVRTC_OPTIONS";

} // namespace

#define EIDER_NVRTC_FUNCTIONS(X)                                                                   \
  X(errorText, nvrtcGetErrorString, const char *, (int result))                                    \
  X(version, nvrtcVersion, int, (int *major, int *minor))                                          \
  X(archCount, nvrtcGetNumSupportedArchs, int, (int *count))                                       \
  X(archs, nvrtcGetSupportedArchs, int, (int *archs))                                              \
  X(create, nvrtcCreateProgram, int,                                                               \
    (Program * program, const char *source, const char *name, int headerCount,                     \
     const char *const *headerTexts, const char *const *headerNames))                              \
  X(compile, nvrtcCompileProgram, int, (Program program, int count, const char *const *options))   \
  X(logSize, nvrtcGetProgramLogSize, int, (Program program, size_t * size))                        \
  X(log, nvrtcGetProgramLog, int, (Program program, char *log))                                    \
  X(cubinSize, nvrtcGetCUBINSize, int, (Program program, size_t * size))                           \
  X(cubin, nvrtcGetCUBIN, int, (Program program, char *image))                                     \
  X(ptxSize, nvrtcGetPTXSize, int, (Program program, size_t * size))                               \
  X(ptx, nvrtcGetPTX, int, (Program program, char *image))                                         \
  X(destroy, nvrtcDestroyProgram, int, (Program * program))

struct Nvrtc::Api {
#define EIDER_MEMBER(member, symbol, result, signature) result(*member) signature;
  EIDER_NVRTC_FUNCTIONS(EIDER_MEMBER)
#undef EIDER_MEMBER
  int versionMajor = 0, versionMinor = 0;

  explicit Api(const std::string &path) {
    SharedLibrary library;
    if (!library.open(path))
      throw Error(ErrorKind::Machine, library.why(), where, "reinstall it, or set EIDER_NVRTC");
#define EIDER_RESOLVE(member, symbol, result, signature)                                           \
  if (!library.resolve(#symbol, member))                                                           \
    throw Error(ErrorKind::Machine, path + " has no " #symbol, where,                              \
                "install NVRTC 12.0 or later");
    EIDER_NVRTC_FUNCTIONS(EIDER_RESOLVE)
#undef EIDER_RESOLVE
    check(version(&versionMajor, &versionMinor), "asking for the version");
    openBuiltins(library.directoryOf("nvrtcVersion"));
  }

  /// NVRTC opens its other file by name alone, which the dynamic linker finds where that file is
  /// loaded already, even if it does not know the directory. Absent, NVRTC says so when compiling.
  void openBuiltins(const std::string &directory) const {
    SharedLibrary builtins;
    builtins.open(directory + "/libnvrtc-builtins.so." + std::to_string(versionMajor) + "." +
                  std::to_string(versionMinor));
  }

  void check(int result, const std::string &doing) const {
    if (result != ok)
      throw Error(ErrorKind::Machine, doing + ": " + errorText(result), where);
  }

  /// `sm_90a` and `compute_90a` are served where 90 is listed.
  void requireArchitecture(const std::string &architecture) const {
    int count = 0;
    check(archCount(&count), "asking for the targets");
    std::vector<int> known(count);
    check(archs(known.data()), "asking for the targets");
    const int wanted = std::stoi(architecture.substr(architecture.find('_') + 1));
    if (std::find(known.begin(), known.end(), wanted) == known.end())
      throw Error(ErrorKind::Machine,
                  "version " + std::to_string(versionMajor) + "." + std::to_string(versionMinor) +
                      " does not know the target " + architecture,
                  where, "install one of CUDA 13.0 or later");
  }
};

const Nvrtc::Api &Nvrtc::api() const {
  // By path, so that any number of Nvrtc objects share one; never destroyed.
  static auto *mutex = new std::mutex;
  static auto *opened = new std::map<std::string, std::unique_ptr<const Api>>;
  std::lock_guard lock(*mutex);
  std::unique_ptr<const Api> &entry = (*opened)[path_];
  if (!entry)
    entry = std::make_unique<const Api>(path_);
  return *entry;
}

std::shared_ptr<const Nvrtc> Nvrtc::find(int maxMajor) {
  NvrtcFile file = findNvrtcFile(maxMajor);
  return std::shared_ptr<const Nvrtc>(
      new Nvrtc(std::move(file.path), file.major, std::move(file.identity)));
}

std::vector<std::string> nvrtcOptions() {
  // Not --use_fast_math and the like: the text's arithmetic is what it says. Sources are read from
  // us alone. NVRTC's own cache would leave out the log that the registers are read from. -minimal:
  // no texture or surface built-ins to declare.
  std::vector<std::string> options = {"--std=c++20", "--fmad=false", "-no-source-include",
                                      "--no-cache",  "-minimal",     "--ptxas-options=-v"};
  if (const char *more = std::getenv(optionsVariable)) {
    std::istringstream words(more);
    options.insert(options.end(), std::istream_iterator<std::string>(words), {});
  }
  return options;
}

NvrtcOutput Nvrtc::compile(const std::string &source, const std::string &fileName,
                           const std::string &architecture, const std::vector<std::string> &options,
                           const std::vector<NamedHeader> &headers) const {
  const Api &nvrtc = api();
  nvrtc.requireArchitecture(architecture);
  std::vector<const char *> texts, names, arguments;
  for (const NamedHeader &header : headers) {
    texts.push_back(header.text);
    names.push_back(header.name);
  }
  const std::string target = "--gpu-architecture=" + architecture;
  arguments.push_back(target.c_str());
  for (const std::string &option : options)
    arguments.push_back(option.c_str());

  Program program = nullptr;
  nvrtc.check(nvrtc.create(&program, source.c_str(), fileName.c_str(),
                           static_cast<int>(names.size()), texts.data(), names.data()),
              "making a program");
  struct Destroy {
    const Api &nvrtc;
    Program &program;
    ~Destroy() { nvrtc.destroy(&program); }
  } destroy{nvrtc, program};

  NvrtcOutput output;
  const int result = nvrtc.compile(program, static_cast<int>(arguments.size()), arguments.data());
  size_t size = 0;
  nvrtc.check(nvrtc.logSize(program, &size), "reading the log");
  output.log.resize(size);
  nvrtc.check(nvrtc.log(program, output.log.data()), "reading the log");
  output.log.resize(std::max<size_t>(size, 1) - 1); // without the closing zero
  if (result == invalidOption)
    throw Error(ErrorKind::Request, output.log.substr(0, output.log.find('\n')), where,
                std::string("correct ") + optionsVariable + " or unset it");
  if (result == compilation)
    return output;
  if (result != ok)
    throw Error(ErrorKind::Machine,
                std::string("compiling: ") + nvrtc.errorText(result) + ": " +
                    output.log.substr(0, output.log.find('\n')),
                where, "reinstall it, or set EIDER_NVRTC to another");
  const bool ptx = architecture.starts_with("compute_");
  nvrtc.check(ptx ? nvrtc.ptxSize(program, &size) : nvrtc.cubinSize(program, &size), "compiling");
  output.image.resize(size);
  char *image = reinterpret_cast<char *>(output.image.data());
  nvrtc.check(ptx ? nvrtc.ptx(program, image) : nvrtc.cubin(program, image), "compiling");
  output.compiled = true;
  return output;
}

} // namespace eider::cuda
