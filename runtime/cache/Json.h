//===- cache/Json.h - JSON from files that may be damaged -------*- C++ -*-===//
//
// Part of Eider, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//
#ifndef EIDER_RUNTIME_CACHE_JSON_H
#define EIDER_RUNTIME_CACHE_JSON_H

#include <nlohmann/json.hpp>

namespace eider {

using Json = nlohmann::ordered_json;
using JsonError = nlohmann::json::exception;

/// Throws JsonError for text that is no JSON, or is nested deeper than anything of ours: writing
/// it again would take a stack as deep.
inline Json parseJson(std::string_view text) {
  return Json::parse(text, [](int depth, Json::parse_event_t, Json &) {
    if (depth > 32)
      throw nlohmann::json::other_error::create(599, "nested too deeply",
                                                static_cast<const Json *>(nullptr));
    return true;
  });
}

/// The text of `json`; bytes of strings that are no UTF-8 (of a compiler's log) are replaced.
inline std::string textOf(const Json &json, int indent = -1) {
  return json.dump(indent, ' ', false, Json::error_handler_t::replace);
}

} // namespace eider

#endif // EIDER_RUNTIME_CACHE_JSON_H
