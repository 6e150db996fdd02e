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
#include <fstream>
#include <random>
#include <sys/stat.h>
#include <unistd.h>
#include <utility>

namespace eider {

namespace {

[[noreturn]] void failSystem(const std::string &path, const std::string &what, int error) {
  bool disk = error == ENOSPC || error == EFBIG || error == EIO || error == EDQUOT ||
              error == ENFILE || error == EMFILE;
  throw Error(disk ? ErrorKind::Machine : ErrorKind::Request, what + ": " + std::strerror(error),
              path);
}

void append(int descriptor, const std::string &path, std::span<const std::byte> bytes) {
  while (!bytes.empty()) {
    const ssize_t count = ::write(descriptor, bytes.data(), bytes.size());
    if (count < 0 && errno == EINTR)
      continue;
    if (count < 0)
      failSystem(path, "cannot write it", errno);
    bytes = bytes.subspan(static_cast<size_t>(count));
  }
}

/// A new file beside `path`; removed again unless it has taken its place.
class TemporaryFile {
public:
  /// None where no file can be made there: error() says why.
  explicit TemporaryFile(const std::string &path) : path_(path) {
    std::random_device random;
    for (int attempt = 0; attempt < 100 && descriptor_ < 0; ++attempt) {
      temporary_ = path + ".tmp-" + std::to_string(random());
      descriptor_ = ::open(temporary_.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
      error_ = descriptor_ < 0 ? errno : 0;
      if (descriptor_ < 0 && errno != EEXIST)
        break;
    }
  }
  ~TemporaryFile() {
    if (descriptor_ >= 0)
      ::close(descriptor_);
    if (!error_ && !temporary_.empty())
      ::unlink(temporary_.c_str());
  }
  TemporaryFile(const TemporaryFile &) = delete;
  TemporaryFile &operator=(const TemporaryFile &) = delete;

  int error() const { return error_; }
  int descriptor() const { return descriptor_; }

  /// False where the system keeps what is there in its place.
  bool takePlace(const struct stat *replaced) {
    if (replaced)
      (void)::fchmod(descriptor_, replaced->st_mode & 07777);
    const int closed = ::close(std::exchange(descriptor_, -1));
    if (closed != 0)
      failSystem(path_, "cannot write it", errno);
    if (::rename(temporary_.c_str(), path_.c_str()) == 0) {
      temporary_.clear();
      return true;
    }
    if (!replaced || (errno != EPERM && errno != EACCES && errno != EBUSY))
      failSystem(path_, "cannot write it", errno);
    return false;
  }

private:
  const std::string &path_;
  std::string temporary_;
  int descriptor_ = -1, error_ = 0;
};

/// A file to write, behind links.
struct Target {
  explicit Target(const std::string &given) : path(given) {
    std::error_code none;
    if (std::filesystem::is_symlink(given, none))
      if (const auto real = std::filesystem::canonical(given, none); !none)
        path = real;
    exists = ::stat(path.c_str(), &status) == 0;
    if (exists && !S_ISREG(status.st_mode)) // which renaming would replace
      throw Error(ErrorKind::Request, "there is something that is not a regular file", given,
                  "choose another name");
    if (exists && ::access(path.c_str(), W_OK) != 0)
      failSystem(given, "cannot write it", errno);
  }
  const struct stat *replaced() const { return exists ? &status : nullptr; }

  std::string path;
  struct stat status = {};
  bool exists = false;
};

} // namespace

bool isStream(const std::string &path) {
  std::error_code none;
  const auto status = std::filesystem::status(path, none);
  const std::string link = std::filesystem::is_symlink(path, none)
                               ? std::filesystem::read_symlink(path, none).string()
                               : path;
  auto isUnder = [&](const char *directory) {
    return path.starts_with(directory) || link.starts_with(directory);
  };
  return isUnder("/dev/") || isUnder("/proc/") ||
         (std::filesystem::exists(status) && !std::filesystem::is_regular_file(status) &&
          !std::filesystem::is_directory(status));
}

void checkWritable(const std::string &path, std::span<const std::string> inputs) {
  const Target target(path);
  for (const std::string &input : inputs)
    if (std::error_code none; std::filesystem::equivalent(path, input, none))
      throw Error(ErrorKind::Request, "it is read, too, and would be lost", path,
                  "choose another name for what is written");
  if (const TemporaryFile removed(target.path); removed.error() && !target.exists)
    failSystem(path, "cannot write there", removed.error());
}

void writeWholeFile(const std::string &path, std::span<const std::span<const std::byte>> parts) {
  const Target target(path);
  TemporaryFile file(target.path);
  if (!file.error()) {
    for (std::span<const std::byte> part : parts)
      append(file.descriptor(), path, part);
    if (file.takePlace(target.replaced()))
      return;
  } else if (!target.exists) {
    failSystem(path, "cannot write there", file.error());
  }
  // What is there may be written, but the directory is somebody else's.
  const int descriptor = ::open(target.path.c_str(), O_WRONLY | O_TRUNC | O_CLOEXEC);
  if (descriptor < 0)
    failSystem(path, "cannot write it", errno);
  for (std::span<const std::byte> part : parts)
    append(descriptor, path, part);
  if (::close(descriptor) != 0)
    failSystem(path, "cannot write it", errno);
}

void checkTextWritable(const std::string &path, std::span<const std::string> inputs) {
  if (!isStream(path))
    checkWritable(path, inputs);
}

void writeText(const std::string &path, const std::string &text) {
  if (!isStream(path)) {
    const std::span<const std::byte> bytes = std::as_bytes(std::span(text));
    return writeWholeFile(path, {&bytes, 1});
  }
  std::ofstream stream(path, std::ios::app);
  if (!(stream << text) || !stream.flush())
    throw Error(ErrorKind::Machine, "cannot write it", path);
}

} // namespace eider
