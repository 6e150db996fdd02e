//===- Modes.cpp - Presets of a quantisation's numerics -------------------===//
//
// Part of Eider, under the Apache License v2.0.
//
// Each mode gives the bits of a peer's kernel for the same f32 input. The maximum of the format is
// exact in f32; constants derived from it are one f32 operation, as in the peers' sources. All
// peers but trtllm_token leave 1/s and max/amax unbounded: their floors keep both finite.
//
//===----------------------------------------------------------------------===//
#include "compiler/dsl/Modes.h"

#include "llvm/ADT/StringExtras.h"

#include <cmath>

using namespace eider;
using namespace eider::ir;

namespace {
using Parameters = std::vector<std::pair<const char *, std::string>>;

struct Mode {
  const char *name;
  /// The parameters that differ from the default, for a format's maximum and for scales that are
  /// powers of two because of their type.
  Parameters (*parameters)(float max, bool powers);
  eider::detail::ModeDefaults defaults = {};
};

/// The shortest text that reads back as the same f32.
std::string text(float value) {
  llvm::SmallString<24> digits;
  llvm::APFloat(value).toString(digits);
  return digits.str().str();
}

/// The smallest scale of vLLM's and TensorRT-LLM's token kernels.
float smallestTokenScale(float max) { return 1.0f / (max * 512.0f); }

const Mode modes[] = {
    {"default", [](float, bool) { return Parameters(); }},
    {"deepgemm",
     [](float, bool) {
       return Parameters{{"arithmetic", "reciprocal"},
                         {"amax_floor", "1e-4"},
                         {"multiplier_bound", "inf"},
                         {"zero_block", "formula"}};
     }},
    {"tilekernels",
     [](float, bool) {
       return Parameters{{"arithmetic", "max_over_amax"},
                         {"amax_floor", "1e-4"},
                         {"multiplier_bound", "inf"},
                         {"zero_block", "formula"}};
     }},
    {"vllm_group",
     [](float, bool powers) {
       return Parameters{{"amax_floor", "1e-10"},
                         {"scale_floor", powers ? "1e-10" : "0"},
                         {"zero_block", "formula"}};
     }},
    {"vllm_token",
     [](float max, bool) {
       return Parameters{{"scale_floor", text(smallestTokenScale(max))}, {"zero_block", "formula"}};
     }},
    {"sglang_group",
     [](float, bool) {
       return Parameters{{"scale", "amax_times_inverse_max"},
                         {"arithmetic", "max_over_amax"},
                         {"amax_floor", "1e-10"},
                         {"multiplier_bound", "inf"},
                         {"zero_block", "formula"}};
     }},
    {"trtllm_token",
     [](float max, bool) {
       return Parameters{{"arithmetic", "max_over_amax"},
                         {"amax_floor", "1e-6"},
                         {"scale_floor", text(smallestTokenScale(max))},
                         {"multiplier_bound", text(max * 512.0f)},
                         {"zero_block", "formula"}};
     }},
    {"te_current",
     [](float, bool) {
       return Parameters{{"scale", "inverse_of_max_over_amax"},
                         {"arithmetic", "max_over_amax"},
                         {"zero_block", "one_if_not_finite"}};
     }},
    {"mx",
     [](float, bool) {
       return Parameters{{"scale", "amax_times_inverse_max"},
                         {"power_of_two", "rceil"},
                         {"arithmetic", "reciprocal"},
                         {"zero_block", "formula"}};
     },
     {.scale = DType::e8m0, .block = {1, 32}}},
    {"mx_ocp",
     [](float, bool) {
       return Parameters{
           {"power_of_two", "floor"}, {"arithmetic", "reciprocal"}, {"zero_block", "formula"}};
     },
     {.scale = DType::e8m0, .block = {1, 32}}},
};

const Mode *findMode(const std::string &name) {
  const Mode *mode = llvm::find_if(modes, [&](const Mode &mode) { return mode.name == name; });
  return mode == std::end(modes) ? nullptr : mode;
}

llvm::Error refusal(const std::string &message) {
  return llvm::createStringError(llvm::inconvertibleErrorCode(), message);
}

/// What is wrong with bounds that leave no scale; empty if nothing is.
std::string problemOfBounds(NumericsAttr numerics) {
  if (std::isinf(numerics.getAmaxFloor()) || std::isinf(numerics.getScaleFloor()))
    return "numerics parameters amax_floor and scale_floor cannot be infinite; give finite numbers";
  if (numerics.getAmaxBound() <= 0 || numerics.getMultiplierBound() <= 0)
    return "numerics parameters amax_bound and multiplier_bound cannot be 0; give numbers above 0";
  if (numerics.getAmaxFloor() > numerics.getAmaxBound())
    return "numerics parameter amax_floor is above amax_bound; give a floor below the bound";
  return "";
}
} // namespace

std::string eider::detail::modeNames() {
  std::string names;
  for (const Mode &mode : modes)
    names += (names.empty() ? "" : ", ") + std::string(mode.name);
  return names;
}

eider::detail::ModeDefaults eider::detail::defaultsOf(const std::string &name) {
  const Mode *mode = findMode(name);
  return mode ? mode->defaults : ModeDefaults();
}

llvm::Expected<NumericsAttr>
eider::detail::numericsOf(mlir::MLIRContext *context, const std::string &name, DType format,
                          DType scale, const std::map<std::string, std::string> &overrides) {
  const Mode *mode = findMode(name);
  if (!mode)
    return refusal("no mode '" + name + "'; they are " + modeNames());
  const bool powers = scale == DType::e8m0;
  NumericsAttr numerics = NumericsAttr::getDefault(context);
  std::string message;
  if (powers)
    numerics = numerics.with("power_of_two", "rceil", message);
  const float max = largestOf(findElementType(format)->get(context));
  for (const auto &[parameter, value] : mode->parameters(max, powers))
    if (numerics = numerics.with(parameter, value, message); !numerics)
      return refusal(message);
  for (const auto &[parameter, value] : overrides)
    if (numerics = numerics.with(parameter, value, message); !numerics)
      return refusal(message);
  message = problemOfBounds(numerics);
  if (!message.empty())
    return refusal(message);
  return numerics;
}
