//===- SharedNeeds.h - Shared memory of a kernel in the making ------------===//
//
// Part of FlashTile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What SharedAllocation will ask for, at most, while passes still decide which
// buffers there are. Each of these passes makes buffers from what the others
// have left: all ask here, so that none counts what another one makes twice.
//
//===----------------------------------------------------------------------===//

#ifndef FLASHTILE_COMPILER_SCHEDULE_SHAREDNEEDS_H
#define FLASHTILE_COMPILER_SCHEDULE_SHAREDNEEDS_H

#include "dialects/TileGPU/IR/TileGPUDialect.h"

namespace flashtile::gpu {

/// What is allocated in shared memory starts at multiples of 1024 bytes.
int64_t roundedShared(int64_t bytes);

/// Bytes of all buffers that are rings already.
int64_t bytesOfRings(tile::KernelOp kernel);

/// Whether the buffer is for left operands that are made in registers, which
/// `--tilegpu-overlap-products` lets iterations use in turn.
bool isTurnRing(tilegpu::AllocOp alloc);

/// Such operands of an iteration have two buffers, for all loops.
constexpr int64_t kTurnBuffers = 2;

/// Whether an operand made in registers will get such buffers.
bool willTakeTurns(tilegpu::StageOp stage,
                   llvm::function_ref<bool(tilegpu::StageOp)> isInRing);

/// Bytes, at most, that the kernel's operations use beside rings, which live as
/// long as the block: the narrowest buffers for what TMA can store, staged
/// tiles that are not in rings, and scratch space of single operations. Before
/// products are overlapped, buffers in turn that will be made for that, too.
int64_t bytesBesideRings(tile::KernelOp kernel,
                         llvm::function_ref<bool(tilegpu::StageOp)> isInRing,
                         bool afterOverlap);

/// All that, where loads are in rings already.
int64_t sharedBytesAtMost(tile::KernelOp kernel, bool afterOverlap);

} // namespace flashtile::gpu

#endif // FLASHTILE_COMPILER_SCHEDULE_SHAREDNEEDS_H
