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

#include "compiler/Support/Error.h"
#include "kernels/LookupTable.h"
#include "runtime/Jit.h"
#include "runtime/Shape.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <sstream>
#include <tuple>

using namespace flashtile;

namespace {
/// One operand as [batch, heads, rows, d].
struct Operand {
  Tensor tensor;
  int64_t batch, heads, rows, headDim;
};

struct Operands {
  Operand q, k, v;
};

} // namespace

[[noreturn]] static void refuse(const std::string &message) {
  throw Error(ErrorCode::InvalidArgument, "flash attention: " + message);
}

/// Views a tensor of two or more dimensions as [batch, heads, rows, d]. A
/// tensor of three dimensions has one head in each batch.
static Operand asOperand(const Tensor &tensor) {
  int64_t rank = tensor.rank();
  Tensor view = tensor;
  while (view.rank() < 4)
    view = view.unsqueeze(view.rank() == 3 ? 1 : 0);
  if (rank > 4) {
    int64_t batch = 1;
    for (int64_t dim = 0; dim < rank - 3; ++dim)
      batch *= tensor.size(dim);
    view = tensor.reshape({batch, tensor.size(rank - 3), tensor.size(rank - 2),
                           tensor.size(rank - 1)});
  }
  return {view, view.size(0), view.size(1), view.size(2), view.size(3)};
}

static bool isSupported(DType type) {
  return type == DType::F32 || type == DType::F16 || type == DType::BF16 ||
         type == DType::F8E4M3FN || type == DType::F8E5M2;
}

static std::string leadingDims(const Tensor &tensor) {
  return toString(Shape(tensor.shape().begin(), tensor.shape().end() - 3));
}

/// k or v against q: type, rank, head dimension, and what counts as batch.
static void checkAgainstQuery(const char *name, const Tensor &tensor,
                              const Tensor &q) {
  auto expected = [&](const std::string &what, const std::string &wanted,
                      const std::string &got) {
    refuse(std::string("expected '") + name + "' " + what + " " + wanted +
           ", as 'q', but got " + got);
  };
  if (tensor.dtype() != q.dtype())
    expected("of type", toString(q.dtype()), toString(tensor.dtype()));
  if (tensor.rank() != q.rank())
    expected("with the number of dimensions of", toString(q.shape()),
             toString(tensor.shape()));
  if (tensor.size(-1) != q.size(-1))
    expected("with head dimension", std::to_string(q.size(-1)),
             std::to_string(tensor.size(-1)));
  // In three dimensions the first is the batch and there are no heads.
  if (q.rank() == 3 && tensor.size(0) != q.size(0))
    expected("with batch", std::to_string(q.size(0)),
             std::to_string(tensor.size(0)));
  if (q.rank() > 3 && leadingDims(tensor) != leadingDims(q))
    expected("with batch", leadingDims(q), leadingDims(tensor));
}

/// Extents that the kernel takes as i32, and the rows of a tile beyond them.
static void checkExtent(const char *what, const char *name, int64_t extent) {
  constexpr int64_t kMaxExtent = std::numeric_limits<int32_t>::max() / 2;
  if (extent > kMaxExtent)
    refuse(std::string("expected at most ") + std::to_string(kMaxExtent) + " " +
           what + " of '" + name + "', but got " + std::to_string(extent));
}

/// What can be said of the shapes before they are taken apart.
static void checkTensors(const Tensor &q, const Tensor &k, const Tensor &v) {
  for (auto [name, tensor] :
       {std::pair("q", &q), std::pair("k", &k), std::pair("v", &v)}) {
    if (!tensor->defined())
      refuse(std::string("'") + name + "' is undefined");
    if (tensor->rank() < 2)
      refuse(std::string("expected '") + name +
             "' to be [rows, d], [batch, rows, d] or [batch, heads, rows, d], "
             "but got " +
             tensor->describe());
  }
  if (!isSupported(q.dtype()))
    refuse("expected 'q' of type f32, f16, bf16, f8E4M3FN or f8E5M2, but got " +
           toString(q.dtype()));
  int64_t headDim = q.size(-1);
  if (headDim < 8 || headDim > 256 || headDim % 8)
    refuse("expected 'q' with a head dimension between 8 and 256 in steps of "
           "8, but got " +
           std::to_string(headDim));
  for (auto [name, tensor] : {std::pair("k", &k), std::pair("v", &v)})
    if (tensor->device() != q.device())
      refuse(std::string("expected '") + name + "' on " +
             q.device().toString() + ", as 'q', but got " + tensor->describe());
  checkAgainstQuery("k", k, q);
  checkAgainstQuery("v", v, q);
}

static Operands checkedOperands(const Tensor &qTensor, const Tensor &kTensor,
                                const Tensor &vTensor) {
  checkTensors(qTensor, kTensor, vTensor);
  Operands operands = {asOperand(qTensor), asOperand(kTensor),
                       asOperand(vTensor)};
  const auto &[q, k, v] = operands;
  if (k.heads != v.heads || k.rows != v.rows)
    refuse("expected 'v' with " + std::to_string(k.heads) + " heads of " +
           std::to_string(k.rows) + " rows, as 'k', but got " +
           std::to_string(v.heads) + " heads of " + std::to_string(v.rows));
  bool groups = k.heads == 0 ? q.heads == 0 : q.heads % k.heads == 0;
  if (!groups)
    refuse("expected the heads of 'q' to be a multiple of those of 'k', but "
           "got " +
           std::to_string(q.heads) + " and " + std::to_string(k.heads));
  checkExtent("rows", "q", q.rows);
  checkExtent("rows", "k", k.rows);
  checkExtent("heads", "q", q.heads);
  checkExtent("batches", "q", q.batch);
  return operands;
}

static double scaleOf(const Operand &q, const FlashAttentionOptions &options) {
  double scale =
      options.scale.value_or(1.0 / std::sqrt(static_cast<double>(q.headDim)));
  // Times log2(e), as the compiled code has it, it must still fit f32.
  constexpr double kMaxScale = 1e38;
  if (!(std::abs(scale) <= kMaxScale)) {
    std::ostringstream got;
    got << scale;
    refuse("expected a scale between -1e38 and 1e38, but got " + got.str());
  }
  return scale;
}

static bool unitInner(const Operand &operand) {
  return operand.headDim == 1 || operand.tensor.stride(3) == 1;
}

/// What the kernel of a problem is compiled for, but for its tiles.
static kernels::FlashAttentionConfig
problemConfig(const Operand &q, const Operand &k, const Operand &v,
              const FlashAttentionOptions &options, bool unitOutput) {
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
  config.scaleIsPositive =
      scaleOf(q, options) >= double(std::numeric_limits<float>::min());
  config.unitInnerStride =
      unitInner(q) && unitInner(k) && unitInner(v) && unitOutput;
  return config;
}

/// The compiled kernel of a configuration, compiled on first use.
static Kernel kernelFor(const kernels::FlashAttentionConfig &config,
                        const FlashAttentionTiles &tiles, Device device) {
  using Key = std::tuple<int, int, ElementType, int, int64_t, int64_t, int64_t,
                         int64_t, int64_t, bool, int, bool, bool, bool>;
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
                   config.shortenedLoop};
  static kernels::LookupTable<Key, Kernel> table;
  return table.get(key, [&] {
    kernels::FlashAttentionConfig tiled = config;
    tiled.blockM = tiles.blockM;
    tiled.blockN = tiles.blockN;
    CompilerOptions compiler;
    compiler.numWarps = tiles.numWarps;
    compiler.numStages = tiles.numStages;
    return Jit(device, compiler)
        .compile(kernels::buildFlashAttentionForward(tiled))
        .kernel();
  });
}

static void launch(const Kernel &kernel,
                   const kernels::FlashAttentionConfig &config,
                   const Operands &operands, const Operand &out,
                   const Tensor &lse, double scale) {
  const auto &[query, key, value] = operands;
  auto i32 = [](int64_t number) { return static_cast<int32_t>(number); };
  std::vector<ArgumentValue> arguments = {
      query.tensor,  key.tensor,       value.tensor,   out.tensor,
      lse,           i32(query.heads), i32(key.heads), i32(query.rows),
      i32(key.rows), i32(query.batch)};
  for (const Operand *operand : {&query, &key, &value, &out}) {
    int strides = config.unitInnerStride ? 3 : 4;
    for (int dim = 0; dim < strides; ++dim)
      arguments.push_back(operand->tensor.stride(dim));
  }
  arguments.push_back(static_cast<float>(scale));
  kernel.launchPositional(arguments.data(), arguments.size());
}

static DType outputTypeOf(const Tensor &q,
                          const FlashAttentionOptions &options) {
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
  return {deviceClassOf(operands.q.tensor.device()), config.dtype,
          config.headDim, config.causal};
}

static FlashAttentionTiles tilesOf(const TuningConfig &tuning) {
  return {tuning.at("block_m"), tuning.at("block_n"), tuning.at("num_warps"),
          tuning.at("num_stages")};
}

/// Measures the candidates on the caller's operands, into tensors of its own:
/// the caller's may overlap with what a launch reads.
static TuningResult measure(const Operands &operands,
                            const kernels::FlashAttentionConfig &config,
                            const FlashAttentionOptions &options,
                            const std::string &key) {
  const Operand &q = operands.q;
  const Device device = q.tensor.device();
  TuningProblem problem;
  problem.key = key;
  problem.device = device;
  for (const FlashAttentionTiles &candidate :
       flashAttentionCandidates(classOf(operands, config))) {
    const FlashAttentionTiles tiles = completed(candidate, q, options);
    problem.configs.push_back({{"block_m", tiles.blockM},
                               {"block_n", tiles.blockN},
                               {"num_warps", tiles.numWarps},
                               {"num_stages", tiles.numStages}});
  }
  const DType outputType = outputTypeOf(q.tensor, options);
  const Shape rows = {q.batch, q.heads, q.rows};
  const double scale = scaleOf(q, options);
  Operand out = q;
  Tensor lse;
  problem.build = [&](const TuningConfig &tuning) {
    const Kernel kernel = kernelFor(config, tilesOf(tuning), device);
    return [&, kernel] {
      // Here, and not where kernels are compiled: on the thread, and so in the
      // stream, that launches.
      if (!lse.defined()) {
        out.tensor = Tensor::empty(q.tensor.shape(), outputType, device);
        lse = Tensor::empty(rows, DType::F32, device);
      }
      launch(kernel, config, operands, out, lse, scale);
    };
  };
  return autotune(problem);
}

static bool hasWork(const Operands &operands) {
  return operands.q.tensor.numel() > 0 && operands.k.rows > 0;
}

/// Explicit options count most, then tuning if asked for, then the table.
static FlashAttentionTiles
chooseTiles(const Operands &operands,
            const kernels::FlashAttentionConfig &config,
            const FlashAttentionOptions &options) {
  const Operand &q = operands.q;
  if (!options.tune || !hasWork(operands))
    return completed(defaultFlashAttentionTiles(classOf(operands, config)), q,
                     options);
  // The autotuner would find its result as well, with more to read and hash.
  const std::string problem =
      tuningKey(operands, config, outputTypeOf(q.tensor, options));
  using Key =
      std::tuple<int, int, std::string, int64_t, int64_t, int64_t, int64_t>;
  static kernels::LookupTable<Key, FlashAttentionTiles> table;
  const Device device = q.tensor.device();
  const Key key = {static_cast<int>(device.kind()),
                   device.index(),
                   problem,
                   options.blockM,
                   options.blockN,
                   options.numWarps,
                   options.numStages};
  return table.get(key, [&] {
    return tilesOf(measure(operands, config, options, problem).best);
  });
}

Kernel flashtile::flashAttentionKernel(const Tensor &q, const Tensor &k,
                                       const Tensor &v,
                                       const FlashAttentionOptions &options) {
  const Operands operands = checkedOperands(q, k, v);
  const auto config = problemConfig(operands.q, operands.k, operands.v, options,
                                    /*unitOutput=*/true);
  return kernelFor(config, chooseTiles(operands, config, options), q.device());
}

TuningResult
flashtile::flashAttentionTuning(const Tensor &q, const Tensor &k,
                                const Tensor &v,
                                const FlashAttentionOptions &options) {
  const Operands operands = checkedOperands(q, k, v);
  if (!hasWork(operands))
    refuse("expected queries and keys to measure, but got " + q.describe() +
           " and " + k.describe());
  const auto config = problemConfig(operands.q, operands.k, operands.v, options,
                                    /*unitOutput=*/true);
  return measure(operands, config, options,
                 tuningKey(operands, config, outputTypeOf(q, options)));
}

FlashAttentionTiles
flashtile::flashAttentionTiles(const Tensor &q, const Tensor &k,
                               const Tensor &v,
                               const FlashAttentionOptions &options) {
  const Operands operands = checkedOperands(q, k, v);
  const auto config = problemConfig(operands.q, operands.k, operands.v, options,
                                    /*unitOutput=*/true);
  return chooseTiles(operands, config, options);
}

FlashAttentionResult
flashtile::flashAttention(const Tensor &q, const Tensor &k, const Tensor &v,
                          const FlashAttentionOptions &options) {
  checkTensors(q, k, v);
  Shape rows = q.shape();
  rows.pop_back();
  FlashAttentionResult result{
      Tensor::empty(q.shape(), outputTypeOf(q, options), q.device()),
      Tensor::empty(rows, DType::F32, q.device())};
  flashAttention(q, k, v, options, result.o, result.lse);
  return result;
}

void flashtile::flashAttention(const Tensor &q, const Tensor &k,
                               const Tensor &v,
                               const FlashAttentionOptions &options, Tensor &o,
                               Tensor &lse) {
  const Operands operands = checkedOperands(q, k, v);
  Shape rows = q.shape();
  rows.pop_back();
  if (!o.defined() || o.shape() != q.shape() ||
      o.dtype() != outputTypeOf(q, options))
    refuse("expected 'o' to be " + toString(outputTypeOf(q, options)) +
           toString(q.shape()) + ", but got " +
           (o.defined() ? o.describe() : "an undefined tensor"));
  if (!lse.defined() || lse.shape() != rows || lse.dtype() != DType::F32 ||
      !lse.isContiguous())
    refuse("expected 'lse' to be a contiguous f32" + toString(rows) +
           ", but got " +
           (lse.defined() ? lse.describe() : "an undefined tensor"));
  for (int64_t dim = 0; dim < o.rank(); ++dim)
    if (o.numel() > 0 && o.size(dim) > 1 && o.stride(dim) == 0)
      refuse("expected the elements of 'o' in places of their own, but got " +
             o.describe());
  for (auto [name, tensor] : {std::pair("o", &o), std::pair("lse", &lse)})
    if (tensor->device() != q.device())
      refuse(std::string("expected '") + name + "' on " +
             q.device().toString() + ", as 'q', but got " + tensor->describe());
  Operand out = asOperand(o);
  if (o.rank() > 4 && !out.tensor.sharesStorageWith(o))
    refuse("expected the leading dimensions of 'o' to be one block of memory");

  const auto config = problemConfig(operands.q, operands.k, operands.v, options,
                                    unitInner(out));
  const Kernel kernel =
      kernelFor(config, chooseTiles(operands, config, options), q.device());
  launch(kernel, config, operands, out, lse, scaleOf(operands.q, options));
}
