//===- ElementTypes.cpp - The element types of tensors --------------------===//
//
// Part of Eider, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//
#include "compiler/ir/ElementTypes.h"

#include "mlir/IR/BuiltinTypes.h"
#include "llvm/ADT/APFloat.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"

using namespace mlir;
using namespace eider;
using namespace eider::ir;

template <class T> static Type typeIn(MLIRContext *context) { return T::get(context); }

template <unsigned bits> static Type integerIn(MLIRContext *context) {
  return IntegerType::get(context, bits);
}

static constexpr ElementType table[] = {
    {.dtype = DType::f32,
     .get = typeIn<Float32Type>,
     .name = "f32",
     .isValue = true,
     .isScale = true},
    {.dtype = DType::bf16,
     .get = typeIn<BFloat16Type>,
     .name = "bf16",
     .isValue = true,
     .isScale = true},
    {.dtype = DType::f16,
     .get = typeIn<Float16Type>,
     .name = "f16",
     .isValue = true,
     .isScale = true},
    {.dtype = DType::e4m3,
     .get = typeIn<Float8E4M3FNType>,
     .name = "e4m3",
     .isCode = true,
     .isScale = true,
     .isTwoLevel = true,
     .instructions = Instructions::fp8},
    {.dtype = DType::e5m2,
     .get = typeIn<Float8E5M2Type>,
     .name = "e5m2",
     .isCode = true,
     .instructions = Instructions::fp8},
    {.dtype = DType::e4m3fnuz,
     .get = typeIn<Float8E4M3FNUZType>,
     .name = "e4m3fnuz",
     .isCode = true},
    {.dtype = DType::e5m2fnuz,
     .get = typeIn<Float8E5M2FNUZType>,
     .name = "e5m2fnuz",
     .isCode = true},
    {.dtype = DType::e2m1,
     .get = typeIn<Float4E2M1FNType>,
     .name = "e2m1",
     .isCode = true,
     .instructions = Instructions::fp4},
    {.dtype = DType::e8m0, .get = typeIn<Float8E8M0FNUType>, .name = "e8m0", .isScale = true},
    {.dtype = DType::i32, .get = integerIn<32>, .name = "i32", .isIndex = true},
    {.dtype = DType::i64, .get = integerIn<64>, .name = "i64", .isIndex = true},
};

ArrayRef<ElementType> ir::elementTypes() { return table; }

const ElementType *ir::findElementType(Type type) {
  const auto *row = llvm::find_if(
      table, [&](const ElementType &row) { return row.get(type.getContext()) == type; });
  return row == std::end(table) ? nullptr : row;
}

const ElementType *ir::findElementType(DType type) {
  const auto *row = llvm::find_if(table, [&](const ElementType &row) { return row.dtype == type; });
  return row == std::end(table) ? nullptr : row;
}

StringRef ElementType::text() const {
  switch (dtype) {
  case DType::f32:
    return "float";
  case DType::i32:
    return "int32";
  case DType::i64:
    return "int64";
  default:
    return name;
  }
}

std::string ElementType::codec() const {
  std::string alias = name.str();
  alias[0] = llvm::toUpper(alias[0]);
  return alias;
}

bool ir::isWordOfText(StringRef word) {
  return llvm::any_of(table, [&](const ElementType &row) {
    return row.text() == word || (row.isCode && row.codec() == word);
  });
}

static bool isUsedAs(Type type, bool ElementType::*use) {
  const ElementType *row = findElementType(type);
  return row && row->*use;
}

bool ir::isValueType(Type type) { return isUsedAs(type, &ElementType::isValue); }
bool ir::isCodeType(Type type) { return isUsedAs(type, &ElementType::isCode); }
bool ir::isScaleType(Type type) { return isUsedAs(type, &ElementType::isScale); }
bool ir::isIndexType(Type type) { return isUsedAs(type, &ElementType::isIndex); }
bool ir::isTwoLevelType(Type type) { return isUsedAs(type, &ElementType::isTwoLevel); }

int64_t ir::packingOf(Type type) {
  const ElementType *row = findElementType(type);
  return row ? eider::packingOf(row->dtype) : 1;
}

std::string ir::namesOfTypes(bool ElementType::*use) {
  std::string names;
  for (const ElementType &row : table)
    if (row.*use)
      names += (names.empty() ? "" : ", ") + row.name.str();
  return names;
}

float ir::largestOf(Type type) {
  APFloat value = APFloat::getLargest(cast<FloatType>(type).getFloatSemantics());
  bool losesInfo = false;
  value.convert(APFloat::IEEEsingle(), APFloat::rmNearestTiesToEven, &losesInfo);
  return value.convertToFloat();
}
