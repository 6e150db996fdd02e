//===- runtime/KernelImpl.h - A kernel's parsed contract --------*- C++ -*-===//
//
// Part of Eider, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//
#ifndef EIDER_RUNTIME_KERNELIMPL_H
#define EIDER_RUNTIME_KERNELIMPL_H

#include "runtime/Backend.h"
#include "runtime/contract/Contract.h"
#include "runtime/contract/Expression.h"

#include <atomic>
#include <mutex>

namespace eider::detail {

/// A launch with its expressions parsed.
struct LaunchPlan {
  contract::Expression grid, shared;
  std::vector<contract::Expression> offsets; ///< One a parameter; 0 unless it is a workspace's.
  std::vector<int> dims;                     ///< One a parameter; its dim's index, else -1.
};

/// A variant, and its code once it is loaded.
class VariantImpl {
public:
  VariantImpl(const contract::Contract &contract, const contract::Variant &variant);

  const contract::Variant &variant;
  std::vector<LaunchPlan> plans; ///< One a launch.

  /// The code; null until it is loaded.
  const LoadedText *loaded() const { return text.load(std::memory_order_acquire); }

  /// The code, loaded if it is not yet. Throws Error.
  const LoadedText &load(const Backend &backend, const std::string &target) const;

private:
  mutable std::mutex mutex;
  mutable std::shared_ptr<const LoadedText> owner;
  mutable std::atomic<const LoadedText *> text = nullptr;
};

struct KernelImpl {
  KernelImpl(std::shared_ptr<const Backend> backend, contract::Contract contract,
             std::string build);

  /// The code of a variant. Throws Error: of one that the cache lacks and may not be compiled, with
  /// the command that would cure it.
  const LoadedText &load(const VariantImpl &variant) const;

  /// The value of each dim, in order. Throws Error (Request) if one is missing, unknown, negative
  /// or fixed otherwise.
  std::vector<int64_t> dimValues(const Dims &dims) const;
  /// The extents of a tensor.
  std::vector<int64_t> extents(unsigned tensor, std::span<const int64_t> dims) const;
  /// Throws Error (Request) for an unknown name.
  unsigned tensorIndex(std::string_view name) const;
  [[noreturn]] void fail(const std::string &what, const std::string &remedy = "") const;

  const std::shared_ptr<const Backend> backend;
  const contract::Contract contract;
  const std::string build;                               ///< Executable::build
  std::vector<std::vector<contract::Expression>> shapes; ///< One a tensor.
  contract::Expression workspace;
  std::vector<std::unique_ptr<const VariantImpl>> variants;
};

} // namespace eider::detail

#endif // EIDER_RUNTIME_KERNELIMPL_H
