//===- tools/report/Page.h - Results as a page ------------------*- C++ -*-===//
//
// Part of Eider, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//
#ifndef EIDER_TOOLS_REPORT_PAGE_H
#define EIDER_TOOLS_REPORT_PAGE_H

#include "tools/report/Results.h"

namespace eider::report {

/// One page of HTML that refers to nothing outside itself: drawings, tables, every cell.
std::string pageOf(const std::vector<Document> &documents);

} // namespace eider::report

#endif // EIDER_TOOLS_REPORT_PAGE_H
