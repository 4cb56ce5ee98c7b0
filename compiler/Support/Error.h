//===- Error.h - The one family of exceptions -----------------------------===//
//
// Part of FlashTile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Every failure that a user can meet is a flashtile::Error: a code for the
// program, a sentence for the person, and where it happened. Code built on
// LLVM (which is compiled without exceptions) collects diagnostics and throws
// only at the edge of the public API.
//
//===----------------------------------------------------------------------===//

#ifndef FLASHTILE_COMPILER_SUPPORT_ERROR_H
#define FLASHTILE_COMPILER_SUPPORT_ERROR_H

#include <exception>
#include <string>
#include <utility>

namespace flashtile {

enum class ErrorCode {
  InvalidArgument, ///< a value or shape the callee cannot accept
  NotFound,        ///< a file, kernel, argument or device that does not exist
  Io,              ///< reading or writing failed
  Compile,         ///< the kernel is wrong; the message holds the diagnostics
  Unsupported,     ///< valid, but not available on this target
  OutOfMemory,     ///< host or device memory is exhausted
  Device,          ///< the device or its driver reported an error
  Assertion,       ///< a `tile.assert` of a running kernel failed
  Internal,        ///< a fault of FlashTile itself
};

/// "invalid argument", "not found", ...
inline const char *errorCodeName(ErrorCode code) {
  switch (code) {
  case ErrorCode::InvalidArgument:
    return "invalid argument";
  case ErrorCode::NotFound:
    return "not found";
  case ErrorCode::Io:
    return "i/o error";
  case ErrorCode::Compile:
    return "compile error";
  case ErrorCode::Unsupported:
    return "unsupported";
  case ErrorCode::OutOfMemory:
    return "out of memory";
  case ErrorCode::Device:
    return "device error";
  case ErrorCode::Assertion:
    return "assertion failed";
  case ErrorCode::Internal:
    return "internal error";
  }
  return "error";
}

/// A place in the user's C++ source. As a default argument,
/// SourceLocation::current() names the caller.
struct SourceLocation {
  const char *file = "";
  unsigned line = 0;

  static constexpr SourceLocation current(const char *file = __builtin_FILE(),
                                          unsigned line = __builtin_LINE()) {
    return {file, line};
  }
};

class Error : public std::exception {
public:
  Error(ErrorCode code, std::string message, SourceLocation location = {})
      : errorCode(code), sourceLocation(location), text(std::move(message)) {
    if (location.line)
      text = std::string(location.file) + ":" + std::to_string(location.line) +
             ": " + text;
  }

  ErrorCode code() const { return errorCode; }
  /// The place that the error speaks of; line 0 where there is none.
  SourceLocation location() const { return sourceLocation; }
  const char *what() const noexcept override { return text.c_str(); }

private:
  ErrorCode errorCode;
  SourceLocation sourceLocation;
  std::string text;
};

} // namespace flashtile

#endif // FLASHTILE_COMPILER_SUPPORT_ERROR_H
