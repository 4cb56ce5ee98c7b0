//===- RegisterNeeds.cpp - Registers that tiles take at least -------------===//
//
// Part of FlashTile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "compiler/Conversion/TileGPUToLLVM/RegisterNeeds.h"

#include "compiler/Conversion/TileToTileGPU/LayoutAttrs.h"
#include "dialects/TileGPU/IR/TileGPUDialect.h"

#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/Matchers.h"

#include <algorithm>

using namespace mlir;
using namespace flashtile;

/// Registers of a thread that hold a tile; none for other values.
static int64_t registersOf(Value value) {
  auto type = dyn_cast<RankedTensorType>(value.getType());
  if (!type || !type.getEncoding())
    return 0;
  constexpr int64_t kRegisterBits = 32;
  Type element = type.getElementType();
  int64_t bits = isa<tile::PtrType>(element) ? 64
                 : element.isInteger(1)
                     ? 0 // predicates, many to a register
                     : int64_t(element.getIntOrFloatBitWidth());
  int64_t elements = gpu::layoutOf(type).registersPerThread();
  return (elements * bits + kRegisterBits - 1) / kRegisterBits;
}

static int64_t carriedBy(scf::ForOp loop) {
  int64_t sum = 0;
  for (Value carried : loop.getRegionIterArgs())
    sum += registersOf(carried);
  return sum;
}

/// Of a product that does not add to a carried tile: it is alive beside them.
static int64_t besideCarried(Operation *op) {
  Value sum;
  if (auto mma = dyn_cast<tilegpu::MmaOp>(op))
    sum = mma.getC();
  else if (auto wgmma = dyn_cast<tilegpu::WgmmaOp>(op))
    sum = wgmma.getC();
  else
    return 0;
  if (sum && isa<BlockArgument>(sum))
    return 0;
  // What is rescaled first may be the carried tile.
  if (sum && !matchPattern(sum, m_Constant()))
    return 0;
  return registersOf(op->getResult(0));
}

/// Of a loop for itself: loops in it may carry the same tiles on.
static int64_t leastRegisters(scf::ForOp loop) {
  int64_t most = 0;
  for (Operation &op : *loop.getBody())
    most = std::max(most, besideCarried(&op));
  return carriedBy(loop) + most;
}

/// What ptxas can give to a thread that runs `loop`.
static int64_t availableRegisters(scf::ForOp loop, int64_t numWarps) {
  constexpr int64_t kMost = 255, kFile = 65536, kLanes = 32, kUnit = 8;
  if (auto roles = loop->getParentOfType<tilegpu::WarpSpecializeOp>())
    return roles.getConsumer().isAncestor(loop->getParentRegion())
               ? roles.getConsumerRegisters()
               : roles.getProducerRegisters();
  return std::min(kMost, kFile / (numWarps * kLanes) / kUnit * kUnit);
}

void gpu::warnOfTilesBeyondRegisters(tile::KernelOp kernel) {
  const int64_t warps =
      kernel->getAttrOfType<IntegerAttr>(tilegpu::TileGPUDialect::kNumWarpsAttr)
          .getInt();
  // Loops that were one in the source may all be too large.
  scf::ForOp worst;
  int64_t most = 0, has = 0;
  kernel.walk([&](scf::ForOp loop) {
    const int64_t needs = leastRegisters(loop);
    const int64_t available = availableRegisters(loop, warps);
    if (needs <= available || needs < most)
      return;
    worst = loop;
    most = needs;
    has = available;
  });
  if (worst)
    emitWarning(worst.getLoc())
        << "the tiles of this loop take at least " << most
        << " registers of each thread, which has " << has
        << ": what does not fit is kept in slow local memory; use more than "
        << warps << (warps == 1 ? " warp" : " warps") << " or smaller tiles";
}
