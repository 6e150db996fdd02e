//===- Cell.cpp - One cell of the test matrix -----------------------------===//
//
// Part of Eider, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//
#include "tests/matrix/Cell.h"

#include "tests/matrix/Values.h"

#include <algorithm>
#include <set>

using namespace eider;
using namespace eider::matrix;

static bool takes(const OpInfo &op, const char *parameter) {
  return std::find(op.parameters.begin(), op.parameters.end(), parameter) != op.parameters.end();
}

const std::vector<OpInfo> &matrix::ops() {
  static const std::vector<OpInfo> all = [] {
    std::vector<OpInfo> kept = libraryOps();
    // Indices, contractions and attention have tests of their own.
    std::erase_if(kept, [](const OpInfo &op) {
      return takes(op, "index") || op.name.ends_with("gemv") ||
             op.name.find("matmul") != std::string::npos || op.name.starts_with("attention_");
    });
    return kept;
  }();
  return all;
}

static std::vector<const char *> opNames() {
  std::vector<const char *> names;
  for (const OpInfo &op : ops())
    names.push_back(op.name.c_str());
  return names;
}

const std::array<AxisInfo, AxisCount> &matrix::axes() {
  static const std::array<AxisInfo, AxisCount> all = {{
      {"op", opNames()},
      {"dtype", {"bf16", "f16", "f32"}},
      {"format", {"e4m3", "e5m2", "e4m3fnuz", "e5m2fnuz", "e2m1"}},
      {"scale", {"f32", "bf16", "f16", "e8m0", "e4m3"}},
      {"block",
       {"1x16", "1x32", "1x64", "1x128", "1x256", "1x512", "1x*", "32x32", "128x128", "*x*"}},
      {"scale layout",
       {"row_major", "mn_major_aligned", "packed_ue8m0", "swizzled_128x4", "te_gemm_ready"}},
      {"codec", {"hardware", "software"}},
      {"source", {"dynamic", "static"}},
      {"numerics",
       {"default", "deepgemm", "tilekernels", "vllm_group", "vllm_token", "sglang_group",
        "trtllm_token", "te_current", "mx", "mx_ocp", "power_of_two=even", "power_of_two=floor",
        "power_of_two=ceil", "nan=ignore", "overflow=format", "arithmetic=reciprocal",
        "rounding=stochastic"}},
      {"width", {"1", "B-1", "B", "B+1", "4B", "odd", "wide"}},
      {"rows", {"0", "1", "R-1", "R", "R+1", "several"}},
      {"memory",
       {"few rows", "contiguous", "padded", "strided", "misaligned", "strided misaligned"}},
      {"values", {"normal", "specials", "tiny", "huge"}},
  }};
  return all;
}

std::string Cell::name() const {
  std::string name;
  for (size_t axis = 0; axis < AxisCount; ++axis)
    if (at[axis] != Unset)
      name += (name.empty() ? "" : " · ") + text(static_cast<Axis>(axis));
  return name;
}

Cell matrix::cellNamed(const std::string &name) {
  const std::string separator = " · ";
  Cell cell;
  size_t begin = 0;
  for (size_t axis = 0; axis < AxisCount; ++axis) {
    size_t end = std::min(name.find(separator, begin), name.size());
    const auto &values = axes()[axis].values;
    auto found = std::find(values.begin(), values.end(), name.substr(begin, end - begin));
    if (found == values.end())
      throw Error(ErrorKind::Request,
                  std::string("no ") + axes()[axis].name + " in the cell '" + name + "'", "matrix",
                  "give a name as a run prints it");
    cell.at[axis] = static_cast<int>(found - values.begin());
    begin = std::min(end + separator.size(), name.size());
  }
  return cell;
}

/// The axes of which an op takes nothing: each of its cells has their first value.
static std::vector<Axis> idleAxes(const OpInfo &op) {
  static constexpr std::pair<Axis, const char *> parameters[] = {
      {Axis::Format, "format"},     {Axis::Block, "block"},
      {Axis::Codec, "format"},      {Axis::Dtype, "dtype"},
      {Axis::Scale, "scale"},       {Axis::Source, "scaleSource"},
      {Axis::Numerics, "numerics"}, {Axis::ScaleLayout, "scaleLayout"}};
  std::vector<Axis> idle;
  for (auto [axis, parameter] : parameters)
    if (!takes(op, parameter))
      idle.push_back(axis);
  return idle;
}

/// Whether the axes of which the cell's op takes nothing are unset or have their first value.
static bool isIdleWhereItShould(const Cell &cell) {
  static const std::vector<std::vector<Axis>> idle = [] {
    std::vector<std::vector<Axis>> all;
    for (const OpInfo &op : ops())
      all.push_back(idleAxes(op));
    return all;
  }();
  return cell[Axis::Op] == Unset ||
         std::ranges::all_of(idle[cell[Axis::Op]], [&](Axis axis) { return cell[axis] <= 0; });
}

/// Whether the cell's scales can lie so.
static bool hasItsLayout(const Cell &cell) {
  const std::string layout = cell.text(Axis::ScaleLayout), scale = cell.text(Axis::Scale),
                    block = cell.text(Axis::Block);
  if (layout.empty() || layout == "row_major")
    return true;
  if (layout == "swizzled_128x4")
    return scale.empty() || scale == "e8m0" || scale == "e4m3";
  if (!scale.empty() && scale != (layout == "packed_ue8m0" ? "e8m0" : "f32"))
    return false;
  return layout != "te_gemm_ready" || block.empty() || block == "1x128" || block == "128x128";
}

/// Whether what the cell's op writes has a transpose: whole rows of that are columns, a square of
/// long groups fits no block of threads, two codes a byte are of a row of known width, and random
/// bits are of the matrix itself.
static bool hasTranspose(const Cell &cell) {
  return cell.text(Axis::Block) != "1x*" && cell.text(Axis::Block) != "1x512" &&
         !cell.text(Axis::Format).starts_with("e2m1") &&
         std::string(cell.text(Axis::Numerics)) != "rounding=stochastic";
}

bool matrix::isValid(const Cell &cell) {
  if (!isIdleWhereItShould(cell) || !hasItsLayout(cell))
    return false;
  if (cell.text(Axis::Op) == "cast_transpose" && !hasTranspose(cell))
    return false;
  std::string source = cell.text(Axis::Source), numerics = cell.text(Axis::Numerics),
              scale = cell.text(Axis::Scale);
  // No GPU has instructions for these.
  if (cell.text(Axis::Codec) == "hardware" && cell.text(Axis::Format).ends_with("fnuz"))
    return false;
  // What is multiplied with max/amax is not rounded as these scales are.
  bool overAmax =
      numerics == "tilekernels" || numerics == "sglang_group" || numerics == "trtllm_token";
  if ((overAmax && !scale.empty() && scale != "f32") ||
      (numerics == "te_current" && (scale == "bf16" || scale == "f16" || scale == "e4m3")))
    return false;
  // Scales of two levels are no powers of two, and f16 does not hold all of them.
  if ((scale == "e4m3" || scale == "f16") &&
      (numerics.starts_with("mx") || numerics.starts_with("power_of_two=")) && source != "static")
    return false;
  // A given scale has no amax, which these modes floor and divide by.
  bool needsAmax =
      overAmax || numerics == "vllm_token" || numerics == "vllm_group" || numerics == "te_current";
  return !(source == "static" && needsAmax);
}

bool matrix::isRepresentative(const Cell &cell) {
  static const std::set<std::string> ops = {
      "quantize",           "dequantize",       "requantize",    "rms_norm_quant",
      "add_rms_norm_quant", "layer_norm_quant", "silu_mul_quant"};
  return ops.contains(cell.text(Axis::Op)) || !takes(matrix::ops()[cell[Axis::Op]], "block");
}

//===-- From a cell to a case ---------------------------------------------===//

namespace {
struct BlockShape {
  int64_t rows, columns; ///< 128 columns and 8 rows stand for the whole extent.
};

BlockShape blockShape(const std::string &block) {
  if (block == "128x128" || block == "32x32")
    return {std::stoll(block), std::stoll(block)};
  std::string columns = block.substr(block.find('x') + 1);
  return {8, columns == "*" ? 128 : std::stoll(columns)};
}

int64_t widthOf(const std::string &width, int64_t block) {
  if (width == "1")
    return 1;
  if (width == "odd")
    return 2 * block + 37;
  if (width == "wide")
    return 4100; // wider than a warp's reach, no multiple of 8
  if (width == "4B")
    return 4 * block;
  return block + (width == "B-1" ? -1 : width == "B+1" ? 1 : 0);
}

int64_t rowsOf(const std::string &rows, int64_t block) {
  if (rows == "several")
    return block + 5 > 100 ? 2 * block + 5 : 37;
  if (rows == "0" || rows == "1")
    return rows == "1";
  return block + (rows == "R-1" ? -1 : rows == "R+1" ? 1 : 0);
}

Layout layoutOf(const std::string &memory) {
  Layout layout;
  if (memory == "padded")
    layout.padding = 16;
  if (memory.starts_with("strided"))
    layout.padding = 3;
  if (memory.ends_with("misaligned"))
    layout.shift = 1;
  return layout;
}

/// Of the codes that requantize reads: they have no axis, and go with the width.
const std::array<const char *, 7> sourceBlocks = {"1x128", "128x128", "1x*",  "*x*",
                                                  "1x32",  "1x256",   "1x512"};

/// Likewise, with the numerics. No GPU has instructions for the last two.
const char *sourceFormat(const Cell &cell) {
  static constexpr std::array<const char *, 5> formats = {"e5m2", "e4m3", "e2m1", "e4m3fnuz",
                                                          "e5m2fnuz"};
  const int count = cell.text(Axis::Codec) == "software" ? 5 : 3;
  return formats[static_cast<size_t>(cell[Axis::Numerics] % count)];
}

/// Likewise, with the rows and the numerics: types and layouts of their scales.
constexpr std::array<std::pair<const char *, const char *>, 8> sourceScales = {
    {{"f32", "row_major"},
     {"f32", "mn_major_aligned"},
     {"e8m0", "packed_ue8m0"},
     {"bf16", "row_major"},
     {"e4m3", "row_major"},
     {"e8m0", "swizzled_128x4"},
     {"f16", "row_major"},
     {"e4m3", "swizzled_128x4"}}};

OpParameters parametersOf(const Cell &cell) {
  const OpInfo &op = matrix::ops()[cell[Axis::Op]];
  OpParameters parameters;
  auto set = [&](const char *name, std::string &slot, const std::string &value) {
    if (takes(op, name))
      slot = value;
  };
  set("dtype", parameters.dtype, cell.text(Axis::Dtype));
  set("format", parameters.format, cell.text(Axis::Format));
  set("scale", parameters.scale, cell.text(Axis::Scale));
  set("block", parameters.block, cell.text(Axis::Block));
  set("scaleLayout", parameters.scaleLayout, cell.text(Axis::ScaleLayout));
  set("fromFormat", parameters.fromFormat, sourceFormat(cell));
  const size_t number = static_cast<size_t>(cell[Axis::Rows] + cell[Axis::Numerics]);
  const auto &[fromScale, fromLayout] = sourceScales[number % sourceScales.size()];
  set("fromScale", parameters.fromScale, fromScale);
  set("fromScaleLayout", parameters.fromScaleLayout, fromLayout);
  // Beside the axes: a copy with some of the widths.
  set("copy", parameters.copy, cell[Axis::Width] % 3 == 1 ? "bf16" : "none");
  // The largest magnitude with some of the rows.
  set("amax", parameters.amax, cell[Axis::Rows] % 3 == 1 ? "yes" : "no");
  // A transpose with others, and with the first, which is one column, of some rows.
  const bool isTurned =
      cell[Axis::Width] % 3 == 2 || (cell[Axis::Width] == 0 && cell.text(Axis::Rows) == "R+1");
  if (hasTranspose(cell) || !takes(op, "block"))
    set("transposed", parameters.transposed, isTurned ? "yes" : "no");
  // Groups that are read beside a transpose are no wider than its block.
  const bool isNarrow = parameters.transposed == "yes" && cell[Axis::Width] % 7 >= 5;
  set("fromBlock", parameters.fromBlock,
      isNarrow || (parameters.transposed == "yes" && cell.text(Axis::Block) == "32x32")
          ? "1x32"
          : sourceBlocks[cell[Axis::Width] % sourceBlocks.size()]);
  set("scaleSource", parameters.scaleSource, cell.text(Axis::Source));
  if (!takes(op, "numerics"))
    return parameters;
  std::string numerics = cell.text(Axis::Numerics);
  if (size_t equals = numerics.find('='); equals != std::string::npos)
    parameters.numerics[numerics.substr(0, equals)] = numerics.substr(equals + 1);
  else
    parameters.mode = numerics;
  return parameters;
}
} // namespace

int64_t matrix::extentOf(const std::string &expression, const Dims &dims) {
  if (expression.starts_with("ceildiv(") && expression.ends_with(")")) {
    size_t comma = expression.find(',');
    int64_t divisor = std::stoll(expression.substr(comma + 1));
    return (extentOf(expression.substr(8, comma - 8), dims) + divisor - 1) / divisor;
  }
  if (size_t times = expression.rfind(" * "); times != std::string::npos)
    return extentOf(expression.substr(0, times), dims) *
           extentOf(expression.substr(times + 3), dims);
  auto dim = dims.find(expression);
  return dim == dims.end() ? std::stoll(expression) : dim->second;
}

Case matrix::makeCase(const Cell &cell, uint64_t seed) {
  Case result{libraryOp(cell.text(Axis::Op), parametersOf(cell)), {}, {}, {}};
  BlockShape block = blockShape(cell.text(Axis::Block));
  int64_t hidden = widthOf(cell.text(Axis::Width), block.columns);
  // Two codes a byte: widths are even, and targets with the instructions rare.
  const bool packs =
      std::ranges::any_of(result.program.signature().tensors,
                          [](const auto &tensor) { return packingOf(tensor.dtype) > 1; });
  if (packs)
    hidden += hidden % 2;
  result.dims = {{"tokens", rowsOf(cell.text(Axis::Rows), block.rows)}, {"hidden", hidden}};
  const std::string codec = cell.text(Axis::Codec);
  const bool isStochastic = std::string(cell.text(Axis::Numerics)) == "rounding=stochastic";
  result.options.codec = (packs || isStochastic) && codec == "hardware" ? "auto" : codec;
  result.options.dims = {{"hidden", hidden}};
  result.layout = layoutOf(cell.text(Axis::Memory));
  result.forAnyRows = cell.text(Axis::Memory) != "few rows";
  result.values = cell.text(Axis::Values);
  ValueSource values(cell.text(Axis::Values), seed);
  for (const Signature::Tensor &tensor : result.program.signature().tensors) {
    if (tensor.role == Signature::Role::Output)
      continue;
    std::vector<int64_t> shape;
    for (const std::string &extent : tensor.shape)
      shape.push_back(extentOf(extent, result.dims));
    bool isScale =
        tensor.name == "scale" || tensor.name == "scale_t" || tensor.name.ends_with("_scale");
    result.inputs.push_back(isScale ? values.scales(tensor.name, tensor.dtype, shape)
                                    : values.tensor(tensor.name, tensor.dtype, shape));
  }
  return result;
}
