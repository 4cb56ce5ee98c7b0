//===- Passes.h - Conversion of tilegpu kernels to threads ----------------===//
//
// Part of FlashTile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef FLASHTILE_COMPILER_CONVERSION_TILEGPUTOLLVM_PASSES_H
#define FLASHTILE_COMPILER_CONVERSION_TILEGPUTOLLVM_PASSES_H

#include "mlir/IR/BuiltinOps.h"
#include "mlir/Pass/Pass.h"

namespace flashtile::gpu {

/// Function attribute: bytes of dynamic shared memory.
inline constexpr char kSharedBytesAttr[] = "shared_bytes";
/// Function attribute: array of dictionaries {name, offset, bytes}, what the
/// shared memory is for.
inline constexpr char kSharedBuffersAttr[] = "shared_buffers";

#define GEN_PASS_DECL
#define GEN_PASS_REGISTRATION
#include "compiler/Conversion/TileGPUToLLVM/Passes.h.inc"

} // namespace flashtile::gpu

#endif // FLASHTILE_COMPILER_CONVERSION_TILEGPUTOLLVM_PASSES_H
