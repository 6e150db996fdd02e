//===- Attention.cpp - Queries over keys and values -----------------------===//
//
// Part of Eider, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//
#include "compiler/dsl/Score.h"

using namespace eider;
using namespace eider::detail;

namespace {
/// An input that attention reads.
struct Read {
  const char *what, *shape;
  size_t rank, most = rank; ///< Of so many axes, or of some more.
  bool mayBeComputed = false;
  mlir::Value value = {};

  Extents extents() const { return Recording::extentsOf(value.getType()); }
  mlir::Type element() const { return mlir::getElementTypeOrSelf(value.getType()); }
};
} // namespace

/// `operand` as what it is read as; fails where it is no input of that rank, or computed and may.
static Read read(const Operand &operand, Read read, const Site &site) {
  if (Recording::enter("attention", {&operand}).recording != site.recording)
    site.fail(std::string("queries and ") + read.what + " are of two Builders",
              "take both from one");
  read.value = site.recording->recorded(operand, site);
  if (!read.mayBeComputed && !read.value.getDefiningOp<ir::InputOp>())
    site.fail(std::string("the ") + read.what + " are computed",
              "give them as an input, from a program of its own");
  if (read.extents().size() < read.rank || read.extents().size() > read.most)
    site.fail(std::string("the ") + read.what + " are " + textOf(read.extents()),
              std::string("give them as ") + read.shape);
  return read;
}

/// Keys and values are of one shape and one format.
static void checkAlike(const Read &keys, const Read &values, const Site &site) {
  if (keys.value.getType() != values.value.getType())
    site.fail("keys are " + textOf(keys.extents()) + " and values " + textOf(values.extents()) +
                  ", or of other codes",
              "give both one shape and one format");
}

/// Both are codes of one format, and of as many heads of as many tokens.
static void checkCodes(const Read &keys, const Read &values, const Site &site) {
  for (const Read &one : {keys, values})
    if (!ir::isCodeType(one.element()))
      site.fail(std::string("the ") + one.what + " are no codes", "declare them by Builder::codes");
  const Extents ofKeys = keys.extents(), ofValues = values.extents();
  if (keys.element() != values.element() ||
      !std::equal(ofKeys.begin(), ofKeys.end() - 1, ofValues.begin()))
    site.fail("keys are " + textOf(ofKeys) + " and values " + textOf(ofValues) +
                  ", or of other codes",
              "give both one shape, but for the last dim, and one format");
}

/// Values that are columns of the keys have the keys' scales.
template <class Source> static void checkScalesOfKeys(const Source &from, const Site &site) {
  if (!from.values && from.value_scale)
    site.fail("values that are columns of the keys have scales of their own",
              "leave value_scale out: the keys' are theirs");
}

/// The scales of a cache whose keys are read: of these and of values, which are the keys' where
/// values are, or none.
static llvm::SmallVector<mlir::Value> scalesOf(const KVCache &cache, const Read &keys,
                                               const Site &site) {
  const char *shapes = "[s], [pages, s], [pages, page, s] or [pages, page, s, blocks], s being 1 "
                       "or kv_heads";
  if (!cache.key_scale && !cache.value_scale)
    return {mlir::Value(), mlir::Value()};
  const bool areKeys = !cache.values;
  checkScalesOfKeys(cache, site);
  if (!cache.key_scale || (!areKeys && !cache.value_scale))
    site.fail("some scales are given, and others are not",
              "give those of keys and values, or none");
  if (!ir::isCodeType(keys.element()))
    site.fail("the keys are no codes, and have scales", "leave scales out");
  const Read ofKeys = read(Operand(*cache.key_scale, site.where), {"scales of keys", shapes, 1, 4},
                           site),
             ofValues = read(Operand(*(areKeys ? cache.key_scale : cache.value_scale), site.where),
                             {"scales of values", shapes, 1, 4}, site);
  for (const Read &one : {ofKeys, ofValues}) {
    if (!one.element().isF32())
      site.fail(std::string("the ") + one.what + " are no f32", "give scales of f32");
    const Extents axes = one.extents(), all = keys.extents();
    if (!std::equal(axes.begin(), axes.begin() + std::min<size_t>(axes.size() - 1, 2), all.begin()))
      site.fail(std::string("the ") + one.what + " are " + textOf(axes) + ", the keys " +
                    textOf(all),
                std::string("give them as ") + shapes);
  }
  if (ofKeys.value.getType() != ofValues.value.getType())
    site.fail("scales of keys are " + textOf(ofKeys.extents()) + " and those of values " +
                  textOf(ofValues.extents()),
              "give both one shape");
  return {ofKeys.value, ofValues.value};
}

/// Columns of the values of a cache or of sequences: as many as these have, or fewer of a key.
template <class Source>
static ir::DimExpr valueColumns(const Source &from, const Read &keys, const Read &values,
                                const Site &site) {
  const ir::DimExpr all = keys.extents().back();
  if (from.value_columns == 0)
    return values.extents().back();
  if (from.values)
    site.fail(std::to_string(from.value_columns) + " columns of keys are the values, and others "
                                                   "are given",
              "leave values or value_columns out");
  if (from.value_columns < 0 || (!all.name && from.value_columns > all.extent(0)))
    site.fail("the values are " + std::to_string(from.value_columns) + " columns of keys " +
                  textOf(keys.extents()),
              "give as many as keys have, or fewer");
  return {nullptr, from.value_columns, 1};
}

Value eider::attention(const Operand &q, const KVCache &cache, const AttentionOptions &options) {
  Site site = Recording::enter("attention", {&q});
  if (options.window < 0)
    site.fail("a window of " + std::to_string(options.window) + " tokens",
              "give how many are met, or 0 for all");
  Recording &recording = *site.recording;
  const Read queries = read(q, {"queries", "[b, h, d]", 3, 3, /*mayBeComputed=*/true}, site);
  if (!ir::isValueType(queries.element()))
    site.fail("the queries are no floats", "use f32, bf16 or f16");
  const char *pages = "[pages, page, kv_heads, d]";
  auto of = [&](const Value &value) { return Operand(value, site.where); };
  const Read keys = read(of(cache.keys), {"keys", pages, 4}, site),
             values = read(of(cache.values.value_or(cache.keys)), {"values", pages, 4}, site),
             lengths = read(of(cache.lengths), {"lengths", "[b]", 1}, site);
  for (const Read &one : {keys, values})
    if (!ir::isCodeType(one.element()) && !one.element().isBF16() && !one.element().isF16())
      site.fail(std::string("the ") + one.what + " are neither codes, bf16 nor f16",
                "declare codes by Builder::codes, others by Builder::input");
  checkAlike(keys, values, site);
  const llvm::SmallVector<mlir::Value> scales = scalesOf(cache, keys, site);
  auto checkCount = [&](const Read &one, const char *remedy) {
    if (one.extents().front() != queries.extents().front())
      site.fail(std::string("the ") + one.what + " are " + textOf(one.extents()) +
                    ", the queries " + textOf(queries.extents()),
                remedy);
  };
  auto checkIndices = [&](const Read &one) {
    if (!ir::isIndexType(one.element()))
      site.fail(std::string("the ") + one.what + " are no integers", "use i32 or i64");
    checkCount(one, "give as many as sequences");
    return one.value;
  };
  checkIndices(lengths);
  mlir::Value table;
  if (cache.block_table)
    table =
        checkIndices(read(of(*cache.block_table), {"rows of the block table", "[b, n]", 2}, site));
  else
    checkCount(keys, "give each sequence one page, or a block table");
  if (keys.extents().back() != queries.extents().back())
    site.fail("queries " + textOf(queries.extents()) + " do not meet keys " +
                  textOf(keys.extents()),
              "give both one last dim");
  Extents extents = queries.extents();
  extents.back() = valueColumns(cache, keys, values, site);
  const ScoreRegion score = recordScore(options.score, queries.value, site);
  mlir::Type type = recording.tensorType(extents, recording.builder.getF32Type());
  auto op =
      ir::AttentionOp::create(recording.builder, recording.unknown, type, queries.value, keys.value,
                              scales[0], values.value, scales[1], table, lengths.value,
                              score.captured, options.window, ir::CodecPathAttr());
  score.moveInto(op.getScore());
  return recording.wrap(op);
}

Value eider::attention(const Sequence &sequence, const PrefillOptions &options,
                       std::source_location where) {
  auto of = [&](const Value &value) { return Operand(value, where); };
  const Operand q = of(sequence.queries);
  Site site = Recording::enter("attention", {&q});
  const char *perHead = "[1] or [kv_heads]";
  const Read queries = read(q, {"queries", "[s, h, d]", 3, 3, /*mayBeComputed=*/true}, site),
             keys = read(of(sequence.keys), {"keys", "[s, kv_heads, d]", 3}, site),
             values = read(of(sequence.values.value_or(sequence.keys)),
                           {"values", "[s, kv_heads, e]", 3}, site);
  const bool areCodes = ir::isCodeType(queries.element());
  if (!areCodes && !queries.element().isBF16() && !queries.element().isF16())
    site.fail("the queries are neither codes, bf16 nor f16",
              "declare codes by Builder::codes, others by Builder::input");
  if (!areCodes && sequence.query_scale)
    site.fail("the queries are no codes, and have scales", "leave query_scale out");
  checkCodes(keys, values, site);
  if (areCodes && queries.element() != keys.element())
    site.fail("queries and keys are of two formats", "give both one");
  if (queries.extents().front() != keys.extents().front() ||
      queries.extents().back() != keys.extents().back())
    site.fail("queries " + textOf(queries.extents()) + " do not meet keys " +
                  textOf(keys.extents()),
              "give both one first and one last dim");
  checkScalesOfKeys(sequence, site);
  const std::pair<const std::optional<Value> *, const char *> given[] = {
      {&sequence.query_scale, "scales of queries"},
      {&sequence.key_scale, "scales of keys"},
      {sequence.values ? &sequence.value_scale : &sequence.key_scale, "scales of values"}};
  llvm::SmallVector<mlir::Value> scales;
  for (auto [scale, what] : given) {
    if (!*scale)
      continue;
    const Read one = read(of(**scale), {what, perHead, 1}, site);
    if (!one.element().isF32())
      site.fail(std::string("the ") + what + " are no f32", "give scales of f32");
    scales.push_back(one.value);
    if (one.value.getType() != scales.front().getType())
      site.fail(std::string("the ") + what + " are " + textOf(one.extents()) + ", others are not",
                "give as many of each");
  }
  if (scales.size() % (areCodes ? 3 : 2) != 0)
    site.fail("some scales are given, and others are not",
              "give those of queries that are codes, keys and values, or none");
  mlir::Value starts;
  if (sequence.starts) {
    const Read one = read(of(*sequence.starts), {"starts", "[sequences + 1]", 1}, site);
    if (!ir::isIndexType(one.element()))
      site.fail("the starts are no integers", "use i32 or i64");
    starts = one.value;
  }
  Recording &recording = *site.recording;
  const ScoreRegion score = recordScore(options.score, queries.value, site);
  Extents extents = queries.extents();
  extents.back() = valueColumns(sequence, keys, values, site);
  mlir::Type type = recording.tensorType(extents, recording.builder.getF32Type());
  auto op = ir::PrefillOp::create(recording.builder, recording.unknown, type, queries.value,
                                  keys.value, values.value, scales, starts, score.captured,
                                  options.causal, ir::CodecPathAttr());
  score.moveInto(op.getScore());
  return recording.wrap(op);
}
