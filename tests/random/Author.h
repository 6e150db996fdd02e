//===- Author.h - Writes one random sketch ----------------------*- C++ -*-===//
//
// Part of Eider, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//
#ifndef EIDER_TESTS_RANDOM_AUTHOR_H
#define EIDER_TESTS_RANDOM_AUTHOR_H

#include "tests/random/Sketch.h"

#include <functional>

namespace eider::sketch {

/// What a program does beside elementwise work. What the compiler has in one kernel goes together;
/// `Wild` takes no heed of that, so that refusals are met, too.
enum class Theme { Rows, Blocks, Turned, Chosen, Vector, Wild };

/// Writes a sketch step by step, each well-typed. Draws as a rc::gen::exec does.
class Author {
public:
  explicit Author(uint64_t seed);

  Sketch write();

private:
  Sketch sketch;
  std::vector<Type> types; ///< One a step.
  Theme theme;
  Block block; ///< The two-dimensional block of the program.

  //===-- Steps -----------------------------------------------------------===//

  size_t add(Step step);
  size_t number(double value);
  size_t unary(const std::string &function, size_t operand);
  size_t binary(const std::string &function, size_t left, size_t right);
  size_t reduced(const std::string &function, size_t operand, const Block &block);
  size_t input(const Axes &axes);

  //===-- Shapes ----------------------------------------------------------===//

  Axes matrix() const;
  Axes turned() const;
  bool isElements(size_t step) const;
  bool isTurned(size_t step) const;
  bool isTensor(size_t step) const;
  /// Axes that a kernel of the theme holds.
  bool isHeld(const Axes &axes) const;
  Block wholeRow() const;
  int64_t group() const;
  Block blockFor(size_t value) const;

  //===-- Choices ---------------------------------------------------------===//

  /// A step for which `holds`, late ones rather than early; none if there is none.
  std::optional<size_t> pick(const std::function<bool(size_t)> &holds) const;
  std::optional<size_t> elements() const;
  size_t someNumber();
  /// A value that meets `step` in an elementwise function.
  size_t partner(size_t step);

  void chooseDims();
  void chooseRun();

  //===-- Parts of a program ----------------------------------------------===//

  void writeInputs();
  void writeChosenRows();
  void writeStep();
  void writeUnary();
  void writeBinary();
  void writeSelect();
  void writeMask();
  void writeReduction();
  void writeNorm();
  void writeSoftmax();
  void writeNeighbours();
  void writeTranspose();
  void writeRoundTrip();

  Quantisation quantisationFor(size_t value) const;
  size_t quantized(size_t value);
  size_t scaledInput(const Axes &axes, const Block &along);

  void writeResults();
  void writeResult(size_t value);
  bool isOutput(size_t value) const;
};

} // namespace eider::sketch

#endif // EIDER_TESTS_RANDOM_AUTHOR_H
