//===- PersistentPrograms.cpp - Blocks that take many programs ------------===//
//
// Part of FlashTile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "compiler/Schedule/PersistentPrograms.h"

#include "compiler/Analysis/Layout/LayoutConversion.h"
#include "compiler/Conversion/TileToTileGPU/LayoutAttrs.h"

#include "mlir/Dialect/Arith/IR/Arith.h"

using namespace mlir;
using namespace flashtile;
using namespace flashtile::gpu;
using namespace flashtile::tile;

static Value i32(ImplicitLocOpBuilder &b, int64_t value) {
  return arith::ConstantOp::create(b, b.getI32IntegerAttr(value));
}

ProgramShare flashtile::gpu::shareOfPrograms(ImplicitLocOpBuilder &b,
                                             bool turns) {
  ProgramShare share;
  share.turns = turns;
  share.block = tilegpu::BlockIdOp::create(b);
  share.blocks = tilegpu::NumBlocksOp::create(b);
  Value programs = NumProgramsOp::create(b, ProgramAxis::X);
  for (ProgramAxis axis : {ProgramAxis::Y, ProgramAxis::Z})
    programs =
        arith::MulIOp::create(b, programs, NumProgramsOp::create(b, axis));
  // The last round may have fewer programs than blocks.
  Value whole = arith::DivUIOp::create(b, programs, share.blocks);
  Value rest = arith::RemUIOp::create(b, programs, share.blocks);
  Value number = share.block;
  if (turns) {
    Value last = arith::SubIOp::create(b, share.blocks, i32(b, 1));
    Value odd = arith::CmpIOp::create(
        b, arith::CmpIPredicate::ne, arith::AndIOp::create(b, whole, i32(b, 1)),
        i32(b, 0));
    number = arith::SelectOp::create(
        b, odd, arith::SubIOp::create(b, last, number), number);
  }
  Value more =
      arith::CmpIOp::create(b, arith::CmpIPredicate::ult, number, rest);
  share.rounds = arith::AddIOp::create(
      b, whole, arith::ExtUIOp::create(b, b.getI32Type(), more));
  return share;
}

scf::ForOp flashtile::gpu::createProgramLoop(ImplicitLocOpBuilder &b,
                                             const ProgramShare &share,
                                             ValueRange inits, Value &place) {
  auto loop = scf::ForOp::create(b, i32(b, 0), share.rounds, i32(b, 1), inits);
  loop->setAttr(tilegpu::TileGPUDialect::kProgramsAttr, b.getUnitAttr());
  b.setInsertionPointToStart(loop.getBody());
  Value round = loop.getInductionVar(), number = share.block;
  if (share.turns) {
    Value last = arith::SubIOp::create(b, share.blocks, i32(b, 1));
    Value odd = arith::CmpIOp::create(
        b, arith::CmpIPredicate::ne, arith::AndIOp::create(b, round, i32(b, 1)),
        i32(b, 0));
    number = arith::SelectOp::create(
        b, odd, arith::SubIOp::create(b, last, number), number);
  }
  place = arith::AddIOp::create(
      b, arith::MulIOp::create(b, round, share.blocks), number);
  return loop;
}

/// What is allocated in shared memory starts at multiples of this.
static int64_t rounded(int64_t bytes) {
  constexpr int64_t kAlignment = 1024;
  return (bytes + kAlignment - 1) / kAlignment * kAlignment;
}

static int64_t bytesOf(RankedTensorType type) {
  Type element = type.getElementType();
  int64_t bits = element.isIntOrFloat() ? element.getIntOrFloatBitWidth() : 64;
  return type.getNumElements() * std::max<int64_t>(bits / 8, 1);
}

int64_t flashtile::gpu::bytesBesideRings(
    KernelOp kernel, function_ref<bool(tilegpu::StageOp)> isInRing) {
  int64_t warps =
      kernel->getAttrOfType<IntegerAttr>(tilegpu::TileGPUDialect::kNumWarpsAttr)
          .getInt();
  // Partial results of a reduction or a scan: eight of each lane at a time.
  constexpr int64_t kPartialBytes = 8 * 32 * 8;
  int64_t staged = 0, scratch = 0;
  kernel.getBody().walk([&](Operation *op) {
    if (auto stage = dyn_cast<tilegpu::StageOp>(op)) {
      if (!isInRing(stage))
        staged += rounded(
            bytesOf(cast<RankedTensorType>(stage.getOperand().getType())));
    } else if (auto convert = dyn_cast<tilegpu::ConvertLayoutOp>(op)) {
      auto type = cast<RankedTensorType>(convert.getType());
      LayoutConversion plan =
          planConversion(layoutOf(convert.getOperand().getType()),
                         layoutOf(type), bytesOf(type) / type.getNumElements());
      if (plan.kind == LayoutConversion::Kind::SharedMemory)
        scratch = std::max(scratch, rounded(plan.trip->memory.bytes()));
    } else if (isa<ReshapeOp, JoinOp, CatOp, PrintOp>(op)) {
      for (Value operand : op->getOperands())
        if (auto type = dyn_cast<RankedTensorType>(operand.getType()))
          scratch = std::max(scratch, rounded(2 * bytesOf(type)));
    } else if (isa<SumOp, MaxOp, MinOp, ReduceOp, ScanOp>(op)) {
      scratch = std::max(scratch, rounded(kPartialBytes * warps));
    }
  });
  return staged + scratch;
}
