//===- tools/eider/Inputs.cpp - A program's inputs out of a file ----------===//
//
// Part of Eider, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//
#include "tools/eider/Inputs.h"

#include "tools/eider/Text.h"

#include <algorithm>
#include <cctype>
#include <charconv>

namespace eider::cli {

namespace {

/// `factor * name`, the extents that a dim can be read from.
struct Multiple {
  int64_t factor;
  std::string name;
};

bool isName(std::string_view text) {
  auto inName = [](unsigned char c) { return std::isalnum(c) || c == '_'; };
  return !text.empty() && !std::isdigit(static_cast<unsigned char>(text[0])) &&
         std::ranges::all_of(text, inName);
}

/// Reads `hidden` and `2 * hidden`; nothing for the other expressions of a contract.
std::optional<Multiple> parseMultiple(std::string_view text) {
  if (isName(text))
    return Multiple{1, std::string(text)};
  int64_t factor = 0;
  auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), factor);
  std::string_view rest(end, static_cast<size_t>(text.data() + text.size() - end));
  if (error != std::errc() || factor <= 0 || !rest.starts_with(" * ") || !isName(rest.substr(3)))
    return std::nullopt;
  return Multiple{factor, std::string(rest.substr(3))};
}

/// The same of an extent in memory, where a type is packed: `ceildiv(hidden, 2)` units of 2.
struct Extent {
  Multiple dim;
  int64_t packing;
};

std::optional<Extent> parseExtent(std::string_view text, DType type) {
  const int64_t packing = packingOf(type);
  const std::string prefix = "ceildiv(", suffix = ", " + std::to_string(packing) + ")";
  const bool isPacked = packing > 1 && text.starts_with(prefix) && text.ends_with(suffix);
  if (isPacked)
    text = text.substr(prefix.size(), text.size() - prefix.size() - suffix.size());
  std::optional<Multiple> dim = parseMultiple(text);
  return dim ? std::optional(Extent{*dim, isPacked ? packing : 1}) : std::nullopt;
}

bool isRead(const Signature::Tensor &tensor) { return tensor.role != Signature::Role::Output; }

std::vector<std::string> namesOf(const safetensors::File &file) {
  std::vector<std::string> names;
  for (const safetensors::Entry &entry : file.entries())
    names.push_back(entry.name);
  return names;
}

HostTensor readInput(const Signature::Tensor &tensor, const safetensors::File &file) {
  const safetensors::Entry *entry = file.find(tensor.name);
  if (!entry)
    throw Error(ErrorKind::Request, "no tensor '" + tensor.name + "'", file.path(),
                "it has " + (file.entries().empty() ? "none" : join(namesOf(file))));
  const std::string where = file.path() + ": tensor '" + tensor.name + "'";
  const bool isBytes = entry->dtype == DType::u8 && packingOf(tensor.dtype) > 1;
  if (entry->dtype != tensor.dtype && !isBytes)
    throw Error(ErrorKind::Request,
                "its dtype is " + std::string(safetensors::dtypeName(entry->dtype)) + " where " +
                    std::string(safetensors::dtypeName(tensor.dtype)) + " is wanted",
                where, "convert it, or choose another --dtype or --format");
  if (entry->shape.size() != tensor.shape.size())
    throw Error(ErrorKind::Request,
                "its shape is " + shapeText(entry->shape) + " where rank " +
                    std::to_string(tensor.shape.size()) + " is wanted: [" + join(tensor.shape) +
                    "]",
                where);
  return {tensor.name, tensor.dtype, entry->shape, file.read(*entry)};
}

/// Collects dims, each with where it came from.
class DimsOfInputs {
public:
  explicit DimsOfInputs(std::string file) : file_(std::move(file)) {}

  void set(const std::string &name, int64_t extent, const std::string &source) {
    auto [it, isNew] = known_.try_emplace(name, Known{extent, source});
    if (!isNew && it->second.extent != extent)
      throw Error(ErrorKind::Request,
                  name + " is " + std::to_string(extent) + " in " + source + " but " +
                      std::to_string(it->second.extent) + " in " + it->second.source,
                  file_);
  }

  void read(const Signature::Tensor &tensor, const HostTensor &input) {
    for (size_t axis = 0; axis < tensor.shape.size(); ++axis) {
      std::optional<Extent> extent = parseExtent(tensor.shape[axis], tensor.dtype);
      if (!extent)
        continue;
      const auto &[dim, packing] = *extent;
      const int64_t elements = input.shape[axis] * packing;
      if (elements % dim.factor != 0)
        throw Error(ErrorKind::Request,
                    "its extent " + std::to_string(elements) + " is no multiple of " +
                        std::to_string(dim.factor) + " as " + tensor.shape[axis] + " is",
                    file_ + ": tensor '" + tensor.name + "'");
      set(dim.name, elements / dim.factor, "tensor '" + tensor.name + "'");
    }
  }

  Dims take(const Signature &signature) const {
    Dims dims;
    for (const Signature::NamedDim &dim : signature.dims) {
      auto it = known_.find(dim.name);
      if (it == known_.end())
        throw Error(ErrorKind::Request, "no input's shape gives the dim '" + dim.name + "'", file_,
                    "give --dim " + dim.name + "=…");
      dims[dim.name] = it->second.extent;
    }
    return dims;
  }

private:
  struct Known {
    int64_t extent;
    std::string source;
  };
  std::string file_;
  std::map<std::string, Known> known_;
};

} // namespace

std::vector<HostTensor> readInputs(const Signature &signature, const safetensors::File &file) {
  std::vector<HostTensor> inputs;
  for (const Signature::Tensor &tensor : signature.tensors)
    if (isRead(tensor))
      inputs.push_back(readInput(tensor, file));
  return inputs;
}

Dims inferDims(const Signature &signature, const std::vector<HostTensor> &inputs, const Dims &given,
               const std::string &file) {
  DimsOfInputs dims(file);
  for (const auto &[name, extent] : given)
    dims.set(name, extent, "--dim");
  for (const Signature::NamedDim &dim : signature.dims)
    if (dim.value)
      dims.set(dim.name, *dim.value, "the program");
  auto input = inputs.begin();
  for (const Signature::Tensor &tensor : signature.tensors)
    if (isRead(tensor))
      dims.read(tensor, *input++);
  return dims.take(signature);
}

} // namespace eider::cli
