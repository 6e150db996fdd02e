//===- runtime/Assembler.h - Text to machine code, cached -------*- C++ -*-===//
//
// Part of Eider, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//
#ifndef EIDER_RUNTIME_ASSEMBLER_H
#define EIDER_RUNTIME_ASSEMBLER_H

#include "eider/runtime.h"
#include "runtime/cache/Cache.h"
#include "runtime/cuda/Nvrtc.h"
#include "runtime/cuda/Targets.h"

#include <string>

namespace eider {

/// What one compile depends on, and so its key.
struct AssemblyRequest {
  const std::string &source;
  cuda::Target target;
  ImageKind kind = ImageKind::Cubin;
  std::string launches = "[]"; ///< JSON for the entry's meta.json; not in the key.
};

/// The text key: a SHA-256 of the text, the templates, the options, NVRTC's identity and the
/// target.
std::string textKey(const AssemblyRequest &request, const cuda::Nvrtc &nvrtc);

/// From the cache, else by `nvrtc` and into the cache. Throws Error as assemble() does.
Assembly assembleCached(const AssemblyRequest &request, const cuda::Nvrtc &nvrtc,
                        const Cache &cache);

/// ptxas's account of each entry in a log.
std::vector<EntryResources> parsePtxasLog(const std::string &log);

} // namespace eider

#endif // EIDER_RUNTIME_ASSEMBLER_H
