//===- TileQueries.cpp - Questions about tile programs --------------------===//
//
// Part of FlashTile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What targets ask of a tile program before they decide how to compute it.
//
//===----------------------------------------------------------------------===//

#include "compiler/Analysis/Program/TileQueries.h"

#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/Matchers.h"

using namespace mlir;
using namespace flashtile;
using namespace flashtile::tile;

int64_t flashtile::bytesOfElement(Type element) {
  constexpr int64_t kAddressBytes = 8;
  return element.isIntOrFloat() ? (element.getIntOrFloatBitWidth() + 7) / 8
                                : kAddressBytes;
}

int64_t flashtile::bytesOfTile(ArrayRef<int64_t> shape, Type element) {
  int64_t bytes = bytesOfElement(element);
  for (int64_t extent : shape)
    bytes *= extent;
  return bytes;
}

bool flashtile::isElementwise(Operation *op) {
  if (isa<AddPtrOp, AssumeOp>(op))
    return true;
  return op->hasTrait<OpTrait::Elementwise>() && op->getNumRegions() == 0;
}

bool flashtile::isView(Operation *op) {
  return isa<TransOp, ExpandDimsOp, BroadcastOp, ReshapeOp, CatOp, JoinOp>(op);
}

bool flashtile::isAxisReduce(Operation *op) {
  return isa<MaxOp, MinOp, SumOp>(op);
}

/// Operations that cost many instructions for each element.
bool flashtile::isHeavy(Operation *op) {
  if (isa<ExpOp, Exp2Op, LogOp, Log2Op, arith::DivFOp, arith::RemFOp,
          arith::DivSIOp, arith::DivUIOp, arith::RemSIOp, arith::RemUIOp,
          arith::CeilDivSIOp, arith::CeilDivUIOp, arith::FloorDivSIOp>(op))
    return true;
  if (isa<math::FmaOp, math::AbsFOp, math::AbsIOp, math::CopySignOp>(op))
    return false;
  return isa_and_nonnull<math::MathDialect>(op->getDialect());
}

bool flashtile::isInRareBranch(Operation *op) {
  for (auto branch = op->getParentOfType<scf::IfOp>(); branch;
       branch = branch->getParentOfType<scf::IfOp>()) {
    Operation *condition = branch.getCondition().getDefiningOp();
    if (condition && llvm::any_of(condition->getOperandTypes(), [](Type type) {
          return isa<RankedTensorType>(type);
        }))
      return true;
  }
  return false;
}

bool flashtile::isCheap(Value value, unsigned depth) {
  constexpr unsigned kMaxDepth = 12;
  Operation *op = value.getDefiningOp();
  if (!op || depth > kMaxDepth)
    return !tileType(value);
  if (isa<ArangeOp, SplatOp, FullOp>(op))
    return true;
  DenseElementsAttr constant;
  if (matchPattern(value, m_Constant(&constant)))
    return constant.isSplat();
  if (!tileType(value))
    return true;
  bool integers =
      !isa<FloatType>(flashtile::tile::getElementType(value.getType()));
  bool arithmetic = isElementwise(op) && !isHeavy(op) && integers;
  if (!arithmetic && (!isView(op) || isa<ReshapeOp>(op)))
    return false;
  return llvm::all_of(op->getOperands(), [&](Value operand) {
    return isCheap(operand, depth + 1);
  });
}

DotOperand flashtile::peelTranspose(Value operand) {
  unsigned row = 0, column = 1;
  while (auto trans = operand.getDefiningOp<TransOp>()) {
    row = trans.getOrder()[row];
    column = trans.getOrder()[column];
    operand = trans.getOperand();
  }
  return {operand, row, column};
}

unsigned flashtile::memoryLaneDim(Value pointer, unsigned rank) {
  // Loops carry a window's position, never what it is a window of.
  for (unsigned step = 0; step < 16; ++step) {
    if (auto advance = pointer.getDefiningOp<AdvanceOp>()) {
      pointer = advance.getPointer();
    } else if (auto argument = dyn_cast<BlockArgument>(pointer)) {
      auto loop = dyn_cast<scf::ForOp>(argument.getOwner()->getParentOp());
      OpOperand *init = loop ? loop.getTiedLoopInit(argument) : nullptr;
      if (!init)
        break;
      pointer = init->get();
    } else {
      break;
    }
  }
  auto make = pointer.getDefiningOp<MakeBlockPtrOp>();
  if (!make)
    return rank - 1;
  for (unsigned dim = rank; dim-- > 0;)
    if (matchPattern(make.getStrides()[dim], m_One()))
      return dim;
  return make.getOrder() ? unsigned(make.getOrder()->front()) : rank - 1;
}
