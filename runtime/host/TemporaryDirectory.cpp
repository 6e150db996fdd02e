//===- host/TemporaryDirectory.cpp - A private place for a moment ---------===//
//
// Part of Eider, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//
#include "runtime/host/TemporaryDirectory.h"

#include "eider/error.h"

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <system_error>

namespace eider::host {

TemporaryDirectory::TemporaryDirectory() {
  const char *base = std::getenv("TMPDIR");
  std::string pattern = std::string(base && *base ? base : "/tmp") + "/eider-host-XXXXXX";
  if (!mkdtemp(pattern.data()))
    throw Error(ErrorKind::Machine,
                std::string("cannot make a temporary directory: ") + std::strerror(errno), pattern,
                "set TMPDIR to a directory that can be written");
  path_ = pattern;
}

TemporaryDirectory::~TemporaryDirectory() {
  std::error_code ignored; // there is nobody to tell
  std::filesystem::remove_all(path_, ignored);
}

void writeFile(const std::filesystem::path &path, const std::string &text) {
  std::error_code error;
  std::filesystem::create_directories(path.parent_path(), error);
  std::ofstream file(path, std::ios::binary);
  file << text;
  file.close();
  if (!file)
    throw Error(ErrorKind::Machine, "cannot write the file", path.string(),
                "make room, or set TMPDIR to another directory");
}

} // namespace eider::host
