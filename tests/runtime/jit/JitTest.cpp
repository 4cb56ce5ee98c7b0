//===- JitTest.cpp - Compiling in the process -----------------------------===//
//
// Part of FlashTile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/Jit.h"
#include "compiler/Frontend/Dsl.h"
#include "tests/runtime/ExpectError.h"
#include "tests/runtime/TemporaryFolder.h"
#include "tests/runtime/jit/Kernels.h"

#include <atomic>
#include <thread>

using namespace flashtile;
using namespace flashtile::testkernels;

namespace {

/// Sets an environment variable for a scope.
class ScopedVariable {
public:
  ScopedVariable(const char *name, const std::string &value) : name(name) {
    setenv(name, value.c_str(), 1);
  }
  ~ScopedVariable() { unsetenv(name); }

private:
  const char *name;
};

} // namespace

/// Kernels share code iff their argument lists are the same object.
static bool sameCode(const Kernel &a, const Kernel &b) {
  return &a.arguments() == &b.arguments();
}

static std::string renamed(const std::string &name) {
  return "tile.kernel @" + name + "() grid() -> (1) { tile.return }";
}

TEST(JitTest, DescribesKernels) {
  const Module module = Jit().compile(std::string(vectorAdd) + rowSum);
  ASSERT_EQ(module.kernels().size(), 2u);
  const Kernel &sum = module.kernel("row_sum");
  EXPECT_EQ(sum.name(), "row_sum");
  EXPECT_EQ(sum.signature(), "row_sum(x: ptr<f32>, y: ptr<f32>, rows: i32, "
                             "columns: i32, stride: i64)");
  ASSERT_EQ(sum.arguments().size(), 5u);
  EXPECT_FALSE(sum.arguments()[0].isWritten);
  EXPECT_TRUE(sum.arguments()[1].isWritten);
  EXPECT_ERROR(NotFound,
               "no kernel 'row_sums' (did you mean 'row_sum'?); the module has "
               "'vector_add', 'row_sum'",
               module.kernel("row_sums"));
  EXPECT_ERROR(InvalidArgument,
               "expected a module of one kernel, but it has 'vector_add', "
               "'row_sum'",
               module.kernel());
}

TEST(JitTest, DiagnosticsHaveTheirPlace) {
  EXPECT_ERROR(Compile, "broken.mlir:2:",
               Jit().compile("\ntile.kernel @x( {", "broken.mlir"));
  EXPECT_ERROR(Compile, "expected at least one 'tile.kernel'",
               Jit().compile(""));
}

TEST(JitTest, AFailureIsNotKept) {
  const std::string text = "tile.kernel @x( {";
  for (int round = 0; round < 3; ++round)
    EXPECT_ERROR(Compile, "kernel.mlir:1:", Jit().compile(text));
}

TEST(JitTest, UnknownTargets) {
  CompilerOptions options;
  options.target = "sm_90a";
  EXPECT_ERROR(InvalidArgument,
               "expected target 'cpu' for device cpu, but got 'sm_90a'",
               Jit(Device::cpu(), options));
  options.target = "cpu";
  options.cpu = "z80";
  EXPECT_ERROR(Compile, "z80", Jit(Device::cpu(), options).compile(nothing));
}

TEST(JitTest, TheSameTextIsCompiledOnce) {
  Jit::clearCache();
  const Kernel first = Jit().compile(vectorAdd).kernel();
  EXPECT_TRUE(sameCode(first, Jit().compile(vectorAdd).kernel()));
  EXPECT_FALSE(sameCode(first, Jit().compile(vectorAdd, "other").kernel()));
  CompilerOptions options;
  options.verifyEach = true;
  EXPECT_FALSE(
      sameCode(first, Jit(Device::cpu(), options).compile(vectorAdd).kernel()));
  Jit::clearCache();
  EXPECT_FALSE(sameCode(first, Jit().compile(vectorAdd).kernel()));
}

TEST(JitTest, ManyThreadsCompileAtOnce) {
  Jit::clearCache();
  const Jit jit;
  std::vector<std::vector<Kernel>> kernels(6);
  std::atomic<int> errors{0};
  std::vector<std::thread> threads;
  for (std::vector<Kernel> &mine : kernels)
    threads.emplace_back([&] {
      for (int i = 0; i < 5; ++i) {
        mine.push_back(jit.compile(renamed("k" + std::to_string(i))).kernel());
        mine.back()();
        try {
          jit.compile("tile.kernel @broken");
        } catch (const Error &) {
          ++errors;
        }
      }
    });
  for (std::thread &thread : threads)
    thread.join();
  EXPECT_EQ(errors, 30);
  for (const std::vector<Kernel> &mine : kernels)
    for (size_t i = 0; i < mine.size(); ++i)
      EXPECT_TRUE(sameCode(mine[i], kernels[0][i]));
}

TEST(JitTest, LoadsFiles) {
  const TemporaryFolder folder;
  folder.write("add.mlir", vectorAdd);
  EXPECT_EQ(Jit().load(folder.file("add.mlir")).kernel().name(), "vector_add");
  EXPECT_ERROR(Io,
               "cannot read '" + folder.file("no.mlir") +
                   "': No such file or directory",
               Jit().load(folder.file("no.mlir")));
  EXPECT_ERROR(Io, "Is a directory", Jit().load(folder.file("")));
  folder.write("bad.mlir", "what");
  EXPECT_ERROR(Compile, folder.file("bad.mlir") + ":1:1: error: ",
               Jit().load(folder.file("bad.mlir")));
}

TEST(JitTest, CompilesTheKernelDsl) {
  using namespace flashtile::dsl;
  KernelBuilder builder("twice");
  Value x = builder.pointer("x", f32), n = builder.i32("n");
  builder.grid({ceilDiv(n, 16)});
  Value window = makeBlockPtr(x, {n}, {1}, {programId(0) * 16}, {16});
  store(window, load(window) * 2.0);
  const Kernel twice = Jit().compile(builder.build()).kernel("twice");
  const Tensor values = Tensor::full({21}, 1.5, DType::F32);
  twice.launch({{"x", values}, {"n", 20}});
  EXPECT_EQ(values.at<float>({19}), 3.0f);
  EXPECT_EQ(values.at<float>({20}), 1.5f);
}

TEST(JitTest, AssertionsOfTheDslNameTheCppLine) {
  using namespace flashtile::dsl;
  KernelBuilder builder("checked");
  Value n = builder.i32("n");
  const int line = __LINE__ + 1;
  deviceAssert(n > 0, "n must be positive");
  const Kernel kernel = Jit().compile(builder.build()).kernel();
  EXPECT_ERROR(Assertion,
               "JitTest.cpp:" + std::to_string(line) + ": n must be positive",
               kernel(0));
}

TEST(JitTest, Reports) {
  const KernelReport report = Jit().compile(rowSum).kernel().report();
  EXPECT_EQ(report.kernel, "row_sum");
  EXPECT_GT(report.codeBytes, 0u);
  EXPECT_GE(report.arenaBytes, 0);
  EXPECT_GT(report.totalMilliseconds(), 0);
  std::vector<std::string> stages;
  for (const StageTime &stage : report.stages)
    stages.push_back(stage.stage);
  EXPECT_THAT(stages, testing::IsSupersetOf({"parse", "codegen", "load"}));
  EXPECT_THAT(report.toString(),
              testing::AllOf(testing::HasSubstr("kernel row_sum: "),
                             testing::HasSubstr("\n  codegen "),
                             testing::HasSubstr("\n  total ")));
}

TEST(JitTest, TimingIsPrintedOncePerCompilation) {
  Jit::clearCache();
  const ScopedVariable timing("FLASHTILE_TIMING", "1");
  const Jit jit;
  testing::internal::CaptureStderr();
  jit.compile(vectorAdd);
  EXPECT_THAT(testing::internal::GetCapturedStderr(),
              testing::StartsWith("kernel vector_add: "));
  testing::internal::CaptureStderr();
  jit.compile(vectorAdd);
  EXPECT_EQ(testing::internal::GetCapturedStderr(), "");
}

TEST(JitTest, EachCompilationDumpsToItsFolder) {
  const TemporaryFolder folder;
  const ScopedVariable dump("FLASHTILE_DUMP_DIR", folder.file("dump"));
  const Jit jit;
  jit.compile(vectorAdd, "some/folder/add.v2.mlir");
  jit.compile(rowSum);
  dsl::KernelBuilder builder("built");
  jit.compile(builder.build());
  jit.compile(rowSum); // cached
  std::vector<std::string> names, inputs;
  for (const auto &entry :
       std::filesystem::directory_iterator(folder.file("dump"))) {
    names.push_back(entry.path().filename().string());
    inputs.push_back(folder.read("dump/" + names.back() + "/00-input.mlir"));
  }
  EXPECT_THAT(names,
              testing::UnorderedElementsAre(testing::EndsWith("-add-v2"),
                                            testing::EndsWith("-kernel"),
                                            testing::EndsWith("-built")));
  EXPECT_THAT(inputs, testing::UnorderedElementsAre(
                          testing::HasSubstr("tile.kernel @vector_add"),
                          testing::HasSubstr("tile.kernel @row_sum"),
                          testing::HasSubstr("tile.kernel @built")));
}
