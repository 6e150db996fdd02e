//===- cache/PendingWrites.cpp - Entries on their way to the disk ---------===//
//
// Part of Eider, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//
#include "runtime/cache/PendingWrites.h"

#include <condition_variable>
#include <cstdlib>
#include <deque>
#include <mutex>
#include <system_error>
#include <thread>
#include <unistd.h>

namespace eider::pendingWrites {
namespace {

struct Write {
  std::string path;
  std::shared_ptr<const CacheEntry> entry;
  std::function<void()> write;
};

/// Never destroyed: the writing thread lives until the process ends.
struct Queue {
  const pid_t owner = ::getpid(); ///< A forked child has the queue, but not the thread.
  std::mutex mutex;
  std::condition_variable changed;
  std::deque<Write> waiting; ///< The first one is being written.
  bool threadRuns = false;
};

Queue &queue() {
  static Queue *instance = new Queue;
  return *instance;
}

void writeForEver(Queue &queue) {
  std::unique_lock lock(queue.mutex);
  for (;;) {
    queue.changed.wait(lock, [&] { return !queue.waiting.empty(); });
    const std::function<void()> write = queue.waiting.front().write;
    lock.unlock();
    write();
    lock.lock();
    queue.waiting.pop_front();
    queue.changed.notify_all();
  }
}

/// Starts the thread at the first call. False if the system has none to give.
bool threadRuns(Queue &queue) {
  if (queue.threadRuns)
    return true;
  try {
    std::thread(writeForEver, std::ref(queue)).detach();
  } catch (const std::system_error &) {
    return false;
  }
  std::atexit(drain);
  return queue.threadRuns = true;
}

} // namespace

void add(const std::string &path, std::shared_ptr<const CacheEntry> entry,
         std::function<void()> write) {
  Queue &pending = queue();
  if (pending.owner == ::getpid()) {
    std::lock_guard lock(pending.mutex);
    if (threadRuns(pending)) {
      pending.waiting.push_back({path, std::move(entry), std::move(write)});
      pending.changed.notify_all();
      return;
    }
  }
  write();
}

std::shared_ptr<const CacheEntry> find(const std::string &path) {
  Queue &pending = queue();
  if (pending.owner != ::getpid())
    return nullptr;
  std::lock_guard lock(pending.mutex);
  for (const Write &write : pending.waiting)
    if (write.path == path)
      return write.entry;
  return nullptr;
}

void drain() {
  Queue &pending = queue();
  if (pending.owner != ::getpid())
    return;
  std::unique_lock lock(pending.mutex);
  pending.changed.wait(lock, [&] { return pending.waiting.empty(); });
}

} // namespace eider::pendingWrites
