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
/// warpgroup waits for no other's weights. Of long heads `split` warpgroups have the same rows:
/// each all of their scores, and some of the columns of their sums. Then two tiles are there, and
/// the queries, for which registers have no room. Values have `value_dim` columns.
template <int heads, int kv_heads, int head_dim, int warpgroups, int split, bool causal,
          int value_dim = head_dim>
class WarpgroupPrefill : AttentionPrefill<heads, kv_heads, head_dim, warpgroups / split * 64, 64,
                                          warpgroups * 4, 1, causal, /*ahead=*/true,
                                          /*meets_codes=*/false, value_dim, /*latent=*/false,
                                          /*apart=*/true, split> {
  static constexpr int rows = warpgroups / split * 64, keys = 64, slots = split == 1 ? 3 : 2;
  using Base = AttentionPrefill<heads, kv_heads, head_dim, rows, keys, warpgroups * 4, 1, causal,
                                /*ahead=*/true, /*meets_codes=*/false, value_dim, /*latent=*/false,
                                /*apart=*/true, split>;
  using typename Base::OfValues;
  using typename Base::Place;
  using typename Base::Scores;
  using typename Base::State;
  using Codes = Panels<keys, head_dim>;
  using QueryCodes = Panels<rows, head_dim>;
  static constexpr int threads = warpgroups * 128, steps = head_dim / 32;
  static constexpr int pieces = (keys * value_dim / 16 + threads - 1) / threads; // of a thread
  static constexpr int parts = pieces > 4 ? 2 : 1; // of these, that come one after the other
  static constexpr int of_part = (pieces + parts - 1) / parts;
  static constexpr int own = value_dim / split;
  static constexpr int n = own % 128 == 0 ? 128 : own % 64 == 0 ? 64 : 32;
  static constexpr bool shares_queries = split > 1;
  static_assert(shares_queries || QueryCodes::bytes <= slots * OfValues::bytes,
                "queries come where values will lie");
  static_assert(warpgroups % split == 0 && (split == 1 || own * 2 % OfValues::panel == 0),
                "a warpgroup's columns are whole panels");
  static_assert(warpgroups > 0 && arch::has_warpgroups, "compile for sm_90a, and not for sm_90");
  struct Values; // of a tile, that all have added
  using Meeting = arch::Meeting<WarpgroupPrefill>;
  using ValuesMeeting = arch::Meeting<Values>;

public:
  /// Bytes of shared memory.
  static constexpr int memory =
      slots * (OfValues::bytes + Codes::bytes) + (shares_queries ? QueryCodes::bytes : 0);

  /// As AttentionPrefill::write_rows; rows start on multiples of 16 bytes.
  template <class Code, int scales, class Out, class Asked, class W, class Count>
  static EIDER_DEVICE void write_rows(Out *o, const Asked &asked, const float *q_scale, const W *k,
                                      const float *k_scale, const W *v, const float *v_scale,
                                      const Count &count, arch::Site at = arch::Site::current()) {
    const int head = static_cast<int>(arch::block_index() % heads);
    const int kv_head = head / (heads / kv_heads);
    const BlockRows block = rows_of_block<rows, heads>(count);
    if (are_packed<Count> && block.first >= block.tokens)
      return;
    const int tokens = block.tokens, first = block.first;
    const int group = arch::thread_index() / 128;
    const int share = group % split, first_of_group = warpgroups == split ? 0 : group / split * 64;
    const int row = first_of_group + arch::thread_index() / 32 % 4 * 16, first_row = first + row;
    const int tiles = Base::tiles_of(first, tokens);
    unsigned char *shared = shared_for_warpgroups<WarpgroupPrefill, memory>();
    auto values_at = [&](int slot) { return OfValues{shared + slot * OfValues::bytes}; };
    unsigned char *codes = shared + slots * OfValues::bytes;
    const QueryCodes all_queries = {shares_queries ? codes + slots * Codes::bytes : shared};
    Meeting meeting(warpgroups * 4, at);
    ValuesMeeting values_meeting(warpgroups * 4, at);

    const auto scored = asked_of(asked);
    const W *q = scored.elements;
    begin_codes(all_queries, q + ((block.start + first) * heads + head) * head_dim,
                heads * head_dim, tokens - first);
    arch::close_copies();
    arch::await_copies<0>();
    arch::barrier(at);
    uint32 queries[shares_queries ? 1 : steps][4];
    if constexpr (!shares_queries) {
      EIDER_UNROLL
      for (int s = 0; s < steps; ++s)
        arch::load_matrices(all_queries.at(row + Base::lane() % 16, 2 * s + Base::lane() / 16),
                            queries[s], at);
      arch::barrier(at);
    }

    // Where the tiles lie that begin to come next, and how many tokens there are from there on.
    const W *next_keys = k + block.start * pitch + kv_head * head_dim;
    const W *next_values = v + block.start * value_pitch + kv_head * value_dim;
    int keys_left = tokens, values_left = tokens;
    auto begin_keys = [&](int slot) {
      begin_codes(Codes{codes + slot * Codes::bytes}, next_keys, pitch, keys_left);
      arch::close_copies();
      next_keys += keys * pitch;
      keys_left -= keys;
    };
    Fragment<W, 16> loaded[of_part];
    auto decode_values = [&](int slot) {
      Base::template store<1, Code, true, f16, value_dim>(loaded, 0, values_at(slot));
      EIDER_UNROLL
      for (int part = 1; part < parts; ++part) {
        load(loaded, part, next_values, values_left);
        Base::template store<1, Code, true, f16, value_dim>(loaded, part * of_part,
                                                            values_at(slot));
      }
      next_values += keys * value_pitch;
      values_left -= keys;
    };
    auto load_values = [&] { load(loaded, 0, next_values, values_left); };
    load_values();
    begin_keys(0);
    if (slots > 2)
      begin_keys(1);
    decode_values(0);
    load_values();
    arch::await_copies<slots - 2>();
    arch::fence_async_proxy();
    arch::barrier(at);

    const auto function = scored.score(head);
    using Function = decltype(scored.score(head));
    const float factor = Base::template scale_of<scales>(q_scale, kv_head) *
                         Base::template scale_of<scales>(k_scale, kv_head) *
                         (to_powers<Function> * inverse_root(head_dim));
    State state;
    state.template begin<Function>();
    Scores scores;
    uint32 weights[keys / 8][2];
    auto score = [&](int slot) {
      const arch::Swizzled<Codes::panel> all(codes + slot * Codes::bytes, Codes::apart);
      const arch::Swizzled<Codes::panel> own_rows(
          all_queries.base + first_of_group * QueryCodes::panel, QueryCodes::apart);
      arch::open_products(scores.of[0]);
      EIDER_UNROLL
      for (int s = 0; s < steps; ++s) {
        const int panel = s * 32 / Codes::panel, column = s * 32 % Codes::panel;
        const auto b = all.moved(panel * Codes::apart + column);
        if constexpr (shares_queries)
          arch::begin_product<W>(scores.of[0], own_rows.moved(panel * QueryCodes::apart + column),
                                 b, s > 0, at);
        else
          arch::begin_product<W>(scores.of[0], queries[s], b, s > 0, at);
      }
      arch::close_products();
    };
    auto add_values = [&](int slot) {
      constexpr int panel = OfValues::panel, apart = OfValues::apart;
      const arch::Swizzled<panel> all(
          shared + slot * OfValues::bytes + share * (own * 2 / panel) * apart, apart);
      arch::open_products(state.sums[0]);
      EIDER_UNROLL
      for (int s = 0; s < keys / 16; ++s)
        EIDER_UNROLL
      for (int c = 0; c < own / n; ++c)
        arch::begin_product_f16<n>(&state.sums[0][c * n / 8], weights[2 * s],
                                   all.moved(s * 16 * panel + c * (n * 2 / panel) * apart), at);
      arch::close_products();
    };
    auto weigh = [&](int tile) {
      return Base::weigh(scores, factor, function, head, first_row, tile, tokens, state, nullptr,
                         at);
    };
    auto pack = [&] {
      EIDER_UNROLL
      for (int i = 0; i < keys / 4; ++i)
        weights[i / 2][i % 2] =
            arch::f16x2_from(scores.of[0][i / 2][i % 2 * 2], scores.of[0][i / 2][i % 2 * 2 + 1]);
    };
    score(0);
    if (slots == 2)
      begin_keys(1);
    arch::await_products<0>(scores.of[0]);
    arch::await_copies<0>();
    arch::fence_async_proxy();
    meeting.arrive(at);
    weigh(0);
    if (slots > 2)
      begin_keys(2);
    pack();
    if (slots == 2)
      values_meeting.arrive(at);
    int slot = 1, before = 0;
    for (int tile = 1; tile < tiles; ++tile) {
      meeting.wait(at);
      score(slot);
      add_values(before);
      if (slots == 2) { // of which all have met the other's keys
        begin_keys(before);
        values_meeting.wait(at);
      }
      decode_values(slot);
      arch::await_copies<0>();
      arch::await_products<1>(scores.of[0]);
      arch::fence_async_proxy();
      meeting.arrive(at);
      const bool scales_sums = weigh(tile);
      if (slots > 2)
        begin_keys(before);
      load_values();
      arch::compute_first(state.weight[0][0] + state.weight[0][1], shared);
      arch::await_products<0>(state.sums[0]);
      if (slots == 2)
        values_meeting.arrive(at);
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
    Base::template finish<Function>(
        state, o + block.start * (heads * value_dim) + head * value_dim + share * own,
        heads * value_dim, first_row, tokens,
        raised * Base::template scale_of<scales>(v_scale, kv_head), nullptr, at);
  }

private:
  static constexpr int pitch = kv_heads * head_dim, value_pitch = kv_heads * value_dim;

  /// Begins to copy rows of codes as they are, of which `left` are there; zeros for the others.
  template <class Matrix, class W>
  static EIDER_DEVICE void begin_codes(const Matrix &to, const W *from, int pitch, int left) {
    Base::template for_pieces<Matrix::rows>([&](const Place &place, int, int) {
      begin_copy<16>(to.at(place.row, place.column / 16), from + place.row * pitch + place.column,
                     place.row < left);
    });
  }

  /// The thread's codes of a tile of values, or a part of them, likewise.
  template <class W>
  static EIDER_DEVICE void load(Fragment<W, 16> (&loaded)[of_part], int part, const W *from,
                                int left) {
    const int there = left < keys ? left : keys;
    EIDER_UNROLL
    for (int i = 0; i < of_part; ++i) { // by predicates: pieces of no thread are zeros
      const auto place = Base::template PlaceIn<value_dim>::of_piece(part * of_part + i);
      arch::load_words_if<16>(place.row < there, from + place.row * value_pitch + place.column,
                              loaded[i].words, 0, 16);
    }
  }
};

} // namespace eider

#endif // EIDER_ATTENTION_WARPGROUPS_CUH
