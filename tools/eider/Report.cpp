//===- tools/eider/Report.cpp - eider report ------------------------------===//
//
// Part of Eider, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//
#include "tools/eider/Requests.h"
#include "tools/eider/Text.h"
#include "tools/report/Page.h"

#include <fstream>

namespace eider::cli {

int carryOut(const ReportRequest &request) {
  std::vector<report::Document> documents;
  for (const std::string &file : request.files)
    documents.push_back(report::readDocument(readText(file), file));
  const std::string page = report::pageOf(documents);
  std::ofstream file(request.output, std::ios::binary);
  if (!(file << page) || !file.flush())
    throw Error(ErrorKind::Machine, "cannot be written", request.output, "check the directory");
  print(request.output + "\n");
  return 0;
}

} // namespace eider::cli
