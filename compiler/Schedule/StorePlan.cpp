//===- StorePlan.cpp - Results that TMA can store -------------------------===//
//
// Part of FlashTile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "compiler/Schedule/StorePlan.h"

#include "compiler/Analysis/Layout/LayoutPart.h"
#include "compiler/Conversion/TileToTileGPU/LayoutAttrs.h"
#include "dialects/TileGPU/IR/LaunchAttributes.h"

#include "mlir/IR/AffineMap.h"
#include "mlir/IR/Builders.h"

using namespace mlir;
using namespace flashtile;
using namespace flashtile::gpu;
using namespace flashtile::tile;
using flashtile::tile::getElementType;

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

/// The buffer's rows are those of the part of the tile: a box must not reach
/// past them. Rows of an odd number of chunks lie in different banks without a
/// swizzle.
static int64_t swizzleOf(int64_t rowBytes) {
  for (int64_t span : {128, 64, 32})
    if (rowBytes % span == 0)
      return span;
  return 0;
}

tilegpu::SmemType StorePlan::buffer(int64_t rows, int64_t columns) const {
  Type element = getElementType(tilegpu::ConvertLayoutOp(convert).getType());
  return tilegpu::SmemType::get(
      element.getContext(), {rows, columns}, element,
      swizzleOf(columns * element.getIntOrFloatBitWidth() / 8));
}

int64_t StorePlan::bytes(int64_t columns) const {
  auto tile =
      cast<RankedTensorType>(tilegpu::ConvertLayoutOp(convert).getType());
  return sharedBytes(buffer(tile.getDimSize(0), columns));
}

/// The number of the integer argument that an extent is, among all arguments.
static std::optional<unsigned> argumentOf(Attribute extent, KernelOp kernel) {
  auto map = dyn_cast<AffineMapAttr>(extent);
  if (!map)
    return std::nullopt;
  auto symbol = dyn_cast<AffineSymbolExpr>(map.getValue().getResult(0));
  if (!symbol)
    return std::nullopt;
  unsigned position = symbol.getPosition();
  for (auto [number, type] : llvm::enumerate(kernel.getArgumentTypes()))
    if (isa<IntegerType>(type) && position-- == 0)
      return number;
  return std::nullopt;
}

/// Whether rows of the tensor end with a chunk, or can be asked to.
static bool endsWithChunk(StorePlan &plan, KernelOp kernel) {
  Attribute extent = plan.window.extents.front();
  if (auto constant = dyn_cast<IntegerAttr>(extent))
    return constant.getInt() % plan.divisor == 0;
  if (cast<AffineMapAttr>(extent).getValue().getResult(0).isMultipleOf(
          plan.divisor))
    return true;
  // Where there is another function for what is asked for already.
  if (kernel->hasAttr(tilegpu::kRequiresAttr))
    plan.rowLength = argumentOf(extent, kernel);
  return plan.rowLength.has_value();
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
  if (!plan.convert)
    return refuse("its tile is in the layout of the store already");
  if (plan.convert->getBlock() != store->getBlock())
    return refuse("its tile is made before a loop or a branch around it");
  auto type = cast<RankedTensorType>(store.getValue().getType());
  constexpr int64_t kBytes = 2, kChunk = 16, kMostExtent = 256;
  if (type.getRank() != 2 || type.getElementTypeBitWidth() != 8 * kBytes)
    return refuse("its elements are not of 16 bits");
  const int64_t columns = type.getDimSize(1);
  if (columns * kBytes % kChunk != 0 || columns > kMostExtent ||
      type.getDimSize(0) > kMostExtent)
    return refuse("its rows are not whole chunks of 16 bytes, or more than " +
                  std::to_string(kMostExtent) + " elements or rows");
  if (std::string reason = whyOrdered(store); !reason.empty())
    return refuse(reason);
  std::optional<TmaWindow> window =
      describeWindow(store.getPointer(), kernel, whyNot);
  if (!window)
    return std::nullopt;
  plan.window = *window;
  plan.divisor = kChunk / kBytes;
  if (!endsWithChunk(plan, kernel))
    return refuse("its tensor's rows need not be a multiple of " +
                  std::to_string(plan.divisor) + " elements");
  plan.widths.push_back(columns);
  constexpr int64_t kSpan = 128 / kBytes;
  DistributedLayout layout = layoutOf(plan.convert.getOperand().getType());
  for (int64_t width = columns / 2; width >= kSpan && width % kSpan == 0;
       width /= 2)
    if (columns % width == 0 && lastDimPart(layout, 0, width))
      plan.widths.push_back(width);
  return plan;
}

void flashtile::gpu::requireRowLength(KernelOp kernel, const StorePlan &plan) {
  if (!plan.rowLength)
    return;
  Builder builder(kernel.getContext());
  SmallVector<Attribute> required(
      kernel->getAttrOfType<ArrayAttr>(tilegpu::kRequiresAttr).getValue());
  Attribute more = builder.getDictionaryAttr(
      {builder.getNamedAttr("argument",
                            builder.getI64IntegerAttr(*plan.rowLength)),
       builder.getNamedAttr("divisor",
                            builder.getI64IntegerAttr(plan.divisor))});
  if (llvm::is_contained(required, more))
    return;
  required.push_back(more);
  kernel->setAttr(tilegpu::kRequiresAttr, builder.getArrayAttr(required));
}
