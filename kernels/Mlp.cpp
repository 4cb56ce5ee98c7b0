//===- Mlp.cpp - Two layers on tensors ------------------------------------===//
//
// Part of FlashTile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "kernels/Mlp.h"

#include "compiler/Support/Error.h"
#include "kernels/EnumChecks.h"
#include "kernels/FlashAttentionConfigs.h"
#include "kernels/LookupTable.h"
#include "kernels/Matmul.h"
#include "kernels/MlpKernel.h"
#include "kernels/TensorStack.h"
#include "runtime/Autograd/Autograd.h"
#include "runtime/Jit.h"
#include "runtime/Shape.h"

#include <algorithm>
#include <string>
#include <tuple>

using namespace flashtile;
using namespace flashtile::kernels;

[[noreturn]] static void refuse(const std::string &message) {
  throw Error(ErrorCode::InvalidArgument, "mlp: " + message);
}

/// Registers and shared memory are those of attention with heads as wide: the
/// hidden layer is in the place of the scores. The error function takes some
/// registers more.
MlpTiles flashtile::defaultMlpTiles(DeviceClass device, DType dtype,
                                    int64_t width, Activation activation) {
  const FlashAttentionTiles tiles =
      defaultFlashAttentionTiles({device, dtype, width, /*causal=*/false});
  const bool isLong = activation == Activation::Gelu;
  const bool is16Bit = elementSize(dtype) == 2;
  if (device == DeviceClass::Sm80 && is16Bit) {
    if (width > 64 && width <= 128)
      return {128, 64, 8, 2};
    if (width <= 64 && isLong)
      return {64, 64, 4, 2};
  }
  constexpr int64_t kStep = 16;
  if (device == DeviceClass::Sm90a && is16Bit && isLong && width % kStep == 0)
    return {128, width <= 128 ? 128 : 64, 8, 2};
  return {tiles.blockM, tiles.blockN, tiles.numWarps, tiles.numStages};
}

//===----------------------------------------------------------------------===//
// Problems
//===----------------------------------------------------------------------===//

namespace {
struct Problem {
  Tensor x, w1, w2; ///< x as [rows, inputs]
  Tensor b1, b2;
  MlpKernelConfig config;
  int64_t rows, hidden;
};
} // namespace

static std::string textOf(const Tensor &tensor) {
  return tensor.defined() ? tensor.describe() : "an undefined tensor";
}

static void checkTensor(const char *name, const Tensor &tensor, const Tensor &x,
                        const Shape &shape) {
  if (!tensor.defined() || tensor.dtype() != x.dtype() ||
      tensor.shape() != shape || tensor.device() != x.device())
    refuse(std::string("expected '") + name + "' to be " + toString(x.dtype()) +
           toString(shape) + " on " + x.device().toString() +
           ", as 'x', but got " + textOf(tensor));
  const bool hasRows = tensor.size(-1) <= 1 || tensor.stride(-1) == 1;
  if (!hasRows)
    refuse(std::string("expected '") + name +
           "' with contiguous rows, but got the strides of " +
           tensor.describe());
}

static Problem checkedProblem(const Tensor &x, const Tensor &w1,
                              const Tensor &w2, const MlpOptions &options) {
  checkOption(options.activation);
  for (auto [name, tensor] :
       {std::pair("x", &x), std::pair("w1", &w1), std::pair("w2", &w2)})
    if (!tensor->defined() || tensor->rank() < 2)
      refuse(std::string("expected '") + name +
             "' of two dimensions or more, but got " + textOf(*tensor));
  Problem problem;
  MlpKernelConfig &config = problem.config;
  config.dtype = x.dtype();
  config.inputs = x.size(-1);
  config.outputs = w2.size(-1);
  config.activation = options.activation;
  config.hasBias = options.b1.defined() || options.b2.defined();
  problem.hidden = w1.size(-1);
  problem.rows = 1;
  for (int64_t dim = 0; dim + 1 < x.rank(); ++dim)
    problem.rows *= x.size(dim);
  for (auto [what, extent] : {std::pair("rows of 'x'", problem.rows),
                              std::pair("columns of 'w1'", problem.hidden)})
    if (extent > kMaxExtent)
      refuse("expected at most " + std::to_string(kMaxExtent) + " " + what +
             ", but got " + std::to_string(extent));
  checkTensor("w1", w1, x, {config.inputs, problem.hidden});
  checkTensor("w2", w2, x, {problem.hidden, config.outputs});
  if (config.hasBias) {
    checkTensor("b1", options.b1, x, {problem.hidden});
    checkTensor("b2", options.b2, x, {config.outputs});
  }
  // A copy where the rows are not one block of memory.
  problem.x = x.reshape({problem.rows, config.inputs});
  if (config.inputs > 1 && problem.x.stride(-1) != 1)
    problem.x = problem.x.contiguous();
  problem.w1 = w1;
  problem.w2 = w2;
  problem.b1 = options.b1;
  problem.b2 = options.b2;
  return problem;
}

static Kernel kernelFor(const Problem &problem, const MlpTiles &tiles) {
  const MlpKernelConfig &config = problem.config;
  const Device device = problem.x.device();
  using Key = std::tuple<int, int, ElementType, int64_t, int64_t, Activation,
                         bool, int64_t, int64_t, int64_t, int64_t>;
  const Key key = {static_cast<int>(device.kind()),
                   device.index(),
                   config.dtype,
                   config.inputs,
                   config.outputs,
                   config.activation,
                   config.hasBias,
                   tiles.blockM,
                   tiles.blockH,
                   tiles.numWarps,
                   tiles.numStages};
  static LookupTable<Key, Kernel> table;
  return table.get(key, [&] {
    MlpKernelConfig tiled = config;
    tiled.blockM = tiles.blockM;
    tiled.blockH = tiles.blockH;
    CompilerOptions compiler;
    compiler.numWarps = tiles.numWarps;
    compiler.numStages = tiles.numStages;
    return Jit(device, compiler).compile(buildMlpKernel(tiled)).kernel();
  });
}

static void launch(const Kernel &kernel, const Problem &problem,
                   const Tensor &y) {
  auto rowStride = [](const Tensor &tensor) { return tensor.stride(-2); };
  std::vector<ArgumentValue> arguments = {problem.x, problem.w1, problem.w2, y};
  if (problem.config.hasBias) {
    arguments.push_back(problem.b1);
    arguments.push_back(problem.b2);
  }
  for (const int64_t number :
       {problem.rows, problem.hidden, rowStride(problem.x),
        rowStride(problem.w1), rowStride(problem.w2), problem.config.outputs})
    arguments.push_back(number);
  kernel.launchPositional(arguments.data(), arguments.size());
}

//===----------------------------------------------------------------------===//
// Tiles
//===----------------------------------------------------------------------===//

/// What the options name, and of the rest what is given.
static MlpTiles completed(MlpTiles tiles, const MlpOptions &options) {
  for (int64_t MlpTiles::*field : {&MlpTiles::blockM, &MlpTiles::blockH,
                                   &MlpTiles::numWarps, &MlpTiles::numStages})
    if (options.tiles.*field)
      tiles.*field = options.tiles.*field;
  return tiles;
}

static int64_t widthOf(const Problem &problem) {
  return std::max(problem.config.inputs, problem.config.outputs);
}

static std::string tuningKey(const Problem &problem) {
  const MlpKernelConfig &config = problem.config;
  std::string key = "mlp " + toString(config.dtype) + " " +
                    activationName(config.activation) +
                    (config.hasBias ? " bias" : "");
  auto add = [&](const char *name, int64_t value) {
    key += std::string(" ") + name + "=" + std::to_string(value);
  };
  add("inputs", config.inputs);
  add("outputs", config.outputs);
  add("hidden", sizeClass(problem.hidden));
  add("rows", sizeClass(problem.rows));
  return key;
}

static MlpTiles tilesOf(const TuningConfig &tuning) {
  return {tuning.at("block_m"), tuning.at("block_h"), tuning.at("num_warps"),
          tuning.at("num_stages")};
}

static TuningResult measure(const Problem &problem, const MlpOptions &options) {
  const Device device = problem.x.device();
  const DType dtype = problem.config.dtype;
  TuningProblem tuning;
  tuning.key = tuningKey(problem);
  tuning.program = buildMlpKernel(problem.config).text();
  tuning.device = device;
  std::vector<MlpTiles> candidates = {
      defaultMlpTiles(deviceClassOf(device), dtype, widthOf(problem),
                      problem.config.activation)};
  for (const FlashAttentionTiles &tiles :
       flashAttentionCandidates({deviceClassOf(device), dtype, widthOf(problem),
                                 /*causal=*/false}))
    candidates.push_back(
        {tiles.blockM, tiles.blockN, tiles.numWarps, tiles.numStages});
  for (const MlpTiles &candidate : candidates) {
    const MlpTiles tiles = completed(candidate, options);
    tuning.configs.push_back({{"block_m", tiles.blockM},
                              {"block_h", tiles.blockH},
                              {"num_warps", tiles.numWarps},
                              {"num_stages", tiles.numStages}});
  }
  Tensor y;
  tuning.build = [&](const TuningConfig &config) {
    const Kernel kernel = kernelFor(problem, tilesOf(config));
    return [&, kernel] {
      // Here, and not where kernels are compiled: on the thread, and so in the
      // stream, that launches.
      if (!y.defined())
        y = Tensor::empty({problem.rows, problem.config.outputs}, dtype,
                          device);
      launch(kernel, problem, y);
    };
  };
  return autotune(tuning);
}

static bool hasWork(const Problem &problem) {
  return problem.rows > 0 && problem.hidden > 0;
}

/// Explicit options count most, then tuning if asked for, then the table.
static MlpTiles chooseTiles(const Problem &problem, const MlpOptions &options) {
  const Device device = problem.x.device();
  if (!options.tune || !hasWork(problem))
    return completed(defaultMlpTiles(deviceClassOf(device),
                                     problem.config.dtype, widthOf(problem),
                                     problem.config.activation),
                     options);
  // The autotuner would find its result as well, with more to read and hash.
  using Key =
      std::tuple<int, int, std::string, int64_t, int64_t, int64_t, int64_t>;
  static LookupTable<Key, MlpTiles> table;
  const Key key = {static_cast<int>(device.kind()),
                   device.index(),
                   tuningKey(problem),
                   options.tiles.blockM,
                   options.tiles.blockH,
                   options.tiles.numWarps,
                   options.tiles.numStages};
  return table.get(key,
                   [&] { return tilesOf(measure(problem, options).best); });
}

//===----------------------------------------------------------------------===//
// Calls
//===----------------------------------------------------------------------===//

static Shape outputShape(const Tensor &x, const Problem &problem) {
  Shape shape = x.shape();
  shape.back() = problem.config.outputs;
  return shape;
}

/// As two products, each of which knows its gradients. The hidden layer is in
/// memory then, which a backward needs anyway.
static Tensor recordedMlp(const Tensor &x, const Tensor &w1, const Tensor &w2,
                          const MlpOptions &options) {
  MatmulOptions first, second;
  first.bias = options.b1;
  first.activation = options.activation;
  second.bias = options.b2;
  const Tensor rows = x.rank() == 1 ? x.unsqueeze(0) : x;
  const Tensor y = matmul(matmul(rows, w1, first), w2, second);
  return x.rank() == 1 ? y.squeeze(0) : y;
}

Tensor flashtile::mlp(const Tensor &x, const Tensor &w1, const Tensor &w2,
                      const MlpOptions &options) {
  const Problem problem = checkedProblem(x, w1, w2, options);
  if (autograd::isRecorded({x, w1, w2, options.b1, options.b2}))
    return recordedMlp(x, w1, w2, options);
  const Tensor y =
      Tensor::empty(outputShape(x, problem), x.dtype(), x.device());
  launch(kernelFor(problem, chooseTiles(problem, options)), problem, y);
  return y;
}

void flashtile::mlp(const Tensor &x, const Tensor &w1, const Tensor &w2,
                    const MlpOptions &options, Tensor &y) {
  autograd::checkNotRecorded("mlp into a tensor of the caller",
                             {x, w1, w2, options.b1, options.b2});
  const Problem problem = checkedProblem(x, w1, w2, options);
  checkTensor("y", y, x, outputShape(x, problem));
  if (!y.isContiguous())
    refuse("expected a contiguous 'y', but got the strides of " + y.describe());
  launch(kernelFor(problem, chooseTiles(problem, options)), problem, y);
}

Kernel flashtile::mlpKernel(const Tensor &x, const Tensor &w1, const Tensor &w2,
                            const MlpOptions &options) {
  const Problem problem = checkedProblem(x, w1, w2, options);
  return kernelFor(problem, chooseTiles(problem, options));
}

TuningResult flashtile::mlpTuning(const Tensor &x, const Tensor &w1,
                                  const Tensor &w2, const MlpOptions &options) {
  const Problem problem = checkedProblem(x, w1, w2, options);
  if (!hasWork(problem))
    refuse("expected layers to measure, but got " + x.describe() + " and " +
           w1.describe());
  return measure(problem, options);
}

MlpTiles flashtile::mlpTiles(const Tensor &x, const Tensor &w1,
                             const Tensor &w2, const MlpOptions &options) {
  return chooseTiles(checkedProblem(x, w1, w2, options), options);
}
