//===- GpuEmitter.h - Registers and threads for one kernel ----------------===//
//
// Part of FlashTile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Emits the body of a kernel whose tiles have layouts: each tile becomes the
// registers that a thread holds of it. What is left is scalar code of arith,
// math, scf, NVVM and the LLVM dialect.
//
// Addresses are integers: i64 in global memory, i32 in shared memory.
//
//===----------------------------------------------------------------------===//

#ifndef FLASHTILE_COMPILER_CONVERSION_TILEGPUTOLLVM_GPUEMITTER_H
#define FLASHTILE_COMPILER_CONVERSION_TILEGPUTOLLVM_GPUEMITTER_H

#include "compiler/Analysis/Layout/LayoutConversion.h"
#include "dialects/TileGPU/IR/TileGPUDialect.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/IR/ImplicitLocOpBuilder.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/StringMap.h"

namespace flashtile::gpu {

using Registers = llvm::SmallVector<mlir::Value>;

/// Where the elements of a tile in shared memory lie.
SharedLayout sharedLayoutOf(tilegpu::SmemType type);
/// A shared address (i32) as a pointer.
mlir::Value sharedPointer(mlir::ImplicitLocOpBuilder &b, mlir::Value address);

/// A special register. ptxas keeps what it has computed before a loop, in local
/// memory if need be; what is read so it cannot take for the same, nor move.
mlir::Value readAgain(mlir::ImplicitLocOpBuilder &b,
                      llvm::StringRef specialRegister);

/// Tensor maps of a kernel, each a parameter of its function, in this order.
llvm::SmallVector<tilegpu::TensorMapOp> tensorMapsOf(tile::KernelOp kernel);
/// Sets the attributes of those parameters, and `tilegpu.tensor_maps`.
void declareTensorMaps(mlir::LLVM::LLVMFuncOp function,
                       llvm::ArrayRef<tilegpu::TensorMapOp> maps,
                       unsigned firstParameter);
/// Operations that only sm_90a has.
bool needsHopper(mlir::Operation *op);

/// A `!tile.block_ptr` as the scalars it stands for; all i64.
struct GpuWindow {
  mlir::Value base;
  llvm::SmallVector<mlir::Value, 4> shape, strides, offsets;
};

class GpuEmitter {
public:
  GpuEmitter(tile::KernelOp kernel, mlir::OpBuilder &builder);

  /// Emits the body at the insertion point. `arguments` are the kernel's
  /// (pointers as i64), `grid` its three extents (i32).
  mlir::LogicalResult emit(mlir::ValueRange arguments, mlir::ValueRange grid,
                           mlir::Value sharedBase);

  /// Values of the tensor maps, before `emit`.
  void bindTensorMap(tilegpu::TensorMapOp op, mlir::Value map) {
    tensorMaps[op.getMap()] = map;
  }

  /// The address (i64) of the launch's counter of programs, before `emit`.
  void bindProgramCounter(mlir::Value address) { programCounter = address; }

  /// Bytes of shared memory that the body uses.
  int64_t sharedBytes() const { return sharedSize + mbarrierBytes; }
  /// What that memory is for: the value of kSharedBuffersAttr.
  mlir::ArrayAttr sharedBuffers();

private:
  // Structure (EmitStructure.cpp).
  mlir::LogicalResult emitBlock(mlir::Block &block);
  mlir::LogicalResult emitOp(mlir::Operation *op);
  mlir::LogicalResult emitScalar(mlir::Operation *op);
  mlir::LogicalResult emitFor(mlir::scf::ForOp loop);
  /// Makes the loop that carries these values, and goes on in its body, where
  /// the counter and what `loop` carries are known. `arguments`: all values.
  mlir::scf::ForOp enterLoop(mlir::scf::ForOp loop, mlir::ValueRange inits,
                             mlir::ValueRange &arguments);
  mlir::LogicalResult emitIf(mlir::scf::IfOp branch);

  // While loops, chosen windows, order of accesses (EmitControl.cpp).
  mlir::LogicalResult emitWhile(mlir::scf::WhileOp loop);
  void checkStep(mlir::scf::ForOp loop);
  void emitWindowSelect(mlir::arith::SelectOp op);
  /// Before loads from global memory: earlier stores of all threads are done.
  void orderLoads();
  /// Before stores to it: earlier loads and stores of all threads are done.
  void orderStores();
  /// Before atomic additions.
  void orderAdditions(mlir::Operation *op);
  /// What a loop's body does may come before what stands before it.
  void expectAccessesOf(mlir::Region &region);

  void flatten(mlir::Value value, llvm::SmallVectorImpl<mlir::Value> &parts);
  void bind(mlir::Value value, mlir::ValueRange &parts);
  llvm::SmallVector<mlir::Type> flattenedTypes(mlir::Value value);

  // Elementwise code, views and constants (EmitElementwise.cpp).
  mlir::LogicalResult emitTileOp(mlir::Operation *op);
  mlir::LogicalResult emitElementwise(mlir::Operation *op);
  /// A comparison with elements of a tile.arange, by constants; false where it
  /// is none.
  bool emitCounterCompare(mlir::Operation *op);
  /// The results of an elementwise operation of one element.
  llvm::SmallVector<mlir::Value> emitElements(mlir::Operation *op,
                                              mlir::ValueRange operands);
  mlir::Value emitConversion(mlir::Operation *op, mlir::Value operand);
  mlir::Value emitDivision(mlir::Operation *op, mlir::Value lhs,
                           mlir::Value rhs);
  mlir::Value emitFunction(mlir::Operation *op, mlir::ValueRange operands);
  mlir::Value emitF32Function(mlir::Operation *op, llvm::StringRef name,
                              mlir::Value x);
  mlir::Value emitCast(mlir::Value value, mlir::Type from, mlir::Type to);
  /// Between registers and what computes: narrow floats compute as f32.
  mlir::Value toCompute(mlir::Value value, mlir::Type element);
  mlir::Value fromCompute(mlir::Value value, mlir::Type element);
  /// A constant scalar in the type of registers.
  mlir::Value constantOf(mlir::Attribute value);

  // Tables and tiles of another shape (EmitShape.cpp).
  /// Address of constant data in global memory, kept once in the module.
  mlir::Value globalData(llvm::StringRef purpose,
                         llvm::ArrayRef<uint8_t> bytes);
  Registers loadConstant(mlir::DenseElementsAttr constant,
                         const DistributedLayout &layout);
  void emitReshape(tile::ReshapeOp op);
  void emitJoin(tile::JoinOp op);
  void emitCat(tile::CatOp op);
  int64_t elementBytes(mlir::Type element);

  // Atomic additions (EmitAtomic.cpp).
  mlir::LogicalResult emitAtomic(tilegpu::AtomicAddOp op);
  void emitScalarAtomic(tile::AtomicAddOp op);
  bool emitVectorAtomic(tilegpu::AtomicAddOp op);
  mlir::Value atomicAdd(mlir::Value address, mlir::Value mask,
                        mlir::Value value);
  /// Each thread gets the values of the first lane and warp among its copies.
  Registers fromFirstHolders(Registers values,
                             llvm::ArrayRef<DigitPosition> laneCopies,
                             llvm::ArrayRef<DigitPosition> warpCopies);

  // Assertions and printing (EmitDebug.cpp).
  void callPrintf(llvm::StringRef format,
                  llvm::ArrayRef<mlir::Value> arguments);
  mlir::Value isFirstThread();
  void emitCheck(mlir::Value failed, llvm::StringRef message);
  void emitAssert(tile::AssertOp op);
  void emitPrint(tile::PrintOp op);
  mlir::Value printable(mlir::Value value, mlir::Type element);
  void printTile(mlir::Value value, const std::string &head,
                 llvm::function_ref<void(llvm::function_ref<void()>)> guarded);

  // Other layouts (EmitConvert.cpp).
  void emitConvert(tilegpu::ConvertLayoutOp op);
  Registers convert(const Registers &from, const DistributedLayout &fromLayout,
                    const DistributedLayout &toLayout, mlir::Type element);
  Registers shuffle(const Registers &from, const LayoutConversion &plan,
                    int64_t count);
  mlir::Value shuffleXor(mlir::Value value, int64_t mask);
  mlir::Value shuffleIndex(mlir::Value value, mlir::Value lane);
  mlir::Value throughShuffle(mlir::Value value,
                             llvm::function_ref<mlir::Value(mlir::Value)> move);

  // Reductions (EmitReduce.cpp).
  mlir::LogicalResult emitReduce(mlir::Operation *op);
  mlir::LogicalResult emitPartialSum(tilegpu::PartialSumOp op);
  void emitAny(tilegpu::AnyOp op);
  /// Whether some element that the thread holds is true (i1).
  mlir::Value anyOfThread(mlir::Value tile);
  /// The same where `tile` says which elements of another one, of 16-bit
  /// floats, are not finite: by arithmetic on words. Else null.
  mlir::Value anyNotFinite(mlir::Value tile);
  void emitScheduleFence(tilegpu::ScheduleFenceOp op);
  void emitScheduleHold(tilegpu::ScheduleHoldOp op); // EmitHold.cpp
  llvm::SmallVector<mlir::Value>
  combine(mlir::Operation *reduce, mlir::ValueRange lhs, mlir::ValueRange rhs);
  llvm::SmallVector<mlir::Value> emitCombiner(mlir::Region &combiner,
                                              mlir::ValueRange lhs,
                                              mlir::ValueRange rhs);
  llvm::SmallVector<mlir::Value> elementToReduce(mlir::Operation *reduce,
                                                 bool isPadded, int64_t index);
  std::vector<llvm::SmallVector<mlir::Value>>
  reduceOwn(mlir::Operation *reduce, const ReductionPlan &plan);
  void combineWarps(mlir::Operation *reduce, const ReductionPlan &plan,
                    std::vector<llvm::SmallVector<mlir::Value>> &partials);
  /// The values that the same lane of other warps holds; one list for each of
  /// `sources`, the numbers of those warps.
  std::vector<Registers> exchangeWarps(const Registers &values,
                                       llvm::ArrayRef<mlir::Value> sources);

  // Associative prefixes (EmitScan.cpp).
  mlir::LogicalResult emitScan(tile::ScanOp op);

  // Memory (EmitGlobal.cpp, EmitShared.cpp).
  mlir::LogicalResult emitLoad(tilegpu::LoadOp op);
  mlir::LogicalResult emitStore(tilegpu::StoreOp op);
  mlir::LogicalResult emitScalarAccess(mlir::Operation *op);
  /// How a window is read or written several elements at a time.
  struct VectorPlan {
    unsigned dim;       ///< contiguous in memory
    int64_t width;      ///< elements of an access
    mlir::Value usable; ///< i1, the same in all threads; null: always
  };
  std::optional<VectorPlan> planVectors(mlir::Value pointer,
                                        const DistributedLayout &layout,
                                        mlir::Type element);
  Registers loadWindow(const GpuWindow &window, tilegpu::LoadOp op,
                       const DistributedLayout &layout, int64_t width);
  void storeWindow(const GpuWindow &window, tilegpu::StoreOp op,
                   const DistributedLayout &layout, mlir::Value owner,
                   int64_t width);
  /// In bytes; the offset is part of the instruction.
  struct GlobalAddress {
    mlir::Value base;
    int64_t offset;
  };
  GlobalAddress windowPlace(const GpuWindow &window,
                            const DistributedLayout &layout, int64_t index,
                            mlir::Type element);
  mlir::Value windowAddress(const GpuWindow &window,
                            const DistributedLayout &layout, int64_t index,
                            mlir::Type element);
  mlir::Value windowMask(const GpuWindow &window,
                         const DistributedLayout &layout, int64_t index,
                         std::optional<llvm::ArrayRef<bool>> promised,
                         llvm::ArrayRef<int64_t> shape);
  /// One access of neighbouring elements, predicated as a whole.
  Registers loadElements(GlobalAddress address, mlir::Value mask,
                         mlir::ValueRange others, mlir::Type element);
  void storeElements(GlobalAddress address, mlir::Value mask,
                     mlir::ValueRange values, mlir::Type element);
  /// Address of an element of a tile in shared memory that starts at `start`
  /// (i32, as all shared addresses).
  mlir::Value sharedAddress(const SharedLayout &memory,
                            llvm::ArrayRef<mlir::Value> coordinates,
                            mlir::Value start);
  /// The same for register `index` of `layout`: a value of the thread, known
  /// before loops, and constants, where the swizzle allows that.
  mlir::Value sharedAddress(const SharedLayout &memory,
                            const DistributedLayout &layout, int64_t index,
                            mlir::Value start);
  /// Of that address, from `start`: (`thread` xor `flipped`) + `added`, where
  /// the swizzle allows that.
  struct SharedPlace {
    mlir::Value thread;
    int64_t flipped, added;
  };
  std::optional<SharedPlace> sharedPlace(const SharedLayout &memory,
                                         const DistributedLayout &layout,
                                         int64_t index);
  /// The key of what is computed once for a thread and such places.
  static std::string placeKey(const SharedLayout &memory,
                              const DistributedLayout &layout);
  void storeShared(const Registers &values, const DistributedLayout &layout,
                   const SharedLayout &memory, mlir::Value start,
                   mlir::Type element);
  void storeMatrices(const Registers &values, const DistributedLayout &layout,
                     const SharedLayout &memory, mlir::Value start,
                     mlir::Type element);
  Registers loadShared(const DistributedLayout &layout,
                       const SharedLayout &memory, mlir::Value start,
                       mlir::Type element);
  void emitStage(tilegpu::StageOp op);
  void emitSlot(tilegpu::SlotOp op);
  /// Places staged tiles and rings in shared memory.
  void allocateShared();
  void findLifetimes();
  /// The lowest offset that nothing else uses from `begin` to `end`.
  int64_t placeShared(int64_t bytes, int64_t begin, int64_t end);
  /// Where a tile in shared memory starts.
  mlir::Value smemAddress(mlir::Value tile);
  mlir::Value scratchAddress(int64_t bytes);
  void barrier();
  /// A barrier that tells every thread whether `condition` (i1) holds in any.
  mlir::Value anyThread(mlir::Value condition);

  // Asynchronous copies (EmitCopy.cpp).
  /// Whether the rows of a window are contiguous and start at multiples of 16
  /// bytes, whatever the arguments that the kernel is launched with.
  bool isKnownAligned(mlir::Value pointer);
  void emitCopy(tilegpu::CopyAsyncOp op);
  bool isPlainCopy(tilegpu::CopyAsyncOp op);
  /// Whether a value is known before the loop in whose body code is emitted.
  bool isBeforeLoop(mlir::Value value);
  /// A branch around copies and what they need only, in a loop that does
  /// nothing but multiply: the copies are predicated, so that they can run
  /// between the products.
  bool isCopyGuard(mlir::scf::IfOp branch);
  void copyChunks(const GpuWindow &window, tilegpu::CopyAsyncOp op,
                  const SharedLayout &memory, mlir::Value start);
  void copyElements(const GpuWindow &window, tilegpu::CopyAsyncOp op,
                    const SharedLayout &memory, mlir::Value start);

  // Matrix products (EmitMma.cpp).
  mlir::LogicalResult emitMma(tilegpu::MmaOp op);
  /// The product by multiply-adds of each thread, for types without matrix
  /// instructions.
  void emitMultiplyAdds(tilegpu::MmaOp op);
  /// What three tf32 products multiply of an f32; `finite` is `big` or 0.
  struct Tf32Parts {
    mlir::Value big, finite, small;
  };
  Tf32Parts splitTf32(mlir::Value word, tile::InputPrecision precision);
  /// Packed 32-bit registers of an operand fragment, loaded when first asked
  /// for.
  class Fragments;
  class MmaInstruction;
  class Tf32Products;
  struct MmaPlan;
  void emitMmaStep(const MmaPlan &plan, const MmaInstruction &instruction,
                   int64_t step, Fragments &left, Fragments &right,
                   Registers &sums);
  struct ProductLoop;
  bool findProductLoop(mlir::scf::ForOp loop, ProductLoop &found);
  mlir::LogicalResult emitProductLoop(mlir::scf::ForOp loop,
                                      const ProductLoop &parts);
  /// Of a loop whose fragments can be loaded ahead; nothing for others.
  std::optional<mlir::LogicalResult> emitProductLoop(mlir::scf::ForOp loop);

  // Warpgroup products (EmitWgmma.cpp).
  mlir::LogicalResult checkWgmma(tilegpu::WgmmaOp op);
  mlir::LogicalResult emitWgmma(tilegpu::WgmmaOp op);
  void emitWgmmaWait(tilegpu::WgmmaWaitOp op);
  mlir::Value matrixDescriptor(mlir::Value address, uint64_t rest);
  /// Registers of up to 32 bits as 32-bit words.
  Registers packWords(llvm::ArrayRef<mlir::Value> values);
  Registers unpackWords(llvm::ArrayRef<mlir::Value> words, mlir::Type type);

  // Barriers (EmitBarriers.cpp).
  /// Code with side effects; no value where `type` is null.
  mlir::Value inlinePtx(mlir::Type type, const llvm::Twine &text,
                        const llvm::Twine &constraints,
                        mlir::ValueRange operands);
  void makeMbarriers();
  /// Behind scratch space, whose size is known when the body is emitted.
  void placeMbarriers();
  /// Of one of `barriers`, or of the words that they may be.
  mlir::Value mbarrierAddress(mlir::Value barriers, mlir::Value index);
  /// 1 (i32) in the first lane of each warp, 0 elsewhere.
  mlir::Value firstLane();
  void emitMbarrierExpect(tilegpu::MbarrierExpectOp op);
  void emitMbarrierArrive(tilegpu::MbarrierArriveOp op);
  void emitMbarrierWait(tilegpu::MbarrierWaitOp op);
  void emitWriteWord(tilegpu::WriteWordOp op);
  void emitReadWord(tilegpu::ReadWordOp op);
  void emitTakeProgram(tilegpu::TakeProgramOp op);
  void emitNamedBarrier(tilegpu::NamedBarrierOp op);
  void emitFenceProxy();

  // Copies by TMA (EmitTma.cpp).
  void emitTmaLoad(tilegpu::TmaLoadOp op);
  void emitTmaStore(tilegpu::TmaStoreOp op);
  void emitTmaStoreWait(tilegpu::TmaStoreWaitOp op);
  mlir::LogicalResult emitStoreShared(tilegpu::StoreSharedOp op);
  void emitLoadShared(tilegpu::LoadSharedOp op);
  void sinkLateLoads();
  /// By the role's single thread: one copy for each box of a tile.
  void forBoxes(
      tilegpu::TensorMapType map, mlir::Value slot,
      mlir::ValueRange coordinates, bool byWarp,
      llvm::function_ref<void(mlir::Value, llvm::ArrayRef<mlir::Value>)> copy,
      llvm::function_ref<void()> finish);

  // Roles (EmitRoles.cpp).
  /// Nothing where `op` is not of TileGPUHopperOps.td.
  std::optional<mlir::LogicalResult> emitHopperOp(mlir::Operation *op);
  mlir::LogicalResult emitWarpSpecialize(tilegpu::WarpSpecializeOp op);
  /// Tiles in shared memory, rings, barriers and tensor maps go from the
  /// operation that makes them to those that use them, not through others.
  mlir::LogicalResult checkHandles();
  /// The kernel's target is sm_90a.
  bool isHopper();
  /// `code` runs in one thread of those that run the current role.
  void bySingleThread(bool ofEachWarp, llvm::function_ref<void()> code);

  // Indices (EmitIndices.cpp).
  mlir::Value i32(int64_t value);
  mlir::Value i64(int64_t value);
  mlir::Value toI64(mlir::Value value);
  /// Warps of the kernel.
  int64_t warpCount();
  /// Coordinate of register `index` along `dim` (i32).
  mlir::Value coordinate(const DistributedLayout &layout, int64_t index,
                         unsigned dim);
  /// Whether register `index` is an element of the tile (i1); null where it
  /// always is.
  mlir::Value isInTile(const DistributedLayout &layout, int64_t index);
  /// `mask` (i1) where register `index` is an element, else false.
  mlir::Value maskedByTile(mlir::Value mask, const DistributedLayout &layout,
                           int64_t index);
  /// Whether the thread is the first of those that hold copies (i1).
  mlir::Value isFirstHolder(const DistributedLayout &layout);
  /// The part of it that depends on the thread.
  mlir::Value threadOffset(const DistributedLayout &layout, unsigned dim);
  mlir::Value threadFunction(const ThreadFunction &function);
  mlir::Value digitOf(HardwareIndex index, int64_t stride, int64_t extent);
  /// Offset of memory that the current operation uses by itself: free at this
  /// place of the kernel, shared with every other operation's scratch.
  int64_t reserveScratch(int64_t bytes);
  /// From here on, what depends on the thread is computed anew.
  void findThreadAgain();
  /// Copies of the kernel's arguments of 32 bits that `side` uses, so that what
  /// follows from them does not move out of it. Each with what stood for it.
  llvm::SmallVector<std::pair<mlir::Value, mlir::Value>>
  copyArguments(mlir::Region &side);
  /// The same for the warp on sm_90a, by all lanes: it is the same in all.
  void findWarpAgain();
  /// The same for what depends on the program, behind an operation of the
  /// kernel's block.
  void findProgramAgain(mlir::Operation *after);
  /// From the index of the block, by the extents of the grid.
  void foldProgramIds();
  /// `value` computed in the prologue, once for each `key`.
  mlir::Value oncePerThread(const std::string &key,
                            llvm::function_ref<mlir::Value()> value);

  /// What registers hold that are no element in any thread: zero, since poison
  /// would spread to what decides.
  mlir::Value paddingOf(mlir::Type type);
  /// Type of an element in registers: fp8 as i8, pointers as i64.
  mlir::Type registerType(mlir::Type element);
  mlir::Value scalar(mlir::Value value) { return scalars.lookup(value); }

  tile::KernelOp kernel;
  mlir::ImplicitLocOpBuilder b;
  mlir::IRMapping scalars;
  llvm::DenseMap<mlir::Value, Registers> tiles;
  llvm::DenseMap<mlir::Value, GpuWindow> windows;
  /// Registers of a tile.arange as a value of the thread and a constant.
  llvm::DenseMap<mlir::Value, std::pair<mlir::Value, int64_t>> counters;
  /// Offset in shared memory of staged tiles and of rings.
  llvm::DenseMap<mlir::Value, int64_t> stages;
  /// Addresses of buffers of rings, which are chosen at run time.
  llvm::DenseMap<mlir::Value, mlir::Value> slots;
  /// Where the thread is, and what was computed from that.
  struct ThreadState {
    mlir::Value lane, warp;
    llvm::StringMap<mlir::Value> values;
    mlir::Operation *prologueEnd = nullptr; ///< dominates what is emitted
  };
  ThreadState self;
  mlir::Operation *entryEnd = nullptr; ///< in the function's first block
  mlir::Value printArguments;          ///< of vprintf, in local memory
  mlir::Value block, sharedBase, programCounter;
  llvm::SmallVector<mlir::Value> programIds; ///< then the grid
  /// Memory that a staged tile or a ring occupies, in shared memory and in the
  /// order of the kernel's operations.
  struct Lifetime {
    mlir::Value memory;
    int64_t bytes, begin, end, offset;
  };
  llvm::SmallVector<Lifetime> lifetimes;
  /// Bytes of scratch memory at each offset.
  llvm::MapVector<int64_t, int64_t> scratchSizes;
  llvm::DenseMap<mlir::Operation *, int64_t> positions;
  mlir::Operation *current = nullptr; ///< the operation being emitted
  int64_t sharedSize = 0;
  /// Which threads run what is being emitted.
  enum class Role { All, Producer, Consumer } role = Role::All;
  /// The hardware's barrier of the consumers; 0 is that of all threads.
  static constexpr int64_t kConsumerBarrier = 1;
  llvm::DenseMap<mlir::Value, mlir::Value> tensorMaps;
  llvm::DenseMap<mlir::Value, int64_t> mbarriers; ///< offset from their base
  /// Of the copies being emitted, where they are predicated.
  mlir::Value copyGuard;
  mlir::Value mbarrierBase;
  mlir::Operation *mbarrierOffset = nullptr; ///< a constant
  int64_t mbarrierBytes = 0;
  /// Of rows in shared memory, each to be moved to where it is used.
  llvm::SmallVector<mlir::Operation *> lateLoads;
  /// Accesses of global memory since the last barrier that orders them: plain
  /// additions need no order among themselves.
  bool stored = false, loaded = false, added = false;
};

} // namespace flashtile::gpu

#endif // FLASHTILE_COMPILER_CONVERSION_TILEGPUTOLLVM_GPUEMITTER_H
