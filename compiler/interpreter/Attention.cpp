//===- Attention.cpp - Queries over keys and values -----------------------===//
//
// Part of Eider, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//
#include "compiler/interpreter/Attention.h"

#include "compiler/interpreter/Blocks.h"
#include "eider/error.h"
#include "llvm/ADT/ArrayRef.h"

#include <algorithm>
#include <functional>
#include <numeric>

using namespace eider;
using namespace eider::interpreter;

namespace {
/// Scales of the blocks of a KV head's rows of keys or of values.
struct Scales {
  std::function<double(int64_t place, int64_t block)> of;
  bool areOfTokens = false; ///< Or of pages, or blocks: they meet what f16 holds.
  int64_t blocks = 1;       ///< Of a row, as many columns each.

  /// Of a scale the power of two that a kernel takes apart.
  double powerOf(int64_t place, int64_t block) const {
    const double scale = std::abs(of(place, block));
    if (!areOfTokens || !std::isfinite(scale))
      return 0;
    return scale == 0 ? -125 : std::clamp(std::log2(scale) + 1, -125.0, 126.0);
  }
};

/// A query head's elements, and how far each may be off where it is computed.
struct Query {
  const double *values, *off = nullptr;
};

/// How far each element of queries may be off; none where they are exact.
class OffQueries {
public:
  explicit OffQueries(const Tensor &queries) : queries(queries) {
    for (int64_t i = 0; !queries.isExact() && i < queries.size(); ++i) {
      const Range range = queries.range(i);
      const double value = queries.values[i];
      off.push_back(range.isPoint() ? 0 : std::max(range.upper - value, value - range.lower));
    }
  }
  Query from(int64_t first) const {
    return {&queries.values[first], off.empty() ? nullptr : &off[first]};
  }

private:
  const Tensor &queries;
  std::vector<double> off;
};

/// One query head on its way over tokens, whose keys and values are [tokens, kv_heads, d or e], in
/// any axes before these; of values the first columns count.
class Head {
public:
  Head(const Tensor &keys, Scales keyScale, const Tensor &values, Scales valueScale,
       int64_t valueColumns, Query query, int64_t kvHead, bool meetsAsCodes)
      : meetsAsCodes(meetsAsCodes), keys(keys), ofValues(values), keyScale(std::move(keyScale)),
        valueScale(std::move(valueScale)), query(query), kvHead(kvHead),
        kvHeads(keys.shape[keys.shape.size() - 2]), width(keys.shape.back()),
        valueColumns(valueColumns) {}

  /// The scores of the tokens in these places, and how far each may be off.
  void score(const std::vector<int64_t> &places);
  /// The scores of the tokens from `first` on become what the function makes of them.
  void change(const ChangeScores &change, int64_t first, int64_t query, int64_t head);
  /// Writes `valueColumns` values and their ranges.
  void weigh(const std::vector<int64_t> &places, double *values, Range *ranges) const;

private:
  bool meetsAsCodes; ///< Queries and keys are multiplied as codes are, which keeps less.
  const Tensor &keys, &ofValues;
  Scales keyScale, valueScale;
  Query query;
  int64_t kvHead, kvHeads, width, valueColumns;
  std::vector<double> scores, slack;
  double largest = -std::numeric_limits<double>::infinity(), slackOfLargest = 0;
  bool hasNaN = false;
  bool meetsNone = false; ///< All scores are -Inf.
  bool isUnknown = false; ///< Some score is off by so much, or so large, that anything is right.

  int64_t rowOf(int64_t place, int64_t columns) const {
    return (place * kvHeads + kvHead) * columns;
  }
  /// Columns of values that have one scale together.
  int64_t columnsOfBlock() const {
    return valueScale.blocks == 1 ? valueColumns : width / valueScale.blocks;
  }
  /// Those of such columns.
  void weighBlock(const std::vector<int64_t> &places, int64_t block, double *values,
                  Range *ranges) const;
};
} // namespace

/// What a score of codes may lose, whether all of its products are one sum (by warpgroups) or each
/// 128 before they are added in f32 (by warps).
static double lostOfScore(const double *query, const double *key, int64_t width) {
  constexpr int64_t promoted = 128;
  double inParts = 0;
  for (int64_t first = 0; first < width; first += promoted)
    inParts += lostOfCodes(query + first, key + first, std::min(promoted, width - first));
  return std::max(inParts, lostOfCodes(query, key, width));
}

void Head::score(const std::vector<int64_t> &places) {
  double amax = 0;
  for (int64_t i = 0; i < width; ++i)
    amax = std::max(amax, std::abs(query.values[i]));
  // Sums of 16 products cut each off below the largest; queries are f16 of their largest's scale.
  // What meets bf16 is f32 in three terms.
  const bool isOfBf16 = keys.dtype == DType::bf16;
  // A block's sum is rounded where it joins the others.
  const int64_t blocks = keyScale.blocks, columns = width / blocks;
  const double lost =
      (double(width) / 16 * (isOfBf16 ? 3 : 1) + 15 + static_cast<double>(blocks)) * 0x1p-23;
  for (int64_t place : places) {
    double score = 0, off = 0;
    for (int64_t block = 0; block < blocks; ++block) {
      const double scale = keyScale.of(place, block) / std::sqrt(double(width));
      const double *asked = query.values + block * columns,
                   *key = &keys.values[rowOf(place, width) + block * columns];
      double sum = 0, magnitudes = 0, ofKeys = 0, ofQuery = 0;
      for (int64_t i = 0; i < columns; ++i) {
        sum += asked[i] * key[i];
        magnitudes += std::abs(asked[i] * key[i]);
        ofKeys += std::abs(key[i]);
        if (const double loose = query.off ? query.off[block * columns + i] : 0; loose > 0x1p90)
          isUnknown = true;
        else
          ofQuery += loose * std::abs(key[i]);
      }
      score += sum * scale;
      off += std::abs(scale) * (magnitudes * lost + 0x1p-24 * amax * ofKeys + ofQuery +
                                (meetsAsCodes ? lostOfScore(asked, key, columns) : 0));
      isUnknown = isUnknown ||
                  std::abs(scale) > 0x1p90 || // times scores of queries that are scaled up
                  (isOfBf16 && ofKeys > 0x1p90);
    }
    scores.push_back(score);
    slack.push_back(off);
    hasNaN = hasNaN || std::isnan(scores.back());
    if (scores.back() > largest) {
      largest = scores.back();
      slackOfLargest = slack.back();
    }
    isUnknown = isUnknown || std::abs(scores.back()) > 0x1p20;
  }
}

void Head::change(const ChangeScores &change, int64_t first, int64_t query, int64_t head) {
  if (!change)
    return;
  constexpr double infinity = std::numeric_limits<double>::infinity();
  const auto count = static_cast<int64_t>(scores.size());
  Tensor given(DType::f32, {count}), keys(DType::f32, {count});
  for (int64_t i = 0; i < count; ++i) {
    auto rounded = [&](double off) { return roundTo(DType::f32, scores[i] + off); };
    const double off = slack[i] + 0x1p-21 * std::abs(scores[i]) + 0x1p-140; // and rounded, too
    given.values[i] = rounded(0);
    given.ranges.push_back(std::abs(scores[i]) > 0x1p90 ? Range::anything()
                                                        : Range{rounded(-off), rounded(off)});
    keys.values[i] = roundTo(DType::f32, static_cast<double>(first + i));
  }
  const Tensor changed = change(given, keys, query, head);
  largest = -infinity;
  slackOfLargest = 0;
  hasNaN = isUnknown = false;
  meetsNone = true;
  for (int64_t i = 0; i < count; ++i) {
    const Range range = changed.range(i);
    scores[i] = changed.values[i];
    slack[i] = range.isPoint() ? 0 : std::max(range.upper - scores[i], scores[i] - range.lower);
    hasNaN = hasNaN || range.isNaN();
    isUnknown = isUnknown || std::isinf(slack[i]) || std::isnan(scores[i]) != range.isNaN();
    meetsNone = meetsNone && range.isPoint() && scores[i] == -infinity;
    if (scores[i] > largest) {
      largest = scores[i];
      slackOfLargest = slack[i];
    }
  }
  // A score far below the largest has no weight, however far.
  isUnknown = isUnknown || std::abs(largest) > 0x1p20;
}

void Head::weigh(const std::vector<int64_t> &places, double *values, Range *ranges) const {
  if (meetsNone) {
    std::fill_n(values, valueColumns, 0.0);
    std::fill_n(ranges, valueColumns, Range::point(0));
    return;
  }
  for (int64_t block = 0; block * columnsOfBlock() < valueColumns; ++block)
    weighBlock(places, block, values, ranges);
}

void Head::weighBlock(const std::vector<int64_t> &places, int64_t block, double *values,
                      Range *ranges) const {
  const auto count = static_cast<int64_t>(places.size());
  std::vector<double> weights(count), off(count);
  double sum = 0, offMean = 0, base = 0;
  // What is off by more than the power is of any use counts only where it may have weight.
  bool isUnknown = this->isUnknown;
  for (int64_t i = 0; i < count; ++i)
    isUnknown =
        isUnknown || (slack[i] > 1 && scores[i] + slack[i] > largest - slackOfLargest - 100);
  // Scores and the powers of scales have a base together.
  for (int64_t i = 0; valueScale.areOfTokens && i < count; ++i) {
    const double power = valueScale.powerOf(places[i], block) * std::log(2.0) + scores[i];
    base = i == 0 ? power : std::max(base, power);
  }
  for (int64_t i = 0; i < count; ++i) {
    weights[i] = std::exp(scores[i] - largest);
    // Scores and their maximum are rounded before they meet, and the power is an approximation.
    off[i] = slack[i] + 0x1p-21 * (std::abs(scores[i]) + std::abs(largest) + 1);
    if (valueScale.areOfTokens)
      off[i] += 0x1p-21 * (std::abs(valueScale.powerOf(places[i], block)) + std::abs(base) + 8);
    sum += weights[i];
    off[i] = slack[i] > 1 ? 0 : std::expm1(off[i]); // of no weight, or all is unknown
    if (weights[i] > 0)
      offMean += weights[i] * off[i];
  }
  offMean /= sum;
  double most = 0, mostScale = 0; // of scales, by weight and as they are
  for (int64_t i = 0; i < count; ++i) {
    const double scale = std::abs(valueScale.of(places[i], block));
    most = std::max(most, weights[i] * scale);
    mostScale = std::max(mostScale, scale);
  }
  const double lost = (double(count) / 16 + 16) * 0x1p-23;
  const double rounded = ofValues.dtype == DType::bf16 ? 0x1p-8 : 0x1p-11;
  const int64_t columns = columnsOfBlock(), first = block * columns;
  for (int64_t column = first; column < std::min(first + columns, valueColumns); ++column) {
    double total = 0, bound = 0, magnitudes = 0, mostCode = 0;
    bool isInfinite = false;
    for (int64_t i = 0; i < count; ++i) {
      const double code = ofValues.values[rowOf(places[i], ofValues.shape.back()) + column];
      const double value = code * valueScale.of(places[i], block);
      mostCode = std::max(mostCode, std::abs(code));
      isInfinite = isInfinite || std::isinf(value);
      total += weights[i] * value;
      magnitudes += weights[i] * std::abs(value);
      // A probability in f16 (or bf16), its token's scale with it, is off by half an ulp, or by the
      // least f16 of the largest.
      const double ofWeight =
          weights[i] == 0 ? 0 : weights[i] * (off[i] + offMean + lost + rounded);
      bound += ofWeight * std::abs(value) + 0x1p-30 * most * std::abs(code);
    }
    values[column] = roundTo(DType::f32, total / sum);
    // Powers of two that are not normal are none; what tokens' scales have of them is a factor.
    const double least = 0x1p-126 + (valueScale.areOfTokens ? 0x1p-124 * mostCode : 0);
    const double slackOfValue = bound / sum + std::abs(total / sum) * 0x1p-21 + least;
    // Which scores are infinite, and what an infinite value weighs nothing of, is the order's.
    const bool overflows = magnitudes > 0x1p115 || mostScale > 0x1p115;
    if (!hasNaN && (isUnknown || overflows || std::isinf(largest) || isInfinite))
      ranges[column] = Range::anything();
    else if (std::isnan(values[column]))
      ranges[column] = Range::point(values[column]);
    else
      ranges[column] = {roundTo(DType::f32, total / sum - slackOfValue),
                        roundTo(DType::f32, total / sum + slackOfValue)};
  }
}

/// Of how many heads scales are: the last axis but that of blocks.
static int64_t headsOf(const Tensor &scale) {
  return scale.shape.size() == 4 ? scale.shape[2] : scale.shape.back();
}

/// A scale of a KV head, of one or one a head.
static double scaleOf(const Tensor &scale, int64_t kvHead) {
  return scale.values[scale.size() == 1 ? 0 : kvHead];
}

/// The scales of a KV head: [s] of all pages, [pages, s] of each, [pages, page, s] of each token,
/// or [pages, page, s, blocks] of its blocks.
static Scales scalesOf(const std::optional<Tensor> &given, int64_t page, int64_t kvHead) {
  if (!given)
    return {[](int64_t, int64_t) { return 1.0; }};
  const Tensor &scale = *given;
  if (scale.shape.size() == 1)
    return {[&scale, kvHead](int64_t, int64_t) { return scaleOf(scale, kvHead); }};
  const int64_t heads = headsOf(scale), together = scale.shape.size() == 2 ? page : 1;
  const int64_t blocks = scale.shape.size() == 4 ? scale.shape.back() : 1;
  return {[=, &scale](int64_t place, int64_t block) {
            const int64_t head = place / together * heads + (heads == 1 ? 0 : kvHead);
            return scale.values[head * blocks + block];
          },
          /*areOfTokens=*/true, blocks};
}

/// Throws where scales, or heads, do not go together.
static void check(int64_t heads, int64_t kvHeads, llvm::ArrayRef<const Tensor *> scales,
                  const std::string &where) {
  if (kvHeads == 0 || heads % kvHeads != 0)
    throw Error(ErrorKind::Request,
                std::to_string(heads) + " query heads for " + std::to_string(kvHeads) +
                    " heads of keys",
                where, "give a multiple");
  for (const Tensor *scale : scales)
    if (const int64_t count = headsOf(*scale); count != 1 && count != kvHeads)
      throw Error(ErrorKind::Request,
                  std::to_string(count) + " scales for " + std::to_string(kvHeads) +
                      " heads of keys",
                  where, "give one, or one a head");
}

/// Throws where blocks of a row are not as many columns each.
static void checkBlocks(int64_t width, int64_t blocks, const std::string &where) {
  if (blocks < 1 || width % blocks != 0)
    throw Error(ErrorKind::Request,
                std::to_string(blocks) + " scales in heads of " + std::to_string(width) +
                    " elements",
                where, "give one to each block of as many");
}

/// Throws for what leads a sequence out of the cache.
[[noreturn]] static void refuse(int64_t sequence, const std::string &what, const Cache &cache,
                                const std::string &where) {
  throw Error(ErrorKind::Request, "sequence " + std::to_string(sequence) + " " + what, where,
              cache.pages
                  ? "give lengths of 0 to pages times their size, and pages that the cache has"
                  : "give lengths of 0 to as many as the cache has of each");
}

/// The first of a sequence's tokens that is met, and one past the last.
static std::pair<int64_t, int64_t> tokensOf(const Cache &cache, int64_t sequence,
                                            const std::string &where) {
  const int64_t page = cache.keys.shape[1], most = cache.pages ? cache.pages->shape[1] : 1;
  const auto length = static_cast<int64_t>(cache.lengths.values[sequence]);
  if (length < 0 || length > most * page)
    refuse(sequence,
           "has length " + std::to_string(length) +
               (cache.pages ? " in " + std::to_string(most) + " pages of " + std::to_string(page)
                            : " of at most " + std::to_string(page) + " tokens"),
           cache, where);
  return {cache.window ? std::max<int64_t>(0, length - cache.window) : 0, length};
}

/// The page of the cache that is a sequence's page `number`.
static int64_t pageOf(const Cache &cache, int64_t sequence, int64_t number,
                      const std::string &where) {
  if (!cache.pages)
    return sequence;
  const auto page =
      static_cast<int64_t>(cache.pages->values[sequence * cache.pages->shape[1] + number]);
  if (page < 0 || page >= cache.keys.shape[0])
    refuse(sequence,
           "has a token on page " + std::to_string(page) + " of " +
               std::to_string(cache.keys.shape[0]),
           cache, where);
  return page;
}

/// The places in the cache of a sequence's tokens.
static std::vector<int64_t> placesOf(const Cache &cache, int64_t sequence,
                                     const std::string &where) {
  const int64_t page = cache.keys.shape[1];
  const auto [first, end] = tokensOf(cache, sequence, where);
  std::vector<int64_t> places;
  for (int64_t token = first; token < end; ++token)
    places.push_back(pageOf(cache, sequence, token / page, where) * page + token % page);
  return places;
}

void interpreter::checkPlaces(const Cache &cache, const std::string &where) {
  const int64_t page = cache.keys.shape[1];
  for (int64_t sequence = 0; sequence < cache.lengths.size(); ++sequence) {
    const auto [first, end] = tokensOf(cache, sequence, where);
    for (int64_t number = first / page; number * page < end; ++number)
      pageOf(cache, sequence, number, where);
  }
}

Tensor interpreter::attend(const Tensor &queries, const Cache &cache, const ChangeScores &change,
                           const std::string &where) {
  const int64_t sequences = queries.shape[0], heads = queries.shape[1], width = queries.shape[2];
  const int64_t page = cache.keys.shape[1], kvHeads = cache.keys.shape[2];
  std::vector<const Tensor *> scales;
  if (cache.keyScale)
    scales = {&*cache.keyScale, &*cache.valueScale};
  check(heads, kvHeads, scales, where);
  if (cache.keyScale && cache.keyScale->shape.size() == 4)
    checkBlocks(width, cache.keyScale->shape.back(), where);
  Tensor result(DType::f32, {sequences, heads, cache.valueColumns});
  result.ranges.resize(result.values.size(), Range::point(0));
  result.isLoose = true; // by weights in f16
  const OffQueries asked(queries);
  for (int64_t sequence = 0; sequence < sequences; ++sequence) {
    const std::vector<int64_t> places = placesOf(cache, sequence, where);
    const auto length = static_cast<int64_t>(cache.lengths.values[sequence]);
    for (int64_t head = 0; head < heads && !places.empty(); ++head) {
      const int64_t query = sequence * heads + head, first = query * cache.valueColumns;
      const int64_t kvHead = head / (heads / kvHeads);
      Head one(cache.keys, scalesOf(cache.keyScale, page, kvHead), cache.values,
               scalesOf(cache.valueScale, page, kvHead), cache.valueColumns,
               asked.from(query * width), kvHead, /*meetsAsCodes=*/false);
      one.score(places);
      one.change(change, length - static_cast<int64_t>(places.size()), length - 1, head);
      one.weigh(places, &result.values[first], &result.ranges[first]);
    }
  }
  return result;
}

/// Whether one of the head's values, of so many columns, is infinite or NaN, from each token of a
/// sequence on.
static std::vector<bool> unboundedAfter(const Tensor &values, int64_t columns, int64_t kvHead,
                                        int64_t start, int64_t end) {
  const int64_t row = values.shape[1] * values.shape[2];
  std::vector<bool> isUnbounded(static_cast<size_t>(end - start + 1));
  for (int64_t token = end - 1; token >= start; --token) {
    const double *first = &values.values[token * row + kvHead * values.shape[2]];
    isUnbounded[token - start] =
        isUnbounded[token - start + 1] ||
        std::any_of(first, first + columns, [](double x) { return !std::isfinite(x); });
  }
  return isUnbounded;
}

/// The token that each sequence begins with, and at last how many there are.
static std::vector<int64_t> startsOf(const KeysAndValues &sequences, const std::string &where) {
  const int64_t tokens = sequences.keys.shape[0];
  if (!sequences.starts)
    return {0, tokens};
  const std::vector<double> &given = sequences.starts->values;
  if (given.empty() || given.front() != 0 || given.back() != static_cast<double>(tokens) ||
      !std::is_sorted(given.begin(), given.end()))
    throw Error(ErrorKind::Request,
                "the starts of sequences do not rise from 0 to " + std::to_string(tokens), where,
                "give the first token of each, and at last how many there are");
  return {given.begin(), given.end()};
}

Tensor interpreter::attend(const Tensor &queries, const KeysAndValues &sequences,
                           const ChangeScores &change, const std::string &where) {
  const int64_t heads = queries.shape[1], width = queries.shape[2];
  const int64_t kvHeads = sequences.keys.shape[1], columns = sequences.valueColumns;
  std::vector<const Tensor *> scales;
  for (const Tensor &scale : sequences.scales)
    scales.push_back(&scale);
  check(heads, kvHeads, scales, where);
  Tensor result(DType::f32, {queries.shape[0], heads, columns});
  result.ranges.resize(result.values.size(), Range::point(0));
  result.isLoose = true; // by weights in f16
  const OffQueries asked(queries);
  auto attendOfHead = [&](int64_t head, int64_t start, int64_t end) {
    const int64_t kvHead = head / (heads / kvHeads);
    auto scaleOfHead = [&](size_t i) { return scales.empty() ? 1.0 : scaleOf(*scales[i], kvHead); };
    auto ofAll = [](double scale) { return Scales{[scale](int64_t, int64_t) { return scale; }}; };
    // Their product is f32, which scales near its ends leave.
    auto isFar = [](double scale) {
      return scale != 0 && std::abs(std::log2(std::abs(scale))) > 60;
    };
    const bool areFar = isFar(scaleOfHead(0)) || isFar(scaleOfHead(1));
    const std::vector<bool> isUnbounded =
        unboundedAfter(sequences.values, columns, kvHead, start, end);
    std::vector<int64_t> places(static_cast<size_t>(end - start));
    std::iota(places.begin(), places.end(), start);
    for (int64_t token = end - 1; token >= start; --token) {
      const int64_t query = token * heads + head, first = query * columns;
      if (sequences.isCausal)
        places.resize(static_cast<size_t>(token - start + 1));
      Head one(sequences.keys, ofAll(scaleOfHead(0) * scaleOfHead(1)), sequences.values,
               ofAll(scaleOfHead(2)), columns, asked.from(query * width), kvHead,
               sequences.mayMeetAsCodes);
      one.score(places);
      one.change(change, 0, token - start, head);
      one.weigh(places, &result.values[first], &result.ranges[first]);
      // Of a later token an infinite value or NaN times a weight of 0 is NaN.
      if (areFar || (sequences.isCausal && isUnbounded[token - start + 1]))
        std::fill_n(&result.ranges[first], columns, Range::anything());
    }
  };
  const std::vector<int64_t> starts = startsOf(sequences, where);
  for (size_t i = 0; i + 1 < starts.size(); ++i)
    for (int64_t head = 0; head < heads; ++head)
      attendOfHead(head, starts[i], starts[i + 1]);
  return result;
}
