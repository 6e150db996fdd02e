//===- runtime/SingleFlight.h - One computation a key -----------*- C++ -*-===//
//
// Part of Eider, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//
#ifndef EIDER_RUNTIME_SINGLEFLIGHT_H
#define EIDER_RUNTIME_SINGLEFLIGHT_H

#include <exception>
#include <future>
#include <map>
#include <memory>
#include <mutex>
#include <string>

namespace eider {

/// Values by key, each computed once: whoever asks while another computes waits for it. A failure
/// is given to all who wait, and forgotten. Thread-safe.
template <typename Value> class SingleFlight {
public:
  using Pointer = std::shared_ptr<const Value>;

  template <typename Compute> Pointer get(const std::string &key, Compute &&compute) {
    std::promise<Pointer> promise;
    std::shared_future<Pointer> future;
    bool mine = false;
    {
      std::lock_guard lock(mutex);
      auto [entry, inserted] = values.try_emplace(key);
      if ((mine = inserted))
        entry->second = promise.get_future().share();
      future = entry->second;
    }
    if (mine) {
      try {
        promise.set_value(compute());
      } catch (...) {
        {
          std::lock_guard lock(mutex);
          values.erase(key);
        }
        promise.set_exception(std::current_exception());
      }
    }
    return future.get();
  }

private:
  std::mutex mutex;
  std::map<std::string, std::shared_future<Pointer>> values;
};

} // namespace eider

#endif // EIDER_RUNTIME_SINGLEFLIGHT_H
