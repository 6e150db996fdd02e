//===- tests/fuzz/Mutation.h - Programs that are nearly valid ---*- C++ -*-===//
//
// Part of Eider, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//
#ifndef EIDER_TESTS_FUZZ_MUTATION_H
#define EIDER_TESTS_FUZZ_MUTATION_H

#include <random>
#include <string>
#include <vector>

namespace eider::fuzz {

/// Changes texts word by word and line by line, with words of all the texts it knows, so that many
/// of the results still parse.
class Mutator {
public:
  Mutator(std::vector<std::string> seeds, uint64_t seed);

  /// A seed with a few changes.
  std::string next();

private:
  size_t below(size_t limit) { return random() % limit; }
  void change(std::vector<std::string> &words);
  std::string number();

  std::vector<std::string> seeds, vocabulary;
  std::mt19937_64 random;
};

} // namespace eider::fuzz

#endif // EIDER_TESTS_FUZZ_MUTATION_H
