//===- cuda/Targets.cpp - The targets we compile for ----------------------===//
//
// Part of Eider, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//
#include "runtime/cuda/Targets.h"

namespace eider::cuda {
namespace {

struct Known {
  int capability;
  bool hasArchSpecific;
};

/// What NVRTC 13.0 lists.
constexpr Known known[] = {{75, false}, {80, false}, {86, false}, {87, false},
                           {88, false}, {89, false}, {90, true},  {100, true},
                           {103, true}, {110, true}, {120, true}, {121, true}};

} // namespace

std::optional<Target> parseTarget(std::string_view name) {
  for (const Known &entry : known)
    for (bool archSpecific : {false, true})
      if (Target target{entry.capability, archSpecific};
          (entry.hasArchSpecific || !archSpecific) && target.name() == name)
        return target;
  return std::nullopt;
}

std::string knownTargets() {
  std::string names;
  for (const Known &entry : known)
    for (bool archSpecific : {false, true})
      if (entry.hasArchSpecific || !archSpecific)
        names += (names.empty() ? "" : ", ") + Target{entry.capability, archSpecific}.name();
  return names;
}

std::optional<Target> targetFor(int major, int minor) {
  std::optional<Target> best;
  for (const Known &entry : known)
    if (entry.capability <= 10 * major + minor)
      best = Target{entry.capability, entry.capability == 90 && major == 9 && minor == 0};
  return best;
}

bool runsCubin(int major, int minor, const Target &target) {
  const int capability = 10 * major + minor;
  if (target.archSpecific)
    return target.capability == capability;
  return target.capability / 10 == major && target.capability <= capability;
}

} // namespace eider::cuda
