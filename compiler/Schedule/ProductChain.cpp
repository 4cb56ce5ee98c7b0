//===- ProductChain.cpp - Two products with work between them -------------===//
//
// Part of FlashTile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "compiler/Schedule/ProductChain.h"

#include "dialects/Tile/Transforms/ScalarFacts.h"

#include "mlir/Analysis/SliceAnalysis.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/IR/TypeUtilities.h"

using namespace mlir;
using namespace flashtile;
using namespace flashtile::gpu;
using namespace flashtile::tile;
using tilegpu::MbarrierArriveOp;
using tilegpu::MbarrierWaitOp;
using tilegpu::SlotOp;
using tilegpu::WgmmaOp;
using tilegpu::WgmmaWaitOp;

WgmmaWaitOp flashtile::gpu::waitOf(WgmmaOp start) {
  if (!start->hasOneUse())
    return {};
  auto wait = dyn_cast<WgmmaWaitOp>(*start->getUsers().begin());
  return wait && wait->getBlock() == start->getBlock() &&
                 wait->getNumOperands() == 1
             ? wait
             : WgmmaWaitOp();
}

/// The product with the barriers of its right operand's buffer.
static std::optional<Product> readProduct(WgmmaOp start) {
  Product product = {start, waitOf(start), {}, {}, {}};
  product.slot = start.getB().getDefiningOp<SlotOp>();
  if (!product.wait || !product.slot || !product.slot->hasOneUse() ||
      product.slot->getBlock() != start->getBlock())
    return std::nullopt;
  product.arrival =
      dyn_cast_or_null<MbarrierWaitOp>(product.slot->getPrevNode());
  for (Operation *op = product.wait->getNextNode(); op; op = op->getNextNode())
    if (auto release = dyn_cast<MbarrierArriveOp>(op);
        release && release.getIndex() == product.slot.getIndex()) {
      product.release = release;
      break;
    }
  if (!product.arrival || !product.release ||
      product.arrival.getIndex() != product.slot.getIndex())
    return std::nullopt;
  return product;
}

std::optional<unsigned> flashtile::gpu::counterOf(Value index,
                                                  scf::ForOp loop) {
  auto remainder = index.getDefiningOp<arith::RemUIOp>();
  auto argument =
      remainder ? dyn_cast<BlockArgument>(remainder.getLhs()) : BlockArgument();
  if (!argument || argument.getOwner() != loop.getBody() ||
      argument == loop.getInductionVar())
    return std::nullopt;
  return argument.getArgNumber() - 1;
}

std::string flashtile::gpu::otherCount(size_t count, size_t wanted) {
  return "the loop has " + std::to_string(count) +
         (count == 1 ? " product" : " products") + " at its top, not " +
         std::to_string(wanted);
}

/// Cycles of the tensor cores for a product of one warpgroup's 64 rows: a step
/// of 32 bytes of depth takes half a cycle for each column.
static int64_t cyclesOf(WgmmaOp product) {
  auto sum = cast<RankedTensorType>(product.getType());
  auto left = cast<RankedTensorType>(product.getA().getType());
  const int64_t depthBytes =
      left.getShape()[1] * left.getElementTypeBitWidth() / 8;
  return depthBytes / 32 * sum.getShape()[1] / 2;
}

/// Cycles, roughly, until a warp knows the largest of each line of scores, of
/// which it has a quarter in each lane: steps, and two shuffles.
static int64_t cyclesOfReduction(Value scores) {
  auto type = cast<RankedTensorType>(scores.getType());
  return type.getShape()[1] / 4 * 4 + 100;
}

/// Whether all programs of the kernel compute `value` alike.
static bool isSameInPrograms(Value value) {
  SetVector<Operation *> made;
  BackwardSliceOptions options;
  options.inclusive = true;
  options.omitBlockArguments = true;
  (void)getBackwardSlice(value, &made, options);
  auto isOfProgram = [](Value operand) {
    auto argument = dyn_cast<BlockArgument>(operand);
    return argument && !isa<KernelOp>(argument.getOwner()->getParentOp());
  };
  return !isOfProgram(value) && llvm::none_of(made, [&](Operation *op) {
    return isa<ProgramIdOp, tilegpu::ReadWordOp>(op) ||
           llvm::any_of(op->getOperands(), isOfProgram);
  });
}

static bool isWide(Value value) {
  return isa<RankedTensorType>(value.getType()) &&
         getElementTypeOrSelf(value.getType()).isF32();
}

/// Where the wait for `second` stands best, which runs beside the work that
/// makes `packed` out of `scores`. In front of the work, the product would have
/// too little time; behind all of it, packing could not start with the first
/// elements that are done. Lines are worked on one after the other, as far as
/// an assembler is free to: behind the last reduction of the first line, where
/// the product is about as short as that, else behind the first line's sum.
/// Where there is no such sum, behind the last reduction; where there is none
/// of these, behind the work. In loops that are longer in some programs, an
/// assembler that is free (ptxas 13.0) lets the wait sink behind all packing:
/// there it stands between the last reduction of the first line and the work
/// on others.
static Fence fenceOf(scf::ForOp loop, Value scores, Value packed,
                     WgmmaOp second) {
  Value reduced;
  SetVector<Operation *> slice;
  BackwardSliceOptions options;
  options.filter = [&](Operation *op) {
    return op->getBlock() == loop.getBody();
  };
  (void)getBackwardSlice(packed, &slice, options);
  Operation *last = scores.getDefiningOp();
  for (Operation *op : slice)
    if (isa<SumOp, MaxOp, MinOp, ReduceOp>(op) && last->isBeforeInBlock(op) &&
        getElementTypeOrSelf(op->getResult(0).getType()).isF32()) {
      last = op;
      reduced = op->getResult(0);
    }
  if (!reduced) {
    Operation *made = packed.getDefiningOp();
    // Narrow work would write to registers that the product reads.
    bool isHere = made && made->getBlock() == loop.getBody() &&
                  isWide(packed) &&
                  scores.getDefiningOp()->isBeforeInBlock(made);
    return {isHere ? packed : scores};
  }
  if (!isSameInPrograms(loop.getLowerBound()) ||
      !isSameInPrograms(loop.getUpperBound()))
    return {reduced, /*isFirst=*/true, /*holds=*/true};
  if (2 * cyclesOf(second) <= 3 * cyclesOfReduction(scores))
    return {reduced, /*isFirst=*/true};
  for (Operation *user : packed.getUsers())
    if (auto sum = dyn_cast<tilegpu::PartialSumOp>(user);
        sum && sum->getBlock() == loop.getBody() && last->isBeforeInBlock(sum))
      return {sum.getResult(), /*isFirst=*/true};
  return {reduced};
}

static bool isMove(Operation *op) {
  return isa<CastOp, tilegpu::ConvertLayoutOp>(op);
}

/// Whether `op` is for tiles of floats that are narrower than a register.
static bool isNarrowWork(Operation *op) {
  return OpTrait::hasElementwiseMappableTraits(op) &&
         llvm::any_of(op->getOperands(), [](Value operand) {
           auto type = dyn_cast<RankedTensorType>(operand.getType());
           return type && isa<FloatType>(type.getElementType()) &&
                  type.getElementTypeBitWidth() < 32;
         });
}

SmallVector<Operation *> flashtile::gpu::packingOf(Value operand,
                                                   Block *block) {
  SmallVector<Operation *> moves;
  Operation *last = operand.getDefiningOp();
  for (Operation *op = last;
       op && op->getBlock() == block && op->hasOneUse() && isMove(op);
       op = op->getOperand(0).getDefiningOp())
    moves.insert(moves.begin(), op);
  if (!last || last->getBlock() != block || !last->hasOneUse())
    return moves;
  // With the work on narrow elements, where it comes from one wide tile.
  llvm::SetVector<Operation *> all;
  for (Operation *op = last; op; op = op->getPrevNode())
    if ((op == last ||
         (!op->use_empty() &&
          llvm::all_of(op->getUsers(),
                       [&](Operation *user) { return all.contains(user); }))) &&
        (isMove(op) || isNarrowWork(op)))
      all.insert(op);
  int64_t wide = 0;
  for (Operation *op : all)
    wide += llvm::count_if(op->getOperands(), [&](Value value) {
      return isWide(value) && !all.contains(value.getDefiningOp());
    });
  if (all.empty() || wide != 1 || !isMove(all.back()) ||
      !isWide(all.back()->getOperand(0)))
    return moves;
  return {all.rbegin(), all.rend()};
}

std::string flashtile::gpu::matchChain(scf::ForOp loop, Chain &chain) {
  SmallVector<WgmmaOp> starts(loop.getBody()->getOps<WgmmaOp>());
  if (starts.size() != 2)
    return otherCount(starts.size(), 2);
  std::optional<Product> first = readProduct(starts[0]);
  std::optional<Product> second = readProduct(starts[1]);
  if (!first || !second)
    return "a product's right operand is also read otherwise";
  chain.loop = loop;
  chain.first = *first;
  chain.second = *second;
  // The second product: carried, perhaps scaled, and yielded.
  Value result = second->wait.getResult(0);
  auto yield = cast<scf::YieldOp>(loop.getBody()->getTerminator());
  if (!result.hasOneUse() || *result.getUsers().begin() != yield)
    return "the second product is used in the loop";
  chain.sum = result.getUses().begin()->getOperandNumber();
  Value carried = loop.getRegionIterArg(chain.sum);
  Value added = second->start.getC();
  if (!added || !carried.hasOneUse())
    return "the second product does not add to a carried tile";
  if (added != carried) {
    chain.scale = added.getDefiningOp<arith::MulFOp>();
    if (!chain.scale || !chain.scale->hasOneUse() ||
        (chain.scale.getLhs() != carried && chain.scale.getRhs() != carried))
      return "the second product's sum is changed by more than a factor";
  }
  std::optional<unsigned> counter = counterOf(second->slot.getIndex(), loop);
  std::optional<unsigned> other = counterOf(first->slot.getIndex(), loop);
  if (!counter || !other || *counter == *other)
    return "the products do not have rings of their own";
  chain.counter = *counter;
  chain.pack = packingOf(second->start.getA(), loop.getBody());
  if (chain.pack.empty() ||
      !isa<RankedTensorType>(second->start.getA().getType()))
    return "the second product's left operand is not packed in registers";
  for (Operation *op : std::initializer_list<Operation *>{
           second->start, second->wait, second->slot, second->arrival,
           second->release})
    chain.late.insert(op);
  if (chain.scale)
    chain.late.insert(chain.scale);
  chain.late.insert(chain.pack.begin(), chain.pack.end());
  chain.fence = fenceOf(loop, first->wait.getResult(0),
                        chain.pack.front()->getOperand(0), second->start);
  return {};
}

//===----------------------------------------------------------------------===//
// Sequences of loops
//===----------------------------------------------------------------------===//

bool flashtile::gpu::isAvailable(Value value, Operation *place,
                                 const llvm::SetVector<Operation *> &moved) {
  Operation *op = value.getDefiningOp();
  if (!op) // an argument of this block or of one around it
    return true;
  Operation *at = place->getBlock()->findAncestorOpInBlock(*op);
  return !at || at->isBeforeInBlock(place) || moved.contains(op);
}

bool flashtile::gpu::continues(const Chain &chain, const Chain &next,
                               scf::ForOp first) {
  scf::ForOp loop = chain.loop, after = next.loop;
  if (loop->getBlock() != after->getBlock() || !loop->isBeforeInBlock(after) ||
      chain.sum != next.sum || chain.counter != next.counter ||
      !chain.scale != !next.scale ||
      loop.getResultTypes() != after.getResultTypes() ||
      !llvm::equal(loop.getResults(), after.getInitArgs()) ||
      !llvm::all_of(loop->getUsers(),
                    [&](Operation *user) { return user == after; }))
    return false;
  Product one = chain.second, other = next.second;
  if (one.slot.getRing() != other.slot.getRing() ||
      one.arrival.getBarriers() != other.arrival.getBarriers() ||
      one.release.getBarriers() != other.release.getBarriers() ||
      one.start->getAttrDictionary() != other.start->getAttrDictionary() ||
      one.start.getA().getType() != other.start.getA().getType())
    return false;
  llvm::SetVector<Operation *> moved;
  for (Operation *op = loop->getNextNode(); op != after;
       op = op->getNextNode()) {
    if (op->getNumRegions() > 0 || !isMemoryEffectFree(op) ||
        !llvm::all_of(op->getOperands(), [&](Value operand) {
          return isAvailable(operand, first, moved);
        }))
      return false;
    moved.insert(op);
  }
  for (Operation *op : moved)
    op->moveBefore(first);
  return true;
}

//===----------------------------------------------------------------------===//
// The first addition
//===----------------------------------------------------------------------===//

static Value withoutBroadcast(Value value) {
  while (auto *op = value.getDefiningOp())
    if (isa<BroadcastOp, ExpandDimsOp, SplatOp>(op))
      value = op->getOperand(0);
    else
      break;
  return value;
}

namespace {
/// e^(s - r), or 2^(s - r), where s may be `scores` * `scale`; null where it is
/// neither.
struct Exponential {
  Value scores, scale, reference;
};
} // namespace

static Exponential readExponential(Value value) {
  Operation *op = value.getDefiningOp();
  if (!op || !isa<ExpOp, Exp2Op>(op))
    return {};
  Value exponent = op->getOperand(0);
  if (auto difference = exponent.getDefiningOp<arith::SubFOp>())
    return {difference.getLhs(), {}, withoutBroadcast(difference.getRhs())};
  auto scaled = exponent.getDefiningOp<math::FmaOp>();
  if (!scaled)
    return {};
  auto negated = withoutBroadcast(scaled.getC()).getDefiningOp<arith::NegFOp>();
  if (!negated)
    return {};
  return {scaled.getA(), scaled.getB(), withoutBroadcast(negated.getOperand())};
}

/// Whether the largest of `tile` is where the largest exponent is: its elements
/// are the scores, with a scale of the same sign.
static bool isOrderedLike(Value tile, const Exponential &exponential) {
  if (tile == exponential.scores)
    return !exponential.scale || isPositiveNormal(exponential.scale);
  auto product = tile.getDefiningOp<arith::MulFOp>();
  if (!product || product.getLhs() != exponential.scores || !exponential.scale)
    return false;
  Value scale = withoutBroadcast(product.getRhs());
  Value other = withoutBroadcast(exponential.scale);
  if (auto positive = other.getDefiningOp<arith::MulFOp>();
      positive && isPositiveNormal(positive.getRhs()))
    other = positive.getLhs();
  return other == scale;
}

/// Whether `value` is -inf in the first iteration.
static bool beginsAtMinusInfinity(Value value, scf::ForOp loop,
                                  scf::ForOp first) {
  if (auto product = value.getDefiningOp<arith::MulFOp>();
      product && isPositiveNormal(product.getRhs()))
    value = product.getLhs();
  auto argument = dyn_cast<BlockArgument>(value);
  if (argument && argument.getOwner() == loop.getBody() &&
      argument != loop.getInductionVar())
    value = first.getInitArgs()[argument.getArgNumber() - 1];
  std::optional<APFloat> constant = getConstantFloat(value);
  return constant && constant->isInfinity() && constant->isNegative();
}

/// A factor 2^(m - r) is 0 where m is -inf, unless r is NaN or -inf. There the
/// weights 2^(s - r) of a row are NaN, and so is its product, where r is at
/// least the largest s of the row, by a maximum over these scores.
bool flashtile::gpu::beginsAtZero(const Chain &chain, scf::ForOp first) {
  scf::ForOp loop = chain.loop;
  std::optional<APFloat> zero =
      getConstantFloat(first.getInitArgs()[chain.sum]);
  if (!zero || !zero->isZero())
    return false;
  arith::MulFOp scale = chain.scale;
  if (!scale)
    return true;
  Value carried = loop.getRegionIterArg(chain.sum);
  Value factor = withoutBroadcast(scale.getLhs() == carried ? scale.getRhs()
                                                            : scale.getLhs());
  Value reference = readExponential(factor).reference;
  // Work between weights and product may hide a NaN.
  if (!reference || !llvm::all_of(chain.pack, isMove))
    return false;
  Exponential weights = readExponential(chain.pack.front()->getOperand(0));
  if (weights.reference != reference)
    return false;
  auto difference =
      factor.getDefiningOp()->getOperand(0).getDefiningOp<arith::SubFOp>();
  if (!difference || !beginsAtMinusInfinity(difference.getLhs(), loop, first))
    return false;
  SetVector<Operation *> slice;
  BackwardSliceOptions options;
  options.filter = [&](Operation *op) {
    return op->getBlock() == loop.getBody();
  };
  (void)getBackwardSlice(reference, &slice, options);
  return llvm::any_of(slice, [&](Operation *op) {
    return isa<MaxOp>(op) && isOrderedLike(op->getOperand(0), weights);
  });
}
