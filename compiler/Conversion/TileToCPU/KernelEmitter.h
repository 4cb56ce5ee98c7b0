//===- KernelEmitter.h - Loops, vectors and buffers for one kernel --------===//
//
// Part of FlashTile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Emits the body of a kernel as scf loops over vectors and memref buffers,
// following a KernelPlan. Tiles that are not buffered are evaluated on demand:
// `evaluate` gives the elements of a value at the coordinates that a loop is
// at, so elementwise code fuses into whatever consumes it.
//
//===----------------------------------------------------------------------===//

#ifndef FLASHTILE_COMPILER_CONVERSION_TILETOCPU_KERNELEMITTER_H
#define FLASHTILE_COMPILER_CONVERSION_TILETOCPU_KERNELEMITTER_H

#include "compiler/Conversion/TileToCPU/KernelPlan.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/IR/ImplicitLocOpBuilder.h"

#include <map>

namespace flashtile::cpu {

/// Position along one dimension of a tile: one element; consecutive elements,
/// one for each lane; or an element of its own for each lane.
struct Coord {
  enum Kind { Scalar, Lanes, Gather };
  Kind kind = Scalar;
  mlir::Value index; ///< index for Scalar and Lanes, vector of i64 for Gather
};
using Coords = llvm::SmallVector<Coord, 4>;

/// Runs over the tile of a given shape: what a loop nest calls with the
/// coordinates of each vector (Lanes along the lane dimension).
using TileBody = llvm::function_ref<void(mlir::ArrayRef<Coord>)>;

/// A `!tile.block_ptr` as the scalars it stands for.
struct Window {
  mlir::Value base;                                          ///< !llvm.ptr
  llvm::SmallVector<mlir::Value, 4> shape, strides, offsets; ///< i64
};

class KernelEmitter {
public:
  KernelEmitter(tile::KernelOp kernel, const KernelPlan &plan,
                mlir::OpBuilder &builder)
      : kernel(kernel), plan(plan), b(kernel.getLoc(), builder) {}

  /// Emits the body at the insertion point. `arguments` are the kernel's,
  /// `ids` program ids and grid extents (x, y, z, then extents; i32), `slots`
  /// byte buffers of the plan's slots.
  mlir::LogicalResult emit(mlir::ValueRange arguments, mlir::ValueRange ids,
                           mlir::ValueRange slots, mlir::Value context);

private:
  //===--------------------------------------------------------------------===//
  // Structure (EmitControl.cpp)
  //===--------------------------------------------------------------------===//
  mlir::LogicalResult emitBlock(mlir::Block &block);
  mlir::LogicalResult emitOp(mlir::Operation *op);
  mlir::LogicalResult emitFor(mlir::scf::ForOp loop);
  mlir::LogicalResult emitIf(mlir::scf::IfOp branch);
  mlir::LogicalResult emitWhile(mlir::scf::WhileOp loop);
  mlir::LogicalResult emitScalar(mlir::Operation *op);
  void emitConstantScalar(mlir::arith::ConstantOp op);
  void emitPointerSelect(mlir::arith::SelectOp op);
  mlir::LogicalResult emitConstant(mlir::Value value,
                                   mlir::DenseElementsAttr constant);
  /// Copies values to buffers as if all at once.
  void emitCopies(llvm::ArrayRef<std::pair<mlir::Value, unsigned>> copies);
  void emitAssert(tile::AssertOp op);
  void emitPrint(tile::PrintOp op);
  /// Calls the runtime to stop the program where `condition` is false.
  void emitCheck(mlir::Value condition, llvm::StringRef message);
  void callRuntime(llvm::StringRef name, mlir::ValueRange operands);
  mlir::Value stringPointer(llvm::StringRef text);
  void checkStep(mlir::scf::ForOp loop, mlir::Value step);

  /// Types of the scalar parts of carried values; tiles have none.
  llvm::SmallVector<mlir::Type> flattenedTypes(mlir::ValueRange values);
  /// Scalar values of carried values: block pointers become their parts.
  void flatten(mlir::Value value, llvm::SmallVectorImpl<mlir::Value> &parts);
  void bindFlattened(mlir::Value value, mlir::ValueRange &parts);

  //===--------------------------------------------------------------------===//
  // Clusters, reductions and scans (EmitClusters.cpp)
  //===--------------------------------------------------------------------===//
  mlir::LogicalResult emitCluster(const Cluster &cluster);
  class ReducingCluster;
  llvm::SmallVector<std::pair<mlir::Value, mlir::Value>>
  evaluateMembers(llvm::ArrayRef<mlir::Operation *> members,
                  llvm::ArrayRef<Coord> coords);
  void
  writeMembers(llvm::ArrayRef<std::pair<mlir::Value, mlir::Value>> elements,
               llvm::ArrayRef<Coord> coords);
  void emitReduction(tile::ReduceOp op);
  void emitScan(tile::ScanOp op);
  /// Loops over the lines of a tile along `axis`: over single ones where that
  /// is the lane dimension, else over vectors of them.
  void forEachLine(llvm::ArrayRef<int64_t> shape, unsigned axis,
                   unsigned laneDim, TileBody body);
  /// What tiles hold at one place of such a line, or of a vector of them.
  llvm::SmallVector<mlir::Value> elementsOfLines(mlir::ValueRange tiles,
                                                 llvm::ArrayRef<Coord> coords,
                                                 bool isAlongLanes);

  //===--------------------------------------------------------------------===//
  // Loops over tiles, copies (EmitLoops.cpp)
  //===--------------------------------------------------------------------===//
  /// Writes `value` into each of `value`'s buffers past the first.
  void emitFurtherLayouts(mlir::Value value);
  /// Evaluates `value` into a buffer.
  void emitCopy(mlir::Value value, unsigned bufferId);
  void emitBufferCopy(mlir::Value from, unsigned toBuffer);

  /// Loops over all vectors of `shape`, `vectorsAtATime` to a loop body.
  void forEachVector(llvm::ArrayRef<int64_t> shape, unsigned laneDim,
                     TileBody body);
  /// Loops over all elements.
  void forEachElement(llvm::ArrayRef<int64_t> shape, TileBody body);
  /// A loop, or just its body where there is one iteration.
  llvm::SmallVector<mlir::Value>
  loop(int64_t begin, int64_t end, int64_t step, mlir::ValueRange inits,
       llvm::function_ref<llvm::SmallVector<mlir::Value>(mlir::Value,
                                                         mlir::ValueRange)>
           body);
  /// Vectors of the lane dimension that a loop body handles at a time.
  int64_t vectorsAtATime(int64_t extent) const;

  //===--------------------------------------------------------------------===//
  // Dots (EmitDot.cpp)
  //===--------------------------------------------------------------------===//
  void emitDot(tile::DotOp op);
  struct DotShape;
  void emitDotBlock(tile::DotOp op, const DotShape &shape, mlir::Value row,
                    int64_t rows, mlir::Value column, int64_t vectors);

  //===--------------------------------------------------------------------===//
  // Memory (EmitMemory.cpp)
  //===--------------------------------------------------------------------===//
  void emitLoad(tile::LoadOp op);
  void emitWindowLoad(tile::LoadOp op, unsigned bufferId);
  void emitPointerLoad(tile::LoadOp op, unsigned bufferId);
  /// Of a load or store of a vector through a tile of pointers: the lanes that
  /// it is for (null: all), and one pointer to the first of neighbours, or one
  /// for each lane.
  mlir::Value lanesOf(mlir::Value mask, llvm::ArrayRef<Coord> coords,
                      llvm::ArrayRef<int64_t> shape, unsigned laneDim);
  mlir::Value pointersAt(mlir::Value pointers, llvm::ArrayRef<Coord> coords,
                         unsigned laneDim);
  void emitStore(tile::StoreOp op);
  void emitWindowStore(tile::StoreOp op);
  void emitPointerStore(tile::StoreOp op);
  void emitAtomicAdd(tile::AtomicAddOp op);
  Window window(mlir::Value pointer);
  mlir::Value elementPointer(mlir::Value base, mlir::Value offset,
                             mlir::Type element);
  /// Whether coordinates lie in the tensor; null for "always".
  mlir::Value inBounds(const Window &window, llvm::ArrayRef<Coord> coords,
                       std::optional<llvm::ArrayRef<bool>> promised,
                       llvm::ArrayRef<int64_t> shape);
  mlir::Value windowOffset(const Window &window, llvm::ArrayRef<Coord> coords);
  mlir::Value validLanes(const Coord &coord, int64_t extent);

  //===--------------------------------------------------------------------===//
  // Evaluation (Evaluate.cpp)
  //===--------------------------------------------------------------------===//
  /// Elements of a tile at `coords` in their compute type: a vector, or a
  /// scalar where no coordinate that matters varies over the lanes.
  mlir::Value evaluate(mlir::Value value, llvm::ArrayRef<Coord> coords);
  mlir::Value evaluateUncached(mlir::Value value, llvm::ArrayRef<Coord> coords);
  mlir::Value evaluateView(mlir::Operation *op, llvm::ArrayRef<Coord> coords);
  mlir::Value evaluateReshape(tile::ReshapeOp op, llvm::ArrayRef<Coord> coords);
  mlir::Value evaluateCat(tile::CatOp op, llvm::ArrayRef<Coord> coords);
  mlir::Value evaluateVector(mlir::Value value, llvm::ArrayRef<Coord> coords);
  mlir::Value readBuffer(unsigned bufferId, llvm::ArrayRef<Coord> coords);
  void writeBuffer(unsigned bufferId, llvm::ArrayRef<Coord> coords,
                   mlir::Value value);
  mlir::Value gatherBuffer(unsigned bufferId, llvm::ArrayRef<Coord> coords);
  llvm::SmallVector<unsigned> physicalOrder(const Buffer &buffer) const;
  /// The elementwise operation on values in compute types.
  mlir::Value emitElementwise(mlir::Operation *op,
                              llvm::ArrayRef<mlir::Value> operands);
  mlir::Value emitCast(mlir::Operation *op, mlir::Value operand);
  mlir::Value emitDivision(mlir::Operation *op, mlir::Value lhs,
                           mlir::Value rhs);
  llvm::SmallVector<mlir::Value> emitCombiner(mlir::Region &combiner,
                                              mlir::ValueRange lhs,
                                              mlir::ValueRange rhs);
  mlir::Value combine(mlir::Operation *reduce, mlir::Value lhs,
                      mlir::Value rhs);
  mlir::Value reductionIdentity(mlir::Operation *reduce, mlir::Type like);

  /// Scalar value of the kernel in its compute type.
  mlir::Value scalar(mlir::Value value);

  mlir::Value index(int64_t value);
  mlir::Value i64(int64_t value);
  mlir::Value laneNumbers();
  /// The coordinate as a vector of i64, one for each lane.
  mlir::Value laneIndices(const Coord &coord);
  Coord offsetCoord(const Coord &coord, int64_t offset);
  mlir::VectorType vectorOf(mlir::Type element) const {
    return mlir::VectorType::get({plan.vectors.lanes}, element);
  }
  mlir::Value asIndex(mlir::Value value);
  mlir::Value asI64(mlir::Value value);

  tile::KernelOp kernel;
  const KernelPlan &plan;
  mlir::ImplicitLocOpBuilder b;

  mlir::IRMapping scalars;
  llvm::DenseMap<mlir::Value, Window> windows;
  llvm::SmallVector<mlir::Value> bufferViews;
  llvm::SmallVector<mlir::Value> flatViews;
  llvm::SmallVector<mlir::Value> programIds;
  mlir::Value context;

  /// Values already evaluated in the innermost loop body, and what is being
  /// computed there rather than read from its buffer.
  using CacheKey = std::pair<void *, llvm::SmallVector<void *>>;
  struct Scope {
    std::map<CacheKey, mlir::Value> cache;
    llvm::SmallPtrSet<mlir::Operation *, 4> computing;
  };
  Scope scope;

  /// Starts an empty scope, and restores the outer one at the end.
  class NewScope {
  public:
    explicit NewScope(KernelEmitter &emitter)
        : emitter(emitter), saved(std::move(emitter.scope)) {
      emitter.scope = Scope();
    }
    ~NewScope() { emitter.scope = std::move(saved); }

  private:
    KernelEmitter &emitter;
    Scope saved;
  };
};

} // namespace flashtile::cpu

#endif // FLASHTILE_COMPILER_CONVERSION_TILETOCPU_KERNELEMITTER_H
