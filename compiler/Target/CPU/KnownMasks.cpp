//===- KnownMasks.cpp - Masked accesses with lanes that are known ---------===//
//
// Part of FlashTile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "compiler/Target/CPU/KnownMasks.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/Analysis/TargetTransformInfo.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/IntrinsicInst.h"

using namespace llvm;

namespace flashtile::cpu {

namespace {
/// Lanes `begin` to `end` of a masked access.
struct Part {
  unsigned begin, end;
  unsigned size() const { return end - begin; }
};

enum class Lane : uint8_t { Off, On, Unknown };

class AccessSplitter {
public:
  AccessSplitter(IntrinsicInst *call, uint64_t registerBits)
      : b(call), registerBits(registerBits), call(call),
        isLoad(call->getIntrinsicID() == Intrinsic::masked_load),
        pointer(call->getArgOperand(isLoad ? 0 : 1)),
        mask(call->getArgOperand(isLoad ? 1 : 2)),
        type(cast<FixedVectorType>(
            isLoad ? call->getType() : call->getArgOperand(0)->getType())) {}

  /// Replaces the access where that is due.
  bool run();

private:
  unsigned lanesThatAre(Lane what, Part part) const {
    return count(ArrayRef(lanes).slice(part.begin, part.size()), what);
  }
  /// Whether the part has to be split or made plain.
  bool isAwkward(Part part) const;
  Value *access(Part part);
  Value *lanesOf(Value *vector, Part part);
  Value *concatenate(Value *low, Value *high);

  IRBuilder<> b;
  uint64_t registerBits;
  IntrinsicInst *call;
  bool isLoad;
  Value *pointer, *mask;
  FixedVectorType *type;
  SmallVector<Lane> lanes;
};
} // namespace

/// What is known of each lane of a mask.
static SmallVector<Lane> knownLanes(Value *mask, unsigned depth = 0) {
  unsigned count = cast<FixedVectorType>(mask->getType())->getNumElements();
  SmallVector<Lane> lanes(count, Lane::Unknown);
  constexpr unsigned kMaxDepth = 6;
  if (depth > kMaxDepth)
    return lanes;
  if (auto *constant = dyn_cast<Constant>(mask)) {
    for (unsigned lane = 0; lane < count; ++lane)
      if (auto *bit = dyn_cast_or_null<ConstantInt>(
              constant->getAggregateElement(lane)))
        lanes[lane] = bit->isOne() ? Lane::On : Lane::Off;
    return lanes;
  }
  auto *instruction = dyn_cast<Instruction>(mask);
  if (!instruction)
    return lanes;
  unsigned opcode = instruction->getOpcode();
  if (opcode != Instruction::And && opcode != Instruction::Or &&
      opcode != Instruction::Select)
    return lanes;
  bool isSelect = opcode == Instruction::Select;
  auto left = knownLanes(instruction->getOperand(isSelect ? 1 : 0), depth + 1);
  auto right = knownLanes(instruction->getOperand(isSelect ? 2 : 1), depth + 1);
  Lane decides = opcode == Instruction::And ? Lane::Off : Lane::On;
  for (unsigned lane = 0; lane < count; ++lane) {
    if (left[lane] == right[lane])
      lanes[lane] = left[lane];
    else if (!isSelect && (left[lane] == decides || right[lane] == decides))
      lanes[lane] = decides;
  }
  return lanes;
}

bool AccessSplitter::isAwkward(Part part) const {
  unsigned on = lanesThatAre(Lane::On, part);
  unsigned off = lanesThatAre(Lane::Off, part);
  if (on == part.size() || off == part.size())
    return true;
  if (part.size() == 1 || on + off == 0)
    return false; // nothing to gain from splitting
  return (on == 1 && off == part.size() - 1) ||
         part.size() * type->getScalarSizeInBits() > registerBits;
}

Value *AccessSplitter::lanesOf(Value *vector, Part part) {
  if (part.size() == type->getNumElements())
    return vector;
  SmallVector<int> lanes;
  for (unsigned lane = part.begin; lane < part.end; ++lane)
    lanes.push_back(lane);
  return b.CreateShuffleVector(vector, lanes);
}

Value *AccessSplitter::concatenate(Value *low, Value *high) {
  unsigned size = 2 * cast<FixedVectorType>(low->getType())->getNumElements();
  SmallVector<int> lanes;
  for (unsigned lane = 0; lane < size; ++lane)
    lanes.push_back(lane);
  return b.CreateShuffleVector(low, high, lanes);
}

/// Emits the access of a part; for loads, the value of its lanes.
Value *AccessSplitter::access(Part part) {
  Type *element = type->getElementType();
  Value *other = isLoad ? lanesOf(call->getArgOperand(2), part) : nullptr;
  if (lanesThatAre(Lane::Off, part) == part.size())
    return other;
  Align alignment =
      commonAlignment(call->getParamAlign(isLoad ? 0 : 1).valueOrOne(),
                      part.begin * type->getScalarSizeInBits() / 8);
  Value *address = b.CreateConstGEP1_64(element, pointer, part.begin);
  auto *partType = FixedVectorType::get(element, part.size());
  if (lanesThatAre(Lane::On, part) == part.size())
    return isLoad ? b.CreateAlignedLoad(partType, address, alignment)
                  : static_cast<Value *>(b.CreateAlignedStore(
                        lanesOf(call->getArgOperand(0), part), address,
                        alignment));
  if (isAwkward(part)) {
    unsigned middle = part.begin + part.size() / 2;
    Value *low = access({part.begin, middle});
    Value *high = access({middle, part.end});
    return isLoad ? concatenate(low, high) : nullptr;
  }
  Value *partMask = lanesOf(mask, part);
  if (isLoad)
    return b.CreateMaskedLoad(partType, address, alignment, partMask, other);
  return b.CreateMaskedStore(lanesOf(call->getArgOperand(0), part), address,
                             alignment, partMask);
}

bool AccessSplitter::run() {
  Part whole = {0, type->getNumElements()};
  if (!isPowerOf2_32(whole.size()))
    return false;
  lanes = knownLanes(mask);
  if (!isAwkward(whole))
    return false;
  Value *value = access(whole);
  if (isLoad)
    call->replaceAllUsesWith(value);
  call->eraseFromParent();
  return true;
}

PreservedAnalyses KnownMasksPass::run(Function &function,
                                      FunctionAnalysisManager &analyses) {
  uint64_t registerBits =
      analyses.getResult<TargetIRAnalysis>(function)
          .getRegisterBitWidth(TargetTransformInfo::RGK_FixedWidthVector)
          .getFixedValue();
  bool changed = false;
  for (BasicBlock &block : function)
    for (Instruction &instruction : make_early_inc_range(block)) {
      auto *call = dyn_cast<IntrinsicInst>(&instruction);
      if (call && (call->getIntrinsicID() == Intrinsic::masked_load ||
                   call->getIntrinsicID() == Intrinsic::masked_store))
        changed |= AccessSplitter(call, registerBits).run();
    }
  return changed ? PreservedAnalyses::none() : PreservedAnalyses::all();
}

} // namespace flashtile::cpu
