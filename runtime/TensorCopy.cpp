//===- TensorCopy.cpp - Copies, casts and fills of tensors ----------------===//
//
// Part of FlashTile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "compiler/Support/Error.h"
#include "runtime/StridedLoop.h"
#include "runtime/TensorDevices.h"
#include "runtime/TensorImpl.h"

#include <algorithm>
#include <cstring>

using namespace flashtile;
using autograd::ViewRecord;

/// Moves elements of `size` bytes, whatever they mean.
template <size_t size>
static void moveRuns(const StridedLoop &loop, void *target,
                     const void *source) {
  loop.forEachRun([=](int64_t targetOffset, int64_t sourceOffset, int64_t count,
                      int64_t targetStride, int64_t sourceStride) {
    constexpr int64_t bytes = size;
    std::byte *to = static_cast<std::byte *>(target) + targetOffset * bytes;
    const std::byte *from =
        static_cast<const std::byte *>(source) + sourceOffset * bytes;
    if (targetStride == 1 && sourceStride == 1) {
      std::memcpy(to, from, static_cast<size_t>(count) * size);
      return;
    }
    for (int64_t i = 0; i < count; ++i)
      std::memcpy(to + i * targetStride * bytes,
                  from + i * sourceStride * bytes, size);
  });
}

template <typename To, typename From>
static void convertRuns(const StridedLoop &loop, To *target,
                        const From *source) {
  loop.forEachRun([=](int64_t targetOffset, int64_t sourceOffset, int64_t count,
                      int64_t targetStride, int64_t sourceStride) {
    To *to = target + targetOffset;
    const From *from = source + sourceOffset;
    if (targetStride == 1 && sourceStride == 1) {
      // Constant strides let the compiler use vectors.
      for (int64_t i = 0; i < count; ++i)
        to[i] = convertElement<To>(from[i]);
      return;
    }
    for (int64_t i = 0; i < count; ++i)
      to[i * targetStride] = convertElement<To>(from[i * sourceStride]);
  });
}

static void copyElements(const Tensor &target, const Tensor &source) {
  if (!target.device().isCpu() || !source.device().isCpu())
    return detail::copyWithDevice(target, source);
  const StridedLoop loop(target.shape(), target.strides(), source.strides());
  if (target.dtype() != source.dtype()) {
    dispatchDType(target.dtype(), [&](auto toTag) {
      dispatchDType(source.dtype(), [&](auto fromTag) {
        using To = typename decltype(toTag)::Type;
        using From = typename decltype(fromTag)::Type;
        convertRuns(loop, target.data<To>(), source.data<From>());
      });
    });
    return;
  }
  switch (elementSize(target.dtype())) {
  case 1:
    return moveRuns<1>(loop, target.rawData(), source.rawData());
  case 2:
    return moveRuns<2>(loop, target.rawData(), source.rawData());
  case 4:
    return moveRuns<4>(loop, target.rawData(), source.rawData());
  case 8:
    return moveRuns<8>(loop, target.rawData(), source.rawData());
  }
}

/// Whether the two may have a byte in common.
static bool mayOverlap(const Tensor &a, const Tensor &b) {
  if (a.device() != b.device())
    return false;
  const auto begin = [](const Tensor &t) {
    return reinterpret_cast<uintptr_t>(t.rawData());
  };
  const auto end = [&](const Tensor &t) {
    return begin(t) + static_cast<uintptr_t>(
                          checkedByteSpan(t.shape(), t.strides(), t.dtype()));
  };
  return begin(a) < end(b) && begin(b) < end(a);
}

void Tensor::fill(Scalar value) const {
  checkUnrecorded("fill");
  if (!device().isCpu()) {
    detail::fillOnDevice(*this, value);
    return bumpVersion();
  }
  dispatchDType(dtype(), [&](auto tag) {
    using T = typename decltype(tag)::Type;
    const T element = value.to<T>();
    T *elements = data<T>();
    StridedLoop(shape(), strides(), strides())
        .forEachRun([=](int64_t offset, int64_t, int64_t count, int64_t stride,
                        int64_t) {
          T *run = elements + offset;
          if (stride == 1)
            return void(std::fill_n(run, count, element));
          for (int64_t i = 0; i < count; ++i)
            run[i * stride] = element;
        });
  });
  bumpVersion();
}

void Tensor::copyFrom(const Tensor &source) const {
  checkUnrecorded("copyFrom");
  source.checkUnrecorded("copyFrom with a source");
  for (size_t i = 0; i < shape().size(); ++i)
    if (strides()[i] == 0 && shape()[i] > 1)
      throw Error(ErrorCode::InvalidArgument,
                  "cannot copy into an expanded tensor: dimension " +
                      std::to_string(i) +
                      " repeats the same memory (stride 0)");
  Tensor from = source.shape() == shape() ? source : source.expand(shape());
  // The same elements in the same places are safe, whatever else overlaps.
  const bool isSamePlace =
      rawData() == from.rawData() && device() == from.device() &&
      dtype() == from.dtype() && strides() == from.strides();
  if (!isSamePlace && mayOverlap(*this, from))
    from = from.clone();
  if (!isSamePlace)
    copyElements(*this, from);
  bumpVersion();
}

/// A new contiguous tensor of the elements of `source`.
static Tensor copyOf(const Tensor &source, DType dtype) {
  Tensor result = Tensor::empty(source.shape(), dtype, source.device());
  copyElements(result, source);
  return result;
}

Tensor Tensor::clone() const {
  return recorded(copyOf(*this, dtype()), {ViewRecord::Kind::Copy});
}

Tensor Tensor::contiguous() const { return isContiguous() ? *this : clone(); }

Tensor Tensor::to(DType dtype) const {
  return dtype == this->dtype()
             ? *this
             : recorded(copyOf(*this, dtype), {ViewRecord::Kind::Copy});
}

Tensor Tensor::to(Device device) const {
  if (device == this->device())
    return *this;
  Tensor result = empty(shape(), dtype(), device);
  copyElements(result, *this);
  return recorded(std::move(result), {ViewRecord::Kind::Copy});
}
