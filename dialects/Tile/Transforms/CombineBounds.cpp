//===- CombineBounds.cpp - One comparison for all bounds of a mask --------===//
//
// Part of FlashTile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//   %keys = splat(%start) + %iota                        // 1 x n
//   %mask = (%keys < splat(%length)) & (%keys <= %rows)  // m x n, %rows m x 1
//
// becomes
//
//   %limit = min(splat(%length), %rows + 1) - splat(%start)  // m x 1
//   %mask = %iota < %limit
//
// A tile has far fewer rows than elements, and each element then takes one
// comparison with a constant. A mask with one bound has one comparison anyway,
// and stays: the limit would take a register more. Where several numbers are
// added to the counter, it is worth that. A condition on the rows
// alone is part of the limit as well: where it is false, no counter is below
// that.
//
//===----------------------------------------------------------------------===//

#include "dialects/Tile/Transforms/Passes.h"
#include "dialects/Tile/Transforms/Remark.h"
#include "dialects/Tile/Transforms/ScalarFacts.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/ImplicitLocOpBuilder.h"
#include "mlir/Interfaces/LoopLikeInterface.h"

namespace flashtile::tile {
#define GEN_PASS_DEF_COMBINEBOUNDSPASS
#include "dialects/Tile/Transforms/Passes.h.inc"
} // namespace flashtile::tile

using namespace mlir;
using namespace flashtile::tile;

namespace {
/// counter < limit, or counter > limit, in each element.
struct Bound {
  Value term;    ///< as it was written
  Value counter; ///< a tile
  Value limit;   ///< a scalar, or a tile that repeats along the counter's axes
  bool isUpper;
  bool isCombined = false;
};

struct CombineBounds
    : public flashtile::tile::impl::CombineBoundsPassBase<CombineBounds> {
  using CombineBoundsPassBase::CombineBoundsPassBase;
  void runOnOperation() override;
};
} // namespace

static RankedTensorType tileOf(Value value) {
  return dyn_cast<RankedTensorType>(value.getType());
}

/// What is repeated in `value`: a scalar, or a tile.
static Value repeated(Value value) {
  while (auto broadcast = value.getDefiningOp<BroadcastOp>())
    value = broadcast.getOperand();
  if (auto splat = value.getDefiningOp<SplatOp>())
    return splat.getOperand();
  return value;
}

/// Whether it is a tile of which nobody has said yet who holds it.
static bool isPlainTile(Type type) {
  auto tile = dyn_cast<RankedTensorType>(type);
  return tile && !tile.getEncoding();
}

/// Whether no axis has several elements in both.
static bool areAcross(RankedTensorType one, RankedTensorType other) {
  return one.getRank() == other.getRank() &&
         llvm::all_of(llvm::zip(one.getShape(), other.getShape()),
                      [](auto pair) {
                        return std::get<0>(pair) == 1 || std::get<1>(pair) == 1;
                      });
}

static bool isMadeIn(Value value, Block *block) {
  Operation *op = value.getDefiningOp();
  return op && op->getBlock() == block;
}

static bool isUpper(arith::CmpIPredicate predicate) {
  return predicate == arith::CmpIPredicate::slt ||
         predicate == arith::CmpIPredicate::sle;
}

static bool isClosed(arith::CmpIPredicate predicate) {
  return predicate == arith::CmpIPredicate::sle ||
         predicate == arith::CmpIPredicate::sge;
}

static bool isOrder(arith::CmpIPredicate predicate) {
  return isUpper(predicate) || predicate == arith::CmpIPredicate::sgt ||
         predicate == arith::CmpIPredicate::sge;
}

/// Integers of one type at the same place: the second spread to the first's
/// tile.
static Value asTile(ImplicitLocOpBuilder &b, Value value,
                    RankedTensorType type) {
  if (!tileOf(value))
    return SplatOp::create(b, type, value);
  return value.getType() == type ? value : BroadcastOp::create(b, type, value);
}

/// `value` in each element of something of the type of `like`.
static Value constantLike(ImplicitLocOpBuilder &b, Value like,
                          const APInt &value) {
  TypedAttr constant = b.getIntegerAttr(getElementTypeOrSelf(like), value);
  if (RankedTensorType type = tileOf(like))
    constant = DenseElementsAttr::get(type, Attribute(constant));
  return arith::ConstantOp::create(b, constant);
}

static Value least(ImplicitLocOpBuilder &b, Value one, Value other) {
  return arith::MinSIOp::create(b, one, other);
}

static Value most(ImplicitLocOpBuilder &b, Value one, Value other) {
  return arith::MaxSIOp::create(b, one, other);
}

/// The limit of `counter < limit` for `counter <= limit`, or the same with >.
/// The last number has none behind it: it stands for no limit, and stays so.
static Value opened(ImplicitLocOpBuilder &b, Value limit, bool isUpper) {
  unsigned width = getElementTypeOrSelf(limit).getIntOrFloatBitWidth();
  const APInt one(width, 1), last = isUpper ? APInt::getSignedMaxValue(width)
                                            : APInt::getSignedMinValue(width);
  if (isUpper)
    return arith::AddIOp::create(
        b, least(b, limit, constantLike(b, limit, last - one)),
        constantLike(b, limit, one));
  return arith::SubIOp::create(
      b, most(b, limit, constantLike(b, limit, last + one)),
      constantLike(b, limit, one));
}

/// The condition as a bound of a counter that `block` computes. New operations
/// are written at `b`.
static std::optional<Bound> readBound(ImplicitLocOpBuilder &b, Value condition,
                                      Block *block) {
  while (auto broadcast = condition.getDefiningOp<BroadcastOp>())
    condition = broadcast.getOperand();
  auto compare = condition.getDefiningOp<arith::CmpIOp>();
  if (!compare || !isOrder(compare.getPredicate()) ||
      compare->getBlock() != block)
    return std::nullopt;
  Value left = repeated(compare.getLhs()), right = repeated(compare.getRhs());
  bool upper = isUpper(compare.getPredicate());
  if (!tileOf(left) || !isMadeIn(left, block)) {
    std::swap(left, right);
    upper = !upper;
  }
  RankedTensorType counter = tileOf(left), limit = tileOf(right);
  if (!counter || !isMadeIn(left, block) ||
      (limit && !areAcross(counter, limit)))
    return std::nullopt;
  if (isClosed(compare.getPredicate()))
    right = opened(b, right, upper);
  return Bound{condition, left, right, upper};
}

/// The stricter one of two bounds of a counter.
static void tighten(ImplicitLocOpBuilder &b, Bound &bound, Value limit) {
  RankedTensorType one = tileOf(bound.limit), other = tileOf(limit);
  if (one || other) {
    SmallVector<int64_t> shape((one ? one : other).getShape());
    if (one && other)
      for (auto [extent, second] : llvm::zip(shape, other.getShape()))
        extent = std::max(extent, second);
    auto type = RankedTensorType::get(
        shape, getElementTypeOrSelf(bound.limit.getType()));
    bound.limit = asTile(b, bound.limit, type);
    limit = asTile(b, limit, type);
  }
  bound.limit = bound.isUpper ? least(b, bound.limit, limit)
                              : most(b, bound.limit, limit);
  bound.isCombined = true;
}

/// Makes `term`, a condition that does not change along the counter's axis,
/// part of the limit. Whether it could.
static bool takeTerm(ImplicitLocOpBuilder &b, Bound &bound, Value term) {
  while (auto broadcast = term.getDefiningOp<BroadcastOp>())
    term = broadcast.getOperand();
  RankedTensorType counter = tileOf(bound.counter), limit = tileOf(bound.limit),
                   holds = tileOf(term);
  if (!holds || !areAcross(counter, holds) ||
      (limit && limit.getShape() != holds.getShape()))
    return false;
  auto type = RankedTensorType::get(holds.getShape(), counter.getElementType());
  Value some = asTile(b, bound.limit, type);
  unsigned width = counter.getElementType().getIntOrFloatBitWidth();
  Value none = constantLike(b, some,
                            bound.isUpper ? APInt::getSignedMinValue(width)
                                          : APInt::getSignedMaxValue(width));
  bound.limit = arith::SelectOp::create(b, term, some, none);
  bound.isCombined = true;
  return true;
}

namespace {
/// sum of scalars + arange, with dimensions inserted perhaps.
struct Counter {
  ArangeOp arange;
  SmallVector<Value, 2> scalars;
  SmallVector<ExpandDimsOp, 2> inserted;
};
} // namespace

static std::optional<Counter> readCounter(Value value) {
  Counter counter;
  for (;;) {
    Operation *made = value.getDefiningOp();
    if (auto expand = dyn_cast_or_null<ExpandDimsOp>(made)) {
      counter.inserted.push_back(expand);
      value = expand.getOperand();
    } else if (auto sum = dyn_cast_or_null<arith::AddIOp>(made)) {
      Value scalar = repeated(sum.getLhs());
      value = sum.getRhs();
      if (tileOf(scalar)) {
        scalar = repeated(sum.getRhs());
        value = sum.getLhs();
      }
      if (tileOf(scalar))
        return std::nullopt;
      counter.scalars.push_back(scalar);
    } else {
      counter.arange = dyn_cast_or_null<ArangeOp>(made);
      if (!counter.arange)
        return std::nullopt;
      return counter;
    }
  }
}

/// Moves what the counter starts at to the limit. The limit is first brought to
/// where the counter is, so that the difference does not wrap.
static void takeStart(ImplicitLocOpBuilder &b, Bound &bound, Block *block) {
  std::optional<Counter> counter = readCounter(bound.counter);
  if (!counter || counter->scalars.empty() ||
      isMadeIn(counter->arange.getResult(), block))
    return;
  Value rest = counter->arange, start = counter->scalars.front();
  for (Value scalar : ArrayRef<Value>(counter->scalars).drop_front())
    start = arith::AddIOp::create(b, start, scalar);
  for (ExpandDimsOp expand : llvm::reverse(counter->inserted))
    rest = ExpandDimsOp::create(
        b,
        RankedTensorType::get(tileOf(expand.getResult()).getShape(),
                              getElementTypeOrSelf(rest)),
        rest, expand.getAxis());
  bound.counter = rest;
  unsigned width = start.getType().getIntOrFloatBitWidth();
  auto at = [&](int64_t position) -> Value {
    APInt distance(64, position - (bound.isUpper ? 0 : 1), /*isSigned=*/true);
    Value place = arith::AddIOp::create(
        b, start, constantLike(b, start, distance.sextOrTrunc(width)));
    if (RankedTensorType type = tileOf(bound.limit))
      place = SplatOp::create(b, type, place);
    return place;
  };
  Value limit = most(b, bound.limit, at(int32_t(counter->arange.getStart())));
  if (!isNonNegative(start))
    limit = least(b, limit, at(int32_t(counter->arange.getEnd())));
  if (RankedTensorType type = tileOf(limit))
    start = SplatOp::create(b, type, start);
  bound.limit = arith::SubIOp::create(b, limit, start);
}

/// The bound as a mask of `type`.
static Value materialize(ImplicitLocOpBuilder &b, const Bound &bound,
                         RankedTensorType type) {
  RankedTensorType counted = tileOf(bound.counter);
  auto compared =
      tileOf(bound.limit)
          ? RankedTensorType::get(type.getShape(), counted.getElementType())
          : counted;
  Value mask = arith::CmpIOp::create(
      b, bound.isUpper ? arith::CmpIPredicate::slt : arith::CmpIPredicate::sgt,
      asTile(b, bound.counter, compared), asTile(b, bound.limit, compared));
  return mask.getType() == type ? mask : BroadcastOp::create(b, type, mask);
}

/// The terms of a conjunction of masks.
static void collectTerms(arith::AndIOp root, SmallVector<Value> &terms) {
  for (Value operand : {root.getLhs(), root.getRhs()}) {
    auto inner = operand.getDefiningOp<arith::AndIOp>();
    if (inner && inner->hasOneUse() && inner->getBlock() == root->getBlock())
      collectTerms(inner, terms);
    else
      terms.push_back(operand);
  }
}

/// Rewrites a conjunction whose terms bound one counter. Whether it did.
static bool combine(arith::AndIOp root) {
  Block *block = root->getBlock();
  auto type = cast<RankedTensorType>(root.getType());
  SmallVector<Value> terms;
  collectTerms(root, terms);
  ImplicitLocOpBuilder b(root.getLoc(), root);
  SmallVector<Bound> bounds;
  SmallVector<Value> others;
  bool combined = false;
  for (Value term : terms) {
    std::optional<Bound> bound = readBound(b, term, block);
    if (!bound) {
      others.push_back(term);
      continue;
    }
    auto same = llvm::find_if(bounds, [&](const Bound &other) {
      return other.counter == bound->counter && other.isUpper == bound->isUpper;
    });
    if (same == bounds.end()) {
      bounds.push_back(*bound);
      bounds.back().term = term;
      continue;
    }
    tighten(b, *same, bound->limit);
    combined = true;
  }
  // Of two bounds of a counter, one does.
  llvm::erase_if(others, [&](Value term) {
    bool taken = !bounds.empty() && takeTerm(b, bounds.front(), term);
    combined |= taken;
    return taken;
  });
  if (!combined)
    return false;
  Value mask;
  auto join = [&](Value term) {
    mask = mask ? arith::AndIOp::create(b, mask, term).getResult() : term;
  };
  for (Bound &bound : bounds) {
    if (bound.isCombined)
      takeStart(b, bound, block);
    join(bound.isCombined ? materialize(b, bound, type) : bound.term);
  }
  for (Value term : others)
    join(term);
  root.replaceAllUsesWith(mask);
  root.erase();
  return true;
}

/// Rewrites a mask with one bound whose counter takes several additions for
/// each position: one for each row instead is worth a register for its limit.
/// Whether it did.
static bool simplify(arith::CmpIOp compare) {
  Block *block = compare->getBlock();
  auto takesSeveral = [&](Value value) {
    value = repeated(value);
    std::optional<Counter> counter;
    if (tileOf(value) && isMadeIn(value, block))
      counter = readCounter(value);
    return counter && counter->scalars.size() > 1;
  };
  if (!takesSeveral(compare.getLhs()) && !takesSeveral(compare.getRhs()))
    return false;
  ImplicitLocOpBuilder b(compare.getLoc(), compare);
  std::optional<Bound> bound = readBound(b, compare.getResult(), block);
  if (!bound || !takesSeveral(bound->counter))
    return false;
  takeStart(b, *bound, block);
  Value mask =
      materialize(b, *bound, cast<RankedTensorType>(compare.getType()));
  compare.replaceAllUsesWith(mask);
  compare.erase();
  return true;
}

/// Whether the kernel has a product of operands of at most 16 bits.
static bool hasNarrowProduct(Operation *kernel) {
  constexpr unsigned kNarrow = 16;
  return kernel
      ->walk([](DotOp dot) {
        return getElementTypeOrSelf(dot.getA().getType())
                           .getIntOrFloatBitWidth() <= kNarrow
                   ? WalkResult::interrupt()
                   : WalkResult::advance();
      })
      .wasInterrupted();
}

static int64_t countProducts(Operation *loop) {
  int64_t count = 0;
  loop->walk([&](DotOp) { ++count; });
  return count;
}

void CombineBounds::runOnOperation() {
  if (mostProducts < 0) {
    getOperation()->emitError("expected 'most-products' to be at least 0, but "
                              "got ")
        << int64_t(mostProducts);
    return signalPassFailure();
  }
  if (narrowProducts && !hasNarrowProduct(getOperation()))
    return;
  SmallVector<arith::AndIOp> roots;
  auto isMask = [&](Operation *op) {
    Operation *loop = op->getParentOp();
    return isa<LoopLikeOpInterface>(loop) &&
           isPlainTile(op->getResult(0).getType()) &&
           (mostProducts == 0 || countProducts(loop) <= mostProducts);
  };
  getOperation()->walk([&](arith::AndIOp op) {
    bool isInner = op->hasOneUse() && isa<arith::AndIOp>(*op->user_begin());
    if (isMask(op) && !isInner &&
        getElementTypeOrSelf(op.getType()).isInteger(1))
      roots.push_back(op);
  });
  for (arith::AndIOp root : roots)
    numCombined += combine(root);
  SmallVector<arith::CmpIOp> single;
  getOperation()->walk([&](arith::CmpIOp op) {
    if (isMask(op) && llvm::none_of(op->getUsers(), [](Operation *user) {
          return isa<arith::AndIOp, BroadcastOp>(user);
        }))
      single.push_back(op);
  });
  for (arith::CmpIOp compare : single)
    numCombined += simplify(compare);
}
