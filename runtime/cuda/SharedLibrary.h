//===- cuda/SharedLibrary.h - Libraries opened at run time ------*- C++ -*-===//
//
// Part of Eider, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//
#ifndef EIDER_RUNTIME_CUDA_SHAREDLIBRARY_H
#define EIDER_RUNTIME_CUDA_SHAREDLIBRARY_H

#include <string>

namespace eider {

/// A library that stays open for the life of the process.
class SharedLibrary {
public:
  /// False, with why() set, if it cannot be opened.
  bool open(const std::string &path);

  /// The directory of the file that holds `symbol`; empty if the library has none.
  std::string directoryOf(const char *symbol) const;

  bool isOpen() const { return handle != nullptr; }
  const std::string &why() const { return problem; }

  /// Sets `function` to the symbol; false if the library has none.
  template <typename Function> bool resolve(const char *name, Function *&function) const {
    function = reinterpret_cast<Function *>(address(name));
    return function != nullptr;
  }

private:
  void *address(const char *symbol) const;

  void *handle = nullptr;
  std::string problem;
};

} // namespace eider

#endif // EIDER_RUNTIME_CUDA_SHAREDLIBRARY_H
