//===- cache/Cache.h - Entries on disk --------------------------*- C++ -*-===//
//
// Part of Eider, under the Apache License v2.0.
//
// DIRECTORY/kernels/<text key>/{kernel.cu, kernel.cubin or kernel.ptx, meta.json}
// DIRECTORY/requests/<request key>/{contract.json, meta.json}
// DIRECTORY/staging/: entries that are being written; DIRECTORY/locks/: files that stand for those
// being made.
//
// meta.json names the size and the SHA-256 of each other file. An entry appears whole, by one
// rename, or not at all.
//
//===----------------------------------------------------------------------===//
#ifndef EIDER_RUNTIME_CACHE_CACHE_H
#define EIDER_RUNTIME_CACHE_CACHE_H

#include "eider/runtime.h"
#include "runtime/cache/FileTree.h"

#include <chrono>
#include <map>
#include <memory>
#include <optional>
#include <string>

namespace eider {

/// Of the layout on disk and of the keys; goes into every key.
inline constexpr int cacheSchema = 1;

/// What an entry holds: files by name, and facts about them as JSON text (an object).
struct CacheEntry {
  std::map<std::string, std::string> files;
  std::string info = "{}";
};

/// The user's directory, or nothing: every problem is a miss, with one warning for each cause.
/// Thread-safe; so are many processes on one directory.
class Cache {
public:
  enum class Kind { Kernel, Request };

  explicit Cache(const CacheOptions &options);

  /// The entry, if it is there (or waits to be written) and every file of it has its digest.
  std::optional<CacheEntry> find(Kind kind, const std::string &key) const;

  /// Writes the entry, in the place of a bad one. If another process was faster, its entry stays.
  void store(Kind kind, const std::string &key, const CacheEntry &entry) const;

  /// Lets the entry be written, without waiting for the disk. `lock` is given back when it is.
  void storeLater(Kind kind, const std::string &key, CacheEntry entry,
                  std::shared_ptr<const Descriptor> lock = nullptr) const;

  /// The path of an entry; empty without a directory.
  std::string pathOf(Kind kind, const std::string &key) const;

  /// Held by the process that is about to make the entry; others wait for it, `timeout` at most.
  /// Null without a directory and when the time is over: then the entry is made twice, which does
  /// no harm. Given back by the last reference.
  std::shared_ptr<const Descriptor> lock(Kind kind, const std::string &key,
                                         std::chrono::milliseconds timeout) const;

private:
  bool publish(const Descriptor &staging, const std::string &staged, const Descriptor &shelf,
               const std::string &key) const;
  void cannotWrite() const;

  std::string path;
  std::shared_ptr<const Descriptor> root; ///< Without it: memory only.
};

} // namespace eider

#endif // EIDER_RUNTIME_CACHE_CACHE_H
