//===- PtxLog.h - What NVIDIA's assembler said ----------------------------===//
//
// Part of FlashTile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Reads the words of `ptxas -v`, and of the driver's linker with a verbose log,
// which are nearly the same.
//
//===----------------------------------------------------------------------===//

#ifndef FLASHTILE_COMPILER_DRIVER_PTXLOG_H
#define FLASHTILE_COMPILER_DRIVER_PTXLOG_H

#include "compiler/Driver/KernelArtifact.h"

#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace flashtile {

struct PtxLog {
  std::map<std::string, PtxResources> functions;
  /// Lines with a number of the form C7510: what the assembler could not do,
  /// such as keep wgmma asynchronous.
  std::vector<std::string> advice;

  static PtxLog parse(std::string_view text);

  /// Copies what is known to the entries with the same names.
  void addTo(std::vector<ArtifactKernel> &kernels) const;
};

} // namespace flashtile

#endif // FLASHTILE_COMPILER_DRIVER_PTXLOG_H
