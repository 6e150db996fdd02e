//===- Shrink.cpp - Simpler sketches --------------------------------------===//
//
// Part of Eider, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//
#include "tests/random/Shrink.h"

#include <rapidcheck.h>

#include <algorithm>

using namespace eider;
using namespace eider::sketch;

namespace {
/// Collects what is simpler than one sketch.
class Simpler {
public:
  explicit Simpler(const Sketch &sketch) : sketch(sketch), types(*typesOf(sketch)) {
    dropResults();
    replaceSteps();
    shrinkDims();
    plainRun();
    for (size_t i = 0; i < sketch.steps.size(); ++i)
      plainStep(i);
  }

  std::vector<Sketch> found;

private:
  const Sketch &sketch;
  std::vector<Type> types;

  /// Keeps the sketch without what nobody needs, if it is well-typed and another one.
  void keep(const Sketch &candidate) {
    Sketch clean = pruned(candidate);
    if (!(clean == sketch) && typesOf(clean))
      found.push_back(std::move(clean));
  }

  template <class Change> void with(Change change) {
    Sketch candidate = sketch;
    change(candidate);
    keep(candidate);
  }

  static void erase(Sketch &from, const std::function<bool(size_t)> &goes) {
    // A result is no operand: no other step counts it, but those after it move.
    Sketch result = from;
    result.steps.clear();
    std::vector<size_t> place(from.steps.size());
    for (size_t i = 0; i < from.steps.size(); ++i) {
      if (goes(i))
        continue;
      place[i] = result.steps.size();
      result.steps.push_back(from.steps[i]);
      for (size_t &operand : result.steps.back().operands)
        operand = place[operand];
    }
    from = std::move(result);
  }

  void dropResults() {
    std::vector<size_t> results;
    for (size_t i = 0; i < sketch.steps.size(); ++i)
      if (isResult(sketch.steps[i].op))
        results.push_back(i);
    if (results.size() < 2)
      return;
    for (size_t kept : results)
      with([&](Sketch &candidate) {
        erase(candidate, [&](size_t i) { return isResult(sketch.steps[i].op) && i != kept; });
      });
    for (size_t dropped : results)
      with([&](Sketch &candidate) { erase(candidate, [&](size_t i) { return i == dropped; }); });
  }

  void replaceBy(size_t step, size_t other) {
    with([&](Sketch &candidate) {
      for (Step &user : candidate.steps)
        std::ranges::replace(user.operands, step, other);
    });
  }

  void replaceSteps() {
    for (size_t i = sketch.steps.size(); i-- > 0;) {
      const Step &step = sketch.steps[i];
      if (isResult(step.op)) {
        plainResult(i);
        continue;
      }
      for (size_t operand : step.operands) {
        replaceBy(i, operand);
        // Of what goes to codes and back, the value.
        if (step.op == Op::Dequantize && !sketch.steps[operand].operands.empty())
          replaceBy(i, sketch.steps[operand].operands.front());
      }
      if (!step.operands.empty() && types[i].kind == Type::Kind::Value && !types[i].axes.empty())
        with([&](Sketch &candidate) {
          candidate.steps[i] = {.op = Op::Input, .dtype = types[i].dtype, .axes = types[i].axes};
        });
      if (step.op == Op::InOut)
        with([&](Sketch &candidate) { plainInOut(candidate, i); });
    }
  }

  /// An input, and an output of what is stored.
  static void plainInOut(Sketch &candidate, size_t inout) {
    candidate.steps[inout].op = Op::Input;
    for (Step &step : candidate.steps)
      if (step.op == Op::Store && step.operands.front() == inout)
        step = {.op = Op::Output, .operands = {step.operands.back()}, .dtype = DType::f32};
  }

  /// The value itself instead of its codes, or rows where they are instead of elsewhere.
  void plainResult(size_t i) {
    const Step &step = sketch.steps[i];
    const size_t value = step.operands.front();
    if (step.op == Op::ScaledScatter)
      with([&](Sketch &candidate) {
        candidate.steps[i] = {.op = Op::ScaledOutput, .operands = {value}};
      });
    if (step.op == Op::Scatter)
      with([&](Sketch &candidate) {
        candidate.steps[i] = {.op = Op::Output, .operands = {value}, .dtype = step.dtype};
      });
    if (step.op == Op::ScaledOutput && sketch.steps[value].op == Op::Quantize)
      with([&](Sketch &candidate) {
        candidate.steps[i] = {.op = Op::Output, .operands = {sketch.steps[value].operands.front()}};
      });
  }

  void shrinkDims() {
    for (int dim = 0; dim < DimCount; ++dim) {
      const DimChoice &choice = sketch.dims[dim];
      for (int64_t extent : {int64_t(1), int64_t(2), int64_t(16), choice.extent / 2,
                             choice.extent - 2, choice.extent - 1})
        if (extent >= 1 && extent < choice.extent)
          with([&](Sketch &candidate) { candidate.dims[dim].extent = extent; });
      if (choice.given != Given::AtLaunch)
        with([&](Sketch &candidate) { candidate.dims[dim].given = Given::AtLaunch; });
    }
  }

  void plainRun() {
    with([](Sketch &candidate) { candidate.schedule = 0; });
    with([](Sketch &candidate) { candidate.values = "normal"; });
    with([](Sketch &candidate) { candidate.layout = {}; });
    with([](Sketch &candidate) { candidate.forAnyRows = false; });
    with([](Sketch &candidate) { candidate.codec = "auto"; });
  }

  /// Attributes of one step, each the simplest.
  void plainStep(size_t i) {
    auto withStep = [&](auto change) {
      with([&](Sketch &candidate) { change(candidate.steps[i]); });
    };
    withStep([](Step &step) { step.name.clear(); });
    withStep([](Step &step) { step.dtype = step.op == Op::Choice ? DType::i64 : DType::f32; });
    withStep([](Step &step) { step.quantisation.mode = "default"; });
    withStep([](Step &step) { step.quantisation.parameter = {}; });
    withStep([](Step &step) { step.quantisation.format = DType::e4m3; });
    if (sketch.steps[i].op != Op::Quantize)
      return;
    withStep([](Step &step) { step.quantisation.layout = ScaleLayout::row_major; });
    withStep([](Step &step) {
      step.quantisation.scale = DType::f32;
      step.quantisation.layout = ScaleLayout::row_major;
      step.quantisation.givenScales = false;
      step.operands.resize(1);
    });
  }
};
} // namespace

std::vector<Sketch> sketch::simpler(const Sketch &sketch) { return Simpler(sketch).found; }

Sketch sketch::shrunk(const Sketch &sketch, const std::function<bool(const Sketch &)> &fails,
                      unsigned tries) {
  const auto tree = rc::shrinkable::shrinkRecur(
      sketch, [](const Sketch &one) { return rc::seq::fromContainer(simpler(one)); });
  auto stillFails = [&](const Sketch &one) { return tries > 0 && tries-- && fails(one); };
  return rc::shrinkable::findLocalMin(tree, stillFails).first;
}
