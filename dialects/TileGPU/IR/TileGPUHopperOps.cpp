//===- TileGPUHopperOps.cpp - Operations that need sm_90a -----------------===//
//
// Part of FlashTile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Text and verification of the types and operations of TileGPUHopperOps.td.
// Whether a tile's layout is the instruction's is for the conversion to say,
// which knows the arithmetic of layouts.
//
//===----------------------------------------------------------------------===//

#include "dialects/TileGPU/IR/TileGPUDialect.h"

#include "dialects/TileGPU/IR/LaunchAttributes.h"

#include "mlir/IR/DialectImplementation.h"
#include "mlir/IR/Matchers.h"

using namespace mlir;
using namespace flashtile::tilegpu;
using flashtile::tile::KernelOp;
using flashtile::tile::PtrType;

//===----------------------------------------------------------------------===//
// MbarriersType, WordsType, TensorMapType
//===----------------------------------------------------------------------===//

LogicalResult
MbarriersType::verify(function_ref<InFlightDiagnostic()> emitError,
                      int64_t count) {
  constexpr int64_t kMaxCount = 64;
  if (count < 1 || count > kMaxCount)
    return emitError() << "expected 1 to " << kMaxCount << " barriers, but got "
                       << count;
  return success();
}

LogicalResult WordsType::verify(function_ref<InFlightDiagnostic()> emitError,
                                int64_t count) {
  constexpr int64_t kMaxCount = 64;
  if (count < 1 || count > kMaxCount)
    return emitError() << "expected 1 to " << kMaxCount << " words, but got "
                       << count;
  return success();
}

int64_t TensorMapType::getElementBytes() {
  return getElementType().getIntOrFloatBitWidth() / 8;
}

int64_t TensorMapType::getBoxColumns() {
  return getSwizzle() ? getSwizzle() / getElementBytes() : getShape().back();
}

int64_t TensorMapType::getBoxCount() {
  return (getShape().back() + getBoxColumns() - 1) / getBoxColumns();
}

int64_t TensorMapType::getRows() {
  int64_t rows = 1;
  for (int64_t extent : getShape().drop_back())
    rows *= extent;
  return rows;
}

int64_t TensorMapType::getBytes() {
  return getRows() * getBoxCount() * getBoxColumns() * getElementBytes();
}

LogicalResult
TensorMapType::verify(function_ref<InFlightDiagnostic()> emitError,
                      ArrayRef<int64_t> shape, Type elementType,
                      int64_t swizzle) {
  constexpr size_t kMaxRank = 5;
  constexpr int64_t kMaxExtent = 256, kVectorBytes = 16;
  if (failed(SmemType::verify(emitError, shape, elementType, swizzle)))
    return failure();
  if (!elementType.isIntOrFloat() ||
      elementType.getIntOrFloatBitWidth() % 8 != 0)
    return emitError() << "expected elements of whole bytes, but got "
                       << elementType;
  if (shape.size() > kMaxRank)
    return emitError() << "expected 1 to " << kMaxRank
                       << " dimensions, but got " << shape.size();
  // A swizzle's span never has more elements than a box may have.
  for (int64_t extent : swizzle ? shape.drop_back() : shape)
    if (extent > kMaxExtent)
      return emitError() << "expected extents of at most " << kMaxExtent
                         << " elements, but got " << extent;
  int64_t bytes = shape.back() * elementType.getIntOrFloatBitWidth() / 8;
  if (!swizzle && bytes % kVectorBytes != 0)
    return emitError() << "expected an innermost extent of a multiple of "
                       << kVectorBytes << " bytes, but got " << bytes;
  return success();
}

//===----------------------------------------------------------------------===//
// Warpgroup products
//===----------------------------------------------------------------------===//

/// "m", "n" or "k" of a product is not a multiple of what instructions take.
static LogicalResult verifyMultiple(WgmmaOp op, StringRef name, int64_t extent,
                                    int64_t multiple) {
  if (extent % multiple == 0)
    return success();
  return op.emitOpError("expected ") << name << " to be a multiple of "
                                     << multiple << ", but got " << extent;
}

/// An operand in shared memory, in a form that descriptors can say.
static LogicalResult verifyMemory(WgmmaOp op, StringRef name, SmemType type,
                                  bool depthIsOuter) {
  constexpr int64_t kCoreRowBytes = 16;
  if (type.getShape().size() != 2)
    return op.emitOpError("expected '")
           << name << "' to have rank 2, but got " << type;
  int64_t bits = type.getElementType().getIntOrFloatBitWidth();
  if (depthIsOuter && bits != 16)
    return op.emitOpError("expected K to be the inner dimension of '")
           << name << "', as its elements are not of 16 bits, but got " << type;
  bool isCoreMatrix =
      depthIsOuter && type.getShape()[1] * bits / 8 == kCoreRowBytes;
  if (type.getSwizzle() == 0 && !isCoreMatrix)
    return op.emitOpError("expected '")
           << name << "' to have a swizzle of 32, 64 or 128 bytes, but got "
           << type;
  return success();
}

static bool isFloat8(Type type) {
  return isa<Float8E4M3FNType, Float8E5M2Type>(type);
}

static constexpr int64_t kDepthBits = 256; // of an instruction

static LogicalResult verifyElements(WgmmaOp op, Type a, Type b) {
  bool known = isFloat8(a) ||
               (isa<FloatType>(a) && (a.isF16() || a.isBF16() || a.isF32()));
  if (!known)
    return op.emitOpError("expected elements of f16, bf16, f8E4M3FN, f8E5M2 or "
                          "f32, but got ")
           << a;
  if (a != b && !(isFloat8(a) && isFloat8(b)))
    return op.emitOpError("expected 'b' to have elements of type ")
           << a << ", but got " << b;
  return success();
}

/// The first columns of `a`, which is in shared memory, in registers.
static LogicalResult verifyHead(WgmmaOp op, int64_t rows, int64_t depth) {
  Value head = op.getHead();
  if (!head)
    return success();
  auto memory = dyn_cast<SmemType>(op.getA().getType());
  if (!memory || op.getTransA())
    return op.emitOpError("expected 'head' only with rows of 'a' in shared "
                          "memory");
  auto tile = cast<RankedTensorType>(head.getType());
  if (!getLayout(tile) || tile.getRank() != 2 ||
      tile.getElementType() != memory.getElementType() ||
      tile.getDimSize(0) != rows || tile.getDimSize(1) >= depth)
    return op.emitOpError("expected 'head' to be the first columns of 'a' with "
                          "a layout, but got ")
           << tile;
  return verifyMultiple(op, "the columns of 'head'", tile.getDimSize(1),
                        kDepthBits /
                            memory.getElementType().getIntOrFloatBitWidth());
}

static LogicalResult verifyColumnGroups(WgmmaOp op, int64_t columns) {
  int64_t groups = op.getColumnGroups();
  if (op.getWarpgroups() % groups != 0)
    return op.emitOpError("expected 'column_groups' to divide the ")
           << op.getWarpgroups() << " warpgroups, but got " << groups;
  if (groups == 1)
    return success();
  if (!isa<SmemType>(op.getA().getType()))
    return op.emitOpError("expected 'a' in shared memory with 'column_groups'");
  if (op.getTransB() || columns % groups != 0)
    return success();
  SmemType memory = op.getB().getType();
  int64_t bits = memory.getElementType().getIntOrFloatBitWidth();
  int64_t bytes = columns / groups * bits / 8;
  if (memory.getSwizzle() == 0 || bytes % memory.getSwizzle() != 0)
    return op.emitOpError("expected the columns of each group to be whole "
                          "spans of the swizzle of 'b', but got ")
           << columns / groups << " columns and " << memory;
  return success();
}

LogicalResult WgmmaOp::verify() {
  auto result = cast<RankedTensorType>(getType());
  if (!getLayout(result) || result.getRank() != 2)
    return emitOpError("expected a result of rank 2 with a layout, but got ")
           << result;
  auto memoryA = dyn_cast<SmemType>(getA().getType());
  SmemType memoryB = getB().getType();
  Type elementA = memoryA ? memoryA.getElementType()
                          : getElementTypeOrSelf(getA().getType());
  Type elementB = memoryB.getElementType();
  if (failed(verifyElements(*this, elementA, elementB)))
    return failure();
  if (memoryA) {
    if (failed(verifyMemory(*this, "a", memoryA, getTransA())))
      return failure();
  } else {
    auto tile = cast<RankedTensorType>(getA().getType());
    if (!getLayout(tile) || tile.getRank() != 2)
      return emitOpError("expected 'a' to have rank 2 and a layout, but got ")
             << tile;
    if (getTransA())
      return emitOpError("expected 'trans_a' only for 'a' in shared memory");
  }
  if (failed(verifyMemory(*this, "b", memoryB, !getTransB())))
    return failure();
  ArrayRef<int64_t> a =
      memoryA ? memoryA.getShape()
              : cast<RankedTensorType>(getA().getType()).getShape();
  ArrayRef<int64_t> b = memoryB.getShape();
  int64_t m = a[getTransA() ? 1 : 0], depthA = a[getTransA() ? 0 : 1];
  int64_t n = b[getTransB() ? 0 : 1], depthB = b[getTransB() ? 1 : 0];
  // What memory has beyond the result's rows and columns is not read.
  auto covers = [](bool isMemory, int64_t extent, int64_t needed) {
    return isMemory ? extent >= needed : extent == needed;
  };
  if (!covers(bool(memoryA), m, result.getDimSize(0)) ||
      !covers(true, n, result.getDimSize(1)) || depthA != depthB)
    return emitOpError("expected operands of ")
           << result.getDimSize(0) << " x K and K x " << result.getDimSize(1)
           << ", but got " << m << " x " << depthA << " and " << depthB << " x "
           << n;
  m = result.getDimSize(0);
  n = result.getDimSize(1);
  int64_t columnGroups = getColumnGroups();
  if (failed(verifyHead(*this, m, depthA)) ||
      failed(verifyColumnGroups(*this, n)))
    return failure();
  constexpr int64_t kRows = 64, kColumns = 8;
  if (failed(verifyMultiple(*this, "M", m,
                            kRows * getWarpgroups() / columnGroups)) ||
      failed(verifyMultiple(*this, "N", n, kColumns * columnGroups)) ||
      failed(verifyMultiple(*this, "K", depthA,
                            kDepthBits / elementA.getIntOrFloatBitWidth())))
    return failure();
  constexpr int64_t kMaxRegisters = 256, kThreads = 128;
  int64_t registers = m * n / (kThreads * getWarpgroups());
  if (registers > kMaxRegisters)
    return emitOpError("expected at most ")
           << kMaxRegisters << " accumulators in a thread, but got "
           << registers;
  return success();
}

LogicalResult WgmmaWaitOp::verify() {
  if (getTiles().empty())
    return emitOpError("expected at least one tile");
  if (getTiles().getTypes() != getResults().getTypes())
    return emitOpError("expected results of the tiles' types");
  for (Type type : getTiles().getTypes())
    if (!getLayout(type))
      return emitOpError("expected tiles with layouts, but got ") << type;
  return success();
}

//===----------------------------------------------------------------------===//
// Barriers
//===----------------------------------------------------------------------===//

LogicalResult NamedBarrierOp::verify() {
  constexpr int64_t kFirst = 2, kLast = 15, kLanes = 32;
  if (getThreads() % kLanes != 0)
    return emitOpError("expected 'threads' to be a multiple of ")
           << kLanes << ", but got " << getThreads();
  IntegerAttr constant;
  if (matchPattern(getId(), m_Constant(&constant)) &&
      (constant.getInt() < kFirst || constant.getInt() > kLast))
    return emitOpError("expected an id from ")
           << kFirst << " to " << kLast << ", but got " << constant.getInt();
  return success();
}

//===----------------------------------------------------------------------===//
// Copies by the tensor memory accelerator
//===----------------------------------------------------------------------===//

/// An integer, or an affine map of one result over integer arguments.
static LogicalResult verifyExpression(TensorMapOp op, StringRef name,
                                      Attribute expression,
                                      size_t integerArguments) {
  if (isa<IntegerAttr>(expression))
    return success();
  auto map = dyn_cast<AffineMapAttr>(expression);
  if (!map || map.getValue().getNumResults() != 1)
    return op.emitOpError("expected '")
           << name << "' to be integers or affine maps of one result, but got "
           << expression;
  if (map.getValue().getNumInputs() > integerArguments)
    return op.emitOpError("expected '")
           << name << "' to have at most " << integerArguments
           << " inputs, as many as the kernel has integer arguments, but got "
           << map;
  return success();
}

LogicalResult TensorMapOp::verify() {
  TensorMapType type = getType();
  size_t rank = type.getShape().size();
  auto kernel = (*this)->getParentOfType<KernelOp>();
  if (!kernel)
    return emitOpError("expected to be in a 'tile.kernel'");
  ArrayRef<Type> arguments = kernel.getArgumentTypes();
  if (getArgument() >= arguments.size())
    return emitOpError("expected 'argument' to be below ")
           << arguments.size() << ", the kernel's number of arguments, but got "
           << getArgument();
  auto pointer = dyn_cast<PtrType>(arguments[getArgument()]);
  if (!pointer || pointer.getPointeeType() != type.getElementType())
    return emitOpError("expected argument ")
           << getArgument() << " to point to " << type.getElementType()
           << ", but it is of type " << arguments[getArgument()];
  if (getExtents().size() != rank)
    return emitOpError("expected ")
           << rank << " 'extents', but got " << getExtents().size();
  if (getStrides().size() + 1 != rank)
    return emitOpError("expected ")
           << rank - 1 << " 'strides', one fewer than extents, but got "
           << getStrides().size();
  size_t integers = kernel.getGridArguments().size();
  for (Attribute extent : getExtents())
    if (failed(verifyExpression(*this, "extents", extent, integers)))
      return failure();
  for (Attribute stride : getStrides())
    if (failed(verifyExpression(*this, "strides", stride, integers)))
      return failure();
  if (getOffset() &&
      failed(verifyExpression(*this, "offset", *getOffset(), integers)))
    return failure();
  if (getPadding() != flashtile::tile::Padding::Zero &&
      getPadding() != flashtile::tile::Padding::NaN)
    return emitOpError("expected 'padding' to be zero or nan, but got ")
           << stringifyPadding(getPadding());
  if (getPadding() == flashtile::tile::Padding::NaN &&
      !isa<FloatType>(type.getElementType()))
    return emitOpError("expected 'padding' to be zero for elements of type ")
           << type.getElementType();
  return success();
}

/// `shares`: how many boxes of rows make a slot.
static LogicalResult verifyCopy(Operation *op, TensorMapType map,
                                size_t coordinates, SmemType slot,
                                int64_t shares = 1) {
  if (coordinates != map.getShape().size())
    return op->emitOpError("expected ")
           << map.getShape().size() << " coordinates, but got " << coordinates;
  int64_t rows = 1;
  for (int64_t extent : slot.getShape().drop_back())
    rows *= extent;
  if (slot.getElementType() != map.getElementType() ||
      slot.getSwizzle() != map.getSwizzle() || rows != map.getRows() * shares ||
      slot.getShape().back() != map.getShape().back())
    return op->emitOpError("expected a slot of ")
           << map.getRows() * shares << "x" << map.getShape().back() << "x"
           << map.getElementType() << ", swizzle = " << map.getSwizzle()
           << ", but got " << slot;
  return success();
}

LogicalResult TmaLoadOp::verify() {
  return verifyCopy(*this, getMap().getType(), getCoordinates().size(),
                    getSlot().getType());
}

LogicalResult TmaStoreOp::verify() {
  TensorMapType map = getMap().getType();
  int64_t shares = 1;
  if (getByWarp()) {
    ArrayRef<int64_t> shape = map.getShape();
    if (shape.size() < 2 || shape[shape.size() - 2] != map.getRows())
      return emitOpError("expected a box with rows along the second dimension "
                         "only, but got ")
             << map;
    // What a warp's rows share of the swizzle's pattern.
    constexpr int64_t kPattern = 8;
    if (map.getRows() % kPattern != 0)
      return emitOpError(
                 "expected a multiple of 8 rows for each warp, but got ")
             << map.getRows();
    if (auto kernel = (*this)->getParentOfType<tile::KernelOp>())
      if (auto warps =
              kernel->getAttrOfType<IntegerAttr>(TileGPUDialect::kNumWarpsAttr))
        shares = warps.getInt();
  }
  if (failed(verifyCopy(*this, map, getCoordinates().size(),
                        getSlot().getType(), shares)))
    return failure();
  // What lies beyond the tile in its last box would be written, too.
  if (map.getShape().back() % map.getBoxColumns() != 0)
    return emitOpError("expected an innermost extent of a multiple of ")
           << map.getBoxColumns() << " elements, the swizzle's span, but got "
           << map.getShape().back();
  return success();
}

/// A tile that goes to shared memory or comes from there as a whole.
static LogicalResult verifySlotOf(Operation *op, Type type, SmemType slot) {
  auto tile = cast<RankedTensorType>(type);
  if (!getLayout(tile))
    return op->emitOpError("expected a tile with a layout, but got ") << tile;
  if (tile.getShape() != slot.getShape() ||
      tile.getElementType() != slot.getElementType())
    return op->emitOpError(
               "expected a slot of the tile's extents and elements, ")
           << tile << ", but got " << slot;
  return success();
}

LogicalResult StoreSharedOp::verify() {
  auto tile = cast<RankedTensorType>(getTile().getType());
  SmemType slot = getSlot().getType();
  ArrayRef<int64_t> whole = tile.getShape(), part = slot.getShape();
  bool isPart = !whole.empty() && whole.size() == part.size() &&
                (getFirstColumn() != 0 || part.back() < whole.back());
  if (!isPart)
    return verifySlotOf(*this, tile, slot);
  if (!getLayout(tile) || slot.getElementType() != tile.getElementType() ||
      part.drop_back() != whole.drop_back() ||
      int64_t(getFirstColumn()) + part.back() > whole.back())
    return emitOpError("expected a slot of columns of the tile, which has a "
                       "layout, from ")
           << getFirstColumn() << " on, " << tile << ", but got " << slot;
  return success();
}

//===----------------------------------------------------------------------===//
// WarpSpecializeOp
//===----------------------------------------------------------------------===//

static bool isTile(Type type) { return isa<RankedTensorType>(type); }

/// The budget of setmaxnreg (PTX ISA): more than the block was launched with
/// is never granted.
static LogicalResult verifyRegisters(WarpSpecializeOp op) {
  int64_t producer = op.getProducerRegisters(),
          consumer = op.getConsumerRegisters();
  for (auto [name, value] : {std::pair("producer_registers", producer),
                             std::pair("consumer_registers", consumer)})
    if (value % 8 != 0)
      return op.emitOpError("expected '")
             << name << "' to be a multiple of 8, but got " << value;
  auto warps = op->getParentOfType<KernelOp>()->getAttrOfType<IntegerAttr>(
      TileGPUDialect::kNumWarpsAttr);
  if (!warps)
    return success();
  constexpr int64_t kWarps = 4, kThreads = 128, kRegisters = 65536,
                    kMaxGroups = 7;
  int64_t groups = warps.getInt() / kWarps;
  if (warps.getInt() % kWarps != 0 || groups < 1 || groups > kMaxGroups)
    return op.emitOpError("expected 'tilegpu.num_warps' to be a multiple of ")
           << kWarps << " up to " << kWarps * kMaxGroups << ", but got "
           << warps.getInt();
  int64_t entry = kRegisters / (kThreads * (groups + 1)) / 8 * 8;
  // No thread has more than 255, rounded up.
  constexpr int64_t kMostOfThread = 256;
  entry = std::min(entry, kMostOfThread);
  int64_t most = (groups + 1) * entry, wanted = groups * consumer + producer;
  if (wanted > most)
    return op.emitOpError("expected ")
           << groups << " * consumer_registers + producer_registers to be at "
           << "most " << most << ", but got " << wanted;
  if (producer > entry || consumer < entry)
    return op.emitOpError("expected at most ")
           << entry << " 'producer_registers' and at least as many "
           << "'consumer_registers', but got " << producer << " and "
           << consumer;
  return success();
}

static LogicalResult verifyInProducer(Operation *op) {
  auto roles = op->getParentOfType<WarpSpecializeOp>();
  if (!roles || !roles.getProducer().isAncestor(op->getParentRegion()))
    return op->emitOpError("expected to be in the producer region of "
                           "'tilegpu.warp_specialize'");
  return success();
}

LogicalResult ProducerIdOp::verify() { return verifyInProducer(*this); }

LogicalResult WriteWordOp::verify() { return verifyInProducer(*this); }

LogicalResult TakeProgramOp::verify() {
  auto kernel = (*this)->getParentOfType<KernelOp>();
  if (!kernel || !kernel->hasAttr(kProgramCounterAttr))
    return emitOpError("expected a 'tile.kernel' with '")
           << kProgramCounterAttr << "'";
  return verifyInProducer(*this);
}

LogicalResult WarpSpecializeOp::verify() {
  if (failed(verifyRegisters(*this)))
    return failure();
  WalkResult producer = getProducer().walk([](Operation *op) {
    if (llvm::none_of(op->getOperandTypes(), isTile) &&
        llvm::none_of(op->getResultTypes(), isTile) &&
        !isa<BarrierOp, NamedBarrierOp, CopyAsyncOp, CommitCopiesOp,
             WaitCopiesOp>(op))
      return WalkResult::advance();
    op->emitOpError("is not for a producer region, whose single thread has no "
                    "tiles and waits for mbarriers only");
    return WalkResult::interrupt();
  });
  if (producer.wasInterrupted())
    return failure();
  // All threads, the producer's as well, run what comes before.
  for (Operation &op : *(*this)->getBlock()) {
    bool after = (*this)->isBeforeInBlock(&op);
    if (&op == *this || isa<AllocOp, MbarriersOp, WordsOp>(op) ||
        op.hasTrait<OpTrait::IsTerminator>())
      continue;
    if (after || !isMemoryEffectFree(&op))
      return op.emitOpError(after ? "expected nothing after "
                                  : "expected no effects on memory before ")
             << "'tilegpu.warp_specialize'";
  }
  return success();
}
