//===- TilePipeline.cpp - From a kernel's text to canonical tile IR -------===//
//
// Part of FlashTile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Over each pass stands what is true from there on.
//
//===----------------------------------------------------------------------===//

#include "compiler/Pipeline/TilePipeline.h"

#include "dialects/Tile/Transforms/Passes.h"

#include "mlir/Pass/PassRegistry.h"
#include "mlir/Transforms/Passes.h"

using namespace mlir;

void flashtile::buildTilePipeline(OpPassManager &pm,
                                  const TilePipelineOptions &options) {
  OpPassManager &kernel = pm.nest<tile::KernelOp>();

  // Constants are folded, and a pointer advanced outside loops is a window.
  kernel.addPass(createCanonicalizerPass());
  // Equal values are one value: masks and factors can be compared by identity.
  kernel.addPass(createCSEPass());
  // Windows are functions of arguments and induction variables.
  kernel.addPass(tile::createNormalizeBlockPtrsPass());
  kernel.addPass(createCanonicalizerPass());
  // What a loop does not change is defined outside: masks are affine in values
  // that exist before the loop. Loads stay: a loop that runs zero times must
  // not touch memory.
  kernel.addPass(createLoopInvariantCodeMotionPass());

  // Interior iterations have no masks, and provably empty ones are gone. This
  // comes before the scale is moved: the proof reads exp(m - m).
  tile::SplitLoopsPassOptions split;
  split.maxCopies = options.maxCopies;
  kernel.addPass(tile::createSplitLoopsPass(split));
  // Loops that never run and masks that nobody reads are gone.
  kernel.addPass(createCanonicalizerPass());
  kernel.addPass(createCSEPass());

  // A positive scale stands behind the maxima, next to the exponentials.
  kernel.addPass(tile::createSinkScalePass());
  kernel.addPass(createCSEPass());
  // Exponentials are exp2 of one multiply-add.
  tile::ExpToExp2PassOptions exponentials;
  exponentials.assumeAfn = options.assumeAfn;
  kernel.addPass(tile::createExpToExp2Pass(exponentials));

  // Products with the scale and log2(e) are shared and computed once.
  kernel.addPass(createCanonicalizerPass());
  kernel.addPass(createCSEPass());
  kernel.addPass(createLoopInvariantCodeMotionPass());
  kernel.addPass(createCSEPass());
}

void flashtile::registerTilePipeline() {
  PassPipelineRegistration<TilePipelineOptions>(
      "tile-optimize",
      "what all targets share: split loops, sink scales, use exp2",
      buildTilePipeline);
}
