//===- Targets.cpp - The target table -------------------------------------===//
//
// Part of Eider, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//
#include "compiler/transforms/Targets.h"

#include "llvm/ADT/STLExtras.h"

using namespace eider::transforms;

/// All that NVRTC 13.0 compiles for from sm_75 on. `host` models the instructions exactly.
static constexpr Target table[] = {
    {"sm_75", false, false, false, false, false, false, 1024, 64},
    {"sm_80", true, false, false, false, false, false, 2048, 163},
    {"sm_86", true, false, false, false, false, false, 1536, 99},
    {"sm_87", true, false, false, false, false, false, 1536, 163},
    {"sm_88", true, false, false, false, false, false, 1536, 99},
    {"sm_89", true, true, true, false, false, false, 1536, 99},
    {"sm_90", true, true, false, false, true, false, 2048, 227},
    {"sm_90a", true, true, false, false, true, true, 2048, 227},
    {"sm_100", true, true, false, false, true, false, 2048, 227},
    {"sm_100a", true, true, false, true, true, false, 2048, 227},
    {"sm_103", true, true, false, false, true, false, 2048, 227},
    {"sm_103a", true, true, false, true, true, false, 2048, 227},
    {"sm_110", true, true, false, false, true, false, 1536, 227},
    {"sm_110a", true, true, false, true, true, false, 1536, 227},
    {"sm_120", true, true, true, false, true, false, 1536, 99},
    {"sm_120a", true, true, true, true, true, false, 1536, 99},
    {"sm_121", true, true, true, false, true, false, 1536, 99},
    {"sm_121a", true, true, true, true, true, false, 1536, 99},
    {"host", true, true, false, true, true, true, 2048, 227},
};

llvm::ArrayRef<Target> eider::transforms::targetTable() { return table; }

const Target *eider::transforms::findTarget(llvm::StringRef name) {
  const Target *found = llvm::find_if(table, [&](const Target &t) { return t.name == name; });
  return found == std::end(table) ? nullptr : found;
}
