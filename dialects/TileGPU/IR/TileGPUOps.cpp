//===- TileGPUOps.cpp - Operations of the tilegpu dialect -----------------===//
//
// Part of FlashTile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Verification and folding.
//
//===----------------------------------------------------------------------===//

#include "dialects/TileGPU/IR/TileGPUDialect.h"

using namespace mlir;
using namespace flashtile::tilegpu;
using flashtile::tile::BlockPtrType;
using flashtile::tile::PtrType;
using flashtile::tile::withElementType;
using flashtile::tile::withoutEncoding;

static ParseResult parseSameType(OpAsmParser &parser, Type &type,
                                 Type &sameType) {
  if (parser.parseType(type))
    return failure();
  sameType = type;
  return success();
}

static void printSameType(OpAsmPrinter &printer, Operation *, Type type, Type) {
  printer << type;
}

static ParseResult parseSameTypes(OpAsmParser &parser,
                                  SmallVectorImpl<Type> &types,
                                  SmallVectorImpl<Type> &sameTypes) {
  if (parser.parseTypeList(types))
    return failure();
  sameTypes.assign(types.begin(), types.end());
  return success();
}

static void printSameTypes(OpAsmPrinter &printer, Operation *, TypeRange types,
                           TypeRange) {
  printer << types;
}

#define GET_OP_CLASSES
#include "dialects/TileGPU/IR/TileGPUOps.cpp.inc"

//===----------------------------------------------------------------------===//
// ConvertLayoutOp
//===----------------------------------------------------------------------===//

LogicalResult ConvertLayoutOp::verify() {
  Type from = getOperand().getType(), to = getType();
  if (withoutEncoding(from) != withoutEncoding(to))
    return emitOpError("expected a result of type ")
           << withoutEncoding(from) << " in any layout, but got " << to;
  for (Type type : {from, to})
    if (!getLayout(type))
      return emitOpError("expected tiles with layouts, but got ") << type;
  return success();
}

OpFoldResult ConvertLayoutOp::fold(FoldAdaptor adaptor) {
  if (getOperand().getType() == getType())
    return getOperand();
  // convert(convert(x)) -> convert(x)
  if (auto inner = getOperand().getDefiningOp<ConvertLayoutOp>()) {
    getOperandMutable().assign(inner.getOperand());
    return getResult();
  }
  auto constant = dyn_cast_or_null<DenseElementsAttr>(adaptor.getOperand());
  if (constant && constant.isSplat())
    return constant.resizeSplat(cast<ShapedType>(getType()));
  return {};
}

LogicalResult PartialSumOp::verify() {
  auto from = cast<RankedTensorType>(getOperand().getType());
  auto to = cast<RankedTensorType>(getType());
  if (from.getRank() != 2 || to.getRank() != 2)
    return emitOpError("expected tiles of rank 2, but got ")
           << from << " and " << to;
  unsigned other = 1 - getAxis();
  if (from.getElementType() != to.getElementType() ||
      from.getDimSize(other) != to.getDimSize(other))
    return emitOpError("expected a result of ")
           << from.getDimSize(other) << " lines of " << from.getElementType()
           << ", but got " << to;
  if (!getLayout(from) || !getLayout(to))
    return emitOpError("expected tiles with layouts, but got ")
           << from << " and " << to;
  return success();
}

LogicalResult AnyOp::verify() {
  Type type = getOperand().getType();
  if (!getLayout(type))
    return emitOpError("expected a tile with a layout, but got ") << type;
  return success();
}

//===----------------------------------------------------------------------===//
// Memory
//===----------------------------------------------------------------------===//

/// What both accesses need: a tile of what the pointer points to, every tile in
/// one layout.
static LogicalResult verifyAccess(Operation *op, Type pointer, Type accessed,
                                  ValueRange others,
                                  std::optional<ArrayRef<bool>> inBounds) {
  LayoutAttr layout = getLayout(accessed);
  if (!layout)
    return op->emitOpError("expected a tile with a layout, but got ")
           << accessed;
  auto block = dyn_cast<BlockPtrType>(pointer);
  Type expected =
      block ? Type(block.getTileType())
            : withElementType(
                  withoutEncoding(pointer),
                  cast<PtrType>(flashtile::tile::getElementType(pointer))
                      .getPointeeType());
  if (withoutEncoding(accessed) != expected)
    return op->emitOpError("expected a tile of type ")
           << expected << ", but got " << accessed;
  if (!block && getLayout(pointer) != layout)
    return op->emitOpError("expected pointers in the layout of ")
           << accessed << ", but got " << pointer;
  for (Value other : others) {
    if (block)
      return op->emitOpError("expected no mask with a block pointer");
    if (getLayout(other.getType()) != layout)
      return op->emitOpError("expected operands in the layout of ")
             << accessed << ", but got " << other.getType();
  }
  if (inBounds && !block)
    return op->emitOpError("expected 'in_bounds' only with a block pointer");
  if (inBounds && int64_t(inBounds->size()) != block.getRank())
    return op->emitOpError("expected ")
           << block.getRank() << " values of 'in_bounds', but got "
           << inBounds->size();
  return success();
}

LogicalResult LoadOp::verify() {
  SmallVector<Value> others;
  if (getMask())
    others.push_back(getMask());
  if (getOther()) {
    if (!getMask())
      return emitOpError("expected a 'mask' beside 'other'");
    if (getOther().getType() != getType())
      return emitOpError("expected 'other' of type ")
             << getType() << ", but got " << getOther().getType();
  }
  return verifyAccess(*this, getPointer().getType(), getType(), others,
                      getInBounds());
}

LogicalResult StoreOp::verify() {
  SmallVector<Value> others;
  if (getMask())
    others.push_back(getMask());
  return verifyAccess(*this, getPointer().getType(), getValue().getType(),
                      others, getInBounds());
}

LogicalResult AtomicAddOp::verify() {
  SmallVector<Value> others;
  if (getMask())
    others.push_back(getMask());
  if (getType() != getValue().getType())
    return emitOpError("expected a result of type ")
           << getValue().getType() << ", but got " << getType();
  return verifyAccess(*this, getPointer().getType(), getValue().getType(),
                      others, std::nullopt);
}

//===----------------------------------------------------------------------===//
// Asynchronous copies
//===----------------------------------------------------------------------===//

LogicalResult SlotOp::inferReturnTypes(MLIRContext *,
                                       std::optional<Location> location,
                                       ValueRange operands, DictionaryAttr,
                                       OpaqueProperties, RegionRange,
                                       SmallVectorImpl<Type> &types) {
  auto ring =
      operands.empty() ? RingType() : dyn_cast<RingType>(operands[0].getType());
  if (!ring)
    return emitOptionalError(location, "expected a ring of buffers");
  types.push_back(ring.getSlotType());
  return success();
}

LogicalResult CopyAsyncOp::verify() {
  BlockPtrType window = getPointer().getType();
  SmemType memory = getSlot().getType();
  if (window.getRank() != 2 || memory.getShape().size() != 2)
    return emitOpError("expected a window of rank 2, but got ") << window;
  if (window.getElementType() != memory.getElementType())
    return emitOpError("expected elements of type ")
           << window.getElementType() << ", but got "
           << memory.getElementType();
  for (unsigned dim = 0; dim < 2; ++dim)
    if (memory.getShape()[dim] < window.getShape()[dim])
      return emitOpError("expected at least ")
             << window.getShape()[dim] << " elements in dimension " << dim
             << ", but got " << memory.getShape()[dim];
  if (getInBounds() && getInBounds()->size() != 2)
    return emitOpError("expected 2 values of 'in_bounds', but got ")
           << getInBounds()->size();
  return success();
}

//===----------------------------------------------------------------------===//
// Matrix products
//===----------------------------------------------------------------------===//

/// Whether `memory` has room for `tile`.
static LogicalResult verifyRoom(Operation *op, Type tileType, SmemType memory) {
  auto tile = cast<RankedTensorType>(tileType);
  if (!getLayout(tile))
    return op->emitOpError("expected a tile with a layout, but got ") << tile;
  int64_t rank = tile.getRank();
  bool isRow = rank == 1 && isa<LoadSharedOp>(op);
  if ((rank != 2 && !isRow) || int64_t(memory.getShape().size()) != rank)
    return op->emitOpError("expected a tile of rank 2, but got ") << tile;
  if (tile.getElementType() != memory.getElementType())
    return op->emitOpError("expected elements of type ")
           << tile.getElementType() << ", but got " << memory.getElementType();
  for (int64_t dim = 0; dim < rank; ++dim)
    if (memory.getShape()[dim] < tile.getDimSize(dim))
      return op->emitOpError("expected at least ")
             << tile.getDimSize(dim) << " elements in dimension " << dim
             << ", but got " << memory.getShape()[dim];
  return success();
}

LogicalResult LoadSharedOp::verify() {
  return verifyRoom(*this, getType(), getSlot().getType());
}

LogicalResult StageOp::verify() {
  return verifyRoom(*this, getOperand().getType(), getType());
}

/// A buffer of a ring changes; what `stage` made does not.
void MmaOp::getEffects(
    SmallVectorImpl<SideEffects::EffectInstance<MemoryEffects::Effect>>
        &effects) {
  for (OpOperand *operand : {&getAMutable(), &getBMutable()})
    if (isa<SmemType>(operand->get().getType()) &&
        !operand->get().getDefiningOp<StageOp>())
      effects.emplace_back(MemoryEffects::Read::get(), operand);
}

LogicalResult MmaOp::verify() {
  auto result = cast<RankedTensorType>(getType());
  if (!getLayout(result) || result.getRank() != 2)
    return emitOpError("expected an accumulator of rank 2 with a layout, but "
                       "got ")
           << result;
  auto extents = [](Type type) {
    auto memory = dyn_cast<SmemType>(type);
    return memory ? memory.getShape() : cast<RankedTensorType>(type).getShape();
  };
  ArrayRef<int64_t> a = extents(getA().getType());
  ArrayRef<int64_t> b = extents(getB().getType());
  if (a.size() != 2)
    return emitOpError("expected 'a' to have rank 2, but got ")
           << getA().getType();
  bool inRegisters = !isa<SmemType>(getA().getType());
  if (inRegisters && getTransA())
    return emitOpError("expected 'trans_a' only for 'a' in shared memory");
  int64_t m = a[getTransA() ? 1 : 0], ka = a[getTransA() ? 0 : 1];
  int64_t n = b[getTransB() ? 0 : 1], kb = b[getTransB() ? 1 : 0];
  // Operands in shared memory are rounded up to whole instructions.
  if (m < result.getDimSize(0) || n < result.getDimSize(1) || kb < ka)
    return emitOpError("expected operands of at least ")
           << result.getDimSize(0) << " x K and K x " << result.getDimSize(1)
           << ", but got " << m << " x " << ka << " and " << kb << " x " << n;
  if (int32_t(getWarpsM()) < 1 || int32_t(getWarpsN()) < 1)
    return emitOpError("expected at least one warp along each dimension");
  return success();
}
