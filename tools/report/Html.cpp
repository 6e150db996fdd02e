//===- tools/report/Html.cpp - Elements of a page -------------------------===//
//
// Part of Eider, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//
#include "tools/report/Html.h"

#include <cstdio>

namespace eider::report {
namespace {

constexpr const char *replacement = "\xef\xbf\xbd"; // U+FFFD

/// For text and for values of attributes. Characters that no document may hold are replaced.
std::string escaped(std::string_view text) {
  std::string out;
  for (size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    const std::string_view three = text.substr(i, 3);
    if (c == '&')
      out += "&amp;";
    else if (c == '<')
      out += "&lt;";
    else if (c == '>')
      out += "&gt;";
    else if (c == '"')
      out += "&quot;";
    else if (c == '\'')
      out += "&#39;";
    else if (three == "\xef\xbf\xbe" || three == "\xef\xbf\xbf") { // U+FFFE, U+FFFF
      out += replacement;
      i += 2;
    } else if ((static_cast<unsigned char>(c) < 32 && c != '\n' && c != '\t') || c == 127)
      out += replacement;
    else
      out += c;
  }
  return out;
}

/// Those that have no end tag.
bool isVoid(const std::string &tag) { return tag == "meta" || tag == "br" || tag == "hr"; }

} // namespace

Element &Element::set(std::string_view attribute, std::string_view value) {
  attributes += " " + std::string(attribute) + "=\"" + escaped(value) + "\"";
  return *this;
}

Element &Element::set(std::string_view attribute, double value) {
  char number[32];
  std::snprintf(number, sizeof(number), "%.2f", value);
  return set(attribute, std::string_view(number));
}

Element &Element::text(std::string_view text) {
  content += escaped(text);
  return *this;
}

Element &Element::add(const Element &child) {
  content += child.str();
  return *this;
}

Element &Element::verbatim(std::string_view text) {
  content += text;
  return *this;
}

std::string Element::str() const {
  if (isVoid(tag))
    return "<" + tag + attributes + "/>";
  return "<" + tag + attributes + ">" + content + "</" + tag + ">";
}

Element element(const char *tag, const char *kind, std::string_view text) {
  Element made(tag);
  if (*kind)
    made.set("class", std::string_view(kind));
  made.text(text);
  return made;
}

} // namespace eider::report
