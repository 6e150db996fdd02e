//===- kernels.cu - The checks on a GPU: one kernel each --------*- C++ -*-===//
//
// Part of Eider, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//
#include "checks.cuh"

using namespace checks;

/// What HostConformance.cpp calls Outcome.
struct Outcome {
  uint64 wrong;
  uint32 largest, first_wrong;
};

template <class Check>
__device__ void walk(Check check, uint32 bound, int64 count, Outcome *outcome) {
  uint32 wrong = 0, largest = 0, first_wrong = 0xffffffffu;
  for (int64 i = blockIdx.x * 256ll + threadIdx.x; i < count; i += gridDim.x * 256ll) {
    const uint32 distance = check(static_cast<uint32>(i));
    largest = distance > largest ? distance : largest;
    if (distance > bound && wrong++ == 0)
      first_wrong = static_cast<uint32>(i);
  }
  atomicMax(&outcome->largest, largest);
  if (wrong > 0) {
    atomicAdd(&outcome->wrong, static_cast<uint64>(wrong));
    atomicMin(&outcome->first_wrong, first_wrong);
  }
}

#define CHECK(name, bits, bound, function)                                                         \
  extern "C" __global__ void name(int64 count, Outcome *outcome) {                                 \
    walk([](uint32 number) { return function(number); }, bound, count, outcome);                   \
  }
#if __CUDA_ARCH__ >= 890
#define HARDWARE_CHECK CHECK
#else
#define HARDWARE_CHECK(name, bits, bound, function)
#endif
#if defined(__CUDA_ARCH_SPECIFIC__) && __CUDA_ARCH_SPECIFIC__ >= 1000
#define FP4_CHECK CHECK
#else
#define FP4_CHECK(name, bits, bound, function)
#endif
#include "checks.def"
