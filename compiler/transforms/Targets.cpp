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
    {"sm_75", false},  {"sm_80", false},  {"sm_86", false},  {"sm_87", false},  {"sm_88", false},
    {"sm_89", true},   {"sm_90", true},   {"sm_90a", true},  {"sm_100", true},  {"sm_100a", true},
    {"sm_103", true},  {"sm_103a", true}, {"sm_110", true},  {"sm_110a", true}, {"sm_120", true},
    {"sm_120a", true}, {"sm_121", true},  {"sm_121a", true}, {"host", true},
};

llvm::ArrayRef<Target> eider::transforms::targetTable() { return table; }

const Target *eider::transforms::findTarget(llvm::StringRef name) {
  const Target *found = llvm::find_if(table, [&](const Target &t) { return t.name == name; });
  return found == std::end(table) ? nullptr : found;
}
