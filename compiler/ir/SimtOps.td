//===- SimtOps.td - How it is computed: one thread's program over tiles ---===//
//
// Part of Eider, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//
#ifndef EIDER_SIMT_OPS_TD
#define EIDER_SIMT_OPS_TD

include "compiler/ir/EiderBase.td"
include "mlir/IR/BuiltinAttributes.td"
include "mlir/IR/BuiltinTypes.td"
include "mlir/IR/SymbolInterfaces.td"
include "mlir/Interfaces/SideEffectInterfaces.td"

def Simt_Dialect : Dialect {
  let name = "simt";
  let cppNamespace = "::eider::simt";
  let summary = "One thread's program over tiles.";
  let description = [{
    A fragment (what a thread holds of a tile) is a builtin vector, so elementwise work is `arith` and `math`. Predication, shuffles,
    shared memory and barriers live in the template that a tile names. One op prints one call.
  }];
  let useDefaultAttributePrinterParser = 1;
  let useDefaultTypePrinterParser = 1;
  let dependentDialects = ["::eider::ir::EiderDialect"];
}

class Simt_Enum<string name, string summary, list<I32EnumAttrCase> cases>
    : I32EnumAttr<name, summary, cases> {
  let cppNamespace = "::eider::simt";
  let genSpecializedAttr = 0;
}

def Simt_TileKind : Simt_Enum<"TileKind", "which template", [
    I32EnumAttrCase<"row", 0>, I32EnumAttrCase<"block", 1>, I32EnumAttrCase<"transposed", 2>,
    I32EnumAttrCase<"rows", 3>]>;

def Simt_Access : Simt_Enum<"Access", "what of memory lies under a tile", [
    I32EnumAttrCase<"elements", 0>, I32EnumAttrCase<"columns", 1>, I32EnumAttrCase<"groups", 2>,
    I32EnumAttrCase<"rows", 3>, I32EnumAttrCase<"block", 4>, I32EnumAttrCase<"uniform", 5>,
    I32EnumAttrCase<"repeated", 6>]>;
def Simt_AccessAttr : EnumAttr<Simt_Dialect, Simt_Access, "access">;

def Simt_TileAttr : AttrDef<Simt_Dialect, "Tile"> {
  let mnemonic = "tile";
  let summary = "How the threads of a block cover a part of a matrix";
  let description = [{
    `row`: `threads` a row, `rows` rows a block, `loads` chunks of `vector` elements a thread, of a matrix `width` columns wide; with
    `cluster`, `threads` in each of so many blocks have a row together. So many `lanes` have neighbouring chunks, all loads of them in
    one part of the row (0: all threads of the row, a load after the other).
    `block`: `threads` a block of `rows` × `columns`; `loads` follows. A thread's chunks come in runs of `run` neighbouring rows, which
    go into the same words of a column when the block is transposed (of at most 16 rows a square of `vector` of both is its thread's there, too); the matrix has a `multiple` of so many rows. The blocks of a `cluster`
    lie below each other; so many `parts` have each tile, of whose sums each has some of the products. Of `row_groups` the matrix has rows in so many groups, and no block has rows of two (0: any).
    `transposed`: what a block so described holds of the transposed matrix.
    `rows`: `threads` threads have `rows` rows together, each the same columns of all of them: `loads` chunks, a row's before the next.
  }];
  let parameters = (ins EnumParameter<Simt_TileKind>:$kind, "int64_t":$threads, "int64_t":$vector,
                        "int64_t":$rows, "int64_t":$columns, "int64_t":$loads, "int64_t":$width,
                        DefaultValuedParameter<"int64_t", "1">:$cluster,
                        DefaultValuedParameter<"int64_t", "1">:$run,
                        DefaultValuedParameter<"int64_t", "1">:$multiple,
                        DefaultValuedParameter<"int64_t", "0">:$row_groups,
                        DefaultValuedParameter<"int64_t", "0">:$lanes,
                        DefaultValuedParameter<"int64_t", "1">:$parts);
  let assemblyFormat = [{
    `<` $kind `,` `threads` `=` $threads `,` `vector` `=` $vector `,` `rows` `=` $rows `,`
    `columns` `=` $columns `,` `loads` `=` $loads `,` `width` `=` $width
    (`,` struct($cluster, $run, $multiple, $row_groups, $lanes, $parts)^)? `>`
  }];
  let genVerifyDecl = 1;
  let extraClassDeclaration = [{
    /// Elements a thread holds.
    int64_t elements() const { return getLoads() * getVector(); }
    /// Columns a thread has elements of; as many values it holds of a column vector.
    int64_t columnsHeld() const { return getKind() == TileKind::rows ? elements() / getRows() : elements(); }
    /// Values a thread holds of one a row; 0: its only row's, a scalar.
    int64_t rowsHeld() const {
      return getKind() == TileKind::row ? 0 : getKind() == TileKind::rows ? getRows() : getLoads();
    }
    /// Whether it lies along rows, and is no two-dimensional block.
    bool spansRows() const { return getKind() == TileKind::row || getKind() == TileKind::rows; }
    /// Whether no thread holds what is past the end of a row.
    bool coversRows() const { return getWidth() % (getThreads() * getVector() * getCluster()) == 0; }
    /// Values a thread holds of 1×group neighbours.
    int64_t groups(int64_t group) const {
      const int64_t neighbours = getLanes() * getVector();
      return getLoads() * (getVector() > group ? getVector() / group : 1) /
             (neighbours && group > neighbours ? group / neighbours : 1);
    }
    /// Threads of a CUDA block.
    int64_t blockThreads() const {
      return getKind() == TileKind::row ? getThreads() * getRows() : getThreads();
    }
    /// Rows of the blocks of a cluster, which have one row, or blocks that lie below each other.
    int64_t rowsOfCluster() const { return getRows() * (getKind() == TileKind::block ? getCluster() : 1); }
    /// Tiles side by side that a row of the matrix needs.
    int64_t segments() const { return (getWidth() + getColumns() - 1) / getColumns(); }
    /// The same in a kernel whose matrix has a multiple of so many rows.
    TileAttr withMultiple(int64_t multiple) const {
      return get(getContext(), getKind(), getThreads(), getVector(), getRows(), getColumns(),
                 getLoads(), getWidth(), getCluster(), getRun(), multiple, getRowGroups(), getLanes(),
                 getParts());
    }
    /// What a block holds of the transposed matrix.
    TileAttr transposed() const {
      return get(getContext(), TileKind::transposed, getThreads(), getVector(), getRows(),
                 getColumns(), getLoads(), getWidth(), getCluster(), getRun(), getMultiple(), getRowGroups(),
                 getLanes(), getParts());
    }
  }];
}

def Simt_CursorType : TypeDef<Simt_Dialect, "Cursor"> {
  let mnemonic = "cursor";
  let summary = "A tile at a position";
  let parameters = (ins "TileAttr":$tile);
  let assemblyFormat = "`<` $tile `>`";
}

def Simt_PointerType : TypeDef<Simt_Dialect, "Pointer"> {
  let mnemonic = "pointer";
  let summary = "Device memory of elements";
  let parameters = (ins "::mlir::Type":$elementType);
  let assemblyFormat = "`<` $elementType `>`";
}

def Simt_PartialType : TypeDef<Simt_Dialect, "Partial"> {
  let mnemonic = "partial";
  let summary = "What a thread has seen of a reduction over the whole matrix";
}

def Simt_GridType : TypeDef<Simt_Dialect, "Grid"> {
  let mnemonic = "grid";
  let summary = "Where all blocks of a cooperative grid meet";
}

def Simt_TurningType : TypeDef<Simt_Dialect, "Turning"> {
  let mnemonic = "turning";
  let summary = "A block on its way through shared memory to its transpose";
}

def Simt_BulkStoresType : TypeDef<Simt_Dialect, "BulkStores"> {
  let mnemonic = "bulk_stores";
  let summary = "A thread's stores in bulk, on their way";
}

def Simt_RowsAheadType : TypeDef<Simt_Dialect, "RowsAhead"> {
  let mnemonic = "rows_ahead";
  let summary = "Rows of codes on their way to the tiles of a CUDA block";
}

def Simt_LayoutType : TypeDef<Simt_Dialect, "Layout"> {
  let mnemonic = "layout";
  let summary = "Where the scales of a matrix lie";
}

class Simt_Op<string mnemonic, list<Trait> traits = []> : Op<Simt_Dialect, mnemonic, traits>;

def Simt_KernelOp : Simt_Op<"kernel", [IsolatedFromAbove, SingleBlock, NoTerminator, Symbol]> {
  let hasVerifier = 1;
  let summary = "A CUDA kernel";
  let description = [{
    `parameters` names the region's arguments; `launch` is how the contract describes them and the grid (kernel-contract.md).
    `resident` blocks should fit a multiprocessor (0: any); `cluster` neighbouring blocks work together; all blocks of a
    `cooperative` kernel run at once, `resident` a multiprocessor; of one that `stays` the launch has no more than these, which take all tiles in turn. `header` are the comment lines of the text; `alignments` what the variant asks of each tensor's row starts, in bytes,
    `multiples` of what a dim must be a multiple. `shared`: bytes that the launch gives, where a block has more than 48 KiB.
  }];
  let arguments = (ins SymbolNameAttr:$sym_name, StrArrayAttr:$parameters, I64Attr:$threads,
                       DefaultValuedAttr<I64Attr, "0">:$resident,
                       DefaultValuedAttr<I64Attr, "1">:$cluster, UnitAttr:$cooperative, UnitAttr:$stays, StrAttr:$grid, StrArrayAttr:$arguments,
                       DictionaryAttr:$alignments, OptionalAttr<DictionaryAttr>:$multiples, StrArrayAttr:$header,
                       DefaultValuedAttr<I64Attr, "0">:$shared);
  let regions = (region SizedRegion<1>:$body);
  let assemblyFormat = [{
    $sym_name $parameters `threads` `=` $threads (`resident` `=` $resident^)? (`cluster` `=` $cluster^)? (`cooperative` $cooperative^)? (`stays` $stays^)? `grid` `=` $grid `arguments` `=` $arguments
    `alignments` `=` $alignments (`multiples` `=` $multiples^)? `header` `=` $header (`shared` `=` $shared^)? $body attr-dict
  }];
  let extraClassDeclaration = [{ ::mlir::Block &getBlock() { return getBody().front(); } }];
}

def Simt_AllowNextOp : Simt_Op<"allow_next"> {
  let summary = "Lets the launch after this one begin, if it waits for this one's end where it reads what this one leaves";
  let assemblyFormat = "attr-dict";
}

def Simt_ForTilesOp : Simt_Op<"for_tiles", [SingleBlock, NoTerminator, AttrSizedOperandSegments]> {
  let hasVerifier = 1;
  let summary = "For each tile of this CUDA block";
  let description = [{
    The region's arguments are the tile at its position and the carried values: `initial` for the first tile, then what `simt.carry`, the
    last op, was given at the tile before. Of `only`, there are as many blocks as tiles, and each has one. `by_columns`: tiles below
    each other, of all rows, then those beside them; of two-dimensional blocks where the launch knows that it pays. `groups %ends`:
    rows in the groups of the tile, which end there; without, these are of as many rows each.
  }];
  let arguments = (ins I64:$rows, Optional<Simt_PointerType>:$ends, UnitAttr:$only, UnitAttr:$by_columns,
                       Variadic<AnyVectorOfNonZeroRank>:$initial);
  let regions = (region SizedRegion<1>:$body);
  let assemblyFormat = "(`only` $only^)? (`by_columns` $by_columns^)? $rows (`groups` $ends^ `:` type($ends))? (`carrying` $initial^ `:` type($initial))? $body attr-dict";
  let extraClassDeclaration = [{
    ::mlir::Block &getBlock() { return getBody().front(); }
    TileAttr getTile() {
      return ::llvm::cast<CursorType>(getBlock().getArgument(0).getType()).getTile();
    }
  }];
}

def Simt_CarryOp : Simt_Op<"carry", [HasParent<"ForTilesOp">]> {
  let summary = "The carried values of the tile after this one";
  let arguments = (ins Variadic<AnyVectorOfNonZeroRank>:$values);
  let assemblyFormat = "$values attr-dict `:` type($values)";
}

def Simt_FirstTileOp : Simt_Op<"first_tile", [Pure]> {
  let summary = "The first tile of this CUDA block";
  let arguments = (ins I64:$rows);
  let results = (outs Simt_CursorType:$result);
  let assemblyFormat = "$rows attr-dict `:` type($result)";
}

def Simt_NextTileOp : Simt_Op<"next_tile", [Pure, AllTypesMatch<["at", "result"]>]> {
  let summary = "The tile that its CUDA block takes after one; loads ahead happen where there is one";
  let arguments = (ins Simt_CursorType:$at);
  let results = (outs Simt_CursorType:$result);
  let assemblyFormat = "$at attr-dict `:` type($at)";
}

def Simt_AtRowOp : Simt_Op<"at_row", [Pure, AllTypesMatch<["at", "result"]>]> {
  let summary = "The tile's columns in another row, of a matrix of `rows`; outside where it has no such row";
  let arguments = (ins Simt_CursorType:$at, I64:$index, I64:$rows);
  let results = (outs Simt_CursorType:$result);
  let assemblyFormat = "$at `,` $index `of` $rows attr-dict `:` type($at)";
  let hasVerifier = 1;
}

def Simt_SeenOp : Simt_Op<"seen", [Pure, AllTypesMatch<["at", "result"]>, AttrSizedOperandSegments]> {
  let summary = "The tile without the chunks of its row that end before column `from`, or begin after column `to`";
  let arguments = (ins Simt_CursorType:$at, Optional<I64>:$first, Optional<I64>:$last);
  let results = (outs Simt_CursorType:$result);
  let assemblyFormat = "$at (`from` $first^)? (`to` $last^)? attr-dict `:` type($at)";
  let hasVerifier = 1;
  let extraClassDeclaration = [{
    /// The tile itself, of one of which a part is not seen.
    static ::mlir::Value wholeOf(::mlir::Value at) {
      auto seen = at.getDefiningOp<SeenOp>();
      return seen ? seen.getAt() : at;
    }
  }];
}

def Simt_PositionOp : Simt_Op<"position", [Pure]> {
  let summary = "The row, or the columns, of what a thread holds of a tile";
  let arguments = (ins Simt_AccessAttr:$access, Simt_CursorType:$at);
  let results = (outs AnyTypeOf<[I64, VectorOfNonZeroRankOf<[I64]>]>:$result);
  let assemblyFormat = "`` $access `at` $at attr-dict `:` type($at) `->` type($result)";
  let hasVerifier = 1;
}

def Simt_RotateOp : Simt_Op<"rotate", [Pure, AllTypesMatch<["input", "result"]>]> {
  let summary = "Of each `over` neighbours in a row, halves (a, b) become (−b, a)";
  let description = "Collective where the halves are in several threads.";
  let arguments = (ins AnyVectorOfNonZeroRank:$input, I64Attr:$over, Simt_CursorType:$at);
  let results = (outs AnyVectorOfNonZeroRank:$result);
  let assemblyFormat = "$input `over` $over `at` $at attr-dict `:` type($input) `,` type($at)";
}

def Simt_OffsetOp : Simt_Op<"offset", [Pure, AllTypesMatch<["base", "result"]>]> {
  let summary = "A pointer some elements further";
  let arguments = (ins Simt_PointerType:$base, I64Attr:$elements);
  let results = (outs Simt_PointerType:$result);
  let assemblyFormat = "$base `,` $elements attr-dict `:` type($base)";
}

def Simt_ScaleLayoutOp : Simt_Op<"scale_layout", [Pure, AttrSizedOperandSegments]> {
  let summary = "The layout of a matrix of scales";
  let description = [{
    Of `columns` columns of scales (0: `columns_at_launch`), one for each `block_rows` of the matrix's `rows`; `pitch` between the rows of
    its memory, where these are not dense. `every_row` of the matrix has the one row of scales.
  }];
  let arguments = (ins Eider_LayoutAttr:$layout, I64Attr:$columns, DefaultValuedAttr<I64Attr, "1">:$block_rows,
                       I64:$rows, Optional<I64>:$columns_at_launch, Optional<I64>:$pitch,
                       UnitAttr:$every_row);
  let results = (outs Simt_LayoutType:$result);
  let hasVerifier = 1;
  let assemblyFormat = [{
    `` $layout `columns` `=` $columns (`block_rows` `=` $block_rows^)? `of` $rows (`by` $columns_at_launch^)? (`pitch` $pitch^)? (`every_row` $every_row^)? attr-dict
  }];
}

def Simt_ClearPaddingOp : Simt_Op<"clear_padding"> {
  let summary = "Zeros to what a layout's memory has beside scales";
  let arguments = (ins Arg<Simt_PointerType, "", [MemWrite]>:$base, Simt_LayoutType:$layout,
                       DefaultValuedAttr<I64Attr, "16">:$alignment);
  let assemblyFormat = "$base `in` $layout attr-dict `:` type($base)";
}

/// `alignment` in bytes of every row start; `pitch` in elements, or a layout of scales; `group` × `group_rows` elements share a value of access `groups`;
/// `streaming` elements are used once. Of access `repeated`, rows have `group` elements, each of which stands for `each` columns.
class Simt_AccessOp<string mnemonic, list<Trait> traits = []> : Simt_Op<mnemonic, traits> {
  let hasVerifier = 1;
}

def Simt_LoadOp : Simt_AccessOp<"load"> {
  let summary = "What lies under the tile";
  let arguments = (ins Simt_AccessAttr:$access, Arg<Simt_PointerType, "", [MemRead]>:$base,
                       Simt_CursorType:$at, Optional<AnyTypeOf<[I64, Simt_LayoutType]>>:$pitch,
                       DefaultValuedAttr<I64Attr, "16">:$alignment,
                       DefaultValuedAttr<I64Attr, "0">:$group,
                       DefaultValuedAttr<I64Attr, "1">:$group_rows, UnitAttr:$streaming,
                       DefaultValuedAttr<I64Attr, "1">:$each);
  let results = (outs AnyType:$result);
  let assemblyFormat = [{
    `` $access $base `at` $at (`pitch` $pitch^ `:` type($pitch))? attr-dict `:` type($base) `,` type($at) `->` type($result)
  }];
}

def Simt_BulkStoresOp : Simt_Op<"bulk_stores"> {
  let summary = "No stores in bulk yet; they have read shared memory when the kernel ends";
  let results = (outs Simt_BulkStoresType:$result);
  let assemblyFormat = "attr-dict";
}

def Simt_StoreOp : Simt_AccessOp<"store", [AttrSizedOperandSegments]> {
  let summary = "Writes what lies under the tile, as one of the thread's stores in `bulk` where it has such";
  let description = "Elements `for_products` of so many rows lie as warpgroups multiply these.";
  let arguments = (ins Simt_AccessAttr:$access, Arg<Simt_PointerType, "", [MemWrite]>:$base,
                       Simt_CursorType:$at, AnyType:$value,
                       Optional<AnyTypeOf<[I64, Simt_LayoutType]>>:$pitch,
                       Optional<Simt_BulkStoresType>:$bulk,
                       DefaultValuedAttr<I64Attr, "16">:$alignment,
                       DefaultValuedAttr<I64Attr, "0">:$group, UnitAttr:$streaming,
                       DefaultValuedAttr<I64Attr, "0">:$for_products);
  let assemblyFormat = [{
    `` $access $value `to` $base `at` $at (`pitch` $pitch^ `:` type($pitch))? (`in` $bulk^)? attr-dict `:` type($value) `,` type($base) `,` type($at)
  }];
}

def Simt_ReduceOp : Simt_Op<"reduce", [Pure, AttrSizedOperandSegments]> {
  let summary = "A fragment's reduction over the row, over the block or over 1×group neighbours";
  let description = "Collective: every thread of the tile takes part. A sum may be of products, `input` times `times`, each added unrounded; those of a group of the row that has one of `scales` are scaled together. A maximum along the row may be of products of 16-bit values with one float, each rounded. With a `codec` `input` are codes and `times` bf16 or f16, which tensor cores multiply.";
  let hasVerifier = 1;
  let arguments = (ins Eider_ReductionAttr:$kind, AnyVectorOfNonZeroRank:$input,
                       Optional<AnyTypeOf<[AnyVectorOfNonZeroRank, F32]>>:$times, Optional<AnyVectorOfNonZeroRank>:$scales, Simt_CursorType:$at,
                       DefaultValuedAttr<I64Attr, "0">:$group, OptionalAttr<Eider_CodecPathAttr>:$codec);
  let results = (outs AnyType:$result);
  let assemblyFormat = [{
    `` $kind $input (`times` $times^ `:` type($times))? (`by` $scales^ `:` type($scales))? `at` $at attr-dict `:` type($input) `,` type($at) `->` type($result)
  }];
}

def Simt_RowsAheadOp : Simt_Op<"rows_ahead", [AttrSizedOperandSegments]> {
  let summary = "Rows of codes begin to come, two by two, for the tiles that the CUDA block takes in turn";
  let description = "While two are multiplied, `ahead` pairs come, through shared memory. Of `group` × `group_rows` elements that have one of `scales` these come, too.";
  let hasVerifier = 1;
  let arguments = (ins I64:$rows, Arg<Simt_PointerType, "", [MemRead]>:$base, Arg<Optional<Simt_PointerType>, "", [MemRead]>:$scales, Optional<I64>:$pitch,
                       Optional<AnyTypeOf<[I64, Simt_LayoutType]>>:$scales_pitch, TypeAttrOf<Simt_CursorType>:$tile, I64Attr:$ahead,
                       DefaultValuedAttr<I64Attr, "0">:$group, DefaultValuedAttr<I64Attr, "1">:$group_rows);
  let results = (outs Simt_RowsAheadType:$result);
  let assemblyFormat = [{
    $base `of` $rows `ahead` `=` $ahead `under` $tile (`by` $scales^ `:` type($scales))? (`pitch` $pitch^)? (`scales_pitch` $scales_pitch^ `:` type($scales_pitch))? attr-dict `:` type($base)
  }];
}

def Simt_SumAheadOp : Simt_Op<"sum_ahead"> {
  let summary = "The sum of each of the tile's rows, which have come, times a column vector of bf16 or f16";
  let description = "As simt.reduce with a codec. Collective, and once a tile: the rows of the next come.";
  let hasVerifier = 1;
  let arguments = (ins Simt_RowsAheadType:$rows, AnyVectorOfNonZeroRank:$times, Simt_CursorType:$at, Eider_CodecPathAttr:$codec);
  let results = (outs AnyVectorOfNonZeroRank:$result);
  let assemblyFormat = "$rows `times` $times `at` $at attr-dict `:` type($times) `,` type($at) `->` type($result)";
  let extraClassDeclaration = [{
    /// Of the codes that have come.
    ::mlir::Type codesType() {
      auto rows = getRows().getDefiningOp<RowsAheadOp>();
      return ::llvm::cast<PointerType>(rows.getBase().getType()).getElementType();
    }
  }];
}

def Simt_ReduceColumnsOp : Simt_Op<"reduce_columns", [Pure]> {
  let summary = "The reduction of a column vector, all of which the threads of a row hold together";
  let description = "Collective, and the same under every tile. A sum may be of products, `input` times `times`, each added unrounded.";
  let hasVerifier = 1;
  let arguments = (ins Eider_ReductionAttr:$kind, AnyVectorOfNonZeroRank:$input,
                       Optional<AnyVectorOfNonZeroRank>:$times, Simt_CursorType:$at);
  let results = (outs F32:$result);
  let assemblyFormat = "`` $kind $input (`times` $times^ `:` type($times))? `at` $at attr-dict `:` type($input) `,` type($at)";
}

def Simt_InsideColumnsOp : Simt_Op<"inside_columns", [Pure, AllTypesMatch<["input", "result"]>]> {
  let summary = "A column vector with zeros where threads hold what is outside the matrix";
  let hasVerifier = 1;
  let arguments = (ins AnyVectorOfNonZeroRank:$input, Simt_CursorType:$at);
  let results = (outs AnyVectorOfNonZeroRank:$result);
  let assemblyFormat = "$input `at` $at attr-dict `:` type($input) `,` type($at)";
}

def Simt_ContractOp : Simt_Op<"contract", [AttrSizedOperandSegments]> {
  let summary = "The tile's elements of vectors · weightsᵀ";
  let description = [{
    Rows of `length` elements, of which `block_rows` × `block_columns` codes have a scale together; the warps of the CUDA block take `loads`
    steps along them at a time, `ahead` such stages on their way, and `split` of them share a sum. Or `warpgroups` multiply, and the blocks of the tile's cluster, and its `parts`, have a part
    each of the length; the result is the sums of the tile's part. Vectors may be codes, of which `vectors_block` have a scale of their row together, or of all rows (`vectors_share`);
    tensor cores may multiply such as they are (`meets_codes`). One that `awaits` the launch before, which leaves the vectors, loads weights meanwhile.
    Alignments in bytes of the row starts. A tile of `row_groups` meets the weights of its group, one after the other in
    memory, or `apart`. Collective: every thread of the cluster takes part.
  }];
  let hasVerifier = 1;
  let arguments = (ins Arg<Simt_PointerType, "", [MemRead]>:$vectors, Arg<Simt_PointerType, "", [MemRead]>:$weights,
                       Arg<Simt_PointerType, "", [MemRead]>:$scales, Arg<Optional<Simt_PointerType>, "", [MemRead]>:$vectors_scales, Simt_CursorType:$at,
                       Optional<I64>:$vectors_pitch, Optional<I64>:$weights_pitch, Optional<I64>:$scales_pitch, Optional<I64>:$vectors_scales_pitch,
                       Optional<I64>:$weights_apart, Optional<I64>:$scales_apart,
                       I64Attr:$length, I64Attr:$block_rows, I64Attr:$block_columns, DefaultValuedAttr<I64Attr, "0">:$vectors_block, UnitAttr:$vectors_share, UnitAttr:$meets_codes,
                       I64Attr:$split, I64Attr:$loads, I64Attr:$ahead, UnitAttr:$warpgroups, UnitAttr:$awaits, I64Attr:$vectors_alignment, I64Attr:$weights_alignment, Eider_CodecPathAttr:$codec);
  let results = (outs AnyVectorOfNonZeroRank:$result);
  let assemblyFormat = [{
    $vectors (`by` $vectors_scales^ `:` type($vectors_scales))? `,` $weights `by` $scales `at` $at
    (`pitches` $vectors_pitch^ `,` $weights_pitch `,` $scales_pitch)? (`scales` $vectors_scales_pitch^)? (`apart` $weights_apart^ `,` $scales_apart)?
    attr-dict `:` type($vectors) `,`
    type($weights) `,` type($scales) `,` type($at) `->` type($result)
  }];
}

def Simt_LeaveSumsOp : Simt_Op<"leave_sums", [AllTypesMatch<["at", "result"]>]> {
  let summary = "Leaves the sums of the tile's part to the block that comes last of its parts: that one's tile, for others nothing inside";
  let description = "Blocks count themselves in `arrivals`. Collective: every thread of the CUDA block takes part.";
  let hasVerifier = 1;
  let arguments = (ins AnyVectorOfNonZeroRank:$sums, Simt_CursorType:$at, Arg<Simt_PointerType, "", [MemWrite]>:$left,
                       Arg<Simt_PointerType, "", [MemRead, MemWrite]>:$arrivals);
  let results = (outs Simt_CursorType:$result);
  let assemblyFormat = "$sums `at` $at `to` $left `by` $arrivals attr-dict `:` type($sums) `,` type($at) `,` type($left) `,` type($arrivals)";
}

def Simt_AllSumsOp : Simt_Op<"all_sums"> {
  let summary = "The sums of all parts of a tile, added up in their order";
  let arguments = (ins Arg<Simt_PointerType, "", [MemRead]>:$left, Simt_CursorType:$at);
  let results = (outs AnyVectorOfNonZeroRank:$result);
  let assemblyFormat = "$left `at` $at attr-dict `:` type($left) `,` type($at) `->` type($result)";
}

def Simt_AttendOp : Simt_Op<"attend", [AttrSizedOperandSegments, IsolatedFromAbove]> {
  let summary = "Writes this CUDA block's part of attention over a cache";
  let description = [{
    Of sequences whose tokens are cut so that all parts are about `places`, in `pages` of `page` tokens, or one after the other (0); `scales` is 1 or `kv_heads`, or 0 where keys and values have none; they are of all pages, or (`scale_axes`) of each page (1) or token (2), or of each of the `blocks` of a token's row (3); the last `window` tokens are met, or all (0). `warps` have 16 tokens at a time in turn,
    or all together (`split`), `ahead` such steps of each on their way. A KV head's queries come in `tiles`, a block each. Values that are the keys are their first `value_dim` columns. `pitches` are those of queries (sequence, head), keys and values (page, token, head),
    and of the axes of their scales: pages of both, tokens of both, heads of both. Alignment in bytes of row starts. `score` as eider.attention has it, of
    what is `captured`: scalars, and pointers to one value a head. Where there is an `output`, [sequences, heads, value_dim], the block that comes last of those of a tile of queries, which count themselves in `arrivals`, combines their parts there.
    Collective: every thread of the CUDA block takes part.
  }];
  let hasVerifier = 1;
  let regions = (region MaxSizedRegion<1>:$score);
  let arguments = (ins Arg<Simt_PointerType, "", [MemWrite]>:$parts, Arg<Simt_PointerType, "", [MemRead]>:$queries,
                       Arg<Simt_PointerType, "", [MemRead]>:$keys, Arg<Optional<Simt_PointerType>, "", [MemRead]>:$key_scale,
                       Arg<Simt_PointerType, "", [MemRead]>:$values, Arg<Optional<Simt_PointerType>, "", [MemRead]>:$value_scale,
                       Arg<Optional<Simt_PointerType>, "", [MemRead]>:$pages, Arg<Simt_PointerType, "", [MemRead]>:$lengths,
                       Arg<Optional<Simt_PointerType>, "", [MemWrite]>:$output, Arg<Optional<Simt_PointerType>, "", [MemRead, MemWrite]>:$arrivals, I64:$sequences, Optional<I64>:$pages_pitch, Variadic<I64>:$pitches, Arg<Variadic<AnyTypeOf<[F32, Simt_PointerType]>>, "", [MemRead]>:$captured,
                       I64Attr:$heads, I64Attr:$kv_heads, I64Attr:$tiles, I64Attr:$head_dim, I64Attr:$value_dim, I64Attr:$places, I64Attr:$page,
                       I64Attr:$scales, I64Attr:$scale_axes, DefaultValuedAttr<I64Attr, "1">:$blocks, I64Attr:$window, I64Attr:$warps, I64Attr:$split, I64Attr:$ahead, I64Attr:$alignment, OptionalAttr<Eider_CodecPathAttr>:$codec);
  let assemblyFormat = [{
    $queries `,` $keys (`by` $key_scale^)? `,` $values (`by` $value_scale^)? (`pages` $pages^ `,` $pages_pitch `:` type($pages))? `lengths` $lengths `of` $sequences `to` $parts
    (`combined` `to` $output^ `by` $arrivals `:` type($output) `,` type($arrivals))? (`pitches` $pitches^)? (`captures` `(` $captured^ `:` type($captured) `)`)? attr-dict `:` type($queries) `,` type($keys) (`,` type($key_scale)^)? `values` type($values) (`,` type($value_scale)^)? `lengths`
    type($lengths) `,` type($parts) (`score` $score^)?
  }];
}

def Simt_AttendRowsOp : Simt_Op<"attend_rows", [AttrSizedOperandSegments, IsolatedFromAbove]> {
  let summary = "Writes this CUDA block's rows of attention of a sequence over itself";
  let description = [{
    A block has `rows` queries of one head and takes `keys` tokens at a time; `split` of its `warps` share a row, or `warpgroups` of them multiply together; the next tokens come `ahead`. `scales` are those of queries, keys and
    values, `scales_of_each` of each (1 or `kv_heads`), or none (0). Queries and keys are of `head_dim`, values of `value_dim`: the first of the keys where both are one. By warps both may meet as codes (`meets_codes`). `starts`, so many, are where sequences begin among `tokens`, and end; without, these are one. `pitches` are those of queries, keys and values (token, head each). Alignment in bytes
    of row starts. `score` as simt.attend has it. Collective: every thread of the CUDA block takes part.
  }];
  let hasVerifier = 1;
  let regions = (region MaxSizedRegion<1>:$score);
  let arguments = (ins Arg<Simt_PointerType, "", [MemWrite]>:$output, Arg<Simt_PointerType, "", [MemRead]>:$queries,
                       Arg<Simt_PointerType, "", [MemRead]>:$keys, Arg<Simt_PointerType, "", [MemRead]>:$values,
                       Arg<Variadic<Simt_PointerType>, "", [MemRead]>:$scales, I64:$tokens, Arg<Optional<Simt_PointerType>, "", [MemRead]>:$starts,
                       Optional<I64>:$count_of_starts, Variadic<I64>:$pitches,
                       Arg<Variadic<AnyTypeOf<[F32, Simt_PointerType]>>, "", [MemRead]>:$captured,
                       I64Attr:$heads, I64Attr:$kv_heads, I64Attr:$head_dim, I64Attr:$value_dim, I64Attr:$scales_of_each, UnitAttr:$causal,
                       I64Attr:$rows, I64Attr:$keys_at_once, I64Attr:$warps, I64Attr:$split, UnitAttr:$ahead, UnitAttr:$warpgroups, UnitAttr:$meets_codes,
                       I64Attr:$alignment, Eider_CodecPathAttr:$codec);
  let assemblyFormat = [{
    $queries `,` $keys `,` $values (`by` $scales^ `:` type($scales))? `of` $tokens (`starts` $starts^ `:` type($starts) `,` $count_of_starts)? `to` $output (`pitches` $pitches^)?
    (`captures` `(` $captured^ `:` type($captured) `)`)? attr-dict `:` type($queries) `,` type($keys) `,` type($values) `,` type($output)
    (`score` $score^)?
  }];
}

def Simt_CombineAttentionOp : Simt_Op<"combine_attention"> {
  let summary = "The tile's elements of attention, of the parts that the kernel before left";
  let hasVerifier = 1;
  let arguments = (ins Arg<Simt_PointerType, "", [MemRead]>:$parts, I64:$sequences, Simt_CursorType:$at,
                       I64Attr:$heads, I64Attr:$kv_heads, I64Attr:$tiles, I64Attr:$value_dim, I64Attr:$places);
  let results = (outs AnyVectorOfNonZeroRank:$result);
  let assemblyFormat = "$parts `of` $sequences `at` $at attr-dict `:` type($parts) `,` type($at) `->` type($result)";
}

def Simt_PartialOp : Simt_Op<"partial"> {
  let summary = "A reduction over the whole matrix that has seen no tile yet";
  let description = "With a `state`, memory in any state, the block that comes last combines what all have seen.";
  // No effects are declared: with none two would become one, which sees what both should.
  let arguments = (ins Eider_ReductionAttr:$kind, Optional<Simt_PointerType>:$state, Simt_CursorType:$at);
  let results = (outs Simt_PartialType:$result);
  let assemblyFormat = "$kind (`in` $state^ `:` type($state))? `at` $at attr-dict `:` type($at)";
}

def Simt_AddOp : Simt_Op<"add"> {
  let summary = "The reduction sees the fragment of a tile";
  let arguments = (ins AnyVectorOfNonZeroRank:$input, Simt_PartialType:$partial, Simt_CursorType:$at);
  let assemblyFormat = "$input `to` $partial `at` $at attr-dict `:` type($input) `,` type($at)";
}

def Simt_AddReducedOp : Simt_Op<"add_reduced"> {
  let summary = "The reduction sees what the same reduction has made of a tile's groups, rows or block";
  let description = "Rows that are not there have no part in it.";
  let arguments = (ins AnyTypeOf<[F32, AnyVectorOfNonZeroRank]>:$input, Simt_PartialType:$partial, Simt_CursorType:$at);
  let assemblyFormat = "$input `to` $partial `at` $at attr-dict `:` type($input) `,` type($at)";
}

def Simt_StorePartOp : Simt_Op<"store_part"> {
  let summary = "Writes what the CUDA block has seen, one value, at its number";
  let description = "Collective: every thread of the CUDA block takes part.";
  let arguments = (ins Simt_PartialType:$partial, Arg<Simt_PointerType, "", [MemWrite]>:$base);
  let assemblyFormat = "$partial `to` $base attr-dict `:` type($base)";
}

def Simt_CombineIntoOp : Simt_Op<"combine"> {
  let summary = "Combines what the CUDA block has seen with what others have left at `base`, one value";
  let description = "Collective: every thread of the CUDA block takes part. Unless the last block does it, a kernel before has left the reduction's identity there.";
  let arguments = (ins Simt_PartialType:$partial, Arg<Simt_PointerType, "", [MemRead, MemWrite]>:$base);
  let assemblyFormat = "$partial `into` $base attr-dict `:` type($base)";
}

def Simt_CombinePartsOp : Simt_Op<"combine_parts"> {
  let summary = "The reduction over the whole matrix, of the parts that blocks have left";
  let description = "Collective: every thread of the CUDA block takes part.";
  let arguments = (ins Eider_ReductionAttr:$kind, Arg<Simt_PointerType, "", [MemRead]>:$base,
                       I64Attr:$parts, Simt_CursorType:$at);
  let results = (outs F32:$result);
  let assemblyFormat = "$kind $base `parts` `=` $parts `at` $at attr-dict `:` type($base) `,` type($at)";
}

def Simt_GridBarrierOp : Simt_Op<"grid_barrier"> {
  let summary = "Where all blocks of a cooperative grid meet once, of memory in any state";
  let arguments = (ins Arg<Simt_PointerType, "", [MemRead, MemWrite]>:$base);
  let results = (outs Simt_GridType:$result);
  let assemblyFormat = "$base attr-dict `:` type($base)";
}

def Simt_ReduceGridOp : Simt_Op<"reduce_grid"> {
  let summary = "A fragment's reduction over the whole matrix, of which each block of the grid holds a tile";
  let description = "Collective: every thread of the grid takes part.";
  let arguments = (ins Eider_ReductionAttr:$kind, AnyVectorOfNonZeroRank:$input, Simt_GridType:$grid,
                       Simt_CursorType:$at);
  let results = (outs F32:$result);
  let assemblyFormat = "$kind $input `in` $grid `at` $at attr-dict `:` type($input) `,` type($at)";
  let hasVerifier = 1;
}

def Simt_TransposedTileOp : Simt_Op<"transposed_tile", [Pure]> {
  let summary = "The tile of the transposed matrix where a block lies";
  let arguments = (ins Simt_CursorType:$at);
  let results = (outs Simt_CursorType:$result);
  let assemblyFormat = "$at attr-dict `:` type($at) `->` type($result)";
}

def Simt_BeginTransposeOp : Simt_Op<"begin_transpose"> {
  let summary = "Sends what a thread holds of a block on its way through shared memory, in so many passes";
  let arguments = (ins AnyVectorOfNonZeroRank:$input, I64Attr:$passes, Simt_CursorType:$at);
  let results = (outs Simt_TurningType:$result);
  let assemblyFormat = "$input `in` $passes `at` $at attr-dict `:` type($input) `,` type($at)";
}

def Simt_EndTransposeOp : Simt_Op<"end_transpose"> {
  let summary = "What a thread holds of the transposed block";
  let description = "Collective: every thread of the CUDA block takes part.";
  let arguments = (ins Simt_TurningType:$turning);
  let results = (outs AnyVectorOfNonZeroRank:$result);
  let assemblyFormat = "$turning attr-dict `:` type($result)";
}

def Simt_SpreadOp : Simt_Op<"spread", [Pure]> {
  let summary = "A value a group, or one, repeated over a fragment";
  let arguments = (ins AnyTypeOf<[AnyFloat, I64, AnyVectorOfNonZeroRank]>:$input);
  let results = (outs AnyVectorOfNonZeroRank:$result);
  let assemblyFormat = "$input attr-dict `:` type($input) `to` type($result)";
}

def Simt_RandomOp : Simt_Op<"random", [Pure]> {
  let summary = "8 or 16 random bits for each of the tile's elements, a function of its number in the matrix";
  let arguments = (ins I64:$seed, I64:$offset, Simt_CursorType:$at);
  let results = (outs AnyVectorOfNonZeroRank:$result);
  let assemblyFormat = "$seed `,` $offset `at` $at attr-dict `:` type($at) `->` type($result)";
}

def Simt_EncodeOp : Simt_Op<"encode", [Pure, AttrSizedOperandSegments]> {
  let summary = "Codes of a fragment, of its quotient by `divisor` where given, rounded by the bits of `random` where given; `largest` is of the magnitudes of the input";
  let arguments = (ins AnyTypeOf<[AnyFloat, AnyVectorOfNonZeroRank]>:$input, Optional<AnyType>:$divisor, Optional<AnyType>:$largest,
                       Optional<AnyVectorOfNonZeroRank>:$random, UnitAttr:$overflow_to_format, UnitAttr:$ignore_nan, UnitAttr:$bounded,
                       Eider_CodecPathAttr:$codec);
  let results = (outs AnyTypeOf<[AnyFloat, AnyVectorOfNonZeroRank]>:$result);
  let assemblyFormat = [{
    $input (`by` $divisor^ `:` type($divisor))? (`within` $largest^ `:` type($largest))? (`random` $random^ `:` type($random))? `codec` $codec attr-dict `:` type($input) `->` type($result)
  }];
}

def Simt_DecodeOp : Simt_Op<"decode", [Pure]> {
  let summary = "The f32 values of a fragment of codes";
  let arguments = (ins AnyTypeOf<[AnyFloat, AnyVectorOfNonZeroRank]>:$input, Eider_CodecPathAttr:$codec);
  let results = (outs AnyTypeOf<[AnyFloat, AnyVectorOfNonZeroRank]>:$result);
  let assemblyFormat = "$input `codec` $codec attr-dict `:` type($input) `->` type($result)";
}

class Simt_FunctionOp<string name, string what> : Simt_Op<name, [Pure, AllTypesMatch<["input", "result"]>]> {
  let summary = what # ", approximate";
  let arguments = (ins AnyTypeOf<[F32, AnyVectorOfNonZeroRank]>:$input);
  let results = (outs AnyTypeOf<[F32, AnyVectorOfNonZeroRank]>:$result);
  let assemblyFormat = "$input attr-dict `:` type($input)";
}
def Simt_SigmoidOp : Simt_FunctionOp<"sigmoid", "1 / (1 + exp(-x))">;
def Simt_GeluOp : Simt_FunctionOp<"gelu", "x / 2 · (1 + erf(x / √2))">;

def Simt_WidenAgainOp : Simt_Op<"widen_again", [Pure]> {
  let summary = "A fragment of 16-bit floats as floats, which a compiler makes anew";
  let description = "As arith.extf; but what is between then holds the 16-bit floats, in half the registers.";
  let arguments = (ins VectorOfNonZeroRankOf<[BF16, F16]>:$input);
  let results = (outs VectorOfNonZeroRankOf<[F32]>:$result);
  let assemblyFormat = "$input attr-dict `:` type($input) `->` type($result)";
}

def Simt_PowerOfTwoOp : Simt_Op<"power_of_two", [Pure, AllTypesMatch<["input", "result"]>]> {
  let summary = "A number that is not negative, rounded down or up to a power of two in e8m0's range";
  let arguments = (ins Eider_NeighbourAttr:$which, AnyTypeOf<[F32, AnyVectorOfNonZeroRank]>:$input);
  let results = (outs AnyTypeOf<[F32, AnyVectorOfNonZeroRank]>:$result);
  let assemblyFormat = "`` $which $input attr-dict `:` type($input)";
}

#endif // EIDER_SIMT_OPS_TD
