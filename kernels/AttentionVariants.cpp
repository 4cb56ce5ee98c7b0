//===- AttentionVariants.cpp - Kinds of attention on tensors --------------===//
//
// Part of FlashTile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "kernels/AttentionVariants.h"

#include "kernels/AttentionTuning.h"
#include "kernels/AttentionVariantKernel.h"
#include "kernels/EnumChecks.h"
#include "kernels/FlashAttentionOperands.h"
#include "kernels/LookupTable.h"
#include "runtime/Autograd/Autograd.h"
#include "runtime/EnvOptions.h"
#include "runtime/Jit.h"
#include "runtime/Shape.h"

#include <algorithm>
#include <cfloat>
#include <limits>
#include <sstream>
#include <tuple>

using namespace flashtile;
using namespace flashtile::kernels;

//===----------------------------------------------------------------------===//
// Tiles
//===----------------------------------------------------------------------===//

FlashAttentionTiles
flashtile::defaultAttentionVariantTiles(const FlashAttentionClass &kind,
                                        AttentionVariant variant) {
  checkOption(variant);
  const bool isWindow = variant == AttentionVariant::SlidingWindow;
  FlashAttentionClass similar = kind;
  // A window has masks at both ends.
  similar.causal |= isWindow;
  const FlashAttentionTiles tiles = defaultFlashAttentionTiles(similar);
  const bool is16Bit = elementSize(kind.dtype) == 2;
  const bool hasWarpgroups = kind.device == DeviceClass::Sm90a && is16Bit;
  // What attention has, less what the formulas take of the registers: ALiBi the
  // distances of each column, windows a second masked loop.
  if (!hasWarpgroups) {
    const bool isTight = kind.device != DeviceClass::Cpu && is16Bit &&
                         kind.headDim > 120 && kind.headDim <= 128;
    return isTight ? FlashAttentionTiles{128, 64, 8, 2} : tiles;
  }
  const bool isAlibi = variant == AttentionVariant::Alibi;
  if (kind.headDim <= 64)
    return {192, isAlibi ? 64 : isWindow ? 80 : 96, 12, 2};
  if (kind.headDim <= 128)
    return {128, isAlibi ? 96 : 128, 8, 2};
  return {128, isAlibi || isWindow ? 64 : 80, 8, 2};
}

static FlashAttentionClass classOf(const AttentionOperands &operands,
                                   bool isCausal) {
  const auto &[q, k, v] = operands;
  return flashAttentionClassOf(q.tensor.device(), q.tensor.dtype(), q.headDim,
                               isCausal, q.rows, k.rows, q.heads * q.batch);
}

//===----------------------------------------------------------------------===//
// Problems
//===----------------------------------------------------------------------===//

namespace {
/// What a launch passes, checked.
struct Problem {
  AttentionOperands operands;
  AttentionVariantProblem variant;
  AttentionVariantConfig config;
  float scale = 0, bias = 0;
  Tensor slopes;
};
} // namespace

static std::string textOf(double value) {
  std::ostringstream text;
  text << value;
  return text.str();
}

static void checkRows(const char *name, const AttentionOperand &operand) {
  if (!hasUnitInnerStride(operand))
    refuseAttention(std::string("expected '") + name +
                    "' with contiguous rows, but got the strides of " +
                    operand.tensor.describe());
}

static Problem checkedProblem(const Tensor &q, const Tensor &k, const Tensor &v,
                              const AttentionVariantOptions &options) {
  checkOption(options.variant);
  Problem problem;
  problem.operands = checkedAttentionOperands(q, k, v);
  problem.variant = options;
  const auto &[query, key, value] = problem.operands;
  if (q.dtype() != DType::F32 && q.dtype() != DType::F16 &&
      q.dtype() != DType::BF16)
    refuseAttention("expected 'q' of type f32, f16 or bf16 for " +
                    std::string(attentionVariantName(options.variant)) +
                    ", but got " + toString(q.dtype()));
  for (auto [name, operand] :
       {std::pair("q", &query), std::pair("k", &key), std::pair("v", &value)})
    checkRows(name, *operand);
  const double scale = attentionScale(query, options.scale);
  problem.scale = static_cast<float>(scale);
  AttentionVariantConfig &config = problem.config;
  config.variant = options.variant;
  config.dtype = q.dtype();
  config.headDim = query.headDim;
  config.causal = options.causal;
  config.scaleIsPositive = scale >= double(FLT_MIN);
  config.fastTanh = options.fastTanh;

  switch (options.variant) {
  case AttentionVariant::Softcap:
    if (!(options.cap >= 1e-30 && options.cap <= 1e30))
      refuseAttention("expected a cap between 1e-30 and 1e30, but got " +
                      textOf(options.cap));
    break;
  case AttentionVariant::Alibi:
    problem.slopes = options.slopes.defined()
                         ? options.slopes
                         : alibiSlopes(query.heads, q.device());
    if (problem.slopes.shape() != Shape{query.heads} ||
        problem.slopes.dtype() != DType::F32 ||
        problem.slopes.device() != q.device() || !problem.slopes.isContiguous())
      refuseAttention("expected 'slopes' to be a contiguous f32[" +
                      std::to_string(query.heads) + "] on " +
                      q.device().toString() + ", but got " +
                      problem.slopes.describe());
    break;
  case AttentionVariant::SlidingWindow: {
    constexpr int64_t kMost = std::numeric_limits<int32_t>::max() / 4;
    for (auto [name, width] :
         {std::pair("left", options.left), std::pair("right", options.right)})
      if (width < 0 || width > kMost)
        refuseAttention(std::string("expected the ") + name +
                        " side of a window between 0 and " +
                        std::to_string(kMost) + ", but got " +
                        std::to_string(width));
    break;
  }
  case AttentionVariant::Sigmoid: {
    const double keys = static_cast<double>(std::max<int64_t>(key.rows, 1));
    const double bias = options.bias.value_or(-std::log(keys));
    if (!(std::abs(bias) <= 1e30))
      refuseAttention("expected a bias between -1e30 and 1e30, but got " +
                      textOf(bias));
    problem.bias = static_cast<float>(bias);
    break;
  }
  }
  return problem;
}

static Kernel kernelFor(const Problem &problem,
                        const FlashAttentionTiles &tiles) {
  const AttentionVariantConfig &config = problem.config;
  const Device device = problem.operands.q.tensor.device();
  using Key = std::tuple<int, int, int, ElementType, int64_t, int64_t, int64_t,
                         int64_t, int64_t, bool, bool, bool>;
  const Key key = {static_cast<int>(device.kind()),
                   device.index(),
                   static_cast<int>(config.variant),
                   config.dtype,
                   config.headDim,
                   tiles.blockM,
                   tiles.blockN,
                   tiles.numWarps,
                   tiles.numStages,
                   config.causal,
                   config.scaleIsPositive,
                   config.fastTanh};
  static LookupTable<Key, Kernel> table;
  return table.get(key, [&] {
    AttentionVariantConfig tiled = config;
    tiled.blockM = tiles.blockM;
    tiled.blockN = tiles.blockN;
    CompilerOptions compiler;
    compiler.numWarps = tiles.numWarps;
    compiler.numStages = tiles.numStages;
    // Unless the environment says how.
    if (device.isCuda() && EnvOptions::read().persistent.text == "auto")
      compiler.persistent = attentionVariantPersistence(tiled);
    return Jit(device, compiler)
        .compile(buildAttentionVariantKernel(tiled))
        .kernel();
  });
}

static void launch(const Kernel &kernel, const Problem &problem,
                   const AttentionOperand &out, const Tensor &lse) {
  const auto &[q, k, v] = problem.operands;
  const AttentionVariant variant = problem.config.variant;
  auto i32 = [](int64_t number) { return static_cast<int32_t>(number); };
  std::vector<ArgumentValue> arguments = {q.tensor, k.tensor, v.tensor,
                                          out.tensor};
  if (variant != AttentionVariant::Sigmoid)
    arguments.push_back(lse);
  if (variant == AttentionVariant::Alibi)
    arguments.push_back(problem.slopes);
  for (const int64_t extent : {q.heads, k.heads, q.rows, k.rows, q.batch})
    arguments.push_back(i32(extent));
  for (const AttentionOperand *operand : {&q, &k, &v, &out})
    for (int dim = 0; dim < 3; ++dim)
      arguments.push_back(operand->tensor.stride(dim));
  arguments.push_back(problem.scale);
  if (variant == AttentionVariant::Softcap)
    arguments.push_back(static_cast<float>(problem.variant.cap));
  if (variant == AttentionVariant::SlidingWindow)
    arguments.push_back(i32(problem.variant.left));
  if (variant == AttentionVariant::SlidingWindow && !problem.config.causal)
    arguments.push_back(i32(problem.variant.right));
  if (variant == AttentionVariant::Sigmoid)
    arguments.push_back(problem.bias);
  kernel.launchPositional(arguments.data(), arguments.size());
}

//===----------------------------------------------------------------------===//
// Tuning
//===----------------------------------------------------------------------===//

static std::string tuningKey(const Problem &problem) {
  const auto &[q, k, v] = problem.operands;
  std::string key = attentionVariantKernelName(problem.config) + " " +
                    toString(problem.config.dtype);
  auto add = [&](const char *name, int64_t value) {
    key += std::string(" ") + name + "=" + std::to_string(value);
  };
  add("d", q.headDim);
  add("queries", sizeClass(q.rows));
  add("keys", sizeClass(k.rows));
  add("heads", sizeClass(q.heads * q.batch));
  add("group", k.heads ? q.heads / k.heads : 1);
  add("positive_scale", problem.config.scaleIsPositive);
  if (problem.config.variant == AttentionVariant::Softcap)
    add("fast_tanh", problem.config.fastTanh);
  if (problem.config.variant == AttentionVariant::SlidingWindow) {
    add("left", sizeClass(problem.variant.left));
    add("right", problem.config.causal ? 0 : sizeClass(problem.variant.right));
  }
  return key;
}

static FlashAttentionTiles askedFor(const AttentionVariantOptions &options) {
  return {options.blockM, options.blockN, options.numWarps, options.numStages};
}

static AttentionForward forwardOf(const Problem &problem,
                                  const AttentionVariantOptions &options) {
  AttentionForward forward = {problem.operands,
                              classOf(problem.operands, problem.config.causal),
                              askedFor(options)};
  forward.outputType = problem.config.dtype;
  forward.hasLse = problem.config.variant != AttentionVariant::Sigmoid;
  forward.key = tuningKey(problem);
  forward.candidates = [&problem, kind = forward.kind, asked = forward.asked] {
    std::vector<FlashAttentionTiles> all = flashAttentionCandidates(kind);
    all.front() = defaultAttentionVariantTiles(kind, problem.config.variant);
    for (FlashAttentionTiles &tiles : all)
      completeTiles(tiles, asked);
    return all;
  };
  forward.program = [&problem] {
    return buildAttentionVariantKernel(problem.config).text();
  };
  forward.compile = [&problem](const FlashAttentionTiles &tiles) {
    return kernelFor(problem, tiles);
  };
  forward.launch = [&problem](const Kernel &kernel, const AttentionOperand &o,
                              const Tensor &lse) {
    launch(kernel, problem, o, lse);
  };
  return forward;
}

/// Explicit options count most, then tuning if asked for, then the table.
static FlashAttentionTiles chooseTiles(const Problem &problem,
                                       const AttentionVariantOptions &options) {
  if (options.tune && hasAttentionWork(problem.operands))
    return tunedAttentionTiles(forwardOf(problem, options));
  FlashAttentionTiles tiles = defaultAttentionVariantTiles(
      classOf(problem.operands, problem.config.causal), problem.config.variant);
  completeTiles(tiles, askedFor(options));
  return tiles;
}

//===----------------------------------------------------------------------===//
// Calls
//===----------------------------------------------------------------------===//

Kernel
flashtile::attentionVariantKernel(const Tensor &q, const Tensor &k,
                                  const Tensor &v,
                                  const AttentionVariantOptions &options) {
  const Problem problem = checkedProblem(q, k, v, options);
  return kernelFor(problem, chooseTiles(problem, options));
}

TuningResult
flashtile::attentionVariantTuning(const Tensor &q, const Tensor &k,
                                  const Tensor &v,
                                  const AttentionVariantOptions &options) {
  const Problem problem = checkedProblem(q, k, v, options);
  checkAttentionWork(problem.operands);
  return tuneAttention(forwardOf(problem, options));
}

FlashAttentionTiles
flashtile::attentionVariantTiles(const Tensor &q, const Tensor &k,
                                 const Tensor &v,
                                 const AttentionVariantOptions &options) {
  return chooseTiles(checkedProblem(q, k, v, options), options);
}

FlashAttentionResult
flashtile::attentionVariant(const Tensor &q, const Tensor &k, const Tensor &v,
                            const AttentionVariantOptions &options) {
  autograd::checkNotRecorded("attentionVariant", {q, k, v});
  checkOption(options.variant);
  checkAttentionTensors(q, k, v);
  FlashAttentionResult result;
  result.o = Tensor::empty(q.shape(), q.dtype(), q.device());
  if (options.variant != AttentionVariant::Sigmoid)
    result.lse = Tensor::empty(attentionRowShape(q), DType::F32, q.device());
  attentionVariant(q, k, v, options, result.o, result.lse);
  return result;
}

void flashtile::attentionVariant(const Tensor &q, const Tensor &k,
                                 const Tensor &v,
                                 const AttentionVariantOptions &options,
                                 Tensor &o, Tensor &lse) {
  autograd::checkNotRecorded("attentionVariant", {q, k, v});
  const Problem problem = checkedProblem(q, k, v, options);
  const bool hasLse = options.variant != AttentionVariant::Sigmoid;
  const AttentionOperand out =
      checkedAttentionOutput(q, q.dtype(), o, hasLse ? &lse : nullptr);
  checkRows("o", out);
  launch(kernelFor(problem, chooseTiles(problem, options)), problem, out, lse);
}
