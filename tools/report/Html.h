//===- tools/report/Html.h - Elements of a page -----------------*- C++ -*-===//
//
// Part of Eider, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//
#ifndef EIDER_TOOLS_REPORT_HTML_H
#define EIDER_TOOLS_REPORT_HTML_H

#include <string>
#include <string_view>

namespace eider::report {

/// An element of HTML or SVG, written so that an XML parser reads it too. Whatever text is put in
/// is escaped.
class Element {
public:
  explicit Element(std::string tag) : tag(std::move(tag)) {}

  Element &set(std::string_view attribute, std::string_view value);
  /// With two decimals at most.
  Element &set(std::string_view attribute, double value);
  Element &text(std::string_view text);
  Element &add(const Element &child);
  /// Text of a `style` or `script`, as it is: never any text from a file.
  Element &verbatim(std::string_view text);

  std::string str() const;

private:
  std::string tag, attributes, content;
};

/// `<tag class="kind">text</tag>`.
Element element(const char *tag, const char *kind = "", std::string_view text = "");

} // namespace eider::report

#endif // EIDER_TOOLS_REPORT_HTML_H
