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

Value GpuEmitter::sharedAddress(const SharedLayout &memory,
                                ArrayRef<Value> coordinates, Value start) {
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
  return arith::AddIOp::create(b, start, offset);
}

/// All bits that the coordinate of some thread has along `dim`.
static int64_t threadBits(const DistributedLayout &layout, unsigned dim,
                          int64_t warps) {
  int64_t bits = 0;
  for (int64_t warp = 0; warp < warps; ++warp)
    for (int64_t lane = 0; lane < lanesPerWarp; ++lane)
      bits |= layout.offset(HardwareIndex::Lane, lane)[dim] +
              layout.offset(HardwareIndex::Warp, warp)[dim];
  return bits;
}

std::string GpuEmitter::placeKey(const SharedLayout &memory,
                                 const DistributedLayout &layout) {
  std::string key = layout.str() + " at";
  for (int64_t extent : memory.shape)
    key += " " + std::to_string(extent);
  for (unsigned dim : memory.order)
    key += " " + std::to_string(dim);
  return key + " " + std::to_string(memory.elementBytes) + " " +
         std::to_string(static_cast<int64_t>(memory.swizzle)) + " " +
         std::to_string(memory.rowPadding);
}

std::optional<GpuEmitter::SharedPlace>
GpuEmitter::sharedPlace(const SharedLayout &memory,
                        const DistributedLayout &layout, int64_t index) {
  Coordinates own = layout.offset(HardwareIndex::Register, index);
  int64_t ownRow = 0, rows = 1;
  for (unsigned dim : ArrayRef<unsigned>(memory.order).drop_front()) {
    ownRow += own[dim] * rows;
    rows *= memory.shape[dim];
  }
  unsigned fastest = memory.order.front();
  int64_t ownColumn = own[fastest] * memory.elementBytes;
  int64_t span = static_cast<int64_t>(memory.swizzle);
  int64_t flipped = 0, added = 0;
  if (span == 0) {
    added = ownRow * memory.rowStride() + ownColumn;
  } else {
    // Eight rows on, the permutation is the same; and where no thread has a
    // column bit of the register's, adding those bits is an xor of them.
    constexpr int64_t kPeriod = 8;
    bool separate =
        ownRow % kPeriod == 0 &&
        (threadBits(layout, fastest, warpCount()) & own[fastest]) == 0 &&
        llvm::isPowerOf2_64(memory.elementBytes);
    if (!separate)
      return std::nullopt;
    constexpr int64_t kChunk = 16;
    flipped = ownColumn % span / kChunk * kChunk;
    added = ownRow * memory.rowStride() +
            ownColumn / span * memory.boxStride() + ownColumn % kChunk;
  }
  Value thread = oncePerThread(placeKey(memory, layout), [&] {
    SmallVector<Value> at;
    for (unsigned dim = 0; dim < layout.rank(); ++dim)
      at.push_back(threadOffset(layout, dim));
    return sharedAddress(memory, at, i32(0));
  });
  return SharedPlace{thread, flipped, added};
}

Value GpuEmitter::sharedAddress(const SharedLayout &memory,
                                const DistributedLayout &layout, int64_t index,
                                Value start) {
  std::optional<SharedPlace> place = sharedPlace(memory, layout, index);
  if (!place) {
    SmallVector<Value> at;
    for (unsigned dim = 0; dim < layout.rank(); ++dim)
      at.push_back(coordinate(layout, index, dim));
    return sharedAddress(memory, at, start);
  }
  Value thread = place->thread;
  if (place->flipped)
    thread = oncePerThread(
        placeKey(memory, layout) + " ^ " + std::to_string(place->flipped),
        [&]() -> Value {
          return arith::XOrIOp::create(b, thread, i32(place->flipped));
        });
  Value address = arith::AddIOp::create(b, start, thread);
  return place->added
             ? Value(arith::AddIOp::create(b, address, i32(place->added)))
             : address;
}

Value GpuEmitter::smemAddress(Value tile) {
  if (Value slot = slots.lookup(tile))
    return slot;
  return arith::AddIOp::create(b, sharedBase, i32(stages.at(tile)));
}

Value GpuEmitter::scratchAddress(int64_t bytes) {
  return arith::AddIOp::create(b, sharedBase, i32(reserveScratch(bytes)));
}

void GpuEmitter::emitSlot(tilegpu::SlotOp op) {
  int64_t bytes = sharedLayoutOf(op.getSlot().getType()).bytes();
  Value offset = arith::MulIOp::create(b, scalar(op.getIndex()), i32(bytes));
  slots[op.getSlot()] = arith::AddIOp::create(
      b, arith::AddIOp::create(b, sharedBase, i32(stages.at(op.getRing()))),
      offset);
}

Value flashtile::gpu::sharedPointer(ImplicitLocOpBuilder &b, Value address) {
  return LLVM::IntToPtrOp::create(
      b,
      LLVM::LLVMPointerType::get(
          b.getContext(), static_cast<unsigned>(NVVM::NVVMMemorySpace::Shared)),
      address);
}

SharedLayout flashtile::gpu::sharedLayoutOf(tilegpu::SmemType type) {
  SmallVector<unsigned> order; // the last dimension is the fastest
  for (unsigned dim = type.getShape().size(); dim-- > 0;)
    order.push_back(dim);
  return SharedLayout(type.getShape(),
                      type.getElementType().getIntOrFloatBitWidth() / 8, order,
                      static_cast<Swizzle>(type.getSwizzle()));
}

/// Type of one element in memory: whole bytes.
static Type memoryType(ImplicitLocOpBuilder &b, Type type) {
  return type.isInteger(1) ? b.getI8Type() : type;
}

void GpuEmitter::storeShared(const Registers &values,
                             const DistributedLayout &layout,
                             const SharedLayout &memory, Value start,
                             Type element) {
  VectorAccess access = planVectorAccess(layout, memory, /*isStore=*/true);
  Type type = memoryType(b, registerType(element));
  for (const auto &group : access.groups) {
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
      Value address = sharedAddress(memory, layout, group.front(), start);
      LLVM::StoreOp::create(b, vector, sharedPointer(b, address), bytes);
    };
    // Registers past the memory's extents are padding in some threads.
    Value inside;
    for (unsigned dim = 0; dim < layout.rank(); ++dim)
      if (layout.paddedShape()[dim] > memory.shape[dim]) {
        Value fits = arith::CmpIOp::create(
            b, arith::CmpIPredicate::ult,
            coordinate(layout, group.front(), dim), i32(memory.shape[dim]));
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
                                 const SharedLayout &memory, Value start,
                                 Type element) {
  VectorAccess access = planVectorAccess(layout, memory, /*isStore=*/false);
  Type wanted = registerType(element), type = memoryType(b, wanted);
  Registers values(layout.registersPerThread(), paddingOf(wanted));
  for (const auto &group : access.groups) {
    SmallVector<Value> at;
    bool clamped = false;
    for (unsigned dim = 0; dim < layout.rank(); ++dim) {
      Value position = coordinate(layout, group.front(), dim);
      // Padding reads some element of the tile.
      if (layout.paddedShape()[dim] > memory.shape[dim]) {
        int64_t last = memory.shape[dim] -
                       (dim == memory.order.front() ? access.width : 1);
        position = arith::MinUIOp::create(b, position, i32(last));
        clamped = true;
      }
      at.push_back(position);
    }
    Value address = clamped
                        ? sharedAddress(memory, at, start)
                        : sharedAddress(memory, layout, group.front(), start);
    unsigned bytes = type.getIntOrFloatBitWidth() / 8 * group.size();
    Value vector =
        LLVM::LoadOp::create(b, VectorType::get({int64_t(group.size())}, type),
                             sharedPointer(b, address), bytes);
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
  SharedLayout memory = sharedLayoutOf(type);
  Value base = smemAddress(op.getResult());
  barrier(); // whoever read the last tile here is done
  if (tile.getShape() != type.getShape()) {
    // Zeros where instructions read past the tile.
    DistributedLayout fill =
        blocked(type.getShape(), 16 / bytes, {1u, 0u}, warpCount());
    Type element = registerType(type.getElementType());
    Value zero = arith::ConstantOp::create(b, b.getZeroAttr(element));
    storeShared(Registers(fill.registersPerThread(), zero), fill, memory, base,
                type.getElementType());
    barrier();
    // The tile's own layout may reach past its extents: those stay zero.
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
          sharedPointer(b, sharedAddress(memory, {row, column}, base)), bytes);
    }
  } else {
    storeMatrices(tiles.at(op.getOperand()), layoutOf(tile), memory, base,
                  type.getElementType());
  }
  if (isHopper() && llvm::any_of(op->getUsers(), [](Operation *user) {
        return isa<tilegpu::WgmmaOp>(user);
      }))
    emitFenceProxy();
  barrier();
}
