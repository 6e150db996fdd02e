//===- runtime/Arguments.cpp - Are a launch's tensors sound? --------------===//
//
// Part of Eider, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//
#include "runtime/Arguments.h"

#include <algorithm>

namespace eider::detail {

ArgumentChecker::ArgumentChecker(const contract::Contract &contract,
                                 std::vector<std::vector<int64_t>> extents)
    : contract(contract) {
  for (unsigned i = 0; i < contract.tensors.size(); ++i) {
    const contract::Tensor &tensor = contract.tensors[i];
    Shape shape{std::move(extents[i]),
                {},
                0,
                static_cast<unsigned>(sizeOf(tensor.dtype)),
                tensor.role != contract::Role::Input};
    int64_t elements = 1;
    bool overflow = false;
    const bool empty = std::count(shape.extents.begin(), shape.extents.end(), 0) != 0;
    for (size_t axis = shape.extents.size(); axis-- > 0;) {
      shape.strides[axis] = elements;
      overflow |=
          __builtin_mul_overflow(elements, std::max<int64_t>(shape.extents[axis], 1), &elements);
    }
    int64_t bytes = 0;
    overflow |= __builtin_mul_overflow(elements, static_cast<int64_t>(shape.elementBytes), &bytes);
    shape.bytes = empty ? 0 : static_cast<uint64_t>(bytes);
    shapes.push_back(std::move(shape));
    if (overflow && !empty)
      fail(i, "has more bytes than 63 bits can count", "use smaller dims");
  }
}

void ArgumentChecker::fail(unsigned index, const std::string &what,
                           const std::string &remedy) const {
  throw Error(ErrorKind::Request, "tensor '" + contract.tensors[index].name + "' " + what,
              contract.name, remedy);
}

void ArgumentChecker::describeOne(unsigned index, const TensorArg &argument,
                                  TensorFact &fact) const {
  const Shape &shape = shapes[index];
  const auto base = reinterpret_cast<uint64_t>(argument.pointer);
  fact.contiguous = fact.unitStride = true;
  if (!argument.strides.empty())
    return describeStrided(index, argument, fact);
  fact.strides = shape.strides;
  fact.begin = base;
  if (__builtin_add_overflow(base, shape.bytes, &fact.end))
    fail(index, "ends beyond the address space");
  fact.alignment = base;
  for (size_t axis = 0; axis + 1 < shape.extents.size(); ++axis)
    if (shape.extents[axis] > 1)
      fact.alignment |= static_cast<uint64_t>(shape.strides[axis]) * shape.elementBytes;
}

void ArgumentChecker::describeStrided(unsigned index, const TensorArg &argument,
                                      TensorFact &fact) const {
  const Shape &shape = shapes[index];
  const size_t rank = shape.extents.size();
  if (argument.strides.size() != rank)
    fail(index, "has " + std::to_string(argument.strides.size()) + " strides but " +
                    std::to_string(rank) + " dimensions");
  const auto base = reinterpret_cast<uint64_t>(argument.pointer);
  fact.begin = fact.end = fact.alignment = base;
  int64_t last = 0; // offset of the last element
  for (size_t axis = 0; axis < rank; ++axis) {
    const int64_t stride = argument.strides[axis];
    fact.strides[axis] = stride;
    if (shape.extents[axis] <= 1)
      continue; // any stride will do
    if (stride < 0)
      fail(index, "has the negative stride " + std::to_string(stride), "copy it first");
    int64_t reach;
    if (__builtin_mul_overflow(stride, shape.extents[axis] - 1, &reach) ||
        __builtin_add_overflow(last, reach, &last))
      fail(index, "reaches further than 63 bits can count");
    fact.contiguous &= stride == shape.strides[axis];
    if (axis + 1 < rank)
      fact.alignment |= static_cast<uint64_t>(stride) * shape.elementBytes;
    else
      fact.unitStride = stride == 1;
  }
  uint64_t bytes = 0;
  if (shape.bytes != 0 && (__builtin_mul_overflow(static_cast<uint64_t>(last) + 1,
                                                  uint64_t(shape.elementBytes), &bytes) ||
                           __builtin_add_overflow(base, bytes, &fact.end)))
    fail(index, "ends beyond the address space");
}

/// Two elements of a written tensor at one address would race.
void ArgumentChecker::requireNoSelfOverlap(unsigned index, const TensorFact &fact) const {
  const Shape &shape = shapes[index];
  // The axes by growing stride.
  std::array<unsigned, contract::maxRank> axes;
  unsigned count = 0;
  for (unsigned axis = 0; axis < shape.extents.size(); ++axis) {
    if (shape.extents[axis] <= 1)
      continue;
    unsigned place = count++;
    for (; place > 0 && fact.strides[axes[place - 1]] > fact.strides[axis]; --place)
      axes[place] = axes[place - 1];
    axes[place] = axis;
  }
  int64_t reach = 0; // of all axes with smaller strides; describeStrided() has shown that it fits
  for (unsigned i = 0; i < count; ++i) {
    const int64_t stride = fact.strides[axes[i]];
    if (stride <= reach)
      fail(index,
           "is written and overlaps itself: stride " + std::to_string(stride) + " of dimension " +
               std::to_string(axes[i]) + " is too small",
           "give it strides that keep its elements apart");
    reach += stride * (shape.extents[axes[i]] - 1);
  }
}

bool ArgumentChecker::mayAlias(unsigned a, unsigned b, const TensorFacts &facts) const {
  const auto allowed =
      std::find_if(contract.mayAlias.begin(), contract.mayAlias.end(),
                   [&](auto pair) { return pair == std::pair(a, b) || pair == std::pair(b, a); });
  if (allowed == contract.mayAlias.end() || facts[a].begin != facts[b].begin ||
      shapes[a].extents != shapes[b].extents || shapes[a].elementBytes != shapes[b].elementBytes)
    return false;
  for (size_t axis = 0; axis < shapes[a].extents.size(); ++axis)
    if (shapes[a].extents[axis] > 1 && facts[a].strides[axis] != facts[b].strides[axis])
      return false;
  return true;
}

/// Whether two matrices are different columns of one larger matrix: their byte ranges overlap,
/// their elements do not.
bool ArgumentChecker::interleaved(unsigned a, unsigned b, const TensorFacts &facts) const {
  if (facts[a].begin > facts[b].begin)
    std::swap(a, b);
  uint64_t pitch[2], width[2];
  for (int i = 0; i < 2; ++i) {
    const Shape &shape = shapes[i == 0 ? a : b];
    const TensorFact &fact = facts[i == 0 ? a : b];
    if (shape.extents.size() != 2 || shape.extents[0] < 2 || !fact.unitStride)
      return false;
    pitch[i] = static_cast<uint64_t>(fact.strides[0]) * shape.elementBytes;
    width[i] = static_cast<uint64_t>(shape.extents[1]) * shape.elementBytes;
  }
  if (pitch[0] != pitch[1] || pitch[0] == 0)
    return false;
  const uint64_t column = (facts[b].begin - facts[a].begin) % pitch[0];
  return width[0] <= column && column + width[1] <= pitch[0];
}

void ArgumentChecker::requireApart(unsigned a, unsigned b, const TensorFacts &facts) const {
  if (facts[a].begin >= facts[b].end || facts[b].begin >= facts[a].end ||
      facts[a].begin == facts[a].end || facts[b].begin == facts[b].end)
    return;
  if (mayAlias(a, b, facts) || interleaved(a, b, facts))
    return;
  fail(b, "overlaps tensor '" + contract.tensors[a].name + "'", "give each memory of its own");
}

void ArgumentChecker::describe(std::span<const TensorArg> tensors, TensorFacts &facts) const {
  if (tensors.size() != shapes.size())
    throw Error(ErrorKind::Request,
                std::to_string(tensors.size()) + " tensors are given, " +
                    std::to_string(shapes.size()) + " are needed",
                contract.name);
  for (unsigned i = 0; i < tensors.size(); ++i)
    describeOne(i, tensors[i], facts[i]);
}

void ArgumentChecker::assumeBest(TensorFacts &facts) const {
  for (unsigned i = 0; i < shapes.size(); ++i)
    describeOne(i, {reinterpret_cast<const void *>(uint64_t(256)), {}}, facts[i]);
}

void ArgumentChecker::check(std::span<const TensorArg> tensors, const void *workspace, size_t bytes,
                            TensorFacts &facts) const {
  describe(tensors, facts);
  const auto work = reinterpret_cast<uint64_t>(workspace);
  for (unsigned i = 0; i < tensors.size(); ++i) {
    const TensorFact &fact = facts[i];
    if (shapes[i].bytes == 0)
      continue;
    if (fact.begin == 0)
      fail(i, "is a null pointer");
    if (fact.begin % shapes[i].elementBytes != 0)
      fail(i, "is not aligned to its elements of " + std::to_string(shapes[i].elementBytes) +
                  " bytes");
    if (shapes[i].written && !fact.contiguous)
      requireNoSelfOverlap(i, fact);
    if (work < fact.end && fact.begin < work + bytes)
      fail(i, "overlaps the workspace");
    for (unsigned j = 0; j < i; ++j)
      if (shapes[i].written || shapes[j].written)
        requireApart(j, i, facts);
  }
}

} // namespace eider::detail
