//===- IssueProducts.cpp - Products early, waits late ---------------------===//
//
// Part of FlashTile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// For loops with several products that are no chain of two (OverlapProducts):
//
//   s = k . q;  wait                        start s = k . q
//   p = work on s                           start t = v . g
//   o = p . g + o;  wait                    wait for s; p = work on s
//   t = v . g;  wait                 ->     start o = p . g + o
//   r = work on p and t                     wait for t; r = work on p and t
//   u = r . q + u;  wait                    start u = r . q + u
//   release g; release q                    wait for o; release g
//                                           wait for u; release q
//
// Nothing is under way at the end of an iteration: ptxas serialises products
// whose accumulators go through the back edge of a loop like this.
//
//===----------------------------------------------------------------------===//

#include "compiler/Schedule/IssueProducts.h"

#include "dialects/TileGPU/IR/TileGPUDialect.h"

#include "llvm/ADT/SetVector.h"

using namespace mlir;
using namespace flashtile;
using namespace flashtile::gpu;
using tilegpu::MbarrierArriveOp;
using tilegpu::MbarrierWaitOp;
using tilegpu::SlotOp;
using tilegpu::WgmmaOp;
using tilegpu::WgmmaWaitOp;

namespace {
struct Issued {
  WgmmaOp start;
  WgmmaWaitOp wait;
};

/// Rewrites the body of one loop.
class Issuer {
public:
  explicit Issuer(scf::ForOp loop) : body(*loop.getBody()) {}
  std::string run();

private:
  std::string collect();
  bool collectNeeds(Operation *op, llvm::SetVector<Operation *> &needs);
  void startEarly();
  void readLate();
  void waitLate();
  void releaseLate();
  /// True where some products are under way together.
  bool countPending();

  Block &body;
  SmallVector<Issued> products;
  /// With the waits that stood before each.
  std::vector<std::pair<Operation *, SmallVector<WgmmaWaitOp>>> releases;
};
} // namespace

std::string Issuer::collect() {
  for (Operation &op : body) {
    bool isNested = false;
    for (Region &region : op.getRegions())
      region.walk([&](Operation *inner) {
        isNested |= isa<WgmmaOp, WgmmaWaitOp, MbarrierWaitOp>(inner);
      });
    if (isNested)
      return "products stand in a branch or a loop of it";
    auto start = dyn_cast<WgmmaOp>(op);
    if (!start)
      continue;
    auto wait = start->hasOneUse()
                    ? dyn_cast<WgmmaWaitOp>(*start->getUsers().begin())
                    : WgmmaWaitOp();
    if (!wait || wait->getBlock() != &body || wait->getNumOperands() != 1)
      return "a product is not waited for by itself";
    products.push_back({start, wait});
  }
  return products.size() < 2 ? "there is no second product" : "";
}

/// Adds what `op` needs of the body to `needs`, operands first. False where
/// that cannot move up: it waits for a product, or has other effects.
bool Issuer::collectNeeds(Operation *op, llvm::SetVector<Operation *> &needs) {
  if (op->getBlock() != &body || needs.contains(op))
    return true;
  if (auto slot = dyn_cast<SlotOp>(op)) {
    // With the wait for the data in it.
    auto arrival = dyn_cast_or_null<MbarrierWaitOp>(slot->getPrevNode());
    if (!arrival || arrival.getIndex() != slot.getIndex())
      return false;
    for (Value operand : arrival->getOperands())
      if (Operation *made = operand.getDefiningOp())
        if (!collectNeeds(made, needs))
          return false;
    needs.insert(arrival);
  } else if (!isa<WgmmaOp>(op) &&
             (!isMemoryEffectFree(op) || op->getNumRegions() != 0)) {
    return false;
  }
  for (Value operand : op->getOperands())
    if (Operation *made = operand.getDefiningOp()) {
      if (isa<WgmmaOp>(made))
        return false;
      if (!collectNeeds(made, needs))
        return false;
    }
  needs.insert(op);
  return true;
}

/// Products that need no other one of the iteration start before the first
/// wait.
void Issuer::startEarly() {
  WgmmaWaitOp first;
  for (Operation &op : body)
    if (auto wait = dyn_cast<WgmmaWaitOp>(op)) {
      first = wait;
      break;
    }
  for (Issued &product : products) {
    llvm::SetVector<Operation *> needs;
    if (product.start->isBeforeInBlock(first) ||
        !collectNeeds(product.start, needs))
      continue;
    for (Operation *op : needs)
      if (first->isBeforeInBlock(op))
        op->moveBefore(first);
  }
}

void Issuer::waitLate() {
  for (Issued &product : products) {
    Operation *first = body.getTerminator();
    for (Operation *user : product.wait->getUsers()) {
      Operation *at = body.findAncestorOpInBlock(*user);
      if (at->isBeforeInBlock(first))
        first = at;
    }
    product.wait->moveBefore(first);
  }
}

/// Rows are read where they are used: they would occupy registers until then.
void Issuer::readLate() {
  for (Operation &op : llvm::make_early_inc_range(llvm::reverse(body))) {
    auto type = op.getNumResults() == 1
                    ? dyn_cast<RankedTensorType>(op.getResult(0).getType())
                    : RankedTensorType();
    if (!type || type.getRank() != 1 || op.getNumRegions() != 0 ||
        (!isMemoryEffectFree(&op) && !isa<tilegpu::LoadSharedOp>(op)))
      continue;
    Operation *first = body.getTerminator();
    for (Operation *user : op.getUsers()) {
      Operation *at = body.findAncestorOpInBlock(*user);
      if (at->isBeforeInBlock(first))
        first = at;
    }
    bool isRead = isa<tilegpu::LoadSharedOp>(op);
    for (Operation *at = op.getNextNode(); isRead && at != first;
         at = at->getNextNode())
      if (isa<tilegpu::FenceProxyOp, MbarrierArriveOp>(at))
        first = at;
    op.moveBefore(first);
  }
}

/// Buffers are free behind the waits for the products that read them, or that
/// were made of what they held: all that the release was behind.
void Issuer::releaseLate() {
  for (auto [release, waits] : releases) {
    Operation *last = release;
    for (WgmmaWaitOp wait : waits)
      if (last->isBeforeInBlock(wait))
        last = wait;
    if (last != release)
      release->moveAfter(last);
  }
}

bool Issuer::countPending() {
  DenseMap<Operation *, int> number;
  int started = 0;
  bool any = false;
  for (Operation &op : body)
    if (isa<WgmmaOp>(op))
      number[&op] = started++;
    else if (auto wait = dyn_cast<WgmmaWaitOp>(op)) {
      Operation *start = wait->getOperand(0).getDefiningOp();
      wait.setPending(started - 1 - number.lookup(start));
      any |= wait.getPending() > 0;
    }
  return any;
}

std::string Issuer::run() {
  if (std::string reason = collect(); !reason.empty())
    return reason;
  SmallVector<WgmmaWaitOp> before;
  for (Operation &op : body)
    if (auto wait = dyn_cast<WgmmaWaitOp>(op))
      before.push_back(wait);
    else if (isa<MbarrierArriveOp>(op))
      releases.emplace_back(&op, before);
  startEarly();
  waitLate();
  readLate();
  releaseLate();
  return countPending() ? "" : "each of its products needs the one before";
}

std::string flashtile::gpu::issueProducts(scf::ForOp loop) {
  return Issuer(loop).run();
}
