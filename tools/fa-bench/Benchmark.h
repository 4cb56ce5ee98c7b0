//===- Benchmark.h - What is measured and what came out ---------*- C++ -*-===//
//
// Part of FlashTile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A command turns its options into cases and says how to prepare one; the rest
// (timing, judging, tables, files) is the same for all commands.
//
//===----------------------------------------------------------------------===//

#ifndef FLASHTILE_TOOLS_FA_BENCH_BENCHMARK_H
#define FLASHTILE_TOOLS_FA_BENCH_BENCHMARK_H

#include "runtime/Autotuner.h"
#include "runtime/DType.h"
#include "runtime/Kernel.h"
#include "runtime/LaunchTimer.h"
#include "runtime/TuningConfig.h"

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace flashtile::tools {

/// A point of a sweep.
struct BenchCase {
  DType dtype = DType::BF16;
  /// Named as the columns of the results: head_dim, seq_len, m, ...
  std::vector<std::pair<std::string, int64_t>> parameters;
  std::string pass; ///< "fwd" or "bwd"; empty where there is only one
  double flops = 0;

  /// For the plot: the place on the x axis and the line it is a point of, whose
  /// name begins with `group`; lines of one group have one colour.
  int64_t x = 0;
  std::string series, group;

  /// 0 where there is no such parameter.
  int64_t at(const std::string &name) const {
    for (const auto &[key, value] : parameters)
      if (key == name)
        return value;
    return 0;
  }
};

/// The worst of what was judged.
struct CheckResult {
  bool pass = true;
  double error = 0, limit = 0;
  std::string reason;

  /// Takes over another verdict if that is worse.
  void add(bool otherPass, double otherError, double otherLimit,
           const std::string &otherReason);
};

/// A case ready to run, with its operands.
struct BenchWork {
  std::function<void()> launch;
  std::function<CheckResult()> check; ///< of what the last launch left
  std::vector<Kernel> kernels;        ///< that a launch runs
  TuningConfig tiles;
  std::vector<TuningTrial> trials; ///< of which `tiles` was the best
};

/// A row of another system, measured by the same protocol.
struct AnchorRatio {
  std::string system;
  double tflops = 0;
  double ratio = 0; ///< ours to theirs
};

struct BenchRow {
  BenchCase point;
  TuningConfig tiles;
  std::vector<TuningTrial> trials;
  Timing timing;
  double firstMilliseconds = 0;
  double compileMilliseconds = 0;
  bool fromCache = false;
  /// The most of its kernels; 0 on the cpu.
  int64_t registers = 0, spillBytes = 0, sharedBytes = 0;
  std::optional<CheckResult> check;
  std::vector<AnchorRatio> anchors;
  std::string failure; ///< why there are no numbers

  double tflops() const {
    return timing.milliseconds > 0 ? point.flops / timing.milliseconds * 1e-9
                                   : 0;
  }
  bool isGood() const { return failure.empty() && (!check || check->pass); }
  const AnchorRatio *bestAnchor() const {
    const AnchorRatio *best = nullptr;
    for (const AnchorRatio &anchor : anchors)
      if (!best || anchor.tflops > best->tflops)
        best = &anchor;
    return best;
  }
};

/// All that a sweep gave.
struct BenchReport {
  std::string benchmark; ///< "flash-attention"
  std::string system;    ///< ours, as results name it
  std::string device;    ///< in words
  bool onGpu = false;
  TimingOptions timing;
  std::vector<BenchRow> rows;

  /// Whether rows of a table have to say which pass they are of.
  bool showsPass = false;

  /// Numbers on the cpu are small.
  const char *rateUnit() const { return onGpu ? "TFLOP/s" : "GFLOP/s"; }
  double rateOf(double tflops) const { return onGpu ? tflops : tflops * 1e3; }
};

} // namespace flashtile::tools

#endif // FLASHTILE_TOOLS_FA_BENCH_BENCHMARK_H
