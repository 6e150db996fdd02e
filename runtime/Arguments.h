//===- runtime/Arguments.h - Are a launch's tensors sound? ------*- C++ -*-===//
//
// Part of Eider, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//
#ifndef EIDER_RUNTIME_ARGUMENTS_H
#define EIDER_RUNTIME_ARGUMENTS_H

#include "eider/runtime.h"
#include "runtime/contract/Contract.h"

#include <array>

namespace eider::detail {

/// What a launch needs to know of one tensor. Without initializers: a launch fills in as many as it
/// has tensors.
struct TensorFact {
  uint64_t begin, end; ///< The bytes that it may touch; equal if it has no element.
  std::array<int64_t, contract::maxRank> strides;
  /// The base and all strides but the last, in bytes, or-ed: the lowest set bit is what all are
  /// multiples of.
  uint64_t alignment;
  bool contiguous, unitStride;
};

using TensorFacts = std::array<TensorFact, contract::maxTensors>;

/// Checks tensors against a contract whose dims are known. Allocates nothing unless it throws.
class ArgumentChecker {
public:
  /// `extents`: one a tensor of the contract. Throws Error (Request) if a tensor's bytes exceed 63
  /// bits.
  ArgumentChecker(const contract::Contract &contract, std::vector<std::vector<int64_t>> extents);

  /// Throws Error (Request) unless pointers, alignment to the element, strides and overlap are
  /// sound. `workspace`: of `bytes`.
  void check(std::span<const TensorArg> tensors, const void *workspace, size_t bytes,
             TensorFacts &facts) const;

  /// Only what a choice of variant needs: pointers' alignment and strides.
  void describe(std::span<const TensorArg> tensors, TensorFacts &facts) const;

  /// As if every tensor were contiguous and aligned to 256 bytes.
  void assumeBest(TensorFacts &facts) const;

private:
  void describeOne(unsigned index, const TensorArg &argument, TensorFact &fact) const;
  void describeStrided(unsigned index, const TensorArg &argument, TensorFact &fact) const;
  void requireNoSelfOverlap(unsigned index, const TensorFact &fact) const;
  void requireApart(unsigned a, unsigned b, const TensorFacts &facts) const;
  bool mayAlias(unsigned a, unsigned b, const TensorFacts &facts) const;
  bool interleaved(unsigned a, unsigned b, const TensorFacts &facts) const;
  [[noreturn]] void fail(unsigned index, const std::string &what,
                         const std::string &remedy = "") const;

  struct Shape {
    std::vector<int64_t> extents;
    std::array<int64_t, contract::maxRank> strides; ///< row-major contiguous
    uint64_t bytes;
    unsigned elementBytes;
    bool written;
  };
  const contract::Contract &contract;
  std::vector<Shape> shapes;
};

} // namespace eider::detail

#endif // EIDER_RUNTIME_ARGUMENTS_H
