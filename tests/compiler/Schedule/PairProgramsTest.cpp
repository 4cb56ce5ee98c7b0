//===- PairProgramsTest.cpp - Programs put together, run ------------------===//
//
// Part of FlashTile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// --tilegpu-pair-programs leaves a tile program that any target can run. Rows
// come out with the same bits, and nothing is written outside, however many
// programs there are.
//
//===----------------------------------------------------------------------===//

#include "compiler/Driver/Session.h"
#include "compiler/Schedule/Passes.h"
#include "kernels/FlashAttentionForward.h"
#include "tests/compiler/cpu/KernelRunner.h"

#include "mlir/IR/BuiltinOps.h"

#include <cmath>

using namespace flashtile;
using namespace flashtile::cputest;

/// `text` with programs put together; fails where they are not.
static std::string putTogether(const std::string &text, int64_t programs) {
  CompilerOptions options;
  CompileReport report;
  Session session("test", options, report);
  mlir::OwningOpRef<mlir::ModuleOp> module = session.parse(text);
  gpu::PairProgramsPassOptions pairing;
  pairing.programs = programs;
  if (!module ||
      failed(session.run(*module, "pair", [&](mlir::OpPassManager &pm) {
        pm.addNestedPass<tile::KernelOp>(gpu::createPairProgramsPass(pairing));
      }))) {
    ADD_FAILURE() << session.takeErrors();
    return text;
  }
  std::string together;
  for (tile::KernelOp kernel : module->getOps<tile::KernelOp>()) {
    EXPECT_TRUE(kernel->hasAttr("tilegpu.programs_at_once"))
        << (report.remarks.empty() ? text : report.remarks.back());
    // A kernel as any: its grid says how many programs there are.
    kernel->removeAttr("tilegpu.programs_at_once");
    kernel->removeAttr("tilegpu.num_warps");
  }
  llvm::raw_string_ostream(together) << *module;
  return together;
}

static void expectSameBits(const Memory &x, const Memory &y,
                           const std::string &what) {
  for (int64_t i = 0; i < x.size(); ++i)
    ASSERT_EQ(x.bits(i), y.bits(i)) << what << ", element " << i;
}

namespace {
class PairProgramsTest : public OnTheTarget {};

struct Lengths {
  int64_t rows, keys;
};
} // namespace

namespace {
/// How rows are kept from hidden elements that are not finite.
enum class Hidden { None, MendedBehind, LookedFor };
} // namespace

static void testAttention(Hidden hidden, int64_t programs) {
  constexpr int64_t heads = 2, d = 32;
  kernels::FlashAttentionConfig config;
  config.dtype = ElementType::F16;
  config.headDim = d;
  config.causal = hidden != Hidden::None;
  config.shortenedLoop = config.mendsBehind = hidden == Hidden::MendedBehind;
  config.scaleIsPositive = true;
  const std::string text = kernels::buildFlashAttentionForward(config).text();
  const Program alone(text), together(putTogether(text, programs));
  for (const Lengths &lengths :
       {Lengths{1, 1}, Lengths{64, 64}, Lengths{130, 130}, Lengths{200, 70},
        Lengths{70, 300}, Lengths{320, 320}}) {
    const int64_t rows = lengths.rows, keys = lengths.keys;
    auto value = [&](int64_t i) { return std::sin(0.37 * i) + 0.2; };
    Memory q = make(ElementType::F16, heads * rows * d, value);
    Memory k = make(ElementType::F16, keys * d, value);
    Memory v = make(ElementType::F16, keys * d, value);
    // Mending rounds in its own way, and more rows may need it.
    if (hidden == Hidden::LookedFor)
      for (const int64_t key : {keys / 2, keys - 1})
        v.set(key * d + 3, key % 2 ? NAN : INFINITY);
    auto run = [&](const Program &program, Memory &o, Memory &lse) {
      const int64_t r = rows * d, s = keys * d;
      program.run({q,
                   k,
                   v,
                   o,
                   lse,
                   int32_t(heads),
                   int32_t(1),
                   int32_t(rows),
                   int32_t(keys),
                   int32_t(1),
                   heads * r,
                   r,
                   d,
                   s,
                   s,
                   d,
                   s,
                   s,
                   d,
                   heads * r,
                   r,
                   d,
                   float(1 / std::sqrt(double(d)))});
    };
    Memory o(ElementType::F16, heads * rows * d),
        lse(ElementType::F32, heads * rows);
    Memory oOther(ElementType::F16, o.size()),
        lseOther(ElementType::F32, lse.size());
    run(alone, o, lse);
    run(together, oOther, lseOther);
    const std::string what =
        std::to_string(rows) + " rows, " + std::to_string(keys) + " keys";
    expectSameBits(o, oOther, what);
    expectSameBits(lse, lseOther, what);
  }
}

TEST_F(PairProgramsTest, Attention) {
  for (const int64_t programs : {2, 3})
    testAttention(Hidden::None, programs);
}

TEST_F(PairProgramsTest, CausalAttention) {
  for (const int64_t programs : {2, 3})
    testAttention(Hidden::MendedBehind, programs);
}

TEST_F(PairProgramsTest, BranchesThatSomeProgramsTake) {
  for (const int64_t programs : {2, 3})
    testAttention(Hidden::LookedFor, programs);
}

/// A row of sums goes to memory by pointers, a mask looks at positions along
/// both axes, and numbers are made of positions.
static constexpr const char *positions = R"(
tile.kernel @k(%a: !tile.ptr<bf16>, %b: !tile.ptr<bf16>, %o: !tile.ptr<f32>, %sums: !tile.ptr<f32>, %n: i32, %k: i32) grid(n, k) -> (2, n ceildiv 64) {
  %c0 = arith.constant 0 : i32
  %zero = arith.constant 0 : i64
  %one = arith.constant 1 : i64
  %size = arith.constant 64 : i32
  %d = arith.constant 16 : i64
  %part = tile.program_id x
  %y = tile.program_id y
  %n64 = arith.extsi %n : i32 to i64
  %k64 = arith.extsi %k : i32 to i64
  %row = arith.muli %y, %size : i32
  %row64 = arith.extsi %row : i32 to i64
  %part64 = arith.extsi %part : i32 to i64
  %elements = arith.muli %part64, %n64 : i64
  %oElements = arith.muli %elements, %d : i64
  %oPart = tile.addptr %o, %oElements : !tile.ptr<f32>, i64
  %sumsPart = tile.addptr %sums, %elements : !tile.ptr<f32>, i64
  %aw = tile.make_block_ptr %a shape[%n64, %d] strides[%d, %one] offsets[%zero, %zero] : !tile.ptr<bf16> -> !tile.block_ptr<64x16xbf16>
  %aAt = tile.advance %aw, [%row64, %zero] : !tile.block_ptr<64x16xbf16>
  %at = tile.load %aAt : !tile.block_ptr<64x16xbf16>
  %lane = tile.arange 0 to 64 : tensor<64xi32>
  %base = tile.splat %row : i32 -> tensor<64xi32>
  %rows = arith.addi %base, %lane : tensor<64xi32>
  %rowColumn = tile.expand_dims %rows axis 1 : tensor<64xi32> -> tensor<64x1xi32>
  %rowTile = tile.broadcast %rowColumn : tensor<64x1xi32> -> tensor<64x64xi32>
  %window = arith.constant dense<40> : tensor<64x64xi32>
  %empty = arith.constant dense<0.0> : tensor<64x64xf32>
  %none = arith.constant dense<0.0> : tensor<64xf32>
  %init = arith.constant dense<0.0> : tensor<64x16xf32>
  %r:2 = scf.for %j = %c0 to %k step %size iter_args(%sum = %none, %acc = %init) -> (tensor<64xf32>, tensor<64x16xf32>) : i32 {
    %j64 = arith.extsi %j : i32 to i64
    %start = tile.splat %j : i32 -> tensor<64xi32>
    %keys = arith.addi %start, %lane : tensor<64xi32>
    %keyRow = tile.expand_dims %keys axis 0 : tensor<64xi32> -> tensor<1x64xi32>
    %keyTile = tile.broadcast %keyRow : tensor<1x64xi32> -> tensor<64x64xi32>
    %bw = tile.make_block_ptr %b shape[%k64, %d] strides[%d, %one] offsets[%j64, %zero] : !tile.ptr<bf16> -> !tile.block_ptr<64x16xbf16>
    %bt = tile.load %bw : !tile.block_ptr<64x16xbf16>
    %t = tile.trans %bt order [1, 0] : tensor<64x16xbf16> -> tensor<16x64xbf16>
    %s = tile.dot %at, %t, %empty : tensor<64x16xbf16>, tensor<16x64xbf16>, tensor<64x64xf32>
    %distance = arith.subi %rowTile, %keyTile : tensor<64x64xi32>
    %near = arith.cmpi slt, %distance, %window : tensor<64x64xi32>
    %slope = arith.sitofp %distance : tensor<64x64xi32> to tensor<64x64xf32>
    %bent = arith.addf %s, %slope : tensor<64x64xf32>
    %p = arith.select %near, %bent, %empty : tensor<64x64xi1>, tensor<64x64xf32>
    %more = tile.sum %p axis 1 : tensor<64x64xf32> -> tensor<64xf32>
    %next = arith.addf %sum, %more : tensor<64xf32>
    %pb = tile.cast %p : tensor<64x64xf32> -> tensor<64x64xbf16>
    %o2 = tile.dot %pb, %bt, %acc : tensor<64x64xbf16>, tensor<64x16xbf16>, tensor<64x16xf32>
    scf.yield %next, %o2 : tensor<64xf32>, tensor<64x16xf32>
  }
  %limit = tile.splat %n : i32 -> tensor<64xi32>
  %inside = arith.cmpi sgt, %limit, %rows : tensor<64xi32>
  %places = tile.splat %sumsPart : !tile.ptr<f32> -> tensor<64x!tile.ptr<f32>>
  %place = tile.addptr %places, %rows : tensor<64x!tile.ptr<f32>>, tensor<64xi32>
  tile.store %place, %r#0 mask %inside : tensor<64x!tile.ptr<f32>>
  %ow = tile.make_block_ptr %oPart shape[%n64, %d] strides[%d, %one] offsets[%row64, %zero] : !tile.ptr<f32> -> !tile.block_ptr<64x16xf32>
  tile.store %ow, %r#1 : !tile.block_ptr<64x16xf32>
  tile.return
}
)";

TEST_F(PairProgramsTest, PositionsAndPointers) {
  constexpr int64_t d = 16, keys = 150, parts = 2;
  const Program alone(positions);
  for (const int64_t programs : {2, 3}) {
    const Program together(putTogether(positions, programs));
    for (const int64_t rows : {1, 64, 100, 129, 192, 260}) {
      auto value = [](int64_t i) { return std::cos(0.71 * i); };
      Memory a = make(ElementType::BF16, rows * d, value);
      Memory b = make(ElementType::BF16, keys * d, value);
      Memory o(ElementType::F32, parts * rows * d);
      Memory sums(ElementType::F32, parts * rows);
      Memory oOther(ElementType::F32, o.size());
      Memory sumsOther(ElementType::F32, sums.size());
      alone.run({a, b, o, sums, int32_t(rows), int32_t(keys)});
      together.run({a, b, oOther, sumsOther, int32_t(rows), int32_t(keys)});
      expectSameBits(o, oOther, std::to_string(rows) + " rows");
      expectSameBits(sums, sumsOther, std::to_string(rows) + " rows, sums");
    }
  }
}
