//===- bench/llm/Layer.h - One decode layer of a transformer ----*- C++ -*-===//
//
// Part of Eider, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//
#ifndef EIDER_BENCH_LLM_LAYER_H
#define EIDER_BENCH_LLM_LAYER_H

#include "bench/measure/Prepared.h"
#include "eider/compile.h"

#include <map>
#include <string>
#include <vector>

namespace eider::llm {

/// A transformer's dims, of which all layers are alike.
struct Model {
  std::string name;
  int64_t hidden, heads, kvHeads, headDim, ffn, layers;

  int64_t ofQueries() const { return heads * headDim; }
  int64_t ofKeys() const { return kvHeads * headDim; }
  int64_t ofQkv() const { return ofQueries() + 2 * ofKeys(); }
};

/// Sequences that each get one token, and the most tokens that each may have.
struct Batch {
  int64_t sequences, context;

  static constexpr int64_t page = 16;
  int64_t pagesOfEach() const { return (context + page - 1) / page; }
  int64_t pages() const { return sequences * pagesOfEach(); }
};

/// What a product is given beside the weights: bf16 (W8A16), or codes of E4M3 with a scale each 128
/// columns, or a head's (W8A8), which the norm, the attention's end and silu · mul before it make.
enum class Activations { bf16, e4m3 };

/// A layer's step for one token a sequence, all of it by Eider's kernels: norm, QKV, the heads'
/// norm, rope and the append to a paged cache of E4M3, attention, output, norm, gate and up,
/// silu · mul, down, of bf16 and several sequences these two as one program. Weights are E4M3 with
/// a scale a row; what else goes between programs is bf16.
class DecodeLayer {
public:
  /// Makes its tensors, filled with nothing. Throws Error.
  DecodeLayer(const Device &device, const Model &model, const Batch &batch,
              Activations activations);

  struct Tensor {
    std::shared_ptr<void> memory;
    DType dtype = DType::bf16;
    std::vector<int64_t> shape;
    int64_t elements() const;
    size_t bytes() const;
  };
  /// By name: x and residual [sequences, hidden] come in and go out; norm1 and norm2 [hidden],
  /// q_norm and k_norm [headDim]; cos and sin [context, headDim / 2]; positions and slots
  /// [sequences]; lengths [sequences] and table [sequences, pages of each], of the cache with its
  /// new tokens; k_cache and v_cache [pages, page, kvHeads, headDim] with k_scale and v_scale [1];
  /// and of each weight w [outputs, inputs] of weights(): w and w_scale.
  Tensor &at(const std::string &name) { return tensors.at(name); }
  static const std::vector<std::string> &weights(); ///< qkv, o, gate_up, down

  /// Quantises a weight of bf16 in device memory; waits until it is done. Throws Error.
  void setWeight(const std::string &name, const void *values);

  /// Prepares the kernels for tensors as they are now. Throws Error.
  void prepare();
  /// One step. Throws Error.
  void launch(Stream stream) const;

  /// What a step reads and writes of weights, and of caches of full sequences: bytes.
  double bytesOfWeights() const;
  double bytesOfCaches() const;

private:
  void make(const std::string &name, DType dtype, std::vector<int64_t> shape);
  /// A part of the tensor's rows, from a column on.
  NamedTensor part(std::string_view as, const std::string &name, int64_t column);
  void step(const std::string &op, const OpParameters &parameters, const Dims &dims,
            std::vector<NamedTensor> given);
  NamedTensor whole(std::string_view as, const std::string &name);
  /// Runs an op that writes what a product reads, quantised if that is codes.
  void feed(const std::string &op, int64_t hidden, std::vector<NamedTensor> given,
            const std::string &y);
  void multiply(const std::string &weight, const std::string &x, const std::string &y);

  Device device;
  Model model;
  Batch batch;
  Activations activations;
  std::map<std::string, Tensor> tensors;
  std::vector<bench::Launch> steps;
};

} // namespace eider::llm

#endif // EIDER_BENCH_LLM_LAYER_H
