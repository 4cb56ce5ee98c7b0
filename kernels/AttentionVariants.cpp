//===- AttentionVariants.cpp - Kinds of attention on tensors --------------===//
//
// Part of FlashTile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "kernels/AttentionVariants.h"

#include "kernels/AttentionVariantKernel.h"
#include "kernels/FlashAttentionOperands.h"
#include "kernels/LookupTable.h"
#include "runtime/Autograd/Autograd.h"
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
  const Tensor &q = operands.q.tensor;
  return {deviceClassOf(q.device()), q.dtype(), operands.q.headDim, isCausal};
}

/// What the options name, and of the rest what is given.
static FlashAttentionTiles completed(FlashAttentionTiles tiles,
                                     const AttentionVariantOptions &options) {
  if (options.blockM)
    tiles.blockM = options.blockM;
  if (options.blockN)
    tiles.blockN = options.blockN;
  if (options.numWarps)
    tiles.numWarps = options.numWarps;
  if (options.numStages)
    tiles.numStages = options.numStages;
  return tiles;
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

static FlashAttentionTiles tilesOf(const TuningConfig &tuning) {
  return {tuning.at("block_m"), tuning.at("block_n"), tuning.at("num_warps"),
          tuning.at("num_stages")};
}

static TuningResult measure(const Problem &problem,
                            const AttentionVariantOptions &options) {
  const AttentionOperand &q = problem.operands.q;
  const Device device = q.tensor.device();
  TuningProblem tuning;
  tuning.key = tuningKey(problem);
  tuning.program = buildAttentionVariantKernel(problem.config).text();
  tuning.device = device;
  const FlashAttentionClass kind =
      classOf(problem.operands, problem.config.causal);
  std::vector<FlashAttentionTiles> candidates = flashAttentionCandidates(kind);
  candidates.front() =
      defaultAttentionVariantTiles(kind, problem.config.variant);
  for (const FlashAttentionTiles &candidate : candidates) {
    const FlashAttentionTiles tiles = completed(candidate, options);
    tuning.configs.push_back({{"block_m", tiles.blockM},
                              {"block_n", tiles.blockN},
                              {"num_warps", tiles.numWarps},
                              {"num_stages", tiles.numStages}});
  }
  AttentionOperand out = q;
  Tensor lse;
  tuning.build = [&](const TuningConfig &config) {
    const Kernel kernel = kernelFor(problem, tilesOf(config));
    return [&, kernel] {
      // Here, and not where kernels are compiled: on the thread, and so in the
      // stream, that launches.
      if (!lse.defined()) {
        out.tensor = Tensor::empty(q.tensor.shape(), q.tensor.dtype(), device);
        lse = Tensor::empty({q.batch, q.heads, q.rows}, DType::F32, device);
      }
      launch(kernel, problem, out, lse);
    };
  };
  return autotune(tuning);
}

static bool hasWork(const Problem &problem) {
  return problem.operands.q.tensor.numel() > 0 && problem.operands.k.rows > 0;
}

/// Explicit options count most, then tuning if asked for, then the table.
static FlashAttentionTiles chooseTiles(const Problem &problem,
                                       const AttentionVariantOptions &options) {
  if (!options.tune || !hasWork(problem))
    return completed(defaultAttentionVariantTiles(
                         classOf(problem.operands, problem.config.causal),
                         problem.config.variant),
                     options);
  // The autotuner would find its result as well, with more to read and hash.
  using Key =
      std::tuple<int, int, std::string, int64_t, int64_t, int64_t, int64_t>;
  static LookupTable<Key, FlashAttentionTiles> table;
  const Device device = problem.operands.q.tensor.device();
  const Key key = {static_cast<int>(device.kind()),
                   device.index(),
                   tuningKey(problem),
                   options.blockM,
                   options.blockN,
                   options.numWarps,
                   options.numStages};
  return table.get(key,
                   [&] { return tilesOf(measure(problem, options).best); });
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
  if (!hasWork(problem))
    refuseAttention("expected queries and keys to measure, but got " +
                    q.describe() + " and " + k.describe());
  return measure(problem, options);
}

FlashAttentionTiles
flashtile::attentionVariantTiles(const Tensor &q, const Tensor &k,
                                 const Tensor &v,
                                 const AttentionVariantOptions &options) {
  return chooseTiles(checkedProblem(q, k, v, options), options);
}

static Shape rowsOf(const Tensor &q) {
  Shape rows = q.shape();
  rows.pop_back();
  return rows;
}

FlashAttentionResult
flashtile::attentionVariant(const Tensor &q, const Tensor &k, const Tensor &v,
                            const AttentionVariantOptions &options) {
  autograd::checkNotRecorded("attentionVariant", {q, k, v});
  checkAttentionTensors(q, k, v);
  FlashAttentionResult result;
  result.o = Tensor::empty(q.shape(), q.dtype(), q.device());
  if (options.variant != AttentionVariant::Sigmoid)
    result.lse = Tensor::empty(rowsOf(q), DType::F32, q.device());
  attentionVariant(q, k, v, options, result.o, result.lse);
  return result;
}

void flashtile::attentionVariant(const Tensor &q, const Tensor &k,
                                 const Tensor &v,
                                 const AttentionVariantOptions &options,
                                 Tensor &o, Tensor &lse) {
  autograd::checkNotRecorded("attentionVariant", {q, k, v});
  const Problem problem = checkedProblem(q, k, v, options);
  if (!o.defined() || o.shape() != q.shape() || o.dtype() != q.dtype() ||
      o.device() != q.device())
    refuseAttention("expected 'o' to be " + toString(q.dtype()) +
                    toString(q.shape()) + " on " + q.device().toString() +
                    ", but got " +
                    (o.defined() ? o.describe() : "an undefined tensor"));
  for (int64_t dim = 0; dim < o.rank(); ++dim)
    if (o.numel() > 0 && o.size(dim) > 1 && o.stride(dim) == 0)
      refuseAttention(
          "expected the elements of 'o' in places of their own, but got " +
          o.describe());
  const bool hasLse = options.variant != AttentionVariant::Sigmoid;
  if (hasLse && (!lse.defined() || lse.shape() != rowsOf(q) ||
                 lse.dtype() != DType::F32 || lse.device() != q.device() ||
                 !lse.isContiguous()))
    refuseAttention("expected 'lse' to be a contiguous f32" +
                    toString(rowsOf(q)) + " on " + q.device().toString() +
                    ", but got " +
                    (lse.defined() ? lse.describe() : "an undefined tensor"));
  const AttentionOperand out = asAttentionOperand(o);
  if (o.rank() > 4 && !out.tensor.sharesStorageWith(o))
    refuseAttention(
        "expected the leading dimensions of 'o' to be one block of memory");
  checkRows("o", out);
  launch(kernelFor(problem, chooseTiles(problem, options)), problem, out, lse);
}
