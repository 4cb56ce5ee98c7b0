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

#include <algorithm>
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
  int64_t keys() const { return k.size(0); }
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

/// Adds what the queries of one head give to some keys: in f64, or as a plain
/// implementation has them, in f32 with the weights and their gradients rounded
/// to the type.
template <typename Real>
static void addKeyGradients(const Head &head, int64_t begin, int64_t count,
                            Matrix<Real> &dk, Matrix<Real> &dv) {
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
      const bool isSeen =
          !head.causal || begin + j <= i + head.keys() - head.rows();
      p(i, j) = isSeen ? std::exp(p(i, j) - lse[i]) : 0;
      ds(i, j) = p(i, j) * (ds(i, j) - delta[i]);
    }
  if (isPlain) {
    p = matrixOf<Real>(tensorOf<Real>(p).to(head.dtype));
    ds = matrixOf<Real>(tensorOf<Real>(ds).to(head.dtype));
  }
  dk += scale * ds.transpose() * q;
  dv += p.transpose() * gradO;
}

/// The gradients of some keys, by all heads that share them.
template <typename Real>
static KeyGradients keyGradients(const std::vector<Head> &group, int64_t begin,
                                 int64_t count) {
  const Head &first = group.front();
  Matrix<Real> dk = Matrix<Real>::Zero(count, first.q.size(1)), dv = dk;
  for (const Head &head : group)
    addKeyGradients(head, begin, count, dk, dv);
  const DType type = std::is_same_v<Real, float> ? first.dtype : DType::F64;
  return {tensorOf<Real>(dk).to(type), tensorOf<Real>(dv).to(type)};
}

/// dq of some rows: the gradient of a problem of their own. Rows begin to end
/// of causal attention see the keys before `end` only.
static Tensor queryGradient(const Head &head, int64_t begin, int64_t count,
                            bool isPlain) {
  const int64_t keys =
      head.causal
          ? std::max<int64_t>(begin + count + head.keys() - head.rows(), 0)
          : head.keys();
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
  const int64_t heads = q.size(1), keyHeads = k.size(1);
  const int64_t group = heads / keyHeads, rows = q.size(2);
  CheckResult result;
  auto at = [](const Tensor &tensor, int64_t sequence, int64_t place) {
    return tensor.defined()
               ? tensor.select(0, sequence).select(0, place).to(Device::cpu())
               : Tensor();
  };
  auto headOf = [&](int64_t sequence, int64_t place) {
    Head head = {at(q, sequence, place),
                 at(k, sequence, place / group),
                 at(v, sequence, place / group),
                 at(gradO, sequence, place),
                 {},
                 {},
                 causal,
                 q.dtype()};
    head.lse = at(saved.lse, sequence, place).to(DType::F64);
    if (saved.lseRest.defined()) {
      const std::vector<double> rest =
          at(saved.lseRest, sequence, place).to(DType::F64).toVector<double>();
      for (int64_t i = 0; i < rows; ++i)
        head.lse.data<double>()[i] += rest[i];
    }
    head.delta = rowSums(head.gradO, at(saved.o, sequence, place),
                         at(saved.oRest, sequence, place));
    return head;
  };
  auto startsIn = [](int64_t length) {
    return std::set<int64_t>{0, std::max<int64_t>(length / 2 - kRows / 2, 0),
                             std::max<int64_t>(length - kRows, 0)};
  };
  for (const int64_t index : std::set<int64_t>{0, q.size(0) * heads - 1}) {
    const int64_t sequence = index / heads, place = index % heads;
    auto add = [&](const char *name, int64_t begin, const Tensor &actual,
                   const Tensor &truth, const Tensor &plain) {
      const Verdict verdict = judge(actual, truth, plain);
      result.add(verdict.pass, verdict.error, verdict.limit,
                 verdict.pass
                     ? std::string()
                     : fmt::format("{} of head {}, from row {}: {}", name,
                                   index, begin, verdict.reason));
    };
    std::vector<Head> sharing;
    for (int64_t i = 0; i < group; ++i)
      sharing.push_back(headOf(sequence, place / group * group + i));
    const Tensor dq = at(gradients.q, sequence, place);
    for (const int64_t begin : startsIn(rows)) {
      const int64_t count = std::min(kRows, rows - begin);
      const Head &head = sharing[place % group];
      add("dq", begin, dq.narrow(0, begin, count),
          queryGradient(head, begin, count, /*isPlain=*/false),
          queryGradient(head, begin, count, /*isPlain=*/true));
    }
    const Tensor dk = at(gradients.k, sequence, place / group);
    const Tensor dv = at(gradients.v, sequence, place / group);
    for (const int64_t begin : startsIn(k.size(2))) {
      const int64_t count = std::min(kRows, k.size(2) - begin);
      const KeyGradients truth = keyGradients<double>(sharing, begin, count);
      const KeyGradients plain = keyGradients<float>(sharing, begin, count);
      add("dk", begin, dk.narrow(0, begin, count), truth.dk, plain.dk);
      add("dv", begin, dv.narrow(0, begin, count), truth.dv, plain.dv);
    }
  }
  return result;
}
