//===- cache/Settings.cpp - Where the cache is, and how large -------------===//
//
// Part of Eider, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//
#include "runtime/cache/Settings.h"
#include "runtime/Log.h"

#include <charconv>
#include <cstdlib>
#include <optional>
#include <pwd.h>
#include <sstream>
#include <unistd.h>

namespace eider::settings {
namespace {

constexpr int64_t defaultLimit = INT64_C(2) << 30;

std::string environment(const char *name) {
  const char *value = std::getenv(name);
  return value ? value : "";
}

/// The bytes of `500M`, `2G` or `1000000`; at least one.
std::optional<int64_t> parseSize(std::string_view text) {
  int64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  const std::string_view unit(end, text.data() + text.size() - end);
  const size_t power = unit.empty() ? 0 : std::string_view("KMGT").find(unit) + 1;
  if (error != std::errc() || value < 1 || unit.size() > 1 ||
      (power == 0 && !unit.empty()) || // npos + 1
      __builtin_mul_overflow(value, INT64_C(1) << (10 * power), &value))
    return std::nullopt;
  return value;
}

} // namespace

std::string directory(const CacheOptions &options) {
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

void warnOfDirectory(const std::string &directory, const std::string &problem) {
  warnOnce("cache directory '" + directory + "' is not used: " + problem +
           "; set EIDER_CACHE_DIR to a directory of your own");
}

std::vector<std::string> bundles(const CacheOptions &options) {
  if (!options.bundles.empty())
    return options.bundles;
  std::vector<std::string> paths;
  std::istringstream list(environment("EIDER_CACHE_BUNDLES"));
  for (std::string path; std::getline(list, path, ':');)
    if (!path.empty())
      paths.push_back(path);
  return paths;
}

int64_t limit(const CacheOptions &options) {
  if (options.limit > 0)
    return options.limit;
  const std::string text = environment("EIDER_CACHE_SIZE");
  if (text.empty())
    return defaultLimit;
  if (const std::optional<int64_t> bytes = parseSize(text))
    return *bytes;
  warnOnce("EIDER_CACHE_SIZE: '" + text +
           "' is no size, 2 GiB is taken; give bytes, or a number "
           "with K, M, G or T after it");
  return defaultLimit;
}

bool mayCompile() {
  const std::string text = environment("EIDER_JIT");
  if (!text.empty() && text != "auto" && text != "never")
    throw Error(ErrorKind::Request, "'" + text + "' means nothing", "EIDER_JIT",
                "set it to never or auto, or unset it");
  return text != "never";
}

} // namespace eider::settings
