//===- HoistOperands.cpp - Left operands that stay in registers -----------===//
//
// Part of FlashTile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A left operand that a loop does not change is read from shared memory by
// every product of the loop. In registers it is read once, the products ask
// less of shared memory, and its buffer is free for the next program at once.
//
//===----------------------------------------------------------------------===//

#include "compiler/Conversion/TileToTileGPU/LayoutAttrs.h"
#include "compiler/Schedule/Passes.h"
#include "dialects/Tile/Transforms/Remark.h"

#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/ImplicitLocOpBuilder.h"

namespace flashtile::gpu {
#define GEN_PASS_DEF_HOISTOPERANDSPASS
#include "compiler/Schedule/Passes.h.inc"
} // namespace flashtile::gpu

using namespace mlir;
using namespace flashtile;
using namespace flashtile::gpu;
using namespace flashtile::tile;
using tilegpu::SlotOp;
using tilegpu::WgmmaOp;

static constexpr int64_t kThreadsOfWarpgroup = 128;

/// 32-bit registers of a thread that hold a tile which `warpgroups` share.
static int64_t registersOf(ArrayRef<int64_t> shape, Type element,
                           int64_t warpgroups) {
  int64_t bits = element.getIntOrFloatBitWidth();
  for (int64_t extent : shape)
    bits *= extent;
  return bits / 32 / (kThreadsOfWarpgroup * warpgroups);
}

/// Registers of the accumulators and left operands of a loop's products.
static int64_t registersOf(scf::ForOp loop) {
  int64_t registers = 0;
  loop.getBody()->walk([&](WgmmaOp product) {
    auto result = cast<RankedTensorType>(product.getType());
    registers += registersOf(result.getShape(), result.getElementType(),
                             product.getWarpgroups());
    if (auto a = dyn_cast<RankedTensorType>(product.getA().getType()))
      registers += registersOf(a.getShape(), a.getElementType(),
                               product.getWarpgroups());
  });
  return registers;
}

/// What leaves room for everything else, by measurement: of 240 registers of a
/// thread, of 160 with three warpgroups.
static int64_t registerLimit(int64_t warpgroups) {
  return warpgroups <= 2 ? 204 : 128;
}

namespace {
struct HoistOperands
    : public flashtile::gpu::impl::HoistOperandsPassBase<HoistOperands> {
  using HoistOperandsPassBase::HoistOperandsPassBase;

  void runOnOperation() override {
    SmallVector<SlotOp> slots;
    getOperation().getBody().walk([&](tilegpu::WarpSpecializeOp roles) {
      roles.getConsumer().walk([&](SlotOp slot) { slots.push_back(slot); });
    });
    for (SlotOp slot : slots)
      hoist(slot);
  }

private:
  void hoist(SlotOp slot);
};
} // namespace

void HoistOperands::hoist(SlotOp slot) {
  SmallVector<WgmmaOp> products;
  int64_t warpgroups = 0, most = 0;
  for (OpOperand &use : slot->getUses()) {
    auto product = dyn_cast<WgmmaOp>(use.getOwner());
    if (!product || use.getOperandNumber() != 0 || product.getTransA())
      return;
    auto loop = dyn_cast<scf::ForOp>(product->getParentOp());
    if (!loop || !loop.isDefinedOutsideOfLoop(slot.getResult()))
      return;
    warpgroups = product.getWarpgroups();
    most = std::max(most, registersOf(loop));
    products.push_back(product);
  }
  tilegpu::SmemType memory = slot.getSlot().getType();
  Type element = memory.getElementType();
  if (products.empty() || element.getIntOrFloatBitWidth() != 16)
    return;
  int64_t needed = most + registersOf(memory.getShape(), element, warpgroups);
  constexpr char kName[] = "tilegpu-hoist-operands";
  if (needed > registerLimit(warpgroups))
    return remarkMissed(slot, kName, "Operand",
                        "a left operand stays in shared memory: with it " +
                            std::to_string(needed) +
                            " registers would be in use, more than " +
                            std::to_string(registerLimit(warpgroups)));
  DistributedLayout layout =
      wgmmaOperandA(memory.getShape()[0], memory.getShape()[1], 16, warpgroups);
  ImplicitLocOpBuilder b(slot.getLoc(), slot);
  b.setInsertionPointAfter(slot);
  RankedTensorType type =
      withLayout(RankedTensorType::get(memory.getShape(), element), layout);
  Value tile = tilegpu::LoadSharedOp::create(b, type, slot);
  for (WgmmaOp product : products)
    product.getAMutable().assign(tile);
  // The buffer is free: ordinary loads have read it. Where tiles share their
  // index, one cannot tell whose release it is: then it stays where it is.
  SmallVector<tilegpu::MbarrierArriveOp> releases;
  for (Operation *op = slot->getNextNode(); op; op = op->getNextNode())
    if (auto release = dyn_cast<tilegpu::MbarrierArriveOp>(op);
        release && release.getIndex() == slot.getIndex())
      releases.push_back(release);
  if (!releases.empty())
    tilegpu::FenceProxyOp::create(b);
  if (releases.size() == 1)
    releases.front()->moveBefore(b.getBlock(), b.getInsertionPoint());
  remarkApplied(slot, kName, "Operand",
                "a left operand that the loop does not change is read once");
}
