//===- Recording.cpp - The module that a Builder writes -------------------===//
//
// Part of Eider, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//
#include "compiler/dsl/Recording.h"

#include "compiler/dsl/Names.h"
#include "compiler/dsl/ProgramImpl.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/Format.h"
#include "llvm/Support/raw_ostream.h"

#include <cmath>

using namespace mlir;
using namespace eider;
using namespace eider::detail;
using namespace eider::ir;

//===-- Errors ------------------------------------------------------------===//

std::string Site::place() const {
  std::string_view file = where.file_name();
  file = file.substr(file.find_last_of('/') + 1);
  std::string name = recording ? recording->program.getSymName().str() : function;
  if (where.line() == 0) // A query of a value: its place is not recorded.
    return name;
  return name + " (" + std::string(file) + ":" + std::to_string(where.line()) + ")";
}

void Site::fail(const std::string &what, const std::string &remedy) const {
  throw Error(ErrorKind::Request, recording ? function + ": " + what : what, place(), remedy);
}

std::string eider::detail::textOf(ArrayRef<DimExpr> extents) {
  std::string text = "[";
  llvm::raw_string_ostream stream(text);
  llvm::interleaveComma(extents, stream, [&](const DimExpr &dim) { stream << dim.str(); });
  return text + "]";
}

//===-- Handles -----------------------------------------------------------===//

Recording::Recording(const std::string &name)
    : context(MLIRContext::Threading::DISABLED), builder(&context),
      unknown(UnknownLoc::get(&context)) {
  loadDialects(context);
  module = ModuleOp::create(unknown);
  builder.setInsertionPointToEnd(module->getBody());
  program = ProgramOp::create(builder, unknown, name, ArrayRef<StringRef>());
  builder.setInsertionPointToEnd(&program.getBlock());
}

eider::Value Recording::wrap(mlir::Value value) {
  eider::Value handle;
  handle.recording_ = shared_from_this();
  handle.value_ = value.getAsOpaquePointer();
  return handle;
}

Scaled Recording::wrap(mlir::Value value, const Block &block) {
  Scaled handle;
  handle.recording_ = shared_from_this();
  handle.value_ = value.getAsOpaquePointer();
  handle.block_ = block;
  return handle;
}

Site Recording::enter(const char *function, std::initializer_list<const Operand *> operands) {
  Site site{function, (*operands.begin())->where_, nullptr};
  for (const Operand *operand : operands) {
    if (!operand->isValue_)
      continue;
    Recording *recording = operand->value_.recording_.get();
    if (!recording)
      site.fail("an operand is an empty value", "assign the value before its use");
    if (site.recording && site.recording != recording)
      site.fail("the operands are of two Builders", "record an op with one Builder");
    site.recording = recording;
  }
  if (!site.recording)
    site.fail("the operands are numbers alone", "compute constants in C++, where they are used");
  return site;
}

Site Recording::enter(const char *function, const Scaled &value, std::source_location where) {
  Site site{function, where, value.recording_.get()};
  if (!site.recording)
    site.fail("the operand is an empty value", "assign the value before its use");
  return site;
}

mlir::Value Recording::constant(double number, const Site &site) {
  auto rounded = static_cast<float>(number);
  if (std::isnan(number) || (std::isinf(rounded) && !std::isinf(number))) {
    llvm::SmallString<16> text;
    llvm::raw_svector_ostream(text) << llvm::format("%g", number);
    site.fail("the number " + text.str().str() + " is none of f32",
              "use one of magnitude below 3.4e38, or an infinity");
  }
  mlir::Value &slot = constants[llvm::bit_cast<uint32_t>(rounded)];
  if (!slot)
    slot = arith::ConstantOp::create(builder, unknown, builder.getF32FloatAttr(rounded));
  return slot;
}

mlir::Value Recording::recorded(const Operand &operand, const Site &site) {
  if (!operand.isValue_)
    return constant(operand.number_, site);
  mlir::Value value = mlir::Value::getFromOpaquePointer(operand.value_.value_);
  if (mlir::Block *owner = value.getParentBlock();
      owner != &program.getBlock() && owner != builder.getInsertionBlock())
    site.fail("an operand is a value of a score function that has returned",
              "use what the function is given inside of it");
  return value;
}

mlir::Value Recording::plain(const Operand &operand, const Site &site) {
  mlir::Value value = recorded(operand, site);
  if (value.getDefiningOp<IntegerOp>())
    site.fail("an operand is an integer of the launch, with which nothing computes",
              "give a number, a scalar or a tensor");
  return value;
}

/// Codes that are no scales, of e4m3 by their rank: Builder::codes() alone makes such values.
static bool isCodesOfCache(mlir::Value value) {
  auto type = dyn_cast<RankedTensorType>(value.getType());
  return type && isCodeType(type.getElementType()) &&
         (!isScaleType(type.getElementType()) || type.getRank() > 2);
}

mlir::Value Recording::f32(const Operand &operand, const Site &site) {
  mlir::Value value = plain(operand, site);
  if (isIndexType(getElementTypeOrSelf(value.getType())))
    site.fail("an operand is an index",
              "indices are added, subtracted, compared with indices, and choose rows");
  if (isCodesOfCache(value))
    site.fail("an operand is codes without their scales", "dequantise a scaled tensor");
  return widened(value);
}

bool Recording::isIndex(const Operand &operand) {
  if (!operand.isValue_ || !operand.value_.value_)
    return false; // an empty value: enter() says so
  return isIndexType(
      getElementTypeOrSelf(mlir::Value::getFromOpaquePointer(operand.value_.value_).getType()));
}

mlir::Value Recording::index(const Operand &operand, const Site &site) {
  if (!operand.isValue_) {
    const double number = operand.number_;
    if (number != std::floor(number) || std::abs(number) > 0x1p53)
      site.fail("the number " + std::to_string(number) + " is no index", "use an integer");
    return arith::ConstantOp::create(builder, unknown,
                                     builder.getI64IntegerAttr(static_cast<int64_t>(number)));
  }
  mlir::Value value = plain(operand, site);
  mlir::Type element = getElementTypeOrSelf(value.getType());
  if (!isIndexType(element))
    site.fail("an operand is not an index", "use positions, extents, integers, or i32 and i64");
  if (element.isInteger(64))
    return value;
  mlir::Value &slot = wide[value];
  if (!slot)
    slot = arith::ExtSIOp::create(
        builder, unknown, cast<RankedTensorType>(value.getType()).clone(builder.getI64Type()),
        value);
  return slot;
}

mlir::Value Recording::scaled(const Scaled &value) const {
  return mlir::Value::getFromOpaquePointer(value.value_);
}

arith::CmpFPredicate Recording::predicate(const Mask &mask) {
  switch (mask.kind_) {
  case Mask::Kind::Less:
    return arith::CmpFPredicate::OLT;
  case Mask::Kind::LessEqual:
    return arith::CmpFPredicate::OLE;
  case Mask::Kind::Greater:
    return arith::CmpFPredicate::OGT;
  case Mask::Kind::GreaterEqual:
    return arith::CmpFPredicate::OGE;
  case Mask::Kind::Equal:
    return arith::CmpFPredicate::OEQ;
  case Mask::Kind::NotEqual:
    return arith::CmpFPredicate::UNE;
  }
  llvm_unreachable("six comparisons");
}

arith::CmpIPredicate Recording::indexPredicate(const Mask &mask) {
  switch (mask.kind_) {
  case Mask::Kind::Less:
    return arith::CmpIPredicate::slt;
  case Mask::Kind::LessEqual:
    return arith::CmpIPredicate::sle;
  case Mask::Kind::Greater:
    return arith::CmpIPredicate::sgt;
  case Mask::Kind::GreaterEqual:
    return arith::CmpIPredicate::sge;
  case Mask::Kind::Equal:
    return arith::CmpIPredicate::eq;
  case Mask::Kind::NotEqual:
    return arith::CmpIPredicate::ne;
  }
  llvm_unreachable("six comparisons");
}

//===-- Functions ---------------------------------------------------------===//

mlir::Region &Recording::addFunction() {
  functions.push_back(std::make_unique<mlir::Region>());
  return *functions.back();
}

Recording::Inside::Inside(Recording &recording, mlir::Block &block)
    : recording(recording), guard(recording.builder) {
  recording.builder.setInsertionPointToEnd(&block);
  std::swap(constants, recording.constants);
  std::swap(wide, recording.wide);
}

Recording::Inside::~Inside() {
  std::swap(constants, recording.constants);
  std::swap(wide, recording.wide);
}

//===-- Types and shapes --------------------------------------------------===//

Extents Recording::extentsOf(mlir::Type type) {
  DimsAttr dims = dimsOf(type);
  return dims ? Extents(dims.getExprs()) : Extents();
}

Extents Recording::extentsOf(const Shape &shape, const Site &site, size_t mostDims) const {
  if (shape.empty() || shape.size() > mostDims)
    site.fail("a tensor of rank " + std::to_string(shape.size()),
              "give " +
                  std::string(mostDims == 2 ? "one or two" : "1 to " + std::to_string(mostDims)) +
                  " dims; for a number use a scalar");
  Extents extents;
  ProgramOp owner = program;
  for (const Dim &dim : shape) {
    if (!dim.name_.empty() && !owner.hasDim(dim.name_))
      site.fail("'" + dim.name_ + "' is not a dim of this op", "declare it with Builder::dim");
    if (dim.name_.empty() && dim.factor_ < 1)
      site.fail("an extent of " + std::to_string(dim.factor_), "extents are at least 1");
    auto name = dim.name_.empty() ? StringAttr() : StringAttr::get(owner.getContext(), dim.name_);
    extents.push_back({name, dim.factor_, dim.divisor_});
  }
  return extents;
}

Shape Recording::shapeOf(mlir::Type type) const {
  Shape shape;
  for (const DimExpr &dim : extentsOf(type))
    shape.push_back(Dim(dim.name ? dim.name.str() : "", dim.factor, dim.divisor));
  return shape;
}

RankedTensorType Recording::tensorType(ArrayRef<DimExpr> extents, mlir::Type element) {
  return ir::tensorType(DimsAttr::get(&context, extents), element, program);
}

mlir::Type Recording::elementType(DType type, const Site &site, const char *forWhat) {
  if (type != DType::f32 && type != DType::bf16 && type != DType::f16)
    site.fail(std::string(forWhat) + " cannot be " + nameOf(type), "use f32, bf16 or f16");
  return typeOf(type, &context);
}

/// Refuses a layout that scales of these dims cannot have.
static void checkLayout(ScaleLayout layout, mlir::Type scale, ArrayRef<DimExpr> dims,
                        const Site &site) {
  const std::string problem = problemOfLayout(layout, scale, dims);
  if (problem.empty())
    return;
  auto [what, remedy] = StringRef(problem).split("; ");
  site.fail(what.str(), remedy.str());
}

LayoutAttr Recording::layoutAttr(ScaleLayout layout, RankedTensorType scales, const Site &site) {
  if (layout == ScaleLayout::row_major)
    return {};
  checkLayout(layout, scales.getElementType(), dimsOf(scales).getExprs(), site);
  return LayoutAttr::get(&context, layout);
}

ScaledType Recording::scaledType(DType format, DType scale, ScaleLayout layout,
                                 ArrayRef<DimExpr> extents, const Block &block, const Site &site) {
  const ElementType *code = findElementType(format), *scales = findElementType(scale);
  if (!code || !code->isCode)
    site.fail(std::string("the format cannot be ") + nameOf(format),
              "use one of " + namesOfTypes(&ElementType::isCode));
  if (!scales || !scales->isScale)
    site.fail(std::string("the scales cannot be ") + nameOf(scale),
              "use one of " + namesOfTypes(&ElementType::isScale));
  RankedTensorType codes = tensorType(extents, code->get(&context));
  const SmallVector<int64_t> groups = blockOf(block, extents, site);
  checkLayout(layout, scales->get(&context), dimsOf(reducedType(codes, groups)).getExprs(), site);
  return ScaledType::get(&context, codes.getShape(), codes.getElementType(), dimsOf(codes), groups,
                         scales->get(&context), layout);
}

SmallVector<int64_t> Recording::blockOf(const Block &block, ArrayRef<DimExpr> extents,
                                        const Site &site) {
  if (block.empty())
    site.fail("the block is not said", "give one extent an axis, e.g. {1, 128}");
  if (block.size() != extents.size())
    site.fail("a block of rank " + std::to_string(block.size()) + " for " + textOf(extents),
              "give one extent an axis");
  SmallVector<int64_t> result;
  for (auto [extent, dim] : llvm::zip_equal(block, extents)) {
    int64_t divisor = 0;
    if (extent != whole &&
        (extent < 1 || extent > INT32_MAX || __builtin_mul_overflow(dim.divisor, extent, &divisor)))
      site.fail("a block's extent cannot be " + std::to_string(extent),
                "use 1 to 2147483647, or eider::whole");
    result.push_back(extent == whole ? ShapedType::kDynamic : extent);
  }
  return result;
}

/// The dim over which both repeat: equal, or one is 1, or one value a block of the other.
static std::optional<DimExpr> commonDim(DimExpr left, DimExpr right) {
  if (left == right || right.isOne())
    return left;
  if (left.isOne())
    return right;
  if (left.name != right.name || left.factor != right.factor)
    return std::nullopt;
  if (left.divisor % right.divisor == 0)
    return right;
  if (right.divisor % left.divisor == 0)
    return left;
  return std::nullopt;
}

Extents Recording::common(const Extents &left, const Extents &right, const Site &site) {
  Extents result = left.size() >= right.size() ? left : right;
  const Extents &other = left.size() >= right.size() ? right : left;
  for (size_t i = 1; i <= other.size(); ++i) {
    DimExpr &dim = result[result.size() - i];
    auto both = commonDim(dim, other[other.size() - i]);
    if (!both)
      site.fail("shapes " + textOf(left) + " and " + textOf(right) + " do not match",
                "dims align at the end; each is equal, 1, or the number of blocks of the other");
    dim = *both;
  }
  return result;
}

mlir::Value Recording::broadcast(mlir::Value value, const Extents &extents) {
  if (extentsOf(value.getType()) == extents)
    return value;
  auto type = tensorType(extents, getElementTypeOrSelf(value.getType()));
  return BroadcastOp::create(builder, unknown, type, value);
}

/// `type` with another element.
static mlir::Type withElement(mlir::Type type, mlir::Type element) {
  if (auto tensor = dyn_cast<RankedTensorType>(type))
    return tensor.clone(element);
  return element;
}

mlir::Value Recording::narrowed(mlir::Value value, mlir::Type element) {
  if (element.isF32())
    return value;
  return arith::TruncFOp::create(builder, unknown, withElement(value.getType(), element), value);
}

mlir::Value Recording::widened(mlir::Value value) {
  if (getElementTypeOrSelf(value.getType()).isF32())
    return value;
  mlir::Value &slot = wide[value];
  if (!slot)
    slot = arith::ExtFOp::create(builder, unknown,
                                 withElement(value.getType(), builder.getF32Type()), value);
  return slot;
}

mlir::Value Recording::stored(mlir::Value value, std::optional<DType> type, const Site &site) {
  if (!isa<RankedTensorType>(value.getType()))
    site.fail("the value is a scalar", "broadcast it over a shape");
  if (isIndexType(getElementTypeOrSelf(value.getType())))
    site.fail("the value is an index", "compute a float from it with select");
  if (!type || *dtypeOf(getElementTypeOrSelf(value.getType())) == *type)
    return value;
  return narrowed(widened(value), elementType(*type, site, "an output"));
}

void Recording::takeName(const std::string &name, const Site &site) {
  std::string problem = problemOfName(name);
  if (!problem.empty())
    site.fail(problem, remedyOfName);
  if (!names.insert(name).second)
    site.fail("the name '" + name + "' is taken", "use each name once");
}
