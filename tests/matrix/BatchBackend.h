//===- BatchBackend.h - `host` with texts compiled together -----*- C++ -*-===//
//
// Part of Eider, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//
#ifndef EIDER_TESTS_MATRIX_BATCHBACKEND_H
#define EIDER_TESTS_MATRIX_BATCHBACKEND_H

#include "runtime/Backend.h"

#include <map>
#include <mutex>
#include <string>

namespace eider::matrix {

/// Calls `task(0)` … `task(count - 1)` on all processors; rethrows the first error.
void inParallel(size_t count, const std::function<void(size_t)> &task);

/// The device `host` but for load(): texts are compiled before, many to a translation unit.
class BatchBackend final : public Backend {
public:
  explicit BatchBackend(const DeviceOptions &options) : Backend(options), host(openHost(options)) {
    info_ = host->info();
  }

  /// Compiles those of the variants whose texts are not compiled yet. What the compiler says of a
  /// text that it refuses is thrown by load().
  void compile(const std::vector<const contract::Variant *> &variants);

  std::shared_ptr<const LoadedText> load(const contract::Variant &variant,
                                         const std::string &target) const override;

  void requireTarget(const std::string &target) const override { host->requireTarget(target); }
  void launch(void *function, const LaunchGeometry &geometry, void **parameters,
              Stream stream) const override {
    host->launch(function, geometry, parameters, stream);
  }
  int64_t blocksAtOnce(const contract::Launch &launch) const override {
    return host->blocksAtOnce(launch);
  }
  bool isCapturing(Stream stream) const override { return host->isCapturing(stream); }
  void *allocate(size_t bytes) const override { return host->allocate(bytes); }
  void free(void *pointer) const override { host->free(pointer); }
  void upload(void *to, const void *from, size_t bytes) const override {
    host->upload(to, from, bytes);
  }
  void download(void *to, const void *from, size_t bytes) const override {
    host->download(to, from, bytes);
  }
  void fill(void *to, int byte, size_t bytes) const override { host->fill(to, byte, bytes); }
  void copy(void *to, const void *from, size_t bytes, Stream stream) const override {
    host->copy(to, from, bytes, stream);
  }
  void synchronize() const override { host->synchronize(); }
  double microseconds(Stream stream, const std::function<void()> &enqueue) const override {
    return host->microseconds(stream, enqueue);
  }

private:
  /// A unit that the compiler refuses is compiled text by text, to know which one it is.
  void compileOrSplit(const std::vector<const contract::Variant *> &batch);
  void compileBatch(const std::vector<const contract::Variant *> &batch);

  std::shared_ptr<const Backend> host;
  std::mutex mutex;
  std::map<std::string, std::shared_ptr<const LoadedText>> texts; ///< By source.
  std::map<std::string, std::string> refused;                     ///< Why, by source.
};

} // namespace eider::matrix

#endif // EIDER_TESTS_MATRIX_BATCHBACKEND_H
