//===- aot/SelfContained.cpp - A text without includes --------------------===//
//
// Part of Eider, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//
#include "eider/aot.h"

#include "templates/EmbeddedTemplates.h"

#include <algorithm>
#include <set>

namespace eider {
namespace {

std::string_view templateNamed(std::string_view name) {
  for (const EmbeddedTemplate &file : embeddedTemplates())
    if (file.name == name)
      return file.text;
  throw Error(ErrorKind::Internal, "includes \"" + std::string(name) + "\", which is no template",
              "the CUDA text");
}

/// Puts texts one after another, each include replaced by the file at its first place and dropped
/// at others. Include guards go, and what only the host compiler would see.
class Amalgamation {
public:
  void add(std::string_view text, std::string_view guard = {}) {
    bool host = false, choosing = false; // inside `#ifdef EIDER_HOST … #else … #endif`
    while (!text.empty()) {
      const std::string_view line = text.substr(0, text.find('\n'));
      text.remove_prefix(std::min(line.size() + 1, text.size()));
      if (line == "#ifdef EIDER_HOST")
        host = choosing = true;
      else if (choosing && line == "#else")
        host = false;
      else if (choosing && line.starts_with("#endif"))
        host = choosing = false;
      else if (!host && !isGuard(line, guard))
        addLine(line);
    }
  }

  std::string result;

private:
  static bool isGuard(std::string_view line, std::string_view guard) {
    return !guard.empty() && line.starts_with('#') && line.ends_with(guard);
  }

  void addLine(std::string_view line) {
    constexpr std::string_view include = "#include \"";
    if (line.starts_with(include)) {
      const std::string_view rest = line.substr(include.size());
      return addFile(rest.substr(0, rest.find('"')));
    }
    // Where directives were, one empty line is left of several.
    if (line.empty() && (result.empty() || result.ends_with("\n\n")))
      return;
    result += line;
    result += '\n';
  }

  void addFile(std::string_view name) {
    if (!seen.emplace(name).second)
      return;
    const std::string_view text = templateNamed(name);
    constexpr std::string_view opening = "#ifndef ";
    const size_t begin = text.find(opening);
    if (begin == std::string_view::npos)
      throw Error(ErrorKind::Internal, "has no include guard", std::string(name));
    const std::string_view rest = text.substr(begin + opening.size());
    add(text, rest.substr(0, rest.find('\n')));
    if (!result.ends_with("\n\n"))
      result += '\n';
  }

  std::set<std::string, std::less<>> seen;
};

} // namespace

std::string selfContainedText(const std::string &text, const std::string &target) {
  Amalgamation amalgamation;
  amalgamation.result = "// Written by Eider: the device library first, then the kernels. Includes "
                        "nothing. Compile with\n"
                        "//\n"
                        "//   nvcc -std=c++20 --fmad=false -arch=" +
                        target +
                        " -cubin FILE.cu\n"
                        "//\n"
                        "// --fmad=false is part of the arithmetic: a multiply-add is fused only "
                        "where the text says fma.\n"
                        "// --use_fast_math and its parts would change results too.\n\n";
  amalgamation.add(text);
  return amalgamation.result;
}

} // namespace eider
