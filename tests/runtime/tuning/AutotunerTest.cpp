//===- AutotunerTest.cpp - The fastest of several configurations ----------===//
//
// Part of FlashTile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// clearTuningResults() stands for the end of a process: what is found after it
// comes from the disk.
//
//===----------------------------------------------------------------------===//

#include "runtime/Autotuner.h"

#include "runtime/Jit.h"
#include "tests/runtime/ExpectError.h"
#include "tests/runtime/TemporaryFolder.h"

#include <atomic>
#include <chrono>
#include <gmock/gmock.h>
#include <thread>

using namespace flashtile;
using testing::HasSubstr;

namespace {
class AutotunerTest : public testing::Test {
protected:
  void SetUp() override {
    setenv("FLASHTILE_CACHE", "on", 1);
    setenv("FLASHTILE_CACHE_DIR", folder.file("").c_str(), 1);
    clearTuningResults();
    quick.timing.warmups = 2;
    quick.timing.groups = 3;
    quick.timing.groupMilliseconds = 0.1;
  }
  void TearDown() override {
    setenv("FLASHTILE_CACHE", "off", 1);
    unsetenv("FLASHTILE_CACHE_DIR");
    clearTuningResults();
  }

  /// Configurations that sleep for `micros` microseconds; -1 does not build, -2
  /// does not run.
  TuningProblem sleepers(const std::vector<int64_t> &micros) {
    TuningProblem problem;
    problem.key = "sleep";
    for (const int64_t time : micros)
      problem.configs.push_back({{"micros", time}});
    problem.build = [this](const TuningConfig &config) {
      ++built;
      const int64_t time = config.at("micros");
      if (time == -1)
        throw Error(ErrorCode::Compile, "no such tile");
      return [this, time] {
        ++launched;
        if (time == -2)
          throw Error(ErrorCode::Device, "too much shared memory");
        std::this_thread::sleep_for(std::chrono::microseconds(time));
      };
    };
    return problem;
  }

  std::string onlyFile() const {
    std::string path;
    for (const auto &entry :
         std::filesystem::directory_iterator(folder.file("")))
      path = entry.path().filename().string();
    return path;
  }

  TemporaryFolder folder;
  TuningOptions quick;
  std::atomic<int> built{0}, launched{0};
};
} // namespace

TEST_F(AutotunerTest, FindsTheFastest) {
  const TuningResult result =
      autotune(sleepers({20000, 500, 60000, 20000}), quick);
  EXPECT_EQ(result.best.at("micros"), 500);
  EXPECT_GE(result.milliseconds, 0.5);
  EXPECT_FALSE(result.fromCache);
  // The repeated one counts once.
  ASSERT_EQ(result.trials.size(), 3u);
  EXPECT_EQ(built, 3);
  EXPECT_EQ(result.trials[2].config.at("micros"), 60000);
  EXPECT_GE(result.trials[2].milliseconds, 60);
}

TEST_F(AutotunerTest, FailuresAreOutOfTheRace) {
  const TuningResult result = autotune(sleepers({-1, 1000, -2}), quick);
  EXPECT_EQ(result.best.at("micros"), 1000);
  EXPECT_EQ(result.trials[0].failure, "no such tile");
  EXPECT_EQ(result.trials[1].failure, "");
  EXPECT_EQ(result.trials[2].failure, "too much shared memory");
}

TEST_F(AutotunerTest, NoneWorksIsOneError) {
  for (int i = 0; i < 2; ++i) // and is not kept
    EXPECT_ERROR(Compile,
                 "no configuration of 'sleep' works on cpu:\n"
                 "  micros=-1: no such tile\n"
                 "  micros=-2: too much shared memory",
                 autotune(sleepers({-1, -2}), quick));
  EXPECT_EQ(built, 4);
  TuningProblem problem = sleepers({});
  EXPECT_ERROR(InvalidArgument, "expected a configuration or more",
               autotune(problem, quick));
  problem.configs.push_back({});
  problem.build = [](const TuningConfig &) { return nullptr; };
  EXPECT_ERROR(InvalidArgument, "nothing to launch was built",
               autotune(problem, quick));
}

TEST_F(AutotunerTest, ResultsAreKeptInTheProcessAndOnDisk) {
  const TuningResult first = autotune(sleepers({5000, 100}), quick);
  const int launches = launched;
  const TuningResult second = autotune(sleepers({5000, 100}), quick);
  clearTuningResults();
  const TuningResult third = autotune(sleepers({5000, 100}), quick);
  EXPECT_EQ(launched, launches);
  EXPECT_EQ(built, 2);
  for (const TuningResult *result : {&second, &third}) {
    EXPECT_TRUE(result->fromCache);
    EXPECT_EQ(result->best, first.best);
    EXPECT_EQ(result->milliseconds, first.milliseconds);
    EXPECT_EQ(result->trials.size(), 2u);
  }
  EXPECT_EQ(folder.size(), 1u);
}

TEST_F(AutotunerTest, OtherProblemsAreMeasured) {
  autotune(sleepers({200, 100}), quick);
  TuningProblem other = sleepers({200, 100});
  other.key = "sleep well";
  autotune(other, quick);
  autotune(sleepers({200, 100, 300}), quick);
  // As if the kernel had been written anew.
  TuningProblem changed = sleepers({200, 100});
  changed.program = "sleep in another way";
  EXPECT_FALSE(autotune(changed, quick).fromCache);
  EXPECT_TRUE(autotune(changed, quick).fromCache);
  TuningOptions again = quick;
  again.usesCache = false;
  EXPECT_FALSE(autotune(sleepers({200, 100}), again).fromCache);
  EXPECT_EQ(built, 2 + 2 + 3 + 2 + 2);
  EXPECT_EQ(folder.size(), 4u);
}

TEST_F(AutotunerTest, WithoutACacheFolder) {
  setenv("FLASHTILE_CACHE", "off", 1);
  autotune(sleepers({200, 100}), quick);
  EXPECT_TRUE(autotune(sleepers({200, 100}), quick).fromCache);
  clearTuningResults();
  EXPECT_FALSE(autotune(sleepers({200, 100}), quick).fromCache);
  EXPECT_EQ(folder.size(), 0u);
}

TEST_F(AutotunerTest, BrokenFilesAreMisses) {
  autotune(sleepers({200, 100}), quick);
  const std::string file = onlyFile();
  const std::string content = folder.read(file);
  std::string flipped = content;
  flipped[content.size() - 10] ^= 1;
  for (const std::string &broken :
       {std::string(), std::string("text"), flipped,
        content.substr(0, content.size() - 1), content + "x"}) {
    folder.write(file, broken);
    clearTuningResults();
    EXPECT_FALSE(autotune(sleepers({200, 100}), quick).fromCache);
    clearTuningResults();
    EXPECT_TRUE(autotune(sleepers({200, 100}), quick).fromCache);
  }
}

TEST_F(AutotunerTest, ThreadsThatAskForOneProblemMeasureItOnce) {
  const TuningProblem problem = sleepers({2000, 1000});
  std::vector<std::thread> threads;
  std::atomic<int> measured{0};
  for (int i = 0; i < 4; ++i)
    threads.emplace_back(
        [&] { measured += !autotune(problem, quick).fromCache; });
  for (std::thread &thread : threads)
    thread.join();
  EXPECT_EQ(measured, 1);
  EXPECT_EQ(built, 2);
}

/// With kernels: what does not compile is named by its diagnostic.
TEST_F(AutotunerTest, CompilesKernels) {
  const Tensor x = Tensor::zeros({64}, DType::F32);
  TuningProblem problem;
  problem.key = "fill";
  problem.configs = {{{"block", 16}}, {{"block", 64}}, {{"block", 1 << 21}}};
  problem.build = [&](const TuningConfig &config) {
    const std::string tile = std::to_string(config.at("block")) + "xf32";
    const std::string text = R"(
      tile.kernel @fill(%x: !tile.ptr<f32>) grid() -> (1) {
        %zero = arith.constant 0 : i64
        %one = arith.constant 1 : i64
        %n = arith.constant 64 : i64
        %v = arith.constant dense<1.0> : tensor<)" +
                             tile + R"(>
        %w = tile.make_block_ptr %x shape[%n] strides[%one] offsets[%zero]
            : !tile.ptr<f32> -> !tile.block_ptr<)" +
                             tile + R"(>
        tile.store %w, %v : !tile.block_ptr<)" +
                             tile + R"(>
        tile.return
      })";
    const Kernel kernel = Jit().compile(text).kernel();
    return [kernel, x] { kernel(x); };
  };
  const TuningResult result = autotune(problem, quick);
  EXPECT_EQ(result.trials[0].failure, "");
  EXPECT_EQ(result.trials[1].failure, "");
  EXPECT_THAT(result.trials[2].failure, HasSubstr("1048576"));
  EXPECT_EQ(x.at<float>({0}), 1);
}
