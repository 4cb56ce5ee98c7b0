//===- GpuEntries.h - From attributes of functions to artifacts -----------===//
//
// Part of FlashTile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Internal to the driver. Reads what the gpu pipeline left on its functions
// (dialects/TileGPU/IR/LaunchAttributes.h).
//
//===----------------------------------------------------------------------===//

#ifndef FLASHTILE_COMPILER_DRIVER_GPUENTRIES_H
#define FLASHTILE_COMPILER_DRIVER_GPUENTRIES_H

#include "compiler/Driver/KernelArtifact.h"

#include "mlir/IR/BuiltinOps.h"

namespace flashtile {

/// Fills in `kernel.entries` from the functions of its name in `module`, which
/// have `defaultThreads` where they do not say. The error, which is the
/// compiler's own, or nothing.
std::string describeEntries(mlir::ModuleOp module, int64_t defaultThreads,
                            ArtifactKernel &kernel);

} // namespace flashtile

#endif // FLASHTILE_COMPILER_DRIVER_GPUENTRIES_H
