//===- tests/aot/DifferentialTest.cpp - NAME.c does as the runtime does ---===//
//
// Part of Eider, under the Apache License v2.0.
//
// Random launches, sound and unsound, go to the runtime and to the generated C: both must refuse
// the same ones, and ask the driver for the same.
//
//===----------------------------------------------------------------------===//
#include "eider/runtime.h"
#include "runtime/cuda/Nvrtc.h"
#include "tests/aot/Probe.h"
#include "tests/unit/runtime/TemporaryDirectory.h"

#include <gtest/gtest.h>

#include <climits>
#include <cstring>
#include <map>
#include <random>

using namespace eider;

namespace {

struct Arguments {
  uint64_t x, y, which, workspace;
  int64_t xStride, yStride, whichStride, tokens, hidden;
};

/// Small extents and an arena of a few pages, so that everything that can go wrong does.
class Generator {
public:
  Arguments next() {
    Arguments a;
    a.tokens = pick({0, 1, 2, 3, 4, 5, 8, 12, 21, 40});
    a.hidden = pick({0, 1, 3, 4, 16, 64});
    a.xStride = stride(a.hidden), a.yStride = stride(a.hidden);
    a.whichStride = pick({1, 1, 1, 2, 0, -1, 5});
    if (random() % 2 == 0) // sound, so that variants differ by alignment and extents
      return a = {.x = 0x10000 + static_cast<uint64_t>(pick({0, 0, 0, 4})),
                  .y = 0x20000 + static_cast<uint64_t>(pick({0, 0, 16})),
                  .which = 0x30000,
                  .workspace = 0x40000,
                  .xStride = a.hidden,
                  .yStride = a.hidden,
                  .whichStride = 1,
                  .tokens = a.tokens,
                  .hidden = a.hidden};
    a.x = address(0x10000), a.y = pick({0, 1, 2, 3}) == 0 ? a.x : address(0x20000);
    if (pick({0, 1, 2, 3}) == 0)
      a.y = a.x + 4 * static_cast<uint64_t>(a.hidden);
    a.which = address(0x30000);
    if (pick({0, 1, 2, 3, 4, 5}) == 0)
      a.which = a.x + static_cast<uint64_t>(pick({0, 64, 4096}));
    a.workspace = pick({0, 1, 2, 3, 4, 5}) == 0
                      ? a.y & ~255ull
                      : 0x40000 + static_cast<uint64_t>(pick({0, 0, 0, 16}));
    if (pick({0, 1, 2, 3, 4, 5, 6, 7, 8, 9}) == 0)
      enlarge(a);
    return a;
  }

private:
  int64_t pick(std::initializer_list<int64_t> values) {
    return values.begin()[random() % values.size()];
  }
  int64_t stride(int64_t width) {
    const int64_t values[] = {width, width, width, width + 4, 2 * width, width - 1, 0, -width};
    return values[random() % 8];
  }
  uint64_t address(uint64_t base) {
    return random() % 20 == 0 ? 0 : base + static_cast<uint64_t>(pick({0, 0, 0, 64, 16, 4, 2, 1}));
  }
  /// Extents and strides near the end of 64 bits.
  void enlarge(Arguments &a) {
    const int64_t large = pick({INT64_MAX, INT64_MAX / 4, int64_t(1) << 40, -1, INT64_MAX - 2});
    (random() % 3 == 0 ? a.tokens : random() % 2 == 0 ? a.hidden : a.xStride) = large;
  }

  std::mt19937_64 random{7};
};

/// What a launch came to: the driver's last call, or a refusal.
struct Outcome {
  bool refused = false;
  int launches = 0;
  FakeLaunch last;

  std::string text() const {
    if (refused)
      return "refused";
    std::string text = std::to_string(launches) + " launches";
    if (launches == 0)
      return text;
    text += ", " + last.function + " grid " + std::to_string(last.grid) + " block " +
            std::to_string(last.block) + " shared " + std::to_string(last.shared) + " cluster " +
            std::to_string(last.cluster) + (last.cooperative ? " cooperative" : "") +
            (last.overlaps ? " overlaps" : "");
    for (int i = 0; i < 7; ++i)
      text += " " + std::to_string(last.parameters[i]);
    uint32_t factor; // the eighth is a float
    std::memcpy(&factor, &last.parameters[7], sizeof(factor));
    return text + " " + std::to_string(factor);
  }
};

template <typename Action> Outcome outcomeOf(Action action) {
  fakeDriver().launches = 0;
  Outcome outcome;
  outcome.refused = !action();
  outcome.launches = fakeDriver().launches;
  if (outcome.launches)
    outcome.last = fakeDriver().last;
  return outcome;
}

void *at(uint64_t address) { return reinterpret_cast<void *>(address); }

Outcome byRuntime(const Kernel &kernel, const Arguments &a) {
  return outcomeOf([&] {
    try {
      const int64_t x[] = {a.xStride, 1}, y[] = {a.yStride, 1}, which[] = {a.whichStride};
      const std::vector<TensorArg> tensors = {{at(a.x), x}, {at(a.y), y}, {at(a.which), which}};
      const ScalarArg factor[] = {0.5f};
      kernel.prepare({{"tokens", a.tokens}, {"hidden", a.hidden}})
          .launch({}, tensors, factor, at(a.workspace));
      return true;
    } catch (const Error &) {
      return false;
    }
  });
}

Outcome byC(const Probe &probe, const Arguments &a) {
  return outcomeOf([&] {
    return probe.launch(nullptr, static_cast<float *>(at(a.x)), a.xStride,
                        static_cast<float *>(at(a.y)), a.yStride, static_cast<float *>(at(a.which)),
                        a.whichStride, 0.5f, a.tokens, a.hidden, at(a.workspace)) == 0;
  });
}

TEST(Differential, TheCDoesAsTheRuntimeDoes) {
  try {
    cuda::Nvrtc::find(INT_MAX);
  } catch (const Error &error) {
    GTEST_SKIP() << error.what();
  }
  const TemporaryDirectory temporary;
  DeviceOptions options;
  options.cache.directory = (temporary.path / "cache").string();
  const contract::Contract contract = probeContract("sm_90");
  const Kernel kernel = Device::open("cuda", options).load({"probe", contract::write(contract)});
  writeProbe(contract, {"sm_90"}, temporary.path.string());
  const Probe probe(temporary.path.string());
  fakeDriver().readableParameters = 8;

  Generator generator;
  std::map<std::string, int> seen;
  for (int i = 0; i < 50000; ++i) {
    const Arguments a = generator.next();
    const Outcome expected = byRuntime(kernel, a), found = byC(probe, a);
    ASSERT_EQ(found.text(), expected.text())
        << "x " << a.x << " stride " << a.xStride << ", y " << a.y << " stride " << a.yStride
        << ", which " << a.which << " stride " << a.whichStride << ", tokens " << a.tokens
        << ", hidden " << a.hidden << ", workspace " << a.workspace;
    ++seen[expected.refused         ? "refused"
           : expected.launches == 0 ? "nothing"
                                    : expected.last.function + (expected.last.overlaps ? "…" : "")];
  }
  // Else the comparison would say little.
  for (const char *outcome :
       {"refused", "nothing", "probe_small", "probe_vector", "probe_middle", "probe_second",
        "probe_second…"}) // after the first, and where that has no blocks
    EXPECT_GE(seen[outcome], 200) << outcome;
}

} // namespace

int main(int argc, char **argv) {
  testing::InitGoogleTest(&argc, argv);
  ::setenv("EIDER_CUDA_DRIVER", fakeDriverPath().c_str(), 1);
  return RUN_ALL_TESTS();
}
