//===- Compare.cpp - Results against the reference ------------------------===//
//
// Part of Eider, under the Apache License v2.0.
//
// What counts as right: docs/design, "What 'the same bits' means". Exact outputs are bit-equal; the
// others lie within the range that the interpreter keeps beside each value; a code is right if some
// value of its range, scaled with the scale that came with it, has it.
//
//===----------------------------------------------------------------------===//
#include "compiler/interpreter/Blocks.h"
#include "compiler/interpreter/Boundary.h"
#include "compiler/interpreter/Interpreter.h"
#include "compiler/interpreter/Quantize.h"

#include <cstdio>
#include <cstring>
#include <functional>

using namespace eider;
using namespace eider::interpreter;

namespace {
/// Scales of sums and approximate functions lie within this many ulp of the reference, however
/// large their own bound, unless something was loose on the way.
constexpr double ScaleUlps = 16;
constexpr double NoLimit = std::numeric_limits<double>::infinity();

template <class... Arguments> std::string format(const char *text, Arguments... arguments) {
  char buffer[200];
  std::snprintf(buffer, sizeof buffer, text, arguments...);
  return buffer;
}

/// `y[3, 17]`.
std::string elementName(const std::string &name, const Extents &shape, int64_t index) {
  std::string position;
  for (size_t axis = shape.size(); axis-- > 0;) {
    position = std::to_string(index % shape[axis]) + (position.empty() ? "" : ", ") + position;
    index /= shape[axis];
  }
  return name + "[" + position + "]";
}

/// Counts the verdicts on the elements of one output.
class Tally {
public:
  Tally(std::string name, const Extents &shape, bool exact) : shape(shape) {
    comparison.name = std::move(name);
    comparison.exact = exact;
    comparison.elements = elementsOf(shape);
  }

  void add(int64_t index, bool same, bool right, double result, double reference,
           const std::function<std::string()> &explain) {
    comparison.different += !same;
    double error = std::abs(result - reference) / (reference == 0 ? 1 : std::abs(reference));
    if (!same && error > comparison.largestError)
      comparison.largestError = error;
    if (right)
      return;
    if (comparison.wrong++ == 0)
      comparison.firstWrong = elementName(comparison.name, shape, index) + ": " + explain();
  }

  Comparison comparison;

private:
  const Extents &shape;
};

/// Compares outputs of a program with the results of the reference.
class Judge {
public:
  Judge(const std::vector<HostTensor> &outputs, std::string where)
      : outputs(outputs), where(std::move(where)) {}

  void judge(const ProgramResult &result) {
    if (auto *values = std::get_if<Tensor>(&result.value))
      return judgeFloats(result.name, *values, NoLimit, result.placement);
    if (auto *codes = std::get_if<CodeTensor>(&result.value))
      return judgeCodes(result.name, *codes, *codes, nullptr);
    judgeScaled(result);
  }

  std::vector<Comparison> comparisons;

private:
  const HostTensor &find(const std::string &name, DType dtype, const Extents &shape);
  Tensor floats(const std::string &name, const Tensor &reference, ScalePlacement placement);
  void judgeFloats(const std::string &name, const Tensor &reference, double mostUlps,
                   ScalePlacement placement);
  void judgeCodes(const std::string &name, const CodeTensor &reference, const CodeTensor &expected,
                  const Tensor *elementScales);
  void judgeScaled(const ProgramResult &result);

  const std::vector<HostTensor> &outputs;
  std::string where;
};
} // namespace

const HostTensor &Judge::find(const std::string &name, DType dtype, const Extents &shape) {
  const HostTensor *tensor = findTensor(outputs, name);
  if (!tensor)
    throw Error(ErrorKind::Request, "output '" + name + "' is missing", where,
                "give it as " + describe(dtype, shape));
  requireTensor(*tensor, dtype, shape, where);
  return *tensor;
}

/// `1.25 (0x3fa00000)`.
static std::string showFloat(DType dtype, double value) {
  return format(dtype == DType::f32 ? "%.9g (0x%08x)" : "%.9g (0x%04x)", value,
                bitsOf(dtype, value));
}

/// An output's values in the order of the reference's, wherever they lie.
Tensor Judge::floats(const std::string &name, const Tensor &reference, ScalePlacement placement) {
  const ScaleMemory memory(placement, reference.dtype, reference.shape);
  return scalesFromHost(find(name, memory.dtype, memory.shape), placement, reference.dtype,
                        reference.shape);
}

void Judge::judgeFloats(const std::string &name, const Tensor &reference, double mostUlps,
                        ScalePlacement placement) {
  Tensor actual = floats(name, reference, placement);
  Tally tally(name, reference.shape, reference.isExact());
  double leastBound = NoLimit, mostBound = 0;
  for (int64_t i = 0; i < actual.size(); ++i) {
    double result = actual.values[i], value = reference.values[i];
    bool same = bitsOf(actual.dtype, result) == bitsOf(actual.dtype, value) ||
                (std::isnan(result) && std::isnan(value));
    Range range = reference.range(i);
    if (!range.isPoint() && std::isfinite(value)) {
      leastBound = std::min(leastBound, std::min(value - range.lower, range.upper - value));
      if (const double bound = std::max(value - range.lower, range.upper - value);
          std::isfinite(bound))
        mostBound = std::max(mostBound, bound);
    }
    bool near = reference.isExact() || !std::isfinite(value) || !std::isfinite(mostUlps) ||
                std::abs(result - value) <= mostUlps * ulpOfF32(value);
    bool right =
        same || (!reference.isExact() && range.holds(result) && (near || range.isAnything()));
    tally.add(i, same, right, result, value, [&] {
      std::string text =
          showFloat(actual.dtype, result) + ", reference " + showFloat(actual.dtype, value);
      if (!reference.isExact())
        text += format(" within [%.9g, %.9g]", range.lower, range.upper);
      return near ? text : text + format(" and %g ulp", mostUlps);
    });
  }
  if (std::isfinite(leastBound) && !std::isfinite(mostUlps)) {
    tally.comparison.leastBound = leastBound;
    tally.comparison.mostBound = mostBound;
  }
  const std::string dirty =
      dirtyPadding(*findTensor(outputs, name), placement, reference.dtype, reference.shape);
  if (!dirty.empty() && tally.comparison.wrong++ == 0)
    tally.comparison.firstWrong = dirty + ": the layout's padding is not zero";
  comparisons.push_back(std::move(tally.comparison));
}

//===-- Codes -------------------------------------------------------------===//

/// Whether a code is that of a NaN operand.
static bool isCodeOfNaN(const CodeTensor &expected, int64_t index, uint8_t code) {
  double nan = expected.operand.values[index];
  bool signMatters = expected.operand.isExact() && hasKnownSign(nan) &&
                     (expected.rules.ignoreNaN || hasSignedNaN(expected.format));
  if (signMatters && std::signbit(nan) != isNegativeCode(expected.format, code))
    return false;
  if (!expected.rules.ignoreNaN) // a format without NaN has one code in its place
    return isNaNCode(expected.format, code) ||
           code == encodeFp8(expected.format, std::numeric_limits<double>::quiet_NaN());
  return magnitudeOfCode(expected.format, code) ==
         encodeFp8(expected.format, largestFp8(expected.format));
}

/// Whether some operand within its range has this code.
static bool isCodeWithinRange(const CodeTensor &expected, int64_t index, uint8_t code) {
  Range range = expected.operand.range(index);
  if (range.isAnything())
    return true;
  if (range.isNaN())
    return isCodeOfNaN(expected, index, code);
  const EncodeRules rules = expected.rulesAt(index);
  uint8_t low = encodeFp8(expected.format, range.lower, rules);
  uint8_t high = encodeFp8(expected.format, range.upper, rules);
  if (code == low || code == high)
    return true;
  // An end that overflows has a code that may lie anywhere: the largest stands for it.
  const EncodeRules saturating = {false, rules.ignoreNaN, rules.random};
  auto orderOf = [&](double end) {
    return orderOfCode(expected.format, encodeFp8(expected.format, end, saturating));
  };
  const int order = orderOfCode(expected.format, code);
  return !isNaNCode(expected.format, code) && orderOf(range.lower) <= order &&
         order <= orderOf(range.upper);
}

/// `reference`: with the reference's own scales; `expected`: with the scales that came with the
/// codes.
void Judge::judgeCodes(const std::string &name, const CodeTensor &reference,
                       const CodeTensor &expected, const Tensor *elementScales) {
  const Extents &shape = reference.operand.shape;
  const std::vector<uint8_t> codes =
      codesOf(find(name, reference.format, extentsInMemory(reference.format, shape)));
  Tally tally(name, shape, expected.operand.isExact());
  for (int64_t i = 0; i < tally.comparison.elements; ++i) {
    const uint8_t code = codes[i];
    bool bothNaN =
        isNaNCode(reference.format, code) && isNaNCode(reference.format, reference.codes[i]);
    bool same = code == reference.codes[i] || bothNaN;
    tally.add(i, same, isCodeWithinRange(expected, i, code), decodeFp8(reference.format, code),
              decodeFp8(reference.format, reference.codes[i]), [&] {
                Range range = expected.operand.range(i);
                std::string text = format("0x%02x, reference 0x%02x (encodes %.9g", code,
                                          expected.codes[i], expected.operand.values[i]);
                if (!range.isPoint())
                  text += format(" within [%.9g, %.9g]", range.lower, range.upper);
                return elementScales ? text + format(", scale %.9g)", elementScales->values[i])
                                     : text + ")";
              });
  }
  comparisons.push_back(std::move(tally.comparison));
}

void Judge::judgeScaled(const ProgramResult &result) {
  auto &scaled = std::get<ScaledTensor>(result.value);
  const Tensor &reference = scaled.scales;
  std::string scaleName = result.name + "_scale";
  Tensor scales = reference;
  if (!result.givenScales) {
    scales = floats(scaleName, reference, result.placement);
    // A power of two, or a narrow scale, that is off by less than its range is off by more ulp.
    bool isRounded = reference.dtype != DType::f32 ||
                     (scaled.origin && scaled.origin->numerics.powerOfTwo != ir::PowerOfTwo::none);
    judgeFloats(scaleName, reference, isRounded || reference.isLoose ? NoLimit : ScaleUlps,
                result.placement);
  }
  const Extents &shape = scaled.codes.operand.shape;
  Tensor elementScales = broadcast(scales, shape, scaled.block);
  if (!scaled.origin)
    return judgeCodes(result.name, scaled.codes, scaled.codes, &elementScales);
  Tensor operand = scaledOperand(*scaled.origin, scales, scaled.block, scaled.codes.format);
  CodeTensor expected =
      encode(scaled.codes.format, scaled.codes.rules, std::move(operand), scaled.codes.random);
  judgeCodes(result.name, scaled.codes, expected, &elementScales);
}

/// Rows that nothing was placed in must be as they were.
static Comparison judgeKept(const Placement &placement, const HostTensor &old,
                            const HostTensor &now) {
  Comparison comparison;
  comparison.name = old.name + " (other rows)";
  comparison.exact = true;
  const size_t bytes = rowBytes(old);
  for (int64_t row : placement.keptRows(old)) {
    ++comparison.elements;
    const size_t offset = static_cast<size_t>(row) * bytes;
    if (std::memcmp(old.data.data() + offset, now.data.data() + offset, bytes) == 0)
      continue;
    ++comparison.different;
    if (comparison.wrong++ == 0)
      comparison.firstWrong = elementName(old.name, {old.shape.front()}, row) +
                              ": the row has changed, though no index chooses it";
  }
  return comparison;
}

/// The rows that were placed, like any output; and those that were not.
static void judgePlaced(const ProgramResult &result, const std::vector<HostTensor> &outputs,
                        const std::string &where, std::vector<Comparison> &comparisons) {
  const Placement &placement = *result.scattered;
  for (const HostTensor &old : placement.old) {
    const HostTensor *now = findTensor(outputs, old.name);
    if (!now)
      throw Error(ErrorKind::Request, "output '" + old.name + "' is missing", where,
                  "give it as " + describe(old.dtype, old.shape));
    requireTensor(*now, old.dtype, old.shape, where);
  }
  const std::vector<HostTensor> taken = placement.take(outputs, toHost(result));
  Judge judge(taken, where);
  judge.judge(result);
  for (Comparison &comparison : judge.comparisons)
    comparisons.push_back(std::move(comparison));
  for (const HostTensor &old : placement.old)
    comparisons.push_back(judgeKept(placement, old, *findTensor(outputs, old.name)));
}

std::vector<Comparison> eider::compare(const Program &program,
                                       const std::vector<HostTensor> &inputs,
                                       const std::vector<HostTensor> &outputs,
                                       const std::map<std::string, double> &scalars) {
  Judge judge(outputs, program.name());
  for (const ProgramResult &result : interpreter::run(program, inputs, scalars)) {
    if (result.scattered)
      judgePlaced(result, outputs, program.name(), judge.comparisons);
    else
      judge.judge(result);
  }
  return std::move(judge.comparisons);
}
