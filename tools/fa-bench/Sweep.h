//===- Sweep.h - Runs the cases of a benchmark ------------------*- C++ -*-===//
//
// Part of FlashTile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef FLASHTILE_TOOLS_FA_BENCH_SWEEP_H
#define FLASHTILE_TOOLS_FA_BENCH_SWEEP_H

#include "runtime/Tensor.h"
#include "tools/fa-bench/BenchOptions.h"
#include "tools/fa-bench/Benchmark.h"

#include <map>
#include <tuple>

namespace flashtile::tools {

struct Sweep {
  std::string benchmark, system;
  std::string xLabel; ///< of the plot
  Device device = Device::cpu();
  std::vector<BenchCase> cases;
  /// Chooses, compiles and allocates. Throws InvalidArgument where the options
  /// are wrong, which ends the sweep; any other error is a result of its case.
  std::function<BenchWork(const BenchCase &)> prepare;
};

/// Measures all cases and prints and writes what comes out. Returns the exit
/// status: 1 where a case failed or was judged to be wrong.
int runSweep(const Sweep &sweep, const BenchOptions &options);

/// Normally distributed operands. Cases of one size share their numbers, which
/// take longer to make than to multiply.
class Operands {
public:
  explicit Operands(Device device) : device(device) {}
  /// The `index`-th operand of a case.
  Tensor get(const Shape &shape, DType dtype, int index);

private:
  const Device device;
  std::map<std::tuple<DType, int, int64_t>, Tensor> tensors;
};

} // namespace flashtile::tools

#endif // FLASHTILE_TOOLS_FA_BENCH_SWEEP_H
