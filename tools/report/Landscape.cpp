//===- tools/report/Landscape.cpp - Times over schedules ------------------===//
//
// Part of Eider, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//
#include "tools/report/Parts.h"

#include "tools/report/Words.h"

#include <algorithm>
#include <map>
#include <set>

namespace eider::report {
namespace {

/// The value of `threads = 256` in a schedule; -1 if it has none.
int threadsOf(const std::string &schedule) {
  const std::string knob = "threads = ";
  const size_t at = schedule.find(knob);
  return at == std::string::npos ? -1 : std::atoi(schedule.c_str() + at + knob.size());
}

/// Where each schedule stands: its threads' column, and its place among those of equal threads.
class Columns {
public:
  explicit Columns(const std::vector<const Cell *> &cells) {
    for (const Cell *cell : cells)
      ++counts[threadsOf(cell->param("schedule"))];
  }

  double next(const Cell &cell) {
    const int threads = threadsOf(cell.param("schedule"));
    const auto column = static_cast<double>(std::distance(counts.begin(), counts.find(threads)));
    return column + (1 + used[threads]++) / (counts.at(threads) + 1.0);
  }

  Axis axis() const {
    Axis axis{"threads a block", 0, static_cast<double>(counts.size()), false, {}};
    double middle = 0.5;
    for (const auto &[threads, count] : counts)
      axis.ticks.push_back({middle++, threads < 0 ? "none" : std::to_string(threads)});
    return axis;
  }

private:
  std::map<int, int> counts, used;
};

Element landscape(const Case &of, size_t place) {
  std::vector<double> times;
  for (const Cell *cell : of.schedules)
    times.push_back(cell->value);
  if (of.heuristic)
    times.push_back(of.heuristic->value);
  const Cell &best = *of.schedules.front();
  if (best.ofMemcpy() && *best.baselineValue > 0)
    times.push_back(*best.baselineValue);
  Columns columns(of.schedules);
  const Axis x = columns.axis();
  Chart chart("Schedules of " + of.name(), x, logAxis("µs", times, tickText));
  if (best.ofMemcpy() && *best.baselineValue > 0)
    chart.line("memcpy", {{x.from, *best.baselineValue}, {x.to, *best.baselineValue}},
               "memcpy: " + number(*best.baselineValue) + " µs");
  std::string caption =
      of.name() + ". Best: " + best.param("schedule") + ", " + number(best.value) + " µs";
  if (of.heuristic) {
    chart.line("chosen", {{x.from, of.heuristic->value}, {x.to, of.heuristic->value}},
               "the heuristic's: " + number(of.heuristic->value) + " µs");
    caption += "; the heuristic's (solid line): " + number(of.heuristic->value) + " µs, " +
               number(of.heuristic->value / best.value) + " × the best";
  }
  for (const Cell *cell : of.schedules)
    chart.dot({cell == &best ? "tuned" : "schedule", 0}, columns.next(*cell), cell->value,
              cell->param("schedule") + ": " + number(cell->value) + " µs, " +
                  number(cell->value / best.value) + " × the best",
              idOf(place));
  return Element("figure").add(chart.svg()).add(element("figcaption", "", caption + "."));
}

} // namespace

Element landscapes(const std::vector<Case> &cases) {
  Element section("section");
  section.set("id", "schedules");
  std::set<std::string> ops;
  for (const Case &of : cases)
    if (of.schedules.size() > 1)
      ops.insert(of.op);
  if (ops.empty())
    return section;
  section.add(element("h2", "", "Schedules"));
  section.add(element("p", "",
                      "A dot is a schedule that was measured; dots at one number of threads differ "
                      "in their other knobs."));
  for (const std::string &op : ops) {
    section.add(element("h3", "", op));
    Element figures = element("div", "figures");
    for (size_t i = 0; i < cases.size(); ++i)
      if (cases[i].op == op && cases[i].schedules.size() > 1)
        figures.add(landscape(cases[i], i));
    section.add(figures);
  }
  return section;
}

} // namespace eider::report
