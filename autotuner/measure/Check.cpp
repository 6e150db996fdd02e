//===- measure/Check.cpp - Is a candidate right? --------------------------===//
//
// Part of Eider, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//
#include "autotuner/measure/Check.h"

#include "runtime/contract/Contract.h"

#include <algorithm>
#include <bit>
#include <charconv>
#include <cmath>
#include <cstdlib>
#include <cstring>
#include <limits>
#include <numeric>
#include <set>

namespace eider::tuning {

//===-- Rows of the reference ---------------------------------------------===//

namespace {

/// The rows that one entry along an axis of extent `expression` covers: 1 for `tokens`, 128 for
/// `ceildiv(tokens, 128)`; 0 for anything else.
int64_t rowsCovered(const std::string &expression, const std::string &dim) {
  if (expression == dim)
    return 1;
  const std::string begin = "ceildiv(" + dim + ", ";
  if (!expression.starts_with(begin) || !expression.ends_with(")"))
    return 0;
  int64_t rows = 0;
  const char *from = expression.data() + begin.size(),
             *to = expression.data() + expression.size() - 1;
  auto [end, error] = std::from_chars(from, to, rows);
  return error == std::errc() && end == to ? rows : 0;
}

bool mentions(const std::vector<std::string> &shape, const std::string &dim) {
  return std::ranges::any_of(shape, [&](const std::string &expression) {
    return expression.find(dim) != std::string::npos;
  });
}

/// The rows that an entry of the first axis covers, if rows are the first axis and no other; 0
/// else.
int64_t rowsOfEntry(const std::vector<std::string> &shape, const std::string &dim) {
  if (shape.empty() || mentions({shape.begin() + 1, shape.end()}, dim))
    return 0;
  return rowsCovered(shape[0], dim);
}

} // namespace

RowPlan planRows(const Signature &signature, const std::vector<std::string> &fixed) {
  RowPlan plan;
  if (signature.countsRows)
    return plan;
  for (const Signature::NamedDim &dim : signature.dims)
    if (std::ranges::find(fixed, dim.name) == fixed.end()) {
      if (!plan.dim.empty())
        return {};
      plan.dim = dim.name;
    }
  if (plan.dim.empty())
    return {};
  for (const Signature::Tensor &tensor : signature.tensors) {
    const int64_t rows = rowsOfEntry(tensor.shape, plan.dim);
    const bool free = tensor.role == Signature::Role::Input && !mentions(tensor.shape, plan.dim);
    if (!rows && !free)
      return {};
    plan.block = std::lcm(plan.block, std::max<int64_t>(rows, 1));
  }
  return plan;
}

std::vector<std::pair<int64_t, int64_t>> sampledRows(int64_t rows, int64_t block, int64_t width) {
  constexpr int64_t elements = 1 << 17; // what the reference does in about a tenth of a second
  const int64_t blocks = (rows + block - 1) / block;
  const int64_t most = std::max<int64_t>(3, elements / std::max<int64_t>(1, block * width));
  std::set<int64_t> chosen;
  if (blocks <= most) {
    for (int64_t i = 0; i < blocks; ++i)
      chosen.insert(i);
  } else {
    chosen = {0, blocks - 2, blocks - 1};
    for (int64_t i = 1; i + 2 < most; ++i) // spread over the rest
      chosen.insert(i * (blocks - 1) / (most - 2));
  }
  std::vector<std::pair<int64_t, int64_t>> ranges;
  for (int64_t i : chosen)
    ranges.push_back({i * block, std::min(rows, (i + 1) * block)});
  return ranges;
}

namespace {

HostTensor gather(const Device &device, const Tensors::Tensor &tensor, const void *memory,
                  const RowPlan &plan, const std::vector<std::pair<int64_t, int64_t>> &ranges) {
  HostTensor host{tensor.name, tensor.dtype, tensor.shape, {}};
  const int64_t each = plan.dim.empty() ? 0 : rowsOfEntry(tensor.extents, plan.dim);
  if (!each) {
    host.data.resize(tensor.bytes);
    device.download(host.data.data(), memory, tensor.bytes);
    return host;
  }
  const size_t entry = tensor.bytes / static_cast<size_t>(std::max<int64_t>(1, tensor.shape[0]));
  host.shape[0] = 0;
  for (auto [first, last] : ranges) {
    const int64_t from = first / each, to = (last + each - 1) / each;
    const size_t at = host.data.size(), bytes = static_cast<size_t>(to - from) * entry;
    host.data.resize(at + bytes);
    device.download(host.data.data() + at,
                    static_cast<const std::byte *>(memory) + static_cast<size_t>(from) * entry,
                    bytes);
    host.shape[0] += to - from;
  }
  return host;
}

/// Of ends of groups of rows, how many rows that were taken are before them.
void countTaken(HostTensor &ends, const std::vector<std::pair<int64_t, int64_t>> &ranges) {
  const size_t width = sizeOf(ends.dtype);
  for (size_t at = 0; at < ends.data.size(); at += width) {
    int64_t end = 0, taken = 0; // of what bench/measure/Data.h makes, none is negative
    std::memcpy(&end, &ends.data[at], width);
    for (auto [first, last] : ranges)
      taken += std::clamp(end, first, last) - first;
    std::memcpy(&ends.data[at], &taken, width);
  }
}

} // namespace

Sample takeSample(const Device &device, const Tensors &tensors, const RowPlan &plan,
                  const Dims &dims) {
  std::vector<std::pair<int64_t, int64_t>> ranges;
  if (!plan.dim.empty()) {
    const int64_t rows = dims.at(plan.dim);
    size_t widest = 1;
    for (const Tensors::Tensor &tensor : tensors.all())
      if (rowsOfEntry(tensor.extents, plan.dim) == 1)
        widest = std::max(widest, tensor.bytes / sizeOf(tensor.dtype) /
                                      static_cast<size_t>(std::max<int64_t>(rows, 1)));
    ranges = sampledRows(rows, plan.block, static_cast<int64_t>(widest));
  }
  Sample sample;
  for (const Tensors::Tensor &tensor : tensors.all()) {
    if (tensor.pristine)
      sample.inputs.push_back(gather(device, tensor, tensor.pristine, plan, ranges));
    if (tensor.endsGroups && !plan.dim.empty())
      countTaken(sample.inputs.back(), ranges);
    if (tensor.checked)
      sample.outputs.push_back(gather(device, tensor, tensor.checked, plan, ranges));
  }
  return sample;
}

//===-- One schedule against another --------------------------------------===//

Allowed allowedOf(DType type, const Comparison &reference, Bound bound) {
  if (reference.exact)
    return {};
  constexpr double most = std::numeric_limits<float>::max();
  const double of = bound == Bound::Least ? reference.leastBound : reference.mostBound;
  const auto distance = static_cast<float>(std::min(2 * of, most));
  switch (type) {
  case DType::bf16:
  case DType::f16:
    return {2, distance};
  case DType::f32:
    return {32, distance}; // twice the bound on scales against the reference
  default:
    return {sizeOf(type) == 1 ? 1 : 32, 0}; // a code's tie that falls the other way; words of such
  }
}

namespace {

/// Neighbouring values of a float type of so many bits are neighbouring integers.
int64_t ordered(uint32_t bits, int width) {
  const int64_t sign = int64_t(1) << (width - 1), value = bits & (2 * sign - 1);
  return value & sign ? -(value & (sign - 1)) : value;
}

/// The value of an f32, a bf16 or an f16.
float valueOf(DType type, uint32_t bits) {
  if (type != DType::f16)
    return std::bit_cast<float>(type == DType::bf16 ? bits << 16 : bits);
  const auto exponent = static_cast<int>(bits >> 10 & 31), significand = int(bits & 1023);
  if (exponent == 31)
    return significand ? NAN : bits & 0x8000 ? -INFINITY : INFINITY;
  const auto magnitude = static_cast<float>(exponent ? std::ldexp(1024 + significand, exponent - 25)
                                                     : std::ldexp(significand, -24));
  return bits & 0x8000 ? -magnitude : magnitude;
}

/// Whether one of the elements in a unit of memory, each of `width` bits, is further off.
template <class Bits>
bool isFurther(DType type, Bits a, Bits b, int width, const Allowed &allowed) {
  for (int at = 0; at < static_cast<int>(8 * sizeof(Bits)); at += width) {
    if (std::abs(ordered(a >> at, width) - ordered(b >> at, width)) <= allowed.steps)
      continue;
    if (allowed.distance == 0 || valueOf(type, b) == 0 ||
        !(std::abs(valueOf(type, a) - valueOf(type, b)) <= allowed.distance))
      return true;
  }
  return false;
}

template <class Bits>
bool differs(const Tensors::Tensor &tensor, int64_t elements, const Allowed &allowed) {
  const int width = static_cast<int>(8 * sizeof(Bits)) / packingOf(tensor.dtype);
  const auto *left = static_cast<const Bits *>(tensor.checked);
  const auto *right = static_cast<const Bits *>(tensor.golden);
  for (int64_t i = 0; i < elements; ++i)
    if (left[i] != right[i] &&
        (allowed.steps == 0 || isFurther(tensor.dtype, left[i], right[i], width, allowed)))
      return true;
  return false;
}

bool differsOnHost(const Tensors::Tensor &tensor, int64_t elements, const Allowed &allowed) {
  switch (sizeOf(tensor.dtype)) {
  case 1:
    return differs<uint8_t>(tensor, elements, allowed);
  case 2:
    return differs<uint16_t>(tensor, elements, allowed);
  case 4:
    return differs<uint32_t>(tensor, elements, allowed);
  default:
    return std::memcmp(tensor.checked, tensor.golden, tensor.bytes) != 0;
  }
}

/// The same for a GPU. BITS is the unsigned integer of a unit's size, WIDTH an element's bits,
/// VALUE the float that `bits` are. The distance is given as its bits.
constexpr const char *deviceText =
    R"(// Do two tensors differ by more than some representable values, and some distance?
__device__ long long ordered(unsigned int bits) {
  const long long sign = 1ll << (WIDTH - 1), value = bits & (2 * sign - 1);
  return value & sign ? -(value & (sign - 1)) : value;
}

__device__ float value(unsigned int bits) { return VALUE; }

__device__ bool isFurther(BITS a, BITS b, long long steps, float distance) {
  bool found = false;
  for (int at = 0; at < int(8 * sizeof(BITS)); at += WIDTH) {
    const long long between = ordered(a >> at) - ordered(b >> at);
    found |= (between > steps || between < -steps) &&
             (distance == 0 || value(b) == 0 || !(fabsf(value(a) - value(b)) <= distance));
  }
  return found;
}

extern "C" __global__ __launch_bounds__(256) void differences(const BITS *a, const BITS *b, int *flag,
                                                              long long elements, long long steps,
                                                              long long distance) {
  const long long stride = 256ll * gridDim.x;
  bool found = false;
  for (long long i = 256ll * blockIdx.x + threadIdx.x; i < elements; i += stride)
    found |= a[i] != b[i] && (steps == 0 || isFurther(a[i], b[i], steps, __int_as_float(distance)));
  if (found)
    *flag = 1; // whoever writes, writes the same
}
)";

/// A float out of its `bits`; of what is never compared by distance, anything.
const char *valueText(DType type) {
  switch (type) {
  case DType::f32:
    return "__uint_as_float(bits)";
  case DType::bf16:
    return "__uint_as_float(bits << 16)";
  case DType::f16:
    return "[](unsigned short half) { float f; asm(\"cvt.f32.f16 %0, %1;\" : \"=f\"(f) : "
           "\"h\"(half)); return f; }(bits)";
  default:
    return "0";
  }
}

contract::Contract differencesContract(const std::string &target, DType type) {
  const size_t elementSize = sizeOf(type);
  using namespace contract;
  constexpr DType types[] = {DType::u8, DType::u8, DType::bf16, DType::u8, DType::f32};
  constexpr const char *names[] = {"", "unsigned char", "unsigned short", "", "unsigned int"};
  Contract contract;
  contract.name = "differences";
  contract.target = target;
  contract.dims = {{"elements", std::nullopt}, {"steps", std::nullopt}, {"distance", std::nullopt}};
  contract.tensors = {{"a", Role::Input, types[elementSize], {"elements"}},
                      {"b", Role::Input, types[elementSize], {"elements"}},
                      {"flag", Role::Output, DType::i32, {"1"}}};
  Variant variant;
  variant.name = "general";
  for (unsigned tensor = 0; tensor < 3; ++tensor) {
    Predicate predicate;
    predicate.kind = Predicate::Kind::UnitStride;
    predicate.tensor = tensor;
    variant.predicates.push_back(predicate);
  }
  variant.source = deviceText;
  const auto replace = [&](const std::string &word, const std::string &by) {
    for (size_t at; (at = variant.source.find(word)) != std::string::npos;)
      variant.source.replace(at, word.size(), by);
  };
  replace("BITS", names[elementSize]);
  replace("VALUE", valueText(type));
  replace("WIDTH", std::to_string(8 * elementSize / packingOf(type)));
  Launch launch;
  launch.entry = "differences";
  launch.block = 256;
  launch.grid = "min(ceildiv(elements, 2048), 8192)";
  for (unsigned tensor = 0; tensor < 3; ++tensor) {
    Parameter parameter;
    parameter.index = tensor;
    launch.parameters.push_back(parameter);
  }
  for (const char *dim : {"elements", "steps", "distance"}) {
    Parameter parameter;
    parameter.kind = Parameter::Kind::Dim;
    parameter.dim = dim;
    launch.parameters.push_back(parameter);
  }
  variant.launches.push_back(launch);
  contract.variants.push_back(variant);
  return contract;
}

} // namespace

Differences::Differences(const Device &device) : device(device) {
  flag = device.allocate(sizeof(int));
}

Differences::~Differences() {
  try {
    device.free(flag);
  } catch (const Error &) {
    // The device is lost.
  }
}

bool Differences::any(const Tensors::Tensor &tensor, const Allowed &allowed) {
  const auto elements = static_cast<int64_t>(tensor.bytes / sizeOf(tensor.dtype));
  if (device.isHost())
    return differsOnHost(tensor, elements, allowed);
  const size_t size = sizeOf(tensor.dtype);
  if (size > 4)
    throw Error(ErrorKind::Request, "outputs of 8 bytes an element are not compared",
                "tensor '" + tensor.name + "'");
  device.fill(flag, 0, sizeof(int));
  const Kernel kernel = device.load(
      {"differences", contract::write(differencesContract(device.target(), tensor.dtype))});
  const Dims dims = {{"elements", elements},
                     {"steps", allowed.steps},
                     {"distance", std::bit_cast<int32_t>(allowed.distance)}};
  const TensorArg arguments[] = {{tensor.checked}, {tensor.golden}, {flag}};
  kernel.prepare(dims).launch({}, arguments);
  int found = 0;
  device.download(&found, flag, sizeof(found));
  return found != 0;
}

} // namespace eider::tuning
