//===- cuda/DriverApi.cpp - The part of libcuda that we call --------------===//
//
// Part of Eider, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//
#include "runtime/cuda/DriverApi.h"
#include "runtime/cuda/SharedLibrary.h"

#include "eider/error.h"

#include <cstdlib>

namespace eider::cuda {
namespace {

constexpr const char *where = "CUDA driver";

SharedLibrary openDriver() {
  SharedLibrary library;
  if (const char *path = std::getenv("EIDER_CUDA_DRIVER")) {
    if (!library.open(path))
      throw Error(ErrorKind::Machine, library.why(), where,
                  "correct EIDER_CUDA_DRIVER or unset it");
    return library;
  }
  // Windows' Linux subsystem keeps it outside the linker's path.
  for (const char *path : {"libcuda.so.1", "/usr/lib/wsl/lib/libcuda.so.1"})
    if (library.open(path))
      return library;
  throw Error(ErrorKind::Machine, "no NVIDIA driver: libcuda.so.1 cannot be opened", where,
              "install the driver, or use the device 'host'");
}

DriverApi load() {
  const SharedLibrary library = openDriver();
  DriverApi api = {};
  const char *missing = nullptr;
#define EIDER_RESOLVE(member, symbol, signature)                                                   \
  if (!library.resolve(#symbol, api.member) && !missing)                                           \
    missing = #symbol;
  EIDER_DRIVER_FUNCTIONS(EIDER_RESOLVE)
#undef EIDER_RESOLVE
  if (missing)
    throw Error(ErrorKind::Machine, std::string("the driver has no ") + missing, where,
                "install a driver for CUDA 12.0 or later");
  library.resolve("cuFuncLoad", api.functionLoad);
  if (const Result result = api.init(0); result == noDevice)
    throw Error(ErrorKind::Machine, "the driver sees no GPU", where, "use the device 'host'");
  else
    api.check(result, "starting");
  api.check(api.driverVersion(&api.version), "asking for its version");
  return api;
}

} // namespace

void DriverApi::check(Result result, const std::string &doing) const {
  if (result == success)
    return;
  const char *name = nullptr, *text = nullptr;
  errorName(result, &name);
  errorText(result, &text);
  if (result >= captureUnsupported && result <= captureWrongThread)
    throw Error(ErrorKind::Request,
                doing + ": " + (name ? name : std::to_string(result)) +
                    ", this cannot be done while a stream is captured",
                where, "prepare() every call before the capture");
  throw Error(result == outOfMemory || result == notInitialized || result == noBinaryForGpu ||
                      result == unsupportedPtxVersion || doing == "starting"
                  ? ErrorKind::Machine
                  : ErrorKind::Internal,
              doing + ": " + (name ? name : std::to_string(result)) + (text ? ", " : "") +
                  (text ? text : ""),
              where, result == outOfMemory ? "free memory on the GPU" : "");
}

const DriverApi &driver() {
  // Never destroyed: threads may launch while the process exits.
  static const DriverApi *api = new DriverApi(load());
  return *api;
}

} // namespace eider::cuda
