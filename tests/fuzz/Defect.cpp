//===- tests/fuzz/Defect.cpp - The end of a fuzzed program ----------------===//
//
// Part of Eider, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//
#include "tests/fuzz/Targets.h"

#include <cstdio>
#include <cstdlib>

void eider::fuzz::defect(const char *what) {
  std::fprintf(stderr, "defect: %s\n", what);
  std::abort();
}
