//===- tools/report/Results.cpp - Files of results ------------------------===//
//
// Part of Eider, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//
#include "tools/report/Results.h"

#include "eider/error.h"

#include <cmath>
#include <map>
#include <nlohmann/json.hpp>

namespace eider::report {
namespace {

using nlohmann::json;

/// A value in a file, and how to name it in an error: `cells[3].shape`.
struct Field {
  const std::string &file;
  std::string path;
  const json &value;

  [[noreturn]] void refuse(const std::string &why) const {
    throw Error(ErrorKind::Request, path.empty() ? why : path + ": " + why, file,
                "see bench/README.md for the schema");
  }

  const Field &object() const {
    if (!value.is_object())
      refuse("is no object");
    return *this;
  }

  /// A field that must be there.
  Field at(const std::string &name) const {
    const auto found = object().value.find(name);
    Field field{file, path.empty() ? name : path + "." + name,
                found == value.end() ? value : *found};
    if (found == value.end())
      field.refuse("is missing");
    return field;
  }

  bool has(const std::string &name) const {
    const auto found = object().value.find(name);
    return found != value.end() && !found->is_null();
  }

  std::string string() const {
    if (!value.is_string())
      refuse("is no string");
    return value.get<std::string>();
  }

  double number() const {
    if (!value.is_number() || !std::isfinite(value.get<double>()))
      refuse("is no number");
    return value.get<double>();
  }

  std::optional<double> optionalNumber(const std::string &name) const {
    return has(name) ? std::optional(at(name).number()) : std::nullopt;
  }

  /// Strings as they are, other values as JSON writes them.
  Pairs pairs() const {
    Pairs made;
    for (const auto &[name, entry] : object().value.items()) {
      if (entry.is_structured())
        Field{file, path + "." + name, entry}.refuse("is neither text nor number");
      made.emplace_back(name, entry.is_string() ? entry.get<std::string>() : entry.dump());
    }
    return made;
  }
};

/// Extents, rows first.
Pairs readShape(const Field &field) {
  Pairs shape;
  for (const auto &[name, extent] : field.object().value.items()) {
    if (!extent.is_number_integer() || extent.get<int64_t>() < 0)
      Field{field.file, field.path + "." + name, extent}.refuse("is no extent");
    shape.insert(name == "tokens" ? shape.begin() : shape.end(), {name, extent.dump()});
  }
  return shape;
}

Cell readCell(const Field &field) {
  Cell cell;
  cell.op = field.at("op").string();
  cell.params = field.at("params").pairs();
  cell.shape = readShape(field.at("shape"));
  cell.metric = field.at("metric").string();
  cell.unit = field.at("unit").string();
  cell.value = field.at("value").number();
  if (cell.isTime() && cell.value <= 0)
    field.at("value").refuse("is no time");
  if (field.has("baseline")) {
    cell.baseline = field.at("baseline").string();
    cell.baselineValue = field.at("baseline_value").number();
  }
  // A target of 0 says that there is none.
  cell.target = field.optionalNumber("target");
  cell.targetDifference = field.optionalNumber("target_difference");
  cell.spread = field.optionalNumber("spread");
  cell.bytes = field.optionalNumber("bytes");
  cell.starts = field.optionalNumber("starts");
  return cell;
}

void readCells(const Field &field, Document &document) {
  if (!field.value.is_array())
    field.refuse("is no array");
  std::map<std::string, std::string> seen;
  for (size_t i = 0; i < field.value.size(); ++i) {
    const Field cell{field.file, field.path + "[" + std::to_string(i) + "]", field.value[i]};
    document.cells.push_back(readCell(cell));
    const json key = {cell.value["op"], cell.value["params"], cell.value["shape"],
                      cell.value["metric"]};
    const auto [other, isNew] = seen.emplace(key.dump(), cell.path);
    if (!isNew)
      cell.refuse("has op, params, shape and metric of " + other->second);
  }
}

} // namespace

std::string Cell::param(const std::string &name) const {
  for (const auto &[key, value] : params)
    if (key == name)
      return value;
  return "";
}

std::optional<double> Cell::ratio() const {
  if (!baselineValue || *baselineValue == 0)
    return std::nullopt;
  return value / *baselineValue;
}

std::optional<double> Cell::ofMemcpy() const {
  return baseline == "memcpy" ? ratio() : std::nullopt;
}

bool Cell::isTime() const {
  return metric == "time" || metric == "tuned_time" || metric == "heuristic_time";
}

std::optional<bool> Cell::met() const {
  if (targetDifference && baselineValue)
    return value - *baselineValue <= *targetDifference;
  if (metric == "failed") // tests: its target is 0
    return value == 0;
  if (target && *target > 0)
    return ratio().value_or(value) <= *target;
  return std::nullopt;
}

Document readDocument(const std::string &text, const std::string &file) {
  json parsed;
  try {
    parsed = json::parse(text);
  } catch (const json::exception &error) {
    const std::string what = error.what();
    throw Error(ErrorKind::Request, "is no JSON: " + what.substr(what.find("] ") + 2), file);
  }
  const Field root{file, "", parsed};
  if (root.at("schema").value != 1)
    root.at("schema").refuse("is " + parsed["schema"].dump() + "; 1 is known here");
  Document document;
  document.file = file;
  document.bench = root.at("bench").string();
  document.date = root.at("date").string();
  document.commit = root.at("commit").string();
  document.device = root.at("machine").at("device").string();
  for (const auto &pair : root.at("machine").pairs())
    if (pair.first != "device")
      document.machine.push_back(pair);
  if (root.has("versions"))
    document.versions = root.at("versions").pairs();
  if (root.has("absent"))
    document.absent = root.at("absent").pairs();
  readCells(root.at("cells"), document);
  return document;
}

} // namespace eider::report
