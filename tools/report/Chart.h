//===- tools/report/Chart.h - Dots between two axes -------------*- C++ -*-===//
//
// Part of Eider, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//
#ifndef EIDER_TOOLS_REPORT_CHART_H
#define EIDER_TOOLS_REPORT_CHART_H

#include "tools/report/Html.h"

#include <vector>

namespace eider::report {

/// What stands on an axis.
struct Tick {
  double value;
  std::string label;
};

/// From values to places along an axis.
struct Axis {
  std::string label;
  double from, to;
  bool logarithmic;
  std::vector<Tick> ticks;

  /// 0 at `from`, 1 at `to`.
  double place(double value) const;
};

/// A logarithmic axis around positive values, with ticks at powers of ten, or between them where
/// the axis is short. `labelOf` writes a tick.
Axis logAxis(const std::string &label, const std::vector<double> &values,
             std::string (*labelOf)(double));

/// What a dot looks like: its class, and one of a few shapes.
struct Mark {
  std::string kind; ///< `heuristic`, `tuned`, `schedule`, `peer0`, …
  int shape;        ///< 0: round
};

/// A mark at a place of a drawing.
Element markAt(const Mark &mark, double x, double y);

/// A mark alone, for a legend.
Element markAlone(const Mark &mark);

/// One drawing.
class Chart {
public:
  /// `name` says what the drawing shows to whoever does not see it.
  Chart(const std::string &name, Axis x, Axis y);

  /// A dot that leads to the element with the id `target` and says `tip`.
  void dot(const Mark &mark, double x, double y, const std::string &tip, const std::string &target);
  /// Through points, in their order.
  void line(const char *kind, const std::vector<std::pair<double, double>> &points,
            const std::string &tip);

  Element svg() const;

private:
  double across(double x) const;
  double down(double y) const;

  std::string name;
  Axis x, y;
  Element lines{"g"}, dots{"g"};
};

} // namespace eider::report

#endif // EIDER_TOOLS_REPORT_CHART_H
