//===- KernelPlan.h - Where tiles live and which loops compute them -------===//
//
// Part of FlashTile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Decides, before any code is emitted, for one kernel:
//  - which tile values get a buffer and which are recomputed where they are
//    used (index arithmetic, masks, broadcasts, single-use elementwise code);
//  - the *lane dimension* of every value: the dimension that is contiguous in
//    its buffer and that vector code runs along. It is chosen for all values
//    together: a score tile Q*K^T reduced along its rows is kept transposed,
//    so that reductions run across lanes and the operands need no transposing
//    inside the loop;
//  - which elementwise results and reductions share one loop nest (clusters);
//  - when buffers may be updated in place or share memory (slots).
//
//===----------------------------------------------------------------------===//

#ifndef FLASHTILE_COMPILER_CONVERSION_TILETOCPU_KERNELPLAN_H
#define FLASHTILE_COMPILER_CONVERSION_TILETOCPU_KERNELPLAN_H

#include "compiler/Analysis/Program/TileQueries.h"
#include "dialects/Tile/IR/TileDialect.h"

#include "mlir/Dialect/SCF/IR/SCF.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/EquivalenceClasses.h"
#include "llvm/ADT/SetVector.h"

namespace flashtile::cpu {

/// The vector unit that code is shaped for.
struct VectorShape {
  int64_t lanes = 8;      ///< f32 elements of one vector
  int64_t registers = 16; ///< vector registers
};

/// Memory of one tile: row-major over the other dimensions, the lane dimension
/// innermost and padded to a multiple of the vector length.
struct Buffer {
  mlir::RankedTensorType type;
  unsigned laneDim = 0;
  unsigned begin = 0, end = 0; ///< positions between which it holds a value
  unsigned slot = 0;
};

/// Elementwise results and axis reductions that one loop nest computes.
struct Cluster {
  llvm::ArrayRef<int64_t> shape;
  unsigned laneDim = 0;
  int64_t reducedAxis = -1; ///< -1 where nothing is reduced
  llvm::SmallVector<mlir::Operation *> members;
  unsigned position = 0;
};

class KernelPlan {
public:
  KernelPlan(tile::KernelOp kernel, VectorShape vectors);

  /// Whether the value is held in a buffer (else it is evaluated where used).
  bool isBuffered(mlir::Value value) const { return buffered.contains(value); }

  /// The lane dimension chosen for a tile value.
  unsigned laneDim(mlir::Value value) const;

  /// Buffer ids of a buffered value, one per lane dimension that is needed;
  /// the first has the value's own lane dimension.
  llvm::ArrayRef<unsigned> buffersOf(mlir::Value value) const;

  /// The cluster that `op` leads, or null where it is emitted by another
  /// member or needs no code of its own.
  const Cluster *clusterLedBy(mlir::Operation *op) const;
  /// Whether a cluster computes `op`, led by it or by an earlier operation.
  bool isClustered(mlir::Operation *op) const { return clusterOf.contains(op); }

  llvm::ArrayRef<Buffer> buffers() const { return allBuffers; }
  /// Bytes of each slot; a multiple of 64.
  llvm::ArrayRef<int64_t> slotBytes() const { return slots; }

  /// Bytes of a buffer for `type` with this lane dimension, padding included.
  int64_t bufferBytes(mlir::RankedTensorType type, unsigned laneDim) const;

  /// Extent of `dim` in a buffer: padded for the lane dimension.
  int64_t paddedExtent(int64_t extent) const {
    return (extent + vectors.lanes - 1) / vectors.lanes * vectors.lanes;
  }

  /// Scratch buffer that holds a copy of a dot operand in the lane dimension
  /// the dot needs, where no buffer of the operand has it; nothing otherwise.
  std::optional<unsigned> repackBuffer(tile::DotOp dot) const;

  const VectorShape vectors;

private:
  void numberOperations(tile::KernelOp kernel);
  void chooseBuffered();
  void chooseLaneDims();
  void formClusters();
  void assignBuffers();
  void assignSlots();

  /// Whether an operation has no buffer and no code of its own: it reads where
  /// its users are computed.
  bool isInlined(mlir::Operation *op) const;
  bool needsBufferFor(mlir::Value value, mlir::OpOperand &use) const;
  void bufferOperands(tile::DotOp dot);
  bool isEvaluatedOnce(mlir::Value value) const;
  bool tryJoin(Cluster &cluster, mlir::Operation *candidate) const;

  /// How values are read: the lane dimensions that dots ask for, and whether
  /// anything else reads them, in their own.
  struct Reads {
    llvm::DenseMap<mlir::Value, llvm::SmallSetVector<unsigned, 2>> byDots;
    llvm::DenseSet<mlir::Value> otherwise;
  };
  Reads collectReads() const;
  void assignCarriedBuffers(mlir::scf::ForOp loop);
  void assignCarriedBuffers(mlir::scf::WhileOp loop);
  void assignResultBuffers(mlir::Value result, const Reads &reads);
  void assignRepackBuffers();
  bool updatesInPlace(mlir::Value yielded, mlir::Value carried,
                      mlir::Operation *loop) const;

  struct Leaf {
    mlir::Value value;
    bool identity; ///< read at the coordinates that are being computed
  };
  /// Buffered values that evaluating `value` reads.
  void collectLeaves(mlir::Value value, bool identity,
                     llvm::SmallVectorImpl<Leaf> &leaves) const;
  /// Values that emitting `op` evaluates.
  llvm::SmallVector<std::pair<mlir::Value, bool>>
  evaluatedOperands(mlir::Operation *op) const;
  unsigned emissionPosition(mlir::Operation *op) const;

  unsigned newBuffer(mlir::RankedTensorType type, unsigned laneDim,
                     unsigned position);
  void extendLiveRanges();

  tile::KernelOp kernel;
  llvm::SmallVector<mlir::Operation *> order; ///< pre-order
  llvm::DenseMap<mlir::Operation *, unsigned> positions;
  llvm::DenseMap<mlir::Operation *, unsigned> endPositions;
  llvm::SetVector<mlir::Value> buffered;
  llvm::DenseMap<mlir::Value, unsigned> laneDims;
  llvm::SmallVector<std::unique_ptr<Cluster>> clusters;
  llvm::DenseMap<mlir::Operation *, Cluster *> clusterOf;
  llvm::SmallVector<Buffer> allBuffers;
  llvm::DenseMap<mlir::Value, llvm::SmallVector<unsigned, 1>> bufferIds;
  llvm::DenseMap<mlir::Operation *, unsigned> repackBuffers;
  llvm::SmallVector<int64_t> slots;
};

//===----------------------------------------------------------------------===//
// Questions about operations
//===----------------------------------------------------------------------===//

using flashtile::DotOperand;
using flashtile::isAxisReduce;
using flashtile::isCheap;
using flashtile::isElementwise;
using flashtile::isView;
using flashtile::memoryLaneDim;
using flashtile::peelTranspose;
using flashtile::tileType;

/// The operand of `dot` that is read as vectors when the result's lane
/// dimension is `laneDim` (b for columns, a for rows), and the dimension of
/// its root that must be contiguous.
struct VectorOperand {
  mlir::Value root;
  unsigned laneDim;
};
VectorOperand vectorOperand(tile::DotOp dot, unsigned laneDim);

} // namespace flashtile::cpu

#endif // FLASHTILE_COMPILER_CONVERSION_TILETOCPU_KERNELPLAN_H
