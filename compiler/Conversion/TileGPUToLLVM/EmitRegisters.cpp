//===- EmitRegisters.cpp - Elementwise code, conversions, reductions ---- ===//
//
// Part of FlashTile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What happens between the registers of one thread and, by shuffles, of one
// warp.
//
//===----------------------------------------------------------------------===//

#include "compiler/Conversion/TileGPUToLLVM/GpuEmitter.h"

#include "compiler/Analysis/Program/TileQueries.h"
#include "compiler/Conversion/TileToTileGPU/LayoutAttrs.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/IR/Matchers.h"

#include <set>

using namespace mlir;
using namespace flashtile;
using namespace flashtile::gpu;
using namespace flashtile::tile;
using flashtile::tile::getElementType;

//===----------------------------------------------------------------------===//
// Elementwise
//===----------------------------------------------------------------------===//

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

//===----------------------------------------------------------------------===//
// Shuffles and conversions
//===----------------------------------------------------------------------===//

/// Moves a value of any width as 32-bit words.
Value GpuEmitter::throughShuffle(Value value, function_ref<Value(Value)> move) {
  Type type = value.getType();
  unsigned bits = type.getIntOrFloatBitWidth();
  Type word = b.getI32Type();
  Type same = b.getIntegerType(bits);
  Value integer = isa<FloatType>(type)
                      ? Value(arith::BitcastOp::create(b, same, value))
                      : value;
  Value moved;
  if (bits == 32) {
    moved = move(integer);
  } else if (bits < 32) {
    moved = arith::TruncIOp::create(
        b, same, move(arith::ExtUIOp::create(b, word, integer)));
  } else {
    Value low = move(arith::TruncIOp::create(b, word, integer));
    Value high = move(arith::TruncIOp::create(
        b, word, arith::ShRUIOp::create(b, integer, i64(32))));
    moved = arith::OrIOp::create(
        b, arith::ExtUIOp::create(b, same, low),
        arith::ShLIOp::create(b, arith::ExtUIOp::create(b, same, high),
                              i64(32)));
  }
  return isa<FloatType>(type) ? Value(arith::BitcastOp::create(b, type, moved))
                              : moved;
}

Value GpuEmitter::shuffleXor(Value value, int64_t mask) {
  return throughShuffle(value, [&](Value word) -> Value {
    return NVVM::ShflOp::create(b, word.getType(), i32(-1), word, i32(mask),
                                i32(31), NVVM::ShflKind::bfly, UnitAttr());
  });
}

Value GpuEmitter::shuffleIndex(Value value, Value source) {
  return throughShuffle(value, [&](Value word) -> Value {
    return NVVM::ShflOp::create(b, word.getType(), i32(-1), word, source,
                                i32(31), NVVM::ShflKind::idx, UnitAttr());
  });
}

/// All values that a function of the thread takes.
static std::set<int64_t> rangeOf(const ThreadFunction &function,
                                 int64_t warps) {
  std::set<int64_t> values;
  for (int64_t warp = 0; warp < warps; ++warp)
    for (int64_t lane = 0; lane < lanesPerWarp; ++lane)
      values.insert(function.evaluate(lane, warp));
  return values;
}

Registers GpuEmitter::shuffle(const Registers &from,
                              const LayoutConversion &plan, int64_t count) {
  int64_t warps =
      kernel->getAttrOfType<IntegerAttr>(tilegpu::TileGPUDialect::kNumWarpsAttr)
          .getInt();
  Registers to(count, LLVM::PoisonOp::create(b, from.front().getType()));
  auto equals = [&](Value index, int64_t value) {
    return arith::CmpIOp::create(b, arith::CmpIPredicate::eq, index,
                                 i32(value));
  };
  for (const ShuffleRound &round : plan.rounds) {
    Value offered;
    Value send = threadFunction(round.send);
    for (int64_t index : rangeOf(round.send, warps))
      offered = offered ? Value(arith::SelectOp::create(b, equals(send, index),
                                                        from[index], offered))
                        : from[index];
    Value received = round.source.isLane()
                         ? offered
                         : shuffleIndex(offered, threadFunction(round.source));
    std::set<int64_t> targets = rangeOf(round.receive, warps);
    Value receive = threadFunction(round.receive);
    for (int64_t index : targets)
      to[index] = targets.size() == 1
                      ? received
                      : Value(arith::SelectOp::create(b, equals(receive, index),
                                                      received, to[index]));
  }
  return to;
}

Registers GpuEmitter::convert(const Registers &from,
                              const DistributedLayout &fromLayout,
                              const DistributedLayout &toLayout, Type element) {
  Type type = registerType(element);
  int64_t bytes = std::max(1u, type.getIntOrFloatBitWidth() / 8);
  LayoutConversion plan = planConversion(fromLayout, toLayout, bytes);
  int64_t count = toLayout.registersPerThread();
  switch (plan.kind) {
  case LayoutConversion::Kind::None:
    return from;
  case LayoutConversion::Kind::Registers: {
    Registers to;
    for (int64_t source : plan.registerMap)
      to.push_back(source < 0 ? Value(LLVM::PoisonOp::create(b, type))
                              : from[source]);
    return to;
  }
  case LayoutConversion::Kind::Lanes:
    return shuffle(from, plan, count);
  case LayoutConversion::Kind::SharedMemory:
    break;
  }
  const SharedLayout &memory = plan.trip->memory;
  int64_t base = reserveScratch(memory.bytes());
  barrier();
  storeShared(from, fromLayout, memory, base, element);
  barrier();
  return loadShared(toLayout, memory, base, element);
}

void GpuEmitter::emitConvert(tilegpu::ConvertLayoutOp op) {
  const Registers from = tiles.at(op.getOperand());
  tiles[op.getResult()] =
      convert(from, layoutOf(op.getOperand().getType()), layoutOf(op.getType()),
              getElementType(op.getType()));
}

//===----------------------------------------------------------------------===//
// Reductions
//===----------------------------------------------------------------------===//

/// Combines partial results: one value for each operand of the reduction.
SmallVector<Value> GpuEmitter::combine(Operation *reduce, ValueRange lhs,
                                       ValueRange rhs) {
  if (auto general = dyn_cast<ReduceOp>(reduce)) {
    Block &block = general.getCombiner().front();
    IRMapping mapping;
    for (auto [argument, value] : llvm::zip(
             block.getArguments(),
             llvm::concat<Value>(llvm::to_vector(lhs), llvm::to_vector(rhs))))
      mapping.map(argument, value);
    for (Operation &op : block.without_terminator()) {
      for (Value operand : op.getOperands())
        if (!mapping.contains(operand))
          mapping.map(operand, scalar(operand));
      b.clone(op, mapping);
    }
    SmallVector<Value> results;
    for (Value value : block.getTerminator()->getOperands())
      results.push_back(mapping.lookup(value));
    return results;
  }
  Value x = lhs.front(), y = rhs.front();
  bool floats = isa<FloatType>(x.getType());
  if (isa<SumOp>(reduce))
    return {floats ? Value(arith::AddFOp::create(b, x, y))
                   : Value(arith::AddIOp::create(b, x, y))};
  bool isMax = isa<MaxOp>(reduce);
  if (floats)
    return {isMax ? Value(arith::MaximumFOp::create(b, x, y))
                  : Value(arith::MinimumFOp::create(b, x, y))};
  if (x.getType().isInteger(1))
    return {isMax ? Value(arith::OrIOp::create(b, x, y))
                  : Value(arith::AndIOp::create(b, x, y))};
  return {isMax ? Value(arith::MaxSIOp::create(b, x, y))
                : Value(arith::MinSIOp::create(b, x, y))};
}

/// Partial results of warps that hold parts of the same line meet in shared
/// memory, where every thread combines them in the same order.
void GpuEmitter::combineWarps(Operation *reduce, const ReductionPlan &plan,
                              std::vector<SmallVector<Value>> &partials) {
  int64_t warps =
      kernel->getAttrOfType<IntegerAttr>(tilegpu::TileGPUDialect::kNumWarpsAttr)
          .getInt();
  constexpr int64_t kSlotBytes = 8;
  size_t operands = reduce->getNumOperands();
  int64_t slots = partials.size() * operands;
  int64_t base = reserveScratch(slots * warps * lanesPerWarp * kSlotBytes);
  auto pointer = [&](int64_t slot, Value ofWarp) -> Value {
    Value thread = arith::AddIOp::create(
        b, arith::MulIOp::create(b, ofWarp, i32(lanesPerWarp)), lane);
    Value offset = arith::MulIOp::create(b, thread, i32(kSlotBytes));
    int64_t start = base + slot * warps * lanesPerWarp * kSlotBytes;
    Value address = arith::AddIOp::create(
        b, arith::AddIOp::create(b, sharedBase, i32(start)), offset);
    return LLVM::IntToPtrOp::create(
        b,
        LLVM::LLVMPointerType::get(
            b.getContext(),
            static_cast<unsigned>(NVVM::NVVMMemorySpace::Shared)),
        address);
  };
  auto inMemory = [&](Type type) -> Type {
    return type.isInteger(1) ? b.getI8Type() : type;
  };
  barrier();
  for (auto [index, partial] : llvm::enumerate(partials))
    for (auto [operand, value] : llvm::enumerate(partial)) {
      Type type = inMemory(value.getType());
      Value stored = value.getType() == type
                         ? value
                         : Value(arith::ExtUIOp::create(b, type, value));
      LLVM::StoreOp::create(b, stored,
                            pointer(index * operands + operand, warp));
    }
  barrier();
  Value home = warp;
  for (const DigitPosition &digit : plan.warpDigits) {
    Value own = digitOf(HardwareIndex::Warp, digit.stride, digit.extent);
    home = arith::SubIOp::create(
        b, home, arith::MulIOp::create(b, own, i32(digit.stride)));
  }
  for (auto [index, partial] : llvm::enumerate(partials)) {
    SmallVector<Value> total;
    for (int64_t part = 0; part < plan.warpPartials; ++part) {
      int64_t rest = part, offset = 0;
      for (const DigitPosition &digit : plan.warpDigits) {
        offset += rest % digit.extent * digit.stride;
        rest /= digit.extent;
      }
      Value from = arith::AddIOp::create(b, home, i32(offset));
      SmallVector<Value> values;
      for (auto [operand, value] : llvm::enumerate(partial)) {
        Type type = inMemory(value.getType());
        Value read = LLVM::LoadOp::create(
            b, type, pointer(index * operands + operand, from));
        if (type != value.getType())
          read = arith::TruncIOp::create(b, value.getType(), read);
        values.push_back(read);
      }
      total = total.empty() ? values : combine(reduce, total, values);
    }
    partial = total;
  }
}

LogicalResult GpuEmitter::emitReduce(Operation *op) {
  unsigned axis = op->getAttrOfType<IntegerAttr>("axis").getInt();
  DistributedLayout layout = layoutOf(op->getOperand(0).getType());
  std::optional<ReductionPlan> plan = planReduction(layout, axis);
  if (!plan)
    return op->emitOpError("in this layout is not supported");
  if (plan->isPadded)
    return op->emitOpError("over a padded dimension is not supported by the "
                           "gpu targets yet");
  size_t operands = op->getNumOperands();
  // Sums of narrow floats are made in f32.
  auto widen = [&](Value value) -> Value {
    bool narrow = isa<SumOp>(op) && isa<FloatType>(value.getType()) &&
                  value.getType().getIntOrFloatBitWidth() < 32;
    return narrow ? Value(arith::ExtFOp::create(b, b.getF32Type(), value))
                  : value;
  };
  std::vector<SmallVector<Value>> partials;
  for (const auto &group : plan->registers) {
    SmallVector<Value> partial;
    for (int64_t index : group) {
      SmallVector<Value> values;
      for (Value operand : op->getOperands())
        values.push_back(widen(tiles.at(operand)[index]));
      partial = partial.empty() ? values : combine(op, partial, values);
    }
    for (int64_t mask : plan->laneMasks) {
      SmallVector<Value> other;
      for (Value value : partial)
        other.push_back(shuffleXor(value, mask));
      partial = combine(op, partial, other);
    }
    partials.push_back(partial);
  }
  if (!plan->warpDigits.empty())
    combineWarps(op, *plan, partials);
  for (size_t operand = 0; operand < operands; ++operand) {
    Value result = op->getResult(operand);
    Type type = registerType(getElementType(result.getType()));
    Registers values;
    for (SmallVector<Value> &partial : partials) {
      Value value = partial[operand];
      if (value.getType() != type)
        value = arith::TruncFOp::create(b, type, value);
      values.push_back(value);
    }
    if (tileType(result))
      tiles[result] = values;
    else
      scalars.map(result, values.front());
  }
  return success();
}
