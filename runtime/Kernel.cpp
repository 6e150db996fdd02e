//===- runtime/Kernel.cpp - Kernel and Call of the API --------------------===//
//
// Part of Eider, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//
#include "runtime/CallImpl.h"

#include <algorithm>
#include <utility>

namespace eider {

size_t Call::workspace_bytes() const { return impl->workspaceBytes; }

const std::string &Call::variant() const { return impl->prepared->variant->variant.name; }

void Call::launch(Stream stream, std::span<const TensorArg> tensors,
                  std::span<const ScalarArg> scalars, void *workspace) const {
  impl->launch(stream, tensors, scalars, workspace);
}

const std::string &Kernel::name() const { return impl->contract.name; }

std::vector<std::string> Kernel::tensorNames() const {
  std::vector<std::string> names;
  for (const contract::Tensor &tensor : impl->contract.tensors)
    names.push_back(tensor.name);
  return names;
}

std::vector<std::string> Kernel::scalarNames() const {
  std::vector<std::string> names;
  for (const contract::Scalar &scalar : impl->contract.scalars)
    names.push_back(scalar.name);
  return names;
}

std::vector<int64_t> Kernel::shapeOf(std::string_view tensor, const Dims &dims) const {
  return impl->extents(impl->tensorIndex(tensor), impl->dimValues(dims));
}

Call Kernel::prepare(const Dims &dims, std::span<const TensorArg> tensors) const {
  auto call = std::make_shared<detail::CallImpl>(impl, dims);
  detail::TensorFacts facts;
  if (tensors.empty())
    call->checker.assumeBest(facts);
  else
    call->checker.describe(tensors, facts);
  call->prepared = &call->choose(facts);
  if (!call->prepared->launchesNothing)
    impl->load(*call->prepared->variant);
  return Call(std::move(call));
}

namespace {

/// The tensors in the contract's order.
std::vector<TensorArg> ordered(const detail::KernelImpl &kernel,
                               const std::vector<NamedTensor> &named) {
  std::vector<TensorArg> tensors(kernel.contract.tensors.size());
  std::vector<bool> given(tensors.size());
  for (const NamedTensor &tensor : named) {
    const unsigned index = kernel.tensorIndex(tensor.name);
    if (given[index])
      kernel.fail("tensor '" + std::string(tensor.name) + "' is given twice");
    given[index] = true;
    tensors[index] = {tensor.pointer, tensor.strides};
  }
  if (auto missing = std::find(given.begin(), given.end(), false); missing != given.end())
    kernel.fail("tensor '" + kernel.contract.tensors[missing - given.begin()].name +
                "' is not given");
  return tensors;
}

/// Splits values into dims and scalars; a scalar that is not given has its default.
std::vector<ScalarArg> split(const detail::KernelImpl &kernel,
                             const std::vector<NamedValue> &values, Dims &dims) {
  const auto &known = kernel.contract.scalars;
  std::vector<const ScalarArg *> given(known.size());
  for (const NamedValue &value : values) {
    auto scalar = std::find_if(known.begin(), known.end(),
                               [&](const auto &scalar) { return scalar.name == value.name; });
    const auto named = [&] { return "'" + std::string(value.name) + "'"; };
    bool isNew = true;
    if (scalar != known.end())
      isNew = std::exchange(given[scalar - known.begin()], &value.value) == nullptr;
    else if (kernel.contract.dimIndex(value.name) < 0)
      kernel.fail("there is no dim or scalar " + named());
    else if (value.value.isInteger)
      isNew = dims.emplace(value.name, value.value.integer).second;
    else
      kernel.fail("the dim " + named() + " must be an integer");
    if (!isNew)
      kernel.fail(named() + " is given twice");
  }
  std::vector<ScalarArg> scalars;
  for (size_t i = 0; i < known.size(); ++i) {
    if (!given[i] && !known[i].defaultValue)
      kernel.fail("the scalar '" + known[i].name + "' has no default and is not given");
    scalars.push_back(given[i] ? *given[i] : ScalarArg(*known[i].defaultValue));
  }
  return scalars;
}

} // namespace

void Kernel::launch(Stream stream, const std::vector<NamedTensor> &named,
                    const std::vector<NamedValue> &values, void *workspace) const {
  Dims dims;
  const std::vector<ScalarArg> scalars = split(*impl, values, dims);
  const std::vector<TensorArg> tensors = ordered(*impl, named);
  // Not by prepare(): that would load a variant before it is known whether the stream is being
  // captured.
  detail::CallImpl(impl, dims).launch(stream, tensors, scalars, workspace);
}

std::vector<VariantReport> Kernel::variants() const {
  std::vector<VariantReport> reports;
  for (const auto &variant : impl->variants) {
    VariantReport report;
    report.name = variant->variant.name;
    report.source = variant->variant.source;
    if (const LoadedText *text = variant->loaded()) {
      report.loaded = true;
      report.fromCache = text->fromCache;
      report.openMilliseconds = text->openMilliseconds;
      report.compileMilliseconds = text->compileMilliseconds;
      report.loadMilliseconds = text->loadMilliseconds;
      report.directory = text->directory;
      report.entries = text->entries;
    }
    reports.push_back(std::move(report));
  }
  return reports;
}

std::vector<VariantSource> sourcesOf(const Executable &executable) {
  std::vector<VariantSource> sources;
  for (contract::Variant &variant : contract::read(executable.contract).variants)
    sources.push_back({std::move(variant.name), std::move(variant.source)});
  return sources;
}

} // namespace eider
