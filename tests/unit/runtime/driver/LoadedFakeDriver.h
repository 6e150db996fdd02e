//===- LoadedFakeDriver.h - The fake driver of this process -----*- C++ -*-===//
//
// Part of Eider, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//
#ifndef EIDER_TESTS_UNIT_RUNTIME_DRIVER_LOADEDFAKEDRIVER_H
#define EIDER_TESTS_UNIT_RUNTIME_DRIVER_LOADEDFAKEDRIVER_H

#include "runtime/cuda/SharedLibrary.h"
#include "tests/unit/runtime/driver/FakeDriver.h"

#include <cstdlib>
#include <filesystem>

namespace eider {

/// Beside this program, wherever the build is copied to.
inline std::string fakeDriverPath() {
  return (std::filesystem::read_symlink("/proc/self/exe").parent_path() /
          "../lib/libeider_fake_driver.so")
      .string();
}

inline FakeDriver &fakeDriver() {
  static FakeDriver *driver = [] {
    SharedLibrary library;
    FakeDriver *(*function)() = nullptr;
    if (!library.open(fakeDriverPath()) || !library.resolve("eiderFakeDriver", function))
      std::abort();
    return function();
  }();
  return *driver;
}

} // namespace eider

#endif // EIDER_TESTS_UNIT_RUNTIME_DRIVER_LOADEDFAKEDRIVER_H
