//===- eider/jit.h - Program to kernel --------------------------*- C++ -*-===//
//
// Part of Eider, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//
#ifndef EIDER_JIT_H
#define EIDER_JIT_H

#include "eider/compile.h"
#include "eider/dsl.h"
#include "eider/runtime.h"

#include <string>

namespace eider {

/// How an executable came to be.
struct CompileReport {
  bool fromCache = false;
  double milliseconds = 0; ///< From program to texts, or to find them in the cache.
};

struct JitOptions {
  std::string codec = "auto";      ///< `auto`, `hardware` or `software`
  std::string schedule;            ///< Empty: chosen by the compiler.
  CompileReport *report = nullptr; ///< Filled in, if given.
  /// The program as `eider build` is given it, if it can be: for the error of `EIDER_JIT=never`.
  std::string source = {};
};

/// compile(), unless the cache has what it gave for the same program and options. One compile a
/// request in a process. Throws Error.
EIDER_API Executable compileCached(const Program &program, const CompileOptions &options,
                                   const CacheOptions &cache = {}, CompileReport *report = nullptr);

/// The kernel of a program for a device, specialised for `dims`, by the device's cache. Its
/// variants are compiled when they are prepared or launched. Throws Error.
EIDER_API Kernel jit(const Program &program, const Device &device, const Dims &dims = {},
                     const JitOptions &options = {});

} // namespace eider

#endif // EIDER_JIT_H
