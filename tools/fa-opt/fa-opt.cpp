//===- fa-opt.cpp - Runs passes on tile programs --------------------------===//
//
// Part of FlashTile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// mlir-opt for the dialects of FlashTile: every pass and pipeline by name, and
// `--remarks`, which prints every decision that a pass took or left.
//
//===----------------------------------------------------------------------===//

#include "compiler/Conversion/TileGPUToLLVM/Passes.h"
#include "compiler/Conversion/TileToCPU/Passes.h"
#include "compiler/Conversion/TileToTileGPU/Passes.h"
#include "compiler/Pipeline/TilePipeline.h"
#include "compiler/Schedule/Passes.h"
#include "compiler/Target/CPU/CpuPipeline.h"
#include "compiler/Target/NVPTX/GpuPipeline.h"
#include "dialects/Tile/IR/TileDialect.h"
#include "dialects/Tile/Transforms/Passes.h"
#include "dialects/TileGPU/IR/TileGPUDialect.h"
#include "dialects/TileGPU/Transforms/Passes.h"

#include "mlir/Conversion/Passes.h"
#include "mlir/Dialect/ControlFlow/IR/ControlFlow.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/UB/IR/UBOps.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/Support/FileUtilities.h"
#include "mlir/Tools/mlir-opt/MlirOptMain.h"
#include "mlir/Transforms/Passes.h"

#include "llvm/Support/CommandLine.h"
#include "llvm/Support/InitLLVM.h"
#include "llvm/Support/SourceMgr.h"
#include "llvm/Support/ToolOutputFile.h"

using namespace mlir;

namespace {

/// mlir-opt's configuration; it keeps the filters of remarks to subclasses.
class OptConfig : public MlirOptMainConfig {
public:
  explicit OptConfig(const MlirOptMainConfig &parsed)
      : MlirOptMainConfig(parsed) {}

  /// Lets every remark through that no other filter was given for.
  void printRemarks() {
    if (!shouldEmitRemarks())
      remarksAllFilterFlag = ".*";
  }
};

} // namespace

static void registerPasses() {
  flashtile::tile::registerTilePasses();
  flashtile::registerTilePipeline();
  flashtile::cpu::registerTileToCPUPasses();
  flashtile::cpu::registerCpuPipelines();
  flashtile::gpu::registerTileToTileGPUPasses();
  flashtile::tilegpu::registerTileGPUPasses();
  flashtile::gpu::registerSchedulePasses();
  flashtile::gpu::registerTileGPUToLLVMPasses();
  flashtile::gpu::registerGpuPipeline();
  registerCanonicalizerPass();
  registerCSEPass();
  registerInlinerPass();
  registerLoopInvariantCodeMotionPass();
  registerSCCPPass();
  registerSymbolDCEPass();

  // The others of our pipelines, which a reproducer names.
  registerArithToLLVMConversionPass();
  registerConvertControlFlowToLLVMPass();
  registerConvertFuncToLLVMPass();
  registerConvertMathToLLVMPass();
  registerConvertMathToLibmPass();
  registerConvertVectorToLLVMPass();
  registerFinalizeMemRefToLLVMConversionPass();
  registerReconcileUnrealizedCastsPass();
  registerSCFToControlFlowPass();
  registerUBToLLVMConversionPass();
}

int main(int argc, char **argv) {
  llvm::InitLLVM init(argc, argv);
  DialectRegistry registry;
  registry.insert<flashtile::tile::TileDialect,
                  flashtile::tilegpu::TileGPUDialect, arith::ArithDialect,
                  cf::ControlFlowDialect, func::FuncDialect, LLVM::LLVMDialect,
                  math::MathDialect, memref::MemRefDialect, NVVM::NVVMDialect,
                  scf::SCFDialect, ub::UBDialect, vector::VectorDialect>();
  registerPasses();

  llvm::cl::opt<bool> remarks(
      "remarks", llvm::cl::desc("Print what passes did and why they did not"));
  auto [inputName, outputName] = registerAndParseCLIOptions(
      argc, argv, "FlashTile optimizer driver\n", registry);
  OptConfig config(MlirOptMainConfig::createFromCLOptions());
  if (remarks)
    config.printRemarks();

  if (config.shouldShowDialects()) {
    llvm::interleave(registry.getDialectNames(), llvm::outs(), "\n");
    return EXIT_SUCCESS;
  }
  if (config.shouldListPasses()) {
    printRegisteredPasses();
    return EXIT_SUCCESS;
  }

  std::string error;
  std::unique_ptr<llvm::MemoryBuffer> input = openInputFile(inputName, &error);
  if (!input) {
    llvm::errs() << error << "\n";
    return EXIT_FAILURE;
  }
  std::unique_ptr<llvm::ToolOutputFile> output =
      openOutputFile(outputName, &error);
  if (!output) {
    llvm::errs() << error << "\n";
    return EXIT_FAILURE;
  }
  if (failed(MlirOptMain(output->os(), std::move(input), registry, config)))
    return EXIT_FAILURE;
  output->keep();
  return EXIT_SUCCESS;
}
