//===- AttentionBackwardTest.cpp - Gradients of attention, as code --------===//
//
// Part of FlashTile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The kernels of the backward, one after the other as flashAttentionBackward
// runs them, on the code of each target: small tiles, so that few elements see
// every kind of tile.
//
//===----------------------------------------------------------------------===//

#include "kernels/FlashAttentionBackwardKernels.h"
#include "kernels/FlashAttentionForward.h"
#include "kernels/Reference/DenseAttention.h"
#include "kernels/Reference/Judge.h"
#include "kernels/Reference/PlainAttention.h"
#include "tests/compiler/cpu/TensorMemory.h"

#include <cmath>
#include <limits>

using namespace flashtile;
using namespace flashtile::cputest;
using namespace flashtile::kernels;

namespace {
struct Case {
  const char *name;
  DType dtype;
  int64_t headsQ, headsKV, seqQ, seqK, headDim;
  bool causal = false, addsDq = false;
  CausalAlignment alignment = CausalAlignment::BottomRight;
  bool hasGradLse = false;
  int64_t blockM = 32, blockN = 32;
  bool packs = false;
  int64_t numWarps = 0; ///< of the kernels of keys and queries, if given
  int64_t batch = 1;
  bool countsHeads = false;
};

class AttentionBackward : public OnTheTarget,
                          public testing::WithParamInterface<Case> {};

/// A case, from the operands to the gradients.
class Pass {
public:
  Pass(const Case &c, const Tensor &q, const Tensor &k, const Tensor &v,
       const Tensor &dO, const Tensor &dLse)
      : c(c), q(memoryOf(q)), k(memoryOf(k)), v(memoryOf(v)), dO(memoryOf(dO)),
        dLse(memoryOf(dLse)), o(c.dtype, q.numel()), oRest(c.dtype, q.numel()),
        lse(DType::F32, heads() * c.seqQ),
        lseRest(DType::F32, heads() * c.seqQ),
        shift(DType::F32, heads() * pitch()),
        delta(DType::F32, heads() * pitch()),
        dqSum(DType::F32, heads() * pitch() * c.headDim),
        dq(c.dtype, q.numel()), dk(c.dtype, k.numel()), dv(c.dtype, k.numel()) {
    scale = 1.0f / std::sqrt(float(c.headDim));
  }

  reference::AttentionGradients run() {
    forward();
    rows();
    keys(false);
    if (c.causal)
      keys(true);
    c.addsDq && !c.causal ? finish() : queries();
    const Shape queryShape = {c.batch, c.headsQ, c.seqQ, c.headDim};
    const Shape keyShape = {c.batch, c.headsKV, c.seqK, c.headDim};
    return {tensorOf(dq, queryShape), tensorOf(dk, keyShape),
            tensorOf(dv, keyShape)};
  }

private:
  int64_t heads() const { return c.batch * c.headsQ; }
  /// Not a multiple of the tiles of every case: they may not rely on it.
  int64_t pitch() const { return (c.seqQ + 15) / 16 * 16; }
  bool isNarrow() const { return elementSize(c.dtype) == 2; }

  FlashAttentionBackwardConfig config() const {
    FlashAttentionBackwardConfig config;
    config.dtype = c.dtype;
    config.headDim = c.headDim;
    config.blockM = c.blockM;
    config.blockN = c.blockN;
    config.causal = c.causal;
    config.alignment = c.alignment;
    config.grouped = c.headsQ != c.headsKV;
    config.countsHeads = c.countsHeads;
    config.addsDq = c.addsDq;
    config.packsDq = config.packsRows = c.packs;
    config.hasORest = isNarrow();
    config.hasLseRest = !isNarrow();
    config.hasGradLse = c.hasGradLse;
    return config;
  }

  void addExtents(std::vector<Argument> &arguments,
                  std::initializer_list<int64_t> extents) const {
    for (int64_t extent : extents)
      arguments.push_back(static_cast<int32_t>(extent));
  }
  struct Extents {
    int64_t heads, rows;
  };
  Extents ofQueries() const { return {c.headsQ, c.seqQ}; }
  Extents ofKeys() const { return {c.headsKV, c.seqK}; }
  /// Of contiguous tensors.
  void addStrides(std::vector<Argument> &arguments,
                  std::initializer_list<Extents> tensors) const {
    for (const auto &[heads, rows] : tensors) {
      arguments.push_back(heads * rows * c.headDim);
      arguments.push_back(rows * c.headDim);
      arguments.push_back(c.headDim);
    }
  }
  static void launch(const dsl::KernelModule &module,
                     const std::vector<Argument> &arguments,
                     int64_t numWarps = 0) {
    Program program(module.text(), "host", numWarps);
    program.run(arguments);
  }

  void forward() {
    FlashAttentionConfig forward;
    forward.dtype = c.dtype;
    forward.headDim = c.headDim;
    forward.blockM = c.blockM;
    forward.blockN = c.blockN;
    forward.causal = c.causal;
    forward.alignment = c.alignment;
    forward.scaleIsPositive = true;
    forward.oRest = isNarrow();
    forward.lseRest = !isNarrow();
    std::vector<Argument> arguments = {q, k, v, o, lse};
    arguments.push_back(isNarrow() ? oRest : lseRest);
    addExtents(arguments, {c.headsQ, c.headsKV, c.seqQ, c.seqK, c.batch});
    addStrides(arguments, {ofQueries(), ofKeys(), ofKeys(), ofQueries()});
    if (isNarrow())
      addStrides(arguments, {ofQueries()});
    arguments.push_back(scale);
    launch(buildFlashAttentionForward(forward), arguments);
  }

  void rows() {
    std::vector<Argument> arguments = {q, o};
    if (isNarrow())
      arguments.push_back(oRest);
    arguments.push_back(dO);
    arguments.push_back(lse);
    if (c.hasGradLse)
      arguments.push_back(dLse);
    arguments.push_back(shift);
    arguments.push_back(delta);
    if (c.addsDq)
      arguments.push_back(dqSum);
    addExtents(arguments, {c.headsQ, c.seqQ, c.seqK, pitch(), c.batch});
    addStrides(arguments, {ofQueries(), ofQueries(), ofQueries()});
    if (isNarrow())
      addStrides(arguments, {ofQueries()});
    if (c.hasGradLse)
      for (int64_t stride : {c.headsQ * c.seqQ, c.seqQ, int64_t(1)})
        arguments.push_back(stride);
    launch(buildFlashAttentionBackwardRows(config()), arguments);
  }

  std::vector<Argument> inputs() {
    std::vector<Argument> arguments = {q, k, v, dO, shift, delta};
    if (!isNarrow())
      arguments.push_back(lseRest);
    return arguments;
  }

  void keys(bool mends) {
    std::vector<Argument> arguments = inputs();
    arguments.push_back(dk);
    arguments.push_back(dv);
    if (c.addsDq && !mends)
      arguments.push_back(dqSum);
    addExtents(arguments,
               {c.headsQ, c.headsKV, c.seqQ, c.seqK, pitch(), c.batch});
    addStrides(arguments, {ofQueries(), ofKeys(), ofKeys(), ofQueries(),
                           ofKeys(), ofKeys()});
    arguments.push_back(scale);
    FlashAttentionBackwardConfig part = config();
    if (!mends)
      return launch(buildFlashAttentionBackwardKeys(part), arguments,
                    c.numWarps);
    part.addsDq = part.countsHeads = false;
    part.mends = true;
    part.keysBlockM = part.blockM;
    part.keysBlockN = part.blockN;
    part.blockM = part.blockN = 16;
    launch(buildFlashAttentionBackwardMend(part), arguments);
  }

  void queries() {
    std::vector<Argument> arguments = inputs();
    if (c.addsDq)
      arguments.push_back(dqSum);
    arguments.push_back(dq);
    addExtents(arguments,
               {c.headsQ, c.headsKV, c.seqQ, c.seqK, pitch(), c.batch});
    addStrides(arguments,
               {ofQueries(), ofKeys(), ofKeys(), ofQueries(), ofQueries()});
    arguments.push_back(scale);
    FlashAttentionBackwardConfig part = config();
    if (!c.addsDq)
      return launch(buildFlashAttentionBackwardQueries(part), arguments,
                    c.numWarps);
    part.blockM = part.blockN = 16;
    launch(buildFlashAttentionBackwardFinishCausal(part), arguments);
  }

  void finish() {
    std::vector<Argument> arguments = {dqSum, dq};
    addExtents(arguments, {c.headsQ, c.seqQ, pitch(), c.batch});
    addStrides(arguments, {ofQueries()});
    arguments.push_back(scale);
    launch(buildFlashAttentionBackwardFinish(config()), arguments);
  }

  const Case c;
  Memory q, k, v, dO, dLse, o, oRest, lse, lseRest, shift, delta, dqSum, dq, dk,
      dv;
  float scale;
};
} // namespace

static void expectAccurate(const char *name, const Tensor &actual,
                           const Tensor &truth, const Tensor &plain) {
  reference::JudgeRule rule;
  rule.elementFactor = 4;
  const reference::Verdict verdict =
      reference::judge(actual, truth, plain, rule);
  EXPECT_TRUE(verdict.pass) << name << ": error " << verdict.error << ", limit "
                            << verdict.limit << ": " << verdict.reason;
}

namespace {
struct Inputs {
  explicit Inputs(const Case &c)
      : q(Tensor::randn({c.batch, c.headsQ, c.seqQ, c.headDim}, c.dtype, 1)),
        k(Tensor::randn({c.batch, c.headsKV, c.seqK, c.headDim}, c.dtype, 2)),
        v(Tensor::randn({c.batch, c.headsKV, c.seqK, c.headDim}, c.dtype, 3)),
        dO(Tensor::randn(q.shape(), c.dtype, 4)),
        dLse(Tensor::randn({c.batch, c.headsQ, c.seqQ}, DType::F32, 5)) {}
  Tensor q, k, v, dO, dLse;
};
} // namespace

TEST_P(AttentionBackward, IsAccurate) {
  const Case &c = GetParam();
  const Inputs inputs(c);
  Pass pass(c, inputs.q, inputs.k, inputs.v, inputs.dO, inputs.dLse);
  const reference::AttentionGradients actual = pass.run();
  if (testTarget() == TestTarget::Sm80 || testTarget() == TestTarget::Sm90a)
    return; // compiled, and assembled

  reference::AttentionOptions options;
  options.causal = c.causal;
  options.alignment = c.alignment;
  const Tensor dLse = c.hasGradLse ? inputs.dLse : Tensor();
  const auto truth = reference::denseAttentionBackward(
      inputs.q, inputs.k, inputs.v, inputs.dO, options, dLse);
  const auto plain = reference::plainAttentionBackward(
      inputs.q, inputs.k, inputs.v, inputs.dO, c.dtype, options, dLse);
  expectAccurate("dq", actual.dq, truth.dq, plain.dq);
  expectAccurate("dk", actual.dk, truth.dk, plain.dk);
  expectAccurate("dv", actual.dv, truth.dv, plain.dv);
}

// A row that is NaN, and keys that are, reach what sees them and nothing else.
TEST_P(AttentionBackward, HidesWhatIsNotFinite) {
  const Case &c = GetParam();
  if (!c.causal || c.seqK < 4 || c.seqQ < 4)
    return;
  if (testTarget() == TestTarget::Sm80 || testTarget() == TestTarget::Sm90a)
    return;
  Inputs inputs(c);
  const double nan = std::numeric_limits<double>::quiet_NaN();
  // Row 2 of dO and of q: keys that it does not see stay clean.
  inputs.dO.set({0, 0, 2, 1}, nan);
  inputs.q.set({0, 0, 2, 0}, std::numeric_limits<double>::infinity());
  // The last key: rows that do not see it stay clean.
  inputs.k.set({0, 0, c.seqK - 1, 1}, nan);
  inputs.v.set({0, 0, c.seqK - 1, 0}, nan);
  Pass pass(c, inputs.q, inputs.k, inputs.v, inputs.dO, inputs.dLse);
  const reference::AttentionGradients actual = pass.run();
  reference::AttentionOptions options;
  options.causal = true;
  options.alignment = c.alignment;
  const auto truth = reference::denseAttentionBackward(
      inputs.q, inputs.k, inputs.v, inputs.dO, options,
      c.hasGradLse ? inputs.dLse : Tensor());
  // Finite where, and only where, the definition is.
  auto expectSamePlaces = [](const char *name, const Tensor &actual,
                             const Tensor &truth) {
    const std::vector<double> a = actual.toVector<double>();
    const std::vector<double> t = truth.toVector<double>();
    for (size_t i = 0; i < a.size(); ++i)
      ASSERT_EQ(std::isfinite(a[i]), std::isfinite(t[i]))
          << name << " " << i << ": " << a[i] << " against " << t[i];
  };
  expectSamePlaces("dq", actual.dq, truth.dq);
  expectSamePlaces("dk", actual.dk, truth.dk);
  expectSamePlaces("dv", actual.dv, truth.dv);
}

static std::vector<Case> cases() {
  const auto topLeft = CausalAlignment::TopLeft;
  const auto bottomRight = CausalAlignment::BottomRight;
  return {
      {"bf16", DType::BF16, 1, 1, 70, 70, 16},
      {"bf16_adds", DType::BF16, 1, 1, 70, 70, 16, false, true},
      {"bf16_causal", DType::BF16, 1, 1, 70, 70, 16, true},
      {"bf16_causal_adds", DType::BF16, 1, 1, 70, 70, 16, true, true},
      {"f16_few_keys_causal", DType::F16, 1, 1, 45, 20, 32, true},
      {"f16_few_keys_causal_adds", DType::F16, 1, 1, 45, 20, 32, true, true},
      {"f16_many_keys_causal", DType::F16, 1, 1, 20, 75, 24, true},
      {"f16_many_keys_causal_adds", DType::F16, 1, 1, 20, 75, 24, true, true},
      {"bf16_top_left", DType::BF16, 1, 1, 40, 72, 16, true, false, topLeft},
      {"bf16_top_left_adds", DType::BF16, 1, 1, 40, 72, 16, true, true,
       topLeft},
      {"bf16_grouped", DType::BF16, 6, 2, 33, 40, 16},
      {"bf16_grouped_adds_causal", DType::BF16, 3, 1, 33, 40, 16, true, true},
      {"bf16_grouped_counts", DType::BF16, 6, 2, 33, 40, 16, false, false,
       bottomRight, false, 32, 32, false, 0, 3, true},
      {"bf16_grouped_counts_adds_causal", DType::BF16, 6, 3, 33, 40, 16, true,
       true, bottomRight, false, 32, 32, false, 0, 2, true},
      {"f32", DType::F32, 1, 1, 40, 40, 8},
      {"f32_causal_adds", DType::F32, 2, 2, 40, 40, 8, true, true},
      {"f16_lse", DType::F16, 1, 1, 40, 33, 16, false, false, bottomRight,
       true},
      {"bf16_lse_causal_adds", DType::BF16, 1, 1, 40, 33, 16, true, true,
       bottomRight, true},
      {"bf16_64_tiles", DType::BF16, 1, 1, 100, 130, 64, true, false,
       bottomRight, false, 64, 64},
      {"bf16_64_tiles_adds", DType::BF16, 1, 1, 100, 130, 64, false, true,
       bottomRight, false, 64, 64},
      {"bf16_adds_packed", DType::BF16, 2, 1, 100, 70, 24, false, true,
       bottomRight, false, 32, 32, true},
      {"f16_causal_adds_packed", DType::F16, 2, 2, 70, 70, 16, true, true,
       bottomRight, false, 48, 32, true},
      {"bf16_causal_packed", DType::BF16, 2, 1, 70, 100, 16, true, false,
       bottomRight, false, 16, 32, true},
      {"bf16_wide_tiles", DType::BF16, 1, 1, 400, 300, 64, false, true,
       bottomRight, false, 128, 128, true, 8},
      {"bf16_wide_tiles_causal", DType::BF16, 1, 1, 400, 400, 64, true, true,
       bottomRight, false, 128, 128, true, 8},
      {"bf16_128_causal", DType::BF16, 1, 1, 200, 260, 128, true, true,
       bottomRight, false, 64, 128, true, 8},
      {"bf16_two_warpgroups", DType::BF16, 2, 1, 200, 260, 64, false, true,
       bottomRight, false, 64, 128, true, 8},
      {"bf16_two_warpgroups_causal", DType::BF16, 2, 2, 300, 260, 64, true,
       true, bottomRight, false, 128, 128, true, 8},
      {"f16_two_warpgroups_queries", DType::F16, 2, 1, 200, 260, 64, true,
       false, bottomRight, false, 128, 64, false, 8},
      {"bf16_shared_columns", DType::BF16, 1, 1, 200, 260, 256, true, true,
       bottomRight, false, 64, 64, true, 8},
      {"bf16_three_warpgroups", DType::BF16, 2, 2, 400, 400, 64, false, true,
       bottomRight, false, 64, 192, true, 12},
      {"one_query", DType::BF16, 2, 1, 1, 40, 16},
      {"one_key", DType::F16, 2, 2, 40, 1, 16, false, true},
  };
}

INSTANTIATE_TEST_SUITE_P(, AttentionBackward, testing::ValuesIn(cases()),
                         [](const auto &info) {
                           return std::string(info.param.name);
                         });
