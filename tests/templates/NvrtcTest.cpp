//===- NvrtcTest.cpp - Sample texts for every target ----------------------===//
//
// Part of Eider, under the Apache License v2.0.
//
// Every template instantiation that the samples reach is compiled for each target that NVRTC knows
// from sm_75 on; in a quick run for some, so that every target meets some samples. Samples name the
// software codec; from sm_89 on they are compiled with the hardware codec too.
//
//===----------------------------------------------------------------------===//
#include "NvrtcCompiler.h"
#include "tests/Share.h"

#include <algorithm>
#include <atomic>
#include <cstdio>
#include <mutex>
#include <thread>

namespace eider {
std::span<const EmbeddedTemplate> sampleTexts();
}

namespace {

using eider::testing::NvrtcCompiler;

struct Job {
  std::string name, source, target;
};

/// `text` with the hardware codec; empty if it names no codec, or rounds as software alone does.
std::string withHardwareCodec(std::string text) {
  if (text.find("_stochastic(") != text.npos)
    return {};
  const std::string software = ", software>";
  bool found = false;
  for (size_t at; (at = text.find(software)) != text.npos; found = true)
    text.replace(at, software.size(), ", hardware>");
  return found ? text : std::string();
}

bool hasClusters(const std::string &target) { return std::stoi(target.substr(3)) >= 90; }

bool hasConversions(const std::string &target) { return std::stoi(target.substr(3)) >= 89; }

std::vector<Job> jobs(const NvrtcCompiler &nvrtc) {
  std::vector<Job> all;
  size_t number = 0;
  for (const std::string &target : nvrtc.targets())
    for (const auto &sample : eider::sampleTexts()) {
      if (!eider::isInShare(number++))
        continue;
      const bool needsClusters =
          std::string(sample.text).find("__cluster_dims__") != std::string::npos;
      if (needsClusters && !hasClusters(target))
        continue;
      all.push_back({sample.name, sample.text, target});
      const std::string hardware = withHardwareCodec(sample.text);
      if (!hardware.empty() && hasConversions(target))
        all.push_back({std::string(sample.name) + " (hardware)", hardware, target});
    }
  return all;
}

/// What is wrong with the result: errors, or registers kept in local memory. Empty if nothing is.
std::string complaint(const NvrtcCompiler::Result &result) {
  if (result.cubin.empty())
    return result.log;
  for (size_t at = 0; (at = result.log.find("bytes stack frame", at)) != result.log.npos; ++at) {
    const size_t line = result.log.rfind('\n', at) + 1;
    const std::string text = result.log.substr(line, result.log.find('\n', at) - line);
    if (text.find(" 0 bytes stack frame") == text.npos)
      return "uses local memory: " + text;
  }
  return {};
}

/// A codec that the target lacks must be refused with words that say so.
bool refusesHardwareBefore89(const NvrtcCompiler &nvrtc) {
  const auto result =
      nvrtc.compile("#include \"eider/formats/e4m3.cuh\"\n"
                    "extern \"C\" __global__ void k(eider::e4m3 *y, float x) {\n"
                    "  *y = eider::Codec<eider::e4m3, eider::hardware>::encode(x);\n"
                    "}\n",
                    "sm_80");
  return result.cubin.empty() && result.log.find("use the software codec") != result.log.npos;
}

} // namespace

int main() {
  std::string error;
  const auto nvrtc = NvrtcCompiler::open(error);
  if (!nvrtc) {
    std::fprintf(stderr, "templates.nvrtc: skipped: %s\n", error.c_str());
    return 77;
  }
  const std::vector<Job> all = jobs(*nvrtc);
  std::atomic<size_t> next = 0, failed = 0;
  std::mutex output;
  const auto work = [&] {
    for (size_t i; (i = next++) < all.size();) {
      const auto result = nvrtc->compile(all[i].source, all[i].target);
      const std::string wrong = complaint(result);
      const std::lock_guard lock(output);
      if (!wrong.empty())
        std::printf("%s, %s: %s\n", all[i].name.c_str(), all[i].target.c_str(), wrong.c_str());
      failed += !wrong.empty();
    }
  };
  std::vector<std::thread> threads;
  for (unsigned t = 0; t < std::max(1u, std::thread::hardware_concurrency()); ++t)
    threads.emplace_back(work);
  for (std::thread &thread : threads)
    thread.join();
  if (!refusesHardwareBefore89(*nvrtc)) {
    std::printf("the hardware codec is not refused on sm_80\n");
    ++failed;
  }
  std::printf("%zu compilations, %zu failed\n", all.size(), failed.load());
  return all.empty() || failed > 0;
}
