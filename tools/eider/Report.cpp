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
  checkWritable(request.output, request.files);
  const std::string page = report::pageOf(documents);
  const std::span<const std::byte> bytes = std::as_bytes(std::span(page));
  writeWholeFile(request.output, {&bytes, 1});
  print(request.output + "\n");
  return 0;
}

} // namespace eider::cli
