//===- aot/CHeader.cpp - NAME.h -------------------------------------------===//
//
// Part of Eider, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//
#include "runtime/aot/CSources.h"
#include "runtime/aot/CText.h"

#include <array>
#include <charconv>

namespace eider::aot {
namespace {

using contract::Contract;
using contract::Role;

constexpr const char *frame = R"(/* @name@.h - @op@ for @targets@.
 *
@signature@ *
 * Written by Eider, for C99 and C++. Needs no CUDA header or library: link @name@.c,
 * and -ldl where dlopen is not in the C library; the first call opens the driver. Nothing here
 * prints or exits, and all of it may be called from several threads at once.
 */
#ifndef @NAME@_H
#define @NAME@_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

@constants@/* What the functions return: 0 when done; above 0 the driver's CUresult; below 0 one of these.
 * @name@_error_string says each in words. */
enum {
  @NAME@_NO_DRIVER = -1,     /* libcuda.so.1, or what EIDER_CUDA_DRIVER names, is not there */
  @NAME@_OLD_DRIVER = -2,    /* it is older than CUDA 12.0 */
  @NAME@_NO_GPU = -3,        /* it does not start */
  @NAME@_NO_CONTEXT = -4,    /* the thread has no current CUDA context */
  @NAME@_NO_IMAGE = -5,      /* the context's device is none of those above */
  @NAME@_BAD_EXTENT = -6,    /* an extent is negative or too large */
  @NAME@_BAD_WORKSPACE = -7, /* it is null or not aligned to 256 bytes */
  @NAME@_BAD_TENSOR = -16    /* or below: which tensor is unsound, and how */
};

/* A CUstream or cudaStream_t; null is the default stream. */
typedef struct CUstream_st *@name@_stream;

/* Loads the kernels on the current context's device. The first launch there does so by itself, but
 * cannot while a CUDA graph is captured. */
int @name@_load(void);

/* Bytes that a launch needs at `workspace`, one for each launch in flight; below 0: a status. */
@workspace@;

/* Launches on `stream`, of the current context, and returns at once. Strides are in elements, from
 * one row (or whatever the axis holds) to the next. Misaligned and strided tensors take a slower
 * kernel. What is written must overlap nothing else. `workspace` may be null where no bytes are
 * needed. */
@launch@;

/* A status in words; never null, never to be freed. */
const char *@name@_error_string(int status);

#ifdef __cplusplus
}
#endif

#endif /* @NAME@_H */
)";

std::string shapeText(const contract::Tensor &tensor) {
  std::string text = "[";
  for (const std::string &extent : tensor.shape)
    text += (text.size() > 1 ? ", " : "") + extent;
  return text + "]";
}

/// The tensors, one a line, and the extents that are fixed.
std::string signature(const CInterface &interface, const Contract &contract) {
  std::string text;
  size_t width = 0;
  for (const std::string &name : interface.tensors)
    width = std::max(width, name.size());
  for (size_t i = 0; i < contract.tensors.size(); ++i) {
    const contract::Tensor &tensor = contract.tensors[i];
    std::string name = interface.tensors[i];
    name.resize(width, ' ');
    const char *role = tensor.role == Role::Input   ? "read    "
                       : tensor.role == Role::InOut ? "updated "
                                                    : "written ";
    text += " *   " + std::string(role) + " " + name + "  " + nameOf(tensor.dtype) + " " +
            shapeText(tensor) + "\n";
  }
  std::string fixed;
  for (const contract::Dim &dim : contract.dims)
    if (dim.value)
      fixed += (fixed.empty() ? "" : ", ") + dim.name + " = " + std::to_string(*dim.value);
  return text + (fixed.empty() ? "" : " *\n * " + fixed + "\n");
}

/// The shortest decimal that reads back as the float.
std::string floatText(double value) {
  std::array<char, 64> digits;
  const auto end = std::to_chars(digits.begin(), digits.end(), static_cast<float>(value)).ptr;
  std::string text(digits.begin(), end);
  return text + (text.find_first_of(".e") == std::string::npos ? ".0f" : "f");
}

/// Fixed extents and the scalars' defaults.
std::string constants(const CInterface &interface, const Contract &contract) {
  std::string text;
  const std::string define = "#define " + interface.upperName + "_";
  for (const contract::Dim &dim : contract.dims)
    if (dim.value)
      text += define + upperCase(dim.name) + " INT64_C(" + std::to_string(*dim.value) + ")\n";
  for (const contract::Scalar &scalar : contract.scalars)
    if (scalar.defaultValue)
      text += define + upperCase(scalar.name) + "_DEFAULT " +
              (scalar.dtype == DType::f32
                   ? floatText(*scalar.defaultValue)
                   : std::to_string(static_cast<int64_t>(*scalar.defaultValue))) +
              "\n";
  return text + (text.empty() ? "" : "\n");
}

} // namespace

std::string printHeader(const CInterface &interface, std::span<const Image> images) {
  const Contract &contract = images.front().contract;
  return filled(frame, {{"signature", signature(interface, contract)},
                        {"constants", constants(interface, contract)},
                        {"workspace", workspacePrototype(interface)},
                        {"launch", launchPrototype(interface)},
                        {"targets", targetNames(images, "\n *   ")},
                        {"op", contract.name},
                        {"name", interface.name},
                        {"NAME", interface.upperName}});
}

} // namespace eider::aot
