//===- cuda/Targets.h - The targets we compile for --------------*- C++ -*-===//
//
// Part of Eider, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//
#ifndef EIDER_RUNTIME_CUDA_TARGETS_H
#define EIDER_RUNTIME_CUDA_TARGETS_H

#include <optional>
#include <string>
#include <string_view>

namespace eider::cuda {

/// `sm_90a`: capability 90, with the features of that architecture alone.
struct Target {
  int capability = 0; ///< 10 × major + minor
  bool archSpecific = false;

  std::string name() const {
    return "sm_" + std::to_string(capability) + (archSpecific ? "a" : "");
  }
  /// The virtual architecture, of which PTX is made.
  std::string virtualName() const { return "compute_" + name().substr(3); }
};

/// Nothing for a name that is no known target.
std::optional<Target> parseTarget(std::string_view name);

/// All known targets' names, for messages: `sm_75, sm_80, …`.
std::string knownTargets();

/// What to compile for on a GPU of this capability: itself (of 9.0 `sm_90a`, which has products of
/// warpgroups), else the highest known target whose cubins it runs, else the highest known one
/// before it, which it takes as PTX. Nothing if it is older than all.
std::optional<Target> targetFor(int major, int minor);

/// Whether a GPU runs cubins of the target; if not, whether it may run PTX of it is for the driver
/// to say.
bool runsCubin(int major, int minor, const Target &target);

} // namespace eider::cuda

#endif // EIDER_RUNTIME_CUDA_TARGETS_H
