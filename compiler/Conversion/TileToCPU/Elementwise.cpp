//===- Elementwise.cpp - Elementwise operations in compute types ----------===//
//
// Part of FlashTile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// One function for scalars and vectors alike: most operations of arith and
// math are cloned onto the compute type, then rounded where the tile's element
// is narrower. What remains are conversions, exponentials and integer
// division, which traps on x86 where a tile program must not.
//
//===----------------------------------------------------------------------===//

#include "compiler/Conversion/Numerics/F64Functions.h"
#include "compiler/Conversion/TileToCPU/KernelEmitter.h"
#include "compiler/Conversion/TileToCPU/Numerics.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace flashtile::tile;
using namespace flashtile::cpu;
using flashtile::tile::getElementType;

static bool isNarrow(Type element) {
  return isa<FloatType>(element) && getComputeType(element) != element;
}

/// Whether the result is one of the operands, or exact in their format.
static bool isExact(Operation *op) {
  return isa<arith::SelectOp, arith::NegFOp, arith::MaximumFOp,
             arith::MinimumFOp, arith::MaxNumFOp, arith::MinNumFOp,
             math::AbsFOp, math::CopySignOp, math::FloorOp, math::CeilOp,
             math::RoundOp, math::RoundEvenOp, math::TruncOp, AssumeOp>(op);
}

/// Conversions between float and integer types, of which the narrow side needs
/// rounding or bits.
Value KernelEmitter::emitCast(Operation *op, Value operand) {
  Type from = getElementType(op->getOperand(0).getType());
  Type to = getElementType(op->getResult(0).getType());
  Type like = operand.getType();
  if (isa<CastOp, arith::TruncFOp, arith::ExtFOp>(op))
    return roundTo(b, operand, to);
  if (isa<arith::BitcastOp>(op)) {
    if (from == to)
      return operand;
    Value bits = isNarrow(from) ? encode(b, operand, from) : operand;
    Type memory = likeShape(like, getMemoryType(to));
    if (bits.getType() != memory)
      bits = arith::BitcastOp::create(b, memory, bits);
    return isNarrow(to) ? decode(b, bits, to) : bits;
  }
  // Integers to narrow floats go through f64, which holds i32 exactly, and
  // round once from there.
  if (isa<arith::SIToFPOp, arith::UIToFPOp>(op) && isNarrow(to)) {
    Type f64 = likeShape(like, b.getF64Type());
    if (from.isInteger(64))
      operand = fitToF64(b, operand, isa<arith::SIToFPOp>(op));
    Value wide = isa<arith::SIToFPOp>(op)
                     ? Value(arith::SIToFPOp::create(b, f64, operand))
                     : Value(arith::UIToFPOp::create(b, f64, operand));
    return roundTo(b, wide, to);
  }
  return {};
}

/// Division that never traps: where the quotient is undefined (division by
/// zero, or the smallest integer by -1), the dividend is divided by 1.
Value KernelEmitter::emitDivision(Operation *op, Value lhs, Value rhs) {
  Type type = lhs.getType();
  Type element = getElementTypeOrSelf(type);
  Value zero = constantInt(b, type, 0);
  Value one = constantInt(b, type, 1);
  Value undefined =
      arith::CmpIOp::create(b, arith::CmpIPredicate::eq, rhs, zero);
  bool isSigned = !isa<arith::DivUIOp, arith::RemUIOp, arith::CeilDivUIOp>(op);
  if (isSigned) {
    const unsigned width = element.isIndex()
                               ? IndexType::kInternalStorageBitWidth
                               : element.getIntOrFloatBitWidth();
    int64_t smallest = APInt::getSignedMinValue(width).getSExtValue();
    Value minusOne = constantInt(b, type, -1);
    Value overflow = arith::AndIOp::create(
        b,
        arith::CmpIOp::create(b, arith::CmpIPredicate::eq, lhs,
                              constantInt(b, type, smallest)),
        arith::CmpIOp::create(b, arith::CmpIPredicate::eq, rhs, minusOne));
    undefined = arith::OrIOp::create(b, undefined, overflow);
  }
  Value divisor = arith::SelectOp::create(b, undefined, one, rhs);
  OperationState state(op->getLoc(), op->getName());
  state.addOperands({lhs, divisor});
  state.addTypes(type);
  return b.create(state)->getResult(0);
}

Value KernelEmitter::emitElementwise(Operation *op,
                                     ArrayRef<Value> operandList) {
  OpBuilder::InsertionGuard guard(b);
  b.setLoc(op->getLoc());
  // One vector operand makes all of them vectors, but for a scalar condition.
  SmallVector<Value> operands(operandList);
  Type like = b.getI1Type();
  for (Value operand : operands)
    if (isa<VectorType>(operand.getType()))
      like = operand.getType();
  for (auto [position, operand] : llvm::enumerate(operands))
    if (!(isa<arith::SelectOp>(op) && position == 0))
      operand = matchShape(b, operand, like);

  Type element = getElementType(op->getResult(0).getType());
  Type compute = getComputeType(element);

  if (isa<AssumeOp>(op))
    return operands.front();
  if (isa<AddPtrOp>(op)) {
    auto pointee = cast<PtrType>(element).getPointeeType();
    Value offset = operands[1];
    Type wide = likeShape(like, b.getI64Type());
    if (offset.getType() != wide)
      offset = arith::ExtSIOp::create(b, wide, offset);
    int64_t bytes = (getMemoryType(pointee).getIntOrFloatBitWidth() + 7) / 8;
    offset = arith::MulIOp::create(b, offset, constantInt(b, wide, bytes));
    return arith::AddIOp::create(b, operands[0], offset);
  }
  if (isa<CastOp, arith::TruncFOp, arith::ExtFOp, arith::BitcastOp,
          arith::SIToFPOp, arith::UIToFPOp>(op))
    if (Value converted = emitCast(op, operands.front()))
      return converted;
  if (isa<arith::DivSIOp, arith::DivUIOp, arith::RemSIOp, arith::RemUIOp,
          arith::CeilDivSIOp, arith::CeilDivUIOp, arith::FloorDivSIOp>(op))
    return emitDivision(op, operands[0], operands[1]);

  if (isa<math::FmaOp>(op) && isNarrow(element))
    return emitNarrowFma(b, operands, element);

  Value result;
  if (isa<ExpOp, Exp2Op, math::ExpOp, math::Exp2Op>(op) && !compute.isF64()) {
    result = isa<ExpOp, math::ExpOp>(op) ? emitExp(b, operands.front())
                                         : emitExp2(b, operands.front());
  } else if (isa<math::TanhOp, math::ErfOp>(op) && !compute.isF64()) {
    result = isa<math::TanhOp>(op) ? emitTanh(b, operands.front())
                                   : emitErf(b, operands.front());
  } else if (isa<LogOp, Log2Op, math::LogOp, math::Log2Op>(op) &&
             !compute.isF64()) {
    result = isa<LogOp, math::LogOp>(op) ? emitLog(b, operands.front())
                                         : emitLog2(b, operands.front());
  } else if (isa<math::ExpM1Op, math::Log1pOp>(op)) {
    // MLIR's are exp(x) - 1 and log(1 + x), which small numbers do not show in.
    Value wide = operands.front();
    if (!compute.isF64())
      wide = arith::ExtFOp::create(b, likeShape(like, b.getF64Type()), wide);
    result = emitF64Function(b, op->getName().stripDialect(), wide);
    if (!compute.isF64())
      result = arith::TruncFOp::create(b, likeShape(like, compute), result);
  } else {
    // tile.log and its kind are math's operations beyond this point.
    StringRef name = op->getName().getStringRef();
    if (isa<ExpOp>(op))
      name = math::ExpOp::getOperationName();
    else if (isa<Exp2Op>(op))
      name = math::Exp2Op::getOperationName();
    else if (isa<LogOp>(op))
      name = math::LogOp::getOperationName();
    else if (isa<Log2Op>(op))
      name = math::Log2Op::getOperationName();
    OperationState state(op->getLoc(), name);
    state.addOperands(operands);
    state.addTypes(likeShape(like, compute));
    state.addAttributes(op->getAttrDictionary().getValue());
    result = b.create(state)->getResult(0);
  }
  if (isNarrow(element) && !isExact(op))
    return roundTo(b, result, element);
  return result;
}

//===----------------------------------------------------------------------===//
// Reductions
//===----------------------------------------------------------------------===//

Value KernelEmitter::combine(Operation *reduce, Value lhs, Value rhs) {
  Type element = getElementTypeOrSelf(lhs.getType());
  bool floats = isa<FloatType>(element);
  if (isa<SumOp>(reduce))
    return floats ? Value(arith::AddFOp::create(b, lhs, rhs))
                  : Value(arith::AddIOp::create(b, lhs, rhs));
  bool isMax = isa<MaxOp>(reduce);
  if (floats)
    return isMax ? Value(arith::MaximumFOp::create(b, lhs, rhs))
                 : Value(arith::MinimumFOp::create(b, lhs, rhs));
  if (element.isInteger(1)) // false < true
    return isMax ? Value(arith::OrIOp::create(b, lhs, rhs))
                 : Value(arith::AndIOp::create(b, lhs, rhs));
  return isMax ? Value(arith::MaxSIOp::create(b, lhs, rhs))
               : Value(arith::MinSIOp::create(b, lhs, rhs));
}

Value KernelEmitter::reductionIdentity(Operation *reduce, Type type) {
  Type element = getElementTypeOrSelf(type);
  if (isa<FloatType>(element)) {
    double infinity = std::numeric_limits<double>::infinity();
    return constantFloat(b, type,
                         isa<SumOp>(reduce)   ? -0.0
                         : isa<MaxOp>(reduce) ? -infinity
                                              : infinity);
  }
  if (isa<SumOp>(reduce))
    return constantInt(b, type, 0);
  unsigned width = element.getIntOrFloatBitWidth();
  if (width == 1)
    return constantInt(b, type, isa<MinOp>(reduce));
  APInt extreme = isa<MaxOp>(reduce) ? APInt::getSignedMinValue(width)
                                     : APInt::getSignedMaxValue(width);
  return constantInt(b, type, extreme.getSExtValue());
}

SmallVector<Value> KernelEmitter::emitCombiner(Region &combiner, ValueRange lhs,
                                               ValueRange rhs) {
  Block &block = combiner.front();
  // Bound as scalars of the kernel; vectors pass through the same code.
  for (auto [argument, value] : llvm::zip(
           block.getArguments(),
           llvm::concat<Value>(llvm::to_vector(lhs), llvm::to_vector(rhs))))
    scalars.map(argument, value);
  for (Operation &op : block.without_terminator()) {
    SmallVector<Value> operands;
    for (Value operand : op.getOperands())
      operands.push_back(scalar(operand));
    if (auto constant = dyn_cast<arith::ConstantOp>(op)) {
      emitConstantScalar(constant);
      continue;
    }
    scalars.map(op.getResult(0), emitElementwise(&op, operands));
  }
  SmallVector<Value> results;
  // What does not depend on the elements is one scalar for all lanes.
  for (auto [value, partial] :
       llvm::zip(block.getTerminator()->getOperands(), lhs))
    results.push_back(matchShape(b, scalar(value), partial.getType()));
  return results;
}
