//===- Combinations.cpp - Which parameters go together --------------------===//
//
// Part of Eider, under the Apache License v2.0.
//
// Asks the compiler itself: every entry of docs/reference/combinations.md is a program that was
// recorded, verified and lowered, or what refused it. The names are those that the compiler offers
// where it is asked for one that it does not have.
//
//===----------------------------------------------------------------------===//
#include "eider/compile.h"
#include "eider/error.h"

#include <algorithm>
#include <cstdio>
#include <cstring>
#include <fstream>
#include <map>
#include <sstream>

using namespace eider;

namespace {
using Names = std::vector<std::string>;

/// One of each kind that the compiler tells apart: along a row, of rows and columns, down a column,
/// the tensor; and along a row two, and of several rows one, that no schedule has.
const Names blocks = {"1x16",  "1x32",    "1x128", "1x512", "1x96", "1x1024", "1x*",
                      "32x32", "128x128", "128x1", "2x*",   "*x1",  "*x*"};

//===-- What the compiler is asked ----------------------------------------===//

/// Without the places before it: the same reason for the same thing.
std::string reasonOf(const Error &error, const std::string &op) {
  std::string text = error.what();
  for (const std::string &place : {error.where(), op, std::string("scaled_input 'x'"),
                                   std::string("input 'scale'"), std::string("input 'scale_t'")})
    if (!place.empty() && text.starts_with(place + ": "))
      text.erase(0, place.size() + 2);
  return text;
}

/// Extents of heads, and of groups of rows.
const std::map<std::string, int64_t> extents = {{"groups", 8},  {"batches", 8}, {"h", 32},
                                                {"d", 128},     {"page", 16},   {"scales", 1},
                                                {"kv_heads", 8}};

/// Why a request is refused; empty: it is not.
std::string problemOf(const std::string &op, const OpParameters &parameters,
                      const std::string &codec = "auto") {
  try {
    CompileOptions options;
    options.target = "sm_90";
    options.codec = codec;
    const Program program = libraryOp(op, parameters);
    for (const Signature::NamedDim &dim : program.signature().dims)
      if (dim.name == "hidden" || dim.name == "k" || (dim.name == "n" && !op.ends_with("gemv")))
        options.dims[dim.name] = 4096;
      else if (const auto extent = extents.find(dim.name); extent != extents.end())
        options.dims[dim.name] = extent->second;
    emit(program, options, Stage::Simt);
    return "";
  } catch (const Error &error) {
    return reasonOf(error, op);
  }
}

/// The names after `before` in the refusal of a name that there is not; none: a number is asked
/// for.
Names offered(const OpParameters &asked, const std::string &before) {
  const std::string text = problemOf("quantize", asked);
  const size_t begin = text.rfind(before);
  Names names;
  if (begin == std::string::npos || text.find("a number", begin) != std::string::npos)
    return names;
  std::istringstream list(text.substr(begin + before.size()));
  for (std::string name; std::getline(list >> std::ws, name, ',');)
    names.push_back(name);
  return names;
}

struct Offer {
  Names formats = offered({.format = "?"}, "give "), scales = offered({.scale = "?"}, "give "),
        layouts = offered({.scaleLayout = "?"}, "give "),
        modes = offered({.mode = "?"}, "they are "),
        sources = offered({.scaleSource = "?"}, "give "),
        numerics = offered({.numerics = {{"?", "?"}}}, "they are ");

  /// None is empty: the page is then about something.
  bool isWhole() const {
    return std::ranges::none_of(
        std::initializer_list<Names>{formats, scales, layouts, modes, sources, numerics},
        &Names::empty);
  }
};

//===-- The tables --------------------------------------------------------===//

/// A table of two axes; what is refused has a number, and its reason below.
class Table {
public:
  Table(std::ostream &out, const std::string &corner, const Names &columns) : out(out) {
    out << "| " << corner;
    for (const std::string &column : columns)
      out << " | `" << column << "`";
    out << " |\n|";
    for (size_t i = 0; i <= columns.size(); ++i)
      out << "-|";
  }

  void row(const std::string &name, const Names &problems) {
    out << "\n| `" << name << "`";
    for (const std::string &problem : problems)
      out << " | " << (problem.empty() ? "yes" : std::to_string(numberOf(problem)));
    out << " |";
  }

  ~Table() {
    out << "\n\n";
    for (size_t i = 0; i < reasons.size(); ++i)
      out << i + 1 << ". " << reasons[i] << "\n";
    out << (reasons.empty() ? "" : "\n");
  }

private:
  size_t numberOf(const std::string &reason) {
    const auto known = std::ranges::find(reasons, reason);
    if (known != reasons.end())
      return static_cast<size_t>(known - reasons.begin()) + 1;
    reasons.push_back(reason);
    return reasons.size();
  }

  std::ostream &out;
  Names reasons;
};

/// The first type of scales that a layout takes; the first of all where it takes none.
std::string scaleOf(const Offer &offer, const std::string &layout) {
  for (const std::string &scale : offer.scales)
    if (problemOf("quantize", {.block = "1x128", .scale = scale, .scaleLayout = layout}).empty())
      return scale;
  return offer.scales.front();
}

void writeFormatsByScale(std::ostream &out, const Offer &offer) {
  out << "## Formats\n\nWho converts them, on sm_90 (`--codec`); with each type of scales:\n\n";
  Names columns = {"hardware", "software"};
  columns.insert(columns.end(), offer.scales.begin(), offer.scales.end());
  Table table(out, "format", columns);
  for (const std::string &format : offer.formats) {
    Names problems;
    for (const char *codec : {"hardware", "software"})
      problems.push_back(problemOf("quantize", {.format = format}, codec));
    for (const std::string &scale : offer.scales)
      problems.push_back(problemOf("quantize", {.format = format, .scale = scale}));
    table.row(format, problems);
  }
}

void writeFormatsByBlock(std::ostream &out, const Offer &offer) {
  out << "With each block:\n\n";
  Table table(out, "format", blocks);
  for (const std::string &format : offer.formats)
    for (const std::string &source : offer.sources) {
      Names problems;
      for (const std::string &block : blocks)
        problems.push_back(
            problemOf("quantize", {.format = format, .block = block, .scaleSource = source}));
      table.row(format + " --scale-source " + source, problems);
    }
}

/// With each type of scales, from the data and given.
Names problemsByScale(const Offer &offer, OpParameters parameters) {
  Names problems;
  parameters.block = "1x128";
  for (const std::string &source : offer.sources)
    for (const std::string &scale : offer.scales) {
      parameters.scale = scale;
      parameters.scaleSource = source;
      problems.push_back(problemOf("quantize", parameters));
    }
  return problems;
}

Names columnsByScale(const Offer &offer) {
  Names columns;
  for (const std::string &source : offer.sources)
    for (const std::string &scale : offer.scales)
      columns.push_back(source + " " + scale);
  return columns;
}

void writeNumerics(std::ostream &out, const Offer &offer) {
  out << "## Modes\n\nWith each type of scales, computed from the data (`dynamic`) or given "
         "(`static`):\n\n";
  {
    Table table(out, "mode", columnsByScale(offer));
    for (const std::string &mode : offer.modes)
      table.row(mode, problemsByScale(offer, {.mode = mode}));
  }
  out << "## Rounding, and what else decides bits\n\nSingle parameters of the numerics over the "
         "mode `default` (`--set`); those that are numbers go with everything:\n\n";
  Table table(out, "parameter", columnsByScale(offer));
  for (const std::string &parameter : offer.numerics)
    for (const std::string &value : offered({.numerics = {{parameter, "?"}}}, "possible: "))
      table.row(parameter + "=" + value,
                problemsByScale(offer, {.numerics = {{parameter, value}}}));
}

void writeLayouts(std::ostream &out, const Offer &offer) {
  out << "## Layouts of scales\n\nWith each type of scales:\n\n";
  {
    Table table(out, "layout", columnsByScale(offer));
    for (const std::string &layout : offer.layouts)
      table.row(layout, problemsByScale(offer, {.scaleLayout = layout}));
  }
  out << "With each block, as `dequantize` reads them, in the first type of scales that the layout "
         "takes:\n\n";
  Table table(out, "layout", blocks);
  for (const std::string &layout : offer.layouts) {
    const std::string scale = scaleOf(offer, layout);
    Names problems;
    for (const std::string &block : blocks)
      problems.push_back(
          problemOf("dequantize", {.block = block, .scale = scale, .scaleLayout = layout}));
    table.row(layout, problems);
  }
}

void writeBlocks(std::ostream &out, const Offer &offer) {
  out << "## Ops and blocks\n\nEvery op that takes a block; `hidden`, `k` and a product's `n` are "
         "4096, `groups` and `batches` 8; of attention 32 heads of 128.\n\n";
  Table table(out, "op", blocks);
  for (const OpInfo &op : libraryOps()) {
    auto takes = [&](const char *parameter) {
      return std::ranges::find(op.parameters, parameter) != op.parameters.end();
    };
    if (!takes("block"))
      continue;
    for (const std::string &source : takes("scaleSource") ? offer.sources : Names{""}) {
      Names problems;
      for (const std::string &block : blocks)
        problems.push_back(problemOf(op.name, {.block = block, .scaleSource = source}));
      table.row(op.name + (source.empty() ? "" : " --scale-source " + source), problems);
    }
  }
}

void writeTransposes(std::ostream &out, const Offer &offer) {
  out << "## Transposes\n\nOf `cast_transpose`, and of whatever op with `--transposed yes`:\n\n";
  const Names roundings = {"nearest_even", "stochastic"};
  Names columns;
  for (const std::string &source : offer.sources)
    for (const std::string &rounding : roundings)
      columns.push_back(source + " rounding=" + rounding);
  Table table(out, "format", columns);
  for (const std::string &format : offer.formats) {
    Names problems;
    for (const std::string &source : offer.sources)
      for (const std::string &rounding : roundings)
        problems.push_back(problemOf(
            "cast_transpose",
            {.format = format, .scaleSource = source, .numerics = {{"rounding", rounding}}}));
    table.row(format, problems);
  }
}

void writeAmax(std::ostream &out) {
  out << "## The largest magnitude\n\n`--amax yes`, of the same dims:\n\n";
  Table table(out, "op", blocks);
  for (const OpInfo &op : libraryOps()) {
    if (std::ranges::find(op.parameters, "amax") == op.parameters.end())
      continue;
    Names problems;
    for (const std::string &block : blocks)
      problems.push_back(problemOf(op.name, {.block = block, .amax = "yes"}));
    table.row(op.name, problems);
  }
}

std::string page(const Offer &offer) {
  std::ostringstream out;
  out << "# What goes together\n\nWritten by `docs-combinations --update FILE` from what the "
         "compiler says, and tested to be current (`ctest -R docs.combinations`): every entry was "
         "recorded, verified and lowered, or refused. A number stands for the reason below a "
         "table. Where a table does not speak of a parameter, that has its default.\n\nThe tables "
         "decide together: the test takes formats in turn through all types of scales, "
         "layouts, modes, sources and blocks of `quantize`, and of `cast_transpose` in the mode "
         "`default` and rounded to nearest, and what no table refuses works.\n\n";
  writeFormatsByScale(out, offer);
  writeFormatsByBlock(out, offer);
  writeNumerics(out, offer);
  writeLayouts(out, offer);
  writeBlocks(out, offer);
  writeTransposes(out, offer);
  writeAmax(out);
  const std::string text = out.str();
  return text.substr(0, text.find_last_not_of('\n') + 2);
}

//===-- Whether they say all ----------------------------------------------===//

/// Whether an entry of a table refuses it; they are few, and asked for once each.
bool isRefusedByATable(const std::string &op, const OpParameters &p) {
  static std::map<Names, bool> known;
  auto refuses = [&](const std::string &name, const OpParameters &e) {
    const Names entry = {name, e.format, e.block, e.scale, e.scaleLayout, e.scaleSource, e.mode};
    auto [answer, isNew] = known.try_emplace(entry);
    if (isNew)
      answer->second = !problemOf(name, e).empty();
    return answer->second;
  };
  const std::string &scale = p.scale, &source = p.scaleSource, block = "1x128";
  return refuses("quantize", {.format = p.format, .scale = scale}) ||
         refuses("quantize",
                 {.block = block, .scale = scale, .scaleSource = source, .mode = p.mode}) ||
         refuses("quantize", {.block = block,
                              .scale = scale,
                              .scaleLayout = p.scaleLayout,
                              .scaleSource = source}) ||
         refuses("dequantize", {.block = p.block, .scale = scale, .scaleLayout = p.scaleLayout}) ||
         refuses("quantize", {.format = p.format, .block = p.block, .scaleSource = source}) ||
         (op != "quantize" && (refuses(op, {.block = p.block, .scaleSource = source}) ||
                               refuses(op, {.format = p.format, .scaleSource = source})));
}

bool isDecidedByTables(const std::string &op, const OpParameters &p) {
  const std::string problem = problemOf(op, p);
  if (problem.empty() != isRefusedByATable(op, p))
    return true;
  std::fprintf(stderr, "the tables do not decide %s %s %s %s %s %s %s: %s\n", op.c_str(),
               p.format.c_str(), p.block.c_str(), p.scale.c_str(), p.scaleLayout.c_str(),
               p.scaleSource.c_str(), p.mode.c_str(),
               problem.empty() ? "it works" : problem.c_str());
  return false;
}

bool tablesDecideAll(const Offer &offer) {
  bool all = true;
  size_t turn = 0;
  for (const std::string &block : blocks)
    for (const std::string &scale : offer.scales)
      for (const std::string &layout : offer.layouts)
        for (const std::string &source : offer.sources) {
          OpParameters asked = {
              .block = block, .scale = scale, .scaleLayout = layout, .scaleSource = source};
          for (const std::string &mode : offer.modes) {
            asked.format = offer.formats[turn++ % offer.formats.size()];
            asked.mode = mode;
            all &= isDecidedByTables("quantize", asked);
          }
          asked.mode = offer.modes.front();
          for (const std::string &format : offer.formats) {
            asked.format = format;
            all &= isDecidedByTables("cast_transpose", asked);
          }
        }
  return all;
}
} // namespace

int main(int count, char **arguments) {
  if (count != 3 ||
      (std::strcmp(arguments[1], "--update") != 0 && std::strcmp(arguments[1], "--check") != 0)) {
    std::fprintf(stderr, "usage: docs-combinations --update|--check FILE\n");
    return 2;
  }
  const Offer offer;
  if (!offer.isWhole()) {
    std::fprintf(stderr, "the compiler does not offer names where it refuses one\n");
    return 1;
  }
  const std::string text = page(offer);
  if (std::strcmp(arguments[1], "--update") == 0)
    return (std::ofstream(arguments[2]) << text).good() ? 0 : 3;
  std::ifstream file(arguments[2]);
  const std::string committed(std::istreambuf_iterator<char>(file), {});
  if (committed != text)
    std::fprintf(stderr,
                 "%s is not what the compiler says; docs-combinations --update writes it anew\n",
                 arguments[2]);
  const bool decided = tablesDecideAll(offer);
  return committed == text && decided ? 0 : 1;
}
