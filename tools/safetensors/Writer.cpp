//===- tools/safetensors/Writer.cpp - Laying tensors out in a file ------------===//
//
// Part of Eider, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//
#include "eider/error.h"
#include "tools/safetensors/Extent.h"
#include "tools/safetensors/Safetensors.h"
#include "tools/safetensors/WholeFile.h"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <unordered_set>

namespace eider::safetensors {

namespace {

void checkTensors(const std::string &path, std::span<const Tensor> tensors) {
  std::unordered_set<std::string> names;
  for (const Tensor &tensor : tensors) {
    auto fail = [&](const std::string &what) {
      throw Error(ErrorKind::Request, "tensor '" + tensor.name + "': " + what, path);
    };
    if (tensor.name == "__metadata__")
      fail("the format keeps this name for itself");
    if (!names.insert(tensor.name).second)
      fail("given twice");
    if (dtypeName(tensor.dtype).empty())
      fail(std::string("the format has no name for ") + nameOf(tensor.dtype));
    std::optional<uint64_t> bytes = bytesOf(tensor.shape, tensor.dtype);
    if (!bytes)
      fail("its shape is negative or overflows 63 bits of bytes");
    if (*bytes != tensor.data.size())
      fail("shape and dtype make " + std::to_string(*bytes) + " bytes, " +
           std::to_string(tensor.data.size()) + " are given");
  }
}

/// The header's length and the header, padded with blanks to a multiple of 8.
std::string makeHeader(const std::string &path, std::span<const Tensor *const> tensors) {
  nlohmann::ordered_json header = nlohmann::ordered_json::object();
  uint64_t offset = 0;
  for (const Tensor *tensor : tensors) {
    uint64_t end = offset + tensor->data.size();
    header[tensor->name] = {{"dtype", dtypeName(tensor->dtype)},
                            {"shape", tensor->shape},
                            {"data_offsets", {offset, end}}};
    offset = end;
  }
  std::string json;
  try {
    json = header.dump();
  } catch (const nlohmann::json::exception &) {
    throw Error(ErrorKind::Request, "a tensor's name is not UTF-8", path);
  }
  json.resize((json.size() + 7) / 8 * 8, ' ');
  std::string length(8, '\0');
  for (int i = 0; i < 8; ++i)
    length[i] = static_cast<char>(static_cast<uint64_t>(json.size()) >> (8 * i) & 0xff);
  return length + json;
}

} // namespace

void write(const std::string &path, std::span<const Tensor> tensors) {
  checkTensors(path, tensors);
  // Widest elements first: then every tensor starts at a multiple of its element's size.
  std::vector<const Tensor *> order;
  for (const Tensor &tensor : tensors)
    order.push_back(&tensor);
  std::ranges::stable_sort(order, std::greater<>(),
                           [](const Tensor *t) { return sizeOf(t->dtype); });

  const std::string header = makeHeader(path, order);
  std::vector<std::span<const std::byte>> parts{std::as_bytes(std::span(header))};
  for (const Tensor *tensor : order)
    parts.push_back(tensor->data);
  writeWholeFile(path, parts);
}

} // namespace eider::safetensors
