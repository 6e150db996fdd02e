//===- tests/fuzz/Replay.cpp - Inputs that once were a defect -------------===//
//
// Part of Eider, under the Apache License v2.0.
//
//   fuzz-replay TARGET DIRECTORY
//
// Gives a target every file of a directory, and some bytes that are no file of it.
//
//===----------------------------------------------------------------------===//
#include "tests/fuzz/Targets.h"

#include <cstdio>
#include <filesystem>
#include <fstream>
#include <map>
#include <sstream>
#include <string>

int main(int argc, char **argv) {
  const std::map<std::string, void (*)(std::string_view)> targets = {
      {"safetensors", eider::fuzz::safetensors},
      {"contract", eider::fuzz::contract},
      {"meta", eider::fuzz::meta},
      {"archive", eider::fuzz::archive}};
  const auto target = argc == 3 ? targets.find(argv[1]) : targets.end();
  if (target == targets.end())
    return std::fprintf(stderr, "usage: fuzz-replay TARGET DIRECTORY\n"), 2;
  int count = 0;
  for (const auto &file : std::filesystem::directory_iterator(argv[2])) {
    std::ifstream stream(file.path(), std::ios::binary);
    std::ostringstream bytes;
    bytes << stream.rdbuf();
    std::printf("%s\n", file.path().filename().c_str());
    target->second(bytes.str());
    ++count;
  }
  return count == 0; // a corpus that is lost is no success
}
