//===- tools/report/Words.cpp - Figures as a person reads them ------------===//
//
// Part of Eider, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//
#include "tools/report/Words.h"

#include <algorithm>
#include <cmath>
#include <cstdio>

namespace eider::report {

std::string number(double value) {
  const double size = std::fabs(value);
  char text[40];
  if (value == std::floor(value) && size < 1e15)
    std::snprintf(text, sizeof(text), "%.0f", value);
  else
    std::snprintf(text, sizeof(text),
                  size < 0.1    ? "%.3g"
                  : size < 10   ? "%.3f"
                  : size < 1000 ? "%.1f"
                                : "%.0f",
                  value);
  return text;
}

std::string tickText(double value) {
  std::string text = number(value);
  while (text.find('.') != std::string::npos && (text.back() == '0' || text.back() == '.'))
    text.pop_back();
  return text;
}

std::string bytesText(double bytes) {
  const char *units[] = {"B", "kB", "MB", "GB", "TB"};
  size_t unit = 0;
  for (; bytes >= 999.5 && unit < 4; ++unit)
    bytes /= 1000;
  char text[40];
  const bool whole = unit == 0 || bytes >= 9.95 || bytes == std::floor(bytes);
  std::snprintf(text, sizeof(text), whole ? "%.0f %s" : "%.1f %s", bytes, units[unit]);
  return text;
}

std::string shapeText(const Pairs &shape) {
  const bool matrix = shape.size() == 2 && shape[0].first == "tokens";
  std::string text;
  for (const auto &[name, extent] : shape) {
    if (!text.empty())
      text += matrix ? " × " : ", ";
    text += matrix ? extent : name + " = " + extent;
  }
  return text;
}

std::string paramsText(const Pairs &params, const std::vector<std::string> &without) {
  std::string text;
  for (const auto &[name, value] : params) {
    if (value.empty() || std::ranges::find(without, name) != without.end())
      continue;
    const bool plain = name == "dtype" || name == "format" || name == "block" || name == "codec" ||
                       name == "l2" || name == "schedule" || name == "by" || name == "step";
    text += (text.empty() ? "" : " · ") + (plain ? value : name + " " + value);
  }
  return text;
}

std::string verdict(const Cell &cell) {
  const std::optional<bool> met = cell.met();
  if (!met)
    return "";
  std::string asked;
  if (cell.targetDifference)
    asked = "≤ " + cell.baseline + " + " + tickText(*cell.targetDifference);
  else
    asked = "≤ " + tickText(cell.target.value_or(0));
  return asked + (*met ? ": met" : ": missed");
}

} // namespace eider::report
