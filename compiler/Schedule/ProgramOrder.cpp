//===- ProgramOrder.cpp - Which programs take long, and when they start ---===//
//
// Part of FlashTile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "compiler/Schedule/ProgramOrder.h"

#include "compiler/Analysis/Program/TileQueries.h"

#include "dialects/Tile/Transforms/ScalarFacts.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

using namespace mlir;
using namespace flashtile;
using namespace flashtile::gpu;
using namespace flashtile::tile;

//===----------------------------------------------------------------------===//
// Trends
//===----------------------------------------------------------------------===//

static Trend reversed(Trend trend) {
  if (trend == Trend::Grows)
    return Trend::Shrinks;
  return trend == Trend::Shrinks ? Trend::Grows : trend;
}

/// Of a sum, a minimum or a maximum.
static Trend together(Trend x, Trend y) {
  if (x == Trend::None || x == y)
    return y;
  return y == Trend::None ? x : Trend::Unknown;
}

namespace {
/// Trends in the results of some operations: a position in the grid.
class TrendReader {
public:
  explicit TrendReader(function_ref<bool(Operation *)> isVariable)
      : isVariable(isVariable) {}

  Trend read(Value value) { return read(value, 0); }
  /// Of the number of iterations of all loops of `block`, which may be that of
  /// a loop.
  Trend readLoops(Block &block);

private:
  Trend read(Value value, unsigned depth);
  Trend compute(Operation *op, unsigned depth);
  /// Whether the bounds of a loop inside `op` change with the variable.
  bool loopsDepend(Operation *op);

  function_ref<bool(Operation *)> isVariable;
  DenseMap<Value, Trend> known;
};
} // namespace

Trend TrendReader::read(Value value, unsigned depth) {
  constexpr unsigned kMaxDepth = 64;
  if (depth == kMaxDepth)
    return Trend::Unknown;
  Operation *op = value.getDefiningOp();
  if (!op)
    return Trend::None; // an argument, or a counter
  if (auto found = known.find(value); found != known.end())
    return found->second;
  Trend trend = compute(op, depth);
  known[value] = trend;
  return trend;
}

/// `sum` is p + (x - p), the difference rounded and at least 0: as p or x,
/// which is larger. Its x and p; null: it is not.
static std::pair<Value, Value> largerOf(arith::AddIOp sum) {
  for (unsigned side : {0u, 1u}) {
    Value from = sum->getOperand(side), value = sum->getOperand(1 - side);
    while (Operation *op = value.getDefiningOp()) {
      if (auto difference = dyn_cast<arith::SubIOp>(op);
          difference && difference.getRhs() == from)
        return {difference.getLhs(), from};
      if (!isa<arith::AddIOp, arith::MaxSIOp, arith::DivSIOp, arith::MulIOp>(
              op) ||
          !getConstantInt(op->getOperand(1)))
        break;
      value = op->getOperand(0);
    }
  }
  return {};
}

Trend TrendReader::compute(Operation *op, unsigned depth) {
  if (isVariable(op))
    return Trend::Grows;
  auto operand = [&](unsigned index) {
    return read(op->getOperand(index), depth + 1);
  };
  // Index arithmetic does not overflow (see tile-split-loops).
  if (isa<arith::ExtSIOp, arith::ExtUIOp, arith::TruncIOp, arith::IndexCastOp,
          AssumeOp>(op))
    return operand(0);
  if (auto sum = dyn_cast<arith::AddIOp>(op))
    if (auto [x, p] = largerOf(sum); x)
      return together(read(x, depth + 1), read(p, depth + 1));
  if (isa<arith::AddIOp, arith::MinSIOp, arith::MaxSIOp, arith::MinUIOp,
          arith::MaxUIOp>(op))
    return together(operand(0), operand(1));
  if (isa<arith::SubIOp>(op))
    return together(operand(0), reversed(operand(1)));
  // By a fixed factor or divisor.
  if (isa<arith::MulIOp, arith::DivSIOp, arith::DivUIOp, arith::CeilDivSIOp,
          arith::FloorDivSIOp>(op))
    for (unsigned side : {1u, 0u}) {
      if (side == 0 && !isa<arith::MulIOp>(op))
        break;
      if (operand(side) != Trend::None)
        continue;
      Trend trend = operand(1 - side);
      Value fixed = op->getOperand(side);
      if (trend == Trend::None || isNonNegative(fixed))
        return trend;
      if (std::optional<int64_t> constant = getConstantInt(fixed);
          constant && *constant < 0)
        return reversed(trend);
    }
  bool depends = false;
  for (Value value : op->getOperands())
    depends |= read(value, depth + 1) != Trend::None;
  for (Region &region : op->getRegions())
    region.walk([&](Operation *inner) { depends |= isVariable(inner); });
  return depends ? Trend::Unknown : Trend::None;
}

bool TrendReader::loopsDepend(Operation *op) {
  bool depends = false;
  for (Region &region : op->getRegions())
    region.walk([&](scf::ForOp loop) {
      for (Value bound :
           {loop.getLowerBound(), loop.getUpperBound(), loop.getStep()})
        depends |= read(bound) != Trend::None;
    });
  return depends;
}

Trend TrendReader::readLoops(Block &block) {
  Trend total = Trend::None;
  // Loops that go on where another ended are one.
  Value begin, end;
  auto finish = [&] {
    if (begin)
      total = together(total, together(read(end), reversed(read(begin))));
  };
  for (Operation &op : block) {
    if (auto branch = dyn_cast<scf::IfOp>(op);
        branch && isInRareBranch(branch.thenBlock()->getTerminator()))
      continue;
    if (auto loop = dyn_cast<scf::ForOp>(op)) {
      if (loop.getLowerBound() != end) {
        finish();
        begin = loop.getLowerBound();
      }
      end = loop.getUpperBound();
      if (read(loop.getStep()) != Trend::None)
        total = Trend::Unknown;
      // Loops in it run as often as it does.
      total = together(total, readLoops(*loop.getBody()));
    }
    // While loops end when they like, and branches run loops or not.
    bool unclear = !isa<scf::ForOp>(op) && loopsDepend(&op);
    op.walk([&](scf::WhileOp) { unclear = true; });
    // In a loop, its other iterations outweigh them.
    bool isInLoop = isa<scf::ForOp>(block.getParentOp());
    if (auto branch = dyn_cast<scf::IfOp>(op);
        branch && !isInLoop && read(branch.getCondition()) != Trend::None)
      op.walk([&](scf::ForOp) { unclear = true; });
    if (unclear)
      total = Trend::Unknown;
  }
  finish();
  return total;
}

bool ProgramCost::isUniform() const {
  return block == Trend::None &&
         llvm::all_of(axes, [](Trend trend) { return trend == Trend::None; });
}

std::optional<unsigned> ProgramCost::slope() const {
  std::optional<unsigned> found;
  for (unsigned axis = 0; axis < axes.size(); ++axis) {
    if (axes[axis] == Trend::None)
      continue;
    if (found || axes[axis] == Trend::Unknown)
      return std::nullopt;
    found = axis;
  }
  return found;
}

ProgramCost flashtile::gpu::costOfPrograms(KernelOp kernel) {
  ProgramCost cost;
  Block &body = kernel.getBody().front();
  for (unsigned axis = 0; axis < cost.axes.size(); ++axis)
    cost.axes[axis] = TrendReader([axis](Operation *op) {
                        auto id = dyn_cast<ProgramIdOp>(op);
                        return id && unsigned(id.getAxis()) == axis;
                      }).readLoops(body);
  cost.block = TrendReader([](Operation *op) {
                 return isa<tilegpu::BlockIdOp>(op);
               }).readLoops(body);
  return cost;
}

//===----------------------------------------------------------------------===//
// Positions
//===----------------------------------------------------------------------===//

std::array<Value, 3> flashtile::gpu::positionOf(ImplicitLocOpBuilder &b,
                                                Value place,
                                                const ProgramOrder &order) {
  auto div = [&](Value x, Value y) -> Value {
    return arith::DivUIOp::create(b, x, y);
  };
  auto rem = [&](Value x, Value y) -> Value {
    return arith::RemUIOp::create(b, x, y);
  };
  auto mul = [&](Value x, Value y) -> Value {
    return arith::MulIOp::create(b, x, y);
  };
  auto sub = [&](Value x, Value y) -> Value {
    return arith::SubIOp::create(b, x, y);
  };
  auto i32 = [&](int64_t value) -> Value {
    return arith::ConstantOp::create(b, b.getI32IntegerAttr(value));
  };
  std::array<Value, 3> extents, position;
  for (unsigned axis = 0; axis < 3; ++axis)
    extents[axis] = NumProgramsOp::create(b, ProgramAxis(axis));
  if (order.group == 0) {
    Value rest = div(place, extents[0]);
    position = {rem(place, extents[0]), rem(rest, extents[1]),
                div(rest, extents[1])};
  } else {
    // Columns are programs along the other axes; a group of them, at least one,
    // runs row by row. No product is larger than the number of programs.
    unsigned first = order.axis == 0 ? 1 : 0, second = order.axis == 2 ? 1 : 2;
    Value rows = extents[order.axis];
    Value columns = mul(extents[first], extents[second]);
    Value most = arith::MaxUIOp::create(b, div(i32(order.group), rows), i32(1));
    most = arith::MinUIOp::create(b, most, columns);
    Value full = mul(rows, most);
    Value group = div(place, full);
    Value start = mul(group, most);
    Value width = arith::MinUIOp::create(b, most, sub(columns, start));
    Value within = sub(place, mul(group, full));
    Value row = div(within, width);
    if (order.fromEnd)
      row = sub(sub(rows, i32(1)), row);
    Value column = arith::AddIOp::create(b, start, rem(within, width));
    position[order.axis] = row;
    position[first] = rem(column, extents[first]);
    position[second] = div(column, extents[first]);
  }
  // As is known of tile.program_id.
  for (Value &value : position)
    value = AssumeOp::create(b, value, IntegerAttr(), b.getI32IntegerAttr(0),
                             TypedAttr());
  return position;
}

void flashtile::gpu::placePrograms(KernelOp kernel, const ProgramOrder &order) {
  SmallVector<ProgramIdOp> ids;
  kernel.getBody().walk([&](ProgramIdOp id) { ids.push_back(id); });
  if (ids.empty())
    return;
  ImplicitLocOpBuilder b(kernel.getLoc(), OpBuilder(kernel.getContext()));
  b.setInsertionPointToStart(&kernel.getBody().front());
  Value place = tilegpu::BlockIdOp::create(b);
  std::array<Value, 3> position = positionOf(b, place, order);
  for (ProgramIdOp id : ids) {
    id.getResult().replaceAllUsesWith(position[unsigned(id.getAxis())]);
    id.erase();
  }
}
