//===- tools/safetensors/WholeFile.cpp - Files, whole or not at all -------===//
//
// Part of Eider, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//
#include "tools/safetensors/WholeFile.h"

#include "eider/error.h"

#include <cerrno>
#include <cstring>
#include <fcntl.h>
#include <filesystem>
#include <random>
#include <sys/stat.h>
#include <unistd.h>

namespace eider {

namespace {

[[noreturn]] void failSystem(const std::string &path, const std::string &what, int error) {
  bool disk = error == ENOSPC || error == EFBIG || error == EIO || error == EDQUOT ||
              error == ENFILE || error == EMFILE;
  throw Error(disk ? ErrorKind::Machine : ErrorKind::Request, what + ": " + std::strerror(error),
              path);
}

/// A new file beside `path`; removed again unless it has taken its place.
class TemporaryFile {
public:
  explicit TemporaryFile(const std::string &path) : path_(path) {
    std::random_device random;
    for (int attempt = 0; attempt < 100 && descriptor_ < 0; ++attempt) {
      temporary_ = path + ".tmp-" + std::to_string(random());
      descriptor_ = ::open(temporary_.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
      if (descriptor_ < 0 && errno != EEXIST)
        failSystem(path, "cannot write there", errno);
    }
    if (descriptor_ < 0)
      failSystem(path, "cannot write there", EEXIST);
  }
  ~TemporaryFile() {
    if (descriptor_ >= 0)
      ::close(descriptor_);
    if (!temporary_.empty())
      ::unlink(temporary_.c_str());
  }
  TemporaryFile(const TemporaryFile &) = delete;
  TemporaryFile &operator=(const TemporaryFile &) = delete;

  void append(std::span<const std::byte> bytes) {
    while (!bytes.empty()) {
      ssize_t count = ::write(descriptor_, bytes.data(), bytes.size());
      if (count < 0 && errno == EINTR)
        continue;
      if (count < 0)
        failSystem(path_, "cannot write it", errno);
      bytes = bytes.subspan(static_cast<size_t>(count));
    }
  }

  void takePlace() {
    int closed = ::close(descriptor_);
    descriptor_ = -1;
    if (closed != 0 || ::rename(temporary_.c_str(), path_.c_str()) != 0)
      failSystem(path_, "cannot write it", errno);
    temporary_.clear();
  }

private:
  const std::string &path_;
  std::string temporary_;
  int descriptor_ = -1;
};

} // namespace

/// Renaming over a device would replace it.
static void checkRegular(const std::string &path) {
  struct stat status;
  if (::stat(path.c_str(), &status) == 0 && !S_ISREG(status.st_mode))
    throw Error(ErrorKind::Request, "there is something that is not a regular file", path,
                "choose another name");
}

void checkWritable(const std::string &path, std::span<const std::string> inputs) {
  checkRegular(path);
  for (const std::string &input : inputs)
    if (std::error_code ignored; std::filesystem::equivalent(path, input, ignored))
      throw Error(ErrorKind::Request, "it is read, too, and would be lost", path,
                  "choose another name for what is written");
  TemporaryFile removed(path);
}

void writeWholeFile(const std::string &path, std::span<const std::span<const std::byte>> parts) {
  checkRegular(path);
  TemporaryFile file(path);
  for (std::span<const std::byte> part : parts)
    file.append(part);
  file.takePlace();
}

} // namespace eider
