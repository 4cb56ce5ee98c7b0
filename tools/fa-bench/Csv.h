//===- Csv.h - Lines of comma-separated values ------------------*- C++ -*-===//
//
// Part of FlashTile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef FLASHTILE_TOOLS_FA_BENCH_CSV_H
#define FLASHTILE_TOOLS_FA_BENCH_CSV_H

#include <string>
#include <string_view>
#include <vector>

namespace flashtile::tools {

/// One line without its end. Fields with commas or quotes are quoted; line
/// breaks in them become blanks.
std::string csvLine(const std::vector<std::string> &fields);

/// The inverse of csvLine(). A quote within a field that does not begin with
/// one is a character like any other.
std::vector<std::string> csvFields(std::string_view line);

} // namespace flashtile::tools

#endif // FLASHTILE_TOOLS_FA_BENCH_CSV_H
