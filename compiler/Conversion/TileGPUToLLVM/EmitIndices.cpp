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
  Value value = index == HardwareIndex::Lane ? lane : warp;
  if (stride != 1)
    value = arith::DivUIOp::create(b, value, i32(stride));
  return arith::RemUIOp::create(b, value, i32(extent));
}

Value GpuEmitter::threadOffset(const DistributedLayout &layout, unsigned dim) {
  std::pair<std::string, unsigned> key = {layout.str(), dim};
  for (auto &[known, value] : threadOffsets)
    if (known == key)
      return value;
  // In the prologue, where every later use is dominated.
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPoint(prologueEnd);
  Value sum = i32(0);
  for (HardwareIndex index : {HardwareIndex::Lane, HardwareIndex::Warp}) {
    int64_t stride = 1;
    for (const Digit &digit : layout.digits(index)) {
      if (digit.step[dim] != 0 && digit.extent != 1) {
        Value scaled = arith::MulIOp::create(
            b, digitOf(index, stride, digit.extent), i32(digit.step[dim]));
        sum = arith::AddIOp::create(b, sum, scaled);
      }
      stride *= digit.extent;
    }
  }
  threadOffsets.push_back({key, sum});
  return sum;
}

Value GpuEmitter::coordinate(const DistributedLayout &layout, int64_t index,
                             unsigned dim) {
  int64_t own = layout.offset(HardwareIndex::Register, index)[dim];
  Value thread = threadOffset(layout, dim);
  return own ? Value(arith::AddIOp::create(b, thread, i32(own))) : thread;
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

int64_t GpuEmitter::reserveScratch(int64_t bytes) {
  constexpr int64_t kAlignment = 1024;
  scratchBytes = std::max(scratchBytes,
                          (bytes + kAlignment - 1) / kAlignment * kAlignment);
  return scratchOffset;
}

Type GpuEmitter::registerType(Type element) {
  if (isa<PtrType>(element))
    return b.getI64Type();
  if (isa<FloatType>(element) && element.getIntOrFloatBitWidth() == 8)
    return b.getI8Type();
  return element;
}
