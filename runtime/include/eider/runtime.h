//===- eider/runtime.h - Devices, kernels, launch ---------------*- C++ -*-===//
//
// Part of Eider, under the Apache License v2.0.
//
// No LLVM, no CUDA type. libcuda and NVRTC are opened when first needed: a program starts without
// either.
//
//===----------------------------------------------------------------------===//
#ifndef EIDER_RUNTIME_H
#define EIDER_RUNTIME_H

#include "eider/dtype.h"
#include "eider/error.h"

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace eider {

/// What the compiler hands to the runtime: docs/design/kernel-contract.md, sources included, as
/// JSON.
struct Executable {
  std::string name;
  std::string contract;
  std::string build = {}; ///< The command that puts its machine code in the cache; may be empty.
};

/// Extents by name.
using Dims = std::map<std::string, int64_t>;

/// A CUstream or cudaStream_t; null is the default stream. Ignored on `host`, where a launch
/// returns when it is done.
struct Stream {
  void *handle = nullptr;
  Stream() = default;
  Stream(void *handle) : handle(handle) {}
};

/// A tensor of a launch. `strides`: in elements, one a dimension; none: row-major contiguous.
/// Outputs are written through `pointer`.
struct TensorArg {
  const void *pointer = nullptr;
  std::span<const int64_t> strides = {};
};

/// A scalar of a launch; converted to the scalar's type in the contract.
struct ScalarArg {
  bool isInteger;
  union {
    double real;
    int64_t integer;
  };
  template <std::floating_point T> constexpr ScalarArg(T value) : isInteger(false), real(value) {}
  template <std::integral T>
  constexpr ScalarArg(T value) : isInteger(true), integer(static_cast<int64_t>(value)) {}
};

struct NamedTensor {
  std::string_view name;
  const void *pointer = nullptr;
  std::vector<int64_t> strides = {};
};

/// A dim or a scalar.
struct NamedValue {
  std::string_view name;
  ScalarArg value;
};

//===-- Logs and the cache ------------------------------------------------===//

/// Receives warnings (one line each). The library itself never prints. Unset: they are dropped.
/// Thread-safe.
EIDER_API void setLogHandler(std::function<void(const std::string &line)> handler);

struct CacheOptions {
  bool enabled = true;
  std::string
      directory; ///< Empty: `EIDER_CACHE_DIR`, else `$XDG_CACHE_HOME/eider`, else `~/.cache/eider`.
  /// Read-only directories of the same layout, searched after it. Empty: those in
  /// `EIDER_CACHE_BUNDLES`, separated by colons.
  std::vector<std::string> bundles = {};
  int64_t limit = 0;    ///< bytes; 0: `EIDER_CACHE_SIZE` (`500M`, `2G`), else 2 GiB.
  bool whyMiss = false; ///< On a miss, the log is told how the nearest entry's key differs.
};

/// What a cache directory holds.
struct CacheStatistics {
  std::string directory;  ///< Empty: memory only; the log was told why.
  int64_t kernels = 0;    ///< entries with machine code
  int64_t requests = 0;   ///< entries with a program's texts
  int64_t bytes = 0;      ///< of all entries
  int64_t limit = 0;      ///< bytes
  int64_t unfinished = 0; ///< left behind by writers that were killed; swept after an hour
  std::vector<std::string> bundles = {}; ///< Those in use.
};
EIDER_API CacheStatistics cacheStatistics(const CacheOptions &options = {});

/// Reads every entry of the directory and its bundles whole. Gives a line for each that is damaged.
EIDER_API std::vector<std::string> verifyCache(const CacheOptions &options = {});

/// Removes every entry of the directory (no bundle's, no tuning record) and gives their number.
EIDER_API int64_t clearCache(const CacheOptions &options = {});

/// What an archive moved.
struct CacheTransfer {
  int64_t entries = 0;
  int64_t present = 0;      ///< Of them, those that the cache had.
  std::string records = {}; ///< The text that was put beside the entries.
};

/// Writes every sound entry of the directory and its bundles to `file`, with `records`: a text of
/// the caller's. Throws Error.
EIDER_API CacheTransfer exportCache(const std::string &file, const std::string &records,
                                    const CacheOptions &options = {});

/// Stores the entries of an archive once the whole of it is verified. Throws Error: Request for a
/// file that is no sound archive, Machine if there is no directory to store in.
EIDER_API CacheTransfer importCache(const std::string &file, const CacheOptions &options = {});

//===-- Text to machine code, without a GPU -------------------------------===//

enum class ImageKind { Cubin, Ptx };

/// What one kernel of an image needs.
struct EntryResources {
  std::string name;
  int registers = 0;       ///< a thread
  int64_t spillStores = 0; ///< bytes
  int64_t spillLoads = 0;  ///< bytes
  int64_t stack = 0;       ///< bytes a thread
  int64_t shared = 0;      ///< bytes of static shared memory
};

struct Assembly {
  std::vector<std::byte> image;
  std::string log;                     ///< NVRTC's and ptxas's, as they wrote it.
  std::vector<EntryResources> entries; ///< Empty for PTX.
  bool fromCache = false;
  double milliseconds = 0;     ///< In NVRTC; 0 from the cache.
  double openMilliseconds = 0; ///< Opening NVRTC's library, the first time in a process.
  std::string directory;       ///< The cache entry, with kernel.cu in it; empty if there is none.
};

/// Compiles a text for `sm_75` … `sm_121` (with `a` forms) by NVRTC. Throws Error: Request for an
/// unknown target, Machine without NVRTC, Internal when the text does not compile (quoting the
/// first three errors).
EIDER_API Assembly assemble(const std::string &source, const std::string &target,
                            ImageKind kind = ImageKind::Cubin, const CacheOptions &cache = {});

/// The sources of an executable's variants, in order of preference: name and text.
struct VariantSource {
  std::string name;
  std::string source;
};
EIDER_API std::vector<VariantSource> sourcesOf(const Executable &executable);

//===-- Kernels -----------------------------------------------------------===//

class Backend;
namespace detail {
struct KernelImpl;
struct CallImpl;
} // namespace detail

/// How a variant came to be.
struct VariantReport {
  std::string name;
  std::string source;
  bool loaded = false; ///< The rest is 0 until it is.
  bool fromCache = false;
  double openMilliseconds = 0;    ///< Opening NVRTC's library, the first time in a process.
  double compileMilliseconds = 0; ///< NVRTC, or the C++ compiler for `host`.
  double loadMilliseconds = 0;
  std::string directory; ///< The cache entry; empty if there is none.
  std::vector<EntryResources> entries;
};

/// A kernel for given dims: a variant is chosen and loaded, so that launches neither compile nor
/// allocate, and can be captured in a CUDA graph. Immutable; thread-safe.
class EIDER_API Call {
public:
  /// Bytes that the launch needs at `workspace`, aligned to 256; one workspace for each launch in
  /// flight.
  size_t workspace_bytes() const;

  /// The variant chosen for contiguous tensors aligned to 256 bytes, or for those
  /// given to prepare().
  const std::string &variant() const;

  /// Launches. `tensors` and `scalars` stand in the contract's order; no scalars: their defaults.
  /// Checks pointers, alignment, strides and overlap. Tensors that the chosen variant cannot take
  /// go to a more general one, which is loaded if it is not (an error while `stream` is being
  /// captured). Throws Error.
  void launch(Stream stream, std::span<const TensorArg> tensors,
              std::span<const ScalarArg> scalars = {}, void *workspace = nullptr) const;

private:
  friend class Kernel;
  explicit Call(std::shared_ptr<const detail::CallImpl> impl) : impl(std::move(impl)) {}
  std::shared_ptr<const detail::CallImpl> impl;
};

/// An executable on a device. Immutable; thread-safe; copies are cheap.
class EIDER_API Kernel {
public:
  const std::string &name() const;

  /// The contract's tensors and scalars, in positional order.
  std::vector<std::string> tensorNames() const;
  std::vector<std::string> scalarNames() const;

  /// The extents of a tensor for these dims. Throws Error.
  std::vector<int64_t> shapeOf(std::string_view tensor, const Dims &dims) const;

  /// Chooses the variant and loads it. `tensors`, if given, are those of the launches to come; only
  /// their alignment and strides matter. Dims that the contract fixes may be left out. Throws
  /// Error.
  Call prepare(const Dims &dims, std::span<const TensorArg> tensors = {}) const;

  /// By name, for convenience. `values`: the dims, and the scalars that are not to have their
  /// defaults. Throws Error.
  void launch(Stream stream, const std::vector<NamedTensor> &tensors,
              const std::vector<NamedValue> &values, void *workspace = nullptr) const;

  /// All variants, in order of preference.
  std::vector<VariantReport> variants() const;

private:
  friend class Device;
  explicit Kernel(std::shared_ptr<const detail::KernelImpl> impl) : impl(std::move(impl)) {}
  std::shared_ptr<const detail::KernelImpl> impl;
};

//===-- Devices -----------------------------------------------------------===//

/// What a device is and can do. Zero on `host` where it means nothing.
struct DeviceInfo {
  std::string id;             ///< `host`, `cuda:0`, …
  std::string name;           ///< `NVIDIA H200`; the processor's name on `host`.
  std::string target;         ///< What to compile for: `sm_90`, `host`.
  int major = 0, minor = 0;   ///< Compute capability.
  int multiprocessors = 0;    ///< Threads of the processor on `host`.
  int64_t memory = 0;         ///< bytes
  int64_t l2 = 0;             ///< bytes
  int memoryClock = 0;        ///< kHz
  int memoryBus = 0;          ///< bits
  int64_t sharedPerBlock = 0; ///< bytes, the largest that can be asked for
  int driver = 0;             ///< CUDA version of the driver: 13000 is 13.0.
  bool hardwareFp8 = false;   ///< Has conversion instructions for FP8.
  bool clusters = false;
};

struct DeviceOptions {
  CacheOptions cache;
  bool checked = false; ///< Also refuses streams of another context, and synchronizes after each
                        ///< launch to name its faults.
  uint64_t seed = 0;    ///< `host`: the order of threads.
  unsigned threads = 0; ///< `host`: processor threads; 0: all.
};

/// A device; retains its primary context. Immutable; thread-safe; copies are cheap.
class EIDER_API Device {
public:
  /// `host`, `cuda` (the first GPU) or `cuda:N`. `EIDER_TARGET`, if set, names an older target for
  /// a GPU to compile for than its own; the driver makes its code from PTX where it must. Throws
  /// Error: Request for another name or a target that does not run there, Machine without driver or
  /// GPU.
  static Device open(const std::string &id, const DeviceOptions &options = {});

  /// `host`, then each GPU. Without a driver: `host` alone.
  static std::vector<DeviceInfo> enumerate();

  /// Why enumerate() found no GPU, in one line; empty if there is one.
  static std::string whyNoGpu();

  const DeviceInfo &info() const;
  const std::string &target() const { return info().target; }
  bool isHost() const { return info().target == "host"; }
  const CacheOptions &cacheOptions() const;

  /// Makes a kernel. Nothing is compiled yet. Throws Error if the contract is bad or is for another
  /// target.
  Kernel load(const Executable &executable) const;

  //===-- Memory, for tools and tests; a program with its own memory needs none of this --===//

  /// Aligned to 256 bytes at least. Throws Error.
  void *allocate(size_t bytes) const;
  void free(void *pointer) const;
  // These three wait until they are done.
  void upload(void *to, const void *fromHost, size_t bytes) const;
  void download(void *toHost, const void *from, size_t bytes) const;
  void fill(void *to, int byte, size_t bytes) const;
  /// From device memory to device memory, in order on `stream`.
  void copy(void *to, const void *from, size_t bytes, Stream stream = {}) const;
  /// Waits for all work.
  void synchronize() const;
  /// Microseconds that the work which `enqueue` puts on `stream` takes on the device (on `host`:
  /// that it takes).
  double microseconds(Stream stream, const std::function<void()> &enqueue) const;

private:
  explicit Device(std::shared_ptr<const Backend> impl) : impl(std::move(impl)) {}
  std::shared_ptr<const Backend> impl;
};

} // namespace eider

#endif // EIDER_RUNTIME_H
