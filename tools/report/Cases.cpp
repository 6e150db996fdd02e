//===- tools/report/Cases.cpp - Who was measured at the same thing --------===//
//
// Part of Eider, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//
#include "tools/report/Cases.h"

#include "tools/report/Words.h"

#include <algorithm>
#include <map>

namespace eider::report {
namespace {

/// What tells cases apart. The codec that the compiler chooses itself is no param of a peer.
Pairs paramsOf(const Cell &cell) {
  Pairs params;
  for (const auto &[name, value] : cell.params) {
    const bool names = name == "by" || name == "schedule" || name == "l2";
    if (!names && !value.empty() && !(name == "codec" && value == "auto"))
      params.emplace_back(name, value);
  }
  return params;
}

std::string textOf(const Pairs &pairs) {
  std::string text;
  for (const auto &[name, value] : pairs)
    text += name + "=" + value + ";";
  return text;
}

/// Sorts a cell in; `case_` has the right key, and all that a benchmark measured before what the
/// tuner did.
void put(Case &case_, const Cell &cell) {
  const std::string by = cell.param("by"), schedule = cell.param("schedule");
  if (cell.metric == "tuned_time")
    case_.tuned = case_.tuned ? case_.tuned : &cell;
  else if (cell.metric == "heuristic_time")
    case_.heuristic = case_.heuristic ? case_.heuristic : &cell;
  else if (!by.empty()) {
    const auto same = std::ranges::find(case_.peers, by, &PeerTime::name);
    if (same == case_.peers.end())
      case_.peers.push_back({by, &cell});
    else
      same->cell = &cell;
  } else if (schedule.empty())
    case_.heuristic = &cell;
  else if (schedule == "tuned")
    case_.tuned = &cell;
  else
    case_.schedules.push_back(&cell);
}

/// The case of a cell, made if it is the first.
Case &caseOf(std::map<std::string, Case> &byKey, const Document &document, const Cell &cell) {
  const std::string l2 = cell.param("l2").empty() ? "cold" : cell.param("l2");
  const Pairs params = paramsOf(cell);
  Case &found = byKey[document.device + "\n" + cell.op + "\n" + l2 + "\n" + textOf(params) +
                      textOf(cell.shape)];
  found.device = document.device;
  found.op = cell.op;
  found.l2 = l2;
  found.params = params;
  found.shape = cell.shape;
  return found;
}

bool isFaster(const Cell *a, const Cell *b) { return a->value < b->value; }

} // namespace

const Cell *Case::ours() const { return heuristic ? heuristic : best(); }

const Cell *Case::best() const {
  if (tuned)
    return tuned;
  if (schedules.empty() || (heuristic && isFaster(heuristic, schedules.front())))
    return nullptr;
  return schedules.front();
}

std::string Case::name() const {
  return op + " " + paramsText(params) + ", " + shapeText(shape) + ", " + l2;
}

double Case::badness() const {
  const Cell *cell = ours();
  if (!cell)
    return 0;
  double badness = cell->ofMemcpy().value_or(0);
  if (!peers.empty())
    badness = std::max(badness, cell->value / peers.front().cell->value);
  return badness;
}

std::vector<Case> casesOf(const std::vector<Document> &documents) {
  std::vector<const Document *> oldestFirst;
  for (const Document &document : documents)
    oldestFirst.push_back(&document);
  std::ranges::stable_sort(oldestFirst, {}, &Document::date);
  std::map<std::string, Case> byKey;
  for (const bool byTuner : {false, true})
    for (const Document *document : oldestFirst)
      for (const Cell &cell : document->cells)
        if (cell.isTime() && byTuner == (cell.metric != "time"))
          put(caseOf(byKey, *document, cell), cell);
  std::vector<Case> cases;
  for (auto &[key, case_] : byKey) {
    std::ranges::stable_sort(case_.schedules, isFaster);
    std::ranges::stable_sort(case_.peers, {},
                             [](const PeerTime &peer) { return peer.cell->value; });
    cases.push_back(std::move(case_));
  }
  std::ranges::stable_sort(cases,
                           [](const Case &a, const Case &b) { return a.badness() > b.badness(); });
  return cases;
}

} // namespace eider::report
