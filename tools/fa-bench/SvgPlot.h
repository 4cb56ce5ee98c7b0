//===- SvgPlot.h - A line plot as SVG ---------------------------*- C++ -*-===//
//
// Part of FlashTile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef FLASHTILE_TOOLS_FA_BENCH_SVGPLOT_H
#define FLASHTILE_TOOLS_FA_BENCH_SVGPLOT_H

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

namespace flashtile::tools {

enum class LineStyle { Solid, Dashed, Dotted };

struct PlotLine {
  std::string label;
  std::vector<std::pair<int64_t, double>> points; ///< by x, which is positive
  int color = 0;                                  ///< lines of one group
  LineStyle style = LineStyle::Solid;
};

struct Plot {
  std::string title, subtitle, xLabel, yLabel;
  std::vector<PlotLine> lines;
};

/// The plot as a whole SVG file: x on a logarithmic scale with a mark at each
/// value that occurs, y from 0, a legend, and the numbers of a point where the
/// pointer rests on it.
std::string svgText(const Plot &plot);

/// Numbers of 0 to `largest` or a bit more, a round step apart, to mark an
/// axis; {0, 1} for 0.
std::vector<double> axisMarks(double largest);

/// "512", "1k", "1.5k", "16k", "1M", in powers of 1024 where that is exact.
std::string sizeText(int64_t size);

} // namespace flashtile::tools

#endif // FLASHTILE_TOOLS_FA_BENCH_SVGPLOT_H
