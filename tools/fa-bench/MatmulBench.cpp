//===- MatmulBench.cpp - fa-bench matmul ----------------------------------===//
//
// Part of FlashTile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tools/fa-bench/Commands.h"
#include "tools/fa-bench/Sweep.h"

#include "compiler/Support/Error.h"
#include "kernels/Matmul.h"
#include "kernels/Reference/Judge.h"
#include "kernels/Reference/Layers.h"

#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <set>

using namespace flashtile;
using namespace flashtile::tools;

namespace {
struct MatmulSweep {
  BenchOptions common;
  std::vector<int64_t> sizes, m, n, k, batches = {1};
  std::vector<std::string> transposed = {"0"};
  std::string activation = "none";
  bool hasBias = false;
};
} // namespace

static BenchCase matmulCase(DType dtype, int64_t batch, int64_t transposed,
                            int64_t m, int64_t n, int64_t k) {
  BenchCase point;
  point.dtype = dtype;
  point.parameters = {{"batch", batch},
                      {"transpose_b", transposed},
                      {"m", m},
                      {"n", n},
                      {"k", k}};
  point.flops = 2.0 * static_cast<double>(batch) * static_cast<double>(m) *
                static_cast<double>(n) * static_cast<double>(k);
  point.group = toString(dtype);
  if (batch != 1)
    point.group += fmt::format(" batch={}", batch);
  point.series = point.group + (transposed ? " a b^T" : "");
  point.x = std::max({m, n, k});
  return point;
}

static std::vector<BenchCase> casesOf(const MatmulSweep &sweep, bool onGpu) {
  const std::vector<int64_t> standard =
      onGpu ? std::vector<int64_t>{1024, 2048, 4096, 8192, 16384}
            : std::vector<int64_t>{128, 256, 512};
  const auto &sizes = sweep.sizes.empty() ? standard : sweep.sizes;
  // Without an extent of their own, matrices are square.
  const std::vector<int64_t> open = {0};
  auto orOpen = [&](const std::vector<int64_t> &list) -> const auto & {
    return list.empty() ? open : list;
  };
  for (auto [option, list] :
       {std::pair("--size", &sizes), std::pair("--m", &sweep.m),
        std::pair("--n", &sweep.n), std::pair("--k", &sweep.k),
        std::pair("--batch", &sweep.batches)})
    checkSizes(option, *list, 1 << 20);
  const bool isFixed = !sweep.m.empty() && !sweep.n.empty() && !sweep.k.empty();
  std::vector<BenchCase> cases;
  for (DType dtype : typesOf(sweep.common.dtypes,
                             {DType::F64, DType::F32, DType::F16, DType::BF16,
                              DType::F8E4M3FN, DType::F8E5M2}))
    for (int64_t batch : sweep.batches)
      for (int64_t transposed : switchValues(sweep.transposed))
        for (int64_t size : isFixed ? open : sizes)
          for (int64_t m : orOpen(sweep.m))
            for (int64_t n : orOpen(sweep.n))
              for (int64_t k : orOpen(sweep.k))
                cases.push_back(matmulCase(dtype, batch, transposed,
                                           m ? m : size, n ? n : size,
                                           k ? k : size));
  return cases;
}

/// Judges some rows of the first and the last matrix, first and last ones:
/// enough to find a tile that is wrong at an edge, and not more than a cpu
/// multiplies in seconds.
static CheckResult checkProduct(const Tensor &a, const Tensor &b,
                                const Tensor &c, const MatmulOptions &options) {
  constexpr int64_t kRows = 16;
  CheckResult result;
  const int64_t rows = a.size(1);
  const Tensor bias =
      options.bias.defined() ? options.bias.to(Device::cpu()) : Tensor();
  for (const int64_t matrix : std::set<int64_t>{0, a.size(0) - 1}) {
    const Tensor right = b.select(0, matrix).to(Device::cpu());
    for (const int64_t begin :
         std::set<int64_t>{0, std::max<int64_t>(rows - kRows, 0)}) {
      const int64_t count = std::min(kRows, rows - begin);
      auto rowsOf = [&](const Tensor &tensor) {
        return tensor.select(0, matrix)
            .narrow(0, begin, count)
            .to(Device::cpu());
      };
      const Tensor left = rowsOf(a);
      const Tensor truth =
          reference::layer(left, right, bias, options.activation);
      const Tensor plain =
          c.dtype() == DType::F64
              ? truth
              : reference::layer(left, right, bias, options.activation,
                                 DType::F32)
                    .to(c.dtype());
      const reference::Verdict verdict =
          reference::judge(rowsOf(c), truth, plain);
      result.add(verdict.pass, verdict.error, verdict.limit,
                 verdict.pass ? std::string()
                              : fmt::format("matrix {}, from row {}: {}",
                                            matrix, begin, verdict.reason));
    }
  }
  return result;
}

static BenchWork prepareMatmul(const BenchCase &point,
                               const MatmulSweep &settings,
                               Operands &operands) {
  const BenchOptions &common = settings.common;
  const int64_t batch = point.at("batch"), m = point.at("m"), n = point.at("n"),
                k = point.at("k");
  const Tensor a = operands.get({batch, m, k}, point.dtype, 0);
  const Tensor b =
      point.at("transpose_b")
          ? operands.get({batch, n, k}, point.dtype, 1).transpose(1, 2)
          : operands.get({batch, k, n}, point.dtype, 1);
  MatmulOptions options;
  options.activation = *parseActivation(settings.activation);
  if (settings.hasBias)
    options.bias = operands.get({n}, point.dtype, 2);
  options.tiles = {common.tileM, common.tileN, common.tileK, common.numWarps,
                   common.numStages};
  options.tune = common.tune;
  BenchWork work;
  if (options.tune)
    work.trials = matmulTuning(a, b, options).trials;
  options.tiles = matmulTiles(a, b, options);
  options.tune = false;
  const MatmulTiles &tiles = options.tiles;
  checkTiles({{"--tile-m", common.tileM, tiles.blockM},
              {"--tile-n", common.tileN, tiles.blockN},
              {"--tile-k", common.tileK, tiles.blockK}});
  work.kernels = {matmulKernel(a, b, options)};
  work.tiles = {{"block_m", tiles.blockM},
                {"block_n", tiles.blockN},
                {"block_k", tiles.blockK},
                {"num_warps", tiles.numWarps},
                {"num_stages", tiles.numStages}};
  const bool isFp8 = elementSize(point.dtype) == 1;
  Tensor c = Tensor::empty({batch, m, n}, isFp8 ? DType::BF16 : point.dtype,
                           a.device());
  work.launch = [a, b, c, options]() mutable { matmul(a, b, options, c); };
  work.check = [a, b, c, options] { return checkProduct(a, b, c, options); };
  return work;
}

static int runMatmul(const MatmulSweep &options) {
  checkActivation(options.activation);
  Sweep sweep;
  sweep.benchmark = "matmul";
  sweep.system = "flashtile";
  if (options.hasBias)
    sweep.system += "_bias";
  if (options.activation != "none")
    sweep.system += "_" + options.activation;
  sweep.xLabel = "size of the matrices";
  sweep.device = targetDevice(options.common.target);
  sweep.cases = casesOf(options, sweep.device.isCuda());
  Operands operands(sweep.device);
  sweep.prepare = [&](const BenchCase &point) {
    return prepareMatmul(point, options, operands);
  };
  return runSweep(sweep, options.common);
}

Command flashtile::tools::addMatmulCommand(CLI::App &app) {
  auto options = std::make_shared<MatmulSweep>();
  CLI::App *command =
      app.add_subcommand("matmul", "Products of matrices, c = f(a b + bias)");
  command->footer("FLOPs are 2 batch m n k: those of bias and activation are "
                  "not counted.");
  addSizes(*command, "--size", options->sizes,
           "m, n and k where they are not given (cuda: 1024 to 16384; cpu: 128 "
           "to 512)");
  addSizes(*command, "--m", options->m, "Rows of a");
  addSizes(*command, "--n", options->n, "Columns of b");
  addSizes(*command, "--k", options->k, "Columns of a");
  addSizes(*command, "--batch", options->batches, "Products at once")
      ->capture_default_str();
  addSwitches(*command, "--transpose-b", options->transposed,
              "Whether b is stored by columns: 0, 1, or 0,1 for both")
      ->capture_default_str();
  addEpilogueOptions(*command, options->activation, options->hasBias);
  addBenchOptions(*command, options->common, /*hasDepth=*/true);
  return [options] { return runMatmul(*options); };
}
