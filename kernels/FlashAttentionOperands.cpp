//===- FlashAttentionOperands.cpp - What attention is asked for -----------===//
//
// Part of FlashTile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "kernels/FlashAttentionOperands.h"

#include "runtime/Shape.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <sstream>

using namespace flashtile;
using namespace flashtile::kernels;

using Operand = AttentionOperand;

void kernels::refuseAttention(const std::string &message) {
  throw Error(ErrorCode::InvalidArgument, "flash attention: " + message);
}

Operand kernels::asAttentionOperand(const Tensor &tensor) {
  int64_t rank = tensor.rank();
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
  const int64_t batch = view.size(0), heads = view.size(1);
  const int64_t rows = view.size(2), headDim = view.size(3);
  return {std::move(view), batch, heads, rows, headDim};
}

static bool isSupported(DType type) {
  return type == DType::F64 || type == DType::F32 || type == DType::F16 ||
         type == DType::BF16 || type == DType::F8E4M3FN ||
         type == DType::F8E5M2;
}

static std::string leadingDims(const Tensor &tensor) {
  return toString(Shape(tensor.shape().begin(), tensor.shape().end() - 3));
}

/// k or v against q: type, rank, head dimension, and what counts as batch.
static void checkAgainstQuery(const char *name, const Tensor &tensor,
                              const Tensor &q) {
  auto expected = [&](const std::string &what, const std::string &wanted,
                      const std::string &got) {
    refuseAttention(std::string("expected '") + name + "' " + what + " " +
                    wanted + ", as 'q', but got " + got);
  };
  if (tensor.dtype() != q.dtype())
    expected("of type", toString(q.dtype()), toString(tensor.dtype()));
  if (tensor.rank() != q.rank())
    expected("with the number of dimensions of", toString(q.shape()),
             toString(tensor.shape()));
  if (tensor.size(-1) != q.size(-1))
    expected("with head dimension", std::to_string(q.size(-1)),
             std::to_string(tensor.size(-1)));
  // In three dimensions the first is the batch and there are no heads.
  if (q.rank() == 3 && tensor.size(0) != q.size(0))
    expected("with batch", std::to_string(q.size(0)),
             std::to_string(tensor.size(0)));
  if (q.rank() > 3 && !std::equal(q.shape().begin(), q.shape().end() - 3,
                                  tensor.shape().begin()))
    expected("with batch", leadingDims(q), leadingDims(tensor));
}

/// Extents that the kernel takes as i32, and the rows of a tile beyond them.
static void checkExtent(const char *what, const char *name, int64_t extent) {
  constexpr int64_t kMaxExtent = std::numeric_limits<int32_t>::max() / 2;
  if (extent > kMaxExtent)
    refuseAttention(std::string("expected at most ") +
                    std::to_string(kMaxExtent) + " " + what + " of '" + name +
                    "', but got " + std::to_string(extent));
}

void kernels::checkAttentionTensors(const Tensor &q, const Tensor &k,
                                    const Tensor &v) {
  for (auto [name, tensor] :
       {std::pair("q", &q), std::pair("k", &k), std::pair("v", &v)}) {
    if (!tensor->defined())
      refuseAttention(std::string("'") + name + "' is undefined");
    if (tensor->rank() < 2)
      refuseAttention(
          std::string("expected '") + name +
          "' to be [rows, d], [batch, rows, d] or [batch, heads, rows, d], "
          "but got " +
          tensor->describe());
  }
  if (!isSupported(q.dtype()))
    refuseAttention("expected 'q' of type f64, f32, f16, bf16, f8E4M3FN or "
                    "f8E5M2, but got " +
                    toString(q.dtype()));
  int64_t headDim = q.size(-1);
  if (headDim < 8 || headDim > 256 || headDim % 8)
    refuseAttention(
        "expected 'q' with a head dimension between 8 and 256 in steps of "
        "8, but got " +
        std::to_string(headDim));
  for (auto [name, tensor] : {std::pair("k", &k), std::pair("v", &v)})
    if (tensor->device() != q.device())
      refuseAttention(std::string("expected '") + name + "' on " +
                      q.device().toString() + ", as 'q', but got " +
                      tensor->describe());
  checkAgainstQuery("k", k, q);
  checkAgainstQuery("v", v, q);
}

AttentionOperands kernels::checkedAttentionOperands(const Tensor &qTensor,
                                                    const Tensor &kTensor,
                                                    const Tensor &vTensor) {
  checkAttentionTensors(qTensor, kTensor, vTensor);
  AttentionOperands operands = {asAttentionOperand(qTensor),
                                asAttentionOperand(kTensor),
                                asAttentionOperand(vTensor)};
  const auto &[q, k, v] = operands;
  if (k.heads != v.heads || k.rows != v.rows)
    refuseAttention("expected 'v' with " + std::to_string(k.heads) +
                    " heads of " + std::to_string(k.rows) +
                    " rows, as 'k', but got " + std::to_string(v.heads) +
                    " heads of " + std::to_string(v.rows));
  bool groups = k.heads == 0 ? q.heads == 0 : q.heads % k.heads == 0;
  if (!groups)
    refuseAttention(
        "expected the heads of 'q' to be a multiple of those of 'k', but "
        "got " +
        std::to_string(q.heads) + " and " + std::to_string(k.heads));
  checkExtent("rows", "q", q.rows);
  checkExtent("rows", "k", k.rows);
  checkExtent("heads", "q", q.heads);
  checkExtent("batches", "q", q.batch);
  return operands;
}

void kernels::checkAttentionWork(const AttentionOperands &operands) {
  if (!hasAttentionWork(operands))
    refuseAttention("expected queries and keys to measure, but got " +
                    operands.q.tensor.describe() + " and " +
                    operands.k.tensor.describe());
}

Shape kernels::attentionRowShape(const Tensor &q) {
  Shape shape = q.shape();
  shape.pop_back();
  return shape;
}

static void checkIsOn(const char *name, const Tensor &tensor, Device device) {
  if (tensor.device() != device)
    refuseAttention(std::string("expected '") + name + "' on " +
                    device.toString() + ", as 'q', but got " +
                    tensor.describe());
}

static std::string describeOutput(const Tensor &tensor) {
  return tensor.defined() ? tensor.describe() : "an undefined tensor";
}

Operand kernels::checkedAttentionOutput(const Tensor &q, DType outputType,
                                        const Tensor &o, const Tensor *lse) {
  if (!o.defined() || o.shape() != q.shape() || o.dtype() != outputType)
    refuseAttention("expected 'o' to be " + toString(outputType) +
                    toString(q.shape()) + ", but got " + describeOutput(o));
  const DType lseType = attentionRealType(q.dtype());
  const auto isRowVector = [&] {
    return lse->defined() && lse->rank() + 1 == q.rank() &&
           std::equal(lse->shape().begin(), lse->shape().end(),
                      q.shape().begin()) &&
           lse->dtype() == lseType && lse->isContiguous();
  };
  if (lse && !isRowVector())
    refuseAttention("expected 'lse' to be a contiguous " + toString(lseType) +
                    toString(attentionRowShape(q)) + ", but got " +
                    describeOutput(*lse));
  for (int64_t dim = 0; dim < o.rank(); ++dim)
    if (o.numel() > 0 && o.size(dim) > 1 && o.stride(dim) == 0)
      refuseAttention(
          "expected the elements of 'o' in places of their own, but got " +
          o.describe());
  checkIsOn("o", o, q.device());
  if (lse)
    checkIsOn("lse", *lse, q.device());
  Operand out = asAttentionOperand(o);
  if (o.rank() > 4 && !out.tensor.sharesStorageWith(o))
    refuseAttention(
        "expected the leading dimensions of 'o' to be one block of memory");
  return out;
}

double kernels::attentionScale(const Operand &q, std::optional<double> given) {
  double scale =
      given.value_or(1.0 / std::sqrt(static_cast<double>(q.headDim)));
  // Times log2(e), as the compiled code has it, it must still fit f32.
  constexpr double kMaxScale = 1e38;
  if (!(std::abs(scale) <= kMaxScale)) {
    std::ostringstream got;
    got << scale;
    refuseAttention("expected a scale between -1e38 and 1e38, but got " +
                    got.str());
  }
  return scale;
}

bool kernels::hasUnitInnerStride(const Operand &operand) {
  return operand.headDim == 1 || operand.tensor.stride(3) == 1;
}
