//===- HostTarget.h - The processor that code is generated for ------------===//
//
// Part of FlashTile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What LLVM knows of the host (or of a processor given by name), and the vector
// shape that follows from it.
//
//===----------------------------------------------------------------------===//

#ifndef FLASHTILE_COMPILER_TARGET_CPU_HOSTTARGET_H
#define FLASHTILE_COMPILER_TARGET_CPU_HOSTTARGET_H

#include "compiler/Conversion/TileToCPU/KernelPlan.h"

#include "llvm/Support/Error.h"
#include "llvm/Target/TargetMachine.h"

#include <memory>
#include <string>

namespace flashtile::cpu {

struct CpuTarget {
  std::string cpu;      ///< LLVM's name, e.g. "znver4"
  std::string features; ///< "+avx2,+fma,..."
  VectorShape vectors;
};

/// The processor of this machine.
CpuTarget hostTarget();

/// A processor of the host's architecture by LLVM's name, e.g. "x86-64-v3";
/// "host" is hostTarget(). An error for names that LLVM does not know.
llvm::Expected<CpuTarget> targetByName(llvm::StringRef cpu);

/// A target machine that generates position-independent code.
llvm::Expected<std::unique_ptr<llvm::TargetMachine>>
createTargetMachine(const CpuTarget &target);

} // namespace flashtile::cpu

#endif // FLASHTILE_COMPILER_TARGET_CPU_HOSTTARGET_H
