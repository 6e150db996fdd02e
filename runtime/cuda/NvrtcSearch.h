//===- cuda/NvrtcSearch.h - Where NVRTC may be ------------------*- C++ -*-===//
//
// Part of Eider, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//
#ifndef EIDER_RUNTIME_CUDA_NVRTCSEARCH_H
#define EIDER_RUNTIME_CUDA_NVRTCSEARCH_H

#include <string>

namespace eider::cuda {

struct NvrtcFile {
  std::string path;
  int major;
  std::string identity; ///< Nvrtc::identity()
};

/// Nvrtc::find()'s search.
NvrtcFile findNvrtcFile(int maxMajor);

} // namespace eider::cuda

#endif // EIDER_RUNTIME_CUDA_NVRTCSEARCH_H
