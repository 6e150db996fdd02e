//===- MemoryTraps.cpp - Far rows and overlapping tensors -----------------===//
//
// Part of Eider, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//
#include "tests/conformance/traps/Trap.h"

#include <sys/mman.h>

using namespace eider;
using namespace eider::traps;

namespace {
/// Memory of a device of which only what is touched needs to be there.
class FarMemory {
public:
  FarMemory(const Device &device, size_t bytes) : device(device), bytes(bytes) {
    if (!device.isHost()) {
      pointer_ = device.allocate(bytes);
      return;
    }
    pointer_ = mmap(nullptr, bytes, PROT_READ | PROT_WRITE,
                    MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (pointer_ == MAP_FAILED)
      throw Error(ErrorKind::Machine, "no address space", "traps");
  }
  ~FarMemory() {
    if (device.isHost())
      munmap(pointer_, bytes);
    else
      device.free(pointer_);
  }
  FarMemory(const FarMemory &) = delete;
  std::byte *at(size_t offset) const { return static_cast<std::byte *>(pointer_) + offset; }

private:
  Device device;
  size_t bytes;
  void *pointer_;
};

Kernel quantizer(const Device &device, int64_t hidden) {
  CompileOptions options;
  options.target = device.target();
  options.dims = {{"hidden", hidden}};
  return device.load(compile(libraryOp("quantize", parameters("e4m3", "1x128")), options));
}
} // namespace

/// Three rows, each more than 2^31 elements from the next.
TEST(MemoryTraps, IndexOverflowAbove31Bits) {
  const int64_t hidden = 256, rows = 3, pitch = (int64_t(1) << 31) + 64;
  Device device = Device::open(matrix::testDevice());
  Kernel kernel = quantizer(device, hidden);
  FarMemory x(device, (2 * pitch + hidden) * sizeof(float)), y(device, 2 * pitch + hidden);
  FarMemory scales(device, rows * 2 * sizeof(float));
  for (int64_t row = 0; row < rows; ++row) {
    std::vector<float> values(hidden, 448.0f * static_cast<float>(row + 1));
    device.upload(x.at(row * pitch * sizeof(float)), values.data(), values.size() * sizeof(float));
  }
  kernel.launch({},
                {{"x", x.at(0), {pitch, 1}}, {"y", y.at(0), {pitch, 1}}, {"y_scale", scales.at(0)}},
                {{"tokens", rows}, {"hidden", hidden}});
  device.synchronize();
  std::vector<float> scale(rows * 2);
  device.download(scale.data(), scales.at(0), scale.size() * sizeof(float));
  EXPECT_EQ(scale, (std::vector<float>{1, 1, 2, 2, 3, 3}));
  for (int64_t row = 0; row < rows; ++row) {
    std::vector<uint8_t> codes(hidden);
    device.download(codes.data(), y.at(row * pitch), codes.size());
    EXPECT_EQ(codes, std::vector<uint8_t>(hidden, 0x7e)) << row;
  }
}

TEST(MemoryTraps, OutputAliasesAnInput) {
  Device device = Device::open(matrix::testDevice());
  Kernel kernel = quantizer(device, 128);
  FarMemory memory(device, 4096);
  try {
    kernel.launch({}, {{"x", memory.at(0)}, {"y", memory.at(256)}, {"y_scale", memory.at(2048)}},
                  {{"tokens", 1}, {"hidden", 128}});
    ADD_FAILURE() << "y lies within x and was taken";
  } catch (const Error &error) {
    EXPECT_EQ(error.kind(), ErrorKind::Request);
    EXPECT_NE(std::string(error.what()).find("overlaps tensor 'x'"), std::string::npos)
        << error.what();
  }
}
