//===- eider/reduce/tree.cuh - Reduction inside a thread --------*- C++ -*-===//
//
// Part of Eider, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//
#ifndef EIDER_REDUCE_TREE_CUH
#define EIDER_REDUCE_TREE_CUH

#include "eider/arch/arch.h"

namespace eider {

/// value(first) … value(first + count - 1) combined as a balanced tree: a sum's error grows with
/// log2(count), and independent operations are there to overlap.
template <int count, class Value, class Combine>
EIDER_DEVICE auto tree(Value value, Combine combine, int first = 0) {
  if constexpr (count == 1) {
    return value(first);
  } else {
    constexpr int half = count / 2;
    return combine(tree<half>(value, combine, first),
                   tree<count - half>(value, combine, first + half));
  }
}

} // namespace eider

#endif // EIDER_REDUCE_TREE_CUH
