//===- measure/Tensors.cpp - What the candidates of a cell run on ---------===//
//
// Part of Eider, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//
#include "autotuner/measure/Tensors.h"

#include "bench/measure/Data.h"

#include <algorithm>

namespace eider::tuning {

namespace {
constexpr size_t mostSets = 24;
constexpr size_t alignment = 512;

size_t aligned(size_t bytes) { return (bytes + alignment - 1) / alignment * alignment; }

int64_t elementsOf(const std::vector<int64_t> &shape, const std::string &name) {
  int64_t elements = 1;
  for (int64_t extent : shape)
    if (__builtin_mul_overflow(elements, extent, &elements) || elements > INT64_MAX / 16)
      throw Error(ErrorKind::Request, "too large", "tensor '" + name + "'");
  return elements;
}
} // namespace

Tensors::Tensors(const Device &device, const Kernel &kernel, const Signature &signature,
                 const Dims &dims)
    : device(device) {
  try {
    describe(kernel, signature, dims);
    makeSets();
  } catch (...) {
    for (void *pointer : memory)
      device.free(pointer);
    throw;
  }
}

Tensors::~Tensors() {
  try {
    for (void *pointer : memory)
      device.free(pointer);
  } catch (const Error &) {
    // The device is lost, and its memory with it.
  }
}

void *Tensors::allocate(size_t bytes) {
  memory.push_back(device.allocate(std::max(bytes, alignment)));
  return memory.back();
}

void *Tensors::workspace(size_t bytes) {
  if (bytes > workspaceBytes)
    workspace_ = allocate(workspaceBytes = bytes);
  return workspace_;
}

void Tensors::describe(const Kernel &kernel, const Signature &signature, const Dims &dims) {
  uint64_t seed = 0;
  for (const Signature::Tensor &described : signature.tensors) {
    Tensor tensor{described.name, described.dtype, described.role,
                  kernel.shapeOf(described.name, dims), described.shape};
    const int64_t elements = elementsOf(tensor.shape, tensor.name);
    tensor.bytes = sizeOf(tensor.dtype) * static_cast<size_t>(elements);
    tensor.endsGroups = !described.risesTo.empty();
    if (tensor.role != Signature::Role::Output) {
      tensor.pristine = allocate(tensor.bytes);
      if (!bench::isOfIndices(described)) {
        const DType data = described.packed.value_or(tensor.dtype);
        const auto count = static_cast<int64_t>(tensor.bytes / sizeOf(data));
        bench::fillWithData(device, tensor.pristine, data, count, ++seed,
                            bench::contentOf(tensor.name));
      } else {
        bench::fillWithIndices(device, tensor.pristine, described, elements, dims, ++seed);
      }
    }
    if (tensor.role != Signature::Role::Input) {
      tensor.checked = allocate(tensor.bytes);
      tensor.golden = allocate(tensor.bytes);
    }
    traffic_ += bench::trafficOf(described, tensor.shape, dims);
    checked.push_back({tensor.checked ? tensor.checked : tensor.pristine});
    tensors.push_back(std::move(tensor));
  }
}

void Tensors::makeSets() {
  const auto wanted = static_cast<size_t>(5 * device.info().l2);
  const size_t count =
      std::clamp<size_t>((wanted + traffic_) / std::max<size_t>(traffic_, 1), 1, mostSets);
  flush = count * traffic_ < wanted;
  sets_.resize(count);
  for (const Tensor &tensor : tensors) {
    const size_t step = aligned(tensor.bytes);
    auto *base = static_cast<std::byte *>(allocate(step * count));
    for (size_t i = 0; i < count; ++i) {
      sets_[i].push_back({base + i * step});
      if (tensor.pristine)
        device.copy(base + i * step, tensor.pristine, tensor.bytes);
    }
  }
  device.synchronize();
}

void Tensors::restore(Stream stream) const {
  for (size_t i = 0; i < tensors.size(); ++i)
    if (tensors[i].role == Signature::Role::InOut)
      for (const std::vector<TensorArg> &set : sets_)
        device.copy(const_cast<void *>(set[i].pointer), tensors[i].pristine, tensors[i].bytes,
                    stream);
}

void Tensors::prepareCheck() const {
  for (const Tensor &tensor : tensors)
    if (tensor.role == Signature::Role::InOut)
      device.copy(tensor.checked, tensor.pristine, tensor.bytes);
    else if (tensor.role == Signature::Role::Output)
      device.fill(tensor.checked, 0xff, tensor.bytes);
  device.synchronize();
}

void Tensors::keepGolden() const {
  for (const Tensor &tensor : tensors)
    if (tensor.golden)
      device.copy(tensor.golden, tensor.checked, tensor.bytes);
  device.synchronize();
}

} // namespace eider::tuning
