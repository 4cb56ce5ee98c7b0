//===- EmitAtomic.cpp - Atomic additions ----------------------------------===//
//
// Part of FlashTile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// One holder of an element adds, relaxed and for the whole device; where the
// result is used, the other holders get it by shuffles and through shared
// memory.
//
//===----------------------------------------------------------------------===//

#include "compiler/Conversion/TileGPUToLLVM/GpuEmitter.h"

#include "compiler/Conversion/TileToTileGPU/LayoutAttrs.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "mlir/IR/Matchers.h"
#include "llvm/ADT/MapVector.h"

using namespace mlir;
using namespace flashtile;
using namespace flashtile::gpu;
using namespace flashtile::tile;

namespace {
/// The instruction's type, and the class of its asm operands.
struct AtomicType {
  StringRef name, constraint;
};
} // namespace

static AtomicType atomicType(Type element) {
  if (element.isF64())
    return {"f64", "d"};
  if (element.isF32())
    return {"f32", "f"};
  if (element.isF16())
    return {"noftz.f16", "h"};
  if (element.isBF16())
    return {"noftz.bf16", "h"};
  return element.isInteger(64) ? AtomicType{"u64", "l"}
                               : AtomicType{"u32", "r"};
}

Value GpuEmitter::atomicAdd(Value address, Value mask, Value value) {
  Type element = value.getType();
  bool isFamily80 = kernel->getAttrOfType<StringAttr>(
                        tilegpu::TileGPUDialect::kTargetAttr) == "sm_80";
  if (element.isBF16() && isFamily80) {
    // No such instruction: LLVM makes it a loop of compare-and-swap.
    Value zero = arith::ConstantOp::create(b, b.getZeroAttr(element));
    auto branch = scf::IfOp::create(b, TypeRange{element}, mask,
                                    /*withElseRegion=*/true);
    OpBuilder::InsertionGuard guard(b);
    b.setInsertionPointToStart(branch.thenBlock());
    auto pointer = LLVM::LLVMPointerType::get(
        b.getContext(), static_cast<unsigned>(NVVM::NVVMMemorySpace::Global));
    Value old = LLVM::AtomicRMWOp::create(
        b, LLVM::AtomicBinOp::fadd,
        LLVM::IntToPtrOp::create(b, pointer, address), value,
        LLVM::AtomicOrdering::monotonic, "device");
    scf::YieldOp::create(b, old);
    b.setInsertionPointToStart(branch.elseBlock());
    scf::YieldOp::create(b, zero);
    return branch.getResult(0);
  }
  AtomicType type = atomicType(element);
  bool half = element.getIntOrFloatBitWidth() == 16;
  Type carrier = half ? Type(b.getI16Type()) : element;
  if (half)
    value = arith::BitcastOp::create(b, carrier, value);
  Value zero = arith::ConstantOp::create(b, b.getZeroAttr(carrier));
  std::string text =
      ("{ .reg .pred p; setp.ne.b32 p, $2, 0; @p atom.relaxed.gpu.global.add." +
       type.name + " $0, [$1], $3; }")
          .str();
  std::string constraints =
      ("=" + type.constraint + ",l,r," + type.constraint + ",0,~{memory}")
          .str();
  Value old =
      LLVM::InlineAsmOp::create(
          b, carrier,
          ValueRange{address, arith::ExtUIOp::create(b, b.getI32Type(), mask),
                     value, zero},
          text, constraints, /*has_side_effects=*/true,
          /*is_align_stack=*/false, LLVM::TailCallKind::None,
          /*asm_dialect=*/nullptr, /*operand_attrs=*/nullptr)
          .getResult(0);
  return half ? Value(arith::BitcastOp::create(b, element, old)) : old;
}

Registers GpuEmitter::fromFirstHolders(Registers values,
                                       ArrayRef<DigitPosition> laneCopies,
                                       ArrayRef<DigitPosition> warpCopies) {
  auto first = [&](HardwareIndex index, ArrayRef<DigitPosition> digits) {
    Value at = index == HardwareIndex::Lane ? self.lane : self.warp;
    for (const DigitPosition &digit : digits) {
      Value own = digitOf(index, digit.stride, digit.extent);
      at = arith::SubIOp::create(
          b, at, arith::MulIOp::create(b, own, i32(digit.stride)));
    }
    return at;
  };
  if (!laneCopies.empty()) {
    Value source = first(HardwareIndex::Lane, laneCopies);
    for (Value &value : values)
      value = shuffleIndex(value, source);
  }
  if (!warpCopies.empty())
    values =
        exchangeWarps(values, first(HardwareIndex::Warp, warpCopies)).front();
  return values;
}

/// Adds four neighbouring elements at a time where they are known to be
/// aligned; nobody gets the old ones.
bool GpuEmitter::emitVectorAtomic(tilegpu::AtomicAddOp op) {
  constexpr int64_t kWidth = 4;
  auto type = cast<RankedTensorType>(op.getType());
  if (!isHopper() || !op->use_empty() || !type.getElementType().isF32() ||
      !isa<BlockPtrType>(op.getPointer().getType()))
    return false;
  DistributedLayout layout = layoutOf(type);
  std::optional<VectorPlan> vectors =
      planVectors(op.getPointer(), layout, type.getElementType());
  if (!vectors || vectors->usable || vectors->width != kWidth)
    return false;
  const GpuWindow window = windows.at(op.getPointer());
  unsigned along = vectors->dim, across = 1 - along;
  // Whole rows of the tensor need no look at the columns.
  SmallVector<bool> promised(2, false);
  APInt start, extent;
  promised[along] =
      matchPattern(window.offsets[along], m_ConstantInt(&start)) &&
      matchPattern(window.shape[along], m_ConstantInt(&extent)) &&
      start.isZero() && extent.sge(type.getDimSize(along)) &&
      !layout.isPaddedAlong(along);
  // Once for each row that a thread has; the rest is in the instructions. One
  // branch leads around those with the same condition.
  struct Row {
    Value address, inside;
    int64_t column;
    std::string text;
    SmallVector<Value> operands;
  };
  llvm::MapVector<int64_t, Row> rows;
  Value owner = isFirstHolder(layout);
  const Registers values = tiles.at(op.getValue());
  int64_t bytes = type.getElementTypeBitWidth() / 8;
  auto emit = [&](Row &row) {
    std::string constraints = "l,r";
    for (size_t index = 2; index < row.operands.size(); ++index)
      constraints += ",f";
    inlinePtx(Type(),
              "{ .reg .pred p; setp.eq.b32 p, $1, 0; @p bra NONE_${:uid};\n" +
                  row.text + "NONE_${:uid}: }",
              constraints + ",~{memory}", row.operands);
    row.text.clear();
  };
  for (int64_t index = 0; index < layout.registersPerThread();
       index += kWidth) {
    auto own = layout.offset(HardwareIndex::Register, index);
    Row &row = rows[own[across]];
    if (!row.address || !promised[along]) {
      Value mask = windowMask(window, layout, index, ArrayRef<bool>(promised),
                              type.getShape());
      row.inside = arith::ExtUIOp::create(
          b, b.getI32Type(), arith::AndIOp::create(b, owner, mask));
    }
    if (!row.address) {
      row.address = windowAddress(window, layout, index, type.getElementType());
      row.column = own[along];
    }
    if (row.text.empty())
      row.operands = {row.address, row.inside};
    llvm::append_range(row.operands,
                       ArrayRef<Value>(values).slice(index, kWidth));
    auto first = static_cast<int64_t>(row.operands.size()) - kWidth;
    row.text += ("red.relaxed.gpu.global.add.v4.f32 [$0+" +
                 Twine((own[along] - row.column) * bytes) + "], {$" +
                 Twine(first) + ", $" + Twine(first + 1) + ", $" +
                 Twine(first + 2) + ", $" + Twine(first + 3) + "};\n")
                    .str();
    // Others have conditions of their own, or too many operands.
    constexpr size_t kMostOperands = 2 + 64;
    if (!promised[along] || row.operands.size() >= kMostOperands)
      emit(row);
  }
  for (auto &[at, row] : rows)
    if (!row.text.empty())
      emit(row);
  tiles[op.getResult()] = values;
  return true;
}

LogicalResult GpuEmitter::emitAtomic(tilegpu::AtomicAddOp op) {
  orderAdditions(op);
  if (emitVectorAtomic(op))
    return success();
  auto type = cast<RankedTensorType>(op.getType());
  DistributedLayout layout = layoutOf(type);
  Value owner = isFirstHolder(layout);
  Registers results;
  for (int64_t index = 0; index < layout.registersPerThread(); ++index) {
    Value mask = owner, address;
    auto conjoin = [&](Value condition) {
      if (condition)
        mask = arith::AndIOp::create(b, mask, condition);
    };
    if (isa<BlockPtrType>(op.getPointer().getType())) {
      const GpuWindow window = windows.at(op.getPointer());
      conjoin(windowMask(window, layout, index, std::nullopt, type.getShape()));
      address = windowAddress(window, layout, index, type.getElementType());
    } else {
      if (op.getMask())
        conjoin(tiles.at(op.getMask())[index]);
      mask = maskedByTile(mask, layout, index);
      address = tiles.at(op.getPointer())[index];
    }
    results.push_back(atomicAdd(address, mask, tiles.at(op.getValue())[index]));
  }
  if (!op->use_empty())
    results = fromFirstHolders(results, layout.replication(HardwareIndex::Lane),
                               layout.replication(HardwareIndex::Warp));
  tiles[op.getResult()] = results;
  return success();
}

void GpuEmitter::emitScalarAtomic(AtomicAddOp op) {
  orderAdditions(op);
  Value mask = isFirstThread();
  if (op.getMask())
    mask = arith::AndIOp::create(b, mask, scalar(op.getMask()));
  Registers results = {
      atomicAdd(scalar(op.getPointer()), mask, scalar(op.getValue()))};
  if (!op->use_empty() && role != Role::Producer) {
    DigitPosition lanes{1, lanesPerWarp}, warps{1, warpCount()};
    results = fromFirstHolders(results, lanes, warps);
  }
  scalars.map(op.getResult(), results.front());
}
