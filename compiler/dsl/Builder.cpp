//===- Builder.cpp - Arguments and results of an op -----------------------===//
//
// Part of Eider, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//
#include "compiler/dsl/Names.h"
#include "compiler/dsl/ProgramImpl.h"
#include "compiler/dsl/Recording.h"
#include "mlir/IR/Diagnostics.h"
#include "mlir/IR/Verifier.h"

#include <cmath>

using namespace eider;
using namespace eider::detail;

Builder::Builder(const std::string &name, std::source_location where) {
  std::string problem = problemOfName(name);
  if (!problem.empty())
    Site{"Builder", where}.fail(problem, remedyOfName);
  recording_ = std::make_shared<Recording>(name);
}

//===-- Arguments ---------------------------------------------------------===//

Dim Builder::dim(const std::string &name, std::optional<int64_t> value,
                 std::source_location where) {
  Site site{"dim '" + name + "'", where, recording_.get()};
  recording_->takeName(name, site);
  if (value && *value < 0)
    site.fail("a static extent of " + std::to_string(*value), "give at least 0, or no value");
  ir::ProgramOp program = recording_->program;
  llvm::SmallVector<mlir::Attribute> names(program.getDimNames().getValue());
  llvm::SmallVector<int64_t> values(program.getDimValues());
  names.push_back(recording_->builder.getStringAttr(name));
  values.push_back(value.value_or(mlir::ShapedType::kDynamic));
  program.setDimNamesAttr(recording_->builder.getArrayAttr(names));
  program.setDimValues(values);
  return Dim(name, 1, 1);
}

Value Builder::input(const std::string &name, DType type, const Shape &shape, ScaleLayout layout,
                     std::source_location where) {
  Site site{"input '" + name + "'", where, recording_.get()};
  recording_->takeName(name, site);
  const ir::ElementType *row = ir::findElementType(type);
  mlir::Type element = row && (row->isScale || row->isIndex)
                           ? row->get(&recording_->context)
                           : recording_->elementType(type, site, "an input");
  auto tensor = recording_->tensorType(recording_->extentsOf(shape, site, 4), element);
  auto attr = recording_->layoutAttr(layout, tensor, site);
  return recording_->wrap(ir::InputOp::create(recording_->builder, recording_->unknown, tensor,
                                              name, /*workspace=*/false, attr));
}

Value Builder::codes(const std::string &name, DType format, const Shape &shape,
                     std::source_location where) {
  Site site{"codes '" + name + "'", where, recording_.get()};
  recording_->takeName(name, site);
  const ir::ElementType *row = ir::findElementType(format);
  if (!row || !row->isCode)
    site.fail(std::string("codes cannot be ") + nameOf(format),
              "use " + ir::namesOfTypes(&ir::ElementType::isCode));
  auto tensor =
      recording_->tensorType(recording_->extentsOf(shape, site, 4), row->get(&recording_->context));
  return recording_->wrap(ir::InputOp::create(recording_->builder, recording_->unknown, tensor,
                                              name, /*workspace=*/false, ir::LayoutAttr()));
}

Scaled Builder::scaled_input(const std::string &name, DType format, const Shape &shape,
                             const Block &block, DType scale, ScaleLayout layout,
                             std::source_location where) {
  Site site{"scaled_input '" + name + "'", where, recording_.get()};
  recording_->takeName(name, site);
  recording_->takeName(name + "_scale", site);
  ir::ScaledType type = recording_->scaledType(format, scale, layout,
                                               recording_->extentsOf(shape, site, 3), block, site);
  if (ir::isTwoLevelType(type.getScaleType()))
    recording_->takeName(name + "_global_scale", site);
  mlir::Value input = ir::InputOp::create(recording_->builder, recording_->unknown, type, name,
                                          /*workspace=*/false, ir::LayoutAttr());
  return recording_->wrap(input, block);
}

Value Builder::inout(const std::string &name, DType type, const Shape &shape,
                     std::source_location where) {
  Site site{"inout '" + name + "'", where, recording_.get()};
  recording_->takeName(name, site);
  mlir::Type element = recording_->elementType(type, site, "an in-out");
  auto tensor = recording_->tensorType(recording_->extentsOf(shape, site, 3), element);
  return recording_->wrap(
      ir::InOutOp::create(recording_->builder, recording_->unknown, tensor, name));
}

Value Builder::scalar(const std::string &name, float value, std::source_location where) {
  Site site{"scalar '" + name + "'", where, recording_.get()};
  recording_->takeName(name, site);
  if (!std::isfinite(value))
    site.fail("the default " + std::to_string(value) + " is not finite", "give a number");
  return recording_->wrap(ir::ScalarOp::create(
      recording_->builder, recording_->unknown, recording_->builder.getF32Type(),
      recording_->builder.getStringAttr(name), recording_->builder.getF32FloatAttr(value)));
}

Value Builder::integer(const std::string &name, int64_t value, std::source_location where) {
  recording_->takeName(name, Site{"integer '" + name + "'", where, recording_.get()});
  return recording_->wrap(ir::IntegerOp::create(
      recording_->builder, recording_->unknown, recording_->builder.getI64Type(),
      recording_->builder.getStringAttr(name), recording_->builder.getI64IntegerAttr(value)));
}

//===-- Results -----------------------------------------------------------===//

/// The store of an in-out; null if there is none yet.
static ir::StoreOp storeOf(ir::InOutOp inout) {
  for (ir::StoreOp store : inout->getBlock()->getOps<ir::StoreOp>())
    if (store.getName() == inout.getName())
      return store;
  return {};
}

void Builder::store(const Value &inout, const Operand &value, std::source_location where) {
  Operand target(inout, where);
  Site site = Recording::enter("store", {&target, &value});
  site.where = where;
  if (site.recording != recording_.get())
    site.fail("the values are of another Builder", "record an op with one Builder");
  mlir::Value old = recording_->plain(target, site);
  auto op = old.getDefiningOp<ir::InOutOp>();
  if (!op)
    site.fail("the target is not an in-out", "declare it with Builder::inout");
  std::string name = op.getName().str();
  if (storeOf(op))
    site.fail("the in-out '" + name + "' is stored twice", "store each in-out once");
  Extents extents = Recording::extentsOf(old.getType());
  mlir::Value stored = recording_->f32(value, site);
  Extents from = Recording::extentsOf(stored.getType());
  if (from.size() > extents.size() || Recording::common(from, extents, site) != extents)
    site.fail("the in-out '" + name + "' is " + textOf(extents) + ", not " + textOf(from),
              "store a value of its shape");
  mlir::Type element = mlir::getElementTypeOrSelf(old.getType());
  stored = recording_->narrowed(recording_->broadcast(stored, extents), element);
  ir::StoreOp::create(recording_->builder, recording_->unknown, name, stored);
}

void Builder::output(const std::string &name, const Value &value, std::optional<DType> type,
                     std::source_location where) {
  Operand operand(value, where);
  std::string function = "output '" + name + "'";
  Site site = Recording::enter(function.c_str(), {&operand});
  if (site.recording != recording_.get())
    site.fail("the value is of another Builder", "record an op with one Builder");
  recording_->takeName(name, site);
  mlir::Value result = recording_->plain(operand, site);
  result = recording_->stored(result, type, site);
  ir::OutputOp::create(recording_->builder, recording_->unknown, name, result, /*workspace=*/false,
                       ir::LayoutAttr());
}

void Builder::output(const std::string &name, const Scaled &value, std::source_location where) {
  std::string function = "output '" + name + "'";
  Site site = Recording::enter(function.c_str(), value, where);
  if (site.recording != recording_.get())
    Site{function, where, recording_.get()}.fail("the value is of another Builder",
                                                 "record an op with one Builder");
  recording_->takeName(name, site);
  mlir::Value result = recording_->scaled(value);
  auto quantize = result.getDefiningOp<ir::QuantizeOp>();
  if (!quantize || !quantize.getScale())
    recording_->takeName(name + "_scale", site);
  ir::OutputOp::create(recording_->builder, recording_->unknown, name, result, /*workspace=*/false,
                       ir::LayoutAttr());
}

//===-- The program -------------------------------------------------------===//

Program Builder::build(std::source_location where) const {
  Site site{"build", where, recording_.get()};
  ir::ProgramOp program = recording_->program;
  std::string message;
  mlir::ScopedDiagnosticHandler handler(&recording_->context, [&](mlir::Diagnostic &diagnostic) {
    message += diagnostic.str();
    return mlir::success();
  });
  if (mlir::failed(mlir::verify(*recording_->module)))
    throw Error(ErrorKind::Internal, "the recorded program is wrong: " + message, site.place());
  for (auto input : program.getOps<ir::InputOp>())
    if (Recording::extentsOf(input.getType()).size() > 3 &&
        !llvm::all_of(input->getUsers(), llvm::IsaPred<ir::AttentionOp>))
      site.fail("input '" + input.getName().str() +
                    "' is of rank 4, and no cache of attention alone",
                "give 1 to 3 dims");
  return makeProgram(program, site.place());
}
