//===- CodeGen.cpp - LLVM dialect to LLVM IR, objects and code ------------===//
//
// Part of FlashTile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The optimisation pipeline is short on purpose: the emitter already chose
// vectors, blocks and loops, so that sharing, hoisting and simplification
// remain. It costs a fraction of -O1 and the code is as fast.
//
//===----------------------------------------------------------------------===//

#include "compiler/Target/CPU/CodeGen.h"

#include "compiler/Target/CPU/KnownMasks.h"
#include "compiler/Target/FunctionPasses.h"

#include "mlir/Target/LLVMIR/Dialect/Builtin/BuiltinToLLVMIRTranslation.h"
#include "mlir/Target/LLVMIR/Dialect/LLVMIR/LLVMToLLVMIRTranslation.h"
#include "mlir/Target/LLVMIR/Export.h"
#include "llvm/Analysis/TargetTransformInfo.h"
#include "llvm/IR/LegacyPassManager.h"
#include "llvm/Support/SmallVectorMemoryBuffer.h"
#include "llvm/Transforms/InstCombine/InstCombine.h"
#include "llvm/Transforms/Scalar/EarlyCSE.h"
#include "llvm/Transforms/Scalar/GVN.h"
#include "llvm/Transforms/Scalar/IndVarSimplify.h"
#include "llvm/Transforms/Scalar/LICM.h"
#include "llvm/Transforms/Scalar/LoopPassManager.h"
#include "llvm/Transforms/Scalar/LoopRotation.h"
#include "llvm/Transforms/Scalar/SROA.h"
#include "llvm/Transforms/Scalar/SimplifyCFG.h"

using namespace llvm;

namespace flashtile::cpu {

void registerLLVMTranslations(mlir::DialectRegistry &registry) {
  mlir::registerBuiltinDialectTranslation(registry);
  mlir::registerLLVMDialectTranslation(registry);
}

std::unique_ptr<Module> translate(mlir::ModuleOp module, LLVMContext &context,
                                  const CpuTarget &target,
                                  TargetMachine &machine) {
  std::unique_ptr<Module> result =
      mlir::translateModuleToLLVMIR(module, context, "flashtile");
  if (!result)
    return nullptr;
  result->setTargetTriple(machine.getTargetTriple());
  result->setDataLayout(machine.createDataLayout());
  for (Function &function : *result) {
    if (function.isDeclaration())
      continue;
    function.addFnAttr("target-cpu", target.cpu);
    if (!target.features.empty())
      function.addFnAttr("target-features", target.features);
    // The vectors are as long as the emitter chose.
    if (target.vectors.lanes == 16)
      function.addFnAttr("prefer-vector-width", "512");
  }
  return result;
}

void optimize(Module &module, TargetMachine &machine) {
  FunctionPassManager pipeline;
  pipeline.addPass(SimplifyCFGPass());
  pipeline.addPass(EarlyCSEPass());
  pipeline.addPass(InstCombinePass());
  LoopPassManager loopPasses;
  loopPasses.addPass(LoopRotatePass());
  loopPasses.addPass(LICMPass(LICMOptions()));
  pipeline.addPass(
      createFunctionToLoopPassAdaptor(std::move(loopPasses), true));
  pipeline.addPass(EarlyCSEPass(/*UseMemorySSA=*/true));
  pipeline.addPass(InstCombinePass());
  pipeline.addPass(SimplifyCFGPass());
  pipeline.addPass(KnownMasksPass());
  runFunctionPasses(module, machine, std::move(pipeline));
}

static Error emit(Module &module, TargetMachine &machine, CodeGenFileType type,
                  SmallVectorImpl<char> &bytes) {
  raw_svector_ostream stream(bytes);
  legacy::PassManager passes;
  if (machine.addPassesToEmitFile(passes, stream, nullptr, type))
    return createStringError("the host's target cannot emit this file type");
  passes.run(module);
  return Error::success();
}

Expected<std::unique_ptr<MemoryBuffer>> emitObject(Module &module,
                                                   TargetMachine &machine) {
  SmallVector<char, 0> bytes;
  if (Error error = emit(module, machine, CodeGenFileType::ObjectFile, bytes))
    return std::move(error);
  return std::make_unique<SmallVectorMemoryBuffer>(
      std::move(bytes), /*RequiresNullTerminator=*/false);
}

Expected<std::string> emitAssembly(Module &module, TargetMachine &machine) {
  SmallVector<char, 0> bytes;
  if (Error error = emit(module, machine, CodeGenFileType::AssemblyFile, bytes))
    return std::move(error);
  return std::string(bytes.begin(), bytes.end());
}

} // namespace flashtile::cpu
