//===- CudaBackend.h - Tensors on GPUs ------------------------------------===//
//
// Part of FlashTile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Linking TileCuda makes tensors on cuda devices work: it registers itself as
// the memory of Device::Kind::Cuda. Tensor operations use the current stream of
// the tensor's device (CudaStream::current).
//
//===----------------------------------------------------------------------===//

#ifndef FLASHTILE_RUNTIME_CUDA_CUDABACKEND_H
#define FLASHTILE_RUNTIME_CUDA_CUDABACKEND_H

#include "runtime/Tensor.h"
#include "runtime/cuda/CudaStream.h"

namespace flashtile {

/// Tells the memory of `tensor` that the work now in `stream` uses it. Call it
/// after putting work into a stream other than the one that was current when
/// the tensor was made; otherwise the memory may be handed on while that work
/// still runs. Nothing for memory that was borrowed. Throws InvalidArgument for
/// a tensor that is not on a cuda device.
void recordUse(const Tensor &tensor, const CudaStream &stream);

} // namespace flashtile

#endif // FLASHTILE_RUNTIME_CUDA_CUDABACKEND_H
