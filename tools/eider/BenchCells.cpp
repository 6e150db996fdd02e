//===- tools/eider/BenchCells.cpp - What a benchmark measures -------------===//
//
// Part of Eider, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//
#include "tools/eider/BenchCells.h"

#include "tools/eider/BenchTargets.h"
#include "tools/eider/ProgramSource.h"
#include "tools/eider/Text.h"

#include <algorithm>
#include <tuple>

namespace eider::cli {

namespace {

struct Shape {
  int64_t tokens, hidden;
};

constexpr Shape large = {16384, 8192};
/// From one token to what fills any GPU, and odd neighbours.
constexpr Shape shapes[] = {{1, 8192}, {128, 4096},  {4096, 4096},
                            large,     {4097, 4104}, {1000, 7168}};

BenchCell cell(const std::string &op, const std::string &dtype, const std::string &format,
               const std::string &block, const std::string &codec, Shape shape) {
  BenchCell made;
  made.program.source = op;
  made.program.parameters.dtype = dtype;
  made.program.parameters.format = format;
  made.program.parameters.block = block;
  made.program.codec = codec;
  made.program.dims = {{"tokens", shape.tokens}, {"hidden", shape.hidden}};
  return made;
}

/// A cast with scales of another kind.
struct Cast {
  const char *format, *block, *scale, *layout, *mode;
};

/// Casts of every kind, there and back: formats that no GPU or not each encodes, scales and layouts
/// of them, a scale of the whole matrix from it.
void addCasts(std::vector<BenchCell> &cells) {
  static constexpr Cast casts[] = {{"e4m3", "*x*", "", "", ""},
                                   {"e4m3", "1x32", "e8m0", "", "mx"},
                                   {"e4m3", "1x32", "e8m0", "swizzled_128x4", "mx"},
                                   {"e4m3", "1x128", "", "mn_major_aligned", ""},
                                   {"e4m3", "1x128", "e8m0", "packed_ue8m0", ""},
                                   {"e4m3", "128x128", "", "te_gemm_ready", ""},
                                   {"e4m3", "1x128", "", "te_gemm_ready", ""},
                                   {"e4m3", "1x64", "", "", ""},
                                   {"e4m3", "1x256", "", "", ""},
                                   {"e4m3", "1x512", "", "", ""},
                                   {"e4m3", "1x*", "", "", ""},
                                   {"e4m3", "1x128", "bf16", "", ""},
                                   {"e5m2", "1x128", "", "", ""},
                                   {"e4m3fnuz", "1x128", "", "", ""},
                                   {"e5m2fnuz", "1x128", "", "", ""},
                                   {"e2m1", "1x32", "e8m0", "", "mx"},
                                   {"e2m1", "1x16", "e4m3", "", ""},
                                   {"e2m1", "1x16", "e4m3", "swizzled_128x4", ""}};
  for (const Cast &cast : casts)
    for (const char *op : {"quantize", "dequantize"}) {
      BenchCell made = cell(op, "bf16", cast.format, cast.block, "auto", large);
      OpParameters &parameters = made.program.parameters;
      parameters.scale = cast.scale;
      parameters.scaleLayout = cast.layout;
      parameters.mode = op == std::string("quantize") ? cast.mode : ""; // of scales that are made
      cells.push_back(made);
    }
}

/// Every op at every shape, as models use them.
void addShapes(std::vector<BenchCell> &cells) {
  for (Shape shape : shapes) {
    for (const char *block : {"1x128", "1x*"})
      for (const char *op : {"quantize", "rms_norm_quant"})
        cells.push_back(cell(op, "bf16", "e4m3", block, "auto", shape));
    for (const char *op : {"add_rms_norm_quant", "silu_mul_quant", "dequantize"})
      cells.push_back(cell(op, "bf16", "e4m3", "1x128", "auto", shape));
    for (const char *op : {"quantize", "rms_norm_quant"}) {
      cells.push_back(cell(op, "bf16", "e4m3", "*x*", "auto", shape));
      cells.back().program.parameters.scaleSource = "static";
    }
  }
}

/// Scales of the whole matrix, from the data: up to some size in one kernel that reads it once,
/// beyond it in two.
void addWhole(std::vector<BenchCell> &cells) {
  for (Shape shape :
       {Shape{16, 4096}, Shape{1024, 4096}, Shape{2048, 4096}, Shape{4096, 4096}, large})
    cells.push_back(cell("quantize", "bf16", "e4m3", "*x*", "auto", shape));
  for (const char *op : {"silu_mul_quant", "rms_norm_quant"})
    cells.push_back(cell(op, "bf16", "e4m3", "*x*", "auto", Shape{1024, 4096}));
}

/// Weights times a vector, or some rows: a square whose weights no cache holds, by either codec,
/// and the shapes of layers.
void addContractions(std::vector<BenchCell> &cells) {
  auto add = [&](const std::string &format, const std::string &block, const std::string &codec,
                 int64_t n, int64_t k, const char *op = "gemv") {
    BenchCell made = cell(op, "bf16", format, block, codec, {});
    made.program.dims = {{"n", n}, {"k", k}};
    cells.push_back(made);
  };
  for (const char *block : {"1x128", "128x128", "1x*"})
    for (const char *format : {"e4m3", "e5m2"})
      for (const char *codec : {"hardware", "software"})
        add(format, block, codec, 16384, 16384);
  add("e4m3", "1x128", "auto", 16384, 16384);
  add("e4m3", "1x128", "auto", 4096, 14336);
  add("e4m3", "1x128", "auto", 7168, 18432);
  add("e4m3", "1x128", "auto", 1024, 4096);
  for (auto [n, k] : {std::pair{6144, 4096}, {10240, 8192}}) // a layer's queries, keys and values
    for (const char *op : {"gemv", "rms_norm_gemv"})
      add("e4m3", "1x*", "auto", n, k, op);
  auto addSome = [&](const char *op, const char *format, const char *block, int64_t m, int64_t n,
                     int64_t k) {
    BenchCell made = cell(op, "bf16", format, block, "auto", {});
    if (op == std::string("scaled_matmul")) {
      made.program.parameters.fromFormat = format;
      made.program.parameters.fromBlock = block == std::string("1x*") ? "1x*" : "1x128";
    }
    made.program.dims = {{"m", m}, {"n", n}, {"k", k}};
    cells.push_back(made);
  };
  for (const char *op : {"matmul_skinny", "scaled_matmul"}) {
    addSome(op, "e4m3", "1x128", 1, 16384, 16384);
    for (const int64_t m : {2, 4, 8, 16, 32, 64})
      for (auto [n, k] : {std::pair{16384, 16384}, {4096, 14336}, {7168, 18432}, {1024, 4096}})
        addSome(op, "e4m3", "1x128", m, n, k);
    addSome(op, "e4m3", "1x*", 64, 16384, 16384);
    for (const int64_t m : {8, 16, 64}) {
      addSome(op, "e4m3", "128x128", m, 16384, 16384);
      addSome(op, "e5m2", "1x128", m, 16384, 16384);
    }
  }
  // Codes of four bits: MXFP4, and NVFP4 with its second level.
  for (auto [block, scale] : {std::pair{"1x32", "e8m0"}, {"1x16", "e4m3"}})
    for (const int64_t m : {1, 8, 64}) {
      if (m == 1)
        add("e2m1", block, "auto", 16384, 16384);
      else
        addSome("matmul_skinny", "e2m1", block, m, 16384, 16384);
      cells.back().program.parameters.scale = scale;
    }
}

/// The experts of mixtures: few and wide, and many, of one row, of some and of as many as a tile
/// has.
void addGrouped(std::vector<BenchCell> &cells) {
  for (auto [groups, n, k] : {std::tuple{8, 4096, 14336}, {8, 14336, 4096}, {64, 2048, 7168}})
    for (const int64_t rows : {1, 8, 64}) {
      BenchCell made = cell("grouped_matmul", "bf16", "e4m3", "128x128", "auto", {});
      made.program.dims = {{"groups", groups}, {"m", groups * rows}, {"n", n}, {"k", k}};
      cells.push_back(made);
      made = cell("grouped_scaled_matmul", "bf16", "e4m3", "128x128", "auto", {});
      made.program.parameters.fromFormat = "e4m3";
      made.program.parameters.fromBlock = "1x128";
      made.program.dims = {{"groups", groups}, {"m", groups * rows}, {"n", n}, {"k", k}};
      cells.push_back(made);
      made = cell("batched_matmul", "bf16", "e4m3", "128x128", "auto", {});
      made.program.dims = {{"batches", groups}, {"m", groups * rows}, {"n", n}, {"k", k}};
      cells.push_back(made);
    }
}

/// A token's queries over caches of serving: many sequences, few, one, and short ones, whose pages
/// of 16 tokens lie in an order of no pattern.
void addAttention(std::vector<BenchCell> &cells) {
  auto add = [&](const std::string &format, const std::string &codec, int64_t sequences,
                 int64_t tokens, int64_t heads, int64_t headDim) {
    BenchCell made = cell("attention_decode", "bf16", format, "", codec, {});
    made.program.dims = {{"b", sequences},
                         {"h", heads},
                         {"d", headDim},
                         {"kv_heads", 8},
                         {"page", 16},
                         {"pages", sequences * tokens / 16},
                         {"max_pages", tokens / 16},
                         {"scales", 1}};
    cells.push_back(made);
  };
  for (const char *format : {"e4m3", "e5m2"})
    for (const char *codec : {"hardware", "software"})
      add(format, codec, 64, 16384, 64, 128);
  for (auto [sequences, tokens] :
       {std::pair{64, 16384}, {8, 8192}, {1, 32768}, {64, 1024}, {8, 1024}, {1, 1024}})
    add("e4m3", "auto", sequences, tokens, sequences * tokens > 1 << 19 ? 64 : 32, 128);
  for (const int64_t headDim : {64, 256})
    add("e4m3", "auto", 64, 8192, 64, headDim);
  add("e4m3", "auto", 64, 16384, 64, 128); // without pages
  Dims &dims = cells.back().program.dims;
  for (const char *ofPages : {"page", "pages", "max_pages"})
    dims.erase(ofPages);
  dims["max_tokens"] = 16384;
  cells.back().program.settings["contiguous"] = "1";
  // Scales of blocks in a head, as kv_append leaves them.
  for (const int64_t block : {64, 32}) {
    add("e4m3", "auto", 64, 8192, 64, 128);
    cells.back().program.settings["scale_axes"] = "3";
    cells.back().program.dims["scales"] = 8;
    cells.back().program.dims["blocks"] = 128 / block;
  }
  // Latents: 512 columns and 64 more a token, which all heads have; those of one of 8 GPUs.
  for (const char *format : {"e4m3", "bf16"})
    for (const int64_t heads : {128, 16}) {
      add(format, "auto", 64, 8192, heads, 576);
      cells.back().program.dims["kv_heads"] = 1;
      cells.back().program.settings["value_columns"] = "512";
      if (format == std::string("bf16"))
        cells.back().program.dims.erase("scales");
    }
}

/// A sequence of 8192 tokens over itself: one long head, and many, causal; and eight of 1024.
void addPrefill(std::vector<BenchCell> &cells) {
  for (auto [heads, headDim, causal] : {std::tuple{32, 128, "1"}, {1, 512, "0"}})
    for (const char *format : {"e4m3", "e5m2"})
      for (const char *codec : {"auto", "software"}) {
        BenchCell made = cell("attention_prefill", "bf16", format, "", codec, {});
        made.program.dims = {
            {"s", 8192}, {"h", heads}, {"d", headDim}, {"kv_heads", heads}, {"scales", 1}};
        made.program.settings["causal"] = causal;
        cells.push_back(made);
        if (headDim != 128)
          continue;
        made.program.settings["varlen"] = "1";
        made.program.dims["starts"] = 9;
        cells.push_back(made);
      }
  // Of MLA: rows that begin with their values, which all heads share; and keys and values apart.
  for (auto [headDim, kvHeads, setting, columns] :
       {std::tuple{576, 1, "value_columns", "512"}, {192, 16, "value_dim", "128"}})
    for (const char *queries : {"0", "1"}) {
      cells.push_back(cell("attention_prefill", "bf16", "e4m3", "", "auto", {}));
      ProgramRequest &program = cells.back().program;
      program.dims = {{"s", 8192}, {"h", 16}, {"d", headDim}, {"kv_heads", kvHeads}, {"scales", 1}};
      program.settings = {{"causal", "1"}, {"float_queries", queries}, {setting, columns}};
    }
}

/// What differs in one thing from the cells above.
void addNeighbours(std::vector<BenchCell> &cells) {
  for (const char *block : {"128x128", "1x32"})
    cells.push_back(cell("quantize", "bf16", "e4m3", block, "auto", large));
  cells.push_back(cell("silu_quant", "bf16", "e4m3", "128x128", "auto", large));
  cells.push_back(cell("quantize", "bf16", "e4m3", "1x128", "auto", large));
  cells.back().program.parameters.scaleSource = "static";
  for (const char *dtype : {"f32", "f16"})
    cells.push_back(cell("quantize", dtype, "e4m3", "1x128", "auto", large));
  cells.push_back(cell("add_rms_norm_quant", "bf16", "e4m3", "1x*", "auto", large));
  cells.push_back(cell("rms_norm_quant", "bf16", "e4m3", "128x128", "auto", large));
  for (Shape shape : {Shape{16384, 7168}, Shape{16384, 8193}})
    for (const char *op : {"quantize", "add_rms_norm_quant"})
      cells.push_back(cell(op, "bf16", "e4m3", "1x128", "auto", shape));
}

/// Rows as wide as those of models, of threads that are no power of two.
void addWidthsOfModels(std::vector<BenchCell> &cells) {
  for (int64_t hidden : {3072, 5120, 6144, 7168}) {
    const Shape shape{16384, hidden};
    for (const char *op :
         {"rms_norm_quant", "layer_norm_quant", "add_layer_norm_quant", "softmax_quant"})
      cells.push_back(cell(op, "bf16", "e4m3", "1x128", "auto", shape));
    cells.push_back(cell("layer_norm", "bf16", "", "", "auto", shape));
  }
  for (int64_t hidden : {12288, 16384}) {
    const Shape shape{8192, hidden};
    for (const char *op : {"rms_norm", "layer_norm"})
      cells.push_back(cell(op, "bf16", "", "", "auto", shape));
    for (const char *op : {"rms_norm_quant", "layer_norm_quant", "add_rms_norm_quant"})
      cells.push_back(cell(op, "bf16", "e4m3", "1x128", "auto", shape));
  }
  for (int64_t hidden : {5120, 7168}) {
    const Shape shape{16384, hidden};
    for (const char *op : {"silu_quant", "gelu_quant"})
      cells.push_back(cell(op, "bf16", "e4m3", "1x128", "auto", shape));
    cells.push_back(cell("requantize", "", "e4m3", "1x128", "auto", shape));
    cells.push_back(cell("quantize", "bf16", "e4m3", "1x128", "software", shape));
    cells.push_back(cell("rms_norm_quant", "f32", "e4m3", "1x128", "auto", shape));
    cells.push_back(cell("rms_norm_quant", "bf16", "e4m3", "1x*", "auto", shape));
    for (const char *op : {"rms_norm_quant", "add_rms_norm_quant"}) {
      cells.push_back(cell(op, "bf16", "e4m3", "1x128", "auto", shape));
      cells.back().program.parameters.copy = "bf16";
    }
    for (const char *op : {"quantize", "silu_mul_quant"}) {
      cells.push_back(cell(op, "bf16", "e2m1", "1x16", "auto", shape));
      cells.back().program.parameters.scale = "e4m3";
    }
  }
}

/// Rounded stochastically, whatever the GPU encodes by instruction.
void addStochastic(std::vector<BenchCell> &cells) {
  for (Shape shape : {large, Shape{16384, 5120}}) {
    cells.push_back(cell("quantize", "bf16", "e4m3", "1x128", "auto", shape));
    cells.push_back(cell("quantize", "bf16", "e2m1", "1x16", "auto", shape));
    cells.back().program.parameters.scale = "e4m3";
    cells.push_back(cell("rms_norm_quant", "bf16", "e4m3", "1x128", "auto", shape));
    for (size_t i = cells.size() - 3; i < cells.size(); ++i)
      cells[i].program.settings["rounding"] = "stochastic";
  }
}

/// Rows that lie apart, as slices of what several products of a layer gave together do; and rows
/// that begin anywhere.
void addRowsApart(std::vector<BenchCell> &cells) {
  for (int64_t padding : {4096, 3})
    for (const char *op : {"quantize", "rms_norm_quant", "layer_norm_quant", "softmax_quant",
                           "silu_mul_quant", "add_rms_norm_quant"}) {
      cells.push_back(cell(op, "bf16", "e4m3", "1x128", "auto", large));
      cells.back().padding = padding;
    }
}

/// A matrix and its transpose from one read: with scales of their own and with those of squares, at
/// every shape; beside an activation, and with a copy that is not quantised.
void addTransposes(std::vector<BenchCell> &cells) {
  for (const char *block : {"1x128", "128x128"}) {
    for (Shape shape : shapes)
      cells.push_back(cell("cast_transpose", "bf16", "e4m3", block, "auto", shape));
    for (Shape shape :
         {Shape{4097, 4096}, Shape{16385, 8192}}) // the transpose's rows alone are odd
      cells.push_back(cell("cast_transpose", "bf16", "e4m3", block, "auto", shape));
    for (const char *copy : {"", "bf16"}) {
      cells.push_back(cell("silu_mul_quant", "bf16", "e4m3", block, "auto", large));
      cells.back().program.parameters.transposed = "yes";
      cells.back().program.parameters.copy = copy;
    }
  }
  // A tile's scales next to each other, where those of row_major are each in a line of its own.
  for (const char *op : {"cast_transpose", "silu_mul_quant"}) {
    cells.push_back(cell(op, "bf16", "e4m3", "1x128", "auto", large));
    cells.back().program.parameters.scaleLayout = "mn_major_aligned";
    if (cells.back().program.source != "cast_transpose")
      cells.back().program.parameters.transposed = "yes";
  }
}

/// The largest magnitude of the tensor from the same read; and long rows, up to such that no block,
/// and on older GPUs nothing, holds.
void addAmaxAndLongRows(std::vector<BenchCell> &cells) {
  for (const char *op : {"quantize", "silu_mul_quant", "rms_norm_quant", "cast_transpose"}) {
    cells.push_back(cell(op, "bf16", "e4m3", "1x128", "auto", large));
    cells.back().program.parameters.amax = "yes";
  }
  for (Shape shape :
       {Shape{8192, 16384}, Shape{4096, 32768}, Shape{2048, 65536}, Shape{2048, 128256}})
    cells.push_back(cell("softmax", "bf16", "", "", "auto", shape));
  for (Shape shape : {Shape{8192, 16384}, Shape{4096, 32768}, Shape{2048, 65536}})
    cells.push_back(cell("softmax_quant", "bf16", "e4m3", "1x128", "auto", shape));
  cells.push_back(cell("rms_norm_quant", "bf16", "e4m3", "1x128", "auto", {2048, 128256}));
}

/// The params that a result should name, where the op has them and the request does not say.
void setDefaults(ProgramRequest &program) {
  const std::vector<OpInfo> &ops = libraryOps();
  const auto op = std::ranges::find(ops, program.source, &OpInfo::name);
  if (op == ops.end())
    return; // a file, or an error that makeProgram explains
  auto set = [&](const char *name, std::string &value, const char *otherwise) {
    if (value.empty() && std::ranges::find(op->parameters, name) != op->parameters.end())
      value = otherwise;
  };
  set("dtype", program.parameters.dtype, "bf16");
  set("format", program.parameters.format, "e4m3");
  const std::string &format = program.parameters.format;
  if (format != "bf16" && format != "f16") // which have no scales
    set("block", program.parameters.block, "1x128");
}

BenchCell withDefaults(const std::string &op, Shape shape) {
  BenchCell made = cell(op, "", "", "", "auto", shape);
  setDefaults(made.program);
  return made;
}

/// A cell of an op of the library. Where an index chooses, there are more rows than it chooses, but
/// for the tokens that two experts take.
BenchCell libraryCell(const std::string &op) {
  static const Dims chosenFrom = {{"vocabulary", 65536},
                                  {"sources", 8192},
                                  {"permuted", 32768},
                                  {"slots", 65536},
                                  {"max_position", 32768}};
  const Shape shape = op == "kv_append" ? Shape{16384, 1024} : large; // eight heads of 128
  BenchCell made = withDefaults(op, shape);
  const Program program = makeProgram(made.program).program;
  for (const Signature::NamedDim &dim : program.signature().dims)
    if (const auto from = chosenFrom.find(dim.name); from != chosenFrom.end())
      made.program.dims.insert(*from);
  return made;
}

/// By either codec, where memory alone should count: both formats that GPUs have instructions for,
/// of casts and what servers run most, and of the first one op of each kind.
void addCodecs(std::vector<BenchCell> &cells) {
  for (const std::string codec : {"hardware", "software"}) {
    for (const char *format : {"e4m3", "e5m2"}) {
      for (const char *block : {"1x128", "1x*"})
        cells.push_back(cell("quantize", "bf16", format, block, codec, large));
      for (const char *op : {"rms_norm_quant", "add_rms_norm_quant", "silu_mul_quant"})
        cells.push_back(cell(op, "bf16", format, "1x128", codec, large));
    }
    for (const char *op :
         {"cast_transpose", "dequantize", "requantize", "layer_norm_quant", "softmax_quant",
          "silu_quant", "gelu_quant", "rope_quant", "norm_rope_quant", "kv_append",
          "moe_permute_quant", "moe_unpermute", "embedding"}) {
      cells.push_back(libraryCell(op));
      cells.back().program.codec = codec;
    }
    cells.push_back(cell("quantize", "bf16", "e4m3", "128x128", codec, large));
    cells.push_back(cell("quantize", "bf16", "e4m3", "1x32", codec, large));
    cells.back().program.parameters.mode = "mx";
    cells.push_back(cell("quantize", "bf16", "e4m3", "*x*", codec, large));
    cells.back().program.parameters.scaleSource = "static";
  }
}

/// Every op of the library where memory alone should count. The streaming ones, which show what a
/// kernel can reach, and one of each other kind at the other shapes too.
void addLibrary(std::vector<BenchCell> &cells) {
  for (const OpInfo &op : libraryOps())
    if (!op.name.ends_with("gemv") && op.name.find("matmul") == std::string::npos &&
        !op.name.starts_with("attention_"))
      cells.push_back(libraryCell(op.name));
  cells.push_back(libraryCell("softmax"));
  cells.back().program.settings["causal"] = "1";
  for (const char *op :
       {"copy", "scale", "add", "triad", "layer_norm_quant", "softmax", "gelu_bias_quant"})
    for (Shape shape : shapes)
      cells.push_back(withDefaults(op, shape));
  for (const char *op : {"copy", "scale", "add", "triad"})
    for (const char *dtype : {"f32", "f16"})
      cells.push_back(cell(op, dtype, "", "", "auto", large));
}

/// What a server runs in a step of one token, and of some; and odd neighbours of large matrices, of
/// ops that addShapes() has not.
void addSteps(std::vector<BenchCell> &cells) {
  for (const char *op :
       {"requantize", "layer_norm", "rms_norm", "softmax_quant", "rope_quant", "norm_rope_quant",
        "embedding", "moe_permute_quant", "moe_unpermute", "kv_append"})
    for (const int64_t tokens : {1, 128}) {
      cells.push_back(libraryCell(op));
      cells.back().program.dims["tokens"] = tokens;
    }
  for (const char *op : {"requantize", "layer_norm", "rms_norm", "softmax_quant"})
    for (Shape shape : {Shape{4096, 4096}, Shape{4097, 4104}})
      cells.push_back(withDefaults(op, shape));
}

/// A program at the shapes of the table, or at its dims if the request gives them all.
void addProgram(std::vector<BenchCell> &cells, ProgramRequest program, bool host) {
  setDefaults(program);
  std::vector<std::string> names, missing;
  const Program made = makeProgram(program).program;
  for (const Signature::NamedDim &dim : made.signature().dims) {
    names.push_back(dim.name);
    if (dim.value)
      program.dims.try_emplace(dim.name, *dim.value);
    if (!program.dims.contains(dim.name))
      missing.push_back(dim.name);
  }
  if (missing.empty()) {
    cells.push_back({program});
    return;
  }
  auto isIn = [](const std::vector<std::string> &all) {
    return [&](const std::string &name) { return std::ranges::find(all, name) != all.end(); };
  };
  const std::vector<std::string> known = {"tokens", "hidden"};
  if (!std::ranges::all_of(known, isIn(names)) || !std::ranges::all_of(missing, isIn(known)) ||
      host)
    throw Error(ErrorKind::Request,
                host ? "the simulator is not measured at a GPU's shapes"
                     : "there is no table of shapes for its dims",
                program.source, "give --dim " + join(missing, "=N --dim ") + "=N");
  for (Shape shape : shapes) {
    ProgramRequest at = program; // a dim that is given stays
    at.dims.insert({{"tokens", shape.tokens}, {"hidden", shape.hidden}});
    cells.push_back({at});
  }
}

void dropDoubles(std::vector<BenchCell> &cells) {
  std::vector<BenchCell> single;
  for (const BenchCell &cell : cells)
    if (std::ranges::none_of(single, [&](const BenchCell &other) {
          return nameOf(other) == nameOf(cell) && other.program.settings == cell.program.settings;
        }))
      single.push_back(cell);
  cells = std::move(single);
}

} // namespace

std::string nameOf(const BenchCell &cell) {
  const ProgramRequest &program = cell.program;
  std::vector<std::string> extents;
  for (const auto &[name, extent] : program.dims)
    extents.push_back(std::to_string(extent));
  std::ranges::reverse(extents); // tokens, hidden
  const OpParameters &parameters = program.parameters;
  std::vector<std::string> settings;
  for (const auto &[name, value] : program.settings)
    settings.push_back(name + "=" + value);
  std::vector<std::string> parts = {program.source,
                                    parameters.dtype,
                                    parameters.format,
                                    parameters.block,
                                    parameters.scale,
                                    parameters.scaleLayout,
                                    parameters.scaleSource,
                                    parameters.mode,
                                    join(settings, "/"),
                                    parameters.transposed == "yes" ? "transposed" : "",
                                    parameters.copy.empty() ? "" : "copy-" + parameters.copy,
                                    cell.padding ? std::to_string(cell.padding) + "-apart" : "",
                                    parameters.amax == "yes" ? "amax" : "",
                                    program.codec,
                                    join(extents, "x")};
  std::erase(parts, ""); // what the op does not take
  return join(parts, "/");
}

std::vector<BenchCell> cellsFor(const BenchRequest &request) {
  const bool host = request.device == "host";
  std::vector<BenchCell> cells;
  for (const std::string &source : request.sources) {
    ProgramRequest program = request.params;
    program.source = source;
    addProgram(cells, program, host);
  }
  if (request.sources.empty()) {
    if (host)
      throw Error(ErrorKind::Request, "the simulator is not measured at a GPU's shapes", "bench",
                  "name an op, and give --dim tokens=N --dim hidden=N");
    addCodecs(cells);
    addCasts(cells);
    addLibrary(cells);
    addShapes(cells);
    addSteps(cells);
    addWhole(cells);
    addNeighbours(cells);
    addWidthsOfModels(cells);
    addRowsApart(cells);
    addStochastic(cells);
    addTransposes(cells);
    addAmaxAndLongRows(cells);
    addContractions(cells);
    addGrouped(cells);
    addAttention(cells);
    addPrefill(cells);
  }
  for (BenchCell &cell : cells) {
    cell.padding = request.padding ? request.padding : cell.padding;
    cell.target = cell.padding ? 0 : targetOf(cell.program);
  }
  dropDoubles(cells);
  std::vector<std::string> parts = split(request.only, '|');
  if (parts.size() > 1)
    std::erase(parts, "");
  std::erase_if(cells, [&](const BenchCell &cell) {
    const std::string name = nameOf(cell);
    return std::ranges::none_of(
        parts, [&](const std::string &part) { return name.find(part) != std::string::npos; });
  });
  if (cells.empty())
    throw Error(ErrorKind::Request, "no cell has '" + request.only + "' in its name", "--only",
                "names are op/dtype/format/block/.../codec/tokensxhidden");
  return cells;
}

} // namespace eider::cli
