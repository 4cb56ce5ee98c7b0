//===- StackRewriter.h - One program in place of several ------------------===//
//
// Part of FlashTile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Of --tilegpu-pair-programs only: writes what ProgramStack has found possible.
//
//===----------------------------------------------------------------------===//

#ifndef FLASHTILE_COMPILER_SCHEDULE_STACKREWRITER_H
#define FLASHTILE_COMPILER_SCHEDULE_STACKREWRITER_H

#include "compiler/Schedule/ProgramStack.h"

namespace flashtile::gpu {

/// Makes each program of `kernel` do what `count` programs along `axis` did;
/// the extent of its grid is smaller accordingly, rounded up.
void stackPrograms(tile::KernelOp kernel, tile::ProgramAxis axis, int64_t count,
                   const ProgramStack &stack);

} // namespace flashtile::gpu

#endif // FLASHTILE_COMPILER_SCHEDULE_STACKREWRITER_H
