//===- AffineMask.cpp - Masks as linear inequalities ----------------------===//
//
// Part of FlashTile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Every coefficient is checked for overflow: constants of a program may be
// anything, and a condition that cannot be represented is only left alone.
//
//===----------------------------------------------------------------------===//

#include "dialects/Tile/Transforms/AffineMask.h"

#include "dialects/Tile/IR/TileDialect.h"
#include "dialects/Tile/Transforms/ScalarFacts.h"

#include "mlir/Dialect/Arith/IR/Arith.h"

#include "llvm/ADT/TypeSwitch.h"
#include "llvm/Support/CheckedArithmetic.h"

using namespace mlir;

namespace flashtile::tile {

/// `target += factor * value`, checked.
static bool addProduct(int64_t &target, int64_t value, int64_t factor) {
  std::optional<int64_t> result = llvm::checkedMulAdd(value, factor, target);
  if (!result)
    return false;
  target = *result;
  return true;
}

bool AffineForm::add(const AffineForm &other, int64_t factor) {
  if (!addProduct(constant, other.constant, factor) ||
      !addProduct(induction, other.induction, factor))
    return false;
  for (auto [symbol, coefficient] : other.symbols)
    if (!addProduct(symbols[symbol], coefficient, factor))
      return false;
  for (auto [counter, coefficient] : other.counters)
    if (!addProduct(counters[counter], coefficient, factor))
      return false;
  symbols.remove_if([](const auto &entry) { return entry.second == 0; });
  if (lanes.size() < other.lanes.size())
    lanes.resize(other.lanes.size(), 0);
  for (auto [index, lane] : llvm::enumerate(other.lanes))
    if (!addProduct(lanes[index], lane, factor))
      return false;
  return true;
}

/// Whether two inequalities differ in their lanes only.
static bool differInLanes(const MaskAtom &a, const MaskAtom &b) {
  if (a.induction != b.induction || a.symbols.size() != b.symbols.size())
    return false;
  return llvm::all_of(a.symbols, [&](const auto &entry) {
    auto it = b.symbols.find(entry.first);
    return it != b.symbols.end() && it->second == entry.second;
  });
}

bool MaskAtom::operator==(const MaskAtom &other) const {
  return smallest == other.smallest && largest == other.largest &&
         differInLanes(*this, other);
}

bool MaskAtom::isFalseWith(const MaskAtom &other) const {
  return smallest >= other.smallest && differInLanes(*this, other);
}

bool MaskAtom::isTrueWith(const MaskAtom &other) const {
  return largest <= other.largest && differInLanes(*this, other);
}

/// The largest value of `atom`'s left side over the iterations, with `lanes`
/// for its lanes; nothing where it is not linear in scalars known before the
/// loop.
static std::optional<AffineForm> getLargest(const MaskAtom &atom, int64_t lanes,
                                            scf::ForOp loop) {
  AffineForm value;
  value.constant = lanes;
  value.symbols = atom.symbols;
  if (atom.induction == 0)
    return value;
  std::string ignored;
  bool atEnd = atom.induction > 0;
  std::optional<AffineForm> extreme = readAffine(
      atEnd ? loop.getUpperBound() : loop.getLowerBound(), loop, ignored);
  if (!extreme)
    return std::nullopt;
  if (atEnd) {
    // The last iteration starts below the upper bound: a whole step below it
    // where the step divides the distance.
    std::optional<int64_t> step = getConstantInt(loop.getStep());
    bool divides = step && *step > 0 &&
                   isMultipleOf(loop.getLowerBound(), *step) &&
                   isMultipleOf(loop.getUpperBound(), *step);
    AffineForm gap;
    gap.constant = divides ? *step : 1;
    if (!extreme->add(gap, -1))
      return std::nullopt;
  }
  if (!value.add(*extreme, atom.induction))
    return std::nullopt;
  return value;
}

/// Whether a linear function of scalars is at most 0.
static bool isNeverPositive(const AffineForm &form) {
  return form.constant <= 0 &&
         llvm::all_of(form.symbols, [](const auto &entry) {
           return entry.second < 0 && isNonNegative(entry.first);
         });
}

bool MaskAtom::isAlwaysTrue(scf::ForOp loop) const {
  std::optional<AffineForm> value = getLargest(*this, largest, loop);
  if (value && isNeverPositive(*value))
    return true;
  // A lower bound that is no linear function may still be known not to be
  // negative.
  AffineForm rest;
  rest.constant = largest;
  rest.symbols = symbols;
  return induction < 0 && isNonNegative(loop.getLowerBound()) &&
         isNeverPositive(rest);
}

bool MaskAtom::isNeverAllFalse(scf::ForOp loop) const {
  // All lanes are false where the left side is positive for the smallest lane.
  std::optional<AffineForm> value = getLargest(*this, smallest, loop);
  return value && isNeverPositive(*value);
}

bool MaskCondition::variesWithLoop() const {
  return llvm::any_of(
      atoms, [](const auto &entry) { return entry.first.induction != 0; });
}

/// First and last value of a counter; nothing where they are not constant.
static std::optional<std::pair<int64_t, int64_t>>
getCounterRange(scf::ForOp loop) {
  std::optional<int64_t> first = getConstantInt(loop.getLowerBound()),
                         end = getConstantInt(loop.getUpperBound());
  if (!first || !end || *first >= *end || loop.getUnsignedCmp())
    return std::nullopt;
  return std::pair(*first, *end - 1);
}

namespace {

/// Reads integers of one loop.
class AffineReader {
public:
  AffineReader(scf::ForOp loop, std::string &reason)
      : loop(loop), reason(reason) {}

  std::optional<AffineForm> read(Value value, unsigned depth = 0) {
    // Many values may be made of one.
    if (auto found = known.find(value); found != known.end())
      return found->second;
    std::optional<AffineForm> form = compute(value, depth);
    if (form)
      known[value] = *form;
    return form;
  }

private:
  std::optional<AffineForm> compute(Value value, unsigned depth) {
    if (value == loop.getInductionVar()) {
      AffineForm form;
      form.induction = 1;
      return form;
    }
    if (std::optional<int64_t> constant = getConstantInt(value)) {
      AffineForm form;
      form.constant = *constant;
      form.lanes.resize(rankOf(value), 0);
      return form;
    }
    if (isInnerCounter(value)) {
      AffineForm form;
      form.counters[value] = 1;
      return form;
    }
    std::string earlier = reason;
    if (depth < kMaxDepth)
      if (Operation *op = value.getDefiningOp())
        if (std::optional<AffineForm> form = readOp(op, depth + 1))
          return form;
    if (!isa<RankedTensorType>(value.getType()) &&
        loop.isDefinedOutsideOfLoop(value)) {
      // Why its definition could not be read does not matter.
      reason = std::move(earlier);
      AffineForm form;
      form.symbols[value] = 1;
      return form;
    }
    if (reason.empty())
      explain(value);
    return std::nullopt;
  }

  static constexpr unsigned kMaxDepth = 64;

  bool isInnerCounter(Value value) const {
    auto argument = dyn_cast<BlockArgument>(value);
    auto inner = argument
                     ? dyn_cast<scf::ForOp>(argument.getOwner()->getParentOp())
                     : scf::ForOp();
    return inner && value == inner.getInductionVar() &&
           loop->isProperAncestor(inner) && getCounterRange(inner).has_value();
  }

  static size_t rankOf(Value value) {
    auto type = dyn_cast<RankedTensorType>(value.getType());
    return type ? type.getRank() : 0;
  }

  void explain(Value value) {
    Operation *op = value.getDefiningOp();
    if (!op)
      reason = "it depends on a value that the loop carries";
    else
      reason = ("the result of '" + op->getName().getStringRef() +
                "' is not affine in the induction variable")
                   .str();
  }

  std::optional<AffineForm> combine(Value lhs, Value rhs, int64_t factor,
                                    unsigned depth) {
    std::optional<AffineForm> a = read(lhs, depth);
    std::optional<AffineForm> b = a ? read(rhs, depth) : std::nullopt;
    if (!b || !a->add(*b, factor))
      return std::nullopt;
    return a;
  }

  std::optional<AffineForm> scale(Value value, std::optional<int64_t> factor,
                                  unsigned depth) {
    if (!factor)
      return std::nullopt;
    std::optional<AffineForm> form = read(value, depth);
    AffineForm result;
    if (!form || !result.add(*form, *factor))
      return std::nullopt;
    return result;
  }

  std::optional<AffineForm> shift(arith::ShLIOp op, unsigned depth) {
    std::optional<int64_t> amount = getConstantInt(op.getRhs());
    if (!amount || *amount < 0 || *amount > 62)
      return std::nullopt;
    return scale(op.getLhs(), int64_t(1) << *amount, depth);
  }

  std::optional<AffineForm> readOp(Operation *op, unsigned depth) {
    return llvm::TypeSwitch<Operation *, std::optional<AffineForm>>(op)
        .Case([&](arith::AddIOp add) {
          return combine(add.getLhs(), add.getRhs(), 1, depth);
        })
        .Case([&](arith::SubIOp sub) {
          return combine(sub.getLhs(), sub.getRhs(), -1, depth);
        })
        .Case([&](arith::MulIOp mul) {
          if (std::optional<int64_t> factor = getConstantInt(mul.getLhs()))
            return scale(mul.getRhs(), factor, depth);
          return scale(mul.getLhs(), getConstantInt(mul.getRhs()), depth);
        })
        .Case([&](arith::ShLIOp shl) { return shift(shl, depth); })
        // Sound because index arithmetic does not overflow its type.
        .Case<arith::ExtSIOp, arith::TruncIOp, arith::IndexCastOp, AssumeOp>(
            [&](Operation *cast) { return read(cast->getOperand(0), depth); })
        .Default([&](Operation *) { return readShape(op, depth); });
  }

  /// Operations that build and shape tiles.
  std::optional<AffineForm> readShape(Operation *op, unsigned depth) {
    if (auto arange = dyn_cast<ArangeOp>(op)) {
      AffineForm form;
      form.constant = int32_t(arange.getStart());
      form.lanes = {1};
      return form;
    }
    if (!isa<SplatOp, ExpandDimsOp, BroadcastOp, TransOp>(op))
      return std::nullopt;
    std::optional<AffineForm> form = read(op->getOperand(0), depth);
    if (!form)
      return std::nullopt;
    form->lanes.resize(rankOf(op->getOperand(0)), 0);
    if (isa<SplatOp>(op)) {
      form->lanes.assign(rankOf(op->getResult(0)), 0);
    } else if (auto expand = dyn_cast<ExpandDimsOp>(op)) {
      form->lanes.insert(form->lanes.begin() + expand.getAxis(), 0);
    } else if (auto broadcast = dyn_cast<BroadcastOp>(op)) {
      for (auto [index, extent] :
           llvm::enumerate(broadcast.getOperand().getType().getShape()))
        if (extent == 1)
          form->lanes[index] = 0;
    } else {
      SmallVector<int64_t> lanes;
      for (int32_t dim : cast<TransOp>(op).getOrder())
        lanes.push_back(form->lanes[dim]);
      form->lanes = std::move(lanes);
    }
    return form;
  }

  scf::ForOp loop;
  std::string &reason;
  DenseMap<Value, AffineForm> known;
};

/// Collects the conjuncts of a condition.
class MaskReader {
public:
  MaskReader(scf::ForOp loop) : loop(loop) {}

  MaskCondition run(Value condition) {
    read(condition, 0);
    return std::move(result);
  }
  MaskCondition run(arith::CmpIOp compare, bool negated) {
    readComparison(compare, negated);
    return std::move(result);
  }

private:
  static constexpr unsigned kMaxDepth = 16;

  void giveUp(const Twine &reason) {
    if (result.unread.empty())
      result.unread = reason.str();
  }

  void read(Value value, unsigned depth) {
    if (std::optional<int64_t> constant = getConstantInt(value);
        constant && *constant != 0)
      return;
    Operation *op = value.getDefiningOp();
    if (!op)
      return giveUp("it is not computed from comparisons");
    if (depth == kMaxDepth)
      return giveUp("it is nested too deeply");
    if (auto both = dyn_cast<arith::AndIOp>(op)) {
      read(both.getLhs(), depth + 1);
      return read(both.getRhs(), depth + 1);
    }
    // What shapes a condition keeps whether all or none of it is true.
    if (isa<SplatOp, ExpandDimsOp, BroadcastOp, TransOp, ReshapeOp>(op))
      return read(op->getOperand(0), depth + 1);
    if (auto compare = dyn_cast<arith::CmpIOp>(op))
      return readComparison(compare, /*negated=*/false);
    giveUp("it uses '" + op->getName().getStringRef() +
           "'; only 'arith.andi' of comparisons is understood");
  }

  void readComparison(arith::CmpIOp op, bool negated) {
    using Predicate = arith::CmpIPredicate;
    Predicate predicate =
        negated ? arith::invertPredicate(op.getPredicate()) : op.getPredicate();
    bool less = predicate == Predicate::slt || predicate == Predicate::sle;
    bool greater = predicate == Predicate::sgt || predicate == Predicate::sge;
    if (!less && !greater)
      return giveUp("comparison '" + arith::stringifyCmpIPredicate(predicate) +
                    "' does not change once along the loop");
    std::string reason;
    std::optional<AffineForm> lhs = readAffine(op.getLhs(), loop, reason);
    std::optional<AffineForm> rhs = readAffine(op.getRhs(), loop, reason);
    if (!lhs || !rhs)
      return giveUp(reason);
    // lhs < rhs is lhs - rhs + 1 <= 0.
    AffineForm form;
    bool strict = predicate == Predicate::slt || predicate == Predicate::sgt;
    form.constant = strict ? 1 : 0;
    ArrayRef<int64_t> shape;
    if (auto type = dyn_cast<RankedTensorType>(op.getLhs().getType()))
      shape = type.getShape();
    std::optional<MaskAtom> atom;
    if (form.add(*lhs, less ? 1 : -1) && form.add(*rhs, less ? -1 : 1))
      atom = makeAtom(form, shape);
    if (!atom)
      return giveUp("a coefficient does not fit 64 bits");
    result.atoms.emplace_back(std::move(*atom), op.getResult());
  }

  scf::ForOp loop;
  MaskCondition result;
};

} // namespace

std::optional<AffineForm> readAffine(Value value, scf::ForOp loop,
                                     std::string &reason) {
  std::optional<AffineForm> form = AffineReader(loop, reason).read(value);
  if (!form && reason.empty())
    reason = "a coefficient does not fit 64 bits";
  return form;
}

MaskCondition readMask(Value condition, scf::ForOp loop) {
  return MaskReader(loop).run(condition);
}

MaskCondition readComparison(arith::CmpIOp compare, bool negated,
                             scf::ForOp loop) {
  return MaskReader(loop).run(compare, negated);
}

std::optional<MaskAtom> makeAtom(const AffineForm &form,
                                 ArrayRef<int64_t> shape) {
  MaskAtom atom;
  atom.induction = form.induction;
  atom.symbols = form.symbols;
  atom.smallest = atom.largest = form.constant;
  for (auto [lane, extent] : llvm::zip(form.lanes, shape))
    if (!addProduct(lane < 0 ? atom.smallest : atom.largest, lane, extent - 1))
      return std::nullopt;
  for (auto [counter, coefficient] : form.counters) {
    auto inner = cast<scf::ForOp>(
        cast<BlockArgument>(counter).getOwner()->getParentOp());
    auto [first, last] = *getCounterRange(inner);
    if (!addProduct(atom.smallest, coefficient < 0 ? last : first,
                    coefficient) ||
        !addProduct(atom.largest, coefficient < 0 ? first : last, coefficient))
      return std::nullopt;
  }
  // Bounds below are off by at most one from these.
  if (atom.induction == INT64_MIN || atom.largest == INT64_MAX ||
      atom.smallest == INT64_MIN)
    return std::nullopt;
  return atom;
}

} // namespace flashtile::tile
