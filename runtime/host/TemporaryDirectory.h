//===- host/TemporaryDirectory.h - A private place for a moment -----------===//
//
// Part of Eider, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//
#ifndef EIDER_HOST_TEMPORARYDIRECTORY_H
#define EIDER_HOST_TEMPORARYDIRECTORY_H

#include <filesystem>
#include <string>

namespace eider::host {

/// A new directory of mode 0700 under TMPDIR, else /tmp; removed with all it holds by the
/// destructor. The constructor throws Error of kind Machine when it cannot be made.
class TemporaryDirectory {
public:
  TemporaryDirectory();
  ~TemporaryDirectory();
  TemporaryDirectory(const TemporaryDirectory &) = delete;
  TemporaryDirectory &operator=(const TemporaryDirectory &) = delete;

  const std::filesystem::path &path() const { return path_; }

private:
  std::filesystem::path path_;
};

/// Writes a file whole, and the directories above it. Throws Error of kind Machine.
void writeFile(const std::filesystem::path &path, const std::string &text);

} // namespace eider::host

#endif // EIDER_HOST_TEMPORARYDIRECTORY_H
