//===- KernelsTest.cpp - Whole kernels, modules and threads ---------------===//
//
// Part of FlashTile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "FrontendTestSupport.h"
#include "ReadmeKernel.h"

#include <fstream>
#include <sstream>
#include <thread>

using namespace flashtile;
using namespace flashtile::dsl;
using testing::ContainsRegex;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::Not;

static KernelModule buildScale(const KernelModule &module,
                               const std::string &name) {
  KernelBuilder kernel(module, name);
  Value x = kernel.pointer("x", f32), n = kernel.i32("n"), a = kernel.f32("a");
  kernel.grid({ceilDiv(n, 64)});
  Value at = programId(0) * 64 + arange(0, 64);
  Value inside = at < n, pointers = x + at;
  store(pointers, load(pointers, inside) * a, inside);
  return kernel.build();
}

TEST(FrontendKernels, Text) {
  EXPECT_EQ(buildScale(KernelModule(), "scale").text(), R"mlir(module {
  tile.kernel @scale(%x: !tile.ptr<f32>, %n: i32, %a: f32) grid(d0) -> (d0 ceildiv 64) {
    %c64_i32 = arith.constant 64 : i32
    %0 = tile.program_id x
    %1 = arith.muli %0, %c64_i32 : i32
    %2 = tile.arange 0 to 64 : tensor<64xi32>
    %3 = tile.splat %1 : i32 -> tensor<64xi32>
    %4 = arith.addi %3, %2 : tensor<64xi32>
    %5 = tile.splat %n : i32 -> tensor<64xi32>
    %6 = arith.cmpi slt, %4, %5 : tensor<64xi32>
    %7 = tile.splat %x : !tile.ptr<f32> -> tensor<64x!tile.ptr<f32>>
    %8 = tile.addptr %7, %4 : tensor<64x!tile.ptr<f32>>, tensor<64xi32>
    %9 = tile.load %8 mask %6 : tensor<64x!tile.ptr<f32>>
    %10 = tile.splat %a : f32 -> tensor<64xf32>
    %11 = arith.mulf %9, %10 : tensor<64xf32>
    tile.store %8, %11 mask %6 : tensor<64x!tile.ptr<f32>>
    tile.return
  }
}

)mlir");
}

TEST(FrontendKernels, OperationsKnowTheirLines) {
  KernelBuilder kernel("k");
  Value p = kernel.pointer("p", f32);
  unsigned line = __LINE__ + 1;
  store(p, load(p) + 1.0);
  std::string text = kernel.build().text(/*withLocations=*/true);
  EXPECT_THAT(text, HasSubstr("KernelsTest.cpp\":" + std::to_string(line)));
}

TEST(FrontendKernels, SeveralInOneModule) {
  KernelModule module;
  buildScale(module, "first");
  buildScale(module, "second");
  EXPECT_THAT(module.kernelNames(), ElementsAre("first", "second"));
  KernelModule copy = module;
  buildScale(copy, "third");
  EXPECT_EQ(module.kernelNames().size(), 3u);
}

TEST(FrontendKernels, NestedBuildersTakeTurns) {
  KernelBuilder outer("outer");
  Value p = outer.pointer("p", i32);
  {
    KernelBuilder inner("inner");
    Value q = inner.pointer("q", i32);
    store(q + arange(0, 4), 1);
    EXPECT_THAT(inner.build().text(), HasSubstr("tile.arange"));
  }
  store(p + arange(0, 8), 1);
  EXPECT_THAT(outer.build().text(), HasSubstr("tile.arange 0 to 8"));
}

TEST(FrontendKernels, ThreadsAreIndependent) {
  std::vector<std::string> texts(8);
  std::vector<std::thread> threads;
  for (std::string &text : texts)
    threads.emplace_back([&text] {
      for (int i = 0; i < 10; ++i) {
        text = buildScale(KernelModule(), "scale").text();
        EXPECT_THROW(arange(0, 4), Error);
        TestKernel failing;
        EXPECT_THROW(failing.row + zeros({31}, f32), Error);
      }
    });
  for (std::thread &thread : threads)
    thread.join();
  for (const std::string &text : texts)
    EXPECT_EQ(text, texts.front());
}

TEST(FrontendKernels, OuterMayEndFirst) {
  auto outer = std::make_unique<KernelBuilder>("outer");
  auto inner = std::make_unique<KernelBuilder>("inner");
  outer.reset();
  EXPECT_EQ(arange(0, 4).typeText(), "tensor<4xi32>");
  EXPECT_THAT(inner->build().text(), HasSubstr("tile.arange"));
  EXPECT_THROW(arange(0, 4), Error);
}

TEST(FrontendKernels, TypesAsText) {
  TestKernel k;
  Value tiles = ceilDiv(k.n, 64);
  k.builder.grid({tiles});
  k.builder.build();
  EXPECT_EQ(tiles.typeText(), "i32"); // its operation is gone
  EXPECT_EQ(k.tile.typeText(), "tensor<16x32xf32>");
  EXPECT_EQ(k.pointer.typeText(), "!tile.ptr<f32>");
  EXPECT_EQ(k.window.typeText(), "!tile.block_ptr<16x32xf32>");
  EXPECT_EQ(Value().typeText(), "empty");
}

TEST(FrontendKernels, ConstantsAreMadeOnce) {
  TestKernel k;
  forRange(0, k.n, 1, [&](Value i) {
    store(k.pointer + i * 7, 3.5);
    store(k.pointer + i * 7 + 7, 3.5);
  });
  std::string text = k.text();
  size_t first = text.find("arith.constant 3.5");
  EXPECT_NE(first, std::string::npos);
  EXPECT_EQ(text.find("arith.constant 3.5", first + 1), std::string::npos);
  EXPECT_LT(first, text.find("scf.for"));
}

TEST(FrontendKernels, Memory) {
  TestKernel k;
  Value pointers = k.pointer + k.index;
  Value block = advance(k.window, {k.n, k.wide});
  load(block, Padding::NegInf);
  load(pointers, k.mask, 7);
  load(k.pointer - 1);
  load(pointers - k.index, k.mask, k.row);
  atomicAdd(pointers, 1.0, k.mask);
  atomicAdd(k.pointer, k.x);
  store(k.window, k.row);
  store(makeBlockPtr(k.pointer, {4, 4}, {4, 1}, {0, 0}, {4, 4}, {0, 1}), 0);
  deviceAssert(k.n > 0, "n must be positive");
  print("row", {k.row, k.n});
  print("here");
  assume(k.wide, Facts().divisibleBy(8).min(0).max(1 << 20));
  std::string text = k.text();
  for (const char *part :
       {"padding neg_inf", "mask %", "other %", "tile.atomic_add",
        "order = array<i32: 0, 1>", "tile.assert", "tile.print \"here\"",
        "divisible_by = 8 : i64"})
    EXPECT_THAT(text, HasSubstr(part));
}

TEST(FrontendKernels, ShapesAndFunctions) {
  TestKernel k;
  Value t = permute(reshape(k.tile, {4, 4, 32}), {2, 0, 1});
  EXPECT_EQ(t.shape(), (Shape{32, 4, 4}));
  EXPECT_EQ(cat(k.tile, k.tile, -1).shape(), (Shape{16, 64}));
  EXPECT_EQ(join(k.row, k.row).shape(), (Shape{32, 2}));
  EXPECT_EQ(expandDims(k.row, -1).shape(), (Shape{32, 1}));
  EXPECT_EQ(broadcastTo(k.row, {3, 32}).shape(), (Shape{3, 32}));
  EXPECT_EQ(broadcastTo(k.x, {3}).shape(), Shape{3});
  EXPECT_EQ(trans(k.tile).shape(), (Shape{32, 16}));
  EXPECT_TRUE(full({}, 2.0, f32).isScalar());
  for (Value value :
       {exp(k.row), exp2(k.row), log(k.row), log2(k.row), sqrt(k.row),
        rsqrt(k.row), tanh(k.row), erf(k.row), sin(k.row), cos(k.row),
        floor(k.row), ceil(k.row), sigmoid(k.row), abs(k.row), -k.row,
        minimum(k.row, 0.0), k.row % 2.0})
    EXPECT_EQ(value.shape(), Shape{32});
  EXPECT_EQ(abs(k.index).elementType(), i32);
  for (Value value : {exp(k.x, Accuracy::Fast), tanh(k.x, Accuracy::Fast),
                      sigmoid(k.x, Accuracy::Fast)})
    EXPECT_EQ(value.elementType(), f32);
  const std::string text = k.text();
  for (const char *operation : {"tile.exp", "math.tanh", "arith.divf"})
    EXPECT_THAT(text,
                ContainsRegex(std::string(operation) + " [^\n]*fastmath<afn>"));
}

TEST(FrontendKernels, ParsesText) {
  std::string text = buildScale(KernelModule(), "scale").text();
  KernelModule module = KernelModule::parse(text);
  EXPECT_EQ(module.text(), text);
  EXPECT_THAT(module.kernelNames(), ElementsAre("scale"));
  buildScale(module, "other");
  EXPECT_EQ(module.kernelNames().size(), 2u);
}

TEST(FrontendKernels, ParsingReportsLines) {
  auto expectError = [](const std::string &text, const std::string &words) {
    try {
      KernelModule::parse(text, "mine.mlir");
      ADD_FAILURE() << "expected an error: " << words;
    } catch (const Error &error) {
      EXPECT_EQ(error.code(), ErrorCode::Compile);
      EXPECT_THAT(error.what(), HasSubstr(words));
    }
  };
  expectError("tile.kernel", "mine.mlir:1:");
  expectError("\n\ntile.nonsense", "mine.mlir:3:1: ");
  expectError("tile.kernel @k(%x: f16) grid() -> (1) {\n}", "f16");
  expectError("func.func @f() { return }", "mine.mlir:1:1: ");
  expectError("tile.kernel @k() grid() -> (1) {\n"
              "  %a = tile.arange 5 to 5 : tensor<1xi32>\n}",
              "mine.mlir:2:8: ");
}

// What the README shows is what the test compiles.
TEST(FrontendKernels, Readme) {
  auto read = [](const char *path) {
    std::ifstream file(path);
    EXPECT_TRUE(file.good()) << path;
    std::stringstream text;
    text << file.rdbuf();
    return text.str();
  };
  std::string source = read(FLASHTILE_README_KERNEL);
  size_t begin = source.find("KernelModule buildRowSoftmax");
  size_t end = source.find("\n}\n", begin) + 3;
  EXPECT_THAT(read(FLASHTILE_FRONTEND_README),
              HasSubstr(source.substr(begin, end - begin)));
  EXPECT_THAT(buildRowSoftmax(bf16, 128).text(), HasSubstr("tile.max"));
}
