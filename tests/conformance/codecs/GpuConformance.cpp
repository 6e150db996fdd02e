//===- GpuConformance.cpp - Every check, on the first GPU -----------------===//
//
// Part of Eider, under the Apache License v2.0.
//
// Stands alone but for the texts it compiles: it is what one runs on a new kind of GPU first.
//
//===----------------------------------------------------------------------===//
#include "NvrtcCompiler.h"
#include "Outcome.h"

#include <chrono>
#include <cstring>
#include <dlfcn.h>
#include <string>
#include <vector>

namespace eider {
std::span<const EmbeddedTemplate> conformanceTexts();
}

namespace {

using namespace eider::conformance;
using eider::testing::NvrtcCompiler;

constexpr int Skipped = 77; // what ctest takes for "this machine cannot run it"

struct Check {
  const char *name;
  int bits;
  uint32_t bound;
  int capability; ///< The least that has the instructions: major · 10 + minor; 0 without any.
};

constexpr Check checks[] = {
#define CHECK(name, bits, bound, function) {#name, bits, bound, 0},
#define HARDWARE_CHECK(name, bits, bound, function) {#name, bits, bound, 89},
#define FP4_CHECK(name, bits, bound, function) {#name, bits, bound, 100},
#include "checks.def"
};

/// The driver's functions that are used here; results are CUresult, 0 for success.
struct Driver {
  int (*init)(unsigned);
  int (*getCount)(int *);
  int (*getDevice)(int *, int);
  int (*getName)(char *, int, int);
  int (*getAttribute)(int *, int attribute, int device);
  int (*retainContext)(void **, int);
  int (*setContext)(void *);
  int (*loadModule)(void **, const void *);
  int (*getFunction)(void **, void *, const char *);
  int (*allocate)(uint64_t *, size_t);
  int (*upload)(uint64_t, const void *, size_t);
  int (*download)(void *, uint64_t, size_t);
  int (*launch)(void *, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned,
                void *, void **, void **);

  /// Null where a function is missing.
  static const Driver *open() {
    static Driver driver;
    void *library = dlopen("libcuda.so.1", RTLD_NOW);
    if (!library)
      return nullptr;
    const auto find = [&](auto &function, const char *name) {
      function =
          reinterpret_cast<std::remove_reference_t<decltype(function)>>(dlsym(library, name));
      return function != nullptr;
    };
    const bool complete =
        find(driver.init, "cuInit") && find(driver.getCount, "cuDeviceGetCount") &&
        find(driver.getDevice, "cuDeviceGet") && find(driver.getName, "cuDeviceGetName") &&
        find(driver.getAttribute, "cuDeviceGetAttribute") &&
        find(driver.retainContext, "cuDevicePrimaryCtxRetain") &&
        find(driver.setContext, "cuCtxSetCurrent") && find(driver.loadModule, "cuModuleLoadData") &&
        find(driver.getFunction, "cuModuleGetFunction") && find(driver.allocate, "cuMemAlloc_v2") &&
        find(driver.upload, "cuMemcpyHtoD_v2") && find(driver.download, "cuMemcpyDtoH_v2") &&
        find(driver.launch, "cuLaunchKernel");
    return complete ? &driver : nullptr;
  }
};

int skip(const char *reason) {
  std::fprintf(stderr, "gpu-conformance: skipped: %s\n", reason);
  return Skipped;
}

/// Runs one check over its whole domain; gives a CUresult.
int run(const Driver &cuda, void *module, const Check &check, uint64_t memory, Outcome &outcome) {
  void *function = nullptr;
  if (int error = cuda.getFunction(&function, module, check.name))
    return error;
  if (int error = cuda.upload(memory, &outcome, sizeof outcome))
    return error;
  long long count = 1ll << check.bits;
  void *parameters[] = {&count, &memory};
  if (int error = cuda.launch(function, 4096, 1, 1, 256, 1, 1, 0, nullptr, parameters, nullptr))
    return error;
  return cuda.download(&outcome, memory, sizeof outcome); // waits for the kernel
}

int runAll(const Driver &cuda, void *module, int capability, const char *part) {
  uint64_t memory = 0;
  if (int error = cuda.allocate(&memory, sizeof(Outcome))) {
    std::fprintf(stderr, "gpu-conformance: no memory on the device: CUDA error %d\n", error);
    return 1;
  }
  int done = 0, failed = 0;
  for (const Check &check : checks) {
    if (check.capability > capability || (part && !std::strstr(check.name, part)))
      continue;
    const auto begin = std::chrono::steady_clock::now();
    Outcome outcome;
    if (int error = run(cuda, module, check, memory, outcome)) {
      std::fprintf(stderr, "gpu-conformance: %s: CUDA error %d\n", check.name, error);
      return 1;
    }
    const std::chrono::duration<double> seconds = std::chrono::steady_clock::now() - begin;
    ++done;
    failed += !report(check.name, static_cast<double>(1ull << check.bits), check.bound, outcome,
                      seconds.count());
  }
  std::printf("%d checks, %d failed\n", done, failed);
  return done == 0 || failed > 0;
}

} // namespace

/// The kernels as a cubin for `target`; empty after a message.
static std::vector<char> compile(const NvrtcCompiler &nvrtc, const std::string &target) {
  std::vector<eider::EmbeddedTemplate> headers;
  std::string source;
  for (const auto &text : eider::conformanceTexts())
    if (std::string(text.name) == "kernels.cu")
      source = text.text;
    else
      headers.push_back(text);
  const auto compiled = nvrtc.compile(source, target, headers);
  if (compiled.cubin.empty())
    std::fprintf(stderr, "gpu-conformance: the kernels do not compile:\n%s\n",
                 compiled.log.c_str());
  return compiled.cubin;
}

/// `--compile TARGET`: no more than that, which needs no GPU.
static int compileAlone(const std::string &target) {
  std::string error;
  const auto nvrtc = NvrtcCompiler::open(error);
  return !nvrtc ? skip(error.c_str()) : compile(*nvrtc, target).empty();
}

/// `gpu-conformance [PART-OF-A-NAME]`, `gpu-conformance --compile TARGET`: exit status 0 all right,
/// 1 a check failed, 77 no GPU or no NVRTC.
int main(int argc, char **argv) {
  if (argc == 3 && std::string(argv[1]) == "--compile")
    return compileAlone(argv[2]);
  const Driver *cuda = Driver::open();
  if (!cuda)
    return skip("there is no CUDA driver (libcuda.so.1)");
  int count = 0;
  if (cuda->init(0) || cuda->getCount(&count) || count == 0)
    return skip("the driver finds no GPU");
  std::string error;
  const auto nvrtc = NvrtcCompiler::open(error);
  if (!nvrtc)
    return skip(error.c_str());

  constexpr int MajorAttribute = 75, MinorAttribute = 76;
  int device = 0, major = 0, minor = 0;
  char name[256] = "";
  void *context = nullptr;
  if (cuda->getDevice(&device, 0) || cuda->getName(name, sizeof name, device) ||
      cuda->getAttribute(&major, MajorAttribute, device) ||
      cuda->getAttribute(&minor, MinorAttribute, device) || cuda->retainContext(&context, device) ||
      cuda->setContext(context))
    return skip("the first GPU cannot be opened");
  // Only the `a` targets have the instructions of FP4.
  const std::string target =
      "sm_" + std::to_string(major) + std::to_string(minor) + (major >= 10 ? "a" : "");
  std::printf("%s, %s\n", name, target.c_str());

  const std::vector<char> cubin = compile(*nvrtc, target);
  if (cubin.empty())
    return 1;
  void *module = nullptr;
  if (int failure = cuda->loadModule(&module, cubin.data())) {
    std::fprintf(stderr, "gpu-conformance: the kernels do not load: CUDA error %d\n", failure);
    return 1;
  }
  return runAll(*cuda, module, major * 10 + minor, argc > 1 ? argv[1] : nullptr);
}
