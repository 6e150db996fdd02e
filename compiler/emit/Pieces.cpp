//===- Pieces.cpp - Literals, calls and lines of the text -----------------===//
//
// Part of Eider, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//
#include "compiler/emit/Pieces.h"

#include "llvm/ADT/StringExtras.h"

#include <charconv>
#include <climits>

using namespace llvm;
using eider::simt::Access;

eider::text::TileNames eider::text::namesOf(eider::simt::TileAttr tile) {
  switch (tile.getKind()) {
  case eider::simt::TileKind::row:
    return {"Row", "row", "RowTile"};
  case eider::simt::TileKind::rows:
    return {"Rows", "tile", "RowsTile", "_rows"};
  case eider::simt::TileKind::block:
  case eider::simt::TileKind::transposed:
    break;
  }
  return {"Tile", "tile", tile.getRowGroups() ? "GroupedTile" : "BlockTile", "_tile", "_tile"};
}

std::string eider::text::productType(eider::simt::ContractOp op, StringRef tile) {
  auto number = [](int64_t value) { return std::to_string(value); };
  const auto held = cast<eider::simt::CursorType>(op.getAt().getType()).getTile();
  std::string type = tile.str() + ", /*length=*/" + number(op.getLength()) + ", /*block=*/" +
                     number(op.getBlockRows()) + ", " + number(op.getBlockColumns());
  if (op.getWarpgroups())
    type = (op.getVectorsScales() ? "CodeProduct<" : "WarpgroupProduct<") + type + ", /*rows=*/" +
           number(held.rowsOfCluster()) + ", /*cluster=*/" + number(held.getCluster());
  else
    type = "Product<" + type + ", /*split=*/" + number(op.getSplit()) + ", /*loads=*/" +
           number(op.getLoads());
  type += ", /*ahead=*/" + number(op.getAhead());
  if (op.getVectorsScales())
    type += std::string(", /*x_block=*/") + (op.getVectorsShare() ? "all_rows" : "1") + ", " +
            number(op.getVectorsBlock());
  if (op.getMeetsCodes() && !op.getWarpgroups())
    type += ", /*meets_codes=*/true";
  if (op.getAwaits())
    type += ", /*awaits=*/true";
  type += ">";
  return held.getRowGroups() ? "GroupedProduct<" + type + ">" : type;
}

SmallVector<std::string> eider::text::tileParameters(eider::simt::TileAttr tile) {
  SmallVector<std::pair<StringRef, int64_t>> parameters = {{"threads", tile.getThreads()},
                                                           {"vector", tile.getVector()}};
  bool rowTile = tile.getKind() == eider::simt::TileKind::row;
  if (rowTile) {
    parameters.push_back({"columns", tile.getWidth()});
    const bool isCluster = tile.getCluster() != 1;
    const int64_t span = tile.getThreads() * tile.getVector();
    const bool hasSurplus = (tile.getLoads() - 1) * span >= tile.getWidth();
    const bool saysLoads = tile.segments() > 1 || isCluster || hasSurplus || tile.getLanes();
    if (tile.getRows() != 1 || saysLoads)
      parameters.push_back({"rows", tile.getRows()});
    if (saysLoads)
      parameters.push_back({"loads", tile.getLoads()});
    if (isCluster || tile.getLanes())
      parameters.push_back({"cluster", tile.getCluster()});
    if (tile.getLanes())
      parameters.push_back({"lanes", tile.getLanes()});
  } else if (tile.getKind() == eider::simt::TileKind::rows) {
    parameters.append({{"columns", tile.getWidth()}, {"rows", tile.getRows()}});
  } else {
    parameters.append(
        {{"rows", tile.getRows()}, {"columns", tile.getColumns()}, {"width", tile.getWidth()}});
    const bool hasParts = tile.getParts() != 1, isCluster = tile.getCluster() != 1 || hasParts,
               hasMultiple = tile.getMultiple() != 1;
    if (tile.getRowGroups())
      parameters.push_back({"groups", tile.getRowGroups()});
    else if (tile.getRun() != 1 || hasMultiple || isCluster)
      parameters.push_back({"run", tile.getRun()});
    if (!tile.getRowGroups() && (hasMultiple || isCluster))
      parameters.push_back({"multiple", tile.getMultiple()});
    if (isCluster)
      parameters.push_back({"cluster", tile.getCluster()});
    if (hasParts)
      parameters.push_back({"parts", tile.getParts()});
  }
  return llvm::to_vector(llvm::map_range(parameters, [](const auto &parameter) {
    return "/*" + parameter.first.str() + "=*/" + std::to_string(parameter.second);
  }));
}

std::string eider::text::partsType(int64_t heads, int64_t kvHeads, int64_t valueDim, int64_t places,
                                   int64_t tiles) {
  return "AttentionParts</*heads=*/" + std::to_string(heads) + ", /*kv_heads=*/" +
         std::to_string(kvHeads) + ", /*head_dim=*/" + std::to_string(valueDim) + ", /*places=*/" +
         std::to_string(places) + (tiles > 1 ? ", /*tiles=*/" + std::to_string(tiles) : "") + ">";
}

std::string eider::text::decodeType(eider::simt::AttendOp op, const std::string &parts) {
  const int64_t window = op.getWindow(), axes = op.getScaleAxes();
  const mlir::Type element =
      cast<eider::simt::PointerType>(op.getKeys().getType()).getElementType();
  const unsigned bytes = element.getIntOrFloatBitWidth() / 8;
  std::string type = "AttentionDecode<" + parts + ", /*page=*/" + std::to_string(op.getPage()) +
                     ", /*warps=*/" + std::to_string(op.getWarps()) + ", /*ahead=*/" +
                     std::to_string(op.getAhead());
  const int64_t latent = op.getKeys() == op.getValues() ? op.getHeadDim() : 0;
  // Up to the last that is not what it is without being given.
  const std::tuple<const char *, int64_t, int64_t> parameters[] = {
      {"window", window, 0}, {"scale_axes", axes, 0},      {"bytes", bytes, 1},
      {"latent", latent, 0}, {"shares", op.getSplit(), 1}, {"blocks", op.getBlocks(), 1}};
  std::string given, untold;
  for (auto [name, value, usual] : parameters) {
    untold += std::string(", /*") + name + "=*/" + std::to_string(value);
    if (value != usual)
      given += std::exchange(untold, "");
  }
  return type + given + ">";
}

/// What rows of a sequence have beside the usual, up to the last that is not what it is without
/// being given.
static std::string optionsOfPrefill(eider::simt::AttendRowsOp op) {
  auto word = [](bool holds) { return std::string(holds ? "true" : "false"); };
  const bool isLatent = op.getKeys() == op.getValues();
  const bool isBf16 =
      cast<eider::simt::PointerType>(op.getQueries().getType()).getElementType().isBF16();
  const bool isUsuallyApart = !isLatent || op.getMeetsCodes();
  const std::tuple<const char *, std::string, std::string> parameters[] = {
      {"ahead", word(op.getAhead()), word(true)},
      {"meets_codes", word(op.getMeetsCodes()), word(false)},
      {"value_dim", std::to_string(op.getValueDim()), std::to_string(op.getHeadDim())},
      {"latent", word(isLatent), word(false)},
      {"apart", word(isUsuallyApart || isBf16), word(isUsuallyApart)}};
  std::string given, untold;
  for (const auto &[name, value, usual] : parameters) {
    untold += std::string(", /*") + name + "=*/" + value;
    if (value != usual)
      given += std::exchange(untold, "");
  }
  return given;
}

std::string eider::text::prefillType(eider::simt::AttendRowsOp op) {
  auto number = [](int64_t value) { return std::to_string(value); };
  if (op.getWarpgroups())
    return "WarpgroupPrefill</*heads=*/" + number(op.getHeads()) + ", /*kv_heads=*/" +
           number(op.getKvHeads()) + ", /*head_dim=*/" + number(op.getHeadDim()) +
           ", /*warpgroups=*/" + number(op.getWarps() / 4) + ", /*split=*/" +
           number(op.getSplit()) + ", /*causal=*/" + (op.getCausal() ? "true" : "false") +
           (op.getValueDim() == op.getHeadDim()
                ? ">"
                : ", /*value_dim=*/" + number(op.getValueDim()) + ">");
  return "AttentionPrefill</*heads=*/" + number(op.getHeads()) + ", /*kv_heads=*/" +
         number(op.getKvHeads()) + ", /*head_dim=*/" + number(op.getHeadDim()) + ", /*rows=*/" +
         number(op.getRows()) + ", /*keys=*/" + number(op.getKeysAtOnce()) + ", /*warps=*/" +
         number(op.getWarps()) + ", /*split=*/" + number(op.getSplit()) + ", /*causal=*/" +
         (op.getCausal() ? "true" : "false") + optionsOfPrefill(op) + ">";
}

bool eider::text::isWritten(mlir::Value pointer) {
  return llvm::any_of(pointer.getUsers(), [&](mlir::Operation *user) {
    if (auto attend = dyn_cast<eider::simt::AttendOp>(user))
      return attend.getParts() == pointer || attend.getOutput() == pointer ||
             attend.getArrivals() == pointer;
    if (auto attend = dyn_cast<eider::simt::AttendRowsOp>(user))
      return attend.getOutput() == pointer;
    return isa<eider::simt::StoreOp, eider::simt::StorePartOp, eider::simt::PartialOp,
               eider::simt::CombineIntoOp, eider::simt::GridBarrierOp, eider::simt::ClearPaddingOp,
               eider::simt::LeaveSumsOp>(user);
  });
}

std::string eider::text::floatLiteral(const APFloat &value) {
  if (value.isInfinity())
    return value.isNegative() ? "-eider::infinity()" : "eider::infinity()";
  char digits[32];
  auto end = std::to_chars(digits, digits + sizeof digits, value.convertToFloat())
                 .ptr; // shortest, in no locale
  std::string text(digits, end);
  if (text.find_first_of(".e") == std::string::npos)
    text += ".0";
  return text + "f";
}

std::string eider::text::callOf(const Twine &method, ArrayRef<std::string> parameters,
                                ArrayRef<std::string> arguments) {
  return method.str() + (parameters.empty() ? "" : "<" + join(parameters, ", ") + ">") + "(" +
         join(arguments, ", ") + ")";
}

SmallVector<std::string> eider::text::accessParameters(Access access, int64_t alignment,
                                                       int64_t group, int64_t groupRows,
                                                       bool streaming) {
  if (access == Access::groups && groupRows != 1)
    return {std::to_string(group), std::to_string(groupRows)};
  if (access == Access::groups)
    return {std::to_string(group)};
  if (streaming)
    return {std::to_string(alignment), "streaming"};
  if ((access == Access::elements || access == Access::columns) && alignment != 16)
    return {std::to_string(alignment)};
  return {};
}

std::string eider::text::methodOf(StringRef verb, Access access) {
  return access == Access::elements ? verb.str() : (verb + "_" + stringifyAccess(access)).str();
}

std::optional<size_t> eider::text::breakOf(StringRef statement, size_t room) {
  std::optional<size_t> best;
  int depth = 0, least = INT_MAX;
  for (size_t i = 1; i + 1 < std::min(statement.size(), room + 1); ++i) {
    const bool isOfTemplate = statement[i - 1] != ' '; // operators have spaces
    depth += statement[i] == '(' || (statement[i] == '<' && isOfTemplate);
    depth -= statement[i] == ')' || (statement[i] == '>' && isOfTemplate);
    constexpr int behindParenthesis = 1000; // where there is nothing else
    const bool isSpace = statement[i] == ' ' && StringRef(",+-*/").contains(statement[i - 1]);
    if (!isSpace && statement[i] != '(')
      continue;
    const bool isFactor = isSpace && (statement[i - 1] == '*' || statement[i - 1] == '/');
    const int binding = 2 * depth + isFactor + (isSpace ? 0 : behindParenthesis);
    if (binding <= least) {
      least = binding;
      best = i + 1;
    }
  }
  return best;
}
