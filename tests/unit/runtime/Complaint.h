//===- tests/unit/runtime/Complaint.h - What an error says ------*- C++ -*-===//
//
// Part of Eider, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//
#ifndef EIDER_TESTS_UNIT_RUNTIME_COMPLAINT_H
#define EIDER_TESTS_UNIT_RUNTIME_COMPLAINT_H

#include "eider/error.h"

#include <gtest/gtest.h>
#include <string>

namespace eider {

/// What the error of `action` says; empty: it threw none.
template <typename Action> std::string complaint(Action action) {
  try {
    action();
  } catch (const Error &error) {
    return error.what();
  }
  return "";
}

inline void expectComplaint(const std::string &found, const std::string &part) {
  EXPECT_NE(found.find(part), std::string::npos) << "said: " << found;
}

} // namespace eider

#endif // EIDER_TESTS_UNIT_RUNTIME_COMPLAINT_H
