//===- Passes.h - The passes, in the order in which they run ----*- C++ -*-===//
//
// Part of Eider, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//
#ifndef EIDER_TRANSFORMS_PASSES_H
#define EIDER_TRANSFORMS_PASSES_H

#include "compiler/ir/Simt.h"
#include "mlir/Pass/Pass.h"

#include <map>
#include <memory>
#include <string>

namespace mlir {
class OpPassManager;
}

namespace eider::transforms {

/// Makes dims static: `eider-specialize{dims=hidden=7168}`.
std::unique_ptr<mlir::Pass> createSpecialize(const std::map<std::string, int64_t> &dims = {});

/// Quantise, dequantise and scaled arguments become amax, scale arithmetic, encode and decode; a
/// mean becomes a sum and a division: `eider-decompose`.
std::unique_ptr<mlir::Pass> createDecompose();

/// Moves transposes to where they move few and narrow elements: `eider-place-transposes`.
std::unique_ptr<mlir::Pass> createPlaceTransposes();

/// Cuts programs at grid-wide dependences into one program a kernel: `eider-partition`.
std::unique_ptr<mlir::Pass> createPartition();

/// The launches that a schedule is chosen for.
struct Launches {
  int64_t rows = 0;      ///< At most; 0: any number.
  int64_t held = 0;      ///< Elements of a thread of a cooperative kernel, at most; 0: of none.
  bool anywhere = false; ///< Whether rows begin anywhere, whatever their width.
};
/// Sets each program's schedule: the given one or the heuristic's for such launches:
/// `eider-assign-schedule{schedule="row<…>" rows=256 held=16 anywhere}`.
std::unique_ptr<mlir::Pass> createAssignSchedule(const std::string &schedule = "",
                                                 Launches launches = {});

/// Rows of bf16 that codes meet by a schedule with `f16` become f16 in a program before, in a unit
/// a row: `eider-rows-as-f16`.
std::unique_ptr<mlir::Pass> createRowsAsF16();

/// A program whose schedule is cooperative takes in the one that leaves it parts of a reduction
/// over the whole matrix: `eider-join`.
std::unique_ptr<mlir::Pass> createJoin();

/// Chooses who converts FP8, by target: `eider-legalize{target=sm_90 codec=auto}`.
std::unique_ptr<mlir::Pass> createLegalize(const std::string &target = "sm_90",
                                           const std::string &codec = "auto");

/// Which launches a variant serves.
enum class VariantKind {
  cooperative,       ///< Contiguous, where all blocks, of threads with few elements, run at once.
  cooperative_large, ///< The same of threads with many elements: for larger matrices.
  rows_4,            ///< Contiguous attention over a cache, of at most 4 sequences.
  rows_8,            ///< Contiguous products of matrices, with at most 8 rows; 16; 32, which
                     ///< attention has, too; 64, which one tile has.
  rows_16,           ///< And what is transposed, whose rows may then begin anywhere.
  rows_32,
  rows_64,
  few_rows,     ///< Contiguous, with at most 256 rows, of long ones fewer.
  some_rows,    ///< The same of some more, which run at once or in few turns.
  contiguous,   ///< Row-major without gaps, 16-byte aligned.
  uneven,       ///< The same, of any number of rows, so that rows of a transpose begin anywhere.
  uneven_large, ///< The same of so many that taller tiles pay, for fewer share lines.
  aligned,      ///< Any row stride, rows that begin on as many bytes as contiguous ones.
  general       ///< Any row stride, any alignment.
};
/// Whether rows lie apart as the launch says.
inline bool isStrided(VariantKind variant) {
  return variant == VariantKind::aligned || variant == VariantKind::general;
}
/// Whether rows of a transpose begin anywhere, and nothing lies between any rows.
inline bool isUneven(VariantKind variant) {
  return variant == VariantKind::uneven || variant == VariantKind::uneven_large;
}
/// Whether a variant is for matrices that all blocks together hold.
inline bool isCooperative(VariantKind variant) {
  return variant == VariantKind::cooperative || variant == VariantKind::cooperative_large;
}
/// The rows that a launch which a variant serves has at most, or a group of a product's rows; 0:
/// as the programs say, if anything.
int64_t mostRowsOf(VariantKind variant);
/// The same of the rows that all kernels of some programs have: where a product has them in groups,
/// so many that few groups have more than that, and of several products what suits each.
int64_t mostRowsOf(VariantKind variant, mlir::ModuleOp programs);
/// As the contract and the command line call it.
const char *nameOf(VariantKind variant);

/// Tensor program to thread program: `eider-lower-to-simt{variant=contiguous}`.
std::unique_ptr<mlir::Pass> createLowerToSimt(VariantKind variant = VariantKind::contiguous);

/// Widens rows again after a reduction, rather than hold them as floats: `eider-widen-again`.
std::unique_ptr<mlir::Pass> createWidenAgain();

/// Everything before the variants part: specialise … legalise, with canonicalisation between.
struct PipelineOptions {
  std::map<std::string, int64_t> dims;
  std::string target = "sm_90", codec = "auto";
};
void buildTensorPipeline(mlir::OpPassManager &manager, const PipelineOptions &options);

/// Lowering and cleaning of one variant.
void buildVariantPipeline(mlir::OpPassManager &manager, VariantKind variant);

/// Registers every pass by its name.
void registerPasses();

} // namespace eider::transforms

#endif // EIDER_TRANSFORMS_PASSES_H
