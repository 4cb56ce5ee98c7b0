//===- DeferSums.cpp - Sums that each thread keeps for itself -------------===//
//
// Part of FlashTile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//   for ... iter_args(%l = 0)                 for ... iter_args(%l = 0)
//     %s = tile.sum %p axis 1                   %s = partial_sum %p axis 1
//     %l' = %l * %a + %s               ->       %l' = %l * broadcast(%a) + %s
//   use %l'                                   use tile.sum %l' axis 1
//
// A loop that goes on with the sum of another takes its parts.
//
//===----------------------------------------------------------------------===//

#include "compiler/Analysis/Layout/LayoutConversion.h"
#include "compiler/Conversion/TileToTileGPU/LayoutAttrs.h"
#include "compiler/Schedule/Passes.h"
#include "dialects/Tile/Transforms/Remark.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/ImplicitLocOpBuilder.h"
#include "mlir/IR/Matchers.h"
#include "mlir/IR/PatternMatch.h"
#include "mlir/Transforms/GreedyPatternRewriteDriver.h"

namespace flashtile::gpu {
#define GEN_PASS_DEF_DEFERSUMSPASS
#include "compiler/Schedule/Passes.h.inc"
} // namespace flashtile::gpu

using namespace mlir;
using namespace flashtile;
using namespace flashtile::gpu;
using namespace flashtile::tile;

namespace {
/// l' = l * factor + sum.
struct CarriedSum {
  unsigned index; ///< among the carried values
  arith::AddFOp add;
  Value factor; ///< null: none
  SumOp sum;
};

struct DeferSums : public flashtile::gpu::impl::DeferSumsPassBase<DeferSums> {
  using DeferSumsPassBase::DeferSumsPassBase;
  void runOnOperation() override;
};
} // namespace

/// The layout of one column for each thread that holds a part of a row.
static std::optional<DistributedLayout>
partialLayout(const DistributedLayout &layout, unsigned axis) {
  if (layout.rank() != 2 || layout.isPadded())
    return std::nullopt;
  int64_t columns = 1;
  DigitList lists[3];
  for (HardwareIndex index :
       {HardwareIndex::Register, HardwareIndex::Lane, HardwareIndex::Warp})
    for (Digit digit : layout.digits(index)) {
      if (digit.movesAlong(axis)) {
        if (digit.step[1 - axis] != 0)
          return std::nullopt;
        if (index == HardwareIndex::Register)
          continue;
        digit.step[axis] = columns;
        columns *= digit.extent;
      }
      lists[static_cast<unsigned>(index)].push_back(digit);
    }
  if (columns == 1)
    return std::nullopt;
  Coordinates shape(layout.shape().begin(), layout.shape().end());
  shape[axis] = columns;
  DistributedLayout partial(shape, lists[0], lists[1], lists[2]);
  if (partial.verify())
    return std::nullopt;
  return partial;
}

static std::optional<CarriedSum> matchSum(scf::ForOp loop, unsigned index) {
  BlockArgument argument = loop.getRegionIterArg(index);
  CarriedSum found = {index, nullptr, nullptr, nullptr};
  found.add = loop.getYieldedValues()[index].getDefiningOp<arith::AddFOp>();
  auto type = dyn_cast<RankedTensorType>(argument.getType());
  if (!found.add || !found.add->hasOneUse() || !type || type.getRank() != 1 ||
      !argument.hasOneUse())
    return std::nullopt;
  for (auto [old, added] :
       {std::pair(found.add.getLhs(), found.add.getRhs()),
        std::pair(found.add.getRhs(), found.add.getLhs())}) {
    found.sum = added.getDefiningOp<SumOp>();
    if (!found.sum || !found.sum->hasOneUse() ||
        found.sum->getBlock() != loop.getBody())
      continue;
    if (old == argument)
      return found;
    auto product = old.getDefiningOp<arith::MulFOp>();
    if (!product || !product->hasOneUse())
      continue;
    if (product.getLhs() == argument)
      found.factor = product.getRhs();
    else if (product.getRhs() == argument)
      found.factor = product.getLhs();
    else
      continue;
    return found;
  }
  return std::nullopt;
}

/// The parts of an initial value: zeros for zeros, and the parts of a sum.
static Value partsOf(OpBuilder &builder, Value init, RankedTensorType type) {
  if (matchPattern(init, m_AnyZeroFloat()))
    return arith::ConstantOp::create(
        builder, init.getLoc(), cast<TypedAttr>(builder.getZeroAttr(type)));
  auto sum = init.getDefiningOp<SumOp>();
  return sum && sum.getOperand().getType() == type ? Value(sum.getOperand())
                                                   : Value();
}

/// The sum of old, which nobody reads: it would still be exchanged.
static void eraseUnused(CarriedSum &carried) {
  Operation *product = nullptr;
  for (Value operand : carried.add->getOperands())
    if (operand.getDefiningOp<arith::MulFOp>() && carried.factor)
      product = operand.getDefiningOp();
  carried.add.erase();
  carried.sum.erase();
  if (product)
    product->erase();
}

static void defer(scf::ForOp &loop, CarriedSum carried) {
  auto tile = cast<RankedTensorType>(carried.sum.getOperand().getType());
  unsigned axis = carried.sum.getAxis();
  auto type = dyn_cast<RankedTensorType>(carried.sum.getType());
  if (!type || !tilegpu::getLayout(tile) || type != carried.add.getType())
    return;
  std::optional<DistributedLayout> layout = partialLayout(layoutOf(tile), axis);
  if (!layout || !planReduction(*layout, axis) ||
      withLayout(type, slice(*layout, axis)) != type)
    return;
  RankedTensorType partial = withLayout(
      RankedTensorType::get(layout->shape(), type.getElementType()), *layout);
  OpBuilder before(loop);
  Value init = partsOf(before, loop.getInitArgs()[carried.index], partial);
  if (!init)
    return;
  remarkApplied(carried.sum, "tilegpu-defer-sums", "CarriedSum",
                "each thread carries its part of the sum");
  IRRewriter rewriter(loop.getContext());
  rewriter.setInsertionPoint(loop);

  auto replaced = cast<scf::ForOp>(*loop.replaceWithAdditionalYields(
      rewriter, init, /*replaceInitOperandUsesInLoop=*/false,
      [&](OpBuilder &builder, Location loc,
          ArrayRef<BlockArgument> arguments) -> SmallVector<Value> {
        ImplicitLocOpBuilder b(loc, builder);
        b.setInsertionPoint(carried.add);
        Value old = arguments.front();
        if (carried.factor) {
          DistributedLayout column = expandDims(slice(*layout, axis), axis);
          Value wide = ExpandDimsOp::create(
              b,
              withLayout(
                  RankedTensorType::get(column.shape(), type.getElementType()),
                  column),
              carried.factor, axis);
          Value factor = BroadcastOp::create(b, partial, wide);
          old = arith::MulFOp::create(b, old, factor);
        }
        Value added = tilegpu::PartialSumOp::create(
            b, partial, carried.sum.getOperand(), axis);
        return {arith::AddFOp::create(b, old, added)};
      }));
  // The whole sum is made after the loop; in it nobody reads it.
  ImplicitLocOpBuilder b(replaced.getLoc(), replaced);
  b.setInsertionPointAfter(replaced);
  Value whole = SumOp::create(b, type, replaced.getResults().back(), axis);
  replaced.getResult(carried.index).replaceAllUsesWith(whole);
  Value unused = replaced.getRegionIterArg(carried.index);
  (*replaced.getYieldedValuesMutable())[carried.index].set(unused);
  eraseUnused(carried);
  loop = replaced;
}

void DeferSums::runOnOperation() {
  SmallVector<scf::ForOp> loops;
  getOperation().getBody().walk<WalkOrder::PreOrder>(
      [&](scf::ForOp loop) { loops.push_back(loop); });
  for (scf::ForOp loop : loops)
    for (unsigned index = 0, end = loop.getNumRegionIterArgs(); index < end;
         ++index)
      if (std::optional<CarriedSum> carried = matchSum(loop, index))
        defer(loop, *carried);
  // Nobody reads the old sums: loops do not carry them.
  RewritePatternSet patterns(&getContext());
  scf::ForOp::getCanonicalizationPatterns(patterns, &getContext());
  if (failed(applyPatternsGreedily(getOperation(), std::move(patterns))))
    signalPassFailure();
}
