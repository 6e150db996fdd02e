//===- cache/Archive.cpp - Entries on their way elsewhere -----------------===//
//
// Part of Eider, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//
#include "runtime/cache/Archive.h"
#include "runtime/cache/Json.h"
#include "runtime/cache/Sha256.h"

#include "eider/error.h"

#include <charconv>
#include <set>

namespace eider::archive {
namespace {

constexpr std::string_view magic = "eider archive 1 ";
constexpr uint64_t firstLineLimit = 128, indexLimit = 256 << 20, recordsLimit = 1 << 30; ///< bytes

[[noreturn]] void refuse(const Source &source, const std::string &what) {
  throw Error(ErrorKind::Request, what, source.name,
              "give a file that eider cache export has written");
}

/// A part of an archive: its place and what it must be.
struct Part {
  std::string name;
  Meta::File facts;
};

struct IndexEntry {
  EntryKind kind;
  std::string key;
  std::vector<Part> files;
};

struct Index {
  std::vector<IndexEntry> entries;
  Meta::File records;
  uint64_t end = 0; ///< Where it ends in the file.
};

Meta::File factsFrom(const Json &json) {
  const Json &bytes = json.at("bytes");
  if (!bytes.is_number_unsigned())
    throw nlohmann::json::other_error::create(599, "'bytes' is no size",
                                              static_cast<const Json *>(nullptr));
  return {bytes, json.at("sha256")};
}

IndexEntry entryFrom(const Source &source, const Json &json) {
  IndexEntry entry;
  const std::string shelf = json.at("shelf");
  entry.kind = shelf == shelfOf(EntryKind::Kernel) ? EntryKind::Kernel : EntryKind::Request;
  entry.key = json.at("key");
  if (shelf != shelfOf(entry.kind) || !isKey(entry.key))
    refuse(source, "its index names no entry of a cache: '" + shelf + "/" + entry.key + "'");
  for (const Json &file : json.at("files")) {
    entry.files.push_back({file.at("name"), factsFrom(file)});
    const Part &part = entry.files.back();
    if (entry.files.size() == 1 ? part.name != metaFile : !isFileName(part.name))
      refuse(source, "its index names no file of an entry: '" + part.name + "'");
    if (part.facts.bytes > (part.name == metaFile ? metaLimit : fileLimit))
      refuse(source, "'" + part.name + "' is larger than a file of an entry can be");
  }
  if (entry.files.empty())
    refuse(source, "an entry of its index has no files");
  return entry;
}

/// The first line's number and digest.
Meta::File firstLine(const Source &source, uint64_t &indexBegin) {
  const std::string text = source.read(0, std::min(source.size, firstLineLimit));
  const size_t end = text.find('\n');
  if (!text.starts_with(magic) || end == std::string::npos)
    refuse(source, "it is no archive of a cache, or of another version");
  Meta::File facts;
  const char *const last = text.data() + end;
  const auto [after, error] = std::from_chars(text.data() + magic.size(), last, facts.bytes);
  if (error != std::errc() || after == last || *after != ' ' || facts.bytes > indexLimit)
    refuse(source, "its first line is damaged");
  facts.sha256.assign(after + 1, last);
  indexBegin = end + 1;
  return facts;
}

/// The bytes of a part, verified.
std::string partAt(const Source &source, uint64_t offset, const Meta::File &facts,
                   const std::string &name) {
  if (facts.bytes > source.size - offset)
    refuse(source, "it ends within '" + name + "'");
  std::string bytes = source.read(offset, facts.bytes);
  if (const std::string difference = differenceFrom(facts, bytes); !difference.empty())
    refuse(source, "'" + name + "' " + difference);
  return bytes;
}

/// The index, and that the file is as long as it says.
Index indexOf(const Source &source) try {
  Index index;
  uint64_t begin = 0;
  const Meta::File facts = firstLine(source, begin);
  const Json json = parseJson(partAt(source, begin, facts, "the index"));
  index.end = begin + facts.bytes;
  uint64_t end = index.end;
  const auto add = [&](uint64_t bytes) {
    if (__builtin_add_overflow(end, bytes, &end) || end > source.size)
      refuse(source, "its index promises more bytes than it has");
  };
  std::set<std::pair<EntryKind, std::string>> seen;
  for (const Json &each : json.at("entries")) {
    index.entries.push_back(entryFrom(source, each));
    const IndexEntry &entry = index.entries.back();
    if (!seen.emplace(entry.kind, entry.key).second)
      refuse(source, "its index names the entry " + entry.key + " twice");
    for (const Part &part : entry.files)
      add(part.facts.bytes);
  }
  index.records = factsFrom(json.at("records"));
  if (index.records.bytes > recordsLimit)
    refuse(source, "its records are larger than they can be");
  add(index.records.bytes);
  if (end != source.size)
    refuse(source, "it has more bytes than its index promises");
  return index;
} catch (const JsonError &error) {
  refuse(source, std::string("its index is damaged: ") + error.what());
}

/// An entry from its files, which are as the index says.
CacheEntry entryOf(const Source &source, const IndexEntry &indexed,
                   std::map<std::string, std::string> files) {
  std::string problem;
  const std::optional<Meta> meta = parseMeta(files[metaFile], problem);
  files.erase(metaFile);
  if (meta && (meta->key != indexed.key || keyOf(indexed.kind, meta->fields) != meta->key))
    problem = "its key is not that of its fields";
  if (meta && meta->files.size() != files.size())
    problem = "its files are not those of its meta.json";
  for (const auto &[name, bytes] : files) {
    if (!problem.empty())
      break;
    const auto found = meta->files.find(name);
    problem = found == meta->files.end() ? "meta.json knows no " + name
                                         : differenceFrom(found->second, bytes);
  }
  if (!problem.empty())
    refuse(source, "the entry " + indexed.key + ": " + problem);
  return {std::move(files), meta->info, meta->fields};
}

Json toJson(const std::string &name, const Meta::File &file) {
  return {{"name", name}, {"bytes", file.bytes}, {"sha256", file.sha256}};
}

} // namespace

std::string read(const Source &source, const TakeEntry &take) {
  const Index index = indexOf(source);
  uint64_t offset = index.end;
  for (const IndexEntry &entry : index.entries) {
    std::map<std::string, std::string> files;
    for (const Part &part : entry.files) {
      if (!files.emplace(part.name, partAt(source, offset, part.facts, part.name)).second)
        refuse(source, "the entry " + entry.key + " has '" + part.name + "' twice");
      offset += part.facts.bytes;
    }
    take(entry.kind, entry.key, entryOf(source, entry, std::move(files)));
  }
  return partAt(source, offset, index.records, "the records");
}

std::string readRecords(const Source &source) {
  const Index index = indexOf(source);
  return partAt(source, source.size - index.records.bytes, index.records, "the records");
}

Item itemOf(EntryKind kind, const std::string &key, const CacheEntry &entry) {
  Item item{kind, key, {}};
  for (const auto &[name, bytes] : entry.files)
    item.files[name] = {bytes.size(), sha256(bytes)};
  const std::string meta = metaText(key, entry);
  item.files[metaFile] = {meta.size(), sha256(meta)};
  return item;
}

std::string head(const std::vector<Item> &items, const std::string &records) {
  Json entries = Json::array();
  for (const Item &item : items) {
    Json files = Json::array({toJson(metaFile, item.files.at(metaFile))});
    for (const auto &[name, file] : item.files)
      if (name != metaFile)
        files.push_back(toJson(name, file));
    entries.push_back({{"shelf", shelfOf(item.kind)}, {"key", item.key}, {"files", files}});
  }
  const Json facts = {{"bytes", records.size()}, {"sha256", sha256(records)}};
  const std::string index = textOf(Json{{"entries", entries}, {"records", facts}}, 0) + "\n";
  return std::string(magic) + std::to_string(index.size()) + " " + sha256(index) + "\n" + index;
}

std::string body(const std::string &key, const CacheEntry &entry) {
  std::string bytes = metaText(key, entry);
  for (const auto &file : entry.files)
    bytes += file.second;
  return bytes;
}

} // namespace eider::archive
