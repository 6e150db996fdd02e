//===- contract/Json.cpp - A contract as JSON -----------------------------===//
//
// Part of Eider, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//
#include "runtime/contract/Contract.h"

#include "eider/error.h"

#include <nlohmann/json.hpp>

namespace eider::contract {
namespace {

using Json = nlohmann::ordered_json;

constexpr std::pair<Role, const char *> roleNames[] = {
    {Role::Input, "input"}, {Role::InOut, "inout"}, {Role::Output, "output"}};

constexpr std::pair<Predicate::Kind, const char *> predicateNames[] = {
    {Predicate::Kind::Aligned, "aligned"},
    {Predicate::Kind::Contiguous, "contiguous"},
    {Predicate::Kind::UnitStride, "unit_stride"},
    {Predicate::Kind::Range, "range"},
    {Predicate::Kind::Multiple, "multiple"}};

template <typename Table, typename Value> const char *nameIn(const Table &table, Value value) {
  for (auto &[key, name] : table)
    if (key == value)
      return name;
  return "";
}

[[noreturn]] void fail(const std::string &what) {
  throw Error(ErrorKind::Internal, what, "contract JSON");
}

//===-- Writing -----------------------------------------------------------===//

Json toJson(const Predicate &predicate) {
  Json json = {{"kind", nameIn(predicateNames, predicate.kind)}};
  switch (predicate.kind) {
  case Predicate::Kind::Aligned:
    json["tensor"] = predicate.tensor;
    json["bytes"] = predicate.bytes;
    break;
  case Predicate::Kind::Contiguous:
  case Predicate::Kind::UnitStride:
    json["tensor"] = predicate.tensor;
    break;
  case Predicate::Kind::Range:
    json["dim"] = predicate.dim;
    json["min"] = predicate.min;
    json["max"] = predicate.max;
    break;
  case Predicate::Kind::Multiple:
    json["dim"] = predicate.dim;
    json["of"] = predicate.of;
    break;
  }
  return json;
}

Json toJson(const Parameter &parameter) {
  switch (parameter.kind) {
  case Parameter::Kind::Tensor:
    return {{"tensor", parameter.index}};
  case Parameter::Kind::Scalar:
    return {{"scalar", parameter.index}};
  case Parameter::Kind::Stride:
    return {{"stride", Json::array({parameter.index, parameter.axis})}};
  case Parameter::Kind::Workspace:
    return {{"workspace", parameter.offset}};
  case Parameter::Kind::Dim:
    return {{"dim", parameter.dim}};
  }
  return {};
}

Json toJson(const Launch &launch) {
  Json parameters = Json::array();
  for (const Parameter &parameter : launch.parameters)
    parameters.push_back(toJson(parameter));
  Json json = {{"entry", launch.entry},     {"block", launch.block},   {"grid", launch.grid},
               {"cluster", launch.cluster}, {"shared", launch.shared}, {"parameters", parameters}};
  if (launch.cooperative)
    json["cooperative"] = launch.cooperative;
  if (launch.stays)
    json["stays"] = launch.stays;
  if (launch.overlaps)
    json["overlaps"] = true;
  return json;
}

Json toJson(const Variant &variant) {
  Json predicates = Json::array(), launches = Json::array();
  for (const Predicate &predicate : variant.predicates)
    predicates.push_back(toJson(predicate));
  for (const Launch &launch : variant.launches)
    launches.push_back(toJson(launch));
  return {{"name", variant.name},
          {"predicates", predicates},
          {"source", variant.source},
          {"launches", launches}};
}

Json toJson(const Contract &contract) {
  Json dims = Json::array(), tensors = Json::array(), scalars = Json::array(),
       aliases = Json::array(), variants = Json::array();
  for (const Dim &dim : contract.dims)
    dims.push_back({{"name", dim.name}, {"value", dim.value ? Json(*dim.value) : Json()}});
  for (const Tensor &tensor : contract.tensors)
    tensors.push_back({{"name", tensor.name},
                       {"role", nameIn(roleNames, tensor.role)},
                       {"dtype", nameOf(tensor.dtype)},
                       {"shape", tensor.shape}});
  for (const Scalar &scalar : contract.scalars)
    scalars.push_back({{"name", scalar.name},
                       {"dtype", nameOf(scalar.dtype)},
                       {"default", scalar.defaultValue ? Json(*scalar.defaultValue) : Json()}});
  for (auto [a, b] : contract.mayAlias)
    aliases.push_back(Json::array({a, b}));
  for (const Variant &variant : contract.variants)
    variants.push_back(toJson(variant));
  return {{"schema", schema},          {"name", contract.name},
          {"target", contract.target}, {"dims", dims},
          {"tensors", tensors},        {"scalars", scalars},
          {"may_alias", aliases},      {"workspace", contract.workspace},
          {"variants", variants}};
}

//===-- Reading -----------------------------------------------------------===//

const Json &member(const Json &json, const char *key) {
  if (!json.is_object())
    fail(std::string("expected an object with '") + key + "'");
  auto found = json.find(key);
  if (found == json.end())
    fail(std::string("'") + key + "' is missing");
  return *found;
}

std::string textOf(const Json &json, const char *key) {
  const Json &value = member(json, key);
  if (!value.is_string())
    fail(std::string("'") + key + "' is not a string");
  return value.get<std::string>();
}

int64_t integerFrom(const Json &value, const char *key) {
  // An unsigned number above the largest int64 would wrap.
  if (!value.is_number_integer() ||
      (value.is_number_unsigned() && value.get<uint64_t>() > static_cast<uint64_t>(INT64_MAX)))
    fail(std::string("'") + key + "' is not a 64-bit integer");
  return value.get<int64_t>();
}

bool booleanOf(const Json &json, const char *key) {
  const Json &value = member(json, key);
  if (!value.is_boolean())
    fail(std::string("'") + key + "' is neither true nor false");
  return value.get<bool>();
}
int64_t integerOf(const Json &json, const char *key) { return integerFrom(member(json, key), key); }

unsigned indexFrom(const Json &value, const char *key) {
  int64_t index = integerFrom(value, key);
  if (index < 0 || index > 65535)
    fail(std::string("'") + key + "' is no index");
  return static_cast<unsigned>(index);
}

const Json &arrayOf(const Json &json, const char *key) {
  const Json &value = member(json, key);
  if (!value.is_array())
    fail(std::string("'") + key + "' is not an array");
  return value;
}

std::pair<unsigned, unsigned> pairFrom(const Json &json, const char *key) {
  if (!json.is_array() || json.size() != 2)
    fail(std::string("'") + key + "' is not a pair");
  return {indexFrom(json[0], key), indexFrom(json[1], key)};
}

template <typename Table>
auto valueIn(const Table &table, const std::string &name, const char *key) {
  for (auto &[value, known] : table)
    if (name == known)
      return value;
  fail(std::string("'") + key + "' has the unknown value '" + name + "'");
}

DType dtypeOf(const Json &json) {
  std::string name = textOf(json, "dtype");
  if (auto dtype = dtypeNamed(name))
    return *dtype;
  fail("'dtype' has the unknown value '" + name + "'");
}

Dim dimFrom(const Json &json) {
  Dim dim{textOf(json, "name"), std::nullopt};
  if (const Json &value = member(json, "value"); !value.is_null())
    dim.value = integerFrom(value, "value");
  return dim;
}

Tensor tensorFrom(const Json &json) {
  Tensor tensor{
      textOf(json, "name"), valueIn(roleNames, textOf(json, "role"), "role"), dtypeOf(json), {}};
  for (const Json &extent : arrayOf(json, "shape")) {
    if (!extent.is_string())
      fail("'shape' holds something that is not a string");
    tensor.shape.push_back(extent.get<std::string>());
  }
  return tensor;
}

Scalar scalarFrom(const Json &json) {
  Scalar scalar{textOf(json, "name"), dtypeOf(json), std::nullopt};
  if (const Json &value = member(json, "default"); !value.is_null()) {
    if (!value.is_number())
      fail("'default' is not a number");
    scalar.defaultValue = value.get<double>();
  }
  return scalar;
}

Predicate predicateFrom(const Json &json) {
  Predicate predicate;
  predicate.kind = valueIn(predicateNames, textOf(json, "kind"), "kind");
  switch (predicate.kind) {
  case Predicate::Kind::Aligned:
    predicate.bytes = integerOf(json, "bytes");
    [[fallthrough]];
  case Predicate::Kind::Contiguous:
  case Predicate::Kind::UnitStride:
    predicate.tensor = indexFrom(member(json, "tensor"), "tensor");
    break;
  case Predicate::Kind::Range:
    predicate.dim = textOf(json, "dim");
    predicate.min = integerOf(json, "min");
    predicate.max = integerOf(json, "max");
    break;
  case Predicate::Kind::Multiple:
    predicate.dim = textOf(json, "dim");
    predicate.of = integerOf(json, "of");
    break;
  }
  return predicate;
}

Parameter parameterFrom(const Json &json) {
  if (!json.is_object() || json.size() != 1)
    fail("'parameters' holds something that is not an object of one member");
  Parameter parameter;
  const std::string &key = json.begin().key();
  const Json &value = json.begin().value();
  if (key == "tensor" || key == "scalar") {
    parameter.kind = key == "tensor" ? Parameter::Kind::Tensor : Parameter::Kind::Scalar;
    parameter.index = indexFrom(value, key.c_str());
  } else if (key == "stride") {
    parameter.kind = Parameter::Kind::Stride;
    std::tie(parameter.index, parameter.axis) = pairFrom(value, "stride");
  } else if (key == "workspace") {
    parameter.kind = Parameter::Kind::Workspace;
    parameter.offset = textOf(json, "workspace");
  } else if (key == "dim") {
    parameter.kind = Parameter::Kind::Dim;
    parameter.dim = textOf(json, "dim");
  } else {
    fail("'parameters' holds the unknown kind '" + key + "'");
  }
  return parameter;
}

Launch launchFrom(const Json &json) {
  Launch launch;
  launch.entry = textOf(json, "entry");
  launch.block = integerOf(json, "block");
  launch.grid = textOf(json, "grid");
  launch.cluster = integerOf(json, "cluster");
  if (json.contains("cooperative"))
    launch.cooperative = integerOf(json, "cooperative");
  if (json.contains("stays"))
    launch.stays = integerOf(json, "stays");
  if (json.contains("overlaps"))
    launch.overlaps = booleanOf(json, "overlaps");
  launch.shared = textOf(json, "shared");
  for (const Json &parameter : arrayOf(json, "parameters"))
    launch.parameters.push_back(parameterFrom(parameter));
  return launch;
}

Variant variantFrom(const Json &json) {
  Variant variant;
  variant.name = textOf(json, "name");
  variant.source = textOf(json, "source");
  for (const Json &predicate : arrayOf(json, "predicates"))
    variant.predicates.push_back(predicateFrom(predicate));
  for (const Json &launch : arrayOf(json, "launches"))
    variant.launches.push_back(launchFrom(launch));
  return variant;
}

Contract contractFrom(const Json &json) {
  if (int64_t found = integerOf(json, "schema"); found != schema)
    fail("schema " + std::to_string(found) + " is not " + std::to_string(schema) +
         ", the one that this Eider reads");
  Contract contract;
  contract.name = textOf(json, "name");
  contract.target = textOf(json, "target");
  for (const Json &dim : arrayOf(json, "dims"))
    contract.dims.push_back(dimFrom(dim));
  for (const Json &tensor : arrayOf(json, "tensors"))
    contract.tensors.push_back(tensorFrom(tensor));
  for (const Json &scalar : arrayOf(json, "scalars"))
    contract.scalars.push_back(scalarFrom(scalar));
  for (const Json &alias : arrayOf(json, "may_alias"))
    contract.mayAlias.push_back(pairFrom(alias, "may_alias"));
  contract.workspace = textOf(json, "workspace");
  for (const Json &variant : arrayOf(json, "variants"))
    contract.variants.push_back(variantFrom(variant));
  return contract;
}

} // namespace

std::optional<DType> dtypeNamed(std::string_view name) {
  constexpr auto count = static_cast<uint8_t>(DType::u8) + 1; // the last
  for (uint8_t i = 0; i < count; ++i)
    if (name == nameOf(static_cast<DType>(i)))
      return static_cast<DType>(i);
  return std::nullopt;
}

std::string write(const Contract &contract) {
  check(contract);
  try {
    return toJson(contract).dump(1);
  } catch (const nlohmann::json::exception &error) { // a string that is not UTF-8
    fail(error.what());
  }
}

std::string launchesJson(const Variant &variant) { return toJson(variant)["launches"].dump(); }

Contract read(std::string_view text) {
  // place is what one needs.
  try {
    Contract contract = contractFrom(Json::parse(text));
    check(contract);
    return contract;
  } catch (const nlohmann::json::exception &error) {
    fail(error.what());
  }
}

} // namespace eider::contract
