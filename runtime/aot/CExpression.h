//===- aot/CExpression.h - A contract's expressions as C --------*- C++ -*-===//
//
// Part of Eider, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//
#ifndef EIDER_RUNTIME_AOT_CEXPRESSION_H
#define EIDER_RUNTIME_AOT_CEXPRESSION_H

#include "runtime/contract/Contract.h"
#include "runtime/contract/Expression.h"

#include <set>
#include <string>

namespace eider::aot {

/// Prints the expressions of one contract. What overflows sets a flag of the C program, and so does
/// a division by zero.
class CExpressions {
public:
  /// `dimNames`: the C expression for each dim; those with a value are printed as that.
  CExpressions(const contract::Contract &contract, std::vector<std::string> dimNames)
      : contract(contract), dimNames(std::move(dimNames)) {}

  /// The expression `text` as C. `prefix` goes before each dim; `overflow` is the flag's address.
  std::string print(const std::string &text, const std::string &prefix,
                    const std::string &overflow);

  /// The larger and the smaller of two C expressions.
  std::string larger(const std::string &a, const std::string &b);
  std::string smaller(const std::string &a, const std::string &b);

  /// The C functions that what was printed so far calls.
  std::string functions() const;

private:
  const contract::Contract &contract;
  std::vector<std::string> dimNames;
  std::set<contract::Expression::Op> used;
};

/// The names of the C functions that expressions may call.
std::set<std::string> functionNames();

/// A 64-bit integer as a C constant.
std::string cInteger(int64_t value);

} // namespace eider::aot

#endif // EIDER_RUNTIME_AOT_CEXPRESSION_H
