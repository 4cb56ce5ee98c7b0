//===- EmitElementwise.cpp - Elementwise code of one thread ---------------===//
//
// Part of FlashTile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Elementwise code runs once for each register. Narrow floats compute in f32
// and round once, as on the cpu; what is exact in them stays as it is.
//
//===----------------------------------------------------------------------===//

#include "compiler/Conversion/TileGPUToLLVM/GpuEmitter.h"

#include "compiler/Analysis/Program/TileQueries.h"
#include "compiler/Conversion/Numerics/F64Functions.h"
#include "compiler/Conversion/Numerics/Numerics.h"
#include "compiler/Conversion/TileToTileGPU/LayoutAttrs.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/IR/Matchers.h"

using namespace mlir;
using namespace flashtile;
using namespace flashtile::gpu;
using namespace flashtile::tile;
using flashtile::tile::getElementType;

static bool isNarrow(Type element) {
  return isa<FloatType>(element) && element.getIntOrFloatBitWidth() < 32;
}

static bool isFp8(Type element) {
  return isa<FloatType>(element) && element.getIntOrFloatBitWidth() == 8;
}

/// Whether the result is one of the operands, or exact in their format, and the
/// hardware has the operation for it.
static bool isExact(Operation *op, Type element) {
  if (isa<arith::SelectOp>(op))
    return true;
  if (isFp8(element))
    return false;
  return isa<arith::NegFOp, arith::MaximumFOp, arith::MinimumFOp, math::AbsFOp,
             math::FmaOp>(op);
}

/// Whether the result needs no rounding: fp8 would lose its infinities by it.
static bool needsNoRounding(Operation *op) {
  return isa<arith::NegFOp, arith::MaximumFOp, arith::MinimumFOp,
             arith::MaxNumFOp, arith::MinNumFOp, math::AbsFOp, math::CopySignOp,
             math::FloorOp, math::CeilOp, math::RoundOp, math::RoundEvenOp,
             math::TruncOp>(op);
}

//===----------------------------------------------------------------------===//
// Element formats
//===----------------------------------------------------------------------===//

Value GpuEmitter::toCompute(Value value, Type element) {
  if (isFp8(element))
    return numeric::decode(b, value, element);
  if (isNarrow(element))
    return arith::ExtFOp::create(b, b.getF32Type(), value);
  return value;
}

Value GpuEmitter::fromCompute(Value value, Type element) {
  Type from = value.getType();
  if (from == element)
    return value;
  if (isFp8(element))
    return numeric::encode(b, numeric::roundTo(b, value, element), element);
  // f64 to bf16 is no instruction of sm_80.
  if (from.isF64() && element.isBF16())
    value = numeric::roundTo(b, value, element);
  if (value.getType().getIntOrFloatBitWidth() < element.getIntOrFloatBitWidth())
    return arith::ExtFOp::create(b, element, value);
  return arith::TruncFOp::create(b, element, value);
}

Value GpuEmitter::emitCast(Value value, Type from, Type to) {
  return from == to ? value : fromCompute(toCompute(value, from), to);
}

Value GpuEmitter::constantOf(Attribute value) {
  if (auto number = dyn_cast<FloatAttr>(value);
      number && isFp8(number.getType()))
    value = b.getIntegerAttr(b.getI8Type(),
                             number.getValue().bitcastToAPInt().getSExtValue());
  return arith::ConstantOp::create(b, cast<TypedAttr>(value));
}

//===----------------------------------------------------------------------===//
// Operations with code of their own
//===----------------------------------------------------------------------===//

static Value callAsm(ImplicitLocOpBuilder &b, Type type, StringRef text,
                     StringRef constraints, ValueRange operands) {
  return LLVM::InlineAsmOp::create(
             b, type, operands, text, constraints, /*has_side_effects=*/false,
             /*is_align_stack=*/false, LLVM::TailCallKind::None,
             /*asm_dialect=*/nullptr, /*operand_attrs=*/nullptr)
      .getResult(0);
}

/// Conversions between numbers; null for other operations.
Value GpuEmitter::emitConversion(Operation *op, Value operand) {
  Type from = getElementType(op->getOperand(0).getType());
  Type to = getElementType(op->getResult(0).getType());
  if (isa<CastOp, arith::TruncFOp, arith::ExtFOp>(op))
    return emitCast(operand, from, to);
  if (isa<arith::BitcastOp>(op)) {
    Type type = registerType(to);
    return operand.getType() == type
               ? operand
               : Value(arith::BitcastOp::create(b, type, operand));
  }
  // Integers to narrow floats go through f64, which holds i32 exactly, and
  // round once from there.
  if (isa<arith::SIToFPOp, arith::UIToFPOp>(op) && isNarrow(to)) {
    bool isSigned = isa<arith::SIToFPOp>(op);
    if (from.isInteger(64))
      operand = numeric::fitToF64(b, operand, isSigned);
    Type f64 = b.getF64Type();
    return fromCompute(isSigned
                           ? Value(arith::SIToFPOp::create(b, f64, operand))
                           : Value(arith::UIToFPOp::create(b, f64, operand)),
                       to);
  }
  return {};
}

/// Division by zero and of the smallest integer by -1 are undefined, not traps
/// and not the end of what LLVM keeps of a program: the dividend is divided
/// by 1.
Value GpuEmitter::emitDivision(Operation *op, Value lhs, Value rhs) {
  Type type = lhs.getType();
  auto constant = [&](int64_t value) -> Value {
    return arith::ConstantOp::create(b, b.getIntegerAttr(type, value));
  };
  auto equals = [&](Value x, Value y) -> Value {
    return arith::CmpIOp::create(b, arith::CmpIPredicate::eq, x, y);
  };
  bool isSigned = !isa<arith::DivUIOp, arith::RemUIOp, arith::CeilDivUIOp>(op);
  Value zero = constant(0);
  APInt divisor;
  bool known = matchPattern(rhs, m_ConstantInt(&divisor)) &&
               !divisor.isZero() && !divisor.isAllOnes();
  if (!known) {
    Value undefined = equals(rhs, zero);
    if (isSigned && !type.isIndex()) {
      int64_t smallest =
          APInt::getSignedMinValue(type.getIntOrFloatBitWidth()).getSExtValue();
      undefined = arith::OrIOp::create(
          b, undefined,
          arith::AndIOp::create(b, equals(lhs, constant(smallest)),
                                equals(rhs, constant(-1))));
    }
    rhs = arith::SelectOp::create(b, undefined, constant(1), rhs);
  }
  if (isa<arith::RemSIOp>(op))
    return arith::RemSIOp::create(b, lhs, rhs);
  if (isa<arith::RemUIOp>(op))
    return arith::RemUIOp::create(b, lhs, rhs);
  if (isa<arith::DivUIOp>(op))
    return arith::DivUIOp::create(b, lhs, rhs);
  if (isa<arith::DivSIOp>(op))
    return arith::DivSIOp::create(b, lhs, rhs);
  // Rounding up or down: one more or less where there is a remainder.
  Value quotient = isSigned ? Value(arith::DivSIOp::create(b, lhs, rhs))
                            : Value(arith::DivUIOp::create(b, lhs, rhs));
  Value rest =
      arith::SubIOp::create(b, lhs, arith::MulIOp::create(b, quotient, rhs));
  Value moves = arith::CmpIOp::create(b, arith::CmpIPredicate::ne, rest, zero);
  if (isSigned) {
    Value differ = arith::CmpIOp::create(
        b, arith::CmpIPredicate::slt, arith::XOrIOp::create(b, lhs, rhs), zero);
    if (isa<arith::CeilDivSIOp>(op))
      differ =
          equals(differ, arith::ConstantOp::create(b, b.getBoolAttr(false)));
    moves = arith::AndIOp::create(b, moves, differ);
  }
  Value moved = isa<arith::FloorDivSIOp>(op)
                    ? Value(arith::SubIOp::create(b, quotient, constant(1)))
                    : Value(arith::AddIOp::create(b, quotient, constant(1)));
  return arith::SelectOp::create(b, moves, moved, quotient);
}

/// "exp" for tile.exp and math.exp; "remf"; empty for what is no function.
static StringRef functionName(Operation *op) {
  if (isa<ExpOp, Exp2Op, LogOp, Log2Op>(op) ||
      isa_and_nonnull<math::MathDialect>(op->getDialect()))
    return op->getName().stripDialect();
  return isa<arith::RemFOp>(op) ? "remf" : "";
}

static bool isApproximate(Operation *op) {
  auto interface = dyn_cast<arith::ArithFastMathInterface>(op);
  return interface &&
         arith::bitEnumContainsAny(interface.getFastMathFlagsAttr().getValue(),
                                   arith::FastMathFlags::afn);
}

/// 1 / x with `afn`: one instruction, where LLVM's would take care of results
/// that are not normal numbers.
static bool isApproximateReciprocal(Operation *op) {
  return isa<arith::DivFOp>(op) && isApproximate(op) &&
         matchPattern(op->getOperand(0), m_OneFloat());
}

/// tanh within 2^-21 by two approximations, and by one instruction where the
/// narrow type of the result shows no more than its 2^-11.
static Value emitFastTanh(ImplicitLocOpBuilder &b, Value x, bool isNarrow) {
  Type f32 = b.getF32Type();
  if (isNarrow)
    return callAsm(b, f32, "tanh.approx.f32 $0, $1;", "=f,f", x);
  auto constant = [&](float value) -> Value {
    return arith::ConstantOp::create(b, b.getF32FloatAttr(value));
  };
  // 1 - 2 / (e^2x + 1)
  Value power =
      callAsm(b, f32, "ex2.approx.ftz.f32 $0, $1;", "=f,f",
              Value(arith::MulFOp::create(b, math::AbsFOp::create(b, x),
                                          constant(2 * 1.44269504088896f))));
  Value inverse =
      callAsm(b, f32, "rcp.approx.ftz.f32 $0, $1;", "=f,f",
              Value(arith::AddFOp::create(b, power, constant(1.0f))));
  return numeric::emitTanh(
      b, x, math::FmaOp::create(b, inverse, constant(-2.0f), constant(1.0f)));
}

/// Functions of f32 that have code of f32; null for others.
Value GpuEmitter::emitF32Function(Operation *op, StringRef name, Value x) {
  Type f32 = b.getF32Type();
  if (name == "exp" || name == "exp2") {
    if (name == "exp" && !isApproximate(op)) {
      // It scales through the bits of the result, which are those of other
      // NaNs here than on the cpu.
      Value isNaN = arith::CmpFOp::create(b, arith::CmpFPredicate::UNO, x, x);
      return arith::SelectOp::create(b, isNaN, x, numeric::emitExp(b, x));
    }
    if (name == "exp")
      x = arith::MulFOp::create(
          b, x,
          arith::ConstantOp::create(b, b.getF32FloatAttr(1.44269504088896f)));
    return callAsm(b, f32, "ex2.approx.ftz.f32 $0, $1;", "=f,f", x);
  }
  if (name == "log")
    return numeric::emitLog(b, x);
  if (name == "log2")
    return numeric::emitLog2(b, x);
  if (name == "tanh" && isApproximate(op))
    return emitFastTanh(b, x,
                        isNarrow(getElementType(op->getResult(0).getType())));
  if (name == "tanh")
    return numeric::emitTanh(b, x);
  return name == "erf" ? numeric::emitErf(b, x) : Value();
}

/// Exponentials, logarithms, sines and so on; null for other operations.
/// Operands and result are of the compute type.
Value GpuEmitter::emitFunction(Operation *op, ValueRange operands) {
  StringRef name = functionName(op);
  if (name.empty())
    return {};
  Type compute = operands.front().getType(), f64 = b.getF64Type();
  if (compute.isF32())
    if (Value result = emitF32Function(op, name, operands.front()))
      return result;
  auto widen = [&](Value value) -> Value {
    return value.getType() == f64 ? value
                                  : Value(arith::ExtFOp::create(b, f64, value));
  };
  if (name == "fpowi") {
    // The sign by the exponent's last bit, which f64 may not hold.
    Value x = widen(operands[0]);
    Value n = arith::SIToFPOp::create(b, f64, operands[1]);
    Value power =
        numeric::emitF64Function(b, "powf", {math::AbsFOp::create(b, x), n});
    Value odd = arith::TruncIOp::create(b, b.getI1Type(), operands[1]);
    Value signedPower = math::CopySignOp::create(b, power, x);
    Value result = arith::SelectOp::create(b, odd, signedPower, power);
    return compute.isF64() ? result : fromCompute(result, compute);
  }
  SmallVector<Value> wide;
  for (Value operand : operands) {
    if (!isa<FloatType>(operand.getType()))
      return {};
    wide.push_back(operand);
  }
  // Only where there is such a function: nothing is made in vain.
  if (!numeric::isF64Function(name))
    return {};
  for (Value &operand : wide)
    operand = widen(operand);
  return fromCompute(numeric::emitF64Function(b, name, wide), compute);
}

//===----------------------------------------------------------------------===//
// Elements
//===----------------------------------------------------------------------===//

SmallVector<Value> GpuEmitter::emitElements(Operation *op,
                                            ValueRange operands) {
  Type element = getElementType(op->getResult(0).getType());
  if (isa<AssumeOp>(op))
    return {operands.front()};
  if (isa<AddPtrOp>(op)) {
    Type pointee = cast<PtrType>(element).getPointeeType();
    int64_t bytes = (pointee.getIntOrFloatBitWidth() + 7) / 8;
    Value scaled = arith::MulIOp::create(b, toI64(operands[1]), i64(bytes));
    return {arith::AddIOp::create(b, operands[0], scaled)};
  }
  if (Value converted = emitConversion(op, operands.front()))
    return {converted};
  if (isa<arith::DivSIOp, arith::DivUIOp, arith::RemSIOp, arith::RemUIOp,
          arith::CeilDivSIOp, arith::CeilDivUIOp, arith::FloorDivSIOp>(op))
    return {emitDivision(op, operands[0], operands[1])};

  bool exact = isExact(op, element);
  SmallVector<Value> computing(operands);
  if (!exact)
    for (auto [operand, value] : llvm::zip(op->getOperands(), computing))
      value = toCompute(value, getElementType(operand.getType()));
  if (isa<math::FmaOp>(op) && isFp8(element))
    return {numeric::encode(b, numeric::emitNarrowFma(b, computing, element),
                            element)};
  if (Value result = emitFunction(op, computing))
    return {fromCompute(result, element)};
  if (isApproximateReciprocal(op) && computing[1].getType().isF32())
    return {
        fromCompute(callAsm(b, computing[1].getType(),
                            "rcp.approx.ftz.f32 $0, $1;", "=f,f", computing[1]),
                    element)};

  OperationState state(op->getLoc(), op->getName());
  state.addOperands(computing);
  for (Type type : op->getResultTypes()) {
    Type result = getElementType(type);
    state.addTypes(exact || !isNarrow(result) ? registerType(result)
                                              : Type(b.getF32Type()));
  }
  state.addAttributes(op->getAttrDictionary().getValue());
  Operation *made = b.create(state);
  SmallVector<Value> results;
  for (auto [result, value] : llvm::zip(op->getResults(), made->getResults())) {
    Type type = getElementType(result.getType());
    if (exact || !isNarrow(type))
      results.push_back(value);
    else if (isFp8(type) && needsNoRounding(op))
      results.push_back(numeric::encode(b, value, type));
    else
      results.push_back(fromCompute(value, type));
  }
  return results;
}

/// Two f32 to a word of f16 or bf16, and its halves.
static std::pair<Value, Value> castPair(ImplicitLocOpBuilder &b, Value low,
                                        Value high, Type to) {
  StringRef name =
      to.isF16() ? "llvm.nvvm.ff2f16x2.rn" : "llvm.nvvm.ff2bf16x2.rn";
  Value pair = LLVM::CallIntrinsicOp::create(b, VectorType::get({2}, to),
                                             b.getStringAttr(name),
                                             ValueRange{high, low})
                   .getResult(0);
  auto half = [&](int64_t index) -> Value {
    return LLVM::ExtractElementOp::create(
        b, pair, arith::ConstantOp::create(b, b.getI32IntegerAttr(index)));
  };
  Value first = half(0);
  return {first, half(1)};
}

/// Of masked tiles. LLVM would take the mask behind the conversion, to halves
/// of words, each of which is then taken out and put back.
static bool castsMasked(Operation *op) {
  auto cast = dyn_cast<CastOp>(op);
  Type to = getElementType(op->getResult(0).getType());
  return cast && cast.getOperand().getDefiningOp<arith::SelectOp>() &&
         getElementType(cast.getOperand().getType()).isF32() &&
         (to.isF16() || to.isBF16());
}

/// thread + constant < limit as constant < limit - thread: the constants take
/// no registers, nor instructions. Counters are never negative, so limits below
/// -1 are as good as -1, from which the difference does not wrap. Only where
/// products of warpgroups hold most registers: elsewhere the differences are
/// what spills.
bool GpuEmitter::emitCounterCompare(Operation *op) {
  auto compare = dyn_cast<arith::CmpIOp>(op);
  if (!compare || role == Role::All ||
      !getElementType(compare.getLhs().getType()).isInteger(32))
    return false;
  arith::CmpIPredicate predicate = compare.getPredicate();
  if (predicate != arith::CmpIPredicate::slt &&
      predicate != arith::CmpIPredicate::sle &&
      predicate != arith::CmpIPredicate::sgt &&
      predicate != arith::CmpIPredicate::sge)
    return false;
  const Registers lhs = tiles.at(compare.getLhs()),
                  rhs = tiles.at(compare.getRhs());
  auto count = [&](const Registers &values) {
    return llvm::all_of(values,
                        [&](Value value) { return counters.contains(value); });
  };
  bool onLeft = count(lhs);
  if (onLeft == count(rhs))
    return false;
  llvm::DenseMap<std::pair<Value, Value>, Value> rests;
  auto restOf = [&](Value limit, Value thread) {
    Value &rest = rests[{limit, thread}];
    if (!rest)
      rest = arith::SubIOp::create(b, arith::MaxSIOp::create(b, limit, i32(-1)),
                                   thread);
    return rest;
  };
  Registers results;
  for (auto [left, right] : llvm::zip(lhs, rhs)) {
    auto [thread, own] = counters.at(onLeft ? left : right);
    Value constant = i32(own), rest = restOf(onLeft ? right : left, thread);
    results.push_back(arith::CmpIOp::create(
        b, predicate, onLeft ? constant : rest, onLeft ? rest : constant));
  }
  tiles[op->getResult(0)] = results;
  return true;
}

LogicalResult GpuEmitter::emitElementwise(Operation *op) {
  if (emitCounterCompare(op))
    return success();
  int64_t count = layoutOf(op->getResult(0).getType()).registersPerThread();
  if (castsMasked(op) && count % 2 == 0) {
    const Registers from = tiles.at(op->getOperand(0));
    Registers to;
    for (int64_t index = 0; index < count; index += 2) {
      auto [low, high] = castPair(b, from[index], from[index + 1],
                                  getElementType(op->getResult(0).getType()));
      to.push_back(low);
      to.push_back(high);
    }
    tiles[op->getResult(0)] = to;
    return success();
  }
  SmallVector<Registers> results(op->getNumResults());
  for (int64_t index = 0; index < count; ++index) {
    SmallVector<Value> operands;
    for (Value operand : op->getOperands())
      operands.push_back(tileType(operand) ? tiles.at(operand)[index]
                                           : scalar(operand));
    for (auto [list, value] : llvm::zip(results, emitElements(op, operands)))
      list.push_back(value);
  }
  for (auto [result, list] : llvm::zip(op->getResults(), results))
    tiles[result] = list;
  return success();
}

/// For each register of `layout` that of slice(layout, axis) with its element:
/// padding along a dimension of extent 1 has registers of its own.
static SmallVector<int64_t> sliceRegisters(const DistributedLayout &layout,
                                           unsigned axis) {
  SmallVector<int64_t> sources;
  for (int64_t index = 0; index < layout.registersPerThread(); ++index) {
    int64_t rest = index, source = 0, stride = 1;
    for (const Digit &digit : layout.registers()) {
      int64_t value = rest % digit.extent;
      rest /= digit.extent;
      bool elsewhere = false;
      for (unsigned dim = 0; dim < layout.rank(); ++dim)
        elsewhere |= dim != axis && digit.movesAlong(dim);
      if (digit.movesAlong(axis) && !elsewhere)
        continue;
      source += value * stride;
      stride *= digit.extent;
    }
    sources.push_back(source);
  }
  return sources;
}

LogicalResult GpuEmitter::emitTileOp(Operation *op) {
  if (isElementwise(op) && op->getNumResults() && tileType(op->getResult(0)))
    return emitElementwise(op);
  if (op->getNumResults() != 1 || !tileType(op->getResult(0)))
    return op->emitOpError("is not supported by the gpu targets yet");
  Value result = op->getResult(0);
  DistributedLayout layout = layoutOf(result.getType());
  int64_t count = layout.registersPerThread();
  Type type = registerType(getElementType(result.getType()));
  auto fill = [&](Value value) { tiles[result] = Registers(count, value); };

  DenseElementsAttr constant;
  if (matchPattern(op, m_Constant(&constant))) {
    if (constant.isSplat())
      fill(constantOf(constant.getSplatValue<Attribute>()));
    else
      tiles[result] = loadConstant(constant, layout);
    return success();
  }
  if (auto splat = dyn_cast<SplatOp>(op))
    return fill(scalar(splat.getValue())), success();
  if (auto full = dyn_cast<FullOp>(op))
    return fill(constantOf(full.getValueAttr())), success();
  if (auto arange = dyn_cast<ArangeOp>(op)) {
    Registers values;
    int64_t start = int32_t(arange.getStart());
    for (int64_t index = 0; index < count; ++index) {
      values.push_back(
          arith::AddIOp::create(b, coordinate(layout, index, 0), i32(start)));
      int64_t own = layout.offset(HardwareIndex::Register, index)[0];
      if (start >= 0)
        counters[values.back()] = {threadOffset(layout, 0), start + own};
    }
    tiles[result] = values;
    return success();
  }
  if (auto expand = dyn_cast<ExpandDimsOp>(op)) {
    const Registers from = tiles.at(expand.getOperand());
    Registers values;
    for (int64_t source : sliceRegisters(layout, expand.getAxis()))
      values.push_back(from[source]);
    tiles[result] = values;
    return success();
  }
  if (isa<TransOp>(op)) {
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
      values.push_back(source < 0 ? paddingOf(type) : from[source]);
    tiles[result] = values;
    return success();
  }
  if (auto reshape = dyn_cast<ReshapeOp>(op))
    return emitReshape(reshape), success();
  if (auto join = dyn_cast<JoinOp>(op))
    return emitJoin(join), success();
  if (auto cat = dyn_cast<CatOp>(op))
    return emitCat(cat), success();
  return op->emitOpError("is not supported by the gpu targets yet");
}
