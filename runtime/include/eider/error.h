//===- eider/error.h - The one error type of the API ------------*- C++ -*-===//
//
// Part of Eider, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//
#ifndef EIDER_ERROR_H
#define EIDER_ERROR_H

#include <exception>
#include <string>
#include <utility>

namespace eider {

/// Who can mend it; the command line turns it into an exit status.
enum class ErrorKind {
  Request, ///< The request is wrong (exit status 2).
  Machine, ///< The machine lacks something: driver, NVRTC, compiler, disk (exit status 3).
  Internal ///< A defect of Eider (exit status 3).
};

/// The only exception that Eider throws: what is wrong, where, and what to do about it.
class __attribute__((visibility("default"))) Error : public std::exception {
public:
  Error(ErrorKind kind, std::string what, std::string where = "", std::string remedy = "")
      : kind_(kind), what_(std::move(what)), where_(std::move(where)), remedy_(std::move(remedy)) {
    line_ = where_.empty() ? what_ : where_ + ": " + what_;
    if (!remedy_.empty())
      line_ += "; " + remedy_;
    for (char &c : line_) // One line, whatever text of the user's is in it.
      if (static_cast<unsigned char>(c) < 32 || c == 127)
        c = ' ';
  }

  /// One line: `where: what; remedy`.
  const char *what() const noexcept override { return line_.c_str(); }
  ErrorKind kind() const noexcept { return kind_; }
  const std::string &where() const noexcept { return where_; }
  const std::string &remedy() const noexcept { return remedy_; }

private:
  ErrorKind kind_;
  std::string what_, where_, remedy_, line_;
};

} // namespace eider

#endif // EIDER_ERROR_H
