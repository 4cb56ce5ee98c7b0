//===- SharedLayout.cpp - Tiles in shared memory --------------------------===//
//
// Part of FlashTile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "compiler/Analysis/Layout/SharedLayout.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/MathExtras.h"

#include <algorithm>
#include <cassert>

using namespace flashtile::gpu;

/// The swizzles' patterns repeat after this many rows of a box.
static constexpr int64_t patternRows = 8;
static constexpr int64_t chunkBytes = 16;
static constexpr int64_t bankCount = 32;
static constexpr int64_t bankBytes = 4;

static int64_t span(const SharedLayout &layout) {
  return static_cast<int64_t>(layout.swizzle);
}

SharedLayout::SharedLayout(llvm::ArrayRef<int64_t> shape, int64_t elementBytes,
                           llvm::ArrayRef<unsigned> order, Swizzle swizzle,
                           int64_t rowPadding)
    : shape(shape), elementBytes(elementBytes), order(order), swizzle(swizzle),
      rowPadding(rowPadding) {
  assert(!verify() && "no such layout in shared memory");
}

std::optional<std::string> SharedLayout::verify() const {
  for (int64_t extent : shape)
    if (extent < 1)
      return "expected positive extents, but got " + std::to_string(extent);
  if (!llvm::isPowerOf2_64(elementBytes) || elementBytes > 8)
    return "expected elements of 1, 2, 4 or 8 bytes, but got " +
           std::to_string(elementBytes);
  if (order.size() != shape.size())
    return "expected an order of " + std::to_string(shape.size()) +
           " dimensions, but got " + std::to_string(order.size());
  for (unsigned dim = 0; dim < shape.size(); ++dim)
    if (!llvm::is_contained(order, dim))
      return "the order lacks dimension " + std::to_string(dim);
  if (swizzle != Swizzle::None && rowPadding != 0)
    return "swizzled rows cannot be padded";
  if (rowPadding < 0 || rowPadding % elementBytes != 0)
    return "expected a padding of whole elements, but got " +
           std::to_string(rowPadding) + " bytes";
  return std::nullopt;
}

int64_t SharedLayout::rowCount() const {
  int64_t rows = 1;
  for (size_t i = 1; i < order.size(); ++i)
    rows *= shape[order[i]];
  return rows;
}

/// Bytes of the contiguous dimension.
static int64_t rowBytes(const SharedLayout &layout) {
  int64_t extent = layout.order.empty() ? 1 : layout.shape[layout.order[0]];
  return extent * layout.elementBytes;
}

int64_t SharedLayout::rowStride() const {
  return swizzle == Swizzle::None ? rowBytes(*this) + rowPadding : span(*this);
}

int64_t SharedLayout::boxStride() const {
  int64_t rows = rowCount();
  if (swizzle != Swizzle::None)
    rows = llvm::alignTo(rows, patternRows);
  return rows * rowStride();
}

int64_t SharedLayout::boxCount() const {
  return swizzle == Swizzle::None
             ? 1
             : llvm::divideCeil(rowBytes(*this), span(*this));
}

int64_t SharedLayout::bytes() const { return boxStride() * boxCount(); }

int64_t SharedLayout::alignment() const {
  return swizzle == Swizzle::None ? chunkBytes : patternRows * span(*this);
}

int64_t SharedLayout::offset(llvm::ArrayRef<int64_t> coordinates) const {
  if (order.empty())
    return 0;
  int64_t row = 0;
  for (size_t i = order.size(); i-- > 1;)
    row = row * shape[order[i]] + coordinates[order[i]];
  int64_t column = coordinates[order[0]] * elementBytes;
  if (swizzle == Swizzle::None)
    return row * rowStride() + column;
  int64_t box = column / span(*this);
  return box * boxStride() +
         applySwizzle(row * rowStride() + column % span(*this));
}

int64_t SharedLayout::applySwizzle(int64_t byteOffset) const {
  if (swizzle == Swizzle::None)
    return byteOffset;
  // The chunk within the span is permuted by as many bits of the 128-byte
  // line's number.
  int64_t chunkMask = span(*this) / chunkBytes - 1;
  int64_t line = byteOffset / (bankCount * bankBytes);
  return byteOffset ^ ((line & chunkMask) * chunkBytes);
}

int64_t flashtile::gpu::wavefronts(llvm::ArrayRef<int64_t> laneOffsets,
                                   int64_t bytes) {
  assert(llvm::isPowerOf2_64(bytes) && bytes <= 16 && "no such access");
  size_t together = lanesPerWarp / std::max<int64_t>(1, bytes / bankBytes);
  int64_t total = 0;
  for (size_t first = 0; first < laneOffsets.size(); first += together) {
    std::array<llvm::SmallVector<int64_t, 4>, bankCount> banks;
    size_t worst = 0;
    for (int64_t offset : laneOffsets.slice(
             first, std::min(together, laneOffsets.size() - first))) {
      if (offset < 0)
        continue;
      for (int64_t at = offset; at < offset + bytes; at += bankBytes) {
        int64_t word = at / bankBytes;
        auto &words = banks[word % bankCount];
        if (!llvm::is_contained(words, word))
          words.push_back(word);
        worst = std::max(worst, words.size());
      }
    }
    total += worst;
  }
  return total;
}
