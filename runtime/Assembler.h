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
  bool mayCompile = true;      ///< Else a miss is a MissError.
};

/// What the cache lacks and may not be compiled (`EIDER_JIT=never`).
class MissError : public Error {
public:
  /// `remedy`: what would cure it; `nvrtc`: with which NVRTC, if not with the one that is found
  /// first.
  MissError(const std::string &where, const std::string &remedy, const std::string &nvrtc = "")
      : Error(ErrorKind::Machine, "not in the cache, and EIDER_JIT=never", where, remedy),
        nvrtc(nvrtc) {}

  const std::string nvrtc;
};

/// The text key: a SHA-256 of the text, the templates, the options, NVRTC's identity and the
/// target.
std::string textKey(const AssemblyRequest &request, const std::string &nvrtcIdentity);

/// From the cache, else by `nvrtc` and into the cache. Throws Error as assemble() does.
Assembly assembleCached(const AssemblyRequest &request, const cuda::Nvrtc &nvrtc,
                        const Cache &cache);

/// What any NVRTC made of the request, from the cache: for machines without one.
std::optional<Assembly> findOfAnyNvrtc(const AssemblyRequest &request, const Cache &cache);

/// ptxas's account of each entry in a log.
std::vector<EntryResources> parsePtxasLog(const std::string &log);

} // namespace eider

#endif // EIDER_RUNTIME_ASSEMBLER_H
