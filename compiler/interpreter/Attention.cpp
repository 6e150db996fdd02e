//===- Attention.cpp - Queries over a paged cache -------------------------===//
//
// Part of Eider, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//
#include "compiler/interpreter/Attention.h"

#include "eider/error.h"

using namespace eider;
using namespace eider::interpreter;

namespace {
/// One query head on its way over the tokens of its sequence.
class Head {
public:
  Head(const PagedCache &cache, const double *query, int64_t kvHead)
      : cache(cache), query(query), kvHead(kvHead), width(cache.keys.shape[3]) {}

  /// The scores of the tokens in these places, and how far each may be off.
  void score(const std::vector<int64_t> &places);
  /// Writes `width` values and their ranges.
  void weigh(const std::vector<int64_t> &places, double *values, Range *ranges) const;

private:
  const PagedCache &cache;
  const double *query;
  int64_t kvHead, width;
  std::vector<double> scores, slack;
  double largest = -std::numeric_limits<double>::infinity();
  bool hasNaN = false;
  bool isUnknown = false; ///< Some score is off by so much, or so large, that anything is right.

  int64_t rowOf(int64_t place) const { return (place * cache.keys.shape[2] + kvHead) * width; }
  double scaleOf(const Tensor &scale) const { return scale.values[scale.size() == 1 ? 0 : kvHead]; }
};
} // namespace

void Head::score(const std::vector<int64_t> &places) {
  const double scale = scaleOf(cache.keyScale) / std::sqrt(double(width));
  double amax = 0;
  for (int64_t i = 0; i < width; ++i)
    amax = std::max(amax, std::abs(query[i]));
  // Sums of 16 products cut each off below the largest; queries are f16 of their largest's scale.
  const double lost = (double(width) / 16 + 16) * 0x1p-23;
  for (int64_t place : places) {
    const double *key = &cache.keys.values[rowOf(place)];
    double sum = 0, magnitudes = 0, ofKeys = 0;
    for (int64_t i = 0; i < width; ++i) {
      sum += query[i] * key[i];
      magnitudes += std::abs(query[i] * key[i]);
      ofKeys += std::abs(key[i]);
    }
    scores.push_back(sum * scale);
    slack.push_back(std::abs(scale) * (magnitudes * lost + 0x1p-24 * amax * ofKeys));
    hasNaN = hasNaN || std::isnan(scores.back());
    largest = std::max(largest, scores.back());
    isUnknown = isUnknown || slack.back() > 1 || std::abs(scores.back()) > 0x1p20;
  }
  isUnknown = isUnknown || std::abs(scale) > 0x1p90; // times scores of queries that are scaled up
}

void Head::weigh(const std::vector<int64_t> &places, double *values, Range *ranges) const {
  const auto count = static_cast<int64_t>(places.size());
  std::vector<double> weights(count), off(count);
  double sum = 0, offMean = 0;
  for (int64_t i = 0; i < count; ++i) {
    weights[i] = std::exp(scores[i] - largest);
    // Scores and their maximum are rounded before they meet, and the power is an approximation.
    off[i] = slack[i] + 0x1p-21 * (std::abs(scores[i]) + std::abs(largest) + 1);
    sum += weights[i];
    off[i] = std::expm1(off[i]);
    if (weights[i] > 0)
      offMean += weights[i] * off[i];
  }
  offMean /= sum;
  const double lost = (double(count) / 16 + 16) * 0x1p-23, scale = scaleOf(cache.valueScale);
  for (int64_t column = 0; column < width; ++column) {
    double total = 0, bound = 0, magnitudes = 0;
    bool isInfinite = false;
    for (int64_t i = 0; i < count; ++i) {
      const double value = cache.values.values[rowOf(places[i]) + column] * scale;
      isInfinite = isInfinite || std::isinf(value);
      total += weights[i] * value;
      magnitudes += weights[i] * std::abs(value);
      // A probability in f16 is off by half an ulp, or by the least f16 of the largest.
      const double ofWeight =
          weights[i] == 0 ? 0 : weights[i] * (off[i] + offMean + lost + 0x1p-11);
      bound += (ofWeight + 0x1p-30) * std::abs(value);
    }
    values[column] = roundTo(DType::f32, total / sum);
    const double slackOfValue = bound / sum + std::abs(total / sum) * 0x1p-21 + 0x1p-126;
    // Which scores are infinite, and what an infinite value weighs nothing of, is the order's.
    const bool overflows = magnitudes > 0x1p115 || std::abs(scale) > 0x1p115;
    if (!hasNaN && (isUnknown || overflows || std::isinf(largest) || isInfinite))
      ranges[column] = Range::anything();
    else if (std::isnan(values[column]))
      ranges[column] = Range::point(values[column]);
    else
      ranges[column] = {roundTo(DType::f32, total / sum - slackOfValue),
                        roundTo(DType::f32, total / sum + slackOfValue)};
  }
}

/// The places in the cache of a sequence's tokens.
static std::vector<int64_t> placesOf(const PagedCache &cache, int64_t sequence,
                                     const std::string &where) {
  const int64_t page = cache.keys.shape[1], most = cache.pages.shape[1];
  const double length = cache.lengths.values[sequence];
  auto refuse = [&](const std::string &what) {
    throw Error(ErrorKind::Request, "sequence " + std::to_string(sequence) + " " + what, where,
                "give lengths of 0 to pages times their size, and pages that the cache has");
  };
  if (length < 0 || length > static_cast<double>(most * page))
    refuse("has length " + std::to_string(static_cast<int64_t>(length)) + " in " +
           std::to_string(most) + " pages of " + std::to_string(page));
  std::vector<int64_t> places;
  const auto end = static_cast<int64_t>(length);
  for (int64_t token = cache.window ? std::max<int64_t>(0, end - cache.window) : 0; token < end;
       ++token) {
    const double chosen = cache.pages.values[sequence * most + token / page];
    if (chosen < 0 || chosen >= static_cast<double>(cache.keys.shape[0]))
      refuse("has a token on page " + std::to_string(static_cast<int64_t>(chosen)) + " of " +
             std::to_string(cache.keys.shape[0]));
    places.push_back(static_cast<int64_t>(chosen) * page + token % page);
  }
  return places;
}

Tensor interpreter::attend(const Tensor &queries, const PagedCache &cache,
                           const std::string &where) {
  const int64_t sequences = queries.shape[0], heads = queries.shape[1], width = queries.shape[2];
  const int64_t kvHeads = cache.keys.shape[2];
  if (kvHeads == 0 || heads % kvHeads != 0)
    throw Error(ErrorKind::Request,
                std::to_string(heads) + " query heads for " + std::to_string(kvHeads) +
                    " heads of the cache",
                where, "give a multiple");
  for (const Tensor *scale : {&cache.keyScale, &cache.valueScale})
    if (scale->size() != 1 && scale->size() != kvHeads)
      throw Error(ErrorKind::Request,
                  std::to_string(scale->size()) + " scales for " + std::to_string(kvHeads) +
                      " heads of the cache",
                  where, "give one, or one a head");
  Tensor result(DType::f32, queries.shape);
  result.ranges.resize(result.values.size(), Range::point(0));
  for (int64_t sequence = 0; sequence < sequences; ++sequence) {
    const std::vector<int64_t> places = placesOf(cache, sequence, where);
    for (int64_t head = 0; head < heads && !places.empty(); ++head) {
      const int64_t first = (sequence * heads + head) * width;
      Head one(cache, &queries.values[first], head / (heads / kvHeads));
      one.score(places);
      one.weigh(places, &result.values[first], &result.ranges[first]);
    }
  }
  return result;
}
