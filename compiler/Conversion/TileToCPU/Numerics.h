//===- Numerics.h - The names of Conversion/Numerics on the cpu target ----===//
//
// Part of FlashTile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef FLASHTILE_COMPILER_CONVERSION_TILETOCPU_NUMERICS_H
#define FLASHTILE_COMPILER_CONVERSION_TILETOCPU_NUMERICS_H

#include "compiler/Conversion/Numerics/Numerics.h"

namespace flashtile::cpu {
using namespace numeric; // NOLINT(google-build-using-namespace)
} // namespace flashtile::cpu

#endif // FLASHTILE_COMPILER_CONVERSION_TILETOCPU_NUMERICS_H
