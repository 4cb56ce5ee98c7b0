//===- FunctionPasses.h - LLVM passes over every function -----------------===//
//
// Part of FlashTile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef FLASHTILE_COMPILER_TARGET_FUNCTIONPASSES_H
#define FLASHTILE_COMPILER_TARGET_FUNCTIONPASSES_H

#include "llvm/IR/Module.h"
#include "llvm/Passes/PassBuilder.h"
#include "llvm/Target/TargetMachine.h"

#include <utility>

namespace flashtile {

/// Runs `pipeline` over the functions of `module`, with the analyses and the
/// cost model of `machine`.
inline void runFunctionPasses(llvm::Module &module,
                              llvm::TargetMachine &machine,
                              llvm::FunctionPassManager pipeline) {
  llvm::PassBuilder builder(&machine);
  llvm::LoopAnalysisManager loops;
  llvm::FunctionAnalysisManager functions;
  llvm::CGSCCAnalysisManager components;
  llvm::ModuleAnalysisManager modules;
  builder.registerModuleAnalyses(modules);
  builder.registerCGSCCAnalyses(components);
  builder.registerFunctionAnalyses(functions);
  builder.registerLoopAnalyses(loops);
  builder.crossRegisterProxies(loops, functions, components, modules);
  llvm::ModulePassManager whole;
  whole.addPass(llvm::createModuleToFunctionPassAdaptor(std::move(pipeline)));
  whole.run(module, modules);
}

} // namespace flashtile

#endif // FLASHTILE_COMPILER_TARGET_FUNCTIONPASSES_H
