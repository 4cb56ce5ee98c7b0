//===- EmitStructure.cpp - Control flow and scalars -----------------------===//
//
// Part of FlashTile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Structured control flow keeps its shape; carried tiles become one value for
// each register.
//
//===----------------------------------------------------------------------===//

#include "compiler/Conversion/TileGPUToLLVM/GpuEmitter.h"

#include "compiler/Analysis/Program/LoopCounter.h"
#include "compiler/Analysis/Program/TileQueries.h"
#include "compiler/Conversion/Numerics/ScalarOps.h"
#include "compiler/Conversion/TileToTileGPU/LayoutAttrs.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "mlir/IR/Matchers.h"
#include "mlir/Interfaces/LoopLikeInterface.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "mlir/Transforms/LoopInvariantCodeMotionUtils.h"
#include "mlir/Transforms/RegionUtils.h"

using namespace mlir;
using namespace flashtile;
using namespace flashtile::gpu;
using namespace flashtile::tile;
using flashtile::tile::getElementType;

GpuEmitter::GpuEmitter(KernelOp kernel, OpBuilder &builder)
    : kernel(kernel), b(kernel.getLoc(), builder) {}

//===----------------------------------------------------------------------===//
// Body
//===----------------------------------------------------------------------===//

/// Whether few programs take the first side of a branch: where it was split
/// off, and where it is taken for some elements only.
static bool isRareBranch(scf::IfOp branch) {
  if (branch->hasAttr(tilegpu::TileGPUDialect::kRareAttr))
    return true;
  Value condition = branch.getCondition();
  if (auto both = condition.getDefiningOp<arith::AndIOp>())
    return both.getLhs().getDefiningOp<tilegpu::AnyOp>() ||
           both.getRhs().getDefiningOp<tilegpu::AnyOp>();
  return condition.getDefiningOp<tilegpu::AnyOp>() != nullptr;
}

/// Moves scalars that only rare sides of branches need into these, from the
/// block of the branch; also what only loops in such a side need, which
/// upstream's controlFlowSink does not see.
static void sinkIntoRareSides(KernelOp kernel) {
  kernel.walk([](scf::IfOp branch) {
    if (!isRareBranch(branch))
      return;
    Region &side = branch.getThenRegion();
    for (Operation *op = branch->getPrevNode(); op;) {
      Operation *candidate = op;
      op = op->getPrevNode();
      const bool isScalar =
          candidate->getNumRegions() == 0 && isMemoryEffectFree(candidate) &&
          llvm::all_of(candidate->getResultTypes(),
                       llvm::IsaPred<IntegerType, FloatType, IndexType, PtrType,
                                     BlockPtrType>);
      if (isScalar && !candidate->use_empty() &&
          llvm::all_of(candidate->getUsers(), [&](Operation *user) {
            return side.isAncestor(user->getParentRegion());
          }))
        candidate->moveBefore(&side.front(), side.front().begin());
    }
  });
}

LogicalResult GpuEmitter::emit(ValueRange arguments, ValueRange grid,
                               Value shared) {
  for (auto [argument, value] :
       llvm::zip(kernel.getBody().getArguments(), arguments))
    scalars.map(argument, value);
  sharedBase = shared;
  sinkIntoRareSides(kernel);
  Value index = NVVM::ThreadIdXOp::create(b, b.getI32Type());
  self.lane = arith::RemUIOp::create(b, index, i32(lanesPerWarp));
  self.warp = arith::DivUIOp::create(b, index, i32(lanesPerWarp));
  // The same in all lanes, which ptxas cannot see: descriptors of products and
  // branches between roles depend on it.
  if (kernel.getBody()
          .front()
          .walk([](Operation *op) {
            return needsHopper(op) ? WalkResult::interrupt()
                                   : WalkResult::advance();
          })
          .wasInterrupted())
    self.warp = shuffleIndex(self.warp, i32(0));
  // A launch has one dimension; the kernel's three are folded into it.
  block = NVVM::BlockIdXOp::create(b, b.getI32Type());
  programIds.append(3, Value());
  llvm::append_range(programIds, grid);
  foldProgramIds();
  entryEnd = self.prologueEnd = i32(0).getDefiningOp();

  if (failed(checkHandles()))
    return failure();
  allocateShared();
  makeMbarriers();
  LogicalResult emitted = emitBlock(kernel.getBody().front());
  placeMbarriers();
  if (succeeded(emitted))
    sinkLateLoads();
  return emitted;
}

/// Whether the operation runs products in a loop, which take all registers
/// there are.
static bool runsProducts(Operation *op) {
  if (!isa<scf::ForOp, scf::IfOp>(op) ||
      op->hasAttr(tilegpu::TileGPUDialect::kProgramsAttr))
    return false;
  return op
      ->walk([](Operation *inner) {
        return isa<tilegpu::MmaOp, tilegpu::WgmmaOp>(inner) &&
                       inner->getParentOfType<scf::ForOp>()
                   ? WalkResult::interrupt()
                   : WalkResult::advance();
      })
      .wasInterrupted();
}

/// Whether a warp's number was shuffled, so that ptxas knows it to be uniform.
static bool isSameInLanes(Value warp) {
  return !warp.getDefiningOp<arith::DivUIOp>();
}

LogicalResult GpuEmitter::emitBlock(Block &block) {
  std::optional<ThreadState> outer;
  LogicalResult result = success();
  for (Operation &op : block.without_terminator()) {
    b.setLoc(op.getLoc());
    result = emitOp(&op);
    if (failed(result))
      break;
    if (runsProducts(&op)) {
      if (!outer)
        outer = self;
      if (isHopper() && role != Role::Producer && isSameInLanes(self.warp))
        findWarpAgain();
      findThreadAgain();
      if (&block == &kernel.getBody().front() && !isHopper())
        findProgramAgain(&op);
    }
  }
  if (outer)
    self = *outer;
  return result;
}

void GpuEmitter::foldProgramIds() {
  Value *grid = programIds.begin() + 3;
  Value rest = arith::DivUIOp::create(b, block, grid[0]);
  programIds[0] = arith::RemUIOp::create(b, block, grid[0]);
  programIds[1] = arith::RemUIOp::create(b, rest, grid[1]);
  programIds[2] = arith::DivUIOp::create(b, rest, grid[1]);
}

Value flashtile::gpu::readAgain(ImplicitLocOpBuilder &b,
                                StringRef specialRegister) {
  std::string text = ("mov.u32 $0, %" + specialRegister + ";").str();
  return LLVM::InlineAsmOp::create(
             b, b.getI32Type(), ValueRange(), text, "=r",
             /*has_side_effects=*/true, /*is_align_stack=*/false,
             LLVM::TailCallKind::None, /*asm_dialect=*/nullptr,
             /*operand_attrs=*/nullptr)
      .getResult(0);
}

/// What follows from a program's position, as orders of programs have it, and
/// is better computed anew than kept.
static bool followsFromPosition(Operation &op) {
  return isa<arith::ExtSIOp, arith::ExtUIOp, arith::TruncIOp,
             arith::IndexCastOp, arith::AddIOp, arith::SubIOp, arith::MulIOp,
             arith::DivSIOp, arith::DivUIOp, arith::RemSIOp, arith::RemUIOp,
             arith::MinSIOp, arith::MinUIOp, arith::MaxSIOp, arith::MaxUIOp,
             AssumeOp>(op) &&
         !tileType(op.getResult(0));
}

void GpuEmitter::findProgramAgain(Operation *after) {
  block = readAgain(b, "ctaid.x");
  foldProgramIds();
  llvm::DenseSet<Value> found;
  for (Operation &op : kernel.getBody().front()) {
    if (&op == after)
      return;
    bool isPosition = isa<ProgramIdOp, tilegpu::BlockIdOp>(op);
    if (!isPosition && (!followsFromPosition(op) ||
                        llvm::none_of(op.getOperands(), [&](Value operand) {
                          return found.contains(operand);
                        })))
      continue;
    // All of these have been emitted once.
    if (succeeded(emitScalar(&op)))
      found.insert(op.getResult(0));
  }
}

void GpuEmitter::findWarpAgain() {
  self.warp = shuffleIndex(
      arith::DivUIOp::create(b, readAgain(b, "tid.x"), i32(lanesPerWarp)),
      i32(0));
}

void GpuEmitter::findThreadAgain() {
  self.lane = readAgain(b, "laneid");
  if (!isHopper()) // where it is the same in all lanes and takes no register
    self.warp =
        arith::DivUIOp::create(b, readAgain(b, "tid.x"), i32(lanesPerWarp));
  self.values.clear();
  self.prologueEnd = i32(0).getDefiningOp();
}

LogicalResult GpuEmitter::emitOp(Operation *op) {
  current = op;
  if (auto loop = dyn_cast<scf::ForOp>(op))
    return emitFor(loop);
  if (auto branch = dyn_cast<scf::IfOp>(op))
    return emitIf(branch);
  if (auto loop = dyn_cast<scf::WhileOp>(op))
    return emitWhile(loop);
  if (auto load = dyn_cast<tilegpu::LoadOp>(op))
    return emitLoad(load);
  if (auto store = dyn_cast<tilegpu::StoreOp>(op))
    return emitStore(store);
  if (auto mma = dyn_cast<tilegpu::MmaOp>(op))
    return emitMma(mma);
  if (auto stage = dyn_cast<tilegpu::StageOp>(op))
    return emitStage(stage), success();
  if (isa<tilegpu::AllocOp>(op))
    return success();
  if (auto slot = dyn_cast<tilegpu::SlotOp>(op))
    return emitSlot(slot), success();
  if (auto load = dyn_cast<tilegpu::LoadSharedOp>(op))
    return emitLoadShared(load), success();
  if (auto copy = dyn_cast<tilegpu::CopyAsyncOp>(op))
    return emitCopy(copy), success();
  if (isa<tilegpu::CommitCopiesOp>(op))
    return NVVM::CpAsyncCommitGroupOp::create(b), success();
  if (auto wait = dyn_cast<tilegpu::WaitCopiesOp>(op))
    return NVVM::CpAsyncWaitGroupOp::create(b, wait.getPending()), success();
  if (isa<tilegpu::BarrierOp>(op))
    return barrier(), success();
  if (std::optional<LogicalResult> emitted = emitHopperOp(op))
    return *emitted;
  if (auto fence = dyn_cast<tilegpu::ScheduleFenceOp>(op))
    return emitScheduleFence(fence), success();
  if (auto hold = dyn_cast<tilegpu::ScheduleHoldOp>(op))
    return emitScheduleHold(hold), success();
  if (auto sum = dyn_cast<tilegpu::PartialSumOp>(op))
    return emitPartialSum(sum);
  if (auto any = dyn_cast<tilegpu::AnyOp>(op))
    return emitAny(any), success();
  if (auto convert = dyn_cast<tilegpu::ConvertLayoutOp>(op))
    return emitConvert(convert), success();
  if (isa<LoadOp, StoreOp, AtomicAddOp>(op) &&
      (llvm::any_of(op->getResults(), tileType) ||
       llvm::any_of(op->getOperands(), tileType)))
    return op->emitOpError("is of single elements in a kernel with layouts; "
                           "expected '")
           << "tilegpu." << op->getName().stripDialect() << "' for a tile";
  if (isa<LoadOp, StoreOp>(op))
    return emitScalarAccess(op);
  if (auto atomic = dyn_cast<tilegpu::AtomicAddOp>(op))
    return emitAtomic(atomic);
  if (auto atomic = dyn_cast<AtomicAddOp>(op))
    return emitScalarAtomic(atomic), success();
  if (auto check = dyn_cast<AssertOp>(op))
    return emitAssert(check), success();
  if (auto print = dyn_cast<PrintOp>(op))
    return emitPrint(print), success();
  if (auto scan = dyn_cast<ScanOp>(op))
    return emitScan(scan);
  if (isAxisReduce(op) || isa<ReduceOp>(op))
    return emitReduce(op);
  if (llvm::any_of(op->getResults(), tileType) ||
      llvm::any_of(op->getOperands(), tileType))
    return emitTileOp(op);
  return emitScalar(op);
}

LogicalResult GpuEmitter::emitScalar(Operation *op) {
  if (auto id = dyn_cast<ProgramIdOp>(op)) {
    scalars.map(id.getResult(), programIds[unsigned(id.getAxis())]);
    return success();
  }
  if (auto count = dyn_cast<NumProgramsOp>(op)) {
    scalars.map(count.getResult(), programIds[3 + unsigned(count.getAxis())]);
    return success();
  }
  if (isa<tilegpu::BlockIdOp>(op)) {
    scalars.map(op->getResult(0), block);
    return success();
  }
  if (isa<tilegpu::ProducerIdOp>(op)) {
    scalars.map(op->getResult(0),
                arith::SubIOp::create(b, self.warp, i32(warpCount())));
    return success();
  }
  if (isa<tilegpu::WarpgroupIdOp>(op)) {
    constexpr int64_t kWarps = 4;
    scalars.map(op->getResult(0),
                arith::DivUIOp::create(b, self.warp, i32(kWarps)));
    return success();
  }
  if (isa<tilegpu::NumBlocksOp>(op)) {
    scalars.map(op->getResult(0),
                role == Role::Producer
                    ? readAgain(b, "nctaid.x")
                    : Value(NVVM::GridDimXOp::create(b, b.getI32Type())));
    return success();
  }
  auto all = [&](ValueRange values) {
    SmallVector<Value, 4> mapped;
    for (Value value : values)
      mapped.push_back(scalar(value));
    return mapped;
  };
  if (auto make = dyn_cast<MakeBlockPtrOp>(op)) {
    GpuWindow window = {scalar(make.getBase()), all(make.getShape()),
                        all(make.getStrides()), all(make.getOffsets())};
    // Bounds are compared as unsigned: a negative extent is none.
    for (Value &extent : window.shape)
      if (APInt known;
          !matchPattern(extent, m_ConstantInt(&known)) || known.isNegative())
        extent = arith::MaxSIOp::create(b, extent, i64(0));
    windows[make.getResult()] = window;
    return success();
  }
  if (auto advance = dyn_cast<AdvanceOp>(op)) {
    GpuWindow moved = windows.lookup(advance.getPointer());
    for (auto [offset, step] : llvm::zip(moved.offsets, advance.getOffsets()))
      offset = arith::AddIOp::create(b, offset, scalar(step));
    windows[advance.getResult()] = moved;
    return success();
  }
  if (auto select = dyn_cast<arith::SelectOp>(op);
      select && isa<BlockPtrType>(select.getType()))
    return emitWindowSelect(select), success();
  if (op->getNumResults() && isElementwise(op)) {
    for (auto [result, value] :
         llvm::zip(op->getResults(), emitElements(op, all(op->getOperands()))))
      scalars.map(result, value);
    return success();
  }
  Attribute constant;
  if (matchPattern(op, m_Constant(&constant))) {
    scalars.map(op->getResult(0), constantOf(constant));
    return success();
  }
  return numeric::copyScalarOp(b, op, scalars);
}

//===----------------------------------------------------------------------===//
// Carried values
//===----------------------------------------------------------------------===//

/// Elements of a tile in one carried value. Narrow ones are carried as words:
/// LLVM would move their conversions over the phi, one by one, and carry what
/// they are converted from.
static int64_t carriedTogether(Type element, int64_t count) {
  constexpr int64_t kWordBits = 32, kByteBits = 8;
  int64_t bits = element.getIntOrFloatBitWidth();
  if (bits < kByteBits || bits >= kWordBits || count % (kWordBits / bits) != 0)
    return 1;
  return kWordBits / bits;
}

void GpuEmitter::flatten(Value value, SmallVectorImpl<Value> &parts) {
  if (auto type = tileType(value)) {
    const Registers &values = tiles.at(value);
    if (carriedTogether(registerType(type.getElementType()), values.size()) > 1)
      llvm::append_range(parts, packWords(values));
    else
      llvm::append_range(parts, values);
    return;
  }
  if (!isa<BlockPtrType>(value.getType())) {
    parts.push_back(scalar(value));
    return;
  }
  const GpuWindow &window = windows.at(value);
  parts.push_back(window.base);
  llvm::append_range(parts, window.shape);
  llvm::append_range(parts, window.strides);
  llvm::append_range(parts, window.offsets);
}

void GpuEmitter::bind(Value value, ValueRange &parts) {
  auto take = [&](size_t count) {
    SmallVector<Value, 4> taken(parts.take_front(count));
    parts = parts.drop_front(count);
    return taken;
  };
  if (auto type = tileType(value)) {
    Type element = registerType(type.getElementType());
    int64_t count = layoutOf(type).registersPerThread();
    int64_t together = carriedTogether(element, count);
    SmallVector<Value, 4> taken = take(count / together);
    tiles[value] = together > 1 ? unpackWords(taken, element)
                                : Registers(taken.begin(), taken.end());
    return;
  }
  auto block = dyn_cast<BlockPtrType>(value.getType());
  if (!block) {
    scalars.map(value, take(1).front());
    return;
  }
  GpuWindow window;
  window.base = take(1).front();
  window.shape = take(block.getRank());
  window.strides = take(block.getRank());
  window.offsets = take(block.getRank());
  windows[value] = window;
}

SmallVector<Type> GpuEmitter::flattenedTypes(Value value) {
  if (auto type = tileType(value)) {
    Type element = registerType(type.getElementType());
    int64_t count = layoutOf(type).registersPerThread();
    int64_t together = carriedTogether(element, count);
    return SmallVector<Type>(count / together,
                             together > 1 ? Type(b.getI32Type()) : element);
  }
  if (auto block = dyn_cast<BlockPtrType>(value.getType()))
    return SmallVector<Type>(1 + 3 * block.getRank(), b.getI64Type());
  return {registerType(value.getType())};
}

/// Whether a loop has one product of tiles in shared memory, and tiles for
/// nothing else: it has registers for addresses.
static bool onlyMultiplies(scf::ForOp loop) {
  unsigned products = 0;
  for (Operation &op : loop.getBody()->without_terminator()) {
    if (auto product = dyn_cast<tilegpu::MmaOp>(op)) {
      ++products;
      if (!isa<tilegpu::SmemType>(product.getA().getType()) ||
          !isa<tilegpu::SmemType>(product.getB().getType()))
        return false;
    } else if (llvm::any_of(op.getResults(), tileType)) {
      return false;
    }
  }
  return products == 1;
}

scf::ForOp GpuEmitter::enterLoop(scf::ForOp loop, ValueRange inits,
                                 ValueRange &arguments) {
  auto newLoop =
      createLoopLike(b, loop,
                     {scalar(loop.getLowerBound()),
                      scalar(loop.getUpperBound()), scalar(loop.getStep())},
                     inits);
  b.setInsertionPointToStart(newLoop.getBody());
  scalars.map(loop.getInductionVar(), counterLike(b, loop, newLoop));
  arguments = newLoop.getRegionIterArgs();
  for (Value argument : loop.getRegionIterArgs())
    bind(argument, arguments);
  return newLoop;
}

LogicalResult GpuEmitter::emitFor(scf::ForOp loop) {
  if (std::optional<LogicalResult> emitted = emitProductLoop(loop))
    return *emitted;
  SmallVector<Value> inits;
  for (Value init : loop.getInitArgs())
    flatten(init, inits);
  checkStep(loop);
  OpBuilder::InsertionGuard guard(b);
  ValueRange parts;
  auto newLoop = enterLoop(loop, inits, parts);
  // What no barrier in the body orders where it does not run.
  bool storedBefore = stored, loadedBefore = loaded, addedBefore = added;
  // A store late in the body comes before a load early in the next iteration,
  // unless that is another program.
  if (!loop->hasAttr(tilegpu::TileGPUDialect::kProgramsAttr))
    expectAccessesOf(loop.getRegion());
  if (failed(emitBlock(*loop.getBody())))
    return failure();
  SmallVector<Value> yields;
  for (Value yielded : loop.getYieldedValues())
    flatten(yielded, yields);
  if (!inits.empty()) {
    b.setInsertionPointToEnd(newLoop.getBody());
    scf::YieldOp::create(b, yields);
  }
  stored |= storedBefore;
  loaded |= loadedBefore;
  added |= addedBefore;
  if (!isHopper() && onlyMultiplies(loop))
    moveLoopInvariantCode(cast<LoopLikeOpInterface>(newLoop.getOperation()));
  b.setInsertionPointAfter(newLoop);
  ValueRange results = newLoop.getResults();
  for (Value result : loop.getResults())
    bind(result, results);
  return success();
}

bool GpuEmitter::isCopyGuard(scf::IfOp branch) {
  auto loop = dyn_cast<scf::ForOp>(branch->getParentOp());
  if (!loop || branch.getNumResults() != 0 || !branch.getElseRegion().empty() ||
      !onlyMultiplies(loop))
    return false;
  return llvm::all_of(branch.thenBlock()->without_terminator(),
                      [&](Operation &op) {
                        auto copy = dyn_cast<tilegpu::CopyAsyncOp>(op);
                        return copy ? isPlainCopy(copy)
                                    : op.getNumRegions() == 0 && isPure(&op);
                      });
}

SmallVector<std::pair<Value, Value>> GpuEmitter::copyArguments(Region &side) {
  llvm::SetVector<Value> used;
  getUsedValuesDefinedAbove(side, used);
  SmallVector<std::pair<Value, Value>> before;
  for (Value value : used) {
    auto argument = dyn_cast<BlockArgument>(value);
    if (!argument || !isa<KernelOp>(argument.getOwner()->getParentOp()) ||
        !value.getType().isInteger(32))
      continue;
    Value old = scalar(value);
    before.emplace_back(value, old);
    scalars.map(value,
                inlinePtx(old.getType(), "mov.b32 $0, $1;", "=r,r", old));
  }
  return before;
}

LogicalResult GpuEmitter::emitIf(scf::IfOp branch) {
  if (isCopyGuard(branch)) {
    copyGuard = scalar(branch.getCondition());
    LogicalResult emitted = emitBlock(*branch.thenBlock());
    copyGuard = {};
    return emitted;
  }
  SmallVector<Type> types;
  for (Value result : branch.getResults())
    llvm::append_range(types, flattenedTypes(result));
  bool withElse = !branch.getElseRegion().empty();
  auto newIf = scf::IfOp::create(b, types, scalar(branch.getCondition()),
                                 withElse || !types.empty());
  const bool isRare = isRareBranch(branch);
  SmallVector<std::pair<Value, Value>> arguments;
  auto side = [&](Block *from, Block *to) -> LogicalResult {
    OpBuilder::InsertionGuard guard(b);
    if (types.empty())
      b.setInsertionPoint(to->getTerminator());
    else
      b.setInsertionPointToEnd(to);
    if (isRare && from == branch.thenBlock()) {
      findThreadAgain();
      arguments = copyArguments(branch.getThenRegion());
    }
    if (failed(emitBlock(*from)))
      return failure();
    SmallVector<Value> yields;
    for (Value yielded : from->getTerminator()->getOperands())
      flatten(yielded, yields);
    if (!types.empty())
      scf::YieldOp::create(b, yields);
    return success();
  };
  // After either side: what may be left of each.
  bool storedBefore = stored, loadedBefore = loaded, addedBefore = added;
  // What a rare side needs of the thread, or makes of the kernel's arguments,
  // takes no registers elsewhere.
  ThreadState outer;
  if (isRare)
    outer = self;
  // Not all warps may come here, so no barrier may: nor is one needed, as no
  // memory that such a branch reads is written.
  auto any = branch.getCondition().getDefiningOp<tilegpu::AnyOp>();
  bool byWarp = any && any.getByWarp();
  if (byWarp)
    stored = loaded = added = false;
  LogicalResult emitted = side(branch.thenBlock(), newIf.thenBlock());
  if (isRare)
    self = outer;
  for (auto [argument, value] : arguments)
    scalars.map(argument, value);
  if (byWarp)
    stored = loaded = added = false;
  if (failed(emitted))
    return failure();
  std::swap(stored, storedBefore);
  std::swap(loaded, loadedBefore);
  std::swap(added, addedBefore);
  if (withElse && failed(side(branch.elseBlock(), newIf.elseBlock())))
    return failure();
  stored |= storedBefore;
  loaded |= loadedBefore;
  added |= addedBefore;
  ValueRange results = newIf.getResults();
  for (Value result : branch.getResults())
    bind(result, results);
  return success();
}
