//===- tests/fault/FakeNvrtc.cpp - An NVRTC that counts -------------------===//
//
// Part of Eider, under the Apache License v2.0.
//
// In the place of libnvrtc.so.13. What it makes of a text is the text; each compile adds a line to
// the file `EIDER_FAKE_NVRTC_LOG`, and takes `EIDER_FAKE_NVRTC_MILLISECONDS`.
//
//===----------------------------------------------------------------------===//
#include <cstdlib>
#include <cstring>
#include <fcntl.h>
#include <string>
#include <unistd.h>

#define FAKE extern "C" __attribute__((visibility("default")))

namespace {

struct Program {
  std::string source, target;
};

const char *environment(const char *name) { return std::getenv(name); }

/// `fake TARGET` and the text.
std::string imageOf(const Program &program) {
  return "fake " + program.target + "\n" + program.source;
}

} // namespace

FAKE const char *nvrtcGetErrorString(int) { return "fake"; }
FAKE int nvrtcVersion(int *major, int *minor) { return *major = 13, *minor = 0, 0; }
FAKE int nvrtcGetNumSupportedArchs(int *count) { return *count = 1, 0; }
FAKE int nvrtcGetSupportedArchs(int *archs) { return *archs = 90, 0; }
FAKE int nvrtcCreateProgram(Program **program, const char *source, const char *, int,
                            const char *const *, const char *const *) {
  return *program = new Program{source, ""}, 0;
}
FAKE int nvrtcCompileProgram(Program *program, int count, const char *const *options) {
  for (int i = 0; i < count; ++i)
    if (std::strncmp(options[i], "--gpu-architecture=", 19) == 0)
      program->target = options[i] + 19;
  if (const char *milliseconds = environment("EIDER_FAKE_NVRTC_MILLISECONDS"))
    ::usleep(1000 * std::atoi(milliseconds));
  if (const char *path = environment("EIDER_FAKE_NVRTC_LOG")) {
    const int file = ::open(path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0666);
    const std::string line = program->target + "\n";
    if (::write(file, line.data(), line.size()) < 0)
      std::abort();
    ::close(file);
  }
  return 0;
}
FAKE int nvrtcGetProgramLogSize(Program *, size_t *size) { return *size = 5, 0; }
FAKE int nvrtcGetProgramLog(Program *, char *log) { return std::memcpy(log, "fine", 5), 0; }
FAKE int nvrtcGetCUBINSize(Program *program, size_t *size) {
  return *size = imageOf(*program).size(), 0;
}
FAKE int nvrtcGetCUBIN(Program *program, char *image) {
  const std::string bytes = imageOf(*program);
  return std::memcpy(image, bytes.data(), bytes.size()), 0;
}
FAKE int nvrtcGetPTXSize(Program *program, size_t *size) {
  return nvrtcGetCUBINSize(program, size);
}
FAKE int nvrtcGetPTX(Program *program, char *image) { return nvrtcGetCUBIN(program, image); }
FAKE int nvrtcDestroyProgram(Program **program) { return delete *program, 0; }
