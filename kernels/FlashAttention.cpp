//===- FlashAttention.cpp - Attention on tensors
//-------------------------------===//
//
// Part of FlashTile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Checks shapes, views every operand as [batch, heads, rows, d], picks a
// configuration, and launches. Compiled kernels are kept by configuration.
//
//===----------------------------------------------------------------------===//

#include "kernels/FlashAttention.h"

#include "compiler/Support/Error.h"
#include "runtime/Jit.h"
#include "runtime/Shape.h"

#include <cmath>
#include <limits>
#include <map>
#include <mutex>
#include <tuple>

using namespace flashtile;

namespace {
/// One operand as [batch, heads, rows, d].
struct Operand {
  Tensor tensor;
  int64_t batch, heads, rows, headDim;
};

[[noreturn]] void refuse(const std::string &message) {
  throw Error(ErrorCode::InvalidArgument, "flash attention: " + message);
}
} // namespace

/// Views a tensor of two or more dimensions as [batch, heads, rows, d]. A
/// tensor of three dimensions has one head in each batch.
static Operand asOperand(const char *name, const Tensor &tensor) {
  if (!tensor.defined())
    refuse(std::string("'") + name + "' is undefined");
  int64_t rank = tensor.rank();
  if (rank < 2)
    refuse(std::string("expected '") + name +
           "' to be [rows, d], [batch, rows, d] or [batch, heads, rows, d], "
           "but got " +
           tensor.describe());
  Tensor view = tensor;
  while (view.rank() < 4)
    view = view.unsqueeze(view.rank() == 3 ? 1 : 0);
  if (rank > 4) {
    int64_t batch = 1;
    for (int64_t dim = 0; dim < rank - 3; ++dim)
      batch *= tensor.size(dim);
    view = tensor.reshape({batch, tensor.size(rank - 3), tensor.size(rank - 2),
                           tensor.size(rank - 1)});
  }
  return {view, view.size(0), view.size(1), view.size(2), view.size(3)};
}

static void checkOperands(const Operand &q, const Operand &k,
                          const Operand &v) {
  for (auto [name, operand] : {std::pair("k", &k), std::pair("v", &v)}) {
    if (operand->tensor.dtype() != q.tensor.dtype())
      refuse(std::string("expected '") + name + "' of type " +
             toString(q.tensor.dtype()) + ", as 'q', but got " +
             toString(operand->tensor.dtype()));
    if (operand->headDim != q.headDim)
      refuse(std::string("expected '") + name + "' with head dimension " +
             std::to_string(q.headDim) + ", as 'q', but got " +
             std::to_string(operand->headDim));
    if (operand->batch != q.batch)
      refuse(std::string("expected '") + name + "' with batch " +
             std::to_string(q.batch) + ", as 'q', but got " +
             std::to_string(operand->batch));
  }
  if (k.heads != v.heads || k.rows != v.rows)
    refuse("expected 'v' with " + std::to_string(k.heads) + " heads of " +
           std::to_string(k.rows) + " rows, as 'k', but got " +
           std::to_string(v.heads) + " heads of " + std::to_string(v.rows));
  bool groups = k.heads == 0 ? q.heads == 0 : q.heads % k.heads == 0;
  if (!groups)
    refuse("expected the heads of 'q' to be a multiple of those of 'k', but "
           "got " +
           std::to_string(q.heads) + " and " + std::to_string(k.heads));
  constexpr int64_t kMaxRows = std::numeric_limits<int32_t>::max() / 2;
  for (auto [name, rows] : {std::pair("q", q.rows), std::pair("k", k.rows)})
    if (rows > kMaxRows)
      refuse(std::string("expected at most ") + std::to_string(kMaxRows) +
             " rows of '" + name + "', but got " + std::to_string(rows));
}

static double scaleOf(const Operand &q, const FlashAttentionOptions &options) {
  double scale =
      options.scale.value_or(1.0 / std::sqrt(static_cast<double>(q.headDim)));
  if (!std::isfinite(scale) ||
      std::abs(scale) > std::numeric_limits<float>::max())
    refuse("expected a finite scale, but got " + std::to_string(scale));
  return scale;
}

static bool unitInner(const Operand &operand) {
  return operand.headDim == 1 || operand.tensor.stride(3) == 1;
}

static kernels::FlashAttentionConfig
chooseConfig(const Operand &q, const Operand &k, const Operand &v,
             const FlashAttentionOptions &options, bool unitOutput) {
  kernels::FlashAttentionConfig config;
  config.dtype = q.tensor.dtype();
  config.outputType = options.outputType;
  config.headDim = q.headDim;
  config.causal = options.causal;
  config.alignment = options.alignment;
  config.scaleIsPositive =
      scaleOf(q, options) >= double(std::numeric_limits<float>::min());
  config.unitInnerStride =
      unitInner(q) && unitInner(k) && unitInner(v) && unitOutput;
  // Short queries (decoding) get tiles no longer than they are.
  constexpr int64_t kBlock = 64, kShortest = 16;
  int64_t fitting = kShortest;
  while (fitting < kBlock && fitting < q.rows)
    fitting *= 2;
  config.blockM = options.blockM ? options.blockM : fitting;
  config.blockN = options.blockN ? options.blockN : kBlock;
  return config;
}

/// The compiled kernel of a configuration, compiled on first use.
static Kernel kernelFor(const kernels::FlashAttentionConfig &config) {
  using Key = std::tuple<ElementType, int, int64_t, int64_t, int64_t, bool, int,
                         bool, bool, bool>;
  Key key = {config.dtype,
             config.outputType ? static_cast<int>(*config.outputType) : -1,
             config.headDim,
             config.blockM,
             config.blockN,
             config.causal,
             static_cast<int>(config.alignment),
             config.scaleIsPositive,
             config.unitInnerStride,
             config.shortenedLoop};
  static std::mutex mutex;
  static std::map<Key, Kernel> kernels;
  {
    std::lock_guard<std::mutex> lock(mutex);
    auto it = kernels.find(key);
    if (it != kernels.end())
      return it->second;
  }
  // Compiled outside the lock: other configurations need not wait. Two threads
  // may compile the same one; the code is equal and the first is kept.
  Kernel kernel =
      Jit().compile(kernels::buildFlashAttentionForward(config)).kernel();
  std::lock_guard<std::mutex> lock(mutex);
  return kernels.emplace(key, kernel).first->second;
}

static DType outputTypeOf(const Tensor &q,
                          const FlashAttentionOptions &options) {
  if (options.outputType)
    return *options.outputType;
  bool fp8 = elementSize(q.dtype()) == 1;
  return fp8 ? DType::BF16 : q.dtype();
}

Kernel flashtile::flashAttentionKernel(const Tensor &q, const Tensor &k,
                                       const Tensor &v,
                                       const FlashAttentionOptions &options) {
  Operand query = asOperand("q", q), key = asOperand("k", k),
          value = asOperand("v", v);
  checkOperands(query, key, value);
  return kernelFor(chooseConfig(query, key, value, options, true));
}

FlashAttentionResult
flashtile::flashAttention(const Tensor &q, const Tensor &k, const Tensor &v,
                          const FlashAttentionOptions &options) {
  if (!q.defined())
    refuse("'q' is undefined");
  Shape rows = q.shape();
  if (!rows.empty())
    rows.pop_back();
  FlashAttentionResult result{
      Tensor::empty(q.shape(), outputTypeOf(q, options)),
      Tensor::empty(rows, DType::F32)};
  flashAttention(q, k, v, options, result.o, result.lse);
  return result;
}

void flashtile::flashAttention(const Tensor &q, const Tensor &k,
                               const Tensor &v,
                               const FlashAttentionOptions &options, Tensor &o,
                               Tensor &lse) {
  Operand query = asOperand("q", q), key = asOperand("k", k),
          value = asOperand("v", v);
  checkOperands(query, key, value);
  Shape rows = q.shape();
  rows.pop_back();
  if (!o.defined() || o.shape() != q.shape() ||
      o.dtype() != outputTypeOf(q, options))
    refuse("expected 'o' to be " + toString(outputTypeOf(q, options)) +
           toString(q.shape()) + ", but got " +
           (o.defined() ? o.describe() : "an undefined tensor"));
  if (!lse.defined() || lse.shape() != rows || lse.dtype() != DType::F32 ||
      !lse.isContiguous())
    refuse("expected 'lse' to be a contiguous f32" + toString(rows) +
           ", but got " +
           (lse.defined() ? lse.describe() : "an undefined tensor"));
  Operand out = asOperand("o", o);
  if (o.rank() > 4 && !out.tensor.sharesStorageWith(o))
    refuse("expected the leading dimensions of 'o' to be one block of memory");

  auto config = chooseConfig(query, key, value, options, unitInner(out));
  Kernel kernel = kernelFor(config);
  double scale = scaleOf(query, options);
  auto i32 = [](int64_t number) { return static_cast<int32_t>(number); };
  std::vector<ArgumentValue> arguments = {
      query.tensor,  key.tensor,       value.tensor,   out.tensor,
      lse,           i32(query.heads), i32(key.heads), i32(query.rows),
      i32(key.rows), i32(query.batch)};
  for (const Operand *operand : {&query, &key, &value, &out}) {
    int strides = config.unitInnerStride ? 3 : 4;
    for (int dim = 0; dim < strides; ++dim)
      arguments.push_back(operand->tensor.stride(dim));
  }
  arguments.push_back(static_cast<float>(scale));
  kernel.launchPositional(arguments.data(), arguments.size());
}
