//===- ResultText.cpp - Results as table, CSV, JSON and plot --------------===//
//
// Part of FlashTile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tools/fa-bench/ResultText.h"

#include "tools/fa-bench/Csv.h"
#include "tools/fa-bench/SvgPlot.h"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <cmath>
#include <map>

using namespace flashtile;
using namespace flashtile::tools;

void CheckResult::add(bool otherPass, double otherError, double otherLimit,
                      const std::string &otherReason) {
  const bool isWorse =
      pass != otherPass
          ? !otherPass
          : !(otherError * limit <= error * otherLimit) || limit == 0;
  if (!isWorse)
    return;
  *this = {otherPass, otherError, otherLimit, otherReason};
}

std::string flashtile::tools::caseText(const BenchCase &point) {
  std::string text = toString(point.dtype);
  for (const auto &[name, value] : point.parameters)
    text += fmt::format(", {} {}", name, value);
  if (point.pass == "bwd")
    text += ", backward";
  return text;
}

//===----------------------------------------------------------------------===//
// Table
//===----------------------------------------------------------------------===//

static std::string tilesText(const TuningConfig &tiles, bool onGpu) {
  std::string blocks, rest;
  for (const auto &[name, value] : tiles.entries()) {
    if (name.rfind("block_", 0) == 0)
      blocks += (blocks.empty() ? "" : "x") + std::to_string(value);
    else if (name == "num_warps" && onGpu)
      rest += fmt::format(" {}w", value);
    else if (name == "num_stages" && onGpu)
      rest += fmt::format(" {}s", value);
  }
  return blocks + rest;
}

std::string flashtile::tools::tableHeader(const BenchReport &report,
                                          const BenchCase &point,
                                          bool isChecked) {
  std::string text =
      fmt::format("{} on {}; median of {} {} of launches\n{:<8}",
                  report.benchmark, report.device, report.timing.groups,
                  report.timing.graphs ? "graphs" : "groups", "dtype");
  for (const auto &[name, value] : point.parameters)
    text += fmt::format(" {:>{}}", name, std::max<size_t>(name.size(), 5));
  if (report.showsPass)
    text += " pass";
  text += fmt::format(" {:>10} {:>9} {:<15} {:>10} {:>9}", "ms",
                      report.rateUnit(), "tiles", "compile ms", "first ms");
  return text + (isChecked ? "  check\n" : "\n");
}

std::string flashtile::tools::tableRow(const BenchReport &report,
                                       const BenchRow &row) {
  std::string text = fmt::format("{:<8}", toString(row.point.dtype));
  for (const auto &[name, value] : row.point.parameters)
    text += fmt::format(" {:>{}}", value, std::max<size_t>(name.size(), 5));
  if (report.showsPass)
    text += fmt::format(" {:>4}", row.point.pass);
  if (!row.failure.empty())
    return text + "  FAILED: " + row.failure + "\n";
  text +=
      fmt::format(" {:>10.4g} {:>9.4g} {:<15} {:>9.1f}{} {:>9.3g}",
                  row.timing.milliseconds, report.rateOf(row.tflops()),
                  tilesText(row.tiles, report.onGpu), row.compileMilliseconds,
                  row.fromCache ? "*" : " ", row.firstMilliseconds);
  if (row.check)
    text += row.check->pass ? fmt::format("  ok {:.1e}", row.check->error)
                            : "  FAILED";
  text += "\n";
  if (row.check && !row.check->pass)
    text += "    " + row.check->reason + "\n";
  for (const AnchorRatio &anchor : row.anchors)
    text += fmt::format("    {:<20} {:>9.4g} {}, ratio {:.3g}\n", anchor.system,
                        report.rateOf(anchor.tflops), report.rateUnit(),
                        anchor.ratio);
  return text;
}

std::string flashtile::tools::tableSummary(const BenchReport &report) {
  struct Ratios {
    int count = 0;
    double logarithms = 0, least = 0, most = 0;
  };
  std::map<std::string, Ratios> systems;
  auto add = [&](const std::string &system, double ratio) {
    Ratios &all = systems[system];
    all.least = all.count ? std::min(all.least, ratio) : ratio;
    all.most = all.count ? std::max(all.most, ratio) : ratio;
    all.logarithms += std::log(ratio);
    ++all.count;
  };
  std::string text;
  for (const BenchRow &row : report.rows)
    for (const AnchorRatio &anchor : row.anchors)
      if (anchor.ratio > 0)
        add(anchor.system, anchor.ratio);
  for (const auto &[system, ratios] : systems)
    text += fmt::format("{:<24} ratio {:.3g} (geometric mean of {}), from "
                        "{:.3g} to {:.3g}\n",
                        system, std::exp(ratios.logarithms / ratios.count),
                        ratios.count, ratios.least, ratios.most);
  return text;
}

//===----------------------------------------------------------------------===//
// CSV and JSON
//===----------------------------------------------------------------------===//

std::string flashtile::tools::csvText(const BenchReport &report) {
  if (report.rows.empty())
    return {};
  std::vector<std::string> header = {"system", "dtype"};
  for (const auto &[name, value] : report.rows.front().point.parameters)
    header.push_back(name);
  const bool hasPass = !report.rows.front().point.pass.empty();
  if (hasPass)
    header.push_back("pass");
  header.insert(header.end(),
                {"tflops", "milliseconds", "tiles", "compile_ms", "from_cache",
                 "first_launch_ms", "registers", "spill_bytes", "shared_bytes",
                 "check", "check_error", "check_limit", "best_anchor",
                 "best_anchor_tflops", "ratio", "failure"});
  std::string text = csvLine(header) + "\n";
  for (const BenchRow &row : report.rows) {
    std::vector<std::string> fields = {report.system,
                                       toString(row.point.dtype)};
    for (const auto &[name, value] : row.point.parameters)
      fields.push_back(std::to_string(value));
    if (hasPass)
      fields.push_back(row.point.pass);
    const bool ran = row.failure.empty();
    auto number = [&](double value) {
      return ran ? fmt::format("{:.6g}", value) : std::string();
    };
    auto integer = [&](int64_t value) {
      return ran && report.onGpu ? std::to_string(value) : std::string();
    };
    const AnchorRatio *best = row.bestAnchor();
    fields.insert(fields.end(),
                  {number(row.tflops()), number(row.timing.milliseconds),
                   row.tiles.toString(), number(row.compileMilliseconds),
                   ran ? (row.fromCache ? "1" : "0") : "",
                   number(row.firstMilliseconds), integer(row.registers),
                   integer(row.spillBytes), integer(row.sharedBytes),
                   row.check ? (row.check->pass ? "ok" : "FAILED") : "",
                   row.check ? fmt::format("{:.3e}", row.check->error) : "",
                   row.check ? fmt::format("{:.3e}", row.check->limit) : "",
                   best ? best->system : "",
                   best ? fmt::format("{:.6g}", best->tflops) : "",
                   best ? fmt::format("{:.4g}", best->ratio) : "",
                   row.failure});
    text += csvLine(fields) + "\n";
  }
  return text;
}

static nlohmann::ordered_json jsonTrial(const TuningTrial &trial) {
  nlohmann::ordered_json json;
  for (const auto &[name, value] : trial.config.entries())
    json["tiles"][name] = value;
  json["compile_ms"] = trial.buildMilliseconds;
  if (!trial.failure.empty()) {
    json["failure"] = trial.failure;
    return json;
  }
  json["first_launch_ms"] = trial.firstMilliseconds;
  json["milliseconds"] = trial.milliseconds;
  return json;
}

static nlohmann::ordered_json jsonRow(const BenchReport &report,
                                      const BenchRow &row) {
  nlohmann::ordered_json json;
  json["system"] = report.system;
  json["dtype"] = toString(row.point.dtype);
  for (const auto &[name, value] : row.point.parameters)
    json[name] = value;
  if (!row.point.pass.empty())
    json["pass"] = row.point.pass;
  json["flops"] = row.point.flops;
  if (!row.failure.empty()) {
    json["failure"] = row.failure;
    return json;
  }
  json["tflops"] = row.tflops();
  json["milliseconds"] = row.timing.milliseconds;
  json["groups_ms"] = row.timing.groups;
  json["launches_per_group"] = row.timing.launchesPerGroup;
  for (const auto &[name, value] : row.tiles.entries())
    json["tiles"][name] = value;
  json["compile_ms"] = row.compileMilliseconds;
  json["from_cache"] = row.fromCache;
  json["first_launch_ms"] = row.firstMilliseconds;
  for (const TuningTrial &trial : row.trials)
    json["trials"].push_back(jsonTrial(trial));
  if (report.onGpu) {
    json["registers"] = row.registers;
    json["spill_bytes"] = row.spillBytes;
    json["shared_bytes"] = row.sharedBytes;
  }
  if (row.check)
    json["check"] = {{"pass", row.check->pass},
                     {"error", row.check->error},
                     {"limit", row.check->limit},
                     {"reason", row.check->reason}};
  for (const AnchorRatio &anchor : row.anchors)
    json["anchors"].push_back({{"system", anchor.system},
                               {"tflops", anchor.tflops},
                               {"ratio", anchor.ratio}});
  return json;
}

std::string flashtile::tools::jsonText(const BenchReport &report) {
  nlohmann::ordered_json json;
  json["benchmark"] = report.benchmark;
  json["device"] = report.device;
  json["warmups"] = report.timing.warmups;
  json["groups"] = report.timing.groups;
  json["graphs"] = report.timing.graphs;
  json["rows"] = nlohmann::ordered_json::array();
  for (const BenchRow &row : report.rows)
    json["rows"].push_back(jsonRow(report, row));
  // Messages may quote a file name that is no UTF-8.
  return json.dump(2, ' ', false,
                   nlohmann::ordered_json::error_handler_t::replace) +
         "\n";
}

//===----------------------------------------------------------------------===//
// Plot
//===----------------------------------------------------------------------===//

std::string flashtile::tools::plotText(const BenchReport &report,
                                       const std::string &xLabel) {
  Plot plot;
  plot.title = report.system + " " + report.benchmark;
  plot.subtitle =
      fmt::format("{}; median of {} groups of launches, higher is better",
                  report.device, report.timing.groups);
  plot.xLabel = xLabel;
  plot.yLabel = report.rateUnit();
  std::vector<std::string> groups;
  auto colorOf = [&](const std::string &group) {
    auto it = std::find(groups.begin(), groups.end(), group);
    if (it == groups.end())
      it = groups.insert(groups.end(), group);
    return static_cast<int>(it - groups.begin());
  };
  auto lineOf = [&](const std::string &label, int color,
                    LineStyle style) -> PlotLine & {
    for (PlotLine &line : plot.lines)
      if (line.label == label)
        return line;
    return plot.lines.emplace_back(PlotLine{label, {}, color, style});
  };
  // Anchors after the lines of our own, in the legend as well.
  for (const bool isAnchor : {false, true})
    for (const BenchRow &row : report.rows) {
      const BenchCase &point = row.point;
      const AnchorRatio *best = row.bestAnchor();
      if (!row.failure.empty() || (isAnchor && !best))
        continue;
      const LineStyle style = isAnchor                      ? LineStyle::Dotted
                              : point.series == point.group ? LineStyle::Solid
                                                            : LineStyle::Dashed;
      lineOf(isAnchor ? "best anchor, " + point.series : point.series,
             colorOf(point.group), style)
          .points.emplace_back(
              point.x, report.rateOf(isAnchor ? best->tflops : row.tflops()));
    }
  return svgText(plot);
}
