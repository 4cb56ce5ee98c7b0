//===- StorePlan.cpp - Results that TMA can store -------------------------===//
//
// Part of FlashTile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "compiler/Schedule/StorePlan.h"

#include "mlir/IR/AffineMap.h"

using namespace mlir;
using namespace flashtile;
using namespace flashtile::gpu;
using namespace flashtile::tile;

/// The block of a whole program: the kernel's, that of the consumers, or of
/// their loop over programs.
static bool isOfProgram(Block *block) {
  Operation *parent = block->getParentOp();
  if (isa<KernelOp, tilegpu::WarpSpecializeOp>(parent))
    return true;
  return parent->hasAttr(tilegpu::TileGPUDialect::kProgramsAttr) &&
         isa<KernelOp, tilegpu::WarpSpecializeOp>(parent->getParentOp());
}

/// A store by TMA ends some time before the kernel does. Why the program would
/// notice; empty where it does not.
static std::string whyOrdered(tilegpu::StoreOp store) {
  Block *block = store->getBlock();
  if (!isOfProgram(block))
    return "the program may store it more than once, or not at all";
  BlockArgument base = baseArgumentOf(store.getPointer());
  std::string reason;
  block->walk([&](Operation *op) {
    if (op == store)
      return;
    if (isa<tilegpu::LoadOp, tile::LoadOp>(op)) {
      if (store->isBeforeInBlock(block->findAncestorOpInBlock(*op)))
        reason = "the program reads memory behind it";
    } else if (isa<tilegpu::StoreOp, tile::StoreOp, tilegpu::AtomicAddOp,
                   tile::AtomicAddOp>(op)) {
      BlockArgument other = baseArgumentOf(op->getOperand(0));
      if (!base || !other || other == base)
        reason = "the program writes to its tensor elsewhere, too";
    }
  });
  return reason;
}

/// The buffer's rows are those of the tile: a box must not reach past them. Rows
/// of an odd number of chunks lie in different banks without a swizzle.
static std::optional<int64_t> swizzleOf(int64_t rowBytes) {
  constexpr int64_t kChunk = 16;
  for (int64_t span : {128, 64, 32})
    if (rowBytes % span == 0)
      return span;
  if (rowBytes % kChunk == 0)
    return 0;
  return std::nullopt;
}

std::optional<StorePlan> flashtile::gpu::planStore(tilegpu::StoreOp store,
                                                   KernelOp kernel,
                                                   std::string &whyNot) {
  auto refuse = [&](const std::string &reason) {
    whyNot = reason;
    return std::nullopt;
  };
  StorePlan plan;
  plan.convert = store.getValue().getDefiningOp<tilegpu::ConvertLayoutOp>();
  if (!plan.convert || !plan.convert->hasOneUse())
    return refuse("its tile is in the layout of the store already");
  auto type = cast<RankedTensorType>(store.getValue().getType());
  constexpr int64_t kBytes = 2, kMostExtent = 256;
  if (type.getRank() != 2 || type.getElementTypeBitWidth() != 8 * kBytes)
    return refuse("its elements are not of 16 bits");
  std::optional<int64_t> swizzle = swizzleOf(type.getDimSize(1) * kBytes);
  if (!swizzle || type.getDimSize(0) > kMostExtent ||
      type.getDimSize(1) > kMostExtent)
    return refuse("its rows are not whole chunks of 16 bytes, or more than " +
                  std::to_string(kMostExtent) + " elements or rows");
  plan.swizzle = *swizzle;
  if (std::string reason = whyOrdered(store); !reason.empty())
    return refuse(reason);
  std::optional<TmaWindow> window =
      describeWindow(store.getPointer(), kernel, whyNot);
  if (!window)
    return std::nullopt;
  auto columns = dyn_cast<IntegerAttr>(window->extents.front());
  if (!columns || columns.getInt() != type.getDimSize(1))
    return refuse("its rows are not those of the tensor");
  plan.window = *window;
  return plan;
}
