//===- tests/unit/runtime/TemporaryDirectory.h ------------------*- C++ -*-===//
//
// Part of Eider, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//
#ifndef EIDER_TESTS_UNIT_RUNTIME_TEMPORARYDIRECTORY_H
#define EIDER_TESTS_UNIT_RUNTIME_TEMPORARYDIRECTORY_H

#include <cstdlib>
#include <filesystem>
#include <stdexcept>

namespace eider {

/// A new directory of mode 0700, removed with all that is in it.
struct TemporaryDirectory {
  TemporaryDirectory() {
    std::string name = (std::filesystem::temp_directory_path() / "eider-test-XXXXXX").string();
    if (!::mkdtemp(name.data()))
      throw std::runtime_error("cannot make " + name);
    path = name;
  }
  ~TemporaryDirectory() {
    std::error_code ignored;
    std::filesystem::remove_all(path, ignored);
  }
  TemporaryDirectory(const TemporaryDirectory &) = delete;
  TemporaryDirectory &operator=(const TemporaryDirectory &) = delete;

  std::filesystem::path path;
};

} // namespace eider

#endif // EIDER_TESTS_UNIT_RUNTIME_TEMPORARYDIRECTORY_H
