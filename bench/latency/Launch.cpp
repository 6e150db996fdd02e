//===- bench/latency/Launch.cpp - The cost of a launch to its thread ------===//
//
// Part of Eider, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//
#include "bench/latency/Measure.h"

#include "eider/jit.h"
#include "runtime/contract/Contract.h"
#include "runtime/cuda/DriverApi.h"

#include <algorithm>
#include <chrono>
#include <cstring>

namespace eider::bench {
namespace {

using Clock = std::chrono::steady_clock;

/// One row: the kernel is over long before the next launch, which the queue must never make wait.
constexpr int64_t tokens = 1;
constexpr int launchesARound = 400, rounds = 60;

/// Microseconds a launch, in one round.
template <typename Launch> double round(const Device &device, Launch &&launch) {
  const auto start = Clock::now();
  for (int i = 0; i < launchesARound; ++i)
    launch();
  const std::chrono::duration<double, std::micro> time = Clock::now() - start;
  device.synchronize();
  return time.count() / launchesARound;
}

double median(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  return values[values.size() / 2];
}

/// The first variant of an executable as a program without Eider would launch it.
class RawKernel {
public:
  RawKernel(const Executable &executable, const Device &device, const Dims &dims,
            std::span<const TensorArg> tensors, void *workspace)
      : contract(contract::read(executable.contract)), launchOf(contract.variants[0].launches[0]) {
    const Assembly assembly = assemble(contract.variants[0].source, device.target(),
                                       ImageKind::Cubin, device.cacheOptions());
    cuda::Library library = nullptr;
    cuda::LibraryKernel kernel = nullptr;
    api.check(
        api.libraryLoad(&library, assembly.image.data(), nullptr, nullptr, 0, nullptr, nullptr, 0),
        "loading");
    api.check(api.libraryKernel(&kernel, library, launchOf.entry.c_str()), "loading");
    api.check(api.kernelFunction(&function, kernel), "loading");
    for (const contract::Parameter &parameter : launchOf.parameters)
      values.push_back(valueOf(parameter, dims, tensors, workspace));
    for (uint64_t &value : values)
      addresses.push_back(&value);
  }

  void launch() {
    api.launch(function, 1, 1, 1, static_cast<unsigned>(launchOf.block), 1, 1, 0, nullptr,
               addresses.data(), nullptr);
  }

private:
  uint64_t valueOf(const contract::Parameter &parameter, const Dims &dims,
                   std::span<const TensorArg> tensors, void *workspace) const {
    using Kind = contract::Parameter::Kind;
    uint64_t value = 0;
    if (parameter.kind == Kind::Tensor)
      value = reinterpret_cast<uint64_t>(tensors[parameter.index].pointer);
    else if (parameter.kind == Kind::Dim)
      value = static_cast<uint64_t>(dims.at(parameter.dim));
    else if (parameter.kind == Kind::Workspace)
      value = reinterpret_cast<uint64_t>(workspace);
    else if (parameter.kind == Kind::Scalar) {
      const float scalar = static_cast<float>(*contract.scalars[parameter.index].defaultValue);
      std::memcpy(&value, &scalar, sizeof(scalar));
    } else
      throw Error(ErrorKind::Internal, "the contiguous variant takes strides", launchOf.entry);
    return value;
  }

  const cuda::DriverApi &api = cuda::driver();
  const contract::Contract contract;
  const contract::Launch &launchOf;
  cuda::Function function = nullptr;
  std::vector<uint64_t> values;
  std::vector<void *> addresses;
};

} // namespace

LaunchCost measureLaunch(const Subject &subject, const std::string &id, const std::string &cache) {
  DeviceOptions deviceOptions;
  deviceOptions.cache.directory = cache;
  const Device device = Device::open(id, deviceOptions);
  OpParameters parameters;
  parameters.dtype = "bf16";
  parameters.format = "e4m3";
  parameters.block = "1x128";
  const Program program = libraryOp(subject.op, parameters);
  const Dims dims = {{"tokens", tokens}, {"hidden", subject.hidden}};
  const Kernel kernel = jit(program, device, {{"hidden", subject.hidden}});
  const Call call = kernel.prepare(dims);

  std::vector<TensorArg> tensors;
  std::vector<NamedTensor> named;
  const std::vector<std::string> names = kernel.tensorNames();
  for (const std::string &name : names) {
    int64_t elements = 1;
    for (int64_t extent : kernel.shapeOf(name, dims))
      elements *= extent;
    void *memory = device.allocate(elements * 8);
    device.fill(memory, 0x3c, elements * 8);
    tensors.push_back({memory});
    named.push_back({name, memory});
  }
  void *workspace = device.allocate(call.workspace_bytes());
  const std::vector<NamedValue> values = {{"tokens", tokens}, {"hidden", subject.hidden}};

  CompileOptions compileOptions;
  compileOptions.target = device.target();
  compileOptions.dims = {{"hidden", subject.hidden}};
  // The kernel has made the device's context; a raw launch needs it to be current.
  cuda::Context context = nullptr;
  cuda::driver().check(cuda::driver().primaryRetain(&context, 0), "retaining the context");
  cuda::driver().check(cuda::driver().contextPush(context), "making the context current");
  RawKernel raw(compileCached(program, compileOptions, device.cacheOptions()), device, dims,
                tensors, workspace);

  std::vector<double> prepared, bare, byName;
  for (int i = -3; i < rounds; ++i) { // the first ones warm up
    const double a = round(device, [&] { call.launch({}, tensors, {}, workspace); });
    const double b = round(device, [&] { raw.launch(); });
    const double c = round(device, [&] { kernel.launch({}, named, values, workspace); });
    if (i < 0)
      continue;
    prepared.push_back(a);
    bare.push_back(b);
    byName.push_back(c);
  }
  return {median(prepared), median(bare), median(byName)};
}

} // namespace eider::bench
