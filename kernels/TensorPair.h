//===- TensorPair.h - Two results in one block of memory ------------------===//
//
// Part of FlashTile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Internal to the functions on tensors.
//
//===----------------------------------------------------------------------===//

#ifndef FLASHTILE_KERNELS_TENSORPAIR_H
#define FLASHTILE_KERNELS_TENSORPAIR_H

#include "runtime/Tensor.h"

#include <utility>

namespace flashtile::kernels {

/// Two uninitialised tensors that share nothing a caller sees. Small ones on a
/// GPU are parts of one block, which is there until both are gone: to allocate
/// and free two takes the driver longer than to launch a kernel.
std::pair<Tensor, Tensor> emptyPair(const Shape &first, DType firstType,
                                    const Shape &second, DType secondType,
                                    Device device);

} // namespace flashtile::kernels

#endif // FLASHTILE_KERNELS_TENSORPAIR_H
