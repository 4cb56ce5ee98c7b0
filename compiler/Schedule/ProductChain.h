//===- ProductChain.h - Two products with work between them -----*- C++ -*-===//
//
// Part of FlashTile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef FLASHTILE_COMPILER_SCHEDULE_PRODUCTCHAIN_H
#define FLASHTILE_COMPILER_SCHEDULE_PRODUCTCHAIN_H

#include "dialects/TileGPU/IR/TileGPUDialect.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

#include "llvm/ADT/SetVector.h"

#include <optional>
#include <string>

namespace flashtile::gpu {

/// A product, from the wait for its operand to the release of its buffer.
struct Product {
  tilegpu::WgmmaOp start;
  tilegpu::WgmmaWaitOp wait;
  tilegpu::SlotOp slot;              ///< of the right operand
  tilegpu::MbarrierWaitOp arrival;   ///< of the data in it
  tilegpu::MbarrierArriveOp release; ///< of the buffer
};

/// Work beside a product, of which some is done before the wait for it.
struct Fence {
  mlir::Value tile;
  bool isFirst = false; ///< behind its first element, not its last
  bool holds = false;   ///< and in front of work on its other elements
};

/// Two products in a loop, of which the second adds to a carried tile.
struct Chain {
  mlir::scf::ForOp loop;
  Product first, second;
  unsigned sum;              ///< the carried tile
  mlir::arith::MulFOp scale; ///< of the carried tile; may be null
  /// From f32 to the second's left operand.
  llvm::SmallVector<mlir::Operation *> pack;
  /// What belongs to the second product.
  llvm::DenseSet<mlir::Operation *> late;
  unsigned counter; ///< of the second's ring
  Fence fence;      ///< behind which the second product is waited for
};

/// The only wait for a product, in its block and for nothing else; or null.
tilegpu::WgmmaWaitOp waitOf(tilegpu::WgmmaOp start);

/// The counter of a ring, carried by `loop`, from which `index` is computed.
std::optional<unsigned> counterOf(mlir::Value index, mlir::scf::ForOp loop);

/// Why a loop with `count` products is not one with `wanted`.
std::string otherCount(size_t count, size_t wanted);

/// What makes the left operand of a product out of the f32 elements that come
/// first: casts, changes of layout, and work on the narrow elements between
/// them. All in `block`, in its order, and used by nothing else. Narrow
/// elements share registers, which a product that is under way may read: what
/// writes to them comes behind it.
llvm::SmallVector<mlir::Operation *> packingOf(mlir::Value operand,
                                               mlir::Block *block);

/// Reads the two products of a loop. Why it is not such a loop, or nothing.
std::string matchChain(mlir::scf::ForOp loop, Chain &chain);

/// Where `value` is computed may be before `place`, which dominates it, once
/// the operations in `moved` are there.
bool isAvailable(mlir::Value value, mlir::Operation *place,
                 const llvm::SetVector<mlir::Operation *> &moved);

/// Whether the carried tile begins as zeros that remain so, however the first
/// iteration scales them. `first` has what it begins with.
bool beginsAtZero(const Chain &chain, mlir::scf::ForOp first);

/// Whether `next` goes on where `chain` ended: it carries the same values, in
/// the same places, through the same rings. What is computed between the loops
/// then moves before `first`.
bool continues(const Chain &chain, const Chain &next, mlir::scf::ForOp first);

} // namespace flashtile::gpu

#endif // FLASHTILE_COMPILER_SCHEDULE_PRODUCTCHAIN_H
