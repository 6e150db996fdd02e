//===- tools/report/Page.cpp - Results as a page --------------------------===//
//
// Part of Eider, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//
#include "tools/report/Page.h"

#include "tools/report/Parts.h"
#include "tools/report/Style.h"
#include "tools/report/Words.h"

#include <algorithm>
#include <cmath>
#include <cstdlib>

namespace eider::report {
namespace {

std::string pairsText(const Pairs &pairs) {
  std::string text;
  for (const auto &[name, value] : pairs)
    text += (text.empty() ? "" : " · ") + name + " " + value;
  return text;
}

/// `sm_90 · 132 multiprocessors · memory 150 GB`: the fields that are known here in a person's
/// words, the others as they stand.
std::string machineText(const Pairs &machine) {
  std::string text;
  for (const auto &[name, value] : machine) {
    const double amount = std::strtod(value.c_str(), nullptr);
    if (value == "0")
      continue; // not known, on `host`
    text += text.empty() ? "" : " · ";
    if (name == "target")
      text += value;
    else if (name == "multiprocessors")
      text += value + " multiprocessors";
    else if (name == "memory_bytes")
      text += "memory " + bytesText(amount);
    else if (name == "l2_bytes")
      text += "L2 " + bytesText(amount);
    else if (name == "memory_clock_khz")
      text += "memory clock " + number(amount / 1000) + " MHz";
    else if (name == "memory_bus_bits")
      text += "bus " + value + " bits";
    else if (name == "driver")
      text += "driver for CUDA " + number(std::floor(amount / 1000)) + "." +
              number(std::floor(std::fmod(amount, 1000) / 10));
    else
      text += name + " " + value;
  }
  return text;
}

/// One file: what was measured, when, with what; and what was to be, but was not there.
Element fileLine(const Document &document) {
  Element line("li");
  line.text(document.bench + ": " + document.date.substr(0, 10) + ", commit " +
            document.commit.substr(0, 12));
  if (!document.versions.empty())
    line.text(", " + pairsText(document.versions));
  if (!document.absent.empty())
    line.text("; not measured: " + pairsText(document.absent));
  return line;
}

/// Each machine with the files that were measured on it.
Element machines(const std::vector<Document> &documents) {
  Element list = element("section", "machines");
  std::vector<const Document *> left;
  for (const Document &document : documents)
    left.push_back(&document);
  while (!left.empty()) {
    const Document &first = *left.front();
    Element one("div"), files("ul");
    one.add(element("b", "", first.device));
    one.add(element("span", "soft", machineText(first.machine)));
    std::erase_if(left, [&](const Document *document) {
      const bool same = document->device == first.device && document->machine == first.machine;
      if (same)
        files.add(fileLine(*document));
      return same;
    });
    list.add(one.add(files));
  }
  return list;
}

/// A count and what it counts; red if it is of losses.
Element verdictOf(size_t count, size_t of, const std::string &words, bool loss,
                  const std::string &worst) {
  Element entry = element("li", loss && count ? "lost" : "");
  entry.add(element("b", "", std::to_string(count) + " of " + std::to_string(of))).text(words);
  if (count && !worst.empty())
    entry.text(" Worst: " + worst + ".");
  return entry;
}

/// Of the cases of which `figure` gives a value, how many are above `limit`, and the worst of them.
template <class Figure>
Element lossesOf(const std::vector<Case> &cases, double limit, const std::string &words,
                 Figure &&figure) {
  size_t count = 0, of = 0;
  double most = 0;
  std::string worst;
  for (const Case &one : cases) {
    const std::optional<double> value = figure(one);
    if (!value)
      continue;
    ++of;
    count += *value > limit;
    if (*value <= most)
      continue;
    most = *value;
    worst = one.name() + ", " + number(most) + " ×";
  }
  return of ? verdictOf(count, of, words, true, worst) : Element("li").set("hidden", "");
}

Element verdicts(const std::vector<Case> &cases, const std::vector<Document> &documents) {
  using Ratio = std::optional<double>;
  Element list = element("ul", "verdicts");
  list.add(lossesOf(cases, 1.05, "cases are more than 5 % slower than a memcpy of the same bytes.",
                    [](const Case &one) { return one.ours() ? one.ours()->ofMemcpy() : Ratio(); }));
  list.add(lossesOf(cases, 1, "cases are slower than the fastest peer.", [](const Case &one) {
    return one.ours() && !one.peers.empty()
               ? Ratio(one.ours()->value / one.peers.front().cell->value)
               : Ratio();
  }));
  list.add(lossesOf(cases, 1.05, "cases are more than 5 % slower than tuned.", [](const Case &one) {
    return one.heuristic && one.best() ? Ratio(one.heuristic->value / one.best()->value) : Ratio();
  }));
  size_t missed = 0, asked = 0;
  for (const Document &document : documents)
    for (const Cell &cell : document.cells)
      if (const std::optional<bool> met = cell.met()) {
        ++asked;
        missed += !*met;
      }
  if (asked)
    list.add(verdictOf(missed, asked, "targets are missed.", true, ""));
  return list;
}

Element headOf() {
  Element head("head");
  head.add(Element("meta").set("charset", "utf-8"));
  head.add(Element("meta")
               .set("name", "viewport")
               .set("content", "width=device-width, initial-scale=1"));
  head.add(element("title", "", "Eider: measured"));
  return head.add(Element("style").verbatim(styleText));
}

} // namespace

std::string pageOf(const std::vector<Document> &documents) {
  const std::vector<Case> cases = casesOf(documents);
  Element body("body");
  body.add(element("h1", "", "Eider: measured"));
  if (!cases.empty())
    body.add(verdicts(cases, documents));
  body.add(machines(documents));
  if (!cases.empty())
    body.add(rooflines(cases)).add(caseTable(cases)).add(landscapes(cases));
  body.add(otherFigures(documents)).add(everyCell(documents));
  body.add(Element("div").set("id", "tip").set("role", "status").set("hidden", ""));
  body.add(Element("script").verbatim(scriptText));
  Element page("html");
  page.set("lang", "en").add(headOf()).add(body);
  return "<!DOCTYPE html>\n" + page.str() + "\n";
}

} // namespace eider::report
