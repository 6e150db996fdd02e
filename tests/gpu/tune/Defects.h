//===- tests/gpu/tune/Defects.h - Kernels that misbehave --------*- C++ -*-===//
//
// Part of Eider, under the Apache License v2.0.
//
// For the simulator and GPUs alike.
//
//===----------------------------------------------------------------------===//
#ifndef EIDER_TESTS_GPU_TUNE_DEFECTS_H
#define EIDER_TESTS_GPU_TUNE_DEFECTS_H

#include "autotuner/measure/Protocol.h"
#include "autotuner/store/Records.h"
#include "eider/compile.h"
#include "runtime/contract/Contract.h"

namespace eider::tuning {

/// The candidates of requestWithDefects(), beside the heuristic's, 0.
enum Defect { hangs = 1, faults, traps, liesInOneElement };

/// The heuristic's kernel, with `statement` before all else that it does.
inline std::string contractWith(const Executable &executable, const std::string &statement) {
  contract::Contract contract = contract::read(executable.contract);
  for (contract::Variant &variant : contract.variants) {
    const size_t entry = variant.source.find("__global__");
    const size_t body = variant.source.find(") {\n", entry);
    if (entry == std::string::npos || body == std::string::npos)
      throw Error(ErrorKind::Internal, "the text has no kernel", "test");
    variant.source.insert(body + 4, statement + "\n");
  }
  return contract::write(contract);
}

/// The last code of the last row is another one, whoever writes it.
inline std::string contractThatLies(const Executable &executable, const Dims &dims) {
  contract::Contract contract = contract::read(executable.contract);
  const int64_t last = dims.at("tokens") * dims.at("hidden") - 1;
  for (contract::Variant &variant : contract.variants) {
    const size_t end = variant.source.rfind("}");
    variant.source.insert(end, "  *(reinterpret_cast<volatile unsigned char *>(y) + " +
                                   std::to_string(last) + ") = 0x55;\n");
  }
  return contract::write(contract);
}

/// `program` (quantize, or one with an input x and an output y) under the heuristic's schedule,
/// sound and with each defect.
inline CellRequest requestWithDefects(const Program &program, const std::string &target,
                                      const Dims &dims) {
  CellRequest request;
  request.program = program.text();
  request.codec = "auto";
  request.dims = dims;
  request.fixed = fixedDims(program.signature());
  request.seconds = 60;
  CompileOptions options;
  options.target = target;
  options.dims = {{"hidden", dims.at("hidden")}};
  const Executable sound = compile(program, options);
  request.candidates = {
      {0, ""},
      {hangs, "hangs", // reading memory, for a loop without effect is no loop
       contractWith(sound,
                    "  while (*reinterpret_cast<const volatile unsigned char *>(x) < 256) {}")},
      {faults, "faults",
       contractWith(sound, "  *reinterpret_cast<volatile int *>(size_t(64)) = 1;")},
      {traps, "traps", contractWith(sound, "  __builtin_trap();")},
      {liesInOneElement, "lies", contractThatLies(sound, dims)},
  };
  return request;
}

} // namespace eider::tuning

#endif // EIDER_TESTS_GPU_TUNE_DEFECTS_H
