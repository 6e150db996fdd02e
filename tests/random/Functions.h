//===- Functions.h - Functions of the DSL by their names --------*- C++ -*-===//
//
// Part of Eider, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//
#ifndef EIDER_TESTS_RANDOM_FUNCTIONS_H
#define EIDER_TESTS_RANDOM_FUNCTIONS_H

#include "eider/dsl.h"

#include <functional>
#include <string>
#include <vector>

namespace eider::sketch {

using UnaryFunction = std::function<Value(const Operand &)>;
using BinaryFunction = std::function<Value(const Operand &, const Operand &)>;
using ComparisonFunction = std::function<Mask(const Operand &, const Operand &)>;
using ReductionFunction = std::function<Value(const Operand &, const Block &)>;

// The names, as the DSL spells them; a unary minus is `neg`.
const std::vector<std::string> &unaryNames();
const std::vector<std::string> &binaryNames();
const std::vector<std::string> &comparisonNames();
const std::vector<std::string> &reductionNames();

// The functions of those names. Throw std::out_of_range for others.
const UnaryFunction &unaryNamed(const std::string &name);
const BinaryFunction &binaryNamed(const std::string &name);
const ComparisonFunction &comparisonNamed(const std::string &name);
const ReductionFunction &reductionNamed(const std::string &name);

} // namespace eider::sketch

#endif // EIDER_TESTS_RANDOM_FUNCTIONS_H
