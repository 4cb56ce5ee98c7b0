//===- Evaluate.cpp - Elements of a tile at given coordinates -------------===//
//
// Part of FlashTile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A view only changes coordinates; an elementwise operation evaluates its
// operands at its own; a buffered value is read. Where a value does not vary
// along the lanes, a scalar comes back, so that broadcasts cost nothing until
// they meet a vector.
//
//===----------------------------------------------------------------------===//

#include "compiler/Conversion/TileToCPU/KernelEmitter.h"
#include "compiler/Conversion/TileToCPU/Numerics.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/IR/Matchers.h"

using namespace mlir;
using namespace flashtile::tile;
using namespace flashtile::cpu;
using flashtile::tile::getElementType;

//===----------------------------------------------------------------------===//
// Indices
//===----------------------------------------------------------------------===//

Value KernelEmitter::index(int64_t value) {
  return arith::ConstantIndexOp::create(b, value);
}

Value KernelEmitter::i64(int64_t value) {
  return constantInt(b, b.getI64Type(), value);
}

Value KernelEmitter::asIndex(Value value) {
  if (value.getType().isIndex())
    return value;
  return arith::IndexCastOp::create(b, b.getIndexType(), value);
}

Value KernelEmitter::asI64(Value value) {
  if (value.getType().isInteger(64))
    return value;
  if (value.getType().isIndex())
    return arith::IndexCastOp::create(b, b.getI64Type(), value);
  return arith::ExtSIOp::create(b, b.getI64Type(), value);
}

Value KernelEmitter::laneNumbers() {
  SmallVector<int64_t> lanes(plan.vectors.lanes);
  std::iota(lanes.begin(), lanes.end(), 0);
  VectorType type = vectorOf(b.getI64Type());
  return arith::ConstantOp::create(
      b, DenseElementsAttr::get(type, ArrayRef<int64_t>(lanes)));
}

Value KernelEmitter::laneIndices(const Coord &coord) {
  if (coord.kind == Coord::Gather)
    return coord.index;
  VectorType type = vectorOf(b.getI64Type());
  Value splat = vector::BroadcastOp::create(b, type, asI64(coord.index));
  if (coord.kind == Coord::Scalar)
    return splat;
  return arith::AddIOp::create(b, splat, laneNumbers());
}

Coord KernelEmitter::offsetCoord(const Coord &coord, int64_t offset) {
  if (offset == 0)
    return coord;
  Value delta = coord.kind == Coord::Gather
                    ? constantInt(b, coord.index.getType(), offset)
                    : index(offset);
  return {coord.kind, arith::AddIOp::create(b, coord.index, delta)};
}

//===----------------------------------------------------------------------===//
// Buffers
//===----------------------------------------------------------------------===//

/// Dimensions from the outermost in memory to the contiguous one.
SmallVector<unsigned> KernelEmitter::physicalOrder(const Buffer &buffer) const {
  SmallVector<unsigned> order;
  for (unsigned dim = 0; dim < unsigned(buffer.type.getRank()); ++dim)
    if (dim != buffer.laneDim)
      order.push_back(dim);
  order.push_back(buffer.laneDim);
  return order;
}

Value KernelEmitter::readBuffer(unsigned bufferId, ArrayRef<Coord> coords) {
  const Buffer &buffer = plan.buffers()[bufferId];
  SmallVector<Value> indices;
  bool vector = false;
  for (unsigned dim : physicalOrder(buffer)) {
    const Coord &coord = coords[dim];
    if (coord.kind == Coord::Gather ||
        (coord.kind == Coord::Lanes && dim != buffer.laneDim))
      return gatherBuffer(bufferId, coords);
    vector |= coord.kind == Coord::Lanes;
    indices.push_back(coord.index);
  }
  Type element = getBufferType(buffer.type.getElementType());
  Value loaded;
  if (vector)
    loaded = vector::LoadOp::create(b, vectorOf(element), bufferViews[bufferId],
                                    indices);
  else
    loaded = memref::LoadOp::create(b, bufferViews[bufferId], indices);
  if (buffer.type.getElementType().isInteger(1))
    return decode(b, loaded, buffer.type.getElementType());
  return loaded;
}

/// Reads an element of its own for each lane. Lanes beyond the tile's extent
/// read some element of the buffer: their values are never used.
Value KernelEmitter::gatherBuffer(unsigned bufferId, ArrayRef<Coord> coords) {
  const Buffer &buffer = plan.buffers()[bufferId];
  Value offset;
  int64_t stride = 1;
  VectorType type = vectorOf(b.getI64Type());
  const SmallVector<unsigned> order = physicalOrder(buffer);
  for (unsigned dim : llvm::reverse(order)) { // it refers to its operand
    int64_t extent = buffer.type.getDimSize(dim);
    Value position = laneIndices(coords[dim]);
    if (coords[dim].kind != Coord::Scalar)
      position =
          arith::MinUIOp::create(b, position, constantInt(b, type, extent - 1));
    Value scaled =
        arith::MulIOp::create(b, position, constantInt(b, type, stride));
    offset = offset ? Value(arith::AddIOp::create(b, offset, scaled)) : scaled;
    stride *= dim == buffer.laneDim ? plan.paddedExtent(extent) : extent;
  }
  Type element = getBufferType(buffer.type.getElementType());
  VectorType result = vectorOf(element);
  Value mask = constantInt(b, vectorOf(b.getI1Type()), 1);
  Value pass = arith::ConstantOp::create(b, b.getZeroAttr(result));
  Value gathered = vector::GatherOp::create(
      b, result, flatViews[bufferId], ValueRange{index(0)}, offset, mask, pass);
  if (buffer.type.getElementType().isInteger(1))
    return decode(b, gathered, buffer.type.getElementType());
  return gathered;
}

void KernelEmitter::writeBuffer(unsigned bufferId, ArrayRef<Coord> coords,
                                Value value) {
  const Buffer &buffer = plan.buffers()[bufferId];
  if (buffer.type.getElementType().isInteger(1))
    value = encode(b, value, buffer.type.getElementType());
  SmallVector<Value> indices;
  bool vector = false;
  std::optional<unsigned> scattered;
  for (unsigned dim : physicalOrder(buffer)) {
    vector |= coords[dim].kind == Coord::Lanes;
    if (coords[dim].kind == Coord::Lanes && dim != buffer.laneDim)
      scattered = indices.size();
    indices.push_back(coords[dim].index);
  }
  if (!vector) {
    memref::StoreOp::create(b, value, bufferViews[bufferId], indices);
    return;
  }
  Type element = getBufferType(buffer.type.getElementType());
  value = matchShape(b, value, vectorOf(element));
  if (!scattered) {
    vector::StoreOp::create(b, value, bufferViews[bufferId], indices);
    return;
  }
  // Lanes run along another dimension than the buffer's: one store each.
  Value first = indices[*scattered];
  int64_t extent = buffer.type.getDimSize(physicalOrder(buffer)[*scattered]);
  for (int64_t lane = 0; lane < plan.vectors.lanes; ++lane) {
    if (extent <= lane)
      break;
    Value position = arith::AddIOp::create(b, first, index(lane));
    Value element = vector::ExtractOp::create(b, value, lane);
    auto store = [&] {
      SmallVector<Value> at(indices);
      at[*scattered] = position;
      memref::StoreOp::create(b, element, bufferViews[bufferId], at);
    };
    if (extent % plan.vectors.lanes == 0) {
      store();
      continue;
    }
    Value inside = arith::CmpIOp::create(b, arith::CmpIPredicate::ult, position,
                                         index(extent));
    auto guard = scf::IfOp::create(b, inside, /*withElseRegion=*/false);
    OpBuilder::InsertionGuard restore(b);
    b.setInsertionPoint(guard.thenYield());
    store();
  }
}

//===----------------------------------------------------------------------===//
// Evaluation
//===----------------------------------------------------------------------===//

Value KernelEmitter::scalar(Value value) { return scalars.lookup(value); }

Value KernelEmitter::evaluateVector(Value value, ArrayRef<Coord> coords) {
  Value result = evaluate(value, coords);
  return matchShape(b, result,
                    vectorOf(getElementTypeOrSelf(result.getType())));
}

Value KernelEmitter::evaluate(Value value, ArrayRef<Coord> coords) {
  CacheKey key = {value.getAsOpaquePointer(), {}};
  for (const Coord &coord : coords) {
    key.second.push_back(coord.index.getAsOpaquePointer());
    key.second.push_back(reinterpret_cast<void *>(uintptr_t(coord.kind)));
  }
  auto it = scope.cache.find(key);
  if (it != scope.cache.end())
    return it->second;
  Value result = evaluateUncached(value, coords);
  scope.cache[key] = result;
  return result;
}

Value KernelEmitter::evaluateUncached(Value value, ArrayRef<Coord> coords) {
  Operation *op = value.getDefiningOp();
  if (plan.isBuffered(value) && !(op && scope.computing.contains(op))) {
    // Prefer the layout whose contiguous dimension the lanes run along.
    ArrayRef<unsigned> ids = plan.buffersOf(value);
    for (unsigned id : ids)
      if (coords[plan.buffers()[id].laneDim].kind == Coord::Lanes)
        return readBuffer(id, coords);
    return readBuffer(ids.front(), coords);
  }

  Type element = getElementType(value.getType());
  Type compute = getComputeType(element);
  DenseElementsAttr constant;
  if (matchPattern(value, m_Constant(&constant)) && constant.isSplat()) {
    if (isa<FloatType>(element)) {
      APFloat splat = constant.getSplatValue<APFloat>();
      bool losesInfo;
      splat.convert(cast<FloatType>(compute).getFloatSemantics(),
                    APFloat::rmNearestTiesToEven, &losesInfo);
      return arith::ConstantOp::create(b, b.getFloatAttr(compute, splat));
    }
    return arith::ConstantOp::create(
        b, b.getIntegerAttr(compute, constant.getSplatValue<APInt>()));
  }
  if (auto arange = dyn_cast<ArangeOp>(op)) {
    const Coord &coord = coords.front();
    int64_t start = int32_t(arange.getStart());
    Value position;
    if (coord.kind == Coord::Scalar)
      position = arith::IndexCastOp::create(b, b.getI32Type(), coord.index);
    else
      position = arith::TruncIOp::create(b, vectorOf(b.getI32Type()),
                                         laneIndices(coord));
    return arith::AddIOp::create(b, position,
                                 constantInt(b, position.getType(), start));
  }
  if (auto splat = dyn_cast<SplatOp>(op)) {
    Value source = scalar(splat.getValue());
    if (isa<PtrType>(splat.getValue().getType()))
      return LLVM::PtrToIntOp::create(b, b.getI64Type(), source);
    return source;
  }
  if (auto full = dyn_cast<FullOp>(op)) {
    if (auto number = dyn_cast<FloatAttr>(full.getValueAttr())) {
      APFloat splat = number.getValue();
      bool losesInfo;
      splat.convert(cast<FloatType>(compute).getFloatSemantics(),
                    APFloat::rmNearestTiesToEven, &losesInfo);
      return arith::ConstantOp::create(b, b.getFloatAttr(compute, splat));
    }
    return arith::ConstantOp::create(b, cast<TypedAttr>(full.getValueAttr()));
  }
  if (isView(op))
    return evaluateView(op, coords);

  assert(isElementwise(op) && "every other value is buffered");
  SmallVector<Value> operands;
  for (Value operand : op->getOperands())
    operands.push_back(tileType(operand) ? evaluate(operand, coords)
                                         : scalar(operand));
  return emitElementwise(op, operands);
}

Value KernelEmitter::evaluateView(Operation *op, ArrayRef<Coord> coords) {
  if (auto expand = dyn_cast<ExpandDimsOp>(op)) {
    Coords inner(coords.begin(), coords.end());
    inner.erase(inner.begin() + expand.getAxis());
    return evaluate(expand.getOperand(), inner);
  }
  if (auto broadcast = dyn_cast<BroadcastOp>(op)) {
    Coords inner(coords.begin(), coords.end());
    auto from = tileType(broadcast.getOperand());
    for (int64_t dim = 0; dim < from.getRank(); ++dim)
      if (from.getDimSize(dim) == 1)
        inner[dim] = {Coord::Scalar, index(0)};
    return evaluate(broadcast.getOperand(), inner);
  }
  if (auto trans = dyn_cast<TransOp>(op)) {
    Coords inner(coords.size());
    for (auto [dim, source] : llvm::enumerate(trans.getOrder()))
      inner[source] = coords[dim];
    return evaluate(trans.getOperand(), inner);
  }
  if (auto reshape = dyn_cast<ReshapeOp>(op))
    return evaluateReshape(reshape, coords);
  if (auto cat = dyn_cast<CatOp>(op))
    return evaluateCat(cat, coords);

  auto join = cast<JoinOp>(op);
  ArrayRef<Coord> inner = coords.drop_back();
  Value left = evaluate(join.getLhs(), inner);
  Value right = evaluate(join.getRhs(), inner);
  const Coord &last = coords.back();
  Value position = last.kind == Coord::Scalar ? last.index : laneIndices(last);
  Value zero = last.kind == Coord::Scalar
                   ? index(0)
                   : constantInt(b, position.getType(), 0);
  Value isLeft =
      arith::CmpIOp::create(b, arith::CmpIPredicate::eq, position, zero);
  Type like = isa<VectorType>(isLeft.getType()) ? isLeft.getType()
              : isa<VectorType>(left.getType()) ? left.getType()
                                                : right.getType();
  return arith::SelectOp::create(b, isLeft, matchShape(b, left, like),
                                 matchShape(b, right, like));
}

Value KernelEmitter::evaluateReshape(ReshapeOp op, ArrayRef<Coord> coords) {
  auto from = tileType(op.getOperand()), to = tileType(op.getResult());
  // Only dimensions of extent 1 come or go: coordinates are renamed.
  auto isUnit = [](int64_t extent) { return extent == 1; };
  SmallVector<int64_t> fromCore(from.getShape()), toCore(to.getShape());
  llvm::erase_if(fromCore, isUnit);
  llvm::erase_if(toCore, isUnit);
  if (fromCore == toCore) {
    Coords inner;
    int64_t next = 0;
    for (int64_t extent : from.getShape()) {
      if (extent == 1) {
        inner.push_back({Coord::Scalar, index(0)});
        continue;
      }
      while (to.getDimSize(next) == 1)
        ++next;
      inner.push_back(coords[next++]);
    }
    return evaluate(op.getOperand(), inner);
  }
  // In general: through the row-major position.
  bool vector = llvm::any_of(
      coords, [](const Coord &coord) { return coord.kind != Coord::Scalar; });
  Type type = vector ? Type(vectorOf(b.getI64Type())) : b.getI64Type();
  Value position = constantInt(b, type, 0);
  for (auto [coord, extent] : llvm::zip(coords, to.getShape())) {
    Value at = vector ? laneIndices(coord) : asI64(coord.index);
    position = arith::MulIOp::create(b, position, constantInt(b, type, extent));
    position = arith::AddIOp::create(b, position, at);
  }
  Coords inner(from.getRank());
  for (int64_t dim = from.getRank(); dim-- > 0;) {
    Value extent = constantInt(b, type, from.getDimSize(dim));
    Value at = arith::RemUIOp::create(b, position, extent);
    position = arith::DivUIOp::create(b, position, extent);
    inner[dim] =
        vector ? Coord{Coord::Gather, at} : Coord{Coord::Scalar, asIndex(at)};
  }
  return evaluate(op.getOperand(), inner);
}

Value KernelEmitter::evaluateCat(CatOp op, ArrayRef<Coord> coords) {
  int64_t axis = op.getAxis();
  int64_t leftExtent = tileType(op.getLhs()).getDimSize(axis);
  int64_t rightExtent = tileType(op.getRhs()).getDimSize(axis);
  const Coord &coord = coords[axis];
  bool scalarAxis = coord.kind == Coord::Scalar;
  Value position = scalarAxis ? asI64(coord.index) : laneIndices(coord);
  Type type = position.getType();
  auto constant = [&](int64_t value) { return constantInt(b, type, value); };
  // Both parts are evaluated, at positions clamped to their extents.
  auto part = [&](Value tile, Value at) {
    Coords inner(coords.begin(), coords.end());
    inner[axis] = scalarAxis ? Coord{Coord::Scalar, asIndex(at)}
                             : Coord{Coord::Gather, at};
    return evaluate(tile, inner);
  };
  Value left =
      part(op.getLhs(),
           arith::MinSIOp::create(b, position, constant(leftExtent - 1)));
  Value shifted = arith::SubIOp::create(b, position, constant(leftExtent));
  shifted = arith::MaxSIOp::create(b, shifted, constant(0));
  shifted = arith::MinSIOp::create(b, shifted, constant(rightExtent - 1));
  Value right = part(op.getRhs(), shifted);
  Value isLeft = arith::CmpIOp::create(b, arith::CmpIPredicate::slt, position,
                                       constant(leftExtent));
  Type like = isa<VectorType>(type)             ? type
              : isa<VectorType>(left.getType()) ? left.getType()
                                                : right.getType();
  return arith::SelectOp::create(b, isLeft, matchShape(b, left, like),
                                 matchShape(b, right, like));
}
