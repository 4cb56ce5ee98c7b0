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
#include "compiler/Driver/Session.h"
#include "compiler/Pipeline/TilePipeline.h"
#include "compiler/Target/CPU/CodeGen.h"
#include "compiler/Target/CPU/CpuPipeline.h"
#include "dialects/Tile/IR/TileDialect.h"

#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Config/llvm-config.h"
#include "llvm/Support/BLAKE3.h"

using namespace mlir;

namespace flashtile {

CompiledModule::~CompiledModule() = default;

double CompileReport::totalMilliseconds() const {
  double total = 0;
  for (const StageTime &stage : stages)
    total += stage.milliseconds;
  return total;
}

std::string CompilerOptions::hash() const {
  llvm::BLAKE3 hasher;
  // Each field with its length: no two lists of fields give one string.
  for (const std::string &field :
       {target,
        cpu == "host" ? cpu::hostTarget().cpu + cpu::hostTarget().features
                      : cpu,
        std::string(verifyEach ? "verify" : ""),
        std::string(LLVM_VERSION_STRING)})
    hasher.update(std::to_string(field.size()) + ":" + field);
  return llvm::toHex(hasher.final(), /*LowerCase=*/true);
}

namespace {
class LoadedModule : public CompiledModule {
public:
  std::unique_ptr<cpu::LoadedObject> object;
};

/// A module on its way, with everything that has to outlive the stages.
struct CpuCompilation {
  CpuCompilation(std::string_view fileName, const CompilerOptions &options,
                 CompileReport &report)
      : session(fileName, options, report) {}

  /// Parses and lowers to the LLVM dialect. The error, or nothing.
  std::string lower(std::string_view text, const CompilerOptions &options);
  /// Fills in what is known of a kernel's code after lower().
  void describeCode(CompiledKernel &kernel);
  /// Translates to optimised LLVM IR. The error, or nothing.
  std::string translate();

  Session session;
  cpu::CpuTarget target;
  std::unique_ptr<llvm::TargetMachine> machine;
  OwningOpRef<ModuleOp> module;
  std::vector<CompiledKernel> kernels;
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
    kernels.push_back({describeKernel(kernel)});
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
  for (CompiledKernel &kernel : kernels)
    describeCode(kernel);
  return {};
}

void CpuCompilation::describeCode(CompiledKernel &kernel) {
  if (Operation *entry = module->lookupSymbol(kernel.info.name))
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

CompileResult compileForCpu(std::string_view text, std::string_view fileName,
                            const CompilerOptions &options,
                            const CpuCallbacks &callbacks) {
  auto result = std::make_unique<LoadedModule>();
  CpuCompilation compilation(fileName, options, result->report);
  std::string error = compilation.lower(text, options);
  if (error.empty())
    error = compilation.translate();
  if (!error.empty())
    return {nullptr, error, compilation.internal};

  auto fail = [](llvm::Error failure) -> CompileResult {
    return {nullptr, llvm::toString(std::move(failure)), true};
  };
  llvm::Expected<std::unique_ptr<llvm::MemoryBuffer>> object =
      std::unique_ptr<llvm::MemoryBuffer>();
  compilation.session.time("codegen", [&] {
    object = cpu::emitObject(*compilation.llvmModule, *compilation.machine);
  });
  if (!object)
    return fail(object.takeError());
  result->report.codeBytes = (*object)->getBufferSize();
  compilation.session.dump("codegen", "o", [&](llvm::raw_ostream &stream) {
    stream << (*object)->getBuffer();
  });

  llvm::Error failure = llvm::Error::success();
  compilation.session.time("load", [&] {
    auto loaded = cpu::LoadedObject::load(
        std::move(*object),
        {{"flashtile_rt_fail", reinterpret_cast<void *>(callbacks.fail)},
         {"flashtile_rt_print_begin",
          reinterpret_cast<void *>(callbacks.printBegin)},
         {"flashtile_rt_print_f64",
          reinterpret_cast<void *>(callbacks.printFloat)},
         {"flashtile_rt_print_i64",
          reinterpret_cast<void *>(callbacks.printInteger)},
         {"flashtile_rt_print_end",
          reinterpret_cast<void *>(callbacks.printEnd)}});
    if (!loaded) {
      failure = llvm::joinErrors(std::move(failure), loaded.takeError());
      return;
    }
    result->object = std::move(*loaded);
    for (CompiledKernel &kernel : compilation.kernels) {
      auto address = result->object->lookup(kernel.info.name);
      if (!address) {
        failure = llvm::joinErrors(std::move(failure), address.takeError());
        return;
      }
      kernel.entry = reinterpret_cast<CpuEntry>(*address);
    }
  });
  if (failure)
    return fail(std::move(failure));
  result->kernels = std::move(compilation.kernels);
  return {std::move(result), {}, false};
}

TranslateResult translateForCpu(std::string_view text,
                                std::string_view fileName,
                                const CompilerOptions &options,
                                OutputKind kind) {
  CompileReport report;
  CpuCompilation compilation(fileName, options, report);
  TranslateResult result;
  result.error = compilation.lower(text, options);
  if (!result.error.empty())
    return result;
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
