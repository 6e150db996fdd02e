//===- eider/aot.h - Kernels as files to ship -------------------*- C++ -*-===//
//
// Part of Eider, under the Apache License v2.0.
//
// What `eider build` writes for a program that will run without Eider. Nothing here needs a GPU, a
// driver or a CUDA toolkit.
//
//===----------------------------------------------------------------------===//
#ifndef EIDER_AOT_H
#define EIDER_AOT_H

#include "eider/runtime.h"

namespace eider {

/// One program compiled for one target.
struct TargetImage {
  Executable executable;        ///< Of compile(): its contract names the target.
  std::vector<std::byte> cubin; ///< Of assemble(): holds every entry that the contract launches.
  /// The same as PTX, not for an `a` target; may be empty. cSources() takes the newest target's.
  std::vector<std::byte> ptx = {};
};

/// An emitted text as one file that includes nothing: the templates that it needs stand before it,
/// each once. `target` goes into the comment on how to compile it. Throws Error (Internal) if the
/// text includes what is no template.
EIDER_API std::string selfContainedText(const std::string &text, const std::string &target);

/// The cubins as one fat binary, for cuLibraryLoadData or cuModuleLoadFatBinary. Uncompressed;
/// the same bytes as the toolkit's `fatbinary --compress=false` gives. Throws Error (Internal) for
/// an image that is no cubin.
EIDER_API std::vector<std::byte> fatBinary(std::span<const TargetImage> images);

/// NAME.h and NAME.c.
struct CSources {
  std::string header;
  std::string source;
};

/// A C99 (and C++) header and source that launch the images, and need the C library and the
/// driver alone. `name`: of the files and, with `_…` appended, of all that the header declares; a C
/// identifier. The images are of one program with the same dims, each for another target. A GPU
/// that is newer than all of them takes the PTX, if there is one. `scalars`: defaults in the place
/// of the contract's. Throws Error: Request for a name that is none, Internal for images that do
/// not belong together.
EIDER_API CSources cSources(const std::string &name, std::span<const TargetImage> images,
                            const std::map<std::string, double> &scalars = {});

} // namespace eider

#endif // EIDER_AOT_H
