//===- Domain.h - Where a program's values live relative to its matrix ----===//
//
// Part of Eider, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//
#ifndef EIDER_TRANSFORMS_DOMAIN_H
#define EIDER_TRANSFORMS_DOMAIN_H

#include "compiler/ir/Eider.h"
#include "llvm/ADT/SetVector.h"
#include "llvm/ADT/StringSet.h"

#include <optional>
#include <string>

namespace eider::transforms {

/// What one value of a tensor stands for, relative to the matrix that a program streams over.
enum class LevelKind {
  uniform,      ///< one value in all
  rows,         ///< one a row
  columns,      ///< one a column
  groups,       ///< one for each blockRows × blockColumns elements
  columnGroups, ///< one for each blockColumns columns, the same for every row
  elements,     ///< one an element
  twice,        ///< rows of twice the width: only `eider.half` reads it
  twiceColumns  ///< a vector of twice the width, likewise
};

struct Level {
  LevelKind kind = LevelKind::elements;
  int64_t blockRows = 1, blockColumns = 1;
  bool transposed = false; ///< Of the transposed matrix: its rows are the matrix's columns.
  bool operator==(const Level &) const = default;
  bool isBlock() const { return kind == LevelKind::groups && blockRows > 1; }
};

/// Whether elements of a type are stored in bulk where a schedule says so: codes never are, which
/// was slower wherever it was tried.
inline bool isStoredInBulk(mlir::Type element) { return element.getIntOrFloatBitWidth() > 8; }

/// Bytes of shared memory that a text may declare; more is the launch's to give.
inline constexpr int64_t mostStaticShared = 48 * 1024;

/// Leaves room for the last tile of a row to reach beyond the columns.
inline constexpr int64_t widestRow = int64_t(1) << 30;

/// Attention over a cache, as its kernel has it.
struct Attention {
  int64_t heads = 0, kvHeads = 0, headDim = 0;
  int64_t page = 0;           ///< Tokens of a page; 0: a sequence's are all in one.
  int64_t scales = 1;         ///< Of keys, and of values: one, or one a KV head, or none (0);
  int64_t scaleAxes = 0;      ///< of all pages, of each page (1) or token (2), or of a token's
  int64_t blocks = 1;         ///< blocks (3), so many a key.
  int64_t bytes = 1;          ///< Of an element of the cache.
  int64_t valueDim = headDim; ///< Columns of a value.
  bool isLatent = false;      ///< These are the first of the key's.
  bool isAlone = false;       ///< The program does nothing else, but for rounding.
  bool bySoftware = false;    ///< Codes are converted by arithmetic; E5M2 needs none.
  /// Blocks that have a KV head's queries: the fewest that have as many each, at most 16.
  int64_t tiles() const {
    const int64_t queries = heads / kvHeads;
    int64_t tiles = (queries + 15) / 16;
    while (queries % tiles != 0)
      ++tiles;
    return tiles;
  }
  int64_t group() const { return heads / kvHeads / tiles(); }
  /// Elements of a key, and of a value, that have a scale together.
  int64_t block() const { return headDim / blocks; }
  /// Whether the columns of values that each of so many warps has are whole blocks, or of one.
  bool mayShare(int64_t split) const {
    const int64_t own = valueDim / split;
    return blocks == 1 || own % block() == 0 || block() % own == 0;
  }
  /// Bytes of shared memory of a block, whose warps have tokens by themselves, or all together
  /// (`split`): what is on its way, and scores that meet, or its sums.
  int64_t sharedOf(int64_t warps, int64_t split, int64_t ahead) const {
    const int64_t teams = warps / split, eights = (group() + 7) / 8;
    const int64_t bases = blocks == 1 ? 1 : valueDim / block();
    const int64_t ofHead = valueDim + 4 + 2 + (scaleAxes ? bases : 0);
    const int64_t ofToken = blocks % 8 == 0 ? blocks + 4 : blocks; // of scales
    const int64_t row = headDim * bytes, rows = isLatent ? (row + 127) / 128 * 128 : 2 * row;
    const int64_t onWay = teams * ahead * (16 * rows + (scaleAxes ? 32 * 4 * ofToken : 0));
    return std::max(onWay + (split > 1 ? split * eights * 4 * 32 * 4 : 0),
                    4 * teams * eights * 8 * ofHead);
  }
  /// Floats of what a CUDA block leaves (templates/attention/parts.cuh).
  int64_t sizeOfPart() const { return (group() * (valueDim + 2) + 3) / 4 * 4; }
};

/// Attention of a sequence over itself, as its kernel has it.
struct Prefill {
  int64_t heads = 0, kvHeads = 0, headDim = 0;
  int64_t valueDim = headDim; ///< Columns of a value.
  int64_t scales = 0;         ///< Of queries, keys and values: none, one, or one a KV head of each.
  bool isLatent = false;      ///< Values are the first columns of their keys.
  bool meetsBf16 = false;     ///< Queries are that, and keys are decoded to it.
  bool byCodes = false;       ///< Queries and keys are codes that products can have as they are,
  bool prefersCodes = false;  ///< for which the target has an instruction.
  bool byWarpgroups = false;  ///< The heads are such that warpgroups can multiply them, too.
  /// Whether decoded values have a place of their own: where keys are not decoded as they are.
  bool hasValuesApart(const ir::ScheduleKnobs &knobs) const {
    return !isLatent || knobs.codes || knobs.warpgroups || meetsBf16;
  }
  /// Bytes of decoded keys and values, a token.
  int64_t decodedOf(const ir::ScheduleKnobs &knobs) const {
    return (knobs.codes ? 0 : 2 * headDim) + (hasValuesApart(knobs) ? 2 * valueDim : 0);
  }
  /// Of how many warps that share rows each has some of the tokens: of too few each has all.
  static int64_t partsOf(const ir::ScheduleKnobs &knobs) {
    return knobs.warpgroups || knobs.columns < 16 * knobs.split ? 1 : knobs.split;
  }
  /// Bytes of shared memory of a block (templates/attention/prefill.cuh, warpgroups.cuh).
  int64_t sharedOf(const ir::ScheduleKnobs &knobs) const {
    if (knobs.warpgroups) {
      const int64_t slots = knobs.split == 1 ? 3 : 2, queries = knobs.split == 1 ? 0 : knobs.rows;
      const int64_t ofToken = headDim + 2 * valueDim;
      return (slots * knobs.columns * ofToken + queries * headDim + 1023) / 1024 * 1024;
    }
    const int64_t parts = partsOf(knobs);
    const int64_t ofParts = parts == 1 ? 0 : knobs.rows * (knobs.columns * 2 + parts * 4);
    const int64_t ofQuery = headDim * (knobs.codes ? 1 : 2), ofValue = isLatent ? 0 : valueDim;
    // Of a token's codes, its key's twice where they are met as they are and the next come ahead.
    int64_t copied = std::max(headDim, ofValue);
    if (knobs.codes || knobs.prefetch)
      copied = headDim * (knobs.codes && knobs.prefetch ? 2 : 1) + ofValue;
    return knobs.rows * ofQuery + knobs.columns * (decodedOf(knobs) + copied) + ofParts;
  }
};

/// The matrix of a program: rows × columns, and what its program does along them.
struct Domain {
  ir::DimExpr rows, columns;
  int64_t width = 0;           ///< The static number of columns.
  bool sumsVector = false;     ///< The matrix is one row that is summed: [1] is a value of it.
  bool reducesGroups = false;  ///< Some reduction over groups in a row, or over blocks.
  int64_t reducedGroup = 0;    ///< The most neighbours in a row that are reduced; 0: none.
  bool stacksScales = false;   ///< Scales of neighbouring rows are stored next to each other.
  bool scalesByPowers = false; ///< Some scale is made a power of two.
  bool encodesWithin = false;  ///< Some codes are made with an eye on their largest element.
  bool clampsCodes = false;    ///< Some may be beyond what their format holds, as by a given scale.
  bool reducesRows = false;    ///< Some reduction along whole rows.
  bool contracts = false;      ///< The matrix is multiplied with a column vector.
  bool reducesColumns = false; ///< Some reduction of a whole column vector.
  bool meetsPairs = false;     ///< Tensor cores can do that, of codes and bf16 or f16.
  int64_t blockOfPairs = 0;    ///< Such codes with a scale together; 0: whole rows.
  bool foldsPairs = false;     ///< They meet their scales beforehand.
  bool comesAhead = false;     ///< One product, of such codes with scales of f32, or of rows.
  /// Bytes of shared memory that hold pairs of rows of codes, as templates/tile/ahead.cuh has them.
  int64_t sharedOfAhead(const ir::ScheduleKnobs &k) const {
    const int64_t chunks = (width + k.threads * k.vector - 1) / (k.threads * k.vector);
    return k.prefetch * 2 * chunks * k.threads * 16;
  }
  /// Whether they can where threads have so many neighbours: four lanes have a sum together.
  bool mayMeetPairs(int64_t vector) const {
    if (foldsPairs) // a thread's neighbours are a block, or blocks
      return meetsPairs && vector % 8 == 0 &&
             (vector % blockOfPairs == 0 || blockOfPairs % vector == 0);
    return meetsPairs && vector % (packs ? 8 : 4) == 0 && blockOfPairs % (4 * vector) == 0;
  }
  /// Whether they should: what is decoded by arithmetic takes less of it so, and what is folded.
  bool prefersPairs(int64_t vector) const {
    return (decodesBySoftware || foldsPairs) && mayMeetPairs(vector);
  }
  int64_t products = 0;       ///< Of matrices in memory, whose elements are the matrix's.
  bool foldsScales = false;   ///< Their pairs of codes meet scales beforehand, which are bytes.
  int64_t bitsOfVectors = 0;  ///< Of an element that meets them, at most.
  bool packsWeights = true;   ///< Two of each are a byte.
  int64_t blockOfWeights = 0; ///< Of their rows, with a scale together, at most; 0: whole rows.
  int64_t lengthOfRows = 0;   ///< That are multiplied, at most.
  int64_t rowGroups = 0;      ///< Of rows that meet weights of their own; 0: all meet the same.
  std::string endsOfGroups;   ///< The input that says where these end; empty: all are as large.
  bool byWarpgroups = true;   ///< These products, where the target has such.
  bool meetsCodes = false;    ///< So do these, both of codes.
  bool takesF16 = false;      ///< Rows of bf16 may meet these as f16, or do.
  bool convertsToF16 = false; ///< One instruction makes f16 of two codes, by the codec or of E5M2.
  bool forProducts = false;   ///< What is written are rows that such products read, alone.
  /// Bytes of shared memory of a block of such a product, as templates/contraction has them
  /// (WarpgroupCut, CodeProduct, SumsOfCluster).
  int64_t sharedOfProduct(const ir::ScheduleKnobs &k) const {
    constexpr int64_t stage = 128;
    const int64_t operands = k.f16 && (k.rows < 64 || k.threads == 512) ? 5 : 3;
    const int64_t ofRow = foldsScales ? k.prefetch * stage / 2 + 96 : k.prefetch * stage + 64;
    const int64_t onWay = k.columns * ofRow + k.rows * (meetsCodes ? ofRow : operands * 2 * stage);
    const int64_t sums = k.rows * (k.columns + 4) * 4, coming = k.rows * k.columns * 4;
    const auto pieces = [](int64_t bytes) { return (bytes + 1023) / 1024; };
    const auto places = [&](int64_t bytes) {
      return std::min<int64_t>(2, 228 / (pieces(bytes) + 1));
    };
    const bool sends = k.cluster > 1 && places(onWay) == places(onWay + coming);
    return pieces(sends ? onWay + coming : std::max(onWay, sums)) * 1024;
  }
  std::optional<Attention> attends; ///< The program's rows: attention alone, left in parts.
  std::optional<Prefill> prefills;  ///< The same of a sequence over itself, written as it is.
  int64_t headsOfAttention = 0;     ///< What divides the lengths of such heads; 0: reads no parts.
  bool stacksRows = false;   ///< And nothing else is done with its rows: a thread may have several.
  bool sumsGroups = false;   ///< Some sum over groups in a row.
  int rowReductions = 0;     ///< How many they are.
  int rowSums = 0;           ///< And how many of them add up.
  int64_t arithmetic = 0;    ///< Instructions of the functions of an element, about.
  bool choosesRows = false;  ///< Of a matrix of elements that are no codes, in memory.
  bool choosesCodes = false; ///< The same of codes.
  bool rotates = false;      ///< Halves of some group change places,
  int64_t rotated = 0;       ///< of so many elements the longest: a head, or 2 where pairs lie so.
  bool usesPositions = false; ///< Where an element lies decides what becomes of it.
  bool draws = false;         ///< Random bits for its elements, which is much arithmetic.
  bool reducesWhole = false;  ///< Some reduction over the whole matrix: each block leaves a part.
  bool givesWhole = false;    ///< Some such reduction is only given: blocks combine it in memory.
  bool readsParts = false;    ///< Such parts, of the kernel before.
  /// Whether the kernel's blocks leave or combine parts of values of the whole matrix.
  bool combinesParts() const { return reducesWhole || readsParts; }
  /// Whether a block reduces over all of its threads, for values of the whole matrix.
  bool reducesBlocks() const { return combinesParts() || givesWhole; }
  bool writesWhole = false; ///< A value of the whole matrix, which no rows have, too.
  int64_t group = 0;        ///< The largest 1×B group that is reduced or read; 0 without one.
  bool transposes = false;  ///< Some value is of the transposed matrix.
  int64_t mostRows = 0;     ///< So few, of what is transposed, that blocks end with them; 0: any.
  /// The largest group along a row of the transpose, as `group` is along one of both.
  int64_t groupDown() const { return mostRows ? std::min(group, mostRows) : group; }
  /// Whether a thread may turn squares by itself: nothing is reduced along rows of the transpose.
  bool turnsSquares() const { return group == 0; }
  int64_t bytesTurned = 0; ///< Of the widest element that is transposed.
  bool encodesBySoftware = false;
  bool decodesBySoftware = false;  ///< By arithmetic: E5M2 needs none.
  bool convertsByHardware = false; ///< FP8, to or from, by instruction.
  bool packs = false;              ///< Some matrix in memory has two elements a byte.
  bool readsColumns = false;       ///< Some [columns] vector in memory.
  std::string target;              ///< Empty where none is chosen yet.
  int64_t largestCluster = 8;      ///< Blocks of the target that can hold a row together.
  /// Elements of a row that they hold in registers: 64 floats a thread of as many as a block has.
  int64_t longestHeld() const { return 1024 * 64 * largestCluster; }
  int64_t residentThreads = 2048;           ///< That a multiprocessor of the target holds.
  int64_t sharedOfBlock = mostStaticShared; ///< Bytes that the target gives.
  Level block; ///< The r×c block that is reduced (isBlock()), else elements.
  int64_t narrowestStore =
      0;                    ///< Bits of the narrowest element that the program writes to a matrix.
  int64_t matricesRead = 0; ///< Matrices of elements that the program reads.
  int64_t matricesWritten = 0;
  int64_t bitsRead = 0;                             ///< Of them together, an element.
  llvm::SmallSetVector<mlir::Type, 2> typesWritten; ///< Of elements of those that are written.
  /// Neighbouring elements that every matrix in memory holds in aligned bytes, counted from a row's
  /// start; 16 where all rows start on 16 bytes.
  int64_t alignedElements = 16;
  bool rowAligned() const { return alignedElements == 16; }
  bool shiftsColumns = false; ///< Whether vectors of columns begin anywhere, too.

  /// Analyses `program`, of launches with at most so many rows (0: any); emits an error and gives
  /// nothing where no schedule family fits it.
  static std::optional<Domain> of(ir::ProgramOp program, int64_t mostRows = 0);

  /// The level of a tensor type; nothing if it has none in this matrix.
  std::optional<Level> levelOf(mlir::Type type) const;

  /// Whether a reduction is of a whole column vector, as the norm of one is that weights meet.
  bool isOfColumns(ir::ReduceOp op) const;

  /// Whether a level is one value a tile: of the block that is reduced, also in the transpose.
  bool isValueOfTile(const Level &level) const {
    return level.isBlock() &&
           level.blockRows == (level.transposed ? block.blockColumns : block.blockRows) &&
           level.blockColumns == (level.transposed ? block.blockRows : block.blockColumns);
  }

private:
  /// The same for any number of rows.
  std::optional<Level> wholeLevelOf(mlir::Type type) const;
  /// And for a tensor that is not transposed.
  std::optional<Level> uprightLevelOf(llvm::ArrayRef<ir::DimExpr> exprs) const;
};

/// Whether an input is loaded only where something chooses of it (rows, a column, what is repeated)
/// or multiplies matrices; or whether rows so chosen are only repeated.
bool isReadByRows(mlir::Operation &op);

/// Whether what reads an input of three dims does by strides of each: attention, and products of
/// rows in groups. Elsewhere such tensors are rows and columns, and contiguous.
bool readsByAxes(mlir::Operation &user);

/// The dims that a kernel counts with: its rows, what an index chooses from, extents.
llvm::StringSet<> dimsCounted(ir::ProgramOp program, const Domain &domain);

/// Of a workspace's input or output that is one value of the whole matrix, in parts, a block each:
/// the reduction that combines them, and how many they are (of the input, once the schedules are
/// assigned).
inline constexpr llvm::StringLiteral partsKind = "eider.parts_of", partsCount = "eider.parts";

/// Of a workspace's input that is attention in parts: heads, KV heads and the length of values.
/// `partsCount` says how many places these were cut for.
inline constexpr llvm::StringLiteral attentionKind = "eider.attention_of";

/// Of a workspace's output that is such parts: what reads them only rounds what they are together.
inline constexpr llvm::StringLiteral attentionAlone = "eider.attention_alone";

/// Of a workspace's input that is rows of bf16 as f16, in units of their own.
inline constexpr llvm::StringLiteral asF16Name = "eider.as_f16";

/// Of a workspace's output that warpgroups multiply, so many rows at a time: they lie as these read
/// them (templates/memory/panels.cuh), but for strided variants, which have no warpgroups.
inline constexpr llvm::StringLiteral forProductsName = "eider.for_products";

/// Of a program whose kernel lets the next one begin, which waits for its end.
inline constexpr llvm::StringLiteral allowsNextName = "eider.allows_next";

/// Of a kernel that combines the parts itself: these, and where its blocks count themselves.
inline constexpr llvm::StringLiteral partsName = "attention_parts", sumsName = "product_parts",
                                     arrivalsName = "arrivals";

/// The attention that a workspace's output leaves in parts; null for another.
ir::AttentionOp attentionOf(ir::OutputOp output);
Attention attentionIn(mlir::DenseI64ArrayAttr kind);
Attention shapeOf(ir::AttentionOp op);

/// Notes a product of the program's matrix and one of its column vectors, or of two matrices in
/// memory; an error where no kernel has it.
mlir::LogicalResult noteContraction(Domain &domain, ir::ContractOp op);

/// Notes attention over a cache in memory, or of a sequence over itself; an error where its kernel
/// cannot have it.
mlir::LogicalResult noteAttention(Domain &domain, ir::AttentionOp op);
mlir::LogicalResult notePrefill(Domain &domain, ir::PrefillOp op);

/// Whether a program is attention of a sequence over itself and nothing else, but for rounding.
bool isPrefillAlone(ir::ProgramOp program);

/// Of an output that is a reduction over the whole matrix: each block combines what it has seen
/// into it, and a program before has given it the reduction's identity.
inline constexpr llvm::StringLiteral combinedName = "eider.combined";

/// Of a program without a matrix, which gives such identities, or what is computed of what blocks
/// have combined.
inline constexpr llvm::StringLiteral ofWholeName = "eider.of_whole";

/// The program that the kernels are named for: the last that has a matrix.
ir::ProgramOp mainProgram(mlir::ModuleOp kernels);

/// Whether a reduction over the whole matrix is only given: nothing but values of the whole matrix
/// depends on it, and none of them is left to another kernel in parts.
bool isOnlyGiven(ir::ReduceOp op, const Domain &domain);

/// The workspace of a cooperative kernel where its blocks meet; of a second such reduction, `_2`.
inline constexpr llvm::StringLiteral gridStateName = "grid_state";

/// The most parts of a reduction over the whole matrix.
inline constexpr int64_t mostParts = 1056;

/// Whether an output leaves such parts.
bool leavesParts(ir::OutputOp output);

/// Whether a given schedule is for this kernel of a module: for the last, which the program is
/// named for; one of attention for those that attend.
bool takesGivenSchedule(ir::ProgramOp program, llvm::StringRef schedule);

/// A schedule's `software`: the same codes without the instructions.
void convertBySoftware(ir::ProgramOp program);

} // namespace eider::transforms

#endif // EIDER_TRANSFORMS_DOMAIN_H
