//===- eider/dsl.h - Describe an op ------------------------------*- C++ -*-===//
//
// Part of Eider, under the Apache License v2.0.
//
// A Builder records what is computed on tensors: no threads, no memory. All arithmetic is f32: bf16
// and f16 operands are widened first, and rounded only where they are stored, or where `cast` or
// `round_to` says so. Operands broadcast: dims align at the end, a dim of 1 or one value a block
// repeats. Whatever is wrong throws eider::Error, whose `where` is the op's name with the caller's
// file and line.
//
//===----------------------------------------------------------------------===//
#ifndef EIDER_DSL_H
#define EIDER_DSL_H

#include "eider/dtype.h"
#include "eider/error.h"
#include "eider/scale_layout.h"

#include <cstdint>
#include <functional>
#include <initializer_list>
#include <map>
#include <memory>
#include <optional>
#include <source_location>
#include <string>
#include <vector>

namespace eider {

namespace detail {
class Recording;
struct ProgramImpl;
struct ScoreRecording;
} // namespace detail

//===-- Dims and blocks ---------------------------------------------------===//

/// An extent: a named dim, a multiple of one, one of its blocks, or a constant.
class EIDER_API Dim {
public:
  /// A constant extent.
  Dim(int64_t extent) : factor_(extent) {}

  /// `2 * hidden`.
  friend EIDER_API Dim operator*(int64_t factor, const Dim &dim);
  friend EIDER_API Dim operator*(const Dim &dim, int64_t factor);
  /// The number of blocks of `block` elements in `dim`, a partial one included.
  friend EIDER_API Dim ceildiv(const Dim &dim, int64_t block);

  bool operator==(const Dim &) const = default;

private:
  friend class Builder;
  friend class detail::Recording;
  Dim(std::string name, int64_t factor, int64_t divisor)
      : name_(std::move(name)), factor_(factor), divisor_(divisor) {}

  /// ceil(factor · name / divisor); without the name for a constant.
  std::string name_;
  int64_t factor_ = 1, divisor_ = 1;
};

EIDER_API Dim operator*(int64_t factor, const Dim &dim);
EIDER_API Dim operator*(const Dim &dim, int64_t factor);
EIDER_API Dim ceildiv(const Dim &dim, int64_t block);

using Shape = std::vector<Dim>;

/// Extents of a block, one an axis, each at least 1, or `whole`.
using Block = std::vector<int64_t>;

/// A block's extent: all of the axis.
inline constexpr int64_t whole = -1;

/// The shape of one value a block. Throws Error.
EIDER_API Shape blocks_of(const Shape &shape, const Block &block,
                          std::source_location where = std::source_location::current());

//===-- Values ------------------------------------------------------------===//

/// A tensor or a scalar that the program computes. Cheap to copy; valid beyond its Builder.
class EIDER_API Value {
public:
  /// No value; any use but assignment throws.
  Value() = default;

  /// Gives the value a name, which the emitted text takes for its variable. Arguments keep their
  /// own.
  Value named(const std::string &name,
              std::source_location where = std::source_location::current()) const;

  /// The extents; empty for a scalar.
  Shape shape() const;
  DType dtype() const;

private:
  friend class detail::Recording;
  std::shared_ptr<detail::Recording> recording_;
  const void *value_ = nullptr;
};

/// Codes and scales together.
class EIDER_API Scaled {
public:
  Shape shape() const;
  DType format() const;
  const Block &block() const { return block_; }

private:
  friend class detail::Recording;
  std::shared_ptr<detail::Recording> recording_;
  const void *value_ = nullptr;
  Block block_;
};

/// What an operator takes: a value or a C++ number (rounded to f32; infinities too, NaN not), and
/// where it was written.
class EIDER_API Operand {
public:
  Operand(const Value &value, std::source_location where = std::source_location::current())
      : value_(value), isValue_(true), where_(where) {}
  Operand(double number, std::source_location where = std::source_location::current())
      : number_(number), isValue_(false), where_(where) {}

private:
  friend class detail::Recording;
  Value value_;
  double number_ = 0;
  bool isValue_;
  std::source_location where_;
};

/// A comparison, for `select`.
class EIDER_API Mask {
private:
  friend class detail::Recording;
  enum class Kind { Less, LessEqual, Greater, GreaterEqual, Equal, NotEqual };
  Mask(Kind kind, Operand left, Operand right)
      : kind_(kind), left_(std::move(left)), right_(std::move(right)) {}

  Kind kind_;
  Operand left_, right_;

public:
  friend EIDER_API Mask operator<(const Operand &left, const Operand &right);
  friend EIDER_API Mask operator<=(const Operand &left, const Operand &right);
  friend EIDER_API Mask operator>(const Operand &left, const Operand &right);
  friend EIDER_API Mask operator>=(const Operand &left, const Operand &right);
  friend EIDER_API Mask operator==(const Operand &left, const Operand &right);
  friend EIDER_API Mask operator!=(const Operand &left, const Operand &right);
};

EIDER_API Mask operator<(const Operand &left, const Operand &right);
EIDER_API Mask operator<=(const Operand &left, const Operand &right);
EIDER_API Mask operator>(const Operand &left, const Operand &right);
EIDER_API Mask operator>=(const Operand &left, const Operand &right);
EIDER_API Mask operator==(const Operand &left, const Operand &right);
EIDER_API Mask operator!=(const Operand &left, const Operand &right);

/// Gives the value a name: `named(x + y, "h")`.
EIDER_API Value named(const Value &value, const std::string &name,
                      std::source_location where = std::source_location::current());

//===-- Elementwise -------------------------------------------------------===//

// Correctly rounded; a product is contracted where a sum alone takes it, and nowhere else.
EIDER_API Value operator+(const Operand &left, const Operand &right);
EIDER_API Value operator-(const Operand &left, const Operand &right);
EIDER_API Value operator*(const Operand &left, const Operand &right);
EIDER_API Value operator/(const Operand &left, const Operand &right);
EIDER_API Value operator-(const Operand &value);
/// left · right + addend, rounded once: one instruction where two operators are two.
EIDER_API Value fma(const Operand &left, const Operand &right, const Operand &addend);
EIDER_API Value sqrt(const Operand &value);
EIDER_API Value rcp(const Operand &value); ///< 1 / x

// Exact. A NaN operand gives NaN.
EIDER_API Value min(const Operand &left, const Operand &right);
EIDER_API Value max(const Operand &left, const Operand &right);
EIDER_API Value abs(const Operand &value);
EIDER_API Value relu(const Operand &value); ///< max(x, 0)
EIDER_API Value clamp(const Operand &value, const Operand &low, const Operand &high);
/// `ifTrue` where the comparison holds, else `ifFalse`; only != holds of a NaN. Indices are
/// compared with indices and integers.
EIDER_API Value select(const Mask &condition, const Operand &ifTrue, const Operand &ifFalse);

// Approximate, each within the bound of ulp that its template states.
EIDER_API Value exp(const Operand &value);
EIDER_API Value exp2(const Operand &value);
EIDER_API Value log(const Operand &value);
EIDER_API Value rsqrt(const Operand &value);
EIDER_API Value tanh(const Operand &value);
EIDER_API Value erf(const Operand &value);
EIDER_API Value sigmoid(const Operand &value); ///< 1 / (1 + exp(-x))
EIDER_API Value silu(const Operand &value);    ///< x · sigmoid(x)
EIDER_API Value gelu(const Operand &value);    ///< x / 2 · (1 + erf(x / √2))
EIDER_API Value gelu_tanh(const Operand &value); ///< x / 2 · (1 + tanh(√(2/π) · (x + 0.044715 x³)))

//===-- Types -------------------------------------------------------------===//

/// The value in another float type (f32, bf16, f16), nearest even.
EIDER_API Value cast(const Operand &value, DType type);
/// The value rounded to `type` (bf16, f16), in f32 again.
EIDER_API Value round_to(const Operand &value, DType type);

//===-- Shapes ------------------------------------------------------------===//

/// The value repeated over `shape`, in its type; scales of one byte in f32, indices in i64.
EIDER_API Value broadcast(const Operand &value, const Shape &shape);
/// Rows and columns of a matrix exchanged.
EIDER_API Value transpose(const Operand &value);
/// The halves of the last axis, whose extent is an even multiple.
EIDER_API Value first_half(const Operand &value);
EIDER_API Value second_half(const Operand &value);

//===-- Positions, and rows chosen by an index ----------------------------===//

// Indices are exact integers of 64 bits, whatever is stored: inputs of i32 or i64, positions and
// extents. They are added, subtracted, compared (select) and choose rows; nothing else is computed
// with them.

/// Where each element of `value` is along `axis`: 0, 1, 2, …, of extent 1 along the other axis.
EIDER_API Value position(const Operand &value, int axis);
/// Rows of `table`, an input or a dequantised one: row i is its row index[i]; zeros where that is
/// not one of its rows, as -1 is not. Nothing outside the table is read. `index` has one value a
/// row.
EIDER_API Value gather(const Operand &table, const Operand &index);
/// Column `column` of an input of a constant number of columns: one value a row.
EIDER_API Value column(const Operand &matrix, int64_t column);
/// Rows of an input of n columns, gathered or not, repeated along rows of `columns`, which is a
/// multiple of n · each: column j is column (j / each) mod n.
EIDER_API Value repeat(const Operand &value, const Dim &columns, int64_t each = 1);
/// Of each `over` neighbours in a row, the halves (a, b) as (-b, a); 2: each pair.
EIDER_API Value rotate_halves(const Operand &value, int64_t over);

//===-- Reductions --------------------------------------------------------===//

// Along `axis` (negative counts from the end), which stays as a dim of 1; or one value a block. In
// f32. A NaN in a max, min or amax gives NaN.
EIDER_API Value sum(const Operand &value, int axis);
EIDER_API Value sum(const Operand &value, const Block &block);
EIDER_API Value mean(const Operand &value, int axis);
EIDER_API Value mean(const Operand &value, const Block &block);
EIDER_API Value max(const Operand &value, const Block &block);
EIDER_API Value min(const Operand &value, const Block &block);
EIDER_API Value amax(const Operand &value, int axis); ///< The largest magnitude.
EIDER_API Value amax(const Operand &value, const Block &block);
/// `max` and `min` of two operands take a number for the second: those along an axis have names of
/// their own.
EIDER_API Value max_along(const Operand &value, int axis);
EIDER_API Value min_along(const Operand &value, int axis);

//===-- Quantisation ------------------------------------------------------===//

/// Everything that decides the bits of a quantisation, beside its format.
struct QuantizeOptions {
  Block block = {}; ///< One scale a block: must be said.
  /// The scales' type: f32, bf16, f16, e8m0 or e4m3. A quantisation uses what it stores.
  DType scale = f32;
  ScaleLayout layout = ScaleLayout::row_major; ///< Where they lie once they are written.
  std::string mode = "default"; ///< A preset of numerics: `default`, `deepgemm`, `vllm_group`, …
  /// Single parameters over the mode, e.g. `{{"arithmetic", "reciprocal"}, {"nan", "ignore"}}`.
  std::map<std::string, std::string> numerics = {};
  /// Given (static) scales, one a block, in that type; none: from each block's amax.
  Value scales = {};
  /// The second level of scales of e4m3: one f32 (of shape {1}), with which all are multiplied. A
  /// block's scale is then amax / (maximum · global), rounded to e4m3.
  Value global = {};
  /// For the numerics `{"rounding", "stochastic"}`, both: values of Builder::integer. An element's
  /// random bits are a function of these and of its index (row · columns + column) alone, whatever
  /// the schedule; another seed or another offset gives others.
  Value seed = {}, offset = {};
};

/// Codes and scales of `value`; `format` is e4m3, e5m2, e4m3fnuz, e5m2fnuz or e2m1.
EIDER_API Scaled quantize(const Operand &value, DType format, const QuantizeOptions &options);

/// code × scale, in f32; the scale of two levels is the product of both.
EIDER_API Value dequantize(const Scaled &value,
                           std::source_location where = std::source_location::current());

//===-- Contractions ------------------------------------------------------===//

/// weights [n, k] · vector [k]: [n], in f32. No product is rounded; weights of a block in a row are
/// added up as codes before they are scaled. The vector may be computed; k must be static when the
/// program is compiled.
EIDER_API Value dot(const Scaled &weights, const Operand &vector);
EIDER_API Value dot(const Value &weights, const Operand &vector);

/// x [m, k] · weights [n, k]ᵀ: [m, n], in f32, on tensor cores where there are any: their products
/// are exact, their sums of 16 are rounded as the processor has it. x (bf16, f16 or f32) is an
/// input, or computed by a kernel before; the weights are an input, whose blocks along k are
/// powers of two from 16 on, or whole rows; n and k must be static when the program is compiled.
EIDER_API Value matmul(const Operand &x, const Scaled &weights);
/// The same of rows in groups, each of which meets weights of its own (the experts of a mixture):
/// weights are [g, n, k], in blocks of one of them, `ends` an input [g] of i32 or i64: rows
/// ends[e - 1] (0 of the first) to ends[e] of x meet weights e. Rows after the last end are zeros.
/// An end below the one before it is that one, one beyond the rows their number: nothing outside is
/// read or written. g must be static when the program is compiled.
EIDER_API Value matmul(const Operand &x, const Scaled &weights, const Value &ends);

/// The same where x is scaled, too, an input or quantised before: codes of a byte each, one scale
/// for a block along k of one row or of all, as the weights may have them. Products of e4m3 and
/// e5m2 meet as codes where the GPU multiplies such, in f32 from 128 to 128 of k, of which each 32
/// keep 13 bits below the largest; elsewhere products are exact.
EIDER_API Value matmul(const Scaled &x, const Scaled &weights,
                       std::source_location where = std::source_location::current());
/// Both: rows in groups, of codes.
EIDER_API Value matmul(const Scaled &x, const Scaled &weights, const Value &ends,
                       std::source_location where = std::source_location::current());

/// Products of a batch, from one launch: x is [m, k], the rows of all of them one after the other,
/// weights are [b, n, k], in blocks of one of them. Each has ceil(m / b) rows, but for what the
/// last lack. The result is [m, n]; b must be static when the program is compiled.
EIDER_API Value batched_matmul(const Operand &x, const Scaled &weights);
EIDER_API Value batched_matmul(const Scaled &x, const Scaled &weights,
                               std::source_location where = std::source_location::current());

/// What a score function is given of a query and a key: numbers in f32, and of an input one value a
/// head. They are of use inside of the function alone.
class EIDER_API Score {
public:
  Value value; ///< q · k / √d, with the scales of both.
  /// Their positions in the sequence, from 0, exact below 2^24 tokens. Of decoding the query's is
  /// the sequence's last.
  Value query, key;
  Value head; ///< The query's, 0 to h - 1.

  /// The head's value of an input of f32, [h], such as the slopes of ALiBi.
  Value of_head(const Value &values,
                std::source_location where = std::source_location::current()) const;

  Score(std::shared_ptr<detail::ScoreRecording> recording, Value value, Value query, Value key,
        Value head)
      : value(std::move(value)), query(std::move(query)), key(std::move(key)),
        head(std::move(head)), recording_(std::move(recording)) {}

private:
  std::shared_ptr<detail::ScoreRecording> recording_;
};
/// Gives the score that softmax takes, elementwise, of numbers, scalars and what Score has:
/// `[&](const Score &s) { return cap * tanh(s.value / cap); }`. It is called once, when the op is
/// recorded. -Inf is a key that is not met, and a head that meets none has zeros. What attention
/// masks (lengths, a window, later tokens) stays so, whatever the function gives of it.
using ScoreFunction = std::function<Value(const Score &)>;

/// How a cache holds keys, or values: said once, for the programs that append tokens to it
/// (Builder::append) and those that attend over it (Builder::cache), which so mean the same bytes.
struct CacheType {
  DType format = e4m3; ///< Codes; or bf16 or f16, which have no scales.
  /// One scale a block of the matrix whose rows are the tokens' [kv_heads · d]: {whole, whole} is
  /// one in all, {whole, d} one a head; {page, …} of each page, {1, …} of each token, {1, d / 4} of
  /// each quarter of a token's head.
  Block block = {whole, whole};
  DType scale = f32; ///< The type of scales; attention reads f32.

  bool has_scales() const { return format != bf16 && format != f16; }
};

/// Keys and values of sequences, all inputs. Token i of sequence s lies in place i mod page of page
/// block_table[s, i / page]; without a table in place i of page s, of which there are b, each as
/// long as the longest sequence may be.
struct KVCache {
  Value keys; ///< [pages, page, kv_heads, d]: codes (Builder::codes), bf16 or f16.
  /// The same. None: a row is a key and begins with its value, as the latents that all query heads
  /// share; scales are the keys', and a row is read once.
  std::optional<Value> values = std::nullopt;
  /// f32, s being 1 or kv_heads as the launch says: [s] of all pages, or [pages, s] of each, or
  /// [pages, page, s] of each token, or [pages, page, s, blocks] of each token's blocks of d /
  /// blocks elements, a multiple of 32. Both alike, or none where codes are the values, and of
  /// others.
  std::optional<Value> key_scale = std::nullopt, value_scale = std::nullopt;
  /// i32 or i64, [b, pages of the longest sequence]. None: each sequence has a page of its own.
  std::optional<Value> block_table = std::nullopt;
  /// i32 or i64, [b]: tokens that each sequence has. No kernel checks that its pages hold as many,
  /// nor that these are the cache's: beyond its end is read then. `checkCaches` refuses such
  /// inputs.
  Value lengths;
  /// Columns of keys, the first, that are the values where these are none of their own; 0: all. A
  /// multiple of 32 up to 512; d may be up to 1024 then.
  int64_t value_columns = 0;
};
struct AttentionOptions {
  int64_t window = 0;       ///< Tokens at a sequence's end that are met, at most; 0: all.
  ScoreFunction score = {}; ///< None: q · k / √d.
};
/// Attention of one new token a sequence over a cache: queries q [b, h, d], given, or computed by a
/// kernel before, give f32 [b, h, columns of values], softmax(q · k / √d) · v over each sequence's
/// tokens; zeros for one of none. Head a meets KV head a / (h / kv_heads); h is a multiple of
/// kv_heads, whose queries go to the fewest blocks that have as many each, at most 16, and each
/// reads the cache; d is a multiple of 32 up to 512. Of the table no more is used than pages of
/// tokens that are met, of a page no more than those. h, d, kv_heads and (of a table) page are
/// given before a kernel is compiled. Scores are sums in f32 of exact products; probabilities are
/// rounded to f16, over a cache of bf16 to bf16.
EIDER_API Value attention(const Operand &q, const KVCache &cache,
                          const AttentionOptions &options = {});

/// Queries, keys and values of a sequence, inputs of codes of one format (Builder::codes); queries
/// may be bf16 (from sm_80 on) or f16, and these may be computed, by a kernel before.
struct Sequence {
  Value queries; ///< [s, h, d].
  Value keys;    ///< [s, kv_heads, d].
  /// [s, kv_heads, e]. None: a row is a key and begins with its value, as the latents that query
  /// heads share; scales are the keys', and a row is read once.
  std::optional<Value> values = std::nullopt;
  /// f32, [1] or [kv_heads] as the launch says; all, or none where codes are the values. Queries
  /// that are no codes have none.
  std::optional<Value> query_scale = std::nullopt, key_scale = std::nullopt,
                       value_scale = std::nullopt;
  /// Of several sequences, packed one after the other, whose tokens meet none of another's: i32 or
  /// i64 [sequences + 1], the token that each begins with, the first 0, and at last s (cu_seqlens
  /// elsewhere). A sequence may be empty. None: the tokens are one sequence.
  std::optional<Value> starts = std::nullopt;
  /// Columns of keys, the first, that are the values where these are none of their own; 0: all. A
  /// multiple of 32 up to 512; d may be up to 1024 then.
  int64_t value_columns = 0;
};
struct PrefillOptions {
  bool causal = false;      ///< A query meets tokens up to its own, else all.
  ScoreFunction score = {}; ///< None: q · k / √d.
};
/// Attention of a sequence, or of each of several, over itself: f32 [s, h, columns of values],
/// softmax(q · k / √d) · v. Head a meets KV head a / (h / kv_heads); h is a multiple of kv_heads; d
/// and e are multiples of 32 up to 512. h, d, e and kv_heads are given before a kernel is compiled.
/// Scores are sums in f32 of exact products, of which kernels that multiply codes (warpgroups on
/// sm_90a, warps on sm_89 and sm_12x) keep 13 bits or so of the largest; probabilities are rounded
/// to f16. An infinity or NaN among the values may reach a query before its token,
/// where their weight is 0.
EIDER_API Value attention(const Sequence &sequence, const PrefillOptions &options = {},
                          std::source_location where = std::source_location::current());

//===-- Programs ----------------------------------------------------------===//

/// What stands at the kernel's boundary, in the positional order of a launch.
struct Signature {
  enum class Role { Input, InOut, Output };
  struct NamedDim {
    std::string name;
    std::optional<int64_t> value; ///< None: dynamic.
    bool isFixed = false; ///< A kernel is compiled for its value: an extent of what attention
                          ///< reads, or of weights that groups of rows meet.
  };
  /// A scaled tensor is two of these: its codes `y` and its scales `y_scale`.
  struct Tensor {
    std::string name;
    Role role;
    DType dtype;
    std::vector<std::string>
        shape; ///< Expressions of docs/design/kernel-contract.md: `ceildiv(hidden, 128)`.
    std::optional<DType> packed = std::nullopt; ///< What words of i32 hold, as many as fit.
    std::string choosesFrom = {}; ///< Of an index: how many rows there are to choose from.
    std::string risesTo = {};     ///< Of ends of groups of rows, which do not fall: how many rows.
    std::string mostOfEach = {};  ///< Of numbers of tokens: the most that each may be.
    std::string startsUpTo = {};  ///< Of starts of sequences: the last; the first is 0, none falls.
    std::string rowsChosen = {};  ///< How many rows an index chooses of it; empty: it is read or
                                  ///< written whole.
  };
  struct Scalar {
    std::string name;
    double value;      ///< The default.
    DType dtype = f32; ///< f32 or i64.
  };
  std::vector<NamedDim> dims;
  std::vector<Tensor> tensors; ///< In the order in which the program's arguments and outputs stand.
  std::vector<Scalar> scalars;
  /// What becomes of a row depends on where it is, or on how many there are: some of the rows are
  /// no smaller case of all of them.
  bool countsRows = false;
};

/// An immutable description of an op. Cheap to copy, thread-safe.
class EIDER_API Program {
public:
  explicit Program(std::shared_ptr<const detail::ProgramImpl> impl) : impl_(std::move(impl)) {}

  const std::string &name() const;
  /// The canonical text in the `eider` dialect: the same bytes on every machine.
  const std::string &text() const;
  const Signature &signature() const;

private:
  std::shared_ptr<const detail::ProgramImpl> impl_;
};

/// Records one op. Names are C identifiers, each used once. Not thread-safe.
class EIDER_API Builder {
public:
  explicit Builder(const std::string &name,
                   std::source_location where = std::source_location::current());

  /// A dim, given at launch or by the compile options, or static with `value`.
  Dim dim(const std::string &name, std::optional<int64_t> value = std::nullopt,
          std::source_location where = std::source_location::current());

  /// The extent of a dim: an index.
  Value extent(const Dim &dim, std::source_location where = std::source_location::current());

  /// A tensor that is read: f32, bf16, f16, i32, i64, or a type of scales, of rank 1 to 3. Of three
  /// dims the last two are given before a kernel is compiled, which has them as columns: for what
  /// attention reads, and for elementwise work beside it. A `layout` other than row_major is one of
  /// scales, of which `shape` has one value a block.
  Value input(const std::string &name, DType type, const Shape &shape,
              ScaleLayout layout = ScaleLayout::row_major,
              std::source_location where = std::source_location::current());

  /// Codes that are read, of rank 1 to 4, whose scales are an input of their own: what a KVCache
  /// holds.
  Value codes(const std::string &name, DType format, const Shape &shape,
              std::source_location where = std::source_location::current());

  /// Keys and values of that type, for attention, which wants `lengths` and perhaps `block_table`
  /// of it, too: inputs k_cache and v_cache of `shape`, [pages, page, kv_heads, d] or without pages
  /// [b, tokens, kv_heads, d], and k_scale and v_scale, if there are any, in the shape that
  /// KVCache::key_scale has for blocks of that type, or in `scales`. Where heads, d or a page's
  /// tokens are dims, and scales depend on them, `scales` must say the shape. `names`: others than
  /// k and v, or one, of keys that begin with their values.
  KVCache cache(const CacheType &type, const Shape &shape, const Shape &scales = {},
                const std::vector<std::string> &names = {"k", "v"},
                std::source_location where = std::source_location::current());

  /// A scaled tensor that is read: the codes `name` and the scales `name`_scale, of the types that
  /// `quantize` makes; with scales of e4m3 `name`_global_scale, one f32, too.
  Scaled scaled_input(const std::string &name, DType format, const Shape &shape, const Block &block,
                      DType scale = f32, ScaleLayout layout = ScaleLayout::row_major,
                      std::source_location where = std::source_location::current());

  /// A tensor that is read and written; the value is the old one.
  Value inout(const std::string &name, DType type, const Shape &shape,
              std::source_location where = std::source_location::current());

  /// An f32 given at launch.
  Value scalar(const std::string &name, float value,
               std::source_location where = std::source_location::current());

  /// An i64 given at launch; nothing computes with it.
  Value integer(const std::string &name, int64_t value,
                std::source_location where = std::source_location::current());

  /// The new value of an in-out, once, rounded to its type.
  void store(const Value &inout, const Operand &value,
             std::source_location where = std::source_location::current());

  /// A tensor that is written, in the value's type, or rounded to `type`.
  void output(const std::string &name, const Value &value, std::optional<DType> type = std::nullopt,
              std::source_location where = std::source_location::current());

  /// A scaled tensor that is written: the codes `name` and the scales `name`_scale; the codes alone
  /// where the scales were given.
  void output(const std::string &name, const Scaled &value,
              std::source_location where = std::source_location::current());

  /// A tensor of `rows` rows, in the value's type or rounded to `type`, of which those that `index`
  /// chooses are written: row i of the value becomes its row index[i], and none where that is not
  /// one of its rows, as -1 is not. The others keep what they hold. No two rows may go to one.
  void scatter(const std::string &name, const Value &value, const Value &index, const Dim &rows,
               std::optional<DType> type = std::nullopt,
               std::source_location where = std::source_location::current());

  /// Codes into `name`, and scales into `name`_scale unless they were given; blocks have one row.
  void scatter(const std::string &name, const Scaled &value, const Value &index, const Dim &rows,
               std::source_location where = std::source_location::current());

  /// Scatters `tokens` [n, kv_heads · d] into the cache `name` of that type, of so many `rows`, as
  /// codes and `name`_scale, or rounded: token i to row index[i], page · page size + place, or
  /// without pages sequence · tokens + position. `how` has the rest of a quantisation, as given
  /// scales; block (of each token or of all, not of a page) and type of scales are the cache's.
  void append(const std::string &name, const CacheType &type, const Value &tokens,
              const Value &index, const Dim &rows, const QuantizeOptions &how = {},
              std::source_location where = std::source_location::current());

  /// The program as recorded so far. Throws Error when it has no result, or when an in-out or a dim
  /// is unused.
  Program build(std::source_location where = std::source_location::current()) const;

private:
  std::shared_ptr<detail::Recording> recording_;
};

} // namespace eider

#endif // EIDER_DSL_H
