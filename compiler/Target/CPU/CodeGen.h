//===- CodeGen.h - LLVM dialect to LLVM IR and objects --------------------===//
//
// Part of FlashTile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The last steps of the cpu target: translation, optimisation, object code.
//
//===----------------------------------------------------------------------===//

#ifndef FLASHTILE_COMPILER_TARGET_CPU_CODEGEN_H
#define FLASHTILE_COMPILER_TARGET_CPU_CODEGEN_H

#include "compiler/Target/CPU/HostTarget.h"

#include "mlir/IR/BuiltinOps.h"
#include "llvm/IR/LLVMContext.h"
#include "llvm/IR/Module.h"
#include "llvm/Support/MemoryBuffer.h"

namespace flashtile::cpu {

/// Registers what translation to LLVM IR needs.
void registerLLVMTranslations(mlir::DialectRegistry &registry);

/// Translates a module of the LLVM dialect for `target`. Null after a
/// diagnostic.
std::unique_ptr<llvm::Module> translate(mlir::ModuleOp module,
                                        llvm::LLVMContext &context,
                                        const CpuTarget &target,
                                        llvm::TargetMachine &machine);

/// Scalar optimisations that kernels profit from; vectors and loops are as the
/// emitter made them.
void optimize(llvm::Module &module, llvm::TargetMachine &machine);

/// Object code of the module.
llvm::Expected<std::unique_ptr<llvm::MemoryBuffer>>
emitObject(llvm::Module &module, llvm::TargetMachine &machine);

/// Assembly text of the module.
llvm::Expected<std::string> emitAssembly(llvm::Module &module,
                                         llvm::TargetMachine &machine);

} // namespace flashtile::cpu

#endif // FLASHTILE_COMPILER_TARGET_CPU_CODEGEN_H
