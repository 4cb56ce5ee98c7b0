//===- StoreTiles.cpp - Results through shared memory by TMA --------------===//
//
// Part of FlashTile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//   store window, convert_layout(x)
//
// of a result of warpgroup products becomes
//
//   wait until the store before from the buffer has read it; barrier
//   x to the buffer by stmatrix; fence; barrier
//   one thread copies the buffer by TMA, in the background
//
// Where a buffer for the whole tile does not fit, some of its columns go after
// the others. Where each warp holds rows of its own, it copies them itself: its
// lanes wait for each other only, and warps need not finish together.
//
// What is stored to several tensors is copied to each from the same buffer.
//
// The buffer belongs to the block as rings do: what is stored last may still be
// on its way while the next program computes.
//
//===----------------------------------------------------------------------===//

#include "compiler/Conversion/TileToTileGPU/LayoutAttrs.h"
#include "compiler/Schedule/Passes.h"
#include "compiler/Schedule/SharedNeeds.h"
#include "compiler/Schedule/StorePlan.h"
#include "dialects/Tile/Transforms/Remark.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/ImplicitLocOpBuilder.h"
#include "llvm/ADT/MapVector.h"

#include <vector>

namespace flashtile::gpu {
#define GEN_PASS_DEF_STORETILESPASS
#include "compiler/Schedule/Passes.h.inc"
} // namespace flashtile::gpu

using namespace mlir;
using namespace flashtile;
using namespace flashtile::gpu;
using namespace flashtile::tile;

namespace {
/// The stores of one tile in a block, in their order, and how TMA does them.
struct TileStores {
  std::vector<tilegpu::StoreOp> stores;
  std::vector<StorePlan> plans;
};

struct StoreTiles
    : public flashtile::gpu::impl::StoreTilesPassBase<StoreTiles> {
  using StoreTilesPassBase::StoreTilesPassBase;

  void runOnOperation() override;

private:
  std::string rewrite(const TileStores &tile, tilegpu::WarpSpecializeOp roles,
                      int64_t &used,
                      SmallVectorImpl<tilegpu::TmaStoreWaitOp> &waits);
};
} // namespace

/// Whether each warp holds the rows that are its share, and no others: the
/// first rows the first warp, and so on.
static bool isSharedByRows(Type tile, int64_t &warps) {
  DistributedLayout layout = layoutOf(tile);
  warps = layout.warpCount();
  int64_t rows = layout.shape()[0];
  constexpr int64_t kPattern = 8;
  if (rows % warps != 0 || rows / warps % kPattern != 0)
    return false;
  int64_t share = rows / warps, reach = 0;
  for (HardwareIndex index : {HardwareIndex::Register, HardwareIndex::Lane})
    for (const Digit &digit : layout.digits(index))
      reach += (digit.extent - 1) * digit.step[0];
  if (reach >= share)
    return false;
  for (int64_t warp = 0; warp < warps; ++warp)
    if (layout.offset(HardwareIndex::Warp, warp) !=
        Coordinates{warp * share, 0})
      return false;
  return true;
}

/// Stores the tile, `columns` at a time, through one buffer, where the last of
/// its stores stands. What waits until that may be written.
static tilegpu::TmaStoreWaitOp storeByTma(const TileStores &tile,
                                          int64_t columns,
                                          tilegpu::WarpSpecializeOp roles) {
  const StorePlan &plan = tile.plans.front();
  tilegpu::ConvertLayoutOp convert = plan.convert;
  auto type = cast<RankedTensorType>(convert.getType());
  tilegpu::StoreOp last = tile.stores.back();
  ImplicitLocOpBuilder b(last.getLoc(), roles);
  int64_t warps = 1;
  const int64_t rows = type.getDimSize(0);
  bool byWarp = isSharedByRows(convert.getOperand().getType(), warps);
  SmallVector<Value> maps;
  for (const StorePlan &each : tile.plans)
    maps.push_back(createTensorMap(
        b, each.window, plan.buffer(byWarp ? rows / warps : rows, columns)));
  tilegpu::SmemType form = plan.buffer(rows, columns);
  Value buffer = tilegpu::AllocOp::create(
      b, tilegpu::RingType::get(b.getContext(), 1, form.getShape(),
                                form.getElementType(), form.getSwizzle()));
  b.setInsertionPoint(last);
  auto i32 = [&](int64_t value) -> Value {
    return arith::ConstantOp::create(b, b.getI32IntegerAttr(value));
  };
  SmallVector<SmallVector<Value>> places;
  for (const StorePlan &each : tile.plans) {
    places.emplace_back();
    for (Value coordinate : each.window.coordinates)
      places.back().push_back(toCoordinate(b, coordinate));
  }
  tilegpu::TmaStoreWaitOp firstWait;
  for (int64_t first = 0; first < type.getDimSize(1); first += columns) {
    auto wait = tilegpu::TmaStoreWaitOp::create(b, 0, /*read=*/true, byWarp);
    if (first == 0)
      firstWait = wait;
    if (!byWarp)
      tilegpu::BarrierOp::create(b);
    Value slot = tilegpu::SlotOp::create(b, buffer, i32(0));
    tilegpu::StoreSharedOp::create(b, convert.getOperand(), slot, first);
    tilegpu::FenceProxyOp::create(b);
    if (!byWarp)
      tilegpu::BarrierOp::create(b);
    for (auto [map, place] : llvm::zip(maps, places)) {
      SmallVector<Value> coordinates(place);
      if (first > 0)
        coordinates.front() =
            arith::AddIOp::create(b, place.front(), i32(first));
      tilegpu::TmaStoreOp::create(b, slot, map, coordinates, byWarp);
    }
  }
  for (tilegpu::StoreOp store : tile.stores)
    store.erase();
  if (convert->use_empty())
    convert.erase();
  return firstWait;
}

/// Each tile has a buffer of its own: before the first is written, all copies
/// of the program before have read theirs, and no other wait is needed. They
/// count for the thread that started them.
static void waitOnce(MutableArrayRef<tilegpu::TmaStoreWaitOp> waits) {
  for (tilegpu::TmaStoreWaitOp wait : waits.drop_front())
    if (wait.getByWarp() && waits.front().getByWarp())
      wait.erase();
}

/// Does it with the widest buffer that fits, or says why not. `used`: bytes of
/// shared memory, with the narrowest buffers of what is still to be stored.
std::string
StoreTiles::rewrite(const TileStores &tile, tilegpu::WarpSpecializeOp roles,
                    int64_t &used,
                    SmallVectorImpl<tilegpu::TmaStoreWaitOp> &waits) {
  const StorePlan &plan = tile.plans.front();
  const int64_t others = used - roundedShared(plan.bytes(plan.widths.back()));
  for (int64_t columns : plan.widths) {
    int64_t together = others + roundedShared(plan.bytes(columns));
    if (together > sharedLimit)
      continue;
    used = together;
    for (const StorePlan &each : tile.plans)
      requireRowLength(getOperation(), each);
    waits.push_back(storeByTma(tile, columns, roles));
    return {};
  }
  return "a buffer for it would make " + std::to_string(used) +
         " bytes of shared memory, more than " +
         std::to_string(int64_t(sharedLimit));
}

void StoreTiles::runOnOperation() {
  if (sharedLimit < 0) {
    getOperation().emitError(
        "expected at least 0 bytes of shared memory, but got ")
        << int64_t(sharedLimit);
    return signalPassFailure();
  }
  for (auto roles : llvm::to_vector(
           getOperation().getBody().getOps<tilegpu::WarpSpecializeOp>())) {
    SmallVector<tilegpu::TmaStoreWaitOp> waits;
    int64_t used = sharedBytesAtMost(getOperation(), /*afterOverlap=*/true);
    SmallVector<tilegpu::StoreOp> stores;
    roles.getConsumer().walk(
        [&](tilegpu::StoreOp store) { stores.push_back(store); });
    auto refuse = [](tilegpu::StoreOp store, const std::string &whyNot) {
      remarkMissed(store, "tilegpu-store-tiles", "Store",
                   "a tile is stored by threads: " + whyNot);
    };
    llvm::MapVector<Operation *, TileStores> tiles; // by what converts them
    for (tilegpu::StoreOp store : stores) {
      if (!isa<BlockPtrType>(store.getPointer().getType()) ||
          cast<RankedTensorType>(store.getValue().getType()).getRank() != 2)
        continue;
      std::string whyNot;
      if (auto plan = planStore(store, getOperation(), whyNot)) {
        TileStores &tile = tiles[plan->convert];
        tile.stores.push_back(store);
        tile.plans.push_back(*plan);
      } else {
        refuse(store, whyNot);
      }
    }
    for (auto &[convert, tile] : tiles) {
      std::string whyNot = rewrite(tile, roles, used, waits);
      if (!whyNot.empty())
        for (tilegpu::StoreOp store : tile.stores)
          refuse(store, whyNot);
    }
    if (waits.empty())
      continue;
    waitOnce(waits);
    remarkApplied(roles, "tilegpu-store-tiles", "Store",
                  "tiles are stored by TMA");
    // The block's shared memory stays until the last store has read it.
    ImplicitLocOpBuilder b(roles.getLoc(),
                           roles.getConsumer().front().getTerminator());
    tilegpu::TmaStoreWaitOp::create(b, 0, /*read=*/true, /*byWarp=*/false);
  }
}
