//===- eider/memory/chunk.cuh - Neighbouring elements, moved ----*- C++ -*-===//
//
// Part of Eider, under the Apache License v2.0.
//
// A chunk is the `vector` neighbouring elements that a thread moves together: by accesses as wide
// as their number and the guaranteed alignment allow, or element by element where the edge of the
// matrix cuts it.
//
//===----------------------------------------------------------------------===//
#ifndef EIDER_MEMORY_CHUNK_CUH
#define EIDER_MEMORY_CHUNK_CUH

#include "eider/fragment.cuh"

namespace eider {

/// The bytes of so many elements in memory.
template <class T> constexpr EIDER_DEVICE int bytes_of(int elements) {
  return elements * static_cast<int>(sizeof(T)) / packing<T>;
}

/// The bytes of one access to `vector` elements of T, where rows start at multiples of `alignment`
/// bytes: at most 16.
template <class T, int vector, int alignment> constexpr EIDER_DEVICE int bytes_of_access() {
  const int chunk = bytes_of<T>(vector);
  const int aligned = alignment < chunk ? alignment : chunk;
  return aligned < 16 ? aligned : 16;
}

/// Reads a whole chunk at `from` into elements first … first + vector - 1, which were zero until
/// now.
template <int vector, int alignment, Caching caching, class T, int count>
EIDER_DEVICE void load_whole_chunk(const T *from, Fragment<T, count> &to, int first) {
  constexpr int bytes = bytes_of_access<T, vector, alignment>();
  static_assert(bytes % sizeof(T) == 0, "the alignment is smaller than an element");
  const auto *at = reinterpret_cast<const unsigned char *>(from);
  EIDER_UNROLL
  for (int offset = 0; offset < bytes_of<T>(vector); offset += bytes) {
    const int position = bytes_of<T>(first) + offset; // in the fragment
    if constexpr (bytes >= 4) {
      arch::load_words<bytes, caching>(at + offset, &to.words[position / 4]);
    } else {
      uint32 piece;
      arch::load_words<bytes, caching>(at + offset, &piece);
      to.words[position / 4] |= piece << position % 4 * 8;
    }
  }
}

/// Writes elements first … first + vector - 1 as a whole chunk at `to`.
template <int vector, int alignment, Caching caching, class T, int count>
EIDER_DEVICE void store_whole_chunk(T *to, const Fragment<T, count> &from, int first) {
  constexpr int bytes = bytes_of_access<T, vector, alignment>();
  static_assert(bytes % sizeof(T) == 0, "the alignment is smaller than an element");
  auto *at = reinterpret_cast<unsigned char *>(to);
  EIDER_UNROLL
  for (int offset = 0; offset < bytes_of<T>(vector); offset += bytes) {
    const int position = bytes_of<T>(first) + offset;
    if constexpr (bytes >= 4) {
      arch::store_words<bytes, caching>(at + offset, &from.words[position / 4]);
    } else {
      const uint32 piece = from.words[position / 4] >> position % 4 * 8;
      arch::store_words<bytes, caching>(at + offset, &piece);
    }
  }
}

/// Reads the `inside` elements of a chunk that are in the matrix, 0 to vector, one by one (the
/// packed ones of a byte together).
template <int vector, Caching caching, class T, int count>
EIDER_DEVICE void load_elements(const T *from, int inside, Fragment<T, count> &to, int first) {
  EIDER_UNROLL
  for (int j = 0; j < vector; j += packing<T>)
    if (j < inside)
      load_whole_chunk<packing<T>, sizeof(T), caching>(from + j / packing<T>, to, first + j);
}

/// Reads them whole, not at all, or one by one where the edge cuts the chunk. `may_be_cut` says
/// whether that can be.
template <int vector, int alignment, bool may_be_cut, Caching caching = cached, class T, int count>
EIDER_DEVICE void load_chunk(const T *from, int inside, Fragment<T, count> &to, int first) {
  if (inside == vector)
    load_whole_chunk<vector, alignment, caching>(from, to, first);
  else if constexpr (may_be_cut)
    load_elements<vector, caching>(from, inside, to, first);
}

/// Writes them in the same way.
template <int vector, int alignment, bool may_be_cut, Caching caching = cached, class T, int count>
EIDER_DEVICE void store_chunk(T *to, int inside, const Fragment<T, count> &from, int first) {
  if (inside == vector) {
    store_whole_chunk<vector, alignment, caching>(to, from, first);
  } else if constexpr (may_be_cut) {
    EIDER_UNROLL
    for (int j = 0; j < vector; j += packing<T>)
      if (j < inside)
        store_whole_chunk<packing<T>, sizeof(T), caching>(to + j / packing<T>, from, first + j);
  }
}

/// The value at `from`, which all threads of the grid read. Under each tile anew, beside its
/// elements: they would wait for what is computed from a value that had been loaded before them.
template <class T> EIDER_DEVICE T load_uniform(const T *from) { return *from; }

/// Writes the one value of a tensor, once in the grid.
template <class T> EIDER_DEVICE void store_uniform(T *to, T value) {
  if (arch::block_index() == 0 && arch::thread_index() == 0)
    *to = value;
}

} // namespace eider

#endif // EIDER_MEMORY_CHUNK_CUH
