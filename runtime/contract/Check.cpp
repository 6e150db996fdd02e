//===- contract/Check.cpp - Is a contract well-formed? --------------------===//
//
// Part of Eider, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//
#include "runtime/contract/Contract.h"
#include "runtime/contract/Expression.h"

#include "eider/error.h"

#include <algorithm>
#include <cctype>
#include <cmath>
#include <set>

namespace eider::contract {

std::vector<std::string> Contract::dimNames() const {
  std::vector<std::string> names;
  for (const Dim &dim : dims)
    names.push_back(dim.name);
  return names;
}

int Contract::dimIndex(std::string_view name) const {
  for (size_t i = 0; i < dims.size(); ++i)
    if (dims[i].name == name)
      return static_cast<int>(i);
  return -1;
}

namespace {

/// Walks a contract and throws at the first thing that is wrong.
class Checker {
public:
  explicit Checker(const Contract &contract) : contract(contract), dims(contract.dimNames()) {}

  void run() {
    identifier(contract.name, "name");
    require(!contract.target.empty(), "target", "is empty");
    checkDims();
    checkTensors();
    checkScalars();
    for (auto [a, b] : contract.mayAlias)
      require(a < contract.tensors.size() && b < contract.tensors.size(), "may_alias",
              "names a tensor that is not there");
    Expression::parse(contract.workspace, dims);
    require(!contract.variants.empty(), "variants", "is empty");
    for (const Variant &variant : contract.variants)
      checkVariant(variant);
    for (const Predicate &predicate : contract.variants.back().predicates)
      require(predicate.kind == Predicate::Kind::UnitStride ||
                  (predicate.kind == Predicate::Kind::Contiguous &&
                   contract.tensors[predicate.tensor].shape.size() > 2),
              "variants",
              "ends with one that asks more than unit_stride: nothing would take other data");
  }

private:
  [[noreturn]] void fail(const std::string &where, const std::string &what) const {
    throw Error(ErrorKind::Internal, where + " " + what, "contract of '" + contract.name + "'");
  }

  void require(bool condition, const std::string &where, const std::string &what) const {
    if (!condition)
      fail(where, what);
  }

  void identifier(const std::string &name, const std::string &where) const {
    auto wordCharacter = [](unsigned char c) { return std::isalnum(c) || c == '_'; };
    require(!name.empty() && name.size() <= 256 &&
                !std::isdigit(static_cast<unsigned char>(name[0])) &&
                std::all_of(name.begin(), name.end(), wordCharacter),
            where, "'" + name + "' is not an identifier");
  }

  void unique(std::set<std::string> &seen, const std::string &name,
              const std::string &where) const {
    identifier(name, where);
    require(seen.insert(name).second, where, "has '" + name + "' twice");
  }

  void checkDims() const {
    std::set<std::string> seen;
    require(contract.dims.size() <= maxDims, "dims", "are more than " + std::to_string(maxDims));
    for (const Dim &dim : contract.dims) {
      unique(seen, dim.name, "dims");
      require(!dim.value || *dim.value >= 0, "dims", "has '" + dim.name + "' below zero");
    }
  }

  void checkTensors() const {
    std::set<std::string> seen;
    require(contract.tensors.size() <= maxTensors, "tensors",
            "are more than " + std::to_string(maxTensors));
    for (const Tensor &tensor : contract.tensors) {
      unique(seen, tensor.name, "tensors");
      require(tensor.shape.size() <= maxRank, "tensors",
              "has '" + tensor.name + "' of rank over " + std::to_string(maxRank));
      for (const std::string &extent : tensor.shape)
        Expression::parse(extent, dims);
    }
  }

  void checkScalars() const {
    std::set<std::string> seen;
    require(contract.scalars.size() <= maxScalars, "scalars",
            "are more than " + std::to_string(maxScalars));
    for (const Scalar &scalar : contract.scalars) {
      unique(seen, scalar.name, "scalars");
      require(scalar.dtype == DType::f32 || scalar.dtype == DType::i32 ||
                  scalar.dtype == DType::i64,
              "scalars", "has '" + scalar.name + "' that is not f32, i32 or i64");
      require(!scalar.defaultValue || std::isfinite(*scalar.defaultValue), "scalars",
              "has '" + scalar.name + "' with a default that is not finite");
    }
  }

  void checkVariant(const Variant &variant) const {
    identifier(variant.name, "variants");
    require(!variant.source.empty(), "variant '" + variant.name + "'", "has no source");
    for (const Predicate &predicate : variant.predicates)
      checkPredicate(predicate, "predicates of '" + variant.name + "'");
    require(!variant.launches.empty(), "variant '" + variant.name + "'", "has no launches");
    for (const Launch &launch : variant.launches)
      checkLaunch(launch, "launch '" + launch.entry + "' of '" + variant.name + "'");
  }

  void checkPredicate(const Predicate &predicate, const std::string &where) const {
    using Kind = Predicate::Kind;
    if (predicate.kind == Kind::Range || predicate.kind == Kind::Multiple) {
      require(contract.dimIndex(predicate.dim) >= 0, where,
              "name the dim '" + predicate.dim + "', which is not there");
      require(predicate.of > 0, where, "have a multiple of less than 1");
      return;
    }
    require(predicate.tensor < contract.tensors.size(), where, "name a tensor that is not there");
    require(predicate.kind != Kind::Aligned || (predicate.bytes > 0 && predicate.bytes <= 4096 &&
                                                (predicate.bytes & (predicate.bytes - 1)) == 0),
            where, "have an alignment that is no power of two up to 4096");
  }

  void checkLaunch(const Launch &launch, const std::string &where) const {
    identifier(launch.entry, where);
    require(launch.block >= 1 && launch.block <= 1024, where, "has a block outside 1 … 1024");
    require(launch.cluster >= 1 && launch.cluster <= 16, where, "has a cluster outside 1 … 16");
    require(launch.cooperative >= 0 && launch.cooperative <= 64, where,
            "has a number of cooperative blocks a multiprocessor outside 0 … 64");
    require(launch.cooperative == 0 || launch.cluster == 1, where, "is cooperative, in clusters");
    require(launch.stays >= 0 && launch.stays <= 64, where,
            "has a number of blocks that stay on a multiprocessor outside 0 … 64");
    require(launch.stays == 0 || (launch.cooperative == 0 && launch.cluster == 1), where,
            "has blocks that stay, and is cooperative or in clusters");
    require(!launch.overlaps || launch.cooperative == 0, where,
            "overlaps the launch before it, and is cooperative");
    Expression::parse(launch.grid, dims);
    Expression::parse(launch.shared, dims);
    require(launch.parameters.size() <= maxParameters, where,
            "has more than " + std::to_string(maxParameters) + " parameters");
    for (const Parameter &parameter : launch.parameters)
      checkParameter(parameter, where);
  }

  void checkParameter(const Parameter &parameter, const std::string &where) const {
    const auto &tensors = contract.tensors;
    switch (parameter.kind) {
    case Parameter::Kind::Tensor:
      return require(parameter.index < tensors.size(), where, "has a parameter of no tensor");
    case Parameter::Kind::Scalar:
      return require(parameter.index < contract.scalars.size(), where,
                     "has a parameter of no scalar");
    case Parameter::Kind::Stride:
      return require(parameter.index < tensors.size() &&
                         parameter.axis < tensors[parameter.index].shape.size(),
                     where, "has a parameter of no stride");
    case Parameter::Kind::Workspace:
      Expression::parse(parameter.offset, dims);
      return;
    case Parameter::Kind::Dim:
      return require(contract.dimIndex(parameter.dim) >= 0, where,
                     "has the parameter '" + parameter.dim + "', which is no dim");
    }
  }

  const Contract &contract;
  std::vector<std::string> dims;
};

} // namespace

void check(const Contract &contract) { Checker(contract).run(); }

} // namespace eider::contract
