//===- TensorDevices.cpp - Copies and fills that involve a device ---------===//
//
// Part of FlashTile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A device can move bytes and repeat a pattern. All else, conversion and
// strides, happens on the host: dense elements go to the device, and from it
// comes the stretch of memory that holds the elements.
//
//===----------------------------------------------------------------------===//

#include "runtime/TensorDevices.h"

#include "compiler/Support/Error.h"
#include "runtime/DeviceMemoryBackend.h"
#include "runtime/StridedLoop.h"

#include <cstring>

using namespace flashtile;

void detail::requireHost(const Tensor &tensor, const char *what) {
  if (!tensor.device().isCpu())
    throw Error(ErrorCode::Unsupported,
                std::string(what) + " needs a tensor on the cpu, but got " +
                    tensor.describe() + "; copy it with to(Device::cpu())");
}

static std::byte *bytesOf(const Tensor &tensor) {
  return static_cast<std::byte *>(tensor.rawData());
}

[[noreturn]] static void failStrided(const char *what, const Tensor &tensor) {
  throw Error(ErrorCode::Unsupported,
              std::string(what) + " " + tensor.describe() +
                  " is not supported: its innermost elements do not follow "
                  "each other; use a contiguous tensor");
}

/// Calls `move(target, source, bytes)` for each stretch that is dense in both.
template <typename Move>
static void forEachDenseRun(const Tensor &target, const Tensor &source,
                            Move move) {
  const auto size = static_cast<int64_t>(elementSize(target.dtype()));
  StridedLoop(target.shape(), target.strides(), source.strides())
      .forEachRun([&](int64_t targetOffset, int64_t sourceOffset, int64_t count,
                      int64_t targetStride, int64_t sourceStride) {
        if (count > 1 && (targetStride != 1 || sourceStride != 1))
          failStrided("copying into", target);
        move(bytesOf(target) + targetOffset * size,
             bytesOf(source) + sourceOffset * size,
             static_cast<size_t>(count * size));
      });
}

/// Whether every run of both is dense, without moving anything.
static bool hasDenseRuns(const Tensor &target, const Tensor &source) {
  bool isDense = true;
  // One run tells, as all have the same strides.
  StridedLoop(target.shape(), target.strides(), source.strides())
      .forEachRun([&](int64_t, int64_t, int64_t count, int64_t targetStride,
                      int64_t sourceStride) {
        isDense &= count == 1 || (targetStride == 1 && sourceStride == 1);
      });
  return isDense;
}

/// The elements on the host: the stretch of memory that holds them, under the
/// same strides.
static Tensor copyToHost(const Tensor &source) {
  const int64_t span =
      checkedByteSpan(source.shape(), source.strides(), source.dtype());
  const auto size = static_cast<int64_t>(elementSize(source.dtype()));
  const Tensor image = Tensor::empty({span / size}, source.dtype());
  DeviceMemoryBackend &backend = DeviceMemoryBackend::of(source.device());
  backend.copyToHost(source.device(), image.rawData(), source.rawData(),
                     static_cast<size_t>(span));
  backend.synchronize(source.device());
  // The view keeps the image alive through its deleter.
  return Tensor::fromBlob(
      image.rawData(), source.shape(), source.dtype(), [image] {},
      source.strides());
}

static void copyFromHost(const Tensor &target, const Tensor &source) {
  const Device device = target.device();
  const Tensor dense = source.to(target.dtype()).contiguous();
  if (!hasDenseRuns(target, dense))
    failStrided("copying into", target);
  DeviceMemoryBackend &backend = DeviceMemoryBackend::of(device);
  forEachDenseRun(target, dense,
                  [&](std::byte *to, const std::byte *from, size_t numBytes) {
                    backend.copyFromHost(device, to, from, numBytes);
                  });
  // `dense` may be a copy that ends here, and pinned memory is read late.
  backend.synchronize(device);
}

void detail::copyWithDevice(const Tensor &target, const Tensor &source) {
  if (!target.numel())
    return;
  if (source.device().isCpu())
    return copyFromHost(target, source);
  if (target.device().isCpu())
    return target.copyFrom(copyToHost(source));
  if (target.dtype() != source.dtype() || !hasDenseRuns(target, source))
    return copyFromHost(target, copyToHost(source));
  DeviceMemoryBackend &backend = DeviceMemoryBackend::of(target.device());
  forEachDenseRun(target, source,
                  [&](std::byte *to, const std::byte *from, size_t numBytes) {
                    backend.copy(target.device(), to, source.device(), from,
                                 numBytes);
                  });
}

/// The bytes of one element as a pattern that a device can repeat; false if
/// they are too many. `size` becomes that of the pattern.
static bool patternOf(const Tensor &element, uint32_t &pattern, size_t &size) {
  uint32_t words[2] = {};
  std::memcpy(words, element.rawData(), size);
  if (size == 8) {
    if (words[0] != words[1])
      return false;
    size = 4;
  }
  pattern = words[0];
  return true;
}

void detail::fillOnDevice(const Tensor &tensor, Scalar value) {
  if (!tensor.numel())
    return;
  const Tensor element = Tensor::full({}, value, tensor.dtype());
  const size_t elementBytes = elementSize(tensor.dtype());
  size_t patternBytes = elementBytes;
  uint32_t pattern = 0;
  if (!patternOf(element, pattern, patternBytes))
    return copyFromHost(tensor, element.expand(tensor.shape()));
  if (!hasDenseRuns(tensor, tensor))
    failStrided("filling", tensor);
  DeviceMemoryBackend &backend = DeviceMemoryBackend::of(tensor.device());
  forEachDenseRun(tensor, tensor,
                  [&](std::byte *to, const std::byte *, size_t numBytes) {
                    backend.fill(tensor.device(), to, pattern, patternBytes,
                                 numBytes / patternBytes);
                  });
}
