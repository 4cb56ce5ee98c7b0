//===- EmitElementwise.cpp - Tiles made within one thread -----------------===//
//
// Part of FlashTile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Elementwise code runs once for each register. Shapes and constants move no
// data: layouts were chosen so that views keep every register where it is.
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

static Value callAsm(ImplicitLocOpBuilder &b, Type type, StringRef text,
                     StringRef constraints, ValueRange operands) {
  return LLVM::InlineAsmOp::create(
             b, type, operands, text, constraints, /*has_side_effects=*/false,
             /*is_align_stack=*/false, LLVM::TailCallKind::None,
             /*asm_dialect=*/nullptr, /*operand_attrs=*/nullptr)
      .getResult(0);
}

/// Between float types; fp8 is i8 in registers.
Value GpuEmitter::emitCast(Value value, Type from, Type to) {
  if (from == to)
    return value;
  if (from.getIntOrFloatBitWidth() < to.getIntOrFloatBitWidth())
    return arith::ExtFOp::create(b, to, value);
  if (from.getIntOrFloatBitWidth() > to.getIntOrFloatBitWidth())
    return arith::TruncFOp::create(b, to, value);
  Value wide = arith::ExtFOp::create(b, b.getF32Type(), value);
  return arith::TruncFOp::create(b, to, wide);
}

Value GpuEmitter::emitElement(Operation *op, ValueRange operands) {
  Type element = getElementType(op->getResult(0).getType());
  if (isa<AssumeOp>(op))
    return operands.front();
  if (isa<AddPtrOp>(op)) {
    Type pointee = cast<PtrType>(element).getPointeeType();
    int64_t bytes = (pointee.getIntOrFloatBitWidth() + 7) / 8;
    Value scaled = arith::MulIOp::create(b, toI64(operands[1]), i64(bytes));
    return arith::AddIOp::create(b, operands[0], scaled);
  }
  if (isa<CastOp>(op))
    return emitCast(operands.front(),
                    getElementType(op->getOperand(0).getType()), element);
  Type f32 = b.getF32Type();
  if (isa<Exp2Op, ExpOp, LogOp, Log2Op>(op) && !element.isF64()) {
    Value x = emitCast(operands.front(), element, f32);
    auto constant = [&](double value) -> Value {
      return arith::ConstantOp::create(b, b.getFloatAttr(f32, value));
    };
    Value result;
    if (isa<Exp2Op, ExpOp>(op)) {
      if (isa<ExpOp>(op))
        x = arith::MulFOp::create(b, x, constant(1.44269504088896340736));
      result = callAsm(b, f32, "ex2.approx.ftz.f32 $0, $1;", "=f,f", x);
    } else {
      result = callAsm(b, f32, "lg2.approx.ftz.f32 $0, $1;", "=f,f", x);
      if (isa<LogOp>(op))
        result =
            arith::MulFOp::create(b, result, constant(0.69314718055994530942));
    }
    return emitCast(result, f32, element);
  }
  IRMapping mapping;
  for (auto [operand, value] : llvm::zip(op->getOperands(), operands))
    mapping.map(operand, value);
  Operation *clone = b.clone(*op, mapping);
  clone->getResult(0).setType(registerType(element));
  return clone->getResult(0);
}

LogicalResult GpuEmitter::emitElementwise(Operation *op) {
  Type element = getElementType(op->getResult(0).getType());
  bool fp8 = isa<FloatType>(element) && element.getIntOrFloatBitWidth() == 8;
  for (Value operand : op->getOperands()) {
    Type type = getElementType(operand.getType());
    fp8 |= isa<FloatType>(type) && type.getIntOrFloatBitWidth() == 8;
  }
  if (fp8 && !isa<arith::SelectOp>(op))
    return op->emitOpError("on fp8 is not supported by the gpu targets yet");
  if (isa<ExpOp, Exp2Op, LogOp, Log2Op>(op) && element.isF64())
    return op->emitOpError("in f64 is not supported by the gpu targets yet");
  int64_t count = layoutOf(op->getResult(0).getType()).registersPerThread();
  Registers results;
  for (int64_t index = 0; index < count; ++index) {
    SmallVector<Value> operands;
    for (Value operand : op->getOperands())
      operands.push_back(tileType(operand) ? tiles.at(operand)[index]
                                           : scalar(operand));
    results.push_back(emitElement(op, operands));
  }
  tiles[op->getResult(0)] = results;
  return success();
}

LogicalResult GpuEmitter::emitTileOp(Operation *op) {
  if (op->getNumResults() != 1 || !tileType(op->getResult(0)))
    return op->emitOpError("is not supported by the gpu targets yet");
  Value result = op->getResult(0);
  DistributedLayout layout = layoutOf(result.getType());
  int64_t count = layout.registersPerThread();
  Type type = registerType(getElementType(result.getType()));
  auto fill = [&](Value value) { tiles[result] = Registers(count, value); };

  DenseElementsAttr constant;
  if (matchPattern(op, m_Constant(&constant))) {
    if (!constant.isSplat())
      return op->emitOpError("with elements of its own is not supported by the "
                             "gpu targets yet");
    fill(arith::ConstantOp::create(
        b, cast<TypedAttr>(constant.getSplatValue<Attribute>())));
    return success();
  }
  if (auto splat = dyn_cast<SplatOp>(op))
    return fill(scalar(splat.getValue())), success();
  if (auto full = dyn_cast<FullOp>(op)) {
    fill(arith::ConstantOp::create(b, cast<TypedAttr>(full.getValueAttr())));
    return success();
  }
  if (auto arange = dyn_cast<ArangeOp>(op)) {
    Registers values;
    for (int64_t index = 0; index < count; ++index)
      values.push_back(arith::AddIOp::create(b, coordinate(layout, index, 0),
                                             i32(int32_t(arange.getStart()))));
    tiles[result] = values;
    return success();
  }
  if (isa<ExpandDimsOp, TransOp>(op)) {
    // Layouts were chosen so that every register stays where it is.
    tiles[result] = Registers(tiles.at(op->getOperand(0)));
    return success();
  }
  if (auto broadcast = dyn_cast<BroadcastOp>(op)) {
    auto map =
        broadcastRegisters(layoutOf(broadcast.getOperand().getType()), layout);
    if (!map)
      return op->emitOpError("between these layouts is not supported");
    const Registers from = tiles.at(broadcast.getOperand());
    Registers values;
    for (int64_t source : *map)
      values.push_back(source < 0 ? Value(LLVM::PoisonOp::create(b, type))
                                  : from[source]);
    tiles[result] = values;
    return success();
  }
  if (isElementwise(op))
    return emitElementwise(op);
  return op->emitOpError("is not supported by the gpu targets yet");
}
