//===- tools/report/Parts.h - The parts of the page -------------*- C++ -*-===//
//
// Part of Eider, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//
#ifndef EIDER_TOOLS_REPORT_PARTS_H
#define EIDER_TOOLS_REPORT_PARTS_H

#include "tools/report/Cases.h"
#include "tools/report/Chart.h"

namespace eider::report {

/// The id of a case's row, by its place in the list.
std::string idOf(size_t place);

/// The peers' names, each once, in the order of their marks.
std::vector<std::string> peersOf(const std::vector<Case> &cases);

/// Who drew which mark.
Mark peerMark(const std::vector<std::string> &peers, const std::string &name);
Element legend(const std::vector<std::string> &peers, bool tuned);

/// For each machine and L2, two drawings: bytes a second, and times a memcpy.
Element rooflines(const std::vector<Case> &cases);

/// For each op, a drawing a case of which many schedules were measured.
Element landscapes(const std::vector<Case> &cases);

/// One row a case, in their order.
Element caseTable(const std::vector<Case> &cases);

/// All figures that are no times of ops: a row an op, params and shape; first what missed its
/// target.
Element otherFigures(const std::vector<Document> &documents);

/// Every cell of every file, as it stands there.
Element everyCell(const std::vector<Document> &documents);

} // namespace eider::report

#endif // EIDER_TOOLS_REPORT_PARTS_H
