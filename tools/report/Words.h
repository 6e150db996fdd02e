//===- tools/report/Words.h - Figures as a person reads them ----*- C++ -*-===//
//
// Part of Eider, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//
#ifndef EIDER_TOOLS_REPORT_WORDS_H
#define EIDER_TOOLS_REPORT_WORDS_H

#include "tools/report/Results.h"

namespace eider::report {

/// Three significant digits, none of them after 100: `1.04`, `96.9`, `1210`.
std::string number(double value);

/// The same without zeros at the end: `1.3`, `110`.
std::string tickText(double value);

/// `402 MB`.
std::string bytesText(double bytes);

/// `16384 × 8192`; with other dims than rows and columns: `k = 512, n = 64`.
std::string shapeText(const Pairs &shape);

/// `1x128 bf16 e4m3`: the params that are given, but for those that `without` names.
std::string paramsText(const Pairs &params, const std::vector<std::string> &without = {});

/// What was asked of a cell, and whether it is met: `≤ 1.05: missed`. Empty: nothing was.
std::string verdict(const Cell &cell);

} // namespace eider::report

#endif // EIDER_TOOLS_REPORT_WORDS_H
