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
};

} // namespace flashtile

#endif // FLASHTILE_RUNTIME_TENSORIMPL_H
