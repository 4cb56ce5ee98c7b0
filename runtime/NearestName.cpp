//===- NearestName.cpp - "did you mean" -----------------------------------===//
//
// Part of FlashTile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/NearestName.h"

#include <algorithm>
#include <cctype>

using namespace flashtile;

static std::string lowered(std::string_view text) {
  std::string result(text);
  for (char &c : result)
    c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  return result;
}

/// Insertions, deletions and replacements that turn one into the other.
static size_t editDistance(std::string_view a, std::string_view b) {
  std::vector<size_t> row(b.size() + 1);
  for (size_t j = 0; j <= b.size(); ++j)
    row[j] = j;
  for (size_t i = 1; i <= a.size(); ++i) {
    size_t diagonal = row[0];
    row[0] = i;
    for (size_t j = 1; j <= b.size(); ++j) {
      const size_t replaced = diagonal + (a[i - 1] != b[j - 1]);
      diagonal = row[j];
      row[j] = std::min({replaced, row[j] + 1, row[j - 1] + 1});
    }
  }
  return row[b.size()];
}

std::string flashtile::nearestName(std::string_view name,
                                   const std::vector<std::string> &candidates) {
  const std::string wanted = lowered(name);
  const std::string *nearest = nullptr;
  size_t nearestDistance = 0;
  for (const std::string &candidate : candidates) {
    const size_t distance = editDistance(wanted, lowered(candidate));
    if (distance * 3 > std::max(wanted.size(), candidate.size()))
      continue;
    if (!nearest || distance < nearestDistance) {
      nearest = &candidate;
      nearestDistance = distance;
    }
  }
  return nearest ? *nearest : std::string();
}

std::string flashtile::didYouMean(std::string_view name,
                                  const std::vector<std::string> &candidates) {
  const std::string nearest = nearestName(name, candidates);
  return nearest.empty() ? nearest : " (did you mean '" + nearest + "'?)";
}
