//===- ProgramRunner.h - Runs the programs of a launch on the CPU ---------===//
//
// Part of FlashTile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Internal to Kernel and Jit: the loop over the grid, scratch memory, and what
// kernels call for `tile.assert` and `tile.print`.
//
//===----------------------------------------------------------------------===//

#ifndef FLASHTILE_RUNTIME_PROGRAMRUNNER_H
#define FLASHTILE_RUNTIME_PROGRAMRUNNER_H

#include "compiler/Driver/Compiler.h"

#include <array>

namespace flashtile {

/// The functions that compiled kernels call back.
CpuCallbacks cpuCallbacks();

/// Runs `kernel` for each program of `grid` (0 to 2^31 - 1 per axis), x
/// fastest, on the threads of ThreadPool::global(). Throws Assertion where a
/// program failed, OutOfMemory where its scratch memory does not fit, and
/// InvalidArgument for more than 2^63 - 1 programs.
void runPrograms(const CompiledKernel &kernel,
                 const std::array<int64_t, 3> &grid,
                 const void *const *arguments);

} // namespace flashtile

#endif // FLASHTILE_RUNTIME_PROGRAMRUNNER_H
