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

  bool isOpen() const { return handle != nullptr; }
  const std::string &why() const { return problem; }

  /// Sets `function` to the symbol; false if the library has none.
  template <typename Function> bool resolve(const char *name, Function *&function) const {
    function = reinterpret_cast<Function *>(symbol(name));
    return function != nullptr;
  }

private:
  void *symbol(const char *name) const;

  void *handle = nullptr;
  std::string problem;
};

} // namespace eider

#endif // EIDER_RUNTIME_CUDA_SHAREDLIBRARY_H
