//===- Variants.cpp - Which launches a variant serves ---------------------===//
//
// Part of Eider, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//
#include "compiler/transforms/Heuristic.h"
#include "compiler/transforms/Passes.h"

#include <algorithm>

using eider::transforms::VariantKind;

const char *eider::transforms::nameOf(VariantKind variant) {
  switch (variant) {
  case VariantKind::cooperative:
    return "cooperative";
  case VariantKind::cooperative_large:
    return "cooperative_large";
  case VariantKind::rows_8:
    return "rows_8";
  case VariantKind::rows_16:
    return "rows_16";
  case VariantKind::rows_32:
    return "rows_32";
  case VariantKind::few_rows:
    return "few_rows";
  case VariantKind::general:
    return "general";
  case VariantKind::contiguous:
    break;
  }
  return "contiguous";
}

static int64_t mostRowsOfGroup(VariantKind variant) {
  switch (variant) {
  case VariantKind::rows_8:
    return 8;
  case VariantKind::rows_16:
    return 16;
  case VariantKind::rows_32:
    return 32;
  case VariantKind::few_rows:
    return eider::transforms::fewRows;
  default:
    return 0;
  }
}

int64_t eider::transforms::mostRowsOf(VariantKind variant, int64_t rowGroups) {
  const int64_t most = mostRowsOfGroup(variant);
  return std::max(most, most * rowGroups / 2); // Of twice the mean, few have more.
}
