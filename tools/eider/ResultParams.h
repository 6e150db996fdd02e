//===- ResultParams.h - The params of a cell of results ---------*- C++ -*-===//
//
// Part of Eider, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//
#ifndef EIDER_TOOLS_EIDER_RESULTPARAMS_H
#define EIDER_TOOLS_EIDER_RESULTPARAMS_H

#include "tools/eider/Requests.h"

#include <nlohmann/json.hpp>
#include <string>

namespace eider::cli {

/// A cell's params, as bench/README.md wants them: all that the request says, so that two requests
/// are never one cell.
nlohmann::json paramsOf(const ProgramRequest &program, const std::string &schedule);

} // namespace eider::cli

#endif // EIDER_TOOLS_EIDER_RESULTPARAMS_H
