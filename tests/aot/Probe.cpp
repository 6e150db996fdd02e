//===- tests/aot/Probe.cpp - A generated C source, compiled and opened ----===//
//
// Part of Eider, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//
#include "tests/aot/Probe.h"

#include "eider/aot.h"
#include "runtime/cuda/SharedLibrary.h"

#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>

namespace eider {

using namespace contract;

namespace {

Predicate onTensor(Predicate::Kind kind, unsigned tensor, int64_t bytes = 0) {
  Predicate predicate;
  predicate.kind = kind;
  predicate.tensor = tensor;
  predicate.bytes = bytes;
  return predicate;
}

Predicate onTokens(Predicate::Kind kind, int64_t min, int64_t max, int64_t of) {
  Predicate predicate;
  predicate.kind = kind;
  predicate.dim = "tokens";
  predicate.min = min;
  predicate.max = max;
  predicate.of = of;
  return predicate;
}

Launch launchOf(const std::string &entry, const std::string &grid) {
  using Of = Parameter::Kind;
  Launch launch;
  launch.entry = entry;
  launch.block = 32;
  launch.grid = grid;
  launch.parameters = {{Of::Tensor, 0, 0, "", ""},       {Of::Tensor, 1, 0, "", ""},
                       {Of::Tensor, 2, 0, "", ""},       {Of::Stride, 0, 0, "", ""},
                       {Of::Stride, 2, 0, "", ""},       {Of::Dim, 0, 0, "", "hidden"},
                       {Of::Workspace, 0, 0, "256", ""}, {Of::Scalar, 0, 0, "", ""}};
  return launch;
}

/// Kernels that do nothing: the fake driver runs none.
std::string textOf(const std::vector<std::string> &entries) {
  std::string text;
  for (const std::string &entry : entries)
    text +=
        "extern \"C\" __global__ void " + entry +
        "(const float *, float *, float *, long long, long long, long long, void *, float) {}\n";
  return text;
}

std::vector<std::byte> imageNamed(const std::string &name) {
  std::vector<std::byte> code(16);
  std::memcpy(code.data(), name.data(), name.size());
  return code;
}

} // namespace

Contract probeContract(const std::string &target) {
  using Kind = Predicate::Kind;
  Contract contract;
  contract.name = "probe";
  contract.target = target;
  contract.dims = {{"tokens", std::nullopt}, {"hidden", std::nullopt}};
  contract.tensors = {{"x", Role::Input, DType::f32, {"tokens", "hidden"}},
                      {"y", Role::Output, DType::f32, {"tokens", "hidden"}},
                      {"which", Role::InOut, DType::f32, {"ceildiv(tokens, 2)"}}};
  contract.scalars = {{"factor", DType::f32, 2.0}};
  contract.mayAlias = {{0, 1}};
  contract.workspace = "512 + ceildiv(tokens * 4, 256) * 256";
  Launch vector = launchOf("probe_vector", "min(ceildiv(tokens, 4), 7)");
  vector.cluster = 4;
  Launch middle = launchOf("probe_middle", "max(tokens - 3, 0)");
  middle.shared = "hidden * 4";
  middle.stays = 3;
  Launch small = launchOf("probe_small", "ceildiv(tokens, 2)");
  small.cooperative = 8;
  Launch second = launchOf("probe_second", "tokens / 3 * 2");
  second.cluster = 2;
  second.overlaps = true;
  contract.variants = {
      {"small",
       {onTensor(Kind::Aligned, 0, 4), onTensor(Kind::Contiguous, 0), onTensor(Kind::Contiguous, 1),
        onTensor(Kind::UnitStride, 2), onTokens(Kind::Multiple, 0, INT64_MAX, 8)},
       textOf({"probe_small"}),
       {small}},
      {"vector",
       {onTensor(Kind::Aligned, 0, 16), onTensor(Kind::Contiguous, 0),
        onTensor(Kind::Contiguous, 1), onTensor(Kind::UnitStride, 2),
        onTokens(Kind::Multiple, 0, INT64_MAX, 4)},
       textOf({"probe_vector"}),
       {vector}},
      {"middle",
       {onTensor(Kind::Aligned, 1, 64), onTokens(Kind::Range, 5, 20, 1)},
       textOf({"probe_middle"}),
       {middle}},
      {"general",
       {onTensor(Kind::UnitStride, 0), onTensor(Kind::UnitStride, 1)},
       textOf({"probe_first", "probe_second"}),
       {launchOf("probe_first", "max(tokens - 3, 0)"), second}}};
  return contract;
}

void writeProbe(const Contract &contract, const std::vector<std::string> &targets,
                const std::string &directory) {
  std::vector<TargetImage> images;
  for (const std::string &target : targets) {
    const bool hasPtx = target.starts_with("ptx:");
    contract::Contract own = contract;
    own.target = target.substr(hasPtx ? 4 : 0);
    images.push_back({{own.name, write(own)}, imageNamed(own.target)});
    if (hasPtx)
      images.back().ptx = imageNamed(target);
  }
  const CSources sources = cSources(contract.name, images);
  std::filesystem::remove(directory + "/probe.so");
  std::ofstream(directory + "/probe.h") << sources.header;
  std::ofstream(directory + "/probe.c") << sources.source;
}

Probe::Probe(const std::string &directory) {
  static int number = 0;
  const std::string built = directory + "/probe.so";
  const std::string path = directory + "/probe" + std::to_string(++number) + ".so";
  const std::string command = std::string(EIDER_C_COMPILER) +
                              " -std=c99 -O1 -Wall -Wextra -pedantic -Werror -shared -fPIC -o " +
                              built + " " + directory + "/probe.c -ldl";
  SharedLibrary library;
  if (!std::filesystem::exists(built) && std::system(command.c_str()) != 0)
    throw Error(ErrorKind::Machine, "does not compile", directory + "/probe.c");
  std::filesystem::copy_file(built, path); // another path is another library, with its own state
  if (!library.open(path) || !library.resolve("probe_launch", launch) ||
      !library.resolve("probe_load", load) ||
      !library.resolve("probe_workspace_bytes", workspaceBytes) ||
      !library.resolve("probe_error_string", errorString))
    throw Error(ErrorKind::Machine, "cannot be opened: " + library.why(), path);
}

} // namespace eider
