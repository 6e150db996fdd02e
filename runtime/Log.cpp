//===- runtime/Log.cpp - Warnings to the user's handler -------------------===//
//
// Part of Eider, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//
#include "runtime/Log.h"

#include "eider/runtime.h"

#include <mutex>
#include <set>

namespace eider {
namespace {

struct Log {
  std::mutex mutex;
  std::function<void(const std::string &)> handler;
  std::set<std::string> given;
};

/// Lives for ever: threads may warn while the process exits.
Log &log() {
  static Log *instance = new Log;
  return *instance;
}

} // namespace

void setLogHandler(std::function<void(const std::string &)> handler) {
  std::lock_guard lock(log().mutex);
  log().handler = std::move(handler);
}

void warnOnce(const std::string &line) {
  std::function<void(const std::string &)> handler;
  {
    std::lock_guard lock(log().mutex);
    if (!log().handler || !log().given.insert(line).second)
      return;
    handler = log().handler;
  }
  handler(line); // outside the lock: it may call back
}

} // namespace eider
