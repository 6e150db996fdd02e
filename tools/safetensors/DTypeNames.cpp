//===- tools/safetensors/DTypeNames.cpp - The format's names of types -----------===//
//
// Part of Eider, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//
#include "tools/safetensors/Safetensors.h"

#include <utility>

namespace eider::safetensors {

namespace {
// The first name of a type is the one that is written, the first type of a name the one that is
// read. e2m1 is written as bytes of two codes, which every reader knows, like the checkpoints of
// MXFP4 and NVFP4.
constexpr std::pair<DType, std::string_view> kNames[] = {
    {DType::f32, "F32"},
    {DType::bf16, "BF16"},
    {DType::f16, "F16"},
    {DType::e4m3, "F8_E4M3"},
    {DType::e5m2, "F8_E5M2"},
    {DType::e8m0, "F8_E8M0"},
    {DType::e4m3fnuz, "F8_E4M3FNUZ"},
    {DType::e5m2fnuz, "F8_E5M2FNUZ"},
    {DType::i32, "I32"},
    {DType::i64, "I64"},
    {DType::u8, "U8"},
    {DType::e2m1, "U8"},
    {DType::e2m1, "F4"},
};
} // namespace

std::string_view dtypeName(DType type) {
  for (const auto &[candidate, name] : kNames)
    if (candidate == type)
      return name;
  return {};
}

std::optional<DType> dtypeOfName(std::string_view name) {
  for (const auto &[type, candidate] : kNames)
    if (candidate == name)
      return type;
  return std::nullopt;
}

} // namespace eider::safetensors
