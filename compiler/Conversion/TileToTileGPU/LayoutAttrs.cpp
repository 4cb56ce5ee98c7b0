//===- LayoutAttrs.cpp - Layout attributes and layout arithmetic ----------===//
//
// Part of FlashTile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Conversions between the two forms.
//
//===----------------------------------------------------------------------===//

#include "compiler/Conversion/TileToTileGPU/LayoutAttrs.h"

using namespace mlir;
using namespace flashtile;
using namespace flashtile::gpu;

static DigitList unflatten(ArrayRef<int64_t> flat, size_t rank) {
  DigitList digits;
  for (size_t at = 0; at < flat.size(); at += rank + 1) {
    ArrayRef<int64_t> step = flat.slice(at + 1, rank);
    digits.push_back({flat[at], Coordinates(step.begin(), step.end())});
  }
  return digits;
}

static SmallVector<int64_t> flatten(const DigitList &digits) {
  SmallVector<int64_t> flat;
  for (const Digit &digit : digits) {
    flat.push_back(digit.extent);
    llvm::append_range(flat, digit.step);
  }
  return flat;
}

DistributedLayout flashtile::gpu::toLayout(tilegpu::LayoutAttr attribute) {
  size_t rank = attribute.getShape().size();
  return DistributedLayout(attribute.getShape(),
                           unflatten(attribute.getRegisters(), rank),
                           unflatten(attribute.getLanes(), rank),
                           unflatten(attribute.getWarps(), rank));
}

tilegpu::LayoutAttr
flashtile::gpu::toAttribute(MLIRContext *context,
                            const DistributedLayout &layout) {
  return tilegpu::LayoutAttr::get(
      context, layout.shape(), flatten(layout.registers()),
      flatten(layout.lanes()), flatten(layout.warps()));
}

DistributedLayout flashtile::gpu::layoutOf(Type type) {
  return toLayout(tilegpu::getLayout(type));
}

RankedTensorType flashtile::gpu::withLayout(Type type,
                                            const DistributedLayout &layout) {
  auto tensor = cast<RankedTensorType>(type);
  return RankedTensorType::get(tensor.getShape(), tensor.getElementType(),
                               toAttribute(type.getContext(), layout));
}

int64_t flashtile::gpu::sharedBytes(tilegpu::SmemType memory) {
  int64_t bytes = memory.getShape().back() *
                  memory.getElementType().getIntOrFloatBitWidth() / 8;
  if (memory.getSwizzle())
    bytes = llvm::alignTo(bytes, memory.getSwizzle());
  for (int64_t extent : memory.getShape().drop_back())
    bytes *= extent;
  return bytes;
}
