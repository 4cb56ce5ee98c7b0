//===- MlpBench.cpp - fa-bench mlp ----------------------------------------===//
//
// Part of FlashTile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tools/fa-bench/Commands.h"
#include "tools/fa-bench/Sweep.h"

#include "compiler/Support/Error.h"
#include "kernels/Mlp.h"
#include "kernels/Reference/Judge.h"
#include "kernels/Reference/Layers.h"

#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <set>

using namespace flashtile;
using namespace flashtile::tools;

namespace {
struct Options {
  BenchOptions common;
  std::vector<int64_t> rows, widths, hidden;
  std::string activation = "relu";
  bool hasBias = false;
};
} // namespace

static std::vector<BenchCase> casesOf(const Options &options, bool onGpu) {
  auto or_ = [](const std::vector<int64_t> &given,
                const std::vector<int64_t> &standard) {
    return given.empty() ? standard : given;
  };
  using List = std::vector<int64_t>;
  const List rows = or_(options.rows, onGpu ? List{65536} : List{512});
  const List widths =
      or_(options.widths, onGpu ? List{64, 128, 256} : List{64, 128});
  const List hidden =
      or_(options.hidden, onGpu ? List{1024, 4096} : List{256, 512});
  checkSizes("--rows", rows, 1 << 24);
  checkSizes("--hidden", hidden, 1 << 20);
  for (const int64_t width : widths)
    if (width > 256 || width % 8)
      throw Error(ErrorCode::InvalidArgument,
                  fmt::format("expected --width from 8 to 256 in steps of 8, "
                              "but got {}",
                              width));
  std::vector<BenchCase> cases;
  for (const DType dtype :
       typesOf(options.common.dtypes, {DType::F32, DType::F16, DType::BF16}))
    for (const int64_t width : widths)
      for (const int64_t count : rows)
        for (const int64_t layer : hidden) {
          BenchCase &point = cases.emplace_back();
          point.dtype = dtype;
          point.parameters = {
              {"width", width}, {"rows", count}, {"hidden", layer}};
          point.flops = 4.0 * static_cast<double>(count) *
                        static_cast<double>(width) * static_cast<double>(layer);
          point.group = fmt::format("{} width={}", toString(dtype), width);
          if (rows.size() > 1)
            point.group += fmt::format(" rows={}", count);
          point.series = point.group;
          point.x = layer;
        }
  return cases;
}

/// Judges the first and the last rows.
static CheckResult check(const Tensor &x, const Tensor &w1, const Tensor &w2,
                         const MlpOptions &options, const Tensor &y) {
  constexpr int64_t kRows = 64;
  const int64_t rows = x.size(0);
  auto here = [](const Tensor &tensor) {
    return tensor.defined() ? tensor.to(Device::cpu()) : tensor;
  };
  const Tensor first = here(w1), second = here(w2);
  const Tensor b1 = here(options.b1), b2 = here(options.b2);
  CheckResult result;
  for (const int64_t begin :
       std::set<int64_t>{0, std::max<int64_t>(rows - kRows, 0)}) {
    const int64_t count = std::min(kRows, rows - begin);
    const Tensor some = here(x.narrow(0, begin, count));
    const reference::Verdict verdict = reference::judge(
        here(y.narrow(0, begin, count)),
        reference::mlp(some, first, second, b1, b2, options.activation),
        reference::plainMlp(some, first, second, b1, b2, options.activation));
    result.add(verdict.pass, verdict.error, verdict.limit,
               verdict.pass
                   ? std::string()
                   : fmt::format("from row {}: {}", begin, verdict.reason));
  }
  return result;
}

static BenchWork prepare(const BenchCase &point, const Options &settings,
                         Operands &operands, Device device) {
  const BenchOptions &common = settings.common;
  const int64_t width = point.at("width"), hidden = point.at("hidden");
  const Tensor x = operands.get({point.at("rows"), width}, point.dtype, 0);
  const Tensor w1 = operands.get({width, hidden}, point.dtype, 1);
  const Tensor w2 = operands.get({hidden, width}, point.dtype, 2);
  MlpOptions options;
  options.activation = *parseActivation(settings.activation);
  if (settings.hasBias) {
    options.b1 = operands.get({hidden}, point.dtype, 3);
    options.b2 = operands.get({width}, point.dtype, 4);
  }
  options.tiles = {common.tileM, common.tileN, common.numWarps,
                   common.numStages};
  options.tune = common.tune;
  BenchWork work;
  if (options.tune)
    work.trials = mlpTuning(x, w1, w2, options).trials;
  options.tiles = mlpTiles(x, w1, w2, options);
  options.tune = false;
  const MlpTiles &tiles = options.tiles;
  checkTiles({{"--tile-m", common.tileM, tiles.blockM},
              {"--tile-n", common.tileN, tiles.blockH},
              {"--width", 0, width}});
  work.kernels = {mlpKernel(x, w1, w2, options)};
  work.tiles = {{"block_m", tiles.blockM},
                {"block_h", tiles.blockH},
                {"num_warps", tiles.numWarps},
                {"num_stages", tiles.numStages}};
  Tensor y = Tensor::empty({point.at("rows"), width}, point.dtype, device);
  work.launch = [x, w1, w2, options, y]() mutable {
    mlp(x, w1, w2, options, y);
  };
  work.check = [x, w1, w2, options, y] { return check(x, w1, w2, options, y); };
  return work;
}

static int run(const Options &options) {
  checkActivation(options.activation);
  Sweep sweep;
  sweep.benchmark = "mlp";
  sweep.system =
      "flashtile_" + options.activation + (options.hasBias ? "_bias" : "");
  sweep.xLabel = "width of the hidden layer";
  sweep.device = targetDevice(options.common.target);
  sweep.cases = casesOf(options, sweep.device.isCuda());
  Operands operands(sweep.device);
  sweep.prepare = [&](const BenchCase &point) {
    return prepare(point, options, operands, sweep.device);
  };
  return runSweep(sweep, options.common);
}

Command flashtile::tools::addMlpCommand(CLI::App &app) {
  auto options = std::make_shared<Options>();
  CLI::App *command = app.add_subcommand(
      "mlp", "Two layers in one kernel, y = f(x w1 + b1) w2 + b2");
  command->footer("FLOPs are 4 rows width hidden.");
  addSizes(*command, "--rows", options->rows,
           "Rows of x (cuda: 65536; cpu: 512)");
  addSizes(*command, "--width", options->widths,
           "Columns of x and of y (cuda: 64,128,256; cpu: 64,128)");
  addSizes(*command, "--hidden", options->hidden,
           "Columns of the hidden layer (cuda: 1024,4096; cpu: 256,512)");
  addEpilogueOptions(*command, options->activation, options->hasBias);
  addBenchOptions(*command, options->common, /*hasDepth=*/false);
  return [options] { return run(*options); };
}
