//===- Values.cpp - Dims, values, names -----------------------------------===//
//
// Part of Eider, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//
#include "compiler/dsl/Names.h"
#include "compiler/dsl/ProgramImpl.h"
#include "compiler/dsl/Recording.h"

using namespace eider;
using namespace eider::detail;

//===-- Dims --------------------------------------------------------------===//

Dim eider::operator*(int64_t factor, const Dim &dim) {
  int64_t product = 0;
  std::string text = std::to_string(factor) + " * " + (dim.name_.empty() ? "an extent" : dim.name_);
  if (factor < 1 || __builtin_mul_overflow(factor, dim.factor_, &product))
    throw Error(ErrorKind::Request, "the dim " + text + " is out of range", "",
                "multiply by a number of at least 1");
  if (dim.divisor_ != 1)
    throw Error(ErrorKind::Request, "the dim " + text + " multiplies a number of blocks", "",
                "multiply first, then take blocks");
  return Dim(dim.name_, product, 1);
}

Dim eider::operator*(const Dim &dim, int64_t factor) { return factor * dim; }

Dim eider::ceildiv(const Dim &dim, int64_t block) {
  int64_t product = 0;
  if (block < 1 || __builtin_mul_overflow(block, dim.divisor_, &product))
    throw Error(ErrorKind::Request, "blocks of " + std::to_string(block) + " elements", "",
                "divide by a number of at least 1");
  return Dim(dim.name_, dim.factor_, product);
}

Shape eider::blocks_of(const Shape &shape, const Block &block, std::source_location where) {
  Site site{"blocks_of", where};
  if (shape.size() != block.size())
    site.fail("a block of rank " + std::to_string(block.size()) + " for a shape of rank " +
                  std::to_string(shape.size()),
              "give one extent an axis");
  Shape result;
  for (size_t axis = 0; axis < shape.size(); ++axis) {
    if (block[axis] != whole && block[axis] < 1)
      site.fail("a block's extent cannot be " + std::to_string(block[axis]),
                "use at least 1, or eider::whole");
    result.push_back(block[axis] == whole ? Dim(1) : ceildiv(shape[axis], block[axis]));
  }
  return result;
}

//===-- Values ------------------------------------------------------------===//

static mlir::Value valueOf(const Value &value, const char *function, std::source_location where) {
  Operand operand(value, where);
  Site site = Recording::enter(function, {&operand});
  return site.recording->recorded(operand, site);
}

Shape Value::shape() const {
  auto type = valueOf(*this, "shape", std::source_location()).getType();
  return recording_->shapeOf(type);
}

DType Value::dtype() const {
  auto type = valueOf(*this, "dtype", std::source_location()).getType();
  return type.isInteger() ? DType::i64 : *dtypeOf(mlir::getElementTypeOrSelf(type));
}

Value Value::named(const std::string &name, std::source_location where) const {
  mlir::Value value = valueOf(*this, "named", where);
  std::string problem = problemOfName(name);
  if (!problem.empty())
    Site{"named", where, recording_.get()}.fail(problem, remedyOfName);
  mlir::Operation *op = value.getDefiningOp();
  if (op && !mlir::isa<ir::InputOp, ir::InOutOp, ir::ScalarOp, ir::IntegerOp>(op))
    op->setAttr("eider.name", recording_->builder.getStringAttr(name));
  return *this;
}

Value eider::named(const Value &value, const std::string &name, std::source_location where) {
  return value.named(name, where);
}

static ir::ScaledType scaledTypeOf(const Scaled &value, const char *function) {
  Site site = Recording::enter(function, value, std::source_location());
  return mlir::cast<ir::ScaledType>(site.recording->scaled(value).getType());
}

Shape Scaled::shape() const { return recording_->shapeOf(scaledTypeOf(*this, "shape")); }

DType Scaled::format() const { return *dtypeOf(scaledTypeOf(*this, "format").getElementType()); }
