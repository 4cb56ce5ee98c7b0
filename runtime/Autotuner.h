//===- Autotuner.h - The fastest of several configurations ----------------===//
//
// Part of FlashTile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Builds a kernel in each of several configurations (tile sizes, warps, stages,
// whatever the caller names), measures each on the device, and says which is
// fastest:
//
//   TuningProblem problem;
//   problem.key = "my_kernel f32 n=4096";
//   problem.program = buildMine(64).text();
//   problem.configs = {{{"block", 64}}, {{"block", 128}, {"num_warps", 8}}};
//   problem.build = [&](const TuningConfig &config) {
//     Kernel kernel = Jit(...).compile(buildMine(config.at("block"))).kernel();
//     return [=] { kernel(x, y, n); };
//   };
//   TuningConfig best = autotune(problem).best;
//
// A configuration that does not compile or does not run is out of the race, and
// its reason is in the result. What was found is kept: in this process, and on
// disk beside the compiled kernels (FLASHTILE_CACHE_DIR), by the device, the
// key, the program, the configurations and the build of the compiler: a kernel
// that has changed is tuned anew. Whatever is wrong with a file there makes it
// a miss.
//
// Thread safety: any number of threads may tune at once. Configurations are
// compiled in parallel, so `build` is called from several threads; measuring is
// done by one at a time, on the thread that called autotune(). Who asks for a
// key that another thread is tuning waits for that thread.
//
//===----------------------------------------------------------------------===//

#ifndef FLASHTILE_RUNTIME_AUTOTUNER_H
#define FLASHTILE_RUNTIME_AUTOTUNER_H

#include "runtime/Device.h"
#include "runtime/LaunchTimer.h"
#include "runtime/TuningConfig.h"

#include <functional>
#include <string>
#include <vector>

namespace flashtile {

struct TuningProblem {
  /// Names the class of problems that share a best configuration: everything
  /// but the device that the choice depends on.
  std::string key;
  /// The text of the program in some configuration, or whatever else changes
  /// when the program does: results do not outlive it.
  std::string program;
  Device device = Device::cpu();
  /// At least one. Those given again do not count.
  std::vector<TuningConfig> configs;
  /// Compiles a configuration and returns a function that launches it once, as
  /// often as it is called: a launch must not change the input of the next.
  std::function<std::function<void()>(const TuningConfig &)> build;
};

struct TuningOptions {
  TimingOptions timing;
  /// A configuration whose launches take this often the time of the best so far
  /// is not measured any further.
  double hopeless = 3;
  /// Takes results that are kept, in this process or on disk.
  bool usesCache = true;
};

/// What became of one configuration.
struct TuningTrial {
  TuningConfig config;
  /// Of one launch; 0 where it failed.
  double milliseconds = 0;
  double firstMilliseconds = 0;
  /// What build() took.
  double buildMilliseconds = 0;
  /// Why it is out of the race; empty for one that ran.
  std::string failure;
};

struct TuningResult {
  TuningConfig best;
  double milliseconds = 0;
  /// All configurations in the order in which they were given.
  std::vector<TuningTrial> trials;
  /// Nothing was measured: the result was kept from an earlier call, perhaps of
  /// an earlier process.
  bool fromCache = false;

  /// A line for each configuration, the fastest first and failures last.
  std::string toString() const;
};

/// Throws the one Error that lists all configurations with their reasons, with
/// the code of the first, where none works; InvalidArgument for a problem
/// without configurations. Nothing is kept then.
TuningResult autotune(const TuningProblem &problem,
                      const TuningOptions &options = {});

/// Forgets the results of this process; those on disk stay.
void clearTuningResults();

} // namespace flashtile

#endif // FLASHTILE_RUNTIME_AUTOTUNER_H
