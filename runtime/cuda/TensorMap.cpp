//===- TensorMap.cpp - Descriptors for the tensor memory accelerator ------===//
//
// Part of FlashTile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The limits are those of cuTensorMapEncodeTiled's documentation.
//
//===----------------------------------------------------------------------===//

#include "runtime/cuda/TensorMap.h"

#include "compiler/Support/Error.h"

#include <array>

using namespace flashtile;
using namespace flashtile::cuda;

using Swizzle = TensorMapDescription::Swizzle;

static constexpr size_t maxRank = 5;

/// CUtensorMapDataType.
static int dataTypeOf(DType type) {
  switch (type) {
  case DType::I1:
  case DType::I8:
  case DType::F8E4M3FN:
  case DType::F8E5M2:
    return 0; // UINT8
  case DType::I16:
    return 1; // UINT16
  case DType::I32:
    return 3;
  case DType::I64:
    return 5;
  case DType::F16:
    return 6;
  case DType::F32:
    return 7;
  case DType::F64:
    return 8;
  case DType::BF16:
    return 9;
  }
  __builtin_unreachable();
}

/// Bytes that an inner row of the box may have; 0 where the swizzle sets none.
static int64_t swizzleSpan(Swizzle swizzle) {
  return swizzle == Swizzle::None ? 0 : 16 << static_cast<int>(swizzle);
}

static std::string number(int64_t value) { return std::to_string(value); }

static std::string whyNotTensor(const TensorMapDescription &map) {
  constexpr int64_t maxExtent = int64_t(1) << 32;
  constexpr int64_t strideLimit = int64_t(1) << 40;
  if (map.base % 16)
    return "the base address is " +
           number(static_cast<int64_t>(map.base % 16)) +
           " bytes past a multiple of 16";
  for (size_t i = 0; i < map.shape.size(); ++i)
    if (map.shape[i] < 1 || map.shape[i] > maxExtent)
      return "extent " + number(map.shape[i]) + " of dimension " +
             std::to_string(i) + " is not from 1 to 2^32";
  for (size_t i = 0; i < map.strideBytes.size(); ++i) {
    const int64_t stride = map.strideBytes[i];
    if (stride % 16 == 0 && stride >= 0 && stride < strideLimit)
      continue;
    return "stride " + number(stride) + " bytes of dimension " +
           std::to_string(i + 1) +
           (stride % 16 ? " is not a multiple of 16"
                        : " is not from 0 to 2^40 - 1");
  }
  return {};
}

static std::string whyNotBox(const TensorMapDescription &map) {
  constexpr int64_t maxBox = 256;
  for (size_t i = 0; i < map.box.size(); ++i)
    if (map.box[i] < 1 || map.box[i] > maxBox)
      return "extent " + number(map.box[i]) + " of the box in dimension " +
             std::to_string(i) + " is not from 1 to 256";
  const int64_t rowBytes =
      map.box[0] * static_cast<int64_t>(elementSize(map.type));
  if (rowBytes % 16)
    return "a row of the box has " + number(rowBytes) +
           " bytes, which is not a multiple of 16";
  const int64_t span = swizzleSpan(map.swizzle);
  if (span && rowBytes > span)
    return "a row of the box has " + number(rowBytes) +
           " bytes, more than the swizzle's " + number(span);
  return {};
}

std::string TensorMapDescription::whyNot() const {
  const size_t rank = shape.size();
  if (rank < 1 || rank > maxRank)
    return "rank " + std::to_string(rank) + " is not from 1 to 5";
  if (strideBytes.size() + 1 != rank || box.size() != rank)
    return "rank " + std::to_string(rank) + " needs " +
           std::to_string(rank - 1) + " strides and " + std::to_string(rank) +
           " extents of the box, but there are " +
           std::to_string(strideBytes.size()) + " and " +
           std::to_string(box.size());
  if (fill == Fill::NaN && (!isFloat(type) || elementSize(type) == 1))
    return "elements of type " + toString(type) +
           " cannot be filled with NaN outside of the tensor";
  std::string reason = whyNotTensor(*this);
  return reason.empty() ? whyNotBox(*this) : reason;
}

/// Asks the driver for a map of what qualifies.
static Result encodeTiled(CudaDevice &device,
                          const TensorMapDescription &description,
                          DriverTensorMap &encoded) {
  std::array<uint64_t, maxRank> shape{}, strides{};
  std::array<uint32_t, maxRank> box{}, elementStrides{};
  const size_t rank = description.shape.size();
  for (size_t i = 0; i < rank; ++i) {
    shape[i] = static_cast<uint64_t>(description.shape[i]);
    box[i] = static_cast<uint32_t>(description.box[i]);
    elementStrides[i] = 1;
    if (i + 1 < rank)
      strides[i] = static_cast<uint64_t>(description.strideBytes[i]);
  }
  constexpr int interleaveNone = 0;
  return device.tryCall(
      device.api().cuTensorMapEncodeTiled, &encoded,
      dataTypeOf(description.type), static_cast<uint32_t>(rank),
      reinterpret_cast<void *>(description.base), shape.data(), strides.data(),
      box.data(), elementStrides.data(), interleaveNone,
      static_cast<int>(description.swizzle),
      static_cast<int>(description.promotion),
      static_cast<int>(description.fill));
}

static void checkDevice(const CudaDevice &device) {
  if (device.properties().computeMajor < 9)
    throw Error(ErrorCode::Unsupported,
                "tensor maps need sm_90 or later, but the device is " +
                    device.describe());
}

std::optional<TensorMap>
TensorMap::tryEncode(CudaDevice &device,
                     const TensorMapDescription &description,
                     std::string &whyNot) {
  checkDevice(device);
  whyNot = description.whyNot();
  if (!whyNot.empty())
    return std::nullopt;
  TensorMap map;
  const Result result = encodeTiled(device, description, map.encoded);
  if (result == invalidValue) {
    whyNot = "the driver refuses it: " + device.api().describe(result);
    return std::nullopt;
  }
  if (result != success)
    device.fail(device.api().cuTensorMapEncodeTiled.name, result);
  return map;
}

TensorMap TensorMap::encode(CudaDevice &device,
                            const TensorMapDescription &description) {
  checkDevice(device);
  const std::string reason = description.whyNot();
  if (!reason.empty())
    throw Error(ErrorCode::InvalidArgument, "no tensor map: " + reason);
  TensorMap map;
  const Result result = encodeTiled(device, description, map.encoded);
  if (result != success)
    device.fail(device.api().cuTensorMapEncodeTiled.name, result);
  return map;
}
