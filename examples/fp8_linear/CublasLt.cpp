//===- examples/fp8_linear/CublasLt.cpp - Products by cuBLASLt ------------===//
//
// Part of Eider, under the Apache License v2.0.
//
// Opened at run time, and what of its interface is needed is declared here: the example builds
// where there is no CUDA.
//
//===----------------------------------------------------------------------===//
#include "examples/fp8_linear/CublasLt.h"

#include "bench/measure/Prepared.h"
#include "runtime/cuda/SharedLibrary.h"

#include <cstdlib>
#include <string>
#include <vector>

using namespace eider;

namespace fp8_linear {

namespace {
using Status = int;

struct Algorithm {
  uint64_t data[8];
};
struct Choice {
  Algorithm algorithm;
  size_t workspace;
  Status status;
  float waves;
  int reserved[4];
};

constexpr int computeF32 = 68, typeF32 = 0, typeBf16 = 14, typeE4m3 = 28; ///< library_types.h
constexpr int isTransposed = 1, workspaceBytes = 1;
enum Attribute { transposesA = 3, scaleOfA = 17, scaleOfB = 18, fast = 25, modeOfA = 31, modeOfB };
constexpr size_t sizeOfWorkspace = size_t(64) << 20;

int modeOf(const std::string &block) {
  if (block == "1x*")
    return 3; // a scale of each row, outside the sum
  if (block == "1x128")
    return 4;
  if (block == "128x128")
    return 5;
  throw Error(ErrorKind::Request, "no scales that cuBLASLt multiplies by", block,
              "choose 1x*, 1x128 or 128x128");
}
} // namespace

#define EIDER_CUBLASLT(X)                                                                          \
  X(create, cublasLtCreate, (void **handle))                                                       \
  X(destroy, cublasLtDestroy, (void *handle))                                                      \
  X(describe, cublasLtMatmulDescCreate, (void **description, int compute, int scale))              \
  X(set, cublasLtMatmulDescSetAttribute,                                                           \
    (void *description, int attribute, const void *value, size_t bytes))                           \
  X(forget, cublasLtMatmulDescDestroy, (void *description))                                        \
  X(layOut, cublasLtMatrixLayoutCreate,                                                            \
    (void **layout, int type, uint64_t rows, uint64_t columns, int64_t pitch))                     \
  X(forgetLayout, cublasLtMatrixLayoutDestroy, (void *layout))                                     \
  X(prefer, cublasLtMatmulPreferenceCreate, (void **preference))                                   \
  X(setPreference, cublasLtMatmulPreferenceSetAttribute,                                           \
    (void *preference, int attribute, const void *value, size_t bytes))                            \
  X(forgetPreference, cublasLtMatmulPreferenceDestroy, (void *preference))                         \
  X(choose, cublasLtMatmulAlgoGetHeuristic,                                                        \
    (void *handle, void *description, void *a, void *b, void *c, void *d, void *preference,        \
     int most, Choice *choices, int *found))                                                       \
  X(multiply, cublasLtMatmul,                                                                      \
    (void *handle, void *description, const void *alpha, const void *a, void *layoutOfA,           \
     const void *b, void *layoutOfB, const void *beta, const void *c, void *layoutOfC, void *d,    \
     void *layoutOfD, const Algorithm *algorithm, void *workspace, size_t bytes, void *stream))

struct CublasLt::Api {
#define EIDER_MEMBER(member, symbol, signature) Status(*member) signature;
  EIDER_CUBLASLT(EIDER_MEMBER)
#undef EIDER_MEMBER
  size_t (*version)();

  Api() {
    const char *given = std::getenv("EIDER_CUBLASLT");
    const std::vector<std::string> names =
        given && *given
            ? std::vector<std::string>{given}
            : std::vector<std::string>{"libcublasLt.so.13", "/usr/local/cuda/lib64/libcublasLt.so",
                                       "libcublasLt.so.12"};
    constexpr size_t scalesRowsAndBlocks = 120900; // 12.9.0
    SharedLibrary library;
    std::string why;
    for (const std::string &name : names) {
      SharedLibrary opened;
      if (!opened.open(name)) {
        why += (why.empty() ? "" : "; ") + opened.why();
      } else if (!opened.resolve("cublasLtGetVersion", version) ||
                 version() < scalesRowsAndBlocks) {
        why += (why.empty() ? "" : "; ") + name + " is older than 12.9";
      } else {
        library = opened;
        break;
      }
    }
    if (!library.isOpen())
      throw Error(ErrorKind::Machine, "is not here: " + why, "cuBLASLt",
                  "install CUDA 12.9 or later, or set EIDER_CUBLASLT to its libcublasLt.so");
#define EIDER_RESOLVE(member, symbol, signature)                                                   \
  if (!library.resolve(#symbol, member))                                                           \
    throw Error(ErrorKind::Machine, "has no " #symbol, "cuBLASLt", "install CUDA 12.9 or later");
    EIDER_CUBLASLT(EIDER_RESOLVE)
#undef EIDER_RESOLVE
  }

  static void check(Status status, const char *what, ErrorKind kind = ErrorKind::Machine) {
    if (status != 0)
      throw Error(kind, std::string(what) + " fails with status " + std::to_string(status),
                  "cuBLASLt");
  }
};

struct Product::Impl {
  const CublasLt::Api &api;
  void *handle, *workspace;
  const void *x, *w;
  void *y;
  void *description = nullptr, *layoutOfW = nullptr, *layoutOfX = nullptr, *layoutOfY = nullptr;
  Choice choice = {};

  ~Impl() {
    for (void *layout : {layoutOfW, layoutOfX, layoutOfY})
      if (layout)
        api.forgetLayout(layout);
    if (description)
      api.forget(description);
  }
};

Product::Product(std::unique_ptr<Impl> impl) : impl(std::move(impl)) {}
Product::Product(Product &&) noexcept = default;
Product::~Product() = default;

void Product::launch(Stream stream) const {
  const float one = 1, zero = 0;
  CublasLt::Api::check(
      impl->api.multiply(impl->handle, impl->description, &one, impl->w, impl->layoutOfW, impl->x,
                         impl->layoutOfX, &zero, impl->y, impl->layoutOfY, impl->y, impl->layoutOfY,
                         &impl->choice.algorithm, impl->workspace, sizeOfWorkspace, stream.handle),
      "a product");
}

CublasLt::CublasLt(const Device &device)
    : device(device), api(std::make_unique<Api>()),
      workspace(bench::allocate(device, sizeOfWorkspace)) {
  Api::check(api->create(&handle), "its handle");
}

CublasLt::~CublasLt() {
  try {
    device.synchronize();
  } catch (const Error &) {
    // The device is lost, of which another call tells.
  }
  api->destroy(handle);
}

size_t CublasLt::version() const { return api->version(); }

/// It has columns where we have rows: yᵀ [n, m] = w · xᵀ, with w as the transpose of k × n.
Product CublasLt::product(const Matrix &x, const Matrix &w, void *y, int64_t m, int64_t n,
                          int64_t k, Sums sums) const {
  auto made = std::make_unique<Product::Impl>(
      Product::Impl{*api, handle, workspace.get(), x.pointer, w.pointer, y});
  Api::check(api->describe(&made->description, computeF32, typeF32), "a description");
  const auto set = [&](Attribute attribute, auto value) {
    Api::check(api->set(made->description, attribute, &value, sizeof value), "an attribute");
  };
  set(transposesA, isTransposed);
  const bool isFp8 = x.type == DType::e4m3;
  if (isFp8) {
    set(fast, static_cast<signed char>(sums == Sums::fast));
    set(modeOfA, modeOf(w.block));
    set(modeOfB, modeOf(x.block));
    set(scaleOfA, w.scales);
    set(scaleOfB, x.scales);
  }
  const int type = isFp8 ? typeE4m3 : typeBf16;
  const auto rows = [](int64_t count) { return static_cast<uint64_t>(count); };
  Api::check(api->layOut(&made->layoutOfW, type, rows(k), rows(n), k), "a layout");
  Api::check(api->layOut(&made->layoutOfX, type, rows(k), rows(m), k), "a layout");
  Api::check(api->layOut(&made->layoutOfY, typeBf16, rows(n), rows(m), n), "a layout");
  void *preference = nullptr;
  Api::check(api->prefer(&preference), "a preference");
  const Status preferred =
      api->setPreference(preference, workspaceBytes, &sizeOfWorkspace, sizeof sizeOfWorkspace);
  int found = 0;
  const Status status =
      api->choose(handle, made->description, made->layoutOfW, made->layoutOfX, made->layoutOfY,
                  made->layoutOfY, preference, 1, &made->choice, &found);
  api->forgetPreference(preference);
  Api::check(preferred, "a preference");
  if (status != 0 || found == 0 || made->choice.status != 0)
    throw Error(ErrorKind::Request,
                "has no kernel for " + std::to_string(m) + "x" + std::to_string(n) + "x" +
                    std::to_string(k) + (isFp8 ? " of codes scaled " + x.block : " of bf16"),
                "cuBLASLt", "choose another shape or block");
  return Product(std::move(made));
}

} // namespace fp8_linear
