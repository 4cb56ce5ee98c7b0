//===- TuningRecord.cpp - Results of tuning as text -----------------------===//
//
// Part of FlashTile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/TuningRecord.h"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <numeric>
#include <tuple>

using namespace flashtile;

static constexpr std::string_view header = "flashtile tuning 1\n";

std::optional<size_t>
flashtile::fastestTrial(const std::vector<TuningTrial> &trials) {
  std::optional<size_t> best;
  for (size_t i = 0; i < trials.size(); ++i)
    if (trials[i].failure.empty() &&
        (!best || trials[i].milliseconds < trials[*best].milliseconds))
      best = i;
  return best;
}

//===----------------------------------------------------------------------===//
// Writing
//===----------------------------------------------------------------------===//

static std::string numberText(double value) {
  char text[40];
  std::snprintf(text, sizeof text, "%.17g", value);
  return text;
}

/// On one line and without tabs.
static std::string escaped(const std::string &text) {
  std::string result;
  for (const char c : text) {
    if (c == '\n')
      result += "\\n";
    else if (c == '\t')
      result += "\\t";
    else if (c == '\\')
      result += "\\\\";
    else
      result += c;
  }
  return result;
}

std::string flashtile::writeTuningRecord(const TuningResult &result) {
  std::string text(header);
  for (const TuningTrial &trial : result.trials)
    text += numberText(trial.milliseconds) + "\t" +
            numberText(trial.firstMilliseconds) + "\t" +
            numberText(trial.buildMilliseconds) + "\t" +
            trial.config.toString() + "\t" + escaped(trial.failure) + "\n";
  return text;
}

//===----------------------------------------------------------------------===//
// Reading
//===----------------------------------------------------------------------===//

/// What stands before `end`, which is taken off as well; nothing without it.
static std::optional<std::string> takeUntil(std::string_view &text, char end) {
  const size_t length = text.find(end);
  if (length == std::string_view::npos)
    return std::nullopt;
  std::string part(text.substr(0, length));
  text.remove_prefix(length + 1);
  return part;
}

static bool takeNumber(std::string_view &text, double &value) {
  const std::optional<std::string> part = takeUntil(text, '\t');
  if (!part || part->empty())
    return false;
  char *end = nullptr;
  value = std::strtod(part->c_str(), &end);
  return *end == '\0' && std::isfinite(value) && value >= 0;
}

static std::optional<std::string> unescaped(const std::string &text) {
  std::string result;
  for (size_t i = 0; i < text.size(); ++i) {
    if (text[i] != '\\') {
      result += text[i];
      continue;
    }
    const char next = ++i < text.size() ? text[i] : '\0';
    if (next != 'n' && next != 't' && next != '\\')
      return std::nullopt;
    result += next == 'n' ? '\n' : next == 't' ? '\t' : '\\';
  }
  return result;
}

static std::optional<TuningTrial> takeTrial(std::string_view &text) {
  TuningTrial trial;
  if (!takeNumber(text, trial.milliseconds) ||
      !takeNumber(text, trial.firstMilliseconds) ||
      !takeNumber(text, trial.buildMilliseconds))
    return std::nullopt;
  const std::optional<std::string> config = takeUntil(text, '\t');
  const std::optional<std::string> failure = takeUntil(text, '\n');
  if (!config || !failure)
    return std::nullopt;
  const std::optional<TuningConfig> parsed = TuningConfig::parse(*config);
  const std::optional<std::string> reason = unescaped(*failure);
  if (!parsed || !reason)
    return std::nullopt;
  trial.config = *parsed;
  trial.failure = *reason;
  return trial;
}

std::optional<TuningResult>
flashtile::readTuningRecord(std::string_view text,
                            const std::vector<TuningConfig> &configs) {
  if (text.substr(0, header.size()) != header)
    return std::nullopt;
  text.remove_prefix(header.size());
  TuningResult result;
  result.fromCache = true;
  for (const TuningConfig &config : configs) {
    std::optional<TuningTrial> trial = takeTrial(text);
    if (!trial || trial->config != config)
      return std::nullopt;
    result.trials.push_back(std::move(*trial));
  }
  const std::optional<size_t> best = fastestTrial(result.trials);
  if (!text.empty() || !best)
    return std::nullopt;
  result.best = result.trials[*best].config;
  result.milliseconds = result.trials[*best].milliseconds;
  return result;
}

//===----------------------------------------------------------------------===//
// For people
//===----------------------------------------------------------------------===//

std::string TuningResult::toString() const {
  std::vector<size_t> order(trials.size());
  std::iota(order.begin(), order.end(), 0);
  auto rank = [&](size_t i) {
    return std::tuple(!trials[i].failure.empty(), trials[i].milliseconds, i);
  };
  std::sort(order.begin(), order.end(),
            [&](size_t a, size_t b) { return rank(a) < rank(b); });
  std::string text;
  for (const size_t i : order) {
    const TuningTrial &trial = trials[i];
    char time[64];
    std::snprintf(time, sizeof time, "%12.4f ms  ", trial.milliseconds);
    text += trial.failure.empty() ? time : "      failed     ";
    text += trial.config.toString();
    if (!trial.failure.empty())
      text += ": " + trial.failure;
    text += "\n";
  }
  return text;
}
