//===- Cases.h - Caches and sequences of every kind -------------*- C++ -*-===//
//
// Part of Eider, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//
#ifndef EIDER_TESTS_ATTENTION_CASES_H
#define EIDER_TESTS_ATTENTION_CASES_H

#include "tests/matrix/Harness.h"

#include <cstring>

namespace eider::attention_cases {

/// The inputs of attention_decode over codes.
enum Input { q, kCache, vCache, kScale, vScale, blockTable, lengths };

/// A cache, and who asks it.
struct Cache {
  std::vector<int64_t> lengths = {77, 0, 1, 130};
  int64_t heads = 8, kvHeads = 2, d = 64;
  int64_t page = 16; ///< 0: no table, and as many tokens as the longest has, and 3 more.
  int64_t scales = 1;
  int64_t scaleAxes = 0;    ///< Of all pages, of each (1), of each token (2), or of its blocks (3):
  int64_t blocks = 1;       ///< so many a row.
  int64_t valueColumns = 0; ///< Of the one cache there is then; 0: values have their own.
  bool quantised = false;   ///< attention_decode_quant, whose cache is of `fromFormat`.
};
/// The inputs over codes of such a cache.
enum LatentInput { qOfLatents, kvCache, kvScale };

/// The input of that name, which is there.
HostTensor &inputNamed(matrix::Case &made, const std::string &name);

/// The text of a case for a target, and why there is none: empty if there is.
std::string textFor(const matrix::Case &made, const std::string &target);
std::string errorOf(const matrix::Case &made, const std::string &target = "sm_90");

/// The text for sm_90 has pure words in lines that are not too wide.
void expectPure(const matrix::Case &made);

/// Parameters of a sequence over itself, causal ("1") or not.
OpParameters causally(const char *causal, OpParameters parameters = {});

/// Overwrites a tensor's first elements.
template <class T> void write(HostTensor &tensor, const std::vector<T> &values) {
  std::memcpy(tensor.data.data(), values.data(), values.size() * sizeof(T));
}

/// The op on such a cache, whose pages are chosen in an order of no pattern. What no sequence has,
/// or meets, is NaN or (every other token) -Inf, and of the table no page at all.
matrix::Case decode(const Cache &shape, const OpParameters &parameters = {},
                    const std::string &codec = "auto", const std::string &schedule = "",
                    const std::string &values = "normal", uint64_t seed = 1);

/// A sequence over itself, or several, packed: of so many tokens each.
struct Prompt {
  int64_t tokens = 100, heads = 4, kvHeads = 2, d = 64, scales = 1;
  std::vector<int64_t> lengths = {}; ///< Whose sum `tokens` is then, whatever it says.
  bool quantised = false;            ///< attention_prefill_quant.
  int64_t valueColumns = 0;          ///< Of keys that begin with their values; 0: they do not.
  int64_t valueDim = 0;              ///< Of values of their own; 0: as many as of keys.
};
matrix::Case prefill(const Prompt &shape, const OpParameters &parameters = {},
                     const std::string &codec = "auto", const std::string &schedule = "",
                     const std::string &values = "normal", uint64_t seed = 1);

} // namespace eider::attention_cases

#endif // EIDER_TESTS_ATTENTION_CASES_H
