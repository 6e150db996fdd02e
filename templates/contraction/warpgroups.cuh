//===- eider/contraction/warpgroups.cuh - By warpgroups' products -*- C++ -*-===//
//
// Part of Eider, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//
#ifndef EIDER_CONTRACTION_WARPGROUPS_CUH
#define EIDER_CONTRACTION_WARPGROUPS_CUH

#include "eider/contraction/folded.cuh"
#include "eider/memory/copy.cuh"
#include "eider/memory/panels.cuh"
#include "eider/memory/shared.cuh"
#include "eider/tile/block.cuh"

namespace eider {

/// How such a product is cut: what its warps have, and where that lies in shared memory; whether
/// weights are pairs of codes of four bits that meet their scales beforehand, and whether x comes
/// in bulk.
template <class Tile, int64 length_, int64 block_rows_, int64 block_columns, int rows_,
          int cluster_, int ahead_, bool folds_ = false, bool in_bulk_ = false>
struct WarpgroupCut {
  static constexpr int64 length = length_, block_rows = block_rows_;
  static constexpr int rows = rows_, cluster = cluster_, ahead = ahead_;
  static constexpr int sharing = cluster * Tile::parts; // blocks, of the length
  static constexpr int threads = Tile::block_threads, warps = threads / 32, width = Tile::width;
  static constexpr int stage = 128; // elements of the length at a time
  static constexpr int64 blocks_of_row = (length + block_columns - 1) / block_columns;
  static constexpr int64 stages = (length + stage - 1) / stage;
  static constexpr int turns = static_cast<int>((stages + sharing - 1) / sharing); // of a block
  static constexpr bool is_grouped = block_columns < length, folds = folds_, in_bulk = in_bulk_;
  static constexpr bool sums_stages = is_grouped && !folds; // for themselves, to be scaled
  static constexpr int block = block_columns < stage ? static_cast<int>(block_columns) : stage;
  static constexpr int blocks_of_stage = stage / block;
  static constexpr bool is_even = length % (int64(stage) * sharing) == 0;
  static constexpr bool is_whole = Tile::matrix_columns % width == 0;
  static_assert(warps % 4 == 0 && (threads & (threads - 1)) == 0 && width == warps * 16,
                "a warpgroup has 64 rows of w");
  static_assert(rows == 8 || rows == 16 || rows == 32 || rows == 64, "rows of one product");
  static_assert(Tile::rows * cluster == rows, "each block of a cluster keeps as many");
  static_assert(!is_grouped || (folds ? stage % block_columns == 0 : block_columns == stage),
                "stages are blocks");
  static_assert(!(folds || in_bulk) || length % stage == 0, "stages are whole");
  static_assert(!in_bulk || (sharing - 1) * turns < stages, "each block has a stage");
  static_assert(length % 16 == 0, "rows are whole copies");
  static_assert(ahead >= 2, "a stage comes while one is multiplied");

  /// Of x, as it is multiplied: one stage is, one was until warpgroups meet, others are laid out
  /// or come. Beside another block a multiprocessor has no room for more of many rows.
  using Operand = typename RowsOfProducts<rows>::Stage;
  static constexpr int operands = in_bulk && (rows < 64 || threads == 512) ? 5 : 3;
  static constexpr int of_codes = width * stage / (folds ? 2 : 1); // bytes
  static constexpr int of_scales = folds ? 96 : 64;                // those of a row
  static constexpr int codes_at = operands * Operand::bytes;
  static constexpr int scales_at = codes_at + ahead * of_codes;
  static constexpr int on_way = scales_at + of_scales * width;

  static EIDER_DEVICE int rank() {
    return cluster == 1 ? 0 : static_cast<int>(arch::block_index() % cluster);
  }
  static EIDER_DEVICE int64 first() { // of the length
    return sharing == 1 ? 0 : int64(arch::block_index() % sharing) * turns * stage;
  }
  /// Of the block's turns those whose stages are there.
  static EIDER_DEVICE int turns_there() {
    const int64 there = stages - first() / stage;
    return is_even || there > turns ? turns : static_cast<int>(there);
  }
  static EIDER_DEVICE int lane() { return arch::thread_index() % 32; }
  /// Of the warp's 16 rows of w, among the block's.
  static EIDER_DEVICE int first_row() { return arch::thread_index() / 32 * 16; }
};

/// Codes on their way to shared memory: a warp copies whole lines of its own rows.
template <class Cut, class W> class CodesOfWarp {
  static constexpr int stage = bytes_of<W>(Cut::stage), chunks = stage / 16; // of a row
  static constexpr int at_once = 32 / chunks;                                // rows
  static constexpr int of_half = bytes_of<W>(32);                            // of a lane's rows
  const W *from_; // where the thread's first piece of the next stage is
  unsigned char *to_, *taken_;
  int64 left_;    // of the length, from there on
  int rows_left_; // of the matrix, likewise

  /// What a row's chunks change places by: so that those that lanes read together, of two rows or
  /// of four shorter ones, are in different banks.
  static EIDER_DEVICE int turned(int row) { return chunks == 8 ? (row & 1) << 2 : row & 2; }
  static EIDER_DEVICE int place(int row, int chunk) {
    return row * stage + (chunk ^ turned(row)) * 16;
  }

public:
  template <class Tile>
  EIDER_DEVICE CodesOfWarp(const Tile &tile, const W *w, unsigned char *shared)
      : to_(shared + place(Cut::first_row() + Cut::lane() / chunks, Cut::lane() % chunks)),
        taken_(shared + (Cut::first_row() + Cut::lane() / 4) * stage) {
    const int64 row = tile.first_column() + Cut::first_row() + Cut::lane() / chunks;
    const int64 column = Cut::first() + Cut::lane() % chunks * (16 * packing<W>),
                there = Tile::matrix_columns - row;
    from_ = w + (row * Cut::length + column) / packing<W>;
    left_ = Cut::length - column;
    rows_left_ = there < 16 ? static_cast<int>(there) : 16;
  }

  /// Begins to copy the next stage to a slot.
  EIDER_DEVICE void begin(int slot) {
    EIDER_UNROLL
    for (int i = 0; i < 16; i += at_once)
      begin_copy<16>(to_ + slot * Cut::of_codes + i * stage, from_ + i * Cut::length / packing<W>,
                     (Cut::is_whole || i < rows_left_) && (Cut::is_even || left_ > 0));
    from_ += stage;
    if constexpr (!Cut::is_even)
      left_ -= Cut::stage;
  }

  /// What the lane multiplies of half a stage: 16 codes of a row, and of the one 8 below.
  EIDER_DEVICE void take(int slot, int half, Fragment<W, 32> &taken) const {
    constexpr int bytes = of_half / 2;
    const int byte = (half * 4 + Cut::lane() % 4) * bytes ^ turned(Cut::lane() / 4) * 16;
    EIDER_UNROLL
    for (int i = 0; i < 2; ++i)
      arch::load_words<bytes>(taken_ + slot * Cut::of_codes + i * 8 * stage + byte,
                              &taken.words[bytes / 4 * i]);
  }
};

/// Scales of rows on their way likewise, those of several stages together: each row's by a thread.
template <class Cut, class S, int rows> class ScalesOnWay {
  static constexpr int of_stage = Cut::folds ? Cut::blocks_of_stage : 1; // of a row
  static constexpr EIDER_DEVICE int stages_at_once() {
    int count = static_cast<int>(16 / (of_stage * sizeof(S)));
    while (count > 1 && (Cut::blocks_of_row / of_stage % count != 0 ||
                         (Cut::sharing > 1 && Cut::turns % count != 0) || !Cut::is_grouped))
      count /= 2;
    return count;
  }
  static constexpr int at_once = stages_at_once();
  static constexpr int bytes = at_once * of_stage * static_cast<int>(sizeof(S)); // of a row
  static constexpr int slots = (Cut::ahead + at_once - 2) / at_once + 2;
  static_assert(slots * bytes <= Cut::of_scales, "scales have room");
  const S *from_;
  unsigned char *to_, *taken_;
  bool copies_;

  static EIDER_DEVICE int slot_of(int turn) { return turn / at_once % slots * (rows * bytes); }

public:
  /// `from`: the first block of the row that the thread copies, if it `copies`, to place `copied`;
  /// it takes those from place `taken` on.
  EIDER_DEVICE ScalesOnWay(const S *from, bool copies, int copied, int taken, unsigned char *shared)
      : from_(from + (Cut::is_grouped ? Cut::first() / Cut::stage * of_stage : 0)),
        to_(shared + copied * bytes), taken_(shared + taken * bytes), copies_(copies) {}

  /// Begins to copy those of a turn's stage and of the ones after it, if no call before has.
  EIDER_DEVICE void begin(int turn) {
    if (turn % at_once == 0 && (Cut::is_grouped || turn == 0) && copies_)
      begin_copy<bytes>(to_ + slot_of(turn), from_ + turn * of_stage,
                        Cut::is_even || Cut::first() + int64(turn) * Cut::stage < Cut::length);
  }

  /// That of a row so many after the first that the thread takes; of a stage that has several, of
  /// a block.
  EIDER_DEVICE S code(int turn, int row, int block = 0) const {
    const int first = Cut::is_grouped ? turn : 0;
    const auto *from = reinterpret_cast<const S *>(taken_ + slot_of(first) + row * bytes);
    return from[first % at_once * of_stage + block];
  }
  EIDER_DEVICE float take(int turn, int row) const { return float_of_scale(code(turn, row)); }

  /// That of the 16 neighbours that a lane multiplies of half a stage.
  EIDER_DEVICE S of_neighbours(int turn, int half, int row) const {
    return code(turn, row, (half * 64 + Cut::lane() % 4 * 16) / Cut::block);
  }
};

/// Those of the 16 rows of w of each warp.
template <class Cut, class S> using ScalesOfWarp = ScalesOnWay<Cut, S, Cut::width>;
template <class Cut, class Tile, class S>
EIDER_DEVICE ScalesOfWarp<Cut, S> scales_of_warp(const Tile &tile, const S *scale,
                                                 unsigned char *shared) {
  // Rows past the end are the last one once more.
  int64 row = tile.first_column() + Cut::first_row() + Cut::lane() % 16;
  if constexpr (!Cut::is_whole)
    row = row < Tile::matrix_columns ? row : Tile::matrix_columns - 1;
  return {scale + row / Cut::block_rows * Cut::blocks_of_row, Cut::lane() < 16,
          Cut::first_row() + Cut::lane() % 16, Cut::first_row() + Cut::lane() / 4, shared};
}

/// Rows of x on their way, to as many places in shared memory as the cut has.
template <class Cut, class X, bool in_bulk = Cut::in_bulk> class RowsOfBlock;

/// Through registers, by all threads: a stage on its way while one is laid out and one multiplied,
/// or all, of a block that has few.
template <class Cut, class X> class RowsOfBlock<Cut, X, false> {
  using Operand = typename Cut::Operand;
  using Order = RowsOfProducts<Cut::rows>;
  static constexpr int rows = Cut::rows, lines = rows * 2; // of 128 bytes: panel by panel
  static constexpr int at_once = Cut::threads / 8, of_thread = (lines + at_once - 1) / at_once;
  static_assert(at_once % rows == 0 || rows % at_once == 0, "whole panels, or parts of them");

public:
  /// Stages on their way at once: for more the text of so many turns would be long.
  static constexpr int early = Cut::turns <= 4 && Cut::turns * of_thread <= 16 ? Cut::turns : 1;

private:
  const X *from_; // where the thread's first piece of the next stage is
  int64 left_;
  int rows_left_;
  unsigned char *to_; // the thread's first pair in the first place
  int first_;
  uint32 words_[early][of_thread][4];

  static EIDER_DEVICE int line() { return arch::thread_index() / 8; }
  static EIDER_DEVICE int chunk() { return arch::thread_index() % 8; }
  // From the thread's first piece to its number i.
  static constexpr EIDER_DEVICE int more_rows(int i) { return i * at_once % rows; }
  static constexpr EIDER_DEVICE int more_panels(int i) { return i * at_once / rows; }

  /// Loads the stage after the one before, a turn's; zeros past the end.
  EIDER_DEVICE void load(int turn, int turns) {
    EIDER_UNROLL
    for (int i = 0; i < of_thread; ++i)
      arch::load_words_if<16>(turn < turns && more_rows(i) < rows_left_ &&
                                  (Cut::is_even || more_panels(i) * 64 < left_),
                              from_ + more_rows(i) * Cut::length + more_panels(i) * 64,
                              words_[turn % early][i], 0, 16);
    from_ += Cut::stage;
    if constexpr (!Cut::is_even)
      left_ -= Cut::stage;
  }

public:
  template <class Tile>
  EIDER_DEVICE RowsOfBlock(const Tile &tile, const X *x, unsigned char *places, arch::Site)
      : to_(places) {
    const int row = line() % rows, column = line() / rows * 64 + chunk() * 8;
    const int64 begins = tile.first_row() - Cut::rank() * Tile::rows,
                there = tile.matrix_rows() - begins - row;
    from_ = x + (begins + row) * Cut::length + Cut::first() + column;
    left_ = Cut::length - Cut::first() - column;
    rows_left_ = line() >= lines ? 0 : there < rows ? static_cast<int>(there) : rows;
    first_ = Order::first_pair(row, line() / rows * 8 + chunk());
  }

  /// The first stage is laid out, others are on their way. A barrier of the block follows.
  EIDER_DEVICE void start(int turns) {
    EIDER_UNROLL
    for (int turn = 0; turn < early; ++turn)
      load(turn, turns);
    lay_out(0, 0);
    load_after(0, turns);
  }
  /// Once all have laid out those of this turn, in `place`.
  EIDER_DEVICE void await(int, int, int) {}
  /// A turn's, to another place.
  EIDER_DEVICE void lay_out(int turn, int place) {
    if (early > 1 && turn >= Cut::turns)
      return;
    EIDER_UNROLL
    for (int i = 0; i < of_thread; ++i)
      if (lines % at_once == 0 || line() < lines) {
        const uint32(&words)[4] = words_[turn % early][i];
        const Fragment<X, 8> row = {{words[0], words[1], words[2], words[3]}};
        const Fragment<X, 8> ordered = in_order_of<Cut::folds>(row);
        EIDER_UNROLL
        for (int j = 0; j < 4; ++j)
          arch::store_words<4>(to_ + place * Operand::bytes + Order::pair(first_, j) +
                                   more_rows(i) * Operand::panel + more_panels(i) * Operand::apart,
                               &ordered.words[j]);
      }
    arch::fence_async_proxy();
  }
  /// The stage that comes where a turn's, which is laid out, was; of few all have come.
  EIDER_DEVICE void load_after(int turn, int turns) { load(turn + early, turns); }
  EIDER_DEVICE void end() {}
};

/// In bulk, as the launch before has laid them out (RowsOfProducts).
template <class Cut, class X> class RowsOfBlock<Cut, X, true> {
  using Operand = typename Cut::Operand;
  using Order = RowsOfProducts<Cut::rows>;
  static constexpr int panels = Operand::bytes / Operand::apart;
  static constexpr int before = Cut::operands - 2; // stages on their way while one is multiplied
  arch::ComingInBulk<RowsOfBlock, Cut::operands> coming_;
  const unsigned char *from_; // the next stage
  unsigned char *to_;         // the first place
  int there_;                 // rows

  /// Begins the next stage.
  EIDER_DEVICE void begin(int place) {
    if (arch::thread_index() == 0) {
      const int bytes = there_ * Operand::panel; // of a panel
      coming_.open(place, panels * bytes);
      EIDER_UNROLL
      for (int at = 0; at < Operand::bytes; at += Operand::apart)
        coming_.begin(place, to_ + place * Operand::bytes + at, from_ + at, bytes);
    }
    from_ += Operand::bytes;
  }

public:
  static constexpr int early = 1; // in registers nothing

  template <class Tile>
  EIDER_DEVICE RowsOfBlock(const Tile &tile, const X *x, unsigned char *places, arch::Site at)
      : coming_(at), to_(places) {
    const int64 begins = tile.first_row() - Cut::rank() * Tile::rows,
                there = tile.matrix_rows() - begins;
    from_ = reinterpret_cast<const unsigned char *>(x) + Order::tile(begins, Cut::length) +
            Cut::first() / Cut::stage * Operand::bytes;
    there_ = there < Cut::rows ? static_cast<int>(there) : Cut::rows;
  }

  /// The first stages are on their way. Where no rows are, something is multiplied, which no sum of
  /// others meets. A barrier of the block follows.
  EIDER_DEVICE void start(int turns) {
    EIDER_UNROLL
    for (int place = 0; place < before; ++place)
      if (place < turns)
        begin(place);
  }
  /// Once all have multiplied the turn before the last: that place is the next stage's. Waits for
  /// this turn's, in `place`.
  EIDER_DEVICE void await(int place, int turn, int turns) {
    if (turn + before < turns)
      begin(place < 2 ? place + before : place - 2);
    coming_.wait(place);
  }
  EIDER_DEVICE void lay_out(int, int) {}
  EIDER_DEVICE void load_after(int, int) {}
  EIDER_DEVICE void end() { coming_.end(); }
};

/// Pairs of 8 codes of a row, and of the one 8 below, as a lane's parts of two products.
EIDER_DEVICE void parts_of_products(const uint32 (&pairs)[8], uint32 (&a)[2][4]) {
  EIDER_UNROLL
  for (int i = 0; i < 8; ++i)
    a[i / 4][i % 4] = pairs[i % 2 * 4 + i / 4 * 2 + i % 4 / 2];
}

/// What a lane multiplies of half a stage: 16 codes of a row, and of the one 8 below, which it
/// decodes 8 at a time, as its parts of two products.
template <class Code, class X, class W, class S, bool folds> class HalfStage {
  Fragment<W, 32> taken_;

public:
  template <class Codes, class Scales>
  EIDER_DEVICE void take(const Codes &codes, const Scales &, int, int slot, int half) {
    codes.take(slot, half, taken_);
  }

  EIDER_DEVICE void decode(int part, uint32 (&a)[2][4]) const {
    Fragment<W, 16> codes;
    uint32 pairs[8];
    EIDER_UNROLL
    for (int i = 0; i < 4; ++i)
      codes.words[i] = taken_.words[i / 2 * 4 + part * 2 + i % 2];
    pairs_of_codes<Code::conversion>(codes, pairs, X());
    parts_of_products(pairs, a);
  }
};

/// Of codes of four bits, which meet their scales: one of each row's.
template <class Code, class X, class W, class S> class HalfStage<Code, X, W, S, true> {
  Fragment<W, 32> taken_;
  Fragment<S, 2> scales_;
  ScaleFactors<W, S, 2> factors_; // from the first part on

public:
  template <class Codes, class Scales>
  EIDER_DEVICE void take(const Codes &codes, const Scales &scales, int turn, int slot, int half) {
    codes.take(slot, half, taken_);
    scales_ = {};
    EIDER_UNROLL
    for (int i = 0; i < 2; ++i)
      scales_.fill(i, scales.of_neighbours(turn, half, i * 8));
  }

  EIDER_DEVICE void decode(int part, uint32 (&a)[2][4]) {
    const Fragment<W, 16> codes = {{taken_.words[part], taken_.words[2 + part]}};
    uint32 pairs[8];
    if (part == 0)
      factors_ = ScaleFactors<W, S, 2>(scales_);
    folded_pairs(
        codes, factors_, [](int i) { return i / 8; }, pairs);
    parts_of_products(pairs, a);
  }
};

/// What the threads of a cluster have of its sums, `Owner`'s: each block keeps some rows. Where a
/// multiprocessor has room for as many blocks so, what comes lies beside what is on its way, of
/// `on_way` bytes: each block sends the others theirs, as its lanes have them, and awaits nobody's
/// last loads. Elsewhere all meet and load what they keep from the others, which is faster where
/// that is much.
template <class Tile, class Cut, class Owner, int on_way> class SumsOfCluster {
  static constexpr int rows = Cut::rows, cluster = Cut::cluster, kept = Tile::rows;
  using Delivery = arch::Delivery<Owner>;

  /// Of each 8 rows a lane has two neighbours, in columns c and c + 8: a unit, or two where blocks
  /// keep a row each. So many lanes of four have rows of one block.
  static constexpr int unit = kept == 1 ? 2 : 4, lanes = kept < 8 ? (kept + 1) / 2 : 4;
  static constexpr int eights = (kept + 7) / 8, units = Cut::warps * 8 * lanes; // of eight rows

  static constexpr int pitch = Cut::width + 4; // of a row of sums: no bank twice
  static constexpr int of_sums = rows * pitch * 4, coming = rows * Cut::width * 4;

  /// Of a multiprocessor's 228 KiB each block has one more than its own; the schedules count on two
  /// blocks, or on smaller ones.
  static constexpr EIDER_DEVICE int places(int bytes) {
    const int room = 228 / ((bytes + 1023) / 1024 + 1);
    return room < 2 ? room : 2;
  }
  static constexpr bool sends = cluster > 1 && places(on_way) == places(on_way + coming);
  static_assert(!sends || kept * pitch * 4 <= on_way, "what is dealt lies over that");

  static EIDER_DEVICE float *unit_at(float *came, int rank, int eight, int number) {
    return came + ((rank * eights + eight) * units + number) * unit;
  }

  /// To each block of the cluster its rows.
  static EIDER_DEVICE void send(const float (&sums)[rows / 8][4], float *came, arch::Site at) {
    const int lane = Cut::lane(), pair = lane % 4;
    const int number = (arch::thread_index() / 32 * 8 + lane / 4) * lanes + pair % lanes;
    EIDER_UNROLL
    for (int e = 0; e < rows / 8; ++e)
      if constexpr (kept == 1) {
        EIDER_UNROLL
        for (int i = 0; i < 2; ++i)
          Delivery::template send<2>(unit_at(came, Cut::rank(), 0, number), e * 8 + pair * 2 + i,
                                     {sums[e][i], sums[e][i + 2]}, at);
      } else {
        Delivery::send(unit_at(came, Cut::rank(), e % eights, number),
                       kept < 8 ? e * (8 / kept) + pair / lanes : e / eights, sums[e], at);
      }
  }

  /// What has come for the thread's units, added up in the order of blocks, to where all find it.
  static EIDER_DEVICE void add_up(float *came, float *dealt) {
    EIDER_UNROLL
    for (int first = 0; first < eights * units; first += Cut::threads) {
      const int number = first + arch::thread_index();
      if (units % Cut::threads != 0 && number >= eights * units)
        break;
      float sums[unit] = {};
      EIDER_UNROLL
      for (int rank = 0; rank < cluster; ++rank) {
        uint32 part[unit];
        arch::load_words<4 * unit>(unit_at(came, rank, 0, number), part);
        EIDER_UNROLL
        for (int i = 0; i < unit; ++i)
          sums[i] = rank == 0 ? arch::as_float(part[i]) : sums[i] + arch::as_float(part[i]);
      }
      const int of_eight = number % units, row = number / units * 8 + of_eight % lanes * 2;
      const int column = of_eight / (8 * lanes) * 16 + of_eight / lanes % 8;
      EIDER_UNROLL
      for (int i = 0; i < unit; ++i)
        dealt[(row + (kept == 1 ? 0 : i % 2)) * pitch + column + i / (unit / 2) * 8] = sums[i];
    }
  }

public:
  static constexpr int memory = sends ? on_way + coming : on_way > of_sums ? on_way : of_sums;

  /// Before what is on its way.
  static EIDER_DEVICE void begin(arch::Site at) {
    if constexpr (sends)
      Delivery::begin(at);
  }

  /// The sums of all of the cluster, added up in the order of its blocks, as the tile's threads
  /// hold them. Nobody of the block uses the `memory` any more.
  static EIDER_DEVICE Fragment<float, Tile::elements>
  dealt(const Tile &tile, const float (&sums)[rows / 8][4], unsigned char *memory, arch::Site at) {
    auto *shared = reinterpret_cast<float *>(memory);
    if constexpr (sends) {
      // Addresses are not made before the sums: there are many.
      auto *came = reinterpret_cast<float *>(memory + arch::opaque(on_way));
      Delivery::open(coming, at);
      send(sums, came, at);
      Delivery::wait(at);
      add_up(came, shared);
    } else {
      float *place = shared + Cut::lane() % 4 * 2 * pitch + Cut::first_row() + Cut::lane() / 4;
      EIDER_UNROLL
      for (int e = 0; e < rows / 2; ++e)
        place[(e / 4 * 8 + e % 2) * pitch + e % 4 / 2 * 8] = sums[e / 4][e % 4];
    }
    if constexpr (cluster > 1 && !sends)
      return loaded(tile, shared, at);
    arch::barrier(at);
    const auto result =
        tile.elements_of([&](int row, int column) { return shared[row * pitch + column]; });
    arch::barrier(at); // before others come there
    if constexpr (sends)
      Delivery::end();
    return result;
  }

private:
  /// The same of what lies in the shared memory of all blocks.
  static EIDER_DEVICE Fragment<float, Tile::elements> loaded(const Tile &tile, float *shared,
                                                             arch::Site at) {
    constexpr int count = Tile::neighbours % 4 == 0 ? 4 : Tile::neighbours % 2 == 0 ? 2 : 1;
    arch::cluster_barrier(at);
    const auto result =
        tile.template neighbours_of<count>([&](int row, int column, float(&sums)[count]) {
          const float *from = shared + (Cut::rank() * kept + row) * pitch + column;
          float parts[cluster][count];
          EIDER_UNROLL
          for (int q = 0; q < cluster; ++q) // all are on their way together
            arch::load_of_block(from, q, parts[q], at);
          EIDER_UNROLL
          for (int i = 0; i < count; ++i)
            sums[i] = parts[0][i];
          EIDER_UNROLL
          for (int i = 0; i < (cluster - 1) * count; ++i)
            sums[i % count] += parts[i / count + 1][i % count];
        });
    float all = 0;
    EIDER_UNROLL
    for (int e = 0; e < Tile::elements; ++e)
      all += result[e];
    arch::compute_first(all, shared); // of all that has been loaded
    arch::cluster_meeting(at);        // before others come there
    return result;
  }
};

/// The tile of x · wᵀ as Product has it, by the products of warpgroups (sm_90a), of which each has
/// 64 rows of w: codes that its threads decode in registers and multiply by `rows` rows of x, which
/// lie in shared memory, while they decode the next. The blocks of a `cluster` have the same rows
/// of both and each its own part of the length; then each keeps the sums of some rows of x. Codes
/// are `ahead` stages on their way. Blocks of w are rows of 128, or whole ones; or less of codes
/// of four bits that have room for their scales (`folds_scales`). Where it `awaits` the launch
/// before, which leaves x laid out (RowsOfProducts), codes are on their way meanwhile.
template <class Tile, int64 length, int64 block_rows, int64 block_columns, int rows, int cluster,
          int ahead, bool awaits = false>
class WarpgroupProduct {
  template <bool folds>
  using CutOf =
      WarpgroupCut<Tile, length, block_rows, block_columns, rows, cluster, ahead, folds, awaits>;
  using Sums = float[rows / 8][4];
  using Meeting = arch::Meeting<WarpgroupProduct>;
  static_assert(arch::has_warpgroups, "compile for sm_90a, and not for sm_90");

public:
  using OfGroup = WeightsOfGroup<Tile, length, block_rows, block_columns>;

  /// What each thread holds of the tile; rows start on multiples of 16 bytes. Every thread of the
  /// cluster takes part.
  template <class Code, class X, class W, class S>
  static EIDER_DEVICE Fragment<float, Tile::elements> of(const Tile &tile, const X *x, const W *w,
                                                         const S *w_scale,
                                                         arch::Site at = arch::Site::current()) {
    constexpr bool folds = folds_scales<W, S, X>;
    using Cut = CutOf<folds>;
    using Operand = typename Cut::Operand;
    const int turns = awaits ? Cut::turns_there() : Cut::turns;
    using AllSums = SumsOfCluster<Tile, Cut, WarpgroupProduct, Cut::on_way>;
    unsigned char *shared = shared_for_warpgroups<WarpgroupProduct, AllSums::memory>();
    AllSums::begin(at);
    CodesOfWarp<Cut, W> codes(tile, w, shared + Cut::codes_at);
    auto scales = scales_of_warp<Cut>(tile, w_scale, shared + Cut::scales_at);
    using Rows = RowsOfBlock<Cut, X>;
    Rows rows_of_x(tile, x, shared, at);
    auto begin_copies = [&](int turn, int slot) {
      if (turn < turns) {
        scales.begin(turn);
        codes.begin(slot);
      }
      arch::close_copies();
    };

    Meeting meeting(Cut::warps, at);
    EIDER_UNROLL
    for (int turn = 0; turn < ahead - 1; ++turn)
      begin_copies(turn, turn);
    if constexpr (awaits)
      arch::await_launch_before();
    rows_of_x.start(turns);
    arch::await_copies<ahead - 2>();
    arch::barrier(at);
    meeting.arrive(at);

    Sums sums, totals = {};
    uint32 a[2][2][4];
    HalfStage<Code, X, W, S, folds> half_stage;
    int slot = 0, place = 0; // of this turn's codes and rows of x
    half_stage.take(codes, scales, 0, 0, 0);
    half_stage.decode(0, a[0]);
    for (int first = 0; first < turns; first += Rows::early) {
      EIDER_UNROLL
      for (int turn = first; turn < first + Rows::early; ++turn) {
        const int next_slot = slot == ahead - 1 ? 0 : slot + 1;
        const int next_place = place == Cut::operands - 1 ? 0 : place + 1;
        const arch::Swizzled<Operand::panel> operand(shared + place * Operand::bytes,
                                                     Operand::apart);
        EIDER_UNROLL
        for (int quarter = 0; quarter < 4; ++quarter) {
          if (quarter == 0) {
            meeting.wait(at);
            rows_of_x.await(place, turn, turns);
          }
          arch::open_products(sums);
          EIDER_UNROLL
          for (int s = 0; s < 2; ++s)
            arch::begin_product_of_halves<X>(
                sums, a[quarter % 2][s],
                operand.moved(quarter / 2 * Operand::apart + (quarter % 2 * 2 + s) * 32),
                quarter + s > 0 || (!Cut::sums_stages && turn > 0), at);
          arch::close_products();
          if (quarter == 0) {
            begin_copies(turn + ahead - 1, slot == 0 ? ahead - 1 : slot - 1);
            rows_of_x.lay_out(turn + 1, next_place);
            arch::await_copies<ahead - 2>();
            rows_of_x.load_after(turn + 1, turns);
          }
          arch::await_products<1>(); // of what is decoded anew: the next quarter
          half_stage.decode((quarter + 1) % 2, a[(quarter + 1) % 2]);
          if (quarter == 0) { // the turn before has been multiplied, and this one's codes are taken
            half_stage.take(codes, scales, turn, slot, 1);
            meeting.arrive(at);
          }
          if (quarter == 2 && turn + 1 < turns)
            half_stage.take(codes, scales, turn + 1, next_slot, 0);
        }
        if constexpr (Cut::sums_stages) {
          arch::await_products<0>(sums);
          add_scaled(sums, scales, turn, totals);
        }
        slot = next_slot;
        place = next_place;
      }
    }
    if constexpr (!Cut::sums_stages)
      arch::await_products<0>(sums);
    if constexpr (folds) {
      constexpr auto lowered = static_cast<float>(1 << ScaleFactors<W, S, 2>::lowered);
      EIDER_UNROLL
      for (int i = 0; i < rows / 2; ++i)
        totals[i / 4][i % 4] = sums[i / 4][i % 4] * lowered;
    } else if constexpr (!Cut::sums_stages) {
      add_scaled(sums, scales, 0, totals);
    }
    arch::await_copies<0>();
    meeting.wait(at);
    arch::barrier(at); // what was in shared memory has been read
    meeting.end();
    rows_of_x.end();
    return AllSums::dealt(tile, totals, shared, at);
  }

private:
  template <class Scales>
  static EIDER_DEVICE void add_scaled(const Sums &sums, const Scales &scales, int turn,
                                      Sums &totals) {
    const float scale[2] = {scales.take(turn, 0), scales.take(turn, 8)};
    EIDER_UNROLL
    for (int i = 0; i < rows / 2; ++i)
      totals[i / 4][i % 4] = arch::fma(sums[i / 4][i % 4], scale[i % 4 / 2], totals[i / 4][i % 4]);
  }
};

} // namespace eider

#endif // EIDER_CONTRACTION_WARPGROUPS_CUH
