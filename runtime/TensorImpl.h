//===- TensorImpl.h - What is behind a Tensor -----------------------------===//
//
// Part of FlashTile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Internal to the Tensor*.cpp files. Everything that can be derived from shape
// and strides is derived once, here, since a launch asks for it every time.
//
//===----------------------------------------------------------------------===//

#ifndef FLASHTILE_RUNTIME_TENSORIMPL_H
#define FLASHTILE_RUNTIME_TENSORIMPL_H

#include "runtime/Autograd/AutogradMeta.h"
#include "runtime/Storage.h"
#include "runtime/Tensor.h"

namespace flashtile {

struct Tensor::Impl {
  Impl(std::shared_ptr<Storage> storage, Shape shape, Shape strides,
       DType dtype, int64_t byteOffset);

  std::shared_ptr<Storage> storage;
  Shape shape;
  Shape strides;
  DType dtype;
  int64_t byteOffset;
  int64_t numel;
  bool isContiguous;
  /// Null for a tensor that never was on the tape. Set before a tensor is
  /// handed out, or by setRequiresGrad() and its like, which no other use of
  /// the tensor may run beside.
  mutable std::shared_ptr<autograd::AutogradMeta> autograd;
};

} // namespace flashtile

#endif // FLASHTILE_RUNTIME_TENSORIMPL_H
