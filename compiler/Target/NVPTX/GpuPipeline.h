//===- GpuPipeline.h - Tile IR to the LLVM dialect for NVIDIA GPUs --------===//
//
// Part of FlashTile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The order of the passes of the gpu targets, as one named pipeline.
//
//===----------------------------------------------------------------------===//

#ifndef FLASHTILE_COMPILER_TARGET_NVPTX_GPUPIPELINE_H
#define FLASHTILE_COMPILER_TARGET_NVPTX_GPUPIPELINE_H

#include "mlir/Pass/PassManager.h"
#include "mlir/Pass/PassOptions.h"

namespace flashtile::gpu {

struct GpuPipelineOptions
    : public mlir::PassPipelineOptions<GpuPipelineOptions> {
  Option<std::string> target{
      *this, "target", llvm::cl::desc("instruction family: sm_80 or sm_90a"),
      llvm::cl::init("sm_80")};
  Option<std::string> functions{
      *this, "functions",
      llvm::cl::desc("functions of kernels that ask something of their "
                     "arguments: fast, plain (for any arguments) or both"),
      llvm::cl::init("both")};
  Option<int64_t> numWarps{*this, "num-warps",
                           llvm::cl::desc("warps of a program, 1 to 16"),
                           llvm::cl::init(4)};
  Option<int64_t> numStages{
      *this, "num-stages",
      llvm::cl::desc("iterations whose operands are in shared memory, 1 to 8"),
      llvm::cl::init(2)};
  Option<int64_t> programGroup{
      *this, "program-group",
      llvm::cl::desc("programs of a group where the longest start first; 0 "
                     "keeps the order of the grid"),
      llvm::cl::init(256)};
  Option<std::string> persistent{
      *this, "persistent",
      llvm::cl::desc("how blocks take one program after the other on sm_90a: "
                     "auto, off, static (true) or dynamic"),
      llvm::cl::init("auto")};
};

/// Lowers canonical tile kernels (`--tile-optimize`) to functions of the LLVM
/// and NVVM dialects. `pm` runs on modules.
void buildGpuPipeline(mlir::OpPassManager &pm,
                      const GpuPipelineOptions &options);

/// Makes the pipeline known as `--tile-to-nvvm`.
void registerGpuPipeline();

} // namespace flashtile::gpu

#endif // FLASHTILE_COMPILER_TARGET_NVPTX_GPUPIPELINE_H
