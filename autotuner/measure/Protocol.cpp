//===- measure/Protocol.cpp - What tuner and worker say -------------------===//
//
// Part of Eider, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//
#include "autotuner/measure/Protocol.h"

#include <nlohmann/json.hpp>

namespace eider::tuning {

using nlohmann::json;

std::string toLine(const CellRequest &request) {
  json candidates = json::array();
  for (const CandidateRequest &candidate : request.candidates)
    candidates.push_back({{"id", candidate.id},
                          {"schedule", candidate.schedule},
                          {"contract", candidate.contract},
                          {"asked", candidate.asked}});
  return json{{"program", request.program}, {"codec", request.codec},
              {"dims", request.dims},       {"fixed", request.fixed},
              {"candidates", candidates},   {"seconds", request.seconds}}
      .dump();
}

CellRequest parseRequest(const std::string &line) {
  try {
    const json object = json::parse(line);
    CellRequest request;
    request.program = object.at("program");
    request.codec = object.at("codec");
    request.dims = object.at("dims").get<Dims>();
    request.fixed = object.at("fixed").get<std::vector<std::string>>();
    for (const json &candidate : object.at("candidates"))
      request.candidates.push_back({candidate.at("id"), candidate.at("schedule"),
                                    candidate.at("contract"), candidate.at("asked")});
    request.seconds = object.at("seconds");
    if (request.candidates.empty())
      throw Error(ErrorKind::Request, "has no candidates", "request");
    return request;
  } catch (const json::exception &error) {
    throw Error(ErrorKind::Request, error.what(), "request");
  }
}

} // namespace eider::tuning
