//===- ScanLayout.cpp - The layout of associative prefixes ----------------===//
//
// Part of FlashTile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "compiler/Conversion/TileToTileGPU/ScanLayout.h"

#include "llvm/Support/MathExtras.h"

using namespace flashtile::gpu;

DistributedLayout flashtile::gpu::scanLayout(llvm::ArrayRef<int64_t> shape,
                                             unsigned axis, int64_t warps) {
  Coordinates others(shape);
  others.erase(others.begin() + axis);
  llvm::SmallVector<unsigned, 4> order;
  for (unsigned dim = others.size(); dim-- > 0;)
    order.push_back(dim);
  // The lines, spread over threads; lanes without a line of their own copy.
  DistributedLayout lines = expandDims(blocked(others, 1, order, warps), axis);
  int64_t spare = 1;
  for (const Digit &digit : lines.lanes())
    if (digit.replicates())
      spare *= digit.extent;
  int64_t extent = shape[axis];
  int64_t along =
      std::min<int64_t>(spare, llvm::PowerOf2Ceil(uint64_t(extent)));
  int64_t run = llvm::divideCeil(extent, along);
  Coordinates still(shape.size(), 0);
  auto moving = [&](int64_t count, int64_t step) {
    Digit digit{count, still};
    digit.step[axis] = step;
    return digit;
  };
  DigitList registers, lanes;
  registers.push_back(moving(run, 1));
  registers.append(lines.registers().begin(), lines.registers().end());
  for (const Digit &digit : lines.lanes())
    if (!digit.replicates())
      lanes.push_back(digit);
  if (along > 1)
    lanes.push_back(moving(along, run));
  if (spare > along)
    lanes.push_back({spare / along, still});
  return {shape, std::move(registers), std::move(lanes), lines.warps()};
}
