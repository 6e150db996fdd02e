//===- cuda/CudaBackend.cpp - A GPU by the driver API ---------------------===//
//
// Part of Eider, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//
#include "runtime/Assembler.h"
#include "runtime/Backend.h"
#include "runtime/SingleFlight.h"
#include "runtime/cache/Settings.h"
#include "runtime/cuda/DriverApi.h"

#include <algorithm>
#include <array>
#include <chrono>
#include <cstdlib>

namespace eider {
namespace {

using namespace cuda;

DevicePointer address(const void *pointer) { return reinterpret_cast<DevicePointer>(pointer); }

DriverStream handleOf(Stream stream) { return static_cast<DriverStream>(stream.handle); }

/// Makes a context current while it lives; costs one call if it is already.
class CurrentContext {
public:
  explicit CurrentContext(Context context) {
    Context now = nullptr;
    driver().check(driver().contextCurrent(&now), "asking for the current context");
    if (now == context)
      return;
    driver().check(driver().contextPush(context), "making the device's context current");
    pushed = true;
  }
  ~CurrentContext() {
    Context ignored;
    if (pushed)
      driver().contextPop(&ignored);
  }
  CurrentContext(const CurrentContext &) = delete;
  CurrentContext &operator=(const CurrentContext &) = delete;

private:
  bool pushed = false;
};

int attribute(DeviceNumber device, DeviceAttribute which) {
  int value = 0;
  driver().check(driver().deviceAttribute(&value, which, device), "asking for an attribute");
  return value;
}

DeviceNumber deviceAt(int ordinal) {
  DeviceNumber device = 0;
  driver().check(driver().deviceGet(&device, ordinal), "opening cuda:" + std::to_string(ordinal));
  return device;
}

/// Events for one measurement.
class Timer {
public:
  Timer() {
    driver().check(driver().eventCreate(&start, 0), "making an event");
    driver().check(driver().eventCreate(&end, 0), "making an event");
  }
  ~Timer() {
    driver().eventDestroy(start);
    driver().eventDestroy(end);
  }
  Event start = nullptr, end = nullptr;
};

class CudaBackend final : public Backend {
public:
  CudaBackend(int ordinal, const DeviceOptions &options)
      : Backend(options), cache(options.cache), ordinal(ordinal) {
    info_ = cudaDeviceInfo(ordinal);
    if (const char *older = std::getenv("EIDER_TARGET"))
      takeTarget(older);
    // Never released: kernels may be in flight while the process exits.
    const DeviceNumber device = deviceAt(ordinal);
    if (attribute(device, DeviceAttribute::CooperativeLaunch) != 0)
      cooperative = {attribute(device, DeviceAttribute::ThreadsPerMultiprocessor),
                     attribute(device, DeviceAttribute::BlocksPerMultiprocessor)};
    driver().check(driver().primaryRetain(&context, device),
                   "retaining the context of " + info_.id);
  }

  void requireTarget(const std::string &target) const override;
  std::shared_ptr<const LoadedText> load(const contract::Variant &variant,
                                         const std::string &target) const override;
  int64_t blocksAtOnce(const contract::Launch &launch) const override;
  void launch(void *function, const LaunchGeometry &geometry, void **parameters,
              Stream stream) const override;
  bool isCapturing(Stream stream) const override;
  void *allocate(size_t bytes) const override;
  void free(void *pointer) const override;
  void upload(void *to, const void *from, size_t bytes) const override;
  void download(void *to, const void *from, size_t bytes) const override;
  void fill(void *to, int byte, size_t bytes) const override;
  void copy(void *to, const void *from, size_t bytes, Stream stream) const override;
  void synchronize() const override;
  double microseconds(Stream stream, const std::function<void()> &enqueue) const override;

private:
  void takeTarget(const std::string &name);
  bool runs(const std::string &name) const;
  std::shared_ptr<const LoadedText> loadNow(const AssemblyRequest &request, Assembly assembly,
                                            const contract::Variant &variant) const;
  Function function(Library library, const contract::Launch &launch) const;
  void requireOwnStream(Stream stream) const;
  void waitForDefaultStream() const;

  Cache cache;
  int ordinal;
  /// What a multiprocessor holds of cooperative launches; 0: there are none.
  struct {
    int threads = 0, blocks = 0;
  } cooperative;
  Context context = nullptr;
};

/// Whether texts for a target run here, as a cubin or by way of PTX.
bool CudaBackend::runs(const std::string &name) const {
  const std::optional<Target> target = parseTarget(name);
  const int capability = 10 * info_.major + info_.minor;
  return target && target->capability <= capability &&
         (!target->archSpecific || target->capability == capability);
}

void CudaBackend::requireTarget(const std::string &name) const {
  if (!runs(name))
    throw Error(ErrorKind::Request,
                "made for '" + name + "', which does not run on a GPU of sm_" +
                    std::to_string(10 * info_.major + info_.minor),
                info_.id, "compile for '" + info_.target + "'");
}

/// Another target than the GPU's own, so that what older GPUs are given can be tried on this one.
void CudaBackend::takeTarget(const std::string &name) {
  if (!runs(name))
    throw Error(ErrorKind::Request,
                "'" + name + "' does not run on a GPU of sm_" +
                    std::to_string(10 * info_.major + info_.minor),
                "EIDER_TARGET", "unset it, or set it to an older target, like sm_80");
  info_.target = parseTarget(name)->name();
  info_.hardwareFp8 = parseTarget(name)->capability >= 89;
}

std::shared_ptr<const LoadedText> CudaBackend::load(const contract::Variant &variant,
                                                    const std::string &target) const {
  // One a process, whatever the number of Device objects; never destroyed, like the code it holds.
  static auto *loaded = new SingleFlight<LoadedText>;
  AssemblyRequest request{variant.source, *parseTarget(target)};
  request.launches = contract::launchesJson(variant);
  request.mayCompile = settings::mayCompile();
  std::shared_ptr<const Nvrtc> nvrtc;
  std::exception_ptr lacking;
  try {
    nvrtc = Nvrtc::find(driver().version / 1000);
  } catch (const Error &) { // the cache may have what another machine's has made
    lacking = std::current_exception();
  }
  // A GPU of a major version that no known target has: the driver makes its code from PTX.
  if (!runsCubin(info_.major, info_.minor, request.target))
    request.kind = ImageKind::Ptx;
  std::string key =
      std::to_string(ordinal) + " " + textKey(request, nvrtc ? nvrtc->identity() : "");
  for (const contract::Launch &launch : variant.launches)
    key += " " + launch.entry;
  return loaded->get(key, [&] {
    if (nvrtc)
      return loadNow(request, assembleCached(request, *nvrtc, cache), variant);
    if (std::optional<Assembly> assembly = findOfAnyNvrtc(request, cache))
      return loadNow(request, std::move(*assembly), variant);
    std::rethrow_exception(lacking);
  });
}

std::shared_ptr<const LoadedText> CudaBackend::loadNow(const AssemblyRequest &request,
                                                       Assembly assembly,
                                                       const contract::Variant &variant) const {
  using Clock = std::chrono::steady_clock;
  const auto start = Clock::now();
  const CurrentContext current(context);
  Library library = nullptr;
  driver().check(driver().libraryLoad(&library, assembly.image.data(), nullptr, nullptr, 0, nullptr,
                                      nullptr, 0),
                 "loading a kernel for " + request.target.name());
  auto text = std::make_shared<LoadedText>();
  for (const contract::Launch &launch : variant.launches)
    text->functions.push_back(function(library, launch));
  text->loadMilliseconds = std::chrono::duration<double, std::milli>(Clock::now() - start).count();
  text->openMilliseconds = assembly.openMilliseconds;
  text->compileMilliseconds = assembly.milliseconds;
  text->fromCache = assembly.fromCache;
  text->directory = assembly.directory;
  text->entries = std::move(assembly.entries);
  return text;
}

/// The function of a launch, its code on the device and its attributes set.
Function CudaBackend::function(Library library, const contract::Launch &launch) const {
  const std::string doing = "loading the entry '" + launch.entry + "'";
  LibraryKernel kernel = nullptr;
  Function function = nullptr;
  driver().check(driver().libraryKernel(&kernel, library, launch.entry.c_str()), doing);
  driver().check(driver().kernelFunction(&function, kernel), doing);
  if (driver().functionLoad)
    driver().check(driver().functionLoad(function), doing);
  if (launch.shared != "0") {
    // The most that there can be: launches with different dims may run at the same time.
    int fixed = 0;
    driver().check(driver().functionGet(&fixed, FunctionAttribute::StaticShared, function), doing);
    driver().check(driver().functionSet(function, FunctionAttribute::MaxDynamicShared,
                                        static_cast<int>(info_.sharedPerBlock) - fixed),
                   doing);
  }
  if (launch.cluster > 8)
    driver().check(driver().functionSet(function, FunctionAttribute::NonPortableCluster, 1), doing);
  return function;
}

/// What the kernel was compiled for, as far as this GPU's multiprocessors have room for it.
int64_t CudaBackend::blocksAtOnce(const contract::Launch &launch) const {
  return std::min<int64_t>(
             {launch.cooperative, cooperative.threads / launch.block, cooperative.blocks}) *
         info_.multiprocessors;
}

void CudaBackend::launch(void *function, const LaunchGeometry &geometry, void **parameters,
                         Stream stream) const {
  const CurrentContext current(context);
  if (options.checked)
    requireOwnStream(stream);
  const auto grid = static_cast<unsigned>(geometry.grid);
  Result result;
  if (geometry.cluster == 1 && !geometry.cooperative && !geometry.overlaps) {
    result = driver().launch(static_cast<Function>(function), grid, 1, 1, geometry.block, 1, 1,
                             geometry.shared, handleOf(stream), parameters, nullptr);
  } else {
    std::array<LaunchAttribute, 2> attributes = {}; // a cluster, and what it overlaps, at most
    unsigned count = 0;
    if (geometry.cooperative) {
      attributes[count].id = LaunchAttribute::cooperative;
      attributes[count++].isCooperative = 1;
    }
    if (geometry.overlaps) {
      attributes[count].id = LaunchAttribute::programmaticSerialization;
      attributes[count++].isProgrammatic = 1;
    }
    if (geometry.cluster != 1) {
      attributes[count].id = LaunchAttribute::clusterDimension;
      attributes[count++].cluster = {geometry.cluster, 1, 1};
    }
    const LaunchConfig config = {
        grid, 1, 1, geometry.block, 1, 1, geometry.shared, handleOf(stream), attributes.data(),
        count};
    result = driver().launchEx(&config, static_cast<Function>(function), parameters, nullptr);
  }
  if (result != success && result != deinitialized) // the driver has shut down: the process exits
    driver().check(result, "launching");
  if (options.checked && !isCapturing(stream))
    driver().check(driver().streamSynchronize(handleOf(stream)), "running the kernel");
}

void CudaBackend::requireOwnStream(Stream stream) const {
  Context owner = nullptr;
  driver().check(driver().streamContext(handleOf(stream), &owner), "asking for a stream's context");
  if (owner != context)
    throw Error(ErrorKind::Request, "the stream belongs to another device or context", info_.id,
                "launch on a stream of this device's primary context");
}

bool CudaBackend::isCapturing(Stream stream) const {
  const CurrentContext current(context);
  int status = 0;
  const Result result = driver().streamCapturing(handleOf(stream), &status);
  if (result == captureImplicit) // the default stream, while another is captured that waits for it
    return true;
  driver().check(result, "asking whether a stream is captured");
  return status != 0;
}

void *CudaBackend::allocate(size_t bytes) const {
  const CurrentContext current(context);
  DevicePointer pointer = 0;
  driver().check(driver().memoryAllocate(&pointer, std::max<size_t>(bytes, 1)),
                 "allocating " + std::to_string(bytes) + " bytes on " + info_.id);
  return reinterpret_cast<void *>(pointer);
}

void CudaBackend::free(void *pointer) const {
  const CurrentContext current(context);
  const Result result = driver().memoryFree(address(pointer));
  if (result != deinitialized)
    driver().check(result, "freeing memory");
}

/// So that what has been written is there for work on any stream.
void CudaBackend::waitForDefaultStream() const {
  driver().check(driver().streamSynchronize(nullptr), "waiting for the default stream");
}

void CudaBackend::upload(void *to, const void *from, size_t bytes) const {
  const CurrentContext current(context);
  driver().check(driver().copyToDevice(address(to), from, bytes), "copying to the device");
  waitForDefaultStream();
}

void CudaBackend::download(void *to, const void *from, size_t bytes) const {
  const CurrentContext current(context);
  driver().check(driver().copyToHost(to, address(from), bytes), "copying from the device");
}

void CudaBackend::fill(void *to, int byte, size_t bytes) const {
  const CurrentContext current(context);
  driver().check(driver().memorySet(address(to), static_cast<unsigned char>(byte), bytes),
                 "filling memory");
  waitForDefaultStream();
}

void CudaBackend::copy(void *to, const void *from, size_t bytes, Stream stream) const {
  const CurrentContext current(context);
  driver().check(driver().copyOnDevice(address(to), address(from), bytes, handleOf(stream)),
                 "copying on the device");
}

void CudaBackend::synchronize() const {
  const CurrentContext current(context);
  driver().check(driver().contextSynchronize(), "running the work on " + info_.id);
}

double CudaBackend::microseconds(Stream stream, const std::function<void()> &enqueue) const {
  const CurrentContext current(context);
  const Timer timer;
  driver().check(driver().eventRecord(timer.start, handleOf(stream)), "recording an event");
  enqueue();
  driver().check(driver().eventRecord(timer.end, handleOf(stream)), "recording an event");
  driver().check(driver().eventSynchronize(timer.end), "running the work on " + info_.id);
  float milliseconds = 0;
  driver().check(driver().eventElapsed(&milliseconds, timer.start, timer.end), "reading the time");
  return 1000.0 * milliseconds;
}

} // namespace

int cudaDeviceCount() {
  int count = 0;
  driver().check(driver().deviceCount(&count), "counting GPUs");
  return count;
}

DeviceInfo cudaDeviceInfo(int ordinal) {
  const DeviceNumber device = deviceAt(ordinal);
  DeviceInfo info;
  info.id = "cuda:" + std::to_string(ordinal);
  char name[256] = "";
  driver().check(driver().deviceName(name, sizeof(name), device), "asking for a name");
  info.name = name;
  info.major = attribute(device, DeviceAttribute::Major);
  info.minor = attribute(device, DeviceAttribute::Minor);
  if (std::optional<Target> target = targetFor(info.major, info.minor))
    info.target = target->name();
  info.multiprocessors = attribute(device, DeviceAttribute::Multiprocessors);
  size_t bytes = 0;
  driver().check(driver().deviceMemory(&bytes, device), "asking for the size of memory");
  info.memory = static_cast<int64_t>(bytes);
  info.l2 = attribute(device, DeviceAttribute::L2);
  info.memoryClock = attribute(device, DeviceAttribute::MemoryClock);
  info.memoryBus = attribute(device, DeviceAttribute::MemoryBus);
  info.sharedPerBlock = attribute(device, DeviceAttribute::SharedPerBlock);
  info.driver = driver().version;
  info.hardwareFp8 = 10 * info.major + info.minor >= 89;
  info.clusters = attribute(device, DeviceAttribute::ClusterLaunch) != 0;
  return info;
}

std::shared_ptr<const Backend> openCuda(int ordinal, const DeviceOptions &options) {
  auto backend = std::make_shared<CudaBackend>(ordinal, options);
  if (backend->info().target.empty())
    throw Error(ErrorKind::Machine,
                backend->info().name + " is of compute capability " +
                    std::to_string(backend->info().major) + "." +
                    std::to_string(backend->info().minor) + ", older than all that Eider serves",
                backend->info().id, "use a GPU from sm_75 on, or the device 'host'");
  return backend;
}

} // namespace eider
