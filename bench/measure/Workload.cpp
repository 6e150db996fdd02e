//===- bench/measure/Workload.cpp - Tensors to launch a kernel on ---------===//
//
// Part of Eider, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//
#include "bench/measure/Workload.h"

#include "bench/measure/Data.h"

#include <algorithm>

namespace eider::bench {
namespace {

/// Throws Error when the product is no memory's size.
int64_t elementsOf(const std::vector<int64_t> &shape, const std::string &tensor) {
  int64_t elements = 1;
  for (int64_t extent : shape)
    if (__builtin_mul_overflow(elements, extent, &elements) || elements > INT64_MAX / 16)
      throw Error(ErrorKind::Request, "too large", "tensor '" + tensor + "'");
  return elements;
}

/// Of what a launch moves of a tensor: an in-out is read and written, of scattered rows the new
/// ones are written alone.
size_t readOf(const Signature::Tensor &tensor, size_t bytes) {
  if (tensor.role == Signature::Role::InOut)
    return tensor.rowsChosen.empty() ? bytes / 2 : 0;
  return tensor.role == Signature::Role::Input ? bytes : 0;
}

bool isMatrixRead(const Signature::Tensor &tensor, const std::vector<int64_t> &shape) {
  return shape.size() == 2 && !tensor.packed && tensor.role != Signature::Role::Output &&
         contentOf(tensor.name) == Content::values && !isOfIndices(tensor);
}

} // namespace

Workload::Workload(const Device &device, const Meter &meter, const Kernel &kernel,
                   const Signature &signature, const Dims &dims, int64_t padding)
    : device(device) {
  std::vector<int64_t> elements;
  for (const Signature::Tensor &tensor : signature.tensors) {
    std::vector<int64_t> shape = kernel.shapeOf(tensor.name, dims);
    const size_t bytes = trafficOf(tensor, shape, dims);
    read_ += readOf(tensor, bytes);
    written_ += bytes - readOf(tensor, bytes);
    strides.emplace_back();
    if (padding && isMatrixRead(tensor, shape)) {
      shape[1] += padding;
      strides.back() = {shape[1], 1};
    }
    elements.push_back(elementsOf(shape, tensor.name));
  }
  sets.resize(static_cast<size_t>(meter.copiesFor(traffic())));
  try {
    for (size_t i = 0; i < elements.size(); ++i) {
      const Signature::Tensor &tensor = signature.tensors[i];
      const DType type = tensor.packed.value_or(tensor.dtype);
      const size_t bytes = sizeOf(tensor.dtype) * static_cast<size_t>(elements[i]);
      const size_t step = (bytes + 511) / 512 * 512; // all sets aligned alike
      const auto all = static_cast<int64_t>(step * sets.size() / sizeOf(type));
      auto *base = static_cast<std::byte *>(allocate(step * sets.size()));
      if (!isOfIndices(tensor))
        fillWithData(device, base, type, all, i + 1, contentOf(tensor.name));
      for (size_t set = 0; set < sets.size(); ++set) {
        sets[set].push_back({base + set * step, strides[i]});
        if (isOfIndices(tensor))
          fillWithIndices(device, base + set * step, tensor, elements[i], dims, i + 1);
      }
    }
  } catch (...) {
    for (void *pointer : memory)
      device.free(pointer);
    throw;
  }
}

Workload::~Workload() {
  for (void *pointer : memory)
    device.free(pointer);
}

void *Workload::allocate(size_t bytes) {
  memory.push_back(device.allocate(bytes));
  return memory.back();
}

Enqueue Workload::launchOf(const Call &call) {
  if (call.workspace_bytes() > workspaceBytes) {
    workspaceBytes = call.workspace_bytes();
    workspace = allocate(workspaceBytes);
  }
  return [this, call, space = workspace](Stream stream, int set) {
    call.launch(stream, sets[static_cast<size_t>(set)], {}, space);
  };
}

} // namespace eider::bench
