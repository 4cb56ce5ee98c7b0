//===- CallbacksTest.cpp - Assertions and output of running kernels -------===//
//
// Part of FlashTile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/Jit.h"
#include "tests/runtime/ExpectError.h"
#include "tests/runtime/jit/Kernels.h"

#include <algorithm>
#include <sstream>
#include <thread>

using namespace flashtile;
using namespace flashtile::testkernels;

static std::vector<std::string> sortedLines(const std::string &text) {
  std::vector<std::string> lines;
  std::istringstream stream(text);
  for (std::string line; std::getline(stream, line);)
    lines.push_back(line);
  std::sort(lines.begin(), lines.end());
  return lines;
}

TEST(AssertTest, StopsTheProgramAndTheLaunch) {
  const Kernel kernel = Jit().compile(failing, "failing.mlir").kernel();
  const Tensor out = Tensor::zeros({100}, DType::I32);
  EXPECT_ERROR(Assertion,
               "assertion failed in program (42, 0, 0) of kernel 'failing': "
               "failing.mlir:6: not this program",
               kernel(out, 100, 42));
  EXPECT_EQ(out.at<int32_t>({42}), 0) << "the program went on";
}

TEST(AssertTest, ProcessStaysUsable) {
  const Kernel kernel = Jit().compile(failing).kernel();
  const Tensor out = Tensor::zeros({100}, DType::I32);
  for (int round = 0; round < 200; ++round)
    EXPECT_ERROR(Assertion, "not this program", kernel(out, 100, round % 100));
  kernel(out, 100, -1);
  EXPECT_EQ(out.toVector<int32_t>(), std::vector<int32_t>(100, 1));
}

TEST(AssertTest, FailsOnManyThreadsAtOnce) {
  const Kernel kernel = Jit().compile(failing).kernel();
  std::vector<std::thread> threads;
  for (int t = 0; t < 6; ++t)
    threads.emplace_back([&, t] {
      const Tensor out = Tensor::zeros({64}, DType::I32);
      for (int round = 0; round < 50; ++round)
        EXPECT_ERROR(Assertion, "program (" + std::to_string(t) + ", 0, 0)",
                     kernel(out, 64, t));
    });
  for (std::thread &thread : threads)
    thread.join();
}

TEST(AssertTest, OfATile) {
  const Kernel kernel = Jit()
                            .compile(R"(
    tile.kernel @tile(%n: i32) grid(n) -> (1) {
      %lane = tile.arange 0 to 8 : tensor<8xi32>
      %limit = tile.splat %n : i32 -> tensor<8xi32>
      %small = arith.cmpi slt, %lane, %limit : tensor<8xi32>
      tile.assert %small, "n must be 8 or more" : tensor<8xi1>
      tile.return
    })")
                            .kernel();
  kernel(8);
  EXPECT_ERROR(Assertion, "n must be 8 or more", kernel(7));
}

TEST(PrintTest, OneLineForEachValue) {
  const Kernel kernel = Jit()
                            .compile(R"(
    tile.kernel @print(%n: i32, %x: f32, %y: f64, %b: i1) grid(n, b) -> (1) {
      %lane = tile.arange 0 to 4 : tensor<4xi32>
      tile.print "values", %lane, %n, %x, %y, %b
          : tensor<4xi32>, i32, f32, f64, i1
      tile.print "only text"
      tile.return
    })")
                            .kernel();
  testing::internal::CaptureStderr();
  kernel(-5, 0.1f, 0.1, true);
  EXPECT_EQ(testing::internal::GetCapturedStderr(),
            "values (0, 0, 0) tensor<4xi32>: 0, 1, 2, 3\n"
            "values (0, 0, 0) i32: -5\n"
            "values (0, 0, 0) f32: 0.1\n"
            "values (0, 0, 0) f64: 0.1\n"
            "values (0, 0, 0) i1: 1\n"
            "only text (0, 0, 0)\n");
}

TEST(PrintTest, LinesOfProgramsAreNotMixed) {
  const Kernel kernel = Jit()
                            .compile(R"(
    tile.kernel @print(%n: i32) grid(n) -> (2, n) {
      %y = tile.program_id y
      %lane = tile.arange 0 to 2000 : tensor<2000xi32>
      tile.print "at", %lane, %y : tensor<2000xi32>, i32
      tile.return
    })")
                            .kernel();
  std::string numbers = "0";
  for (int i = 1; i < 2000; ++i)
    numbers += ", " + std::to_string(i);
  std::vector<std::string> expected;
  for (int x = 0; x < 2; ++x)
    for (int y = 0; y < 40; ++y) {
      const std::string start =
          "at (" + std::to_string(x) + ", " + std::to_string(y) + ", 0) ";
      expected.push_back(start + "tensor<2000xi32>: " + numbers);
      expected.push_back(start + "i32: " + std::to_string(y));
    }
  std::sort(expected.begin(), expected.end());
  testing::internal::CaptureStderr();
  kernel(40);
  EXPECT_EQ(sortedLines(testing::internal::GetCapturedStderr()), expected);
}
