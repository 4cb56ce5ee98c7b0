//===- SplitBranches.cpp - Iterations whose products stand in branches ----===//
//
// Part of FlashTile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//   s = k . q;  t = v . g                    c = something about q and g
//   if c: o = slow(s, g) else: o = s . g     if c:
//   if d: u = slow(t, q) else: u = t . q  ->   as before
//                                            else:
//                                              s = k . q;  t = v . g
//                                              o = s . g;  u = t . q
//
// where c (c or d) needs no product. The usual case then has all its products
// in one block, where --tilegpu-overlap-products orders them. Loads stay where
// they are: a producer issues them whatever the branch is.
//
//===----------------------------------------------------------------------===//

#include "compiler/Schedule/Passes.h"
#include "dialects/Tile/Transforms/Remark.h"
#include "dialects/TileGPU/IR/LaunchAttributes.h"
#include "dialects/TileGPU/IR/TileGPUDialect.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/IR/ImplicitLocOpBuilder.h"
#include "llvm/ADT/SetVector.h"

namespace flashtile::gpu {
#define GEN_PASS_DEF_SPLITBRANCHESPASS
#include "compiler/Schedule/Passes.h.inc"
} // namespace flashtile::gpu

using namespace mlir;
using namespace flashtile;
using namespace flashtile::gpu;
using namespace flashtile::tile;

static bool hasProducts(Region &region) {
  return region.walk([](DotOp) { return WalkResult::interrupt(); })
      .wasInterrupted();
}

namespace {
/// A branch of which one side multiplies.
struct Branch {
  scf::IfOp op;
  bool thenMultiplies;

  Region &usual() {
    return thenMultiplies ? op.getThenRegion() : op.getElseRegion();
  }
};

/// Rewrites one loop.
class Splitter {
public:
  explicit Splitter(scf::ForOp loop) : loop(loop), body(*loop.getBody()) {}
  bool collect();
  void run();

private:
  bool collectNeeds(Operation *op);
  void cloneRest(ImplicitLocOpBuilder &b, bool isUsual);

  scf::ForOp loop;
  Block &body;
  SmallVector<Branch> branches;
  /// What stays at the top of the body, operands first.
  llvm::SetVector<Operation *> early;
  SmallVector<Operation *> rest; ///< everything else
};

struct SplitBranches
    : public flashtile::gpu::impl::SplitBranchesPassBase<SplitBranches> {
  using SplitBranchesPassBase::SplitBranchesPassBase;

  void runOnOperation() override {
    KernelOp kernel = getOperation();
    if (kernel->hasAttr(tilegpu::kPlainAttr))
      return;
    for (auto loop : llvm::to_vector(kernel.getBody().getOps<scf::ForOp>())) {
      Splitter splitter(loop);
      if (!splitter.collect())
        continue;
      splitter.run();
      remarkApplied(loop, "tilegpu-split-branches", "Branches",
                    "the usual case of an iteration has its products in one "
                    "block");
    }
  }
};
} // namespace

/// Adds `op` and what it needs of the body to what stays at the top. False
/// where that waits for a product, or writes.
bool Splitter::collectNeeds(Operation *op) {
  if (op->getBlock() != &body || early.contains(op))
    return true;
  bool isAllowed = isMemoryEffectFree(op) || isa<LoadOp>(op);
  if (!isAllowed || isa<DotOp>(op) || op->getNumRegions() != 0)
    return false;
  for (Value operand : op->getOperands())
    if (Operation *made = operand.getDefiningOp())
      if (!collectNeeds(made))
        return false;
  early.insert(op);
  return true;
}

bool Splitter::collect() {
  int64_t atTop = llvm::range_size(body.getOps<DotOp>());
  for (auto op : body.getOps<scf::IfOp>()) {
    bool inThen = hasProducts(op.getThenRegion());
    bool inElse = hasProducts(op.getElseRegion());
    if (!inThen && !inElse)
      continue;
    // Neither side may do without the other's block.
    if (inThen == inElse || op.getElseRegion().empty())
      return false;
    branches.push_back({op, inThen});
  }
  // With fewer there is nothing that could run together.
  constexpr int64_t kFewest = 2;
  if (branches.empty() || atTop < kFewest)
    return false;
  // A load that moves up would pass what stands before it.
  bool writes = false;
  for (Operation &op : body) {
    if (auto load = dyn_cast<LoadOp>(op))
      if (writes || !collectNeeds(load))
        return false;
    op.walk(
        [&](Operation *inner) { writes |= isa<StoreOp, AtomicAddOp>(inner); });
  }
  return llvm::all_of(branches, [&](Branch &branch) {
    Operation *made = branch.op.getCondition().getDefiningOp();
    return !made || collectNeeds(made);
  });
}

/// What does not stay, then the loop's yield; of the usual case, or of any.
void Splitter::cloneRest(ImplicitLocOpBuilder &b, bool isUsual) {
  IRMapping mapping;
  for (Operation *op : rest) {
    auto *branch =
        llvm::find_if(branches, [&](Branch &each) { return each.op == op; });
    if (!isUsual || branch == branches.end()) {
      b.clone(*op, mapping);
      continue;
    }
    Block &side = branch->usual().front();
    for (Operation &inner : side.without_terminator())
      b.clone(inner, mapping);
    for (auto [result, yielded] : llvm::zip(
             branch->op.getResults(), side.getTerminator()->getOperands()))
      mapping.map(result, mapping.lookupOrDefault(yielded));
  }
  SmallVector<Value> yields;
  for (Value yielded : loop.getYieldedValues())
    yields.push_back(mapping.lookupOrDefault(yielded));
  scf::YieldOp::create(b, yields);
}

void Splitter::run() {
  // In their order, in front of everything else.
  SmallVector<Operation *> kept;
  Operation *first = nullptr;
  for (Operation &op : body)
    if (early.contains(&op))
      kept.push_back(&op);
    else if (!first)
      first = &op;
  for (Operation *op : kept)
    if (first->isBeforeInBlock(op))
      op->moveBefore(first);
  for (Operation &op : body.without_terminator())
    if (!early.contains(&op))
      rest.push_back(&op);

  ImplicitLocOpBuilder b(loop.getLoc(), body.getTerminator());
  Value unusual;
  for (Branch &branch : branches) {
    Value condition = branch.op.getCondition();
    if (branch.thenMultiplies)
      condition = arith::XOrIOp::create(
          b, condition, arith::ConstantOp::create(b, b.getBoolAttr(true)));
    unusual = unusual ? Value(arith::OrIOp::create(b, unusual, condition))
                      : condition;
  }
  auto split = scf::IfOp::create(b, TypeRange(loop.getYieldedValues()), unusual,
                                 /*withElseRegion=*/true);
  split->setAttr(tilegpu::TileGPUDialect::kRareAttr, b.getUnitAttr());
  b.setInsertionPointToStart(split.thenBlock());
  cloneRest(b, /*isUsual=*/false);
  b.setInsertionPointToStart(split.elseBlock());
  cloneRest(b, /*isUsual=*/true);
  body.getTerminator()->setOperands(split.getResults());
  for (Operation *op : llvm::reverse(rest))
    op->erase();
}
