//===- runtime/CallImpl.h - A kernel prepared for its dims ------*- C++ -*-===//
//
// Part of Eider, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//
#ifndef EIDER_RUNTIME_CALLIMPL_H
#define EIDER_RUNTIME_CALLIMPL_H

#include "runtime/Arguments.h"
#include "runtime/KernelImpl.h"

namespace eider::detail {

/// A launch with its expressions evaluated.
struct PreparedLaunch {
  const contract::Launch *launch;
  LaunchGeometry geometry;
  std::vector<int64_t> values; ///< One a parameter: a dim's value, or an offset in the workspace.
};

/// A variant whose predicates on dims hold.
struct PreparedVariant {
  const VariantImpl *variant;
  std::vector<const contract::Predicate *> onTensors; ///< What is left to check at a launch.
  std::vector<PreparedLaunch> launches;
  bool launchesNothing = true; ///< Every grid is empty.
};

struct CallImpl {
  CallImpl(std::shared_ptr<const KernelImpl> kernel, const Dims &dims);

  /// The first variant that takes the tensors; the last one takes all that check.
  const PreparedVariant &choose(const TensorFacts &facts) const;
  void launch(Stream stream, std::span<const TensorArg> tensors, std::span<const ScalarArg> scalars,
              void *workspace) const;

  const std::shared_ptr<const KernelImpl> kernel;
  const std::vector<int64_t> dims;
  const ArgumentChecker checker;
  size_t workspaceBytes = 0;
  std::vector<PreparedVariant> variants;     ///< In order of preference.
  const PreparedVariant *prepared = nullptr; ///< The one that prepare() loaded.

private:
  PreparedVariant prepareVariant(const VariantImpl &variant) const;
  bool holdsForDims(const contract::Predicate &predicate) const;
  bool runsAtOnce(const VariantImpl &variant) const;
  void run(const PreparedVariant &variant, const LoadedText &text, const TensorFacts &facts,
           std::span<const TensorArg> tensors, std::span<const ScalarArg> scalars, void *workspace,
           Stream stream) const;
};

} // namespace eider::detail

#endif // EIDER_RUNTIME_CALLIMPL_H
