//===- GpuCompiler.h - From kernels as text to PTX ------------------------===//
//
// Part of FlashTile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Internal to the driver: what compileToArtifact does for gpu targets.
//
//===----------------------------------------------------------------------===//

#ifndef FLASHTILE_COMPILER_DRIVER_GPUCOMPILER_H
#define FLASHTILE_COMPILER_DRIVER_GPUCOMPILER_H

#include "compiler/Driver/Compiler.h"

namespace flashtile {

/// An artifact of PTX, with what launches of each kernel need.
ArtifactResult compileToPtx(std::string_view text, std::string_view fileName,
                            const CompilerOptions &options);

} // namespace flashtile

#endif // FLASHTILE_COMPILER_DRIVER_GPUCOMPILER_H
