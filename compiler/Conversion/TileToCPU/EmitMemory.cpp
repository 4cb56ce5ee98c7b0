//===- EmitMemory.cpp - Loads, stores and atomics -------------------------===//
//
// Part of FlashTile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A load copies a window or the targets of a tile of pointers into its buffer,
// converting to the compute type; it happens where the program says, so that
// order with stores is kept. Nothing outside a mask or a tensor's bounds is
// touched: the instructions are masked, not the values.
//
//===----------------------------------------------------------------------===//

#include "compiler/Conversion/TileToCPU/KernelEmitter.h"
#include "compiler/Conversion/TileToCPU/Numerics.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/IR/Matchers.h"

using namespace mlir;
using namespace flashtile::tile;
using namespace flashtile::cpu;
using flashtile::tile::getElementType;

static unsigned elementBytes(Type element) {
  return (getMemoryType(element).getIntOrFloatBitWidth() + 7) / 8;
}

Value KernelEmitter::elementPointer(Value base, Value offset, Type element) {
  Type type =
      isa<VectorType>(offset.getType())
          ? Type(LLVM::getVectorType(base.getType(), plan.vectors.lanes))
          : base.getType();
  return LLVM::GEPOp::create(b, type, getMemoryType(element), base,
                             ArrayRef<LLVM::GEPArg>{offset});
}

Window KernelEmitter::window(Value pointer) { return windows.lookup(pointer); }

//===----------------------------------------------------------------------===//
// Bounds
//===----------------------------------------------------------------------===//

Value KernelEmitter::validLanes(const Coord &coord, int64_t extent) {
  Value lanes = laneIndices(coord);
  return arith::CmpIOp::create(b, arith::CmpIPredicate::ult, lanes,
                               constantInt(b, lanes.getType(), extent));
}

Value KernelEmitter::windowOffset(const Window &window,
                                  ArrayRef<Coord> coords) {
  Value sum;
  for (auto [dim, coord] : llvm::enumerate(coords)) {
    Value position =
        arith::AddIOp::create(b, window.offsets[dim], asI64(coord.index));
    Value scaled = arith::MulIOp::create(b, position, window.strides[dim]);
    sum = sum ? Value(arith::AddIOp::create(b, sum, scaled)) : scaled;
  }
  return sum;
}

Value KernelEmitter::inBounds(const Window &window, ArrayRef<Coord> coords,
                              std::optional<ArrayRef<bool>> promised,
                              ArrayRef<int64_t> shape) {
  Value rows, lanes;
  auto conjoin = [&](Value &all, Value condition) {
    all = all ? Value(arith::AndIOp::create(b, all, condition)) : condition;
  };
  for (auto [dim, coord] : llvm::enumerate(coords)) {
    bool vector = coord.kind != Coord::Scalar;
    if (vector && shape[dim] % plan.vectors.lanes != 0)
      conjoin(lanes, validLanes(coord, shape[dim]));
    if (promised && (*promised)[dim])
      continue;
    // 0 <= position < extent, as one unsigned comparison; nothing lies in a
    // negative extent.
    Value start = window.offsets[dim];
    Value extent = arith::MaxSIOp::create(b, window.shape[dim], i64(0));
    if (!vector) {
      Value position = arith::AddIOp::create(b, start, asI64(coord.index));
      conjoin(rows, arith::CmpIOp::create(b, arith::CmpIPredicate::ult,
                                          position, extent));
      continue;
    }
    VectorType type = vectorOf(b.getI64Type());
    Value first = arith::AddIOp::create(b, start, asI64(coord.index));
    Value position = arith::AddIOp::create(
        b, vector::BroadcastOp::create(b, type, first), laneNumbers());
    conjoin(lanes, arith::CmpIOp::create(
                       b, arith::CmpIPredicate::ult, position,
                       vector::BroadcastOp::create(b, type, extent)));
  }
  if (!rows)
    return lanes;
  if (!lanes)
    return rows;
  return arith::AndIOp::create(b, lanes, matchShape(b, rows, lanes.getType()));
}

/// Whether the whole window lies in the tensor; null where it is promised.
static Value windowInside(ImplicitLocOpBuilder &b, const Window &window,
                          ArrayRef<int64_t> shape,
                          std::optional<ArrayRef<bool>> promised) {
  Value all;
  Type i64 = b.getI64Type();
  for (auto [dim, extent] : llvm::enumerate(shape)) {
    if (promised && (*promised)[dim])
      continue;
    Value last = arith::SubIOp::create(b, window.shape[dim],
                                       constantInt(b, i64, extent));
    Value fits = arith::AndIOp::create(
        b,
        arith::CmpIOp::create(b, arith::CmpIPredicate::sge, window.offsets[dim],
                              constantInt(b, i64, 0)),
        arith::CmpIOp::create(b, arith::CmpIPredicate::sle, window.offsets[dim],
                              last));
    all = all ? Value(arith::AndIOp::create(b, all, fits)) : fits;
  }
  return all;
}

/// Runs `then` where `condition` holds and `otherwise` where not; a null or
/// constant condition decides now.
static void branch(ImplicitLocOpBuilder &b, Value condition,
                   function_ref<void()> then, function_ref<void()> otherwise) {
  APInt constant;
  if (!condition || matchPattern(condition, m_ConstantInt(&constant)))
    return !condition || constant.isOne() ? then() : otherwise();
  auto ifOp = scf::IfOp::create(b, condition, /*withElseRegion=*/true);
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPoint(ifOp.thenYield());
  then();
  b.setInsertionPoint(ifOp.elseYield());
  otherwise();
}

/// Whether a stride is 1; null where that is known now.
static Value isUnit(ImplicitLocOpBuilder &b, Value stride) {
  if (matchPattern(stride, m_One()))
    return {};
  return arith::CmpIOp::create(b, arith::CmpIPredicate::eq, stride,
                               constantInt(b, b.getI64Type(), 1));
}

//===----------------------------------------------------------------------===//
// Vector access
//===----------------------------------------------------------------------===//

/// Reads a vector at `pointer` (one pointer, or one for each lane) in the
/// memory format; `mask` may be null.
static Value loadVector(ImplicitLocOpBuilder &b, Value pointer, Value mask,
                        Value passThrough, Type element) {
  VectorType type = cast<VectorType>(passThrough.getType());
  unsigned alignment = elementBytes(element);
  bool gather = isa<VectorType>(pointer.getType());
  if (!mask && !gather)
    return LLVM::LoadOp::create(b, type, pointer, alignment);
  Type maskType = VectorType::get(type.getShape(), b.getI1Type());
  mask = mask ? matchShape(b, mask, maskType) : constantInt(b, maskType, 1);
  if (gather)
    return LLVM::masked_gather::create(b, type, pointer, mask, passThrough,
                                       b.getI32IntegerAttr(alignment));
  return LLVM::MaskedLoadOp::create(b, type, pointer, mask, passThrough,
                                    b.getI32IntegerAttr(alignment));
}

static void storeVector(ImplicitLocOpBuilder &b, Value pointer, Value mask,
                        Value bits, Type element) {
  auto type = cast<VectorType>(bits.getType());
  unsigned alignment = elementBytes(element);
  bool scatter = isa<VectorType>(pointer.getType());
  if (!mask && !scatter) {
    LLVM::StoreOp::create(b, bits, pointer, alignment);
    return;
  }
  Type maskType = VectorType::get(type.getShape(), b.getI1Type());
  mask = mask ? matchShape(b, mask, maskType) : constantInt(b, maskType, 1);
  if (scatter)
    LLVM::masked_scatter::create(b, bits, pointer, mask,
                                 b.getI32IntegerAttr(alignment));
  else
    LLVM::MaskedStoreOp::create(b, bits, pointer, mask,
                                b.getI32IntegerAttr(alignment));
}

/// What masked-off elements of a load are, in the compute type.
static Value paddingValue(ImplicitLocOpBuilder &b, Padding padding,
                          Type compute) {
  if (padding == Padding::Zero)
    return isa<FloatType>(compute) ? constantFloat(b, compute, 0.0)
                                   : constantInt(b, compute, 0);
  double value = padding == Padding::NaN
                     ? std::numeric_limits<double>::quiet_NaN()
                     : -std::numeric_limits<double>::infinity();
  return constantFloat(b, compute, value);
}

//===----------------------------------------------------------------------===//
// Loads
//===----------------------------------------------------------------------===//

void KernelEmitter::emitWindowLoad(LoadOp op, unsigned bufferId) {
  const Buffer &buffer = plan.buffers()[bufferId];
  Window from = window(op.getPointer());
  ArrayRef<int64_t> shape = buffer.type.getShape();
  Type element = buffer.type.getElementType();
  VectorType memory = vectorOf(getMemoryType(element));
  std::optional<ArrayRef<bool>> promised = op.getInBounds();
  SmallVector<bool> all(shape.size(), true);

  auto copy = [&](bool contiguous, bool inside) {
    std::optional<ArrayRef<bool>> checked = promised;
    if (inside)
      checked = ArrayRef<bool>(all);
    forEachVector(shape, buffer.laneDim, [&](ArrayRef<Coord> coords) {
      Value mask = inBounds(from, coords, checked, shape);
      Value pointer =
          elementPointer(from.base, windowOffset(from, coords), element);
      if (!contiguous) {
        Value stride = from.strides[buffer.laneDim];
        Value steps = arith::MulIOp::create(
            b, laneNumbers(),
            vector::BroadcastOp::create(b, vectorOf(b.getI64Type()), stride));
        pointer = elementPointer(pointer, steps, element);
      }
      Value zero = arith::ConstantOp::create(b, b.getZeroAttr(memory));
      Value value =
          decode(b, loadVector(b, pointer, mask, zero, element), element);
      if (mask && op.getPadding() != Padding::Zero) {
        Type compute = value.getType();
        value =
            arith::SelectOp::create(b, matchShape(b, mask, compute), value,
                                    paddingValue(b, op.getPadding(), compute));
      }
      writeBuffer(bufferId, coords, value);
    });
  };
  branch(
      b, isUnit(b, from.strides[buffer.laneDim]),
      [&] {
        branch(
            b, windowInside(b, from, shape, promised),
            [&] { copy(/*contiguous=*/true, /*inside=*/true); },
            [&] { copy(/*contiguous=*/true, /*inside=*/false); });
      },
      [&] { copy(/*contiguous=*/false, /*inside=*/false); });
}

/// Distance in memory, in elements, between neighbours along `dim` of a tile of
/// pointers or offsets; nothing where it is not a constant.
static std::optional<int64_t> elementStride(Value value, unsigned dim,
                                            unsigned depth = 0) {
  auto type = tileType(value);
  constexpr unsigned kMaxDepth = 16;
  if (!type)
    return 0;
  if (depth > kMaxDepth)
    return std::nullopt;
  Operation *op = value.getDefiningOp();
  DenseElementsAttr constant;
  if (!op)
    return std::nullopt;
  if (matchPattern(op, m_Constant(&constant)))
    return constant.isSplat() ? std::optional<int64_t>(0) : std::nullopt;
  if (isa<ArangeOp>(op))
    return 1;
  if (isa<SplatOp, FullOp>(op))
    return 0;
  if (auto expand = dyn_cast<ExpandDimsOp>(op)) {
    unsigned axis = expand.getAxis();
    if (dim == axis)
      return 0;
    return elementStride(expand.getOperand(), dim > axis ? dim - 1 : dim,
                         depth + 1);
  }
  if (auto broadcast = dyn_cast<BroadcastOp>(op)) {
    if (tileType(broadcast.getOperand()).getDimSize(dim) == 1)
      return 0;
    return elementStride(broadcast.getOperand(), dim, depth + 1);
  }
  if (auto trans = dyn_cast<TransOp>(op))
    return elementStride(trans.getOperand(), trans.getOrder()[dim], depth + 1);
  if (isa<arith::ExtSIOp, AssumeOp>(op))
    return elementStride(op->getOperand(0), dim, depth + 1);
  if (isa<AddPtrOp, arith::AddIOp, arith::SubIOp>(op)) {
    auto left = elementStride(op->getOperand(0), dim, depth + 1);
    auto right = elementStride(op->getOperand(1), dim, depth + 1);
    if (!left || !right)
      return std::nullopt;
    return isa<arith::SubIOp>(op) ? *left - *right : *left + *right;
  }
  if (isa<arith::MulIOp>(op)) {
    // Invariant times invariant stays so; a constant scales.
    auto left = elementStride(op->getOperand(0), dim, depth + 1);
    auto right = elementStride(op->getOperand(1), dim, depth + 1);
    if (left == 0 && right == 0)
      return 0;
    APInt factor;
    DenseElementsAttr elements;
    if (left && matchPattern(op->getOperand(1), m_Constant(&elements)) &&
        elements.isSplat())
      return *left * elements.getSplatValue<APInt>().getSExtValue();
  }
  return std::nullopt;
}

Value KernelEmitter::lanesOf(Value mask, ArrayRef<Coord> coords,
                             ArrayRef<int64_t> shape, unsigned laneDim) {
  Value lanes = mask ? evaluateVector(mask, coords) : Value();
  if (shape[laneDim] % plan.vectors.lanes == 0)
    return lanes;
  Value valid = validLanes(coords[laneDim], shape[laneDim]);
  return lanes ? Value(arith::AndIOp::create(b, lanes, valid)) : valid;
}

Value KernelEmitter::pointersAt(Value pointers, ArrayRef<Coord> coords,
                                unsigned laneDim) {
  Type type = LLVM::LLVMPointerType::get(b.getContext());
  if (elementStride(pointers, laneDim) != 1)
    return LLVM::IntToPtrOp::create(
        b, LLVM::getVectorType(type, plan.vectors.lanes),
        evaluateVector(pointers, coords));
  Coords first(coords.begin(), coords.end());
  first[laneDim].kind = Coord::Scalar;
  return LLVM::IntToPtrOp::create(b, type, evaluate(pointers, first));
}

void KernelEmitter::emitPointerLoad(LoadOp op, unsigned bufferId) {
  const Buffer &buffer = plan.buffers()[bufferId];
  ArrayRef<int64_t> shape = buffer.type.getShape();
  Type element = buffer.type.getElementType();
  VectorType memory = vectorOf(getMemoryType(element));
  forEachVector(shape, buffer.laneDim, [&](ArrayRef<Coord> coords) {
    Value mask = lanesOf(op.getMask(), coords, shape, buffer.laneDim);
    Value pointer = pointersAt(op.getPointer(), coords, buffer.laneDim);
    Value zero = arith::ConstantOp::create(b, b.getZeroAttr(memory));
    Value value =
        decode(b, loadVector(b, pointer, mask, zero, element), element);
    if (op.getOther())
      value = arith::SelectOp::create(b, mask, value,
                                      evaluateVector(op.getOther(), coords));
    writeBuffer(bufferId, coords, value);
  });
}

void KernelEmitter::emitLoad(LoadOp op) {
  b.setLoc(op.getLoc());
  if (tileType(op.getResult())) {
    for (unsigned id : plan.buffersOf(op.getResult())) {
      if (isa<BlockPtrType>(op.getPointer().getType()))
        emitWindowLoad(op, id);
      else
        emitPointerLoad(op, id);
    }
    return;
  }
  Type element = op.getType();
  auto read = [&]() -> Value {
    Value bits =
        LLVM::LoadOp::create(b, getMemoryType(element), scalar(op.getPointer()),
                             elementBytes(element));
    return decode(b, bits, element);
  };
  if (!op.getMask()) {
    scalars.map(op.getResult(), read());
    return;
  }
  Type compute = getComputeType(element);
  auto ifOp = scf::IfOp::create(b, compute, scalar(op.getMask()),
                                /*withElseRegion=*/true);
  {
    OpBuilder::InsertionGuard guard(b);
    b.setInsertionPointToStart(ifOp.thenBlock());
    scf::YieldOp::create(b, read());
    b.setInsertionPointToStart(ifOp.elseBlock());
    Value other = op.getOther() ? scalar(op.getOther())
                                : paddingValue(b, Padding::Zero, compute);
    scf::YieldOp::create(b, other);
  }
  scalars.map(op.getResult(), ifOp.getResult(0));
}

//===----------------------------------------------------------------------===//
// Stores
//===----------------------------------------------------------------------===//

void KernelEmitter::emitWindowStore(StoreOp op) {
  auto type = tileType(op.getValue());
  Window to = window(op.getPointer());
  ArrayRef<int64_t> shape = type.getShape();
  Type element = type.getElementType();
  unsigned laneDim = memoryLaneDim(op.getPointer(), type.getRank());
  auto copy = [&](bool contiguous) {
    forEachVector(shape, laneDim, [&](ArrayRef<Coord> coords) {
      Value bits = encode(b, evaluateVector(op.getValue(), coords), element);
      Value mask = inBounds(to, coords, op.getInBounds(), shape);
      Value pointer =
          elementPointer(to.base, windowOffset(to, coords), element);
      if (!contiguous) {
        Value steps = arith::MulIOp::create(
            b, laneNumbers(),
            vector::BroadcastOp::create(b, vectorOf(b.getI64Type()),
                                        to.strides[laneDim]));
        pointer = elementPointer(pointer, steps, element);
      }
      storeVector(b, pointer, mask, bits, element);
    });
  };
  branch(
      b, isUnit(b, to.strides[laneDim]), [&] { copy(/*contiguous=*/true); },
      [&] { copy(/*contiguous=*/false); });
}

void KernelEmitter::emitPointerStore(StoreOp op) {
  auto type = tileType(op.getValue());
  ArrayRef<int64_t> shape = type.getShape();
  Type element = type.getElementType();
  unsigned laneDim = plan.laneDim(op.getValue());
  forEachVector(shape, laneDim, [&](ArrayRef<Coord> coords) {
    Value bits = encode(b, evaluateVector(op.getValue(), coords), element);
    Value mask = lanesOf(op.getMask(), coords, shape, laneDim);
    Value pointer = pointersAt(op.getPointer(), coords, laneDim);
    storeVector(b, pointer, mask, bits, element);
  });
}

void KernelEmitter::emitStore(StoreOp op) {
  b.setLoc(op.getLoc());
  if (tileType(op.getValue())) {
    if (isa<BlockPtrType>(op.getPointer().getType()))
      emitWindowStore(op);
    else
      emitPointerStore(op);
    return;
  }
  Type element = op.getValue().getType();
  auto write = [&] {
    LLVM::StoreOp::create(b, encode(b, scalar(op.getValue()), element),
                          scalar(op.getPointer()), elementBytes(element));
  };
  if (!op.getMask())
    return write();
  auto ifOp = scf::IfOp::create(b, scalar(op.getMask()), /*withElse=*/false);
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPoint(ifOp.thenYield());
  write();
}

//===----------------------------------------------------------------------===//
// Atomics
//===----------------------------------------------------------------------===//

/// Adds to a bf16 in memory by compare and exchange, and gives what was there.
/// (For atomicrmw LLVM calls a library function to round, which not every
/// process has.)
static Value atomicAddBF16(ImplicitLocOpBuilder &b, Value pointer, Value value,
                           Type element) {
  Type i16 = b.getI16Type();
  Value first = LLVM::LoadOp::create(
      b, i16, pointer, /*alignment=*/2, /*isVolatile=*/false,
      /*isNonTemporal=*/false, /*isInvariant=*/false,
      /*isInvariantGroup=*/false, LLVM::AtomicOrdering::monotonic);
  auto loop = scf::WhileOp::create(b, TypeRange{i16}, ValueRange{first});
  OpBuilder::InsertionGuard guard(b);
  Block *attempt =
      b.createBlock(&loop.getBefore(), {}, TypeRange{i16}, {b.getLoc()});
  Value expected = attempt->getArgument(0);
  Value sum = arith::AddFOp::create(b, decode(b, expected, element), value);
  Value desired = encode(b, roundTo(b, sum, element), element);
  Value outcome = LLVM::AtomicCmpXchgOp::create(
      b, pointer, expected, desired, LLVM::AtomicOrdering::monotonic,
      LLVM::AtomicOrdering::monotonic);
  Value found = LLVM::ExtractValueOp::create(b, outcome, 0);
  Value done = LLVM::ExtractValueOp::create(b, outcome, 1);
  Value again =
      arith::XOrIOp::create(b, done, constantInt(b, b.getI1Type(), 1));
  scf::ConditionOp::create(b, again, ValueRange{found});
  Block *retry =
      b.createBlock(&loop.getAfter(), {}, TypeRange{i16}, {b.getLoc()});
  scf::YieldOp::create(b, ValueRange{retry->getArgument(0)});
  b.setInsertionPointAfter(loop);
  return decode(b, loop.getResult(0), element);
}

void KernelEmitter::emitAtomicAdd(AtomicAddOp op) {
  b.setLoc(op.getLoc());
  Type element = getElementType(op.getType());
  Type compute = getComputeType(element);
  bool floats = isa<FloatType>(element), narrow = floats && compute != element;
  auto addOne = [&](Value pointer, Value value) -> Value {
    if (isa<BFloat16Type>(element)) {
      Value old = atomicAddBF16(b, pointer, value, element);
      b.setInsertionPointAfterValue(old);
      return old;
    }
    if (narrow)
      value = arith::TruncFOp::create(b, element, value);
    Value old = LLVM::AtomicRMWOp::create(
        b, floats ? LLVM::AtomicBinOp::fadd : LLVM::AtomicBinOp::add, pointer,
        value, LLVM::AtomicOrdering::monotonic);
    return narrow ? Value(arith::ExtFOp::create(b, compute, old)) : old;
  };
  auto guarded = [&](Value mask, Value pointer, Value value) {
    if (!mask)
      return addOne(pointer, value);
    auto ifOp = scf::IfOp::create(b, compute, mask, /*withElseRegion=*/true);
    OpBuilder::InsertionGuard guard(b);
    b.setInsertionPointToStart(ifOp.thenBlock());
    scf::YieldOp::create(b, addOne(pointer, value));
    b.setInsertionPointToStart(ifOp.elseBlock());
    scf::YieldOp::create(b, paddingValue(b, Padding::Zero, compute));
    return ifOp.getResult(0);
  };
  auto type = tileType(op.getValue());
  if (!type) {
    Value mask = op.getMask() ? scalar(op.getMask()) : Value();
    scalars.map(op.getResult(),
                guarded(mask, scalar(op.getPointer()), scalar(op.getValue())));
    return;
  }
  bool block = isa<BlockPtrType>(op.getPointer().getType());
  forEachElement(type.getShape(), [&](ArrayRef<Coord> coords) {
    Value value = evaluate(op.getValue(), coords);
    Value mask = op.getMask() ? evaluate(op.getMask(), coords) : Value();
    Value pointer;
    if (block) {
      Window to = window(op.getPointer());
      mask = inBounds(to, coords, std::nullopt, type.getShape());
      pointer = elementPointer(to.base, windowOffset(to, coords), element);
    } else {
      pointer = LLVM::IntToPtrOp::create(
          b, LLVM::LLVMPointerType::get(b.getContext()),
          evaluate(op.getPointer(), coords));
    }
    Value old = guarded(mask, pointer, value);
    if (plan.isBuffered(op.getResult()))
      writeBuffer(plan.buffersOf(op.getResult()).front(), coords, old);
  });
  emitFurtherLayouts(op.getResult());
}
