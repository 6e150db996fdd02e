//===- tools/eider/List.cpp - eider list ----------------------------------===//
//
// Part of Eider, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//
#include "tools/eider/Requests.h"
#include "tools/eider/Text.h"

#include <algorithm>
#include <charconv>
#include <nlohmann/json.hpp>

namespace eider::cli {

namespace {

/// What an op's tensors are shown for: every shape of scales needs some block.
constexpr const char *kShownBlock = "1x128";

/// `--scale-layout` for the field `scaleLayout`.
std::string optionOf(const std::string &field) {
  if (field == "numerics")
    return "--set";
  std::string option = "--";
  for (char c : field) {
    if (std::isupper(static_cast<unsigned char>(c)))
      option += '-';
    option += static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  }
  return option;
}

std::vector<std::string> optionsOf(const OpInfo &op) {
  std::vector<std::string> options;
  for (const std::string &field : op.parameters)
    options.push_back(optionOf(field));
  return options;
}

Signature signatureOf(const OpInfo &op) {
  OpParameters parameters;
  if (std::ranges::find(op.parameters, "block") != op.parameters.end())
    parameters.block = kShownBlock;
  return libraryOp(op.name, parameters).signature();
}

/// The tensors that a caller gives, or those that it gets; an in-out is both.
std::vector<Signature::Tensor> sideOf(const Signature &signature, Signature::Role role) {
  std::vector<Signature::Tensor> tensors;
  for (const Signature::Tensor &tensor : signature.tensors)
    if (tensor.role == role || tensor.role == Signature::Role::InOut)
      tensors.push_back(tensor);
  return tensors;
}

/// A default, as the shortest number that reads as the same float: 1e-06, not 9.99999997e-07.
std::string shortest(const Signature::Scalar &scalar) {
  if (scalar.dtype == DType::i64)
    return std::to_string(static_cast<int64_t>(scalar.value));
  char text[32];
  const auto value = static_cast<float>(scalar.value);
  return std::string(text, std::to_chars(text, text + sizeof(text), value).ptr);
}

std::string describe(const std::vector<Signature::Tensor> &tensors) {
  std::vector<std::string> words;
  for (const Signature::Tensor &tensor : tensors)
    words.push_back(tensor.name + " " + nameOf(tensor.dtype) + " [" + join(tensor.shape) + "]");
  return join(words);
}

nlohmann::ordered_json toJson(const std::vector<Signature::Tensor> &tensors) {
  nlohmann::ordered_json list = nlohmann::ordered_json::array();
  for (const Signature::Tensor &tensor : tensors) {
    list.push_back(
        {{"name", tensor.name}, {"dtype", nameOf(tensor.dtype)}, {"shape", tensor.shape}});
    if (!tensor.choosesFrom.empty())
      list.back()["chooses_from"] = tensor.choosesFrom;
    if (!tensor.risesTo.empty())
      list.back()["rises_to"] = tensor.risesTo;
    if (!tensor.startsUpTo.empty())
      list.back()["starts_up_to"] = tensor.startsUpTo;
    if (!tensor.mostOfEach.empty())
      list.back()["most_of_each"] = tensor.mostOfEach;
  }
  return list;
}

nlohmann::ordered_json toJson(const OpInfo &op) {
  const Signature signature = signatureOf(op);
  nlohmann::ordered_json dims = nlohmann::ordered_json::array();
  for (const Signature::NamedDim &dim : signature.dims)
    dims.push_back(dim.name);
  nlohmann::ordered_json scalars = nlohmann::ordered_json::array();
  for (const Signature::Scalar &scalar : signature.scalars)
    scalars.push_back({{"name", scalar.name}, {"default", std::stod(shortest(scalar))}});
  nlohmann::ordered_json settings = nlohmann::ordered_json::array();
  for (const OpSetting &setting : op.settings)
    settings.push_back({{"name", setting.name}, {"default", setting.value}});
  return {{"name", op.name},
          {"summary", op.summary},
          {"parameters", optionsOf(op)},
          {"settings", settings},
          {"dims", dims},
          {"scalars", scalars},
          {"inputs", toJson(sideOf(signature, Signature::Role::Input))},
          {"outputs", toJson(sideOf(signature, Signature::Role::Output))}};
}

std::string toText(const OpInfo &op) {
  const Signature signature = signatureOf(op);
  std::string text = op.name + "\n  " + op.summary + "\n";
  auto line = [&](const char *label, const std::string &content) {
    if (!content.empty())
      text += "  " + padded(label, 9) + content + "\n";
  };
  line("inputs", describe(sideOf(signature, Signature::Role::Input)));
  line("outputs", describe(sideOf(signature, Signature::Role::Output)));
  std::vector<std::string> scalars;
  for (const Signature::Scalar &scalar : signature.scalars)
    scalars.push_back("--set " + scalar.name + "=" + shortest(scalar));
  line("scalars", join(scalars));
  std::vector<std::string> settings;
  for (const OpSetting &setting : op.settings)
    settings.push_back("--set " + setting.name + "=" + std::to_string(setting.value));
  line("settings", join(settings));
  line("params", join(optionsOf(op), " "));
  return text;
}

} // namespace

int carryOut(const ListRequest &request) {
  const std::vector<OpInfo> &ops = libraryOps();
  if (request.json) {
    nlohmann::ordered_json list = nlohmann::ordered_json::array();
    for (const OpInfo &op : ops)
      list.push_back(toJson(op));
    print(nlohmann::ordered_json{{"shown_for", {{"block", kShownBlock}}}, {"ops", list}}.dump(2) +
          "\n");
    return 0;
  }
  print(std::string("Tensors are shown for --block ") + kShownBlock +
        " and the other params' defaults.\n");
  for (const OpInfo &op : ops)
    print("\n" + toText(op));
  return 0;
}

} // namespace eider::cli
