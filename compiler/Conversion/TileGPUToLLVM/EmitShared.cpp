//===- EmitShared.cpp - Tiles in shared memory ----------------------------===//
//
// Part of FlashTile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Addresses follow SharedLayout::offset, term by term; the swizzle is an xor of
// the address with some of its own bits.
//
//===----------------------------------------------------------------------===//

#include "compiler/Conversion/TileGPUToLLVM/GpuEmitter.h"

#include "compiler/Conversion/TileToTileGPU/LayoutAttrs.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"

using namespace mlir;
using namespace flashtile;
using namespace flashtile::gpu;
using namespace flashtile::tile;
using flashtile::tile::getElementType;

void GpuEmitter::barrier() { NVVM::Barrier0Op::create(b); }

Value GpuEmitter::sharedAddress(const SharedLayout &memory,
                                ArrayRef<Value> coordinates, int64_t base) {
  auto scale = [&](Value value, int64_t factor) -> Value {
    return factor == 1 ? value
                       : Value(arith::MulIOp::create(b, value, i32(factor)));
  };
  // Rows count through order[1], order[2], ...
  Value row = i32(0);
  int64_t rows = 1;
  for (unsigned dim : ArrayRef<unsigned>(memory.order).drop_front()) {
    row = arith::AddIOp::create(b, row, scale(coordinates[dim], rows));
    rows *= memory.shape[dim];
  }
  Value column = scale(coordinates[memory.order.front()], memory.elementBytes);
  Value offset = scale(row, memory.rowStride());
  int64_t span = static_cast<int64_t>(memory.swizzle);
  if (span == 0) {
    offset = arith::AddIOp::create(b, offset, column);
  } else {
    Value box = arith::DivUIOp::create(b, column, i32(span));
    Value within = arith::RemUIOp::create(b, column, i32(span));
    offset = arith::AddIOp::create(b, offset, within);
    offset = arith::AddIOp::create(b, offset, scale(box, memory.boxStride()));
    // Chunks of 16 bytes: bits 4.. ^= bits 7.., as many as the span has.
    int64_t chunkBits = (span - 1) & ~int64_t(15);
    Value pattern = arith::AndIOp::create(
        b, arith::ShRUIOp::create(b, offset, i32(3)), i32(chunkBits));
    offset = arith::XOrIOp::create(b, offset, pattern);
  }
  Value start = arith::AddIOp::create(b, sharedBase, i32(base));
  return arith::AddIOp::create(b, start, offset);
}

static Value sharedPointer(ImplicitLocOpBuilder &b, Value address) {
  return LLVM::IntToPtrOp::create(
      b,
      LLVM::LLVMPointerType::get(
          b.getContext(), static_cast<unsigned>(NVVM::NVVMMemorySpace::Shared)),
      address);
}

/// Type of one element in memory: whole bytes.
static Type memoryType(ImplicitLocOpBuilder &b, Type type) {
  return type.isInteger(1) ? b.getI8Type() : type;
}

void GpuEmitter::storeShared(const Registers &values,
                             const DistributedLayout &layout,
                             const SharedLayout &memory, int64_t base,
                             Type element) {
  VectorAccess access = planVectorAccess(layout, memory, /*isStore=*/true);
  Type type = memoryType(b, registerType(element));
  for (const auto &group : access.groups) {
    SmallVector<Value> at;
    for (unsigned dim = 0; dim < layout.rank(); ++dim)
      at.push_back(coordinate(layout, group.front(), dim));
    Value vector = LLVM::PoisonOp::create(
        b, VectorType::get({int64_t(group.size())}, type));
    for (auto [position, index] : llvm::enumerate(group)) {
      Value value = values[index];
      if (value.getType() != type)
        value = arith::ExtUIOp::create(b, type, value);
      vector = LLVM::InsertElementOp::create(b, vector, value, i32(position));
    }
    auto write = [&] {
      unsigned bytes = type.getIntOrFloatBitWidth() / 8 * group.size();
      LLVM::StoreOp::create(
          b, vector, sharedPointer(b, sharedAddress(memory, at, base)), bytes);
    };
    // Registers past the memory's extents are padding in some threads.
    Value inside;
    for (unsigned dim = 0; dim < layout.rank(); ++dim)
      if (layout.paddedShape()[dim] > memory.shape[dim]) {
        Value fits = arith::CmpIOp::create(b, arith::CmpIPredicate::ult,
                                           at[dim], i32(memory.shape[dim]));
        inside = inside ? Value(arith::AndIOp::create(b, inside, fits)) : fits;
      }
    if (!inside) {
      write();
      continue;
    }
    auto guard = scf::IfOp::create(b, inside, /*withElseRegion=*/false);
    OpBuilder::InsertionGuard restore(b);
    b.setInsertionPoint(guard.thenYield());
    write();
  }
}

Registers GpuEmitter::loadShared(const DistributedLayout &layout,
                                 const SharedLayout &memory, int64_t base,
                                 Type element) {
  VectorAccess access = planVectorAccess(layout, memory, /*isStore=*/false);
  Type wanted = registerType(element), type = memoryType(b, wanted);
  Registers values(layout.registersPerThread(),
                   LLVM::PoisonOp::create(b, wanted));
  for (const auto &group : access.groups) {
    SmallVector<Value> at;
    for (unsigned dim = 0; dim < layout.rank(); ++dim) {
      Value position = coordinate(layout, group.front(), dim);
      // Padding reads some element of the tile.
      if (layout.paddedShape()[dim] > memory.shape[dim])
        position = arith::MinUIOp::create(
            b, position, i32(memory.shape[dim] - access.width));
      at.push_back(position);
    }
    unsigned bytes = type.getIntOrFloatBitWidth() / 8 * group.size();
    Value vector = LLVM::LoadOp::create(
        b, VectorType::get({int64_t(group.size())}, type),
        sharedPointer(b, sharedAddress(memory, at, base)), bytes);
    for (auto [position, index] : llvm::enumerate(group)) {
      Value value = LLVM::ExtractElementOp::create(b, vector, i32(position));
      if (type != wanted)
        value = arith::TruncIOp::create(b, wanted, value);
      values[index] = value;
    }
  }
  return values;
}

void GpuEmitter::emitStage(tilegpu::StageOp op) {
  tilegpu::SmemType type = op.getType();
  auto tile = cast<RankedTensorType>(op.getOperand().getType());
  int64_t bytes = type.getElementType().getIntOrFloatBitWidth() / 8;
  SharedLayout memory(type.getShape(), bytes, {1u, 0u},
                      static_cast<Swizzle>(type.getSwizzle()));
  int64_t base = stages.at(op.getResult());
  barrier(); // whoever read the last tile here is done
  if (tile.getShape() != type.getShape()) {
    // Zeros where instructions read past the tile.
    int64_t warps =
        kernel
            ->getAttrOfType<IntegerAttr>(tilegpu::TileGPUDialect::kNumWarpsAttr)
            .getInt();
    DistributedLayout fill =
        blocked(type.getShape(), 16 / bytes, {1u, 0u}, warps);
    Type element = registerType(type.getElementType());
    Value zero = arith::ConstantOp::create(b, b.getZeroAttr(element));
    storeShared(Registers(fill.registersPerThread(), zero), fill, memory, base,
                type.getElementType());
    barrier();
    // The tile's own layout may reach past its extents: those stay zero.
    const SharedLayout &whole = memory;
    DistributedLayout layout = layoutOf(tile);
    const Registers values = tiles.at(op.getOperand());
    for (int64_t index = 0; index < layout.registersPerThread(); ++index) {
      Value row = coordinate(layout, index, 0),
            column = coordinate(layout, index, 1);
      auto below = [&](Value position, int64_t extent) {
        return arith::CmpIOp::create(b, arith::CmpIPredicate::ult, position,
                                     i32(extent));
      };
      Value inside = arith::AndIOp::create(b, below(row, tile.getDimSize(0)),
                                           below(column, tile.getDimSize(1)));
      auto guard = scf::IfOp::create(b, inside, /*withElseRegion=*/false);
      OpBuilder::InsertionGuard restore(b);
      b.setInsertionPoint(guard.thenYield());
      LLVM::StoreOp::create(
          b, values[index],
          sharedPointer(b, sharedAddress(whole, {row, column}, base)), bytes);
    }
  } else {
    storeShared(tiles.at(op.getOperand()), layoutOf(tile), memory, base,
                type.getElementType());
  }
  barrier();
}
