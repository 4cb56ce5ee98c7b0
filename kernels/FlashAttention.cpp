//===- FlashAttention.cpp - Attention on tensors --------------------------===//
//
// Part of FlashTile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Checks shapes, views every operand as [batch, heads, rows, d], picks a
// configuration, and launches. Compiled kernels are kept by configuration.
//
//===----------------------------------------------------------------------===//

#include "kernels/FlashAttention.h"

#include "kernels/ArgumentList.h"
#include "kernels/AttentionTuning.h"
#include "kernels/DeviceScope.h"
#include "kernels/EnumChecks.h"
#include "kernels/FlashAttentionBackward.h"
#include "kernels/FlashAttentionFunction.h"
#include "kernels/FlashAttentionOperands.h"
#include "kernels/LookupTable.h"
#include "kernels/TensorPair.h"
#include "runtime/Jit.h"

#include <algorithm>
#include <limits>
#include <tuple>

using namespace flashtile;
using namespace flashtile::kernels;

using Operand = AttentionOperand;
using Operands = AttentionOperands;

static void checkEnums(const FlashAttentionOptions &options) {
  checkOption(options.alignment);
  checkOption("outputType", options.outputType);
}

/// What the kernel of a problem is compiled for, but for its tiles.
static kernels::FlashAttentionConfig
problemConfig(const Operand &q, const Operand &k, const Operand &v,
              const FlashAttentionOptions &options, bool unitOutput) {
  checkEnums(options);
  kernels::FlashAttentionConfig config;
  config.dtype = q.tensor.dtype();
  config.outputType = options.outputType;
  config.headDim = q.headDim;
  config.causal = options.causal;
  config.alignment = options.alignment;
  // The compiler leaves out the tiles beyond the diagonal without this, too, at
  // the same speed on the cpu (f32, d = 64: 1.57 ms against 1.56). The order of
  // programs on GPUs was measured with it.
  config.shortenedLoop = options.causal;
  config.scaleIsPositive = attentionScale(q, options.scale) >=
                           double(std::numeric_limits<float>::min());
  config.unitInnerStride = hasUnitInnerStride(q) && hasUnitInnerStride(k) &&
                           hasUnitInnerStride(v) && unitOutput;
  return config;
}

static kernels::FlashAttentionConfig
configFor(kernels::FlashAttentionConfig config,
          const FlashAttentionTiles &tiles, Device device) {
  config.blockM = tiles.blockM;
  config.blockN = tiles.blockN;
  config.mendsBehind = config.causal && device.isCuda();
  return config;
}

/// The compiled kernel of a configuration, compiled on first use.
static Kernel kernelFor(const kernels::FlashAttentionConfig &config,
                        const FlashAttentionTiles &tiles, Device device) {
  using Key =
      std::tuple<int, int, ElementType, int, int64_t, int64_t, int64_t, int64_t,
                 int64_t, bool, int, bool, bool, bool, bool, bool>;
  const Key key = {static_cast<int>(device.kind()),
                   device.index(),
                   config.dtype,
                   config.outputType ? static_cast<int>(*config.outputType)
                                     : -1,
                   config.headDim,
                   tiles.blockM,
                   tiles.blockN,
                   tiles.numWarps,
                   tiles.numStages,
                   config.causal,
                   static_cast<int>(config.alignment),
                   config.scaleIsPositive,
                   config.unitInnerStride,
                   config.shortenedLoop,
                   config.oRest,
                   config.lseRest};
  static kernels::LookupTable<Key, Kernel> table;
  return table.get(key, [&] {
    CompilerOptions compiler;
    compiler.numWarps = tiles.numWarps;
    compiler.numStages = tiles.numStages;
    return Jit(device, compiler)
        .compile(kernels::buildFlashAttentionForward(
            configFor(config, tiles, device)))
        .kernel();
  });
}

static void launch(const Kernel &kernel,
                   const kernels::FlashAttentionConfig &config,
                   const Operands &operands, const Operand &out,
                   const Tensor &lse, double scale,
                   const Operand *oRest = nullptr,
                   const Tensor *lseRest = nullptr) {
  const auto &[query, key, value] = operands;
  auto i32 = [](int64_t number) { return static_cast<int32_t>(number); };
  constexpr size_t kMost = 33; // with rests, and an inner stride of each tensor
  kernels::ArgumentList<kMost> arguments;
  for (const Tensor *tensor :
       {&query.tensor, &key.tensor, &value.tensor, &out.tensor, &lse})
    arguments.push_back(*tensor);
  if (config.oRest)
    arguments.push_back(oRest->tensor);
  if (config.lseRest)
    arguments.push_back(*lseRest);
  for (int64_t extent :
       {query.heads, key.heads, query.rows, key.rows, query.batch})
    arguments.push_back(i32(extent));
  for (const Operand *operand :
       {&query, &key, &value, &out, config.oRest ? oRest : nullptr}) {
    int strides = config.unitInnerStride ? 3 : 4;
    for (int dim = 0; operand && dim < strides; ++dim)
      arguments.push_back(operand->tensor.stride(dim));
  }
  if (config.dtype == DType::F64)
    arguments.push_back(scale);
  else
    arguments.push_back(static_cast<float>(scale));
  kernel.launchPositional(arguments.data(), arguments.size());
}

static DType outputTypeOf(const Tensor &q,
                          const FlashAttentionOptions &options) {
  checkEnums(options);
  if (options.outputType)
    return *options.outputType;
  bool fp8 = elementSize(q.dtype()) == 1;
  return fp8 ? DType::BF16 : q.dtype();
}

static std::string tuningKey(const Operands &operands,
                             const kernels::FlashAttentionConfig &config,
                             DType outputType) {
  const auto &[q, k, v] = operands;
  std::string key = "flash_attention_forward";
  if (config.causal)
    key += config.alignment == CausalAlignment::TopLeft ? " causal top_left"
                                                        : " causal";
  key += " " + toString(config.dtype) + " to " + toString(outputType);
  auto add = [&](const char *name, int64_t value) {
    key += std::string(" ") + name + "=" + std::to_string(value);
  };
  add("d", config.headDim);
  add("queries", sizeClass(q.rows));
  add("keys", sizeClass(k.rows));
  add("heads", sizeClass(q.heads * q.batch));
  add("group", k.heads ? q.heads / k.heads : 1);
  add("positive_scale", config.scaleIsPositive);
  add("unit_stride", config.unitInnerStride);
  return key;
}

/// What the options name, and of the rest what is given.
static FlashAttentionTiles completed(FlashAttentionTiles tiles,
                                     const Operand &q,
                                     const FlashAttentionOptions &options) {
  // Short queries (decoding) get tiles no longer than they are. Each warp keeps
  // its number of rows, but for few warps.
  constexpr int64_t kShortest = 16, kFewWarps = 4, kMostWarps = 16;
  int64_t rows = std::min(tiles.blockM, std::max(kShortest, sizeClass(q.rows)));
  if (options.blockM)
    rows = options.blockM;
  if (rows != tiles.blockM) {
    const int64_t fewest = std::min(tiles.numWarps, kFewWarps);
    tiles.numWarps =
        std::clamp(tiles.numWarps * rows / tiles.blockM, fewest, kMostWarps);
    tiles.blockM = rows;
  }
  if (options.blockN)
    tiles.blockN = options.blockN;
  if (options.numWarps)
    tiles.numWarps = options.numWarps;
  if (options.numStages)
    tiles.numStages = options.numStages;
  return tiles;
}

static FlashAttentionClass
classOf(const Operands &operands, const kernels::FlashAttentionConfig &config) {
  const auto &[q, k, v] = operands;
  return flashAttentionClassOf(q.tensor.device(), config.dtype, config.headDim,
                               config.causal, q.rows, k.rows,
                               q.heads * q.batch);
}

static FlashAttentionTiles askedFor(const FlashAttentionOptions &options) {
  return {options.blockM, options.blockN, options.numWarps, options.numStages};
}

static AttentionForward forwardOf(const Operands &operands,
                                  const kernels::FlashAttentionConfig &config,
                                  const FlashAttentionOptions &options) {
  const Device device = operands.q.tensor.device();
  AttentionForward forward = {operands, classOf(operands, config),
                              askedFor(options)};
  forward.outputType = outputTypeOf(operands.q.tensor, options);
  forward.key = tuningKey(operands, config, forward.outputType);
  forward.candidates = [&operands, &options, kind = forward.kind] {
    std::vector<FlashAttentionTiles> all = flashAttentionCandidates(kind);
    for (FlashAttentionTiles &tiles : all)
      tiles = completed(tiles, operands.q, options);
    return all;
  };
  forward.program = [=] {
    return kernels::buildFlashAttentionForward(
               configFor(config, FlashAttentionTiles(), device))
        .text();
  };
  forward.compile = [=](const FlashAttentionTiles &tiles) {
    return kernelFor(config, tiles, device);
  };
  const double scale = attentionScale(operands.q, options.scale);
  forward.launch = [=, &operands](const Kernel &kernel, const Operand &o,
                                  const Tensor &lse) {
    launch(kernel, config, operands, o, lse, scale);
  };
  return forward;
}

/// Explicit options count most, then tuning if asked for, then the table.
static FlashAttentionTiles
chooseTiles(const Operands &operands,
            const kernels::FlashAttentionConfig &config,
            const FlashAttentionOptions &options) {
  if (options.tune && hasAttentionWork(operands))
    return tunedAttentionTiles(forwardOf(operands, config, options));
  return completed(defaultFlashAttentionTiles(classOf(operands, config)),
                   operands.q, options);
}

Kernel flashtile::flashAttentionKernel(const Tensor &q, const Tensor &k,
                                       const Tensor &v,
                                       const FlashAttentionOptions &options) {
  const Operands operands = checkedAttentionOperands(q, k, v);
  const auto config = problemConfig(operands.q, operands.k, operands.v, options,
                                    /*unitOutput=*/true);
  return kernelFor(config, chooseTiles(operands, config, options), q.device());
}

TuningResult
flashtile::flashAttentionTuning(const Tensor &q, const Tensor &k,
                                const Tensor &v,
                                const FlashAttentionOptions &options) {
  const Operands operands = checkedAttentionOperands(q, k, v);
  checkAttentionWork(operands);
  const auto config = problemConfig(operands.q, operands.k, operands.v, options,
                                    /*unitOutput=*/true);
  return tuneAttention(forwardOf(operands, config, options));
}

FlashAttentionTiles
flashtile::flashAttentionTiles(const Tensor &q, const Tensor &k,
                               const Tensor &v,
                               const FlashAttentionOptions &options) {
  const Operands operands = checkedAttentionOperands(q, k, v);
  const auto config = problemConfig(operands.q, operands.k, operands.v, options,
                                    /*unitOutput=*/true);
  return chooseTiles(operands, config, options);
}

FlashAttentionResult
flashtile::flashAttention(const Tensor &q, const Tensor &k, const Tensor &v,
                          const FlashAttentionOptions &options) {
  if (autograd::isRecorded({q, k, v})) {
    auto [o, lse] = FlashAttention::apply(q, k, v, options);
    return {o, lse};
  }
  checkAttentionTensors(q, k, v);
  const DeviceScope scope(q.device());
  auto [o, lse] =
      emptyPair(q.shape(), outputTypeOf(q, options), attentionRowShape(q),
                attentionRealType(q.dtype()), q.device());
  flashAttention(q, k, v, options, o, lse);
  return {std::move(o), std::move(lse)};
}

void flashtile::flashAttention(const Tensor &q, const Tensor &k,
                               const Tensor &v,
                               const FlashAttentionOptions &options, Tensor &o,
                               Tensor &lse) {
  autograd::checkNotRecorded("flashAttention into tensors of the caller",
                             {q, k, v});
  const Operands operands = checkedAttentionOperands(q, k, v);
  const Operand out =
      checkedAttentionOutput(q, outputTypeOf(q, options), o, &lse);
  const auto config = problemConfig(operands.q, operands.k, operands.v, options,
                                    hasUnitInnerStride(out));
  const Kernel kernel =
      kernelFor(config, chooseTiles(operands, config, options), q.device());
  launch(kernel, config, operands, out, lse,
         attentionScale(operands.q, options.scale));
}

FlashAttentionSaved
flashtile::flashAttentionSaved(const Tensor &q, const Tensor &k,
                               const Tensor &v,
                               const FlashAttentionOptions &options) {
  const Operands operands = checkedAttentionOperands(q, k, v);
  const DType type = q.dtype();
  if (elementSize(type) == 1 || outputTypeOf(q, options) != type)
    refuseAttention(
        "expected 'o' of the type of 'q' and no fp8 where gradients "
        "are wanted, but got " +
        toString(outputTypeOf(q, options)) + " from " + toString(type));
  const DeviceScope scope(q.device());
  const Shape rows = attentionRowShape(q);
  FlashAttentionSaved saved;
  saved.o = Tensor::empty(q.shape(), type, q.device());
  saved.lse = Tensor::empty(rows, attentionRealType(type), q.device());
  auto config = problemConfig(operands.q, operands.k, operands.v, options,
                              /*unitOutput=*/true);
  Operand oRest;
  if (elementSize(type) == 2) {
    saved.oRest = Tensor::empty(q.shape(), type, q.device());
    oRest = asAttentionOperand(saved.oRest);
    config.oRest = true;
  } else if (type == DType::F32) {
    saved.lseRest = Tensor::empty(rows, DType::F32, q.device());
    config.lseRest = true;
  }
  const Kernel kernel =
      kernelFor(config, chooseTiles(operands, config, options), q.device());
  launch(kernel, config, operands, asAttentionOperand(saved.o), saved.lse,
         attentionScale(operands.q, options.scale), &oRest, &saved.lseRest);
  return saved;
}
