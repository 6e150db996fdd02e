//===- Kernels.cpp - Many small kernels for a sanitizer to watch ----------===//
//
// Part of Eider, under the Apache License v2.0.
//
// Library ops × codecs × blocks × layouts, products of matrices and attention, their tensors in
// memory without a byte to spare, each output compared with the reference. Exit status 77, with the
// reason, without a GPU.
//
//===----------------------------------------------------------------------===//
#include "tests/attention/Cases.h"
#include "tests/gpu/kernels/Defects.h"
#include "tests/gpu/kernels/ExactTensor.h"

#include "eider/compile.h"
#include "tests/matrix/BatchBackend.h"
#include "tests/matrix/Cell.h"
#include "tests/points/Points.h"

#include <CLI/CLI.hpp>

#include <algorithm>
#include <cstdio>
#include <functional>

using namespace eider;
using namespace eider::gpu;
using namespace eider::matrix;

namespace {
constexpr int Skipped = 77; // ctest's convention

struct Options {
  std::string device = "cuda", only, without, defect;
  bool inTurn = false;
};

int valueOf(Axis axis, std::string_view text) {
  const auto &values = infoOf(axis).values;
  return static_cast<int>(std::find(values.begin(), values.end(), text) - values.begin());
}

/// What differs between kernels: whether rows have ends that no vector reaches, and strides; so
/// that each variant is among them.
constexpr std::pair<const char *, const char *> layouts[] = {{"4B", "contiguous"},
                                                             {"odd", "few rows"},
                                                             {"odd", "contiguous"},
                                                             {"4B", "padded"},
                                                             {"odd", "strided misaligned"}};

/// And where scales lie, with a type that does.
constexpr std::pair<const char *, const char *> scales[] = {{"f32", "row_major"},
                                                            {"f32", "mn_major_aligned"},
                                                            {"e8m0", "packed_ue8m0"},
                                                            {"e8m0", "swizzled_128x4"}};

/// Of the ops that stand for the others: dtypes, formats and layouts of scales in turn, all else in
/// full.
std::vector<Cell> representativeCells() {
  std::vector<Cell> cells;
  int turn = 0;
  for (int op = 0; op < static_cast<int>(infoOf(Axis::Op).values.size()); ++op)
    for (const char *codec : infoOf(Axis::Codec).values)
      for (const char *block : {"1x128", "1x*", "128x128"})
        for (const auto &[width, memory] : layouts) {
          Cell cell;
          cell[Axis::Op] = op;
          cell[Axis::Dtype] = (turn + turn / 4) % 3;
          cell[Axis::Format] = (turn + turn / 4) % 2;
          ++turn;
          cell[Axis::Block] = valueOf(Axis::Block, block);
          const auto &[scale, scaleLayout] = scales[static_cast<size_t>(turn) % std::size(scales)];
          cell[Axis::Scale] = valueOf(Axis::Scale, scale);
          cell[Axis::ScaleLayout] = valueOf(Axis::ScaleLayout, scaleLayout);
          cell[Axis::Codec] = valueOf(Axis::Codec, codec);
          cell[Axis::Source] = valueOf(Axis::Source, "dynamic");
          cell[Axis::Numerics] = valueOf(Axis::Numerics, "default");
          cell[Axis::Width] = valueOf(Axis::Width, width);
          cell[Axis::Rows] = valueOf(Axis::Rows, "several");
          cell[Axis::Memory] = valueOf(Axis::Memory, memory);
          cell[Axis::Values] = valueOf(Axis::Values, "specials");
          if (!isValid(cell)) // an op without scales of its own
            cell[Axis::Scale] = cell[Axis::ScaleLayout] = 0;
          if (isRepresentative(cell) && isValid(cell))
            cells.push_back(cell);
        }
  return cells;
}

/// A kernel and its inputs, made when it is its turn.
struct Watched {
  std::string name;
  std::function<Case()> make;
  std::string target = {}; ///< That alone has it; empty: all.
};

/// Rows that are normalised and multiplied: they leave the norm's kernel as f16, and the product's
/// begins before that one has ended.
Program normed() {
  Builder b("normed");
  Dim m = b.dim("m"), n = b.dim("n"), k = b.dim("k");
  Value x = b.input("x", bf16, {m, k});
  Scaled w = b.scaled_input("w", e4m3, {n, k}, {1, 128}, f32);
  Value norm = x * rsqrt(mean(x * x, -1) + 1e-6F) * b.input("weight", bf16, {k});
  b.output("y", matmul(cast(norm, bf16), w), bf16);
  return b.build();
}

/// Products of a vector, of eight rows and of more, whose rows end in the middle of what a warp
/// has.
std::vector<Watched> products() {
  std::vector<Watched> all;
  for (const int64_t m : {0, 3, 19})
    for (const int64_t k : {272, 333})
      for (const char *codec : {"hardware", "software"})
        for (const char *dtype : {"bf16", "f16", "f32"}) {
          at_points::Point point{.op = m ? "matmul_skinny" : "gemv",
                                 .parameters = {.dtype = dtype},
                                 .dims = {{"n", 37}, {"k", k}},
                                 .values = "specials",
                                 .codec = codec};
          if (m)
            point.dims["m"] = m;
          if (k % 2)
            point.layout = {/*padding=*/3, /*shift=*/1};
          all.push_back({point.op + " " + std::to_string(m) + "x37x" + std::to_string(k) + " " +
                             dtype + " " + codec,
                         [point] { return at_points::caseOf(point); }});
        }
  for (const int64_t padding : {0, 16}) { // rows that come two by two, to blocks with several tiles
    const at_points::Point point{
        .op = "gemv",
        .dims = {{"n", 1501}, {"k", 976}},
        .layout = {padding, /*shift=*/0},
        .values = "specials",
        .codec = "software",
        .schedule =
            "row<threads = 32, vector = 16, rows = 4, resident = 1, prefetch = 3, mma = 1>"};
    all.push_back({"gemv 1501x976 + " + std::to_string(padding),
                   [point] { return at_points::caseOf(point); }});
  }
  // By parts of a length that is long beside the columns; of 4096 by blocks of four stages.
  for (const int64_t m : {19, 64})
    for (const int64_t k : {4096, 5120}) {
      const at_points::Point point{
          .op = "matmul_skinny", .dims = {{"m", m}, {"n", 300}, {"k", k}}, .values = "specials"};
      all.push_back({"matmul_skinny " + std::to_string(m) + "x300x" + std::to_string(k),
                     [point] { return at_points::caseOf(point); }});
    }
  // By more stages than are on their way at once; rows as they are, or as a kernel before leaves
  // them.
  for (const int64_t m : {19, 63, 64})
    for (const bool asF16 : {false, true}) {
      const std::string cut =
          m == 19   ? "contract<threads = 128, vector = 4, rows = 32, loads = 2, columns = 64, "
                      "prefetch = 3, cluster = 2, "
          : m == 63 ? "contract<threads = 256, vector = 4, rows = 64, loads = 2, columns = 128, "
                      "prefetch = 3, "
                    : "contract<threads = 512, vector = 4, rows = 64, loads = 2, columns = 256, "
                      "split = 3, prefetch = 4, ";
      const at_points::Point point{
          .op = "matmul_skinny",
          .dims = {{"m", m}, {"n", 300}, {"k", 128 * 19}},
          .values = "specials",
          .schedule = cut + (asF16 ? "warpgroups = 1, f16 = 1>" : "warpgroups = 1>")};
      all.push_back({"matmul_skinny " + std::to_string(m) + "x300x2432" + (asF16 ? " as f16" : ""),
                     [point] { return at_points::caseOf(point); }, "sm_90a"});
    }
  for (const int64_t m : {19, 64})
    all.push_back({"normed " + std::to_string(m) + "x300x2432 as f16",
                   [m] {
                     return at_points::caseOf(
                         normed(), {{"m", m}, {"n", 300}, {"k", 128 * 19}}, "m",
                         "contract<threads = 256, vector = 4, rows = 64, loads = 2, columns = 128, "
                         "prefetch = 3, cluster = 2, warpgroups = 1, f16 = 1>");
                   },
                   "sm_90a"});
  for (const int64_t m : {3, 19, 64})
    for (const int64_t k : {272, 333, 1040})
      for (const char *block : {"1x128", "1x*"}) {
        const at_points::Point point{.op = "scaled_matmul",
                                     .parameters = {.block = block, .fromBlock = block},
                                     .dims = {{"m", m}, {"n", 137}, {"k", k}},
                                     .values = "specials"};
        all.push_back(
            {"scaled_matmul " + std::to_string(m) + "x137x" + std::to_string(k) + " " + block,
             [point] { return at_points::caseOf(point); }});
      }
  return all;
}

/// Weights of four bits, and vectors whose norm is taken first.
std::vector<Watched> fourBitsAndNorms() {
  std::vector<Watched> all;
  const auto add = [&](at_points::Point point, int64_t k) {
    point.dims["n"] = 137;
    point.dims["k"] = k;
    point.values = "specials";
    if (k % 4)
      point.layout = {/*padding=*/3, /*shift=*/1};
    const auto m = point.dims.find("m");
    all.push_back({point.op + " " + point.parameters.format + " " + point.parameters.scale + " " +
                       std::to_string(m == point.dims.end() ? 1 : m->second) + "x137x" +
                       std::to_string(k) + " " + point.codec,
                   [point] { return at_points::caseOf(point); }});
  };
  for (const auto &[block, scale] : {std::pair{"1x32", "e8m0"}, {"1x16", "e4m3"}})
    for (const int64_t k : {1024, 272, 330})
      for (const int64_t m : {0, 3, 19, 64}) {
        at_points::Point point{.op = m ? "matmul_skinny" : "gemv",
                               .parameters = {.format = "e2m1", .block = block, .scale = scale},
                               .dims = {}};
        if (m)
          point.dims["m"] = m;
        add(point, k);
      }
  for (const int64_t k : {1024, 272, 330, 4096})
    for (const char *codec : {"hardware", "software"})
      add({.op = "rms_norm_gemv", .dims = {}, .codec = codec}, k);
  return all;
}

/// How codes are made where representativeCells() says nothing of it.
const OpParameters castings[] = {
    {.block = "*x*"},
    {.format = "e4m3fnuz"},
    {.format = "e5m2fnuz", .block = "1x*"},
    {.format = "e2m1", .block = "1x16", .scale = "e4m3"},
    {.format = "e2m1", .block = "1x32", .mode = "mx"},
    {.block = "1x32", .mode = "mx"},
    {.mode = "deepgemm"},
    {.block = "1x*", .mode = "vllm_token"},
    {.block = "128x128", .scaleLayout = "te_gemm_ready"},
    {.scaleSource = "static"},
    {.block = "*x*", .scaleSource = "static"},
    {.transposed = "yes"},
    {.copy = "bf16"},
    {.transposed = "yes", .amax = "yes"},
    {.block = "1x*", .amax = "yes"},
    {.numerics = {{"rounding", "stochastic"}}},
    {.format = "e2m1", .block = "1x16", .scale = "e4m3", .numerics = {{"rounding", "stochastic"}}}};

/// Of ops with rows chosen by indices, and of whatever else no cell of the matrix is: rows that end
/// anywhere, and apart; of some that quantise, each way to; and rows that blocks hold together.
std::vector<Watched> streams() {
  std::vector<Watched> all;
  auto add = [&](const std::string &op, const OpParameters &parameters, int64_t hidden,
                 const std::string &schedule = "", int64_t tokens = 21) {
    at_points::Point point{
        .op = op, .parameters = parameters, .dims = {}, .values = "specials", .schedule = schedule};
    try {
      const Program program = libraryOp(op, parameters);
      for (const Signature::NamedDim &dim : program.signature().dims)
        point.dims[dim.name] = dim.name == "hidden" ? hidden : dim.name == "tokens" ? tokens : 40;
    } catch (const Error &) {
      return; // what the op does not take
    }
    if (hidden % 4)
      point.layout = {/*padding=*/3, /*shift=*/1};
    if (!at_points::errorOf(point).empty())
      return;
    all.push_back({op + " " + parameters.format + " " + parameters.block + " " +
                       parameters.scaleSource + " " + parameters.mode +
                       (parameters.numerics.empty() ? "" : " stochastic") + " of " +
                       std::to_string(hidden) + " " + schedule,
                   [point] { return at_points::caseOf(point); }});
  };
  const auto &ofMatrix = infoOf(Axis::Op).values;
  for (const OpInfo &op : libraryOps()) {
    const auto dims = libraryOp(op.name, {}).signature().dims;
    if (std::ranges::find(dims, "tokens", &Signature::NamedDim::name) == dims.end())
      continue;
    for (const int64_t hidden : {384, 272, 330, 333})
      if (hidden == 330 || std::ranges::find(ofMatrix, op.name) == ofMatrix.end())
        add(op.name, {}, hidden);
  }
  for (const char *op : {"quantize", "silu_mul_quant", "rms_norm_quant", "add_layer_norm_quant",
                         "rope_quant", "moe_permute_quant", "kv_append"})
    for (const OpParameters &casting : castings)
      add(op, casting, op == std::string("rope_quant") ? 384 : 330);
  for (const char *op : {"quantize", "rms_norm_quant", "add_rms_norm_quant"})
    for (const char *schedule : {"row<threads = 64, vector = 4, cluster = 2>",
                                 "row<threads = 32, vector = 8, tiles = 2, cluster = 4>"})
      add(op, {.block = "1x*"}, 1182, schedule);
  for (const char *op : {"rms_norm", "add_rms_norm", "add_rms_norm_quant"})
    for (const char *schedule : {"row<threads = 64, vector = 8, tiles = 3, bulk = 1>",
                                 "row<threads = 64, vector = 4, lanes = 32, tiles = 3, bulk = 1>",
                                 "row<threads = 32, vector = 4, tiles = 2, cluster = 4, bulk = 1>"})
      add(op, {.copy = op == std::string("add_rms_norm_quant") ? "bf16" : ""}, 512, schedule);
  for (const char *op : {"rms_norm_quant", "add_layer_norm_quant", "softmax_quant"})
    for (const char *schedule :
         {"row<threads = 32, vector = 8, lanes = 8, tiles = 2>",
          "row<threads = 32, vector = 4, lanes = 8, tiles = 2, cluster = 2>"})
      add(op, {}, 1024, schedule);
  add("gelu_bias_quant", {}, 1024, "map<threads = 32, vector = 16, loads = 2, lanes = 4>");
  add("softmax", {}, 524289, "", /*tokens=*/1); // in pieces
  add("rms_norm_quant", {.block = "1x*"}, 524296, "", 1);
  constexpr size_t atLeast = 130; // what is refused is left out, which is little
  if (all.size() < atLeast)
    throw Error(ErrorKind::Internal, "only " + std::to_string(all.size()) + " kernels of streams");
  return all;
}

/// What many rows of models' widths have, more than few, and a transpose of very many; of as few as
/// there are.
std::vector<Watched> rowsOfModels() {
  std::vector<Watched> all;
  auto add = [&](const std::string &op, const OpParameters &parameters, int64_t hidden,
                 bool Case::*which) {
    const at_points::Point point{.op = op,
                                 .parameters = parameters,
                                 .dims = {{"tokens", 37}, {"hidden", hidden}},
                                 .values = "specials"};
    all.push_back({op + " " + parameters.block + " of " + std::to_string(hidden) +
                       (which == &Case::forSomeRows ? ", some rows" : ", many rows") +
                       (op.ends_with("quant") && !op.starts_with("add_") ? "" : ", maybe in bulk"),
                   [point, which] {
                     Case made = at_points::caseOf(point);
                     made.forAnyRows = false;
                     made.*which = true;
                     return made;
                   }});
  };
  for (const int64_t hidden : {4096, 8192})
    for (const char *op :
         {"quantize", "dequantize", "requantize", "silu_mul_quant", "rms_norm", "rms_norm_quant",
          "layer_norm_quant", "add_rms_norm_quant", "softmax", "softmax_quant", "silu", "copy"})
      for (auto which : {&Case::forSomeRows, &Case::forAnyRows})
        add(op, {}, hidden, which);
  add("cast_transpose", {}, 4096, &Case::forManyRows);
  return all;
}

/// Groups of rows whose ends are such, and some that are none: falling, or beyond the rows.
std::vector<Watched> groups() {
  std::vector<Watched> all;
  for (const int64_t m : {3, 19, 70})
    for (const int64_t k : {272, 333})
      for (uint64_t seed = 1; seed <= 6; ++seed) {
        at_points::Point point{.op = "",
                               .parameters = {.index = k % 2 ? "i32" : "i64"},
                               .dims = {{"groups", 5}, {"m", m}, {"n", 37}, {"k", k}}};
        if (k % 2)
          point.layout = {/*padding=*/3, /*shift=*/1};
        for (const char *op : {"grouped_matmul", "grouped_scaled_matmul", "batched_matmul"}) {
          point.op = op;
          if (op == std::string("batched_matmul")) { // whose groups no index tells
            point.parameters = {};
            point.dims = {{"batches", 5}, {"m", m}, {"n", 37}, {"k", k}};
          }
          all.push_back({point.op + " " + std::to_string(m) + "x37x" + std::to_string(k) +
                             " of seed " + std::to_string(seed),
                         [=] { return at_points::caseOf(point, seed); }});
        }
      }
  return all;
}

/// Attention over caches whose sequences end in the middle of what a warp has, or have nothing; and
/// of sequences that end in the middle of a tile.
std::vector<Watched> attentions() {
  std::vector<Watched> all;
  for (const int64_t headDim : {64, 96, 128})
    for (const int64_t page : {16, 3})
      for (const char *codec : {"hardware", "software"})
        for (const char *dtype : {"bf16", "f32"})
          all.push_back({"attention_decode " + std::to_string(headDim) + " in pages of " +
                             std::to_string(page) + " " + dtype + " " + codec,
                         [=] {
                           return attention_cases::decode(
                               {.lengths = {77, 0, 33}, .d = headDim, .page = page},
                               {.dtype = dtype}, codec);
                         }});
  for (const int64_t headDim : {64, 96, 128})
    for (const int64_t page : {16, 3, 0}) {
      const std::string what = std::to_string(headDim) +
                               (page ? " in pages of " + std::to_string(page) : " without pages");
      all.push_back(
          {"attention_decode by tokens " + what, [=] {
             return attention_cases::decode(
                 {.lengths = {77, 0, 33}, .d = headDim, .page = page, .scales = 2, .scaleAxes = 2});
           }});
      all.push_back({"attention_decode by blocks " + what, [=] {
                       return attention_cases::decode({.lengths = {77, 0, 33},
                                                       .d = headDim,
                                                       .page = page,
                                                       .scales = 2,
                                                       .scaleAxes = 3,
                                                       .blocks = headDim / 32});
                     }});
      for (const char *format : {"bf16", "f16"})
        all.push_back({"attention_decode " + what + " of " + format, [=] {
                         return attention_cases::decode(
                             {.lengths = {77, 0, 33}, .d = headDim, .page = page},
                             {.format = format});
                       }});
    }
  for (const int64_t headDim : {64, 96, 128, 512})
    for (const char *causal : {"0", "1"})
      for (const char *codec : {"hardware", "software"})
        all.push_back(
            {"attention_prefill " + std::to_string(headDim) + " causal=" + causal + " " + codec,
             [=] {
               return attention_cases::prefill({.tokens = 150, .d = headDim},
                                               {.settings = {{"causal", causal}}}, codec);
             }});
  for (const char *format : {"e4m3", "bf16"}) // warps share tokens, and some have a piece less
    for (const int64_t page : {16, 3})
      all.push_back({std::string("attention_decode of latents in pages of ") +
                         std::to_string(page) + " " + format,
                     [=] {
                       return attention_cases::decode({.lengths = {77, 0, 33},
                                                       .heads = 32,
                                                       .kvHeads = 1,
                                                       .d = 576,
                                                       .page = page,
                                                       .valueColumns = 512},
                                                      {.format = format});
                     }});
  for (const char *block : {"1x64", "1x*"})
    all.push_back({std::string("attention_decode_quant ") + block, [=] {
                     return attention_cases::decode({.lengths = {77, 0, 33}, .quantised = true},
                                                    {.block = block});
                   }});
  // Slopes are read of a group's heads, of which a product has more columns.
  const OpParameters biased = {.settings = {{"softcap", "20"}, {"alibi", "1"}}};
  all.push_back({"attention_decode with slopes", [=] {
                   return attention_cases::decode({.lengths = {77, 0, 33}, .heads = 6}, biased);
                 }});
  all.push_back({"attention_prefill with slopes",
                 [=] { return attention_cases::prefill({.tokens = 150}, biased); }});
  for (const char *dtype : {"bf16", "f16"})
    all.push_back({std::string("attention_prefill by queries of ") + dtype, [=] {
                     return attention_cases::prefill(
                         {.tokens = 150}, {.dtype = dtype, .settings = {{"float_queries", "1"}}});
                   }});
  for (const char *queries : {"0", "1"}) { // values that are columns of keys, and of their own
    const OpParameters by = {.settings = {{"causal", "1"}, {"float_queries", queries}}};
    const std::string name = std::string("attention_prefill, float_queries=") + queries;
    all.push_back({name + ", of latents", [=] {
                     return attention_cases::prefill(
                         {.tokens = 150, .kvHeads = 1, .d = 576, .valueColumns = 512}, by);
                   }});
    all.push_back(
        {name + ", of shorter values",
         [=] { return attention_cases::prefill({.tokens = 150, .d = 192, .valueDim = 128}, by); }});
  }
  for (const char *codec : {"hardware", "software"})
    all.push_back({std::string("attention_prefill of several, ") + codec, [=] {
                     return attention_cases::prefill({.lengths = {70, 0, 1, 200}},
                                                     {.settings = {{"causal", "1"}}}, codec);
                   }});
  return all;
}

/// Its outputs; their memory is written by the kernel alone.
std::vector<HostTensor> launch(const Device &device, const Case &given) {
  const Kernel kernel =
      device.load({.name = given.program.name(),
                   .contract = contract::write(contractOf(given, device.info().target))});
  std::vector<std::unique_ptr<ExactTensor>> memory;
  std::vector<TensorArg> arguments;
  const Signature &signature = given.program.signature();
  for (const std::string &name : kernel.tensorNames()) {
    auto tensor = std::ranges::find(signature.tensors, name, &Signature::Tensor::name);
    memory.push_back(std::make_unique<ExactTensor>(device, tensor->dtype,
                                                   kernel.shapeOf(name, given.dims), given.layout));
    auto input = std::ranges::find(given.inputs, name, &HostTensor::name);
    if (input != given.inputs.end())
      memory.back()->upload(input->data);
    arguments.push_back(memory.back()->argument());
  }
  const Call call = kernel.prepare(given.dims, arguments);
  const auto bytes = static_cast<int64_t>(call.workspace_bytes());
  const ExactTensor workspace(device, DType::u8, {bytes}, {});
  auto *at = static_cast<std::byte *>(const_cast<void *>(workspace.argument().pointer));
  // Words by which blocks meet, or know which comes last, are read whatever they are. Parts
  // that nobody has written are NaN, and so is what is made of them.
  const std::vector<std::string> names = kernel.tensorNames();
  const std::string &program = given.program.name();
  if (program.starts_with("attention") || program.ends_with("matmul") ||
      program.starts_with("matmul") || call.variant().starts_with("cooperative") ||
      std::ranges::find(names, "amax") != names.end())
    device.fill(at, 0xff, static_cast<size_t>(bytes));
  call.launch({}, arguments, {}, at);
  device.synchronize();
  std::vector<HostTensor> outputs;
  for (size_t i = 0; i < memory.size(); ++i) {
    const std::string name = kernel.tensorNames()[i];
    auto tensor = std::ranges::find(signature.tensors, name, &Signature::Tensor::name);
    if (tensor->role != Signature::Role::Input)
      outputs.push_back(memory[i]->download(name));
  }
  return outputs;
}

/// What is wrong with a kernel's outputs; empty if nothing is.
std::string judge(const Device &device, const Watched &watched) try {
  const Case given = watched.make();
  for (const Comparison &comparison : compare(given.program, given.inputs, launch(device, given)))
    if (comparison.wrong)
      return std::to_string(comparison.wrong) + " wrong, first " + comparison.firstWrong;
  return "";
} catch (const Error &error) {
  return error.what();
}

int runCells(const Device &device, const Options &options) {
  std::vector<Watched> cells = products();
  std::ranges::move(groups(), std::back_inserter(cells));
  std::ranges::move(fourBitsAndNorms(), std::back_inserter(cells));
  std::ranges::move(attentions(), std::back_inserter(cells));
  std::ranges::move(streams(), std::back_inserter(cells));
  std::ranges::move(rowsOfModels(), std::back_inserter(cells));
  for (const Cell &cell : representativeCells())
    cells.push_back({cell.name(), [cell] { return makeCase(cell, 1); }});
  std::erase_if(cells, [&](const Watched &cell) {
    return (!cell.target.empty() && cell.target != device.target()) ||
           cell.name.find(options.only) == std::string::npos ||
           (!options.without.empty() && cell.name.find(options.without) != std::string::npos);
  });
  std::vector<std::string> failures(cells.size());
  auto run = [&](size_t i) { failures[i] = judge(device, cells[i]); };
  if (options.inTurn)
    for (size_t i = 0; i < cells.size(); ++i)
      run(i);
  else
    inParallel(cells.size(), run);
  size_t failed = 0;
  for (size_t i = 0; i < cells.size(); ++i)
    if (!failures[i].empty()) {
      ++failed;
      std::printf("FAILED %s: %s\n", cells[i].name.c_str(), failures[i].c_str());
    }
  std::printf("%zu cells, %zu cells failed\n", cells.size(), failed);
  return failed != 0 || cells.empty();
}
} // namespace

int main(int argc, char **argv) {
  CLI::App app("Runs small kernels of every kind, for a sanitizer to watch");
  Options options;
  app.add_option("--device", options.device, "host or cuda");
  app.add_option("--only", options.only, "Only cells whose name has this in it");
  app.add_option("--without", options.without, "No cell whose name has this in it");
  app.add_flag("--in-turn", options.inTurn, "One cell after the other");
  app.add_option("--defect", options.defect, "One kernel that a sanitizer must complain of")
      ->check(CLI::IsMember(defectNames()));
  CLI11_PARSE(app, argc, argv);
  try {
    const Device device = Device::open(options.device);
    if (options.defect.empty())
      return runCells(device, options);
    runDefect(device, options.defect);
    return 0;
  } catch (const Error &error) {
    std::fprintf(stderr, "%s\n", error.what());
    return error.kind() == ErrorKind::Machine ? Skipped : 3;
  }
}
