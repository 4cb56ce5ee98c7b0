//===- Grid.cpp - A kernel's grid as an affine map ------------------------===//
//
// Part of FlashTile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Extents are ordinary integer expressions of the DSL over the arguments. They
// are read back into an affine map, which a launch evaluates on the host:
//
//   %0 = arith.ceildivsi %n, 64      =>      grid(n) -> (n ceildiv 64)
//
// The operations themselves vanish unless the kernel uses them too.
//
//===----------------------------------------------------------------------===//

#include "compiler/Frontend/Emitter.h"

#include "mlir/IR/AffineExpr.h"
#include "mlir/IR/Matchers.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace flashtile;
using namespace flashtile::dsl;
using namespace flashtile::dsl::detail;
namespace arith = mlir::arith;

/// How the author wrote an operation of two operands.
static llvm::StringRef symbol(mlir::Operation *op) {
  return llvm::TypeSwitch<mlir::Operation *, llvm::StringRef>(op)
      .Case([](arith::AddIOp) { return "+"; })
      .Case([](arith::SubIOp) { return "-"; })
      .Case([](arith::MulIOp) { return "*"; })
      .Case([](arith::DivSIOp) { return "/"; })
      .Case([](arith::RemSIOp) { return "%"; })
      .Case([](arith::CeilDivSIOp) { return "ceilDiv"; })
      .Case([](arith::FloorDivSIOp) { return "floorDiv"; })
      .Default([](mlir::Operation *other) {
        return other->getName().getStringRef();
      });
}

namespace {
class GridReader {
public:
  GridReader(const Emitter &emit, size_t extent) : emit(emit), extent(extent) {}

  mlir::AffineExpr read(mlir::Value value) {
    if (auto argument = llvm::dyn_cast<mlir::BlockArgument>(value))
      return readArgument(argument);
    if (std::optional<int64_t> number = constant(value))
      return mlir::getAffineConstantExpr(*number, emit.b.getContext());
    mlir::Operation *op = value.getDefiningOp();
    emit.state->gridOps.push_back(op);
    if (llvm::isa<arith::ExtSIOp, tile::AssumeOp>(op))
      return read(op->getOperand(0));
    if (llvm::isa<arith::AddIOp>(op))
      return read(op->getOperand(0)) + read(op->getOperand(1));
    if (llvm::isa<arith::SubIOp>(op))
      return read(op->getOperand(0)) - read(op->getOperand(1));
    if (llvm::isa<arith::MulIOp>(op))
      return readProduct(op);
    if (llvm::isa<arith::CeilDivSIOp>(op))
      return read(op->getOperand(0)).ceilDiv(divisor(op));
    if (llvm::isa<arith::FloorDivSIOp>(op))
      return read(op->getOperand(0)).floorDiv(divisor(op));
    if (llvm::isa<arith::DivSIOp>(op))
      emit.fail("expected grid extent ", extent, " to say how '",
                describe(value), "' rounds: use 'ceilDiv' or 'floorDiv'");
    if (llvm::isa<arith::RemSIOp>(op))
      emit.fail("expected grid extent ", extent, " to say how '",
                describe(value), "' rounds: use 'floorMod'");
    emit.fail("expected grid extent ", extent,
              " to be computed from arguments "
              "by +, -, products with a literal, ceilDiv and floorDiv, but got "
              "'",
              op->getName().getStringRef(), "'");
  }

private:
  static std::optional<int64_t> constant(mlir::Value value) {
    llvm::APInt number;
    if (mlir::matchPattern(value, mlir::m_ConstantInt(&number)))
      return number.getSExtValue();
    return std::nullopt;
  }

  mlir::AffineExpr readArgument(mlir::BlockArgument argument) {
    mlir::Block &entry = emit.state->entry();
    if (argument.getOwner() != &entry)
      emit.fail("expected grid extent ", extent,
                " to be computed from arguments, but got a value of a loop");
    unsigned position = 0;
    for (mlir::BlockArgument other : entry.getArguments()) {
      if (other == argument)
        break;
      position += llvm::isa<mlir::IntegerType>(other.getType());
    }
    return mlir::getAffineDimExpr(position, emit.b.getContext());
  }

  mlir::AffineExpr readProduct(mlir::Operation *op) {
    mlir::AffineExpr lhs = read(op->getOperand(0));
    mlir::AffineExpr rhs = read(op->getOperand(1));
    if (!lhs.isSymbolicOrConstant() && !rhs.isSymbolicOrConstant())
      emit.fail("expected grid extent ", extent, " to be affine, but '",
                describe(op->getResult(0)),
                "' is a product of arguments; use a grid axis for each");
    return lhs * rhs;
  }

  int64_t divisor(mlir::Operation *op) {
    std::optional<int64_t> number = constant(op->getOperand(1));
    if (!number || *number <= 0)
      emit.fail("expected grid extent ", extent, " to be affine, but '",
                describe(op->getResult(0)),
                "' divides by something other than a positive literal");
    return *number;
  }

  /// The author's expression, for messages.
  std::string describe(mlir::Value value) {
    if (auto argument = llvm::dyn_cast<mlir::BlockArgument>(value))
      return emit.state->argumentNames[argument.getArgNumber()];
    if (std::optional<int64_t> number = constant(value))
      return std::to_string(*number);
    mlir::Operation *op = value.getDefiningOp();
    if (op->getNumOperands() == 1)
      return describe(op->getOperand(0));
    if (op->getNumOperands() != 2)
      return op->getName().getStringRef().str();
    return message("(", describe(op->getOperand(0)), " ", symbol(op), " ",
                   describe(op->getOperand(1)), ")");
  }

  const Emitter &emit;
  size_t extent;
};
} // namespace

void KernelBuilder::grid(const std::vector<Operand> &extents,
                         SourceLocation location) {
  Emitter emit(location, state);
  if (!state->grid.empty())
    emit.fail("expected one grid, but '", state->name, "' has one already");
  if (extents.empty() || extents.size() > 3)
    emit.fail("expected a grid of one to three extents, but got ",
              extents.size());
  llvm::SmallVector<mlir::AffineExpr> expressions;
  for (auto [index, extent] : llvm::enumerate(extents)) {
    if (extent.value()) {
      mlir::Value value = emit.use(*extent.value());
      if (!llvm::isa<mlir::IntegerType>(value.getType()))
        emit.fail("expected grid extent ", index, " to be an integer, but got ",
                  value.getType());
      expressions.push_back(GridReader(emit, index).read(value));
      continue;
    }
    if (!extent.integer() || *extent.integer() < 0)
      emit.fail("expected grid extent ", index,
                " to be a literal integer of 0 or more");
    expressions.push_back(
        mlir::getAffineConstantExpr(*extent.integer(), emit.b.getContext()));
  }
  state->grid = std::move(expressions);
}
