//===- contract/Contract.h - The contract of a kernel -----------*- C++ -*-===//
//
// Part of Eider, under the Apache License v2.0.
//
// docs/design/kernel-contract.md as C++. The compiler fills these structs; the runtime reads them
// back from JSON.
//
//===----------------------------------------------------------------------===//
#ifndef EIDER_RUNTIME_CONTRACT_CONTRACT_H
#define EIDER_RUNTIME_CONTRACT_CONTRACT_H

#include "eider/dtype.h"

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace eider::contract {

inline constexpr int schema = 1;

/// Bounds that check() holds a contract to; a launch keeps its parameters in arrays of these sizes.
inline constexpr unsigned maxDims = 16, maxRank = 8, maxTensors = 32, maxScalars = 32,
                          maxParameters = 128;

enum class Role { Input, InOut, Output };

struct Dim {
  std::string name;
  std::optional<int64_t> value; ///< Set: the only extent that the kernel takes.
};

struct Tensor {
  std::string name;
  Role role = Role::Input;
  DType dtype = DType::f32;
  std::vector<std::string> shape; ///< expressions
};

struct Scalar {
  std::string name;
  DType dtype = DType::f32; ///< f32, i32 or i64
  std::optional<double> defaultValue;
};

/// When a variant may be taken. Which fields count is said beside the kind.
struct Predicate {
  enum class Kind {
    Aligned,    ///< tensor, bytes: base and every stride but the last are multiples of `bytes`
    Contiguous, ///< tensor: row-major, no gaps
    UnitStride, ///< tensor: the last axis has stride 1
    Range,      ///< dim, min, max: min <= dim <= max
    Multiple    ///< dim, of
  };
  Kind kind = Kind::Range;
  unsigned tensor = 0;
  int64_t bytes = 0;
  std::string dim;
  int64_t min = 0, max = INT64_MAX;
  int64_t of = 1;
};

/// A parameter of the `__global__` function. Strides and dims are passed as 64-bit integers.
struct Parameter {
  enum class Kind {
    Tensor,    ///< index: the tensor's pointer
    Scalar,    ///< index: the scalar's value
    Stride,    ///< index, axis: a tensor's stride, in elements
    Workspace, ///< offset: an expression, bytes from the workspace's begin
    Dim        ///< dim
  };
  Kind kind = Kind::Tensor;
  unsigned index = 0;
  unsigned axis = 0;
  std::string offset;
  std::string dim;
};

struct Launch {
  std::string entry;
  int64_t block = 0;        ///< threads
  std::string grid;         ///< expression: blocks
  int64_t cluster = 1;      ///< blocks
  int64_t cooperative = 0;  ///< blocks that a multiprocessor holds, where all run at once; 0: none
  int64_t stays = 0;        ///< blocks a multiprocessor that the grid has at most; 0: no bound
  bool overlaps = false;    ///< may begin before the launch before it has ended: its text waits
  std::string shared = "0"; ///< expression: bytes of dynamic shared memory
  std::vector<Parameter> parameters;
};

struct Variant {
  std::string name;
  std::vector<Predicate> predicates;
  std::string source; ///< the CUDA text
  std::vector<Launch> launches;
};

struct Contract {
  std::string name;
  std::string target; ///< `sm_90`, `host`
  std::vector<Dim> dims;
  std::vector<Tensor> tensors;
  std::vector<Scalar> scalars;
  std::vector<std::pair<unsigned, unsigned>> mayAlias; ///< indices of tensors
  std::string workspace = "0"; ///< expression: bytes, the most that any variant needs
  std::vector<Variant> variants;

  /// Names of the dims, in order: what the expressions are over.
  std::vector<std::string> dimNames() const;
  /// Index of a dim; -1 if there is none.
  int dimIndex(std::string_view name) const;
};

/// Throws Error (Internal) unless the contract is well-formed: names, indices, bounds, expressions,
/// and a last variant that takes any strided data.
void check(const Contract &contract);

/// The contract as JSON text. Checks it first. Throws Error.
std::string write(const Contract &contract);

/// The launches of a variant alone, as JSON text (an array).
std::string launchesJson(const Variant &variant);

/// From JSON text, checked. Throws Error (Internal) that says what is wrong where in it.
Contract read(std::string_view json);

/// MLIR's name to the type; nothing for an unknown name.
std::optional<DType> dtypeNamed(std::string_view name);

} // namespace eider::contract

#endif // EIDER_RUNTIME_CONTRACT_CONTRACT_H
