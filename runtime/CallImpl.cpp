//===- runtime/CallImpl.cpp - A kernel prepared for its dims --------------===//
//
// Part of Eider, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//
#include "runtime/CallImpl.h"

#include <algorithm>

namespace eider::detail {
namespace {

using contract::Parameter;
using contract::Predicate;

std::vector<std::vector<int64_t>> allExtents(const KernelImpl &kernel,
                                             std::span<const int64_t> dims) {
  std::vector<std::vector<int64_t>> extents;
  for (unsigned i = 0; i < kernel.contract.tensors.size(); ++i)
    extents.push_back(kernel.extents(i, dims));
  return extents;
}

bool holdsForTensors(const Predicate &predicate, const TensorFacts &facts) {
  const TensorFact &fact = facts[predicate.tensor];
  switch (predicate.kind) {
  case Predicate::Kind::Aligned:
    return (fact.alignment & static_cast<uint64_t>(predicate.bytes - 1)) == 0;
  case Predicate::Kind::Contiguous:
    return fact.contiguous;
  case Predicate::Kind::UnitStride:
    return fact.unitStride;
  case Predicate::Kind::Range:
  case Predicate::Kind::Multiple:
    break;
  }
  return true;
}

/// A parameter's value, as the kernel will read it.
union Slot {
  const void *pointer;
  int64_t i64;
  int32_t i32;
  float f32;
};

void store(const ScalarArg &value, DType dtype, Slot &slot) {
  if (dtype == DType::f32)
    slot.f32 = value.isInteger ? static_cast<float>(value.integer) : static_cast<float>(value.real);
  else if (dtype == DType::i32)
    slot.i32 =
        value.isInteger ? static_cast<int32_t>(value.integer) : static_cast<int32_t>(value.real);
  else
    slot.i64 = value.isInteger ? value.integer : static_cast<int64_t>(value.real);
}

} // namespace

CallImpl::CallImpl(std::shared_ptr<const KernelImpl> parent, const Dims &given)
    : kernel(std::move(parent)), dims(kernel->dimValues(given)),
      checker(kernel->contract, allExtents(*kernel, dims)) {
  const int64_t bytes = kernel->workspace.evaluate(dims);
  if (bytes < 0)
    kernel->fail("the workspace '" + kernel->workspace.text() + "' is negative");
  workspaceBytes = static_cast<size_t>(bytes);
  for (const auto &variant : kernel->variants) {
    const auto &predicates = variant->variant.predicates;
    if (std::all_of(predicates.begin(), predicates.end(),
                    [&](const Predicate &predicate) { return holdsForDims(predicate); }) &&
        runsAtOnce(*variant))
      variants.push_back(prepareVariant(*variant));
  }
}

bool CallImpl::holdsForDims(const Predicate &predicate) const {
  if (predicate.kind != Predicate::Kind::Range && predicate.kind != Predicate::Kind::Multiple)
    return true;
  const int64_t value = dims[kernel->contract.dimIndex(predicate.dim)];
  return predicate.kind == Predicate::Kind::Range ? predicate.min <= value && value <= predicate.max
                                                  : value % predicate.of == 0;
}

/// Whether the device runs all blocks of each cooperative launch at once.
bool CallImpl::runsAtOnce(const VariantImpl &variant) const {
  for (size_t i = 0; i < variant.plans.size(); ++i) {
    const contract::Launch &launch = variant.variant.launches[i];
    if (launch.cooperative &&
        variant.plans[i].grid.evaluate(dims) > kernel->backend->blocksAtOnce(launch))
      return false;
  }
  return true;
}

PreparedVariant CallImpl::prepareVariant(const VariantImpl &variant) const {
  PreparedVariant prepared{&variant, {}, {}, true};
  for (const Predicate &predicate : variant.variant.predicates)
    if (predicate.kind != Predicate::Kind::Range && predicate.kind != Predicate::Kind::Multiple)
      prepared.onTensors.push_back(&predicate);
  for (size_t i = 0; i < variant.plans.size(); ++i) {
    const contract::Launch &launch = variant.variant.launches[i];
    const LaunchPlan &plan = variant.plans[i];
    const int64_t tiles = plan.grid.evaluate(dims), shared = plan.shared.evaluate(dims);
    const int64_t stay = launch.stays * kernel->backend->info().multiprocessors;
    const int64_t grid = stay ? std::min(tiles, stay) : tiles;
    const int64_t limit = kernel->backend->info().sharedPerBlock;
    if (grid < 0 || grid > INT32_MAX)
      kernel->fail("the grid '" + launch.grid + "' is " + std::to_string(grid) +
                   ", outside 0 … 2147483647");
    if (shared < 0 || (limit > 0 && shared > limit))
      kernel->fail("needs " + std::to_string(shared) + " bytes of shared memory, the device has " +
                   std::to_string(limit));
    PreparedLaunch ready{&launch,
                         {grid, static_cast<unsigned>(launch.block),
                          static_cast<unsigned>(launch.cluster), static_cast<unsigned>(shared),
                          launch.cooperative != 0,
                          launch.overlaps && i > 0 && prepared.launches.back().geometry.grid > 0},
                         {}};
    for (size_t p = 0; p < launch.parameters.size(); ++p) {
      const int64_t value = plan.dims[p] >= 0 ? dims[plan.dims[p]] : plan.offsets[p].evaluate(dims);
      if (launch.parameters[p].kind == Parameter::Kind::Workspace &&
          (value < 0 || static_cast<size_t>(value) > workspaceBytes))
        kernel->fail("the workspace offset '" + launch.parameters[p].offset + "' is outside it");
      ready.values.push_back(value);
    }
    prepared.launchesNothing &= grid == 0;
    prepared.launches.push_back(std::move(ready));
  }
  return prepared;
}

const PreparedVariant &CallImpl::choose(const TensorFacts &facts) const {
  for (const PreparedVariant &variant : variants)
    if (std::all_of(variant.onTensors.begin(), variant.onTensors.end(),
                    [&](const Predicate *predicate) { return holdsForTensors(*predicate, facts); }))
      return variant;
  // The last variant asks for unit strides at most.
  for (const Predicate *predicate : variants.back().onTensors)
    if (!holdsForTensors(*predicate, facts))
      kernel->fail("tensor '" + kernel->contract.tensors[predicate->tensor].name +
                       "' has elements of a row that are not neighbours",
                   "copy it so that its last stride is 1");
  return variants.back();
}

void CallImpl::launch(Stream stream, std::span<const TensorArg> tensors,
                      std::span<const ScalarArg> scalars, void *workspace) const {
  if (!scalars.empty() && scalars.size() != kernel->contract.scalars.size())
    kernel->fail(std::to_string(scalars.size()) + " scalars are given, " +
                 std::to_string(kernel->contract.scalars.size()) + " are needed");
  if (workspaceBytes != 0 && (!workspace || reinterpret_cast<uint64_t>(workspace) % 256 != 0))
    kernel->fail(workspace ? "the workspace is not aligned to 256 bytes"
                           : "needs a workspace of " + std::to_string(workspaceBytes) + " bytes",
                 "pass one of workspace_bytes(), aligned to 256");
  TensorFacts facts;
  checker.check(tensors, workspace, workspaceBytes, facts);
  const PreparedVariant &chosen = choose(facts);
  if (chosen.launchesNothing)
    return;
  const LoadedText *text = chosen.variant->loaded();
  if (!text) {
    if (kernel->backend->isCapturing(stream))
      kernel->fail("these tensors need the variant '" + chosen.variant->variant.name +
                       "', which cannot be loaded while the stream is captured",
                   "prepare() the call with these tensors before the capture");
    text = &kernel->load(*chosen.variant);
  }
  run(chosen, *text, facts, tensors, scalars, workspace, stream);
}

void CallImpl::run(const PreparedVariant &variant, const LoadedText &text, const TensorFacts &facts,
                   std::span<const TensorArg> tensors, std::span<const ScalarArg> scalars,
                   void *workspace, Stream stream) const {
  std::array<Slot, contract::maxParameters> slots;
  std::array<void *, contract::maxParameters> addresses;
  for (size_t i = 0; i < variant.launches.size(); ++i) {
    const PreparedLaunch &launch = variant.launches[i];
    if (launch.geometry.grid == 0)
      continue;
    const auto &parameters = launch.launch->parameters;
    for (size_t p = 0; p < parameters.size(); ++p) {
      const Parameter &parameter = parameters[p];
      addresses[p] = &slots[p];
      switch (parameter.kind) {
      case Parameter::Kind::Tensor:
        slots[p].pointer = tensors[parameter.index].pointer;
        break;
      case Parameter::Kind::Scalar: {
        const contract::Scalar &scalar = kernel->contract.scalars[parameter.index];
        if (scalars.empty() && !scalar.defaultValue)
          kernel->fail("the scalar '" + scalar.name + "' has no default and is not given");
        store(scalars.empty() ? ScalarArg(*scalar.defaultValue) : scalars[parameter.index],
              scalar.dtype, slots[p]);
        break;
      }
      case Parameter::Kind::Stride:
        slots[p].i64 = facts[parameter.index].strides[parameter.axis];
        break;
      case Parameter::Kind::Workspace:
        slots[p].pointer = static_cast<char *>(workspace) + launch.values[p];
        break;
      case Parameter::Kind::Dim:
        slots[p].i64 = launch.values[p];
        break;
      }
    }
    kernel->backend->launch(text.functions[i], launch.geometry, addresses.data(), stream);
  }
}

} // namespace eider::detail
