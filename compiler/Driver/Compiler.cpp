//===- Compiler.cpp - From kernels as text to code that runs --------- ===//
//
// Part of FlashTile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Drives the stages: tile passes, conversion, LLVM dialect, LLVM IR, object,
// loading.
//
//===----------------------------------------------------------------------===//

#include "compiler/Driver/Compiler.h"

#include "compiler/Conversion/TileToCPU/Passes.h"
#include "compiler/Driver/GpuCompiler.h"
#include "compiler/Driver/LoadedCode.h"
#include "compiler/Driver/Session.h"
#include "compiler/Pipeline/TilePipeline.h"
#include "compiler/Target/CPU/CodeGen.h"
#include "compiler/Target/CPU/CpuPipeline.h"
#include "dialects/Tile/IR/TileDialect.h"

#include "mlir/Dialect/LLVMIR/LLVMDialect.h"

using namespace mlir;

namespace flashtile {

CompiledModule::~CompiledModule() = default;

namespace {
class LoadedModule : public CompiledModule {
public:
  std::unique_ptr<LoadedCode> code;
};

/// A module on its way, with everything that has to outlive the stages.
struct CpuCompilation {
  CpuCompilation(std::string_view fileName, const CompilerOptions &options,
                 CompileReport &report)
      : session(fileName, options, report) {}

  /// Parses and lowers to the LLVM dialect. The error, or nothing.
  std::string lower(std::string_view text, const CompilerOptions &options);
  /// Fills in what is known of a kernel's code after lower().
  void describeCode(ArtifactKernel &kernel);
  /// Translates to optimised LLVM IR. The error, or nothing.
  std::string translate();

  Session session;
  cpu::CpuTarget target;
  std::unique_ptr<llvm::TargetMachine> machine;
  OwningOpRef<ModuleOp> module;
  std::vector<ArtifactKernel> kernels;
  llvm::LLVMContext llvmContext;
  std::unique_ptr<llvm::Module> llvmModule;
  bool internal = false;
};
} // namespace

std::string CpuCompilation::lower(std::string_view text,
                                  const CompilerOptions &options) {
  if (options.target != "cpu")
    return "unknown target '" + options.target + "'; expected 'cpu'";
  auto named = cpu::targetByName(options.cpu);
  if (!named)
    return llvm::toString(named.takeError());
  target = *named;
  auto made = cpu::createTargetMachine(target);
  if (!made)
    return llvm::toString(made.takeError());
  machine = std::move(*made);

  module = session.parse(text);
  if (!module)
    return session.takeErrors();
  for (tile::KernelOp kernel : module->getOps<tile::KernelOp>())
    kernels.emplace_back().info = describeKernel(kernel);
  if (kernels.empty())
    return "expected at least one 'tile.kernel' in the module";

  // From here on a failure without a diagnostic is the compiler's own.
  auto failedStage = [&](StringRef stage) {
    std::string errors = session.takeErrors();
    internal = errors.empty();
    return internal ? "stage '" + stage.str() + "' failed without a diagnostic"
                    : errors;
  };
  if (failed(session.run(*module, "tile-optimize", [](OpPassManager &pm) {
        buildTilePipeline(pm, TilePipelineOptions());
      })))
    return failedStage("tile-optimize");
  cpu::CpuPipelineOptions pipeline;
  pipeline.lanes = target.vectors.lanes;
  pipeline.registers = target.vectors.registers;
  if (failed(session.run(*module, "tile-to-cpu", [&](OpPassManager &pm) {
        cpu::buildCpuPipeline(pm, pipeline);
      })))
    return failedStage("tile-to-cpu");
  for (ArtifactKernel &kernel : kernels)
    describeCode(kernel);
  return {};
}

void CpuCompilation::describeCode(ArtifactKernel &kernel) {
  if (Operation *entry =
          module->lookupSymbol(cpu::entrySymbol(kernel.info.name)))
    if (auto bytes = entry->getAttrOfType<IntegerAttr>(cpu::kArenaBytesAttr))
      kernel.arenaBytes = bytes.getInt();
  Operation *body = module->lookupSymbol(kernel.info.name + ".body");
  StringAttr fail = StringAttr::get(module->getContext(), "flashtile_rt_fail");
  kernel.canFail = !body || !SymbolTable::symbolKnownUseEmpty(fail, body);
}

std::string CpuCompilation::translate() {
  session.time("llvm-ir", [&] {
    llvmModule = cpu::translate(*module, llvmContext, target, *machine);
  });
  if (!llvmModule) {
    internal = true;
    return session.takeErrors();
  }
  session.time("optimize", [&] { cpu::optimize(*llvmModule, *machine); });
  session.dump("optimize", "ll", [&](llvm::raw_ostream &stream) {
    llvmModule->print(stream, nullptr);
  });
  return {};
}

ArtifactResult compileToArtifact(std::string_view text,
                                 std::string_view fileName,
                                 const CompilerOptions &options) {
  if (options.target != "cpu")
    return compileToPtx(text, fileName, options);
  ArtifactResult result;
  CompileReport &report = result.report;
  CpuCompilation compilation(fileName, options, report);
  result.error = compilation.lower(text, options);
  if (result.error.empty())
    result.error = compilation.translate();
  if (!result.error.empty()) {
    result.internal = compilation.internal;
    return result;
  }
  llvm::Expected<std::unique_ptr<llvm::MemoryBuffer>> object =
      std::unique_ptr<llvm::MemoryBuffer>();
  compilation.session.time("codegen", [&] {
    object = cpu::emitObject(*compilation.llvmModule, *compilation.machine);
  });
  if (!object) {
    result.error = llvm::toString(object.takeError());
    result.internal = true;
    return result;
  }
  compilation.session.dump("codegen", "o", [&](llvm::raw_ostream &stream) {
    stream << (*object)->getBuffer();
  });
  KernelArtifact &artifact = result.artifact.emplace();
  artifact.target = options.target;
  artifact.format = CodeFormat::Object;
  artifact.code = (*object)->getBuffer().str();
  artifact.kernels = std::move(compilation.kernels);
  artifact.remarks = std::move(report.remarks);
  artifact.warnings = std::move(report.warnings);
  return result;
}

/// Links the code of `artifact` and finds its kernels in it.
static llvm::Error link(KernelArtifact &artifact, const CpuCallbacks &callbacks,
                        LoadedModule &module) {
  if (artifact.target != "cpu" || artifact.format != CodeFormat::Object)
    return llvm::createStringError("expected object code for 'cpu', but got "
                                   "code for '" +
                                   artifact.target + "'");
  auto address = [](auto *function) {
    return reinterpret_cast<void *>(function);
  };
  auto code = LoadedCode::load(
      artifact.code,
      {{"flashtile_rt_fail", address(callbacks.fail)},
       {"flashtile_rt_print_begin", address(callbacks.printBegin)},
       {"flashtile_rt_print_f64", address(callbacks.printFloat)},
       {"flashtile_rt_print_i64", address(callbacks.printInteger)},
       {"flashtile_rt_print_end", address(callbacks.printEnd)}});
  if (!code)
    return code.takeError();
  module.code = std::move(*code);
  std::vector<std::string> names;
  for (const ArtifactKernel &kernel : artifact.kernels)
    names.push_back(cpu::entrySymbol(kernel.info.name));
  auto entries = module.code->lookup(llvm::to_vector_of<StringRef>(names));
  if (!entries)
    return entries.takeError();
  for (auto [kernel, entry] : llvm::zip_equal(artifact.kernels, *entries))
    module.kernels.push_back(
        {std::move(kernel), reinterpret_cast<CpuEntry>(entry)});
  return llvm::Error::success();
}

CompileResult loadArtifact(KernelArtifact artifact,
                           const CpuCallbacks &callbacks,
                           CompileReport report) {
  auto result = std::make_unique<LoadedModule>();
  auto begin = std::chrono::steady_clock::now();
  if (llvm::Error failure = link(artifact, callbacks, *result))
    return {nullptr, llvm::toString(std::move(failure)), true};
  std::chrono::duration<double, std::milli> elapsed =
      std::chrono::steady_clock::now() - begin;
  report.stages.push_back({"load", elapsed.count()});
  report.codeBytes = artifact.code.size();
  report.remarks = std::move(artifact.remarks);
  report.warnings = std::move(artifact.warnings);
  result->report = std::move(report);
  return {std::move(result), {}, false};
}

CompileResult compileForCpu(std::string_view text, std::string_view fileName,
                            const CompilerOptions &options,
                            const CpuCallbacks &callbacks) {
  ArtifactResult compiled = compileToArtifact(text, fileName, options);
  if (!compiled.artifact)
    return {nullptr, std::move(compiled.error), compiled.internal};
  return loadArtifact(std::move(*compiled.artifact), callbacks,
                      std::move(compiled.report));
}

TranslateResult translateForCpu(std::string_view text,
                                std::string_view fileName,
                                const CompilerOptions &options,
                                OutputKind kind) {
  TranslateResult result;
  CpuCompilation compilation(fileName, options, result.report);
  result.error = compilation.lower(text, options);
  if (!result.error.empty())
    return result;
  result.kernels = compilation.kernels;
  llvm::raw_string_ostream stream(result.output);
  if (kind == OutputKind::LLVMDialect) {
    compilation.module->print(stream);
    return result;
  }
  result.error = compilation.translate();
  if (!result.error.empty())
    return result;
  if (kind == OutputKind::LLVMIR) {
    compilation.llvmModule->print(stream, nullptr);
  } else if (kind == OutputKind::Assembly) {
    auto assembly =
        cpu::emitAssembly(*compilation.llvmModule, *compilation.machine);
    if (assembly)
      stream << *assembly;
    else
      result.error = llvm::toString(assembly.takeError());
  } else {
    auto object =
        cpu::emitObject(*compilation.llvmModule, *compilation.machine);
    if (object)
      stream << (*object)->getBuffer();
    else
      result.error = llvm::toString(object.takeError());
  }
  return result;
}

InspectResult inspectKernels(std::string_view text, std::string_view fileName) {
  CompileReport report;
  CompilerOptions options;
  Session session(fileName, options, report);
  InspectResult result;
  OwningOpRef<ModuleOp> module = session.parse(text);
  if (!module) {
    result.error = session.takeErrors();
    return result;
  }
  for (tile::KernelOp kernel : module->getOps<tile::KernelOp>())
    result.kernels.push_back(describeKernel(kernel));
  return result;
}

} // namespace flashtile
