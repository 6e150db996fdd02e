//===- Boundary.cpp - Tensors in memory and a program's dims --------------===//
//
// Part of Eider, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//
#include "compiler/interpreter/Boundary.h"

#include "compiler/dsl/ProgramImpl.h"

#include <algorithm>
#include <cstring>

using namespace eider;
using namespace eider::interpreter;
using mlir::RankedTensorType;

static std::string describeShape(const Extents &shape) {
  std::string text = "[";
  for (size_t i = 0; i < shape.size(); ++i)
    text += (i ? ", " : "") + std::to_string(shape[i]);
  return text + "]";
}

std::string interpreter::describe(DType dtype, const Extents &shape) {
  return std::string(nameOf(dtype)) + " " + describeShape(shape);
}

/// `bf16 [tokens, 2 * hidden]`.
static std::string describe(RankedTensorType type) {
  std::string text = std::string(nameOf(elementDType(type.getElementType()))) + " [";
  for (auto [i, dim] : llvm::enumerate(ir::dimsInMemory(type)))
    text += (i ? ", " : "") + dim.str();
  return text + "]";
}

DType interpreter::elementDType(mlir::Type element) {
  return dtypeOf(element).value_or(DType::u8); // i1 alone has no dtype in memory.
}

const HostTensor *interpreter::findTensor(const std::vector<HostTensor> &tensors,
                                          const std::string &name) {
  for (const HostTensor &tensor : tensors)
    if (tensor.name == name)
      return &tensor;
  return nullptr;
}

static Error misshapen(const HostTensor &tensor, const std::string &expected,
                       const std::string &where) {
  return Error(ErrorKind::Request,
               "tensor '" + tensor.name + "' is " + describe(tensor.dtype, tensor.shape) +
                   ", expected " + expected,
               where, "give it in that dtype and shape");
}

static void requireBytes(const HostTensor &tensor, const std::string &where) {
  int64_t bytes = static_cast<int64_t>(sizeOf(tensor.dtype));
  for (int64_t extent : tensor.shape)
    if (extent < 0 || __builtin_mul_overflow(bytes, std::max<int64_t>(extent, 1), &bytes))
      throw Error(ErrorKind::Request,
                  "tensor '" + tensor.name + "', " + describe(tensor.dtype, tensor.shape) +
                      ", is no shape of memory",
                  where, "give extents of at least 0 whose bytes fit 64 bits");
  if (elementsOf(tensor.shape) == 0)
    bytes = 0;
  if (tensor.data.size() != static_cast<size_t>(bytes))
    throw Error(ErrorKind::Request,
                "tensor '" + tensor.name + "', " + describe(tensor.dtype, tensor.shape) + ", has " +
                    std::to_string(tensor.data.size()) + " bytes, not " + std::to_string(bytes),
                where, "give all of its elements, row-major and contiguous");
}

void interpreter::requireTensor(const HostTensor &tensor, DType dtype, const Extents &shape,
                                const std::string &where) {
  if (tensor.dtype != dtype || tensor.shape != shape)
    throw misshapen(tensor, describe(dtype, shape), where);
  requireBytes(tensor, where);
}

//===-- Dims --------------------------------------------------------------===//

Boundary::Boundary(ir::ProgramOp program, const std::vector<HostTensor> &given)
    : where_(program.getSymName().str()) {
  for (const HostTensor &tensor : given)
    if (!tensors.emplace(tensor.name, &tensor).second)
      throw Error(ErrorKind::Request, "tensor '" + tensor.name + "' is given twice", where_,
                  "give each input once");
  for (auto [name, value] : llvm::zip_equal(program.getDimNames(), program.getDimValues()))
    if (!mlir::ShapedType::isDynamic(value)) {
      std::string dim = llvm::cast<mlir::StringAttr>(name).getValue().str();
      dims[dim] = value;
      sources[dim] = "the program";
    }
  for (mlir::Operation &op : program.getBlock()) {
    mlir::Type type = ir::givenType(op);
    if (!type)
      continue;
    std::string name = op.getAttrOfType<mlir::StringAttr>("name").getValue().str();
    if (auto scatter = llvm::dyn_cast<ir::ScatterOp>(op); scatter && ir::storesScales(scatter))
      take(name + "_scale", ir::scalesInto(scatter), ScaleLayout::row_major);
    if (auto scaled = llvm::dyn_cast<ir::ScaledType>(type)) {
      take(name, scaled.getCodesType(), ScaleLayout::row_major);
      take(name + "_scale", scaled.getScalesType(), scaled.getLayout());
      if (ir::isTwoLevelType(scaled.getScaleType()))
        take(name + "_global_scale", scaled.getGlobalType(), ScaleLayout::row_major);
    } else {
      auto input = llvm::dyn_cast<ir::InputOp>(op);
      take(name, llvm::cast<RankedTensorType>(type),
           ir::layoutOf(input ? input.getLayoutAttr() : ir::LayoutAttr()));
    }
  }
  for (auto &[name, expected] : types)
    checkShape(name, expected);
}

ScalePlacement interpreter::placementOf(RankedTensorType scales, ScaleLayout layout) {
  return {layout, ir::dimsOf(scales).getExprs().front().divisor == 1};
}

void Boundary::take(const std::string &name, RankedTensorType type, ScaleLayout layout) {
  auto found = tensors.find(name);
  if (found == tensors.end())
    throw Error(ErrorKind::Request, "input '" + name + "' is missing", where_,
                "give it as " + ::describe(type));
  const HostTensor &tensor = *found->second;
  types.emplace(name, Expected{type, placementOf(type, layout)});
  if (layout != ScaleLayout::row_major)
    return; // Its shape is checked once the dims are known, which it does not tell.
  auto exprs = ir::dimsInMemory(type);
  if (tensor.dtype != elementDType(type.getElementType()) || tensor.shape.size() != exprs.size())
    throw misshapen(tensor, ::describe(type), where_);
  requireBytes(tensor, where_);
  const int64_t packing = ir::packingOf(type.getElementType());
  for (auto [dim, inMemory, extent] :
       llvm::zip_equal(ir::dimsOf(type).getExprs(), exprs, tensor.shape))
    learnDim(name, dim, dim == inMemory ? extent : extent * packing);
}

void Boundary::learnDim(const std::string &tensor, const ir::DimExpr &dim, int64_t extent) {
  // Only a whole dim or a multiple of one tells its value; blocks of one do not.
  if (!dim.name || dim.divisor != 1 || dim.factor == 0 || extent % dim.factor != 0)
    return;
  std::string name = dim.name.getValue().str();
  auto [known, isNew] = dims.emplace(name, extent / dim.factor);
  if (isNew)
    sources[name] = "'" + tensor + "'";
  else if (known->second != extent / dim.factor)
    throw Error(ErrorKind::Request,
                "dim '" + name + "' is " + std::to_string(extent / dim.factor) + " in tensor '" +
                    tensor + "' but " + std::to_string(known->second) + " in " + sources[name],
                where_, "give tensors that agree");
}

int64_t Boundary::extentOf(const ir::DimExpr &dim) const {
  auto known = dim.name ? dims.find(dim.name.getValue().str()) : dims.end();
  if (dim.name && known == dims.end())
    throw Error(ErrorKind::Request, "dim '" + dim.name.getValue().str() + "' follows from no input",
                where_, "give it a value in the program");
  return dim.extent(dim.name ? known->second : 0);
}

Extents Boundary::extentsOf(mlir::Type type) const {
  return extentsOf(ir::dimsOf(type).getExprs());
}

Extents Boundary::extentsInMemory(RankedTensorType type) const {
  return extentsOf(ir::dimsInMemory(type));
}

Extents Boundary::extentsOf(llvm::ArrayRef<ir::DimExpr> dims_) const {
  Extents extents;
  for (const ir::DimExpr &dim : dims_)
    extents.push_back(extentOf(dim));
  return extents;
}

void Boundary::checkShape(const std::string &name, const Expected &wanted) const {
  const HostTensor &tensor = *tensors.at(name);
  const auto [type, placement] = wanted;
  if (placement.layout != ScaleLayout::row_major) {
    const ScaleMemory memory(placement, elementDType(type.getElementType()), extentsOf(type));
    return requireTensor(tensor, memory.dtype, memory.shape, where_);
  }
  Extents expected = extentsInMemory(type);
  if (tensor.shape != expected)
    throw misshapen(tensor, ::describe(type) + " = " + describeShape(expected), where_);
}

//===-- Bytes -------------------------------------------------------------===//

Tensor Boundary::floats(const std::string &name) const {
  const auto &[type, placement] = types.at(name);
  if (placement.layout != ScaleLayout::row_major)
    return scalesFromHost(*tensors.at(name), placement, elementDType(type.getElementType()),
                          extentsOf(type));
  return fromHost(*tensors.at(name), where_);
}

std::vector<uint8_t> Boundary::codes(const std::string &name) const {
  return codesOf(*tensors.at(name));
}

Extents interpreter::extentsInMemory(DType format, Extents shape) {
  shape.back() /= packingOf(format);
  return shape;
}

std::vector<uint8_t> interpreter::codesOf(const HostTensor &tensor) {
  std::vector<uint8_t> codes;
  const int packing = packingOf(tensor.dtype), bits = 8 / packing;
  codes.reserve(tensor.data.size() * packing);
  for (std::byte unit : tensor.data)
    for (int i = 0; i < packing; ++i)
      codes.push_back(std::to_integer<uint8_t>(unit) >> i * bits & ((1 << bits) - 1));
  return codes;
}

Tensor interpreter::fromHost(const HostTensor &tensor, const std::string &where) {
  requireBytes(tensor, where);
  Tensor result(tensor.dtype, tensor.shape);
  size_t width = sizeOf(tensor.dtype);
  for (int64_t i = 0; i < result.size(); ++i) {
    const std::byte *from = tensor.data.data() + i * width;
    uint32_t bits = 0;
    int64_t integer = 0;
    std::memcpy(&integer, from, width);
    std::memcpy(&bits, from, std::min(width, sizeof bits));
    result.values[i] = tensor.dtype == DType::i64   ? static_cast<double>(integer)
                       : tensor.dtype == DType::i32 ? static_cast<int32_t>(bits)
                                                    : valueOf(tensor.dtype, bits);
  }
  return result;
}

HostTensor interpreter::toHost(const std::string &name, const Tensor &tensor) {
  size_t width = sizeOf(tensor.dtype);
  HostTensor result{name, tensor.dtype, tensor.shape, {}};
  result.data.resize(tensor.values.size() * width);
  for (int64_t i = 0; i < tensor.size(); ++i) {
    uint32_t bits = bitsOf(tensor.dtype, tensor.values[i]);
    std::memcpy(result.data.data() + i * width, &bits, width);
  }
  return result;
}

HostTensor interpreter::toHost(const std::string &name, const CodeTensor &codes) {
  const int packing = packingOf(codes.format), bits = 8 / packing;
  HostTensor result{name, codes.format, extentsInMemory(codes.format, codes.operand.shape), {}};
  result.data.resize(codes.codes.size() / packing);
  for (size_t i = 0; i < codes.codes.size(); ++i)
    result.data[i / packing] |= std::byte(codes.codes[i] << i % packing * bits);
  return result;
}
