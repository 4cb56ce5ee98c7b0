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
// The order of the starts decides the order of everything else: what a product
// needs comes right before it, the waits for others included. First come those
// that need no other one of the iteration, then those that need the oldest;
// among equals those whose result the iteration uses come before those that it
// only hands on. Nothing is under way at the end of an iteration: ptxas
// serialises products whose accumulators go through a back edge like this.
//
// Where registers are few, left operands are packed only when all products that
// need no other have ended: they then take the place of what they are made of.
//
// A left operand made in registers that is read from shared memory (as the
// transpose of what was computed) gets two buffers, which the iterations use in
// turn. One barrier an iteration is enough for them: who passes it has waited
// for the products of the iteration before. Where the product runs an iteration
// later (DelayProducts), there is none.
//
//===----------------------------------------------------------------------===//

#include "compiler/Schedule/IssueProducts.h"
#include "compiler/Schedule/ProductChain.h"
#include "compiler/Schedule/SharedNeeds.h"
#include "compiler/Schedule/TurnBuffers.h"
#include "dialects/TileGPU/IR/TileGPUDialect.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/ImplicitLocOpBuilder.h"
#include "llvm/ADT/MapVector.h"
#include "llvm/ADT/SetVector.h"

#include <limits>
#include <tuple>

using namespace mlir;
using namespace flashtile;
using namespace flashtile::gpu;
using tilegpu::FenceProxyOp;
using tilegpu::LoadSharedOp;
using tilegpu::MbarrierArriveOp;
using tilegpu::MbarrierWaitOp;
using tilegpu::SlotOp;
using tilegpu::StageOp;
using tilegpu::WgmmaOp;
using tilegpu::WgmmaWaitOp;

namespace {
struct Issued {
  WgmmaOp start;
  WgmmaWaitOp wait;
};

/// A buffer becomes free behind all of `needs`.
struct Release {
  MbarrierArriveOp arrive;
  FenceProxyOp fence; ///< may be null
  SmallVector<Operation *> needs;
};

/// Rewrites the body of one loop.
class Issuer {
public:
  Issuer(scf::ForOp loop, Block &body, ArrayRef<Handover> handovers,
         int64_t sharedLimit)
      : loop(loop), body(body), handovers(handovers), sharedLimit(sharedLimit) {
  }
  std::string run();

private:
  std::string collect();
  void rereadRows();
  void stageInTurn();
  void collectOrder();
  void chooseStarts();
  SmallVector<Operation *> needsOf(Operation *op);
  int64_t lastProduct(Operation *op);
  bool isUsedHere(const Issued &product);
  int64_t registersAtOnce();
  int64_t packedEarly();
  void placeUnpacked();
  void placeHandedOver();
  void place(Operation *op);
  void placeReleases();
  bool countPending();

  scf::ForOp loop;
  Block &body;
  ArrayRef<Handover> handovers;
  int64_t sharedLimit;
  /// In the order of the text, then in that of their starts.
  SmallVector<Issued> products;
  DenseMap<Operation *, int64_t> numbers; ///< of starts and waits in the latter
  /// What has to come before the users of a buffer: the wait for its data.
  DenseMap<Operation *, SmallVector<Operation *>> preparations;
  /// Other operations with effects, each with those it has to stay behind.
  llvm::MapVector<Operation *, SmallVector<Operation *>> effects;
  SmallVector<Release> releases;
  /// Left operands are packed when no product is under way.
  bool packsLate = false;
  llvm::SetVector<Operation *> placed;
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
    WgmmaWaitOp wait = waitOf(start);
    if (!wait)
      return "a product is not waited for by itself";
    products.push_back({start, wait});
  }
  return products.size() < 2 ? "there is no second product" : "";
}

//===----------------------------------------------------------------------===//
// Operands made in registers
//===----------------------------------------------------------------------===//

void Issuer::stageInTurn() {
  Value counter = findTurnCounter(*loop.getBody());
  auto roles = loop->getParentOfType<tilegpu::WarpSpecializeOp>();
  if (!counter || !roles)
    return;
  bool any = false;
  for (auto stage : llvm::to_vector(body.getOps<StageOp>())) {
    tilegpu::SmemType slotType = stage.getType();
    auto tile = cast<RankedTensorType>(stage.getOperand().getType());
    bool isRead = !stage->use_empty() &&
                  llvm::all_of(stage->getUsers(), [&](Operation *user) {
                    return isa<WgmmaOp>(user) && user->getBlock() == &body;
                  });
    if (!isRead || tile.getShape() != slotType.getShape())
      continue;
    tilegpu::AllocOp ring = findTurnBuffers(stage, sharedLimit);
    if (!ring)
      continue;
    ImplicitLocOpBuilder b(stage.getLoc(), stage);
    Value two = arith::ConstantOp::create(b, b.getI32IntegerAttr(kTurnBuffers));
    Value index = arith::RemUIOp::create(b, counter, two);
    Value slot = SlotOp::create(b, ring, index);
    auto store = tilegpu::StoreSharedOp::create(b, stage.getOperand(), slot);
    auto fence = FenceProxyOp::create(b);
    auto barrier = tilegpu::BarrierOp::create(b);
    for (Operation *user : llvm::to_vector(stage->getUsers())) {
      user->replaceUsesOfWith(stage.getResult(), slot);
      for (Operation *op :
           {store.getOperation(), fence.getOperation(), barrier.getOperation()})
        preparations[user].push_back(op);
    }
    stage.erase();
    any = true;
  }
  if (!any)
    return;
  // Who comes from another loop may still be waited for there.
  OpBuilder b(loop);
  tilegpu::BarrierOp::create(b, loop.getLoc());
  // Other sides of a branch take the place of an iteration's barrier, also one
  // that is not there yet.
  if (auto branch = dyn_cast<scf::IfOp>(body.getParentOp()))
    for (Region *side : {&branch.getThenRegion(), &branch.getElseRegion()}) {
      if (side->empty()) {
        b.createBlock(side);
        scf::YieldOp::create(b, loop.getLoc());
      }
      if (&side->front() != &body) {
        b.setInsertionPoint(side->front().getTerminator());
        tilegpu::BarrierOp::create(b, loop.getLoc());
      }
    }
}

/// In a branch, rows that were read before it are read again: they are in their
/// buffer until the iteration ends.
void Issuer::rereadRows() {
  if (&body == loop.getBody())
    return;
  DenseMap<Operation *, Value> again;
  for (Operation &op : body)
    for (OpOperand &operand : op.getOpOperands()) {
      auto load = operand.get().getDefiningOp<LoadSharedOp>();
      if (!load || load->getBlock() != loop.getBody() ||
          cast<RankedTensorType>(load.getType()).getRank() != 1)
        continue;
      Value &copy = again[load];
      if (!copy) {
        OpBuilder b(&op);
        copy = b.clone(*load)->getResult(0);
      }
      operand.set(copy);
    }
}

//===----------------------------------------------------------------------===//
// What comes before what
//===----------------------------------------------------------------------===//

void Issuer::collectOrder() {
  SmallVector<Operation *> waits, arrivals, loads, writes;
  DenseSet<Operation *> known;
  for (const Handover &handover : handovers)
    if (handover.product->getBlock() == &body)
      llvm::append_range(preparations[handover.product], handover.before);
  for (auto &[user, list] : preparations)
    known.insert(list.begin(), list.end());
  for (Operation &op : body.without_terminator()) {
    if (known.contains(&op) || isa<WgmmaOp>(op))
      continue;
    if (isa<WgmmaWaitOp>(op)) {
      waits.push_back(&op);
    } else if (isa<MbarrierWaitOp>(op)) {
      arrivals.push_back(&op);
    } else if (auto slot = dyn_cast<SlotOp>(op)) {
      for (Operation *arrival : arrivals)
        if (cast<MbarrierWaitOp>(arrival).getIndex() == slot.getIndex())
          preparations[slot].push_back(arrival);
    } else if (auto load = dyn_cast<LoadSharedOp>(op)) {
      loads.push_back(load);
    } else if (auto handover = llvm::find_if(
                   handovers, [&](auto &each) { return each.release == &op; });
               handover != handovers.end()) {
      releases.push_back(
          {handover->release, {}, {*handover->product->getUsers().begin()}});
    } else if (auto arrive = dyn_cast<MbarrierArriveOp>(op)) {
      Release release = {arrive, {}, waits};
      for (Operation *load : loads)
        if (auto slot = load->getOperand(0).getDefiningOp<SlotOp>();
            slot && slot.getIndex() == arrive.getIndex())
          release.needs.push_back(load);
      release.fence = dyn_cast_or_null<FenceProxyOp>(arrive->getPrevNode());
      if (release.fence)
        effects.erase(release.fence);
      releases.push_back(release);
    } else if (!isMemoryEffectFree(&op)) {
      bool reads = isa<tilegpu::LoadOp, tile::LoadOp>(op);
      SmallVector<Operation *> behind;
      if (reads)
        behind = writes;
      else
        for (auto &[other, list] : effects)
          behind.push_back(other);
      if (!reads)
        writes.push_back(&op);
      effects[&op] = behind;
    }
  }
}

/// The operations of the body that come before `op`.
SmallVector<Operation *> Issuer::needsOf(Operation *op) {
  SmallVector<Operation *> needs = preparations.lookup(op);
  if (auto found = effects.find(op); found != effects.end())
    llvm::append_range(needs, found->second);
  op->walk([&](Operation *inner) {
    for (Value operand : inner->getOperands())
      if (Operation *made = operand.getDefiningOp();
          made && made->getBlock() == &body)
        needs.push_back(made);
  });
  return needs;
}

/// The number of the last product that `op` waits for; -1: none. Of those whose
/// start has no number yet, infinity.
int64_t Issuer::lastProduct(Operation *op) {
  int64_t last = -1;
  llvm::SetVector<Operation *> seen;
  seen.insert(op);
  for (size_t index = 0; index < seen.size(); ++index)
    for (Operation *need : needsOf(seen[index])) {
      if (!isa<WgmmaWaitOp>(need)) {
        seen.insert(need);
        continue;
      }
      auto found = numbers.find(need);
      last = std::max(last, found == numbers.end()
                                ? std::numeric_limits<int64_t>::max()
                                : found->second);
    }
  return last;
}

/// Whether the iteration does something with the result.
bool Issuer::isUsedHere(const Issued &product) {
  return llvm::any_of(product.wait->getUsers(), [&](Operation *user) {
    return user != body.getTerminator();
  });
}

/// 32-bit registers of a thread for a tile that all warpgroups share.
static int64_t registersOf(Type type, int64_t warpgroups) {
  constexpr int64_t kThreadsOfWarpgroup = 128;
  auto tile = cast<RankedTensorType>(type);
  return tile.getNumElements() * tile.getElementTypeBitWidth() / 32 /
         (kThreadsOfWarpgroup * warpgroups);
}

/// Of products that may be under way together, of what is carried, and of
/// operands that stay.
int64_t Issuer::registersAtOnce() {
  int64_t registers = 0;
  for (Issued &product : products) {
    int64_t warpgroups = product.start.getWarpgroups();
    if (Value head = product.start.getHead())
      registers += registersOf(head.getType(), warpgroups);
    // What others have made in the meantime is gone.
    if (product.start.getC() || lastProduct(product.start) < 0)
      registers += registersOf(product.start.getType(), warpgroups);
  }
  return registers;
}

/// Of operands that are packed while what they are made of is still needed.
int64_t Issuer::packedEarly() {
  int64_t registers = 0;
  for (Issued &product : products)
    if (isa<RankedTensorType>(product.start.getA().getType()) &&
        lastProduct(product.start) >= 0)
      registers =
          std::max(registers, registersOf(product.start.getA().getType(),
                                          product.start.getWarpgroups()));
  return registers;
}

/// What operands of products are packed from, of all products: registers are
/// free for the packed ones when the products before have ended.
void Issuer::placeUnpacked() {
  for (Issued &product : products) {
    Value value = product.start.getA();
    Operation *op = value.getDefiningOp();
    while (op && op->getBlock() == &body &&
           isa<tile::CastOp, tilegpu::ConvertLayoutOp>(op))
      op = op->getOperand(0).getDefiningOp();
    if (op && op->getBlock() == &body && isa<RankedTensorType>(value.getType()))
      place(op);
  }
}

/// What the next iteration multiplies is packed and written before other
/// products start: what it is made of is then needed no more.
void Issuer::placeHandedOver() {
  for (const Handover &handover : handovers)
    if (handover.product->getBlock() == &body)
      for (Operation *op : handover.before) {
        place(op);
        if (isa<tilegpu::StoreSharedOp>(op))
          break;
      }
}

void Issuer::chooseStarts() {
  // Of 240 registers of a thread, of 160 with three warpgroups.
  int64_t limit = products.front().start.getWarpgroups() <= 2 ? 212 : 136;
  SmallVector<Issued> left(products), chosen;
  int64_t atOnce = registersAtOnce();
  bool inOrder = atOnce > limit;
  packsLate = !inOrder && atOnce + packedEarly() > limit;
  while (!left.empty()) {
    size_t best = 0;
    auto keyOf = [&](Issued &product) {
      int64_t last = lastProduct(product.start);
      return std::tuple(last, !isUsedHere(product));
    };
    for (size_t index = 1; index < left.size() && !inOrder; ++index)
      if (keyOf(left[index]) < keyOf(left[best]))
        best = index;
    numbers[left[best].start] = numbers[left[best].wait] = chosen.size();
    chosen.push_back(left[best]);
    left.erase(left.begin() + best);
  }
  products = chosen;
}

//===----------------------------------------------------------------------===//
// The new order
//===----------------------------------------------------------------------===//

/// Places `op` behind what it needs.
void Issuer::place(Operation *op) {
  if (placed.contains(op))
    return;
  // Products end in the order of their starts.
  if (isa<WgmmaWaitOp>(op))
    for (Issued &product : products)
      if (numbers.lookup(product.wait) < numbers.lookup(op))
        place(product.wait);
  for (Operation *need : needsOf(op))
    place(need);
  placed.insert(op);
  placeReleases();
}

void Issuer::placeReleases() {
  for (Release &release : releases)
    if (!placed.contains(release.arrive) &&
        llvm::all_of(release.needs,
                     [&](Operation *need) { return placed.contains(need); })) {
      if (release.fence)
        placed.insert(release.fence);
      for (Operation *need : needsOf(release.arrive))
        if (!isa<WgmmaWaitOp>(need))
          place(need);
      placed.insert(release.arrive);
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
  rereadRows();
  stageInTurn();
  collectOrder();
  chooseStarts();
  bool needsOthers = false;
  for (Issued &product : products) {
    bool isDependent = lastProduct(product.start) >= 0;
    if (isDependent && !needsOthers) {
      if (packsLate)
        placeUnpacked();
      placeHandedOver();
    }
    needsOthers |= isDependent;
    place(product.start);
  }
  for (auto &[op, behind] : effects)
    place(op);
  for (Issued &product : products)
    place(product.wait);
  for (Operation &op : body.without_terminator())
    place(&op);
  for (Operation *op : placed)
    op->moveBefore(body.getTerminator());
  return countPending() ? "" : "each of its products needs the one before";
}

std::string flashtile::gpu::issueProducts(scf::ForOp loop, Block &block,
                                          ArrayRef<Handover> handovers,
                                          int64_t sharedLimit) {
  return Issuer(loop, block, handovers, sharedLimit).run();
}
