//===- PtxCodeGen.h - LLVM dialect to PTX ---------------------------------===//
//
// Part of FlashTile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The last steps of the gpu targets that need no GPU.
//
//===----------------------------------------------------------------------===//

#ifndef FLASHTILE_COMPILER_TARGET_NVPTX_PTXCODEGEN_H
#define FLASHTILE_COMPILER_TARGET_NVPTX_PTXCODEGEN_H

#include "mlir/IR/BuiltinOps.h"
#include "llvm/Support/Error.h"

#include <string>

namespace flashtile::gpu {

/// Registers what translation to LLVM IR needs.
void registerNVVMTranslations(mlir::DialectRegistry &registry);

/// What a symbol is called in PTX, which allows letters, digits, _ and $: each
/// other byte is $ and two hexadecimal digits.
std::string ptxName(llvm::StringRef symbol);

/// LLVM IR or PTX text for "sm_80" or "sm_90a" of a module of the LLVM and NVVM
/// dialects. A symbol that the module does not define is an error.
llvm::Expected<std::string> emitPtx(mlir::ModuleOp module,
                                    llvm::StringRef target, bool llvmIROnly);

} // namespace flashtile::gpu

#endif // FLASHTILE_COMPILER_TARGET_NVPTX_PTXCODEGEN_H
