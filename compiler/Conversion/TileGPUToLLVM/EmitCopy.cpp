//===- EmitCopy.cpp - Asynchronous copies to shared memory ----------------===//
//
// Part of FlashTile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A window goes to shared memory by cp.async in chunks of 16 bytes, which ask
// that memory is contiguous along the last dimension and aligned. That is
// decided at run time, alike in all threads; what does not qualify is copied
// element by element in a loop, which is slow and short.
//
//===----------------------------------------------------------------------===//

#include "compiler/Analysis/Program/TileQueries.h"
#include "compiler/Conversion/TileGPUToLLVM/GpuEmitter.h"

#include "dialects/Tile/Transforms/ScalarFacts.h"
#include "dialects/TileGPU/IR/LaunchAttributes.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/IR/Matchers.h"

using namespace mlir;
using namespace flashtile;
using namespace flashtile::gpu;

static constexpr int64_t kChunkBytes = 16;

bool GpuEmitter::isKnownAligned(Value pointer) {
  auto window = pointer.getDefiningOp<tile::MakeBlockPtrOp>();
  if (!window || window.getType().getRank() != 2 ||
      tile::getConstantInt(window.getStrides()[1]) != 1)
    return false;
  int64_t width =
      kChunkBytes / bytesOfElement(window.getType().getElementType());
  auto divides = [&](Value value) { return tile::isMultipleOf(value, width); };
  if (!divides(window.getStrides()[0]) || !divides(window.getOffsets()[1]))
    return false;
  Value base = window.getBase();
  while (auto add = base.getDefiningOp<tile::AddPtrOp>()) {
    if (!divides(add.getOffset()))
      return false;
    base = add.getPointer();
  }
  auto argument = dyn_cast<BlockArgument>(base);
  auto required = kernel->getAttrOfType<ArrayAttr>(tilegpu::kRequiresAttr);
  if (!argument || !required || argument.getOwner()->getParentOp() != kernel)
    return false;
  return llvm::any_of(
      required.getAsRange<DictionaryAttr>(), [&](DictionaryAttr entry) {
        return entry.getAs<IntegerAttr>("argument").getInt() ==
                   argument.getArgNumber() &&
               entry.getAs<IntegerAttr>("divisor").getInt() % kChunkBytes == 0;
      });
}

/// A copy of whole chunks for which nothing is decided at run time.
bool GpuEmitter::isPlainCopy(tilegpu::CopyAsyncOp op) {
  const SharedLayout memory = sharedLayoutOf(op.getSlot().getType());
  const int64_t bytes = bytesOfElement(op.getSlot().getType().getElementType());
  // Every thread has chunks.
  const DistributedLayout layout =
      blocked(memory.shape, kChunkBytes / bytes, {1u, 0u}, warpCount());
  return layout.paddedShape() == ArrayRef<int64_t>(memory.shape) &&
         layout.replication(HardwareIndex::Lane).empty() &&
         layout.replication(HardwareIndex::Warp).empty() &&
         !kernel->hasAttr(tilegpu::kPlainAttr) &&
         isKnownAligned(op.getPointer());
}

bool GpuEmitter::isBeforeLoop(Value value) {
  auto loop = b.getInsertionBlock()->getParentOp()
                  ? dyn_cast<scf::ForOp>(b.getInsertionBlock()->getParentOp())
                  : scf::ForOp();
  return !loop || loop.isDefinedOutsideOfLoop(value);
}

/// Whether every chunk is aligned in memory and contiguous.
static Value isChunked(ImplicitLocOpBuilder &b, const GpuWindow &window,
                       Type element) {
  auto constant = [&](int64_t value) -> Value {
    return arith::ConstantOp::create(b, b.getI64IntegerAttr(value));
  };
  Value misfit = window.base;
  for (Value elements : {window.strides[0], window.offsets[1]})
    misfit = arith::OrIOp::create(
        b, misfit,
        arith::MulIOp::create(b, elements, constant(bytesOfElement(element))));
  Value aligned = arith::CmpIOp::create(
      b, arith::CmpIPredicate::eq,
      arith::AndIOp::create(b, misfit, constant(kChunkBytes - 1)), constant(0));
  if (matchPattern(window.strides[1], m_One()))
    return aligned;
  return arith::AndIOp::create(
      b, aligned,
      arith::CmpIOp::create(b, arith::CmpIPredicate::eq, window.strides[1],
                            constant(1)));
}

void GpuEmitter::copyChunks(const GpuWindow &window, tilegpu::CopyAsyncOp op,
                            const SharedLayout &memory, Value start) {
  Type element = op.getSlot().getType().getElementType();
  int64_t bytes = bytesOfElement(element), width = kChunkBytes / bytes;
  DistributedLayout layout =
      blocked(memory.shape, width, {1u, 0u}, warpCount());
  ArrayRef<int64_t> tile = op.getPointer().getType().getShape();
  auto inBounds = op.getInBounds();
  // The first register's address once, the others by their distance. What an
  // iteration changes comes last, so that a loop keeps the rest.
  Value row = toI64(threadOffset(layout, 0));
  Value column = toI64(threadOffset(layout, 1));
  Value rowBytes = arith::MulIOp::create(b, window.strides[0], i64(bytes));
  Value first = window.base;
  auto addRows = [&](Value rows) {
    first = arith::AddIOp::create(b, first,
                                  arith::MulIOp::create(b, rows, rowBytes));
  };
  auto addColumns = [&](Value columns) {
    first = arith::AddIOp::create(
        b, first, arith::MulIOp::create(b, columns, i64(bytes)));
  };
  const bool rowsStay = !copyGuard || isBeforeLoop(window.offsets[0]);
  const bool columnsStay = !copyGuard || isBeforeLoop(window.offsets[1]);
  Value firstRow = arith::AddIOp::create(b, window.offsets[0], row);
  Value firstColumn = arith::AddIOp::create(b, window.offsets[1], column);
  addRows(rowsStay ? firstRow : row);
  addColumns(columnsStay ? firstColumn : column);
  if (!rowsStay)
    addRows(window.offsets[0]);
  if (!columnsStay)
    addColumns(window.offsets[1]);
  row = firstRow;
  column = firstColumn;
  // A chunk that several threads hold is copied by the first.
  Value holds;
  if (!layout.replication(HardwareIndex::Lane).empty() ||
      !layout.replication(HardwareIndex::Warp).empty())
    holds = isFirstHolder(layout);
  // From one to the next, so that no address outlives its use.
  Value from = first;
  Coordinates before(2, 0);
  for (int64_t index = 0; index < layout.registersPerThread(); index += width) {
    Coordinates own = layout.offset(HardwareIndex::Register, index);
    if (int64_t rows = own[0] - before[0])
      from = arith::AddIOp::create(
          b, from, arith::MulIOp::create(b, rowBytes, i64(rows)));
    if (int64_t columns = own[1] - before[1])
      from = arith::AddIOp::create(b, from, i64(columns * bytes));
    before = own;
    // Bytes to read: 16, fewer at the end of a row, none outside.
    Value valid = i32(kChunkBytes);
    Value inside;
    auto conjoin = [&](Value condition) {
      inside = inside ? Value(arith::AndIOp::create(b, inside, condition))
                      : condition;
    };
    if (tile[0] < layout.paddedShape()[0])
      conjoin(arith::CmpIOp::create(b, arith::CmpIPredicate::ult,
                                    coordinate(layout, index, 0),
                                    i32(tile[0])));
    if (!(inBounds && (*inBounds)[0]))
      conjoin(arith::CmpIOp::create(b, arith::CmpIPredicate::ult,
                                    arith::AddIOp::create(b, row, i64(own[0])),
                                    window.shape[0]));
    // Elements from this column to the end of the tile or the tensor.
    auto clampTo = [&](Value left) {
      Value most = arith::MinSIOp::create(b, left, i64(width));
      Value some = arith::MaxSIOp::create(b, most, i64(0));
      Value here = arith::TruncIOp::create(
          b, b.getI32Type(), arith::MulIOp::create(b, some, i64(bytes)));
      valid = arith::MinUIOp::create(b, valid, here);
    };
    if (tile[1] < layout.paddedShape()[1])
      clampTo(arith::SubIOp::create(b, i64(tile[1]),
                                    toI64(coordinate(layout, index, 1))));
    if (!(inBounds && (*inBounds)[1])) {
      Value at = arith::AddIOp::create(b, column, i64(own[1]));
      clampTo(arith::SubIOp::create(b, window.shape[1], at));
      conjoin(arith::CmpIOp::create(b, arith::CmpIPredicate::ult, at,
                                    window.shape[1]));
    }
    if (inside)
      valid = arith::SelectOp::create(b, inside, valid, i32(0));
    auto copy = [&] {
      Value to = sharedAddress(memory, layout, index, start);
      IntegerAttr whole;
      bool always = matchPattern(valid, m_Constant(&whole)) &&
                    whole.getInt() == kChunkBytes;
      SmallVector<Value> operands = {to, from};
      std::string text = "cp.async.cg.shared.global.L2::128B [$0], [$1], 16";
      std::string constraints = "r,l";
      auto add = [&](Value operand, const char *constraint) {
        constraints += std::string(",") + constraint;
        operands.push_back(operand);
        return "$" + std::to_string(operands.size() - 1);
      };
      if (!always)
        text += ", " + add(valid, "r");
      if (copyGuard)
        text = "@" + add(copyGuard, "b") + " " + text;
      LLVM::InlineAsmOp::create(
          b, TypeRange(), operands, text + ";", constraints + ",~{memory}",
          /*has_side_effects=*/true, /*is_align_stack=*/false,
          LLVM::TailCallKind::None, /*asm_dialect=*/nullptr,
          /*operand_attrs=*/nullptr);
    };
    // Some threads may have nothing to do in a small buffer.
    Value exists = holds;
    for (unsigned dim = 0; dim < 2; ++dim)
      if (layout.paddedShape()[dim] > memory.shape[dim]) {
        Value fits = arith::CmpIOp::create(b, arith::CmpIPredicate::ult,
                                           coordinate(layout, index, dim),
                                           i32(memory.shape[dim]));
        exists = exists ? Value(arith::AndIOp::create(b, exists, fits)) : fits;
      }
    if (!exists) {
      copy();
      continue;
    }
    auto guard = scf::IfOp::create(b, exists, /*withElseRegion=*/false);
    OpBuilder::InsertionGuard restore(b);
    b.setInsertionPoint(guard.thenYield());
    copy();
  }
}

void GpuEmitter::copyElements(const GpuWindow &window, tilegpu::CopyAsyncOp op,
                              const SharedLayout &memory, Value start) {
  Type element = op.getSlot().getType().getElementType();
  Type inRegister = registerType(element);
  ArrayRef<int64_t> tile = op.getPointer().getType().getShape();
  int64_t threads = warpCount() * lanesPerWarp;
  Value thread = arith::AddIOp::create(
      b, arith::MulIOp::create(b, self.warp, i32(lanesPerWarp)), self.lane);
  auto loop = scf::ForOp::create(
      b, thread, i32(memory.shape[0] * memory.shape[1]), i32(threads));
  OpBuilder::InsertionGuard restore(b);
  b.setInsertionPointToStart(loop.getBody());
  Value at = loop.getInductionVar();
  Value row = arith::DivUIOp::create(b, at, i32(memory.shape[1]));
  Value column = arith::RemUIOp::create(b, at, i32(memory.shape[1]));
  Value inside, from = window.base;
  const Value positions[] = {row, column};
  for (auto [dim, position] : llvm::enumerate(positions)) {
    Value place =
        arith::AddIOp::create(b, window.offsets[dim], toI64(position));
    Value below = arith::AndIOp::create(
        b,
        arith::CmpIOp::create(b, arith::CmpIPredicate::ult, position,
                              i32(tile[dim])),
        arith::CmpIOp::create(b, arith::CmpIPredicate::ult, place,
                              window.shape[dim]));
    inside = inside ? Value(arith::AndIOp::create(b, inside, below)) : below;
    from = arith::AddIOp::create(
        b, from,
        arith::MulIOp::create(
            b, place,
            arith::MulIOp::create(b, window.strides[dim],
                                  i64(bytesOfElement(element)))));
  }
  Value zero = arith::ConstantOp::create(b, b.getZeroAttr(inRegister));
  Value value = loadElements({from, 0}, inside, zero, element).front();
  LLVM::StoreOp::create(
      b, value, sharedPointer(b, sharedAddress(memory, {row, column}, start)));
}

void GpuEmitter::emitCopy(tilegpu::CopyAsyncOp op) {
  orderLoads();
  const GpuWindow window = windows.at(op.getPointer());
  SharedLayout memory = sharedLayoutOf(op.getSlot().getType());
  Value start = smemAddress(op.getSlot());
  Type element = op.getSlot().getType().getElementType();
  // Chunks that a row of the buffer holds whole.
  bool fits = memory.shape[1] * bytesOfElement(element) % kChunkBytes == 0;
  if (!fits)
    return copyElements(window, op, memory, start);
  if (kernel->hasAttr(tilegpu::kPlainAttr))
    return copyElements(window, op, memory, start);
  if (isKnownAligned(op.getPointer()))
    return copyChunks(window, op, memory, start);
  auto branch = scf::IfOp::create(b, isChunked(b, window, element),
                                  /*withElseRegion=*/true);
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPoint(branch.thenYield());
  copyChunks(window, op, memory, start);
  b.setInsertionPoint(branch.elseYield());
  copyElements(window, op, memory, start);
}
