//===- tests/aot/Probe.h - A generated C source, compiled and opened ------===//
//
// Part of Eider, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//
#ifndef EIDER_TESTS_AOT_PROBE_H
#define EIDER_TESTS_AOT_PROBE_H

#include "runtime/contract/Contract.h"
#include "tests/unit/runtime/driver/LoadedFakeDriver.h"

#include <string>

namespace eider {

/// A kernel of three variants that have everything a contract can: `vector` a cluster, `middle`
/// dynamic shared memory and a range, `general` a workspace and two launches, which overlap if the
/// first has blocks. Tensors x and y [tokens, hidden] and which [tokens], f32; `which` may have any
/// stride.
contract::Contract probeContract(const std::string &target);

/// The C sources of a contract, for the targets; `ptx:sm_90` is that target with PTX beside its
/// cubin. The fake driver sees by the first bytes which image it is given.
void writeProbe(const contract::Contract &contract, const std::vector<std::string> &targets,
                const std::string &directory);

/// probe.c of a directory as a new library; its state is its own.
class Probe {
public:
  explicit Probe(const std::string &directory);

  int (*launch)(void *stream, const float *x, int64_t xStride, float *y, int64_t yStride,
                float *which, int64_t whichStride, float factor, int64_t tokens, int64_t hidden,
                void *workspace) = nullptr;
  int (*load)() = nullptr;
  int64_t (*workspaceBytes)(int64_t tokens, int64_t hidden) = nullptr;
  const char *(*errorString)(int status) = nullptr;
};

} // namespace eider

#endif // EIDER_TESTS_AOT_PROBE_H
