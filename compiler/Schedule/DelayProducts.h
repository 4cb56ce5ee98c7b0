//===- DelayProducts.h - Products an iteration later ------------*- C++ -*-===//
//
// Part of FlashTile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef FLASHTILE_COMPILER_SCHEDULE_DELAYPRODUCTS_H
#define FLASHTILE_COMPILER_SCHEDULE_DELAYPRODUCTS_H

#include "dialects/TileGPU/IR/TileGPUDialect.h"

#include "mlir/Dialect/SCF/IR/SCF.h"

#include <string>

namespace flashtile::gpu {

/// A product of what the iteration before has handed over.
struct Handover {
  tilegpu::WgmmaOp product;
  /// What comes right before it, in this order: what this iteration computes,
  /// handed over, and the wait for the one before.
  llvm::SmallVector<mlir::Operation *> before;
  /// Behind the product: its buffer may be written again.
  tilegpu::MbarrierArriveOp release;
};

/// Whether the loop has such a product, as far as the loop itself can say.
bool hasDelayableProduct(mlir::scf::ForOp loop);

/// Lets the product of each loop that does nothing but add to memory run in the
/// iteration behind its own. `loops` are all loops with products, in the order
/// in which they run; those that change are replaced. Why not, or nothing.
std::string delayProducts(llvm::SmallVectorImpl<mlir::scf::ForOp> &loops,
                          int64_t sharedLimit,
                          llvm::SmallVectorImpl<Handover> &handovers);

} // namespace flashtile::gpu

#endif // FLASHTILE_COMPILER_SCHEDULE_DELAYPRODUCTS_H
