//===- cache/Settings.h - Where the cache is, and how large -----*- C++ -*-===//
//
// Part of Eider, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//
#ifndef EIDER_RUNTIME_CACHE_SETTINGS_H
#define EIDER_RUNTIME_CACHE_SETTINGS_H

#include "eider/runtime.h"

#include <string>
#include <vector>

/// What CacheOptions leave open, from the environment.
namespace eider::settings {

/// Empty if the user has no home.
std::string directory(const CacheOptions &options);

/// Warns that directory() cannot be used: once, whoever finds it so.
void warnOfDirectory(const std::string &directory, const std::string &problem);

std::vector<std::string> bundles(const CacheOptions &options);

/// In bytes. A size that cannot be read is warned of.
int64_t limit(const CacheOptions &options);

/// Whether `EIDER_JIT` lets a kernel that the cache lacks be compiled: everything but `never` does.
/// Throws Error (Request) for a value that means nothing.
bool mayCompile();

} // namespace eider::settings

#endif // EIDER_RUNTIME_CACHE_SETTINGS_H
