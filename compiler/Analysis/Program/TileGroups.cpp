//===- TileGroups.cpp - Tiles that are arranged alike ---------------------===//
//
// Part of FlashTile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "compiler/Analysis/Program/TileGroups.h"

#include "compiler/Analysis/Program/TileQueries.h"

#include "mlir/Dialect/SCF/IR/SCF.h"

using namespace mlir;
using namespace flashtile::tile;

TileGroups::TileGroups(KernelOp kernel) {
  auto add = [&](Value value) {
    if (!tileType(value))
      return;
    all.push_back(value);
    groups.insert(value.getAsOpaquePointer());
  };
  kernel.getBody().walk<WalkOrder::PreOrder>([&](Operation *op) {
    for (Value result : op->getResults())
      add(result);
    for (Region &region : op->getRegions())
      for (Block &block : region)
        for (Value argument : block.getArguments())
          add(argument);
  });
}

void TileGroups::uniteCarried(Operation *op, Ties ties) {
  auto uniteAll = [&](auto &&from, auto &&to, bool isInit = false) {
    for (auto [a, b] : llvm::zip(from, to))
      if (tileType(a) && ties(a, isInit))
        unite(a, b);
  };
  if (auto loop = dyn_cast<scf::ForOp>(op)) {
    uniteAll(loop.getInitArgs(), loop.getRegionIterArgs(), /*isInit=*/true);
    uniteAll(loop.getYieldedValues(), loop.getRegionIterArgs());
    uniteAll(loop.getResults(), loop.getRegionIterArgs());
  } else if (auto branch = dyn_cast<scf::IfOp>(op)) {
    if (branch.getNumResults() == 0)
      return;
    uniteAll(branch.thenYield().getResults(), branch.getResults());
    uniteAll(branch.elseYield().getResults(), branch.getResults());
  } else if (auto loop = dyn_cast<scf::WhileOp>(op)) {
    uniteAll(loop.getInits(), loop.getBeforeArguments());
    uniteAll(loop.getConditionOp().getArgs(), loop.getAfterArguments());
    uniteAll(loop.getConditionOp().getArgs(), loop.getResults());
    uniteAll(loop.getYieldOp().getResults(), loop.getBeforeArguments());
  }
}
