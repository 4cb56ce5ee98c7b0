//===- LayoutChoice.cpp - A layout for every tile of a kernel -------------===//
//
// Part of FlashTile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Groups are a union-find over values; layouts then flow from dots to what they
// are reduced to and what is broadcast into them, until nothing changes.
//
//===----------------------------------------------------------------------===//

#include "compiler/Conversion/TileToTileGPU/LayoutChoice.h"

#include "compiler/Analysis/Program/TileGroups.h"
#include "compiler/Analysis/Program/TileQueries.h"
#include "compiler/Support/RegisterBudget.h"
#include "dialects/TileGPU/IR/LaunchAttributes.h"
#include "dialects/TileGPU/IR/TileGPUDialect.h"

#include "mlir/Dialect/SCF/IR/SCF.h"
#include "llvm/ADT/SetVector.h"

using namespace mlir;
using namespace flashtile;
using namespace flashtile::gpu;
using namespace flashtile::tile;
using flashtile::tile::getElementType;

WarpGrid flashtile::gpu::warpGrid(int64_t rows, int64_t columns,
                                  int64_t warps) {
  // Rows and columns of one instruction's result.
  constexpr int64_t kRows = 16, kColumns = 8;
  WarpGrid grid;
  for (int64_t m = 1; m <= warps; ++m)
    if (warps % m == 0 && m * kRows <= std::max(rows, kRows))
      grid.m = m;
  grid.n = warps / grid.m;
  // Warps that neither dimension can feed compute what others do.
  while (grid.n > 1 && (warps / grid.m % grid.n != 0 ||
                        grid.n * kColumns > std::max(columns, kColumns)))
    --grid.n;
  return grid;
}

/// Rows and columns of each warp as nearly alike as can be: it then reads least
/// of both operands.
static WarpGrid evenGrid(int64_t rows, int64_t columns, int64_t warps) {
  // Rows and columns that one ldmatrix reads.
  constexpr int64_t kRows = 16, kColumns = 16;
  WarpGrid best;
  int64_t least = 0;
  for (int64_t m = 1; m <= warps; ++m) {
    const int64_t n = warps / m;
    if (warps % m != 0 || rows % (m * kRows) != 0 ||
        columns % (n * kColumns) != 0)
      continue;
    const int64_t read = rows / m + columns / n;
    if (least == 0 || read <= least) {
      best = {m, n};
      least = read;
    }
  }
  return least ? best : warpGrid(rows, columns, warps);
}

/// What warps hold of a dot's result with this layout.
static DistributedLayout layoutOfGrid(int64_t rows, int64_t columns,
                                      int64_t warps, WarpGrid grid) {
  return replicateWarps(mmaAccumulator(rows, columns, grid.m, grid.n),
                        warps / (grid.m * grid.n));
}

WarpGrid flashtile::gpu::warpGridOf(const DistributedLayout &layout,
                                    int64_t warps) {
  const int64_t rows = layout.shape()[0], columns = layout.shape()[1];
  const WarpGrid even = evenGrid(rows, columns, warps);
  return layout == layoutOfGrid(rows, columns, warps, even)
             ? even
             : warpGrid(rows, columns, warps);
}

InputPrecision flashtile::gpu::precisionOf(DotOp dot) {
  bool f32 = getElementType(dot.getA().getType()).isF32();
  return dot.getInputPrecision().value_or(f32 ? InputPrecision::TF32x3
                                              : InputPrecision::IEEE);
}

bool flashtile::gpu::usesMatrixInstructions(DotOp dot) {
  Type element = getElementType(dot.getA().getType());
  if (element.isF32())
    return precisionOf(dot) != InputPrecision::IEEE;
  return !element.isF64();
}

static std::string elementName(Type element) {
  std::string name;
  llvm::raw_string_ostream(name) << element;
  return name;
}

/// "1 row is", "16 rows are".
static std::string counted(int64_t number, StringRef what) {
  return (Twine(number) + " " + what + (number == 1 ? " is" : "s are")).str();
}

/// Whether a kernel of so many warps has warpgroups that multiply.
static bool mayUseWarpgroups(KernelOp kernel, int64_t warps) {
  auto target =
      kernel->getAttrOfType<StringAttr>(tilegpu::TileGPUDialect::kTargetAttr);
  return target && target == "sm_90a" &&
         !kernel->hasAttr(tilegpu::kPlainAttr) && warps % 4 == 0;
}

/// Whether the depth of a product is a multiple of an instruction's, or can be
/// filled up with zeros: where it runs along the rows of both operands in
/// memory, whatever comes behind the last row of a tile.
static bool hasWholeDepth(DotOp dot) {
  constexpr int64_t kDepth = 16;
  return cast<RankedTensorType>(dot.getA().getType()).getDimSize(1) % kDepth ==
             0 ||
         (peelTranspose(dot.getA()).rowDim == 0 &&
          peelTranspose(dot.getB()).rowDim == 1);
}

/// The fewest warpgroups to share the columns so that each has 64 rows, or a
/// multiple; none where rows or columns do not come out even.
static std::optional<int64_t> sharersOfColumns(DotOp dot, int64_t warps) {
  constexpr int64_t kRowsOfWarp = 16, kWarpsOfGroup = 4, kSpanBytes = 32;
  constexpr int64_t kColumns = 8;
  auto result = cast<RankedTensorType>(dot.getType());
  Type element = getElementType(dot.getB().getType());
  if (!element.isIntOrFloat())
    return std::nullopt;
  // Columns of b are rows in memory, or lie along them, in whole spans.
  const int64_t columns = result.getDimSize(1);
  const bool areRows = peelTranspose(dot.getB()).rowDim == 1;
  const int64_t rowBytes = columns * element.getIntOrFloatBitWidth() / 8;
  for (int64_t groups = 1; groups * kWarpsOfGroup <= warps; groups *= 2)
    if (warps % (groups * kWarpsOfGroup) == 0 &&
        result.getDimSize(0) * groups % (kRowsOfWarp * warps) == 0 &&
        (groups == 1 || (areRows ? columns % (groups * kColumns) == 0
                                 : rowBytes % (groups * kSpanBytes) == 0)))
      return groups;
  return std::nullopt;
}

/// Why warpgroups, of which so many share the columns, cannot multiply; empty
/// where they can.
static std::string whyNotMultiplied(DotOp dot, int64_t warps,
                                    int64_t columnGroups) {
  Type element = getElementType(dot.getA().getType());
  // 64 rows of a warpgroup.
  constexpr int64_t kRowsOfWarp = 16, kColumns = 8, kMaxColumns = 256;
  // A thread has to have the registers that one instruction's sums take.
  constexpr int64_t kWarps = 4, kColumnsOfRegister = 2, kBeside = 32;
  const auto type = cast<RankedTensorType>(dot.getType());
  const int64_t rows = type.getDimSize(0), columns = type.getDimSize(1);
  const int64_t step = kRowsOfWarp * warps / columnGroups;
  if (!element.isF16() && !element.isBF16())
    return (Twine("its operands are ") + elementName(element) +
            ", those of warpgroups are f16 or bf16")
        .str();
  if (rows % step != 0)
    return (Twine("its ") + counted(rows, "row") + " no multiple of the " +
            Twine(step) + " that " + Twine(warps) + " warps take")
        .str();
  if (columns % kColumns != 0 || columns > kMaxColumns)
    return (Twine("its ") + counted(columns, "column") + " no multiple of " +
            Twine(kColumns) + " up to " + Twine(kMaxColumns))
        .str();
  if (!hasWholeDepth(dot))
    return (Twine("its depth of ") +
            Twine(cast<RankedTensorType>(dot.getA().getType()).getDimSize(1)) +
            " is no multiple of 16, and not along the rows of both operands")
        .str();
  const int64_t needed = columns / columnGroups / kColumnsOfRegister + kBeside;
  const int64_t has =
      registersOfRoles(std::max<int64_t>(warps / kWarps, 1)).consumer;
  if (needed > has)
    return (Twine("a row of it takes ") + Twine(needed) + " of the " +
            Twine(has) + " registers that a thread of " + Twine(warps) +
            " warps has")
        .str();
  return {};
}

static bool canMultiply(DotOp dot, int64_t warps, int64_t columnGroups) {
  return whyNotMultiplied(dot, warps, columnGroups).empty();
}

/// Whether warpgroups may share the columns of whatever the kernel multiplies:
/// all of its products are theirs then, and no row has to be in one warp.
static bool mayShareColumns(KernelOp kernel, int64_t warps) {
  constexpr int64_t kFewestProducts = 3;
  if (!mayUseWarpgroups(kernel, warps))
    return false;
  int64_t products = 0;
  WalkResult result = kernel.getBody().walk([&](Operation *op) {
    if (auto dot = dyn_cast<DotOp>(op)) {
      ++products;
      std::optional<int64_t> groups = sharersOfColumns(dot, warps);
      return groups && canMultiply(dot, warps, *groups)
                 ? WalkResult::advance()
                 : WalkResult::interrupt();
    }
    return isAxisReduce(op) || isa<ReduceOp, ScanOp>(op)
               ? WalkResult::interrupt()
               : WalkResult::advance();
  });
  return !result.wasInterrupted() && products >= kFewestProducts;
}

int64_t flashtile::gpu::columnGroupsOf(DotOp dot, int64_t warps) {
  constexpr int64_t kSpanBytes = 128;
  auto trans = dot.getA().getDefiningOp<TransOp>();
  bool isMade = trans && !trans.getOperand().getDefiningOp<LoadOp>();
  int64_t groups = sharersOfColumns(dot, warps).value_or(1);
  if (groups == 1)
    return 1;
  int64_t rowBytes =
      cast<RankedTensorType>(dot.getType()).getDimSize(1) *
      getElementType(dot.getB().getType()).getIntOrFloatBitWidth() / 8;
  if (isMade && rowBytes % (groups * kSpanBytes) == 0)
    return groups;
  return mayShareColumns(dot->getParentOfType<KernelOp>(), warps) ? groups : 1;
}

bool flashtile::gpu::usesWarpgroups(DotOp dot, int64_t warps) {
  return mayUseWarpgroups(dot->getParentOfType<KernelOp>(), warps) &&
         canMultiply(dot, warps, columnGroupsOf(dot, warps));
}

std::string flashtile::gpu::whyNoWarpgroups(DotOp dot, int64_t warps) {
  constexpr int64_t kWarps = 4;
  if (warps % kWarps != 0)
    return (Twine("a warpgroup has ") + Twine(kWarps) +
            " warps, and the program " + Twine(warps))
        .str();
  return whyNotMultiplied(dot, warps, columnGroupsOf(dot, warps));
}

namespace {
class LayoutChoice {
public:
  LayoutChoice(KernelOp kernel, int64_t warps);
  DenseMap<Value, DistributedLayout> solve();

private:
  bool assign(Value value, const DistributedLayout &layout) {
    return layouts.try_emplace(groups.of(value), layout).second;
  }
  const DistributedLayout *layoutOf(Value value) {
    auto it = layouts.find(groups.of(value));
    return it == layouts.end() ? nullptr : &it->second;
  }
  void assignDots();
  WarpGrid gridOf(DotOp dot);
  bool flow(Operation *op);
  bool flowReshape(ReshapeOp op);
  bool flowTrans(TransOp op);
  DistributedLayout blockedLayout(Value value);

  KernelOp kernel;
  int64_t warps;
  TileGroups groups;
  DenseMap<void *, DistributedLayout> layouts;
  /// All layouts are those of dots so far.
  bool areOfDots = true;
};
} // namespace

LayoutChoice::LayoutChoice(KernelOp kernel, int64_t warps)
    : kernel(kernel), warps(warps), groups(kernel) {
  kernel.getBody().walk([&](Operation *op) {
    if (isElementwise(op) && op->getNumResults() &&
        tileType(op->getResult(0))) {
      for (Value result : op->getResults().drop_front())
        groups.unite(op->getResult(0), result);
      // What is recomputed where it is needed ties nothing together.
      for (Value operand : op->getOperands())
        if (tileType(operand) && !isCheap(operand) &&
            !operand.getDefiningOp<BroadcastOp>())
          groups.unite(op->getResult(0), operand);
    } else if (auto dot = dyn_cast<DotOp>(op)) {
      groups.unite(dot.getResult(), dot.getC());
    } else if (auto scan = dyn_cast<ScanOp>(op)) {
      for (auto [operand, result] :
           llvm::zip(scan.getOperands(), scan.getResults()))
        groups.unite(operand, result);
    } else {
      groups.uniteCarried(
          op, [](Value from, bool isInit) { return !isCheap(from); });
    }
  });
}

/// The value below transposes and conversions of an operand.
static Value sourceOf(Value operand) {
  while (Operation *op = operand.getDefiningOp()) {
    if (!isa<TransOp, CastOp>(op))
      break;
    operand = op->getOperand(0);
  }
  return operand;
}

/// A product of what is loaded, whose rows nobody reduces or multiplies again,
/// has no reason to keep a row in one warp.
WarpGrid LayoutChoice::gridOf(DotOp dot) {
  auto type = cast<RankedTensorType>(dot.getType());
  const int64_t rows = type.getDimSize(0), columns = type.getDimSize(1);
  auto isOfGroup = [&](Value value) {
    return tileType(value) && groups.of(value) == groups.of(dot.getResult());
  };
  bool byRows = !sourceOf(dot.getA()).getDefiningOp<LoadOp>() ||
                !sourceOf(dot.getB()).getDefiningOp<LoadOp>();
  kernel.getBody().walk([&](Operation *op) {
    if (auto other = dyn_cast<DotOp>(op))
      byRows |= isOfGroup(sourceOf(other.getA())) ||
                isOfGroup(sourceOf(other.getB()));
    else if (isAxisReduce(op) || isa<ReduceOp, ScanOp>(op))
      byRows |= llvm::any_of(op->getOperands(), isOfGroup);
  });
  return byRows ? warpGrid(rows, columns, warps)
                : evenGrid(rows, columns, warps);
}

void LayoutChoice::assignDots() {
  kernel.getBody().walk([&](DotOp dot) {
    auto type = dot.getType();
    int64_t rows = cast<RankedTensorType>(type).getDimSize(0);
    int64_t columns = cast<RankedTensorType>(type).getDimSize(1);
    if (usesWarpgroups(dot, warps)) {
      assign(dot.getResult(), wgmmaAccumulator(rows, columns, warps / 4,
                                               columnGroupsOf(dot, warps)));
      return;
    }
    if (usesMatrixInstructions(dot))
      assign(dot.getResult(), layoutOfGrid(rows, columns, warps, gridOf(dot)));
  });
}

/// A layout for what `reduce` reduces that leaves its result where it is
/// wanted: loads may be slower so, but nothing goes from warp to warp.
static DistributedLayout spreadRows(const DistributedLayout &result,
                                    Operation *reduce) {
  unsigned axis = reduce->getAttrOfType<IntegerAttr>("axis").getInt();
  auto type = cast<RankedTensorType>(reduce->getOperand(0).getType());
  constexpr int64_t kVectorWidth = 8;
  return spread(result, axis, type.getDimSize(axis), kVectorWidth);
}

/// What a dot made, or takes, is reshaped where it is.
bool LayoutChoice::flowReshape(ReshapeOp op) {
  const DistributedLayout *from = layoutOf(op.getOperand());
  const DistributedLayout *to = layoutOf(op.getResult());
  if (!areOfDots || !from == !to)
    return false;
  Value other = from ? op.getResult() : op.getOperand();
  if (isCheap(other))
    return false;
  auto inPlace = reshape(from ? *from : *to, tileType(other).getShape());
  return inPlace && assign(other, *inPlace);
}

bool LayoutChoice::flowTrans(TransOp op) {
  const DistributedLayout *from = layoutOf(op.getOperand());
  const DistributedLayout *to = layoutOf(op.getResult());
  // Dots see through it.
  if (!areOfDots || !from == !to ||
      llvm::all_of(op->getUsers(), llvm::IsaPred<DotOp, TransOp>) ||
      isCheap(op.getOperand()))
    return false;
  SmallVector<unsigned> order, inverse(op.getOrder().size());
  for (auto [dim, source] : llvm::enumerate(op.getOrder())) {
    order.push_back(source);
    inverse[source] = dim;
  }
  return from ? assign(op.getResult(), transpose(*from, order))
              : assign(op.getOperand(), transpose(*to, inverse));
}

/// Lets one operation pass a layout on. True where something was assigned.
bool LayoutChoice::flow(Operation *op) {
  if (auto reshape = dyn_cast<ReshapeOp>(op))
    return flowReshape(reshape);
  if (auto trans = dyn_cast<TransOp>(op))
    return flowTrans(trans);
  if (isAxisReduce(op) || isa<ReduceOp>(op)) {
    unsigned axis = op->getAttrOfType<IntegerAttr>("axis").getInt();
    const DistributedLayout *from = layoutOf(op->getOperand(0));
    bool changed = false;
    if (from)
      for (Value result : op->getResults())
        if (tileType(result))
          changed |= assign(result, slice(*from, axis));
    if (isInRareBranch(op) && !from && tileType(op->getResult(0)))
      if (const DistributedLayout *to = layoutOf(op->getResult(0)))
        changed |= assign(op->getOperand(0), spreadRows(*to, op));
    return changed;
  }
  if (auto expand = dyn_cast<ExpandDimsOp>(op)) {
    if (const DistributedLayout *from = layoutOf(expand.getOperand()))
      return assign(expand.getResult(), expandDims(*from, expand.getAxis()));
    if (const DistributedLayout *to = layoutOf(expand.getResult()))
      return assign(expand.getOperand(), slice(*to, expand.getAxis()));
    return false;
  }
  // An elementwise operation with a broadcast operand: the operand has the
  // slice of the operation's layout.
  if (!isElementwise(op) || op->getNumResults() == 0 ||
      !tileType(op->getResult(0)))
    return false;
  bool changed = false;
  for (Value operand : op->getOperands()) {
    auto broadcast = operand.getDefiningOp<BroadcastOp>();
    const DistributedLayout *to = layoutOf(op->getResult(0));
    if (!broadcast || !to || layoutOf(broadcast.getOperand()))
      continue;
    DistributedLayout from = *to;
    auto type = tileType(broadcast.getOperand());
    for (int64_t dim = 0; dim < type.getRank(); ++dim)
      if (type.getDimSize(dim) == 1)
        from = expandDims(slice(from, dim), dim);
    changed |= assign(broadcast.getOperand(), from);
  }
  return changed;
}

DistributedLayout LayoutChoice::blockedLayout(Value value) {
  auto type = tileType(value);
  unsigned rank = type.getRank();
  unsigned contiguous = rank - 1;
  if (auto load = value.getDefiningOp<LoadOp>())
    contiguous = memoryLaneDim(load.getPointer(), rank);
  SmallVector<unsigned> order = {contiguous};
  for (unsigned dim = rank; dim-- > 0;)
    if (dim != contiguous)
      order.push_back(dim);
  Type element = type.getElementType();
  int64_t bits = isa<PtrType>(element) ? 64 : element.getIntOrFloatBitWidth();
  constexpr int64_t kAccessBits = 128;
  return blocked(type.getShape(), kAccessBits / std::max<int64_t>(bits, 8),
                 order, warps);
}

DenseMap<Value, DistributedLayout> LayoutChoice::solve() {
  assignDots();
  auto flowAll = [&] {
    bool changed = true;
    while (changed) {
      changed = false;
      kernel.getBody().walk([&](Operation *op) { changed |= flow(op); });
    }
  };
  flowAll();
  areOfDots = false;
  // What no dot reaches is blocked, in program order, larger tiles first: the
  // slices of those serve the smaller.
  for (int64_t rank = 8; rank-- > 0;)
    for (Value value : groups.values())
      if (tileType(value).getRank() == rank && !layoutOf(value)) {
        bool view = value.getDefiningOp() && isView(value.getDefiningOp());
        if (view || isCheap(value))
          continue;
        assign(value, blockedLayout(value));
        flowAll();
      }
  DenseMap<Value, DistributedLayout> result;
  for (Value value : groups.values()) {
    if (!layoutOf(value))
      assign(value, blockedLayout(value));
    result.try_emplace(value, *layoutOf(value));
  }
  return result;
}

DenseMap<Value, DistributedLayout>
flashtile::gpu::chooseLayouts(KernelOp kernel, int64_t warps) {
  return LayoutChoice(kernel, warps).solve();
}
