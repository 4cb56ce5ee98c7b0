//===- TensorDevices.h - Copies and fills that involve a device -----------===//
//
// Part of FlashTile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Internal to the Tensor*.cpp files.
//
//===----------------------------------------------------------------------===//

#ifndef FLASHTILE_RUNTIME_TENSORDEVICES_H
#define FLASHTILE_RUNTIME_TENSORDEVICES_H

#include "runtime/Tensor.h"

namespace flashtile::detail {

/// Copies elements, converting them, where at least one tensor is not on the
/// host. The shapes are equal and the tensors do not overlap. Returns when it
/// is done if the host takes part.
void copyWithDevice(const Tensor &target, const Tensor &source);

/// Sets all elements of a tensor that is not on the host.
void fillOnDevice(const Tensor &tensor, Scalar value);

/// Throws Unsupported unless `tensor` is on the host; `what` needs that.
void requireHost(const Tensor &tensor, const char *what);

} // namespace flashtile::detail

#endif // FLASHTILE_RUNTIME_TENSORDEVICES_H
