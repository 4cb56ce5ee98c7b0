//===- EmitScan.cpp - Associative prefixes --------------------------------===//
//
// Part of FlashTile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// In the layout of a scan each thread holds a run of a line, and lanes follow
// each other along it: registers first, then the totals of lanes by shuffles,
// then what came before a lane in front of each of its registers. The order of
// operands is that of the line: combiners need not commute.
//
//===----------------------------------------------------------------------===//

#include "compiler/Conversion/TileGPUToLLVM/GpuEmitter.h"

#include "compiler/Conversion/TileToTileGPU/LayoutAttrs.h"
#include "compiler/Conversion/TileToTileGPU/ScanLayout.h"

#include "mlir/Dialect/Arith/IR/Arith.h"

using namespace mlir;
using namespace flashtile;
using namespace flashtile::gpu;
using namespace flashtile::tile;

namespace {
/// How the lanes of a layout follow each other along a line.
struct LaneRun {
  int64_t stride = 1; ///< in lanes
  int64_t extent = 1; ///< lanes of a line
  int64_t run = 1;    ///< elements of a lane
};
} // namespace

/// The layout has one lane digit along the axis at most, and its first register
/// digit counts along the axis: scanLayout makes it so.
static LaneRun laneRunOf(const DistributedLayout &layout, unsigned axis) {
  LaneRun lanes;
  if (!layout.registers().empty() && layout.registers().front().step[axis] == 1)
    lanes.run = layout.registers().front().extent;
  int64_t stride = 1;
  for (const Digit &digit : layout.lanes()) {
    if (digit.extent > 1 && digit.movesAlong(axis)) {
      lanes.stride = stride;
      lanes.extent = digit.extent;
    }
    stride *= digit.extent;
  }
  return lanes;
}

namespace {
/// Positions along the lines of a scan.
class ScanLine {
public:
  ScanLine(ImplicitLocOpBuilder &b, const LaneRun &lanes, int64_t extent,
           bool reverse, bool padded)
      : b(b), lanes(lanes), extent(extent), reverse(reverse), padded(padded) {}

  /// The register of a run that comes at `step` in scan order.
  int64_t number(int64_t first, int64_t step) const {
    return first + (reverse ? lanes.run - 1 - step : step);
  }
  /// Padding lies at the end of a line: a reverse scan has to step over it.
  bool stepsOverPadding() const { return reverse && padded; }
  Value isBelow(Value position) const {
    return arith::CmpIOp::create(b, arith::CmpIPredicate::slt, position,
                                 i32(extent));
  }
  /// The lane that comes `distance` before this one in scan order.
  Value laneBefore(Value lane, int64_t distance) const {
    Value before = arith::AddIOp::create(
        b, lane, i32((reverse ? distance : -distance) * lanes.stride));
    return arith::AndIOp::create(b, before, i32(lanesPerWarp - 1));
  }
  /// Whether there is one, from the lane's place in the line.
  Value existsBefore(Value place, int64_t distance) const {
    if (!reverse)
      return arith::CmpIOp::create(b, arith::CmpIPredicate::sge, place,
                                   i32(distance));
    Value other = arith::AddIOp::create(b, place, i32(distance));
    Value exists = arith::CmpIOp::create(b, arith::CmpIPredicate::slt, other,
                                         i32(lanes.extent));
    if (!padded)
      return exists;
    Value element = arith::MulIOp::create(b, other, i32(lanes.run));
    return arith::AndIOp::create(b, exists, isBelow(element));
  }

private:
  Value i32(int64_t value) const {
    return arith::ConstantOp::create(b, b.getI32IntegerAttr(value));
  }

  ImplicitLocOpBuilder &b;
  const LaneRun &lanes;
  int64_t extent;
  bool reverse, padded;
};
} // namespace

LogicalResult GpuEmitter::emitScan(ScanOp op) {
  unsigned axis = op.getAxis();
  DistributedLayout layout = layoutOf(op.getOperand(0).getType());
  if (layout != scanLayout(layout.shape(), axis, warpCount()))
    return op.emitOpError("expected operands in the layout of a scan, but got ")
           << op.getOperand(0).getType();
  LaneRun lanes = laneRunOf(layout, axis);
  ScanLine line(b, lanes, layout.shape()[axis], op.getReverse(),
                layout.isPaddedAlong(axis));
  // before combined with value where there is something before.
  auto prepend = [&](ArrayRef<Value> before, ArrayRef<Value> value,
                     Value exists) {
    SmallVector<Value> sums = emitCombiner(
        op.getCombiner(), llvm::to_vector(before), llvm::to_vector(value));
    if (exists)
      for (auto [sum, alone] : llvm::zip(sums, value))
        sum = arith::SelectOp::create(b, exists, sum, alone);
    return sums;
  };
  std::vector<Registers> results;
  for (Value operand : op.getOperands())
    results.push_back(tiles.at(operand));
  auto valuesAt = [&](int64_t index) {
    SmallVector<Value> values;
    for (const Registers &list : results)
      values.push_back(list[index]);
    return values;
  };
  auto setAt = [&](int64_t index, ArrayRef<Value> values) {
    for (auto [list, value] : llvm::zip(results, values))
      list[index] = value;
  };
  auto receive = [&](ArrayRef<Value> values, int64_t distance) {
    Value source = line.laneBefore(self.lane, distance);
    SmallVector<Value> received;
    for (Value value : values)
      received.push_back(shuffleIndex(value, source));
    return received;
  };
  Value place = digitOf(HardwareIndex::Lane, lanes.stride, lanes.extent);
  for (int64_t first = 0; first < layout.registersPerThread();
       first += lanes.run) {
    auto number = [&](int64_t step) { return line.number(first, step); };
    for (int64_t step = 1; step < lanes.run; ++step) {
      Value exists;
      if (line.stepsOverPadding())
        exists = line.isBelow(coordinate(layout, number(step - 1), axis));
      setAt(number(step), prepend(valuesAt(number(step - 1)),
                                  valuesAt(number(step)), exists));
    }
    if (lanes.extent == 1)
      continue;
    SmallVector<Value> totals = valuesAt(number(lanes.run - 1));
    for (int64_t distance = 1; distance < lanes.extent; distance *= 2) {
      SmallVector<Value> received = receive(totals, distance);
      totals = prepend(received, totals, line.existsBefore(place, distance));
    }
    SmallVector<Value> before = receive(totals, 1);
    Value exists = line.existsBefore(place, 1);
    for (int64_t step = 0; step < lanes.run; ++step)
      setAt(number(step), prepend(before, valuesAt(number(step)), exists));
  }
  for (auto [result, list] : llvm::zip(op.getResults(), results))
    tiles[result] = list;
  return success();
}
