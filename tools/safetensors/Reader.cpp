//===- tools/safetensors/Reader.cpp - Reading a file ----------------------------===//
//
// Part of Eider, under the Apache License v2.0.
//
// The file is read, not mapped: one that shrinks under our hands is then an error and not a SIGBUS.
//
//===----------------------------------------------------------------------===//
#include "eider/error.h"
#include "tools/safetensors/Safetensors.h"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

namespace eider::safetensors {

namespace {
[[noreturn]] void fail(const std::string &path, const std::string &what,
                       const std::string &remedy = "") {
  throw Error(ErrorKind::Request, what, path, remedy);
}
} // namespace

File::File(const std::string &path) : path_(path) {
  // O_NONBLOCK: opening a pipe must not wait for its writer before we see that it is one.
  descriptor_ = ::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK);
  if (descriptor_ < 0)
    fail(path, std::string("cannot open it: ") + std::strerror(errno));
  try {
    struct stat status;
    if (::fstat(descriptor_, &status) != 0)
      fail(path, std::string("cannot examine it: ") + std::strerror(errno));
    if (!S_ISREG(status.st_mode))
      fail(path, "not a regular file", "give a safetensors file");
    readHeader(static_cast<uint64_t>(status.st_size));
  } catch (...) {
    ::close(descriptor_);
    throw;
  }
}

File::~File() { ::close(descriptor_); }

void File::readHeader(uint64_t fileBytes) {
  if (fileBytes < 8)
    fail(path_,
         "truncated: " + std::to_string(fileBytes) + " bytes, the header's length alone takes 8");
  unsigned char length[8];
  readExactly(0, std::as_writable_bytes(std::span(length)));
  uint64_t headerBytes = 0;
  for (int i = 7; i >= 0; --i)
    headerBytes = headerBytes << 8 | length[i];
  if (headerBytes > fileBytes - 8)
    fail(path_,
         "its header is said to take " + std::to_string(headerBytes) + " bytes, the file has " +
             std::to_string(fileBytes - 8) + " after the length",
         "it is truncated, or no safetensors file");
  if (headerBytes > kMaximumHeaderBytes)
    fail(path_, "a header of " + std::to_string(headerBytes) +
                    " bytes is over the format's limit of " + std::to_string(kMaximumHeaderBytes));
  std::string json(headerBytes, '\0');
  readExactly(8, std::as_writable_bytes(std::span(json)));
  dataStart_ = 8 + headerBytes;
  entries_ = parseHeader(json, fileBytes - dataStart_, path_);
}

void File::readExactly(uint64_t offset, std::span<std::byte> into) const {
  while (!into.empty()) {
    ssize_t count = ::pread(descriptor_, into.data(), into.size(), static_cast<off_t>(offset));
    if (count < 0 && errno == EINTR)
      continue;
    if (count < 0)
      fail(path_, std::string("cannot read it: ") + std::strerror(errno));
    if (count == 0)
      fail(path_, "it became shorter while it was read");
    offset += static_cast<uint64_t>(count);
    into = into.subspan(static_cast<size_t>(count));
  }
}

const Entry *File::find(std::string_view name) const {
  auto found = std::ranges::find(entries_, name, &Entry::name);
  return found == entries_.end() ? nullptr : &*found;
}

std::vector<std::byte> File::read(const Entry &entry) const {
  std::vector<std::byte> data(entry.bytes);
  readExactly(dataStart_ + entry.offset, data);
  return data;
}

} // namespace eider::safetensors
