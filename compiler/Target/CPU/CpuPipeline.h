//===- CpuPipeline.h - Tile IR to the LLVM dialect for the CPU ------------===//
//
// Part of FlashTile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The order of the passes of the cpu target, as one named pipeline.
//
//===----------------------------------------------------------------------===//

#ifndef FLASHTILE_COMPILER_TARGET_CPU_CPUPIPELINE_H
#define FLASHTILE_COMPILER_TARGET_CPU_CPUPIPELINE_H

#include "mlir/Pass/PassManager.h"
#include "mlir/Pass/PassOptions.h"

namespace flashtile::cpu {

struct CpuPipelineOptions
    : public mlir::PassPipelineOptions<CpuPipelineOptions> {
  Option<int64_t> lanes{*this, "lanes",
                        llvm::cl::desc("f32 elements of one vector"),
                        llvm::cl::init(8)};
  Option<int64_t> registers{*this, "registers",
                            llvm::cl::desc("vector registers of the target"),
                            llvm::cl::init(16)};
};

/// Lowers canonical tile kernels (`--tile-optimize`) to functions of the LLVM
/// dialect. `pm` runs on modules.
void buildCpuPipeline(mlir::OpPassManager &pm,
                      const CpuPipelineOptions &options);

/// Makes the pipeline known as `--tile-to-cpu`, its second half as
/// `--cpu-to-llvm`.
void registerCpuPipelines();

} // namespace flashtile::cpu

#endif // FLASHTILE_COMPILER_TARGET_CPU_CPUPIPELINE_H
