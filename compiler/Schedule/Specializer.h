//===- Specializer.h - The rewriting of one kernel into roles -------------===//
//
// Part of FlashTile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Of --tilegpu-specialize-warps only: RingLoads.cpp finds what goes through
// rings, SpecializeWarps.cpp writes both roles.
//
//===----------------------------------------------------------------------===//

#ifndef FLASHTILE_COMPILER_SCHEDULE_SPECIALIZER_H
#define FLASHTILE_COMPILER_SCHEDULE_SPECIALIZER_H

#include "compiler/Conversion/TileToTileGPU/LayoutAttrs.h"
#include "compiler/Schedule/PersistentPrograms.h"
#include "compiler/Schedule/TmaWindow.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/IRMapping.h"

#include <optional>
#include <string>
#include <vector>

namespace flashtile::gpu {

/// Buffers, and the barriers that say who may use them.
struct Ring {
  TmaWindow window;
  tilegpu::SmemType slot;
  int64_t stages = 1;
  bool inLoop = false;
  int64_t producer = 0; ///< the thread that fills it
  /// The ring with whose tiles these come, and whose barriers they share.
  std::optional<unsigned> leader;
  mlir::Value map, buffers, full, empty;

  int64_t bytes() const { return sharedBytes(slot); }
};

/// A load of the kernel, which goes through a ring.
struct RingLoad {
  tilegpu::LoadOp load;   ///< null: the consumer has it already
  tilegpu::StageOp stage; ///< null: to registers only
  TmaWindow window;
  unsigned ring;
};

/// Rewrites one kernel.
class Specializer {
public:
  Specializer(tile::KernelOp kernel, int64_t stages, int64_t sharedLimit,
              Persistence persistence)
      : kernel(kernel), body(kernel.getBody().front()), wantedStages(stages),
        sharedLimit(sharedLimit), persistence(persistence),
        b(kernel.getLoc(), mlir::OpBuilder(kernel.getContext())) {}

  /// Why the kernel stays as it is; empty where it does not.
  std::string run();

private:
  std::string checkOperations();
  std::string collect();
  std::string collectLoad(tilegpu::StageOp stage);
  void collectRow(tilegpu::LoadOp load);
  unsigned findRing(const TmaWindow &window, tilegpu::SmemType slot,
                    mlir::Block *block, std::optional<unsigned> leader);
  std::string checkStores();
  std::string chooseStages();
  /// Shared memory that the kernel needs beside rings.
  int64_t bytesBeside();
  std::string whyNotPersistent();
  bool isComputable(mlir::Value value);
  void makeRings();
  int64_t chooseProducers();
  void writeProducers(mlir::Block *block, int64_t count);
  void writeProducer(int64_t producer);
  void produceLoops(int64_t producer, mlir::Block *block,
                    llvm::SmallVectorImpl<mlir::Value> &counters,
                    mlir::IRMapping &outer);
  void rewriteConsumer(mlir::Block *block,
                       llvm::ArrayRef<mlir::Operation *> operations);
  void produce(const RingLoad &each, mlir::Value counter,
               mlir::IRMapping &mapping);
  void copy(const RingLoad &each, mlir::Value index, mlir::IRMapping &mapping);
  mlir::Value inProducer(mlir::Value value, mlir::IRMapping &mapping);
  void divideBefore(mlir::scf::ForOp loop, mlir::Value value,
                    mlir::IRMapping &mapping);
  void consume(RingLoad &each, mlir::Value counter);
  void consumeLoops(mlir::Block *block,
                    llvm::SmallVectorImpl<mlir::Value> &counters);
  /// In order, without those that come with others.
  llvm::SmallVector<RingLoad *> loadsIn(mlir::Block *block);
  llvm::SmallVector<RingLoad *> loadsIn(mlir::Block *block, int64_t producer);
  /// Of a loop: those of the loads of its own, then those of loops in it.
  template <typename... Producer>
  llvm::SmallVector<unsigned> ringsIn(mlir::scf::ForOp loop,
                                      Producer... producer);
  /// Those that come with `each`.
  llvm::SmallVector<RingLoad *> companionsOf(const RingLoad &each);
  /// How blocks share the programs; nothing where each has one, and why.
  std::optional<Persistence> choosePersistence(std::string &whyNot);
  void findPositions(llvm::ArrayRef<mlir::Operation *> operations);
  /// Positions of program `place`, computed where `b` is.
  llvm::SmallVector<mlir::Value> positionsOf(mlir::Value place);
  llvm::SmallVector<mlir::Operation *>
  sharePrograms(std::optional<Persistence> how, int64_t producers);
  /// The loop over the programs of a block, which carries the counters of rings
  /// that loops use; none where there is one program.
  ProgramLoop openPrograms();
  void closePrograms(const ProgramLoop &programs,
                     llvm::ArrayRef<mlir::Value> counters,
                     PositionFunction positionOf);
  /// Of all rings, at the start of a program. A tile outside of loops is loaded
  /// once in each program, which counts its uses; without others it has none.
  llvm::SmallVector<mlir::Value> firstCounters(const ProgramLoop &programs);
  mlir::Value i32(int64_t value) {
    return mlir::arith::ConstantOp::create(b, b.getI32IntegerAttr(value));
  }
  mlir::Value slotIndex(mlir::Value counter, int64_t stages) {
    if (stages == 1)
      return i32(0);
    return mlir::arith::RemUIOp::create(b, counter, i32(stages));
  }
  mlir::Value phase(mlir::Value counter, int64_t stages) {
    if (stages > 1)
      counter = mlir::arith::DivUIOp::create(b, counter, i32(stages));
    return mlir::arith::RemUIOp::create(b, counter, i32(2));
  }
  mlir::Value next(mlir::Value counter) {
    return mlir::arith::AddIOp::create(b, counter, i32(1));
  }
  tile::KernelOp kernel;
  mlir::Block &body;
  int64_t wantedStages, sharedLimit;
  Persistence persistence;
  mlir::ImplicitLocOpBuilder b;
  std::vector<RingLoad> loads;
  std::vector<Ring> rings;
  std::optional<ProgramShare> share; ///< of a persistent kernel
  /// What the kernel computes from the number of the program first, where
  /// programs are counted: who counts does it for all.
  llvm::SmallVector<mlir::Value> positions;
};

} // namespace flashtile::gpu

#endif // FLASHTILE_COMPILER_SCHEDULE_SPECIALIZER_H
