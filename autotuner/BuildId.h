//===- autotuner/BuildId.h - Which compiler is this? ------------*- C++ -*-===//
//
// Part of Eider, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//
#ifndef EIDER_AUTOTUNER_BUILDID_H
#define EIDER_AUTOTUNER_BUILDID_H

#include <string>

namespace eider {

/// The build id, in hexadecimal, that the linker gave the program or library which holds `address`;
/// empty if it gave none.
std::string buildIdAt(const void *address);

} // namespace eider

#endif // EIDER_AUTOTUNER_BUILDID_H
