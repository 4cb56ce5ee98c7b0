//===- LaunchErrorsTest.cpp - Wrong launches say what is wrong ------------===//
//
// Part of FlashTile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/Jit.h"
#include "tests/runtime/ExpectError.h"
#include "tests/runtime/jit/Kernels.h"

using namespace flashtile;
using namespace flashtile::testkernels;

namespace {

class LaunchErrorsTest : public testing::Test {
protected:
  const Kernel add = Jit().compile(vectorAdd).kernel();
  const Kernel many = Jit().compile(scalars).kernel();
  const Tensor x = Tensor::zeros({4}, DType::F32);
  const Tensor i = Tensor::zeros({5}, DType::I64);
  const Tensor r = Tensor::zeros({2}, DType::F64);
};

} // namespace

TEST_F(LaunchErrorsTest, NamesAllThatIsWrongWithNames) {
  EXPECT_ERROR(
      InvalidArgument,
      "unknown argument 'Z' (did you mean 'z'?), argument 'x' given twice, "
      "missing argument 'y', missing argument 'z'; kernel vector_add(x: "
      "ptr<f32>, y: ptr<f32>, z: ptr<f32>, n: i32)",
      add.launch({{"x", x}, {"Z", x}, {"x", x}, {"n", 4}}));
  EXPECT_ERROR(InvalidArgument, "missing argument 'n'; kernel",
               add.launch({{"x", x}, {"y", x}, {"z", x}}));
  EXPECT_ERROR(
      InvalidArgument, "unknown argument 'count'; kernel",
      add.launch({{"x", x}, {"y", x}, {"z", x}, {"n", 4}, {"count", 4}}));
  EXPECT_ERROR(InvalidArgument, "missing argument 'n'; kernel",
               add.grid({{"x", x}}));
}

TEST_F(LaunchErrorsTest, CountsPositionalArguments) {
  EXPECT_ERROR(InvalidArgument,
               "expected 4 arguments, but got 3, for kernel vector_add(x: ",
               add(x, x, x));
  EXPECT_ERROR(InvalidArgument, "expected 4 arguments, but got 0", add());
}

TEST_F(LaunchErrorsTest, TensorsMustMatch) {
  EXPECT_ERROR(InvalidArgument,
               "kernel 'vector_add': expected argument 'y' to be ptr<f32>, but "
               "got a tensor bf16[4] on cpu",
               add(x, x.to(DType::BF16), x, 4));
  EXPECT_ERROR(InvalidArgument,
               "expected argument 'z' to be ptr<f32>, but got an undefined "
               "tensor; pass nullptr for a null pointer",
               add(x, x, Tensor(), 4));
  EXPECT_ERROR(InvalidArgument,
               "expected argument 'x' to be ptr<f32>, but got 4",
               add(4, x, x, 4));
  EXPECT_ERROR(
      InvalidArgument,
      "expected argument 'n' to be i32, but got a tensor f32[4] on cpu",
      add(x, x, x, x));
}

TEST_F(LaunchErrorsTest, IntegersMustFit) {
  EXPECT_ERROR(InvalidArgument,
               "expected argument 'n' to be i32, but got 2147483648, which is "
               "out of range: i32 holds -2147483648 to 2147483647",
               add(x, x, x, int64_t(1) << 31));
  EXPECT_ERROR(InvalidArgument,
               "expected argument 'flag' to be i1, but got 2, which is out of "
               "range: i1 holds 0 to 1",
               many(2, 0, 0, 0, 0, 0, 0, i, r));
  EXPECT_ERROR(InvalidArgument,
               "'a' to be i8, but got 128, which is out of range: i8 holds "
               "-128 to 127",
               many(1, 128, 0, 0, 0, 0, 0, i, r));
  EXPECT_ERROR(
      InvalidArgument,
      "'b' to be i16, but got -32769, which is out of range: i16 holds "
      "-32768 to 32767",
      many(1, 0, -32769, 0, 0, 0, 0, i, r));
  EXPECT_ERROR(InvalidArgument,
               "'d' to be i64, but got 9223372036854775808, which is out of "
               "range: i64 holds -9223372036854775808 to 9223372036854775807",
               many(1, 0, 0, 0, uint64_t(1) << 63, 0, 0, i, r));
  EXPECT_ERROR(InvalidArgument, "expected argument 'n' to be i32, but got 4.5",
               add(x, x, x, 4.5));
  EXPECT_ERROR(InvalidArgument, "expected argument 'n' to be i32, but got true",
               add(x, x, x, true));
  EXPECT_ERROR(InvalidArgument,
               "expected argument 'n' to be i32, but got nullptr",
               add(x, x, x, nullptr));
}

TEST_F(LaunchErrorsTest, FloatsMustFit) {
  EXPECT_ERROR(InvalidArgument,
               "'e' to be f32, but got 1e+300, which is out of range: it "
               "becomes infinite as f32",
               many(1, 0, 0, 0, 0, 1e300, 0, i, r));
  EXPECT_ERROR(InvalidArgument,
               "'e' to be f32, but got 16777217, which is out of range: f32 "
               "does not hold it exactly",
               many(1, 0, 0, 0, 0, 16777217, 0, i, r));
  EXPECT_ERROR(InvalidArgument,
               "'f' to be f64, but got 9223372036854775807, which is out of "
               "range: f64 does not hold it exactly",
               many(1, 0, 0, 0, 0, 0, INT64_MAX, i, r));
  EXPECT_ERROR(InvalidArgument,
               "expected argument 'e' to be f32, but got false",
               many(1, 0, 0, 0, 0, false, 0, i, r));
}

TEST_F(LaunchErrorsTest, GridExtents) {
  EXPECT_ERROR(InvalidArgument,
               "kernel 'vector_add': expected extent x of the grid, n ceildiv "
               "64, to be 0 to "
               "2147483647, but it is -2 for n = -128",
               add(x, x, x, -128));
  const Kernel count = Jit().compile(countPrograms).kernel();
  EXPECT_ERROR(
      InvalidArgument,
      "expected extent z of the grid, gz, to be 0 to 2147483647, but it "
      "is 2147483648 for gz = 2147483648",
      count(nullptr, 1, 1, int64_t(1) << 31));
  EXPECT_ERROR(InvalidArgument,
               "programs, but got 2147483647 x 2147483647 x 2147483647",
               count(nullptr, INT32_MAX, INT32_MAX, INT32_MAX));
  const Kernel large = Jit()
                           .compile(R"(
    tile.kernel @large(%n: i64) grid(n) -> (n * 4) {
      tile.return
    })")
                           .kernel();
  EXPECT_ERROR(
      InvalidArgument,
      "extent x of the grid, n * 4, to be 0 to 2147483647, but it does not fit "
      "64 bits or divides by zero for n = 9223372036854775807",
      large(INT64_MAX));
}

TEST_F(LaunchErrorsTest, NothingRanAndTheKernelStillWorks) {
  const Tensor z = Tensor::full({4}, 9.0, DType::F32);
  EXPECT_ANY_THROW(add(x, x, z, -64));
  EXPECT_EQ(z.toVector<float>(), std::vector<float>(4, 9.0f));
  add(x, x, z, 4);
  EXPECT_EQ(z.toVector<float>(), std::vector<float>(4, 0.0f));
}
