//===- SpecializeArguments.cpp - Kernels for aligned arguments ------------===//
//
// Part of FlashTile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Copies of 16 bytes ask that the address of a window's rows is a multiple of
// 16 bytes. Where that follows from the alignment of pointers and from strides
// that are multiples of a chunk, the kernel is compiled under that assumption,
// and once more without it: in the same module, or in another one that is
// compiled when a launch needs it.
//
//===----------------------------------------------------------------------===//

#include "dialects/Tile/Transforms/ScalarFacts.h"
#include "dialects/TileGPU/IR/LaunchAttributes.h"
#include "dialects/TileGPU/Transforms/Passes.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/BuiltinOps.h"
#include "llvm/ADT/MapVector.h"
#include "llvm/ADT/StringSwitch.h"

namespace flashtile::tilegpu {
#define GEN_PASS_DEF_SPECIALIZEARGUMENTSPASS
#include "dialects/TileGPU/Transforms/Passes.h.inc"
} // namespace flashtile::tilegpu

using namespace mlir;
using namespace flashtile;
using namespace flashtile::tile;
using namespace flashtile::tilegpu;

namespace {
/// What each argument has to be a multiple of: bytes of pointers, else units.
using Requirements = llvm::MapVector<BlockArgument, int64_t>;

struct SpecializeArguments
    : public flashtile::tilegpu::impl::SpecializeArgumentsPassBase<
          SpecializeArguments> {
  using SpecializeArgumentsPassBase::SpecializeArgumentsPassBase;

  void runOnOperation() override;
};
} // namespace

/// Asks for arguments such that `value` is a multiple of `divisor`; false where
/// no argument can promise that.
static bool require(Value value, int64_t divisor, Requirements &requirements) {
  if (isMultipleOf(value, divisor))
    return true;
  if (auto argument = dyn_cast<BlockArgument>(value)) {
    if (!isa<KernelOp>(argument.getOwner()->getParentOp()))
      return false;
    int64_t &known = requirements[argument];
    known = std::max(known, divisor);
    return true;
  }
  Operation *op = value.getDefiningOp();
  if (isa<arith::MulIOp>(op)) {
    // One factor is enough: an argument, and rather a stride (i64) than an
    // extent.
    for (unsigned bits : {64, 32})
      for (Value factor : op->getOperands())
        if (isa<BlockArgument>(factor) && factor.getType().isInteger(bits) &&
            require(factor, divisor, requirements))
          return true;
    return llvm::any_of(op->getOperands(), [&](Value factor) {
      return require(factor, divisor, requirements);
    });
  }
  if (isa<arith::AddIOp, arith::SubIOp>(op))
    return require(op->getOperand(0), divisor, requirements) &&
           require(op->getOperand(1), divisor, requirements);
  if (isa<arith::ExtSIOp, arith::IndexCastOp, AssumeOp>(op))
    return require(op->getOperand(0), divisor, requirements);
  return false;
}

/// The same for the rows of a window.
static bool require(MakeBlockPtrOp window, Requirements &requirements) {
  constexpr int64_t kChunkBytes = 16;
  Type element = window.getType().getElementType();
  int64_t bytes = std::max(1u, element.getIntOrFloatBitWidth() / 8);
  int64_t divisor = kChunkBytes / bytes;
  std::optional<unsigned> contiguous;
  for (auto [dim, stride] : llvm::enumerate(window.getStrides()))
    if (getConstantInt(stride) == 1)
      contiguous = dim;
  if (!contiguous)
    return false;
  for (auto [dim, stride] : llvm::enumerate(window.getStrides()))
    if (dim != *contiguous && !require(stride, divisor, requirements))
      return false;
  if (!require(window.getOffsets()[*contiguous], divisor, requirements))
    return false;
  Value base = window.getBase();
  while (auto add = base.getDefiningOp<AddPtrOp>()) {
    if (!require(add.getOffset(), divisor, requirements))
      return false;
    base = add.getPointer();
  }
  auto argument = dyn_cast<BlockArgument>(base);
  if (!argument || !isa<KernelOp>(argument.getOwner()->getParentOp()))
    return false;
  requirements[argument] = kChunkBytes;
  return true;
}

namespace {
/// Which functions of a kernel a module gets.
enum class Functions { Both, Fast, Plain };
} // namespace

/// False for a kernel that takes all arguments as it is.
static bool specialize(KernelOp kernel, Functions functions) {
  Requirements requirements;
  kernel.getBody().walk([&](MakeBlockPtrOp window) {
    if (window.getType().getRank() != 2)
      return;
    // All or nothing: half of a window's requirements help nobody.
    Requirements attempt = requirements;
    if (require(window, attempt))
      requirements = std::move(attempt);
  });
  if (requirements.empty())
    return false;
  OpBuilder builder(kernel);
  builder.setInsertionPointAfter(kernel);
  if (functions != Functions::Fast) {
    KernelOp plain = functions == Functions::Plain
                         ? kernel
                         : cast<KernelOp>(builder.clone(*kernel));
    plain.setSymName((kernel.getSymName() + kPlainSuffix).str());
    plain->setAttr(kPlainAttr, builder.getUnitAttr());
    if (functions == Functions::Plain)
      return true;
  } else {
    kernel->setAttr(kPlainElsewhereAttr, builder.getUnitAttr());
  }
  // The assumptions; pointers have theirs in the attribute only.
  SmallVector<Attribute> listed;
  builder.setInsertionPointToStart(&kernel.getBody().front());
  for (auto [argument, divisor] : requirements) {
    unsigned index = argument.getArgNumber();
    listed.push_back(builder.getDictionaryAttr(
        {builder.getNamedAttr("argument", builder.getI64IntegerAttr(index)),
         builder.getNamedAttr("divisor", builder.getI64IntegerAttr(divisor))}));
    if (isa<PtrType>(argument.getType()))
      continue;
    auto assume = AssumeOp::create(builder, kernel.getLoc(), argument,
                                   builder.getI64IntegerAttr(divisor),
                                   TypedAttr(), TypedAttr());
    argument.replaceAllUsesExcept(assume, assume);
  }
  kernel->setAttr(kRequiresAttr, builder.getArrayAttr(listed));
  return true;
}

void SpecializeArguments::runOnOperation() {
  auto wanted = llvm::StringSwitch<std::optional<Functions>>(functions)
                    .Case("both", Functions::Both)
                    .Case("fast", Functions::Fast)
                    .Case("plain", Functions::Plain)
                    .Default(std::nullopt);
  if (!wanted) {
    getOperation().emitError("expected functions 'both', 'fast' or 'plain', "
                             "but got '")
        << functions << "'";
    return signalPassFailure();
  }
  for (KernelOp kernel :
       llvm::make_early_inc_range(getOperation().getOps<KernelOp>())) {
    bool isOpen =
        !kernel->hasAttr(kPlainAttr) && !kernel->hasAttr(kRequiresAttr);
    bool isSpecial = isOpen && specialize(kernel, *wanted);
    if (!isSpecial && *wanted == Functions::Plain)
      kernel.erase();
  }
}
