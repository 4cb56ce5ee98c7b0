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
#include "compiler/Schedule/DelayProducts.h"
#include "compiler/Schedule/Passes.h"
#include "compiler/Support/RegisterBudget.h"
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

/// Warpgroups that share the rows of a left operand.
static int64_t sharersOf(WgmmaOp product) {
  return product.getWarpgroups() / product.getColumnGroups();
}

/// Such an operand in registers, of warpgroups that share its rows. Those that
/// share columns have the same.
static RankedTensorType operandType(ArrayRef<int64_t> shape, Type element,
                                    WgmmaOp product) {
  DistributedLayout layout =
      wgmmaOperandA(shape[0], shape[1], 16, sharersOf(product));
  return withLayout(RankedTensorType::get(shape, element),
                    replicateWarps(layout, product.getColumnGroups()));
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

/// Registers that a loop with several products needs at least: results that are
/// under way together, or carried, operands that stay, and weights while they
/// are packed for a product. Products of such weights that are used in the loop
/// take the place of those that the weights are made of. None where it has
/// other products as well.
static std::optional<int64_t> registersAtOnce(scf::ForOp loop) {
  if (!loop.getBody()->getOps<tilegpu::MmaOp>().empty())
    return std::nullopt;
  int64_t registers = 0, first = 0, later = 0, packed = 0;
  bool readsRows = true; // of operands that were computed
  for (auto product : loop.getBody()->getOps<WgmmaOp>()) {
    auto registersIn = [&](Value value) {
      auto tile = cast<RankedTensorType>(value.getType());
      return registersOf(tile.getShape(), tile.getElementType(),
                         product.getWarpgroups());
    };
    auto add = [&](Value value) { registers += registersIn(value); };
    bool isMade = isa<RankedTensorType>(product.getA().getType()) ||
                  product.getA().getDefiningOp<tilegpu::StageOp>();
    readsRows &= !product.getTransA();
    bool isLater = isMade && !loop.isDefinedOutsideOfLoop(product.getA());
    if (product.getC())
      add(product.getResult());
    else if (isLater)
      later = std::max(later, registersIn(product.getResult()));
    else
      first += registersIn(product.getResult());
    if (isMade && !isLater)
      add(product.getA());
    if (isLater && isa<RankedTensorType>(product.getA().getType()))
      packed = std::max(packed, registersIn(product.getA()));
    if (Value head = product.getHead())
      registers += registersIn(head) * product.getColumnGroups();
  }
  // Operands that are handed over are packed in their places, before other
  // products start. What it takes to compute them was measured: less where they
  // are written row by row, from one address.
  if (hasDelayableProduct(loop))
    packed = readsRows ? 8 + packed / 4 : 12 + packed / 2;
  return registers + std::max(first + packed, later);
}

/// What leaves room for everything else, by measurement: of 240 registers of a
/// thread, of 160 with three warpgroups, of 112 with four.
static int64_t registerLimit(int64_t warpgroups) {
  constexpr int64_t kForTheRest = 32;
  return warpgroups <= 2 ? 204
                         : registersOfRoles(warpgroups).consumer - kForTheRest;
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
    SmallVector<SlotOp> left;
    for (SlotOp slot : slots)
      if (!hoist(slot))
        left.push_back(slot);
    // The products of the last ones start last.
    for (SlotOp slot : llvm::reverse(left))
      hoistHead(slot);
  }

private:
  bool hoist(SlotOp slot);
  void hoistHead(SlotOp slot);
};
} // namespace

static LogicalResult collectProducts(SlotOp slot,
                                     SmallVectorImpl<WgmmaOp> &products) {
  for (OpOperand &use : slot->getUses()) {
    auto product = dyn_cast<WgmmaOp>(use.getOwner());
    if (!product || use.getOperandNumber() != 0 || product.getTransA())
      continue;
    auto loop = dyn_cast<scf::ForOp>(product->getParentOp());
    if (!loop || !loop.isDefinedOutsideOfLoop(slot.getResult()))
      return failure();
    products.push_back(product);
  }
  return success(!products.empty());
}

/// As many columns of the operand as there is room for, where a loop has many
/// products: they ask more of shared memory than it gives.
void HoistOperands::hoistHead(SlotOp slot) {
  constexpr int64_t kMostRegisters = 220, kFewestProducts = 4, kDepth = 16;
  constexpr int64_t kOfOuterLoop = 8, kOfWeights = 12, kOfSecond = 4;
  SmallVector<WgmmaOp> products;
  tilegpu::SmemType memory = slot.getSlot().getType();
  Type element = memory.getElementType();
  if (failed(collectProducts(slot, products)) ||
      element.getIntOrFloatBitWidth() != 16)
    return;
  int64_t warpgroups = products.front().getWarpgroups(), most = 0;
  int64_t sharers = sharersOf(products.front());
  for (WgmmaOp product : products) {
    if (sharersOf(product) != sharers)
      return;
    auto loop = cast<scf::ForOp>(product->getParentOp());
    if (llvm::range_size(loop.getBody()->getOps<WgmmaOp>()) < kFewestProducts ||
        product.getHead())
      return;
    std::optional<int64_t> registers = registersAtOnce(loop);
    if (!registers)
      return;
    Operation *outer = loop->getParentOp();
    if (isa<scf::ForOp>(outer) &&
        !outer->hasAttr(tilegpu::TileGPUDialect::kProgramsAttr))
      *registers += kOfOuterLoop;
    // Descriptors of both parts of both operands.
    if (llvm::any_of(loop.getBody()->getOps<WgmmaOp>(),
                     [](WgmmaOp other) { return bool(other.getHead()); }))
      *registers += kOfSecond;
    // What was computed goes through shared memory.
    if (product.getColumnGroups() > 1)
      *registers += kOfWeights;
    most = std::max(most, *registers);
  }
  int64_t rows = memory.getShape()[0], columns = memory.getShape()[1];
  int64_t each = registersOf({rows, kDepth}, element, sharers);
  int64_t steps =
      std::min(columns / kDepth - 1, (kMostRegisters - most) / each);
  if (warpgroups > 2 || steps < 1)
    return;
  ImplicitLocOpBuilder b(slot.getLoc(), slot);
  b.setInsertionPointAfter(slot);
  RankedTensorType type =
      operandType({rows, steps * kDepth}, element, products.front());
  Value head = tilegpu::LoadSharedOp::create(b, type, slot);
  // Before anyone lets the buffer be filled again.
  tilegpu::FenceProxyOp::create(b);
  for (WgmmaOp product : products)
    product.getHeadMutable().assign(head);
  remarkApplied(slot, "tilegpu-hoist-operands", "Operand",
                std::to_string(steps * kDepth) +
                    " columns of a left operand that the loop does not change "
                    "are read once");
}

/// Whether the operand needs no further thought.
bool HoistOperands::hoist(SlotOp slot) {
  SmallVector<WgmmaOp> products;
  int64_t warpgroups = 0, most = 0;
  for (OpOperand &use : slot->getUses()) {
    auto product = dyn_cast<WgmmaOp>(use.getOwner());
    if (!product || use.getOperandNumber() != 0 || product.getTransA())
      return false;
    auto loop = dyn_cast<scf::ForOp>(product->getParentOp());
    if (!loop || !loop.isDefinedOutsideOfLoop(slot.getResult()))
      return true;
    // Registers of an operand are of warpgroups that share its rows.
    if (product.getColumnGroups() > 1)
      return false;
    warpgroups = product.getWarpgroups();
    most = std::max(most, registersOf(loop));
    products.push_back(product);
  }
  tilegpu::SmemType memory = slot.getSlot().getType();
  Type element = memory.getElementType();
  if (products.empty() || element.getIntOrFloatBitWidth() != 16)
    return true;
  int64_t needed = most + registersOf(memory.getShape(), element, warpgroups);
  constexpr char kName[] = "tilegpu-hoist-operands";
  if (needed > registerLimit(warpgroups)) {
    remarkMissed(slot, kName, "Operand",
                 "a left operand stays in shared memory: with it " +
                     std::to_string(needed) +
                     " registers would be in use, more than " +
                     std::to_string(registerLimit(warpgroups)));
    return false;
  }
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
  return true;
}
