//===- TurnBuffers.h - Buffers that iterations use in turn ------*- C++ -*-===//
//
// Part of FlashTile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// For left operands that are made in registers and read from shared memory.
//
//===----------------------------------------------------------------------===//

#ifndef FLASHTILE_COMPILER_SCHEDULE_TURNBUFFERS_H
#define FLASHTILE_COMPILER_SCHEDULE_TURNBUFFERS_H

#include "dialects/TileGPU/IR/TileGPUDialect.h"

namespace flashtile::gpu {

/// The counter of some ring of a loop with this body, an argument of it; null:
/// it has none.
mlir::Value findTurnCounter(mlir::Block &body);

/// The buffers for what is staged in this block of a loop: those of other
/// loops, or new ones. Null: `sharedLimit` bytes of shared memory are too few.
tilegpu::AllocOp findTurnBuffers(tilegpu::StageOp stage, int64_t sharedLimit);

} // namespace flashtile::gpu

#endif // FLASHTILE_COMPILER_SCHEDULE_TURNBUFFERS_H
