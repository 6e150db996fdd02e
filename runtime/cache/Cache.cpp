//===- cache/Cache.cpp - Entries on disk ----------------------------------===//
//
// Part of Eider, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//
#include "runtime/cache/Cache.h"
#include "runtime/Log.h"
#include "runtime/cache/PendingWrites.h"
#include "runtime/cache/Settings.h"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <fcntl.h>
#include <map>
#include <mutex>
#include <random>
#include <sys/file.h>
#include <thread>
#include <unistd.h>

namespace eider {
namespace {

/// A name that no other process or thread has.
std::string stagingName() {
  static constexpr char digits[] = "0123456789abcdef";
  std::random_device random;
  std::string name = std::to_string(::getpid()) + "-";
  for (int i = 0; i < 16; ++i)
    name += digits[random() & 15];
  return name;
}

/// Looking at every entry takes its time: at the first store of a process, and each time that it
/// has added 1/64 of the limit.
bool isSweepDue(const std::string &path, int64_t stored, int64_t limit) {
  static auto *mutex = new std::mutex;
  static auto *sinceSweep = new std::map<std::string, int64_t>;
  std::lock_guard lock(*mutex);
  const auto [entry, isFirst] = sinceSweep->try_emplace(path, 0);
  entry->second += stored;
  if (!isFirst && entry->second < limit / 64)
    return false;
  entry->second = 0;
  return true;
}

/// The entry in an open directory.
EntryReading readFiles(const Descriptor &directory, EntryKind kind, const std::string &key) {
  EntryReading reading;
  std::optional<Meta> meta = readMeta(directory, key, reading.problem);
  if (!meta)
    return reading;
  if (keyOf(kind, meta->fields) != key) {
    reading.problem = "its key is not that of its fields";
    return reading;
  }
  CacheEntry entry;
  for (const auto &[name, facts] : meta->files) {
    std::optional<std::string> bytes = readFile(directory, name, fileLimit);
    const std::string difference = bytes ? differenceFrom(facts, *bytes) : "cannot be read";
    if (!difference.empty()) {
      reading.problem = name + " " + difference;
      return reading;
    }
    entry.files.emplace(name, std::move(*bytes));
  }
  entry.info = std::move(meta->info);
  entry.fields = std::move(meta->fields);
  reading.entry = std::move(entry);
  return reading;
}

} // namespace

std::optional<Meta> readMeta(const Descriptor &directory, const std::string &key,
                             std::string &problem) {
  std::optional<std::string> text = readFile(directory, metaFile, metaLimit);
  if (!text) {
    problem = std::string(metaFile) + " cannot be read";
    return std::nullopt;
  }
  std::optional<Meta> meta = parseMeta(*text, problem);
  if (meta && meta->key != key) {
    problem = "it is of another key";
    return std::nullopt;
  }
  return meta;
}

EntryReading readEntry(const Descriptor &shelf, EntryKind kind, const std::string &key) {
  // Another process may take the entry away while we read, and put it there again.
  for (int attempt = 0; attempt < 3; ++attempt) {
    EntryReading reading;
    const Descriptor directory = openSubdirectory(shelf, key, false, reading.problem);
    if (!directory)
      return reading;
    reading = readFiles(directory, kind, key);
    if (reading.entry || isStillIn(shelf, key, directory))
      return reading;
  }
  return {};
}

Cache::Cache(const CacheOptions &options) {
  if (!options.enabled)
    return;
  const std::string path = settings::directory(options);
  std::string problem = "the user has no home directory";
  Descriptor directory;
  if (!path.empty())
    directory = openPrivateDirectory(path, problem);
  if (directory)
    layers_.push_back({path, std::make_shared<const Descriptor>(std::move(directory)), false});
  else
    settings::warnOfDirectory(path, problem);
  for (const std::string &bundle : settings::bundles(options))
    if (Descriptor opened = openForeignDirectory(bundle, problem))
      layers_.push_back({bundle, std::make_shared<const Descriptor>(std::move(opened)), true});
    else
      warnOnce("cache bundle '" + bundle + "' is not used: " + problem +
               "; correct EIDER_CACHE_BUNDLES");
  limit_ = settings::limit(options);
  whyMiss = options.whyMiss;
}

const Cache::Layer *Cache::own() const {
  return layers_.empty() || layers_.front().isBundle ? nullptr : &layers_.front();
}

std::string Cache::pathOf(Kind kind, const std::string &key) const {
  return own() ? own()->path + "/" + shelfOf(kind) + "/" + key : "";
}

std::optional<CacheEntry> Cache::find(Kind kind, const std::string &key) const {
  if (own())
    if (auto pending = pendingWrites::find(pathOf(kind, key))) {
      CacheEntry entry = *pending;
      entry.path = pathOf(kind, key);
      return entry;
    }
  for (const Layer &layer : layers_) {
    std::string problem;
    const Descriptor shelf = openSubdirectory(*layer.root, shelfOf(kind), false, problem);
    EntryReading reading;
    if (shelf)
      reading = readEntry(shelf, kind, key);
    const std::string path = layer.path + "/" + shelfOf(kind) + "/" + key;
    if (reading.entry) {
      if (!layer.isBundle)
        touch(shelf, key);
      reading.entry->path = path;
      return std::move(reading.entry);
    }
    if (!reading.problem.empty())
      warnOnce("cache entry '" + path + "' is not used: " + reading.problem +
               (layer.isBundle ? "; mend the bundle" : "; it is made again"));
  }
  return std::nullopt;
}

void Cache::cannotWrite(int error) const {
  warnOnce("cache directory '" + own()->path + "' cannot be written: " + std::strerror(error) +
           "; make room, or set EIDER_CACHE_DIR to a directory of your own");
}

bool Cache::store(Kind kind, const std::string &key, const CacheEntry &entry) const {
  if (!own())
    return false;
  std::string problem;
  const Descriptor &root = *own()->root;
  Descriptor shelf = openSubdirectory(root, shelfOf(kind), true, problem);
  Descriptor staging = shelf ? openSubdirectory(root, "staging", true, problem) : Descriptor();
  if (!shelf || !staging) {
    cannotWrite(errno);
    return false;
  }
  const std::string staged = stagingName();
  Descriptor directory = openSubdirectory(staging, staged, true, problem);
  bool written = bool(directory);
  for (const auto &[name, bytes] : entry.files)
    written = written && writeFile(directory, name, bytes);
  written = written && writeFile(directory, metaFile, metaText(key, entry)) &&
            ::fsync(directory.get()) == 0 && publish(staging, staged, shelf, kind, key);
  if (!written)
    cannotWrite(errno);
  removeDirectory(staging, staged); // there still if it was not published
  int64_t bytes = 0;
  for (const auto &file : entry.files)
    bytes += static_cast<int64_t>(file.second.size());
  if (isSweepDue(own()->path, bytes, limit_))
    sweep();
  return written;
}

void Cache::storeLater(Kind kind, const std::string &key, CacheEntry entry,
                       std::shared_ptr<const Descriptor> lock) const {
  if (!own())
    return;
  auto shared = std::make_shared<const CacheEntry>(std::move(entry));
  pendingWrites::add(pathOf(kind, key), shared,
                     [cache = *this, kind, key, shared, lock = std::move(lock)] {
                       cache.store(kind, key, *shared);
                     });
}

std::shared_ptr<const Descriptor> Cache::lock(Kind kind, const std::string &key,
                                              std::chrono::milliseconds timeout) const {
  if (!own())
    return nullptr;
  std::string problem;
  Descriptor locks = openSubdirectory(*own()->root, "locks", true, problem);
  if (!locks)
    return nullptr; // store() will warn
  // One of 256 files: they need never be removed.
  const std::string name = shelfOf(kind) + ("-" + key.substr(0, 2));
  Descriptor file(
      ::openat(locks.get(), name.c_str(), O_RDWR | O_CREAT | O_NOFOLLOW | O_CLOEXEC, 0600));
  const auto end = std::chrono::steady_clock::now() + timeout;
  while (file && ::flock(file.get(), LOCK_EX | LOCK_NB) != 0) {
    if (errno != EWOULDBLOCK || std::chrono::steady_clock::now() >= end)
      return nullptr;
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
  return file ? std::make_shared<const Descriptor>(std::move(file)) : nullptr;
}

/// Moves a finished entry to its place.
bool Cache::publish(const Descriptor &staging, const std::string &staged, const Descriptor &shelf,
                    Kind kind, const std::string &key) const {
  auto rename = [&] {
    return ::renameat(staging.get(), staged.c_str(), shelf.get(), key.c_str()) == 0;
  };
  if (!rename()) {
    if (errno != EEXIST && errno != ENOTEMPTY && errno != ENOTDIR)
      return false;
    if (readEntry(shelf, kind, key).entry)
      return true; // a rival's
    // A bad entry, or something else under its name.
    if (!remove(shelf, key))
      return false;
    if (!rename())
      return errno == EEXIST || errno == ENOTEMPTY; // another process has mended it meanwhile
  }
  return ::fsync(shelf.get()) == 0;
}

bool Cache::remove(const Descriptor &shelf, const std::string &key) const {
  std::string problem;
  const Descriptor staging = openSubdirectory(*own()->root, "staging", true, problem);
  const std::string gone = stagingName();
  if (!staging ||
      (::renameat(shelf.get(), key.c_str(), staging.get(), gone.c_str()) != 0 && errno != ENOENT))
    return false;
  ::unlinkat(staging.get(), gone.c_str(), 0); // if it was no directory
  removeDirectory(staging, gone);
  return true;
}

} // namespace eider
