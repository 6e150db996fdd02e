//===- EiderBase.td - The eider dialect, its attributes and types ---------===//
//
// Part of Eider, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//
#ifndef EIDER_BASE_TD
#define EIDER_BASE_TD

include "mlir/IR/AttrTypeBase.td"
include "mlir/IR/EnumAttr.td"
include "mlir/IR/OpBase.td"

def Eider_Dialect : Dialect {
  let name = "eider";
  let cppNamespace = "::eider::ir";
  let summary = "What is computed: tensors and scaled tensors, no threads, no memory.";
  let description = [{
    Elementwise work is upstream `arith` and `math` on tensors whose encoding names their dims; the ops here are the few
    that those lack. A program is the unit: its arguments are `input`, `inout` and `scalar` ops, its results
    `output` and `store` ops, in the order in which they stand.
  }];
  let useDefaultAttributePrinterParser = 1;
  let useDefaultTypePrinterParser = 1;
  let extraClassDeclaration = [{
    void registerAttributes();
    void registerTypes();
  }];
}

//===-- Enums ---------------------------------------------------------------===//

class Eider_Enum<string name, string summary, list<I32EnumAttrCase> cases>
    : I32EnumAttr<name, summary, cases> {
  let cppNamespace = "::eider::ir";
  let genSpecializedAttr = 0;
}

def Eider_Reduction : Eider_Enum<"Reduction", "how a group of elements becomes one", [
    I32EnumAttrCase<"sum", 0>, I32EnumAttrCase<"mean", 1>, I32EnumAttrCase<"max", 2>,
    I32EnumAttrCase<"min", 3>, I32EnumAttrCase<"amax", 4>, I32EnumAttrCase<"amax_number", 5>]>;
def Eider_ReductionAttr : EnumAttr<Eider_Dialect, Eider_Reduction, "reduction">;

def Eider_Half : Eider_Enum<"Half", "which half of the last axis", [
    I32EnumAttrCase<"first", 0>, I32EnumAttrCase<"second", 1>]>;
def Eider_HalfAttr : EnumAttr<Eider_Dialect, Eider_Half, "half">;

def Eider_Neighbour : Eider_Enum<"Neighbour", "which of the powers of two next to a number", [
    I32EnumAttrCase<"below", 0>, I32EnumAttrCase<"above", 1>]>;
def Eider_NeighbourAttr : EnumAttr<Eider_Dialect, Eider_Neighbour, "neighbour">;

def Eider_Family : Eider_Enum<"Family", "the family of a schedule", [
    I32EnumAttrCase<"map", 0>, I32EnumAttrCase<"row", 1>, I32EnumAttrCase<"tile", 2>,
    I32EnumAttrCase<"contract", 3>, I32EnumAttrCase<"attention", 4>]>;

def Eider_CodecPath : Eider_Enum<"CodecPath", "who converts FP8", [
    I32EnumAttrCase<"hardware", 0>, I32EnumAttrCase<"software", 1>]>;
def Eider_CodecPathAttr : EnumAttr<Eider_Dialect, Eider_CodecPath, "codec">;

def Eider_ScaleFormula : Eider_Enum<"ScaleFormula", "the scale from amax", [
    I32EnumAttrCase<"amax_over_max", 0>, I32EnumAttrCase<"amax_times_inverse_max", 1>,
    I32EnumAttrCase<"inverse_of_max_over_amax", 2>]>;
def Eider_PowerOfTwo : Eider_Enum<"PowerOfTwo", "how a scale becomes a power of two", [
    I32EnumAttrCase<"none", 0>, I32EnumAttrCase<"floor", 1>, I32EnumAttrCase<"ceil", 2>,
    I32EnumAttrCase<"rceil", 3>, I32EnumAttrCase<"even", 4>]>;
def Eider_Arithmetic : Eider_Enum<"Arithmetic", "how a value meets its scale", [
    I32EnumAttrCase<"divide", 0>, I32EnumAttrCase<"reciprocal", 1>,
    I32EnumAttrCase<"max_over_amax", 2>]>;
def Eider_ZeroBlock : Eider_Enum<"ZeroBlock", "the scale of a block of zeros", [
    I32EnumAttrCase<"one", 0>, I32EnumAttrCase<"formula", 1>,
    I32EnumAttrCase<"one_if_not_finite", 2>]>;
def Eider_Overflow : Eider_Enum<"Overflow", "what becomes of a value beyond the format", [
    I32EnumAttrCase<"saturate", 0>, I32EnumAttrCase<"format", 1>]>;
def Eider_NaN : Eider_Enum<"NaN", "what becomes of a NaN", [
    I32EnumAttrCase<"propagate", 0>, I32EnumAttrCase<"ignore", 1>]>;
def Eider_Rounding : Eider_Enum<"Rounding", "which of the codes next to a value is its code", [
    I32EnumAttrCase<"nearest_even", 0>, I32EnumAttrCase<"stochastic", 1>]>;

//===-- Attributes ----------------------------------------------------------===//

class Eider_Attr<string name, string mnemonic_> : AttrDef<Eider_Dialect, name> {
  let mnemonic = mnemonic_;
}

def Eider_DimsAttr : Eider_Attr<"Dims", "dims"> {
  let summary = "The named dims of a tensor type";
  let description = [{
    `#eider.dims<tokens, 2 * hidden, hidden / 128, 1>`: each dim is `ceil(factor * name / divisor)`, or a constant. The
    encoding of every tensor type in a program.
  }];
  let parameters = (ins ArrayRefParameter<"DimExpr">:$exprs);
  let hasCustomAssemblyFormat = 1;
  let genVerifyDecl = 0;
}

def Eider_NumericsAttr : Eider_Attr<"Numerics", "numerics"> {
  let summary = "Everything that decides the bits of a quantisation";
  let description = [{
    The parameters of a quantisation beside block, format and scale type (which stand in the result's type). Printed
    where they differ from the default: `#eider.numerics<arithmetic = reciprocal, amax_floor = 1.0e-4>`.
    - `scale`: `amax_over_max` (amax / max, correctly rounded), `amax_times_inverse_max` (amax · (1/max)) or
      `inverse_of_max_over_amax` (1 / (max/amax));
    - `power_of_two`: the scale is one: of the formula's rounded up (`rceil`), or of amax rounded to one (`floor`, `ceil`;
      `even`: down, after rounding to the format's digits) and divided by the largest in the format. In e8m0's range;
    - `arithmetic`: `divide` (x / s), `reciprocal` (x · (1/s)), `max_over_amax` (x · (max/amax));
    - `amax_floor`, `amax_bound`: amax is clamped into them; `scale_floor`: the scale is at least that;
    - `multiplier_bound`: 1/s and max/amax are at most that (default: the largest finite f32);
    - `zero_block`: `one` (scale 1 where the scale is 0), `one_if_not_finite` (or amax Inf or NaN), or `formula`;
    - `overflow`: `saturate` or `format`; `nan`: `propagate` or `ignore`;
    - `rounding`: `nearest_even`, or `stochastic` (up with the probability that the value's place between two codes gives).
  }];
  let parameters = (ins
    EnumParameter<Eider_ScaleFormula>:$scale, EnumParameter<Eider_PowerOfTwo>:$powerOfTwo,
    EnumParameter<Eider_Arithmetic>:$arithmetic,
    "Bound":$amaxFloor, "Bound":$amaxBound, "Bound":$scaleFloor, "Bound":$multiplierBound,
    EnumParameter<Eider_ZeroBlock>:$zeroBlock, EnumParameter<Eider_Overflow>:$overflow,
    EnumParameter<Eider_NaN>:$nan, EnumParameter<Eider_Rounding>:$rounding);
  let hasCustomAssemblyFormat = 1;
  let extraClassDeclaration = [{
    /// The default numerics (facts: x / s, saturate, NaN propagates, zero blocks have scale 1).
    static NumericsAttr getDefault(::mlir::MLIRContext *context);
    /// These numerics with one parameter changed; null and a message when name or value is unknown.
    NumericsAttr with(::llvm::StringRef name, ::llvm::StringRef value, std::string &message) const;
  }];
}

def Eider_LayoutAttr : Eider_Attr<"Layout", "layout"> {
  let summary = "Where the scales of a tensor lie in memory";
  let description = "`#eider.layout<mn_major_aligned>`: a row of the table in ScaleLayouts.cpp.";
  let parameters = (ins "::eider::ScaleLayout":$value);
  let hasCustomAssemblyFormat = 1;
}

def Eider_ScheduleAttr : Eider_Attr<"Schedule", "schedule"> {
  let summary = "How a program is spread over threads: data, and all of it";
  let description = [{
    `row<threads = 448, vector = 16>`: a whole row to `threads` threads, `vector` neighbouring elements a thread and load. Of codes that `mma` multiplies by a vector
    `prefetch` of 2 to 8 are pairs of rows in shared memory, one of which is multiplied while others come, of `resident` blocks a multiprocessor that stay.
    `map<threads, vector, rows, loads>`: the same with `loads` chunks a thread, a row being cut into as many segments as it takes.
    `tile<threads, vector, rows, columns>`: blocks of rows × columns, the program's own where it reduces blocks; to transpose, powers of two
    that groups divide, vector at least 4, and a row's and a column's vectors each dividing threads.
    `contract<threads, vector, rows, columns, loads, split, prefetch>`: blocks of a product of matrices, whose warps multiply 16 rows of weights by
    `rows` of the other, `loads` steps of 64 along them at a time, `prefetch` (2 to 8) such stages on their way; `split` warps share a sum. With `warpgroups`, four warps multiply 64 rows of weights;
    a `cluster` of blocks has `rows` together, and each a part of the length, `split` clusters a part each, whose last adds up what all left.
    `attention<threads, split, blocks, prefetch>`: warps of a block have 16 tokens of a sequence at a time in turn, or (`split`) all together, `prefetch` such steps on their way;
    sequences are cut into parts so that all are about `blocks`. The other knobs are ScheduleKnobs'.
  }];
  let parameters = (ins EnumParameter<Eider_Family>:$family, "ScheduleKnobs":$knobs);
  let hasCustomAssemblyFormat = 1;
  let extraClassDeclaration = [{
    /// As a person writes it: `row<threads = 448, vector = 16>`.
    std::string str() const;
    /// Reads what `str` prints; null and a message otherwise.
    static ScheduleAttr parse(::mlir::MLIRContext *context, ::llvm::StringRef text, std::string &message);
  }];
}

//===-- Types ---------------------------------------------------------------===//

def Eider_ScaledType : TypeDef<Eider_Dialect, "Scaled"> {
  let mnemonic = "scaled";
  let summary = "Codes and scales together";
  let description = [{
    `!eider.scaled<?x7168xf8E4M3FN, dims = <tokens, hidden>, block = [1, 128], scale = f32, layout = row_major>`; `*` in
    `block` is the whole extent.
  }];
  let parameters = (ins ArrayRefParameter<"int64_t">:$shape, "::mlir::Type":$elementType,
                        "DimsAttr":$dims, ArrayRefParameter<"int64_t">:$block,
                        "::mlir::Type":$scaleType, "::eider::ScaleLayout":$layout);
  let hasCustomAssemblyFormat = 1;
  let genVerifyDecl = 1;
  let extraClassDeclaration = [{
    /// The codes as a plain tensor type.
    ::mlir::RankedTensorType getCodesType() const;
    /// The scales as a plain tensor type, whatever their layout: one value a block.
    ::mlir::RankedTensorType getScalesType() const;
    /// The second level of scales that have two, as a plain tensor type: one f32.
    ::mlir::RankedTensorType getGlobalType() const;
  }];
}

#endif // EIDER_BASE_TD
