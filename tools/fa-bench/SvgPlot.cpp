//===- SvgPlot.cpp - A line plot as SVG -----------------------------------===//
//
// Part of FlashTile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Plain shapes and presentation attributes only, which every viewer draws.
//
//===----------------------------------------------------------------------===//

#include "tools/fa-bench/SvgPlot.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <set>

namespace flashtile::tools {

/// Okabe and Ito's colours, which the colour-blind can tell apart, without the
/// yellow that is lost on white.
static const char *const colors[] = {"#0072b2", "#d55e00", "#009e73",
                                     "#cc79a7", "#e69f00", "#56b4e9",
                                     "#000000", "#7f7f7f"};

static std::string escaped(const std::string &text) {
  std::string result;
  for (const char c : text) {
    if (c == '&')
      result += "&amp;";
    else if (c == '<')
      result += "&lt;";
    else if (c == '>')
      result += "&gt;";
    else if (c == '"')
      result += "&quot;";
    else
      result += c;
  }
  return result;
}

std::vector<double> axisMarks(double largest) {
  if (!(largest > 0) || !std::isfinite(largest))
    return {0, 1};
  constexpr double kWanted = 6;
  const double rough = largest / kWanted;
  const double power = std::pow(10, std::floor(std::log10(rough)));
  double step = 10 * power;
  for (const double factor : {1.0, 2.0, 2.5, 5.0})
    if (factor * power >= rough * (1 - 1e-9)) {
      step = factor * power;
      break;
    }
  std::vector<double> marks;
  const auto count = static_cast<int>(std::ceil(largest / step - 1e-9));
  for (int i = 0; i <= count; ++i)
    marks.push_back(i * step);
  return marks;
}

std::string sizeText(int64_t size) {
  for (auto [unit, name] : {std::pair<int64_t, const char *>(1 << 20, "M"),
                            std::pair<int64_t, const char *>(1 << 10, "k")})
    if (size >= unit && size % (unit / 2) == 0)
      return fmt::format("{:g}{}", static_cast<double>(size) / unit, name);
  return std::to_string(size);
}

namespace {
class Drawing {
public:
  explicit Drawing(const Plot &plot) : plot(plot) {
    double largest = 0;
    size_t longest = 0;
    for (const PlotLine &line : plot.lines) {
      longest = std::max(longest, line.label.size());
      for (auto [x, y] : line.points) {
        places.insert(x);
        largest = std::max(largest, y);
      }
    }
    marks = axisMarks(largest);
    // About the width of a character in the legend.
    constexpr double kCharacter = 7.2;
    width = right() + 60 + static_cast<double>(longest) * kCharacter;
    width = std::max(width, kMinWidth);
    const double legend = kTop + 22.0 * static_cast<double>(plot.lines.size());
    height = std::max(kTop + kPlotHeight + 60, legend + 20);
  }

  std::string draw() {
    out = fmt::format(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{0:.0f}\" "
        "height=\"{1:.0f}\" viewBox=\"0 0 {0:.0f} {1:.0f}\" role=\"img\" "
        "font-family=\"Helvetica, Arial, sans-serif\" font-size=\"13\" "
        "fill=\"#333333\">\n",
        width, height);
    out += fmt::format("<title>{}</title>\n<desc>{}</desc>\n",
                       escaped(plot.title), escaped(plot.subtitle));
    out += fmt::format("<rect width=\"{:.0f}\" height=\"{:.0f}\" "
                       "fill=\"#ffffff\"/>\n",
                       width, height);
    out += fmt::format("<text x=\"{}\" y=\"28\" font-size=\"18\" "
                       "font-weight=\"bold\" fill=\"#111111\">{}</text>\n",
                       kLeft, escaped(plot.title));
    out += fmt::format("<text x=\"{}\" y=\"48\" fill=\"#666666\">{}</text>\n",
                       kLeft, escaped(plot.subtitle));
    drawAxes();
    for (const PlotLine &line : plot.lines)
      drawLine(line);
    drawLegend();
    out += "</svg>\n";
    return out;
  }

private:
  static constexpr double kLeft = 76, kTop = 72;
  static constexpr double kPlotWidth = 620, kPlotHeight = 380;
  static constexpr double kMinWidth = 860;
  static constexpr double kInset = 24; ///< of the first and last place

  static double right() { return kLeft + kPlotWidth; }
  static double bottom() { return kTop + kPlotHeight; }

  double xOf(int64_t x) const {
    const double low = std::log2(static_cast<double>(*places.begin()));
    const double high = std::log2(static_cast<double>(*places.rbegin()));
    if (high <= low)
      return kLeft + kPlotWidth / 2;
    const double part =
        (std::log2(static_cast<double>(x)) - low) / (high - low);
    return kLeft + kInset + part * (kPlotWidth - 2 * kInset);
  }
  double yOf(double y) const {
    return bottom() - y / marks.back() * kPlotHeight;
  }

  void drawAxes() {
    for (const double mark : marks) {
      const double y = yOf(mark);
      out +=
          fmt::format("<line x1=\"{}\" y1=\"{:.1f}\" x2=\"{}\" y2=\"{:.1f}\" "
                      "stroke=\"{}\" stroke-width=\"1\"/>\n",
                      kLeft, y, right(), y, mark == 0 ? "#333333" : "#e4e4e4");
      out += fmt::format("<text x=\"{}\" y=\"{:.1f}\" text-anchor=\"end\">{:g}"
                         "</text>\n",
                         kLeft - 8, y + 4.5, mark);
    }
    double last = -1e9; // of the marks below the axis, which must not touch
    for (const int64_t place : places) {
      const double x = xOf(place);
      out += fmt::format("<line x1=\"{0:.1f}\" y1=\"{1}\" x2=\"{0:.1f}\" "
                         "y2=\"{2}\" stroke=\"#333333\"/>\n",
                         x, bottom(), bottom() + 5);
      if (x - last < 36)
        continue;
      last = x;
      out += fmt::format("<text x=\"{:.1f}\" y=\"{}\" text-anchor=\"middle\">{}"
                         "</text>\n",
                         x, bottom() + 21, sizeText(place));
    }
    if (places.empty())
      out += fmt::format("<text x=\"{}\" y=\"{}\" text-anchor=\"middle\" "
                         "fill=\"#999999\">no results</text>\n",
                         kLeft + kPlotWidth / 2, kTop + kPlotHeight / 2);
    out += fmt::format("<text x=\"{}\" y=\"{}\" text-anchor=\"middle\">{}"
                       "</text>\n",
                       kLeft + kPlotWidth / 2, bottom() + 44,
                       escaped(plot.xLabel));
    out += fmt::format("<text x=\"22\" y=\"{0}\" text-anchor=\"middle\" "
                       "transform=\"rotate(-90 22 {0})\">{1}</text>\n",
                       kTop + kPlotHeight / 2, escaped(plot.yLabel));
  }

  static std::string stroke(const PlotLine &line) {
    const char *color = colors[line.color % std::size(colors)];
    const char *dashes = line.style == LineStyle::Dashed   ? "7 4"
                         : line.style == LineStyle::Dotted ? "2 3"
                                                           : "none";
    return fmt::format("fill=\"none\" stroke=\"{}\" stroke-width=\"{}\" "
                       "stroke-dasharray=\"{}\" stroke-linejoin=\"round\"",
                       color, line.style == LineStyle::Dotted ? 1.5 : 2.25,
                       dashes);
  }

  /// Filled for solid lines, open for dashed ones, none on dotted ones.
  void drawMarker(const PlotLine &line, double x, double y,
                  const std::string &tip) {
    const char *color = colors[line.color % std::size(colors)];
    const double radius = line.style == LineStyle::Dotted ? 1.75 : 4;
    out +=
        fmt::format("<circle cx=\"{:.1f}\" cy=\"{:.1f}\" r=\"{}\" "
                    "fill=\"{}\" stroke=\"{}\" stroke-width=\"1.75\">",
                    x, y, radius,
                    line.style == LineStyle::Dashed ? "#ffffff" : color, color);
    if (!tip.empty())
      out += fmt::format("<title>{}</title>", escaped(tip));
    out += "</circle>\n";
  }

  void drawLine(const PlotLine &line) {
    if (line.points.empty())
      return;
    auto points = line.points;
    std::sort(points.begin(), points.end());
    std::string list;
    for (auto [x, y] : points)
      list += fmt::format("{}{:.1f},{:.1f}", list.empty() ? "" : " ", xOf(x),
                          yOf(y));
    out += fmt::format("<polyline points=\"{}\" {}/>\n", list, stroke(line));
    for (auto [x, y] : points)
      drawMarker(line, xOf(x), yOf(y),
                 fmt::format("{}, {}: {:.4g}", line.label, x, y));
  }

  void drawLegend() {
    const double x = right() + 20;
    double y = kTop + 8;
    for (const PlotLine &line : plot.lines) {
      out += fmt::format("<line x1=\"{:.1f}\" y1=\"{:.1f}\" x2=\"{:.1f}\" "
                         "y2=\"{:.1f}\" {}/>\n",
                         x, y, x + 30, y, stroke(line));
      drawMarker(line, x + 15, y, {});
      out += fmt::format("<text x=\"{:.1f}\" y=\"{:.1f}\" font-size=\"12\">{}"
                         "</text>\n",
                         x + 38, y + 4.5, escaped(line.label));
      y += 22;
    }
  }

  const Plot &plot;
  std::set<int64_t> places;
  std::vector<double> marks;
  double width = 0, height = 0;
  std::string out;
};
} // namespace

std::string svgText(const Plot &plot) { return Drawing(plot).draw(); }

} // namespace flashtile::tools
