//===- aot/CSources.cpp - NAME.h and NAME.c -------------------------------===//
//
// Part of Eider, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//
#include "runtime/aot/CSources.h"
#include "runtime/aot/CExpression.h"
#include "runtime/aot/CText.h"

#include "eider/aot.h"
#include "templates/EmbeddedTemplates.h"

#include <algorithm>

namespace eider {

/// The files of runtime/aot/skeleton.
std::span<const EmbeddedTemplate> embeddedSkeleton();

namespace aot {
namespace {

/// What the arguments of a launch depend on.
bool sameInterface(const contract::Contract &a, const contract::Contract &b) {
  auto dim = [](const contract::Dim &x, const contract::Dim &y) {
    return x.name == y.name && x.value == y.value;
  };
  auto tensor = [](const contract::Tensor &x, const contract::Tensor &y) {
    return x.name == y.name && x.role == y.role && x.dtype == y.dtype && x.shape == y.shape;
  };
  auto scalar = [](const contract::Scalar &x, const contract::Scalar &y) {
    return x.name == y.name && x.dtype == y.dtype && x.defaultValue == y.defaultValue;
  };
  return a.name == b.name && std::ranges::equal(a.dims, b.dims, dim) &&
         std::ranges::equal(a.tensors, b.tensors, tensor) &&
         std::ranges::equal(a.scalars, b.scalars, scalar) && a.mayAlias == b.mayAlias;
}

/// The newest target's PTX as one more image.
void addPtx(std::vector<Image> &images, std::span<const TargetImage> given) {
  std::optional<Image> newest;
  for (size_t i = 0; i < given.size(); ++i) {
    if (given[i].ptx.empty())
      continue;
    if (images[i].target.archSpecific)
      throw Error(ErrorKind::Internal, "PTX of " + images[i].target.name() + " runs there alone",
                  images[i].contract.name);
    if (!newest || newest->target.capability < images[i].target.capability)
      newest = Image{images[i].contract, images[i].target, given[i].ptx, true};
  }
  if (newest)
    images.push_back(std::move(*newest));
}

std::vector<Image> readImages(std::span<const TargetImage> given) {
  std::vector<Image> images;
  for (const TargetImage &image : given) {
    contract::Contract contract = contract::read(image.executable.contract);
    const std::optional<cuda::Target> target = cuda::parseTarget(contract.target);
    if (!target)
      throw Error(ErrorKind::Internal, "'" + contract.target + "' has no machine code",
                  contract.name);
    if (!images.empty() && !sameInterface(contract, images.front().contract))
      throw Error(ErrorKind::Internal,
                  "the images for " + contract.target + " and " + images.front().contract.target +
                      " differ in arguments",
                  contract.name);
    images.push_back({std::move(contract), *target, image.cubin});
  }
  if (images.empty())
    throw Error(ErrorKind::Internal, "no image is given", "C sources");
  addPtx(images, given);
  return images;
}

/// What NAME.c calls its own: no argument may hide it.
std::set<std::string> ownIdentifiers() {
  std::set<std::string> words = {"stream", "workspace", "a",      "tensors",    "facts",
                                 "number", "bytes",     "status", "parameters", "overflow"};
  words.merge(functionNames());
  for (const EmbeddedTemplate &file : embeddedSkeleton())
    words.merge(identifiersOf(file.text));
  return words;
}

} // namespace

std::string skeleton(const std::string &file) {
  for (const EmbeddedTemplate &entry : embeddedSkeleton())
    if (entry.name == file + ".c.in")
      return entry.text;
  throw Error(ErrorKind::Internal, "there is no '" + file + "'", "the skeleton of C sources");
}

std::string targetNames(std::span<const Image> images, const std::string &newLine) {
  std::string names, line;
  // Its PTX is the last.
  for (const Image &image : images) {
    std::string part = (image.isPtx ? "and GPUs newer than " : "") + image.target.name();
    if (&image != &images.back())
      part += (&image + 1)->isPtx ? " " : ", ";
    if (line.size() + part.size() > 60) {
      names += newLine;
      line.clear();
    }
    names += part;
    line += part;
  }
  return names;
}

namespace {

/// A prototype without what follows its closing parenthesis.
std::string prototype(const std::string &opening, const std::vector<std::string> &parameters) {
  return parameters.empty() ? opening + "(void)" : wrapped(opening + "(", parameters, ")");
}

} // namespace

std::string launchPrototype(const CInterface &interface) {
  std::vector<std::string> parameters = {interface.name + "_stream stream"};
  for (const CArgument &argument : interface.arguments)
    parameters.push_back(argument.type + argument.name);
  parameters.push_back("void *workspace");
  return prototype("int " + interface.name + "_launch", parameters);
}

std::string workspacePrototype(const CInterface &interface) {
  std::vector<std::string> parameters;
  for (const CArgument &extent : interface.extents)
    parameters.push_back(extent.type + extent.name);
  return prototype("int64_t " + interface.name + "_workspace_bytes", parameters);
}

} // namespace aot

CSources cSources(const std::string &name, std::span<const TargetImage> given,
                  const std::map<std::string, double> &scalars) {
  std::vector<aot::Image> images = aot::readImages(given);
  for (contract::Scalar &scalar : images.front().contract.scalars)
    if (auto value = scalars.find(scalar.name); value != scalars.end())
      scalar.defaultValue = value->second;
  const aot::CInterface interface(name, images.front().contract, aot::ownIdentifiers());
  return {aot::printHeader(interface, images), aot::printSource(interface, images)};
}

} // namespace eider
