//===- Range.h - Where a conforming result may lie --------------*- C++ -*-===//
//
// Part of Eider, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//
#ifndef EIDER_INTERPRETER_RANGE_H
#define EIDER_INTERPRETER_RANGE_H

#include "compiler/interpreter/Rounding.h"

#include <cmath>
#include <limits>

namespace eider::interpreter {

/// The values that a conforming implementation may have where the reference has one value. Ends are
/// values of the element type, so that ranges meet a correctly rounded operation end by end:
/// rounding is monotone. −0 lies below +0.
struct Range {
  double lower, upper;

  /// Anything at all, NaN too.
  static Range anything() {
    return {-std::numeric_limits<double>::infinity(), std::numeric_limits<double>::infinity()};
  }
  static Range point(double value) { return {value, value}; }

  bool isAnything() const {
    return std::isinf(lower) && lower < 0 && std::isinf(upper) && upper > 0;
  }
  /// Certainly a NaN.
  bool isNaN() const { return std::isnan(lower); }
  bool isPoint() const {
    return isNaN() || (lower == upper && std::signbit(lower) == std::signbit(upper));
  }
  bool holds(double value) const {
    if (isAnything() || isNaN())
      return isAnything() || std::isnan(value);
    return !std::isnan(value) && lower <= value && value <= upper;
  }
  bool holdsZero() const { return lower <= 0 && upper >= 0; }
  double largestMagnitude() const { return std::max(std::abs(lower), std::abs(upper)); }
};

/// Whether a lies below b, −0 below +0.
inline bool isBelow(double a, double b) {
  return a < b || (a == b && std::signbit(a) && !std::signbit(b));
}

/// Collects results into the range that holds them.
class Hull {
public:
  void add(double value) {
    nan = nan || std::isnan(value);
    number = number || !std::isnan(value);
    if (isBelow(value, range.lower) || empty)
      range.lower = value;
    if (isBelow(range.upper, value) || empty)
      range.upper = value;
    empty = false;
  }
  void add(Range other) {
    anything = anything || other.isAnything();
    add(other.lower);
    add(other.upper);
  }
  /// A mix of NaN and numbers is anything.
  Range get() const {
    if (anything || (nan && number))
      return Range::anything();
    return nan ? Range::point(arithmeticNaN()) : range;
  }

private:
  Range range = {0, 0};
  bool empty = true, nan = false, number = false, anything = false;
};

} // namespace eider::interpreter

#endif // EIDER_INTERPRETER_RANGE_H
