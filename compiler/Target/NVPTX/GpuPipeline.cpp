//===- GpuPipeline.cpp - Tile IR to the LLVM dialect for NVIDIA GPUs ------===//
//
// Part of FlashTile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// After each pass the named dialect is gone.
//
//===----------------------------------------------------------------------===//

#include "compiler/Target/NVPTX/GpuPipeline.h"

#include "compiler/Conversion/TileGPUToLLVM/Passes.h"
#include "compiler/Conversion/TileToTileGPU/Passes.h"
#include "compiler/Schedule/Passes.h"
#include "compiler/Schedule/PersistentPrograms.h"
#include "dialects/TileGPU/Transforms/Passes.h"

#include "dialects/Tile/Transforms/Passes.h"

#include "mlir/Conversion/ArithToLLVM/ArithToLLVM.h"
#include "mlir/Conversion/ControlFlowToLLVM/ControlFlowToLLVM.h"
#include "mlir/Conversion/MathToLLVM/MathToLLVM.h"
#include "mlir/Conversion/ReconcileUnrealizedCasts/ReconcileUnrealizedCasts.h"
#include "mlir/Conversion/SCFToControlFlow/SCFToControlFlow.h"
#include "mlir/Pass/PassRegistry.h"
#include "mlir/Transforms/Passes.h"

#include <limits>

using namespace mlir;

namespace flashtile::gpu {

void buildGpuPipeline(OpPassManager &pm, const GpuPipelineOptions &options) {
  // Kernels know that their arguments are aligned, or are compiled twice.
  tilegpu::SpecializeArgumentsPassOptions arguments;
  arguments.functions = options.functions;
  pm.addPass(tilegpu::createSpecializeArgumentsPass(arguments));
  if (options.target == "sm_90a") {
    // The usual case of an iteration has its products in one block.
    pm.addNestedPass<tile::KernelOp>(createSplitBranchesPass());
  }
  // Masks take one comparison for each element.
  tile::CombineBoundsPassOptions bounds;
  bounds.narrowProducts = true;
  if (options.target != "sm_90a")
    bounds.mostProducts = 2; // more leave no registers for limits
  pm.addNestedPass<tile::KernelOp>(tile::createCombineBoundsPass(bounds));
  pm.addNestedPass<tile::KernelOp>(createCSEPass());
  // Every tile has a layout; movement between layouts is explicit.
  ConvertTileToTileGPUPassOptions layouts;
  layouts.target = options.target;
  layouts.numWarps = options.numWarps;
  pm.addNestedPass<tile::KernelOp>(createConvertTileToTileGPUPass(layouts));
  // What loops do not change, staged tiles included, is made before them.
  pm.addNestedPass<tile::KernelOp>(createCSEPass());
  pm.addNestedPass<tile::KernelOp>(createLoopInvariantCodeMotionPass());
  // Threads carry their own part of a sum.
  pm.addNestedPass<tile::KernelOp>(createDeferSumsPass());
  // Warps branch for themselves where that makes no difference.
  pm.addNestedPass<tile::KernelOp>(createLocalizeBranchesPass());
  // Blocks with small numbers have the programs that run longest.
  OrderProgramsPassOptions order;
  order.group = options.programGroup;
  // Where blocks have fixed shares of unequal programs, groups may give some of
  // them the long ones of each: all programs are one group.
  if (options.target == "sm_90a" && order.group > 0 &&
      parsePersistence(options.persistent) == Persistence::Fixed)
    order.group = std::numeric_limits<int32_t>::max();
  pm.addNestedPass<tile::KernelOp>(createOrderProgramsPass(order));
  // Operands of warpgroup products are loaded by a warp of their own.
  SpecializeWarpsPassOptions roles;
  roles.numStages = options.numStages;
  roles.persistent = options.persistent;
  pm.addNestedPass<tile::KernelOp>(createSpecializeWarpsPass(roles));
  pm.addNestedPass<tile::KernelOp>(createHoistOperandsPass());
  pm.addNestedPass<tile::KernelOp>(createOverlapProductsPass());
  pm.addNestedPass<tile::KernelOp>(createStoreTilesPass());
  // Other operands go to shared memory in the background.
  tilegpu::StageLoadsPassOptions staging;
  staging.numStages = options.numStages;
  pm.addNestedPass<tile::KernelOp>(tilegpu::createStageLoadsPass(staging));
  // No tiles: the code of one thread.
  pm.addPass(createConvertTileGPUToLLVMPass());
  // Address arithmetic that the emitter repeats is shared.
  pm.addPass(createCSEPass());
  // No structured control flow, math, arith.
  pm.addPass(createSCFToControlFlowPass());
  pm.addPass(createConvertMathToLLVMPass());
  pm.addPass(createArithToLLVMConversionPass());
  pm.addPass(createConvertControlFlowToLLVMPass());
  // No casts: everything is of the LLVM and NVVM dialects.
  pm.addPass(createReconcileUnrealizedCastsPass());
}

void registerGpuPipeline() {
  PassPipelineRegistration<GpuPipelineOptions>(
      "tile-to-nvvm",
      "lower canonical tile kernels to the LLVM and NVVM dialects",
      buildGpuPipeline);
}

} // namespace flashtile::gpu
