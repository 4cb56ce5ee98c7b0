//===- TilePipeline.h - From a kernel's text to canonical tile IR ---------===//
//
// Part of FlashTile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The part of compilation that all targets share: `--tile-optimize`.
//
//===----------------------------------------------------------------------===//

#ifndef FLASHTILE_COMPILER_PIPELINE_TILEPIPELINE_H
#define FLASHTILE_COMPILER_PIPELINE_TILEPIPELINE_H

#include "mlir/Pass/PassManager.h"
#include "mlir/Pass/PassOptions.h"

namespace flashtile {

struct TilePipelineOptions
    : public mlir::PassPipelineOptions<TilePipelineOptions> {
  Option<int64_t> maxCopies{
      *this, "max-copies",
      llvm::cl::desc("largest number of loops made of one masked loop (1 to 3; "
                     "1 keeps masks but drops iterations)"),
      llvm::cl::init(3)};
  Option<bool> assumeAfn{
      *this, "assume-afn",
      llvm::cl::desc("compute every f32 exponential as if it carried "
                     "fastmath<afn>"),
      llvm::cl::init(false)};
};

/// Adds the passes to `pm`, which runs on modules. Afterwards:
/// - no block pointer is carried by a loop that moves it by invariant steps;
/// - loops are split in parts without and with masks, and iterations proven to
///   change nothing are not visited;
/// - an f32 exponential that carries `afn` is one multiply-add and one exp2 per
///   element;
/// - what loops do not change is computed before them.
void buildTilePipeline(mlir::OpPassManager &pm,
                       const TilePipelineOptions &options);

/// Makes the pipeline known as `--tile-optimize`.
void registerTilePipeline();

} // namespace flashtile

#endif // FLASHTILE_COMPILER_PIPELINE_TILEPIPELINE_H
