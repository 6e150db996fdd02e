//===- examples/demo/main.cpp - `make demo` -------------------------------===//
//
// Part of Eider, under the Apache License v2.0.
//
// Quantises a real transformer's weights and normalises their rows, by kernels that did not exist a
// second before; on the first GPU, else on `host`.
//
//===----------------------------------------------------------------------===//
#include "examples/demo/Experiment.h"
#include "examples/demo/OpSources.h"
#include "examples/demo/Signal.h"
#include "examples/demo/Timing.h"
#include "tools/eider/Text.h"
#include "tools/safetensors/Safetensors.h"
#include "tools/safetensors/WholeFile.h"

#include <cstdarg>
#include <cstdio>
#include <filesystem>
#include <sstream>

using namespace eider;

namespace demo {
namespace {

/// Prints, at once: a reader watches the demo come.
[[gnu::format(printf, 1, 2)]] void say(const char *format, ...) {
  std::va_list arguments;
  va_start(arguments, format);
  std::vprintf(format, arguments);
  va_end(arguments);
  std::fflush(stdout);
}

/// Where the demo runs, and what its outcome is.
struct Demo {
  Device device;
  std::filesystem::path texts; ///< Directory of the CUDA texts.
  Dims dims;
  HostTensor words, positions, norm;
  bool passed = true;
};

Device openDevice() {
  DeviceOptions options;
  options.cache.enabled = false; // The demo shows what a compilation takes.
  const bool gpu = Device::enumerate().size() > 1;
  Device device = Device::open(gpu ? "cuda:0" : "host", options);
  say("  device    %s (%s), compiled for %s\n", device.info().id.c_str(),
      device.info().name.c_str(), device.target().c_str());
  if (!gpu)
    say("            no GPU: %s\n            `host` simulates one: the same CUDA text, as C++\n",
        Device::whyNoGpu().c_str());
  return device;
}

HostTensor readTensor(const safetensors::File &file, const std::string &name,
                      const std::string &as) {
  const safetensors::Entry *entry = file.find(name);
  if (!entry)
    throw Error(ErrorKind::Request, "no tensor '" + name + "'", file.path());
  return {as, entry->dtype, entry->shape, file.read(*entry)};
}

void showIndented(const std::string &text) {
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);)
    say("%s%s\n", line.empty() ? "" : "    ", line.c_str());
}

void showSource(const std::string &op) {
  say("\n  The op, as compiler/ops/%s.cpp describes it:\n\n", op.c_str());
  showIndented(sourceOfOp(op));
}

void showText(const Demo &demo, const Outcome &outcome) {
  say("\n  The CUDA that it became for %s:\n\n", demo.device.target().c_str());
  showIndented(outcome.text);
}

void showCompilation(Demo &demo, const Outcome &outcome, const std::string &name) {
  const std::filesystem::path path = demo.texts / (name + ".cu");
  const std::span<const std::byte> part = std::as_bytes(std::span(outcome.text));
  writeWholeFile(path, {&part, 1});
  say("    CUDA text  %s\n", path.c_str());
  say("    compiled   %.1f ms: IR %.1f, ",
      outcome.irMilliseconds + outcome.compilerMilliseconds + outcome.loadMilliseconds,
      outcome.irMilliseconds);
  if (demo.device.isHost()) // compiling and loading are one step there
    say("C++ compiler and load %.1f\n", outcome.compilerMilliseconds);
  else
    say("NVRTC %.1f, load %.1f\n", outcome.compilerMilliseconds, outcome.loadMilliseconds);
}

void showCheck(Demo &demo, const Outcome &outcome) {
  for (const Comparison &c : outcome.comparisons) {
    say("    check      %s %lld elements: ", cli::padded(c.name, 8).c_str(),
        static_cast<long long>(c.elements));
    if (c.wrong != 0) {
      demo.passed = false;
      say("%lld WRONG, first %s\n", static_cast<long long>(c.wrong), c.firstWrong.c_str());
    } else if (c.different == 0) {
      say("every bit as the reference\n");
    } else {
      say("all within their bound, largest error %.2g\n", c.largestError);
    }
  }
}

/// On a GPU: the kernel on the same rows, many times over, beside a memcpy of as many bytes.
void showSpeed(Demo &demo, const Outcome &outcome, const Program &program,
               const std::vector<HostTensor> &inputs) {
  if (demo.device.isHost())
    return;
  constexpr int64_t kRepeats = 256; // far beyond the L2
  Dims dims = demo.dims;
  dims["tokens"] *= kRepeats;
  std::vector<TimedTensor> tensors;
  for (const std::string &name : outcome.kernel.tensorNames()) {
    TimedTensor timed{{}, 1, false, false};
    for (const Signature::Tensor &tensor : program.signature().tensors)
      if (tensor.name == name) {
        timed.isRead = tensor.role != Signature::Role::Output;
        timed.isWritten = tensor.role != Signature::Role::Input;
        timed.bytes = sizeOf(tensor.dtype);
      }
    if (timed.isRead)
      timed.data = find(inputs, name).data;
    for (int64_t extent : outcome.kernel.shapeOf(name, dims))
      timed.bytes *= static_cast<size_t>(extent);
    tensors.push_back(std::move(timed));
  }
  const Speed speed = timeLaunches(demo.device, outcome.kernel, dims, tensors);
  say("    speed      %lld × %lld in %.1f µs; a memcpy of the same %.0f MB takes %.1f µs: %.2f of "
      "its speed\n",
      static_cast<long long>(dims["tokens"]), static_cast<long long>(dims["hidden"]),
      speed.microseconds, static_cast<double>(speed.bytes) / 1e6, speed.memcpyMicroseconds,
      speed.memcpyMicroseconds / speed.microseconds);
}

void quantizeWords(Demo &demo, const std::string &format) {
  OpParameters parameters;
  parameters.dtype = "f32";
  parameters.format = format;
  parameters.block = "128x128";
  const Program program = libraryOp("quantize", parameters);
  const Outcome outcome = runExperiment(program, demo.device, demo.dims, {demo.words});
  say("\n  f32 -> %s\n", format.c_str());
  showCompilation(demo, outcome, "quantize_" + format);
  showCheck(demo, outcome);

  HostTensor codes = find(outcome.outputs, "y"), scales = find(outcome.outputs, "y_scale");
  codes.name = "x";
  scales.name = "x_scale";
  const Outcome restored =
      runExperiment(libraryOp("dequantize", parameters), demo.device, demo.dims, {codes, scales});
  say("    signal     %.1f dB above the noise that the quantisation adds (by `dequantize`)\n",
      signalToNoise(demo.words, find(restored.outputs, "y")));
  showSpeed(demo, outcome, program, {demo.words});
}

void normalizeRows(Demo &demo) {
  OpParameters parameters;
  parameters.dtype = "f32";
  parameters.format = "e4m3";
  parameters.block = "1x128";
  const Program program = libraryOp("add_rms_norm_quant", parameters);
  const std::vector<HostTensor> inputs{demo.words, demo.positions, demo.norm};
  const Outcome outcome = runExperiment(program, demo.device, demo.dims, inputs);
  showText(demo, outcome);
  say("\n  f32 -> e4m3\n");
  showCompilation(demo, outcome, "add_rms_norm_quant");
  showCheck(demo, outcome);
  showSpeed(demo, outcome, program, inputs);
}

int run(const std::string &weights, const std::filesystem::path &texts) {
  say("Eider: kernels that did not exist a second ago\n\n");
  const safetensors::File file(weights);
  Demo demo{openDevice(),
            texts,
            {},
            readTensor(file, "words", "x"),
            readTensor(file, "positions", "residual"),
            readTensor(file, "norm", "weight")};
  demo.dims = {{"tokens", demo.words.shape[0]}, {"hidden", demo.words.shape[1]}};
  std::filesystem::create_directories(texts);
  say("  input     %s: the embeddings of %lld words in all-MiniLM-L6-v2, %lld wide, f32\n",
      weights.c_str(), static_cast<long long>(demo.dims["tokens"]),
      static_cast<long long>(demo.dims["hidden"]));

  say("\n1. Quantise the matrix, one scale a block of 128x128\n");
  showSource("quantize");
  quantizeWords(demo, "e4m3");
  quantizeWords(demo, "e5m2");

  say("\n2. Add the positions' embeddings, normalise each row, quantise with a scale per 128\n");
  showSource("add_rms_norm");
  normalizeRows(demo);

  say("\n%s\n", demo.passed ? "All of it agrees with the reference."
                            : "Something does not agree with the reference.");
  return demo.passed ? 0 : 1;
}

} // namespace
} // namespace demo

int main(int argc, char **argv) {
  if (argc != 3) {
    std::fprintf(stderr, "usage: eider-demo WEIGHTS.safetensors DIRECTORY-FOR-TEXTS\n");
    return 2;
  }
  try {
    return demo::run(argv[1], argv[2]);
  } catch (const Error &error) {
    std::fprintf(stderr, "eider-demo: %s\n", error.what());
    return error.kind() == ErrorKind::Request ? 2 : 3;
  }
}
