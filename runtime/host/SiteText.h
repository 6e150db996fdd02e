//===- host/SiteText.h - Source places in messages ------------------------===//
//
// Part of Eider, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//
#ifndef EIDER_HOST_SITETEXT_H
#define EIDER_HOST_SITETEXT_H

#include "templates/arch/host_abi.h"

#include <cstring>
#include <string>

namespace eider::host {

/// `file:line`; empty where the kernel did not say.
inline std::string siteText(EiderHostSite site) {
  return site.file ? std::string(site.file) + ":" + std::to_string(site.line) : std::string();
}

inline bool sameSite(EiderHostSite a, EiderHostSite b) {
  if (a.line != b.line)
    return false;
  return a.file == b.file || (a.file && b.file && std::strcmp(a.file, b.file) == 0);
}

} // namespace eider::host

#endif // EIDER_HOST_SITETEXT_H
