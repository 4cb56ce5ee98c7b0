//===- DLPack.h - Exchange of tensors without a copy ----------------------===//
//
// Part of FlashTile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// DLPack is the common structure by which frameworks lend tensors to each
// other. This speaks version 0.6, which knows integers, f16, f32, f64 and bf16,
// but neither booleans nor fp8.
//
//===----------------------------------------------------------------------===//

#ifndef FLASHTILE_RUNTIME_DLPACK_H
#define FLASHTILE_RUNTIME_DLPACK_H

#include "runtime/Tensor.h"

#include <dlpack/dlpack.h>

namespace flashtile {

/// Lends `tensor`. The result keeps its memory alive until the receiver calls
/// the result's deleter, from any thread. Throws Unsupported for an element
/// type that DLPack 0.6 has no code for.
DLManagedTensor *toDLPack(const Tensor &tensor);

/// Takes over `managed`: its deleter runs when the last tensor that views it is
/// gone. Strides of null mean row-major. Throws Unsupported for an element
/// type, a number of lanes or a device that FlashTile does not have, and
/// InvalidArgument for what contradicts itself; `managed` then still belongs to
/// the caller.
Tensor fromDLPack(DLManagedTensor *managed);

} // namespace flashtile

#endif // FLASHTILE_RUNTIME_DLPACK_H
