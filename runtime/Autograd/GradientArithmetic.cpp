//===- GradientArithmetic.cpp - Sums and copies of gradients --------------===//
//
// Part of FlashTile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/Autograd/GradientArithmetic.h"

#include "compiler/Support/Error.h"
#include "runtime/Autograd/GradMode.h"
#include "runtime/Autograd/GradientKernels.h"
#include "runtime/StridedLoop.h"
#include "runtime/ThreadPool.h"

#include <algorithm>

using namespace flashtile;
using namespace flashtile::autograd;

/// Calls `body(TypeTag<T>())` with the type of a float dtype.
template <typename Body>
static void dispatchFloat(DType dtype, Body body) {
  dispatchDType(dtype, [&](auto tag) {
    if constexpr (isFloat(dtypeOf<typename decltype(tag)::Type>))
      body(tag);
    else
      throw Error(ErrorCode::InvalidArgument,
                  "expected gradients of a float type, but got " +
                      toString(dtype));
  });
}

/// Calls `body(begin, end)` for parts of `count` elements, on all threads where
/// that is worth it.
template <typename Body>
static void forEachPart(int64_t count, Body body) {
  constexpr int64_t part = 1 << 15;
  if (count < 2 * part)
    return body(int64_t(0), count);
  ThreadPool::global().parallelFor(
      (count + part - 1) / part, [&](int64_t index, unsigned) {
        body(index * part, std::min(count, (index + 1) * part));
      });
}

template <typename T>
static void addElements(T *target, const T *source, int64_t count,
                        int64_t targetStride, int64_t sourceStride) {
  using Wide = std::conditional_t<std::is_same_v<T, double>, double, float>;
  const auto sum = [](T a, T b) {
    return convertElement<T>(convertElement<Wide>(a) + convertElement<Wide>(b));
  };
  if (targetStride == 1 && sourceStride == 1) {
    // Constant strides let the compiler use vectors.
    for (int64_t i = 0; i < count; ++i)
      target[i] = sum(target[i], source[i]);
    return;
  }
  for (int64_t i = 0; i < count; ++i)
    target[i * targetStride] =
        sum(target[i * targetStride], source[i * sourceStride]);
}

void autograd::addInto(const Tensor &target, const Tensor &source) {
  if (!target.device().isCpu()) {
    launchElementwise(target, source, /*accumulates=*/true);
    return;
  }
  const Tensor same = source.to(target.dtype());
  dispatchFloat(target.dtype(), [&](auto tag) {
    using T = typename decltype(tag)::Type;
    T *to = target.data<T>();
    const T *from = same.data<T>();
    StridedLoop(target.shape(), target.strides(), same.strides())
        .forEachRun([&](int64_t toOffset, int64_t fromOffset, int64_t count,
                        int64_t toStride, int64_t fromStride) {
          forEachPart(count, [&](int64_t begin, int64_t end) {
            addElements(to + toOffset + begin * toStride,
                        from + fromOffset + begin * fromStride, end - begin,
                        toStride, fromStride);
          });
        });
  });
  target.bumpVersion();
}

void autograd::prepareAddInto(const Tensor &target, const Tensor &source) {
  if (!target.device().isCpu())
    prepareElementwise(target, source, /*accumulates=*/true);
}

Tensor autograd::add(const Tensor &a, const Tensor &b) {
  const Tensor sum = denseCopy(a);
  addInto(sum, b);
  return sum;
}

void autograd::copyInto(const Tensor &target, const Tensor &source) {
  const NoGradGuard noGrad;
  if (target.device().isCpu())
    target.copyFrom(source);
  else
    launchElementwise(target, source, /*accumulates=*/false);
}

Tensor autograd::denseCopy(const Tensor &source) {
  Tensor copy = Tensor::empty(source.shape(), source.dtype(), source.device());
  copyInto(copy, source);
  return copy;
}

Tensor autograd::dense(const Tensor &source) {
  return source.isContiguous() ? source : denseCopy(source);
}

Tensor autograd::convertTo(const Tensor &source, DType dtype) {
  if (source.dtype() == dtype)
    return source;
  Tensor copy = Tensor::empty(source.shape(), dtype, source.device());
  copyInto(copy, source);
  return copy;
}

Tensor autograd::denseView(const Tensor &source, const Shape &shape) {
  const NoGradGuard noGrad;
  // On a GPU, reshape() would gather elements through the host.
  return source.device().isCpu() ? source.reshape(shape)
                                 : dense(source).view(shape);
}

/// The sum over the dimensions in which `shape`, of the same rank, has 1.
static Tensor sumOnHost(const Tensor &source, const Shape &shape) {
  // In f64, so that the order of many summands does not show.
  const Tensor sums = Tensor::zeros(shape, DType::F64);
  Shape strides = sums.strides();
  for (size_t i = 0; i < shape.size(); ++i)
    if (shape[i] != source.shape()[i])
      strides[i] = 0;
  double *to = sums.data<double>();
  dispatchFloat(source.dtype(), [&](auto tag) {
    using T = typename decltype(tag)::Type;
    const T *from = source.data<T>();
    StridedLoop(source.shape(), strides, source.strides())
        .forEachRun([&](int64_t toOffset, int64_t fromOffset, int64_t count,
                        int64_t toStride, int64_t fromStride) {
          for (int64_t i = 0; i < count; ++i)
            to[toOffset + i * toStride] +=
                convertElement<double>(from[fromOffset + i * fromStride]);
        });
  });
  return sums;
}

/// Likewise, one stretch of neighbouring dimensions after the other.
static Tensor sumOnDevice(Tensor source, const Shape &shape) {
  const auto isReduced = [&](size_t dim) {
    return source.shape()[dim] != shape[dim];
  };
  const auto product = [&](size_t begin, size_t end) {
    int64_t extent = 1;
    for (size_t dim = begin; dim < end; ++dim)
      extent *= source.shape()[dim];
    return extent;
  };
  const size_t rank = shape.size();
  const DType wide = source.dtype() == DType::F64 ? DType::F64 : DType::F32;
  for (size_t begin = 0; begin < rank; ++begin) {
    if (!isReduced(begin))
      continue;
    size_t end = begin + 1;
    while (end < rank && isReduced(end))
      ++end;
    const int64_t outer = product(0, begin), inner = product(end, rank);
    const Tensor sums = Tensor::empty({outer, inner}, wide, source.device());
    launchSum(sums, denseView(source, {outer, product(begin, end), inner}));
    Shape next = source.shape();
    std::fill(next.begin() + static_cast<ptrdiff_t>(begin),
              next.begin() + static_cast<ptrdiff_t>(end), 1);
    source = sums.view(next);
  }
  return source;
}

Tensor autograd::sumTo(const Tensor &source, const Shape &shape) {
  if (source.shape() == shape)
    return source;
  const NoGradGuard noGrad;
  Shape aligned(source.shape().size() - shape.size(), 1);
  aligned.insert(aligned.end(), shape.begin(), shape.end());
  if (source.numel() == 0)
    return Tensor::zeros(shape, source.dtype(), source.device());
  const Tensor sums = source.device().isCpu() ? sumOnHost(source, aligned)
                                              : sumOnDevice(source, aligned);
  return convertTo(sums, source.dtype()).view(shape);
}
