//===- Points.h - Ops at extents of their own, to be tested -*- C++ -*-===//
//
// Part of Eider, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//
#ifndef EIDER_TESTS_POINTS_POINTS_H
#define EIDER_TESTS_POINTS_POINTS_H

#include "tests/matrix/Harness.h"

#include <functional>

namespace eider::at_points {

/// An op of the library under some parameters, at some extents, in some memory.
struct Point {
  std::string op;
  OpParameters parameters = {};
  Dims dims; ///< All of them; `hidden` or `k`, along the rows, is made static; `n` beside `m`.
  matrix::Layout layout = {};
  bool forAnyRows = true;
  std::string values = "normal"; ///< Of matrix::ValueSource.
  std::string codec = "auto", schedule = "";
};

/// The same in each variant: few rows, contiguous, strided and misaligned.
std::vector<Point> inEachVariant(const Point &point);

/// The point's program on inputs that follow from the point and `seed` alone. An index chooses each
/// row once at most while there are enough of them; every fifth or so chooses none, by as much as
/// its type holds.
matrix::Case caseOf(const Point &point, uint64_t seed = 1);

/// A program at extents of which all but `open` are made static, under a schedule that is given or
/// the heuristic's.
matrix::Case caseOf(const Program &program, const Dims &dims, const std::string &open,
                    const std::string &schedule = "");

/// Outputs of the case on `host`.
std::vector<HostTensor> runOnHost(const matrix::Case &made);

/// How many elements of the first output are outside their bounds.
int64_t wrongOf(const matrix::Case &made, const std::vector<HostTensor> &outputs);

/// Inputs of a program at its extents, which follow from the kind of values and `seed` alone.
std::vector<HostTensor> inputsOf(const Program &program, const Dims &dims,
                                 const std::string &values, uint64_t seed);

/// The elements of a tensor of f32.
std::vector<float> floatsOf(const HostTensor &tensor);

/// The same where the case is run on inputs of which `bytes` bytes are zeros in each `each`, from
/// `first` on: what a bound that is tight shows of scales and elements that are left out.
int64_t wrongWithout(const matrix::Case &made, size_t input, size_t each, size_t first,
                     size_t bytes);

/// Holds every point, or case, on the device against the reference.
/// Of an older target (EIDER_TARGET) those that it has, without instructions for FP8 or schedules
/// for newer ones.
void expectReference(const std::vector<Point> &points);
void expectReference(const std::vector<matrix::Case> &cases);

/// Every text is of the vocabulary alone, and no line too wide.
void expectPure(const std::vector<Point> &points);

/// Some targets of each kind, by turns: each call says the next. Programs that each meet one or two
/// of them meet all kinds among them, in a part of the time that every one by every one takes.
class Turns {
public:
  explicit Turns(std::vector<std::string> targets) : targets(std::move(targets)) {}
  const std::string &next() { return targets[turn++ % targets.size()]; }

private:
  std::vector<std::string> targets;
  size_t turn = 0;
};

/// NVRTC compiles each of the texts, or a quick run's share, for one target, which take turns;
/// skips where there is no NVRTC.
void expectNvrtc(const std::vector<Point> &points);
using CaseOfTarget = std::function<matrix::Case(size_t, const std::string &)>;
/// The same of so many cases; the first of them is for all targets that are left.
void expectNvrtc(size_t count, const CaseOfTarget &caseOf);
/// The same of every so manieth point, for one target.
void expectNvrtc(const std::vector<Point> &points, const std::string &target, size_t every);
/// NVRTC compiles a program's text for a target; skips where there is no NVRTC.
void expectNvrtc(const Program &program, CompileOptions options, const std::string &target);

/// What making the point's text says is wrong with the request; empty if nothing.
std::string errorOf(const Point &point);
/// The same of emitting a program for sm_90; empty: nothing.
std::string errorOf(const Program &program, const Dims &dims);

} // namespace eider::at_points

#endif // EIDER_TESTS_POINTS_POINTS_H
