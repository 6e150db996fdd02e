//===- runtime/PtxasLog.cpp - What ptxas says of each kernel --------------===//
//
// Part of Eider, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//
#include "runtime/Assembler.h"

#include <charconv>
#include <sstream>

namespace eider {
namespace {

/// The number that stands right before `unit` in `line`; 0 if there is none.
int64_t numberBefore(const std::string &line, const std::string &unit) {
  const size_t end = line.find(" " + unit);
  if (end == std::string::npos)
    return 0;
  size_t begin = end;
  while (begin > 0 && line[begin - 1] >= '0' && line[begin - 1] <= '9')
    --begin;
  int64_t value = 0;
  std::from_chars(line.data() + begin, line.data() + end, value);
  return value;
}

} // namespace

std::vector<EntryResources> parsePtxasLog(const std::string &log) {
  // ptxas info    : Compiling entry function 'k' for 'sm_90'
  // ptxas info    : Function properties for k
  // ptxas         .     0 bytes stack frame, 0 bytes spill stores, 0 bytes spill loads
  // ptxas info    : Used 128 registers, used 1 barriers, 256 bytes smem
  std::vector<EntryResources> entries;
  std::istringstream lines(log);
  for (std::string line; std::getline(lines, line);) {
    static const std::string opening = "Compiling entry function '";
    if (size_t at = line.find(opening); at != std::string::npos) {
      at += opening.size();
      entries.emplace_back().name = line.substr(at, line.find('\'', at) - at);
    } else if (!entries.empty() && line.find("bytes stack frame") != std::string::npos) {
      entries.back().stack = numberBefore(line, "bytes stack frame");
      entries.back().spillStores = numberBefore(line, "bytes spill stores");
      entries.back().spillLoads = numberBefore(line, "bytes spill loads");
    } else if (!entries.empty() && line.find(": Used ") != std::string::npos) {
      entries.back().registers = static_cast<int>(numberBefore(line, "registers"));
      entries.back().shared = numberBefore(line, "bytes smem");
    }
  }
  return entries;
}

} // namespace eider
