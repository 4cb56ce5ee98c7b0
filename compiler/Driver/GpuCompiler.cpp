//===- GpuCompiler.cpp - From kernels as text to PTX ----------------------===//
//
// Part of FlashTile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The stages of the gpu targets that need no GPU: tile passes, layouts, the
// code of a thread, LLVM IR, PTX.
//
//===----------------------------------------------------------------------===//

#include "compiler/Driver/Compiler.h"
#include "compiler/Driver/Session.h"
#include "compiler/Pipeline/TilePipeline.h"
#include "compiler/Target/NVPTX/GpuPipeline.h"
#include "compiler/Target/NVPTX/PtxCodeGen.h"
#include "dialects/Tile/IR/TileDialect.h"

using namespace mlir;

namespace flashtile {

/// What is wrong with the options, or nothing.
static std::string checkOptions(const CompilerOptions &options) {
  if (options.target != "sm_80" && options.target != "sm_90a")
    return "unknown target '" + options.target +
           "'; expected 'cpu', 'sm_80' or 'sm_90a'";
  if (options.numWarps < 1 || options.numWarps > 8)
    return "expected 1 to 8 warps, but got " + std::to_string(options.numWarps);
  return {};
}

TranslateResult translateForGpu(std::string_view text,
                                std::string_view fileName,
                                const CompilerOptions &options,
                                OutputKind kind) {
  TranslateResult result;
  result.error = checkOptions(options);
  if (!result.error.empty())
    return result;
  CompileReport report;
  Session session(fileName, options, report);
  OwningOpRef<ModuleOp> module = session.parse(text);
  auto failed = [&](StringRef stage) {
    result.error = session.takeErrors();
    if (result.error.empty())
      result.error = "stage '" + stage.str() + "' failed without a diagnostic";
    return result;
  };
  if (!module)
    return failed("parse");
  if (module->getOps<tile::KernelOp>().empty()) {
    result.error =
        "'" + std::string(fileName) + "': expected at least one 'tile.kernel'";
    return result;
  }
  if (mlir::failed(session.run(*module, "tile-optimize", [](OpPassManager &pm) {
        buildTilePipeline(pm, TilePipelineOptions());
      })))
    return failed("tile-optimize");
  gpu::GpuPipelineOptions pipeline;
  pipeline.target = options.target;
  pipeline.numWarps = options.numWarps;
  if (mlir::failed(session.run(*module, "tile-to-nvvm", [&](OpPassManager &pm) {
        gpu::buildGpuPipeline(pm, pipeline);
      })))
    return failed("tile-to-nvvm");
  if (kind == OutputKind::LLVMDialect) {
    llvm::raw_string_ostream stream(result.output);
    module->print(stream);
    return result;
  }
  llvm::Expected<std::string> code = gpu::emitPtx(
      *module, options.target, /*llvmIROnly=*/kind == OutputKind::LLVMIR);
  if (!code)
    result.error = llvm::toString(code.takeError());
  else
    result.output = std::move(*code);
  return result;
}

} // namespace flashtile
