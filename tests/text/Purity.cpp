//===- Purity.cpp - Whether a text keeps to its vocabulary ----------------===//
//
// Part of Eider, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//
#include "tests/text/Purity.h"

#include "templates/EmbeddedTemplates.h"

#include <algorithm>
#include <cctype>
#include <optional>
#include <regex>
#include <sstream>

using namespace eider;
using namespace eider::text;

const Vocabulary &text::vocabulary() {
  static const Vocabulary names = {
      {"using",
       "namespace",
       "extern",
       "void",
       "const",
       "auto",
       "for",
       "if",
       "return",
       "float",
       "bf16",
       "f16",
       "e4m3",
       "e5m2",
       "e4m3fnuz",
       "e5m2fnuz",
       "e2m1",
       "e8m0",
       "int32",
       "int64",
       "eider",
       "hardware",
       "nullptr",
       "true",
       "false",
       "software",
       "streaming",
       "BulkStores",
       "Codec",
       "GridBarrier",
       "RowTile",
       "RowsTile",
       "BlockTile",
       "GroupedTile",
       "Product",
       "GroupedProduct",
       "AttentionParts",
       "AttentionDecode",
       "AttentionPrefill",
       "WarpgroupPrefill",
       "WarpgroupProduct",
       "CodeProduct",
       "TensorCores",
       "all_rows",
       "MnMajorAligned",
       "PackedUe8m0",
       "Swizzled128x4",
       "TeGemmReady",
       "ScaleExtents",
       "OfEveryRow",
       "at_launch",
       "__global__",
       "__launch_bounds__",
       "__cluster_dims__"},
      {"to",
       "min",
       "max",
       "min_number",
       "max_number",
       "abs",
       "sqrt",
       "rsqrt",
       "rcp",
       "divide_by_count",
       "exp",
       "exp2",
       "log",
       "tanh",
       "erf",
       "gelu",
       "fma",
       "select",
       "sigmoid",
       "spread",
       "widen_again",
       "load_uniform",
       "store_uniform",
       "leave_sums",
       "all_sums",
       "rows_ahead",
       "ceildiv",
       "scored",
       "combining",
       "no_pages",
       "packed",
       "infinity",
       "power_of_two_above",
       "power_of_two_below"},
      {"load",
       "store",
       "store_in_bulk",
       "load_columns",
       "load_groups",
       "store_groups",
       "load_rows",
       "store_rows",
       "load_block",
       "store_block",
       "sum",
       "max",
       "min",
       "amax",
       "amax_number",
       "sum_of_groups",
       "sum_of_groups_of_products",
       "max_of_groups",
       "min_of_groups",
       "amax_of_groups",
       "amax_number_of_groups",
       "sum_of_products",
       "sum_of_scaled_products",
       "max_of_products",
       "max_of_grid",
       "min_of_grid",
       "amax_of_grid",
       "amax_number_of_grid",
       "load_repeated",
       "rotate_halves",
       "row_index",
       "column_indices",
       "at",
       "from",
       "up_to",
       "begin_transpose",
       "transposed",
       "random",
       "has_next",
       "next"},
      {"over",
       "over_columns",
       "only",
       "first",
       "load_columns",
       "clear_padding",
       "partial_max",
       "partial_min",
       "partial_amax",
       "partial_amax_number",
       "max_of_parts",
       "min_of_parts",
       "amax_of_parts",
       "amax_number_of_parts",
       "sum_of_columns",
       "sum_of_columns_of_products",
       "max_of_columns",
       "min_of_columns",
       "amax_of_columns",
       "amax_number_of_columns",
       "inside_columns"},
      {"add", "add_reduced", "combine_into", "store"},
      {"decode", "encode", "encode_number", "encode_overflow", "encode_number_overflow",
       "encode_stochastic", "encode_number_stochastic", "encode_quotient",
       "encode_bounded_quotient", "encode_quotient_stochastic",
       "encode_bounded_quotient_stochastic", "encode_bounded"},
  };
  return names;
}

namespace {
struct Token {
  std::string text;
  int line;
  bool isName() const {
    return std::isalpha(static_cast<unsigned char>(text[0])) || text[0] == '_';
  }
  bool isNumber() const { return std::isdigit(static_cast<unsigned char>(text[0])); }
};

bool isWordPart(char c) { return std::isalnum(static_cast<unsigned char>(c)) || c == '_'; }

/// Reads a text line by line into tokens; what is no token is a complaint.
class Reader {
public:
  std::vector<Token> tokens;
  std::vector<std::string> complaints;

  void read(const std::string &text) {
    std::istringstream lines(text);
    for (std::string content; std::getline(lines, content);) {
      ++line;
      if (content.starts_with("//"))
        header(content);
      else if (content.starts_with("#"))
        directive(content);
      else
        code(content);
    }
  }

private:
  int line = 0;

  void complain(const std::string &what) {
    complaints.push_back("line " + std::to_string(line) + ": " + what);
  }

  /// One line, ended by nothing but its end.
  void header(const std::string &content) {
    bool plain = std::ranges::all_of(content, [](unsigned char c) { return c >= 32 && c != 127; });
    if (!plain || content.find('\\') != content.npos)
      complain("a comment with control characters or a backslash");
  }

  void directive(const std::string &content) {
    std::smatch match;
    if (!std::regex_match(content, match, std::regex("#include \"(eider/[a-z0-9_/]+\\.cuh)\"")))
      return complain("a directive that is no include of the library: " + content);
    auto files = embeddedTemplates();
    if (std::ranges::none_of(files, [&](auto &file) { return match[1] == file.name; }))
      complain("the library has no file " + match[1].str());
  }

  void code(const std::string &content) {
    static const std::regex parameterName("/\\*[a-z_]+=\\*/");
    for (size_t i = 0; i < content.size();) {
      std::smatch match;
      if (content[i] == ' ') {
        ++i;
      } else if (content.compare(i, 2, "/*") == 0) {
        if (!std::regex_search(content.begin() + static_cast<long>(i), content.end(), match,
                               parameterName, std::regex_constants::match_continuous))
          return complain("a comment within the code that is no parameter's name");
        i += static_cast<size_t>(match.length());
      } else {
        i += token(content, i);
      }
    }
  }

  /// Takes one token; gives its length.
  size_t token(const std::string &content, size_t begin) {
    size_t end = begin + 1;
    char first = content[begin];
    if (isWordPart(first)) {
      // A sign after an exponent belongs to the number.
      bool number = std::isdigit(static_cast<unsigned char>(first));
      while (end < content.size() && (isWordPart(content[end]) || (number && content[end] == '.') ||
                                      (number && content[end - 1] == 'e' &&
                                       std::string("+-").find(content[end]) != std::string::npos)))
        ++end;
    } else if (first == '"') {
      end = content.find('"', begin + 1);
      end = end == content.npos ? content.size() : end + 1;
    } else if (content.compare(begin, 2, "::") == 0) {
      end = begin + 2;
    } else if (std::string("(){}<>[]=,;:.+-*/!&|").find(first) == std::string::npos) {
      complain(std::string("a character that no text needs: ") + first);
    }
    tokens.push_back({content.substr(begin, end - begin), line});
    return end - begin;
  }
};

/// Checks each token of a text where it stands.
class Checker {
public:
  Checker(std::vector<Token> tokens) : tokens(std::move(tokens)) {}
  std::vector<std::string> complaints;

  void check() {
    collectDeclarations();
    for (size_t i = 0; i < tokens.size(); ++i) {
      if (tokens[i].isName())
        name(i);
      else if (tokens[i].isNumber())
        number(i);
      else if (tokens[i].text[0] == '"' && tokens[i].text != "\"C\"")
        complain(i, "a string");
    }
  }

private:
  std::vector<Token> tokens;
  std::set<std::string> declared, kernels;
  std::set<std::string> partials; ///< `auto amax = Row::partial_amax()`
  std::set<std::string> turnings; ///< `auto turning = tile.begin_transpose<1>(x_tile)`
  std::set<std::string> coming;   ///< `auto w_ahead = eider::rows_ahead<…>(…)`
  /// And `const Row chosen = row.at(…)`, `auto transposed = tile.transposed()`.
  std::set<std::string> tiles = {"row", "tile"};

  std::string at(size_t i) const { return i < tokens.size() ? tokens[i].text : ""; }
  std::string before(size_t i, size_t steps) const { return i >= steps ? at(i - steps) : ""; }
  void complain(size_t i, const std::string &what) {
    complaints.push_back("line " + std::to_string(tokens[i].line) + ": " + what);
  }

  /// `const auto x =`, `float eps,`, `bf16 *x,`, `int64 tokens)`, `using Row =`, `const Row row :`,
  /// `BulkStores stores;`, `void kernel(`.
  void collectDeclarations() {
    for (size_t i = 1; i < tokens.size(); ++i) {
      std::string type = before(i, 1), next = at(i + 1);
      bool ended = next == "=" || next == "," || next == ")" || next == ":";
      bool pointer =
          type == "*" && vocabulary().words.count(before(i, 2)) && (next == "," || next == ")");
      bool typed =
          type == "auto" || type == "float" || type == "int64" || type == "using" || isTile(type);
      const bool isOfBulk = type == "BulkStores" && next == ";";
      if (tokens[i].isName() && ((typed && ended) || pointer || isOfBulk))
        declared.insert(tokens[i].text);
      if (isTile(type) && next == "=")
        tiles.insert(tokens[i].text);
      if (type == "auto" && at(i + 3) == "::" && at(i + 4).starts_with("partial_"))
        partials.insert(tokens[i].text);
      if (type == "auto" && at(i + 3) == "::" && at(i + 4) == "rows_ahead")
        coming.insert(tokens[i].text);
      if (type == "auto" && at(i + 3) == "." && at(i + 4) == "begin_transpose")
        turnings.insert(tokens[i].text);
      if (type == "auto" && at(i + 3) == "." && at(i + 4) == "transposed")
        tiles.insert(tokens[i].text);
      if (type == "void" && next == "(")
        kernels.insert(tokens[i].text);
    }
  }

  static bool isTile(const std::string &type) {
    return type == "Row" || type == "Rows" || type == "Tile";
  }

  /// Whether the parenthesis at token `i` ends `Row::first(tokens)`, `row.next()` or
  /// `row.up_to(last)`.
  bool isCallOfTile(size_t i) const {
    if (at(i) != ")")
      return false;
    static const std::set<std::string> calls = {"first", "next", "from", "up_to"};
    for (int open = 1; i > 0 && open > 0;) {
      --i;
      open += (at(i) == ")") - (at(i) == "(");
    }
    return calls.count(before(i, 1));
  }

  /// The names that may follow what stands before token `i`; null where nothing qualifies it.
  const std::set<std::string> *qualified(size_t i) const {
    std::string separator = before(i, 1), qualifier = before(i, 2);
    if (separator == "::" && qualifier == "eider")
      return &vocabulary().functions;
    if (separator == "::" && isTile(qualifier))
      return &vocabulary().statics;
    static const std::set<std::string> products = {"of"}, parts = {"combined"},
                                       attention = {"leave_part", "write_rows"};
    if (separator == "::" && qualifier.starts_with("Multiply"))
      return &products;
    if (separator == "::" && qualifier.starts_with("Parts"))
      return &parts;
    if (separator == "::" && qualifier == "Attend")
      return &attention;
    static const std::set<std::string> codecs = {"E4m3", "E5m2", "E4m3fnuz", "E5m2fnuz", "E2m1"};
    if (separator == "::" && codecs.count(qualifier))
      return &vocabulary().codec;
    if (separator == "." && (tiles.count(qualifier) || isCallOfTile(i - 2)))
      return &vocabulary().members;
    if (separator == "." && partials.count(qualifier))
      return &vocabulary().partials;
    static const std::set<std::string> end = {"end"}, sums = {"sum_of_products"};
    if (separator == "." && coming.count(qualifier))
      return &sums;
    if (separator == "." && turnings.count(qualifier))
      return &end;
    static const std::set<std::string> nothing;
    return separator == "::" || separator == "." ? &nothing : nullptr;
  }

  void name(size_t i) {
    const std::string &text = tokens[i].text;
    if (const std::set<std::string> *names = qualified(i)) {
      if (!names->count(text))
        complain(i, "'" + before(i, 2) + before(i, 1) + text + "' is not in the vocabulary");
      return;
    }
    if (vocabulary().words.count(text))
      return;
    if (text.find("__") != text.npos)
      return complain(i, "'" + text + "' is the compiler's");
    bool called = at(i + 1) == "(" && before(i, 1) != "void";
    if (called || !(declared.count(text) || kernels.count(text)))
      complain(i, (called ? "a call of '" : "unknown name '") + text + "'");
  }

  void number(size_t i) {
    static const std::regex plain(
        "(0|[1-9][0-9]*)|[0-9]+\\.[0-9]+(e[+-]?[0-9]+)?f|[0-9]+e[+-]?[0-9]+f");
    if (!std::regex_match(tokens[i].text, plain))
      complain(i, "'" + tokens[i].text + "' is no plain decimal");
  }
};
} // namespace

std::vector<std::string> text::impurities(const std::string &text) {
  Reader reader;
  reader.read(text);
  Checker checker(reader.tokens);
  checker.check();
  reader.complaints.insert(reader.complaints.end(), checker.complaints.begin(),
                           checker.complaints.end());
  return reader.complaints;
}

std::vector<std::string> text::wideLines(const std::string &text) {
  constexpr long widest = 110;
  std::istringstream lines(text);
  std::vector<std::string> wide;
  for (std::string line; std::getline(lines, line);)
    // Columns, not bytes: UTF-8's continuation bytes take no room.
    if (std::ranges::count_if(line, [](char c) { return (c & 0xc0) != 0x80; }) > widest)
      wide.push_back(line);
  return wide;
}
