//===- cuda/DriverApi.h - The part of libcuda that we call ------*- C++ -*-===//
//
// Part of Eider, under the Apache License v2.0.
//
// Own declarations of NVIDIA's stable binary interface (CUDA driver API, 12.0 on), so that building
// needs no toolkit.
//
//===----------------------------------------------------------------------===//
#ifndef EIDER_RUNTIME_CUDA_DRIVERAPI_H
#define EIDER_RUNTIME_CUDA_DRIVERAPI_H

#include <cstddef>
#include <cstdint>
#include <string>

namespace eider::cuda {

using Result = int;
using DeviceNumber = int;
using DevicePointer = uint64_t;
using Context = struct ContextTag *;
using DriverStream = struct StreamTag *;
using Event = struct EventTag *;
using Library = struct LibraryTag *;
using LibraryKernel = struct LibraryKernelTag *;
using Function = struct FunctionTag *;

enum : Result {
  success = 0,
  outOfMemory = 2,
  notInitialized = 3,
  deinitialized = 4,
  noDevice = 100,
  noBinaryForGpu = 209,
  unsupportedPtxVersion = 222,
  captureUnsupported = 900, // the first and the last of those about captures
  captureImplicit = 906,
  captureWrongThread = 908
};

enum class DeviceAttribute : int {
  Multiprocessors = 16,
  MemoryClock = 36, ///< kHz
  MemoryBus = 37,   ///< bits
  L2 = 38,          ///< bytes
  ThreadsPerMultiprocessor = 39,
  Major = 75,
  Minor = 76,
  CooperativeLaunch = 95,
  SharedPerBlock = 97, ///< bytes, the most that can be asked for
  BlocksPerMultiprocessor = 106,
  ClusterLaunch = 120
};

enum class FunctionAttribute : int {
  StaticShared = 1,
  MaxDynamicShared = 8,
  NonPortableCluster = 14
};

struct LaunchAttribute {
  static constexpr int cooperative = 2, clusterDimension = 4, programmaticSerialization = 6;
  int id;
  int padding;
  union {
    struct {
      unsigned x, y, z;
    } cluster;
    int isCooperative, isProgrammatic;
    char bytes[64];
  };
};

struct LaunchConfig {
  unsigned gridX, gridY, gridZ;
  unsigned blockX, blockY, blockZ;
  unsigned sharedBytes;
  DriverStream stream;
  LaunchAttribute *attributes;
  unsigned attributeCount;
};

/// Name of the member, name of the symbol, signature.
#define EIDER_DRIVER_FUNCTIONS(X)                                                                  \
  X(init, cuInit, (unsigned flags))                                                                \
  X(driverVersion, cuDriverGetVersion, (int *version))                                             \
  X(errorName, cuGetErrorName, (Result result, const char **name))                                 \
  X(errorText, cuGetErrorString, (Result result, const char **text))                               \
  X(deviceCount, cuDeviceGetCount, (int *count))                                                   \
  X(deviceGet, cuDeviceGet, (DeviceNumber * device, int ordinal))                                  \
  X(deviceName, cuDeviceGetName, (char *name, int length, DeviceNumber device))                    \
  X(deviceMemory, cuDeviceTotalMem_v2, (size_t * bytes, DeviceNumber device))                      \
  X(deviceAttribute, cuDeviceGetAttribute,                                                         \
    (int *value, DeviceAttribute attribute, DeviceNumber device))                                  \
  X(primaryRetain, cuDevicePrimaryCtxRetain, (Context * context, DeviceNumber device))             \
  X(contextCurrent, cuCtxGetCurrent, (Context * context))                                          \
  X(contextPush, cuCtxPushCurrent_v2, (Context context))                                           \
  X(contextPop, cuCtxPopCurrent_v2, (Context * context))                                           \
  X(contextSynchronize, cuCtxSynchronize, ())                                                      \
  X(memoryAllocate, cuMemAlloc_v2, (DevicePointer * pointer, size_t bytes))                        \
  X(memoryFree, cuMemFree_v2, (DevicePointer pointer))                                             \
  X(copyToDevice, cuMemcpyHtoD_v2, (DevicePointer to, const void *from, size_t bytes))             \
  X(copyToHost, cuMemcpyDtoH_v2, (void *to, DevicePointer from, size_t bytes))                     \
  X(copyOnDevice, cuMemcpyDtoDAsync_v2,                                                            \
    (DevicePointer to, DevicePointer from, size_t bytes, DriverStream stream))                     \
  X(memorySet, cuMemsetD8_v2, (DevicePointer to, unsigned char byte, size_t bytes))                \
  X(streamContext, cuStreamGetCtx, (DriverStream stream, Context * context))                       \
  X(streamCapturing, cuStreamIsCapturing, (DriverStream stream, int *status))                      \
  X(streamSynchronize, cuStreamSynchronize, (DriverStream stream))                                 \
  X(eventCreate, cuEventCreate, (Event * event, unsigned flags))                                   \
  X(eventRecord, cuEventRecord, (Event event, DriverStream stream))                                \
  X(eventSynchronize, cuEventSynchronize, (Event event))                                           \
  X(eventElapsed, cuEventElapsedTime, (float *milliseconds, Event start, Event end))               \
  X(eventDestroy, cuEventDestroy_v2, (Event event))                                                \
  X(libraryLoad, cuLibraryLoadData,                                                                \
    (Library * library, const void *image, int *jitOptions, void **jitValues, unsigned jitCount,   \
     int *options, void **values, unsigned count))                                                 \
  X(libraryKernel, cuLibraryGetKernel,                                                             \
    (LibraryKernel * kernel, Library library, const char *name))                                   \
  X(kernelFunction, cuKernelGetFunction, (Function * function, LibraryKernel kernel))              \
  X(functionGet, cuFuncGetAttribute, (int *value, FunctionAttribute attribute, Function function)) \
  X(functionSet, cuFuncSetAttribute, (Function function, FunctionAttribute attribute, int value))  \
  X(launch, cuLaunchKernel,                                                                        \
    (Function function, unsigned gridX, unsigned gridY, unsigned gridZ, unsigned blockX,           \
     unsigned blockY, unsigned blockZ, unsigned sharedBytes, DriverStream stream,                  \
     void **parameters, void **extra))                                                             \
  X(launchEx, cuLaunchKernelEx,                                                                    \
    (const LaunchConfig *config, Function function, void **parameters, void **extra))

struct DriverApi {
#define EIDER_MEMBER(member, symbol, signature) Result(*member) signature;
  EIDER_DRIVER_FUNCTIONS(EIDER_MEMBER)
#undef EIDER_MEMBER
  /// Loads a function's code at once instead of at its first launch; null before driver 12.4.
  Result (*functionLoad)(Function function);

  int version; ///< Of CUDA that the driver serves: 13000 is 13.0.

  /// Throws Error unless `result` is success. `doing`: "allocating 4096 bytes".
  void check(Result result, const std::string &doing) const;
};

/// The driver, opened and initialised at the first call. `EIDER_CUDA_DRIVER`, if set, is the path
/// of the library. Throws Error (Machine) if there is none, it is too old, or it cannot start.
const DriverApi &driver();

} // namespace eider::cuda

#endif // EIDER_RUNTIME_CUDA_DRIVERAPI_H
