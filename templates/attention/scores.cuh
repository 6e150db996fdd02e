//===- eider/attention/scores.cuh - What changes scores ---------*- C++ -*-===//
//
// Part of Eider, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//
#ifndef EIDER_ATTENTION_SCORES_CUH
#define EIDER_ATTENTION_SCORES_CUH

#include "eider/fragment.cuh"

namespace eider {

/// The power of two that e is.
constexpr EIDER_DEVICE float log2_e() { return 1.442695041f; }

/// Queries whose scores, q · k / √d, a function changes before softmax takes them: `score` of a
/// query head gives a function of a score, the positions of query and key, and the head, all float.
/// A score of -Inf has no weight.
template <class Q, class Score_> struct ScoredQueries {
  using Element = Q;
  using Score = Score_;
  const Q *elements;
  Score score;
};
template <class Q, class Score>
EIDER_DEVICE ScoredQueries<Q, Score> scored(const Q *queries, const Score &score) {
  return {queries, score};
}

/// Of queries whose scores stay as they are.
struct PlainScores {
  EIDER_DEVICE PlainScores operator()(int64) const { return {}; }
};
template <class Score> inline constexpr bool is_plain = same<Score, PlainScores>;

/// Queries that are given as they are, or with a function.
template <class Q> EIDER_DEVICE ScoredQueries<Q, PlainScores> asked_of(const Q *queries) {
  return {queries, {}};
}
template <class Q, class Score>
EIDER_DEVICE ScoredQueries<Q, Score> asked_of(const ScoredQueries<Q, Score> &queries) {
  return queries;
}

/// What a score is multiplied with where it is none in powers of two yet.
template <class Score> inline constexpr float to_powers = is_plain<Score> ? log2_e() : 1.0f;

} // namespace eider

#endif // EIDER_ATTENTION_SCORES_CUH
