//===- examples/fp8_linear/CublasLt.h - Products by cuBLASLt ----*- C++ -*-===//
//
// Part of Eider, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//
#ifndef EIDER_EXAMPLES_FP8LINEAR_CUBLASLT_H
#define EIDER_EXAMPLES_FP8LINEAR_CUBLASLT_H

#include "eider/runtime.h"

#include <memory>

namespace fp8_linear {

/// A matrix of a product, row-major: rows of k elements.
struct Matrix {
  const void *pointer = nullptr;
  eider::DType type = eider::DType::bf16; ///< `bf16` or `e4m3`
  const void *scales = nullptr;           ///< f32; of codes
  std::string block = {};                 ///< What has a scale together: `1x*`, `1x128`, `128x128`.
};

/// How sums of products of codes grow: in f32, or for whole rows in the fewer bits of FP8's units.
enum class Sums { f32, fast };

/// y [m, n] = x [m, k] · wᵀ, w [n, k], in bf16, summed in f32; chosen once, launched often.
class Product {
public:
  ~Product();
  Product(Product &&) noexcept;

  /// Throws eider::Error.
  void launch(eider::Stream stream) const;

private:
  friend class CublasLt;
  struct Impl;
  explicit Product(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl;
};

/// The library, opened where it is: `EIDER_CUBLASLT` (a path), else by its names.
class CublasLt {
public:
  /// For the context that is current, which must be the device's. Throws eider::Error (Machine)
  /// where there is none, or none that scales blocks.
  explicit CublasLt(const eider::Device &device);
  ~CublasLt();
  CublasLt(const CublasLt &) = delete;
  CublasLt &operator=(const CublasLt &) = delete;

  /// 13.0.2 is 130002.
  size_t version() const;

  /// The library's first choice. Throws eider::Error (Request) where it has no kernel for it.
  Product product(const Matrix &x, const Matrix &w, void *y, int64_t m, int64_t n, int64_t k,
                  Sums sums = Sums::f32) const;

  struct Api;

private:
  eider::Device device;
  std::unique_ptr<Api> api;
  std::shared_ptr<void> workspace;
  void *handle = nullptr;
};

} // namespace fp8_linear

#endif // EIDER_EXAMPLES_FP8LINEAR_CUBLASLT_H
