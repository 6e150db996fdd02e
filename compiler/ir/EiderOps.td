//===- EiderOps.td - How a program is recorded ----------------------------===//
//
// Part of Eider, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//
#ifndef EIDER_OPS_TD
#define EIDER_OPS_TD

include "compiler/ir/EiderBase.td"
include "mlir/IR/BuiltinAttributes.td"
include "mlir/IR/BuiltinTypes.td"
include "mlir/IR/SymbolInterfaces.td"
include "mlir/Interfaces/SideEffectInterfaces.td"

class Eider_Op<string mnemonic, list<Trait> traits = []> : Op<Eider_Dialect, mnemonic, traits>;

/// A tensor with named dims, or one scaled.
def Eider_Float : Type<CPred<"::eider::ir::isValueType($_self)">, "f32, bf16 or f16">;
def Eider_Code : Type<CPred<"::eider::ir::isCodeType($_self)">, "FP8 or FP4 code">;
def Eider_Scale : Type<CPred<"::eider::ir::isScaleType($_self)">, "scale">;
def Eider_Integer : Type<CPred<"::eider::ir::isIndexType($_self)">, "i32 or i64">;
def Eider_Tensor : RankedTensorOf<[Eider_Float, Eider_Code, Eider_Scale, Eider_Integer]>;
def Eider_FloatTensor : RankedTensorOf<[Eider_Float]>;
def Eider_F32Tensor : RankedTensorOf<[F32]>;
def Eider_RandomTensor : RankedTensorOf<[I8, I16]>;
def Eider_CodeTensor : RankedTensorOf<[Eider_Code]>;
def Eider_CacheTensor : RankedTensorOf<[Eider_Code, BF16, F16]>;
def Eider_ScaleTensor : RankedTensorOf<[Eider_Scale]>;
def Eider_IndexTensor : RankedTensorOf<[I64]>;
def Eider_ValueTensor : RankedTensorOf<[Eider_Float, I64]>;
def Eider_ColumnTensor : RankedTensorOf<[Eider_Float, Eider_Integer]>;
def Eider_Scaled : Type<CPred<"::llvm::isa<::eider::ir::ScaledType>($_self)">, "scaled tensor">;
def Eider_Argument : AnyTypeOf<[Eider_Tensor, Eider_Scaled]>;

//===-- Program, arguments, results ---------------------------------------===//

def Eider_ProgramOp : Eider_Op<"program", [IsolatedFromAbove, SingleBlock, NoTerminator, Symbol]> {
  let summary = "A memory-bound op: arguments, values, results";
  let description = [{
    `eider.program @rms_norm(tokens, hidden = 7168) { ... }`: the dims are named, each dynamic or static.
    `schedule` is set by `eider-assign-schedule`. A program that was cut into several kernels is several
    program ops; all but the last are named for it with a suffix.
  }];
  let arguments = (ins SymbolNameAttr:$sym_name, StrArrayAttr:$dim_names,
                       DenseI64ArrayAttr:$dim_values,
                       OptionalAttr<Eider_ScheduleAttr>:$schedule);
  let regions = (region SizedRegion<1>:$body);
  let hasCustomAssemblyFormat = 1;
  let hasVerifier = 1;
  let skipDefaultBuilders = 1;
  let builders = [OpBuilder<(ins "::llvm::StringRef":$name, "::llvm::ArrayRef<::llvm::StringRef>":$dims)>];
  let extraClassDeclaration = [{
    ::mlir::Block &getBlock() { return getBody().front(); }
    /// The static extent of a dim, ShapedType::kDynamic for a dynamic or unknown one.
    int64_t getDimValue(::llvm::StringRef name);
    bool hasDim(::llvm::StringRef name);
  }];
}

def Eider_InputOp : Eider_Op<"input", [HasParent<"ProgramOp">]> {
  let summary = "A tensor that is read";
  let description = "`layout<mn_major_aligned>`: a matrix of scales that lies so; without, row by row.";
  let arguments = (ins StrAttr:$name, UnitAttr:$workspace, OptionalAttr<Eider_LayoutAttr>:$layout);
  let results = (outs Eider_Argument:$result);
  let assemblyFormat = [{
    $name (`workspace` $workspace^)? (`layout` `` $layout^)? attr-dict `:` type($result)
  }];
  let hasVerifier = 1;
}

def Eider_InOutOp : Eider_Op<"inout", [HasParent<"ProgramOp">]> {
  let summary = "A tensor that is read and written; the result is its old value";
  let description = "Its one `eider.store` follows every read of the old value by any thread or kernel.";
  let arguments = (ins StrAttr:$name);
  let results = (outs Eider_FloatTensor:$result);
  let assemblyFormat = "$name attr-dict `:` type($result)";
}

def Eider_ScalarOp : Eider_Op<"scalar", [HasParent<"ProgramOp">]> {
  let summary = "An f32 given at launch, with a default";
  let arguments = (ins StrAttr:$name, F32Attr:$value);
  let results = (outs F32:$result);
  let assemblyFormat = "$name `=` $value attr-dict";
}

def Eider_IntegerOp : Eider_Op<"integer", [HasParent<"ProgramOp">]> {
  let summary = "An i64 given at launch, with a default";
  let arguments = (ins StrAttr:$name, I64Attr:$value);
  let results = (outs I64:$result);
  let assemblyFormat = "$name `=` $value attr-dict";
}

def Eider_StoreOp : Eider_Op<"store", [HasParent<"ProgramOp">]> {
  let summary = "The new value of an in-out";
  let arguments = (ins StrAttr:$name, Eider_FloatTensor:$value);
  let assemblyFormat = "$name `,` $value attr-dict `:` type($value)";
  let hasVerifier = 1;
}

def Eider_OutputOp : Eider_Op<"output", [HasParent<"ProgramOp">]> {
  let summary = "A tensor that is written";
  let description = "`layout<mn_major_aligned>`: a matrix of scales that is written so, its padding as zeros.";
  let arguments = (ins StrAttr:$name, Eider_Argument:$value, UnitAttr:$workspace,
                       OptionalAttr<Eider_LayoutAttr>:$layout);
  let assemblyFormat = [{
    $name (`workspace` $workspace^)? (`layout` `` $layout^)? `,` $value attr-dict `:` type($value)
  }];
  let hasVerifier = 1;
}

//===-- Scaled tensors ----------------------------------------------------===//

def Eider_QuantizeOp : Eider_Op<"quantize", [Pure, AttrSizedOperandSegments]> {
  let summary = "Codes and scales of a tensor";
  let description = [{
    With `by %scale` the scales are given (`[ceil(m/r), ceil(n/c)]`, the result's scale type), else they come from each block's amax.
    Scales of two levels are multiplied with the one value `under %global`, which is always given. Stochastic rounding takes its
    bits from `random %bits`.
  }];
  let arguments = (ins Eider_F32Tensor:$input, Optional<Eider_ScaleTensor>:$scale,
                       Optional<Eider_F32Tensor>:$global, Optional<Eider_RandomTensor>:$random,
                       Eider_NumericsAttr:$numerics);
  let results = (outs Eider_Scaled:$result);
  let assemblyFormat = [{
    $input (`by` $scale^ `:` type($scale))? (`under` $global^ `:` type($global))? (`random` $random^ `:` type($random))?
    `numerics` `` $numerics attr-dict `:` type($input) `->` type($result)
  }];
  let hasVerifier = 1;
}

def Eider_DequantizeOp : Eider_Op<"dequantize", [Pure]> {
  let summary = "code × scale, in f32";
  let arguments = (ins Eider_Scaled:$input);
  let results = (outs Eider_F32Tensor:$result);
  let assemblyFormat = "$input attr-dict `:` type($input) `->` type($result)";
  let hasVerifier = 1;
}

def Eider_CodesOp : Eider_Op<"codes", [Pure]> {
  let summary = "The codes of a scaled tensor";
  let arguments = (ins Eider_Scaled:$input);
  let results = (outs Eider_CodeTensor:$result);
  let assemblyFormat = "$input attr-dict `:` type($input) `->` type($result)";
}

def Eider_ScalesOp : Eider_Op<"scales", [Pure]> {
  let summary = "The scales of a scaled tensor, one value a block";
  let arguments = (ins Eider_Scaled:$input);
  let results = (outs Eider_ScaleTensor:$result);
  let assemblyFormat = "$input attr-dict `:` type($input) `->` type($result)";
}

def Eider_EncodeOp : Eider_Op<"encode", [Pure, AttrSizedOperandSegments]> {
  let summary = "Codes of values, nearest even, or stochastic";
  let description = [{
    `by %divisor`: the codes of the correctly rounded f32 quotient. The operand is f32, or bf16/f16 (exactly widened).
    `bounded`: the divisor is at least amax / maximum of its block, NaN and Inf included, so that no quotient needs a clamp.
    `within %largest`: the largest magnitude of each element's block, of the operand's, not finite if one is NaN; by a divisor NaN then, as that is. With it `bounded` is what holds of most blocks, and it tells of which.
    `random %bits`: a value (or quotient) between two codes, whose place is p of their distance, goes up where p · 2^n + bits + 1/2 is at least 2^n.
    There are n = 16 bits an element, for codes of four bits 8.
    `codec` is set by `eider-legalize`.
  }];
  let arguments = (ins Eider_FloatTensor:$input, Optional<Eider_F32Tensor>:$divisor,
                       Optional<Eider_F32Tensor>:$largest, Optional<Eider_RandomTensor>:$random, UnitAttr:$overflow_to_format, UnitAttr:$ignore_nan,
                       UnitAttr:$bounded, OptionalAttr<Eider_CodecPathAttr>:$codec);
  let results = (outs Eider_CodeTensor:$result);
  let assemblyFormat = [{
    $input (`by` $divisor^ `:` type($divisor))? (`within` $largest^ `:` type($largest))? (`random` $random^ `:` type($random))? attr-dict `:` type($input) `->` type($result)
  }];
  let hasVerifier = 1;
  let hasCanonicalizeMethod = 1;
}

def Eider_DecodeOp : Eider_Op<"decode", [Pure]> {
  let summary = "The f32 values of codes, exact, NaN and Inf kept";
  let arguments = (ins Eider_CodeTensor:$input, OptionalAttr<Eider_CodecPathAttr>:$codec);
  let results = (outs Eider_F32Tensor:$result);
  let assemblyFormat = "$input attr-dict `:` type($input) `->` type($result)";
  let hasVerifier = 1;
}

//===-- Values ------------------------------------------------------------===//

def Eider_ReduceOp : Eider_Op<"reduce", [Pure]> {
  let summary = "One value a block of the tensor";
  let description = [{
    `eider.reduce amax %x over [1, 128]`: `*` is the whole extent, so `over [1, *]` reduces along the row. Dims are kept, as
    1 or as a ceiling quotient. In f32; `amax` takes bf16 and f16 too.
  }];
  let arguments = (ins Eider_ReductionAttr:$kind, Eider_FloatTensor:$input,
                       DenseI64ArrayAttr:$block);
  let results = (outs Eider_F32Tensor:$result);
  let assemblyFormat = "`` $kind $input `over` custom<BlockExtents>($block) attr-dict `:` type($input) `->` type($result)";
  let hasVerifier = 1;
  let hasCanonicalizeMethod = 1;
}

def Eider_BroadcastOp : Eider_Op<"broadcast", [Pure]> {
  let summary = "A scalar, a vector or one value a block, over a tensor";
  let description = [{
    Dims align at the end. A dim of the operand is the result's, 1, absent, or a ceiling quotient of the result's
    (then each value covers that many neighbours).
  }];
  let arguments = (ins AnyTypeOf<[F32, I64, Eider_ValueTensor]>:$input);
  let results = (outs Eider_ValueTensor:$result);
  let assemblyFormat = "$input attr-dict `:` type($input) `to` type($result)";
  let hasVerifier = 1;
  let hasFolder = 1;
}

def Eider_ContractOp : Eider_Op<"contract", [Pure, AttrSizedOperandSegments]> {
  let summary = "A matrix of weights times a vector, or times each row of a matrix";
  let description = [{
    Σ over k of weights[n, k] · vector[k], in f32, no product rounded. Weights that are scaled, or values `by %scales`, one a block:
    those of a block in a row are added up before they are scaled.
    Of a matrix [m, k] that is read from memory, so is each row: [m, n]. The weights are scaled there, or codes `by` their scales, which
    `codec` converts (set by `eider-legalize`); so may the matrix be.
    `groups %ends`: weights are [g, n, k], and rows of the matrix from ends[e - 1] (0 of the first) to ends[e] meet those of e; rows after
    the last end meet none and are zeros. An end before the one before it is that one, one beyond the rows their number. Without ends each
    of g groups has ceil(m / g) rows, but for what the last lack.
  }];
  let arguments = (ins AnyTypeOf<[Eider_Scaled, Eider_F32Tensor, Eider_CodeTensor]>:$weights,
                       Optional<AnyTypeOf<[Eider_F32Tensor, Eider_ScaleTensor]>>:$scales,
                       AnyTypeOf<[Eider_FloatTensor, Eider_Scaled, Eider_CodeTensor]>:$vector, Optional<Eider_ScaleTensor>:$vector_scales,
                       Optional<RankedTensorOf<[Eider_Integer]>>:$ends,
                       OptionalAttr<Eider_CodecPathAttr>:$codec);
  let extraClassDeclaration = [{
    /// The matrices' types: of codes where they are scaled.
    ::mlir::RankedTensorType weightsType() { return matrixOf(getWeights().getType()); }
    ::mlir::RankedTensorType vectorType() { return matrixOf(getVector().getType()); }
    /// Whether the vector is a matrix, of one a row.
    bool isOfMatrices() { return vectorType().getRank() == 2; }
    /// Whether groups of its rows meet weights of their own.
    bool isOfGroups() { return weightsType().getRank() == 3; }
    static ::mlir::RankedTensorType matrixOf(::mlir::Type type);
    /// Elements along a row with a scale together; none: all of it.
    std::optional<int64_t> weightsBlock() { return blockOf(getWeights(), getScales()); }
    std::optional<int64_t> vectorBlock() { return blockOf(getVector(), getVectorScales()); }
    static std::optional<int64_t> blockOf(::mlir::Value matrix, ::mlir::Value scales);
    /// Whether some kernel multiplies them as codes, which keeps fewer bits than exact products; and whether this one's does.
    bool mayMeetAsCodes();
    bool meetAsCodes() { return mayMeetAsCodes() && getCodec() == CodecPath::hardware; }
    /// Whether some kernel makes f16 of the matrix's rows of bf16 before, each in a unit of its own, which loses bits of a row's smallest elements.
    bool mayMeetAsF16();
    /// Whether tensor cores can multiply the vector of bf16 or f16 that is read from memory, and codes that are. None where not, else its type.
    ::mlir::Type mayMeetAsPairs();
    /// Whether such pairs, of codes of four bits that meet bf16, meet their blocks' narrow scales before, of targets that have products of bf16.
    bool foldsScales();
  }];
  let results = (outs Eider_F32Tensor:$result);
  let assemblyFormat = [{
    $weights (`by` $scales^ `:` type($scales))? `,` $vector (`by` $vector_scales^ `:` type($vector_scales))?
    (`groups` $ends^ `:` type($ends))? attr-dict `:` type($weights) `,` type($vector) `->` type($result)
  }];
  let hasVerifier = 1;
}

def Eider_YieldOp : Eider_Op<"yield", [Pure, Terminator]> {
  let summary = "What a score function gives";
  let arguments = (ins F32:$score);
  let assemblyFormat = "$score attr-dict";
}

def Eider_AttentionOp : Eider_Op<"attention", [Pure, IsolatedFromAbove, AttrSizedOperandSegments]> {
  let summary = "Queries meet the keys of a cache, and what they weigh of its values";
  let description = [{
    Of each sequence's queries [b, h, d]: Σ softmax(q · k / √d) · v over the first `lengths` tokens, in f32, or the last `window` of these; zeros where there is none.
    Values that are the keys, with their scales, are the first columns of these, as many as the result has (latents, of which a row is read once).
    Keys and values are codes [pages, page, kv_heads, d] `by` scales [s], [pages, s], [pages, page, s] or [pages, page, s, blocks], s being 1 or kv_heads, of
    blocks of d / blocks elements; or they are bf16 or f16, and codes may be, without scales. Token i lies in place i mod page of page
    `pages[sequence, i / page]`; without `pages` there is one of each sequence, in their order. Query head a meets KV head a / (h / kv_heads). `codec` is set by `eider-legalize`.
    `captures(%slopes, %cap) ... score { ^bb0(%score: f32, %query: f32, %key: f32, %head: f32, %slope: f32, %cap: f32): ... }`: softmax takes what
    the function yields of q · k / √d, the positions of query (the last token's) and key, the query's head, and what it captures: of an f32 [h] the
    head's value, and scalars. It is elementwise, in f32; a key of -Inf has no weight, and a head of no key zeros.
  }];
  let arguments = (ins Eider_FloatTensor:$queries, Eider_CacheTensor:$keys, Optional<Eider_F32Tensor>:$key_scale,
                       Eider_CacheTensor:$values, Optional<Eider_F32Tensor>:$value_scale,
                       Optional<RankedTensorOf<[Eider_Integer]>>:$pages, RankedTensorOf<[Eider_Integer]>:$lengths,
                       Variadic<AnyTypeOf<[F32, Eider_F32Tensor]>>:$captured,
                       DefaultValuedAttr<I64Attr, "0">:$window, OptionalAttr<Eider_CodecPathAttr>:$codec);
  let regions = (region MaxSizedRegion<1>:$score);
  let results = (outs Eider_F32Tensor:$result);
  let assemblyFormat = [{
    $queries `,` $keys (`by` $key_scale^)? `,` $values (`by` $value_scale^)? (`pages` $pages^)? `lengths` $lengths (`captures` `(` $captured^ `)`)? attr-dict `:`
    functional-type(operands, results) (`score` $score^)?
  }];
  let extraClassDeclaration = [{
    /// What bounds a sequence: the pages of its row of the table; where there is none its tokens.
    DimExpr mostOfEach();
    /// Whether keys and values are codes, not bf16 or f16.
    bool isOfCodes();
    /// Whether the values are columns of the keys.
    bool isOfLatents();
  }];
  let hasVerifier = 1;
}

def Eider_PrefillOp : Eider_Op<"prefill", [Pure, IsolatedFromAbove, AttrSizedOperandSegments]> {
  let summary = "Queries of a sequence meet its keys, and what they weigh of its values";
  let description = [{
    Of queries [s, h, d], keys [s, kv_heads, d] and values [s, kv_heads, e], codes (queries may be bf16 or f16): Σ softmax(q · k / √d) · v over all tokens, in f32 [s, h, e], or over those up to the query's own
    (`causal`). Values that are the keys (one SSA value) are the first e columns of them, read once. `scales`, of queries that are codes, keys and values: none, or f32, one in all or one a KV head each. Query head a meets KV head a / (h / kv_heads).
    `starts` [sequences + 1]: of several sequences, one after the other, that meet none but their own tokens: the first token of each, and at last s.
    `codec` is set by `eider-legalize`. `score` as eider.attention has it; the position of a query is its token's, in its sequence.
  }];
  let arguments = (ins Eider_CacheTensor:$queries, Eider_CodeTensor:$keys, Eider_CodeTensor:$values, Variadic<Eider_F32Tensor>:$scales,
                       Optional<RankedTensorOf<[Eider_Integer]>>:$starts, Variadic<AnyTypeOf<[F32, Eider_F32Tensor]>>:$captured, UnitAttr:$causal, OptionalAttr<Eider_CodecPathAttr>:$codec);
  let regions = (region MaxSizedRegion<1>:$score);
  let results = (outs Eider_F32Tensor:$result);
  let assemblyFormat = [{
    (`causal` $causal^)? $queries `,` $keys `,` $values (`by` $scales^)? (`starts` $starts^)? (`captures` `(` $captured^ `)`)? attr-dict `:`
    functional-type(operands, results) (`score` $score^)?
  }];
  let extraClassDeclaration = [{
    /// How many scales there are, if any: of queries that are codes, of keys, and of values.
    unsigned mostScales();
    /// Whether some kernel multiplies queries and keys as codes, which keeps fewer bits than f16 does.
    bool mayMeetAsCodes();
    /// Whether the values are columns of the keys.
    bool isOfLatents();
  }];
  let hasVerifier = 1;
}

def Eider_HalfOp : Eider_Op<"half", [Pure]> {
  let summary = "The first or second half of the last axis";
  let arguments = (ins Eider_HalfAttr:$which, Eider_FloatTensor:$input);
  let results = (outs Eider_FloatTensor:$result);
  let assemblyFormat = "`` $which $input attr-dict `:` type($input) `->` type($result)";
  let hasVerifier = 1;
}

def Eider_TransposeOp : Eider_Op<"transpose", [Pure]> {
  let summary = "A matrix with rows and columns exchanged";
  let arguments = (ins Eider_Tensor:$input);
  let results = (outs Eider_Tensor:$result);
  let assemblyFormat = "$input attr-dict `:` type($input) `->` type($result)";
  let builders = [OpBuilder<(ins "::mlir::Value":$input)>];
  let hasVerifier = 1;
  let hasFolder = 1;
}

class Eider_FunctionOp<string name, string what> : Eider_Op<name, [Pure, AllTypesMatch<["input", "result"]>]> {
  let summary = what # ", approximate";
  let arguments = (ins AnyTypeOf<[F32, Eider_F32Tensor]>:$input);
  let results = (outs AnyTypeOf<[F32, Eider_F32Tensor]>:$result);
  let assemblyFormat = "$input attr-dict `:` type($input)";
}
def Eider_SigmoidOp : Eider_FunctionOp<"sigmoid", "1 / (1 + exp(-x))">;
def Eider_GeluOp : Eider_FunctionOp<"gelu", "x / 2 · (1 + erf(x / √2))">;

def Eider_PowerOfTwoOp : Eider_Op<"power_of_two", [Pure, AllTypesMatch<["input", "result"]>]> {
  let summary = "A number that is not negative, rounded down or up to a power of two";
  let description = "To one of 2^-127 … 2^127, which is what an e8m0 can be: 0 gives the least, Inf the largest. NaN stays NaN.";
  let arguments = (ins Eider_NeighbourAttr:$which, Eider_F32Tensor:$input);
  let results = (outs Eider_F32Tensor:$result);
  let assemblyFormat = "`` $which $input attr-dict `:` type($input)";
}

def Eider_RandomOp : Eider_Op<"random", [Pure]> {
  let summary = "8 or 16 random bits an element";
  let description = [{
    A function of seed, offset and the element's number in row-major order alone. Its own byte is byte number % 16 of Philox4x32-7 of (number / 16, offset)
    by the seed. Of 16 bits that is the upper half; the lower is the byte of the next of the four elements that share a word, after the last the first.
  }];
  let arguments = (ins I64:$seed, I64:$offset);
  let results = (outs Eider_RandomTensor:$result);
  let assemblyFormat = "$seed `,` $offset attr-dict `:` type($result)";
}

//===-- Positions, and rows chosen by an index ------------------------------===//

def Eider_PositionOp : Eider_Op<"position", [Pure]> {
  let summary = "Where each element is along an axis: 0, 1, 2, …";
  let description = "Exact integers. The result has the extent of that axis there and 1 along the others.";
  let arguments = (ins I64Attr:$axis);
  let results = (outs Eider_IndexTensor:$result);
  let assemblyFormat = "$axis attr-dict `:` type($result)";
  let hasVerifier = 1;
}

def Eider_ExtentOp : Eider_Op<"extent", [Pure, HasParent<"ProgramOp">]> {
  let summary = "The extent of a dim";
  let arguments = (ins Eider_DimsAttr:$dim);
  let results = (outs I64:$result);
  let assemblyFormat = "`` $dim attr-dict";
  let hasVerifier = 1;
}

def Eider_GatherOp : Eider_Op<"gather", [Pure]> {
  let summary = "Rows of a table, chosen by an index";
  let description = [{
    Row i of the result is the table's row `index[i]`; zeros where that is not one of its rows. With `rows`, each row of the table
    stands for so many: it is row `index[i] / rows`. With `of`, its one row stands for all of so many rows (eider-decompose).
  }];
  let arguments = (ins Eider_Tensor:$table, Eider_IndexTensor:$index,
                       DefaultValuedAttr<I64Attr, "1">:$rows, OptionalAttr<Eider_DimsAttr>:$of);
  let results = (outs Eider_Tensor:$result);
  let assemblyFormat = [{
    $table `by` $index (`rows` `=` $rows^)? (`of` $of^)? attr-dict `:` type($table) `,` type($index) `->` type($result)
  }];
  let hasVerifier = 1;
  let extraClassDeclaration = [{
    /// What the index counts: rows of the table, or of what its rows stand for.
    DimExpr rowsOfTable();
  }];
}

def Eider_ColumnOp : Eider_Op<"column", [Pure]> {
  let summary = "One column of a matrix of few";
  let arguments = (ins Eider_ColumnTensor:$input, I64Attr:$column);
  let results = (outs Eider_ColumnTensor:$result);
  let assemblyFormat = "$input `at` $column attr-dict `:` type($input) `->` type($result)";
  let hasVerifier = 1;
}

def Eider_RepeatOp : Eider_Op<"repeat", [Pure]> {
  let summary = "Short rows, repeated along longer ones";
  let description = "Column j of the result is column (j / each) mod n of the operand, which has n.";
  let arguments = (ins Eider_FloatTensor:$input, DefaultValuedAttr<I64Attr, "1">:$each);
  let results = (outs Eider_FloatTensor:$result);
  let assemblyFormat = "$input (`each` $each^)? attr-dict `:` type($input) `->` type($result)";
  let hasVerifier = 1;
}

def Eider_RotateOp : Eider_Op<"rotate", [Pure, AllTypesMatch<["input", "result"]>]> {
  let summary = "A quarter turn of pairs: of each `over` neighbours in a row, halves (a, b) become (−b, a)";
  let arguments = (ins Eider_F32Tensor:$input, I64Attr:$over);
  let results = (outs Eider_F32Tensor:$result);
  let assemblyFormat = "$input `over` $over attr-dict `:` type($input)";
  let hasVerifier = 1;
}

def Eider_ScatterOp : Eider_Op<"scatter", [HasParent<"ProgramOp">]> {
  let summary = "A tensor of which the rows that an index chooses are written";
  let description = [{
    Row i of the value becomes row `index[i]` of the tensor `name`, of type `into`; nothing where that is not one of its rows. The
    others keep what they hold. No two rows may go to one place.
  }];
  let arguments = (ins StrAttr:$name, Eider_Argument:$value, Eider_IndexTensor:$index, TypeAttr:$into);
  let assemblyFormat = "$name `,` $value `by` $index attr-dict `:` type($value) `,` type($index) `into` $into";
  let hasVerifier = 1;
}

#endif // EIDER_OPS_TD
