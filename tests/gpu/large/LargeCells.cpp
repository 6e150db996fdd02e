//===- LargeCells.cpp - Programs on tensors beyond 2^31 elements ----------===//
//
// Part of Eider, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//
#include "tests/gpu/large/LargeCells.h"

#include "tests/matrix/Cell.h"
#include "tests/matrix/Values.h"

#include <algorithm>
#include <cstring>
#include <set>

using namespace eider;
using namespace eider::large;

namespace {
/// A prime: what is taken from a power of two too far away is never the same.
constexpr int64_t longPeriod = 61;
constexpr int64_t shortPeriod = 3; // of few units

/// How an op is told to be large.
struct Request {
  std::string op;
  OpParameters parameters = {};
  Dims dims;
  std::vector<std::string> along = {"tokens"};
  int64_t unitExtent = 1, times = 1, padding = 0;
  std::string schedule = {};
};

std::vector<int64_t> shapeOf(const Signature::Tensor &tensor, const Dims &dims) {
  std::vector<int64_t> shape;
  for (const std::string &extent : tensor.shape)
    shape.push_back(matrix::extentOf(extent, dims));
  return shape;
}

int64_t product(const std::vector<int64_t> &shape, size_t from, size_t to) {
  int64_t count = 1;
  for (size_t axis = from; axis < to; ++axis)
    count *= shape[axis];
  return count;
}

/// The axis along which a tensor grows; its rank if it does not.
size_t longAxis(const LargeCell &cell, const Signature::Tensor &tensor) {
  const std::vector<int64_t> one = shapeOf(tensor, cell.dimsOf(1)),
                             two = shapeOf(tensor, cell.dimsOf(2));
  return static_cast<size_t>(std::ranges::mismatch(one, two).in1 - one.begin());
}

/// Of `units` units. What does not grow is one.
Runs runsOf(const LargeCell &cell, const Signature::Tensor &tensor, int64_t units) {
  const std::vector<int64_t> one = shapeOf(tensor, cell.dimsOf(1));
  const size_t axis = longAxis(cell, tensor), element = sizeOf(tensor.dtype);
  if (axis == one.size())
    return {1, 1, static_cast<size_t>(product(one, 0, axis)) * element, 0};
  const bool isPadded = axis == 0 && one.size() == 2;
  return {product(one, 0, axis), units,
          static_cast<size_t>(product(one, axis, one.size())) * element,
          isPadded ? static_cast<size_t>(cell.padding) * element : 0};
}

LargeCell cellOf(const Request &request, const LargeSize &size) {
  LargeCell cell{request.op, libraryOp(request.op, request.parameters), request.dims, request.along,
                 request.unitExtent};
  cell.padding = request.padding;
  cell.schedule = request.schedule;
  const std::vector<Signature::Tensor> &tensors = cell.program.signature().tensors;
  const auto y = std::ranges::find_if(tensors, [](const Signature::Tensor &tensor) {
    return tensor.name == "y" || tensor.name == "k_cache";
  });
  const Runs runs = runsOf(cell, *y, 1);
  const auto each = runs.outer * static_cast<int64_t>(runs.unitBytes / sizeOf(y->dtype));
  // A thirtieth more than asked for, and no multiple of anything.
  cell.units = request.times * (size.elements + size.elements / 30) / each + 2;
  cell.period = cell.units > 4 * longPeriod ? longPeriod : shortPeriod;
  for (const auto &[name, extent] : cell.dimsOf(cell.units))
    cell.name += " " + name + "=" + std::to_string(extent);
  for (const std::string &parameter : {request.parameters.block, request.parameters.scale})
    cell.name += parameter.empty() ? "" : " " + parameter;
  cell.name += request.padding ? " strided" : "";
  cell.name += request.schedule.empty() ? "" : " " + request.schedule;
  return cell;
}

/// Doubles the largest magnitude of all, in the last unit: the scale of everything comes from the
/// tensor's end. The elements are bf16, none of them NaN.
void raiseTheEnd(std::vector<std::byte> &pattern, size_t unitBytes) {
  uint16_t largest = 0, bits = 0;
  for (size_t at = 0; at < pattern.size(); at += sizeof bits) {
    std::memcpy(&bits, &pattern[at], sizeof bits);
    largest = std::max<uint16_t>(largest, bits & 0x7fff);
  }
  largest += 1 << 7; // the exponent's lowest bit
  std::memcpy(&pattern[pattern.size() - unitBytes], &largest, sizeof largest);
}
} // namespace

Dims LargeCell::dimsOf(int64_t count) const {
  Dims all = dims;
  for (const std::string &name : along)
    all[name] = count * unitExtent;
  return all;
}

std::vector<LargeCell> large::largeCells(const LargeSize &size) {
  const auto wide = [&](int64_t columns) {
    return Dims{{"hidden", std::min(columns, size.width)}};
  };
  const OpParameters whole = {.block = "*x*"}, rows = {.block = "1x*"},
                     squares = {.block = "128x128"};
  const std::vector<std::string> columns = {"hidden"};
  const Request requests[] = {
      {.op = "quantize", .dims = wide(8192), .times = 2},
      {.op = "quantize", .dims = {{"tokens", 5}}, .along = columns, .unitExtent = 128},
      {.op = "quantize", .parameters = whole, .dims = wide(8192)},
      {.op = "quantize", .parameters = squares, .dims = wide(256), .unitExtent = 128},
      // More rows than 32 bits count.
      {.op = "quantize", .parameters = {.block = "1x*", .scale = "e8m0"}, .dims = {{"hidden", 1}}},
      {.op = "dequantize", .dims = wide(8192)},
      {.op = "dequantize", .dims = {{"tokens", 3}}, .along = columns, .unitExtent = 128},
      {.op = "add_rms_norm_quant", .dims = wide(8192)},
      {.op = "rms_norm_quant", .parameters = rows, .dims = wide(4096), .padding = 24},
      {.op = "silu_mul_quant", .dims = wide(8192)},
      {.op = "cast_transpose", .dims = wide(256), .unitExtent = 128},
      {.op = "cast_transpose", .dims = {{"tokens", 256}}, .along = columns, .unitExtent = 128},
      {.op = "softmax", .dims = wide(65536)},
      // Blocks that exchange sums twice a row, beside so many that their accesses queue.
      {.op = "layer_norm",
       .dims = wide(16384),
       .schedule = size.width < 16384
                       ? "row<threads = 32, vector = 4, cluster = 2>"
                       : "row<threads = 128, vector = 8, resident = 8, cluster = 4>"},
      {.op = "embedding", .dims = wide(8192), .along = {"tokens", "vocabulary"}},
      {.op = "moe_permute_quant", .dims = wide(8192), .along = {"tokens", "sources"}},
      {.op = "kv_append", .dims = wide(1024), .along = {"tokens", "slots", "max_position"}}};
  std::vector<LargeCell> cells;
  for (const Request &request : requests)
    cells.push_back(cellOf(request, size));
  return cells;
}

//===-- Tensors -----------------------------------------------------------===//

size_t LargeTensors::bytesFor(const LargeCell &cell) {
  size_t bytes = 0;
  for (const Signature::Tensor &tensor : cell.program.signature().tensors)
    bytes += runsOf(cell, tensor, cell.units).bytes();
  return bytes;
}

LargeTensors::LargeTensors(const LargeCell &cell, const Device &device)
    : cell(cell), signature(cell.program.signature()), patterns(signature.tensors.size()) {
  for (size_t i = 0; i < signature.tensors.size(); ++i) {
    const Signature::Tensor &tensor = signature.tensors[i];
    const Runs runs = runsOf(cell, tensor, cell.units);
    std::vector<int64_t> strides;
    if (runs.gap)
      strides = {static_cast<int64_t>(runs.pitch() / sizeOf(tensor.dtype)), 1};
    tensors.push_back(std::make_unique<LongTensor>(device, runs, std::move(strides)));
    if (tensor.role != Signature::Role::Output)
      fill(i);
  }
}

bool LargeTensors::isOutput(size_t i) const {
  return signature.tensors[i].role != Signature::Role::Input;
}

/// Which unit an index chooses: the units before the last in reverse, the last itself.
int64_t LargeTensors::mirrored(int64_t unit) const {
  return unit == cell.units - 1 ? unit : cell.units - 2 - unit;
}

void LargeTensors::fill(size_t i) {
  const Signature::Tensor &tensor = signature.tensors[i];
  if (!tensor.choosesFrom.empty()) {
    std::vector<std::byte> chosen(static_cast<size_t>(cell.units) * sizeof(int64_t));
    for (int64_t unit = 0; unit < cell.units; ++unit) {
      const int64_t row = mirrored(unit);
      std::memcpy(&chosen[static_cast<size_t>(unit) * sizeof row], &row, sizeof row);
    }
    return tensors[i]->upload(chosen);
  }
  matrix::ValueSource values("normal", i + 1);
  const std::vector<int64_t> shape = shapeOf(tensor, cell.dimsOf(cell.period + 1));
  patterns[i] = (tensor.name.ends_with("_scale") ? values.scales(tensor.name, tensor.dtype, shape)
                                                 : values.tensor(tensor.name, tensor.dtype, shape))
                    .data;
  const bool grows = longAxis(cell, tensor) < shape.size();
  if (grows && std::ranges::any_of(signature.tensors, [](const Signature::Tensor &other) {
        return other.name == "y_scale" && other.shape == std::vector<std::string>{"1", "1"};
      }))
    raiseTheEnd(patterns[i], tensors[i]->layout().unitBytes);
  if (grows)
    tensors[i]->repeat(patterns[i], cell.period);
  else
    tensors[i]->upload(patterns[i]);
}

std::vector<TensorArg> LargeTensors::arguments() const {
  std::vector<TensorArg> arguments;
  for (const auto &tensor : tensors)
    arguments.push_back(tensor->argument());
  return arguments;
}

/// The first and the last, those where any tensor passes the limit or twice it, and the units that
/// an index chooses for them.
std::vector<int64_t> LargeTensors::unitsFor(int64_t limit) const {
  std::set<int64_t> chosen = {0, 1, cell.units - 2, cell.units - 1};
  for (size_t i = 0; i < tensors.size(); ++i) {
    const Runs &runs = tensors[i]->layout();
    for (int64_t bytes :
         {limit, 2 * limit, limit * static_cast<int64_t>(sizeOf(signature.tensors[i].dtype))})
      if (runs.units > 1 && static_cast<size_t>(bytes) < runs.bytes()) {
        const int64_t at = bytes / static_cast<int64_t>(runs.pitch()) % runs.units;
        chosen.insert({std::max<int64_t>(at - 1, 0), at});
      }
  }
  const std::vector<int64_t> direct(chosen.begin(), chosen.end());
  for (int64_t unit : direct)
    chosen.insert(mirrored(unit));
  return {chosen.begin(), chosen.end()};
}

HostTensor LargeTensors::windowOf(size_t i, const std::vector<int64_t> &units,
                                  std::vector<std::byte> data) const {
  const Signature::Tensor &tensor = signature.tensors[i];
  return {tensor.name, tensor.dtype,
          shapeOf(tensor, cell.dimsOf(static_cast<int64_t>(units.size()))), std::move(data)};
}

/// An input's units, as they were before the launch.
std::vector<std::byte> LargeTensors::inputOf(size_t i, const std::vector<int64_t> &units) const {
  std::vector<std::byte> data;
  if (!signature.tensors[i].choosesFrom.empty()) {
    for (int64_t unit : units) {
      const int64_t row = std::ranges::find(units, mirrored(unit)) - units.begin();
      const auto *bytes = reinterpret_cast<const std::byte *>(&row);
      data.insert(data.end(), bytes, bytes + sizeof row);
    }
    return data;
  }
  const Runs &runs = tensors[i]->layout();
  if (runs.units == 1)
    return patterns[i];
  for (int64_t run = 0; run < runs.outer; ++run)
    for (int64_t unit : units) {
      const int64_t inPattern = unit == cell.units - 1 ? cell.period : unit % cell.period;
      const auto at = patterns[i].begin() +
                      (run * (cell.period + 1) + inPattern) * static_cast<int64_t>(runs.unitBytes);
      data.insert(data.end(), at, at + static_cast<int64_t>(runs.unitBytes));
    }
  return data;
}

std::string LargeTensors::judge(int64_t limit) const {
  const std::vector<int64_t> units = unitsFor(limit);
  std::vector<HostTensor> inputs, outputs;
  for (size_t i = 0; i < tensors.size(); ++i) {
    const std::string found =
        isOutput(i) ? tensors[i]->deviation(cell.period) : tensors[i]->writtenOutside();
    if (!found.empty())
      return signature.tensors[i].name + ": " + found;
    if (signature.tensors[i].role != Signature::Role::Output)
      inputs.push_back(windowOf(i, units, inputOf(i, units)));
    if (isOutput(i)) {
      const bool grows = tensors[i]->layout().units > 1;
      outputs.push_back(
          windowOf(i, units, tensors[i]->gather(grows ? units : std::vector<int64_t>{0})));
    }
  }
  for (const Comparison &comparison : compare(cell.program, inputs, outputs))
    if (comparison.wrong)
      return std::to_string(comparison.wrong) + " wrong, first " + comparison.firstWrong;
  return "";
}

void LargeTensors::spoil(const std::string &what) const {
  for (size_t i = tensors.size(); i-- > 0;)
    if (isOutput(i) && tensors[i]->layout().units > 1 &&
        sizeOf(signature.tensors[i].dtype) < sizeof(float)) {
      const int64_t units = tensors[i]->layout().units;
      return tensors[i]->spoil(what == "outside" ? units : units / 2, what == "gap");
    }
}
