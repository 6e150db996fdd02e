//===- cache/Cache.h - Entries on disk --------------------------*- C++ -*-===//
//
// Part of Eider, under the Apache License v2.0.
//
// DIRECTORY/kernels/<text key>/{kernel.cu, kernel.cubin or kernel.ptx, meta.json}
// DIRECTORY/requests/<request key>/{contract.json, program.mlir, meta.json}
// DIRECTORY/staging/: entries that are being written or removed; DIRECTORY/locks/: files that stand
// for those being made.
//
// An entry appears whole, by one rename, or not at all. docs/design/cache.md says what happens at
// each fault.
//
//===----------------------------------------------------------------------===//
#ifndef EIDER_RUNTIME_CACHE_CACHE_H
#define EIDER_RUNTIME_CACHE_CACHE_H

#include "eider/runtime.h"
#include "runtime/cache/Entry.h"
#include "runtime/cache/FileTree.h"

#include <chrono>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace eider {

/// The user's directory and read-only bundles, or nothing: every problem is a miss, with one
/// warning for each cause. Thread-safe; so are many processes on one directory.
class Cache {
public:
  using Kind = EntryKind;

  explicit Cache(const CacheOptions &options);

  /// The entry, if it is there (or waits to be written) and every file of it has its digest.
  std::optional<CacheEntry> find(Kind kind, const std::string &key) const;

  /// Writes the entry, in the place of a bad one, then keeps the directory within its limit. If
  /// another process was faster, its entry stays. False if it is not there then.
  bool store(Kind kind, const std::string &key, const CacheEntry &entry) const;

  /// Lets the entry be written, without waiting for the disk. `lock` is given back when it is.
  void storeLater(Kind kind, const std::string &key, CacheEntry entry,
                  std::shared_ptr<const Descriptor> lock = nullptr) const;

  /// The path of an entry that is stored; empty without a directory.
  std::string pathOf(Kind kind, const std::string &key) const;

  /// Held by the process that is about to make the entry; others wait for it, `timeout` at most.
  /// Null without a directory and when the time is over: then the entry is made twice, which does
  /// no harm. Given back by the last reference.
  std::shared_ptr<const Descriptor> lock(Kind kind, const std::string &key,
                                         std::chrono::milliseconds timeout) const;

  //===-- For tools --------------------------------------------------------===//

  /// A directory that is searched: the user's, or a bundle.
  struct Layer {
    std::string path;
    std::shared_ptr<const Descriptor> root;
    bool isBundle;
  };
  const std::vector<Layer> &layers() const { return layers_; }

  /// The directory that entries are stored in; null without one.
  const Layer *own() const;

  /// Bytes that own() may hold.
  int64_t limit() const { return limit_; }

  bool explainsMisses() const { return whyMiss; }

  /// Removes the least recently used entries of own() until it holds 7/8 of the limit, if it is
  /// over it, and what killed writers have left. Nothing if another process does.
  void sweep() const;

  /// Takes an entry of own() away: first its name, then its files, so that readers see all or
  /// nothing.
  bool remove(const Descriptor &shelf, const std::string &key) const;

private:
  bool publish(const Descriptor &staging, const std::string &staged, const Descriptor &shelf,
               Kind kind, const std::string &key) const;
  void cannotWrite(int error) const;

  std::vector<Layer> layers_; ///< Empty: memory only.
  int64_t limit_ = 0;
  bool whyMiss = false;
};

/// An entry as it was read; `entry` is empty and so is `problem` if there is none.
struct EntryReading {
  std::optional<CacheEntry> entry;
  std::string problem;
};

/// Reads an entry of a shelf whole, every file verified.
EntryReading readEntry(const Descriptor &shelf, EntryKind kind, const std::string &key);

/// Reads meta.json alone.
std::optional<Meta> readMeta(const Descriptor &directory, const std::string &key,
                             std::string &problem);

} // namespace eider

#endif // EIDER_RUNTIME_CACHE_CACHE_H
