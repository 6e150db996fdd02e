//===- cache/Sweep.cpp - The cache within its limit -----------------------===//
//
// Part of Eider, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//
#include "runtime/cache/Cache.h"

#include <algorithm>
#include <fcntl.h>
#include <sys/file.h>

namespace eider {
namespace {

/// How long a writer may take before what it has staged counts as left behind.
constexpr std::chrono::hours abandoned(1);

struct Candidate {
  EntryKind kind;
  std::string key;
  Usage usage;
};

int64_t now() {
  return std::chrono::duration_cast<std::chrono::nanoseconds>(
             std::chrono::system_clock::now().time_since_epoch())
      .count();
}

void removeAbandoned(const Descriptor &root) {
  std::string problem;
  const Descriptor staging = openSubdirectory(root, "staging", false, problem);
  if (!staging)
    return;
  const int64_t oldest = now() - std::chrono::nanoseconds(abandoned).count();
  for (const std::string &name : namesIn(staging)) {
    const Descriptor directory = openSubdirectory(staging, name, false, problem);
    if (directory && usageOf(directory).time < oldest)
      removeDirectory(staging, name);
  }
}

} // namespace

void Cache::sweep() const {
  std::string problem;
  const Descriptor &root = *own()->root;
  const Descriptor locks = openSubdirectory(root, "locks", true, problem);
  if (!locks)
    return;
  const Descriptor mine(
      ::openat(locks.get(), "sweep", O_RDWR | O_CREAT | O_NOFOLLOW | O_CLOEXEC, 0600));
  if (!mine || ::flock(mine.get(), LOCK_EX | LOCK_NB) != 0)
    return;
  removeAbandoned(root);
  std::vector<Candidate> candidates;
  int64_t total = 0;
  for (EntryKind kind : {EntryKind::Kernel, EntryKind::Request})
    if (const Descriptor shelf = openSubdirectory(root, shelfOf(kind), false, problem))
      for (const std::string &key : namesIn(shelf))
        if (const Descriptor directory = openSubdirectory(shelf, key, false, problem)) {
          candidates.push_back({kind, key, usageOf(directory)});
          total += candidates.back().usage.bytes;
        }
  if (total <= limit_)
    return;
  std::ranges::sort(candidates, {}, [](const Candidate &each) { return each.usage.time; });
  candidates.pop_back(); // what was used last stays, however large
  for (const Candidate &each : candidates) {
    if (total <= limit_ - limit_ / 8)
      break;
    const Descriptor shelf = openSubdirectory(root, shelfOf(each.kind), false, problem);
    if (shelf && remove(shelf, each.key))
      total -= each.usage.bytes;
  }
}

} // namespace eider
