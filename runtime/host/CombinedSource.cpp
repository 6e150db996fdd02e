//===- host/CombinedSource.cpp - Many kernels, one translation unit -------===//
//
// Part of Eider, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//
#include "runtime/host/CombinedSource.h"

#include "eider/error.h"

#include <cctype>
#include <set>
#include <sstream>
#include <string_view>

namespace eider::host {

namespace {

bool isNameCharacter(char c) { return std::isalnum(static_cast<unsigned char>(c)) || c == '_'; }

/// Where `name(` stands as a whole word at or after `from`; npos if nowhere.
size_t findDeclarator(std::string_view text, std::string_view name, size_t from) {
  for (size_t at = text.find(name, from); at != std::string_view::npos;
       at = text.find(name, at + 1)) {
    const size_t end = at + name.size();
    if ((at == 0 || !isNameCharacter(text[at - 1])) && end < text.size() && text[end] == '(')
      return at;
  }
  return std::string_view::npos;
}

/// Where the name of kernel `entry` stands in its definition.
size_t findKernel(const NamedSource &source, const std::string &entry) {
  static constexpr std::string_view linkage = "extern \"C\"";
  const std::string_view text = source.source;
  for (size_t at = text.find(linkage); at != std::string_view::npos;
       at = text.find(linkage, at + 1)) {
    const size_t body = text.find('{', at);
    const size_t name = findDeclarator(text, entry, at);
    if (name < body)
      return name;
  }
  throw Error(ErrorKind::Internal, "the text defines no kernel " + entry, source.name,
              "name the functions that it declares as extern \"C\"");
}

std::string renamed(const NamedSource &source, size_t index) {
  std::string text = source.source;
  for (const std::string &entry : source.entries)
    text.replace(findKernel({source.name, text, {}}, entry), entry.size(),
                 combinedEntry(entry, index));
  return text;
}

/// Moves the lines that include something from `text` to `includes`; empty lines stay behind.
std::string withoutIncludes(const std::string &text, std::vector<std::string> &includes,
                            std::set<std::string> &known) {
  std::istringstream lines(text);
  std::string rest;
  for (std::string line; std::getline(lines, line); rest += '\n') {
    if (line.rfind("#include", 0) != 0)
      rest += line;
    else if (known.insert(line).second)
      includes.push_back(line);
  }
  return rest;
}

} // namespace

std::string combinedEntry(const std::string &entry, size_t index) {
  return entry + "_" + std::to_string(index);
}

std::string combine(const std::vector<NamedSource> &sources) {
  std::vector<std::string> includes;
  std::set<std::string> known;
  std::string bodies;
  for (size_t i = 0; i < sources.size(); ++i) {
    bodies += "namespace kernel_" + std::to_string(i) + " {\n#line 1 \"" + sources[i].name + "\"\n";
    bodies += withoutIncludes(renamed(sources[i], i), includes, known);
    bodies += "} // namespace kernel_" + std::to_string(i) + "\n";
    for (const std::string &entry : sources[i].entries)
      bodies += "using kernel_" + std::to_string(i) + "::" + combinedEntry(entry, i) + ";\n";
  }
  std::string text;
  for (const std::string &include : includes)
    text += include + "\n";
  return text + bodies;
}

} // namespace eider::host
