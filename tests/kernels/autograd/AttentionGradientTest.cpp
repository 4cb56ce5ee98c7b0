//===- AttentionGradientTest.cpp - Gradients of attention by the tape -----===//
//
// Part of FlashTile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The kernels have tests of their own; here is what lies between them and a
// user: which gradients come, of what, and from which calls.
//
//===----------------------------------------------------------------------===//

#include "kernels/FlashAttentionFunction.h"

#include "kernels/AttentionVariants.h"
#include "kernels/Reference/DenseAttention.h"
#include "tests/kernels/autograd/GradientTestSupport.h"

using namespace flashtile;
using autograd::gradcheck;
using testing::Each;

namespace {
/// q, k and v as leaves, and what their gradients should be.
struct Problem {
  Problem(const Shape &qShape, const Shape &kShape, DType dtype, bool causal)
      : q(parameter(qShape, 1, dtype)), k(parameter(kShape, 2, dtype)),
        v(parameter(kShape, 3, dtype)), dO(Tensor::randn(qShape, dtype, 4)) {
    options.causal = causal;
    Shape rows = qShape;
    rows.pop_back();
    dLse = Tensor::randn(rows, DType::F32, 5)
               .to(dtype == DType::F64 ? DType::F64 : DType::F32);
  }

  reference::AttentionGradients expected(const Tensor &gradO,
                                         const Tensor &gradLse = {}) const {
    reference::AttentionOptions wanted;
    wanted.causal = options.causal;
    wanted.scale = options.scale;
    return reference::denseAttentionBackward(q.detach(), k.detach(), v.detach(),
                                             gradO, wanted, gradLse);
  }
  void expectGradients(const reference::AttentionGradients &wanted,
                       double tolerance) const {
    expectClose(q.grad(), wanted.dq, tolerance, "q");
    expectClose(k.grad(), wanted.dk, tolerance, "k");
    expectClose(v.grad(), wanted.dv, tolerance, "v");
  }

  Tensor q, k, v, dO, dLse;
  FlashAttentionOptions options;
};

double toleranceOf(DType type) {
  switch (type) {
  case DType::F64:
    return 1e-10;
  case DType::F32:
    return 1e-5;
  case DType::F16:
    return 4e-3;
  default:
    return 3e-2;
  }
}
} // namespace

TEST(FlashAttentionGradientTest, AsTheSeedHasIt) {
  for (bool causal : {false, true}) {
    const Problem p({3, 50, 32}, {3, 50, 32}, DType::F32, causal);
    const Tensor o = FlashAttention::apply(p.q, p.k, p.v, causal);
    o.backward(p.dO);
    p.expectGradients(p.expected(p.dO), toleranceOf(DType::F32));
  }
}

#ifdef __clang__
#pragma clang diagnostic ignored "-Wc++20-designator"
#endif

TEST(FlashAttentionGradientTest, InTwoLines) {
  Problem p({2, 4, 70, 16}, {2, 2, 90, 16}, DType::F32, true);
  auto o = flashAttention(p.q, p.k, p.v, {.causal = true});
  o.backward(p.dO);
  p.expectGradients(p.expected(p.dO), toleranceOf(DType::F32));
}

TEST(FlashAttentionGradientTest, ShapesAndTypes) {
  struct Case {
    Shape q, k;
  };
  bool causal = false; // of every other one: compiling takes the time
  for (DType type : {DType::F64, DType::F32, DType::F16, DType::BF16}) {
    causal = !causal;
    for (const Case &shapes :
         {Case{{40, 16}, {40, 16}}, Case{{2, 33, 24}, {2, 65, 24}},
          Case{{1, 3, 17, 64}, {1, 1, 40, 64}},
          Case{{2, 2, 4, 20, 8}, {2, 2, 2, 30, 8}}}) {
      causal = !causal;
      const Problem p(shapes.q, shapes.k, type, causal);
      SCOPED_TRACE(p.q.describe() + (causal ? " causal" : ""));
      const auto [o, lse] = FlashAttention::apply(p.q, p.k, p.v, p.options);
      EXPECT_TRUE(o.requiresGrad());
      EXPECT_TRUE(lse.requiresGrad());
      autograd::backward({o, lse}, {p.dO, p.dLse});
      p.expectGradients(p.expected(p.dO, p.dLse), toleranceOf(type));
    }
  }
}

TEST(FlashAttentionGradientTest, GradCheck) {
  struct Case {
    Shape q, k;
    bool causal;
  };
  for (const Case &c : {Case{{5, 8}, {5, 8}, false}, Case{{4, 8}, {6, 8}, true},
                        Case{{1, 4, 3, 8}, {1, 2, 4, 8}, false}}) {
    const Problem p(c.q, c.k, DType::F64, c.causal);
    SCOPED_TRACE(p.q.describe());
    EXPECT_TRUE(gradcheck(
        [&](const TensorList &in) {
          const auto [o, lse] = flashAttention(in[0], in[1], in[2], p.options);
          return TensorList{o, lse};
        },
        {p.q, p.k, p.v}));
  }
}

// Every form by itself, rows without keys and several tiles of them included.
// Parts of dq add up in any order in one of the forms.
TEST(FlashAttentionGradientTest, GradCheckOfEveryForm) {
  struct Case {
    Shape q, k;
    bool causal;
  };
  autograd::GradCheckOptions tolerances;
  tolerances.nondetTol = 1e-13;
  for (auto form : {FlashAttentionBackwardForm::Fused,
                    FlashAttentionBackwardForm::FusedDeterministic,
                    FlashAttentionBackwardForm::Dense})
    for (const Case &c :
         {Case{{1, 4, 3, 8}, {1, 2, 4, 8}, true}, Case{{5, 8}, {3, 8}, true},
          Case{{2, 8}, {66, 8}, false}}) {
      const Problem p(c.q, c.k, DType::F64, c.causal);
      SCOPED_TRACE(toString(form) + " " + p.q.describe());
      EXPECT_TRUE(gradcheck(
          [&](const TensorList &in) {
            const auto [o, lse] =
                FlashAttention::apply(in[0], in[1], in[2], p.options, form);
            return TensorList{o, lse};
          },
          {p.q, p.k, p.v}, tolerances));
    }
}

TEST(FlashAttentionGradientTest, GradCheckFindsAWrongScale) {
  const Problem p({4, 8}, {4, 8}, DType::F64, false);
  struct Wrong : autograd::Function<Wrong> {
    static Tensor forward(autograd::Context &ctx, const Tensor &q,
                          const Tensor &k, const Tensor &v) {
      FlashAttentionOptions options;
      options.scale = 0.3; // backward takes the default
      const auto saved = flashAttentionSaved(q, k, v, options);
      ctx.saveForBackward({q, k, v, saved.o, saved.lse});
      return saved.o;
    }
    static TensorList backward(autograd::Context &ctx,
                               const TensorList &gradOutputs) {
      const TensorList s = ctx.savedTensors();
      const auto found = flashAttentionBackward(
          s[0], s[1], s[2], {s[3], s[4], {}, {}}, gradOutputs[0]);
      return {found.q, found.k, found.v};
    }
  };
  EXPECT_ERROR(InvalidArgument, "by input 0",
               gradcheck(
                   [](const TensorList &in) {
                     return TensorList{Wrong::apply(in[0], in[1], in[2])};
                   },
                   {p.q, p.k, p.v}));
}

TEST(FlashAttentionGradientTest, EveryForm) {
  for (auto form :
       {FlashAttentionBackwardForm::Default, FlashAttentionBackwardForm::Fused,
        FlashAttentionBackwardForm::FusedDeterministic,
        FlashAttentionBackwardForm::Dense}) {
    const Problem p({2, 4, 40, 16}, {2, 2, 60, 16}, DType::F32, true);
    const auto [o, lse] = FlashAttention::apply(p.q, p.k, p.v, p.options, form);
    autograd::backward({o, lse}, {p.dO, p.dLse});
    p.expectGradients(p.expected(p.dO, p.dLse), toleranceOf(DType::F32));
  }
}

TEST(FlashAttentionGradientTest, UpstreamGradientsOfAllKinds) {
  const Problem p({2, 2, 20, 16}, {2, 2, 20, 16}, DType::F32, true);
  const Tensor one = Tensor::full({}, 1, DType::F32);
  const Shape shape = p.q.shape();
  const auto check = [&](const char *name, const Tensor &gradient) {
    SCOPED_TRACE(name);
    for (const Tensor &leaf : {p.q, p.k, p.v})
      leaf.setGrad();
    flashAttention(p.q, p.k, p.v, p.options).o.backward(gradient);
    p.expectGradients(p.expected(gradient.to(DType::F32)),
                      toleranceOf(DType::F32));
  };
  check("strides of 0", one.expand(shape));
  check("rows repeated",
        Tensor::randn({2, 2, 1, 16}, DType::F32, 9).expand(shape));
  check("transposed",
        Tensor::randn({16, 20, 2, 2}, DType::F32, 9).permute({3, 2, 1, 0}));
  check("of f64", Tensor::randn(shape, DType::F64, 9));
  check("of bf16", Tensor::randn(shape, DType::BF16, 9));
  // What a sum gives: the case that has caught many.
  for (const Tensor &leaf : {p.q, p.k, p.v})
    leaf.setGrad();
  const Tensor o = flashAttention(p.q, p.k, p.v, p.options).o;
  o.reshape({-1, 1}).backward(one.expand({o.numel(), 1}));
  p.expectGradients(p.expected(one.expand(shape)), toleranceOf(DType::F32));
}

TEST(FlashAttentionGradientTest, OfTheLogSumExpAlone) {
  const Problem p({30, 16}, {40, 16}, DType::F32, false);
  flashAttention(p.q, p.k, p.v, p.options).lse.backward(p.dLse);
  const auto wanted =
      p.expected(Tensor::zeros(p.q.shape(), DType::F32), p.dLse);
  expectClose(p.q.grad(), wanted.dq, 1e-5, "q");
  expectClose(p.k.grad(), wanted.dk, 1e-5, "k");
  EXPECT_THAT(p.v.grad().toVector<float>(), Each(0));
}

TEST(FlashAttentionGradientTest, OnlyWhatIsWanted) {
  for (int wanted = 1; wanted < 7; ++wanted) {
    const Problem p({2, 20, 16}, {2, 20, 16}, DType::F32, true);
    const auto only = [&](int bit, const Tensor &t) {
      return wanted & bit ? t : t.detach();
    };
    flashAttention(only(1, p.q), only(2, p.k), only(4, p.v), p.options)
        .backward(p.dO);
    const auto expected = p.expected(p.dO);
    for (auto [bit, tensor, gradient] :
         {std::tuple(1, &p.q, &expected.dq), std::tuple(2, &p.k, &expected.dk),
          std::tuple(4, &p.v, &expected.dv)}) {
      EXPECT_EQ(tensor->grad().defined(), (wanted & bit) != 0);
      if (wanted & bit)
        expectClose(tensor->grad(), *gradient, 1e-5, "wanted");
    }
  }
}

TEST(FlashAttentionGradientTest, SelfAttention) {
  // One tensor as all three, and projections of one.
  const Tensor x = parameter({2, 12, 8}, 1);
  const Tensor w = parameter({8, 8}, 2);
  EXPECT_TRUE(gradcheck(
      [](const TensorList &in) {
        FlashAttentionOptions options;
        options.causal = true;
        const Tensor h = matmul(in[0], in[1]);
        return TensorList{matmul(flashAttention(h, h, in[0], options).o,
                                 in[1].transpose(0, 1))
                              .narrow(1, 5, 2)};
      },
      {x, w}));
}

TEST(FlashAttentionGradientTest, ViewsOfOneProjection) {
  // [b, n, 3, h, d], as models keep it.
  const Tensor qkv = parameter({2, 10, 3, 2, 8}, 1);
  const auto attend = [](const TensorList &in) {
    const auto part = [&](int64_t i) {
      return in[0].select(2, i).transpose(1, 2);
    };
    return TensorList{flashAttention(part(0), part(1), part(2))
                          .o.transpose(1, 2)
                          .narrow(1, 3, 2)};
  };
  EXPECT_TRUE(gradcheck(attend, {qkv}));
}

TEST(FlashAttentionGradientTest, RowsThatSeeNoKey) {
  for (DType type : {DType::F32, DType::BF16}) {
    // The first 10 of 30 queries come before all 20 keys.
    const Problem p({30, 16}, {20, 16}, type, true);
    const auto [o, lse] = flashAttention(p.q, p.k, p.v, p.options);
    // Whatever comes for them adds nothing.
    p.dO.narrow(0, 0, 10).fill(1e4);
    p.dLse.narrow(0, 0, 10).fill(1e4);
    autograd::backward({o, lse}, {p.dO, p.dLse});
    EXPECT_THAT(p.q.grad().narrow(0, 0, 10).toVector<double>(), Each(0));
    p.expectGradients(p.expected(p.dO, p.dLse), toleranceOf(type));
  }
}

TEST(FlashAttentionGradientTest, WritesAndSecondPassesAreNoticed) {
  const Problem p({20, 16}, {20, 16}, DType::F32, false);
  const Tensor k = p.k.detach();
  const Tensor o = flashAttention(p.q, k, p.v).o;
  o.backward(p.dO, /*retainGraph=*/true);
  k.narrow(0, 3, 1).fill(0);
  EXPECT_ERROR(InvalidArgument, "flashtile::FlashAttention: saved tensor 1",
               o.backward(p.dO));
  const Tensor again = flashAttention(p.q, k, p.v).o;
  again.backward(p.dO);
  EXPECT_ERROR(InvalidArgument, "freed by an earlier backward",
               again.backward(p.dO));
  // Results are saved as well.
  const Tensor last = flashAttention(p.q, k, p.v).o;
  last.detach().fill(0);
  EXPECT_ERROR(InvalidArgument, "saved tensor 3", last.backward(p.dO));
}

TEST(FlashAttentionGradientTest, EmptyOperands) {
  const Tensor q = parameter({0, 16}, 1, DType::F32);
  const Tensor k = parameter({5, 16}, 2, DType::F32);
  flashAttention(q, k, k).backward(Tensor::zeros({0, 16}, DType::F32));
  EXPECT_EQ(q.grad().shape(), (Shape{0, 16}));
  EXPECT_THAT(k.grad().toVector<float>(), Each(0));
  const Tensor some = parameter({3, 16}, 1, DType::F32);
  const Tensor none = parameter({0, 16}, 2, DType::F32);
  flashAttention(some, none, none).backward(Tensor::zeros({3, 16}, DType::F32));
  EXPECT_THAT(some.grad().toVector<float>(), Each(0));
  EXPECT_EQ(none.grad().shape(), (Shape{0, 16}));
}

TEST(FlashAttentionGradientTest, WhatHasNoGradient) {
  const Tensor q = parameter({20, 16}, 1, DType::F8E4M3FN);
  EXPECT_ERROR(Unsupported, "no gradient by operands of an fp8 type",
               flashAttention(q, q, q));
  const Tensor x = parameter({20, 16}, 1, DType::BF16);
  FlashAttentionOptions options;
  options.outputType = DType::F32;
  EXPECT_ERROR(Unsupported, "expected the type of 'o' to be that of 'q', bf16",
               flashAttention(x, x, x, options));
  Tensor o = Tensor::zeros({20, 16}, DType::BF16);
  Tensor lse = Tensor::zeros({20}, DType::F32);
  EXPECT_ERROR(Unsupported, "into tensors of the caller has no gradient",
               flashAttention(x, x, x, {}, o, lse));
  EXPECT_ERROR(Unsupported, "attentionVariant has no gradient",
               attentionVariant(x, x, x));
  const NoGradGuard noGrad;
  EXPECT_FALSE(flashAttention(q, q, q).o.requiresGrad());
  EXPECT_FALSE(flashAttention(x, x, x, options).o.requiresGrad());
}

TEST(FlashAttentionGradientTest, NoGradientNoMemory) {
  const Problem p({20, 16}, {20, 16}, DType::BF16, false);
  const auto plain = flashAttention(p.q.detach(), p.k.detach(), p.v.detach());
  EXPECT_FALSE(plain.o.requiresGrad());
  const auto [o, lse] = FlashAttention::apply(p.q.detach(), p.k.detach(),
                                              p.v.detach(), p.options);
  EXPECT_TRUE(o.isLeaf());
  // And recording changes no bit of the result.
  const auto recorded = flashAttention(p.q, p.k, p.v);
  EXPECT_EQ(recorded.o.toVector<float>(), plain.o.toVector<float>());
  EXPECT_EQ(recorded.lse.toVector<float>(), plain.lse.toVector<float>());
}

//===----------------------------------------------------------------------===//
// Dense attention
//===----------------------------------------------------------------------===//

TEST(DenseAttentionGradientTest, ShapesAndTypes) {
  struct Case {
    Shape q, k;
  };
  for (DType type : {DType::F64, DType::F32, DType::F16, DType::BF16})
    for (const Case &shapes :
         {Case{{40, 16}, {40, 16}}, Case{{2, 33, 20}, {2, 65, 20}},
          Case{{1, 3, 17, 64}, {1, 1, 40, 64}}})
      for (bool causal : {false, true}) {
        const Problem p(shapes.q, shapes.k, type, causal);
        SCOPED_TRACE(p.q.describe() + (causal ? " causal" : ""));
        DenseAttentionOptions options;
        options.causal = causal;
        const auto [o, lse] = denseAttention(p.q, p.k, p.v, options);
        autograd::backward({o, lse}, {p.dO, p.dLse});
        p.expectGradients(p.expected(p.dO, p.dLse), toleranceOf(type));
      }
}

TEST(DenseAttentionGradientTest, GradCheck) {
  struct Case {
    Shape q, k;
    bool causal;
  };
  for (const Case &c : {Case{{4, 6}, {5, 6}, false}, Case{{6, 3}, {4, 3}, true},
                        Case{{1, 4, 3, 5}, {1, 2, 4, 5}, true}}) {
    const Problem p(c.q, c.k, DType::F64, c.causal);
    SCOPED_TRACE(p.q.describe());
    DenseAttentionOptions options;
    options.causal = c.causal;
    EXPECT_TRUE(gradcheck(
        [&](const TensorList &in) {
          const auto [o, lse] = denseAttention(in[0], in[1], in[2], options);
          return TensorList{o, lse};
        },
        {p.q, p.k, p.v}));
  }
}

TEST(DenseAttentionGradientTest, AgreesWithFlashAttention) {
  const Problem a({2, 4, 40, 16}, {2, 2, 40, 16}, DType::F32, true);
  const Problem b({2, 4, 40, 16}, {2, 2, 40, 16}, DType::F32, true);
  DenseAttentionOptions options;
  options.causal = true;
  denseAttention(a.q, a.k, a.v, options).o.backward(a.dO);
  flashAttention(b.q, b.k, b.v, b.options).o.backward(b.dO);
  expectClose(a.q.grad(), b.q.grad(), 1e-5, "q");
  expectClose(a.k.grad(), b.k.grad(), 1e-5, "k");
  expectClose(a.v.grad(), b.v.grad(), 1e-5, "v");
}
