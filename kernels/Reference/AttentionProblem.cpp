//===- AttentionProblem.cpp - Checked operands, head by head --------------===//
//
// Part of FlashTile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Each message names the operand, what it holds and what was wanted.
//
//===----------------------------------------------------------------------===//

#include "kernels/Reference/AttentionProblem.h"

#include "kernels/EnumChecks.h"
#include "runtime/Shape.h"

#include <algorithm>

namespace flashtile::reference {

[[noreturn]] static void fail(const std::string &message) {
  throw Error(ErrorCode::InvalidArgument, message);
}

static void checkOperand(const char *name, const Tensor &tensor) {
  if (!tensor.defined())
    fail(std::string("'") + name + "' is not defined");
  if (!isFloat(tensor.dtype()))
    fail(std::string("expected '") + name + "' to hold floats, but it holds " +
         toString(tensor.dtype()));
  if (tensor.rank() < 2)
    fail(std::string("expected '") + name +
         "' to be [..., sequence, head dim], but its shape is " +
         toString(tensor.shape()));
}

static void checkExtent(const char *name, int64_t got, const char *what,
                        const char *otherName, int64_t wanted) {
  if (got != wanted)
    fail(std::string("'") + name + "' has " + what + " " + std::to_string(got) +
         ", but '" + otherName + "' has " + std::to_string(wanted));
}

/// The leading dimensions in front of the heads must be equal, and query heads
/// a multiple of key heads. Returns the size of a group.
static int64_t checkHeads(const Tensor &q, const Tensor &k, const Tensor &v) {
  const Shape &qs = q.shape(), &ks = k.shape(), &vs = v.shape();
  if (!std::equal(ks.begin(), ks.end() - 2, vs.begin(), vs.end() - 2))
    fail("'k' and 'v' must agree in all dimensions but the last two, but their "
         "shapes are " +
         toString(ks) + " and " + toString(vs));
  if (qs.size() != ks.size())
    fail("'q' and 'k' must have as many dimensions, but their shapes are " +
         toString(qs) + " and " + toString(ks));
  if (qs.size() == 2)
    return 1;
  if (!std::equal(qs.begin(), qs.end() - 3, ks.begin(), ks.end() - 3))
    fail("'q' and 'k' must agree in the dimensions in front of the heads, but "
         "their shapes are " +
         toString(qs) + " and " + toString(ks));

  const int64_t headsQ = q.size(-3), headsKv = k.size(-3);
  if (headsQ == 0 && headsKv == 0)
    return 1;
  if (headsKv == 0 || headsQ == 0 || headsQ % headsKv != 0)
    fail("the number of query heads (" + std::to_string(headsQ) +
         ") must be a multiple of the number of key and value heads (" +
         std::to_string(headsKv) + ")");
  return headsQ / headsKv;
}

/// Mask and bias broadcast as numpy's arrays do: aligned at the last dimension.
static void checkBroadcast(const char *name, const Tensor &tensor,
                           const Shape &target) {
  const Shape &shape = tensor.shape();
  bool fits = shape.size() <= target.size();
  for (size_t i = 0; fits && i < shape.size(); ++i) {
    const int64_t wanted = target[target.size() - shape.size() + i];
    fits = shape[i] == 1 || shape[i] == wanted;
  }
  if (!fits)
    fail(std::string("expected '") + name + "' to broadcast to " +
         toString(target) + ", but its shape is " + toString(shape));
}

static Shape scoreShape(const AttentionShape &shape) {
  Shape result = shape.lse;
  result.push_back(shape.seqK);
  return result;
}

AttentionShape checkAttention(const Tensor &q, const Tensor &k, const Tensor &v,
                              const AttentionOptions &options) {
  kernels::checkOption(options.alignment);
  checkOperand("q", q);
  checkOperand("k", k);
  checkOperand("v", v);

  AttentionShape shape;
  shape.groupSize = checkHeads(q, k, v);
  shape.seqQ = q.size(-2);
  shape.seqK = k.size(-2);
  shape.headDim = q.size(-1);
  shape.valueDim = v.size(-1);
  checkExtent("k", k.size(-1), "head dim", "q", shape.headDim);
  checkExtent("v", v.size(-2), "sequence length", "k", shape.seqK);
  if (shape.headDim == 0)
    fail("expected a positive head dim, but the shape of 'q' is " +
         toString(q.shape()));

  shape.lse.assign(q.shape().begin(), q.shape().end() - 1);
  shape.o = shape.lse;
  shape.o.push_back(shape.valueDim);
  shape.heads = 1;
  for (size_t i = 0; i + 2 < q.shape().size(); ++i)
    shape.heads *= q.shape()[i];

  if (options.mask.defined()) {
    if (options.mask.dtype() != DType::I1)
      fail("expected 'mask' to hold i1, but it holds " +
           toString(options.mask.dtype()));
    checkBroadcast("mask", options.mask, scoreShape(shape));
  }
  if (options.bias.defined()) {
    if (!isFloat(options.bias.dtype()))
      fail("expected 'bias' to hold floats, but it holds " +
           toString(options.bias.dtype()));
    checkBroadcast("bias", options.bias, scoreShape(shape));
  }
  return shape;
}

void checkShape(const char *name, const Tensor &tensor, const Shape &wanted) {
  if (!tensor.defined())
    fail(std::string("'") + name + "' is not defined");
  if (!isFloat(tensor.dtype()))
    fail(std::string("expected '") + name + "' to hold floats, but it holds " +
         toString(tensor.dtype()));
  if (tensor.shape() != wanted)
    fail(std::string("expected '") + name + "' of shape " + toString(wanted) +
         ", but got " + toString(tensor.shape()));
}

template <typename Real>
AttentionProblem<Real>::AttentionProblem(const Tensor &q, const Tensor &k,
                                         const Tensor &v,
                                         const AttentionOptions &options)
    : shape(checkAttention(q, k, v, options)),
      scale(static_cast<Real>(
          options.scale.value_or(1 / std::sqrt(double(shape.headDim))))),
      qHeads(q), kHeads(k), vHeads(v), options(options) {
  const Shape target = scoreShape(shape);
  if (options.mask.defined())
    this->options.mask = options.mask.expand(target);
  if (options.bias.defined())
    this->options.bias = options.bias.to(dtypeOf<Real>).expand(target);
}

template <typename Real>
Tensor AttentionProblem<Real>::tileOf(const Tensor &tensor, int64_t head,
                                      Tile rows, Tile keys) const {
  Tensor view = tensor;
  // The head's index in row-major order over the leading dimensions.
  for (int64_t dim = tensor.rank() - 3; dim >= 0; --dim) {
    view = view.select(dim, head % tensor.size(dim));
    head /= tensor.size(dim);
  }
  return view.narrow(0, rows.begin, rows.size)
      .narrow(1, keys.begin, keys.size)
      .contiguous();
}

template <typename Real>
Visibility AttentionProblem<Real>::visible(int64_t head, Tile rows,
                                           Tile keys) const {
  Visibility result = Visibility::Constant(rows.size, keys.size, true);
  if (options.causal) {
    const int64_t shift = options.alignment == CausalAlignment::BottomRight
                              ? shape.seqK - shape.seqQ
                              : 0;
    for (int64_t i = 0; i < rows.size; ++i)
      for (int64_t j = 0; j < keys.size; ++j)
        result(i, j) = keys.begin + j <= rows.begin + i + shift;
  }
  if (options.mask.defined()) {
    const Tensor tile = tileOf(options.mask, head, rows, keys);
    result = result && Eigen::Map<const Visibility>(tile.data<bool>(),
                                                    rows.size, keys.size);
  }
  if (options.bias.defined()) {
    const Tensor tile = tileOf(options.bias, head, rows, keys);
    Eigen::Map<const Matrix<Real>> bias(tile.data<Real>(), rows.size,
                                        keys.size);
    result = result && (bias.array() != minusInfinity<Real>);
  }
  return result;
}

template <typename Real>
Matrix<Real> AttentionProblem<Real>::scores(int64_t head, Tile rows, Tile keys,
                                            const Visibility &visible) const {
  Matrix<Real> result = q(head).middleRows(rows.begin, rows.size) *
                        k(head).middleRows(keys.begin, keys.size).transpose();
  // A step of its own: folded into the product, Eigen would drop a scale of 0
  // together with the NaN that it multiplies.
  result *= scale;
  if (options.bias.defined()) {
    const Tensor tile = tileOf(options.bias, head, rows, keys);
    result +=
        Eigen::Map<const Matrix<Real>>(tile.data<Real>(), rows.size, keys.size);
  }
  return visible.select(result, Matrix<Real>::Constant(rows.size, keys.size,
                                                       minusInfinity<Real>));
}

template class AttentionProblem<double>;
template class AttentionProblem<float>;

} // namespace flashtile::reference
