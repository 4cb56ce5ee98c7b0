//===- LaneDims.cpp - Choice of the lane dimension of every tile ----------===//
//
// Part of FlashTile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Values tied by elementwise operations, dots' accumulators and loop carries
// form groups that share a lane dimension. The cost of an assignment counts
// the elements that would have to be gathered, repacked or reduced
// horizontally, weighted by loop depth; groups are improved one at a time
// until nothing changes. Costs are in vector operations, roughly.
//
//===----------------------------------------------------------------------===//

#include "compiler/Analysis/Program/TileGroups.h"
#include "compiler/Conversion/TileToCPU/KernelPlan.h"

#include "mlir/Dialect/SCF/IR/SCF.h"

using namespace mlir;
using namespace flashtile;
using namespace flashtile::tile;
using namespace flashtile::cpu;

namespace {
class LaneDimChoice {
public:
  LaneDimChoice(KernelOp kernel, int64_t lanes);
  DenseMap<Value, unsigned> solve();

private:
  unsigned laneDim(Value value) { return choice[groups.of(value)]; }
  double weight(Operation *op);
  double opCost(Operation *op);
  double dotCost(DotOp dot);
  double paddingCost(Value value, Operation *op);

  KernelOp kernel;
  int64_t lanes;
  TileGroups groups;
  DenseMap<void *, unsigned> choice;
  /// Operations whose cost depends on a group's choice.
  DenseMap<void *, SetVector<Operation *>> concerned;
};
} // namespace

LaneDimChoice::LaneDimChoice(KernelOp kernel, int64_t lanes)
    : kernel(kernel), lanes(lanes), groups(kernel) {
  kernel.getBody().walk([&](Operation *op) {
    if (isElementwise(op) && op->getNumResults() == 1 &&
        tileType(op->getResult(0))) {
      for (Value operand : op->getOperands())
        if (tileType(operand))
          groups.unite(op->getResult(0), operand);
    } else if (auto dot = dyn_cast<DotOp>(op)) {
      groups.unite(dot.getResult(), dot.getC());
    } else if (auto scan = dyn_cast<ScanOp>(op)) {
      for (auto [operand, result] :
           llvm::zip(scan.getOperands(), scan.getResults()))
        groups.unite(operand, result);
    } else {
      // What a loop begins with is copied in: constants need no tie.
      groups.uniteCarried(op, [](Value from, bool isInit) {
        return !isInit || !isCheap(from);
      });
    }
  });
}

/// Loops are assumed to run eight times.
double LaneDimChoice::weight(Operation *op) {
  double weight = 1.0;
  for (Operation *parent = op->getParentOp(); parent != kernel;
       parent = parent->getParentOp())
    if (isa<scf::ForOp, scf::WhileOp>(parent))
      weight *= 8.0;
  return weight;
}

double LaneDimChoice::dotCost(DotOp dot) {
  VectorOperand operand = vectorOperand(dot, laneDim(dot.getResult()));
  // A constant operand is laid out as needed.
  if (isCheap(operand.root) || laneDim(operand.root) == operand.laneDim)
    return 0;
  // Another layout is written where the operand is produced.
  Operation *producer = operand.root.getDefiningOp();
  return 2.0 * tileType(operand.root).getNumElements() *
         weight(producer ? producer : dot.getOperation());
}

/// Lanes that compute nothing where the lane dimension is short.
double LaneDimChoice::paddingCost(Value value, Operation *op) {
  auto type = tileType(value);
  int64_t extent = type.getDimSize(laneDim(value));
  int64_t padded = (extent + lanes - 1) / lanes * lanes;
  return double(type.getNumElements()) / extent * padded / lanes * weight(op);
}

double LaneDimChoice::opCost(Operation *op) {
  if (auto dot = dyn_cast<DotOp>(op)) {
    double k = dot.getA().getType().getDimSize(1);
    return dotCost(dot) + k * paddingCost(dot.getResult(), op);
  }
  if (isAxisReduce(op) || isa<ReduceOp>(op)) {
    Value operand = op->getOperand(0);
    auto type = tileType(operand);
    int64_t axis = op->getAttrOfType<IntegerAttr>("axis").getInt();
    if (type.getRank() == 1 || laneDim(operand) != axis)
      return paddingCost(operand, op);
    double horizontal = isAxisReduce(op) ? 0.3 : 4.0;
    return horizontal * type.getNumElements() * weight(op);
  }
  if (auto load = dyn_cast<LoadOp>(op)) {
    if (!tileType(load.getResult()))
      return 0;
    auto type = tileType(load.getResult());
    bool along = laneDim(load.getResult()) ==
                 memoryLaneDim(load.getPointer(), type.getRank());
    return along ? paddingCost(load.getResult(), op)
                 : 2.0 * type.getNumElements() * weight(op);
  }
  if (auto store = dyn_cast<StoreOp>(op)) {
    auto type = tileType(store.getValue());
    if (!type)
      return 0;
    bool along = laneDim(store.getValue()) ==
                 memoryLaneDim(store.getPointer(), type.getRank());
    return along ? 0 : 2.0 * type.getNumElements() * weight(op);
  }
  if (auto trans = dyn_cast<TransOp>(op)) {
    // A transpose that only dots read is seen through.
    if (llvm::all_of(trans->getUsers(), llvm::IsaPred<DotOp, TransOp>) ||
        isCheap(trans.getOperand()))
      return 0;
    bool along = laneDim(trans.getOperand()) ==
                 unsigned(trans.getOrder()[laneDim(trans.getResult())]);
    auto type = tileType(trans.getResult());
    return along ? 0 : 2.0 * type.getNumElements() * weight(op);
  }
  if (op->getNumResults() == 1 && isElementwise(op) &&
      tileType(op->getResult(0)))
    return paddingCost(op->getResult(0), op);
  return 0;
}

DenseMap<Value, unsigned> LaneDimChoice::solve() {
  DenseMap<void *, unsigned> ranks;
  for (Value value : groups.values()) {
    void *leader = groups.of(value);
    ranks[leader] = tileType(value).getRank();
    choice[leader] = tileType(value).getRank() - 1;
  }
  auto concern = [&](Value value, Operation *op) {
    if (tileType(value))
      concerned[groups.of(value)].insert(op);
  };
  kernel.getBody().walk([&](Operation *op) {
    for (Value operand : op->getOperands())
      concern(operand, op);
    for (Value result : op->getResults())
      concern(result, op);
    if (auto dot = dyn_cast<DotOp>(op)) {
      concern(peelTranspose(dot.getA()).root, op);
      concern(peelTranspose(dot.getB()).root, op);
    }
  });

  auto costOf = [&](void *leader) {
    double cost = 0;
    for (Operation *op : concerned[leader])
      cost += opCost(op);
    return cost;
  };
  SetVector<void *> leaders;
  for (Value value : groups.values())
    leaders.insert(groups.of(value));
  constexpr int kMaxRounds = 4;
  bool changed = true;
  for (int round = 0; round < kMaxRounds && changed; ++round) {
    changed = false;
    for (void *leader : leaders) {
      unsigned best = choice[leader];
      double bestCost = costOf(leader);
      for (unsigned dim = ranks[leader]; dim-- > 0;) {
        choice[leader] = dim;
        double cost = costOf(leader);
        if (cost < bestCost) {
          bestCost = cost;
          best = dim;
          changed = true;
        }
      }
      choice[leader] = best;
    }
  }
  DenseMap<Value, unsigned> result;
  for (Value value : groups.values())
    result[value] = laneDim(value);
  return result;
}

void KernelPlan::chooseLaneDims() {
  laneDims = LaneDimChoice(kernel, vectors.lanes).solve();
}
