//===- Attention.h - Queries over keys and values ---------------*- C++ -*-===//
//
// Part of Eider, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//
#ifndef EIDER_INTERPRETER_ATTENTION_H
#define EIDER_INTERPRETER_ATTENTION_H

#include "compiler/interpreter/Tensor.h"

#include <functional>

namespace eider::interpreter {

/// What softmax takes of a query's scores: their positions, one for each, the query's, and its
/// head. Ranges go in and come out. Null: the scores as they are.
using ChangeScores =
    std::function<Tensor(const Tensor &scores, const Tensor &keys, int64_t query, int64_t head)>;

/// A cache: keys and values [pages, page, kv_heads, d], decoded, and what finds them; of each
/// sequence the last `window` tokens are met, or all (0).
struct Cache {
  Tensor keys, values;
  /// [s], [pages, s], [pages, page, s] or [pages, page, s, blocks], s being 1 or kv_heads; none:
  /// all are 1.
  std::optional<Tensor> keyScale, valueScale;
  std::optional<Tensor> pages; ///< None: there is one of each sequence.
  Tensor lengths;
  int64_t window = 0;
  int64_t valueColumns = 0; ///< That values have, the first of d.
};

/// eider.attention: in double, one softmax a query head over all tokens of its sequence. The range
/// allows for sums of products that tensor cores cut off, for scores that are rounded on the way to
/// a power of two, for probabilities in f16, of bf16 in bf16, and for any order of the tokens.
/// Throws Error for a length that is no number of tokens, and for a page that is not there.
Tensor attend(const Tensor &queries, const Cache &cache, const ChangeScores &change,
              const std::string &where);

/// Throws Error as `attend` does, of what finds a cache's tokens: of keys the shape alone is asked.
void checkPlaces(const Cache &cache, const std::string &where);

/// Keys and values of sequences, one after the other, [s, kv_heads, d or e], decoded, and the
/// scales of queries, keys and values; none: all are 1.
struct KeysAndValues {
  Tensor keys, values;
  std::vector<Tensor> scales;
  std::optional<Tensor> starts; ///< Of each sequence, and s; none: there is one.
  bool isCausal = false;
  bool mayMeetAsCodes = false; ///< Some kernel multiplies queries and keys as codes.
  int64_t valueColumns = 0;    ///< That values have, the first of theirs.
};

/// eider.prefill, of queries [s, h, d] that are decoded; as the other in its ranges. Throws Error
/// for starts that do not rise from 0 to s.
Tensor attend(const Tensor &queries, const KeysAndValues &sequences, const ChangeScores &change,
              const std::string &where);

} // namespace eider::interpreter

#endif // EIDER_INTERPRETER_ATTENTION_H
