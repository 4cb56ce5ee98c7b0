//===- RingLoads.cpp - Which loads a producer takes over ------------------===//
//
// Part of FlashTile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A load goes through a ring where TMA can read its window, and where the
// producer can compute its coordinates and the bounds of its loop. The sizes of
// all rings together decide how many buffers each has, and whether blocks take
// one program after the other.
//
//===----------------------------------------------------------------------===//

#include "compiler/Schedule/ProgramOrder.h"
#include "compiler/Schedule/SharedNeeds.h"
#include "compiler/Schedule/Specializer.h"
#include "dialects/Tile/Transforms/Remark.h"
#include "dialects/Tile/Transforms/ScalarFacts.h"
#include "dialects/TileGPU/IR/LaunchAttributes.h"

using namespace mlir;
using namespace flashtile;
using namespace flashtile::gpu;
using namespace flashtile::tile;
using flashtile::tilegpu::SmemType;
using flashtile::tilegpu::StageOp;

//===----------------------------------------------------------------------===//
// Which loads
//===----------------------------------------------------------------------===//

/// Whether the producer can compute `value`: by arithmetic on scalars, and the
/// counters of the loops around it.
bool Specializer::isComputable(Value value) {
  llvm::SetVector<Value> needed;
  needed.insert(value);
  for (size_t index = 0; index < needed.size(); ++index) {
    Value each = needed[index];
    if (auto argument = dyn_cast<BlockArgument>(each)) {
      auto loop = dyn_cast<scf::ForOp>(argument.getOwner()->getParentOp());
      if (argument.getOwner() != &body &&
          (!loop || argument != loop.getInductionVar()))
        return false;
      continue;
    }
    Operation *op = each.getDefiningOp();
    if (op->getNumRegions() != 0 || !isMemoryEffectFree(op) ||
        isa<RankedTensorType>(each.getType()))
      return false;
    needed.insert(op->operand_begin(), op->operand_end());
  }
  return true;
}

/// Whether `block` is `body`, or that of a loop there, or of a loop in such a
/// loop.
static bool isOfLoops(Block *block, Block &body) {
  while (block != &body) {
    auto loop = dyn_cast<scf::ForOp>(block->getParentOp());
    if (!loop)
      return false;
    block = loop->getBlock();
  }
  return true;
}

/// Checks at run time wait for all threads of the block, the producer's, too.
std::string Specializer::checkOperations() {
  std::string reason;
  kernel.getBody().walk([&](Operation *op) {
    if (isa<AssertOp>(op))
      reason = "the kernel has assertions";
    auto loop = dyn_cast<scf::ForOp>(op);
    if (loop && !getConstantInt(loop.getStep()))
      reason = "the step of a loop is not a constant";
  });
  return reason;
}

/// Whether a product reads all that memory has of the tile's rows: then what
/// lies behind the tile must be zeros.
static bool sumsOverColumns(StageOp stage) {
  return llvm::any_of(stage->getUses(), [](OpOperand &use) {
    bool isLeft = use.getOperandNumber() == 0;
    if (auto product = dyn_cast<tilegpu::WgmmaOp>(use.getOwner()))
      return isLeft ? !product.getTransA() : product.getTransB();
    if (auto product = dyn_cast<tilegpu::MmaOp>(use.getOwner()))
      return isLeft ? !product.getTransA() : product.getTransB();
    return true;
  });
}

/// Whether the tensor has no columns but the tile's: TMA writes zeros there.
static bool endsWithTile(const TmaWindow &window, int64_t columns) {
  auto extent = dyn_cast<IntegerAttr>(window.extents.front());
  std::optional<int64_t> first = getConstantInt(window.coordinates.front());
  return extent && first && extent.getInt() - *first <= columns;
}

std::string Specializer::collectLoad(StageOp stage) {
  auto load = stage.getOperand().getDefiningOp<tilegpu::LoadOp>();
  if (!load)
    return {};
  Block *block = load->getBlock();
  if (block != stage->getBlock() || !isOfLoops(block, body))
    return "a load is neither at the top of the kernel nor in loops there";
  if (llvm::any_of(loads, [&](RingLoad &each) { return each.load == load; }))
    return "a tile is staged in two forms";
  if (load.getPadding() != Padding::Zero)
    return "the padding of a load is not zero";
  std::string whyNot;
  std::optional<TmaWindow> window =
      describeWindow(load.getPointer(), kernel, whyNot);
  if (!window)
    return "a load is not for TMA: " + whyNot;
  SmemType slot = stage.getType();
  auto tile = cast<BlockPtrType>(load.getPointer().getType());
  const int64_t rows = tile.getShape()[0], columns = tile.getShape()[1];
  if (slot.getSwizzle() == 0 || slot.getShape()[0] != rows ||
      slot.getShape()[0] > 256)
    return "a tile is not for TMA: " + std::to_string(rows) + " x " +
           std::to_string(columns) + " elements";
  if (slot.getShape()[1] != columns && sumsOverColumns(stage) &&
      !endsWithTile(*window, columns))
    return "products need zeros behind the " + std::to_string(columns) +
           " columns of a tile, where its tensor has others";
  for (Value coordinate : window->coordinates)
    if (!isComputable(coordinate))
      return "the place of a load depends on what the kernel computes";
  for (Block *around = block; around != &body;) {
    auto loop = cast<scf::ForOp>(around->getParentOp());
    for (Value bound :
         {loop.getLowerBound(), loop.getUpperBound(), loop.getStep()})
      if (!isComputable(bound))
        return "the bounds of a loop depend on what the kernel computes";
    around = loop->getBlock();
  }
  loads.push_back(
      {load, stage, *window, findRing(*window, slot, block, std::nullopt)});
  return {};
}

/// A ring that neither the loop nor one around it uses yet, of the same tensor
/// and tile. Both roles go through loads of a loop before loops in it.
unsigned Specializer::findRing(const TmaWindow &window, SmemType slot,
                               Block *block, std::optional<unsigned> leader) {
  for (auto [position, ring] : llvm::enumerate(rings)) {
    unsigned number = position;
    bool taken = llvm::any_of(loads, [&](RingLoad &each) {
      Block *other = each.load->getBlock();
      return each.ring == number &&
             (block->findAncestorOpInBlock(*each.load) ||
              other->findAncestorOpInBlock(block->front()));
    });
    if (!taken && block != &body && ring.inLoop && ring.slot == slot &&
        ring.leader == leader && ring.window.sharesMapWith(window))
      return number;
  }
  Ring &added = rings.emplace_back();
  added.window = window;
  added.slot = slot;
  added.inLoop = block != &body;
  added.leader = leader;
  return rings.size() - 1;
}

/// A row that a loop loads beside tiles comes with the first of these where TMA
/// can copy it.
void Specializer::collectRow(tilegpu::LoadOp load) {
  Block *block = load->getBlock();
  auto tile = dyn_cast<BlockPtrType>(load.getPointer().getType());
  SmallVector<RingLoad *> tiles;
  if (block != &body)
    tiles = loadsIn(block);
  if (tiles.empty() || !tile || tile.getRank() != 1 ||
      load.getPadding() != Padding::Zero || load->use_empty() ||
      llvm::any_of(loads, [&](RingLoad &each) { return each.load == load; }))
    return;
  constexpr int64_t kSlotBytes = 128, kMaxElements = 256;
  int64_t elements = tile.getShape()[0];
  Type element = getElementType(load.getType());
  if (!element.isIntOrFloat() || element.getIntOrFloatBitWidth() % 8 != 0 ||
      elements > kMaxElements ||
      elements * element.getIntOrFloatBitWidth() / 8 % kSlotBytes != 0)
    return;
  std::string whyNot;
  std::optional<TmaWindow> window =
      describeWindow(load.getPointer(), kernel, whyNot);
  if (!window || llvm::any_of(window->coordinates, [&](Value coordinate) {
        return !isComputable(coordinate);
      }))
    return;
  unsigned leader = tiles.front()->ring;
  auto slot = SmemType::get(kernel.getContext(), tile.getShape(), element, 0);
  unsigned ring = findRing(*window, slot, block, leader);
  loads.push_back({load, StageOp(), *window, ring});
}

std::string Specializer::collect() {
  std::string reason;
  kernel.getBody().walk<WalkOrder::PreOrder>([&](StageOp stage) {
    if (reason.empty())
      reason = collectLoad(stage);
  });
  if (reason.empty() &&
      llvm::none_of(rings, [](Ring &ring) { return ring.inLoop; })) {
    bool computes = false;
    kernel.getBody().walk([&](StageOp stage) {
      computes |= bool(stage->getParentOfType<scf::ForOp>());
    });
    reason = computes ? "loops multiply what they compute or convert, no tile "
                        "as they load it"
                      : "no loop loads operands of products";
  }
  if (reason.empty())
    kernel.getBody().walk([&](tilegpu::LoadOp load) { collectRow(load); });
  return reason;
}

/// The producer runs ahead of everything: what the kernel stores before it
/// loads would come too late. Additions to other arguments' tensors may.
std::string Specializer::checkStores() {
  Operation *last = nullptr;
  for (Operation &op : body)
    for (RingLoad &each : loads)
      if (op.isAncestor(each.load))
        last = &op;
  bool stores = false;
  for (Operation &op : body) {
    op.walk([&](Operation *inner) {
      if (!isa<tilegpu::StoreOp, tile::StoreOp, tilegpu::AtomicAddOp,
               tile::AtomicAddOp>(inner))
        return;
      BlockArgument base = baseArgumentOf(inner->getOperand(0));
      bool adds = isa<tilegpu::AtomicAddOp, tile::AtomicAddOp>(inner);
      stores |= !adds || !base || !inner->use_empty() ||
                llvm::any_of(loads, [&](RingLoad &each) {
                  return each.window.argument == int64_t(base.getArgNumber());
                });
    });
    if (&op == last)
      break;
  }
  return stores ? "the kernel writes to memory before it loads" : "";
}

std::string Specializer::chooseStages() {
  int64_t resident = 0, ring = 0;
  for (Ring &each : rings)
    (each.inLoop ? ring : resident) += each.bytes();
  int64_t stages = wantedStages;
  // Programs that were put together have the room of each, but the block
  // leaves room for what its programs take one after the other.
  if (auto atOnce = kernel->getAttrOfType<DenseI64ArrayAttr>(
          tilegpu::kProgramsAtOnceAttr)) {
    constexpr int64_t kMostStages = 8;
    for (int64_t count : atOnce.asArrayRef())
      stages = std::min(stages * count, kMostStages);
    int64_t beside = resident + bytesBeside();
    while (stages > wantedStages && beside + stages * ring > sharedLimit)
      --stages;
  }
  while (stages > 1 && resident + stages * ring > sharedLimit)
    --stages;
  if (stages < 2)
    return "two buffers of " + std::to_string(ring) + " bytes beside " +
           std::to_string(resident) + " exceed the " +
           std::to_string(sharedLimit) + " bytes of shared memory";
  for (Ring &each : rings)
    each.stages = each.inLoop ? stages : 1;
  return {};
}

std::optional<Persistence> Specializer::choosePersistence(std::string &whyNot) {
  // Fixed shares of programs that are equally long are even, and cost nothing.
  Persistence how = persistence;
  if (how == Persistence::Auto)
    how = costOfPrograms(kernel).isUniform() ? Persistence::Fixed
                                             : Persistence::Counter;
  if (kernel->hasAttr(tilegpu::kPersistentAttr))
    whyNot = "its loop over programs is there already";
  else if (how == Persistence::Never)
    whyNot = "persistent = off asks for that";
  else
    whyNot = whyNotPersistent();
  return whyNot.empty() ? std::optional(how) : std::nullopt;
}

int64_t Specializer::bytesBeside() {
  auto isInRing = [&](StageOp stage) {
    return llvm::any_of(loads,
                        [&](RingLoad &each) { return each.stage == stage; });
  };
  return bytesBesideRings(kernel, isInRing, /*afterOverlap=*/false);
}

/// Empty where blocks can take one program after the other.
std::string Specializer::whyNotPersistent() {
  bool prints = false;
  kernel.getBody().walk([&](PrintOp) { prints = true; });
  if (prints)
    return "the kernel prints the positions of its programs";
  int64_t inRings = 0;
  for (Ring &each : rings)
    inRings += roundedShared(each.stages * each.bytes());
  int64_t beside = bytesBeside();
  // Rings live as long as the block.
  if (inRings + beside > sharedLimit)
    return "beside " + std::to_string(inRings) +
           " bytes of buffers, the kernel needs " + std::to_string(beside) +
           " of the " + std::to_string(sharedLimit) + " of shared memory";
  return {};
}
