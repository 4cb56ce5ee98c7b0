//===- AttentionBackwardGpuTest.cpp - Gradients on a GPU ------------------===//
//
// Part of FlashTile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Every form on cuda:0, judged as on the cpu; repeats at lengths where races of
// rings and of accumulated parts would show.
//
//===----------------------------------------------------------------------===//

#include "kernels/FlashAttentionBackward.h"
#include "kernels/Matmul.h"
#include "kernels/Reference/DenseAttention.h"
#include "kernels/Reference/Judge.h"
#include "kernels/Reference/PlainAttention.h"
#include "runtime/cuda/CudaStream.h"
#include "tests/gpu/GpuTest.h"

#include <gmock/gmock.h>

#include <cmath>
#include <cstring>
#include <limits>

using namespace flashtile;

static const Device gpu0 = Device::cuda(0);

using Form = FlashAttentionBackwardForm;

namespace {
class BackwardGpuTest : public GpuTest {};

struct BackwardCase {
  Shape q, k;
  DType dtype;
  bool isCausal;

  friend std::ostream &operator<<(std::ostream &os, const BackwardCase &c) {
    return os << toString(c.dtype) << " q " << toString(c.q) << " k "
              << toString(c.k) << (c.isCausal ? " causal" : "");
  }
};

class BackwardGpuCases : public GpuTest,
                         public testing::WithParamInterface<BackwardCase> {};

/// Operands on the host and on the GPU, and the forward there.
struct Pass {
  explicit Pass(const BackwardCase &c, bool withLse = false)
      : q(Tensor::randn(c.q, c.dtype, 1)), k(Tensor::randn(c.k, c.dtype, 2)),
        v(Tensor::randn(c.k, c.dtype, 3)), dO(Tensor::randn(c.q, c.dtype, 4)) {
    options.causal = c.isCausal;
    if (withLse) {
      Shape rows = c.q;
      rows.pop_back();
      dLse = Tensor::randn(rows, DType::F32, 5);
    }
    prepare();
  }

  /// After the operands have changed.
  void prepare() {
    there[0] = q.to(gpu0);
    there[1] = k.to(gpu0);
    there[2] = v.to(gpu0);
    there[3] = dO.to(gpu0);
    if (dLse.defined())
      dLseThere = dLse.to(gpu0);
    FlashAttentionOptions forward;
    forward.causal = options.causal;
    forward.alignment = options.alignment;
    forward.scale = options.scale;
    saved = flashAttentionSaved(there[0], there[1], there[2], forward);
  }

  FlashAttentionGradients gradients(Form form) {
    options.form = form;
    const FlashAttentionGradients result = flashAttentionBackward(
        there[0], there[1], there[2], saved, there[3], dLseThere, options);
    return {result.q.to(Device::cpu()), result.k.to(Device::cpu()),
            result.v.to(Device::cpu())};
  }

  reference::AttentionOptions problem() const {
    reference::AttentionOptions problem;
    problem.causal = options.causal;
    problem.alignment = options.alignment;
    problem.scale = options.scale;
    return problem;
  }

  Tensor q, k, v, dO, dLse, dLseThere;
  Tensor there[4];
  FlashAttentionBackwardOptions options;
  FlashAttentionSaved saved;
};

struct Judge {
  explicit Judge(const Pass &run)
      : truth(reference::denseAttentionBackward(run.q, run.k, run.v, run.dO,
                                                run.problem(), run.dLse)),
        plain(reference::plainAttentionBackward(run.q, run.k, run.v, run.dO,
                                                run.q.dtype(), run.problem(),
                                                run.dLse)) {}

  void expectAccurate(const FlashAttentionGradients &gradients,
                      const std::string &what) const {
    auto check = [&](const char *name, const Tensor &actual,
                     const Tensor &truth, const Tensor &plain) {
      reference::JudgeRule rule;
      rule.elementFactor = 4;
      const reference::Verdict verdict =
          reference::judge(actual, truth, plain, rule);
      EXPECT_TRUE(verdict.pass)
          << name << " " << what << ": error " << verdict.error << ", limit "
          << verdict.limit << ": " << verdict.reason;
    };
    check("dq", gradients.q, truth.dq, plain.dq);
    check("dk", gradients.k, truth.dk, plain.dk);
    check("dv", gradients.v, truth.dv, plain.dv);
  }

  reference::AttentionGradients truth, plain;
};
} // namespace

static bool sameBits(const Tensor &a, const Tensor &b) {
  return reference::judgeExact(a, b).pass;
}

/// The same of contiguous tensors on the host, in the time that it takes to
/// read them: for tests that compare many.
static bool sameBytes(const Tensor &a, const Tensor &b) {
  return a.shape() == b.shape() && a.dtype() == b.dtype() && a.isContiguous() &&
         b.isContiguous() &&
         std::memcmp(a.rawData(), b.rawData(), a.nbytes()) == 0;
}

TEST_P(BackwardGpuCases, EveryFormIsJudgedAsOnTheCpu) {
  Pass run(GetParam());
  const Judge judge(run);
  for (const Form form : {Form::Fused, Form::FusedDeterministic, Form::Dense})
    judge.expectAccurate(run.gradients(form), toString(form));
}

// The gradient of the log-sum-exp, and an upstream gradient that repeats.
TEST_P(BackwardGpuCases, UpstreamOfTheLogSumExp) {
  Pass run(GetParam(), /*withLse=*/true);
  run.dO = Tensor::full({}, 1, GetParam().dtype).expand(GetParam().q);
  run.prepare();
  run.there[3] =
      Tensor::full({}, 1, GetParam().dtype, gpu0).expand(GetParam().q);
  const Judge judge(run);
  for (const Form form : {Form::Fused, Form::FusedDeterministic})
    judge.expectAccurate(run.gradients(form), toString(form));
}

INSTANTIATE_TEST_SUITE_P(
    Shapes, BackwardGpuCases,
    testing::Values(
        BackwardCase{{1, 2, 256, 64}, {1, 2, 256, 64}, DType::BF16, false},
        BackwardCase{{1, 2, 256, 64}, {1, 2, 256, 64}, DType::BF16, true},
        BackwardCase{{1, 2, 256, 128}, {1, 2, 256, 128}, DType::BF16, false},
        BackwardCase{{1, 2, 256, 128}, {1, 2, 256, 128}, DType::BF16, true},
        BackwardCase{{1, 300, 64}, {1, 300, 64}, DType::F16, true},
        BackwardCase{{2, 6, 100, 64}, {2, 2, 100, 64}, DType::F16, true},
        BackwardCase{{2, 6, 130, 128}, {2, 2, 190, 128}, DType::BF16, false},
        BackwardCase{{1, 3, 200, 128}, {1, 3, 130, 128}, DType::BF16, true},
        BackwardCase{{1, 3, 130, 128}, {1, 3, 333, 128}, DType::F16, true},
        BackwardCase{{2, 65, 32}, {2, 190, 32}, DType::F32, false},
        BackwardCase{{1, 2, 150, 64}, {1, 2, 150, 64}, DType::F32, true},
        BackwardCase{{1, 1, 64}, {1, 257, 64}, DType::BF16, false},
        BackwardCase{{1, 64, 40}, {1, 64, 40}, DType::F16, false},
        BackwardCase{{1, 2, 200, 96}, {1, 2, 200, 96}, DType::BF16, true},
        BackwardCase{{1, 2, 200, 160}, {1, 2, 200, 160}, DType::BF16, true},
        BackwardCase{{1, 2, 200, 192}, {1, 2, 200, 192}, DType::BF16, false},
        BackwardCase{{1, 2, 200, 256}, {1, 2, 200, 256}, DType::BF16, false},
        BackwardCase{{1, 2, 200, 256}, {1, 2, 200, 256}, DType::F16, true},
        BackwardCase{{1, 2, 7, 72}, {1, 2, 5, 72}, DType::F16, true},
        // Rows that are no whole number of instructions.
        BackwardCase{{1, 3, 200, 40}, {1, 3, 130, 40}, DType::BF16, true},
        BackwardCase{{2, 4, 130, 72}, {2, 2, 190, 72}, DType::BF16, false},
        BackwardCase{{1, 3, 300, 88}, {1, 3, 300, 88}, DType::BF16, true},
        BackwardCase{{150, 300, 104}, {150, 140, 104}, DType::F16, false},
        BackwardCase{{1, 2, 200, 168}, {1, 2, 200, 168}, DType::BF16, true},
        BackwardCase{{1, 2, 200, 200}, {1, 2, 200, 200}, DType::BF16, false},
        // More programs than multiprocessors, which take several each.
        BackwardCase{{2, 100, 130, 64}, {2, 50, 200, 64}, DType::BF16, false},
        BackwardCase{{150, 300, 128}, {150, 140, 128}, DType::F16, true},
        BackwardCase{{150, 300, 128}, {150, 270, 128}, DType::BF16, false},
        BackwardCase{{150, 300, 64}, {150, 400, 64}, DType::BF16, false},
        BackwardCase{{150, 400, 64}, {150, 300, 64}, DType::F16, true},
        BackwardCase{{160, 260, 96}, {160, 260, 96}, DType::BF16, true},
        BackwardCase{{1, 2, 256, 224}, {1, 2, 256, 224}, DType::BF16, true}));

// Blocks take programs with and without iterations: no row sees the last keys.
TEST_F(BackwardGpuTest, ManyProgramsWithoutQueries) {
  for (const int64_t d : {64, 128}) {
    Pass run({{150, 140, d}, {150, 400, d}, DType::BF16, true});
    run.options.alignment = CausalAlignment::TopLeft;
    run.prepare();
    const Judge judge(run);
    for (const Form form : {Form::Fused, Form::FusedDeterministic})
      judge.expectAccurate(run.gradients(form),
                           toString(form) + " " + std::to_string(d));
  }
}

// Every length around the edges of tiles.
TEST_F(BackwardGpuTest, LengthsAroundTheEdgesOfTiles) {
  for (const int64_t n :
       {1, 2, 15, 16, 17, 31, 63, 64, 65, 97, 127, 128, 129, 193, 257, 441})
    for (const bool isCausal : {false, true})
      for (const int64_t d : {64, 128, 256}) {
        Pass run({{1, 3, n, d}, {1, 3, n, d}, DType::BF16, isCausal});
        const Judge judge(run);
        for (const Form form : {Form::Fused, Form::FusedDeterministic})
          judge.expectAccurate(run.gradients(form),
                               toString(form) + " " + std::to_string(n) +
                                   " x " + std::to_string(d) +
                                   (isCausal ? " causal" : ""));
      }
}

// dk and dv are the same to the bit in every form and launch, and dq in the
// deterministic one; elsewhere it stays right.
static void expectSameBits(Pass &run, Form form, int repeats,
                           const std::string &what) {
  repeats = repeatsOf(repeats);
  const FlashAttentionGradients first = run.gradients(form);
  for (int repeat = 0; repeat < repeats; ++repeat) {
    const FlashAttentionGradients again = run.gradients(form);
    ASSERT_TRUE(sameBytes(again.k, first.k)) << what << " dk " << repeat;
    ASSERT_TRUE(sameBytes(again.v, first.v)) << what << " dv " << repeat;
    if (form == Form::FusedDeterministic)
      ASSERT_TRUE(sameBytes(again.q, first.q)) << what << " dq " << repeat;
    else if (repeat + 1 == repeats)
      ASSERT_LT(reference::relativeError(again.q, first.q), 1e-2)
          << what << " dq";
  }
}

TEST_F(BackwardGpuTest, RepeatsGiveTheSameBits) {
  for (const int64_t n : {64, 130, 200, 1000})
    for (const int64_t d : {64, 72, 128, 256})
      for (const bool isCausal : {false, true}) {
        Pass run({{1, 20, n, d}, {1, 20, n, d}, DType::BF16, isCausal});
        for (const Form form : {Form::Fused, Form::FusedDeterministic})
          ASSERT_NO_FATAL_FAILURE(expectSameBits(
              run, form, 20,
              toString(form) + ", n = " + std::to_string(n) +
                  ", d = " + std::to_string(d) + (isCausal ? ", causal" : "")));
      }
}

// Heads that share keys: programs go through the rows of one head after the
// other, with buffers that all of them use in turn.
TEST_F(BackwardGpuTest, SharedKeysAtTheEdgesOfTiles) {
  for (const auto &[queries, keys] : {std::pair<int64_t, int64_t>{64, 64},
                                      {130, 130},
                                      {200, 200},
                                      {1000, 1000},
                                      {200, 70},
                                      {63, 333},
                                      {1, 200}})
    for (const int64_t d : {64, 96, 128, 256})
      for (const bool isCausal : {false, true}) {
        const int64_t groups = queries < 1000 ? 2 : 1;
        Pass run({{1, 3 * groups, queries, d},
                  {1, groups, keys, d},
                  DType::BF16,
                  isCausal});
        const Judge judge(run);
        for (const Form form : {Form::Fused, Form::FusedDeterministic})
          judge.expectAccurate(run.gradients(form),
                               toString(form) + " " + std::to_string(queries) +
                                   " to " + std::to_string(keys) + " x " +
                                   std::to_string(d) +
                                   (isCausal ? " causal" : ""));
      }
}

TEST_F(BackwardGpuTest, SharedKeysGiveTheSameBits) {
  for (const int64_t n : {64, 130, 200, 1000})
    for (const int64_t d : {64, 128, 256})
      for (const bool isCausal : {false, true}) {
        Pass run({{2, 20, n, d}, {2, 10, n, d}, DType::BF16, isCausal});
        const std::string what = "n = " + std::to_string(n) +
                                 ", d = " + std::to_string(d) +
                                 (isCausal ? ", causal" : "");
        ASSERT_NO_FATAL_FAILURE(
            expectSameBits(run, Form::FusedDeterministic, 40, what));
        ASSERT_NO_FATAL_FAILURE(expectSameBits(run, Form::Fused, 10, what));
      }
}

// More programs than multiprocessors, while another stream keeps some of them
// busy, so that programs start in another order every time.
TEST_F(BackwardGpuTest, DeterministicAHundredTimes) {
  Pass run({{4, 8, 1024, 64}, {4, 8, 1024, 64}, DType::BF16, true});
  const FlashAttentionGradients first = run.gradients(Form::FusedDeterministic);
  const CudaStream busy = CudaStream::create(device());
  const Tensor filler = Tensor::zeros({2048, 2048}, DType::BF16, gpu0);
  Tensor filled = Tensor::zeros({2048, 2048}, DType::BF16, gpu0);
  for (int repeat = 0; repeat < repeatsOf(100); ++repeat) {
    run.prepare();
    {
      const CudaStreamGuard guard(busy);
      for (int launch = 0; launch <= repeat % 4; ++launch)
        matmul(filler, filler, {}, filled);
    }
    const FlashAttentionGradients again =
        run.gradients(Form::FusedDeterministic);
    ASSERT_TRUE(sameBytes(again.q, first.q)) << repeat;
    ASSERT_TRUE(sameBytes(again.k, first.k)) << repeat;
    ASSERT_TRUE(sameBytes(again.v, first.v)) << repeat;
  }
  // The forms agree, and with the definition computed by other kernels.
  const FlashAttentionGradients fused = run.gradients(Form::Fused);
  const FlashAttentionGradients dense = run.gradients(Form::Dense);
  EXPECT_LT(reference::relativeError(fused.q, first.q), 5e-3);
  EXPECT_LT(reference::relativeError(fused.k, first.k), 5e-3);
  EXPECT_LT(reference::relativeError(fused.q, dense.q), 1e-2);
  EXPECT_LT(reference::relativeError(fused.k, dense.k), 1e-2);
  EXPECT_LT(reference::relativeError(fused.v, dense.v), 1e-2);
}

TEST_F(BackwardGpuTest, RowsWithoutKeysAreZero) {
  for (const int64_t d : {64, 128, 256})
    for (const Form form :
         {Form::Fused, Form::FusedDeterministic, Form::Dense}) {
      Pass run({{1, 2, 200, d}, {1, 2, 70, d}, DType::BF16, true});
      const FlashAttentionGradients result = run.gradients(form);
      const Tensor empty = result.q.narrow(2, 0, 130);
      EXPECT_TRUE(sameBits(empty, Tensor::zeros(empty.shape(), DType::BF16)))
          << toString(form);
      Judge(run).expectAccurate(result, toString(form));
    }
}

// NaN and infinity reach what sees them, and nothing else.
TEST_F(BackwardGpuTest, WhatIsHiddenStaysHidden) {
  const double infinity = std::numeric_limits<double>::infinity();
  for (const int64_t d : {64, 128, 256})
    for (const double poison : {std::nan(""), infinity})
      for (const auto &[queries, keys] :
           {std::pair<int64_t, int64_t>{300, 300}, {130, 300}, {300, 130}})
        for (const int operand : {0, 1, 2, 3}) {
          Pass run({{1, queries, d}, {1, keys, d}, DType::BF16, true});
          // An infinite key may spoil its own gradient: not looked at.
          if (operand == 1 && std::isinf(poison))
            continue;
          Tensor *const tensors[] = {&run.q, &run.k, &run.v, &run.dO};
          const int64_t row =
              operand == 1 || operand == 2 ? keys - 40 : queries - 40;
          tensors[operand]->set({0, row, 3}, poison);
          run.prepare();
          const reference::AttentionGradients truth = Judge(run).truth;
          for (const Form form : {Form::Fused, Form::FusedDeterministic}) {
            const FlashAttentionGradients actual = run.gradients(form);
            auto check = [&](const char *name, const Tensor &a,
                             const Tensor &t) {
              const std::vector<double> found = a.toVector<double>(),
                                        wanted = t.toVector<double>();
              for (size_t i = 0; i < found.size(); ++i)
                ASSERT_EQ(std::isfinite(found[i]), std::isfinite(wanted[i]))
                    << name << " " << i << ", " << toString(form)
                    << ", operand " << operand << ", d = " << d << ", "
                    << poison;
            };
            SCOPED_TRACE(std::to_string(queries) + " x " +
                         std::to_string(keys));
            check("dq", actual.q, truth.dq);
            check("dk", actual.k, truth.dk);
            check("dv", actual.v, truth.dv);
          }
        }
}

// Keys and values with a mean; large logits in f32.
TEST_F(BackwardGpuTest, HardNumbers) {
  Pass run({{2, 128, 128}, {2, 128, 128}, DType::BF16, false});
  for (Tensor *tensor : {&run.k, &run.v}) {
    std::vector<double> values = tensor->toVector<double>();
    for (double &value : values)
      value += 5;
    *tensor = Tensor::fromData(values, tensor->shape()).to(DType::BF16);
  }
  run.prepare();
  const Judge judge(run);
  for (const Form form : {Form::Fused, Form::FusedDeterministic})
    judge.expectAccurate(run.gradients(form), toString(form));

  Pass large({{2, 96, 64}, {2, 96, 64}, DType::F32, true});
  large.options.scale = 8;
  large.prepare();
  const Judge largeJudge(large);
  for (const Form form : {Form::Fused, Form::FusedDeterministic})
    largeJudge.expectAccurate(large.gradients(form), toString(form));
}

TEST_F(BackwardGpuTest, AnyStrides) {
  Pass run({{2, 4, 100, 64}, {2, 4, 100, 64}, DType::BF16, true});
  const FlashAttentionGradients expected =
      run.gradients(Form::FusedDeterministic);
  const Judge judge(run);
  // [batch, rows, heads, d], as projections give it.
  for (Tensor &tensor : run.there)
    tensor = tensor.to(Device::cpu())
                 .transpose(1, 2)
                 .contiguous()
                 .to(gpu0)
                 .transpose(1, 2);
  const FlashAttentionGradients inside =
      run.gradients(Form::FusedDeterministic);
  EXPECT_TRUE(sameBits(inside.q, expected.q));
  EXPECT_TRUE(sameBits(inside.k, expected.k));
  EXPECT_TRUE(sameBits(inside.v, expected.v));
  judge.expectAccurate(run.gradients(Form::Fused), "heads inside");
  // Rows that do not follow each other by a multiple of 16 bytes.
  Tensor wide = Tensor::zeros({2, 4, 100, 67}, DType::BF16);
  wide.narrow(3, 0, 64).copyFrom(run.dO);
  run.there[3] = wide.to(gpu0).narrow(3, 0, 64);
  for (const Form form : {Form::Fused, Form::FusedDeterministic})
    judge.expectAccurate(run.gradients(form), "odd rows " + toString(form));
}

// More heads than a grid has in its second and third dimension.
TEST_F(BackwardGpuTest, ManyHeads) {
  const int64_t batch = 65537, heads = 2, n = 16, d = 16;
  Pass run({{batch, heads, n, d}, {batch, heads, n, d}, DType::F16, false});
  const FlashAttentionGradients all = run.gradients(Form::FusedDeterministic);
  for (const int64_t begin : {int64_t(0), batch - 3}) {
    Pass few({{3, heads, n, d}, {3, heads, n, d}, DType::F16, false});
    few.q = run.q.narrow(0, begin, 3);
    few.k = run.k.narrow(0, begin, 3);
    few.v = run.v.narrow(0, begin, 3);
    few.dO = run.dO.narrow(0, begin, 3);
    few.prepare();
    const FlashAttentionGradients part =
        few.gradients(Form::FusedDeterministic);
    EXPECT_TRUE(sameBits(all.q.narrow(0, begin, 3), part.q));
    EXPECT_TRUE(sameBits(all.k.narrow(0, begin, 3), part.k));
    EXPECT_TRUE(sameBits(all.v.narrow(0, begin, 3), part.v));
  }
}
