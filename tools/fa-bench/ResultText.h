//===- ResultText.h - Results as table, CSV, JSON and plot ------*- C++ -*-===//
//
// Part of FlashTile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef FLASHTILE_TOOLS_FA_BENCH_RESULTTEXT_H
#define FLASHTILE_TOOLS_FA_BENCH_RESULTTEXT_H

#include "tools/fa-bench/Benchmark.h"

namespace flashtile::tools {

/// "bf16, head_dim 64, seq_len 1024".
std::string caseText(const BenchCase &point);

/// The lines above a table: device, protocol, names of columns. `point` has the
/// parameters that all cases have.
std::string tableHeader(const BenchReport &report, const BenchCase &point,
                        bool isChecked);
/// A line for the row, and one for each anchor.
std::string tableRow(const BenchReport &report, const BenchRow &row);
/// The ratios to each system over all rows; empty without anchors.
std::string tableSummary(const BenchReport &report);

/// With a header; the names of its columns are those of Anchors.h.
std::string csvText(const BenchReport &report);
std::string jsonText(const BenchReport &report);
/// Rates over x, one line for each series, and the best anchors dotted.
std::string plotText(const BenchReport &report, const std::string &xLabel);

} // namespace flashtile::tools

#endif // FLASHTILE_TOOLS_FA_BENCH_RESULTTEXT_H
