//===- FarTest.cpp - Rows that are far apart ------------------------------===//
//
// Part of Eider, under the Apache License v2.0.
//
// Offsets beyond 2^31 elements and 2^32 bytes, on the simulator: memory that nothing touches costs
// nothing. tests/gpu/large has the tensors that are full.
//
//===----------------------------------------------------------------------===//
#include "tests/points/Points.h"

#include "eider/jit.h"
#include "tests/matrix/Cell.h"

#include <algorithm>
#include <cstring>
#include <gmock/gmock.h>
#include <set>
#include <sys/mman.h>

using namespace eider;
using namespace eider::at_points;

namespace {
/// Address space of which only what is touched becomes memory.
class Space {
public:
  explicit Space(size_t bytes) : bytes(bytes) {
    void *pointer = mmap(nullptr, bytes, PROT_READ | PROT_WRITE,
                         MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (pointer == MAP_FAILED)
      throw Error(ErrorKind::Machine, "so much address space cannot be had", std::strerror(errno));
    begin = static_cast<std::byte *>(pointer);
  }
  ~Space() { munmap(begin, bytes); }
  Space(const Space &) = delete;
  Space &operator=(const Space &) = delete;

  std::byte *begin;

private:
  size_t bytes;
};

/// A tensor whose rows begin `pitch` elements apart.
class FarTensor {
public:
  FarTensor(DType dtype, const std::vector<int64_t> &shape, int64_t pitch)
      : shape(shape), rows(shape.size() > 1 ? shape[0] : 1), strides{pitch, 1},
        rowBytes(sizeOf(dtype) * static_cast<size_t>(shape.back())),
        pitchBytes(sizeOf(dtype) * static_cast<size_t>(pitch)),
        space(static_cast<size_t>(rows) * pitchBytes + rowBytes) {}

  void put(const HostTensor &tensor) {
    for (int64_t row = 0; row < rows; ++row)
      std::memcpy(at(row), tensor.data.data() + static_cast<size_t>(row) * rowBytes, rowBytes);
  }
  HostTensor get(const std::string &name, DType dtype) const {
    HostTensor tensor{name, dtype, shape, {}};
    for (int64_t row = 0; row < rows; ++row)
      tensor.data.insert(tensor.data.end(), at(row), at(row) + rowBytes);
    return tensor;
  }
  TensorArg contiguous() const { return {space.begin}; }
  TensorArg strided() const {
    return shape.size() == 2 ? TensorArg{space.begin, strides} : contiguous();
  }

private:
  std::byte *at(int64_t row) const { return space.begin + static_cast<size_t>(row) * pitchBytes; }

  std::vector<int64_t> shape;
  int64_t rows;
  std::vector<int64_t> strides;
  size_t rowBytes, pitchBytes;
  Space space;
};

using Tensors = std::vector<std::unique_ptr<FarTensor>>;

const HostTensor *find(const matrix::Case &given, const std::string &name) {
  const auto found = std::ranges::find(given.inputs, name, &HostTensor::name);
  return found == given.inputs.end() ? nullptr : &*found;
}

/// The case's tensors, as far apart as `pitchOf` says.
template <class PitchOf> Tensors place(const matrix::Case &given, PitchOf pitchOf) {
  Tensors tensors;
  for (const Signature::Tensor &tensor : given.program.signature().tensors) {
    std::vector<int64_t> shape;
    for (const std::string &extent : tensor.shape)
      shape.push_back(matrix::extentOf(extent, given.dims));
    tensors.push_back(std::make_unique<FarTensor>(tensor.dtype, shape, pitchOf(tensor, shape)));
    if (const HostTensor *data = find(given, tensor.name))
      tensors.back()->put(*data);
  }
  return tensors;
}

/// Launches and compares with the reference on `given`.
void expectReference(const matrix::Case &given, const Tensors &tensors, const Dims &dims,
                     const std::vector<TensorArg> &arguments) {
  const Device device = Device::open("host");
  const Kernel kernel = jit(given.program, device, {{"hidden", dims.at("hidden")}});
  const Call call = kernel.prepare(dims, arguments);
  std::vector<std::byte> workspace(call.workspace_bytes() + 256);
  auto address = (reinterpret_cast<uintptr_t>(workspace.data()) + 255) / 256 * 256;
  call.launch({}, arguments, {}, reinterpret_cast<void *>(address));
  std::vector<HostTensor> outputs;
  const std::vector<Signature::Tensor> &all = given.program.signature().tensors;
  for (size_t i = 0; i < all.size(); ++i)
    if (all[i].role != Signature::Role::Input)
      outputs.push_back(tensors[i]->get(all[i].name, all[i].dtype));
  for (const Comparison &comparison : compare(given.program, given.inputs, outputs))
    EXPECT_EQ(comparison.wrong, 0) << given.program.name() << ": " << comparison.firstWrong;
}

/// Two rows are 2^31 elements apart and more: under any row stride.
void expectFarRows(const Point &point) {
  const matrix::Case given = caseOf(point);
  const Tensors tensors =
      place(given, [](const auto &, const auto &) { return (int64_t(1) << 31) + 129; });
  std::vector<TensorArg> arguments;
  for (const auto &tensor : tensors)
    arguments.push_back(tensor->strided());
  expectReference(given, tensors, given.dims, arguments);
}

/// Indices choose rows of matrices of more than 2^32 elements that lie without gaps.
void expectFarChoices(const Point &point) {
  constexpr int64_t step = 2'000'003;
  matrix::Case given = caseOf(point);
  std::set<std::string> far; // the dims
  for (const Signature::Tensor &tensor : given.program.signature().tensors)
    if (!tensor.choosesFrom.empty())
      far.insert(tensor.choosesFrom);
  Dims dims = given.dims;
  for (const std::string &name : far)
    dims[name] = (dims[name] - 1) * step + 1;
  const matrix::Case small = given; // what the reference sees
  for (const Signature::Tensor &tensor : given.program.signature().tensors) {
    if (tensor.choosesFrom.empty())
      continue;
    auto &data = std::ranges::find(given.inputs, tensor.name, &HostTensor::name)->data;
    for (size_t at = 0; at < data.size(); at += sizeof(int64_t)) {
      int64_t row = 0;
      std::memcpy(&row, &data[at], sizeof row);
      if (row >= 0 && row <= small.dims.at(tensor.choosesFrom))
        row *= step;
      std::memcpy(&data[at], &row, sizeof row);
    }
  }
  const Tensors tensors = place(given, [&](const Signature::Tensor &tensor, const auto &shape) {
    return far.contains(tensor.shape[0]) ? step * shape.back() : shape.back();
  });
  std::vector<TensorArg> arguments;
  for (const auto &tensor : tensors)
    arguments.push_back(tensor->contiguous());
  expectReference(small, tensors, dims, arguments);
}

Dims rows(int64_t hidden) { return {{"tokens", 3}, {"hidden", hidden}}; }

Dims choices(const char *from, int64_t hidden) {
  return {{"tokens", 5}, {"hidden", hidden}, {from, 7}};
}

/// Skips where there is no such address space, or no compiler.
void expectEach(const std::vector<Point> &points, void (*expect)(const Point &)) {
  try {
    for (const Point &point : points)
      expect(point);
  } catch (const Error &error) {
    if (error.kind() != ErrorKind::Machine)
      throw;
    GTEST_SKIP() << error.what();
  }
}
} // namespace

TEST(Far, RowsOfAnyStride) {
  std::vector<Point> points;
  for (const char *block : {"1x128", "1x*", "128x128", "*x*"})
    points.push_back({.op = "quantize", .parameters = {.block = block}, .dims = rows(200)});
  for (const char *op : {"dequantize", "requantize", "add_rms_norm_quant", "layer_norm_quant",
                         "softmax", "silu_mul_quant", "gelu_bias_quant", "cast_transpose"})
    points.push_back({.op = op, .dims = rows(136)});
  points.push_back({.op = "rope_quant", .dims = rows(256)});
  points.back().dims["max_position"] = 9;
  expectEach(points, expectFarRows);
}

TEST(Far, RowsThatIndicesChoose) {
  std::vector<Point> points = {{.op = "embedding", .dims = choices("vocabulary", 512)},
                               {.op = "moe_permute_quant", .dims = choices("sources", 512)},
                               {.op = "moe_unpermute", .dims = choices("permuted", 512)},
                               {.op = "kv_append", .dims = choices("slots", 512)}};
  points.back().dims["max_position"] = 5;
  expectEach(points, expectFarChoices);
}
