//===- tests/fault/Victim.cpp - One kernel through the cache --------------===//
//
// Part of Eider, under the Apache License v2.0.
//
//   fault-victim [TEXT…]
//
// Assembles each TEXT for sm_90 through the cache with the fake NVRTC. Exit status 1: something
// else came back than NVRTC makes of it. Standard output: `hit` or `made`, a line a text; standard
// error: the warnings.
//
//===----------------------------------------------------------------------===//
#include "eider/runtime.h"

#include <cstdio>
#include <cstring>

int main(int argc, char **argv) {
  eider::setLogHandler([](const std::string &line) { std::fprintf(stderr, "%s\n", line.c_str()); });
  try {
    for (int i = 1; i < argc; ++i) {
      const std::string wanted = std::string("fake sm_90\n") + argv[i];
      const eider::Assembly assembly = eider::assemble(argv[i], "sm_90");
      if (assembly.image.size() != wanted.size() ||
          std::memcmp(assembly.image.data(), wanted.data(), wanted.size()) != 0)
        return 1;
      std::printf("%s\n", assembly.fromCache ? "hit" : "made");
    }
  } catch (const eider::Error &error) {
    std::fprintf(stderr, "error: %s\n", error.what());
    return 2;
  }
  return 0;
}
