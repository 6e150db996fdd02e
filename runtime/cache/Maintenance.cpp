//===- cache/Maintenance.cpp - The cache as a whole -----------------------===//
//
// Part of Eider, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//
#include "runtime/cache/Archive.h"
#include "runtime/cache/Cache.h"
#include "runtime/cache/PendingWrites.h"
#include "runtime/cache/Sha256.h"

#include <cerrno>
#include <cstring>
#include <fcntl.h>
#include <filesystem>
#include <set>
#include <unistd.h>

namespace eider {
namespace {

constexpr EntryKind kinds[] = {EntryKind::Kernel, EntryKind::Request};

/// The cache as it is on the disk, with what this process has made so far.
Cache openCache(const CacheOptions &options) {
  pendingWrites::drain();
  CacheOptions enabled = options;
  enabled.enabled = true;
  return Cache(enabled);
}

/// Calls `visit(kind, shelf, key, path)` for each name on the shelves of a layer.
template <typename Visit> void forEachName(const Cache::Layer &layer, Visit visit) {
  std::string problem;
  for (EntryKind kind : kinds)
    if (const Descriptor shelf = openSubdirectory(*layer.root, shelfOf(kind), false, problem))
      for (const std::string &key : namesIn(shelf))
        visit(kind, shelf, key, layer.path + "/" + shelfOf(kind) + "/" + key);
}

/// Calls `visit(kind, key, entry)` for each sound entry, the first layer's of each key.
template <typename Visit> void forEachSound(const Cache &cache, Visit visit) {
  std::set<std::pair<EntryKind, std::string>> seen;
  for (const Cache::Layer &layer : cache.layers())
    forEachName(layer, [&](EntryKind kind, const Descriptor &shelf, const std::string &key,
                           const std::string &) {
      if (!seen.count({kind, key}))
        if (EntryReading reading = readEntry(shelf, kind, key); reading.entry) {
          seen.emplace(kind, key);
          visit(kind, key, *reading.entry);
        }
    });
}

[[noreturn]] void failed(ErrorKind kind, const std::string &file, const std::string &doing,
                         int error) {
  throw Error(kind, doing + ": " + std::strerror(error), file);
}

/// A file that takes its name when it is whole.
class NewFile {
public:
  explicit NewFile(const std::string &path)
      : path(path), temporary(path + ".part-" + std::to_string(::getpid())),
        file(::open(temporary.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0644)) {
    if (!file)
      failed(ErrorKind::Request, path, "cannot be written", errno);
  }
  ~NewFile() {
    if (!temporary.empty())
      ::unlink(temporary.c_str());
  }
  NewFile(const NewFile &) = delete;
  NewFile &operator=(const NewFile &) = delete;

  void append(std::string_view bytes) {
    while (!bytes.empty()) {
      const ssize_t count = ::write(file.get(), bytes.data(), bytes.size());
      if (count < 0 && errno == EINTR)
        continue;
      if (count < 0)
        failed(ErrorKind::Machine, path, "cannot be written", errno);
      bytes.remove_prefix(count);
    }
  }

  void finish() {
    if (::fsync(file.get()) != 0 || ::rename(temporary.c_str(), path.c_str()) != 0)
      failed(ErrorKind::Machine, path, "cannot be written", errno);
    temporary.clear();
  }

private:
  std::string path, temporary;
  Descriptor file;
};

} // namespace

CacheStatistics cacheStatistics(const CacheOptions &options) {
  const Cache cache = openCache(options);
  CacheStatistics statistics;
  statistics.limit = cache.limit();
  for (const Cache::Layer &layer : cache.layers())
    if (layer.isBundle)
      statistics.bundles.push_back(layer.path);
  if (!cache.own())
    return statistics;
  statistics.directory = cache.own()->path;
  std::string problem;
  forEachName(*cache.own(), [&](EntryKind kind, const Descriptor &shelf, const std::string &key,
                                const std::string &) {
    const Descriptor directory = openSubdirectory(shelf, key, false, problem);
    if (!directory)
      return;
    ++(kind == EntryKind::Kernel ? statistics.kernels : statistics.requests);
    statistics.bytes += usageOf(directory).bytes;
  });
  if (const Descriptor staging = openSubdirectory(*cache.own()->root, "staging", false, problem))
    statistics.unfinished = static_cast<int64_t>(namesIn(staging).size());
  return statistics;
}

std::vector<std::string> verifyCache(const CacheOptions &options) {
  const Cache cache = openCache(options);
  std::vector<std::string> damaged;
  for (const Cache::Layer &layer : cache.layers())
    forEachName(layer, [&](EntryKind kind, const Descriptor &shelf, const std::string &key,
                           const std::string &path) {
      if (const EntryReading reading = readEntry(shelf, kind, key); !reading.problem.empty())
        damaged.push_back(path + ": " + reading.problem);
    });
  return damaged;
}

int64_t clearCache(const CacheOptions &options) {
  const Cache cache = openCache(options);
  int64_t removed = 0;
  if (cache.own())
    forEachName(*cache.own(), [&](EntryKind, const Descriptor &shelf, const std::string &key,
                                  const std::string &) { removed += cache.remove(shelf, key); });
  return removed;
}

CacheTransfer exportCache(const std::string &file, const std::string &records,
                          const CacheOptions &options) {
  std::error_code ignored;
  if (std::filesystem::is_regular_file(file, ignored) &&
      std::filesystem::file_size(file, ignored)) {
    const archive::Source source = archive::openFile(file, file);
    try {
      (void)archive::readRecords(source);
    } catch (const Error &) {
      throw Error(ErrorKind::Request,
                  "is no archive of a cache, or a damaged one, and what is in it would be lost",
                  file, "choose another name");
    }
  }
  const Cache cache = openCache(options);
  std::vector<archive::Item> items;
  forEachSound(cache, [&](EntryKind kind, const std::string &key, const CacheEntry &entry) {
    items.push_back(archive::itemOf(kind, key, entry));
  });
  NewFile output(file);
  output.append(archive::head(items, records));
  for (const archive::Item &item : items) {
    // Read again: all entries at once might not fit in memory.
    const std::optional<CacheEntry> entry = cache.find(item.kind, item.key);
    const std::string bytes = entry ? archive::body(item.key, *entry) : "";
    if (!entry || archive::itemOf(item.kind, item.key, *entry).files != item.files)
      throw Error(ErrorKind::Machine, "the cache changed while it was exported", file,
                  "export it again");
    output.append(bytes);
  }
  output.append(records);
  output.finish();
  return {static_cast<int64_t>(items.size()), 0, records};
}

CacheTransfer importCache(const std::string &file, const CacheOptions &options) {
  const archive::Source source = archive::openFile(file, file);
  archive::read(source, [](EntryKind, const std::string &, const CacheEntry &) {});
  const Cache cache = openCache(options);
  if (!cache.own())
    throw Error(ErrorKind::Machine, "there is no cache directory to store in", file,
                "set EIDER_CACHE_DIR to a directory of your own");
  const auto stored = [&](bool isStored) {
    if (!isStored)
      throw Error(ErrorKind::Machine, "not all of it could be stored", cache.own()->path,
                  "make room and import it again");
  };
  CacheTransfer transfer;
  transfer.records =
      archive::read(source, [&](EntryKind kind, const std::string &key, const CacheEntry &entry) {
        ++transfer.entries;
        std::string problem;
        const Descriptor shelf =
            openSubdirectory(*cache.own()->root, shelfOf(kind), false, problem);
        if (shelf && readEntry(shelf, kind, key).entry)
          ++transfer.present;
        else
          stored(cache.store(kind, key, entry));
      });
  return transfer;
}

} // namespace eider
