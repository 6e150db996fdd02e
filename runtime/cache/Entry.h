//===- cache/Entry.h - What an entry holds ----------------------*- C++ -*-===//
//
// Part of Eider, under the Apache License v2.0.
//
// Keys, and the text of meta.json. Nothing here touches the disk.
//
//===----------------------------------------------------------------------===//
#ifndef EIDER_RUNTIME_CACHE_ENTRY_H
#define EIDER_RUNTIME_CACHE_ENTRY_H

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>

namespace eider {

/// Of the layout on disk and of the keys; goes into every key.
inline constexpr int cacheSchema = 2;

enum class EntryKind { Kernel, Request };

/// `kernels` or `requests`: the shelf that entries of a kind stand on.
const char *shelfOf(EntryKind kind);

/// What an entry was made from, by name. Long texts stand for themselves by their SHA-256.
using KeyFields = std::map<std::string, std::string>;

/// The name of the entry for these fields: a SHA-256 over schema, kind and fields.
std::string keyOf(EntryKind kind, const KeyFields &fields);

/// Whether `text` could be a key: 64 hexadecimal digits.
bool isKey(std::string_view text);

/// Whether `name` could be a file of an entry: no path, nothing hidden, not meta.json.
bool isFileName(std::string_view name);

/// What an entry holds: files by name, and facts about them as JSON text (an object).
struct CacheEntry {
  std::map<std::string, std::string> files;
  std::string info = "{}";
  KeyFields fields = {};
  std::string path = {}; ///< Where it was found.
};

/// meta.json, read and sound in itself.
struct Meta {
  struct File {
    uint64_t bytes = 0;
    std::string sha256 = {};
    bool operator==(const File &) const = default;
  };
  std::string key;
  KeyFields fields;
  std::map<std::string, File> files;
  std::string info;
};

inline constexpr const char *metaFile = "meta.json";
inline constexpr size_t metaLimit = 16 << 20, fileLimit = 512 << 20; ///< bytes

/// The text of an entry's meta.json: JSON, whose first line holds the SHA-256 of the lines after.
std::string metaText(const std::string &key, const CacheEntry &entry);

/// Reads such a text; nothing, and why in `problem`, if a byte of it is not as it was written.
std::optional<Meta> parseMeta(std::string_view text, std::string &problem);

/// Empty if `bytes` are the file's; else how they differ.
std::string differenceFrom(const Meta::File &file, std::string_view bytes);

} // namespace eider

#endif // EIDER_RUNTIME_CACHE_ENTRY_H
