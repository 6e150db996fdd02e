//===- runtime/Backend.h - What differs between devices ---------*- C++ -*-===//
//
// Part of Eider, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//
#ifndef EIDER_RUNTIME_BACKEND_H
#define EIDER_RUNTIME_BACKEND_H

#include "eider/runtime.h"
#include "runtime/contract/Contract.h"

#include <memory>
#include <vector>

namespace eider {

/// A text whose kernels can be launched.
struct LoadedText {
  std::vector<void *>
      functions; ///< One a launch of the variant: a CUfunction, or an EiderHostKernel.
  std::shared_ptr<const void> owner; ///< Keeps the code loaded.
  bool fromCache = false;
  double openMilliseconds = 0;
  double compileMilliseconds = 0;
  double loadMilliseconds = 0;
  std::string directory;
  std::vector<EntryResources> entries;
};

/// 1-D grid, block and cluster.
struct LaunchGeometry {
  int64_t grid = 0;
  unsigned block = 0;
  unsigned cluster = 1;
  unsigned shared = 0; ///< bytes of dynamic shared memory
  bool cooperative = false;
  bool overlaps = false; ///< may begin before the launch before it has ended
};

/// A device behind Device. Immutable; thread-safe.
class Backend {
public:
  virtual ~Backend() = default;

  explicit Backend(const DeviceOptions &options) : options(options) {}

  const DeviceInfo &info() const { return info_; }

  const DeviceOptions options;

  /// Throws Error (Request) if texts for `target` cannot run here.
  virtual void requireTarget(const std::string &target) const = 0;
  /// Compiles and loads, once a text. Throws Error.
  virtual std::shared_ptr<const LoadedText> load(const contract::Variant &variant,
                                                 const std::string &target) const = 0;
  /// How many blocks of a cooperative launch run at once; 0 where the device has no such launches.
  virtual int64_t blocksAtOnce(const contract::Launch &launch) const = 0;
  virtual void launch(void *function, const LaunchGeometry &geometry, void **parameters,
                      Stream stream) const = 0;
  /// Whether `stream` is recording a graph: nothing may be loaded then.
  virtual bool isCapturing(Stream stream) const = 0;

  virtual void *allocate(size_t bytes) const = 0;
  virtual void free(void *pointer) const = 0;
  virtual void upload(void *to, const void *fromHost, size_t bytes) const = 0;
  virtual void download(void *toHost, const void *from, size_t bytes) const = 0;
  virtual void fill(void *to, int byte, size_t bytes) const = 0;
  virtual void copy(void *to, const void *from, size_t bytes, Stream stream) const = 0;
  virtual void synchronize() const = 0;
  virtual double microseconds(Stream stream, const std::function<void()> &enqueue) const = 0;

protected:
  DeviceInfo info_;
};

std::shared_ptr<const Backend> openHost(const DeviceOptions &options);
std::shared_ptr<const Backend> openCuda(int ordinal, const DeviceOptions &options);

/// Throws Error (Machine) if there is no driver.
int cudaDeviceCount();
DeviceInfo cudaDeviceInfo(int ordinal);
DeviceInfo hostInfo();

} // namespace eider

#endif // EIDER_RUNTIME_BACKEND_H
