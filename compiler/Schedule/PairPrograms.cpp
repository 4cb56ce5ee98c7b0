//===- PairPrograms.cpp - Neighbouring programs as one block --------------===//
//
// Part of FlashTile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Which programs become one, and how many of them. Whether they can is
// ProgramStack's question; whether they should is answered here, by the
// registers that the warpgroups of a block have.
//
//===----------------------------------------------------------------------===//

#include "compiler/Analysis/Program/TileQueries.h"
#include "compiler/Schedule/Passes.h"
#include "compiler/Schedule/StackRewriter.h"
#include "dialects/Tile/Transforms/Remark.h"
#include "dialects/TileGPU/IR/LaunchAttributes.h"
#include "dialects/TileGPU/IR/TileGPUDialect.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/Matchers.h"

namespace flashtile::gpu {
#define GEN_PASS_DEF_PAIRPROGRAMSPASS
#include "compiler/Schedule/Passes.h.inc"
} // namespace flashtile::gpu

using namespace mlir;
using namespace flashtile;
using namespace flashtile::gpu;
using namespace flashtile::tile;

static constexpr char kPass[] = "tilegpu-pair-programs";
static constexpr int64_t kWarpsOfGroup = 4, kThreadsOfGroup = 128;

/// A product that one warpgroup computes for 64 rows at a time.
static bool isForWarpgroup(DotOp dot) {
  constexpr int64_t kRows = 64, kUnit = 16, kMostColumns = 256;
  auto a = cast<RankedTensorType>(dot.getA().getType());
  auto result = cast<RankedTensorType>(dot.getType());
  Type element = a.getElementType();
  return (element.isF16() || element.isBF16()) &&
         element == getElementType(dot.getB().getType()) &&
         result.getElementType().isF32() && result.getDimSize(0) % kRows == 0 &&
         result.getDimSize(1) % kUnit == 0 &&
         result.getDimSize(1) <= kMostColumns && a.getDimSize(1) % kUnit == 0;
}

/// Registers of a thread for a tile that a warpgroup holds.
static int64_t registersOf(Value value) {
  auto type = tileType(value);
  if (!type || !type.getElementType().isIntOrFloat())
    return 0;
  constexpr int64_t kBitsOfRegister = 32;
  int64_t bits = type.getNumElements() * type.getElementTypeBitWidth();
  return llvm::divideCeil(bits, kBitsOfRegister * kThreadsOfGroup);
}

static bool isLoaded(Value operand) {
  return isa_and_nonnull<LoadOp>(peelTranspose(operand).root.getDefiningOp());
}

namespace {
/// What the loops of a kernel ask of a block.
struct LoopNeeds {
  /// Products whose right operand all programs load, in a loop.
  int64_t shared = 0;
  /// Of a thread, in the loop that needs most: what it carries, what its
  /// products give, the left operands that are made of that, and the other
  /// side of branches that some programs take.
  int64_t registers = 0;
  /// Some of them for the other side of branches.
  bool holdsBothSides = false;
  /// Of one program.
  int64_t mostRows = 0;
  std::string whyNot;
};

struct PairPrograms
    : public flashtile::gpu::impl::PairProgramsPassBase<PairPrograms> {
  using PairProgramsPassBase::PairProgramsPassBase;
  void runOnOperation() override;

private:
  /// How many programs become one along an axis: 1 for none. `whyNot`: why not
  /// as many as asked for, or not any.
  int64_t choose(const ProgramStack &stack, std::string &whyNot);
};
} // namespace

/// Whether `op` is in the body of `loop` or in a branch there.
static bool isInBody(Operation *op, scf::ForOp loop) {
  Operation *parent = op->getParentOp();
  while (isa<scf::IfOp>(parent))
    parent = parent->getParentOp();
  return parent == loop;
}

static void addLoop(scf::ForOp loop, const ProgramStack &stack,
                    LoopNeeds &needs) {
  // What is held while the products run, each tile once.
  DenseSet<Value> held;
  bool multiplies = false;
  for (Value carried : loop.getRegionIterArgs())
    if (stack.of(carried).isStacked())
      held.insert(carried);
  loop->walk([&](DotOp dot) {
    if (!isInBody(dot, loop))
      return;
    multiplies = true;
    if (!stack.of(dot.getResult()).isStacked())
      return;
    if (!isForWarpgroup(dot))
      needs.whyNot = "a product is not one of warpgroups";
    auto load = peelTranspose(dot.getB()).root.getDefiningOp<LoadOp>();
    needs.shared += load && load->getParentOfType<scf::ForOp>() == loop;
    // Others add to what is carried, in place.
    if (matchPattern(dot.getC(), m_AnyZeroFloat()))
      held.insert(dot.getResult());
    if (!isLoaded(dot.getA()))
      held.insert(dot.getA());
  });
  if (!multiplies)
    return;
  int64_t registers = 0;
  for (Value value : held)
    registers += registersOf(value);
  // Where only some programs take a branch, both sides are held.
  loop->walk([&](scf::IfOp branch) {
    if (stack.of(branch.getCondition()).kind == ProgramValue::Kind::Differs)
      for (Value result : branch.getResults()) {
        registers += registersOf(result);
        needs.holdsBothSides |= registersOf(result) > 1;
      }
  });
  needs.registers = std::max(needs.registers, registers);
}

/// The one place that weighs: threads of two consuming warpgroups have 240
/// registers, of three 160. Some are for addresses and for what is under way,
/// and left operands that a loop does not change want some; where both sides of
/// a branch are held, so do the choices between them. Why `count` programs, 2
/// or 3, are too many, or nothing. `wanted`: what is asked for, 0 where nobody
/// says and three are put together where that was measured to be faster only.
static std::string whyTooMany(const LoopNeeds &needs, int64_t count,
                              int64_t wanted) {
  constexpr int64_t kMostRows = 256; // of one copy to shared memory
  constexpr int64_t kRegistersOfTwo = 200;
  constexpr int64_t kRegistersOfThree = 116, kBesideBranches = 100,
                    kRegistersOfThreeBest = 96;
  int64_t limit = kRegistersOfTwo;
  if (count == 3)
    limit = wanted != 3            ? kRegistersOfThreeBest
            : needs.holdsBothSides ? kBesideBranches
                                   : kRegistersOfThree;
  if (needs.registers > limit)
    return "a thread would need " + std::to_string(needs.registers) +
           " registers for tiles of " + std::to_string(needs.mostRows) +
           " rows, more than the " + std::to_string(limit) + " that " +
           std::to_string(count) + " warpgroups leave it beside the rest" +
           (count == 3 && needs.holdsBothSides
                ? ", where both sides of a branch are computed"
                : "");
  if (count * needs.mostRows > kMostRows)
    return std::to_string(count) + " programs have " +
           std::to_string(count * needs.mostRows) +
           " rows, and a copy to shared memory " + std::to_string(kMostRows);
  return {};
}

int64_t PairPrograms::choose(const ProgramStack &stack, std::string &whyNot) {
  LoopNeeds needs;
  int64_t mostElements = 0;
  getOperation().getBody().walk([&](Operation *op) {
    if (auto loop = dyn_cast<scf::ForOp>(op))
      addLoop(loop, stack, needs);
    for (Value value : op->getResults()) {
      ProgramValue each = stack.of(value);
      auto type = each.isStacked() ? tileType(value) : RankedTensorType();
      if (!type)
        continue;
      mostElements = std::max(mostElements, type.getNumElements());
      needs.mostRows = std::max(needs.mostRows, type.getDimSize(each.dim));
    }
  });
  whyNot = needs.whyNot;
  if (needs.shared == 0)
    whyNot = "no product in a loop has an operand that they all load";
  if (!whyNot.empty())
    return 1;
  int64_t count = programs == 0 ? 3 : int64_t(programs);
  for (; count > 1; --count) {
    std::string reason = whyTooMany(needs, count, programs);
    if (reason.empty())
      break;
    // Of the number that was asked for; of two, where nobody asked.
    if (count == programs || (programs == 0 && count == 2))
      whyNot = reason;
  }
  if (count * mostElements > TileDialect::kMaxTileElements) {
    whyNot = "a tile would be too large";
    return 1;
  }
  return count;
}

void PairPrograms::runOnOperation() {
  KernelOp kernel = getOperation();
  constexpr int64_t kMostPrograms = 3;
  if (programs < 0 || programs > kMostPrograms) {
    kernel.emitError("expected 0 to ")
        << kMostPrograms << " programs at once, but got " << int64_t(programs);
    return signalPassFailure();
  }
  constexpr int64_t kMostWarps = 16;
  if (numWarps < 1 || numWarps > kMostWarps) {
    kernel.emitError("expected 1 to ")
        << kMostWarps << " warps, but got " << int64_t(numWarps);
    return signalPassFailure();
  }
  if (programs == 1 || kernel->hasAttr(tilegpu::kPlainAttr) ||
      kernel->hasAttr(tilegpu::kProgramsAtOnceAttr) ||
      kernel->hasAttr(tilegpu::TileGPUDialect::kTargetAttr))
    return;
  bool multiplies = false;
  kernel.getBody().walk([&](DotOp) { multiplies = true; });
  if (!multiplies)
    return;
  if (numWarps != kWarpsOfGroup)
    return remarkMissed(kernel, kPass, "Programs",
                        "programs are not put together: only those of one "
                        "warpgroup, which has 4 warps, are");
  Operation *place = nullptr;
  std::string reason = "nothing depends on the position of the program";
  for (ProgramAxis axis : {ProgramAxis::X, ProgramAxis::Y, ProgramAxis::Z}) {
    if (unsigned(axis) >= kernel.getGrid().getNumResults())
      break;
    bool isUsed = false;
    kernel.getBody().walk(
        [&](ProgramIdOp id) { isUsed |= id.getAxis() == axis; });
    if (!isUsed)
      continue;
    ProgramStack stack(kernel, axis);
    std::string whyNot;
    Operation *culprit = kernel;
    int64_t count = 1;
    if (stack.run()) {
      count = choose(stack, whyNot);
    } else {
      whyNot = stack.whyNot;
      culprit = stack.culprit;
    }
    std::string name = stringifyProgramAxis(axis).str();
    if (count > 1) {
      stackPrograms(kernel, axis, count, stack);
      Builder builder(&getContext());
      SmallVector<int64_t> atOnce(3, 1);
      atOnce[unsigned(axis)] = count;
      kernel->setAttr(tilegpu::kProgramsAtOnceAttr,
                      builder.getDenseI64ArrayAttr(atOnce));
      kernel->setAttr(tilegpu::TileGPUDialect::kNumWarpsAttr,
                      builder.getI32IntegerAttr(count * kWarpsOfGroup));
      if (!whyNot.empty())
        remarkMissed(kernel, kPass, "Programs",
                     std::to_string(int64_t(programs)) +
                         " programs are not put together: along " + name +
                         ", " + whyNot);
      return remarkApplied(kernel, kPass, "Programs",
                           std::to_string(count) + " programs along " + name +
                               " are warpgroups of one block");
    }
    // Of several axes, the first says why.
    if (!place) {
      place = culprit;
      reason = "along " + name + ", " + whyNot;
    }
  }
  remarkMissed(place ? place : kernel, kPass, "Programs",
               "programs are not put together: " + reason);
}
