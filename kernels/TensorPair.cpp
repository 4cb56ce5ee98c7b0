//===- TensorPair.cpp - Two results in one block of memory ----------------===//
//
// Part of FlashTile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "kernels/TensorPair.h"

using namespace flashtile;

std::pair<Tensor, Tensor> kernels::emptyPair(const Shape &first,
                                             DType firstType,
                                             const Shape &second,
                                             DType secondType, Device device) {
  const auto bytesOf = [](const Shape &shape, DType type) {
    return checkedElementCount(shape, type) *
           static_cast<int64_t>(elementSize(type));
  };
  const int64_t firstBytes = bytesOf(first, firstType),
                secondBytes = bytesOf(second, secondType);
  // Of large ones, the kernel takes longer, and memory that one keeps from
  // being freed for the other counts.
  constexpr int64_t kLargest = 1 << 20;
  // As the driver aligns what it allocates.
  constexpr int64_t kAlignment = 256;
  if (!device.isCuda() || firstBytes == 0 || secondBytes == 0 ||
      firstBytes > kLargest || secondBytes > kLargest)
    return {Tensor::empty(first, firstType, device),
            Tensor::empty(second, secondType, device)};
  const int64_t offset =
      (firstBytes + kAlignment - 1) / kAlignment * kAlignment;
  const Tensor block = Tensor::empty({offset + secondBytes}, DType::I8, device);
  const auto part = [&](int64_t begin, const Shape &shape, DType type) {
    return Tensor::fromBlob(
        static_cast<std::byte *>(block.rawData()) + begin, shape, type,
        [block] {}, {}, device);
  };
  return {part(0, first, firstType), part(offset, second, secondType)};
}
