//===- aot/CSources.h - The printers of NAME.h and NAME.c -------*- C++ -*-===//
//
// Part of Eider, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//
#ifndef EIDER_RUNTIME_AOT_CSOURCES_H
#define EIDER_RUNTIME_AOT_CSOURCES_H

#include "runtime/aot/CInterface.h"
#include "runtime/cuda/Targets.h"

#include <cstddef>
#include <span>

namespace eider::aot {

/// One target's share.
struct Image {
  contract::Contract contract;
  cuda::Target target;
  std::span<const std::byte> code; ///< a cubin
  bool isPtx = false;              ///< `code` is PTX: for GPUs that run no image's cubin.
};

/// NAME.h.
std::string printHeader(const CInterface &interface, std::span<const Image> images);

/// NAME.c.
std::string printSource(const CInterface &interface, std::span<const Image> images);

/// The fixed parts of NAME.c, in which `@name@` and `@NAME@` stand for the name. `file`: `driver`.
std::string skeleton(const std::string &file);

/// `sm_80, sm_90a and GPUs newer than sm_80`; `newLine` where a line gets long.
std::string targetNames(std::span<const Image> images, const std::string &newLine);

/// The prototype of NAME_launch, without what follows its closing parenthesis.
std::string launchPrototype(const CInterface &interface);

/// The prototype of NAME_workspace_bytes.
std::string workspacePrototype(const CInterface &interface);

} // namespace eider::aot

#endif // EIDER_RUNTIME_AOT_CSOURCES_H
