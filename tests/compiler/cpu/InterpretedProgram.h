//===- InterpretedProgram.h - Compiled kernels on a PtxMachine ------------===//
//
// Part of FlashTile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef FLASHTILE_TESTS_COMPILER_CPU_INTERPRETEDPROGRAM_H
#define FLASHTILE_TESTS_COMPILER_CPU_INTERPRETEDPROGRAM_H

#include "tests/compiler/cpu/TestTarget.h"

#include <optional>

namespace flashtile::cputest {

/// Launches choose functions, tensor maps and blocks as the runtime does, for a
/// GPU of two multiprocessors. `plain` has the functions that `compiled` says
/// to be elsewhere. Throws std::runtime_error for PTX that is not understood.
std::unique_ptr<GpuProgram>
interpretProgram(KernelArtifact compiled, std::optional<KernelArtifact> plain);

} // namespace flashtile::cputest

#endif // FLASHTILE_TESTS_COMPILER_CPU_INTERPRETEDPROGRAM_H
