//===- aot/CInterface.h - What a kernel is called with in C -----*- C++ -*-===//
//
// Part of Eider, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//
#ifndef EIDER_RUNTIME_AOT_CINTERFACE_H
#define EIDER_RUNTIME_AOT_CINTERFACE_H

#include "runtime/contract/Contract.h"

#include <set>
#include <string>
#include <vector>

namespace eider::aot {

/// One argument of NAME_launch, and a member of the source's `arguments`.
struct CArgument {
  std::string type; ///< `const void *`, `int64_t `: the name follows at once
  std::string name;
};

/// The names and types of a program's C interface. All targets of a program have the same.
class CInterface {
public:
  /// `reserved`: the identifiers that no argument may have.
  CInterface(std::string name, const contract::Contract &contract,
             const std::set<std::string> &reserved);

  const std::string name;      ///< `rms_norm_quant`
  const std::string upperName; ///< `RMS_NORM_QUANT`

  /// Of a launch, between the stream and the workspace: the tensors with their strides, the
  /// scalars, the dims that have no value.
  std::vector<CArgument> arguments;
  /// Those of `arguments` that are dims.
  std::vector<CArgument> extents;

  std::vector<std::string> tensors;              ///< Name of each tensor's argument.
  std::vector<std::string> positions;            ///< Enumerator of each tensor.
  std::vector<std::vector<std::string>> strides; ///< An axis; empty: 1, and no argument.
  std::vector<std::string> scalars;
  std::vector<std::string> dims;

private:
  void addTensor(const contract::Contract &contract, unsigned index);
  std::string fresh(std::string wanted);

  std::set<std::string> taken;
};

} // namespace eider::aot

#endif // EIDER_RUNTIME_AOT_CINTERFACE_H
