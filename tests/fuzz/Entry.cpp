//===- tests/fuzz/Entry.cpp - libFuzzer's entry ---------------------------===//
//
// Part of Eider, under the Apache License v2.0.
//
// Of the target that EIDER_FUZZ_TARGET names.
//
//===----------------------------------------------------------------------===//
#include "tests/fuzz/Targets.h"

#include <cstdint>

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  eider::fuzz::EIDER_FUZZ_TARGET({reinterpret_cast<const char *>(data), size});
  return 0;
}
