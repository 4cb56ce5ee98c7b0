//===- DLPack.cpp - Exchange of tensors without a copy --------------------===//
//
// Part of FlashTile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/DLPack.h"

#include "compiler/Support/Error.h"

using namespace flashtile;

namespace {

/// What a lent tensor points to; released by the deleter.
struct Lent {
  Tensor tensor;
  Shape shape, strides; ///< DLPack wants them mutable
  DLManagedTensor managed;
};

} // namespace

static DLDataType toDLDataType(DType dtype) {
  DLDataTypeCode code;
  switch (dtype) {
  case DType::F64:
  case DType::F32:
  case DType::F16:
    code = kDLFloat;
    break;
  case DType::BF16:
    code = kDLBfloat;
    break;
  case DType::I8:
  case DType::I16:
  case DType::I32:
  case DType::I64:
    code = kDLInt;
    break;
  case DType::F8E4M3FN:
  case DType::F8E5M2:
  case DType::I1:
    throw Error(ErrorCode::Unsupported,
                "DLPack 0.6 has no element type for " + toString(dtype));
  }
  return {static_cast<uint8_t>(code),
          static_cast<uint8_t>(elementSize(dtype) * 8), 1};
}

static DType fromDLDataType(DLDataType type) {
  if (type.lanes != 1)
    throw Error(ErrorCode::Unsupported,
                "expected a DLPack tensor of 1 lane, but got " +
                    std::to_string(type.lanes));
  for (DType dtype : {DType::F64, DType::F32, DType::F16, DType::BF16,
                      DType::I8, DType::I16, DType::I32, DType::I64}) {
    const DLDataType known = toDLDataType(dtype);
    if (known.code == type.code && known.bits == type.bits)
      return dtype;
  }
  throw Error(ErrorCode::Unsupported,
              "expected a DLPack tensor of f64, f32, f16, bf16, i8, i16, i32 "
              "or i64, but got type code " +
                  std::to_string(type.code) + " with " +
                  std::to_string(type.bits) + " bits");
}

static DLDevice toDLDevice(Device device) {
  return {device.isCpu() ? kDLCPU : kDLCUDA, device.index()};
}

static Device fromDLDevice(DLDevice device) {
  switch (device.device_type) {
  case kDLCPU:
  case kDLCUDAHost: // pinned, but memory of the host
    return Device::cpu();
  case kDLCUDA:
    return Device::cuda(device.device_id);
  default:
    throw Error(ErrorCode::Unsupported,
                "expected a DLPack tensor on a cpu or cuda device, but got "
                "device type " +
                    std::to_string(device.device_type));
  }
}

DLManagedTensor *flashtile::toDLPack(const Tensor &tensor) {
  const DLDataType type = toDLDataType(tensor.dtype());
  auto *lent = new Lent{tensor, tensor.shape(), tensor.strides(), {}};
  DLTensor &view = lent->managed.dl_tensor;
  // With the offset in the pointer: not every receiver adds byte_offset.
  view.data = tensor.rawData();
  view.byte_offset = 0;
  view.device = toDLDevice(tensor.device());
  view.ndim = static_cast<int>(tensor.rank());
  view.dtype = type;
  view.shape = lent->shape.data();
  view.strides = lent->strides.data();
  lent->managed.manager_ctx = lent;
  lent->managed.deleter = [](DLManagedTensor *self) {
    delete static_cast<Lent *>(self->manager_ctx);
  };
  return &lent->managed;
}

Tensor flashtile::fromDLPack(DLManagedTensor *managed) {
  if (!managed)
    throw Error(ErrorCode::InvalidArgument,
                "expected a DLPack tensor, but got a null pointer");
  const DLTensor &view = managed->dl_tensor;
  const DType dtype = fromDLDataType(view.dtype);
  const Device device = fromDLDevice(view.device);
  if (view.ndim < 0 || (view.ndim > 0 && !view.shape))
    throw Error(ErrorCode::InvalidArgument,
                "expected a DLPack tensor with a shape, but got rank " +
                    std::to_string(view.ndim) +
                    (view.shape ? "" : " and a null pointer"));
  const Shape shape(view.shape, view.shape + view.ndim);
  Shape strides;
  if (view.strides)
    strides.assign(view.strides, view.strides + view.ndim);
  void *data = view.data;
  if (data)
    data = static_cast<char *>(data) + view.byte_offset;
  return Tensor::fromBlob(
      data, shape, dtype,
      [managed] {
        if (managed->deleter)
          managed->deleter(managed);
      },
      std::move(strides), device);
}
