//===- Functions.cpp - Functions of the DSL by their names ----------------===//
//
// Part of Eider, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//
#include "tests/random/Functions.h"

#include <map>

using namespace eider;
using namespace eider::sketch;

namespace {
const std::map<std::string, UnaryFunction> unaries = {
    {"neg", [](const Operand &x) { return -x; }},
    {"sqrt", [](const Operand &x) { return sqrt(x); }},
    {"rcp", [](const Operand &x) { return rcp(x); }},
    {"abs", [](const Operand &x) { return abs(x); }},
    {"relu", [](const Operand &x) { return relu(x); }},
    {"exp", [](const Operand &x) { return exp(x); }},
    {"exp2", [](const Operand &x) { return exp2(x); }},
    {"log", [](const Operand &x) { return log(x); }},
    {"rsqrt", [](const Operand &x) { return rsqrt(x); }},
    {"tanh", [](const Operand &x) { return tanh(x); }},
    {"erf", [](const Operand &x) { return erf(x); }},
    {"sigmoid", [](const Operand &x) { return sigmoid(x); }},
    {"silu", [](const Operand &x) { return silu(x); }},
    {"gelu", [](const Operand &x) { return gelu(x); }},
    {"gelu_tanh", [](const Operand &x) { return gelu_tanh(x); }},
};

const std::map<std::string, BinaryFunction> binaries = {
    {"+", [](const Operand &a, const Operand &b) { return a + b; }},
    {"-", [](const Operand &a, const Operand &b) { return a - b; }},
    {"*", [](const Operand &a, const Operand &b) { return a * b; }},
    {"/", [](const Operand &a, const Operand &b) { return a / b; }},
    {"min", [](const Operand &a, const Operand &b) { return min(a, b); }},
    {"max", [](const Operand &a, const Operand &b) { return max(a, b); }},
};

const std::map<std::string, sketch::ComparisonFunction> comparisons = {
    {"<", [](const Operand &a, const Operand &b) { return a < b; }},
    {"<=", [](const Operand &a, const Operand &b) { return a <= b; }},
    {">", [](const Operand &a, const Operand &b) { return a > b; }},
    {">=", [](const Operand &a, const Operand &b) { return a >= b; }},
    {"==", [](const Operand &a, const Operand &b) { return a == b; }},
    {"!=", [](const Operand &a, const Operand &b) { return a != b; }},
};

const std::map<std::string, ReductionFunction> reductions = {
    {"sum", [](const Operand &x, const Block &block) { return sum(x, block); }},
    {"mean", [](const Operand &x, const Block &block) { return mean(x, block); }},
    {"max", [](const Operand &x, const Block &block) { return max(x, block); }},
    {"min", [](const Operand &x, const Block &block) { return min(x, block); }},
    {"amax", [](const Operand &x, const Block &block) { return amax(x, block); }},
};

template <class Map> std::vector<std::string> namesOf(const Map &functions) {
  std::vector<std::string> names;
  for (const auto &[name, function] : functions)
    names.push_back(name);
  return names;
}
} // namespace

const std::vector<std::string> &sketch::unaryNames() {
  static const std::vector<std::string> names = namesOf(unaries);
  return names;
}
const std::vector<std::string> &sketch::binaryNames() {
  static const std::vector<std::string> names = namesOf(binaries);
  return names;
}
const std::vector<std::string> &sketch::comparisonNames() {
  static const std::vector<std::string> names = namesOf(comparisons);
  return names;
}
const std::vector<std::string> &sketch::reductionNames() {
  static const std::vector<std::string> names = namesOf(reductions);
  return names;
}

const UnaryFunction &sketch::unaryNamed(const std::string &name) { return unaries.at(name); }
const BinaryFunction &sketch::binaryNamed(const std::string &name) { return binaries.at(name); }
const sketch::ComparisonFunction &sketch::comparisonNamed(const std::string &name) {
  return comparisons.at(name);
}
const ReductionFunction &sketch::reductionNamed(const std::string &name) {
  return reductions.at(name);
}
