//===- TensorFactories.cpp - Creation of tensors --------------------------===//
//
// Part of FlashTile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "compiler/Support/EnumCheck.h"
#include "compiler/Support/Error.h"
#include "runtime/DeviceMemoryBackend.h"
#include "runtime/Random.h"
#include "runtime/TensorDevices.h"
#include "runtime/TensorImpl.h"

#include <cmath>
#include <cstring>

using namespace flashtile;

Tensor Tensor::empty(Shape shape, DType dtype, Device device) {
  const int64_t count = checkedElementCount(shape, dtype);
  auto storage = Storage::allocate(
      static_cast<size_t>(count) * elementSize(dtype), device);
  Shape strides = rowMajorStrides(shape);
  return Tensor(std::make_shared<Impl>(std::move(storage), std::move(shape),
                                       std::move(strides), dtype, 0));
}

Tensor Tensor::zeros(Shape shape, DType dtype, Device device) {
  Tensor result = empty(std::move(shape), dtype, device);
  if (!device.isCpu()) {
    detail::fillOnDevice(result, 0);
    return result;
  }
  // All bits zero is 0 in every element type.
  std::memset(result.rawData(), 0, result.nbytes());
  return result;
}

Tensor Tensor::full(Shape shape, Scalar value, DType dtype, Device device) {
  Tensor result = empty(std::move(shape), dtype, device);
  result.fill(value);
  return result;
}

/// A new tensor whose elements, in order, are successive results of `next`.
template <typename Next>
static Tensor generate(const char *what, Shape shape, DType dtype,
                       Device device, Next next) {
  checkElementType("an element type", dtype);
  if (!isFloat(dtype))
    throw Error(ErrorCode::InvalidArgument, std::string(what) +
                                                " expects a float type, but "
                                                "got " +
                                                toString(dtype));
  // On the host, so that the elements are the same on every device.
  Tensor result = Tensor::empty(std::move(shape), dtype);
  dispatchDType(dtype, [&](auto tag) {
    using T = typename decltype(tag)::Type;
    T *elements = result.data<T>();
    for (int64_t i = 0, e = result.numel(); i < e; ++i)
      elements[i] = convertElement<T>(next());
  });
  return result.to(device);
}

Tensor Tensor::randn(Shape shape, DType dtype, uint64_t seed, Device device) {
  Random random(seed);
  return generate("randn", std::move(shape), dtype, device,
                  [&] { return random.normal(); });
}

Tensor Tensor::uniform(Shape shape, DType dtype, uint64_t seed, double low,
                       double high, Device device) {
  if (!(low <= high) || !std::isfinite(high - low))
    throw Error(ErrorCode::InvalidArgument,
                "expected finite bounds with low <= high, but got " +
                    std::to_string(low) + " and " + std::to_string(high));
  Random random(seed);
  return generate("uniform", std::move(shape), dtype, device,
                  [&] { return low + (high - low) * random.uniform(); });
}

void detail::checkElementCount(size_t count, const Shape &shape, DType dtype) {
  const int64_t expected = checkedElementCount(shape, dtype);
  if (static_cast<uint64_t>(expected) != count)
    throw Error(ErrorCode::InvalidArgument,
                "expected " + std::to_string(expected) + " values for shape " +
                    toString(shape) + ", but got " + std::to_string(count));
}

Tensor Tensor::fromData(const void *data, Shape shape, DType dtype,
                        Device device) {
  Tensor result = empty(std::move(shape), dtype, device);
  if (!result.numel())
    return result;
  if (!data)
    throw Error(ErrorCode::InvalidArgument,
                "expected the data of " + std::to_string(result.numel()) +
                    " elements, but got a null pointer");
  if (device.isCpu()) {
    std::memcpy(result.rawData(), data, result.nbytes());
    return result;
  }
  DeviceMemoryBackend &backend = DeviceMemoryBackend::of(device);
  backend.copyFromHost(device, result.rawData(), data, result.nbytes());
  backend.synchronize(device);
  return result;
}

Tensor Tensor::fromBlob(void *data, Shape shape, DType dtype,
                        std::function<void()> deleter, Shape strides,
                        Device device) {
  if (strides.empty()) {
    checkedElementCount(shape, dtype);
    strides = rowMajorStrides(shape);
  }
  const int64_t span = checkedByteSpan(shape, strides, dtype);
  if (!data && span)
    throw Error(ErrorCode::InvalidArgument,
                "expected the memory of a tensor of shape " + toString(shape) +
                    ", but got a null pointer");
  if (reinterpret_cast<uintptr_t>(data) % elementSize(dtype) != 0)
    throw Error(ErrorCode::InvalidArgument,
                "expected memory aligned to the " +
                    std::to_string(elementSize(dtype)) + " bytes of " +
                    toString(dtype) + ", but got address " +
                    std::to_string(reinterpret_cast<uintptr_t>(data)));
  auto impl = std::make_shared<Impl>(nullptr, std::move(shape),
                                     std::move(strides), dtype, 0);
  // Last, as from here on the storage would run the deleter.
  impl->storage = Storage::borrow(data, static_cast<size_t>(span), device,
                                  std::move(deleter));
  return Tensor(std::move(impl));
}
