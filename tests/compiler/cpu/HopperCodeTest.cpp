//===- HopperCodeTest.cpp - Shipped kernels on the code of sm_90a ---------===//
//
// Part of FlashTile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The kernels of kernels/ in the tiles that a Hopper GPU gets, on few elements:
// interpreted (PtxMachine.h), with copies that end at once and as late as can
// be. Wrong results, threads that wait for each other, and shared memory that
// is overwritten while something reads it show without a GPU. So attention in
// the tiles of older GPUs, on the code of sm_80.
//
//===----------------------------------------------------------------------===//

#include "kernels/AttentionVariantKernel.h"
#include "kernels/AttentionVariants.h"
#include "kernels/FlashAttentionConfigs.h"
#include "kernels/FlashAttentionForward.h"
#include "kernels/MatmulConfigs.h"
#include "kernels/MatmulKernel.h"
#include "kernels/Reference/DenseAttention.h"
#include "kernels/Reference/Judge.h"
#include "kernels/Reference/PlainAttention.h"
#include "tests/compiler/cpu/InterpretedProgram.h"
#include "tests/compiler/cpu/TensorMemory.h"

#include <cmath>
#include <limits>
#include <ostream>

using namespace flashtile;
using namespace flashtile::cputest;
using namespace flashtile::kernels;

static CompilerOptions optionsFor(int64_t numWarps, int64_t numStages,
                                  const std::string &persistent = "auto") {
  CompilerOptions options;
  options.target = "sm_90a";
  options.numWarps = numWarps;
  options.numStages = numStages;
  options.persistent = persistent;
  return options;
}

/// Null where it does not compile, which is a failure. Its functions for
/// arguments of any alignment are there, too.
static std::unique_ptr<GpuProgram> interpret(const std::string &text,
                                             CompilerOptions options) {
  ArtifactResult compiled = compileToArtifact(text, "test", options);
  options.plain = true;
  ArtifactResult plain = compileToArtifact(text, "test", options);
  if (!compiled.artifact || !plain.artifact) {
    ADD_FAILURE() << compiled.error << plain.error << "\n" << text;
    return nullptr;
  }
  CompileReport report = compiled.report;
  auto program = interpretProgram(std::move(*compiled.artifact),
                                  std::move(plain.artifact));
  program->report = report;
  return program;
}

/// Both orders of threads and copies; the second gives the bits of the first.
static void runTwice(const GpuProgram &program,
                     const std::vector<Argument> &arguments,
                     const std::vector<Memory *> &results) {
  std::vector<std::vector<uint64_t>> bits(results.size());
  for (const bool isFirst : {true, false}) {
    program.run("", arguments);
    for (size_t number = 0; number < results.size(); ++number)
      for (int64_t i = 0; i < results[number]->size(); ++i)
        if (isFirst)
          bits[number].push_back(results[number]->bits(i));
        else
          ASSERT_EQ(results[number]->bits(i), bits[number][size_t(i)])
              << "result " << number << ", element " << i;
  }
}

//===----------------------------------------------------------------------===//
// Attention
//===----------------------------------------------------------------------===//

namespace {
struct AttentionCase {
  DType dtype;
  int64_t headsQ, headsKV, seqQ, seqK, headDim;
  bool causal = false;
  bool mendsBehind = false;
  std::string persistent = "auto";
  FlashAttentionTiles tiles = {0, 0, 0, 0};
  DeviceClass device = DeviceClass::Sm90a;

  bool isHopper() const { return device == DeviceClass::Sm90a; }
  friend std::ostream &operator<<(std::ostream &os, const AttentionCase &c) {
    return os << toString(c.dtype) << " " << c.headsQ << "/" << c.headsKV
              << " heads " << c.seqQ << "x" << c.seqK << " d=" << c.headDim
              << (c.causal ? " causal" : "")
              << (c.mendsBehind ? " mends behind " : " ") << c.persistent << " "
              << c.tiles.blockM << "x" << c.tiles.blockN
              << (c.isHopper() ? "" : " on sm_80");
  }
};

class HopperAttention : public testing::TestWithParam<AttentionCase> {
protected:
  reference::AttentionResult run(const Tensor &q, const Tensor &k,
                                 const Tensor &v) const;
};
} // namespace

reference::AttentionResult
HopperAttention::run(const Tensor &q, const Tensor &k, const Tensor &v) const {
  const AttentionCase &c = GetParam();
  FlashAttentionTiles tiles = c.tiles;
  if (!tiles.blockM)
    tiles =
        defaultFlashAttentionTiles({c.device, c.dtype, c.headDim, c.causal});
  FlashAttentionConfig config;
  config.dtype = c.dtype;
  config.headDim = c.headDim;
  config.blockM = tiles.blockM;
  config.blockN = tiles.blockN;
  config.causal = c.causal;
  config.scaleIsPositive = true;
  config.mendsBehind = c.mendsBehind;
  Memory qm = memoryOf(q), km = memoryOf(k), vm = memoryOf(v);
  Memory o(c.dtype, q.numel()), lse(DType::F32, c.headsQ * c.seqQ);
  std::vector<Argument> arguments = {qm, km, vm, o, lse};
  for (int64_t extent : {c.headsQ, c.headsKV, c.seqQ, c.seqK, int64_t(1)})
    arguments.push_back(static_cast<int32_t>(extent));
  for (int64_t rows : {c.seqQ, c.seqK, c.seqK, c.seqQ})
    for (int64_t stride : {int64_t(0), rows * c.headDim, c.headDim})
      arguments.push_back(stride);
  arguments.push_back(1 / std::sqrt(float(c.headDim)));
  CompilerOptions options =
      optionsFor(tiles.numWarps, tiles.numStages, c.persistent);
  if (!c.isHopper())
    options.target = "sm_80";
  const auto program =
      interpret(buildFlashAttentionForward(config).text(), options);
  if (program)
    runTwice(*program, arguments, {&o, &lse});
  return {tensorOf(o, q.shape()), tensorOf(lse, {1, c.headsQ, c.seqQ})};
}

TEST_P(HopperAttention, IsAccurate) {
  const AttentionCase &c = GetParam();
  const Tensor q = Tensor::randn({1, c.headsQ, c.seqQ, c.headDim}, c.dtype, 1);
  const Tensor k = Tensor::randn({1, c.headsKV, c.seqK, c.headDim}, c.dtype, 2);
  const Tensor v = Tensor::randn({1, c.headsKV, c.seqK, c.headDim}, c.dtype, 3);
  const reference::AttentionResult actual = run(q, k, v);
  reference::AttentionOptions problem;
  problem.causal = c.causal;
  const auto truth = reference::denseAttention(q, k, v, problem);
  const auto plain = reference::plainAttention(q, k, v, c.dtype, problem);
  reference::JudgeRule rule;
  rule.elementFactor = 4;
  const auto o = reference::judge(actual.o, truth.o, plain.o, rule);
  EXPECT_TRUE(o.pass) << c << " o: " << o.error << " > " << o.limit << ", "
                      << o.reason;
  rule.headRank = 1;
  const auto lse = reference::judge(actual.lse, truth.lse, plain.lse, rule);
  EXPECT_TRUE(lse.pass) << c << " lse: " << lse.error << " > " << lse.limit
                        << ", " << lse.reason;
}

static std::vector<AttentionCase> attentionCases() {
  constexpr DType bf16 = DType::BF16, f16 = DType::F16;
  std::vector<AttentionCase> all;
  for (const bool causal : {false, true}) {
    for (int64_t d : {64, 128})
      all.push_back({bf16, 2, 1, 300, 300, d, causal});
    all.push_back({f16, 1, 1, 130, 200, 256, causal});
    for (int64_t d : {40, 72, 80, 96, 160, 192})
      all.push_back({bf16, 1, 1, 130, 130, d, causal});
    // One tile, one row, rows without keys, no keys.
    all.push_back({bf16, 1, 1, 1, 1, 64, causal});
    all.push_back({bf16, 1, 1, 200, 70, 64, causal});
    // Blocks take several programs.
    all.push_back({bf16, 4, 2, 400, 400, 64, causal, false, "static"});
    all.push_back({bf16, 4, 2, 400, 400, 64, causal, false, "dynamic"});
    all.push_back({bf16, 4, 2, 400, 400, 64, causal, false, "off"});
    // Those of short sequences, and four warpgroups.
    for (const FlashAttentionTiles &tiles :
         {FlashAttentionTiles{128, 128, 8, 2}, {256, 64, 16, 2}})
      all.push_back({bf16, 2, 1, 520, 520, 64, causal, false, "auto", tiles});
    // The seed's tiles, several programs of which are one block; few buffers.
    all.push_back(
        {bf16, 3, 1, 450, 450, 64, causal, false, "auto", {64, 64, 4, 2}});
    all.push_back(
        {bf16, 2, 1, 450, 450, 128, causal, false, "auto", {64, 64, 4, 1}});
  }
  all.push_back({bf16, 2, 1, 300, 300, 128, true, true});
  all.push_back({bf16, 2, 1, 300, 300, 64, true, true, "static"});
  for (const bool causal : {false, true})
    for (int64_t d : {64, 72, 128, 192}) {
      all.push_back({bf16, 2, 1, 300, 300, d, causal, causal});
      all.back().device = DeviceClass::Sm80;
    }
  return all;
}

INSTANTIATE_TEST_SUITE_P(, HopperAttention,
                         testing::ValuesIn(attentionCases()));

//===----------------------------------------------------------------------===//
// Products
//===----------------------------------------------------------------------===//

namespace {
struct ProductCase {
  DType dtype, output;
  int64_t m, n, k;
  MatmulTiles tiles;
  MatrixOrder orderA = MatrixOrder::Rows, orderB = MatrixOrder::Rows,
              orderC = MatrixOrder::Rows;
  int64_t padding = 0; ///< elements between rows (or columns) in memory
  std::string persistent = "auto";

  friend std::ostream &operator<<(std::ostream &os, const ProductCase &c) {
    return os << toString(c.dtype) << " to " << toString(c.output) << " " << c.m
              << "x" << c.n << "x" << c.k << " in " << c.tiles.blockM << "x"
              << c.tiles.blockN << "x" << c.tiles.blockK << ", "
              << c.tiles.numWarps << " warps, " << c.tiles.numStages
              << " stages, orders " << int(c.orderA) << int(c.orderB)
              << int(c.orderC) << ", padding " << c.padding << ", "
              << c.persistent;
  }
};

class HopperProduct : public testing::TestWithParam<ProductCase> {};

/// A matrix with elements from -2 to 2, in memory with gaps that are NaN.
struct Operand {
  Operand(DType type, int64_t rows, int64_t columns, MatrixOrder order,
          int64_t padding)
      : pitch((order == MatrixOrder::Rows ? columns : rows) + padding),
        byRows(order == MatrixOrder::Rows),
        memory(type, (byRows ? rows : columns) * pitch + 8) {
    for (int64_t i = 0; i < memory.size(); ++i)
      memory.set(i, std::numeric_limits<double>::quiet_NaN());
    for (int64_t row = 0; row < rows; ++row)
      for (int64_t column = 0; column < columns; ++column)
        memory.set(place(row, column), value(row, column));
  }
  static double value(int64_t row, int64_t column) {
    return double((row * 7919 + column * 104729 + row * column) % 1009 % 5) - 2;
  }
  int64_t place(int64_t row, int64_t column) const {
    return byRows ? row * pitch + column : column * pitch + row;
  }

  int64_t pitch;
  bool byRows;
  Memory memory;
};
} // namespace

TEST_P(HopperProduct, IsExact) {
  const ProductCase &c = GetParam();
  MatmulKernelConfig config;
  config.dtype = c.dtype;
  config.outputType = c.output;
  config.orderA = c.orderA;
  config.orderB = c.orderB;
  config.orderC = c.orderC;
  config.blockM = c.tiles.blockM;
  config.blockN = c.tiles.blockN;
  config.blockK = c.tiles.blockK;
  const auto program =
      interpret(buildMatmulKernel(config).text(),
                optionsFor(c.tiles.numWarps, c.tiles.numStages, c.persistent));
  if (!program)
    return;
  Operand a(c.dtype, c.m, c.k, c.orderA, c.padding);
  Operand b(c.dtype, c.k, c.n, c.orderB, c.padding);
  Operand result(c.output, c.m, c.n, c.orderC, c.padding);
  std::vector<Argument> arguments = {a.memory, b.memory, result.memory};
  for (int64_t extent : {c.m, c.n, c.k, int64_t(1), int64_t(1), int64_t(1)})
    arguments.push_back(static_cast<int32_t>(extent));
  for (const Operand *operand : {&a, &b, &result})
    for (int64_t stride : {int64_t(0), int64_t(0), operand->pitch})
      arguments.push_back(stride);
  runTwice(*program, arguments, {&result.memory});
  std::vector<bool> written(size_t(result.memory.size()));
  for (int64_t row = 0; row < c.m; ++row)
    for (int64_t column = 0; column < c.n; ++column) {
      double sum = 0;
      for (int64_t k = 0; k < c.k; ++k)
        sum += Operand::value(row, k) * Operand::value(k, column);
      const int64_t place = result.place(row, column);
      written[size_t(place)] = true;
      ASSERT_EQ(result.memory.get(place), roundTo(c.output, sum))
          << c << ", row " << row << " column " << column;
    }
  for (int64_t i = 0; i < result.memory.size(); ++i)
    if (!written[size_t(i)]) {
      ASSERT_TRUE(std::isnan(result.memory.get(i)))
          << c << ": the gap at " << i << " is written";
    }
}

static std::vector<ProductCase> productCases() {
  constexpr DType bf16 = DType::BF16, f16 = DType::F16, f32 = DType::F32;
  constexpr DType e4m3 = DType::F8E4M3FN, e5m2 = DType::F8E5M2;
  constexpr MatrixOrder rows = MatrixOrder::Rows,
                        columns = MatrixOrder::Columns;
  const MatmulTiles shipped = defaultMatmulTiles(DeviceClass::Sm90a, bf16);
  std::vector<ProductCase> all;
  for (auto [m, n, k] : {std::tuple(200, 300, 136), std::tuple(1, 8, 8),
                         std::tuple(130, 264, 64), std::tuple(64, 72, 200),
                         std::tuple(70, 33, 45)})
    all.push_back({bf16, bf16, m, n, k, shipped});
  for (const MatrixOrder orderA : {rows, columns})
    for (const MatrixOrder orderB : {rows, columns})
      for (const MatrixOrder orderC : {rows, columns})
        all.push_back({f16,
                       bf16,
                       136,
                       144,
                       104,
                       {64, 64, 64, 4, 2},
                       orderA,
                       orderB,
                       orderC,
                       orderA == orderC ? 8 : 0});
  // Widths that are no powers of two, several warpgroups, every number of
  // buffers, one iteration and none that is whole.
  for (int64_t width : {8, 24, 40, 72, 80, 96, 112, 144, 176, 200, 248})
    all.push_back({bf16, f32, 100, 2 * width - 8, 72, {64, width, 32, 4, 2}});
  for (int64_t stages : {1, 2, 3, 4, 8})
    for (int64_t depth : {64, 128, 192})
      all.push_back({bf16, bf16, 64, 64, depth, {64, 64, 64, 4, stages}});
  all.push_back({bf16, f32, 300, 200, 100, {128, 96, 48, 8, 3}});
  all.push_back({bf16, f32, 300, 200, 100, {192, 64, 16, 12, 3}});
  all.push_back({f16, f16, 300, 200, 100, {192, 128, 64, 4, 2}});
  for (const char *persistent : {"off", "static", "dynamic"})
    all.push_back({bf16,
                   bf16,
                   320,
                   320,
                   96,
                   {64, 64, 32, 4, 3},
                   rows,
                   rows,
                   rows,
                   0,
                   persistent});
  // Rows of any distance: no TMA.
  for (int64_t padding : {1, 2, 4, 7, 8})
    all.push_back({bf16,
                   bf16,
                   70,
                   80,
                   90,
                   {64, 64, 32, 4, 2},
                   rows,
                   rows,
                   rows,
                   padding});
  // Widths of half a step of 16 columns; rows of 1022 and of 12 bytes, which no
  // tensor map has; every order of an exact product.
  for (int64_t width = 8; width < 256; width += 16)
    all.push_back({f16, f32, 128, width, 64, {64, width, 64, 4, 2}});
  all.push_back({bf16, f32, 64, 64, 511, {64, 64, 64, 4, 2}});
  all.push_back({f32, f32, 64, 3, 3, {64, 64, 32, 4, 2}});
  for (int64_t width : {8, 64, 128})
    for (const MatrixOrder orderA : {rows, columns})
      for (const MatrixOrder orderB : {rows, columns})
        all.push_back(
            {f16, f32, 64, width, 64, {64, width, 64, 4, 2}, orderA, orderB});
  for (DType type : {e4m3, e5m2, f32})
    for (const MatrixOrder orderB : {rows, columns})
      all.push_back({type, f32, 80, 80, 112, {64, 64, 64, 4, 2}, rows, orderB});
  return all;
}

INSTANTIATE_TEST_SUITE_P(, HopperProduct, testing::ValuesIn(productCases()));
