//===- ProductCalls.cpp - Calls beside products of warpgroups -------------===//
//
// Part of FlashTile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "compiler/Conversion/TileGPUToLLVM/ProductCalls.h"

#include "dialects/Tile/Transforms/Remark.h"
#include "dialects/TileGPU/IR/TileGPUDialect.h"

#include "mlir/IR/Matchers.h"

using namespace mlir;
using namespace flashtile;
using namespace flashtile::gpu;
using namespace flashtile::tile;

bool flashtile::gpu::checksStep(scf::ForOp loop) {
  return !matchPattern(loop.getStep(), m_Constant()) && // verified
         !loop.getStep().getDefiningOp<tilegpu::NumBlocksOp>();
}

void flashtile::gpu::remarkCallsBesideProducts(KernelOp kernel) {
  Operation *first = nullptr;
  DenseSet<Location> places; // loops may be there twice, with masks and without
  bool hasProducts = false;
  kernel.getBody().walk<WalkOrder::PreOrder>([&](Operation *op) {
    auto loop = dyn_cast<scf::ForOp>(op);
    if (isa<AssertOp, PrintOp>(op) || (loop && checksStep(loop))) {
      places.insert(op->getLoc());
      first = first ? first : op;
    }
    hasProducts |= isa<tilegpu::WgmmaOp>(op);
  });
  if (!first || !hasProducts)
    return;
  std::string text = "products of warpgroups run one after the other: ";
  text += isa<scf::ForOp>(first)
              ? "the loop's step is checked when the kernel runs, by a call"
              : "'" + first->getName().getStringRef().str() + "' is a call";
  text += ", and ptxas lets them overlap in functions without calls only "
          "(C7510)";
  if (size_t others = places.size() - 1)
    text += "; there " + std::string(others == 1 ? "is " : "are ") +
            std::to_string(others) + " more";
  remarkMissed(first, "convert-tilegpu-to-llvm", "AsynchronousProducts", text);
}
