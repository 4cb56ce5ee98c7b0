//===- OrderPrograms.cpp - Programs that take long start first ------------===//
//
// Part of FlashTile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Blocks start in the order of their numbers. Where a program that starts late
// takes long, the others' multiprocessors wait for it, so the longest come
// first; of these, programs of few heads at a time, whose keys and values stay
// in the cache:
//
//   grid (4 row tiles, 3 heads), group = 8 programs:  rows grow in work
//     block     0  1  2  3  4  5  6  7  8  9 10 11
//     row       3  3  2  2  1  1  0  0  3  2  1  0
//     head      0  1  0  1  0  1  0  1  2  2  2  2
//
//===----------------------------------------------------------------------===//

#include "compiler/Schedule/Passes.h"
#include "compiler/Schedule/ProgramOrder.h"
#include "dialects/Tile/Transforms/Remark.h"
#include "dialects/TileGPU/IR/LaunchAttributes.h"

#include "mlir/Dialect/Arith/IR/Arith.h"

#include <algorithm>
#include <limits>

namespace flashtile::gpu {
#define GEN_PASS_DEF_ORDERPROGRAMSPASS
#include "compiler/Schedule/Passes.h.inc"
} // namespace flashtile::gpu

using namespace mlir;
using namespace flashtile;
using namespace flashtile::gpu;
using namespace flashtile::tile;

namespace {
struct OrderPrograms
    : public flashtile::gpu::impl::OrderProgramsPassBase<OrderPrograms> {
  using OrderProgramsPassBase::OrderProgramsPassBase;
  void runOnOperation() override;
};
} // namespace

/// Why programs start in the grid's order though they differ.
static std::string whyNotOrdered(KernelOp kernel,
                                 std::optional<unsigned> axis) {
  bool namesPrograms = false;
  kernel.getBody().walk(
      [&](Operation *op) { namesPrograms |= isa<AssertOp, PrintOp>(op); });
  if (namesPrograms)
    return "the kernel prints the positions of its programs";
  if (!axis)
    return "how often loops run does not grow or shrink with the position "
           "along one axis alone";
  return {};
}

void OrderPrograms::runOnOperation() {
  constexpr char kName[] = "tilegpu-order-programs";
  KernelOp kernel = getOperation();
  if (group < 0) {
    kernel.emitError("expected 'group' to be at least 0, but got ")
        << int64_t(group);
    return signalPassFailure();
  }
  if (kernel->hasAttr(tilegpu::kPlainAttr) ||
      kernel->hasAttr(tilegpu::kPersistentAttr))
    return;
  ProgramCost cost = costOfPrograms(kernel);
  if (cost.isUniform())
    return;
  if (group == 0)
    return remarkMissed(kernel, kName, "Order",
                        "programs start in the order of the grid: group = 0 "
                        "asks for that");
  std::optional<unsigned> axis = cost.slope();
  if (std::string reason = whyNotOrdered(kernel, axis); !reason.empty())
    return remarkMissed(kernel, kName, "Order",
                        "programs start in the order of the grid: " + reason);
  ProgramOrder order;
  order.axis = *axis;
  order.fromEnd = cost.axes[*axis] == Trend::Grows;
  constexpr int64_t kAll = std::numeric_limits<int32_t>::max();
  order.group = std::min<int64_t>(group, kAll);
  placePrograms(kernel, order);
  remarkApplied(
      kernel, kName, "Order",
      "programs at the " + std::string(order.fromEnd ? "end" : "start") +
          " of axis " + std::string(1, char('x' + *axis)) +
          " run longest and start first, " +
          (group >= kAll ? std::string("all in one group")
                         : "in groups of " + std::to_string(int64_t(group)) +
                               " programs"));
}
