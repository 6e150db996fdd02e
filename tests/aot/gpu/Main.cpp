//===- tests/aot/gpu/Main.cpp - Shipped kernels give the JIT's bits -------===//
//
// Part of Eider, under the Apache License v2.0.
//
// Every op by NAME.c, contiguous and strided, and an entry of a fat binary through the driver.
// Prints `ok …` or `not ok …`; exit status 0 all ok, 1 not, 77 there is no GPU.
//
//===----------------------------------------------------------------------===//
#include "add_rms_norm_quant.h"
#include "quantize.h"
#include "quantize_for_sm_75.h"
#include "rms_norm_quant.h"

#include "eider/aot.h"
#include "eider/jit.h"
#include "runtime/cuda/DriverApi.h"

extern "C" {
#include "docs/tutorial/offline/gpu.h"
}

#include <cstdio>
#include <cstring>
#include <functional>

using namespace eider;

namespace {

constexpr int64_t hidden = QUANTIZE_HIDDEN, groups = (hidden + 127) / 128, rows = 777;

/// Device memory that a test owns.
struct Buffer {
  Buffer(const Device &device, size_t bytes, uint32_t seed)
      : device(device), bytes(bytes), memory(device.allocate(bytes)) {
    std::vector<uint16_t> values(bytes / 2 + 1);
    for (uint16_t &value : values) {
      seed = seed * 1664525u + 1013904223u;
      // bf16 of either sign, from 2^-8 to 2^8
      value = static_cast<uint16_t>((seed >> 16 & 0x8000) | (119 + (seed >> 8) % 16) << 7 |
                                    (seed >> 24 & 0x7f));
    }
    device.upload(memory, values.data(), bytes);
  }
  ~Buffer() { device.free(memory); }
  Buffer(const Buffer &) = delete;

  std::vector<std::byte> content() const {
    std::vector<std::byte> copy(bytes);
    device.synchronize();
    device.download(copy.data(), memory, bytes);
    return copy;
  }

  const Device &device;
  size_t bytes;
  void *memory;
};

/// All tensors of any op here, each row of a matrix `pad` elements longer than it must be.
struct Tensors {
  Tensors(const Device &device, int64_t pad)
      : pitch(hidden + pad), scalePitch(groups + pad), x(device, 2 * rows * pitch, 1),
        residual(device, 2 * rows * pitch, 2), weight(device, 2 * hidden, 3),
        y(device, rows * pitch, 4), scale(device, 4 * rows * scalePitch, 5) {}

  bool operator==(const Tensors &other) const {
    return residual.content() == other.residual.content() && y.content() == other.y.content() &&
           scale.content() == other.scale.content();
  }

  int64_t pitch, scalePitch;
  Buffer x, residual, weight, y, scale;
};

struct Op {
  const char *name;
  std::function<int(Tensors &)> launch;
  const char *(*errorString)(int);
  const char *how = "";
};

const Op ops[] = {
    {"quantize",
     [](Tensors &t) {
       return quantize_launch(nullptr, t.x.memory, t.pitch, t.y.memory, t.pitch,
                              static_cast<float *>(t.scale.memory), t.scalePitch, rows, nullptr);
     },
     quantize_error_string},
    {"quantize",
     [](Tensors &t) {
       return quantize_for_sm_75_launch(nullptr, t.x.memory, t.pitch, t.y.memory, t.pitch,
                                        static_cast<float *>(t.scale.memory), t.scalePitch, rows,
                                        nullptr);
     },
     quantize_for_sm_75_error_string, " from PTX"},
    {"rms_norm_quant",
     [](Tensors &t) {
       return rms_norm_quant_launch(nullptr, t.x.memory, t.pitch, t.weight.memory, t.y.memory,
                                    t.pitch, static_cast<float *>(t.scale.memory), t.scalePitch,
                                    RMS_NORM_QUANT_EPS_DEFAULT, rows, nullptr);
     },
     rms_norm_quant_error_string},
    {"add_rms_norm_quant",
     [](Tensors &t) {
       return add_rms_norm_quant_launch(nullptr, t.x.memory, t.pitch, t.residual.memory, t.pitch,
                                        t.weight.memory, t.y.memory, t.pitch,
                                        static_cast<float *>(t.scale.memory), t.scalePitch,
                                        ADD_RMS_NORM_QUANT_EPS_DEFAULT, rows, nullptr);
     },
     add_rms_norm_quant_error_string},
};

void launchByJit(const Device &device, const std::string &op, Tensors &t) {
  const Kernel kernel = jit(libraryOp(op, {.block = "1x128"}), device, {{"hidden", hidden}});
  std::vector<NamedTensor> tensors;
  for (const std::string &name : kernel.tensorNames()) {
    if (name == "weight")
      tensors.push_back({name, t.weight.memory});
    else if (name == "y_scale")
      tensors.push_back({name, t.scale.memory, {t.scalePitch, 1}});
    else
      tensors.push_back({name,
                         (name == "x"   ? t.x
                          : name == "y" ? t.y
                                        : t.residual)
                             .memory,
                         {t.pitch, 1}});
  }
  kernel.launch({}, tensors, {{"tokens", rows}});
}

bool report(const std::string &name, bool ok, const std::string &why = "") {
  std::printf("%s %s%s%s\n", ok ? "ok" : "not ok", name.c_str(), why.empty() ? "" : ": ",
              why.c_str());
  return ok;
}

bool sameBits(const Device &device, const Op &op, int64_t pad) {
  const std::string name = std::string(op.name) + op.how + (pad ? " strided" : " contiguous");
  Tensors expected(device, pad), found(device, pad), untouched(device, pad);
  launchByJit(device, op.name, expected);
  if (const int status = op.launch(found); status != 0)
    return report(name, false, op.errorString(status));
  if (found == untouched)
    return report(name, false, "nothing was written");
  return report(name, found == expected, found == expected ? "" : "the bits differ");
}

/// The driver takes our container and finds the entry of its own GPU in it.
bool fatBinaryLoads() {
  std::vector<TargetImage> images;
  for (const char *target : {"sm_80", "sm_90", "sm_90a", "sm_100", "sm_120"}) {
    const Program program = libraryOp("quantize", {.block = "1x128"});
    CompileOptions options;
    options.target = target;
    options.dims = {{"hidden", hidden}};
    images.push_back(
        {compile(program, options), assemble(emit(program, options, Stage::Cuda), target).image});
  }
  const std::vector<std::byte> file = fatBinary(images);
  cuda::Library library = nullptr;
  cuda::LibraryKernel kernel = nullptr;
  cuda::Function function = nullptr;
  const cuda::DriverApi &driver = cuda::driver();
  int status = driver.libraryLoad(&library, file.data(), nullptr, nullptr, 0, nullptr, nullptr, 0);
  if (status == 0)
    status = driver.libraryKernel(&kernel, library, "quantize_strided");
  if (status == 0)
    status = driver.kernelFunction(&function, kernel);
  return report("fat binary", status == 0, status ? "CUresult " + std::to_string(status) : "");
}

int run() {
  if (const std::string why = Device::whyNoGpu(); !why.empty()) {
    std::printf("skipped: %s\n", why.c_str());
    return 77;
  }
  const Device device = Device::open("cuda");
  if (gpu_open() != 0)
    return !report("a current context", false);
  bool ok = true;
  for (const Op &op : ops)
    for (int64_t pad : {0, 3})
      ok &= sameBits(device, op, pad);
  ok &= fatBinaryLoads();
  return !ok;
}

} // namespace

int main() {
  try {
    return run();
  } catch (const Error &error) {
    std::printf("not ok: %s\n", error.what());
    return 1;
  }
}
