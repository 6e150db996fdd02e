//===- tests/unit/runtime/driver/FakeDriver.cpp ---------------------------===//
//
// Part of Eider, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//
#include "tests/unit/runtime/driver/FakeDriver.h"
#include "runtime/cuda/DriverApi.h"

#include <cstdlib>
#include <cstring>

using namespace eider;
using namespace eider::cuda;

#define FAKE extern "C" __attribute__((visibility("default")))

namespace {

FakeDriver &fake() { return *eiderFakeDriver(); }

const auto primary = reinterpret_cast<Context>(0x1000);
thread_local Context current = nullptr;

void record(Function function, unsigned grid, unsigned block, unsigned shared, void *stream,
            void **parameters) {
  FakeLaunch &last = fake().last;
  last = {grid, block, shared, 0, false, false, stream, reinterpret_cast<const char *>(function),
          {}};
  for (int i = 0; i < fake().readableParameters; ++i)
    std::memcpy(&last.parameters[i], parameters[i], 8);
  ++fake().launches;
}

} // namespace

FAKE FakeDriver *eiderFakeDriver() {
  static FakeDriver instance;
  return &instance;
}

FAKE Result cuInit(unsigned) { return success; }
FAKE Result cuDriverGetVersion(int *version) { return *version = fake().version, success; }
FAKE Result cuGetErrorName(Result result, const char **name) {
  return *name = result == outOfMemory ? "CUDA_ERROR_OUT_OF_MEMORY" : "CUDA_ERROR_FAKE", success;
}
FAKE Result cuGetErrorString(Result, const char **text) { return *text = "as told", success; }
FAKE Result cuDeviceGetCount(int *count) { return *count = 1, success; }
FAKE Result cuDeviceGet(DeviceNumber *device, int ordinal) { return *device = ordinal, success; }
FAKE Result cuDeviceGetName(char *name, int length, DeviceNumber) {
  return std::strncpy(name, "Fake GPU", length), success;
}
FAKE Result cuDeviceTotalMem_v2(size_t *bytes, DeviceNumber) { return *bytes = 1 << 30, success; }
FAKE Result cuDeviceGetAttribute(int *value, DeviceAttribute attribute, DeviceNumber) {
  switch (attribute) {
  case DeviceAttribute::Major:
    *value = fake().major;
    break;
  case DeviceAttribute::Minor:
    *value = fake().minor;
    break;
  case DeviceAttribute::Multiprocessors:
    *value = fake().multiprocessors;
    break;
  case DeviceAttribute::ThreadsPerMultiprocessor:
    *value = fake().threadsPerMultiprocessor;
    break;
  case DeviceAttribute::BlocksPerMultiprocessor:
    *value = fake().blocksPerMultiprocessor;
    break;
  case DeviceAttribute::CooperativeLaunch:
    *value = fake().cooperates;
    break;
  case DeviceAttribute::SharedPerBlock:
    *value = fake().sharedPerBlock;
    break;
  default:
    *value = 1;
  }
  return success;
}
FAKE Result cuDevicePrimaryCtxRetain(Context *context, DeviceNumber) {
  return *context = primary, success;
}
FAKE Result cuCtxGetCurrent(Context *context) { return *context = current, success; }
FAKE Result cuCtxPushCurrent_v2(Context context) {
  return ++fake().contextPushes, current = context, success;
}
FAKE Result cuCtxPopCurrent_v2(Context *context) {
  return ++fake().contextPops, *context = current, current = nullptr, success;
}
FAKE Result cuCtxGetDevice(DeviceNumber *device) {
  constexpr Result invalidContext = 201;
  return *device = fake().currentDevice, fake().currentDevice < 0 ? invalidContext : success;
}
FAKE Result cuCtxSynchronize() { return success; }
FAKE Result cuMemAlloc_v2(DevicePointer *pointer, size_t bytes) {
  if (fake().allocateResult == success)
    *pointer = reinterpret_cast<DevicePointer>(std::aligned_alloc(256, (bytes + 255) / 256 * 256));
  return fake().allocateResult;
}
FAKE Result cuMemFree_v2(DevicePointer pointer) {
  return std::free(reinterpret_cast<void *>(pointer)), success;
}
FAKE Result cuMemcpyHtoD_v2(DevicePointer to, const void *from, size_t bytes) {
  return std::memcpy(reinterpret_cast<void *>(to), from, bytes), success;
}
FAKE Result cuMemcpyDtoH_v2(void *to, DevicePointer from, size_t bytes) {
  return std::memcpy(to, reinterpret_cast<void *>(from), bytes), success;
}
FAKE Result cuMemcpyDtoDAsync_v2(DevicePointer, DevicePointer, size_t, DriverStream) {
  return success;
}
FAKE Result cuMemsetD8_v2(DevicePointer to, unsigned char byte, size_t bytes) {
  return std::memset(reinterpret_cast<void *>(to), byte, bytes), success;
}
FAKE Result cuStreamGetCtx(DriverStream, Context *context) {
  void *told = fake().streamContext;
  return *context = told ? static_cast<Context>(told) : primary, success;
}
FAKE Result cuStreamIsCapturing(DriverStream, int *status) {
  return *status = fake().capturing, success;
}
FAKE Result cuStreamSynchronize(DriverStream) { return success; }
FAKE Result cuEventCreate(Event *, unsigned) { return success; }
FAKE Result cuEventRecord(Event, DriverStream) { return success; }
FAKE Result cuEventSynchronize(Event) { return success; }
FAKE Result cuEventElapsedTime(float *milliseconds, Event, Event) {
  return *milliseconds = 1.5f, success;
}
FAKE Result cuEventDestroy_v2(Event) { return success; }
FAKE Result cuLibraryLoadData(Library *library, const void *image, int *, void **, unsigned, int *,
                              void **, unsigned) {
  ++fake().librariesLoaded;
  fake().lastImage.assign(static_cast<const char *>(image), 16);
  return *library = reinterpret_cast<Library>(0x2000), fake().loadResult;
}
// A kernel and a function are the entry's name.
FAKE Result cuLibraryGetKernel(LibraryKernel *kernel, Library, const char *name) {
  return *kernel = reinterpret_cast<LibraryKernel>(::strdup(name)), success;
}
FAKE Result cuKernelGetFunction(Function *function, LibraryKernel kernel) {
  return *function = reinterpret_cast<Function>(kernel), success;
}
FAKE Result cuFuncGetAttribute(int *value, FunctionAttribute, Function) {
  return *value = 1024, success;
}
FAKE Result cuFuncSetAttribute(Function, FunctionAttribute attribute, int value) {
  if (attribute == FunctionAttribute::MaxDynamicShared)
    fake().maxDynamicShared = value;
  return success;
}
FAKE Result cuKernelGetAttribute(int *value, FunctionAttribute, LibraryKernel, DeviceNumber) {
  return *value = 1024, success;
}
FAKE Result cuKernelSetAttribute(FunctionAttribute attribute, int value, LibraryKernel,
                                 DeviceNumber) {
  return cuFuncSetAttribute(nullptr, attribute, value);
}
FAKE Result cuLaunchKernel(Function function, unsigned gridX, unsigned, unsigned, unsigned blockX,
                           unsigned, unsigned, unsigned shared, DriverStream stream,
                           void **parameters, void **) {
  record(function, gridX, blockX, shared, stream, parameters);
  return fake().launchResult;
}
FAKE Result cuLaunchKernelEx(const LaunchConfig *config, Function function, void **parameters,
                             void **) {
  record(function, config->gridX, config->blockX, config->sharedBytes, config->stream, parameters);
  for (unsigned i = 0; i < config->attributeCount; ++i) {
    if (config->attributes[i].id == LaunchAttribute::clusterDimension)
      fake().last.cluster = config->attributes[i].cluster.x;
    if (config->attributes[i].id == LaunchAttribute::cooperative)
      fake().last.cooperative = config->attributes[i].isCooperative != 0;
    if (config->attributes[i].id == LaunchAttribute::programmaticSerialization)
      fake().last.overlaps = config->attributes[i].isProgrammatic != 0;
  }
  return fake().launchResult;
}
