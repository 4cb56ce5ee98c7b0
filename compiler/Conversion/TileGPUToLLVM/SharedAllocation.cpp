//===- SharedAllocation.cpp - Shared memory by liveness -------------------===//
//
// Part of FlashTile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Staged tiles whose lifetimes do not meet share memory. A tile lives from its
// stage to the last product that reads it, or to the end of a loop that reads
// it and does not contain the stage. Reuse needs no barrier of its own: every
// stage waits for all threads before it writes.
//
//===----------------------------------------------------------------------===//

#include "compiler/Conversion/TileGPUToLLVM/GpuEmitter.h"

using namespace mlir;
using namespace flashtile;
using namespace flashtile::gpu;

namespace {
struct Lifetime {
  Value stage;
  int64_t bytes, begin, end, offset;
};
} // namespace

/// Every swizzle pattern and vector access is aligned to this.
static constexpr int64_t kAlignment = 1024;

static int64_t bytesOf(tilegpu::SmemType type) {
  int64_t bytes = type.getElementType().getIntOrFloatBitWidth() / 8;
  for (int64_t extent : type.getShape())
    bytes *= extent;
  return (bytes + kAlignment - 1) / kAlignment * kAlignment;
}

static SmallVector<Lifetime> findLifetimes(tile::KernelOp kernel) {
  DenseMap<Operation *, int64_t> position, last;
  int64_t next = 0;
  kernel.getBody().walk<WalkOrder::PreOrder>(
      [&](Operation *op) { position[op] = next++; });
  kernel.getBody().walk([&](Operation *op) {
    last[op] = std::max(last[op], position[op]);
    Operation *parent = op->getParentOp();
    last[parent] = std::max(last[parent], last[op]);
  });
  SmallVector<Lifetime> lifetimes;
  kernel.getBody().walk<WalkOrder::PreOrder>([&](tilegpu::StageOp stage) {
    int64_t end = position[stage];
    for (Operation *user : stage->getUsers()) {
      end = std::max(end, position[user]);
      for (Operation *at = user; at->getBlock() != stage->getBlock();
           at = at->getParentOp())
        if (isa<scf::ForOp>(at->getParentOp()))
          end = std::max(end, last[at->getParentOp()]);
    }
    lifetimes.push_back(
        {stage.getResult(), bytesOf(stage.getType()), position[stage], end, 0});
  });
  return lifetimes;
}

void GpuEmitter::allocateStages() {
  SmallVector<Lifetime> placed;
  for (Lifetime lifetime : findLifetimes(kernel)) {
    // The lowest place that no living tile touches.
    bool moved = true;
    while (moved) {
      moved = false;
      for (const Lifetime &other : placed) {
        bool together =
            lifetime.begin <= other.end && other.begin <= lifetime.end;
        bool overlap = lifetime.offset < other.offset + other.bytes &&
                       other.offset < lifetime.offset + lifetime.bytes;
        if (together && overlap) {
          lifetime.offset = other.offset + other.bytes;
          moved = true;
        }
      }
    }
    placed.push_back(lifetime);
    stages[lifetime.stage] = lifetime.offset;
    scratchOffset = std::max(scratchOffset, lifetime.offset + lifetime.bytes);
  }
}
