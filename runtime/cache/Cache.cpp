//===- cache/Cache.cpp - Entries on disk ----------------------------------===//
//
// Part of Eider, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//
#include "runtime/cache/Cache.h"
#include "runtime/Log.h"
#include "runtime/cache/PendingWrites.h"
#include "runtime/cache/Sha256.h"

#include <nlohmann/json.hpp>

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <fcntl.h>
#include <pwd.h>
#include <random>
#include <sys/file.h>
#include <sys/stat.h>
#include <thread>
#include <unistd.h>

namespace eider {
namespace {

using Json = nlohmann::ordered_json;

constexpr size_t metaLimit = 16 << 20, fileLimit = 512 << 20;

const char *shelfOf(Cache::Kind kind) {
  return kind == Cache::Kind::Kernel ? "kernels" : "requests";
}

std::string environment(const char *name) {
  const char *value = std::getenv(name);
  return value ? value : "";
}

/// Where the cache is, by the rule of CacheOptions; empty if the user has no home.
std::string directoryFor(const CacheOptions &options) {
  if (!options.directory.empty())
    return options.directory;
  if (std::string path = environment("EIDER_CACHE_DIR"); !path.empty())
    return path;
  // The XDG specification: a relative path is to be ignored.
  if (std::string path = environment("XDG_CACHE_HOME"); path.starts_with("/"))
    return path + "/eider";
  std::string home = environment("HOME");
  if (home.empty())
    if (const passwd *user = ::getpwuid(::geteuid()))
      home = user->pw_dir;
  return home.starts_with("/") ? home + "/.cache/eider" : "";
}

/// A name that no other process or thread has.
std::string stagingName() {
  static constexpr char digits[] = "0123456789abcdef";
  std::random_device random;
  std::string name = std::to_string(::getpid()) + "-";
  for (int i = 0; i < 16; ++i)
    name += digits[random() & 15];
  return name;
}

Json metaOf(const std::string &key, const CacheEntry &entry) {
  Json files = Json::object();
  for (const auto &[name, bytes] : entry.files)
    files[name] = {{"bytes", bytes.size()}, {"sha256", sha256(bytes)}};
  return {
      {"schema", cacheSchema}, {"key", key}, {"files", files}, {"info", Json::parse(entry.info)}};
}

/// The files that `meta` names, each verified; nothing if anything is amiss.
std::optional<CacheEntry> readEntry(const Descriptor &directory, const std::string &key) try {
  std::optional<std::string> text = readFile(directory, "meta.json", metaLimit);
  if (!text)
    return std::nullopt;
  const Json meta = Json::parse(*text);
  if (meta.at("schema") != cacheSchema || meta.at("key") != key)
    return std::nullopt;
  CacheEntry entry;
  for (const auto &[name, facts] : meta.at("files").items()) {
    if (name.find('/') != std::string::npos)
      return std::nullopt;
    std::optional<std::string> bytes = readFile(directory, name, fileLimit);
    if (!bytes || facts.at("bytes") != bytes->size() || facts.at("sha256") != sha256(*bytes))
      return std::nullopt;
    entry.files.emplace(name, std::move(*bytes));
  }
  entry.info = meta.at("info").dump();
  return entry;
} catch (const nlohmann::json::exception &) {
  return std::nullopt; // a bad entry is a miss
}

} // namespace

Cache::Cache(const CacheOptions &options) {
  if (!options.enabled)
    return;
  path = directoryFor(options);
  std::string problem = "the user has no home directory";
  if (!path.empty())
    if (Descriptor directory = openPrivateDirectory(path, problem))
      root = std::make_shared<const Descriptor>(std::move(directory));
  if (!root)
    warnOnce("cache directory '" + path + "' is not used: " + problem +
             "; set EIDER_CACHE_DIR to a directory of your own");
}

std::string Cache::pathOf(Kind kind, const std::string &key) const {
  return root ? path + "/" + shelfOf(kind) + "/" + key : "";
}

std::optional<CacheEntry> Cache::find(Kind kind, const std::string &key) const {
  if (!root)
    return std::nullopt;
  if (auto pending = pendingWrites::find(pathOf(kind, key)))
    return *pending;
  std::string problem;
  Descriptor shelf = openSubdirectory(*root, shelfOf(kind), false, problem);
  Descriptor directory = shelf ? openSubdirectory(shelf, key, false, problem) : Descriptor();
  return directory ? readEntry(directory, key) : std::nullopt;
}

void Cache::cannotWrite() const {
  warnOnce("cache directory '" + path + "' cannot be written: " + std::strerror(errno) +
           "; set EIDER_CACHE_DIR to a directory of your own");
}

void Cache::store(Kind kind, const std::string &key, const CacheEntry &entry) const {
  if (!root)
    return;
  std::string problem;
  Descriptor shelf = openSubdirectory(*root, shelfOf(kind), true, problem);
  Descriptor staging = openSubdirectory(*root, "staging", true, problem);
  if (!shelf || !staging)
    return cannotWrite();
  const std::string staged = stagingName();
  Descriptor directory = openSubdirectory(staging, staged, true, problem);
  bool written = bool(directory);
  for (const auto &[name, bytes] : entry.files)
    written = written && writeFile(directory, name, bytes);
  written = written && writeFile(directory, "meta.json", metaOf(key, entry).dump(1) + "\n") &&
            ::fsync(directory.get()) == 0 && publish(staging, staged, shelf, key);
  if (!written)
    cannotWrite();
  removeDirectory(staging, staged); // there still if it was not published
}

void Cache::storeLater(Kind kind, const std::string &key, CacheEntry entry,
                       std::shared_ptr<const Descriptor> lock) const {
  if (!root)
    return;
  auto shared = std::make_shared<const CacheEntry>(std::move(entry));
  pendingWrites::add(pathOf(kind, key), shared,
                     [cache = *this, kind, key, shared, lock] { cache.store(kind, key, *shared); });
}

std::shared_ptr<const Descriptor> Cache::lock(Kind kind, const std::string &key,
                                              std::chrono::milliseconds timeout) const {
  if (!root)
    return nullptr;
  std::string problem;
  Descriptor locks = openSubdirectory(*root, "locks", true, problem);
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
                    const std::string &key) const {
  auto rename = [&] {
    return ::renameat(staging.get(), staged.c_str(), shelf.get(), key.c_str()) == 0;
  };
  if (!rename()) {
    if (errno != EEXIST && errno != ENOTEMPTY && errno != ENOTDIR)
      return false;
    std::string problem;
    if (Descriptor rival = openSubdirectory(shelf, key, false, problem);
        rival && readEntry(rival, key))
      return true;
    // A bad entry, or something else under its name: out of the way, for us to remove.
    const std::string bad = stagingName();
    if (::renameat(shelf.get(), key.c_str(), staging.get(), bad.c_str()) != 0 && errno != ENOENT)
      return false;
    ::unlinkat(staging.get(), bad.c_str(), 0); // if it was no directory
    removeDirectory(staging, bad);
    if (!rename())
      return errno == EEXIST || errno == ENOTEMPTY; // another process has mended it meanwhile
  }
  return ::fsync(shelf.get()) == 0;
}

} // namespace eider
