//===- eider/attention/prefill.cuh - A sequence over itself -----*- C++ -*-===//
//
// Part of Eider, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//
#ifndef EIDER_ATTENTION_PREFILL_CUH
#define EIDER_ATTENTION_PREFILL_CUH

#include "eider/attention/parts.cuh"
#include "eider/attention/scores.cuh"
#include "eider/attention/sequences.cuh"
#include "eider/contraction/pairs.cuh"
#include "eider/math.cuh"
#include "eider/memory/chunk.cuh"
#include "eider/memory/copy.cuh"
#include "eider/memory/panels.cuh"
#include "eider/memory/shared.cuh"
#include "eider/reduce/threads.cuh"

namespace eider {

/// As what queries meet keys: bf16 as they are, others as f16.
template <class Q> struct HalfOf { using Type = f16; };
template <> struct HalfOf<bf16> { using Type = bf16; };

/// Attention of a sequence's queries over its keys and values, which are codes, or of several
/// packed sequences, each over its own: a CUDA block has `rows` queries of one head, and takes
/// `keys` tokens at a time. These are decoded once, to f16, which has them all exactly; keys to
/// bf16 where queries are that, and not codes or f16. Of its `warps` each has 16 rows, or twice
/// that, with `split` others that share them: of scores each has some of the tokens (all, where
/// these are too few for 16 each), of sums some of the columns (`shares` have the columns where it
/// is not as many). The tokens after these come `ahead`, where shared memory has room for both
/// their keys and their values. Where queries are codes, they may meet keys as both lie
/// (`meets_codes`), which then are not decoded. Values have `value_dim` columns; of a `latent` they
/// are the first of its keys, read once, and once decoded but where that is another way (`apart`).
template <int heads, int kv_heads, int head_dim, int rows, int keys, int warps, int split,
          bool causal, bool ahead = true, bool meets_codes = false, int value_dim = head_dim,
          bool latent = false, bool apart = !latent || meets_codes, int shares = split>
class AttentionPrefill {
protected:
  static constexpr int threads = warps * 32, teams = warps / shares, sixteens = rows / teams / 16;
  static constexpr int parts = keys < 16 * split ? 1 : split; // of a tile's tokens
  static constexpr int own_keys = keys / parts, own_columns = value_dim / shares;
  static_assert(heads % kv_heads == 0, "each head of keys has as many queries");
  static_assert(sixteens * teams * 16 == rows && teams * shares == warps, "warps have whole rows");
  static_assert(own_keys % 16 == 0 && own_columns % 16 == 0, "warps have whole products");

  using Queries = Panels<rows, (meets_codes ? 1 : 2) * head_dim>; // of codes, or of f16
  using Tokens = Panels<keys, (meets_codes ? 1 : 2) * head_dim>;
  using OfValues = Panels<keys, value_dim * 2>;
  using Weights = Panels<rows, keys * 2>;
  static constexpr int slots = meets_codes && ahead ? 2 : 1; // of keys
  // What is met: keys, and values decoded.
  static constexpr int met = slots * Tokens::bytes + (apart ? OfValues::bytes : 0);
  static_assert(meets_codes || rows * head_dim <= met,
                "codes of queries lie where keys and values will");
  // What a thread copies to decode it itself, of keys and then of values.
  static constexpr int codes = meets_codes ? 0 : keys * head_dim;
  static constexpr int value_codes = latent ? 0 : keys * value_dim;
  static constexpr int longest = codes > value_codes ? codes : value_codes;
  static constexpr int staged = ahead ? codes + value_codes : longest;
  static constexpr int of_parts = parts == 1 ? 0 : Weights::bytes + rows * parts * 4;

public:
  /// Bytes of shared memory.
  static constexpr int memory = Queries::bytes + met + staged + of_parts;

  /// Writes the block's rows of o, [tokens, heads, value_dim]; `asked` is queries, [tokens, heads,
  /// head_dim], or `scored`: codes as k, or bf16 or f16, which have no scales; k is [tokens,
  /// kv_heads, head_dim], v [tokens, kv_heads, value_dim], or k where these are `latent`. Scales
  /// are `scales`: none (0), one, or one a head of keys. Tokens are those of one sequence, or
  /// `packed`. Rows start on multiples of `alignment` bytes; pitches in elements; fewer than 2^30
  /// tokens a sequence. Every thread of the CUDA block takes part.
  template <class Code, int scales, int alignment = 16, class Out, class Asked, class W,
            class Count>
  static EIDER_DEVICE void
  write_rows(Out *o, const Asked &asked, const float *q_scale, const W *k, const float *k_scale,
             const W *v, const float *v_scale, const Count &count, int64 q_pitch = heads * head_dim,
             int64 q_head_pitch = head_dim, int64 k_pitch = kv_heads * head_dim,
             int64 k_head_pitch = head_dim, int64 v_pitch = kv_heads * value_dim,
             int64 v_head_pitch = value_dim, arch::Site at = arch::Site::current()) {
    const int head = static_cast<int>(arch::block_index() % heads);
    const int kv_head = head / (heads / kv_heads);
    const BlockRows block = rows_of_block<rows, heads>(count);
    if (are_packed<Count> && block.first >= block.tokens)
      return;
    const int tokens = block.tokens, first = block.first;
    const int tiles = tiles_of(first, tokens);
    auto *shared = reinterpret_cast<unsigned char *>(shared_memory());
    const Queries queries = {shared};
    const Tokens of_keys = {shared + Queries::bytes};
    const OfValues of_values = {of_keys.base + slots * Tokens::bytes};
    unsigned char *raw = of_keys.base + met, *raw_values = raw + (ahead ? codes : 0);
    const Weights weights = {raw + staged};
    auto *maxima = reinterpret_cast<float *>(weights.base + Weights::bytes);

    const auto scored = asked_of(asked);
    using Q = typename decltype(asked_of(asked))::Element;
    using Half = typename HalfOf<Q>::Type;
    constexpr bool are_codes = same<Q, W>;
    static_assert(are_codes || !meets_codes, "queries meet keys as codes that are such");
    static_assert(apart || same<Half, f16>, "values are no bf16, as which keys are decoded");
    const Q *q = scored.elements + block.start * q_pitch + head * q_head_pitch;
    if constexpr (meets_codes) {
      begin_rows<rows, alignment>(queries, q, q_pitch, first, tokens);
    } else if constexpr (are_codes) {
      begin_rows<rows, alignment>(of_keys.base, q, q_pitch, first, tokens);
      arch::close_copies();
    } else {
      load_queries<alignment>(queries, q, q_pitch, first, tokens);
    }
    const W *head_keys = k + block.start * k_pitch + kv_head * k_head_pitch;
    const W *head_values = v + block.start * v_pitch + kv_head * v_head_pitch;
    auto keys_of = [&](int tile) {
      return Tokens{of_keys.base + (slots == 1 ? 0 : tile % slots * Tokens::bytes)};
    };
    auto begin_keys = [&](int tile) {
      if constexpr (meets_codes)
        begin_rows<keys, alignment>(keys_of(tile), head_keys, k_pitch, tile * keys, tokens);
      else
        begin_rows<keys, alignment>(raw, head_keys, k_pitch, tile * keys, tokens);
    };
    auto begin_values = [&](int tile) {
      if constexpr (!latent)
        begin_rows<keys, alignment, value_dim>(raw_values, head_values, v_pitch, tile * keys,
                                               tokens);
    };
    auto begin_next = [&](int tile) {
      if (ahead && tile < tiles) {
        begin_keys(tile);
        begin_values(tile);
      }
      arch::close_copies();
    };
    begin_next(0);
    if constexpr (are_codes && !meets_codes) {
      arch::await_copies<1>();
      decode<1, Code, W>(of_keys.base, queries);
    }

    constexpr float raised = 1 << lowered<W, Code::conversion>();
    constexpr float of_queries = are_codes && !meets_codes ? raised : 1.0f;
    constexpr float raised_keys = same<Half, bf16> || meets_codes ? 1.0f : raised;
    const auto function = scored.score(head);
    using Function = decltype(scored.score(head));
    constexpr int of_q = are_codes ? scales : 0;
    const float factor = scale_of<of_q>(q_scale, kv_head) * scale_of<scales>(k_scale, kv_head) *
                         (to_powers<Function> * inverse_root(head_dim) * of_queries * raised_keys);
    State state;
    state.template begin<Function>();
    for (int tile = 0; tile < tiles; ++tile) {
      if constexpr (!ahead) {
        if constexpr (meets_codes) { // keys come where others have been met
          arch::barrier(at);
          begin_values(tile);
        }
        begin_keys(tile);
        arch::close_copies();
      }
      arch::await_copies<0>();
      arch::barrier(at); // the tile before has been met
      constexpr bool together =
          ahead && !latent && !meets_codes && same<OfValues, Tokens> && same<Half, f16>;
      if constexpr (!meets_codes)
        decode<together ? 2 : 1, Code, W, Half>(raw, of_keys);
      if constexpr (latent && meets_codes)
        decode<1, Code, W, f16, head_dim>(keys_of(tile), of_values);
      else if constexpr (latent && apart)
        decode<1, Code, W, f16, head_dim>(raw, of_values);
      else if constexpr (!latent && !together) {
        if constexpr (!ahead && !meets_codes) {
          begin_values(tile);
          arch::close_copies();
          arch::await_copies<0>();
        }
        decode<1, Code, W, f16, value_dim>(raw_values, of_values);
      }
      begin_next(tile + 1);
      arch::barrier(at);
      Scores scores;
      score<meets_codes, Half, W>(queries, keys_of(tile), scores, at);
      if (weigh(scores, factor, function, head, first + row(), tile, tokens, state, maxima, at))
        scale_sums(state);
      if constexpr (apart)
        add_values(scores, of_values, weights, state, at);
      else
        add_values(scores, of_keys, weights, state, at);
    }
    finish<Function>(state, o + block.start * (heads * value_dim) + head * value_dim,
                     heads * value_dim, first + row(), tokens,
                     raised * scale_of<scales>(v_scale, kv_head), maxima, at);
  }

protected:
  struct alignas(16) Piece {
    uint32 words[4];
  };
  static EIDER_DEVICE Piece *shared_memory() {
    return shared_or_launched<AttentionPrefill, Piece, memory / 16>();
  }

  static EIDER_DEVICE int tiles_of(int first, int tokens) {
    return ((causal && first + rows < tokens ? first + rows : tokens) + keys - 1) / keys;
  }
  template <int scales> static EIDER_DEVICE float scale_of(const float *scale, int kv_head) {
    return scales == 0 ? 1.0f : scale[scales == 1 ? 0 : kv_head];
  }

  static EIDER_DEVICE int lane() { return arch::thread_index() % 32; }
  /// Which of the warps that share its rows: of columns, and of tokens.
  static EIDER_DEVICE int share() { return arch::thread_index() / 32 % split; }
  static EIDER_DEVICE int part() { return share() % parts; }
  /// The first of the warp's rows.
  static EIDER_DEVICE int row() { return arch::thread_index() / 32 / split * (sixteens * 16); }

  //===-- Memory ----------------------------------------------------------===//

  /// Where 16 neighbouring codes lie in a matrix of rows of `width`: neighbours in number have
  /// places in one panel, of several rows, so that eight lanes store to all banks, codes and f16.
  template <int width> struct PlaceIn {
    int row, column;
    explicit EIDER_DEVICE PlaceIn(uint32 number) {
      constexpr uint32 across = Panels<keys, width * 2>::chunks / 2;    // pieces of a panel
      constexpr uint32 down = 8 / across, panels = width / 16 / across; // rows of it
      const uint32 group = number / 8 / panels, other = number / across % down;
      row = static_cast<int>(across == 4 ? group / 4 * 8 + (group % 4 ^ other * 5)
                                         : group * down + other);
      column = static_cast<int>((number / 8 % panels * across + number % across) * 16);
    }
    /// Of the thread's piece after so many: the same but for the row, if a thread's are in one
    /// column, which then is one address, and numbers.
    static EIDER_DEVICE PlaceIn of_piece(int i) {
      constexpr int numbers = width / 2; // of eight rows
      constexpr bool is_column = Panels<keys, width * 2>::panel == 128 && threads % numbers == 0;
      PlaceIn place(arch::thread_index() + (is_column ? 0 : i * threads));
      if (is_column)
        place.row += i * (threads / (numbers / 8));
      return place;
    }
  };
  using Place = PlaceIn<head_dim>;

  /// Calls f with each of the thread's pieces of 16 codes of `count` rows, of as many matrices, its
  /// number there and how many there were before it.
  template <int count, int matrices = 1, int width = head_dim, class F>
  static EIDER_DEVICE void for_pieces(F f) {
    constexpr int pieces = count * width / 16, own = (pieces + threads - 1) / threads;
    EIDER_UNROLL
    for (int i = 0; i < matrices * own; ++i) {
      const int n = arch::thread_index() + i % own * threads;
      if (pieces % threads == 0 || n < pieces)
        f(PlaceIn<width>::of_piece(i % own), n, i);
    }
  }

  /// Where a piece lies among those of the threads, by its number, or in a matrix of codes.
  template <int width>
  static EIDER_DEVICE unsigned char *piece_of(unsigned char *staged, const PlaceIn<width> &,
                                              int n) {
    return staged + n * 16;
  }
  template <int count, int width>
  static EIDER_DEVICE unsigned char *piece_of(const Panels<count, width> &matrix,
                                              const PlaceIn<width> &place, int) {
    return matrix.at(place.row, place.column / 16);
  }

  /// Begins to copy `count` rows of codes, each thread what it will decode; zeros past the end.
  template <int count, int alignment, int width = head_dim, class W, class Pieces>
  static EIDER_DEVICE void begin_rows(const Pieces &to, const W *from, int64 pitch, int first,
                                      int tokens) {
    from += first * pitch;
    for_pieces<count, 1, width>([&](const PlaceIn<width> &place, int n, int) {
      const auto *piece =
          reinterpret_cast<const unsigned char *>(from + place.row * pitch + place.column);
      EIDER_UNROLL
      for (int offset = 0; offset < 16; offset += alignment)
        begin_copy<alignment>(piece_of(to, place, n) + offset, piece + offset,
                              first + place.row < tokens);
    });
  }

  /// Queries that are no codes, as they are; zeros past the end.
  template <int alignment, class Q>
  static EIDER_DEVICE void load_queries(const Queries &to, const Q *from, int64 pitch, int first,
                                        int tokens) {
    from += first * pitch;
    for_pieces<rows>([&](const Place &place, int, int) {
      Fragment<Q, 16> loaded{};
      if (first + place.row < tokens)
        load_whole_chunk < 16, alignment<int(sizeof(Q)) ? int(sizeof(Q)) : alignment, cached>(
                                   from + place.row * pitch + place.column, loaded, 0);
      arch::store_words<16>(to.at(place.row, place.column / 8), loaded.words);
      arch::store_words<16>(to.at(place.row, place.column / 8 + 1), loaded.words + 4);
    });
  }

  /// What the thread has copied, to f16, or to bf16: of some matrices that follow each other, as
  /// codes and as f16. Several pieces at a time have one branch, so that they are on their way
  /// together. Of rows of `width` codes those go that the matrix has room for.
  template <int matrices, class Code, class W, class Half = f16, int width = head_dim, class Pieces,
            class Matrix>
  static EIDER_DEVICE void decode(const Pieces &from, const Matrix &to) {
    constexpr int of_each = (Matrix::rows * width / 16 + threads - 1) / threads;
    constexpr int pieces = matrices * of_each;
    constexpr int together = pieces % 4 == 0 ? 4 : pieces % 2 == 0 ? 2 : 1;
    EIDER_UNROLL
    for (int first = 0; first < pieces; first += together) {
      Fragment<W, 16> loaded[together];
      uint32 lost = 0;
      for_pieces<Matrix::rows, matrices, width>([&](const PlaceIn<width> &place, int n, int i) {
        if (i < first || i >= first + together)
          return;
        const int matrix = i / of_each;
        arch::load_words<16>(piece_of(from, place, matrix * (Matrix::rows * width / 16) + n),
                             loaded[i - first].words);
        if constexpr (same<Half, f16>) // as bf16 they are mended as they come
          note_lost<Code::conversion>(loaded[i - first], lost);
      });
      if (arch::unlikely((lost & tops_of_bytes) != 0))
        store<matrices, Code, true, Half, width>(loaded, first, to);
      else
        store<matrices, Code, false, Half, width>(loaded, first, to);
    }
  }

  /// Codes of some of the thread's pieces, from `first` on, decoded, where they lie in the
  /// matrices.
  template <int matrices, class Code, bool mends, class Half = f16, int width = head_dim, class W,
            int count, class Matrix>
  static EIDER_DEVICE void store(const Fragment<W, 16> (&loaded)[count], int first,
                                 const Matrix &to) {
    constexpr int of_each = (Matrix::rows * width / 16 + threads - 1) / threads;
    constexpr int columns = Matrix::bytes / Matrix::rows / 2;
    for_pieces<Matrix::rows, matrices, width>([&](const PlaceIn<width> &place, int, int i) {
      if (i >= first && i < first + count && (width <= columns || place.column < columns))
        store<Code, mends, Half>(loaded[i - first], place,
                                 Matrix{to.base + i / of_each * Matrix::bytes});
    });
  }
  template <class Code, bool mends, class Half, class W, int width, class Matrix>
  static EIDER_DEVICE void store(const Fragment<W, 16> &loaded, const PlaceIn<width> &place,
                                 const Matrix &to) {
    uint32 pairs[8];
    if constexpr (same<Half, bf16>)
      pairs_of_codes<Code::conversion>(loaded, pairs, bf16());
    else
      pairs_of_codes<Code::conversion, /*low=*/true, mends>(loaded, pairs, f16());
    arch::store_words<16>(to.at(place.row, place.column / 8), pairs);
    arch::store_words<16>(to.at(place.row, place.column / 8 + 1), pairs + 4);
  }

  //===-- A tile ----------------------------------------------------------===//

  struct State {
    float sums[sixteens][own_columns / 8][4] = {};
    float base[sixteens][2] = {}, weight[sixteens][2] = {}, factor[sixteens][2];

    /// Where a function may leave a tile's keys no weight, the base of a row is below all scores
    /// until there is one.
    template <class Function> EIDER_DEVICE void begin() {
      if constexpr (!is_plain<Function>) {
        EIDER_UNROLL
        for (int i = 0; i < 2 * sixteens; ++i)
          base[i / 2][i % 2] = lowest_score;
      }
    }
  };
  struct Scores {
    float of[sixteens][own_keys / 8][4] = {};
  };

  /// Queries times keys, as `Half`, or as codes W: of such, products keep some bits of the largest,
  /// so that each 128 along the length are one sum, which is added in f32.
  template <bool are_codes, class Half, class W>
  static EIDER_DEVICE void score(const Queries &queries, const Tokens &tokens, Scores &scores,
                                 arch::Site at) {
    constexpr int steps = Queries::bytes / rows / 32;
    constexpr bool has_parts = are_codes && head_dim > 128;
    constexpr int together = has_parts ? 4 : 1; // steps of a part
    const auto from_queries = queries.lane(row() + lane() % 16, lane() / 16);
    const auto from_tokens =
        tokens.lane(part() * own_keys + lane() / 16 * 8 + lane() % 8, lane() / 8 % 2);
    EIDER_UNROLL
    for (int first = 0; first < steps; first += together) {
      uint32 a[together][sixteens][4];
      EIDER_UNROLL
      for (int step = 0; step < together * sixteens; ++step)
        if (first + step / sixteens < steps)
          arch::load_matrices(from_queries.at(step % sixteens * 16, 2 * (first + step / sixteens)),
                              a[step / sixteens][step % sixteens], at);
      EIDER_UNROLL
      for (int n = 0; n < own_keys / 16; ++n) {
        float part[sixteens][2][4] = {};
        EIDER_UNROLL
        for (int step = first; step < first + together && step < steps; ++step) {
          uint32 b[4];
          arch::load_matrices(from_tokens.at(n * 16, 2 * step), b, at);
          EIDER_UNROLL
          for (int s = 0; s < sixteens; ++s)
            EIDER_UNROLL
          for (int i = 0; i < 2; ++i) {
            float *sums = has_parts ? part[s][i] : scores.of[s][2 * n + i];
            if constexpr (are_codes)
              arch::multiply_add_codes<W, W>(sums, a[step - first][s], b + 2 * i, at);
            else if constexpr (same<Half, bf16>)
              arch::multiply_add_bf16(sums, a[step - first][s], b + 2 * i, at);
            else
              arch::multiply_add_f16(sums, a[step - first][s], b + 2 * i, at);
          }
        }
        EIDER_UNROLL
        for (int i = 0; has_parts && i < 8 * sixteens; ++i)
          scores.of[i / 8][2 * n + i / 4 % 2][i % 4] += part[i / 8][i / 4 % 2][i % 4];
      }
    }
  }

  /// Scores, in powers of two: less their row's base, or what a function makes of them.
  template <class Function>
  static EIDER_DEVICE void scale(Scores &scores, float factor, const Function &function, int head,
                                 int first_row, int first_key, const State &state) {
    if constexpr (is_plain<Function>) {
      EIDER_UNROLL
      for (int s = 0; s < sixteens; ++s)
        EIDER_UNROLL
      for (int n = 0; n < own_keys / 8; ++n)
        EIDER_UNROLL
      for (int i = 0; i < 4; ++i)
        scores.of[s][n][i] = arch::fma(scores.of[s][n][i], factor, -state.base[s][i / 2]);
    } else {
      // Positions are added up as floats: to convert each would take longer.
      const auto row = static_cast<float>(first_row + lane() / 4);
      const auto key = static_cast<float>(first_key + lane() % 4 * 2);
      EIDER_UNROLL
      for (int i = 0; i < 2 * sixteens; ++i)
        EIDER_UNROLL
      for (int n = 0; n < own_keys / 4; ++n) {
        float &score = scores.of[i / 2][n / 2][i % 2 * 2 + n % 2];
        score = function(score * factor, row + static_cast<float>(i / 2 * 16 + i % 2 * 8),
                         key + static_cast<float>(n / 2 * 8 + n % 2), static_cast<float>(head)) *
                log2_e();
      }
    }
  }

  /// Scores of a tile become weights: powers of two of what they exceed the row's `base` by; none
  /// of tokens after a row's own or past the end. `first_row` is the warp's. Gives whether sums are
  /// to be scaled.
  template <class Function>
  static EIDER_DEVICE bool weigh(Scores &scores, float factor, const Function &function, int head,
                                 int first_row, int tile, int tokens, State &state, float *maxima,
                                 arch::Site at) {
    const bool is_first = is_plain<Function> && tile == 0;
    const int first_key = tile * keys + part() * own_keys;
    const bool is_masked = first_key + own_keys > (causal ? first_row + 1 : tokens);
    scale(scores, factor, function, head, first_row, first_key, state);
    if (is_masked) {
      EIDER_UNROLL
      for (int i = 0; i < 2 * sixteens; ++i) {
        const int own = first_row + i / 2 * 16 + lane() / 4 + i % 2 * 8;
        const int left = (causal && own + 1 < tokens ? own + 1 : tokens) - first_key;
        EIDER_UNROLL
        for (int n = 0; n < own_keys / 4; ++n)
          if (n / 2 * 8 + lane() % 4 * 2 + n % 2 >= left)
            scores.of[i / 2][n / 2][i % 2 * 2 + n % 2] = -arch::as_float(0x7f800000u);
      }
    }
    float largest[2 * sixteens], most = -1e30f;
    EIDER_UNROLL
    for (int i = 0; i < 2 * sixteens; ++i) {
      // No infinity, which less itself would be NaN.
      largest[i] = is_plain<Function> ? -1e30f : lowest_score;
      EIDER_UNROLL
      for (int n = 0; n < own_keys / 4; ++n)
        largest[i] = arch::maximum_number(largest[i], scores.of[i / 2][n / 2][i % 2 * 2 + n % 2]);
      most = arch::maximum_number(most, is_plain<Function> ? largest[i]
                                                           : largest[i] - state.base[i / 2][i % 2]);
    }
    const bool moves = parts > 1 || arch::any_lane(is_first || most > score_room + weight_lift, at);
    if (moves)
      move_base<Function>(scores, largest, is_first, state, maxima, at);
    EIDER_UNROLL
    for (int s = 0; s < sixteens; ++s)
      EIDER_UNROLL
    for (int n = 0; n < own_keys / 8; ++n)
      EIDER_UNROLL
    for (int i = 0; i < 4; ++i) {
      if constexpr (!is_plain<Function>)
        scores.of[s][n][i] -= state.base[s][i / 2];
      scores.of[s][n][i] = arch::exp2(scores.of[s][n][i]);
      state.weight[s][i / 2] += scores.of[s][n][i];
    }
    return moves && !is_first;
  }

  struct LargestNumber : Maximum {
    static EIDER_DEVICE float combine(float a, float b) { return arch::maximum_number(a, b); }
  };

  /// Combines what a lane has of each of its rows with the others' of these: four lanes, and the
  /// warps that have other tokens, between whose calls the block meets.
  template <class Operation>
  static EIDER_DEVICE void reduce_rows(float (&values)[2 * sixteens], float *shared,
                                       arch::Site at) {
    auto of_row = [&](int i) {
      return shared + (row() + i / 2 * 16 + lane() / 4 + i % 2 * 8) * parts;
    };
    EIDER_UNROLL
    for (int i = 0; i < 2 * sixteens; ++i) {
      values[i] = reduce_lanes<Operation, 4, threads>(values[i], at);
      if (parts > 1 && lane() % 4 == 0)
        of_row(i)[part()] = values[i];
    }
    if constexpr (parts > 1) {
      arch::barrier(at);
      EIDER_UNROLL
      for (int i = 0; i < 2 * sixteens; ++i) {
        values[i] = of_row(i)[0];
        EIDER_UNROLL
        for (int other = 1; other < parts; ++other)
          values[i] = Operation::combine(values[i], of_row(i)[other]);
      }
    }
  }

  /// Takes the largest scores into account: of the first tile they are the base, but for
  /// `weight_lift`; later the base is raised where they exceed that. Those of a function are not
  /// less their base yet.
  template <class Function>
  static EIDER_DEVICE void move_base(Scores &scores, float (&largest)[2 * sixteens], bool is_first,
                                     State &state, float *maxima, arch::Site at) {
    reduce_rows<LargestNumber>(largest, maxima, at);
    EIDER_UNROLL
    for (int i = 0; i < 2 * sixteens; ++i) {
      float &base = state.base[i / 2][i % 2], &factor = state.factor[i / 2][i % 2];
      if constexpr (is_plain<Function>) {
        const float above = is_first || largest[i] > weight_lift ? largest[i] - weight_lift : 0.0f;
        base += above;
        EIDER_UNROLL
        for (int n = 0; n < own_keys / 4; ++n)
          scores.of[i / 2][n / 2][i % 2 * 2 + n % 2] -= above;
        factor = arch::exp2(is_first ? 0.0f : -above);
      } else {
        const float before = base;
        if (largest[i] > base + weight_lift)
          base = largest[i] - weight_lift;
        factor = arch::exp2(before - base);
      }
      state.weight[i / 2][i % 2] *= factor;
    }
  }
  static EIDER_DEVICE void scale_sums(State &state) {
    EIDER_UNROLL
    for (int i = 0; i < 2 * sixteens; ++i)
      EIDER_UNROLL
    for (int n = 0; n < own_columns / 4; ++n)
      state.sums[i / 2][n / 2][i % 2 * 2 + n % 2] *= state.factor[i / 2][i % 2];
  }

  /// The values of a tile, times their weights.
  template <class Matrix>
  static EIDER_DEVICE void add_values(const Scores &scores, const Matrix &values,
                                      const Weights &weights, State &state, arch::Site at) {
    uint32 pairs[sixteens][own_keys / 8][2];
    EIDER_UNROLL
    for (int s = 0; s < sixteens; ++s)
      EIDER_UNROLL
    for (int n = 0; n < own_keys / 8; ++n)
      EIDER_UNROLL
    for (int i = 0; i < 2; ++i)
      pairs[s][n][i] = arch::f16x2_from(scores.of[s][n][2 * i], scores.of[s][n][2 * i + 1]);
    if constexpr (parts > 1) {
      EIDER_UNROLL
      for (int s = 0; s < sixteens; ++s)
        EIDER_UNROLL
      for (int n = 0; n < own_keys / 8; ++n)
        EIDER_UNROLL
      for (int i = 0; i < 2; ++i)
        arch::store_words<4>(
            weights.at(row() + s * 16 + lane() / 4 + i * 8, part() * own_keys / 8 + n) +
                lane() % 4 * 4,
            &pairs[s][n][i]);
      arch::barrier(at);
    }
    const auto from_weights = weights.lane(row() + lane() % 16, lane() / 16);
    // A share's columns are whole panels, or divide one, or begin anywhere.
    constexpr int of_panel = Matrix::panel / 2, first = own_columns / 8;
    constexpr bool is_even = own_columns % of_panel == 0 || of_panel % own_columns == 0;
    const auto from_values = values.lane(lane() % 16, share() * first + lane() / 16);
    EIDER_UNROLL
    for (int step = 0; step < keys / 16; ++step) {
      uint32 a[sixteens][4];
      EIDER_UNROLL
      for (int s = 0; s < sixteens; ++s) {
        if constexpr (parts > 1) {
          arch::load_matrices(from_weights.at(s * 16, 2 * step), a[s], at);
        } else {
          EIDER_UNROLL
          for (int i = 0; i < 4; ++i)
            a[s][i] = pairs[s][2 * step + i / 2][i % 2];
        }
      }
      EIDER_UNROLL
      for (int n = 0; n < own_columns / 16; ++n) {
        uint32 b[4];
        arch::load_matrices_transposed(
            is_even ? from_values.at(step * 16, 2 * n)
                    : values.at(step * 16 + lane() % 16, share() * first + 2 * n + lane() / 16),
            b, at);
        EIDER_UNROLL
        for (int s = 0; s < sixteens; ++s)
          EIDER_UNROLL
        for (int i = 0; i < 2; ++i)
          arch::multiply_add_f16(state.sums[s][2 * n + i], a[s], b + 2 * i, at);
      }
    }
  }

  //===-- The end ---------------------------------------------------------===//

  /// The warp's sums over their weights; zeros where a function leaves none.
  template <class Function, class Out>
  static EIDER_DEVICE void finish(State &state, Out *o, int64 pitch, int first_row, int tokens,
                                  float factor, float *maxima, arch::Site at) {
    float weights[2 * sixteens];
    EIDER_UNROLL
    for (int i = 0; i < 2 * sixteens; ++i)
      weights[i] = state.weight[i / 2][i % 2];
    reduce_rows<Sum>(weights, maxima, at);
    EIDER_UNROLL
    for (int i = 0; i < 2 * sixteens; ++i) {
      const int row = first_row + i / 2 * 16 + lane() / 4 + i % 2 * 8;
      if (row >= tokens)
        continue;
      const float inverse = eider::rcp(weights[i]);
      Out *to = o + row * pitch + share() * own_columns;
      EIDER_UNROLL
      for (int n = 0; n < own_columns / 8; ++n) {
        float values[2];
        EIDER_UNROLL
        for (int c = 0; c < 2; ++c)
          values[c] = !is_plain<Function> && weights[i] == 0.0f
                          ? 0.0f
                          : state.sums[i / 2][n][i % 2 * 2 + c] * inverse * factor;
        EIDER_UNROLL
        for (int c = 0; c < 2; ++c)
          to[n * 8 + lane() % 4 * 2 + c] = eider::to<Out>(values[c]);
      }
    }
  }
};

} // namespace eider

#endif // EIDER_ATTENTION_PREFILL_CUH
