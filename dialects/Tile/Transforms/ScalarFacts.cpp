//===- ScalarFacts.cpp - What is known of a scalar ------------------------===//
//
// Part of FlashTile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Walks up the definitions of a value; depth is bounded, since values of one
// block may share operands exponentially often.
//
//===----------------------------------------------------------------------===//

#include "dialects/Tile/Transforms/ScalarFacts.h"

#include "dialects/Tile/IR/TileDialect.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/Matchers.h"

using namespace mlir;

namespace flashtile::tile {

/// Definitions followed from the value asked about.
static constexpr unsigned kMaxDepth = 8;

std::optional<APFloat> getConstantFloat(Value value) {
  APFloat constant(0.0f);
  if (matchPattern(value, m_ConstantFloat(&constant)))
    return constant;
  if (auto splat = value.getDefiningOp<SplatOp>())
    return getConstantFloat(splat.getValue());
  return std::nullopt;
}

std::optional<int64_t> getConstantInt(Value value) {
  APInt constant;
  if (matchPattern(value, m_ConstantInt(&constant)) &&
      constant.getBitWidth() <= 64)
    return constant.getSExtValue();
  if (auto splat = value.getDefiningOp<SplatOp>())
    return getConstantInt(splat.getValue());
  return std::nullopt;
}

/// `value >= bound` with neither NaN nor a subnormal number among its values.
static bool isAtLeast(Value value, const APFloat &bound, unsigned depth) {
  auto reaches = [&](const APFloat &known) {
    return !known.isNaN() && !known.isDenormal() && known >= bound;
  };
  if (std::optional<APFloat> constant = getConstantFloat(value))
    return reaches(*constant);
  if (depth == kMaxDepth)
    return false;
  if (auto splat = value.getDefiningOp<SplatOp>())
    return isAtLeast(splat.getValue(), bound, depth + 1);
  if (auto assume = value.getDefiningOp<AssumeOp>()) {
    auto minimum = dyn_cast_or_null<FloatAttr>(assume.getMinAttr());
    return (minimum && reaches(minimum.getValue())) ||
           isAtLeast(assume.getValue(), bound, depth + 1);
  }
  // A factor of at least 1 cannot make the other smaller.
  if (auto product = value.getDefiningOp<arith::MulFOp>()) {
    APFloat one(bound.getSemantics(), 1);
    Value lhs = product.getLhs(), rhs = product.getRhs();
    return (isAtLeast(lhs, bound, depth + 1) &&
            isAtLeast(rhs, one, depth + 1)) ||
           (isAtLeast(rhs, bound, depth + 1) && isAtLeast(lhs, one, depth + 1));
  }
  return false;
}

bool isPositiveNormal(Value value) {
  auto type =
      dyn_cast<FloatType>(flashtile::tile::getElementType(value.getType()));
  if (!type)
    return false;
  const llvm::fltSemantics &semantics = type.getFloatSemantics();
  return isAtLeast(value, APFloat::getSmallestNormalized(semantics), 0);
}

static bool isNonNegative(Value value, unsigned depth) {
  if (std::optional<int64_t> constant = getConstantInt(value))
    return *constant >= 0;
  Operation *op = value.getDefiningOp();
  if (!op || depth == kMaxDepth)
    return false;
  if (isa<ProgramIdOp, NumProgramsOp>(op))
    return true;
  auto operand = [&](unsigned index) {
    return isNonNegative(op->getOperand(index), depth + 1);
  };
  if (auto assume = dyn_cast<AssumeOp>(op)) {
    auto minimum = dyn_cast_or_null<IntegerAttr>(assume.getMinAttr());
    return (minimum && !minimum.getValue().isNegative()) || operand(0);
  }
  if (isa<arith::MaxSIOp>(op))
    return operand(0) || operand(1);
  // Index arithmetic does not overflow (see tile-split-loops).
  if (isa<arith::AddIOp, arith::MulIOp, arith::DivSIOp, arith::MinSIOp>(op))
    return operand(0) && operand(1);
  if (isa<arith::ExtUIOp>(op))
    return true;
  if (isa<arith::RemSIOp, arith::ExtSIOp, arith::IndexCastOp>(op))
    return operand(0);
  return false;
}

bool isNonNegative(Value value) { return isNonNegative(value, 0); }

/// Whether `value` is x / d * d for an `x` that is not negative, and so is not
/// larger.
static bool isRoundedDown(Value value, Value x) {
  auto product = value.getDefiningOp<arith::MulIOp>();
  auto quotient =
      product ? product.getLhs().getDefiningOp<arith::DivSIOp>() : nullptr;
  return quotient && quotient.getLhs() == x &&
         quotient.getRhs() == product.getRhs() && isNonNegative(x) &&
         isNonNegative(quotient.getRhs());
}

static bool isMultipleOf(Value value, int64_t divisor, unsigned depth) {
  if (divisor == 1)
    return true;
  if (std::optional<int64_t> constant = getConstantInt(value))
    return *constant % divisor == 0;
  if (auto argument = dyn_cast<BlockArgument>(value)) {
    auto loop = dyn_cast<scf::ForOp>(argument.getOwner()->getParentOp());
    return loop && argument == loop.getInductionVar() && depth < kMaxDepth &&
           isMultipleOf(loop.getStep(), divisor, depth + 1) &&
           isMultipleOf(loop.getLowerBound(), divisor, depth + 1);
  }
  Operation *op = value.getDefiningOp();
  if (!op || depth == kMaxDepth)
    return false;
  auto operand = [&](unsigned index) {
    return isMultipleOf(op->getOperand(index), divisor, depth + 1);
  };
  if (auto assume = dyn_cast<AssumeOp>(op)) {
    std::optional<int64_t> known = assume.getDivisibleBy();
    return (known && *known % divisor == 0) || operand(0);
  }
  if (isa<arith::MulIOp>(op))
    return operand(0) || operand(1);
  if (isa<arith::MinSIOp>(op))
    for (unsigned side : {0, 1})
      if (isRoundedDown(op->getOperand(side), op->getOperand(1 - side)))
        return operand(side);
  if (isa<arith::AddIOp, arith::SubIOp, arith::MaxSIOp, arith::MinSIOp>(op))
    return operand(0) && operand(1);
  // The bits that are cut off are multiples of all smaller powers of two.
  if (isa<arith::TruncIOp>(op))
    return llvm::isPowerOf2_64(divisor) && operand(0);
  return isa<arith::ExtSIOp, arith::IndexCastOp>(op) && operand(0);
}

bool isMultipleOf(Value value, int64_t divisor) {
  return isMultipleOf(value, divisor, 0);
}

} // namespace flashtile::tile
