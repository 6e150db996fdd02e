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

void *SharedLibrary::symbol(const char *name) const { return ::dlsym(handle, name); }

} // namespace eider
