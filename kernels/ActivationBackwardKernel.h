//===- ActivationBackwardKernel.h - Gradients of activations --------------===//
//
// Part of FlashTile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// For y = f(z), element by element: dz = f'(z) dy. Of Relu, f'(0) is 0, and a
// NaN in z is in y, so that dy counts there.
//
//===----------------------------------------------------------------------===//

#ifndef FLASHTILE_KERNELS_ACTIVATIONBACKWARDKERNEL_H
#define FLASHTILE_KERNELS_ACTIVATIONBACKWARDKERNEL_H

#include "compiler/Frontend/KernelBuilder.h"
#include "kernels/Activation.h"

namespace flashtile::kernels {

/// @activation_backward(z, dy, dz: pointers, n: i64) in a module of its own. z
/// and dz are of `wide`, f32 or f64, and dy is of `gradType`; all are
/// contiguous.
dsl::KernelModule buildActivationBackward(Activation activation,
                                          ElementType wide,
                                          ElementType gradType);

} // namespace flashtile::kernels

#endif // FLASHTILE_KERNELS_ACTIVATIONBACKWARDKERNEL_H
