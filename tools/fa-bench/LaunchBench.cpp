//===- LaunchBench.cpp - fa-bench launch ----------------------------------===//
//
// Part of FlashTile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What calls cost on the host, where a GPU does the work: launches of a kernel
// with tensor maps, the calls on tensors around them, what the driver takes of
// that, and a kernel's start out of the cache on disk. Groups of launches are
// short enough for the driver's queue, so that none waits for the GPU.
//
//===----------------------------------------------------------------------===//

#include "tools/fa-bench/Commands.h"

#include "compiler/Support/Error.h"
#include "kernels/FlashAttention.h"
#include "kernels/Matmul.h"
#include "runtime/EnvOptions.h"
#include "runtime/Jit.h"
#include "runtime/cuda/CudaStream.h"
#include "tools/fa-bench/DriverFloor.h"
#include "tools/fa-bench/DriverWatch.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <memory>

using namespace flashtile;
using namespace flashtile::tools;

namespace {
struct Options {
  std::string target;
  int64_t launches = 100, groups = 9, headDim = 64, seqLen = 128;
};

using Clock = std::chrono::steady_clock;

class LaunchBench {
public:
  explicit LaunchBench(const Options &options);
  int run();

private:
  /// The median of the groups of one call's time, in microseconds.
  double medianTime(const std::function<void(int64_t)> &launch) const;
  /// Prints it, and what the call asks of the driver.
  void measure(const std::string &name,
               const std::function<void(int64_t)> &launch) const;
  /// The same for a call of the driver.
  MeasureFunction measureBare() const;
  void measureKernel();
  void measureCalls();
  void measureStart();
  void wait() const {
    if (device.isCuda())
      CudaDevice::get(device).synchronize();
  }
  /// Of a kernel of attention, in order, with queries from a row of `many` on.
  std::vector<ArgumentValue> argumentsFrom(int64_t row) const;

  const Options &options;
  const Device device;
  FlashAttentionOptions attention;
  Tensor q, k, v, o, lse;
  Tensor many; ///< queries of more launches than are remembered
};
} // namespace

static constexpr int64_t kManyRows = 1000;

LaunchBench::LaunchBench(const Options &options)
    : options(options), device(targetDevice(options.target)) {
  const Shape shape = {1, 1, options.seqLen, options.headDim};
  q = Tensor::randn(shape, DType::BF16, 1, device);
  k = Tensor::randn(shape, DType::BF16, 2, device);
  v = Tensor::randn(shape, DType::BF16, 3, device);
  o = Tensor::empty(shape, DType::BF16, device);
  lse = Tensor::empty({1, 1, options.seqLen}, DType::F32, device);
  many = Tensor::zeros({1, 1, options.seqLen + kManyRows, options.headDim},
                       DType::BF16, device);
}

static double medianOf(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  return values[values.size() / 2];
}

static double secondsSince(Clock::time_point begin) {
  return std::chrono::duration<double>(Clock::now() - begin).count();
}

double
LaunchBench::medianTime(const std::function<void(int64_t)> &launch) const {
  launch(0);
  wait();
  std::vector<double> micros;
  for (int64_t group = 0; group < options.groups; ++group) {
    const Clock::time_point begin = Clock::now();
    for (int64_t i = 0; i < options.launches; ++i)
      launch(i);
    micros.push_back(secondsSince(begin) * 1e6 /
                     static_cast<double>(options.launches));
    wait();
  }
  return medianOf(micros);
}

void LaunchBench::measure(const std::string &name,
                          const std::function<void(int64_t)> &launch) const {
  fmt::print("{:<52}{:10.3f} us", name, medianTime(launch));
  if (device.isCuda()) {
    DriverWatch watch(CudaDevice::get(device).api());
    launch(options.launches);
    fmt::print("  {}", watch.summary());
  }
  fmt::print("\n");
}

MeasureFunction LaunchBench::measureBare() const {
  return [this](const std::string &name,
                const std::function<void(cuda::Result &)> &call) {
    cuda::Result result = cuda::success;
    const double micros = medianTime([&](int64_t) {
      if (result == cuda::success)
        call(result);
    });
    if (result != cuda::success)
      CudaDevice::get(device).fail(name, result);
    fmt::print("  {:<50}{:10.3f} us\n", name, micros);
  };
}

std::vector<ArgumentValue> LaunchBench::argumentsFrom(int64_t row) const {
  const Tensor queries = row < 0 ? q : many.slice(2, row, row + options.seqLen);
  std::vector<ArgumentValue> arguments = {queries, k, v, o, lse};
  const auto rows = static_cast<int32_t>(options.seqLen);
  for (const int32_t extent : {1, 1, rows, rows, 1})
    arguments.push_back(extent);
  for (const Tensor *tensor : {&queries, &k, &v, &o})
    for (int dim = 0; dim < 3; ++dim)
      arguments.push_back(tensor->stride(dim));
  arguments.push_back(0.125F);
  return arguments;
}

void LaunchBench::measureKernel() {
  const Kernel kernel = flashAttentionKernel(q, k, v, attention);
  const std::vector<ArgumentValue> same = argumentsFrom(-1);
  measure(fmt::format("kernel of {} arguments, in order", same.size()),
          [&](int64_t) { kernel.launchPositional(same.data(), same.size()); });
  if (device.isCuda()) {
    CudaDevice &gpu = CudaDevice::get(device);
    measureBareLaunch(
        gpu, [&] { kernel.launchPositional(same.data(), same.size()); },
        measureBare());
    {
      const ContextGuard guard(gpu);
      measure("the same within a scope of the context", [&](int64_t) {
        kernel.launchPositional(same.data(), same.size());
      });
    }
    const CudaStreamGuard guard(CudaStream::create(gpu));
    measure("the same in another stream", [&](int64_t) {
      kernel.launchPositional(same.data(), same.size());
    });
  }
  std::vector<NamedArgument> named;
  for (size_t i = 0; i < same.size(); ++i)
    named.push_back({kernel.arguments()[i].name, same[i]});
  measure("the same by name", [&](int64_t) { kernel.launch(named); });
  std::vector<std::vector<ArgumentValue>> others;
  for (int64_t row = 0; row < kManyRows; ++row)
    others.push_back(argumentsFrom(row));
  int64_t next = 0;
  measure("the same with arguments that are new each time", [&](int64_t) {
    const std::vector<ArgumentValue> &list =
        others[static_cast<size_t>(next++ % kManyRows)];
    kernel.launchPositional(list.data(), list.size());
  });
}

void LaunchBench::measureCalls() {
  measure("flashAttention into tensors",
          [&](int64_t) { flashAttention(q, k, v, attention, o, lse); });
  measure("flashAttention",
          [&](int64_t) { flashAttention(q, k, v, attention); });
  const Tensor a = q.select(0, 0).select(0, 0);
  const Tensor b = k.select(0, 0).select(0, 0).transpose(0, 1);
  Tensor c =
      Tensor::empty({options.seqLen, options.seqLen}, DType::BF16, device);
  measure("matmul into a tensor", [&](int64_t) { matmul(a, b, {}, c); });
}

void LaunchBench::measureStart() {
  if (!EnvOptions::read().kernelCacheFolder().size()) {
    fmt::print("the kernel cache is off: no start out of it\n");
    return;
  }
  kernels::FlashAttentionConfig config;
  config.headDim = options.headDim;
  config.scaleIsPositive = true;
  const std::string text = kernels::buildFlashAttentionForward(config).text();
  const Jit jit(device);
  std::vector<double> millis;
  for (int64_t i = 0; i <= options.groups; ++i) {
    Jit::clearCache();
    const Clock::time_point begin = Clock::now();
    jit.compile(text).kernel();
    // The first one may have to compile.
    if (i > 0)
      millis.push_back(secondsSince(begin) * 1e3);
  }
  fmt::print("{:<52}{:10.3f} ms\n", "a kernel out of the cache on disk",
             medianOf(millis));
}

int LaunchBench::run() {
  fmt::print("host time on {}; median of {} groups of {}\n",
             device.isCuda() ? CudaDevice::get(device).describe()
                             : "cpu, where programs run in the call",
             options.groups, options.launches);
  measureKernel();
  measureCalls();
  if (device.isCuda())
    measureBareCalls(CudaDevice::get(device), measureBare());
  measureStart();
  return 0;
}

static void checkRange(const char *option, int64_t value, int64_t most) {
  if (value > most)
    throw Error(
        ErrorCode::InvalidArgument,
        fmt::format("expected {} up to {}, but got {}", option, most, value));
}

Command flashtile::tools::addLaunchCommand(CLI::App &app) {
  auto options = std::make_shared<Options>();
  CLI::App *command =
      app.add_subcommand("launch", "What launches and calls cost on the host");
  addTargetOption(*command, options->target);
  for (auto [name, number, description] :
       {std::tuple("--launches", &options->launches,
                   "Launches of a group, fewer than a queue holds"),
        std::tuple("--groups", &options->groups,
                   "Groups, of which the median counts"),
        std::tuple("--head-dim", &options->headDim, "Columns of q, k and v"),
        std::tuple("--seq-len", &options->seqLen, "Rows of q, k and v")})
    command->add_option(name, *number, description)
        ->check(positiveInteger())
        ->capture_default_str();
  return [options] {
    checkRange("--launches", options->launches, 500);
    checkRange("--groups", options->groups, 1000);
    checkRange("--seq-len", options->seqLen, 4096);
    return LaunchBench(*options).run();
  };
}
