//===- runtime/Device.cpp - Device of the API -----------------------------===//
//
// Part of Eider, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//
#include "runtime/Backend.h"
#include "runtime/KernelImpl.h"

#include <charconv>

namespace eider {
namespace {

/// The ordinal in `cuda` or `cuda:N`; -1 for another id.
int ordinalOf(std::string_view id) {
  if (id == "cuda")
    return 0;
  int ordinal = -1;
  if (!id.starts_with("cuda:"))
    return ordinal;
  auto [end, error] = std::from_chars(id.data() + 5, id.data() + id.size(), ordinal);
  return error == std::errc() && end == id.data() + id.size() ? ordinal : -1;
}

} // namespace

Device Device::open(const std::string &id, const DeviceOptions &options) {
  if (id == "host")
    return Device(openHost(options));
  const int ordinal = ordinalOf(id);
  if (ordinal < 0)
    throw Error(ErrorKind::Request, "'" + id + "' is no device", "", "use host, cuda or cuda:N");
  if (const int count = cudaDeviceCount(); ordinal >= count)
    throw Error(ErrorKind::Machine,
                "there is no such GPU: the machine has " + std::to_string(count), id,
                "use a smaller number, or the device 'host'");
  return Device(openCuda(ordinal, options));
}

std::vector<DeviceInfo> Device::enumerate() {
  std::vector<DeviceInfo> devices = {hostInfo()};
  if (whyNoGpu().empty())
    for (int ordinal = 0, count = cudaDeviceCount(); ordinal < count; ++ordinal)
      devices.push_back(cudaDeviceInfo(ordinal));
  return devices;
}

std::string Device::whyNoGpu() {
  try {
    return cudaDeviceCount() > 0 ? "" : "the driver sees no GPU; use the device 'host'";
  } catch (const Error &error) {
    return error.what();
  }
}

const DeviceInfo &Device::info() const { return impl->info(); }

const CacheOptions &Device::cacheOptions() const { return impl->options.cache; }

Kernel Device::load(const Executable &executable) const {
  contract::Contract contract = contract::read(executable.contract);
  impl->requireTarget(contract.target);
  return Kernel(
      std::make_shared<const detail::KernelImpl>(impl, std::move(contract), executable.build));
}

void *Device::allocate(size_t bytes) const { return impl->allocate(bytes); }
void Device::free(void *pointer) const { impl->free(pointer); }
void Device::upload(void *to, const void *fromHost, size_t bytes) const {
  impl->upload(to, fromHost, bytes);
}
void Device::download(void *toHost, const void *from, size_t bytes) const {
  impl->download(toHost, from, bytes);
}
void Device::fill(void *to, int byte, size_t bytes) const { impl->fill(to, byte, bytes); }
void Device::copy(void *to, const void *from, size_t bytes, Stream stream) const {
  impl->copy(to, from, bytes, stream);
}
void Device::synchronize() const { impl->synchronize(); }
double Device::microseconds(Stream stream, const std::function<void()> &enqueue) const {
  return impl->microseconds(stream, enqueue);
}

} // namespace eider
