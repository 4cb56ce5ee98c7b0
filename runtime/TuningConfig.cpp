//===- TuningConfig.cpp - A point of a search space -----------------------===//
//
// Part of FlashTile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/TuningConfig.h"

#include "compiler/Support/Error.h"

#include <charconv>

using namespace flashtile;

static bool isName(std::string_view name) {
  constexpr std::string_view allowed =
      "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_";
  return !name.empty() &&
         name.find_first_not_of(allowed) == std::string_view::npos;
}

TuningConfig::TuningConfig(std::initializer_list<Entry> entries) {
  for (const Entry &entry : entries) {
    const size_t count = all.size();
    set(entry.first, entry.second);
    if (all.size() == count)
      throw Error(ErrorCode::InvalidArgument,
                  "'" + entry.first + "' is given twice in a configuration");
  }
}

void TuningConfig::set(std::string_view name, int64_t value) {
  if (!isName(name))
    throw Error(ErrorCode::InvalidArgument,
                "expected a name of letters, digits and underscores in a "
                "configuration, but got '" +
                    std::string(name) + "'");
  for (Entry &entry : all)
    if (entry.first == name) {
      entry.second = value;
      return;
    }
  all.emplace_back(name, value);
}

int64_t TuningConfig::at(std::string_view name) const {
  for (const Entry &entry : all)
    if (entry.first == name)
      return entry.second;
  throw Error(ErrorCode::NotFound, "no '" + std::string(name) +
                                       "' in the configuration '" + toString() +
                                       "'");
}

std::string TuningConfig::toString() const {
  std::string text;
  for (const auto &[name, value] : all)
    text += (text.empty() ? "" : " ") + name + "=" + std::to_string(value);
  return text;
}

std::optional<TuningConfig> TuningConfig::parse(std::string_view text) {
  TuningConfig config;
  const std::string_view whole = text;
  while (!text.empty()) {
    const std::string_view word = text.substr(0, text.find(' '));
    text.remove_prefix(std::min(word.size() + 1, text.size()));
    const size_t equals = word.find('=');
    if (equals == std::string_view::npos || !isName(word.substr(0, equals)))
      return std::nullopt;
    const std::string_view digits = word.substr(equals + 1);
    int64_t value = 0;
    const char *end = digits.data() + digits.size();
    const auto result = std::from_chars(digits.data(), end, value);
    if (result.ec != std::errc() || result.ptr != end)
      return std::nullopt;
    config.set(word.substr(0, equals), value);
  }
  // One text for one configuration: nothing given twice, no spare blanks.
  if (config.toString() != whole)
    return std::nullopt;
  return config;
}
