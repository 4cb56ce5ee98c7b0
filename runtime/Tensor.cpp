//===- Tensor.cpp - Description of and access to tensors ------------------===//
//
// Part of FlashTile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/Tensor.h"

#include "compiler/Support/Error.h"
#include "runtime/Autograd/GradMode.h"
#include "runtime/Autograd/TensorAccess.h"
#include "runtime/TensorDevices.h"
#include "runtime/TensorImpl.h"

using namespace flashtile;

static bool computeIsContiguous(const Shape &shape, const Shape &strides,
                                int64_t numel) {
  int64_t expected = 1;
  for (size_t i = shape.size(); numel && i-- > 0;) {
    if (shape[i] == 1)
      continue;
    if (strides[i] != expected)
      return false;
    expected *= shape[i];
  }
  return true;
}

Tensor::Impl::Impl(std::shared_ptr<Storage> storage, Shape shape, Shape strides,
                   DType dtype, int64_t byteOffset)
    : storage(std::move(storage)), shape(std::move(shape)),
      strides(std::move(strides)), dtype(dtype), byteOffset(byteOffset),
      numel(checkedElementCount(this->shape, dtype)),
      isContiguous(computeIsContiguous(this->shape, this->strides, numel)) {}

// Apart from what is called for every launch: texts take room on the stack.
[[noreturn]] static void failUndefined() {
  throw Error(ErrorCode::InvalidArgument,
              "expected a tensor, but got an undefined one (the result of "
              "the default constructor)");
}

[[noreturn]] static void failDim(int64_t dim, const Shape &shape) {
  const auto n = static_cast<int64_t>(shape.size());
  throw Error(ErrorCode::InvalidArgument,
              n == 0
                  ? "a tensor of rank 0 has no dimension " + std::to_string(dim)
                  : "expected a dimension from " + std::to_string(-n) + " to " +
                        std::to_string(n - 1) + " for shape " +
                        toString(shape) + ", but got " + std::to_string(dim));
}

const Tensor::Impl &Tensor::get() const {
  if (!impl)
    failUndefined();
  return *impl;
}

DType Tensor::dtype() const { return get().dtype; }
Device Tensor::device() const { return get().storage->device(); }
const Shape &Tensor::shape() const { return get().shape; }
const Shape &Tensor::strides() const { return get().strides; }
int64_t Tensor::byteOffset() const { return get().byteOffset; }
int64_t Tensor::numel() const { return get().numel; }
bool Tensor::isContiguous() const { return get().isContiguous; }
uint64_t Tensor::version() const { return get().storage->version(); }
void Tensor::bumpVersion() const { get().storage->bumpVersion(); }

size_t Tensor::nbytes() const {
  return static_cast<size_t>(numel()) * elementSize(dtype());
}

int64_t Tensor::size(int64_t dim) const { return get().shape[resolveDim(dim)]; }
int64_t Tensor::stride(int64_t dim) const {
  return get().strides[resolveDim(dim)];
}

size_t Tensor::resolveDim(int64_t dim) const {
  const Shape &shape = get().shape;
  const auto n = static_cast<int64_t>(shape.size());
  if (dim < -n || dim >= n)
    failDim(dim, shape);
  return static_cast<size_t>(dim < 0 ? dim + n : dim);
}

bool Tensor::sharesStorageWith(const Tensor &other) const {
  return get().storage == other.get().storage;
}

std::string Tensor::describe() const {
  std::string text = toString(dtype()) + toString(shape());
  if (!isContiguous())
    text += " with strides " + toString(strides());
  return text + " on " + device().toString();
}

void *Tensor::rawData() const {
  return get().storage->data() + get().byteOffset;
}

void Tensor::checkElementType(DType type) const {
  if (type != dtype())
    throw Error(ErrorCode::InvalidArgument,
                "expected the C++ type of " + toString(dtype()) +
                    " elements, but got that of " + toString(type));
}

void Tensor::checkSingleElement() const {
  if (numel() != 1)
    throw Error(ErrorCode::InvalidArgument,
                "expected a tensor of 1 element, but got " +
                    std::to_string(numel()) + " in shape " + toString(shape()));
}

void *Tensor::elementAddress(const Shape &index) const {
  const Impl &self = get();
  detail::requireHost(*this, "access to an element");
  if (index.size() != self.shape.size())
    throw Error(ErrorCode::InvalidArgument,
                "expected " + std::to_string(self.shape.size()) +
                    " indices for shape " + toString(self.shape) +
                    ", but got " + std::to_string(index.size()));
  int64_t offset = 0;
  for (size_t i = 0; i < index.size(); ++i) {
    if (index[i] < 0 || index[i] >= self.shape[i])
      throw Error(ErrorCode::InvalidArgument, "index " + toString(index) +
                                                  " is outside of shape " +
                                                  toString(self.shape));
    offset += index[i] * self.strides[i];
  }
  return static_cast<std::byte *>(rawData()) +
         offset * static_cast<int64_t>(elementSize(self.dtype));
}

void Tensor::set(const Shape &index, Scalar value) const {
  checkUnrecorded("set");
  void *address = elementAddress(index);
  dispatchDType(dtype(), [&](auto tag) {
    using T = typename decltype(tag)::Type;
    *static_cast<T *>(address) = value.to<T>();
  });
  bumpVersion();
}

//===----------------------------------------------------------------------===//
// Autograd: what needs no tape
//===----------------------------------------------------------------------===//

autograd::AutogradMeta::~AutogradMeta() = default;

const Storage &autograd::TensorAccess::storage(const Tensor &tensor) {
  return *tensor.get().storage;
}

bool Tensor::requiresGrad() const {
  const auto &meta = get().autograd;
  return meta && meta->requiresGrad();
}

bool Tensor::isLeaf() const {
  const auto &meta = get().autograd;
  return !meta || meta->isLeaf();
}

Tensor Tensor::detach() const {
  return makeView(shape(), strides(), byteOffset());
}

Tensor Tensor::recorded(Tensor result, autograd::ViewRecord record) const {
  if (requiresGrad() && GradMode::isEnabled() && isFloat(result.dtype()))
    get().autograd->recordView(*this, result, std::move(record));
  return result;
}

void Tensor::checkUnrecorded(const char *operation) const {
  if (requiresGrad() && GradMode::isEnabled())
    throw Error(ErrorCode::InvalidArgument,
                std::string(operation) + "() of " + describe() +
                    ", which requires a gradient: the write would not be "
                    "recorded; write within a NoGradGuard, or use detach()");
}
