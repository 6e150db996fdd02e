//===- cuda/NvrtcSearch.h - Where NVRTC may be ------------------*- C++ -*-===//
//
// Part of Eider, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//
#ifndef EIDER_RUNTIME_CUDA_NVRTCSEARCH_H
#define EIDER_RUNTIME_CUDA_NVRTCSEARCH_H

#include <string>
#include <vector>

namespace eider::cuda {

struct NvrtcFile {
  std::string path;
  int major;
  std::string identity; ///< Nvrtc::identity()
};

/// All that are found, best first.
std::vector<NvrtcFile> findNvrtcFiles();

} // namespace eider::cuda

#endif // EIDER_RUNTIME_CUDA_NVRTCSEARCH_H
