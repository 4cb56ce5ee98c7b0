//===- LayoutPart.cpp - Some columns of a distributed tile ----------------===//
//
// Part of FlashTile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "compiler/Analysis/Layout/LayoutPart.h"

using namespace flashtile::gpu;

/// How far `digits` reach along `dim`, without the one at `except`.
static int64_t reachOf(const DigitList &digits, unsigned dim, size_t except) {
  int64_t reach = 0;
  for (size_t at = 0; at < digits.size(); ++at)
    if (at != except)
      reach += (digits[at].extent - 1) * digits[at].step[dim];
  return reach;
}

std::optional<LayoutPart>
flashtile::gpu::lastDimPart(const DistributedLayout &layout, int64_t first,
                            int64_t count) {
  if (layout.rank() == 0)
    return std::nullopt;
  const unsigned dim = layout.rank() - 1;
  const int64_t columns = layout.shape()[dim];
  DigitList registers = layout.registers();
  size_t longest = registers.size();
  for (size_t at = 0; at < registers.size(); ++at)
    if (registers[at].extent > 1 &&
        (longest == registers.size() ||
         registers[at].step[dim] > registers[longest].step[dim]))
      longest = at;
  if (longest == registers.size())
    return std::nullopt;
  Digit &digit = registers[longest];
  const int64_t step = digit.step[dim];
  Coordinates alongColumns(layout.rank(), 0);
  alongColumns[dim] = step;
  constexpr size_t kNone = -1;
  const int64_t others = reachOf(registers, dim, longest) +
                         reachOf(layout.lanes(), dim, kNone) +
                         reachOf(layout.warps(), dim, kNone);
  if (step == 0 || digit.step != alongColumns || others >= step ||
      digit.extent * step != columns || first % step != 0 ||
      count % step != 0 || count < 1 || first < 0 || first + count > columns)
    return std::nullopt;
  int64_t below = 1;
  for (size_t at = 0; at < longest; ++at)
    below *= registers[at].extent;
  const int64_t taken = count / step, extent = digit.extent;
  LayoutPart part;
  const int64_t above = layout.registersPerThread() / (below * extent);
  for (int64_t high = 0; high < above; ++high)
    for (int64_t at = first / step; at < first / step + taken; ++at)
      for (int64_t low = 0; low < below; ++low)
        part.registers.push_back((high * extent + at) * below + low);
  digit.extent = taken;
  Coordinates shape(layout.shape().begin(), layout.shape().end());
  shape[dim] = count;
  part.layout = DistributedLayout(shape, std::move(registers), layout.lanes(),
                                  layout.warps());
  return part;
}
