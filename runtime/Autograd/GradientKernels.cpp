//===- GradientKernels.cpp - Sums and copies of gradients on GPUs ---------===//
//
// Part of FlashTile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/Autograd/GradientKernels.h"

#include "compiler/Frontend/Dsl.h"
#include "runtime/Autograd/GradMode.h"
#include "runtime/Jit.h"

#include <map>
#include <mutex>
#include <tuple>

using namespace flashtile;
using namespace flashtile::autograd;

namespace {
/// A dimension of two arrays that are walked in step.
struct Dim {
  int64_t extent, targetStride, sourceStride;
};

/// A compiled kernel: sums or not, element types, rank or shape of the tile,
/// whether it accumulates, and the device.
using Key = std::tuple<bool, DType, DType, int64_t, bool, int, int>;
} // namespace

template <typename Build>
static Kernel kernelFor(const Key &key, Device device, Build build) {
  static std::mutex mutex;
  // Never destroyed: a graph with static lifetime may need it at exit.
  static auto &kernels = *new std::map<Key, Kernel>;
  {
    const std::lock_guard<std::mutex> lock(mutex);
    auto it = kernels.find(key);
    if (it != kernels.end())
      return it->second;
  }
  const Kernel kernel = Jit(device).compile(build()).kernel();
  const std::lock_guard<std::mutex> lock(mutex);
  return kernels.emplace(key, kernel).first->second;
}

static DType wideType(DType a, DType b) {
  return a == DType::F64 || b == DType::F64 ? DType::F64 : DType::F32;
}

//===----------------------------------------------------------------------===//
// Elementwise
//===----------------------------------------------------------------------===//

static constexpr int64_t kElements = 1024;

dsl::KernelModule autograd::buildElementwise(DType target, DType source,
                                             int64_t rank, bool accumulates) {
  using namespace dsl;
  KernelBuilder kernel(accumulates ? "gradient_add" : "gradient_copy");
  Value to = kernel.pointer("target", target);
  Value from = kernel.pointer("source", source);
  Value n = kernel.i64("n");
  Values extents, toStrides, fromStrides;
  for (int64_t dim = 0; dim < rank; ++dim) {
    const std::string number = std::to_string(dim);
    extents.push_back(kernel.i64("extent_" + number));
    toStrides.push_back(kernel.i64("target_stride_" + number));
    fromStrides.push_back(kernel.i64("source_stride_" + number));
  }
  kernel.grid({ceilDiv(n, kElements)});

  Value at = cast(programId(0), i64) * kElements + arange(0, kElements);
  Value inside = at < n;
  Value rest = at;
  for (auto dim = static_cast<size_t>(rank); dim-- > 0;) {
    Value index = rest;
    if (dim > 0) {
      index = rest % extents[dim];
      rest = rest / extents[dim];
    }
    to = to + index * toStrides[dim];
    from = from + index * fromStrides[dim];
  }
  const DType wide = wideType(target, source);
  Value result = cast(load(from, inside), wide);
  if (accumulates)
    result = cast(load(to, inside), wide) + result;
  store(to, cast(result, target), inside);
  return kernel.build();
}

/// The dimensions of the two, with those merged that continue each other.
static std::vector<Dim> mergedDims(const Tensor &target, const Tensor &source) {
  std::vector<Dim> dims;
  for (int64_t i = 0; i < target.rank(); ++i) {
    const Dim dim = {target.size(i), target.stride(i), source.stride(i)};
    if (dim.extent == 1)
      continue;
    Dim *last = dims.empty() ? nullptr : &dims.back();
    if (last && last->targetStride == dim.extent * dim.targetStride &&
        last->sourceStride == dim.extent * dim.sourceStride)
      *last = {last->extent * dim.extent, dim.targetStride, dim.sourceStride};
    else
      dims.push_back(dim);
  }
  if (dims.empty())
    dims.push_back({1, 1, 1});
  return dims;
}

/// Dimensions of a launch.
static constexpr size_t kMaxDims = 5;

/// The first dimension that is longer than 1: where there are too many, there
/// is a launch for each of its places.
static int64_t outermost(const Tensor &target) {
  int64_t outer = 0;
  while (target.size(outer) == 1)
    ++outer;
  return outer;
}

static Kernel elementwiseKernel(const Tensor &target, const Tensor &source,
                                int64_t rank, bool accumulates) {
  const Device device = target.device();
  const Key key = {false,          target.dtype(),
                   source.dtype(), rank,
                   accumulates,    static_cast<int>(device.kind()),
                   device.index()};
  return kernelFor(key, device, [&] {
    return buildElementwise(target.dtype(), source.dtype(), rank, accumulates);
  });
}

void autograd::prepareElementwise(const Tensor &target, const Tensor &source,
                                  bool accumulates) {
  const NoGradGuard noGrad;
  if (target.numel() == 0)
    return;
  const size_t rank = mergedDims(target, source).size();
  if (rank <= kMaxDims) {
    elementwiseKernel(target, source, static_cast<int64_t>(rank), accumulates);
    return;
  }
  const int64_t outer = outermost(target);
  prepareElementwise(target.select(outer, 0), source.select(outer, 0),
                     accumulates);
}

void autograd::launchElementwise(const Tensor &target, const Tensor &source,
                                 bool accumulates) {
  const NoGradGuard noGrad;
  if (target.numel() == 0)
    return;
  const std::vector<Dim> dims = mergedDims(target, source);
  if (dims.size() > kMaxDims) {
    const int64_t outer = outermost(target);
    for (int64_t i = 0; i < target.size(outer); ++i)
      launchElementwise(target.select(outer, i), source.select(outer, i),
                        accumulates);
    return;
  }
  const Kernel kernel = elementwiseKernel(
      target, source, static_cast<int64_t>(dims.size()), accumulates);
  std::vector<ArgumentValue> arguments = {target, source, target.numel()};
  for (const Dim &dim : dims)
    for (int64_t value : {dim.extent, dim.targetStride, dim.sourceStride})
      arguments.push_back(value);
  kernel.launchPositional(arguments.data(), arguments.size());
}

//===----------------------------------------------------------------------===//
// Sums
//===----------------------------------------------------------------------===//

/// Long rows are summed across threads, wide ones each on its own.
static int64_t innerBlock(bool isWide) { return isWide ? 128 : 4; }
static int64_t reducedBlock(bool isWide) { return isWide ? 8 : 256; }

dsl::KernelModule autograd::buildSum(DType source, bool isWide) {
  const int64_t blockInner = innerBlock(isWide);
  const int64_t blockReduced = reducedBlock(isWide);
  using namespace dsl;
  const DType wide = wideType(source, source);
  KernelBuilder kernel("gradient_sum");
  Value to = kernel.pointer("target", wide);
  Value from = kernel.pointer("source", source);
  Value outer = kernel.i64("outer"), reduced = kernel.i64("reduced");
  Value inner = kernel.i64("inner");
  Value strideOuter = kernel.i64("stride_outer");
  Value strideReduced = kernel.i64("stride_reduced");
  Value strideInner = kernel.i64("stride_inner");
  kernel.grid({outer, ceilDiv(inner, blockInner)});

  Value row = cast(programId(0), i64);
  Value column = cast(programId(1), i64) * blockInner + arange(0, blockInner);
  Value inside = expandDims(column < inner, 0);
  Value start = from + row * strideOuter + expandDims(column * strideInner, 0);
  Value sums;
  std::tie(sums) = forRange(
      0, reduced, blockReduced, {zeros({blockReduced, blockInner}, wide)},
      [&](Value r, Value sums) {
        Value at = expandDims(r + arange(0, blockReduced), 1);
        Value tile = load(start + at * strideReduced, inside & (at < reduced));
        return std::tuple(sums + cast(tile, wide));
      });
  store(to + row * inner + column, sum(sums, 0), column < inner);
  return kernel.build();
}

void autograd::launchSum(const Tensor &target, const Tensor &source) {
  const NoGradGuard noGrad;
  if (target.numel() == 0)
    return;
  constexpr int64_t kWide = 64;
  const bool isWide = source.size(2) >= kWide;
  const Device device = target.device();
  const Key key = {true,           target.dtype(),
                   source.dtype(), innerBlock(isWide),
                   false,          static_cast<int>(device.kind()),
                   device.index()};
  const Kernel kernel =
      kernelFor(key, device, [&] { return buildSum(source.dtype(), isWide); });
  kernel(target, source, source.size(0), source.size(1), source.size(2),
         source.stride(0), source.stride(1), source.stride(2));
}
