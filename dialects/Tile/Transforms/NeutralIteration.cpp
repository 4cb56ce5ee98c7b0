//===- NeutralIteration.cpp - Iterations that change nothing --------------===//
//
// Part of FlashTile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Interpreter evaluates the body for one class of a row; Prover puts the cases
// and the induction together. The header states the argument.
//
//===----------------------------------------------------------------------===//

#include "dialects/Tile/Transforms/NeutralIteration.h"

#include "dialects/Tile/IR/TileDialect.h"
#include "dialects/Tile/Transforms/FloatClasses.h"
#include "dialects/Tile/Transforms/RowAlignment.h"
#include "dialects/Tile/Transforms/ScalarFacts.h"
#include "dialects/Tile/Transforms/UniformFactor.h"

#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/IR/Matchers.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace flashtile::tile;

namespace {

/// What is known of the elements of a value in one row.
struct Known {
  /// Classes of floats, or kTrue and kFalse of an i1, that occur.
  FloatClasses all = kAnyFloat;
  /// If not empty: what occurs at the witness, one element of the row (the same
  /// for all values, by its position along the dimensions that they share).
  FloatClasses witness = 0;
  /// Number of the carried value that this one equals, -1 for none.
  int same = -1;

  static Known of(FloatClasses all) { return {all, 0, -1}; }

  FloatClasses atWitness() const { return witness ? witness : all; }

  /// What is known of a value that is either of two.
  static Known join(const Known &a, const Known &b) {
    Known result = {FloatClasses(a.all | b.all), 0,
                    a.same == b.same ? a.same : -1};
    if (a.witness || b.witness)
      result.witness = a.atWitness() | b.atWitness();
    return result;
  }

  bool operator==(const Known &other) const {
    return all == other.all && atWitness() == other.atWitness() &&
           same == other.same;
  }
};

} // namespace

namespace {

//===----------------------------------------------------------------------===//
// Interpreter
//===----------------------------------------------------------------------===//

/// Evaluates the body of a loop, in order, for one row.
class Interpreter {
public:
  Interpreter(scf::ForOp loop, const RowAlignment &alignment)
      : loop(loop), alignment(alignment) {}

  /// States a fact: of a block argument, or of a result, where it is met with
  /// what the operation gives.
  void assume(Value value, Known known) { assumed[value] = known; }

  void run() {
    for (auto [index, argument] : llvm::enumerate(loop.getRegionIterArgs())) {
      Known known = defaultOf(argument);
      if (auto it = assumed.find(argument); it != assumed.end())
        known = it->second;
      known.same = index;
      values[argument] = known;
    }
    run(loop.getBody());
  }

  Known get(Value value) const {
    if (auto it = values.find(value); it != values.end())
      return it->second;
    return fromOutside(value);
  }

  /// What is known of a value that the loop does not compute.
  static Known fromOutside(Value value) {
    if (auto splat = value.getDefiningOp<SplatOp>())
      return fromOutside(splat.getValue());
    APFloat constant(0.0f);
    if (matchPattern(value, m_ConstantFloat(&constant)))
      return Known::of(classify(constant));
    if (isPositiveNormal(value))
      return Known::of(kOne | kPositive | kPosInf);
    APInt bit;
    if (isCondition(value) && matchPattern(value, m_ConstantInt(&bit)))
      return Known::of(bit.isZero() ? kFalse : kTrue);
    return defaultOf(value);
  }

private:
  void run(Block *block) {
    for (Operation &op : block->without_terminator()) {
      if (auto branch = dyn_cast<scf::IfOp>(op)) {
        runBranches(branch);
      } else if (auto inner = dyn_cast<scf::ForOp>(op)) {
        runLoop(inner);
      } else {
        for (Value result : op.getResults())
          values[result] = defaultOf(result);
        if (op.getNumResults() == 1 && op.getNumRegions() == 0)
          values[op.getResult(0)] = evaluate(&op);
      }
      for (Value result : op.getResults())
        if (auto it = assumed.find(result); it != assumed.end()) {
          values[result].all &= it->second.all;
          if (it->second.witness)
            values[result].witness = it->second.witness;
        }
    }
  }

  /// Each result is what one of the branches gives.
  void runBranches(scf::IfOp branch) {
    run(branch.thenBlock());
    if (branch.elseBlock())
      run(branch.elseBlock());
    for (auto [index, result] : llvm::enumerate(branch.getResults()))
      values[result] = choose(get(branch.getCondition()),
                              get(branch.thenYield().getOperand(index)),
                              get(branch.elseYield().getOperand(index)));
  }

  /// What the arguments of an inner loop are at the start of its iterations, by
  /// induction: more and more is taken to be possible until an iteration adds
  /// nothing to that.
  void runLoop(scf::ForOp inner) {
    SmallVector<Known> state;
    for (Value init : inner.getInitArgs())
      state.push_back(get(init));
    iterate(inner, state);
    // One of the iterations is that of the witness.
    if (arith::CmpIOp atKey = findKeyAtCounter(inner)) {
      runOnce(inner, state, atKey);
      for (auto [known, yielded] : llvm::zip(state, inner.getYieldedValues()))
        known = get(yielded);
      iterate(inner, state);
    }
    for (auto [result, known] : llvm::zip(inner.getResults(), state))
      values[result] = known;
  }

  void iterate(scf::ForOp inner, SmallVectorImpl<Known> &state) {
    for (bool grows = true; grows;) {
      runOnce(inner, state, {});
      grows = false;
      for (auto [known, yielded] : llvm::zip(state, inner.getYieldedValues())) {
        Known joined = Known::join(known, get(yielded));
        grows |= !(joined == known);
        known = joined;
      }
    }
  }

  /// One iteration; that in which `atKey` holds at the witness, if given.
  void runOnce(scf::ForOp inner, ArrayRef<Known> state, arith::CmpIOp atKey) {
    for (auto [argument, known] : llvm::zip(inner.getRegionIterArgs(), state))
      values[argument] = known;
    arith::CmpIOp outer = trueAtWitness;
    trueAtWitness = atKey;
    run(inner.getBody());
    trueAtWitness = outer;
  }

  /// A comparison of the positions in a row with the counter of `inner`, which
  /// goes through all of them: it holds at the witness in one iteration.
  static arith::CmpIOp findKeyAtCounter(scf::ForOp inner) {
    std::optional<int64_t> first = getConstantInt(inner.getLowerBound()),
                           end = getConstantInt(inner.getUpperBound()),
                           step = getConstantInt(inner.getStep());
    if (!first || !end || step != 1 || inner.getUnsignedCmp())
      return {};
    for (auto compare : inner.getBody()->getOps<arith::CmpIOp>()) {
      auto lanes = compare.getLhs().getDefiningOp<ArangeOp>();
      auto counter = compare.getRhs().getDefiningOp<SplatOp>();
      if (!lanes) {
        lanes = compare.getRhs().getDefiningOp<ArangeOp>();
        counter = compare.getLhs().getDefiningOp<SplatOp>();
      }
      if (compare.getPredicate() == arith::CmpIPredicate::eq && lanes &&
          counter && counter.getValue() == inner.getInductionVar() &&
          *first <= int32_t(lanes.getStart()) &&
          int32_t(lanes.getEnd()) <= *end)
        return compare;
    }
    return {};
  }

  static bool isCondition(Value value) {
    return flashtile::tile::getElementType(value.getType()).isInteger(1);
  }

  static Known defaultOf(Value value) {
    return Known::of(isCondition(value) ? kTrue | kFalse : kAnyFloat);
  }

  Known operand(Operation *op, unsigned index) const {
    return get(op->getOperand(index));
  }

  /// Lifts a function of the classes of two operands.
  template <typename Fn>
  static Known lift(const Known &a, const Known &b, Fn evaluate) {
    Known result = Known::of(evaluate(a.all, b.all));
    if (a.witness || b.witness)
      result.witness = evaluate(a.atWitness(), b.atWitness());
    return result;
  }

  template <typename Fn>
  static Known lift(const Known &a, Fn evaluate) {
    return {evaluate(a.all), a.witness ? evaluate(a.witness) : FloatClasses(0),
            -1};
  }

  static Known add(const Known &a, const Known &b) {
    Known result = lift(a, b, added);
    if (a.all == kZero)
      result.same = b.same;
    else if (b.all == kZero)
      result.same = a.same;
    return result;
  }

  static Known subtract(const Known &a, const Known &b) {
    if (a.same >= 0 && a.same == b.same) {
      // x - x
      FloatClasses finite = (a.all & kFinite) ? kZero : 0;
      FloatClasses other = (a.all & ~kFinite) ? kNaN : 0;
      return Known::of(finite | other);
    }
    return add(a, lift(b, negated));
  }

  static Known multiply(const Known &a, const Known &b) {
    Known result = lift(a, b, multiplied);
    if (a.all == kOne)
      result.same = b.same;
    else if (b.all == kOne)
      result.same = a.same;
    else if (keptByFinite(a) && !(b.all & ~kFinite))
      result.same = a.same;
    else if (keptByFinite(b) && !(a.all & ~kFinite))
      result.same = b.same;
    return result;
  }

  /// Zero and NaN times a finite number are what they were.
  static bool keptByFinite(const Known &known) {
    return !(known.all & ~(kZero | kNaN));
  }

  static Known maximumOf(const Known &a, const Known &b) {
    Known result = lift(a, b, maximum);
    // The maximum with -inf is the other operand, NaN included.
    if (a.all == kNegInf || (a.same >= 0 && a.same == b.same))
      result.same = b.same;
    else if (b.all == kNegInf)
      result.same = a.same;
    return result;
  }

  static Known choose(const Known &condition, const Known &yes,
                      const Known &no) {
    if (condition.all == kTrue)
      return yes;
    if (condition.all == kFalse)
      return no;
    Known result = Known::join(yes, no);
    result.witness = 0;
    if (condition.witness || yes.witness || no.witness) {
      if (condition.atWitness() & kTrue)
        result.witness |= yes.atWitness();
      if (condition.atWitness() & kFalse)
        result.witness |= no.atWitness();
    }
    return result;
  }

  static Known logical(Operation *op, const Known &a, const Known &b) {
    bool conjunction = isa<arith::AndIOp>(op);
    FloatClasses absorbing = conjunction ? kFalse : kTrue;
    if (a.all == absorbing || b.all == absorbing)
      return Known::of(absorbing);
    if (a.all == b.all)
      return Known::of(a.all);
    return Known::of(kTrue | kFalse);
  }

  /// Conversion between float types.
  Known convert(Operation *op) const {
    auto from = cast<FloatType>(
        flashtile::tile::getElementType(op->getOperand(0).getType()));
    auto to = cast<FloatType>(
        flashtile::tile::getElementType(op->getResult(0).getType()));
    bool saturates = to.getWidth() == 8;
    if (to.getWidth() > from.getWidth())
      return lift(operand(op, 0), [](FloatClasses x) { return x; });
    return lift(operand(op, 0),
                [&](FloatClasses x) { return narrowed(x, saturates); });
  }

  /// Reduction along `axis`.
  Known reduce(Operation *op, unsigned axis) const {
    Value source = op->getOperand(0);
    Known known = get(source);
    // Other rows may hold other classes.
    if (alignment.isRow(source, axis))
      return defaultOf(op->getResult(0));
    bool isSum = isa<SumOp>(op);
    Known result = Known::of(isSum ? summed(known.all) : known.all);
    if (known.witness == kNaN)
      result.witness = kNaN;
    // With the last dimension that is not a row's, the witness is the whole.
    bool lastFree = true;
    for (size_t dim = 0; dim < rankOf(source); ++dim)
      lastFree &= dim == axis || alignment.isRow(source, dim);
    if (lastFree && result.witness == kNaN)
      result.all = kNaN;
    return result;
  }

  Known dot(DotOp op) const {
    Known a = get(op.getA()), b = get(op.getB()), c = get(op.getC());
    if (alignment.isRow(op.getA(), 1) || alignment.isRow(op.getB(), 0))
      return defaultOf(op);
    // A masked position contributes nothing, whatever the other factor holds.
    if (a.all == kZero || b.all == kZero)
      return c;
    bool nan = a.all == kNaN || b.all == kNaN || c.all == kNaN;
    // NaN in a row of a reaches the whole row of the result, and so for columns
    // of b.
    nan |= a.witness == kNaN && alignment.isRow(op.getA(), 0);
    nan |= b.witness == kNaN && alignment.isRow(op.getB(), 1);
    return Known::of(nan ? kNaN : kAnyFloat);
  }

  Known evaluate(Operation *op) {
    Value result = op->getResult(0);
    if (isUniformOp(op) && op->getNumOperands() == 0)
      return fromOutside(result);
    if (trueAtWitness && op == trueAtWitness)
      return {kTrue | kFalse, kTrue, -1};
    if (flashtile::tile::getElementType(result.getType()).isInteger() &&
        !isCondition(result))
      return defaultOf(result);
    auto unary = [&](auto evaluate) { return lift(operand(op, 0), evaluate); };
    return llvm::TypeSwitch<Operation *, Known>(op)
        .Case<arith::AddFOp>(
            [&](auto) { return add(operand(op, 0), operand(op, 1)); })
        .Case<arith::SubFOp>(
            [&](auto) { return subtract(operand(op, 0), operand(op, 1)); })
        .Case<arith::MulFOp>(
            [&](auto) { return multiply(operand(op, 0), operand(op, 1)); })
        .Case<arith::DivFOp>([&](auto) {
          Known known = lift(operand(op, 0), operand(op, 1), divided);
          if (operand(op, 1).all == kOne)
            known.same = operand(op, 0).same;
          return known;
        })
        .Case<math::FmaOp>([&](auto) {
          return add(multiply(operand(op, 0), operand(op, 1)), operand(op, 2));
        })
        .Case<arith::NegFOp>([&](auto) { return unary(negated); })
        .Case<arith::MaximumFOp>(
            [&](auto) { return maximumOf(operand(op, 0), operand(op, 1)); })
        .Case<ExpOp, math::ExpOp>([&](auto) {
          return unary([](FloatClasses x) { return exponential(x, false); });
        })
        .Case<Exp2Op, math::Exp2Op>([&](auto) {
          return unary([](FloatClasses x) { return exponential(x, true); });
        })
        .Case<arith::CmpFOp>([&](arith::CmpFOp compare) {
          Known a = operand(op, 0), b = operand(op, 1);
          bool same = a.same >= 0 && a.same == b.same;
          return lift(a, b, [&](FloatClasses x, FloatClasses y) {
            return compared(compare.getPredicate(), x, y, same);
          });
        })
        .Case<arith::SelectOp>([&](auto) {
          return choose(operand(op, 0), operand(op, 1), operand(op, 2));
        })
        .Case<arith::AndIOp, arith::OrIOp>(
            [&](auto) { return logical(op, operand(op, 0), operand(op, 1)); })
        .Default([&](Operation *) { return evaluateTileOp(op); });
  }

  /// Operations that move elements between tiles.
  Known evaluateTileOp(Operation *op) {
    Value result = op->getResult(0);
    return llvm::TypeSwitch<Operation *, Known>(op)
        .Case<CastOp, arith::ExtFOp, arith::TruncFOp>(
            [&](auto) { return convert(op); })
        .Case<SplatOp, ExpandDimsOp, BroadcastOp, TransOp>(
            [&](auto) { return operand(op, 0); })
        .Case([&](ReshapeOp reshape) {
          if (alignment.hasRows(reshape.getOperand()))
            return defaultOf(result);
          return Known::of(operand(op, 0).all);
        })
        .Case([&](LoadOp load) {
          // mask ? *pointer : other
          if (!load.getMask() || get(load.getMask()).all != kFalse ||
              isCondition(result))
            return defaultOf(result);
          return load.getOther() ? get(load.getOther()) : Known::of(kZero);
        })
        .Case([&](MaxOp max) { return reduce(op, max.getAxis()); })
        .Case([&](SumOp sum) { return reduce(op, sum.getAxis()); })
        .Case([&](DotOp product) { return dot(product); })
        .Default([&](Operation *) { return defaultOf(result); });
  }

  scf::ForOp loop;
  const RowAlignment &alignment;
  DenseMap<Value, Known> assumed;
  DenseMap<Value, Known> values;
  /// Null outside of the iteration of an inner loop that meets the witness.
  arith::CmpIOp trueAtWitness;
};

//===----------------------------------------------------------------------===//
// Prover
//===----------------------------------------------------------------------===//

class Prover {
public:
  Prover(scf::ForOp loop, const DenseSet<Value> &falseEverywhere)
      : loop(loop), falseEverywhere(falseEverywhere), alignment(loop) {}

  std::optional<std::string> findEffect() {
    if (alignment.mixesDimensions())
      return "the body lets rows of a tile meet its columns";
    if (std::optional<std::string> effect = findSideEffect())
      return effect;
    if (std::optional<std::string> reason = findRunningMaximum())
      return reason;
    if (!maximumUpdate)
      return findChange({});
    establishInvariants();
    for (FloatClasses row : {kFinite, kNegInf, kPosInf, kNaN})
      if (std::optional<std::string> change = findChange(row))
        return change;
    return std::nullopt;
  }

private:
  /// A write that happens although the conditions are false.
  std::optional<std::string> findSideEffect() {
    Interpreter interpreter = start();
    assumeMasked(interpreter);
    interpreter.run();
    for (Operation &op : loop.getBody()->without_terminator()) {
      Value mask;
      if (auto store = dyn_cast<StoreOp>(op))
        mask = store.getMask();
      else if (auto atomic = dyn_cast<AtomicAddOp>(op))
        mask = atomic.getMask();
      if (mask && interpreter.get(mask).all == kFalse)
        continue;
      std::optional<SmallVector<MemoryEffects::EffectInstance>> effects =
          getEffectsRecursively(&op);
      if (effects && llvm::all_of(*effects, [](const auto &effect) {
            return isa<MemoryEffects::Read>(effect.getEffect());
          }))
        continue;
      return ("'" + op.getName().getStringRef() + "' has an effect there")
          .str();
    }
    return std::nullopt;
  }

  /// Looks for the carried value that is yielded as the maximum of itself and
  /// something.
  std::optional<std::string> findRunningMaximum() {
    for (auto [index, argument] : llvm::enumerate(loop.getRegionIterArgs())) {
      auto update =
          loop.getYieldedValues()[index].getDefiningOp<arith::MaximumFOp>();
      if (!update || update->getBlock() != loop.getBody() ||
          (update.getLhs() != argument && update.getRhs() != argument))
        continue;
      if (maximumUpdate)
        return "the loop carries more than one running maximum";
      maximumUpdate = update;
      maximumArgument = argument;
      observed =
          update.getLhs() == argument ? update.getRhs() : update.getLhs();
    }
    if (maximumUpdate)
      alignment.setRows(maximumArgument);
    return std::nullopt;
  }

  void assumeMasked(Interpreter &interpreter) const {
    for (Value condition : falseEverywhere)
      interpreter.assume(condition, Known::of(kFalse));
  }

  Interpreter start() const { return Interpreter(loop, alignment); }

  /// What holds of the carried values at entry of an iteration in a row whose
  /// maximum has a class in `row`.
  void assumeEntry(Interpreter &interpreter, FloatClasses row) {
    interpreter.assume(maximumArgument, Known::of(row));
    if (row == kNegInf)
      for (auto [index, classes] : atStart)
        interpreter.assume(loop.getRegionIterArg(index), Known::of(classes));
    if (row == kPosInf || row == kNaN)
      for (unsigned index : nanAfterNaN)
        interpreter.assume(loop.getRegionIterArg(index), Known::of(kNaN));
  }

  /// Keeps the carried values that are NaN after an iteration.
  void keepIfNaN(Interpreter &interpreter) {
    interpreter.run();
    for (unsigned index : llvm::to_vector(nanAfterNaN))
      if (interpreter.get(loop.getYieldedValues()[index]).all != kNaN) {
        nanAfterNaN.erase(index);
        changed = true;
      }
  }

  /// Lets carried values be what they are after an iteration that sees nothing:
  /// zero still, or perhaps NaN, which a score of -inf leaves where it meets
  /// values that are not finite. Others are forgotten.
  void widenStart(Interpreter &interpreter) {
    interpreter.run();
    for (auto [index, classes] : llvm::to_vector(atStart)) {
      FloatClasses after = interpreter.get(loop.getYieldedValues()[index]).all;
      if (!(after & ~classes))
        continue;
      changed = true;
      if (after & ~(kZero | kNaN))
        atStart.erase(index);
      else
        atStart[index] = kZero | kNaN;
    }
  }

  /// The tiles whose largest element in a row is what the row observes: the
  /// operand of the reduction, or, where the maximum is scaled afterwards, its
  /// products with the same positive factor (the product of the largest element
  /// is the largest product, rounded alike).
  SmallVector<Value> findObservedTiles() {
    if (auto reduction = observed.getDefiningOp<MaxOp>())
      return {reduction.getOperand()};
    std::optional<ScaledValue> scaled = ScaledValue::of(observed);
    if (!scaled || !scaled->factor.isPositiveNormal())
      return {};
    auto reduction = scaled->value.getDefiningOp<MaxOp>();
    if (!reduction)
      return {};
    SmallVector<Value> tiles;
    for (Operation *user : reduction.getOperand().getUsers()) {
      if (user->getBlock() != loop.getBody() || !isa<arith::MulFOp>(user))
        continue;
      std::optional<ScaledValue> product = ScaledValue::of(user->getResult(0));
      if (product && product->value == reduction.getOperand() &&
          product->factor == scaled->factor)
        tiles.push_back(user->getResult(0));
    }
    return tiles;
  }

  /// Assumes that the row's maximum becomes -inf: then so was the old one, and
  /// every score seen.
  void assumeNothingSeen(Interpreter &interpreter) {
    interpreter.assume(maximumUpdate.getResult(), Known::of(kNegInf));
    interpreter.assume(observed, Known::of(kNegInf));
    for (Value tile : findObservedTiles())
      interpreter.assume(tile, Known::of(kNegInf));
  }

  /// Assumes that the row's maximum becomes +inf by what this iteration sees.
  void assumeInfinitySeen(Interpreter &interpreter) {
    FloatClasses before = kAnyFloat & ~(kNaN | kPosInf);
    interpreter.assume(maximumArgument, Known::of(before));
    interpreter.assume(maximumUpdate.getResult(), Known::of(kPosInf));
    interpreter.assume(observed, Known::of(kPosInf));
    for (Value tile : findObservedTiles())
      interpreter.assume(tile, Known{kAnyFloat, kPosInf, -1});
  }

  /// Finds the carried values that are zero, or zero or NaN, wherever the
  /// maximum is -inf, and those that are NaN wherever it is +inf or NaN: the
  /// most that holds initially and that an iteration under any mask keeps.
  void establishInvariants() {
    unsigned maximumIndex = maximumArgument.getArgNumber() - 1;
    FloatClasses first =
        Interpreter::fromOutside(loop.getInitArgs()[maximumIndex]).all;
    for (auto [index, init] : llvm::enumerate(loop.getInitArgs())) {
      if (index == maximumIndex ||
          !isa<FloatType>(flashtile::tile::getElementType(init.getType())))
        continue;
      FloatClasses known = Interpreter::fromOutside(init).all;
      if (!(first & kNegInf) || known == kZero)
        atStart[index] = kZero;
      if (!(first & (kPosInf | kNaN)) || known == kNaN)
        nanAfterNaN.insert(index);
    }
    do {
      changed = false;
      Interpreter nothing = start();
      assumeEntry(nothing, kNegInf);
      assumeNothingSeen(nothing);
      widenStart(nothing);

      Interpreter nan = start();
      nan.assume(maximumUpdate.getResult(), Known::of(kNaN));
      keepIfNaN(nan);

      Interpreter stillInfinite = start();
      assumeEntry(stillInfinite, kPosInf);
      stillInfinite.assume(maximumUpdate.getResult(), Known::of(kPosInf));
      keepIfNaN(stillInfinite);

      Interpreter nowInfinite = start();
      assumeInfinitySeen(nowInfinite);
      keepIfNaN(nowInfinite);
    } while (changed);
  }

  static StringRef describe(FloatClasses row) {
    switch (row) {
    case kNegInf:
      return " in rows that have seen no score (running maximum -inf)";
    case kPosInf:
      return " in rows whose running maximum is +inf";
    case kNaN:
      return " in rows whose running maximum is NaN";
    default:
      return "";
    }
  }

  /// A carried value that an iteration may change, in rows whose maximum is of
  /// the class `row`, or in a loop without one.
  std::optional<std::string> findChange(std::optional<FloatClasses> row) {
    Interpreter interpreter = start();
    if (row)
      assumeEntry(interpreter, *row);
    assumeMasked(interpreter);
    interpreter.run();
    for (auto [index, yielded] : llvm::enumerate(loop.getYieldedValues())) {
      BlockArgument argument = loop.getRegionIterArg(index);
      Known before = interpreter.get(argument),
            after = interpreter.get(yielded);
      bool equalClass =
          isa<FloatType>(flashtile::tile::getElementType(argument.getType())) &&
          before.all == after.all && isOneValue(after.all);
      if (yielded != argument && after.same != int(index) && !equalClass)
        return ("carried value " + Twine(index) + " may change" +
                (row ? describe(*row) : ""))
            .str();
    }
    return std::nullopt;
  }

  scf::ForOp loop;
  const DenseSet<Value> &falseEverywhere;
  RowAlignment alignment;
  arith::MaximumFOp maximumUpdate;
  BlockArgument maximumArgument;
  Value observed;
  /// Classes of carried values where the maximum is -inf.
  DenseMap<unsigned, FloatClasses> atStart;
  DenseSet<unsigned> nanAfterNaN;
  bool changed = false;
};

} // namespace

std::optional<std::string>
flashtile::tile::findEffectOfIteration(scf::ForOp loop,
                                       const DenseSet<Value> &falseEverywhere) {
  return Prover(loop, falseEverywhere).findEffect();
}
