//===- tools/eider/Devices.cpp - eider devices ----------------------------===//
//
// Part of Eider, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//
#include "tools/eider/Requests.h"
#include "tools/eider/Text.h"

#include <cmath>
#include <nlohmann/json.hpp>

namespace eider::cli {

namespace {

std::string decimal(double value, const char *format) {
  char text[32];
  std::snprintf(text, sizeof(text), format, value);
  return text;
}

/// `132 multiprocessors, 139.8 GiB, L2 60 MiB, FP8 conversions in hardware, driver for CUDA 13.0`.
std::string abilities(const DeviceInfo &device) {
  if (device.target == "host")
    return std::to_string(device.multiprocessors) + " threads, runs every kernel as C++";
  std::vector<std::string> words{std::to_string(device.multiprocessors) + " multiprocessors",
                                 decimal(std::ldexp(device.memory, -30), "%.1f GiB"),
                                 decimal(std::ldexp(device.l2, -20), "L2 %.0f MiB")};
  words.push_back(device.hardwareFp8 ? "FP8 conversions in hardware"
                                     : "FP8 conversions in software");
  words.push_back("driver for CUDA " + std::to_string(device.driver / 1000) + "." +
                  std::to_string(device.driver % 1000 / 10));
  return join(words);
}

nlohmann::ordered_json toJson(const DeviceInfo &device) {
  return {{"id", device.id},
          {"name", device.name},
          {"target", device.target},
          {"compute_capability", {device.major, device.minor}},
          {"multiprocessors", device.multiprocessors},
          {"memory_bytes", device.memory},
          {"l2_bytes", device.l2},
          {"memory_clock_khz", device.memoryClock},
          {"memory_bus_bits", device.memoryBus},
          {"shared_bytes_per_block", device.sharedPerBlock},
          {"driver", device.driver},
          {"hardware_fp8", device.hardwareFp8},
          {"clusters", device.clusters}};
}

} // namespace

int carryOut(const DevicesRequest &request) {
  const std::vector<DeviceInfo> devices = Device::enumerate();
  if (request.json) {
    nlohmann::ordered_json list = nlohmann::ordered_json::array();
    for (const DeviceInfo &device : devices)
      list.push_back(toJson(device));
    print(nlohmann::ordered_json{{"devices", list}, {"why_no_gpu", Device::whyNoGpu()}}.dump(2) +
          "\n");
    return 0;
  }
  for (const DeviceInfo &device : devices)
    print(padded(device.id, 8) + padded(device.target, 8) + device.name + "\n" +
          std::string(16, ' ') + abilities(device) + "\n");
  if (std::string why = Device::whyNoGpu(); !why.empty())
    print("no GPU  " + why + "\n");
  return 0;
}

} // namespace eider::cli
