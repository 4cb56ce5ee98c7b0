//===- FrontendInternal.h - MLIR inside a KernelModule --------------------===//
//
// Part of FlashTile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// For the compiler driver: reaches the MLIR module that a KernelModule owns.
//
//===----------------------------------------------------------------------===//

#ifndef FLASHTILE_COMPILER_FRONTEND_FRONTENDINTERNAL_H
#define FLASHTILE_COMPILER_FRONTEND_FRONTENDINTERNAL_H

#include "compiler/Frontend/KernelBuilder.h"

#include "mlir/IR/BuiltinOps.h"

namespace flashtile::dsl {

/// The module, owned by `module` and its copies; its context has tile, arith,
/// math and scf loaded and no thread pool. Clone it before running passes on
/// it: copies of `module` see every change.
mlir::ModuleOp getModuleOp(const KernelModule &module);

} // namespace flashtile::dsl

#endif // FLASHTILE_COMPILER_FRONTEND_FRONTENDINTERNAL_H
