//===- host/CombinedSource.h - Many kernels, one translation unit ---------===//
//
// Part of Eider, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//
#ifndef EIDER_HOST_COMBINEDSOURCE_H
#define EIDER_HOST_COMBINEDSOURCE_H

#include <cstddef>
#include <string>
#include <vector>

namespace eider::host {

/// An emitted text with the names of its `extern "C" __global__` functions.
struct NamedSource {
  std::string name; ///< Stands for the text in messages: `quantize.cu`.
  std::string source;
  std::vector<std::string> entries;
};

/// One text of all `sources`, for one run of the compiler, whose start-up costs more than a kernel.
/// Includes come first, once; each source has a namespace of its own, lines count as in its own
/// text, and its kernels are renamed to combinedEntry(). Throws Error of kind Internal when a
/// source lacks one of its entries.
std::string combine(const std::vector<NamedSource> &sources);

/// The name, in the combined text, of kernel `entry` of the source at `index`.
std::string combinedEntry(const std::string &entry, size_t index);

} // namespace eider::host

#endif // EIDER_HOST_COMBINEDSOURCE_H
