//===- Contract.cpp - Weights times a vector, or a matrix -----------------===//
//
// Part of Eider, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//
#include "compiler/dsl/Recording.h"

using namespace eider;
using namespace eider::detail;

/// `weights` are scaled, or f32 already.
static Value contract(mlir::Value weights, const Operand &vector, const Site &site) {
  Recording &recording = *site.recording;
  mlir::Value right = recording.f32(vector, site);
  auto scaled = mlir::dyn_cast<ir::ScaledType>(weights.getType());
  const Extents rows =
      Recording::extentsOf(scaled ? mlir::Type(scaled.getCodesType()) : weights.getType());
  const Extents columns = Recording::extentsOf(right.getType());
  if (rows.size() != 2)
    site.fail("weights of shape " + textOf(rows) + " are no matrix", "give them as [n, k]");
  if (columns.size() != 1 || columns[0] != rows[1])
    site.fail("a vector of shape " + textOf(columns) + " does not meet weights of " + textOf(rows),
              "give one of the weights' last dim alone");
  mlir::Type type = recording.tensorType({rows[0]}, recording.builder.getF32Type());
  return recording.wrap(ir::ContractOp::create(recording.builder, recording.unknown, type, weights,
                                               /*scales=*/mlir::Value(), right,
                                               /*vector_scales=*/mlir::Value(),
                                               /*ends=*/mlir::Value(),
                                               /*codec=*/ir::CodecPathAttr()));
}

namespace {
/// Which rows of x meet which weights: all the same [n, k], or each group of rows its own [g, n,
/// k]; groups of as many rows each, or as `ends` say.
struct Groups {
  bool areMany = false;
  const Operand *ends = nullptr;
};
} // namespace

/// x is scaled, or a float each.
static Value multiply(mlir::Value left, mlir::Value right, const Groups &groups, const Site &site) {
  Recording &recording = *site.recording;
  if (left.getParentBlock() != right.getParentBlock())
    site.fail("x and weights are of two Builders", "take both from one");
  const Extents rows = Recording::extentsOf(ir::ContractOp::matrixOf(left.getType())),
                columns = Recording::extentsOf(ir::ContractOp::matrixOf(right.getType()));
  if (!groups.areMany && columns.size() != 2)
    site.fail("weights of shape " + textOf(columns) + " are no matrix",
              "give them as [n, k], or groups [g, n, k] with their ends, or to batched_matmul");
  if (groups.areMany && columns.size() != 3)
    site.fail("weights of shape " + textOf(columns) + " are no matrices", "give them as [g, n, k]");
  if (rows.size() != 2 || rows[1] != columns.back())
    site.fail("x of shape " + textOf(rows) + " does not meet weights of " + textOf(columns),
              "give rows [m, k] with the weights' last dim");
  const Operand *ends = groups.ends;
  const mlir::Value last = ends ? recording.recorded(*ends, site) : mlir::Value();
  if (ends && (!Recording::isIndex(*ends) ||
               Recording::extentsOf(last.getType()) != Extents{columns.front()}))
    site.fail("ends of shape " + textOf(Recording::extentsOf(last.getType())) + " are not one of " +
                  "each group of " + textOf(columns),
              "give an input of i32 or i64 with the weights' first dim alone");
  mlir::Type type =
      recording.tensorType({rows[0], columns[columns.size() - 2]}, recording.builder.getF32Type());
  return recording.wrap(ir::ContractOp::create(recording.builder, recording.unknown, type, right,
                                               /*scales=*/mlir::Value(), left,
                                               /*vector_scales=*/mlir::Value(), last,
                                               /*codec=*/ir::CodecPathAttr()));
}

/// The same of x and weights as they are given; `what` names the function.
static Value multiply(const char *what, const Operand &x, const Scaled &weights, bool areMany,
                      const Value *ends = nullptr) {
  Recording::enter(what, weights, Recording::whereOf(x));
  if (!ends) {
    Site site = Recording::enter(what, {&x});
    return multiply(site.recording->plain(x, site), site.recording->scaled(weights), {areMany},
                    site);
  }
  const Operand groups(*ends, Recording::whereOf(x));
  Site site = Recording::enter(what, {&x, &groups});
  return multiply(site.recording->plain(x, site), site.recording->scaled(weights),
                  {areMany, &groups}, site);
}
static Value multiply(const char *what, const Scaled &x, const Scaled &weights, bool areMany,
                      const Value *ends, std::source_location where) {
  Recording::enter(what, weights, where);
  Site site = Recording::enter(what, x, where);
  std::optional<Operand> groups;
  if (ends) {
    groups.emplace(*ends, where);
    if (Recording::enter(what, {&*groups}).recording != site.recording)
      site.fail("the operands are of two Builders", "record an op with one Builder");
  }
  return multiply(site.recording->scaled(x), site.recording->scaled(weights),
                  {areMany, groups ? &*groups : nullptr}, site);
}

Value eider::matmul(const Operand &x, const Scaled &weights) {
  return multiply("matmul", x, weights, /*areMany=*/false);
}
Value eider::matmul(const Operand &x, const Scaled &weights, const Value &ends) {
  return multiply("matmul", x, weights, /*areMany=*/true, &ends);
}
Value eider::matmul(const Scaled &x, const Scaled &weights, std::source_location where) {
  return multiply("matmul", x, weights, /*areMany=*/false, nullptr, where);
}
Value eider::matmul(const Scaled &x, const Scaled &weights, const Value &ends,
                    std::source_location where) {
  return multiply("matmul", x, weights, /*areMany=*/true, &ends, where);
}
Value eider::batched_matmul(const Operand &x, const Scaled &weights) {
  return multiply("batched_matmul", x, weights, /*areMany=*/true);
}
Value eider::batched_matmul(const Scaled &x, const Scaled &weights, std::source_location where) {
  return multiply("batched_matmul", x, weights, /*areMany=*/true, nullptr, where);
}

Value eider::dot(const Scaled &weights, const Operand &vector) {
  Recording::enter("dot", weights, Recording::whereOf(vector));
  Site site = Recording::enter("dot", {&vector});
  mlir::Value matrix = site.recording->scaled(weights);
  if (matrix.getParentBlock()->getParentOp() != site.recording->program.getOperation())
    site.fail("weights and vector are of two Builders", "take both from one");
  return ::contract(matrix, vector, site);
}

Value eider::dot(const Value &weights, const Operand &vector) {
  Operand left(weights, Recording::whereOf(vector));
  Site site = Recording::enter("dot", {&left, &vector});
  return ::contract(site.recording->f32(left, site), vector, site);
}
