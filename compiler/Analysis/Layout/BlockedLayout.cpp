//===- BlockedLayout.cpp - Layouts for coalesced accesses -----------------===//
//
// Part of FlashTile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "compiler/Analysis/Layout/DistributedLayout.h"

#include "llvm/Support/MathExtras.h"

#include <algorithm>
#include <cassert>
#include <numeric>

using namespace flashtile::gpu;

/// A warp that covers this many vectors along the contiguous dimension fills
/// a 128-byte line of 16-byte vectors: more lanes there gain nothing.
static constexpr int64_t lanesOfALine = 8;

namespace {
/// Hands out vectors of a tile: per dimension, what is left for the registers.
class Distribution {
public:
  Distribution(llvm::ArrayRef<int64_t> shape, int64_t vector, unsigned fastest)
      : left(shape), next(shape.size(), 1) {
    left[fastest] /= vector;
    next[fastest] = vector;
  }

  /// `count` consecutive values of an index along `dim`.
  void take(DigitList &digits, unsigned dim, int64_t count) {
    if (count == 1)
      return;
    Digit digit{count, Coordinates(left.size(), 0)};
    digit.step[dim] = next[dim];
    digits.push_back(digit);
    next[dim] *= count;
    left[dim] = llvm::divideCeil(left[dim], count);
  }

  void replicate(DigitList &digits, int64_t count) {
    if (count > 1)
      digits.push_back({count, Coordinates(left.size(), 0)});
  }

  /// The dimension with most left, the first in `dims` among equals; none
  /// where every thread has one vector.
  std::optional<unsigned> longest(llvm::ArrayRef<unsigned> dims) const {
    std::optional<unsigned> best;
    for (unsigned dim : dims)
      if (left[dim] > 1 && (!best || left[dim] > left[*best]))
        best = dim;
    return best;
  }

  Coordinates left; ///< vectors along each dimension not handed out
  Coordinates next; ///< the step of the next digit along each dimension
};
} // namespace

/// How many lanes lie along the contiguous dimension: what divides it, but for
/// a short run rather up to an eighth of padding than uncoalesced rows.
static int64_t lanesAlongRow(int64_t vectors) {
  int64_t exact = std::min(vectors & -vectors, lanesPerWarp);
  int64_t best = exact;
  if (exact >= lanesOfALine)
    return exact;
  for (int64_t lanes = exact; lanes <= lanesPerWarp; lanes *= 2) {
    int64_t covered = llvm::divideCeil(vectors, lanes) * lanes;
    if ((covered - vectors) * 8 <= vectors)
      best = lanes;
  }
  return best;
}

/// Exactly divisible parts first, then padding instead of idle threads.
static DigitList distributeLanes(Distribution &tile,
                                 llvm::ArrayRef<unsigned> order) {
  DigitList lanes;
  int64_t rest = lanesPerWarp;
  auto take = [&](unsigned dim, int64_t count) {
    tile.take(lanes, dim, count);
    rest /= count;
  };
  take(order.front(), lanesAlongRow(tile.left[order.front()]));
  for (unsigned dim : order.drop_front())
    take(dim, std::min(tile.left[dim] & -tile.left[dim], rest));
  while (rest > 1) {
    std::optional<unsigned> dim = tile.longest(order);
    if (!dim)
      break;
    take(*dim, 2);
  }
  tile.replicate(lanes, rest);
  return lanes;
}

static int64_t smallestPrimeFactor(int64_t value) {
  for (int64_t factor = 2; factor * factor <= value; ++factor)
    if (value % factor == 0)
      return factor;
  return value;
}

static DigitList distributeWarps(Distribution &tile,
                                 llvm::ArrayRef<unsigned> order, int64_t rest) {
  // Outer dimensions first: each warp keeps long contiguous runs.
  llvm::SmallVector<unsigned> outward(llvm::reverse(order));
  DigitList warps;
  while (rest > 1) {
    int64_t prime = smallestPrimeFactor(rest);
    auto *exact = llvm::find_if(
        outward, [&](unsigned dim) { return tile.left[dim] % prime == 0; });
    std::optional<unsigned> dim =
        exact != outward.end() ? std::optional(*exact) : tile.longest(outward);
    if (dim)
      tile.take(warps, *dim, prime);
    else
      tile.replicate(warps, prime);
    rest /= prime;
  }
  return warps;
}

DistributedLayout flashtile::gpu::blocked(llvm::ArrayRef<int64_t> shape,
                                          int64_t vectorWidth,
                                          llvm::ArrayRef<unsigned> order,
                                          int64_t warps) {
  assert(order.size() == shape.size() && "order of another rank");
  assert(warps > 0 && vectorWidth > 0 && "no threads or no vector");
  if (shape.empty())
    return replicated(shape, warps);
  unsigned fastest = order.front();
  int64_t vector = std::gcd(vectorWidth, shape[fastest]);
  Distribution tile(shape, vector, fastest);
  DigitList registers;
  if (vector > 1) {
    registers.push_back({vector, Coordinates(shape.size(), 0)});
    registers.back().step[fastest] = 1;
  }
  DigitList laneDigits = distributeLanes(tile, order);
  DigitList warpDigits = distributeWarps(tile, order, warps);
  for (unsigned dim : order)
    tile.take(registers, dim, tile.left[dim]);
  return {shape, std::move(registers), std::move(laneDigits),
          std::move(warpDigits)};
}

DistributedLayout flashtile::gpu::replicated(llvm::ArrayRef<int64_t> shape,
                                             int64_t warps) {
  Coordinates still(shape.size(), 0);
  DigitList registers;
  for (size_t dim = shape.size(); dim-- > 0;) {
    registers.push_back({shape[dim], still});
    registers.back().step[dim] = 1;
  }
  return {shape,
          canonicalDigits(registers),
          {{lanesPerWarp, still}},
          canonicalDigits({Digit{warps, still}})};
}
