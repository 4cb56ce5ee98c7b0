//===- EmitReduce.cpp - Reductions along a dimension ----------------------===//
//
// Part of FlashTile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// First the registers of a thread, then lanes by butterfly shuffles, then warps
// through shared memory. Every thread of a line ends up with the result. Where
// lines are padded, what lies beyond them counts as the neutral element; for
// combiners that have none, each partial result says whether it is one.
// Questions whose answer is one bit for the whole tile need a barrier only.
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

#include <limits>
#include <map>

using namespace mlir;
using namespace flashtile;
using namespace flashtile::gpu;
using namespace flashtile::tile;
using flashtile::tile::getElementType;

//===----------------------------------------------------------------------===//
// Combiners
//===----------------------------------------------------------------------===//

SmallVector<Value> GpuEmitter::emitCombiner(Region &combiner, ValueRange lhs,
                                            ValueRange rhs) {
  Block &block = combiner.front();
  for (auto [argument, value] : llvm::zip(
           block.getArguments(),
           llvm::concat<Value>(llvm::to_vector(lhs), llvm::to_vector(rhs))))
    scalars.map(argument, value);
  for (Operation &op : block.without_terminator()) {
    Attribute constant;
    if (matchPattern(&op, m_Constant(&constant))) {
      scalars.map(op.getResult(0), constantOf(constant));
      continue;
    }
    SmallVector<Value> operands;
    for (Value operand : op.getOperands())
      operands.push_back(scalar(operand));
    for (auto [result, value] :
         llvm::zip(op.getResults(), emitElements(&op, operands)))
      scalars.map(result, value);
  }
  SmallVector<Value> results;
  for (Value value : block.getTerminator()->getOperands())
    results.push_back(scalar(value));
  return results;
}

/// Combines partial results: one value for each operand of the reduction, and
/// where these are partial results with a flag, whether they are any.
SmallVector<Value> GpuEmitter::combine(Operation *reduce, ValueRange lhs,
                                       ValueRange rhs) {
  if (auto general = dyn_cast<ReduceOp>(reduce)) {
    size_t count = reduce->getNumOperands();
    SmallVector<Value> results = emitCombiner(
        general.getCombiner(), lhs.take_front(count), rhs.take_front(count));
    if (lhs.size() == count)
      return results;
    Value left = lhs.back(), right = rhs.back();
    for (size_t index = 0; index < count; ++index)
      results[index] = arith::SelectOp::create(
          b, left,
          arith::SelectOp::create(b, right, results[index], lhs[index]),
          rhs[index]);
    results.push_back(arith::OrIOp::create(b, left, right));
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

/// What leaves the other operand of sum, max or min as it is.
static Value neutralElement(ImplicitLocOpBuilder &b, Operation *reduce,
                            Type type) {
  if (isa<FloatType>(type)) {
    double infinity = std::numeric_limits<double>::infinity();
    return arith::ConstantOp::create(
        b, b.getFloatAttr(type, isa<SumOp>(reduce)   ? -0.0
                                : isa<MaxOp>(reduce) ? -infinity
                                                     : infinity));
  }
  unsigned width = type.getIntOrFloatBitWidth();
  APInt value(width, 0);
  if (width == 1)
    value = APInt(1, isa<MinOp>(reduce));
  else if (!isa<SumOp>(reduce))
    value = isa<MaxOp>(reduce) ? APInt::getSignedMinValue(width)
                               : APInt::getSignedMaxValue(width);
  return arith::ConstantOp::create(b, b.getIntegerAttr(type, value));
}

//===----------------------------------------------------------------------===//
// Warps
//===----------------------------------------------------------------------===//

std::vector<Registers> GpuEmitter::exchangeWarps(const Registers &values,
                                                 ArrayRef<Value> sources) {
  // As many values at a time as fit in a little shared memory.
  constexpr int64_t kSlotBytes = 8, kMostSlots = 8;
  int64_t warps = warpCount();
  std::vector<Registers> received(sources.size());
  auto inMemory = [&](Type type) -> Type {
    return type.isInteger(1) ? b.getI8Type() : type;
  };
  for (size_t first = 0; first < values.size(); first += kMostSlots) {
    auto batch = ArrayRef<Value>(values).slice(
        first, std::min<size_t>(kMostSlots, values.size() - first));
    Value start =
        scratchAddress(batch.size() * warps * lanesPerWarp * kSlotBytes);
    auto pointer = [&](int64_t slot, Value ofWarp) -> Value {
      Value thread = arith::AddIOp::create(
          b, arith::MulIOp::create(b, ofWarp, i32(lanesPerWarp)), self.lane);
      Value offset = arith::MulIOp::create(b, thread, i32(kSlotBytes));
      Value address = arith::AddIOp::create(b, start, offset);
      return sharedPointer(
          b, arith::AddIOp::create(
                 b, address, i32(slot * warps * lanesPerWarp * kSlotBytes)));
    };
    barrier();
    for (auto [slot, value] : llvm::enumerate(batch)) {
      Type type = inMemory(value.getType());
      Value stored = value.getType() == type
                         ? value
                         : Value(arith::ExtUIOp::create(b, type, value));
      LLVM::StoreOp::create(b, stored, pointer(slot, self.warp));
    }
    barrier();
    for (auto [list, source] : llvm::zip(received, sources))
      for (auto [slot, value] : llvm::enumerate(batch)) {
        Type type = inMemory(value.getType());
        Value read = LLVM::LoadOp::create(b, type, pointer(slot, source));
        if (type != value.getType())
          read = arith::TruncIOp::create(b, value.getType(), read);
        list.push_back(read);
      }
  }
  return received;
}

/// Partial results of warps that hold parts of the same line: every thread
/// combines them in the same order.
void GpuEmitter::combineWarps(Operation *reduce, const ReductionPlan &plan,
                              std::vector<SmallVector<Value>> &partials) {
  Value home = self.warp;
  for (const DigitPosition &digit : plan.warpDigits) {
    Value own = digitOf(HardwareIndex::Warp, digit.stride, digit.extent);
    home = arith::SubIOp::create(
        b, home, arith::MulIOp::create(b, own, i32(digit.stride)));
  }
  SmallVector<Value> sources;
  for (int64_t part = 0; part < plan.warpPartials; ++part) {
    int64_t rest = part, offset = 0;
    for (const DigitPosition &digit : plan.warpDigits) {
      offset += rest % digit.extent * digit.stride;
      rest /= digit.extent;
    }
    sources.push_back(arith::AddIOp::create(b, home, i32(offset)));
  }
  Registers flat;
  for (const SmallVector<Value> &partial : partials)
    flat.append(partial.begin(), partial.end());
  std::vector<Registers> received = exchangeWarps(flat, sources);
  size_t at = 0;
  for (SmallVector<Value> &partial : partials) {
    SmallVector<Value> total;
    for (const Registers &list : received) {
      ArrayRef<Value> values = ArrayRef<Value>(list).slice(at, partial.size());
      total = total.empty() ? llvm::to_vector(values)
                            : combine(reduce, total, llvm::to_vector(values));
    }
    at += partial.size();
    partial = total;
  }
}

//===----------------------------------------------------------------------===//
// Reductions
//===----------------------------------------------------------------------===//

/// What an element gives to a reduction: one value for each operand, and where
/// lines are padded and the reduction has no neutral element, whether it is
/// one.
SmallVector<Value> GpuEmitter::elementToReduce(Operation *reduce, bool isPadded,
                                               int64_t index) {
  const unsigned axis = reduce->getAttrOfType<IntegerAttr>("axis").getInt();
  DistributedLayout layout = layoutOf(reduce->getOperand(0).getType());
  SmallVector<Value> values;
  for (Value operand : reduce->getOperands()) {
    Value value = tiles.at(operand)[index];
    // Sums of narrow floats are made in f32.
    if (isa<SumOp>(reduce) && isa<FloatType>(value.getType()) &&
        value.getType().getIntOrFloatBitWidth() < 32)
      value = arith::ExtFOp::create(b, b.getF32Type(), value);
    values.push_back(value);
  }
  if (!isPadded)
    return values;
  Value inLine = arith::CmpIOp::create(b, arith::CmpIPredicate::ult,
                                       coordinate(layout, index, axis),
                                       i32(layout.shape()[axis]));
  if (isa<ReduceOp>(reduce))
    values.push_back(inLine);
  else
    values.front() = arith::SelectOp::create(
        b, inLine, values.front(),
        neutralElement(b, reduce, values.front().getType()));
  return values;
}

/// The parts of lines that a thread has, each reduced. The largest of many is
/// found in several chains: one would have to wait for each of its steps. Lines
/// take turns, so that theirs run side by side. Warps beside a producer have
/// registers for more of them.
std::vector<SmallVector<Value>>
GpuEmitter::reduceOwn(Operation *reduce, const ReductionPlan &plan) {
  const size_t chainCount = !isa<MaxOp, MinOp>(reduce) ? 1
                            : role == Role::Consumer   ? 4
                                                       : 2;
  size_t longest = 0;
  for (const auto &line : plan.registers)
    longest = std::max(longest, line.size());
  std::vector<SmallVector<SmallVector<Value>>> chains(plan.registers.size());
  for (size_t place = 0; place < longest; ++place)
    for (auto [line, ofLine] : llvm::zip(plan.registers, chains)) {
      if (place >= line.size())
        continue;
      SmallVector<Value> values =
          elementToReduce(reduce, plan.isPadded, line[place]);
      if (place < chainCount) {
        ofLine.push_back(values);
        continue;
      }
      SmallVector<Value> &chain = ofLine[place % chainCount];
      chain = combine(reduce, chain, values);
    }
  std::vector<SmallVector<Value>> partials;
  for (const SmallVector<SmallVector<Value>> &ofLine : chains) {
    SmallVector<Value> partial = ofLine.front();
    for (const SmallVector<Value> &chain : llvm::drop_begin(ofLine))
      partial = combine(reduce, partial, chain);
    partials.push_back(partial);
  }
  return partials;
}

LogicalResult GpuEmitter::emitReduce(Operation *op) {
  unsigned axis = op->getAttrOfType<IntegerAttr>("axis").getInt();
  DistributedLayout layout = layoutOf(op->getOperand(0).getType());
  std::optional<ReductionPlan> plan = planReduction(layout, axis);
  if (!plan)
    return op->emitOpError("in this layout is not supported");
  std::vector<SmallVector<Value>> partials = reduceOwn(op, *plan);
  for (int64_t mask : plan->laneMasks)
    for (SmallVector<Value> &partial : partials) {
      SmallVector<Value> other;
      for (Value value : partial)
        other.push_back(shuffleXor(value, mask));
      partial = combine(op, partial, other);
    }
  if (!plan->warpDigits.empty())
    combineWarps(op, *plan, partials);
  for (size_t operand = 0; operand < op->getNumOperands(); ++operand) {
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

LogicalResult GpuEmitter::emitPartialSum(tilegpu::PartialSumOp op) {
  unsigned axis = op.getAxis();
  DistributedLayout from = layoutOf(op.getOperand().getType());
  DistributedLayout to = layoutOf(op.getType());
  const Registers values = tiles.at(op.getOperand());
  // The registers that lie in one line, whichever lane holds them.
  std::map<int64_t, Value> lines;
  for (int64_t index = 0; index < from.registersPerThread(); ++index) {
    Value &line = lines[from.offset(HardwareIndex::Register, index)[1 - axis]];
    line = line ? Value(arith::AddFOp::create(b, line, values[index]))
                : values[index];
  }
  Registers sums;
  for (int64_t index = 0; index < to.registersPerThread(); ++index) {
    auto line = lines.find(to.offset(HardwareIndex::Register, index)[1 - axis]);
    if (line == lines.end() ||
        to.offset(HardwareIndex::Register, index)[axis] != 0)
      return op.emitOpError("expected a result with one part for each thread");
    sums.push_back(line->second);
  }
  tiles[op.getResult()] = sums;
  return success();
}

//===----------------------------------------------------------------------===//
// Questions
//===----------------------------------------------------------------------===//

/// The floats that `tile` says not to be finite: !(|x| < inf), or |x| >= inf or
/// NaN. Null where it says something else.
static Value getNotFinite(Value tile) {
  auto compare = tile.getDefiningOp<arith::CmpFOp>();
  auto wanted = arith::CmpFPredicate::UGE;
  if (auto negation = tile.getDefiningOp<arith::XOrIOp>()) {
    if (!matchPattern(negation.getRhs(), m_One()))
      return {};
    compare = negation.getLhs().getDefiningOp<arith::CmpFOp>();
    wanted = arith::CmpFPredicate::OLT;
  }
  if (!compare || compare.getPredicate() != wanted ||
      !matchPattern(compare.getRhs(), m_PosInfFloat()))
    return {};
  auto size = compare.getLhs().getDefiningOp<math::AbsFOp>();
  return size ? size.getOperand() : Value();
}

/// 0 times a number is a NaN where the number is not finite, and NaNs stay in
/// sums: a multiply-add for each number, in chains that do not wait for each
/// other.
static Value anyNotFiniteOf(ImplicitLocOpBuilder &b, ArrayRef<Value> numbers) {
  constexpr size_t kChains = 4;
  Value zero = arith::ConstantOp::create(b, b.getF32FloatAttr(0.0f));
  SmallVector<Value> sums;
  for (auto [index, number] : llvm::enumerate(numbers))
    if (index < kChains)
      sums.push_back(arith::MulFOp::create(b, number, zero));
    else
      sums[index % kChains] =
          math::FmaOp::create(b, number, zero, sums[index % kChains]);
  Value sum = sums.front();
  for (Value other : llvm::drop_begin(sums))
    sum = arith::AddFOp::create(b, sum, other);
  return arith::CmpFOp::create(b, arith::CmpFPredicate::UNO, sum, sum);
}

/// Without its sign, a narrow number that is not finite has the largest
/// exponent: one more makes the sign bit. Nothing is carried from one half of a
/// word to the other.
Value GpuEmitter::anyNotFinite(Value tile) {
  Value numbers = getNotFinite(tile);
  if (!numbers)
    return {};
  Type element = getElementType(numbers.getType());
  DistributedLayout layout = layoutOf(numbers.getType());
  if (element.isF32() && !layout.isPadded())
    return anyNotFiniteOf(b, tiles.at(numbers));
  if (!(element.isF16() || element.isBF16()) || layout.isPadded() ||
      layout.registersPerThread() % 2 != 0)
    return {};
  Value magnitude = i32(0x7FFF7FFF);
  Value exponent = i32(element.isBF16() ? 0x00800080 : 0x04000400);
  Value signs;
  for (Value word : packWords(tiles.at(numbers))) {
    Value sum = arith::AddIOp::create(
        b, arith::AndIOp::create(b, word, magnitude), exponent);
    signs = signs ? Value(arith::OrIOp::create(b, signs, sum)) : sum;
  }
  signs = arith::AndIOp::create(b, signs, i32(int32_t(0x80008000)));
  return arith::CmpIOp::create(b, arith::CmpIPredicate::ne, signs, i32(0));
}

Value GpuEmitter::anyOfThread(Value tile) {
  if (Value answer = anyNotFinite(tile))
    return answer;
  DistributedLayout layout = layoutOf(tile.getType());
  Value any;
  for (auto [index, value] : llvm::enumerate(Registers(tiles.at(tile)))) {
    Value own = maskedByTile(value, layout, index);
    any = any ? Value(arith::OrIOp::create(b, any, own)) : own;
  }
  return any;
}

void GpuEmitter::emitAny(tilegpu::AnyOp op) {
  Value own = anyOfThread(op.getOperand());
  if (!op.getByWarp())
    return scalars.map(op.getResult(), anyThread(own));
  Value all = i32(-1);
  scalars.map(op.getResult(),
              NVVM::VoteSyncOp::create(b, b.getI1Type(), all, own,
                                       NVVM::VoteSyncKind::any));
}
