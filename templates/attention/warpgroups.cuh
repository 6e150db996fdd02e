//===- eider/attention/warpgroups.cuh - By warpgroups' products -*- C++ -*-===//
//
// Part of Eider, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//
#ifndef EIDER_ATTENTION_WARPGROUPS_CUH
#define EIDER_ATTENTION_WARPGROUPS_CUH

#include "eider/attention/prefill.cuh"

namespace eider {

/// AttentionPrefill by the products of warpgroups (sm_90a), of 64 rows each, which read shared
/// memory while threads do other things. Queries meet keys as codes; values are decoded. While a
/// tile's scores and the values of the one before are multiplied, the threads decode the tile's
/// values; while values are, they weigh the scores. Three tiles are in shared memory, so that a
/// warpgroup waits for no other's weights.
template <int heads, int kv_heads, int head_dim, int warpgroups, bool causal>
class WarpgroupPrefill
    : AttentionPrefill<heads, kv_heads, head_dim, warpgroups * 64, 64, warpgroups * 4, 1, causal> {
  static constexpr int rows = warpgroups * 64, keys = 64, slots = 3;
  using Base = AttentionPrefill<heads, kv_heads, head_dim, rows, keys, warpgroups * 4, 1, causal>;
  using typename Base::Place;
  using typename Base::Scores;
  using typename Base::State;
  using typename Base::Tokens; // of f16
  using Codes = Panels<keys, head_dim>;
  using QueryCodes = Panels<rows, head_dim>;
  static constexpr int threads = warpgroups * 128, steps = head_dim / 32;
  static constexpr int pieces = (keys * head_dim / 16 + threads - 1) / threads; // of a thread
  static constexpr int n = head_dim % 128 == 0 ? 128 : head_dim % 64 == 0 ? 64 : 32;
  static_assert(QueryCodes::bytes <= slots * Tokens::bytes, "queries come where values will lie");
  static_assert(warpgroups > 0 && arch::has_warpgroups, "compile for sm_90a, and not for sm_90");
  using Meeting = arch::Meeting<WarpgroupPrefill>;

public:
  /// Bytes of shared memory.
  static constexpr int memory = slots * (Tokens::bytes + Codes::bytes);

  /// As AttentionPrefill::write_rows; rows start on multiples of 16 bytes.
  template <class Code, int scales, class Out, class W>
  static EIDER_DEVICE void write_rows(Out *o, const W *q, const float *q_scale, const W *k,
                                      const float *k_scale, const W *v, const float *v_scale,
                                      int64 count, arch::Site at = arch::Site::current()) {
    const int head = static_cast<int>(arch::block_index() % heads);
    const int kv_head = head / (heads / kv_heads);
    const int tokens = static_cast<int>(count), first = Base::first_row_of_block(tokens);
    const int first_row = first + Base::row();
    const int tiles = Base::tiles_of(first, tokens);
    unsigned char *shared = shared_memory();
    auto values_at = [&](int slot) { return Tokens{shared + slot * Tokens::bytes}; };
    unsigned char *codes = shared + slots * Tokens::bytes;
    Meeting meeting(warpgroups * 4, at);

    begin_codes(QueryCodes{shared}, q + (int64(first) * heads + head) * head_dim, heads * head_dim,
                tokens - first);
    arch::close_copies();
    arch::await_copies<0>();
    arch::barrier(at);
    uint32 queries[steps][4];
    EIDER_UNROLL
    for (int s = 0; s < steps; ++s)
      arch::load_matrices(
          QueryCodes{shared}.at(Base::row() + Base::lane() % 16, 2 * s + Base::lane() / 16),
          queries[s], at);
    arch::barrier(at);

    // Where the tiles lie that begin to come next, and how many tokens there are from there on.
    const W *next_keys = k + kv_head * head_dim, *next_values = v + kv_head * head_dim;
    int keys_left = tokens, values_left = tokens;
    auto begin_keys = [&](int slot) {
      begin_codes(Codes{codes + slot * Codes::bytes}, next_keys, pitch, keys_left);
      arch::close_copies();
      next_keys += keys * pitch;
      keys_left -= keys;
    };
    Fragment<W, 16> loaded[pieces];
    auto load_values = [&] {
      load(loaded, next_values, values_left);
      next_values += keys * pitch;
      values_left -= keys;
    };
    load_values();
    begin_keys(0);
    begin_keys(1);
    decode<Code>(loaded, values_at(0));
    load_values();
    arch::await_copies<1>();
    arch::share_with_products();
    arch::barrier(at);

    const float in_powers = Base::template scale_of<scales>(q_scale, kv_head) *
                            Base::template scale_of<scales>(k_scale, kv_head) *
                            (1.442695041f * inverse_root(head_dim));
    State state;
    Scores scores;
    uint32 weights[keys / 8][2];
    auto score = [&](int slot) {
      const arch::Swizzled<Codes::panel> all(codes + slot * Codes::bytes, Codes::apart);
      arch::open_products(scores.of[0]);
      EIDER_UNROLL
      for (int s = 0; s < steps; ++s)
        arch::begin_product<W>(
            scores.of[0], queries[s],
            all.moved(s * 32 / Codes::panel * Codes::apart + s * 32 % Codes::panel), s > 0, at);
      arch::close_products();
    };
    auto add_values = [&](int slot) {
      const arch::Swizzled<Tokens::panel> all(shared + slot * Tokens::bytes, Tokens::apart);
      arch::open_products(state.sums[0]);
      EIDER_UNROLL
      for (int s = 0; s < keys / 16; ++s)
        EIDER_UNROLL
      for (int c = 0; c < head_dim / n; ++c)
        arch::begin_product_f16<n>(
            &state.sums[0][c * n / 8], weights[2 * s],
            all.moved(s * 16 * Tokens::panel + c * (n * 2 / Tokens::panel) * Tokens::apart), at);
      arch::close_products();
    };
    auto weigh = [&](int tile) {
      return Base::weigh(scores, in_powers, first_row, tile, tokens, state, nullptr, at);
    };
    auto pack = [&] {
      EIDER_UNROLL
      for (int i = 0; i < keys / 4; ++i)
        weights[i / 2][i % 2] =
            arch::f16x2_from(scores.of[0][i / 2][i % 2 * 2], scores.of[0][i / 2][i % 2 * 2 + 1]);
    };
    score(0);
    arch::await_products<0>(scores.of[0]);
    arch::await_copies<0>();
    arch::share_with_products();
    meeting.arrive(at);
    weigh(0);
    begin_keys(2);
    pack();
    int slot = 1, before = 0;
    for (int tile = 1; tile < tiles; ++tile) {
      meeting.wait(at);
      score(slot);
      add_values(before);
      decode<Code>(loaded, values_at(slot));
      arch::await_copies<0>();
      arch::await_products<1>(scores.of[0]);
      arch::share_with_products();
      meeting.arrive(at);
      const bool scales_sums = weigh(tile);
      begin_keys(before);
      load_values();
      arch::compute_first(state.weight[0][0] + state.weight[0][1], shared);
      arch::await_products<0>(state.sums[0]);
      if (scales_sums)
        Base::scale_sums(state);
      pack();
      before = slot;
      slot = slot == slots - 1 ? 0 : slot + 1;
    }
    meeting.wait(at);
    add_values(before);
    arch::await_products<0>(state.sums[0]);
    arch::await_copies<0>(); // of tiles that are not there
    constexpr float raised = 1 << lowered<W, Code::conversion>();
    Base::template finish<is_interleaved<W, f16, Code::conversion, true>>(
        state, o + head * head_dim, heads * head_dim, first_row, tokens,
        raised * Base::template scale_of<scales>(v_scale, kv_head), nullptr, at);
  }

private:
  /// On 1024 bytes, as the swizzle of what products read wants it.
  static EIDER_DEVICE unsigned char *shared_memory() {
    struct alignas(1024) Piece {
      unsigned char bytes[1024];
    };
    constexpr int count = (memory + 1023) / 1024;
    if constexpr (memory > 48 * 1024)
      return arch::launched_shared<WarpgroupPrefill, Piece, count>()->bytes;
    else
      return arch::shared<WarpgroupPrefill, Piece, count>()->bytes;
  }

  static constexpr int pitch = kv_heads * head_dim; // of keys and of values

  /// Begins to copy rows of codes as they are, of which `left` are there; zeros for the others.
  template <class Matrix, class W>
  static EIDER_DEVICE void begin_codes(const Matrix &to, const W *from, int pitch, int left) {
    Base::template for_pieces<Matrix::rows>([&](int piece, int) {
      const Place place(piece);
      begin_copy<16>(to.at(place.row, place.column / 16), from + place.row * pitch + place.column,
                     place.row < left);
    });
  }

  /// The thread's codes of a tile of values, likewise.
  template <class W>
  static EIDER_DEVICE void load(Fragment<W, 16> (&loaded)[pieces], const W *from, int left) {
    const int there = left < keys ? left : keys;
    EIDER_UNROLL
    for (int i = 0; i < pieces; ++i) { // by predicates alone: pieces that are no thread's are zeros
      const Place place(arch::thread_index() + i * threads);
      arch::load_words_if<16>(place.row < there, from + place.row * pitch + place.column,
                              loaded[i].words, 0, 16);
    }
  }

  /// These, to f16.
  template <class Code, class W>
  static EIDER_DEVICE void decode(const Fragment<W, 16> (&loaded)[pieces], const Tokens &to) {
    Base::template for_pieces<keys>(
        [&](int piece, int i) { Base::template store<Code>(loaded[i], Place(piece), to); });
  }
};

} // namespace eider

#endif // EIDER_ATTENTION_WARPGROUPS_CUH
