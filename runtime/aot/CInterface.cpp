//===- aot/CInterface.cpp - What a kernel is called with in C -------------===//
//
// Part of Eider, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//
#include "runtime/aot/CInterface.h"
#include "runtime/aot/CText.h"

#include "eider/error.h"

#include <algorithm>

namespace eider::aot {
namespace {

using contract::Contract;
using contract::Predicate;
using contract::Role;

/// What C and C++ keep for themselves, and the macros of a compiler that is not strict.
const std::set<std::string> &keywords() {
  static const auto *words = new std::set<std::string>(identifiersOf(R"(
    alignas alignof and and_eq asm auto bitand bitor bool break case catch char char8_t char16_t
    char32_t class co_await co_return co_yield compl concept const const_cast consteval constexpr
    constinit continue decltype default delete do double dynamic_cast else enum explicit export
    extern false float for friend goto if inline int linux long mutable namespace new noexcept not
    not_eq nullptr operator or or_eq private protected public register reinterpret_cast requires
    restrict return short signed sizeof static static_assert static_cast struct switch template this
    thread_local throw true try typedef typeid typename typeof typeof_unqual union unix unsigned
    using virtual void volatile wchar_t while xor xor_eq)"));
  return *words;
}

bool isIdentifier(const std::string &name) {
  return !name.empty() && identifiersOf(name) == std::set{name};
}

/// Whether a name may be a macro of the headers that C sources include: INT64_MAX, EXIT_SUCCESS.
bool isOfHeaders(const std::string &name) {
  auto ends = [&](const char *part) { return name.ends_with(part); };
  return name == upperCase(name) &&
         (ends("_MIN") || ends("_MAX") || ends("_C") || ends("_WIDTH") || ends("_CUR_MAX") ||
          name.starts_with("EXIT_") || name.starts_with("CU_") || name == "NULL");
}

std::string pointerType(DType dtype) {
  switch (dtype) {
  case DType::f32:
    return "float *";
  case DType::i32:
    return "int32_t *";
  case DType::i64:
    return "int64_t *";
  case DType::u8:
    return "uint8_t *";
  default:
    return "void *"; // C has no name for it
  }
}

std::string scalarType(DType dtype) {
  return dtype == DType::f32 ? "float " : dtype == DType::i32 ? "int32_t " : "int64_t ";
}

/// Whether every tensor that a launch takes has neighbours along the last axis.
bool hasUnitStride(const Contract &contract, unsigned tensor) {
  const auto &predicates = contract.variants.back().predicates;
  return std::ranges::any_of(predicates, [&](const Predicate &predicate) {
    return predicate.kind == Predicate::Kind::UnitStride && predicate.tensor == tensor;
  });
}

} // namespace

CInterface::CInterface(std::string given, const Contract &contract,
                       const std::set<std::string> &reserved)
    : name(std::move(given)), upperName(upperCase(name)), taken(reserved) {
  if (!isIdentifier(name) || keywords().contains(name))
    throw Error(ErrorKind::Request, "'" + name + "' is no name that C takes", "--name",
                "give one of letters, digits and _");
  taken.insert(keywords().begin(), keywords().end());
  for (unsigned index = 0; index < contract.tensors.size(); ++index)
    addTensor(contract, index);
  for (const contract::Scalar &scalar : contract.scalars) {
    scalars.push_back(fresh(scalar.name));
    arguments.push_back({scalarType(scalar.dtype), scalars.back()});
  }
  for (const contract::Dim &dim : contract.dims) {
    dims.push_back(fresh(dim.name));
    if (!dim.value)
      extents.push_back({"int64_t ", dims.back()});
  }
  arguments.insert(arguments.end(), extents.begin(), extents.end());
  for (const std::string &tensor : tensors)
    positions.push_back(fresh("TENSOR_" + upperCase(tensor))); // as no macro of a header is
}

void CInterface::addTensor(const Contract &contract, unsigned index) {
  const contract::Tensor &tensor = contract.tensors[index];
  tensors.push_back(fresh(tensor.name));
  arguments.push_back(
      {(tensor.role == Role::Input ? "const " : "") + pointerType(tensor.dtype), tensors.back()});
  std::vector<std::string> &axes = strides.emplace_back(tensor.shape.size());
  const size_t count = axes.size() - (!axes.empty() && hasUnitStride(contract, index));
  for (size_t axis = 0; axis < count; ++axis) {
    axes[axis] = fresh(tensors.back() + "_stride" + (count == 1 ? "" : std::to_string(axis)));
    arguments.push_back({"int64_t ", axes[axis]});
  }
}

std::string CInterface::fresh(std::string wanted) {
  while (isOfHeaders(wanted) || !taken.insert(wanted).second)
    wanted += '_';
  return wanted;
}

} // namespace eider::aot
