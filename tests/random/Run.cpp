//===- Run.cpp - Sketches on a device, against the reference --------------===//
//
// Part of Eider, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//
#include "tests/random/Run.h"

#include "tests/matrix/BatchBackend.h"
#include "tests/matrix/Cell.h"
#include "tests/matrix/Harness.h"
#include "tests/matrix/Values.h"

#include <algorithm>
#include <numeric>

using namespace eider;
using namespace eider::sketch;
using Kind = Outcome::Kind;

bool sketch::isStated(const Error &error) {
  if (error.kind() != ErrorKind::Request || error.where().empty())
    return false;
  // What only a defect of the passes says: nothing that a person could do.
  const std::string message = error.what();
  return std::ranges::none_of(
      std::initializer_list<const char *>{"the passes failed", "failed to verify", "eider-"},
      [&](const char *inside) { return message.find(inside) != message.npos; });
}

//===-- What a sketch runs on ---------------------------------------------===//

/// Rows that an index chooses, each once while there are enough, then none; now and then what is no
/// row. Where rows are only read, some of them repeatedly.
static HostTensor choices(const Signature::Tensor &tensor, const std::vector<int64_t> &shape,
                          int64_t rows, bool isRead, std::mt19937_64 &random) {
  HostTensor made{tensor.name, tensor.dtype, shape, {}};
  const int64_t count =
      std::accumulate(shape.begin(), shape.end(), int64_t(1), std::multiplies<>());
  std::vector<int64_t> order(static_cast<size_t>(std::max(rows, count)), -1);
  std::iota(order.begin(), order.begin() + rows, 0);
  for (size_t i = order.size(); i > 1; --i)
    std::swap(order[i - 1], order[random() % i]);
  const int64_t none[] = {-1, rows, tensor.dtype == DType::i32 ? INT32_MIN : INT64_MIN};
  for (int64_t i = 0; i < count; ++i) {
    int64_t chosen = order[static_cast<size_t>(i)];
    if (isRead && rows > 0 && random() % 3 == 0)
      chosen = static_cast<int64_t>(random() % static_cast<uint64_t>(rows));
    if (random() % 6 == 0)
      chosen = none[random() % 3];
    const auto *bytes = reinterpret_cast<const std::byte *>(&chosen); // little-endian
    made.data.insert(made.data.end(), bytes, bytes + sizeOf(tensor.dtype));
  }
  return made;
}

/// Whether rows are placed where an index says.
static bool places(const Sketch &sketch) {
  return std::ranges::any_of(sketch.steps, [](const Step &step) {
    return step.op == Op::Scatter || step.op == Op::ScaledScatter;
  });
}

static std::vector<HostTensor> inputsOf(const Sketch &sketch, const Program &program,
                                        const Dims &dims) {
  matrix::ValueSource values(sketch.values, sketch.seed);
  std::mt19937_64 random(sketch.seed);
  std::vector<HostTensor> inputs;
  for (const Signature::Tensor &tensor : program.signature().tensors) {
    if (tensor.role == Signature::Role::Output)
      continue;
    std::vector<int64_t> shape;
    for (const std::string &extent : tensor.shape)
      shape.push_back(matrix::extentOf(extent, dims));
    const bool isIndex =
        (tensor.dtype == DType::i32 && !tensor.packed) || tensor.dtype == DType::i64;
    if (isIndex)
      inputs.push_back(
          choices(tensor, shape, sketch.dims[Sources].extent, !places(sketch), random));
    else if (tensor.name.ends_with("_scale") || tensor.packed)
      inputs.push_back(values.scales(tensor.name, tensor.dtype, shape));
    else
      inputs.push_back(values.tensor(tensor.name, tensor.dtype, shape));
  }
  return inputs;
}

static Dims dimsOf(const Sketch &sketch, const Program &program) {
  Dims dims;
  for (const Signature::NamedDim &dim : program.signature().dims)
    for (int name = 0; name < DimCount; ++name)
      if (dim.name == dimNames[name])
        dims[dim.name] = sketch.dims[name].extent;
  return dims;
}

static CompileOptions optionsOf(const Sketch &sketch, const Program &program, const Dims &dims,
                                const std::string &target) {
  CompileOptions options;
  options.target = target;
  options.codec = sketch.codec;
  if (dims.count("hidden"))
    options.dims["hidden"] = dims.at("hidden");
  if (sketch.schedule > 0) {
    const std::vector<ScheduleCandidate> all = candidates(program, options);
    options.schedule = all[sketch.schedule % all.size()].schedule;
  }
  return options;
}

static matrix::Case caseOf(const Sketch &sketch, const Program &program,
                           const std::string &target) {
  const Dims dims = dimsOf(sketch, program);
  matrix::Case made{program, optionsOf(sketch, program, dims, target),
                    inputsOf(sketch, program, dims), dims, sketch.layout};
  made.forAnyRows = sketch.forAnyRows;
  return made;
}

//===-- Running -----------------------------------------------------------===//

/// Holds the outputs against the reference of the sketch's own program.
static void judge(const Program &program, const std::vector<HostTensor> &inputs,
                  const std::vector<HostTensor> &outputs, Outcome &outcome) {
  for (const Comparison &comparison : compare(program, inputs, outputs)) {
    outcome.elements += comparison.elements;
    outcome.different += comparison.different;
    if (comparison.wrong == 0 || outcome.kind == Kind::Failed)
      continue;
    outcome.kind = Kind::Failed;
    outcome.message = std::to_string(comparison.wrong) + " of " +
                      std::to_string(comparison.elements) + " wrong, first " +
                      comparison.firstWrong;
  }
}

namespace {
/// A sketch on its way.
struct Job {
  std::optional<Program> expected;
  std::optional<matrix::Case> given;
  size_t number = 0; ///< In the harness.
};
} // namespace

/// Does it, turning an Error into the outcome: before the launch it may be a refusal.
template <class Action> static void guarded(Outcome &outcome, bool mayRefuse, Action action) {
  try {
    action();
  } catch (const Error &error) {
    if (error.kind() == ErrorKind::Machine)
      throw;
    outcome.kind = mayRefuse && isStated(error) ? Kind::Refused : Kind::Failed;
    outcome.message = error.what();
  } catch (const std::exception &exception) {
    outcome.kind = Kind::Failed;
    outcome.message = std::string("throws what is no eider::Error: ") + exception.what();
  }
}

static std::vector<Outcome> runOnReference(const Runner &runner, std::span<const Sketch> sketches) {
  std::vector<Outcome> outcomes(sketches.size());
  for (size_t i = 0; i < sketches.size(); ++i)
    guarded(outcomes[i], /*mayRefuse=*/true, [&] {
      const Program program = record(sketches[i]), wrong = record(runner.defect(sketches[i]));
      const std::vector<HostTensor> inputs =
          inputsOf(sketches[i], program, dimsOf(sketches[i], program));
      judge(program, inputs, interpret(wrong, inputs), outcomes[i]);
    });
  return outcomes;
}

std::vector<Outcome> Runner::run(std::span<const Sketch> sketches) const {
  if (device == "reference")
    return runOnReference(*this, sketches);
  matrix::Harness harness(device, seed);
  std::vector<Outcome> outcomes(sketches.size());
  std::vector<Job> jobs(sketches.size());
  for (size_t i = 0; i < sketches.size(); ++i)
    guarded(outcomes[i], /*mayRefuse=*/true, [&] {
      jobs[i].expected = record(sketches[i]);
      jobs[i].given = caseOf(sketches[i], record(defect(sketches[i])), harness.target());
      jobs[i].number = harness.add(*jobs[i].given);
    });
  harness.build();
  matrix::inParallel(sketches.size(), [&](size_t i) {
    if (outcomes[i].kind == Kind::Passed)
      guarded(outcomes[i], /*mayRefuse=*/false, [&] {
        judge(*jobs[i].expected, jobs[i].given->inputs, harness.run(jobs[i].number), outcomes[i]);
      });
  });
  return outcomes;
}
