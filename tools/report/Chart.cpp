//===- tools/report/Chart.cpp - Dots between two axes ---------------------===//
//
// Part of Eider, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//
#include "tools/report/Chart.h"

#include <algorithm>
#include <cmath>
#include <cstdio>

namespace eider::report {
namespace {

// Drawn for the width of a phone; wider screens enlarge it.
constexpr double width = 420, height = 300;
constexpr double left = 58, right = 410, top = 14, bottom = 252;

/// `M… Z` of a polygon around the origin.
std::string polygon(const std::vector<std::pair<double, double>> &corners, double x, double y) {
  std::string path;
  for (const auto &[dx, dy] : corners) {
    char step[64];
    std::snprintf(step, sizeof(step), "%s%.2f %.2f", path.empty() ? "M" : "L", x + dx, y + dy);
    path += step;
  }
  return path + "Z";
}

Element textAt(double x, double y, const char *anchor, const std::string &words) {
  return Element("text")
      .set("x", x)
      .set("y", y)
      .set("text-anchor", std::string_view(anchor))
      .text(words);
}

Element lineAt(const char *kind, double x1, double y1, double x2, double y2) {
  return element("line", kind).set("x1", x1).set("y1", y1).set("x2", x2).set("y2", y2);
}

} // namespace

double Axis::place(double value) const {
  if (logarithmic)
    return std::log(value / from) / std::log(to / from);
  return (value - from) / (to - from);
}

Axis logAxis(const std::string &label, const std::vector<double> &values,
             std::string (*labelOf)(double)) {
  double low = *std::ranges::min_element(values), high = *std::ranges::max_element(values);
  low /= 1.08;
  high *= 1.08;
  const double decades = std::log10(high / low);
  std::vector<double> steps = {1};
  if (decades < 0.6)
    steps = {1, 1.1, 1.2, 1.3, 1.5, 1.7, 2, 2.5, 3, 4, 5, 6, 7, 8, 9, 9.5};
  else if (decades < 2)
    steps = {1, 2, 5};
  Axis axis{label, low, high, true, {}};
  for (int power = static_cast<int>(std::floor(std::log10(low))); std::pow(10, power) <= high;
       ++power)
    for (double step : steps)
      if (const double value = step * std::pow(10, power); value >= low && value <= high)
        axis.ticks.push_back({value, labelOf(value)});
  return axis;
}

Element markAt(const Mark &mark, double x, double y) {
  const std::string kind = "mark " + mark.kind;
  if (mark.shape == 0)
    return element("circle", kind.c_str()).set("cx", x).set("cy", y).set("r", 4.2);
  static const std::vector<std::vector<std::pair<double, double>>> shapes = {
      {{-3.7, -3.7}, {3.7, -3.7}, {3.7, 3.7}, {-3.7, 3.7}}, // square
      {{0, -5}, {4.6, 3.4}, {-4.6, 3.4}},                   // triangle
      {{0, -5}, {5, 0}, {0, 5}, {-5, 0}},                   // diamond
      {{-4.6, -3.4}, {4.6, -3.4}, {0, 5}},                  // triangle, on its tip
      {{-5, -1.6},
       {-1.6, -1.6},
       {-1.6, -5},
       {1.6, -5},
       {1.6, -1.6},
       {5, -1.6},
       {5, 1.6},
       {1.6, 1.6},
       {1.6, 5},
       {-1.6, 5},
       {-1.6, 1.6},
       {-5, 1.6}}, // cross
  };
  const auto &corners = shapes[static_cast<size_t>(mark.shape - 1) % shapes.size()];
  return element("path", kind.c_str()).set("d", std::string_view(polygon(corners, x, y)));
}

Element markAlone(const Mark &mark) {
  return element("svg", "key")
      .set("viewBox", "-7 -7 14 14")
      .set("aria-hidden", "true")
      .add(markAt(mark, 0, 0));
}

Chart::Chart(const std::string &name, Axis x, Axis y)
    : name(name), x(std::move(x)), y(std::move(y)) {}

double Chart::across(double value) const { return left + (right - left) * x.place(value); }

double Chart::down(double value) const { return bottom - (bottom - top) * y.place(value); }

void Chart::dot(const Mark &mark, double xValue, double yValue, const std::string &tip,
                const std::string &target) {
  const double cx = across(xValue), cy = down(yValue);
  dots.add(element("a", "dot")
               .set("href", "#" + target)
               .set("aria-label", tip)
               .add(element("title", "", tip))
               .add(element("circle", "hit").set("cx", cx).set("cy", cy).set("r", 9.0))
               .add(markAt(mark, cx, cy)));
}

void Chart::line(const char *kind, const std::vector<std::pair<double, double>> &points,
                 const std::string &tip) {
  std::string path;
  for (const auto &[xValue, yValue] : points) {
    char step[64];
    std::snprintf(step, sizeof(step), "%s%.2f %.2f", path.empty() ? "M" : "L", across(xValue),
                  down(yValue));
    path += step;
  }
  lines.add(element("path", kind).set("d", path).add(element("title", "", tip)));
}

Element Chart::svg() const {
  Element drawing = element("svg", "chart");
  drawing.set("viewBox", "0 0 " + std::to_string(int(width)) + " " + std::to_string(int(height)))
      .set("role", "group")
      .set("aria-label", name);
  Element axes("g");
  axes.set("class", "axes");
  double lastLabel = -100;
  for (const Tick &tick : x.ticks) {
    const double at = across(tick.value);
    axes.add(lineAt("grid", at, top, at, bottom));
    if (at - lastLabel < 12 + 6.5 * static_cast<double>(tick.label.size()))
      continue; // no room
    lastLabel = at;
    // What would stand out of the drawing ends at its edge.
    const bool edge = at > right - 3.3 * static_cast<double>(tick.label.size());
    axes.add(textAt(edge ? right : at, bottom + 17, edge ? "end" : "middle", tick.label));
  }
  lastLabel = height;
  for (const Tick &tick : y.ticks) {
    const double at = down(tick.value);
    axes.add(lineAt("grid", left, at, right, at));
    if (lastLabel - at < 13)
      continue;
    lastLabel = at;
    axes.add(textAt(left - 6, at + 4, "end", tick.label));
  }
  axes.add(textAt((left + right) / 2, height - 12, "middle", x.label));
  axes.add(textAt(-(top + bottom) / 2, 14, "middle", y.label).set("transform", "rotate(-90)"));
  return drawing.add(axes).add(lines).add(dots);
}

} // namespace eider::report
