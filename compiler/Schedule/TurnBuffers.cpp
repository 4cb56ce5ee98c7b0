//===- TurnBuffers.cpp - Buffers that iterations use in turn --------------===//
//
// Part of FlashTile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "compiler/Schedule/TurnBuffers.h"
#include "compiler/Conversion/TileToTileGPU/LayoutAttrs.h"
#include "compiler/Schedule/SharedNeeds.h"
#include "dialects/TileGPU/IR/LaunchAttributes.h"

#include "mlir/Dialect/Arith/IR/Arith.h"

using namespace mlir;
using namespace flashtile;
using namespace flashtile::gpu;
using tilegpu::AllocOp;
using tilegpu::SlotOp;
using tilegpu::StageOp;

Value flashtile::gpu::findTurnCounter(Block &body) {
  for (auto slot : body.getOps<SlotOp>())
    if (auto remainder = slot.getIndex().getDefiningOp<arith::RemUIOp>())
      if (auto counter = dyn_cast<BlockArgument>(remainder.getLhs());
          counter && counter.getOwner() == &body)
        return counter;
  return {};
}

/// Bytes of shared memory with buffers in turn for `stage`. Where a block has
/// one program, scratch space lies where buffers were.
static int64_t needWithTurns(tile::KernelOp kernel, StageOp stage) {
  auto isInRing = [](StageOp) { return false; };
  int64_t more = roundedShared(kTurnBuffers * sharedBytes(stage.getType()));
  if (!kernel->hasAttr(tilegpu::kPersistentAttr))
    return bytesOfRings(kernel) + more;
  bool isCounted = willTakeTurns(stage, isInRing);
  return sharedBytesAtMost(kernel, /*afterOverlap=*/false) +
         (isCounted ? 0 : more);
}

AllocOp flashtile::gpu::findTurnBuffers(StageOp stage, int64_t sharedLimit) {
  auto kernel = stage->getParentOfType<tile::KernelOp>();
  auto roles = stage->getParentOfType<tilegpu::WarpSpecializeOp>();
  tilegpu::SmemType slotType = stage.getType();
  auto ringType = tilegpu::RingType::get(
      stage.getContext(), kTurnBuffers, slotType.getShape(),
      slotType.getElementType(), slotType.getSwizzle());
  // One ring for all loops of the kernel.
  AllocOp ring;
  kernel.getBody().walk([&](AllocOp alloc) {
    bool isTaken = llvm::any_of(alloc->getUsers(), [&](Operation *user) {
      return user->getBlock() == stage->getBlock();
    });
    if (alloc.getRing().getType() == ringType && isTurnRing(alloc) && !isTaken)
      ring = alloc;
  });
  if (ring)
    return ring;
  if (needWithTurns(kernel, stage) > sharedLimit)
    return {};
  OpBuilder b(roles);
  return AllocOp::create(b, stage.getLoc(), ringType);
}
