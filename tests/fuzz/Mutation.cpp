//===- tests/fuzz/Mutation.cpp - Programs that are nearly valid -----------===//
//
// Part of Eider, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//
#include "tests/fuzz/Mutation.h"

#include <algorithm>
#include <cctype>
#include <set>

namespace eider::fuzz {
namespace {

bool isWordCharacter(char c) { return std::isalnum(static_cast<unsigned char>(c)) || c == '_'; }

/// Words, numbers and single other characters.
std::vector<std::string> split(const std::string &text) {
  std::vector<std::string> words;
  for (size_t begin = 0; begin < text.size();) {
    size_t end = begin + 1;
    while (isWordCharacter(text[begin]) && end < text.size() && isWordCharacter(text[end]))
      ++end;
    words.push_back(text.substr(begin, end - begin));
    begin = end;
  }
  return words;
}

/// Where the line that holds `at` begins, and where the next one does.
std::pair<size_t, size_t> lineAround(const std::vector<std::string> &words, size_t at) {
  size_t begin = at, end = at;
  while (begin > 0 && words[begin - 1] != "\n")
    --begin;
  while (end < words.size() && words[end] != "\n")
    ++end;
  return {begin, std::min(end + 1, words.size())};
}

} // namespace

Mutator::Mutator(std::vector<std::string> texts, uint64_t seed)
    : seeds(std::move(texts)), random(seed) {
  std::set<std::string> words;
  for (const std::string &text : seeds)
    for (std::string &word : split(text))
      words.insert(std::move(word));
  vocabulary.assign(words.begin(), words.end());
}

std::string Mutator::number() {
  constexpr const char *numbers[] = {"0",
                                     "1",
                                     "2",
                                     "3",
                                     "7",
                                     "16",
                                     "127",
                                     "128",
                                     "4097",
                                     "65536",
                                     "65537",
                                     "2147483647",
                                     "2147483648",
                                     "4294967296",
                                     "9223372036854775807",
                                     "9223372036854775808",
                                     "18446744073709551616",
                                     "-1",
                                     "-9223372036854775808",
                                     "1e309",
                                     "0x7FC00000",
                                     "?"};
  return numbers[below(std::size(numbers))];
}

void Mutator::change(std::vector<std::string> &words) {
  const size_t at = below(words.size());
  const auto [begin, end] = lineAround(words, at);
  const std::vector<std::string> line(words.begin() + begin, words.begin() + end);
  switch (below(8)) {
  case 0: // a line less
    words.erase(words.begin() + begin, words.begin() + end);
    break;
  case 1: // a line elsewhere too
    words.insert(words.begin() + lineAround(words, below(words.size())).first, line.begin(),
                 line.end());
    break;
  case 2: { // a line of another program
    const std::vector<std::string> other = split(seeds[below(seeds.size())]);
    if (other.empty())
      break;
    const auto [from, to] = lineAround(other, below(other.size()));
    words.insert(words.begin() + begin, other.begin() + from, other.begin() + to);
    break;
  }
  case 3: // a word less
    words.erase(words.begin() + at);
    break;
  case 4: // a word of any program
    words[at] = vocabulary[below(vocabulary.size())];
    break;
  case 5: // a word of this program
    words[at] = words[below(words.size())];
    break;
  case 6: // another byte
    words[at][below(words[at].size())] = static_cast<char>(below(256));
    break;
  default: { // another number
    std::vector<size_t> numbers;
    for (size_t i = 0; i < words.size(); ++i)
      if (std::isdigit(static_cast<unsigned char>(words[i][0])))
        numbers.push_back(i);
    if (!numbers.empty())
      words[numbers[below(numbers.size())]] = number();
  }
  }
}

std::string Mutator::next() {
  std::vector<std::string> words = split(seeds[below(seeds.size())]);
  // Mostly one: what stays valid goes further into the compiler.
  for (size_t changes = below(3) == 0 ? 2 + below(3) : 1; changes > 0 && !words.empty(); --changes)
    change(words);
  std::string text;
  for (const std::string &word : words)
    text += word;
  return text;
}

} // namespace eider::fuzz
