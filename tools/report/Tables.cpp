//===- tools/report/Tables.cpp - Every figure in a table ------------------===//
//
// Part of Eider, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//
#include "tools/report/Parts.h"

#include "tools/report/Words.h"

#include <algorithm>

namespace eider::report {
namespace {

/// What a table is sorted by: all digits, where a place in a drawing has two.
std::string orderText(double order) {
  char text[32];
  std::snprintf(text, sizeof(text), "%.9g", order);
  return text;
}

/// `label` stands before the value where a row is shown as a card.
Element field(const std::string &label, const Element &content, double order) {
  return Element("td").set("data-label", label).set("data-order", orderText(order)).add(content);
}

Element figure(const std::string &label, std::optional<double> value) {
  const std::string text = value ? number(*value) : "–";
  Element made = field(label, element("span", "", text), value.value_or(-1));
  return value ? made : made.set("class", "none");
}

/// How we stand against another time: above 1 we are slower, and the words say so.
Element standing(const std::string &label, std::optional<double> ratio,
                 const std::string &beside = "") {
  if (!ratio)
    return figure(label, ratio);
  const bool lost = *ratio > 1.05, won = *ratio < 0.995;
  std::string words = number(*ratio) + " ×";
  if (!beside.empty())
    words += " " + beside;
  Element content = element("span", lost ? "lost" : won ? "won" : "even", words);
  char style[32];
  std::snprintf(style, sizeof(style), "width:%.0f%%", std::clamp(*ratio / 2 * 100, 1.0, 100.0));
  Element bar = element("span", lost ? "bar lost" : "bar").set("aria-hidden", "true");
  bar.add(Element("i").set("style", std::string_view(style)));
  return Element("td")
      .set("data-label", label)
      .set("data-order", orderText(*ratio))
      .add(content)
      .add(bar);
}

Element head(const std::vector<std::string> &columns, bool sortable) {
  Element row("tr");
  for (const std::string &column : columns) {
    Element cell("th");
    cell.set("scope", "col");
    if (sortable)
      cell.add(element("button", "", column).set("type", "button"));
    else
      cell.text(column);
    row.add(cell);
  }
  return Element("thead").add(row);
}

/// Against the fastest peer, which is named; its time alone where we have none.
Element peerField(const Case &of) {
  if (of.peers.empty())
    return figure("best peer", std::nullopt);
  const PeerTime &peer = of.peers.front();
  const std::string name = "of " + peer.name + " (" + number(peer.cell->value) + " µs)";
  if (!of.ours())
    return field("best peer", element("span", "", name), -1);
  return standing("best peer", of.ours()->value / peer.cell->value, name);
}

Element askedField(const Cell *ours) {
  if (!ours || !ours->met())
    return figure("asked", std::nullopt);
  const bool missed = !*ours->met();
  return field("asked", element("span", missed ? "lost" : "", verdict(*ours)), missed ? 1 : 0);
}

Element caseRow(const Case &of, size_t place) {
  const Cell *ours = of.ours(), *best = of.best();
  auto timeOf = [](const Cell *cell) { return cell ? std::optional(cell->value) : std::nullopt; };
  Element name =
      Element("th").set("scope", "row").set("data-order", orderText(-static_cast<double>(place)));
  name.add(element("b", "", of.op)).text(" " + paramsText(of.params));
  name.add(element("span", "shape", shapeText(of.shape) + " · " + of.l2));
  const bool hasBytes = ours && ours->bytes;
  return Element("tr")
      .set("id", idOf(place))
      .add(name)
      .add(figure("Eider µs", timeOf(ours)))
      .add(figure("tuned µs", timeOf(best)))
      .add(figure("memcpy µs", ours && ours->ofMemcpy() ? ours->baselineValue : std::nullopt))
      .add(standing("of memcpy", ours ? ours->ofMemcpy() : std::nullopt))
      .add(peerField(of))
      .add(figure("GB/s",
                  hasBytes ? std::optional(*ours->bytes / ours->value / 1000) : std::nullopt))
      .add(askedField(ours));
}

/// The params that say what is measured, and not whose it is.
Pairs withoutPeer(Pairs params) {
  std::erase_if(params, [](const auto &param) { return param.first == "by"; });
  return params;
}

Element chip(const Cell &cell) {
  const bool missed = cell.met() == false;
  Element chip = element("li", missed ? "lost" : "");
  const std::string by = cell.param("by");
  chip.text((by.empty() ? "" : by + ": ") + cell.metric + " ")
      .add(element("b", "", number(cell.value) + " " + cell.unit));
  if (cell.baselineValue)
    chip.text(" · " + cell.baseline + " " + number(*cell.baselineValue) + " " + cell.unit);
  if (const std::string asked = verdict(cell); !asked.empty())
    chip.text(" · " + asked);
  return chip;
}

/// What was measured, and its figures beside each other, whoever they are of.
struct Subject {
  std::string device;
  std::vector<const Cell *> cells;
  bool missed = false;

  bool isOf(const Document &document, const Cell &cell) const {
    const Cell &mine = *cells.front();
    return device == document.device && mine.op == cell.op && mine.shape == cell.shape &&
           withoutPeer(mine.params) == withoutPeer(cell.params);
  }
};

std::vector<Subject> subjectsOf(const std::vector<Document> &documents) {
  std::vector<Subject> subjects;
  for (const Document &document : documents)
    for (const Cell &cell : document.cells) {
      if (cell.isTime())
        continue;
      auto found = std::ranges::find_if(
          subjects, [&](const Subject &subject) { return subject.isOf(document, cell); });
      if (found == subjects.end())
        found = subjects.insert(subjects.end(), {document.device, {}, false});
      found->cells.push_back(&cell);
      found->missed |= cell.met() == false;
    }
  std::ranges::stable_sort(subjects, std::greater(), &Subject::missed);
  return subjects;
}

std::string optionalText(std::optional<double> value) { return value ? number(*value) : ""; }

} // namespace

Element caseTable(const std::vector<Case> &cases) {
  Element section("section");
  section.set("id", "cases").add(element("h2", "", "Every case, the worst first"));
  section.add(element(
      "p", "",
      "“Of memcpy” is our time over that of a memcpy of the same bytes in the same run; “best "
      "peer” is our time over that of the fastest peer. Below 1 we are faster. “Tuned” stands "
      "where a schedule was measured that beats the heuristic's, or a tuning record was used."));
  Element body("tbody");
  for (size_t i = 0; i < cases.size(); ++i)
    body.add(caseRow(cases[i], i));
  return section.add(element("table", "cases sortable")
                         .add(head({"case", "Eider µs", "tuned µs", "memcpy µs", "of memcpy",
                                    "best peer", "GB/s", "asked"},
                                   true))
                         .add(body));
}

Element otherFigures(const std::vector<Document> &documents) {
  Element section("section");
  section.set("id", "figures");
  const std::vector<Subject> subjects = subjectsOf(documents);
  if (subjects.empty())
    return section;
  section.add(element("h2", "", "Latency, tests, and other figures"));
  Element list = element("div", "subjects");
  for (const Subject &subject : subjects) {
    const Cell &cell = *subject.cells.front();
    Element chips = element("ul", "chips");
    for (const Cell *one : subject.cells)
      chips.add(chip(*one));
    const std::string shape = cell.shape.empty() ? "" : ", " + shapeText(cell.shape);
    Element name = element("h4", "", cell.op + " " + paramsText(withoutPeer(cell.params)) + shape);
    name.add(element("span", "soft", " · " + subject.device));
    list.add(Element("div").add(name).add(chips));
  }
  return section.add(list);
}

Element everyCell(const std::vector<Document> &documents) {
  Element section("section");
  section.set("id", "cells").add(element("h2", "", "Every cell of every file"));
  for (const Document &document : documents) {
    Element body("tbody");
    for (const Cell &cell : document.cells) {
      Element row("tr");
      for (const std::string &text :
           {cell.op, paramsText(cell.params), shapeText(cell.shape), cell.metric,
            number(cell.value) + " " + cell.unit,
            cell.baselineValue ? cell.baseline + " " + number(*cell.baselineValue) : cell.baseline,
            optionalText(cell.ratio()), optionalText(cell.spread),
            cell.bytes ? bytesText(*cell.bytes) : "", verdict(cell)})
        row.add(element("td", "", text));
      body.add(row);
    }
    Element table = Element("table")
                        .add(head({"op", "params", "shape", "metric", "value", "baseline", "ratio",
                                   "spread", "bytes", "asked"},
                                  false))
                        .add(body);
    Element details("details");
    details.add(element("summary", "",
                        document.file.substr(document.file.rfind('/') + 1) + ": " +
                            std::to_string(document.cells.size()) + " cells"));
    section.add(details.add(element("div", "wide").set("tabindex", "0").add(table)));
  }
  return section;
}

} // namespace eider::report
