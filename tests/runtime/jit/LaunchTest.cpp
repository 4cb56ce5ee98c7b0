//===- LaunchTest.cpp - Kernels run and give the right numbers ------------===//
//
// Part of FlashTile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/Jit.h"
#include "runtime/ThreadPool.h"
#include "tests/runtime/ExpectError.h"
#include "tests/runtime/jit/Kernels.h"

#include <atomic>
#include <thread>

using namespace flashtile;
using namespace flashtile::testkernels;

TEST(LaunchTest, VectorAddWithRaggedEnd) {
  const Kernel add = Jit().compile(vectorAdd).kernel();
  for (int64_t n : {1, 63, 64, 65, 1000, 4096}) {
    const Tensor x = Tensor::randn({n}, DType::F32, 1);
    const Tensor y = Tensor::randn({n}, DType::F32, 2);
    // One element more than the kernel may write.
    const Tensor z = Tensor::full({n + 1}, -7.0, DType::F32);
    add.launch({{"x", x}, {"y", y}, {"z", z}, {"n", n}});
    for (int64_t i = 0; i < n; ++i)
      ASSERT_EQ(z.at<float>({i}), x.at<float>({i}) + y.at<float>({i}))
          << "element " << i << " of " << n;
    EXPECT_EQ(z.at<float>({n}), -7.0f);
  }
}

TEST(LaunchTest, LoopsAndReductions) {
  const Kernel sum = Jit().compile(rowSum).kernel("row_sum");
  for (int64_t columns : {0, 1, 31, 32, 100}) {
    const Tensor x = Tensor::uniform({5, 128}, DType::F32, 3);
    const Tensor y = Tensor::full({5}, -1.0, DType::F32);
    sum(x, y, 5, columns, x.stride(0));
    for (int64_t row = 0; row < 5; ++row) {
      double expected = 0;
      for (int64_t column = 0; column < columns; ++column)
        expected += x.at<float>({row, column});
      EXPECT_NEAR(y.at<float>({row}), expected, 1e-5 * columns);
    }
  }
}

TEST(LaunchTest, NamesComeInAnyOrder) {
  const Kernel add = Jit().compile(vectorAdd).kernel();
  const Tensor x = Tensor::full({10}, 1.0, DType::F32);
  const Tensor z = Tensor::zeros({10}, DType::F32);
  add.launch({{"n", 10}, {"z", z}, {"y", x}, {"x", x}});
  EXPECT_EQ(z.toVector<float>(), std::vector<float>(10, 2.0f));
  const std::vector<NamedArgument> list = {
      {"y", z}, {"n", uint8_t(10)}, {"z", z}, {"x", x}};
  add.launch(list);
  EXPECT_EQ(z.toVector<float>(), std::vector<float>(10, 3.0f));
}

TEST(LaunchTest, TakesPointersAndTemporaries) {
  const Kernel add = Jit().compile(vectorAdd).kernel();
  const std::vector<float> x(70, 2.0f);
  std::vector<float> z(70);
  add(x.data(), Tensor::full({70}, 0.5, DType::F32), z.data(), 70);
  EXPECT_EQ(z, std::vector<float>(70, 2.5f));
  void *untyped = z.data();
  add(untyped, x.data(), untyped, 70);
  EXPECT_EQ(z, std::vector<float>(70, 4.5f));
}

TEST(LaunchTest, ScalarsArriveUnchanged) {
  const Kernel kernel = Jit().compile(scalars).kernel();
  const Tensor ints = Tensor::zeros({5}, DType::I64);
  const Tensor reals = Tensor::zeros({2}, DType::F64);
  kernel(true, -128, -32768, INT32_MIN, INT64_MIN, 0.1, 0.1, ints, reals);
  EXPECT_EQ(ints.toVector<int64_t>(),
            (std::vector<int64_t>{1, -128, -32768, INT32_MIN, INT64_MIN}));
  EXPECT_EQ(reals.toVector<double>(), (std::vector<double>{double(0.1f), 0.1}));
  kernel(0, 127, 32767, INT32_MAX, INT64_MAX, -INFINITY, 3, ints, reals);
  EXPECT_EQ(ints.toVector<int64_t>(),
            (std::vector<int64_t>{0, 127, 32767, INT32_MAX, INT64_MAX}));
  EXPECT_EQ(reals.toVector<double>(), (std::vector<double>{-INFINITY, 3}));
}

TEST(LaunchTest, EveryProgramRunsOnce) {
  const Kernel count = Jit().compile(countPrograms).kernel();
  for (const Shape &grid : {Shape{1, 1, 1}, Shape{7, 1, 1}, Shape{1, 9, 1},
                            Shape{3, 5, 11}, Shape{2, 1, 301}}) {
    const int64_t programs = grid[0] * grid[1] * grid[2];
    const Tensor out = Tensor::zeros({programs}, DType::I32);
    count(out, grid[0], grid[1], grid[2]);
    EXPECT_EQ(out.toVector<int32_t>(), std::vector<int32_t>(programs, 1));
  }
}

TEST(LaunchTest, EmptyGridRunsNothing) {
  const Kernel add = Jit().compile(vectorAdd).kernel();
  const Tensor none = Tensor::empty({0}, DType::F32);
  add(none, none, none, 0);
  add(nullptr, nullptr, nullptr, 0);
  const Kernel count = Jit().compile(countPrograms).kernel();
  count(nullptr, int64_t(1) << 30, 0, int64_t(1) << 30);
}

TEST(LaunchTest, NoArguments) {
  const Kernel kernel = Jit().compile(nothing).kernel();
  EXPECT_TRUE(kernel.arguments().empty());
  kernel();
  kernel.launch({});
  EXPECT_EQ(kernel.grid({}), (Kernel::Grid{1, 1, 1}));
}

TEST(LaunchTest, GridNeedsItsIntegersOnly) {
  const Kernel add = Jit().compile(vectorAdd).kernel();
  EXPECT_EQ(add.grid({{"n", 129}}), (Kernel::Grid{3, 1, 1}));
  const Kernel sum = Jit().compile(rowSum).kernel();
  EXPECT_EQ(sum.grid({{"rows", 12}}), (Kernel::Grid{12, 1, 1}));
}

TEST(LaunchTest, CountsWritesOfWhatItMayStoreTo) {
  const Kernel add = Jit().compile(vectorAdd).kernel();
  const Tensor x = Tensor::zeros({8}, DType::F32);
  const Tensor z = Tensor::zeros({8}, DType::F32);
  const uint64_t xVersion = x.version(), zVersion = z.version();
  add(x, x, z, 8);
  EXPECT_EQ(x.version(), xVersion);
  EXPECT_EQ(z.version(), zVersion + 1);
  add(x, x, z, 0);
  EXPECT_EQ(z.version(), zVersion + 1) << "an empty grid writes nothing";
  EXPECT_ANY_THROW(add(x, x, z, -64));
  EXPECT_EQ(z.version(), zVersion + 1);
}

TEST(LaunchTest, FollowsPointersThroughLoops) {
  // Pointers a and b change places in the loop, so both may be stored to.
  const Kernel kernel = Jit()
                            .compile(R"(
    tile.kernel @swap(%a: !tile.ptr<f32>, %b: !tile.ptr<f32>,
                      %c: !tile.ptr<f32>, %n: i32) grid(n) -> (1) {
      %zero = arith.constant 0 : i32
      %one = arith.constant 1 : i32
      %r:2 = scf.for %i = %zero to %n step %one
          iter_args(%p = %a, %q = %b)
          -> (!tile.ptr<f32>, !tile.ptr<f32>) : i32 {
        scf.yield %q, %p : !tile.ptr<f32>, !tile.ptr<f32>
      }
      %from = tile.splat %c : !tile.ptr<f32> -> tensor<1x!tile.ptr<f32>>
      %v = tile.load %from : tensor<1x!tile.ptr<f32>>
      %to = tile.splat %r#0 : !tile.ptr<f32> -> tensor<1x!tile.ptr<f32>>
      tile.store %to, %v : tensor<1x!tile.ptr<f32>>
      tile.return
    })")
                            .kernel();
  EXPECT_TRUE(kernel.arguments()[0].isWritten);
  EXPECT_TRUE(kernel.arguments()[1].isWritten);
  EXPECT_FALSE(kernel.arguments()[2].isWritten);
  const Tensor a = Tensor::zeros({1}, DType::F32);
  const Tensor b = Tensor::zeros({1}, DType::F32);
  kernel(a, b, Tensor::full({1}, 5.0, DType::F32), 3);
  EXPECT_EQ(a.item<float>(), 0.0f);
  EXPECT_EQ(b.item<float>(), 5.0f);
}

TEST(LaunchTest, ManyThreadsLaunchAtOnce) {
  const Kernel add = Jit().compile(vectorAdd).kernel();
  std::atomic<int> wrong{0};
  std::vector<std::thread> threads;
  for (int t = 0; t < 8; ++t)
    threads.emplace_back([&, t] {
      const Tensor x = Tensor::full({500 + t}, double(t), DType::F32);
      for (int round = 0; round < 50; ++round) {
        const Tensor z = Tensor::zeros({500 + t}, DType::F32);
        add(x, x, z, 500 + t);
        wrong += z.toVector<float>() != std::vector<float>(500 + t, 2.0f * t);
      }
    });
  for (std::thread &thread : threads)
    thread.join();
  EXPECT_EQ(wrong, 0);
}

TEST(LaunchTest, KernelOutlivesJitAndModule) {
  std::vector<Kernel> kernels;
  {
    const Jit jit;
    kernels.push_back(jit.compile(vectorAdd).kernel());
  }
  Jit::clearCache();
  const Tensor x = Tensor::full({3}, 1.0, DType::F32);
  kernels[0](x, x, x, 3);
  EXPECT_EQ(x.toVector<float>(), std::vector<float>(3, 2.0f));
}

TEST(LaunchTest, FortyArguments) {
  std::string parameters, names;
  std::vector<NamedArgument> list;
  std::vector<std::string> owned(39);
  const Tensor out = Tensor::zeros({1}, DType::I64);
  for (size_t i = 0; i < owned.size(); ++i) {
    owned[i] = "n" + std::to_string(i);
    parameters += "%" + owned[i] + ": i64, ";
    names += (i ? ", " : "") + owned[i];
    list.push_back({owned[i], i});
  }
  const Kernel kernel =
      Jit()
          .compile("tile.kernel @forty(" + parameters +
                   "%out: !tile.ptr<i64>) grid(" + names + R"() -> (n1) {
    %to = tile.splat %out : !tile.ptr<i64> -> tensor<1x!tile.ptr<i64>>
    %v = tile.splat %n38 : i64 -> tensor<1xi64>
    tile.store %to, %v : tensor<1x!tile.ptr<i64>>
    tile.return
  })")
          .kernel();
  list.push_back({"out", out});
  kernel.launch(list);
  EXPECT_EQ(out.item<int64_t>(), 38);
}

TEST(LaunchTest, LaunchesInsideOfAParallelLoop) {
  const Kernel add = Jit().compile(vectorAdd).kernel();
  const Tensor x = Tensor::full({20, 300}, 1.0, DType::F32);
  ThreadPool::global().parallelFor(20, [&](int64_t row, unsigned) {
    const Tensor mine = x.select(0, row);
    add(mine, mine, mine, 300);
  });
  EXPECT_EQ(x.toVector<float>(), std::vector<float>(6000, 2.0f));
}
