//===- tests/fuzz/Targets.h - What is fuzzed --------------------*- C++ -*-===//
//
// Part of Eider, under the Apache License v2.0.
//
// Each takes any bytes, and returns unless it finds a defect: then it aborts, or a sanitizer does.
//
//===----------------------------------------------------------------------===//
#ifndef EIDER_TESTS_FUZZ_TARGETS_H
#define EIDER_TESTS_FUZZ_TARGETS_H

#include <string_view>

namespace eider::fuzz {

/// A whole file through the reader of the command line.
void safetensors(std::string_view bytes);
/// The JSON of a contract: what is accepted is written and read again the same.
void contract(std::string_view bytes);
/// The text of a meta.json, as it is and with its digest made right.
void meta(std::string_view bytes);
/// An archive of a cache, as it is and with its digests made right.
void archive(std::string_view bytes);

/// Ends the program: what the target promises does not hold.
[[noreturn]] void defect(const char *what);

} // namespace eider::fuzz

#endif // EIDER_TESTS_FUZZ_TARGETS_H
