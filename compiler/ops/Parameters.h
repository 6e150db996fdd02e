//===- Parameters.h - What an op of the library is asked for ----*- C++ -*-===//
//
// Part of Eider, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//
#ifndef EIDER_OPS_PARAMETERS_H
#define EIDER_OPS_PARAMETERS_H

#include "eider/dsl.h"

namespace eider::ops {

/// The parameters of a library op, read and checked.
struct Parameters {
  std::string op;         ///< Its name.
  bool quantises = false; ///< y is quantised; else it is of `dtype`.
  DType dtype = bf16;
  DType format = e4m3, fromFormat = e4m3; ///< Of y, and of an x that is scaled itself, or a cache.
  Block block = {1, 128}, fromBlock = {1, 128};
  DType scale = f32, fromScale = f32;
  ScaleLayout layout = ScaleLayout::row_major, fromLayout = ScaleLayout::row_major;
  DType index = DType::i64; ///< Of what chooses rows.
  bool givenScales = false;
  std::string mode = "default";
  std::map<std::string, std::string> numerics;
  std::map<std::string, int64_t> settings; ///< Of the op itself: every one that it has.
  std::optional<DType> copy;               ///< The type of a copy of y that is not quantised.
  bool transposes = false;                 ///< The transpose of what y is, as yt.
  bool givesAmax = false;                  ///< The largest magnitude of y before it is quantised.

  /// The block, of a tensor of heads side by side as of the matrix of these rows: in one head, or
  /// of all where it is a whole row.
  Block blockOf(const Shape &shape) const {
    return shape.size() < 3 ? block : Block{block[0], block[1] == whole ? whole : 1, block[1]};
  }

  /// How to quantise a tensor of `shape`; given scales are declared as the input `scaleName`, one a
  /// block, in the layout; the second level of scales of e4m3 as `<name>_global_scale`; stochastic
  /// rounding has the integers `seed` and `offset` (of a tensor that is not y: `<name>_seed` and
  /// `<name>_offset`), 0 unless given.
  QuantizeOptions quantization(Builder &b, const Shape &shape, const std::string &name = "y",
                               const std::string &scaleName = "scale") const {
    QuantizeOptions options{.block = blockOf(shape),
                            .scale = scale,
                            .layout = layout,
                            .mode = mode,
                            .numerics = numerics};
    if (givenScales)
      options.scales = b.input(scaleName, scale, blocks_of(shape, options.block), layout);
    if (scale == e4m3)
      options.global = b.input(name + "_global_scale", f32, {1});
    if (auto rounding = numerics.find("rounding");
        rounding != numerics.end() && rounding->second == "stochastic") {
      const std::string whose = name == "y" ? "" : name + "_";
      options.seed = b.integer(whose + "seed", 0);
      options.offset = b.integer(whose + "offset", 0);
    }
    return options;
  }

  /// An input whose rows are codes with scales, dequantised; of a `format` that is no codes as it
  /// is.
  Value dequantised(Builder &b, const std::string &name, const Shape &shape) const {
    const bool isOfCodes = format != bf16 && format != f16;
    return isOfCodes ? dequantize(b.scaled_input(name, format, shape, block, scale))
                     : b.input(name, format, shape);
  }

  /// The result: `value`, quantised or rounded to `dtype`; the same of its transpose; its copy, and
  /// its amax.
  void write(Builder &b, const Value &value) const;
};

} // namespace eider::ops

#endif // EIDER_OPS_PARAMETERS_H
