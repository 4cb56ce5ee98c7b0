//===- BenchOptions.h - Options that all sweeps share -----------*- C++ -*-===//
//
// Part of FlashTile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// An option that is a list takes values divided by commas or blanks.
//
//===----------------------------------------------------------------------===//

#ifndef FLASHTILE_TOOLS_FA_BENCH_BENCHOPTIONS_H
#define FLASHTILE_TOOLS_FA_BENCH_BENCHOPTIONS_H

#include "runtime/DType.h"
#include "runtime/Device.h"
#include "tools/Support/CommandLine.h"

#include <optional>
#include <string>
#include <vector>

namespace flashtile::tools {

struct BenchOptions {
  std::string target;
  std::vector<std::string> dtypes = {"bf16"};
  /// 0 leaves the choice to the library.
  int64_t tileM = 0, tileN = 0, tileK = 0, numWarps = 0, numStages = 0;
  bool tune = false, check = false, progress = false, graph = false;
  std::optional<std::string> csv, json, svg;
  std::vector<std::string> anchors;
  int groups = 5, warmups = 10;
};

/// Adds them to a command; `--tile-k` only with `hasDepth`.
void addBenchOptions(CLI::App &command, BenchOptions &options, bool hasDepth);

/// Throws InvalidArgument for options that have no effect on the device.
void checkTarget(const BenchOptions &options, Device device);

/// An extent of the tiles that a case would run with.
struct TileExtent {
  const char *option;
  int64_t given; ///< by the option; 0 where it was not
  int64_t extent;
};
/// Throws InvalidArgument for the first option that makes a tile larger than
/// any may be, together with the largest of the other extents.
void checkTiles(const std::vector<TileExtent> &extents);

/// Adds --activation and --bias.
void addEpilogueOptions(CLI::App &command, std::string &activation,
                        bool &hasBias);
/// Throws InvalidArgument unless `name` is an activation.
void checkActivation(const std::string &name);

/// Throws InvalidArgument for sizes beyond `limit`: they keep products within
/// 64 bits; what fits the machine is another matter.
void checkSizes(const char *option, const std::vector<int64_t> &sizes,
                int64_t limit);

/// Adds a list of integers above 0.
CLI::Option *addSizes(CLI::App &command, const std::string &name,
                      std::vector<int64_t> &sizes,
                      const std::string &description);
/// Adds a list of 0 and 1, or no and yes.
CLI::Option *addSwitches(CLI::App &command, const std::string &name,
                         std::vector<std::string> &values,
                         const std::string &description);

/// The values of such a list: 0 and 1.
std::vector<int64_t> switchValues(const std::vector<std::string> &texts);

/// The types that --dtype names. Throws InvalidArgument for others.
std::vector<DType> typesOf(const std::vector<std::string> &names,
                           const std::vector<DType> &allowed);

} // namespace flashtile::tools

#endif // FLASHTILE_TOOLS_FA_BENCH_BENCHOPTIONS_H
