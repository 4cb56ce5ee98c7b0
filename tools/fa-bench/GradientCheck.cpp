//===- GradientCheck.cpp - Judges gradients at any size -------------------===//
//
// Part of FlashTile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tools/fa-bench/GradientCheck.h"

#include "kernels/Reference/AttentionProblem.h"
#include "kernels/Reference/DenseAttention.h"
#include "kernels/Reference/Judge.h"
#include "kernels/Reference/PlainAttention.h"

#include <fmt/format.h>

#include <cmath>
#include <set>
#include <type_traits>

using namespace flashtile;
using namespace flashtile::tools;
using namespace flashtile::reference;

namespace {
/// One head on the cpu.
struct Head {
  Tensor q, k, v, gradO; ///< [n, d]
  Tensor lse, delta;     ///< f64 [n]
  bool causal;
  DType dtype;

  int64_t rows() const { return q.size(0); }
  double scale() const { return 1 / std::sqrt(double(q.size(1))); }
};

struct KeyGradients {
  Tensor dk, dv;
};
} // namespace

template <typename Real>
static Matrix<Real> matrixOf(const Tensor &tensor) {
  return HeadStack<Real>(tensor.unsqueeze(0))[0];
}

template <typename Real>
static Tensor tensorOf(const Matrix<Real> &matrix) {
  const std::vector<Real> values(matrix.data(), matrix.data() + matrix.size());
  return Tensor::fromData(values, {matrix.rows(), matrix.cols()});
}

/// The gradients of some keys: in f64, or as a plain implementation has them,
/// in f32 with the weights and their gradients rounded to the type.
template <typename Real>
static KeyGradients keyGradients(const Head &head, int64_t begin,
                                 int64_t count) {
  constexpr bool isPlain = std::is_same_v<Real, float>;
  const Matrix<Real> q = matrixOf<Real>(head.q);
  const Matrix<Real> gradO = matrixOf<Real>(head.gradO);
  const Matrix<Real> k = matrixOf<Real>(head.k.narrow(0, begin, count));
  const Matrix<Real> v = matrixOf<Real>(head.v.narrow(0, begin, count));
  const std::vector<Real> lse = head.lse.toVector<Real>();
  const std::vector<Real> delta = head.delta.toVector<Real>();
  const Real scale = static_cast<Real>(head.scale());
  Matrix<Real> p = scale * q * k.transpose();
  Matrix<Real> ds = gradO * v.transpose();
  for (int64_t i = 0; i < p.rows(); ++i)
    for (int64_t j = 0; j < p.cols(); ++j) {
      const bool isSeen = !head.causal || begin + j <= i;
      p(i, j) = isSeen ? std::exp(p(i, j) - lse[i]) : 0;
      ds(i, j) = p(i, j) * (ds(i, j) - delta[i]);
    }
  if (isPlain) {
    p = matrixOf<Real>(tensorOf<Real>(p).to(head.dtype));
    ds = matrixOf<Real>(tensorOf<Real>(ds).to(head.dtype));
  }
  const DType type = isPlain ? head.dtype : DType::F64;
  return {tensorOf<Real>(scale * ds.transpose() * q).to(type),
          tensorOf<Real>(p.transpose() * gradO).to(type)};
}

/// dq of some rows: the gradient of a problem of their own. Rows begin to end
/// of causal attention see the keys before `end` only.
static Tensor queryGradient(const Head &head, int64_t begin, int64_t count,
                            bool isPlain) {
  const int64_t keys = head.causal ? begin + count : head.rows();
  const Tensor q = head.q.narrow(0, begin, count);
  const Tensor k = head.k.narrow(0, 0, keys), v = head.v.narrow(0, 0, keys);
  const Tensor gradO = head.gradO.narrow(0, begin, count);
  AttentionOptions options;
  options.causal = head.causal;
  return isPlain
             ? plainAttentionBackward(q, k, v, gradO, head.dtype, options).dq
             : denseAttentionBackward(q, k, v, gradO, options).dq;
}

/// The sums of each row of dO o O, O before it was rounded.
static Tensor rowSums(const Tensor &gradO, const Tensor &o,
                      const Tensor &oRest) {
  Matrix<double> exact = matrixOf<double>(o);
  if (oRest.defined())
    exact += matrixOf<double>(oRest);
  const Matrix<double> sums =
      matrixOf<double>(gradO).cwiseProduct(exact).rowwise().sum();
  return tensorOf<double>(sums).view({sums.rows()});
}

CheckResult flashtile::tools::checkGradients(
    const Tensor &q, const Tensor &k, const Tensor &v,
    const FlashAttentionSaved &saved, const Tensor &gradO,
    const FlashAttentionGradients &gradients, bool causal) {
  constexpr int64_t kRows = 64;
  const int64_t heads = q.size(0) * q.size(1), rows = q.size(2);
  CheckResult result;
  for (const int64_t index : std::set<int64_t>{0, heads - 1}) {
    auto headOf = [&](const Tensor &tensor) {
      return tensor.defined() ? tensor.select(0, index / q.size(1))
                                    .select(0, index % q.size(1))
                                    .to(Device::cpu())
                              : Tensor();
    };
    Head head = {headOf(q), headOf(k), headOf(v), headOf(gradO),
                 {},        {},        causal,    q.dtype()};
    head.lse = headOf(saved.lse).to(DType::F64);
    if (saved.lseRest.defined()) {
      const std::vector<double> rest =
          headOf(saved.lseRest).to(DType::F64).toVector<double>();
      for (int64_t i = 0; i < rows; ++i)
        head.lse.data<double>()[i] += rest[i];
    }
    head.delta = rowSums(head.gradO, headOf(saved.o), headOf(saved.oRest));
    const Tensor dq = headOf(gradients.q), dk = headOf(gradients.k);
    const Tensor dv = headOf(gradients.v);
    for (const int64_t begin :
         std::set<int64_t>{0, std::max<int64_t>(rows / 2 - kRows / 2, 0),
                           std::max<int64_t>(rows - kRows, 0)}) {
      const int64_t count = std::min(kRows, rows - begin);
      auto add = [&](const char *name, const Tensor &actual,
                     const Tensor &truth, const Tensor &plain) {
        const Verdict verdict =
            judge(actual.narrow(0, begin, count), truth, plain);
        result.add(verdict.pass, verdict.error, verdict.limit,
                   verdict.pass
                       ? std::string()
                       : fmt::format("{} of head {}, from row {}: {}", name,
                                     index, begin, verdict.reason));
      };
      add("dq", dq, queryGradient(head, begin, count, /*isPlain=*/false),
          queryGradient(head, begin, count, /*isPlain=*/true));
      const KeyGradients truth = keyGradients<double>(head, begin, count);
      const KeyGradients plain = keyGradients<float>(head, begin, count);
      add("dk", dk, truth.dk, plain.dk);
      add("dv", dv, truth.dv, plain.dv);
    }
  }
  return result;
}
