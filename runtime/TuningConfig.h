//===- TuningConfig.h - A point of a search space -------------------------===//
//
// Part of FlashTile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef FLASHTILE_RUNTIME_TUNINGCONFIG_H
#define FLASHTILE_RUNTIME_TUNINGCONFIG_H

#include <cstdint>
#include <initializer_list>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace flashtile {

/// Named integers: "block_m=128 block_n=64 num_warps=4".
class TuningConfig {
public:
  using Entry = std::pair<std::string, int64_t>;

  TuningConfig() = default;
  /// Throws InvalidArgument as set() does, and for a name given twice.
  TuningConfig(std::initializer_list<Entry> entries);

  /// Adds a value, or replaces the one of that name. Throws InvalidArgument for
  /// a name that is not made of letters, digits and underscores.
  void set(std::string_view name, int64_t value);
  /// Throws NotFound, with the names that exist.
  int64_t at(std::string_view name) const;

  /// In the order in which they were given.
  const std::vector<Entry> &entries() const { return all; }

  std::string toString() const;
  /// The inverse of toString(); nothing for any other text.
  static std::optional<TuningConfig> parse(std::string_view text);

  friend bool operator==(const TuningConfig &a, const TuningConfig &b) {
    return a.all == b.all;
  }
  friend bool operator!=(const TuningConfig &a, const TuningConfig &b) {
    return !(a == b);
  }

private:
  std::vector<Entry> all;
};

} // namespace flashtile

#endif // FLASHTILE_RUNTIME_TUNINGCONFIG_H
