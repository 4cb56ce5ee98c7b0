//===- Matmul.cpp - Products of matrices on tensors -----------------------===//
//
// Part of FlashTile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Checks shapes, views every operand as [outer, inner, row, column], picks a
// configuration, and launches.
//
//===----------------------------------------------------------------------===//

#include "kernels/Matmul.h"

#include "compiler/Support/Error.h"
#include "kernels/ArgumentList.h"
#include "kernels/DeviceScope.h"
#include "kernels/EnumChecks.h"
#include "kernels/LookupTable.h"
#include "kernels/MatmulFunction.h"
#include "kernels/MatmulKernel.h"
#include "kernels/TensorStack.h"
#include "runtime/Jit.h"
#include "runtime/cuda/CudaDevice.h"

#include <algorithm>
#include <string>
#include <tuple>

using namespace flashtile;
using namespace flashtile::kernels;

namespace {
/// A product with its operands as stacks.
struct Product {
  Tensor a, b;
  Tensor bias; ///< or undefined
  Activation activation;
  Shape shape; ///< of c, as the caller sees it
  DType outputType;
  int64_t m, n, k;
  int64_t outer, inner; ///< of a and c
};
} // namespace

[[noreturn]] static void refuse(const std::string &message) {
  throw Error(ErrorCode::InvalidArgument, "matmul: " + message);
}

//===----------------------------------------------------------------------===//
// Checks
//===----------------------------------------------------------------------===//

static void checkOperands(const Tensor &a, const Tensor &b) {
  for (auto [name, tensor, wanted] : {std::tuple("a", &a, "[..., m, k]"),
                                      std::tuple("b", &b, "[..., k, n]")}) {
    if (!tensor->defined())
      refuse(std::string("'") + name + "' is undefined");
    if (tensor->rank() < 2)
      refuse(std::string("expected '") + name + "' to be " + wanted +
             ", but got " + tensor->describe());
    for (int64_t extent : {tensor->size(-2), tensor->size(-1)})
      if (extent > kMaxExtent)
        refuse("expected at most " + std::to_string(kMaxExtent) +
               " rows and columns of '" + name + "', but got " +
               std::to_string(extent));
  }
  if (!isFloat(a.dtype()) && a.dtype() != DType::I8)
    refuse("expected 'a' of a float type or i8, but got " +
           toString(a.dtype()));
  if (b.dtype() != a.dtype())
    refuse("expected 'b' of type " + toString(a.dtype()) +
           ", as 'a', but got " + toString(b.dtype()));
  if (b.device() != a.device())
    refuse("expected 'b' on " + a.device().toString() + ", as 'a', but got " +
           b.describe());
  if (b.size(-2) != a.size(-1))
    refuse("expected 'b' with " + std::to_string(a.size(-1)) +
           " rows, as 'a' has columns, but got " + b.describe());
}

/// The leading dimensions of b as those of a: with `group` times the last.
static Shape groupedDims(const Tensor &a, const Tensor &b, int64_t group) {
  Shape dims = leadingDims(b.shape());
  if (group == 1)
    return dims;
  const bool fits = group > 0 && a.rank() > 2 && !dims.empty() &&
                    a.size(-3) == dims.back() * group;
  if (!fits)
    refuse("expected 'a' with group times the matrices of 'b' in the last "
           "leading dimension, but got " +
           a.describe() + ", " + b.describe() + " and group " +
           std::to_string(group));
  dims.back() *= group;
  return dims;
}

static void checkEpilogue(const Tensor &a, const Product &product) {
  const Tensor &bias = product.bias;
  if (a.dtype() == DType::I8 &&
      (bias.defined() || product.activation != Activation::None))
    refuse("expected no bias and no activation for products of i8");
  if (bias.defined() &&
      (bias.dtype() != a.dtype() || bias.shape() != Shape{product.n} ||
       bias.device() != a.device() || !bias.isContiguous()))
    refuse("expected 'bias' to be a contiguous " + toString(a.dtype()) +
           toString(Shape{product.n}) + " on " + a.device().toString() +
           ", but got " + bias.describe());
}

static Product checkedProduct(const Tensor &a, const Tensor &b,
                              const MatmulOptions &options) {
  checkOption(options.activation);
  checkOption("outputType", options.outputType);
  checkOperands(a, b);
  const std::optional<Shape> leading =
      broadcastShapes(leadingDims(a.shape()), groupedDims(a, b, options.group));
  if (!leading)
    refuse("expected leading dimensions that broadcast, but got " +
           a.describe() + " and " + b.describe());
  Product product;
  product.m = a.size(-2);
  product.k = a.size(-1);
  product.n = b.size(-1);
  product.outputType = options.outputType.value_or(matmulOutputType(a.dtype()));
  product.a = expandedStack(a, *leading);
  Shape leadingB = *leading;
  if (options.group != 1)
    leadingB.back() /= options.group;
  product.b = expandedStack(b, leadingB);
  product.shape = withMatrix(*leading, product.m, product.n);
  product.bias = options.bias;
  product.activation = options.activation;
  checkEpilogue(a, product);
  product.outer = product.a.size(0);
  product.inner = product.a.size(1);
  if (product.outer > 0 && product.inner > kMaxExtent / product.outer)
    refuse("expected at most " + std::to_string(kMaxExtent) +
           " matrices, but got " + std::to_string(product.outer) + " times " +
           std::to_string(product.inner));
  return product;
}

/// The output of the caller as a stack.
static Tensor checkedOutput(const Tensor &c, const Product &product) {
  const DType type = product.outputType;
  if (!c.defined() || c.shape() != product.shape || c.dtype() != type)
    refuse("expected 'c' to be " + toString(type) + toString(product.shape) +
           ", but got " + (c.defined() ? c.describe() : "an undefined tensor"));
  if (c.device() != product.a.device())
    refuse("expected 'c' on " + product.a.device().toString() +
           ", as 'a', but got " + c.describe());
  for (int64_t dim = 0; dim < c.rank(); ++dim)
    if (c.numel() > 0 && c.size(dim) > 1 && c.stride(dim) == 0)
      refuse("expected the elements of 'c' in places of their own, but got " +
             c.describe());
  Tensor stack = asStack(c);
  if (c.numel() > 0 && !stack.sharesStorageWith(c))
    refuse("expected the leading dimensions of 'c' to be one block of memory");
  return stack;
}

//===----------------------------------------------------------------------===//
// Kernels and tiles
//===----------------------------------------------------------------------===//

static MatmulKernelConfig configOf(const Product &product, MatrixOrder orderC) {
  MatmulKernelConfig config;
  config.dtype = product.a.dtype();
  config.outputType = product.outputType;
  config.orderA = orderOf(product.a);
  config.orderB = orderOf(product.b);
  config.orderC = orderC;
  config.hasBias = product.bias.defined();
  config.activation = product.activation;
  return config;
}

static Kernel kernelFor(const MatmulKernelConfig &config,
                        const MatmulTiles &tiles, Device device) {
  using Key = std::tuple<int, int, ElementType, ElementType, MatrixOrder,
                         MatrixOrder, MatrixOrder, bool, Activation, int64_t,
                         int64_t, int64_t, int64_t, int64_t>;
  const Key key = {static_cast<int>(device.kind()),
                   device.index(),
                   config.dtype,
                   *config.outputType,
                   config.orderA,
                   config.orderB,
                   config.orderC,
                   config.hasBias,
                   config.activation,
                   tiles.blockM,
                   tiles.blockN,
                   tiles.blockK,
                   tiles.numWarps,
                   tiles.numStages};
  static LookupTable<Key, Kernel> table;
  return table.get(key, [&] {
    MatmulKernelConfig tiled = config;
    tiled.blockM = tiles.blockM;
    tiled.blockN = tiles.blockN;
    tiled.blockK = tiles.blockK;
    CompilerOptions compiler;
    compiler.numWarps = tiles.numWarps;
    compiler.numStages = tiles.numStages;
    return Jit(device, compiler).compile(buildMatmulKernel(tiled)).kernel();
  });
}

static void launch(const Kernel &kernel, const MatmulKernelConfig &config,
                   const Product &product, int64_t group, const Tensor &c) {
  constexpr size_t kMost = 22; // with a bias, and all strides
  ArgumentList<kMost> arguments;
  for (const Tensor *tensor : {&product.a, &product.b, &c})
    arguments.push_back(*tensor);
  if (config.hasBias)
    arguments.push_back(product.bias);
  for (const int64_t number :
       {product.m, product.n, product.k, product.outer * product.inner,
        product.inner, group})
    arguments.push_back(number);
  for (auto [stack, order] :
       {std::pair(&product.a, config.orderA),
        std::pair(&product.b, config.orderB), std::pair(&c, config.orderC)}) {
    arguments.push_back(stack->stride(0));
    arguments.push_back(stack->stride(1));
    if (order != MatrixOrder::Columns)
      arguments.push_back(stack->stride(2));
    if (order != MatrixOrder::Rows)
      arguments.push_back(stack->stride(3));
  }
  kernel.launchPositional(arguments.data(), arguments.size());
}

static std::string tuningKey(const Product &product,
                             const MatmulKernelConfig &config, int64_t group) {
  std::string key = "matmul " + toString(config.dtype) + " to " +
                    toString(*config.outputType);
  auto add = [&](const char *name, int64_t value) {
    key += std::string(" ") + name + "=" + std::to_string(value);
  };
  add("m", sizeClass(product.m));
  add("n", sizeClass(product.n));
  add("k", sizeClass(product.k));
  add("batch", sizeClass(product.outer * product.inner));
  add("group", group);
  add("order_a", static_cast<int64_t>(config.orderA));
  add("order_b", static_cast<int64_t>(config.orderB));
  add("order_c", static_cast<int64_t>(config.orderC));
  if (config.hasBias)
    key += " bias";
  if (config.activation != Activation::None)
    key += std::string(" ") + activationName(config.activation);
  return key;
}

/// What the options name, and of the rest what is given.
static MatmulTiles completed(MatmulTiles tiles, const Product &product,
                             const MatmulOptions &options) {
  // No tile needs to be larger than the matrix.
  constexpr int64_t kShortest = 16;
  auto fit = [&](int64_t block, int64_t extent) {
    return std::min(block, std::max(kShortest, sizeClass(extent)));
  };
  tiles.blockM = fit(tiles.blockM, product.m);
  tiles.blockN = fit(tiles.blockN, product.n);
  tiles.blockK = fit(tiles.blockK, product.k);
  // Few rows and columns are not enough for many warps.
  constexpr int64_t kFewWarps = 4, kManyElements = 64 * 128;
  if (tiles.blockM * tiles.blockN < kManyElements)
    tiles.numWarps = std::min(tiles.numWarps, kFewWarps);
  for (int64_t MatmulTiles::*field :
       {&MatmulTiles::blockM, &MatmulTiles::blockN, &MatmulTiles::blockK,
        &MatmulTiles::numWarps, &MatmulTiles::numStages})
    if (options.tiles.*field)
      tiles.*field = options.tiles.*field;
  return tiles;
}

static MatmulTiles tilesOf(const TuningConfig &tuning) {
  return {tuning.at("block_m"), tuning.at("block_n"), tuning.at("block_k"),
          tuning.at("num_warps"), tuning.at("num_stages")};
}

/// An output of the order that the kernels were chosen for.
static Tensor makeOutput(const Product &product, MatrixOrder order) {
  Shape shape = {product.outer, product.inner, product.m, product.n};
  if (order == MatrixOrder::Columns)
    std::swap(shape[2], shape[3]);
  if (order == MatrixOrder::Strided)
    shape[3] *= 2;
  const Tensor c = Tensor::empty(shape, product.outputType, product.a.device());
  if (order == MatrixOrder::Columns)
    return c.transpose(2, 3);
  return order == MatrixOrder::Strided ? c.slice(3, 0, product.n * 2, 2) : c;
}

/// Measures the candidates on the caller's operands, into a tensor of its own:
/// the caller's may overlap with what a launch reads.
static TuningResult measure(const Product &product,
                            const MatmulKernelConfig &config,
                            const MatmulOptions &options,
                            const std::string &key) {
  const Device device = product.a.device();
  TuningProblem problem;
  problem.key = key;
  problem.program = buildMatmulKernel(config).text();
  problem.device = device;
  const TileLimits limits = TileLimits::of(device);
  MatmulSize size;
  size.m = sizeClass(product.m);
  size.n = sizeClass(product.n);
  size.k = sizeClass(product.k);
  size.batch = sizeClass(product.outer * product.inner);
  if (device.isCuda())
    size.multiprocessors = CudaDevice::get(device).properties().multiprocessors;
  for (const MatmulTiles &candidate :
       matmulCandidates(limits, config.dtype, size)) {
    const MatmulTiles tiles = completed(candidate, product, options);
    // The first is what would run without tuning, and says what is wrong with
    // the options where something is.
    if (!problem.configs.empty() &&
        !matmulDemand(limits, config.dtype, tiles).isFeasible())
      continue;
    problem.configs.push_back({{"block_m", tiles.blockM},
                               {"block_n", tiles.blockN},
                               {"block_k", tiles.blockK},
                               {"num_warps", tiles.numWarps},
                               {"num_stages", tiles.numStages}});
  }
  Tensor c;
  problem.build = [&](const TuningConfig &tuning) {
    const Kernel kernel = kernelFor(config, tilesOf(tuning), device);
    return [&, kernel] {
      // Here, and not where kernels are compiled: on the thread, and so in the
      // stream, that launches.
      if (!c.defined())
        c = makeOutput(product, config.orderC);
      launch(kernel, config, product, options.group, c);
    };
  };
  return autotune(problem);
}

static bool hasWork(const Product &product) {
  return product.outer * product.inner * product.m * product.n > 0 &&
         product.k > 0;
}

/// Explicit options count most, then tuning if asked for, then the table.
static MatmulTiles chooseTiles(const Product &product,
                               const MatmulKernelConfig &config,
                               const MatmulOptions &options) {
  const Device device = product.a.device();
  if (!options.tune || !hasWork(product))
    return completed(defaultMatmulTiles(deviceClassOf(device), config.dtype,
                                        config.activation, config.hasBias),
                     product, options);
  // The autotuner would find its result as well, with more to read and hash.
  const std::string problem = tuningKey(product, config, options.group);
  const MatmulTiles &wanted = options.tiles;
  using Key = std::tuple<int, int, std::string, int64_t, int64_t, int64_t,
                         int64_t, int64_t>;
  const Key key = {static_cast<int>(device.kind()),
                   device.index(),
                   problem,
                   wanted.blockM,
                   wanted.blockN,
                   wanted.blockK,
                   wanted.numWarps,
                   wanted.numStages};
  static LookupTable<Key, MatmulTiles> table;
  return table.get(key, [&] {
    return tilesOf(measure(product, config, options, problem).best);
  });
}

//===----------------------------------------------------------------------===//
// Calls
//===----------------------------------------------------------------------===//

Tensor flashtile::matmul(const Tensor &a, const Tensor &b,
                         const MatmulOptions &options) {
  if (autograd::isRecorded({a, b, options.bias}))
    return Matmul::apply(a, b, options.bias, options);
  const Product product = checkedProduct(a, b, options);
  const DeviceScope scope(a.device());
  Tensor c = Tensor::empty(product.shape, product.outputType, a.device());
  matmul(a, b, options, c);
  return c;
}

void flashtile::matmul(const Tensor &a, const Tensor &b,
                       const MatmulOptions &options, Tensor &c) {
  autograd::checkNotRecorded("matmul into a tensor of the caller",
                             {a, b, options.bias});
  const Product product = checkedProduct(a, b, options);
  const Tensor out = checkedOutput(c, product);
  const MatmulKernelConfig config = configOf(product, orderOf(out));
  const MatmulTiles tiles = chooseTiles(product, config, options);
  launch(kernelFor(config, tiles, a.device()), config, product, options.group,
         out);
}

Kernel flashtile::matmulKernel(const Tensor &a, const Tensor &b,
                               const MatmulOptions &options) {
  const Product product = checkedProduct(a, b, options);
  const MatmulKernelConfig config = configOf(product, MatrixOrder::Rows);
  return kernelFor(config, chooseTiles(product, config, options), a.device());
}

MatmulTiles flashtile::matmulTiles(const Tensor &a, const Tensor &b,
                                   const MatmulOptions &options) {
  const Product product = checkedProduct(a, b, options);
  return chooseTiles(product, configOf(product, MatrixOrder::Rows), options);
}

TuningResult flashtile::matmulTuning(const Tensor &a, const Tensor &b,
                                     const MatmulOptions &options) {
  const Product product = checkedProduct(a, b, options);
  if (!hasWork(product))
    refuse("expected a product to measure, but got " + a.describe() + " and " +
           b.describe());
  const MatmulKernelConfig config = configOf(product, MatrixOrder::Rows);
  return measure(product, config, options,
                 tuningKey(product, config, options.group));
}
