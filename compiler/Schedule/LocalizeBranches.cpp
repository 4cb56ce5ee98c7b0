//===- LocalizeBranches.cpp - Branches that each warp takes for itself ----===//
//
// Part of FlashTile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//   %some = any %c                      %some = any by_warp %c
//   %r = if %some {                     %r = if %some {
//     %x = ...                    ->      %x = ...
//     yield select(%c, %x, %y)            yield select(%c, %x, %y)
//   } else { yield %y }                 } else { yield %y }
//
// A warp none of whose elements have %c gets %y on both sides. So it does where
// %c is something that only such elements have (rows with one of them), and
// where loops change %y so.
//
//===----------------------------------------------------------------------===//

#include "compiler/Analysis/Layout/LayoutConversion.h"
#include "compiler/Analysis/Program/TileQueries.h"
#include "compiler/Conversion/TileToTileGPU/LayoutAttrs.h"
#include "compiler/Schedule/ElementBranches.h"
#include "compiler/Schedule/Passes.h"
#include "compiler/Schedule/TmaWindow.h"
#include "dialects/Tile/Transforms/Remark.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

namespace flashtile::gpu {
#define GEN_PASS_DEF_LOCALIZEBRANCHESPASS
#include "compiler/Schedule/Passes.h.inc"
} // namespace flashtile::gpu

using namespace mlir;
using namespace flashtile;
using namespace flashtile::gpu;
using namespace flashtile::tile;

namespace {
struct LocalizeBranches
    : public flashtile::gpu::impl::LocalizeBranchesPassBase<LocalizeBranches> {
  using LocalizeBranchesPassBase::LocalizeBranchesPassBase;
  void runOnOperation() override;
};
} // namespace

static bool staysInWarp(Operation *op) {
  if (auto convert = dyn_cast<tilegpu::ConvertLayoutOp>(op)) {
    constexpr int64_t kMostBytes = 8;
    return planConversion(layoutOf(convert.getOperand().getType()),
                          layoutOf(convert.getType()), kMostBytes)
               .kind != LayoutConversion::Kind::SharedMemory;
  }
  if (isa<SumOp, MaxOp, MinOp>(op)) {
    std::optional<ReductionPlan> plan =
        planReduction(layoutOf(op->getOperand(0).getType()),
                      op->getAttrOfType<IntegerAttr>("axis").getInt());
    return plan && plan->warpDigits.empty();
  }
  return isElementwise(op) ||
         isa<tilegpu::LoadOp, tilegpu::PartialSumOp, BroadcastOp, SplatOp,
             ArangeOp, FullOp, ExpandDimsOp, MakeBlockPtrOp, AdvanceOp,
             AddPtrOp, AssumeOp, scf::ForOp, scf::YieldOp, scf::IfOp>(op) ||
         (op->getNumRegions() == 0 && isMemoryEffectFree(op) &&
          op->getNumResults() == 1 && !tileType(op->getResult(0)) &&
          llvm::none_of(op->getOperands(),
                        [](Value operand) { return !!tileType(operand); })) ||
         op->hasTrait<OpTrait::ConstantLike>();
}

/// The kernel's argument that a load in `branch` reads is written nowhere.
static bool readsConstants(scf::IfOp branch, KernelOp kernel) {
  DenseSet<Value> written;
  bool known = true;
  kernel.getBody().walk([&](Operation *op) {
    if (!isa<tilegpu::StoreOp, tile::StoreOp, tilegpu::AtomicAddOp,
             tile::AtomicAddOp>(op))
      return;
    Value base = baseArgumentOf(op->getOperand(0));
    known &= !!base;
    written.insert(base);
  });
  branch->walk([&](tilegpu::LoadOp load) {
    Value base = baseArgumentOf(load.getPointer());
    known &= base && !written.contains(base);
  });
  return known;
}

/// Whether any line has an element that is set, is whether any element is:
/// lanes need not tell each other of lines. What only the branch asks of lines,
/// it asks itself. Lines that lie across warps need all of these.
static void askElements(tilegpu::AnyOp any, scf::IfOp branch) {
  auto lines = any.getOperand().getDefiningOp<MaxOp>();
  if (!lines || !staysInWarp(lines))
    return;
  any.getOperandMutable().assign(lines.getOperand());
  if (llvm::all_of(lines->getUsers(), [&](Operation *user) {
        return branch.getThenRegion().isAncestor(user->getParentRegion());
      }))
    lines->moveBefore(&branch.thenBlock()->front());
}

void LocalizeBranches::runOnOperation() {
  getOperation().getBody().walk([&](scf::IfOp branch) {
    auto any = branch.getCondition().getDefiningOp<tilegpu::AnyOp>();
    if (!any || !any->hasOneUse() || any.getByWarp() ||
        !keepsOthers(branch, any.getOperand()))
      return;
    Operation *crossing = nullptr;
    for (Region &region : branch->getRegions())
      region.walk([&](Operation *op) {
        if (!crossing && !staysInWarp(op))
          crossing = op;
      });
    std::string whyNot;
    if (crossing)
      whyNot = "'" + crossing->getName().getStringRef().str() +
               "' in it needs other warps";
    else if (!keepsOthers(branch, any.getOperand(), staysInWarp))
      whyNot = "elements of other warps decide about its choices";
    else if (!readsConstants(branch, getOperation()))
      whyNot = "it reads memory that the kernel may write";
    if (!whyNot.empty())
      return remarkMissed(branch, "tilegpu-localize-branches", "Branch",
                          "all warps branch together: " + whyNot);
    any.setByWarp(true);
    askElements(any, branch);
    remarkApplied(branch, "tilegpu-localize-branches", "Branch",
                  "warps branch for themselves");
  });
}
