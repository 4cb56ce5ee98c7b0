//===- CudaBackend.cpp - Tensors on GPUs ----------------------------------===//
//
// Part of FlashTile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/cuda/CudaBackend.h"

#include "compiler/Support/Error.h"
#include "runtime/Autograd/TensorAccess.h"
#include "runtime/DeviceMemoryBackend.h"
#include "runtime/Storage.h"
#include "runtime/cuda/CudaMemory.h"

#include <algorithm>
#include <iterator>
#include <map>
#include <mutex>
#include <utility>

using namespace flashtile;
using namespace flashtile::cuda;

static DevicePointer addressOf(const void *pointer) {
  return reinterpret_cast<uintptr_t>(pointer);
}

namespace {

/// The blocks of all tensors by address, so that a use can be recorded given
/// only the tensor.
class Blocks {
public:
  /// Gives the block a place of its own, where it stays.
  DeviceMemory *add(DeviceMemory block) {
    const DevicePointer address = block.address();
    const std::lock_guard<std::mutex> lock(mutex);
    return &byAddress.emplace(address, std::move(block)).first->second;
  }
  void remove(const DeviceMemory *block) noexcept {
    decltype(byAddress)::node_type removed; // freed without the lock
    const std::lock_guard<std::mutex> lock(mutex);
    removed = byAddress.extract(block->address());
  }
  void recordUse(DevicePointer address, const CudaStream &stream) {
    const std::lock_guard<std::mutex> lock(mutex);
    auto next = byAddress.upper_bound(address);
    if (next == byAddress.begin())
      return;
    DeviceMemory &block = std::prev(next)->second;
    if (address - block.address() < std::max<size_t>(block.numBytes(), 1))
      block.usedBy(stream);
  }

private:
  std::mutex mutex;
  std::map<DevicePointer, DeviceMemory> byAddress;
};

class CudaBackend final : public DeviceMemoryBackend {
public:
  Block allocate(size_t numBytes, Device device) override {
    CudaDevice &gpu = CudaDevice::get(device);
    DeviceMemory *const block =
        blocks.add(DeviceMemory(CudaStream::current(gpu), numBytes));
    Block result;
    result.data = reinterpret_cast<void *>(block->address());
    result.handle = block;
    result.release = [this, block] { blocks.remove(block); };
    return result;
  }

  void checkDevice(Device device) override { CudaDevice::get(device); }

  void copyFromHost(Device device, void *target, const void *source,
                    size_t numBytes) override {
    current(device).copyToDevice(addressOf(target), source, numBytes);
  }
  void copyToHost(Device device, void *target, const void *source,
                  size_t numBytes) override {
    current(device).copyToHost(target, addressOf(source), numBytes);
  }

  void copy(Device targetDevice, void *target, Device sourceDevice,
            const void *source, size_t numBytes) override {
    const CudaStream stream = current(targetDevice);
    if (sourceDevice == targetDevice)
      return stream.copyOnDevice(addressOf(target), addressOf(source),
                                 numBytes);
    // After the source is written; and the source's stream goes on after it is
    // read.
    const CudaStream sourceStream = current(sourceDevice);
    stream.wait(sourceStream);
    stream.copyFromPeer(addressOf(target), sourceStream.device(),
                        addressOf(source), numBytes);
    sourceStream.wait(stream);
  }

  void fill(Device device, void *target, uint32_t pattern, size_t elementSize,
            size_t count) override {
    current(device).fill(addressOf(target), pattern, elementSize, count);
  }

  void synchronize(Device device) override { current(device).synchronize(); }

  void recordUse(const Tensor &tensor, const CudaStream &stream) {
    const auto *block = static_cast<const DeviceMemory *>(
        autograd::TensorAccess::storage(tensor).deviceBlock());
    if (block && block->isKnownUser(stream)) // nearly always
      return;
    // Borrowed memory may be inside of a block, too.
    blocks.recordUse(addressOf(tensor.rawData()), stream);
  }

private:
  static CudaStream current(Device device) {
    return CudaStream::current(CudaDevice::get(device));
  }

  Blocks blocks;
};

} // namespace

/// Never destroyed: tensors with static lifetime use it at exit.
static CudaBackend &backend() {
  static CudaBackend &instance = *new CudaBackend;
  return instance;
}

// The linker is told to look for this name (CMakeLists.txt), so that the
// registration is part of every program that links TileCuda.
extern "C" const bool flashtileCudaBackendIsRegistered = [] {
  DeviceMemoryBackend::registerFor(Device::Kind::Cuda, &backend());
  return true;
}();

void flashtile::recordUse(const Tensor &tensor, const CudaStream &stream) {
  if (!tensor.device().isCuda())
    throw Error(ErrorCode::InvalidArgument,
                "expected a tensor on a cuda device, but got " +
                    tensor.describe());
  if (tensor.numel())
    backend().recordUse(tensor, stream);
}
