//===- EmitGlobal.cpp - Loads and stores ---------------------------- ===//
//
// Part of FlashTile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Elements beyond a mask or a tensor are predicated off: the instruction does
// not touch memory. Every element is an access of its own so far.
//
//===----------------------------------------------------------------------===//

#include "compiler/Conversion/TileGPUToLLVM/GpuEmitter.h"

#include "compiler/Analysis/Program/TileQueries.h"
#include "compiler/Conversion/TileToTileGPU/LayoutAttrs.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/IR/Matchers.h"

using namespace mlir;
using namespace flashtile;
using namespace flashtile::gpu;
using namespace flashtile::tile;
using flashtile::tile::getElementType;

static int64_t bytesOf(Type element) {
  return (element.getIntOrFloatBitWidth() + 7) / 8;
}

/// PTX name and asm constraint of an integer of this size.
static std::pair<StringRef, StringRef> ptxType(int64_t bytes) {
  switch (bytes) {
  case 1:
    return {"b8", "h"};
  case 2:
    return {"b16", "h"};
  case 4:
    return {"b32", "r"};
  default:
    return {"b64", "l"};
  }
}

static LLVM::InlineAsmOp emitAsm(ImplicitLocOpBuilder &b, TypeRange results,
                                 StringRef text, StringRef constraints,
                                 ValueRange operands) {
  return LLVM::InlineAsmOp::create(
      b, results, operands, text, constraints, /*has_side_effects=*/true,
      /*is_align_stack=*/false, LLVM::TailCallKind::None,
      /*asm_dialect=*/nullptr, /*operand_attrs=*/nullptr);
}

/// Register class of asm operands: 8-bit values travel in 16 bits.
static Type carrier(ImplicitLocOpBuilder &b, int64_t bytes) {
  return b.getIntegerType(std::max<int64_t>(16, bytes * 8));
}

/// A register value as the integer that asm carries, and back.
static Value toCarrier(ImplicitLocOpBuilder &b, Value value) {
  Type type = value.getType();
  unsigned bits = type.getIntOrFloatBitWidth();
  if (isa<FloatType>(type))
    value = arith::BitcastOp::create(b, b.getIntegerType(bits), value);
  if (bits < 16)
    value = arith::ExtUIOp::create(b, b.getI16Type(), value);
  return value;
}

static Value fromCarrier(ImplicitLocOpBuilder &b, Value bits, Type type) {
  unsigned width = type.getIntOrFloatBitWidth();
  if (width < 16)
    bits = arith::TruncIOp::create(b, b.getIntegerType(width), bits);
  if (isa<FloatType>(type))
    return arith::BitcastOp::create(b, type, bits);
  return bits;
}

Value GpuEmitter::loadElement(Value address, Value mask, Value other,
                              Type element) {
  Type type = registerType(element);
  int64_t bytes = bytesOf(type);
  auto [name, constraint] = ptxType(bytes);
  Value initial = toCarrier(b, other);
  Value predicate = arith::ExtUIOp::create(b, b.getI32Type(), mask);
  std::string text =
      ("{ .reg .pred p; setp.ne.b32 p, $2, 0; @p ld.global." + name +
       " $0, [$1]; }")
          .str();
  std::string constraints =
      ("=" + constraint + ",l,r,0,~{memory}").str();
  Value bits = emitAsm(b, carrier(b, bytes), text, constraints,
                       {address, predicate, initial})
                   .getResult(0);
  return fromCarrier(b, bits, type);
}

void GpuEmitter::storeElement(Value address, Value mask, Value value,
                              Type element) {
  auto [name, constraint] = ptxType(bytesOf(registerType(element)));
  Value predicate = arith::ExtUIOp::create(b, b.getI32Type(), mask);
  std::string text = ("{ .reg .pred p; setp.ne.b32 p, $1, 0; @p st.global." +
                      name + " [$0], $2; }")
                         .str();
  std::string constraints = ("l,r," + constraint + ",~{memory}").str();
  emitAsm(b, TypeRange(), text, constraints,
          {address, predicate, toCarrier(b, value)});
}

//===----------------------------------------------------------------------===//
// Windows
//===----------------------------------------------------------------------===//

/// Byte address of each register's element.
Registers GpuEmitter::windowAddresses(const GpuWindow &window,
                                      const DistributedLayout &layout,
                                      Type element) {
  Registers addresses;
  for (int64_t index = 0; index < layout.registersPerThread(); ++index) {
    Value sum;
    for (unsigned dim = 0; dim < layout.rank(); ++dim) {
      Value position = arith::AddIOp::create(
          b, window.offsets[dim], toI64(coordinate(layout, index, dim)));
      Value scaled = arith::MulIOp::create(b, position, window.strides[dim]);
      sum = sum ? Value(arith::AddIOp::create(b, sum, scaled)) : scaled;
    }
    Value bytes = arith::MulIOp::create(b, sum, i64(bytesOf(element)));
    addresses.push_back(arith::AddIOp::create(b, window.base, bytes));
  }
  return addresses;
}

Value GpuEmitter::windowMask(const GpuWindow &window,
                             const DistributedLayout &layout, int64_t index,
                             std::optional<ArrayRef<bool>> promised,
                             ArrayRef<int64_t> shape) {
  Value all;
  auto conjoin = [&](Value condition) {
    all = all ? Value(arith::AndIOp::create(b, all, condition)) : condition;
  };
  for (unsigned dim = 0; dim < layout.rank(); ++dim) {
    Value at = coordinate(layout, index, dim);
    if (layout.isPaddedAlong(dim))
      conjoin(arith::CmpIOp::create(b, arith::CmpIPredicate::ult, at,
                                    i32(shape[dim])));
    if (promised && (*promised)[dim])
      continue;
    Value position = arith::AddIOp::create(b, window.offsets[dim], toI64(at));
    conjoin(arith::CmpIOp::create(b, arith::CmpIPredicate::ult, position,
                                  window.shape[dim]));
  }
  return all ? all
             : Value(arith::ConstantOp::create(b, b.getBoolAttr(true)));
}

LogicalResult GpuEmitter::emitLoad(tilegpu::LoadOp op) {
  if (stored) {
    barrier();
    stored = false;
  }
  auto type = cast<RankedTensorType>(op.getType());
  DistributedLayout layout = layoutOf(type);
  Type element = type.getElementType(), inRegister = registerType(element);
  int64_t count = layout.registersPerThread();
  Value zero = arith::ConstantOp::create(b, b.getZeroAttr(inRegister));
  Registers values;
  if (!isa<BlockPtrType>(op.getPointer().getType())) {
    Value always = arith::ConstantOp::create(b, b.getBoolAttr(true));
    for (int64_t index = 0; index < count; ++index)
      values.push_back(loadElement(
          tiles.at(op.getPointer())[index],
          op.getMask() ? tiles.at(op.getMask())[index] : always,
          op.getOther() ? tiles.at(op.getOther())[index] : zero, element));
    tiles[op.getResult()] = values;
    return success();
  }
  const GpuWindow window = windows.at(op.getPointer());
  Value padding = zero;
  if (op.getPadding() != Padding::Zero)
    padding = arith::ConstantOp::create(
        b, b.getFloatAttr(inRegister,
                          op.getPadding() == Padding::NaN
                              ? std::numeric_limits<double>::quiet_NaN()
                              : -std::numeric_limits<double>::infinity()));
  Registers addresses = windowAddresses(window, layout, element);
  for (int64_t index = 0; index < count; ++index)
    values.push_back(
        loadElement(addresses[index],
                    windowMask(window, layout, index, op.getInBounds(),
                               type.getShape()),
                    padding, element));
  tiles[op.getResult()] = values;
  return success();
}

LogicalResult GpuEmitter::emitStore(tilegpu::StoreOp op) {
  stored = true;
  auto type = cast<RankedTensorType>(op.getValue().getType());
  DistributedLayout layout = layoutOf(type);
  Type element = type.getElementType();
  // Of several holders of an element the first writes.
  Value owner = arith::ConstantOp::create(b, b.getBoolAttr(true));
  for (HardwareIndex index : {HardwareIndex::Lane, HardwareIndex::Warp})
    for (const DigitPosition &digit : layout.replication(index)) {
      Value first = arith::CmpIOp::create(
          b, arith::CmpIPredicate::eq,
          digitOf(index, digit.stride, digit.extent), i32(0));
      owner = arith::AndIOp::create(b, owner, first);
    }
  bool block = isa<BlockPtrType>(op.getPointer().getType());
  Registers addresses =
      block ? windowAddresses(windows.at(op.getPointer()), layout, element)
            : tiles.at(op.getPointer());
  const Registers values = tiles.at(op.getValue());
  for (int64_t index = 0; index < layout.registersPerThread(); ++index) {
    Value mask = owner;
    if (block)
      mask = arith::AndIOp::create(
          b, mask,
          windowMask(windows.at(op.getPointer()), layout, index,
                     op.getInBounds(), type.getShape()));
    else if (op.getMask())
      mask = arith::AndIOp::create(b, mask, tiles.at(op.getMask())[index]);
    storeElement(addresses[index], mask, values[index], element);
  }
  return success();
}

LogicalResult GpuEmitter::emitScalarAccess(Operation *op) {
  Value always = arith::ConstantOp::create(b, b.getBoolAttr(true));
  if (auto load = dyn_cast<LoadOp>(op)) {
    if (stored) {
      barrier();
      stored = false;
    }
    Type element = load.getType();
    Value other = load.getOther()
                      ? scalar(load.getOther())
                      : Value(arith::ConstantOp::create(
                            b, b.getZeroAttr(registerType(element))));
    scalars.map(load.getResult(),
                loadElement(scalar(load.getPointer()),
                            load.getMask() ? scalar(load.getMask()) : always,
                            other, element));
    return success();
  }
  stored = true;
  auto store = cast<StoreOp>(op);
  Value mask = store.getMask() ? scalar(store.getMask()) : always;
  Value first = arith::CmpIOp::create(
      b, arith::CmpIPredicate::eq, arith::OrIOp::create(b, lane, warp), i32(0));
  storeElement(scalar(store.getPointer()), arith::AndIOp::create(b, mask, first),
               scalar(store.getValue()), store.getValue().getType());
  return success();
}
