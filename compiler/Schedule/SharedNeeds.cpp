//===- SharedNeeds.cpp - Shared memory of a kernel in the making ----------===//
//
// Part of FlashTile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "compiler/Schedule/SharedNeeds.h"

#include "compiler/Analysis/Layout/LayoutConversion.h"
#include "compiler/Analysis/Program/TileQueries.h"
#include "compiler/Conversion/TileToTileGPU/LayoutAttrs.h"
#include "compiler/Schedule/StorePlan.h"

#include "mlir/Dialect/SCF/IR/SCF.h"
#include "llvm/ADT/MapVector.h"

using namespace mlir;
using namespace flashtile;
using namespace flashtile::gpu;
using namespace flashtile::tile;
using flashtile::tilegpu::StageOp;
using flashtile::tilegpu::WgmmaOp;
using StageTest = llvm::function_ref<bool(StageOp)>;

int64_t flashtile::gpu::roundedShared(int64_t bytes) {
  constexpr int64_t kAlignment = 1024;
  return (bytes + kAlignment - 1) / kAlignment * kAlignment;
}

int64_t flashtile::gpu::bytesOfRings(KernelOp kernel) {
  int64_t bytes = 0;
  kernel.getBody().walk([&](tilegpu::AllocOp alloc) {
    tilegpu::RingType ring = alloc.getRing().getType();
    bytes += roundedShared(ring.getCount() * sharedBytes(ring.getSlotType()));
  });
  return bytes;
}

//===----------------------------------------------------------------------===//
// Operands made in registers
//===----------------------------------------------------------------------===//

bool flashtile::gpu::isTurnRing(tilegpu::AllocOp alloc) {
  return llvm::any_of(alloc->getUsers(), [](Operation *user) {
    return llvm::any_of(user->getUsers(),
                        llvm::IsaPred<tilegpu::StoreSharedOp>);
  });
}

static bool hasProducts(MutableArrayRef<Region> regions) {
  return llvm::any_of(regions, [](Region &region) {
    return region
        .walk([](Operation *inner) {
          return isa<WgmmaOp, tilegpu::WgmmaWaitOp>(inner)
                     ? WalkResult::interrupt()
                     : WalkResult::advance();
        })
        .wasInterrupted();
  });
}

bool flashtile::gpu::willTakeTurns(StageOp stage, StageTest isInRing) {
  Block *block = stage->getBlock();
  if (isInRing(stage) || !isa<scf::ForOp>(block->getParentOp()) ||
      stage->use_empty() ||
      !llvm::all_of(stage->getUsers(),
                    [&](Operation *user) {
                      return isa<WgmmaOp>(user) && user->getBlock() == block;
                    }) ||
      cast<RankedTensorType>(stage.getOperand().getType()).getShape() !=
          stage.getType().getShape())
    return false;
  // Not a loop with one product or a chain of two, which stays in the order of
  // its text or is rotated; and one whose rings count its iterations.
  constexpr size_t kFewest = 3;
  size_t products = 0;
  bool counts = false;
  for (Operation &op : *block) {
    if (hasProducts(op.getRegions()))
      return false;
    if (auto product = dyn_cast<WgmmaOp>(op)) {
      auto wait =
          product->hasOneUse()
              ? dyn_cast<tilegpu::WgmmaWaitOp>(*product->getUsers().begin())
              : tilegpu::WgmmaWaitOp();
      if (!wait || wait->getBlock() != block || wait->getNumOperands() != 1)
        return false;
      ++products;
    } else if (auto other = dyn_cast<StageOp>(op)) {
      counts |= isInRing(other);
    } else if (auto slot = dyn_cast<tilegpu::SlotOp>(op)) {
      counts |= !isTurnRing(slot.getRing().getDefiningOp<tilegpu::AllocOp>());
    }
  }
  return products >= kFewest && counts;
}

/// Of buffers in turn: those of one loop serve all others.
static int64_t bytesOfTurns(KernelOp kernel, StageTest isInRing) {
  // How many a loop takes of each form, and how many are there.
  llvm::MapVector<Type, DenseMap<Block *, int64_t>> taken;
  DenseMap<Type, int64_t> made;
  kernel.getBody().walk([&](Operation *op) {
    if (auto stage = dyn_cast<StageOp>(op)) {
      if (willTakeTurns(stage, isInRing))
        ++taken[stage.getType()][stage->getBlock()];
    } else if (auto alloc = dyn_cast<tilegpu::AllocOp>(op)) {
      if (!isTurnRing(alloc) ||
          alloc.getRing().getType().getCount() != kTurnBuffers)
        return;
      Type form = alloc.getRing().getType().getSlotType();
      ++made[form];
      DenseSet<Block *> blocks;
      for (Operation *user : alloc->getUsers())
        if (blocks.insert(user->getBlock()).second)
          ++taken[form][user->getBlock()];
    }
  });
  int64_t bytes = 0;
  for (auto &[form, blocks] : taken) {
    int64_t most = 0;
    for (auto &[block, count] : blocks)
      most = std::max(most, count);
    most -= made.lookup(form);
    if (most > 0)
      bytes += most * roundedShared(kTurnBuffers *
                                    sharedBytes(cast<tilegpu::SmemType>(form)));
  }
  return bytes;
}

//===----------------------------------------------------------------------===//
// Scratch space
//===----------------------------------------------------------------------===//

/// Whether warps hold parts of what is reduced to one element.
static bool crossesWarps(Operation *reduce) {
  unsigned axis = reduce->getAttrOfType<IntegerAttr>("axis").getInt();
  DistributedLayout layout = layoutOf(reduce->getOperand(0).getType());
  return llvm::any_of(layout.warps(), [&](const Digit &digit) {
    return digit.extent > 1 && digit.step[axis] != 0;
  });
}

/// Bytes that an operation uses while it runs.
static int64_t scratchBytes(Operation *op, int64_t warps) {
  if (auto convert = dyn_cast<tilegpu::ConvertLayoutOp>(op)) {
    auto type = cast<RankedTensorType>(convert.getType());
    LayoutConversion plan =
        planConversion(layoutOf(convert.getOperand().getType()), layoutOf(type),
                       bytesOfElement(type.getElementType()));
    return plan.kind == LayoutConversion::Kind::SharedMemory
               ? plan.trip->memory.bytes()
               : 0;
  }
  if (auto reshaped = dyn_cast<ReshapeOp>(op)) {
    // In the registers where it lies, as the emitter has it.
    DistributedLayout to = layoutOf(reshaped.getType());
    auto inPlace =
        reshape(layoutOf(reshaped.getOperand().getType()), to.shape());
    if (inPlace && *inPlace == to)
      return 0;
  }
  if (isa<ReshapeOp, CatOp, PrintOp>(op)) {
    int64_t most = 0;
    for (Value operand : op->getOperands())
      if (auto type = dyn_cast<RankedTensorType>(operand.getType()))
        most = std::max(
            most, 2 * bytesOfTile(type.getShape(), type.getElementType()));
    return most;
  }
  // Partial results of a reduction or a scan: eight of each lane at a time.
  constexpr int64_t kPartialBytes = 8 * 32 * 8;
  if (isa<ScanOp>(op) ||
      (isa<SumOp, MaxOp, MinOp, ReduceOp>(op) && crossesWarps(op)))
    return kPartialBytes * warps;
  return 0;
}

int64_t flashtile::gpu::bytesBesideRings(KernelOp kernel, StageTest isInRing,
                                         bool afterOverlap) {
  int64_t warps =
      kernel->getAttrOfType<IntegerAttr>(tilegpu::TileGPUDialect::kNumWarpsAttr)
          .getInt();
  int64_t staged = afterOverlap ? 0 : bytesOfTurns(kernel, isInRing);
  int64_t scratch = 0;
  // A tile that TMA can store has a buffer of its own, of the fewest columns,
  // for all of its stores.
  DenseMap<Operation *, int64_t> stored;
  kernel.getBody().walk([&](tilegpu::StoreOp store) {
    std::string whyNot;
    std::optional<StorePlan> plan = planStore(store, kernel, whyNot);
    if (plan && ++stored[plan->convert] == 1)
      staged += roundedShared(plan->bytes(plan->widths.back()));
  });
  kernel.getBody().walk([&](Operation *op) {
    if (auto found = stored.find(op);
        found != stored.end() && op->getResult(0).hasNUses(found->second))
      return;
    if (auto stage = dyn_cast<StageOp>(op)) {
      // Products of one loop may still read theirs in the next.
      if (!isInRing(stage) && (afterOverlap || !willTakeTurns(stage, isInRing)))
        staged += roundedShared(sharedBytes(stage.getType()));
      return;
    }
    scratch = std::max(scratch, roundedShared(scratchBytes(op, warps)));
  });
  return staged + scratch;
}

int64_t flashtile::gpu::sharedBytesAtMost(KernelOp kernel, bool afterOverlap) {
  auto none = [](StageOp) { return false; };
  return bytesOfRings(kernel) + bytesBesideRings(kernel, none, afterOverlap);
}
