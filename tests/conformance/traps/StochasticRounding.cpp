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

/// Tests bound what they average by so many standard deviations: a right codec fails one in two
/// million of them, and the same one each time, for seeds are fixed.
constexpr double deviations = 5;

OpParameters stochastic(const std::string &format) {
  OpParameters given = parameters(format, "*x*");
  given.scaleSource = "static";
  given.numerics = {{"rounding", "stochastic"}};
  return given;
}

/// The codes of a matrix's values, each with its own random bits, a byte each.
std::vector<uint8_t> rounded(const std::string &format, int64_t columns,
                             const std::vector<float> &values, float seed, float offset,
                             matrix::Layout layout = {}) {
  const auto rows = static_cast<int64_t>(values.size()) / columns;
  const std::vector<uint8_t> codes =
      codesOf(run("quantize", stochastic(format),
                  {floats("x", {rows, columns}, values), floats("scale", {1, 1}, {1})}, "auto",
                  layout, {{"seed", seed}, {"offset", offset}}),
              "y");
  if (format != "e2m1")
    return codes;
  std::vector<uint8_t> each;
  for (uint8_t two : codes)
    each.insert(each.end(), {static_cast<uint8_t>(two & 0xf), static_cast<uint8_t>(two >> 4)});
  return each;
}

/// The values of all codes.
std::vector<float> valuesOf(const std::string &format) {
  if (format == "e2m1")
    return {0, .5f, 1, 1.5f, 2, 3, 4, 6, -0.f, -.5f, -1, -1.5f, -2, -3, -4, -6};
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

/// The mean of what a value is rounded to is the value, to 2^-17 of the codes' distance, of codes
/// of four bits to 2^-9, within the standard deviation of a mean of so many draws.
TEST(StochasticRounding, IsUnbiased) {
  constexpr int64_t columns = 4096, repeats = 8;
  for (const std::string format : {"e4m3", "e5m2", "e2m1"}) {
    const double least = format == "e2m1" ? 0x1p-9 : 0x1p-17;
    const std::vector<float> values = valuesOf(format),
                             bytes = {0x1p-20f, 0x1.8p-11f, 0x1.3p-8f, 0.013f, -0.7f,
                                      1.01f,    -3.3f,      17.9f,     100.f,  447.9f},
                             fours = {0.013f, 0.3f, -0.7f, 1.01f, 1.6f, -3.3f, 5.9f},
                             wanted = format == "e2m1" ? fours : bytes;
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
      EXPECT_NEAR(sum / (columns * repeats), wanted[w], deviations * deviation + step * least)
          << format;
    }
  }
}

/// Half way between two codes each of the places of sixteen neighbours goes up as often as down,
/// and as often with its neighbour as without.
TEST(StochasticRounding, NeighboursAreIndependentHalfWay) {
  constexpr int64_t columns = 8192, rows = 16, count = columns * rows;
  for (const auto &[format, x, above] : {std::tuple("e4m3", 1.0625f, 0x39), {"e2m1", 2.5f, 5}}) {
    const std::vector<uint8_t> codes =
        rounded(format, columns, std::vector<float>(count, x), 99, 0);
    int64_t up[16] = {}, same[16] = {};
    for (int64_t i = 0; i + 1 < count; ++i) {
      up[i % 16] += codes[i] == above;
      same[i % 16] += codes[i] == codes[i + 1];
    }
    const double each = count / 16.0, bound = deviations * std::sqrt(each) / 2;
    for (int place = 0; place < 16; ++place) {
      EXPECT_NEAR(static_cast<double>(up[place]), each / 2, bound + 1) << format << place;
      EXPECT_NEAR(static_cast<double>(same[place]), each / 2, bound + 1) << format << place;
    }
  }
}

/// Elsewhere neighbours may share a byte, the upper one of one and the lower one of the other, and
/// go up together with a covariance of at most 2^-10 of the codes' distances (as the reference's
/// numbers do exactly: Random.NeighboursCovaryBy2ToMinus10AtMost), which many draws see as next to
/// none.
TEST(StochasticRounding, NeighboursHardlyDepend) {
  constexpr int64_t columns = 8192, rows = 128, count = columns * rows;
  constexpr double first = 0.5 - 1.0 / 512, second = 0.5; // first's threshold parts the lower byte
  std::vector<float> x(count);
  for (int64_t i = 0; i < count; ++i)
    x[i] = static_cast<float>(1 + 0.125 * (i % 2 ? second : first));
  const std::vector<uint8_t> codes = rounded("e4m3", columns, x, 7, 7);
  double covariance[4] = {};
  for (int64_t i = 0; i + 1 < count; ++i) {
    const double place = i % 2 ? second : first, next = i % 2 ? first : second;
    covariance[i % 4] += ((codes[i] == 0x39) - place) * ((codes[i + 1] == 0x39) - next);
  }
  for (int place = 0; place < 4; ++place)
    EXPECT_NEAR(covariance[place] / (count / 4.0), 0,
                0x1p-10 + deviations / 4 / std::sqrt(count / 4.0))
        << place;
}

/// Seeds and offsets give other bits; the same give the same, whatever rows follow, and wherever in
/// memory the rows lie.
TEST(StochasticRounding, IsAFunctionOfSeedOffsetAndNumber) {
  constexpr int64_t columns = 1001, rows = 300; // a schedule of its own, and one for few rows
  std::vector<float> x; // of all places between two codes, so that the lower bits count, too
  double meeting = 0;   // how many have one code by independent numbers
  for (uint32_t i = 0; i < columns * rows; ++i) {
    const double place = (i * 40503u & 0xffffu) * 0x1p-16;
    x.push_back(static_cast<float>(1 + 0.125 * place));
    meeting += place * place + (1 - place) * (1 - place);
  }
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
    EXPECT_NEAR(static_cast<double>(same), meeting,
                deviations * std::sqrt(static_cast<double>(codes.size())) / 2);
  }
}
