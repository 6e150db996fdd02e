//===- cache/ArchiveFile.cpp - An archive in a file -----------------------===//
//
// Part of Eider, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//
#include "runtime/cache/Archive.h"
#include "runtime/cache/FileTree.h"

#include "eider/error.h"

#include <cerrno>
#include <cstring>
#include <fcntl.h>
#include <memory>
#include <sys/stat.h>
#include <unistd.h>

namespace eider::archive {
namespace {

[[noreturn]] void cannotRead(ErrorKind kind, const std::string &name, int error) {
  throw Error(kind, std::string("cannot be read: ") + std::strerror(error), name);
}

std::string readAt(const Descriptor &file, const std::string &name, uint64_t offset,
                   uint64_t bytes) {
  std::string data(bytes, '\0');
  for (size_t done = 0; done < data.size();) {
    const ssize_t count = ::pread(file.get(), data.data() + done, data.size() - done,
                                  static_cast<off_t>(offset + done));
    if (count < 0 && errno == EINTR)
      continue;
    if (count <= 0)
      cannotRead(ErrorKind::Machine, name, count == 0 ? EIO : errno);
    done += count;
  }
  return data;
}

} // namespace

Source openFile(const std::string &path, const std::string &name) {
  const auto file =
      std::make_shared<const Descriptor>(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK));
  struct stat status;
  if (!*file || ::fstat(file->get(), &status) != 0)
    cannotRead(ErrorKind::Request, name, errno);
  if (!S_ISREG(status.st_mode))
    throw Error(ErrorKind::Request, "it is no regular file", name);
  return {
      name, static_cast<uint64_t>(status.st_size),
      [file, name](uint64_t offset, uint64_t bytes) { return readAt(*file, name, offset, bytes); }};
}

} // namespace eider::archive
