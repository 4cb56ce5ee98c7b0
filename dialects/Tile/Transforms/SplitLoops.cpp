//===- SplitLoops.cpp - Masked and unmasked iterations --------------------===//
//
// Part of FlashTile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//   scf.for %k = %lb to %ub step %s {        // causal: col <= row
//     %scores = arith.select %mask, %s, %minus_infinity
//     ...
//   }
//
// becomes
//
//   scf.for %k = %lb to %all_true step %s { ... %s ... }       // interior
//   scf.for %k = %all_true to %all_false step %s { ... }       // masked
//
// All bounds are counts of iterations times the step. The number of iterations
// in which `a * iv + rest <= 0` holds, for a > 0, is
//   max(-rest - a * lb + a * s, 0) / (a * s)
// and the other three cases look alike: one division of non-negative numbers,
// and no rounding of negative ones, whatever the signs of the scalars.
//
// Comparisons of scalars cut no loop, but those that the interior decides are
// constants there: with them go branches for masked iterations only.
//
//===----------------------------------------------------------------------===//

#include "dialects/Tile/Transforms/AffineMask.h"
#include "dialects/Tile/Transforms/NeutralIteration.h"
#include "dialects/Tile/Transforms/Passes.h"
#include "dialects/Tile/Transforms/Remark.h"
#include "dialects/Tile/Transforms/ScalarFacts.h"

#include "mlir/IR/IRMapping.h"
#include "mlir/IR/Matchers.h"

namespace flashtile::tile {
#define GEN_PASS_DEF_SPLITLOOPSPASS
#include "dialects/Tile/Transforms/Passes.h.inc"
} // namespace flashtile::tile

using namespace mlir;
using namespace flashtile::tile;

namespace {

/// Name of the attribute that says what a loop is a part of; such loops are
/// not looked at again.
constexpr StringLiteral kPartName = "tile.part";

/// An operation that a true condition makes simpler.
struct MaskSite {
  Operation *op;
  /// Dimension of a block pointer's window, -1 for a mask.
  int dim;
  MaskCondition condition;
};

} // namespace

//===----------------------------------------------------------------------===//
// Collecting masks
//===----------------------------------------------------------------------===//

/// The mask of which `op` asks along an axis whether it is true everywhere
/// (`tile.min`) or false anywhere (`tile.max` of its negation).
static Value getQuestionedMask(Operation *op) {
  if (!isa<MaxOp, MinOp>(op) ||
      !getElementType(op->getOperand(0).getType()).isInteger(1))
    return {};
  Value operand = op->getOperand(0);
  if (isa<MinOp>(op))
    return operand;
  auto negation = operand.getDefiningOp<arith::XOrIOp>();
  return negation && matchPattern(negation.getRhs(), m_One())
             ? negation.getLhs()
             : Value();
}

static Value getMask(Operation *op) {
  if (Value mask = getQuestionedMask(op))
    return mask;
  if (auto select = dyn_cast<arith::SelectOp>(op))
    return select.getCondition();
  if (auto load = dyn_cast<LoadOp>(op))
    return load.getMask();
  if (auto store = dyn_cast<StoreOp>(op))
    return store.getMask();
  if (auto atomic = dyn_cast<AtomicAddOp>(op))
    return atomic.getMask();
  return {};
}

/// The window that a load or store goes through, null for other operations.
static MakeBlockPtrOp getWindow(Operation *op) {
  if (isa<LoadOp, StoreOp>(op))
    return op->getOperand(0).getDefiningOp<MakeBlockPtrOp>();
  return {};
}

static SmallVector<bool> getInBounds(Operation *op, size_t rank) {
  auto flags = op->getAttrOfType<DenseBoolArrayAttr>("in_bounds");
  return flags ? SmallVector<bool>(flags.asArrayRef())
               : SmallVector<bool>(rank, false);
}

static void setInBounds(Operation *op, size_t rank, int dim) {
  SmallVector<bool> flags = getInBounds(op, rank);
  flags[dim] = true;
  op->setAttr("in_bounds", DenseBoolArrayAttr::get(op->getContext(), flags));
}

/// `0 <= offset` and `offset + extent <= shape` along one dimension.
static MaskCondition readBounds(MakeBlockPtrOp window, unsigned dim,
                                scf::ForOp loop) {
  MaskCondition result;
  std::optional<AffineForm> offset =
      readAffine(window.getOffsets()[dim], loop, result.unread);
  std::optional<AffineForm> shape =
      readAffine(window.getShape()[dim], loop, result.unread);
  if (!offset || !shape)
    return result;
  AffineForm low, high;
  high.constant = window.getType().getShape()[dim];
  std::optional<MaskAtom> lowAtom, highAtom;
  if (low.add(*offset, -1) && high.add(*offset, 1) && high.add(*shape, -1)) {
    lowAtom = makeAtom(low, {});
    highAtom = makeAtom(high, {});
  }
  if (!lowAtom || !highAtom) {
    result.unread = "a coefficient does not fit 64 bits";
    return result;
  }
  result.atoms.emplace_back(std::move(*lowAtom), Value());
  result.atoms.emplace_back(std::move(*highAtom), Value());
  return result;
}

namespace {

//===----------------------------------------------------------------------===//
// Bounds
//===----------------------------------------------------------------------===//

/// Computes new bounds of a loop, in i64, before it.
class BoundBuilder {
public:
  explicit BoundBuilder(scf::ForOp loop)
      : loop(loop), builder(loop), loc(loop.getLoc()) {
    lower = widen(loop.getLowerBound());
    // An upper bound below the lower one counts as equal.
    upper = create<arith::MaxSIOp>(widen(loop.getUpperBound()), lower);
    // A step below 1 is an error of the program, but must not divide by zero.
    step = create<arith::MaxSIOp>(widen(loop.getStep()), constant(1));
  }

  Value getLower() const { return lower; }
  Value getUpper() const { return upper; }

  /// First iv at which the condition is no longer all true (induction > 0).
  Value endOfAllTrue(const MaskAtom &atom) {
    Value numerator =
        create<arith::SubIOp>(distance(atom), rest(atom, atom.largest));
    return position(atom, create<arith::AddIOp>(numerator, divisor(atom)));
  }
  /// First iv at which the condition is all false (induction > 0).
  Value startOfAllFalse(const MaskAtom &atom) {
    Value numerator =
        create<arith::SubIOp>(distance(atom), rest(atom, atom.smallest));
    return position(atom, create<arith::AddIOp>(numerator, divisor(atom)));
  }
  /// First iv at which the condition is all true (induction < 0).
  Value startOfAllTrue(const MaskAtom &atom) {
    return firstAtMost(atom, atom.largest);
  }
  /// First iv at which the condition is no longer all false (induction < 0).
  Value endOfAllFalse(const MaskAtom &atom) {
    return firstAtMost(atom, atom.smallest);
  }

  /// Whether a condition that does not change in the loop is all true.
  Value isAllTrue(const MaskAtom &atom) {
    return builder.createOrFold<arith::CmpIOp>(
        loc, arith::CmpIPredicate::sle, rest(atom, atom.largest), constant(0));
  }

  Value select(Value condition, Value yes, Value no) {
    return builder.createOrFold<arith::SelectOp>(loc, condition, yes, no);
  }
  // A null operand stands for no limit.
  Value minimum(Value a, Value b) {
    return a ? create<arith::MinSIOp>(a, b) : b;
  }
  Value maximum(Value a, Value b) {
    return a ? create<arith::MaxSIOp>(a, b) : b;
  }
  Value conjunction(Value a, Value b) {
    return a ? create<arith::AndIOp>(a, b) : b;
  }

  /// Back to the type of the induction variable.
  Value narrow(Value bound) {
    Type type = loop.getInductionVar().getType();
    if (bound == lower)
      return loop.getLowerBound();
    // Where the bounds are crossed, so are those of every part.
    if (bound == upper)
      return loop.getUpperBound();
    if (type.isIndex())
      return builder.createOrFold<arith::IndexCastOp>(loc, type, bound);
    if (type.getIntOrFloatBitWidth() < 64)
      return builder.createOrFold<arith::TruncIOp>(loc, type, bound);
    return bound;
  }

private:
  template <typename Op>
  Value create(Value lhs, Value rhs) {
    return builder.createOrFold<Op>(loc, lhs, rhs);
  }

  Value constant(int64_t value) {
    return arith::ConstantIntOp::create(builder, loc, value, 64);
  }

  Value widen(Value value) {
    if (std::optional<int64_t> known = getConstantInt(value))
      return constant(*known);
    Type i64 = builder.getI64Type();
    if (value.getType() == i64)
      return value;
    if (value.getType().isIndex())
      return builder.createOrFold<arith::IndexCastOp>(loc, i64, value);
    return builder.createOrFold<arith::ExtSIOp>(loc, i64, value);
  }

  /// factor * value
  Value scaled(Value value, int64_t factor) {
    return factor == 1 ? value : create<arith::MulIOp>(value, constant(factor));
  }

  /// The part of the inequality that does not change in the loop.
  Value rest(const MaskAtom &atom, int64_t lanes) {
    Value sum;
    for (bool added : {true, false})
      for (auto [symbol, coefficient] : atom.symbols) {
        if ((coefficient > 0) != added)
          continue;
        Value term = scaled(widen(symbol), std::abs(coefficient));
        if (added)
          sum = sum ? create<arith::AddIOp>(sum, term) : term;
        else
          sum = create<arith::SubIOp>(sum ? sum : constant(0), term);
      }
    return sum ? create<arith::AddIOp>(sum, constant(lanes)) : constant(lanes);
  }

  /// |a| * step: what the inequality changes by in one iteration.
  Value divisor(const MaskAtom &atom) {
    return scaled(step, std::abs(atom.induction));
  }

  /// -a * lb
  Value distance(const MaskAtom &atom) {
    return scaled(lower, -atom.induction);
  }

  /// First iv of the grid at which -|a| * iv + symbols + lanes <= 0.
  Value firstAtMost(const MaskAtom &atom, int64_t lanes) {
    Value missing = create<arith::SubIOp>(rest(atom, lanes), distance(atom));
    Value up = create<arith::SubIOp>(divisor(atom), constant(1));
    return position(atom, create<arith::AddIOp>(missing, up));
  }

  /// lb + (max(numerator, 0) / divisor) * step, between the loop's bounds.
  Value position(const MaskAtom &atom, Value numerator) {
    Value count = create<arith::DivSIOp>(
        create<arith::MaxSIOp>(numerator, constant(0)), divisor(atom));
    Value iv = create<arith::AddIOp>(create<arith::MulIOp>(count, step), lower);
    return create<arith::MinSIOp>(iv, upper);
  }

  scf::ForOp loop;
  OpBuilder builder;
  Location loc;
  Value lower, upper, step;
};

//===----------------------------------------------------------------------===//
// One loop
//===----------------------------------------------------------------------===//

class LoopSplitter {
public:
  LoopSplitter(scf::ForOp loop, StringRef pass, int64_t maxCopies)
      : loop(loop), pass(pass), maxCopies(maxCopies) {}

  /// What was done.
  bool split = false, trimmed = false;

  void run() {
    collect();
    if (sites.empty())
      return;
    if (loop.getUnsignedCmp())
      return missed(loop, "UnsignedLoop",
                    "masks stay: the loop compares its bounds as unsigned");
    findDeadAtoms();
    chooseSites();
    if (!split && !trimmed)
      return;
    rewrite();
  }

private:
  void missed(Operation *op, StringRef name, const Twine &reason) {
    remarkMissed(op, pass, name, reason);
  }

  void collect() {
    for (Operation &op :
         llvm::make_early_inc_range(loop.getBody()->without_terminator())) {
      if (MakeBlockPtrOp window = getWindow(&op))
        collectBounds(&op, window);
      Value mask = getMask(&op);
      // Conditions on data, such as the guard of a maximum, are no masks.
      if (!mask || (isa<arith::SelectOp, MaxOp, MinOp>(op) &&
                    !comparesIntegers(mask, 0)))
        continue;
      MaskSite site{&op, -1, readMask(mask, loop)};
      dropTrueAtoms(site.condition);
      if (site.condition.isTrue())
        removeMask(&op, -1);
      else
        addSite(std::move(site));
    }
  }

  void dropTrueAtoms(MaskCondition &condition) {
    llvm::erase_if(condition.atoms, [&](const auto &entry) {
      return entry.first.isAlwaysTrue(loop);
    });
  }

  /// Whether a condition is computed from integer comparisons in the loop.
  bool comparesIntegers(Value value, unsigned depth) {
    Operation *op = value.getDefiningOp();
    if (!op || depth > 16 || loop.isDefinedOutsideOfLoop(value))
      return false;
    if (isa<arith::CmpIOp>(op))
      return true;
    return isa<arith::AndIOp, arith::OrIOp, arith::XOrIOp, SplatOp,
               ExpandDimsOp, BroadcastOp, TransOp, ReshapeOp>(op) &&
           llvm::any_of(op->getOperands(), [&](Value operand) {
             return comparesIntegers(operand, depth + 1);
           });
  }

  void collectBounds(Operation *op, MakeBlockPtrOp window) {
    unsigned rank = window.getType().getRank();
    SmallVector<bool> known = getInBounds(op, rank);
    for (unsigned dim = 0; dim < rank; ++dim) {
      if (known[dim])
        continue;
      MaskSite site{op, int(dim), readBounds(window, dim, loop)};
      dropTrueAtoms(site.condition);
      if (site.condition.isTrue())
        setInBounds(op, rank, dim);
      else
        addSite(std::move(site));
    }
  }

  void addSite(MaskSite site) {
    const std::string &unread = site.condition.unread;
    StringRef what = site.dim < 0 ? "mask" : "bounds check";
    if (!unread.empty())
      missed(site.op, "MaskNotAffine",
             what + " stays in every iteration: " + unread);
    else if (!site.condition.variesWithLoop() && site.dim < 0)
      missed(
          site.op, "MaskInvariant",
          "mask stays in every iteration: it does not change along the loop");
    // Bounds along other dimensions than the loop's are not its business.
    if (site.condition.variesWithLoop())
      sites.push_back(std::move(site));
  }

  /// Conditions whose being false in every lane makes an iteration pointless.
  void findDeadAtoms() {
    SmallVector<MaskAtom> seen;
    for (const MaskSite &site : sites)
      for (const auto &[atom, condition] : site.condition.atoms) {
        if (!condition || atom.induction == 0 || llvm::is_contained(seen, atom))
          continue;
        seen.push_back(atom);
        if (atom.isNeverAllFalse(loop))
          continue;
        std::optional<std::string> effect =
            findEffectOfIteration(loop, conditionsLike(atom));
        if (!effect)
          dead.push_back(atom);
        else
          missed(site.op, "DeadIterationsKept",
                 "iterations with every lane masked are kept: " + *effect);
      }
    trimmed = !dead.empty();
  }

  /// The i1 values that are false in every lane where `atom` is, also in
  /// branches and inner loops.
  DenseSet<Value> conditionsLike(const MaskAtom &atom) {
    DenseSet<Value> values;
    loop.getBody()->walk([&](arith::CmpIOp compare) {
      for (const auto &[other, condition] :
           readMask(compare.getResult(), loop).atoms)
        if (other.isFalseWith(atom))
          values.insert(condition);
    });
    return values;
  }

  /// Whether some condition becomes true or false, respectively, along the
  /// loop.
  bool needsHead() {
    return anyAtom([](const MaskAtom &atom) { return atom.induction < 0; });
  }
  bool needsTail() {
    return anyAtom([](const MaskAtom &atom) { return atom.induction >= 0; });
  }
  bool anyAtom(llvm::function_ref<bool(const MaskAtom &)> test) {
    return llvm::any_of(removable, [&](const MaskSite *site) {
      return llvm::any_of(site->condition.atoms,
                          [&](const auto &entry) { return test(entry.first); });
    });
  }

  /// Decides which masks the interior does without.
  void chooseSites() {
    for (const MaskSite &site : sites)
      if (site.condition.unread.empty())
        removable.push_back(&site);
    unsigned copies = 1 + needsHead() + needsTail();
    split = !removable.empty() && copies <= maxCopies;
    if (!removable.empty() && !split) {
      missed(loop, "TooManyCopies",
             "masks stay: " + Twine(copies) +
                 " copies of the loop are needed, but max-copies is " +
                 Twine(maxCopies));
      removable.clear();
    }
  }

  /// [first, last): iterations that are not provably pointless.
  /// [interiorFirst, interiorLast): those without masks.
  struct Cuts {
    Value first, interiorFirst, interiorLast, last;
  };

  /// Every position that BoundBuilder gives lies between the bounds of the
  /// loop; what is left is to keep the cuts in order.
  Cuts computeCuts() {
    BoundBuilder bounds(loop);
    Cuts cuts;
    for (const MaskAtom &atom : dead)
      if (atom.induction < 0)
        cuts.first = bounds.maximum(cuts.first, bounds.endOfAllFalse(atom));
      else
        cuts.last = bounds.minimum(cuts.last, bounds.startOfAllFalse(atom));
    if (cuts.first && cuts.last)
      cuts.last = bounds.maximum(cuts.last, cuts.first);

    Value allTrue;
    for (const MaskAtom &atom : interiorAtoms()) {
      if (atom.induction < 0)
        cuts.interiorFirst =
            bounds.maximum(cuts.interiorFirst, bounds.startOfAllTrue(atom));
      else if (atom.induction > 0)
        cuts.interiorLast =
            bounds.minimum(cuts.interiorLast, bounds.endOfAllTrue(atom));
      else
        allTrue = bounds.conjunction(allTrue, bounds.isAllTrue(atom));
    }
    if (cuts.interiorFirst) {
      cuts.interiorFirst = bounds.maximum(cuts.first, cuts.interiorFirst);
      cuts.interiorFirst = bounds.minimum(cuts.last, cuts.interiorFirst);
    } else {
      cuts.interiorFirst = cuts.first;
    }
    if (!cuts.last)
      cuts.last = bounds.getUpper();
    if (!cuts.interiorLast)
      cuts.interiorLast = cuts.last;
    else if (cuts.last != bounds.getUpper())
      cuts.interiorLast = bounds.minimum(cuts.interiorLast, cuts.last);
    if (cuts.interiorLast != bounds.getUpper())
      cuts.interiorLast = bounds.maximum(cuts.interiorFirst, cuts.interiorLast);
    for (Value *cut : {&cuts.first, &cuts.interiorFirst})
      if (!*cut)
        *cut = bounds.getLower();
    if (allTrue)
      cuts.interiorLast =
          bounds.select(allTrue, cuts.interiorLast, cuts.interiorFirst);
    for (Value *cut :
         {&cuts.first, &cuts.interiorFirst, &cuts.interiorLast, &cuts.last})
      *cut = bounds.narrow(*cut);
    return cuts;
  }

  SmallVector<MaskAtom> interiorAtoms() {
    SmallVector<MaskAtom> atoms;
    for (const MaskSite *site : removable)
      for (const auto &[atom, condition] : site->condition.atoms)
        if (!llvm::is_contained(atoms, atom))
          atoms.push_back(atom);
    return atoms;
  }

  void explain() {
    std::string text;
    if (split)
      text = std::string("split into ") +
             (needsHead() ? "a masked head, " : "") +
             "an interior without masks" +
             (needsTail() ? " and a masked tail" : "");
    if (trimmed)
      text += std::string(text.empty() ? "" : "; ") +
              "iterations with every lane masked are not visited";
    remarkApplied(loop, pass, "LoopSplit", text);
  }

  void rewrite() {
    explain();
    Cuts cuts = computeCuts();
    SmallVector<Value> carried(loop.getInitArgs());
    if (!split) {
      addPart("masked", cuts.first, cuts.last, carried);
    } else {
      if (needsHead())
        addPart("masked", cuts.first, cuts.interiorFirst, carried);
      IRMapping mapping =
          addPart("interior", cuts.interiorFirst, cuts.interiorLast, carried);
      for (const MaskSite *site : removable)
        removeMask(mapping.lookup(site->op), site->dim);
      decideComparisons(mapping);
      if (needsTail())
        addPart("masked", cuts.interiorLast, cuts.last, carried);
    }
    loop.replaceAllUsesWith(carried);
    loop.erase();
  }

  /// Clones the loop with other bounds; `carried` goes through it.
  IRMapping addPart(StringRef name, Value lower, Value upper,
                    SmallVector<Value> &carried) {
    OpBuilder builder(loop);
    IRMapping mapping;
    auto part = cast<scf::ForOp>(builder.clone(*loop, mapping));
    part.setLowerBound(lower);
    part.setUpperBound(upper);
    part.getInitArgsMutable().assign(carried);
    part->setAttr(kPartName, builder.getStringAttr(name));
    carried.assign(part.result_begin(), part.result_end());
    return mapping;
  }

  /// Replaces the comparisons of scalars that are true or false wherever no
  /// mask is needed, branches and inner loops included.
  void decideComparisons(IRMapping &interior) {
    SmallVector<MaskAtom> known = interiorAtoms();
    auto holds = [&](const MaskCondition &condition) {
      return condition.unread.empty() &&
             llvm::all_of(condition.atoms, [&](const auto &entry) {
               return entry.first.isAlwaysTrue(loop) ||
                      llvm::any_of(known, [&](const MaskAtom &atom) {
                        return entry.first.isTrueWith(atom);
                      });
             });
    };
    loop.getBody()->walk([&](arith::CmpIOp compare) {
      if (!compare.getType().isInteger(1))
        return;
      for (bool negated : {false, true}) {
        if (!holds(readComparison(compare, negated, loop)))
          continue;
        Value copy = interior.lookup(compare.getResult());
        OpBuilder builder(copy.getDefiningOp());
        copy.replaceAllUsesWith(arith::ConstantOp::create(
            builder, compare.getLoc(), builder.getBoolAttr(!negated)));
        return;
      }
    });
  }

  static void removeMask(Operation *op, int dim) {
    OpBuilder builder(op);
    if (dim >= 0)
      return setInBounds(op, getWindow(op).getType().getRank(), dim);
    if (isa<MaxOp, MinOp>(op)) {
      Type type = op->getResult(0).getType();
      TypedAttr answer = builder.getBoolAttr(isa<MinOp>(op));
      if (auto tile = dyn_cast<RankedTensorType>(type))
        answer = DenseElementsAttr::get(tile, isa<MinOp>(op));
      op->replaceAllUsesWith(
          arith::ConstantOp::create(builder, op->getLoc(), answer));
      op->erase();
    } else if (auto select = dyn_cast<arith::SelectOp>(op)) {
      select.replaceAllUsesWith(select.getTrueValue());
      select.erase();
    } else if (auto load = dyn_cast<LoadOp>(op)) {
      load.getMaskMutable().clear();
      load.getOtherMutable().clear();
    } else if (auto store = dyn_cast<StoreOp>(op)) {
      store.getMaskMutable().clear();
    } else {
      cast<AtomicAddOp>(op).getMaskMutable().clear();
    }
  }

  scf::ForOp loop;
  StringRef pass;
  int64_t maxCopies;
  SmallVector<MaskSite> sites;
  SmallVector<const MaskSite *> removable;
  SmallVector<MaskAtom> dead;
};

/// Code under a condition in another loop, or that elements of a tile decide,
/// is taken to run rarely: copies of it cost more than masks.
bool isRare(scf::ForOp loop) {
  auto branch = loop->getParentOfType<scf::IfOp>();
  return branch && (branch->getParentOfType<scf::ForOp>() ||
                    branch.getCondition().getDefiningOp<MaxOp>());
}

struct SplitLoops : flashtile::tile::impl::SplitLoopsPassBase<SplitLoops> {
  using SplitLoopsPassBase::SplitLoopsPassBase;

protected:
  void runOnOperation() override {
    // Inside out: parts of an inner loop are copied with an outer one.
    SmallVector<scf::ForOp> loops;
    getOperation().walk([&](scf::ForOp loop) {
      if (!loop->hasAttr(kPartName) && !isRare(loop))
        loops.push_back(loop);
    });
    for (scf::ForOp loop : loops) {
      LoopSplitter splitter(loop, getArgument(), maxCopies);
      splitter.run();
      numSplit += splitter.split;
      numTrimmed += splitter.trimmed;
    }
  }
};

} // namespace
