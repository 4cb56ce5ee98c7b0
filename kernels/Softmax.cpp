//===- Softmax.cpp - Softmax of rows on tensors ---------------------------===//
//
// Part of FlashTile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "kernels/Softmax.h"

#include "compiler/Support/Error.h"
#include "kernels/EnumChecks.h"
#include "kernels/LookupTable.h"
#include "kernels/ProblemClass.h"
#include "kernels/SoftmaxFunction.h"
#include "kernels/SoftmaxKernel.h"
#include "kernels/TensorStack.h"
#include "runtime/Jit.h"

#include <algorithm>
#include <cmath>
#include <sstream>
#include <tuple>

using namespace flashtile;
using namespace flashtile::kernels;

[[noreturn]] static void refuse(const std::string &message) {
  throw Error(ErrorCode::InvalidArgument, "softmax: " + message);
}

void flashtile::checkSoftmaxInput(const Tensor &x,
                                  const SoftmaxOptions &options) {
  checkOption(options.alignment);
  checkOption("outputType", options.outputType);
  if (!x.defined())
    refuse("'x' is undefined");
  if (x.rank() < 2)
    refuse("expected 'x' to be [..., rows, columns], but got " + x.describe());
  if (!isFloat(x.dtype()))
    refuse("expected 'x' of a float type, but got " + toString(x.dtype()));
  for (int64_t extent : {x.size(-2), x.size(-1)})
    if (extent > kMaxExtent)
      refuse("expected at most " + std::to_string(kMaxExtent) +
             " rows and columns of 'x', but got " + std::to_string(extent));
  // Times log2(e), as the compiled code has it, it must still fit f32.
  constexpr double kMaxScale = 1e38;
  if (!(std::abs(options.scale) <= kMaxScale)) {
    std::ostringstream got;
    got << options.scale;
    refuse("expected a scale between -1e38 and 1e38, but got " + got.str());
  }
}

static void checkOutputs(const Tensor &x, DType type, const Tensor &y,
                         const Tensor &lse) {
  Shape rows = x.shape();
  rows.pop_back();
  if (!y.defined() || y.shape() != x.shape() || y.dtype() != type)
    refuse("expected 'y' to be " + toString(type) + toString(x.shape()) +
           ", but got " + (y.defined() ? y.describe() : "an undefined tensor"));
  const DType wide = x.dtype() == DType::F64 ? DType::F64 : DType::F32;
  if (lse.defined() &&
      (lse.shape() != rows || lse.dtype() != wide || !lse.isContiguous()))
    refuse("expected 'lse' to be a contiguous " + toString(wide) +
           toString(rows) + ", but got " + lse.describe());
  for (auto [name, tensor] : {std::pair("y", &y), std::pair("lse", &lse)})
    if (tensor->defined() && tensor->device() != x.device())
      refuse(std::string("expected '") + name + "' on " +
             x.device().toString() + ", as 'x', but got " + tensor->describe());
  for (int64_t dim = 0; dim < y.rank(); ++dim)
    if (y.numel() > 0 && y.size(dim) > 1 && y.stride(dim) == 0)
      refuse("expected the elements of 'y' in places of their own, but got " +
             y.describe());
}

/// [batch, rows, columns] with contiguous columns: a view where the strides
/// allow it, else a copy.
static Tensor asMatrices(const Tensor &x) {
  Tensor view = x.size(-1) > 1 && x.stride(-1) != 1 ? x.contiguous() : x;
  return view.rank() == 3 ? view : view.reshape({-1, x.size(-2), x.size(-1)});
}

/// Rows of up to this many columns are read once and held in registers.
static constexpr int64_t kSingleTile = 4096;
/// Elements of a tile: some for each thread of a program.
static constexpr int64_t kTileElements = 2048;

static SoftmaxKernelConfig configOf(const Tensor &x, DType outputType,
                                    bool withLse,
                                    const SoftmaxOptions &options) {
  SoftmaxKernelConfig config;
  config.dtype = x.dtype();
  config.outputType = outputType;
  config.causal = options.causal;
  config.alignment = options.alignment;
  config.withLse = withLse;
  const int64_t columns = sizeClass(std::max<int64_t>(x.size(-1), 32));
  config.blockColumns = options.blockColumns     ? options.blockColumns
                        : columns <= kSingleTile ? columns
                                                 : kTileElements;
  config.singleTile = x.size(-1) <= config.blockColumns;
  const int64_t fitting = std::max<int64_t>(
      1, std::min(kTileElements / config.blockColumns, sizeClass(x.size(-2))));
  config.blockRows = options.blockRows ? options.blockRows : fitting;
  return config;
}

static Kernel kernelFor(const SoftmaxKernelConfig &config, Device device) {
  using Key = std::tuple<int, int, ElementType, ElementType, bool, int, bool,
                         bool, int64_t, int64_t>;
  const Key key = {static_cast<int>(device.kind()),
                   device.index(),
                   config.dtype,
                   *config.outputType,
                   config.causal,
                   static_cast<int>(config.alignment),
                   config.withLse,
                   config.singleTile,
                   config.blockRows,
                   config.blockColumns};
  static LookupTable<Key, Kernel> table;
  return table.get(key, [&] {
    return Jit(device).compile(buildSoftmaxKernel(config)).kernel();
  });
}

Tensor flashtile::softmax(const Tensor &x, const SoftmaxOptions &options) {
  if (autograd::isRecorded({x}))
    return Softmax::apply(x, options).first;
  checkSoftmaxInput(x, options);
  Tensor y = Tensor::empty(x.shape(), options.outputType.value_or(x.dtype()),
                           x.device());
  softmax(x, options, y);
  return y;
}

void flashtile::softmax(const Tensor &x, const SoftmaxOptions &options,
                        Tensor &y, const Tensor &lse) {
  autograd::checkNotRecorded("softmax into a tensor of the caller", {x});
  checkSoftmaxInput(x, options);
  const DType type = options.outputType.value_or(x.dtype());
  checkOutputs(x, type, y, lse);
  const SoftmaxKernelConfig config = configOf(x, type, lse.defined(), options);
  const Kernel kernel = kernelFor(config, x.device());
  if (x.numel() == 0) {
    // Rows without columns see nothing.
    if (lse.defined())
      lse.fill(-INFINITY);
    return;
  }
  const Tensor in = asMatrices(x), out = asMatrices(y);
  if (!out.sharesStorageWith(y))
    refuse("expected 'y' with contiguous columns and its leading dimensions in "
           "one block of memory, but got " +
           y.describe());
  std::vector<ArgumentValue> arguments = {in, out};
  if (lse.defined())
    arguments.push_back(lse);
  for (int64_t extent : {in.size(1), in.size(2), in.size(0)})
    arguments.push_back(extent);
  for (const Tensor *tensor : {&in, &out})
    for (int64_t dim : {0, 1})
      arguments.push_back(tensor->stride(dim));
  if (x.dtype() == DType::F64)
    arguments.push_back(options.scale);
  else
    arguments.push_back(static_cast<float>(options.scale));
  kernel.launchPositional(arguments.data(), arguments.size());
}

Kernel flashtile::softmaxKernel(const Tensor &x, const SoftmaxOptions &options,
                                bool withLse) {
  checkSoftmaxInput(x, options);
  const DType type = options.outputType.value_or(x.dtype());
  return kernelFor(configOf(x, type, withLse, options), x.device());
}
