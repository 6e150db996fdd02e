//===- ResultParams.cpp - The params of a cell of results -----------------===//
//
// Part of Eider, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//
#include "tools/eider/ResultParams.h"

namespace eider::cli {

nlohmann::json paramsOf(const ProgramRequest &program, const std::string &schedule) {
  const OpParameters &p = program.parameters;
  nlohmann::json params = {{"codec", program.codec}, {"schedule", schedule}};
  for (const auto &[name, value] :
       {std::pair("dtype", &p.dtype), std::pair("format", &p.format), std::pair("block", &p.block),
        std::pair("from_format", &p.fromFormat), std::pair("from_block", &p.fromBlock),
        std::pair("from_scale", &p.fromScale), std::pair("from_scale_layout", &p.fromScaleLayout),
        std::pair("scale", &p.scale), std::pair("scale_layout", &p.scaleLayout),
        std::pair("scale_source", &p.scaleSource), std::pair("mode", &p.mode),
        std::pair("index", &p.index), std::pair("copy", &p.copy),
        std::pair("transposed", &p.transposed), std::pair("amax", &p.amax)})
    if (!value->empty())
      params[name] = *value;
  for (const auto &[name, value] : program.settings)
    params["set " + name] = value;
  return params;
}

} // namespace eider::cli
