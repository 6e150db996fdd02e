//===- cache/Archive.h - Entries on their way elsewhere ---------*- C++ -*-===//
//
// Part of Eider, under the Apache License v2.0.
//
// One file:
//
//   eider archive 1 BYTES SHA256     of the index, which is JSON:
//   {"entries": [{"shelf": "kernels", "key": "…", "files": [{"name", "bytes", "sha256"}, …]}, …],
//    "records": {"bytes", "sha256"}}
//   the bytes of every file of every entry in this order, meta.json first; the records.
//
// An archive is untrusted: nothing is allocated, stored or believed on its word alone.
//
//===----------------------------------------------------------------------===//
#ifndef EIDER_RUNTIME_CACHE_ARCHIVE_H
#define EIDER_RUNTIME_CACHE_ARCHIVE_H

#include "runtime/cache/Entry.h"

#include <functional>
#include <vector>

namespace eider::archive {

/// Where an archive is read from.
struct Source {
  std::string name; ///< In errors.
  uint64_t size = 0;
  /// That many bytes from that offset; both lie in the size.
  std::function<std::string(uint64_t offset, uint64_t bytes)> read;
};

/// A file as a source; `name` is its own in errors. Throws Error (Request) if it cannot be read.
Source openFile(const std::string &path, const std::string &name);

using TakeEntry =
    std::function<void(EntryKind kind, const std::string &key, const CacheEntry &entry)>;

/// Calls `take` for each entry, verified, and gives the records. Throws Error (Request) at the
/// first thing that is not as it must be: what was taken before is sound all the same.
std::string read(const Source &source, const TakeEntry &take);

/// The records alone, verified by the index, as is the file's length; its entries are not read.
/// Throws as read() does.
std::string readRecords(const Source &source);

/// One entry to write.
struct Item {
  EntryKind kind;
  std::string key;
  std::map<std::string, Meta::File> files; ///< meta.json among them
};

/// The item of an entry.
Item itemOf(EntryKind kind, const std::string &key, const CacheEntry &entry);

/// An archive's first line and index.
std::string head(const std::vector<Item> &items, const std::string &records);

/// The bytes of an entry, in the index's order.
std::string body(const std::string &key, const CacheEntry &entry);

} // namespace eider::archive

#endif // EIDER_RUNTIME_CACHE_ARCHIVE_H
