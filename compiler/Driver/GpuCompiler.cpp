//===- GpuCompiler.cpp - From kernels as text to PTX ----------------------===//
//
// Part of FlashTile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The stages of the gpu targets that need no GPU: tile passes, layouts, the
// code of a thread, LLVM IR, PTX.
//
//===----------------------------------------------------------------------===//

#include "compiler/Driver/GpuCompiler.h"

#include "compiler/Driver/GpuEntries.h"
#include "compiler/Driver/Session.h"
#include "compiler/Pipeline/TilePipeline.h"
#include "compiler/Schedule/Passes.h"
#include "compiler/Schedule/PersistentPrograms.h"
#include "compiler/Target/NVPTX/GpuPipeline.h"
#include "compiler/Target/NVPTX/PtxCodeGen.h"
#include "dialects/Tile/IR/TileDialect.h"
#include "dialects/TileGPU/IR/LaunchAttributes.h"

using namespace mlir;

namespace flashtile {

/// What is wrong with the options, or nothing.
static std::string checkOptions(const CompilerOptions &options) {
  if (options.target != "sm_80" && options.target != "sm_90a")
    return "unknown target '" + options.target +
           "'; expected 'cpu', 'sm_80' or 'sm_90a'";
  if (options.numWarps < 1 || options.numWarps > 16)
    return "expected 1 to 16 warps, but got " +
           std::to_string(options.numWarps);
  if (options.numStages < 1 || options.numStages > 8)
    return "expected 1 to 8 stages, but got " +
           std::to_string(options.numStages);
  if (!gpu::parsePersistence(options.persistent))
    return "expected 'persistent' to be auto, off, static or dynamic, but got "
           "'" +
           options.persistent + "'";
  if (options.programsAtOnce < 0 || options.programsAtOnce > 3)
    return "expected 0 to 3 programs at once, but got " +
           std::to_string(options.programsAtOnce);
  return {};
}

namespace {
/// A module on its way to PTX.
struct GpuCompilation {
  GpuCompilation(std::string_view fileName, const CompilerOptions &options,
                 CompileReport &report)
      : fileName(fileName), options(options),
        session(fileName, options, report) {}

  /// Parses and lowers to the LLVM and NVVM dialects. The error, or nothing.
  std::string lower(std::string_view text);
  /// LLVM IR or PTX text; sets `error` where there is none.
  std::string emit(bool llvmIROnly, std::string &error);

  std::string fileName;
  const CompilerOptions &options;
  Session session;
  OwningOpRef<ModuleOp> module;
  std::vector<ArtifactKernel> kernels;
  bool internal = false;

private:
  std::string failedStage(StringRef stage) {
    std::string errors = session.takeErrors();
    internal = errors.empty();
    return internal ? "stage '" + stage.str() + "' failed without a diagnostic"
                    : errors;
  }
};
} // namespace

std::string GpuCompilation::lower(std::string_view text) {
  if (std::string error = checkOptions(options); !error.empty())
    return error;
  module = session.parse(text);
  if (!module)
    return failedStage("parse");
  for (tile::KernelOp kernel : module->getOps<tile::KernelOp>())
    kernels.emplace_back().info = describeKernel(kernel);
  if (kernels.empty())
    return "'" + fileName + "': expected at least one 'tile.kernel'";
  if (failed(session.run(*module, "tile-optimize", [&](OpPassManager &pm) {
        // Loops are split for all programs of a block.
        if (options.target == "sm_90a" && !options.plain) {
          gpu::PairProgramsPassOptions together;
          together.numWarps = options.numWarps;
          together.programs = options.programsAtOnce;
          pm.addNestedPass<tile::KernelOp>(
              gpu::createPairProgramsPass(together));
        }
        buildTilePipeline(pm, TilePipelineOptions());
      })))
    return failedStage("tile-optimize");
  gpu::GpuPipelineOptions pipeline;
  pipeline.target = options.target;
  pipeline.functions = options.plain ? "plain" : "fast";
  pipeline.numWarps = options.numWarps;
  pipeline.numStages = options.numStages;
  pipeline.persistent = options.persistent;
  if (failed(session.run(*module, "tile-to-nvvm", [&](OpPassManager &pm) {
        gpu::buildGpuPipeline(pm, pipeline);
      })))
    return failedStage("tile-to-nvvm");
  if (options.plain)
    llvm::erase_if(kernels, [&](const ArtifactKernel &kernel) {
      return !module->lookupSymbol(kernel.info.name + tilegpu::kPlainSuffix);
    });
  if (kernels.empty())
    return "'" + fileName +
           "': there are no plain functions: the kernels' own take any "
           "arguments";
  for (ArtifactKernel &kernel : kernels) {
    constexpr int64_t kLanes = 32;
    std::string error =
        describeEntries(*module, kLanes * options.numWarps, kernel);
    if (!error.empty()) {
      internal = true;
      return error;
    }
  }
  return {};
}

std::string GpuCompilation::emit(bool llvmIROnly, std::string &error) {
  std::string text;
  session.time(llvmIROnly ? "llvm-ir" : "ptx", [&] {
    llvm::Expected<std::string> code =
        gpu::emitPtx(*module, options.target, llvmIROnly);
    if (code)
      text = std::move(*code);
    else
      error = llvm::toString(code.takeError());
  });
  internal |= !error.empty();
  if (error.empty())
    session.dump("codegen", llvmIROnly ? "ll" : "ptx",
                 [&](llvm::raw_ostream &stream) { stream << text; });
  return text;
}

ArtifactResult compileToPtx(std::string_view text, std::string_view fileName,
                            const CompilerOptions &options) {
  ArtifactResult result;
  GpuCompilation compilation(fileName, options, result.report);
  result.error = compilation.lower(text);
  std::string code;
  if (result.error.empty())
    code = compilation.emit(/*llvmIROnly=*/false, result.error);
  if (!result.error.empty()) {
    result.internal = compilation.internal;
    return result;
  }
  KernelArtifact &artifact = result.artifact.emplace();
  artifact.target = options.target;
  artifact.format = CodeFormat::Ptx;
  artifact.code = std::move(code);
  artifact.kernels = std::move(compilation.kernels);
  if (!artifact.isValid()) {
    result.artifact.reset();
    result.error = "the code for '" + options.target +
                   "' cannot be launched: its tensor maps or sizes are beyond "
                   "what artifacts hold";
    result.internal = true;
    return result;
  }
  artifact.remarks = std::move(result.report.remarks);
  artifact.warnings = std::move(result.report.warnings);
  return result;
}

TranslateResult translateForGpu(std::string_view text,
                                std::string_view fileName,
                                const CompilerOptions &options,
                                OutputKind kind) {
  TranslateResult result;
  GpuCompilation compilation(fileName, options, result.report);
  result.error = compilation.lower(text);
  if (!result.error.empty())
    return result;
  result.kernels = compilation.kernels;
  if (kind == OutputKind::LLVMDialect) {
    llvm::raw_string_ostream stream(result.output);
    compilation.module->print(stream);
    return result;
  }
  result.output = compilation.emit(
      /*llvmIROnly=*/kind == OutputKind::LLVMIR, result.error);
  return result;
}

} // namespace flashtile
