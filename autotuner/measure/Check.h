//===- measure/Check.h - Is a candidate right? ------------------*- C++ -*-===//
//
// Part of Eider, under the Apache License v2.0.
//
// The incumbent is held against the reference on sampled rows: the first, the last, the partial
// block at the end, and some between. Every other candidate is held against the incumbent in full,
// on the device.
//
//===----------------------------------------------------------------------===//
#ifndef EIDER_AUTOTUNER_MEASURE_CHECK_H
#define EIDER_AUTOTUNER_MEASURE_CHECK_H

#include "autotuner/measure/Tensors.h"
#include "eider/compile.h"

#include <string>
#include <utility>

namespace eider::tuning {

/// Inputs and outputs of the rows that are sampled, in host memory.
struct Sample {
  std::vector<HostTensor> inputs, outputs;
};

/// Which rows of a program can stand for all of them: results of a block of `block` rows come from
/// those rows alone.
struct RowPlan {
  std::string dim;   ///< Empty: every output may depend on every row.
  int64_t block = 1; ///< rows
};
RowPlan planRows(const Signature &signature, const std::vector<std::string> &fixed);

/// First and last rows of the blocks to sample of `rows` rows in blocks of `block`: pairs
/// [begin, end), in order.
std::vector<std::pair<int64_t, int64_t>> sampledRows(int64_t rows, int64_t block, int64_t width);

/// What the checked set holds in the sampled rows; everything where rows cannot stand for all.
Sample takeSample(const Device &device, const Tensors &tensors, const RowPlan &plan,
                  const Dims &dims);

/// How far an output may lie from another schedule's: so many representable values of its type, or
/// so far in itself, but for what is 0 there (of a sequence without tokens, exactly).
struct Allowed {
  int64_t steps = 0;
  float distance = 0;
};

/// Of those that the reference gives the sampled values.
enum class Bound { Least, Most };

/// None where the reference calls it exact, else what the order of a sum can do; or what two
/// results may that both lie within the reference's `bound`.
Allowed allowedOf(DType type, const Comparison &reference, Bound bound = Bound::Least);

/// Compares tensors on the device with what the incumbent wrote.
class Differences {
public:
  explicit Differences(const Device &device);
  ~Differences();
  Differences(const Differences &) = delete;
  Differences &operator=(const Differences &) = delete;

  /// Whether an element of `tensor` differs from the incumbent's by more than `allowed`; NaNs equal
  /// none but the same NaN.
  bool any(const Tensors::Tensor &tensor, const Allowed &allowed);

private:
  Device device;
  void *flag = nullptr;
};

} // namespace eider::tuning

#endif // EIDER_AUTOTUNER_MEASURE_CHECK_H
