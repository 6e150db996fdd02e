//===- measure/Worker.cpp - eider-worker: runs candidates -----------------===//
//
// Part of Eider, under the Apache License v2.0.
//
// A process of its own for one device, so that a kernel that hangs, faults or traps takes nothing
// else with it. Started by the tuner alone: eider-worker DEVICE CACHE-DIRECTORY.
//
//===----------------------------------------------------------------------===//
#include "autotuner/measure/CellRun.h"

#include <csignal>
#include <cstdio>
#include <deque>
#include <iostream>
#include <unistd.h>

namespace eider::tuning {
namespace {

constexpr int faultStatus = 70;

/// Lines to the tuner. Whatever else writes to standard output goes to standard error.
class Channel {
public:
  Channel() : fd(::dup(STDOUT_FILENO)) { ::dup2(STDERR_FILENO, STDOUT_FILENO); }

  void send(const nlohmann::json &event) const {
    const std::string line =
        event.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace) + "\n";
    for (size_t sent = 0; sent < line.size();) {
      const ssize_t n = ::write(fd, line.data() + sent, line.size() - sent);
      if (n <= 0)
        std::_Exit(0); // the tuner is gone
      sent += static_cast<size_t>(n);
    }
  }

private:
  int fd;
};

/// Requests, read by a thread of its own: when the tuner ends, so does this process, whatever a
/// kernel is at.
class Requests {
public:
  Requests() {
    std::thread([this] {
      for (std::string line; std::getline(std::cin, line);) {
        std::lock_guard lock(mutex);
        lines.push_back(std::move(line));
        changed.notify_one();
      }
      std::_Exit(0);
    }).detach();
  }

  std::string next() {
    std::unique_lock lock(mutex);
    changed.wait(lock, [&] { return !lines.empty(); });
    std::string line = std::move(lines.front());
    lines.pop_front();
    return line;
  }

private:
  std::mutex mutex;
  std::condition_variable changed;
  std::deque<std::string> lines;
};

const char *nameOf(ErrorKind kind) {
  return kind == ErrorKind::Request   ? "request"
         : kind == ErrorKind::Machine ? "machine"
                                      : "internal";
}

int serve(const std::string &id, const std::string &cache) {
  const Channel channel;
  const Report report = [&](const nlohmann::json &event) { channel.send(event); };
  const auto complain = [&](const Error &error) {
    report({{"event", "error"}, {"kind", nameOf(error.kind())}, {"why", error.what()}});
  };
  std::optional<Device> device;
  std::optional<Rounds> rounds;
  try {
    DeviceOptions options;
    options.cache.directory = cache;
    device = Device::open(id, options);
    rounds.emplace(*device);
  } catch (const Error &error) {
    complain(error);
    return 3;
  }
  report({{"event", "ready"}, {"target", device->target()}});
  Requests &requests = *new Requests; // outlives every thread
  while (true) {
    try {
      const CellRequest request = parseRequest(requests.next());
      CellRun(*device, *rounds, request, report).run();
    } catch (const DeviceFault &fault) {
      report({{"event", "fault"}, {"id", fault.id}, {"why", fault.why}});
      std::_Exit(faultStatus); // nothing on this device can be trusted or freed any more
    } catch (const Error &error) {
      complain(error);
    }
  }
}

} // namespace
} // namespace eider::tuning

int main(int argc, char **argv) {
  if (argc != 3) {
    std::fprintf(stderr, "eider-worker: started by eider tune; gives nothing by itself\n");
    return 2;
  }
  return eider::tuning::serve(argv[1], argv[2]);
}
