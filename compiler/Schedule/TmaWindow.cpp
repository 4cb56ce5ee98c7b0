//===- TmaWindow.cpp - Windows as TMA sees them ---------------------------===//
//
// Part of FlashTile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "compiler/Schedule/TmaWindow.h"

#include "dialects/Tile/Transforms/ScalarFacts.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/AffineMap.h"
#include "mlir/IR/Builders.h"

#include <limits>

using namespace mlir;
using namespace flashtile;
using namespace flashtile::gpu;
using namespace flashtile::tile;

namespace {
class WindowReader {
public:
  WindowReader(KernelOp kernel, std::string &whyNot)
      : kernel(kernel), whyNot(whyNot) {}

  std::optional<TmaWindow> read(Value pointer);

private:
  std::nullopt_t refuse(const Twine &reason) {
    whyNot = reason.str();
    return std::nullopt;
  }
  /// `value` as an expression of the kernel's integer arguments.
  std::optional<AffineExpr> expression(Value value);
  Attribute attribute(AffineExpr expression);
  std::optional<BlockArgument> readBase(Value base);
  bool readTerm(Value offset);
  bool readScaled(Value index, AffineExpr stride);

  KernelOp kernel;
  std::string &whyNot;
  TmaWindow window;
  AffineExpr constantOffset;
};
} // namespace

std::optional<AffineExpr> WindowReader::expression(Value value) {
  MLIRContext *context = kernel.getContext();
  if (std::optional<int64_t> constant = getConstantInt(value))
    return getAffineConstantExpr(*constant, context);
  if (auto argument = dyn_cast<BlockArgument>(value)) {
    if (argument.getOwner()->getParentOp() != kernel ||
        !isa<IntegerType>(argument.getType()))
      return std::nullopt;
    unsigned position = 0;
    for (Type type :
         kernel.getArgumentTypes().take_front(argument.getArgNumber()))
      position += isa<IntegerType>(type);
    return getAffineSymbolExpr(position, context);
  }
  Operation *op = value.getDefiningOp();
  if (isa<arith::ExtSIOp, arith::IndexCastOp, AssumeOp>(op))
    return expression(op->getOperand(0));
  if (!isa<arith::AddIOp, arith::SubIOp, arith::MulIOp>(op))
    return std::nullopt;
  std::optional<AffineExpr> lhs = expression(op->getOperand(0));
  std::optional<AffineExpr> rhs = expression(op->getOperand(1));
  if (!lhs || !rhs)
    return std::nullopt;
  if (isa<arith::AddIOp>(op))
    return *lhs + *rhs;
  return isa<arith::SubIOp>(op) ? *lhs - *rhs : *lhs * *rhs;
}

Attribute WindowReader::attribute(AffineExpr expression) {
  Builder builder(kernel.getContext());
  if (auto constant = dyn_cast<AffineConstantExpr>(expression))
    return builder.getI64IntegerAttr(constant.getValue());
  unsigned count = llvm::count_if(kernel.getArgumentTypes(), [](Type type) {
    return isa<IntegerType>(type);
  });
  return AffineMapAttr::get(AffineMap::get(0, count, expression));
}

/// `value` is x - x / y * y, the remainder of x.
static Value dividendOf(arith::SubIOp value) {
  auto product = value.getRhs().getDefiningOp<arith::MulIOp>();
  if (!product)
    return {};
  for (unsigned side : {0u, 1u}) {
    auto quotient = product->getOperand(side).getDefiningOp<arith::DivSIOp>();
    if (quotient && quotient.getLhs() == value.getLhs() &&
        quotient.getRhs() == product->getOperand(1 - side))
      return value.getLhs();
  }
  return {};
}

/// A number or a position of programs that a block which takes one after the
/// other is told of the next.
static bool isToldOfPrograms(Value value) {
  auto argument = dyn_cast<BlockArgument>(value);
  if (!argument)
    return false;
  auto loop = dyn_cast<scf::WhileOp>(argument.getOwner()->getParentOp());
  return loop && loop->hasAttr(tilegpu::TileGPUDialect::kProgramsAttr) &&
         loop.getYieldOp()
             .getOperand(argument.getArgNumber())
             .getDefiningOp<tilegpu::ReadWordOp>();
}

/// Whether an index of programs is at least 0: their numbers are, and so are
/// quotients by arguments, which count things, remainders, and what loops count
/// from there on.
static bool countsPrograms(Value value) {
  if (isNonNegative(value) || isToldOfPrograms(value))
    return true;
  if (auto argument = dyn_cast<BlockArgument>(value)) {
    auto loop = dyn_cast<scf::ForOp>(argument.getOwner()->getParentOp());
    return loop && argument == loop.getInductionVar() &&
           countsPrograms(loop.getLowerBound());
  }
  Operation *op = value.getDefiningOp();
  if (auto difference = dyn_cast_or_null<arith::SubIOp>(op))
    if (Value dividend = dividendOf(difference))
      return countsPrograms(dividend);
  if (op && isa<arith::ExtSIOp, arith::DivSIOp, arith::RemSIOp>(op))
    return countsPrograms(op->getOperand(0));
  return op && isa<arith::AddIOp, arith::MulIOp>(op) &&
         countsPrograms(op->getOperand(0)) && countsPrograms(op->getOperand(1));
}

/// One term of the base pointer: a constant distance, or one more dimension.
bool WindowReader::readTerm(Value offset) {
  if (std::optional<AffineExpr> constant = expression(offset)) {
    constantOffset = constantOffset ? constantOffset + *constant : *constant;
    return true;
  }
  Operation *op = offset.getDefiningOp();
  if (op && isa<arith::ExtSIOp, AssumeOp>(op))
    return readTerm(op->getOperand(0));
  if (op && isa<arith::AddIOp>(op))
    return readTerm(op->getOperand(0)) && readTerm(op->getOperand(1));
  if (!op || !isa<arith::MulIOp>(op))
    return false;
  for (unsigned side : {0u, 1u}) {
    std::optional<AffineExpr> stride = expression(op->getOperand(side));
    Value index = op->getOperand(1 - side);
    if (stride && readScaled(index, *stride))
      return true;
  }
  return false;
}

/// index * stride: one more dimension, or one for each term of the index, as in
/// (batch * heads + head) * rows.
bool WindowReader::readScaled(Value index, AffineExpr stride) {
  Operation *op = index.getDefiningOp();
  if (!countsPrograms(index)) {
    if (op && isa<arith::ExtSIOp, AssumeOp>(op))
      return readScaled(op->getOperand(0), stride);
    if (op && isa<arith::AddIOp>(op))
      return readScaled(op->getOperand(0), stride) &&
             readScaled(op->getOperand(1), stride);
    if (op && isa<arith::MulIOp>(op))
      for (unsigned side : {0u, 1u})
        if (std::optional<AffineExpr> factor = expression(op->getOperand(side)))
          return readScaled(op->getOperand(1 - side), stride * *factor);
    return false;
  }
  Builder builder(kernel.getContext());
  window.extents.push_back(
      builder.getI64IntegerAttr(std::numeric_limits<int32_t>::max()));
  window.strides.push_back(attribute(stride));
  window.coordinates.push_back(index);
  return true;
}

std::optional<BlockArgument> WindowReader::readBase(Value base) {
  SmallVector<Value> terms;
  while (auto add = base.getDefiningOp<AddPtrOp>()) {
    terms.push_back(add.getOffset());
    base = add.getPointer();
  }
  auto argument = dyn_cast<BlockArgument>(base);
  if (!argument || argument.getOwner()->getParentOp() != kernel)
    return refuse("its base is no argument of the kernel");
  // The innermost term was added last.
  for (Value term : terms)
    if (!readTerm(term))
      return refuse("a term of its base is not index * stride with a stride of "
                    "arguments");
  return argument;
}

std::optional<TmaWindow> WindowReader::read(Value pointer) {
  auto made = pointer.getDefiningOp<MakeBlockPtrOp>();
  unsigned rank = made ? made.getType().getRank() : 0;
  if (rank != 1 && rank != 2)
    return refuse("it does not read through a window of rank 1 or 2");
  if (getConstantInt(made.getStrides().back()) != 1)
    return refuse("the stride of its last dimension is not 1");
  for (unsigned dim = rank; dim-- > 0;) {
    std::optional<AffineExpr> extent = expression(made.getShape()[dim]);
    if (!extent)
      return refuse("extent " + Twine(dim) +
                    " of its tensor is not computed from arguments");
    window.extents.push_back(attribute(*extent));
    window.coordinates.push_back(made.getOffsets()[dim]);
  }
  if (rank == 2) {
    std::optional<AffineExpr> stride = expression(made.getStrides()[0]);
    if (!stride)
      return refuse("the stride of its rows is not computed from arguments");
    window.strides.push_back(attribute(*stride));
  }
  std::optional<BlockArgument> argument = readBase(made.getBase());
  if (!argument)
    return std::nullopt;
  constexpr size_t kMaxRank = 5;
  if (window.extents.size() > kMaxRank)
    return refuse("it has " + Twine(window.extents.size()) +
                  " dimensions, more than 5");
  window.argument = argument->getArgNumber();
  if (constantOffset)
    window.offset = attribute(constantOffset);
  return window;
}

std::optional<TmaWindow> flashtile::gpu::describeWindow(Value pointer,
                                                        KernelOp kernel,
                                                        std::string &whyNot) {
  return WindowReader(kernel, whyNot).read(pointer);
}

BlockArgument flashtile::gpu::baseArgumentOf(Value pointer) {
  while (Operation *op = pointer.getDefiningOp()) {
    if (!isa<MakeBlockPtrOp, AdvanceOp, AddPtrOp, SplatOp, AssumeOp>(op))
      return {};
    pointer = op->getOperand(0);
  }
  auto argument = cast<BlockArgument>(pointer);
  return isa<KernelOp>(argument.getOwner()->getParentOp()) ? argument
                                                           : BlockArgument();
}

Value flashtile::gpu::createTensorMap(ImplicitLocOpBuilder &b,
                                      const TmaWindow &window,
                                      tilegpu::SmemType memory) {
  // The terms of the base pointer are dimensions of extent 1 of the tile.
  SmallVector<int64_t> shape(window.extents.size() - memory.getShape().size(),
                             1);
  llvm::append_range(shape, memory.getShape());
  OperationState state(b.getLoc(), tilegpu::TensorMapOp::getOperationName());
  state.addTypes(tilegpu::TensorMapType::get(
      b.getContext(), shape, memory.getElementType(), memory.getSwizzle()));
  state.addAttribute("argument", b.getI64IntegerAttr(window.argument));
  state.addAttribute("extents", b.getArrayAttr(window.extents));
  state.addAttribute("strides", b.getArrayAttr(window.strides));
  if (window.offset)
    state.addAttribute("offset", window.offset);
  return b.create(state)->getResult(0);
}

Value flashtile::gpu::toCoordinate(ImplicitLocOpBuilder &b, Value value) {
  if (value.getType().isInteger(32))
    return value;
  if (value.getType().isIndex())
    return arith::IndexCastOp::create(b, b.getI32Type(), value);
  if (value.getType().getIntOrFloatBitWidth() > 32)
    return arith::TruncIOp::create(b, b.getI32Type(), value);
  return arith::ExtSIOp::create(b, b.getI32Type(), value);
}
