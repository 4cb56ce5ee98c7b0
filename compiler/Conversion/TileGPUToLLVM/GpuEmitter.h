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

#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/IR/ImplicitLocOpBuilder.h"
#include "llvm/ADT/DenseMap.h"

namespace flashtile::gpu {

using Registers = llvm::SmallVector<mlir::Value>;

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

  /// Bytes of shared memory that the body uses.
  int64_t sharedBytes() const { return scratchOffset + scratchBytes; }

private:
  // Structure (EmitStructure.cpp).
  mlir::LogicalResult emitBlock(mlir::Block &block);
  mlir::LogicalResult emitOp(mlir::Operation *op);
  mlir::LogicalResult emitScalar(mlir::Operation *op);
  mlir::LogicalResult emitFor(mlir::scf::ForOp loop);
  mlir::LogicalResult emitIf(mlir::scf::IfOp branch);
  void flatten(mlir::Value value, llvm::SmallVectorImpl<mlir::Value> &parts);
  void bind(mlir::Value value, mlir::ValueRange &parts);
  llvm::SmallVector<mlir::Type> flattenedTypes(mlir::Value value);

  // Elementwise code, views and constants (EmitElementwise.cpp).
  mlir::LogicalResult emitTileOp(mlir::Operation *op);
  mlir::LogicalResult emitElementwise(mlir::Operation *op);
  mlir::Value emitElement(mlir::Operation *op, mlir::ValueRange operands);
  mlir::Value emitCast(mlir::Value value, mlir::Type from, mlir::Type to);

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
  llvm::SmallVector<mlir::Value>
  combine(mlir::Operation *reduce, mlir::ValueRange lhs, mlir::ValueRange rhs);
  void combineWarps(mlir::Operation *reduce, const ReductionPlan &plan,
                    std::vector<llvm::SmallVector<mlir::Value>> &partials);

  // Memory (EmitGlobal.cpp, EmitShared.cpp).
  mlir::LogicalResult emitLoad(tilegpu::LoadOp op);
  mlir::LogicalResult emitStore(tilegpu::StoreOp op);
  mlir::LogicalResult emitScalarAccess(mlir::Operation *op);
  /// How a window is read or written several elements at a time.
  struct VectorPlan {
    unsigned dim;       ///< contiguous in memory
    int64_t width;      ///< elements of an access
    mlir::Value usable; ///< i1, the same in all threads
  };
  std::optional<VectorPlan> planVectors(const GpuWindow &window,
                                        const DistributedLayout &layout,
                                        mlir::Type element);
  Registers loadWindow(const GpuWindow &window, tilegpu::LoadOp op,
                       const DistributedLayout &layout, int64_t width);
  void storeWindow(const GpuWindow &window, tilegpu::StoreOp op,
                   const DistributedLayout &layout, mlir::Value owner,
                   int64_t width);
  mlir::Value windowAddress(const GpuWindow &window,
                            const DistributedLayout &layout, int64_t index,
                            mlir::Type element);
  mlir::Value windowMask(const GpuWindow &window,
                         const DistributedLayout &layout, int64_t index,
                         std::optional<llvm::ArrayRef<bool>> promised,
                         llvm::ArrayRef<int64_t> shape);
  /// One access of neighbouring elements, predicated as a whole.
  Registers loadElements(mlir::Value address, mlir::Value mask,
                         mlir::ValueRange others, mlir::Type element);
  void storeElements(mlir::Value address, mlir::Value mask,
                     mlir::ValueRange values, mlir::Type element);
  mlir::Value sharedAddress(const SharedLayout &memory,
                            llvm::ArrayRef<mlir::Value> coordinates,
                            int64_t base);
  void storeShared(const Registers &values, const DistributedLayout &layout,
                   const SharedLayout &memory, int64_t base,
                   mlir::Type element);
  Registers loadShared(const DistributedLayout &layout,
                       const SharedLayout &memory, int64_t base,
                       mlir::Type element);
  void emitStage(tilegpu::StageOp op);
  /// Places staged tiles in shared memory; scratch space follows them.
  void allocateStages();
  void barrier();

  // Matrix products (EmitMma.cpp).
  mlir::LogicalResult emitMma(tilegpu::MmaOp op);
  /// The product by multiply-adds of each thread, for types without matrix
  /// instructions.
  void emitMultiplyAdds(tilegpu::MmaOp op);
  /// Packed 32-bit registers of an operand fragment, loaded when first asked
  /// for.
  class Fragments;

  // Indices (EmitIndices.cpp).
  mlir::Value i32(int64_t value);
  mlir::Value i64(int64_t value);
  mlir::Value toI64(mlir::Value value);
  /// Coordinate of register `index` along `dim` (i32).
  mlir::Value coordinate(const DistributedLayout &layout, int64_t index,
                         unsigned dim);
  /// The part of it that depends on the thread.
  mlir::Value threadOffset(const DistributedLayout &layout, unsigned dim);
  mlir::Value threadFunction(const ThreadFunction &function);
  mlir::Value digitOf(HardwareIndex index, int64_t stride, int64_t extent);
  int64_t reserveScratch(int64_t bytes);

  /// Type of an element in registers: fp8 as i8, pointers as i64.
  mlir::Type registerType(mlir::Type element);
  mlir::Value scalar(mlir::Value value) { return scalars.lookup(value); }

  tile::KernelOp kernel;
  mlir::ImplicitLocOpBuilder b;
  mlir::IRMapping scalars;
  llvm::DenseMap<mlir::Value, Registers> tiles;
  llvm::DenseMap<mlir::Value, GpuWindow> windows;
  llvm::DenseMap<mlir::Value, int64_t> stages; ///< offset in shared memory
  mlir::Value lane, warp, sharedBase;
  llvm::SmallVector<mlir::Value> programIds; ///< then the grid
  llvm::SmallVector<std::pair<std::pair<std::string, unsigned>, mlir::Value>>
      threadOffsets;
  mlir::Operation *prologueEnd = nullptr;
  int64_t scratchOffset = 0, scratchBytes = 0;
  bool stored = false; ///< a store may have to become visible to a load
};

} // namespace flashtile::gpu

#endif // FLASHTILE_COMPILER_CONVERSION_TILEGPUTOLLVM_GPUEMITTER_H
