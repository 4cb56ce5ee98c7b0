//===- NearestName.h - "did you mean" -------------------------------------===//
//
// Part of FlashTile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef FLASHTILE_RUNTIME_NEARESTNAME_H
#define FLASHTILE_RUNTIME_NEARESTNAME_H

#include <string>
#include <string_view>
#include <vector>

namespace flashtile {

/// The candidate that `name` is most likely a misspelling of, or empty: at most
/// a third of its letters differ, or only their case.
std::string nearestName(std::string_view name,
                        const std::vector<std::string> &candidates);

/// " (did you mean 'x'?)", or nothing.
std::string didYouMean(std::string_view name,
                       const std::vector<std::string> &candidates);

} // namespace flashtile

#endif // FLASHTILE_RUNTIME_NEARESTNAME_H
