//===- Points.cpp - Ops at extents of their own, to be tested ------------------===//
//
// Part of Eider, under the Apache License v2.0.
//
//===--------------------------------------------------------------------------------===//
#include "tests/points/Points.h"

#include "eider/runtime.h"
#include "tests/Share.h"
#include "tests/matrix/Cell.h"
#include "tests/matrix/Reference.h"
#include "tests/matrix/Values.h"
#include "tests/text/Purity.h"

#include <algorithm>
#include <cstring>
#include <gmock/gmock.h>
#include <numeric>
#include <set>

using namespace eider;
using namespace eider::at_points;
using ::testing::IsEmpty;

std::vector<Point> at_points::inEachVariant(const Point &point) {
  std::vector<Point> points(4, point);
  points[0].forAnyRows = false;
  points[2].layout = matrix::apart[0];
  points[3].layout = matrix::apart[1];
  return points;
}

/// Choices among `rows`, in an order of no pattern.
static HostTensor choices(const Signature::Tensor &tensor, const std::vector<int64_t> &shape,
                          int64_t rows, std::mt19937_64 &random) {
  const int64_t least = tensor.dtype == DType::i32 ? INT32_MIN : INT64_MIN;
  const int64_t none[] = {-1, rows, least, -(least + 1)};
  HostTensor made{tensor.name, tensor.dtype, shape, {}};
  int64_t count = 1;
  for (int64_t extent : shape)
    count *= extent;
  std::vector<int64_t> order(static_cast<size_t>(std::max(rows, count)));
  std::iota(order.begin(), order.end(), 0);
  for (size_t i = order.size(); i > 1; --i)
    std::swap(order[i - 1], order[random() % i]);
  for (int64_t i = 0; i < count; ++i) {
    int64_t chosen = rows ? order[static_cast<size_t>(i)] % rows : -1;
    if (random() % 5 == 0)
      chosen = none[random() % 4];
    const auto *bytes = reinterpret_cast<const std::byte *>(&chosen); // little-endian
    made.data.insert(made.data.end(), bytes, bytes + sizeOf(tensor.dtype));
  }
  return made;
}

/// Ends of groups of so many rows: some groups have none, some one, and some rows no group. Of all
/// a few are no ends of groups: they fall, or are beyond the rows.
static HostTensor ends(const Signature::Tensor &tensor, const std::vector<int64_t> &shape,
                       int64_t rows, std::mt19937_64 &random) {
  HostTensor made{tensor.name, tensor.dtype, shape, {}};
  const bool hasWrong = random() % 4 == 0;
  for (int64_t group = 0, end = 0; group < shape[0]; ++group) {
    const int64_t left = rows - end, share = 2 * rows / shape[0] + 1;
    end += std::min<int64_t>(
        left, group % 3 == 1 ? random() % 2
                             : static_cast<int64_t>(random() % static_cast<uint64_t>(share)));
    const int64_t given = hasWrong && random() % 3 == 0 ? (random() % 2 ? -7 : rows + 9) : end;
    const auto *bytes = reinterpret_cast<const std::byte *>(&given); // little-endian
    made.data.insert(made.data.end(), bytes, bytes + sizeOf(tensor.dtype));
  }
  return made;
}

static CompileOptions optionsOf(const Point &point, const std::string &target) {
  CompileOptions options;
  options.target = target;
  options.codec = point.codec;
  options.schedule = point.schedule;
  for (const char *alongRows :
       {"hidden", "k", "n", "groups", "batches"}) // static; n but where it is the rows
    if (const auto dim = point.dims.find(alongRows);
        dim != point.dims.end() && (dim->first != "n" || point.dims.contains("m")))
      options.dims.insert(*dim);
  return options;
}

std::vector<HostTensor> at_points::inputsOf(const Program &program, const Dims &dims,
                                            const std::string &kind, uint64_t seed) {
  std::vector<HostTensor> inputs;
  matrix::ValueSource values(kind, seed);
  std::mt19937_64 random(seed);
  for (const Signature::Tensor &tensor : program.signature().tensors) {
    if (tensor.role == Signature::Role::Output)
      continue;
    std::vector<int64_t> shape;
    for (const std::string &extent : tensor.shape)
      shape.push_back(matrix::extentOf(extent, dims));
    const bool isScale = tensor.name == "scale" || tensor.name.ends_with("_scale");
    if (!tensor.risesTo.empty())
      inputs.push_back(ends(tensor, shape, matrix::extentOf(tensor.risesTo, dims), random));
    else if (!tensor.choosesFrom.empty())
      inputs.push_back(choices(tensor, shape, matrix::extentOf(tensor.choosesFrom, dims), random));
    else
      inputs.push_back(isScale ? values.scales(tensor.name, tensor.dtype, shape)
                               : values.tensor(tensor.name, tensor.dtype, shape));
  }
  return inputs;
}

matrix::Case at_points::caseOf(const Point &point, uint64_t seed) {
  matrix::Case made{
      libraryOp(point.op, point.parameters), optionsOf(point, ""), {}, point.dims, point.layout};
  made.forAnyRows = point.forAnyRows;
  made.values = point.values;
  made.inputs = inputsOf(made.program, point.dims, point.values, seed);
  return made;
}

matrix::Case at_points::caseOf(const Program &program, const Dims &dims, const std::string &open,
                               const std::string &schedule) {
  matrix::Case made{program, {}, {}, dims, {}};
  made.options.schedule = schedule;
  made.forAnyRows = true;
  made.options.dims = dims;
  made.options.dims.erase(open);
  made.inputs = inputsOf(program, made.dims, "normal", /*seed=*/3);
  return made;
}

std::vector<HostTensor> at_points::runOnHost(const matrix::Case &made) {
  matrix::Harness harness("host");
  const size_t number = harness.add(made);
  harness.build();
  return harness.run(number);
}

int64_t at_points::wrongOf(const matrix::Case &made, const std::vector<HostTensor> &outputs) {
  return compare(made.program, made.inputs, outputs).at(0).wrong;
}

std::vector<float> at_points::floatsOf(const HostTensor &tensor) {
  std::vector<float> values(tensor.data.size() / sizeof(float));
  std::memcpy(values.data(), tensor.data.data(), tensor.data.size());
  return values;
}

int64_t at_points::wrongWithout(const matrix::Case &made, size_t input, size_t each, size_t first,
                                size_t bytes) {
  matrix::Case other = made;
  std::vector<std::byte> &data = other.inputs[input].data;
  for (size_t i = first; i + bytes <= data.size(); i += each)
    std::fill_n(data.begin() + static_cast<std::ptrdiff_t>(i), bytes, std::byte(0));
  return wrongOf(made, runOnHost(other));
}

void at_points::expectReference(const std::vector<Point> &points) {
  std::vector<matrix::Case> cases;
  for (const Point &point : points)
    cases.push_back(caseOf(point, cases.size() + 1));
  at_points::expectReference(cases);
}

/// Whether a target has what a codec and a schedule use: instructions for FP8 (sm_89), clusters
/// (sm_90), warpgroups (sm_90a), products of another type than f16 (sm_80).
static bool has(const std::string &target, const std::string &codec, const std::string &schedule,
                bool isOfF16) {
  const int number = std::stoi(target.substr(target.find('_') + 1));
  auto says = [&](const std::string &knob, int more) {
    const size_t at = schedule.find(knob + " = ");
    return at != std::string::npos && std::stoi(schedule.substr(at + knob.size() + 3)) > more;
  };
  return (number >= 89 || codec != "hardware") &&
         (number >= 90 || (!says("cluster", 1) && !says("bulk", 0))) &&
         (target == "sm_90a" || !says("warpgroups", 0)) &&
         (number >= 80 || !says("mma", 0) || isOfF16);
}

/// The same of the target that EIDER_TARGET says in place of the GPU's own.
static bool isOfTheTarget(const matrix::Case &made) {
  const char *target = std::getenv("EIDER_TARGET");
  const bool isOfF16 = std::ranges::any_of(
      made.inputs, [](const HostTensor &input) { return input.dtype == DType::f16; });
  return !target || has(target, made.options.codec, made.options.schedule, isOfF16);
}

void at_points::expectReference(const std::vector<matrix::Case> &cases) {
  std::vector<matrix::Case> had = cases;
  std::erase_if(had, [](const matrix::Case &made) { return !isOfTheTarget(made); });
  if (had.empty() && !cases.empty())
    GTEST_SKIP() << "of the target that EIDER_TARGET says there is none";
  matrix::expectReference(had);
}

void at_points::expectPure(const std::vector<Point> &points) {
  for (const Point &point : points) {
    const std::string text =
        emit(libraryOp(point.op, point.parameters), optionsOf(point, "sm_90"), Stage::Cuda);
    EXPECT_THAT(text::impurities(text), IsEmpty()) << text;
    EXPECT_THAT(text::wideLines(text), IsEmpty()) << text;
  }
}

static std::vector<std::string> gpuTargets() {
  std::vector<std::string> all = targets();
  std::erase(all, "host");
  return all;
}

void at_points::expectNvrtc(const std::vector<Point> &points) {
  const std::vector<std::string> targets = gpuTargets();
  std::set<std::string> texts;
  size_t turn = 0;
  for (const Point &point : points) {
    const Program program = libraryOp(point.op, point.parameters);
    if (!texts.insert(emit(program, optionsOf(point, "sm_90a"), Stage::Cuda)).second)
      continue;
    auto target = [&] { return targets[turn % targets.size()]; };
    while (!has(target(), point.codec, point.schedule, point.parameters.dtype == "f16"))
      ++turn;
    expectNvrtc(program, optionsOf(point, target()), target());
    ++turn;
  }
}

void at_points::expectNvrtc(size_t count, const CaseOfTarget &caseOf) {
  const std::vector<std::string> targets = gpuTargets();
  for (size_t i = 0; i < std::max(count, targets.size()); ++i) {
    const std::string &target = targets[i % targets.size()];
    const matrix::Case made = caseOf(i < count ? i : 0, target);
    expectNvrtc(made.program, made.options, target);
  }
}

void at_points::expectNvrtc(const Program &program, CompileOptions options,
                            const std::string &target) {
  static std::set<std::string> seen;
  static size_t others = 0;
  if (!seen.insert(target).second && !isInShare(others++))
    return;
  CacheOptions noCache;
  noCache.enabled = false;
  options.target = target;
  try {
    const std::string text = emit(program, options, Stage::Cuda);
    EXPECT_FALSE(assemble(text, target, ImageKind::Cubin, noCache).entries.empty());
  } catch (const Error &error) {
    if (error.kind() == ErrorKind::Machine)
      GTEST_SKIP() << error.what();
    ADD_FAILURE() << target << ": " << error.what();
  }
}

void at_points::expectNvrtc(const std::vector<Point> &points, const std::string &target,
                            size_t every) {
  for (size_t i = 0; i < points.size(); i += every) {
    const matrix::Case made = caseOf(points[i]);
    expectNvrtc(made.program, made.options, target);
  }
}

std::string at_points::errorOf(const Program &program, const Dims &dims) {
  CompileOptions options;
  options.target = "sm_90";
  options.dims = dims;
  try {
    emit(program, options, Stage::Cuda);
    return "";
  } catch (const Error &error) {
    return error.what();
  }
}

std::string at_points::errorOf(const Point &point) {
  try {
    emit(libraryOp(point.op, point.parameters), optionsOf(point, "sm_90"), Stage::Cuda);
  } catch (const Error &error) {
    EXPECT_EQ(error.kind(), ErrorKind::Request);
    return error.what();
  }
  return "";
}
