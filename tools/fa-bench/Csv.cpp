//===- Csv.cpp - Lines of comma-separated values --------------------------===//
//
// Part of FlashTile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tools/fa-bench/Csv.h"

namespace flashtile::tools {

static std::string csvField(const std::string &field) {
  std::string text;
  for (const char c : field) {
    if (c == '"')
      text += "\"\"";
    else
      text += c == '\n' || c == '\r' ? ' ' : c;
  }
  return field.find_first_of(",\"") == std::string::npos ? text
                                                         : "\"" + text + "\"";
}

std::string csvLine(const std::vector<std::string> &fields) {
  std::string line;
  for (size_t i = 0; i < fields.size(); ++i)
    line += (i ? "," : "") + csvField(fields[i]);
  return line;
}

std::vector<std::string> csvFields(std::string_view line) {
  while (!line.empty() && (line.back() == '\r' || line.back() == '\n'))
    line.remove_suffix(1);
  std::vector<std::string> fields(1);
  bool isQuoted = false;
  for (size_t i = 0; i < line.size(); ++i) {
    std::string &field = fields.back();
    const char c = line[i];
    const bool isDoubled = isQuoted && c == '"' && line.substr(i, 2) == "\"\"";
    if (isDoubled) {
      field += line[++i];
    } else if (c == '"' && (isQuoted || field.empty())) {
      isQuoted = !isQuoted;
    } else if (c == ',' && !isQuoted) {
      fields.emplace_back();
    } else {
      field += c;
    }
  }
  return fields;
}

} // namespace flashtile::tools
