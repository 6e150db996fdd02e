//===- Report.cpp - What became of the cells ------------------------------===//
//
// Part of Eider, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//
#include "tests/matrix/Report.h"

#include <cstdio>
#include <fstream>
#include <nlohmann/json.hpp>

using namespace eider;
using namespace eider::matrix;
using nlohmann::json;

static constexpr size_t ShownFailures = 20;

void matrix::print(const std::vector<Outcome> &outcomes, const Totals &totals) {
  std::printf("%-20s", "cells passed");
  for (const char *block : infoOf(Axis::Block).values)
    std::printf("%10s", block);
  std::printf("\n");
  for (size_t op = 0; op < infoOf(Axis::Op).values.size(); ++op) {
    std::printf("%-20s", infoOf(Axis::Op).values[op]);
    for (size_t block = 0; block < infoOf(Axis::Block).values.size(); ++block) {
      size_t all = 0, passed = 0;
      for (const Outcome &outcome : outcomes)
        if (outcome.cell[Axis::Op] == static_cast<int>(op) &&
            outcome.cell[Axis::Block] == static_cast<int>(block)) {
          ++all;
          passed += outcome.passed();
        }
      std::string text = std::to_string(passed);
      if (passed < all)
        text += "/" + std::to_string(all);
      std::printf("%10s", text.c_str());
    }
    std::printf("\n");
  }
  size_t failed = 0, elements = 0, different = 0, shown = 0;
  for (const Outcome &outcome : outcomes) {
    failed += !outcome.passed();
    for (const Comparison &comparison : outcome.comparisons) {
      elements += static_cast<size_t>(comparison.elements);
      different += static_cast<size_t>(comparison.different);
    }
    if (!outcome.passed() && shown++ < ShownFailures)
      std::printf("FAILED %s (seed %llu, %s): %s\n", outcome.cell.name().c_str(),
                  static_cast<unsigned long long>(outcome.seed), outcome.variant.c_str(),
                  outcome.failure.c_str());
  }
  std::printf("%zu cells, %zu texts, %zu elements, %zu of them other bits within their bounds or "
              "wrong; %zu cells failed; compiling %.0f s, running %.0f s\n",
              outcomes.size(), totals.texts, elements, different, failed, totals.compileSeconds,
              totals.runSeconds);
}

static json toJson(const Outcome &outcome) {
  json cell;
  for (size_t axis = 0; axis < AxisCount; ++axis)
    cell[axes()[axis].name] = outcome.cell.text(static_cast<Axis>(axis));
  cell["seed"] = outcome.seed;
  cell["variant"] = outcome.variant;
  cell["passed"] = outcome.passed();
  if (!outcome.passed())
    cell["failure"] = outcome.failure;
  for (const Comparison &comparison : outcome.comparisons)
    cell["outputs"].push_back({{"name", comparison.name},
                               {"exact", comparison.exact},
                               {"elements", comparison.elements},
                               {"different", comparison.different},
                               {"wrong", comparison.wrong},
                               {"largest_error", comparison.largestError}});
  return cell;
}

void matrix::writeJson(const std::string &file, const std::string &target,
                       const std::vector<Outcome> &outcomes, const Totals &totals) {
  json report = {{"target", target},
                 {"texts", totals.texts},
                 {"compile_seconds", totals.compileSeconds},
                 {"run_seconds", totals.runSeconds},
                 {"cells", json::array()}};
  for (const Outcome &outcome : outcomes)
    report["cells"].push_back(toJson(outcome));
  std::ofstream stream(file);
  stream << report.dump(1) << '\n';
  if (!stream.flush())
    throw Error(ErrorKind::Machine, "cannot write '" + file + "'", "matrix", "give another --json");
}
