//===- templates/EmbeddedTemplates.h - The device library -------*- C++ -*-===//
//
// Part of Eider, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//
#ifndef EIDER_EMBEDDEDTEMPLATES_H
#define EIDER_EMBEDDEDTEMPLATES_H

#include <span>

namespace eider {

/// One file of the device library.
struct EmbeddedTemplate {
  const char *name; ///< As emitted texts include it: `eider/tile/row.cuh`.
  const char *text; ///< Its contents.
};

/// All files, sorted by name: for nvrtcCreateProgram as named headers, or for a folder `eider/`
/// given to a C++ compiler.
std::span<const EmbeddedTemplate> embeddedTemplates();

/// SHA-256 in hexadecimal over all names and contents, each prefixed by its length. Part of every
/// cache key.
const char *templatesDigest();

} // namespace eider

#endif // EIDER_EMBEDDEDTEMPLATES_H
