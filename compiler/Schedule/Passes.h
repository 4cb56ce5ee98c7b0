//===- Passes.h - Schedules of kernels on GPUs ----------------------------===//
//
// Part of FlashTile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Declarations of the passes; the contract of each is in Passes.td.
//
//===----------------------------------------------------------------------===//

#ifndef FLASHTILE_COMPILER_SCHEDULE_PASSES_H
#define FLASHTILE_COMPILER_SCHEDULE_PASSES_H

#include "dialects/TileGPU/IR/TileGPUDialect.h"

#include "mlir/Pass/Pass.h"

namespace flashtile::gpu {

#define GEN_PASS_DECL
#define GEN_PASS_REGISTRATION
#include "compiler/Schedule/Passes.h.inc"

} // namespace flashtile::gpu

#endif // FLASHTILE_COMPILER_SCHEDULE_PASSES_H
