//===- ActivationTile.h - Functions behind products, of tiles ---*- C++ -*-===//
//
// Part of FlashTile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef FLASHTILE_KERNELS_ACTIVATIONTILE_H
#define FLASHTILE_KERNELS_ACTIVATIONTILE_H

#include "compiler/Frontend/Value.h"
#include "kernels/Activation.h"

namespace flashtile::kernels {

/// The function of each element of a tile of f32 or f64.
dsl::Value activate(const dsl::Value &tile, Activation activation);

} // namespace flashtile::kernels

#endif // FLASHTILE_KERNELS_ACTIVATIONTILE_H
