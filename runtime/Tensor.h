//===- Tensor.h - Strided n-dimensional arrays ----------------------------===//
//
// Part of FlashTile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A Tensor is a handle: copying it copies a pointer, and `const` protects the
// handle, not the elements. Behind it are a shape, strides and a place in a
// Storage. These never change once the tensor exists, so that views share
// memory freely and only the elements are mutable state.
//
// Thread safety: that of std::shared_ptr. Different handles may be used from
// different threads at once, even to the same tensor; one handle that is being
// assigned to may not. Elements are plain memory: the caller keeps a write
// apart from every other access to the same element. version() is atomic.
//
// A tensor that requires a gradient is on the tape: views and copies of it, and
// the differentiable calls of kernels/, are recorded, and backward() follows
// the record. runtime/Autograd/README.md has the whole story.
//
//===----------------------------------------------------------------------===//

#ifndef FLASHTILE_RUNTIME_TENSOR_H
#define FLASHTILE_RUNTIME_TENSOR_H

#include "runtime/DType.h"
#include "runtime/Device.h"
#include "runtime/Scalar.h"
#include "runtime/Shape.h"

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

namespace flashtile {

class Storage;

namespace autograd {
class Node;
struct TensorAccess;
struct ViewRecord;
} // namespace autograd

class Tensor {
public:
  //===--------------------------------------------------------------------===//
  // Creation. Throws InvalidArgument for a negative extent and for a size
  // beyond 64 bits, OutOfMemory, and Unsupported for a device other than cpu
  // unless its library (TileCuda) is linked.
  //===--------------------------------------------------------------------===//

  /// No tensor; defined() is false and any other use throws InvalidArgument.
  Tensor() = default;

  /// Uninitialised, contiguous, 64-byte aligned.
  static Tensor empty(Shape shape, DType dtype, Device device = Device::cpu());
  static Tensor zeros(Shape shape, DType dtype, Device device = Device::cpu());
  static Tensor full(Shape shape, Scalar value, DType dtype,
                     Device device = Device::cpu());

  /// Standard normal, or uniform in [low, high) before rounding to `dtype`.
  /// The same seed gives the same elements whatever the platform and dtype, up
  /// to the rounding of the C library's log, sin and cos (randn).
  static Tensor randn(Shape shape, DType dtype, uint64_t seed,
                      Device device = Device::cpu());
  static Tensor uniform(Shape shape, DType dtype, uint64_t seed, double low = 0,
                        double high = 1, Device device = Device::cpu());

  /// Copies `shape`'s elements, in row-major order, from host memory.
  static Tensor fromData(const void *data, Shape shape, DType dtype,
                         Device device = Device::cpu());
  /// Copies `values`, whose number must be that of `shape`.
  template <typename T>
  static Tensor fromData(const std::vector<T> &values, Shape shape);

  /// Views memory of the caller, which must outlive the tensor and its views;
  /// `deleter`, if any, runs when the last of them is gone. Empty `strides`
  /// (in elements, not negative) mean contiguous. `data` must be aligned to
  /// the element. If this throws, `deleter` does not run.
  static Tensor fromBlob(void *data, Shape shape, DType dtype,
                         std::function<void()> deleter = nullptr,
                         Shape strides = {}, Device device = Device::cpu());

  //===--------------------------------------------------------------------===//
  // Description.
  //===--------------------------------------------------------------------===//

  bool defined() const { return impl != nullptr; }
  DType dtype() const;
  Device device() const;
  const Shape &shape() const;
  /// In elements. The strides of a new tensor are row-major.
  const Shape &strides() const;
  int64_t rank() const { return static_cast<int64_t>(shape().size()); }
  /// Extent of a dimension; a negative one counts from the back, here and in
  /// every other `dim`.
  int64_t size(int64_t dim) const;
  int64_t stride(int64_t dim) const;
  /// From the start of the storage to the first element.
  int64_t byteOffset() const;
  /// Number of elements.
  int64_t numel() const;
  /// numel() times the size of an element: what a contiguous copy takes.
  size_t nbytes() const;
  /// Row-major without gaps. Strides of extents of 1 do not count, and a
  /// tensor without elements is contiguous.
  bool isContiguous() const;
  /// Whether two tensors view the same storage.
  bool sharesStorageWith(const Tensor &other) const;
  /// "f32[2, 3] on cpu", with strides where it is not contiguous.
  std::string describe() const;

  /// Counts the writes to the storage through this API, by any view of it.
  /// Who writes through data() calls bumpVersion().
  uint64_t version() const;
  void bumpVersion() const;

  //===--------------------------------------------------------------------===//
  // Elements. On a device other than the cpu, data() and rawData() are its
  // addresses; at() and set() throw Unsupported; item() and toVector() copy.
  // Copies to and from the host return when they are done; others, and fills,
  // run in the current stream of the device. Elements that are converted or
  // gathered go through the host. A fill of, or a copy into, a view whose
  // innermost elements do not follow each other throws Unsupported.
  //===--------------------------------------------------------------------===//

  /// The first element. Throws InvalidArgument if `T` is not dtype()'s type.
  /// Null, perhaps, for a tensor without elements.
  template <typename T>
  T *data() const;
  /// The same without a check of the type.
  void *rawData() const;

  /// The element at `index`, one entry per dimension from 0 to size - 1.
  template <typename T>
  T at(const Shape &index) const;
  void set(const Shape &index, Scalar value) const;

  /// The only element of a tensor, converted to `T`; throws if there are more.
  template <typename T>
  T item() const;
  /// All elements in row-major order, converted to `T`.
  template <typename T>
  std::vector<T> toVector() const;

  /// Sets all elements.
  void fill(Scalar value) const;
  /// Copies the elements of `source`, converting them; its shape must broadcast
  /// to this one. The two may overlap.
  void copyFrom(const Tensor &source) const;

  //===--------------------------------------------------------------------===//
  // Views: the same memory under another shape. None of these copies.
  //===--------------------------------------------------------------------===//

  /// Elements begin, begin + step, ... before `end` of a dimension, with
  /// 0 <= begin <= end <= size and step > 0.
  Tensor slice(int64_t dim, int64_t begin, int64_t end, int64_t step = 1) const;
  /// `length` elements from `begin`.
  Tensor narrow(int64_t dim, int64_t begin, int64_t length) const;
  /// One index of a dimension, which disappears.
  Tensor select(int64_t dim, int64_t index) const;
  Tensor transpose(int64_t dim0, int64_t dim1) const;
  /// Dimension i of the result is dimension `order[i]` of this.
  Tensor permute(const Shape &order) const;
  /// The same elements in row-major order under another shape, one extent of
  /// which may be -1 (the rest). Throws if the strides do not allow a view.
  Tensor view(Shape newShape) const;
  /// Repeats dimensions of extent 1 (stride 0), and new ones in front. -1
  /// keeps an extent.
  Tensor expand(Shape newShape) const;
  /// Drops one dimension of extent 1, or all of them.
  Tensor squeeze(int64_t dim) const;
  Tensor squeeze() const;
  /// Inserts a dimension of extent 1 before `dim` (-1: at the end).
  Tensor unsqueeze(int64_t dim) const;

  //===--------------------------------------------------------------------===//
  // Copies. Those marked * return this tensor itself if nothing is to be done.
  //===--------------------------------------------------------------------===//

  /// * view(), on a contiguous copy if the strides do not allow a view.
  Tensor reshape(Shape newShape) const;
  /// * Row-major without gaps.
  Tensor contiguous() const;
  /// Always a copy; contiguous.
  Tensor clone() const;
  /// * With converted elements; see convertElement in Scalar.h.
  Tensor to(DType dtype) const;
  /// * On another device.
  Tensor to(Device device) const;

  //===--------------------------------------------------------------------===//
  // Autograd, by the names of libtorch. While GradMode::isEnabled(), set(),
  // fill() and copyFrom() refuse a tensor that requires a gradient, and
  // copyFrom() a source that does: writes are not recorded. All but
  // requiresGrad(), isLeaf() and detach() are in the library TileAutograd.
  //===--------------------------------------------------------------------===//

  bool requiresGrad() const;
  /// Puts a tensor on the tape as a leaf, or takes a leaf off it; gives the
  /// tensor itself. Throws InvalidArgument for elements that are no floats, and
  /// where a tensor that was computed is to be taken off.
  const Tensor &setRequiresGrad(bool enabled = true) const;
  /// Whether the tensor was not computed from others on the tape.
  bool isLeaf() const;
  /// What computes the gradients of the operands that this came from, and which
  /// of its results this was; null and 0 for a leaf.
  std::shared_ptr<autograd::Node> gradFn() const;
  int64_t outputNr() const;

  /// The sum of the gradients that backward() found; undefined before. Only of
  /// leaves and of tensors with retainGrad().
  Tensor grad() const;
  /// Replaces it; undefined by default, so that the next one counts alone.
  /// Throws InvalidArgument for another shape, type or device.
  void setGrad(const Tensor &gradient = {}) const;
  /// Keeps the gradient of a tensor that is no leaf as well.
  void retainGrad() const;
  bool retainsGrad() const;

  /// Adds the gradients of sum(*this * gradient) to grad() of the leaves that
  /// this was computed from, or of those in `inputs` only. An undefined
  /// `gradient` means 1, for a tensor of one element. What the graph saved is
  /// freed at the end, so that it can be used once, unless `retainGraph`.
  ///
  /// What a Function or hook throws leaves this, and then no grad() has changed
  /// and nothing is freed. Throws InvalidArgument where nothing requires a
  /// gradient, for a gradient that does not fit, for a graph that was freed,
  /// and for one whose saved tensors were written to since.
  void backward(const Tensor &gradient = {}, bool retainGraph = false,
                const std::vector<Tensor> &inputs = {}) const;
  /// The same elements, off the tape.
  Tensor detach() const;

  /// Calls `hook(gradient)` when the whole gradient by this tensor is known. A
  /// hook that returns a defined tensor replaces the gradient. Gives a number
  /// for removeHook(), which returns whether there was such a hook.
  template <typename Hook>
  uint64_t registerHook(Hook hook) const;
  bool removeHook(uint64_t id) const;

private:
  friend struct autograd::TensorAccess;
  struct Impl;
  explicit Tensor(std::shared_ptr<const Impl> impl) : impl(std::move(impl)) {}

  uint64_t addHook(std::function<Tensor(const Tensor &)> hook) const;
  /// `result`, a view or copy of this, put on the tape if this is on it.
  Tensor recorded(Tensor result, autograd::ViewRecord record) const;
  /// Throws if the tape would not notice that `operation` writes to this.
  void checkUnrecorded(const char *operation) const;

  const Impl &get() const;
  /// Another view of the same storage.
  Tensor makeView(Shape shape, Shape strides, int64_t byteOffset) const;
  /// `dim` counted from the front; throws if there is no such dimension.
  size_t resolveDim(int64_t dim) const;
  void checkElementType(DType type) const;
  void checkSingleElement() const;
  void *elementAddress(const Shape &index) const;

  std::shared_ptr<const Impl> impl;
};

//===----------------------------------------------------------------------===//
// Templates.
//===----------------------------------------------------------------------===//

namespace detail {
/// Throws InvalidArgument unless `count` is the number of elements of `shape`.
void checkElementCount(size_t count, const Shape &shape, DType dtype);
} // namespace detail

template <typename T>
Tensor Tensor::fromData(const std::vector<T> &values, Shape shape) {
  static_assert(!std::is_same_v<T, bool>, "std::vector<bool> holds no array");
  detail::checkElementCount(values.size(), shape, dtypeOf<T>);
  return fromData(values.data(), std::move(shape), dtypeOf<T>);
}

template <typename T>
T *Tensor::data() const {
  checkElementType(dtypeOf<T>);
  return static_cast<T *>(rawData());
}

template <typename T>
T Tensor::at(const Shape &index) const {
  checkElementType(dtypeOf<T>);
  return *static_cast<T *>(elementAddress(index));
}

template <typename T>
T Tensor::item() const {
  checkSingleElement();
  return *detach()
              .to(Device::cpu())
              .reshape({})
              .to(dtypeOf<T>)
              .template data<T>();
}

template <typename T>
std::vector<T> Tensor::toVector() const {
  Tensor dense = detach().to(Device::cpu()).to(dtypeOf<T>).contiguous();
  const T *first = dense.template data<T>();
  return std::vector<T>(first, first + dense.numel());
}

template <typename Hook>
uint64_t Tensor::registerHook(Hook hook) const {
  if constexpr (std::is_void_v<std::invoke_result_t<Hook &, const Tensor &>>)
    return addHook([hook = std::move(hook)](const Tensor &gradient) mutable {
      hook(gradient);
      return Tensor();
    });
  else
    return addHook(std::move(hook));
}

} // namespace flashtile

#endif // FLASHTILE_RUNTIME_TENSOR_H
