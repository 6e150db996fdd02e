//===- runtime/KernelImpl.cpp - A kernel's parsed contract ----------------===//
//
// Part of Eider, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//
#include "runtime/KernelImpl.h"
#include "runtime/Assembler.h"

namespace eider::detail {

using contract::Expression;
using contract::Parameter;

VariantImpl::VariantImpl(const contract::Contract &contract, const contract::Variant &variant)
    : variant(variant) {
  const std::vector<std::string> names = contract.dimNames();
  for (const contract::Launch &launch : variant.launches) {
    LaunchPlan plan{
        Expression::parse(launch.grid, names), Expression::parse(launch.shared, names), {}, {}};
    for (const Parameter &parameter : launch.parameters) {
      plan.offsets.push_back(parameter.kind == Parameter::Kind::Workspace
                                 ? Expression::parse(parameter.offset, names)
                                 : Expression());
      plan.dims.push_back(parameter.kind == Parameter::Kind::Dim ? contract.dimIndex(parameter.dim)
                                                                 : -1);
    }
    plans.push_back(std::move(plan));
  }
}

const LoadedText &VariantImpl::load(const Backend &backend, const std::string &target) const {
  if (const LoadedText *ready = loaded())
    return *ready;
  std::lock_guard lock(mutex);
  if (!owner) {
    owner = backend.load(variant, target);
    text.store(owner.get(), std::memory_order_release);
  }
  return *owner;
}

const LoadedText &KernelImpl::load(const VariantImpl &variant) const try {
  return variant.load(*backend, contract.target);
} catch (const MissError &miss) {
  std::string remedy = build.empty() ? miss.remedy() : build;
  if (const size_t at = remedy.find("eider build"); at != std::string::npos && !miss.nvrtc.empty())
    remedy.insert(at, "EIDER_NVRTC=" + miss.nvrtc + " ");
  throw MissError(contract.name + ", " + miss.where(), remedy);
}

KernelImpl::KernelImpl(std::shared_ptr<const Backend> backend, contract::Contract parsed,
                       std::string build)
    : backend(std::move(backend)), contract(std::move(parsed)), build(std::move(build)) {
  const std::vector<std::string> names = contract.dimNames();
  for (const contract::Tensor &tensor : contract.tensors) {
    std::vector<Expression> &shape = shapes.emplace_back();
    for (const std::string &extent : tensor.shape)
      shape.push_back(Expression::parse(extent, names));
  }
  workspace = Expression::parse(contract.workspace, names);
  for (const contract::Variant &variant : contract.variants)
    variants.push_back(std::make_unique<const VariantImpl>(contract, variant));
}

void KernelImpl::fail(const std::string &what, const std::string &remedy) const {
  throw Error(ErrorKind::Request, what, contract.name, remedy);
}

std::vector<int64_t> KernelImpl::dimValues(const Dims &dims) const {
  for (const auto &[name, value] : dims)
    if (contract.dimIndex(name) < 0)
      fail("there is no dim '" + name + "'");
  std::vector<int64_t> values;
  for (const contract::Dim &dim : contract.dims) {
    auto given = dims.find(dim.name);
    if (given == dims.end() && !dim.value)
      fail("the dim '" + dim.name + "' is not given");
    const int64_t value = given == dims.end() ? *dim.value : given->second;
    if (dim.value && *dim.value != value)
      fail("the dim '" + dim.name + "' is " + std::to_string(value) +
               ", but the kernel is made for " + std::to_string(*dim.value),
           "compile it for that extent");
    if (value < 0)
      fail("the dim '" + dim.name + "' is negative: " + std::to_string(value));
    values.push_back(value);
  }
  return values;
}

std::vector<int64_t> KernelImpl::extents(unsigned tensor, std::span<const int64_t> dims) const {
  std::vector<int64_t> extents;
  for (const Expression &extent : shapes[tensor]) {
    extents.push_back(extent.evaluate(dims));
    if (extents.back() < 0)
      fail("the extent '" + extent.text() + "' of tensor '" + contract.tensors[tensor].name +
           "' is negative");
  }
  return extents;
}

unsigned KernelImpl::tensorIndex(std::string_view name) const {
  for (unsigned i = 0; i < contract.tensors.size(); ++i)
    if (contract.tensors[i].name == name)
      return i;
  fail("there is no tensor '" + std::string(name) + "'");
}

} // namespace eider::detail
