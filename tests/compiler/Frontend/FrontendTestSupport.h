//===- FrontendTestSupport.h - Expectations on kernels and errors ---------===//
//-----------===//
//
// Part of FlashTile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef FLASHTILE_TESTS_COMPILER_FRONTEND_FRONTENDTESTSUPPORT_H
#define FLASHTILE_TESTS_COMPILER_FRONTEND_FRONTENDTESTSUPPORT_H

#include "compiler/Frontend/Dsl.h"

#include "gmock/gmock.h"
#include "gtest/gtest.h"

/// Expects a flashtile::Error of code Compile that speaks of this very line.
#define EXPECT_COMPILE_ERROR(statement, words)                                 \
  do {                                                                         \
    try {                                                                      \
      (void)(statement);                                                       \
      ADD_FAILURE() << "expected an error: " << (words);                       \
    } catch (const flashtile::Error &error) {                                  \
      EXPECT_EQ(error.code(), flashtile::ErrorCode::Compile) << error.what();  \
      EXPECT_EQ(error.location().line, unsigned(__LINE__)) << error.what();    \
      EXPECT_STREQ(error.location().file, __FILE__);                           \
      EXPECT_THAT(error.what(), testing::HasSubstr(words));                    \
    }                                                                          \
  } while (false)

namespace flashtile::dsl {

/// A kernel with one argument of each kind that tests need.
struct TestKernel {
  KernelBuilder builder{"k"};
  Value pointer = builder.pointer("p", ElementType::F32);
  Value halfPointer = builder.pointer("h", ElementType::F16);
  Value n = builder.i32("n");
  Value wide = builder.i64("w");
  Value x = builder.f32("x");
  Value flag = builder.scalar("flag", ElementType::I1);
  Value tile = zeros({16, 32}, ElementType::F32);
  Value row = full({32}, 1.0, ElementType::F32);
  Value index = arange(0, 32);
  Value mask = index < n;
  Value window = makeBlockPtr(pointer, {n, 32}, {32, 1}, {0, 0}, {16, 32});

  std::string text() { return builder.build().text(); }
};

} // namespace flashtile::dsl

#endif // FLASHTILE_TESTS_COMPILER_FRONTEND_FRONTENDTESTSUPPORT_H
