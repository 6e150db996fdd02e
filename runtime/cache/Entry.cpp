//===- cache/Entry.cpp - What an entry holds ------------------------------===//
//
// Part of Eider, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//
#include "runtime/cache/Entry.h"
#include "runtime/cache/Json.h"
#include "runtime/cache/Sha256.h"

#include <algorithm>

namespace eider {
namespace {

constexpr std::string_view digestBegin = "{\"sha256\": \"", digestEnd = "\",\n";
constexpr size_t digits = 64;

bool isHexadecimal(std::string_view text) {
  return text.find_first_not_of("0123456789abcdef") == std::string_view::npos;
}

Meta metaFrom(const Json &json) {
  Meta meta;
  meta.key = json.at("key");
  meta.fields = json.at("fields").get<KeyFields>();
  for (const auto &[name, facts] : json.at("files").get_ref<const Json::object_t &>())
    meta.files[name] = {facts.at("bytes"), facts.at("sha256")};
  meta.info = textOf(json.at("info"));
  return meta;
}

} // namespace

const char *shelfOf(EntryKind kind) { return kind == EntryKind::Kernel ? "kernels" : "requests"; }

std::string keyOf(EntryKind kind, const KeyFields &fields) {
  Sha256 hash;
  hash.field("eider cache");
  hash.field(std::to_string(cacheSchema));
  hash.field(shelfOf(kind));
  for (const auto &[name, value] : fields) {
    hash.field(name);
    hash.field(value);
  }
  return hash.hex();
}

bool isKey(std::string_view text) { return text.size() == digits && isHexadecimal(text); }

bool isFileName(std::string_view name) {
  constexpr std::string_view allowed = "abcdefghijklmnopqrstuvwxyz0123456789_-.";
  return !name.empty() && name.size() <= 64 && name.front() != '.' && name != metaFile &&
         name.find_first_not_of(allowed) == std::string_view::npos;
}

std::string metaText(const std::string &key, const CacheEntry &entry) {
  Json files = Json::object();
  for (const auto &[name, bytes] : entry.files)
    files[name] = {{"bytes", bytes.size()}, {"sha256", sha256(bytes)}};
  const Json json = {{"schema", cacheSchema},
                     {"key", key},
                     {"fields", entry.fields},
                     {"files", files},
                     {"info", parseJson(entry.info)}};
  // The object's first member is the digest of the rest: no byte can change unseen.
  const std::string rest = textOf(json, 1).substr(2) + "\n";
  return std::string(digestBegin) + sha256(rest) + std::string(digestEnd) + rest;
}

std::optional<Meta> parseMeta(std::string_view text, std::string &problem) try {
  const size_t head = digestBegin.size() + digits + digestEnd.size();
  problem = "meta.json is not as it was written";
  if (text.size() < head || !text.starts_with(digestBegin) ||
      text.substr(head - digestEnd.size(), digestEnd.size()) != digestEnd ||
      text.substr(digestBegin.size(), digits) != sha256(text.substr(head)))
    return std::nullopt;
  const Json json = parseJson(text);
  if (json.at("schema") != cacheSchema) {
    problem = "meta.json is of another schema";
    return std::nullopt;
  }
  Meta meta = metaFrom(json);
  if (!isKey(meta.key) ||
      !std::ranges::all_of(meta.files, [](const auto &file) { return isFileName(file.first); })) {
    problem = "meta.json names what no entry has";
    return std::nullopt;
  }
  problem.clear();
  return meta;
} catch (const JsonError &) {
  return std::nullopt; // `problem` says so
}

std::string differenceFrom(const Meta::File &file, std::string_view bytes) {
  if (file.bytes != bytes.size())
    return "has " + std::to_string(bytes.size()) + " bytes of " + std::to_string(file.bytes);
  return file.sha256 == sha256(bytes) ? "" : "is not as it was written";
}

} // namespace eider
