//===- cuda/Nvrtc.h - NVIDIA's run-time compiler ----------------*- C++ -*-===//
//
// Part of Eider, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//
#ifndef EIDER_RUNTIME_CUDA_NVRTC_H
#define EIDER_RUNTIME_CUDA_NVRTC_H

#include <cstddef>
#include <memory>
#include <string>
#include <vector>

namespace eider::cuda {

/// A header that a source may include by `name`.
struct NamedHeader {
  const char *name;
  const char *text;
};

struct NvrtcOutput {
  bool compiled = false;
  std::string log;
  std::vector<std::byte> image; ///< A cubin, or PTX with its closing zero.
};

/// An NVRTC on this machine. Opening it takes milliseconds, and is put off until something is
/// compiled. Immutable; thread-safe.
class Nvrtc {
public:
  /// The NVRTC to use: the first of at most `maxMajor` among `EIDER_NVRTC` (a path; then nothing
  /// else is looked at), `CUDA_HOME`,
  /// `/usr/local/cuda*`, the linker's path, and the wheels of Python environments. Throws Error
  /// (Machine) if there is none.
  static std::shared_ptr<const Nvrtc> find(int maxMajor);

  /// Tells this NVRTC from others in the cache's keys: version and size of the files, found without
  /// opening them.
  const std::string &identity() const { return identity_; }

  int major() const { return major_; }
  const std::string &path() const { return path_; }

  /// Opens the library if this process has not yet. compile() does so by itself. Throws Error
  /// (Machine).
  void open() const { api(); }

  /// Compiles; a source that does not compile is no error here. Throws Error: of Machine if the
  /// library cannot be opened or does not know `architecture`, of Request if it refuses an option.
  NvrtcOutput compile(const std::string &source, const std::string &fileName,
                      const std::string &architecture, const std::vector<std::string> &options,
                      const std::vector<NamedHeader> &headers) const;

private:
  struct Api;
  Nvrtc(std::string path, int major, std::string identity)
      : path_(std::move(path)), major_(major), identity_(std::move(identity)) {}
  const Api &api() const;

  std::string path_;
  int major_;
  std::string identity_;
};

/// The options of every compile, in their order, those of `EIDER_NVRTC_OPTIONS` last; part of the
/// cache's key.
std::vector<std::string> nvrtcOptions();

} // namespace eider::cuda

#endif // EIDER_RUNTIME_CUDA_NVRTC_H
