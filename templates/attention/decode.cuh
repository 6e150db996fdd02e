//===- eider/attention/decode.cuh - A token's queries over a cache -*- C++ -*-===//
//
// Part of Eider, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//
#ifndef EIDER_ATTENTION_DECODE_CUH
#define EIDER_ATTENTION_DECODE_CUH

#include "eider/attention/parts.cuh"
#include "eider/contraction/pairs.cuh"
#include "eider/math.cuh"

namespace eider {

/// The queries of a lane, as the scores' products want them: of head `lane / 4` of each eight the
/// elements that the lane has of keys, in f16 whose largest is between 1 and 2 in magnitude; of
/// floats two such, whose sum they are.
template <class Q, bool interleaved, int head_dim, int piece, int eights, int group, int alignment>
class Queries {
  static constexpr int own = head_dim / 4;

public:
  static constexpr int terms = same<Q, float> ? 2 : 1;
  uint32 pairs[eights][terms][own / 2];
  float scale[eights][2]; ///< What the lane's columns of a score's product have lost.

  EIDER_DEVICE Queries(const Q *q, int64 head_pitch, arch::Site at) {
    const int lane = arch::thread_index() % 32;
    EIDER_UNROLL
    for (int e = 0; e < eights; ++e) {
      const int head = e * 8 + lane / 4;
      float values[own] = {}, largest = 0.0f;
      if (head < group)
        load(q + head * head_pitch + lane % 4 * piece, values);
      EIDER_UNROLL
      for (int i = 0; i < own; ++i)
        largest = arch::maximum_number(largest, arch::magnitude(values[i]));
      EIDER_UNROLL
      for (int distance = 1; distance < 4; distance *= 2)
        largest =
            arch::maximum_number(largest, arch::shuffle_xor(largest, distance, 0xffffffffu, at));
      const uint32 power = power_of(largest);
      const float factor = arch::as_float((254u << 23) - power);
      EIDER_UNROLL
      for (int i = 0; i < own; i += 2)
        split(values[i] * factor, values[i + 1] * factor, e, i / 2);
      EIDER_UNROLL
      for (int i = 0; i < 2; ++i)
        scale[e][i] = arch::as_float(arch::shuffle(power, (lane % 4 * 2 + i) * 4, at));
    }
    if constexpr (interleaved) {
      EIDER_UNROLL
      for (int i = 0; i < eights * terms * own / 2; i += 2)
        interleave(&pairs[i / (own / 2) / terms][i / (own / 2) % terms][i % (own / 2)]);
    }
  }

private:
  static EIDER_DEVICE void load(const Q *from, float (&values)[own]) {
    EIDER_UNROLL
    for (int first = 0; first < own; first += piece) {
      Fragment<Q, piece> chunk{};
      load_whole_chunk<piece, alignment, cached>(from + first * 4, chunk, 0);
      EIDER_UNROLL
      for (int i = 0; i < piece; ++i)
        values[first + i] = to<float>(chunk[i]);
    }
  }

  /// The bits of the power of two below x; of 0, infinity and NaN those of another that has an
  /// inverse.
  static EIDER_DEVICE uint32 power_of(float x) {
    const uint32 power = arch::as_bits(x) & 0x7f800000u;
    return power == 0x7f800000u ? 127u << 23 : power < 2u << 23 ? 2u << 23 : power;
  }

  EIDER_DEVICE void split(float low, float high, int e, int i) {
    pairs[e][0][i] = arch::f16x2_from(low, high);
    if constexpr (terms == 2)
      pairs[e][1][i] = arch::f16x2_from(low - arch::float_from_low_f16(pairs[e][0][i]),
                                        high - arch::float_from_high_f16(pairs[e][0][i]));
  }
};

/// Attention of one token's queries over a paged cache, of which a CUDA block has one part. Its
/// warps take 16 tokens at a time in turn, and copy those of `ahead` such steps to shared memory,
/// each lane what it reads itself. Scores are a product of 16 keys with 8 query heads; their
/// weights, turned, meet the values: it is free which tokens and elements stand where in a
/// product, so that a lane has neighbours in memory.
template <class Parts, int page, int warps, int ahead> class AttentionDecode {
  static constexpr int head_dim = Parts::head_dim, group = Parts::group;
  static constexpr int eights = (group + 7) / 8, tokens = 16;
  static constexpr int products = head_dim / 16; // of a step, for scores as for values
  static constexpr EIDER_DEVICE int piece_of(int own) {
    int piece = 16;
    while (own % piece != 0)
      piece /= 2;
    return piece;
  }
  // Of a key a lane has a quarter, of a value an eighth, in pieces that are loaded together.
  static constexpr int key_piece = piece_of(head_dim / 4), value_piece = piece_of(head_dim / 8);
  static constexpr int step_bytes = 2 * tokens * head_dim; // of keys, and of values after them
  static constexpr int value_pitch = head_dim + 4;         // of sums in shared memory
  static constexpr bool has_whole_pages = page % tokens == 0;
  static_assert(head_dim % 32 == 0, "a lane has whole words of a value");
  static_assert(group <= 16, "at most 16 query heads meet a head of the cache");

  /// By how many powers of two a score may exceed the largest before sums are scaled anew, and by
  /// how many weights are larger than they are: f16 has them all.
  static constexpr float room = 8.0f, lift = 7.0f;
  static constexpr float lowest = -3.402823466e38f;

  struct alignas(16) Piece {
    uint32 words[4];
  };
  static constexpr int on_way = warps * ahead * step_bytes;
  static constexpr int of_sums = (eights * 8 * value_pitch + warps * eights * 16) * 4;
  static constexpr int memory = on_way > of_sums ? on_way : of_sums;

public:
  /// Writes the block's part. `q` is [sequences, heads, head_dim]; `k` and `v` are
  /// [pages, page, kv_heads, head_dim]; of `table`, [sequences, table_pitch], and of the cache no
  /// more is read than `lengths` says. Row starts of q and of the cache are multiples of
  /// `alignment` bytes; pitches in elements. Every thread of the CUDA block takes part.
  template <class Code, int scales, int alignment = 16, class Q, class W, class Index, class Length>
  static EIDER_DEVICE void
  leave_part(float *parts, const Q *q, const W *k, const float *k_scale, const W *v,
             const float *v_scale, const Index *table, const Length *lengths, int64 sequences,
             int64 table_pitch, int64 q_pitch = Parts::heads * head_dim,
             int64 q_head_pitch = head_dim,
             int64 k_page_pitch = static_cast<int64>(page) * Parts::kv_heads * head_dim,
             int64 k_pitch = Parts::kv_heads * head_dim, int64 k_head_pitch = head_dim,
             int64 v_page_pitch = static_cast<int64>(page) * Parts::kv_heads * head_dim,
             int64 v_pitch = Parts::kv_heads * head_dim, int64 v_head_pitch = head_dim,
             arch::Site at = arch::Site::current()) {
    const int64 count = Parts::count(sequences), number = arch::block_index() / count;
    const int64 sequence = number / Parts::kv_heads, head = number % Parts::kv_heads;
    Work<Index, W> work;
    work.length = lengths[sequence];
    work.table = table + sequence * table_pitch;
    work.keys = {k + head * k_head_pitch, k_page_pitch, k_pitch};
    work.values = {v + head * v_head_pitch, v_page_pitch, v_pitch};
    const int64 steps = (work.length + tokens - 1) / tokens, each = (steps + count - 1) / count;
    const int64 first = arch::block_index() % count * each + warp();
    const int64 end = first - warp() + each < steps ? first - warp() + each : steps;
    const auto turns = static_cast<int>(first < end ? (end - first + warps - 1) / warps : 0);

    constexpr bool interleaved = is_interleaved<W, f16, Code::conversion, true>;
    constexpr int of_queries = alignment < int(sizeof(Q)) ? int(sizeof(Q)) : alignment;
    const Queries<Q, interleaved, head_dim, key_piece, eights, group, of_queries> queries(
        q + sequence * q_pitch + head * group * q_head_pitch, q_head_pitch, at);
    const float in_powers = 1.442695041f * k_scale[scales == 1 ? 0 : head] * inverse_root();
    auto *shared =
        reinterpret_cast<unsigned char *>(arch::shared<AttentionDecode, Piece, memory / 16>());
    unsigned char *own = shared + warp() * ahead * step_bytes;

    State state;
    uint32 pages = work.pages_of(first);
    auto begin = [&](int turn) {
      if (turn < turns) {
        begin_step<alignment>(work, first + turn * warps, pages, own + turn % ahead * step_bytes,
                              at);
        pages = work.pages_of(first + (turn + 1) * warps);
      }
      arch::close_copies();
    };
    EIDER_UNROLL
    for (int turn = 0; turn < ahead - 1; ++turn)
      begin(turn);
    for (int turn = 0; turn < turns; ++turn) {
      arch::await_copies<ahead - 2>();
      begin(turn + ahead - 1);
      const unsigned char *slot = own + turn % ahead * step_bytes;
      float scores[eights][4] = {};
      score<Code, W, interleaved>(slot, queries, scores, at);
      const int64 left = work.length - (first + turn * warps) * tokens;
      weigh(scores, queries.scale, in_powers, left, state, at);
      add_values<Code, W, interleaved>(slot, scores, state, at);
    }
    arch::await_copies<0>();
    meet<interleaved>(state, parts + arch::block_index() * Parts::size,
                      v_scale[scales == 1 ? 0 : head], reinterpret_cast<float *>(shared), at);
  }

private:
  static EIDER_DEVICE int warp() { return arch::thread_index() / 32; }
  static EIDER_DEVICE int lane() { return arch::thread_index() % 32; }

  /// 1 / √head_dim, by Newton's iteration.
  static constexpr EIDER_DEVICE float inverse_root() {
    double root = 16.0;
    for (int i = 0; i < 12; ++i)
      root = 0.5 * (root + head_dim / root);
    return static_cast<float>(1.0 / root);
  }

  /// Rows of keys or values of one head, in pages.
  template <class W> struct Rows {
    const W *base;
    int64 page_pitch, pitch;
  };

  /// What the block reads of the cache.
  template <class Index, class W> struct Work {
    int64 length;
    const Index *table;
    Rows<W> keys, values;

    /// The page of the lane's token of a step.
    EIDER_DEVICE uint32 pages_of(int64 step) const {
      const int64 token = step * tokens + (has_whole_pages ? 0 : lane() % tokens);
      return token < length ? static_cast<uint32>(table[token / page]) : 0u;
    }
  };

  /// The running sums of a warp: of the lane's columns of products, which are query heads.
  struct State {
    float sums[eights][products][4] = {};
    float largest[eights][2], weight[eights][2] = {};
    EIDER_DEVICE State() {
      EIDER_UNROLL
      for (int i = 0; i < 2 * eights; ++i)
        largest[i / 2][i % 2] = lowest;
    }
  };

  //===-- Memory ----------------------------------------------------------===//

  /// Begins to copy a lane's piece; zeros where `condition` does not hold.
  template <int piece, int alignment, class W>
  static EIDER_DEVICE void begin_piece(unsigned char *to, const W *from, bool condition) {
    constexpr int bytes = alignment < piece ? alignment : piece;
    const auto *at = reinterpret_cast<const unsigned char *>(from);
    EIDER_UNROLL
    for (int offset = 0; offset < piece; offset += bytes)
      if constexpr (bytes >= 4) {
        arch::begin_copy<bytes>(to + offset, at + offset, condition);
      } else {
        uint32 word = 0;
        if (condition)
          arch::load_words<bytes>(at + offset, &word);
        arch::store_words<bytes>(to + offset, &word);
      }
  }

  /// Begins to copy what the lane has of a step: of keys `lane / 4` and 8 more every fourth piece,
  /// of the values of four tokens every eighth. Tokens past the end are zeros.
  template <int alignment, class Index, class W>
  static EIDER_DEVICE void begin_step(const Work<Index, W> &work, int64 step, uint32 pages,
                                      unsigned char *slot, arch::Site at) {
    const int64 first = step * tokens;
    auto row = [&](const Rows<W> &rows, int token) {
      uint32 its_page = pages;
      if constexpr (!has_whole_pages)
        its_page = arch::shuffle(pages, token, at);
      const auto inside = static_cast<int>((first + token) % page);
      return rows.base + its_page * rows.page_pitch + inside * rows.pitch;
    };
    EIDER_UNROLL
    for (int half = 0; half < 2; ++half) {
      const int token = token_of_key(half);
      const W *from = row(work.keys, token) + lane() % 4 * key_piece;
      EIDER_UNROLL
      for (int i = 0; i < key_pieces; ++i)
        begin_piece<key_piece, alignment>(key_at(slot, half, i), from + i * 4 * key_piece,
                                          first + token < work.length);
    }
    EIDER_UNROLL
    for (int n = 0; n < 4; ++n) {
      const int token = token_of_value(n);
      const W *from = row(work.values, token) + lane() / 4 * value_piece;
      EIDER_UNROLL
      for (int i = 0; i < value_pieces; ++i)
        begin_piece<value_piece, alignment>(value_at(slot, n, i), from + i * 8 * value_piece,
                                            first + token < work.length);
    }
  }

  static constexpr int key_pieces = head_dim / 4 / key_piece;
  static constexpr int value_pieces = head_dim / 8 / value_piece;
  static EIDER_DEVICE int token_of_key(int half) { return lane() / 4 + half * 8; }
  static EIDER_DEVICE int token_of_value(int n) { return lane() % 4 * 2 + n % 2 + n / 2 * 8; }
  template <class Byte> static EIDER_DEVICE Byte *key_at(Byte *slot, int half, int i) {
    return slot + ((half * key_pieces + i) * 32 + lane()) * key_piece;
  }
  template <class Byte> static EIDER_DEVICE Byte *value_at(Byte *slot, int n, int i) {
    return slot + tokens * head_dim + ((n * value_pieces + i) * 32 + lane()) * value_piece;
  }

  //===-- A step ----------------------------------------------------------===//

  /// Scores of the lane's tokens (`lane / 4` and 8 more) and queries (`lane % 4 · 2` and the next).
  template <class Code, class W, bool interleaved, class OfQ>
  static EIDER_DEVICE void score(const unsigned char *slot, const OfQ &queries,
                                 float (&scores)[eights][4], arch::Site at) {
    EIDER_UNROLL
    for (int i = 0; i < key_pieces; ++i) {
      uint32 pairs[2][key_piece / 2];
      EIDER_UNROLL
      for (int half = 0; half < 2; ++half) {
        Fragment<W, key_piece> codes;
        arch::load_words<key_piece>(key_at(slot, half, i), codes.words);
        pairs_of_codes<Code::conversion, interleaved>(codes, pairs[half], f16());
      }
      EIDER_UNROLL
      for (int n = 0; n < key_piece / 4; ++n) {
        const uint32 a[4] = {pairs[0][2 * n], pairs[1][2 * n], pairs[0][2 * n + 1],
                             pairs[1][2 * n + 1]};
        EIDER_UNROLL
        for (int e = 0; e < eights; ++e)
          EIDER_UNROLL
        for (int term = 0; term < OfQ::terms; ++term)
          arch::multiply_add_f16(scores[e], a, &queries.pairs[e][term][i * key_piece / 2 + 2 * n],
                                 at);
      }
    }
  }

  /// Scores become weights. `left` tokens are there.
  static EIDER_DEVICE void weigh(float (&scores)[eights][4], const float (&scale)[eights][2],
                                 float in_powers, int64 left, State &state, arch::Site at) {
    bool exceeds = false;
    EIDER_UNROLL
    for (int e = 0; e < eights; ++e)
      EIDER_UNROLL
    for (int i = 0; i < 4; ++i) {
      scores[e][i] *= scale[e][i % 2] * in_powers;
      if (left < tokens && token_of_key(i / 2) >= left)
        scores[e][i] = -arch::as_float(0x7f800000u);
      exceeds = exceeds || !(scores[e][i] <= state.largest[e][i % 2] + room);
    }
    if (arch::any_lane(exceeds, at))
      scale_anew(scores, state, at);
    EIDER_UNROLL
    for (int e = 0; e < eights; ++e)
      EIDER_UNROLL
    for (int i = 0; i < 4; ++i) {
      scores[e][i] = arch::exp2(scores[e][i] - (state.largest[e][i % 2] - lift));
      state.weight[e][i % 2] += scores[e][i];
    }
  }

  /// Takes the largest scores into account.
  static EIDER_DEVICE void scale_anew(const float (&scores)[eights][4], State &state,
                                      arch::Site at) {
    EIDER_UNROLL
    for (int e = 0; e < eights; ++e)
      EIDER_UNROLL
    for (int i = 0; i < 2; ++i) {
      float largest = arch::maximum_number(scores[e][i], scores[e][i + 2]);
      EIDER_UNROLL
      for (int distance = 4; distance < 32; distance *= 2)
        largest =
            arch::maximum_number(largest, arch::shuffle_xor(largest, distance, 0xffffffffu, at));
      largest = arch::maximum_number(largest, state.largest[e][i]);
      const float factor = arch::exp2(state.largest[e][i] - largest);
      state.largest[e][i] = largest;
      state.weight[e][i] *= factor;
      EIDER_UNROLL
      for (int n = 0; n < products; ++n) {
        state.sums[e][n][i] *= factor;
        state.sums[e][n][i + 2] *= factor;
      }
    }
  }

  /// The values of a step, times their weights.
  template <class Code, class W, bool interleaved>
  static EIDER_DEVICE void add_values(const unsigned char *slot, const float (&weights)[eights][4],
                                      State &state, arch::Site at) {
    uint32 turned[eights][2];
    EIDER_UNROLL
    for (int e = 0; e < eights; ++e)
      EIDER_UNROLL
    for (int half = 0; half < 2; ++half)
      turned[e][half] = arch::transpose_pairs(
          arch::f16x2_from(weights[e][2 * half], weights[e][2 * half + 1]), at);
    EIDER_UNROLL
    for (int i = 0; i < value_pieces; ++i) {
      Fragment<W, value_piece> codes[4];
      EIDER_UNROLL
      for (int n = 0; n < 4; ++n)
        arch::load_words<value_piece>(value_at(slot, n, i), codes[n].words);
      EIDER_UNROLL
      for (int word = 0; word < value_piece / 4; ++word) {
        uint32 pairs[2][4]; // of two tokens each, one an element
        EIDER_UNROLL
        for (int half = 0; half < 2; ++half) {
          const uint32 one = codes[2 * half].words[word], next = codes[2 * half + 1].words[word];
          const Fragment<W, 8> both = {
              {arch::byte_permute(one, next, interleaved ? 0x5410 : 0x5140),
               arch::byte_permute(one, next, interleaved ? 0x7632 : 0x7362)}};
          pairs_of_codes<Code::conversion, interleaved>(both, pairs[half], f16());
        }
        EIDER_UNROLL
        for (int n = 0; n < 2; ++n) {
          const uint32 a[4] = {pairs[0][2 * n], pairs[0][2 * n + 1], pairs[1][2 * n],
                               pairs[1][2 * n + 1]};
          EIDER_UNROLL
          for (int e = 0; e < eights; ++e)
            arch::multiply_add_f16(state.sums[e][(i * value_piece / 4 + word) * 2 + n], a,
                                   turned[e], at);
        }
      }
    }
  }

  //===-- The end ---------------------------------------------------------===//

  /// Which element of a value a lane's sums are of: of product n, the first two or the last two.
  template <bool interleaved> static EIDER_DEVICE int element_of(int n, int half) {
    const int of_piece = n * 2 % value_piece;
    return (n * 2 / value_piece * 8 + lane() / 4) * value_piece + of_piece +
           (interleaved ? 1 - half : half);
  }

  /// The warps' sums together, in the warps' order, written by all threads.
  template <bool interleaved>
  static EIDER_DEVICE void meet(State &state, float *part, float value_scale, float *shared,
                                arch::Site at) {
    float *all_largest = shared + eights * 8 * value_pitch;
    float *all_weights = all_largest + warps * eights * 8;
    const int column = lane() % 4 * 2;
    EIDER_UNROLL
    for (int i = 0; i < 2 * eights; ++i)
      EIDER_UNROLL
    for (int distance = 4; distance < 32; distance *= 2)
      state.weight[i / 2][i % 2] +=
          arch::shuffle_xor(state.weight[i / 2][i % 2], distance, 0xffffffffu, at);
    arch::barrier(at); // what was on its way has been read
    if (lane() < 4) {
      EIDER_UNROLL
      for (int i = 0; i < 2 * eights; ++i) {
        const int slot = (warp() * eights + i / 2) * 8 + column + i % 2;
        all_largest[slot] = state.largest[i / 2][i % 2];
        all_weights[slot] = state.weight[i / 2][i % 2];
      }
    }
    arch::barrier(at);
    auto largest_of = [&](int head) {
      float largest = all_largest[head];
      EIDER_UNROLL
      for (int other = 1; other < warps; ++other)
        largest = arch::maximum_number(largest, all_largest[other * eights * 8 + head]);
      return largest;
    };
    for (int turn = 0; turn < warps; ++turn) {
      if (warp() == turn) {
        EIDER_UNROLL
        for (int i = 0; i < 2 * eights; ++i) {
          const int head = i / 2 * 8 + column + i % 2;
          const float factor = arch::exp2(state.largest[i / 2][i % 2] - largest_of(head));
          EIDER_UNROLL
          for (int n = 0; n < 2 * products; ++n) {
            float &sum = shared[head * value_pitch + element_of<interleaved>(n / 2, n % 2)];
            const float own = state.sums[i / 2][n / 2][n % 2 * 2 + i % 2] * factor;
            sum = turn == 0 ? own : sum + own;
          }
        }
      }
      arch::barrier(at);
    }
    for (int i = arch::thread_index(); i < Parts::values; i += warps * 32)
      part[i] = shared[i / head_dim * value_pitch + i % head_dim] * value_scale;
    if (const int head = arch::thread_index(); head < group) {
      const float largest = largest_of(head);
      float weight = 0.0f;
      EIDER_UNROLL
      for (int other = 0; other < warps; ++other) {
        const int slot = other * eights * 8 + head;
        weight = arch::fma(arch::exp2(all_largest[slot] - largest), all_weights[slot], weight);
      }
      part[Parts::values + head] = largest;
      part[Parts::values + group + head] = weight;
    }
  }
};

} // namespace eider

#endif // EIDER_ATTENTION_DECODE_CUH
