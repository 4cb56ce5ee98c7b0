//===- CpuPipeline.cpp - Tile IR to the LLVM dialect for the CPU ----------===//
//
// Part of FlashTile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Conversion in one direction: after each pass the named dialect is gone.
//
//===----------------------------------------------------------------------===//

#include "compiler/Target/CPU/CpuPipeline.h"

#include "compiler/Conversion/TileToCPU/Passes.h"

#include "mlir/Conversion/ArithToLLVM/ArithToLLVM.h"
#include "mlir/Conversion/ControlFlowToLLVM/ControlFlowToLLVM.h"
#include "mlir/Conversion/FuncToLLVM/ConvertFuncToLLVMPass.h"
#include "mlir/Conversion/MathToLLVM/MathToLLVM.h"
#include "mlir/Conversion/MathToLibm/MathToLibm.h"
#include "mlir/Conversion/MemRefToLLVM/MemRefToLLVM.h"
#include "mlir/Conversion/ReconcileUnrealizedCasts/ReconcileUnrealizedCasts.h"
#include "mlir/Conversion/SCFToControlFlow/SCFToControlFlow.h"
#include "mlir/Conversion/UBToLLVM/UBToLLVM.h"
#include "mlir/Conversion/VectorToLLVM/ConvertVectorToLLVMPass.h"
#include "mlir/Pass/PassRegistry.h"
#include "mlir/Transforms/Passes.h"

using namespace mlir;

namespace flashtile::cpu {

static void addLowering(OpPassManager &pm) {
  // Address arithmetic that the emitter repeats is shared.
  pm.addPass(createCSEPass());
  // No structured control flow.
  pm.addPass(createSCFToControlFlowPass());
  // No math: intrinsics first, calls of libm for what has none, one for each
  // lane of a vector.
  pm.addPass(createConvertMathToLLVMPass());
  pm.addPass(createConvertMathToLibmPass());
  // No vector operations; loads and stores of memrefs become llvm's.
  pm.addPass(createConvertVectorToLLVMPass());
  // No memrefs, arith, functions with memref arguments, branches.
  pm.addPass(createFinalizeMemRefToLLVMConversionPass());
  pm.addPass(createArithToLLVMConversionPass());
  pm.addPass(createUBToLLVMConversionPass());
  // Scratch memory is passed as plain pointers, which may carry noalias.
  ConvertFuncToLLVMPassOptions functions;
  functions.useBarePtrCallConv = true;
  pm.addPass(createConvertFuncToLLVMPass(functions));
  pm.addPass(createConvertControlFlowToLLVMPass());
  // No casts: everything is of the LLVM dialect.
  pm.addPass(createReconcileUnrealizedCastsPass());
}

void buildCpuPipeline(OpPassManager &pm, const CpuPipelineOptions &options) {
  // No tile operations: loops over vectors of the target's length.
  ConvertTileToCPUPassOptions conversion;
  conversion.lanes = options.lanes;
  conversion.registers = options.registers;
  pm.addPass(createConvertTileToCPUPass(conversion));
  addLowering(pm);
}

void registerCpuPipelines() {
  PassPipelineRegistration<CpuPipelineOptions>(
      "tile-to-cpu", "lower canonical tile kernels to the LLVM dialect",
      buildCpuPipeline);
  PassPipelineRegistration<>(
      "cpu-to-llvm",
      "lower what convert-tile-to-cpu leaves to the LLVM dialect", addLowering);
}

} // namespace flashtile::cpu
