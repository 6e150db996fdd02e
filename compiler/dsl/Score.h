//===- Score.h - Score functions of attention -------------------*- C++ -*-===//
//
// Part of Eider, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//
#ifndef EIDER_DSL_SCORE_H
#define EIDER_DSL_SCORE_H

#include "compiler/dsl/Recording.h"

namespace eider::detail {

/// A score function as attention takes it: its body, which the op's region takes over, and the
/// arguments of the program that it captures; null and none where scores stay as they are.
struct ScoreRegion {
  mlir::Region *body = nullptr;
  llvm::SmallVector<mlir::Value> captured = {};

  void moveInto(mlir::Region &region) const {
    if (body)
      region.takeBody(*body);
  }
};

/// Calls the function, and records what it does with the scores of `queries`, [., h, d]. Fails
/// where it gives no number, or computes with what is no number.
ScoreRegion recordScore(const ScoreFunction &score, mlir::Value queries, const Site &site);

} // namespace eider::detail

#endif // EIDER_DSL_SCORE_H
