//===- EmitShape.cpp - Tables, and tiles of another shape -----------------===//
//
// Part of FlashTile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Constants whose elements differ are tables in global memory. Reshaped, joined
// and concatenated tiles keep their registers where layouts allow it, and go
// through shared memory, in row-major order, where not.
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

Value GpuEmitter::globalData(StringRef purpose, ArrayRef<uint8_t> bytes) {
  auto module = kernel->getParentOfType<ModuleOp>();
  std::string name;
  for (int64_t number = 0;; ++number) {
    name = ("__flashtile_" + purpose + "_" + Twine(number)).str();
    auto known = module.lookupSymbol<LLVM::GlobalOp>(name);
    if (!known)
      break;
    // Equal data is kept once.
    auto data = dyn_cast_or_null<StringAttr>(known.getValueAttr());
    if (data && data.getValue() ==
                    StringRef(reinterpret_cast<const char *>(bytes.data()),
                              bytes.size()))
      return LLVM::AddressOfOp::create(b, known);
  }
  OpBuilder::InsertionGuard guard(b);
  Location loc = b.getLoc();
  LLVM::GlobalOp global;
  {
    OpBuilder::InsertionGuard inner(b);
    b.setInsertionPointToStart(module.getBody());
    constexpr unsigned kAlignment = 8;
    global = LLVM::GlobalOp::create(
        b, LLVM::LLVMArrayType::get(b.getI8Type(), bytes.size()),
        /*isConstant=*/true, LLVM::Linkage::Internal, name,
        b.getStringAttr(StringRef(reinterpret_cast<const char *>(bytes.data()),
                                  bytes.size())),
        kAlignment, static_cast<unsigned>(NVVM::NVVMMemorySpace::Global));
  }
  b.setLoc(loc);
  return LLVM::AddressOfOp::create(b, global);
}

Registers GpuEmitter::loadConstant(DenseElementsAttr constant,
                                   const DistributedLayout &layout) {
  Type element = constant.getElementType(), type = registerType(element);
  Type inMemory = type.isInteger(1) ? Type(b.getI8Type()) : type;
  int64_t width = inMemory.getIntOrFloatBitWidth() / 8;
  SmallVector<uint8_t> bytes;
  auto append = [&](const APInt &bits) {
    uint64_t value = bits.getZExtValue();
    for (int64_t byte = 0; byte < width; ++byte)
      bytes.push_back(uint8_t(value >> (8 * byte)));
  };
  if (isa<FloatType>(element))
    for (const APFloat &value : constant.getValues<APFloat>())
      append(value.bitcastToAPInt());
  else
    for (const APInt &value : constant.getValues<APInt>())
      append(value);
  Value table = globalData("table", bytes);
  Registers values;
  for (int64_t index = 0; index < layout.registersPerThread(); ++index) {
    Value position;
    for (unsigned dim = 0; dim < layout.rank(); ++dim) {
      int64_t extent = layout.shape()[dim];
      Value at = coordinate(layout, index, dim);
      if (layout.isPaddedAlong(dim)) // reads some element
        at = arith::MinUIOp::create(b, at, i32(extent - 1));
      position =
          position
              ? Value(arith::AddIOp::create(
                    b, arith::MulIOp::create(b, position, i32(extent)), at))
              : at;
    }
    Value address = LLVM::GEPOp::create(
        b, table.getType(), inMemory, table,
        ArrayRef<LLVM::GEPArg>{LLVM::GEPArg(toI64(position))});
    Value value = LLVM::LoadOp::create(b, inMemory, address, width);
    if (inMemory != type)
      value = arith::TruncIOp::create(b, type, value);
    values.push_back(value);
  }
  return values;
}

/// Row-major, without padding.
static SharedLayout rowMajor(ArrayRef<int64_t> shape, int64_t bytes) {
  SmallVector<unsigned> order;
  for (unsigned dim = shape.size(); dim-- > 0;)
    order.push_back(dim);
  return SharedLayout(shape, bytes, order);
}

int64_t GpuEmitter::elementBytes(Type element) {
  return std::max<int64_t>(1,
                           registerType(element).getIntOrFloatBitWidth() / 8);
}

void GpuEmitter::emitReshape(ReshapeOp op) {
  DistributedLayout from = layoutOf(op.getOperand().getType()),
                    to = layoutOf(op.getType());
  const Registers values = tiles.at(op.getOperand());
  auto inPlace = reshape(from, to.shape());
  if (inPlace && *inPlace == to) {
    tiles[op.getResult()] = values;
    return;
  }
  Type element = getElementType(op.getType());
  int64_t bytes = elementBytes(element);
  SharedLayout source = rowMajor(from.shape(), bytes);
  Value start = scratchAddress(source.bytes());
  barrier();
  storeShared(values, from, source, start, element);
  barrier();
  tiles[op.getResult()] =
      loadShared(to, rowMajor(to.shape(), bytes), start, element);
}

void GpuEmitter::emitJoin(JoinOp op) {
  // The layout of the result is the operands', then a register for each.
  Registers values = tiles.at(op.getLhs());
  const Registers right = tiles.at(op.getRhs());
  values.append(right.begin(), right.end());
  tiles[op.getResult()] = values;
}

void GpuEmitter::emitCat(CatOp op) {
  DistributedLayout left = layoutOf(op.getLhs().getType()),
                    right = layoutOf(op.getRhs().getType()),
                    to = layoutOf(op.getType());
  unsigned axis = op.getAxis();
  if (left == right) {
    auto inPlace = cat(left, axis);
    if (inPlace && *inPlace == to) {
      Registers values = tiles.at(op.getLhs());
      const Registers other = tiles.at(op.getRhs());
      values.append(other.begin(), other.end());
      tiles[op.getResult()] = values;
      return;
    }
  }
  Type element = getElementType(op.getType()), type = registerType(element);
  SharedLayout memory = rowMajor(to.shape(), elementBytes(element));
  Value start = scratchAddress(memory.bytes());
  barrier();
  int64_t shift = 0;
  for (Value part : {op.getLhs(), op.getRhs()}) {
    DistributedLayout layout = layoutOf(part.getType());
    const Registers values = tiles.at(part);
    for (int64_t index = 0; index < layout.registersPerThread(); ++index) {
      SmallVector<Value> at;
      for (unsigned dim = 0; dim < layout.rank(); ++dim)
        at.push_back(coordinate(layout, index, dim));
      at[axis] = arith::AddIOp::create(b, at[axis], i32(shift));
      auto write = [&] {
        Value value = values[index];
        if (type.isInteger(1))
          value = arith::ExtUIOp::create(b, b.getI8Type(), value);
        LLVM::StoreOp::create(
            b, value, sharedPointer(b, sharedAddress(memory, at, start)));
      };
      Value inside = isInTile(layout, index);
      if (!inside) {
        write();
        continue;
      }
      auto guard = scf::IfOp::create(b, inside, /*withElseRegion=*/false);
      OpBuilder::InsertionGuard restore(b);
      b.setInsertionPoint(guard.thenYield());
      write();
    }
    shift += layout.shape()[axis];
  }
  barrier();
  tiles[op.getResult()] = loadShared(to, memory, start, element);
}
