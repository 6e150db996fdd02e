//===- Choices.h - Draws of a generator -------------------------*- C++ -*-===//
//
// Part of Eider, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//
#ifndef EIDER_TESTS_RANDOM_CHOICES_H
#define EIDER_TESTS_RANDOM_CHOICES_H

#include <rapidcheck.h>

#include <vector>

// Within a rc::gen::exec alone.
namespace eider::sketch {

inline size_t below(size_t count) { return *rc::gen::inRange<size_t>(0, count); }

inline bool oneIn(size_t count) { return below(count) == 0; }

template <class T> const T &among(const std::vector<T> &choices) {
  return choices[below(choices.size())];
}

/// Each as often as its weight says.
template <class T> struct Weighted {
  size_t weight;
  T choice;
};

template <class T> const T &among(const std::vector<Weighted<T>> &choices) {
  size_t total = 0;
  for (const Weighted<T> &one : choices)
    total += one.weight;
  size_t drawn = below(total);
  for (const Weighted<T> &one : choices) {
    if (drawn < one.weight)
      return one.choice;
    drawn -= one.weight;
  }
  return choices.back().choice;
}

} // namespace eider::sketch

#endif // EIDER_TESTS_RANDOM_CHOICES_H
