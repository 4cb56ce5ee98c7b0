//===- JitCacheTest.cpp - Jit with the cache on disk ----------------------===//
//
// Part of FlashTile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Jit::clearCache() stands for the end of a process: what is found after it
// comes from the disk.
//
//===----------------------------------------------------------------------===//

#include "runtime/Jit.h"

#include "compiler/Driver/KernelArtifact.h"
#include "compiler/Frontend/Dsl.h"
#include "runtime/EnvOptions.h"
#include "runtime/KernelCache.h"
#include "tests/runtime/ExpectError.h"
#include "tests/runtime/TemporaryFolder.h"
#include "tests/runtime/cache/AddConstant.h"

#include <atomic>
#include <thread>

using namespace flashtile;
using namespace flashtile::testkernels;
namespace fs = std::filesystem;

namespace {

class JitCacheTest : public testing::Test {
protected:
  void SetUp() override {
    setenv("FLASHTILE_CACHE", "on", 1);
    setenv("FLASHTILE_CACHE_DIR", folder.file("").c_str(), 1);
    Jit::clearCache();
  }
  void TearDown() override {
    setenv("FLASHTILE_CACHE", "off", 1);
    unsetenv("FLASHTILE_CACHE_DIR");
    unsetenv("FLASHTILE_CACHE_SIZE");
    Jit::clearCache();
  }

  /// As a new process would get it.
  static Kernel compile(const std::string &text, CompilerOptions options = {},
                        const std::string &file = "kernel.mlir") {
    Jit::clearCache();
    return Jit(Device::cpu(), options).compile(text, file).kernel();
  }
  static bool isCached(const Kernel &kernel) {
    return kernel.report().fromCache;
  }
  std::vector<std::string> files() const {
    std::vector<std::string> paths;
    for (const auto &entry : fs::directory_iterator(folder.file("")))
      paths.push_back(entry.path().string());
    return paths;
  }

  TemporaryFolder folder;
};

std::vector<std::string> stagesOf(const Kernel &kernel) {
  std::vector<std::string> names;
  for (const StageTime &stage : kernel.report().stages)
    names.push_back(stage.stage);
  return names;
}

} // namespace

TEST_F(JitCacheTest, TheSecondProcessLoads) {
  const Kernel compiled = compile(addConstant(1));
  EXPECT_FALSE(isCached(compiled));
  ASSERT_EQ(files().size(), 1u);
  const Kernel loaded = compile(addConstant(1));
  EXPECT_TRUE(isCached(loaded));
  EXPECT_TRUE(adds(compiled, 1));
  EXPECT_TRUE(adds(loaded, 1));
  EXPECT_EQ(loaded.signature(), compiled.signature());
  EXPECT_EQ(loaded.grid({{"n", 33}}), compiled.grid({{"n", 33}}));
  EXPECT_EQ(loaded.grid({{"n", 33}})[0], 3);
}

TEST_F(JitCacheTest, TheReportSaysSo) {
  const KernelReport compiled = compile(addConstant(1)).report();
  const Kernel kernel = compile(addConstant(1));
  const KernelReport loaded = kernel.report();
  EXPECT_EQ(stagesOf(kernel), (std::vector<std::string>{"read", "load"}));
  EXPECT_EQ(loaded.codeBytes, compiled.codeBytes);
  EXPECT_EQ(loaded.arenaBytes, compiled.arenaBytes);
  EXPECT_EQ(loaded.remarks, compiled.remarks);
  EXPECT_EQ(loaded.warnings, compiled.warnings);
  EXPECT_THAT(compiled.toString(),
              testing::Not(testing::HasSubstr("from cache")));
  EXPECT_THAT(loaded.toString(), testing::HasSubstr("memory, from cache\n"));
}

TEST_F(JitCacheTest, OffMeansNeitherReadNorWritten) {
  setenv("FLASHTILE_CACHE", "off", 1);
  EXPECT_FALSE(isCached(compile(addConstant(1))));
  EXPECT_EQ(files().size(), 0u);
  setenv("FLASHTILE_CACHE", "on", 1);
  compile(addConstant(1));
  setenv("FLASHTILE_CACHE", "off", 1);
  EXPECT_FALSE(isCached(compile(addConstant(1))));
}

TEST_F(JitCacheTest, ADumpIsCompiled) {
  compile(addConstant(1));
  const TemporaryFolder dump;
  CompilerOptions options;
  options.dumpFolder = dump.file("");
  EXPECT_FALSE(isCached(compile(addConstant(1), options)));
  EXPECT_GT(dump.size(), 0u);
  EXPECT_EQ(files().size(), 1u);
}

TEST_F(JitCacheTest, AFailedCompilationIsNotKept) {
  for (int round = 0; round < 2; ++round)
    EXPECT_ERROR(Compile, "kernel.mlir:1:", compile("tile.kernel @x( {"));
  EXPECT_EQ(files().size(), 0u);
}

TEST_F(JitCacheTest, OptionsTextAndNameAreTold) {
  CompilerOptions verify, processor;
  verify.verifyEach = true;
  processor.cpu = "x86-64-v2";
#ifndef __x86_64__
  processor.cpu = "generic";
#endif
  for (int round = 0; round < 2; ++round) {
    std::vector<Kernel> kernels = {
        compile(addConstant(1)),
        compile(addConstant(1), verify),
        compile(addConstant(1), processor),
        compile(addConstant(1), {}, "other.mlir"),
        compile(addConstant(1) + " "),
    };
    for (const Kernel &kernel : kernels) {
      EXPECT_EQ(isCached(kernel), round == 1);
      EXPECT_TRUE(adds(kernel, 1));
    }
    kernels = {compile(addConstant(2))}; // an edited text
    EXPECT_EQ(isCached(kernels[0]), round == 1);
    EXPECT_TRUE(adds(kernels[0], 2));
  }
  EXPECT_EQ(files().size(), 6u);
}

TEST_F(JitCacheTest, AnEditedFileIsCompiledAnew) {
  const TemporaryFolder sources;
  for (const int constant : {1, 2, 1}) {
    sources.write("kernel.mlir", addConstant(constant));
    Jit::clearCache();
    EXPECT_TRUE(
        adds(Jit().load(sources.file("kernel.mlir")).kernel(), constant));
  }
  EXPECT_EQ(files().size(), 2u);
}

TEST_F(JitCacheTest, ConstantsOfTheBuilderAreTold) {
  auto fill = [](int n) {
    using namespace flashtile::dsl;
    KernelBuilder builder("fill");
    Value x = builder.pointer("x", f32);
    builder.grid({1});
    Value window = makeBlockPtr(x, {n}, {1}, {0}, {n});
    store(window, load(window) + 1.0);
    return builder.build();
  };
  for (int round = 0; round < 2; ++round)
    for (const int n : {128, 256}) {
      Jit::clearCache();
      const Kernel kernel = Jit().compile(fill(n)).kernel();
      EXPECT_EQ(isCached(kernel), round == 1);
      const Tensor x = Tensor::zeros({257}, DType::F32);
      kernel(x);
      for (int i = 0; i < 257; ++i)
        EXPECT_EQ(x.at<float>({i}), i < n ? 1.0f : 0.0f) << n << " " << i;
    }
}

TEST_F(JitCacheTest, AssertionsKeepTheirMessages) {
  const std::string text = R"(
tile.kernel @checked(%n: i32) grid(n) -> (1) {
  %zero = arith.constant 0 : i32
  %good = arith.cmpi sgt, %n, %zero : i32
  tile.assert %good, "n must be positive" : i1
  tile.return
})";
  for (int round = 0; round < 2; ++round) {
    const Kernel kernel = compile(text);
    EXPECT_EQ(isCached(kernel), round == 1);
    EXPECT_ERROR(Assertion, "n must be positive", kernel(0));
    kernel(1);
  }
}

//===----------------------------------------------------------------------===//
// Damage
//===----------------------------------------------------------------------===//

TEST_F(JitCacheTest, DamageIsCompiledAroundAndRepaired) {
  testing::internal::CaptureStderr();
  compile(addConstant(1));
  const std::string path = files().at(0);
  std::ifstream stream(path, std::ios::binary);
  const std::string whole(std::istreambuf_iterator<char>(stream), {});
  auto write = [&](const std::string &content) {
    fs::remove_all(path);
    std::ofstream(path, std::ios::binary) << content;
  };
  auto expectRepair = [&](const char *what) {
    const Kernel kernel = compile(addConstant(1));
    EXPECT_FALSE(isCached(kernel)) << what;
    EXPECT_TRUE(adds(kernel, 1)) << what;
    EXPECT_TRUE(isCached(compile(addConstant(1)))) << what;
  };
  write("");
  expectRepair("truncated to nothing");
  write(whole.substr(0, whole.size() / 2));
  expectRepair("truncated to half");
  for (size_t at = 0; at < whole.size(); at += whole.size() / 20) {
    std::string flipped = whole;
    flipped[at] ^= 1;
    write(flipped);
    expectRepair("a byte flipped");
  }
  fs::remove(path);
  fs::create_directory(path);
  expectRepair("a folder");
  fs::remove(path);
  fs::create_symlink("nowhere", path);
  expectRepair("a dangling link");
  fs::permissions(path, fs::perms::all);
  expectRepair("writable by all");
  if (geteuid() != 0) {
    fs::permissions(path, fs::perms::none);
    expectRepair("not readable");
  }
  EXPECT_EQ(testing::internal::GetCapturedStderr(), "");
}

TEST_F(JitCacheTest, AWholeEntryThatCannotBeLoadedIsReplaced) {
  compile(addConstant(1));
  const Digest key =
      kernelCacheKey(CompilerOptions(), EnvOptions::read().cacheKey(),
                     "kernel.mlir", addConstant(1));
  KernelCache cache(folder.file(""), 1 << 20);
  std::optional<std::string> bytes = cache.find(key);
  ASSERT_TRUE(bytes);
  std::optional<KernelArtifact> artifact = KernelArtifact::parse(*bytes);
  ASSERT_TRUE(artifact);
  artifact->code.resize(artifact->code.size() / 2);
  for (const std::string &bad :
       {std::string("no artifact"), artifact->serialize()}) {
    ASSERT_TRUE(cache.store(key, bad));
    EXPECT_FALSE(isCached(compile(addConstant(1))));
    EXPECT_TRUE(isCached(compile(addConstant(1))));
  }
}

TEST_F(JitCacheTest, AFolderThatIsNoneStillCompiles) {
  folder.write("file", "");
  setenv("FLASHTILE_CACHE_DIR", folder.file("file/below").c_str(), 1);
  EXPECT_TRUE(adds(compile(addConstant(1)), 1));
  EXPECT_TRUE(adds(compile(addConstant(1)), 1));
}

TEST_F(JitCacheTest, TheSizeIsBounded) {
  setenv("FLASHTILE_CACHE_SIZE", "8K", 1);
  for (int i = 0; i < 6; ++i)
    EXPECT_TRUE(adds(compile(addConstant(i)), i));
  uint64_t bytes = 0;
  for (const std::string &file : files())
    bytes += fs::file_size(file);
  EXPECT_LE(bytes, 8192u);
  EXPECT_GT(bytes, 0u);
  setenv("FLASHTILE_CACHE_SIZE", "much", 1);
  EXPECT_ERROR(InvalidArgument, "FLASHTILE_CACHE_SIZE to be a number of bytes",
               Jit());
}

//===----------------------------------------------------------------------===//
// Threads
//===----------------------------------------------------------------------===//

TEST_F(JitCacheTest, OfThreadsThatWantTheSameOneCompiles) {
  const Jit jit;
  const std::string text = addConstant(7);
  std::atomic<int> ready{0};
  std::vector<std::thread> threads;
  std::vector<const void *> code(8);
  for (const void *&mine : code)
    threads.emplace_back([&] {
      ++ready;
      while (ready < 8)
        std::this_thread::yield();
      const Kernel kernel = jit.compile(text).kernel();
      mine = &kernel.arguments();
      EXPECT_FALSE(isCached(kernel));
      EXPECT_TRUE(adds(kernel, 7));
    });
  for (std::thread &thread : threads)
    thread.join();
  for (const void *one : code)
    EXPECT_EQ(one, code[0]);
  EXPECT_EQ(files().size(), 1u);
}

TEST_F(JitCacheTest, ThreadsWithDifferentKernels) {
  for (int round = 0; round < 2; ++round) {
    Jit::clearCache();
    std::vector<std::thread> threads;
    for (int i = 0; i < 6; ++i)
      threads.emplace_back([i, round] {
        const Kernel kernel = Jit().compile(addConstant(i)).kernel();
        EXPECT_EQ(isCached(kernel), round == 1);
        EXPECT_TRUE(adds(kernel, i));
      });
    for (std::thread &thread : threads)
      thread.join();
  }
  EXPECT_EQ(files().size(), 6u);
}
