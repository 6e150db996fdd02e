//===- cache/PendingWrites.h - Entries on their way to the disk -*- C++ -*-===//
//
// Part of Eider, under the Apache License v2.0.
//
// Waiting for a disk takes many milliseconds; who has compiled a kernel wants to launch it. One
// thread a process writes.
//
//===----------------------------------------------------------------------===//
#ifndef EIDER_RUNTIME_CACHE_PENDINGWRITES_H
#define EIDER_RUNTIME_CACHE_PENDINGWRITES_H

#include "runtime/cache/Cache.h"

#include <functional>
#include <memory>
#include <string>

namespace eider::pendingWrites {

/// Calls `write` on the writing thread, soon, and at the latest while the process exits; in a
/// forked child, at once. Until it returns, find() gives `entry` for `path`.
void add(const std::string &path, std::shared_ptr<const CacheEntry> entry,
         std::function<void()> write);

/// The entry that waits to be written to `path`; null if none does.
std::shared_ptr<const CacheEntry> find(const std::string &path);

/// Returns when all is written.
void drain();

} // namespace eider::pendingWrites

#endif // EIDER_RUNTIME_CACHE_PENDINGWRITES_H
