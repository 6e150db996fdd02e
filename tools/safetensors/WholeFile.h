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

/// Writes `parts`, one after another, to a temporary file beside `path` and renames it over `path`,
/// or what `path` links to: a reader sees the old file or the new one. In a directory of somebody
/// else's a file that may be written is written as it is. Throws Error: Request when nothing can be
/// written at `path`, Machine when the disk fails.
void writeWholeFile(const std::string &path, std::span<const std::span<const std::byte>> parts);

/// Throws Error (Request) where nothing can be written at `path`, or what is written would take the
/// place of one of `inputs`: before the work that would be lost.
void checkWritable(const std::string &path, std::span<const std::string> inputs = {});

/// Whether `path` is a device, a pipe, or leads to one as /dev/stdout does.
bool isStream(const std::string &path);

/// Writes a text as a whole file, or to a stream behind what is there; and what checkWritable() is
/// to it.
void writeText(const std::string &path, const std::string &text);
void checkTextWritable(const std::string &path, std::span<const std::string> inputs);

} // namespace eider

#endif // EIDER_TOOLS_SAFETENSORS_WHOLEFILE_H
