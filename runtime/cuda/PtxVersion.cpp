//===- PtxVersion.cpp - Versions of the PTX language ----------------------===//
//
// Part of FlashTile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/cuda/PtxVersion.h"

#include <cctype>

using namespace flashtile;

namespace {

/// From the release notes in the PTX ISA manual.
struct Release {
  int driver;
  PtxVersion ptx;
};
constexpr Release releases[] = {
    {11000, 70}, {11010, 71}, {11020, 72}, {11030, 73}, {11040, 74},
    {11050, 75}, {11060, 76}, {11070, 77}, {11080, 78}, {12000, 80},
    {12010, 81}, {12020, 82}, {12030, 83}, {12040, 84}, {12050, 85},
    {12070, 86}, {12080, 87}, {12090, 88}, {13000, 90}, {13010, 91},
};

} // namespace

PtxVersion flashtile::maxPtxVersion(int driverVersion) {
  PtxVersion version = 0;
  for (const Release &release : releases)
    if (release.driver <= driverVersion)
      version = release.ptx;
  return version;
}

int flashtile::minDriverVersion(PtxVersion version) {
  for (const Release &release : releases)
    if (release.ptx >= version)
      return release.driver;
  return 0;
}

std::string flashtile::ptxVersionText(PtxVersion version) {
  return std::to_string(version / 10) + "." + std::to_string(version % 10);
}

/// The word after `directive`, where that starts a line.
static std::string_view findDirective(std::string_view ptx,
                                      std::string_view directive) {
  const auto isSpace = [](char c) { return c == ' ' || c == '\t'; };
  while (!ptx.empty()) {
    const size_t end = ptx.find('\n');
    std::string_view line = ptx.substr(0, end);
    ptx.remove_prefix(end == ptx.npos ? ptx.size() : end + 1);
    while (!line.empty() && isSpace(line.front()))
      line.remove_prefix(1);
    if (line.substr(0, directive.size()) != directive)
      continue;
    line.remove_prefix(directive.size());
    if (line.empty() || !isSpace(line.front()))
      continue;
    while (!line.empty() && isSpace(line.front()))
      line.remove_prefix(1);
    return line.substr(0, line.find_first_of(" \t\r,;/"));
  }
  return {};
}

PtxHeader PtxHeader::parse(std::string_view ptx) {
  // Both directives stand before the first declaration.
  constexpr size_t headerBytes = 16384;
  ptx = ptx.substr(0, headerBytes);
  PtxHeader header;
  header.target = findDirective(ptx, ".target");
  const std::string_view version = findDirective(ptx, ".version");
  const auto isDigit = [&](size_t i) {
    return i < version.size() &&
           std::isdigit(static_cast<unsigned char>(version[i]));
  };
  if (version.size() == 3 && isDigit(0) && version[1] == '.' && isDigit(2))
    header.version = (version[0] - '0') * 10 + (version[2] - '0');
  return header;
}
