//===- BenchOptions.cpp - Options that all sweeps share -------------------===//
//
// Part of FlashTile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tools/fa-bench/BenchOptions.h"

#include "compiler/Support/Error.h"
#include "kernels/Activation.h"

#include <fmt/format.h>

#include <algorithm>

using namespace flashtile;
using namespace flashtile::tools;

template <typename T>
static CLI::Option *addList(CLI::App &command, const std::string &name,
                            std::vector<T> &values,
                            const std::string &description) {
  return command.add_option(name, values, description)
      ->delimiter(',')
      ->take_all();
}

CLI::Option *flashtile::tools::addSizes(CLI::App &command,
                                        const std::string &name,
                                        std::vector<int64_t> &sizes,
                                        const std::string &description) {
  return addList(command, name, sizes, description)->check(positiveInteger());
}

/// 0 or 1; nothing for other text.
static std::optional<int64_t> switchValue(const std::string &text) {
  for (const char *name : {"0", "no", "false"})
    if (text == name)
      return 0;
  for (const char *name : {"1", "yes", "true"})
    if (text == name)
      return 1;
  return std::nullopt;
}

CLI::Option *flashtile::tools::addSwitches(CLI::App &command,
                                           const std::string &name,
                                           std::vector<std::string> &values,
                                           const std::string &description) {
  return addList(command, name, values, description)
      ->check(CLI::Validator(
          [](std::string &text) -> std::string {
            if (switchValue(text))
              return {};
            return "expected 0 or 1, but got '" + text + "'";
          },
          "SWITCH"));
}

std::vector<int64_t>
flashtile::tools::switchValues(const std::vector<std::string> &texts) {
  std::vector<int64_t> values;
  for (const std::string &text : texts)
    values.push_back(switchValue(text).value_or(0));
  return values;
}

std::vector<DType>
flashtile::tools::typesOf(const std::vector<std::string> &names,
                          const std::vector<DType> &allowed) {
  std::vector<DType> types;
  for (const std::string &name : names) {
    const std::optional<DType> type = parseElementType(name);
    if (!type ||
        std::find(allowed.begin(), allowed.end(), *type) == allowed.end()) {
      std::string list;
      for (size_t i = 0; i < allowed.size(); ++i)
        list += (i == 0                   ? ""
                 : i + 1 < allowed.size() ? ", "
                                          : " or ") +
                toString(allowed[i]);
      throw Error(ErrorCode::InvalidArgument,
                  "expected --dtype " + list + ", but got '" + name + "'");
    }
    types.push_back(*type);
  }
  return types;
}

void flashtile::tools::checkTarget(const BenchOptions &options, Device device) {
  if (device.isCuda())
    return;
  for (auto [name, value] : {std::pair("--num-warps", options.numWarps),
                             std::pair("--num-stages", options.numStages)})
    if (value)
      throw Error(ErrorCode::InvalidArgument,
                  fmt::format("expected {} only with --target cuda: it has no "
                              "effect on {}",
                              name, device.toString()));
  if (options.graph)
    throw Error(ErrorCode::InvalidArgument,
                "expected --graph only with --target cuda: it has no effect "
                "on " +
                    device.toString());
}

void flashtile::tools::checkTiles(const std::vector<TileExtent> &extents) {
  constexpr int64_t kMaxTile = int64_t(1) << 20; // elements
  for (const TileExtent &tile : extents) {
    int64_t other = 1;
    for (const TileExtent &extent : extents)
      if (&extent != &tile)
        other = std::max(other, extent.extent);
    const int64_t limit = std::max<int64_t>(kMaxTile / other, 1);
    if (tile.given > limit)
      throw Error(ErrorCode::InvalidArgument,
                  fmt::format("expected {} from 1 to {}, beside tiles of {}, "
                              "but got {}",
                              tile.option, limit, other, tile.given));
  }
}

void flashtile::tools::addEpilogueOptions(CLI::App &command,
                                          std::string &activation,
                                          bool &hasBias) {
  command
      .add_option("--activation", activation,
                  "none, relu, gelu, gelu_tanh or silu")
      ->capture_default_str();
  command.add_flag("--bias", hasBias, "Add a bias before it");
}

void flashtile::tools::checkActivation(const std::string &name) {
  if (!parseActivation(name))
    throw Error(ErrorCode::InvalidArgument,
                "expected --activation none, relu, gelu, gelu_tanh or silu, "
                "but got '" +
                    name + "'");
}

void flashtile::tools::checkSizes(const char *option,
                                  const std::vector<int64_t> &sizes,
                                  int64_t limit) {
  for (const int64_t size : sizes)
    if (size > limit)
      throw Error(
          ErrorCode::InvalidArgument,
          fmt::format("expected {} up to {}, but got {}", option, limit, size));
}

/// An integer from 1 to `most`.
static CLI::Validator countUpTo(int64_t most) {
  return CLI::Validator(
      [most](std::string &text) -> std::string {
        const std::optional<int64_t> value = parseInteger(text);
        if (value && *value >= 1 && *value <= most)
          return {};
        return "expected an integer from 1 to " + std::to_string(most) +
               ", but got '" + text + "'";
      },
      "COUNT");
}

/// An integer above 0 that is given once.
static void addNumber(CLI::App &command, const std::string &name,
                      int64_t &number, const std::string &description) {
  command.add_option(name, number, description)->check(positiveInteger());
}

void flashtile::tools::addBenchOptions(CLI::App &command, BenchOptions &options,
                                       bool hasDepth) {
  addTargetOption(command, options.target);
  addList(command, "--dtype", options.dtypes, "Element types")
      ->capture_default_str();
  addNumber(command, "--tile-m", options.tileM, "Rows of a tile");
  addNumber(command, "--tile-n", options.tileN,
            hasDepth ? "Columns of a tile" : "Keys of a tile");
  if (hasDepth)
    addNumber(command, "--tile-k", options.tileK, "Depth of a tile");
  constexpr int64_t kMostWarps = 16, kMostStages = 8;
  command
      .add_option("--num-warps", options.numWarps,
                  "Warps of a program on a GPU")
      ->check(countUpTo(kMostWarps));
  command
      .add_option("--num-stages", options.numStages,
                  "Buffers of a loop's loads on a GPU")
      ->check(countUpTo(kMostStages));
  command.add_flag("--tune", options.tune,
                   "Measure what is not given above instead of taking it from "
                   "the library's table");
  command.add_flag("--check", options.check,
                   "Judge each result first; exit 1 if one fails");
  command.add_flag("--graph", options.graph,
                   "Time graphs of launches on a GPU, without the host's time "
                   "for each");
  command.add_flag("--progress", options.progress,
                   "Show progress on stderr, even if that is no terminal");
  command.add_option("--csv", options.csv, "Write the results as CSV");
  command.add_option("--json", options.json, "Write the results as JSON");
  command.add_option("--svg", options.svg, "Write a plot of the rates");
  command
      .add_option("--anchors", options.anchors,
                  "CSV file of results to compare with; may be repeated")
      ->take_all();
  constexpr int kMostRuns = 1000;
  for (auto [name, count, description] :
       {std::tuple("--groups", &options.groups,
                   "Groups of launches, of which the median counts"),
        std::tuple("--warmups", &options.warmups,
                   "Launches before the measurement")})
    command.add_option(name, *count, description)
        ->check(countUpTo(kMostRuns))
        ->capture_default_str();
}
