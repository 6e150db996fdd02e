//===- tests/unit/runtime/SingleFlightTest.cpp ----------------------------===//
//
// Part of Eider, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//
#include "runtime/SingleFlight.h"

#include <gtest/gtest.h>

#include <atomic>
#include <barrier>
#include <chrono>
#include <stdexcept>
#include <thread>
#include <vector>

using eider::SingleFlight;

namespace {

TEST(SingleFlight, SixteenThreadsComputeOnce) {
  SingleFlight<int> flight;
  std::atomic<int> computed = 0, wrong = 0;
  std::barrier start(16);
  std::vector<std::thread> threads;
  for (int t = 0; t < 16; ++t)
    threads.emplace_back([&] {
      start.arrive_and_wait();
      auto value = flight.get("key", [&] {
        ++computed;
        std::this_thread::sleep_for(std::chrono::milliseconds(20));
        return std::make_shared<const int>(42);
      });
      wrong += *value != 42;
    });
  for (std::thread &thread : threads)
    thread.join();
  EXPECT_EQ(computed, 1);
  EXPECT_EQ(wrong, 0);
}

TEST(SingleFlight, OtherKeysDoNotWait) {
  SingleFlight<int> flight;
  auto outer = flight.get("a", [&] {
    return std::make_shared<const int>(
        *flight.get("b", [] { return std::make_shared<const int>(1); }) + 1);
  });
  EXPECT_EQ(*outer, 2);
}

TEST(SingleFlight, AFailureIsForgotten) {
  SingleFlight<int> flight;
  auto fail = [&]() -> std::shared_ptr<const int> { throw std::runtime_error("no"); };
  EXPECT_THROW(flight.get("key", fail), std::runtime_error);
  EXPECT_THROW(flight.get("key", fail), std::runtime_error);
  EXPECT_EQ(*flight.get("key", [] { return std::make_shared<const int>(7); }), 7);
}

} // namespace
