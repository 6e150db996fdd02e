//===- tests/unit/report/Samples.h - Results for tests ----------*- C++ -*-===//
//
// Part of Eider, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//
#ifndef EIDER_TESTS_UNIT_REPORT_SAMPLES_H
#define EIDER_TESTS_UNIT_REPORT_SAMPLES_H

#include "tools/report/Results.h"

namespace eider::report {

/// A file with these cells, separated by commas.
inline std::string fileWith(const std::string &cells,
                            const std::string &date = "2026-01-31T12:00:00Z") {
  return R"({"schema": 1, "bench": "ops", "date": ")" + date +
         R"(", "commit": "0123456789abcdef", "machine": {"device": "NVIDIA H200", "target": "sm_90"}, "cells": [)" +
         cells + "]}";
}

/// A time of 16384 × 8192; `params` is the inside of an object, and begins with a comma if it is
/// not empty.
inline std::string timeCell(double value, const std::string &params = "", double memcpy = 100) {
  return R"({"op": "quantize", "params": {"block": "1x128")" + params +
         R"(}, "shape": {"hidden": 8192, "tokens": 16384}, "metric": "time", "unit": "us", "value": )" +
         std::to_string(value) + R"(, "baseline": "memcpy", "baseline_value": )" +
         std::to_string(memcpy) + R"(, "bytes": 402718720})";
}

} // namespace eider::report

#endif // EIDER_TESTS_UNIT_REPORT_SAMPLES_H
