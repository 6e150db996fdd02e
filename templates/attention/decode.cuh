//===- eider/attention/decode.cuh - A token's queries over a cache -*- C++ -*-===//
//
// Part of Eider, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//
#ifndef EIDER_ATTENTION_DECODE_CUH
#define EIDER_ATTENTION_DECODE_CUH

#include "eider/attention/elements.cuh"
#include "eider/attention/pages.cuh"
#include "eider/attention/parts.cuh"
#include "eider/attention/queries.cuh"
#include "eider/attention/scales.cuh"
#include "eider/attention/scores.cuh"
#include "eider/contraction/pairs.cuh"
#include "eider/memory/copy.cuh"
#include "eider/memory/shared.cuh"
#include "eider/reduce/threads.cuh"

namespace eider {

/// Attention of one token's queries over a cache, of which a CUDA block has one part. Its
/// warps take 16 tokens at a time in turn, and copy those of `ahead` such steps to shared memory,
/// each warp its own. Scores are a product of 16 keys with 8 query heads; their
/// weights, turned, meet the values: it is free which tokens and elements stand where in a
/// product, so that a lane has neighbours in memory. Scales are those of all pages, of each page
/// (`scale_axes` 1), of each token (2) or of each of its row's `blocks` (3). The latter meet what
/// keys' blocks add to scores, and weights on their way to f16, which are turned for each block of
/// values: the products have a base of their own, so that f16 has them wherever the scales lie.
/// Pieces are so long that lanes which share a product have theirs in one block. Elements of
/// two bytes are no codes but bf16 or f16, which meet queries and weights of their own type. Of a
/// cache of latents a row is a key of `latent` elements, which begins with its value, and is read
/// once. So many warps as `shares` says have their 16 tokens together: each some columns of keys,
/// of whose products scores are the sums, and some of values. Queries and sums of long rows have
/// room in registers so.
template <class Parts, int page, int warps, int ahead, int window = 0, int scale_axes = 0,
          int bytes = 1, int latent = 0, int shares = 1, int blocks = 1>
class AttentionDecode {
  static constexpr int value_dim = Parts::head_dim, group = Parts::group;
  static constexpr int head_dim = latent ? latent : value_dim; // of keys, and of rows of the cache
  static constexpr int eights = (group + 7) / 8, tokens = 16, teams = warps / shares;
  static constexpr int own_values = value_dim / shares; // whose sums a warp has
  static constexpr int products = own_values / 16;
  static constexpr EIDER_DEVICE int piece_of(int own) {
    int piece = 16 / bytes;
    while (own % piece != 0)
      piece /= 2;
    return piece;
  }
  // Of a key, or its block, a lane has a quarter, of a value an eighth, in pieces that are loaded
  // together.
  static constexpr int block = head_dim / blocks,
                       own_block = block < own_values ? block : own_values;
  static constexpr int key_piece = piece_of(block / 4), value_piece = piece_of(own_block / 8);
  static constexpr int own_blocks = own_values / own_block;
  static constexpr int value_blocks = block < value_dim ? value_dim / block : 1;
  static constexpr bool has_token_scales = scale_axes != 0; // or of pages, which are theirs
  using Scales = TokenScales<has_token_scales ? blocks : 0>;
  static constexpr int row_bytes = head_dim * bytes;
  static constexpr int row_pitch = latent ? (row_bytes + 127) / 128 * 128 : row_bytes; // there
  static constexpr int keys_bytes = tokens * row_pitch; // of keys, and of values after them
  static constexpr int cached_bytes = latent ? keys_bytes : 2 * keys_bytes;
  static constexpr int step_bytes = cached_bytes + 2 * tokens * Scales::pitch * 4;
  static constexpr int value_pitch = value_dim + 4; // of sums in shared memory
  template <class Index, class W> using Work = PagedTokens<page, window, Index, W>;
  static_assert(head_dim % 32 == 0 && value_dim % (32 * shares) == 0 && value_dim <= head_dim,
                "a lane has whole words of a value");
  static_assert(group <= 16, "a block has at most 16 query heads");
  static_assert(shares == 1 || shares == warps, "of a block's warps all share tokens, or none");
  static_assert(blocks == 1 ||
                    (scale_axes == 3 && head_dim % (32 * blocks) == 0 && value_dim % block == 0 &&
                     block % own_block == 0 && own_values % own_block == 0),
                "scales are of whole 32 columns, and of a warp's values all or as many each");

  static constexpr float unlifted = 1.0f / (1 << weight_lift);

  struct alignas(16) Piece {
    uint32 words[4];
  };
  static constexpr int of_scores = shares == 1 ? 0 : shares * eights * 4 * 32 * 4; // that meet
  static constexpr int of_steps = teams * ahead * step_bytes, on_way = of_steps + of_scores;
  static constexpr int bases = has_token_scales ? value_blocks : 0; // of a column, in shared memory
  static constexpr int of_sums = teams * eights * 8 * (value_pitch + 2 + bases) * 4;
  static constexpr int memory = on_way > of_sums ? on_way : of_sums;
  static EIDER_DEVICE Piece *shared_memory() {
    return shared_or_launched<AttentionDecode, Piece, memory / 16>();
  }

public:
  /// Writes the block's part to `to`, where all are, or is one of those that are `combining` there.
  /// `asked` is queries, [sequences, heads, head_dim], or `scored`; `k` and `v` are [pages, page,
  /// kv_heads, head_dim] (of latents both the same), `k_scale` and `v_scale` the axes that scales
  /// have, and `scales`, one or the cache's heads, or none (0); `table` is [sequences,
  /// table_pitch], or `no_pages` where `page` is 0. Of the cache no more is read than `lengths`
  /// says, whatever the table says beyond. Row starts of q and of the cache are multiples of
  /// `alignment` bytes; pitches in elements. `is_apart`: rows of the table may lie anywhere, else
  /// one after the other. `Code` is the codec, or the type of what is no codes. Every thread of the
  /// CUDA block takes part.
  template <class Code, int scales, int alignment = 16, bool is_apart = alignment != 16, class To,
            class Asked, class W, class Index, class Length>
  static EIDER_DEVICE void leave_part(
      const To &to, const Asked &asked, const W *k, const float *k_scale, const W *v,
      const float *v_scale, const Index *table, const Length *lengths, int64 sequences,
      int64 table_pitch, int64 q_pitch = Parts::heads * head_dim, int64 q_head_pitch = head_dim,
      int64 k_page_pitch = static_cast<int64>(page) * Parts::kv_heads * head_dim,
      int64 k_pitch = Parts::kv_heads * head_dim, int64 k_head_pitch = head_dim,
      int64 v_page_pitch = static_cast<int64>(page) * Parts::kv_heads * head_dim,
      int64 v_pitch = Parts::kv_heads * head_dim, int64 v_head_pitch = head_dim,
      int64 k_scale_page_pitch = static_cast<int64>(scale_axes >= 2 ? page : 1) * scales * blocks,
      int64 v_scale_page_pitch = static_cast<int64>(scale_axes >= 2 ? page : 1) * scales * blocks,
      int64 k_scale_pitch = scale_axes >= 2 ? scales * blocks : 0,
      int64 v_scale_pitch = scale_axes >= 2 ? scales * blocks : 0,
      int64 k_scale_head_pitch = blocks, int64 v_scale_head_pitch = blocks,
      arch::Site at = arch::Site::current()) {
    constexpr bool has_one_scale = scales != 0 && !has_token_scales;
    const int64 count = Parts::count(sequences), number = arch::block_index() / count;
    const int64 sequence = number / Parts::groups, of_sequence = number % Parts::groups;
    const int64 head = of_sequence / Parts::tiles;
    const int64 of_head = scales <= 1 ? 0 : head;
    const int64 own_page = page == 0 ? sequence : 0; // its rows begin there
    Work<Index, W> work = {
        lengths[sequence],
        table + sequence * table_pitch,
        {k + own_page * k_page_pitch + head * k_head_pitch, k_page_pitch, k_pitch},
        {v + own_page * v_page_pitch + head * v_head_pitch, v_page_pitch, v_pitch},
        {}};
    if constexpr (has_token_scales)
      work.scales = lane() < tokens ? PagedRows<float>{k_scale + own_page * k_scale_page_pitch +
                                                           of_head * k_scale_head_pitch,
                                                       k_scale_page_pitch, k_scale_pitch}
                                    : PagedRows<float>{v_scale + own_page * v_scale_page_pitch +
                                                           of_head * v_scale_head_pitch,
                                                       v_scale_page_pitch, v_scale_pitch};
    const auto all = static_cast<int>((work.length + tokens - 1) / tokens);
    const auto before = static_cast<int>(work.begin() / tokens);
    // All teams of all parts take steps in turn, so that the first of each needs no length.
    const int stride = static_cast<int>(count) * teams;
    const int first = before + static_cast<int>(arch::block_index() % count) * teams + team();
    const int turns = first < all ? (all - first + stride - 1) / stride : 0;
    if constexpr (same<To, float *>)
      arch::allow_next_launch();
    auto *shared = reinterpret_cast<unsigned char *>(shared_memory());
    unsigned char *own = shared + team() * ahead * step_bytes;

    State state;
    // Tables whose rows lie apart may have any pitch: theirs begin as their lengths say.
    uint32 pages =
        is_apart || window != 0 ? work.pages_of(first) : work.pages_of(first, table_pitch);
    int begun = 0, begun_slot = 0, slot = 0;
    auto begin = [&] {
      if (begun < turns) {
        const int step = first + begun * stride;
        begin_step<alignment>(work, step, pages, own + begun_slot * step_bytes, at);
        pages = work.pages_of(step + stride);
      }
      begun_slot = begun_slot == ahead - 1 ? 0 : begun_slot + 1;
      ++begun;
      arch::close_copies();
    };
    EIDER_UNROLL
    for (int turn = 0; turn < ahead - 1; ++turn)
      begin();
    if constexpr (!same<To, float *>)
      if (count > 1) {
        const Arrivals arrivals(to.arrivals + number);
        arrivals.mend(arrivals.look(), count);
      }
    static_assert(sizeof(W) == bytes, "a cache of such elements");
    const auto scored = asked_of(asked);
    using Q = typename decltype(asked_of(asked))::Element;
    using Score = typename decltype(asked_of(asked))::Score;
    constexpr int of_queries = alignment < int(sizeof(Q)) ? int(sizeof(Q)) : alignment;
    const int64 first_head = of_sequence * group;
    const Queries<Q, W, head_dim, key_piece, eights, group, of_queries, shares> queries(
        scored.elements + sequence * q_pitch + first_head * q_head_pitch, q_head_pitch, share(),
        at);
    constexpr float raised = 1 << lowered_as<Code, W>();
    const float factor = to_powers<Score> * raised * inverse_root(head_dim) *
                         (has_one_scale ? k_scale[of_head] : 1.0f);
    const auto functions = functions_of(scored.score, static_cast<int>(first_head), work.length);
    for (int turn = 0; turn < turns; ++turn) {
      arch::await_copies<ahead - 2>();
      team_barrier(at); // for those of other lanes, and before what they have read goes
      begin();
      const unsigned char *from = own + slot * step_bytes;
      slot = slot == ahead - 1 ? 0 : slot + 1;
      float scores[eights][4] = {};
      score<Code, W>(from, queries, scores, at);
      meet_scores(scores, reinterpret_cast<float *>(shared + of_steps), at);
      const int step = first + turn * stride;
      weigh(scores, queries.scale, factor, functions, {from + cached_bytes, token_of_key(0)}, step,
            work.skipped_of(step), work.left_of(step), state, at);
      if constexpr (blocks == 1)
        add_values<Code, W>(from, scores, 0, state, at);
      else
        add_blocks<Code, W>(from, scores, state, at);
    }
    arch::await_copies<0>();
    const Together together = {reinterpret_cast<float *>(shared), raised * unlifted,
                               has_one_scale ? v_scale[of_head] : 1.0f};
    meet(state, together.shared, at);
    leave(together, to, number, count, at);
  }

private:
  static EIDER_DEVICE int warp() { return arch::nonnegative_thread_index() / 32; }
  static EIDER_DEVICE int lane() { return arch::nonnegative_thread_index() % 32; }
  static EIDER_DEVICE int team() { return warp() / shares; }
  static EIDER_DEVICE int share() { return warp() % shares; }
  static EIDER_DEVICE void team_barrier(arch::Site at) {
    if constexpr (shares == 1)
      arch::warp_barrier(at);
    else
      arch::barrier(at);
  }

  /// The running sums of a warp: of the lane's columns of products, which are query heads.
  struct State {
    float sums[eights][products][4] = {};
    float largest[eights][2], weight[eights][2] = {};
    /// Of the sums of a block, where tokens have scales; else it is the largest score.
    float base[own_blocks][eights][2];
    EIDER_DEVICE State() {
      EIDER_UNROLL
      for (int i = 0; i < 2 * eights; ++i) {
        largest[i / 2][i % 2] = lowest_score;
        EIDER_UNROLL
        for (int b = 0; b < own_blocks; ++b)
          base[b][i / 2][i % 2] = lowest_score;
      }
    }
  };

  //===-- Memory ----------------------------------------------------------===//

  /// Begins to copy 16 bytes, of which so many are aligned together; zeros where `condition` does
  /// not hold.
  template <int alignment, class W>
  static EIDER_DEVICE void begin_chunk(unsigned char *to, const W *from, bool condition) {
    const auto *at = reinterpret_cast<const unsigned char *>(from);
    EIDER_UNROLL
    for (int offset = 0; offset < 16; offset += alignment)
      begin_copy<alignment>(to + offset, at + offset, condition);
  }

  /// Begins to copy what the team has of a step, by whole lines of memory: keys, and after them
  /// values, and the tokens' scales, a lane each. Tokens that are not met are zeros.
  template <int alignment, class Index, class W>
  static EIDER_DEVICE void begin_step(const Work<Index, W> &work, int step, uint32 pages,
                                      unsigned char *slot, arch::Site at) {
    const int skipped = work.skipped_of(step), left = work.left_of(step);
    auto begin_rows = [&](const PagedRows<W> &rows, unsigned char *to) {
      const W *base = rows.base;
      if constexpr (Work<Index, W>::has_whole_steps)
        base += pages * rows.page_pitch + work.place_of_step(step) * rows.pitch;
      constexpr int all = tokens * chunks, together = 32 * shares;
      EIDER_UNROLL
      for (int i = 0; i < (all + together - 1) / together; ++i) {
        const int n = share() * 32 + lane() + together * i, token = n / chunks, chunk = n % chunks;
        const W *from = base + token * rows.pitch;
        if constexpr (!Work<Index, W>::has_whole_steps) {
          const int64 inside = work.place_of(static_cast<int64>(step) * tokens + token);
          from = base + arch::shuffle(pages, token, at) * rows.page_pitch + inside * rows.pitch;
        }
        if (all % together == 0 || n < all)
          begin_chunk<alignment>(to + token * row_pitch + swizzled(token, chunk * 16),
                                 from + chunk * (16 / bytes), skipped <= token && token < left);
      }
    };
    begin_rows(work.keys, slot);
    if constexpr (!latent)
      begin_rows(work.values, slot + keys_bytes);
    if constexpr (has_token_scales) {
      if (share() != 0)
        return;
      const int token = lane() % tokens;
      const int64 inside = work.place_of(static_cast<int64>(step) * tokens + token);
      const float *from =
          work.scales.base + pages * work.scales.page_pitch + inside * work.scales.pitch;
      constexpr int together = alignment < 16 || blocks % 2 != 0 ? 1 : blocks % 4 != 0 ? 2 : 4;
      EIDER_UNROLL
      for (int b = 0; b < blocks; b += together)
        begin_copy<4 * together>(slot + cached_bytes + (lane() * Scales::pitch + b) * 4, from + b,
                                 skipped <= token && token < left);
    }
  }

  static constexpr int chunks = row_bytes / 16;               // of a key
  static constexpr int key_pieces = head_dim / 4 / key_piece; // of all warps that share tokens
  static constexpr int value_pieces = own_values / 8 / value_piece;
  /// Of a warp's pieces of a key, those of one block that come one after the other.
  static constexpr int block_pieces = shares == 1 ? block / 4 / key_piece : 1;
  static constexpr int block_shares = block < own_values ? 1 : block / own_values; // of values
  static EIDER_DEVICE Scales scales_of(const unsigned char *slot) {
    return {slot + cached_bytes, token_of_key(0)};
  }
  static EIDER_DEVICE int block_of(int column) { return value_blocks == 1 ? 0 : column / block; }
  /// The block of the warp's, of its columns of values.
  static EIDER_DEVICE int own_block_of(int b) { return block_of(share() * own_values) + b; }
  static EIDER_DEVICE int token_of_key(int half) { return lane() / 4 + half * 8; }
  static EIDER_DEVICE int token_of_value(int n) { return lane() % 4 * 2 + n % 2 + n / 2 * 8; }

  /// Rows whose length is a power of two lie in the same banks of shared memory: chunks change
  /// places, so that lanes which read together, of two keys or of four values, read from others.
  static EIDER_DEVICE int swizzled(int token, int byte) {
    if constexpr (row_pitch % 128 == 0)
      return byte ^ ((token % 2 * 4 ^ token / 2 % 4 * 2) * 16);
    else if constexpr (row_bytes == 64)
      return byte ^ (token / 2 % 2 * 32);
    else
      return byte;
  }
  static EIDER_DEVICE const unsigned char *key_at(const unsigned char *slot, int half, int i) {
    const int token = token_of_key(half);
    return slot + token * row_pitch + swizzled(token, (i * 4 + lane() % 4) * key_piece * bytes);
  }
  static EIDER_DEVICE const unsigned char *value_at(const unsigned char *slot, int n, int i) {
    const int token = token_of_value(n);
    const int piece = (share() * value_pieces + i) * 8 + lane() / 4;
    return slot + (latent ? 0 : keys_bytes) + token * row_pitch +
           swizzled(token, piece * value_piece * bytes);
  }

  //===-- A step ----------------------------------------------------------===//

  /// Scores of the lane's tokens (`lane / 4` and 8 more) and queries (`lane % 4 · 2` and the next);
  /// of the warp's columns alone. Blocks have sums of their own, which meet scales.
  template <class Code, class W, class OfQ>
  static EIDER_DEVICE void score(const unsigned char *slot, const OfQ &queries,
                                 float (&scores)[eights][4], arch::Site at) {
    float of_block[eights][4] = {};
    auto &sums = blocks == 1 ? scores : of_block;
    EIDER_UNROLL
    for (int i = 0; i < (key_pieces + shares - 1) / shares; ++i) {
      if (key_pieces % shares != 0 && i * shares + share() >= key_pieces)
        continue;
      Fragment<W, key_piece> codes[2];
      EIDER_UNROLL
      for (int half = 0; half < 2; ++half)
        arch::load_words<key_piece * bytes>(key_at(slot, half, i * shares + share()),
                                            codes[half].words);
      const auto &others = queries.pairs;
      if (arch::unlikely(loses_nans<Code>(codes, at)))
        multiply_keys<Code, true>(codes, others, i * key_piece / 2, sums, at);
      else
        multiply_keys<Code, false>(codes, others, i * key_piece / 2, sums, at);
      if constexpr (blocks > 1)
        if (i % block_pieces == block_pieces - 1)
          add_block_score(scores, sums, scales_of(slot),
                          (i * shares + share()) * 4 * key_piece / block);
    }
  }

  /// Adds a block's sums, which begin anew.
  static EIDER_DEVICE void add_block_score(float (&scores)[eights][4], float (&sums)[eights][4],
                                           const Scales &scales, int block) {
    EIDER_UNROLL
    for (int e = 0; e < eights; ++e)
      EIDER_UNROLL
    for (int i = 0; i < 4; ++i) {
      scores[e][i] = arch::fma(sums[e][i], scales.key(i / 2, block), scores[e][i]);
      sums[e][i] = 0.0f;
    }
  }

  /// Of scores each warp has those of its columns; their sums, in the warps' order, all have.
  static EIDER_DEVICE void meet_scores(float (&scores)[eights][4], float *shared, arch::Site at) {
    if constexpr (shares > 1) {
      constexpr int of_warp = eights * 4 * 32;
      EIDER_UNROLL
      for (int i = 0; i < eights * 4; ++i)
        shared[share() * of_warp + i * 32 + lane()] = scores[i / 4][i % 4];
      arch::barrier(at); // that of the next step is before these change again
      EIDER_UNROLL
      for (int i = 0; i < eights * 4; ++i) {
        float sum = shared[i * 32 + lane()];
        EIDER_UNROLL
        for (int n = 1; n < shares; ++n)
          sum += shared[n * of_warp + i * 32 + lane()];
        scores[i / 4][i % 4] = sum;
      }
    }
  }

  /// The functions of a lane's query heads; of columns past the group's that of its last head.
  template <class Score> struct Functions {
    Score of[eights][2];
    float query;
    int first_head;

    static EIDER_DEVICE int column(int e, int i) {
      const int own = e * 8 + lane() % 4 * 2 + i;
      return own < group ? own : group - 1;
    }
    /// A score of a step's token, in powers of two.
    EIDER_DEVICE float changed(float score, int e, int i, int step) const {
      if constexpr (is_plain<Score>)
        return score;
      else
        return of[e][i % 2](score, query,
                            static_cast<float>(step) * tokens +
                                static_cast<float>(token_of_key(i / 2)),
                            static_cast<float>(first_head + column(e, i % 2))) *
               log2_e();
    }
  };
  template <class Score>
  static EIDER_DEVICE auto functions_of(const Score &score, int first_head, int64 length) {
    auto of_head = [&](int e, int i) {
      return score(first_head + Functions<PlainScores>::column(e, i));
    };
    using Known = Functions<decltype(of_head(0, 0))>;
    const auto query = static_cast<float>(length - 1);
    if constexpr (eights == 1)
      return Known{{{of_head(0, 0), of_head(0, 1)}}, query, first_head};
    else
      return Known{
          {{of_head(0, 0), of_head(0, 1)}, {of_head(1, 0), of_head(1, 1)}}, query, first_head};
  }

  /// Scores become weights, or powers of two where these meet scales of values yet: of tokens from
  /// `skipped` to `left` of the step.
  template <class Known>
  static EIDER_DEVICE void weigh(float (&scores)[eights][4], const float (&scale)[eights][2],
                                 float factor, const Known &functions, const Scales &scales,
                                 int step, int skipped, int left, State &state, arch::Site at) {
    bool exceeds = false;
    EIDER_UNROLL
    for (int e = 0; e < eights; ++e)
      EIDER_UNROLL
    for (int i = 0; i < 4; ++i) {
      if constexpr (has_token_scales && blocks == 1)
        scores[e][i] *= scales.key(i / 2, 0);
      const float score = scores[e][i] * factor * scale[e][i % 2]; // their product may be none
      scores[e][i] = functions.changed(score, e, i, step);
      if ((left < tokens && token_of_key(i / 2) >= left) ||
          (window != 0 && token_of_key(i / 2) < skipped))
        scores[e][i] = -arch::as_float(0x7f800000u);
      exceeds = exceeds || !(scores[e][i] <= state.largest[e][i % 2] + score_room);
      if constexpr (has_token_scales) {
        EIDER_UNROLL
        for (int b = 0; b < own_blocks; ++b)
          exceeds = exceeds || !(scores[e][i] + scales.value(own_block_of(b)).powers[i / 2] <=
                                 state.base[b][e][i % 2] + score_room);
      }
    }
    if (arch::any_lane(exceeds, at))
      scale_anew(scores, scales, state, at);
    EIDER_UNROLL
    for (int e = 0; e < eights; ++e)
      EIDER_UNROLL
    for (int i = 0; i < 4; ++i) {
      const float score = scores[e][i];
      scores[e][i] = arch::exp2(score - (state.largest[e][i % 2] - weight_lift));
      state.weight[e][i % 2] += scores[e][i];
      if constexpr (blocks > 1)
        scores[e][i] = score;
      else if constexpr (has_token_scales)
        scores[e][i] = scaled_weight(score, scales.value(0), i / 2, state.base[0][e][i % 2]);
    }
  }

  /// A weight times a scale, of a base of its own.
  static EIDER_DEVICE float scaled_weight(float score, const ValueScales &scales, int half,
                                          float base) {
    return scales.rests[half] * arch::exp2(score + scales.powers[half] - (base - weight_lift));
  }

  /// Takes the largest scores into account.
  static EIDER_DEVICE void scale_anew(const float (&scores)[eights][4], const Scales &scales,
                                      State &state, arch::Site at) {
    EIDER_UNROLL
    for (int e = 0; e < eights; ++e)
      EIDER_UNROLL
    for (int i = 0; i < 2; ++i) {
      float factor = raise(state.largest[e][i], scores[e][i], scores[e][i + 2], at);
      state.weight[e][i] *= factor;
      EIDER_UNROLL
      for (int b = 0; b < own_blocks; ++b) {
        if constexpr (has_token_scales) {
          const ValueScales values = scales.value(own_block_of(b));
          factor = raise(state.base[b][e][i], scores[e][i] + values.powers[0],
                         scores[e][i + 2] + values.powers[1], at);
        }
        EIDER_UNROLL
        for (int n = b * own_block / 16; n < (b + 1) * own_block / 16; ++n) {
          state.sums[e][n][i] *= factor;
          state.sums[e][n][i + 2] *= factor;
        }
      }
    }
  }

  /// Raises a base to the largest score of the tokens that its lanes have; what that makes of sums.
  static EIDER_DEVICE float raise(float &base, float one, float other, arch::Site at) {
    float largest = arch::maximum_number(one, other);
    EIDER_UNROLL
    for (int distance = 4; distance < 32; distance *= 2)
      largest =
          arch::maximum_number(largest, arch::shuffle_xor(largest, distance, 0xffffffffu, at));
    largest = arch::maximum_number(largest, base);
    const float factor = arch::exp2(base - largest);
    base = largest;
    return factor;
  }

  /// The values of a step, of each block times weights that have met its scales.
  template <class Code, class W>
  static EIDER_DEVICE void add_blocks(const unsigned char *slot, const float (&scores)[eights][4],
                                      State &state, arch::Site at) {
    EIDER_UNROLL
    for (int b = 0; b < own_blocks; ++b) {
      const ValueScales scales = scales_of(slot).value(own_block_of(b));
      float weights[eights][4];
      EIDER_UNROLL
      for (int i = 0; i < eights * 4; ++i)
        weights[i / 4][i % 4] =
            scaled_weight(scores[i / 4][i % 4], scales, i % 4 / 2, state.base[b][i / 4][i % 2]);
      add_values<Code, W>(slot, weights, b, state, at);
    }
  }

  /// The values of a step, of one of the warp's blocks, times their weights.
  template <class Code, class W>
  static EIDER_DEVICE void add_values(const unsigned char *slot, const float (&weights)[eights][4],
                                      int block, State &state, arch::Site at) {
    constexpr int pieces = value_pieces / own_blocks;
    uint32 turned[eights][2];
    EIDER_UNROLL
    for (int e = 0; e < eights; ++e)
      EIDER_UNROLL
    for (int half = 0; half < 2; ++half)
      turned[e][half] =
          arch::transpose_pairs(pair_of<W>(weights[e][2 * half], weights[e][2 * half + 1]), at);
    EIDER_UNROLL
    for (int i = block * pieces; i < (block + 1) * pieces; ++i) {
      Fragment<W, value_piece> codes[4];
      EIDER_UNROLL
      for (int n = 0; n < 4; ++n)
        arch::load_words<value_piece * bytes>(value_at(slot, n, i), codes[n].words);
      if (arch::unlikely(loses_nans<Code>(codes, at)))
        multiply_values<Code, true>(codes, turned, i * value_piece / 2, state.sums, at);
      else
        multiply_values<Code, false>(codes, turned, i * value_piece / 2, state.sums, at);
    }
  }

  //===-- The end ---------------------------------------------------------===//

  /// Where a warp leaves an element of a head's sums, so that its lanes leave neighbours: of lane
  /// 4 · g + t those of all products are 8 apart.
  static EIDER_DEVICE int place_of(int element) {
    const int place = element / value_piece / 8 * value_piece + element % value_piece;
    return place * 8 + element / value_piece % 8;
  }

  /// Where each team leaves its sums, and of each of its columns the largest score, the weight and
  /// the base.
  static constexpr int columns = eights * 8, of_team = columns * value_pitch;
  static constexpr int at_largest = teams * of_team, at_weights = at_largest + teams * columns;
  static constexpr int at_bases = has_token_scales ? at_weights + teams * columns : at_largest;

  /// Each team's sums in shared memory, where they are together.
  static EIDER_DEVICE void meet(State &state, float *shared, arch::Site at) {
    EIDER_UNROLL
    for (int i = 0; i < 2 * eights; ++i)
      EIDER_UNROLL
    for (int distance = 4; distance < 32; distance *= 2)
      state.weight[i / 2][i % 2] +=
          arch::shuffle_xor(state.weight[i / 2][i % 2], distance, 0xffffffffu, at);
    arch::barrier(at); // what was on its way has been read
    EIDER_UNROLL
    for (int i = 0; i < 2 * eights; ++i) {
      const int column = i / 2 * 8 + lane() % 4 * 2 + i % 2;
      if (lane() < 4 && share() == 0) {
        shared[at_largest + team() * columns + column] = state.largest[i / 2][i % 2];
        shared[at_weights + team() * columns + column] = state.weight[i / 2][i % 2];
        if constexpr (has_token_scales && value_blocks == 1)
          shared[at_bases + team() * columns + column] = state.base[0][i / 2][i % 2];
      }
      EIDER_UNROLL
      for (int b = 0; value_blocks > 1 && b < own_blocks; ++b)
        if (lane() < 4 && share() % block_shares == 0)
          shared[at_bases + (own_block_of(b) * teams + team()) * columns + column] =
              state.base[b][i / 2][i % 2];
      float *own =
          shared + team() * of_team + column * value_pitch + share() * own_values + lane() / 4;
      EIDER_UNROLL
      for (int n = 0; n < 2 * products; ++n)
        own[n * 8] = state.sums[i / 2][n / 2][n % 2 * 2 + i % 2];
    }
    arch::barrier(at);
  }

  /// The teams' sums, in their order.
  struct Together {
    float *shared;
    float raised, scale; ///< Of values.

    /// The largest score of a head.
    EIDER_DEVICE float largest(int head) const {
      float largest = shared[at_largest + head];
      EIDER_UNROLL
      for (int n = 1; n < teams; ++n)
        largest = arch::maximum_number(largest, shared[at_largest + n * columns + head]);
      return largest;
    }
    EIDER_DEVICE float weight(int head, float largest) const {
      return sum(at_weights + head, columns, at_largest + head, largest) * unlifted;
    }
    EIDER_DEVICE float value(int head, int element, float largest) const {
      const int place = head * value_pitch + place_of(element);
      const int base = at_bases + block_of(element) * (teams * columns) + head;
      return sum(place, of_team, base, largest) * raised * scale;
    }

  private:
    EIDER_DEVICE float sum(int from, int pitch, int base, float largest) const {
      float sum = 0.0f;
      EIDER_UNROLL
      for (int n = 0; n < teams; ++n) {
        const float factor = arch::exp2(shared[base + n * columns] - largest);
        sum = arch::fma(factor, shared[from + n * pitch], sum);
      }
      return sum;
    }
  };

  /// All threads write the block's part.
  template <class Sums>
  static EIDER_DEVICE void leave(const Sums &sums, float *parts, int64, int64, arch::Site) {
    float *part = parts + arch::block_index() * Parts::size;
    for (int i = arch::nonnegative_thread_index(); i < Parts::values + group; i += warps * 32) {
      const int head = i < Parts::values ? i / value_dim : i - Parts::values;
      const float largest = sums.largest(head);
      if (i < Parts::values) {
        part[i] = sums.value(head, i % value_dim, largest);
      } else {
        part[Parts::values + 2 * head] = largest;
        part[Parts::values + 2 * head + 1] = sums.weight(head, largest);
      }
    }
  }

  /// The same, of `count` that the last of them combines; one alone is all there is.
  template <class Sums, class Out>
  static EIDER_DEVICE void leave(const Sums &sums, const Combining<Out> &to, int64 number,
                                 int64 count, arch::Site at) {
    Out *output = to.output + number * Parts::values;
    if (count == 1) {
      for (int i = arch::nonnegative_thread_index(); i < Parts::values; i += warps * 32) {
        const int head = i / value_dim;
        const float largest = sums.largest(head), weight = sums.weight(head, largest);
        const float value = sums.value(head, i % value_dim, largest);
        output[i] = eider::to<Out>(weight == 0.0f ? 0.0f : value / weight);
      }
      return;
    }
    leave(sums, to.parts, number, count, at);
    auto *shared = reinterpret_cast<uint32 *>(sums.shared);
    if (Arrivals(to.arrivals + number).is_last(count, shared, at))
      Parts::template combine<warps * 32>(output, to.parts + number * count * Parts::size, count);
  }
};

} // namespace eider

#endif // EIDER_ATTENTION_DECODE_CUH
