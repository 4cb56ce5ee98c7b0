//===- ExpectError.h - Assertions about errors ----------------------------===//
//
// Part of FlashTile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef FLASHTILE_TESTS_RUNTIME_EXPECTERROR_H
#define FLASHTILE_TESTS_RUNTIME_EXPECTERROR_H

#include "compiler/Support/Error.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace flashtile {

/// Fails unless `call` throws an Error with this code and a message that
/// contains `part`.
template <typename Call>
void expectError(const char *file, int line, ErrorCode code,
                 const std::string &part, Call call) {
  testing::ScopedTrace trace(file, line, "EXPECT_ERROR");
  try {
    call();
    ADD_FAILURE() << "expected an error with '" << part << "'";
  } catch (const Error &error) {
    EXPECT_STREQ(errorCodeName(error.code()), errorCodeName(code));
    EXPECT_THAT(error.what(), testing::HasSubstr(part));
  }
}

} // namespace flashtile

/// The statement comes last, as it may have commas.
#define EXPECT_ERROR(code, part, ...)                                          \
  ::flashtile::expectError(__FILE__, __LINE__, ::flashtile::ErrorCode::code,   \
                           part, [&] { (void)(__VA_ARGS__); })

#endif // FLASHTILE_TESTS_RUNTIME_EXPECTERROR_H
