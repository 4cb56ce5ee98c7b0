//===- EmitIndices.cpp - Coordinates of registers, element types ----------===//
//
// Part of FlashTile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Where a register of a thread lies in its tile. The part that depends on the
// thread only is computed once, in the prologue.
//
//===----------------------------------------------------------------------===//

#include "compiler/Conversion/TileGPUToLLVM/GpuEmitter.h"

#include "mlir/Dialect/Arith/IR/Arith.h"

using namespace mlir;
using namespace flashtile;
using namespace flashtile::gpu;
using namespace flashtile::tile;

Value GpuEmitter::i32(int64_t value) {
  return arith::ConstantOp::create(b, b.getI32IntegerAttr(value));
}

Value GpuEmitter::i64(int64_t value) {
  return arith::ConstantOp::create(b, b.getI64IntegerAttr(value));
}

Value GpuEmitter::toI64(Value value) {
  if (value.getType().isInteger(64))
    return value;
  if (value.getType().isIndex())
    return arith::IndexCastOp::create(b, b.getI64Type(), value);
  return arith::ExtSIOp::create(b, b.getI64Type(), value);
}

/// (index / stride) mod extent of the lane or the warp.
Value GpuEmitter::digitOf(HardwareIndex index, int64_t stride, int64_t extent) {
  Value value = index == HardwareIndex::Lane ? self.lane : self.warp;
  if (stride != 1)
    value = arith::DivUIOp::create(b, value, i32(stride));
  return arith::RemUIOp::create(b, value, i32(extent));
}

Value GpuEmitter::threadOffset(const DistributedLayout &layout, unsigned dim) {
  return oncePerThread(
      layout.str() + " dim " + std::to_string(dim), [&]() -> Value {
        Value sum = i32(0);
        for (HardwareIndex index : {HardwareIndex::Lane, HardwareIndex::Warp}) {
          int64_t stride = 1;
          for (const Digit &digit : layout.digits(index)) {
            if (digit.step[dim] != 0 && digit.extent != 1) {
              Value scaled =
                  arith::MulIOp::create(b, digitOf(index, stride, digit.extent),
                                        i32(digit.step[dim]));
              sum = arith::AddIOp::create(b, sum, scaled);
            }
            stride *= digit.extent;
          }
        }
        return sum;
      });
}

Value GpuEmitter::oncePerThread(const std::string &key,
                                function_ref<Value()> value) {
  auto known = self.values.find(key);
  if (known != self.values.end())
    return known->second;
  // In the prologue, where every later use is dominated.
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPoint(self.prologueEnd);
  Value made = value();
  self.values[key] = made;
  return made;
}

int64_t GpuEmitter::warpCount() {
  return kernel
      ->getAttrOfType<IntegerAttr>(tilegpu::TileGPUDialect::kNumWarpsAttr)
      .getInt();
}

Value GpuEmitter::coordinate(const DistributedLayout &layout, int64_t index,
                             unsigned dim) {
  int64_t own = layout.offset(HardwareIndex::Register, index)[dim];
  Value thread = threadOffset(layout, dim);
  return own ? Value(arith::AddIOp::create(b, thread, i32(own))) : thread;
}

Value GpuEmitter::isInTile(const DistributedLayout &layout, int64_t index) {
  Value inside;
  for (unsigned dim = 0; dim < layout.rank(); ++dim) {
    if (!layout.isPaddedAlong(dim))
      continue;
    Value below = arith::CmpIOp::create(b, arith::CmpIPredicate::ult,
                                        coordinate(layout, index, dim),
                                        i32(layout.shape()[dim]));
    inside = inside ? Value(arith::AndIOp::create(b, inside, below)) : below;
  }
  return inside;
}

Value GpuEmitter::maskedByTile(Value mask, const DistributedLayout &layout,
                               int64_t index) {
  Value inside = isInTile(layout, index);
  if (!inside)
    return mask;
  // Not a conjunction: what padding holds may be undefined.
  Value never = arith::ConstantOp::create(b, b.getBoolAttr(false));
  return arith::SelectOp::create(b, inside, mask, never);
}

Value GpuEmitter::isFirstHolder(const DistributedLayout &layout) {
  Value owner = arith::ConstantOp::create(b, b.getBoolAttr(true));
  for (HardwareIndex index : {HardwareIndex::Lane, HardwareIndex::Warp})
    for (const DigitPosition &digit : layout.replication(index)) {
      Value first = arith::CmpIOp::create(
          b, arith::CmpIPredicate::eq,
          digitOf(index, digit.stride, digit.extent), i32(0));
      owner = arith::AndIOp::create(b, owner, first);
    }
  return owner;
}

Value GpuEmitter::threadFunction(const ThreadFunction &function) {
  Value sum = i32(function.base);
  for (const ThreadFunction::Term &term : function.terms) {
    Value digit =
        digitOf(term.index, term.position.stride, term.position.extent);
    Value scaled = arith::MulIOp::create(b, digit, i32(term.coefficient));
    sum = arith::AddIOp::create(b, sum, scaled);
  }
  return sum;
}

Value GpuEmitter::paddingOf(Type type) {
  return arith::ConstantOp::create(b, b.getZeroAttr(type));
}

Type GpuEmitter::registerType(Type element) {
  if (isa<PtrType>(element))
    return b.getI64Type();
  if (isa<FloatType>(element) && element.getIntOrFloatBitWidth() == 8)
    return b.getI8Type();
  return element;
}
