//===- CaseShare.cpp - Cases that a quick run takes -----------------------===//
//
// Part of Eider, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//
#include "tests/matrix/CaseShare.h"

#include "eider/compile.h"
#include "tests/Share.h"

#include <bit>
#include <cstdio>
#include <set>
#include <sstream>

using namespace eider;

/// What the case has of each axis, under the axis's name: of a program each word of its IR, of
/// formats, types, blocks and operations; of each extent its order of magnitude.
static std::vector<std::string> valuesOf(const matrix::Case &made) {
  CompileOptions options;
  options.target = "sm_90"; // of any the program's IR is the same
  std::vector<std::string> values = {
      "schedule " + made.options.schedule, "codec " + made.options.codec,
      "layout " + std::to_string(made.layout.padding) + " " + std::to_string(made.layout.shift),
      "rows " + std::to_string(made.forAnyRows), "values " + made.values};
  for (const auto &[name, extent] : made.dims)
    values.push_back("extent " + name + " " +
                     std::to_string(std::bit_width(static_cast<uint64_t>(extent))));
  std::istringstream ir(emit(made.program, options, Stage::Eider));
  for (std::string word; ir >> word;)
    values.push_back("word " + word);
  return values;
}

std::vector<matrix::Case> matrix::shareOf(const std::vector<Case> &cases) {
  if (testShare() == 1)
    return cases;
  std::set<std::string> seen;
  std::vector<Case> taken;
  size_t others = 0;
  for (const Case &made : cases) {
    bool isFirst = false;
    for (const std::string &value : valuesOf(made))
      isFirst |= seen.insert(value).second;
    if (isFirst || isInShare(others++))
      taken.push_back(made);
  }
  std::printf("%zu of %zu cases, by EIDER_TEST_SHARE\n", taken.size(), cases.size());
  return taken;
}
