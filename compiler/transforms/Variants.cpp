//===- Variants.cpp - Which launches a variant serves ---------------------===//
//
// Part of Eider, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//
#include "compiler/transforms/Heuristic.h"
#include "compiler/transforms/Passes.h"

#include <algorithm>
#include <limits>
#include <optional>

using eider::transforms::Domain;
using eider::transforms::VariantKind;

const char *eider::transforms::nameOf(VariantKind variant) {
  switch (variant) {
  case VariantKind::cooperative:
    return "cooperative";
  case VariantKind::cooperative_large:
    return "cooperative_large";
  case VariantKind::rows_4:
    return "rows_4";
  case VariantKind::rows_8:
    return "rows_8";
  case VariantKind::rows_16:
    return "rows_16";
  case VariantKind::rows_32:
    return "rows_32";
  case VariantKind::rows_64:
    return "rows_64";
  case VariantKind::few_rows:
    return "few_rows";
  case VariantKind::some_rows:
    return "some_rows";
  case VariantKind::uneven:
    return "uneven";
  case VariantKind::uneven_large:
    return "uneven_large";
  case VariantKind::aligned:
    return "aligned";
  case VariantKind::general:
    return "general";
  case VariantKind::contiguous:
    break;
  }
  return "contiguous";
}

int64_t eider::transforms::mostRowsOf(VariantKind variant) {
  switch (variant) {
  case VariantKind::rows_4:
    return 4;
  case VariantKind::rows_8:
    return 8;
  case VariantKind::rows_16:
    return 16;
  case VariantKind::rows_32:
    return 32;
  case VariantKind::rows_64:
    return 64;
  default:
    return 0;
  }
}

/// Rows that are few, or some, to all of the programs.
static int64_t mostOfAll(VariantKind variant, mlir::ModuleOp programs) {
  int64_t least = std::numeric_limits<int64_t>::max();
  for (eider::ir::ProgramOp program : programs.getOps<eider::ir::ProgramOp>())
    if (const auto domain = Domain::of(program);
        domain && !program->hasAttr(eider::transforms::ofWholeName))
      least = std::min(least, variant == VariantKind::few_rows
                                  ? eider::transforms::fewRowsOf(*domain)
                                  : eider::transforms::someRowsOf(*domain));
  return least;
}

int64_t eider::transforms::mostRowsOf(VariantKind variant, mlir::ModuleOp programs) {
  if (variant == VariantKind::few_rows || variant == VariantKind::some_rows)
    return mostOfAll(variant, programs);
  const int64_t most = mostRowsOf(variant);
  if (most == 0)
    return most;
  std::optional<int64_t> least;
  for (ir::ProgramOp program : programs.getOps<ir::ProgramOp>()) {
    const auto domain = Domain::of(program);
    if (!domain || domain->products == 0)
      continue;
    // Of twice the mean few groups that end somewhere have more; equal ones have the mean.
    const int64_t groups = domain->endsOfGroups.empty() ? domain->rowGroups : domain->rowGroups / 2;
    const int64_t rows = most * std::max<int64_t>(1, groups);
    least = std::min(least.value_or(rows), rows);
  }
  return least.value_or(most);
}
