//===- PtxAssembler.h - PTX to code by NVIDIA's ptxas ---------------------===//
//
// Part of FlashTile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// For tools and tests on machines with a CUDA toolkit. The runtime does not
// need it: there the driver assembles.
//
//===----------------------------------------------------------------------===//

#ifndef FLASHTILE_COMPILER_DRIVER_PTXASSEMBLER_H
#define FLASHTILE_COMPILER_DRIVER_PTXASSEMBLER_H

#include "compiler/Driver/PtxLog.h"

#include <string>
#include <string_view>

namespace flashtile {

/// Where ptxas is: `wanted` if that is not empty, else on PATH, else in
/// /usr/local/cuda/bin. Empty where it is not; `error` then says what to do.
std::string findPtxas(const std::string &wanted, std::string &error);

struct AssembledPtx {
  std::string cubin;
  /// What ptxas said, with -v, and what was read from it.
  std::string text;
  PtxLog log;
  double milliseconds = 0;
  /// Empty means success; otherwise with ptxas's own words.
  std::string error;
};

/// Runs `ptxas` on PTX for `target`, as "sm_90a".
AssembledPtx assemblePtx(std::string_view ptx, std::string_view target,
                         const std::string &ptxas);

} // namespace flashtile

#endif // FLASHTILE_COMPILER_DRIVER_PTXASSEMBLER_H
