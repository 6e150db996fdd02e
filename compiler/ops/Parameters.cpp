//===- Parameters.cpp - Reads the parameters of a library op --------------===//
//
// Part of Eider, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//
#include "compiler/dsl/Modes.h"
#include "compiler/ops/Library.h"

#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringRef.h"

using namespace eider;
using namespace eider::ops;

namespace {
/// One parameter of one op, for its errors; `option` as on the command line.
struct Reader {
  const std::string &op;
  const char *option;
  const std::string &value;

  [[noreturn]] void refuse(const std::string &why, const std::string &possible) const {
    throw Error(ErrorKind::Request, std::string(option) + " cannot be '" + value + "'" + why, op,
                "give " + possible);
  }

  template <class T>
  void choose(T &slot, std::initializer_list<std::pair<const char *, T>> choices,
              const std::string &why = "") const {
    if (value.empty())
      return;
    std::string possible;
    for (auto [name, choice] : choices) {
      if (value == name) {
        slot = choice;
        return;
      }
      possible += (possible.empty() ? "" : ", ") + std::string(name);
    }
    refuse(why, possible);
  }

  /// The type of that name among those that a tensor has in a use.
  void choose(DType &slot, bool ir::ElementType::*use, const std::string &others = "") const {
    if (value.empty())
      return;
    for (const ir::ElementType &type : ir::elementTypes())
      if (type.*use && type.name == value) {
        slot = type.dtype;
        return;
      }
    refuse("", ir::namesOfTypes(use) + others);
  }

  void choose(ScaleLayout &slot) const {
    if (value.empty())
      return;
    const ir::ScaleLayoutInfo *row = ir::findScaleLayout(value);
    if (!row)
      refuse("", ir::namesOfScaleLayouts());
    slot = row->layout;
  }
};
} // namespace

/// `128`, `*`.
static bool parseExtent(llvm::StringRef text, int64_t &extent) {
  if (text == "*") {
    extent = whole;
    return true;
  }
  return !text.empty() && llvm::all_of(text, llvm::isDigit) && !text.getAsInteger(10, extent) &&
         extent >= 1 && extent <= INT32_MAX;
}

/// `1x128`, `128x128`, `1x*`, `*x*`.
static void readBlock(const Reader &reader, Block &block) {
  if (reader.value.empty())
    return;
  auto [rows, columns] = llvm::StringRef(reader.value).split('x');
  block.resize(2);
  if (!parseExtent(rows, block[0]) || !parseExtent(columns, block[1]))
    reader.refuse("", "ROWSxCOLUMNS, each 1 to 2147483647 or *: 1x128, 128x128, 1x*, *x*");
}

/// A value that the op's table of parameters lacks.
static void checkTaken(const OpInfo &op, const OpParameters &text) {
  const std::pair<const char *, bool> given[] = {{"dtype", !text.dtype.empty()},
                                                 {"format", !text.format.empty()},
                                                 {"block", !text.block.empty()},
                                                 {"fromFormat", !text.fromFormat.empty()},
                                                 {"fromBlock", !text.fromBlock.empty()},
                                                 {"fromScale", !text.fromScale.empty()},
                                                 {"fromScaleLayout", !text.fromScaleLayout.empty()},
                                                 {"scale", !text.scale.empty()},
                                                 {"scaleLayout", !text.scaleLayout.empty()},
                                                 {"scaleSource", !text.scaleSource.empty()},
                                                 {"mode", !text.mode.empty()},
                                                 {"numerics", !text.numerics.empty()},
                                                 {"index", !text.index.empty()},
                                                 {"copy", !text.copy.empty()},
                                                 {"transposed", !text.transposed.empty()},
                                                 {"amax", !text.amax.empty()}};
  for (auto [name, isGiven] : given)
    if (isGiven && !llvm::is_contained(op.parameters, name))
      throw Error(ErrorKind::Request, std::string("there is no parameter ") + name, op.name,
                  "it takes " + llvm::join(op.parameters, ", "));
}

/// Mode and single parameters, checked here so that the error names the option.
static void readNumerics(const OpInfo &op, const OpParameters &text, Parameters &parameters) {
  parameters.numerics = text.numerics;
  if (text.mode.empty() && text.numerics.empty())
    return; // The defaults go together: no context need be made for them.
  mlir::MLIRContext context(mlir::MLIRContext::Threading::DISABLED);
  context.loadDialect<ir::EiderDialect>();
  auto numerics = detail::numericsOf(&context, parameters.mode, parameters.format, parameters.scale,
                                     parameters.numerics);
  if (!numerics) {
    std::string message = llvm::toString(numerics.takeError());
    auto [what, remedy] = llvm::StringRef(message).split("; ");
    throw Error(ErrorKind::Request, what.str(), op.name, remedy.str());
  }
}

/// What says how to quantise, where nothing is.
static void checkOfCodes(const OpInfo &op, const OpParameters &text, DType format) {
  if (format != bf16 && format != f16)
    return;
  const std::pair<const char *, bool> given[] = {{"--block", !text.block.empty()},
                                                 {"--scale", !text.scale.empty()},
                                                 {"--scale-source", !text.scaleSource.empty()},
                                                 {"--mode", !text.mode.empty()},
                                                 {"numerics", !text.numerics.empty()}};
  for (auto [option, isGiven] : given)
    if (isGiven)
      throw Error(ErrorKind::Request,
                  "of --format " + text.format + " there are no codes, and no scales", op.name,
                  std::string("leave ") + option + " out");
}

/// What the op is told itself.
static void readSettings(const OpInfo &op, const OpParameters &text, Parameters &parameters) {
  for (const OpSetting &setting : op.settings)
    parameters.settings[setting.name] = setting.value;
  for (const auto &[name, value] : text.settings) {
    auto known = llvm::find_if(
        op.settings, [&, &name = name](const OpSetting &setting) { return setting.name == name; });
    if (known == op.settings.end())
      throw Error(ErrorKind::Request, "there is no setting " + name, op.name, "leave it out");
    const std::string option = "--set " + name;
    int64_t number = 0;
    if (llvm::StringRef(value).getAsInteger(10, number) || number < known->least ||
        number > known->most)
      Reader{op.name, option.c_str(), value}.refuse(
          "", "an integer, " + std::to_string(known->least) + " to " + std::to_string(known->most));
    parameters.settings[name] = number;
  }
}

Parameters eider::ops::readParameters(const OpInfo &op, const OpParameters &text) {
  checkTaken(op, text);
  Parameters parameters;
  parameters.op = op.name;
  // An op without numerics does not quantise; dequantize takes a format and a block for its x.
  parameters.quantises = llvm::is_contained(op.parameters, "numerics");
  auto reader = [&](const char *option, const std::string &value) {
    return Reader{op.name, option, value};
  };
  reader("--dtype", text.dtype)
      .choose<DType>(parameters.dtype, {{"bf16", bf16}, {"f16", f16}, {"f32", f32}});
  if (!text.mode.empty())
    parameters.mode = text.mode;
  const detail::ModeDefaults defaults = detail::defaultsOf(parameters.mode);
  parameters.scale = defaults.scale;
  parameters.block = defaults.block;
  // Of what is read, where y has a format of its own.
  const bool takesFrom = op.takesFloats && llvm::is_contained(op.parameters, "fromFormat");
  auto chooseFormat = [&](const char *option, const std::string &given, DType &slot, bool floats) {
    if (floats && (given == "bf16" || given == "f16"))
      slot = given == "bf16" ? bf16 : f16;
    else
      reader(option, given).choose(slot, &ir::ElementType::isCode, floats ? ", bf16, f16" : "");
  };
  chooseFormat("--format", text.format, parameters.format, op.takesFloats && !takesFrom);
  chooseFormat("--from-format", text.fromFormat, parameters.fromFormat, takesFrom);
  checkOfCodes(op, text, parameters.format);
  readBlock(reader("--block", text.block), parameters.block);
  readBlock(reader("--from-block", text.fromBlock), parameters.fromBlock);
  reader("--from-scale", text.fromScale).choose(parameters.fromScale, &ir::ElementType::isScale);
  reader("--from-scale-layout", text.fromScaleLayout).choose(parameters.fromLayout);
  reader("--scale", text.scale).choose(parameters.scale, &ir::ElementType::isScale);
  reader("--scale-layout", text.scaleLayout).choose(parameters.layout);
  reader("--scale-source", text.scaleSource)
      .choose<bool>(parameters.givenScales, {{"dynamic", false}, {"static", true}});
  reader("--index", text.index)
      .choose<DType>(parameters.index, {{"i64", DType::i64}, {"i32", DType::i32}});
  reader("--copy", text.copy)
      .choose<std::optional<DType>>(
          parameters.copy, {{"none", std::nullopt}, {"bf16", bf16}, {"f16", f16}, {"f32", f32}});
  reader("--transposed", text.transposed)
      .choose<bool>(parameters.transposes, {{"no", false}, {"yes", true}});
  reader("--amax", text.amax).choose<bool>(parameters.givesAmax, {{"no", false}, {"yes", true}});
  readNumerics(op, text, parameters);
  readSettings(op, text, parameters);
  return parameters;
}
