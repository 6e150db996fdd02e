//===- aot/CLaunchers.h - The launches of each target as C ------*- C++ -*-===//
//
// Part of Eider, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//
#ifndef EIDER_RUNTIME_AOT_CLAUNCHERS_H
#define EIDER_RUNTIME_AOT_CLAUNCHERS_H

#include "runtime/aot/CExpression.h"
#include "runtime/aot/CSources.h"

namespace eider::aot {

/// An entry of a target's machine code.
struct Entry {
  std::string name;
  bool dynamicShared = false; ///< Has shared memory whose size the launch gives.
  bool largeCluster = false;  ///< Of more than 8 blocks.
};

/// All entries that a contract launches, each once.
std::vector<Entry> entriesOf(const contract::Contract &contract);

/// For each image a C function that chooses among its variants; targets whose launches are the same
/// share one. `names`: of the functions, one an image.
std::string printLaunchers(const CInterface &interface, std::span<const Image> images,
                           CExpressions &expressions, std::vector<std::string> &names);

} // namespace eider::aot

#endif // EIDER_RUNTIME_AOT_CLAUNCHERS_H
