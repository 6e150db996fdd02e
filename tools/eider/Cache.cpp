//===- tools/eider/Cache.cpp - eider cache --------------------------------===//
//
// Part of Eider, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//
#include "autotuner/store/Store.h"
#include "eider/runtime.h"
#include "tools/eider/Requests.h"
#include "tools/eider/Text.h"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <cstdio>

namespace eider::cli {

namespace {

/// `1.5 MiB`.
std::string sizeText(int64_t bytes) {
  constexpr const char *units[] = {"bytes", "KiB", "MiB", "GiB", "TiB"};
  double value = static_cast<double>(bytes);
  size_t unit = 0;
  for (; value >= 1024 && unit + 1 < std::size(units); ++unit)
    value /= 1024;
  char text[40];
  std::snprintf(text, sizeof(text), unit == 0 ? "%.0f %s" : "%.1f %s", value, units[unit]);
  return text;
}

void line(const std::string &name, const std::string &value) {
  print(padded(name, 12) + value + "\n");
}

int stat(bool json) {
  const CacheStatistics cache = cacheStatistics();
  if (json) {
    print(nlohmann::ordered_json{{"directory", cache.directory},
                                 {"kernels", cache.kernels},
                                 {"requests", cache.requests},
                                 {"bytes", cache.bytes},
                                 {"limit", cache.limit},
                                 {"unfinished", cache.unfinished},
                                 {"bundles", cache.bundles}}
              .dump(1) +
          "\n");
    return 0;
  }
  line("directory", cache.directory.empty() ? "none: memory only" : cache.directory);
  line("kernels", std::to_string(cache.kernels));
  line("requests", std::to_string(cache.requests));
  line("size", sizeText(cache.bytes) + " of " + sizeText(cache.limit));
  if (cache.unfinished != 0)
    line("unfinished", std::to_string(cache.unfinished) + ", left by writers that were killed");
  for (const std::string &bundle : cache.bundles)
    line("bundle", bundle);
  return 0;
}

/// Names what is damaged on standard output.
int verify() {
  const std::vector<std::string> damaged = verifyCache();
  for (const std::string &entry : damaged)
    print("damaged " + entry + "\n");
  if (damaged.empty()) {
    const CacheStatistics cache = cacheStatistics();
    print("sound: " + std::to_string(cache.kernels + cache.requests) + " entries\n");
    return 0;
  }
  std::fprintf(stderr,
               "eider: check failed: %zu entries are damaged; the next use makes each again\n",
               damaged.size());
  return 1;
}

} // namespace

int carryOut(const CacheRequest &request) {
  switch (request.action) {
  case CacheRequest::Action::Stat:
    return stat(request.json);
  case CacheRequest::Action::Verify:
    return verify();
  case CacheRequest::Action::Clear:
    print("removed " + std::to_string(clearCache()) + " entries\n");
    return 0;
  case CacheRequest::Action::Export: {
    const CacheTransfer done = exportCache(request.file, exportRecords());
    const auto records = std::ranges::count(done.records, '\n');
    print("exported " + std::to_string(done.entries) + " entries and " + std::to_string(records) +
          " tuning records\n");
    return 0;
  }
  case CacheRequest::Action::Import: {
    const CacheTransfer done = importCache(request.file);
    print("imported " + std::to_string(done.entries) + " entries, of which " +
          std::to_string(done.present) + " were here, and " +
          std::to_string(importRecords(done.records)) + " tuning records\n");
    return 0;
  }
  }
  return 0;
}

} // namespace eider::cli
