//===- SharedAllocation.cpp - Shared memory by liveness -------------------===//
//
// Part of FlashTile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Staged tiles and rings whose lifetimes do not meet share memory. Each lives
// from the operation that makes it to the last one that touches it, or to the
// end of a loop that touches it and does not contain its maker. Reuse needs no
// barrier of its own: every stage waits for all threads before it writes, and
// so does whoever copies to a ring. The scratch memory of a single operation
// lies where nothing lives at that moment; such operations, too, wait first.
//
//===----------------------------------------------------------------------===//

#include "compiler/Conversion/TileGPUToLLVM/GpuEmitter.h"

#include "llvm/Support/Path.h"

using namespace mlir;
using namespace flashtile;
using namespace flashtile::gpu;

/// Every swizzle pattern and vector access is aligned to this.
static constexpr int64_t kAlignment = 1024;

static int64_t bytesOf(Type type) {
  int64_t bytes = 0;
  if (auto ring = dyn_cast<tilegpu::RingType>(type))
    bytes = ring.getCount() * sharedLayoutOf(ring.getSlotType()).bytes();
  else
    bytes = sharedLayoutOf(cast<tilegpu::SmemType>(type)).bytes();
  return (bytes + kAlignment - 1) / kAlignment * kAlignment;
}

/// The operations that read or write the memory that `op` made.
static SmallVector<Operation *> accessesOf(Operation *op) {
  SmallVector<Operation *> accesses;
  for (Operation *user : op->getUsers()) {
    accesses.push_back(user);
    if (isa<tilegpu::SlotOp>(user))
      llvm::append_range(accesses, user->getUsers());
  }
  return accesses;
}

/// The wait that ends a product in the same block, if there is one: with others
/// under way, it may end those that started before only.
static tilegpu::WgmmaWaitOp waitFor(tilegpu::WgmmaOp product) {
  for (Operation *user : product->getUsers())
    if (auto wait = dyn_cast<tilegpu::WgmmaWaitOp>(user);
        wait && wait->getBlock() == product->getBlock() &&
        wait.getPending() == 0)
      return wait;
  return {};
}

void GpuEmitter::findLifetimes() {
  DenseMap<Operation *, int64_t> last;
  int64_t next = 0;
  kernel.getBody().walk<WalkOrder::PreOrder>(
      [&](Operation *op) { positions[op] = next++; });
  kernel.getBody().walk([&](Operation *op) {
    last[op] = std::max(last[op], positions[op]);
    Operation *parent = op->getParentOp();
    last[parent] = std::max(last[parent], last[op]);
  });
  // Products and stores by TMA read in the background until a wait: the last
  // one of the kernel is late enough.
  int64_t productsDone = -1, storesDone = -1;
  kernel.getBody().walk([&](tilegpu::WgmmaWaitOp wait) {
    productsDone = std::max(productsDone, positions[wait]);
  });
  kernel.getBody().walk([&](tilegpu::TmaStoreWaitOp wait) {
    storesDone = std::max(storesDone, positions[wait]);
  });
  kernel.getBody().walk<WalkOrder::PreOrder>([&](Operation *maker) {
    if (!isa<tilegpu::StageOp, tilegpu::AllocOp>(maker))
      return;
    int64_t end = positions[maker];
    for (Operation *user : accessesOf(maker)) {
      end = std::max(end, positions[user]);
      if (auto product = dyn_cast<tilegpu::WgmmaOp>(user)) {
        tilegpu::WgmmaWaitOp wait = waitFor(product);
        end = std::max(end, wait               ? positions[wait]
                            : productsDone < 0 ? next
                                               : productsDone);
      }
      if (isa<tilegpu::TmaStoreOp>(user))
        end = std::max(end, storesDone < 0 ? next : storesDone);
      for (Operation *at = user; at->getBlock() != maker->getBlock();
           at = at->getParentOp())
        if (isa<LoopLikeOpInterface>(at->getParentOp()))
          end = std::max(end, last[at->getParentOp()]);
    }
    Value memory = maker->getResult(0);
    lifetimes.push_back(
        {memory, bytesOf(memory.getType()), positions[maker], end, -1});
  });
}

int64_t GpuEmitter::placeShared(int64_t bytes, int64_t begin, int64_t end) {
  int64_t offset = 0;
  bool moved = true;
  while (moved) {
    moved = false;
    for (const Lifetime &other : lifetimes) {
      bool together =
          other.offset >= 0 && begin <= other.end && other.begin <= end;
      bool overlap =
          offset < other.offset + other.bytes && other.offset < offset + bytes;
      if (together && overlap) {
        offset = other.offset + other.bytes;
        moved = true;
      }
    }
  }
  sharedSize = std::max(sharedSize, offset + bytes);
  return offset;
}

void GpuEmitter::allocateShared() {
  findLifetimes();
  for (Lifetime &lifetime : lifetimes) {
    lifetime.offset = placeShared(lifetime.bytes, lifetime.begin, lifetime.end);
    stages[lifetime.memory] = lifetime.offset;
  }
}

int64_t GpuEmitter::reserveScratch(int64_t bytes) {
  int64_t position = positions.at(current);
  int64_t rounded = (bytes + kAlignment - 1) / kAlignment * kAlignment;
  int64_t offset = placeShared(rounded, position, position);
  int64_t &size = scratchSizes[offset];
  size = std::max(size, rounded);
  return offset;
}

/// "ring 2 x 64x64xbf16 (k.mlir:12)".
static std::string describeMemory(Value memory) {
  std::string text;
  llvm::raw_string_ostream stream(text);
  auto describe = [&](ArrayRef<int64_t> shape, Type element) {
    for (int64_t extent : shape)
      stream << extent << 'x';
    stream << element;
  };
  if (auto ring = dyn_cast<tilegpu::RingType>(memory.getType())) {
    stream << "ring " << ring.getCount() << " x ";
    describe(ring.getShape(), ring.getElementType());
  } else if (auto tile = dyn_cast<tilegpu::SmemType>(memory.getType())) {
    stream << "tile ";
    describe(tile.getShape(), tile.getElementType());
  }
  if (auto place = memory.getLoc()->findInstanceOf<FileLineColLoc>())
    stream << " (" << llvm::sys::path::filename(place.getFilename()) << ':'
           << place.getLine() << ')';
  return text;
}

ArrayAttr GpuEmitter::sharedBuffers() {
  Builder builder(kernel.getContext());
  SmallVector<Attribute> buffers;
  auto add = [&](StringRef name, int64_t offset, int64_t bytes) {
    buffers.push_back(builder.getDictionaryAttr(
        {builder.getNamedAttr("name", builder.getStringAttr(name)),
         builder.getNamedAttr("offset", builder.getI64IntegerAttr(offset)),
         builder.getNamedAttr("bytes", builder.getI64IntegerAttr(bytes))}));
  };
  for (const Lifetime &lifetime : lifetimes)
    add(describeMemory(lifetime.memory), lifetime.offset, lifetime.bytes);
  for (auto [offset, bytes] : scratchSizes)
    add("scratch", offset, bytes);
  if (mbarrierBytes > 0)
    add("mbarriers", sharedSize, mbarrierBytes);
  return builder.getArrayAttr(buffers);
}
