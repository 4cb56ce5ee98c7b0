//===- EnumChecksTest.cpp - Numbers that no enumeration has ---------------===//
//
// Part of FlashTile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "kernels/ActivationBackwardKernel.h"
#include "kernels/AttentionVariantKernel.h"
#include "kernels/AttentionVariants.h"
#include "kernels/DenseAttentionBackward.h"
#include "kernels/Examples.h"
#include "kernels/FlashAttention.h"
#include "kernels/FlashAttentionBackward.h"
#include "kernels/FlashAttentionBackwardKernels.h"
#include "kernels/FlashAttentionForward.h"
#include "kernels/FlashAttentionFunction.h"
#include "kernels/Matmul.h"
#include "kernels/MatmulKernel.h"
#include "kernels/Mlp.h"
#include "kernels/MlpKernel.h"
#include "kernels/Reference/AttentionVariants.h"
#include "kernels/Reference/BlockwiseAttention.h"
#include "kernels/Reference/DenseAttention.h"
#include "kernels/Reference/Layers.h"
#include "kernels/Reference/Matmul.h"
#include "kernels/Reference/PlainAttention.h"
#include "kernels/Reference/Softmax.h"
#include "kernels/Softmax.h"
#include "kernels/SoftmaxBackwardKernel.h"
#include "tests/runtime/ExpectError.h"

using namespace flashtile;

static constexpr auto noAlignment = static_cast<CausalAlignment>(2);
static constexpr auto noActivation = static_cast<Activation>(5);
static constexpr auto noVariant = static_cast<AttentionVariant>(-1);
static constexpr auto noForm = static_cast<FlashAttentionBackwardForm>(4);
static constexpr auto noType = static_cast<DType>(11);

static const char *const alignments =
    "expected alignment to be BottomRight (0) or TopLeft (1), but got the "
    "number 2";
static const char *const activations =
    "expected activation to be None (0), Relu (1), Gelu (2), GeluTanh (3) or "
    "Silu (4), but got the number 5";
static const char *const variants =
    "expected variant to be Softcap (0), Alibi (1), SlidingWindow (2) or "
    "Sigmoid (3), but got the number -1";
static const char *const forms =
    "expected form to be Default (0), Fused (1), FusedDeterministic (2) or "
    "Dense (3), but got the number 4";

/// What `what` of an element type gets told.
static std::string types(const std::string &what) {
  return "expected " + what +
         " to be f64 (0), f32 (1), f16 (2), bf16 (3), f8E4M3FN (4), f8E5M2 "
         "(5), i1 (6), i8 (7), i16 (8), i32 (9) or i64 (10), but got the "
         "number 11";
}

namespace {
class EnumChecksTest : public testing::Test {
protected:
  const Tensor q = Tensor::zeros({2, 3, 8}, DType::F32);
  const Tensor x = Tensor::zeros({8, 8}, DType::F32);
  const Tensor rows = Tensor::zeros({2, 3}, DType::F32);
};
} // namespace

TEST_F(EnumChecksTest, FlashAttention) {
  FlashAttentionOptions options;
  options.alignment = noAlignment;
  const Tensor leaf = Tensor::zeros({2, 3, 8}, DType::F32).setRequiresGrad();
  EXPECT_ERROR(InvalidArgument, alignments, flashAttention(q, q, q, options));
  EXPECT_ERROR(InvalidArgument, alignments,
               flashAttention(leaf, q, q, options));
  EXPECT_ERROR(InvalidArgument, alignments,
               flashAttentionSaved(q, q, q, options));
  EXPECT_ERROR(InvalidArgument, alignments,
               flashAttentionKernel(q, q, q, options));
  EXPECT_ERROR(InvalidArgument, alignments,
               flashAttentionTiles(q, q, q, options));
  EXPECT_ERROR(InvalidArgument, alignments,
               flashAttentionTuning(q, q, q, options));
  options.alignment = CausalAlignment::TopLeft;
  options.outputType = noType;
  EXPECT_ERROR(InvalidArgument, types("outputType"),
               flashAttention(q, q, q, options));
  EXPECT_ERROR(InvalidArgument, types("outputType"),
               flashAttention(leaf, q, q, options));
  EXPECT_ERROR(InvalidArgument, types("outputType"),
               flashAttentionKernel(q, q, q, options));
}

TEST_F(EnumChecksTest, FlashAttentionBackward) {
  const FlashAttentionSaved saved = {q, rows, {}, {}};
  FlashAttentionBackwardOptions options;
  const auto expectRefused = [&](const char *part) {
    EXPECT_ERROR(InvalidArgument, part,
                 flashAttentionBackward(q, q, q, saved, q, {}, options));
    EXPECT_ERROR(InvalidArgument, part,
                 flashAttentionBackwardForm(q, q, q, options));
    EXPECT_ERROR(InvalidArgument, part,
                 flashAttentionBackwardKernels(q, q, q, options));
    EXPECT_ERROR(InvalidArgument, part,
                 flashAttentionBackwardTuning(q, q, q, saved, q, {}, options));
  };
  options.form = noForm;
  expectRefused(forms);
  options.tune = true;
  expectRefused(forms);
  options.form = FlashAttentionBackwardForm::Dense;
  options.alignment = noAlignment;
  expectRefused(alignments);
  EXPECT_ERROR(InvalidArgument, forms,
               defaultFlashAttentionBackwardTiles({}, noForm));
}

// When the call is recorded, not when somebody goes back.
TEST_F(EnumChecksTest, FlashAttentionFunction) {
  const Tensor leaf = Tensor::zeros({2, 3, 8}, DType::F32).setRequiresGrad();
  EXPECT_ERROR(
      InvalidArgument, forms,
      FlashAttention::apply(leaf, q, q, FlashAttentionOptions(), noForm));
  EXPECT_ERROR(InvalidArgument, forms,
               FlashAttention::apply(q, q, q, FlashAttentionOptions(), noForm));
}

TEST_F(EnumChecksTest, DenseAttention) {
  DenseAttentionOptions options;
  options.alignment = noAlignment;
  EXPECT_ERROR(InvalidArgument, alignments, denseAttention(q, q, q, options));
  EXPECT_ERROR(InvalidArgument, alignments,
               denseAttentionPlan(q, q, q, options));
  EXPECT_ERROR(InvalidArgument, alignments,
               denseAttentionBackward(q, q, q, q, rows, options));
  options.alignment = CausalAlignment::TopLeft;
  options.scoreType = noType;
  EXPECT_ERROR(InvalidArgument, types("scoreType"),
               denseAttention(q, q, q, options));
  EXPECT_ERROR(InvalidArgument, types("scoreType"),
               denseAttentionScratchBytes(q, q, options));
}

TEST_F(EnumChecksTest, Softmax) {
  SoftmaxOptions options;
  options.alignment = noAlignment;
  EXPECT_ERROR(InvalidArgument, alignments, softmax(x, options));
  EXPECT_ERROR(InvalidArgument, alignments, softmaxKernel(x, options));
  const Tensor leaf = Tensor::zeros({8, 8}, DType::F32).setRequiresGrad();
  EXPECT_ERROR(InvalidArgument, alignments, softmax(leaf, options));
  options = {};
  options.outputType = noType;
  EXPECT_ERROR(InvalidArgument, types("outputType"), softmax(x, options));
}

TEST_F(EnumChecksTest, ProductsAndLayers) {
  MatmulOptions options;
  options.activation = noActivation;
  EXPECT_ERROR(InvalidArgument, activations, matmul(x, x, options));
  EXPECT_ERROR(InvalidArgument, activations, matmulKernel(x, x, options));
  EXPECT_ERROR(InvalidArgument, activations, matmulTiles(x, x, options));
  EXPECT_ERROR(InvalidArgument, activations, matmulTuning(x, x, options));
  const Tensor leaf = Tensor::zeros({8, 8}, DType::F32).setRequiresGrad();
  EXPECT_ERROR(InvalidArgument, activations, matmul(leaf, x, options));
  options = {};
  options.outputType = noType;
  EXPECT_ERROR(InvalidArgument, types("outputType"), matmul(x, x, options));

  MlpOptions layers;
  layers.activation = noActivation;
  EXPECT_ERROR(InvalidArgument, activations, mlp(x, x, x, layers));
  EXPECT_ERROR(InvalidArgument, activations, mlp(leaf, x, x, layers));
  EXPECT_ERROR(InvalidArgument, activations, mlpKernel(x, x, x, layers));
  EXPECT_ERROR(InvalidArgument, activations, mlpTuning(x, x, x, layers));
}

TEST_F(EnumChecksTest, AttentionVariants) {
  AttentionVariantOptions options;
  options.variant = noVariant;
  EXPECT_ERROR(InvalidArgument, variants, attentionVariant(q, q, q, options));
  EXPECT_ERROR(InvalidArgument, variants,
               attentionVariantKernel(q, q, q, options));
  EXPECT_ERROR(InvalidArgument, variants,
               attentionVariantTiles(q, q, q, options));
  EXPECT_ERROR(InvalidArgument, variants,
               attentionVariantTuning(q, q, q, options));
  EXPECT_ERROR(InvalidArgument, variants,
               defaultAttentionVariantTiles({}, noVariant));
}

template <typename Config, typename Build>
static void expectTypeRefused(Build build) {
  Config config;
  config.dtype = noType;
  EXPECT_ERROR(InvalidArgument, types("dtype"), build(config));
}

template <typename Config, typename Build>
static void expectAlignmentRefused(Build build) {
  Config config;
  config.alignment = noAlignment;
  EXPECT_ERROR(InvalidArgument, alignments, build(config));
}

TEST_F(EnumChecksTest, Builders) {
  using namespace kernels;
  expectTypeRefused<FlashAttentionConfig>(buildFlashAttentionForward);
  expectAlignmentRefused<FlashAttentionConfig>(buildFlashAttentionForward);
  for (auto build :
       {buildFlashAttentionBackwardRows, buildFlashAttentionBackwardKeys,
        buildFlashAttentionBackwardQueries,
        buildFlashAttentionBackwardFinish}) {
    expectTypeRefused<FlashAttentionBackwardConfig>(build);
    expectAlignmentRefused<FlashAttentionBackwardConfig>(build);
  }
  expectTypeRefused<SoftmaxKernelConfig>(buildSoftmaxKernel);
  expectAlignmentRefused<SoftmaxKernelConfig>(buildSoftmaxKernel);
  expectAlignmentRefused<SoftmaxBackwardConfig>(buildSoftmaxBackward);
  expectTypeRefused<MatmulKernelConfig>(buildMatmulKernel);
  expectTypeRefused<MlpKernelConfig>(buildMlpKernel);
  expectTypeRefused<AttentionVariantConfig>(buildAttentionVariantKernel);

  MatmulKernelConfig product;
  product.activation = noActivation;
  EXPECT_ERROR(InvalidArgument, activations, buildMatmulKernel(product));
  product = {};
  product.orderB = static_cast<MatrixOrder>(3);
  EXPECT_ERROR(InvalidArgument,
               "expected orderB to be Rows (0), Columns (1) or Strided (2), "
               "but got the number 3",
               buildMatmulKernel(product));
  MlpKernelConfig layers;
  layers.activation = noActivation;
  EXPECT_ERROR(InvalidArgument, activations, buildMlpKernel(layers));
  AttentionVariantConfig variant;
  variant.variant = noVariant;
  EXPECT_ERROR(InvalidArgument, variants, buildAttentionVariantKernel(variant));
  EXPECT_ERROR(InvalidArgument, variants, attentionVariantKernelName(variant));
  EXPECT_ERROR(InvalidArgument, activations,
               buildActivationBackward(noActivation, DType::F32, DType::F32));
  MatmulConfig example;
  example.epilogue = static_cast<Epilogue>(4);
  EXPECT_ERROR(InvalidArgument,
               "expected epilogue to be None (0), Bias (1), BiasRelu (2) or "
               "BiasGelu (3), but got the number 4",
               buildMatmul(example));
  EXPECT_ERROR(InvalidArgument, types("an element type"),
               buildVectorAdd(noType));
}

TEST_F(EnumChecksTest, References) {
  using namespace reference;
  AttentionOptions options;
  options.alignment = noAlignment;
  EXPECT_ERROR(InvalidArgument, alignments,
               reference::denseAttention(q, q, q, options));
  EXPECT_ERROR(InvalidArgument, alignments,
               blockwiseAttention(q, q, q, options));
  EXPECT_ERROR(InvalidArgument, alignments,
               plainAttention(q, q, q, DType::F16, options));
  options = {};
  options.arithmetic = noType;
  EXPECT_ERROR(InvalidArgument, types("arithmetic"),
               reference::denseAttention(q, q, q, options));
  EXPECT_ERROR(InvalidArgument, types("arithmetic"),
               reference::matmul(x, x, noType));
  EXPECT_ERROR(InvalidArgument, alignments,
               reference::softmax(x, 1, noAlignment));
  EXPECT_ERROR(InvalidArgument, activations,
               layer(x, x, Tensor(), noActivation));
  AttentionVariantProblem problem;
  problem.variant = noVariant;
  EXPECT_ERROR(InvalidArgument, variants,
               reference::attentionVariant(q, q, q, problem));
}

TEST_F(EnumChecksTest, AllThatHaveNamesAreTaken) {
  for (const auto form :
       {FlashAttentionBackwardForm::Default, FlashAttentionBackwardForm::Fused,
        FlashAttentionBackwardForm::FusedDeterministic,
        FlashAttentionBackwardForm::Dense}) {
    FlashAttentionBackwardOptions options;
    options.form = form;
    EXPECT_NO_THROW(flashAttentionBackwardForm(q, q, q, options));
  }
  for (const Activation activation : kActivations)
    EXPECT_NO_THROW(reference::layer(x, x, Tensor(), activation, DType::F32));
  for (int type = 0; type <= static_cast<int>(DType::I64); ++type)
    EXPECT_NO_THROW(Tensor::zeros({1}, static_cast<DType>(type)));
}
