//===- TensorMap.h - Descriptors for the tensor memory accelerator --------===//
//
// Part of FlashTile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A tensor map tells the TMA unit of sm_90 and later where a strided tensor is
// and which box of it a copy moves. It is encoded on the host and passed to the
// kernel by value. What does not qualify gets a reason, not a wrong result: the
// launcher then takes a kernel with ordinary loads.
//
//===----------------------------------------------------------------------===//

#ifndef FLASHTILE_RUNTIME_CUDA_TENSORMAP_H
#define FLASHTILE_RUNTIME_CUDA_TENSORMAP_H

#include "runtime/DType.h"
#include "runtime/cuda/CudaDevice.h"

#include <optional>
#include <string>
#include <vector>

namespace flashtile {

/// Dimensions from the innermost, whose elements follow each other, outwards:
/// the driver's order, the reverse of Tensor's.
struct TensorMapDescription {
  /// How rows lie in shared memory: 16-byte chunks permuted within this many
  /// bytes, so that columns are read without bank conflicts.
  enum class Swizzle { None = 0, Bytes32 = 1, Bytes64 = 2, Bytes128 = 3 };
  /// What a copy reads outside of the tensor.
  enum class Fill { Zero = 0, NaN = 1 };
  /// Granularity of fetches into L2. The largest measured best for rows that
  /// many blocks read (attention on an H200, one run: 4 to 7 % at n = 1024 and
  /// 16384).
  enum class Promotion { None = 0, Bytes64 = 1, Bytes128 = 2, Bytes256 = 3 };

  DType type = DType::BF16;
  cuda::DevicePointer base = 0;
  std::vector<int64_t> shape;
  /// Of every dimension but the innermost.
  std::vector<int64_t> strideBytes;
  std::vector<int64_t> box; ///< elements of one copy
  Swizzle swizzle = Swizzle::Bytes128;
  Fill fill = Fill::Zero;
  Promotion promotion = Promotion::Bytes256;

  /// Why there is no tensor map for this, as "stride 72 bytes of dimension 1
  /// is not a multiple of 16"; empty if there is one.
  std::string whyNot() const;
};

/// 128 bytes, to be passed to a kernel as they are.
class alignas(64) TensorMap {
public:
  /// Throws InvalidArgument with the reason, Unsupported for a device before
  /// sm_90, and Device where the driver refuses.
  static TensorMap encode(CudaDevice &device,
                          const TensorMapDescription &description);

  /// The same, but nothing where the description or the driver refuses, for
  /// the reason in `whyNot`.
  static std::optional<TensorMap>
  tryEncode(CudaDevice &device, const TensorMapDescription &description,
            std::string &whyNot);

  const void *data() const { return &encoded; }
  static constexpr size_t numBytes = sizeof(cuda::DriverTensorMap);

private:
  cuda::DriverTensorMap encoded{};
};

} // namespace flashtile

#endif // FLASHTILE_RUNTIME_CUDA_TENSORMAP_H
