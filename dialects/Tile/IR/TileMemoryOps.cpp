//===- TileMemoryOps.cpp - Pointers, loads, stores ------------------------===//
//
// Part of FlashTile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Verification and canonicalisation of the operations that reach memory.
//
//===----------------------------------------------------------------------===//

#include "dialects/Tile/IR/TileDialect.h"

#include "mlir/IR/Matchers.h"
#include "mlir/IR/PatternMatch.h"

using namespace mlir;
using namespace flashtile::tile;

/// Type of what a load through `pointer` gives.
static Type accessedType(Type pointer) {
  if (auto block = dyn_cast<BlockPtrType>(pointer))
    return block.getTileType();
  return withElementType(
      pointer, cast<PtrType>(getElementType(pointer)).getPointeeType());
}

//===----------------------------------------------------------------------===//
// Block pointers
//===----------------------------------------------------------------------===//

LogicalResult MakeBlockPtrOp::verify() {
  auto type = getResult().getType();
  int64_t rank = type.getRank();
  if (int64_t(getShape().size()) != rank)
    return emitOpError("expected ")
           << rank << " extents, strides and offsets for " << type
           << ", but got " << getShape().size();
  if (getBase().getType().getPointeeType() != type.getElementType())
    return emitOpError("expected 'base' to point to ")
           << type.getElementType() << ", but got " << getBase().getType();
  if (std::optional<ArrayRef<int32_t>> order = getOrder()) {
    if (!isPermutation(*order, rank))
      return emitOpError("expected 'order' to be a permutation of the ")
             << rank << " dimensions, but got [" << *order << "]";
  }
  return success();
}

LogicalResult AdvanceOp::verify() {
  int64_t rank = getPointer().getType().getRank();
  if (int64_t(getOffsets().size()) != rank)
    return emitOpError("expected ")
           << rank << " offsets for " << getPointer().getType() << ", but got "
           << getOffsets().size();
  return success();
}

OpFoldResult AdvanceOp::fold(FoldAdaptor adaptor) {
  // advance(p, [0, 0]) -> p
  if (llvm::all_of(adaptor.getOffsets(), [](Attribute offset) {
        auto value = dyn_cast_or_null<IntegerAttr>(offset);
        return value && value.getValue().isZero();
      }))
    return getPointer();
  return {};
}

namespace {
/// advance(make_block_ptr(..., offsets), d) -> make_block_ptr(..., offsets + d)
struct FoldAdvanceIntoMake : OpRewritePattern<AdvanceOp> {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(AdvanceOp op,
                                PatternRewriter &rewriter) const override {
    auto make = op.getPointer().getDefiningOp<MakeBlockPtrOp>();
    if (!make)
      return rewriter.notifyMatchFailure(op, "window is not made here");
    SmallVector<Value> offsets;
    for (auto [base, step] : llvm::zip(make.getOffsets(), op.getOffsets()))
      offsets.push_back(
          arith::AddIOp::create(rewriter, op.getLoc(), base, step));
    rewriter.replaceOpWithNewOp<MakeBlockPtrOp>(
        op, op.getType(), make.getBase(), make.getShape(), make.getStrides(),
        offsets, make.getOrderAttr());
    return success();
  }
};
} // namespace

void AdvanceOp::getCanonicalizationPatterns(RewritePatternSet &patterns,
                                            MLIRContext *context) {
  patterns.add<FoldAdvanceIntoMake>(context);
}

//===----------------------------------------------------------------------===//
// AddPtrOp
//===----------------------------------------------------------------------===//

LogicalResult AddPtrOp::verify() {
  auto pointer = dyn_cast<RankedTensorType>(getPointer().getType());
  auto offset = dyn_cast<RankedTensorType>(getOffset().getType());
  if (bool(pointer) != bool(offset) ||
      (pointer && pointer.getShape() != offset.getShape()))
    return emitOpError("expected 'offset' to have the shape of 'pointer' ")
           << getPointer().getType() << ", but got " << getOffset().getType();
  return success();
}

OpFoldResult AddPtrOp::fold(FoldAdaptor adaptor) {
  if (matchPattern(adaptor.getOffset(), m_Zero()))
    return getPointer();
  return {};
}

//===----------------------------------------------------------------------===//
// Loads, stores, atomics
//===----------------------------------------------------------------------===//

/// Shared checks on `mask`, `in_bounds` and the type of what is accessed.
static LogicalResult verifyAccess(Operation *op, Type pointer, Type value,
                                  StringRef valueName, Value mask,
                                  std::optional<ArrayRef<bool>> inBounds) {
  Type accessed = accessedType(pointer);
  if (value != accessed)
    return op->emitOpError("expected ")
           << valueName << " of type " << accessed << ", but got " << value;
  auto block = dyn_cast<BlockPtrType>(pointer);
  if (mask) {
    if (block)
      return op->emitOpError("expected no 'mask' with a block pointer: its "
                             "bounds are the mask");
    Type maskType =
        withElementType(accessed, IntegerType::get(op->getContext(), 1));
    if (mask.getType() != maskType)
      return op->emitOpError("expected 'mask' of type ")
             << maskType << ", but got " << mask.getType();
  }
  if (inBounds) {
    if (!block)
      return op->emitOpError("expected 'in_bounds' only with a block pointer");
    if (int64_t(inBounds->size()) != block.getRank())
      return op->emitOpError("expected ")
             << block.getRank() << " values of 'in_bounds', but got "
             << inBounds->size();
  }
  return success();
}

LogicalResult LoadOp::inferReturnTypes(MLIRContext *,
                                       std::optional<Location> location,
                                       ValueRange operands, DictionaryAttr,
                                       OpaqueProperties, RegionRange,
                                       SmallVectorImpl<Type> &inferred) {
  Type pointer = operands.front().getType();
  if (!isa<BlockPtrType>(pointer) && !isa<PtrType>(getElementType(pointer)))
    return emitOptionalError(location, "expected a pointer, but got ", pointer);
  inferred.push_back(accessedType(pointer));
  return success();
}

// verify() compares the types; MLIR's check would report them a second time.
LogicalResult LoadOp::refineReturnTypes(MLIRContext *, std::optional<Location>,
                                        ValueRange, DictionaryAttr,
                                        OpaqueProperties, RegionRange,
                                        SmallVectorImpl<Type> &) {
  return success();
}

LogicalResult LoadOp::verify() {
  Type pointer = getPointer().getType();
  if (failed(verifyAccess(*this, pointer, getType(), "result", getMask(),
                          getInBounds())))
    return failure();
  bool block = isa<BlockPtrType>(pointer);
  if (getOther()) {
    if (block)
      return emitOpError("expected no 'other' with a block pointer: use "
                         "'padding'");
    if (!getMask())
      return emitOpError("expected a 'mask' beside 'other'");
    if (getOther().getType() != getType())
      return emitOpError("expected 'other' of type ")
             << getType() << ", but got " << getOther().getType();
  }
  Padding padding = getPadding();
  if (padding == Padding::Zero)
    return success();
  if (!block)
    return emitOpError("expected 'padding' only with a block pointer: use "
                       "'other'");
  Type element = flashtile::tile::getElementType(getType());
  auto floatType = dyn_cast<FloatType>(element);
  if (!floatType)
    return emitOpError("expected padding zero for elements of type ")
           << element << ", but got " << stringifyPadding(padding);
  const llvm::fltSemantics &semantics = floatType.getFloatSemantics();
  if (padding == Padding::NegInf && !llvm::APFloat::semanticsHasInf(semantics))
    return emitOpError("expected padding zero or nan for elements of type ")
           << element << ", which has no infinity, but got neg_inf";
  return success();
}

namespace {
/// load mask(all false) -> other; load mask(all true) -> load
struct FoldConstantLoadMask : OpRewritePattern<LoadOp> {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(LoadOp op,
                                PatternRewriter &rewriter) const override {
    if (!op.getMask())
      return rewriter.notifyMatchFailure(op, "no mask");
    if (matchPattern(op.getMask(), m_One())) {
      rewriter.replaceOpWithNewOp<LoadOp>(op, op.getPointer());
      return success();
    }
    if (!matchPattern(op.getMask(), m_Zero()))
      return rewriter.notifyMatchFailure(op, "mask is no constant");
    if (op.getOther())
      rewriter.replaceOp(op, op.getOther());
    else
      rewriter.replaceOpWithNewOp<arith::ConstantOp>(
          op, rewriter.getZeroAttr(op.getType()));
    return success();
  }
};

/// store mask(all false) -> nothing; store mask(all true) -> store
struct FoldConstantStoreMask : OpRewritePattern<StoreOp> {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(StoreOp op,
                                PatternRewriter &rewriter) const override {
    if (!op.getMask())
      return rewriter.notifyMatchFailure(op, "no mask");
    if (matchPattern(op.getMask(), m_One())) {
      rewriter.replaceOpWithNewOp<StoreOp>(op, op.getPointer(), op.getValue());
      return success();
    }
    if (!matchPattern(op.getMask(), m_Zero()))
      return rewriter.notifyMatchFailure(op, "mask is no constant");
    rewriter.eraseOp(op);
    return success();
  }
};
} // namespace

void LoadOp::getCanonicalizationPatterns(RewritePatternSet &patterns,
                                         MLIRContext *context) {
  patterns.add<FoldConstantLoadMask>(context);
}

LogicalResult StoreOp::verify() {
  return verifyAccess(*this, getPointer().getType(), getValue().getType(),
                      "'value'", getMask(), getInBounds());
}

void StoreOp::getCanonicalizationPatterns(RewritePatternSet &patterns,
                                          MLIRContext *context) {
  patterns.add<FoldConstantStoreMask>(context);
}

LogicalResult AtomicAddOp::verify() {
  if (failed(verifyAccess(*this, getPointer().getType(), getValue().getType(),
                          "'value'", getMask(), std::nullopt)))
    return failure();
  if (getType() != getValue().getType())
    return emitOpError("expected result of type ")
           << getValue().getType() << ", but got " << getType();
  return success();
}
