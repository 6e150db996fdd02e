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

/// x is scaled, or a float each. `ends`: of the groups of rows, or null.
static Value multiply(mlir::Value left, mlir::Value right, const Operand *ends, const Site &site) {
  Recording &recording = *site.recording;
  if (left.getParentBlock() != right.getParentBlock())
    site.fail("x and weights are of two Builders", "take both from one");
  const Extents rows = Recording::extentsOf(ir::ContractOp::matrixOf(left.getType())),
                columns = Recording::extentsOf(ir::ContractOp::matrixOf(right.getType()));
  if (!ends && columns.size() != 2)
    site.fail("weights of shape " + textOf(columns) + " are no matrix",
              "give them as [n, k], or groups [g, n, k] with their ends");
  if (ends && columns.size() != 3)
    site.fail("weights of shape " + textOf(columns) + " are no matrices", "give them as [g, n, k]");
  if (rows.size() != 2 || rows[1] != columns.back())
    site.fail("x of shape " + textOf(rows) + " does not meet weights of " + textOf(columns),
              "give rows [m, k] with the weights' last dim");
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

Value eider::matmul(const Operand &x, const Scaled &weights) {
  Recording::enter("matmul", weights, Recording::whereOf(x));
  Site site = Recording::enter("matmul", {&x});
  return multiply(site.recording->plain(x, site), site.recording->scaled(weights), nullptr, site);
}

Value eider::matmul(const Operand &x, const Scaled &weights, const Value &ends) {
  Recording::enter("matmul", weights, Recording::whereOf(x));
  const Operand groups(ends, Recording::whereOf(x));
  Site site = Recording::enter("matmul", {&x, &groups});
  return multiply(site.recording->plain(x, site), site.recording->scaled(weights), &groups, site);
}

Value eider::matmul(const Scaled &x, const Scaled &weights, std::source_location where) {
  Recording::enter("matmul", weights, where);
  Site site = Recording::enter("matmul", x, where);
  return multiply(site.recording->scaled(x), site.recording->scaled(weights), nullptr, site);
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
