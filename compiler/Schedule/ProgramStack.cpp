//===- ProgramStack.cpp - What neighbouring programs have in common -------===//
//
// Part of FlashTile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Rounds over the kernel until nothing changes of what loops carry, then one
// that counts: before it, a carried value that may yet become a stack of rows
// passes for one.
//
//===----------------------------------------------------------------------===//

#include "compiler/Schedule/ProgramStack.h"

#include "compiler/Analysis/Program/TileQueries.h"
#include "dialects/Tile/Transforms/ScalarFacts.h"

#include "mlir/Dialect/Arith/IR/Arith.h"

using namespace mlir;
using namespace flashtile;
using namespace flashtile::gpu;
using namespace flashtile::tile;

using Kind = ProgramValue::Kind;

std::string flashtile::gpu::nameOf(Operation *op) {
  return ("'" + op->getName().getStringRef() + "'").str();
}

bool ProgramStack::fail(Operation *op, const Twine &reason) {
  culprit = op;
  whyNot = reason.str();
  return false;
}

bool ProgramStack::assign(Value value, const ProgramValue &found) {
  if (of(value) == found)
    return true;
  changed = true;
  values[value] = found;
  return true;
}

bool ProgramStack::run() {
  constexpr unsigned kMostRounds = 16;
  for (unsigned round = 0; round < kMostRounds; ++round) {
    changed = false;
    if (!visit(kernel.getBody().front()))
      return false;
    if (!changed)
      break;
  }
  isStrict = true;
  changed = false;
  if (!visit(kernel.getBody().front()))
    return false;
  return !changed || fail(kernel, "what its loops carry changes its kind");
}

bool ProgramStack::visit(Block &block) {
  return llvm::all_of(block.without_terminator(),
                      [&](Operation &op) { return visit(&op); });
}

//===----------------------------------------------------------------------===//
// Tiles that are the same in all programs, for rows of all of them
//===----------------------------------------------------------------------===//

/// Whether no element is negative.
static bool isNonNegativeTile(Value value) {
  if (!tileType(value))
    return isNonNegative(value);
  if (std::optional<int64_t> constant = getConstantInt(value))
    return *constant >= 0;
  Operation *op = value.getDefiningOp();
  if (auto arange = dyn_cast_or_null<ArangeOp>(op))
    return int32_t(arange.getStart()) >= 0;
  return isa_and_nonnull<SplatOp, ExpandDimsOp, BroadcastOp, TransOp,
                         arith::ExtSIOp>(op) &&
         isNonNegativeTile(op->getOperand(0));
}

/// The excess of `value` along `dim`, where it is or can be computed for the
/// rows of several programs.
std::optional<int64_t> ProgramStack::excessOf(Value value, unsigned dim) {
  ProgramValue known = of(value);
  if (known.isStacked())
    return known.dim == dim ? std::optional(known.excess) : std::nullopt;
  auto type = tileType(value);
  if (!known.isSame() || !type || type.getDimSize(dim) == 1)
    return std::nullopt;
  Operation *op = value.getDefiningOp();
  if (!op || isa<scf::ForOp>(op))
    return isStrict ? std::nullopt : std::optional<int64_t>(0);
  if (isa<SplatOp, FullOp>(op))
    return 0;
  if (auto constant = dyn_cast<arith::ConstantOp>(op)) {
    auto elements = dyn_cast<DenseElementsAttr>(constant.getValue());
    return elements && elements.isSplat() ? std::optional<int64_t>(0)
                                          : std::nullopt;
  }
  if (isa<ArangeOp>(op))
    return -type.getDimSize(0);
  if (auto expand = dyn_cast<ExpandDimsOp>(op))
    return excessOf(expand.getOperand(),
                    dim > unsigned(expand.getAxis()) ? dim - 1 : dim);
  if (auto broadcast = dyn_cast<BroadcastOp>(op)) {
    if (broadcast.getOperand().getType().getDimSize(dim) == 1)
      return 0;
    return excessOf(broadcast.getOperand(), dim);
  }
  if (auto trans = dyn_cast<TransOp>(op))
    return excessOf(trans.getOperand(), trans.getOrder()[dim]);
  if (!isElementwise(op) || op->getNumResults() != 1)
    return std::nullopt;
  SmallVector<ProgramValue> operands;
  for (Value operand : op->getOperands()) {
    ProgramValue &added = operands.emplace_back();
    if (!tileType(operand))
      continue;
    std::optional<int64_t> excess = excessOf(operand, dim);
    if (!excess)
      return std::nullopt;
    added.excess = *excess;
    added.dim = dim;
  }
  std::optional<ProgramValue> combined = combine(op, operands);
  return combined ? std::optional(combined->excess) : std::nullopt;
}

/// Whether the programs of the grid end at `extent`, rows at a time.
bool ProgramStack::isTheGrids(Value extent, int64_t rows) {
  Operation *op = extent.getDefiningOp();
  while (isa_and_nonnull<arith::ExtSIOp, AssumeOp, SplatOp, BroadcastOp,
                         ExpandDimsOp>(op)) {
    extent = op->getOperand(0);
    op = extent.getDefiningOp();
  }
  AffineMap grid = kernel.getGrid();
  if (unsigned(axis) >= grid.getNumResults())
    return false;
  AffineExpr programs = grid.getResult(unsigned(axis));
  if (std::optional<int64_t> constant = getConstantInt(extent)) {
    auto count = dyn_cast<AffineConstantExpr>(programs);
    return count && count.getValue() * rows >= *constant;
  }
  for (auto [number, argument] : llvm::enumerate(kernel.getGridArguments()))
    if (argument == extent) {
      AffineExpr dim = getAffineDimExpr(number, kernel.getContext());
      return programs == dim.ceilDiv(rows) ||
             programs == (dim + (rows - 1)).floorDiv(rows);
    }
  return false;
}

//===----------------------------------------------------------------------===//
// Numbers
//===----------------------------------------------------------------------===//

/// A sum or difference.
static ProgramValue sum(const ProgramValue &x, const ProgramValue &y,
                        bool xIsLarge, bool yIsLarge, int64_t sign) {
  ProgramValue result;
  result.rate = x.rate + sign * y.rate;
  result.excess = x.excess + sign * y.excess;
  result.isBounded = sign > 0 && xIsLarge && yIsLarge;
  return result;
}

/// What an elementwise operation makes of integers that grow from program to
/// program; nothing where that is not known.
std::optional<ProgramValue>
ProgramStack::combine(Operation *op, ArrayRef<ProgramValue> operands) {
  auto isLarge = [&](unsigned index) {
    return operands[index].isBounded ||
           (operands[index].rate == 0 &&
            isNonNegativeTile(op->getOperand(index)));
  };
  if (isa<arith::AddIOp>(op))
    return sum(operands[0], operands[1], isLarge(0), isLarge(1), 1);
  if (isa<arith::SubIOp>(op))
    return sum(operands[0], operands[1], false, false, -1);
  if (isa<AddPtrOp>(op))
    return sum(operands[0], operands[1], false, false, 1);
  if (isa<arith::MulIOp>(op))
    for (unsigned side : {0u, 1u})
      if (std::optional<int64_t> factor =
              getConstantInt(op->getOperand(side))) {
        ProgramValue result;
        if (__builtin_mul_overflow(operands[1 - side].rate, *factor,
                                   &result.rate) ||
            __builtin_mul_overflow(operands[1 - side].excess, *factor,
                                   &result.excess))
          return std::nullopt;
        result.isBounded = *factor >= 0 && isLarge(1 - side);
        return result;
      }
  // Indices do not overflow their types (see tile-split-loops).
  if (isa<arith::ExtSIOp, arith::TruncIOp, arith::IndexCastOp, AssumeOp>(op)) {
    ProgramValue result = operands[0];
    result.isBounded = isLarge(0);
    return result;
  }
  bool areExact = llvm::all_of(
      operands, [](const ProgramValue &each) { return each.excess == 0; });
  ProgramValue result;
  if (auto compare = dyn_cast<arith::CmpIOp>(op)) {
    // Both sides lack the same.
    arith::CmpIPredicate predicate = compare.getPredicate();
    bool isSigned = predicate < arith::CmpIPredicate::ult;
    if (!areExact && !(isSigned && operands[0].excess == operands[1].excess))
      return std::nullopt;
    auto type = tileType(compare.getLhs());
    if (!type)
      return result;
    for (unsigned side : {0u, 1u}) {
      int64_t rows = type.getDimSize(operands[side].dim);
      bool isBelow = predicate == (side == 0 ? arith::CmpIPredicate::slt
                                             : arith::CmpIPredicate::sgt);
      result.isBounded |= isBelow && operands[side].isBounded &&
                          operands[side].rate == rows &&
                          isTheGrids(op->getOperand(1 - side), rows);
    }
    return result;
  }
  if (isa<arith::AndIOp>(op) && areExact && operands.size() == 2) {
    result.isBounded = operands[0].isBounded || operands[1].isBounded;
    return result;
  }
  if (!areExact)
    return std::nullopt;
  return result;
}

static bool isMonotone(Operation *op, function_ref<bool(unsigned)> rises,
                       function_ref<bool(unsigned)> isSame) {
  if (isa<arith::ExtSIOp, arith::TruncIOp, arith::IndexCastOp, AssumeOp>(op))
    return rises(0);
  if (isa<arith::AddIOp, arith::MinSIOp, arith::MaxSIOp>(op))
    return rises(0) && rises(1);
  if (isa<arith::SubIOp>(op))
    return rises(0) && isSame(1);
  std::optional<int64_t> fixed;
  if (isa<arith::MulIOp, arith::DivSIOp, arith::CeilDivSIOp,
          arith::FloorDivSIOp>(op))
    fixed = getConstantInt(op->getOperand(1));
  return fixed && *fixed > 0 && rises(0);
}

bool ProgramStack::visitScalar(Operation *op) {
  SmallVector<ProgramValue> operands;
  bool areShifted = true;
  for (Value operand : op->getOperands()) {
    operands.push_back(of(operand));
    areShifted &=
        operands.back().isSame() || operands.back().kind == Kind::Shifted;
  }
  if (op->getNumResults() != 1 || !isElementwise(op))
    return fail(op, "the result of " + nameOf(op) +
                        " depends on the position of the program");
  Value result = op->getResult(0);
  if (areShifted &&
      isa<arith::AddIOp, arith::SubIOp, arith::MulIOp, arith::ExtSIOp,
          arith::TruncIOp, arith::IndexCastOp, AssumeOp>(op))
    if (std::optional<ProgramValue> found = combine(op, operands)) {
      found->kind = found->rate ? Kind::Shifted : Kind::Same;
      return assign(result, found->rate ? *found : ProgramValue());
    }
  // Conditions that each program can compute for itself.
  bool areKnown = isa<arith::CmpIOp>(op) && areShifted;
  if (isa<arith::AndIOp, arith::OrIOp, arith::XOrIOp>(op) &&
      result.getType().isInteger(1))
    areKnown = llvm::all_of(operands, [](const ProgramValue &each) {
      return each.isSame() || each.kind == Kind::Differs;
    });
  if (areKnown) {
    ProgramValue found;
    found.kind = Kind::Differs;
    return assign(result, found);
  }
  auto rises = [&](unsigned index) {
    const ProgramValue &each = operands[index];
    return each.isSame() || each.kind == Kind::Rising ||
           (each.kind == Kind::Shifted && each.rate >= 0);
  };
  auto isSame = [&](unsigned index) { return operands[index].isSame(); };
  if (!isMonotone(op, rises, isSame))
    return fail(op, "the result of " + nameOf(op) +
                        " depends on the position of the program");
  ProgramValue found;
  found.kind = Kind::Rising;
  return assign(result, found);
}

bool ProgramStack::visitElementwise(Operation *op) {
  if (op->getNumResults() != 1)
    return fail(op, nameOf(op) + " has several results");
  if (!tileType(op->getResult(0)))
    return visitScalar(op);
  std::optional<unsigned> dim;
  for (Value operand : op->getOperands()) {
    ProgramValue each = of(operand);
    if (each.isSame())
      continue;
    if (!each.isStacked() || (dim && *dim != each.dim))
      return fail(op, "operands of " + nameOf(op) +
                          " have the programs' rows in different dimensions");
    dim = each.dim;
  }
  SmallVector<ProgramValue> operands;
  for (Value operand : op->getOperands()) {
    ProgramValue &each = operands.emplace_back(of(operand));
    if (!each.isSame() || !tileType(operand))
      continue;
    std::optional<int64_t> excess = excessOf(operand, *dim);
    if (!excess)
      return fail(op,
                  "an operand of " + nameOf(op) +
                      " is one tile for all programs, with rows of its own");
    each.excess = *excess;
    each.dim = *dim;
  }
  std::optional<ProgramValue> found = combine(op, operands);
  if (isa<arith::SelectOp, arith::MaxSIOp, arith::MinSIOp>(op) && !found) {
    // Between numbers that lack the same.
    ArrayRef<ProgramValue> chosen = ArrayRef(operands).take_back(2);
    if (chosen[0].excess == chosen[1].excess &&
        (operands.size() == 2 || operands[0].excess == 0)) {
      found.emplace();
      found->excess = chosen[0].excess;
    }
  }
  if (!found)
    return fail(op, nameOf(op) + " uses positions in a way that is not "
                                 "understood");
  found->kind = Kind::Stacked;
  found->dim = *dim;
  return assign(op->getResult(0), *found);
}

//===----------------------------------------------------------------------===//
// Tiles
//===----------------------------------------------------------------------===//

bool ProgramStack::visitSplat(SplatOp op) {
  ProgramValue found = of(op.getValue());
  std::optional<unsigned> dim;
  for (auto [index, extent] : llvm::enumerate(op.getType().getShape()))
    if (extent != 1) {
      if (dim || found.kind != Kind::Shifted)
        return fail(op, "a tile of more than one row is filled with a number "
                        "that depends on the position of the program");
      dim = index;
    }
  if (!dim || found.kind != Kind::Shifted)
    return fail(op, "a number that depends on the position of the program "
                    "becomes a tile without rows");
  found.kind = Kind::Stacked;
  found.dim = *dim;
  found.excess = found.rate;
  return assign(op.getResult(), found);
}

bool ProgramStack::visitShape(Operation *op) {
  ProgramValue found = of(op->getOperand(0));
  if (auto expand = dyn_cast<ExpandDimsOp>(op)) {
    found.dim += found.dim >= unsigned(expand.getAxis());
  } else if (auto trans = dyn_cast<TransOp>(op)) {
    unsigned source = found.dim;
    for (auto [dim, from] : llvm::enumerate(trans.getOrder()))
      if (unsigned(from) == source)
        found.dim = dim;
  } else if (!isa<BroadcastOp>(op)) {
    return fail(op, nameOf(op) + " takes rows of a program apart");
  }
  return assign(op->getResult(0), found);
}

bool ProgramStack::visitReduction(Operation *op) {
  unsigned axisOf = op->getAttrOfType<IntegerAttr>("axis").getInt();
  std::optional<unsigned> dim;
  for (Value operand : op->getOperands()) {
    ProgramValue each = of(operand);
    if (each.isSame())
      continue;
    if (!each.isStacked() || each.excess != 0 || (dim && *dim != each.dim))
      return fail(op, nameOf(op) + " uses positions in a way that is not "
                                   "understood");
    dim = each.dim;
  }
  for (Value operand : op->getOperands())
    if (excessOf(operand, *dim) != 0)
      return fail(op,
                  "an operand of " + nameOf(op) +
                      " is one tile for all programs, with rows of its own");
  ProgramValue found;
  found.kind = Kind::Stacked;
  found.dim = *dim;
  if (isa<ScanOp>(op)) {
    if (*dim == axisOf)
      return fail(op, nameOf(op) + " goes along the rows of a program");
  } else if (*dim == axisOf) {
    auto operand = tileType(op->getOperand(0));
    if (!isa<MaxOp>(op) || operand.getRank() != 1 ||
        !operand.getElementType().isInteger(1))
      return fail(op, nameOf(op) + " puts the rows of a program together");
    found = ProgramValue();
    found.kind = Kind::Any;
  } else {
    found.dim -= found.dim > axisOf;
  }
  return llvm::all_of(op->getResults(),
                      [&](Value result) { return assign(result, found); });
}

bool ProgramStack::visitDot(DotOp op) {
  ProgramValue a = of(op.getA());
  if (!a.isStacked() || a.dim != 0 || a.excess != 0 || !of(op.getB()).isSame())
    return fail(op, "the rows of a program are not those of the left operand "
                    "of " +
                        nameOf(op));
  if (excessOf(op.getC(), 0) != 0)
    return fail(op, "the accumulator of " + nameOf(op) +
                        " is one tile for all programs");
  ProgramValue found;
  found.kind = Kind::Stacked;
  return assign(op.getResult(), found);
}

//===----------------------------------------------------------------------===//
// Memory
//===----------------------------------------------------------------------===//

/// A window at `position * rows`, of a tensor that ends with the grid.
bool ProgramStack::visitWindow(MakeBlockPtrOp op) {
  std::optional<unsigned> dim;
  for (auto [index, offset] : llvm::enumerate(op.getOffsets()))
    if (!of(offset).isSame()) {
      if (dim)
        return fail(op, "a window moves along two dimensions with the position "
                        "of the program");
      dim = index;
    }
  for (Value operand : op->getOperands())
    if (!of(operand).isSame() && (!dim || operand != op.getOffsets()[*dim]))
      return fail(op, "the address, extents or strides of a window depend on "
                      "the position of the program");
  if (!dim)
    return true;
  int64_t rows = op.getType().getShape()[*dim];
  ProgramValue found = of(op.getOffsets()[*dim]);
  if (found.kind != Kind::Shifted || found.rate != rows || rows == 1)
    return fail(op, "the windows of neighbouring programs do not follow each "
                    "other");
  if (!found.isBounded || !isTheGrids(op.getShape()[*dim], rows))
    return fail(op, "it is not known that the tensor of a window ends where "
                    "the grid does");
  found.kind = Kind::Stacked;
  found.dim = *dim;
  found.rate = 0;
  return assign(op.getResult(), found);
}

bool ProgramStack::visitAdvance(AdvanceOp op) {
  ProgramValue found = of(op.getPointer());
  for (auto [index, offset] : llvm::enumerate(op.getOffsets())) {
    ProgramValue each = of(offset);
    if (each.isSame()) {
      if (found.isStacked() && index == found.dim)
        found.isBounded &= isNonNegative(offset);
      continue;
    }
    auto window = op.getPointer().getDefiningOp<MakeBlockPtrOp>();
    int64_t rows = op.getType().getShape()[index];
    if (!found.isSame() || !window || each.kind != Kind::Shifted ||
        each.rate != rows || rows == 1 || !each.isBounded ||
        !isNonNegative(window.getOffsets()[index]) ||
        !isTheGrids(window.getShape()[index], rows))
      return fail(op, "the windows of neighbouring programs do not follow each "
                      "other up to the end of the grid");
    found.kind = Kind::Stacked;
    found.dim = index;
    found.isBounded = true;
  }
  return assign(op.getResult(), found);
}

bool ProgramStack::visitLoad(LoadOp op) {
  ProgramValue pointer = of(op.getPointer());
  ProgramValue mask = op.getMask() ? of(op.getMask()) : ProgramValue();
  if (!pointer.isStacked() || pointer.excess != 0)
    return fail(op, "the places that a load reads do not follow each other");
  for (Value operand : {op.getMask(), op.getOther()})
    if (operand && excessOf(operand, pointer.dim) != 0)
      return fail(op, "a load has a mask for all programs, with rows of its "
                      "own");
  if (!pointer.isBounded && !mask.isBounded)
    return fail(op, "it is not known that a load leaves out programs beyond "
                    "the grid");
  ProgramValue found;
  found.kind = Kind::Stacked;
  found.dim = pointer.dim;
  return assign(op.getResult(), found);
}

bool ProgramStack::visitStore(StoreOp op) {
  ProgramValue pointer = of(op.getPointer());
  ProgramValue mask = op.getMask() ? of(op.getMask()) : ProgramValue();
  if (pointer.isSame())
    return (of(op.getValue()).isSame() && mask.isSame()) ||
           fail(op, "programs store different values to the same place");
  if (!pointer.isStacked() || pointer.excess != 0)
    return fail(op, "the places that a store writes do not follow each other");
  for (Value operand : {op.getValue(), op.getMask()})
    if (operand && excessOf(operand, pointer.dim) != 0)
      return fail(op, "a store has a value for all programs, with rows of its "
                      "own");
  return pointer.isBounded || mask.isBounded ||
         fail(op, "it is not known that a store leaves out programs beyond the "
                  "grid");
}

//===----------------------------------------------------------------------===//
// The walk
//===----------------------------------------------------------------------===//

bool ProgramStack::visit(Operation *op) {
  if (auto id = dyn_cast<ProgramIdOp>(op)) {
    ProgramValue found;
    if (id.getAxis() == axis) {
      found.kind = Kind::Shifted;
      found.rate = 1;
      found.isBounded = true;
    }
    return assign(id.getResult(), found);
  }
  if (auto count = dyn_cast<NumProgramsOp>(op))
    return count.getAxis() != axis || fail(op, "it counts its programs");
  if (isa<AtomicAddOp, PrintOp, AssertOp>(op))
    return fail(op, nameOf(op) + " is done once by each program");
  if (auto loop = dyn_cast<scf::ForOp>(op))
    return visitFor(loop);
  if (auto branch = dyn_cast<scf::IfOp>(op))
    return visitIf(branch);
  if (auto store = dyn_cast<StoreOp>(op))
    return visitStore(store);
  // What combiners use from outside counts as an operand.
  bool isSame = true, capturesSame = true, isPlain = true;
  for (Value operand : op->getOperands())
    isSame &= of(operand).isSame();
  op->walk([&](Operation *inner) {
    if (inner == op)
      return;
    for (Value operand : inner->getOperands())
      capturesSame &= of(operand).isSame();
    isPlain &= !isa<ProgramIdOp, NumProgramsOp, StoreOp, AtomicAddOp, PrintOp,
                    AssertOp>(inner);
  });
  if (!capturesSame || !isPlain)
    return fail(op, nameOf(op) + " depends on the position of the program");
  if (isSame)
    return llvm::all_of(op->getResults(), [&](Value result) {
      return assign(result, ProgramValue());
    });
  if (auto splat = dyn_cast<SplatOp>(op))
    return visitSplat(splat);
  if (isView(op))
    return visitShape(op);
  if (isAxisReduce(op) || isa<ReduceOp, ScanOp>(op))
    return visitReduction(op);
  if (auto dot = dyn_cast<DotOp>(op))
    return visitDot(dot);
  if (auto window = dyn_cast<MakeBlockPtrOp>(op))
    return visitWindow(window);
  if (auto advance = dyn_cast<AdvanceOp>(op))
    return visitAdvance(advance);
  if (auto load = dyn_cast<LoadOp>(op))
    return visitLoad(load);
  if (isElementwise(op))
    return visitElementwise(op);
  return fail(op, nameOf(op) + " depends on the position of the program");
}
