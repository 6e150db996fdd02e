//===- runtime/Log.h - Warnings to the user's handler -----------*- C++ -*-===//
//
// Part of Eider, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//
#ifndef EIDER_RUNTIME_LOG_H
#define EIDER_RUNTIME_LOG_H

#include <string>

namespace eider {

/// Gives `line` to the handler of setLogHandler(), if there is one, unless this process has warned
/// so before.
void warnOnce(const std::string &line);

} // namespace eider

#endif // EIDER_RUNTIME_LOG_H
