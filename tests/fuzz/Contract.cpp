//===- tests/fuzz/Contract.cpp --------------------------------------------===//
//
// Part of Eider, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//
#include "runtime/contract/Contract.h"
#include "tests/fuzz/Targets.h"

#include "eider/error.h"

namespace eider::fuzz {

void contract(std::string_view bytes) {
  std::string text;
  try {
    text = eider::contract::write(eider::contract::read(bytes));
  } catch (const Error &) {
    return;
  }
  if (eider::contract::write(eider::contract::read(text)) != text)
    defect("a contract changes when it is written and read");
}

} // namespace eider::fuzz
