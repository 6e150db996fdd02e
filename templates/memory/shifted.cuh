//===- eider/memory/shifted.cuh - Chunks at any address ---------*- C++ -*-===//
//
// Part of Eider, under the Apache License v2.0.
//
// A chunk of a row that begins anywhere is moved by aligned accesses of 16 bytes (or as many as it
// has) all the same: loaded as the aligned window around it, out of which it is shifted in
// registers; stored as the aligned window that begins in it and ends in the chunk of the next lane,
// which sends its first bytes. What no such window holds is moved element by element: the ends of a
// row where it is loaded, those of the lanes' part where it is stored.
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

/// A chunk of a row: where it begins, how many of its elements are in the matrix, and in elements
/// (bytes of packed ones) what of the row lies before it, and from its beginning on.
template <class T> struct ChunkOfRow {
  T *at;
  int inside, before, left;

  EIDER_DEVICE ChunkOfRow(T *at, int inside, int column, int columns)
      : at(at), inside(inside), before(column / packing<T>),
        left((columns - column + packing<T> - 1) / packing<T>) {}
};

/// `count` words out of `window`, whose words follow each other in memory, from byte `shift` on:
/// less than `piece`, and a multiple of `alignment`.
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

//===-- Loads -------------------------------------------------------------===//

/// The words around a chunk, as loaded.
template <class T, int vector> struct Window {
  static constexpr int bytes = bytes_of<T>(vector), piece = piece_of(bytes);
  uint32 words[(bytes + piece) / 4];
  uint32 shift;  // bytes before the chunk
  bool is_whole; // whether the chunk is, and the window lies in its row; else it is not loaded
};

/// Loads a chunk's window, which neighbours share, so that it stays cached; but no byte before its
/// row or behind it. Others of the row may be changed meanwhile by the threads that hold them.
template <int vector, class T>
EIDER_DEVICE Window<T, vector> load_window(const ChunkOfRow<const T> &chunk) {
  using W = Window<T, vector>;
  constexpr int bytes = W::bytes, piece = W::piece, size = sizeof(T);
  const auto *at = reinterpret_cast<const unsigned char *>(chunk.at);
  const auto shift = static_cast<int>(reinterpret_cast<uint64>(at) % piece);
  const int behind = (piece - shift) % piece;
  W window;
  window.shift = shift;
  window.is_whole = chunk.inside == vector && chunk.before >= shift / size &&
                    chunk.left >= (bytes + behind) / size;
  EIDER_UNROLL
  for (int offset = 0; offset < bytes; offset += piece)
    arch::load_words_if<piece>(window.is_whole, at - shift + offset, &window.words[offset / 4],
                               shift - offset, bytes + shift - offset);
  // The piece that holds the last byte: where the chunk is aligned, one that is there already.
  const int last = bytes + behind - piece;
  arch::load_words_if<piece>(window.is_whole, at + last, &window.words[bytes / 4], -last,
                             bytes - last);
  return window;
}

/// Loads a chunk without such a window element by element; 0 outside of the matrix.
template <Caching caching, class T, int vector>
EIDER_DEVICE void load_cut_chunk(const ChunkOfRow<const T> &chunk, Window<T, vector> &window) {
  constexpr int count = Window<T, vector>::bytes / 4, more = Window<T, vector>::piece / 4;
  Fragment<T, vector> elements{};
  load_elements<vector, caching>(chunk.at, chunk.inside, elements, 0);
  window.shift = 0;
  EIDER_UNROLL
  for (int i = 0; i < count + more; ++i)
    window.words[i] = i < count ? elements.words[i] : 0;
}

/// The `chunks` chunks of a tile; `chunk(c)` says where each is. All windows are loaded before the
/// first chunk is shifted out of its own, which waits for it.
template <class T, int vector, int chunks, int alignment, Caching caching, class F>
EIDER_DEVICE Fragment<T, vector * chunks> load_shifted(F chunk) {
  Window<T, vector> windows[chunks];
  bool are_whole = true;
  EIDER_UNROLL
  for (int c = 0; c < chunks; ++c) {
    windows[c] = load_window<vector, T>(chunk(c));
    are_whole = are_whole && windows[c].is_whole;
  }
  if (arch::unlikely(!are_whole)) {
    EIDER_UNROLL
    for (int c = 0; c < chunks; ++c)
      if (!windows[c].is_whole)
        load_cut_chunk<caching, T>(chunk(c), windows[c]);
  }
  Fragment<T, vector * chunks> values;
  EIDER_UNROLL
  for (int c = 0; c < chunks; ++c)
    shift_words<Window<T, vector>::bytes / 4, Window<T, vector>::piece, alignment>(
        windows[c].words, windows[c].shift, &values.words[bytes_of<T>(c * vector) / 4]);
  return values;
}

/// The same of rows of any alignment, whose width is known or not.
template <class T, int vector, int chunks, int alignment, bool may_be_cut, bool has_width,
          Caching caching, class F>
EIDER_DEVICE Fragment<T, vector * chunks> load_chunks(F chunk) {
  if constexpr (has_width && is_shifted<T, vector, alignment>) {
    return load_shifted<T, vector, chunks, alignment, caching>(chunk);
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

/// What a lane has to write of the ends of `lanes` · `bytes` bytes, which the last lane has in its
/// last words: the first of them are the last of the memory. As many elements a lane.
template <int lanes, int bytes, int size> struct Ends {
  static constexpr int piece = piece_of(bytes), own = piece > lanes *size ? piece / lanes : size;
  static_assert(own <= 4, "so few lanes have more than a word each");
  int position;
  uint32 word = 0;

  EIDER_DEVICE Ends(const uint32 *words, arch::Site site)
      : position(arch::nonnegative_thread_index() % lanes * own) {
    const int last = arch::nonnegative_thread_index() % 32 | (lanes - 1);
    EIDER_UNROLL
    for (int i = 0; i < piece / 4; ++i) {
      const uint32 other = arch::shuffle(words[(bytes - piece) / 4 + i], last, site);
      word = position / 4 == i ? other : word;
    }
    word >>= position % 4 * 8;
  }

  /// To the memory at `to`.
  template <Caching caching> EIDER_DEVICE void store(unsigned char *to, int shift) const {
    EIDER_UNROLL
    for (int i = 0; i < own; i += size) {
      const int offset = position + i + shift - piece;
      const uint32 element = word >> i * 8;
      if (position < piece)
        arch::store_words<size, caching>(to + (offset < 0 ? offset + lanes * bytes : offset),
                                         &element);
    }
  }
};

} // namespace detail

/// Whether so many lanes with neighbouring chunks of a row write them by windows: a warp does;
/// fewer have more ends, which pay where a chunk would otherwise be written by bytes or pairs of
/// them.
template <class T, int vector, int alignment, int lanes>
inline constexpr bool are_stored_shifted =
    is_shifted<T, vector, alignment> &&
    (lanes % 32 == 0 || ((lanes == 4 || lanes == 8 || lanes == 16) && alignment < 4));

/// Writes elements first … first + vector - 1 as a chunk, but what is outside. All lanes of the
/// warp call it together, each `lanes` of them with neighbouring chunks of one row.
template <int lanes, int vector, int alignment, Caching caching, class T, int count>
EIDER_DEVICE void store_shifted(const ChunkOfRow<T> &chunk, const Fragment<T, count> &from,
                                int first, arch::Site site) {
  constexpr int bytes = bytes_of<T>(vector), piece = piece_of(bytes), size = sizeof(T);
  auto *at = reinterpret_cast<unsigned char *>(chunk.at);
  const auto shift = static_cast<int>((0 - reinterpret_cast<uint64>(at)) % piece);
  const int thread = arch::nonnegative_thread_index() % 32, lane = thread % lanes;

  uint32 window[(bytes + piece) / 4], words[bytes / 4];
  EIDER_UNROLL
  for (int i = 0; i < bytes / 4; ++i)
    window[i] = from.words[bytes_of<T>(first) / 4 + i];
  EIDER_UNROLL
  for (int i = 0; i < piece / 4; ++i)
    window[bytes / 4 + i] = arch::shuffle(window[i], thread - lane + (lane + 1) % lanes, site);
  shift_words<bytes / 4, piece, alignment>(window, shift, words);

  // Where all are whole, both ends are in the last lane, whose next lane is the first.
  constexpr int units = bytes / size;
  const bool is_whole = chunk.inside == vector && chunk.left + lane * units >= lanes * units;
  const bool is_wide =
      chunk.inside == vector && lane < lanes - 1 && chunk.left >= units + shift / size;
  EIDER_UNROLL
  for (int offset = 0; offset < bytes; offset += piece)
    if (is_wide || (is_whole && offset + piece < bytes))
      arch::store_words<piece, caching>(at + shift + offset, &words[offset / 4]);
  // A warp is whole in all its lanes or in none; of fewer, others beside them may not be.
  using Ends = detail::Ends<lanes, bytes, size>;
  if constexpr (lanes < 32) {
    const Ends ends(words, site);
    if (is_whole)
      ends.template store<caching>(at - lane * bytes, shift);
  } else if (is_whole) {
    Ends(words, site).template store<caching>(at - lane * bytes, shift);
  }
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
