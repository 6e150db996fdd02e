//===- eider/compile.h - Program and target to text -------------*- C++ -*-===//
//
// Part of Eider, under the Apache License v2.0.
//
// Everything here works with no GPU, no driver and no CUDA toolkit. No MLIR type appears.
//
//===----------------------------------------------------------------------===//
#ifndef EIDER_COMPILE_H
#define EIDER_COMPILE_H

#include "eider/dsl.h"
#include "eider/runtime.h"

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

namespace eider {

/// What to specialise a program for. Whatever is left empty is chosen by the compiler.
struct CompileOptions {
  std::string target = "sm_90";        ///< `sm_75` … `sm_121`, with `a` forms, or `host`.
  std::string codec = "auto";          ///< `auto`, `hardware` or `software`.
  std::string schedule;                ///< e.g. `row<threads = 448, vector = 16>`.
  std::map<std::string, int64_t> dims; ///< Dims to make static. Every dim along a row must be.
  bool timings = false;                ///< Pass timings to standard error.
};

enum class Stage { Eider, Simt, Cuda };

/// The executable of `program`: contract and texts, every variant. Throws Error.
EIDER_API Executable compile(const Program &program, const CompileOptions &options);

/// The program at a stage, as text that a person reads (`eider emit`): its IR, its thread-level IR,
/// or one self-standing CUDA text with all variants. Throws Error.
EIDER_API std::string emit(const Program &program, const CompileOptions &options, Stage stage);

/// Which schedule, why, what was rejected, predicted bytes (`eider explain`). Throws Error.
EIDER_API std::string explain(const Program &program, const CompileOptions &options);

/// A schedule that a program may run under, and what the compiler's model says of it.
struct ScheduleCandidate {
  std::string schedule;
  bool heuristic = false; ///< compile() takes it unless told otherwise.
  double cost = 1;        ///< Predicted time over that of a perfect stream; only the order counts.
  std::string pruned;     ///< Why it is not worth measuring; empty: it is.
};

/// What the model is told of the launch; 0: unknown.
struct SpaceOptions {
  int multiprocessors = 0;
  std::map<std::string, int64_t> dims; ///< Of the launch: `options.dims` and the dynamic ones.
};

/// Every legal schedule of `program` (of the kernel that it is named for): the heuristic's, then
/// those worth measuring, the most promising first, then the pruned. Throws Error.
EIDER_API std::vector<ScheduleCandidate>
candidates(const Program &program, const CompileOptions &options, const SpaceOptions &space = {});

/// Reads a program from text in the `eider` dialect. `file` names it in errors. Throws Error.
EIDER_API Program parseProgram(const std::string &text, const std::string &file);

/// The names of all targets the compiler knows, oldest first, without `host`.
EIDER_API std::vector<std::string> targets();

//===-- The op library ----------------------------------------------------===//

/// The parameters of a library op, spelled as on the command line. Empty: the op's default.
struct OpParameters {
  std::string dtype = {};           ///< `bf16`, `f16`, `f32`
  std::string format = {};          ///< `e4m3`, `e5m2`, `e4m3fnuz`, `e5m2fnuz`, `e2m1`
  std::string block = {};           ///< `1x128`, `128x128`, `1x*`, `*x*`
  std::string fromFormat = {};      ///< Of an x that is scaled, or a cache, where y has its own.
  std::string fromBlock = {};       ///< Likewise.
  std::string fromScale = {};       ///< Likewise.
  std::string fromScaleLayout = {}; ///< Likewise.
  std::string scale = {};           ///< `f32`, `bf16`, `f16`, `e4m3` (of two levels), `e8m0`
  std::string scaleLayout = {};     ///< `row_major`, `mn_major_aligned`, … (eider/scale_layout.h)
  std::string scaleSource = {};     ///< `dynamic`, `static`
  std::string mode = {};            ///< `default`, `deepgemm`, `vllm_group`, …
  std::map<std::string, std::string> numerics =
      {}; ///< Single numerics parameters over the mode: `nan=ignore`, `arithmetic=reciprocal`, …
  std::string index = {}; ///< `i64`, `i32`: of what chooses rows
  /// Of the op itself, by the names that OpInfo lists.
  std::map<std::string, std::string> settings = {};
  std::string copy = {}; ///< `none`, or the type of the output `copy`: y before it is quantised.
  std::string transposed = {}; ///< `yes`: an output `yt`, the transpose of what y is; `no`
  std::string amax = {}; ///< `yes`: an output `amax`, the largest |y| before it is quantised; `no`
};

/// What an op is told by `--set NAME=INTEGER`, beside its scalars and numerics.
struct OpSetting {
  std::string name;
  int64_t value; ///< The default.
  int64_t least, most;
};

/// One op of the library.
struct OpInfo {
  std::string name;
  std::string summary;
  std::vector<std::string> parameters; ///< The fields of OpParameters that it takes.
  std::vector<OpSetting> settings = {};
  /// `format`, or `fromFormat` where it is taken, may be bf16 or f16 as well, which are no codes.
  bool takesFloats = false;
};

EIDER_API const std::vector<OpInfo> &libraryOps();

/// The program of a library op. Throws Error that names the op, the parameter and what is possible.
EIDER_API Program libraryOp(const std::string &name, const OpParameters &parameters);

//===-- The reference -----------------------------------------------------===//

/// A tensor in host memory: row-major, contiguous.
struct HostTensor {
  std::string name;
  DType dtype;
  std::vector<int64_t> shape;
  std::vector<std::byte> data;
};

/// Runs the program in double, one tensor op at a time, each elementwise result rounded to its type
/// (design.md, "The reference"). `inputs` holds inputs and the old values of in-outs; gives outputs
/// and new values of in-outs. Throws Error.
EIDER_API std::vector<HostTensor> interpret(const Program &program,
                                            const std::vector<HostTensor> &inputs,
                                            const std::map<std::string, double> &scalars = {});

/// What launches trust of attention over a cache, looked at: throws Error (Request) for a length
/// that is no number of its sequence's tokens, and for a page that is met and that the cache lacks.
/// `inputs` as of `interpret`; programs of other ops have nothing to check.
EIDER_API void checkCaches(const Program &program, const std::vector<HostTensor> &inputs);

/// How one output compares with the reference.
struct Comparison {
  std::string name;
  bool exact; ///< The op is of the exact class in this output: bits must be equal.
  int64_t elements = 0;
  int64_t different = 0;   ///< Elements whose bits differ.
  int64_t wrong = 0;       ///< Elements outside their bound.
  double largestError = 0; ///< Largest |result − reference| over the reference's magnitude.
  double leastBound = 0;   ///< So far from the reference at least every bounded value may lie; 0 of
                           ///< exact outputs and of codes.
  double mostBound = 0;    ///< So far at most, of those that have an end; 0 likewise.
  std::string firstWrong; ///< `y[3, 17]: 0x3c, reference 0x3d (value 1.2345 ± 1e-7 of scale 0.5)`;
                          ///< empty if none.
};

/// Compares `outputs` with the reference run on `inputs`, by the classes of design.md "What 'the
/// same bits' means". Throws Error.
EIDER_API std::vector<Comparison> compare(const Program &program,
                                          const std::vector<HostTensor> &inputs,
                                          const std::vector<HostTensor> &outputs,
                                          const std::map<std::string, double> &scalars = {});

} // namespace eider

#endif // EIDER_COMPILE_H
