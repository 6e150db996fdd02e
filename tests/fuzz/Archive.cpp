//===- tests/fuzz/Archive.cpp ---------------------------------------------===//
//
// Part of Eider, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//
#include "runtime/cache/Archive.h"
#include "runtime/cache/Json.h"
#include "runtime/cache/Sha256.h"
#include "tests/fuzz/Targets.h"

#include "eider/error.h"

namespace eider::fuzz {
namespace {

void read(const std::string &bytes) {
  const eider::archive::Source source{"fuzz", bytes.size(), [&](uint64_t offset, uint64_t count) {
                                        if (offset > bytes.size() || count > bytes.size() - offset)
                                          defect("bytes beyond the archive are read");
                                        return bytes.substr(offset, count);
                                      }};
  std::optional<std::string> records, alone;
  try {
    alone = eider::archive::readRecords(source);
  } catch (const Error &) {
    alone.reset(); // refused, as it may be
  }
  try {
    records = eider::archive::read(
        source, [](EntryKind kind, const std::string &key, const CacheEntry &entry) {
          if (keyOf(kind, entry.fields) != key)
            defect("an entry of another key is taken");
          for (const auto &file : entry.files)
            if (!isFileName(file.first))
              defect("a path is accepted as the name of a file");
        });
  } catch (const Error &) {
    records.reset();
  }
  if (records && records != alone)
    defect("the records of an archive are others when they are read alone");
}

/// The first line of a meta.json with the digest of the rest.
void mendMeta(std::string &meta) {
  if (const size_t end = meta.find('\n'); end != std::string::npos)
    meta = "{\"sha256\": \"" + sha256(std::string_view(meta).substr(end + 1)) + "\"," +
           meta.substr(end);
}

/// Takes the next `bytes` of the data for a part of the index, and writes its digest into it.
void mendPart(Json &part, std::string &data, size_t &at) {
  if (!part.is_object() || !part.contains("bytes") || !part["bytes"].is_number_unsigned())
    return;
  const size_t count = std::min<size_t>(part["bytes"].get<uint64_t>(), data.size() - at);
  std::string bytes = data.substr(at, count);
  if (part.value("name", Json()) == metaFile) {
    mendMeta(bytes);
    data.replace(at, count, bytes);
    part["bytes"] = bytes.size();
  }
  part["sha256"] = sha256(bytes);
  at += bytes.size();
}

/// INDEX, a byte 0, DATA: as an archive whose digests are right, as far as it has the shape of one.
std::string mended(std::string_view bytes) {
  const size_t end = std::min(bytes.find('\0'), bytes.size());
  std::string index(bytes.substr(0, end)), data(bytes.substr(std::min(end + 1, bytes.size())));
  try {
    Json json = parseJson(index);
    size_t at = 0;
    for (Json &entry : json.at("entries"))
      for (Json &file : entry.at("files"))
        mendPart(file, data, at);
    mendPart(json.at("records"), data, at);
    index = textOf(json);
  } catch (const JsonError &) {
    index = bytes.substr(0, end); // it stays as it is
  }
  return "eider archive 1 " + std::to_string(index.size()) + " " + sha256(index) + "\n" + index +
         data;
}

} // namespace

void archive(std::string_view bytes) {
  read(std::string(bytes));
  read(mended(bytes));
}

} // namespace eider::fuzz
