//===- cuda/SharedLibrary.cpp - Libraries opened at run time --------------===//
//
// Part of Eider, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//
#include "runtime/cuda/SharedLibrary.h"

#include <dlfcn.h>

namespace eider {

bool SharedLibrary::open(const std::string &path) {
  handle = ::dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (!handle) {
    const char *message = ::dlerror();
    problem = message ? message : path + ": cannot be opened";
  }
  return isOpen();
}

void *SharedLibrary::address(const char *symbol) const { return ::dlsym(handle, symbol); }

std::string SharedLibrary::directoryOf(const char *symbol) const {
  Dl_info info = {};
  void *found = address(symbol);
  if (!found || ::dladdr(found, &info) == 0 || !info.dli_fname)
    return "";
  const std::string path = info.dli_fname;
  return path.substr(0, path.rfind('/') == std::string::npos ? 0 : path.rfind('/'));
}

} // namespace eider
