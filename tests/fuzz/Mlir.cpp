//===- tests/fuzz/Mlir.cpp - Mutated programs through the compiler --------===//
//
// Part of Eider, under the Apache License v2.0.
//
//   fuzz-mlir [--seconds N] [--seed N] --crashes DIRECTORY CORPUS…
//
// Parses, verifies, compiles and prints programs that are nearly valid: every op of the library and
// every .mlir below CORPUS, changed here and there. A child does the work, so that a crash, a hang
// of ten seconds or a flood of memory ends that child alone; its program is kept. Exit status: 0
// nothing found, 1 something.
//
//===----------------------------------------------------------------------===//
#include "eider/compile.h"
#include "tests/fuzz/Mutation.h"

#include <algorithm>
#include <chrono>
#include <csignal>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

namespace {

using namespace eider;
namespace fs = std::filesystem;

constexpr size_t longest = 1 << 16;     ///< bytes of a program
constexpr rlim_t memory = 4ull << 30;   ///< bytes of a child
constexpr unsigned hangs = 10;          ///< seconds for one program
constexpr int inputsOfAChild = 2000;    ///< then a fresh one
constexpr const char *files = "f.mlir"; ///< the name in errors

/// What the child is at, for its parent to see.
struct Shared {
  size_t size;
  uint64_t inputs, accepted;
  char text[longest];
};

/// The parts of a file of lit's that are programs.
void addPrograms(const std::string &text, std::vector<std::string> &seeds) {
  constexpr std::string_view separator = "// -----";
  for (size_t begin = 0; begin < text.size();) {
    const size_t end = std::min(text.find(separator, begin), text.size());
    const std::string part = text.substr(begin, end - begin);
    if (part.find("eider.program") != std::string::npos && part.size() <= longest)
      seeds.push_back(part);
    begin = end + separator.size();
  }
}

std::vector<std::string> seedsFrom(const std::vector<std::string> &corpora) {
  std::vector<std::string> seeds;
  for (const OpInfo &op : libraryOps())
    for (const char *block : {"1x128", "128x128", "1x*", "*x*"}) {
      OpParameters parameters;
      parameters.block = block;
      try {
        seeds.push_back(libraryOp(op.name, parameters).text());
      } catch (const Error &) { // not every op has blocks
      }
    }
  for (const std::string &corpus : corpora)
    for (const auto &file : fs::recursive_directory_iterator(corpus))
      if (file.path().extension() == ".mlir") {
        std::ifstream stream(file.path(), std::ios::binary);
        std::ostringstream text;
        text << stream.rdbuf();
        addPrograms(text.str(), seeds);
      }
  std::ranges::sort(seeds); // the order of a directory is not reproducible
  return seeds;
}

/// All stages; true if the program is accepted.
bool compileText(const std::string &text, uint64_t choice) {
  constexpr const char *targets[] = {"sm_75", "sm_90", "sm_100", "host"};
  try {
    const Program program = parseProgram(text, files);
    CompileOptions options;
    options.target = targets[choice % std::size(targets)];
    for (const auto &dim : program.signature().dims)
      if (dim.name != "tokens")
        options.dims[dim.name] = dim.value ? *dim.value : 256;
    compile(program, options);
    emit(program, options, Stage::Cuda);
    explain(program, options);
    return true;
  } catch (const Error &) {
    return false;
  }
}

[[noreturn]] void work(Shared &shared, std::vector<std::string> seeds, uint64_t seed) {
  const rlimit limit = {memory, memory};
  ::setrlimit(RLIMIT_AS, &limit);
  const rlimit none = {0, 0};
  ::setrlimit(RLIMIT_CORE, &none);
  fuzz::Mutator mutator(std::move(seeds), seed);
  for (int i = 0; i < inputsOfAChild; ++i) {
    const std::string text = mutator.next();
    shared.size = std::min(text.size(), longest);
    std::memcpy(shared.text, text.data(), shared.size);
    ::alarm(hangs);
    shared.accepted += compileText(text.substr(0, longest), seed + i);
    ++shared.inputs;
  }
  std::_Exit(0);
}

struct Arguments {
  int seconds = 60;
  uint64_t seed = 1;
  std::string crashes;
  std::vector<std::string> corpora;
};

Arguments parse(int argc, char **argv) {
  Arguments arguments;
  for (int i = 1; i < argc; ++i) {
    const std::string option = argv[i];
    const bool hasValue = i + 1 < argc;
    if (option == "--seconds" && hasValue)
      arguments.seconds = std::stoi(argv[++i]);
    else if (option == "--seed" && hasValue)
      arguments.seed = std::stoull(argv[++i]);
    else if (option == "--crashes" && hasValue)
      arguments.crashes = argv[++i];
    else
      arguments.corpora.push_back(option);
  }
  return arguments;
}

} // namespace

int main(int argc, char **argv) {
  const Arguments arguments = parse(argc, argv);
  void *pages =
      ::mmap(nullptr, sizeof(Shared), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  if (pages == MAP_FAILED || arguments.crashes.empty())
    return std::fprintf(stderr, "fuzz-mlir: no memory, or no --crashes DIRECTORY\n"), 2;
  auto &shared = *new (pages) Shared{};
  const std::vector<std::string> seeds = seedsFrom(arguments.corpora);
  const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(arguments.seconds);
  int found = 0;
  for (uint64_t seed = arguments.seed; std::chrono::steady_clock::now() < end; ++seed) {
    const pid_t child = ::fork();
    if (child == 0)
      work(shared, seeds, seed);
    int status = 0;
    while (::waitpid(child, &status, WNOHANG) == 0) {
      if (std::chrono::steady_clock::now() >= end)
        ::kill(child, SIGKILL);
      ::usleep(10000);
    }
    const bool isStopped = WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL;
    if (isStopped || (WIFEXITED(status) && WEXITSTATUS(status) == 0))
      continue;
    const int reason = WIFSIGNALED(status) ? WTERMSIG(status) : WEXITSTATUS(status);
    const std::string path = arguments.crashes + "/mlir-" + std::to_string(seed) + "-" +
                             std::to_string(reason) + ".mlir";
    std::ofstream(path, std::ios::binary).write(shared.text, shared.size);
    std::printf("mlir: %s, kept in %s\n",
                reason == SIGALRM ? "a program hangs" : "a program ends the compiler",
                path.c_str());
    ++found;
  }
  std::printf("mlir: %llu inputs, %llu of them accepted, %d found\n",
              static_cast<unsigned long long>(shared.inputs),
              static_cast<unsigned long long>(shared.accepted), found);
  return found != 0;
}
