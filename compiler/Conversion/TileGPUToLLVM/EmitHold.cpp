//===- EmitHold.cpp - Work that waits for a tile --------------------------===//
//
// Part of FlashTile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// ptxas moves a wait for products to where it likes, as far as data allow. A
// fence keeps it behind some work; this keeps other work behind it, by
// selections that depend on what the products made. Branches would do both, but
// ptxas mixes nothing across them.
//
//===----------------------------------------------------------------------===//

#include "compiler/Conversion/TileGPUToLLVM/GpuEmitter.h"

#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "llvm/ADT/SetVector.h"

using namespace mlir;
using namespace flashtile;
using namespace flashtile::gpu;

/// What is made of `values` in `block`, in the order of the block; nothing
/// where something there that has effects needs that. Operations with effects
/// that take `values` themselves, as fences do, do not count.
static std::optional<SmallVector<Operation *>> madeOf(ArrayRef<Value> values,
                                                      Block *block) {
  llvm::SetVector<Operation *> made;
  SmallVector<Value> open(values);
  while (!open.empty()) {
    Value value = open.pop_back_val();
    for (Operation *user : value.getUsers()) {
      bool isMovable = user->getBlock() == block &&
                       user->getNumRegions() == 0 && isMemoryEffectFree(user);
      if (isMovable && made.insert(user))
        llvm::append_range(open, user->getResults());
      if (!isMovable && !llvm::is_contained(values, value))
        return std::nullopt;
    }
  }
  SmallVector<Operation *> sorted(made.takeVector());
  llvm::sort(sorted, [](Operation *one, Operation *other) {
    return one->isBeforeInBlock(other);
  });
  return sorted;
}

void GpuEmitter::emitScheduleHold(tilegpu::ScheduleHoldOp op) {
  auto held =
      MutableArrayRef<Value>(tiles.find(op.getTile())->second).drop_front();
  Block *block = b.getInsertionBlock();
  std::optional<SmallVector<Operation *>> made = madeOf(held, block);
  if (!made)
    return;
  // The bits of a NaN that no instruction makes: never selected.
  constexpr int32_t kNever = 0x7fc0dead;
  Value done = tiles.at(op.getDone()).front();
  Value never = arith::CmpIOp::create(
      b, arith::CmpIPredicate::eq,
      arith::BitcastOp::create(b, b.getI32Type(), done), i32(kNever));
  const DenseSet<Operation *> later(made->begin(), made->end());
  for (Value &value : held) {
    Value behind = arith::SelectOp::create(b, never, done, value);
    value.replaceUsesWithIf(
        behind, [&](OpOperand &use) { return later.contains(use.getOwner()); });
    value = behind;
  }
  for (Operation *user : *made)
    user->moveBefore(block, b.getInsertionPoint());
}
