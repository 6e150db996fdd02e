//===- Targets.h - The GPUs that the compiler knows -------------*- C++ -*-===//
//
// Part of Eider, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//
#ifndef EIDER_TRANSFORMS_TARGETS_H
#define EIDER_TRANSFORMS_TARGETS_H

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/StringRef.h"

namespace eider::transforms {

/// One row of the target table.
struct Target {
  llvm::StringRef name; ///< `sm_90`, `sm_90a`, `host`
  bool bf16Products;    ///< Products of matrices of bf16 (PTX: sm_80)
  bool fp8Instructions; ///< cvt to and from e4m3/e5m2 (PTX: sm_89)
  bool fp8Products;     ///< Products of matrices of these; others from sm_89 on make f16 of them
  bool fp4Instructions; ///< cvt to and from e2m1 (PTX: the a targets from sm_100a on)
  bool clusters;        ///< Blocks that reach each other's shared memory (PTX: sm_90)
  bool warpgroups;      ///< Products of four warps together (PTX: sm_90a alone)
  int threads;          ///< That a multiprocessor holds.
  int sharedKib;        ///< Of shared memory that a block can have, at least.
};

/// Oldest first; `host` last.
llvm::ArrayRef<Target> targetTable();

/// Null for an unknown name.
const Target *findTarget(llvm::StringRef name);

} // namespace eider::transforms

#endif // EIDER_TRANSFORMS_TARGETS_H
