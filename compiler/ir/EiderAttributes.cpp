//===- EiderAttributes.cpp - Dims, numerics, schedules, scaled types ------===//
//
// Part of Eider, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//
#include "compiler/ir/Eider.h"

#include "mlir/AsmParser/AsmParser.h"
#include "mlir/IR/DialectImplementation.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringSet.h"
#include "llvm/ADT/TypeSwitch.h"
#include "llvm/Support/Error.h"

#include <charconv>
#include <cmath>
#include <limits>

using namespace mlir;
using namespace eider::ir;

#include "compiler/ir/EiderEnums.cpp.inc"
#define GET_ATTRDEF_CLASSES
#include "compiler/ir/EiderAttrs.cpp.inc"
#define GET_TYPEDEF_CLASSES
#include "compiler/ir/EiderTypes.cpp.inc"

//===-- Dims --------------------------------------------------------------===//

std::string DimExpr::str() const {
  if (!name)
    return divisor == 1 ? std::to_string(factor)
                        : std::to_string(factor) + " / " + std::to_string(divisor);
  std::string text = factor == 1 ? name.str() : std::to_string(factor) + " * " + name.str();
  return divisor == 1 ? text : text + " / " + std::to_string(divisor);
}

std::string DimExpr::contractExpression() const {
  if (!name)
    return std::to_string(extent(0));
  std::string text = factor == 1 ? name.str() : std::to_string(factor) + " * " + name.str();
  return divisor == 1 ? text : "ceildiv(" + text + ", " + std::to_string(divisor) + ")";
}

static ParseResult parsePositive(AsmParser &parser, int64_t &value) {
  SMLoc at = parser.getCurrentLocation();
  if (parser.parseInteger(value))
    return failure();
  if (value < 0)
    return parser.emitError(at, "a dim's factors are not negative");
  return success();
}

/// `tokens`, `2 * hidden`, `hidden / 128`, `56`.
static ParseResult parseDimExpr(AsmParser &parser, DimExpr &dim) {
  StringRef name;
  auto parseName = [&]() -> ParseResult {
    if (parser.parseKeyword(&name))
      return failure();
    dim.name = StringAttr::get(parser.getContext(), name);
    return success();
  };
  int64_t factor = 0;
  OptionalParseResult integer = parser.parseOptionalInteger(factor);
  if (integer.has_value()) {
    if (failed(*integer) || factor < 0)
      return failure();
    dim.factor = factor;
    if (succeeded(parser.parseOptionalStar()) && parseName())
      return failure();
  } else if (parseName()) {
    return failure();
  }
  if (succeeded(parser.parseOptionalSlash())) {
    SMLoc at = parser.getCurrentLocation();
    if (parsePositive(parser, dim.divisor))
      return failure();
    if (dim.divisor == 0)
      return parser.emitError(at, "a dim's divisor is at least 1");
  }
  return success();
}

Attribute DimsAttr::parse(AsmParser &parser, Type) {
  SmallVector<DimExpr> exprs;
  auto parseOne = [&] { return parseDimExpr(parser, exprs.emplace_back()); };
  if (parser.parseCommaSeparatedList(AsmParser::Delimiter::LessGreater, parseOne))
    return {};
  return get(parser.getContext(), exprs);
}

void DimsAttr::print(AsmPrinter &printer) const {
  printer << '<';
  llvm::interleaveComma(getExprs(), printer, [&](const DimExpr &dim) { printer << dim.str(); });
  printer << '>';
}

//===-- Numerics ----------------------------------------------------------===//

namespace {
/// The shortest decimal text that reads back as the same float; `inf` for infinity.
std::string floatText(float value) {
  if (std::isinf(value))
    return "inf";
  char text[32];
  auto end = std::to_chars(text, text + sizeof text, value, std::chars_format::scientific).ptr;
  std::string shortest(text, end);
  if (shortest.find('.') == std::string::npos) // MLIR reads no float without a point.
    shortest.insert(shortest.find('e'), ".0");
  return shortest;
}

bool parseFloatText(StringRef text, float &value) {
  if (text == "inf") {
    value = std::numeric_limits<float>::infinity();
    return true;
  }
  APFloat parsed(APFloat::IEEEsingle());
  auto status = parsed.convertFromString(text, APFloat::rmNearestTiesToEven);
  if (!status) {
    llvm::consumeError(status.takeError());
    return false;
  }
  value = parsed.convertToFloat();
  return !std::isnan(value) && value >= 0;
}

/// All of a NumericsAttr's parameters, mutable.
struct NumericsFields {
  ScaleFormula scale = ScaleFormula::amax_over_max;
  PowerOfTwo powerOfTwo = PowerOfTwo::none;
  Arithmetic arithmetic = Arithmetic::divide;
  float amaxFloor = 0;
  float amaxBound = std::numeric_limits<float>::infinity();
  float scaleFloor = 0;
  float multiplierBound = std::numeric_limits<float>::max();
  ZeroBlock zeroBlock = ZeroBlock::one;
  Overflow overflow = Overflow::saturate;
  NaN nan = NaN::propagate;
  Rounding rounding = Rounding::nearest_even;

  NumericsFields() = default;
  explicit NumericsFields(NumericsAttr attr)
      : scale(attr.getScale()), powerOfTwo(attr.getPowerOfTwo()), arithmetic(attr.getArithmetic()),
        amaxFloor(attr.getAmaxFloor()), amaxBound(attr.getAmaxBound()),
        scaleFloor(attr.getScaleFloor()), multiplierBound(attr.getMultiplierBound()),
        zeroBlock(attr.getZeroBlock()), overflow(attr.getOverflow()), nan(attr.getNan()),
        rounding(attr.getRounding()) {}

  NumericsAttr build(MLIRContext *context) const {
    return NumericsAttr::get(context, scale, powerOfTwo, arithmetic, amaxFloor, amaxBound,
                             scaleFloor, multiplierBound, zeroBlock, overflow, nan, rounding);
  }

  /// Calls `visit(name, field)` for each parameter; the one list of their names.
  template <class Visit> void each(Visit visit) {
    visit("scale", scale);
    visit("power_of_two", powerOfTwo);
    visit("arithmetic", arithmetic);
    visit("amax_floor", amaxFloor);
    visit("amax_bound", amaxBound);
    visit("scale_floor", scaleFloor);
    visit("multiplier_bound", multiplierBound);
    visit("zero_block", zeroBlock);
    visit("overflow", overflow);
    visit("nan", nan);
    visit("rounding", rounding);
  }
};

std::string fieldText(float value) { return floatText(value); }
template <class Enum> std::string fieldText(Enum value) { return stringifyEnum(value).str(); }

bool parseField(StringRef text, float &field) { return parseFloatText(text, field); }
template <class Enum> bool parseField(StringRef text, Enum &field) {
  if (auto value = symbolizeEnum<Enum>(text)) {
    field = *value;
    return true;
  }
  return false;
}

/// What a parameter may be.
std::string fieldChoices(float) { return "a number of at least 0, or inf"; }
template <class Enum> std::string fieldChoices(Enum) {
  std::string choices;
  for (uint32_t i = 0; !stringifyEnum(static_cast<Enum>(i)).empty(); ++i)
    choices += (i ? ", " : "") + stringifyEnum(static_cast<Enum>(i)).str();
  return choices;
}

/// Sets parameter `name`; false and a message when name or value is unknown.
bool setField(NumericsFields &fields, StringRef name, StringRef value, std::string &message) {
  bool known = false, good = false;
  std::string names, choices;
  fields.each([&](StringRef field, auto &slot) {
    names += (names.empty() ? "" : ", ") + field.str();
    if (field == name) {
      known = true;
      choices = fieldChoices(slot);
      good = parseField(value, slot);
    }
  });
  if (!known)
    message =
        "no numerics parameter '" + name.str() + "'; they are " + names +
        (name == "seed" || name == "offset" ? "; seed and offset are of rounding=stochastic" : "");
  else if (!good)
    message = "numerics parameter '" + name.str() + "' cannot be '" + value.str() +
              "'; possible: " + choices;
  return good;
}
} // namespace

NumericsAttr NumericsAttr::getDefault(MLIRContext *context) {
  return NumericsFields().build(context);
}

NumericsAttr NumericsAttr::with(StringRef name, StringRef value, std::string &message) const {
  NumericsFields fields(*this);
  return setField(fields, name, value, message) ? fields.build(getContext()) : NumericsAttr();
}

/// A value after `=`: a keyword or a number, as text.
static ParseResult parseFieldText(AsmParser &parser, std::string &text) {
  if (succeeded(parser.parseOptionalKeywordOrString(&text)))
    return success();
  double number = 0;
  if (parser.parseFloat(number))
    return failure();
  text = floatText(static_cast<float>(number));
  return success();
}

Attribute NumericsAttr::parse(AsmParser &parser, Type) {
  NumericsFields fields;
  llvm::StringSet<> given;
  auto parseOne = [&]() -> ParseResult {
    std::string name, value, message;
    SMLoc at = parser.getCurrentLocation();
    if (parser.parseKeywordOrString(&name) || parser.parseEqual() || parseFieldText(parser, value))
      return failure();
    if (!setField(fields, name, value, message))
      return parser.emitError(at, message);
    if (!given.insert(name).second)
      return parser.emitError(at, "numerics parameter '") << name << "' stands twice";
    return success();
  };
  if (parser.parseCommaSeparatedList(AsmParser::Delimiter::LessGreater, parseOne))
    return {};
  return fields.build(parser.getContext());
}

void NumericsAttr::print(AsmPrinter &printer) const {
  std::vector<std::string> standard;
  NumericsFields defaults, fields(*this);
  defaults.each([&](StringRef, auto &slot) { standard.push_back(fieldText(slot)); });
  size_t index = 0;
  StringRef separator = "";
  printer << '<';
  fields.each([&](StringRef name, auto &slot) {
    std::string text = fieldText(slot);
    if (text != standard[index++]) {
      printer << separator << name << " = " << text;
      separator = ", ";
    }
  });
  printer << '>';
}

//===-- Schedules ---------------------------------------------------------===//

std::string ScheduleAttr::str() const {
  const ScheduleKnobs standard;
  std::string text;
  for (const ScheduleKnob &knob : scheduleKnobs)
    if (int64_t value = getKnobs().*knob.value; value != standard.*knob.value)
      text += std::string(text.empty() ? "" : ", ") + knob.name + " = " + std::to_string(value);
  return stringifyFamily(getFamily()).str() + "<" + text + ">";
}

static const ScheduleKnob *findKnob(StringRef name) {
  const auto *knob =
      llvm::find_if(scheduleKnobs, [&](const ScheduleKnob &knob) { return name == knob.name; });
  return knob == std::end(scheduleKnobs) ? nullptr : knob;
}

static Attribute parseScheduleBody(AsmParser &parser) {
  StringRef keyword;
  SMLoc at = parser.getCurrentLocation();
  if (parser.parseKeyword(&keyword))
    return {};
  auto family = symbolizeFamily(keyword);
  if (!family) {
    parser.emitError(at, "no schedule family '")
        << keyword << "'; they are map, row, tile, contract, attention";
    return {};
  }
  ScheduleKnobs knobs;
  llvm::SmallPtrSet<const ScheduleKnob *, 8> given;
  auto parseOne = [&]() -> ParseResult {
    StringRef name;
    int64_t value = 0;
    SMLoc at = parser.getCurrentLocation();
    if (parser.parseKeyword(&name) || parser.parseEqual() || parser.parseInteger(value))
      return failure();
    const ScheduleKnob *knob = findKnob(name);
    if (!knob) {
      auto error = parser.emitError(at, "no schedule knob '") << name << "'; they are ";
      llvm::interleaveComma(scheduleKnobs, error,
                            [&](const ScheduleKnob &knob) { error << knob.name; });
      return error;
    }
    if (!given.insert(knob).second)
      return parser.emitError(at, "schedule knob '") << name << "' stands twice";
    if (value < 1 || value > (1 << 20))
      return parser.emitError(at, "schedule knob '") << name << "' is out of range: " << value;
    knobs.*knob->value = value;
    return success();
  };
  if (parser.parseCommaSeparatedList(AsmParser::Delimiter::LessGreater, parseOne))
    return {};
  if (!knobs.threads || !knobs.vector) {
    parser.emitError(at, "a schedule needs threads and vector");
    return {};
  }
  return ScheduleAttr::get(parser.getContext(), *family, knobs);
}

Attribute ScheduleAttr::parse(AsmParser &parser, Type) {
  if (parser.parseLess())
    return {};
  Attribute schedule = parseScheduleBody(parser);
  if (!schedule || parser.parseGreater())
    return {};
  return schedule;
}

void ScheduleAttr::print(AsmPrinter &printer) const { printer << '<' << str() << '>'; }

ScheduleAttr ScheduleAttr::parse(MLIRContext *context, StringRef text, std::string &message) {
  ScopedDiagnosticHandler handler(context, [&](Diagnostic &diagnostic) {
    if (message.empty())
      message = diagnostic.str();
    return success();
  });
  Attribute attr = parseAttribute(("#eider.schedule<" + text + ">").str(), context);
  return llvm::dyn_cast_or_null<ScheduleAttr>(attr);
}

//===-- Layouts -----------------------------------------------------------===//

Attribute LayoutAttr::parse(AsmParser &parser, Type) {
  StringRef name;
  SMLoc at = parser.getCurrentLocation();
  if (parser.parseLess() || parser.parseKeyword(&name) || parser.parseGreater())
    return {};
  if (const ScaleLayoutInfo *row = findScaleLayout(name))
    return get(parser.getContext(), row->layout);
  parser.emitError(at, "no scale layout '") << name << "'; they are " << namesOfScaleLayouts();
  return {};
}

void LayoutAttr::print(AsmPrinter &printer) const {
  printer << '<' << infoOf(getValue()).name << '>';
}

//===-- Scaled types ------------------------------------------------------===//

static void printExtents(AsmPrinter &printer, ArrayRef<int64_t> extents) {
  printer << '[';
  llvm::interleaveComma(extents, printer, [&](int64_t extent) {
    if (ShapedType::isDynamic(extent))
      printer << '*';
    else
      printer << extent;
  });
  printer << ']';
}

static ParseResult parseExtents(AsmParser &parser, SmallVectorImpl<int64_t> &extents) {
  return parser.parseCommaSeparatedList(AsmParser::Delimiter::Square, [&]() -> ParseResult {
    extents.push_back(ShapedType::kDynamic);
    if (succeeded(parser.parseOptionalStar()))
      return success();
    return parser.parseInteger(extents.back());
  });
}

Type ScaledType::parse(AsmParser &parser) {
  SmallVector<int64_t> shape, block;
  Type element, scale;
  StringRef layout;
  SMLoc at = parser.getCurrentLocation();
  if (parser.parseLess() || parser.parseDimensionList(shape) || parser.parseType(element) ||
      parser.parseComma() || parser.parseKeyword("dims") || parser.parseEqual())
    return {};
  auto dims = llvm::dyn_cast_or_null<DimsAttr>(DimsAttr::parse(parser, Type()));
  if (!dims || parser.parseComma() || parser.parseKeyword("block") || parser.parseEqual() ||
      parseExtents(parser, block) || parser.parseComma() || parser.parseKeyword("scale") ||
      parser.parseEqual() || parser.parseType(scale) || parser.parseComma() ||
      parser.parseKeyword("layout") || parser.parseEqual() || parser.parseKeyword(&layout) ||
      parser.parseGreater())
    return {};
  const ScaleLayoutInfo *row = findScaleLayout(layout);
  if (!row) {
    parser.emitError(at, "no scale layout '") << layout << "'; they are " << namesOfScaleLayouts();
    return {};
  }
  return getChecked([&] { return parser.emitError(at); }, parser.getContext(), shape, element, dims,
                    block, scale, row->layout);
}

void ScaledType::print(AsmPrinter &printer) const {
  printer << '<';
  for (int64_t extent : getShape())
    if (ShapedType::isDynamic(extent))
      printer << "?x";
    else
      printer << extent << 'x';
  printer << getElementType() << ", dims = ";
  getDims().print(printer);
  printer << ", block = ";
  printExtents(printer, getBlock());
  printer << ", scale = " << getScaleType() << ", layout = " << infoOf(getLayout()).name << '>';
}

LogicalResult ScaledType::verify(function_ref<InFlightDiagnostic()> emitError,
                                 ArrayRef<int64_t> shape, Type element, DimsAttr dims,
                                 ArrayRef<int64_t> block, Type scale, ScaleLayout layout) {
  if (!isCodeType(element))
    return emitError() << "a scaled tensor holds codes (" << namesOfTypes(&ElementType::isCode)
                       << "), not " << element;
  if (!isScaleType(scale))
    return emitError() << "scales are " << namesOfTypes(&ElementType::isScale) << ", not " << scale;
  if (dims.getExprs().size() != shape.size())
    return emitError() << "a tensor of rank " << shape.size() << " needs as many dims, not "
                       << dims.getExprs().size();
  if (block.size() != shape.size())
    return emitError() << "a block has its tensor's rank " << shape.size() << ", not "
                       << block.size();
  for (int64_t extent : block)
    if (!ShapedType::isDynamic(extent) && (extent < 1 || extent > INT32_MAX))
      return emitError() << "a block's extents are 1 to 2147483647, or *";
  SmallVector<DimExpr> scales;
  for (auto [dim, extent] : llvm::zip_equal(dims.getExprs(), block))
    scales.push_back(dim.blocks(extent));
  std::string problem = problemOfLayout(layout, scale, scales);
  return problem.empty() ? success() : LogicalResult(emitError() << problem);
}

RankedTensorType ScaledType::getCodesType() const {
  return RankedTensorType::get(getShape(), getElementType(), getDims());
}

RankedTensorType ScaledType::getScalesType() const {
  return cast<RankedTensorType>(reducedType(getCodesType(), getBlock()).clone(getScaleType()));
}

RankedTensorType ScaledType::getGlobalType() const {
  return RankedTensorType::get({1}, Float32Type::get(getContext()),
                               DimsAttr::get(getContext(), {DimExpr{nullptr, 1, 1}}));
}

RankedTensorType eider::ir::reducedType(RankedTensorType type, ArrayRef<int64_t> block) {
  SmallVector<int64_t> shape;
  SmallVector<DimExpr> dims;
  for (auto [extent, dim, group] :
       llvm::zip_equal(type.getShape(), dimsOf(type).getExprs(), block)) {
    dims.push_back(dim.blocks(group));
    if (ShapedType::isDynamic(group))
      shape.push_back(1);
    else
      shape.push_back(ShapedType::isDynamic(extent) ? extent
                                                    : extent / group + (extent % group != 0));
  }
  return RankedTensorType::get(shape, Float32Type::get(type.getContext()),
                               DimsAttr::get(type.getContext(), dims));
}

bool eider::ir::isOneValue(RankedTensorType type) {
  return llvm::all_of(dimsOf(type).getExprs(), [](const DimExpr &dim) { return dim.isOne(); });
}

SmallVector<DimExpr> eider::ir::dimsInMemory(RankedTensorType type) {
  SmallVector<DimExpr> dims(dimsOf(type).getExprs());
  if (const int64_t packing = packingOf(type.getElementType()); packing > 1 && !dims.empty())
    dims.back() = dims.back().blocks(packing);
  return dims;
}

DimsAttr eider::ir::dimsOf(Type type) {
  if (auto scaled = dyn_cast<ScaledType>(type))
    return scaled.getDims();
  if (auto tensor = dyn_cast<RankedTensorType>(type))
    return dyn_cast_or_null<DimsAttr>(tensor.getEncoding());
  return {};
}

RankedTensorType eider::ir::tensorType(DimsAttr dims, Type elementType, ProgramOp program) {
  SmallVector<int64_t> shape;
  for (const DimExpr &dim : dims.getExprs()) {
    int64_t value = ShapedType::kDynamic;
    if (program && dim.name)
      value = program.getDimValue(dim.name);
    shape.push_back(dim.extent(value));
  }
  return RankedTensorType::get(shape, elementType, dims);
}

void EiderDialect::registerAttributes() {
  addAttributes<
#define GET_ATTRDEF_LIST
#include "compiler/ir/EiderAttrs.cpp.inc"
      >();
}

void EiderDialect::registerTypes() {
  addTypes<
#define GET_TYPEDEF_LIST
#include "compiler/ir/EiderTypes.cpp.inc"
      >();
}
