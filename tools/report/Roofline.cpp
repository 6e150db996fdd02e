//===- tools/report/Roofline.cpp - Every shape against memcpy -------------===//
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

/// One dot: a time of a cell that tells its bytes and its memcpy.
struct Dot {
  Mark mark;
  const Cell *cell;
  std::string tip, target;

  double bytes() const { return *cell->bytes; }
  double speed() const { return bytes() / cell->value / 1000; } ///< GB/s: bytes a us / 1000
  double ratio() const { return *cell->ratio(); }
};

std::string speedText(double gigabytes) { return bytesText(gigabytes * 1e9) + "/s"; }

void addDot(std::vector<Dot> &dots, Mark mark, const std::string &who, const Cell *cell,
            const Case &of, size_t place) {
  if (!cell || !cell->bytes || *cell->bytes <= 0 || cell->ofMemcpy().value_or(0) <= 0)
    return;
  Dot dot{std::move(mark), cell, "", idOf(place)};
  dot.tip = of.name() + ": " + who + " " + number(cell->value) + " µs, " + speedText(dot.speed()) +
            ", " + number(dot.ratio()) + " × memcpy";
  dots.push_back(dot);
}

/// The dots of one machine and L2; what we do is drawn last, on top.
std::vector<Dot> dotsOf(const std::vector<Case> &cases, const std::vector<std::string> &peers,
                        const std::string &device, const std::string &l2) {
  std::vector<Dot> theirs, ours;
  for (size_t i = 0; i < cases.size(); ++i) {
    const Case &of = cases[i];
    if (of.device != device || of.l2 != l2)
      continue;
    for (const PeerTime &peer : of.peers)
      addDot(theirs, peerMark(peers, peer.name), peer.name, peer.cell, of, i);
    addDot(ours, {"heuristic", 0}, "Eider", of.ours(), of, i);
    if (of.best() && of.best() != of.ours())
      addDot(ours, {"tuned", 0}, "Eider, tuned", of.best(), of, i);
  }
  theirs.insert(theirs.end(), ours.begin(), ours.end());
  return theirs;
}

Element captioned(const Chart &chart, const std::string &caption) {
  return Element("figure").add(chart.svg()).add(element("figcaption", "", caption));
}

Element speedChart(const std::vector<Dot> &dots, const std::string &what) {
  std::vector<double> bytes, speeds;
  std::map<double, std::vector<double>> copies;
  for (const Dot &dot : dots) {
    bytes.push_back(dot.bytes());
    speeds.push_back(dot.speed());
    copies[dot.bytes()].push_back(dot.bytes() / *dot.cell->baselineValue / 1000);
    speeds.push_back(copies[dot.bytes()].back());
  }
  Chart chart("Bytes a second, " + what, logAxis("bytes moved", bytes, bytesText),
              logAxis("GB/s", speeds, tickText));
  std::vector<std::pair<double, double>> line;
  for (auto &[size, measured] : copies) {
    std::ranges::sort(measured);
    line.emplace_back(size, measured[measured.size() / 2]);
  }
  chart.line("memcpy", line, "memcpy of the same bytes");
  for (const Dot &dot : dots)
    chart.dot(dot.mark, dot.bytes(), dot.speed(), dot.tip, dot.target);
  return captioned(chart, "Bytes a second against bytes moved, " + what +
                              ". The dashed line is a memcpy of the same bytes: higher is better.");
}

Element ratioChart(const std::vector<Dot> &dots, const std::string &what) {
  std::vector<double> bytes, ratios = {0.9, 1.2};
  for (const Dot &dot : dots) {
    bytes.push_back(dot.bytes());
    ratios.push_back(dot.ratio());
  }
  const Axis x = logAxis("bytes moved", bytes, bytesText);
  Chart chart("Times a memcpy, " + what, x, logAxis("time / memcpy", ratios, tickText));
  chart.line("memcpy", {{x.from, 1}, {x.to, 1}}, "memcpy of the same bytes");
  for (const Dot &dot : dots)
    chart.dot(dot.mark, dot.bytes(), dot.ratio(), dot.tip, dot.target);
  return captioned(chart, "Time as a multiple of the memcpy, " + what + ": lower is better.");
}

} // namespace

std::string idOf(size_t place) { return "case-" + std::to_string(place + 1); }

std::vector<std::string> peersOf(const std::vector<Case> &cases) {
  std::set<std::string> names;
  for (const Case &of : cases)
    for (const PeerTime &peer : of.peers)
      names.insert(peer.name);
  return {names.begin(), names.end()};
}

Mark peerMark(const std::vector<std::string> &peers, const std::string &name) {
  const auto place = static_cast<int>(std::ranges::find(peers, name) - peers.begin());
  return {"peer" + std::to_string(place % 6), place + 1};
}

Element legend(const std::vector<std::string> &peers, bool tuned) {
  Element list = element("ul", "legend");
  auto entry = [&](const Mark &mark, const std::string &name) {
    list.add(Element("li").add(markAlone(mark)).text(name));
  };
  entry({"heuristic", 0}, "Eider");
  if (tuned)
    entry({"tuned", 0}, "Eider, tuned");
  for (const std::string &peer : peers)
    entry(peerMark(peers, peer), peer);
  return list;
}

Element rooflines(const std::vector<Case> &cases) {
  Element section("section");
  section.set("id", "roofline").add(element("h2", "", "Against memcpy"));
  const std::vector<std::string> peers = peersOf(cases);
  std::set<std::pair<std::string, std::string>> groups;
  for (const Case &of : cases)
    groups.emplace(of.device, of.l2);
  bool tuned = false;
  Element figures = element("div", "figures");
  for (const auto &[device, l2] : groups) {
    const std::vector<Dot> dots = dotsOf(cases, peers, device, l2);
    if (dots.empty())
      continue;
    for (const Dot &dot : dots)
      tuned |= dot.mark.kind == "tuned";
    const std::string what = device + ", " + l2 + " L2";
    figures.add(speedChart(dots, what)).add(ratioChart(dots, what));
  }
  section.add(legend(peers, tuned));
  section.add(element("a", "skip", "Skip the drawings, to the table").set("href", "#cases"));
  return section.add(figures);
}

} // namespace eider::report
