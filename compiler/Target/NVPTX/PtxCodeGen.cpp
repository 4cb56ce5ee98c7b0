//===- PtxCodeGen.cpp - LLVM dialect to PTX -------------------------------===//
//
// Part of FlashTile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// llc on what the emitter made, after the scalar clean-up that LLVM does best:
// measured, no further pass of opt changes what ptxas makes of it. Some of
// llc's own passes are left out, since they take long and ptxas has their job.
//
//===----------------------------------------------------------------------===//

#include "compiler/Target/NVPTX/PtxCodeGen.h"

#include "compiler/Target/FunctionPasses.h"

#include "mlir/Target/LLVMIR/Dialect/Builtin/BuiltinToLLVMIRTranslation.h"
#include "mlir/Target/LLVMIR/Dialect/LLVMIR/LLVMToLLVMIRTranslation.h"
#include "mlir/Target/LLVMIR/Dialect/NVVM/NVVMToLLVMIRTranslation.h"
#include "mlir/Target/LLVMIR/Export.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/IR/Instructions.h"
#include "llvm/IR/LLVMContext.h"
#include "llvm/IR/LegacyPassManager.h"
#include "llvm/IR/Module.h"
#include "llvm/InitializePasses.h"
#include "llvm/MC/TargetRegistry.h"
#include "llvm/Pass.h"
#include "llvm/PassInfo.h"
#include "llvm/PassRegistry.h"
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
    // What LeanPasses knows by name.
    initializeScalarOpts(*PassRegistry::getPassRegistry());
  });
  Triple triple("nvptx64-nvidia-cuda");
  std::string error;
  const Target *target = TargetRegistry::lookupTarget(triple, error);
  if (!target)
    return createStringError(error);
  // The higher level takes GVN where the lower one has early CSE: without it
  // the kernels of mma.sync spill.
  const CodeGenOptLevel level = processor == "sm_80"
                                    ? CodeGenOptLevel::Aggressive
                                    : CodeGenOptLevel::Default;
  // PTX 8.0 is what the drivers of CUDA 12 and later read; for sm_90a 8.1,
  // those of 12.1, which has additions of vectors.
  const char *version = processor == "sm_90a" ? "+ptx81" : "+ptx80";
  return std::unique_ptr<TargetMachine>(
      target->createTargetMachine(triple, processor, version, TargetOptions(),
                                  std::nullopt, std::nullopt, level));
}

namespace {
/// Hands on all passes of llc but those whose time is not worth what they do.
class LeanPasses : public legacy::PassManagerBase {
public:
  LeanPasses(legacy::PassManagerBase &passes, StringRef processor)
      : passes(passes), isHopper(processor == "sm_90a") {}

  void add(Pass *pass) override {
    const PassInfo *info =
        PassRegistry::getPassRegistry()->getPassInfo(pass->getPassID());
    if (info && isLeftOut(info->getPassArgument()))
      delete pass;
    else
      passes.add(pass);
  }

private:
  bool isLeftOut(StringRef name) const {
    // Straight-line strength reduction asks about every pair of a block: up to
    // nine tenths of llc's time for a product of matrices.
    if (is_contained({"slsr", "nary-reassociate"}, name))
      return true;
    // Addresses of shared memory are few where wgmma reads it, so that reduced
    // ones take more instructions: 70 rather than 79 in a product's loop.
    return isHopper && is_contained({"canon-freeze", "loop-reduce"}, name);
  }

  legacy::PassManagerBase &passes;
  bool isHopper;
};
} // namespace

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
  LeanPasses lean(passes, target);
  // MLIR has verified the translated module.
  if ((*machine)->addPassesToEmitFile(lean, code, nullptr,
                                      CodeGenFileType::AssemblyFile,
                                      /*DisableVerify=*/true))
    return createStringError("the NVPTX target cannot emit PTX");
  passes.run(*llvmModule);
  return std::string(bytes.begin(), bytes.end());
}

} // namespace flashtile::gpu
