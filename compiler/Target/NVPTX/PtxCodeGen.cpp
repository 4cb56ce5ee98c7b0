//===- PtxCodeGen.cpp - LLVM dialect to PTX -------------------------------===//
//
// Part of FlashTile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// llc -O3 on what the emitter made, after the scalar clean-up that LLVM does
// best: measured, no further pass of opt changes what ptxas makes of it.
//
//===----------------------------------------------------------------------===//

#include "compiler/Target/NVPTX/PtxCodeGen.h"

#include "compiler/Target/FunctionPasses.h"

#include "mlir/Target/LLVMIR/Dialect/Builtin/BuiltinToLLVMIRTranslation.h"
#include "mlir/Target/LLVMIR/Dialect/LLVMIR/LLVMToLLVMIRTranslation.h"
#include "mlir/Target/LLVMIR/Dialect/NVVM/NVVMToLLVMIRTranslation.h"
#include "mlir/Target/LLVMIR/Export.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/IR/Instructions.h"
#include "llvm/IR/LLVMContext.h"
#include "llvm/IR/LegacyPassManager.h"
#include "llvm/IR/Module.h"
#include "llvm/MC/TargetRegistry.h"
#include "llvm/Support/TargetSelect.h"
#include "llvm/Target/TargetMachine.h"
#include "llvm/Transforms/InstCombine/InstCombine.h"
#include "llvm/Transforms/Scalar/EarlyCSE.h"
#include "llvm/Transforms/Scalar/SimplifyCFG.h"

#include <mutex>

using namespace llvm;

namespace flashtile::gpu {

void registerNVVMTranslations(mlir::DialectRegistry &registry) {
  mlir::registerBuiltinDialectTranslation(registry);
  mlir::registerLLVMDialectTranslation(registry);
  mlir::registerNVVMDialectTranslation(registry);
}

std::string ptxName(StringRef symbol) {
  std::string name;
  for (char c : symbol) {
    if (isAlnum(c) || c == '_')
      name += c;
    else
      name += "$" + toHex(StringRef(&c, 1));
  }
  return name.empty() || isDigit(name.front()) ? "$" + name : name;
}

static Expected<std::unique_ptr<TargetMachine>>
createMachine(StringRef processor) {
  static std::once_flag once;
  std::call_once(once, [] {
    LLVMInitializeNVPTXTarget();
    LLVMInitializeNVPTXTargetInfo();
    LLVMInitializeNVPTXTargetMC();
    LLVMInitializeNVPTXAsmPrinter();
  });
  Triple triple("nvptx64-nvidia-cuda");
  std::string error;
  const Target *target = TargetRegistry::lookupTarget(triple, error);
  if (!target)
    return createStringError(error);
  // PTX 8.0 is what the drivers of CUDA 12 and later read; for sm_90a 8.1,
  // those of 12.1, which has additions of vectors.
  const char *version = processor == "sm_90a" ? "+ptx81" : "+ptx80";
  return std::unique_ptr<TargetMachine>(target->createTargetMachine(
      triple, processor, version, TargetOptions(), std::nullopt, std::nullopt,
      CodeGenOptLevel::Aggressive));
}

/// Inline PTX may synchronise threads, so that it must stay in the control flow
/// where it stands; MLIR's operation cannot say so.
static void makeInlinePtxConvergent(Module &module) {
  for (Function &function : module)
    for (BasicBlock &block : function)
      for (Instruction &instruction : block)
        if (auto *call = dyn_cast<CallInst>(&instruction))
          if (call->isInlineAsm()) {
            call->setConvergent();
            call->setDoesNotThrow();
          }
}

static void simplify(Module &module, TargetMachine &machine) {
  FunctionPassManager pipeline;
  pipeline.addPass(SimplifyCFGPass());
  pipeline.addPass(EarlyCSEPass());
  pipeline.addPass(InstCombinePass());
  pipeline.addPass(SimplifyCFGPass());
  runFunctionPasses(module, machine, std::move(pipeline));
}

Expected<std::string> emitPtx(mlir::ModuleOp module, StringRef target,
                              bool llvmIROnly) {
  LLVMContext context;
  std::unique_ptr<Module> llvmModule =
      mlir::translateModuleToLLVMIR(module, context, "flashtile");
  if (!llvmModule)
    return createStringError("translation to LLVM IR failed");
  auto machine = createMachine(target);
  if (!machine)
    return machine.takeError();
  llvmModule->setTargetTriple((*machine)->getTargetTriple());
  llvmModule->setDataLayout((*machine)->createDataLayout());
  for (Function &function : *llvmModule)
    // The driver provides vprintf.
    if (function.isDeclaration() && !function.isIntrinsic() &&
        function.getName() != "vprintf")
      return createStringError("undefined symbol '" + function.getName() +
                               "' in the code for " + target);
  makeInlinePtxConvergent(*llvmModule);
  for (Function &function : *llvmModule)
    if (!function.isDeclaration())
      function.setName(ptxName(function.getName()));
  simplify(*llvmModule, **machine);
  std::string text;
  raw_string_ostream stream(text);
  if (llvmIROnly) {
    llvmModule->print(stream, nullptr);
    return text;
  }
  SmallVector<char, 0> bytes;
  raw_svector_ostream code(bytes);
  legacy::PassManager passes;
  if ((*machine)->addPassesToEmitFile(passes, code, nullptr,
                                      CodeGenFileType::AssemblyFile))
    return createStringError("the NVPTX target cannot emit PTX");
  passes.run(*llvmModule);
  return std::string(bytes.begin(), bytes.end());
}

} // namespace flashtile::gpu
