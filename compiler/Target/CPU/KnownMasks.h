//===- KnownMasks.h - Masked accesses with lanes that are known -----------===//
//
// Part of FlashTile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The last vector of a tile whose extent is no multiple of the lanes has a
// mask that is known here, in part or whole. LLVM 22 mishandles some of those:
//  - a store of one lane whose value was truncated writes the element before
//    truncation, and so overwrites what follows in memory;
//  - a vector of several registers is split, and a part whose mask is all true
//    or all false becomes a plain access of unknown size: for false masks that
//    touches memory that it must not, and the pass "X86 Avoid Store Forwarding
//    Blocks" aborts on either.
// So accesses of one lane, and the decided parts of wide ones, become plain
// accesses, or none, before instructions are selected.
//
//===----------------------------------------------------------------------===//

#ifndef FLASHTILE_COMPILER_TARGET_CPU_KNOWNMASKS_H
#define FLASHTILE_COMPILER_TARGET_CPU_KNOWNMASKS_H

#include "llvm/IR/PassManager.h"

namespace flashtile::cpu {

struct KnownMasksPass : llvm::PassInfoMixin<KnownMasksPass> {
  llvm::PreservedAnalyses run(llvm::Function &function,
                              llvm::FunctionAnalysisManager &analyses);
};

} // namespace flashtile::cpu

#endif // FLASHTILE_COMPILER_TARGET_CPU_KNOWNMASKS_H
