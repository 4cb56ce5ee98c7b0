//===- ClusterLoads.cpp - Tiles that two blocks load for each other -------===//
//
// Part of FlashTile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Programs that follow each other mostly read the same tiles of one operand of
// a product. Two blocks in a cluster take such programs at the same time, and
// each loads half of what both need into both. Whether they do need the same is
// decided for each program, from where the neighbour would load.
//
// Both have as many programs: where the last has no neighbour, it is computed
// twice and stored once.
//
//===----------------------------------------------------------------------===//

#include "compiler/Schedule/ProgramOrder.h"
#include "compiler/Schedule/Specializer.h"
#include "dialects/Tile/Transforms/Remark.h"
#include "dialects/TileGPU/IR/LaunchAttributes.h"

#include "mlir/Dialect/SCF/IR/SCF.h"

using namespace mlir;
using namespace flashtile;
using namespace flashtile::gpu;
using namespace flashtile::tile;

//===----------------------------------------------------------------------===//
// Whether
//===----------------------------------------------------------------------===//

namespace {
/// How a number follows from that of the program.
enum class Pace {
  Constant, ///< it does not
  Slow,     ///< by a quotient: mostly the same for neighbours
  Fast,     ///< otherwise
};

class PaceReader {
public:
  Pace of(Value value) {
    Operation *op = value.getDefiningOp();
    if (!op)
      return Pace::Constant; // arguments, counters of loops
    if (isa<tilegpu::BlockIdOp, ProgramIdOp>(op))
      return Pace::Fast;
    if (auto known = paces.find(value); known != paces.end())
      return known->second;
    Pace pace = Pace::Constant;
    for (Value operand : op->getOperands())
      pace = std::max(pace, of(operand));
    if (pace == Pace::Fast && isa<arith::DivSIOp, arith::DivUIOp>(op) &&
        of(op->getOperand(1)) != Pace::Fast)
      pace = Pace::Slow;
    paces[value] = pace;
    return pace;
  }

private:
  DenseMap<Value, Pace> paces;
};
} // namespace

/// Whether all that the loops at the top do with tiles is to add up one
/// product: what bounds such a kernel is how fast operands come.
static bool onlyMultiplies(Block &body) {
  bool found = false;
  for (auto loop : body.getOps<scf::ForOp>()) {
    unsigned products = 0;
    for (Operation &op : loop.getBody()->without_terminator()) {
      products += isa<tilegpu::WgmmaOp>(op);
      bool isExpected =
          isa<tilegpu::LoadOp, tilegpu::WgmmaOp, tilegpu::WgmmaWaitOp>(op) ||
          llvm::none_of(op.getResultTypes(), llvm::IsaPred<RankedTensorType>);
      if (op.getNumRegions() != 0 || !isExpected)
        return false;
    }
    if (products != 1)
      return false;
    found = true;
  }
  return found;
}

/// Why not every store can be kept from writing.
static std::string checkStoresOfClusters(KernelOp kernel) {
  std::string reason;
  Block &body = kernel.getBody().front();
  kernel.getBody().walk([&](Operation *op) {
    if (isa<tilegpu::AtomicAddOp, tile::AtomicAddOp>(op))
      reason = "the kernel adds to memory";
    if (isa<tile::StoreOp>(op))
      reason = "the kernel stores single elements";
    auto store = dyn_cast<tilegpu::StoreOp>(op);
    if (!store)
      return;
    auto window = store.getPointer().getDefiningOp<MakeBlockPtrOp>();
    if (store->getBlock() != &body || !window ||
        window.getShape()[0].getType() != window.getOffsets()[0].getType())
      reason = "the kernel does not store through windows at its end";
  });
  return reason;
}

void Specializer::chooseCluster(std::optional<Persistence> how) {
  if (how != Persistence::Fixed || persistence != Persistence::Auto ||
      !costOfPrograms(kernel).isUniform() || !onlyMultiplies(body) ||
      llvm::any_of(rings,
                   [](Ring &ring) { return !ring.inLoop || ring.leader; }))
    return;
  constexpr char kName[] = "tilegpu-specialize-warps";
  std::string reason = checkStoresOfClusters(kernel);
  PaceReader paces;
  int64_t shared = 0;
  for (auto [position, ring] : llvm::enumerate(rings)) {
    // Halves begin where the pattern of a swizzle does.
    constexpr int64_t kPattern = 8;
    bool isShared =
        reason.empty() &&
        ring.slot.getShape()[0] % (kPattern * tilegpu::kClusterBlocks) == 0;
    for (RingLoad &each : loads) {
      if (each.ring != position)
        continue;
      auto loop = cast<scf::ForOp>(each.load->getParentOp());
      for (Value coordinate : each.window.coordinates)
        isShared &= paces.of(coordinate) <=
                    (loop.isDefinedOutsideOfLoop(coordinate) ? Pace::Slow
                                                             : Pace::Constant);
    }
    ring.shared = isShared;
    shared += isShared;
  }
  if (shared == 0) {
    if (reason.empty())
      reason = "neighbouring programs load different tiles";
    remarkMissed(kernel, kName, "Cluster",
                 "each block loads for itself: " + reason);
    return;
  }
  kernel->setAttr(tilegpu::kClusterAttr,
                  b.getI64IntegerAttr(tilegpu::kClusterBlocks));
  remarkApplied(kernel, kName, "Cluster",
                "two blocks load tiles that both need for each other");
}

//===----------------------------------------------------------------------===//
// How
//===----------------------------------------------------------------------===//

void Specializer::compareWithNeighbour(int64_t producer,
                                       const ProgramLoop &programs,
                                       IRMapping &mapping) {
  IRMapping neighbour;
  auto prepare = [&] {
    Value other = arith::MinUIOp::create(
        b, arith::XOrIOp::create(b, programs.turn, i32(1)), programs.last);
    for (auto id : body.getOps<tilegpu::BlockIdOp>())
      if (id != share->block.getDefiningOp())
        neighbour.map(id.getResult(), other);
  };
  PaceReader paces;
  for (auto [position, ring] : llvm::enumerate(rings)) {
    if (!ring.shared || ring.producer != producer)
      continue;
    prepare();
    Value same = arith::ConstantOp::create(b, b.getBoolAttr(true));
    DenseSet<Value> compared;
    for (RingLoad &each : loads)
      if (each.load && each.ring == position)
        for (Value coordinate : each.window.coordinates)
          if (paces.of(coordinate) != Pace::Constant &&
              compared.insert(coordinate).second)
            same = arith::AndIOp::create(
                b, same,
                arith::CmpIOp::create(b, arith::CmpIPredicate::eq,
                                      inProducer(coordinate, mapping),
                                      inProducer(coordinate, neighbour)));
    ring.sharedNow = same;
  }
}

/// Whether `value` is there before `op`, in the block of `op` or around it.
static bool isBefore(Value value, Operation *op) {
  Operation *maker = value.getDefiningOp();
  return !maker || maker->getBlock() != op->getBlock() ||
         maker->isBeforeInBlock(op);
}

void Specializer::storeOnce(Block *home, const ProgramLoop &programs) {
  auto loops = home->getOps<scf::ForOp>();
  for (auto store : llvm::to_vector(home->getOps<tilegpu::StoreOp>())) {
    auto window = store.getPointer().getDefiningOp<MakeBlockPtrOp>();
    SmallVector<Value> offsets(window.getOffsets());
    // Before the products, which take the registers.
    Operation *early = *loops.begin();
    const bool isKnown =
        isBefore(offsets[0], early) && isBefore(window.getShape()[0], early);
    b.setInsertionPoint(isKnown ? early : window);
    // Behind the last row, nothing is written.
    Value again = arith::CmpIOp::create(b, arith::CmpIPredicate::ugt,
                                        programs.turn, programs.last);
    offsets[0] =
        arith::SelectOp::create(b, again, window.getShape()[0], offsets[0]);
    b.setInsertionPoint(store);
    auto moved = cast<MakeBlockPtrOp>(b.clone(*window));
    moved.getOffsetsMutable().assign(offsets);
    store.getPointerMutable().assign(moved.getResult());
    if (auto promised = store.getInBounds()) {
      SmallVector<bool> inBounds(*promised);
      inBounds[0] = false;
      store.setInBounds(ArrayRef<bool>(inBounds));
    }
  }
}
