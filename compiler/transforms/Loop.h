//===- Loop.h - What is moved in or out of the loop over tiles --*- C++ -*-===//
//
// Part of Eider, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//
#ifndef EIDER_TRANSFORMS_LOOP_H
#define EIDER_TRANSFORMS_LOOP_H

#include "compiler/ir/Simt.h"

namespace eider::transforms {

/// Column vectors are loaded where they are used.
void sinkColumnLoads(mlir::Block &body);

/// Column vectors, the same under every tile, are loaded before the loop.
void hoistColumnLoads(simt::ForTilesOp loop);

/// Reductions of column vectors, and what they need, come before the loop.
void hoistColumnReductions(simt::ForTilesOp loop);

/// What is computed of column vectors comes before the loop, as narrow as it was rounded.
void hoistColumns(simt::ForTilesOp loop);

/// The one values of tensors that `value` comes from are loaded before the loop.
void loadBefore(simt::ForTilesOp loop, mlir::Value value);

/// Arithmetic on what is the same under every tile comes before the loop.
void hoistUniform(simt::ForTilesOp loop);

/// Elements under the tile, not rows that an index chooses, are loaded and stored as data used
/// once.
void streamElements(simt::ForTilesOp loop);

/// Chunks of a row are not loaded whose elements no one sees: select takes others in their place by
/// the column, before or after one that the row has. `isAhead`: they will be loaded ahead.
void skipUnseen(simt::ForTilesOp loop, bool isAhead);

/// Wide elements of rows that begin on 16 bytes are stored in bulk.
void storeInBulk(simt::ForTilesOp loop);

/// What the transpose is not needed for is stored before it is waited for: its registers are free.
void storeBeforeTranspose(simt::ForTilesOp loop);

/// The elements of a tile are loaded while the tile before is worked on, and carried.
void loadAhead(simt::ForTilesOp loop);

/// Rows of codes that tensor cores multiply come through shared memory, so many pairs ahead.
void comeAhead(simt::ForTilesOp loop, int64_t ahead);

} // namespace eider::transforms

#endif // EIDER_TRANSFORMS_LOOP_H
