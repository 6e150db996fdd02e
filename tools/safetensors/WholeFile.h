//===- tools/safetensors/WholeFile.h - Files, whole or not at all ---------*- C++ -*-===//
//
// Part of Eider, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//
#ifndef EIDER_TOOLS_SAFETENSORS_WHOLEFILE_H
#define EIDER_TOOLS_SAFETENSORS_WHOLEFILE_H

#include <cstddef>
#include <span>
#include <string>

namespace eider {

/// Writes `parts`, one after another, to a temporary file beside `path` and renames it over `path`:
/// a reader sees the old file or the new one. Throws Error: Request when nothing can be written at
/// `path`, Machine when the disk fails.
void writeWholeFile(const std::string &path, std::span<const std::span<const std::byte>> parts);

/// Throws Error (Request) where nothing can be written at `path`, or what is written would take the
/// place of one of `inputs`: before the work that would be lost.
void checkWritable(const std::string &path, std::span<const std::string> inputs = {});

} // namespace eider

#endif // EIDER_TOOLS_SAFETENSORS_WHOLEFILE_H
