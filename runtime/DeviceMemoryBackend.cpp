//===- DeviceMemoryBackend.cpp - Memory that is not the host's ------------===//
//
// Part of FlashTile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/DeviceMemoryBackend.h"

#include "compiler/Support/Error.h"

#include <atomic>

using namespace flashtile;

/// Of the only kind that is not the host. Constant-initialised, as backends
/// register in static constructors.
static std::atomic<DeviceMemoryBackend *> cudaBackend{nullptr};

DeviceMemoryBackend::~DeviceMemoryBackend() = default;

void DeviceMemoryBackend::registerFor(Device::Kind kind,
                                      DeviceMemoryBackend *backend) {
  if (kind != Device::Kind::Cuda)
    throw Error(ErrorCode::InvalidArgument,
                "the memory of the cpu needs no backend");
  cudaBackend.store(backend, std::memory_order_release);
}

DeviceMemoryBackend &DeviceMemoryBackend::of(Device device) {
  DeviceMemoryBackend *backend =
      device.isCuda() ? cudaBackend.load(std::memory_order_acquire) : nullptr;
  if (!backend)
    throw Error(ErrorCode::Unsupported, "tensors on device '" +
                                            device.toString() +
                                            "' are not available in this "
                                            "build; the cpu target works");
  return *backend;
}
