//===- Passes.h - Conversion of tile kernels for the CPU ------------------===//
//
// Part of FlashTile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef FLASHTILE_COMPILER_CONVERSION_TILETOCPU_PASSES_H
#define FLASHTILE_COMPILER_CONVERSION_TILETOCPU_PASSES_H

#include "mlir/IR/BuiltinOps.h"
#include "mlir/Pass/Pass.h"

namespace flashtile::cpu {

/// Function attribute: bytes of scratch memory that a program needs.
inline constexpr char kArenaBytesAttr[] = "tile.cpu.arena_bytes";

/// Symbol of the function that runs a kernel. Not the kernel's own name: a
/// kernel may be called `exp`, and its code may call the C library's.
inline std::string entrySymbol(llvm::StringRef kernel) {
  return ("flashtile_kernel_" + kernel).str();
}

#define GEN_PASS_DECL
#define GEN_PASS_REGISTRATION
#include "compiler/Conversion/TileToCPU/Passes.h.inc"

} // namespace flashtile::cpu

#endif // FLASHTILE_COMPILER_CONVERSION_TILETOCPU_PASSES_H
