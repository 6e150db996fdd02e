//===- sim/Kernels.h - What the simulator's tests share -------------------===//
//
// Part of Eider, under the Apache License v2.0.
//
// The kernels of these tests speak the host ABI themselves, so that a failure is the scheduler's
// and not the template library's.
//
//===----------------------------------------------------------------------===//
#ifndef EIDER_TESTS_SIM_KERNELS_H
#define EIDER_TESTS_SIM_KERNELS_H

#include "eider/error.h"
#include "runtime/host/Simulator.h"

#include <cstdint>
#include <gtest/gtest.h>
#include <source_location>
#include <string>

namespace eider::host {

inline EiderHostSite here(std::source_location where = std::source_location::current()) {
  return {where.file_name(), static_cast<int>(where.line())};
}

inline float shuffleXor(const EiderHostAbi *abi, unsigned mask, float value, unsigned distance,
                        EiderHostSite site) {
  float all[32];
  abi->exchange(mask, &value, all, sizeof value, site);
  return all[(abi->position()->thread % 32) ^ distance];
}

/// Runs `kernel` with one parameter, the address of `data`.
template <typename Data>
void launchOn(Data *data, EiderHostKernel kernel, const LaunchShape &shape,
              const SimulatorOptions &options = {}) {
  void *parameters[] = {&data};
  launch(kernel, shape, parameters, options);
}

/// The value of a kernel's parameter at `index`.
template <typename T> T parameter(void **parameters, unsigned index = 0) {
  return *static_cast<T *>(parameters[index]);
}

} // namespace eider::host

#endif // EIDER_TESTS_SIM_KERNELS_H
