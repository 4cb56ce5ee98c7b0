//===- PtxVersion.h - Versions of the PTX language ------------------------===//
//
// Part of FlashTile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef FLASHTILE_RUNTIME_CUDA_PTXVERSION_H
#define FLASHTILE_RUNTIME_CUDA_PTXVERSION_H

#include <string>
#include <string_view>

namespace flashtile {

/// 10 * major + minor, as LLVM's feature "+ptx83" has it.
using PtxVersion = int;

/// The newest version that a driver of this CUDA version (1000 * major + 10 *
/// minor) reads. Compile for no newer one.
PtxVersion maxPtxVersion(int driverVersion);

/// The first driver that reads `version`, or 0 if that is not known.
int minDriverVersion(PtxVersion version);

/// "8.3" for 83.
std::string ptxVersionText(PtxVersion version);

/// What a PTX text says of itself; 0 and "" where it does not.
struct PtxHeader {
  PtxVersion version = 0;
  std::string target; ///< "sm_90a"

  static PtxHeader parse(std::string_view ptx);
};

} // namespace flashtile

#endif // FLASHTILE_RUNTIME_CUDA_PTXVERSION_H
