//===- Sweep.cpp - Runs the cases of a benchmark --------------------------===//
//
// Part of FlashTile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tools/fa-bench/Sweep.h"

#include "compiler/Support/Error.h"
#include "runtime/ThreadPool.h"
#include "runtime/cuda/CudaDevice.h"
#include "tools/Support/OutputFiles.h"
#include "tools/fa-bench/Anchors.h"
#include "tools/fa-bench/ResultText.h"

#include <fmt/core.h>

#include <algorithm>
#include <unistd.h>

using namespace flashtile;
using namespace flashtile::tools;

Tensor Operands::get(const Shape &shape, DType dtype, int index) {
  int64_t count = 1;
  for (const int64_t extent : shape)
    count *= extent;
  Tensor &tensor = tensors[{dtype, index, count}];
  if (!tensor.defined()) {
    // The numbers of other sizes are not needed any more.
    for (auto it = tensors.begin(); it != tensors.end();) {
      const auto &[otherType, otherIndex, otherCount] = it->first;
      const bool isOld = otherIndex == index && it->second.defined();
      it = isOld ? tensors.erase(it) : std::next(it);
    }
    tensor =
        Tensor::randn({count}, dtype, static_cast<uint64_t>(index) + 1, device);
  }
  return tensor.view(shape);
}

/// Progress replaces its line on a terminal; elsewhere, where it is asked for,
/// each step is a line.
static void progress(const BenchOptions &options, const std::string &text) {
  if (isatty(STDERR_FILENO))
    showProgress(text);
  else if (options.progress && !text.empty())
    fmt::print(stderr, "{}\n", text);
}

static std::string deviceText(Device device) {
  if (device.isCuda())
    return CudaDevice::get(device).describe();
  const unsigned threads = ThreadPool::global().workerCount();
  return fmt::format("cpu ({} thread{})", threads, threads == 1 ? "" : "s");
}

static void describeKernels(BenchRow &row, const std::vector<Kernel> &kernels) {
  row.fromCache = !kernels.empty();
  for (const Kernel &kernel : kernels) {
    const KernelReport report = kernel.report();
    row.compileMilliseconds += report.totalMilliseconds();
    row.fromCache &= report.fromCache;
    if (report.entries.empty())
      continue;
    // The function that launches try first.
    const GpuEntryReport &entry = report.entries.front();
    row.registers = std::max(row.registers, entry.resources.registers);
    row.spillBytes = std::max(row.spillBytes, entry.localBytes);
    row.sharedBytes =
        std::max(row.sharedBytes, entry.sharedBytes + entry.staticSharedBytes);
  }
}

static void runCase(const Sweep &sweep, const BenchOptions &options,
                    const TimingOptions &timing, const std::string &prefix,
                    BenchRow &row) {
  progress(options, prefix + (options.tune ? ": tuning" : ": compiling"));
  const BenchWork work = sweep.prepare(row.point);
  row.tiles = work.tiles;
  row.trials = work.trials;
  describeKernels(row, work.kernels);
  // Only the first launch.
  TimingOptions once;
  once.warmups = 1;
  once.limitMilliseconds = 0;
  row.firstMilliseconds =
      timeLaunches(sweep.device, work.launch, once).firstMilliseconds;
  if (options.check) {
    progress(options, prefix + ": judging");
    row.check = work.check();
  }
  progress(options, prefix + ": measuring");
  row.timing = timeLaunches(sweep.device, work.launch, timing);
}

/// Returns false where no further case can run.
static bool runGuarded(const Sweep &sweep, const BenchOptions &options,
                       const TimingOptions &timing, const std::string &prefix,
                       BenchRow &row) {
  try {
    runCase(sweep, options, timing, prefix, row);
    return true;
  } catch (const Error &error) {
    if (error.code() == ErrorCode::InvalidArgument) {
      progress(options, "");
      throw;
    }
    row.failure = error.what();
    row.check.reset();
  }
  return !sweep.device.isCuda() || !CudaDevice::get(sweep.device).isLost();
}

int flashtile::tools::runSweep(const Sweep &sweep,
                               const BenchOptions &options) {
  checkTarget(options, sweep.device);
  Anchors anchors;
  for (const std::string &path : options.anchors)
    anchors.read(path);
  OutputFiles outputs;
  for (auto [name, path] :
       {std::pair("--csv", &options.csv), std::pair("--json", &options.json),
        std::pair("--svg", &options.svg)})
    if (*path)
      outputs.open(name, **path);

  BenchReport report;
  report.benchmark = sweep.benchmark;
  report.system = sweep.system;
  report.showsPass =
      std::any_of(sweep.cases.begin(), sweep.cases.end(),
                  [](const BenchCase &point) { return point.pass == "bwd"; });
  report.device = deviceText(sweep.device);
  report.onGpu = sweep.device.isCuda();
  report.timing.groups = options.groups;
  report.timing.warmups = options.warmups;
  report.timing.graphs = options.graph;
  // Cases do not depend on those before them, as all begin rested, and launch
  // as often.
  if (sweep.device.isCuda()) {
    report.timing.restMilliseconds = 200;
    report.timing.groupMilliseconds = 200;
    report.timing.maxLaunches = 30;
  }
  if (!report.onGpu)
    report.timing.warmupMilliseconds = 200;

  bool isGood = true;
  for (size_t i = 0; i < sweep.cases.size(); ++i) {
    BenchRow row;
    row.point = sweep.cases[i];
    const std::string prefix = fmt::format(
        "[{}/{}] {}", i + 1, sweep.cases.size(), caseText(row.point));
    const bool canGoOn = runGuarded(sweep, options, report.timing, prefix, row);
    if (row.failure.empty())
      row.anchors = anchors.compare(row);
    progress(options, "");
    // Not earlier: wrong options leave no header behind.
    if (i == 0)
      fmt::print("{}", tableHeader(report, row.point, options.check));
    fmt::print("{}", tableRow(report, row));
    std::fflush(stdout);
    isGood &= row.isGood();
    report.rows.push_back(std::move(row));
    if (!canGoOn) {
      fmt::print(stderr,
                 "fa-bench: {} cases are left out: the device is "
                 "lost\n",
                 sweep.cases.size() - i - 1);
      break;
    }
  }
  fmt::print("{}", tableSummary(report));
  outputs.writeText("--csv", csvText(report));
  outputs.writeText("--json", jsonText(report));
  outputs.writeText("--svg", plotText(report, sweep.xLabel));
  outputs.commit();
  return isGood ? 0 : 1;
}
