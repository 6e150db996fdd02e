//===- tests/fuzz/Meta.cpp ------------------------------------------------===//
//
// Part of Eider, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//
#include "runtime/cache/Entry.h"
#include "runtime/cache/Sha256.h"
#include "tests/fuzz/Targets.h"

namespace eider::fuzz {
namespace {

void parse(std::string_view text) {
  std::string problem;
  const std::optional<Meta> meta = parseMeta(text, problem);
  if (meta.has_value() != problem.empty())
    defect("a bad meta.json without a reason, or a good one with one");
  if (!meta)
    return;
  if (!isKey(meta->key))
    defect("a key that is none");
  for (const auto &file : meta->files)
    if (file.first.find('/') != std::string::npos || file.first == "..")
      defect("a path is accepted as the name of a file");
}

} // namespace

void meta(std::string_view bytes) {
  parse(bytes);
  parse("{\"sha256\": \"" + sha256(bytes) + "\",\n" + std::string(bytes));
}

} // namespace eider::fuzz
