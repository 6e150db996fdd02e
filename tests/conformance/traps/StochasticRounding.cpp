//===- StochasticRounding.cpp - Is it unbiased, and reproducible? ---------===//
//
// Part of Eider, under the Apache License v2.0.
//
// Every run is compared with the reference bit for bit, too, whose random bits are a function of
// seed, offset and an element's number alone: no schedule can be told from another.
//
//===----------------------------------------------------------------------===//
#include "tests/conformance/traps/Trap.h"

#include <cmath>
#include <numeric>

using namespace eider;
using namespace eider::traps;

namespace {
class StochasticRounding : public Trap {};

/// Tests bound what they average by so many standard deviations: a right codec fails one in two
/// million of them, and the same one each time, for seeds are fixed.
constexpr double deviations = 5;

OpParameters stochastic(const std::string &format) {
  OpParameters given = parameters(format, "*x*");
  given.scaleSource = "static";
  given.numerics = {{"rounding", "stochastic"}};
  return given;
}

/// The codes of a matrix's values, each with its own random bits.
std::vector<uint8_t> rounded(const std::string &format, int64_t columns,
                             const std::vector<float> &values, float seed, float offset,
                             matrix::Layout layout = {}) {
  const auto rows = static_cast<int64_t>(values.size()) / columns;
  return codesOf(run("quantize", stochastic(format),
                     {floats("x", {rows, columns}, values), floats("scale", {1, 1}, {1})}, "auto",
                     layout, {{"seed", seed}, {"offset", offset}}),
                 "y");
}

/// The values of all 256 codes.
std::vector<float> valuesOf(const std::string &format) {
  std::vector<uint8_t> codes(256);
  std::iota(codes.begin(), codes.end(), 0);
  return decoded(format, codes, "software");
}

/// The codes' values next to `x`, which may be one itself.
std::pair<double, double> neighbours(const std::vector<float> &values, double x) {
  std::pair<double, double> found = {-INFINITY, INFINITY};
  for (double value : values) {
    if (value <= x)
      found.first = std::max(found.first, value);
    if (value >= x)
      found.second = std::min(found.second, value);
  }
  return found;
}
} // namespace

/// The mean of what a value is rounded to is the value, to 2^-17 of the codes' distance, within the
/// standard deviation of a mean of so many draws.
TEST_F(StochasticRounding, IsUnbiased) {
  constexpr int64_t columns = 4096, repeats = 8;
  for (const char *format : {"e4m3", "e5m2"}) {
    const std::vector<float> values = valuesOf(format),
                             wanted = {0x1p-20f, 0x1.8p-11f, 0x1.3p-8f, 0.013f, -0.7f,
                                       1.01f,    -3.3f,      17.9f,     100.f,  447.9f};
    std::vector<float> x;
    for (float value : wanted)
      x.insert(x.end(), columns * repeats, value);
    const std::vector<uint8_t> codes = rounded(format, columns, x, 1234, 5);
    for (size_t w = 0; w < wanted.size(); ++w) {
      const auto [below, above] = neighbours(values, wanted[w]);
      double sum = 0;
      for (int64_t i = 0; i < columns * repeats; ++i) {
        const double value = values[codes[w * columns * repeats + i]];
        ASSERT_TRUE(value == below || value == above) << format << " " << wanted[w] << " " << value;
        sum += value;
      }
      const double step = above - below, place = step > 0 ? (wanted[w] - below) / step : 0;
      const double deviation = step * std::sqrt(place * (1 - place) / (columns * repeats));
      EXPECT_NEAR(sum / (columns * repeats), wanted[w], deviations * deviation + step * 0x1p-17)
          << format;
    }
  }
}

/// Half way between two codes each of the places of eight neighbours goes up as often as down, and
/// as often with its neighbour as without.
TEST_F(StochasticRounding, NeighboursAreIndependent) {
  constexpr int64_t columns = 8192, rows = 8, count = columns * rows;
  const std::vector<uint8_t> codes =
      rounded("e4m3", columns, std::vector<float>(count, 1.0625f), 99, 0);
  int64_t up[8] = {}, same[8] = {};
  for (int64_t i = 0; i + 1 < count; ++i) {
    up[i % 8] += codes[i] == 0x39;
    same[i % 8] += codes[i] == codes[i + 1];
  }
  const double each = count / 8.0, bound = deviations * std::sqrt(each) / 2;
  for (int place = 0; place < 8; ++place) {
    EXPECT_NEAR(static_cast<double>(up[place]), each / 2, bound + 1) << place;
    EXPECT_NEAR(static_cast<double>(same[place]), each / 2, bound + 1) << place;
  }
}

/// Seeds and offsets give other bits; the same give the same, whatever rows follow, and wherever in
/// memory the rows lie.
TEST_F(StochasticRounding, IsAFunctionOfSeedOffsetAndNumber) {
  constexpr int64_t columns = 1001, rows = 300; // a schedule of its own, and one for few rows
  const std::vector<float> x(columns * rows, 1.0625f);
  const std::vector<uint8_t> codes = rounded("e4m3", columns, x, 1, 2);
  const std::vector<float> few(x.begin(), x.begin() + columns * 3);
  const std::vector<uint8_t> head(codes.begin(), codes.begin() + columns * 3);
  EXPECT_EQ(rounded("e4m3", columns, few, 1, 2), head);
  EXPECT_EQ(rounded("e4m3", columns, few, 1, 2, {.padding = 3, .shift = 1}), head);
  EXPECT_EQ(rounded("e4m3", 77, {x.begin(), x.begin() + 77 * 39}, 1, 2),
            (std::vector<uint8_t>(codes.begin(), codes.begin() + 77 * 39)))
      << "an element's number counts, not its row";
  for (auto [seed, offset] : {std::pair(3, 2), {1, 3}}) {
    const std::vector<uint8_t> other = rounded("e4m3", columns, x, seed, offset);
    int64_t same = 0;
    for (size_t i = 0; i < codes.size(); ++i)
      same += codes[i] == other[i];
    EXPECT_NEAR(static_cast<double>(same), codes.size() / 2.0,
                deviations * std::sqrt(static_cast<double>(codes.size())) / 2);
  }
}
