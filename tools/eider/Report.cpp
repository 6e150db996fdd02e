//===- tools/eider/Report.cpp - eider report ------------------------------===//
//
// Part of Eider, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//
#include "tools/eider/Requests.h"
#include "tools/eider/Text.h"
#include "tools/report/Page.h"
#include "tools/safetensors/WholeFile.h"

namespace eider::cli {

int carryOut(const ReportRequest &request) {
  std::vector<report::Document> documents;
  for (const std::string &file : request.files)
    documents.push_back(report::readDocument(readText(file), file));
  checkTextWritable(request.output, request.files);
  writeText(request.output, report::pageOf(documents));
  print(request.output + "\n");
  return 0;
}

} // namespace eider::cli
