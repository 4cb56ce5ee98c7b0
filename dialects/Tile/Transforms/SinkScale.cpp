//===- SinkScale.cpp - Maxima before a positive scale ---------------------===//
//
// Part of FlashTile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//   %scaled = arith.mulf %scores, %c
//   %masked = arith.select %mask, %scaled, %minus_infinity
//   %seen = tile.max %masked axis 1
//   %new = arith.maximumf %old, %seen           // carried
//
// becomes
//
//   %masked = arith.select %mask, %scores, %minus_infinity
//   %seen = tile.max %masked axis 1
//   %new = arith.maximumf %old, %seen           // carried, unscaled
//
// with `%masked * %c`, `%new * %c` and `%old * %c` for the other readers. The
// guard against an empty row stays a comparison of the scaled maximum, so that
// scores whose product overflows to -inf are treated as before.
//
//===----------------------------------------------------------------------===//

#include "dialects/Tile/Transforms/Passes.h"
#include "dialects/Tile/Transforms/Remark.h"
#include "dialects/Tile/Transforms/UniformFactor.h"

#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Transforms/GreedyPatternRewriteDriver.h"

namespace flashtile::tile {
#define GEN_PASS_DEF_SINKSCALEPASS
#include "dialects/Tile/Transforms/Passes.h.inc"
} // namespace flashtile::tile

using namespace mlir;
using namespace flashtile::tile;

/// `value` as a product with a factor that keeps the order.
static std::optional<ScaledValue> matchPositive(Value value) {
  std::optional<ScaledValue> scaled = ScaledValue::of(value);
  if (!scaled || !scaled->factor.isPositiveNormal())
    return std::nullopt;
  return scaled;
}

static bool isNegativeInfinity(Value value) {
  std::optional<APFloat> constant = getConstantFloat(value);
  return constant && constant->isInfinity() && constant->isNegative();
}

/// value * factor
static Value multiply(OpBuilder &builder, Location loc, Value value,
                      const UniformFactor &factor) {
  Value tile = factor.materialize(builder, loc, value.getType());
  return arith::MulFOp::create(builder, loc, value, tile);
}

namespace {

/// select(mask, s * c, -inf) -> select(mask, s, -inf) * c
struct SinkPastMask : OpRewritePattern<arith::SelectOp> {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(arith::SelectOp op,
                                PatternRewriter &rewriter) const override {
    bool masksFalse = isNegativeInfinity(op.getFalseValue());
    if (!masksFalse && !isNegativeInfinity(op.getTrueValue()))
      return rewriter.notifyMatchFailure(op, "does not mask with -inf");
    Value kept = masksFalse ? op.getTrueValue() : op.getFalseValue();
    std::optional<ScaledValue> scaled = matchPositive(kept);
    if (!scaled)
      return rewriter.notifyMatchFailure(op, "no positive factor");
    if (!kept.hasOneUse())
      return rewriter.notifyMatchFailure(op, "the product is needed as well");
    Value yes = masksFalse ? scaled->value : op.getTrueValue();
    Value no = masksFalse ? op.getFalseValue() : scaled->value;
    Value masked = arith::SelectOp::create(rewriter, op.getLoc(),
                                           op.getCondition(), yes, no);
    rewriter.replaceOp(op,
                       multiply(rewriter, op.getLoc(), masked, scaled->factor));
    return success();
  }
};

/// max(s * c) -> max(s) * c
struct SinkPastReduction : OpRewritePattern<MaxOp> {
  SinkPastReduction(MLIRContext *context, unsigned &count)
      : OpRewritePattern(context), count(count) {}

  LogicalResult matchAndRewrite(MaxOp op,
                                PatternRewriter &rewriter) const override {
    std::optional<ScaledValue> scaled = matchPositive(op.getOperand());
    if (!scaled)
      return rewriter.notifyMatchFailure(op, "no positive factor");
    Value max = MaxOp::create(rewriter, op.getLoc(), op.getType(),
                              scaled->value, op.getAxis());
    rewriter.replaceOp(op,
                       multiply(rewriter, op.getLoc(), max, scaled->factor));
    ++count;
    return success();
  }

  unsigned &count;
};

/// maximum(a * c, b * c) -> maximum(a, b) * c
struct SinkPastMaximum : OpRewritePattern<arith::MaximumFOp> {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(arith::MaximumFOp op,
                                PatternRewriter &rewriter) const override {
    std::optional<ScaledValue> lhs = matchPositive(op.getLhs());
    std::optional<ScaledValue> rhs = matchPositive(op.getRhs());
    if (!lhs || !rhs || !(lhs->factor == rhs->factor))
      return rewriter.notifyMatchFailure(op, "no common positive factor");
    Value max = arith::MaximumFOp::create(rewriter, op.getLoc(), lhs->value,
                                          rhs->value);
    rewriter.replaceOp(op, multiply(rewriter, op.getLoc(), max, lhs->factor));
    return success();
  }
};

/// Carries the running maximum `index` of `loop` unscaled.
class RunningMaximum {
public:
  RunningMaximum(scf::ForOp loop, unsigned index, StringRef pass)
      : loop(loop), index(index), pass(pass) {}

  bool run() {
    BlockArgument old = loop.getRegionIterArg(index);
    auto update =
        loop.getYieldedValues()[index].getDefiningOp<arith::MaximumFOp>();
    if (!update || update->getBlock() != loop.getBody() ||
        (update.getLhs() != old && update.getRhs() != old))
      return false;
    Value seen = update.getLhs() == old ? update.getRhs() : update.getLhs();
    std::optional<ScaledValue> scaled = matchPositive(seen);
    if (!scaled || !isInvariant(scaled->factor))
      return false;
    Value init = unscaledInit(scaled->factor);
    if (!init) {
      remarkMissed(loop, pass, "InitialMaximum",
                   "running maximum stays scaled: its initial value is neither "
                   "-inf nor a product with the same factor");
      return false;
    }
    rewrite(old, update, *scaled, init);
    return true;
  }

private:
  bool isInvariant(const UniformFactor &factor) {
    return factor.getConstant() ||
           loop.isDefinedOutsideOfLoop(factor.getScalar());
  }

  /// The initial value divided by the factor, exactly; null where it is not
  /// known.
  Value unscaledInit(const UniformFactor &factor) {
    Value init = loop.getInitArgs()[index];
    if (isNegativeInfinity(init))
      return init;
    std::optional<ScaledValue> scaled = ScaledValue::of(init);
    return scaled && scaled->factor == factor ? scaled->value : Value();
  }

  void rewrite(BlockArgument old, arith::MaximumFOp update,
               const ScaledValue &scaled, Value init) {
    OpBuilder builder(update);
    Value unscaled =
        arith::MaximumFOp::create(builder, update.getLoc(), old, scaled.value);
    update.replaceAllUsesWith(
        multiply(builder, update.getLoc(), unscaled, scaled.factor));
    update.erase();
    loop.getBody()->getTerminator()->setOperand(index, unscaled);
    loop.getInitArgsMutable()[index].assign(init);

    builder.setInsertionPointToStart(loop.getBody());
    replaceReaders(builder, old, scaled.factor, unscaled.getDefiningOp());
    builder.setInsertionPointAfter(loop);
    replaceReaders(builder, loop.getResult(index), scaled.factor, nullptr);
  }

  /// Gives readers of `value`, but for `except`, the product.
  void replaceReaders(OpBuilder &builder, Value value,
                      const UniformFactor &factor, Operation *except) {
    if (llvm::all_of(value.getUsers(),
                     [&](Operation *user) { return user == except; }))
      return;
    Value product = multiply(builder, loop.getLoc(), value, factor);
    value.replaceUsesWithIf(product, [&](OpOperand &use) {
      return use.getOwner() != except &&
             use.getOwner() != product.getDefiningOp();
    });
  }

  scf::ForOp loop;
  unsigned index;
  StringRef pass;
};

struct SinkScale : flashtile::tile::impl::SinkScalePassBase<SinkScale> {
  using SinkScalePassBase::SinkScalePassBase;

protected:
  void runOnOperation() override {
    unsigned maxima = 0;
    RewritePatternSet patterns(&getContext());
    patterns.add<SinkPastMask, SinkPastMaximum>(&getContext());
    patterns.add<SinkPastReduction>(&getContext(), maxima);
    if (failed(applyPatternsGreedily(getOperation(), std::move(patterns))))
      return signalPassFailure();
    numMaxima += maxima;
    // In program order: a loop may start from the maximum of the one before.
    SmallVector<scf::ForOp> loops;
    getOperation().walk<WalkOrder::PreOrder>(
        [&](scf::ForOp loop) { loops.push_back(loop); });
    for (scf::ForOp loop : loops)
      for (unsigned index = 0; index < loop.getNumRegionIterArgs(); ++index)
        numRecurrences += RunningMaximum(loop, index, getArgument()).run();
    explain();
  }

  /// Tells where the sign of a factor is what is missing, once for a place in
  /// the source even if its loop was split.
  void explain() {
    DenseSet<Location> told;
    getOperation().walk([&](MaxOp op) {
      Value operand = op.getOperand();
      if (auto select = operand.getDefiningOp<arith::SelectOp>())
        operand = isNegativeInfinity(select.getFalseValue())
                      ? select.getTrueValue()
                      : select.getFalseValue();
      std::optional<ScaledValue> scaled = ScaledValue::of(operand);
      if (scaled && !scaled->factor.isPositiveNormal() &&
          told.insert(op.getLoc()).second)
        remarkMissed(op, getArgument(), "SignUnknown",
                     "maximum stays after the scale, which is not known to be "
                     "positive; 'tile.assume' with a positive 'min' says so");
    });
  }
};

} // namespace
