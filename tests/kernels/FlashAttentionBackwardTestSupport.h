//===- FlashAttentionBackwardTestSupport.h - Judged gradients -------------===//
//
// Part of FlashTile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What the tests of flashAttentionBackward share.
//
//===----------------------------------------------------------------------===//

#ifndef FLASHTILE_TESTS_KERNELS_FLASHATTENTIONBACKWARDTESTSUPPORT_H
#define FLASHTILE_TESTS_KERNELS_FLASHATTENTIONBACKWARDTESTSUPPORT_H

#include "FlashAttentionTestSupport.h"

#include "kernels/FlashAttentionBackward.h"

#include <cstdlib>

namespace flashtile {

using Form = FlashAttentionBackwardForm;

inline std::string nameOf(Form form) {
  switch (form) {
  case Form::Default:
    return "Default";
  case Form::Fused:
    return "Fused";
  case Form::FusedDeterministic:
    return "FusedDeterministic";
  case Form::Dense:
    return "Dense";
  }
  return {};
}

/// Where the tests compute: the first GPU where FLASHTILE_TEST_TARGET is
/// "cuda", and the cpu otherwise.
inline Device testDevice() {
  const char *target = std::getenv("FLASHTILE_TEST_TARGET");
  return target && std::string(target) == "cuda" ? Device::cuda(0)
                                                 : Device::cpu();
}

struct BackwardProblem {
  Problem forward;
  Tensor dO, dLse; ///< dLse may be undefined
};

inline BackwardProblem randomBackward(const Shape &qShape, const Shape &kvShape,
                                      DType dtype, bool causal = false,
                                      uint64_t seed = 1) {
  return {randomProblem(qShape, kvShape, dtype, causal, seed),
          Tensor::randn(qShape, dtype, 1000 + seed),
          {}};
}

inline Tensor toDevice(const Tensor &tensor) {
  return tensor.defined() ? tensor.to(testDevice()) : tensor;
}
inline Tensor toHost(const Tensor &tensor) {
  return tensor.defined() ? tensor.to(Device::cpu()) : tensor;
}

inline FlashAttentionGradients gradientsOf(
    const BackwardProblem &problem, Form form,
    FlashAttentionBackwardOptions options = FlashAttentionBackwardOptions()) {
  const Problem &forward = problem.forward;
  options.causal = forward.options.causal;
  options.alignment = forward.options.alignment;
  options.scale = forward.options.scale;
  options.form = form;
  const Tensor q = toDevice(forward.q), k = toDevice(forward.k),
               v = toDevice(forward.v);
  const FlashAttentionSaved saved =
      flashAttentionSaved(q, k, v, forward.options);
  const FlashAttentionGradients result = flashAttentionBackward(
      q, k, v, saved, toDevice(problem.dO), toDevice(problem.dLse), options);
  return {toHost(result.q), toHost(result.k), toHost(result.v)};
}

/// A problem with the truth and the yardstick.
class BackwardJudgement {
public:
  explicit BackwardJudgement(const BackwardProblem &problem) {
    const Problem &forward = problem.forward;
    reference::AttentionOptions options;
    options.scale = forward.options.scale;
    options.causal = forward.options.causal;
    options.alignment = forward.options.alignment;
    const Tensor dO = problem.dO.defined()
                          ? problem.dO
                          : Tensor::zeros(forward.q.shape(), DType::F32);
    truth = reference::denseAttentionBackward(forward.q, forward.k, forward.v,
                                              dO, options, problem.dLse);
    plain = reference::plainAttentionBackward(forward.q, forward.k, forward.v,
                                              dO, forward.q.dtype(), options,
                                              problem.dLse);
  }

  void expectAccurate(const FlashAttentionGradients &gradients,
                      const std::string &what = {}, double slack = 1e-5) const {
    reference::JudgeRule rule;
    rule.slack = slack;
    // Twice for a head as a whole; one of its elements may be unlucky.
    rule.elementFactor = 4;
    EXPECT_TRUE(accepted(judge(gradients.q, truth.dq, plain.dq, rule)))
        << "dq " << what;
    EXPECT_TRUE(accepted(judge(gradients.k, truth.dk, plain.dk, rule)))
        << "dk " << what;
    EXPECT_TRUE(accepted(judge(gradients.v, truth.dv, plain.dv, rule)))
        << "dv " << what;
  }

  reference::AttentionGradients truth, plain;
};

inline void expectAccurate(const BackwardProblem &problem, Form form) {
  BackwardJudgement(problem).expectAccurate(gradientsOf(problem, form));
}

inline void expectSameBits(const FlashAttentionGradients &actual,
                           const FlashAttentionGradients &expected) {
  EXPECT_TRUE(sameBits(actual.q, expected.q)) << "dq";
  EXPECT_TRUE(sameBits(actual.k, expected.k)) << "dk";
  EXPECT_TRUE(sameBits(actual.v, expected.v)) << "dv";
}

} // namespace flashtile

#endif // FLASHTILE_TESTS_KERNELS_FLASHATTENTIONBACKWARDTESTSUPPORT_H
