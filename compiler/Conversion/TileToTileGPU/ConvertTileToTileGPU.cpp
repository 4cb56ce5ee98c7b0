//===- ConvertTileToTileGPU.cpp - Layouts for a kernel's tiles ------ ===//
//
// Part of FlashTile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Gives every tile the layout that LayoutChoice found for it, and every use the
// layout that it asks for:
//  - what is cheap (constants, splats, index arithmetic, broadcasts of such) is
//    computed again in the layout of each use;
//  - everything else is converted by tilegpu.convert_layout.
// Dots become tilegpu.mma on operands in shared memory, seen through
// transposes; a left operand that is in the right registers already stays.
//
//===----------------------------------------------------------------------===//

#include "compiler/Analysis/Layout/LayoutConversion.h"
#include "compiler/Analysis/Layout/SharedLayout.h"
#include "compiler/Analysis/Program/TileQueries.h"
#include "compiler/Conversion/Numerics/Numerics.h"
#include "compiler/Conversion/TileToTileGPU/AskTiles.h"
#include "compiler/Conversion/TileToTileGPU/LayoutAttrs.h"
#include "compiler/Conversion/TileToTileGPU/LayoutChoice.h"
#include "compiler/Conversion/TileToTileGPU/Passes.h"
#include "compiler/Conversion/TileToTileGPU/ScanLayout.h"
#include "compiler/Conversion/TileToTileGPU/WidenDots.h"
#include "dialects/Tile/Transforms/Remark.h"
#include "dialects/TileGPU/IR/LaunchAttributes.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/IR/Matchers.h"

namespace flashtile::gpu {
#define GEN_PASS_DEF_CONVERTTILETOTILEGPUPASS
#include "compiler/Conversion/TileToTileGPU/Passes.h.inc"
} // namespace flashtile::gpu

using namespace mlir;
using namespace flashtile;
using namespace flashtile::gpu;
using namespace flashtile::tile;
using flashtile::tile::getElementType;

namespace {
/// Rewrites one kernel in place.
class KernelConverter {
public:
  KernelConverter(KernelOp kernel, int64_t warps)
      : kernel(kernel), warps(warps), layouts(chooseLayouts(kernel, warps)),
        builder(kernel.getContext()) {
    kernel.getBody().walk([&](DotOp dot) {
      if (!usesWarpgroups(dot, warps))
        return;
      int64_t groups = columnGroups[dot] = columnGroupsOf(dot, warps);
      DotOperand right = peelTranspose(dot.getB());
      if (right.rowDim != 0)
        return;
      int64_t &most = sharersOfRows[right.root];
      most = std::max(most, groups);
    });
    hasWarpgroupDots = !columnGroups.empty();
  }

  LogicalResult convert();

private:
  /// `value` in this layout, computed or converted before `user`.
  Value demand(Value value, const DistributedLayout &layout, Operation *user);
  Value rematerialize(Value value, const DistributedLayout &layout,
                      Operation *user);
  void demandOperands(Operation *op, const DistributedLayout &layout);
  void setTypes(ValueRange values);

  LogicalResult convertOp(Operation *op);
  /// Types `result` with the layout that its operation gives it, and converts
  /// it to the chosen one.
  void produce(Value result, const DistributedLayout &natural);
  void convertReduce(Operation *op);
  void convertScan(ScanOp op);
  void convertConstant(arith::ConstantOp op);
  void convertReshape(ReshapeOp op);
  void convertJoin(JoinOp op);
  void convertCat(CatOp op);
  void convertWhile(scf::WhileOp loop);
  void convertTrans(TransOp op);
  void convertFor(scf::ForOp loop);
  void convertIf(scf::IfOp branch);
  void convertLoad(LoadOp op);
  DistributedLayout storeLayout(Value pointer, Value value);
  void convertStore(StoreOp op);
  void convertAtomic(AtomicAddOp op);
  std::optional<DistributedLayout> productRuns(AtomicAddOp op);
  bool holdsRuns(AtomicAddOp op);
  LogicalResult convertDot(DotOp op);
  void convertWarpgroupDot(DotOp op);
  Value stage(Value operand, Operation *user, bool isLeft, bool &transposed);
  Value stageRows(Value computed, Operation *user);

  KernelOp kernel;
  int64_t warps;
  DenseMap<Value, DistributedLayout> layouts;
  /// Loaded tiles in shared memory.
  DenseMap<std::pair<Value, Type>, Value> staged;
  /// Some product is one of warpgroups.
  bool hasWarpgroupDots = false;
  /// Of products of warpgroups: how many of these share their columns.
  DenseMap<Operation *, int64_t> columnGroups;
  /// Of right operands: the most of those that share their rows in memory.
  DenseMap<Value, int64_t> sharersOfRows;
  OpBuilder builder;
};
} // namespace

/// Operations that exist only in the layouts that their uses ask for.
static bool isMadeOnDemand(Operation *op) {
  if (op->getNumResults() != 1 || !tileType(op->getResult(0)) ||
      isa<CatOp, JoinOp>(op))
    return false;
  return isa<ExpandDimsOp, BroadcastOp>(op) || isCheap(op->getResult(0));
}

/// The layout that a broadcast's operand needs for a result in `layout`.
static DistributedLayout operandOfBroadcast(BroadcastOp op,
                                            DistributedLayout layout) {
  auto from = tileType(op.getOperand()), to = tileType(op.getResult());
  for (int64_t dim = 0; dim < from.getRank(); ++dim)
    if (from.getDimSize(dim) == 1 && to.getDimSize(dim) != 1)
      layout = expandDims(slice(layout, dim), dim);
  return layout;
}

Value KernelConverter::rematerialize(Value value,
                                     const DistributedLayout &layout,
                                     Operation *user) {
  Operation *op = value.getDefiningOp();
  RankedTensorType type = withLayout(value.getType(), layout);
  if (auto expand = dyn_cast<ExpandDimsOp>(op)) {
    Value operand =
        demand(expand.getOperand(), slice(layout, expand.getAxis()), user);
    return ExpandDimsOp::create(builder, op->getLoc(), type, operand,
                                expand.getAxisAttr());
  }
  if (auto broadcast = dyn_cast<BroadcastOp>(op)) {
    Value operand = demand(broadcast.getOperand(),
                           operandOfBroadcast(broadcast, layout), user);
    return BroadcastOp::create(builder, op->getLoc(), type, operand);
  }
  DenseElementsAttr constant;
  if (matchPattern(op, m_Constant(&constant)))
    return arith::ConstantOp::create(builder, op->getLoc(),
                                     constant.resizeSplat(type));
  IRMapping mapping;
  for (Value operand : op->getOperands())
    if (tileType(operand)) {
      DistributedLayout wanted = layout;
      if (auto trans = dyn_cast<TransOp>(op)) {
        SmallVector<unsigned> inverse(trans.getOrder().size());
        for (auto [dim, source] : llvm::enumerate(trans.getOrder()))
          inverse[source] = dim;
        wanted = transpose(layout, inverse);
      }
      mapping.map(operand, demand(operand, wanted, user));
    }
  builder.setInsertionPoint(user);
  Operation *clone = builder.clone(*op, mapping);
  clone->getResult(0).setType(type);
  return clone->getResult(0);
}

Value KernelConverter::demand(Value value, const DistributedLayout &layout,
                              Operation *user) {
  builder.setInsertionPoint(user);
  if (Operation *op = value.getDefiningOp())
    if (!tilegpu::getLayout(value.getType()) && isMadeOnDemand(op))
      return rematerialize(value, layout, user);
  RankedTensorType type = withLayout(value.getType(), layout);
  if (value.getType() == type)
    return value;
  return tilegpu::ConvertLayoutOp::create(builder, value.getLoc(), type, value);
}

void KernelConverter::demandOperands(Operation *op,
                                     const DistributedLayout &layout) {
  for (OpOperand &operand : op->getOpOperands())
    if (tileType(operand.get()))
      operand.set(demand(operand.get(), layout, op));
}

void KernelConverter::setTypes(ValueRange values) {
  for (Value value : values)
    if (tileType(value))
      value.setType(withLayout(value.getType(), layouts.at(value)));
}

void KernelConverter::convertReduce(Operation *op) {
  unsigned axis = op->getAttrOfType<IntegerAttr>("axis").getInt();
  DistributedLayout from = layouts.at(op->getOperand(0));
  auto type = tileType(op->getOperand(0));
  if (!planReduction(from, axis)) {
    // Some layouts cannot be reduced in place; a blocked one always can.
    SmallVector<unsigned> order;
    for (unsigned dim = type.getRank(); dim-- > 0;)
      order.push_back(dim);
    from = blocked(type.getShape(), 1, order, warps);
  }
  demandOperands(op, from);
  for (Value result : op->getResults())
    if (tileType(result))
      produce(result, slice(from, axis));
}

void KernelConverter::produce(Value result, const DistributedLayout &natural) {
  DistributedLayout chosen = layouts.at(result);
  RankedTensorType wanted = withLayout(result.getType(), chosen);
  result.setType(withLayout(result.getType(), natural));
  if (result.getType() == wanted)
    return;
  builder.setInsertionPointAfterValue(result);
  auto convert = tilegpu::ConvertLayoutOp::create(builder, result.getLoc(),
                                                  wanted, result);
  result.replaceAllUsesExcept(convert, convert);
  // Erased operations leave entries behind, and their addresses to others.
  layouts.insert_or_assign(convert.getResult(), chosen);
}

void KernelConverter::convertScan(ScanOp op) {
  auto type = tileType(op.getOperand(0));
  DistributedLayout layout = scanLayout(type.getShape(), op.getAxis(), warps);
  demandOperands(op, layout);
  for (Value result : op.getResults())
    produce(result, layout);
}

//===----------------------------------------------------------------------===//
// Tables and tiles of another shape
//===----------------------------------------------------------------------===//

/// One whose elements differ: others are made on demand.
void KernelConverter::convertConstant(arith::ConstantOp op) {
  auto type = withLayout(op.getType(), layouts.at(op.getResult()));
  op.setValueAttr(cast<DenseElementsAttr>(op.getValue()).reshape(type));
  op.getResult().setType(type);
}

void KernelConverter::convertReshape(ReshapeOp op) {
  DistributedLayout from = layouts.at(op.getOperand());
  demandOperands(op, from);
  auto inPlace = reshape(from, tileType(op.getResult()).getShape());
  produce(op.getResult(), inPlace ? *inPlace : layouts.at(op.getResult()));
}

void KernelConverter::convertJoin(JoinOp op) {
  DistributedLayout from = layouts.at(op.getLhs());
  demandOperands(op, from);
  produce(op.getResult(), join(from));
}

void KernelConverter::convertCat(CatOp op) {
  DistributedLayout chosen = layouts.at(op.getResult());
  if (tileType(op.getLhs()).getShape() == tileType(op.getRhs()).getShape()) {
    DistributedLayout from = layouts.at(op.getLhs());
    demandOperands(op, from);
    auto inPlace = cat(from, op.getAxis());
    return produce(op.getResult(), inPlace ? *inPlace : chosen);
  }
  op.getLhsMutable().assign(demand(op.getLhs(), layouts.at(op.getLhs()), op));
  op.getRhsMutable().assign(demand(op.getRhs(), layouts.at(op.getRhs()), op));
  setTypes(op->getResults());
}

//===----------------------------------------------------------------------===//
// Control flow and memory
//===----------------------------------------------------------------------===//

void KernelConverter::convertTrans(TransOp op) {
  SmallVector<unsigned> inverse(op.getOrder().size());
  for (auto [dim, source] : llvm::enumerate(op.getOrder()))
    inverse[source] = dim;
  // The operand where the result wants it, so that transposing moves nothing.
  DistributedLayout layout = layouts.at(op.getResult());
  demandOperands(op, transpose(layout, inverse));
  setTypes(op->getResults());
}

void KernelConverter::convertFor(scf::ForOp loop) {
  setTypes(loop.getRegionIterArgs());
  setTypes(loop.getResults());
  for (auto [init, argument] :
       llvm::zip(loop.getInitArgsMutable(), loop.getRegionIterArgs()))
    if (tileType(argument))
      init.set(demand(init.get(), layouts.at(argument), loop));
}

void KernelConverter::convertIf(scf::IfOp branch) {
  setTypes(branch.getResults());
}

void KernelConverter::convertWhile(scf::WhileOp loop) {
  setTypes(loop.getBeforeArguments());
  setTypes(loop.getAfterArguments());
  setTypes(loop.getResults());
  for (auto [init, argument] :
       llvm::zip(loop.getInitsMutable(), loop.getBeforeArguments()))
    if (tileType(argument))
      init.set(demand(init.get(), layouts.at(argument), loop));
}

void KernelConverter::convertLoad(LoadOp op) {
  auto type = withLayout(op.getType(), layouts.at(op.getResult()));
  DistributedLayout layout = layouts.at(op.getResult());
  auto in = [&](Value value) {
    return value && tileType(value) ? demand(value, layout, op) : value;
  };
  Value pointer = in(op.getPointer()), mask = in(op.getMask()),
        other = in(op.getOther());
  builder.setInsertionPoint(op);
  auto load =
      tilegpu::LoadOp::create(builder, op.getLoc(), type, pointer, mask, other,
                              op.getPadding(), op.getInBoundsAttr());
  layouts.insert_or_assign(load.getResult(), layout);
  // The old one's place in memory may become another's.
  if (int64_t sharers = sharersOfRows.lookup(op.getResult())) {
    sharersOfRows.erase(op.getResult());
    sharersOfRows[load.getResult()] = sharers;
  }
  op.getResult().replaceAllUsesWith(load.getResult());
  op.erase();
}

/// Coalesced where memory says how.
DistributedLayout KernelConverter::storeLayout(Value pointer, Value value) {
  auto type = tileType(value);
  unsigned rank = type.getRank();
  // Few elements a thread are stored where they are: moving them costs more.
  constexpr int64_t kFew = 4;
  if (rank == 1 && tilegpu::getLayout(value.getType())) {
    DistributedLayout layout = layoutOf(value.getType());
    if (layout.registersPerThread() <= kFew)
      return layout;
  }
  unsigned contiguous = memoryLaneDim(pointer, rank);
  SmallVector<unsigned> order = {contiguous};
  for (unsigned dim = rank; dim-- > 0;)
    if (dim != contiguous)
      order.push_back(dim);
  int64_t bits =
      std::max<int64_t>(8, type.getElementType().getIntOrFloatBitWidth());
  return blocked(type.getShape(), 128 / bits, order, warps);
}

void KernelConverter::convertStore(StoreOp op) {
  DistributedLayout layout = storeLayout(op.getPointer(), op.getValue());
  auto in = [&](Value value) {
    return value && tileType(value) ? demand(value, layout, op) : value;
  };
  Value pointer = in(op.getPointer()), value = in(op.getValue()),
        mask = in(op.getMask());
  builder.setInsertionPoint(op);
  tilegpu::StoreOp::create(builder, op.getLoc(), pointer, value, mask,
                           op.getInBoundsAttr());
  op.erase();
}

/// The layout in which the result of a warpgroup product is added to memory: as
/// it is, but for an exchange between neighbouring lanes, four numbers at a
/// time.
std::optional<DistributedLayout> KernelConverter::productRuns(AtomicAddOp op) {
  auto type = tileType(op.getValue());
  auto wait = op.getValue().getDefiningOp<tilegpu::WgmmaWaitOp>();
  auto window = op.getPointer().getDefiningOp<MakeBlockPtrOp>();
  auto product =
      wait ? wait->getOperand(0).getDefiningOp<tilegpu::WgmmaOp>() : nullptr;
  if (!product || !window || !op->use_empty() ||
      !type.getElementType().isF32() || type.getRank() != 2 ||
      !matchPattern(window.getStrides()[1], m_One()) ||
      type.getDimSize(1) % (16 * product.getColumnGroups()) != 0)
    return std::nullopt;
  return wgmmaAccumulatorRuns(type.getDimSize(0), type.getDimSize(1),
                              product.getWarpgroups(),
                              product.getColumnGroups());
}

/// Whether threads hold four numbers each that are neighbours in memory.
bool KernelConverter::holdsRuns(AtomicAddOp op) {
  auto type = tileType(op.getValue());
  auto window = op.getPointer().getDefiningOp<MakeBlockPtrOp>();
  if (!window || !op->use_empty() || !type.getElementType().isF32() ||
      !tilegpu::getLayout(op.getValue().getType()) ||
      !matchPattern(window.getStrides().back(), m_One()))
    return false;
  constexpr int64_t kRun = 4;
  DistributedLayout layout = layoutOf(op.getValue().getType());
  Coordinates step(type.getRank(), 0);
  step.back() = 1;
  return !layout.registers().empty() &&
         layout.registers().front().step == step &&
         layout.registers().front().extent % kRun == 0;
}

void KernelConverter::convertAtomic(AtomicAddOp op) {
  // As a store: no thread but one may hold an element.
  DistributedLayout layout = storeLayout(op.getPointer(), op.getValue());
  if (std::optional<DistributedLayout> runs = productRuns(op))
    layout = *runs;
  else if (holdsRuns(op))
    layout = layoutOf(op.getValue().getType());
  auto in = [&](Value value) {
    return value && tileType(value) ? demand(value, layout, op) : value;
  };
  Value pointer = in(op.getPointer()), value = in(op.getValue()),
        mask = in(op.getMask());
  builder.setInsertionPoint(op);
  auto atomic = tilegpu::AtomicAddOp::create(
      builder, op.getLoc(), value.getType(), pointer, value, mask);
  DistributedLayout chosen = layouts.at(op.getResult());
  layouts.insert_or_assign(atomic.getResult(), chosen);
  op.getResult().replaceAllUsesWith(atomic.getResult());
  op.erase();
  if (!atomic->use_empty())
    produce(atomic.getResult(), layout);
}

//===----------------------------------------------------------------------===//
// Dots
//===----------------------------------------------------------------------===//

/// For rows of so many bytes, of which `parts` are whole spans each. Where rows
/// are filled up with zeros, and so have boxes that reach past the tile in any
/// case: fewer and wider ones, as long as that takes no more memory than spans
/// of 64 bytes do.
static int64_t swizzleFor(int64_t rowBytes, bool isPartial, int64_t parts) {
  constexpr int64_t kSpans[] = {128, 64, 32}, kUsual = 64;
  auto spanned = [&](int64_t span) { return llvm::alignTo(rowBytes, span); };
  for (int64_t span : kSpans)
    if (rowBytes % (span * parts) == 0 || (isPartial && rowBytes > kUsual / 2 &&
                                           spanned(span) <= spanned(kUsual)))
      return span;
  return 0;
}

/// The left operand of `user` whose transpose was computed, in shared memory
/// row by row, if `stmatrix` can transpose it on its way: threads then write
/// all of it from one address. None otherwise, or where another product reads
/// what was computed from memory as it is: once is enough for both.
Value KernelConverter::stageRows(Value computed, Operation *user) {
  auto type = tileType(computed);
  constexpr int64_t kBits = 16, kUnit = 16;
  const int64_t rows = type.getDimSize(1), columns = type.getDimSize(0);
  if (!hasWarpgroupDots || type.getElementTypeBitWidth() != kBits ||
      rows % kUnit != 0 || columns % kUnit != 0)
    return {};
  for (Operation *other : computed.getUsers())
    if (isa<tilegpu::StageOp>(other) || columnGroups.lookup(other) > 1 ||
        (isa<DotOp>(other) && other->getOperand(1) == computed))
      return {};
  constexpr int64_t kBytes = kBits / 8;
  auto memory = tilegpu::SmemType::get(
      kernel.getContext(), {rows, columns}, type.getElementType(),
      swizzleFor(columns * kBytes, /*isPartial=*/false, /*parts=*/1));
  const DistributedLayout turned =
      transpose(layoutOf(computed.getType()), {1u, 0u});
  const SharedLayout rowByRow({rows, columns}, kBytes, {1u, 0u},
                              static_cast<Swizzle>(memory.getSwizzle()));
  std::optional<MatrixAccess> access = planMatrixAccess(turned, rowByRow);
  if (!access || !access->transposed)
    return {};
  builder.setInsertionPoint(user);
  Location loc = user->getLoc();
  auto tile = RankedTensorType::get({rows, columns}, type.getElementType());
  Value operand = TransOp::create(builder, loc, withLayout(tile, turned),
                                  computed, ArrayRef<int32_t>{1, 0});
  return tilegpu::StageOp::create(builder, loc, memory, operand);
}

/// The operand in shared memory. Transposes are seen through: `transposed`
/// says that memory holds columns where the operand has rows.
Value KernelConverter::stage(Value operand, Operation *user, bool isLeft,
                             bool &transposed) {
  DotOperand peeled = peelTranspose(operand);
  transposed = peeled.rowDim == 1;
  Value root = peeled.root;
  int64_t parts = std::max<int64_t>(sharersOfRows.lookup(root), 1);
  // What was computed is stored for each product.
  if (!isa_and_nonnull<tilegpu::LoadOp>(root.getDefiningOp()))
    parts = isLeft || transposed
                ? 1
                : std::max<int64_t>(columnGroups.lookup(user), 1);
  auto type = tileType(root);
  // Below a transpose that others use, it has been converted for that.
  if (!tilegpu::getLayout(root.getType()))
    root = demand(root, layouts.at(root), user);
  // What was loaded is staged where it was loaded, once for all products.
  bool loaded = isa_and_nonnull<tilegpu::LoadOp>(root.getDefiningOp());
  if (isLeft && transposed && !loaded)
    if (Value rows = stageRows(root, user)) {
      transposed = false;
      return rows;
    }
  int64_t bits = type.getElementType().getIntOrFloatBitWidth();
  // Whole instructions: 16 x 256 bits of a, 256 bits x 8 of b.
  int64_t depth = 256 / bits, outer = isLeft ? 16 : 8;
  auto roundUp = [](int64_t value, int64_t unit) {
    return (value + unit - 1) / unit * unit;
  };
  bool depthIsRow = isLeft == transposed;
  int64_t rows = roundUp(type.getDimSize(0), depthIsRow ? depth : outer);
  // One form for all products of a tile, whichever of its dimensions they sum
  // over, where warpgroups may read it.
  bool isForWarpgroups = bits == 16 && hasWarpgroupDots;
  int64_t columns = roundUp(type.getDimSize(1),
                            depthIsRow && !isForWarpgroups ? outer : depth);
  auto memory = tilegpu::SmemType::get(
      kernel.getContext(), {rows, columns}, type.getElementType(),
      swizzleFor(columns * bits / 8,
                 isForWarpgroups && columns != type.getDimSize(1), parts));
  Value &known = staged[{root, memory}];
  if (loaded && known)
    return known;
  if (loaded)
    builder.setInsertionPointAfterValue(root);
  else
    builder.setInsertionPoint(user);
  known = tilegpu::StageOp::create(builder, user->getLoc(), memory, root);
  return known;
}

void KernelConverter::convertWarpgroupDot(DotOp op) {
  DistributedLayout layout = layouts.at(op.getResult());
  auto aType = tileType(op.getA());
  int64_t columnGroups = this->columnGroups.lookup(op);
  Value a;
  bool transA = false, transB = false;
  // Registers past the depth would hold anything: staged tiles hold zeros.
  constexpr int64_t kDepth = 16;
  if (columnGroups == 1 && !op.getA().getDefiningOp<TransOp>() &&
      !isCheap(op.getA()) && aType.getDimSize(1) % kDepth == 0) {
    DistributedLayout operand = wgmmaOperandA(
        aType.getDimSize(0), aType.getDimSize(1),
        aType.getElementType().getIntOrFloatBitWidth(), warps / 4);
    auto plan = planConversion(layouts.at(op.getA()), operand,
                               aType.getElementTypeBitWidth() / 8);
    if (plan.kind == LayoutConversion::Kind::None ||
        plan.kind == LayoutConversion::Kind::Registers)
      a = demand(op.getA(), operand, op);
  }
  if (!a)
    a = stage(op.getA(), op, /*isLeft=*/true, transA);
  Value b = stage(op.getB(), op, /*isLeft=*/false, transB);
  // Products start from zero by themselves.
  Value c;
  if (!matchPattern(op.getC(), m_AnyZeroFloat()))
    c = demand(op.getC(), layout, op);
  builder.setInsertionPoint(op);
  RankedTensorType type = withLayout(op.getType(), layout);
  auto product = tilegpu::WgmmaOp::create(
      builder, op.getLoc(), type, a, b, c, /*head=*/Value(),
      builder.getI32IntegerAttr(warps / 4),
      transA ? builder.getUnitAttr() : UnitAttr(),
      transB ? builder.getUnitAttr() : UnitAttr(),
      builder.getI32IntegerAttr(columnGroups));
  auto wait = tilegpu::WgmmaWaitOp::create(
      builder, op.getLoc(), TypeRange{type}, ValueRange{product.getResult()},
      builder.getI32IntegerAttr(0));
  Value result = wait.getResult(0);
  layouts.insert_or_assign(result, layout);
  op.getResult().replaceAllUsesWith(result);
  op.erase();
}

LogicalResult KernelConverter::convertDot(DotOp op) {
  if (columnGroups.contains(op))
    return convertWarpgroupDot(op), success();
  DistributedLayout layout = layouts.at(op.getResult());
  WarpGrid grid = warpGridOf(layout, warps);
  bool instructions = usesMatrixInstructions(op);
  // P of P * V: the accumulator's registers are the left operand's already.
  Value a;
  bool transA = false, transB = false;
  int64_t bits = getElementType(op.getA().getType()).getIntOrFloatBitWidth();
  if (instructions && bits == 16 && !op.getA().getDefiningOp<TransOp>() &&
      !isCheap(op.getA())) {
    auto aType = tileType(op.getA());
    DistributedLayout operand =
        replicateWarps(mmaOperandA(aType.getDimSize(0), aType.getDimSize(1),
                                   bits, grid.m, grid.n),
                       warps / (grid.m * grid.n));
    auto plan = planConversion(layouts.at(op.getA()), operand, bits / 8);
    // Registers past the depth would hold anything: staged tiles hold zeros.
    if (!operand.isPaddedAlong(1) &&
        plan.kind != LayoutConversion::Kind::SharedMemory &&
        plan.kind != LayoutConversion::Kind::Lanes)
      a = demand(op.getA(), operand, op);
  }
  if (!a)
    a = stage(op.getA(), op, /*isLeft=*/true, transA);
  Value b = stage(op.getB(), op, /*isLeft=*/false, transB);
  Value c = demand(op.getC(), layout, op);
  builder.setInsertionPoint(op);
  auto mma = tilegpu::MmaOp::create(
      builder, op.getLoc(), c.getType(), a, b, c,
      builder.getI32IntegerAttr(grid.m), builder.getI32IntegerAttr(grid.n),
      transA ? builder.getUnitAttr() : UnitAttr(),
      transB ? builder.getUnitAttr() : UnitAttr(),
      InputPrecisionAttr::get(kernel.getContext(), precisionOf(op)));
  layouts.insert_or_assign(mma.getResult(), layout);
  op.getResult().replaceAllUsesWith(mma.getResult());
  op.erase();
  return success();
}

//===----------------------------------------------------------------------===//
// The walk
//===----------------------------------------------------------------------===//

LogicalResult KernelConverter::convertOp(Operation *op) {
  if (isMadeOnDemand(op))
    return success();
  if (auto load = dyn_cast<LoadOp>(op)) {
    if (tileType(load.getResult()))
      convertLoad(load);
  } else if (auto store = dyn_cast<StoreOp>(op)) {
    if (tileType(store.getValue()))
      convertStore(store);
  } else if (auto atomic = dyn_cast<AtomicAddOp>(op)) {
    if (tileType(atomic.getValue()))
      convertAtomic(atomic);
  } else if (auto dot = dyn_cast<DotOp>(op)) {
    return convertDot(dot);
  } else if (isAxisReduce(op) || isa<ReduceOp>(op)) {
    convertReduce(op);
  } else if (auto trans = dyn_cast<TransOp>(op)) {
    // Dots see through it.
    if (!llvm::all_of(trans->getUsers(), llvm::IsaPred<DotOp, TransOp>))
      convertTrans(trans);
  } else if (auto loop = dyn_cast<scf::ForOp>(op)) {
    convertFor(loop);
  } else if (auto branch = dyn_cast<scf::IfOp>(op)) {
    convertIf(branch);
  } else if (auto loop = dyn_cast<scf::WhileOp>(op)) {
    convertWhile(loop);
  } else if (auto condition = dyn_cast<scf::ConditionOp>(op)) {
    for (auto [operand, result] :
         llvm::zip(condition.getArgsMutable(), op->getParentOp()->getResults()))
      if (tileType(operand.get()))
        operand.set(demand(operand.get(), layouts.at(result), op));
  } else if (isa<scf::YieldOp>(op)) {
    auto loop = dyn_cast<scf::WhileOp>(op->getParentOp());
    ValueRange targets = loop ? ValueRange(loop.getBeforeArguments())
                              : ValueRange(op->getParentOp()->getResults());
    for (auto [operand, target] : llvm::zip(op->getOpOperands(), targets))
      if (tileType(operand.get()))
        operand.set(demand(operand.get(), layouts.at(target), op));
  } else if (auto scan = dyn_cast<ScanOp>(op)) {
    convertScan(scan);
  } else if (auto reshape = dyn_cast<ReshapeOp>(op)) {
    convertReshape(reshape);
  } else if (auto join = dyn_cast<JoinOp>(op)) {
    convertJoin(join);
  } else if (auto cat = dyn_cast<CatOp>(op)) {
    convertCat(cat);
  } else if (auto constant = dyn_cast<arith::ConstantOp>(op);
             constant && tileType(constant.getResult())) {
    convertConstant(constant);
  } else if (isElementwise(op)) {
    if (op->getNumResults() == 0 || !tileType(op->getResult(0)))
      return success();
    demandOperands(op, layouts.at(op->getResult(0)));
    setTypes(op->getResults());
  } else if (isa<AssertOp, PrintOp, tilegpu::AnyOp>(op)) {
    for (OpOperand &operand : op->getOpOperands())
      if (tileType(operand.get()))
        operand.set(demand(operand.get(), layouts.at(operand.get()), op));
  } else if (llvm::any_of(op->getResults(), tileType) ||
             llvm::any_of(op->getOperands(), tileType)) {
    return op->emitOpError("is not supported on tiles by the gpu targets yet");
  }
  return success();
}

LogicalResult KernelConverter::convert() {
  // A snapshot: conversion adds and replaces operations.
  SmallVector<Operation *> ops;
  kernel.getBody().walk<WalkOrder::PreOrder>(
      [&](Operation *op) { ops.push_back(op); });
  for (Operation *op : ops) {
    // Combiners are scalar code.
    if (isa<ReduceOp, ScanOp>(op->getParentOp()))
      continue;
    if (failed(convertOp(op)))
      return failure();
  }
  // What was made on demand left its pattern behind, without uses.
  ops.clear();
  kernel.getBody().walk([&](Operation *op) { ops.push_back(op); });
  for (Operation *op : llvm::reverse(ops))
    if (op->use_empty() && op->getNumResults() && op->getNumRegions() == 0 &&
        isMemoryEffectFree(op))
      op->erase();
  return success();
}

/// Says which products have lesser instructions than the target has, and why.
static void explainProducts(KernelOp kernel, StringRef target, int64_t warps) {
  if (kernel->hasAttr(tilegpu::kPlainAttr))
    return;
  kernel.getBody().walk([&](DotOp dot) {
    std::string how;
    if (!usesMatrixInstructions(dot))
      how = getElementType(dot.getA().getType()).isF64()
                ? "by multiply-adds of threads: its operands are f64"
                : "by multiply-adds of threads: its precision is ieee";
    else if (target == "sm_90a" && !usesWarpgroups(dot, warps))
      how = "by mma.sync: " + whyNoWarpgroups(dot, warps);
    if (!how.empty())
      remarkMissed(dot, "convert-tile-to-tilegpu", "Products",
                   "the product is computed " + how);
  });
}

/// Warns of the largest tile where it is several times what threads can hold.
static void warnOfLargeTiles(KernelOp kernel, int64_t warps) {
  constexpr int64_t kRegisters = 255, kTimes = 4, kLanes = 32, kBits = 32;
  Operation *largest = nullptr;
  int64_t most = kTimes * kRegisters;
  kernel.getBody().walk([&](Operation *op) {
    for (Value result : op->getResults()) {
      auto type = tileType(result);
      Type element = type ? getElementType(type) : Type();
      if (!type || !type.getEncoding() || isCheap(result) ||
          !element.isIntOrFloat() || element.isInteger(1))
        continue;
      const int64_t registers = layoutOf(type).registersPerThread() *
                                element.getIntOrFloatBitWidth() / kBits;
      if (registers > most) {
        most = registers;
        largest = op;
      }
    }
  });
  if (largest)
    largest->emitWarning("each of ")
        << warps * kLanes << " threads holds " << most
        << " registers of this tile, but can have " << kRegisters
        << " in all: it will be compiled slowly, and most of it lie in memory";
}

namespace {
struct ConvertTileToTileGPU
    : public flashtile::gpu::impl::ConvertTileToTileGPUPassBase<
          ConvertTileToTileGPU> {
  using ConvertTileToTileGPUPassBase::ConvertTileToTileGPUPassBase;

  void runOnOperation() override {
    KernelOp kernel = getOperation();
    if (target != "sm_80" && target != "sm_90a") {
      kernel.emitError("expected target sm_80 or sm_90a, but got '")
          << target << "'";
      return signalPassFailure();
    }
    if (numWarps < 1 || numWarps > 16) {
      kernel.emitError("expected 1 to 16 warps, but got ") << int64_t(numWarps);
      return signalPassFailure();
    }
    // Written with layouts already: there is nothing to choose.
    if (auto own = kernel->getAttrOfType<StringAttr>(
            tilegpu::TileGPUDialect::kTargetAttr)) {
      if (own.getValue() != target)
        kernel.emitError("expected target '")
            << own.getValue() << "', for which the kernel's layouts are, but "
            << "got '" << target << "'";
      return own.getValue() == target ? void() : signalPassFailure();
    }
    numeric::expandMathOps(kernel);
    Builder builder(&getContext());
    kernel->setAttr(tilegpu::TileGPUDialect::kTargetAttr,
                    builder.getStringAttr(target));
    // Programs that were put together have the warps of each.
    int64_t warps = numWarps;
    if (auto own = kernel->getAttrOfType<IntegerAttr>(
            tilegpu::TileGPUDialect::kNumWarpsAttr))
      warps = own.getInt();
    kernel->setAttr(tilegpu::TileGPUDialect::kNumWarpsAttr,
                    builder.getI32IntegerAttr(warps));
    widenFp8Dots(kernel);
    askWholeTiles(kernel);
    explainProducts(kernel, target, warps);
    if (failed(KernelConverter(kernel, warps).convert()))
      return signalPassFailure();
    if (!kernel->hasAttr(tilegpu::kPlainAttr))
      warnOfLargeTiles(kernel, warps);
  }
};
} // namespace
