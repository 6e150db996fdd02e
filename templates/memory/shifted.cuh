//===- eider/memory/shifted.cuh - Chunks at any address ---------*- C++ -*-===//
//
// Part of Eider, under the Apache License v2.0.
//
// A chunk of a row that begins anywhere is moved by aligned accesses of 16 bytes (or as many as it
// has) all the same: loaded as the aligned pieces around it, out of which it is shifted in
// registers; stored as the aligned pieces that begin in it, the last of which ends in the next
// chunk, whose holder sends its first bytes. What no such piece holds is moved element by element:
// the ends of a row where it is loaded, those of the threads' part where it is stored.
//
//===----------------------------------------------------------------------===//
#ifndef EIDER_MEMORY_SHIFTED_CUH
#define EIDER_MEMORY_SHIFTED_CUH

#include "eider/memory/chunk.cuh"

namespace eider {

/// The bytes of an aligned access to a chunk of `bytes` bytes.
constexpr EIDER_DEVICE int piece_of(int bytes) { return bytes < 16 ? bytes : 16; }

/// Whether chunks are moved by windows: they fill words, and are less aligned than such accesses.
template <class T, int vector, int alignment>
inline constexpr bool
    is_shifted = bytes_of<T>(vector) % 4 == 0 && alignment < piece_of(bytes_of<T>(vector));

/// So many elements of a row of `columns` (0: the launch knows), or where those are so many that
/// their bytes may not be counted, more than a warp has together: what is further away matters to
/// no chunk.
template <int64 columns> EIDER_DEVICE int nearby(int64 count) {
  constexpr int64 most = 1 << 16, counted = 1 << 27;
  if constexpr (columns > 0 && columns < counted)
    return static_cast<int>(count);
  else
    return static_cast<int>(count < most ? count : most);
}

/// A chunk of a row: where both begin, how many of its elements are in the matrix, and in elements
/// (bytes of packed ones) what of the row lies before it, and from its beginning on (nearby).
template <class T> struct ChunkOfRow {
  T *row, *at;
  int inside, before, left;

  /// What it is given is in elements.
  EIDER_DEVICE ChunkOfRow(T *row, int64 column, int inside, int before, int left)
      : row(row), at(row + column / packing<T>), inside(inside), before(before / packing<T>),
        left((left + packing<T> - 1) / packing<T>) {}

  /// The bytes that it begins behind a multiple of `piece`: as many as its row.
  template <int piece> EIDER_DEVICE int shift() const {
    return static_cast<int>(static_cast<uint32>(reinterpret_cast<uint64>(row)) % piece);
  }
  /// How many of its bytes are in the matrix.
  EIDER_DEVICE int bytes_inside() const {
    return (inside + packing<T> - 1) / packing<T> * static_cast<int>(sizeof(T));
  }
};

/// The words at `window` and behind it, from byte `shift` on, which is less than a piece and a
/// multiple of `alignment`.
template <int count, int piece, int alignment>
EIDER_DEVICE void shift_words(const uint32 *window, uint32 shift, uint32 *to) {
  constexpr int more = piece / 4;
  uint32 words[count + more];
  EIDER_UNROLL
  for (int i = 0; i < count + more; ++i)
    words[i] = window[i];
  if constexpr (piece > 8) {
    EIDER_UNROLL
    for (int i = 0; i < count + more - 2; ++i)
      words[i] = shift & 8 ? words[i + 2] : words[i];
  }
  if constexpr (piece > 4 && alignment < 8) {
    EIDER_UNROLL
    for (int i = 0; i < count + 1; ++i)
      words[i] = shift & 4 ? words[i + 1] : words[i];
  }
  EIDER_UNROLL
  for (int i = 0; i < count; ++i)
    to[i] = alignment < 4 ? arch::funnel_right(words[i], words[i + 1], shift * 8) : words[i];
}

/// The same out of each of the windows of a row, all by the same: lanes of a warp branch over its
/// words together, which is less than to choose each word by it.
template <int chunks, int count, int piece, int alignment, int by = 0>
EIDER_DEVICE void shift_row(const uint32 (&windows)[chunks][count + piece / 4], uint32 shift,
                            uint32 *to) {
  constexpr int next = by + (alignment < 4 ? 1 : alignment / 4);
  if constexpr (next < piece / 4)
    if (shift / 4 != by)
      return shift_row<chunks, count, piece, alignment, next>(windows, shift, to);
  EIDER_UNROLL
  for (int c = 0; c < chunks; ++c) {
    EIDER_UNROLL
    for (int i = 0; i < count; ++i) {
      const uint32 word = windows[c][i + by];
      to[c * count + i] =
          alignment < 4 ? arch::funnel_right(word, windows[c][i + by + 1], shift * 8) : word;
    }
  }
}

//===-- Loads -------------------------------------------------------------===//

namespace detail {

/// The bytes of a chunk and of the pieces around it.
template <class T, int vector> struct Window {
  static constexpr int bytes = bytes_of<T>(vector), piece = piece_of(bytes), size = sizeof(T);
  static constexpr int words = (bytes + piece) / 4;
  static_assert((bytes & (bytes - 1)) == 0, "chunks begin at multiples of a piece in their row");

  /// Whether the piece at byte i lies in the row: of that, `before` bytes are before the window,
  /// and `left` from its beginning on.
  static EIDER_DEVICE bool is_inside(int i, int before, int left) {
    return (i > 0 || before >= 0) && i + piece <= left;
  }
};

} // namespace detail

/// Loads the pieces around a chunk that lie in its row, which neighbours share, so that they stay
/// cached; 0 for others. Elements of other chunks may be changed meanwhile by the threads that hold
/// them. Whether some piece reaches out of the row.
template <int vector, class T>
EIDER_DEVICE bool load_window(const ChunkOfRow<const T> &chunk, uint32 *words) {
  using W = detail::Window<T, vector>;
  const int shift = chunk.template shift<W::piece>();
  const int before = chunk.before * W::size - shift;
  const int left = chunk.inside > 0 ? chunk.left * W::size + shift : 0;
  const auto *window = reinterpret_cast<const unsigned char *>(chunk.at) - shift;
  EIDER_UNROLL
  for (int i = 0; i <= W::bytes; i += W::piece)
    arch::load_words_if<W::piece>(W::is_inside(i, before, left), window + i, &words[i / 4],
                                  shift - i, W::bytes + shift - i);
  return chunk.inside > 0 && (before < 0 || W::bytes + W::piece > left);
}

/// Fills the pieces that reach out of the row with what of the chunk is in them, element by
/// element.
template <int vector, Caching caching, class T>
EIDER_DEVICE void load_ends(const ChunkOfRow<const T> &chunk, uint32 *words) {
  using W = detail::Window<T, vector>;
  const int shift = chunk.template shift<W::piece>(), end = shift + chunk.bytes_inside();
  const int before = chunk.before * W::size - shift, left = chunk.left * W::size + shift;
  const auto *window = reinterpret_cast<const unsigned char *>(chunk.at) - shift;
  EIDER_UNROLL
  for (int i = 0; i <= W::bytes; i += W::piece) {
    if (W::is_inside(i, before, left))
      continue;
    EIDER_UNROLL
    for (int j = i; j < i + W::piece; j += W::size) {
      uint32 element = 0;
      if (j >= shift && j < end)
        arch::load_words<W::size, caching>(window + j, &element);
      words[j / 4] |= element << j % 4 * 8;
    }
  }
}

/// The `chunks` chunks of a tile; `chunk(c)` says where each is: `in_one_row` all those of a warp.
/// All windows are loaded before the first chunk is shifted out of its own, which waits for it.
template <class T, int vector, int chunks, int alignment, bool in_one_row, Caching caching, class F>
EIDER_DEVICE Fragment<T, vector * chunks> load_shifted(F chunk) {
  using W = detail::Window<T, vector>;
  uint32 windows[chunks][W::words];
  bool have_ends = false;
  EIDER_UNROLL
  for (int c = 0; c < chunks; ++c)
    have_ends = load_window<vector, T>(chunk(c), windows[c]) || have_ends;
  if (arch::unlikely(have_ends)) {
    EIDER_UNROLL
    for (int c = 0; c < chunks; ++c)
      if (chunk(c).inside > 0)
        load_ends<vector, caching, T>(chunk(c), windows[c]);
  }
  Fragment<T, vector * chunks> values;
  constexpr int words = W::bytes / 4;
  if constexpr (in_one_row) {
    shift_row<chunks, words, W::piece, alignment>(windows, chunk(0).template shift<W::piece>(),
                                                  values.words);
  } else {
    EIDER_UNROLL
    for (int c = 0; c < chunks; ++c)
      shift_words<words, W::piece, alignment>(windows[c], chunk(c).template shift<W::piece>(),
                                              &values.words[c * words]);
  }
  return values;
}

/// The same of rows of any alignment, whose width is known or not.
template <class T, int vector, int chunks, int alignment, bool may_be_cut, bool has_width,
          bool in_one_row, Caching caching, class F>
EIDER_DEVICE Fragment<T, vector * chunks> load_chunks(F chunk) {
  if constexpr (has_width && is_shifted<T, vector, alignment>) {
    return load_shifted<T, vector, chunks, alignment, in_one_row, caching>(chunk);
  } else {
    Fragment<T, vector * chunks> values{};
    EIDER_UNROLL
    for (int c = 0; c < chunks; ++c)
      load_chunk<vector, alignment, may_be_cut, caching>(chunk(c).at, chunk(c).inside, values,
                                                         c * vector);
    return values;
  }
}

//===-- Stores ------------------------------------------------------------===//

namespace detail {

/// The ends of the runs of `lanes` · `bytes` bytes that a warp's lanes have together: of each, the
/// last lane has them in its last words, the first of which are the last of the memory. As many
/// lanes write a run's ends at once as these have elements, so that each end is one access.
template <int lanes, int bytes, int size> struct Ends {
  static constexpr int piece = piece_of(bytes), units = piece / size;
  static constexpr int writers = lanes > units ? lanes : units, turns = writers / lanes;

  /// Of the lane's run, which begins at `run`, `shift` bytes before a multiple of a piece; where
  /// that is null, none. All lanes of the warp call it together.
  template <Caching caching>
  static EIDER_DEVICE void store(unsigned char *run, int shift, const uint32 *words,
                                 arch::Site site) {
    const int lane = arch::nonnegative_thread_index() % 32, position = lane % writers * size;
    EIDER_UNROLL
    for (int turn = 0; turn < turns; ++turn) {
      const int of_run = turn * (32 / writers) + lane / writers; // whose ends the lane writes
      const int last = of_run * lanes + lanes - 1;
      uint32 word = 0;
      EIDER_UNROLL
      for (int i = 0; i < piece / 4; ++i) {
        const uint32 other = arch::shuffle(words[(bytes - piece) / 4 + i], last, site);
        word = position / 4 == i ? other : word;
      }
      unsigned char *to = run;
      if constexpr (turns > 1) { // that of the lane which has the word
        const auto address = reinterpret_cast<uint64>(run);
        const uint64 high = arch::shuffle(static_cast<uint32>(address >> 32), last, site);
        const uint32 low = arch::shuffle(static_cast<uint32>(address), last, site);
        to = reinterpret_cast<unsigned char *>(high << 32 | low);
        shift = static_cast<int>(-low % piece);
      }
      const int offset = position + shift - piece;
      const uint32 element = word >> position % 4 * 8;
      if (position < piece && to)
        arch::store_words<size, caching>(to + (offset < 0 ? offset + lanes * bytes : offset),
                                         &element);
    }
  }
};

} // namespace detail

/// Whether so many lanes with neighbouring chunks of a row write them by pieces: a warp does; fewer
/// have more ends, which pay where a chunk of several words would otherwise be written by bytes or
/// pairs of them.
template <class T, int vector, int alignment, int lanes>
inline constexpr bool are_stored_shifted = is_shifted<T, vector, alignment> &&
                                           (lanes % 32 == 0 ||
                                            ((lanes == 4 || lanes == 8 || lanes == 16) &&
                                             alignment <= 2 && bytes_of<T>(vector) >= 8));

/// Writes elements first … first + vector - 1 as a chunk, but what is outside. All lanes of the
/// warp call it together, each `lanes` of them with neighbouring chunks of one row.
template <int lanes, int vector, int alignment, Caching caching, class T, int count>
EIDER_DEVICE void store_shifted(const ChunkOfRow<T> &chunk, const Fragment<T, count> &from,
                                int first, arch::Site site) {
  using W = detail::Window<T, vector>;
  constexpr int bytes = W::bytes, piece = W::piece, size = W::size, units = bytes / size;
  auto *at = reinterpret_cast<unsigned char *>(chunk.at);
  const int shift = (piece - chunk.template shift<piece>()) % piece;
  const int thread = arch::nonnegative_thread_index() % 32, lane = thread % lanes;

  uint32 windows[1][W::words], words[bytes / 4];
  EIDER_UNROLL
  for (int i = 0; i < bytes / 4; ++i)
    windows[0][i] = from.words[bytes_of<T>(first) / 4 + i];
  EIDER_UNROLL
  for (int i = 0; i < piece / 4; ++i)
    windows[0][bytes / 4 + i] =
        arch::shuffle(windows[0][i], thread - lane + (lane + 1) % lanes, site);
  if constexpr (lanes == 32)
    shift_row<1, bytes / 4, piece, alignment>(windows, shift, words);
  else
    shift_words<bytes / 4, piece, alignment>(windows[0], shift, words);

  // Where all are whole, both ends are in the last lane, whose next lane is the first.
  const bool is_whole = chunk.inside == vector && chunk.left + lane * units >= lanes * units;
  const bool is_wide =
      chunk.inside == vector && lane < lanes - 1 && chunk.left >= units + shift / size;
  EIDER_UNROLL
  for (int offset = 0; offset < bytes; offset += piece)
    if (is_wide || (is_whole && offset + piece < bytes))
      arch::store_words<piece, caching>(at + shift + offset, &words[offset / 4]);
  // A warp is whole in all its lanes or in none; of fewer, others beside them may not be.
  if (lanes < 32 || is_whole)
    detail::Ends<lanes, bytes, size>::template store<caching>(
        is_whole ? at - lane * bytes : nullptr, shift, words, site);
  if (!is_whole) {
    // What neither the lane before writes nor this one did.
    const bool is_begun = lane > 0 && chunk.left >= shift / size;
    const int begin = is_begun ? shift / size : 0;
    const int end = is_wide ? shift / size : (chunk.inside + packing<T> - 1) / packing<T>;
    EIDER_UNROLL
    for (int j = 0; j < units; ++j)
      if (j >= begin && j < end)
        store_whole_chunk<packing<T>, size, caching>(chunk.at + j, from, first + j * packing<T>);
  }
}

} // namespace eider

#endif // EIDER_MEMORY_SHIFTED_CUH
